/* config_fill.c - a validated tree -> struct cw_config, by tables of leaves. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/control/config_int.h"

/* A leaf and the member it goes to. `name` may lead through containers ("udp/port"). */
struct leaf {
	const char *name;
	size_t off, size;
	enum { NUMBER, TEXT, MAC, HEX } form; /* booleans and enumerations are numbers too */
};

#define LEAF(name, type, member, form)                                                        \
	{                                                                                     \
		name, offsetof(struct type, member), sizeof(((struct type *)0)->member), form \
	}

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
static const struct leaf point_leaves[] = {
	LEAF("rate", cw_point_config, rate_kbps, NUMBER),
	LEAF("overhead", cw_point_config, overhead, NUMBER),
	LEAF("buffer", cw_point_config, s.limit, NUMBER),
	LEAF("ecn/enabled", cw_point_config, ecn, NUMBER),
	LEAF("ecn/min", cw_point_config, s.ecn_min, NUMBER),
	LEAF("ecn/max", cw_point_config, s.ecn_max, NUMBER),
	LEAF("ecn/probability", cw_point_config, s.ecn_percent, NUMBER),
	LEAF("detection/depth", cw_point_config, s.detect_depth, NUMBER),
	LEAF("detection/time", cw_point_config, detect_us, NUMBER),
	LEAF("message/option", cw_point_config, s.option, NUMBER),
	LEAF("message/packed", cw_point_config, s.packed, NUMBER),
	LEAF("message/dscp", cw_point_config, s.dscp, NUMBER),
	LEAF("message/ttl", cw_point_config, s.ttl, NUMBER),
	LEAF("message/flow-interval", cw_point_config, flow_us, NUMBER),
	LEAF("message/flows", cw_point_config, s.flows, NUMBER),
	LEAF("message/rate", cw_point_config, s.total_rate, NUMBER),
	LEAF("message/burst", cw_point_config, s.total_burst, NUMBER),
};
static const struct leaf nrp_rule_leaves[] = {
	LEAF("match", cw_nrp_rule, match, NUMBER),
	LEAF("value", cw_nrp_rule, value, NUMBER),
	LEAF("nrp", cw_nrp_rule, nrp, NUMBER),
};
static const struct leaf fast_cnp_leaves[] = {
	LEAF("udp/option-1", cw_fast_cnp_config, relay.port1, NUMBER),
	LEAF("udp/option-2", cw_fast_cnp_config, relay.port2, NUMBER),
	LEAF("udp/rocev2", cw_fast_cnp_config, relay.roce_port, NUMBER),
	LEAF("udp/uec", cw_fast_cnp_config, relay.uec_port, NUMBER),
	LEAF("proxy/enabled", cw_fast_cnp_config, relay.enabled, NUMBER),
	LEAF("proxy/bts-default", cw_fast_cnp_config, relay.bts_default, NUMBER),
	LEAF("proxy/uetx-on-ub-port", cw_fast_cnp_config, relay.uetx_on_ub_port, NUMBER),
	LEAF("proxy/cnp-dscp", cw_fast_cnp_config, relay.cnp_dscp, NUMBER),
	LEAF("proxy/cnp-ecn", cw_fast_cnp_config, relay.cnp_ecn, NUMBER),
	LEAF("proxy/bts-dscp", cw_fast_cnp_config, relay.bts_dscp, NUMBER),
	LEAF("proxy/ttl", cw_fast_cnp_config, relay.ttl, NUMBER),
	LEAF("proxy/coalesce", cw_fast_cnp_config, coalesce_us, NUMBER),
	LEAF("proxy/rate", cw_fast_cnp_config, relay.total_rate, NUMBER),
	LEAF("proxy/burst", cw_fast_cnp_config, relay.total_burst, NUMBER),
	LEAF("proxy/source-rate", cw_fast_cnp_config, relay.source_rate, NUMBER),
	LEAF("proxy/source-burst", cw_fast_cnp_config, relay.source_burst, NUMBER),
	LEAF("proxy/flows", cw_fast_cnp_config, relay.flows, NUMBER),
	LEAF("proxy/flow-time", cw_fast_cnp_config, flow_s, NUMBER),
	LEAF("qpmap/learn", cw_fast_cnp_config, learn, NUMBER),
	LEAF("qpmap/pairs", cw_fast_cnp_config, map.pairs, NUMBER),
	LEAF("qpmap/requests", cw_fast_cnp_config, map.requests, NUMBER),
	LEAF("qpmap/connections", cw_fast_cnp_config, map.connections, NUMBER),
	LEAF("qpmap/idle-time", cw_fast_cnp_config, idle_s, NUMBER),
	LEAF("qpmap/votes", cw_fast_cnp_config, map.min_votes, NUMBER),
	LEAF("qpmap/ratio", cw_fast_cnp_config, map.ratio, NUMBER),
	LEAF("message-option", cw_fast_cnp_config, message_option, NUMBER),
};
static const struct leaf sender_leaves[] = {
	LEAF("kind", cw_sender_config, kind, NUMBER),
	LEAF("vid", cw_sender_config, vlan, NUMBER),
};
static const struct leaf nrp_leaves[] = {
	LEAF("selector", cw_nrp_config, selector, NUMBER),
	LEAF("source-qp", cw_nrp_config, sqpn, NUMBER),
	LEAF("vpn", cw_nrp_config, vpn, NUMBER),
};
static const struct leaf vpn_leaves[] = {
	LEAF("id", cw_vpn_config, id, NUMBER),
	LEAF("vid", cw_vpn_config, vid, NUMBER),
};
static const struct leaf qp_static_leaves[] = {
	LEAF("destination-qp", cw_qp_static, dqpn, NUMBER),
	LEAF("source-qp", cw_qp_static, sqpn, NUMBER),
};
// clang-format on
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- The tree ------------------------------------------------------------------------------- */

