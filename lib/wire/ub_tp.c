/* ub_tp.c - UB transport headers, and UBoE: UDP on UB's port. Spec and deviations: wire/ub.h. */
#include "causeway/wire/ip.h"
#include "lib/wire/families.h"
#include "lib/wire/ub_int.h"

const struct cw_name cw_names_tp_op[] = {
	{CW_TP_UTP, "UTP"},     {CW_TP_RTP, "RTP"},
	{CW_TP_ACK, "TPACK"},   {CW_TP_ACK_CC, "TPACK-CC"},
	{CW_TP_SACK, "TPSACK"}, {CW_TP_SACK_CC, "TPSACK-CC"},
	{CW_TP_CNP, "CNP"},     {0, NULL},
};

const struct cw_name cw_names_tp_nlp[] = {
	{CW_NLP_TAH, "TAH"},
	{CW_NLP_UPI32, "UPIH+EIDH"},
	{CW_NLP_CIPH, "CIPH"},
	{0, NULL},
};

const struct cw_name cw_names_ctp_nlp[] = {
	{CW_NLP_TAH, "TAH"},
	{CW_NLP_UPI32, "UPIH+EIDH"},
	{CW_NLP_UPI16, "UPIH16+EIDH40"},
	{CW_NLP_CIPH, "CIPH"},
	{0, NULL},
};

const struct cw_name cw_names_tp_rspst[] = {
	{CW_RSPST_OK, "success"},
	{CW_RSPST_RNR, "RNR"},
	{CW_RSPST_PAGE_FAULT, "page-fault"},
	{CW_RSPST_ERROR, "completer-error"},
	{CW_RSPST_TA, "TA-response"},
	{0, NULL},
};

const struct cw_name cw_names_cnp_ecn[] = {{0, "none"}, {1, "minor"}, {3, "severe"}, {0, NULL}};

const struct cw_name cw_names_sack_size[] = {
	{0, "64-bits"},  {1, "128-bits"},  {2, "256-bits"},
	{3, "512-bits"}, {4, "1024-bits"}, {0, NULL},
};

/* ---- ICRC --------------------------------------------------------------------------------- */

void cw_ub_check_icrc(struct cw_dissector *d, const uint8_t *start, size_t nth_len)
{
	struct cw_icrc *i = &d->pkt->icrc;
	const uint8_t *at = d->rd.end - CW_ICRC_LEN;
	int err;

	i->off = (uint32_t)(at - d->pkt->data);
	i->wire = cw_icrc_get(at, d->opts.icrc_order);
	i->status = CW_ICRC_UNCHECKED;
	if (d->opts.no_icrc)
		return;
	if (nth_len > 0)
		err = cw_icrc_compute_cna(start, (size_t)(at - start), nth_len, &i->computed);
	else
		err = cw_icrc_compute(start, (size_t)(at - start), &cw_icrc_ub, &i->computed);
	if (err == CW_OK)
		i->status = i->wire == i->computed ? CW_ICRC_OK : CW_ICRC_BAD;
}

int cw_ub_verdict(const struct cw_dissector *d, int err)
{
	return d->pkt->icrc.status == CW_ICRC_BAD ? CW_E_ICRC : err;
}

/* ---- Craft -------------------------------------------------------------------------------- */

static bool is_tph(const struct cw_hdr *h)
{
	return h == &cw_hdr_rtph || h == &cw_hdr_utph || h == &cw_hdr_ctph;
}

static int find_tph(const struct cw_craft *c)
{
	unsigned i;

	for (i = c->nlayers; i-- > 0;) {
		if (is_tph(c->layers[i].hdr))
			return (int)i;
	}
	return -1;
}

/* The field lies at the same place in all but the CTPH. */
static uint32_t padding_of(const struct cw_hdr *h, const uint8_t *p)
{
	return h == &cw_hdr_ctph ? cw_ctph_padding(p) : cw_rtph_padding(p);
}

unsigned cw_ub_pad(const struct cw_craft *c)
{
	int tph = find_tph(c);
	const struct cw_layer *l;

	if (tph < 0)
		return 0;
	l = &c->layers[tph];
	if (cw_craft_given(c, (unsigned)tph, "padding"))
		return padding_of(l->hdr, c->data + l->off);
	return (4 - (c->len - l->off) % 4) % 4;
}

