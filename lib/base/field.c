/* field.c - text <-> value for the rows of a field table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/field.h"

const struct cw_field *cw_field_find(const struct cw_hdr *h, const char *name)
{
	unsigned i;

	for (i = 0; i < h->nfields; i++) {
		if (strcmp(h->fields[i].name, name) == 0)
			return &h->fields[i];
	}
	return NULL;
}

const char *cw_field_value_name(const struct cw_field *f, uint64_t value)
{
	const struct cw_name *n;

	for (n = f->names; n != NULL && n->name != NULL; n++) {
		if (n->value == value)
			return n->name;
	}
	return NULL;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int cw_hex_parse(const char *text, uint8_t *out, size_t size)
{
	size_t n = 0;
	int hi, lo;

	for (; *text != '\0'; text += 2, n++) {
		hi = hex_digit(text[0]);
		lo = hi < 0 ? -1 : hex_digit(text[1]);
		if (lo < 0)
			return CW_E_SYNTAX;
		if (n == size || n == INT32_MAX)
			return CW_E_SPACE;
		out[n] = (uint8_t)(hi << 4 | lo);
	}
	return (int)n;
}

/* Read decimal digits without leading zeros up to `max`; moves *text behind them. */
static int read_octet(const char **text, unsigned max, uint8_t *out)
{
	const char *s = *text;
	unsigned v = 0, n = 0;

	for (; s[n] >= '0' && s[n] <= '9' && n < 4; n++)
		v = v * 10 + (unsigned)(s[n] - '0');
	if (n == 0 || n > 3 || v > max || (n > 1 && s[0] == '0'))
		return CW_E_SYNTAX;
	*out = (uint8_t)v;
	*text = s + n;
	return CW_OK;
}

int cw_ip4_parse(const char *text, uint8_t out[4])
{
	uint8_t a[4];
	unsigned i;

	for (i = 0; i < 4; i++) {
		if (i > 0 && *text++ != '.')
			return CW_E_SYNTAX;
		if (read_octet(&text, 255, &a[i]) < 0)
			return CW_E_SYNTAX;
	}
	if (*text != '\0')
		return CW_E_SYNTAX;
	memcpy(out, a, 4);
	return CW_OK;
}

/* Read one group of 1..4 hex digits. */
static int read_group(const char **text, uint16_t *out)
{
	unsigned v = 0, n = 0;

	for (; n < 5 && hex_digit((*text)[n]) >= 0; n++)
		v = v << 4 | (unsigned)hex_digit((*text)[n]);
	if (n == 0 || n > 4)
		return CW_E_SYNTAX;
	*text += n;
	*out = (uint16_t)v;
	return CW_OK;
}

struct ip6_scan {
	uint8_t a[16];
	int n, gap; /* octets read; offset of "::", or -1 */
};

/* One group, or the dotted IPv4 tail. 1 = more may follow, 0 = end, negative = error. */
static int scan_group(struct ip6_scan *s, const char **text)
{
	const char *at = *text;
	uint16_t g;

	if (s->n > 14 || read_group(&at, &g) < 0)
		return CW_E_SYNTAX;
	if (*at == '.') {
		if (s->n > 12 || cw_ip4_parse(*text, s->a + s->n) < 0)
			return CW_E_SYNTAX;
		s->n += 4;
		return 0;
	}
	cw_put_be16(s->a + s->n, g);
	s->n += 2;
	*text = at;
	return *at == '\0' ? 0 : 1;
}

static int scan_ip6(struct ip6_scan *s, const char *text)
{
	int more;

	if (text[0] == ':') {
		if (text[1] != ':')
			return CW_E_SYNTAX;
		s->gap = 0;
		text += 2;
		if (*text == '\0')
			return CW_OK;
	}
	while ((more = scan_group(s, &text)) > 0) {
		if (*text++ != ':')
			return CW_E_SYNTAX;
		if (*text != ':')
			continue;
		if (s->gap >= 0)
			return CW_E_SYNTAX;
		s->gap = s->n;
		if (*++text == '\0')
			return CW_OK;
	}
	return more;
}

int cw_ip6_parse(const char *text, uint8_t out[16])
{
	struct ip6_scan s = {{0}, 0, -1};
	int tail;

	if (scan_ip6(&s, text) < 0 || (s.gap < 0 && s.n != 16) || (s.gap >= 0 && s.n > 14))
		return CW_E_SYNTAX;
	memset(out, 0, 16);
	if (s.gap < 0)
		s.gap = 16;
	tail = s.n > s.gap ? s.n - s.gap : 0;
	memcpy(out, s.a, (size_t)(s.n - tail));
	memcpy(out + 16 - tail, s.a + s.n - tail, (size_t)tail);
	return CW_OK;
}

int cw_mac_parse(const char *text, uint8_t out[6])
{
	uint8_t a[6];
	unsigned i;

	for (i = 0; i < 6; i++) {
		int hi = hex_digit(text[0]), lo = hi < 0 ? -1 : hex_digit(text[1]);

		if (lo < 0)
			return CW_E_SYNTAX;
		a[i] = (uint8_t)(hi << 4 | lo);
		text += 2;
		if (i < 5 && *text != ':' && *text != '-')
			return CW_E_SYNTAX;
		text += i < 5;
	}
	if (*text != '\0')
		return CW_E_SYNTAX;
	memcpy(out, a, 6);
	return CW_OK;
}

