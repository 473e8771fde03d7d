/* local.h - frames to the gateway itself, and its own ARP and ND messages. */
#ifndef DAEMON_CONTROL_LOCAL_H
#define DAEMON_CONTROL_LOCAL_H

#include "daemon/graph/dp.h"

/* Messages, by kind. */
struct cw_local_stats {
	uint64_t arp_requests_in, arp_replies_in, arp_requests_out, arp_replies_out;
	uint64_t ns_in, na_in, ns_out, na_out;
	uint64_t echo_replies, malformed;
};
extern struct cw_local_stats cw_local_stats;

/* Handle a frame that a worker punted. CW_PASS: it was taken (and freed, or sent back as an
 * answer). Else the reason, and it is still the caller's. m->port stays readable in either case
 * only through the caller's copy: answers keep the slot they came from. */
enum cw_drop cw_local_input(struct cw_neigh *table, struct rte_mbuf *m);

/* The port's own address of the key's family and VLAN, of the subnet of the key's address if there
 * is one. NULL: none. */
const uint8_t *cw_local_address(const struct cw_plane_port *port, const struct cw_neigh_key *key);

/* Ask for a next hop: its ARP request or neighbour solicitation; to everybody, or to `mac`. */
void cw_local_request(const struct cw_neigh_key *key, const uint8_t *mac);

#endif
