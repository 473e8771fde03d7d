/* ospf3.c - the OSPFv3 leaf of the library on a Linux interface: announces the proxy and its IPv6
 * senders, learns others. With a second interface in another area, beside an area border router, it
 * announces in each area what the other one has.
 * Spec: Fast CNP proxy 5.3; causeway/ospf3.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/ospf3.h"
#include "daemon/control/hasher.h"
#include "daemon/log.h"
#include "daemon/peers/leaf.h"
#include "daemon/peers/ospf3_link.h"

enum {
	AREAS = 2,
	PACKETS = 256,       /* read in one go */
	STOP_MS = 2000,      /* the machine itself takes three quarters of it */
	SINCE_S = 1577836800 /* 2020, for the first sequence numbers */
};

struct area {
	struct cw_leaf leaf; /* first: a leaf is its area */
	const char *id;      /* as text, in `conf` */
	uint8_t type;
	struct cw_ospf3 *m;
	struct cw_ospf3_link link;
	uint32_t untranslated;
	uint64_t computed; /* computations of both areas that the other area's LSAs are of */
};

static struct {
	struct area area[AREAS];
	struct cw_pnc_ospf3 conf; /* in use */
	uint8_t buf[65536];
} o;

static struct area *area_of(struct cw_leaf *l)
{
	return (struct area *)l;
}

/* ---- Out and in ---------------------------------------------------------------------------- */

static void output(struct cw_leaf *l, uint64_t now)
{
	struct area *a = area_of(l);
	uint8_t packet[CW_OSPF3_MTU_MAX];
	size_t n;

	while ((n = cw_ospf3_pull(a->m, packet, sizeof(packet), now)) > 0)
		cw_ospf3_link_send(&a->link, packet, n);
}

static void input(struct cw_leaf *l, uint64_t now)
{
	struct area *a = area_of(l);
	uint8_t src[16], dst[16];
	unsigned i;
	size_t n;

	for (i = 0; i < PACKETS; i++) {
		if ((n = cw_ospf3_link_recv(&a->link, o.buf, sizeof(o.buf), src, dst)) == 0)
			return;
		(void)cw_ospf3_input(a->m, src, dst, o.buf, n, now); /* counted */
	}
}

static uint64_t tick(struct cw_leaf *l, uint64_t now)
{
	return cw_ospf3_tick(area_of(l)->m, now);
}

/* ---- What is announced --------------------------------------------------------------------- */

/* The proxy's IPv6 address, then its IPv6 senders. Those of IPv4 are for other protocols. */
static size_t list_prefixes(struct cw_ospf3_prefix *p)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	unsigned i;
	size_t n = 0;

	if (c->proxy[1].version == 0)
		return 0;
	p[n].prefix.version = 6;
	p[n].prefix.plen = 128;
	memcpy(p[n].prefix.addr, c->proxy[1].addr, sizeof(p[n].prefix.addr));
	p[n].metric = o.conf.proxy_metric;
	p[n++].node = true;
	for (i = 0; i < c->nprefix; i++) {
		if (c->prefix[i].version == 6)
			p[n++] = (struct cw_ospf3_prefix){
				.prefix = c->prefix[i],
				.kind = (enum cw_ospf3_kind)o.conf.prefix_kind,
				.metric = o.conf.prefix_metric};
	}
	return n;
}

static bool announce(struct cw_leaf *l, uint64_t now)
{
	struct cw_ospf3_prefix *p = calloc(cw_peers.conf->nprefix + 1u, sizeof(*p));
	int err;

	if (p == NULL)
		return false;
	err = cw_ospf3_announce(area_of(l)->m, p, list_prefixes(p), now);
	free(p);
	return err == CW_OK;
}

/* ---- Opening and closing ------------------------------------------------------------------- */

static uint64_t time_of_day_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool read_key(struct cw_ospf3_auth *a, const struct cw_pnc_key *key)
{
	if (key->file[0] == '\0')
		return true;
	a->hasher = &cw_openssl_hasher;
	a->kind = (enum cw_hash_kind)key->algorithm;
	a->sa = key->key_id;
	a->protocol = o.conf.protocol_id;
	a->sequence = time_of_day_ms();
	a->key_len = cw_peer_key("ospf3", key->file, a->key, CW_OSPF3_KEY_MAX);
	return a->key_len > 0;
}

