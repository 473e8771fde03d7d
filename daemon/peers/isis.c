/* isis.c - the IS-IS leaf of the library on a Linux interface: announces the proxy and its senders,
 * learns others.
 * Spec: Fast CNP proxy 5.1; causeway/isis.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/isis.h"
#include "daemon/control/hasher.h"
#include "daemon/peers/isis_link.h"
#include "daemon/peers/leaf.h"

enum {
	FRAMES = 256,   /* read in one go */
	STOP_MS = 1000, /* the machine itself takes half of it */
	FRAME_ROOM = 9300
};

static struct {
	struct cw_leaf leaf;
	struct cw_isis *m;
	struct cw_isis_link link;
	struct cw_pnc_isis conf; /* in use */
} o;

/* ---- Out and in ---------------------------------------------------------------------------- */

static void output(struct cw_leaf *l, uint64_t now)
{
	uint8_t pdu[CW_ISIS_PDU_MAX];
	size_t n;

	(void)l;
	while ((n = cw_isis_pull(o.m, pdu, sizeof(pdu), now)) > 0)
		cw_isis_link_send(&o.link, pdu, n);
}

static void input(struct cw_leaf *l, uint64_t now)
{
	uint8_t frame[FRAME_ROOM];
	const uint8_t *pdu;
	unsigned i;
	size_t n;

	(void)l;
	for (i = 0; i < FRAMES; i++) {
		if ((pdu = cw_isis_link_recv(&o.link, frame, sizeof(frame), &n)) == NULL)
			return;
		(void)cw_isis_input(o.m, pdu, n, now); /* counted */
	}
}

static uint64_t tick(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	return cw_isis_tick(o.m, now);
}

/* ---- What is announced --------------------------------------------------------------------- */

static void add_host(struct cw_isis_prefix *p, const struct cw_addr *a)
{
	*p = (struct cw_isis_prefix){.metric = o.conf.proxy_metric, .node = true};
	p->prefix.version = a->version;
	p->prefix.plen = a->version == 6 ? 128 : 32;
	memcpy(p->prefix.addr, a->addr, sizeof(p->prefix.addr));
}

/* The proxy's addresses, then its senders: these have an address of their family (checked). */
static bool announce(struct cw_leaf *l, uint64_t now)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	struct cw_isis_prefix *p = calloc(c->nprefix + 2u, sizeof(*p));
	unsigned i;
	size_t n = 0;
	int err;

	(void)l;
	if (p == NULL)
		return false;
	for (i = 0; i < 2; i++) {
		if (c->proxy[i].version != 0)
			add_host(&p[n++], &c->proxy[i]);
	}
	for (i = 0; i < c->nprefix; i++) {
		if (c->proxy[c->prefix[i].version == 6].version != 0)
			p[n++] = (struct cw_isis_prefix){.prefix = c->prefix[i],
							 .metric = o.conf.prefix_metric};
	}
	err = cw_isis_announce(o.m, c->proxy, p, n, now);
	free(p);
	return err == CW_OK;
}

/* ---- Opening and closing ------------------------------------------------------------------- */

static bool read_key(struct cw_isis_auth *a, const struct cw_pnc_key *key)
{
	*a = (struct cw_isis_auth){
		.hasher = &cw_openssl_hasher, .kind = key->algorithm, .key_id = key->key_id};
	if (key->file[0] == '\0')
		return true;
	a->key_len = cw_peer_key("isis", key->file, a->key, CW_ISIS_KEY_MAX);
	a->on = a->key_len > 0;
	return a->on;
}

static bool make_config(struct cw_isis_config *c)
{
	const struct cw_pnc_isis *i = &o.conf;
	int area = cw_isis_area_parse(i->area, c->area);

	if (area < 0 || cw_isis_system_parse(i->system_id, c->system) != CW_OK)
		return false; /* the schema has seen to it */
	c->area_len = (uint8_t)area;
	c->levels = i->level;
	c->reoriginate = i->reoriginate;
	c->circuit = (uint32_t)o.link.ifindex;
	c->mtu = o.link.mtu;
	c->hello_ms = i->hello_s * 1000;
	c->multiplier = i->multiplier;
	c->padding = i->padding;
	c->lifetime_s = i->lifetime_s;
	c->refresh_s = i->refresh_s;
	c->metric = i->metric;
	c->lsps = i->lsps;
	c->topology6 = i->multi_topology;
	c->originator = i->purge_originator;
	memcpy(c->hostname, i->hostname, sizeof(c->hostname));
	c->addr4 = o.link.addr4;
	c->addr6 = o.link.addr6;
	c->link_local = o.link.link_local;
	c->codes = cw_peers.conf->codes;
	return read_key(&c->hello_auth, &i->hello_key) && read_key(&c->auth[0], &i->level_key[0]) &&
	       read_key(&c->auth[1], &i->level_key[1]);
}

static void close_all(struct cw_leaf *l)
{
	(void)l;
	cw_isis_free(o.m);
	o.m = NULL;
	cw_isis_link_close(&o.link);
}

static const char *open_all(struct cw_leaf *l, uint64_t now)
{
	struct cw_isis_config c = CW_ISIS_CONFIG;
	int err;

	memcpy(&o.conf, &cw_peers.conf->isis, sizeof(o.conf)); /* compared as octets */
	memcpy(l->interface, o.conf.interface, sizeof(l->interface));
	if (!cw_isis_link_open(&o.link, o.conf.interface))
		return strerror(errno);
	l->fd = o.link.fd;
	if (!make_config(&c))
		return "not started";
	if ((err = cw_isis_new(&o.m, &c, now)) != CW_OK)
		return err == CW_E_ARG ? "MTU too small" : cw_strerror(err);
	return NULL;
}

