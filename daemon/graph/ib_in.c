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

/* A frame of its own for each fragment; out of buffers, the packet is lost. One of them is the
 * packet, the others count as made here. */
static void send_fragments(const struct step *s, struct rte_mbuf *m, const struct cw_hop *h,
			   const uint8_t *mac, const struct cw_ub2e_view *v)
{
	uint64_t *made = &s->w->port[h->slot].originated;
	size_t done = 0;
	int n = 0;

	for (;; ++*made) {
		struct rte_mbuf *f = rte_pktmbuf_alloc(cw_io.pool);

		if (f == NULL) {
			leave(s, m, CW_DROP_NO_MEMORY, NEXT_DROP);
			return;
		}
		n = cw_ip_fragment(rte_pktmbuf_mtod(f, uint8_t *), rte_pktmbuf_tailroom(f),
				   h->hop.mtu, v->ip, v->ip_len, &done);
		if (n <= 0) {
			rte_pktmbuf_free(f);
			break;
		}
		f->data_len = (uint16_t)n;
		f->pkt_len = f->data_len;
		f->port = m->port;
		cw_put_ethernet(f, &h->hop, mac, v);
		leave_by(s, f, h->slot);
	}
	--*made;
	rte_pktmbuf_free(m);
}

/* The new header is written in front of the packet. */
static void send_to(const struct step *s, struct rte_mbuf *m, const struct cw_hop *h,
		    const uint8_t *mac, const struct cw_ub2e_view *v)
{
	bool large = h->hop.mtu != 0 && v->ip_len > h->hop.mtu;

	if (large && !cw_ip_may_fragment(v->ip)) {
		leave(s, m, CW_DROP_MTU, NEXT_DROP);
		return;
	}
	cw_ip_hop(v->ip);
	if (large) {
		send_fragments(s, m, h, mac, v);
		return;
	}
	m->data_off = (uint16_t)(v->ip - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)v->ip_len;
	m->pkt_len = v->ip_len;
	cw_put_ethernet(m, &h->hop, mac, v);
	leave_by(s, m, h->slot);
}

/* The tag of a packet that leaves: of the VLAN in which the port has an address of the next hop's
 * subnet. A link has no VLANs. */
static void choose_vlan(const struct cw_plane *p, const struct cw_hop *h, struct cw_ub2e_view *v)
{
	const struct cw_port_config *out = p->port[h->slot].conf;
	const uint8_t *ip = v->ip;
	unsigned dscp;

	if (out->kind != CW_PORT_ETHERNET)
		return;
	dscp = v->version == 4 ? cw_ipv4_dscp(ip) : cw_ipv6_dscp(ip);
	v->vid = cw_own_vid(out, h->kind == CW_HOP_VIA ? h->via.version : v->version,
			    h->kind == CW_HOP_VIA ? h->via.a : v->dst);
	v->tagged = v->vid != 0;
	v->pcp = cw_ub2e_get_settings(p->rules)->pcp[dscp];
}

static void route(const struct step *s, struct rte_mbuf *m, struct cw_ub2e_view *v)
{
	const struct cw_plane *p = s->w->plane;
	uint32_t index;
	const struct cw_hop *h;
	const uint8_t *mac;
	enum cw_drop why;

	v->dst = v->version == 4 ? cw_ipv4_dst(v->ip) : cw_ipv6_dst(v->ip);
	index = cw_route(p->fib, v);
	h = index != CW_NO_HOP ? &p->hops[index] : NULL;
	if (h != NULL && h->kind == CW_HOP_LOCAL) {
		leave(s, m, 0, NEXT_PUNT);
		return;
	}
	if ((why = cw_ip_may_forward(v->ip)) != CW_PASS || h == NULL) {
		leave(s, m, why != CW_PASS ? why : CW_DROP_NO_ROUTE, NEXT_DROP);
		return;
	}
	choose_vlan(p, h, v);
	if (h->hop.side == CW_SIDE_UB) {
		leave(s, m, 0, NEXT_ETH); /* into UnifiedBus: that check and write */
	} else if (h->kind == CW_HOP_STATIC) {
		send_to(s, m, h, h->hop.dst, v);
	} else if ((mac = cw_forward_resolve(s->w, m, h, v, &why)) != NULL) {
		send_to(s, m, h, mac, v);
	} else if (why != CW_PASS) {
		leave(s, m, why, NEXT_DROP);
	}
}

