/* cnproxy.h - which source queue pair sends to a destination queue pair, learned in the middle.
 * Spec: draft-xiao-fann-fast-cnp-with-proxy-02, sections 3 and 4; IBTA Vol 1 chapters 9 and 12.
 *
 * A RoCEv2 packet names its destination queue pair only. The map answers (sender, receiver,
 * destination QP) -> source QP. It learns from the CM handshake, from votes (a request and what
 * answers it have equal PSN and equal UDP source ports, or either NIC uses its own QPN as port),
 * and from entries that people give. Deviations: a pair is undecided until it has 3 votes and 4
 * times as many as all its rivals together, in both directions; UC without CM stays unknown.
 *
 * Memory is fixed when the map is made. Times are nanoseconds of any monotonic clock.
 */
#ifndef CAUSEWAY_CNPROXY_H
#define CAUSEWAY_CNPROXY_H

#include "causeway/gid.h"
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The map ------------------------------------------------------------------------------ */

/* How a pair is known. */
enum cw_qp_how { CW_QP_NONE, CW_QP_VOTE, CW_QP_CM, CW_QP_STATIC };

/* Events, counted. X(NAME, "name", "text") */
// clang-format off
#define CW_QPMAP_COUNTERS(X)                                                                       \
	X(PACKETS,        "packets",         "RoCEv2 packets looked at")                           \
	X(MALFORMED,      "malformed",       "packets too short for their headers")                \
	X(REQUESTS,       "requests",        "requests remembered")                                \
	X(ANSWERS,        "answers",         "ACKs, NAKs, atomic ACKs and READ responses")         \
	X(UNMATCHED,      "unmatched",       "answers to no request that was seen")                \
	X(AMBIGUOUS,      "ambiguous",       "answers that fit requests of several queue pairs")   \
	X(VOTES,          "votes",           "votes cast")                                         \
	X(CONTRADICTED,   "contradicted",    "pairs evicted because votes contradict them")        \
	X(STALE,          "stale",           "packets of a connection that was closed before")     \
	X(CM_MESSAGES,    "cm-messages",     "CM messages believed")                               \
	X(CM_ICRC,        "cm-icrc",         "CM messages with a wrong ICRC, ignored")             \
	X(CM_STATE,       "cm-state",        "CM messages that fit no connection, ignored")        \
	X(CM_ADDRESS,     "cm-address",      "CM requests for other addresses than their own, ignored") \
	X(CM_FULL,        "cm-full",         "connections forgotten early, no room")               \
	X(LEARNED,        "learned",         "pairs learned from CM")                              \
	X(CLOSED,         "closed",          "pairs closed by CM")                                 \
	X(AGED,           "aged",            "pairs removed after their idle time")                \
	X(FULL,           "full",            "pairs not entered, no room")                         \
	X(LOOKUPS,        "lookups",         "lookups")                                            \
	X(HITS,           "hits",            "lookups that gave a source queue pair")              \
	X(UNDECIDED,      "undecided",       "lookups of a pair that is not decided")              \
	X(UNKNOWN,        "unknown",         "lookups of a flow that was never seen")
// clang-format on

enum cw_qpmap_counter {
#define CW_X(id, name, text) CW_QPMAP_##id,
	CW_QPMAP_COUNTERS(CW_X)
#undef CW_X
		CW_QPMAP_COUNTER_COUNT
};

/* Static texts; "unknown" for numbers not in the list. */
const char *cw_qpmap_counter_name(unsigned c);
const char *cw_qpmap_counter_text(unsigned c);
const char *cw_qp_how_name(enum cw_qp_how how);

struct cw_qpmap_opts {
	uint32_t pairs;        /* most pairs (each direction is one) */
	uint32_t requests;     /* requests remembered, rounded up to a power of two */
	uint32_t connections;  /* CM connections followed */
	uint64_t idle_ns;      /* a pair without a packet for so long is removed; 0 = never */
	uint64_t request_ns;   /* an answer later than this is no vote */
	uint64_t handshake_ns; /* a CM message that is waited for longer is given up */
	uint64_t timewait_ns;  /* packets of a closed connection are stale for so long */
	unsigned min_votes;    /* to decide */
	unsigned ratio;        /* votes needed for each vote of a rival */
	uint64_t seed;         /* of the hashes, against chosen collisions */
	/* Told of each large table before it is first written to, that the caller may ask for huge
	 * pages: look-ups are at random, and small pages would miss the TLB each time. Or NULL. */
	void (*memory)(void *p, size_t octets);
};

