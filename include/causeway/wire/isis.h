/* isis.h - PDUs of IS-IS on a point-to-point circuit: hello, link state PDU, sequence numbers PDUs.
 * Spec: ISO/IEC 10589:2002 9 (the copy of it in RFC 1142 is older), RFC 1195 5.3, RFC 5303 3.
 * Deviations: hellos of LANs are not read (`unknown`); addresses have 6 octets of system ID.
 */
#ifndef CAUSEWAY_WIRE_ISIS_H
#define CAUSEWAY_WIRE_ISIS_H

#include "causeway/cursor.h"
#include "causeway/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PDU types. */
#define CW_ISIS_HELLO_LAN_L1 15 /* not read */
#define CW_ISIS_HELLO_LAN_L2 16
#define CW_ISIS_HELLO_P2P    17
#define CW_ISIS_LSP_L1       18
#define CW_ISIS_LSP_L2       20
#define CW_ISIS_CSNP_L1      24
#define CW_ISIS_CSNP_L2      25
#define CW_ISIS_PSNP_L1      26
#define CW_ISIS_PSNP_L2      27

/* TLVs, besides those of pnc.h. */
#define CW_ISIS_TLV_AREAS      1
#define CW_ISIS_TLV_NEIGH      2 /* ISO 10589: narrow metrics */
#define CW_ISIS_TLV_PADDING    8
#define CW_ISIS_TLV_ENTRIES    9
#define CW_ISIS_TLV_AUTH       10
#define CW_ISIS_TLV_POI        13 /* RFC 6232 */
#define CW_ISIS_TLV_EXT_NEIGH  22 /* RFC 5305 */
#define CW_ISIS_TLV_PROTOCOLS  129
#define CW_ISIS_TLV_ADDR4      132
#define CW_ISIS_TLV_ROUTER_ID4 134 /* RFC 5305 */
#define CW_ISIS_TLV_HOSTNAME   137 /* RFC 5301 */
#define CW_ISIS_TLV_ROUTER_ID6 140 /* RFC 6119 */
#define CW_ISIS_TLV_MT_NEIGH   222 /* RFC 5120 */
#define CW_ISIS_TLV_TOPOLOGIES 229
#define CW_ISIS_TLV_ADDR6      232 /* RFC 5308 */
#define CW_ISIS_TLV_THREE_WAY  240 /* RFC 5303 */

#define CW_ISIS_NLPID4 0xcc
#define CW_ISIS_NLPID6 0x8e

#define CW_ISIS_SYSTEM   6 /* octets of a system ID */
#define CW_ISIS_LSP_ID   8
#define CW_ISIS_AREA_MAX 13
#define CW_ISIS_LSP_MAX  1492 /* ISO 10589 7.1: ReceiveLSPBufferSize */

/* RFC 5305 4: with a larger metric a prefix is not used for routing. */
#define CW_ISIS_METRIC_MAX 0xfe000000u

// clang-format off
#define CW_SIZE_ISIS_HEAD 8
#define CW_TABLE_ISIS_HEAD(U, W, B)                                                                \
	U(isis_head, discriminator, 0, 8, HEX, 0x83, none, "ISO 10589 9.5", "network layer protocol")   \
	U(isis_head, header_length, 8, 8, DEC, 0, none, "ISO 10589 9.5", "octets of the fixed part")   \
	U(isis_head, version,      16, 8, DEC, 1, none, "ISO 10589 9.5", "version of the header")      \
	U(isis_head, id_length,    24, 8, DEC, 0, none, "ISO 10589 9.5", "of a system ID; 0 means 6")  \
	U(isis_head, type,         35, 5, DEC, 0, none, "ISO 10589 9.5", "PDU type")                   \
	U(isis_head, version2,     40, 8, DEC, 1, none, "ISO 10589 9.5", "version of the protocol")    \
	U(isis_head, reserved,     48, 8, HEX, 0, none, "ISO 10589 9.5", "reserved")                   \
	U(isis_head, areas,        56, 8, DEC, 0, none, "ISO 10589 9.5", "area addresses; 0 means 3")
#define CW_SIZE_ISIS_HELLO 20
#define CW_TABLE_ISIS_HELLO(U, W, B)                                                               \
	U(isis_hello, levels,   70,  2, DEC,    3, none, "ISO 10589 9.7", "1: level 1, 2: level 2")    \
	B(isis_hello, source,   72, 48, OCTETS, 0, none, "ISO 10589 9.7", "system ID of the sender")   \
	U(isis_hello, hold,    120, 16, DEC,    0, none, "ISO 10589 9.7", "holding time, seconds")     \
	U(isis_hello, length,  136, 16, DEC,    0, none, "ISO 10589 9.7", "octets of the PDU")         \
	U(isis_hello, circuit, 152,  8, DEC,    0, none, "ISO 10589 9.7", "local circuit ID")
#define CW_SIZE_ISIS_LSP 27
#define CW_TABLE_ISIS_LSP(U, W, B)                                                                 \
	U(isis_lsp, length,    64, 16, DEC,    0, none, "ISO 10589 9.8", "octets of the PDU")          \
	U(isis_lsp, lifetime,  80, 16, DEC,    0, none, "ISO 10589 9.8", "remaining lifetime, seconds") \
	B(isis_lsp, id,        96, 64, OCTETS, 0, none, "ISO 10589 9.8", "system, pseudonode, fragment") \
	U(isis_lsp, sequence, 160, 32, HEX,    0, none, "ISO 10589 9.8", "sequence number")            \
	U(isis_lsp, checksum, 192, 16, HEX,    0, none, "ISO 10589 9.8", "from the LSP ID to the end") \
	U(isis_lsp, partition, 208, 1, FLAG,   0, none, "ISO 10589 9.8", "repairs partitions")         \
	U(isis_lsp, attached, 209,  4, HEX,    0, none, "ISO 10589 9.8", "reaches other areas")        \
	U(isis_lsp, overload, 213,  1, FLAG,   0, none, "ISO 10589 9.8", "no transit")                 \
	U(isis_lsp, kind,     214,  2, DEC,    1, none, "ISO 10589 9.8", "1: level 1, 3: level 2")
