/* local.c - frames to the gateway itself: ARP, neighbour discovery, echo. See local.h. */
#include <string.h>
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "daemon/control/current.h"
#include "daemon/control/local.h"
#include "daemon/control/own.h"
#include "daemon/io/tags.h"
#include "daemon/ipoib/ipoib.h"

struct cw_local_stats cw_local_stats;

/* A frame taken apart as far as its EtherType. */
struct frame {
	struct rte_mbuf *m;
	const struct cw_plane_port *in;
	unsigned slot;
	uint8_t *eth, *body;
	uint32_t type, body_len;
	uint16_t vid; /* innermost of the network's VLANs, 0 untagged */
};

/* Put a tag that the device took out back, so that an answer leaves as the question came. */
static int restore_tag(struct rte_mbuf *m, uint16_t tpid)
{
	if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0)
		return 0;
	if (!cw_tags_insert(m, tpid, m->vlan_tci))
		return -1;
	m->ol_flags &= ~(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
	return 0;
}

static enum cw_drop open_frame(struct rte_mbuf *m, struct frame *f)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned depth = 0, tags;
	uint32_t off = CW_SIZE_ETH;

	f->m = m;
	f->slot = m->port;
	f->in = &p->port[m->port];
	if (f->in->dev == NULL)
		return CW_DROP_PORT_DOWN;
	if (restore_tag(m, cw_tag_tpid(f->in, m)) < 0)
		return CW_DROP_NO_MEMORY;
	f->eth = rte_pktmbuf_mtod(m, uint8_t *);
	f->vid = 0;
	tags = f->in->conf->outer_vid != 0; /* the outer tag says nothing about the VLAN */
	f->type = cw_eth_type(f->eth);
	for (; cw_is_tpid(f->type) && off + CW_SIZE_VLAN <= m->data_len; off += CW_SIZE_VLAN) {
		if (++depth > tags)
			f->vid = (uint16_t)cw_vlan_vid(f->eth + off);
		f->type = cw_vlan_type(f->eth + off);
	}
	f->body = f->eth + off;
	f->body_len = m->data_len - off;
	return CW_PASS;
}

/* ---- Own addresses --------------------------------------------------------------------------- */

static bool in_vlan(const struct cw_port_config *c, unsigned i, uint16_t vid)
{
	return c->addr_vid[i] == 0 || c->addr_vid[i] == vid;
}

static bool is_own(const struct cw_plane_port *in, uint8_t version, const uint8_t *addr,
		   uint16_t vid)
{
	unsigned i;

	for (i = 0; i < in->conf->naddr; i++) {
		if (in->conf->addr[i].version == version && in_vlan(in->conf, i, vid) &&
		    memcmp(in->conf->addr[i].a, addr, version == 4 ? 4 : 16) == 0)
			return true;
	}
	return version == 6 && memcmp(in->link_local, addr, 16) == 0;
}

static unsigned common_bits(const uint8_t *a, const uint8_t *b, unsigned octets)
{
	unsigned i;

	for (i = 0; i < octets && a[i] == b[i]; i++)
		;
	return i == octets ? 8 * i : 8 * i + (unsigned)__builtin_clz((unsigned)(a[i] ^ b[i])) - 24;
}

const uint8_t *cw_local_address(const struct cw_plane_port *port, const struct cw_neigh_key *key)
{
	const struct cw_port_config *c = port->conf;
	unsigned i, octets = key->version == 4 ? 4 : 16;
	const uint8_t *best = NULL;

	for (i = 0; i < c->naddr; i++) {
		if (c->addr[i].version != key->version || !in_vlan(c, i, key->vid))
			continue;
		if (common_bits(c->addr[i].a, key->addr, octets) >= c->addr[i].plen)
			return c->addr[i].a;
		best = best != NULL ? best : c->addr[i].a;
	}
	return best;
}

