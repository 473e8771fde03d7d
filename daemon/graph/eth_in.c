/* eth_in.c - frames from an Ethernet port: draft-li-uboe-00, Ethernet -> UB. */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "daemon/graph/input.h"

/* The EtherType behind up to two tags, and where it leads. */
static inline uint32_t ethertype(const uint8_t *frame, uint32_t len, uint32_t *off)
{
	uint32_t type = cw_eth_type(frame);
	unsigned depth;

	*off = CW_SIZE_ETH;
	for (depth = 0; depth < 2 && unlikely(cw_is_tpid(type)) && *off + CW_SIZE_VLAN <= len;
	     depth++) {
		type = cw_vlan_type(frame + *off);
		*off += CW_SIZE_VLAN;
	}
	return type;
}

static bool is_own(const struct cw_plane_port *in, uint8_t version, const uint8_t *addr)
{
	unsigned i, octets = version == 4 ? 4 : 16;

	for (i = 0; i < in->conf->naddr; i++) {
		if (in->conf->addr[i].version == version &&
		    memcmp(in->conf->addr[i].a, addr, octets) == 0)
			return true;
	}
	return version == 6 && memcmp(in->link_local, addr, 16) == 0;
}

/* ARP, neighbour discovery, and ICMP to the gateway itself. One octet tells nearly always no. */
static inline bool for_control(const struct cw_plane_port *in, const uint8_t *frame, uint32_t len)
{
	uint32_t off, type = ethertype(frame, len, &off);
	const uint8_t *ip = frame + off;

	if (unlikely(in->conf->multicast || in->conf->nrelay > 0) && (frame[0] & 1) != 0 &&
	    (type == CW_ETHERTYPE_IP4 || type == CW_ETHERTYPE_IP6))
		return true;
	if (type == CW_ETHERTYPE_IP4)
		return len >= off + CW_SIZE_IPV4 &&
		       unlikely(cw_ipv4_proto(ip) == CW_IPPROTO_ICMP) &&
		       is_own(in, 4, cw_ipv4_dst(ip));
	if (type == CW_ETHERTYPE_IP6)
		return len >= off + CW_SIZE_IPV6 &&
		       unlikely(cw_ipv6_next_header(ip) == CW_IPPROTO_ICMP6) &&
		       (cw_ipv6_dst(ip)[0] == 0xff || is_own(in, 6, cw_ipv6_dst(ip)));
	return type == CW_ETHERTYPE_ARP;
}

static inline struct cw_station eth_station(const struct cw_plane_port *in)
{
	return cw_station_of(in->dev->mac, in->any_station || in->conf->promiscuous);
}

static inline enum cw_way eth_check(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
				    enum cw_drop *why)
{
	const struct cw_plane_port *in = &w->plane->port[m->port];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct cw_station station = eth_station(in);
	struct cw_stripped_tag tag = {false, 0, 0};
	bool group, ours;

	if (unlikely(m->data_len < CW_SIZE_ETH)) {
		*why = CW_DROP_SHORT;
		return CW_WAY_DROP;
	}
	group = (frame[0] & 1) != 0;
	ours = cw_station_takes(&station, frame);
	if ((ours || group) && unlikely(for_control(in, frame, m->data_len)))
		return CW_WAY_PUNT;
	if (unlikely(!ours)) {
		*why = CW_DROP_NOT_FOR_US;
		return CW_WAY_DROP;
	}
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) {
		tag.stripped = true;
		tag.tci = m->vlan_tci;
		tag.tpid = cw_tag_tpid(in, m);
	}
	*why = cw_ub2e_from_eth(w->plane->rules, &in->filter, frame, m->data_len, &tag, v);
	/* A port takes frames of its own outer tag only: another customer's S-tag is not ours. */
	if (unlikely(*why == CW_PASS && v->outer_vid != in->conf->outer_vid))
		*why = CW_DROP_VLAN_UNMAPPED;
	return likely(*why == CW_PASS) ? CW_WAY_FORWARD : CW_WAY_DROP;
}

/* ---- Ordinary packets: one tag, in the frame or taken out by the device ------------------------
 */

static inline bool eth_usual(const struct cw_plane_port *in)
{
	return in->conf->outer_vid == 0;
}

/* Octets in front of the IP header, by where the tag is. */
#define STRIPPED_LEAD CW_SIZE_ETH
#define TAGGED_LEAD   (CW_SIZE_ETH + CW_SIZE_VLAN)

