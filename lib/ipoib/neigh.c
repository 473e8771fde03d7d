/* neigh.c - neighbours: ARP and neighbour discovery with addresses of 20 octets (9). */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "lib/ipoib/internal.h"

enum { TRIES = 3, UNICAST_TRIES = 2, RETRY_MS = 1000, FAILED_MS = 3000 };
enum { ND_LEN = CW_SIZE_IPV6 + CW_SIZE_ICMP6 + CW_SIZE_ND + CW_SIZE_IPOIB_ND };

void key_of(uint8_t key[KEY_LEN], bool v6, const uint8_t *addr)
{
	memset(key, 0, KEY_LEN);
	memcpy(key, addr, v6 ? 16 : 4);
	key[16] = v6 ? 6 : 4;
}

/* ---- Messages ----------------------------------------------------------------------------- */

static void put_type(uint8_t *encap, uint32_t type)
{
	cw_ipoib_set_type(encap, type);
	cw_ipoib_set_reserved(encap, 0);
}

static void send_arp(struct cw_ipoib *l, uint64_t now, uint32_t op, const uint8_t *spa,
		     const uint8_t *lla, const uint8_t *tpa)
{
	static const uint8_t everybody[4] = {255, 255, 255, 255};
	uint8_t m[CW_SIZE_IPOIB + CW_SIZE_IPOIB_ARP], own[CW_IPOIB_LLA];

	cw_ipoib_lla(own, l->c.qpn, l->c.gid);
	put_type(m, CW_ETHERTYPE_ARP);
	cw_ipoib_arp_build(m + CW_SIZE_IPOIB, op, own, spa, op == CW_ARP_REPLY ? lla : NULL, tpa);
	if (lla != NULL)
		(void)path_send(l, now, lla, m, sizeof(m));
	else
		(void)group_send(l, now, false, everybody, m, sizeof(m));
}

static void put_lla(const struct cw_ipoib *l, uint8_t *opt, uint32_t type)
{
	cw_ipoib_nd_set_type(opt, type);
	cw_ipoib_nd_set_length(opt, 3);
	cw_ipoib_nd_set_qpn(opt, l->c.qpn);
	cw_ipoib_nd_set_gid(opt, l->c.gid);
}

/* Its length. From no address there is no link-layer address in it (RFC 4861 4.3). */
static size_t put_nd(const struct cw_ipoib *l, uint8_t *ip, uint32_t type, const uint8_t *src,
		     const uint8_t *dst, const uint8_t *target)
{
	static const uint8_t any[16];
	uint8_t *icmp6 = ip + CW_SIZE_IPV6, *nd = icmp6 + CW_SIZE_ICMP6;
	bool na = type == CW_ICMP6_NA, anonymous = memcmp(src, any, 16) == 0;
	size_t len = anonymous ? ND_LEN - CW_SIZE_IPOIB_ND : ND_LEN;

	memset(ip, 0, ND_LEN);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, (uint32_t)(len - CW_SIZE_IPV6));
	cw_ipv6_set_next_header(ip, CW_IPPROTO_ICMP6);
	cw_ipv6_set_hop_limit(ip, 255);
	cw_ipv6_set_src(ip, src);
	cw_ipv6_set_dst(ip, dst);
	cw_icmp6_set_type(icmp6, type);
	cw_nd_set_override(nd, na);
	cw_nd_set_router(nd, na && l->c.router);
	cw_nd_set_solicited(nd, na && dst[0] != 0xff);
	cw_nd_set_target(nd, target);
	if (!anonymous)
		put_lla(l, nd + CW_SIZE_ND, na ? CW_ND_OPT_TARGET : CW_ND_OPT_SOURCE);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(ip, icmp6, len - CW_SIZE_IPV6));
	return len;
}

static void send_nd(struct cw_ipoib *l, uint64_t now, uint32_t type, const uint8_t *src,
		    const uint8_t *lla, const uint8_t *dst, const uint8_t *target)
{
	uint8_t m[CW_SIZE_IPOIB + ND_LEN];
	size_t len;

	put_type(m, CW_ETHERTYPE_IP6);
	len = CW_SIZE_IPOIB + put_nd(l, m + CW_SIZE_IPOIB, type, src, dst, target);
	if (lla != NULL)
		(void)path_send(l, now, lla, m, len);
	else
		(void)group_send(l, now, true, dst, m, len);
}

