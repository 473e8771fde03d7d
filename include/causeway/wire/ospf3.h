/* ospf3.h - packets of OSPFv3 and the LSAs that a router's place in the graph is read from.
 * Spec: RFC 5340 A.3 and A.4, RFC 7166 4.1 (authentication trailer). The header of LSAs and the
 * E-LSAs of RFC 8362 are in pnc.h.
 */
#ifndef CAUSEWAY_WIRE_OSPF3_H
#define CAUSEWAY_WIRE_OSPF3_H

#include "causeway/cursor.h"
#include "causeway/field.h"
#include "causeway/pnc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_IPPROTO_OSPF 89

/* Packet types. */
#define CW_OSPF3_HELLO   1
#define CW_OSPF3_DD      2 /* database description */
#define CW_OSPF3_REQUEST 3
#define CW_OSPF3_UPDATE  4
#define CW_OSPF3_ACK     5

/* Options (RFC 5340 A.2, RFC 7166 2.1). */
#define CW_OSPF3_OPT_V6 0x000001u
#define CW_OSPF3_OPT_E  0x000002u
#define CW_OSPF3_OPT_N  0x000008u
#define CW_OSPF3_OPT_R  0x000010u
#define CW_OSPF3_OPT_L  0x000200u /* a block of RFC 5613 follows */
#define CW_OSPF3_OPT_AT 0x000400u /* an authentication trailer follows */

/* LS types (RFC 5340 A.4.2.1), besides those of pnc.h. */
#define CW_OSPF3_ROUTER       0x2001
#define CW_OSPF3_NETWORK      0x2002
#define CW_OSPF3_INTER_ROUTER 0x2004
#define CW_OSPF3_LINK         0x0008
#define CW_OSPF3_INTRA        0x2009

/* Scopes: bits of an LS type. */
#define CW_OSPF3_SCOPE          0x6000u
#define CW_OSPF3_SCOPE_AS       0x4000u
#define CW_OSPF3_SCOPE_RESERVED 0x6000u

/* Links of a Router-LSA. */
#define CW_OSPF3_LINK_P2P     1
#define CW_OSPF3_LINK_TRANSIT 2
#define CW_OSPF3_LINK_VIRTUAL 4

/* PrefixOptions (RFC 5340 A.4.1.1, RFC 8362 3.1). */
#define CW_OSPF3_PREFIX_NU 0x01 /* not for unicast */
#define CW_OSPF3_PREFIX_LA 0x02 /* an address of the router */

#define CW_OSPF3_MAX_AGE  3600 /* seconds */
#define CW_OSPF3_INFINITY 0xffffffu

// clang-format off
#define CW_SIZE_OSPF3_HEAD 16
#define CW_TABLE_OSPF3_HEAD(U, W, B)                                                               \
	U(ospf3_head, version,    0,  8, DEC, 3, none, "RFC 5340 A.3.1", "version")                    \
	U(ospf3_head, type,       8,  8, DEC, 0, none, "RFC 5340 A.3.1", "packet type")                \
	U(ospf3_head, length,    16, 16, DEC, 0, none, "RFC 5340 A.3.1", "octets, header included")    \
	B(ospf3_head, router,    32, 32, IP4, 0, none, "RFC 5340 A.3.1", "router ID of the sender")    \
	B(ospf3_head, area,      64, 32, IP4, 0, none, "RFC 5340 A.3.1", "area ID")                    \
	U(ospf3_head, checksum,  96, 16, HEX, 0, none, "RFC 5340 A.3.1", "with an IPv6 pseudo header") \
	U(ospf3_head, instance, 112,  8, DEC, 0, none, "RFC 5340 A.3.1", "instance ID")                \
	U(ospf3_head, reserved, 120,  8, HEX, 0, none, "RFC 5340 A.3.1", "reserved")
