/* ospf3.h - an OSPFv3 leaf: one point-to-point interface to a router, without sockets or clocks.
 *
 * It keeps the link state database of one area as every router does, announces prefixes with the
 * proxy node capability in E-LSAs, and finds those that others announce. It is never transit: its
 * R-bit is clear (RFC 5340 A.2), and it has one neighbour. What it finds counts only while the
 * originator can be reached (links that both ends announce).
 *
 * Spec: Fast CNP proxy 5.3; RFC 5340, of RFC 2328 what that refers to; RFC 8362 (E-LSAs beside the
 * LSAs of RFC 5340: sparse mode, section 6.2), RFC 9792; RFC 9084 (whose prefix it was, between
 * areas); RFC 7166 (authentication trailer).
 * Deviations: the V6-bit stays set, or nobody would route to the proxy; own LSAs are written
 * only while the adjacency is full; LSAs of others are forgotten with the adjacency, for the only
 * neighbour has them all, and are not flushed when they age out, because their neighbours do that;
 * no LAN, no virtual links, no demand circuits, no restart of RFC 5187.
 *
 * Time and packets are arguments, time is in milliseconds and never runs backwards. What is to be
 * sent is pulled.
 */
#ifndef CAUSEWAY_OSPF3_H
#define CAUSEWAY_OSPF3_H

#include "causeway/hmac.h"
#include "causeway/pnc.h"
#include "causeway/wire/ospf3.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_OSPF3_KEY_MAX 254
#define CW_OSPF3_MTU_MAX 9216
#define CW_OSPF3_MTU_MIN 1280

/* Where all packets go (AllSPFRouters, ff02::5): RFC 2328 8.1 for point-to-point interfaces. */
extern const uint8_t cw_ospf3_all_routers[16];

/* Ordinary, stub and not-so-stubby areas: no AS-scope LSAs in the latter two. */
enum cw_ospf3_area { CW_OSPF3_NORMAL, CW_OSPF3_STUB, CW_OSPF3_NSSA };

/* RFC 7166, HMAC-SHA. The first sequence number must be above all of earlier lives: the time of day
 * in milliseconds will do. */
struct cw_ospf3_auth {
	const struct cw_hasher *hasher; /* NULL: no authentication */
	enum cw_hash_kind kind;
	uint16_t sa;
	uint16_t protocol; /* behind the key: 1 (RFC 7166 4.5) */
	uint8_t key[CW_OSPF3_KEY_MAX];
	size_t key_len;
	uint64_t sequence;
};

struct cw_ospf3_config {
	uint8_t router[4], area[4];
	uint8_t instance;
	enum cw_ospf3_area area_type;
	bool border;            /* an area border router: cw_ospf3_border() will be called */
	uint32_t interface;     /* ID; not 0 */
	uint8_t address[16];    /* link-local, of the interface */
	uint32_t mtu;           /* of the interface: 1500 */
	bool mtu_ignore;        /* of the neighbour: false */
	uint32_t hello_s;       /* 10 */
	uint32_t dead_s;        /* 40 */
	uint32_t retransmit_ms; /* 5000 */
	uint32_t refresh_s;     /* of own LSAs: 1800 */
	uint32_t metric;        /* of the link: 10 */
	uint32_t lsas;          /* most LSAs: 16384 */
	/* Added to the first sequence number of LSAs. When it grows by one each second or so, a new
	 * life begins above the numbers of the one before: its LSAs are taken at once where the
	 * flushed ones have not been forgotten. 0: as RFC 2328 12.1.6 has it. */
	uint32_t first;
	struct cw_ospf3_auth auth;
	struct cw_pnc_codes codes;
};
#define CW_OSPF3_CONFIG                                                                          \
	{                                                                                        \
		.interface = 1, .mtu = 1500, .hello_s = 10, .dead_s = 40, .retransmit_ms = 5000, \
		.refresh_s = 1800, .metric = 10, .lsas = 16384, .auth.protocol = 1,              \
		.codes = CW_PNC_CODES                                                            \
	}

