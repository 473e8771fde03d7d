/* forward.h - what both input nodes do behind their check: look up, rewrite, sort by outcome.
 *
 * Packets that go on stay in their order at the front of the node's own array, so an undisturbed
 * burst is handed to cw-tx by moving its stream, without a copy.
 *
 * Ordinary packets go straight: routes of the whole burst first, then check and write in one. The
 * others are checked, routed and written step by step.
 */
#ifndef DAEMON_GRAPH_FORWARD_H
#define DAEMON_GRAPH_FORWARD_H

#include "daemon/graph/node.h"

enum { CW_NEXT_TX, CW_NEXT_PUNT, CW_NEXT_DROP, CW_NEXT_EGRESS, CW_NEXT_COUNT };
#define CW_NEXT_NODES                                                         \
	{                                                                     \
		[CW_NEXT_TX] = CW_NODE_TX, [CW_NEXT_PUNT] = CW_NODE_PUNT,     \
		[CW_NEXT_DROP] = CW_NODE_DROP, [CW_NEXT_EGRESS] = CW_NODE_EGR \
	}

/* One packet's way: the outcomes of a check. */
enum cw_way { CW_WAY_FORWARD, CW_WAY_PUNT, CW_WAY_DROP };

#define CW_NO_HOP UINT32_MAX
#define CW_AHEAD  8 /* packets whose headers are fetched ahead */

/* Where a node's packets leave to. */
struct cw_outcome {
	void **tx; /* the front of the node's own objects */
	uint16_t ntx;
	void *punt[CW_MAX_BURST], *drop[CW_MAX_BURST];
	uint16_t npunt, ndrop;
};

static inline void cw_outcome_drop(struct cw_outcome *o, struct rte_mbuf *m, enum cw_drop why)
{
	cw_meta_set(m, why);
	o->drop[o->ndrop++] = m;
}

static inline void cw_outcome_punt(struct cw_outcome *o, struct rte_mbuf *m)
{
	o->punt[o->npunt++] = m;
}

/* Hop index of a checked packet's destination. */
static inline uint32_t cw_route(const struct cw_fib *fib, const struct cw_ub2e_view *v)
{
	uint32_t hop;

	if (v->version == 4)
		return fib->v4 != NULL && rte_lpm_lookup(fib->v4, cw_be32(v->dst), &hop) == 0
			       ? hop
			       : CW_NO_HOP;
	return fib->v6 != NULL && rte_lpm6_lookup(fib->v6, v->dst, &hop) == 0 ? hop : CW_NO_HOP;
}

/* The address of a next hop that must be resolved; NULL with CW_PASS: the packet waits for it, with
 * another reason: it can't be sent. */
const uint8_t *cw_forward_resolve(struct cw_worker *w, struct rte_mbuf *m, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, enum cw_drop *why);

/* Count the events that the check found. */
void cw_forward_notes(struct cw_port_counters *c, uint32_t notes);

static inline void cw_outcome_tx(struct cw_worker *w, struct cw_outcome *o, struct rte_mbuf *m,
				 const struct cw_ub2e_frame *f, unsigned slot)
{
	if (f->notes != 0)
		cw_forward_notes(&w->port[m->port], f->notes);
	m->data_off = (uint16_t)(f->start - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)f->len;
	m->pkt_len = f->len;
	cw_meta_set(m, slot);
	o->tx[o->ntx++] = m;
}

static inline void cw_forward_one(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
				  uint32_t index, struct cw_outcome *o)
{
	const struct cw_plane *p = w->plane;
	const struct cw_ub2e_hop *hop;
	struct cw_ub2e_hop resolved;
	const struct cw_hop *h;
	const uint8_t *mac;
	struct cw_ub2e_frame out;
	enum cw_drop why;

	if (unlikely(index == CW_NO_HOP)) {
		cw_outcome_drop(o, m, CW_DROP_NO_ROUTE);
		return;
	}
	h = &p->hops[index];
	hop = &h->hop;
	if (h->kind != CW_HOP_STATIC) {
		if (h->kind == CW_HOP_LOCAL) {
			cw_outcome_punt(o, m);
			return;
		}
		/* What can't be sent anyhow must not ask for, or wait for, a next hop. */
		if (v->from == CW_SIDE_ETH && hop->side == CW_SIDE_ETH) {
			cw_outcome_drop(o, m, CW_DROP_SAME_DOMAIN);
			return;
		}
		mac = cw_forward_resolve(w, m, h, v, &why);
		if (mac == NULL) {
			if (why != CW_PASS)
				cw_outcome_drop(o, m, why);
			return;
		}
		resolved = *hop;
		memcpy(resolved.dst, mac, sizeof(resolved.dst));
		hop = &resolved;
	}
	why = cw_ub2e_write(p->rules, v, hop, &out.start, &out.len);
	if (unlikely(why != CW_PASS)) {
		cw_outcome_drop(o, m, why);
		return;
	}
	out.notes = v->notes;
	cw_outcome_tx(w, o, m, &out, h->slot);
}

