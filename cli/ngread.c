/* ngread.c - pcapng blocks from a stream. See ngread.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "causeway/cursor.h"
#include "cli/ngread.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	ORDER_MAGIC = 0x1a2b3c4d,
	NG_BLOCK_MAX = 16 << 20,
};
enum { OPT_END = 0, OPT_COMMENT = 1, OPT_IF_TSRESOL = 9, OPT_IF_TSOFFSET = 14 };

struct interface {
	int link;
	uint32_t snap; /* 0: none */
	uint8_t resolution;
	int64_t offset_s;
};

struct ngread {
	FILE *f;
	bool big;      /* this section's byte order */
	uint32_t type; /* of the block at hand */
	uint8_t *body; /* NG_BLOCK_MAX octets at most, and a NUL */
	size_t len, size;
	struct interface *ifs;
	uint32_t nifs, room;
	int link; /* of the file's first interface */
	char *why;
	size_t why_size;
	char comment[1025];
};

static int fail(struct ngread *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct ngread *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(r->why, r->why_size, fmt, ap);
	va_end(ap);
	return -1;
}

static uint32_t get16(const struct ngread *r, const uint8_t *p)
{
	return r->big ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
}

static uint32_t get32(const struct ngread *r, const uint8_t *p)
{
	return r->big ? cw_be32(p) : cw_le32(p);
}

