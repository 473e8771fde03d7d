/* config_cn.c - congestion notification with a proxy: a validated tree -> points, proxy. */
#include <stdlib.h>
#include "daemon/control/config_tree.h"

// clang-format off
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
	LEAF("proxy/sources", cw_fast_cnp_config, relay.sources, NUMBER),
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
	LEAF("selector", cw_nrp, nrp, NUMBER),
	LEAF("source-qp", cw_nrp, sqpn, NUMBER),
	LEAF("source-tpn", cw_nrp, src_tpn, NUMBER),
	LEAF("destination-tpn", cw_nrp, dst_tpn, NUMBER),
	LEAF("vpn", cw_nrp, vpn, NUMBER),
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

/* ---- Congestion points ---------------------------------------------------------------------- */

static const struct list nrp_rules = {"nrp-rule", sizeof(struct cw_nrp_rule), nrp_rule_leaves,
				      COUNT(nrp_rule_leaves), NULL};

int cw_config_point(struct cw_point_config *p, const struct lyd_node *from, struct cw_diag *diag)
{
	const struct lyd_node *message = tree_child(from, "message");
	struct cw_addr source[2] = {{0}};
	int err;

	tree_leaves(p, from, point_leaves, COUNT(point_leaves));
	p->s.rate = (uint64_t)p->rate_kbps * 1000;
	p->s.detect_ns = (uint64_t)p->detect_us * 1000;
	p->s.flow_ns = (uint64_t)p->flow_us * 1000;
	if ((err = tree_pair(source, tree_child(message, "source"), diag)) != CW_OK ||
	    (err = tree_list(NULL, message, &nrp_rules, &p->nrp, &p->nnrp, diag)) != CW_OK)
		return err;
	if (source[0].version != 0)
		p->s.own4 = cw_gid_of(source[0].version, source[0].addr);
	if (source[1].version != 0)
		p->s.own6 = cw_gid_of(source[1].version, source[1].addr);
	p->s.nrp = p->nrp;
	p->s.nnrp = p->nnrp;
	return CW_OK;
}

/* ---- The proxy ------------------------------------------------------------------------------ */

static uint64_t port_bits(const struct cw_config *c, const struct lyd_node *e)
{
	uint64_t bits = 0;

	for (; e != NULL; e = tree_next(e))
		bits |= 1ull << (tree_port(c, e) & 63);
	return bits;
}

static int fill_nrp(const struct cw_config *c, void *to, const struct lyd_node *e,
		    struct cw_diag *diag)
{
	struct cw_nrp *nrp = to;

	(void)c;
	(void)diag;
	nrp->has_qp = tree_child(e, "source-qp") != NULL;
	nrp->has_tp = tree_child(e, "source-tpn") != NULL;
	nrp->has_vpn = tree_child(e, "vpn") != NULL;
	return CW_OK;
}

static int fill_vpn(const struct cw_config *c, void *to, const struct lyd_node *e,
		    struct cw_diag *diag)
{
	const struct lyd_node *hop = tree_child(e, "next-hop");
	struct cw_vpn_config *vpn = to;
	int err;

	vpn->port = tree_port(c, tree_child(e, "port"));
	if (hop != NULL && (err = tree_ip(&vpn->next_hop, hop, diag)) != CW_OK)
		return err;
	return tree_gid(&vpn->source, tree_child(e, "source"), diag);
}

static int fill_sender(const struct cw_config *c, void *to, const struct lyd_node *e,
		       struct cw_diag *diag)
{
	struct cw_sender_config *sender = to;

	(void)c;
	if (tree_child(e, "vid") != NULL)
		sender->vlan |= CW_VLAN_SEEN;
	return tree_prefix(&sender->prefix, tree_child(e, "prefix"), diag);
}

static int fill_qp_static(const struct cw_config *c, void *to, const struct lyd_node *e,
			  struct cw_diag *diag)
{
	struct cw_qp_static *pair = to;
	int err;

	(void)c;
	if ((err = tree_gid(&pair->sender, tree_child(e, "sender"), diag)) != CW_OK)
		return err;
	return tree_gid(&pair->receiver, tree_child(e, "receiver"), diag);
}

static const struct list nrps = {"nrp", sizeof(struct cw_nrp), nrp_leaves, COUNT(nrp_leaves),
				 fill_nrp};
static const struct list vpns = {"vpn", sizeof(struct cw_vpn_config), vpn_leaves, COUNT(vpn_leaves),
				 fill_vpn};
static const struct list senders = {"sender", sizeof(struct cw_sender_config), sender_leaves,
				    COUNT(sender_leaves), fill_sender};
static const struct list qp_statics = {"static", sizeof(struct cw_qp_static), qp_static_leaves,
				       COUNT(qp_static_leaves), fill_qp_static};

static int by_selector(const void *a, const void *b)
{
	const struct cw_nrp *x = a, *y = b;

	return (x->nrp > y->nrp) - (x->nrp < y->nrp);
}

static int by_id(const void *a, const void *b)
{
	const struct cw_vpn_config *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
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

int cw_config_fast_cnp(struct cw_config *c, const struct lyd_node *from, struct cw_diag *diag)
{
	struct cw_fast_cnp_config *f = &c->fast_cnp;
	const struct lyd_node *proxy = tree_child(from, "proxy");
	int err;

	cw_relay_settings_init(&f->relay);
	cw_qpmap_opts_init(&f->map);
	tree_leaves(f, from, fast_cnp_leaves, COUNT(fast_cnp_leaves));
	use_node_option(c);
	f->relay.ub_port = c->ub2e.udp_port;
	f->relay.coalesce_ns = (uint64_t)f->coalesce_us * 1000;
	f->relay.flow_ns = f->flow_s * 1000000000ull;
	f->map.idle_ns = f->idle_s * 1000000000ull;
	f->border = port_bits(c, tree_child(from, "border"));
	f->interfaces = port_bits(c, tree_child(proxy, "interface"));
	if ((err = tree_prefixes(&f->allowed, &f->nallowed, proxy, "allowed-source", diag)) !=
		    CW_OK ||
	    (err = tree_list(c, proxy, &senders, &f->senders, &f->nsenders, diag)) != CW_OK ||
	    (err = tree_list(c, tree_child(from, "qpmap"), &qp_statics, &f->statics, &f->nstatics,
			     diag)) != CW_OK ||
	    (err = tree_list(c, from, &nrps, &f->nrps, &f->nnrps, diag)) != CW_OK ||
	    (err = tree_list(c, from, &vpns, &f->vpns, &f->nvpns, diag)) != CW_OK)
		return err;
	if (f->nnrps > 0)
		qsort(f->nrps, f->nnrps, sizeof(*f->nrps), by_selector);
	if (f->nvpns > 0)
		qsort(f->vpns, f->nvpns, sizeof(*f->vpns), by_id);
	return CW_OK;
}
