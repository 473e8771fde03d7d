/* ib_in.c - the IP router between Ethernet and IPoIB ports, in front of the other input nodes.
 *
 * Only there when a port is an IPoIB one. It takes what comes from such a port, and from Ethernet
 * ports what is routed to one; all else goes on as it came. Nothing of UnifiedBus concerns these
 * packets, so fragments, options and extension headers pass. What is too large leaves as fragments
 * where that is allowed.
 */
#include "causeway/forward.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "daemon/graph/forward.h"

enum { NEXT_TX, NEXT_PUNT, NEXT_DROP, NEXT_ETH, NEXT_IP, NEXT_EGRESS, NEXT_COUNT };

struct step {
	struct rte_graph *graph;
	struct rte_node *node;
	struct cw_worker *w;
};

static void leave(const struct step *s, struct rte_mbuf *m, uint32_t meta, unsigned next)
{
	cw_meta_set(m, meta);
	rte_node_enqueue_x1(s->graph, s->node, (rte_edge_t)next, m);
}

static void leave_by(const struct step *s, struct rte_mbuf *m, unsigned slot)
{
	leave(s, m, slot, s->w->plane->egress ? NEXT_EGRESS : NEXT_TX);
}

/* A frame of its own for each fragment; out of buffers, the packet is lost. */
static void send_fragments(const struct step *s, struct rte_mbuf *m, const struct cw_hop *h,
			   size_t len)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	size_t done = 0;
	int n = 0;

	for (;;) {
		struct rte_mbuf *f = rte_pktmbuf_alloc(cw_io.pool);
		uint8_t *out;

		if (f == NULL) {
			leave(s, m, CW_DROP_NO_MEMORY, NEXT_DROP);
			return;
		}
		out = rte_pktmbuf_mtod(f, uint8_t *);
		n = cw_ip_fragment(out + CW_SIZE_ETH, rte_pktmbuf_tailroom(f) - CW_SIZE_ETH,
				   h->hop.mtu, frame + CW_SIZE_ETH, len, &done);
		if (n <= 0) {
			rte_pktmbuf_free(f);
			break;
		}
		memcpy(out, frame, CW_SIZE_ETH);
		f->data_len = (uint16_t)(CW_SIZE_ETH + n);
		f->pkt_len = f->data_len;
		f->port = m->port;
		leave_by(s, f, h->slot);
	}
	rte_pktmbuf_free(m);
}

/* The header of the frame is written where the old one was. */
static void send_to(const struct step *s, struct rte_mbuf *m, const struct cw_hop *h,
		    const uint8_t *mac, size_t len)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip = frame + CW_SIZE_ETH;

	if (h->hop.mtu != 0 && len > h->hop.mtu && !cw_ip_may_fragment(ip)) {
		leave(s, m, CW_DROP_MTU, NEXT_DROP);
		return;
	}
	cw_ip_hop(ip);
	memcpy(frame, mac, 6);
	memcpy(frame + 6, h->hop.src, 6);
	m->data_len = (uint16_t)(CW_SIZE_ETH + len);
	m->pkt_len = m->data_len;
	if (h->hop.mtu != 0 && len > h->hop.mtu)
		send_fragments(s, m, h, len);
	else
		leave_by(s, m, h->slot);
}

