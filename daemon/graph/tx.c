/* tx.c - send finished frames, by port in whole bursts. */
#include "daemon/graph/node.h"

/* How often a full transmit queue is tried again before the rest is dropped. */
#define TX_TRIES 4

/* The queue stayed full, or the link is gone. */
static void give_up(struct cw_worker *w, const struct cw_port *dev, struct rte_mbuf **m, uint16_t n)
{
	bool up = dev->ops->link_up(dev);

	cw_drop_egress(w, m, n, dev->slot, up ? CW_DROP_TX_FULL : CW_DROP_PORT_DOWN);
}

static uint64_t octets_of(struct rte_mbuf *const *m, uint16_t n)
{
	uint64_t octets = 0;
	uint16_t i;

	for (i = 0; i < n; i++)
		octets += m[i]->pkt_len;
	return octets;
}

/* `octets`: of all n. */
static void send_burst(struct cw_worker *w, unsigned slot, struct rte_mbuf **m, uint16_t n,
		       uint64_t octets)
{
	struct cw_port *dev = w->plane->port[slot].dev;
	struct cw_port_counters *c = &w->port[slot];
	struct cw_tx_refused refused;
	uint16_t sent = 0;
	unsigned tries;

	if (unlikely(dev == NULL)) {
		cw_drop_egress(w, m, n, slot, CW_DROP_PORT_DOWN);
		return;
	}
	refused.n = 0;
	for (tries = 0; sent < n && tries < TX_TRIES; tries++)
		sent = (uint16_t)(sent + dev->ops->tx_burst(dev, w->id, m + sent,
							    (uint16_t)(n - sent), &refused));
	c->tx_packets += (uint16_t)(sent - refused.n);
	if (unlikely(refused.n > 0)) {
		octets -= octets_of(refused.m, refused.n);
		cw_drop_egress(w, refused.m, refused.n, slot, CW_DROP_TX_ERROR);
	}
	if (unlikely(sent < n)) {
		octets -= octets_of(m + sent, (uint16_t)(n - sent));
		give_up(w, dev, m + sent, (uint16_t)(n - sent));
	}
	c->tx_octets += octets;
}

/* Do all go to one port? Their octets. */
static bool one_port(struct rte_mbuf *const *m, uint16_t n, uint64_t *octets)
{
	uint32_t any = cw_meta_get(m[0]), all = any;
	uint64_t sum = 0;
	uint16_t i;

	CW_UNROLL
	for (i = 0; i < n; i++) {
		any |= cw_meta_get(m[i]);
		all &= cw_meta_get(m[i]);
		sum += m[i]->pkt_len;
	}
	*octets = sum;
	return any == all;
}

static void flush_port(struct cw_worker *w, unsigned slot)
{
	send_burst(w, slot, w->out[slot], w->nout[slot], octets_of(w->out[slot], w->nout[slot]));
	w->nout[slot] = 0;
}

/* Several ports mixed: sort, so that every port still gets bursts. */
static void send_mixed(struct cw_worker *w, struct rte_mbuf **m, uint16_t n)
{
	uint64_t pending = 0;
	unsigned slot;
	uint16_t i;

	_Static_assert(CW_MAX_PORTS <= 64, "one bit a port");
	for (i = 0; i < n; i++) {
		slot = cw_meta_get(m[i]);
		w->out[slot][w->nout[slot]++] = m[i];
		pending |= 1ull << slot;
		if (w->nout[slot] == CW_MAX_BURST)
			flush_port(w, slot);
	}
	for (; pending != 0; pending &= pending - 1) {
		slot = (unsigned)__builtin_ctzll(pending);
		if (w->nout[slot] > 0)
			flush_port(w, slot);
	}
}

static uint16_t tx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	struct rte_mbuf **m = (struct rte_mbuf **)objs;
	uint64_t octets;
	uint16_t done, n;

	(void)graph;
	for (done = 0; done < nb; done = (uint16_t)(done + n)) {
		n = (uint16_t)RTE_MIN(nb - done, CW_MAX_BURST);
		if (likely(one_port(m + done, n, &octets)))
			send_burst(w, cw_meta_get(m[done]), m + done, n, octets);
		else
			send_mixed(w, m + done, n);
	}
	return nb;
}

static struct rte_node_register tx_node = {
	.name = CW_NODE_TX,
	.process = tx_process,
	.init = cw_node_init,
};
RTE_NODE_REGISTER(tx_node)
