/* egress.c - what happens to packets between their rewrite and their port: the border's filter,
 * copies to learn from, and the way into shaped queues. Only in the path when something needs it
 * (struct cw_plane, egress).
 */
#include "daemon/graph/cn.h"
#include "daemon/graph/frame.h"
#include "daemon/graph/queue.h"

enum { NEXT_TX, NEXT_DROP, NEXT_COUNT };

/* Section 6 of the draft: messages neither come in nor go out where the domain ends. */
static bool stopped_at_border(const struct cw_plane *p, const struct rte_mbuf *m, unsigned slot,
			      const struct cw_ip_in_frame *f)
{
	return (p->border & (1ull << slot | 1ull << m->port)) != 0 &&
	       cw_is_cn_message(f->ip, f->len, p->cn_port1, p->cn_port2);
}

struct egress {
	struct rte_graph *graph;
	struct rte_node *node;
	struct cw_worker *w;
	const struct cw_cn *learn; /* NULL: nothing is learned */
	uint64_t now;
	uint16_t ntx;
	unsigned slot; /* of the packets in `run` */
	uint16_t nrun;
	struct rte_mbuf *run[CW_MAX_BURST];
};

static void end_run(struct egress *e)
{
	if (e->nrun > 0)
		cw_queue_hand(e->w, e->slot, e->run, e->nrun);
	e->nrun = 0;
}

static void into_queue(struct egress *e, struct rte_mbuf *m, unsigned slot)
{
	if (slot != e->slot || e->nrun == CW_MAX_BURST)
		end_run(e);
	e->slot = slot;
	e->run[e->nrun++] = m;
}

static void one(struct egress *e, struct rte_mbuf *m, void **tx)
{
	const struct cw_plane *p = e->w->plane;
	unsigned slot = cw_meta_get(m);
	const struct cw_plane_port *out = &p->port[slot];
	struct cw_ip_in_frame f;
	bool ip = out->dev != NULL && cw_frame_ip(out, m, &f);

	if (ip && stopped_at_border(p, m, slot, &f)) {
		cw_meta_set(m, CW_DROP_CN_BORDER);
		rte_node_enqueue_x1(e->graph, e->node, NEXT_DROP, m);
		return;
	}
	if (ip && e->learn != NULL)
		cw_cn_learn(e->w, e->learn, &f, e->now);
	if (out->congestion != NULL)
		into_queue(e, m, slot);
	else
		tx[e->ntx++] = m;
}

static uint16_t egress_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			       uint16_t nb)
{
	struct egress e = {.graph = graph, .node = node, .w = cw_node_worker(node)};
	const struct cw_cn *cn = e.w->plane->cn;
	uint16_t i;

	if (cn != NULL && cn->learn) {
		e.learn = cn;
		e.now = cw_now_ns();
	}
	for (i = 0; i < nb; i++)
		one(&e, objs[i], objs);
	end_run(&e);
	if (e.ntx == nb)
		rte_node_next_stream_move(graph, node, NEXT_TX);
	else if (e.ntx > 0)
		rte_node_enqueue(graph, node, NEXT_TX, objs, e.ntx);
	return nb;
}

static struct rte_node_register egress_node = {
	.name = CW_NODE_EGR,
	.process = egress_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_TX] = CW_NODE_TX, [NEXT_DROP] = CW_NODE_DROP},
};
RTE_NODE_REGISTER(egress_node)
