/* ip_check.h - the checks of IP header and above that both sides share.
 * Spec: draft-li-uboe-00 4, 4.1, 4.2; UB 2.0 5.2.3 (IHL 5, no fragments, no extension headers, for
 * plain IP over UB as well).
 *
 * A header, so that each side has them inlined: a call and the view's way through memory cost a
 * tenth of a crossing.
 */
#ifndef LIB_UB2E_IP_CHECK_H
#define LIB_UB2E_IP_CHECK_H

#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
#include "lib/ub2e/internal.h"

/* The one's complement sum of a good header is zero modulo 0xffff, in either byte order and for
 * words of 32 bits as well as of 16. (All zero it can't be, the version is in it.) */
CW_INLINE bool ipv4_sum_ok(const uint8_t *ip)
{
	uint64_t a, b, sum;
	uint32_t c;

	memcpy(&a, ip, 8);
	memcpy(&b, ip + 8, 8);
	memcpy(&c, ip + 16, 4);
	sum = (a & UINT32_MAX) + (a >> 32) + (b & UINT32_MAX) + (b >> 32) + c;
	return sum % 0xffff == 0;
}

/* May a router forward packets from or to this address (RFC 1122 3.2.1.3, RFC 1812 5.3.7, RFC 3927
 * 7)? Multicast never: neither UB nor the draft knows it, and a packet has one next hop here. */
CW_INLINE bool ipv4_address_ok(const uint8_t *p)
{
	uint32_t a = cw_be32(p), top = a >> 24;

	return top != 0 && top != 127 && top >> 4 != 14 && a >> 16 != 0xa9fe && a != UINT32_MAX;
}

/* :: and ::1 are the two lowest numbers; fe80::/10 (RFC 4291 2.5) and the mapped addresses may not
 * be on a wire between routers. */
CW_INLINE bool ipv6_address_ok(const uint8_t *a)
{
	uint64_t hi = cw_be64(a), lo = cw_be64(a + 8);

	if (hi == 0 && (lo <= 1 || lo >> 32 == 0xffff))
		return false;
	return hi >> 56 != 0xff && hi >> 54 != 0x3fa;
}

CW_INLINE enum cw_drop check_ipv4(const struct cw_ub2e *u, struct cw_ub2e_view *v, uint32_t avail)
{
	const uint8_t *ip = v->ip;

	if (avail < CW_SIZE_IPV4)
		return CW_DROP_SHORT;
	if (ip[0] != 0x45)
		return cw_ipv4_version(ip) != 4 ? CW_DROP_IP_VERSION : CW_DROP_IP_IHL;
	if (!ipv4_sum_ok(ip))
		return CW_DROP_IP_CHECKSUM;
	v->ip_len = cw_ipv4_length(ip);
	if (v->ip_len < CW_SIZE_IPV4 || v->ip_len > avail)
		return CW_DROP_IP_LENGTH;
	if (cw_ipv4_mf(ip) | cw_ipv4_frag_off(ip))
		return CW_DROP_IP_FRAGMENT;
	if (!ipv4_address_ok(cw_ipv4_src(ip)) || !ipv4_address_ok(cw_ipv4_dst(ip)))
		return CW_DROP_IP_ADDRESS;
	if (u->s.ttl_decrement && cw_ipv4_ttl(ip) <= 1)
		return CW_DROP_TTL;
	v->dst = cw_ipv4_dst(ip);
	return CW_PASS;
}

/* Next headers that are not an upper layer (IANA "IPv6 Extension Header Types"). */
static inline bool is_extension(uint32_t next)
{
	switch (next) {
	case CW_IPPROTO_HOPOPT:
	case CW_IPPROTO_ROUTING:
	case CW_IPPROTO_ESP:
	case CW_IPPROTO_AH:
	case CW_IPPROTO_DSTOPTS:
	case 135: /* mobility */
	case 139: /* host identity */
	case 140: /* shim6 */
	case 253:
	case 254: /* experiments */
		return true;
	default:
		return false;
	}
}

