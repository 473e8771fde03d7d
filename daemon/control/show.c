/* show.c - providers of the control socket, and the metrics. See show.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_mempool.h>
#include "daemon/control/capture.h"
#include "daemon/control/cn.h"
#include "daemon/control/congestion.h"
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/control/icmp.h"
#include "daemon/control/local.h"
#include "daemon/control/nexthop.h"
#include "daemon/control/plane.h"
#include "daemon/control/show.h"
#include "daemon/graph/hold.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/log.h"
#include "daemon/peers/peers.h"

static const char *config_file;
static int log_level_fixed = -1;
static uint64_t (*go_on)(void);

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *num(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static void text_mac(char out[18], const uint8_t *m)
{
	snprintf(out, 18, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void text_ip(char out[INET6_ADDRSTRLEN], uint8_t version, const uint8_t *a)
{
	inet_ntop(version == 4 ? AF_INET : AF_INET6, a, out, INET6_ADDRSTRLEN);
}

static void set_num(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, num(v));
}

static void set_text(json_t *o, const char *key, const char *v)
{
	json_object_set_new(o, key, json_string(v));
}

static json_t *drops_json(const struct cw_port_counters *c)
{
	json_t *o = json_object();
	unsigned i;

	for (i = 1; i < CW_DROP_COUNT; i++) {
		if (c->drops[i] != 0)
			set_num(o, cw_drop_name((enum cw_drop)i), c->drops[i]);
	}
	return o;
}

static json_t *notes_json(const struct cw_port_counters *c)
{
	json_t *o = json_object();
	unsigned i;

	for (i = 0; i < CW_NOTE_COUNT; i++) {
		if (c->notes[i] != 0)
			set_num(o, cw_note_name((enum cw_note)i), c->notes[i]);
	}
	return o;
}

static void set_traffic(json_t *o, const struct cw_port_counters *c)
{
	set_num(o, "rx_packets", c->rx_packets);
	set_num(o, "rx_octets", c->rx_octets);
	set_num(o, "tx_packets", c->tx_packets);
	set_num(o, "tx_octets", c->tx_octets);
	set_num(o, "local", c->local);
	set_num(o, "originated", c->originated);
	set_num(o, "held", c->held);
	set_num(o, "icmp_errors", c->icmp_errors);
	set_num(o, "icmp_limited", c->icmp_limited);
	set_num(o, "dropped", cw_count_total(c->drops, CW_DROP_COUNT));
}

static const char *port_name(unsigned slot)
{
	const struct cw_plane_port *pp = &cw_plane_now()->port[slot];

	return pp->dev != NULL ? pp->conf->name : "closed";
}

/* The slots that a request is about: all in order, or that of its member "port". */
static bool asked_ports(const json_t *request, unsigned slot[CW_MAX_PORTS], unsigned *n,
			struct cw_diag *diag)
{
	const json_t *v = json_object_get(request, "port");
	const char *name = json_string_value(v);
	unsigned i;

	*n = cw_ports_in_order(cw_plane_now(), slot);
	if (v == NULL)
		return true;
	for (i = 0; name != NULL && i < *n; i++) {
		if (strcmp(port_name(slot[i]), name) == 0) {
			slot[0] = slot[i];
			*n = 1;
			return true;
		}
	}
	cw_diag_set(diag, CW_E_NAME, "port", name, "there is no such port");
	return false;
}

/* Is this row, of a port by its slot, asked for? */
static bool is_asked(const json_t *request, const char *port)
{
	const char *name = json_string_value(json_object_get(request, "port"));

	return name == NULL || strcmp(name, port) == 0;
}

static json_t *show_counters(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned slot[CW_MAX_PORTS], i, n;
	json_t *all, *o;
	struct cw_port_counters c;

	if (!asked_ports(request, slot, &n, diag))
		return NULL;
	all = json_array();
	for (i = 0; i < n; i++) {
		cw_count_port(slot[i], &c);
		o = json_object();
		set_text(o, "port", p->port[slot[i]].conf->name);
		set_traffic(o, &c);
		json_object_set_new(o, "drops", drops_json(&c));
		json_object_set_new(o, "notes", notes_json(&c));
		json_array_append_new(all, o);
	}
	return json_pack("{s:o}", "ports", all);
}

