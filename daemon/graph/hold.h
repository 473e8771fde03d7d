/* hold.h - packets that wait at their worker for a next hop.
 *
 * A flow stays on one worker, and the worker lets go what waits at the beginning of the first walk
 * that knows the next hop, in front of anything that this walk receives: so a flow keeps its
 * order. Nobody else touches the packets; control resolves, and publishes what it found.
 */
#ifndef DAEMON_GRAPH_HOLD_H
#define DAEMON_GRAPH_HOLD_H

#include "daemon/graph/node.h"

#define CW_HOLD_HOPS    256u /* next hops that packets of one worker wait for */
#define CW_HOLD_PACKETS 64u  /* packets that wait for one of them */

int cw_hold_new(struct cw_worker *w);
void cw_hold_free(struct cw_worker *w);

/* Let a packet wait; control is asked for the next hop. Else the reason to drop it. */
enum cw_drop cw_hold_packet(struct cw_worker *w, struct rte_mbuf *m,
			    const struct cw_neigh_key *key);

/* Is there anything to let go? Nearly always one comparison. */
bool cw_hold_is_due(const struct cw_worker *w);

/* Give every packet whose wait is over to `emit`, those of one next hop in their order; or drop it:
 * next hop does not answer. Returns how many were given. */
typedef void cw_hold_emit_fn(void *arg, struct rte_mbuf *m);
uint16_t cw_hold_release(struct cw_worker *w, cw_hold_emit_fn *emit, void *arg);

/* Drop whatever waits. */
void cw_hold_flush(struct cw_worker *w, enum cw_drop why);

/* Packets of a worker that wait for `key`; for control, at any time. */
unsigned cw_hold_count(const struct cw_worker *w, const struct cw_neigh_key *key);

#endif
