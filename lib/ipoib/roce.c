/* roce.c - datagrams as RoCEv2 carries them.
 * Spec: IBTA Vol 1 annex A17. That a link's groups are sent so, without their MGID on the wire, is
 * a convention of ours: see docs/ipoib.md.
 */
#include <string.h>
#include "causeway/cnproxy.h"
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "lib/ipoib/internal.h"

enum { TRANSPORT = CW_SIZE_UDP + CW_SIZE_BTH + CW_SIZE_DETH, HOPS = 64, DATA_MAX = 4096 };

/* The ID counts for nothing beside DF, but Linux replaces 0. */
static void put_ip4(uint8_t *ip, const struct cw_gid *src, const struct cw_gid *dst,
		    const struct cw_ipoib_tx *tx, uint32_t psn, size_t total)
{
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	ip[1] = tx->tclass;
	cw_ipv4_set_length(ip, (uint32_t)total);
	cw_ipv4_set_id(ip, 1 + psn % 0xffff);
	cw_ipv4_set_df(ip, 1);
	cw_ipv4_set_ttl(ip, HOPS);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_ipv4_set_src(ip, src->o + 12);
	cw_ipv4_set_dst(ip, dst->o + 12);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
}

static void put_ip6(uint8_t *ip, const struct cw_gid *src, const struct cw_gid *dst,
		    const struct cw_ipoib_tx *tx, size_t behind)
{
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_dscp(ip, tx->tclass >> 2);
	cw_ipv6_set_ecn(ip, tx->tclass & 3);
	cw_ipv6_set_flow_label(ip, tx->flow_label);
	cw_ipv6_set_length(ip, (uint32_t)behind);
	cw_ipv6_set_next_header(ip, CW_IPPROTO_UDP);
	cw_ipv6_set_hop_limit(ip, HOPS);
	cw_ipv6_set_src(ip, src->o);
	cw_ipv6_set_dst(ip, dst->o);
}

int cw_ipoib_roce_build(uint8_t *out, size_t size, const struct cw_gid *src,
			const struct cw_gid *dst, const struct cw_ipoib_tx *tx, uint32_t psn,
			const uint8_t *data, size_t len)
{
	bool v4 = cw_gid_is_v4(dst);
	size_t head = v4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6, behind, padded = (len + 3) & ~(size_t)3;
	int err;

	if (cw_gid_is_v4(src) != v4)
		return CW_E_ARG;
	if (len > DATA_MAX)
		return CW_E_LENGTH;
	behind = TRANSPORT + padded + CW_ICRC_LEN;
	if (size < head + behind)
		return CW_E_SPACE;
	memset(out, 0, head + TRANSPORT);
	if (v4)
		put_ip4(out, src, dst, tx, psn, head + behind);
	else
		put_ip6(out, src, dst, tx, behind);
	cw_udp_set_sport(out + head, cw_roce_sport(tx->sqpn, tx->dqpn));
	cw_udp_set_dport(out + head, CW_ROCE_PORT);
	cw_udp_set_length(out + head, (uint32_t)behind);
	put_transport(out + head + CW_SIZE_UDP, tx, psn, len);
	memcpy(out + head + TRANSPORT, data, len);
	memset(out + head + TRANSPORT + len, 0, padded - len);
	err = cw_icrc_put(out, head + behind, &cw_icrc_rocev2, CW_ICRC_LE);
	return err < 0 ? err : (int)(head + behind);
}

static void rx_gids(struct cw_ipoib_tx *rx, unsigned version, const uint8_t *src,
		    const uint8_t *dst)
{
	struct cw_gid from = cw_gid_of(version, src), to = cw_gid_of(version, dst);

	memcpy(rx->sgid, from.o, sizeof(from.o));
	memcpy(rx->dgid, to.o, sizeof(to.o));
}

