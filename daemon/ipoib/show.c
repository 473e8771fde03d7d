/* show.c - what IPoIB knows: links, groups, neighbours, paths, hcas; metrics. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include "daemon/ipoib/ipoib.h"
#include "daemon/ipoib/service.h"

/* ---- Text ---------------------------------------------------------------------------------- */

static json_t *hex(uint64_t v, int digits)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, v);
	return json_string(text);
}

static json_t *num(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *ip_text(bool v6, const uint8_t *a)
{
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(v6 ? AF_INET6 : AF_INET, a, text, sizeof(text));
	return json_string(text);
}

/* As iproute2 writes them: 80:00:00:48:fe:80:... */
static json_t *lla_text(const uint8_t lla[CW_IPOIB_LLA])
{
	char text[3 * CW_IPOIB_LLA + 1];
	unsigned i;

	for (i = 0; i < CW_IPOIB_LLA; i++)
		(void)snprintf(text + (size_t)3 * i, 4, "%02x:", lla[i]);
	text[3 * CW_IPOIB_LLA - 1] = '\0';
	return json_string(text);
}

static json_t *join_state(uint8_t bits)
{
	static const char *const names[] = {"full", "non", "send-only-non", "send-only-full"};
	char text[64] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; i < 4; i++) {
		if (bits & 1u << i)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n > 0 ? "+" : "",
					      names[i]);
	}
	return json_string(n > 0 ? text : "none");
}

/* ---- Rows ---------------------------------------------------------------------------------- */

typedef void rows_fn(json_t *all, const struct ipport *p);

static void link_rows(json_t *all, const struct ipport *p)
{
	uint8_t lla[CW_IPOIB_LLA];
	struct cw_ipoib_info i;
	json_t *o = json_object();

	cw_ipoib_info(p->link, &i);
	cw_ipoib_lla(lla, p->qpn, p->hca->gid);
	json_object_set_new(o, "port", json_string(p->name));
	json_object_set_new(o, "hca", json_string(p->hca->conf.name));
	json_object_set_new(o, "interface", json_string(p->conf.interface));
	json_object_set_new(o, "state", json_string(i.up ? "up" : "down"));
	json_object_set_new(o, "pkey", hex(i.pkey, 4));
	json_object_set_new(o, "qkey", hex(i.qkey, 8));
	json_object_set_new(o, "controlled", json_boolean(i.controlled));
	json_object_set_new(o, "mtu", num(i.mtu));
	json_object_set_new(o, "mlid", hex(i.mlid, 4));
	json_object_set_new(o, "sl", num(i.sl));
	json_object_set_new(o, "rate", num(i.rate));
	json_object_set_new(o, "lid", num(p->hca->conf.lid));
	json_object_set_new(o, "qpn", hex(p->qpn, 6));
	json_object_set_new(o, "groups", num(i.groups));
	json_object_set_new(o, "neighbours", num(i.neighbours));
	json_object_set_new(o, "paths", num(i.paths));
	json_object_set_new(o, "link_layer_address", lla_text(lla));
	json_array_append_new(all, o);
}

static json_t *group_ip(const uint8_t mgid[16])
{
	struct cw_ipoib_group g;
	uint8_t low[16] = {0};

	if (cw_ipoib_mgid_parse(mgid, &g) < 0)
		return json_string("-");
	if (!g.v6)
		return ip_text(false, g.v4);
	/* The upper 48 bits are not in an MGID: shown as those of link-local scope. */
	low[0] = 0xff;
	low[1] = 2;
	memcpy(low + 6, g.id, sizeof(g.id));
	return ip_text(true, low);
}

static void group_rows(json_t *all, const struct ipport *p)
{
	struct cw_ipoib_group_info g;
	uint32_t i;
	json_t *o;

	for (i = 0; cw_ipoib_group_at(p->link, i, &g); i++) {
		o = json_object();
		json_object_set_new(o, "port", json_string(p->name));
		json_object_set_new(o, "mgid", ip_text(true, g.mgid));
		json_object_set_new(o, "ip", group_ip(g.mgid));
		json_object_set_new(o, "mlid", hex(g.mlid, 4));
		json_object_set_new(o, "state",
				    json_string(g.joined   ? "joined"
						: g.absent ? "absent"
							   : "joining"));
		json_object_set_new(o, "member", join_state(g.join_state));
		json_object_set_new(o, "hosts", num(g.hosts));
		json_object_set_new(o, "held", num(g.held));
		json_array_append_new(all, o);
	}
}

