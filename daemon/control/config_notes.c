/* config_notes.c - what a configuration may say, and seldom means. See config.h. */
#include <stdio.h>
#include <string.h>
#include "causeway/bits.h"
#include "daemon/control/config_int.h"

struct notes {
	const struct cw_config *c;
	cw_config_note *say;
	void *ctx;
};

static void say(const struct notes *n, const char *path, const char *value, const char *text)
{
	n->say(n->ctx, path, value, text);
}

/* ---- Ports ---------------------------------------------------------------------------------- */

/* 192.0.2.0/24 or 192.0.2.255/24 on a port: the subnet was meant, or its last address. */
static const char *end_of_subnet(const struct cw_ip_addr *a)
{
	uint32_t host, mask;

	if (a->version != 4 || a->plen > 30)
		return NULL;
	mask = UINT32_MAX >> a->plen;
	host = cw_be32(a->a) & mask;
	if (host == 0)
		return "is the network address of its subnet";
	return host == mask ? "is the broadcast address of its subnet" : NULL;
}

/* An address of a port in front of `port` whose subnet has this one, or the other way round. */
static const struct cw_port_config *overlaps(const struct cw_config *c, unsigned port,
					     const struct cw_ip_addr *a)
{
	unsigned p, i;

	for (p = 0; p < port; p++) {
		for (i = 0; i < c->ports[p].naddr; i++) {
			const struct cw_ip_addr *b = &c->ports[p].addr[i];

			if (cw_config_covers(b, a->version, a->a) ||
			    cw_config_covers(a, b->version, b->a))
				return &c->ports[p];
		}
	}
	return NULL;
}

static void note_addresses(const struct notes *n, unsigned port)
{
	const struct cw_port_config *p = &n->c->ports[port], *other;
	char path[192], value[64], text[128];
	const char *what;
	unsigned i;

	for (i = 0; i < p->naddr; i++) {
		cw_config_prefix_text(&p->addr[i], value, sizeof(value));
		(void)snprintf(path, sizeof(path),
			       CW_CONFIG_ROOT "/port[name='%s']/address[address='%s']", p->name,
			       value);
		if ((what = end_of_subnet(&p->addr[i])) != NULL)
			say(n, path, value, what);
		if ((other = overlaps(n->c, port, &p->addr[i])) == NULL)
			continue;
		(void)snprintf(text, sizeof(text), "port '%s' has an overlapping subnet",
			       other->name);
		say(n, path, value, text);
	}
}

/* Packets cross between UB and Ethernet, and none is fragmented. */
static void note_mtu(const struct notes *n, unsigned port)
{
	const struct cw_port_config *p = &n->c->ports[port], *largest = NULL;
	char path[192], value[16], text[160];
	unsigned i;

	for (i = 0; i < n->c->nports && p->kind != CW_PORT_IPOIB; i++) {
		const struct cw_port_config *q = &n->c->ports[i];

		if (q->kind != p->kind && q->kind != CW_PORT_IPOIB &&
		    (largest == NULL || q->mtu > largest->mtu))
			largest = q;
	}
	if (largest == NULL || largest->mtu <= p->mtu)
		return;
	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/port[name='%s']/mtu", p->name);
	(void)snprintf(value, sizeof(value), "%u", p->mtu);
	(void)snprintf(text, sizeof(text),
		       "is less than %u of port '%s': larger packets from there are dropped as mtu",
		       largest->mtu, largest->name);
	say(n, path, value, text);
}

/* ---- Routes --------------------------------------------------------------------------------- */

/* Has the port addresses of this family, and is none of their subnets around this one? */
static bool is_off_link(const struct cw_port_config *p, uint8_t version, const uint8_t *addr)
{
	unsigned i, of_family = 0;

	for (i = 0; i < p->naddr; i++) {
		if (cw_config_covers(&p->addr[i], version, addr))
			return false;
		of_family += p->addr[i].version == version;
	}
	return of_family > 0;
}

static bool is_static(const struct cw_config *c, const struct cw_route_config *r)
{
	unsigned i;

	for (i = 0; i < c->nneighbours; i++) {
		const struct cw_neighbour_config *e = &c->neighbours[i];

		if (e->port == r->port && e->ip.version == r->next_hop.version &&
		    memcmp(e->ip.a, r->next_hop.a, sizeof(e->ip.a)) == 0)
			return true;
	}
	return false;
}

static void note_route(const struct notes *n, const struct cw_route_config *r)
{
	const struct cw_port_config *p = &n->c->ports[r->port];
	const struct cw_ip_addr *at = r->has_next_hop ? &r->next_hop : &r->prefix;
	char path[192], value[64], text[160];

	if (p->kind == CW_PORT_UB || r->has_mac || !is_off_link(p, at->version, at->a) ||
	    (r->has_next_hop && is_static(n->c, r)))
		return;
	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/route[prefix='%s']%s",
		       cw_config_prefix_text(&r->prefix, value, sizeof(value)),
		       r->has_next_hop ? "/next-hop" : "");
	(void)snprintf(text, sizeof(text),
		       r->has_next_hop ? "is in no subnet of port '%s'"
				       : "has no next-hop and is in no subnet of port '%s': each "
					 "destination is looked for on its link",
		       p->name);
	if (r->has_next_hop)
		cw_config_ip_text(at, value, sizeof(value));
	say(n, path, value, text);
}

void cw_config_notes(const struct cw_config *c, cw_config_note *say_it, void *ctx)
{
	struct notes n = {c, say_it, ctx};
	unsigned i;

	for (i = 0; i < c->nports; i++) {
		note_addresses(&n, i);
		note_mtu(&n, i);
	}
	for (i = 0; i < c->nroutes; i++)
		note_route(&n, &c->routes[i]);
}