#define CW_SIZE_OSPF3_HELLO 36
#define CW_TABLE_OSPF3_HELLO(U, W, B)                                                              \
	U(ospf3_hello, interface, 128, 32, DEC, 0, none, "RFC 5340 A.3.2", "interface ID")             \
	U(ospf3_hello, priority,  160,  8, DEC, 0, none, "RFC 5340 A.3.2", "to become the DR")         \
	U(ospf3_hello, options,   168, 24, HEX, 0, none, "RFC 5340 A.3.2", "options")                  \
	U(ospf3_hello, interval,  192, 16, DEC, 0, none, "RFC 5340 A.3.2", "seconds between hellos")   \
	U(ospf3_hello, dead,      208, 16, DEC, 0, none, "RFC 5340 A.3.2", "seconds until one is dead") \
	B(ospf3_hello, dr,        224, 32, IP4, 0, none, "RFC 5340 A.3.2", "designated router")        \
	B(ospf3_hello, bdr,       256, 32, IP4, 0, none, "RFC 5340 A.3.2", "backup designated router")
#define CW_SIZE_OSPF3_DD 28
#define CW_TABLE_OSPF3_DD(U, W, B)                                                                 \
	U(ospf3_dd, reserved,  128,  8, HEX,  0, none, "RFC 5340 A.3.3", "reserved")                   \
	U(ospf3_dd, options,   136, 24, HEX,  0, none, "RFC 5340 A.3.3", "options")                    \
	U(ospf3_dd, mtu,       160, 16, DEC,  0, none, "RFC 5340 A.3.3", "MTU of the interface")       \
	U(ospf3_dd, reserved2, 176, 13, HEX,  0, none, "RFC 5340 A.3.3", "reserved")                   \
	U(ospf3_dd, init,      189,  1, FLAG, 0, none, "RFC 5340 A.3.3", "the first one")              \
	U(ospf3_dd, more,      190,  1, FLAG, 0, none, "RFC 5340 A.3.3", "more of them follow")        \
	U(ospf3_dd, master,    191,  1, FLAG, 0, none, "RFC 5340 A.3.3", "the sender is the master")   \
	U(ospf3_dd, sequence,  192, 32, HEX,  0, none, "RFC 5340 A.3.3", "sequence number")
#define CW_SIZE_OSPF3_REQUEST 12
#define CW_TABLE_OSPF3_REQUEST(U, W, B)                                                            \
	U(ospf3_request, reserved, 0, 16, HEX, 0, none, "RFC 5340 A.3.4", "reserved")                  \
	U(ospf3_request, type,    16, 16, HEX, 0, none, "RFC 5340 A.3.4", "LS type")                   \
	U(ospf3_request, id,      32, 32, HEX, 0, none, "RFC 5340 A.3.4", "link state ID")             \
	B(ospf3_request, router,  64, 32, IP4, 0, none, "RFC 5340 A.3.4", "advertising router")
#define CW_SIZE_OSPF3_UPDATE 20
#define CW_TABLE_OSPF3_UPDATE(U, W, B)                                                             \
	U(ospf3_update, count, 128, 32, DEC, 0, none, "RFC 5340 A.3.5", "number of LSAs")
#define CW_SIZE_OSPF3_TRAILER 16
#define CW_TABLE_OSPF3_TRAILER(U, W, B)                                                            \
	U(ospf3_trailer, type,      0, 16, DEC, 1, none, "RFC 7166 4.1", "1: HMAC")                    \
	U(ospf3_trailer, length,   16, 16, DEC, 0, none, "RFC 7166 4.1", "octets, header included")    \
	U(ospf3_trailer, reserved, 32, 16, HEX, 0, none, "RFC 7166 4.1", "reserved")                   \
	U(ospf3_trailer, sa,       48, 16, DEC, 0, none, "RFC 7166 4.1", "security association ID")    \
	U(ospf3_trailer, high,     64, 32, HEX, 0, none, "RFC 7166 4.1", "sequence number, high half") \
	U(ospf3_trailer, low,      96, 32, HEX, 0, none, "RFC 7166 4.1", "sequence number, low half")