CW_INLINE enum cw_drop check_ipv6(const struct cw_ub2e *u, struct cw_ub2e_view *v, uint32_t avail)
{
	const uint8_t *ip = v->ip;

	if (avail < CW_SIZE_IPV6)
		return CW_DROP_SHORT;
	if (cw_ipv6_version(ip) != 6)
		return CW_DROP_IP_VERSION;
	v->ip_len = CW_SIZE_IPV6 + cw_ipv6_length(ip);
	if (v->ip_len > avail)
		return CW_DROP_IP_LENGTH;
	if (cw_ipv6_next_header(ip) != CW_IPPROTO_UDP) {
		if (cw_ipv6_next_header(ip) == CW_IPPROTO_FRAGMENT)
			return CW_DROP_IP_FRAGMENT;
		if (is_extension(cw_ipv6_next_header(ip)))
			return CW_DROP_IP_EXTENSION;
	}
	if (!ipv6_address_ok(cw_ipv6_src(ip)) || !ipv6_address_ok(cw_ipv6_dst(ip)))
		return CW_DROP_IP_ADDRESS;
	if (u->s.ttl_decrement && cw_ipv6_hop_limit(ip) <= 1)
		return CW_DROP_TTL;
	v->dst = cw_ipv6_dst(ip);
	return CW_PASS;
}

/* Shortest data packet by NLP, from TPH to ICRC; 0 = reserved (UB 2.0 6.2.1). NLP 3 is opaque. */
static const uint8_t nlp_min[16] = {
	[CW_NLP_TAH] = 16 + 8 + 4,
	[CW_NLP_UPI32] = 16 + 36 + 8 + 4,
	[CW_NLP_CIPH] = 16 + 4,
};

/* Octets between TPH and SAETPH of a selective acknowledgement. */
static inline enum cw_drop check_sack(const uint8_t *tp, uint32_t len, uint32_t cetph)
{
	uint32_t bitmap;

	if (len < CW_SIZE_RTPH + cetph + CW_SIZE_SAETPH)
		return CW_DROP_TP_LENGTH;
	bitmap = cw_saetph_octets(cw_saetph_bitmap_size(tp + CW_SIZE_RTPH + cetph));
	if (bitmap == 0 || len < CW_SIZE_RTPH + cetph + CW_SIZE_SAETPH + bitmap + CW_ICRC_LEN)
		return CW_DROP_TP_LENGTH;
	return CW_PASS;
}

CW_INLINE enum cw_drop check_data(const uint8_t *tp, uint32_t len)
{
	uint32_t min = nlp_min[cw_rtph_nlp(tp)];

	if (min == 0)
		return CW_DROP_TP_NLP;
	return len < min + cw_rtph_padding(tp) ? CW_DROP_TP_LENGTH : CW_PASS;
}

/* TPH .. ICRC, `len` octets. UTPH and RTPH have the fields that matter in the same places. The
 * Last bit is left to the endpoints. */
CW_INLINE enum cw_drop check_transport(const uint8_t *tp, uint32_t len)
{
	if (len < CW_SIZE_RTPH + CW_ICRC_LEN)
		return CW_DROP_TP_LENGTH;
	if (cw_rtph_version(tp) != 0)
		return CW_DROP_TP_VERSION;
	switch (cw_rtph_opcode(tp)) {
	case CW_TP_RTP:
		if (cw_rtph_f(tp)) /* a fake packet: no transaction in it */
			return CW_PASS;
		return check_data(tp, len);
	case CW_TP_UTP:
		return check_data(tp, len);
	case CW_TP_ACK:
		return CW_PASS;
	case CW_TP_ACK_CC:
		return len < CW_SIZE_RTPH + CW_SIZE_CETPH + CW_ICRC_LEN ? CW_DROP_TP_LENGTH
									: CW_PASS;
	case CW_TP_SACK:
		return check_sack(tp, len, 0);
	case CW_TP_SACK_CC:
		return check_sack(tp, len, CW_SIZE_CETPH);
	case CW_TP_CNP:
		return len < CW_SIZE_RTPH + CW_SIZE_CETPH_CNP + CW_ICRC_LEN ? CW_DROP_TP_LENGTH
									    : CW_PASS;
	default:
		return CW_DROP_TP_OPCODE;
	}
}

