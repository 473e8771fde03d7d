/* hops.c - equal next hops become one. See hops.h. */
#include <stdlib.h>
#include <string.h>
#include "daemon/control/hops.h"

int cw_hops_init(struct cw_hops *t, unsigned max)
{
	uint32_t size = 8;

	while (size / 2 < max)
		size *= 2;
	*t = (struct cw_hops){.mask = size - 1};
	t->hop = calloc(max + 1, sizeof(*t->hop));
	t->bucket = calloc(size, sizeof(*t->bucket));
	return t->hop != NULL && t->bucket != NULL ? CW_OK : CW_E_NOMEM;
}

void cw_hops_free(struct cw_hops *t)
{
	free(t->hop);
	free(t->bucket);
}

static uint32_t mix(uint32_t h, const uint8_t *p, unsigned n)
{
	for (; n > 0; n--)
		h = (h ^ *p++) * 0x01000193u; /* FNV-1a */
	return h;
}

/* What differs between the hops of one port; of others, the port. */
static uint32_t hash(const struct cw_hop *h)
{
	uint32_t v = 0x811c9dc5u ^ h->slot ^ (uint32_t)h->kind << 8;

	v = mix(v, h->hop.dst, sizeof(h->hop.dst));
	if (h->kind == CW_HOP_VIA)
		v = mix(v, h->via.a, h->via.version == 4 ? 4 : 16);
	return v ^ v >> 15;
}

static bool same_via(const struct cw_ip_addr *a, const struct cw_ip_addr *b)
{
	return a->version == b->version && memcmp(a->a, b->a, a->version == 4 ? 4 : 16) == 0;
}

static bool same(const struct cw_hop *a, const struct cw_hop *b)
{
	return a->slot == b->slot && a->kind == b->kind && a->hop.side == b->hop.side &&
	       memcmp(a->hop.dst, b->hop.dst, 6) == 0 && memcmp(a->hop.src, b->hop.src, 6) == 0 &&
	       a->hop.bare == b->hop.bare && a->hop.tpid == b->hop.tpid &&
	       a->hop.outer_vid == b->hop.outer_vid && a->hop.mtu == b->hop.mtu &&
	       a->hop.filter == b->hop.filter &&
	       (a->kind != CW_HOP_VIA || same_via(&a->via, &b->via));
}

uint32_t cw_hops_add(struct cw_hops *t, const struct cw_hop *hop)
{
	uint32_t i;

	for (i = hash(hop) & t->mask; t->bucket[i] != 0; i = (i + 1) & t->mask) {
		if (same(&t->hop[t->bucket[i] - 1], hop))
			return t->bucket[i] - 1;
	}
	t->hop[t->n] = *hop;
	t->bucket[i] = ++t->n;
	return t->n - 1;
}

/* Two to a cache line, so that a packet needs one line of them. */
int cw_hops_finish(struct cw_hops *t, struct cw_plane *p)
{
	unsigned i;

	_Static_assert(64 % sizeof(*p->adj) == 0, "an adjacency is on one cache line");
	if (posix_memalign((void **)&p->adj, 64, (t->n + 1) * sizeof(*p->adj)) != 0)
		return CW_E_NOMEM;
	for (i = 0; i <= t->n; i++)
		p->adj[i] = cw_ub2e_adj_none;
	for (i = 0; i < t->n; i++) {
		if (t->hop[i].kind != CW_HOP_LOCAL)
			cw_ub2e_adj_init(&p->adj[i], &t->hop[i].hop);
		p->adj[i].user = cw_adj_user(t->hop[i].slot, t->hop[i].kind);
		p->resolves |= t->hop[i].kind == CW_HOP_VIA || t->hop[i].kind == CW_HOP_ONLINK;
	}
	p->nhops = t->n;
	p->hops = t->hop;
	t->hop = NULL;
	return CW_OK;
}
