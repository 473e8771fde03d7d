/* qpmap_int.h - inside the queue pair map. */
#ifndef LIB_CNPROXY_QPMAP_INT_H
#define LIB_CNPROXY_QPMAP_INT_H

#include "causeway/cnproxy.h"
#include "causeway/packet.h"

#pragma GCC visibility push(hidden)

#define QPN_MASK 0xffffffu

/* Times are kept in units of 2^26 ns (67 ms): 32 bits last for nine years. */
#define QP_TICK_SHIFT 26
#define QP_TICK(ns)   ((uint32_t)((ns) >> QP_TICK_SHIFT))

/* Votes are halved when they reach this, so that a pair can be outvoted again. */
#define QP_VOTES_MAX 128u
/* As many answers in a row for one other queue pair end a decided pair. */
#define QP_STREAK 8u
/* PSNs this far from the last one belong to another life of the queue pair ... */
#define QP_PSN_JUMP (1u << 21)
/* ... unless so many in a row insist. */
#define QP_JUMPS 16u

enum {
	QP_PACKET = 2, /* pkey and sport are of a packet that was seen */
	QP_CLOSED = 4, /* by CM, at `seen`: its packets are stale */
	QP_PSN = 8,    /* psn is the start that CM told, or that of a packet */
};

/* One direction of a connection: 64 octets, a cache line. */
struct qp_slot {
	struct cw_gid sender, receiver;
	uint32_t dqpn, sqpn, rival, psn;
	uint8_t flags, how, streak, jumps;
	uint8_t votes, others; /* below QP_VOTES_MAX */
	uint16_t pkey, sport;
	uint16_t reserved;
	uint32_t seen; /* ticks */
};
_Static_assert(sizeof(struct qp_slot) == 64, "a slot is a cache line");

/* A request that may be answered; four of them are a cache line. */
struct qp_request {
	uint32_t tag;   /* hash of addresses, PSN and source port */
	uint32_t dqpn;  /* and bit 31: in use */
	uint32_t time;  /* units of 2^16 ns */
	uint32_t voter; /* queue pair that answered last, and bit 31: there is one */
};
#define QP_REQUEST_SHIFT 16
#define QP_VALID         (1u << 31)
#define QP_WAYS          4

/* What answers between two hosts have in common; hosts share one when their hashes do, which only
 * makes their pairs harder to decide. Halved when one reaches its limit. */
struct qp_host {
	uint8_t fits, strays;   /* answers to a request that was seen, and others */
	uint8_t hashed, others; /* votes without rivals: ports of both QPNs, and others */
};

/* Tags that are compared at once. */
#define TAGS 8

/* A CM connection, in buckets. */
#define CM_WAYS 8
enum cm_state { CM_FREE, CM_REQ_SEEN, CM_REP_SEEN, CM_ESTABLISHED, CM_CLOSING, CM_STATES };

struct cm_conn {
	struct cw_gid a, b;         /* active and passive side */
	uint32_t id_a, id_b;        /* communication IDs */
	uint32_t qpn_a, qpn_b, psn; /* psn: of the REQ */
	uint64_t tid;
	struct cw_gid alt_a, alt_b; /* of a LAP that waits for its APR */
	bool alt;
	enum cm_state state;
	uint64_t deadline;
};

struct cw_qpmap {
	struct cw_qpmap_opts o;
	struct qp_slot *slots;
	uint8_t *tags; /* of the slots, and those of the first TAGS again */
	uint32_t nslots, used;
	struct qp_request *requests;
	uint32_t buckets; /* a power of two */
	struct qp_host *hosts;
	uint32_t nhosts; /* a power of two */
	struct cm_conn *conns;
	uint32_t age_at;
	uint64_t count[CW_QPMAP_COUNTER_COUNT];
};

/* What the map needs of a packet. */
struct qp_packet {
	const uint8_t *ip, *udp, *bth, *ext;
	size_t ip_len, len; /* on the wire, and what of it is at hand */
	struct cw_gid src, dst;
	uint64_t now;
	uint8_t opcode;
};

uint64_t qp_hash(uint64_t seed, const struct cw_gid *a, const struct cw_gid *b, uint64_t more);

/* The slot of a key, or NULL; qp_find_at() looks first where qp_fetch_slot() said. qp_make() enters
 * it if need be; NULL when there is no room. Entering and erasing move other slots: a pointer is
 * good until the next of them. */
struct qp_slot *qp_find(const struct cw_qpmap *m, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn);
struct qp_slot *qp_find_at(const struct cw_qpmap *m, struct qp_slot *seen,
			   const struct cw_gid *sender, const struct cw_gid *receiver,
			   uint32_t dqpn);
struct qp_slot *qp_make(struct cw_qpmap *m, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn, uint64_t now);
void qp_erase(struct cw_qpmap *m, struct qp_slot *s);

/* Steps in front of finding a slot. Each fetches what the next one reads, and is taken for a whole
 * burst in between, which so waits for memory once a step. The slot is a guess by its tag. */
uint64_t qp_fetch_tags(const struct cw_qpmap *m, const struct cw_gid *sender,
		       const struct cw_gid *receiver, uint32_t dqpn);
struct qp_slot *qp_fetch_slot(const struct cw_qpmap *m, uint64_t hash);

/* Those of a lookup: the key's tags, its slot, the tags of the other direction, its slot. All zero
 * is good, too, and so is what has changed since. */
struct qp_ahead {
	uint64_t hash;
	struct qp_slot *slot, *back;
	const struct qp_host *host;
};
void qp_ahead_tags(const struct cw_qpmap *m, struct qp_ahead *a, const struct cw_qp_key *k);
void qp_ahead_slot(const struct cw_qpmap *m, struct qp_ahead *a);
void qp_ahead_back_tags(const struct cw_qpmap *m, struct qp_ahead *a);
void qp_ahead_back(const struct cw_qpmap *m, struct qp_ahead *a);

/* The lookup itself: CW_OK, CW_E_STATE (undecided) or CW_E_UNKNOWN (*out is NULL). */
int qp_lookup(struct cw_qpmap *m, const struct cw_qp_key *k, const struct qp_ahead *a, uint64_t now,
	      const struct qp_slot **out);

/* Does the slot alone satisfy the rule? */
bool qp_slot_decided(const struct cw_qpmap *m, const struct qp_slot *s);

struct qp_host *qp_host(const struct cw_qpmap *m, const struct cw_gid *a, const struct cw_gid *b);

/* Do the answers between two hosts belong to the requests under the ports that they have? Where
 * ports are unrelated, a few fit by accident, and do so each time. */
bool qp_host_fits(const struct qp_host *h);

/* A packet that is learned from, and what was fetched for it. */
struct qp_step {
	struct qp_packet p;
	enum qp_kind { QP_OTHER, QP_REQUEST, QP_ANSWER, QP_CM } kind;
	struct qp_request *bucket; /* of the request, or of that which is answered */
	uint32_t tag;
	bool asked; /* an answer: the request was seen */
	uint64_t hash, back_hash;
	struct qp_slot *slot, *back; /* of the packet's direction, and of the other */
};

/* CM messages, data and their answers, in their order; the packets are filled in:
 * lib/cnproxy/qpvote.c. */
void qp_learn(struct cw_qpmap *m, struct qp_step *step, unsigned n);

/* CM messages: lib/cnproxy/qpcm.c. */
void qp_cm(struct cw_qpmap *m, const struct qp_packet *p);

#pragma GCC visibility pop

#endif
