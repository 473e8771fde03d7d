/* uec.c - UE 1.0 headers. Spec and deviations: wire/uec.h. */
#include "causeway/craft.h"
#include "causeway/crc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/uec.h"
#include "lib/wire/families.h"
#include "lib/wire/uec_int.h"

/* ---- Craft -------------------------------------------------------------------------------- */

static const struct cw_hdr *behind(const struct cw_craft *c, unsigned layer)
{
	return layer < c->nlayers ? c->layers[layer].hdr : NULL;
}

/* The SES header at or behind `layer`, past what belongs to PDS. */
static uint32_t next_of(const struct cw_craft *c, unsigned layer)
{
	for (; layer < c->nlayers; layer++) {
		const struct cw_hdr *h = c->layers[layer].hdr;

		if (h == &cw_hdr_ses_small)
			return CW_PDS_NEXT_SMALL;
		if (h == &cw_hdr_ses_medium)
			return CW_PDS_NEXT_MEDIUM;
		if (h == &cw_hdr_ses_std || h == &cw_hdr_ses_std_som)
			return CW_PDS_NEXT_STD;
		if (h == &cw_hdr_ses_rsp)
			return CW_PDS_NEXT_RSP;
		if (h == &cw_hdr_ses_rsp_data)
			return CW_PDS_NEXT_RSP_DATA;
		if (h == &cw_hdr_ses_rsp_small)
			return CW_PDS_NEXT_RSP_SMALL;
	}
	return CW_PDS_NEXT_NONE;
}

/* Type and next header have the same place in every PDS header. */
static void set_prologue(struct cw_craft *c, unsigned layer, int type)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (type >= 0 && !cw_craft_given(c, layer, "type"))
		cw_uec_req_set_type(p, (uint32_t)type);
	if (!cw_craft_given(c, layer, "next"))
		cw_uec_req_set_next(p, next_of(c, layer + 1));
}

static void fix_next(struct cw_craft *c, unsigned layer)
{
	set_prologue(c, layer, -1);
}

static void fix_req(struct cw_craft *c, unsigned layer)
{
	bool cc = behind(c, layer + 1) == &cw_hdr_uec_req_cc;

	set_prologue(c, layer, cc ? CW_PDS_RUD_CC : CW_PDS_RUD);
}

static void fix_ack(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	int type = CW_PDS_ACK;

	if (behind(c, layer + 1) == &cw_hdr_uec_ack_cc)
		type = behind(c, layer + 2) == &cw_hdr_uec_ccx ? CW_PDS_ACK_CCX : CW_PDS_ACK_CC;
	set_prologue(c, layer, type);
	if (!cw_craft_given(c, layer, "epsn"))
		cw_uec_ack_set_epsn(p, behind(c, layer + 1) == &cw_hdr_uec_ack_epsn);
}

static void fix_ack_cc(struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *state = behind(c, layer + 1);
	uint32_t type = CW_PDS_CC_NSCC;

	if (state == &cw_hdr_uec_cc_credit)
		type = CW_PDS_CC_CREDIT;
	else if (state == &cw_hdr_uec_cc_other)
		type = 15;
	if (!cw_craft_given(c, layer, "cc_type"))
		cw_uec_ack_cc_set_cc_type(cw_craft_data(c, layer), type);
}

static void fix_nack(struct cw_craft *c, unsigned layer)
{
	bool ccx = behind(c, layer + 1) == &cw_hdr_uec_nack_ccx;

	if (!cw_craft_given(c, layer, "type"))
		cw_uec_nack_set_type(cw_craft_data(c, layer), ccx ? CW_PDS_NACK_CCX : CW_PDS_NACK);
}

