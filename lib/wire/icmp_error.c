/* icmp_error.c - ICMP and ICMPv6 errors of a router. Spec: RFC 792, RFC 1191, RFC 1812 4.3, RFC
 * 4443. Deviations: none. Not handled: redirects, parameter problems, and what only a host tells
 * (port, protocol unreachable); rate limits (RFC 1812 4.3.2.8, RFC 4443 2.4 f) are the caller's,
 * who has a clock.
 */
#include <string.h>
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"

#define MAX_ERROR4 576  /* RFC 1812 4.3.2.3 */
#define MAX_ERROR6 1280 /* RFC 4443 2.4 (c) */

static const struct {
	uint8_t type4, code4, type6, code6;
} kinds[] = {
	[CW_ICMP_TIME_EXCEEDED] = {11, 0, 3, 0}, /* in transit: RFC 792; RFC 4443 3.3 */
	[CW_ICMP_TOO_BIG] = {3, 4, 2, 0},        /* RFC 1191 4; RFC 4443 3.2 */
	[CW_ICMP_NO_ROUTE] = {3, 0, 1, 0},       /* RFC 1812 5.2.7.1; RFC 4443 3.1 */
	[CW_ICMP_NO_HOST] = {3, 1, 1, 3},        [CW_ICMP_PROHIBITED] = {3, 13, 1, 1},
};

/* RFC 1812 4.3.2.7. */
static bool silent4(const uint8_t *ip, size_t len)
{
	size_t hlen = 4 * (size_t)cw_ipv4_ihl(ip);
	uint8_t src = cw_ipv4_src(ip)[0];
	uint32_t type;

	if (cw_ipv4_frag_off(ip) != 0 || cw_ipv4_dst(ip)[0] >= 224)
		return true;
	if (src == 0 || src == 127 || src >= 224)
		return true;
	if (cw_ipv4_proto(ip) != CW_IPPROTO_ICMP)
		return false;
	if (hlen < CW_SIZE_IPV4 || len <= hlen)
		return true; /* whether it is an error can't be seen */
	type = cw_icmp_type(ip + hlen);
	return type != CW_ICMP_ECHO_REPLY && type != CW_ICMP_ECHO_REQUEST;
}

/* RFC 4443 2.4 (e). */
static bool silent6(const uint8_t *ip, size_t len, bool too_big)
{
	static const uint8_t unspecified[16];

	if (cw_ipv6_src(ip)[0] == 0xff || memcmp(cw_ipv6_src(ip), unspecified, 16) == 0)
		return true;
	if (cw_ipv6_dst(ip)[0] == 0xff && !too_big)
		return true;
	return cw_ipv6_next_header(ip) == CW_IPPROTO_ICMP6 &&
	       (len <= CW_SIZE_IPV6 || cw_icmp6_type(ip + CW_SIZE_IPV6) < 128);
}

static int error4(uint8_t *out, size_t size, enum cw_icmp_error why, uint32_t mtu,
		  const uint8_t *src, const uint8_t *ip, size_t len)
{
	uint8_t *icmp = out + CW_SIZE_IPV4;
	size_t total;

	if (len < CW_SIZE_IPV4)
		return CW_E_SHORT;
	if (silent4(ip, len))
		return CW_E_FORBIDDEN;
	total = CW_SIZE_IPV4 + CW_SIZE_ICMP + len;
	total = total > MAX_ERROR4 ? MAX_ERROR4 : total;
	if (size < total)
		return CW_E_SPACE;
	memset(out, 0, CW_SIZE_IPV4 + CW_SIZE_ICMP);
	memcpy(icmp + CW_SIZE_ICMP, ip, total - CW_SIZE_IPV4 - CW_SIZE_ICMP);
	cw_icmp_set_type(icmp, kinds[why].type4);
	cw_icmp_set_code(icmp, kinds[why].code4);
	cw_icmp_set_seq(icmp, why == CW_ICMP_TOO_BIG ? mtu : 0); /* RFC 1191 4 */
	cw_icmp_set_checksum(icmp, cw_inet_fold(cw_inet_sum(0, icmp, total - CW_SIZE_IPV4)));
	cw_ipv4_set_version(out, 4);
	cw_ipv4_set_ihl(out, CW_SIZE_IPV4 / 4);
	cw_ipv4_set_dscp(out, CW_DSCP_CS6); /* RFC 1812 4.3.2.5 */
	cw_ipv4_set_length(out, (uint32_t)total);
	cw_ipv4_set_df(out, 1); /* so that no identification is needed: RFC 6864 4.1 */
	cw_ipv4_set_ttl(out, 64);
	cw_ipv4_set_proto(out, CW_IPPROTO_ICMP);
	cw_ipv4_set_src(out, src);
	cw_ipv4_set_dst(out, cw_ipv4_src(ip));
	cw_ipv4_set_checksum(out, cw_ipv4_compute(out));
	return (int)total;
}

static int error6(uint8_t *out, size_t size, enum cw_icmp_error why, uint32_t mtu,
		  const uint8_t *src, const uint8_t *ip, size_t len)
{
	uint8_t *icmp6 = out + CW_SIZE_IPV6, *body = icmp6 + CW_SIZE_ICMP6 + 4;
	bool too_big = why == CW_ICMP_TOO_BIG;
	size_t total;

	if (len < CW_SIZE_IPV6)
		return CW_E_SHORT;
	if (silent6(ip, len, too_big))
		return CW_E_FORBIDDEN;
	total = (size_t)(body - out) + len;
	total = total > MAX_ERROR6 ? MAX_ERROR6 : total;
	if (size < total)
		return CW_E_SPACE;
	memset(out, 0, (size_t)(body - out));
	memcpy(body, ip, total - (size_t)(body - out));
	cw_ipv6_set_version(out, 6);
	cw_ipv6_set_length(out, (uint32_t)(total - CW_SIZE_IPV6));
	cw_ipv6_set_next_header(out, CW_IPPROTO_ICMP6);
	cw_ipv6_set_hop_limit(out, 64);
	cw_ipv6_set_src(out, src);
	cw_ipv6_set_dst(out, cw_ipv6_src(ip));
	cw_icmp6_set_type(icmp6, kinds[why].type6);
	cw_icmp6_set_code(icmp6, kinds[why].code6);
	cw_put_be32(icmp6 + CW_SIZE_ICMP6, too_big ? mtu : 0);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(out, icmp6, total - CW_SIZE_IPV6));
	return (int)total;
}

int cw_icmp_error(uint8_t *out, size_t size, enum cw_icmp_error why, uint32_t mtu,
		  const uint8_t *src, const uint8_t *ip, size_t len)
{
	if (len < 1)
		return CW_E_SHORT;
	switch (ip[0] >> 4) {
	case 4:
		return error4(out, size, why, mtu, src, ip, len);
	case 6:
		return error6(out, size, why, mtu, src, ip, len);
	default:
		return CW_E_VERSION;
	}
}
