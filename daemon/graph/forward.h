/* forward.h - what both input nodes do behind their check: look up, rewrite, sort by outcome.
 *
 * Packets that go on stay in their order at the front of the node's own array, so an undisturbed
 * burst is handed to cw-tx by moving its stream, without a copy.
 */
#ifndef DAEMON_GRAPH_FORWARD_H
#define DAEMON_GRAPH_FORWARD_H

#include "daemon/graph/node.h"

enum { CW_NEXT_TX, CW_NEXT_PUNT, CW_NEXT_DROP, CW_NEXT_COUNT };
#define CW_NEXT_NODES                                                     \
	{                                                                 \
		[CW_NEXT_TX] = CW_NODE_TX, [CW_NEXT_PUNT] = CW_NODE_PUNT, \
		[CW_NEXT_DROP] = CW_NODE_DROP                             \
	}

/* One packet's way: the outcomes of a check. */
enum cw_way { CW_WAY_FORWARD, CW_WAY_PUNT, CW_WAY_DROP };

#define CW_NO_HOP UINT32_MAX

struct cw_batch {
	struct rte_mbuf *m[CW_MAX_BURST];
	struct cw_ub2e_view view[CW_MAX_BURST];
	uint32_t hop[CW_MAX_BURST];
	uint16_t n;
};

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

static inline void cw_outcome_punt(struct cw_outcome *o, struct rte_mbuf *m, enum cw_punt kind)
{
	cw_meta_set(m, kind);
	o->punt[o->npunt++] = m;
}

/* Hop indices of a batch's destinations. */
static inline void cw_route4(const struct rte_lpm *lpm, struct cw_batch *b, const uint16_t *which,
			     uint16_t n)
{
	uint32_t ip[CW_MAX_BURST], hop[CW_MAX_BURST];
	uint16_t i;

	if (lpm == NULL)
		return;
	for (i = 0; i < n; i++)
		ip[i] = cw_be32(b->view[which[i]].dst);
	rte_lpm_lookup_bulk(lpm, ip, hop, n);
	for (i = 0; i < n; i++) {
		if (hop[i] & RTE_LPM_LOOKUP_SUCCESS)
			b->hop[which[i]] = hop[i] & 0xffffffu;
	}
}

static inline void cw_route6(const struct rte_lpm6 *lpm, struct cw_batch *b, const uint16_t *which,
			     uint16_t n)
{
	uint8_t ip[CW_MAX_BURST][RTE_LPM6_IPV6_ADDR_SIZE];
	int32_t hop[CW_MAX_BURST];
	uint16_t i;

	if (lpm == NULL)
		return;
	for (i = 0; i < n; i++)
		memcpy(ip[i], b->view[which[i]].dst, sizeof(ip[i]));
	rte_lpm6_lookup_bulk_func(lpm, ip, hop, n);
	for (i = 0; i < n; i++) {
		if (hop[i] >= 0)
			b->hop[which[i]] = (uint32_t)hop[i];
	}
}

static inline void cw_batch_route(const struct cw_fib *fib, struct cw_batch *b)
{
	uint16_t v4[CW_MAX_BURST], v6[CW_MAX_BURST], n4 = 0, n6 = 0, i;

	for (i = 0; i < b->n; i++) {
		b->hop[i] = CW_NO_HOP;
		v4[n4] = i;
		v6[n6] = i;
		if (b->view[i].version == 4)
			n4++;
		else
			n6++;
	}
	if (n4 > 0)
		cw_route4(fib->v4, b, v4, n4);
	if (n6 > 0)
		cw_route6(fib->v6, b, v6, n6);
}

/* The MAC of a next hop that must be resolved, or NULL with the key filled. */
const uint8_t *cw_forward_resolve(const struct cw_worker *w, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, struct cw_neigh_key *key);

/* Count the events that the check found. */
void cw_forward_notes(struct cw_port_counters *c, uint32_t notes);