/* ---- Frames of our own ----------------------------------------------------------------------- */

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void send_arp(const struct cw_plane_port *port, uint16_t vid, uint32_t op,
		     const uint8_t *spa, const uint8_t *mac, const uint8_t *tpa)
{
	static const uint8_t zero[6];
	struct rte_mbuf *m;
	uint8_t *body;

	m = cw_own_frame(port, mac != NULL ? mac : broadcast, vid, CW_ETHERTYPE_ARP, CW_SIZE_ARP,
			 &body);
	if (m == NULL)
		return;
	cw_arp_build(body, op, port->dev->mac, spa, mac != NULL ? mac : zero, tpa);
	cw_own_send(m, port->dev->slot);
}

static void send_nd(const struct cw_plane_port *port, uint16_t vid, uint32_t type,
		    const uint8_t *src, const uint8_t *dst, const uint8_t *target,
		    const uint8_t *mac)
{
	uint8_t *body, group_mac[6];
	struct rte_mbuf *m;

	cw_nd_group_mac(group_mac, dst);
	m = cw_own_frame(port, mac != NULL ? mac : group_mac, vid, CW_ETHERTYPE_IP6, CW_ND_MESSAGE,
			 &body);
	if (m == NULL)
		return;
	cw_nd_build(body, type, src, dst, target, port->dev->mac);
	cw_own_send(m, port->dev->slot);
}

void cw_local_request(const struct cw_neigh_key *key, const uint8_t *mac)
{
	static const uint8_t unspecified[4];
	const struct cw_plane_port *port = &cw_plane_now()->port[key->port];
	const uint8_t *src;
	uint8_t group[16];

	if (port->dev == NULL)
		return;
	src = cw_local_address(port, key);
	if (key->version == 4) {
		/* Without an own address: a probe (RFC 5227 2.1.1). */
		send_arp(port, key->vid, CW_ARP_REQUEST, src != NULL ? src : unspecified, mac,
			 key->addr);
		cw_local_stats.arp_requests_out++;
		return;
	}
	cw_nd_solicited_node(group, key->addr);
	send_nd(port, key->vid, CW_ICMP6_NS, src != NULL ? src : port->link_local,
		mac != NULL ? key->addr : group, key->addr, mac);
	cw_local_stats.ns_out++;
}

/* ---- Frames to us ---------------------------------------------------------------------------- */

static void learn(struct cw_neigh *table, const struct frame *f, uint8_t version,
		  const uint8_t *addr, const uint8_t *mac)
{
	struct cw_neigh_key key;

	if ((mac[0] & 1) != 0)
		return;
	memset(&key, 0, sizeof(key));
	key.port = (uint16_t)f->slot;
	key.vid = f->vid;
	key.version = version;
	memcpy(key.addr, addr, version == 4 ? 4 : 16);
	cw_neigh_learn(table, &key, mac, cw_now_ms());
}

static enum cw_drop input_arp(struct cw_neigh *table, const struct frame *f)
{
	const uint8_t *arp = f->body;
	bool request;

	if (!cw_arp_valid(arp, f->body_len)) {
		cw_local_stats.malformed++;
		return CW_DROP_ETHERTYPE;
	}
	request = cw_arp_op(arp) == CW_ARP_REQUEST;
	cw_local_stats.arp_requests_in += request;
	cw_local_stats.arp_replies_in += !request;
	learn(table, f, 4, cw_arp_spa(arp), cw_arp_sha(arp));
	if (request && is_own(f->in, 4, cw_arp_tpa(arp), f->vid)) {
		send_arp(f->in, f->vid, CW_ARP_REPLY, cw_arp_tpa(arp), cw_arp_sha(arp),
			 cw_arp_spa(arp));
		cw_local_stats.arp_replies_out++;
	}
	return CW_PASS;
}

static void answer_ns(const struct frame *f, const struct cw_nd *nd)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1}, unspecified[16];
	bool dad = memcmp(nd->src, unspecified, 16) == 0;

	/* Somebody checks whether the address is free: tell everybody (RFC 4861 7.2.4). */
	send_nd(f->in, f->vid, CW_ICMP6_NA, nd->target, dad ? all_nodes : nd->src, nd->target,
		dad               ? NULL
		: nd->mac != NULL ? nd->mac
				  : f->eth + 6);
	cw_local_stats.na_out++;
}

