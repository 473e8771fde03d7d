/* ring.h - an IPoIB link as a port of the graph: frames between workers and the thread of IPoIB.
 *
 * In the graph the link looks like an Ethernet segment: next hops are stations with made-up
 * addresses, which the router (router.c) tells by ARP and neighbour discovery.
 */
#ifndef DAEMON_IPOIB_RING_H
#define DAEMON_IPOIB_RING_H

#include <stdatomic.h>
#include "daemon/io/port.h"

struct cw_ibring {
	char device[256];
	unsigned refs;
	uint8_t mac[6];
	struct rte_ring *to_graph, *to_link;
	int graph_fd, link_fd; /* eventfds: something is in the ring */
	atomic_bool graph_told, link_told;
	uint64_t full; /* frames that found no room on the way to the graph */
};

/* The ring of a device string ("ib:..."); made when there is none. NULL: no memory. Control thread
 * only. */
struct cw_ibring *cw_ibring_get(const char *device);
void cw_ibring_put(struct cw_ibring *r);

/* The link's side. A buffer with room for a frame of `len` octets, or NULL. */
struct rte_mbuf *cw_ibring_new(uint32_t len, uint8_t **frame);
void cw_ibring_send(struct cw_ibring *r, struct rte_mbuf *m);
unsigned cw_ibring_receive(struct cw_ibring *r, struct rte_mbuf **m, unsigned n);

#endif
