/* uet.h - the UET message engine: messages over many paths, with the article's header
 * (wire/uetx.h).
 *
 * Pure: time comes in as an argument (nanoseconds of any clock that does not go back), packets go
 * in by cw_uet_input() and are pulled by cw_uet_output(), what happened by cw_uet_event(). One
 * engine serves one thread. Memory that is handed over (data to send, posted buffers, exposed
 * regions) stays the caller's and must live until the event that gives it back.
 *
 * A context is one end of a pair that both sides know from setup: its id (DCID of what arrives),
 * the other side's id, the peer, and the first message id in each direction. A peer is a number of
 * paths; the caller decides what a path is (a UDP source port, a link). Messages are cut at the
 * segment size, their packets sprayed over the peer's paths, put together by offset straight in the
 * posted buffer, and acknowledged one by one in the Ack's bitmap.
 */
#ifndef CAUSEWAY_UET_H
#define CAUSEWAY_UET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_UET_HEAD_MAX  28 /* octets in front of a packet's payload */
#define CW_UET_PATHS_MAX 256

/* How packets are spread over paths. */
enum cw_uet_spray {
	CW_UET_WEIGHTED,    /* where a packet is expected to arrive first: window, load, delay */
	CW_UET_ROUND_ROBIN, /* one after the other */
	CW_UET_HASH,        /* a message stays on one path, as flow hashing does */
};

/* Zero means the default in brackets. Times in ns. */
struct cw_uet_settings {
	uint32_t mtu; /* segment: data octets in a packet [4096], 64..65535 */
	enum cw_uet_spray spray;
	uint32_t id_window;        /* message ids in use at once a context [4096], a power of two */
	uint32_t max_window;       /* packets on the way a path [256], a power of two <= 4096 */
	uint32_t reorder;          /* later packets of the same path that make one lost [3] */
	uint32_t ack_every;        /* packets an Ack stands for at most [1], 1..16 */
	uint64_t ack_delay;        /* and how long it waits for them [50 us] */
	uint64_t rto_min, rto_max; /* retransmission timeout [2 ms, 1 s] */
	uint64_t retry_delay;   /* after a Nack that asks to try again, doubled each time [1 ms] */
	uint64_t reap_after;    /* half a message and nothing more comes [10 s] */
	uint64_t give_up_after; /* a message makes no progress [10 s] */
	uint64_t memory_per_peer;   /* octets of state, buffers not counted [64 MiB] */
	uint32_t messages_per_peer; /* inbound at once [131072] */
	/* Told of each large block of memory before it is first written to, that the caller may ask
	 * for huge pages: with many messages open, small ones would miss the TLB. Or NULL. */
	void (*memory)(void *p, size_t octets);
};

enum cw_uet_access { CW_UET_READABLE = 1, CW_UET_WRITABLE = 2 };