static inline unsigned eth_lead(const struct cw_plane *p, const struct cw_plane_port *in,
				const struct rte_mbuf *m)
{
	bool stripped = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
	unsigned lead = stripped ? STRIPPED_LEAD : TAGGED_LEAD;

	return eth_usual(in) && ub2e_is_direct(p->rules, &in->filter, CW_SIDE_ETH) ? lead : 0;
}

CW_INPUT_INLINE uint32_t type_of(unsigned version)
{
	return version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6;
}

CW_INPUT_INLINE size_t eth_stripped(struct cw_burst *b, const struct rte_mbuf *m, uint8_t *frame,
				    const struct cw_ub2e_adj *adj, unsigned version)
{
	const struct ub2e_kind kind = {.version = version, .direct = true};
	uint8_t *ip = frame + STRIPPED_LEAD;

	if (!cw_station_takes(&b->station, frame) || cw_be16(ip - 2) != type_of(version))
		return 0;
	return ub2e_to_ub(b->rules, ip, m->data_len - (size_t)STRIPPED_LEAD, m->vlan_tci & 0xfff,
			  adj, &kind);
}

CW_INPUT_INLINE size_t eth_tagged(struct cw_burst *b, const struct rte_mbuf *m, uint8_t *frame,
				  const struct cw_ub2e_adj *adj, unsigned version)
{
	const struct ub2e_kind kind = {.version = version, .direct = true};
	uint8_t *ip = frame + TAGGED_LEAD;

	if (!cw_station_takes(&b->station, frame) || cw_be16(ip - 6) != CW_ETHERTYPE_VLAN ||
	    cw_be16(ip - 2) != type_of(version))
		return 0;
	return ub2e_to_ub(b->rules, ip, m->data_len - (size_t)TAGGED_LEAD, cw_be16(ip - 4) & 0xfff,
			  adj, &kind);
}

static __attribute__((noinline)) void stripped4(struct cw_burst *b)
{
	cw_burst_write(b, eth_stripped, STRIPPED_LEAD - UB2E_UB_LEAD, 4, false);
}

static __attribute__((noinline)) void stripped6(struct cw_burst *b)
{
	cw_burst_write(b, eth_stripped, STRIPPED_LEAD - UB2E_UB_LEAD, 6, false);
}

static __attribute__((noinline)) void tagged4(struct cw_burst *b)
{
	cw_burst_write(b, eth_tagged, TAGGED_LEAD - UB2E_UB_LEAD, 4, false);
}

static __attribute__((noinline)) void tagged6(struct cw_burst *b)
{
	cw_burst_write(b, eth_tagged, TAGGED_LEAD - UB2E_UB_LEAD, 6, false);
}

static inline void eth_write(struct cw_worker *w, struct cw_burst *b)
{
	static void (*const write[2][2])(struct cw_burst *) = {{tagged4, stripped4},
							       {tagged6, stripped6}};

	(void)w;
	write[b->version == 6][b->lead == STRIPPED_LEAD](b);
}

static inline const uint8_t *eth_offer(const struct cw_station *station, struct rte_mbuf *m,
				       struct cw_ub2e_job *job)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (m->data_len < CW_SIZE_ETH || !cw_station_takes(station, frame))
		return NULL;
	job->start = frame;
	job->len = m->data_len;
	job->tag = 0;
	if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0)
		return frame + CW_SIZE_ETH + CW_SIZE_VLAN;
	job->tag = CW_UB2E_TAG_STRIPPED | m->vlan_tci;
	return frame + CW_SIZE_ETH;
}

static void eth_rest(struct cw_worker *w, const struct cw_burst *b, struct cw_outcome *o);

static const struct cw_input input = {
	.usual = eth_usual,
	.station = eth_station,
	.lead = eth_lead,
	.straight = eth_write,
	.rest = eth_rest,
	.offer = eth_offer,
	.burst = cw_ub2e_burst_to_ub,
	.check = eth_check,
};

static __attribute__((noinline)) void eth_rest(struct cw_worker *w, const struct cw_burst *b,
					       struct cw_outcome *o)
{
	cw_burst_rest(w, b, o, &input);
}

static uint16_t eth_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			    uint16_t nb)
{
	return cw_input_process(graph, node, objs, nb, &input);
}

static struct rte_node_register eth_node = {
	.name = CW_NODE_ETH,
	.process = eth_process,
	.init = cw_node_init,
	.nb_edges = CW_NEXT_COUNT,
	.next_nodes = CW_NEXT_NODES,
};
RTE_NODE_REGISTER(eth_node)
