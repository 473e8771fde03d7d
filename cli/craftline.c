/* craftline.c - one line of JSON -> one packet. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "causeway/craft.h"
#include "cli/capture.h"
#include "cli/craftline.h"

struct job {
	struct craftline *line;
	struct cw_craft craft;
	bool flip_icrc; /* an ICRC that must be wrong was asked for */
	char *err;
};

/* "WHERE: VALUE: reason". A value that is too long to be read is cut. */
static int complain(struct job *j, const char *where, const char *value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int complain(struct job *j, const char *where, const char *value, const char *fmt, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	if (value != NULL)
		(void)snprintf(j->err, CRAFTLINE_ERROR_MAX, "%s: %.64s%s: %s", where, value,
			       strlen(value) > 64 ? "..." : "", reason);
	else
		(void)snprintf(j->err, CRAFTLINE_ERROR_MAX, "%s: %s", where, reason);
	return -1;
}

/* ---- Values ------------------------------------------------------------------------------- */

/* A number or truth value as cw_field_parse() reads it; strings as they are. NULL for others. */
static const char *text_of(const json_t *v, char buf[32])
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		(void)snprintf(buf, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_boolean(v))
		(void)snprintf(buf, 32, "%d", json_is_true(v) ? 1 : 0);
	else
		return NULL;
	return buf;
}

static int need_string(struct job *j, const char *where, const json_t *v)
{
	return json_is_string(v) ? 0 : complain(j, where, NULL, "not a string");
}

/* Octets of a hex string in a block of their own, also when there are none. */
static uint8_t *octets_of(struct job *j, const char *where, const json_t *v, size_t *len)
{
	size_t size;
	uint8_t *out;
	int n;

	*len = 0;
	if (need_string(j, where, v) < 0)
		return NULL;
	size = json_string_length(v) / 2;
	if (size > CAP_PACKET_MAX) {
		complain(j, where, NULL, "%zu octets; a packet has at most %d", size,
			 CAP_PACKET_MAX);
		return NULL;
	}
	if ((out = malloc(size + 1)) == NULL) {
		complain(j, where, NULL, "out of memory");
		return NULL;
	}
	if ((n = cw_hex_parse(json_string_value(v), out, size + 1)) < 0) {
		complain(j, where, json_string_value(v), "not hex octets, two digits each");
		free(out);
		return NULL;
	}
	*len = (size_t)n;
	return out;
}

/* A whole number of seconds, or "seconds.fraction" of up to nine digits. */
static int parse_time(const char *s, uint64_t *out)
{
	uint64_t sec = 0, ns = 0, unit = 100000000;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s); s++) {
		if (sec > UINT32_MAX)
			return -1;
		sec = 10 * sec + (uint64_t)(*s - '0');
	}
	if (*s == '.') {
		for (s++; isdigit((unsigned char)*s) && unit > 0; s++, unit /= 10)
			ns += unit * (uint64_t)(*s - '0');
	}
	*out = sec * 1000000000u + ns;
	return *s == '\0' ? 0 : -1;
}

/* ---- Members of the packet ---------------------------------------------------------------- */

static int put_time(struct job *j, const json_t *v)
{
	char buf[40];
	const char *text = text_of(v, buf);

	if (json_is_real(v)) {
		(void)snprintf(buf, sizeof(buf), "%.9f", json_real_value(v));
		text = buf;
	}
	if (text == NULL || parse_time(text, &j->line->time_ns) < 0)
		return complain(j, "time", text, "not seconds since 1970, as 1700000000.123456789");
	j->line->has_time = true;
	return 0;
}

static int put_link(struct job *j, const json_t *v)
{
	char buf[32];
	const char *text = text_of(v, buf);

	j->line->link = text != NULL ? cap_link_parse(text) : -1;
	return j->line->link >= 0 ? 0
				  : complain(j, "link", text,
					     "no such link type; ethernet, ub, ib, erf, ipoib, or "
					     "a LINKTYPE number");
}

static int put_length(struct job *j, const json_t *v)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n > UINT32_MAX)
		return complain(j, "length", NULL, "not a number of octets");
	j->line->wire_len = (uint32_t)n;
	return 0;
}

