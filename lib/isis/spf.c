/* spf.c - what can be reached: links that both ends announce, the shortest paths over them.
 * Spec: ISO 10589 C.2, RFC 5305 3, RFC 5120. Topologies 0 and 2 only. */
#include <stdlib.h>
#include "lib/isis/internal.h"

enum { NODE = 7, METRIC_IGNORE = 0xffffff, MT_OVERLOAD = 0x8000, NARROW = 11 };

/* A system or pseudonode: its LSPs lie side by side. */
struct node {
	size_t first, n; /* LSPs */
	size_t link;     /* the first one in the list of links */
	bool overload, done;
	uint32_t dist;
};

struct link {
	uint32_t from, to, metric; /* numbers of nodes */
};

struct graph {
	const struct level *l;
	uint16_t topology;
	struct node *node;
	size_t nodes;
	struct link *link;
	size_t links, room;
	bool failed; /* no memory */
};

/* ---- Nodes --------------------------------------------------------------------------------- */

static bool is_live(const struct lsp *p)
{
	return p->len > 0 && !p->purged;
}

static bool is_overloaded(const struct graph *g, const struct lsp *p)
{
	struct cw_isis_pdu pdu;
	struct cw_isis_tlv tlv;
	unsigned i;

	if (g->topology == 0)
		return cw_isis_lsp_overload(p->pdu) != 0;
	if (cw_isis_pdu_parse(&pdu, p->pdu, p->len) != CW_OK ||
	    !cw_isis_tlv_find(&pdu, CW_ISIS_TLV_TOPOLOGIES, &tlv))
		return false;
	for (i = 0; i + 2 <= tlv.len; i += 2) {
		uint16_t mt = cw_be16(tlv.value + i);

		if ((mt & 0x0fff) == g->topology)
			return (mt & MT_OVERLOAD) != 0;
	}
	return false;
}

/* A system without fragment 0 does not count (ISO 10589 7.2.5). */
static void find_nodes(struct graph *g)
{
	const struct level *l = g->l;
	size_t i, n;

	for (i = 0; i < l->n; i += n) {
		const struct lsp *p = l->lsp[i];

		for (n = 1; i + n < l->n && memcmp(l->lsp[i + n]->id, p->id, NODE) == 0; n++)
			;
		if (p->id[7] == 0 && is_live(p))
			g->node[g->nodes++] = (struct node){
				.first = i, .n = n, .overload = is_overloaded(g, p), .dist = FAR};
	}
}

static const uint8_t *node_id(const struct graph *g, size_t i)
{
	return g->l->lsp[g->node[i].first]->id;
}

/* The number of a node; `nodes` when there is none. */
static size_t find_node(const struct graph *g, const uint8_t *id)
{
	size_t low = 0, high = g->nodes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int d = memcmp(node_id(g, middle), id, NODE);

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

static void add_link(struct graph *g, size_t from, const uint8_t *to, uint32_t metric)
{
	size_t n = find_node(g, to), room = g->room * 2 + 256;
	struct link *more;

	if (n == g->nodes || metric == METRIC_IGNORE || g->failed)
		return;
	if (g->links == g->room) {
		if ((more = realloc(g->link, room * sizeof(*more))) == NULL) {
			g->failed = true;
			return;
		}
		g->link = more;
		g->room = room;
	}
	g->link[g->links++] = (struct link){(uint32_t)from, (uint32_t)n, metric};
}

static void wide_links(struct graph *g, size_t from, struct cw_rd r)
{
	const uint8_t *e;

	while (cw_rd_take(&r, CW_SIZE_ISIS_NEIGH, &e) == CW_OK) {
		add_link(g, from, cw_isis_neigh_id(e), cw_isis_neigh_metric(e));
		if (cw_rd_skip(&r, cw_isis_neigh_sub(e)) != CW_OK)
			return;
	}
}

/* ISO 10589 9.8: a virtual flag; then four metrics, the default one first, and the neighbour. */
static void narrow_links(struct graph *g, size_t from, struct cw_rd r)
{
	const uint8_t *e;

	if (cw_rd_skip(&r, 1) != CW_OK)
		return;
	while (cw_rd_take(&r, NARROW, &e) == CW_OK)
		add_link(g, from, e + 4, e[0] & 0x3fu);
}

static void read_links(struct graph *g, size_t from, const struct lsp *p)
{
	struct cw_isis_pdu pdu;
	struct cw_isis_tlv tlv;

	if (!is_live(p) || cw_isis_pdu_parse(&pdu, p->pdu, p->len) != CW_OK)
		return;
	while (cw_isis_tlv_next(&pdu.tlvs, &tlv)) {
		struct cw_rd r = cw_rd_init(tlv.value, tlv.len);
		uint16_t mt;

		if (tlv.type == CW_ISIS_TLV_EXT_NEIGH && g->topology == 0)
			wide_links(g, from, r);
		else if (tlv.type == CW_ISIS_TLV_NEIGH && g->topology == 0)
			narrow_links(g, from, r);
		else if (tlv.type == CW_ISIS_TLV_MT_NEIGH && cw_rd_be16(&r, &mt) == CW_OK &&
			 (mt & 0x0fff) == g->topology)
			wide_links(g, from, r);
	}
}

/* By both ends; the best of parallel ones first. */
static int by_ends(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->metric < y->metric ? -1 : x->metric > y->metric;
}

static void find_links(struct graph *g)
{
	size_t i, k;

	for (i = 0; i < g->nodes; i++) {
		for (k = 0; k < g->node[i].n; k++)
			read_links(g, i, g->l->lsp[g->node[i].first + k]);
	}
	if (g->links > 0)
		qsort(g->link, g->links, sizeof(*g->link), by_ends);
	for (i = 0, k = 0; i < g->nodes; i++) {
		while (k < g->links && g->link[k].from < i)
			k++;
		g->node[i].link = k;
	}
}

/* The other end announces it too (ISO 10589 7.2.8.2). */
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
		if (n == root || !g->node[n].overload)
			expand(g, n);
	}
}

static void tell(const struct graph *g, unsigned which)
{
	size_t i, k;

	for (i = 0; i < g->nodes; i++) {
		for (k = 0; k < g->node[i].n; k++)
			g->l->lsp[g->node[i].first + k]->dist[which] = g->node[i].dist;
	}
}

bool isis_spf(struct level *l, const uint8_t *root)
{
	static const uint16_t topologies[2] = {0, 2};
	uint8_t id[NODE] = {0};
	bool ok = true;
	size_t i;

	memcpy(id, root, CW_ISIS_SYSTEM);
	for (i = 0; i < l->n; i++)
		l->lsp[i]->dist[0] = l->lsp[i]->dist[1] = FAR;
	for (i = 0; i < 2 && l->adjacent && ok; i++) {
		struct graph g = {.l = l, .topology = topologies[i]};

		if ((g.node = calloc(l->n + 1, sizeof(*g.node))) == NULL)
			return false;
		find_nodes(&g);
		find_links(&g);
		find_paths(&g, find_node(&g, id));
		tell(&g, (unsigned)i);
		ok = !g.failed;
		free(g.node);
		free(g.link);
	}
	return ok;
}