static uint64_t get64(const struct ngread *r, const uint8_t *p)
{
	uint64_t first = get32(r, p), second = get32(r, p + 4);

	return r->big ? first << 32 | second : second << 32 | first;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int take(struct ngread *r, void *to, size_t n)
{
	size_t got = fread(to, 1, n, r->f);

	if (got == n)
		return 0;
	return fail(r, "truncated dump file; tried to read %zu octets of a block, only got %zu", n,
		    got);
}

static int make_room(struct ngread *r, size_t n)
{
	uint8_t *more;

	if (n < r->size)
		return 0;
	if ((more = realloc(r->body, n + 1)) == NULL)
		return fail(r, "out of memory");
	r->body = more;
	r->size = n + 1;
	return 0;
}

/* The byte order of a section is behind the length of its header. */
static int take_order(struct ngread *r, uint8_t *magic)
{
	if (take(r, magic, 4) < 0)
		return -1;
	r->big = cw_be32(magic) == ORDER_MAGIC;
	if (!r->big && cw_le32(magic) != ORDER_MAGIC)
		return fail(r, "a section has no byte order: 0x%08x", cw_be32(magic));
	return 0;
}

/* 1: type and body of the next block, 0: end of the file. */
static int next_block(struct ngread *r)
{
	uint8_t head[8], magic[4], tail[4];
	size_t got = fread(head, 1, sizeof(head), r->f), given = 0;
	uint32_t len;

	if (got == 0 && !ferror(r->f))
		return 0;
	if (got < sizeof(head))
		return fail(r,
			    "truncated dump file; tried to read 8 octets of a block, only got %zu",
			    got);
	if (cw_be32(head) == BLOCK_SECTION && take_order(r, magic) < 0)
		return -1;
	r->type = get32(r, head);
	given = r->type == BLOCK_SECTION ? sizeof(magic) : 0;
	len = get32(r, head + 4);
	if (len < 12 + given || len > NG_BLOCK_MAX || len % 4 != 0)
		return fail(r, "block of type 0x%x has a length of %u octets", r->type, len);
	r->len = len - 12;
	if (make_room(r, r->len) < 0)
		return -1;
	memcpy(r->body, magic, given);
	if (take(r, r->body + given, r->len - given) < 0 || take(r, tail, sizeof(tail)) < 0)
		return -1;
	if (get32(r, tail) != len)
		return fail(r, "block of type 0x%x has a length of %u octets in front, %u behind",
			    r->type, len, get32(r, tail));
	return 1;
}

/* Value of an option, or NULL; `at` is where the options begin. */
static const uint8_t *option(const struct ngread *r, size_t at, uint32_t code, uint32_t *len)
{
	while (at + 4 <= r->len) {
		uint32_t is = get16(r, r->body + at), n = get16(r, r->body + at + 2);

		at += 4;
		if (is == OPT_END || n > r->len - at)
			break;
		if (is == code) {
			*len = n;
			return r->body + at;
		}
		at += (n + 3) / 4 * 4;
	}
	return NULL;
}

/* ---- Interfaces --------------------------------------------------------------------------- */

static int add_interface(struct ngread *r)
{
	struct interface *more, i = {.resolution = 6};
	const uint8_t *v;
	uint32_t len;

	if (r->len < 8)
		return fail(r, "an interface block has %zu octets", r->len);
	i.link = (int)get16(r, r->body);
	i.snap = get32(r, r->body + 4);
	if ((v = option(r, 8, OPT_IF_TSRESOL, &len)) != NULL && len == 1)
		i.resolution = v[0];
	if ((v = option(r, 8, OPT_IF_TSOFFSET, &len)) != NULL && len == 8)
		i.offset_s = (int64_t)get64(r, v);
	if (r->nifs == r->room) {
		r->room = r->room > 0 ? 2 * r->room : 4;
		if ((more = realloc(r->ifs, r->room * sizeof(*more))) == NULL)
			return fail(r, "out of memory");
		r->ifs = more;
	}
	r->ifs[r->nifs++] = i;
	return 0;
}

/* Times of a file are what somebody wrote: the result may wrap, and harms nobody. */
static uint64_t time_of(const struct interface *i, uint64_t units)
{
	unsigned __int128 ns = (unsigned __int128)units * 1000000000u;
	unsigned n = i->resolution & 0x7f;

	if ((i->resolution & 0x80) != 0)
		ns >>= n;
	else
		for (; n > 0 && ns > 0; n--)
			ns /= 10;
	return (uint64_t)ns + (uint64_t)i->offset_s * 1000000000u;
}

/* ---- Packets ------------------------------------------------------------------------------ */

static int take_packet(struct ngread *r, struct cap_packet *p, uint32_t interface, size_t at)
{
	if (interface >= r->nifs)
		return fail(r, "packet of interface %u; %u are described", interface, r->nifs);
	if (p->caplen > CAP_PACKET_MAX)
		return fail(r, "packet of %u octets; at most %d can be read", p->caplen,
			    CAP_PACKET_MAX);
	if (at > r->len || p->caplen > r->len - at)
		return fail(r, "packet of %u octets in a block of %zu", p->caplen, r->len);
	p->link = r->ifs[interface].link;
	p->data = r->body + at;
	return 1;
}

/* UTF-8 with blanks for control characters, which a terminal would obey. */
static const char *printable(struct ngread *r, const uint8_t *v, size_t len)
{
	size_t i, n = len < sizeof(r->comment) - 1 ? len : sizeof(r->comment) - 1;
	json_t *text;

	/* Not inside of a sequence. */
	while (n < len && n > 0 && (v[n] & 0xc0) == 0x80)
		n--;
	memcpy(r->comment, v, n);
	r->comment[n] = '\0';
	text = json_stringn(r->comment, n); /* NULL: not UTF-8 */
	for (i = 0; i < n; i++) {
		uint8_t o = (uint8_t)r->comment[i], next = (uint8_t)r->comment[i + 1];

		if (o < 0x20 || o == 0x7f)
			r->comment[i] = ' ';
		else if (o >= 0x80 && text == NULL)
			r->comment[i] = '?';
		else if (o == 0xc2 && next < 0xa0)
			r->comment[i] = r->comment[i + 1] = ' ';
	}
	json_decref(text);
	return r->comment;
}

/* An enhanced packet block, or the older one that it took the place of. */
static int packet(struct ngread *r, struct cap_packet *p)
{
	uint32_t interface, len;
	const uint8_t *v;

	if (r->len < 20)
		return fail(r, "a packet block has %zu octets", r->len);
	interface = r->type == BLOCK_PACKET ? get32(r, r->body) : get16(r, r->body);
	p->caplen = get32(r, r->body + 12);
	p->len = get32(r, r->body + 16);
	if (take_packet(r, p, interface, 20) < 0)
		return -1;
	p->time_ns = time_of(&r->ifs[interface],
			     (uint64_t)get32(r, r->body + 4) << 32 | get32(r, r->body + 8));
	v = option(r, 20 + ((size_t)p->caplen + 3) / 4 * 4, OPT_COMMENT, &len);
	if (v != NULL)
		p->comment = printable(r, v, len);
	return 1;
}

/* Of the first interface, without a time. */
static int simple_packet(struct ngread *r, struct cap_packet *p)
{
	if (r->len < 4)
		return fail(r, "a packet block has %zu octets", r->len);
	p->caplen = p->len = get32(r, r->body);
	if (r->nifs > 0 && r->ifs[0].snap > 0 && p->caplen > r->ifs[0].snap)
		p->caplen = r->ifs[0].snap;
	return take_packet(r, p, 0, 4);
}

/* 1: a packet, 0: not one. */
static int use_block(struct ngread *r, struct cap_packet *p)
{
	switch (r->type) {
	case BLOCK_SECTION:
		r->nifs = 0;
		return 0;
	case BLOCK_INTERFACE:
		return add_interface(r);
	case BLOCK_PACKET:
	case BLOCK_OLD_PACKET:
		return packet(r, p);
	case BLOCK_SIMPLE_PACKET:
		return simple_packet(r, p);
	default:
		return 0; /* names, statistics, what others invent */
	}
}

int ngread_next(struct ngread *r, struct cap_packet *p, char *why, size_t size)
{
	int rc;

	r->why = why;
	r->why_size = size;
	*p = (struct cap_packet){0};
	while ((rc = next_block(r)) > 0) {
		if ((rc = use_block(r, p)) != 0)
			break;
	}
	return rc;
}

/* ---- Opening ------------------------------------------------------------------------------ */

struct ngread *ngread_open(FILE *f, char *why, size_t size)
{
	struct ngread *r = calloc(1, sizeof(*r));
	struct cap_packet p = {0};
	int rc = 0;

	(void)snprintf(why, size, "out of memory");
	if (r == NULL)
		return NULL;
	r->f = f;
	r->why = why;
	r->why_size = size;
	while (r->nifs == 0 && rc == 0 && (rc = next_block(r)) > 0)
		rc = use_block(r, &p);
	if (r->nifs > 0) {
		r->link = r->ifs[0].link;
		return r;
	}
	if (rc == 0)
		(void)fail(r, "it describes no interface");
	ngread_close(r);
	return NULL;
}

int ngread_link(const struct ngread *r)
{
	return r->link;
}

void ngread_close(struct ngread *r)
{
	if (r == NULL)
		return;
	free(r->ifs);
	free(r->body);
	free(r);
}
