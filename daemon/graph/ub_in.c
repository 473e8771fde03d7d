/* ub_in.c - packets from a UB port: draft-li-uboe-00, UB -> Ethernet (and UB -> UB). */
#include "causeway/wire/eth.h"
#include "daemon/graph/forward.h"

static inline struct cw_station ub_station(const struct cw_plane_port *in)
{
	return cw_station_of(in->dev->mac, in->any_station);
}

static inline bool for_us(const struct cw_station *station, const uint8_t *frame)
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

/* ---- Ordinary packets: on the emulated link ---------------------------------------------------
 */

static inline bool ub_usual(const struct cw_plane_port *in)
{
	return !in->dev->bare_rx;
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

static uint16_t ub_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	static const struct cw_input input = {ub_usual, ub_station, ub_offer, cw_ub2e_burst_to_eth,
					      true,     ub_check};

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
