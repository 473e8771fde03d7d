/* link.h - frames to and from a network interface (AF_PACKET). */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include <stddef.h>
#include <stdint.h>

#define LINK_ERROR_MAX 256

/* Sending: frames are handed over in batches. */
struct link_tx;
int link_tx_open(struct link_tx **out, const char *ifname, char err[LINK_ERROR_MAX]);
void link_tx_mac(const struct link_tx *t, uint8_t mac[6]);
unsigned link_tx_mtu(const struct link_tx *t);
int link_tx_fd(const struct link_tx *t); /* the packet socket, bound to the interface */

#define LINK_BATCH 64
struct link_frame {
	void *data;
	size_t len;
};

/* Send n (at most LINK_BATCH) frames; waits while the device is full. 0 or -1 with `err`. */
int link_tx_send(struct link_tx *t, const struct link_frame *f, unsigned n,
		 char err[LINK_ERROR_MAX]);
void link_tx_close(struct link_tx *t);

/* Receiving, from a ring of `ring_octets` shared with the kernel. Everything that arrives is
 * taken (promiscuous), nothing that leaves. VLAN tags are back in the frame. */
struct link_rx;
int link_rx_open(struct link_rx **out, const char *ifname, size_t ring_octets,
		 char err[LINK_ERROR_MAX]);

struct link_packet {
	const uint8_t *data; /* valid until the next call */
	uint32_t len, wire_len;
	uint64_t time_ns;
};

/* 1 and a frame, 0 if none came within timeout_ms (or a signal did), -1 with errno. */
int link_rx_next(struct link_rx *r, struct link_packet *p, int timeout_ms);

/* Frames that the kernel had no room for, since link_rx_open(). */
uint64_t link_rx_drops(struct link_rx *r);
void link_rx_close(struct link_rx *r);

#endif