/* Tell everybody where an address of ours is: a gratuitous ARP request, or an unsolicited
 * advertisement (RFC 4861 7.2.6). */
void neigh_announce(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};

	if (v6)
		send_nd(l, now, CW_ICMP6_NA, addr, NULL, all_nodes, addr);
	else
		send_arp(l, now, CW_ARP_REQUEST, addr, NULL, addr);
}

/* Has somebody this address (RFC 4862 5.4.2, RFC 5227 2.1.1)? Asked from no address. */
void neigh_probe(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	static const uint8_t none[16];
	uint8_t group[16];

	if (v6) {
		cw_nd_solicited_node(group, addr);
		send_nd(l, now, CW_ICMP6_NS, none, NULL, group, addr);
	} else {
		send_arp(l, now, CW_ARP_REQUEST, none, NULL, addr);
	}
}

/* Ask for a neighbour: who is known is asked first, then everybody: its queue pair may have
 * changed (9.1.1). */
static void ask(struct cw_ipoib *l, struct neigh *n, uint64_t now)
{
	bool v6 = n->it.key[16] == 6;
	const uint8_t *lla = n->known && n->tries < UNICAST_TRIES ? n->lla : NULL;
	uint8_t group[16];

	n->due = now + RETRY_MS;
	if (own_waits(l, v6)) /* a question from no address would be a probe (RFC 5227 1.1) */
		return;
	n->tries++;
	if (!v6) {
		send_arp(l, now, CW_ARP_REQUEST, own_source(l, false), lla, n->it.key);
		return;
	}
	cw_nd_solicited_node(group, n->it.key);
	send_nd(l, now, CW_ICMP6_NS, own_source(l, true), lla, lla != NULL ? n->it.key : group,
		n->it.key);
}

/* ---- Entries ------------------------------------------------------------------------------ */

static struct neigh *get(struct cw_ipoib *l, bool v6, const uint8_t *addr)
{
	uint8_t key[KEY_LEN];
	struct neigh *n;

	key_of(key, v6, addr);
	if ((n = table_find(&l->neighbours, key)) != NULL)
		return n;
	if ((n = table_add(&l->neighbours, key)) == NULL) {
		l->n.table_full++;
		return NULL;
	}
	queue_init(&n->held);
	return n;
}

static void learn(struct cw_ipoib *l, struct neigh *n, uint64_t now, uint32_t qpn,
		  const uint8_t gid[16])
{
	uint8_t lla[CW_IPOIB_LLA];
	struct held *h;

	cw_ipoib_lla(lla, qpn, gid);
	if (n->known && !cw_ipoib_lla_equal(lla, n->lla)) {
		l->n.qpn_changed++;
		path_forget(l, n->lla + 4);
	}
	memcpy(n->lla, lla, sizeof(lla));
	n->known = true;
	n->state = NEIGH_REACHABLE;
	n->tries = 0;
	n->due = now + l->c.reachable_ms;
	while ((h = queue_take(&n->held)) != NULL) {
		(void)path_send(l, now, n->lla, h->data, h->len);
		free(h);
	}
}

/* Whoever is above may tell the sender. `data` begins with the encapsulation header. */
static void unresolved(struct cw_ipoib *l, const uint8_t *data, size_t len)
{
	struct cw_ipoib_out o = {.what = CW_IPOIB_UNRESOLVED};

	l->n.tx_unresolved++;
	(void)emit(l, &o, data + CW_SIZE_IPOIB, len - CW_SIZE_IPOIB);
}

int neigh_send(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, const uint8_t *data,
	       size_t len)
{
	struct neigh *n = get(l, v6, addr);

	if (n == NULL)
		return CW_E_SPACE;
	n->used = now;
	if (n->state == NEIGH_REACHABLE || n->state == NEIGH_PROBE)
		return path_send(l, now, n->lla, data, len);
	if (n->state == NEIGH_FAILED) {
		unresolved(l, data, len);
		return CW_OK;
	}
	if (!queue_put(l, &n->held, data, len))
		return CW_E_SPACE;
	if (n->due == 0)
		ask(l, n, now);
	return CW_OK;
}

