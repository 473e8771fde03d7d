/* isis.c - PDUs of IS-IS on a point-to-point circuit. Spec and deviations: wire/isis.h. */
#include <stdio.h>
#include "causeway/wire/isis.h"

CW_HDR_DEFINE(isis_head, "IS-IS common header", CW_SIZE_ISIS_HEAD, CW_TABLE_ISIS_HEAD,
	      "ISO 10589 9.5", NULL)
CW_HDR_DEFINE(isis_hello, "IS-IS hello", CW_SIZE_ISIS_HELLO, CW_TABLE_ISIS_HELLO, "ISO 10589 9.7",
	      NULL)
CW_HDR_DEFINE(isis_lsp, "IS-IS link state PDU", CW_SIZE_ISIS_LSP, CW_TABLE_ISIS_LSP,
	      "ISO 10589 9.8", NULL)
CW_HDR_DEFINE(isis_csnp, "IS-IS complete sequence numbers", CW_SIZE_ISIS_CSNP, CW_TABLE_ISIS_CSNP,
	      "ISO 10589 9.10", NULL)
CW_HDR_DEFINE(isis_psnp, "IS-IS partial sequence numbers", CW_SIZE_ISIS_PSNP, CW_TABLE_ISIS_PSNP,
	      "ISO 10589 9.12", NULL)
CW_HDR_DEFINE(isis_entry, "IS-IS LSP entry", CW_SIZE_ISIS_ENTRY, CW_TABLE_ISIS_ENTRY,
	      "ISO 10589 9.10", NULL)
CW_HDR_DEFINE(isis_neigh, "IS-IS extended neighbour", CW_SIZE_ISIS_NEIGH, CW_TABLE_ISIS_NEIGH,
	      "RFC 5305 3", NULL)

/* What each PDU type has in front of its TLVs. */
static const struct shape {
	uint8_t type, level, size, length_at;
} shapes[] = {
	{CW_ISIS_HELLO_P2P, 0, CW_SIZE_ISIS_HELLO, 17}, {CW_ISIS_LSP_L1, 1, CW_SIZE_ISIS_LSP, 8},
	{CW_ISIS_LSP_L2, 2, CW_SIZE_ISIS_LSP, 8},       {CW_ISIS_CSNP_L1, 1, CW_SIZE_ISIS_CSNP, 8},
	{CW_ISIS_CSNP_L2, 2, CW_SIZE_ISIS_CSNP, 8},     {CW_ISIS_PSNP_L1, 1, CW_SIZE_ISIS_PSNP, 8},
	{CW_ISIS_PSNP_L2, 2, CW_SIZE_ISIS_PSNP, 8},
};

static const struct shape *find_shape(uint8_t type)
{
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].type == type)
			return &shapes[i];
	}
	return NULL;
}

bool cw_isis_tlv_next(struct cw_rd *r, struct cw_isis_tlv *tlv)
{
	if (cw_rd_left(r) < 2 || cw_rd_left(r) - 2 < r->p[1])
		return false;
	*tlv = (struct cw_isis_tlv){r->p[0], r->p[1], r->p + 2};
	r->p += 2u + tlv->len;
	return true;
}

bool cw_isis_tlv_find(const struct cw_isis_pdu *pdu, uint8_t type, struct cw_isis_tlv *tlv)
{
	struct cw_rd r = pdu->tlvs;

	while (cw_isis_tlv_next(&r, tlv)) {
		if (tlv->type == type)
			return true;
	}
	return false;
}