/* X(NAME, "name", "text"): counters, of the engine as a whole. */
// clang-format off
#define CW_UET_COUNTERS(X)                                                                         \
	X(TX_DATA,      "tx-data",      "data packets sent, retransmissions included")             \
	X(TX_OCTETS,    "tx-octets",    "data octets sent")                                        \
	X(RETRANSMITS,  "retransmits",  "data packets sent again")                                 \
	X(LOST,         "lost",         "packets inferred lost from later ones on the same path")  \
	X(TIMEOUTS,     "timeouts",     "packets that no Ack came for in time")                    \
	X(SPURIOUS,     "spurious",     "packets taken for lost that had arrived")                 \
	X(TX_ACK,       "tx-ack",       "Acks sent")                                               \
	X(TX_NACK,      "tx-nack",      "Nacks sent")                                              \
	X(RX_DATA,      "rx-data",      "data packets accepted")                                   \
	X(RX_OCTETS,    "rx-octets",    "data octets accepted")                                    \
	X(RX_OOO,       "rx-ooo",       "packets that arrived before an earlier one")              \
	X(RX_DUP,       "rx-dup",       "packets that were there already")                         \
	X(RX_ACK,       "rx-ack",       "Acks received")                                           \
	X(RX_NACK,      "rx-nack",      "Nacks received")                                          \
	X(RX_CE,        "rx-ce",        "data packets with congestion mark")                       \
	X(BTS,          "bts",          "packets sent back by the network")                        \
	X(PATH_DOWN,    "path-down",    "paths left after timeouts")                               \
	X(PATH_UP,      "path-up",      "paths taken back after a probe")                          \
	X(REAPED,       "reaped",       "messages that stayed unfinished")                         \
	X(E_SHORT,      "bad-short",    "packet ends inside the header")                           \
	X(E_VERSION,    "bad-version",  "version is not 1")                                        \
	X(E_OPCODE,     "bad-opcode",   "opcode or reserved field")                                \
	X(E_LENGTH,     "bad-length",   "Payload Length disagrees with the packet")                \
	X(E_CONTEXT,    "bad-context",  "no such context, or not from its peer")                   \
	X(E_CONFLICT,   "conflict",     "overlap with other bytes")                                \
	X(E_GEOMETRY,   "geometry",     "offset and length fit no segmentation of the message")    \
	X(E_TOO_LONG,   "too-long",     "message longer than its buffer")                          \
	X(E_NO_BUFFER,  "no-buffer",    "no receive posted")                                       \
	X(E_NO_MEMORY,  "no-memory",    "bound on memory of a peer reached")                       \
	X(E_ID_WINDOW,  "id-window",    "message id too far from those in use")                    \
	X(E_ACCESS,     "access",       "outside the exposed memory")                              \
	X(E_ACK,        "bad-ack",      "Ack or Nack of what was never sent")                      \
	X(E_DEAD,       "dead",         "packet of a message that was given up")
// clang-format on

enum cw_uet_counter {
#define CW_X(id, name, text) CW_UET_##id,
	CW_UET_COUNTERS(CW_X)
#undef CW_X
		CW_UET_NCOUNTERS
};

/* With hyphens, for programs; and what it counts, for people. */
const char *cw_uet_counter_name(enum cw_uet_counter c);
const char *cw_uet_counter_text(enum cw_uet_counter c);

enum cw_uet_kind {
	CW_UET_SENT,      /* Send, Write: the whole message is there; data is the caller's again */
	CW_UET_RECEIVED,  /* Send: data is in the posted buffer, whole */
	CW_UET_WRITTEN,   /* a solicited Write is in the exposed region, whole */
	CW_UET_READ_DONE, /* a Read: data is in its buffer, whole */
	CW_UET_FENCED,    /* all messages of the context before the fence are there */
};

/* How a message ended: 0, or a reason of the other side (enum cw_uetx_reason), or one of these. */
enum { CW_UET_OK = 0, CW_UET_TIMED_OUT = 256, CW_UET_CLOSED };
const char *cw_uet_status_name(unsigned status);

struct cw_uet_event {
	enum cw_uet_kind kind;
	unsigned status;
	uint32_t context, msg_id;
	bool solicited;
	void *buffer; /* the caller's memory that is given back */
	uint32_t len; /* data octets in it */
	uint64_t cookie;
};

struct cw_uet_packet {
	unsigned peer, path;
	bool ect; /* data: to be sent as ECN-capable */
	uint32_t head_len, payload_len;
	uint8_t head[CW_UET_HEAD_MAX];
	const uint8_t *payload; /* valid until the next call to the engine */
};

struct cw_uet_path_info {
	double window; /* packets */
	uint32_t in_flight;
	uint64_t rtt; /* smoothed, ns */
	uint64_t sent, acked, lost, marked;
	bool down;
};

struct cw_uet;

/* CW_E_RANGE: a setting; CW_E_NOMEM. The settings are copied; NULL: the defaults. */
CW_MUST_USE int cw_uet_new(struct cw_uet **out, const struct cw_uet_settings *s);
/* No event comes of what was under way. NULL is fine. */
void cw_uet_free(struct cw_uet *u);

/* A peer with `paths` (1..256) paths: its number (0, 1, ..), CW_E_ARG or CW_E_NOMEM. */
int cw_uet_peer(struct cw_uet *u, unsigned paths);

struct cw_uet_context {
	uint32_t id, remote_id; /* 24 bits */
	unsigned peer;
	uint32_t first_tx, first_rx; /* first message ids, as agreed at setup */
};

/* CW_E_ARG (peer, width), CW_E_CONFLICT (id in use), CW_E_NOMEM. */
int cw_uet_open(struct cw_uet *u, const struct cw_uet_context *c);

