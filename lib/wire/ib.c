/* ib.c - InfiniBand link packets. Spec and deviations: wire/ib.h. */
#include <string.h>
#include "causeway/craft.h"
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/roce.h"
#include "lib/wire/families.h"
#include "lib/wire/icrc_int.h"
#include "lib/wire/roce_int.h"

const struct cw_name cw_names_lrh_lnh[] = {
	{0, "raw"}, {1, "raw IPv6"}, {CW_IB_LNH_LOCAL, "BTH"}, {CW_IB_LNH_GLOBAL, "GRH"}, {0, NULL},
};
const struct cw_name cw_names_erf_type[] = {
	{2, "Ethernet"},
	{CW_ERF_TYPE_IB, "InfiniBand"},
	{25, "InfiniBand link"},
	{0, NULL},
};

/* ---- CRCs --------------------------------------------------------------------------------- */

enum { HEAD_MAX = CW_SIZE_LRH + CW_SIZE_GRH + CW_SIZE_BTH };

/* From `head` octets on, with the BTH `bth` octets behind: all else is unmasked. */
static int icrc_of(uint32_t crc, const uint8_t *p, size_t len, size_t grh, size_t bth,
		   uint32_t *out)
{
	uint8_t head[HEAD_MAX];
	size_t n = bth + CW_SIZE_BTH;

	if (len < n)
		return CW_E_SHORT;
	memcpy(head, p, n);
	if (grh < bth)
		icrc_mask_ip6(head + grh);
	if (grh > 0)
		head[0] |= 0xf0;
	head[bth + 4] = 0xff;
	*out = cw_crc32(cw_crc32(crc, head, n), p + n, len - n);
	return CW_OK;
}

int cw_ib_icrc(const uint8_t *lrh, size_t len, uint32_t *out)
{
	if (len < CW_SIZE_LRH)
		return CW_E_SHORT;
	switch (cw_lrh_lnh(lrh)) {
	case CW_IB_LNH_LOCAL:
		return icrc_of(0, lrh, len, CW_SIZE_LRH, CW_SIZE_LRH, out);
	case CW_IB_LNH_GLOBAL:
		return icrc_of(0, lrh, len, CW_SIZE_LRH, CW_SIZE_LRH + CW_SIZE_GRH, out);
	default:
		return CW_E_RESERVED;
	}
}

/* ICRC of RoCEv1 (annex A16): GRH .. pad, eight octets of ones in place of the LRH. */
static int icrc_grh(const uint8_t *grh, size_t len, uint32_t *out)
{
	return icrc_of(ICRC_OF_PREFIX, grh, len, 0, CW_SIZE_GRH, out);
}

uint16_t cw_ib_vcrc(const void *lrh, size_t len)
{
	return cw_crc16(0, lrh, len);
}

static void put_vcrc(uint8_t *at, uint16_t v)
{
	at[0] = (uint8_t)v;
	at[1] = (uint8_t)(v >> 8);
}

int cw_ib_seal(uint8_t *lrh, size_t len)
{
	uint32_t v;
	int err;

	if (len < CW_ICRC_LEN + CW_IB_VCRC_LEN)
		return CW_E_SHORT;
	len -= CW_ICRC_LEN + CW_IB_VCRC_LEN;
	if ((err = cw_ib_icrc(lrh, len, &v)) < 0)
		return err;
	cw_put_le32(lrh + len, v);
	put_vcrc(lrh + len + CW_ICRC_LEN, cw_ib_vcrc(lrh, len + CW_ICRC_LEN));
	return CW_OK;
}

int cw_ib_check(const uint8_t *lrh, size_t len)
{
	const uint8_t *icrc;
	uint32_t v;
	int err;

	if (len < CW_ICRC_LEN + CW_IB_VCRC_LEN)
		return CW_E_SHORT;
	len -= CW_ICRC_LEN + CW_IB_VCRC_LEN;
	if ((err = cw_ib_icrc(lrh, len, &v)) < 0)
		return err;
	icrc = lrh + len;
	if (v != cw_le32(icrc))
		return CW_E_ICRC;
	v = cw_ib_vcrc(lrh, len + CW_ICRC_LEN);
	return v == (icrc[4] | (uint32_t)icrc[5] << 8) ? CW_OK : CW_E_CHECKSUM;
}

/* ---- Craft -------------------------------------------------------------------------------- */

