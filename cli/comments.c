/* comments.c - see comments.h. Format: draft-ietf-opsawg-pcapng, sections 3 and 4.
 *
 * Whatever looks wrong here ends the noting, not the reading: errors are libpcap's to find.
 */
#include "cli/comments.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "causeway/bits.h"

enum {
	SECTION = 0x0a0d0d0a,
	PACKET = 2, /* the obsolete block */
	SIMPLE = 3,
	ENHANCED = 6,
	ORDER = 0x1a2b3c4d,
	HEAD = 28,           /* of a packet block, up to the packet's octets */
	BLOCK_MIN = 12,      /* type, length, and the length again */
	OPTIONS_MAX = 65536, /* more of them are not looked at */
	COMMENT = 1
};

struct comment {
	struct comment *next;
	uint64_t number;
	char text[];
};

struct comments {
	FILE *f;
	bool direct, begun;        /* read the descriptor itself; the first octet has been read */
	bool begun_section;        /* it is pcapng */
	bool ended, big;           /* noting is over; octets are in network order */
	uint32_t type, total, pos; /* of the block that is read; pos octets of it have passed */
	uint32_t options_at;       /* offset in the block, `total` if there are none */
	uint8_t head[HEAD];
	uint8_t *options;
	uint32_t options_len;
	int64_t passed;
	uint64_t packets;             /* whole packet blocks that have passed */
	struct comment *first, *last; /* of packets that were not asked for yet */
	struct comment *given;
};

bool comments_wanted(FILE *f)
{
	int c = getc(f);

	if (c != EOF)
		(void)ungetc(c, f);
	return c == (SECTION & 0xff);
}

/* ---- Comments ------------------------------------------------------------------------------- */

/* Nothing that moves a terminal's cursor, and nothing that no JSON string can hold. */
static void tidy(char *text)
{
	json_t *valid = json_string(text);
	char *c;

	for (c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
		else if (valid == NULL && (unsigned char)*c >= 0x80)
			*c = '?';
	}
	json_decref(valid);
}

static void note(struct comments *c, const uint8_t *text, uint32_t len)
{
	struct comment *n = malloc(sizeof(*n) + len + 1);

	if (n == NULL)
		return;
	*n = (struct comment){.number = c->packets};
	memcpy(n->text, text, len);
	n->text[len] = '\0';
	tidy(n->text);
	if (c->last != NULL)
		c->last->next = n;
	else
		c->first = n;
	c->last = n;
}

