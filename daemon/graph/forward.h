/* forward.h - what both input nodes do behind their check: look up, rewrite, sort by outcome.
 *
 * Packets that go on stay in their order at the front of the node's own array, so an undisturbed
 * burst is handed to cw-tx by moving its stream, without a copy.
 *
 * Ordinary packets go as a burst: first the routes and next hops of all of them, then check and
 * write in one. The others are checked, routed and written step by step.
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

/* For a next hop that must be resolved, of a packet from a UB port: its adjacency with the address
 * filled in, in `copy`. cw_ub2e_adj_none: it is not known, or this is no ordinary packet. */
const struct cw_ub2e_adj *cw_forward_learned(struct cw_worker *w, uint32_t index,
					     const struct cw_ub2e_job *job,
					     struct cw_ub2e_adj *copy);

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

/* The stations that a port takes frames for. */
struct cw_station {
	uint64_t mac, mask; /* as the first octets of a frame are in memory; mask 0: any station */
};

static inline uint64_t cw_first_octets(const uint8_t *frame)
{
	uint64_t v;

	memcpy(&v, frame, sizeof(v));
	return v;
}

static inline struct cw_station cw_station_of(const uint8_t *mac, bool any)
{
	static const uint8_t six[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t octets[8] = {0};

	memcpy(octets, mac, 6);
	return (struct cw_station){cw_first_octets(octets), any ? 0 : cw_first_octets(six)};
}

static inline bool cw_station_takes(const struct cw_station *s, const uint8_t *frame)
{
	return ((cw_first_octets(frame) ^ s->mac) & s->mask) == 0;
}

/* What a node knows about the packets of its kind of port. */
struct cw_input {
	/* Can packets of this port be ordinary ones? */
	bool (*usual)(const struct cw_plane_port *in);
	struct cw_station (*station)(const struct cw_plane_port *in);
	/* Fill start, length and, from Ethernet, tag of a job, for a packet in one segment; where
	 * an ordinary packet has its IP header. NULL: this is none. */
	const uint8_t *(*offer)(const struct cw_station *station, struct rte_mbuf *m,
				struct cw_ub2e_job *job);
	/* Check and write the ordinary ones of a burst. */
	uint64_t (*burst)(const struct cw_ub2e *rules, const struct cw_npi_filter *filter,
			  struct cw_ub2e_job *jobs, unsigned n);
	bool learns; /* next hops may have to be resolved */
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

/* A burst on its way: packets of one port, of as many segments. */
struct cw_burst {
	struct rte_mbuf **m;
	unsigned n, n6;
	struct cw_ub2e_job job[CW_MAX_BURST];
	/* in fours; hop: where there is no route, one behind the last */
	uint32_t dst4[RTE_ALIGN_CEIL(CW_MAX_BURST, 4)], hop[RTE_ALIGN_CEIL(CW_MAX_BURST, 4)];
	uint8_t dst6[CW_MAX_BURST][16], at6[CW_MAX_BURST];
	int32_t hop6[CW_MAX_BURST];
	struct cw_ub2e_adj learned[CW_MAX_BURST];
};

/* Number of segments and port. */
CW_INPUT_INLINE uint32_t cw_run_of(const struct rte_mbuf *m)
{
	uint32_t v;

	_Static_assert(offsetof(struct rte_mbuf, port) == offsetof(struct rte_mbuf, nb_segs) + 2,
		       "they are side by side");
	memcpy(&v, &m->nb_segs, sizeof(v));
	return v;
}

/* One more packet of a burst; its destination from where ordinary packets have it. Nobody relies on
 * that before the packet was found to be one. */
CW_INPUT_INLINE void cw_burst_add(struct cw_burst *b, unsigned i, const struct cw_station *station,
				  const struct cw_input *input)
{
	const uint8_t *ip = input->offer(station, b->m[i], &b->job[i]);

	if (likely(ip != NULL && ip[0] >> 4 != 6)) {
		b->dst4[i] = cw_be32(ip + CW_UB2E_DST4);
		return;
	}
	b->dst4[i] = 0;
	if (ip == NULL) {
		b->job[i].len = 0; /* too short for anything */
		return;
	}
	memcpy(b->dst6[b->n6], ip + CW_UB2E_DST6, 16);
	b->at6[b->n6++] = (uint8_t)i;
}

/* Jobs of the packets at the front that came by one port, in one segment, `max` at most. */
CW_INPUT_INLINE void cw_burst_offer(struct cw_burst *b, unsigned max,
				    const struct cw_plane_port *in, const struct cw_input *input)
{
	struct cw_station station = input->station(in);
	uint32_t run = cw_run_of(b->m[0]);
	unsigned i;

	b->n6 = 0;
	for (i = 0; i < max && cw_run_of(b->m[i]) == run; i++)
		cw_burst_add(b, i, &station, input);
	b->n = i;
	for (; i % 4 != 0; i++)
		b->dst4[i] = 0;
}

CW_INPUT_INLINE void cw_burst_routes4(struct cw_burst *b, struct rte_lpm *lpm, uint32_t none)
{
	unsigned i;
	xmm_t dst;

	for (i = 0; i < b->n; i += 4) {
		memcpy(&dst, &b->dst4[i], sizeof(dst));
		rte_lpm_lookupx4(lpm, dst, &b->hop[i], none);
	}
}

CW_INPUT_INLINE void cw_burst_routes(struct cw_burst *b, const struct cw_fib *fib, uint32_t none)
{
	unsigned i;

	if (b->n6 < b->n && fib->v4 != NULL)
		cw_burst_routes4(b, fib->v4, none);
	else
		for (i = 0; i < b->n; i++)
			b->hop[i] = none;
	if (likely(b->n6 == 0))
		return;
	if (fib->v6 != NULL)
		rte_lpm6_lookup_bulk_func(fib->v6, b->dst6, b->hop6, b->n6);
	else
		memset(b->hop6, 0xff, b->n6 * sizeof(b->hop6[0]));
	for (i = 0; i < b->n6; i++)
		b->hop[b->at6[i]] = b->hop6[i] < 0 ? none : (uint32_t)b->hop6[i];
}

/* Those that are not given in the configuration. */
CW_INPUT_INLINE void cw_burst_resolve(struct cw_worker *w, struct cw_burst *b,
				      const struct cw_input *input)
{
	struct cw_ub2e_job *j;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		j = &b->job[i];
		if (cw_adj_kind(j->adj) == CW_HOP_STATIC)
			continue;
		j->adj = input->learns ? cw_forward_learned(w, b->hop[i], j, &b->learned[i])
				       : &cw_ub2e_adj_none;
	}
}

CW_INPUT_INLINE void cw_burst_next_hops(struct cw_worker *w, struct cw_burst *b,
					const struct cw_input *input)
{
	const struct cw_ub2e_adj *adj = w->plane->adj;
	uint32_t users = 0;
	unsigned i;

	_Static_assert(CW_HOP_STATIC == 0, "so that one look tells whether there are others");
	for (i = 0; i < b->n; i++) {
		b->job[i].adj = &adj[b->hop[i]];
		users |= b->job[i].adj->user;
	}
	if (cw_user_kind(users) != CW_HOP_STATIC)
		cw_burst_resolve(w, b, input);
}

/* All of a burst goes on, as nearly always. */
CW_INPUT_INLINE void cw_burst_all(struct cw_worker *w, struct cw_burst *b, struct cw_outcome *o)
{
	const struct cw_ub2e_job *j;
	uint32_t notes = 0;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		j = &b->job[i];
		notes |= j->notes;
		cw_frame_set(b->m[i], j->start, j->len, cw_adj_slot(j->adj));
	}
	if (o->tx + o->ntx != (void **)b->m)
		memmove(o->tx + o->ntx, b->m, b->n * sizeof(*o->tx));
	o->ntx = (uint16_t)(o->ntx + b->n);
	for (i = 0; unlikely(notes != 0) && i < b->n; i++)
		cw_forward_notes(&w->port[b->m[i]->port], b->job[i].notes);
}

