/* traffic_check.c - the checks of one packet (see traffic_check.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "cli/traffic_check.h"

static const struct {
	const char *name, *text;
} checks[] = {
#define CW_X(id, name, text) {name, text},
	TRAFFIC_CHECKS(CW_X)
#undef CW_X
};

const char *traffic_check_name(unsigned check)
{
	return check < TRAFFIC_CHECK_COUNT ? checks[check].name : "unknown";
}

const char *traffic_check_text(unsigned check)
{
	return check < TRAFFIC_CHECK_COUNT ? checks[check].text : "unknown";
}

/* ---- Rules -------------------------------------------------------------------------------- */

void traffic_expect_init(struct traffic_expect *e)
{
	unsigned i;

	*e = (struct traffic_expect){
		.gateways = TRAFFIC_ANY,
		.light_to_ce = true,
		.ect = CW_ECN_ECT0,
		.ce_to_fecn = CW_FECN_SEVERE,
		.untagged_npi = CW_NPI_DEFAULT,
		.rt = CW_RT_FLOW_SHORTEST,
		.dport = CW_UB_PORT,
	};
	for (i = 0; i < 64; i++)
		e->dscp[i] = (uint8_t)i;
}

/* Call `one` with each item of a list. */
static int each(struct traffic_expect *e, const char *text,
		int (*one)(struct traffic_expect *e, const char *item))
{
	char item[TRAFFIC_ITEM_MAX];
	int err;

	while ((err = traffic_item(&text, item)) > 0) {
		if ((err = one(e, item)) < 0)
			return err;
	}
	return err;
}

static int one_cc(struct traffic_expect *e, const char *item)
{
	if (strcmp(item, "strict") == 0)
		e->strict = true;
	else if (strcmp(item, "identity") == 0)
		e->raw = true;
	else if (strcmp(item, "light=ect") == 0)
		e->light_to_ce = false;
	else if (strcmp(item, "ect=1") == 0)
		e->ect = 1;
	else if (strcmp(item, "ce=light") == 0)
		e->ce_to_fecn = CW_FECN_LIGHT;
	else if (strcmp(item, "rtt=fecn") == 0)
		e->rtt_as_fecn = true;
	else if (strcmp(item, "draft") != 0 && strcmp(item, "light=ce") != 0 &&
		 strcmp(item, "ect=0") != 0 && strcmp(item, "ce=severe") != 0)
		return CW_E_NAME;
	return CW_OK;
}

int traffic_expect_cc(struct traffic_expect *e, const char *text)
{
	return each(e, text, one_cc);
}

int traffic_expect_marking(struct traffic_expect *e, const char *text)
{
	unsigned mask, value;
	int end = 0;

	if (strcmp(text, "no") == 0)
		e->marking = TRAFFIC_MARK_NO;
	else if (strcmp(text, "maybe") == 0)
		e->marking = TRAFFIC_MARK_MAYBE;
	else if (sscanf(text, "sport:%i/%i%n", (int *)&mask, (int *)&value, &end) == 2 &&
		 text[end] == '\0' && mask <= 0xffff && value <= 0xffff) {
		e->marking = TRAFFIC_MARK_SPORT;
		e->mark_mask = (uint16_t)mask;
		e->mark_value = (uint16_t)value;
	} else {
		return CW_E_SYNTAX;
	}
	return CW_OK;
}

static int partition_value(const char *text, uint32_t *out)
{
	return strcmp(text, "untagged") == 0 ? traffic_value_vid(text, out)
					     : traffic_value_npi(text, out);
}

static int one_partition(struct traffic_expect *e, const char *item)
{
	const char *equals = strchr(item, '=');
	char from[64];
	int err;

	if (strcmp(item, "low12") == 0)
		return CW_OK;
	if (strcmp(item, "same") == 0) {
		e->keep_partition = true;
		return CW_OK;
	}
	if (equals == NULL)
		return CW_E_SYNTAX;
	if (e->nmap == TRAFFIC_MAP_MAX)
		return CW_E_SPACE;
	snprintf(from, sizeof(from), "%.*s", (int)(equals - item), item);
	if ((err = partition_value(from, &e->map_from[e->nmap])) < 0 ||
	    (err = partition_value(equals + 1, &e->map_to[e->nmap])) < 0)
		return err;
	e->nmap++;
	return CW_OK;
}

int traffic_expect_partition(struct traffic_expect *e, const char *text)
{
	return each(e, text, one_partition);
}

