/* uet_int.h - the engine's structures. */
#ifndef LIB_UET_UET_INT_H
#define LIB_UET_UET_INT_H

#include <string.h>
#include "causeway/uet.h"
#include "causeway/wire/uetx.h"

#pragma GCC visibility push(hidden)

#define UET_NEVER   UINT64_MAX
#define UET_MTU_MIN 64u

/* A circular list with a head; an element that is on no list points to itself. */
struct uet_link {
	struct uet_link *prev, *next;
};

static inline void uet_link_init(struct uet_link *l)
{
	l->prev = l->next = l;
}

static inline bool uet_linked(const struct uet_link *l)
{
	return l->next != l;
}

static inline void uet_unlink(struct uet_link *l)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed was taken out before. */
	l->prev->next = l->next;
	l->next->prev = l->prev;
	uet_link_init(l);
}

static inline void uet_append(struct uet_link *head, struct uet_link *l)
{
	uet_unlink(l);
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

#define UET_OF(type, member, l) ((type *)(void *)((char *)(l)-offsetof(type, member)))

struct uet_slot {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct uet_map {
	struct uet_slot *slots;
	uint32_t mask, count;
};

int uet_map_init(struct uet_map *m, uint32_t size);
void *uet_map_find(const struct uet_map *m, uint64_t key);
/* The key's slot will be asked for soon. */
void uet_map_prefetch(const struct uet_map *m, uint64_t key);
/* The key is not there yet. CW_E_NOMEM. */
int uet_map_add(struct uet_map *m, uint64_t key, void *value);
void uet_map_del(struct uet_map *m, uint64_t key);

/* Outbound messages of a context; answers to Reads have the ids of the reader and a space of their
 * own. */
static inline uint64_t uet_key(uint32_t ctx, bool response, uint32_t id)
{
	return (uint64_t)ctx << 33 | (uint64_t)response << 32 | id;
}

enum uet_seg_state { UET_SEG_FLIGHT, UET_SEG_LOST, UET_SEG_ACKED };

/* A packet on the way. */
struct uet_seg {
	uint64_t sent_at;
	uint32_t seq; /* of the path */
	uint16_t path;
	uint8_t state, tries;
};

struct uet_ctx;

/* An outgoing message. */
struct uet_tx {
	uint64_t key;          /* in the tx map, once it was started */
	struct uet_link order; /* context's unfinished messages, by id */
	struct uet_link queue; /* waiting in the context, then in the peer, then nowhere */
	struct uet_link lostq; /* of the peer: has lost packets */
	struct uet_link held;  /* asked to wait, by how often it was: then on neither of both */
	struct uet_link age;   /* by progress_at; later the event list */
	struct uet_ctx *ctx;
	const uint8_t *data;
	uint64_t cookie, progress_at, hold_until;
	uint32_t len, nseg, id;
	uint32_t next, cum; /* first packet never sent, first not acknowledged */
	uint32_t lost, refs;
	struct uet_seg *win;
	uint32_t win_mask;
	unsigned status, holds;
	uint8_t op;
	bool started, solicited, done, quiet;
	uint8_t body[8]; /* of a Read */
};

/* Octets from `from` up to `to` are there. */
struct uet_span {
	uint32_t from, to;
};

/* How a message notes which of its octets are there. */
enum uet_noted {
	UET_NOTED_LAST,  /* its last packet, if has_last; nothing else */
	UET_NOTED_WORD,  /* a bit a segment in `word` */
	UET_NOTED_BITS,  /* a bit a segment at `bits` */
	UET_NOTED_SPANS, /* spans: a packet did not fit the segments */
};

/* An inbound message: what each packet touches, one cache line. */
struct uet_rx {
	uint8_t *buf;
	union {
		uint64_t word;
		uint64_t *bits;
	};
	struct uet_rx_rest *rest;
	uint32_t size;
	uint32_t seg, slots;  /* segment size once known, segments the bitmap has room for */
	uint32_t total, high; /* length once known (has_last), end of the furthest octet */
	uint32_t got, cum;
	uint16_t owed;   /* 0, or 1 + where the Ack that it is owed stands */
	uint8_t op, age; /* the latter: when the last packet came, in ages */
	uint8_t noted;   /* enum uet_noted */
	bool has_last, solicited;
};
_Static_assert(sizeof(struct uet_rx) == 64, "one cache line");

/* And what its begin, its end and rare packets touch. */
struct uet_rx_rest {
	struct uet_rx *rx;
	struct uet_rx_rest *next_free;
	struct uet_ctx *ctx;
	uint32_t number; /* of the piece of memory */
	uint32_t context, id, last_off;
	unsigned status;
	bool posted;                /* a buffer was taken; of a response: the Read went out */
	uint64_t cookie, active_at; /* the latter: within an age */
	struct uet_link age;        /* by active_at; later the event list */
	struct uet_span *spans;
	uint32_t nspans, span_room;
	uint8_t body[8];
};

/* Memory of inbound messages: blocks of them, kept until the engine goes. What each packet touches
 * lies together, so that few pages hold it. */
enum { UET_BLOCK = 32768 };
struct uet_pool {
	struct uet_rx **rx;        /* a block each */
	struct uet_rx_rest **rest; /* the same */
	struct uet_rx_rest *free;
	uint32_t nblocks, used;
	void (*memory)(void *p, size_t octets); /* of the settings */
};

struct uet_recv {
	struct uet_link link;
	void *buf;
	uint32_t size;
	uint64_t cookie;
};

struct uet_ctx {
	struct cw_uet_context c;
	struct uet_link waiting, unfinished, recvs;
	struct uet_link answers; /* to Reads */
	uint32_t next_id, outstanding, reads;
	bool fencing, closing;
	uint32_t rx_base; /* ids before it are over */
	uint32_t
		*ids; /* of the window, by id modulo its size: UET_ID_.. or number of the message */
	uint64_t *dead; /* bits, of two windows */
	uint8_t *region;
	uint32_t region_size;
	unsigned access;
};

/* A packet that came in for a context: its article header, and how it came. */
struct uet_in {
	struct uet_ctx *ctx;
	unsigned path;
	bool ce;
	const uint8_t *p;
};

/* Of the message that an Ack or Nack speaks of. */
static inline uint64_t uet_tx_key(const struct uet_ctx *c, const uint8_t *p)
{
	return uet_key(c->c.id, cw_uetx_s(p), cw_uetx_msg_id(p));
}

struct uet_fifo {
	struct uet_tx *tx;
	uint32_t idx, seq;
};

struct uet_path {
	unsigned number;
	double window, ssthresh, alpha;
	uint32_t in_flight, next_seq, acked_seq, cut_seq;
	uint32_t round_seq, round_acked, round_marked;
	uint64_t srtt, rttvar;
	uint64_t rtt_min[2], period_at; /* of this period and the last one; when it began */
	struct uet_fifo *fifo;
	uint32_t head, tail;
	unsigned backoff, strikes;
	bool down;
	uint64_t probe_at, probe_wait;
	uint64_t sent, acked, lost, marked;
};

struct uet_peer {
	struct uet_path *paths;
	unsigned npaths, turn;
	struct uet_link queue; /* messages with packets never sent and room in their window */
	struct uet_link lost;  /* messages with lost packets */
	uint64_t memory;
	uint32_t open;
	uint32_t sending;  /* messages that were started and are not over */
	uint64_t heard_at; /* an answer came, or the first of those was started */
};

/* An Ack or a Nack that goes out now. */
struct uet_reply {
	unsigned peer, path;
	uint32_t dcid, scid, id, offset;
	uint16_t cumulative, sack;
	uint8_t op, reason;
	bool response, complete, ce;
};

/* An Ack that a message is owed, and when. */
struct uet_owed {
	struct uet_rx *rx; /* NULL: no longer */
	struct uet_ctx *ctx;
	uint64_t at;
	uint32_t id, off; /* the latter: of the packet it speaks of */
	uint16_t path;
	uint8_t count; /* packets it stands for */
	bool ce;
};

/* Acks in the order in which they are due. */
enum { UET_ACKS = 1024 };
struct uet_acks {
	struct uet_owed e[UET_ACKS];
	uint32_t head, tail;
};

enum { UET_ID_NEW, UET_ID_OVER, UET_ID_FIRST }; /* from UET_ID_FIRST on: a message's number */
enum { UET_REPLIES = 2048, UET_HOLDS = 7, UET_AGES = 8, UET_SPANS_MAX = 1024 };

struct cw_uet {
	struct cw_uet_settings s;
	struct uet_peer *peers;
	unsigned npeers, turn;
	struct uet_map ctxs, tx, reads; /* the latter: inbound answers to Reads */
	struct uet_pool pool;
	struct uet_link tx_age, rx_age, tx_events, rx_events;
	struct uet_link held[UET_HOLDS]; /* of one delay each, so in order of time */
	struct uet_reply replies[UET_REPLIES];
	unsigned reply_head, reply_tail;
	struct uet_acks later; /* owed after a delay */
	uint64_t now, expire_at;
	uint64_t age_ends; /* the running age's end, and its number */
	uint8_t age;
	uint64_t counters[CW_UET_NCOUNTERS];
	uint64_t late[CW_UET_LATE];
};

/* paths.c */
int uet_path_init(struct uet_path *p, unsigned number, const struct cw_uet_settings *s);
/* A path for the next packet of `m` (not `avoid`, if there is another), or -1. */
int uet_pick(struct cw_uet *u, struct uet_peer *peer, const struct uet_tx *m, unsigned tries,
	     int avoid);
void uet_path_sent(struct cw_uet *u, struct uet_path *p, struct uet_tx *m, uint32_t idx);
/* `direct`: told by an Ack that came back on this path, so Acks of earlier packets came before. */
void uet_path_acked(struct cw_uet *u, struct uet_path *p, const struct uet_seg *seg, bool direct);
void uet_path_marked(struct uet_path *p);
/* A packet was sent back: a mark, and one packet less. */
void uet_path_returned(struct uet_path *p);
/* The packet in hand is lost: account for it; `cut` the window, at most once a round. */
void uet_path_lost(struct uet_path *p, const struct uet_seg *seg, bool cut);
/* Later packets arrived, or time passed: find what is lost. */
void uet_path_infer(struct cw_uet *u, struct uet_path *p);
void uet_path_expire(struct cw_uet *u, struct uet_path *p);
uint64_t uet_path_deadline(const struct cw_uet *u, const struct uet_path *p);

/* send.c */
/* Start what waits in the context, as far as fences and the id window let it. */
void uet_pump(struct cw_uet *u, struct uet_ctx *c);
struct uet_seg *uet_seg(struct uet_tx *m, uint32_t idx);
void uet_mark_lost(struct cw_uet *u, struct uet_tx *m, uint32_t idx);
void uet_tx_release(struct uet_tx *m);
void uet_tx_finish(struct cw_uet *u, struct uet_tx *m, unsigned status);
int uet_tx_answer(struct cw_uet *u, struct uet_ctx *c, uint32_t id, const uint8_t *data,
		  uint32_t len);
int uet_ack_input(struct cw_uet *u, struct uet_ctx *c, unsigned path, const uint8_t *p);
/* Article header `p` came back as it was sent. */
int uet_returned_input(struct cw_uet *u, struct uet_ctx *c, const uint8_t *p);
int uet_nack_input(struct cw_uet *u, struct uet_ctx *c, const uint8_t *p, size_t len);
/* Messages that were held long enough go on. */
void uet_let_go(struct cw_uet *u);

/* receive.c */
int uet_data_input(struct cw_uet *u, const struct uet_in *in);
/* The message of a data packet that has begun, or NULL. */
struct uet_rx *uet_rx_find(const struct cw_uet *u, const struct uet_ctx *c, const uint8_t *p);
void uet_rx_finish(struct cw_uet *u, struct uet_rx *m, unsigned status);
void uet_rx_release(struct cw_uet *u, struct uet_rx *m);
void uet_rx_expire(struct cw_uet *u);
/* The Read with this id goes out now. */
void uet_rx_started(struct cw_uet *u, struct uet_ctx *c, uint32_t id);
int uet_rx_expect(struct cw_uet *u, struct uet_ctx *c, uint32_t id, void *buf, uint32_t len,
		  uint64_t cookie);

/* place.c: of a data packet `p` whose octets lie within the message's size */
/* Does it say other octets than those that are there? */
bool uet_place_conflicts(const struct uet_rx *m, const uint8_t *p);
/* Do offset, length and marks fit the message as far as it is known? Only the last packet ends
 * where the message does. */
bool uet_place_fits(const struct uet_rx *m, const uint8_t *p);
/* Are all its octets there? */
bool uet_place_has(const struct uet_rx *m, const uint8_t *p);
/* Take its octets. CW_E_NOMEM: that they are there can't be noted, so they are not. */
int uet_place(struct cw_uet *u, struct uet_rx *m, const uint8_t *p);
/* Which of the 16 segments are there among which that at `off` is, the first one lowest. */
uint32_t uet_place_block(const struct uet_rx *m, uint32_t off);
/* Bring what this packet will touch into the caches. */
void uet_place_prefetch(const struct uet_rx *m, const uint8_t *p);
/* Octets of memory behind the message's own; free them. */
uint64_t uet_place_cost(const struct uet_rx *m);
void uet_place_free(struct uet_rx *m);

/* acks.c */
/* Say `r` on this path: the addresses in it are written here. */
void uet_reply(struct cw_uet *u, const struct uet_ctx *c, unsigned path, const struct uet_reply *r);
/* The next reply that was said, or the next Ack that is due. */
bool uet_reply_next(struct cw_uet *u, struct uet_reply *r);
uint64_t uet_reply_deadline(const struct cw_uet *u);
/* The packet's message is owed an Ack: `now`, or with others of its message a little later. */
void uet_owe_ack(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in, bool now);
void uet_owe_no_more(struct cw_uet *u, struct uet_rx *m);
/* Does the Ack that is owed tell of a mark? */
bool uet_owes_ce(struct cw_uet *u, const struct uet_rx *m);

/* pool.c */
struct uet_rx *uet_pool_get(struct uet_pool *p); /* on no list, all zero; NULL: out of memory */
void uet_pool_put(struct uet_pool *p, struct uet_rx *m);
void uet_pool_free(struct uet_pool *p);

static inline struct uet_rx *uet_pool_at(const struct uet_pool *p, uint32_t number)
{
	return &p->rx[number / UET_BLOCK][number % UET_BLOCK];
}

/* spans.c */
/* Octets from `from` up to `to` are there now; `fresh`: how many of them were not before.
 * CW_E_NOMEM: too many spans, or the peer's `limit` of memory. */
int uet_spans_add(struct uet_peer *peer, uint64_t limit, struct uet_rx_rest *m, uint32_t from,
		  uint32_t to, uint32_t *fresh);
bool uet_spans_cover(const struct uet_rx_rest *m, uint32_t from, uint32_t to);
/* Does a packet say other octets than those that are there? */
bool uet_spans_differ(const struct uet_rx_rest *m, uint32_t off, const uint8_t *data, uint32_t len);

/* Messages stand in a list by the time of their last packet, to be reaped in that order. The time
 * is noted once an age, so that a packet seldom touches its message's neighbours in the list; in
 * return a message is reaped up to an age late. */
static inline bool uet_is_stale(uint64_t at, uint64_t now, uint64_t limit)
{
	return now - at >= limit / UET_AGES;
}

static inline uint64_t uet_reap_at(uint64_t at, uint64_t limit)
{
	return at + limit + limit / UET_AGES;
}

static inline struct uet_peer *uet_peer_of(const struct cw_uet *u, const struct uet_ctx *c)
{
	return &u->peers[c->c.peer];
}

static inline bool uet_is_response(const struct uet_rx *m)
{
	return m->op == CW_UETX_READ_RESPONSE;
}

static inline void uet_inc(struct cw_uet *u, enum cw_uet_counter c)
{
	u->counters[c]++;
}

static inline bool uet_bit(const uint64_t *bits, uint32_t i)
{
	return (bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void uet_set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void uet_clear(uint64_t *bits, uint32_t i)
{
	bits[i / 64] &= ~((uint64_t)1 << i % 64);
}

#pragma GCC visibility pop

#endif
