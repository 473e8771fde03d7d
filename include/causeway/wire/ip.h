/* ip.h - IPv4, IPv6 with its extension headers, and UDP.
 * Spec: RFC 791, RFC 8200, RFC 768; DSCP and ECN by RFC 2474 and RFC 3168.
 * Deviations: extension headers behind AH and ESP are not followed.
 */
#ifndef CAUSEWAY_WIRE_IP_H
#define CAUSEWAY_WIRE_IP_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_IPPROTO_HOPOPT   0
#define CW_IPPROTO_ICMP     1
#define CW_IPPROTO_IGMP     2
#define CW_IPPROTO_TCP      6
#define CW_IPPROTO_UDP      17
#define CW_IPPROTO_ROUTING  43
#define CW_IPPROTO_FRAGMENT 44
#define CW_IPPROTO_ESP      50
#define CW_IPPROTO_AH       51
#define CW_IPPROTO_ICMP6    58
#define CW_IPPROTO_NONE     59
#define CW_IPPROTO_DSTOPTS  60

/* ECN: RFC 3168 5. DSCP: RFC 2474 4.2.2.2. */
#define CW_ECN_NOT_ECT 0
#define CW_ECN_ECT1    1
#define CW_ECN_ECT0    2
#define CW_ECN_CE      3
#define CW_DSCP_CS6    48 /* internetwork control */

/* More IPv6 extension headers than this in one packet are an error (CW_E_DEPTH). */
#define CW_IP6_EXT_MAX 8

// clang-format off
#define CW_SIZE_IPV4 20
#define CW_TABLE_IPV4(U, W, B)                                                                     \
	U(ipv4, version,   0,  4, DEC,  4,       none,    "RFC 791 3.1",  "4")                     \
	U(ipv4, ihl,       4,  4, DEC,  CW_AUTO, none,    "RFC 791 3.1",  "header length, 4-octet words") \
	U(ipv4, dscp,      8,  6, DEC,  0,       none,    "RFC 2474 3",   "differentiated services code point") \
	U(ipv4, ecn,      14,  2, NAME, 0,       ecn,     "RFC 3168 5",   "explicit congestion notification") \
	U(ipv4, length,   16, 16, DEC,  CW_AUTO, none,    "RFC 791 3.1",  "total length, octets")  \
	U(ipv4, id,       32, 16, HEX,  0,       none,    "RFC 791 3.1",  "identification")        \
	U(ipv4, reserved, 48,  1, FLAG, 0,       none,    "RFC 791 3.1",  "must be zero")          \
	U(ipv4, df,       49,  1, FLAG, 1,       none,    "RFC 791 3.1",  "don't fragment")        \
	U(ipv4, mf,       50,  1, FLAG, 0,       none,    "RFC 791 3.1",  "more fragments")        \
	U(ipv4, frag_off, 51, 13, DEC,  0,       none,    "RFC 791 3.1",  "fragment offset, 8-octet units") \
	U(ipv4, ttl,      64,  8, DEC,  64,      none,    "RFC 791 3.1",  "time to live")          \
	U(ipv4, proto,    72,  8, NAME, CW_AUTO, ipproto, "RFC 791 3.1",  "protocol")              \
	U(ipv4, checksum, 80, 16, HEX,  CW_AUTO, none,    "RFC 791 3.1",  "header checksum")       \
	B(ipv4, src,      96, 32, IP4,  0,       none,    "RFC 791 3.1",  "source address")        \
	B(ipv4, dst,     128, 32, IP4,  0,       none,    "RFC 791 3.1",  "destination address")

#define CW_SIZE_IPV6 40
#define CW_TABLE_IPV6(U, W, B)                                                                     \
	U(ipv6, version,      0,   4, DEC,  6,       none,    "RFC 8200 3", "6")                   \
	U(ipv6, dscp,         4,   6, DEC,  0,       none,    "RFC 2474 3", "differentiated services code point") \
	U(ipv6, ecn,         10,   2, NAME, 0,       ecn,     "RFC 3168 5", "explicit congestion notification") \
	U(ipv6, flow_label,  12,  20, HEX,  0,       none,    "RFC 8200 3", "flow label")          \
	U(ipv6, length,      32,  16, DEC,  CW_AUTO, none,    "RFC 8200 3", "payload length, octets") \
	U(ipv6, next_header, 48,   8, NAME, CW_AUTO, ipproto, "RFC 8200 3", "next header")         \
	U(ipv6, hop_limit,   56,   8, DEC,  64,      none,    "RFC 8200 3", "hop limit")           \
	B(ipv6, src,         64, 128, IP6,  0,       none,    "RFC 8200 3", "source address")      \
	B(ipv6, dst,        192, 128, IP6,  0,       none,    "RFC 8200 3", "destination address")

