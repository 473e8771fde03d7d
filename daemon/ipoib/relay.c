/* relay.c - the DHCP relay between clients on one side and servers on the other. */
#include <string.h>
#include "causeway/dhcp_relay.h"
#include "causeway/wire/ip.h"
#include "daemon/control/current.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/ipoib/service.h"

static const uint8_t everybody[4] = {255, 255, 255, 255};

/* To a server on an IPoIB link directly, to others by the graph, which knows the way. */
static void to_server(struct ipport *from, uint64_t now, const uint8_t *server, const uint8_t *ip,
		      size_t len)
{
	const struct ibroute *r = ibd_route(false, server);
	struct ipport *p = r != NULL ? ibd_port(r->port) : NULL;

	if (p != NULL && p->router != NULL) {
		router_send(p, now, r->via ? r->hop : server, ip, len);
		port_pump(p, now);
	} else if (from != NULL) {
		router_up(from, ip, len);
	}
}

bool relay_request(struct ipport *from, uint64_t now, const struct relay *r, const uint8_t *own,
		   const uint8_t *ip, size_t len)
{
	uint8_t out[CW_DHCP_RELAY_MAX];
	unsigned i;
	int n;

	if (r->n == 0 || own == NULL || !cw_dhcp_to_server(ip, len))
		return false;
	for (i = 0; i < r->n; i++) {
		n = cw_dhcp_relay_request(out, ip, len, own, r->server[i]);
		if (n > 0)
			to_server(from, now, r->server[i], out, (size_t)n);
	}
	return true;
}

static const uint8_t *own4(const struct ipport *p)
{
	unsigned i;

	for (i = 0; i < p->naddr; i++) {
		if (!p->addr[i].v6)
			return p->addr[i].addr;
	}
	return NULL;
}

bool relay_from_link(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len)
{
	return ip[0] >> 4 == 4 && memcmp(cw_ipv4_dst(ip), everybody, 4) == 0 &&
	       relay_request(p, now, &p->relay, own4(p), ip, len);
}

/* The client is on the link, or on the Ethernet port, that has the relay's address. */
static void to_client(const struct cw_dhcp_reply *to, uint64_t now, const uint8_t *ip, size_t len)
{
	const struct ibd_set *s = ibd_now();
	unsigned i;

	for (i = 0; i < s->nport; i++) {
		struct ipport *p = s->port[i];

		if (p->router == NULL || own4(p) == NULL || memcmp(own4(p), to->relay, 4) != 0)
			continue;
		router_send(p, now, to->has_mac ? everybody : to->client, ip, len);
		port_pump(p, now);
		return;
	}
	mroute_to_client(to->relay, to->has_mac ? to->mac : NULL, ip, len);
}

bool cw_ibd_dhcp_reply(const uint8_t *ip, size_t len)
{
	uint8_t out[CW_DHCP_RELAY_MAX];
	struct cw_dhcp_reply to;
	int n;

	if (!cw_dhcp_to_server(ip, len) || (n = cw_dhcp_relay_reply(out, ip, len, &to)) < 0)
		return false;
	(void)ibd_lock();
	to_client(&to, cw_now_ms(), out, (size_t)n);
	ibd_unlock();
	return true;
}
