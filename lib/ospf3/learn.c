/* learn.c - the proxies among what can be reached.
 * Spec: Fast CNP proxy 5.3; docs/decisions.md for the proxy's address. */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

struct learn {
	struct cw_ospf3 *s;
	uint64_t now;
	struct cw_ospf3_proxy *proxy;
	size_t n, room;
	/* The router at hand: */
	struct cw_addr best; /* its flagged host prefix */
	bool best_node;
	bool failed; /* no memory */
};

/* A host prefix with the N flag before one without, then the lowest. */
static int find_proxy(void *arg, const struct cw_pnc_prefix *p)
{
	struct learn *k = arg;
	struct cw_addr *best = &k->best;

	if (!p->pnc || p->unreachable || p->prefix.plen != 128)
		return 0;
	if (best->version == 0 || (p->node && !k->best_node) ||
	    (p->node == k->best_node &&
	     memcmp(p->prefix.addr, best->addr, sizeof(best->addr)) < 0)) {
		best->version = 6;
		memcpy(best->addr, p->prefix.addr, sizeof(best->addr));
		k->best_node = p->node;
	}
	return 0;
}

struct context {
	struct learn *k;
	const struct lsa *p;
};

static struct cw_ospf3_proxy *grow(struct learn *k)
{
	size_t room = k->room * 2 + 64;
	struct cw_ospf3_proxy *more;

	if (k->n == k->room) {
		if ((more = realloc(k->proxy, room * sizeof(*more))) == NULL) {
			k->failed = true;
			return NULL;
		}
		k->proxy = more;
		k->room = room;
	}
	return &k->proxy[k->n++];
}

static int use_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	const struct context *c = arg;
	struct cw_ospf3_proxy *to;

	if (!p->pnc || p->unreachable || c->k->best.version == 0 || (to = grow(c->k)) == NULL)
		return 0;
	memset(to, 0, sizeof(*to)); /* compared as octets later */
	memcpy(to->router, c->p->key, sizeof(to->router));
	to->type = ospf3_lsa_type(c->p);
	to->prefix = p->prefix;
	to->proxy = c->k->best;
	return 0;
}

static bool is_usable(const struct learn *k, const struct lsa *p)
{
	return !p->own && p->dist != FAR && ospf3_lsa_age(p, k->now) < CW_OSPF3_MAX_AGE;
}

/* An LSA with a fault tells nothing: it was counted when it came. */
static void walk(const struct learn *k, const struct lsa *p, cw_pnc_fn *fn, void *arg)
{
	int err = CW_OK;

	if (is_usable(k, p))
		err = cw_ospf3_walk(&k->s->c.codes, ospf3_lsa_type(p), p->at + CW_SIZE_OSPF3_LSA,
				    p->len - CW_SIZE_OSPF3_LSA, fn, arg, NULL);
	(void)err;
}

/* The LSAs of one router lie side by side. */
static void learn_router(struct learn *k, size_t first, size_t n)
{
	struct context c = {.k = k};
	size_t i;

	k->best = (struct cw_addr){0};
	k->best_node = false;
	for (i = first; i < first + n; i++)
		walk(k, k->s->lsa[i], find_proxy, k);
	for (i = first; i < first + n; i++) {
		c.p = k->s->lsa[i];
		walk(k, c.p, use_prefix, &c);
	}
	k->s->reachable += is_usable(k, k->s->lsa[first]);
}

static void learn_all(struct learn *k)
{
	const struct cw_ospf3 *s = k->s;
	size_t i, n;

	k->s->reachable = 0;
	for (i = 0; i < s->lsas; i += n) {
		for (n = 1; i + n < s->lsas && memcmp(s->lsa[i + n]->key, s->lsa[i]->key, 4) == 0;
		     n++)
			;
		learn_router(k, i, n);
	}
}

static void use_proxies(struct cw_ospf3 *s, struct learn *k)
{
	size_t size = k->n * sizeof(*s->proxy);

	if (k->n == s->nproxy && (size == 0 || memcmp(s->proxy, k->proxy, size) == 0)) {
		free(k->proxy);
		return;
	}
	free(s->proxy);
	s->proxy = k->proxy;
	s->nproxy = k->n;
	s->generation++;
}

void ospf3_compute(struct cw_ospf3 *s, uint64_t now)
{
	struct learn k = {.s = s, .now = now};

	s->compute_ms = UINT64_MAX;
	s->computed_ms = now;
	s->n.computations++;
	k.failed = !ospf3_spf(s, now);
	if (!k.failed)
		learn_all(&k);
	if (k.failed) {
		s->n.no_memory++;
		ospf3_changed(s, now); /* what was known before stays until it works out */
		free(k.proxy);
	} else {
		use_proxies(s, &k);
	}
}
