/* uet.h - causeway uet: shared by its subcommands. */
#ifndef CLI_UET_H
#define CLI_UET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "causeway/uet.h"
#include "cli/cmd.h"
#include "cli/histogram.h"

enum { UET_PATHS = 64, UET_SENDERS = 16, UET_ERROR = 256 };

/* What perf does again and again; what send, write and read do once. */
enum uet_op { UET_OP_SEND, UET_OP_WRITE, UET_OP_READ };

struct uet_opts {
	bool json;
	const char *to, *bind;
	const char *dpdk,
		*address; /* a port of DPDK in place of sockets, and the own address on it */
	bool has_hop;
	uint8_t hop[6]; /* the station that takes the frames; else the other end is asked */
	const char *file,
		*memory; /* to send or to write into; recv: what the exposed memory holds */
	uint16_t port, source_port;   /* the latter of path 0; 0: any */
	unsigned paths, ranks, ahead; /* the latter: messages under way at once */
	enum uet_op op;
	uint64_t size, count, elements, seed, timeout_ms; /* count: 0 is not given */
	bool forever;
	bool crc;                        /* packets end in the CRC-32C of UE 1.0 */
	uint64_t expose, offset, length; /* of the exposed memory */
	double loss;
	struct cw_uet_settings s;
};

/* The subcommands; exit codes. */
int uet_send_file(const struct uet_opts *o);
int uet_write_file(const struct uet_opts *o);
int uet_read_memory(const struct uet_opts *o);
int uet_perf(const struct uet_opts *o);
int uet_perf_send(const struct uet_opts *o);
int uet_recv(const struct uet_opts *o);
int uet_allreduce(const struct uet_opts *o);

/* What was so far, every now and then. */
struct uet_sample {
	uint64_t at, retransmits, rx_data, rx_ooo, octets;
	uint64_t sent[UET_PATHS];
};

enum { UET_SAMPLES = 512 };

/* Samples of a run. When there is no room, every other one goes and the interval doubles. */
struct uet_samples {
	unsigned n;
	uint64_t interval, next_at, began_at;
	struct uet_sample s[UET_SAMPLES];
};

struct uet_frames;

enum { UET_GONE = 64 };

/* The other end. Both ends' context has the sender's id, which it made up. */
struct uet_far {
	bool used;
	uint32_t id;
	struct sockaddr_in6 own;             /* what it sends to (server, with CRC) */
	struct sockaddr_in6 path[UET_PATHS]; /* IPv4 as mapped addresses */
	unsigned known;                      /* paths seen so far (server) */
	uint64_t packets;                    /* from it (server) */
};

/* An engine on UDP sockets: one socket a path when sending, one for all when receiving. Or on a
 * port of DPDK (uet_frames.c). */
struct uet_io {
	struct cw_uet *u;
	unsigned nsock;
	int sock[UET_PATHS];
	uint16_t port[UET_PATHS]; /* source ports */
	int returns; /* sender: socket for what the network sends back, if it has one */
	bool has_returns, tried_returns;
	struct uet_frames *frames;
	bool server;
	struct uet_far far[UET_SENDERS]; /* by the engine's peer; a client has one */
	unsigned nfar;
	int (*opened)(void *arg, unsigned far); /* server: a sender came; -1: not now */
	void *arg;
	uint32_t gone[UET_GONE]; /* ids of senders that are through, the last ones */
	unsigned ngone;
	bool crc;
	struct sockaddr_in6 own[UET_PATHS]; /* client with CRC: what it sends from */
	uint64_t bad_crc;                   /* packets dropped for it */
	uint64_t strangers;                 /* packets from other hosts, or of no transfer */
	struct uet_samples *samples;        /* for JSON */
	struct histogram took;              /* sender: ns from posting a message to its end */
	char err[UET_ERROR];
};

/* 0, or -1 with io->err. */
int uet_io_client(struct uet_io *io, const struct uet_opts *o);
int uet_io_server(struct uet_io *io, const struct uet_opts *o);
void uet_io_close(struct uet_io *io);
/* For the two kinds of input and output. */
int uet_io_complain(struct uet_io *io, const char *what, const char *why); /* -1 */
int uet_io_resolve(struct uet_io *io, const char *host, uint16_t port, struct sockaddr_in6 *out);
/* Server: whose packet it is, and its path, which is the source port. The first packet of a
 * transfer makes a new sender. -1: a stranger. */
int uet_io_path_of(struct uet_io *io, const struct sockaddr_in6 *from, const uint8_t *data,
		   size_t len, unsigned *far);
/* Client: what the network sent back. It has the ports of the packet it speaks of, so it came to
 * the receiver's port on this host, from a path's. */
void uet_io_returned(struct uet_io *io, const struct sockaddr_in6 *from, const uint8_t *data,
		     size_t len);
/* A sender is through: forget it. */
void uet_io_leave(struct uet_io *io, unsigned far);
int uet_frames_open(struct uet_io *io, const struct uet_opts *o, unsigned paths);
void uet_frames_close(struct uet_frames *f);
int uet_frames_turn(struct uet_io *io);

/* Of perf. */
static inline uint64_t uet_messages(const struct uet_opts *o)
{
	return o->count != 0 ? o->count : 1000;
}

static inline uint32_t uet_mtu(const struct uet_opts *o)
{
	return o->s.mtu != 0 ? o->s.mtu : 4096;
}

/* Send what is due, wait for packets or time (at most `wait_ns`), take them in. */
int uet_io_turn(struct uet_io *io, uint64_t wait_ns);

void uet_sample(struct uet_io *io, uint64_t now);
/* Numbers of a run, as text or as JSON members. */
void uet_report(const struct uet_io *io, const struct uet_opts *o, const char *what,
		uint64_t octets, uint64_t messages, uint64_t ns);
/* One of several transfers; NULL: it went well. */
void uet_report_transfer(const struct uet_far *from, const struct uet_opts *o, const char *file,
			 uint64_t octets, uint64_t ns, const char *wrong);

/* ---- What both ends of a transfer say (uet_transfer.c, uet_region.c)
 * ----------------------------- */

/* The first message, octets: magic 4, message size 4, total 8, count 8; the last message behind
 * Writes and Reads: magic 4, uet_op 4, of the last one offset 4, octets 4 and their CRC-32C 4, how
 * many there were 4. */
enum { UET_HEADER = 24 };
#define UET_MAGIC_TRANSFER 0x43575554u
#define UET_MAGIC_DONE     0x43575544u

enum { UET_AHEAD = 32 }; /* messages of a sender that are under way at once, at most */

struct uet_progress {
	uint64_t total, done, shown_at;
	bool on;
};
void uet_progress(struct uet_progress *p, bool last);

/* A file mapped for reading; an empty one is NULL. 0, or -1 when why was said. */
int uet_map_file(const char *name, const uint8_t **data, uint64_t *len);
void uet_unmap_file(const uint8_t *data, uint64_t len);

#endif
