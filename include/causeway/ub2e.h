/* ub2e.h - the UB2E switch: native UB packets <-> UBoE, one packet at a time, in place.
 * Spec: draft-li-uboe-00; wire facts of UB Base Specification 2.0.
 *
 * Two steps a packet. The check reads and decides, and changes nothing: it either names the drop
 * or fills a view. The write, given the view and a next hop, rewrites the headers in front of the
 * transport header in place; TPH .. ICRC are never touched, so an ICRC is carried, not made. The
 * caller looks up the route (view.dst) in between, in bulk if it likes.
 */
#ifndef CAUSEWAY_UB2E_H
#define CAUSEWAY_UB2E_H

#include <stdbool.h>
#include "causeway/drop.h"
#include "causeway/err.h"
#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_NPI_DEFAULT 1u        /* draft 5.3: the default partition */
#define CW_NPI_ID_MASK 0xffffffu /* 24-bit Partition ID */
#define CW_NPI_PERM    (1u << 24)
#define CW_UB_PREFIX   10 /* LPH 4, CCI 2, reserved + NPI 4: in front of the IP header */

enum cw_icrc_check { CW_ICRC_CHECK_OFF, CW_ICRC_CHECK_COUNT, CW_ICRC_CHECK_DROP };

/* Draft 5.2: CCI modes that have no mapping to ECN (CAQM, FECN_RTT, reserved). */
enum cw_cci_policy { CW_CCI_NOT_ECT, CW_CCI_DROP };

/* Draft 5.3. LOW12: by the low 12 bits, entries of the table first. TABLE: only the table.
 * ENHANCED: the dual-ended mode; each entry has a VLAN for either Permission. */
enum cw_npi_mode { CW_NPI_LOW12, CW_NPI_TABLE, CW_NPI_ENHANCED };

struct cw_npi_entry {
	uint32_t id;      /* 24-bit Partition ID */
	uint16_t vid;     /* VLAN of high-privilege packets; of all of them outside ENHANCED */
	uint16_t vid_low; /* ENHANCED: VLAN of low-privilege (Permission 1) packets */
};

/* All rules of one gateway. cw_ub2e_settings_init() gives the draft's defaults. */
struct cw_ub2e_settings {
	/* 4.1 */
	uint16_t udp_port; /* 4792 */
	/* What packets to that port from or to a prefix are (draft 4.1: UBoE): UB, whatever they
	 * look like, or the article's UET. Borrowed during cw_ub2e_new(). */
	const struct cw_pin_4792 *pins;
	unsigned npins;
	bool udp_verify;      /* verify non-zero checksums: true */
	bool ttl_decrement;   /* the switch is an IP hop: true */
	bool plain_ip;        /* TCP/IP other than UBoE crosses with raw ECN copy: true */
	bool plength_check;   /* LPH.PLENGTH must agree with the packet: true */
	uint8_t dscp_out[64]; /* UB -> Ethernet, identity */
	uint8_t dscp_in[64];  /* Ethernet -> UB, identity */
	/* 4.2 */
	enum cw_icrc_check icrc_check_ub, icrc_check_eth; /* at ingress from that side: off */
	enum cw_icrc_order icrc_order;
	/* 5.1 */
	uint8_t rt;     /* of packets towards UB: 2 = per flow, shortest paths */
	uint8_t vl[64]; /* virtual lane by DSCP: 0 */
	/* 5.2 */
	enum cw_cci_policy cci_policy;
	bool fecn_rtt_as_fecn; /* false */
	/* 5.2.1 */
	bool strict_ecn;    /* one-to-one: 01 <-> ECT(1), the three below are not used */
	bool light_to_ce;   /* FECN 01 -> CE (true), or the ECN-capable code point */
	uint8_t ect;        /* code point of FECN 10: 2 = ECT(0), or 1 = ECT(1) */
	uint8_t ce_to_fecn; /* FECN of CE: 3 = severe, or 1 = light */
	/* 5.3 */
	enum cw_npi_mode npi_mode;
	const struct cw_npi_entry *npi; /* borrowed during cw_ub2e_new() */
	unsigned nnpi;
	uint32_t untagged_npi; /* NPI of untagged frames: 1; 0 = drop as vlan-unmapped */
	uint8_t pcp[64];       /* PCP by (outgoing) DSCP: 0 */
};

/* The defaults that stand behind the members above. */
void cw_ub2e_settings_init(struct cw_ub2e_settings *s);

/* Compiled, immutable rules. */
struct cw_ub2e;

