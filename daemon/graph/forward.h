/* forward.h - what both input nodes do behind their check: look up, rewrite, sort by outcome.
 *
 * Packets that go on stay in their order at the front of the node's own array, so an undisturbed
 * burst is handed to cw-tx by moving its stream, without a copy.
 */
#ifndef DAEMON_GRAPH_FORWARD_H
#define DAEMON_GRAPH_FORWARD_H

#include "causeway/bits.h"
#include "daemon/graph/node.h"

enum { CW_NEXT_TX, CW_NEXT_PUNT, CW_NEXT_DROP, CW_NEXT_EGRESS, CW_NEXT_COUNT };
// clang-format off
#define CW_NEXT_NODES {                   \
	[CW_NEXT_TX] = CW_NODE_TX,        \
	[CW_NEXT_PUNT] = CW_NODE_PUNT,    \
	[CW_NEXT_DROP] = CW_NODE_DROP,    \
	[CW_NEXT_EGRESS] = CW_NODE_EGR,   \
}
// clang-format on

/* One packet's way: the outcomes of a check. */
enum cw_way { CW_WAY_FORWARD, CW_WAY_PUNT, CW_WAY_DROP };

#define CW_NO_HOP UINT32_MAX

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

/* The VLAN in which a port has an address of the next hop's subnet, 0 for none. */
uint16_t cw_own_vid(const struct cw_port_config *c, unsigned version, const uint8_t *via);

/* An Ethernet header to `dst` in front of an IP packet, with the hop's outer tag, and the tag of
 * the view's VLAN if it has one. */
void cw_put_ethernet(struct rte_mbuf *m, const struct cw_ub2e_hop *hop, const uint8_t *dst,
		     const struct cw_ub2e_view *v);

/* Count the events that the check found. */
void cw_forward_notes(struct cw_port_counters *c, uint32_t notes);

/* For a next hop that must be resolved, of `len` octets from LPH on: its adjacency with the address
 * filled in, in `copy`. cw_ub2e_adj_none: it is not known, or this is no ordinary packet. */
const struct cw_ub2e_adj *cw_forward_learned(struct cw_worker *w, uint32_t index, const uint8_t *ub,
					     size_t len, struct cw_ub2e_adj *copy);

/* The mbuf of a frame that was written for `slot`. */
static inline void cw_frame_set(struct rte_mbuf *m, uint8_t *start, uint32_t len, unsigned slot)
{
	m->data_off = (uint16_t)(start - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	cw_meta_set(m, slot);
}

static inline void cw_outcome_tx(struct cw_worker *w, struct cw_outcome *o, struct rte_mbuf *m,
				 uint8_t *start, uint32_t len, uint32_t notes, unsigned slot)
{
	if (unlikely(notes != 0))
		cw_forward_notes(&w->port[m->port], notes);
	cw_frame_set(m, start, len, slot);
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
	uint8_t *start;
	uint32_t len;
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
	why = cw_ub2e_write(p->rules, v, hop, &start, &len);
	if (unlikely(why != CW_PASS)) {
		cw_outcome_drop(o, m, why);
		return;
	}
	cw_outcome_tx(w, o, m, start, len, v->notes, h->slot);
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

#endif
