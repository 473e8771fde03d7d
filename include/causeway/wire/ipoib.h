/* ipoib.h - IP over InfiniBand: encapsulation header, link-layer address, ARP and RARP, MGIDs.
 * Spec: RFC 4391 (section numbers below), RFC 4755 (flags of connected mode), RFC 8064.
 * Deviations: none; connected mode is left to those who want it (RFC 4755 is optional).
 */
#ifndef CAUSEWAY_WIRE_IPOIB_H
#define CAUSEWAY_WIRE_IPOIB_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_IPOIB_RARP      0x8035
#define CW_IPOIB_ARP_HTYPE 32
#define CW_IPOIB_LLA       20 /* octets of a link-layer address */
#define CW_IPOIB_MTU       2044
#define CW_IPOIB_SIG4      0x401b
#define CW_IPOIB_SIG6      0x601b
#define CW_IPOIB_SCOPE     2 /* of a link whose broadcast-GID nobody configured otherwise */
#define CW_IPOIB_PKEY_FULL 0x8000u
#define CW_IPOIB_LLA_RC    0x80 /* flags of RFC 4755 3.1 */
#define CW_IPOIB_LLA_UC    0x40

// clang-format off
#define CW_SIZE_IPOIB 4
#define CW_TABLE_IPOIB(U, W, B)                                                                    \
	U(ipoib, type,      0, 16, HEX, CW_AUTO, ethertype, "RFC 4391 6", "EtherType of the datagram") \
	U(ipoib, reserved, 16, 16, HEX, 0,       none,      "RFC 4391 6", "zero when sent, ignored when received")

/* What LINKTYPE_IPOIB has in front, where that is no GRH: stale octets of some buffer. */
#define CW_SIZE_IPOIB_AREA 40
#define CW_TABLE_IPOIB_AREA(U, W, B)                                                               \
	B(ipoib_area, octets, 0, 320, OCTETS, 0, none, "LINKTYPE_IPOIB", "no GRH: means nothing")

/* ARP and RARP for IPv4 with link-layer addresses of 20 octets. */
#define CW_SIZE_IPOIB_ARP 56
#define CW_TABLE_IPOIB_ARP(U, W, B)                                                                \
	U(ipoib_arp, htype,       0,  16, DEC,  32,     none,      "RFC 4391 9.2",   "hardware type: InfiniBand") \
	U(ipoib_arp, ptype,      16,  16, HEX,  0x0800, ethertype, "RFC 826",        "protocol type: IPv4") \
	U(ipoib_arp, hlen,       32,   8, DEC,  20,     none,      "RFC 4391 9.2",   "octets of a hardware address") \
	U(ipoib_arp, plen,       40,   8, DEC,  4,      none,      "RFC 826",        "octets of a protocol address") \
	U(ipoib_arp, op,         48,  16, NAME, 1,      ipoib_op,  "RFC 826, 903",   "operation")        \
	U(ipoib_arp, sha_flags,  64,   8, HEX,  0,      none,      "RFC 4755 3.1",   "sender: 0x80 RC, 0x40 UC; others reserved") \
	U(ipoib_arp, sha_qpn,    72,  24, HEX,  0,      none,      "RFC 4391 9.1.1", "sender: queue pair") \
	B(ipoib_arp, sha_gid,    96, 128, IP6,  0,      none,      "RFC 4391 9.1.1", "sender: GID")      \
	B(ipoib_arp, spa,       224,  32, IP4,  0,      none,      "RFC 826",        "sender: IPv4 address") \
	U(ipoib_arp, tha_flags, 256,   8, HEX,  0,      none,      "RFC 4755 3.1",   "target: flags")    \
	U(ipoib_arp, tha_qpn,   264,  24, HEX,  0,      none,      "RFC 4391 9.1.1", "target: queue pair") \
	B(ipoib_arp, tha_gid,   288, 128, IP6,  0,      none,      "RFC 4391 9.1.1", "target: GID")      \
	B(ipoib_arp, tpa,       416,  32, IP4,  0,      none,      "RFC 826",        "target: IPv4 address")