static json_t *port_json(const struct cw_plane_port *pp)
{
	static const char *const kinds[] = {
		[CW_PORT_UB] = "ub", [CW_PORT_ETHERNET] = "ethernet", [CW_PORT_IPOIB] = "ipoib"};
	const struct cw_port_ops *ops = pp->dev->ops;
	struct cw_port_about about = {0};
	struct cw_port_stats s;
	json_t *o = json_object();
	char mac[18];

	if (ops->about != NULL)
		ops->about(pp->dev, &about);
	text_mac(mac, pp->dev->mac);
	set_text(o, "name", pp->conf->name);
	set_text(o, "kind", kinds[pp->conf->kind]);
	set_text(o, "device", pp->dev->device);
	json_object_set_new(o, "driver",
			    about.driver != NULL ? json_string(about.driver) : json_null());
	set_text(o, "mac", mac);
	set_num(o, "mtu", pp->mtu);
	set_num(o, "slot", pp->dev->slot);
	set_num(o, "rx_queues", pp->dev->nrxq);
	json_object_set_new(o, "link", json_string(ops->link_up(pp->dev) ? "up" : "down"));
	json_object_set_new(o, "mbit_per_second",
			    about.speed_mbps > 0 ? num(about.speed_mbps) : json_null());
	json_object_set_new(o, "promiscuous", json_boolean(pp->dev->promisc));
	json_object_set_new(o, "vlan_strip", json_boolean(pp->dev->vlan_strip));
	ops->stats(pp->dev, &s);
	set_num(o, "rx_missed", s.rx_missed);
	set_num(o, "rx_truncated", s.rx_truncated);
	set_num(o, "rx_no_buffer", s.rx_nobuf);
	set_num(o, "tx_errors", s.tx_errors);
	return o;
}

static json_t *show_ports(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned slot[CW_MAX_PORTS], i, n;
	json_t *all;

	if (!asked_ports(request, slot, &n, diag))
		return NULL;
	all = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(all, port_json(&p->port[slot[i]]));
	return json_pack("{s:o}", "ports", all);
}

/* Every reason with its text, summed over ports. */
static json_t *show_drops(void *arg, const json_t *request, struct cw_diag *diag)
{
	unsigned slot[CW_MAX_PORTS], i, r, n;
	uint64_t sum[CW_DROP_COUNT] = {0};
	struct cw_port_counters c;
	json_t *all;

	if (!asked_ports(request, slot, &n, diag))
		return NULL;
	all = json_array();
	for (i = 0; i < n; i++) {
		cw_count_port(slot[i], &c);
		for (r = 1; r < CW_DROP_COUNT; r++)
			sum[r] += c.drops[r];
	}
	for (r = 1; r < CW_DROP_COUNT; r++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "reason",
						     cw_drop_name((enum cw_drop)r), "text",
						     cw_drop_text((enum cw_drop)r), "packets",
						     num(sum[r])));
	return json_pack("{s:o}", "drops", all);
}

static uint64_t held_for(const struct cw_neigh_key *key)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++)
		n += cw_hold_count(cw_dp.worker[i], key);
	return n;
}

static json_t *show_neighbours(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t now = cw_now_ms();
	char ip[INET6_ADDRSTRLEN], mac[18];
	unsigned slot[CW_MAX_PORTS], n;
	struct cw_neigh_info e;
	json_t *all, *o;
	uint32_t at;

	if (!asked_ports(request, slot, &n, diag))
		return NULL;
	all = json_array();
	for (at = 0; cw_neigh_walk(cw_nexthop_table(), &at, &e);) {
		if (!is_asked(request, port_name(e.key.port)))
			continue;
		text_ip(ip, e.key.version, e.key.addr);
		text_mac(mac, e.mac);
		o = json_object();
		set_text(o, "port", port_name(e.key.port));
		if (e.key.vid == CW_NEIGH_ANY_VLAN)
			set_text(o, "vlan", "any");
		else
			set_num(o, "vlan", e.key.vid);
		set_text(o, "ip", ip);
		json_object_set_new(o, "mac",
				    cw_neigh_usable(e.state) ? json_string(mac) : json_null());
		set_text(o, "state", cw_neigh_state_name(e.state));
		set_num(o, "held", held_for(&e.key));
		set_num(o, "age_ms", now - e.since_ms);
		json_array_append_new(all, o);
	}
	return json_pack("{s:o}", "neighbours", all);
}

