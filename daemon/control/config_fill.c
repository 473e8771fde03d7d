/* config_fill.c - a validated tree -> struct cw_config, by tables of leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "daemon/control/config_tree.h"

// clang-format off
static const struct leaf config_leaves[] = {
	LEAF("daemon/workers", cw_config, workers, NUMBER),
	LEAF("daemon/idle-sleep", cw_config, idle_sleep_us, NUMBER),
	LEAF("daemon/buffers", cw_config, mbufs, NUMBER),
	LEAF("daemon/control-socket", cw_config, control_socket, TEXT),
	LEAF("daemon/metrics", cw_config, metrics, TEXT),
	LEAF("daemon/metrics-allow-remote", cw_config, metrics_allow_remote, NUMBER),
	LEAF("daemon/log-level", cw_config, log_level, TEXT),
	LEAF("daemon/drop-capture", cw_config, drop_capture, TEXT),
	LEAF("ub2e/udp/port", cw_config, ub2e.udp_port, NUMBER),
	LEAF("ub2e/udp/verify-checksum", cw_config, ub2e.udp_verify, NUMBER),
	LEAF("ub2e/ip/ttl-decrement", cw_config, ub2e.ttl_decrement, NUMBER),
	LEAF("ub2e/ip/plain-ip", cw_config, ub2e.plain_ip, NUMBER),
	LEAF("ub2e/icrc/check-from-ub", cw_config, ub2e.icrc_check_ub, NUMBER),
	LEAF("ub2e/icrc/check-from-ethernet", cw_config, ub2e.icrc_check_eth, NUMBER),
	LEAF("ub2e/icrc/order", cw_config, ub2e.icrc_order, NUMBER),
	LEAF("ub2e/link/check-length", cw_config, ub2e.plength_check, NUMBER),
	LEAF("ub2e/rt/to-ub", cw_config, ub2e.rt, NUMBER),
	LEAF("ub2e/cci/unmappable", cw_config, ub2e.cci_policy, NUMBER),
	LEAF("ub2e/cci/fecn-rtt-as-fecn", cw_config, ub2e.fecn_rtt_as_fecn, NUMBER),
	LEAF("ub2e/ecn/strict", cw_config, ub2e.strict_ecn, NUMBER),
	LEAF("ub2e/ecn/light", cw_config, ub2e.light_to_ce, NUMBER),
	LEAF("ub2e/ecn/markable", cw_config, ub2e.ect, NUMBER),
	LEAF("ub2e/ecn/ce", cw_config, ub2e.ce_to_fecn, NUMBER),
	LEAF("ub2e/npi/mode", cw_config, ub2e.npi_mode, NUMBER),
	LEAF("ub2e/npi/untagged", cw_config, ub2e.untagged_npi, NUMBER),
	LEAF("icmp/to-ethernet", cw_config, icmp.to_ethernet, NUMBER),
	LEAF("icmp/to-ub", cw_config, icmp.to_ub, NUMBER),
	LEAF("icmp/rate", cw_config, icmp.rate, NUMBER),
	LEAF("icmp/burst", cw_config, icmp.burst, NUMBER),
	LEAF("pnc/hold-time", cw_config, pnc.hold_s, NUMBER),
	LEAF("pnc/entries", cw_config, pnc.entries, NUMBER),
	LEAF("pnc/file", cw_config, pnc.file, TEXT),
	LEAF("pnc/bgp/enabled", cw_config, pnc.bgp, NUMBER),
	LEAF("pnc/bgp/attribute", cw_config, pnc.codes.bgp_attr, NUMBER),
	LEAF("pnc/bgp/code", cw_config, pnc.codes.bgp_code, NUMBER),
	LEAF("pnc/bgp/helper-timeout", cw_config, pnc.helper_timeout_s, NUMBER),
	LEAF("pnc/bmp/enabled", cw_config, pnc.bmp.enabled, NUMBER),
	LEAF("pnc/bmp/port", cw_config, pnc.bmp.port, NUMBER),
	LEAF("pnc/bmp/peers", cw_config, pnc.bmp.peers, NUMBER),
	LEAF("pnc/ospfv2/enabled", cw_config, pnc.ospf2, NUMBER),
	LEAF("pnc/ospfv2/scope", cw_config, pnc.ospf2_scope, NUMBER),
	LEAF("pnc/ospfv2/reoriginate", cw_config, pnc.ospf2_reoriginate, NUMBER),
	LEAF("pnc/ospfv2/sub-tlv", cw_config, pnc.codes.ospf2_subtlv, NUMBER),
	LEAF("pnc/ospfv2/bit", cw_config, pnc.codes.ospf_bit, NUMBER),
	LEAF("forwarding/between-ethernet", cw_config, between_ethernet, NUMBER),
	LEAF("pnc/isis/enabled", cw_config, pnc.isis.enabled, NUMBER),
	LEAF("pnc/isis/interface", cw_config, pnc.isis.interface, TEXT),
	LEAF("pnc/isis/system-id", cw_config, pnc.isis.system_id, TEXT),
	LEAF("pnc/isis/area", cw_config, pnc.isis.area, TEXT),
	LEAF("pnc/isis/level", cw_config, pnc.isis.level, NUMBER),
	LEAF("pnc/isis/reoriginate", cw_config, pnc.isis.reoriginate, NUMBER),
	LEAF("pnc/isis/hostname", cw_config, pnc.isis.hostname, TEXT),
	LEAF("pnc/isis/hello-interval", cw_config, pnc.isis.hello_s, NUMBER),
	LEAF("pnc/isis/hello-multiplier", cw_config, pnc.isis.multiplier, NUMBER),
	LEAF("pnc/isis/padding", cw_config, pnc.isis.padding, NUMBER),
	LEAF("pnc/isis/metric", cw_config, pnc.isis.metric, NUMBER),
	LEAF("pnc/isis/proxy-metric", cw_config, pnc.isis.proxy_metric, NUMBER),
	LEAF("pnc/isis/prefix-metric", cw_config, pnc.isis.prefix_metric, NUMBER),
	LEAF("pnc/isis/lifetime", cw_config, pnc.isis.lifetime_s, NUMBER),
	LEAF("pnc/isis/refresh", cw_config, pnc.isis.refresh_s, NUMBER),
	LEAF("pnc/isis/lsps", cw_config, pnc.isis.lsps, NUMBER),
	LEAF("pnc/isis/multi-topology", cw_config, pnc.isis.multi_topology, NUMBER),
	LEAF("pnc/isis/purge-originator", cw_config, pnc.isis.purge_originator, NUMBER),
	LEAF("pnc/isis/sub-tlv", cw_config, pnc.codes.isis_subtlv, NUMBER),
	LEAF("pnc/isis/bit", cw_config, pnc.codes.isis_bit, NUMBER),
	LEAF("pnc/isis/hello-authentication/key-file", cw_config, pnc.isis.hello_key.file, TEXT),
	LEAF("pnc/isis/hello-authentication/algorithm", cw_config, pnc.isis.hello_key.algorithm, NUMBER),
	LEAF("pnc/isis/hello-authentication/key-id", cw_config, pnc.isis.hello_key.key_id, NUMBER),
	LEAF("pnc/isis/level-1-authentication/key-file", cw_config, pnc.isis.level_key[0].file, TEXT),
	LEAF("pnc/isis/level-1-authentication/algorithm", cw_config, pnc.isis.level_key[0].algorithm, NUMBER),
	LEAF("pnc/isis/level-1-authentication/key-id", cw_config, pnc.isis.level_key[0].key_id, NUMBER),
	LEAF("pnc/isis/level-2-authentication/key-file", cw_config, pnc.isis.level_key[1].file, TEXT),
	LEAF("pnc/isis/level-2-authentication/algorithm", cw_config, pnc.isis.level_key[1].algorithm, NUMBER),
	LEAF("pnc/isis/level-2-authentication/key-id", cw_config, pnc.isis.level_key[1].key_id, NUMBER),
	LEAF("pnc/ospf3/enabled", cw_config, pnc.ospf3.enabled, NUMBER),
	LEAF("pnc/ospf3/interface", cw_config, pnc.ospf3.interface, TEXT),
	LEAF("pnc/ospf3/router-id", cw_config, pnc.ospf3.router_id, TEXT),
	LEAF("pnc/ospf3/area", cw_config, pnc.ospf3.area, TEXT),
	LEAF("pnc/ospf3/area-type", cw_config, pnc.ospf3.area_type, NUMBER),
	LEAF("pnc/ospf3/instance-id", cw_config, pnc.ospf3.instance, NUMBER),
	LEAF("pnc/ospf3/mtu-ignore", cw_config, pnc.ospf3.mtu_ignore, NUMBER),
	LEAF("pnc/ospf3/hello-interval", cw_config, pnc.ospf3.hello_s, NUMBER),
	LEAF("pnc/ospf3/dead-interval", cw_config, pnc.ospf3.dead_s, NUMBER),
	LEAF("pnc/ospf3/retransmit-interval", cw_config, pnc.ospf3.retransmit_s, NUMBER),
	LEAF("pnc/ospf3/refresh", cw_config, pnc.ospf3.refresh_s, NUMBER),
	LEAF("pnc/ospf3/lsas", cw_config, pnc.ospf3.lsas, NUMBER),
	LEAF("pnc/ospf3/metric", cw_config, pnc.ospf3.metric, NUMBER),
	LEAF("pnc/ospf3/proxy-metric", cw_config, pnc.ospf3.proxy_metric, NUMBER),
	LEAF("pnc/ospf3/prefix-metric", cw_config, pnc.ospf3.prefix_metric, NUMBER),
	LEAF("pnc/ospf3/prefix-as", cw_config, pnc.ospf3.prefix_kind, NUMBER),
	LEAF("pnc/ospf3/border/interface", cw_config, pnc.ospf3.border.interface, TEXT),
	LEAF("pnc/ospf3/border/area", cw_config, pnc.ospf3.border.area, TEXT),
	LEAF("pnc/ospf3/border/area-type", cw_config, pnc.ospf3.border.area_type, NUMBER),
	LEAF("pnc/ospf3/sub-tlv", cw_config, pnc.codes.ospf3_subtlv, NUMBER),
	LEAF("pnc/ospf3/authentication/key-file", cw_config, pnc.ospf3.key.file, TEXT),
	LEAF("pnc/ospf3/authentication/algorithm", cw_config, pnc.ospf3.key.algorithm, NUMBER),
	LEAF("pnc/ospf3/authentication/protocol-id", cw_config, pnc.ospf3.protocol_id, NUMBER),
	LEAF("pnc/ospf3/authentication/sa-id", cw_config, pnc.ospf3.key.key_id, NUMBER),
};
static const struct leaf port_leaves[] = {
	LEAF("name", cw_port_config, name, TEXT),
	LEAF("kind", cw_port_config, kind, NUMBER),
	LEAF("device", cw_port_config, device, TEXT),
	LEAF("mtu", cw_port_config, mtu, NUMBER),
	LEAF("peer-mac", cw_port_config, peer_mac, MAC),
	LEAF("promiscuous", cw_port_config, promiscuous, NUMBER),
	LEAF("vlan-strip", cw_port_config, vlan_strip, NUMBER),
	LEAF("tpid", cw_port_config, tpid, NUMBER),
	LEAF("outer-vid", cw_port_config, outer_vid, NUMBER),
	LEAF("multicast", cw_port_config, multicast, NUMBER),
	LEAF("ipoib/mode", cw_port_config, ipoib.mode, NUMBER),
	LEAF("ipoib/interface", cw_port_config, ipoib.interface, TEXT),
	LEAF("ipoib/queue-pair", cw_port_config, ipoib.qpn, NUMBER),
	LEAF("ipoib/scope", cw_port_config, ipoib.scope, NUMBER),
	LEAF("ipoib/interface-identifier", cw_port_config, ipoib.iid, NUMBER),
	LEAF("ipoib/refresh-time", cw_port_config, ipoib.refresh_s, NUMBER),
	LEAF("ipoib/reachable-time", cw_port_config, ipoib.reachable_s, NUMBER),
	LEAF("ipoib/duplicate-probes", cw_port_config, ipoib.probes, NUMBER),
};
static const struct leaf hca_leaves[] = {
	LEAF("name", cw_hca_config, name, TEXT),
	LEAF("carrier", cw_hca_config, carrier, TEXT),
	LEAF("guid", cw_hca_config, guid, HEX),
	LEAF("subnet-prefix", cw_hca_config, subnet_prefix, HEX),
	LEAF("lid", cw_hca_config, lid, NUMBER),
	LEAF("sm-lid", cw_hca_config, sm_lid, NUMBER),
	LEAF("sm-key", cw_hca_config, sm_key, HEX),
	LEAF("sa", cw_hca_config, sa, NUMBER),
	LEAF("sa-device", cw_hca_config, sa_device, TEXT),
	LEAF("learn-nodes", cw_hca_config, learn, NUMBER),
};
static const struct leaf partition_leaves[] = {
	LEAF("pkey", cw_hca_partition, pkey, HEX),
	LEAF("qkey", cw_hca_partition, qkey, HEX),
	LEAF("mtu", cw_hca_partition, mtu, NUMBER),
	LEAF("rate", cw_hca_partition, rate, NUMBER),
	LEAF("sl", cw_hca_partition, sl, NUMBER),
	LEAF("scope", cw_hca_partition, scope, NUMBER),
};
static const struct leaf node_leaves[] = {
	LEAF("guid", cw_hca_node, guid, HEX),
	LEAF("lid", cw_hca_node, lid, NUMBER),
};
static const struct leaf npi_leaves[] = {
	LEAF("id", cw_npi_entry, id, NUMBER),
	LEAF("vid", cw_npi_entry, vid, NUMBER),
	LEAF("vid-low", cw_npi_entry, vid_low, NUMBER),
};
static const struct leaf route_leaves[] = {
	LEAF("mac", cw_route_config, mac, MAC),
};
static const struct leaf neighbour_leaves[] = {
	LEAF("vid", cw_neighbour_config, vid, NUMBER),
	LEAF("mac", cw_neighbour_config, mac, MAC),
};
// clang-format on

/* ---- Partitions ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* A leaf-list of Partition IDs, appended to ids[*n]. */
static void append_ids(uint32_t *ids, unsigned *n, const struct lyd_node *first)
{
	for (; first != NULL; first = tree_next(first))
		ids[(*n)++] = tree_number(first);
}

