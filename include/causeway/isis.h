/* isis.h - an IS-IS leaf: one point-to-point circuit to a router, without sockets or clocks.
 *
 * It keeps the link state database of one or both levels as every intermediate system does,
 * announces prefixes with the proxy node capability, and finds those that others announce. It is
 * never transit: its LSPs have the overload bit, and it has one neighbour. What it finds counts
 * only while the originator can be reached (links that both ends announce).
 *
 * Spec: Fast CNP proxy 5.1; ISO/IEC 10589:2002, RFC 1195, 5303 (three-way handshake), 5305 and 5308
 * (prefixes), 5120 (topology 2), 5301, 6232, 7794; 5304 and 5310 (authentication).
 * Deviations: a neighbour without the three-way TLV is refused; an LSP of the same number and
 * another checksum is taken from the neighbour, not purged; an LSP of another system that ages out
 * is forgotten, not purged, because its neighbours do that; no LAN, no mesh groups, no restart (RFC
 * 5306).
 *
 * Time and packets are arguments, time is in milliseconds and never runs backwards. What is to be
 * sent is pulled.
 */
#ifndef CAUSEWAY_ISIS_H
#define CAUSEWAY_ISIS_H

#include "causeway/hmac.h"
#include "causeway/pnc.h"
#include "causeway/wire/isis.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ISIS_L1 1u
#define CW_ISIS_L2 2u

#define CW_ISIS_KEY_MAX  254
#define CW_ISIS_NAME_MAX 64
#define CW_ISIS_PDU_MAX  9000

/* HMAC-MD5 is that of RFC 5304, the SHA kinds are those of RFC 5310 and have a key ID. */
struct cw_isis_auth {
	bool on;
	const struct cw_hasher *hasher; /* where it is on; borrowed */
	enum cw_hash_kind kind;
	uint16_t key_id;
	uint8_t key[CW_ISIS_KEY_MAX];
	size_t key_len;
};

struct cw_isis_config {
	uint8_t system[CW_ISIS_SYSTEM];
	uint8_t area[CW_ISIS_AREA_MAX];
	uint8_t area_len;
	uint8_t levels;      /* CW_ISIS_L1, CW_ISIS_L2 or both */
	uint8_t reoriginate; /* levels into which prefixes of the other one go; needs both */
	uint32_t circuit;    /* extended local circuit ID; not 0 */
	uint32_t mtu;        /* octets of the largest PDU: 1497 */
	uint32_t hello_ms;   /* 3000 */
	uint32_t multiplier; /* hold time in hellos: 3 */
	bool padding;        /* hellos are as long as the MTU until the adjacency is up: true */
	uint32_t lifetime_s; /* of own LSPs: 1200 */
	uint32_t refresh_s;  /* 900 */
	uint32_t metric;     /* of the link: 10 */
	uint32_t lsps;       /* most LSPs of a level: 4096 */
	bool topology6;      /* IPv6 in topology 2 (RFC 5120): false */
	bool originator;     /* purges name who purged (RFC 6232): false */
	char hostname[CW_ISIS_NAME_MAX];
	struct cw_addr addr4, addr6, link_local; /* of the interface; version 0: none */
	struct cw_isis_auth hello_auth, auth[2]; /* of hellos; of level 1's and level 2's others */
	struct cw_pnc_codes codes;
};
#define CW_ISIS_CONFIG                                                                  \
	{                                                                               \
		.levels = CW_ISIS_L2, .circuit = 1, .mtu = 1497, .hello_ms = 3000,      \
		.multiplier = 3, .padding = true, .lifetime_s = 1200, .refresh_s = 900, \
		.metric = 10, .lsps = 4096, .codes = CW_PNC_CODES                       \
	}

/* A prefix of one's own, announced in every level. */
struct cw_isis_prefix {
	struct cw_prefix prefix;
	uint32_t metric; /* above CW_ISIS_METRIC_MAX: nobody routes to it */
	bool node;       /* N: a host prefix of this node, the proxy's address */
};

/* X(name, text) */
#define CW_ISIS_COUNTERS(X)                                                          \
	X(hellos_sent, "hellos sent")                                                \
	X(hellos_received, "hellos received")                                        \
	X(lsps_sent, "LSPs sent, repetitions too")                                   \
	X(lsps_received, "LSPs received")                                            \
	X(csnps_sent, "CSNPs sent")                                                  \
	X(csnps_received, "CSNPs received")                                          \
	X(psnps_sent, "PSNPs sent")                                                  \
	X(psnps_received, "PSNPs received")                                          \
	X(malformed, "PDUs with wrong lengths or versions, of unknown types")        \
	X(bad_checksum, "LSPs with a wrong checksum")                                \
	X(bad_authentication, "PDUs without the right authentication")               \
	X(lan, "hellos of a broadcast circuit: only point-to-point ones are spoken") \
	X(own_system, "hellos with one's own system ID")                             \
	X(no_three_way, "hellos without a three-way TLV")                            \
	X(not_for_us, "hellos for another neighbour or circuit")                     \
	X(area_mismatch, "hellos of level 1 from another area")                      \
	X(level_mismatch, "hellos without a common level")                           \
	X(no_adjacency, "LSPs and SNPs outside an adjacency of their level")         \
	X(adjacencies, "times the adjacency came up")                                \
	X(lost, "times it was lost")                                                 \
	X(expired, "of these because no hello came in time")                         \
	X(originated, "own LSPs written anew")                                       \
	X(outdone, "own LSPs that came back newer: from an earlier life, or forged") \
	X(purges_sent, "own LSPs taken back")                                        \
	X(purges_received, "LSPs that others took back")                             \
	X(aged_out, "LSPs that nobody refreshed")                                    \
	X(replaced, "LSPs of the same number with another checksum")                 \
	X(full, "LSPs refused because the database is full")                         \
	X(bad_prefixes, "LSPs whose prefixes could not be read to the end")          \
	X(computations, "computations of what can be reached")                       \
	X(no_memory, "of these that found no memory")                                \
	X(no_room, "prefixes that did not fit into 256 fragments")                   \
	X(wrapped, "own LSPs that ran out of sequence numbers")

