/* config_check_cn.c - rules of congestion notification that YANG can't express: proxies that are
 * announced, congestion points, and the proxy itself.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "causeway/ospf3.h"
#include "daemon/control/config_int.h"

/* ---- Proxy node capability ------------------------------------------------------------------ */

static int check_isis(const struct cw_pnc_isis *i, struct cw_diag *diag)
{
	const char *missing = i->interface[0] == '\0'   ? "interface"
			      : i->system_id[0] == '\0' ? "system-id"
			      : i->area[0] == '\0'      ? "area"
							: NULL;
	char path[192], value[16];

	if (!i->enabled)
		return CW_OK;
	if (missing != NULL) {
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/pnc/isis/%s", missing);
		return cw_diag_set(diag, CW_E_CONFLICT, path, NULL, "an IS-IS leaf needs it");
	}
	if (i->refresh_s < i->lifetime_s)
		return CW_OK;
	(void)snprintf(value, sizeof(value), "%u", i->refresh_s);
	return cw_diag_set(diag, CW_E_CONFLICT, CW_CONFIG_ROOT "/pnc/isis/refresh", value,
			   "not less than the lifetime, %u", i->lifetime_s);
}

/* RFC 2328 3.3: a border router is in the backbone and in another area. An AS-scope LSA would be
 * written in both, each time by another hand. */
static int check_ospf3_border(const struct cw_pnc_ospf3 *o, struct cw_diag *diag)
{
	static const char path[] = CW_CONFIG_ROOT "/pnc/ospf3/border/";
	bool first = strcmp(o->area, "0.0.0.0") == 0,
	     second = strcmp(o->border.area, "0.0.0.0") == 0;
	char at[sizeof(path) + 16];

	if (o->border.interface[0] == '\0')
		return CW_OK;
	if (strcmp(o->interface, o->border.interface) == 0) {
		(void)snprintf(at, sizeof(at), "%sinterface", path);
		return cw_diag_set(diag, CW_E_CONFLICT, at, o->border.interface,
				   "is the interface of the first area, too");
	}
	if (first == second) {
		(void)snprintf(at, sizeof(at), "%sarea", path);
		return cw_diag_set(diag, CW_E_CONFLICT, at, o->border.area,
				   "just one of both areas must be the backbone, 0.0.0.0");
	}
	if (o->prefix_kind == CW_OSPF3_AS_EXTERNAL)
		return cw_diag_set(diag, CW_E_CONFLICT, CW_CONFIG_ROOT "/pnc/ospf3/prefix-as",
				   "external", "not by a leaf in two areas");
	return CW_OK;
}

static int check_ospf3(const struct cw_pnc_ospf3 *o, struct cw_diag *diag)
{
	const char *missing = o->interface[0] == '\0'   ? "interface"
			      : o->router_id[0] == '\0' ? "router-id"
							: NULL;
	char path[192], value[16];

	if (!o->enabled)
		return CW_OK;
	if (missing != NULL) {
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/pnc/ospf3/%s", missing);
		return cw_diag_set(diag, CW_E_CONFLICT, path, NULL, "an OSPFv3 leaf needs it");
	}
	if (o->area_type == CW_OSPF3_STUB && o->prefix_kind == CW_OSPF3_AS_EXTERNAL)
		return cw_diag_set(diag, CW_E_CONFLICT, CW_CONFIG_ROOT "/pnc/ospf3/prefix-as",
				   "external", "a stub area has no external prefixes");
	if (o->dead_s > o->hello_s)
		return check_ospf3_border(o, diag);
	(void)snprintf(value, sizeof(value), "%u", o->dead_s);
	return cw_diag_set(diag, CW_E_CONFLICT, CW_CONFIG_ROOT "/pnc/ospf3/dead-interval", value,
			   "not more than the hello-interval, %u", o->hello_s);
}