static json_t *route_json(const struct cw_plane *p, unsigned i)
{
	static const char *const kinds[] = {"static", "resolved", "on-link", "local"};
	const struct cw_ip_addr *prefix = &p->fib->prefix[i];
	const struct cw_hop *h = &p->hops[p->fib->hop[i]];
	char ip[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 5], mac[18];
	json_t *o = json_object();

	text_ip(ip, prefix->version, prefix->a);
	snprintf(text, sizeof(text), "%s/%u", ip, prefix->plen);
	set_text(o, "prefix", text);
	set_text(o, "port", p->port[h->slot].conf->name);
	set_text(o, "kind", kinds[h->kind]);
	if (h->kind == CW_HOP_VIA) {
		text_ip(ip, h->via.version, h->via.a);
		set_text(o, "next_hop", ip);
	}
	if (h->kind == CW_HOP_STATIC) {
		text_mac(mac, h->hop.dst);
		set_text(o, "mac", mac);
	}
	return o;
}

/* Is the route around `to`, an address, or within it, a prefix? Version 0 is all. */
static bool leads_to(const struct cw_ip_addr *route, const struct cw_prefix *to, bool is_address)
{
	struct cw_ip_addr within = {.version = to->version, .plen = to->plen};

	if (to->version == 0)
		return true;
	if (is_address)
		return cw_config_covers(route, to->version, to->addr);
	memcpy(within.a, to->addr, sizeof(within.a));
	return route->plen >= to->plen && cw_config_covers(&within, route->version, route->a);
}

/* With `to` an address the one route that its packets take; of equal prefixes the last counts. */
static json_t *routes_json(const struct cw_plane *p, const json_t *request,
			   const struct cw_prefix *to)
{
	bool is_address = to->version != 0 && to->plen == (to->version == 4 ? 32 : 128);
	const struct cw_ip_addr *prefix = p->fib->prefix;
	unsigned i, n = p->fib->nprefix, best = n;
	json_t *all = json_array();

	for (i = 0; i < n; i++) {
		if (!leads_to(&prefix[i], to, is_address) ||
		    !is_asked(request, port_name(p->hops[p->fib->hop[i]].slot)))
			continue;
		if (!is_address)
			json_array_append_new(all, route_json(p, i));
		else if (best == n || prefix[i].plen >= prefix[best].plen)
			best = i;
	}
	if (best < n)
		json_array_append_new(all, route_json(p, best));
	return all;
}

static json_t *show_routes(void *arg, const json_t *request, struct cw_diag *diag)
{
	const json_t *v = json_object_get(request, "to");
	const char *text = json_string_value(v);
	unsigned slot[CW_MAX_PORTS], n;
	struct cw_prefix to = {0};

	if (v != NULL && (text == NULL || cw_prefix_parse(text, &to) != CW_OK)) {
		cw_diag_set(diag, CW_E_RANGE, "to", text, "not an address or a prefix");
		return NULL;
	}
	if (!asked_ports(request, slot, &n, diag))
		return NULL;
	return json_pack("{s:o}", "routes", routes_json(cw_plane_now(), request, &to));
}

static json_t *show_workers(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_plane *p = cw_plane_now();
	const struct cw_worker *w;
	json_t *all = json_array(), *o;
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++) {
		w = cw_dp.worker[i];
		o = json_object();
		set_num(o, "worker", i);
		set_num(o, "queues", p->nrx[i]);
		set_num(o, "walks", cw_count_peek(&w->walks));
		set_num(o, "busy_walks", cw_count_peek(&w->busy_walks));
		set_num(o, "sleeps", cw_count_peek(&w->sleeps));
		json_array_append_new(all, o);
	}
	return json_pack("{s:o}", "workers", all);
}

static json_t *show_config(void *arg, const json_t *request, struct cw_diag *diag)
{
	json_error_t e;
	json_t *o = json_loads(cw_config_json(cw_plane_now()->conf), 0, &e);

	if (o == NULL)
		cw_diag_set(diag, CW_E_NOMEM, "", NULL, "%s", e.text);
	return o;
}

