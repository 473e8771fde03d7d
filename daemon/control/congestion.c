/* congestion.c - congestion points, as control has them. See congestion.h. */
#include <stdlib.h>
#include <string.h>
#include "daemon/control/congestion.h"
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/log.h"
#include "daemon/peers/peers.h"

/* ---- Models -------------------------------------------------------------------------------- */

static struct cw_gid gid_of(const struct cw_ip_addr *a)
{
	return cw_gid_of(a->version, a->a);
}

/* The first address of a family that the gateway has. */
static struct cw_gid first_address(const struct cw_config *conf, unsigned version)
{
	static const struct cw_gid none;
	unsigned i, a;

	for (i = 0; i < conf->nports; i++) {
		for (a = 0; a < conf->ports[i].naddr; a++) {
			if (conf->ports[i].addr[a].version == version)
				return gid_of(&conf->ports[i].addr[a]);
		}
	}
	return none;
}

static void use_source(struct cw_gid *own, const struct cw_config *conf, unsigned version)
{
	const struct cw_addr *proxy = &conf->pnc.proxy[version == 6];

	if (!cw_gid_none(own))
		return;
	*own = proxy->version != 0 ? cw_gid_of(proxy->version, proxy->addr)
				   : first_address(conf, version);
}

static struct cw_point_settings settings_of(const struct cw_config *conf, unsigned index)
{
	const struct cw_point_config *c = &conf->ports[index].point;
	struct cw_point_settings s = c->s;

	s.port1 = conf->fast_cnp.relay.port1;
	s.port2 = conf->fast_cnp.relay.port2;
	s.roce_port = conf->fast_cnp.relay.roce_port;
	s.ub_port = conf->ub2e.udp_port;
	s.uec_port = conf->fast_cnp.relay.uec_port;
	if (!c->ecn)
		s.ecn_min = s.ecn_max = UINT32_MAX;
	use_source(&s.own4, conf, 4);
	use_source(&s.own6, conf, 6);
	return s;
}

/* The rules stand in memory of either configuration: what they say counts. */
static bool same(const struct cw_congestion *old, const struct cw_point_settings *s,
		 uint8_t overhead)
{
	struct cw_point_settings a = old->settings, b = *s;

	a.nrp = b.nrp = NULL;
	/* Padding that differs only makes the model anew. */
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	return old->overhead == overhead && memcmp(&a, &b, sizeof(a)) == 0 &&
	       (s->nnrp == 0 || memcmp(old->settings.nrp, s->nrp, s->nnrp * sizeof(*s->nrp)) == 0);
}

/* A copy of the rules that lives as long as the model. */
static int copy_rules(struct cw_congestion *c)
{
	size_t size = c->settings.nnrp * sizeof(*c->settings.nrp);
	struct cw_nrp_rule *rules;

	if (size == 0)
		return CW_OK;
	if ((rules = malloc(size)) == NULL)
		return CW_E_NOMEM;
	memcpy(rules, c->settings.nrp, size);
	c->settings.nrp = rules;
	return CW_OK;
}

int cw_congestion_get(struct cw_congestion **out, struct cw_congestion *old,
		      const struct cw_config *conf, unsigned index)
{
	struct cw_point_settings s = settings_of(conf, index);
	uint8_t overhead = conf->ports[index].point.overhead;
	struct cw_congestion *c;
	int err;

	if (old != NULL && same(old, &s, overhead)) {
		atomic_fetch_add(&old->refs, 1);
		*out = old;
		return CW_OK;
	}
	if ((c = calloc(1, sizeof(*c))) == NULL)
		return CW_E_NOMEM;
	atomic_init(&c->refs, 1);
	c->settings = s;
	c->overhead = overhead;
	if ((err = copy_rules(c)) < 0) {
		free(c);
		return err;
	}
	if ((err = cw_point_new(&c->point, &c->settings, NULL)) < 0) {
		cw_congestion_put(c);
		return err;
	}
	*out = c;
	return CW_OK;
}

void cw_congestion_put(struct cw_congestion *c)
{
	if (c == NULL || atomic_fetch_sub(&c->refs, 1) > 1)
		return;
	cw_point_free(c->point);
	if (c->settings.nnrp > 0)
		free((void *)c->settings.nrp);
	free(c);
}

/* ---- The table of proxies ------------------------------------------------------------------ */