static void fail(struct cw_ipoib *l, struct neigh *n, uint64_t now)
{
	struct held *h;

	l->n.neigh_failed++;
	while ((h = queue_take(&n->held)) != NULL) {
		unresolved(l, h->data, h->len);
		free(h);
	}
	if (n->known)
		path_forget(l, n->lla + 4);
	n->known = false;
	n->state = NEIGH_FAILED;
	n->due = now + FAILED_MS;
}

void neigh_tick(struct cw_ipoib *l, struct neigh *n, uint64_t now)
{
	if (n->due == 0 || now < n->due)
		return;
	switch (n->state) {
	case NEIGH_REACHABLE:
		/* Who was not used since the last answer is forgotten. */
		if (n->used + l->c.reachable_ms < now) {
			table_remove(&l->neighbours, &n->it);
			return;
		}
		n->state = NEIGH_PROBE;
		ask(l, n, now);
		return;
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (n->tries >= TRIES + (n->known ? UNICAST_TRIES : 0))
			fail(l, n, now);
		else
			ask(l, n, now);
		return;
	case NEIGH_FAILED:
		table_remove(&l->neighbours, &n->it);
		return;
	}
}

/* ---- What neighbours say ------------------------------------------------------------------ */

static bool lla_usable(uint32_t qpn, const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return qpn > 1 && qpn < 0xffffff && gid[0] != 0xff && memcmp(gid, zero, 16) != 0;
}

static bool is_probe(const uint8_t *arp)
{
	return cw_ipoib_arp_op(arp) == CW_ARP_REQUEST && cw_be32(cw_ipoib_arp_spa(arp)) == 0;
}

/* As RFC 826 has it: who is known is updated; who asks for us is remembered. */
int neigh_arp(struct cw_ipoib *l, uint64_t now, const uint8_t *arp, size_t len)
{
	uint8_t key[KEY_LEN], lla[CW_IPOIB_LLA];
	struct neigh *n;
	bool for_us;

	if (!cw_ipoib_arp_valid(arp, len) ||
	    !lla_usable(cw_ipoib_arp_sha_qpn(arp), cw_ipoib_arp_sha_gid(arp)))
		return CW_E_FORBIDDEN;
	if (own_claimed(l, now, false, cw_ipoib_arp_spa(arp), false) ||
	    (is_probe(arp) && own_claimed(l, now, false, cw_ipoib_arp_tpa(arp), true)))
		return CW_OK;
	for_us = own_answers(l, false, cw_ipoib_arp_tpa(arp));
	key_of(key, false, cw_ipoib_arp_spa(arp));
	n = table_find(&l->neighbours, key);
	if (n == NULL && for_us && cw_be32(cw_ipoib_arp_spa(arp)) != 0)
		n = get(l, false, cw_ipoib_arp_spa(arp));
	if (n != NULL)
		learn(l, n, now, cw_ipoib_arp_sha_qpn(arp), cw_ipoib_arp_sha_gid(arp));
	if (!for_us || cw_ipoib_arp_op(arp) != CW_ARP_REQUEST)
		return CW_OK;
	cw_ipoib_lla(lla, cw_ipoib_arp_sha_qpn(arp), cw_ipoib_arp_sha_gid(arp));
	send_arp(l, now, CW_ARP_REPLY, cw_ipoib_arp_tpa(arp), lla, cw_ipoib_arp_spa(arp));
	return CW_OK;
}

/* The first link-layer address option of `type`, or NULL. Options begin `off` octets behind the
 * IPv6 header, which was checked. One of them without length, or past the end, spoils the message
 * (RFC 4861 4.6, 6.1, 8.1). */
static const uint8_t *find_option(const uint8_t *ip, size_t off, uint32_t type)
{
	const uint8_t *opt = ip + CW_SIZE_IPV6 + off, *found = NULL;
	size_t left = cw_ipv6_length(ip) - off, len;

	for (; left > 0; opt += len, left -= len) {
		len = left >= 8 ? 8 * (size_t)opt[1] : 0;
		if (len == 0 || len > left)
			return NULL;
		if (found == NULL && opt[0] == type && len == CW_SIZE_IPOIB_ND)
			found = opt;
	}
	return found != NULL && lla_usable(cw_ipoib_nd_qpn(found), cw_ipoib_nd_gid(found)) ? found
											   : NULL;
}

