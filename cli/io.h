/* io.h - Ethernet frames to and from one interface, in bursts: packet sockets of Linux, or a port
 * of DPDK. What the software endpoints (perf, copy, uet) have below them.
 *
 * Frames begin at the Ethernet header and have no FCS. One thread at a time.
 */
#ifndef CLI_IO_H
#define CLI_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_BURST     64
#define IO_ERROR_MAX 256

struct io;

struct io_opts {
	/* An interface, or with `dpdk` a device as DPDK names it and its arguments:
	 * "0000:3b:00.0", "net_af_packet0,iface=eth0". */
	const char *device;
	bool dpdk;
	/* What comes up: frames of this EtherType, without VLAN tag, to the interface's address
	 * (promiscuous: to any). With udp_last, 0 for none, only UDP to ports udp_first to
	 * udp_last, without IPv4 options or IPv6 extension headers. */
	uint16_t ethertype, udp_first, udp_last;
	bool promiscuous;
	unsigned frame_max; /* octets of the longest frame that is sent */
	/* DPDK has no kernel below it: the port answers ARP and neighbour discovery for this
	 * address (4, 6; 0: there is none), and asks for io_ask(). */
	unsigned ip_version;
	uint8_t address[16];
};

/* 0 or -1 with `err`. The options need not live on. */
int io_open(struct io **out, const struct io_opts *o, char err[IO_ERROR_MAX]);
void io_close(struct io *io); /* NULL is fine */

const uint8_t *io_mac(const struct io *io);
unsigned io_mtu(const struct io *io); /* octets behind the Ethernet header */

/* Readable when frames wait; -1: there is none, ask io_recv() again and again. */
int io_fd(const struct io *io);
uint64_t io_drops(struct io *io); /* frames that found no room, coming or going */

/* DPDK, with an IP address: find the link address of this station (4 or 16 octets), and ask for it
 * again from time to time, while io_recv() is called. io_hop(): 1 known, `mac` is filled; 0 not
 * yet; -1 it does not answer. */
void io_ask(struct io *io, const uint8_t *hop);
int io_hop(const struct io *io, uint8_t mac[6]);

struct io_frame {
	uint8_t *data;
	size_t len;
};

/* Up to n (at most IO_BURST) frames that are there; they are the caller's until the next call. */
unsigned io_recv(struct io *io, struct io_frame *f, unsigned n);

/* Where frame number i (below IO_BURST) of the next burst is to be written, frame_max octets. NULL
 * when the device has no room: send what there is, or come back later. */
uint8_t *io_room(struct io *io, unsigned i);
/* Send the first n of them, with these lengths; waits while the device is full, DPDK for 10 ms at
 * most, and drops the rest then. 0 or -1 with `err`. */
int io_send(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX]);

#endif
