/* write.c - the packet as its next hop gets it, written in place.
 * Spec: draft-li-uboe-00 4.1, 5; UB 2.0 4.3.2, 5.2.3; IEEE 802.1Q; RFC 1624.
 */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "lib/ub2e/internal.h"

/* RFC 1624, equation 3, for the ToS and the TTL octet: ~m + m' is 0xffff - m + m'. */
CW_INLINE void rewrite_ipv4(uint8_t *ip, uint8_t tos, unsigned hop)
{
	uint32_t sum = (uint16_t)~cw_ipv4_checksum(ip);

	sum += 2 * 0xffffu + tos - ip[1] - (hop << 8);
	ip[1] = tos;
	ip[8] = (uint8_t)(ip[8] - hop);
	cw_ipv4_set_checksum(ip, cw_inet_fold(sum));
}

CW_INLINE void rewrite_ipv6(uint8_t *ip, uint8_t tos, unsigned hop)
{
	cw_put_be32(ip, (cw_be32(ip) & 0xf00fffff) | (uint32_t)tos << 20);
	ip[7] = (uint8_t)(ip[7] - hop);
}

CW_INLINE void rewrite_ip(const struct cw_ub2e *u, const struct cw_ub2e_view *v)
{
	unsigned hop = u->s.ttl_decrement;

	if (v->version == 4)
		rewrite_ipv4(v->ip, v->tos, hop);
	else
		rewrite_ipv6(v->ip, v->tos, hop);
	if (!v->plain)
		cw_udp_set_checksum(v->ip + (v->version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6), 0);
}

CW_INLINE uint8_t *put_tag(uint8_t *p, uint16_t tpid, unsigned pcp, unsigned vid)
{
	cw_put_be32(p, (uint32_t)tpid << 16 | pcp << 13 | vid);
	return p + CW_SIZE_VLAN;
}

static enum cw_drop write_eth(const struct cw_ub2e *u, struct cw_ub2e_view *v,
			      const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len)
{
	uint32_t l2 = CW_SIZE_ETH;
	uint8_t *frame, *p;

	l2 += (hop->outer_vid != 0) * CW_SIZE_VLAN + v->tagged * CW_SIZE_VLAN;
	frame = v->ip - l2;
	memcpy(frame, hop->dst, 6);
	memcpy(frame + 6, hop->src, 6);
	p = frame + 12;
	if (hop->outer_vid != 0)
		p = put_tag(p, CW_ETHERTYPE_SVLAN, v->pcp, hop->outer_vid);
	if (v->tagged)
		p = put_tag(p, hop->tpid, v->pcp, v->vid);
	cw_put_be16(p, v->version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	rewrite_ip(u, v);
	v->notes |= v->cross_notes;
	*start = frame;
	*len = l2 + v->ip_len;
	return CW_PASS;
}

/* Link header: credit and acknowledgement bits 0, those are the next link's own business. */
CW_INLINE void put_lph(uint8_t *ub, const struct cw_ub2e_view *v, uint16_t plength)
{
	uint8_t lph[CW_SIZE_LPH] = {0};

	cw_lph_set_vl(lph, v->vl);
	cw_lph_set_cfg(lph, v->version == 4 ? CW_UB_CFG_IP4 : CW_UB_CFG_IP6);
	cw_lph_set_rt(lph, v->rt);
	cw_lph_set_plength(lph, plength);
	memcpy(ub, lph, sizeof(lph));
}

static enum cw_drop write_ub(const struct cw_ub2e *u, struct cw_ub2e_view *v,
			     const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len)
{
	uint8_t *ub = v->ip - CW_UB_PREFIX;
	uint64_t front = v->ip_len <= UB2E_IP_MAX ? u->front[v->ip_len] : 0;

	if (front == 0)
		return CW_DROP_MTU;
	put_lph(ub, v, (uint16_t)(UB2E_WIRE64(front) >> 16 & 0x3fff));
	cw_put_be16(ub + CW_SIZE_LPH, v->cci);
	cw_put_be32(ub + CW_SIZE_LPH + CW_SIZE_CCI, v->npi);
	if (v->from == CW_SIDE_ETH) {
		rewrite_ip(u, v);
		v->notes |= v->cross_notes;
	} else if (v->version == 4) {
		rewrite_ipv4(v->ip, v->ip[1], u->s.ttl_decrement);
	} else {
		v->ip[7] = (uint8_t)(v->ip[7] - u->s.ttl_decrement);
	}
	*start = ub;
	*len = CW_UB_PREFIX + v->ip_len;
	if (hop->bare)
		return CW_PASS;
	*start -= CW_SIZE_ETH;
	*len += CW_SIZE_ETH;
	cw_eth_set_dst(*start, hop->dst);
	cw_eth_set_src(*start, hop->src);
	cw_eth_set_type(*start, CW_ETHERTYPE_UB);
	return CW_PASS;
}

enum cw_drop cw_ub2e_write(const struct cw_ub2e *u, struct cw_ub2e_view *v,
			   const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len)
{
	if (hop->mtu != 0 && v->ip_len > hop->mtu)
		return CW_DROP_MTU;
	if (!ub2e_filter_allows(hop->filter, v->npi))
		return CW_DROP_NPI_FILTER;
	if (hop->side == CW_SIDE_UB)
		return write_ub(u, v, hop, start, len);
	if (v->from == CW_SIDE_ETH)
		return CW_DROP_SAME_DOMAIN;
	if (v->cross != CW_PASS)
		return v->cross;
	return write_eth(u, v, hop, start, len);
}