/* As what a prefix is announced. External: E-NSSA-LSAs in an NSSA, not possible in a stub area. */
enum cw_ospf3_kind { CW_OSPF3_AS_INTRA, CW_OSPF3_AS_INTER, CW_OSPF3_AS_EXTERNAL };

/* An IPv6 prefix of one's own. */
struct cw_ospf3_prefix {
	struct cw_prefix prefix;
	enum cw_ospf3_kind kind;
	uint32_t metric;
	bool node; /* N and LA: a host prefix of this node, the proxy's address; routed to
		    * (announced in an Intra-Area-Prefix-LSA too). Others are not for routing: NU */
};

/* X(name, text) */
#define CW_OSPF3_COUNTERS(X)                                                           \
	X(hellos_sent, "hellos sent")                                                  \
	X(hellos_received, "hellos received")                                          \
	X(dds_sent, "database descriptions sent, repetitions too")                     \
	X(dds_received, "database descriptions received")                              \
	X(requests_sent, "link state requests sent")                                   \
	X(requests_received, "link state requests received")                           \
	X(updates_sent, "link state updates sent")                                     \
	X(updates_received, "link state updates received")                             \
	X(acks_sent, "acknowledgements sent")                                          \
	X(acks_received, "acknowledgements received")                                  \
	X(malformed, "packets with wrong lengths or versions, of unknown types")       \
	X(bad_packet_checksum, "packets with a wrong checksum")                        \
	X(bad_authentication, "packets without the right authentication")              \
	X(replayed, "authenticated packets with an old sequence number")               \
	X(not_link_local, "packets from an address that is not link-local")            \
	X(area_mismatch, "packets of another area")                                    \
	X(instance_mismatch, "packets of another instance")                            \
	X(own_router, "packets with one's own router ID")                              \
	X(timer_mismatch, "hellos with other intervals")                               \
	X(option_mismatch, "hellos from another type of area")                         \
	X(lan, "hellos that name a designated router: not of a point-to-point link")   \
	X(other_neighbour, "packets of a second router")                               \
	X(mtu_mismatch, "database descriptions of a larger MTU")                       \
	X(no_adjacency, "packets that the state of the adjacency does not allow")      \
	X(mismatches, "database exchanges that began anew: wrong sequence")            \
	X(bad_requests, "database exchanges that began anew: wrong request")           \
	X(adjacencies, "times the adjacency became full")                              \
	X(lost, "times it was lost")                                                   \
	X(expired, "times no hello came in time")                                      \
	X(lsas_received, "LSAs received")                                              \
	X(bad_checksum, "LSAs with a wrong checksum")                                  \
	X(bad_type, "LSAs of a reserved scope, or of AS scope in a stub area")         \
	X(too_soon, "LSAs that came within a second of their predecessor")             \
	X(flushed, "LSAs that others took back")                                       \
	X(aged_out, "LSAs that nobody refreshed")                                      \
	X(full, "LSAs refused because the database is full, or for lack of memory")    \
	X(bad_prefixes, "E-LSAs whose prefixes could not be read: ignored as a whole") \
	X(originated, "own LSAs written anew")                                         \
	X(outdone, "own LSAs that came back newer: from an earlier life, or forged")   \
	X(taken_back, "own LSAs flushed")                                              \
	X(wrapped, "own LSAs that ran out of sequence numbers")                        \
	X(computations, "computations of what can be reached")                         \
	X(no_memory, "of these that found no memory")

struct cw_ospf3_counters {
#define CW_X(name, text) uint64_t name;
	CW_OSPF3_COUNTERS(CW_X)
#undef CW_X
};

/* RFC 2328 10.1. X(NAME, name) */
#define CW_OSPF3_STATES(X)      \
	X(DOWN, "down")         \
	X(INIT, "init")         \
	X(EXSTART, "exstart")   \
	X(EXCHANGE, "exchange") \
	X(LOADING, "loading")   \
	X(FULL, "full")

enum cw_ospf3_state {
#define CW_X(id, name) CW_OSPF3_##id,
	CW_OSPF3_STATES(CW_X)
#undef CW_X
};
/* In lower case, as `causeway show ospf3` has it. */
const char *cw_ospf3_state_name(enum cw_ospf3_state s);