static uint64_t started_ms;

void cw_show_start(const char *file, int log_level, uint64_t (*meanwhile)(void))
{
	log_level_fixed = log_level;
	config_file = file;
	go_on = meanwhile;
	started_ms = cw_now_ms();
}

/* Packet buffers. */
static json_t *show_memory(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct rte_mempool *pool = cw_io.pool;
	json_t *o = json_object();

	set_num(o, "buffers", pool->size);
	set_num(o, "in_use", rte_mempool_in_use_count(pool));
	set_num(o, "free", rte_mempool_avail_count(pool));
	set_num(o, "buffer_octets", pool->elt_size);
	set_num(o, "pool_octets", (uint64_t)pool->size * pool->elt_size);
	return o;
}

static json_t *nexthop_json(void)
{
	const struct cw_local_stats *s = &cw_local_stats;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "arp_requests_in",
			 num(s->arp_requests_in), "arp_replies_in", num(s->arp_replies_in),
			 "arp_requests_out", num(s->arp_requests_out), "arp_replies_out",
			 num(s->arp_replies_out), "ns_in", num(s->ns_in), "na_in", num(s->na_in),
			 "ns_out", num(s->ns_out), "na_out", num(s->na_out), "echo_replies",
			 num(s->echo_replies), "malformed", num(s->malformed));
}

static json_t *icmp_json(void)
{
	const struct cw_icmp_stats *s = &cw_icmp_stats;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_exceeded", num(s->time_exceeded),
			 "too_big", num(s->too_big), "unreachable", num(s->unreachable),
			 "forbidden", num(s->forbidden), "no_source", num(s->no_source));
}

static json_t *show_summary(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_plane *p = cw_plane_now();
	struct cw_capture_info cap = cw_capture_info();
	struct cw_port_counters all, c;
	json_t *o = json_object();
	unsigned i;

	memset(&all, 0, sizeof(all));
	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev == NULL)
			continue;
		cw_count_port(i, &c);
		cw_count_add(&all, &c);
	}
	set_text(o, "version", CW_VERSION);
	set_num(o, "pid", (uint64_t)getpid());
	set_num(o, "uptime_ms", cw_now_ms() - started_ms);
	set_num(o, "generation", p->generation);
	set_num(o, "ports", p->conf->nports);
	set_num(o, "routes", p->conf->nroutes);
	set_num(o, "workers", cw_dp.nworkers);
	set_traffic(o, &all);
	json_object_set_new(o, "drops", drops_json(&all));
	json_object_set_new(o, "notes", notes_json(&all));
	json_object_set_new(o, "next_hops", nexthop_json());
	json_object_set_new(o, "icmp", icmp_json());
	json_object_set_new(o, "drop_capture",
			    json_pack("{s:s, s:o, s:o}", "file", cap.file, "packets",
				      num(cap.packets), "lost", num(cap.lost)));
	set_text(o, "log_level", cw_log_level_name(cw_log_get_level()));
	return o;
}

/* ---- Commands -------------------------------------------------------------------------------- */

struct load {
	const json_t *request;
	struct cw_config *conf;
	struct cw_diag *diag;
	int err;
};

static void *load_thread(void *arg)
{
	struct load *l = arg;

	l->err = cw_control_config(&l->conf, l->request, config_file, l->diag);
	return NULL;
}

/* 100,000 routes take seconds: a thread reads them, and nobody's ARP request waits. */
int cw_show_load(struct cw_config **out, const json_t *request, struct cw_diag *diag)
{
	struct load l = {.request = request, .diag = diag};
	struct timespec until;
	pthread_t thread;

	if (pthread_create(&thread, NULL, load_thread, &l) != 0)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "no thread to read it");
	do {
		(void)go_on();
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
	if (l.err == CW_OK)
		*out = l.conf;
	return l.err;
}

