/* icmp.c - ICMP and ICMPv6 echo, neighbour discovery. Spec and deviations: wire/icmp.h. */
#include <string.h>
#include "causeway/craft.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ipoib.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_icmp_type[] = {{CW_ICMP_ECHO_REPLY, "echo reply"},
					     {3, "unreachable"},
					     {CW_ICMP_ECHO_REQUEST, "echo request"},
					     {11, "time exceeded"},
					     {0, NULL}};
const struct cw_name cw_names_icmp6_type[] = {{1, "unreachable"},
					      {2, "packet too big"},
					      {3, "time exceeded"},
					      {CW_ICMP6_ECHO_REQUEST, "echo request"},
					      {CW_ICMP6_ECHO_REPLY, "echo reply"},
					      {133, "router solicitation"},
					      {134, "router advertisement"},
					      {CW_ICMP6_NS, "neighbour solicitation"},
					      {CW_ICMP6_NA, "neighbour advertisement"},
					      {0, NULL}};
const struct cw_name cw_names_nd_opt[] = {
	{CW_ND_OPT_SOURCE, "source"}, {CW_ND_OPT_TARGET, "target"}, {0, NULL}};

uint16_t cw_icmp6_compute(const uint8_t *ip, const uint8_t *icmp6, size_t len)
{
	uint32_t sum = CW_IPPROTO_ICMP6 + (uint32_t)(len & 0xffff) + (uint32_t)(len >> 16);

	sum = cw_inet_sum(sum, ip + 8, 32);
	sum = cw_inet_sum(sum, icmp6, len < 2 ? len : 2);
	return cw_inet_fold(len > 4 ? cw_inet_sum(sum, icmp6 + 4, len - 4) : sum);
}

static void fix_icmp(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	uint32_t sum;

	if (cw_craft_given(c, layer, "checksum"))
		return;
	sum = cw_inet_sum(0, p, 2);
	cw_icmp_set_checksum(p, cw_inet_fold(cw_inet_sum(sum, p + 4, cw_craft_span(c, layer) - 4)));
}

static void fix_icmp6(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (cw_craft_given(c, layer, "checksum") || layer == 0 ||
	    c->layers[layer - 1].hdr != &cw_hdr_ipv6)
		return;
	cw_icmp6_set_checksum(
		p, cw_icmp6_compute(cw_craft_data(c, layer - 1), p, cw_craft_span(c, layer)));
}

CW_HDR_DEFINE(icmp, "ICMP", CW_SIZE_ICMP, CW_TABLE_ICMP, "RFC 792", fix_icmp)
CW_HDR_DEFINE(icmp6, "ICMPv6", CW_SIZE_ICMP6, CW_TABLE_ICMP6, "RFC 4443 2.1", fix_icmp6)
CW_HDR_DEFINE(nd, "Neighbour discovery", CW_SIZE_ND, CW_TABLE_ND, "RFC 4861 4.3", NULL)
CW_HDR_DEFINE(nd_lla, "Link-layer address option", CW_SIZE_ND_LLA, CW_TABLE_ND_LLA,
	      "RFC 4861 4.6.1", NULL)

/* Header of the link-layer address option that comes next: its length tells the kind of link. */
static const struct cw_hdr *lla_option(const struct cw_dissector *d)
{
	size_t left = cw_rd_left(&d->rd);

	if (left < CW_SIZE_ND_LLA || (cw_nd_lla_type(d->rd.p) != CW_ND_OPT_SOURCE &&
				      cw_nd_lla_type(d->rd.p) != CW_ND_OPT_TARGET))
		return NULL;
	if (cw_nd_lla_length(d->rd.p) == 1)
		return &cw_hdr_nd_lla;
	return cw_nd_lla_length(d->rd.p) == 3 && left >= CW_SIZE_IPOIB_ND ? &cw_hdr_ipoib_nd : NULL;
}

static int dissect_nd(struct cw_dissector *d)
{
	const struct cw_hdr *hdr;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_nd, CW_SIZE_ND, NULL)) < 0)
		return err;
	while (d->pkt->nlayers < CW_MAX_LAYERS && (hdr = lla_option(d)) != NULL) {
		if ((err = cw_dissect_push(d, hdr, hdr->size, NULL)) < 0)
			return err;
	}
	return CW_OK;
}

