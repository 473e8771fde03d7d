/* lpm.c - longest prefix match: a binary trie in one growing array. See causeway/lpm.h. */
#include <stdlib.h>
#include "causeway/lpm.h"

struct node {
	uint32_t child[2]; /* 0: none; the root is nobody's child */
	uint32_t value;
};

/* Two roots: node 0 for IPv6, node 1 for IPv4. */
struct cw_lpm {
	struct node *nodes;
	uint32_t n, room;
};

int cw_lpm_new(struct cw_lpm **out)
{
	struct cw_lpm *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return CW_E_NOMEM;
	t->room = 64;
	t->n = 2;
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

static unsigned bit_of(const struct cw_gid *a, unsigned i)
{
	return a->o[i / 8] >> (7 - i % 8) & 1u;
}

/* First bit and root of the address's version. */
static unsigned first_bit(const struct cw_gid *a)
{
	return cw_gid_is_v4(a) ? 96 : 0;
}

/* A new node, or 0. */
static uint32_t grow(struct cw_lpm *t)
{
	if (t->n == t->room) {
		struct node *more = realloc(t->nodes, 2 * (size_t)t->room * sizeof(*more));

		if (more == NULL)
			return 0;
		t->nodes = more;
		t->room *= 2;
	}
	t->nodes[t->n] = (struct node){{0, 0}, 0};
	return t->n++;
}

int cw_lpm_add(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len, uint32_t value)
{
	unsigned first = first_bit(prefix), i;
	uint32_t at = first != 0, next;

	if (len > 128 - first || value == 0)
		return CW_E_RANGE;
	for (i = first; i < first + len; i++) {
		next = t->nodes[at].child[bit_of(prefix, i)];
		if (next == 0) {
			if ((next = grow(t)) == 0)
				return CW_E_NOMEM;
			t->nodes[at].child[bit_of(prefix, i)] = next;
		}
		at = next;
	}
	t->nodes[at].value = value;
	return CW_OK;
}

int cw_lpm_remove(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len)
{
	unsigned first = first_bit(prefix), i;
	uint32_t at = first != 0;

	if (len > 128 - first)
		return CW_E_RANGE;
	for (i = first; i < first + len; i++) {
		at = t->nodes[at].child[bit_of(prefix, i)];
		if (at == 0)
			return CW_E_UNKNOWN;
	}
	if (t->nodes[at].value == 0)
		return CW_E_UNKNOWN;
	t->nodes[at].value = 0;
	return CW_OK;
}

uint32_t cw_lpm_find(const struct cw_lpm *t, const struct cw_gid *a)
{
	unsigned i;
	uint32_t at, best;

	if (t == NULL)
		return 0;
	i = first_bit(a);
	at = i != 0;
	best = t->nodes[at].value;
	for (; i < 128; i++) {
		at = t->nodes[at].child[bit_of(a, i)];
		if (at == 0)
			break;
		if (t->nodes[at].value != 0)
			best = t->nodes[at].value;
	}
	return best;
}