static void fix_lrh(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	bool global = layer + 1 < c->nlayers && c->layers[layer + 1].hdr == &cw_hdr_grh;

	if (!cw_craft_given(c, layer, "lnh"))
		cw_lrh_set_lnh(p, global ? CW_IB_LNH_GLOBAL : CW_IB_LNH_LOCAL);
	if (!cw_craft_given(c, layer, "length"))
		cw_lrh_set_length(p, (c->end - c->layers[layer].off) / 4);
}

static void fix_grh(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "length"))
		cw_grh_set_length(cw_craft_data(c, layer),
				  c->end - c->layers[layer].off - CW_SIZE_GRH);
}

static void fix_erf(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	uint32_t vcrc = layer + 1 < c->nlayers ? CW_IB_VCRC_LEN : 0;

	if (!cw_craft_given(c, layer, "rlen"))
		cw_erf_set_rlen(p, c->end - c->layers[layer].off + vcrc);
	if (!cw_craft_given(c, layer, "wlen"))
		cw_erf_set_wlen(p, c->end - c->layers[layer].off - c->layers[layer].len + vcrc);
}

CW_HDR_DEFINE(lrh, "Local route header", CW_SIZE_LRH, CW_TABLE_LRH, "IBTA 7.7", fix_lrh)
CW_HDR_DEFINE(grh, "Global route header", CW_SIZE_GRH, CW_TABLE_GRH, "IBTA 8.3", fix_grh)
CW_HDR_DEFINE(erf, "ERF record", CW_SIZE_ERF, CW_TABLE_ERF, "ERF 3", fix_erf)

static int find(const struct cw_craft *c, const struct cw_hdr *h)
{
	unsigned i;

	for (i = 0; i < c->nlayers; i++) {
		if (c->layers[i].hdr == h)
			return (int)i;
	}
	return -1;
}

static bool ib_sealed(const struct cw_craft *c)
{
	return find(c, &cw_hdr_bth) >= 0;
}

static uint32_t ib_seal(const struct cw_craft *c)
{
	int lrh = find(c, &cw_hdr_lrh), grh = find(c, &cw_hdr_grh), first = lrh >= 0 ? lrh : grh;
	uint32_t off, v = 0;

	if (first < 0)
		return 0;
	off = c->layers[first].off;
	/* A wrong LNH that was asked for has no ICRC by the rules: zero. */
	if (lrh >= 0)
		(void)cw_ib_icrc(c->data + off, c->end - CW_ICRC_LEN - off, &v);
	else
		(void)icrc_grh(c->data + off, c->end - CW_ICRC_LEN - off, &v);
	return v;
}

static unsigned ib_trailer(const struct cw_craft *c, uint8_t out[CW_CRAFT_TRAILER_MAX])
{
	int lrh = find(c, &cw_hdr_lrh);

	if (lrh < 0)
		return 0;
	put_vcrc(out, cw_ib_vcrc(c->data + c->layers[lrh].off, c->end - c->layers[lrh].off));
	return CW_IB_VCRC_LEN;
}

/* ---- Dissect ------------------------------------------------------------------------------ */

static int check_crcs(struct cw_dissector *d, const uint8_t *start, bool lrh)
{
	struct cw_icrc *i = &d->pkt->icrc;
	const uint8_t *at = d->rd.end - CW_ICRC_LEN;
	size_t len = (size_t)(at - start);
	int err;

	i->off = (uint32_t)(at - d->pkt->data);
	i->wire = cw_le32(at);
	i->status = CW_ICRC_UNCHECKED;
	if (d->opts.no_icrc)
		return CW_OK;
	err = lrh ? cw_ib_icrc(start, len, &i->computed) : icrc_grh(start, len, &i->computed);
	if (err < 0)
		return CW_OK;
	i->status = i->wire == i->computed ? CW_ICRC_OK : CW_ICRC_BAD;
	if (i->status == CW_ICRC_BAD)
		return CW_E_ICRC;
	if (lrh && cw_ib_vcrc(start, len + CW_ICRC_LEN) != (at[4] | (uint32_t)at[5] << 8))
		return CW_E_CHECKSUM;
	return CW_OK;
}

static int dissect_grh(struct cw_dissector *d)
{
	const uint8_t *grh;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_grh, CW_SIZE_GRH, &grh)) < 0)
		return err;
	if (cw_grh_version(grh) != 6)
		return CW_E_VERSION;
	if (cw_grh_next(grh) != CW_IB_GRH_NEXT)
		return CW_E_RESERVED;
	return CW_OK;
}