/* What is behind the tags of a frame from Ethernet, the one that the device took out included. */
struct network {
	uint32_t type, off;
	uint16_t vid; /* behind the port's own outer tag; 0: untagged */
};

/* False: tags that are not this port's. */
static bool network_of(const struct cw_plane_port *in, const struct rte_mbuf *m, struct network *n)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t vid[3] = {0}, outer = in->conf->outer_vid;
	unsigned tags = 0;

	if (m->data_len < CW_SIZE_ETH)
		return false;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		vid[tags++] = m->vlan_tci & 0xfff;
	n->off = CW_SIZE_ETH;
	for (n->type = cw_eth_type(frame); cw_is_tpid(n->type); n->off += CW_SIZE_VLAN) {
		if (tags == 2 || m->data_len < n->off + CW_SIZE_VLAN)
			return false;
		vid[tags++] = (uint16_t)cw_vlan_vid(frame + n->off);
		n->type = cw_vlan_type(frame + n->off);
	}
	n->vid = vid[outer != 0];
	return outer != 0 ? vid[0] == outer : tags < 2;
}

/* VLANs in which the port has an address; and what is untagged. */
static bool is_configured(const struct cw_port_config *c, uint16_t vid)
{
	unsigned i;

	for (i = 0; vid != 0 && i < c->naddr && c->addr_vid[i] != vid; i++)
		;
	return vid == 0 || i < c->naddr;
}

/* Does an IP packet for this port's station lead to an IPoIB port? */
static bool leads_to_ipoib(const struct cw_plane *p, const struct rte_mbuf *m)
{
	const struct cw_plane_port *in = &p->port[m->port];
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip;
	struct cw_ub2e_view v;
	struct network n;
	uint32_t index;

	if (!network_of(in, m, &n) || (n.type != CW_ETHERTYPE_IP4 && n.type != CW_ETHERTYPE_IP6) ||
	    !is_configured(in->conf, n.vid))
		return false;
	v = (struct cw_ub2e_view){.version = n.type == CW_ETHERTYPE_IP4 ? 4 : 6};
	if (m->data_len < n.off + (v.version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6) ||
	    (memcmp(frame, in->dev->mac, 6) != 0 && !in->any_station))
		return false;
	ip = frame + n.off;
	v.dst = v.version == 4 ? cw_ipv4_dst(ip) : cw_ipv6_dst(ip);
	index = cw_route(p->fib, &v);
	return index != CW_NO_HOP && p->port[p->hops[index].slot].conf->kind == CW_PORT_IPOIB;
}

/* ARP, and what is multicast or broadcast on the link, are for control. So is what a link sends
 * with a tag: only its answers about neighbours are, with the VLAN of the question
 * (daemon/ipoib/router.c).
 */
static void input(const struct step *s, struct rte_mbuf *m)
{
	const struct cw_plane_port *in = &s->w->plane->port[m->port];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	enum cw_drop why = CW_DROP_SHORT;
	struct cw_ub2e_view v = {0};
	struct network n;
	size_t len = 0;

	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) {
		why = CW_DROP_NO_MEMORY;
	} else if (network_of(in, m, &n)) {
		if (n.type == CW_ETHERTYPE_ARP || (frame[0] & 1) != 0 ||
		    (n.off > CW_SIZE_ETH && in->conf->kind == CW_PORT_IPOIB)) {
			leave(s, m, 0, NEXT_PUNT);
			return;
		}
		v.ip = frame + n.off;
		why = n.type == CW_ETHERTYPE_IP4 || n.type == CW_ETHERTYPE_IP6
			      ? cw_ip_check(v.ip, m->data_len - n.off, &len)
			      : CW_DROP_ETHERTYPE;
	}
	if (why != CW_PASS) {
		leave(s, m, why, NEXT_DROP);
		return;
	}
	v.version = v.ip[0] >> 4;
	v.ip_len = (uint32_t)len;
	route(s, m, &v);
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
