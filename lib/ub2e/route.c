/* route.c - IP packets between Ethernet ports: what a router checks, and the mark of a congested
 * one. Spec: RFC 1812 5.2 and 5.3, RFC 8200, RFC 3168.
 */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "lib/ub2e/internal.h"
#include "lib/ub2e/ip_check.h"
#include "lib/ub2e/tags.h"

static enum cw_drop route_ipv4(const struct cw_ub2e *u, struct cw_ub2e_view *v, uint32_t avail)
{
	const uint8_t *ip = v->ip;
	uint32_t hlen;

	if (avail < CW_SIZE_IPV4)
		return CW_DROP_SHORT;
	hlen = 4 * cw_ipv4_ihl(ip);
	if (cw_ipv4_version(ip) != 4)
		return CW_DROP_IP_VERSION;
	if (hlen < CW_SIZE_IPV4)
		return CW_DROP_IP_IHL;
	v->ip_len = cw_ipv4_length(ip);
	if (v->ip_len < hlen || v->ip_len > avail)
		return CW_DROP_IP_LENGTH;
	if (cw_inet_fold(cw_inet_sum(0, ip, hlen)) != 0)
		return CW_DROP_IP_CHECKSUM;
	if (!ipv4_address_ok(cw_ipv4_src(ip)) || !ipv4_address_ok(cw_ipv4_dst(ip)))
		return CW_DROP_IP_ADDRESS;
	if (u->s.ttl_decrement && cw_ipv4_ttl(ip) <= 1)
		return CW_DROP_TTL;
	v->dst = cw_ipv4_dst(ip);
	v->tos = ip[1];
	return CW_PASS;
}

static enum cw_drop route_ipv6(const struct cw_ub2e *u, struct cw_ub2e_view *v, uint32_t avail)
{
	const uint8_t *ip = v->ip;

	if (avail < CW_SIZE_IPV6)
		return CW_DROP_SHORT;
	if (cw_ipv6_version(ip) != 6)
		return CW_DROP_IP_VERSION;
	v->ip_len = CW_SIZE_IPV6 + cw_ipv6_length(ip);
	if (v->ip_len > avail)
		return CW_DROP_IP_LENGTH;
	if (!ipv6_address_ok(cw_ipv6_src(ip)) || !ipv6_address_ok(cw_ipv6_dst(ip)))
		return CW_DROP_IP_ADDRESS;
	if (u->s.ttl_decrement && cw_ipv6_hop_limit(ip) <= 1)
		return CW_DROP_TTL;
	v->dst = cw_ipv6_dst(ip);
	v->tos = (uint8_t)(cw_be16(ip) >> 4);
	return CW_PASS;
}

enum cw_drop cw_ub2e_route_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			       uint8_t *frame, uint32_t len, const struct cw_stripped_tag *tag,
			       struct cw_ub2e_view *v)
{
	enum cw_drop drop;
	struct tags t;

	if ((drop = read_tags(&t, frame, len, tag)) != CW_PASS)
		return drop;
	if (t.type != CW_ETHERTYPE_IP4 && t.type != CW_ETHERTYPE_IP6)
		return CW_DROP_ETHERTYPE;
	*v = (struct cw_ub2e_view){.from = CW_SIDE_ROUTED,
				   .ip = frame + t.off,
				   .version = t.type == CW_ETHERTYPE_IP4 ? 4 : 6,
				   .plain = true};
	use_tags(v, &t);
	v->npi = v->tagged ? u->vid_npi[v->vid] : u->s.untagged_npi;
	if (!ub2e_filter_allows(filter, v->npi))
		return CW_DROP_NPI_FILTER;
	return v->version == 4 ? route_ipv4(u, v, len - t.off) : route_ipv6(u, v, len - t.off);
}

bool cw_ip_mark_ce(uint8_t *ip, uint32_t len)
{
	uint16_t word;

	if (len >= CW_SIZE_IPV4 && cw_ipv4_version(ip) == 4) {
		if (cw_ipv4_ecn(ip) == 0)
			return false;
		word = (uint16_t)cw_be16(ip);
		ip[1] |= 3;
		cw_ipv4_set_checksum(ip, cw_inet_update((uint16_t)cw_ipv4_checksum(ip), word,
							(uint16_t)cw_be16(ip)));
		return true;
	}
	if (len < CW_SIZE_IPV6 || cw_ipv6_version(ip) != 6 || cw_ipv6_ecn(ip) == 0)
		return false;
	cw_ipv6_set_ecn(ip, 3);
	return true;
}
