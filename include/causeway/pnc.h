/* pnc.h - proxy node capability (PNC) as IS-IS, OSPFv2, OSPFv3 and BGP carry it.
 *
 * Spec: Fast CNP with Proxy (Internet-Draft "Fast CNP with Proxy", August 2026) 5.1 to 5.4; RFC
 * 7794 and RFC 5305, 5308, 5120 for IS-IS; RFC 7684, 8362, 9792 for OSPF; RFC 4271, 4760, 7606 and
 * draft-ietf-idr-nhc for BGP. Code points that are not assigned yet are parameters.
 * Deviations: of a BGP UPDATE only what decides about its routes and about attribute 39 is read.
 *
 * All functions borrow: what they hand out points into the caller's octets.
 */
#ifndef CAUSEWAY_PNC_H
#define CAUSEWAY_PNC_H

#include "causeway/cursor.h"
#include "causeway/field.h"

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
#define CW_SIZE_ISIS_REACH4 5
#define CW_TABLE_ISIS_REACH4(U, W, B)                                                              \
	U(isis_reach4, metric,  0, 32, DEC,  0, none, "RFC 5305 4", "metric")                          \
	U(isis_reach4, down,   32,  1, FLAG, 0, none, "RFC 5305 4", "leaked down, must not go up")     \
	U(isis_reach4, sub,    33,  1, FLAG, 0, none, "RFC 5305 4", "sub-TLVs follow the prefix")      \
	U(isis_reach4, plen,   34,  6, DEC,  0, none, "RFC 5305 4", "prefix length")
#define CW_SIZE_ISIS_REACH6 6
#define CW_TABLE_ISIS_REACH6(U, W, B)                                                              \
	U(isis_reach6, metric,    0, 32, DEC,  0, none, "RFC 5308 2", "metric")                        \
	U(isis_reach6, down,     32,  1, FLAG, 0, none, "RFC 5308 2", "leaked down, must not go up")   \
	U(isis_reach6, external, 33,  1, FLAG, 0, none, "RFC 5308 2", "from another protocol")         \
	U(isis_reach6, sub,      34,  1, FLAG, 0, none, "RFC 5308 2", "sub-TLVs follow the prefix")    \
	U(isis_reach6, reserved, 35,  5, HEX,  0, none, "RFC 5308 2", "reserved")                      \
	U(isis_reach6, plen,     40,  8, DEC,  0, none, "RFC 5308 2", "prefix length")
#define CW_SIZE_OSPF2_LSA 20
#define CW_TABLE_OSPF2_LSA(U, W, B)                                                                \
	U(ospf2_lsa, age,           0, 16, DEC, 0,  none, "RFC 2328 A.4.1", "seconds since origin")    \
	U(ospf2_lsa, options,      16,  8, HEX, 0,  none, "RFC 2328 A.2",   "options")                 \
	U(ospf2_lsa, type,         24,  8, DEC, 11, none, "RFC 5250 A.2",   "LS type: 9, 10 or 11")    \
	U(ospf2_lsa, opaque_type,  32,  8, DEC, 7,  none, "RFC 5250 A.2",   "7: Extended Prefix")      \
	U(ospf2_lsa, opaque_id,    40, 24, DEC, 0,  none, "RFC 5250 A.2",   "which of its kind")       \
	B(ospf2_lsa, router,       64, 32, IP4, 0,  none, "RFC 2328 A.4.1", "advertising router")      \
	U(ospf2_lsa, sequence,     96, 32, HEX, 0,  none, "RFC 2328 A.4.1", "sequence number")         \
	U(ospf2_lsa, checksum,    128, 16, HEX, 0,  none, "RFC 2328 A.4.1", "Fletcher checksum")       \
	U(ospf2_lsa, length,      144, 16, DEC, 0,  none, "RFC 2328 A.4.1", "octets, header included")
