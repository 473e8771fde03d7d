/* traffic.h - packets that say what they are: built by `causeway gen`, checked by `causeway sink`.
 *
 * Behind its transaction headers each packet carries a description of 56 octets, then octets from
 * a generator seeded by the description. The receiver needs nothing else to say what became of the
 * packet. All of this is pure: a plan and a sequence number give the same octets every time.
 */
#ifndef CLI_TRAFFIC_H
#define CLI_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/field.h"
#include "causeway/packet.h"

enum traffic_side { TRAFFIC_UB, TRAFFIC_UBOE };

// clang-format off
#define TRAFFIC_MAGIC 0x43576731u /* "CWg1" */
#define TRAFFIC_SIZE  56
#define TRAFFIC_TABLE(U, W, B)                                                                     \
	U(traffic, magic,      0, 32, HEX,  TRAFFIC_MAGIC, none, "gen", "marks a description")     \
	U(traffic, run,       32, 32, HEX,  0, none, "gen", "the run of gen it belongs to")        \
	W(traffic, seq,       64, 48, DEC,  0, none, "gen", "number in the run (of a faulty packet: in its kind)") \
	W(traffic, total,    112, 48, DEC,  0, none, "gen", "good packets in the run, 0 if endless") \
	U(traffic, flow,     160, 16, DEC,  0, none, "gen", "flow")                                \
	U(traffic, nflows,   176, 16, DEC,  0, none, "gen", "flows in the run")                    \
	U(traffic, side,     192,  1, DEC,  0, none, "gen", "0 UB, 1 UBoE")                        \
	U(traffic, tagged,   193,  1, FLAG, 0, none, "gen", "UBoE: sent with a VLAN tag")          \
	U(traffic, v6,       194,  1, FLAG, 0, none, "gen", "IPv6")                                \
	U(traffic, cci_mode, 195,  3, DEC,  0, none, "gen", "UB: mode of CCI")                     \
	U(traffic, loc,      198,  1, FLAG, 0, none, "gen", "UB: location of congestion")          \
	U(traffic, rt,       199,  2, DEC,  0, none, "gen", "UB: routing type")                    \
	U(traffic, cc,       201,  2, DEC,  0, none, "gen", "UB: FECN, UBoE: ECN")                 \
	U(traffic, vl,       203,  4, DEC,  0, none, "gen", "UB: virtual lane")                    \
	U(traffic, pcp,      207,  3, DEC,  0, none, "gen", "UBoE: priority code point")           \
	U(traffic, dscp,     210,  6, DEC,  0, none, "gen", "DSCP")                                \
	U(traffic, ttl,      216,  8, DEC,  0, none, "gen", "TTL or hop limit")                    \
	U(traffic, part,     224, 32, DEC,  0, none, "gen", "UB: NPI, UBoE: VLAN")                 \
	U(traffic, ip_len,   256, 16, DEC,  0, none, "gen", "length of the IP packet, octets")     \
	U(traffic, sport,    272, 16, DEC,  0, none, "gen", "UDP source port")                     \
	U(traffic, addr_crc, 288, 32, HEX,  0, none, "gen", "CRC-32 of both IP addresses")         \
	U(traffic, head_crc, 320, 32, HEX,  0, none, "gen", "CRC-32 of the transport and transaction headers") \
	U(traffic, seed,     352, 32, HEX,  0, none, "gen", "seed of the rest of the payload")     \
	U(traffic, fault,    384,  8, DEC,  0, none, "gen", "0 good, else 1 + index of the fault") \
	U(traffic, crc,      416, 32, HEX,  0, none, "gen", "CRC-32 of what is in front")
// clang-format on
CW_HDR_ACCESSORS(TRAFFIC_TABLE)

/* The description as values. */
struct traffic_desc {
	uint64_t seq, total;
	uint32_t run, part, addr_crc, head_crc, seed;
	uint16_t flow, nflows, ip_len, sport;
	uint8_t side, tagged, v6, cci_mode, loc, rt, cc, vl, pcp, dscp, ttl, fault;
};

void traffic_desc_put(uint8_t out[TRAFFIC_SIZE], const struct traffic_desc *d);

/* False unless `len` octets hold a whole, undamaged description. */
bool traffic_desc_get(struct traffic_desc *d, const uint8_t *p, size_t len);

/* Octets from the generator with this seed. */
void traffic_fill(uint8_t *out, size_t len, uint32_t seed);

/* Index of the first octet that differs from traffic_fill's, or len. */
size_t traffic_differs(const uint8_t *p, size_t len, uint32_t seed);

/* A random 64-bit value for number n of stream `stream`. */
uint64_t traffic_random(uint64_t seed, uint64_t n, unsigned stream);

/* CRC-32 of both addresses of the IP header at `ip`. */
uint32_t traffic_addr_crc(const uint8_t *ip);

/* IPv6 flow label of a flow: 20 bits, the same at both ends without being sent. */
uint32_t traffic_flow_label(uint32_t run, unsigned flow);

/* ---- Plans -------------------------------------------------------------------------------- */

/* A choice among values with weights. */
#define TRAFFIC_MIX_MAX 64
struct traffic_mix {
	unsigned n;
	uint32_t value[TRAFFIC_MIX_MAX];
	uint32_t upto[TRAFFIC_MIX_MAX]; /* cumulative weights */
};

/* The next item of a list with commas: 1, with *text behind it; 0: there was none left;
 * CW_E_SYNTAX: it is empty, or too long. */
#define TRAFFIC_ITEM_MAX 64
int traffic_item(const char **text, char item[TRAFFIC_ITEM_MAX]);