/* Whatever can fail comes before anything is changed. */
int cw_reload(struct cw_config *conf, struct cw_diag *diag)
{
	struct cw_capture_file file;
	struct cw_ibd_next *ipoib;
	int err;

	if ((err = cw_capture_open(&file, conf->drop_capture, diag)) < 0)
		return err;
	if ((err = cw_ibd_prepare(&ipoib, conf, diag)) < 0) {
		cw_capture_abandon(&file);
		return err;
	}
	if ((err = cw_plane_apply(conf, diag)) < 0) {
		cw_ibd_abandon(ipoib);
		cw_capture_abandon(&file);
		return err;
	}
	cw_ibd_commit(ipoib);
	cw_capture_use(&file);
	cw_log_set_level((enum cw_log_level)(
		log_level_fixed >= 0 ? log_level_fixed : cw_log_level_parse(conf->log_level)));
	if (cw_peers_apply(&conf->pnc, cw_now_ms()) < 0)
		cw_log(CW_LOG_ERROR, "no memory for the table of proxies");
	return CW_OK;
}

void cw_reload_refused(const struct cw_diag *diag)
{
	char text[600];

	cw_log(CW_LOG_ERROR, "reload refused, nothing has changed: %s",
	       cw_config_diag_text(diag, text, sizeof(text)));
}

static json_t *run_reload(void *arg, const json_t *request, struct cw_diag *diag)
{
	struct cw_config *conf = NULL;

	if (cw_show_load(&conf, request, diag) < 0 || cw_reload(conf, diag) < 0) {
		cw_reload_refused(diag);
		cw_config_free(conf);
		return NULL;
	}
	return json_pack("{s:o}", "generation", num(cw_plane_now()->generation));
}

static json_t *run_capture(void *arg, const json_t *request, struct cw_diag *diag)
{
	const json_t *given = json_object_get(request, "file");
	const char *file = json_string_value(given);
	struct cw_capture_file f;
	struct cw_capture_info cap;

	if (given != NULL && !json_is_null(given) && (file == NULL || file[0] != '/')) {
		cw_diag_set(diag, CW_E_ARG, "file", file, "not an absolute path");
		return NULL;
	}
	if (file != NULL && strlen(file) >= sizeof(f.name)) {
		cw_diag_set(diag, CW_E_RANGE, "file", file, "longer than %zu octets",
			    sizeof(f.name) - 1);
		return NULL;
	}
	if (cw_capture_open(&f, file != NULL ? file : "", diag) < 0)
		return NULL;
	cw_capture_use(&f);
	cap = cw_capture_info();
	return json_pack("{s:s}", "file", cap.file);
}

static json_t *run_log_level(void *arg, const json_t *request, struct cw_diag *diag)
{
	const char *level = json_string_value(json_object_get(request, "level"));
	int l = level != NULL ? cw_log_level_parse(level) : -1;

	if (l < 0) {
		cw_diag_set(diag, CW_E_NAME, "level", level,
			    "must be error, warning, notice, info or debug");
		return NULL;
	}
	cw_log_set_level((enum cw_log_level)l);
	return json_pack("{s:s}", "level", level);
}

