/* plane.c - build a snapshot aside, swap it in, free the old one. See plane.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "daemon/control/cn.h"
#include "daemon/control/congestion.h"
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/control/fib.h"
#include "daemon/control/hops.h"
#include "daemon/control/nexthop.h"
#include "daemon/control/plane.h"
#include "daemon/graph/icmp.h"
#include "daemon/graph/queue.h"
#include "daemon/log.h"

static uint64_t generations;

static void free_plane(struct cw_plane *p, bool with_config)
{
	unsigned i;

	if (p == NULL)
		return;
	for (i = 0; i < CW_MAX_PORTS; i++) {
		cw_congestion_put(p->port[i].congestion);
		cw_port_put(p->port[i].dev);
	}
	for (i = 0; i < CW_MAX_WORKERS; i++)
		free(p->rx[i]);
	cw_cn_put(p->cn);
	free(p->domains);
	cw_fib_put(p->fib);
	cw_ub2e_free(p->rules);
	free(p->hops);
	free(p->adj);
	if (with_config)
		cw_config_free(p->conf);
	free(p);
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static int port_error(const struct cw_port_config *c, int err, const char *why, struct cw_diag *d)
{
	char path[128];

	snprintf(path, sizeof(path), "/causeway:causeway/port[name='%s']/device", c->name);
	return cw_diag_set(d, err, path, c->device, "%s", why);
}

/* Hosts on IPoIB links have the kernel above them, not the graph. */
static bool in_graph(const struct cw_port_config *c)
{
	return c->kind != CW_PORT_IPOIB || c->ipoib.mode == CW_IPOIB_ROUTER;
}

/* A device's limit is for what follows the link header and one tag. */
static uint32_t usable_mtu(const struct cw_port_config *c, const struct cw_port *dev)
{
	uint32_t more = c->outer_vid != 0 ? CW_SIZE_VLAN : 0;

	if (c->kind == CW_PORT_UB)
		more = CW_UB_PREFIX;
	if (dev->max_mtu == 0 || c->mtu + more <= dev->max_mtu)
		return c->mtu;
	cw_log(CW_LOG_WARNING, "port %s: mtu %u is %u, more does not fit into its frames", c->name,
	       c->mtu, dev->max_mtu - more);
	return dev->max_mtu - more;
}

static int add_port(struct cw_plane *p, unsigned index, unsigned *slot, struct cw_diag *d)
{
	const struct cw_port_config *c = &p->conf->ports[index];
	struct cw_plane_port *pp;
	struct cw_port *dev;
	char why[256];
	int err;

	cw_io.by_ub_flow = c->kind == CW_PORT_UB;
	if ((err = cw_port_get(&dev, c->device, why, sizeof(why))) < 0)
		return port_error(c, err, why, d);
	pp = &p->port[dev->slot];
	if (pp->dev != NULL) {
		cw_port_put(dev);
		return port_error(c, CW_E_CONFLICT, "another port has this device already", d);
	}
	if (dev->refs == 1)
		cw_count_zero(dev->slot);
	pp->dev = dev;
	pp->conf = c;
	pp->conf_index = index;
	pp->mtu = usable_mtu(c, dev);
	pp->filter = (struct cw_npi_filter){c->npi_filter, c->nnpi_filter};
	pp->any_station = dev->any_station;
	if (c->kind == CW_PORT_UB ? p->conf->icmp.to_ub : p->conf->icmp.to_ethernet)
		pp->told = CW_ICMP_REASONS;
	if (c->kind != CW_PORT_UB)
		cw_nd_link_local(pp->link_local, dev->mac);
	p->ipoib |= c->kind == CW_PORT_IPOIB;
	*slot = dev->slot;
	return CW_OK;
}

static int add_rx(struct cw_plane *p, unsigned worker, const struct cw_rx_source *s)
{
	struct cw_rx_source *grown =
		realloc(p->rx[worker], (p->nrx[worker] + 1) * sizeof(*p->rx[worker]));

	if (grown == NULL)
		return CW_E_NOMEM;
	grown[p->nrx[worker]++] = *s;
	p->rx[worker] = grown;
	return CW_OK;
}

/* A port with a queue for every worker is polled by all of them; others by one worker each in
 * turn. */
