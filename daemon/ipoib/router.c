/* router.c - router mode: an IPoIB link behind a port of the graph.
 *
 * The graph routes, resolves on Ethernet, and tells senders what is wrong. Here are the stations
 * that stand for the link's next hops, and what only this side knows: the link's MTU.
 */
#include <stdlib.h>
#include <string.h>
#include "causeway/forward.h"
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "daemon/ipoib/int.h"
#include "daemon/ipoib/ring.h"

enum { STATIONS = 4096, PROBES = 16, IDLE_MS = 300000, ERRORS_A_SECOND = 100 };

/* A next hop of the link. The graph asks again while it uses one, so one that nobody has asked for
 * in a long time is free. */
struct station {
	bool used, v6;
	uint8_t addr[16];
	uint64_t asked;
};

struct router {
	struct cw_ibring *ring;
	uint8_t link_local[16];
	struct station station[STATIONS];
	uint64_t errors_until;
	unsigned errors;
};

/* Stations are 02:1b and a number; 0 is whoever sent a packet. */
static void station_mac(uint8_t mac[6], uint32_t number)
{
	mac[0] = 0x02;
	mac[1] = 0x1b;
	cw_put_be32(mac + 2, number);
}

int router_fd(const struct ipport *p)
{
	return p->router != NULL ? p->router->ring->link_fd : -1;
}

/* ---- To the graph -------------------------------------------------------------------------- */

/* VLAN tags of the frame that is answered: the graph knows a neighbour by its VLAN too. */
struct tags {
	const uint8_t *at;
	size_t len;
};

static void frame_up(struct ipport *p, uint32_t from, const struct tags *tags, uint32_t type,
		     const void *body, size_t len)
{
	uint8_t *frame;
	struct rte_mbuf *m = cw_ibring_new((uint32_t)(CW_SIZE_ETH + tags->len + len), &frame);

	if (m == NULL) {
		p->n.host_refused++;
		return;
	}
	memcpy(frame, p->router->ring->mac, 6);
	station_mac(frame + 6, from);
	memcpy(frame + 12, tags->at, tags->len);
	cw_put_be16(frame + 12 + tags->len, (uint16_t)type);
	memcpy(frame + CW_SIZE_ETH + tags->len, body, len);
	p->n.host_rx++;
	cw_ibring_send(p->router->ring, m);
}

void router_up(struct ipport *p, const uint8_t *ip, size_t len)
{
	static const struct tags none = {(const uint8_t *)"", 0};

	frame_up(p, 0, &none, ip[0] >> 4 == 6 ? CW_ETHERTYPE_IP6 : CW_ETHERTYPE_IP4, ip, len);
}

void router_deliver(struct ipport *p, const uint8_t *ip, size_t len)
{
	const uint8_t *dst = ip[0] >> 4 == 6 ? cw_ipv6_dst(ip) : cw_ipv4_dst(ip);
	bool group =
		ip[0] >> 4 == 6 ? dst[0] == 0xff : dst[0] >> 4 == 14 || cw_be32(dst) == 0xffffffff;

	if (group && relay_from_link(p, p->hca->now, ip, len))
		return;
	if (group)
		mroute_from_link(p, p->hca->now, ip, len);
	else
		router_up(p, ip, len);
}

/* ---- Stations ------------------------------------------------------------------------------ */

static struct station *find_station(struct router *r, uint64_t now, bool v6, const uint8_t *addr)
{
	size_t n = v6 ? 16 : 4, i;
	uint32_t h = 0x811c9dc5, k;
	struct station *s, *free_one = NULL;

	for (i = 0; i < n; i++)
		h = (h ^ addr[i]) * 0x01000193u;
	for (k = 0; k < PROBES; k++) {
		s = &r->station[(h + k) % STATIONS];
		if (s->used && s->v6 == v6 && memcmp(s->addr, addr, n) == 0)
			return s;
		if (free_one == NULL && (!s->used || s->asked + IDLE_MS < now))
			free_one = s;
	}
	if (free_one == NULL)
		return NULL;
	*free_one = (struct station){.used = true, .v6 = v6};
	memcpy(free_one->addr, addr, n);
	return free_one;
}