static int one_dscp(struct traffic_expect *e, const char *item)
{
	unsigned from, to;
	int end = 0;

	if (sscanf(item, "%u=%u%n", &from, &to, &end) != 2 || item[end] != '\0')
		return CW_E_SYNTAX;
	if (from > 63 || to > 63)
		return CW_E_RANGE;
	e->dscp[from] = (uint8_t)to;
	return CW_OK;
}

int traffic_expect_dscp(struct traffic_expect *e, const char *text)
{
	return each(e, text, one_dscp);
}

/* ---- The parts of a received packet -------------------------------------------------------- */

struct got {
	const struct traffic_expect *e;
	struct traffic_verdict *v;
	const struct traffic_desc *d;
	struct cw_packet p;
	const uint8_t *lph, *cci, *npi, *vlan, *ip, *udp, *tph, *desc;
	uint32_t ip_off, udp_off, ip_len;
	int gateways;
};

static void wrong(struct got *g, enum traffic_check check, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void wrong(struct got *g, enum traffic_check check, const char *fmt, ...)
{
	va_list ap;

	if (g->v->wrong == 0) {
		va_start(ap, fmt);
		vsnprintf(g->v->reason, sizeof(g->v->reason), fmt, ap);
		va_end(ap);
		g->v->first = check;
	}
	g->v->wrong |= 1u << check;
}

static const uint8_t *layer(const struct got *g, const struct cw_hdr *hdr, uint32_t *off)
{
	int i = cw_packet_find(&g->p, hdr, 0);

	if (i < 0)
		return NULL;
	if (off != NULL)
		*off = g->p.layers[i].off;
	return cw_layer_data(&g->p, (unsigned)i);
}

/* The innermost VLAN tag. */
static const uint8_t *last_tag(const struct got *g)
{
	const uint8_t *tag = NULL;
	int i;

	for (i = cw_packet_find(&g->p, &cw_hdr_vlan, 0); i >= 0;
	     i = cw_packet_find(&g->p, &cw_hdr_vlan, (unsigned)i + 1))
		tag = cw_layer_data(&g->p, (unsigned)i);
	return tag;
}

static void locate(struct got *g)
{
	g->lph = layer(g, &cw_hdr_lph, NULL);
	if ((g->ip = layer(g, &cw_hdr_ipv4, &g->ip_off)) == NULL)
		g->ip = layer(g, &cw_hdr_ipv6, &g->ip_off);
	if (g->lph != NULL) {
		g->cci = g->lph + CW_SIZE_LPH;
		g->npi = g->cci + CW_SIZE_CCI;
	}
	g->vlan = last_tag(g);
	g->udp = layer(g, &cw_hdr_udp, &g->udp_off);
	g->v->side = g->lph != NULL ? TRAFFIC_UB : TRAFFIC_UBOE;
}

/* gen's longest headers between TPH and description are 8 + 16 + 24 octets. */
#define DESC_SEARCH 64

/* The description, wherever the transaction headers end. */
static bool find_desc(struct got *g)
{
	uint32_t start = g->udp_off + CW_SIZE_UDP, at;

	if (g->udp == NULL)
		return false;
	for (at = start; at <= start + DESC_SEARCH + CW_SIZE_RTPH && at + TRAFFIC_SIZE <= g->p.len;
	     at += 4) {
		if (cw_be32(g->p.data + at) != TRAFFIC_MAGIC ||
		    !traffic_desc_get(&g->v->desc, g->p.data + at, g->p.len - at))
			continue;
		g->tph = g->p.data + start;
		g->desc = g->p.data + at;
		return true;
	}
	return false;
}

/* Is this meant to be UB or UBoE? By the outermost announcement, so that damage further in does
 * not make a packet foreign. */
static bool is_ub(const struct got *g, enum cw_link link)
{
	unsigned i;

	if (link == CW_LINK_UB || g->lph != NULL)
		return true;
	for (i = 0; i < g->p.nlayers; i++) {
		if (g->p.layers[i].hdr == &cw_hdr_eth &&
		    cw_eth_type(cw_layer_data(&g->p, i)) == CW_ETHERTYPE_UB)
			return true;
	}
	return g->udp != NULL && cw_udp_dport(g->udp) == g->e->dport;
}

/* ---- Checks ------------------------------------------------------------------------------- */

static uint8_t to_ecn(const struct traffic_expect *e, uint8_t mode, uint8_t fecn)
{
	if (mode != CW_CCI_MODE_FECN && !(mode == CW_CCI_MODE_FECN_RTT && e->rtt_as_fecn))
		return 0;
	if (e->strict || e->raw)
		return fecn;
	switch (fecn) {
	case CW_FECN_LIGHT:
		return e->light_to_ce ? 3 : e->ect;
	case CW_FECN_NONE:
		return e->ect;
	default:
		return fecn;
	}
}

static uint8_t to_fecn(const struct traffic_expect *e, uint8_t ecn)
{
	if (e->strict || e->raw)
		return ecn;
	switch (ecn) {
	case 0:
		return CW_FECN_UNMARKABLE;
	case 3:
		return e->ce_to_fecn;
	default:
		return CW_FECN_NONE;
	}
}

/* Code points, as a set of bits, that ECN `ecn` can have behind the routers. */
static unsigned routers(const struct got *g, uint8_t ecn)
{
	const struct traffic_expect *e = g->e;
	unsigned kept = 1u << ecn, marked = ecn == 1 || ecn == 2 ? 1u << 3 : kept;

	switch (e->marking) {
	case TRAFFIC_MARK_MAYBE:
		return kept | marked;
	case TRAFFIC_MARK_SPORT:
		return (g->d->sport & e->mark_mask) == e->mark_value ? marked : kept;
	default:
		return kept;
	}
}

/* The set of code points that may arrive. */
static unsigned allowed_cc(const struct got *g)
{
	const struct traffic_desc *d = g->d;
	unsigned set, out = 0;
	uint8_t i;

	if (d->side == TRAFFIC_UB && g->gateways == 0)
		return 1u << d->cc;
	set = routers(g, d->side == TRAFFIC_UB ? to_ecn(g->e, d->cci_mode, d->cc) : d->cc);
	if (g->v->side == TRAFFIC_UBOE && d->side == TRAFFIC_UB)
		return set;
	if (g->v->side == TRAFFIC_UBOE && g->gateways == 0)
		return set;
	for (i = 0; i < 4; i++) {
		if (set >> i & 1)
			out |= 1u << to_fecn(g->e, i);
	}
	if (g->v->side == TRAFFIC_UB)
		return out;
	for (set = 0, i = 0; i < 4; i++) { /* Ethernet - UB - Ethernet */
		if (out >> i & 1)
			set |= routers(g, to_ecn(g->e, CW_CCI_MODE_FECN, i));
	}
	return set;
}

static void check_cc(struct got *g)
{
	static const char *const bits[] = {"00", "01", "10", "11"};
	const struct traffic_desc *d = g->d;
	uint8_t mode = CW_CCI_MODE_FECN, loc = 0;

	if (g->v->side == TRAFFIC_UB) {
		g->v->cc = (uint8_t)cw_cci_fecn_fecn(g->cci);
		if (g->gateways == 0 && d->side == TRAFFIC_UB) {
			mode = d->cci_mode;
			loc = d->loc;
		}
		if (cw_cci_fecn_mode(g->cci) != mode || cw_cci_fecn_loc(g->cci) != loc ||
		    cw_cci_fecn_reserved(g->cci) != 0)
			wrong(g, TRAFFIC_CHECK_CC, "CCI is 0x%04x, mode %u with LoC %u expected",
			      cw_be16(g->cci), mode, loc);
	} else {
		g->v->cc = (uint8_t)(d->v6 ? cw_ipv6_ecn(g->ip) : cw_ipv4_ecn(g->ip));
	}
	if ((allowed_cc(g) >> g->v->cc & 1) == 0)
		wrong(g, TRAFFIC_CHECK_CC, "%s is %s, sent as %s %s",
		      g->v->side == TRAFFIC_UB ? "FECN" : "ECN", bits[g->v->cc],
		      d->side == TRAFFIC_UB ? "FECN" : "ECN", bits[d->cc]);
}

static uint32_t expected_partition(const struct got *g)
{
	const struct traffic_desc *d = g->d;
	uint32_t sent = d->side == TRAFFIC_UBOE && !d->tagged ? TRAFFIC_UNTAGGED : d->part;
	unsigned i;

	for (i = 0; i < g->e->nmap; i++) {
		if (g->e->map_from[i] == sent)
			return g->e->map_to[i];
	}
	if (g->gateways == 0 || g->e->keep_partition)
		return sent;
	if (d->side == TRAFFIC_UBOE && !d->tagged)
		return g->e->untagged_npi;
	return sent & 0xfff;
}

static void check_partition(struct got *g)
{
	uint32_t want = expected_partition(g), is;

	if (g->v->side == TRAFFIC_UB) {
		is = cw_npi_permission(g->npi) << 24 | cw_npi_id(g->npi);
		if (is != want || cw_npi_reserved(g->npi) != 0)
			wrong(g, TRAFFIC_CHECK_PARTITION, "NPI is 0x%08x, 0x%08x expected",
			      cw_be32(g->npi), want);
		return;
	}
	is = g->vlan != NULL ? cw_vlan_vid(g->vlan) : TRAFFIC_UNTAGGED;
	if (is != want)
		wrong(g, TRAFFIC_CHECK_PARTITION, "VLAN is %u, %u expected (%u is untagged)", is,
		      want, TRAFFIC_UNTAGGED);
	want = g->gateways > 0 ? (uint32_t)g->e->pcp : g->d->pcp;
	if (g->vlan != NULL && want != (uint32_t)TRAFFIC_ANY && cw_vlan_pcp(g->vlan) != want)
		wrong(g, TRAFFIC_CHECK_PCP, "PCP is %u, %u expected", cw_vlan_pcp(g->vlan), want);
}

static void check_lph(struct got *g)
{
	const uint8_t *lph = g->lph;
	int rt = g->gateways > 0 ? g->e->rt : g->d->rt, vl = g->gateways > 0 ? g->e->vl : g->d->vl;
	uint32_t octets = 0, sent = CW_UB_PREFIX - CW_SIZE_LPH + (uint32_t)g->d->ip_len;

	if (cw_lph_crd(lph) || cw_lph_ack(lph) || cw_lph_crd_vl(lph) || cw_lph_reserved1(lph) ||
	    cw_lph_reserved2(lph) || cw_lph_cfg(lph) != (g->d->v6 ? CW_UB_CFG_IP6 : CW_UB_CFG_IP4))
		wrong(g, TRAFFIC_CHECK_LPH, "LPH is 0x%08x: CFG %u, or a bit that must be 0",
		      cw_be32(lph), cw_lph_cfg(lph));
	if (rt != TRAFFIC_ANY && cw_lph_rt(lph) != (uint32_t)rt)
		wrong(g, TRAFFIC_CHECK_LPH, "RT is %u, %d expected", cw_lph_rt(lph), rt);
	if (vl != TRAFFIC_ANY && cw_lph_vl(lph) != (uint32_t)vl)
		wrong(g, TRAFFIC_CHECK_LPH, "VL is %u, %d expected", cw_lph_vl(lph), vl);
	if (cw_plength_decode(CW_PLENGTH_CRC, cw_lph_plength(lph), &octets) < 0 || octets != sent)
		wrong(g, TRAFFIC_CHECK_LENGTH, "PLENGTH 0x%04x is %u octets, %u expected",
		      cw_lph_plength(lph), octets, sent);
}

static void check_ip(struct got *g)
{
	const struct traffic_desc *d = g->d;
	bool v6 = d->v6;
	uint32_t ttl = v6 ? cw_ipv6_hop_limit(g->ip) : cw_ipv4_ttl(g->ip);
	uint32_t dscp = v6 ? cw_ipv6_dscp(g->ip) : cw_ipv4_dscp(g->ip);
	uint32_t label = v6 ? cw_ipv6_flow_label(g->ip) : 0;
	uint32_t sent_dscp = g->gateways > 0 ? g->e->dscp[d->dscp] : d->dscp;

	if (traffic_addr_crc(g->ip) != d->addr_crc)
		wrong(g, TRAFFIC_CHECK_ADDRESS, "an IP address is not the one sent");
	if (g->ip_len != d->ip_len)
		wrong(g, TRAFFIC_CHECK_LENGTH, "IP packet has %u octets, %u were sent", g->ip_len,
		      d->ip_len);
	if (g->e->hops != TRAFFIC_ANY && (int)ttl != (int)d->ttl - g->e->hops)
		wrong(g, TRAFFIC_CHECK_TTL, "TTL is %u, %d expected", ttl, d->ttl - g->e->hops);
	if (dscp != sent_dscp)
		wrong(g, TRAFFIC_CHECK_DSCP, "DSCP is %u, %u expected", dscp, sent_dscp);
	if (!v6 && (!cw_ipv4_df(g->ip) || cw_ipv4_reserved(g->ip)))
		wrong(g, TRAFFIC_CHECK_IP_HEADER, "IPv4 flags are not DF alone");
	if (v6 && label != traffic_flow_label(d->run, d->flow))
		wrong(g, TRAFFIC_CHECK_IP_HEADER, "flow label is 0x%05x, 0x%05x was sent", label,
		      traffic_flow_label(d->run, d->flow));
}

static void check_udp(struct got *g)
{
	if (cw_udp_sport(g->udp) != g->d->sport || cw_udp_dport(g->udp) != g->e->dport)
		wrong(g, TRAFFIC_CHECK_PORT, "ports are %u to %u, %u to %u expected",
		      cw_udp_sport(g->udp), cw_udp_dport(g->udp), g->d->sport, g->e->dport);
	if (g->gateways > 0 && cw_udp_checksum(g->udp) != 0)
		wrong(g, TRAFFIC_CHECK_UDP_CHECKSUM, "UDP checksum is 0x%04x, 0 expected",
		      cw_udp_checksum(g->udp));
}

/* TPH to ICRC, which nobody may change. */
static void check_body(struct got *g)
{
	const uint8_t *end = g->ip + g->ip_len, *data = g->desc + TRAFFIC_SIZE, *pad, *p;
	uint32_t head = cw_crc32(0, g->tph, (size_t)(g->desc - g->tph));
	size_t at, len;

	if (head != g->d->head_crc)
		wrong(g, TRAFFIC_CHECK_HEADERS, "CRC of TPH and TAH is 0x%08x, 0x%08x was sent",
		      head, g->d->head_crc);
	if (end > g->p.data + g->p.len || end < data + CW_ICRC_LEN) {
		wrong(g, TRAFFIC_CHECK_PAYLOAD, "the packet ends in front of its payload's end");
		return;
	}
	end -= CW_ICRC_LEN;
	pad = end - cw_rtph_padding(g->tph);
	if (pad < data)
		pad = data;
	len = (size_t)(pad - data);
	if ((at = traffic_differs(data, len, g->d->seed)) < len)
		wrong(g, TRAFFIC_CHECK_PAYLOAD, "payload differs from octet %zu on",
		      at + TRAFFIC_SIZE);
	for (p = pad; p < end; p++) {
		if (*p != 0)
			wrong(g, TRAFFIC_CHECK_PAYLOAD, "a pad octet is not zero");
	}
	if (cw_icrc_check(g->ip, g->ip_len, &cw_icrc_ub, g->e->icrc_order) < 0)
		wrong(g, TRAFFIC_CHECK_ICRC, "ICRC is 0x%08x, and that is wrong",
		      cw_icrc_get(end, g->e->icrc_order));
}

static void check_all(struct got *g)
{
	struct traffic_verdict *v = g->v;

	g->d = &v->desc;
	g->gateways = g->e->gateways;
	if (g->gateways == TRAFFIC_ANY)
		g->gateways = v->side != v->desc.side;
	if ((g->ip[0] >> 4 == 6) != v->desc.v6) {
		wrong(g, TRAFFIC_CHECK_ADDRESS, "IP version changed");
		return;
	}
	g->ip_len = v->desc.v6 ? CW_SIZE_IPV6 + cw_ipv6_length(g->ip) : cw_ipv4_length(g->ip);
	check_body(g);
	check_ip(g);
	check_udp(g);
	check_cc(g);
	check_partition(g);
	if (v->side == TRAFFIC_UB)
		check_lph(g);
}

void traffic_check(const struct traffic_expect *e, enum cw_link link, const uint8_t *data,
		   size_t len, struct traffic_verdict *v)
{
	const struct cw_dissect_opts opts = {.no_icrc = true, .ub_port = e->dport};
	struct got g = {.e = e, .v = v};

	memset(v, 0, offsetof(struct traffic_verdict, reason) + 1);
	v->error = cw_dissect(&g.p, link, data, len, &opts);
	locate(&g);
	if (!is_ub(&g, link)) {
		v->kind = TRAFFIC_FOREIGN;
		return;
	}
	if (v->error < 0)
		wrong(&g, TRAFFIC_CHECK_DECODE, "%s, at octet %u", cw_strerror(v->error),
		      g.p.verdict_off);
	if (g.ip == NULL || !find_desc(&g)) {
		v->kind = TRAFFIC_DAMAGED;
		wrong(&g, TRAFFIC_CHECK_DESCRIPTION, "no whole description of gen in it");
		return;
	}
	v->kind = TRAFFIC_READABLE;
	check_all(&g);
}
