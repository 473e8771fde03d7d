/* spf.c - shortest paths over links that both of their ends announce. */
#include "lib/base/spf.h"
#include <stdlib.h>

enum { WAIT_MS = 50, GAP_MS = 250 };

bool spf_init(struct spf *g, size_t nodes)
{
	*g = (struct spf){.node = calloc(nodes + 1, sizeof(*g->node))};
	return g->node != NULL;
}

void spf_free(struct spf *g)
{
	free(g->node);
	free(g->link);
}

void spf_add_node(struct spf *g, size_t first, size_t n, bool stub)
{
	g->node[g->nodes++] = (struct spf_node){.first = first, .n = n, .stub = stub, .dist = FAR};
}

void spf_begin_links(struct spf *g, size_t from)
{
	g->node[from].link = g->links;
}

void spf_add_link(struct spf *g, size_t from, size_t to, uint32_t metric)
{
	size_t room = g->room * 2 + 256;
	struct spf_link *more;

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
	g->link[g->links++] = (struct spf_link){(uint32_t)from, (uint32_t)to, metric};
}

/* The other end announces it too (ISO 10589 7.2.8.2, RFC 2328 16.1 (2) (b)). */
static bool has_link(const struct spf *g, uint32_t from, uint32_t to)
{
	size_t i;

	for (i = g->node[from].link; i < g->links && g->link[i].from == from; i++) {
		if (g->link[i].to == to)
			return true;
	}
	return false;
}

static size_t nearest(const struct spf *g)
{
	size_t i, best = g->nodes;

	for (i = 0; i < g->nodes; i++) {
		if (!g->node[i].done && g->node[i].dist != FAR &&
		    (best == g->nodes || g->node[i].dist < g->node[best].dist))
			best = i;
	}
	return best;
}

static void expand(struct spf *g, size_t n)
{
	uint32_t from = g->node[n].dist;
	size_t i;

	for (i = g->node[n].link; i < g->links && g->link[i].from == n; i++) {
		const struct spf_link *k = &g->link[i];
		uint32_t dist = from < FAR - 1 - k->metric ? from + k->metric : FAR - 1;

		if (dist < g->node[k->to].dist && has_link(g, k->to, (uint32_t)n))
			g->node[k->to].dist = dist;
	}
}

void spf_find(struct spf *g, size_t root)
{
	size_t n;

	if (root == g->nodes)
		return;
	g->node[root].dist = 0;
	while ((n = nearest(g)) != g->nodes) {
		g->node[n].done = true;
		if (n == root || !g->node[n].stub)
			expand(g, n);
	}
}

void spf_timer_changed(struct spf_timer *t, uint64_t now)
{
	uint64_t at = now + WAIT_MS;

	if (t->due_ms != UINT64_MAX)
		return;
	if (t->done_ms != 0 && at < t->done_ms + GAP_MS)
		at = t->done_ms + GAP_MS;
	t->due_ms = at;
}

void spf_timer_done(struct spf_timer *t, uint64_t now)
{
	t->due_ms = UINT64_MAX;
	t->done_ms = now;
}