/* Check and compile. `partitions` are the Partition IDs declared to be in use (of port filters and
 * the like): two of them, or one of them and a table entry, that would share a VLAN are refused
 * (draft 5.3, "do not collide after truncation"), and the diagnosis names both. Its path is that of
 * the leaf in container ub2e of causeway.yang: "udp/port", "npi/map[id='7']/vid".
 * CW_E_CONFLICT, CW_E_RANGE, CW_E_NOMEM. *out is written only on success; free with cw_ub2e_free().
 */
int cw_ub2e_new(struct cw_ub2e **out, const struct cw_ub2e_settings *s, const uint32_t *partitions,
		unsigned npartitions, struct cw_diag *diag);
void cw_ub2e_free(struct cw_ub2e *u); /* NULL is fine */
const struct cw_ub2e_settings *cw_ub2e_get_settings(const struct cw_ub2e *u);

/* A port's own NPI filter (UB 2.0 5.3.3): sorted 24-bit Partition IDs; none = all allowed. */
struct cw_npi_filter {
	const uint32_t *ids;
	unsigned n;
};

/* ROUTED: from Ethernet, and may go back there: cw_ub2e_route_eth(). Never the side of a hop. */
enum cw_side { CW_SIDE_UB, CW_SIDE_ETH, CW_SIDE_ROUTED };

/* What the check found out, and the write needs. */
struct cw_ub2e_view {
	enum cw_side from;
	uint8_t *ip;        /* IP header; TPH .. ICRC follow the UDP header */
	uint32_t ip_len;    /* IP header .. ICRC, octets, without padding */
	const uint8_t *dst; /* destination address inside `ip`, 4 or 16 octets */
	uint8_t version;    /* 4 or 6 */
	bool plain;         /* TCP/IP other than UBoE */
	bool tagged;        /* towards Ethernet: send a VLAN tag */
	uint8_t tos;        /* DSCP and ECN to write */
	uint8_t pcp;
	uint16_t vid;
	/* towards UB, and what a UB ingress packet carried (for UB -> UB forwarding) */
	uint8_t vl, rt;
	uint16_t cci;
	uint32_t npi; /* 25 bits, with Permission */
	/* Ethernet ingress: VID of the outer one of two tags, else 0. Which of them a port takes is
	 * the caller's to check. */
	uint16_t outer_vid;
	/* UB ingress: why it may not leave the UB domain, or CW_PASS; and the events to be counted
	 * when it does. UB -> UB is not concerned. */
	enum cw_drop cross;
	uint32_t cross_notes;
	uint32_t notes; /* bit n: event CW_NOTE_n is to be counted; complete after the write */
};

/* A VLAN tag that the device took out of the frame; stripped = false when it did not. */
struct cw_stripped_tag {
	bool stripped;
	uint16_t tci, tpid;
};

/* A packet from the UB side: `ub` is LPH .. ICRC, `len` octets (trailing link padding allowed).
 * Both checks only read. On a drop the view is not filled. */
enum cw_drop cw_ub2e_from_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			     uint8_t *ub, uint32_t len, struct cw_ub2e_view *v);

/* A frame from the Ethernet side, from its destination address on, FCS taken off. */
enum cw_drop cw_ub2e_from_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      uint8_t *frame, uint32_t len, const struct cw_stripped_tag *tag,
			      struct cw_ub2e_view *v);

/* The same for a frame that a router takes from one Ethernet port to another: any IP packet,
 * fragments, options and extension headers included, whose addresses may be forwarded. It keeps its
 * VLAN and its ToS octet, and may be written for hops on the Ethernet side only. */
enum cw_drop cw_ub2e_route_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			       uint8_t *frame, uint32_t len, const struct cw_stripped_tag *tag,
			       struct cw_ub2e_view *v);

/* Set CE in an IP packet of `len` octets that is ECN-capable (RFC 3168 5); false: it is not. */
bool cw_ip_mark_ce(uint8_t *ip, uint32_t len);

/* The same in UB (UB 2.0 5.3.5.2): may the packet with this CCI be marked, and mark it if it is not
 * marked as badly already. LoC is written as 0: who marks here need not be next to the receiver. */
bool cw_ub_can_mark(const uint8_t cci[2]);
void cw_ub_mark(uint8_t cci[2], bool severe);

/* The next hop. On a UB port dst and src address the emulated link (EtherType 0x88B6); with
 * `bare` the output begins at LPH. */