static int put_comment(struct job *j, const json_t *v)
{
	if (need_string(j, "comment", v) < 0)
		return -1;
	if (json_string_length(v) >= sizeof(j->line->comment))
		return complain(j, "comment", json_string_value(v), "longer than %zu octets",
				sizeof(j->line->comment) - 1);
	memcpy(j->line->comment, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

/* What decode says about a packet, and crafting does not need. */
static int ignore(struct job *j, const json_t *v)
{
	(void)j;
	(void)v;
	return 0;
}

static int put_layers(struct job *j, const json_t *v);
static int put_payload(struct job *j, const json_t *v);
static int check_payload_length(struct job *j, const json_t *v);
static int put_pad(struct job *j, const json_t *v);
static int put_icrc(struct job *j, const json_t *v);

/* In the order of work, which is that of the octets. "trailer" is taken at the end. */
static const struct member {
	const char *name;
	int (*put)(struct job *j, const json_t *v);
} members[] = {
	{"number", ignore},       {"time", put_time},
	{"link", put_link},       {"length", put_length},
	{"captured", ignore},     {"comment", put_comment},
	{"family", ignore},       {"layers", put_layers},
	{"payload", put_payload}, {"payload_length", check_payload_length},
	{"pad", put_pad},         {"icrc", put_icrc},
	{"trailer", ignore},      {"verdict", ignore},
	{"error", ignore},        {"error_offset", ignore},
};
enum { NMEMBERS = sizeof(members) / sizeof(members[0]) };

static int check_names(struct job *j, const json_t *packet)
{
	const char *key;
	json_t *v;
	unsigned i;

	json_object_foreach((json_t *)packet, key, v)
	{
		for (i = 0; i < NMEMBERS && strcmp(members[i].name, key) != 0; i++)
			;
		if (i == NMEMBERS)
			return complain(j, key, NULL, "no such member of a packet");
	}
	return 0;
}

/* ---- Layers ------------------------------------------------------------------------------- */

static int put_field(struct job *j, size_t i, const char *name, const json_t *v)
{
	const struct cw_hdr *hdr = j->craft.layers[i].hdr;
	char where[96], buf[32];
	const char *text = text_of(v, buf);
	int err;

	(void)snprintf(where, sizeof(where), "layers[%zu].%.64s", i, name);
	if (text == NULL)
		return complain(j, where, NULL, "not a whole number or a string");
	err = cw_craft_field(&j->craft, name, text);
	if (err == CW_E_NAME)
		return complain(j, where, NULL, "header '%s' has no such field", hdr->name);
	return err == CW_OK ? 0 : complain(j, where, text, "%s", cw_strerror(err));
}

static int put_fields(struct job *j, size_t i, const json_t *layer)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)layer, key, v)
	{
		if (strcmp(key, "layer") != 0 && strcmp(key, "tail") != 0 &&
		    put_field(j, i, key, v) < 0)
			return -1;
	}
	return 0;
}

static int begin_layer(struct job *j, size_t i, const char *name, const json_t *tail)
{
	const struct cw_hdr *hdr = cw_hdr_find(name);
	uint8_t *octets = NULL;
	char where[40];
	size_t len = 0;
	int err;

	(void)snprintf(where, sizeof(where), "layers[%zu].layer", i);
	if (hdr == NULL)
		return complain(j, where, name, "no such header");
	if (tail != NULL) {
		(void)snprintf(where, sizeof(where), "layers[%zu].tail", i);
		if ((octets = octets_of(j, where, tail, &len)) == NULL)
			return -1;
	}
	err = cw_craft_layer(&j->craft, hdr, octets, len);
	free(octets);
	return err == CW_OK ? 0 : complain(j, where, NULL, "%s", cw_strerror(err));
}

static int put_layers(struct job *j, const json_t *v)
{
	const json_t *layer, *name;
	char where[40];
	size_t i;

	if (!json_is_array(v))
		return complain(j, "layers", NULL, "not an array");
	json_array_foreach(v, i, layer)
	{
		(void)snprintf(where, sizeof(where), "layers[%zu]", i);
		name = json_object_get(layer, "layer");
		if (!json_is_string(name))
			return complain(j, where, NULL,
					"not an object with the name of a header as \"layer\"");
		if (begin_layer(j, i, json_string_value(name), json_object_get(layer, "tail")) <
			    0 ||
		    put_fields(j, i, layer) < 0)
			return -1;
	}
	return 0;
}