int cw_config_check_pnc(const struct cw_config *c, struct cw_diag *diag)
{
	const struct cw_pnc_config *p = &c->pnc;
	char path[192], text[CW_PREFIX_TEXT];
	unsigned i;
	int err;

	/* BGP can give an IPv4 proxy to IPv6 senders; a route needs a next hop of its family. */
	for (i = 0; i < p->nprefix; i++) {
		unsigned six = p->prefix[i].version == 6;

		if (p->proxy[six].version != 0 ||
		    (p->next_hop[six].version != 0 && p->proxy[!six].version != 0))
			continue;
		cw_prefix_format(&p->prefix[i], text);
		(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/pnc/prefix[.='%s']", text);
		return cw_diag_set(diag, CW_E_CONFLICT, path, text,
				   "needs a proxy-address of its address family");
	}
	if (p->bmp.enabled && p->bmp.nrouter == 0)
		return cw_diag_set(diag, CW_E_CONFLICT, CW_CONFIG_ROOT "/pnc/bmp/router", NULL,
				   "no router may connect");
	if ((err = check_isis(&p->isis, diag)) != CW_OK)
		return err;
	return check_ospf3(&p->ospf3, diag);
}

/* ---- Congestion notification with a proxy --------------------------------------------------- */

static int point_error(const struct cw_port_config *p, const char *leaf, uint32_t value,
		       struct cw_diag *diag, const char *reason)
{
	char path[256], text[16];

	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/port[name='%s']/congestion-point/%s",
		       p->name, leaf);
	(void)snprintf(text, sizeof(text), "%u", value);
	return cw_diag_set(diag, CW_E_CONFLICT, path, text, "%s", reason);
}

static int check_nrp_rules(const struct cw_port_config *p, struct cw_diag *diag)
{
	static const struct {
		const char *name;
		uint32_t min, max;
		const char *why;
	} kinds[] = {
		[CW_NRP_ANY] = {"any", 0, 0, "is 0 where every packet fits"},
		[CW_NRP_VLAN] = {"vlan", 1, 4094, "value out of range 1..4094"},
		[CW_NRP_DSCP] = {"dscp", 0, 63, "value out of range 0..63"},
		[CW_NRP_NPI] = {"npi", 1, CW_NPI_ID_MASK, "value out of range 1..16777215"},
	};
	const struct cw_nrp_rule *r;
	char leaf[96];
	unsigned i;

	for (i = 0; i < p->point.nnrp; i++) {
		r = &p->point.nrp[i];
		if (r->value >= kinds[r->match].min && r->value <= kinds[r->match].max)
			continue;
		(void)snprintf(leaf, sizeof(leaf), "message/nrp-rule[match='%s'][value='%u']/value",
			       kinds[r->match].name, r->value);
		return point_error(p, leaf, r->value, diag, kinds[r->match].why);
	}
	return CW_OK;
}

static int check_point(const struct cw_port_config *p, struct cw_diag *diag)
{
	const struct cw_point_settings *s = &p->point.s;

	if (!p->congestion_point)
		return CW_OK;
	if (p->point.ecn && s->ecn_min > s->ecn_max)
		return point_error(p, "ecn/min", s->ecn_min, diag, "is above ecn/max");
	if (s->detect_depth > s->limit)
		return point_error(p, "detection/depth", s->detect_depth, diag,
				   "is above the queue's buffer");
	return check_nrp_rules(p, diag);
}

static int fast_cnp_error(struct cw_diag *diag, const char *leaf, const char *value,
			  const char *reason)
{
	char path[256];

	(void)snprintf(path, sizeof(path), CW_CONFIG_ROOT "/fast-cnp/%s", leaf);
	return cw_diag_set(diag, CW_E_CONFLICT, path, value, "%s", reason);
}

/* NULL if a flow's end may have this address. */
static const char *not_unicast_gid(const struct cw_gid *g)
{
	bool v4 = cw_gid_is_v4(g);
	struct cw_ip_addr a = {.version = v4 ? 4 : 6};

	memcpy(a.a, g->o + (v4 ? 12 : 0), v4 ? 4 : 16);
	return cw_config_not_unicast(&a);
}

/* A notification must not be a message. */
static int check_cn_port(const struct cw_config *c, const char *leaf, uint16_t port,
			 struct cw_diag *diag)
{
	const struct cw_relay_settings *r = &c->fast_cnp.relay;
	char text[16];

	if (port != r->roce_port && port != r->ub_port && port != r->uec_port)
		return CW_OK;
	(void)snprintf(text, sizeof(text), "%u", port);
	return fast_cnp_error(diag, leaf, text, "is the port of a transport");
}

