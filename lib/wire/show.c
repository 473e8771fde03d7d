/* show.c - text and JSON from the field tables. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "causeway/show.h"

static void puts_to(const struct cw_sink *o, const char *s)
{
	o->put(o->ctx, s, strlen(s));
}

static void printf_to(const struct cw_sink *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void printf_to(const struct cw_sink *o, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	puts_to(o, buf);
}

static void put_hex(const struct cw_sink *o, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char buf[128];
	size_t i = 0;

	while (n-- > 0) {
		buf[i++] = digits[*p >> 4];
		buf[i++] = digits[*p++ & 15];
		if (i == sizeof(buf) || n == 0) {
			o->put(o->ctx, buf, i);
			i = 0;
		}
	}
}

const char *cw_icrc_status_name(enum cw_icrc_status s)
{
	static const char *const names[] = {
		[CW_ICRC_ABSENT] = "absent",
		[CW_ICRC_OK] = "ok",
		[CW_ICRC_BAD] = "bad",
		[CW_ICRC_UNCHECKED] = "unchecked",
	};

	return names[s];
}

static void put_value(const struct cw_sink *o, const struct cw_field *f, const uint8_t *p)
{
	char buf[CW_FIELD_TEXT_MAX];

	if (f->show == CW_SHOW_OCTETS)
		put_hex(o, p + f->bit / 8, f->width / 8u);
	else if (cw_field_format(f, p, buf, sizeof(buf)) >= 0)
		puts_to(o, buf);
}

/* Programs keep numbers in a double: what does not fit its 53 bits is a string. */
static void json_field(const struct cw_sink *o, const struct cw_field *f, const uint8_t *p)
{
	bool quoted = !cw_field_is_int(f) || f->show == CW_SHOW_HEX || f->width > 53;

	printf_to(o, ",\"%s\":%s", f->name, quoted ? "\"" : "");
	put_value(o, f, p);
	if (quoted)
		puts_to(o, "\"");
}

/* Where craft would pad by itself, the JSON says that there was no pad. */
static bool is_padded(const struct cw_packet *p)
{
	const struct cw_family *f;

	if (p->nlayers == 0)
		return false;
	f = cw_layers_sealer(p->layers, p->nlayers, NULL);
	return f != NULL && (f->pad != NULL || f->pad_align > 0);
}

/* Likewise where craft would put something behind the ICRC. */
static bool has_trailer(const struct cw_packet *p)
{
	const struct cw_family *f = cw_layers_sealer(p->layers, p->nlayers, NULL);

	return f != NULL && f->trailer != NULL;
}

static void json_octets(const struct cw_sink *o, const char *name, const uint8_t *p, size_t n)
{
	if (n == 0)
		return;
	printf_to(o, ",\"%s\":\"", name);
	put_hex(o, p, n);
	puts_to(o, "\"");
}

static void json_layer(const struct cw_sink *o, const struct cw_packet *p, unsigned i)
{
	const struct cw_layer *l = &p->layers[i];
	unsigned k;

	printf_to(o, "%s{\"layer\":\"%s\"", i > 0 ? "," : "", l->hdr->name);
	for (k = 0; k < l->hdr->nfields; k++)
		json_field(o, &l->hdr->fields[k], cw_layer_data(p, i));
	json_octets(o, "tail", cw_layer_data(p, i) + l->hdr->size, l->len - l->hdr->size);
	puts_to(o, "}");
}

static void json_icrc(const struct cw_sink *o, const struct cw_packet *p)
{
	printf_to(o, ",\"icrc\":{\"status\":\"%s\"", cw_icrc_status_name(p->icrc.status));
	if (p->icrc.status != CW_ICRC_ABSENT)
		printf_to(o, ",\"wire\":\"0x%08x\"", p->icrc.wire);
	if (p->icrc.status == CW_ICRC_OK || p->icrc.status == CW_ICRC_BAD)
		printf_to(o, ",\"computed\":\"0x%08x\"", p->icrc.computed);
	puts_to(o, "}");
}

