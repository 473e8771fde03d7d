/* io_neigh.c - ARP and neighbour discovery without a kernel; the state machine is causeway/neigh.h.
 */
#include <stdlib.h>
#include <string.h>
#include "causeway/neigh.h"
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "cli/io_neigh.h"

struct io_neigh {
	struct io_neigh_opts o;
	struct cw_neigh *table;
	struct cw_neigh_key hop;
	bool asks;  /* hop is a station that is wanted */
	bool known; /* mac is or was its address */
	int state;  /* what io_neigh_hop() says */
	uint8_t mac[6];
	uint64_t due; /* of the timers */
};

/* Six questions within three seconds; known for half a minute. */
static const struct cw_neigh_limits limits = {
	.entries = 4, .retry_ms = 500, .retries = 6, .reachable_ms = 30000, .failed_ms = 3000};

struct io_neigh *io_neigh_new(const struct io_neigh_opts *o)
{
	struct io_neigh *n = calloc(1, sizeof(*n));

	if (n == NULL || cw_neigh_new(&n->table, &limits) < 0) {
		free(n);
		return NULL;
	}
	n->o = *o;
	n->due = UINT64_MAX;
	return n;
}

void io_neigh_free(struct io_neigh *n)
{
	if (n == NULL)
		return;
	cw_neigh_free(n->table);
	free(n);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void send_frame(struct io_neigh *n, const uint8_t *dst, uint16_t type, const uint8_t *body,
		       size_t len)
{
	uint8_t frame[CW_SIZE_ETH + CW_ND_MESSAGE];

	memcpy(frame, dst, 6);
	memcpy(frame + 6, n->o.mac, 6);
	cw_eth_set_type(frame, type);
	memcpy(frame + CW_SIZE_ETH, body, len);
	n->o.send(n->o.arg, frame, CW_SIZE_ETH + len);
}

static void send_request(struct io_neigh *n, const uint8_t *hop, const uint8_t *unicast)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, unknown[6];
	uint8_t body[CW_ND_MESSAGE], group[16], mac[6];

	if (n->o.ip_version == 4) {
		cw_arp_build(body, CW_ARP_REQUEST, n->o.mac, n->o.address, unknown, hop);
		send_frame(n, unicast != NULL ? unicast : all, CW_ETHERTYPE_ARP, body, CW_SIZE_ARP);
		return;
	}
	cw_nd_solicited_node(group, hop);
	cw_nd_group_mac(mac, group);
	cw_nd_build(body, CW_ICMP6_NS, n->o.address, unicast != NULL ? hop : group, hop, n->o.mac);
	send_frame(n, unicast != NULL ? unicast : mac, CW_ETHERTYPE_IP6, body, CW_ND_MESSAGE);
}

static void answer_arp(struct io_neigh *n, const uint8_t *arp)
{
	uint8_t body[CW_SIZE_ARP];

	cw_arp_build(body, CW_ARP_REPLY, n->o.mac, n->o.address, cw_arp_sha(arp), cw_arp_spa(arp));
	send_frame(n, cw_arp_sha(arp), CW_ETHERTYPE_ARP, body, sizeof(body));
}

static bool is_zero(const uint8_t *addr)
{
	static const uint8_t unspecified[16];

	return memcmp(addr, unspecified, 16) == 0;
}

/* Somebody who only checks whether the address is free (no source): everybody is told (RFC 4861
 * 7.2.4). */
static void answer_nd(struct io_neigh *n, const uint8_t *frame, const struct cw_nd *nd)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	bool dad = is_zero(nd->src);
	uint8_t body[CW_ND_MESSAGE], group[6];
	const uint8_t *to = nd->mac != NULL ? nd->mac : frame + 6;

	cw_nd_group_mac(group, all_nodes);
	cw_nd_build(body, CW_ICMP6_NA, n->o.address, dad ? all_nodes : nd->src, nd->target,
		    n->o.mac);
	send_frame(n, dad ? group : to, CW_ETHERTYPE_IP6, body, sizeof(body));
}

/* ---- The state machine ----------------------------------------------------------------------- */

static struct cw_neigh_key key_of(const struct io_neigh *n, const uint8_t *addr)
{
	struct cw_neigh_key k = {.version = (uint8_t)n->o.ip_version};