static void route(const struct step *s, struct rte_mbuf *m, size_t len)
{
	const struct cw_plane *p = s->w->plane;
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *) + CW_SIZE_ETH;
	struct cw_ub2e_view v = {.version = ip[0] >> 4};
	uint32_t index;
	const struct cw_hop *h;
	const uint8_t *mac;
	enum cw_drop why;

	v.dst = v.version == 4 ? cw_ipv4_dst(ip) : cw_ipv6_dst(ip);
	index = cw_route(p->fib, &v);
	h = index != CW_NO_HOP ? &p->hops[index] : NULL;
	if (h != NULL && h->kind == CW_HOP_LOCAL) {
		leave(s, m, 0, NEXT_PUNT);
	} else if ((why = cw_ip_may_forward(ip)) != CW_PASS) {
		leave(s, m, why, NEXT_DROP);
	} else if (h == NULL) {
		leave(s, m, CW_DROP_NO_ROUTE, NEXT_DROP);
	} else if (h->hop.side == CW_SIDE_UB) {
		leave(s, m, 0, NEXT_ETH); /* into UnifiedBus: that check and write */
	} else if (h->kind == CW_HOP_STATIC) {
		send_to(s, m, h, h->hop.dst, len);
	} else if ((mac = cw_forward_resolve(s->w, m, h, &v, &why)) != NULL) {
		send_to(s, m, h, mac, len);
	} else if (why != CW_PASS) {
		leave(s, m, why, NEXT_DROP);
	}
}

/* Does an untagged IP packet for this port's station lead to an IPoIB port? */
static bool leads_to_ipoib(const struct cw_plane *p, const struct rte_mbuf *m)
{
	const struct cw_plane_port *in = &p->port[m->port];
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + CW_SIZE_ETH;
	uint32_t type = cw_eth_type(frame), index;
	struct cw_ub2e_view v = {.version = type == CW_ETHERTYPE_IP4 ? 4 : 6};

	if ((type != CW_ETHERTYPE_IP4 && type != CW_ETHERTYPE_IP6) ||
	    (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 ||
	    m->data_len < CW_SIZE_ETH + (v.version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6) ||
	    (memcmp(frame, in->dev->mac, 6) != 0 && !in->any_station))
		return false;
	v.dst = v.version == 4 ? cw_ipv4_dst(ip) : cw_ipv6_dst(ip);
	index = cw_route(p->fib, &v);
	return index != CW_NO_HOP && p->port[p->hops[index].slot].conf->kind == CW_PORT_IPOIB;
}

/* ARP, and what is multicast or broadcast on the link, are for control. So is what is tagged: only
 * the link's answers about neighbours are, with the VLAN of the question (daemon/ipoib/router.c).
 */
static void input(const struct step *s, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	enum cw_drop why = CW_DROP_SHORT;
	uint32_t type;
	size_t len;

	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0)
		why = CW_DROP_NO_MEMORY;
	else if (m->data_len >= CW_SIZE_ETH) {
		type = cw_eth_type(frame);
		if (type == CW_ETHERTYPE_ARP || cw_is_tpid(type) || (frame[0] & 1) != 0) {
			leave(s, m, 0, NEXT_PUNT);
			return;
		}
		why = type == CW_ETHERTYPE_IP4 || type == CW_ETHERTYPE_IP6
			      ? cw_ip_check(frame + CW_SIZE_ETH, m->data_len - CW_SIZE_ETH, &len)
			      : CW_DROP_ETHERTYPE;
	}
	if (why == CW_PASS)
		route(s, m, len);
	else
		leave(s, m, why, NEXT_DROP);
}

static uint16_t ib_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct step s = {graph, node, cw_node_worker(node)};
	const struct cw_plane *p = s.w->plane;
	uint16_t i;

	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];

		if (p->port[m->port].conf->kind == CW_PORT_IPOIB || leads_to_ipoib(p, m))
			input(&s, m);
		else
			rte_node_enqueue_x1(graph, node, p->ip_in ? NEXT_IP : NEXT_ETH, m);
	}
	return nb;
}

static struct rte_node_register ib_node = {
	.name = CW_NODE_IB,
	.process = ib_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_TX] = CW_NODE_TX,
		       [NEXT_PUNT] = CW_NODE_PUNT,
		       [NEXT_DROP] = CW_NODE_DROP,
		       [NEXT_ETH] = CW_NODE_ETH,
		       [NEXT_IP] = CW_NODE_IP,
		       [NEXT_EGRESS] = CW_NODE_EGR},
};
RTE_NODE_REGISTER(ib_node)