/* The IP header: its length, and in `end` the packet's. */
static int parse_ip(const uint8_t *ip, size_t len, struct cw_ipoib_tx *rx, size_t *end)
{
	if (len >= CW_SIZE_IPV4 && cw_ipv4_version(ip) == 4) {
		if (cw_ipv4_ihl(ip) != 5 || cw_ipv4_mf(ip) || cw_ipv4_frag_off(ip) != 0)
			return CW_E_OPTIONS;
		*end = cw_ipv4_length(ip);
		rx->tclass = ip[1];
		rx->hop_limit = (uint8_t)cw_ipv4_ttl(ip);
		rx_gids(rx, 4, cw_ipv4_src(ip), cw_ipv4_dst(ip));
		return cw_ipv4_proto(ip) == CW_IPPROTO_UDP ? CW_SIZE_IPV4 : CW_E_UNKNOWN;
	}
	if (len < CW_SIZE_IPV6)
		return CW_E_SHORT;
	if (cw_ipv6_version(ip) != 6)
		return CW_E_VERSION;
	*end = CW_SIZE_IPV6 + (size_t)cw_ipv6_length(ip);
	rx->tclass = (uint8_t)(cw_ipv6_dscp(ip) << 2 | cw_ipv6_ecn(ip));
	rx->flow_label = cw_ipv6_flow_label(ip);
	rx->hop_limit = (uint8_t)cw_ipv6_hop_limit(ip);
	rx_gids(rx, 6, cw_ipv6_src(ip), cw_ipv6_dst(ip));
	return cw_ipv6_next_header(ip) == CW_IPPROTO_UDP ? CW_SIZE_IPV6 : CW_E_UNKNOWN;
}

int cw_ipoib_roce_parse(const uint8_t *ip, size_t len, struct cw_ipoib_tx *rx, const uint8_t **data,
			size_t *data_len)
{
	const uint8_t *udp;
	size_t end;
	int head, err;

	memset(rx, 0, sizeof(*rx));
	if ((head = parse_ip(ip, len, rx, &end)) < 0)
		return head;
	if (end > len || end < (size_t)head + TRANSPORT + CW_ICRC_LEN)
		return CW_E_LENGTH;
	udp = ip + head;
	if (cw_udp_dport(udp) != CW_ROCE_PORT)
		return CW_E_UNKNOWN;
	if (cw_udp_length(udp) != end - (size_t)head)
		return CW_E_LENGTH;
	if ((err = cw_icrc_check(ip, end, &cw_icrc_rocev2, CW_ICRC_LE)) < 0)
		return err;
	rx->grh = true;
	return get_transport(udp + CW_SIZE_UDP, end - (size_t)head - CW_SIZE_UDP - CW_ICRC_LEN, rx,
			     data, data_len);
}

int cw_ipoib_mgid_of(uint8_t mgid[16], const uint8_t *data, size_t len, uint16_t pkey,
		     unsigned scope)
{
	static const uint8_t all[4] = {255, 255, 255, 255};
	const uint8_t *ip = data + CW_SIZE_IPOIB, *dst;

	if (len < CW_SIZE_IPOIB)
		return CW_E_SHORT;
	switch (cw_ipoib_type(data)) {
	case CW_ETHERTYPE_ARP:
	case CW_IPOIB_RARP:
		cw_ipoib_mgid4(mgid, all, pkey, scope);
		return CW_OK;
	case CW_ETHERTYPE_IP4:
		if (len < CW_SIZE_IPOIB + CW_SIZE_IPV4)
			return CW_E_SHORT;
		/* A subnet's broadcast address can't be told: it goes to the broadcast group. */
		dst = cw_ipv4_dst(ip);
		cw_ipoib_mgid4(mgid, dst[0] >> 4 == 14 ? dst : all, pkey, scope);
		return CW_OK;
	case CW_ETHERTYPE_IP6:
		if (len < CW_SIZE_IPOIB + CW_SIZE_IPV6)
			return CW_E_SHORT;
		dst = cw_ipv6_dst(ip);
		cw_ipoib_mgid6(mgid, dst, pkey, scope);
		return dst[0] == 0xff ? CW_OK : CW_E_ARG;
	}
	return CW_E_UNKNOWN;
}