static void neigh_rows(json_t *all, const struct ipport *p)
{
	struct cw_ipoib_neigh_info n;
	uint32_t i;
	json_t *o;

	for (i = 0; cw_ipoib_neigh_at(p->link, i, &n); i++) {
		o = json_object();
		json_object_set_new(o, "port", json_string(p->name));
		json_object_set_new(o, "ip", ip_text(n.v6, n.addr));
		json_object_set_new(o, "state",
				    json_string(n.reachable ? "reachable"
						: n.failed  ? "failed"
							    : "incomplete"));
		json_object_set_new(o, "held", num(n.held));
		json_object_set_new(o, "link_layer_address", lla_text(n.lla));
		json_array_append_new(all, o);
	}
}

static void own_rows(json_t *all, const struct ipport *p)
{
	static const char *const state[] = {"waiting", "tentative", "valid", "duplicate"};
	struct cw_ipoib_own_info i;
	uint32_t k;

	for (k = 0; cw_ipoib_own_at(p->link, k, &i); k++)
		json_array_append_new(all,
				      json_pack("{s:s, s:o, s:s}", "port", p->name, "ip",
						ip_text(i.v6, i.addr), "state", state[i.state]));
}

static void path_rows(json_t *all, const struct ipport *p)
{
	struct cw_ipoib_path_info i;
	uint32_t k;
	json_t *o;

	for (k = 0; cw_ipoib_path_at(p->link, k, &i); k++) {
		o = json_object();
		json_object_set_new(o, "port", json_string(p->name));
		json_object_set_new(o, "gid", ip_text(true, i.gid));
		json_object_set_new(o, "state", json_string(i.valid ? "valid" : "unknown"));
		json_object_set_new(o, "dlid", num(i.dlid));
		json_object_set_new(o, "sl", num(i.sl));
		json_array_append_new(all, o);
	}
}

/* ---- Counters ------------------------------------------------------------------------------ */

static void counter_row(json_t *all, const char *of, const char *name, uint64_t v, const char *text)
{
	json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:s}", "of", of, "counter", name,
					     "value", num(v), "text", text));
}

static void port_counters(json_t *all, const struct ipport *p)
{
	const struct cw_ipoib_counters *l = cw_ipoib_counters(p->link);

#define CW_X(c, text) counter_row(all, p->name, #c, l->c, text);
	CW_IPOIB_COUNTERS(CW_X)
#undef CW_X
#define CW_X(c, text) counter_row(all, p->name, #c, p->n.c, text);
	PORT_COUNTERS(CW_X)
#undef CW_X
}

static void hca_counter_rows(json_t *all, const struct hca *h)
{
#define CW_X(c, text) counter_row(all, h->conf.name, #c, h->n.c, text);
	HCA_COUNTERS(CW_X)
#undef CW_X
}

static void hca_rows(json_t *all, const struct hca *h)
{
	static const char *const sa[] = {"in-band", "built-in", "ibsim", "umad"};
	json_t *o = json_object();

	json_object_set_new(o, "hca", json_string(h->conf.name));
	json_object_set_new(o, "carrier", json_string(h->conf.carrier));
	json_object_set_new(o, "gid", ip_text(true, h->gid));
	json_object_set_new(o, "lid", num(h->conf.lid));
	json_object_set_new(o, "sm_lid", num(h->conf.sm_lid));
	json_object_set_new(o, "sa", json_string(sa[h->conf.sa]));
	json_object_set_new(o, "ports", num(h->nport));
	json_object_set_new(o, "rx_packets", num(h->n.rx_packets));
	json_object_set_new(o, "tx_packets", num(h->n.tx_packets));
	json_array_append_new(all, o);
}

/* ---- Providers ----------------------------------------------------------------------------- */

