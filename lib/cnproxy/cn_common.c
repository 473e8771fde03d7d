/* cn_common.c - packets and limits of congestion point and proxy. */
#include "causeway/cnrelay.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "lib/cnproxy/cn_int.h"

static void write_ipv4(const struct cn_head *h, uint8_t *ip, size_t len)
{
	memset(ip, 0, CW_SIZE_IPV4);
	ip[0] = 0x45;
	ip[1] = h->tos;
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_id(ip, h->ip_id);
	cw_ipv4_set_df(ip, 1);
	cw_ipv4_set_ttl(ip, h->ttl);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_ipv4_set_src(ip, h->src->o + 12);
	cw_ipv4_set_dst(ip, h->dst->o + 12);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
}

static void write_ipv6(const struct cn_head *h, uint8_t *ip, size_t len)
{
	memset(ip, 0, CW_SIZE_IPV6);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_dscp(ip, h->tos >> 2);
	cw_ipv6_set_ecn(ip, h->tos & 3);
	cw_ipv6_set_length(ip, (uint32_t)(len - CW_SIZE_IPV6));
	cw_ipv6_set_next_header(ip, CW_IPPROTO_UDP);
	cw_ipv6_set_hop_limit(ip, h->ttl);
	cw_ipv6_set_src(ip, h->src->o);
	cw_ipv6_set_dst(ip, h->dst->o);
}

uint8_t *cn_head_write(const struct cn_head *h, uint8_t *buf, size_t data)
{
	size_t head = cn_head_len(h->dst);
	uint8_t *udp = buf + head - CW_SIZE_UDP;

	if (cw_gid_is_v4(h->dst))
		write_ipv4(h, buf, head + data);
	else
		write_ipv6(h, buf, head + data);
	memset(udp, 0, CW_SIZE_UDP);
	cw_udp_set_sport(udp, h->sport);
	cw_udp_set_dport(udp, h->dport);
	cw_udp_set_length(udp, (uint32_t)(CW_SIZE_UDP + data));
	return udp + CW_SIZE_UDP;
}

size_t cn_cnp_write(const struct cn_head *h, uint16_t pkey, uint32_t dqpn, uint8_t *buf)
{
	size_t len = cn_head_len(h->dst) + CN_CNP_OCTETS;
	uint8_t *bth = cn_head_write(h, buf, CN_CNP_OCTETS);

	memset(bth, 0, CN_CNP_OCTETS);
	cw_bth_set_opcode(bth, CW_BTH_CNP);
	cw_bth_set_pkey(bth, pkey);
	cw_bth_set_becn(bth, 1);
	cw_bth_set_dqpn(bth, dqpn);
	return cw_icrc_put(buf, len, &cw_icrc_rocev2, CW_ICRC_LE) == CW_OK ? len : 0;
}

int cw_cnp_build(const struct cw_cnp *c, uint8_t *buf, size_t size)
{
	struct cn_head h = {.src = &c->src,
			    .dst = &c->dst,
			    .tos = c->tos,
			    .ttl = c->ttl,
			    .sport = c->sport,
			    .dport = CW_ROCE_PORT,
			    .ip_id = c->ip_id};

	if (cw_gid_is_v4(&c->src) != cw_gid_is_v4(&c->dst))
		return CW_E_ARG;
	if (size < cn_head_len(&c->dst) + CN_CNP_OCTETS)
		return CW_E_SPACE;
	return (int)cn_cnp_write(&h, c->pkey, c->dqpn, buf);
}
