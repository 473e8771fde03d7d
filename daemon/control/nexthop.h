/* nexthop.h - the control thread's half of forwarding: ARP, neighbour discovery, echo, and the
 * table of next hops that workers read. */
#ifndef DAEMON_CONTROL_NEXTHOP_H
#define DAEMON_CONTROL_NEXTHOP_H

#include "daemon/graph/dp.h"

/* What control counts, by port, on top of the workers' counters. */
extern struct cw_port_counters cw_nexthop_counters[CW_MAX_PORTS];

struct cw_nexthop_stats {
	uint64_t arp_requests_in, arp_replies_in, arp_requests_out, arp_replies_out;
	uint64_t ns_in, na_in, ns_out, na_out;
	uint64_t echo_replies, malformed;
};
extern struct cw_nexthop_stats cw_nexthop_stats;

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

uint64_t cw_now_ms(void);

/* For local.c: put a finished frame out of a port; frees it when that can't be. */
void cw_nexthop_send(struct rte_mbuf *m, unsigned slot);

#endif
