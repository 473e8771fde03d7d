/* craft.c - layers and fields -> bytes. */
#include <string.h>
#include "causeway/craft.h"
#include "lib/wire/roce_int.h"

void cw_craft_init(struct cw_craft *c, void *buf, size_t size)
{
	memset(c, 0, sizeof(*c));
	c->data = buf;
	c->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static int append(struct cw_craft *c, const void *src, size_t len)
{
	if (len > c->size - c->len)
		return CW_E_SPACE;
	if (len > 0 && src != NULL)
		memcpy(c->data + c->len, src, len);
	else if (len > 0)
		memset(c->data + c->len, 0, len);
	c->len += (uint32_t)len;
	return CW_OK;
}

static void set_defaults(const struct cw_hdr *h, uint8_t *p)
{
	unsigned i;

	for (i = 0; i < h->nfields; i++) {
		const struct cw_field *f = &h->fields[i];

		if (cw_field_is_int(f) && f->def != CW_AUTO)
			cw_bits_set(p, f->bit, f->width, f->def);
	}
}

int cw_craft_layer(struct cw_craft *c, const struct cw_hdr *hdr, const void *tail, size_t tail_len)
{
	uint32_t off = c->len;
	int err;

	if (c->nlayers == CW_MAX_LAYERS)
		return CW_E_DEPTH;
	if ((err = append(c, NULL, hdr->size)) < 0 || (err = append(c, tail, tail_len)) < 0) {
		c->len = off;
		return err;
	}
	c->layers[c->nlayers++] = (struct cw_layer){hdr, off, c->len - off};
	c->payload_off = c->len;
	set_defaults(hdr, c->data + off);
	return CW_OK;
}

int cw_craft_field(struct cw_craft *c, const char *field, const char *text)
{
	const struct cw_field *f;
	const struct cw_layer *l;
	int err;

	if (c->nlayers == 0)
		return CW_E_STATE;
	l = &c->layers[c->nlayers - 1];
	if ((f = cw_field_find(l->hdr, field)) == NULL)
		return CW_E_NAME;
	if ((err = cw_field_parse(f, c->data + l->off, text)) < 0)
		return err;
	c->given[c->nlayers - 1] |= (uint64_t)1 << (f - l->hdr->fields);
	return CW_OK;
}

int cw_craft_payload(struct cw_craft *c, const void *data, size_t len)
{
	int err = append(c, data, len);

	if (err == CW_OK)
		c->payload_len += (uint32_t)len;
	return err;
}

int cw_craft_pad(struct cw_craft *c, const void *data, size_t len)
{
	int err = append(c, data, len);

	if (err == CW_OK) {
		c->pad_given = true;
		c->pad_len = (uint32_t)len;
	}
	return err;
}

void cw_craft_icrc(struct cw_craft *c, uint32_t wire)
{
	c->icrc_given = true;
	c->icrc_wire = wire;
}

void cw_craft_want_icrc(struct cw_craft *c)
{
	c->icrc_wanted = true;
}

void cw_craft_no_icrc(struct cw_craft *c)
{
	c->icrc_none = true;
}

bool cw_craft_given(const struct cw_craft *c, unsigned layer, const char *field)
{
	const struct cw_hdr *h = c->layers[layer].hdr;
	const struct cw_field *f = cw_field_find(h, field);

	return f != NULL && (c->given[layer] >> (f - h->fields) & 1) != 0;
}

static int pad_payload(struct cw_craft *c, const struct cw_family *f)
{
	if (c->pad_given)
		return CW_OK;
	if (f->pad != NULL)
		c->pad_len = f->pad(c);
	else if (f->pad_align != 0)
		c->pad_len = (f->pad_align - c->payload_len % f->pad_align) % f->pad_align;
	return append(c, NULL, c->pad_len);
}

static bool wants_icrc(const struct cw_craft *c, const struct cw_family *f)
{
	return f->seal != NULL && !c->icrc_none && (f->sealed == NULL || f->sealed(c));
}

static void put_icrc(struct cw_craft *c, const struct cw_family *f, uint32_t v)
{
	uint8_t *at = c->data + c->end - 4;

	if (c->opts.icrc_order == CW_ICRC_BE && !f->icrc_le)
		cw_put_be32(at, v);
	else
		cw_put_le32(at, v);
}

/* The layer behind which those of others begin. A family that does not cover them has none. */
static unsigned innermost_of(const struct cw_craft *c, const struct cw_family *f)
{
	unsigned i;

	if (f == NULL || !f->covers)
		return CW_MAX_LAYERS;
	cw_layers_sealer(c->layers, c->nlayers, &i);
	while (i + 1 < c->nlayers && cw_roce_is_transport(c->layers[i + 1].hdr, f))
		i++;
	return i;
}

int cw_craft_finish(struct cw_craft *c, const void *trailer, size_t trailer_len)
{
	uint8_t made[CW_CRAFT_TRAILER_MAX];
	const struct cw_family *f;
	unsigned i;
	bool icrc;
	int err;

	f = cw_layers_sealer(c->layers, c->nlayers, NULL);
	c->cover = innermost_of(c, f);
	icrc = f != NULL && wants_icrc(c, f);
	if (f != NULL && (err = pad_payload(c, f)) < 0)
		return err;
	if (icrc && (err = append(c, NULL, 4)) < 0)
		return err;
	c->end = c->len;
	for (i = c->nlayers; i-- > 0;) {
		if (c->layers[i].hdr->fix != NULL)
			c->layers[i].hdr->fix(c, i);
	}
	if (icrc)
		put_icrc(c, f, c->icrc_given ? c->icrc_wire : f->seal(c));
	if (trailer == NULL && f != NULL && f->trailer != NULL)
		return append(c, made, f->trailer(c, made));
	return append(c, trailer, trailer_len);
}
