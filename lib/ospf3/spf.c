/* spf.c - what can be reached: links that both ends announce, the shortest paths over them.
 * Spec: RFC 5340 4.8.1, RFC 2328 16.1; 16.4 (AS boundary routers of other areas). */
#include "lib/ospf3/internal.h"

/* Nodes are routers and networks, by key of their LSAs. A router may have several, side by side. */
struct graph {
	struct cw_ospf3 *s;
	uint64_t now;
	struct spf spf;
};

/* ---- Nodes --------------------------------------------------------------------------------- */

static bool is_live(const struct graph *g, const struct lsa *p, size_t body)
{
	return p->len >= CW_SIZE_OSPF3_LSA + body && ospf3_lsa_age(p, g->now) < CW_OSPF3_MAX_AGE;
}

static const uint8_t *body_of(const struct lsa *p)
{
	return p->at + CW_SIZE_OSPF3_LSA;
}

/* LSAs of the same router and type. */
static size_t run_of(const struct cw_ospf3 *s, size_t i)
{
	size_t n = 1;

	while (i + n < s->lsas && memcmp(s->lsa[i]->key, s->lsa[i + n]->key, 6) == 0)
		n++;
	return n;
}

static void add_router(struct graph *g, size_t i, size_t n)
{
	const struct lsa *p = g->s->lsa[i];
	uint32_t options;

	if (!is_live(g, p, CW_SIZE_OSPF3_ROUTER))
		return;
	options = cw_ospf3_router_options(body_of(p));
	if ((options & CW_OSPF3_OPT_V6) == 0)
		return;
	spf_add_node(&g->spf, i, n, (options & CW_OSPF3_OPT_R) == 0);
}

static void find_nodes(struct graph *g)
{
	const struct cw_ospf3 *s = g->s;
	size_t i, k, n;

	for (i = 0; i < s->lsas; i += n) {
		n = run_of(s, i);
		if (ospf3_lsa_type(s->lsa[i]) == CW_OSPF3_ROUTER)
			add_router(g, i, n);
		for (k = i; ospf3_lsa_type(s->lsa[i]) == CW_OSPF3_NETWORK && k < i + n; k++) {
			if (is_live(g, s->lsa[k], CW_SIZE_OSPF3_NETWORK))
				spf_add_node(&g->spf, k, 1, false);
		}
	}
}

