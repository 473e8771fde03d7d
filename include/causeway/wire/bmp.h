/* bmp.h - messages of the BGP Monitoring Protocol, version 3, as a monitoring station gets them.
 * Spec: RFC 7854; RFC 8671 (Adj-RIB-Out) and RFC 9069 (Loc-RIB) for the views.
 * Deviations: OPEN messages of a Peer Up are found but not read.
 *
 * All functions borrow: what they hand out points into the caller's octets.
 */
#ifndef CAUSEWAY_WIRE_BMP_H
#define CAUSEWAY_WIRE_BMP_H

#include "causeway/pnc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_BMP_VERSION 3

/* Longest message that is taken. RFC 7854 has no limit: a Route Monitoring has at most 48 + 65535
 * octets, a Peer Up two OPENs, a Route Mirroring any number of messages. */
#define CW_BMP_MESSAGE_MAX 131072

enum cw_bmp_type {
	CW_BMP_ROUTE_MONITORING,
	CW_BMP_STATISTICS,
	CW_BMP_PEER_DOWN,
	CW_BMP_PEER_UP,
	CW_BMP_INITIATION,
	CW_BMP_TERMINATION,
	CW_BMP_ROUTE_MIRRORING,
	CW_BMP_NTYPES
};

/* Information TLVs (RFC 7854 4.4, 4.5). */
#define CW_BMP_TLV_STRING 0
#define CW_BMP_TLV_DESCR  1 /* of an Initiation: sysDescr */
#define CW_BMP_TLV_NAME   2 /* of an Initiation: sysName */
#define CW_BMP_TLV_REASON 1 /* of a Termination: 2 octets */

#define CW_BMP_PEER_GLOBAL  0 /* peer types: RFC 7854 4.2, RFC 9069 4.1 */
#define CW_BMP_PEER_RD      1
#define CW_BMP_PEER_LOCAL   2
#define CW_BMP_PEER_LOC_RIB 3

// clang-format off
#define CW_SIZE_BMP_HEAD 6
#define CW_TABLE_BMP_HEAD(U, W, B)                                                                 \
	U(bmp_head, version, 0,  8, DEC, 3, none, "RFC 7854 4.1", "version")                           \
	U(bmp_head, length,  8, 32, DEC, 0, none, "RFC 7854 4.1", "octets of the message, all of it")  \
	U(bmp_head, type,   40,  8, DEC, 0, none, "RFC 7854 4.1", "message type")
#define CW_SIZE_BMP_PEER 42
#define CW_TABLE_BMP_PEER(U, W, B)                                                                 \
	U(bmp_peer, type,            0,   8, DEC,  0, none, "RFC 7854 4.2", "peer type")               \
	U(bmp_peer, v6,              8,   1, FLAG, 0, none, "RFC 7854 4.2", "V: the address is IPv6")  \
	U(bmp_peer, post_policy,     9,   1, FLAG, 0, none, "RFC 7854 4.2", "L: after the policy")     \
	U(bmp_peer, as_path2,       10,   1, FLAG, 0, none, "RFC 7854 4.2", "A: 2 octets an AS")       \
	U(bmp_peer, adj_rib_out,    11,   1, FLAG, 0, none, "RFC 8671 4",   "O: told to the peer")     \
	U(bmp_peer, reserved,       12,   4, HEX,  0, none, "RFC 7854 4.2", "reserved")                \
	B(bmp_peer, distinguisher,  16,  64, OCTETS, 0, none, "RFC 7854 4.2", "which of equal peers")  \
	B(bmp_peer, address,        80, 128, OCTETS, 0, none, "RFC 7854 4.2", "IPv4: the last 4")      \
	U(bmp_peer, as,            208,  32, DEC,  0, none, "RFC 7854 4.2", "AS of the peer")          \
	B(bmp_peer, id,            240,  32, IP4,  0, none, "RFC 7854 4.2", "BGP identifier")          \
	U(bmp_peer, seconds,       272,  32, DEC,  0, none, "RFC 7854 4.2", "since 1970")              \
	U(bmp_peer, microseconds,  304,  32, DEC,  0, none, "RFC 7854 4.2", "and microseconds")