/* Layer where the ICRC's coverage begins, or -1 for packets without one. */
static int icrc_start(const struct cw_craft *c)
{
	int at = cw_ub_craft_find(c, &cw_hdr_cna24, 0),
	    cna16 = cw_ub_craft_find(c, &cw_hdr_cna16, 0);
	int tph = find_tph(c), i;

	if (at >= 0)
		return at;
	if (cna16 >= 0) {
		const struct cw_hdr *next = cw_ub_craft_next(c, (unsigned)cna16);

		return next == &cw_hdr_btah_compact || next == &cw_hdr_atah_compact ? -1 : cna16;
	}
	for (i = tph; i-- > 0;) {
		if (c->layers[i].hdr == &cw_hdr_ipv4 || c->layers[i].hdr == &cw_hdr_ipv6)
			return i;
	}
	return -1;
}

bool cw_ub_sealed(const struct cw_craft *c)
{
	return icrc_start(c) >= 0;
}

uint32_t cw_ub_seal(const struct cw_craft *c)
{
	const struct cw_layer *l = &c->layers[icrc_start(c)];
	const uint8_t *start = c->data + l->off;
	size_t len = c->end - CW_ICRC_LEN - l->off;
	uint32_t v = 0;

	/* A header that has no ICRC by the rules (IPv6 extensions) is left with zero. */
	if (l->hdr == &cw_hdr_cna16 || l->hdr == &cw_hdr_cna24)
		(void)cw_icrc_compute_cna(start, len, l->hdr->size, &v);
	else
		(void)cw_icrc_compute(start, len, &cw_icrc_ub, &v);
	return v;
}

static uint32_t nlp_of_next(const struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *next = cw_ub_craft_next(c, layer);

	if (next == &cw_hdr_upih)
		return CW_NLP_UPI32;
	if (next == &cw_hdr_upih16)
		return CW_NLP_UPI16;
	return next == &cw_hdr_ciph ? CW_NLP_CIPH : CW_NLP_TAH;
}

static uint32_t tp_opcode_of(const struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *next = cw_ub_craft_next(c, layer);

	if (next == &cw_hdr_cetph_cnp)
		return CW_TP_CNP;
	if (next == &cw_hdr_saetph)
		return CW_TP_SACK;
	if (next == &cw_hdr_cetph_ldcp || next == &cw_hdr_cetph_caqm)
		return cw_ub_craft_next(c, layer + 1) == &cw_hdr_saetph ? CW_TP_SACK_CC
									: CW_TP_ACK_CC;
	return next == NULL && c->payload_len == 0 ? CW_TP_ACK : CW_TP_RTP;
}

static void fix_rtph(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "opcode"))
		cw_rtph_set_opcode(p, tp_opcode_of(c, layer));
	if (!cw_craft_given(c, layer, "last"))
		cw_rtph_set_last(p, cw_rtph_opcode(p) == CW_TP_RTP);
	if (!cw_craft_given(c, layer, "padding"))
		cw_rtph_set_padding(p, c->pad_len);
	if (!cw_craft_given(c, layer, "nlp"))
		cw_rtph_set_nlp(p, nlp_of_next(c, layer));
}

static void fix_utph(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "padding"))
		cw_utph_set_padding(p, c->pad_len);
	if (!cw_craft_given(c, layer, "nlp"))
		cw_utph_set_nlp(p, nlp_of_next(c, layer));
}

static void fix_ctph(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "padding"))
		cw_ctph_set_padding(p, c->pad_len);
	if (!cw_craft_given(c, layer, "nlp"))
		cw_ctph_set_nlp(p, nlp_of_next(c, layer));
}

static void fix_saetph(struct cw_craft *c, unsigned layer)
{
	uint32_t n = c->layers[layer].len - CW_SIZE_SAETPH, size = 0;

	while (size < 4 && cw_saetph_octets(size) < n)
		size++;
	if (!cw_craft_given(c, layer, "bitmap_size"))
		cw_saetph_set_bitmap_size(cw_craft_data(c, layer), size);
}

CW_HDR_DEFINE(rtph, "UB reliable transport header", CW_SIZE_RTPH, CW_TABLE_RTPH, "UB 2.0 6.2.1",
	      fix_rtph)
CW_HDR_DEFINE(utph, "UB unreliable transport header", CW_SIZE_UTPH, CW_TABLE_UTPH, "UB 2.0 6.2.1",
	      fix_utph)
CW_HDR_DEFINE(ctph, "UB compact transport header", CW_SIZE_CTPH, CW_TABLE_CTPH, "UB 2.0 6.2.1",
	      fix_ctph)
CW_HDR_DEFINE(cetph_ldcp, "UB congestion extended header, LDCP", CW_SIZE_CETPH, CW_TABLE_CETPH_LDCP,
	      "UB 2.0 6.2.2", NULL)
