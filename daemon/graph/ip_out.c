/* ip_out.c - packets of our own, from the IP header on, out of their port. See origin.h.
 *
 * They have a way of their own behind the shaped queues: a notification must not wait for the
 * congestion that it is about.
 */
#include "daemon/graph/cn.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "daemon/graph/forward.h"
#include "daemon/graph/origin.h"

enum { NEXT_TX, NEXT_COUNT };

struct rte_mbuf *cw_origin(struct cw_worker *w, const uint8_t *ip, uint32_t len, unsigned slot,
			   uint16_t domain, uint16_t vlan)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(cw_io.pool);
	char *p = m != NULL ? rte_pktmbuf_append(m, (uint16_t)len) : NULL;

	w->port[slot].originated++;
	if (p == NULL) {
		w->port[slot].drops[CW_DROP_NO_MEMORY]++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(p, ip, len);
	m->port = (uint16_t)slot;
	m->ol_flags |= cw_dp.origin_flag;
	m->vlan_tci_outer = domain;
	cw_meta_set(m, vlan);
	return m;
}

/* Into the UB domain it goes as a packet from Ethernet would. */
static enum cw_drop put_ub(struct cw_worker *w, struct rte_mbuf *m, const struct cw_ub2e_hop *hop,
			   const struct cw_ub2e_view *from)
{
	struct cw_stripped_tag tag = {from->tagged, from->vid, CW_ETHERTYPE_VLAN};
	struct cw_ub2e_view v;
	enum cw_drop why;
	uint8_t *frame;
	uint32_t len;

	frame = (uint8_t *)rte_pktmbuf_prepend(m, CW_SIZE_ETH);
	memset(frame, 0, CW_SIZE_ETH);
	cw_put_be16(frame + 12, frame[CW_SIZE_ETH] >> 4 == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	why = cw_ub2e_from_eth(w->plane->rules, NULL, frame, m->data_len, &tag, &v);
	if (why == CW_PASS)
		why = cw_ub2e_write(w->plane->rules, &v, hop, &frame, &len);
	if (why != CW_PASS)
		return why;
	m->data_off = (uint16_t)(frame - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return CW_PASS;
}

static struct cw_ub2e_view view_of(struct rte_mbuf *m)
{
	struct cw_ub2e_view v = {.ip = rte_pktmbuf_mtod(m, uint8_t *), .ip_len = m->data_len};

	v.version = v.ip[0] >> 4;
	v.dst = v.version == 4 ? cw_ipv4_dst(v.ip) : cw_ipv6_dst(v.ip);
	v.tos = (uint8_t)(v.version == 4 ? v.ip[1] : cw_be16(v.ip) >> 4);
	return v;
}

/* Its tag, with the priority that packets of its DSCP have. */
static void use_vlan(const struct cw_plane *p, struct cw_ub2e_view *v, uint16_t vid)
{
	v->vid = vid;
	v->tagged = vid != 0;
	v->pcp = cw_ub2e_dscp_to_pcp(p->rules, v->tos >> 2);
}

/* Section 6 of the draft: our own messages don't leave the domain either. */
static bool leaves_domain(const struct cw_plane *p, const struct cw_ub2e_view *v, unsigned slot)
{
	return (p->border >> slot & 1) != 0 &&
	       cw_is_cn_message(v->ip, v->ip_len, p->cn_port1, p->cn_port2);
}

/* CW_PASS with *gone when the packet waits for its next hop. */
static enum cw_drop send_by(struct cw_worker *w, struct rte_mbuf *m, const struct cw_hop *h,
			    struct cw_ub2e_view *v, bool *gone)
{
	const struct cw_plane *p = w->plane;
	const uint8_t *mac = h->hop.dst;
	enum cw_drop why = CW_PASS;

	*gone = false;
	if (leaves_domain(p, v, h->slot))
		return CW_DROP_CN_BORDER;
	if (h->hop.side == CW_SIDE_UB) {
		why = put_ub(w, m, &h->hop, v);
	} else {
		if (h->kind != CW_HOP_STATIC)
			mac = cw_forward_resolve(w, m, h, v, &why);
		if (mac == NULL) {
			*gone = why == CW_PASS;
			return why;
		}
		cw_put_ethernet(m, &h->hop, mac, v);
	}
	cw_meta_set(m, h->slot);
	return why;
}

/* By the routing domain of a VPN. */
static enum cw_drop domain_one(struct cw_worker *w, struct rte_mbuf *m, bool *gone)
{
	struct cw_ub2e_view v = view_of(m);
	const struct cw_domain *d;

	*gone = false;
	if (m->vlan_tci_outer > w->plane->ndomains) /* the configuration is another one by now */
		return CW_DROP_NO_ROUTE;
	d = &w->plane->domains[m->vlan_tci_outer - 1];
	use_vlan(w->plane, &v, d->vid);
	return send_by(w, m, &d->hop, &v, gone);
}

static enum cw_drop route_one(struct cw_worker *w, struct rte_mbuf *m, bool *gone)
{
	const struct cw_plane *p = w->plane;
	struct cw_ub2e_view v = view_of(m);
	const struct cw_hop *h;
	uint32_t index = cw_route(p->fib, &v), vlan;

	*gone = false;
	if (index == CW_NO_HOP)
		return CW_DROP_NO_ROUTE;
	h = &p->hops[index];
	if (h->kind == CW_HOP_LOCAL) { /* the gateway is its own proxy */
		*gone = p->cn != NULL && cw_cn_message(w, m);
		return *gone ? CW_PASS : CW_DROP_CN_FULL;
	}
	vlan = cw_meta_get(m);
	use_vlan(p, &v,
		 vlan != 0 ? (uint16_t)(vlan & CW_VLAN_VID)
			   : cw_own_vid(p->port[h->slot].conf, v.version,
					h->kind == CW_HOP_VIA ? h->via.a : v.dst));
	return send_by(w, m, h, &v, gone);
}

static uint16_t out_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			    uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	struct rte_mbuf *m;
	enum cw_drop why;
	uint16_t i;
	bool gone;

	for (i = 0; i < nb; i++) {
		m = objs[i];
		why = m->vlan_tci_outer != 0 ? domain_one(w, m, &gone) : route_one(w, m, &gone);
		if (why != CW_PASS)
			cw_drop_egress(w, &m, 1, m->port, why);
		else if (!gone)
			rte_node_enqueue_x1(graph, node, NEXT_TX, m);
	}
	return nb;
}

static struct rte_node_register out_node = {
	.name = CW_NODE_OUT,
	.process = out_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_TX] = CW_NODE_TX},
};
RTE_NODE_REGISTER(out_node)