static unsigned sort_unique(uint32_t *ids, unsigned n)
{
	unsigned i, kept = 0;

	if (n == 0)
		return 0;
	qsort(ids, n, sizeof(*ids), by_value);
	for (i = 1; i < n; i++) {
		if (ids[i] != ids[kept])
			ids[++kept] = ids[i];
	}
	return kept + 1;
}

static int fill_partitions(struct cw_config *c, const struct lyd_node *npi, struct cw_diag *diag)
{
	unsigned i, n = tree_count(npi, "partition");

	for (i = 0; i < c->nports; i++)
		n += c->ports[i].nnpi_filter;
	if (n == 0)
		return CW_OK;
	if ((c->partitions = calloc(n, sizeof(*c->partitions))) == NULL)
		return tree_nomem(diag);
	n = 0;
	append_ids(c->partitions, &n, tree_child(npi, "partition"));
	for (i = 0; i < c->nports; i++) {
		const struct cw_port_config *p = &c->ports[i];

		if (p->nnpi_filter > 0)
			memcpy(c->partitions + n, p->npi_filter,
			       p->nnpi_filter * sizeof(*p->npi_filter));
		n += p->nnpi_filter;
	}
	c->npartitions = sort_unique(c->partitions, n);
	return CW_OK;
}

static const struct list npi_map = {"map", sizeof(struct cw_npi_entry), npi_leaves,
				    COUNT(npi_leaves), NULL};

