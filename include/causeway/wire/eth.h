/* eth.h - Ethernet II with 802.1Q and 802.1ad tags.
 * Spec: IEEE 802.3 clause 3, IEEE 802.1Q-2018 clause 9.
 * Not handled: 802.3 length/LLC frames (left as payload).
 */
#ifndef CAUSEWAY_WIRE_ETH_H
#define CAUSEWAY_WIRE_ETH_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ETHERTYPE_IP4   0x0800
#define CW_ETHERTYPE_ARP   0x0806
#define CW_ETHERTYPE_VLAN  0x8100 /* 802.1Q C-tag */
#define CW_ETHERTYPE_IP6   0x86dd
#define CW_ETHERTYPE_SVLAN 0x88a8 /* 802.1ad S-tag */
#define CW_ETHERTYPE_QINQ1 0x9100 /* pre-standard outer tags that switches still send */
#define CW_ETHERTYPE_IB    0x88b5 /* emulated InfiniBand link (IEEE local experimental 1) */
#define CW_ETHERTYPE_UB    0x88b6 /* emulated UB link (IEEE local experimental 2) */

/* Tags deeper than this are refused: 802.1ad has two, three are seen in the field. */
#define CW_VLAN_DEPTH_MAX 4

// clang-format off
#define CW_SIZE_ETH 14
#define CW_TABLE_ETH(U, W, B)                                                                      \
	B(eth, dst,   0, 48, MAC, 0,       none,      "802.3 3.2.4", "destination address")        \
	B(eth, src,  48, 48, MAC, 0,       none,      "802.3 3.2.5", "source address")             \
	U(eth, type, 96, 16, HEX, CW_AUTO, ethertype, "802.3 3.2.6", "EtherType of what follows")

/* A tag behind its TPID: the TPID is the `type` of the header in front of it. */
#define CW_SIZE_VLAN 4
#define CW_TABLE_VLAN(U, W, B)                                                                     \
	U(vlan, pcp,   0,  3, DEC,  0,       none,      "802.1Q 9.6", "priority code point")       \
	U(vlan, dei,   3,  1, FLAG, 0,       none,      "802.1Q 9.6", "drop eligible")             \
	U(vlan, vid,   4, 12, DEC,  0,       none,      "802.1Q 9.6", "VLAN identifier")           \
	U(vlan, type, 16, 16, HEX,  CW_AUTO, ethertype, "802.1Q 9.5", "EtherType of what follows")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_ETH)
CW_HDR_ACCESSORS(CW_TABLE_VLAN)

extern const struct cw_hdr cw_hdr_eth, cw_hdr_vlan;
extern const struct cw_name cw_names_ethertype[];

CW_INLINE bool cw_is_tpid(uint32_t ethertype)
{
	return ethertype == CW_ETHERTYPE_VLAN || ethertype == CW_ETHERTYPE_SVLAN ||
	       ethertype == CW_ETHERTYPE_QINQ1;
}

#ifdef __cplusplus
}
#endif
#endif
