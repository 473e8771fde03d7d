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

/* ---- In one line ---------------------------------------------------------------------------- */

/* What a list says of a header, in wire order. */
struct telling {
	const char *hdr, *field;
	enum {
		BY_NAME, /* the name of the value says enough */
		OF_HDR,  /* the header's name, and the value */
		OF_FIELD /* the field's name, and the value */
	} how;
};

/* Where a header carries others and nothing but that, it has no row here and is in `carriers`. */
// clang-format off
static const struct telling tells[] = {
	{"vlan", "vid", OF_HDR},       {"npi", "id", OF_HDR},
	{"cci_fecn", "fecn", OF_HDR},  {"cci_fecn_rtt", "fecn", OF_HDR},
	{"rtph", "opcode", BY_NAME},   {"rtph", "psn", OF_FIELD},
	{"utph", "opcode", BY_NAME},   {"saetph", "max_rcv_psn", OF_FIELD},
	{"cetph_cnp", "ecn", OF_HDR},  {"btah", "opcode", BY_NAME},
	{"btah", "tassn", OF_FIELD},   {"btah_compact", "opcode", BY_NAME},
	{"atah", "opcode", BY_NAME},   {"atah", "tassn", OF_FIELD},
	{"atah", "rspst", BY_NAME},    {"atah_compact", "opcode", BY_NAME},
	{"bth", "opcode", BY_NAME},    {"bth", "dqpn", OF_FIELD},
	{"bth", "psn", OF_FIELD},      {"aeth", "kind", BY_NAME},
	{"aeth", "msn", OF_FIELD},     {"mad", "mgmt_class", OF_HDR},
	{"mad", "attribute", BY_NAME}, {"smp", "attribute", OF_HDR},
	{"uetx", "opcode", BY_NAME},   {"uetx", "msg_id", OF_FIELD},
	{"uetx", "offset", OF_FIELD},  {"uetx_ack", "cumulative", OF_FIELD},
	{"uec_req", "type", BY_NAME},  {"uec_req", "psn", OF_FIELD},
	{"uec_ack", "type", BY_NAME},  {"uec_ack", "cack_psn", OF_FIELD},
	{"ipv4", "proto", BY_NAME},    {"ipv6", "next_header", BY_NAME},
	{"udp", "sport", OF_FIELD},    {"udp", "dport", OF_FIELD},
	{"arp", "op", OF_HDR},         {"ipoib_arp", "op", OF_HDR},
	{"icmp", "type", OF_HDR},      {"icmp6", "type", OF_HDR},
	{"dhcp", "op", OF_HDR},
	{"cn1_ipv4", "src", OF_FIELD}, {"cn1_ipv4", "dst", OF_FIELD}, {"cn1_ipv4", "dqpn", OF_FIELD},
	{"cn1_ipv4_packed", "src", OF_FIELD}, {"cn1_ipv4_packed", "dst", OF_FIELD}, {"cn1_ipv4_packed", "dqpn", OF_FIELD},
	{"cn1_ipv6", "src", OF_FIELD}, {"cn1_ipv6", "dst", OF_FIELD}, {"cn1_ipv6", "dqpn", OF_FIELD},
	{"cn1_ipv6_packed", "src", OF_FIELD}, {"cn1_ipv6_packed", "dst", OF_FIELD}, {"cn1_ipv6_packed", "dqpn", OF_FIELD},
	{"cn2_ipv4", "src", OF_FIELD}, {"cn2_ipv4", "dst", OF_FIELD}, {"cn2_ipv4", "nrp", OF_FIELD},
	{"cn2_ipv4_packed", "src", OF_FIELD}, {"cn2_ipv4_packed", "dst", OF_FIELD}, {"cn2_ipv4_packed", "nrp", OF_FIELD},
	{"cn2_ipv6", "src", OF_FIELD}, {"cn2_ipv6", "dst", OF_FIELD}, {"cn2_ipv6", "nrp", OF_FIELD},
	{"cn2_ipv6_packed", "src", OF_FIELD}, {"cn2_ipv6_packed", "dst", OF_FIELD}, {"cn2_ipv6_packed", "nrp", OF_FIELD},
};
// clang-format on
static const char *const carriers[] = {"eth", "lph", "ipv4", "ipv6", "udp",
				       "lrh", "grh", "deth", "erf"};

