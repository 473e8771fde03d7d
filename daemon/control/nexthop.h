/* nexthop.h - the control thread's half of forwarding: ARP, neighbour discovery, echo, and the
 * table of next hops that workers read. */
#ifndef DAEMON_CONTROL_NEXTHOP_H
#define DAEMON_CONTROL_NEXTHOP_H

#include "daemon/graph/dp.h"

int cw_nexthop_init(void);
void cw_nexthop_fini(void);

/* Take the static entries of a snapshot; CW_E_SPACE when not all fitted. */
int cw_nexthop_set_static(const struct cw_plane *p);
void cw_nexthop_forget_port(unsigned slot);

/* Work off what workers sent, and run the timers. Returns when to call again at the latest, in
 * milliseconds of the monotonic clock. */
uint64_t cw_nexthop_run(void);

/* Shutdown: what still comes from the workers is taken, and nothing sent any more. */
void cw_nexthop_drain(void);

const struct cw_neigh *cw_nexthop_table(void);

#endif
