/* arp.h - ARP for IPv4 over Ethernet.
 * Spec: RFC 826. Deviations: other hardware and protocol types are not taken apart.
 */
#ifndef CAUSEWAY_WIRE_ARP_H
#define CAUSEWAY_WIRE_ARP_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ARP_REQUEST 1
#define CW_ARP_REPLY   2

// clang-format off
#define CW_SIZE_ARP 28
#define CW_TABLE_ARP(U, W, B)                                                                      \
	U(arp, htype,   0, 16, DEC,  1,      none,      "RFC 826", "hardware type: Ethernet")          \
	U(arp, ptype,  16, 16, HEX,  0x0800, ethertype, "RFC 826", "protocol type: IPv4")              \
	U(arp, hlen,   32,  8, DEC,  6,      none,      "RFC 826", "octets of a hardware address")     \
	U(arp, plen,   40,  8, DEC,  4,      none,      "RFC 826", "octets of a protocol address")     \
	U(arp, op,     48, 16, NAME, 1,      arp_op,    "RFC 826", "operation")                        \
	B(arp, sha,    64, 48, MAC,  0,      none,      "RFC 826", "sender hardware address")          \
	B(arp, spa,   112, 32, IP4,  0,      none,      "RFC 826", "sender protocol address")          \
	B(arp, tha,   144, 48, MAC,  0,      none,      "RFC 826", "target hardware address")          \
	B(arp, tpa,   192, 32, IP4,  0,      none,      "RFC 826", "target protocol address")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_ARP)

extern const struct cw_hdr cw_hdr_arp;
extern const struct cw_name cw_names_arp_op[];

/* Is this an ARP message for IPv4 over Ethernet (types, lengths, known operation)? */
bool cw_arp_valid(const uint8_t *arp, size_t len);

/* Write a message of CW_SIZE_ARP octets. */
void cw_arp_build(uint8_t *arp, uint32_t op, const uint8_t sha[6], const uint8_t spa[4],
		  const uint8_t tha[6], const uint8_t tpa[4]);

#ifdef __cplusplus
}
#endif
#endif
