/* io_neigh.h - ARP (RFC 826) and neighbour discovery (RFC 4861) of a station that has no kernel
 * below it: answers for the own address, and finds the link address of the next hop. No I/O, no
 * clock.
 *
 * Frames begin at the Ethernet header. Times are milliseconds of a clock that never goes back.
 */
#ifndef CLI_IO_NEIGH_H
#define CLI_IO_NEIGH_H

#include <stddef.h>
#include <stdint.h>

struct io_neigh_opts {
	unsigned ip_version;         /* 4 or 6 */
	uint8_t address[16], mac[6]; /* own; IPv4: the first four octets */
	/* Send a frame; one that finds no room is lost like any. */
	void (*send)(void *arg, const uint8_t *frame, size_t len);
	void *arg;
};

struct io_neigh;

/* NULL: out of memory. */
struct io_neigh *io_neigh_new(const struct io_neigh_opts *o);
void io_neigh_free(struct io_neigh *n); /* NULL is fine */

/* Find this station (4 or 16 octets), and ask for it again from time to time. */
void io_neigh_ask(struct io_neigh *n, const uint8_t *hop, uint64_t now);

/* A frame came in; what is not ARP or ND is left alone. */
void io_neigh_input(struct io_neigh *n, const uint8_t *frame, size_t len, uint64_t now);

/* Timers, and the frames that they cause; costs nothing before one is due. */
void io_neigh_tick(struct io_neigh *n, uint64_t now);

/* 1: known, `mac` is filled; 0: being asked for; -1: it does not answer (it is asked for again). An
 * address that was known stays in use while the station does not answer. */
int io_neigh_hop(const struct io_neigh *n, uint8_t mac[6]);

#endif