/* Hop-by-hop options, routing and destination options: the rest is the tail. */
#define CW_SIZE_IPV6_EXT 2
#define CW_TABLE_IPV6_EXT(U, W, B)                                                                 \
	U(ipv6_ext, next_header, 0, 8, NAME, CW_AUTO, ipproto, "RFC 8200 4", "next header")        \
	U(ipv6_ext, length,      8, 8, DEC,  CW_AUTO, none,    "RFC 8200 4", "8-octet units behind the first 8 octets")

#define CW_SIZE_IPV6_FRAG 8
#define CW_TABLE_IPV6_FRAG(U, W, B)                                                                \
	U(ipv6_frag, next_header, 0,  8, NAME, CW_AUTO, ipproto, "RFC 8200 4.5", "next header")    \
	U(ipv6_frag, reserved1,   8,  8, HEX,  0,       none,    "RFC 8200 4.5", "reserved")       \
	U(ipv6_frag, frag_off,   16, 13, DEC,  0,       none,    "RFC 8200 4.5", "fragment offset, 8-octet units") \
	U(ipv6_frag, reserved2,  29,  2, DEC,  0,       none,    "RFC 8200 4.5", "reserved")       \
	U(ipv6_frag, mf,         31,  1, FLAG, 0,       none,    "RFC 8200 4.5", "more fragments") \
	U(ipv6_frag, id,         32, 32, HEX,  0,       none,    "RFC 8200 4.5", "identification")

#define CW_SIZE_UDP 8
#define CW_TABLE_UDP(U, W, B)                                                                      \
	U(udp, sport,     0, 16, DEC, 0xc000,  none,     "RFC 768", "source port")                 \
	U(udp, dport,    16, 16, DEC, CW_AUTO, udp_port, "RFC 768", "destination port")            \
	U(udp, length,   32, 16, DEC, CW_AUTO, none,     "RFC 768", "header and data, octets")     \
	U(udp, checksum, 48, 16, HEX, CW_AUTO, none,     "RFC 768", "checksum, 0 for none")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_IPV4)
CW_HDR_ACCESSORS(CW_TABLE_IPV6)
CW_HDR_ACCESSORS(CW_TABLE_IPV6_EXT)
CW_HDR_ACCESSORS(CW_TABLE_IPV6_FRAG)
CW_HDR_ACCESSORS(CW_TABLE_UDP)

extern const struct cw_hdr cw_hdr_ipv4, cw_hdr_ipv6, cw_hdr_ipv6_ext, cw_hdr_ipv6_frag, cw_hdr_udp;
extern const struct cw_name cw_names_ecn[], cw_names_ipproto[], cw_names_udp_port[];

/* Internet checksum (RFC 1071): the one's complement sum of `len` octets on top of `sum`, folded
 * to 16 bits but not inverted. Odd lengths are padded with zero. */
uint32_t cw_inet_sum(uint32_t sum, const void *data, size_t len);

/* The checksum to store: ~sum. */
CW_INLINE uint16_t cw_inet_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Checksum after one 16-bit word of the covered data changed (RFC 1624, equation 3). */
CW_INLINE uint16_t cw_inet_update(uint16_t checksum, uint16_t from, uint16_t to)
{
	return cw_inet_fold((uint32_t)(uint16_t)~checksum + (uint16_t)~from + to);
}

/* Checksum of the IPv4 header at `ip` (its own checksum field taken as zero). */
uint16_t cw_ipv4_compute(const uint8_t *ip);

/* UDP checksum over pseudo header, UDP header (its checksum as zero) and data of `len` octets,
 * with 0 written as 0xffff (RFC 768). `ip` is the IPv4 or IPv6 header in front. */
uint16_t cw_udp_compute(const uint8_t *ip, const uint8_t *udp, size_t len);

#ifdef __cplusplus
}
#endif
#endif
