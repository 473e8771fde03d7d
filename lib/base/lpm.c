/* lpm.c - longest prefix match: a binary trie without nodes that only lead on, in one growing
 * array. See causeway/lpm.h. */
#include <stdlib.h>
#include "causeway/lpm.h"

/* An address as two numbers: bit 0 is the highest one of the first. */
struct bits {
	uint64_t half[2];
};

/* A prefix, where one was entered (then it has a value) or where two go different ways. */
struct node {
	struct bits bits;  /* zero behind the prefix */
	uint32_t child[2]; /* by the bit behind it; 0: none */
	uint32_t value;
	uint32_t len;
};

/* Node 0 is none. IPv4 has a trie of its own, of prefixes of ::ffff:0:0/96. */
struct cw_lpm {
	struct node *nodes;
	uint32_t n, room;
	uint32_t root[2]; /* IPv6, IPv4 */
};

int cw_lpm_new(struct cw_lpm **out)
{
	struct cw_lpm *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return CW_E_NOMEM;
	t->room = 64;
	t->n = 1;
	t->nodes = calloc(t->room, sizeof(*t->nodes));
	if (t->nodes == NULL) {
		free(t);
		return CW_E_NOMEM;
	}
	*out = t;
	return CW_OK;
}

void cw_lpm_free(struct cw_lpm *t)
{
	if (t == NULL)
		return;
	free(t->nodes);
	free(t);
}

/* ---- Bits --------------------------------------------------------------------------------- */

CW_INLINE struct bits bits_of(const struct cw_gid *a)
{
	return (struct bits){{cw_be64(a->o), cw_be64(a->o + 8)}};
}

CW_INLINE unsigned bit_at(const struct bits *b, unsigned i)
{
	return b->half[i / 64] >> (63 - i % 64) & 1;
}

/* How many bits, from the first one on, are the same. */
CW_INLINE unsigned common(const struct bits *a, const struct bits *b)
{
	uint64_t first = a->half[0] ^ b->half[0], second = a->half[1] ^ b->half[1];

	if (first != 0)
		return (unsigned)__builtin_clzll(first);
	return second != 0 ? 64 + (unsigned)__builtin_clzll(second) : 128;
}

static struct bits cut(struct bits b, unsigned len)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		unsigned n = len <= 64 * i ? 0 : len - 64 * i;

		if (n < 64)
			b.half[i] &= n == 0 ? 0 : ~(uint64_t)0 << (64 - n);
	}
	return b;
}

/* ---- Entries ------------------------------------------------------------------------------ */

static int make_room(struct cw_lpm *t, uint32_t n)
{
	struct node *more;

	if (t->n + n <= t->room)
		return CW_OK;
	if ((more = realloc(t->nodes, 2 * (size_t)t->room * sizeof(*more))) == NULL)
		return CW_E_NOMEM;
	t->nodes = more;
	t->room *= 2;
	return CW_OK;
}

static uint32_t new_node(struct cw_lpm *t, const struct bits *b, unsigned len, uint32_t value)
{
	t->nodes[t->n] = (struct node){.bits = cut(*b, len), .value = value, .len = len};
	return t->n++;
}

/* Where a prefix hangs or has to: a link to its node, to the first one that it does not lead to,
 * or to none. */
static uint32_t *find_link(struct cw_lpm *t, bool v4, const struct bits *b, unsigned len)
{
	uint32_t *link = &t->root[v4];

	while (*link != 0) {
		const struct node *n = &t->nodes[*link];

		if (n->len >= len || common(&n->bits, b) < n->len)
			break;
		link = &t->nodes[*link].child[bit_at(b, n->len)];
	}
	return link;
}

/* Bits of an address's version in front of a prefix's own; CW_E_RANGE for one that is too long. */
static int base_of(const struct cw_gid *prefix, unsigned len)
{
	int base = cw_gid_is_v4(prefix) ? 96 : 0;

	return len <= 128 - (unsigned)base ? base : CW_E_RANGE;
}

int cw_lpm_add(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len, uint32_t value)
{
	int base = base_of(prefix, len);
	struct bits b = bits_of(prefix);
	uint32_t *link, fork;
	unsigned same;

	if (base < 0 || value == 0)
		return CW_E_RANGE;
	if (make_room(t, 2) < 0) /* links stay where they are from here on */
		return CW_E_NOMEM;
	len += (unsigned)base;
	link = find_link(t, base != 0, &b, len);
	if (*link == 0) {
		*link = new_node(t, &b, len, value);
		return CW_OK;
	}
	same = common(&t->nodes[*link].bits, &b);
	if (same > t->nodes[*link].len)
		same = t->nodes[*link].len;
	if (same >= len && t->nodes[*link].len == len) {
		t->nodes[*link].value = value;
		return CW_OK;
	}
	/* The node goes below a new one: the prefix itself, or where both part. */
	fork = new_node(t, &b, same < len ? same : len, same < len ? 0 : value);
	t->nodes[fork].child[bit_at(&t->nodes[*link].bits, t->nodes[fork].len)] = *link;
	if (same < len)
		t->nodes[fork].child[bit_at(&b, same)] = new_node(t, &b, len, value);
	*link = fork;
	return CW_OK;
}

int cw_lpm_remove(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len)
{
	int base = base_of(prefix, len);
	struct bits b = bits_of(prefix);
	struct node *n;

	if (base < 0)
		return CW_E_RANGE;
	len += (unsigned)base;
	n = &t->nodes[*find_link(t, base != 0, &b, len)];
	if (n->value == 0 || n->len != len || common(&n->bits, &b) < len)
		return CW_E_UNKNOWN;
	n->value = 0;
	return CW_OK;
}

uint32_t cw_lpm_find(const struct cw_lpm *t, const struct cw_gid *a)
{
	struct bits b = bits_of(a);
	uint32_t at, best = 0;

	for (at = t != NULL ? t->root[cw_gid_is_v4(a)] : 0; at != 0;) {
		const struct node *n = &t->nodes[at];

		if (common(&n->bits, &b) < n->len)
			break;
		if (n->value != 0)
			best = n->value;
		if (n->len == 128)
			break;
		at = n->child[bit_at(&b, n->len)];
	}
	return best;
}