static int fill_npi(struct cw_config *c, const struct lyd_node *npi, struct cw_diag *diag)
{
	int err;

	if ((err = tree_list(c, npi, &npi_map, &c->npi, &c->ub2e.nnpi, diag)) != CW_OK)
		return err;
	c->ub2e.npi = c->npi;
	return fill_partitions(c, npi, diag);
}

/* ---- Rules ---------------------------------------------------------------------------------- */

/* A list of (DSCP, value) pairs over the defaults of a table of 64. */
static void fill_table(uint8_t *table, const struct lyd_node *parent, const char *list,
		       const char *key, const char *value)
{
	const struct lyd_node *e = tree_child(parent, list);

	for (; e != NULL; e = tree_next(e))
		table[tree_number(tree_child(e, key))] = (uint8_t)tree_number(tree_child(e, value));
}

static int fill_pin(const struct cw_config *c, void *to, const struct lyd_node *e,
		    struct cw_diag *diag)
{
	struct cw_pin_4792 *pin = to;
	struct cw_prefix p;
	int err;

	(void)c;
	if ((err = tree_prefix(&p, tree_child(e, "prefix"), diag)) != CW_OK)
		return err;
	pin->version = p.version;
	pin->plen = p.plen;
	memcpy(pin->addr, p.addr, sizeof(pin->addr));
	pin->family = (enum cw_4792)tree_number(tree_child(e, "family"));
	return CW_OK;
}

