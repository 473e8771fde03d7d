/* ip_in.c - the IP router between Ethernet ports, in front of cw-eth-in.
 *
 * Only there when something needs it (struct cw_plane, ip_in). It takes the packets that leave
 * from another Ethernet port, and messages for the proxy; all others go on to cw-eth-in as they
 * came.
 */
#include "causeway/wire/eth.h"
#include "daemon/graph/cn.h"
#include "daemon/graph/forward.h"

enum { NEXT_ETH = CW_NEXT_COUNT, NEXT_COUNT };

static inline bool for_us(const struct cw_plane_port *in, const uint8_t *dst)
{
	return memcmp(dst, in->dev->mac, 6) == 0 || in->any_station || in->conf->promiscuous;
}

static enum cw_drop check(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v)
{
	const struct cw_plane_port *in = &w->plane->port[m->port];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct cw_stripped_tag tag = {false, 0, 0};
	enum cw_drop why;

	if (m->data_len < CW_SIZE_ETH)
		return CW_DROP_SHORT;
	if (!for_us(in, frame))
		return CW_DROP_NOT_FOR_US;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) {
		tag.stripped = true;
		tag.tci = m->vlan_tci;
		tag.tpid = cw_tag_tpid(in, m);
	}
	why = cw_ub2e_route_eth(w->plane->rules, &in->filter, frame, m->data_len, &tag, v);
	return why == CW_PASS && v->outer_vid != in->conf->outer_vid ? CW_DROP_VLAN_UNMAPPED : why;
}

/* Does it say that it comes from the gateway itself? Its own messages to its own proxy never were
 * on a wire (cw-ip-out). */
static bool from_us(const struct cw_plane *p, const struct cw_ub2e_view *v)
{
	struct cw_ub2e_view back = *v;
	uint32_t index;

	back.dst = v->ip + (v->version == 4 ? 12 : 8);
	index = cw_route(p->fib, &back);
	return index != CW_NO_HOP && p->hops[index].kind == CW_HOP_LOCAL;
}

/* A packet to the gateway itself: congestion messages are the proxy's, or nobody's. */
static bool take_message(struct cw_worker *w, struct rte_mbuf *m, const struct cw_ub2e_view *v,
			 struct cw_outcome *o)
{
	const struct cw_plane *p = w->plane;

	if (!cw_is_cn_message(v->ip, v->ip_len, p->cn_port1, p->cn_port2))
		return false;
	if (p->cn == NULL || (p->interfaces >> m->port & 1) == 0 || from_us(p, v)) {
		cw_outcome_drop(o, m, CW_DROP_CN_BORDER);
		return true;
	}
	m->data_off = (uint16_t)(v->ip - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)v->ip_len;
	m->pkt_len = v->ip_len;
	if (!cw_cn_message(w, m))
		cw_outcome_drop(o, m, CW_DROP_CN_FULL);
	return true;
}

/* True if the packet was taken; false: it is cw-eth-in's, which also names what is wrong with it.
 */
static bool take(struct cw_worker *w, struct rte_mbuf *m, struct cw_outcome *o)
{
	const struct cw_plane *p = w->plane;
	struct cw_ub2e_view v;
	const struct cw_hop *h;
	uint32_t index;

	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) || check(w, m, &v) != CW_PASS ||
	    (index = cw_route(p->fib, &v)) == CW_NO_HOP)
		return false;
	h = &p->hops[index];
	if (h->kind == CW_HOP_LOCAL)
		return take_message(w, m, &v, o);
	if (h->hop.side != CW_SIDE_ETH || !p->between_ethernet)
		return false;
	cw_forward_one(w, m, &v, index, o);
	return true;
}

static uint16_t ip_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	void *rest[CW_MAX_BURST];
	struct cw_outcome o;
	uint16_t i, nrest = 0;

	o.tx = objs;
	o.ntx = o.npunt = o.ndrop = 0;
	for (i = 0; i < nb; i++) {
		if (!take(w, objs[i], &o))
			rest[nrest++] = objs[i];
		if (nrest == CW_MAX_BURST || o.ndrop == CW_MAX_BURST) {
			rte_node_enqueue(graph, node, NEXT_ETH, rest, nrest);
			nrest = 0;
			cw_outcome_flush_sides(graph, node, &o);
		}
	}
	if (nrest > 0)
		rte_node_enqueue(graph, node, NEXT_ETH, rest, nrest);
	cw_outcome_flush_sides(graph, node, &o);
	cw_outcome_flush_tx(graph, node, &o, nb);
	return nb;
}

static struct rte_node_register ip_node = {
	.name = CW_NODE_IP,
	.process = ip_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[CW_NEXT_TX] = CW_NODE_TX,
		       [CW_NEXT_PUNT] = CW_NODE_PUNT,
		       [CW_NEXT_DROP] = CW_NODE_DROP,
		       [CW_NEXT_EGRESS] = CW_NODE_EGR,
		       [NEXT_ETH] = CW_NODE_ETH},
};
RTE_NODE_REGISTER(ip_node)
