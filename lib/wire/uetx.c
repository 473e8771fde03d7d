/* uetx.c - the article's UET header. Source and deviations: wire/uetx.h. */
#include "causeway/craft.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
#include "lib/wire/families.h"
#include "lib/wire/uec_int.h"

const struct cw_name cw_names_uetx_opcode[] = {
	{CW_UETX_WRITE, "Write"},
	{CW_UETX_READ, "Read"},
	{CW_UETX_SEND, "Send"},
	{CW_UETX_ACK, "Ack"},
	{CW_UETX_NACK, "Nack"},
	{CW_UETX_FENCE, "Fence"},
	{CW_UETX_READ_RESPONSE, "Read-response"},
	{0, NULL},
};

const struct cw_name cw_names_uetx_reason[] = {
	{CW_UETX_NO_BUFFER, "no-buffer"},
	{CW_UETX_TOO_LONG, "too-long"},
	{CW_UETX_NO_CONTEXT, "no-context"},
	{CW_UETX_CONFLICT, "conflict"},
	{CW_UETX_GEOMETRY, "geometry"},
	{CW_UETX_NO_MEMORY, "no-memory"},
	{CW_UETX_ABANDONED, "abandoned"},
	{CW_UETX_ACCESS, "access"},
	{CW_UETX_UNSUPPORTED, "unsupported"},
	{CW_UETX_ID_WINDOW, "id-window"},
	{0, NULL},
};

/* Without an opcode a packet is a Send, or a Nack or Ack by the layers behind. */
static uint32_t opcode_of(const struct cw_craft *c, unsigned layer)
{
	if (layer + 1 >= c->nlayers || c->layers[layer + 1].hdr != &cw_hdr_uetx_ack)
		return CW_UETX_SEND;
	if (layer + 2 < c->nlayers && c->layers[layer + 2].hdr == &cw_hdr_uetx_nack)
		return CW_UETX_NACK;
	return CW_UETX_ACK;
}

/* Only where one is asked for: the article names none. */
static bool sealed(const struct cw_craft *c)
{
	unsigned i = 0;

	while (i < c->nlayers && c->layers[i].hdr != &cw_hdr_uetx)
		i++;
	return i < c->nlayers && (c->opts.uetx_crc || c->icrc_given || c->icrc_wanted);
}

static void fix_uetx(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	bool ack = layer + 1 < c->nlayers && c->layers[layer + 1].hdr == &cw_hdr_uetx_ack;

	if (!cw_craft_given(c, layer, "opcode"))
		cw_uetx_set_opcode(p, opcode_of(c, layer));
	if (!cw_craft_given(c, layer, "length"))
		cw_uetx_set_length(p, cw_craft_span(c, layer) - CW_SIZE_UETX -
					      (ack ? CW_SIZE_UETX_ACK : 0) -
					      (!c->icrc_none && sealed(c) ? CW_UEC_CRC_LEN : 0));
}

static void fix_literal(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "length"))
		cw_uetx_literal_set_length(cw_craft_data(c, layer),
					   cw_craft_span(c, layer) - CW_SIZE_UETX_LITERAL);
}

CW_HDR_DEFINE(uetx, "UET header of the article", CW_SIZE_UETX, CW_TABLE_UETX, "UET article",
	      fix_uetx)
CW_HDR_DEFINE(uetx_ack, "UET acknowledgement", CW_SIZE_UETX_ACK, CW_TABLE_UETX_ACK, "UET article",
	      NULL)
CW_HDR_DEFINE(uetx_nack, "UET refusal", CW_SIZE_UETX_NACK, CW_TABLE_UETX_NACK, "project", NULL)
CW_HDR_DEFINE(uetx_literal, "UET header, literal reading", CW_SIZE_UETX_LITERAL,
	      CW_TABLE_UETX_LITERAL, "UET article", fix_literal)

int cw_uetx_check(const uint8_t *p, size_t len)
{
	unsigned head;

	if (len < CW_SIZE_UETX)
		return CW_E_SHORT;
	if (cw_uetx_version(p) != CW_UETX_VERSION)
		return CW_E_VERSION;
	head = cw_uetx_header_len(cw_uetx_opcode(p));
	if (head == 0 || cw_uetx_reserved(p) != 0)
		return CW_E_RESERVED;
	return len == head + cw_uetx_length(p) ? CW_OK : CW_E_LENGTH;
}