/* The number of a node; `nodes` when there is none. Routers are found whatever their LSA's ID. */
static size_t find_node(const struct graph *g, const uint8_t *router, uint16_t type, uint32_t id)
{
	size_t low = 0, high = g->spf.nodes, len = type == CW_OSPF3_ROUTER ? 6 : KEY;
	uint8_t key[KEY];

	memcpy(key, router, 4);
	cw_put_be16(key + 4, type);
	cw_put_be32(key + 6, id);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int d = memcmp(g->s->lsa[g->spf.node[middle].first]->key, key, len);

		if (d == 0)
			return middle;
		if (d < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return g->spf.nodes;
}

/* ---- Links --------------------------------------------------------------------------------- */

static void router_links(struct graph *g, size_t from, const struct lsa *p)
{
	struct cw_rd r = cw_rd_init(body_of(p), p->len - CW_SIZE_OSPF3_LSA);
	const uint8_t *e;

	if (!is_live(g, p, CW_SIZE_OSPF3_ROUTER) || cw_rd_skip(&r, CW_SIZE_OSPF3_ROUTER) != CW_OK)
		return;
	while (cw_rd_take(&r, CW_SIZE_OSPF3_EDGE, &e) == CW_OK) {
		const uint8_t *router = cw_ospf3_edge_router(e);
		uint32_t type = cw_ospf3_edge_type(e), remote = cw_ospf3_edge_remote(e);

		if (type == CW_OSPF3_LINK_P2P || type == CW_OSPF3_LINK_VIRTUAL)
			spf_add_link(&g->spf, from, find_node(g, router, CW_OSPF3_ROUTER, 0),
				     cw_ospf3_edge_metric(e));
		else if (type == CW_OSPF3_LINK_TRANSIT)
			spf_add_link(&g->spf, from, find_node(g, router, CW_OSPF3_NETWORK, remote),
				     cw_ospf3_edge_metric(e));
	}
}

static void network_links(struct graph *g, size_t from, const struct lsa *p)
{
	struct cw_rd r = cw_rd_init(body_of(p), p->len - CW_SIZE_OSPF3_LSA);
	const uint8_t *router;

	if (cw_rd_skip(&r, CW_SIZE_OSPF3_NETWORK) != CW_OK)
		return;
	while (cw_rd_take(&r, 4, &router) == CW_OK)
		spf_add_link(&g->spf, from, find_node(g, router, CW_OSPF3_ROUTER, 0), 0);
}

static void find_links(struct graph *g)
{
	size_t i, k;

	for (i = 0; i < g->spf.nodes; i++) {
		const struct spf_node *n = &g->spf.node[i];

		spf_begin_links(&g->spf, i);
		for (k = n->first; k < n->first + n->n; k++) {
			if (ospf3_lsa_type(g->s->lsa[k]) == CW_OSPF3_ROUTER)
				router_links(g, i, g->s->lsa[k]);
			else
				network_links(g, i, g->s->lsa[k]);
		}
	}
}

/* ---- All of it ----------------------------------------------------------------------------- */

static uint32_t distance(const struct graph *g, const uint8_t *router)
{
	size_t n = find_node(g, router, CW_OSPF3_ROUTER, 0);

	return n == g->spf.nodes ? FAR : g->spf.node[n].dist;
}

/* The LSAs of a router have its distance. */
static void tell(struct graph *g)
{
	size_t i;

	for (i = 0; i < g->s->lsas; i++)
		g->s->lsa[i]->dist = distance(g, g->s->lsa[i]->key);
}

static void tell_outside(struct graph *g, const uint8_t *router, uint32_t dist)
{
	size_t i;

	for (i = 0; i < g->s->lsas; i++) {
		struct lsa *p = g->s->lsa[i];

		if (memcmp(p->key, router, 4) == 0 && dist < p->dist)
			p->dist = dist;
	}
}

/* Routers of other areas, by what border routers of this one say. */
static void find_outside(struct graph *g)
{
	size_t i;

	for (i = 0; i < g->s->lsas; i++) {
		const struct lsa *p = g->s->lsa[i];
		const uint8_t *body = body_of(p);
		uint32_t to;

		if (ospf3_lsa_type(p) != CW_OSPF3_INTER_ROUTER || p->own ||
		    !is_live(g, p, CW_SIZE_OSPF3_INTER_ROUTER) ||
		    (to = distance(g, p->key)) == FAR ||
		    cw_ospf3_inter_router_metric(body) == CW_OSPF3_INFINITY ||
		    distance(g, cw_ospf3_inter_router_router(body)) != FAR)
			continue;
		to = to < FAR - 1 - CW_OSPF3_INFINITY ? to + cw_ospf3_inter_router_metric(body)
						      : FAR - 1;
		tell_outside(g, cw_ospf3_inter_router_router(body), to);
	}
}

bool ospf3_spf(struct cw_ospf3 *s, uint64_t now)
{
	struct graph g = {.s = s, .now = now};
	size_t i;

	for (i = 0; i < s->lsas; i++)
		s->lsa[i]->dist = FAR;
	if (s->nbr.state != CW_OSPF3_FULL)
		return true;
	if (!spf_init(&g.spf, s->lsas))
		return false;
	find_nodes(&g);
	find_links(&g);
	spf_find(&g.spf, find_node(&g, s->c.router, CW_OSPF3_ROUTER, 0));
	tell(&g);
	find_outside(&g);
	spf_free(&g.spf);
	return !g.spf.failed;
}