#define CW_SIZE_OSPF3_ROUTER 4
#define CW_TABLE_OSPF3_ROUTER(U, W, B)                                                             \
	U(ospf3_router, reserved, 0,  3, HEX,  0, none, "RFC 5340 A.4.3", "reserved")                  \
	U(ospf3_router, nt,       3,  1, FLAG, 0, none, "RFC 5340 A.4.3", "translates for an NSSA")    \
	U(ospf3_router, x,        4,  1, FLAG, 0, none, "RFC 5340 A.4.3", "was W of MOSPF")            \
	U(ospf3_router, v,        5,  1, FLAG, 0, none, "RFC 5340 A.4.3", "end of a virtual link")     \
	U(ospf3_router, e,        6,  1, FLAG, 0, none, "RFC 5340 A.4.3", "AS boundary router")        \
	U(ospf3_router, b,        7,  1, FLAG, 0, none, "RFC 5340 A.4.3", "area border router")        \
	U(ospf3_router, options,  8, 24, HEX,  0, none, "RFC 5340 A.4.3", "options")
#define CW_SIZE_OSPF3_EDGE 16
#define CW_TABLE_OSPF3_EDGE(U, W, B)                                                               \
	U(ospf3_edge, type,       0,  8, DEC, 1, none, "RFC 5340 A.4.3", "1 p2p, 2 transit, 4 virtual") \
	U(ospf3_edge, reserved,   8,  8, HEX, 0, none, "RFC 5340 A.4.3", "reserved")                   \
	U(ospf3_edge, metric,    16, 16, DEC, 0, none, "RFC 5340 A.4.3", "metric")                     \
	U(ospf3_edge, interface, 32, 32, DEC, 0, none, "RFC 5340 A.4.3", "interface ID")               \
	U(ospf3_edge, remote,    64, 32, DEC, 0, none, "RFC 5340 A.4.3", "neighbour's interface ID")   \
	B(ospf3_edge, router,    96, 32, IP4, 0, none, "RFC 5340 A.4.3", "neighbour's router ID")
#define CW_SIZE_OSPF3_NETWORK 4
#define CW_TABLE_OSPF3_NETWORK(U, W, B)                                                            \
	U(ospf3_network, reserved, 0,  8, HEX, 0, none, "RFC 5340 A.4.4", "reserved")                  \
	U(ospf3_network, options,  8, 24, HEX, 0, none, "RFC 5340 A.4.4", "options; routers follow")
#define CW_SIZE_OSPF3_INTER_ROUTER 12
#define CW_TABLE_OSPF3_INTER_ROUTER(U, W, B)                                                       \
	U(ospf3_inter_router, reserved,   0,  8, HEX, 0, none, "RFC 5340 A.4.6", "reserved")           \
	U(ospf3_inter_router, options,    8, 24, HEX, 0, none, "RFC 5340 A.4.6", "options")            \
	U(ospf3_inter_router, reserved2, 32,  8, HEX, 0, none, "RFC 5340 A.4.6", "reserved")           \
	U(ospf3_inter_router, metric,    40, 24, DEC, 0, none, "RFC 5340 A.4.6", "metric")             \
	B(ospf3_inter_router, router,    64, 32, IP4, 0, none, "RFC 5340 A.4.6", "router in the other area")
#define CW_SIZE_OSPF3_LINK 24
#define CW_TABLE_OSPF3_LINK(U, W, B)                                                               \
	U(ospf3_link, priority,   0,   8, DEC, 0, none, "RFC 5340 A.4.9", "to become the DR")          \
	U(ospf3_link, options,    8,  24, HEX, 0, none, "RFC 5340 A.4.9", "options")                   \
	B(ospf3_link, address,   32, 128, IP6, 0, none, "RFC 5340 A.4.9", "link-local address")        \
	U(ospf3_link, prefixes, 160,  32, DEC, 0, none, "RFC 5340 A.4.9", "number of prefixes")
