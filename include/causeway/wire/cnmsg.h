/* cnmsg.h - congestion notification from a congested node to its proxy, and Fast CNP.
 * Spec: draft-xiao-fann-fast-cnp-with-proxy-02, section 4; Fast CNP: draft-xiao-fann-fast-cnp.
 * Deviations: the draft gives no encoding of the five-tuple, no length of the NRP selector and no
 * code points. Here the tuple is padded to whole 32-bit words (docs/decisions.md), the selector is
 * 32 bits, the ports are 49791 and 49792. The form without padding is read and written too. The
 * length of the UDP data tells the IP version and the form.
 */
#ifndef CAUSEWAY_WIRE_CNMSG_H
#define CAUSEWAY_WIRE_CNMSG_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_CN_PORT1 49791 /* TBD1 of the draft: option 1, with the destination queue pair */
#define CW_CN_PORT2 49792 /* TBD2: option 2, with the NRP selector */

/* The five-tuple, `a` bits an address: padded to words, and without padding. */
// clang-format off
#define CW_CN_TUPLE(U, B, h, a, show, cl)                                                          \
	B(h, src,       0,            a, show, 0, none, cl, "traffic sender")                      \
	B(h, dst,       (a),          a, show, 0, none, cl, "traffic receiver")                    \
	U(h, proto,     2 * (a),      8, NAME, 17, ipproto, cl, "protocol of the flow")            \
	U(h, reserved1, 2 * (a) + 8, 24, HEX,  0, none, cl, "zero")                                \
	U(h, sport,     2 * (a) + 32, 16, DEC, 0, none, cl, "source port of the flow")             \
	U(h, dport,     2 * (a) + 48, 16, NAME, 4791, udp_port, cl, "destination port of the flow")
#define CW_CN_PACKED(U, B, h, a, show, cl)                                                         \
	B(h, src,       0,            a, show, 0, none, cl, "traffic sender")                      \
	B(h, dst,       (a),          a, show, 0, none, cl, "traffic receiver")                    \
	U(h, proto,     2 * (a),      8, NAME, 17, ipproto, cl, "protocol of the flow")            \
	U(h, sport,     2 * (a) + 8, 16, DEC, 0, none, cl, "source port of the flow")              \
	U(h, dport,     2 * (a) + 24, 16, NAME, 4791, udp_port, cl, "destination port of the flow")
/* What follows the tuple at bit `at`. */
#define CW_CN_QP(U, h, at)                                                                         \
	U(h, tc,        (at),     8, HEX, 0, none, "fast-cnp-proxy 4.1", "traffic class or ToS of the flow") \
	U(h, dqpn,      (at) + 8, 24, HEX, 0, none, "fast-cnp-proxy 4.1", "destination queue pair of the flow")
#define CW_CN_NRP(U, h, at)                                                                        \
	U(h, tc,        (at),      8, HEX, 0, none, "fast-cnp-proxy 4.2", "traffic class or ToS of the flow") \
	U(h, reserved2, (at) + 8, 24, HEX, 0, none, "fast-cnp-proxy 4.2", "zero")                  \
	U(h, nrp,       (at) + 32, 32, HEX, 0, none, "fast-cnp-proxy 4.2", "NRP selector of the flow")

#define CW_SIZE_CN1_IPV4 20
#define CW_TABLE_CN1_IPV4(U, W, B)                                                                 \
	CW_CN_TUPLE(U, B, cn1_ipv4, 32, IP4, "fast-cnp-proxy 4.1") CW_CN_QP(U, cn1_ipv4, 128)
#define CW_SIZE_CN1_IPV6 44
#define CW_TABLE_CN1_IPV6(U, W, B)                                                                 \
	CW_CN_TUPLE(U, B, cn1_ipv6, 128, IP6, "fast-cnp-proxy 4.1") CW_CN_QP(U, cn1_ipv6, 320)
#define CW_SIZE_CN1_IPV4_PACKED 17
#define CW_TABLE_CN1_IPV4_PACKED(U, W, B)                                                          \
	CW_CN_PACKED(U, B, cn1_ipv4_packed, 32, IP4, "fast-cnp-proxy 4.1")                         \
	CW_CN_QP(U, cn1_ipv4_packed, 104)
