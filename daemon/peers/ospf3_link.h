/* ospf3_link.h - packets of OSPFv3 over a Linux interface: a raw IPv6 socket. */
#ifndef DAEMON_PEERS_OSPF3_LINK_H
#define DAEMON_PEERS_OSPF3_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_ospf3_link {
	int fd; /* -1: closed */
	int ifindex;
	char name[16];
	uint32_t mtu;
	uint8_t address[16]; /* link-local */
};

/* Open the interface, a member of AllSPFRouters. False: `errno` (EADDRNOTAVAIL: it has no
 * link-local address yet). */
bool cw_ospf3_link_open(struct cw_ospf3_link *k, const char *name);
void cw_ospf3_link_close(struct cw_ospf3_link *k);

/* Is it still the interface of that name, with this MTU and address? */
bool cw_ospf3_link_same(const struct cw_ospf3_link *k);

/* The next packet's length, and from where to where it went; 0 when there is none. */
size_t cw_ospf3_link_recv(struct cw_ospf3_link *k, uint8_t *buf, size_t size, uint8_t src[16],
			  uint8_t dst[16]);

/* To AllSPFRouters. Best effort: what is lost is sent again by the protocol. */
void cw_ospf3_link_send(struct cw_ospf3_link *k, const uint8_t *packet, size_t len);

#endif