void cw_ip4_format(const uint8_t *a, char buf[CW_ADDR_TEXT])
{
	(void)snprintf(buf, CW_ADDR_TEXT, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

void cw_mac_format(const uint8_t *a, char buf[CW_ADDR_TEXT])
{
	(void)snprintf(buf, CW_ADDR_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3],
		       a[4], a[5]);
}

/* RFC 5952 4.2: the longest run of two or more zero groups, the first of equals. */
static void longest_zero_run(const uint8_t *a, int *start, int *len)
{
	int i, run = 0;

	*start = -1;
	*len = 1;
	for (i = 0; i < 8; i++) {
		run = cw_be16(a + 2 * i) == 0 ? run + 1 : 0;
		if (run > *len) {
			*len = run;
			*start = i - run + 1;
		}
	}
}

/* RFC 5952 5: the IPv4-mapped prefix is written with a dotted tail. */
static bool is_mapped(const uint8_t *a)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a, prefix, 12) == 0;
}

void cw_ip6_format(const uint8_t *a, char buf[CW_ADDR_TEXT])
{
	int start, len, i, n = 0;

	if (is_mapped(a)) {
		(void)snprintf(buf, CW_ADDR_TEXT, "::ffff:%u.%u.%u.%u", a[12], a[13], a[14], a[15]);
		return;
	}
	longest_zero_run(a, &start, &len);
	for (i = 0; i < 8; i++) {
		if (i == start) {
			n += snprintf(buf + n, CW_ADDR_TEXT - (size_t)n, "::");
			i += len - 1;
			continue;
		}
		n += snprintf(buf + n, CW_ADDR_TEXT - (size_t)n, "%s%x",
			      i > 0 && i != start + len ? ":" : "", cw_be16(a + 2 * i));
	}
}

static int format_int(const struct cw_field *f, uint64_t v, char *buf, size_t size)
{
	if (f->show == CW_SHOW_HEX)
		return snprintf(buf, size, "0x%0*" PRIx64, (f->width + 3) / 4, v);
	return snprintf(buf, size, "%" PRIu64, v);
}

static int format_octets(const uint8_t *p, size_t n, char *buf, size_t size)
{
	size_t i;

	if (size < 2 * n + 1)
		return CW_E_SPACE;
	for (i = 0; i < n; i++)
		(void)snprintf(buf + 2 * i, 3, "%02x", p[i]);
	buf[2 * n] = '\0';
	return (int)(2 * n);
}

int cw_field_format(const struct cw_field *f, const uint8_t *p, char *buf, size_t size)
{
	char addr[CW_ADDR_TEXT];
	int n;

	p += cw_field_is_int(f) ? 0 : f->bit / 8;
	switch (f->show) {
	case CW_SHOW_IP4:
		cw_ip4_format(p, addr);
		break;
	case CW_SHOW_IP6:
		cw_ip6_format(p, addr);
		break;
	case CW_SHOW_MAC:
		cw_mac_format(p, addr);
		break;
	case CW_SHOW_OCTETS:
		return format_octets(p, f->width / 8u, buf, size);
	default:
		n = format_int(f, cw_field_get(f, p), buf, size);
		return (size_t)n < size ? n : CW_E_SPACE;
	}
	n = snprintf(buf, size, "%s", addr);
	return (size_t)n < size ? n : CW_E_SPACE;
}

static int parse_number(const char *text, uint64_t *v)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	char *end;

	if (hex_digit(text[0]) < 0)
		return CW_E_SYNTAX;
	errno = 0;
	*v = strtoull(text, &end, base);
	if (*end != '\0')
		return CW_E_SYNTAX;
	return errno == ERANGE ? CW_E_RANGE : CW_OK;
}

static int parse_int(const struct cw_field *f, uint8_t *p, const char *text)
{
	const struct cw_name *n;
	uint64_t v;
	int err;

	for (n = f->names; n != NULL && n->name != NULL; n++) {
		if (strcmp(n->name, text) == 0)
			break;
	}
	if (n != NULL && n->name != NULL)
		v = n->value;
	else if ((err = parse_number(text, &v)) < 0)
		return err;
	if (v > CW_BITS_MASK(f->width))
		return CW_E_RANGE;
	cw_bits_set(p, f->bit, f->width, v);
	return CW_OK;
}

static int parse_octets(const struct cw_field *f, uint8_t *p, const char *text)
{
	uint8_t tmp[256];
	int n = cw_hex_parse(text, tmp, sizeof(tmp));

	if (n < 0)
		return n;
	if (n != f->width / 8)
		return CW_E_RANGE;
	memcpy(p, tmp, (size_t)n);
	return CW_OK;
}

int cw_field_parse(const struct cw_field *f, uint8_t *p, const char *text)
{
	uint8_t *at = p + f->bit / 8;

	switch (f->show) {
	case CW_SHOW_IP4:
		return cw_ip4_parse(text, at);
	case CW_SHOW_IP6:
		return cw_ip6_parse(text, at);
	case CW_SHOW_MAC:
		return cw_mac_parse(text, at);
	case CW_SHOW_OCTETS:
		return parse_octets(f, at, text);
	default:
		return parse_int(f, p, text);
	}
}