/* Its number, or 0: there is no room. */
static uint32_t station_of(struct router *r, uint64_t now, bool v6, const uint8_t *addr)
{
	struct station *s = find_station(r, now, v6, addr);

	if (s == NULL)
		return 0;
	s->asked = now;
	return (uint32_t)(s - r->station) + 1;
}

/* The graph asks for a next hop by ARP. */
static void answer_arp(struct ipport *p, uint64_t now, const struct tags *tags, const uint8_t *arp,
		       size_t len)
{
	uint8_t reply[CW_SIZE_ARP], mac[6];
	uint32_t number;

	if (!cw_arp_valid(arp, len) || cw_arp_op(arp) != CW_ARP_REQUEST ||
	    (number = station_of(p->router, now, false, cw_arp_tpa(arp))) == 0)
		return;
	station_mac(mac, number);
	cw_arp_build(reply, CW_ARP_REPLY, mac, cw_arp_tpa(arp), cw_arp_sha(arp), cw_arp_spa(arp));
	frame_up(p, number, tags, CW_ETHERTYPE_ARP, reply, sizeof(reply));
}

/* The same by neighbour discovery; false if it is something else. */
static bool answer_nd(struct ipport *p, uint64_t now, const struct tags *tags, const uint8_t *ip,
		      size_t len)
{
	uint8_t reply[CW_ND_MESSAGE], mac[6];
	uint32_t number;
	struct cw_nd nd;

	if (cw_nd_parse(ip, len, &nd) < 0 || nd.type != CW_ICMP6_NS)
		return false;
	if ((number = station_of(p->router, now, true, nd.target)) == 0)
		return true;
	station_mac(mac, number);
	cw_nd_build(reply, CW_ICMP6_NA, nd.target, nd.src, nd.target, mac);
	frame_up(p, number, tags, CW_ETHERTYPE_IP6, reply, sizeof(reply));
	return true;
}

/* ---- From the graph ------------------------------------------------------------------------ */

/* The sender is told why, and learns the link's MTU: at most so many a second. */
static void tell_sender(struct ipport *p, uint64_t now, enum cw_icmp_error why, uint32_t mtu,
			const uint8_t *ip, size_t len)
{
	struct router *r = p->router;
	bool v6 = ip[0] >> 4 == 6;
	uint8_t error[1280];
	unsigned i;
	int n;

	if (now >= r->errors_until) {
		r->errors_until = now + 1000;
		r->errors = 0;
	}
	if (r->errors >= ERRORS_A_SECOND)
		return;
	for (i = 0; i < p->naddr; i++) {
		if (p->addr[i].v6 == v6)
			break;
	}
	if (i == p->naddr)
		return; /* no address to tell from */
	n = cw_icmp_error(error, sizeof(error), why, mtu, p->addr[i].addr, ip, len);
	if (n <= 0)
		return;
	r->errors++;
	router_up(p, error, (size_t)n);
}

static void fragments(struct ipport *p, uint64_t now, const uint8_t *hop, uint32_t mtu,
		      const uint8_t *ip, size_t len)
{
	uint8_t out[4096];
	size_t done = 0;
	int n;

	while ((n = cw_ip_fragment(out, sizeof(out), mtu, ip, len, &done)) > 0)
		(void)cw_ipoib_send(p->link, now, hop, out, (size_t)n);
}

void router_send(struct ipport *p, uint64_t now, const uint8_t *hop, const uint8_t *ip, size_t len)
{
	struct cw_ipoib_info i;

	cw_ipoib_info(p->link, &i);
	p->n.host_tx++;
	if (!i.up || len <= i.mtu) {
		(void)cw_ipoib_send(p->link, now, hop, ip, len); /* it counts what it drops */
	} else if (cw_ip_may_fragment(ip)) {
		fragments(p, now, hop, i.mtu, ip, len);
	} else {
		p->n.too_big++;
		tell_sender(p, now, CW_ICMP_TOO_BIG, i.mtu, ip, len);
	}
}

void router_unresolved(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len)
{
	p->n.unreachable++;
	tell_sender(p, now, CW_ICMP_NO_HOST, 0, ip, len);
}

static const uint8_t *back_to(const struct ipport *p, bool v6, const uint8_t *dst)
{
	const struct ibroute *r = ibd_route(v6, dst);

	if (r == NULL || strcmp(r->port, p->name) != 0)
		return NULL;
	return r->via ? r->hop : dst;
}

