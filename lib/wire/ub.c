/* ub.c - UB link and network headers. Spec and deviations: wire/ub.h. */
#include <string.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "lib/wire/families.h"
#include "lib/wire/ub_int.h"

const struct cw_name cw_names_ub_cfg[] = {
	{CW_UB_CFG_LINK, "link-control"},
	{CW_UB_CFG_IP4, "IPv4"},
	{CW_UB_CFG_IP6, "IPv6"},
	{CW_UB_CFG_NETCTL, "network-control"},
	{CW_UB_CFG_CNA16, "CNA16"},
	{CW_UB_CFG_CNA24, "CNA24"},
	{CW_UB_CFG_CNA16_MEM, "CNA16-memory"},
	{0, NULL},
};

const struct cw_name cw_names_ub_rt[] = {
	{CW_RT_FLOW, "per-flow"},
	{CW_RT_PACKET, "per-packet"},
	{CW_RT_FLOW_SHORTEST, "per-flow-shortest"},
	{CW_RT_PACKET_SHORTEST, "per-packet-shortest"},
	{0, NULL},
};

const struct cw_name cw_names_cci_mode[] = {
	{CW_CCI_MODE_CAQM, "CAQM"},
	{CW_CCI_MODE_FECN_RTT, "FECN_RTT"},
	{CW_CCI_MODE_FECN, "FECN"},
	{0, NULL},
};

const struct cw_name cw_names_ub_fecn[] = {
	{CW_FECN_UNMARKABLE, "unmarkable"},
	{CW_FECN_LIGHT, "light"},
	{CW_FECN_NONE, "markable"},
	{CW_FECN_SEVERE, "severe"},
	{0, NULL},
};

const struct cw_name cw_names_ub_perm[] = {{0, "high"}, {1, "low"}, {0, NULL}};
const struct cw_name cw_names_cna16_nlp[] = {{0, "CTPH-or-TAH"}, {1, "UPIH16"}, {0, NULL}};
const struct cw_name cw_names_cna24_nlp[] = {{0, "CTPH"}, {2, "RTPH"}, {0, NULL}};

const struct cw_name cw_names_netctl_proto[] = {
	{0x0100, "DHCPv4"}, {0x0101, "DHCPv6"}, {0x0102, "IP-notify"},
	{0x0104, "ULAP"},   {0x0106, "NPIC"},   {0, NULL},
};

/* ---- Craft -------------------------------------------------------------------------------- */

int cw_ub_craft_find(const struct cw_craft *c, const struct cw_hdr *hdr, unsigned from)
{
	unsigned i;

	for (i = from; i < c->nlayers; i++) {
		if (c->layers[i].hdr == hdr)
			return (int)i;
	}
	return -1;
}

const struct cw_hdr *cw_ub_craft_next(const struct cw_craft *c, unsigned layer)
{
	return layer + 1 < c->nlayers ? c->layers[layer + 1].hdr : NULL;
}

/* CFG by the layers behind the LPH. */
static uint32_t cfg_of(const struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *next = cw_ub_craft_next(c, layer);

	if (next == &cw_hdr_netctl)
		return CW_UB_CFG_NETCTL;
	if (next == &cw_hdr_cna24)
		return CW_UB_CFG_CNA24;
	if (next == &cw_hdr_cna16) {
		next = cw_ub_craft_next(c, layer + 1);
		return next == &cw_hdr_btah_compact || next == &cw_hdr_atah_compact
			       ? CW_UB_CFG_CNA16_MEM
			       : CW_UB_CFG_CNA16;
	}
	return cw_ub_craft_find(c, &cw_hdr_ipv6, layer) >= 0 ? CW_UB_CFG_IP6 : CW_UB_CFG_IP4;
}

static void fix_lph(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	uint16_t plen;

	if (!cw_craft_given(c, layer, "cfg"))
		cw_lph_set_cfg(p, cfg_of(c, layer));
	if (cw_plength_encode(CW_PLENGTH_CRC, cw_craft_span(c, layer) - CW_SIZE_LPH, &plen) < 0)
		return;
	if (!cw_craft_given(c, layer, "plen_blocks"))
		cw_lph_set_plen_blocks(p, plen >> 10);
	if (!cw_craft_given(c, layer, "plen_flits"))
		cw_lph_set_plen_flits(p, plen >> 5 & 31);
	if (!cw_craft_given(c, layer, "plen_tail"))
		cw_lph_set_plen_tail(p, plen & 31);
}

static void fix_cna16(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "nlp"))
		cw_cna16_set_nlp(cw_craft_data(c, layer),
				 cw_ub_craft_next(c, layer) == &cw_hdr_upih16);
}