/* First child of that name; `name` may be a path. NULL if there is none. */
static const struct lyd_node *child(const struct lyd_node *parent, const char *name)
{
	size_t n = strcspn(name, "/");
	const struct lyd_node *c;

	LY_LIST_FOR(lyd_child(parent), c)
	{
		if (strncmp(c->schema->name, name, n) == 0 && c->schema->name[n] == '\0')
			return name[n] == '/' ? child(c, name + n + 1) : c;
	}
	return NULL;
}

static uint32_t number(const struct lyd_node *leaf)
{
	const struct lyd_value *v = &((const struct lyd_node_term *)leaf)->value;

	switch (v->realtype->basetype) {
	case LY_TYPE_BOOL:
		return v->boolean != 0;
	case LY_TYPE_ENUM:
		return (uint32_t)v->enum_item->value;
	default:
		return (uint32_t)strtoul(lyd_get_value(leaf), NULL, 10);
	}
}

static void parse_mac(const char *text, uint8_t *mac)
{
	unsigned i;

	for (i = 0; i < 6; i++)
		mac[i] = (uint8_t)strtoul(text + (size_t)3 * i, NULL, 16);
}

static void store_number(void *at, size_t size, uint64_t v)
{
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;
	uint8_t v8 = (uint8_t)v;

	if (size == 1)
		memcpy(at, &v8, 1);
	else if (size == 2)
		memcpy(at, &v16, 2);
	else if (size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &v, 8);
}

static void fill_leaves(void *out, const struct lyd_node *from, const struct leaf *leaves, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct lyd_node *leaf = child(from, leaves[i].name);
		uint8_t *at = (uint8_t *)out + leaves[i].off;

		if (leaf == NULL)
			continue;
		if (leaves[i].form == NUMBER)
			store_number(at, leaves[i].size, number(leaf));
		else if (leaves[i].form == HEX)
			store_number(at, leaves[i].size, strtoull(lyd_get_value(leaf), NULL, 16));
		else if (leaves[i].form == MAC)
			parse_mac(lyd_get_value(leaf), at);
		else
			(void)snprintf((char *)at, leaves[i].size, "%s", lyd_get_value(leaf));
	}
}

