/* cn.h - the congestion notification proxy, as control has it: made of the configuration, asked and
 * told by the control socket. */
#ifndef DAEMON_CONTROL_CN_H
#define DAEMON_CONTROL_CN_H

#include "daemon/control/metrics.h"
#include "daemon/control/server.h"
#include "daemon/graph/cn.h"

/* The proxy of a configuration, or `old` (may be NULL) if it is the same; NULL when it is off. What
 * the map has learned is kept unless its sizes or times are others. */
int cw_cn_get(struct cw_cn **out, struct cw_cn *old, const struct cw_config *conf);
void cw_cn_put(struct cw_cn *cn);

/* Enter the static pairs of `conf`, and take back those that only `old` (may be NULL) has. */
void cw_cn_set_statics(const struct cw_cn *cn, const struct cw_config *old,
		       const struct cw_config *conf);

/* Providers: `show qpmap`, `show notifications`, `qpmap-add`, `qpmap-remove`. */
cw_control_fn cw_cn_show_map, cw_cn_show, cw_cn_add, cw_cn_remove;

void cw_cn_metrics(struct cw_metrics_text *t);

#endif