/* IPv6 or IPv4 in front decides which of the two this is. */
static int dissect_icmp(struct cw_dissector *d)
{
	int v6 = cw_packet_find(d->pkt, &cw_hdr_ipv6, 0);
	size_t len = cw_rd_left(&d->rd);
	const uint8_t *at;
	int err;

	if (v6 < 0) {
		if ((err = cw_dissect_push(d, &cw_hdr_icmp, CW_SIZE_ICMP, &at)) < 0)
			return err;
		return cw_inet_fold(cw_inet_sum(0, at, len)) == 0 ? CW_OK : CW_E_CHECKSUM;
	}
	if ((err = cw_dissect_push(d, &cw_hdr_icmp6, CW_SIZE_ICMP6, &at)) < 0)
		return err;
	if (cw_icmp6_checksum(at) != cw_icmp6_compute(cw_layer_data(d->pkt, (unsigned)v6), at, len))
		return CW_E_CHECKSUM;
	if (cw_icmp6_type(at) == CW_ICMP6_NS || cw_icmp6_type(at) == CW_ICMP6_NA)
		return dissect_nd(d);
	return CW_OK;
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_icmp, &cw_hdr_icmp6, &cw_hdr_nd, &cw_hdr_nd_lla,
					    NULL};
static const struct cw_claim claims[] = {
	{CW_SEL_IPPROTO, CW_IPPROTO_ICMP},
	{CW_SEL_IPPROTO, CW_IPPROTO_ICMP6},
};
const struct cw_family cw_family_icmp = {
	.name = "icmp",
	.title = "ICMP and neighbour discovery",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.dissect = dissect_icmp,
};

/* ---- Messages of the gateway itself ------------------------------------------------------- */

static bool is_zero16(const uint8_t *a)
{
	static const uint8_t zero[16];

	return memcmp(a, zero, 16) == 0;
}

/* The link-layer address option of `type`; CW_E_FORBIDDEN on an option of length 0 or too long. */
static int find_lla(const uint8_t *opt, size_t left, uint32_t type, const uint8_t **mac)
{
	size_t len;

	for (*mac = NULL; left > 0; opt += len, left -= len) {
		if (left < CW_SIZE_ND_LLA || (len = 8 * (size_t)cw_nd_lla_length(opt)) == 0 ||
		    len > left)
			return CW_E_FORBIDDEN;
		if (cw_nd_lla_type(opt) == type && len == CW_SIZE_ND_LLA)
			*mac = cw_nd_lla_mac(opt);
	}
	return CW_OK;
}

int cw_nd_parse(const uint8_t *ip, size_t len, struct cw_nd *out)
{
	const uint8_t *icmp6 = ip + CW_SIZE_IPV6, *nd = icmp6 + CW_SIZE_ICMP6;
	size_t body;
	int err;

	if (len < CW_SIZE_IPV6 + CW_SIZE_ICMP6 || cw_ipv6_version(ip) != 6 ||
	    cw_ipv6_next_header(ip) != CW_IPPROTO_ICMP6)
		return CW_E_UNKNOWN;
	out->type = cw_icmp6_type(icmp6);
	if (out->type != CW_ICMP6_NS && out->type != CW_ICMP6_NA)
		return CW_E_UNKNOWN;
	body = cw_ipv6_length(ip);
	if (body < CW_SIZE_ICMP6 + CW_SIZE_ND || body > len - CW_SIZE_IPV6)
		return CW_E_LENGTH;
	if (cw_icmp6_checksum(icmp6) != cw_icmp6_compute(ip, icmp6, body))
		return CW_E_CHECKSUM;
	if (cw_ipv6_hop_limit(ip) != 255 || cw_icmp6_code(icmp6) != 0 ||
	    cw_nd_target(nd)[0] == 0xff)
		return CW_E_FORBIDDEN;
	out->src = cw_ipv6_src(ip);
	out->target = cw_nd_target(nd);
	out->solicited = cw_nd_solicited(nd) != 0;
	out->override = cw_nd_override(nd) != 0;
	err = find_lla(nd + CW_SIZE_ND, body - CW_SIZE_ICMP6 - CW_SIZE_ND,
		       out->type == CW_ICMP6_NS ? CW_ND_OPT_SOURCE : CW_ND_OPT_TARGET, &out->mac);
	if (err < 0)
		return err;
	if (out->type == CW_ICMP6_NA)
		return out->solicited && cw_ipv6_dst(ip)[0] == 0xff ? CW_E_FORBIDDEN : CW_OK;
	/* Duplicate address detection: no address to tell, and to the solicited-node group only. */
	return is_zero16(out->src) && (out->mac != NULL || cw_ipv6_dst(ip)[0] != 0xff)
		       ? CW_E_FORBIDDEN
		       : CW_OK;
}

