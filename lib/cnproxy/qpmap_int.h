/* qpmap_int.h - inside the queue pair map. */
#ifndef LIB_CNPROXY_QPMAP_INT_H
#define LIB_CNPROXY_QPMAP_INT_H

#include "causeway/cnproxy.h"
#include "causeway/packet.h"
#include "lib/cnproxy/cn_udp.h"
#include "lib/cnproxy/qphash.h"

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
	QP_BACK = 1,   /* vlan is of packets to the sender */
	QP_PACKET = 2, /* sport is of a packet that was seen */
	QP_CLOSED = 4, /* by CM, at `seen`: its packets are stale */
	QP_PSN = 8,    /* psn is the start that CM told, or that of a packet */
	QP_PKEY = 16,  /* pkey is that of a packet, or what CM told */
};

/* Ticks since then; what another worker saw a moment later is not in the past of ages ago. */
#define QP_TICKS_SINCE(now, seen) ((int32_t)(QP_TICK(now) - (seen)) > 0 ? QP_TICK(now) - (seen) : 0)

/* One direction of a connection: 64 octets, a cache line. */
struct qp_slot {
	struct cw_gid sender, receiver;
	uint32_t dqpn, sqpn, rival, psn;
	uint8_t flags, how, streak, jumps;
	uint8_t votes, others; /* below QP_VOTES_MAX */
	uint16_t pkey, sport;
	uint16_t vlan; /* in which the sender is, by its own packets if not QP_BACK */
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
	uint16_t pkey, vlan_b;      /* of the REQ, and in which it leaves */
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

/* A RoCEv2 packet. */
struct qp_packet {
	struct cn_udp u;
	const uint8_t *bth, *ext;
	uint64_t now;
	uint16_t vlan; /* as of struct cw_qp_seen */
	uint8_t opcode;
};

/* ---- Finding slots ------------------------------------------------------------------------ */

CW_INLINE struct qp_ends qp_ends(const struct cw_qpmap *m, const struct cw_gid *from,
				 const struct cw_gid *to)
{
	return qp_ends_of(m->o.seed, from, to);
}

CW_INLINE uint32_t qp_home(const struct cw_qpmap *m, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * m->nslots >> 32);
}

/* 0 is a free slot. The home is made of the hash's upper half. */
CW_INLINE uint8_t qp_tag(uint64_t hash)
{
	return (uint8_t)(hash | 1);
}

#define QP_EACH_OCTET(v) ((v)*0x0101010101010101ull)

/* Bit 7 of the octets that are zero, and no other bit. */
CW_INLINE uint64_t qp_zero_octets(uint64_t v)
{
	const uint64_t low = QP_EACH_OCTET(0x7full);

	return ~(((v & low) + low) | v | low);
}

/* Eight tags from place `i` on; the first one is the lowest octet. */
CW_INLINE uint64_t qp_tags_at(const struct cw_qpmap *m, uint32_t i)
{
	return __builtin_bswap64(cw_be64(m->tags + i));
}

CW_INLINE uint32_t qp_place(const struct cw_qpmap *m, uint32_t i, uint64_t bits)
{
	i += (uint32_t)__builtin_ctzll(bits) / 8;
	return i < m->nslots ? i : i - m->nslots;
}

CW_INLINE bool qp_same_key(const struct qp_slot *s, const struct cw_gid *sender,
			   const struct cw_gid *receiver, uint32_t dqpn)
{
	return s->dqpn == dqpn && cw_gid_equal(&s->sender, sender) &&
	       cw_gid_equal(&s->receiver, receiver);
}

/* Steps in front of finding a slot by its hash. Each fetches what the next one reads, and is taken
 * for a whole burst in between, which so waits for memory once a step. */
CW_INLINE void qp_fetch_tags(const struct cw_qpmap *m, uint64_t hash)
{
	__builtin_prefetch(m->tags + qp_home(m, hash));
}

/* The slot that the tags say; it may be another one's. */
CW_INLINE struct qp_slot *qp_fetch_slot(const struct cw_qpmap *m, uint64_t hash)
{
	uint64_t tag = QP_EACH_OCTET((uint64_t)qp_tag(hash)),
		 tags = qp_tags_at(m, qp_home(m, hash)),
		 ends = qp_zero_octets(tags) | qp_zero_octets(tags ^ tag);
	struct qp_slot *s =
		&m->slots[ends != 0 ? qp_place(m, qp_home(m, hash), ends) : qp_home(m, hash)];

	__builtin_prefetch(s);
	return s;
}

