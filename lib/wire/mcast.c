/* mcast.c - IGMP and MLD. See causeway/wire/mcast.h. */
#include <string.h>
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mcast.h"

enum { ROUTER_ALERT4 = 0x94, ROUTER_ALERT6 = 5 };
enum {
	IGMP_QUERY = 0x11,
	IGMP_V1_REPORT = 0x12,
	IGMP_V2_REPORT = 0x16,
	IGMP_V2_LEAVE = 0x17,
	IGMP_V3_REPORT = 0x22,
	MLD_QUERY = 130,
	MLD_V1_REPORT = 131,
	MLD_V1_DONE = 132,
	MLD_V2_REPORT = 143
};
/* Records of reports (RFC 3376 4.2.12); EXCLUDE and ALLOW want something whatever the sources. */
enum { IS_INCLUDE = 1, TO_INCLUDE = 3, BLOCK = 6 };

struct reader {
	bool v6;
	cw_mc_fn *fn;
	void *ctx;
};

/* Records of IGMPv3 or MLDv2: type, length of auxiliary data in words, sources, group. */
static int records(const struct reader *r, const uint8_t *p, size_t len, unsigned n)
{
	size_t addr = r->v6 ? 16 : 4, size;
	unsigned sources;

	for (; n > 0; n--, p += size, len -= size) {
		if (len < 4 + addr)
			return CW_E_SHORT;
		sources = cw_be16(p + 2);
		size = 4 + addr + sources * addr + (size_t)4 * p[1];
		if (len < size)
			return CW_E_SHORT;
		if ((p[0] == IS_INCLUDE || p[0] == TO_INCLUDE) && sources == 0)
			r->fn(r->ctx, CW_MC_LEAVE, r->v6, p + 4);
		else if (p[0] != BLOCK)
			r->fn(r->ctx, CW_MC_JOIN, r->v6, p + 4);
	}
	return CW_OK;
}

static int igmp(const struct reader *r, const uint8_t *p, size_t len)
{
	if (len < 8)
		return CW_E_SHORT;
	if (cw_inet_fold(cw_inet_sum(0, p, len)) != 0)
		return CW_E_CHECKSUM;
	switch (p[0]) {
	case IGMP_QUERY:
		r->fn(r->ctx, CW_MC_QUERY, false, p + 4);
		return CW_OK;
	case IGMP_V1_REPORT:
	case IGMP_V2_REPORT:
		r->fn(r->ctx, CW_MC_JOIN, false, p + 4);
		return CW_OK;
	case IGMP_V2_LEAVE:
		r->fn(r->ctx, CW_MC_LEAVE, false, p + 4);
		return CW_OK;
	case IGMP_V3_REPORT:
		return records(r, p + 8, len - 8, cw_be16(p + 6));
	}
	return CW_E_UNKNOWN;
}

static int mld(const struct reader *r, const uint8_t *ip, const uint8_t *p, size_t len)
{
	bool short_one = p[0] == MLD_QUERY || p[0] == MLD_V1_REPORT || p[0] == MLD_V1_DONE;

	if (!short_one && p[0] != MLD_V2_REPORT)
		return CW_E_UNKNOWN;
	if (len < (short_one ? 24u : 8u))
		return CW_E_SHORT;
	if (cw_icmp6_checksum(p) != cw_icmp6_compute(ip, p, len))
		return CW_E_CHECKSUM;
	if (!short_one)
		return records(r, p + 8, len - 8, cw_be16(p + 6));
	r->fn(r->ctx,
	      p[0] == MLD_QUERY       ? CW_MC_QUERY
	      : p[0] == MLD_V1_REPORT ? CW_MC_JOIN
				      : CW_MC_LEAVE,
	      true, p + 8);
	return CW_OK;
}

int cw_mc_parse(const uint8_t *ip, size_t len, cw_mc_fn *fn, void *ctx)
{
	struct reader r = {ip[0] >> 4 == 6, fn, ctx};
	size_t head = (size_t)4 * cw_ipv4_ihl(ip);

	if (!r.v6)
		return cw_ipv4_proto(ip) == CW_IPPROTO_IGMP && cw_ipv4_frag_off(ip) == 0 &&
				       !cw_ipv4_mf(ip)
			       ? igmp(&r, ip + head, len - head)
			       : CW_E_UNKNOWN;
	/* MLD has a hop-by-hop header with the router alert in front (RFC 3810 5). */
	if (cw_ipv6_next_header(ip) != CW_IPPROTO_HOPOPT || len < CW_SIZE_IPV6 + 8)
		return CW_E_UNKNOWN;
	head = CW_SIZE_IPV6 + 8 + (size_t)8 * ip[CW_SIZE_IPV6 + 1];
	if (ip[CW_SIZE_IPV6] != CW_IPPROTO_ICMP6)
		return CW_E_UNKNOWN;
	if (len < head + 8)
		return CW_E_SHORT;
	return mld(&r, ip, ip + head, len - head);
}

static size_t query4(uint8_t *out, const uint8_t *src, unsigned interval_s)
{
	static const uint8_t all_hosts[4] = {224, 0, 0, 1};
	uint8_t *igmp_at = out + 24;

	cw_ipv4_set_version(out, 4);
	cw_ipv4_set_ihl(out, 6);
	cw_ipv4_set_dscp(out, 48);
	cw_ipv4_set_length(out, CW_MC_QUERY4);
	cw_ipv4_set_ttl(out, 1);
	cw_ipv4_set_proto(out, CW_IPPROTO_IGMP);
	cw_ipv4_set_src(out, src);
	cw_ipv4_set_dst(out, all_hosts);
	out[20] = ROUTER_ALERT4;
	out[21] = 4;
	cw_ipv4_set_checksum(out, cw_ipv4_compute(out));
	igmp_at[0] = IGMP_QUERY;
	igmp_at[1] = 100; /* tenths of a second */
	igmp_at[8] = 2;   /* robustness */
	igmp_at[9] = (uint8_t)(interval_s < 128 ? interval_s : 127);
	cw_put_be16(igmp_at + 2, cw_inet_fold(cw_inet_sum(0, igmp_at, 12)));
	return CW_MC_QUERY4;
}

static size_t query6(uint8_t *out, const uint8_t *src, unsigned interval_s)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	uint8_t *hop = out + CW_SIZE_IPV6, *mld_at = hop + 8;

	cw_ipv6_set_version(out, 6);
	cw_ipv6_set_length(out, CW_MC_QUERY6 - CW_SIZE_IPV6);
	cw_ipv6_set_next_header(out, CW_IPPROTO_HOPOPT);
	cw_ipv6_set_hop_limit(out, 1);
	cw_ipv6_set_src(out, src);
	cw_ipv6_set_dst(out, all_nodes);
	hop[0] = CW_IPPROTO_ICMP6;
	hop[2] = ROUTER_ALERT6;
	hop[3] = 2;
	hop[6] = 1; /* PadN */
	mld_at[0] = MLD_QUERY;
	cw_put_be16(mld_at + 4, 10000); /* milliseconds */
	mld_at[24] = 2;
	mld_at[25] = (uint8_t)(interval_s < 128 ? interval_s : 127);
	cw_icmp6_set_checksum(mld_at, cw_icmp6_compute(out, mld_at, 28));
	return CW_MC_QUERY6;
}

size_t cw_mc_query(uint8_t out[CW_MC_QUERY6], bool v6, const uint8_t *src, unsigned interval_s)
{
	memset(out, 0, CW_MC_QUERY6);
	return v6 ? query6(out, src, interval_s) : query4(out, src, interval_s);
}
