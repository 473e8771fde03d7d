/* learn.c - the proxies among what can be reached.
 * Spec: Fast CNP proxy 5.3; docs/decisions.md for the proxy's address. */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

/* One router's LSAs at a time. */
struct walk {
	const struct cw_ospf3 *s;
	uint64_t now;
	const struct lsa *l;
	ospf3_flagged_fn *fn;
	void *arg;
	struct cw_pnc_own own;
};

struct learn {
	struct list proxies; /* struct cw_ospf3_proxy */
	bool failed;         /* no memory */
};

/* ---- Flagged prefixes ---------------------------------------------------------------------- */

static int use_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	const struct walk *w = arg;
	struct cw_addr proxy;

	if (cw_pnc_learn(&w->own, p, &proxy))
		w->fn(w->arg, w->l, p, &proxy);
	return 0;
}

static bool is_usable(const struct lsa *p, uint64_t now)
{
	return !p->own && p->dist != FAR && ospf3_lsa_age(p, now) < CW_OSPF3_MAX_AGE;
}

/* An LSA with a fault tells nothing: it was counted when it came. */
static void walk_lsa(const struct walk *w, const struct lsa *p, cw_pnc_fn *fn, void *arg)
{
	int err = CW_OK;

	if (is_usable(p, w->now))
		err = cw_ospf3_walk(&w->s->c.codes, ospf3_lsa_type(p), p->at + CW_SIZE_OSPF3_LSA,
				    p->len - CW_SIZE_OSPF3_LSA, fn, arg, NULL);
	(void)err;
}

/* LSAs of the same router lie side by side. */
static size_t router_run(const struct cw_ospf3 *s, size_t first)
{
	size_t n = 1;

	while (first + n < s->lsas && memcmp(s->lsa[first + n]->key, s->lsa[first]->key, 4) == 0)
		n++;
	return n;
}

void ospf3_each_flagged(const struct cw_ospf3 *s, uint64_t now, ospf3_flagged_fn *fn, void *arg)
{
	struct walk w = {.s = s, .now = now, .fn = fn, .arg = arg};
	size_t i, k, n;

	for (i = 0; i < s->lsas; i += n) {
		n = router_run(s, i);
		w.own = (struct cw_pnc_own){0};
		for (k = i; k < i + n; k++)
			walk_lsa(&w, s->lsa[k], cw_pnc_own_add, &w.own);
		for (k = i; k < i + n; k++) {
			w.l = s->lsa[k];
			walk_lsa(&w, w.l, use_prefix, &w);
		}
	}
}

/* ---- Proxies ------------------------------------------------------------------------------- */

static void add_proxy(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
		      const struct cw_addr *proxy)
{
	struct learn *k = arg;
	struct cw_ospf3_proxy *to = list_add(&k->proxies, sizeof(*to));

	if (to == NULL) {
		k->failed = true;
		return;
	}
	memset(to, 0, sizeof(*to)); /* compared as octets later */
	memcpy(to->router, l->key, sizeof(to->router));
	to->type = ospf3_lsa_type(l);
	to->prefix = p->prefix;
	to->proxy = *proxy;
}

static void count_routers(struct cw_ospf3 *s, uint64_t now)
{
	size_t i;

	s->reachable = 0;
	for (i = 0; i < s->lsas; i += router_run(s, i))
		s->reachable += is_usable(s->lsa[i], now);
}

void ospf3_compute(struct cw_ospf3 *s, uint64_t now)
{
	struct learn k = {0};

	spf_timer_done(&s->compute, now);
	s->n.computations++;
	k.failed = !ospf3_spf(s, now);
	if (!k.failed) {
		count_routers(s, now);
		ospf3_each_flagged(s, now, add_proxy, &k);
	}
	if (k.failed) {
		s->n.no_memory++;
		ospf3_changed(s, now); /* what was known before stays until it works out */
		free(k.proxies.at);
	} else if (list_replace(&s->proxies, &k.proxies, sizeof(struct cw_ospf3_proxy))) {
		s->generation++;
	}
}