/* The slot of a key with its hash, or NULL. qp_make() enters it if need be; NULL when there is no
 * room. Entering and erasing move other slots: a pointer is good until the next of them. */
struct qp_slot *qp_find(const struct cw_qpmap *m, uint64_t hash, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn);
struct qp_slot *qp_make(struct cw_qpmap *m, uint64_t hash, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn, uint64_t now);
void qp_erase(struct cw_qpmap *m, struct qp_slot *s);

/* The hash of a key. */
CW_INLINE uint64_t qp_hash_key(const struct cw_qpmap *m, const struct cw_gid *sender,
			       const struct cw_gid *receiver, uint32_t dqpn)
{
	return qp_hash(m->o.seed, sender, receiver, dqpn);
}

/* Is this slot, that was fetched before, the key's still? It may be NULL. */
CW_INLINE bool qp_is_at(const struct cw_qpmap *m, const struct qp_slot *s,
			const struct cw_gid *sender, const struct cw_gid *receiver, uint32_t dqpn)
{
	return s != NULL && qp_same_key(s, sender, receiver, dqpn) && m->tags[s - m->slots] != 0;
}

/* ---- Lookups ------------------------------------------------------------------------------ */

/* A lookup, and what was fetched for it: the key's slot, that of the other direction, what the
 * hosts have in common. What has changed since does no harm. */
struct qp_ahead {
	const struct cw_qp_key *key;
	struct qp_ends ends;
	uint64_t hash, back_hash;
	struct qp_slot *slot, *back;
	const struct qp_host *host;
};

/* Fill in what is behind the keys. */
void qp_fetch(const struct cw_qpmap *m, struct qp_ahead *a, unsigned n);

/* The lookup itself: CW_OK, CW_E_STATE (undecided) or CW_E_UNKNOWN (*out is NULL). */
int qp_lookup(struct cw_qpmap *m, const struct qp_ahead *a, uint64_t now,
	      const struct qp_slot **out);

/* Does the slot alone satisfy the rule? */
CW_INLINE bool qp_slot_decided(const struct cw_qpmap *m, const struct qp_slot *s)
{
	if (s->how == CW_QP_STATIC)
		return true;
	/* While its PSNs contradict, nobody knows whose the queue pair is. */
	if ((s->flags & QP_CLOSED) != 0 || s->jumps > 0)
		return false;
	if (s->how == CW_QP_CM)
		return true;
	return s->votes >= m->o.min_votes && s->votes >= m->o.ratio * s->others;
}

CW_INLINE struct qp_host *qp_host(const struct cw_qpmap *m, struct qp_ends e)
{
	return &m->hosts[(uint32_t)(qp_hash_both(e) >> 32) & (m->nhosts - 1)];
}

/* Do the answers between two hosts belong to the requests under the ports that they have? Where
 * ports are unrelated, a few fit by accident, and do so each time. */
CW_INLINE bool qp_host_fits(const struct qp_host *h)
{
	return h->fits >= 3 * h->strays;
}

/* ---- Learning ----------------------------------------------------------------------------- */

/* A packet that is learned from, and what was fetched for it. */
struct qp_step {
	struct qp_packet p;
	enum qp_kind { QP_OTHER, QP_REQUEST, QP_ANSWER, QP_CM } kind;
	struct qp_ends ends;
	struct qp_request *bucket; /* of the request, or of that which is answered */
	uint32_t tag;
	bool asked; /* an answer: the request was seen */
	uint64_t hash, back_hash;
	struct qp_slot *slot, *back; /* of the packet's direction, and of the other */
};

/* Is it a packet to learn from? p->u is filled in; malformed ones are counted. */
bool qp_take(struct cw_qpmap *m, struct qp_packet *p, const struct cw_qp_seen *seen);

/* CM messages, data and their answers that were taken, in their order: lib/cnproxy/qpvote.c. */
void qp_learn(struct cw_qpmap *m, struct qp_step *step, unsigned n);

/* CM messages: lib/cnproxy/qpcm.c. */
void qp_cm(struct cw_qpmap *m, const struct qp_packet *p);

#pragma GCC visibility pop

#endif