static bool make_config(const struct area *a, struct cw_ospf3_config *c)
{
	const struct cw_pnc_ospf3 *i = &o.conf;

	if (cw_ospf3_id_parse(i->router_id, c->router) != CW_OK ||
	    cw_ospf3_id_parse(a->id, c->area) != CW_OK)
		return false; /* the schema has seen to it */
	c->area_type = (enum cw_ospf3_area)a->type;
	c->border = i->border.interface[0] != '\0';
	c->instance = i->instance;
	c->interface = (uint32_t)a->link.ifindex;
	c->mtu = a->link.mtu;
	c->mtu_ignore = i->mtu_ignore;
	c->hello_s = i->hello_s;
	c->dead_s = i->dead_s;
	c->retransmit_ms = i->retransmit_s * 1000;
	c->refresh_s = i->refresh_s;
	c->metric = i->metric;
	c->lsas = i->lsas;
	c->first = (uint32_t)(time_of_day_ms() / 1000 - SINCE_S);
	memcpy(c->address, a->link.address, sizeof(c->address));
	c->codes = cw_peers.conf->codes;
	return read_key(&c->auth, &i->key);
}

static void close_area(struct cw_leaf *l)
{
	struct area *a = area_of(l);

	cw_ospf3_free(a->m);
	a->m = NULL;
	cw_ospf3_link_close(&a->link);
}

static const char *open_area(struct cw_leaf *l, uint64_t now)
{
	struct cw_ospf3_config c = CW_OSPF3_CONFIG;
	struct area *a = area_of(l);
	int err;

	if (!cw_ospf3_link_open(&a->link, l->interface))
		return errno == EADDRNOTAVAIL ? "no link-local address" : strerror(errno);
	l->fd = a->link.fd;
	if (!make_config(a, &c))
		return "not started";
	if ((err = cw_ospf3_new(&a->m, &c, now)) != CW_OK)
		return err == CW_E_ARG ? "MTU too small" : cw_strerror(err);
	a->computed = 0;
	return NULL;
}

static const char *check(struct cw_leaf *l, uint64_t now)
{
	(void)now;
	return cw_ospf3_link_same(&area_of(l)->link)
		       ? NULL
		       : "is another interface now, or has another address or MTU";
}

static void stop(struct cw_leaf *l, uint64_t now)
{
	cw_ospf3_stop(area_of(l)->m, now);
}

/* ---- What is learnt ------------------------------------------------------------------------ */

/* The database is complete when the adjacency is full. */
static void view(const struct cw_leaf *l, struct cw_leaf_view *v)
{
	struct cw_ospf3_info i;

	cw_ospf3_info(((const struct area *)l)->m, &i);
	v->up = v->complete = i.state == CW_OSPF3_FULL;
	v->stopped = i.stopped;
	v->generation = i.generation;
	(void)cw_ospf3_id_format(i.neighbour, v->neighbour);
}

static void tell(struct cw_leaf *l, uint64_t now)
{
	char id[CW_OSPF3_ID_TEXT], name[CW_PEER_NAME];
	const struct cw_ospf3_proxy *p;
	size_t i, n;

	p = cw_ospf3_proxies(area_of(l)->m, &n);
	for (i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "%s area %s",
			       cw_ospf3_id_format(p[i].router, id), area_of(l)->id);
		cw_teller_tell(&l->teller, name, &p[i].prefix, &p[i].proxy, now);
	}
}

/* ---- Running ------------------------------------------------------------------------------- */

static const struct cw_leaf_ops ops = {.name = "ospf3",
				       .up = "full",
				       .source = CW_PROXY_OSPF3,
				       .stop_ms = STOP_MS,
				       .open = open_area,
				       .close = close_area,
				       .check = check,
				       .announce = announce,
				       .input = input,
				       .output = output,
				       .tick = tick,
				       .stop = stop,
				       .view = view,
				       .tell = tell};

static void use_config(const struct cw_pnc_ospf3 *c)
{
	memcpy(&o.conf, c, sizeof(o.conf)); /* compared as octets */
	o.area[0] = (struct area){.leaf.ops = &ops, .id = o.conf.area, .type = o.conf.area_type};
	o.area[1] = (struct area){
		.leaf.ops = &ops, .id = o.conf.border.area, .type = o.conf.border.area_type};
	memcpy(o.area[0].leaf.interface, o.conf.interface, sizeof(o.conf.interface));
	memcpy(o.area[1].leaf.interface, o.conf.border.interface, sizeof(o.conf.border.interface));
}

/* Prefixes of an NSSA that nobody in the other area will hear of. */
static void note_untranslated(struct area *a)
{
	struct cw_ospf3_info i;

	cw_ospf3_info(a->m, &i);
	if (i.untranslated > a->untranslated)
		cw_log(CW_LOG_WARNING,
		       "ospf3: %u flagged prefixes in E-NSSA-LSAs of area %s stay in it: "
		       "translation is "
		       "not built",
		       i.untranslated, a->id);
	a->untranslated = i.untranslated;
}