#define CW_SIZE_OSPF3_LSA 20
#define CW_TABLE_OSPF3_LSA(U, W, B)                                                                \
	U(ospf3_lsa, age,         0, 16, DEC, 0, none, "RFC 5340 A.4.2", "seconds since origin")       \
	U(ospf3_lsa, type,       16, 16, HEX, 0, none, "RFC 8362 4",     "LS type: U, scope, function") \
	U(ospf3_lsa, id,         32, 32, HEX, 0, none, "RFC 5340 A.4.2", "link state ID")              \
	B(ospf3_lsa, router,     64, 32, IP4, 0, none, "RFC 5340 A.4.2", "advertising router")         \
	U(ospf3_lsa, sequence,   96, 32, HEX, 0, none, "RFC 5340 A.4.2", "sequence number")            \
	U(ospf3_lsa, checksum,  128, 16, HEX, 0, none, "RFC 5340 A.4.2", "Fletcher checksum")          \
	U(ospf3_lsa, length,    144, 16, DEC, 0, none, "RFC 5340 A.4.2", "octets, header included")
#define CW_SIZE_OSPF_TLV 4
#define CW_TABLE_OSPF_TLV(U, W, B)                                                                 \
	U(ospf_tlv, type,    0, 16, DEC, 0, none, "RFC 7684 2", "type")                                \
	U(ospf_tlv, length, 16, 16, DEC, 0, none, "RFC 7684 2", "octets of the value, without padding")
#define CW_SIZE_OSPF2_PREFIX 4
#define CW_TABLE_OSPF2_PREFIX(U, W, B)                                                             \
	U(ospf2_prefix, route_type, 0, 8, DEC, 0, none, "RFC 7684 2.1", "1 intra 3 inter 5 ext 7 NSSA") \
	U(ospf2_prefix, plen,       8, 8, DEC, 0, none, "RFC 7684 2.1", "prefix length")               \
	U(ospf2_prefix, af,        16, 8, DEC, 0, none, "RFC 7684 2.1", "address family: 0 is IPv4")   \
	U(ospf2_prefix, flags,     24, 8, HEX, 0, none, "RFC 7684 2.1", "A 0x80, N 0x40")
#define CW_SIZE_OSPF3_INTRA 12
#define CW_TABLE_OSPF3_INTRA(U, W, B)                                                              \
	U(ospf3_intra, zero,        0, 16, HEX, 0, none, "RFC 8362 4.7", "zero")                       \
	U(ospf3_intra, ref_type,   16, 16, HEX, 0, none, "RFC 8362 4.7", "referenced LS type")         \
	U(ospf3_intra, ref_id,     32, 32, HEX, 0, none, "RFC 8362 4.7", "referenced link state ID")   \
	B(ospf3_intra, ref_router, 64, 32, IP4, 0, none, "RFC 8362 4.7", "referenced router")
#define CW_SIZE_OSPF3_PREFIX 8
#define CW_TABLE_OSPF3_PREFIX(U, W, B)                                                             \
	U(ospf3_prefix, bits,     0,  8, HEX, 0, none, "RFC 8362 3.6", "external: E is 0x04")          \
	U(ospf3_prefix, metric,   8, 24, DEC, 0, none, "RFC 8362 3.4", "metric")                       \
	U(ospf3_prefix, plen,    32,  8, DEC, 0, none, "RFC 8362 3.4", "prefix length")                \
	U(ospf3_prefix, options, 40,  8, HEX, 0, none, "RFC 5340 A.4.1.1", "N 0x20, LA 0x02, NU 0x01") \
	U(ospf3_prefix, zero,    48, 16, HEX, 0, none, "RFC 8362 3.4", "zero")
#define CW_SIZE_BGP_NHC 4
#define CW_TABLE_BGP_NHC(U, W, B)                                                                  \
	U(bgp_nhc, afi,    0, 16, DEC, 1, none, "draft-ietf-idr-nhc", "address family")                \
	U(bgp_nhc, safi,  16,  8, DEC, 1, none, "draft-ietf-idr-nhc", "subsequent address family")     \
	U(bgp_nhc, nhlen, 24,  8, DEC, 4, none, "draft-ietf-idr-nhc", "octets of the next hop")