CW_HDR_DEFINE(cetph_caqm, "UB congestion extended header, CAQM", CW_SIZE_CETPH, CW_TABLE_CETPH_CAQM,
	      "UB 2.0 6.2.2", NULL)
CW_HDR_DEFINE(cetph_cnp, "UB congestion extended header, CNP", CW_SIZE_CETPH_CNP,
	      CW_TABLE_CETPH_CNP, "UB 2.0 6.2.2", NULL)
CW_HDR_DEFINE(saetph, "UB selective acknowledgement", CW_SIZE_SAETPH, CW_TABLE_SAETPH,
	      "UB 2.0 6.2.3", fix_saetph)
CW_HDR_DEFINE(upih, "UB partition header", CW_SIZE_UPIH, CW_TABLE_UPIH, "UB 2.0 B.3", NULL)
CW_HDR_DEFINE(upih16, "UB partition header, 16 bits", CW_SIZE_UPIH16, CW_TABLE_UPIH16, "UB 2.0 B.3",
	      NULL)
CW_HDR_DEFINE(eidh, "UB entity header", CW_SIZE_EIDH, CW_TABLE_EIDH, "UB 2.0 B.3", NULL)
CW_HDR_DEFINE(eidh40, "UB entity header, compact", CW_SIZE_EIDH40, CW_TABLE_EIDH40, "UB 2.0 B.3",
	      NULL)
CW_HDR_DEFINE_OPAQUE(ciph, "UB confidentiality header and what it protects", "UB 2.0 11.5")

/* ---- Dissect ------------------------------------------------------------------------------ */

static int dissect_data(struct cw_dissector *d, uint32_t nlp, bool compact_ids)
{
	int err = CW_OK;

	switch (nlp) {
	case CW_NLP_TAH:
		break;
	case CW_NLP_UPI32:
		if ((err = cw_dissect_push(d, &cw_hdr_upih, CW_SIZE_UPIH, NULL)) == CW_OK)
			err = cw_dissect_push(d, &cw_hdr_eidh, CW_SIZE_EIDH, NULL);
		break;
	case CW_NLP_UPI16:
		if (!compact_ids)
			return CW_E_RESERVED;
		if ((err = cw_dissect_push(d, &cw_hdr_upih16, CW_SIZE_UPIH16, NULL)) == CW_OK)
			err = cw_dissect_push(d, &cw_hdr_eidh40, CW_SIZE_EIDH40, NULL);
		break;
	case CW_NLP_CIPH:
		return cw_dissect_push(d, &cw_hdr_ciph, cw_rd_left(&d->rd), NULL);
	default:
		return CW_E_RESERVED;
	}
	return err < 0 ? err : cw_ub_dissect_ta(d, false);
}

static int dissect_cetph(struct cw_dissector *d)
{
	return cw_dissect_push(d, d->opts.cetph_caqm ? &cw_hdr_cetph_caqm : &cw_hdr_cetph_ldcp,
			       CW_SIZE_CETPH, NULL);
}

static int dissect_saetph(struct cw_dissector *d)
{
	uint32_t octets;

	if (cw_rd_left(&d->rd) < CW_SIZE_SAETPH)
		return CW_E_SHORT;
	if ((octets = cw_saetph_octets(cw_saetph_bitmap_size(d->rd.p))) == 0)
		return CW_E_RESERVED;
	return cw_dissect_push(d, &cw_hdr_saetph, CW_SIZE_SAETPH + octets, NULL);
}

/* What follows an RTPH. Octets behind a response stay payload: UB 2.0 has none there, other
 * implementations append an ATAH. */
static int dissect_rtp(struct cw_dissector *d, const uint8_t *tph)
{
	int err;

	switch (cw_rtph_opcode(tph)) {
	case CW_TP_RTP:
		/* A keep-alive needs no transaction. */
		if (cw_rtph_f(tph) && cw_rd_left(&d->rd) == 0)
			return CW_OK;
		return dissect_data(d, cw_rtph_nlp(tph), false);
	case CW_TP_ACK:
		return CW_OK;
	case CW_TP_ACK_CC:
		return dissect_cetph(d);
	case CW_TP_SACK:
		return dissect_saetph(d);
	case CW_TP_SACK_CC:
		err = dissect_cetph(d);
		return err < 0 ? err : dissect_saetph(d);
	case CW_TP_CNP:
		return cw_dissect_push(d, &cw_hdr_cetph_cnp, CW_SIZE_CETPH_CNP, NULL);
	default:
		return CW_E_RESERVED;
	}
}