static int push_headers(struct cw_dissector *d)
{
	const uint8_t *p;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_uetx, CW_SIZE_UETX, &p)) < 0)
		return err;
	if (cw_uetx_header_len(cw_uetx_opcode(p)) == CW_SIZE_UETX)
		return CW_OK;
	if ((err = cw_dissect_push(d, &cw_hdr_uetx_ack, CW_SIZE_UETX_ACK, NULL)) < 0)
		return err;
	if (cw_uetx_opcode(p) != CW_UETX_NACK || cw_rd_left(&d->rd) < CW_SIZE_UETX_NACK)
		return CW_OK;
	return cw_dissect_push(d, &cw_hdr_uetx_nack, CW_SIZE_UETX_NACK, NULL);
}

static int dissect_literal(struct cw_dissector *d)
{
	const uint8_t *p;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_uetx_literal, CW_SIZE_UETX_LITERAL, &p)) < 0)
		return err;
	if (cw_uetx_literal_version(p) != CW_UETX_VERSION)
		return CW_E_VERSION;
	if (cw_uetx_header_len(cw_uetx_literal_opcode(p)) == 0)
		return CW_E_RESERVED;
	return cw_rd_left(&d->rd) == cw_uetx_literal_length(p) ? CW_OK : CW_E_LENGTH;
}

/* cw_uetx_check() of what is in front of the trailer, if there is to be one. */
static int check(const struct cw_dissector *d)
{
	size_t left = cw_rd_left(&d->rd), trailer = d->opts.uetx_crc ? CW_UEC_CRC_LEN : 0;

	return left < trailer ? CW_E_SHORT : cw_uetx_check(d->rd.p, left - trailer);
}

static int dissect_checked(struct cw_dissector *d)
{
	int err;

	if (!d->opts.uetx_crc)
		return push_headers(d);
	cw_uec_check_crc(d);
	d->rd.end -= CW_UEC_CRC_LEN;
	err = push_headers(d);
	return d->pkt->icrc.status == CW_ICRC_BAD ? CW_E_ICRC : err;
}

/* Pinned to this family: say what is wrong, with the header in sight if it is there. */
static int dissect_pinned(struct cw_dissector *d)
{
	int err = check(d), pushed;

	if (err == CW_OK)
		return dissect_checked(d);
	pushed = cw_dissect_push(d, &cw_hdr_uetx, CW_SIZE_UETX, NULL);
	return pushed < 0 ? pushed : err;
}

static int dissect_uetx(struct cw_dissector *d)
{
	if (d->opts.port_4792 == CW_4792_UETX_LITERAL)
		return dissect_literal(d);
	if (d->opts.port_4792 == CW_4792_UETX)
		return dissect_pinned(d);
	if (check(d) == CW_OK)
		return dissect_checked(d);
	/* A RUD or ROD request of UE 1.0 begins with the same four bits; its CRC decides. */
	if (cw_uec_is_misdirected(d))
		return cw_uec_dissect_misdirected(d);
	d->pkt->family = "unknown";
	return CW_E_UNKNOWN;
}

static bool is_uetx(const struct cw_dissector *d)
{
	if (d->opts.port_4792 == CW_4792_UETX || d->opts.port_4792 == CW_4792_UETX_LITERAL)
		return true;
	return d->opts.port_4792 == CW_4792_BY_CONTENT && cw_rd_left(&d->rd) > 0 &&
	       d->rd.p[0] >> 4 == CW_UETX_VERSION;
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_uetx, &cw_hdr_uetx_ack, &cw_hdr_uetx_nack, &cw_hdr_uetx_literal, NULL,
};
static const struct cw_claim claims[] = {{CW_SEL_UDP_PORT, CW_UETX_PORT}};
const struct cw_family cw_family_uetx = {
	.name = "uetx",
	.title = "UET messages, header of the article",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.mine = is_uetx,
	.dissect = dissect_uetx,
	.sealed = sealed,
	.seal = cw_uec_seal,
	.seal_optional = true,
	.icrc_le = true,
};
