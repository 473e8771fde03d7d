/* learn.c - the proxies among what can be reached, and what is announced again in the other level.
 * Spec: Fast CNP proxy 5.1; RFC 7794 2, RFC 5302 3; docs/decisions.md for the proxy's address. */
#include <stdlib.h>
#include "lib/isis/internal.h"

/* A flagged prefix that may go to the other level. Borrows the LSP. */
struct candidate {
	struct cw_pnc_prefix p;
	uint32_t metric;
	struct cw_addr proxy;
	const uint8_t *system;
};

struct learn {
	struct cw_isis *s;
	const struct level *l;
	struct list proxies;    /* struct cw_isis_proxy */
	struct list candidates; /* of the level at hand */
	struct list inner;      /* struct cw_prefix: what level 1 reaches by itself */
	/* The system at hand: */
	const struct lsp *p;
	struct cw_pnc_own own;
	bool failed; /* no memory */
};

/* Distance to the system in the prefix's topology; FAR also for topologies that are not computed.
 */
static uint32_t distance(const struct learn *k, const struct cw_pnc_prefix *p)
{
	if (p->mt != 0 && p->mt != 2)
		return FAR;
	return k->p->dist[p->mt == 2];
}

/* ---- One system ---------------------------------------------------------------------------- */

static int find_own(void *arg, const struct cw_pnc_prefix *p)
{
	struct learn *k = arg;

	return distance(k, p) == FAR ? 0 : cw_pnc_own_add(&k->own, p);
}

static void add_proxy(struct learn *k, const struct cw_pnc_prefix *p, const struct cw_addr *proxy)
{
	struct cw_isis_proxy *to;

	if (proxy->version == 0)
		return;
	if ((to = list_add(&k->proxies, sizeof(*to))) == NULL) {
		k->failed = true;
		return;
	}
	memset(to, 0, sizeof(*to)); /* compared as octets later */
	to->level = k->l->number;
	memcpy(to->system, k->p->id, CW_ISIS_SYSTEM);
	to->prefix = p->prefix;
	to->proxy = *proxy;
	to->down = p->down;
}

/* The way from the neighbour on: the own link is in the neighbour's metric to us already. */
static uint32_t leaked_metric(const struct learn *k, const struct cw_pnc_prefix *p)
{
	uint64_t dist = distance(k, p), own = k->s->c.metric;

	if (p->metric > CW_ISIS_METRIC_MAX)
		return p->metric; /* not for routing, there neither */
	dist = (dist > own ? dist - own : 0) + p->metric;
	return dist < CW_ISIS_METRIC_MAX ? (uint32_t)dist : CW_ISIS_METRIC_MAX;
}

/* RFC 5302 3.2: what was leaked down never goes up. */
static void add_candidate(struct learn *k, const struct cw_pnc_prefix *p,
			  const struct cw_addr *proxy)
{
	struct candidate *c;

	if (k->l->number == 1 && p->down)
		return;
	if ((c = list_add(&k->candidates, sizeof(*c))) == NULL) {
		k->failed = true;
		return;
	}
	*c = (struct candidate){*p, leaked_metric(k, p), *proxy, k->p->id};
}

static void add_inner(struct learn *k, const struct cw_pnc_prefix *p)
{
	struct cw_prefix *to;

	if (k->l->number != 1 || p->down || (k->s->c.reoriginate & CW_ISIS_L1) == 0)
		return;
	if ((to = list_add(&k->inner, sizeof(*to))) == NULL)
		k->failed = true;
	else
		*to = p->prefix;
}

static int use_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	struct learn *k = arg;
	struct cw_addr proxy;

	if (p->unreachable || distance(k, p) == FAR)
		return 0;
	add_inner(k, p);
	if (!p->pnc)
		return 0;
	proxy = cw_pnc_proxy(&k->own, p);
	add_proxy(k, p, &proxy);
	add_candidate(k, p, &proxy);
	return 0;
}

static int walk(struct learn *k, cw_pnc_fn *fn)
{
	struct cw_isis_pdu pdu;
	int err;

	if (k->p->len == 0 || k->p->purged)
		return CW_OK;
	if ((err = cw_isis_pdu_parse(&pdu, k->p->pdu, k->p->len)) != CW_OK)
		return err;
	return cw_isis_walk(&k->s->c.codes, pdu.tlvs.p, cw_rd_left(&pdu.tlvs), fn, k, NULL);
}

/* Up to the fault of an LSP that has one: it was counted when it came. */
static void each_prefix(struct learn *k, size_t first, size_t n, cw_pnc_fn *fn)
{
	size_t i;
	int err = CW_OK;

	for (i = first; i < first + n; i++) {
		k->p = k->l->lsp[i];
		err = walk(k, fn);
	}
	(void)err;
}

