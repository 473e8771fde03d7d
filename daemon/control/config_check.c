/* config_check.c - rules of a configuration that YANG can't express. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/control/config_int.h"
#include "daemon/control/metrics.h"

const char *cw_config_ip_text(const struct cw_ip_addr *a, char *buf, size_t size)
{
	if (inet_ntop(a->version == 6 ? AF_INET6 : AF_INET, a->a, buf, (socklen_t)size) == NULL)
		(void)snprintf(buf, size, "?");
	return buf;
}

const char *cw_config_prefix_text(const struct cw_ip_addr *a, char *buf, size_t size)
{
	size_t n = strlen(cw_config_ip_text(a, buf, size));

	(void)snprintf(buf + n, size - n, "/%u", a->plen);
	return buf;
}

static bool ip_equal(const struct cw_ip_addr *a, const struct cw_ip_addr *b)
{
	return a->version == b->version && memcmp(a->a, b->a, a->version == 6 ? 16 : 4) == 0;
}

const char *cw_config_not_unicast(const struct cw_ip_addr *a)
{
	static const uint8_t zero[16], loop6[16] = {[15] = 1};

	if (memcmp(a->a, zero, a->version == 6 ? 16 : 4) == 0)
		return "is the unspecified address";
	if (a->version == 6 ? a->a[0] == 0xff : a->a[0] >= 224)
		return a->version == 4 && a->a[0] >= 240 ? "is a reserved address"
							 : "is a multicast address";
	if (a->version == 6 ? memcmp(a->a, loop6, 16) == 0 : a->a[0] == 127)
		return "is a loopback address";
	return NULL;
}

static const char *not_station(const uint8_t *mac)
{
	static const uint8_t zero[6];

	if ((mac[0] & 1) != 0)
		return "is a group address";
	return memcmp(mac, zero, 6) == 0 ? "is the null address" : NULL;
}

static const char *mac_text(const uint8_t *m, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		       m[5]);
	return buf;
}

/* ---- Ports ---------------------------------------------------------------------------------- */

static int check_device(const struct cw_config *c, unsigned at, struct cw_diag *diag)
{
	const struct cw_port_config *p = &c->ports[at];
	char path[192];
	unsigned i;

	for (i = 0; i < at; i++) {
		if (strcmp(c->ports[i].device, p->device) == 0) {
			(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/port[name='%s']/device",
				       p->name);
			return cw_diag_set(diag, CW_E_CONFLICT, path, p->device,
					   "port '%s' has the same device", c->ports[i].name);
		}
	}
	return CW_OK;
}

/* DPDK's own limit, RTE_MAX_ETHPORTS. */
static int check_dpdk_ports(const struct cw_config *c, struct cw_diag *diag)
{
	unsigned i, n = 0;
	char path[192];

	for (i = 0; i < c->nports; i++) {
		const struct cw_port_config *p = &c->ports[i];

		if (strncmp(p->device, "dpdk:", 5) != 0 && strncmp(p->device, "pcap:", 5) != 0)
			continue;
		if (++n <= CW_CONFIG_DPDK_PORTS)
			continue;
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/port[name='%s']/device",
			       p->name);
		return cw_diag_set(diag, CW_E_RANGE, path, p->device,
				   "DPDK takes %d devices at most", CW_CONFIG_DPDK_PORTS);
	}
	return CW_OK;
}

const struct cw_port_config *cw_config_owner(const struct cw_config *c, const struct cw_ip_addr *a,
					     unsigned port, unsigned i)
{
	unsigned p, j;

	for (p = 0; p < c->nports; p++) {
		for (j = 0; j < c->ports[p].naddr; j++) {
			if (p == port && j == i)
				return NULL;
			if (ip_equal(&c->ports[p].addr[j], a))
				return &c->ports[p];
		}
	}
	return NULL;
}

