/* cn_udp.h - an IP packet with its UDP header right behind IP. */
#ifndef LIB_CNPROXY_CN_UDP_H
#define LIB_CNPROXY_CN_UDP_H

#include "causeway/err.h"
#include "causeway/gid.h"
#include "causeway/wire/ip.h"

struct cn_udp {
	const uint8_t *ip, *udp, *data;
	size_t total; /* octets from IP on */
	size_t len;   /* of the data, as far as they are at hand */
	struct cw_gid src, dst;
	uint8_t tos;
};

/* The IP header: offset of UDP or an error. */
CW_INLINE int cn_ip_read(const uint8_t *ip, size_t len, struct cn_udp *out)
{
	size_t head = CW_SIZE_IPV6;

	if (len >= CW_SIZE_IPV4 && cw_ipv4_version(ip) == 4) {
		head = 4 * (size_t)cw_ipv4_ihl(ip);
		if (cw_ipv4_proto(ip) != CW_IPPROTO_UDP)
			return CW_E_UNKNOWN;
		if (head < CW_SIZE_IPV4 || cw_ipv4_mf(ip) || cw_ipv4_frag_off(ip) != 0)
			return CW_E_SHORT;
		out->total = cw_ipv4_length(ip);
		out->src = cw_gid_of(4, cw_ipv4_src(ip));
		out->dst = cw_gid_of(4, cw_ipv4_dst(ip));
		out->tos = ip[1];
	} else if (len >= CW_SIZE_IPV6 && cw_ipv6_version(ip) == 6) {
		if (cw_ipv6_next_header(ip) != CW_IPPROTO_UDP)
			return CW_E_UNKNOWN;
		out->total = CW_SIZE_IPV6 + (size_t)cw_ipv6_length(ip);
		out->src = cw_gid_of(6, cw_ipv6_src(ip));
		out->dst = cw_gid_of(6, cw_ipv6_dst(ip));
		out->tos = (uint8_t)(cw_ipv6_dscp(ip) << 2 | cw_ipv6_ecn(ip));
	} else {
		return CW_E_UNKNOWN;
	}
	return (int)head;
}

/* Of a packet of `wire` octets, of which the first `len` are at hand: CW_OK, CW_E_UNKNOWN (not
 * UDP), CW_E_SHORT (IP length, fragment), CW_E_LENGTH (UDP's; out->udp is good). */
CW_INLINE int cn_udp_peek(const uint8_t *ip, size_t len, size_t wire, struct cn_udp *out)
{
	int err = cn_ip_read(ip, len, out);
	size_t head = (size_t)err;

	if (err < 0)
		return err;
	if (out->total > wire || len < head + CW_SIZE_UDP || out->total < head + CW_SIZE_UDP)
		return CW_E_SHORT;
	out->ip = ip;
	out->udp = ip + head;
	if (cw_udp_length(out->udp) != out->total - head)
		return CW_E_LENGTH;
	out->data = out->udp + CW_SIZE_UDP;
	out->len = (out->total < len ? out->total : len) - head - CW_SIZE_UDP;
	return CW_OK;
}

/* All of it is at hand. */
CW_INLINE int cn_udp_read(const uint8_t *ip, size_t len, struct cn_udp *out)
{
	return cn_udp_peek(ip, len, len, out);
}

#endif