static const struct list pins = {"pin", sizeof(struct cw_pin_4792), NULL, 0, fill_pin};

static int fill_pins(struct cw_config *c, const struct lyd_node *udp, struct cw_diag *diag)
{
	unsigned n;
	int err;

	if ((err = tree_list(c, udp, &pins, &c->pins, &n, diag)) != CW_OK)
		return err;
	c->ub2e.pins = c->fast_cnp.relay.pins = c->pins;
	c->ub2e.npins = c->fast_cnp.relay.npins = n;
	return CW_OK;
}

static void fill_rules(struct cw_ub2e_settings *s, const struct lyd_node *ub2e)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		s->dscp_out[i] = s->dscp_in[i] = (uint8_t)i;
	fill_table(s->dscp_out, ub2e, "ip/dscp-to-ethernet", "from", "to");
	fill_table(s->dscp_in, ub2e, "ip/dscp-to-ub", "from", "to");
	fill_table(s->vl, ub2e, "link/virtual-lane", "dscp", "vl");
	fill_table(s->pcp, ub2e, "npi/pcp", "dscp", "pcp");
}

/* ---- Ports, routes, neighbours -------------------------------------------------------------- */

static int fill_addresses(struct cw_port_config *p, const struct lyd_node *port,
			  struct cw_diag *diag)
{
	const struct lyd_node *e = tree_child(port, "address");
	unsigned i = 0, n;
	int err;