static int check_addresses(const struct cw_config *c, unsigned at, struct cw_diag *diag)
{
	const struct cw_port_config *p = &c->ports[at];
	const struct cw_port_config *other;
	char path[192], text[64];
	const char *why;
	unsigned i;

	for (i = 0; i < p->naddr; i++) {
		cw_config_prefix_text(&p->addr[i], text, sizeof(text));
		(void)snprintf(path, sizeof(path),
			       CW_CONFIG_ROOT "/port[name='%s']/address[address='%s']", p->name,
			       text);
		if ((why = cw_config_not_unicast(&p->addr[i])) != NULL)
			return cw_diag_set(diag, CW_E_RANGE, path, text, "%s", why);
		if ((other = cw_config_owner(c, &p->addr[i], at, i)) != NULL)
			return cw_diag_set(diag, CW_E_CONFLICT, path, text,
					   "port '%s' has the same address", other->name);
	}
	return CW_OK;
}

/* ---- IP over InfiniBand -------------------------------------------------------------------- */

static const struct cw_hca_config *hca_of(const struct cw_config *c, const struct cw_port_config *p)
{
	unsigned i;

	for (i = 0; i < c->nhcas; i++) {
		if (strcmp(c->hcas[i].name, p->ipoib.hca) == 0)
			return &c->hcas[i];
	}
	return NULL;
}

static int check_ipoib(const struct cw_config *c, const struct cw_port_config *p,
		       struct cw_diag *diag)
{
	char path[192];

	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/port[name='%s']/device", p->name);
	if (p->kind != CW_PORT_IPOIB) {
		if (strncmp(p->device, "ib:", 3) != 0)
			return CW_OK;
		return cw_diag_set(diag, CW_E_CONFLICT, path, p->device,
				   "only IPoIB ports have such a device");
	}
	if (hca_of(c, p) == NULL)
		return cw_diag_set(diag, CW_E_NAME, path, p->device, "there is no hca '%s'",
				   p->ipoib.hca);
	if ((p->ipoib.pkey & 0x8000) == 0)
		return cw_diag_set(diag, CW_E_RANGE, path, p->device,
				   "the P_Key's full bit must be set: a limited member can't use "
				   "the broadcast group (RFC 4391 5)");
	return CW_OK;
}

static int check_hca(const struct cw_config *c, unsigned at, struct cw_diag *diag)
{
	const struct cw_hca_config *h = &c->hcas[at];
	char path[192], lid[8];

	if (h->sa == CW_HCA_SA_BUILT_IN && h->lid != h->sm_lid) {
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/hca[name='%s']/sm-lid",
			       h->name);
		(void)snprintf(lid, sizeof(lid), "%u", h->sm_lid);
		return cw_diag_set(diag, CW_E_CONFLICT, path, lid,
				   "the built-in subnet administration is at this hca's lid, %u",
				   h->lid);
	}
	if ((h->sa == CW_HCA_SA_IBSIM || h->sa == CW_HCA_SA_UMAD) && h->sa_device[0] == '\0') {
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/hca[name='%s']", h->name);
		return cw_diag_set(diag, CW_E_ARG, path, NULL, "needs a sa-device");
	}
	if (h->sa == CW_HCA_SA_IN_BAND && strncmp(h->carrier, "verbs:", 6) == 0) {
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/hca[name='%s']/sa", h->name);
		return cw_diag_set(diag, CW_E_CONFLICT, path, "in-band",
				   "an adapter's QP1 is not for programs: see umad");
	}
	return CW_OK;
}

/* ---- Routes and neighbours ------------------------------------------------------------------ */

struct route_check {
	const struct cw_config *c;
	const struct cw_route_config *r;
	struct cw_diag *diag;
};

static int route_error(const struct route_check *k, int err, const char *leaf, const char *value,
		       const char *reason)
{
	char path[192], prefix[64];

	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/route[prefix='%s']/%s",
		       cw_config_prefix_text(&k->r->prefix, prefix, sizeof(prefix)), leaf);
	return cw_diag_set(k->diag, err, path, value, "%s", reason);
}

static int check_next_hop(const struct route_check *k)
{
	const struct cw_ip_addr *hop = &k->r->next_hop;
	char text[INET6_ADDRSTRLEN];
	const char *why;

	cw_config_ip_text(hop, text, sizeof(text));
	if (k->c->ports[k->r->port].kind == CW_PORT_UB)
		return route_error(k, CW_E_CONFLICT, "next-hop", text,
				   "the route's port is a UB port, which has no next hops");
	if (hop->version != k->r->prefix.version)
		return route_error(k, CW_E_CONFLICT, "next-hop", text,
				   "is not of the prefix's address family");
	if ((why = cw_config_not_unicast(hop)) != NULL)
		return route_error(k, CW_E_RANGE, "next-hop", text, why);
	if (cw_config_owner(k->c, hop, k->c->nports, 0) != NULL)
		return route_error(k, CW_E_CONFLICT, "next-hop", text,
				   "is an address of the gateway itself");
	return CW_OK;
}