#define CW_SIZE_CN1_IPV6_PACKED 41
#define CW_TABLE_CN1_IPV6_PACKED(U, W, B)                                                          \
	CW_CN_PACKED(U, B, cn1_ipv6_packed, 128, IP6, "fast-cnp-proxy 4.1")                        \
	CW_CN_QP(U, cn1_ipv6_packed, 296)
#define CW_SIZE_CN2_IPV4 24
#define CW_TABLE_CN2_IPV4(U, W, B)                                                                 \
	CW_CN_TUPLE(U, B, cn2_ipv4, 32, IP4, "fast-cnp-proxy 4.2") CW_CN_NRP(U, cn2_ipv4, 128)
#define CW_SIZE_CN2_IPV6 48
#define CW_TABLE_CN2_IPV6(U, W, B)                                                                 \
	CW_CN_TUPLE(U, B, cn2_ipv6, 128, IP6, "fast-cnp-proxy 4.2") CW_CN_NRP(U, cn2_ipv6, 320)
#define CW_SIZE_CN2_IPV4_PACKED 21
#define CW_TABLE_CN2_IPV4_PACKED(U, W, B)                                                          \
	CW_CN_PACKED(U, B, cn2_ipv4_packed, 32, IP4, "fast-cnp-proxy 4.2")                         \
	CW_CN_NRP(U, cn2_ipv4_packed, 104)
#define CW_SIZE_CN2_IPV6_PACKED 45
#define CW_TABLE_CN2_IPV6_PACKED(U, W, B)                                                          \
	CW_CN_PACKED(U, B, cn2_ipv6_packed, 128, IP6, "fast-cnp-proxy 4.2")                        \
	CW_CN_NRP(U, cn2_ipv6_packed, 296)
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_CN1_IPV4)
CW_HDR_ACCESSORS(CW_TABLE_CN1_IPV6)
CW_HDR_ACCESSORS(CW_TABLE_CN1_IPV4_PACKED)
CW_HDR_ACCESSORS(CW_TABLE_CN1_IPV6_PACKED)
CW_HDR_ACCESSORS(CW_TABLE_CN2_IPV4)
CW_HDR_ACCESSORS(CW_TABLE_CN2_IPV6)
CW_HDR_ACCESSORS(CW_TABLE_CN2_IPV4_PACKED)
CW_HDR_ACCESSORS(CW_TABLE_CN2_IPV6_PACKED)

extern const struct cw_hdr cw_hdr_cn1_ipv4, cw_hdr_cn1_ipv6, cw_hdr_cn1_ipv4_packed,
	cw_hdr_cn1_ipv6_packed, cw_hdr_cn2_ipv4, cw_hdr_cn2_ipv6, cw_hdr_cn2_ipv4_packed,
	cw_hdr_cn2_ipv6_packed;

#define CW_CN_MAX CW_SIZE_CN2_IPV6

/* A message of either option. Addresses are of 4 or 16 octets, by `version`. */
struct cw_cnmsg {
	uint8_t option;  /* 1 or 2 */
	uint8_t version; /* 4 or 6 */
	bool packed;     /* the tuple has no padding */
	uint8_t src[16], dst[16];
	uint8_t proto, tc;
	uint16_t sport, dport;
	uint32_t dqpn; /* option 1: 24 bits */
	uint32_t nrp;  /* option 2 */
};

/* Descriptor of the message of `len` octets, or NULL when no form of the option has that length. */
const struct cw_hdr *cw_cnmsg_hdr(unsigned option, size_t len);

/* Read the UDP data of a message. Reserved octets are not judged. CW_E_LENGTH. */
CW_MUST_USE int cw_cnmsg_parse(struct cw_cnmsg *out, unsigned option, const uint8_t *data,
			       size_t len);

/* Write a message to `buf`. Returns its length, CW_E_ARG (option or version) or CW_E_SPACE. */
CW_MUST_USE int cw_cnmsg_write(const struct cw_cnmsg *m, uint8_t *buf, size_t size);

/* A Fast CNP: a CNP over IPv6 whose destination options carry the flow's original destination. The
 * option's type has no number yet, so the first option with 16 octets of data is taken.
 * Fills `dst`; false when the packet is none. The ICRC over extension headers is nowhere specified
 * and stays unchecked. */
bool cw_fast_cnp(const struct cw_packet *p, uint8_t dst[16]);

#ifdef __cplusplus
}
#endif
#endif