#define CW_SIZE_BGP_CHAR 4
#define CW_TABLE_BGP_CHAR(U, W, B)                                                                 \
	U(bgp_char, code,    0, 16, DEC, 0, none, "Fast CNP proxy 5.4", "characteristic code")         \
	U(bgp_char, length, 16, 16, DEC, 0, none, "Fast CNP proxy 5.4", "octets of the value")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_ISIS_REACH4)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_REACH6)
CW_HDR_ACCESSORS(CW_TABLE_OSPF2_LSA)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_LSA)
CW_HDR_ACCESSORS(CW_TABLE_OSPF_TLV)
CW_HDR_ACCESSORS(CW_TABLE_OSPF2_PREFIX)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_INTRA)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_PREFIX)
CW_HDR_ACCESSORS(CW_TABLE_BGP_NHC)
CW_HDR_ACCESSORS(CW_TABLE_BGP_CHAR)

/* Descriptors of these tables, for display. */
extern const struct cw_hdr cw_hdr_isis_reach4, cw_hdr_isis_reach6;
extern const struct cw_hdr cw_hdr_ospf2_lsa, cw_hdr_ospf3_lsa, cw_hdr_ospf_tlv;
extern const struct cw_hdr cw_hdr_ospf2_prefix, cw_hdr_ospf3_intra, cw_hdr_ospf3_prefix;
extern const struct cw_hdr cw_hdr_bgp_nhc, cw_hdr_bgp_char;

#define CW_ISIS_TLV_REACH4    135
#define CW_ISIS_TLV_MT_REACH4 235
#define CW_ISIS_TLV_REACH6    236
#define CW_ISIS_TLV_MT_REACH6 237

#define CW_OSPF2_OPAQUE_LINK   9
#define CW_OSPF2_OPAQUE_AREA   10
#define CW_OSPF2_OPAQUE_AS     11
#define CW_OSPF2_OPAQUE_PREFIX 7 /* RFC 7684: opaque type of Extended Prefix LSAs */

#define CW_OSPF2_INTRA 1 /* RFC 7684 2.1: route types */
#define CW_OSPF2_INTER 3

#define CW_OSPF3_E_INTER    0xa023 /* RFC 8362: LS types */
#define CW_OSPF3_E_EXTERNAL 0xc025
#define CW_OSPF3_E_NSSA     0xa027
#define CW_OSPF3_E_INTRA    0xa029

/* An IPv4 or IPv6 prefix. IPv4 uses the first four octets; bits behind the prefix and unused
 * octets are zero, so that equal prefixes are equal octets. */
struct cw_prefix {
	uint8_t version, plen;
	uint8_t addr[16];
};

/* An address, the same way; version 0 means none. */
struct cw_addr {
	uint8_t version;
	uint8_t addr[16];
};

/* Zero what is behind the prefix length. */
void cw_prefix_clean(struct cw_prefix *p);

/* "192.0.2.0/24", "2001:db8::/48", or an address without a length (a host prefix). CW_E_SYNTAX;
 * CW_E_RANGE when the length is too large or bits behind it are set. */
CW_MUST_USE int cw_prefix_parse(const char *text, struct cw_prefix *out);
CW_MUST_USE int cw_addr_parse(const char *text, struct cw_addr *out);
/* The same in canonical form (RFC 5952), in `buf`, which is returned. */
#define CW_PREFIX_TEXT (CW_ADDR_TEXT + 4)
const char *cw_prefix_format(const struct cw_prefix *p, char buf[CW_PREFIX_TEXT]);
const char *cw_addr_format(const struct cw_addr *a, char buf[CW_ADDR_TEXT]);

/* Code points: those of the draft are suggestions until IANA assigns them. */
struct cw_pnc_codes {
	uint8_t isis_subtlv;   /* Prefix Attribute Flags: 4 (RFC 7794) */
	uint8_t isis_bit;      /* 7, from the most significant bit (draft figure 7) */
	uint16_t ospf2_subtlv; /* OSPFv2 Prefix Attribute Flags: 11 (RFC 9792) */
	uint16_t ospf3_subtlv; /* OSPFv3 Prefix Attribute Flags: 37 (RFC 9792) */
	uint8_t ospf_bit;      /* 2, from the most significant bit (draft figures 8 and 9) */
	uint8_t bgp_attr;      /* Next Hop Dependent Characteristics: 39 */
	uint16_t bgp_code;     /* TBD3: 65534 */
};
#define CW_PNC_CODES                        \
	{                                   \
		4, 7, 11, 37, 2, 39, 0xfffe \
	}