static int check_route(const struct route_check *k)
{
	const struct cw_port_config *port = &k->c->ports[k->r->port];
	bool is_ub = port->kind == CW_PORT_UB;
	char text[INET6_ADDRSTRLEN];
	const char *why;
	int err;

	if (port->kind == CW_PORT_IPOIB && port->ipoib.mode == CW_IPOIB_HOST)
		return route_error(k, CW_E_CONFLICT, "port", port->name,
				   "is an IPoIB port in host mode: the kernel routes there");
	if (k->r->has_next_hop && (err = check_next_hop(k)) != CW_OK)
		return err;
	if (!k->r->has_mac)
		return CW_OK;
	mac_text(k->r->mac, text, sizeof(text));
	if (k->c->ports[k->r->port].kind != CW_PORT_ETHERNET)
		return route_error(
			k, CW_E_CONFLICT, "mac", text,
			is_ub ? "the route's port is a UB port, which has a peer-mac instead"
			      : "the route's port is an IPoIB port, which resolves always");
	if ((why = not_station(k->r->mac)) != NULL)
		return route_error(k, CW_E_RANGE, "mac", text, why);
	return CW_OK;
}

static int neighbour_error(const struct cw_config *c, const struct cw_neighbour_config *n,
			   const char *leaf, const char *value, const char *why,
			   struct cw_diag *diag)
{
	char path[192], text[INET6_ADDRSTRLEN];

	(void)snprintf(path, sizeof(path),
		       CW_CONFIG_ROOT "/neighbour[port='%s'][ip='%s'][vid='%u']/%s",
		       c->ports[n->port].name, cw_config_ip_text(&n->ip, text, sizeof(text)),
		       n->vid, leaf);
	return cw_diag_set(diag, CW_E_CONFLICT, path, value, "%s", why);
}

static int check_neighbour(const struct cw_config *c, const struct cw_neighbour_config *n,
			   struct cw_diag *diag)
{
	char text[INET6_ADDRSTRLEN];
	const char *why;

	if (c->ports[n->port].kind != CW_PORT_ETHERNET)
		return neighbour_error(c, n, "port", c->ports[n->port].name,
				       c->ports[n->port].kind == CW_PORT_UB
					       ? "is a UB port, which has no neighbours"
					       : "is an IPoIB port, which has no static ones",
				       diag);
	cw_config_ip_text(&n->ip, text, sizeof(text));
	if ((why = cw_config_not_unicast(&n->ip)) != NULL)
		return neighbour_error(c, n, "ip", text, why, diag);
	if (cw_config_owner(c, &n->ip, c->nports, 0) != NULL)
		return neighbour_error(c, n, "ip", text, "is an address of the gateway itself",
				       diag);
	mac_text(n->mac, text, sizeof(text));
	if ((why = not_station(n->mac)) != NULL)
		return neighbour_error(c, n, "mac", text, why, diag);
	return CW_OK;
}

/* ---- Daemon --------------------------------------------------------------------------------- */

static int check_metrics(const struct cw_config *c, struct cw_diag *diag)
{
	const char *path = CW_CONFIG_ROOT "/daemon/metrics", *colon = strrchr(c->metrics, ':');

	if (c->metrics[0] == '\0')
		return CW_OK;
	if (strncmp(c->metrics, "unix:", 5) == 0) {
		if (strlen(c->metrics + 5) > 107)
			return cw_diag_set(diag, CW_E_RANGE, path, c->metrics,
					   "a socket's path has at most 107 octets");
		return CW_OK;
	}
	if (strtoul(colon + 1, NULL, 10) < 1 || strtoul(colon + 1, NULL, 10) > 65535)
		return cw_diag_set(diag, CW_E_RANGE, path, c->metrics,
				   "port out of range 1..65535");
	if (!cw_metrics_is_address(c->metrics))
		return cw_diag_set(diag, CW_E_RANGE, path, c->metrics, "not an IP address");
	if (!cw_metrics_is_loopback(c->metrics) && !c->metrics_allow_remote)
		return cw_diag_set(diag, CW_E_FORBIDDEN, path, c->metrics,
				   "not a loopback address, and metrics-allow-remote is false");
	return CW_OK;
}

