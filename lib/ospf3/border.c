/* border.c - from one area to another. Spec: Fast CNP proxy 5.3; RFC 2328 12.4.3, RFC 5340 4.4.3.4,
 * RFC 8362 4.3, RFC 9084 3. */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

/* A prefix that may go to the other area. Borrows the LSA. */
struct candidate {
	struct cw_pnc_prefix p;
	struct cw_addr proxy;
	uint32_t metric;
	const uint8_t *router;
};

/* Those of one area, by prefix. */
struct found {
	struct list all; /* struct candidate */
	const struct cw_ospf3 *s;
	bool inner;    /* only what the area has itself */
	bool failed;   /* no memory */
	uint32_t nssa; /* in E-NSSA-LSAs */
};

void ospf3_summaries_free(struct summary *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(list[i].tlv);
	free(list);
}

/* ---- What there is ------------------------------------------------------------------------- */

static bool is_backbone(const struct cw_ospf3 *s)
{
	return cw_be32(s->c.area) == 0;
}

/* The way from the neighbour on: the link to it is in its metric to us already. */
static uint32_t metric_of(const struct cw_ospf3 *s, const struct lsa *l,
			  const struct cw_pnc_prefix *p)
{
	uint64_t dist = l->dist > s->c.metric ? l->dist - s->c.metric : 0;

	dist += p->metric;
	return dist < CW_OSPF3_INFINITY ? (uint32_t)dist : CW_OSPF3_INFINITY;
}

/* AS-scope LSAs cross areas by themselves, those of an NSSA stay there. */
static void add(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
		const struct cw_addr *proxy)
{
	struct found *k = arg;
	uint32_t metric = metric_of(k->s, l, p);
	struct candidate *to;

	k->nssa += p->kind == CW_OSPF3_E_NSSA;
	if (p->kind != CW_OSPF3_E_INTRA && (k->inner || p->kind != CW_OSPF3_E_INTER))
		return;
	if (metric == CW_OSPF3_INFINITY)
		return;
	if ((to = list_add(&k->all, sizeof(*to))) == NULL) {
		k->failed = true;
		return;
	}
	*to = (struct candidate){*p, *proxy, metric, l->key};
}

/* By prefix; the best first: within the area before from another one (RFC 2328 11), near before
 * far. */
static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int d = memcmp(&x->p.prefix, &y->p.prefix, sizeof(x->p.prefix));

	if (d != 0)
		return d;
	if (x->p.kind != y->p.kind)
		return x->p.kind == CW_OSPF3_E_INTRA ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return memcmp(x->router, y->router, 4);
}

static int by_prefix(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return memcmp(&x->p.prefix, &y->p.prefix, sizeof(x->p.prefix));
}

static bool collect(struct found *k, uint64_t now)
{
	ospf3_each_flagged(k->s, now, add, k);
	list_sort(&k->all, sizeof(struct candidate), by_worth);
	return !k->failed;
}

/* ---- What of it goes on -------------------------------------------------------------------- */

static int is_of(const void *prefix, const void *b)
{
	const struct summary *x = b;

	return memcmp(prefix, &x->prefix, sizeof(x->prefix));
}

static const struct summary *find_summary(const struct cw_ospf3 *s, const struct cw_prefix *p)
{
	if (s->nsummary == 0)
		return NULL;
	return bsearch(p, s->summary, s->nsummary, sizeof(*s->summary), is_of);
}

static bool write_tlv(const struct cw_ospf3 *to, const struct candidate *c, struct summary *out)
{
	struct cw_ospf_edit edit = {.pnc = true,
				    .leak = true,
				    .kind = CW_OSPF3_E_INTER,
				    .metric = c->metric,
				    .source = c->proxy};
	size_t room = c->p.len + 64; /* flags and source are added */
	struct cw_wr w;

	memcpy(edit.router, c->router, sizeof(edit.router));
	if ((out->tlv = calloc(1, room)) == NULL)
		return false;
	w = cw_wr_init(out->tlv, room);
	if (cw_ospf3_prefix_edit(&w, &to->c.codes, &c->p, &edit) != CW_OK)
		return false; /* can't be: there is room */
	out->len = (size_t)(w.p - out->tlv);
	out->prefix = c->p.prefix;
	return true;
}

static bool has(const struct found *k, const struct candidate *c)
{
	return k->all.n > 0 && bsearch(c, k->all.at, k->all.n, sizeof(*c), by_prefix) != NULL;
}

/* A prefix keeps its link state ID. */
static bool summarise(struct cw_ospf3 *to, const struct found *outer, const struct found *inner,
		      struct summary *list, size_t *n)
{
	const struct candidate *c = outer->all.at;
	const struct summary *old;
	size_t i;

	for (i = 0; i < outer->all.n; i++, c++) {
		if ((i > 0 && by_prefix(c, c - 1) == 0) || has(inner, c))
			continue;
		if (!write_tlv(to, c, &list[*n])) {
			free(list[*n].tlv);
			return false;
		}
		old = find_summary(to, &c->p.prefix);
		list[*n].id = old != NULL ? old->id : to->next_id++;
		++*n;
	}
	return true;
}

static bool is_same(const struct cw_ospf3 *s, const struct summary *list, size_t n)
{
	size_t i;

	for (i = 0; n == s->nsummary && i < n; i++) {
		const struct summary *x = &list[i], *y = &s->summary[i];

		if (x->id != y->id || x->len != y->len || memcmp(x->tlv, y->tlv, x->len) != 0)
			return false;
	}
	return n == s->nsummary;
}

static int use(struct cw_ospf3 *to, const struct found *outer, const struct found *inner,
	       uint64_t now)
{
	struct summary *list = calloc(outer->all.n + 1, sizeof(*list));
	size_t n = 0;

	if (list == NULL || !summarise(to, outer, inner, list, &n)) {
		ospf3_summaries_free(list, n);
		return CW_E_NOMEM;
	}
	if (is_same(to, list, n)) {
		ospf3_summaries_free(list, n);
		return CW_OK;
	}
	ospf3_summaries_free(to->summary, to->nsummary);
	to->summary = list;
	to->nsummary = n;
	ospf3_own_changed(to, now);
	return CW_OK;
}

int cw_ospf3_border(struct cw_ospf3 *to, const struct cw_ospf3 *from, uint64_t now)
{
	struct found outer = {.s = from, .inner = !is_backbone(from)};
	struct found inner = {.s = to, .inner = true};
	int err = CW_E_NOMEM;

	if (collect(&outer, now) && collect(&inner, now))
		err = use(to, &outer, &inner, now);
	to->untranslated = inner.nssa;
	free(outer.all.at);
	free(inner.all.at);
	return err;
}
