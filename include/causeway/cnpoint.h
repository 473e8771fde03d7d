/* cnpoint.h - the congestion point: a shaped queue that marks, detects congestion, and tells the
 * proxy of the flow that causes it.
 * Spec: draft-xiao-fann-fast-cnp-with-proxy-02 sections 4, 5 and 6; RFC 3168 and UB 2.0 5.3.5.2
 * (marking).
 *
 * The queue is a model: a virtual queue that drains at the configured rate. For each packet it
 * says when the packet leaves a queue of that rate, whether it is to be marked, and whether a
 * message is to be sent; it never holds, changes or drops a packet itself. Off until the settings
 * name a message option.
 */
#ifndef CAUSEWAY_CNPOINT_H
#define CAUSEWAY_CNPOINT_H

#include "causeway/gid.h"
#include "causeway/err.h"
#include "causeway/lpm.h"

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/* X(NAME, "name", "text") */
#define CW_POINT_COUNTERS(X)                                                                       \
	X(PACKETS,      "packets",      "packets through the queue")                               \
	X(OVERFLOW,     "overflow",     "packets that the queue has no room for")                  \
	X(MARKED,       "marked",       "packets to be marked CE, or FECN in UB")                  \
	X(NOT_ECT,      "not-ect",      "packets that would be marked, but are not ECN-capable")   \
	X(CONGESTED,    "congested",    "packets that met a congested queue")                      \
	X(SENT,         "sent",         "messages to a proxy")                                     \
	X(NO_FLOW,      "no-flow",      "no message: not UDP, a fragment, or too short")           \
	X(CONTROL,      "control",      "no message: the packet is a notification itself")         \
	X(NO_TRANSPORT, "no-transport", "no message of option 1: port of no known transport")      \
	X(NO_NRP,       "no-nrp",       "no message of option 2: no rule gives an NRP selector")   \
	X(NO_PROXY,     "no-proxy",     "no message: no proxy for the flow's source address")      \
	X(NO_SOURCE,    "no-source",    "no message: no own address of the proxy's IP version")    \
	X(FLOW_LIMIT,   "flow-limit",   "no message: one was sent for this flow a moment before")  \
	X(TOTAL_LIMIT,  "total-limit",  "no message: more a second than all flows may cause")
// clang-format on

enum cw_point_counter {
#define CW_X(id, name, text) CW_POINT_##id,
	CW_POINT_COUNTERS(CW_X)
#undef CW_X
		CW_POINT_COUNTER_COUNT
};

/* Static text; "unknown" for numbers not in the list. */
const char *cw_point_counter_name(unsigned c);

/* Section 4.2: the NRP selector of a packet, by the first rule that fits. */
enum cw_nrp_match { CW_NRP_ANY, CW_NRP_VLAN, CW_NRP_DSCP, CW_NRP_NPI };
struct cw_nrp_rule {
	enum cw_nrp_match match;
	uint32_t value; /* VLAN, DSCP or 24-bit partition; not used for ANY */
	uint32_t nrp;
};

struct cw_point_settings {
	uint64_t rate;  /* of the queue, bits a second: 100 G */
	uint32_t limit; /* octets it can hold: 4 MiB */
	/* Marking: never below min, always above max, in between with a probability that rises
	 * to `percent` at max. */
	uint32_t ecn_min, ecn_max; /* octets: 100 KiB, 400 KiB; equal: a step */
	uint8_t ecn_percent;       /* 10 */
	/* Detection: at least so deep for so long. */
	uint32_t detect_depth;                 /* octets: 200 KiB */
	uint64_t detect_ns;                    /* 0: at once */
	unsigned option;                       /* 0: no messages (default), 1, or 2 */
	bool packed;                           /* the five-tuple without padding */
	uint16_t port1, port2;                 /* 49791, 49792 */
	uint16_t roce_port, ub_port, uec_port; /* 4791, 4792, 4793: looked into for option 1 */
	struct cw_gid own4, own6; /* sources of messages, unset: none of that version */
	uint8_t dscp, ttl;        /* of messages: 48, 64 */
	/* Section 5: proxies by the traffic sender's prefix; the table's value is an index + 1
	 * into `proxies`. Both borrowed. */
	const struct cw_lpm *proxy_map;
	const struct cw_gid *proxies;
	uint32_t nproxies;
	const struct cw_nrp_rule *nrp; /* borrowed */
	uint32_t nnrp;
	uint64_t flow_ns; /* one message a flow in that time: 50 us, as DCQCN paces CNPs */
	uint32_t flows;   /* flows remembered for it, rounded up to a power of two: 65536 */
	uint32_t total_rate, total_burst; /* messages a second, 0 = no limit: 100000, 100 */
	uint64_t seed;
};

/* The defaults that stand behind the members above; no proxies, no rules. */
void cw_point_settings_init(struct cw_point_settings *s);

struct cw_point;

/* The diagnosis names a member with hyphens. CW_E_RANGE, CW_E_CONFLICT, CW_E_NOMEM. */
CW_MUST_USE int cw_point_new(struct cw_point **out, const struct cw_point_settings *s,
			     struct cw_diag *diag);
void cw_point_free(struct cw_point *p); /* NULL is fine */

/* Use another table of proxies from now on: `map`, `proxies` and `n` as in the settings. */
void cw_point_use_proxies(struct cw_point *p, const struct cw_lpm *map,
			  const struct cw_gid *proxies, uint32_t n);

#define CW_POINT_MAX 96 /* largest message with its IP header */

struct cw_point_packet {
	const uint8_t *ip;  /* the packet, below any VPN encapsulation */
	uint32_t len;       /* of it, from the IP header on */
	const uint8_t *cci; /* UB: its congestion control indicator, where marks go; else NULL */
	uint32_t wire;      /* octets that it takes on the link */
	uint16_t vid;       /* VLAN, 0 = none */
	uint32_t npi;       /* UB partition, 0 = none */
};

struct cw_point_out {
	uint64_t depart; /* when its last octet leaves the queue */
	uint32_t depth;  /* octets in the queue in front of it */
	bool overflow;   /* no room */
	bool mark;       /* set CE; in UB FECN, */
	bool severe;     /* ... severe from ecn_max on, else light */
	bool congested;
	uint32_t len;        /* octets of the message in `buf`, 0: none */
	struct cw_gid proxy; /* its destination */
};

/* A packet enters the queue at `now`. `buf` (CW_POINT_MAX octets) takes the message, an IP packet
 * with its checksums. */
void cw_point_packet(struct cw_point *p, const struct cw_point_packet *pkt, uint64_t now,
		     uint8_t buf[CW_POINT_MAX], struct cw_point_out *out);

/* A counter (CW_POINT_*) since the point was made; 0 for a number that is none. */
uint64_t cw_point_counter(const struct cw_point *p, unsigned c);

#ifdef __cplusplus
}
#endif
#endif
