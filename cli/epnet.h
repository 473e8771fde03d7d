/* epnet.h - how packets of a software endpoint get on and off an interface. */
#ifndef CLI_EPNET_H
#define CLI_EPNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cli/io.h"

/* The way to a peer, as the kernel's routes have it. */
struct epnet_route {
	unsigned ifindex;
	char ifname[32];
	uint8_t src[16], hop[16]; /* preferred source; the station that takes the frames */
	bool no_hop;              /* loopback and the like: no link address to find out */
};

/* Ask for the route to dst (4 or 16 octets). `ifname` (may be NULL) wants one over this
 * interface. 0 or -1 with `err`. */
int epnet_route(struct epnet_route *out, unsigned ip_version, const uint8_t *dst,
		const char *ifname, char err[IO_ERROR_MAX]);

/* The link address of r->hop from the kernel's neighbour table; if it has none, an empty datagram
 * to `dst`, port 9 (discard), makes it ask. Waits for at most timeout_ms. */
int epnet_resolve(const struct epnet_route *r, unsigned ip_version, const uint8_t *dst,
		  int timeout_ms, uint8_t mac[6], char err[IO_ERROR_MAX]);

struct epnet_opts {
	const char *ifname; /* or the device of DPDK */
	bool dpdk;
	bool native; /* UB in Ethernet frames of EtherType 0x88B6 */
	unsigned ip_version;
	uint16_t udp_port;
	uint8_t src[16]; /* own address */
};

struct epnet;

/* Open an interface for packets from and to one address. UBoE: the address must be this machine's,
 * and its UDP port is held so that the kernel does not answer with "port unreachable". */
int epnet_open(struct epnet **out, const struct epnet_opts *o, char err[IO_ERROR_MAX]);
void epnet_close(struct epnet *n);
unsigned epnet_mtu(const struct epnet *n);
int epnet_fd(const struct epnet *n); /* readable when a packet waits; -1: must be polled */
/* Frames go to this station from now on; UB links start with broadcast. */
void epnet_set_hop(struct epnet *n, const uint8_t mac[6]);
/* DPDK: frames go to the station with this address (4 or 16 octets), which is found by ARP or
 * neighbour discovery and asked for again from time to time. Waits for at most timeout_ms; packets
 * that come meanwhile are lost. 0 or -1 with `err`. */
int epnet_find_hop(struct epnet *n, const uint8_t *hop, int timeout_ms, char err[IO_ERROR_MAX]);

/* The next packet for the address, from the IP header or LPH on; valid until the next call. */
bool epnet_recv(struct epnet *n, const uint8_t **packet, size_t *len);

/* Room for a burst: epnet_room() is where packet number i (below IO_BURST) is to be written, with
 * *size octets, or NULL when there is none now; epnet_send() sends the first n of them, with these
 * lengths. */
uint8_t *epnet_room(struct epnet *n, unsigned i, size_t *size);
int epnet_send(struct epnet *n, const size_t *len, unsigned count, char err[IO_ERROR_MAX]);

/* Packets that the receive ring had no room for. */
uint64_t epnet_drops(struct epnet *n);

#endif
