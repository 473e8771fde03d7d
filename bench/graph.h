/* graph.h - the gateway's own nodes as one more thing to do with a burst. */
#ifndef BENCH_GRAPH_H
#define BENCH_GRAPH_H

#include "work.h"

struct graph_setup {
	unsigned flows;   /* as many neighbours */
	bool v6, learned; /* learned: next hops towards Ethernet are found by ARP or ND */
	bool proxy;       /* a congestion notification proxy learns from what is forwarded */
	struct cw_ub2e *rules;
	struct rte_mempool *pool;
};

/* Exits on failure. */
void graph_init(const struct graph_setup *s);

unsigned work_graph(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n);

#endif