struct cw_isis_counters {
#define CW_X(name, text) uint64_t name;
	CW_ISIS_COUNTERS(CW_X)
#undef CW_X
};

enum cw_isis_state { CW_ISIS_DOWN, CW_ISIS_INITIALIZING, CW_ISIS_UP };

struct cw_isis_info {
	enum cw_isis_state state;
	uint8_t levels; /* of the adjacency: in use when it is up */
	uint8_t neighbour[CW_ISIS_SYSTEM];
	uint64_t since_ms;              /* of the state */
	uint64_t hold_ms;               /* when the neighbour is lost unless it says hello */
	bool synchronised;              /* the neighbour's database has been read */
	bool stopped;                   /* cw_isis_stop() has done its work */
	uint64_t generation;            /* grows when cw_isis_proxies() may find something else */
	uint32_t lsps[2], reachable[2]; /* in each level: LSPs, systems that can be reached */
};

struct cw_isis;

/* CW_E_ARG: no level, area or circuit, an MTU below 512 or above CW_ISIS_PDU_MAX; CW_E_NOMEM. */
int cw_isis_new(struct cw_isis **out, const struct cw_isis_config *config, uint64_t now);
void cw_isis_free(struct cw_isis *s); /* NULL is fine */

/* What is announced from now on. `router` are the two addresses of the proxy (index 0: IPv4, 1:
 * IPv6; version 0: none), for TLVs 134 and 140. The caller keeps nothing. CW_E_NOMEM: all as
 * before. */
CW_MUST_USE int cw_isis_announce(struct cw_isis *s, const struct cw_addr *router,
				 const struct cw_isis_prefix *prefix, size_t n, uint64_t now);

/* The addresses of the interface are others now (version 0: none). */
void cw_isis_addresses(struct cw_isis *s, const struct cw_addr *addr4, const struct cw_addr *addr6,
		       const struct cw_addr *link_local, uint64_t now);

/* A PDU came in: it begins with the discriminator 0x83. What was wrong with it (CW_E_*; counted) is
 * of no consequence. */
int cw_isis_input(struct cw_isis *s, const uint8_t *pdu, size_t len, uint64_t now);

/* Do what is due. Returns when to call again at the latest. */
uint64_t cw_isis_tick(struct cw_isis *s, uint64_t now);

/* The next PDU to send: its length, 0 when there is none. Call it after each input and tick until
 * it returns 0. `size` must be config.mtu at least. */
size_t cw_isis_pull(struct cw_isis *s, uint8_t *pdu, size_t size, uint64_t now);

/* Take back all own LSPs, then end the adjacency: pull, send and tick until info.stopped, half a
 * second at most; an acknowledgement that takes longer is not waited for. */
void cw_isis_stop(struct cw_isis *s, uint64_t now);

/* The leaf as it is now; what it has counted, valid as long as the leaf is. */
void cw_isis_info(const struct cw_isis *s, struct cw_isis_info *out);
const struct cw_isis_counters *cw_isis_counters(const struct cw_isis *s);

/* A prefix with the P flag and the proxy that goes with it. */
struct cw_isis_proxy {
	uint8_t level; /* 1 or 2 */
	uint8_t system[CW_ISIS_SYSTEM];
	struct cw_prefix prefix;
	struct cw_addr proxy;
	bool down; /* leaked down */
};

/* Everything that was found, by level and system. Valid until the next input or tick. */
const struct cw_isis_proxy *cw_isis_proxies(const struct cw_isis *s, size_t *n);

/* The database: LSP number `i` of a level, in the order of their IDs; false: no such number. */
struct cw_isis_lsp_info {
	const uint8_t *pdu; /* whole; only the header when it was purged */
	size_t len;
	uint8_t id[CW_ISIS_LSP_ID];
	uint32_t sequence;
	uint16_t checksum;
	uint32_t lifetime_s; /* left */
	bool own, reachable;
	char hostname[CW_ISIS_NAME_MAX]; /* of fragment 0 */
};
bool cw_isis_lsp_at(const struct cw_isis *s, unsigned level, size_t i, uint64_t now,
		    struct cw_isis_lsp_info *out);

#ifdef __cplusplus
}
#endif
#endif