#define CW_X(h, title, table, fix) \
	CW_HDR_DEFINE(h, title, CW_SIZE_##table, CW_TABLE_##table, "UE 1.0", fix)
CW_UEC_HEADERS(CW_X)
#undef CW_X

/* ---- CRC ---------------------------------------------------------------------------------- */

int cw_uec_crc(const uint8_t *ip, size_t len, uint32_t *out)
{
	size_t from;

	if (len < 1)
		return CW_E_SHORT;
	if (ip[0] >> 4 != 4 && ip[0] >> 4 != 6)
		return CW_E_VERSION;
	from = ip[0] >> 4 == 4 ? 12 : 8;
	if (len < from)
		return CW_E_SHORT;
	*out = cw_crc32c(0, ip + from, len - from);
	return CW_OK;
}

/* The innermost IP header, or NULL. */
static const uint8_t *ip_header(const uint8_t *data, const struct cw_layer *layers, unsigned n)
{
	while (n-- > 0) {
		if (layers[n].hdr == &cw_hdr_ipv4 || layers[n].hdr == &cw_hdr_ipv6)
			return data + layers[n].off;
	}
	return NULL;
}

void cw_uec_check_crc(struct cw_dissector *d)
{
	const uint8_t *ip = ip_header(d->pkt->data, d->pkt->layers, d->pkt->nlayers);
	const uint8_t *at = d->rd.end - CW_UEC_CRC_LEN;
	struct cw_icrc *i = &d->pkt->icrc;

	i->off = (uint32_t)(at - d->pkt->data);
	i->wire = cw_le32(at);
	i->status = CW_ICRC_UNCHECKED;
	if (d->opts.no_icrc || ip == NULL)
		return;
	if (cw_uec_crc(ip, (size_t)(at - ip), &i->computed) == CW_OK)
		i->status = i->wire == i->computed ? CW_ICRC_OK : CW_ICRC_BAD;
}

static bool sealed(const struct cw_craft *c)
{
	bool ip = false, pds = false;
	unsigned i;

	for (i = 0; i < c->nlayers; i++) {
		const struct cw_hdr *h = c->layers[i].hdr;

		if (h == &cw_hdr_uec_tss || h == &cw_hdr_uec_tss_ssi)
			return false;
		ip |= h == &cw_hdr_ipv4 || h == &cw_hdr_ipv6;
		pds |= ip && cw_hdr_family(h) == &cw_family_uec && h != &cw_hdr_uec_entropy;
	}
	return pds;
}

uint32_t cw_uec_seal(const struct cw_craft *c)
{
	const uint8_t *ip = ip_header(c->data, c->layers, c->nlayers);
	uint32_t v = 0;

	/* A header with a made-up version has no CRC by the rules; it is left with zero. */
	if (ip != NULL)
		(void)cw_uec_crc(ip, (size_t)(c->data + c->end - CW_UEC_CRC_LEN - ip), &v);
	return v;
}

/* ---- Dissect ------------------------------------------------------------------------------ */

static int push(struct cw_dissector *d, const struct cw_hdr *h)
{
	return cw_dissect_push(d, h, h->size, NULL);
}

static bool is_cswap(uint32_t op)
{
	return op >= 0x0d && op <= 0x13;
}

static int dissect_atomic(struct cw_dissector *d)
{
	const uint8_t *at = d->rd.p;
	int err = push(d, &cw_hdr_ses_atomic);

	if (err == CW_OK && is_cswap(cw_ses_atomic_op(at)))
		err = push(d, &cw_hdr_ses_cswap);
	return err;
}

/* Extensions stand behind the standard header of a message's first packet. */
static int dissect_extensions(struct cw_dissector *d, uint32_t opcode)
{
	int err;

	switch (opcode) {
	case 0x03:
	case 0x04:
	case 0x0d:
	case 0x0e:
		return dissect_atomic(d);
	case 0x06:
	case 0x0a:
		return push(d, &cw_hdr_ses_rndv);
	case 0x10:
		return push(d, &cw_hdr_ses_sync);
	case 0x11:
		err = push(d, &cw_hdr_ses_sync);
		return err < 0 ? err : dissect_atomic(d);
	default:
		return CW_OK;
	}
}

static int dissect_ses(struct cw_dissector *d, uint32_t next)
{
	static const struct cw_hdr *const headers[] = {
		[CW_PDS_NEXT_SMALL] = &cw_hdr_ses_small,
		[CW_PDS_NEXT_MEDIUM] = &cw_hdr_ses_medium,
		[CW_PDS_NEXT_STD] = &cw_hdr_ses_std_som,
		[CW_PDS_NEXT_RSP] = &cw_hdr_ses_rsp,
		[CW_PDS_NEXT_RSP_DATA] = &cw_hdr_ses_rsp_data,
		[CW_PDS_NEXT_RSP_SMALL] = &cw_hdr_ses_rsp_small,
	};
	const struct cw_hdr *h;
	const uint8_t *at = d->rd.p;
	int err;

	if (next == CW_PDS_NEXT_NONE)
		return CW_OK;
	if (next > CW_PDS_NEXT_RSP_SMALL)
		return CW_E_RESERVED;
	h = headers[next];
	if (next == CW_PDS_NEXT_STD && cw_rd_left(&d->rd) >= h->size && !cw_ses_std_som(at))
		h = &cw_hdr_ses_std;
	if ((err = push(d, h)) < 0)
		return err;
	if (cw_ses_std_version(at) != 0)
		return CW_E_VERSION;
	return h == &cw_hdr_ses_std_som ? dissect_extensions(d, cw_ses_std_opcode(at)) : CW_OK;
}

static int dissect_request(struct cw_dissector *d, bool cc)
{
	const uint8_t *at = d->rd.p;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_UEC_REQ)
		return CW_E_SHORT;
	if ((err = push(d, cw_uec_req_syn(at) ? &cw_hdr_uec_req_syn : &cw_hdr_uec_req)) < 0)
		return err;
	if (cc && (err = push(d, &cw_hdr_uec_req_cc)) < 0)
		return err;
	return dissect_ses(d, cw_uec_req_next(at));
}