static void learn_level(struct learn *k)
{
	const struct level *l = k->l;
	size_t i, n;

	for (i = 0; i < l->n; i += n) {
		const uint8_t *id = l->lsp[i]->id;

		for (n = 1; i + n < l->n && memcmp(l->lsp[i + n]->id, id, 7) == 0; n++)
			;
		if (l->lsp[i]->own || id[6] != 0 || id[7] != 0)
			continue;
		k->own = (struct cw_pnc_own){0};
		each_prefix(k, i, n, find_own);
		each_prefix(k, i, n, use_prefix);
	}
}

/* ---- To the other level -------------------------------------------------------------------- */

static int by_prefix(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cw_prefix));
}

/* By prefix and topology; the best first. */
static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int d = by_prefix(&x->p.prefix, &y->p.prefix);

	if (d != 0)
		return d;
	if (x->p.mt != y->p.mt)
		return x->p.mt < y->p.mt ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return memcmp(x->system, y->system, CW_ISIS_SYSTEM);
}

/* RFC 5302 3.2: a level 1 route is better than a level 2 route to the same prefix, so that is not
 * leaked down. */
static bool has_inner(const struct learn *k, const struct cw_prefix *p)
{
	return k->inner.n > 0 && bsearch(p, k->inner.at, k->inner.n, sizeof(*p), by_prefix) != NULL;
}

static bool leak(struct learn *k, const struct candidate *c, struct entries *to)
{
	const struct cw_isis_edit edit = {.pnc = true,
					  .leak = true,
					  .down = k->l->number == 2,
					  .metric = c->metric,
					  .source = c->proxy};
	uint8_t entry[CW_PNC_ISIS_ENTRY_MAX];
	struct cw_wr w = cw_wr_init(entry, sizeof(entry));

	if (cw_isis_reach_edit(&w, &k->s->c.codes, &c->p, &edit) != CW_OK || w.p - entry > 253) {
		k->s->n.no_room++;
		return true;
	}
	return isis_entry_add(to, (uint8_t)c->p.kind, entry, (size_t)(w.p - entry));
}

static void leak_all(struct learn *k, struct entries *to)
{
	const struct candidate *c = k->candidates.at;
	size_t i;

	list_sort(&k->candidates, sizeof(*c), by_worth);
	for (i = 0; i < k->candidates.n && !k->failed; i++) {
		if (i > 0 && by_prefix(&c[i].p.prefix, &c[i - 1].p.prefix) == 0 &&
		    c[i].p.mt == c[i - 1].p.mt)
			continue;
		if (k->l->number == 2 && has_inner(k, &c[i].p.prefix))
			continue;
		k->failed = !leak(k, &c[i], to);
	}
}

/* Level `from` was learnt; what of it goes to the other one. */
static void reoriginate(struct learn *k, uint64_t now)
{
	struct level *to = &k->s->level[k->l->number == 1 ? 1 : 0];
	struct entries e = {0};

	if ((k->s->c.reoriginate & k->s->c.levels & to->number) != 0 && to->used)
		leak_all(k, &e);
	k->candidates.n = 0;
	if (k->failed ||
	    (e.len == to->leaked.len && (e.len == 0 || memcmp(e.at, to->leaked.at, e.len) == 0))) {
		free(e.at);
		return;
	}
	free(to->leaked.at);
	to->leaked = e;
	isis_own_changed(k->s, to, now);
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void count_systems(struct level *l)
{
	size_t i;

	l->reachable = 0;
	for (i = 0; i < l->n; i++) {
		const struct lsp *p = l->lsp[i];

		if (cw_be16(p->id + 6) == 0 && !p->own && (p->dist[0] != FAR || p->dist[1] != FAR))
			l->reachable++;
	}
}

static void learn_all(struct cw_isis *s, struct learn *k, uint64_t now)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		k->l = &s->level[i];
		learn_level(k);
		if (i == 0)
			list_sort(&k->inner, sizeof(struct cw_prefix), by_prefix);
		if (!k->failed)
			reoriginate(k, now);
	}
}

void isis_compute(struct cw_isis *s, uint64_t now)
{
	struct learn k = {.s = s};
	unsigned i;

	spf_timer_done(&s->compute, now);
	s->n.computations++;
	for (i = 0; i < 2 && !k.failed; i++) {
		k.failed = !isis_spf(&s->level[i], s->c.system);
		count_systems(&s->level[i]);
	}
	if (!k.failed)
		learn_all(s, &k, now);
	if (k.failed) {
		s->n.no_memory++;
		isis_changed(s, now); /* what was known before stays until it works out */
		free(k.proxies.at);
	} else if (list_replace(&s->proxies, &k.proxies, sizeof(struct cw_isis_proxy))) {
		s->generation++;
	}
	free(k.candidates.at);
	free(k.inner.at);
}
