/* station.c - who is at the other end of the carriers of RoCEv2: "ADDRESS[,group=ADDRESS],
 * LID=ADDRESS,...". Such a link has no LIDs and no MGIDs on the wire; docs/ipoib.md says what takes
 * their place. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "daemon/ipoib/station.h"

/* ---- Carrier string ------------------------------------------------------------------------ */

static bool parse_address(const char *text, size_t n, struct cw_gid *out)
{
	uint8_t a[16];
	char buf[INET6_ADDRSTRLEN];

	if (n >= sizeof(buf))
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	if (inet_pton(AF_INET, buf, a) == 1)
		*out = cw_gid_of(4, a);
	else if (inet_pton(AF_INET6, buf, a) == 1)
		*out = cw_gid_of(6, a);
	else
		return false;
	return true;
}

static bool is_group(const struct cw_gid *a)
{
	return cw_gid_is_v4(a) ? a->o[12] >> 4 == 14 : a->o[0] == 0xff;
}

/* "group=ADDRESS" or "LID=ADDRESS". */
static bool parse_station(struct stations *s, const char *text, size_t n)
{
	const char *value = memchr(text, '=', n);
	struct cw_gid addr;
	unsigned long lid;
	char *end;

	if (value++ == NULL || !parse_address(value, n - (size_t)(value - text), &addr) ||
	    cw_gid_is_v4(&addr) != cw_gid_is_v4(&s->own))
		return false;
	if (strncmp(text, "group=", 6) == 0) {
		s->group = addr;
		return is_group(&addr);
	}
	lid = strtoul(text, &end, 0);
	if (end == text || *end != '=' || lid < 1 || lid >= CW_IB_LID_MCAST || is_group(&addr))
		return false;
	s->at[s->n].addr = addr;
	s->at[s->n++].lid = (uint16_t)lid;
	return true;
}

int stations_parse(struct stations *s, const char *arg, char *why, size_t size)
{
	const char *at = arg + strcspn(arg, ","), *text;

	if (!parse_address(arg, (size_t)(at - arg), &s->own) || *at == '\0') {
		(void)snprintf(why, size, "must be ADDRESS[,group=ADDRESS],LID=ADDRESS,...");
		return CW_E_SYNTAX;
	}
	while ((text = carrier_item(&at)) != NULL) {
		if (s->n == CARRIER_STATIONS) {
			(void)snprintf(why, size, "more than %d stations", CARRIER_STATIONS);
			return CW_E_SPACE;
		}
		if (!parse_station(s, text, (size_t)(at - text))) {
			(void)snprintf(why, size,
				       "'%.*s' is neither LID=ADDRESS nor group=ADDRESS of the "
				       "same IP version",
				       (int)(at - text), text);
			return CW_E_SYNTAX;
		}
	}
	return CW_OK;
}

/* ---- Who is who ---------------------------------------------------------------------------- */

bool stations_grouped(const struct stations *s)
{
	return !cw_gid_none(&s->group);
}

uint16_t stations_lid(const struct stations *s, const uint8_t addr[16])
{
	unsigned i;

	for (i = 0; i < s->n; i++) {
		if (memcmp(s->at[i].addr.o, addr, 16) == 0)
			return s->at[i].lid;
	}
	return 0;
}

unsigned stations_for(const struct stations *s, const struct cw_ipoib_tx *tx,
		      const struct cw_gid *out[CARRIER_STATIONS])
{
	bool group = tx->dqpn == CW_IB_QPN_MCAST;
	unsigned i, n = 0;

	if (group && stations_grouped(s))
		out[n++] = &s->group;
	for (i = 0; i < s->n && !(group && stations_grouped(s)); i++) {
		if (group || s->at[i].lid == tx->dlid)
			out[n++] = &s->at[i].addr;
	}
	return n;
}

/* ---- Groups -------------------------------------------------------------------------------- */

static struct ipport *port_of(const struct hca *h, uint16_t pkey)
{
	unsigned i;

	for (i = 0; i < h->nport; i++) {
		if (((h->port[i]->conf.pkey ^ pkey) & 0x7fff) == 0)
			return h->port[i];
	}
	return NULL;
}

static bool joined(const struct ipport *p, const uint8_t mgid[16])
{
	struct cw_ipoib_group_info g;
	uint32_t i;

	for (i = 0; cw_ipoib_group_at(p->link, i, &g); i++) {
		if (g.joined && memcmp(g.mgid, mgid, 16) == 0)
			return true;
	}
	return false;
}

/* That of the IP group in it; or the sender knew of no listener and meant the routers (RFC 4391
 * 10), which only they have joined. */
bool stations_mgid(const struct hca *h, struct cw_ipoib_tx *rx, const uint8_t *data, size_t len)
{
	const struct ipport *p = port_of(h, rx->pkey);
	static const uint8_t routers4[4] = {224, 0, 0, 2};
	static const uint8_t routers6[16] = {0xff, 0x02, [15] = 2};
	uint8_t own[16];

	if (p == NULL || cw_ipoib_mgid_of(own, data, len, p->conf.pkey, p->conf.scope) < 0)
		return false;
	memcpy(rx->dgid, own, sizeof(own));
	if (p->conf.mode != CW_IPOIB_ROUTER || joined(p, own))
		return true;
	if (cw_ipoib_type(data) == CW_ETHERTYPE_IP6)
		cw_ipoib_mgid6(rx->dgid, routers6, p->conf.pkey, p->conf.scope);
	else
		cw_ipoib_mgid4(rx->dgid, routers4, p->conf.pkey, p->conf.scope);
	return true;
}

static bool is_own(const struct cw_gid *own, const struct sockaddr *a)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in *four = (const struct sockaddr_in *)a;

	if (a == NULL || a->sa_family != (cw_gid_is_v4(own) ? AF_INET : AF_INET6))
		return false;
	return a->sa_family == AF_INET ? memcmp(&four->sin_addr, own->o + 12, 4) == 0
				       : memcmp(&six->sin6_addr, own->o, 16) == 0;
}

static unsigned own_interface(const struct cw_gid *own)
{
	struct ifaddrs *all, *i;
	unsigned index = 0;

	if (getifaddrs(&all) < 0)
		return 0;
	for (i = all; i != NULL && index == 0; i = i->ifa_next) {
		if (is_own(own, i->ifa_addr))
			index = if_nametoindex(i->ifa_name);
	}
	freeifaddrs(all);
	return index;
}

/* The kernel tells the switches and the interface's filter. */
int stations_join(const struct stations *s, int fd)
{
	struct ip_mreqn four = {.imr_ifindex = (int)own_interface(&s->own)};
	struct ipv6_mreq six = {.ipv6mr_interface = own_interface(&s->own)};

	if (!cw_gid_is_v4(&s->own)) {
		memcpy(&six.ipv6mr_multiaddr, s->group.o, 16);
		return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six, sizeof(six));
	}
	memcpy(&four.imr_multiaddr, s->group.o + 12, 4);
	return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four));
}

int stations_send_by(const struct stations *s, int fd)
{
	struct ip_mreqn four = {.imr_ifindex = (int)own_interface(&s->own)};
	int six = four.imr_ifindex, none = 0;

	if (cw_gid_is_v4(&s->own))
		return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &four, sizeof(four)) < 0
			       ? -1
			       : setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &none, sizeof(none));
	return setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &six, sizeof(six)) < 0
		       ? -1
		       : setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &none, sizeof(none));
}