static json_t *rows_of_ports(const char *name, rows_fn *rows)
{
	json_t *all = json_array();
	const struct ibd_set *s = ibd_lock();
	unsigned i;

	for (i = 0; i < s->nport; i++)
		rows(all, s->port[i]);
	ibd_unlock();
	return json_pack("{s:o}", name, all);
}

json_t *cw_ibd_show_links(void *arg, const json_t *request, struct cw_diag *diag)
{
	return rows_of_ports("links", link_rows);
}

json_t *cw_ibd_show_groups(void *arg, const json_t *request, struct cw_diag *diag)
{
	return rows_of_ports("groups", group_rows);
}

json_t *cw_ibd_show_neighbours(void *arg, const json_t *request, struct cw_diag *diag)
{
	return rows_of_ports("neighbours", neigh_rows);
}

json_t *cw_ibd_show_addresses(void *arg, const json_t *request, struct cw_diag *diag)
{
	return rows_of_ports("addresses", own_rows);
}

json_t *cw_ibd_show_paths(void *arg, const json_t *request, struct cw_diag *diag)
{
	return rows_of_ports("paths", path_rows);
}

json_t *cw_ibd_show_counters(void *arg, const json_t *request, struct cw_diag *diag)
{
	json_t *all = json_array();
	const struct ibd_set *s = ibd_lock();
	unsigned i;

	for (i = 0; i < s->nhca; i++)
		hca_counter_rows(all, s->hca[i]);
	for (i = 0; i < s->nport; i++)
		port_counters(all, s->port[i]);
	ibd_unlock();
	return json_pack("{s:o}", "counters", all);
}

json_t *cw_ibd_show_hcas(void *arg, const json_t *request, struct cw_diag *diag)
{
	json_t *all = json_array();
	const struct ibd_set *s = ibd_lock();
	unsigned i;

	for (i = 0; i < s->nhca; i++)
		hca_rows(all, s->hca[i]);
	ibd_unlock();
	return json_pack("{s:o}", "hcas", all);
}

/* ---- Metrics ------------------------------------------------------------------------------- */

static void sample(struct cw_metrics_text *t, const char *label, const char *of, const char *name,
		   uint64_t v)
{
	struct cw_label l[2] = {{label, of}, {"counter", name}};

	cw_metrics_sample(t, l, 2, v);
}

static void port_metrics(struct cw_metrics_text *t, const struct ipport *p)
{
	const struct cw_ipoib_counters *l = cw_ipoib_counters(p->link);

#define CW_X(c, text) sample(t, "port", p->name, #c, l->c);
	CW_IPOIB_COUNTERS(CW_X)
#undef CW_X
#define CW_X(c, text) sample(t, "port", p->name, #c, p->n.c);
	PORT_COUNTERS(CW_X)
#undef CW_X
}

static void hca_metrics(struct cw_metrics_text *t, const struct hca *h)
{
#define CW_X(c, text) sample(t, "hca", h->conf.name, #c, h->n.c);
	HCA_COUNTERS(CW_X)
#undef CW_X
}

static void link_metrics(struct cw_metrics_text *t, const struct ibd_set *s)
{
	struct cw_ipoib_info info;
	struct cw_label l;
	unsigned i;

	cw_metrics_family(t, "causeway_ipoib_link_up", "gauge", "1 while the link exists.");
	for (i = 0; i < s->nport; i++) {
		l = (struct cw_label){"port", s->port[i]->name};
		cw_ipoib_info(s->port[i]->link, &info);
		cw_metrics_sample(t, &l, 1, info.up);
	}
}

void cw_ibd_metrics(struct cw_metrics_text *t)
{
	const struct ibd_set *s = ibd_lock();
	unsigned i;

	if (s->nport > 0) {
		link_metrics(t, s);
		cw_metrics_family(t, "causeway_ipoib_events_total", "counter",
				  "What happened on an IPoIB port: see `causeway ipoib show "
				  "counters`.");
		for (i = 0; i < s->nport; i++)
			port_metrics(t, s->port[i]);
		cw_metrics_family(t, "causeway_hca_events_total", "counter",
				  "What happened on an hca.");
		for (i = 0; i < s->nhca; i++)
			hca_metrics(t, s->hca[i]);
	}
	ibd_unlock();
}
