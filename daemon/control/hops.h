/* hops.h - next hops of a snapshot in the making.
 *
 * Routes share equal ones: however many routes a gateway has, they lead to few neighbours, and what
 * packets need of those should stay in a core's own caches.
 */
#ifndef DAEMON_CONTROL_HOPS_H
#define DAEMON_CONTROL_HOPS_H

#include "daemon/graph/dp.h"

struct cw_hops {
	struct cw_hop *hop;
	unsigned n;
	uint32_t *bucket; /* index of a hop + 1, 0: free; open addressing */
	uint32_t mask;
};

/* Room for `max` different ones. CW_E_NOMEM; free with cw_hops_free() in any case. */
int cw_hops_init(struct cw_hops *t, unsigned max);
void cw_hops_free(struct cw_hops *t);

/* Index of a hop, which is copied where there is no equal one yet. Of `via` only what its kind uses
 * counts. */
uint32_t cw_hops_add(struct cw_hops *t, const struct cw_hop *hop);

/* Give the snapshot its hops and their adjacencies. CW_E_NOMEM. */
int cw_hops_finish(struct cw_hops *t, struct cw_plane *p);

#endif