static void fix_cna24(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "nlp"))
		cw_cna24_set_nlp(cw_craft_data(c, layer),
				 cw_ub_craft_next(c, layer) == &cw_hdr_rtph ? 2 : 0);
}

static void fix_lch(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "clength"))
		cw_lch_set_clength(cw_craft_data(c, layer), (cw_craft_span(c, layer) - 1) / 20);
}

CW_HDR_DEFINE(lph, "UB link packet header", CW_SIZE_LPH, CW_TABLE_LPH, "UB 2.0 4.3.2", fix_lph)
CW_HDR_DEFINE(cci, "UB congestion control indicator, reserved mode", CW_SIZE_CCI, CW_TABLE_CCI,
	      "UB 2.0 5.3.5.1", NULL)
CW_HDR_DEFINE(cci_caqm, "UB congestion control indicator, CAQM", CW_SIZE_CCI, CW_TABLE_CCI_CAQM,
	      "UB 2.0 5.3.5.1", NULL)
CW_HDR_DEFINE(cci_fecn_rtt, "UB congestion control indicator, FECN_RTT", CW_SIZE_CCI,
	      CW_TABLE_CCI_FECN_RTT, "UB 2.0 5.3.5.1", NULL)
CW_HDR_DEFINE(cci_fecn, "UB congestion control indicator, FECN", CW_SIZE_CCI, CW_TABLE_CCI_FECN,
	      "UB 2.0 5.3.5.1", NULL)
CW_HDR_DEFINE(npi, "UB network partition identifier", CW_SIZE_NPI, CW_TABLE_NPI, "UB 2.0 5.2.3",
	      NULL)
CW_HDR_DEFINE(cna16, "UB network header, CNA16", CW_SIZE_CNA16, CW_TABLE_CNA16, "UB 2.0 5.2.1",
	      fix_cna16)
CW_HDR_DEFINE(cna24, "UB network header, CNA24", CW_SIZE_CNA24, CW_TABLE_CNA24, "UB 2.0 5.2.2",
	      fix_cna24)
CW_HDR_DEFINE(netctl, "UB network control", CW_SIZE_NETCTL, CW_TABLE_NETCTL, "UB 2.0 B.2.6", NULL)
CW_HDR_DEFINE(lch, "UB link control header", CW_SIZE_LCH, CW_TABLE_LCH, "UB 2.0 4.3.2", fix_lch)

/* ---- Dissect ------------------------------------------------------------------------------ */

static const struct cw_hdr *cci_of_mode(uint32_t mode)
{
	switch (mode) {
	case CW_CCI_MODE_CAQM:
		return &cw_hdr_cci_caqm;
	case CW_CCI_MODE_FECN_RTT:
		return &cw_hdr_cci_fecn_rtt;
	case CW_CCI_MODE_FECN:
		return &cw_hdr_cci_fecn;
	default:
		return &cw_hdr_cci;
	}
}

/* Octets behind the LPH by its PLENGTH. The codes 28..30 exist on links without block CRC only;
 * the others mean the same in both modes as long as the packet has one block. */
static int plength_octets(const uint8_t *lph, uint32_t *octets)
{
	uint16_t plen = cw_lph_plength(lph);
	uint32_t tail = plen & 31;

	return cw_plength_decode(tail >= 28 && tail <= 30 ? CW_PLENGTH_PLAIN : CW_PLENGTH_CRC, plen,
				 octets);
}

/* Does PLENGTH agree with the packet, whose end the IP length has told? Plain IP packets may have
 * four octets of ICRC behind the IP packet (not stated by UB 2.0, so tolerated). */
static int agree(const struct cw_dissector *d, const uint8_t *lph)
{
	const uint8_t *body = lph + CW_SIZE_LPH;
	uint32_t want, have = (uint32_t)(d->pkt->data + d->pkt->trailer_off - body);
	bool ub = d->pkt->icrc.status != CW_ICRC_ABSENT;

	if (plength_octets(lph, &want) < 0)
		return CW_E_LENGTH;
	return want == have || (!ub && want == have + CW_ICRC_LEN) ? CW_OK : CW_E_LENGTH;
}

static int dissect_ip_format(struct cw_dissector *d, const uint8_t *lph, uint32_t cfg)
{
	const uint8_t *at = d->rd.p;
	uint32_t version = cfg == CW_UB_CFG_IP4 ? 4 : 6;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_CCI + CW_SIZE_NPI)
		return CW_E_SHORT;
	if ((err = cw_dissect_push(d, cci_of_mode(at[0] >> 5), CW_SIZE_CCI, NULL)) < 0 ||
	    (err = cw_dissect_push(d, &cw_hdr_npi, CW_SIZE_NPI, NULL)) < 0)
		return err;
	if (cw_rd_left(&d->rd) > 0 && d->rd.p[0] >> 4 != version)
		return CW_E_VERSION;
	err = cw_dissect_next(d, CW_SEL_ETHERTYPE,
			      version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	return err < 0 ? err : agree(d, lph);
}