void cw_nd_build(uint8_t out[CW_ND_MESSAGE], uint32_t type, const uint8_t src[16],
		 const uint8_t dst[16], const uint8_t target[16], const uint8_t mac[6])
{
	uint8_t *icmp6 = out + CW_SIZE_IPV6, *nd = icmp6 + CW_SIZE_ICMP6, *opt = nd + CW_SIZE_ND;
	bool na = type == CW_ICMP6_NA;

	memset(out, 0, CW_ND_MESSAGE);
	cw_ipv6_set_version(out, 6);
	cw_ipv6_set_length(out, CW_ND_MESSAGE - CW_SIZE_IPV6);
	cw_ipv6_set_next_header(out, CW_IPPROTO_ICMP6);
	cw_ipv6_set_hop_limit(out, 255);
	cw_ipv6_set_src(out, src);
	cw_ipv6_set_dst(out, dst);
	cw_icmp6_set_type(icmp6, type);
	cw_nd_set_router(nd, na);
	cw_nd_set_override(nd, na);
	cw_nd_set_solicited(nd, na && dst[0] != 0xff);
	cw_nd_set_target(nd, target);
	cw_nd_lla_set_type(opt, na ? CW_ND_OPT_TARGET : CW_ND_OPT_SOURCE);
	cw_nd_lla_set_length(opt, 1);
	cw_nd_lla_set_mac(opt, mac);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(out, icmp6, CW_ND_MESSAGE - CW_SIZE_IPV6));
}

void cw_nd_solicited_node(uint8_t group[16], const uint8_t addr[16])
{
	static const uint8_t prefix[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

	memcpy(group, prefix, sizeof(prefix));
	memcpy(group + 13, addr + 13, 3);
}

void cw_nd_group_mac(uint8_t mac[6], const uint8_t group[16])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

void cw_nd_link_local(uint8_t addr[16], const uint8_t mac[6])
{
	memset(addr, 0, 16);
	addr[0] = 0xfe;
	addr[1] = 0x80;
	memcpy(addr + 8, mac, 3);
	addr[8] ^= 2;
	addr[11] = 0xff;
	addr[12] = 0xfe;
	memcpy(addr + 13, mac + 3, 3);
}

static void swap_octets(uint8_t *a, uint8_t *b, size_t n)
{
	uint8_t t;

	for (; n > 0; n--, a++, b++) {
		t = *a;
		*a = *b;
		*b = t;
	}
}

static int echo_reply4(uint8_t *ip, size_t len)
{
	size_t hlen, total;
	uint8_t *icmp;

	if (len < CW_SIZE_IPV4 || cw_ipv4_proto(ip) != CW_IPPROTO_ICMP)
		return CW_E_UNKNOWN;
	hlen = 4 * (size_t)cw_ipv4_ihl(ip);
	total = cw_ipv4_length(ip);
	if (hlen < CW_SIZE_IPV4 || total < hlen + CW_SIZE_ICMP || total > len)
		return CW_E_LENGTH;
	if (cw_ipv4_mf(ip) || cw_ipv4_frag_off(ip) != 0)
		return CW_E_FRAGMENT;
	icmp = ip + hlen;
	if (cw_icmp_type(icmp) != CW_ICMP_ECHO_REQUEST || cw_icmp_code(icmp) != 0)
		return CW_E_UNKNOWN;
	if (cw_inet_fold(cw_inet_sum(0, ip, hlen)) != 0 ||
	    cw_inet_fold(cw_inet_sum(0, icmp, total - hlen)) != 0)
		return CW_E_CHECKSUM;
	swap_octets(ip + 12, ip + 16, 4);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_icmp_set_type(icmp, CW_ICMP_ECHO_REPLY);
	cw_icmp_set_checksum(icmp, cw_inet_update((uint16_t)cw_icmp_checksum(icmp),
						  CW_ICMP_ECHO_REQUEST << 8, 0));
	return CW_OK;
}

static int echo_reply6(uint8_t *ip, size_t len)
{
	uint8_t *icmp6 = ip + CW_SIZE_IPV6;
	size_t body;

	if (len < CW_SIZE_IPV6 + CW_SIZE_ICMP6 || cw_ipv6_next_header(ip) != CW_IPPROTO_ICMP6)
		return CW_E_UNKNOWN;
	body = cw_ipv6_length(ip);
	if (body < CW_SIZE_ICMP6 + 4 || body > len - CW_SIZE_IPV6)
		return CW_E_LENGTH;
	if (cw_icmp6_type(icmp6) != CW_ICMP6_ECHO_REQUEST || cw_icmp6_code(icmp6) != 0)
		return CW_E_UNKNOWN;
	if (cw_icmp6_checksum(icmp6) != cw_icmp6_compute(ip, icmp6, body))
		return CW_E_CHECKSUM;
	swap_octets(ip + 8, ip + 24, 16);
	cw_ipv6_set_hop_limit(ip, 64);
	cw_icmp6_set_type(icmp6, CW_ICMP6_ECHO_REPLY);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(ip, icmp6, body));
	return CW_OK;
}

int cw_icmp_echo_reply(uint8_t *ip, size_t len)
{
	if (len < 1)
		return CW_E_SHORT;
	return ip[0] >> 4 == 4   ? echo_reply4(ip, len)
	       : ip[0] >> 4 == 6 ? echo_reply6(ip, len)
				 : CW_E_VERSION;
}