	if ((err = tree_array(port, "address", sizeof(*p->addr), &p->addr, &n, diag)) != CW_OK ||
	    (err = tree_array(port, "address", sizeof(*p->addr_vid), &p->addr_vid, &n, diag)) !=
		    CW_OK)
		return err;
	for (; e != NULL; e = tree_next(e), i++) {
		if ((err = tree_ip(&p->addr[i], tree_child(e, "address"), diag)) != CW_OK)
			return err;
		p->addr_vid[i] = (uint16_t)tree_number(tree_child(e, "vid"));
	}
	p->naddr = n;
	return CW_OK;
}

/* "ib:HCA.PKEY", and the name that the interface has when it is given none. */
static int fill_ipoib(struct cw_port_config *p, const struct lyd_node *port, struct cw_diag *diag)
{
	const char *arg = p->device + 3, *dot = strchr(arg, '.');
	char *end = NULL;
	unsigned long pkey = 0;

	if (p->kind != CW_PORT_IPOIB)
		return CW_OK;
	if (strncmp(p->device, "ib:", 3) == 0 && dot != NULL && strlen(dot) == 5)
		pkey = strtoul(dot + 1, &end, 16);
	if (end == NULL || *end != '\0' || dot == arg ||
	    (size_t)(dot - arg) >= sizeof(p->ipoib.hca))
		return tree_error(diag, CW_E_SYNTAX, tree_child(port, "device"),
				  "an IPoIB port's device is ib:HCA.PKEY, such as ib:hca0.8001");
	memcpy(p->ipoib.hca, arg, (size_t)(dot - arg));
	p->ipoib.pkey = (uint16_t)pkey;
	if (p->ipoib.interface[0] == '\0')
		(void)snprintf(p->ipoib.interface, sizeof(p->ipoib.interface), "%.15s", p->name);
	return CW_OK;
}

