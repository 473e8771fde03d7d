/* show.h - what the control socket and the metrics server tell. */
#ifndef DAEMON_CONTROL_SHOW_H
#define DAEMON_CONTROL_SHOW_H

#include "daemon/control/metrics.h"
#include "daemon/control/server.h"

/* At the start of the process: the file that a reload without one of its own reads, the time that
 * `uptime` counts from, the log level that holds whatever a configuration says, -1 for none, and
 * what the control thread goes on doing, at least once in a millisecond, while a configuration is
 * read: ARP does not wait for it. */
void cw_show_start(const char *config_file, int log_level, uint64_t (*meanwhile)(void));

extern const struct cw_control_provider cw_show_providers[];
extern const unsigned cw_show_nproviders;

/* Read and check the configuration of a reload request; NULL: that file. */
int cw_show_load(struct cw_config **out, const json_t *request, struct cw_diag *diag);

/* Apply a configuration, with what is beside the plane: log level, drop capture. Takes
 * `conf` over on success. */
int cw_reload(struct cw_config *conf, struct cw_diag *diag);

/* Log why a configuration was refused. */
void cw_reload_refused(const struct cw_diag *diag);

void cw_show_metrics(void *arg, struct cw_metrics_text *t);

/* Totals of all ports for one line of the log. */
void cw_show_log_totals(void);

#endif