/* Router solicitations and advertisements tell where their sender is, redirects where their target
 * is (RFC 4861 4.1, 4.2, 4.5). What else they say is for the host, which gets them too. */
static void router_message(struct cw_ipoib *l, uint64_t now, const uint8_t *ip, size_t len)
{
	static const uint8_t any[16];
	const uint8_t *icmp6 = ip + CW_SIZE_IPV6, *who = cw_ipv6_src(ip), *opt;
	size_t body = cw_ipv6_length(ip), off;
	struct neigh *n;

	if (cw_ipv6_next_header(ip) != CW_IPPROTO_ICMP6 || body < 8 || body > len - CW_SIZE_IPV6)
		return;
	switch (cw_icmp6_type(icmp6)) {
	case CW_ICMP6_RS:
		off = 8;
		break;
	case CW_ICMP6_RA:
		off = 16;
		break;
	case CW_ICMP6_REDIRECT:
		off = 40;
		who = icmp6 + 8;
		break;
	default:
		return;
	}
	if (body < off || cw_ipv6_hop_limit(ip) != 255 || cw_icmp6_code(icmp6) != 0 ||
	    cw_icmp6_checksum(icmp6) != cw_icmp6_compute(ip, icmp6, body) ||
	    memcmp(who, any, 16) == 0 || who[0] == 0xff)
		return;
	opt = find_option(ip, off, off == 40 ? CW_ND_OPT_TARGET : CW_ND_OPT_SOURCE);
	if (opt != NULL && (n = get(l, true, who)) != NULL)
		learn(l, n, now, cw_ipoib_nd_qpn(opt), cw_ipoib_nd_gid(opt));
}

static void on_ns(struct cw_ipoib *l, uint64_t now, const struct cw_nd *nd, const uint8_t *opt)
{
	static const uint8_t any[16], all_nodes[16] = {0xff, 2, [15] = 1};
	uint8_t lla[CW_IPOIB_LLA], target[16];
	bool probe = memcmp(nd->src, any, 16) == 0;
	struct neigh *n = NULL;

	if ((probe && own_claimed(l, now, true, nd->target, true)) ||
	    !own_answers(l, true, nd->target))
		return;
	memcpy(target, nd->target, 16);
	if (probe) {
		send_nd(l, now, CW_ICMP6_NA, target, NULL, all_nodes, target);
		return;
	}
	if (opt != NULL && (n = get(l, true, nd->src)) != NULL)
		learn(l, n, now, cw_ipoib_nd_qpn(opt), cw_ipoib_nd_gid(opt));
	if (n == NULL)
		return;
	memcpy(lla, n->lla, sizeof(lla));
	send_nd(l, now, CW_ICMP6_NA, target, lla, nd->src, target);
}

int neigh_nd(struct cw_ipoib *l, uint64_t now, const uint8_t *ip, size_t len, bool *was_nd)
{
	uint8_t key[KEY_LEN];
	const uint8_t *opt;
	struct neigh *n;
	struct cw_nd nd;
	int err = cw_nd_parse(ip, len, &nd);

	*was_nd = err != CW_E_UNKNOWN;
	if (err == CW_E_UNKNOWN) {
		router_message(l, now, ip, len);
		return CW_OK;
	}
	if (err < 0)
		return err;
	opt = find_option(ip, CW_SIZE_ICMP6 + CW_SIZE_ND,
			  nd.type == CW_ICMP6_NS ? CW_ND_OPT_SOURCE : CW_ND_OPT_TARGET);
	if (nd.type == CW_ICMP6_NS) {
		on_ns(l, now, &nd, opt);
		return CW_OK;
	}
	if (own_claimed(l, now, true, nd.target, false))
		return CW_OK;
	key_of(key, true, nd.target);
	n = table_find(&l->neighbours, key);
	/* Without override, an advertisement does not replace what is known (RFC 4861 7.2.5). */
	if (n == NULL || opt == NULL || (n->known && !nd.override && !nd.solicited))
		return CW_OK;
	learn(l, n, now, cw_ipoib_nd_qpn(opt), cw_ipoib_nd_gid(opt));
	return CW_OK;
}
