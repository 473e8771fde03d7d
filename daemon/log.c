/* log.c - the daemon's log. See log.h. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "daemon/log.h"

static const char *const names[] = {"error", "warning", "notice", "info", "debug"};
static const char priorities[] = "34567"; /* syslog(3) severities of the same */
static atomic_int threshold = CW_LOG_INFO;
static bool to_journal;

void cw_log_init(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long dev, ino;
	struct stat st;

	/* systemd.exec(5): only when device and inode are those of stderr is it still the journal.
	 */
	to_journal = stream != NULL && sscanf(stream, "%lu:%lu", &dev, &ino) == 2 &&
		     fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

int cw_log_level_parse(const char *name)
{
	int i;

	for (i = 0; i <= CW_LOG_DEBUG; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

const char *cw_log_level_name(enum cw_log_level level)
{
	return names[level];
}

void cw_log_set_level(enum cw_log_level level)
{
	atomic_store(&threshold, (int)level);
}

enum cw_log_level cw_log_get_level(void)
{
	return (enum cw_log_level)atomic_load(&threshold);
}

static int put_prefix(char *line, size_t size, enum cw_log_level level)
{
	struct timespec now;
	struct tm tm;

	if (to_journal)
		return snprintf(line, size, "<%c>", priorities[level]);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	return snprintf(line, size, "%02d:%02d:%02d.%03ld %-7s ", tm.tm_hour, tm.tm_min, tm.tm_sec,
			now.tv_nsec / 1000000, names[level]);
}

void cw_log(enum cw_log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	size_t len;
	int n;

	if ((int)level > atomic_load_explicit(&threshold, memory_order_relaxed))
		return;
	len = (size_t)put_prefix(line, sizeof(line), level);
	va_start(ap, fmt);
	n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	va_end(ap);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len - 1 ? (size_t)n : sizeof(line) - len - 2;
	line[len++] = '\n';
	/* One write a line: lines of several threads don't mix. */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
