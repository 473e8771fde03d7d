/* drop.c - the end of refused packets: counted by port and reason, given to a capture if wanted.
 */
#include "daemon/graph/icmp.h"

/* To control, which writes them to a file; when it can't keep up, packets are lost and counted. */
static void capture(struct rte_mbuf **m, uint16_t n)
{
	unsigned kept = rte_ring_mp_enqueue_burst(cw_dp.capture, (void **)m, n, NULL);

	if (kept < n) {
		atomic_fetch_add_explicit(&cw_dp.capture_lost, n - kept, memory_order_relaxed);
		rte_pktmbuf_free_bulk(m + kept, n - kept);
	}
	cw_dp_kick_control();
}

static void finish(struct rte_mbuf **m, uint16_t n)
{
	if (unlikely(atomic_load_explicit(&cw_dp.capture_on, memory_order_relaxed)))
		capture(m, n);
	else
		rte_pktmbuf_free_bulk(m, n);
}

void cw_drop_bulk(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, enum cw_drop why)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		w->port[m[i]->port].drops[why]++;
		cw_meta_set(m[i], why);
	}
	cw_icmp_tell(w, m, n);
	finish(m, n);
}

void cw_drop_egress(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, unsigned slot,
		    enum cw_drop why)
{
	uint16_t i;

	w->port[slot].drops[why] += n;
	for (i = 0; i < n; i++) {
		m[i]->port = (uint16_t)slot;
		cw_meta_set(m[i], why | CW_DROP_EGRESS);
	}
	finish(m, n);
}

static uint16_t drop_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			     uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	struct rte_mbuf **m = (struct rte_mbuf **)objs;
	uint16_t i;

	(void)graph;
	for (i = 0; i < nb; i++)
		w->port[m[i]->port].drops[cw_meta_get(m[i])]++;
	cw_icmp_tell(w, m, nb);
	finish(m, nb);
	return nb;
}

static struct rte_node_register drop_node = {
	.name = CW_NODE_DROP,
	.process = drop_process,
	.init = cw_node_init,
};
RTE_NODE_REGISTER(drop_node)