static int dissect_cna(struct cw_dissector *d, uint32_t cfg)
{
	const struct cw_hdr *h = cfg == CW_UB_CFG_CNA24 ? &cw_hdr_cna24 : &cw_hdr_cna16;
	const uint8_t *at = d->rd.p;
	bool icrc = cfg != CW_UB_CFG_CNA16_MEM;
	uint32_t nlp;
	int err;

	if (cw_rd_left(&d->rd) < h->size + (icrc ? CW_ICRC_LEN : 0u))
		return CW_E_SHORT;
	if (icrc)
		cw_ub_check_icrc(d, at, h->size);
	if ((err = cw_dissect_push(d, h, h->size, NULL)) < 0)
		return err;
	if (icrc)
		d->rd.end -= CW_ICRC_LEN;
	nlp = at[h->size - 1] & 7;
	if (nlp == 0 && !icrc)
		err = cw_ub_dissect_ta(d, true);
	else if (nlp == 0)
		err = cw_ub_dissect_tp(d, &cw_hdr_ctph, false);
	else if (nlp == 2 && cfg == CW_UB_CFG_CNA24)
		err = cw_ub_dissect_tp(d, &cw_hdr_rtph, false);
	else if (nlp == 1 && cfg == CW_UB_CFG_CNA16)
		err = cw_dissect_push(d, &cw_hdr_upih16, CW_SIZE_UPIH16, NULL);
	else
		err = CW_E_RESERVED;
	return cw_ub_verdict(d, err);
}

static int dissect_lch(struct cw_dissector *d)
{
	const uint8_t *at;
	size_t octets;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_lch, CW_SIZE_LCH, &at)) < 0)
		return err;
	if (cw_lch_zero(at) != 0 || cw_lch_fixed(at) != 0x20)
		return CW_E_RESERVED;
	octets = 20 * (size_t)cw_lch_clength(at) + 20 - CW_SIZE_LCH;
	return cw_dissect_limit(d, octets);
}

/* A packet that no IP length ends: PLENGTH does. */
static int dissect_by_plength(struct cw_dissector *d, const uint8_t *lph, uint32_t cfg)
{
	uint32_t octets;
	int err;

	if (plength_octets(lph, &octets) < 0)
		return CW_E_LENGTH;
	if ((err = cw_dissect_limit(d, octets)) < 0)
		return err;
	if (cfg == CW_UB_CFG_NETCTL)
		return cw_dissect_push(d, &cw_hdr_netctl, CW_SIZE_NETCTL, NULL);
	return dissect_cna(d, cfg);
}

static int dissect_ub(struct cw_dissector *d)
{
	const uint8_t *lph = d->rd.p;
	uint32_t cfg;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_LPH)
		return CW_E_SHORT;
	cfg = cw_lph_cfg(lph);
	if (cfg == CW_UB_CFG_LINK)
		return dissect_lch(d);
	if ((err = cw_dissect_push(d, &cw_hdr_lph, CW_SIZE_LPH, NULL)) < 0)
		return err;
	switch (cfg) {
	case CW_UB_CFG_IP4:
	case CW_UB_CFG_IP6:
		return dissect_ip_format(d, lph, cfg);
	case CW_UB_CFG_NETCTL:
	case CW_UB_CFG_CNA16:
	case CW_UB_CFG_CNA24:
	case CW_UB_CFG_CNA16_MEM:
		return dissect_by_plength(d, lph, cfg);
	default:
		return CW_E_RESERVED;
	}
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_lph, &cw_hdr_cci,   &cw_hdr_cci_caqm, &cw_hdr_cci_fecn_rtt, &cw_hdr_cci_fecn,
	&cw_hdr_npi, &cw_hdr_cna16, &cw_hdr_cna24,    &cw_hdr_netctl,       &cw_hdr_lch,
	NULL,
};
static const struct cw_claim claims[] = {
	{CW_SEL_LINK, CW_LINK_UB},
	{CW_SEL_ETHERTYPE, CW_ETHERTYPE_UB},
};
const struct cw_family cw_family_ub = {
	.name = "ub",
	.title = "UB link and network",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.dissect = dissect_ub,
	.pad = cw_ub_pad,
	.sealed = cw_ub_sealed,
	.seal = cw_ub_seal,
};
