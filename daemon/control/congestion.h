/* congestion.h - models of the shaped queues, and the table of proxies that they look in.
 *
 * A worker uses a model; control makes it, and lets the next snapshot use it again when it says the
 * same about the port. The table of daemon/peers is copied whole for the workers when it changed,
 * and the old copy freed when none of them can still see it.
 */
#ifndef DAEMON_CONTROL_CONGESTION_H
#define DAEMON_CONTROL_CONGESTION_H

#include <jansson.h>
#include "daemon/control/metrics.h"
#include "daemon/control/server.h"
#include "daemon/graph/dp.h"

/* The model of port `index` of a configuration, or `old` (may be NULL) if it is the same. */
int cw_congestion_get(struct cw_congestion **out, struct cw_congestion *old,
		      const struct cw_config *conf, unsigned index);
void cw_congestion_put(struct cw_congestion *c);

/* Give workers the table of proxies if it changed. Returns when to call again at the latest, in
 * milliseconds. */
uint64_t cw_proxy_map_run(uint64_t now);
void cw_proxy_map_stop(void);

/* Provider: `show congestion`. */
cw_control_fn cw_congestion_show;

void cw_congestion_metrics(struct cw_metrics_text *t);

#endif