/* What was computed anew in either area may change what goes from one to the other. */
static bool pass_on(struct area *to, const struct area *from, uint64_t now)
{
	uint64_t computed;

	if (to->m == NULL || from->m == NULL)
		return false;
	computed =
		cw_ospf3_counters(to->m)->computations + cw_ospf3_counters(from->m)->computations;
	if (computed == to->computed || cw_ospf3_border(to->m, from->m, now) != CW_OK)
		return false;
	to->computed = computed;
	note_untranslated(to);
	return true;
}

uint64_t cw_ospf3_run(uint64_t now)
{
	const struct cw_pnc_ospf3 *c = &cw_peers.conf->ospf3;
	uint64_t due, second;
	unsigned i;

	/* Copied as octets out of zeroed memory, so that padding is equal, too.
	 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (memcmp(c, &o.conf, sizeof(o.conf)) != 0) {
		cw_ospf3_end();
		use_config(c);
	}
	due = cw_leaf_run(&o.area[0].leaf, c->enabled, false, now);
	second = cw_leaf_run(&o.area[1].leaf, c->enabled && c->border.interface[0] != '\0', false,
			     now);
	for (i = 0; i < AREAS; i++) {
		if (pass_on(&o.area[i], &o.area[1 - i], now))
			due = now;
	}
	return due < second ? due : second;
}

void cw_ospf3_end(void)
{
	unsigned i;

	for (i = 0; i < AREAS; i++)
		cw_leaf_stop(&o.area[i].leaf);
}

/* ---- show ospf3 ---------------------------------------------------------------------------- */

static json_t *adjacency_json(const struct area *x, uint64_t now)
{
	char id[CW_OSPF3_ID_TEXT], address[CW_ADDR_TEXT];
	struct cw_addr a = {.version = 6};
	struct cw_ospf3_info i;
	json_t *j;

	cw_ospf3_info(x->m, &i);
	j = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "interface", x->leaf.interface,
		      "router", o.conf.router_id, "area", x->id, "state",
		      cw_ospf3_state_name(i.state), "age_ms", (json_int_t)(now - i.since_ms),
		      "missing_lsas", (json_int_t)i.requests, "untranslated",
		      (json_int_t)i.untranslated);
	if (i.state == CW_OSPF3_DOWN)
		return j;
	memcpy(a.addr, i.address, sizeof(a.addr));
	json_object_set_new(j, "neighbour", json_string(cw_ospf3_id_format(i.neighbour, id)));
	json_object_set_new(j, "address", json_string(cw_addr_format(&a, address)));
	json_object_set_new(j, "dead_ms",
			    json_integer((json_int_t)(i.dead_ms > now ? i.dead_ms - now : 0)));
	return j;
}

static void add_lsdb(json_t *all, const struct area *x, uint64_t now)
{
	struct cw_ospf3_lsa_info l;
	char router[CW_OSPF3_ID_TEXT], id[CW_OSPF3_ID_TEXT];
	size_t i;

	for (i = 0; cw_ospf3_lsa_at(x->m, i, now, &l); i++)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "area",
				       x->id, "type",
				       cw_ospf3_type_name((uint16_t)cw_ospf3_lsa_type(l.lsa)), "id",
				       cw_ospf3_id_format(l.lsa + 4, id), "router",
				       cw_ospf3_id_format(cw_ospf3_lsa_router(l.lsa), router),
				       "sequence", (json_int_t)cw_ospf3_lsa_sequence(l.lsa),
				       "checksum", (json_int_t)cw_ospf3_lsa_checksum(l.lsa),
				       "age_s", (json_int_t)l.age, "octets", (json_int_t)l.len,
				       "own", l.own, "reachable", l.reachable));
}

/* Of both areas together. */
static json_t *counters_json(void)
{
	json_t *all = json_object();
	uint64_t sum;
	unsigned i;

	if (o.area[0].m == NULL && o.area[1].m == NULL)
		return all;
#define CW_X(name, text)                                                               \
	for (i = 0, sum = 0; i < AREAS; i++)                                           \
		sum += o.area[i].m == NULL ? 0 : cw_ospf3_counters(o.area[i].m)->name; \
	json_object_set_new(all, #name, json_integer((json_int_t)sum));
	CW_OSPF3_COUNTERS(CW_X)
#undef CW_X
	return all;
}

json_t *cw_peers_show_ospf3(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();
	json_t *adjacencies = json_array(), *database = json_array();
	unsigned i;

	(void)request;
	(void)diag;
	for (i = 0; i < AREAS; i++) {
		if (o.area[i].m == NULL)
			continue;
		json_array_append_new(adjacencies, adjacency_json(&o.area[i], now));
		add_lsdb(database, &o.area[i], now);
	}
	return json_pack("{s:o, s:o, s:o}", "adjacencies", adjacencies, "counters", counters_json(),
			 "database", database);
}
