/* icmp.h - dropped packets whose sender is told by an ICMP error.
 *
 * The worker decides by reason and rate, so that a storm reaches nobody else; control, which has
 * the gateway's addresses, builds and sends the error (control/icmp.h).
 */
#ifndef DAEMON_GRAPH_ICMP_H
#define DAEMON_GRAPH_ICMP_H

#include "daemon/graph/node.h"

/* Reasons that concern a sender. Damage, policy of partitions and the gateway's own troubles don't.
 */
#define CW_ICMP_REASONS                                                         \
	(1ull << CW_DROP_TTL | 1ull << CW_DROP_MTU | 1ull << CW_DROP_NO_ROUTE | \
	 1ull << CW_DROP_NEIGHBOUR_FAIL | 1ull << CW_DROP_PLAIN_IP)
_Static_assert(CW_DROP_COUNT <= 64, "one bit a reason");

/* Give control those of n dropped packets that are to be told about. The packets stay the caller's:
 * control gets references, and both sides only read from here on. */
void cw_icmp_tell(struct cw_worker *w, struct rte_mbuf **m, uint16_t n);

#endif
