/* mroute.c - IP multicast between IPoIB links and Ethernet ports.
 *
 * Which groups have listeners on Ethernet is learnt from IGMP and MLD, for which the gateway is the
 * querier there. On IPoIB the subnet administration knows it: the links of a router hear every
 * group as NonMembers (RFC 4391 11), and what is sent to a group that nobody there has joined goes
 * nowhere. A packet is forwarded only if it came by the way back to its source.
 */
#include <stdio.h>
#include <string.h>
#include "causeway/forward.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mcast.h"
#include "daemon/control/current.h"
#include "daemon/control/own.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/ipoib/service.h"
#include "daemon/log.h"

enum {
	MEMBERS = 1024,
	QUERY_MS = 60000,
	STARTUP_MS = 5000, /* between the first three queries */
	STARTUP_QUERIES = 3,
	MEMBER_MS = 2 * QUERY_MS + 10000, /* RFC 3376 8.4 */
	LEAVE_MS = 12000,                 /* a query, and the 10 s that its answers may take */
	OUT_RING = 1024
};

/* A group that somebody on an Ethernet port listens to. */
struct member {
	bool used, v6;
	unsigned slot;
	uint8_t group[16];
	uint64_t until;
};

/* An Ethernet port with multicast. */
struct ethif {
	unsigned slot;
	char name[32];
	uint32_t mtu;
	bool has4, multicast;
	struct relay relay;
	uint8_t mac[6], v4[4], link_local[16];
};

static struct ethif eths[CW_MAX_PORTS];
static unsigned neths, queries;
static struct member members[MEMBERS];
static uint64_t query_due;
static struct rte_ring *out; /* frames for control to send: mbuf->port is the slot */

/* ---- To Ethernet --------------------------------------------------------------------------- */

static void group_mac(uint8_t mac[6], bool v6, const uint8_t *group)
{
	if (v6) {
		cw_nd_group_mac(mac, group);
		return;
	}
	cw_put_be16(mac, 0x0100);
	mac[2] = 0x5e;
	mac[3] = group[1] & 0x7f;
	mac[4] = group[2];
	mac[5] = group[3];
}

static void frame_to(const struct ethif *e, const uint8_t *mac, const uint8_t *ip, size_t len)
{
	bool v6 = ip[0] >> 4 == 6;
	struct rte_mbuf *m = rte_pktmbuf_alloc(cw_io.pool);
	uint8_t *frame;

	if (m == NULL)
		return;
	frame = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(CW_SIZE_ETH + len));
	if (frame == NULL || out == NULL) {
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(frame, mac, 6);
	memcpy(frame + 6, e->mac, 6);
	cw_put_be16(frame + 12, v6 ? CW_ETHERTYPE_IP6 : CW_ETHERTYPE_IP4);
	memcpy(frame + CW_SIZE_ETH, ip, len);
	m->port = (uint16_t)e->slot;
	if (rte_ring_enqueue(out, m) != 0)
		rte_pktmbuf_free(m);
	cw_dp_kick_control();
}

static void frame_out(const struct ethif *e, const uint8_t *ip, size_t len)
{
	bool v6 = ip[0] >> 4 == 6;
	uint8_t mac[6];

	group_mac(mac, v6, v6 ? cw_ipv6_dst(ip) : cw_ipv4_dst(ip));
	frame_to(e, mac, ip, len);
}

void mroute_to_client(const uint8_t own[4], const uint8_t *mac, const uint8_t *ip, size_t len)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	unsigned i;

	for (i = 0; i < neths; i++) {
		if (eths[i].has4 && memcmp(eths[i].v4, own, 4) == 0)
			frame_to(&eths[i], mac != NULL ? mac : everybody, ip, len);
	}
}

/* Whole or as fragments; what may not be cut is lost: no error tells of multicast (RFC 1812
 * 4.3.2.7). */
static void send_out(const struct ethif *e, const uint8_t *ip, size_t len)
{
	uint8_t part[9216];
	size_t done = 0;
	int n;

	if (len <= e->mtu) {
		frame_out(e, ip, len);
		return;
	}
	if (!cw_ip_may_fragment(ip))
		return;
	while ((n = cw_ip_fragment(part, sizeof(part), e->mtu, ip, len, &done)) > 0)
		frame_out(e, part, (size_t)n);
}

void cw_ibd_run(void)
{
	struct rte_mbuf *m;
	unsigned i;

	for (i = 0; i < OUT_RING && out != NULL && rte_ring_dequeue(out, (void **)&m) == 0; i++)
		cw_own_send(m, m->port);
}

bool cw_ibd_pending(void)
{
	return out != NULL && !rte_ring_empty(out);
}

/* ---- Listeners ----------------------------------------------------------------------------- */

static struct member *find_member(unsigned slot, bool v6, const uint8_t *group)
{
	unsigned i;

	for (i = 0; i < MEMBERS; i++) {
		if (members[i].used && members[i].slot == slot && members[i].v6 == v6 &&
		    memcmp(members[i].group, group, v6 ? 16 : 4) == 0)
			return &members[i];
	}
	return NULL;
}

static struct member *add_member(unsigned slot, bool v6, const uint8_t *group)
{
	unsigned i;

	for (i = 0; i < MEMBERS && members[i].used; i++)
		;
	if (i == MEMBERS) {
		cw_log(CW_LOG_WARNING, "ipoib: no room for another multicast listener");
		return NULL;
	}
	members[i] = (struct member){.used = true, .v6 = v6, .slot = slot};
	memcpy(members[i].group, group, v6 ? 16 : 4);
	return &members[i];
}

struct report {
	unsigned slot;
	uint64_t now;
};

