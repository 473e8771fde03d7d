/* show.h - what the control socket and the metrics server tell. */
#ifndef DAEMON_CONTROL_SHOW_H
#define DAEMON_CONTROL_SHOW_H

#include "daemon/control/metrics.h"
#include "daemon/control/server.h"

/* Configuration file that `reload` reads when the request has none of its own. */
extern const char *cw_show_config_file;

/* At the start of the process: that file, the time that `uptime` counts from, and the log level
 * that holds whatever a configuration says, -1 for none. */
void cw_show_start(const char *config_file, int log_level);

extern const struct cw_control_provider cw_show_providers[];
extern const unsigned cw_show_nproviders;

/* Load and apply a configuration, with what is beside the plane: log level, drop capture. Takes
 * `conf` over on success. */
int cw_reload(struct cw_config *conf, struct cw_diag *diag);

/* Log why a configuration was refused. */
void cw_reload_refused(const struct cw_diag *diag);

void cw_show_metrics(void *arg, struct cw_metrics_text *t);

/* Totals of all ports for one line of the log. */
void cw_show_log_totals(void);

#endif