static int dissect_ack_cc(struct cw_dissector *d, bool ccx)
{
	const struct cw_hdr *state = &cw_hdr_uec_cc_other;
	const uint8_t *at = d->rd.p;
	int err;

	if ((err = push(d, &cw_hdr_uec_ack_cc)) < 0)
		return err;
	if (ccx)
		state = &cw_hdr_uec_ccx;
	else if (cw_uec_ack_cc_cc_type(at) == CW_PDS_CC_NSCC)
		state = &cw_hdr_uec_cc_nscc;
	else if (cw_uec_ack_cc_cc_type(at) == CW_PDS_CC_CREDIT)
		state = &cw_hdr_uec_cc_credit;
	return push(d, state);
}

static int dissect_ack(struct cw_dissector *d, uint32_t type)
{
	const uint8_t *at = d->rd.p;
	int err;

	if ((err = push(d, &cw_hdr_uec_ack)) < 0)
		return err;
	if (type != CW_PDS_ACK)
		err = dissect_ack_cc(d, type == CW_PDS_ACK_CCX);
	else if (cw_uec_ack_epsn(at))
		err = push(d, &cw_hdr_uec_ack_epsn);
	return err < 0 ? err : dissect_ses(d, cw_uec_ack_next(at));
}

static int dissect_simple(struct cw_dissector *d, const struct cw_hdr *h)
{
	const uint8_t *at = d->rd.p;
	int err = push(d, h);

	return err < 0 ? err : dissect_ses(d, cw_uec_req_next(at));
}

static int dissect_nack(struct cw_dissector *d, bool ccx)
{
	int err = push(d, &cw_hdr_uec_nack);

	return err < 0 || !ccx ? err : push(d, &cw_hdr_uec_nack_ccx);
}

/* What TSS protects, and its tag, is payload. */
static int dissect_tss(struct cw_dissector *d)
{
	bool ssi = cw_uec_tss_sp(d->rd.p);

	return push(d, ssi ? &cw_hdr_uec_tss_ssi : &cw_hdr_uec_tss);
}

static int dissect_pds(struct cw_dissector *d, uint32_t type)
{
	switch (type) {
	case CW_PDS_RUD:
	case CW_PDS_ROD:
		return dissect_request(d, false);
	case CW_PDS_RUD_CC:
	case CW_PDS_ROD_CC:
		return dissect_request(d, true);
	case CW_PDS_RUDI:
	case CW_PDS_RUDI_RSP:
		return dissect_simple(d, &cw_hdr_uec_rudi);
	case CW_PDS_UUD:
		return dissect_simple(d, &cw_hdr_uec_uud);
	case CW_PDS_ACK:
	case CW_PDS_ACK_CC:
	case CW_PDS_ACK_CCX:
		return dissect_ack(d, type);
	case CW_PDS_NACK:
	case CW_PDS_NACK_CCX:
		return dissect_nack(d, type == CW_PDS_NACK_CCX);
	case CW_PDS_CTRL:
		return push(d, &cw_hdr_uec_ctrl);
	default:
		return CW_E_RESERVED;
	}
}