static int fill_relay(struct cw_port_config *p, const struct lyd_node *e, struct cw_diag *diag)
{
	struct cw_ip_addr a;
	int err;

	/* The schema has the limit. */
	for (; e != NULL; e = tree_next(e)) {
		if ((err = tree_ip(&a, e, diag)) != CW_OK)
			return err;
		memcpy(p->relay[p->nrelay++], a.a, 4);
	}
	return CW_OK;
}

static int fill_port(const struct cw_config *c, void *to, const struct lyd_node *port,
		     struct cw_diag *diag)
{
	struct cw_port_config *p = to;
	unsigned n = 0;
	int err;

	(void)c;
	if (p->tpid == 0) /* on UB ports, where the leaf doesn't exist */
		p->tpid = CW_ETHERTYPE_VLAN;
	if ((err = fill_ipoib(p, port, diag)) != CW_OK ||
	    (err = fill_relay(p, tree_child(port, "dhcp-relay"), diag)) != CW_OK)
		return err;
	if ((err = tree_array(port, "npi-filter", sizeof(*p->npi_filter), &p->npi_filter, &n,
			      diag)) != CW_OK)
		return err;
	append_ids(p->npi_filter, &p->nnpi_filter, tree_child(port, "npi-filter"));
	p->nnpi_filter = sort_unique(p->npi_filter, p->nnpi_filter);
	cw_point_settings_init(&p->point.s);
	p->congestion_point = tree_child(port, "congestion-point") != NULL;
	if (p->congestion_point &&
	    (err = cw_config_point(&p->point, tree_child(port, "congestion-point"), diag)) != CW_OK)
		return err;
	return fill_addresses(p, port, diag);
}

static int fill_route(const struct cw_config *c, void *to, const struct lyd_node *e,
		      struct cw_diag *diag)
{
	const struct lyd_node *hop = tree_child(e, "next-hop");
	struct cw_route_config *r = to;
	int err;

	if ((err = tree_ip(&r->prefix, tree_child(e, "prefix"), diag)) != CW_OK)
		return err;
	r->port = tree_port(c, tree_child(e, "port"));
	r->has_next_hop = hop != NULL;
	if (hop != NULL && (err = tree_ip(&r->next_hop, hop, diag)) != CW_OK)
		return err;
	r->has_mac = tree_child(e, "mac") != NULL;
	return CW_OK;
}

static int fill_neighbour(const struct cw_config *c, void *to, const struct lyd_node *e,
			  struct cw_diag *diag)
{
	struct cw_neighbour_config *n = to;

	n->port = tree_port(c, tree_child(e, "port"));
	return tree_ip(&n->ip, tree_child(e, "ip"), diag);
}

/* ---- IP over InfiniBand -------------------------------------------------------------------- */

static int fill_hca(const struct cw_config *c, void *to, const struct lyd_node *e,
		    struct cw_diag *diag)
{
	struct cw_hca_config *h = to;
	const struct lyd_node *at;

	(void)c;
	(void)diag;
	/* The schema has the limits of both lists. */
	for (at = tree_child(e, "partition"); at != NULL; at = tree_next(at))
		tree_leaves(&h->partition[h->npartition++], at, partition_leaves,
			    COUNT(partition_leaves));
	for (at = tree_child(e, "node"); at != NULL; at = tree_next(at))
		tree_leaves(&h->node[h->nnode++], at, node_leaves, COUNT(node_leaves));
	return CW_OK;
}

/* ---- Proxy node capability ------------------------------------------------------------------ */

/* Listed sources first, the rest behind. */
static void fill_rank(uint8_t rank[CW_PROXY_NSOURCES], const struct lyd_node *e)
{
	uint8_t next = 0;
	unsigned i;

	memset(rank, 0xff, CW_PROXY_NSOURCES);
	for (; e != NULL; e = tree_next(e))
		rank[tree_number(e) % CW_PROXY_NSOURCES] = next++;
	for (i = 0; i < CW_PROXY_NSOURCES; i++) {
		if (rank[i] == 0xff)
			rank[i] = next++;
	}
}

