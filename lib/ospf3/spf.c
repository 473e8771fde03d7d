/* spf.c - what can be reached: links that both ends announce, the shortest paths over them.
 * Spec: RFC 5340 4.8.1, RFC 2328 16.1; 16.4 (AS boundary routers of other areas). */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

/* A router or a network. A router may have several LSAs, side by side. */
struct node {
	size_t lsa, n;
	size_t link; /* the first one in the list of links */
	bool host;   /* no transit: R is clear */
	bool done;
	uint32_t dist;
};

struct link {
	uint32_t from, to, metric; /* numbers of nodes */
};

struct graph {
	struct cw_ospf3 *s;
	uint64_t now;
	struct node *node; /* by key of their LSAs */
	size_t nodes;
	struct link *link;
	size_t links, room;
	bool failed; /* no memory */
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
	g->node[g->nodes++] = (struct node){
		.lsa = i, .n = n, .host = (options & CW_OSPF3_OPT_R) == 0, .dist = FAR};
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
				g->node[g->nodes++] = (struct node){.lsa = k, .n = 1, .dist = FAR};
		}
	}
}

/* The number of a node; `nodes` when there is none. Routers are found whatever their LSA's ID. */
static size_t find_node(const struct graph *g, const uint8_t *router, uint16_t type, uint32_t id)
{
	size_t low = 0, high = g->nodes, len = type == CW_OSPF3_ROUTER ? 6 : KEY;
	uint8_t key[KEY];

	memcpy(key, router, 4);
	cw_put_be16(key + 4, type);
	cw_put_be32(key + 6, id);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int d = memcmp(g->s->lsa[g->node[middle].lsa]->key, key, len);

		if (d == 0)
			return middle;
		if (d < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return g->nodes;
}

/* ---- Links --------------------------------------------------------------------------------- */

static void add_link(struct graph *g, size_t from, size_t to, uint32_t metric)
{
	size_t room = g->room * 2 + 256;
	struct link *more;

	if (to == g->nodes || g->failed)
		return;
	if (g->links == g->room) {
		if ((more = realloc(g->link, room * sizeof(*more))) == NULL) {
			g->failed = true;
			return;
		}
		g->link = more;
		g->room = room;
	}
	g->link[g->links++] = (struct link){(uint32_t)from, (uint32_t)to, metric};
}

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
			add_link(g, from, find_node(g, router, CW_OSPF3_ROUTER, 0),
				 cw_ospf3_edge_metric(e));
		else if (type == CW_OSPF3_LINK_TRANSIT)
			add_link(g, from, find_node(g, router, CW_OSPF3_NETWORK, remote),
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
		add_link(g, from, find_node(g, router, CW_OSPF3_ROUTER, 0), 0);
}

static void find_links(struct graph *g)
{
	size_t i, k;

	for (i = 0; i < g->nodes; i++) {
		struct node *n = &g->node[i];

		n->link = g->links; /* in the order of nodes */
		for (k = n->lsa; k < n->lsa + n->n; k++) {
			if (ospf3_lsa_type(g->s->lsa[k]) == CW_OSPF3_ROUTER)
				router_links(g, i, g->s->lsa[k]);
			else
				network_links(g, i, g->s->lsa[k]);
		}
	}
}

/* The other end announces it too (RFC 2328 16.1 (2) (b)). */
static bool has_link(const struct graph *g, uint32_t from, uint32_t to)
{
	size_t i;

	for (i = g->node[from].link; i < g->links && g->link[i].from == from; i++) {
		if (g->link[i].to == to)
			return true;
	}
	return false;
}

/* ---- Paths --------------------------------------------------------------------------------- */

static size_t nearest(const struct graph *g)
{
	size_t i, best = g->nodes;

	for (i = 0; i < g->nodes; i++) {
		if (!g->node[i].done && g->node[i].dist != FAR &&
		    (best == g->nodes || g->node[i].dist < g->node[best].dist))
			best = i;
	}
	return best;
}

static void expand(struct graph *g, size_t n)
{
	uint32_t from = g->node[n].dist;
	size_t i;

	for (i = g->node[n].link; i < g->links && g->link[i].from == n; i++) {
		const struct link *k = &g->link[i];
		uint32_t dist = from < FAR - 1 - k->metric ? from + k->metric : FAR - 1;

		if (dist < g->node[k->to].dist && has_link(g, k->to, (uint32_t)n))
			g->node[k->to].dist = dist;
	}
}

static void find_paths(struct graph *g, size_t root)
{
	size_t n;

	if (root == g->nodes)
		return;
	g->node[root].dist = 0;
	while ((n = nearest(g)) != g->nodes) {
		g->node[n].done = true;
		if (n == root || !g->node[n].host)
			expand(g, n);
	}
}

/* ---- All of it ----------------------------------------------------------------------------- */

static uint32_t distance(const struct graph *g, const uint8_t *router)
{
	size_t n = find_node(g, router, CW_OSPF3_ROUTER, 0);

	return n == g->nodes ? FAR : g->node[n].dist;
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
	if ((g.node = calloc(s->lsas + 1, sizeof(*g.node))) == NULL)
		return false;
	find_nodes(&g);
	find_links(&g);
	find_paths(&g, find_node(&g, s->c.router, CW_OSPF3_ROUTER, 0));
	tell(&g);
	find_outside(&g);
	free(g.node);
	free(g.link);
	return !g.failed;
}