/* Side exits leave after every batch, so their arrays never overflow. */
static inline void cw_outcome_flush_sides(struct rte_graph *graph, struct rte_node *node,
					  struct cw_outcome *o)
{
	if (unlikely(o->npunt > 0))
		rte_node_enqueue(graph, node, CW_NEXT_PUNT, o->punt, o->npunt);
	if (unlikely(o->ndrop > 0))
		rte_node_enqueue(graph, node, CW_NEXT_DROP, o->drop, o->ndrop);
	o->npunt = o->ndrop = 0;
}

static inline void cw_outcome_flush_tx(struct rte_graph *graph, struct rte_node *node,
				       struct cw_outcome *o, uint16_t nb)
{
	rte_edge_t next = cw_node_worker(node)->plane->egress ? CW_NEXT_EGRESS : CW_NEXT_TX;

	if (likely(o->ntx == nb))
		rte_node_next_stream_move(graph, node, next);
	else if (o->ntx > 0)
		rte_node_enqueue(graph, node, next, o->tx, o->ntx);
}

/* What a node knows about the packets of its kind of port. */
struct cw_input {
	/* IPv4 destination of an ordinary packet, whatever stands there in any other. */
	uint32_t (*dst)(const struct cw_plane_port *in, const struct rte_mbuf *m);
	/* Check and write an ordinary packet in one; false: nothing was changed. */
	bool (*straight)(const struct cw_plane *p, const struct cw_plane_port *in,
			 struct rte_mbuf *m, const struct cw_ub2e_hop *hop,
			 struct cw_ub2e_frame *f);
	/* Any packet. */
	enum cw_way (*check)(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
			     enum cw_drop *why);
};

#define CW_INPUT_INLINE static inline __attribute__((always_inline))

/* A packet that does not go straight: check, route, write. */
CW_INPUT_INLINE void cw_input_steps(struct cw_worker *w, struct rte_mbuf *m, struct cw_outcome *o,
				    const struct cw_input *input)
{
	enum cw_drop why = CW_PASS;
	struct cw_ub2e_view v;
	enum cw_way way;

	if (unlikely(m->nb_segs > 1) && rte_pktmbuf_linearize(m) != 0) {
		cw_outcome_drop(o, m, CW_DROP_NO_MEMORY);
		return;
	}
	way = input->check(w, m, &v, &why);
	if (likely(way == CW_WAY_FORWARD))
		cw_forward_one(w, m, &v, cw_route(w->plane->fib, &v), o);
	else if (way == CW_WAY_PUNT)
		cw_outcome_punt(o, m);
	else
		cw_outcome_drop(o, m, why);
}

/* Routes of a burst, looked up together from where ordinary packets have their destination. Nobody
 * relies on them before the packet was found to be one. */
CW_INPUT_INLINE void cw_input_routes(const struct cw_plane *p, struct rte_mbuf **m, uint16_t n,
				     uint32_t *hop, const struct cw_input *input)
{
	uint32_t ip[CW_MAX_BURST];
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (i + CW_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(m[i + CW_AHEAD], void *));
		ip[i] = input->dst(&p->port[m[i]->port], m[i]);
	}
	if (p->fib->v4 != NULL)
		rte_lpm_lookup_bulk(p->fib->v4, ip, hop, n);
	else
		memset(hop, 0, n * sizeof(*hop)); /* none found */
}

/* Packets leave in the order in which they came: a flow's odd one does not overtake the others. */
CW_INPUT_INLINE void cw_input_burst(struct cw_worker *w, struct rte_mbuf **m, uint16_t n,
				    struct cw_outcome *o, const struct cw_input *input)
{
	const struct cw_plane *p = w->plane;
	uint32_t hop[CW_MAX_BURST];
	struct cw_ub2e_frame f;
	const struct cw_hop *h;
	uint16_t i;

	cw_input_routes(p, m, n, hop, input);
	for (i = 0; i < n; i++) {
		h = &p->hops[hop[i] & 0xffffffu];
		if (likely((hop[i] & RTE_LPM_LOOKUP_SUCCESS) != 0 && h->kind == CW_HOP_STATIC &&
			   m[i]->nb_segs == 1) &&
		    input->straight(p, &p->port[m[i]->port], m[i], &h->hop, &f))
			cw_outcome_tx(w, o, m[i], &f, h->slot);
		else
			cw_input_steps(w, m[i], o, input);
	}
}

/* A node's process function, but for its kind of port. */
CW_INPUT_INLINE uint16_t cw_input_process(struct rte_graph *graph, struct rte_node *node,
					  void **objs, uint16_t nb, const struct cw_input *input)
{
	struct cw_worker *w = cw_node_worker(node);
	struct cw_outcome o;
	uint16_t done, n, i;

	o.tx = objs;
	o.ntx = o.npunt = o.ndrop = 0;
	for (done = 0; done < nb; done = (uint16_t)(done + n)) {
		n = (uint16_t)RTE_MIN(nb - done, CW_MAX_BURST);
		for (i = 0; i < n && i < CW_AHEAD; i++)
			rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[done + i], void *));
		cw_input_burst(w, (struct rte_mbuf **)objs + done, n, &o, input);
		cw_outcome_flush_sides(graph, node, &o);
	}
	cw_outcome_flush_tx(graph, node, &o, nb);
	return nb;
}

#endif
