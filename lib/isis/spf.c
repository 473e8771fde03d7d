/* spf.c - what can be reached: links that both ends announce, the shortest paths over them.
 * Spec: ISO 10589 C.2, RFC 5305 3, RFC 5120. Topologies 0 and 2 only. */
#include "lib/isis/internal.h"

enum { NODE = 7, METRIC_IGNORE = 0xffffff, NARROW = 11 };

/* Nodes are systems and pseudonodes: their LSPs lie side by side. */
struct graph {
	const struct level *l;
	uint16_t topology;
	struct spf spf;
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
			spf_add_node(&g->spf, i, n, is_overloaded(g, p));
	}
}

static const uint8_t *node_id(const struct graph *g, size_t i)
{
	return g->l->lsp[g->spf.node[i].first]->id;
}

/* The number of a node; `nodes` when there is none. */
static size_t find_node(const struct graph *g, const uint8_t *id)
{
	size_t low = 0, high = g->spf.nodes;

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
	return g->spf.nodes;
}

/* ---- Links --------------------------------------------------------------------------------- */

static void add_link(struct graph *g, size_t from, const uint8_t *to, uint32_t metric)
{
	if (metric != METRIC_IGNORE)
		spf_add_link(&g->spf, from, find_node(g, to), metric);
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

static void find_links(struct graph *g)
{
	size_t i, k;

	for (i = 0; i < g->spf.nodes; i++) {
		const struct spf_node *n = &g->spf.node[i];

		spf_begin_links(&g->spf, i);
		for (k = n->first; k < n->first + n->n; k++)
			read_links(g, i, g->l->lsp[k]);
	}
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void tell(const struct graph *g, unsigned which)
{
	size_t i, k;

	for (i = 0; i < g->spf.nodes; i++) {
		const struct spf_node *n = &g->spf.node[i];

		for (k = n->first; k < n->first + n->n; k++)
			g->l->lsp[k]->dist[which] = n->dist;
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

		if (!spf_init(&g.spf, l->n))
			return false;
		find_nodes(&g);
		find_links(&g);
		spf_find(&g.spf, find_node(&g, id));
		tell(&g, (unsigned)i);
		ok = !g.spf.failed;
		spf_free(&g.spf);
	}
	return ok;
}