/* ---- Behind the layers -------------------------------------------------------------------- */

static int append(struct job *j, const char *where, const void *data, size_t len,
		  int (*put)(struct cw_craft *c, const void *data, size_t len))
{
	int err = put(&j->craft, data, len);

	return err == CW_OK ? 0
			    : complain(j, where, NULL, "%zu octets: the packet is larger than %zu",
				       len, j->line->size);
}

static int put_hex(struct job *j, const char *where, const json_t *v,
		   int (*put)(struct cw_craft *c, const void *data, size_t len))
{
	size_t len;
	uint8_t *octets = octets_of(j, where, v, &len);
	int rc = octets == NULL ? -1 : append(j, where, octets, len, put);

	free(octets);
	return rc;
}

/* {"repeat": HEX, "length": N}: the pattern over and over, N octets in all. */
static int put_repeat(struct job *j, const json_t *v)
{
	const json_t *length = json_object_get(v, "length");
	json_int_t n = json_integer_value(length);
	uint8_t *pattern, *all;
	size_t len, i;
	int rc = -1;

	if (!json_is_integer(length) || n < 0 || n > CAP_PACKET_MAX)
		return complain(j, "payload.length", NULL, "not a number from 0 to %d",
				CAP_PACKET_MAX);
	pattern = octets_of(j, "payload.repeat", json_object_get(v, "repeat"), &len);
	all = malloc((size_t)n + 1);
	if (pattern != NULL && len == 0)
		rc = complain(j, "payload.repeat", NULL, "no octets");
	else if (pattern != NULL && all == NULL)
		rc = complain(j, "payload", NULL, "out of memory");
	else if (pattern != NULL) {
		for (i = 0; i < (size_t)n; i++)
			all[i] = pattern[i % len];
		rc = append(j, "payload", all, (size_t)n, cw_craft_payload);
	}
	free(all);
	free(pattern);
	return rc;
}

static int put_payload(struct job *j, const json_t *v)
{
	const json_t *text = json_object_get(v, "text");

	if (!json_is_object(v))
		return put_hex(j, "payload", v, cw_craft_payload);
	if (json_is_string(text) && json_object_size(v) == 1)
		return append(j, "payload", json_string_value(text), json_string_length(text),
			      cw_craft_payload);
	if (json_object_get(v, "repeat") != NULL && json_object_size(v) == 2)
		return put_repeat(j, v);
	return complain(j, "payload", NULL,
			"not hex, {\"text\": ...} or {\"repeat\": HEX, \"length\": N}");
}

static int check_payload_length(struct job *j, const json_t *v)
{
	char buf[32];

	if (!json_is_integer(v))
		return complain(j, "payload_length", NULL, "not a number");
	if (json_integer_value(v) == (json_int_t)j->craft.payload_len)
		return 0;
	return complain(j, "payload_length", text_of(v, buf), "the payload has %u octets",
			j->craft.payload_len);
}

static int put_pad(struct job *j, const json_t *v)
{
	return put_hex(j, "pad", v, cw_craft_pad);
}

static int put_icrc_wire(struct job *j, const char *where, const json_t *v)
{
	char *end = NULL;
	unsigned long n = 0;

	if (need_string(j, where, v) < 0)
		return -1;
	if (strncmp(json_string_value(v), "0x", 2) == 0 && json_string_length(v) <= 10)
		n = strtoul(json_string_value(v), &end, 16);
	if (end == NULL || *end != '\0' || json_string_length(v) < 3)
		return complain(j, where, json_string_value(v), "not 0x and up to 8 hex digits");
	cw_craft_icrc(&j->craft, (uint32_t)n);
	return 0;
}