/* What was wrong, and where: `off` counts from the first octet given to the function. */
struct cw_pnc_error {
	int err;
	size_t off;
	const char *what;
};

/* ---- IS-IS and OSPF: prefixes with flags -------------------------------------------------- */

enum cw_pnc_proto { CW_PNC_ISIS, CW_PNC_OSPF2, CW_PNC_OSPF3 };

/* A prefix that an IGP advertises. */
struct cw_pnc_prefix {
	struct cw_prefix prefix;
	enum cw_pnc_proto proto;
	uint16_t kind; /* IS-IS: type of the TLV; OSPFv2: route type; OSPFv3: LS type */
	uint16_t mt;   /* IS-IS topology, 0 the default one */
	uint32_t metric;
	uint8_t options; /* OSPFv2: flags; OSPFv3: PrefixOptions */
	bool down;       /* IS-IS: leaked down */
	bool has_flags;  /* the attribute flags are there, of any length */
	bool duplicate;  /* IS-IS: they are there twice, the first counts */
	uint8_t flags_len;
	uint32_t flags;    /* their first 32 bits; bits that were not sent are 0 */
	bool pnc;          /* the P flag */
	bool node;         /* N: a host prefix of that node (RFC 7794 2.1, RFC 7684) */
	bool readvertised; /* IS-IS R: leaked or redistributed */
	bool unreachable;  /* U or UP: the announcement takes the prefix back */
	struct cw_addr
		source; /* who announced it first: IS-IS Source Router ID (RFC 7794 2.2), OSPF
			 * Prefix Source Router Address (RFC 9084 2.2); version 0: not said */
	uint8_t source_router[4]; /* OSPF: router ID of the same (RFC 9084 2.1); 0: not said */
	const uint8_t *at;        /* the entry (IS-IS) or TLV (OSPF) */
	size_t len;
	const uint8_t *sub; /* its sub-TLVs */
	size_t sub_len;
};

/* Called for each prefix; anything but 0 ends the walk. */
typedef int cw_pnc_fn(void *arg, const struct cw_pnc_prefix *p);

/* Every prefix of the TLVs of an LSP. A TLV that is wrong is left at the fault, the walk goes on
 * behind it, and the first fault is returned in the end (and in `e`, which may be NULL).
 * CW_E_SHORT, CW_E_LENGTH: a length reaches too far; CW_E_RANGE: no such prefix length. */
CW_MUST_USE int cw_isis_walk(const struct cw_pnc_codes *codes, const uint8_t *tlvs, size_t len,
			     cw_pnc_fn *fn, void *arg, struct cw_pnc_error *e);

/* The same for the value of one TLV of type 135, 235, 236 or 237. */
CW_MUST_USE int cw_isis_reach_walk(const struct cw_pnc_codes *codes, uint8_t type,
				   const uint8_t *value, size_t len, cw_pnc_fn *fn, void *arg,
				   struct cw_pnc_error *e);

#define CW_PNC_ISIS_ENTRY_MAX (6 + 16 + 1 + 255)

/* An entry of TLV 135 or 236 (without type and length, and without a topology) with the given
 * prefix, metric, down bit and flags: P from `pnc`, N from `node` (only for host prefixes), R from
 * `readvertised`, the others from `flags`; and the Source Router ID, if there is one. Ask w->err.
 */
void cw_isis_reach_put(struct cw_wr *w, const struct cw_pnc_codes *codes,
		       const struct cw_pnc_prefix *p);

/* The entry `p` came from, once more, with the P flag as given; everything else stays, also
 * sub-TLVs and bits nobody knows. With `leak`, as RFC 5302 and RFC 7794 want a prefix that goes to
 * the other level: R set, the down bit and the metric as given, and the Source Router ID if it had
 * none (version 0: none either). CW_E_SPACE: 255 octets of sub-TLVs, or `w`. */