/* The first packets of b->m, of one port, `max` at most; b->n: how many they were. Packets leave in
 * the order in which they came: a flow's odd one does not overtake the others. */
CW_INPUT_INLINE void cw_input_burst(struct cw_worker *w, struct cw_burst *b, unsigned max,
				    struct cw_outcome *o, const struct cw_input *input)
{
	const struct cw_plane *p = w->plane;
	const struct cw_plane_port *in = &p->port[b->m[0]->port];
	uint64_t done = 0;
	unsigned i;

	b->n = 1;
	if (likely(input->usual(in) && b->m[0]->nb_segs == 1)) {
		cw_burst_offer(b, max, in, input);
		cw_burst_routes(b, p->fib, p->nhops);
		cw_burst_next_hops(w, b, input);
		done = input->burst(p->rules, &in->filter, b->job, b->n);
	}
	if (likely(done == UINT64_MAX >> (64 - b->n))) {
		cw_burst_all(w, b, o);
		return;
	}
	for (i = 0; i < b->n; i++) {
		const struct cw_ub2e_job *j = &b->job[i];

		if (done >> i & 1)
			cw_outcome_tx(w, o, b->m[i], j->start, j->len, j->notes,
				      cw_adj_slot(j->adj));
		else
			cw_input_steps(w, b->m[i], o, input);
	}
}

/* A node's process function, but for its kind of port. */
CW_INPUT_INLINE uint16_t cw_input_process(struct rte_graph *graph, struct rte_node *node,
					  void **objs, uint16_t nb, const struct cw_input *input)
{
	struct cw_worker *w = cw_node_worker(node);
	struct cw_outcome o;
	struct cw_burst b;
	unsigned done;

	o.tx = objs;
	o.ntx = o.npunt = o.ndrop = 0;
	for (done = 0; done < nb; done += b.n) {
		b.m = (struct rte_mbuf **)objs + done;
		cw_input_burst(w, &b, RTE_MIN(nb - done, (unsigned)CW_MAX_BURST), &o, input);
		cw_outcome_flush_sides(graph, node, &o);
	}
	cw_outcome_flush_tx(graph, node, &o, nb);
	return nb;
}

#endif