/* Parse "VALUE[:WEIGHT],...". `value` reads one value: CW_OK or an error. Returns CW_OK,
 * or CW_E_SYNTAX, CW_E_RANGE, CW_E_SPACE; the mix is written only on success. */
int traffic_mix_parse(struct traffic_mix *m, const char *text,
		      int (*value)(const char *text, uint32_t *out));
void traffic_mix_one(struct traffic_mix *m, uint32_t value);
uint32_t traffic_mix_pick(const struct traffic_mix *m, uint64_t random);

/* Readers of single values for mixes. */
int traffic_value_number(const char *text, uint32_t *out); /* decimal or 0x */
int traffic_value_size(const char *text, uint32_t *out);   /* N or N-M: low | high << 16 */
int traffic_value_cc(const char *text, uint32_t *out);     /* 00 01 10 11; L behind: LoC, bit 2 */
int traffic_value_npi(const char *text, uint32_t *out);    /* ID or ID/low */
int traffic_value_vid(const char *text, uint32_t *out);    /* VID or "untagged" */
int traffic_value_op(const char *text, uint32_t *out);     /* send, write, ...: enum traffic_op */
int traffic_value_transport(const char *text, uint32_t *out); /* rtp, utp */
int traffic_value_cci(const char *text, uint32_t *out);       /* fecn, caqm, fecn-rtt, 0..7 */

#define TRAFFIC_UNTAGGED    0xffffu
#define TRAFFIC_PAYLOAD_MAX 9600

/* Transactions whose packets carry data: there the description is. */
enum traffic_op {
	TRAFFIC_SEND,
	TRAFFIC_SEND_IMM,
	TRAFFIC_WRITE,
	TRAFFIC_WRITE_IMM,
	TRAFFIC_WRITE_NOTIFY,
	TRAFFIC_WRITEBACK,
	TRAFFIC_READ_RESPONSE,
	TRAFFIC_OPS
};
extern const char *const traffic_op_names[TRAFFIC_OPS + 1];

enum traffic_transport { TRAFFIC_RTP, TRAFFIC_UTP };

/* Consecutive addresses, or ports. */
struct traffic_range {
	uint8_t addr[16]; /* IPv4: the first four octets */
	uint32_t n;
};

struct traffic_plan {
	enum traffic_side side;
	uint8_t version; /* 4 or 6 */
	uint64_t seed, count;
	uint32_t run;
	unsigned flows;
	struct traffic_range src, dst;
	uint16_t sport, nsport, dport;
	struct traffic_mix size, cc, cci, part, dscp, rt, op, transport;
	uint8_t ttl, vl, pcp;
	uint16_t outer_vid;
	bool udp_checksum; /* send a valid one instead of zero */
	enum cw_icrc_order icrc_order;
	uint8_t smac[6], dmac[6];
};

/* A plan with defaults for a side and an IP version. */
void traffic_plan_init(struct traffic_plan *p, enum traffic_side side, uint8_t version);

/* "ADDR[+N]". CW_E_SYNTAX or CW_E_RANGE. */
int traffic_range_parse(struct traffic_range *r, uint8_t version, const char *text);

/* ---- Packets ------------------------------------------------------------------------------ */

#define TRAFFIC_FRAME_MAX 10240

/* A built frame and where its parts are. An Ethernet header (and tags) is always in front. */
struct traffic_packet {
	uint8_t *frame;
	uint32_t len;
	uint32_t net; /* UB: of LPH; UBoE: of the IP header */
	uint32_t ip, udp, tph, payload, icrc;
	uint8_t version;
	enum traffic_side side;
	struct traffic_desc desc;
};

/* Build packet number `seq` into `frame` (TRAFFIC_FRAME_MAX octets). */
void traffic_build(const struct traffic_plan *p, uint64_t seq, uint8_t *frame,
		   struct traffic_packet *out);

/* Put right what depends on other octets: UB PLENGTH (of the packet as long as it is now), IPv4
 * header checksum, ICRC. */
void traffic_fix_plength(struct traffic_packet *k);
void traffic_fix_ip_checksum(struct traffic_packet *k);
void traffic_fix_icrc(struct traffic_packet *k, enum cw_icrc_order order);

/* ---- Faults ------------------------------------------------------------------------------- */

#define TRAFFIC_ON_UB   1u
#define TRAFFIC_ON_UBOE 2u

#define TRAFFIC_ON_IP4 1u
#define TRAFFIC_ON_IP6 2u

/* A kind of wrong packet: exactly one thing is wrong with it. */
struct traffic_fault {
	const char *name;
	const char *drop; /* the gateway's counter (causeway/drop.h), NULL: one of several */
	unsigned sides, versions; /* bits TRAFFIC_ON_* */
	const char *arg;          /* what its argument is, NULL if it takes none */
	const char *def;          /* the argument when left out, NULL if it must be given */
	const char *text;
	/* `arg` was accepted by traffic_fault_refuse(). */
	void (*apply)(const struct traffic_plan *p, struct traffic_packet *k, uint64_t random,
		      const char *arg);
};
extern const struct traffic_fault traffic_faults[];
extern const unsigned traffic_nfaults;

/* Index of a kind by name, or -1. */
int traffic_fault_find(const char *name);

/* Can this kind be made from this plan, with this argument (NULL: left out)? NULL, or what is
 * wrong. */
const char *traffic_fault_refuse(const struct traffic_plan *p, unsigned fault, const char *arg);

/* Build number `n` of fault kind `fault` (an index). */
void traffic_build_fault(const struct traffic_plan *p, unsigned fault, const char *arg, uint64_t n,
			 uint8_t *frame, struct traffic_packet *out);

#endif