static int check_proxy(const struct cw_config *c, struct cw_diag *diag)
{
	const struct cw_fast_cnp_config *f = &c->fast_cnp;
	char text[16], leaf[64];
	unsigned i;
	int err;

	if (f->relay.port1 == f->relay.port2) {
		(void)snprintf(text, sizeof(text), "%u", f->relay.port2);
		return fast_cnp_error(diag, "udp/option-2", text,
				      "is the port of option 1 too: they could not be told apart");
	}
	if ((err = check_cn_port(c, "udp/option-1", f->relay.port1, diag)) != CW_OK ||
	    (err = check_cn_port(c, "udp/option-2", f->relay.port2, diag)) != CW_OK)
		return err;
	if (f->relay.enabled && f->interfaces == 0)
		return fast_cnp_error(diag, "proxy/enabled", "true",
				      "no interface is listed that messages are taken from");
	for (i = 0; i < c->nports && i < 64; i++) {
		if ((f->interfaces >> i & 1) == 0 || c->ports[i].kind == CW_PORT_ETHERNET)
			continue;
		(void)snprintf(leaf, sizeof(leaf), "proxy/interface[.='%s']", c->ports[i].name);
		return fast_cnp_error(diag, leaf, c->ports[i].name, "is a UB port");
	}
	return CW_OK;
}

static int check_vpn(const struct cw_config *c, const struct cw_vpn_config *v, struct cw_diag *diag)
{
	char leaf[64], text[INET6_ADDRSTRLEN];
	const char *why;

	if (c->ports[v->port].kind != CW_PORT_ETHERNET) {
		(void)snprintf(leaf, sizeof(leaf), "vpn[id='%u']/port", v->id);
		return fast_cnp_error(diag, leaf, c->ports[v->port].name, "is a UB port");
	}
	if (v->next_hop.version == 0)
		return CW_OK;
	cw_config_ip_text(&v->next_hop, text, sizeof(text));
	(void)snprintf(leaf, sizeof(leaf), "vpn[id='%u']/next-hop", v->id);
	if ((why = cw_config_not_unicast(&v->next_hop)) != NULL)
		return fast_cnp_error(diag, leaf, text, why);
	if (cw_config_owner(c, &v->next_hop, c->nports, 0) != NULL)
		return fast_cnp_error(diag, leaf, text, "is an address of the gateway itself");
	return CW_OK;
}

static void gid_text(const struct cw_gid *g, char *buf, size_t size)
{
	bool v4 = cw_gid_is_v4(g);

	if (inet_ntop(v4 ? AF_INET : AF_INET6, g->o + (v4 ? 12 : 0), buf, (socklen_t)size) == NULL)
		(void)snprintf(buf, size, "?");
}

static int check_qp_static(const struct cw_qp_static *s, struct cw_diag *diag)
{
	char leaf[192], sender[INET6_ADDRSTRLEN], receiver[INET6_ADDRSTRLEN];
	const char *why = not_unicast_gid(&s->sender);
	bool bad_sender = why != NULL;

	if (why == NULL)
		why = not_unicast_gid(&s->receiver);
	if (why == NULL && cw_gid_is_v4(&s->sender) != cw_gid_is_v4(&s->receiver))
		why = "is not of the sender's address family";
	if (why == NULL && cw_gid_equal(&s->sender, &s->receiver))
		why = "is the sender itself";
	if (why == NULL)
		return CW_OK;
	gid_text(&s->sender, sender, sizeof(sender));
	gid_text(&s->receiver, receiver, sizeof(receiver));
	(void)snprintf(leaf, sizeof(leaf),
		       "qpmap/static[sender='%s'][receiver='%s'][destination-qp='%u']/%s", sender,
		       receiver, s->dqpn, bad_sender ? "sender" : "receiver");
	return fast_cnp_error(diag, leaf, bad_sender ? sender : receiver, why);
}

int cw_config_check_fast_cnp(const struct cw_config *c, struct cw_diag *diag)
{
	const struct cw_fast_cnp_config *f = &c->fast_cnp;
	unsigned i;
	int err;

	for (i = 0; i < c->nports; i++) {
		if ((err = check_point(&c->ports[i], diag)) != CW_OK)
			return err;
	}
	if ((err = check_proxy(c, diag)) != CW_OK)
		return err;
	for (i = 0; i < f->nvpns; i++) {
		if ((err = check_vpn(c, &f->vpns[i], diag)) != CW_OK)
			return err;
	}
	for (i = 0; i < f->nstatics; i++) {
		if ((err = check_qp_static(&f->statics[i], diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}