static unsigned count_tells(const struct cw_hdr *hdr)
{
	unsigned k, n = 0;

	for (k = 0; k < sizeof(tells) / sizeof(tells[0]); k++)
		n += strcmp(tells[k].hdr, hdr->name) == 0;
	return n;
}

/* A name alone is said once: options come in dozens. */
static bool is_repeated(const struct cw_packet *p, unsigned i)
{
	return i > 0 && p->layers[i].hdr == p->layers[i - 1].hdr &&
	       count_tells(p->layers[i].hdr) == 0;
}

static bool only_carries(const struct cw_packet *p, unsigned i)
{
	unsigned k;

	for (k = 0; i + 1 < p->nlayers && k < sizeof(carriers) / sizeof(carriers[0]); k++) {
		if (strcmp(p->layers[i].hdr->name, carriers[k]) == 0)
			return true;
	}
	return false;
}

static void line_value(const struct cw_sink *o, const struct telling *t, const struct cw_hdr *hdr,
		       const uint8_t *at, bool first)
{
	const struct cw_field *f = cw_field_find(hdr, t->field);
	const char *name = f != NULL ? cw_field_value_name(f, cw_field_get(f, at)) : NULL;

	if (f == NULL)
		return;
	if (first && (t->how != BY_NAME || name == NULL))
		printf_to(o, "%s ", hdr->name);
	if (t->how == OF_FIELD || (t->how == BY_NAME && name == NULL))
		printf_to(o, "%s ", f->name);
	if (name != NULL)
		puts_to(o, name);
	else
		put_value(o, f, at);
}

static void line_layer(const struct cw_sink *o, const struct cw_packet *p, unsigned i)
{
	const struct cw_hdr *hdr = p->layers[i].hdr;
	unsigned k, n = 0;

	for (k = 0; k < sizeof(tells) / sizeof(tells[0]); k++) {
		if (strcmp(tells[k].hdr, hdr->name) != 0)
			continue;
		puts_to(o, n > 0 ? " " : "");
		line_value(o, &tells[k], hdr, cw_layer_data(p, i), n++ == 0);
	}
	if (n == 0)
		puts_to(o, hdr->name);
}

void cw_show_line(const struct cw_packet *p, unsigned first, const struct cw_sink *o)
{
	const char *comma = "";
	unsigned i;

	for (i = first; i < p->nlayers; i++) {
		if (only_carries(p, i) || is_repeated(p, i))
			continue;
		puts_to(o, comma);
		line_layer(o, p, i);
		comma = ", ";
	}
	printf_to(o, "%spayload %u", comma, p->payload_len);
	if (p->icrc.status != CW_ICRC_ABSENT)
		printf_to(o, ", ICRC %s", cw_icrc_status_name(p->icrc.status));
	if (p->verdict != CW_OK && p->verdict != CW_E_ICRC)
		printf_to(o, " [%s]", cw_strerror(p->verdict));
}

void cw_show_ends(const struct cw_packet *p, const struct cw_sink *o)
{
	static const char *const ends[][3] = {
		{"ipv4", "src", "dst"}, {"ipv6", "src", "dst"},  {"ipoib_arp", "spa", "tpa"},
		{"arp", "spa", "tpa"},  {"grh", "sgid", "dgid"}, {"lrh", "slid", "dlid"},
		{"eth", "src", "dst"},
	};
	const struct cw_field *src, *dst;
	unsigned i, k;

	for (i = p->nlayers; i-- > 0;) {
		const struct cw_hdr *hdr = p->layers[i].hdr;

		for (k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
			if (strcmp(hdr->name, ends[k][0]) != 0)
				continue;
			src = cw_field_find(hdr, ends[k][1]);
			dst = cw_field_find(hdr, ends[k][2]);
			if (src == NULL || dst == NULL)
				continue;
			put_value(o, src, cw_layer_data(p, i));
			puts_to(o, " > ");
			put_value(o, dst, cw_layer_data(p, i));
			return;
		}
	}
}