#define CW_SIZE_OSPF3_REFERENCE 12
#define CW_TABLE_OSPF3_REFERENCE(U, W, B)                                                          \
	U(ospf3_reference, prefixes, 0, 16, DEC, 0, none, "RFC 5340 A.4.10", "number of prefixes")     \
	U(ospf3_reference, type,   16, 16, HEX, 0, none, "RFC 5340 A.4.10", "referenced LS type")      \
	U(ospf3_reference, id,     32, 32, HEX, 0, none, "RFC 5340 A.4.10", "referenced link state ID") \
	B(ospf3_reference, router, 64, 32, IP4, 0, none, "RFC 5340 A.4.10", "referenced router")
#define CW_SIZE_OSPF3_ADDRESS 4
#define CW_TABLE_OSPF3_ADDRESS(U, W, B)                                                            \
	U(ospf3_address, plen,    0,  8, DEC, 0, none, "RFC 5340 A.4.1", "prefix length")              \
	U(ospf3_address, options, 8,  8, HEX, 0, none, "RFC 5340 A.4.1.1", "N 0x20, LA 0x02, NU 0x01") \
	U(ospf3_address, metric, 16, 16, DEC, 0, none, "RFC 5340 A.4.10", "metric")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_OSPF3_HEAD)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_HELLO)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_DD)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_REQUEST)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_UPDATE)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_TRAILER)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_ROUTER)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_EDGE)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_NETWORK)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_INTER_ROUTER)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_LINK)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_REFERENCE)
CW_HDR_ACCESSORS(CW_TABLE_OSPF3_ADDRESS)

/* Descriptors of these tables, for display. */
extern const struct cw_hdr cw_hdr_ospf3_head, cw_hdr_ospf3_hello, cw_hdr_ospf3_dd;
extern const struct cw_hdr cw_hdr_ospf3_request, cw_hdr_ospf3_update, cw_hdr_ospf3_trailer;
extern const struct cw_hdr cw_hdr_ospf3_router, cw_hdr_ospf3_edge, cw_hdr_ospf3_network;
extern const struct cw_hdr cw_hdr_ospf3_inter_router, cw_hdr_ospf3_link, cw_hdr_ospf3_reference;
extern const struct cw_hdr cw_hdr_ospf3_address;

/* A packet whose lengths are right, those of the LSAs of an update too. Borrows the packet. */
struct cw_ospf3_packet {
	uint8_t type;
	const uint8_t *at;
	size_t len;        /* as the packet says */
	struct cw_rd body; /* behind the fixed part: neighbours, LSA headers, requests or LSAs */
	struct cw_rd rest; /* behind the packet: LLS block, authentication trailer */
};

/* CW_E_SHORT: ends inside its fixed part; CW_E_VERSION; CW_E_UNKNOWN: no such type; CW_E_LENGTH:
 * lengths that contradict each other. The checksum is not looked at. */
CW_MUST_USE int cw_ospf3_packet_parse(struct cw_ospf3_packet *out, const uint8_t *packet,
				      size_t len);

/* The next LSA of an update: its octets from the header on. False at the end. */
bool cw_ospf3_lsa_next(struct cw_rd *r, const uint8_t **lsa, size_t *len);

/* The checksum to store in a packet of `len` octets (trailers of RFC 7166 not included), whose
 * checksum field counts as zero. */
uint16_t cw_ospf3_checksum(const uint8_t src[16], const uint8_t dst[16], const uint8_t *packet,
			   size_t len);

/* "router", "e-intra-area-prefix"; "unknown" for an LS type without a name here. */
const char *cw_ospf3_type_name(uint16_t type);

/* "192.0.2.1" of a router or area ID, and back: CW_E_SYNTAX. */
#define CW_OSPF3_ID_TEXT 16
const char *cw_ospf3_id_format(const uint8_t id[4], char buf[CW_OSPF3_ID_TEXT]);
CW_MUST_USE int cw_ospf3_id_parse(const char *text, uint8_t id[4]);

#ifdef __cplusplus
}
#endif
#endif