/* What stands between the route headers and the end of the ICRC. */
static int dissect_transport(struct cw_dissector *d, const uint8_t *start, bool lrh)
{
	int err, crcs;

	if (cw_rd_left(&d->rd) < CW_SIZE_BTH + CW_ICRC_LEN)
		return CW_E_SHORT;
	crcs = check_crcs(d, start, lrh);
	err = cw_roce_dissect_headers(d);
	return crcs < 0 ? crcs : err;
}

static int dissect_lrh(struct cw_dissector *d)
{
	const uint8_t *lrh;
	size_t len;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_lrh, CW_SIZE_LRH, &lrh)) < 0)
		return err;
	if (cw_lrh_lver(lrh) != 0)
		return CW_E_VERSION;
	len = 4 * (size_t)cw_lrh_length(lrh);
	if (len < CW_SIZE_LRH || cw_rd_left(&d->rd) < len - CW_SIZE_LRH + CW_IB_VCRC_LEN)
		return CW_E_LENGTH;
	if (cw_lrh_lnh(lrh) < CW_IB_LNH_LOCAL)
		return CW_OK;
	if ((err = cw_dissect_limit(d, len - CW_SIZE_LRH)) < 0)
		return err;
	if (cw_lrh_lnh(lrh) == CW_IB_LNH_GLOBAL) {
		if ((err = dissect_grh(d)) < 0)
			return err;
		if (cw_grh_length(d->rd.p - CW_SIZE_GRH) != cw_rd_left(&d->rd))
			return CW_E_LENGTH;
	}
	return dissect_transport(d, lrh, true);
}

static int dissect_ib(struct cw_dissector *d)
{
	const uint8_t *grh = d->rd.p, *eth;
	int err;

	/* Behind Ethernet, which of the two it is stands in the EtherType. */
	eth = d->pkt->nlayers > 0 ? d->rd.p - 2 : NULL;
	if (eth == NULL || cw_be16(eth) != CW_ETHERTYPE_ROCEV1)
		return dissect_lrh(d);
	if ((err = dissect_grh(d)) < 0 || (err = cw_dissect_limit(d, cw_grh_length(grh))) < 0)
		return err;
	return dissect_transport(d, grh, false);
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_lrh, &cw_hdr_grh, NULL};
static const struct cw_claim claims[] = {
	{CW_SEL_ETHERTYPE, CW_ETHERTYPE_IB},
	{CW_SEL_ETHERTYPE, CW_ETHERTYPE_ROCEV1},
	{CW_SEL_LINK, CW_LINK_IB},
};
const struct cw_family cw_family_ib = {
	.name = "ib",
	.title = "InfiniBand link, RoCEv1",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 3,
	.dissect = dissect_ib,
	.pad = cw_roce_pad,
	.sealed = ib_sealed,
	.seal = ib_seal,
	.trailer = ib_trailer,
	.icrc_le = true,
	.covers = true,
};

static int dissect_erf(struct cw_dissector *d)
{
	size_t len = CW_SIZE_ERF;
	const uint8_t *at = d->rd.p;
	bool more;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_ERF)
		return CW_E_SHORT;
	for (more = cw_erf_more(at); more; len += 8) {
		if (cw_rd_left(&d->rd) < len + 8)
			return CW_E_SHORT;
		more = at[len] >> 7;
	}
	if (cw_erf_rlen(at) < len)
		return CW_E_LENGTH;
	if ((err = cw_dissect_push(d, &cw_hdr_erf, len, NULL)) < 0 ||
	    (err = cw_dissect_limit(d, cw_erf_rlen(at) - len)) < 0)
		return err;
	if (cw_erf_type(at) != CW_ERF_TYPE_IB)
		return CW_OK;
	d->pkt->family = cw_family_ib.name;
	return dissect_lrh(d);
}

static const struct cw_hdr *const erf_hdrs[] = {&cw_hdr_erf, NULL};
static const struct cw_claim erf_claims[] = {{CW_SEL_LINK, CW_LINK_ERF}};
const struct cw_family cw_family_erf = {
	.name = "erf",
	.title = "ERF records",
	.hdrs = erf_hdrs,
	.claims = erf_claims,
	.nclaims = 1,
	.dissect = dissect_erf,
};
