/* isis_link.h - PDUs of IS-IS over a Linux interface: 802.3 frames with LLC. */
#ifndef DAEMON_PEERS_ISIS_LINK_H
#define DAEMON_PEERS_ISIS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/pnc.h"

struct cw_isis_link {
	int fd; /* -1: closed */
	int ifindex;
	char name[16];
	uint8_t mac[6];
	uint32_t mtu;                            /* octets of the largest PDU */
	struct cw_addr addr4, addr6, link_local; /* version 0: none */
};

/* Open the interface: no multicast but that of IS-IS is asked for. False: `errno`. */
bool cw_isis_link_open(struct cw_isis_link *k, const char *name);
void cw_isis_link_close(struct cw_isis_link *k);

/* Is it still the interface of that name? */
bool cw_isis_link_same(const struct cw_isis_link *k);

/* Look the addresses up anew. True: they are others than before. */
bool cw_isis_link_addresses(struct cw_isis_link *k);

/* The next PDU, its length in *len; NULL when there is none. `buf` holds the frame. */
const uint8_t *cw_isis_link_recv(struct cw_isis_link *k, uint8_t *buf, size_t size, size_t *len);

/* Best effort: what is lost is sent again by the protocol. */
void cw_isis_link_send(struct cw_isis_link *k, const uint8_t *pdu, size_t len);

#endif