/* After a leave somebody else may still listen: there is a query, and time to answer it. */
static void on_report(void *ctx, enum cw_mc_what what, bool v6, const uint8_t *group)
{
	const struct report *r = ctx;
	struct member *m = find_member(r->slot, v6, group);

	if (what == CW_MC_JOIN && (m != NULL || (m = add_member(r->slot, v6, group)) != NULL)) {
		m->until = r->now + MEMBER_MS;
	} else if (what == CW_MC_LEAVE && m != NULL) {
		m->until = r->now + LEAVE_MS;
		query_due = 0;
	}
}

/* ---- Packets ------------------------------------------------------------------------------- */

static const uint8_t *src_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? cw_ipv6_src(ip) : cw_ipv4_src(ip);
}

static const uint8_t *dst_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? cw_ipv6_dst(ip) : cw_ipv4_dst(ip);
}

/* May it be forwarded, and does the way back to its source lead by the port that it came from? */
static bool passes(const char *port, const uint8_t *ip)
{
	const struct ibroute *back = ibd_route(ip[0] >> 4 == 6, src_of(ip));

	return cw_ip_may_forward(ip) == CW_PASS && back != NULL && strcmp(back->port, port) == 0;
}

static void to_links(const struct ipport *except, uint64_t now, const uint8_t *ip, size_t len)
{
	const struct ibd_set *s = ibd_now();
	unsigned i;

	for (i = 0; i < s->nport; i++) {
		struct ipport *p = s->port[i];

		if (p == except || p->router == NULL || !p->multicast)
			continue;
		router_send(p, now, dst_of(ip), ip, len);
		port_pump(p, now);
	}
}

static void to_ethernet(const uint8_t *ip, size_t len)
{
	unsigned i;

	for (i = 0; i < neths; i++) {
		if (eths[i].multicast &&
		    find_member(eths[i].slot, ip[0] >> 4 == 6, dst_of(ip)) != NULL)
			send_out(&eths[i], ip, len);
	}
}

void mroute_from_link(struct ipport *p, uint64_t now, const uint8_t *packet, size_t size)
{
	uint8_t ip[4096];
	size_t len;

	if (!p->multicast || size > sizeof(ip) || cw_ip_check(packet, size, &len) != CW_PASS ||
	    !passes(p->name, packet))
		return;
	memcpy(ip, packet, len);
	cw_ip_hop(ip);
	to_ethernet(ip, len);
	to_links(p, now, ip, len);
}

static void from_ethernet(const struct ethif *e, uint64_t now, const uint8_t *packet, size_t size)
{
	struct report r = {e->slot, now};
	uint8_t ip[CW_MAX_FRAME];
	size_t len;

	if (size > sizeof(ip) || cw_ip_check(packet, size, &len) != CW_PASS)
		return;
	if (relay_request(NULL, now, &e->relay, e->has4 ? e->v4 : NULL, packet, len) ||
	    !e->multicast)
		return;
	if (cw_mc_parse(packet, len, on_report, &r) != CW_E_UNKNOWN || !passes(e->name, packet))
		return;
	memcpy(ip, packet, len);
	cw_ip_hop(ip);
	to_links(NULL, now, ip, len);
}

void cw_ibd_multicast(unsigned slot, const uint8_t *ip, size_t len)
{
	unsigned i;

	(void)ibd_lock();
	for (i = 0; i < neths; i++) {
		if (eths[i].slot == slot)
			from_ethernet(&eths[i], cw_now_ms(), ip, len);
	}
	ibd_unlock();
}

/* ---- Time and life ------------------------------------------------------------------------- */

static void query(const struct ethif *e)
{
	uint8_t q[CW_MC_QUERY6];

	if (e->has4)
		frame_out(e, q, cw_mc_query(q, false, e->v4, QUERY_MS / 1000));
	frame_out(e, q, cw_mc_query(q, true, e->link_local, QUERY_MS / 1000));
}

void mroute_tick(uint64_t now)
{
	unsigned i;

	for (i = 0; i < MEMBERS; i++) {
		if (members[i].used && members[i].until < now)
			members[i].used = false;
	}
	if (now < query_due)
		return;
	query_due = now + (queries < STARTUP_QUERIES ? STARTUP_MS : QUERY_MS);
	queries++;
	for (i = 0; i < neths; i++) {
		if (eths[i].multicast)
			query(&eths[i]);
	}
}

static void add_eth(const struct cw_plane_port *pp)
{
	struct ethif *e = &eths[neths++];
	unsigned i;

	*e = (struct ethif){.slot = pp->dev->slot,
			    .mtu = pp->mtu,
			    .multicast = pp->conf->multicast,
			    .relay.n = pp->conf->nrelay};
	memcpy(e->relay.server, pp->conf->relay, sizeof(e->relay.server));
	(void)snprintf(e->name, sizeof(e->name), "%s", pp->conf->name);
	memcpy(e->mac, pp->dev->mac, 6);
	memcpy(e->link_local, pp->link_local, 16);
	for (i = 0; i < pp->conf->naddr && !e->has4; i++) {
		e->has4 = pp->conf->addr[i].version == 4;
		memcpy(e->v4, pp->conf->addr[i].a, 4);
	}
}

/* The Ethernet ports of the snapshot in use. */
void mroute_use(void)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned i;

	neths = queries = 0;
	query_due = 0;
	for (i = 0; i < CW_MAX_PORTS; i++) {
		const struct cw_plane_port *pp = &p->port[i];

		if (pp->dev != NULL && pp->conf->kind == CW_PORT_ETHERNET &&
		    (pp->conf->multicast || pp->conf->nrelay > 0))
			add_eth(pp);
	}
	if (neths > 0 && out == NULL)
		out = rte_ring_create("ib-out", OUT_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
}