/* A change waits so long for others, as a copy costs what the whole table does. */
enum { SETTLE_MS = 100 };

static void free_map(struct cw_proxy_map *m)
{
	if (m == NULL)
		return;
	cw_lpm_free(m->lpm);
	free(m->proxies);
	free(m);
}

static int copy_proxy(void *arg, const struct cw_proxy *p)
{
	struct cw_proxy_map *m = arg;
	struct cw_gid prefix = cw_gid_of(p->prefix.version, p->prefix.addr);

	if (!p->used)
		return 0;
	m->proxies[m->n++] = cw_gid_of(p->proxy.version, p->proxy.addr);
	return cw_lpm_add(m->lpm, &prefix, p->prefix.plen, m->n);
}

static struct cw_proxy_map *copy_table(const struct cw_proxies *t)
{
	struct cw_proxy_map *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->generation = cw_proxies_generation(t);
	m->proxies = calloc(cw_proxies_count(t) + 1u, sizeof(*m->proxies));
	if (m->proxies == NULL || cw_lpm_new(&m->lpm) < 0 ||
	    cw_proxies_walk(t, copy_proxy, m) != 0) {
		free_map(m);
		return NULL;
	}
	return m;
}

static void publish(struct cw_proxy_map *m)
{
	struct cw_proxy_map *old = atomic_exchange(&cw_dp.proxies, m);

	cw_dp_synchronize();
	free_map(old);
}

uint64_t cw_proxy_map_run(uint64_t now)
{
	const struct cw_proxy_map *have = atomic_load(&cw_dp.proxies);
	const struct cw_proxies *t = cw_peers_table();
	static uint64_t last;
	struct cw_proxy_map *m;

	if (t == NULL || !cw_plane_now()->egress ||
	    (have != NULL && have->generation == cw_proxies_generation(t)))
		return UINT64_MAX;
	if (have != NULL && now - last < SETTLE_MS)
		return last + SETTLE_MS;
	last = now;
	if ((m = copy_table(t)) == NULL)
		cw_log(CW_LOG_ERROR, "no memory for %u proxies: workers keep the old ones",
		       cw_proxies_count(t));
	else
		publish(m);
	return UINT64_MAX;
}

void cw_proxy_map_stop(void)
{
	publish(NULL);
}

/* ---- show congestion ----------------------------------------------------------------------- */

static json_t *port_json(const struct cw_plane_port *pp)
{
	const struct cw_point *point = pp->congestion->point;
	json_t *counters = json_object();
	unsigned i;

	for (i = 0; i < CW_POINT_COUNTER_COUNT; i++)
		json_object_set_new(counters, cw_point_counter_name(i),
				    json_integer((json_int_t)cw_point_counter(point, i)));
	return json_pack("{s:s, s:I, s:I, s:i, s:o}", "port", pp->conf->name, "rate",
			 (json_int_t)pp->congestion->settings.rate, "buffer",
			 (json_int_t)pp->congestion->settings.limit, "option",
			 (int)pp->congestion->settings.option, "counters", counters);
}

json_t *cw_congestion_show(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned slot[CW_MAX_PORTS], i, n = cw_ports_in_order(p, slot);
	json_t *ports = json_array();

	(void)arg;
	(void)request;
	(void)diag;
	for (i = 0; i < n; i++) {
		if (p->port[slot[i]].congestion != NULL)
			json_array_append_new(ports, port_json(&p->port[slot[i]]));
	}
	return json_pack("{s:o}", "congestion", ports);
}

void cw_congestion_metrics(struct cw_metrics_text *t)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned slot[CW_MAX_PORTS], i, c, n = cw_ports_in_order(p, slot);
	struct cw_label l[2] = {{"port", NULL}, {"event", NULL}};

	cw_metrics_family(t, "causeway_congestion_events_total", "counter",
			  "Packets through shaped queues, and messages to proxies.");
	for (i = 0; i < n; i++) {
		if (p->port[slot[i]].congestion == NULL)
			continue;
		l[0].value = p->port[slot[i]].conf->name;
		for (c = 0; c < CW_POINT_COUNTER_COUNT; c++) {
			l[1].value = cw_point_counter_name(c);
			cw_metrics_sample(t, l, 2,
					  cw_point_counter(p->port[slot[i]].congestion->point, c));
		}
	}
}