/* What follows a CTPH: the text gives opcode 0 to data; the others are left as payload. */
static int dissect_ctp(struct cw_dissector *d, const uint8_t *tph)
{
	return cw_ctph_opcode(tph) == 0 ? dissect_data(d, cw_ctph_nlp(tph), true) : CW_OK;
}

int cw_ub_dissect_tp(struct cw_dissector *d, const struct cw_hdr *tph, bool icrc)
{
	size_t behind = icrc ? CW_ICRC_LEN : 0;
	const uint8_t *at = d->rd.p;
	uint32_t pad;
	int err;

	if (cw_rd_left(&d->rd) < tph->size + behind)
		return CW_E_SHORT;
	if ((err = cw_dissect_push(d, tph, tph->size, NULL)) < 0)
		return err;
	d->rd.end -= behind;
	pad = padding_of(tph, at);
	if (cw_rd_left(&d->rd) < pad)
		return CW_E_LENGTH;
	d->rd.end -= pad;
	d->pkt->pad_len = pad;
	if (tph == &cw_hdr_ctph)
		return dissect_ctp(d, at);
	if (cw_rtph_version(at) != 0)
		return CW_E_VERSION;
	return tph == &cw_hdr_utph ? dissect_data(d, cw_utph_nlp(at), false) : dissect_rtp(d, at);
}

/* The packet's IP header, which has to stand directly in front of the UDP header. */
static int find_ip(const struct cw_packet *p, const uint8_t **ip)
{
	const struct cw_layer *l;

	if (p->nlayers < 2)
		return CW_E_FORBIDDEN;
	l = &p->layers[p->nlayers - 2];
	*ip = p->data + l->off;
	if (l->hdr == &cw_hdr_ipv6 || (l->hdr == &cw_hdr_ipv4 && l->len == CW_SIZE_IPV4))
		return CW_OK;
	return CW_E_OPTIONS;
}

static int dissect_uboe(struct cw_dissector *d)
{
	const struct cw_hdr *tph;
	const uint8_t *ip;
	int err;

	if (cw_rd_left(&d->rd) == 0)
		return CW_E_SHORT;
	tph = d->rd.p[0] == 0 ? &cw_hdr_utph : &cw_hdr_rtph;
	if (cw_packet_find(d->pkt, &cw_hdr_lph, 0) >= 0)
		d->pkt->family = cw_family_ub.name;
	if ((err = find_ip(d->pkt, &ip)) < 0)
		return err;
	/* Without room for both there is no telling what the last four octets are. */
	if (cw_rd_left(&d->rd) < (size_t)tph->size + CW_ICRC_LEN)
		return CW_E_SHORT;
	cw_ub_check_icrc(d, ip, 0);
	err = cw_ub_dissect_tp(d, tph, true);
	return cw_ub_verdict(d, err);
}

static bool is_ub(const struct cw_dissector *d)
{
	if (d->opts.port_4792 == CW_4792_UETX || d->opts.port_4792 == CW_4792_UETX_LITERAL)
		return false;
	if (d->opts.port_4792 == CW_4792_UB)
		return true;
	return cw_rd_left(&d->rd) > 0 && cw_ub_first_octet(d->rd.p[0]);
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_rtph,       &cw_hdr_utph,         &cw_hdr_ctph,           &cw_hdr_cetph_ldcp,
	&cw_hdr_cetph_caqm, &cw_hdr_cetph_cnp,    &cw_hdr_saetph,         &cw_hdr_upih,
	&cw_hdr_upih16,     &cw_hdr_eidh,         &cw_hdr_eidh40,         &cw_hdr_ciph,
	&cw_hdr_btah,       &cw_hdr_btah_compact, &cw_hdr_atah,           &cw_hdr_atah_compact,
	&cw_hdr_udetah,     &cw_hdr_maetah,       &cw_hdr_maetah_compact, &cw_hdr_mtetah,
	&cw_hdr_tvetah,     &cw_hdr_taidetah,     &cw_hdr_ofstetah,       &cw_hdr_immetah,
	&cw_hdr_ntfetah,    &cw_hdr_beetah,       &cw_hdr_mgmtetah,       NULL,
};
static const struct cw_claim claims[] = {{CW_SEL_UDP_PORT, CW_UB_PORT}};
const struct cw_family cw_family_uboe = {
	.name = "uboe",
	.title = "UB transport and transactions; over UDP: UBoE",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.mine = is_ub,
	.dissect = dissect_uboe,
	.pad = cw_ub_pad,
	.sealed = cw_ub_sealed,
	.seal = cw_ub_seal,
};