static int check_head(const uint8_t *pdu, size_t len, const struct shape **shape)
{
	if (len < CW_SIZE_ISIS_HEAD)
		return CW_E_SHORT;
	if (cw_isis_head_discriminator(pdu) != 0x83)
		return CW_E_UNKNOWN;
	if (cw_isis_head_version(pdu) != 1 || cw_isis_head_version2(pdu) != 1)
		return CW_E_VERSION;
	if ((cw_isis_head_id_length(pdu) != 0 && cw_isis_head_id_length(pdu) != 6) ||
	    (cw_isis_head_areas(pdu) != 0 && cw_isis_head_areas(pdu) != 3))
		return CW_E_VERSION;
	if ((*shape = find_shape((uint8_t)cw_isis_head_type(pdu))) == NULL)
		return CW_E_UNKNOWN;
	if (len < (*shape)->size)
		return CW_E_SHORT;
	return cw_isis_head_header_length(pdu) == (*shape)->size ? CW_OK : CW_E_LENGTH;
}

int cw_isis_pdu_parse(struct cw_isis_pdu *out, const uint8_t *pdu, size_t len)
{
	const struct shape *shape;
	struct cw_isis_tlv tlv;
	struct cw_rd r;
	size_t n;
	int err;

	if ((err = check_head(pdu, len, &shape)) != CW_OK)
		return err;
	n = cw_be16(pdu + shape->length_at);
	if (n < shape->size || n > len)
		return CW_E_LENGTH;
	r = cw_rd_init(pdu + shape->size, n - shape->size);
	while (cw_isis_tlv_next(&r, &tlv))
		;
	if (cw_rd_left(&r) != 0)
		return CW_E_LENGTH;
	*out = (struct cw_isis_pdu){shape->type, shape->level, pdu, n,
				    cw_rd_init(pdu + shape->size, n - shape->size)};
	return CW_OK;
}

void cw_isis_head_put(uint8_t *pdu, uint8_t type)
{
	memset(pdu, 0, CW_SIZE_ISIS_HEAD);
	cw_isis_head_set_discriminator(pdu, 0x83);
	cw_isis_head_set_header_length(pdu, find_shape(type)->size);
	cw_isis_head_set_version(pdu, 1);
	cw_isis_head_set_type(pdu, type);
	cw_isis_head_set_version2(pdu, 1);
}

/* ---- Text ---------------------------------------------------------------------------------- */

const char *cw_isis_system_format(const uint8_t *id, char buf[CW_ISIS_ID_TEXT])
{
	(void)snprintf(buf, CW_ISIS_ID_TEXT, "%02x%02x.%02x%02x.%02x%02x", id[0], id[1], id[2],
		       id[3], id[4], id[5]);
	return buf;
}

const char *cw_isis_lsp_format(const uint8_t *id, char buf[CW_ISIS_ID_TEXT])
{
	cw_isis_system_format(id, buf);
	(void)snprintf(buf + 14, CW_ISIS_ID_TEXT - 14, ".%02x-%02x", id[6], id[7]);
	return buf;
}

/* Hex digits, dots between octets of them: the number of octets, or CW_E_SYNTAX. */
static int parse_dotted(const char *text, uint8_t *out, size_t size)
{
	char hex[2 * CW_ISIS_AREA_MAX + 1];
	size_t n = 0;

	for (; *text != '\0'; text++) {
		if (*text == '.' && n % 2 == 0 && n > 0 && text[1] != '.' && text[1] != '\0')
			continue;
		if (n == 2 * size)
			return CW_E_SYNTAX;
		hex[n++] = *text;
	}
	hex[n] = '\0';
	return n > 0 ? cw_hex_parse(hex, out, size) : CW_E_SYNTAX;
}

int cw_isis_system_parse(const char *text, uint8_t id[CW_ISIS_SYSTEM])
{
	uint8_t octets[CW_ISIS_SYSTEM];
	int n = parse_dotted(text, octets, sizeof(octets));

	if (n != CW_ISIS_SYSTEM)
		return CW_E_SYNTAX;
	memcpy(id, octets, sizeof(octets));
	return CW_OK;
}

int cw_isis_area_parse(const char *text, uint8_t area[CW_ISIS_AREA_MAX])
{
	return parse_dotted(text, area, CW_ISIS_AREA_MAX);
}