/* Octets of the first header of a packet type; 0: no such type. */
static size_t head_of(uint32_t type)
{
	switch (type) {
	case CW_PDS_UUD:
		return CW_SIZE_UEC_UUD;
	case CW_PDS_RUDI:
	case CW_PDS_RUDI_RSP:
		return CW_SIZE_UEC_RUDI;
	case CW_PDS_NACK:
	case CW_PDS_NACK_CCX:
	case CW_PDS_CTRL:
		return CW_SIZE_UEC_NACK;
	default:
		return type >= CW_PDS_RUD && type <= CW_PDS_ROD_CC ? CW_SIZE_UEC_REQ : 0;
	}
}

static int dissect_transport(struct cw_dissector *d)
{
	uint32_t type;
	int err;

	if (cw_rd_left(&d->rd) < 1)
		return CW_E_SHORT;
	type = d->rd.p[0] >> 3;
	if (type == CW_PDS_TSS)
		return dissect_tss(d);
	if (head_of(type) == 0)
		return CW_E_RESERVED;
	/* Without room for both there is no telling what the last four octets are. */
	if (cw_rd_left(&d->rd) < head_of(type) + CW_UEC_CRC_LEN)
		return CW_E_SHORT;
	cw_uec_check_crc(d);
	d->rd.end -= CW_UEC_CRC_LEN;
	err = dissect_pds(d, type);
	/* A wrong CRC explains every other oddity, so it comes first. */
	return d->pkt->icrc.status == CW_ICRC_BAD ? CW_E_ICRC : err;
}

static bool is_native(const struct cw_dissector *d)
{
	return d->pkt->nlayers > 0 && d->pkt->layers[d->pkt->nlayers - 1].hdr != &cw_hdr_udp;
}

static int dissect_uec(struct cw_dissector *d)
{
	int err;

	if (is_native(d) && (err = push(d, &cw_hdr_uec_entropy)) < 0)
		return err;
	return dissect_transport(d);
}

bool cw_uec_on_ub_port(const uint8_t *ip, size_t off, size_t len)
{
	const uint8_t *p = ip + off;
	uint32_t v;

	if (len < CW_SIZE_UEC_REQ + CW_UEC_CRC_LEN)
		return false;
	if (p[0] >> 3 != CW_PDS_RUD && p[0] >> 3 != CW_PDS_ROD)
		return false;
	return cw_uec_crc(ip, off + len - CW_UEC_CRC_LEN, &v) == CW_OK &&
	       v == cw_le32(p + len - CW_UEC_CRC_LEN);
}

bool cw_uec_is_misdirected(const struct cw_dissector *d)
{
	const uint8_t *ip = ip_header(d->pkt->data, d->pkt->layers, d->pkt->nlayers);

	return ip != NULL && cw_uec_on_ub_port(ip, (size_t)(d->rd.p - ip), cw_rd_left(&d->rd));
}

int cw_uec_dissect_misdirected(struct cw_dissector *d)
{
	int err;

	d->pkt->family = cw_family_uec.name;
	err = dissect_transport(d);
	return err < 0 ? err : CW_E_FORBIDDEN;
}

static const struct cw_hdr *const hdrs[] = {
#define CW_X(h, title, table, fix) &cw_hdr_##h,
	CW_UEC_HEADERS(CW_X)
#undef CW_X
		NULL,
};
static const struct cw_claim claims[] = {
	{CW_SEL_UDP_PORT, CW_UEC_PORT},
	{CW_SEL_IPPROTO, CW_UEC_IPPROTO},
};
const struct cw_family cw_family_uec = {
	.name = "uec",
	.title = "Ultra Ethernet 1.0",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.dissect = dissect_uec,
	.sealed = sealed,
	.seal = cw_uec_seal,
	.icrc_le = true,
};
