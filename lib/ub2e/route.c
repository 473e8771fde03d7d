/* route.c - IP packets between Ethernet ports: what a router checks, and the mark of a congested
 * one. Spec: RFC 1812 5.2 and 5.3, RFC 8200, RFC 3168.
 */
#include "causeway/forward.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "lib/ub2e/internal.h"
#include "lib/ub2e/ip_check.h"
#include "lib/ub2e/tags.h"

/* Multicast has no next hop here, unlike in causeway/forward.h; the TTL counts when it goes down.
 */
static enum cw_drop may_route(const struct cw_ub2e *u, struct cw_ub2e_view *v)
{
	const uint8_t *ip = v->ip;
	bool v4 = v->version == 4;

	v->dst = v4 ? cw_ipv4_dst(ip) : cw_ipv6_dst(ip);
	v->tos = (uint8_t)(v4 ? ip[1] : cw_be16(ip) >> 4);
	if (v4 ? !ipv4_address_ok(cw_ipv4_src(ip)) || !ipv4_address_ok(v->dst)
	       : !ipv6_address_ok(cw_ipv6_src(ip)) || !ipv6_address_ok(v->dst))
		return CW_DROP_IP_ADDRESS;
	if (u->s.ttl_decrement && (v4 ? cw_ipv4_ttl(ip) : cw_ipv6_hop_limit(ip)) <= 1)
		return CW_DROP_TTL;
	return CW_PASS;
}

enum cw_drop cw_ub2e_route_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			       uint8_t *frame, uint32_t len, const struct cw_stripped_tag *tag,
			       struct cw_ub2e_view *v)
{
	enum cw_drop drop;
	struct tags t;
	size_t ip_len;

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
	if ((drop = cw_ip_check(v->ip, len - t.off, &ip_len)) != CW_PASS)
		return drop;
	if (v->ip[0] >> 4 != v->version)
		return CW_DROP_IP_VERSION;
	v->ip_len = (uint32_t)ip_len;
	return may_route(u, v);
}

/* FECN stands in the same place in both modes that have it. */
static bool has_fecn(const uint8_t *cci)
{
	uint32_t mode = cw_cci_mode(cci);

	return mode == CW_CCI_MODE_FECN || mode == CW_CCI_MODE_FECN_RTT;
}

bool cw_ub_can_mark(const uint8_t cci[2])
{
	return has_fecn(cci) && cw_cci_fecn_fecn(cci) != CW_FECN_UNMARKABLE;
}

void cw_ub_mark(uint8_t cci[2], bool severe)
{
	uint32_t is = cw_cci_fecn_fecn(cci);

	if (!cw_ub_can_mark(cci) || is == CW_FECN_SEVERE || (is == CW_FECN_LIGHT && !severe))
		return;
	cw_cci_fecn_set_fecn(cci, severe ? CW_FECN_SEVERE : CW_FECN_LIGHT);
	cw_cci_fecn_set_loc(cci, 0);
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