struct cw_isis_edit {
	bool pnc, leak, down;
	uint32_t metric;
	struct cw_addr source;
};
CW_MUST_USE int cw_isis_reach_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
				   const struct cw_pnc_prefix *p, const struct cw_isis_edit *edit);

/* Every prefix of an OSPFv2 Extended Prefix Opaque LSA's body (RFC 7684), or of an OSPFv3 E-LSA's
 * of LS type `type` (RFC 8362). An LSA with a fault is ignored as a whole (RFC 9792): `fn` is not
 * called. CW_E_UNKNOWN: an LS type without prefixes. */
CW_MUST_USE int cw_ospf2_walk(const struct cw_pnc_codes *codes, const uint8_t *body, size_t len,
			      cw_pnc_fn *fn, void *arg, struct cw_pnc_error *e);
CW_MUST_USE int cw_ospf3_walk(const struct cw_pnc_codes *codes, uint16_t type, const uint8_t *body,
			      size_t len, cw_pnc_fn *fn, void *arg, struct cw_pnc_error *e);

/* A TLV with prefix, metric (OSPFv3), options, route type (OSPFv2: p->kind) and flags. OSPFv3:
 * `type` is the LS type that the TLV is for. Ask w->err. */
void cw_ospf2_prefix_put(struct cw_wr *w, const struct cw_pnc_codes *codes,
			 const struct cw_pnc_prefix *p);
void cw_ospf3_prefix_put(struct cw_wr *w, const struct cw_pnc_codes *codes, uint16_t type,
			 const struct cw_pnc_prefix *p);

/* The proxy's address where the flag carries none (docs/decisions.md): what one originator
 * announces is given to cw_pnc_own_add(), all of it; of its flagged host prefixes one with the N
 * flag comes before one without, then the lowest. What was passed on for somebody who is named, is
 * not its own. cw_pnc_own_add() is a cw_pnc_fn whose `arg` is a struct cw_pnc_own; it returns 0. */
struct cw_pnc_own {
	struct cw_addr addr[2]; /* IPv4, IPv6 */
	bool node[2];
};
int cw_pnc_own_add(void *arg, const struct cw_pnc_prefix *p);

/* The proxy of a flagged prefix: who announced it first, if that is said, else the originator, by
 * its address of the prefix's family if it has one. Version 0: not known. */
struct cw_addr cw_pnc_proxy(const struct cw_pnc_own *own, const struct cw_pnc_prefix *p);

/* Is the prefix flagged, in use, and its proxy known? Then *proxy is that. */
bool cw_pnc_learn(const struct cw_pnc_own *own, const struct cw_pnc_prefix *p,
		  struct cw_addr *proxy);

/* The TLV that `p` came from, once more, with the P flag as given; everything else stays, but for
 * the route type of OSPFv2, or the TLV of OSPFv3's LS type, when `kind` is not negative (an ABR
 * says 3, inter-area, and makes 0xA023 of 0xA029). With `leak`, as an ABR announces a prefix in
 * another area: A or LA clear, for it is none of the ABR's own; the metric as given (OSPFv3); and
 * the source of RFC 9084 as far as it had none (version 0, router 0: none either). CW_E_SPACE. */
struct cw_ospf_edit {
	bool pnc, leak;
	int kind;
	uint32_t metric;
	struct cw_addr source;
	uint8_t router[4];
};
CW_MUST_USE int cw_ospf2_prefix_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
				     const struct cw_pnc_prefix *p,
				     const struct cw_ospf_edit *edit);
CW_MUST_USE int cw_ospf3_prefix_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
				     const struct cw_pnc_prefix *p,
				     const struct cw_ospf_edit *edit);

/* Fletcher checksum (RFC 2328 12.1.7, ISO 10589 7.3.11) of `len` octets whose checksum is at
 * `at`; OSPF starts behind the age, IS-IS behind the lifetime. */
uint16_t cw_fletcher(const uint8_t *data, size_t len, size_t at);

