/* node.h - what nodes share. A new node is one file here and one line in nodes.c. */
#ifndef DAEMON_GRAPH_NODE_H
#define DAEMON_GRAPH_NODE_H

/* The graph's own statistics read the clock twice a node and walk, which is a tenth of the time of
 * a short packet; nobody asks for them here. */
#undef RTE_LIBRTE_GRAPH_STATS
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include "daemon/graph/dp.h"

#define CW_NODE_RX   "cw-rx"
#define CW_NODE_UB   "cw-ub-in"
#define CW_NODE_ETH  "cw-eth-in"
#define CW_NODE_IP   "cw-ip-in"
#define CW_NODE_IB   "cw-ib-in"
#define CW_NODE_OUT  "cw-ip-out"
#define CW_NODE_EGR  "cw-egress"
#define CW_NODE_QUE  "cw-queue"
#define CW_NODE_CN   "cw-cn"
#define CW_NODE_TX   "cw-tx"
#define CW_NODE_PUNT "cw-punt"
#define CW_NODE_DROP "cw-drop"

/* In front of a loop over a burst that does little with each packet. */
#ifdef __clang__
#define CW_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define CW_UNROLL _Pragma("GCC unroll 4")
#endif

/* NULL-terminated names of all nodes of a graph. */
extern const char *const cw_nodes[];

/* Every node keeps its worker in its context. */
int cw_node_init(const struct rte_graph *graph, struct rte_node *node);

/* The end of refused packets: counted at mbuf->port, given to control for a capture, or freed. */
void cw_drop_bulk(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, enum cw_drop why);

/* The same behind the rewrite: counted at the egress slot, captured as finished for it. */
void cw_drop_egress(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, unsigned slot,
		    enum cw_drop why);

/* What a node's context holds. */
struct cw_node_ctx {
	struct cw_worker *worker;
};

static inline struct cw_worker *cw_node_worker(const struct rte_node *node)
{
	struct cw_node_ctx c;

	memcpy(&c, node->ctx, sizeof(c));
	return c.worker;
}

#endif