static inline void cw_forward_one(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
				  uint32_t index, struct cw_outcome *o)
{
	const struct cw_plane *p = w->plane;
	const struct cw_ub2e_hop *hop;
	struct cw_ub2e_hop resolved;
	const struct cw_hop *h;
	const uint8_t *mac;
	enum cw_drop why;
	uint8_t *start;
	uint32_t len;

	if (unlikely(index == CW_NO_HOP)) {
		cw_outcome_drop(o, m, CW_DROP_NO_ROUTE);
		return;
	}
	h = &p->hops[index];
	hop = &h->hop;
	if (h->kind != CW_HOP_STATIC) {
		if (h->kind == CW_HOP_LOCAL) {
			cw_outcome_punt(o, m, CW_PUNT_LOCAL);
			return;
		}
		/* What can't be sent anyhow must not ask for, or wait for, a next hop. */
		if (v->from == CW_SIDE_ETH && hop->side == CW_SIDE_ETH) {
			cw_outcome_drop(o, m, CW_DROP_SAME_DOMAIN);
			return;
		}
		mac = cw_forward_resolve(w, h, v, cw_meta_key(m));
		if (mac == NULL) {
			cw_outcome_punt(o, m, CW_PUNT_RESOLVE);
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
	if (v->notes != 0)
		cw_forward_notes(&w->port[m->port], v->notes);
	m->data_off = (uint16_t)(start - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	cw_meta_set(m, h->slot);
	o->tx[o->ntx++] = m;
}

static inline void cw_batch_forward(struct cw_worker *w, struct cw_batch *b, struct cw_outcome *o)
{
	uint16_t i;

	cw_batch_route(w->plane->fib, b);
	for (i = 0; i < b->n; i++)
		cw_forward_one(w, b->m[i], &b->view[i], b->hop[i], o);
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
	if (likely(o->ntx == nb))
		rte_node_next_stream_move(graph, node, CW_NEXT_TX);
	else if (o->ntx > 0)
		rte_node_enqueue(graph, node, CW_NEXT_TX, o->tx, o->ntx);
}

/* A node's process function, given its check:
 *	enum cw_way check(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
 *			  enum cw_drop *why)
 */
#define CW_INPUT_PROCESS(name, check)                                                     \
	static uint16_t name(struct rte_graph *graph, struct rte_node *node, void **objs, \
			     uint16_t nb)                                                 \
	{                                                                                 \
		return cw_input_process(graph, node, objs, nb, check);                    \
	}

typedef enum cw_way (*cw_check)(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
				enum cw_drop *why);

static inline __attribute__((always_inline)) void cw_batch_check(struct cw_worker *w, void **objs,
								 uint16_t n, struct cw_batch *b,
								 struct cw_outcome *o,
								 cw_check check)
{
	enum cw_drop why = CW_PASS;
	struct rte_mbuf *m;
	enum cw_way way;
	uint16_t i;

	b->n = 0;
	for (i = 0; i < n; i++) {
		if (i + 4 < n)
			rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[i + 4], void *));
		m = objs[i];
		if (unlikely(m->nb_segs > 1) && rte_pktmbuf_linearize(m) != 0) {
			cw_outcome_drop(o, m, CW_DROP_NO_MEMORY);
			continue;
		}
		way = check(w, m, &b->view[b->n], &why);
		if (likely(way == CW_WAY_FORWARD))
			b->m[b->n++] = m;
		else if (way == CW_WAY_PUNT)
			cw_outcome_punt(o, m, CW_PUNT_LOCAL);
		else
			cw_outcome_drop(o, m, why);
	}
}

static inline __attribute__((always_inline)) uint16_t cw_input_process(struct rte_graph *graph,
								       struct rte_node *node,
								       void **objs, uint16_t nb,
								       cw_check check)
{
	struct cw_worker *w = cw_node_worker(node);
	struct cw_outcome o = {.tx = objs};
	struct cw_batch b;
	uint16_t done, n;

	for (done = 0; done < nb; done = (uint16_t)(done + n)) {
		n = (uint16_t)RTE_MIN(nb - done, CW_MAX_BURST);
		for (uint16_t i = 0; i < n && i < 4; i++)
			rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[done + i], void *));
		cw_batch_check(w, objs + done, n, &b, &o, check);
		cw_batch_forward(w, &b, &o);
		cw_outcome_flush_sides(graph, node, &o);
	}
	cw_outcome_flush_tx(graph, node, &o, nb);
	return nb;
}

#endif