static const char *check(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	if (!cw_isis_link_same(&o.link))
		return "is another interface now, or gone";
	if (cw_isis_link_addresses(&o.link))
		cw_isis_addresses(o.m, &o.link.addr4, &o.link.addr6, &o.link.link_local, now);
	return NULL;
}

static void stop(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	cw_isis_stop(o.m, now);
}

/* ---- What is learnt ------------------------------------------------------------------------ */

static void view(const struct cw_leaf *l, struct cw_leaf_view *v)
{
	char id[CW_ISIS_ID_TEXT];
	struct cw_isis_info i;

	(void)l;
	cw_isis_info(o.m, &i);
	v->up = i.state == CW_ISIS_UP;
	v->complete = i.synchronised;
	v->stopped = i.stopped;
	v->generation = i.generation;
	(void)snprintf(v->neighbour, sizeof(v->neighbour), "%s",
		       cw_isis_system_format(i.neighbour, id));
}

static void tell(struct cw_leaf *l, uint64_t now)
{
	char id[CW_ISIS_ID_TEXT], name[CW_PEER_NAME];
	const struct cw_isis_proxy *p;
	size_t i, n;

	p = cw_isis_proxies(o.m, &n);
	for (i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "%s level %u",
			       cw_isis_system_format(p[i].system, id), p[i].level);
		cw_teller_tell(&l->teller, name, &p[i].prefix, &p[i].proxy, now);
	}
}

/* ---- Running ------------------------------------------------------------------------------- */

static const struct cw_leaf_ops ops = {.name = "isis",
				       .up = "up",
				       .source = CW_PROXY_ISIS,
				       .stop_ms = STOP_MS,
				       .open = open_all,
				       .close = close_all,
				       .check = check,
				       .announce = announce,
				       .input = input,
				       .output = output,
				       .tick = tick,
				       .stop = stop,
				       .view = view,
				       .tell = tell};

uint64_t cw_isis_run(uint64_t now)
{
	const struct cw_pnc_isis *c = &cw_peers.conf->isis;
	bool changed;

	o.leaf.ops = &ops;
	/* Copied as octets out of zeroed memory, so that padding is equal, too.
	 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	changed = memcmp(c, &o.conf, sizeof(o.conf)) != 0;
	return cw_leaf_run(&o.leaf, c->enabled, changed, now);
}

void cw_isis_end(void)
{
	cw_leaf_stop(&o.leaf);
}

/* ---- show isis ----------------------------------------------------------------------------- */

static const char *levels_text(unsigned levels)
{
	static const char *const text[] = {"none", "level-1", "level-2", "level-1-2"};

	return text[levels & 3];
}

static json_t *adjacency_json(uint64_t now)
{
	static const char *const states[] = {"down", "initializing", "up"};
	char id[CW_ISIS_ID_TEXT];
	struct cw_isis_info i;
	json_t *a;

	cw_isis_info(o.m, &i);
	a = json_pack("{s:s, s:s, s:s, s:I, s:b}", "interface", o.conf.interface, "system",
		      o.conf.system_id, "state", states[i.state], "age_ms",
		      (json_int_t)(now - i.since_ms), "synchronised", i.synchronised);
	if (i.state == CW_ISIS_DOWN)
		return a;
	json_object_set_new(a, "neighbour", json_string(cw_isis_system_format(i.neighbour, id)));
	json_object_set_new(a, "levels", json_string(levels_text(i.levels)));
	json_object_set_new(a, "hold_ms",
			    json_integer((json_int_t)(i.hold_ms > now ? i.hold_ms - now : 0)));
	return a;
}

static json_t *lsdb_json(uint64_t now)
{
	json_t *all = json_array();
	struct cw_isis_lsp_info l;
	char id[CW_ISIS_ID_TEXT];
	unsigned level;
	size_t i;

	for (level = 1; level <= 2; level++) {
		for (i = 0; cw_isis_lsp_at(o.m, level, i, now, &l); i++)
			json_array_append_new(
				all,
				json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "level",
					  (int)level, "lsp", cw_isis_lsp_format(l.id, id),
					  "hostname", l.hostname, "sequence",
					  (json_int_t)l.sequence, "checksum",
					  (json_int_t)l.checksum, "lifetime_s",
					  (json_int_t)l.lifetime_s, "octets", (json_int_t)l.len,
					  "own", l.own, "reachable", l.reachable));
	}
	return all;
}

json_t *cw_peers_show_isis(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();
	const struct cw_isis_counters *n;
	json_t *counters = json_object();

	(void)request;
	(void)diag;
	if (o.m == NULL)
		return json_pack("{s:[], s:o, s:[]}", "adjacencies", "counters", counters,
				 "database");
	n = cw_isis_counters(o.m);
#define CW_X(name, text) json_object_set_new(counters, #name, json_integer((json_int_t)n->name));
	CW_ISIS_COUNTERS(CW_X)
#undef CW_X
	return json_pack("{s:[o], s:o, s:o}", "adjacencies", adjacency_json(now), "counters",
			 counters, "database", lsdb_json(now));
}