/* To where the packets of a station go. Number 0 is an answer to whoever sent a packet: its
 * sender's own address, if that is on the link, else the router that leads there. */
static const uint8_t *hop_of(struct ipport *p, const uint8_t *mac, bool v6, const uint8_t *dst)
{
	uint32_t number = cw_be32(mac + 2);
	const struct station *s;

	if (number == 0)
		return back_to(p, v6, dst);
	if (number > STATIONS)
		return NULL;
	s = &p->router->station[number - 1];
	return s->used && s->v6 == v6 ? s->addr : NULL;
}

static void from_graph(struct ipport *p, uint64_t now, const uint8_t *frame, size_t size)
{
	size_t off = CW_SIZE_ETH, len;
	const uint8_t *ip, *hop;
	struct tags tags;
	uint32_t type;
	bool v6;

	if (size < CW_SIZE_ETH)
		return;
	/* What comes from a UB port is tagged with its partition's VLAN. */
	for (type = cw_eth_type(frame); cw_is_tpid(type) && off + CW_SIZE_VLAN <= size;
	     off += CW_SIZE_VLAN)
		type = cw_vlan_type(frame + off);
	ip = frame + off;
	tags = (struct tags){frame + 12, off - CW_SIZE_ETH};
	if (type == CW_ETHERTYPE_ARP) {
		answer_arp(p, now, &tags, ip, size - off);
		return;
	}
	if (cw_ip_check(ip, size - off, &len) != CW_PASS)
		return;
	v6 = ip[0] >> 4 == 6;
	if (v6 && answer_nd(p, now, &tags, ip, len))
		return;
	hop = hop_of(p, frame, v6, v6 ? cw_ipv6_dst(ip) : cw_ipv4_dst(ip));
	if (hop == NULL)
		p->n.host_unroutable++;
	else
		router_send(p, now, hop, ip, len);
}

void router_read(struct ipport *p, uint64_t now)
{
	struct rte_mbuf *m[BURST];
	unsigned i, n = cw_ibring_receive(p->router->ring, m, BURST);

	for (i = 0; i < n; i++) {
		if (m[i]->nb_segs == 1 || rte_pktmbuf_linearize(m[i]) == 0)
			from_graph(p, now, rte_pktmbuf_mtod(m[i], uint8_t *), m[i]->data_len);
		port_pump(p, now);
	}
	rte_pktmbuf_free_bulk(m, n);
}

/* ---- Life ---------------------------------------------------------------------------------- */

int router_open(struct ipport *p)
{
	struct router *r = calloc(1, sizeof(*r));

	if (r == NULL || (r->ring = cw_ibring_get(p->device)) == NULL) {
		free(r);
		return CW_E_NOMEM;
	}
	/* Its link-local address comes from this: another gateway on the link has another GUID. */
	r->ring->mac[0] = 0x06;
	memcpy(r->ring->mac + 1, p->hca->gid + 12, 4);
	r->ring->mac[5] = (uint8_t)p->conf.pkey;
	cw_nd_link_local(r->link_local, r->ring->mac);
	p->router = r;
	return CW_OK;
}

void router_start(struct ipport *p, uint64_t now)
{
	static const uint8_t routers4[4] = {224, 0, 0, 2}, routers6[16] = {0xff, 2, [15] = 2};
	static const uint8_t nodes6[16] = {0xff, 2, [15] = 1};
	unsigned i;

	/* What is sent to a group that nobody on the link has joined comes to these (RFC 4391 11).
	 */
	(void)cw_ipoib_join(p->link, now, false, routers4);
	(void)cw_ipoib_join(p->link, now, true, routers6);
	(void)cw_ipoib_join(p->link, now, true, nodes6); /* RFC 4862 5.4.2 */
	for (i = 0; i < p->naddr; i++)
		(void)cw_ipoib_address(p->link, now, p->addr[i].v6, p->addr[i].addr);
	(void)cw_ipoib_address(p->link, now, true, p->router->link_local);
}

void router_close(struct ipport *p)
{
	if (p->router == NULL)
		return;
	cw_ibring_put(p->router->ring);
	free(p->router);
	p->router = NULL;
}