static int assign_queues(struct cw_plane *p, const unsigned *slot)
{
	unsigned i, q, worker;
	struct cw_rx_source s;
	int err;

	for (i = 0; i < p->conf->nports; i++) {
		if (!in_graph(&p->conf->ports[i]))
			continue;
		s.dev = p->port[slot[i]].dev;
		s.slot = (uint8_t)slot[i];
		s.kind = (uint8_t)p->conf->ports[i].kind;
		for (q = 0; q < s.dev->nrxq; q++) {
			s.queue = (uint8_t)q;
			worker = s.dev->nrxq == 1 ? i % cw_dp.nworkers : q % cw_dp.nworkers;
			if ((err = add_rx(p, worker, &s)) < 0)
				return err;
		}
	}
	return CW_OK;
}

/* ---- Next hops ------------------------------------------------------------------------------- */

static void fill_hop(const struct cw_plane *p, struct cw_hop *h, unsigned slot)
{
	const struct cw_plane_port *pp = &p->port[slot];

	h->slot = slot;
	h->hop.side = pp->conf->kind == CW_PORT_UB ? CW_SIDE_UB : CW_SIDE_ETH;
	memcpy(h->hop.src, pp->dev->mac, 6);
	memcpy(h->hop.dst, pp->conf->peer_mac, 6);
	h->hop.tpid = pp->conf->tpid;
	h->hop.outer_vid = pp->conf->outer_vid;
	h->hop.mtu = pp->mtu;
	h->hop.filter = &pp->filter;
}

static void route_hop(const struct cw_plane *p, struct cw_hop *h, const struct cw_route_config *r,
		      unsigned slot)
{
	fill_hop(p, h, slot);
	h->via = r->next_hop;
	if (r->has_mac)
		memcpy(h->hop.dst, r->mac, 6);
	/* A UB link is point to point: its peer is configured, nothing is resolved. */
	if (r->has_mac || h->hop.side == CW_SIDE_UB)
		h->kind = CW_HOP_STATIC;
	else
		h->kind = r->has_next_hop ? CW_HOP_VIA : CW_HOP_ONLINK;
}

static unsigned count_own(const struct cw_config *c)
{
	unsigned i, n = 0;

	for (i = 0; i < c->nports; i++)
		n += c->ports[i].naddr;
	return n;
}

/* Octets behind the prefix are made zero, so that equal prefixes compare equal. */
static struct cw_ip_addr canonical(const struct cw_ip_addr *a, unsigned plen)
{
	struct cw_ip_addr out = {.version = a->version, .plen = (uint8_t)plen};
	unsigned i;

	for (i = 0; i < 16 && 8 * i < plen; i++)
		out.a[i] =
			(uint8_t)(a->a[i] & (plen - 8 * i >= 8 ? 0xff : 0xff00u >> (plen - 8 * i)));
	return out;
}

/* Routes, and the gateway's own addresses behind them: of equal prefixes the last one wins. */
static unsigned add_routes(const struct cw_plane *p, const unsigned *slot, struct cw_hops *hops,
			   struct cw_ip_addr *prefix, uint32_t *hop)
{
	const struct cw_config *c = p->conf;
	const struct cw_port_config *port;
	unsigned i, a, n = 0;

	for (i = 0; i < c->nroutes; i++, n++) {
		struct cw_hop h = {0};

		route_hop(p, &h, &c->routes[i], slot[c->routes[i].port]);
		hop[n] = cw_hops_add(hops, &h);
		prefix[n] = canonical(&c->routes[i].prefix, c->routes[i].prefix.plen);
	}
	for (i = 0; i < c->nports; i++) {
		struct cw_hop h = {.kind = CW_HOP_LOCAL};

		port = &c->ports[i];
		if (!in_graph(port) || port->naddr == 0)
			continue;
		fill_hop(p, &h, slot[i]);
		for (a = 0; a < port->naddr; a++, n++) {
			hop[n] = cw_hops_add(hops, &h);
			prefix[n] =
				canonical(&port->addr[a], port->addr[a].version == 4 ? 32 : 128);
		}
	}
	return n;
}

static int build_routes(struct cw_plane *p, const struct cw_plane *old, const unsigned *slot)
{
	unsigned n, total = p->conf->nroutes + count_own(p->conf);
	struct cw_ip_addr *prefix = calloc(total + 1, sizeof(*prefix));
	uint32_t *hop = calloc(total + 1, sizeof(*hop));
	struct cw_hops hops;
	int err = cw_hops_init(&hops, total);

	if (prefix == NULL || hop == NULL)
		err = CW_E_NOMEM;
	if (err == CW_OK) {
		n = add_routes(p, slot, &hops, prefix, hop);
		if ((err = cw_hops_finish(&hops, p)) == CW_OK)
			err = cw_fib_get(&p->fib, old != NULL ? old->fib : NULL, prefix, hop, n,
					 p->generation);
	}
	cw_hops_free(&hops);
	free(prefix);
	free(hop);
	return err;
}