#define CW_SIZE_ISIS_CSNP 33
#define CW_TABLE_ISIS_CSNP(U, W, B)                                                                \
	U(isis_csnp, length,  64, 16, DEC,    0, none, "ISO 10589 9.10", "octets of the PDU")          \
	B(isis_csnp, source,  80, 56, OCTETS, 0, none, "ISO 10589 9.10", "system ID and circuit")      \
	B(isis_csnp, start,  136, 64, OCTETS, 0, none, "ISO 10589 9.10", "first LSP ID of the range")  \
	B(isis_csnp, end,    200, 64, OCTETS, 0, none, "ISO 10589 9.10", "last LSP ID of the range")
#define CW_SIZE_ISIS_PSNP 17
#define CW_TABLE_ISIS_PSNP(U, W, B)                                                                \
	U(isis_psnp, length, 64, 16, DEC,    0, none, "ISO 10589 9.12", "octets of the PDU")           \
	B(isis_psnp, source, 80, 56, OCTETS, 0, none, "ISO 10589 9.12", "system ID and circuit")
#define CW_SIZE_ISIS_ENTRY 16
#define CW_TABLE_ISIS_ENTRY(U, W, B)                                                               \
	U(isis_entry, lifetime,  0, 16, DEC,    0, none, "ISO 10589 9.10", "remaining lifetime, s")    \
	B(isis_entry, id,       16, 64, OCTETS, 0, none, "ISO 10589 9.10", "LSP ID")                   \
	U(isis_entry, sequence, 80, 32, HEX,    0, none, "ISO 10589 9.10", "sequence number")          \
	U(isis_entry, checksum, 112, 16, HEX,   0, none, "ISO 10589 9.10", "checksum")
#define CW_SIZE_ISIS_NEIGH 11
#define CW_TABLE_ISIS_NEIGH(U, W, B)                                                               \
	B(isis_neigh, id,      0, 56, OCTETS, 0, none, "RFC 5305 3", "system ID and pseudonode")       \
	U(isis_neigh, metric, 56, 24, DEC,    0, none, "RFC 5305 3", "metric")                         \
	U(isis_neigh, sub,    80,  8, DEC,    0, none, "RFC 5305 3", "octets of sub-TLVs")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_ISIS_HEAD)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_HELLO)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_LSP)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_CSNP)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_PSNP)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_ENTRY)
CW_HDR_ACCESSORS(CW_TABLE_ISIS_NEIGH)

/* Descriptors of these tables, for display. */
extern const struct cw_hdr cw_hdr_isis_head, cw_hdr_isis_hello, cw_hdr_isis_lsp, cw_hdr_isis_csnp;
extern const struct cw_hdr cw_hdr_isis_psnp, cw_hdr_isis_entry, cw_hdr_isis_neigh;

/* A PDU whose headers and TLV lengths are right. Borrows the packet. */
struct cw_isis_pdu {
	uint8_t type, level; /* level: 1, 2, or 0 for a hello */
	const uint8_t *at;
	size_t len;        /* as the PDU says: padding of the frame is not in it */
	struct cw_rd tlvs; /* for cw_isis_tlv_next(), which then never meets half a TLV */
};

/* Check a PDU and find its TLVs. CW_E_UNKNOWN: another protocol or PDU type; CW_E_VERSION: a
 * version, or a length of system IDs or number of areas that this is not; CW_E_SHORT: ends inside
 * its header; CW_E_LENGTH: lengths that contradict each other. */
CW_MUST_USE int cw_isis_pdu_parse(struct cw_isis_pdu *out, const uint8_t *pdu, size_t len);

struct cw_isis_tlv {
	uint8_t type, len;
	const uint8_t *value;
};

/* The next TLV; false at the end, and at a TLV that does not fit. */
bool cw_isis_tlv_next(struct cw_rd *r, struct cw_isis_tlv *tlv);

/* The first TLV of a type. */
bool cw_isis_tlv_find(const struct cw_isis_pdu *pdu, uint8_t type, struct cw_isis_tlv *tlv);

/* Write the common header of a PDU type. Its length field is in a place of its own. */
void cw_isis_head_put(uint8_t *pdu, uint8_t type);

/* "0000.0000.0001.00-00" of an LSP ID (the first 6 octets only: a system ID), in
 * `buf`, which is returned. */
#define CW_ISIS_ID_TEXT 21
const char *cw_isis_system_format(const uint8_t *id, char buf[CW_ISIS_ID_TEXT]);
const char *cw_isis_lsp_format(const uint8_t *id, char buf[CW_ISIS_ID_TEXT]);

/* "0000.0000.0001"; and "49.0001", 1 to 13 octets: returns their number. CW_E_SYNTAX. */
CW_MUST_USE int cw_isis_system_parse(const char *text, uint8_t id[CW_ISIS_SYSTEM]);
CW_MUST_USE int cw_isis_area_parse(const char *text, uint8_t area[CW_ISIS_AREA_MAX]);

#ifdef __cplusplus
}
#endif
#endif