void cw_show_json(const struct cw_packet *p, const struct cw_sink *o)
{
	uint32_t pad_off = p->payload_off + p->payload_len;
	unsigned i;

	printf_to(o, "\"family\":\"%s\",\"layers\":[", p->family);
	for (i = 0; i < p->nlayers; i++)
		json_layer(o, p, i);
	printf_to(o, "],\"payload_length\":%u", p->payload_len);
	json_octets(o, "payload", p->data + p->payload_off, p->payload_len);
	if (p->pad_len == 0 && is_padded(p))
		puts_to(o, ",\"pad\":\"\"");
	json_octets(o, "pad", p->data + pad_off, p->pad_len);
	if (p->trailer_len == 0 && has_trailer(p))
		puts_to(o, ",\"trailer\":\"\"");
	json_octets(o, "trailer", p->data + p->trailer_off, p->trailer_len);
	json_icrc(o, p);
	printf_to(o, ",\"verdict\":\"%s\"", cw_err_name(p->verdict));
	if (p->verdict != CW_OK)
		printf_to(o, ",\"error\":\"%s\",\"error_offset\":%u", cw_strerror(p->verdict),
			  p->verdict_off);
}

static bool is_silent(const struct cw_field *f, const uint8_t *p)
{
	return strncmp(f->name, "reserved", 8) == 0 && cw_field_is_int(f) &&
	       cw_field_get(f, p) == 0;
}

static void text_field(const struct cw_sink *o, const struct cw_field *f, const uint8_t *p)
{
	const char *name;

	printf_to(o, "    %-16s ", f->name);
	put_value(o, f, p);
	name = cw_field_is_int(f) ? cw_field_value_name(f, cw_field_get(f, p)) : NULL;
	if (name != NULL)
		printf_to(o, " (%s)", name);
	puts_to(o, "\n");
}

static void text_octets(const struct cw_sink *o, const char *label, const uint8_t *p, size_t n)
{
	size_t shown = n > 32 ? 32 : n;

	if (n == 0)
		return;
	printf_to(o, "  %s, %zu octet%s: ", label, n, n == 1 ? "" : "s");
	put_hex(o, p, shown);
	puts_to(o, shown < n ? "...\n" : "\n");
}

static void text_layer(const struct cw_sink *o, const struct cw_packet *p, unsigned i)
{
	const struct cw_layer *l = &p->layers[i];
	const uint8_t *at = cw_layer_data(p, i);
	unsigned k;

	printf_to(o, "  %s, %u octets at %u [%s]\n", l->hdr->title, l->len, l->off, l->hdr->name);
	for (k = 0; k < l->hdr->nfields; k++) {
		if (!is_silent(&l->hdr->fields[k], at))
			text_field(o, &l->hdr->fields[k], at);
	}
	if (l->len > l->hdr->size)
		text_octets(o, "  tail", at + l->hdr->size, l->len - l->hdr->size);
}

static void text_icrc(const struct cw_sink *o, const struct cw_packet *p)
{
	if (p->icrc.status == CW_ICRC_ABSENT)
		return;
	printf_to(o, "  ICRC 0x%08x %s", p->icrc.wire, cw_icrc_status_name(p->icrc.status));
	if (p->icrc.status == CW_ICRC_BAD)
		printf_to(o, ", computed 0x%08x", p->icrc.computed);
	puts_to(o, "\n");
}

void cw_show_text(const struct cw_packet *p, const struct cw_sink *o)
{
	uint32_t pad_off = p->payload_off + p->payload_len;
	unsigned i;

	for (i = 0; i < p->nlayers; i++)
		text_layer(o, p, i);
	text_octets(o, "payload", p->data + p->payload_off, p->payload_len);
	text_octets(o, "pad", p->data + pad_off, p->pad_len);
	text_icrc(o, p);
	text_octets(o, "trailer", p->data + p->trailer_off, p->trailer_len);
	if (p->verdict != CW_OK)
		printf_to(o, "  ERROR at %u: %s\n", p->verdict_off, cw_strerror(p->verdict));
}
