/* log.h - the daemon's log: one line a message on stderr, with levels.
 *
 * When stderr is the journal (JOURNAL_STREAM), lines carry its <N> priority prefix instead of a
 * time and a level word.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

enum cw_log_level { CW_LOG_ERROR, CW_LOG_WARNING, CW_LOG_NOTICE, CW_LOG_INFO, CW_LOG_DEBUG };

/* Find out what stderr is. Call once, before any thread starts. */
void cw_log_init(void);

/* Level by name ("error" .. "debug"); -1 for any other text. */
int cw_log_level_parse(const char *name);
const char *cw_log_level_name(enum cw_log_level level);
void cw_log_set_level(enum cw_log_level level);
enum cw_log_level cw_log_get_level(void);

void cw_log(enum cw_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