static enum cw_drop input_nd(struct cw_neigh *table, const struct frame *f)
{
	struct cw_nd nd;
	int err = cw_nd_parse(f->body, f->body_len, &nd);

	if (err < 0) {
		/* Multicast that is not for us (router advertisements, MLD) is nobody's fault. */
		cw_local_stats.malformed += err != CW_E_UNKNOWN;
		return err == CW_E_UNKNOWN ? CW_DROP_NOT_FOR_US : CW_DROP_IP_LENGTH;
	}
	if (nd.type == CW_ICMP6_NA) {
		cw_local_stats.na_in++;
		if (nd.mac != NULL)
			learn(table, f, 6, nd.target, nd.mac);
		return CW_PASS;
	}
	cw_local_stats.ns_in++;
	if (nd.mac != NULL)
		learn(table, f, 6, nd.src, nd.mac);
	if (is_own(f->in, 6, nd.target, f->vid))
		answer_ns(f, &nd);
	return CW_PASS;
}

/* Send the frame back to where it came from, from our address. */
static void bounce(const struct frame *f)
{
	memcpy(f->eth, f->eth + 6, 6);
	memcpy(f->eth + 6, f->in->dev->mac, 6);
	cw_own_send(f->m, f->slot);
	cw_local_stats.echo_replies++;
}

/* Echo requests are answered; *sent: the frame is on its way. */
static enum cw_drop input_echo(const struct frame *f, uint8_t *ip, uint32_t len, bool *sent)
{
	if (cw_icmp_echo_reply(ip, len) < 0)
		return CW_DROP_IP_ADDRESS;
	*sent = true;
	bounce(f);
	return CW_PASS;
}

static enum cw_drop input_ethernet(struct cw_neigh *table, struct frame *f, bool *sent)
{
	bool group = (f->eth[0] & 1) != 0 && (f->in->conf->multicast || f->in->conf->nrelay > 0);
	bool v6;

	if (f->type == CW_ETHERTYPE_ARP)
		return input_arp(table, f);
	v6 = f->type == CW_ETHERTYPE_IP6;
	if (!v6 && f->type != CW_ETHERTYPE_IP4)
		return CW_DROP_ETHERTYPE;
	if (group && f->vid == 0)
		cw_ibd_multicast(f->slot, f->body, f->body_len);
	if (v6 && f->body_len > CW_SIZE_IPV6 && cw_ipv6_next_header(f->body) == CW_IPPROTO_ICMP6 &&
	    f->body[CW_SIZE_IPV6] != CW_ICMP6_ECHO_REQUEST)
		return input_nd(table, f);
	if (group)
		return CW_PASS; /* it was for groups, and that is done */
	if (!v6 && cw_plane_now()->ipoib && cw_ibd_dhcp_reply(f->body, f->body_len))
		return CW_PASS;
	return input_echo(f, f->body, f->body_len, sent);
}

static enum cw_drop input_ub(struct frame *f, bool *sent)
{
	const struct cw_plane *p = cw_plane_now();
	struct cw_ub2e_view v;
	enum cw_drop why;

	if (f->in->dev->bare_rx)
		return CW_DROP_IP_ADDRESS;
	why = cw_ub2e_from_ub(p->rules, &f->in->filter, f->eth + CW_SIZE_ETH,
			      f->m->data_len - CW_SIZE_ETH, &v);
	return why != CW_PASS ? why : input_echo(f, v.ip, v.ip_len, sent);
}

enum cw_drop cw_local_input(struct cw_neigh *table, struct rte_mbuf *m)
{
	bool sent = false;
	enum cw_drop why;
	struct frame f;

	if ((why = open_frame(m, &f)) != CW_PASS)
		return why;
	why = f.in->conf->kind == CW_PORT_UB ? input_ub(&f, &sent)
					     : input_ethernet(table, &f, &sent);
	if (why == CW_PASS && !sent)
		rte_pktmbuf_free(m);
	return why;
}