	memcpy(k.addr, addr, n->o.ip_version == 4 ? 4 : 16);
	return k;
}

static void look(struct io_neigh *n)
{
	struct cw_neigh_info info;
	uint32_t at = 0;

	n->state = 0;
	while (cw_neigh_walk(n->table, &at, &info)) {
		if (memcmp(&info.key, &n->hop, sizeof(n->hop)) != 0)
			continue;
		if (cw_neigh_usable(info.state)) {
			memcpy(n->mac, info.mac, 6);
			n->known = true;
		} else if (info.state == CW_NEIGH_FAILED) {
			n->state = -1;
		}
	}
	if (n->known)
		n->state = 1;
}

/* The hop is always in use: it is asked for again before it is forgotten, and after it failed. */
static void run(struct io_neigh *n, uint64_t now)
{
	struct cw_neigh_event ev;

	if (!n->asks)
		return;
	cw_neigh_used(n->table, &n->hop);
	n->due = cw_neigh_tick(n->table, now);
	if (cw_neigh_want(n->table, &n->hop, now) != CW_OK)
		return; /* never: the table has room, this is the only one */
	while (cw_neigh_next(n->table, &ev)) {
		if (ev.what == CW_NEIGH_REQUEST)
			send_request(n, ev.key.addr, ev.unicast ? ev.mac : NULL);
	}
	n->due = cw_neigh_tick(n->table, now);
	look(n);
}

void io_neigh_ask(struct io_neigh *n, const uint8_t *hop, uint64_t now)
{
	n->hop = key_of(n, hop);
	n->asks = true;
	n->known = false;
	run(n, now);
}

void io_neigh_tick(struct io_neigh *n, uint64_t now)
{
	if (now >= n->due)
		run(n, now);
}

int io_neigh_hop(const struct io_neigh *n, uint8_t mac[6])
{
	if (n->state > 0)
		memcpy(mac, n->mac, 6);
	return n->state;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static void learn(struct io_neigh *n, const uint8_t *addr, const uint8_t *mac, uint64_t now)
{
	struct cw_neigh_key k = key_of(n, addr);

	/* a group or nobody is no station */
	if (n->asks && (mac[0] & 1) == 0 && cw_neigh_learn(n->table, &k, mac, now))
		run(n, now);
}

static void take_arp(struct io_neigh *n, const uint8_t *arp, size_t len, uint64_t now)
{
	if (n->o.ip_version != 4 || !cw_arp_valid(arp, len))
		return;
	learn(n, cw_arp_spa(arp), cw_arp_sha(arp), now);
	if (cw_arp_op(arp) == CW_ARP_REQUEST && memcmp(cw_arp_tpa(arp), n->o.address, 4) == 0)
		answer_arp(n, arp);
}

static void take_nd(struct io_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	struct cw_nd nd;

	if (n->o.ip_version != 6 || cw_nd_parse(frame + CW_SIZE_ETH, len - CW_SIZE_ETH, &nd) < 0)
		return;
	if (nd.type == CW_ICMP6_NS) {
		if (nd.mac != NULL && !is_zero(nd.src))
			learn(n, nd.src, nd.mac, now);
		if (memcmp(nd.target, n->o.address, 16) == 0)
			answer_nd(n, frame, &nd);
	} else if (nd.type == CW_ICMP6_NA) {
		/* a unicast answer may leave the option out (RFC 4861 4.4) */
		learn(n, nd.target, nd.mac != NULL ? nd.mac : frame + 6, now);
	}
}

void io_neigh_input(struct io_neigh *n, const uint8_t *frame, size_t len, uint64_t now)
{
	if (len < CW_SIZE_ETH)
		return;
	if (cw_eth_type(frame) == CW_ETHERTYPE_ARP)
		take_arp(n, frame + CW_SIZE_ETH, len - CW_SIZE_ETH, now);
	else if (cw_eth_type(frame) == CW_ETHERTYPE_IP6 && len > CW_SIZE_ETH + CW_SIZE_IPV6 &&
		 cw_ipv6_next_header(frame + CW_SIZE_ETH) == CW_IPPROTO_ICMP6)
		take_nd(n, frame, len, now);
}
