/* rx.c - source node: a burst from each of the worker's port queues, to the node of the port's
 * kind.
 *
 * Which ports these are comes from the snapshot, so a reload needs no new graph.
 */
#include "daemon/graph/hold.h"

enum { NEXT_UB, NEXT_ETH, NEXT_TX, NEXT_IP, NEXT_OUT, NEXT_IB, NEXT_COUNT };

static rte_edge_t next_of(const struct cw_plane *p, unsigned kind)
{
	if (kind == CW_PORT_UB)
		return NEXT_UB;
	if (p->ipoib)
		return NEXT_IB;
	return p->ip_in ? NEXT_IP : NEXT_ETH;
}

/* Frames of control's own. */
static uint16_t take_injected(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w)
{
	struct rte_mbuf *m[CW_MAX_BURST] = {NULL};
	unsigned n = rte_ring_sc_dequeue_burst(w->inject, (void **)m, CW_MAX_BURST, NULL);

	if (n > 0)
		rte_node_enqueue(graph, node, NEXT_TX, (void **)m, (uint16_t)n);
	return (uint16_t)n;
}

struct released {
	struct rte_graph *graph;
	struct rte_node *node;
	struct cw_worker *w;
};

/* A packet that waited goes its way again from its input node on. */
static void release_one(void *arg, struct rte_mbuf *m)
{
	const struct released *r = arg;
	const struct cw_plane_port *in = &r->w->plane->port[m->port];

	if (m->ol_flags & cw_dp.origin_flag)
		rte_node_enqueue_x1(r->graph, r->node, NEXT_OUT, m);
	else if (in->dev == NULL)
		cw_drop_bulk(r->w, &m, 1, CW_DROP_PORT_DOWN);
	else
		rte_node_enqueue_x1(r->graph, r->node, next_of(r->w->plane, in->conf->kind), m);
}

static uint16_t release_held(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w)
{
	struct released r = {graph, node, w};

	return cw_hold_release(w, release_one, &r);
}

/* Stamp the ingress slot, fetch the headers, and count. */
static void account(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, uint8_t slot)
{
	struct cw_port_counters *c = &w->port[slot];
	uint64_t octets = 0;
	uint16_t i;

	CW_UNROLL
	for (i = 0; i < n; i++) {
		m[i]->port = slot;
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
		octets += m[i]->pkt_len;
	}
	c->rx_packets += n;
	c->rx_octets += octets;
}

static uint16_t rx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	const struct cw_rx_source *s = w->plane->rx[w->id];
	unsigned i, count = w->plane->nrx[w->id];
	uint16_t n, total = 0;

	(void)objs;
	(void)nb;
	if (unlikely(!rte_ring_empty(w->inject)))
		total = take_injected(graph, node, w);
	if (cw_hold_is_due(w)) /* in front of whatever comes now */
		total = (uint16_t)(total + release_held(graph, node, w));
	for (i = 0; i < count; i++) {
		n = s[i].dev->ops->rx_burst(s[i].dev, s[i].queue, (struct rte_mbuf **)node->objs,
					    CW_MAX_BURST);
		if (n == 0)
			continue;
		account(w, (struct rte_mbuf **)node->objs, n, s[i].slot);
		node->idx = n;
		rte_node_next_stream_move(graph, node, next_of(w->plane, s[i].kind));
		total = (uint16_t)(total + n);
	}
	w->rx_this_walk = total;
	return total;
}

static struct rte_node_register rx_node = {
	.name = CW_NODE_RX,
	.flags = RTE_NODE_SOURCE_F,
	.process = rx_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_UB] = CW_NODE_UB,
		       [NEXT_ETH] = CW_NODE_ETH,
		       [NEXT_TX] = CW_NODE_TX,
		       [NEXT_IP] = CW_NODE_IP,
		       [NEXT_OUT] = CW_NODE_OUT,
		       [NEXT_IB] = CW_NODE_IB},
};
RTE_NODE_REGISTER(rx_node)
