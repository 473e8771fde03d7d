/* icmp.h - ICMP and ICMPv6 echo, and IPv6 neighbour discovery.
 * Spec: RFC 792, RFC 4443, RFC 4861. Deviations: of neighbour discovery only solicitation and
 * advertisement; other messages are type, code, checksum and payload.
 */
#ifndef CAUSEWAY_WIRE_ICMP_H
#define CAUSEWAY_WIRE_ICMP_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ICMP_ECHO_REPLY    0
#define CW_ICMP_ECHO_REQUEST  8
#define CW_ICMP6_ECHO_REQUEST 128
#define CW_ICMP6_ECHO_REPLY   129
#define CW_ICMP6_RS           133
#define CW_ICMP6_RA           134
#define CW_ICMP6_NS           135
#define CW_ICMP6_NA           136
#define CW_ICMP6_REDIRECT     137
#define CW_ND_OPT_SOURCE      1 /* source link-layer address */
#define CW_ND_OPT_TARGET      2 /* target link-layer address */

// clang-format off
#define CW_SIZE_ICMP 8
#define CW_TABLE_ICMP(U, W, B)                                                                     \
	U(icmp, type,      0,  8, NAME, 8,       icmp_type,  "RFC 792",      "type")                   \
	U(icmp, code,      8,  8, DEC,  0,       none,       "RFC 792",      "code")                   \
	U(icmp, checksum, 16, 16, HEX,  CW_AUTO, none,       "RFC 792",      "checksum")               \
	U(icmp, id,       32, 16, HEX,  0,       none,       "RFC 792",      "identifier of an echo")  \
	U(icmp, seq,      48, 16, DEC,  0,       none,       "RFC 792",      "sequence number of an echo")

#define CW_SIZE_ICMP6 4
#define CW_TABLE_ICMP6(U, W, B)                                                                    \
	U(icmp6, type,      0,  8, NAME, 128,     icmp6_type, "RFC 4443 2.1", "type")                  \
	U(icmp6, code,      8,  8, DEC,  0,       none,       "RFC 4443 2.1", "code")                  \
	U(icmp6, checksum, 16, 16, HEX,  CW_AUTO, none,       "RFC 4443 2.3", "checksum")

/* Behind an ICMPv6 header: neighbour solicitation and advertisement. */
#define CW_SIZE_ND 20
#define CW_TABLE_ND(U, W, B)                                                                       \
	U(nd, router,     0,   1, FLAG, 0, none, "RFC 4861 4.4", "advertisement: sender is a router")  \
	U(nd, solicited,  1,   1, FLAG, 0, none, "RFC 4861 4.4", "advertisement: answers a solicitation") \
	U(nd, override,   2,   1, FLAG, 0, none, "RFC 4861 4.4", "advertisement: replaces what is known") \
	U(nd, reserved,   3,  29, HEX,  0, none, "RFC 4861 4.3", "reserved")                           \
	B(nd, target,    32, 128, IP6,  0, none, "RFC 4861 4.3", "target address")

/* Options of neighbour discovery with an Ethernet address. */
#define CW_SIZE_ND_LLA 8
#define CW_TABLE_ND_LLA(U, W, B)                                                                   \
	U(nd_lla, type,    0,  8, NAME, 1, nd_opt, "RFC 4861 4.6.1", "1 source, 2 target link-layer address") \
	U(nd_lla, length,  8,  8, DEC,  1, none,   "RFC 4861 4.6.1", "units of 8 octets")              \
	B(nd_lla, mac,    16, 48, MAC,  0, none,   "RFC 4861 4.6.1", "link-layer address")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_ICMP)
CW_HDR_ACCESSORS(CW_TABLE_ICMP6)
CW_HDR_ACCESSORS(CW_TABLE_ND)
CW_HDR_ACCESSORS(CW_TABLE_ND_LLA)

extern const struct cw_hdr cw_hdr_icmp, cw_hdr_icmp6, cw_hdr_nd, cw_hdr_nd_lla;
extern const struct cw_name cw_names_icmp_type[], cw_names_icmp6_type[], cw_names_nd_opt[];

/* Checksum of `len` octets of ICMPv6 behind the IPv6 header `ip`, its own field taken as zero
 * (RFC 4443 2.3). */
uint16_t cw_icmp6_compute(const uint8_t *ip, const uint8_t *icmp6, size_t len);

/* A neighbour solicitation or advertisement that passed RFC 4861 7.1.1 or 7.1.2. */
struct cw_nd {
	uint32_t type; /* CW_ICMP6_NS or CW_ICMP6_NA */
	const uint8_t *src, *target;
	const uint8_t *mac; /* link-layer address option, NULL without */
	bool solicited, override;
};

/* Parse an IPv6 packet of `len` octets (padding behind it allowed) as ND. CW_E_UNKNOWN for another
 * message; CW_E_FORBIDDEN where a rule of RFC 4861 7.1 is broken. */
int cw_nd_parse(const uint8_t *ip, size_t len, struct cw_nd *out);

/* Octets that cw_nd_build() writes: IPv6, ICMPv6, ND and one option. */
#define CW_ND_MESSAGE 72

/* Build an NS (option: source address) or NA (option: target address, override; solicited unless
 * `dst` is multicast). */
void cw_nd_build(uint8_t out[CW_ND_MESSAGE], uint32_t type, const uint8_t src[16],
		 const uint8_t dst[16], const uint8_t target[16], const uint8_t mac[6]);

/* ff02::1:ffXX:XXXX of an address (RFC 4291 2.7.1), and the MAC of an IPv6 group (RFC 2464 7). */
void cw_nd_solicited_node(uint8_t group[16], const uint8_t addr[16]);
void cw_nd_group_mac(uint8_t mac[6], const uint8_t group[16]);

/* fe80::/64 with the modified EUI-64 of an Ethernet address (RFC 4291 appendix A). */
void cw_nd_link_local(uint8_t addr[16], const uint8_t mac[6]);

/* What a router tells the sender of a packet that it drops (RFC 1812 4.3.3, RFC 4443 3). */
enum cw_icmp_error {
	CW_ICMP_TIME_EXCEEDED, /* TTL or hop limit ran out */
	CW_ICMP_TOO_BIG,       /* fragmentation needed (RFC 1191), packet too big */
	CW_ICMP_NO_ROUTE,      /* network unreachable, no route to destination */
	CW_ICMP_NO_HOST,       /* host unreachable, address unreachable */
	CW_ICMP_PROHIBITED,    /* communication administratively prohibited */
};

/* Build the error that a router with address `src` (4 or 16 octets) sends back about the IP packet
 * `ip`, of which `len` octets are there (no padding): an IP packet at `out`, of the same version.
 * `mtu`, octets, is the next hop's and goes into CW_ICMP_TOO_BIG. Returns its length;
 * CW_E_FORBIDDEN: there may be no error about such a packet (RFC 1812 4.3.2.7, RFC 4443 2.4 e);
 * CW_E_SPACE: `size` is too small (1280 always do). How often errors may be sent is the caller's to
 * see to. */
int cw_icmp_error(uint8_t *out, size_t size, enum cw_icmp_error why, uint32_t mtu,
		  const uint8_t *src, const uint8_t *ip, size_t len);

/* Turn an echo request to us into its reply in place: an IPv4 or IPv6 packet of `len` octets
 * (padding allowed). Addresses are swapped, TTL is set to 64. CW_E_UNKNOWN if it is none. */
int cw_icmp_echo_reply(uint8_t *ip, size_t len);

#ifdef __cplusplus
}
#endif
#endif
