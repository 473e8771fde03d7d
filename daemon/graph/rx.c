/* rx.c - source node: a burst from each of the worker's port queues, to the node of the port's
 * kind.
 *
 * Which ports these are comes from the snapshot, so a reload needs no new graph.
 */
#include "daemon/graph/node.h"

enum { NEXT_UB, NEXT_ETH, NEXT_TX, NEXT_COUNT };

/* Packets that control puts in: its own frames, and packets whose next hop is now known. */
static uint16_t take_injected(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w)
{
	struct rte_mbuf *m[CW_MAX_BURST];
	unsigned i, n = rte_ring_sc_dequeue_burst(w->inject, (void **)m, CW_MAX_BURST, NULL);
	const struct cw_plane_port *in;
	rte_edge_t next;

	for (i = 0; i < n; i++) {
		next = NEXT_TX;
		if (cw_meta_get(m[i]) & CW_INJECT_FORWARD) {
			in = &w->plane->port[m[i]->port];
			if (in->dev == NULL) {
				cw_drop_bulk(w, &m[i], 1, CW_DROP_PORT_DOWN);
				continue;
			}
			next = in->conf->kind == CW_PORT_UB ? NEXT_UB : NEXT_ETH;
		}
		cw_meta_set(m[i], cw_meta_get(m[i]) & ~(CW_INJECT_TX | CW_INJECT_FORWARD));
		rte_node_enqueue_x1(graph, node, next, m[i]);
	}
	return (uint16_t)n;
}

/* Stamp the ingress slot and count. */
static void account(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, uint8_t slot)
{
	struct cw_port_counters *c = &w->port[slot];
	uint64_t octets = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		m[i]->port = slot;
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
	for (i = 0; i < count; i++) {
		n = s[i].dev->ops->rx_burst(s[i].dev, s[i].queue, (struct rte_mbuf **)node->objs,
					    CW_MAX_BURST);
		if (n == 0)
			continue;
		account(w, (struct rte_mbuf **)node->objs, n, s[i].slot);
		node->idx = n;
		rte_node_next_stream_move(graph, node,
					  s[i].kind == CW_PORT_UB ? NEXT_UB : NEXT_ETH);
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
	.next_nodes = {[NEXT_UB] = CW_NODE_UB, [NEXT_ETH] = CW_NODE_ETH, [NEXT_TX] = CW_NODE_TX},
};
RTE_NODE_REGISTER(rx_node)