const char *comments_take(struct comments *c, uint64_t number)
{
	struct comment *n;

	while ((n = c->first) != NULL && n->number <= number) {
		c->first = n->next;
		c->last = c->first != NULL ? c->last : NULL;
		free(c->given);
		c->given = n;
		if (n->number == number)
			return n->text;
	}
	return NULL;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static uint32_t get16(const struct comments *c, const uint8_t *p)
{
	return c->big ? cw_be16(p) : (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const struct comments *c, const uint8_t *p)
{
	return c->big ? get16(c, p) << 16 | get16(c, p + 2) : get16(c, p) | get16(c, p + 2) << 16;
}

static bool is_packet(const struct comments *c)
{
	return c->type == ENHANCED || c->type == PACKET || c->type == SIMPLE;
}

/* A block has passed whole: note its first comment. The length stands behind the options again. */
static void end_block(struct comments *c)
{
	uint32_t end = c->options_len >= 4 ? c->options_len - 4 : 0, at, len;

	c->packets += is_packet(c);
	for (at = 0; at < end && end - at >= 4; at += 4 + (len + 3) / 4 * 4) {
		len = get16(c, c->options + at + 2);
		if (len > end - at - 4)
			break;
		if (len > 0 && get16(c, c->options + at) == COMMENT) {
			note(c, c->options + at + 4, len);
			break;
		}
	}
	c->pos = c->options_len = 0;
}

/* Type and length have passed, and the order of octets with them. */
static void begin_block(struct comments *c)
{
	if (get32(c, c->head) == SECTION) { /* the same in both orders */
		c->big = false;
		c->big = get32(c, c->head + 8) != ORDER;
		c->begun_section = true;
	}
	c->type = get32(c, c->head);
	c->total = c->options_at = get32(c, c->head + 4);
	c->ended = !c->begun_section || c->total < BLOCK_MIN || c->total % 4 != 0;
}

/* The head of a packet block has passed: where do its options begin? */
static void find_options(struct comments *c)
{
	uint64_t captured = get32(c, c->head + 20);
	uint64_t at = HEAD + (captured + 3) / 4 * 4;

	if ((c->type == ENHANCED || c->type == PACKET) && at + 4 <= c->total &&
	    c->total - at - 4 <= OPTIONS_MAX)
		c->options_at = (uint32_t)at;
}

/* Octets of the head, up to `upto`; how many were taken. */
static size_t take_head(struct comments *c, const uint8_t *p, size_t n, uint32_t upto)
{
	size_t want = upto - c->pos;

	want = want < n ? want : n;
	memcpy(c->head + c->pos, p, want);
	return want;
}

static size_t take_options(struct comments *c, const uint8_t *p, size_t n)
{
	size_t want = c->total - c->pos;
	uint8_t *more;

	want = want < n ? want : n;
	more = realloc(c->options, c->options_len + want);
	if (more == NULL) {
		c->ended = true;
		return n;
	}
	c->options = more;
	memcpy(more + c->options_len, p, want);
	c->options_len += (uint32_t)want;
	return want;
}

static size_t take(struct comments *c, const uint8_t *p, size_t n)
{
	uint32_t end;

	if (c->pos < BLOCK_MIN)
		return take_head(c, p, n, BLOCK_MIN);
	if (c->pos < HEAD && c->total >= HEAD)
		return take_head(c, p, n, HEAD);
	if (c->pos >= c->options_at)
		return take_options(c, p, n);
	end = c->options_at;
	return end - c->pos < n ? end - c->pos : n;
}

static void pass(struct comments *c, const uint8_t *p, size_t n)
{
	size_t k;

	while (n > 0 && !c->ended) {
		k = take(c, p, n);
		p += k;
		n -= k;
		c->pos += (uint32_t)k;
		if (c->pos == BLOCK_MIN)
			begin_block(c);
		if (c->pos == HEAD && c->options_at == c->total && !c->ended)
			find_options(c);
		if (c->pos >= BLOCK_MIN && c->pos == c->total && !c->ended)
			end_block(c);
	}
}

/* ---- The stream ----------------------------------------------------------------------------- */

/* fread() waits for all that it is asked for, and a pipe may have less for long. */
static ssize_t get(struct comments *c, char *buf, size_t size)
{
	size_t n;

	if (c->direct && c->begun)
		return read(fileno(c->f), buf, size);
	n = fread(buf, 1, c->begun ? size : 1, c->f);
	c->begun = true;
	if (n == 0 && ferror(c->f)) {
		errno = EIO;
		return -1;
	}
	return (ssize_t)n;
}

static ssize_t read_some(void *cookie, char *buf, size_t size)
{
	struct comments *c = cookie;
	ssize_t n = get(c, buf, size);

	if (n > 0) {
		c->passed += n;
		pass(c, (const uint8_t *)buf, (size_t)n);
	}
	return n;
}

int64_t comments_passed(const struct comments *c)
{
	return c->passed;
}

/* The reader may still ask for the comments of packets that it has. */
static int close_stream(void *cookie)
{
	struct comments *c = cookie;
	int rc = fclose(c->f);

	c->f = NULL;
	return rc;
}

FILE *comments_open(FILE *f, bool direct, struct comments **out)
{
	cookie_io_functions_t io = {.read = read_some, .close = close_stream};
	struct comments *c = calloc(1, sizeof(*c));
	FILE *stream = c != NULL ? fopencookie(c, "rb", io) : NULL;

	if (stream == NULL) {
		free(c);
		(void)fclose(f);
		errno = ENOMEM;
		return NULL;
	}
	c->f = f;
	c->direct = direct;
	*out = c;
	return stream;
}

void comments_free(struct comments *c)
{
	if (c == NULL)
		return;
	(void)comments_take(c, UINT64_MAX);
	free(c->given);
	free(c->options);
	free(c);
}
