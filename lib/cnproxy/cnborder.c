/* cnborder.c - is a packet a congestion message? Section 6 of the draft; see causeway/cnrelay.h.
 *
 * A border has to stop more than the proxy here takes: messages behind IPv4 options or IPv6
 * extension headers, first fragments of messages, and those whose lengths lie.
 */
#include "causeway/cnrelay.h"
#include "causeway/wire/ip.h"

/* Where the UDP header is, or 0. */
static size_t udp_in_ip4(const uint8_t *ip, size_t len)
{
	if (len < CW_SIZE_IPV4 || cw_ipv4_proto(ip) != CW_IPPROTO_UDP || cw_ipv4_frag_off(ip) != 0)
		return 0;
	return 4 * (size_t)cw_ipv4_ihl(ip);
}

/* The extension header at `ext`, of which there are 8 octets: its length, or 0 where nothing can be
 * found behind it. */
static size_t extension(uint32_t kind, const uint8_t *ext)
{
	switch (kind) {
	case CW_IPPROTO_HOPOPT:
	case CW_IPPROTO_ROUTING:
	case CW_IPPROTO_DSTOPTS:
		return 8 + 8 * (size_t)cw_ipv6_ext_length(ext);
	case CW_IPPROTO_FRAGMENT:
		return cw_ipv6_frag_frag_off(ext) == 0 ? CW_SIZE_IPV6_FRAG : 0;
	case CW_IPPROTO_AH: /* RFC 4302 2.2: words less two */
		return 8 + 4 * (size_t)cw_ipv6_ext_length(ext);
	default:
		return 0;
	}
}

static size_t udp_in_ip6(const uint8_t *ip, size_t len)
{
	size_t at = CW_SIZE_IPV6, step;
	uint32_t next;
	unsigned i;

	if (len < CW_SIZE_IPV6)
		return 0;
	next = cw_ipv6_next_header(ip);
	for (i = 0; i <= CW_IP6_EXT_MAX && next != CW_IPPROTO_UDP; i++) {
		if (at + 8 > len || (step = extension(next, ip + at)) == 0)
			return 0;
		next = cw_ipv6_ext_next_header(ip + at);
		at += step;
	}
	return next == CW_IPPROTO_UDP ? at : 0;
}

bool cw_is_cn_message(const uint8_t *ip, size_t len, uint16_t port1, uint16_t port2)
{
	size_t udp = len == 0          ? 0
		     : ip[0] >> 4 == 4 ? udp_in_ip4(ip, len)
		     : ip[0] >> 4 == 6 ? udp_in_ip6(ip, len)
				       : 0;
	uint32_t port;

	if (udp < CW_SIZE_IPV4 || udp + 4 > len)
		return false;
	port = cw_udp_dport(ip + udp);
	return port == port1 || port == port2;
}