struct cw_ub2e_hop {
	enum cw_side side;
	uint8_t dst[6], src[6];
	bool bare;          /* UB: no Ethernet frame around it (files of LINKTYPE_USER0) */
	uint16_t tpid;      /* Ethernet: of the VLAN tag, 0x8100 */
	uint16_t outer_vid; /* Ethernet: a second, outer tag (0x88a8), 0 = none */
	uint32_t mtu;       /* largest IP packet, octets; 0 = no limit */
	const struct cw_npi_filter *filter; /* egress partitions, may be NULL */
};

/* Octets that a write needs free in front of v->ip: at most this many. */
#define CW_UB2E_HEADROOM 24

/* Write the packet for `hop`, in place. Returns CW_PASS and the frame's first octet and length, or
 * the reason why this hop can't take it (MTU, NPI filter, or v->cross: congestion mode, partition
 * without VLAN, plain IP turned off); then no octet was changed. A view is written once.
 * CW_UB2E_HEADROOM octets in front of v->ip must be writable. From one side to the same side: UB ->
 * UB keeps LPH's VL, CCI, RT and NPI; Ethernet -> Ethernet is CW_DROP_SAME_DOMAIN, but for ROUTED.
 */
enum cw_drop cw_ub2e_write(const struct cw_ub2e *u, struct cw_ub2e_view *v,
			   const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len);

/* ---- Both steps in one, for bursts ---------------------------------------------------------- */

#define CW_UB2E_ADJ_SHORTEST 48u /* octets: IPv4, UDP, the shortest TPH, ICRC */

/* A next hop made ready: what a frame to it begins with, and what goes to it without further ado.
 */
struct cw_ub2e_adj {
	uint8_t head[16]; /* destination, source, towards Ethernet the tag's TPID; zeros */
	const struct cw_npi_filter *filter; /* egress partitions, NULL = all */
	uint16_t room[2]; /* by enum cw_side of ingress: how many lengths of IP packets, from
			     CW_UB2E_ADJ_SHORTEST on, it takes; 0 = two steps only */
	uint32_t user;    /* the caller's own */
};

/* `hop` is not kept, its filter is. `user` is set to 0. */
void cw_ub2e_adj_init(struct cw_ub2e_adj *adj, const struct cw_ub2e_hop *hop);

/* No next hop, or none that is for bursts: it has room for nothing. */
extern const struct cw_ub2e_adj cw_ub2e_adj_none;

#define CW_UB2E_TAG_STRIPPED 0x10000u

struct cw_ub2e_job {
	uint8_t *start; /* LPH, or destination address; afterwards the frame's first octet */
	uint32_t len;
	uint32_t tag; /* Ethernet ingress: CW_UB2E_TAG_STRIPPED | TCI of a tag that the device took
			 out of the frame, 0 = none */
	const struct cw_ub2e_adj *adj; /* of the packet's destination; cw_ub2e_adj_none: not this
					  packet. Never NULL. */
	uint32_t notes;                /* afterwards: as a view's */
};

#define CW_UB2E_BURST 64u /* jobs at once, at most */

/* Check and write ordinary packets in one: what the two steps do with them, at half the cost or
 * less. Bit n of the result: job n is done. Of the others nothing but job.adj was changed:
 * they are wrong, or rare, or their hop is, and the two steps must be gone. The destination that
 * the caller looked up may be taken from where it stands in an ordinary packet (below), before
 * anything is checked. Headroom as for cw_ub2e_write(). */
uint64_t cw_ub2e_burst_to_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      struct cw_ub2e_job *jobs, unsigned n);
uint64_t cw_ub2e_burst_to_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			     struct cw_ub2e_job *jobs, unsigned n);

/* Destination addresses, from the IP header on. */
#define CW_UB2E_DST4 16
#define CW_UB2E_DST6 24

/* ---- The single mappings, for tests, tools and other parts -------------------------------- */

/* FECN (2 bits) to an ECN code point, and back: draft 5.2.1. */
uint8_t cw_ub2e_fecn_to_ecn(const struct cw_ub2e *u, uint8_t fecn);
uint8_t cw_ub2e_ecn_to_fecn(const struct cw_ub2e *u, uint8_t ecn);

/* VLAN of a 25-bit NPI, or -1. */
int cw_ub2e_npi_to_vid(const struct cw_ub2e *u, uint32_t npi);

/* NPI (25 bits) of a VLAN, 0 if it has none. */
uint32_t cw_ub2e_vid_to_npi(const struct cw_ub2e *u, uint16_t vid);

/* PCP of an outgoing DSCP, 0 to 63. */
uint8_t cw_ub2e_dscp_to_pcp(const struct cw_ub2e *u, unsigned dscp);

#ifdef __cplusplus
}
#endif
#endif