static unsigned count(const struct lyd_node *parent, const char *name)
{
	const struct lyd_node *c;
	unsigned n = 0;

	LY_LIST_FOR(lyd_child(parent), c)
	n += strcmp(c->schema->name, name) == 0;
	return n;
}

/* The next sibling of the same name. */
static const struct lyd_node *next_entry(const struct lyd_node *e)
{
	return e->next != NULL && e->next->schema == e->schema ? e->next : NULL;
}

static int at_node(struct cw_diag *diag, int err, const struct lyd_node *n, const char *reason)
{
	char path[512] = "";

	(void)lyd_path(n, LYD_PATH_STD, path, sizeof(path));
	return cw_diag_set(diag, err, path, lyd_get_value(n), "%s", reason);
}

static int nomem(struct cw_diag *diag)
{
	return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
}

/* An array for the entries of `name`, NULL if there are none. */
static int make_array(const struct lyd_node *parent, const char *name, size_t size, void *out,
		      unsigned *n, struct cw_diag *diag)
{
	void *p;

	*n = count(parent, name);
	if (*n == 0)
		return CW_OK;
	if ((p = calloc(*n, size)) == NULL) {
		*n = 0;
		return nomem(diag);
	}
	memcpy(out, &p, sizeof(p));
	return CW_OK;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* "ADDRESS" or "ADDRESS/LENGTH". */
static bool parse_ip(const char *text, struct cw_ip_addr *a)
{
	const char *slash = strchr(text, '/');
	size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	char addr[INET6_ADDRSTRLEN];
	unsigned long plen;

	if (n >= sizeof(addr))
		return false;
	memcpy(addr, text, n);
	addr[n] = '\0';
	*a = (struct cw_ip_addr){.version = strchr(addr, ':') != NULL ? 6 : 4};
	if (inet_pton(a->version == 6 ? AF_INET6 : AF_INET, addr, a->a) != 1)
		return false;
	plen = a->version == 6 ? 128 : 32;
	a->plen = (uint8_t)plen;
	if (slash == NULL)
		return true;
	if (strtoul(slash + 1, NULL, 10) > plen)
		return false;
	a->plen = (uint8_t)strtoul(slash + 1, NULL, 10);
	return true;
}

static int fill_ip(struct cw_ip_addr *a, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (parse_ip(lyd_get_value(leaf), a))
		return CW_OK;
	return at_node(diag, CW_E_RANGE, leaf,
		       strchr(lyd_get_value(leaf), '/') != NULL
			       ? "not an IP address with a prefix length, such as 192.0.2.1/24"
			       : "not an IPv4 or IPv6 address");
}

/* libyang has checked both kinds of text, and zeroed what is behind a prefix. */
static int fill_addr(struct cw_addr *a, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (cw_addr_parse(lyd_get_value(leaf), a) == CW_OK)
		return CW_OK;
	return at_node(diag, CW_E_RANGE, leaf, "not an IPv4 or IPv6 address");
}

static int fill_prefix(struct cw_prefix *p, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (cw_prefix_parse(lyd_get_value(leaf), p) == CW_OK)
		return CW_OK;
	return at_node(diag, CW_E_RANGE, leaf, "not an IPv4 or IPv6 prefix");
}

/* At most one address of each family. */
static int fill_pair(struct cw_addr pair[2], const struct lyd_node *e, struct cw_diag *diag)
{
	struct cw_addr a;
	int err;

	for (; e != NULL; e = next_entry(e)) {
		if ((err = fill_addr(&a, e, diag)) != CW_OK)
			return err;
		if (pair[a.version == 6].version != 0)
			return at_node(diag, CW_E_CONFLICT, e,
				       "there is another one of this address family");
		pair[a.version == 6] = a;
	}
	return CW_OK;
}

static struct cw_gid gid_of(const struct cw_addr *a)
{
	return cw_gid_of(a->version, a->addr);
}

static int fill_gid(struct cw_gid *g, const struct lyd_node *leaf, struct cw_diag *diag)
{
	struct cw_addr a;
	int err;

	if (leaf == NULL)
		return CW_OK;
	if ((err = fill_addr(&a, leaf, diag)) == CW_OK)
		*g = gid_of(&a);
	return err;
}

static int fill_prefixes(struct cw_prefix **out, unsigned *n, const struct lyd_node *parent,
			 const char *name, struct cw_diag *diag)
{
	const struct lyd_node *e = child(parent, name);
	struct cw_prefix *to;
	int err;

	if ((err = make_array(parent, name, sizeof(**out), out, n, diag)) != CW_OK)
		return err;
	for (to = *out; e != NULL; e = next_entry(e), to++) {
		if ((err = fill_prefix(to, e, diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

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
	for (; first != NULL; first = next_entry(first))
		ids[(*n)++] = number(first);
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
	unsigned i, n = count(npi, "partition");

	for (i = 0; i < c->nports; i++)
		n += c->ports[i].nnpi_filter;
	if (n == 0)
		return CW_OK;
	if ((c->partitions = calloc(n, sizeof(*c->partitions))) == NULL)
		return nomem(diag);
	n = 0;
	append_ids(c->partitions, &n, child(npi, "partition"));
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

static int fill_npi(struct cw_config *c, const struct lyd_node *npi, struct cw_diag *diag)
{
	const struct lyd_node *e = child(npi, "map");
	struct cw_npi_entry *to;
	unsigned n;
	int err;

	if ((err = make_array(npi, "map", sizeof(*c->npi), &c->npi, &n, diag)) != CW_OK)
		return err;
	for (to = c->npi; e != NULL; e = next_entry(e))
		fill_leaves(to++, e, npi_leaves, COUNT(npi_leaves));
	c->ub2e.npi = c->npi;
	c->ub2e.nnpi = n;
	return fill_partitions(c, npi, diag);
}

/* ---- Rules ---------------------------------------------------------------------------------- */

/* A list of (DSCP, value) pairs over the defaults of a table of 64. */
static void fill_table(uint8_t *table, const struct lyd_node *parent, const char *list,
		       const char *key, const char *value)
{
	const struct lyd_node *e = child(parent, list);

	for (; e != NULL; e = next_entry(e))
		table[number(child(e, key))] = (uint8_t)number(child(e, value));
}

static int fill_pins(struct cw_config *c, const struct lyd_node *udp, struct cw_diag *diag)
{
	const struct lyd_node *e = child(udp, "pin");
	struct cw_pin_4792 *to;
	struct cw_prefix p;
	unsigned n;
	int err;

	if ((err = make_array(udp, "pin", sizeof(*c->pins), &c->pins, &n, diag)) != CW_OK)
		return err;
	for (to = c->pins; e != NULL; e = next_entry(e), to++) {
		if ((err = fill_prefix(&p, child(e, "prefix"), diag)) != CW_OK)
			return err;
		to->version = p.version;
		to->plen = p.plen;
		memcpy(to->addr, p.addr, sizeof(to->addr));
		to->family = (enum cw_4792)number(child(e, "family"));
	}
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
	const struct lyd_node *e = child(port, "address");
	unsigned i = 0, n;
	int err;

	if ((err = make_array(port, "address", sizeof(*p->addr), &p->addr, &n, diag)) != CW_OK ||
	    (err = make_array(port, "address", sizeof(*p->addr_vid), &p->addr_vid, &n, diag)) !=
		    CW_OK)
		return err;
	for (; e != NULL; e = next_entry(e), i++) {
		if ((err = fill_ip(&p->addr[i], child(e, "address"), diag)) != CW_OK)
			return err;
		p->addr_vid[i] = (uint16_t)number(child(e, "vid"));
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
		return at_node(diag, CW_E_SYNTAX, child(port, "device"),
			       "an IPoIB port's device is ib:HCA.PKEY, such as ib:hca0.8001");
	memcpy(p->ipoib.hca, arg, (size_t)(dot - arg));
	p->ipoib.pkey = (uint16_t)pkey;
	if (p->ipoib.interface[0] == '\0')
		(void)snprintf(p->ipoib.interface, sizeof(p->ipoib.interface), "%.15s", p->name);
	return CW_OK;
}

static int fill_point(struct cw_point_config *p, const struct lyd_node *from, struct cw_diag *diag)
{
	const struct lyd_node *message = child(from, "message");
	const struct lyd_node *e = child(message, "nrp-rule");
	struct cw_addr source[2] = {{0}};
	struct cw_nrp_rule *to;
	int err;

	fill_leaves(p, from, point_leaves, COUNT(point_leaves));
	p->s.rate = (uint64_t)p->rate_kbps * 1000;
	p->s.detect_ns = (uint64_t)p->detect_us * 1000;
	p->s.flow_ns = (uint64_t)p->flow_us * 1000;
	if ((err = fill_pair(source, child(message, "source"), diag)) != CW_OK ||
	    (err = make_array(message, "nrp-rule", sizeof(*p->nrp), &p->nrp, &p->nnrp, diag)) !=
		    CW_OK)
		return err;
	if (source[0].version != 0)
		p->s.own4 = gid_of(&source[0]);
	if (source[1].version != 0)
		p->s.own6 = gid_of(&source[1]);
	for (to = p->nrp; e != NULL; e = next_entry(e))
		fill_leaves(to++, e, nrp_rule_leaves, COUNT(nrp_rule_leaves));
	p->s.nrp = p->nrp;
	p->s.nnrp = p->nnrp;
	return CW_OK;
}

static int fill_relay(struct cw_port_config *p, const struct lyd_node *e, struct cw_diag *diag)
{
	struct cw_ip_addr a;
	int err;

	/* The schema has the limit. */
	for (; e != NULL; e = next_entry(e)) {
		if ((err = fill_ip(&a, e, diag)) != CW_OK)
			return err;
		memcpy(p->relay[p->nrelay++], a.a, 4);
	}
	return CW_OK;
}

static int fill_port(struct cw_port_config *p, const struct lyd_node *port, struct cw_diag *diag)
{
	unsigned n = 0;
	int err;

	p->tpid = 0x8100; /* on UB ports, where the leaf doesn't exist */
	fill_leaves(p, port, port_leaves, COUNT(port_leaves));
	if ((err = fill_ipoib(p, port, diag)) != CW_OK ||
	    (err = fill_relay(p, child(port, "dhcp-relay"), diag)) != CW_OK)
		return err;
	if ((err = make_array(port, "npi-filter", sizeof(*p->npi_filter), &p->npi_filter, &n,
			      diag)) != CW_OK)
		return err;
	append_ids(p->npi_filter, &p->nnpi_filter, child(port, "npi-filter"));
	p->nnpi_filter = sort_unique(p->npi_filter, p->nnpi_filter);
	cw_point_settings_init(&p->point.s);
	p->congestion_point = child(port, "congestion-point") != NULL;
	if (p->congestion_point &&
	    (err = fill_point(&p->point, child(port, "congestion-point"), diag)) != CW_OK)
		return err;
	return fill_addresses(p, port, diag);
}

static int fill_ports(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	const struct lyd_node *e = child(top, "port");
	unsigned i;
	int err;

	if ((err = make_array(top, "port", sizeof(*c->ports), &c->ports, &c->nports, diag)) !=
	    CW_OK)
		return err;
	for (i = 0; e != NULL; e = next_entry(e), i++) {
		if ((err = fill_port(&c->ports[i], e, diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

/* The port that a leaf names; libyang has made sure that it exists. */
static unsigned named_port(const struct cw_config *c, const struct lyd_node *leaf)
{
	const char *name = lyd_get_value(leaf);
	unsigned i;

	for (i = 0; i < c->nports && strcmp(c->ports[i].name, name) != 0; i++)
		;
	return i;
}

static unsigned port_index(const struct cw_config *c, const struct lyd_node *entry)
{
	return named_port(c, child(entry, "port"));
}

static int fill_route(const struct cw_config *c, struct cw_route_config *r,
		      const struct lyd_node *e, struct cw_diag *diag)
{
	const struct lyd_node *hop = child(e, "next-hop");
	int err;

	if ((err = fill_ip(&r->prefix, child(e, "prefix"), diag)) != CW_OK)
		return err;
	r->port = port_index(c, e);
	r->has_next_hop = hop != NULL;
	if (hop != NULL && (err = fill_ip(&r->next_hop, hop, diag)) != CW_OK)
		return err;
	r->has_mac = child(e, "mac") != NULL;
	fill_leaves(r, e, route_leaves, COUNT(route_leaves));
	return CW_OK;
}

static int fill_routes(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	const struct lyd_node *e = child(top, "route");
	unsigned i;
	int err;

	if ((err = make_array(top, "route", sizeof(*c->routes), &c->routes, &c->nroutes, diag)) !=
	    CW_OK)
		return err;
	for (i = 0; e != NULL; e = next_entry(e), i++) {
		if ((err = fill_route(c, &c->routes[i], e, diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

static int fill_neighbours(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	const struct lyd_node *e = child(top, "neighbour");
	struct cw_neighbour_config *to;
	int err;

	if ((err = make_array(top, "neighbour", sizeof(*c->neighbours), &c->neighbours,
			      &c->nneighbours, diag)) != CW_OK)
		return err;
	for (to = c->neighbours; e != NULL; e = next_entry(e), to++) {
		if ((err = fill_ip(&to->ip, child(e, "ip"), diag)) != CW_OK)
			return err;
		to->port = port_index(c, e);
		fill_leaves(to, e, neighbour_leaves, COUNT(neighbour_leaves));
	}
	return CW_OK;
}

/* ---- IP over InfiniBand -------------------------------------------------------------------- */

static void fill_hca(struct cw_hca_config *h, const struct lyd_node *e)
{
	const struct lyd_node *at;

	fill_leaves(h, e, hca_leaves, COUNT(hca_leaves));
	/* The schema has the limits of both lists. */
	for (at = child(e, "partition"); at != NULL; at = next_entry(at))
		fill_leaves(&h->partition[h->npartition++], at, partition_leaves,
			    COUNT(partition_leaves));
	for (at = child(e, "node"); at != NULL; at = next_entry(at))
		fill_leaves(&h->node[h->nnode++], at, node_leaves, COUNT(node_leaves));
}

static int fill_hcas(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	const struct lyd_node *e = child(top, "hca");
	struct cw_hca_config *to;
	int err;

	if ((err = make_array(top, "hca", sizeof(*c->hcas), &c->hcas, &c->nhcas, diag)) != CW_OK)
		return err;
	for (to = c->hcas; e != NULL; e = next_entry(e))
		fill_hca(to++, e);
	return CW_OK;
}

/* ---- Proxy node capability ------------------------------------------------------------------ */

/* Listed sources first, the rest behind. */
static void fill_rank(uint8_t rank[CW_PROXY_NSOURCES], const struct lyd_node *e)
{
	uint8_t next = 0;
	unsigned i;

	memset(rank, 0xff, CW_PROXY_NSOURCES);
	for (; e != NULL; e = next_entry(e))
		rank[number(e) % CW_PROXY_NSOURCES] = next++;
	for (i = 0; i < CW_PROXY_NSOURCES; i++) {
		if (rank[i] == 0xff)
			rank[i] = next++;
	}
}

static int fill_statics(struct cw_pnc_config *c, const struct lyd_node *pnc, struct cw_diag *diag)
{
	const struct lyd_node *e = child(pnc, "static");
	struct cw_pnc_static *to;
	int err;

	if ((err = make_array(pnc, "static", sizeof(*c->statics), &c->statics, &c->nstatics,
			      diag)) != CW_OK)
		return err;
	for (to = c->statics; e != NULL; e = next_entry(e), to++) {
		if ((err = fill_prefix(&to->prefix, child(e, "prefix"), diag)) != CW_OK ||
		    (err = fill_addr(&to->proxy, child(e, "proxy"), diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

static int fill_pnc(struct cw_pnc_config *c, const struct lyd_node *pnc, struct cw_diag *diag)
{
	int err;

	if ((err = fill_prefixes(&c->prefix, &c->nprefix, pnc, "prefix", diag)) != CW_OK ||
	    (err = fill_prefixes(&c->bmp.router, &c->bmp.nrouter, child(pnc, "bmp"), "router",
				 diag)) != CW_OK)
		return err;
	fill_rank(c->rank, child(pnc, "preference"));
	if ((err = fill_pair(c->proxy, child(pnc, "proxy-address"), diag)) != CW_OK ||
	    (err = fill_pair(c->next_hop, child(pnc, "bgp/next-hop"), diag)) != CW_OK ||
	    (err = fill_addr(&c->bmp.listen, child(pnc, "bmp/listen"), diag)) != CW_OK ||
	    (err = fill_addr(&c->ospf2_server, child(pnc, "ospfv2/server"), diag)) != CW_OK ||
	    (err = fill_addr(&c->ospf2_area, child(pnc, "ospfv2/area"), diag)) != CW_OK)
		return err;
	return fill_statics(c, pnc, diag);
}

/* ---- Congestion notification with a proxy --------------------------------------------------- */

static uint64_t port_bits(const struct cw_config *c, const struct lyd_node *e)
{
	uint64_t bits = 0;

	for (; e != NULL; e = next_entry(e))
		bits |= 1ull << (named_port(c, e) & 63);
	return bits;
}

static int by_selector(const void *a, const void *b)
{
	const struct cw_nrp_config *x = a, *y = b;

	return (x->selector > y->selector) - (x->selector < y->selector);
}

static int fill_nrp(struct cw_fast_cnp_config *f, const struct lyd_node *from, struct cw_diag *diag)
{
	const struct lyd_node *e = child(from, "nrp");
	struct cw_nrp_config *to;
	int err;

	if ((err = make_array(from, "nrp", sizeof(*f->nrp), &f->nrp, &f->nnrp, diag)) != CW_OK)
		return err;
	for (to = f->nrp; e != NULL; e = next_entry(e), to++) {
		fill_leaves(to, e, nrp_leaves, COUNT(nrp_leaves));
		to->has_qp = child(e, "source-qp") != NULL;
		to->has_vpn = child(e, "vpn") != NULL;
	}
	if (f->nnrp > 0)
		qsort(f->nrp, f->nnrp, sizeof(*f->nrp), by_selector);
	return CW_OK;
}

static int by_id(const void *a, const void *b)
{
	const struct cw_vpn_config *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int fill_vpns(struct cw_config *c, const struct lyd_node *from, struct cw_diag *diag)
{
	struct cw_fast_cnp_config *f = &c->fast_cnp;
	const struct lyd_node *e = child(from, "vpn"), *hop;
	struct cw_vpn_config *to;
	int err;

	if ((err = make_array(from, "vpn", sizeof(*f->vpns), &f->vpns, &f->nvpns, diag)) != CW_OK)
		return err;
	for (to = f->vpns; e != NULL; e = next_entry(e), to++) {
		fill_leaves(to, e, vpn_leaves, COUNT(vpn_leaves));
		to->port = port_index(c, e);
		if ((hop = child(e, "next-hop")) != NULL &&
		    (err = fill_ip(&to->next_hop, hop, diag)) != CW_OK)
			return err;
		if ((err = fill_gid(&to->source, child(e, "source"), diag)) != CW_OK)
			return err;
	}
	if (f->nvpns > 0)
		qsort(f->vpns, f->nvpns, sizeof(*f->vpns), by_id);
	return CW_OK;
}

static int fill_senders(struct cw_fast_cnp_config *f, const struct lyd_node *proxy,
			struct cw_diag *diag)
{
	const struct lyd_node *e = child(proxy, "sender");
	struct cw_sender_config *to;
	int err;

	if ((err = make_array(proxy, "sender", sizeof(*f->senders), &f->senders, &f->nsenders,
			      diag)) != CW_OK)
		return err;
	for (to = f->senders; e != NULL; e = next_entry(e), to++) {
		fill_leaves(to, e, sender_leaves, COUNT(sender_leaves));
		if (child(e, "vid") != NULL)
			to->vlan |= CW_VLAN_SEEN;
		if ((err = fill_prefix(&to->prefix, child(e, "prefix"), diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

static int fill_qp_statics(struct cw_fast_cnp_config *f, const struct lyd_node *qpmap,
			   struct cw_diag *diag)
{
	const struct lyd_node *e = child(qpmap, "static");
	struct cw_qp_static *to;
	int err;

	if ((err = make_array(qpmap, "static", sizeof(*f->statics), &f->statics, &f->nstatics,
			      diag)) != CW_OK)
		return err;
	for (to = f->statics; e != NULL; e = next_entry(e), to++) {
		fill_leaves(to, e, qp_static_leaves, COUNT(qp_static_leaves));
		if ((err = fill_gid(&to->sender, child(e, "sender"), diag)) != CW_OK ||
		    (err = fill_gid(&to->receiver, child(e, "receiver"), diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

static int fill_fast_cnp(struct cw_config *c, const struct lyd_node *from, struct cw_diag *diag)
{
	struct cw_fast_cnp_config *f = &c->fast_cnp;
	const struct lyd_node *proxy = child(from, "proxy");
	int err;

	cw_relay_settings_init(&f->relay);
	cw_qpmap_opts_init(&f->map);
	fill_leaves(f, from, fast_cnp_leaves, COUNT(fast_cnp_leaves));
	f->relay.ub_port = c->ub2e.udp_port;
	f->relay.coalesce_ns = (uint64_t)f->coalesce_us * 1000;
	f->relay.flow_ns = f->flow_s * 1000000000ull;
	f->map.idle_ns = f->idle_s * 1000000000ull;
	f->border = port_bits(c, child(from, "border"));
	f->interfaces = port_bits(c, child(proxy, "interface"));
	if ((err = fill_prefixes(&f->allowed, &f->nallowed, proxy, "allowed-source", diag)) !=
		    CW_OK ||
	    (err = fill_senders(f, proxy, diag)) != CW_OK ||
	    (err = fill_qp_statics(f, child(from, "qpmap"), diag)) != CW_OK ||
	    (err = fill_nrp(f, from, diag)) != CW_OK)
		return err;
	return fill_vpns(c, from, diag);
}

enum { OPTION_OF_NODE = 3 };

/* Section 4 of the draft: the option is chosen for a port, or for the node. */
static void use_node_option(struct cw_config *c)
{
	unsigned i;

	for (i = 0; i < c->nports; i++) {
		if (c->ports[i].point.s.option == OPTION_OF_NODE)
			c->ports[i].point.s.option = c->fast_cnp.message_option;
	}
}

int cw_config_fill(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag)
{
	int err;

	/* leaves that don't exist in strict mode */
	c->ub2e.light_to_ce = true;
	c->ub2e.ect = 2;
	c->ub2e.ce_to_fecn = 3;
	c->pnc.codes = (struct cw_pnc_codes)CW_PNC_CODES;
	fill_leaves(c, top, config_leaves, COUNT(config_leaves));
	fill_rules(&c->ub2e, child(top, "ub2e"));
	if ((err = fill_ports(c, top, diag)) != CW_OK ||
	    (err = fill_routes(c, top, diag)) != CW_OK ||
	    (err = fill_neighbours(c, top, diag)) != CW_OK ||
	    (err = fill_pair(c->icmp.source, child(top, "icmp/source-address"), diag)) != CW_OK ||
	    (err = fill_hcas(c, top, diag)) != CW_OK ||
	    (err = fill_pnc(&c->pnc, child(top, "pnc"), diag)) != CW_OK ||
	    (err = fill_fast_cnp(c, child(top, "fast-cnp"), diag)) != CW_OK ||
	    (err = fill_pins(c, child(top, "ub2e/udp"), diag)) != CW_OK)
		return err;
	use_node_option(c);
	return fill_npi(c, child(top, "ub2e/npi"), diag);
}
