/* ib.h - InfiniBand link packets: LRH, GRH, and their ICRC and VCRC; the ERF records they come in.
 * Spec: IBTA Architecture Volume 1 release 1.7: LRH 7.7, GRH 8.3, ICRC 7.8.1, VCRC 7.8.2; RoCEv1:
 * annex A16. ERF: Endace Extensible Record Format.
 * Deviations: raw packets (LNH 0 and 1) are not taken apart; a GRH whose hop limit is 0 is good
 * (multicast groups inside a subnet often have it).
 */
#ifndef CAUSEWAY_WIRE_IB_H
#define CAUSEWAY_WIRE_IB_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ETHERTYPE_ROCEV1 0x8915 /* GRH .. ICRC in an Ethernet frame */

#define CW_IB_LNH_LOCAL  2 /* BTH follows */
#define CW_IB_LNH_GLOBAL 3 /* GRH follows */
#define CW_IB_GRH_NEXT   0x1b
#define CW_IB_VCRC_LEN   2
#define CW_IB_LID_MCAST  0xc000u
#define CW_IB_LID_PERMIT 0xffffu
#define CW_IB_QPN_MCAST  0xffffffu
#define CW_ERF_TYPE_IB   21

// clang-format off
#define CW_SIZE_LRH 8
#define CW_TABLE_LRH(U, W, B)                                                                      \
	U(lrh, vl,         0,  4, DEC,  0,       none,    "IBTA 7.7.1", "virtual lane; outside the ICRC") \
	U(lrh, lver,       4,  4, DEC,  0,       none,    "IBTA 7.7.2", "link version, 0")         \
	U(lrh, sl,         8,  4, DEC,  0,       none,    "IBTA 7.7.3", "service level")           \
	U(lrh, reserved1, 12,  2, HEX,  0,       none,    "IBTA 7.7.4", "reserved")                \
	U(lrh, lnh,       14,  2, NAME, CW_AUTO, lrh_lnh, "IBTA 7.7.5", "link next header")        \
	U(lrh, dlid,      16, 16, HEX,  0,       none,    "IBTA 7.7.6", "destination; 0xc000 to 0xfffe multicast") \
	U(lrh, reserved2, 32,  5, HEX,  0,       none,    "IBTA 7.7.7", "reserved")                \
	U(lrh, length,    37, 11, DEC,  CW_AUTO, none,    "IBTA 7.7.8", "words of 4 octets, LRH to ICRC") \
	U(lrh, slid,      48, 16, HEX,  0,       none,    "IBTA 7.7.9", "source")

#define CW_SIZE_GRH 40
#define CW_TABLE_GRH(U, W, B)                                                                      \
	U(grh, version,     0,   4, DEC, 6,       none, "IBTA 8.3.1", "IP version, 6")             \
	U(grh, tclass,      4,   8, HEX, 0,       none, "IBTA 8.3.2", "traffic class; outside the ICRC") \
	U(grh, flow_label, 12,  20, HEX, 0,       none, "IBTA 8.3.3", "flow label; outside the ICRC") \
	U(grh, length,     32,  16, DEC, CW_AUTO, none, "IBTA 8.3.4", "octets behind the GRH, to the ICRC") \
	U(grh, next,       48,   8, HEX, 0x1b,    none, "IBTA 8.3.5", "next header, 0x1b: BTH")    \
	U(grh, hop_limit,  56,   8, DEC, 0,       none, "IBTA 8.3.6", "hop limit; outside the ICRC") \
	B(grh, sgid,       64, 128, IP6, 0,       none, "IBTA 8.3.7", "source GID")                \
	B(grh, dgid,      192, 128, IP6, 0,       none, "IBTA 8.3.8", "destination GID")

/* Numbers of the time stamp are little-endian and shown as the octets they are. */
#define CW_SIZE_ERF 16
#define CW_TABLE_ERF(U, W, B)                                                                      \
	B(erf, time,    0, 64, OCTETS, 0,     none,     "ERF 3", "time stamp, little-endian 32.32 bits") \
	U(erf, more,   64,  1, FLAG, 0,       none,     "ERF 3", "extension headers follow")       \
	U(erf, type,   65,  7, NAME, 21,      erf_type, "ERF 3", "type of the record")             \
	U(erf, flags,  72,  8, HEX,  4,       none,     "ERF 3", "flags; 4: varying length")       \
	U(erf, rlen,   80, 16, DEC,  CW_AUTO, none,     "ERF 3", "octets of the record")           \
	U(erf, lctr,   96, 16, DEC,  0,       none,     "ERF 3", "records lost in front of this one") \
	U(erf, wlen,  112, 16, DEC,  CW_AUTO, none,     "ERF 3", "octets of the packet on the wire")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_LRH)
CW_HDR_ACCESSORS(CW_TABLE_GRH)
CW_HDR_ACCESSORS(CW_TABLE_ERF)

extern const struct cw_hdr cw_hdr_lrh, cw_hdr_grh, cw_hdr_erf;
extern const struct cw_name cw_names_lrh_lnh[], cw_names_erf_type[];

/* ICRC of `len` octets LRH .. pad (IBTA 7.8.1): CRC-32 with VL, GRH's traffic class, flow label and
 * hop limit, and BTH's octet 4 as ones. CW_E_SHORT, CW_E_RESERVED (LNH without a transport). */
int cw_ib_icrc(const uint8_t *lrh, size_t len, uint32_t *out);

/* VCRC over `len` octets LRH .. ICRC (IBTA 7.8.2): CRC-16, polynomial 0x100b; stored low octet
 * first. */
uint16_t cw_ib_vcrc(const void *lrh, size_t len);

/* Write ICRC and VCRC of a packet whose last six octets of `len` are theirs. CW_E_SHORT,
 * CW_E_RESERVED. */
CW_MUST_USE int cw_ib_seal(uint8_t *lrh, size_t len);

/* Check both: CW_OK, CW_E_ICRC, CW_E_CHECKSUM (the VCRC), CW_E_SHORT, CW_E_RESERVED. */
CW_MUST_USE int cw_ib_check(const uint8_t *lrh, size_t len);

#ifdef __cplusplus
}
#endif
#endif