/* Is the checksum among these octets right? */
bool cw_fletcher_ok(const uint8_t *data, size_t len);

/* ---- BGP ---------------------------------------------------------------------------------- */

#define CW_BGP_HEAD        19    /* octets of a message's header: RFC 4271 4.1 */
#define CW_BGP_MESSAGE_MAX 65535 /* RFC 8654; 4096 without extended messages */

/* What RFC 7606 wants done about the worst fault of an UPDATE. */
enum cw_bgp_action {
	CW_BGP_ACCEPT,
	CW_BGP_DISCARD,  /* the attribute only */
	CW_BGP_WITHDRAW, /* its routes are taken back */
	CW_BGP_RESET     /* the session: what it announces can't be told */
};
const char *cw_bgp_action_name(enum cw_bgp_action a);

struct cw_bgp_routes {
	uint16_t afi; /* 0: none */
	uint8_t safi;
	struct cw_rd nlri;
	const uint8_t *next_hop; /* as it came; NULL for withdrawals */
	uint8_t next_hop_len;
};

struct cw_bgp_update {
	enum cw_bgp_action action;
	uint8_t attr;       /* at fault, 0 if no attribute is */
	const char *why;    /* NULL: nothing wrong */
	const uint8_t *bad; /* octets at fault, only ones that exist */
	size_t bad_len;
	struct cw_bgp_routes announce[2], withdraw[2]; /* [0] IPv4 unicast, [1] multiprotocol */
	bool has_nhc;
	uint8_t nhc_flags;
	struct cw_rd nhc;
};

/* The body of an UPDATE, behind its header. Returns out->action. Discarded
 * attributes are as if absent. */
enum cw_bgp_action cw_bgp_update_parse(struct cw_bgp_update *out, const struct cw_pnc_codes *codes,
				       const uint8_t *body, size_t len);

/* Next prefix of NLRI; CW_E_SHORT at its end, CW_E_RANGE or CW_E_LENGTH when it is wrong. Only
 * unicast: (1, 1) and (2, 1). */
CW_MUST_USE int cw_bgp_nlri_next(struct cw_rd *nlri, uint16_t afi, struct cw_prefix *out);

enum cw_nhc_verdict {
	CW_NHC_ABSENT,
	CW_NHC_OK,       /* `proxy` is there */
	CW_NHC_NO_PNC,   /* valid, without a PNC characteristic */
	CW_NHC_MISMATCH, /* it is about another next hop: disregarded */
	CW_NHC_MALFORMED /* attribute discard */
};
const char *cw_nhc_verdict_name(enum cw_nhc_verdict v);

/* What attribute 39 says about routes with this next hop. `why` (may be NULL) says what is wrong.
 * A PNC characteristic of a length other than 4 and 16 makes the attribute malformed; with several
 * the first one counts. */
enum cw_nhc_verdict cw_nhc_judge(const struct cw_bgp_update *u, const struct cw_bgp_routes *r,
				 const struct cw_pnc_codes *codes, struct cw_addr *proxy,
				 const char **why);

/* The attribute's value: next hop header, PNC characteristic. AFI and SAFI are those of unicast
 * routes of `family` (4 or 6). Ask w->err. */
void cw_nhc_put(struct cw_wr *w, const struct cw_pnc_codes *codes, uint8_t family,
		const struct cw_addr *next_hop, const struct cw_addr *proxy);

/* The value `old` with its PNC characteristic set to `proxy` (NULL: taken out); others stay, in
 * increasing order of code. CW_E_LENGTH: `old` is malformed. */
CW_MUST_USE int cw_nhc_edit(struct cw_wr *w, const struct cw_pnc_codes *codes, const uint8_t *old,
			    size_t len, const struct cw_addr *proxy);

/* Flags with which an attribute is sent on by a speaker that does (`known`) or does not know it:
 * the low four bits are cleared, and Partial is set on an unknown optional transitive one. 0: it
 * is not sent on (optional, not transitive). CW_E_FORBIDDEN: an unknown well-known attribute. */
int cw_bgp_relay_flags(uint8_t flags, bool known);

#ifdef __cplusplus
}
#endif
#endif