/* ---- Congestion notification ----------------------------------------------------------------- */

/* By the order of the VPNs: a proxy that older snapshots have counts the same way. */
static int build_domains(struct cw_plane *p, const unsigned *slot)
{
	const struct cw_fast_cnp_config *f = &p->conf->fast_cnp;
	struct cw_domain *d;
	unsigned i;

	if ((p->domains = calloc(f->nvpns + 1, sizeof(*p->domains))) == NULL)
		return CW_E_NOMEM;
	p->ndomains = f->nvpns;
	for (i = 0; i < f->nvpns; i++) {
		d = &p->domains[i];
		fill_hop(p, &d->hop, slot[f->vpns[i].port]);
		d->hop.via = f->vpns[i].next_hop;
		d->hop.kind = d->hop.via.version != 0 ? CW_HOP_VIA : CW_HOP_ONLINK;
		d->vid = f->vpns[i].vid;
	}
	return CW_OK;
}

static int build_congestion(struct cw_plane *p, const struct cw_plane *old, const unsigned *slot,
			    struct cw_diag *diag)
{
	const struct cw_fast_cnp_config *f = &p->conf->fast_cnp;
	struct cw_plane_port *pp;
	unsigned i;
	int err;

	p->between_ethernet = p->conf->between_ethernet;
	p->cn_port1 = f->relay.port1;
	p->cn_port2 = f->relay.port2;
	for (i = 0; i < p->conf->nports; i++) {
		if (p->conf->ports[i].kind == CW_PORT_IPOIB)
			continue;
		pp = &p->port[slot[i]];
		p->border |= (f->border >> i & 1) << slot[i];
		p->interfaces |= (f->interfaces >> i & 1) << slot[i];
		if (!pp->conf->congestion_point)
			continue;
		if ((err = cw_congestion_get(&pp->congestion,
					     old != NULL ? old->port[slot[i]].congestion : NULL,
					     p->conf, i)) < 0 ||
		    (err = cw_queue_prepare(slot[i])) < 0)
			return cw_diag_set(diag, err, "/causeway:causeway/port", pp->conf->name,
					   "no memory for its queue");
		p->egress = true;
	}
	if ((err = build_domains(p, slot)) < 0 ||
	    (err = cw_cn_get(&p->cn, old != NULL ? old->cn : NULL, p->conf)) < 0)
		return cw_diag_set(diag, err, "/causeway:causeway/fast-cnp", NULL,
				   "no memory for the proxy");
	p->egress |= p->border != 0 || (p->cn != NULL && p->cn->learn);
	p->ip_in = p->between_ethernet || p->cn != NULL;
	return CW_OK;
}

/* ---- Building and swapping ------------------------------------------------------------------- */

static int build_ports(struct cw_plane *p, unsigned *slot, struct cw_diag *diag)
{
	unsigned i;
	int err;

	for (i = 0; i < p->conf->nports; i++) {
		if (!in_graph(&p->conf->ports[i]))
			continue;
		if ((err = add_port(p, i, &slot[i], diag)) < 0)
			return err;
	}
	return CW_OK;
}

static int fill_plane(struct cw_plane *p, const struct cw_plane *old, struct cw_diag *diag)
{
	struct cw_config *c = p->conf;
	unsigned slot[CW_MAX_PORTS] = {0};
	int err;

	if (c->nports > CW_MAX_PORTS)
		return cw_diag_set(diag, CW_E_RANGE, "/causeway:causeway/port", NULL,
				   "more than %d ports", CW_MAX_PORTS);
	p->idle_sleep_us = c->idle_sleep_us;
	p->icmp_gap = rte_get_tsc_hz() / c->icmp.rate;
	p->icmp_depth = p->icmp_gap * c->icmp.burst;
	err = cw_ub2e_new(&p->rules, &c->ub2e, c->partitions, c->npartitions, diag);
	if (err < 0)
		return err;
	if ((err = build_ports(p, slot, diag)) < 0 ||
	    (err = build_congestion(p, old, slot, diag)) < 0)
		return err;
	if ((err = assign_queues(p, slot)) < 0 || (err = build_routes(p, old, slot)) < 0)
		return cw_diag_set(diag, err, "/causeway:causeway", NULL,
				   "no memory for the forwarding tables of %u routes", c->nroutes);
	return CW_OK;
}

