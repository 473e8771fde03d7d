/* ub_in.c - packets from a UB port: draft-li-uboe-00, UB -> Ethernet (and UB -> UB). */
#include "causeway/wire/eth.h"
#include "daemon/graph/input.h"

CW_INPUT_INLINE struct cw_station ub_station(const struct cw_plane_port *in)
{
	return cw_station_of(in->dev->mac, in->any_station);
}

CW_INPUT_INLINE bool for_us(const struct cw_station *station, const uint8_t *frame)
{
	return cw_station_takes(station, frame) || (frame[0] & 1) != 0;
}

static inline enum cw_way ub_check(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
				   enum cw_drop *why)
{
	const struct cw_plane_port *in = &w->plane->port[m->port];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct cw_station station = ub_station(in);
	uint32_t skip = 0;

	if (likely(!in->dev->bare_rx)) {
		skip = CW_SIZE_ETH;
		if (unlikely(m->data_len < CW_SIZE_ETH)) {
			*why = CW_DROP_SHORT;
			return CW_WAY_DROP;
		}
		if (unlikely(cw_eth_type(frame) != CW_ETHERTYPE_UB ||
			     (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)) {
			*why = CW_DROP_ETHERTYPE;
			return CW_WAY_DROP;
		}
		if (unlikely(!for_us(&station, frame))) {
			*why = CW_DROP_NOT_FOR_US;
			return CW_WAY_DROP;
		}
	}
	*why = cw_ub2e_from_ub(w->plane->rules, &in->filter, frame + skip, m->data_len - skip, v);
	return likely(*why == CW_PASS) ? CW_WAY_FORWARD : CW_WAY_DROP;
}

/* ---- Ordinary packets: on the emulated link -------------------------------------------------- */

#define LEAD (CW_SIZE_ETH + CW_UB_PREFIX)

static inline bool ub_usual(const struct cw_plane_port *in)
{
	return !in->dev->bare_rx;
}

static inline unsigned ub_lead(const struct cw_plane *p, const struct cw_plane_port *in,
			       const struct rte_mbuf *m)
{
	if (!ub_usual(in) || (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 ||
	    !ub2e_is_direct(p->rules, &in->filter, CW_SIDE_UB))
		return 0;
	return LEAD;
}

CW_INPUT_INLINE size_t ub_straight(struct cw_burst *b, const struct rte_mbuf *m, uint8_t *frame,
				   const struct cw_ub2e_adj *adj, unsigned version)
{
	const struct ub2e_kind kind = {.version = version, .direct = true, .framed = true};

	if (!for_us(&b->station, frame))
		return 0;
	return ub2e_to_eth(b->rules, frame + CW_SIZE_ETH, m->data_len - (size_t)LEAD, adj, &kind,
			   &b->light);
}

static __attribute__((noinline)) void write4(struct cw_burst *b)
{
	cw_burst_write(b, ub_straight, LEAD - UB2E_ETH_LEAD, 4, false);
}

static __attribute__((noinline)) void write6(struct cw_burst *b)
{
	cw_burst_write(b, ub_straight, LEAD - UB2E_ETH_LEAD, 6, false);
}

static __attribute__((noinline)) void write4_learned(struct cw_burst *b)
{
	cw_burst_write(b, ub_straight, LEAD - UB2E_ETH_LEAD, 4, true);
}

static __attribute__((noinline)) void write6_learned(struct cw_burst *b)
{
	cw_burst_write(b, ub_straight, LEAD - UB2E_ETH_LEAD, 6, true);
}

/* The adjacency of every packet, where next hops may be learned. */
static void resolve(struct cw_worker *w, struct cw_burst *b)
{
	unsigned i, len;

	for (i = 0; i < b->n; i++) {
		len = b->m[i]->data_len;
		b->to[i] =
			cw_next_hop(w, b->hop[i], true,
				    rte_pktmbuf_mtod_offset(b->m[i], const uint8_t *, CW_SIZE_ETH),
				    len < CW_SIZE_ETH ? 0 : len - CW_SIZE_ETH, &b->copy[i]);
	}
}

static inline void ub_write(struct cw_worker *w, struct cw_burst *b)
{
	static void (*const write[2][2])(struct cw_burst *) = {{write4, write4_learned},
							       {write6, write6_learned}};

	if (w->plane->resolves)
		resolve(w, b);
	write[b->version == 6][w->plane->resolves](b);
}

static inline const uint8_t *ub_offer(const struct cw_station *station, struct rte_mbuf *m,
				      struct cw_ub2e_job *job)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (m->data_len < CW_SIZE_ETH || cw_eth_type(frame) != CW_ETHERTYPE_UB ||
	    !for_us(station, frame) || (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)
		return NULL;
	job->start = frame + CW_SIZE_ETH;
	job->len = m->data_len - CW_SIZE_ETH;
	return job->start + CW_UB_PREFIX;
}

static void ub_rest(struct cw_worker *w, const struct cw_burst *b, struct cw_outcome *o);

static const struct cw_input input = {
	.usual = ub_usual,
	.station = ub_station,
	.lead = ub_lead,
	.straight = ub_write,
	.rest = ub_rest,
	.offer = ub_offer,
	.burst = cw_ub2e_burst_to_eth,
	.learns = true,
	.check = ub_check,
};

static __attribute__((noinline)) void ub_rest(struct cw_worker *w, const struct cw_burst *b,
					      struct cw_outcome *o)
{
	cw_burst_rest(w, b, o, &input);
}

static uint16_t ub_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	return cw_input_process(graph, node, objs, nb, &input);
}

static struct rte_node_register ub_node = {
	.name = CW_NODE_UB,
	.process = ub_process,
	.init = cw_node_init,
	.nb_edges = CW_NEXT_COUNT,
	.next_nodes = CW_NEXT_NODES,
};
RTE_NODE_REGISTER(ub_node)