static inline enum cw_drop check_icrc(const struct cw_ub2e *u, struct cw_ub2e_view *v,
				      enum cw_icrc_check icrc)
{
	if (cw_icrc_check(v->ip, v->ip_len, &cw_icrc_ub, u->s.icrc_order) == CW_OK)
		return CW_PASS;
	if (icrc == CW_ICRC_CHECK_DROP)
		return CW_DROP_ICRC;
	v->notes |= UB2E_NOTE(ICRC_BAD);
	return CW_PASS;
}

CW_INLINE enum cw_4792 ub2e_pinned(const struct cw_ub2e *u, const struct cw_ub2e_view *v)
{
	const uint8_t *src = v->ip + (v->version == 4 ? 12 : 8);
	const struct cw_pin_4792 *pin = NULL;

	if (u->s.npins > 0)
		pin = cw_pin_4792_find(u->s.pins, u->s.npins, v->version, src,
				       src + (v->version == 4 ? 4 : 16));
	return pin != NULL ? pin->family : CW_4792_BY_CONTENT;
}

/* UET shares the port (docs/decisions.md): what can't be UB by its first octet may be that. */
static inline enum cw_drop ub2e_not_ub(const struct cw_ub2e_view *v, const uint8_t *p, uint32_t len,
				       enum cw_drop drop)
{
	if (len == 0 || cw_ub_first_octet(p[0]))
		return drop;
	if (cw_uetx_check(p, len) == CW_OK)
		return CW_DROP_UETX;
	return cw_uec_on_ub_port(v->ip, (size_t)(p - v->ip), len) ? CW_DROP_UEC_PORT : drop;
}

CW_INLINE enum cw_drop check_uboe(const struct cw_ub2e *u, struct cw_ub2e_view *v,
				  const uint8_t *udp, uint32_t len, enum cw_icrc_check icrc)
{
	enum cw_4792 pinned = ub2e_pinned(u, v);
	enum cw_drop drop;

	if (cw_udp_length(udp) != len)
		return CW_DROP_UDP_LENGTH;
	if (cw_udp_checksum(udp) != 0) {
		if (u->s.udp_verify && cw_udp_checksum(udp) != cw_udp_compute(v->ip, udp, len))
			return CW_DROP_UDP_CHECKSUM;
		v->cross_notes |= UB2E_NOTE(UDP_CSUM_ZEROED);
	}
	if (pinned == CW_4792_UETX)
		return CW_DROP_UETX;
	drop = check_transport(udp + CW_SIZE_UDP, len - CW_SIZE_UDP);
	if (drop != CW_PASS)
		return pinned == CW_4792_UB
			       ? drop
			       : ub2e_not_ub(v, udp + CW_SIZE_UDP, len - CW_SIZE_UDP, drop);
	if (v->version == 4 && (v->ip[6] & 0xc0) != 0x40)
		v->cross_notes |= UB2E_NOTE(NO_DF);
	return icrc != CW_ICRC_CHECK_OFF ? check_icrc(u, v, icrc) : CW_PASS;
}

/* `avail` octets are there from v->ip on. Fills version, ip_len, dst and plain, and adds to `notes`
 * and `cross_notes`. */
CW_INLINE enum cw_drop ub2e_check_ip(const struct cw_ub2e *u, struct cw_ub2e_view *v,
				     uint8_t version, uint32_t avail, enum cw_icrc_check icrc)
{
	uint32_t hlen = version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6, proto, len;
	const uint8_t *udp = v->ip + hlen;
	enum cw_drop drop;

	drop = version == 4 ? check_ipv4(u, v, avail) : check_ipv6(u, v, avail);
	if (drop != CW_PASS)
		return drop;
	v->version = version;
	v->plain = true;
	proto = version == 4 ? cw_ipv4_proto(v->ip) : cw_ipv6_next_header(v->ip);
	if (proto != CW_IPPROTO_UDP)
		return CW_PASS;
	len = v->ip_len - hlen;
	if (len < CW_SIZE_UDP)
		return CW_DROP_UDP_LENGTH;
	if (cw_udp_dport(udp) != u->s.udp_port)
		return CW_PASS;
	v->plain = false;
	return check_uboe(u, v, udp, len, icrc);
}

#endif
