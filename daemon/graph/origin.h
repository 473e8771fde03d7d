/* origin.h - packets that a worker makes itself: congestion messages and notifications. */
#ifndef DAEMON_GRAPH_ORIGIN_H
#define DAEMON_GRAPH_ORIGIN_H

#include "daemon/graph/node.h"

/* An IP packet of ours for cw-ip-out, counted as originated at `slot`, where its cause was. It
 * leaves by the route to its destination, in `vlan` (CW_VLAN_SEEN and a VID) or, on a UB port, in
 * that VLAN's partition, if it is not 0, else in the VLAN of the gateway's address; or by routing
 * domain `domain` - 1 of the snapshot when that is not 0. NULL: no buffer; counted as a drop
 * there. */
struct rte_mbuf *cw_origin(struct cw_worker *w, const uint8_t *ip, uint32_t len, unsigned slot,
			   uint16_t domain, uint16_t vlan);

#endif
