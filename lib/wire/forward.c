/* forward.c - what an IP router does to one packet. See causeway/forward.h. */
#include <string.h>
#include "causeway/forward.h"
#include "causeway/wire/ip.h"

enum { OPTION_END = 0, OPTION_NOP = 1, OPTION_COPIED = 0x80 };

static size_t head_len(const uint8_t *ip)
{
	return (size_t)4 * cw_ipv4_ihl(ip);
}

static enum cw_drop check4(const uint8_t *ip, size_t room, size_t *len)
{
	if (room < CW_SIZE_IPV4)
		return CW_DROP_SHORT;
	if (head_len(ip) < CW_SIZE_IPV4 || head_len(ip) > room)
		return CW_DROP_IP_IHL;
	*len = cw_ipv4_length(ip);
	if (*len < head_len(ip) || *len > room)
		return CW_DROP_IP_LENGTH;
	return cw_inet_fold(cw_inet_sum(0, ip, head_len(ip))) == 0 ? CW_PASS : CW_DROP_IP_CHECKSUM;
}

enum cw_drop cw_ip_check(const uint8_t *ip, size_t room, size_t *len)
{
	if (room < 1)
		return CW_DROP_SHORT;
	if (ip[0] >> 4 == 4)
		return check4(ip, room, len);
	if (ip[0] >> 4 != 6)
		return CW_DROP_IP_VERSION;
	if (room < CW_SIZE_IPV6)
		return CW_DROP_SHORT;
	*len = CW_SIZE_IPV6 + cw_ipv6_length(ip);
	return *len <= room ? CW_PASS : CW_DROP_IP_LENGTH;
}

/* Neither to nor from an address that stays on its link or in its host. */
static bool forwardable4(const uint8_t *ip)
{
	uint32_t src = cw_be32(cw_ipv4_src(ip)), dst = cw_be32(cw_ipv4_dst(ip));

	if (src >> 28 == 14 || src >> 24 == 127 || src >> 24 == 0 || src == 0xffffffff ||
	    src >> 16 == 0xa9fe)
		return false;
	return dst >> 24 != 127 && dst >> 24 != 0 && dst < 0xf0000000 && dst >> 16 != 0xa9fe &&
	       dst >> 8 != 0xe00000;
}

static bool is_link_local(const uint8_t *a)
{
	return a[0] == 0xfe && (a[1] & 0xc0) == 0x80;
}

static bool is_loopback_or_none(const uint8_t *a)
{
	static const uint8_t zero[15];

	return memcmp(a, zero, 15) == 0 && a[15] <= 1;
}

static bool forwardable6(const uint8_t *ip)
{
	const uint8_t *src = cw_ipv6_src(ip), *dst = cw_ipv6_dst(ip);

	if (src[0] == 0xff || is_link_local(src) || is_loopback_or_none(src))
		return false;
	if (dst[0] == 0xff) /* scopes above link-local */
		return (dst[1] & 15) > 2;
	return !is_link_local(dst) && !is_loopback_or_none(dst);
}

enum cw_drop cw_ip_may_forward(const uint8_t *ip)
{
	bool v6 = ip[0] >> 4 == 6;

	if (!(v6 ? forwardable6(ip) : forwardable4(ip)))
		return CW_DROP_IP_ADDRESS;
	return (v6 ? cw_ipv6_hop_limit(ip) : cw_ipv4_ttl(ip)) > 1 ? CW_PASS : CW_DROP_TTL;
}

void cw_ip_hop(uint8_t *ip)
{
	uint16_t was;

	if (ip[0] >> 4 == 6) {
		cw_ipv6_set_hop_limit(ip, cw_ipv6_hop_limit(ip) - 1);
		return;
	}
	was = cw_be16(ip + 8);
	cw_ipv4_set_ttl(ip, cw_ipv4_ttl(ip) - 1);
	cw_ipv4_set_checksum(ip,
			     cw_inet_update((uint16_t)cw_ipv4_checksum(ip), was, cw_be16(ip + 8)));
}

bool cw_ip_may_fragment(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 && !cw_ipv4_df(ip);
}

/* Of the options those that every fragment has (RFC 791 3.1), padded; the header's length. */
static size_t put_later_head(uint8_t *out, const uint8_t *ip)
{
	size_t at = CW_SIZE_IPV4, n = CW_SIZE_IPV4, end = head_len(ip), len;

	memcpy(out, ip, CW_SIZE_IPV4);
	for (; at < end && ip[at] != OPTION_END; at += len) {
		len = ip[at] == OPTION_NOP ? 1 : at + 1 < end ? ip[at + 1] : 0;
		if (len == 0 || len > end - at || (len == 1 && ip[at] != OPTION_NOP))
			break; /* malformed: what is behind it has no meaning */
		if ((ip[at] & OPTION_COPIED) == 0)
			continue;
		memcpy(out + n, ip + at, len);
		n += len;
	}
	while (n % 4 != 0)
		out[n++] = OPTION_END;
	cw_ipv4_set_ihl(out, (uint32_t)(n / 4));
	return n;
}

int cw_ip_fragment(uint8_t *out, size_t size, uint32_t mtu, const uint8_t *ip, size_t len,
		   size_t *done)
{
	size_t head = head_len(ip), data = len - head, left, n;
	uint8_t h[60];
	bool last;

	if (*done >= data)
		return 0;
	if (*done > 0)
		head = put_later_head(h, ip);
	else
		memcpy(h, ip, head);
	if (mtu < head + 8)
		return CW_E_ARG;
	left = data - *done;
	last = head + left <= mtu;
	n = last ? left : (mtu - head) & ~(size_t)7;
	if (head + n > size)
		return CW_E_SPACE;
	memcpy(out, h, head);
	memcpy(out + head, ip + head_len(ip) + *done, n);
	cw_ipv4_set_length(out, (uint32_t)(head + n));
	cw_ipv4_set_frag_off(out, cw_ipv4_frag_off(ip) + (uint32_t)(*done / 8));
	cw_ipv4_set_mf(out, !last || cw_ipv4_mf(ip));
	cw_ipv4_set_checksum(out, cw_ipv4_compute(out));
	*done += n;
	return (int)(head + n);
}