/* Options of neighbour discovery with a link-layer address of 20 octets. */
#define CW_SIZE_IPOIB_ND 24
#define CW_TABLE_IPOIB_ND(U, W, B)                                                                 \
	U(ipoib_nd, type,      0,   8, NAME, 1, nd_opt, "RFC 4391 9.3",   "1 source, 2 target link-layer address") \
	U(ipoib_nd, length,    8,   8, DEC,  3, none,   "RFC 4391 9.3",   "units of 8 octets")         \
	U(ipoib_nd, reserved, 16,  16, HEX,  0, none,   "RFC 4391 9.3",   "zero, in front of the address") \
	U(ipoib_nd, flags,    32,   8, HEX,  0, none,   "RFC 4755 3.1",   "0x80 RC, 0x40 UC; others reserved") \
	U(ipoib_nd, qpn,      40,  24, HEX,  0, none,   "RFC 4391 9.1.1", "queue pair")                \
	B(ipoib_nd, gid,      64, 128, IP6,  0, none,   "RFC 4391 9.1.1", "GID")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_IPOIB)
CW_HDR_ACCESSORS(CW_TABLE_IPOIB_AREA)
CW_HDR_ACCESSORS(CW_TABLE_IPOIB_ARP)
CW_HDR_ACCESSORS(CW_TABLE_IPOIB_ND)

extern const struct cw_hdr cw_hdr_ipoib_area, cw_hdr_ipoib, cw_hdr_ipoib_arp, cw_hdr_ipoib_nd;
extern const struct cw_name cw_names_ipoib_op[];

/* ---- Link-layer address (9.1.1) ----------------------------------------------------------- */

/* Write flags 0, QPN and GID. */
void cw_ipoib_lla(uint8_t out[CW_IPOIB_LLA], uint32_t qpn, const uint8_t gid[16]);

/* Do both name the same queue pair? The flags octet is no part of the name. */
bool cw_ipoib_lla_equal(const uint8_t a[CW_IPOIB_LLA], const uint8_t b[CW_IPOIB_LLA]);

CW_INLINE uint32_t cw_ipoib_lla_qpn(const uint8_t lla[CW_IPOIB_LLA])
{
	return cw_be32(lla) & 0xffffff;
}

/* ---- ARP ---------------------------------------------------------------------------------- */

/* Is this ARP for IPv4 over InfiniBand (types, lengths, request or reply)? */
bool cw_ipoib_arp_valid(const uint8_t *arp, size_t len);

/* Is this RARP (RFC 903): the same layout, operations 3 and 4? */
bool cw_ipoib_rarp_valid(const uint8_t *rarp, size_t len);

/* Write a message of CW_SIZE_IPOIB_ARP octets; `tha` may be NULL (zeros). The flags octets are
 * written as zero. */
void cw_ipoib_arp_build(uint8_t *arp, uint32_t op, const uint8_t sha[CW_IPOIB_LLA],
			const uint8_t spa[4], const uint8_t *tha, const uint8_t tpa[4]);

/* ---- Multicast GIDs (4) ------------------------------------------------------------------- */

/* FF 1s | signature | P_Key | group ID. The P_Key gets its full bit, `scope` is the link's (0 to
 * 15). 255.255.255.255 is the broadcast-GID; of other addresses the low 28 bits are taken. */
void cw_ipoib_mgid4(uint8_t mgid[16], const uint8_t group[4], uint16_t pkey, unsigned scope);

/* The low 80 bits of the group; what else it says, its own scope too, is lost. */
void cw_ipoib_mgid6(uint8_t mgid[16], const uint8_t group[16], uint16_t pkey, unsigned scope);

/* The broadcast-GID of a link. */
void cw_ipoib_broadcast(uint8_t mgid[16], uint16_t pkey, unsigned scope);

struct cw_ipoib_group {
	bool v6, broadcast;
	uint16_t pkey;
	uint8_t scope;
	uint8_t v4[4];  /* the group, when not v6 */
	uint8_t id[10]; /* its low 80 bits, when v6: the others cannot be known */
};

/* The inverse. CW_E_UNKNOWN for an MGID that is not IPoIB's: prefix, T flag, signature, P_Key with
 * its full bit, group ID bits that must be zero. */
int cw_ipoib_mgid_parse(const uint8_t mgid[16], struct cw_ipoib_group *out);

/* ---- Interface identifiers (8) ------------------------------------------------------------ */

/* From a GUID. `modified`: the GUID is a modified EUI-64 already, its u bit stays; else it is
 * toggled. */
void cw_ipoib_iid(uint8_t iid[8], const uint8_t guid[8], bool modified);

/* A mapped multicast link-layer address (00 FF FF FF and the MGID), for the host's own use. */
void cw_ipoib_group_lla(uint8_t out[CW_IPOIB_LLA], const uint8_t mgid[16]);

#ifdef __cplusplus
}
#endif
#endif