const struct cw_control_provider cw_show_providers[] = {
	{"show", "summary", "totals, version, generation of the configuration", show_summary, NULL},
	{"show", "ports", "devices, addresses, link, losses in the device", show_ports, NULL},
	{"show", "counters", "packets, drops and events of each port", show_counters, NULL},
	{"show", "drops", "every reason with its text and count", show_drops, NULL},
	{"show", "neighbours", "next hops: static, ARP, neighbour discovery", show_neighbours,
	 NULL},
	{"show", "routes", "prefixes and where they lead", show_routes, NULL},
	{"show", "workers", "walks and sleeps of each worker", show_workers, NULL},
	{"show", "memory", "packet buffers", show_memory, NULL},
	{"show", "proxies", "which proxy stands in front of which senders", cw_peers_show,
	 (void *)cw_now_ms},
	{"show", "proxy-sources", "who tells of proxies, and counters of each",
	 cw_peers_show_sources, (void *)cw_now_ms},
	{"show", "ipoib-links", "IPoIB links and their parameters", cw_ibd_show_links, NULL},
	{"show", "ipoib-groups", "multicast groups of IPoIB links", cw_ibd_show_groups, NULL},
	{"show", "ipoib-neighbours", "neighbours on IPoIB links", cw_ibd_show_neighbours, NULL},
	{"show", "ipoib-addresses", "own addresses on IPoIB links", cw_ibd_show_addresses, NULL},
	{"show", "ipoib-paths", "paths that the subnet administration told", cw_ibd_show_paths,
	 NULL},
	{"show", "ipoib-counters", "what IPoIB ports and hcas count", cw_ibd_show_counters, NULL},
	{"show", "hcas", "carriers of IPoIB links", cw_ibd_show_hcas, NULL},
	{"show", "congestion", "shaped queues, and messages to proxies", cw_congestion_show, NULL},
	{"show", "bmp", "routers that bring their BGP routes by BMP", cw_peers_show_bmp,
	 (void *)cw_now_ms},
	{"show", "isis", "adjacency, counters and database of the IS-IS leaf", cw_peers_show_isis,
	 (void *)cw_now_ms},
	{"show", "ospf3", "adjacency, counters and database of the OSPFv3 leaf",
	 cw_peers_show_ospf3, (void *)cw_now_ms},
	{"show", "notifications", "what became of messages, and what was learned", cw_cn_show,
	 NULL},
	{"show", "qpmap", "queue pairs, and how each was learned", cw_cn_show_map, NULL},
	{"qpmap-add", NULL, "enter a static pair", cw_cn_add, NULL},
	{"qpmap-remove", NULL, "remove a pair", cw_cn_remove, NULL},
	{"show", "config", "the effective configuration", show_config, NULL},
	{"reload", NULL, "use a new configuration, losing no packet", run_reload, NULL},
	{"bgp-helper", NULL, "conversation with `causeway bgp-helper`", cw_peers_bgp,
	 (void *)cw_now_ms},
	{"capture-drops", NULL, "write dropped packets to \"file\"; without it: stop", run_capture,
	 NULL},
	{"log-level", NULL, "set \"level\"", run_log_level, NULL},
};
const unsigned cw_show_nproviders = sizeof(cw_show_providers) / sizeof(cw_show_providers[0]);

/* ---- Metrics --------------------------------------------------------------------------------- */

typedef uint64_t pick_fn(const struct cw_port_counters *c);
#define PICK(field)                                                    \
	static uint64_t pick_##field(const struct cw_port_counters *c) \
	{                                                              \
		return c->field;                                       \
	}
PICK(rx_packets)
PICK(rx_octets)
PICK(tx_packets)
PICK(tx_octets)
PICK(local)
PICK(originated)
PICK(held)
PICK(icmp_errors)
PICK(icmp_limited)

static const struct {
	const char *name, *type, *help;
	pick_fn *pick;
} traffic[] = {
	{"causeway_port_rx_packets_total", "counter", "Packets received.", pick_rx_packets},
	{"causeway_port_rx_bytes_total", "counter", "Octets received.", pick_rx_octets},
	{"causeway_port_tx_packets_total", "counter", "Packets sent.", pick_tx_packets},
	{"causeway_port_tx_bytes_total", "counter", "Octets sent.", pick_tx_octets},
	{"causeway_port_local_packets_total", "counter", "Packets for the gateway itself.",
	 pick_local},
	{"causeway_port_originated_packets_total", "counter", "Packets of the gateway's own.",
	 pick_originated},
	{"causeway_port_icmp_errors_total", "counter",
	 "ICMP errors sent about packets that came by this port.", pick_icmp_errors},
	{"causeway_port_icmp_limited_total", "counter",
	 "ICMP errors not sent because of the rate limit.", pick_icmp_limited},
	{"causeway_port_held_packets", "gauge", "Packets that wait for a next hop.", pick_held},
};

struct all_ports {
	const struct cw_plane *plane;
	unsigned slot[CW_MAX_PORTS], n;
	struct cw_port_counters c[CW_MAX_PORTS];
};

static void traffic_metrics(const struct all_ports *a, struct cw_metrics_text *t)
{
	struct cw_label l = {"port", NULL};
	unsigned i, k;

	for (k = 0; k < sizeof(traffic) / sizeof(traffic[0]); k++) {
		cw_metrics_family(t, traffic[k].name, traffic[k].type, traffic[k].help);
		for (i = 0; i < a->n; i++) {
			l.value = a->plane->port[a->slot[i]].conf->name;
			cw_metrics_sample(t, &l, 1, traffic[k].pick(&a->c[i]));
		}
	}
}