/* ---- Conversion rules ----------------------------------------------------------------------- */

static bool in_filter(const struct cw_port_config *p, uint32_t id)
{
	unsigned i;

	for (i = 0; i < p->nnpi_filter; i++) {
		if (p->npi_filter[i] == id)
			return true;
	}
	return false;
}

/* Where a partition was declared: a port's filter, or else the list of partitions. */
static void partition_path(const struct cw_config *c, uint32_t id, char *buf, size_t size)
{
	unsigned i;

	for (i = 0; i < c->nports; i++) {
		if (in_filter(&c->ports[i], id)) {
			(void)snprintf(buf, size,
				       CW_CONFIG_ROOT "/port[name='%s']/npi-filter[.='%u']",
				       c->ports[i].name, id);
			return;
		}
	}
	(void)snprintf(buf, size, CW_CONFIG_ROOT "/ub2e/npi/partition[.='%u']", id);
}

/* The library knows the container and what is in it, not where a partition was declared. */
static int rules_error(const struct cw_config *c, const struct cw_diag *from, struct cw_diag *diag)
{
	char path[192], value[16];
	unsigned id;

	if (sscanf(from->path, "npi/partition[.='%u']", &id) == 1) {
		partition_path(c, id, path, sizeof(path));
		(void)snprintf(value, sizeof(value), "%u", id);
		return cw_diag_set(diag, from->err, path, value, "%s", from->reason);
	}
	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/ub2e/%.96s", from->path);
	return cw_diag_set(diag, from->err, path, from->value, "%s", from->reason);
}

static int check_rules(const struct cw_config *c, struct cw_diag *diag)
{
	struct cw_diag d = {0};
	struct cw_ub2e *u;
	int err = cw_ub2e_new(&u, &c->ub2e, c->partitions, c->npartitions, &d);

	if (err != CW_OK)
		return rules_error(c, &d, diag);
	cw_ub2e_free(u);
	return CW_OK;
}

/* ---- ICMP errors ---------------------------------------------------------------------------- */

static int check_icmp(const struct cw_config *c, struct cw_diag *diag)
{
	char path[128], text[INET6_ADDRSTRLEN];
	struct cw_ip_addr a;
	const char *why;
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (c->icmp.source[i].version == 0)
			continue;
		a = (struct cw_ip_addr){.version = c->icmp.source[i].version};
		memcpy(a.a, c->icmp.source[i].addr, sizeof(a.a));
		if ((why = cw_config_not_unicast(&a)) == NULL)
			continue;
		cw_config_ip_text(&a, text, sizeof(text));
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/icmp/source-address[.='%s']",
			       text);
		return cw_diag_set(diag, CW_E_RANGE, path, text, "%s", why);
	}
	return CW_OK;
}

int cw_config_check(const struct cw_config *c, struct cw_diag *diag)
{
	unsigned i;
	int err;

	if ((err = check_dpdk_ports(c, diag)) != CW_OK)
		return err;
	for (i = 0; i < c->nports; i++) {
		if ((err = check_device(c, i, diag)) != CW_OK ||
		    (err = check_addresses(c, i, diag)) != CW_OK ||
		    (err = check_ipoib(c, &c->ports[i], diag)) != CW_OK)
			return err;
	}
	for (i = 0; i < c->nhcas; i++) {
		if ((err = check_hca(c, i, diag)) != CW_OK)
			return err;
	}
	for (i = 0; i < c->nroutes; i++) {
		struct route_check k = {c, &c->routes[i], diag};

		if ((err = check_route(&k)) != CW_OK)
			return err;
	}
	for (i = 0; i < c->nneighbours; i++) {
		if ((err = check_neighbour(c, &c->neighbours[i], diag)) != CW_OK)
			return err;
	}
	if ((err = check_metrics(c, diag)) != CW_OK || (err = check_icmp(c, diag)) != CW_OK ||
	    (err = cw_config_check_pnc(c, diag)) != CW_OK ||
	    (err = cw_config_check_fast_cnp(c, diag)) != CW_OK)
		return err;
	return check_rules(c, diag);
}
