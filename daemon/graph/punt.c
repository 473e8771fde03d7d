/* punt.c - packets for the control thread: ARP, ND, echo, and those whose next hop is unknown. */
#include "daemon/graph/node.h"

static uint16_t punt_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			     uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	uint16_t n;

	(void)graph;
	n = (uint16_t)rte_ring_mp_enqueue_burst(cw_dp.punt, objs, nb, NULL);
	if (unlikely(n < nb))
		cw_drop_bulk(w, (struct rte_mbuf **)objs + n, (uint16_t)(nb - n),
			     CW_DROP_PUNT_FULL);
	cw_dp_kick_control();
	return nb;
}

static struct rte_node_register punt_node = {
	.name = CW_NODE_PUNT,
	.process = punt_process,
	.init = cw_node_init,
};
RTE_NODE_REGISTER(punt_node)