#define CW_SIZE_BMP_PEER_UP 20
#define CW_TABLE_BMP_PEER_UP(U, W, B)                                                              \
	B(bmp_peer_up, local,         0, 128, OCTETS, 0, none, "RFC 7854 4.10", "IPv4: the last 4")    \
	U(bmp_peer_up, local_port,  128,  16, DEC, 0, none, "RFC 7854 4.10", "TCP port of the router") \
	U(bmp_peer_up, remote_port, 144,  16, DEC, 0, none, "RFC 7854 4.10", "TCP port of the peer")
#define CW_SIZE_BMP_TLV 4
#define CW_TABLE_BMP_TLV(U, W, B)                                                                  \
	U(bmp_tlv, type,    0, 16, DEC, 0, none, "RFC 7854 4.4", "type")                               \
	U(bmp_tlv, length, 16, 16, DEC, 0, none, "RFC 7854 4.4", "octets of the value")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_BMP_HEAD)
CW_HDR_ACCESSORS(CW_TABLE_BMP_PEER)
CW_HDR_ACCESSORS(CW_TABLE_BMP_PEER_UP)
CW_HDR_ACCESSORS(CW_TABLE_BMP_TLV)

extern const struct cw_hdr cw_hdr_bmp_head, cw_hdr_bmp_peer, cw_hdr_bmp_peer_up, cw_hdr_bmp_tlv;

/* Which routes of a router a message is about. */
enum cw_bmp_view {
	CW_BMP_PRE_POLICY,  /* Adj-RIB-In: what the peer announced */
	CW_BMP_POST_POLICY, /* what the router's policy made of it */
	CW_BMP_ADJ_RIB_OUT, /* what the router tells the peer, before or after its policy */
	CW_BMP_LOC_RIB,     /* what the router uses */
	CW_BMP_NVIEWS
};

struct cw_bmp {
	enum cw_bmp_type type;
	bool has_peer;
	enum cw_bmp_view view;
	uint8_t peer_type;
	const uint8_t *distinguisher; /* 8 octets */
	struct cw_addr peer;          /* version 0: none, of a Loc-RIB */
	uint32_t peer_as;
	struct cw_rd update;    /* Route Monitoring: body of the UPDATE, behind its header */
	struct cw_rd sent_open; /* Peer Up: OPEN messages, with their headers */
	struct cw_rd received_open;
	uint8_t reason;       /* Peer Down */
	struct cw_rd data;    /* Peer Down: what follows */
	uint32_t nstatistics; /* Statistics: so many TLVs */
	struct cw_rd tlvs;    /* all but Route Monitoring and Peer Down; they fit */
};

struct cw_bmp_tlv {
	uint16_t type, len;
	const uint8_t *value;
};

/* In lower case with hyphens; "unknown" for a number that is none. */
const char *cw_bmp_type_name(enum cw_bmp_type t);
const char *cw_bmp_view_name(enum cw_bmp_view v);

/* Octets of the message that begins here, of which `have` are there; 0: fewer than 6 are, so it is
 * not known yet. CW_E_VERSION; CW_E_LENGTH: shorter than its header or too long. After an error the
 * stream can't be read any further. */
CW_MUST_USE int cw_bmp_length(const uint8_t *data, size_t have);

/* One whole message. CW_E_SHORT, CW_E_LENGTH, CW_E_VERSION; CW_E_UNKNOWN: of a type or a peer type
 * that this does not know, to be ignored (RFC 7854 4.1). `e` may be NULL. */
CW_MUST_USE int cw_bmp_parse(struct cw_bmp *out, const uint8_t *data, size_t len,
			     struct cw_pnc_error *e);

/* Next TLV; CW_E_SHORT at the end. */
CW_MUST_USE int cw_bmp_tlv_next(struct cw_rd *tlvs, struct cw_bmp_tlv *out);

#ifdef __cplusplus
}
#endif
#endif
