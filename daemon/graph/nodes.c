/* nodes.c - the list of nodes. */
#include "daemon/graph/node.h"

const char *const cw_nodes[] = {
	CW_NODE_RX, CW_NODE_UB,  CW_NODE_ETH, CW_NODE_IP,   CW_NODE_IB,   CW_NODE_EGR, CW_NODE_QUE,
	CW_NODE_CN, CW_NODE_OUT, CW_NODE_TX,  CW_NODE_PUNT, CW_NODE_DROP, NULL,
};

int cw_node_init(const struct rte_graph *graph, struct rte_node *node)
{
	struct cw_node_ctx c = {cw_worker_of_graph(graph)};

	memcpy(node->ctx, &c, sizeof(c));
	return 0;
}