/* 65536 pairs, 65536 requests, 4096 connections, 300 s, 1 s, 60 s, 10 s, 3 votes, 4 times. */
void cw_qpmap_opts_init(struct cw_qpmap_opts *o);

struct cw_qpmap;

/* CW_E_RANGE, CW_E_NOMEM. *out is written only on success; free with cw_qpmap_free(). */
CW_MUST_USE int cw_qpmap_new(struct cw_qpmap **out, const struct cw_qpmap_opts *o);
void cw_qpmap_free(struct cw_qpmap *m); /* NULL is fine */

/* Octets of memory that the map occupies, all of them. */
size_t cw_qpmap_memory(const struct cw_qpmap *m);

/* Learn from an IP packet of `wire` octets (padding behind it is allowed), of which `len` are at
 * hand: a capture may have cut it behind its headers. Everything that is not RoCEv2 is passed over.
 * The packet is only read. */
void cw_qpmap_packet(struct cw_qpmap *m, const uint8_t *ip, size_t len, size_t wire, uint64_t now);

/* The same from a burst, in its order: the memory that it needs is fetched for CW_QP_BURST of them
 * before it is waited for. */
#define CW_QP_BURST 32
/* A VLAN: this bit and a VID, which is 0 for untagged packets; 0 alone: not known. */
#define CW_VLAN_SEEN 0x8000u
#define CW_VLAN_VID  0x0fffu
struct cw_qp_seen {
	const uint8_t *ip;
	size_t len, wire;
	uint64_t now;
	uint16_t vlan; /* in which it leaves; of a UB partition its VLAN */
};
void cw_qpmap_learn(struct cw_qpmap *m, const struct cw_qp_seen *seen, unsigned n);

/* A pair, as it is looked up and listed. */
struct cw_qp_pair {
	struct cw_gid sender, receiver;
	uint32_t dqpn, sqpn;
	enum cw_qp_how how;
	bool decided, closed;
	unsigned votes, rivals; /* votes for sqpn, and for all others */
	bool pkey_known;        /* packets of the flow were seen, or CM told */
	bool sport_known;       /* packets of the flow were seen */
	uint16_t pkey, sport;   /* of the last one */
	uint16_t vlan;          /* in which packets leave to the sender; 0: not known */
	bool linux_port;        /* sport is what Linux makes of both QPNs */
	bool qpn_port;          /* sport is the source QPN */
	uint64_t seen_ns;       /* last packet or CM message, about 1/15 s exact */
};

/* CW_OK with the pair, its `decided` true; CW_E_STATE with the pair as far as it is known; or
 * CW_E_UNKNOWN. `out` may be NULL. */
int cw_qpmap_lookup(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		    uint32_t dqpn, uint64_t now, struct cw_qp_pair *out);

/* The same for a burst. `out` and `err` have `n` elements. */
struct cw_qp_key {
	struct cw_gid sender, receiver;
	uint32_t dqpn;
};
void cw_qpmap_lookup_burst(struct cw_qpmap *m, const struct cw_qp_key *key, unsigned n,
			   uint64_t now, struct cw_qp_pair *out, int *err);

/* A static pair; it stays until it is removed. CW_E_SPACE when the map is full. */
CW_MUST_USE int cw_qpmap_add(struct cw_qpmap *m, const struct cw_gid *sender,
			     const struct cw_gid *receiver, uint32_t dqpn, uint32_t sqpn,
			     uint64_t now);

/* Remove one. CW_E_UNKNOWN. */
int cw_qpmap_remove(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		    uint32_t dqpn);

/* Remove pairs that were idle too long, looking at up to `slots` of the table; call it
 * regularly, it goes on where it stopped. */
void cw_qpmap_age(struct cw_qpmap *m, uint64_t now, uint32_t slots);

/* Walk: *at is 0 at first; true with the next pair, false at the end. */
bool cw_qpmap_next(const struct cw_qpmap *m, uint32_t *at, struct cw_qp_pair *out);

/* Pairs in the map, each direction is one; and a counter (CW_QPMAP_*), 0 for a number that is none.
 */
uint32_t cw_qpmap_count(const struct cw_qpmap *m);
uint64_t cw_qpmap_counter(const struct cw_qpmap *m, unsigned c);

/* UDP source port that Linux derives from the two queue pair numbers when the flow label is 0
 * (include/rdma/ib_verbs.h, rdma_get_udp_sport). */
uint16_t cw_roce_sport(uint32_t qpn_a, uint32_t qpn_b);

#ifdef __cplusplus
}
#endif
#endif