struct cw_ospf3_info {
	enum cw_ospf3_state state;
	uint8_t neighbour[4];
	uint8_t address[16]; /* the neighbour's */
	uint64_t since_ms;   /* of the state */
	uint64_t dead_ms;    /* when the neighbour is lost unless it says hello */
	bool stopped;        /* cw_ospf3_stop() has done its work */
	uint64_t generation; /* grows when cw_ospf3_proxies() may find something else */
	uint32_t lsas, reachable,
		requests;      /* LSAs held, routers that can be reached, LSAs missing */
	uint32_t untranslated; /* flagged prefixes of its NSSA that cw_ospf3_border() left in it */
};

struct cw_ospf3;

/* CW_E_ARG: no router ID or interface, an MTU or interval out of range, MD5; CW_E_NOMEM. */
int cw_ospf3_new(struct cw_ospf3 **out, const struct cw_ospf3_config *config, uint64_t now);
void cw_ospf3_free(struct cw_ospf3 *s); /* NULL is fine */

/* What is announced from now on, in place of what was before. The caller keeps nothing. CW_E_ARG:
 * a prefix of IPv4, an external one in a stub area; CW_E_NOMEM: all as before. */
CW_MUST_USE int cw_ospf3_announce(struct cw_ospf3 *s, const struct cw_ospf3_prefix *prefix,
				  size_t n, uint64_t now);

/* Announce in the area of `to` what flagged prefixes that of `from` has, with the flag, as an area
 * border router does (RFC 2328 12.4.3): of the backbone all, of another area its own ones; but not
 * those that the area of `to` has itself. One of both is the backbone. To be called when something
 * was computed anew in either (counter `computations`). CW_E_NOMEM: all as before. */
CW_MUST_USE int cw_ospf3_border(struct cw_ospf3 *to, const struct cw_ospf3 *from, uint64_t now);

/* A packet came in: it begins with the OSPF header. What was wrong with it (CW_E_*; counted) is of
 * no consequence. */
int cw_ospf3_input(struct cw_ospf3 *s, const uint8_t src[16], const uint8_t dst[16],
		   const uint8_t *packet, size_t len, uint64_t now);

/* Do what is due. Returns when to call again at the latest. */
uint64_t cw_ospf3_tick(struct cw_ospf3 *s, uint64_t now);

/* The next packet to send, from config.address to cw_ospf3_all_routers: its length, 0 when there is
 * none. Call it after each input and tick until it returns 0. `size` must be config.mtu at least.
 */
size_t cw_ospf3_pull(struct cw_ospf3 *s, uint8_t *packet, size_t size, uint64_t now);

/* Flush all own LSAs, then end the adjacency: pull, send and tick until info.stopped, a second and
 * a half at most; an acknowledgement that takes longer is not waited for. */
void cw_ospf3_stop(struct cw_ospf3 *s, uint64_t now);

/* The leaf as it is now; what it has counted, valid as long as the leaf is. */
void cw_ospf3_info(const struct cw_ospf3 *s, struct cw_ospf3_info *out);
const struct cw_ospf3_counters *cw_ospf3_counters(const struct cw_ospf3 *s);

/* A prefix with the P flag and the proxy that goes with it. */
struct cw_ospf3_proxy {
	uint8_t router[4];
	uint16_t type; /* LS type */
	struct cw_prefix prefix;
	struct cw_addr proxy;
};

/* Everything that was found, by router. Valid until the next input or tick. */
const struct cw_ospf3_proxy *cw_ospf3_proxies(const struct cw_ospf3 *s, size_t *n);

/* The database: LSA number `i`, by router, type and ID; false: no such number. */
struct cw_ospf3_lsa_info {
	const uint8_t *lsa; /* whole; the age in it is that of its arrival */
	size_t len;
	uint16_t age; /* seconds */
	bool own, reachable;
};
bool cw_ospf3_lsa_at(const struct cw_ospf3 *s, size_t i, uint64_t now,
		     struct cw_ospf3_lsa_info *out);

#ifdef __cplusplus
}
#endif
#endif
