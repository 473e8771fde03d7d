/* traffic_check.h - what has become of a packet that gen made, against the rules of its way.
 *
 * The rules are written down here a second time, by themselves and not with the converter's
 * tables, so that a mistake there can't excuse itself.
 */
#ifndef CLI_TRAFFIC_CHECK_H
#define CLI_TRAFFIC_CHECK_H

#include "cli/traffic.h"

// clang-format off
/* X(NAME, "name", "text") */
#define TRAFFIC_CHECKS(X)                                                                          \
	X(DECODE,       "decode",       "the decoder finds fault with it")                         \
	X(DESCRIPTION,  "description",  "UB, but gen's description is missing or damaged")         \
	X(ICRC,         "icrc",         "the ICRC is wrong or missing")                            \
	X(HEADERS,      "headers",      "transport or transaction headers changed")                \
	X(PAYLOAD,      "payload",      "payload changed")                                         \
	X(LENGTH,       "length",       "IP length or PLENGTH is not that of the packet sent")     \
	X(ADDRESS,      "address",      "IP addresses changed")                                    \
	X(PORT,         "port",         "UDP port changed")                                        \
	X(DSCP,         "dscp",         "DSCP is not what the rule gives")                         \
	X(CC,           "cc",           "FECN, LoC, CCI mode or ECN is not what the rule gives")   \
	X(TTL,          "ttl",          "TTL is not the sent one less the hops")                   \
	X(PARTITION,    "partition",    "NPI or VLAN is not what the rule gives")                  \
	X(PCP,          "pcp",          "PCP is not what the rule gives")                          \
	X(IP_HEADER,    "ip-header",    "DF or flow label changed")                                \
	X(UDP_CHECKSUM, "udp-checksum", "UDP checksum is not zero behind a gateway")               \
	X(LPH,          "lph",          "RT, VL, CFG or another field of LPH is not what the rule gives")
// clang-format on

enum traffic_check {
#define CW_X(id, name, text) TRAFFIC_CHECK_##id,
	TRAFFIC_CHECKS(CW_X)
#undef CW_X
		TRAFFIC_CHECK_COUNT
};
const char *traffic_check_name(unsigned check);
const char *traffic_check_text(unsigned check);

#define TRAFFIC_MAP_MAX 64
#define TRAFFIC_ANY     (-1)

/* Are packets CE-marked on the way? */
enum traffic_marking {
	TRAFFIC_MARK_NO,
	TRAFFIC_MARK_MAYBE,
	TRAFFIC_MARK_SPORT /* those whose source port, masked, is the value */
};

struct traffic_expect {
	int gateways; /* UB2E conversions on the way; ANY: 1 between sides, else 0 */
	int hops;     /* by how much TTL is lower */
	bool strict, light_to_ce, raw, rtt_as_fecn; /* draft 5.2.1; raw: CC bits never change */
	uint8_t ect, ce_to_fecn;
	enum traffic_marking marking;
	uint16_t mark_mask, mark_value;
	bool keep_partition; /* the same NPI (or VLAN) at both ends */
	unsigned nmap;
	uint32_t map_from[TRAFFIC_MAP_MAX], map_to[TRAFFIC_MAP_MAX];
	uint32_t untagged_npi;
	uint8_t dscp[64]; /* received by sent */
	int rt, vl, pcp;  /* behind a gateway */
	uint16_t dport;
	enum cw_icrc_order icrc_order;
};

void traffic_expect_init(struct traffic_expect *e);

/* "draft", "strict", "identity", "light=ect|ce", "ect=0|1", "ce=light|severe", "rtt=fecn", by
 * commas. CW_OK or CW_E_NAME. */
int traffic_expect_cc(struct traffic_expect *e, const char *text);

/* "no", "maybe", or "sport:MASK/VALUE". */
int traffic_expect_marking(struct traffic_expect *e, const char *text);

/* "low12", "same", "SENT=GOT" (NPI as ID or ID/low, VLAN as number or "untagged"), by commas. */
int traffic_expect_partition(struct traffic_expect *e, const char *text);

/* "SENT=GOT", by commas. */
int traffic_expect_dscp(struct traffic_expect *e, const char *text);

enum traffic_kind {
	TRAFFIC_FOREIGN, /* not UB or UBoE at all */
	TRAFFIC_DAMAGED, /* UB or UBoE without a readable description */
	TRAFFIC_READABLE /* desc is valid */
};

struct traffic_verdict {
	enum traffic_kind kind;
	struct traffic_desc desc;
	uint32_t wrong;           /* bit n: check n failed */
	int error;                /* of the decoder, CW_OK if none */
	enum traffic_side side;   /* as received */
	uint8_t cc;               /* FECN or ECN as received */
	enum traffic_check first; /* check that failed first ... */
	char reason[200];         /* ... and what came, what should have */
};

/* Look at a packet as received. */
void traffic_check(const struct traffic_expect *e, enum cw_link link, const uint8_t *data,
		   size_t len, struct traffic_verdict *v);

/* ---- Counting ----------------------------------------------------------------------------- */

struct traffic_flow {
	uint64_t received, duplicates, reordered, wrong, octets, highest;
};

/* Packets seen of one run. */
struct traffic_run {
	uint32_t id;
	uint8_t v6, side;
	uint64_t total; /* 0: unknown */
	uint64_t received, distinct, duplicates, reordered, wrong, octets, highest;
	uint64_t checks[TRAFFIC_CHECK_COUNT];
	uint64_t cc[4][4]; /* sent, received */
	uint64_t faulty;   /* faulty packets that arrived, then by kind */
	uint64_t faults[256];
	unsigned nflows;
	struct traffic_flow *flows;
	uint8_t **seen; /* bitmaps of TRAFFIC_CHUNK packets */
	size_t nseen;
};

#define TRAFFIC_CHUNK (1u << 20)

struct traffic_tally {
	uint64_t packets, foreign, damaged;
	uint64_t checks[TRAFFIC_CHECK_COUNT]; /* of damaged packets */
	struct traffic_run **runs;
	unsigned nruns;
};

/* Count a checked packet of `len` octets. CW_E_NOMEM, CW_E_RANGE for a sequence number that can't
 * be (it is then counted as damaged). */
int traffic_count(struct traffic_tally *t, const struct traffic_verdict *v, size_t len);
void traffic_tally_free(struct traffic_tally *t);

/* Good packets that should have come: the run's own total, else `fallback`, else by the highest
 * sequence number seen. */
uint64_t traffic_run_expected(const struct traffic_run *r, uint64_t fallback);

/* Has good packet number `seq` come? */
bool traffic_run_has(const struct traffic_run *r, uint64_t seq);

#endif