/* What is fixed when the process starts. */
static int check_fixed(const struct cw_config *conf, const struct cw_plane *old, struct cw_diag *d)
{
	char value[16];

	if (old == NULL)
		return CW_OK;
	if (conf->workers != old->conf->workers) {
		snprintf(value, sizeof(value), "%u", conf->workers);
		return cw_diag_set(d, CW_E_STATE, "/causeway:causeway/daemon/workers", value,
				   "is %u since the start; a change needs a restart",
				   old->conf->workers);
	}
	if (conf->mbufs != old->conf->mbufs) {
		snprintf(value, sizeof(value), "%u", conf->mbufs);
		return cw_diag_set(d, CW_E_STATE, "/causeway:causeway/daemon/buffers", value,
				   "is %u since the start; a change needs a restart",
				   old->conf->mbufs);
	}
	return CW_OK;
}

static void set_promisc(const struct cw_plane_port *pp)
{
	if (pp->conf->promiscuous == pp->dev->promisc)
		return;
	if (pp->dev->ops->set_promisc(pp->dev, pp->conf->promiscuous) != 0)
		cw_log(CW_LOG_WARNING, "port %s: promiscuous mode could not be changed",
		       pp->conf->name);
	pp->dev->promisc = pp->conf->promiscuous;
}

static void set_vlan_strip(const struct cw_plane_port *pp)
{
	int (*set)(struct cw_port * p, bool on) = pp->dev->ops->set_vlan_strip;

	if (pp->conf->vlan_strip == pp->dev->vlan_strip)
		return;
	if (set == NULL || set(pp->dev, pp->conf->vlan_strip) != 0)
		cw_log(CW_LOG_WARNING, "port %s: its device leaves tags as they are",
		       pp->conf->name);
	else
		pp->dev->vlan_strip = pp->conf->vlan_strip;
}

static void set_modes(const struct cw_plane *p)
{
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev == NULL)
			continue;
		set_promisc(&p->port[i]);
		set_vlan_strip(&p->port[i]);
	}
}

static void forget_closed(const struct cw_plane *now, const bool *was_open)
{
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (was_open[i] && now->port[i].dev == NULL)
			cw_nexthop_forget_port(i);
	}
}

static void replace(struct cw_plane *p)
{
	bool was_open[CW_MAX_PORTS] = {false};
	struct cw_plane *old;
	unsigned i;

	set_modes(p);
	old = cw_plane_exchange(p);
	cw_cn_set_statics(p->cn, old != NULL ? old->conf : NULL, p->conf);
	if (cw_nexthop_set_static(p) < 0)
		cw_log(CW_LOG_WARNING, "neighbour table is full: not all static entries fit");
	if (old == NULL)
		return;
	cw_plane_settle();
	for (i = 0; i < CW_MAX_PORTS; i++)
		was_open[i] = old->port[i].dev != NULL;
	free_plane(old, true);
	forget_closed(p, was_open);
}

static void log_note(void *ctx, const char *path, const char *value, const char *text)
{
	cw_log(CW_LOG_NOTICE, "configuration: %s: \"%s\": %s", path, value, text);
}

int cw_plane_apply(struct cw_config *conf, struct cw_diag *diag)
{
	struct cw_plane *old = cw_plane_now(), *p;
	int err;

	if ((err = check_fixed(conf, old, diag)) < 0)
		return err;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, "/causeway:causeway", NULL, "out of memory");
	p->conf = conf;
	p->generation = generations + 1;
	if ((err = fill_plane(p, old, diag)) < 0) {
		free_plane(p, false);
		return err;
	}
	generations++;
	replace(p);
	cw_log(CW_LOG_NOTICE, "configuration %lu in use: %u ports, %u routes",
	       (unsigned long)p->generation, conf->nports, conf->nroutes);
	cw_config_notes(conf, log_note, NULL);
	return CW_OK;
}

void cw_plane_clear(void)
{
	struct cw_plane *old = cw_plane_exchange(NULL);

	if (old == NULL)
		return;
	cw_plane_settle();
	free_plane(old, true);
}