static int put_icrc_status(struct job *j, const char *where, const json_t *v)
{
	if (need_string(j, where, v) < 0)
		return -1;
	if (strcmp(json_string_value(v), "absent") == 0)
		cw_craft_no_icrc(&j->craft);
	else if (strcmp(json_string_value(v), "bad") == 0)
		j->flip_icrc = true, cw_craft_want_icrc(&j->craft);
	else if (strcmp(json_string_value(v), "ok") == 0)
		cw_craft_want_icrc(&j->craft);
	else if (strcmp(json_string_value(v), "unchecked") != 0)
		return complain(j, where, json_string_value(v), "not ok, bad, absent or unchecked");
	return 0;
}

/* {"status", "wire", "computed"} as decode prints it, the status by itself, or the wire value. */
static int put_icrc(struct job *j, const json_t *v)
{
	const json_t *m;
	const char *key;

	if (json_is_string(v))
		return json_string_value(v)[0] == '0' ? put_icrc_wire(j, "icrc", v)
						      : put_icrc_status(j, "icrc", v);
	if (!json_is_object(v))
		return complain(j, "icrc", NULL, "not an object, a state or a 0x value");
	json_object_foreach((json_t *)v, key, m)
	{
		char where[80];
		int rc = 0;

		(void)snprintf(where, sizeof(where), "icrc.%.64s", key);
		if (strcmp(key, "status") == 0)
			rc = put_icrc_status(j, where, m);
		else if (strcmp(key, "wire") == 0)
			rc = put_icrc_wire(j, where, m);
		else if (strcmp(key, "computed") != 0)
			rc = complain(j, where, NULL, "no such member of an ICRC");
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- All of it ---------------------------------------------------------------------------- */

static int finish(struct job *j, const json_t *trailer)
{
	struct cw_craft *c = &j->craft;
	uint8_t *octets = NULL;
	size_t len = 0;
	int err;

	if (trailer != NULL && (octets = octets_of(j, "trailer", trailer, &len)) == NULL)
		return -1;
	err = cw_craft_finish(c, octets, len);
	free(octets);
	if (err < 0)
		return complain(j, "packet", NULL, "larger than %zu octets", j->line->size);
	if (j->flip_icrc && !c->icrc_given && c->end >= 4)
		c->data[c->end - 1] ^= 0x01;
	j->line->len = c->len;
	if (j->line->wire_len < c->len)
		j->line->wire_len = c->len;
	return 0;
}

/* The link type that the family of the outermost layer stands on. */
static int link_of(const struct cw_craft *c)
{
	const struct cw_family *f = c->nlayers > 0 ? cw_hdr_family(c->layers[0].hdr) : NULL;
	unsigned i;

	for (i = 0; f != NULL && i < f->nclaims; i++) {
		if (f->claims[i].sel == CW_SEL_LINK)
			return (int)f->claims[i].value;
	}
	return -1;
}

static int build(struct job *j, const json_t *packet)
{
	unsigned i;

	if (check_names(j, packet) < 0)
		return -1;
	for (i = 0; i < NMEMBERS; i++) {
		const json_t *v = json_object_get(packet, members[i].name);

		if (v != NULL && members[i].put(j, v) < 0)
			return -1;
	}
	if (finish(j, json_object_get(packet, "trailer")) < 0)
		return -1;
	if (j->line->link < 0)
		j->line->link = link_of(&j->craft);
	return 0;
}

int craftline(struct craftline *c, const char *json, size_t len, char err[CRAFTLINE_ERROR_MAX])
{
	struct job j = {.line = c, .err = err};
	json_error_t where;
	json_t *packet = json_loadb(json, len, JSON_REJECT_DUPLICATES, &where);
	int rc;

	c->len = c->wire_len = 0;
	c->link = -1;
	c->has_time = false;
	c->comment[0] = '\0';
	if (packet == NULL) {
		(void)snprintf(err, CRAFTLINE_ERROR_MAX, "column %d: %s", where.column, where.text);
		return -1;
	}
	cw_craft_init(&j.craft, c->buf, c->size);
	j.craft.opts = c->opts;
	if (json_is_object(packet))
		rc = build(&j, packet);
	else
		rc = complain(&j, "packet", NULL, "not a JSON object");
	json_decref(packet);
	return rc;
}
