/* origin.h - packets that a worker makes itself: congestion messages and notifications. */
#ifndef DAEMON_GRAPH_ORIGIN_H
#define DAEMON_GRAPH_ORIGIN_H

#include "daemon/graph/node.h"

/* An IP packet of ours for cw-ip-out, counted as originated at `slot`, where its cause was. It
 * leaves by the route to its destination, in partition `npi` if that is not 0 and the port can
 * have it; or by routing domain `domain` - 1 of the snapshot when that is not 0. NULL: no buffer;
 * counted as a drop there. */
struct rte_mbuf *cw_origin(struct cw_worker *w, const uint8_t *ip, uint32_t len, unsigned slot,
			   uint16_t domain, uint32_t npi);

#endif