static void reason_metrics(const struct all_ports *a, struct cw_metrics_text *t)
{
	struct cw_label l[2] = {{"port", NULL}, {"reason", NULL}};
	unsigned i, k;

	cw_metrics_family(t, "causeway_port_dropped_packets_total", "counter",
			  "Packets refused, by reason.");
	for (i = 0; i < a->n; i++) {
		l[0].value = a->plane->port[a->slot[i]].conf->name;
		for (k = 1; k < CW_DROP_COUNT; k++) {
			l[1].value = cw_drop_name((enum cw_drop)k);
			cw_metrics_sample(t, l, 2, a->c[i].drops[k]);
		}
	}
	cw_metrics_family(t, "causeway_port_events_total", "counter",
			  "Packets that went on with an event worth counting.");
	l[1].name = "event";
	for (i = 0; i < a->n; i++) {
		l[0].value = a->plane->port[a->slot[i]].conf->name;
		for (k = 0; k < CW_NOTE_COUNT; k++) {
			l[1].value = cw_note_name((enum cw_note)k);
			cw_metrics_sample(t, l, 2, a->c[i].notes[k]);
		}
	}
}

static void device_metrics(const struct all_ports *a, struct cw_metrics_text *t)
{
	struct cw_port_stats s[CW_MAX_PORTS];
	struct cw_label l = {"port", NULL};
	const struct cw_port *dev;
	unsigned i;

	cw_metrics_family(t, "causeway_port_up", "gauge", "1 when the link is up.");
	for (i = 0; i < a->n; i++) {
		dev = a->plane->port[a->slot[i]].dev;
		l.value = a->plane->port[a->slot[i]].conf->name;
		cw_metrics_sample(t, &l, 1, dev->ops->link_up(dev));
		dev->ops->stats(dev, &s[i]);
	}
	cw_metrics_family(t, "causeway_port_rx_missed_total", "counter",
			  "Packets that found no room in the device's ring.");
	for (i = 0; i < a->n; i++) {
		l.value = a->plane->port[a->slot[i]].conf->name;
		cw_metrics_sample(t, &l, 1, s[i].rx_missed);
	}
}

static void process_metrics(const struct all_ports *a, struct cw_metrics_text *t)
{
	char id[12];
	struct cw_label version = {"version", CW_VERSION}, worker = {"worker", id};
	unsigned i;

	cw_metrics_family(t, "causeway_build_info", "gauge", "Version of the program.");
	cw_metrics_sample(t, &version, 1, 1);
	cw_metrics_family(t, "causeway_config_generation", "gauge",
			  "Configurations taken since the start.");
	cw_metrics_sample(t, NULL, 0, a->plane->generation);
	cw_metrics_family(t, "causeway_worker_busy_walks_total", "counter",
			  "Graph walks that found packets.");
	for (i = 0; i < cw_dp.nworkers; i++) {
		snprintf(id, sizeof(id), "%u", i);
		cw_metrics_sample(t, &worker, 1, cw_count_peek(&cw_dp.worker[i]->busy_walks));
	}
}

void cw_show_metrics(void *arg, struct cw_metrics_text *t)
{
	static struct all_ports a; /* control thread only; too large for the stack */
	unsigned i;

	a.plane = cw_plane_now();
	a.n = cw_ports_in_order(a.plane, a.slot);
	for (i = 0; i < a.n; i++)
		cw_count_port(a.slot[i], &a.c[i]);
	traffic_metrics(&a, t);
	reason_metrics(&a, t);
	device_metrics(&a, t);
	cw_ibd_metrics(t);
	cw_congestion_metrics(t);
	cw_peers_metrics(t);
	cw_cn_metrics(t);
	process_metrics(&a, t);
}

void cw_show_log_totals(void)
{
	const struct cw_plane *p = cw_plane_now();
	struct cw_port_counters c;
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev == NULL)
			continue;
		cw_count_port(i, &c);
		cw_log(CW_LOG_INFO, "port %s: %lu in, %lu out, %lu local, %lu dropped",
		       p->port[i].conf->name, (unsigned long)c.rx_packets,
		       (unsigned long)c.tx_packets, (unsigned long)c.local,
		       (unsigned long)cw_count_total(c.drops, CW_DROP_COUNT));
	}
}
