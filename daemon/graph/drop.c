/* drop.c - the end of refused packets: counted by port and reason, copied for a capture if wanted.
 */
#include "daemon/graph/node.h"

/* A copy that control writes to a file; when it can't keep up, copies are lost and counted. */
static void capture(const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, cw_io.pool, 0, UINT32_MAX);

	if (copy != NULL) {
		copy->port = m->port;
		cw_meta_set(copy, cw_meta_get(m));
		if (rte_ring_mp_enqueue(cw_dp.capture, copy) == 0)
			return;
		rte_pktmbuf_free(copy);
	}
	atomic_fetch_add_explicit(&cw_dp.capture_lost, 1, memory_order_relaxed);
}

static uint16_t drop_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			     uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	bool copying = atomic_load_explicit(&cw_dp.capture_on, memory_order_relaxed);
	struct rte_mbuf **m = (struct rte_mbuf **)objs;
	uint16_t i;

	(void)graph;
	for (i = 0; i < nb; i++) {
		w->port[m[i]->port].drops[cw_meta_get(m[i])]++;
		if (unlikely(copying))
			capture(m[i]);
	}
	if (unlikely(copying))
		cw_dp_kick_control();
	rte_pktmbuf_free_bulk(m, nb);
	return nb;
}

static struct rte_node_register drop_node = {
	.name = CW_NODE_DROP,
	.process = drop_process,
	.init = cw_node_init,
};
RTE_NODE_REGISTER(drop_node)