/* Close: everything unfinished ends with CW_UET_CLOSED, posted buffers come back as events. */
int cw_uet_close(struct cw_uet *u, uint32_t id);

/* Post messages. CW_E_NAME (no such context), CW_E_NOMEM. `data` of up to 4 GiB - 1. */
int cw_uet_send(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		uint64_t cookie);
/* Into the region the other side exposed, from its start on. The other side gets an event when it
 * is solicited. */
int cw_uet_write(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		 uint64_t cookie);
/* `len` octets from `offset` of the region the other side exposed. */
int cw_uet_read(struct cw_uet *u, uint64_t now, uint32_t ctx, uint32_t offset, void *buf,
		uint32_t len, uint64_t cookie);
/* What is posted behind it is not sent before all that was posted in front of it is there. */
int cw_uet_fence(struct cw_uet *u, uint32_t ctx, uint64_t cookie);

/* Post a buffer: inbound Sends of the context take them in the order in which they begin. */
int cw_uet_post(struct cw_uet *u, uint32_t ctx, void *buf, uint32_t size, uint64_t cookie);
/* Let the other side write and read `size` octets; access: enum cw_uet_access. */
int cw_uet_expose(struct cw_uet *u, uint32_t ctx, void *base, uint32_t size, unsigned access);

/* A packet (UDP payload) that came from `peer` on `path`; `ce`: marked by IP ECN. */
struct cw_uet_arrival {
	unsigned peer, path;
	bool ce;
	const void *data;
	size_t len;
};
/* CW_OK also for what is answered by a Nack or is a duplicate; else why it was refused. Counters
 * tell all of it. */
int cw_uet_input(struct cw_uet *u, uint64_t now, const struct cw_uet_arrival *a);

/* The same for packets that arrived together, in their order: much cheaper each when many messages
 * are open, because memory is waited for once a group. How many were CW_OK. */
unsigned cw_uet_input_burst(struct cw_uet *u, uint64_t now, const struct cw_uet_arrival *a,
			    unsigned n);

/* The network, or a proxy near the receiver, sent back what tells of a packet of this path (BTS;
 * the profile `uetx` is a Nack and goes to cw_uet_input()). An article header as it was sent: the
 * packet is sent again and the path's window shrinks by one. A PDS request of UE 1.0 as it was
 * sent, or a NACK "trimmed" (profiles `reflect`, `nack`, `addr`): it names no message here, so only
 * the window shrinks. Whoever calls this has checked what can be: addresses, and a CRC where there
 * is one. CW_E_SHORT, CW_E_ARG, CW_E_RESERVED (none of these), CW_E_FORBIDDEN (context or packet is
 * not known; also counted). */
int cw_uet_returned(struct cw_uet *u, uint64_t now, unsigned peer, unsigned path, const void *data,
		    size_t len);

/* The next packet to send now; false when there is none. */
bool cw_uet_output(struct cw_uet *u, uint64_t now, struct cw_uet_packet *p);

/* When cw_uet_output() has to be called again though nothing came in; UINT64_MAX: never. */
uint64_t cw_uet_deadline(const struct cw_uet *u);

/* The next event; false when there is none. */
bool cw_uet_event(struct cw_uet *u, struct cw_uet_event *e);

/* A counter since the engine was made; 0 for a number that is none. */
uint64_t cw_uet_count(const struct cw_uet *u, enum cw_uet_counter c);
/* Degree of reordering: data packets that came in order (k = 0), or 2^(k-1) to 2^k - 1 segments
 * behind the furthest one of their message that had come. Packets sent again count like the others.
 */
#define CW_UET_LATE 16
uint64_t cw_uet_late(const struct cw_uet *u, unsigned k);
/* CW_E_ARG: no such peer or path. */
int cw_uet_path(const struct cw_uet *u, unsigned peer, unsigned path, struct cw_uet_path_info *i);
/* Octets of state and number of inbound messages that a peer holds. */
uint64_t cw_uet_memory(const struct cw_uet *u, unsigned peer);
uint32_t cw_uet_open_messages(const struct cw_uet *u, unsigned peer);

#ifdef __cplusplus
}
#endif
#endif