static int fill_static(const struct cw_config *c, void *to, const struct lyd_node *e,
		       struct cw_diag *diag)
{
	struct cw_pnc_static *s = to;
	int err;

	(void)c;
	if ((err = tree_prefix(&s->prefix, tree_child(e, "prefix"), diag)) != CW_OK)
		return err;
	return tree_addr(&s->proxy, tree_child(e, "proxy"), diag);
}

static const struct list statics = {"static", sizeof(struct cw_pnc_static), NULL, 0, fill_static};

static int fill_pnc(struct cw_pnc_config *c, const struct lyd_node *pnc, struct cw_diag *diag)
{
	int err;

	if ((err = tree_prefixes(&c->prefix, &c->nprefix, pnc, "prefix", diag)) != CW_OK ||
	    (err = tree_prefixes(&c->bmp.router, &c->bmp.nrouter, tree_child(pnc, "bmp"), "router",
				 diag)) != CW_OK)
		return err;
	fill_rank(c->rank, tree_child(pnc, "preference"));
	if ((err = tree_pair(c->proxy, tree_child(pnc, "proxy-address"), diag)) != CW_OK ||
	    (err = tree_pair(c->next_hop, tree_child(pnc, "bgp/next-hop"), diag)) != CW_OK ||
	    (err = tree_addr(&c->bmp.listen, tree_child(pnc, "bmp/listen"), diag)) != CW_OK ||
	    (err = tree_addr(&c->ospf2_server, tree_child(pnc, "ospfv2/server"), diag)) != CW_OK ||
	    (err = tree_addr(&c->ospf2_area, tree_child(pnc, "ospfv2/area"), diag)) != CW_OK)
		return err;
	return tree_list(NULL, pnc, &statics, &c->statics, &c->nstatics, diag);
}

static const struct list ports = {"port", sizeof(struct cw_port_config), port_leaves,
				  COUNT(port_leaves), fill_port};
static const struct list routes = {"route", sizeof(struct cw_route_config), route_leaves,
				   COUNT(route_leaves), fill_route};
static const struct list neighbours = {"neighbour", sizeof(struct cw_neighbour_config),
				       neighbour_leaves, COUNT(neighbour_leaves), fill_neighbour};
static const struct list hcas = {"hca", sizeof(struct cw_hca_config), hca_leaves, COUNT(hca_leaves),
				 fill_hca};

int cw_config_fill(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	int err;

	/* leaves that don't exist in strict mode */
	c->ub2e.light_to_ce = true;
	c->ub2e.ect = CW_ECN_ECT0;
	c->ub2e.ce_to_fecn = CW_FECN_SEVERE;
	c->pnc.codes = (struct cw_pnc_codes)CW_PNC_CODES;
	tree_leaves(c, top, config_leaves, COUNT(config_leaves));
	fill_rules(&c->ub2e, tree_child(top, "ub2e"));
	if ((err = tree_list(c, top, &ports, &c->ports, &c->nports, diag)) != CW_OK ||
	    (err = tree_list(c, top, &routes, &c->routes, &c->nroutes, diag)) != CW_OK ||
	    (err = tree_list(c, top, &neighbours, &c->neighbours, &c->nneighbours, diag)) !=
		    CW_OK ||
	    (err = tree_pair(c->icmp.source, tree_child(top, "icmp/source-address"), diag)) !=
		    CW_OK ||
	    (err = tree_list(c, top, &hcas, &c->hcas, &c->nhcas, diag)) != CW_OK ||
	    (err = fill_pnc(&c->pnc, tree_child(top, "pnc"), diag)) != CW_OK ||
	    (err = cw_config_fast_cnp(c, tree_child(top, "fast-cnp"), diag)) != CW_OK ||
	    (err = fill_pins(c, tree_child(top, "ub2e/udp"), diag)) != CW_OK)
		return err;
	return fill_npi(c, tree_child(top, "ub2e/npi"), diag);
}
