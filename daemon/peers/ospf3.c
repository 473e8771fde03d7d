/* ospf3.c - the OSPFv3 leaf of the library on a Linux interface: announces the proxy and its IPv6
 * senders, learns others.
 * Spec: Fast CNP proxy 5.3; causeway/ospf3.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include "causeway/ospf3.h"
#include "daemon/control/current.h"
#include "daemon/control/hasher.h"
#include "daemon/log.h"
#include "daemon/peers/int.h"
#include "daemon/peers/ospf3_link.h"

enum {
	RETRY_MS = 2000,
	LOOK_MS = 2000, /* the interface is looked at so often */
	PACKETS = 256,  /* read in one go */
	STOP_MS = 2000, /* the machine itself takes three quarters of it */
	STOP_POLL_MS = 10
};

static struct {
	struct cw_ospf3 *m;
	struct cw_ospf3_link link;
	struct cw_pnc_ospf3 conf; /* in use */
	uint64_t config;          /* generation of the configuration that was announced */
	uint64_t learnt;          /* generation of the machine's proxies that the table has */
	enum cw_ospf3_state state;
	bool told;
	uint64_t due_ms, look_ms;
	uint8_t buf[65536];
} o = {.link.fd = -1};

/* ---- Out and in ---------------------------------------------------------------------------- */

static void send_all(uint64_t now)
{
	uint8_t packet[CW_OSPF3_MTU_MAX];
	size_t n;

	while ((n = cw_ospf3_pull(o.m, packet, sizeof(packet), now)) > 0)
		cw_ospf3_link_send(&o.link, packet, n);
}

static void read_packets(uint64_t now)
{
	uint8_t src[16], dst[16];
	unsigned i;
	size_t n;

	for (i = 0; i < PACKETS; i++) {
		if ((n = cw_ospf3_link_recv(&o.link, o.buf, sizeof(o.buf), src, dst)) == 0)
			return;
		(void)cw_ospf3_input(o.m, src, dst, o.buf, n, now); /* counted */
	}
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

static void announce(uint64_t now)
{
	struct cw_ospf3_prefix *p = calloc(cw_peers.conf->nprefix + 1u, sizeof(*p));

	if (p == NULL)
		return;
	if (cw_ospf3_announce(o.m, p, list_prefixes(p), now) == CW_OK)
		o.config = cw_peers.generation;
	free(p);
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
	a->sequence = time_of_day_ms();
	a->key_len = cw_peer_key("ospf3", key->file, a->key, CW_OSPF3_KEY_MAX);
	return a->key_len > 0;
}

static bool make_config(struct cw_ospf3_config *c)
{
	const struct cw_pnc_ospf3 *i = &o.conf;

	if (cw_ospf3_id_parse(i->router_id, c->router) != CW_OK ||
	    cw_ospf3_id_parse(i->area, c->area) != CW_OK)
		return false; /* the schema has seen to it */
	c->area_type = (enum cw_ospf3_area)i->area_type;
	c->instance = i->instance;
	c->interface = (uint32_t)o.link.ifindex;
	c->mtu = o.link.mtu;
	c->mtu_ignore = i->mtu_ignore;
	c->hello_s = i->hello_s;
	c->dead_s = i->dead_s;
	c->retransmit_ms = i->retransmit_s * 1000;
	c->refresh_s = i->refresh_s;
	c->metric = i->metric;
	c->lsas = i->lsas;
	memcpy(c->address, o.link.address, sizeof(c->address));
	c->codes = cw_peers.conf->codes;
	return read_key(&c->auth, &i->key);
}

static void close_all(uint64_t now)
{
	cw_ospf3_free(o.m);
	o.m = NULL;
	cw_ospf3_link_close(&o.link);
	o.state = CW_OSPF3_DOWN;
	o.due_ms = now + RETRY_MS;
	cw_peer_lose(CW_PROXY_OSPF3, now);
}

static void fail(const char *what, const char *why, uint64_t now)
{
	if (!o.told)
		cw_log(CW_LOG_WARNING, "ospf3: %s: %s", what, why);
	o.told = true;
	close_all(now);
}

static void begin(uint64_t now)
{
	struct cw_ospf3_config c = CW_OSPF3_CONFIG;
	struct epoll_event ev = {.events = EPOLLIN};
	int err;

	o.conf = cw_peers.conf->ospf3;
	o.due_ms = now + RETRY_MS;
	if (!cw_ospf3_link_open(&o.link, o.conf.interface)) {
		fail(o.conf.interface,
		     errno == EADDRNOTAVAIL ? "no link-local address" : strerror(errno), now);
		return;
	}
	if (!make_config(&c)) {
		fail(o.conf.interface, "not started", now);
		return;
	}
	if ((err = cw_ospf3_new(&o.m, &c, now)) != CW_OK) {
		fail(o.conf.interface, err == CW_E_ARG ? "MTU too small" : cw_strerror(err), now);
		return;
	}
	ev.data.fd = o.link.fd;
	(void)epoll_ctl(cw_peers.epoll, EPOLL_CTL_ADD, o.link.fd, &ev);
	o.told = false;
	o.learnt = 0;
	o.look_ms = now + LOOK_MS;
	announce(now);
	cw_log(CW_LOG_NOTICE, "ospf3: speaking on %s", o.conf.interface);
}

/* Take back what was announced, and wait a moment until the neighbour has it. */
void cw_ospf3_stop_speaking(void)
{
	struct pollfd p = {.fd = o.link.fd, .events = POLLIN};
	uint64_t now = cw_now_ms(), until = now + STOP_MS;
	struct cw_ospf3_info info;

	if (o.m == NULL)
		return;
	cw_ospf3_stop(o.m, now);
	for (; now < until; now = cw_now_ms()) {
		(void)cw_ospf3_tick(o.m, now);
		send_all(now);
		cw_ospf3_info(o.m, &info);
		if (info.stopped)
			break;
		(void)poll(&p, 1, STOP_POLL_MS);
		read_packets(now);
	}
	close_all(now);
	o.due_ms = 0;
}

/* ---- What is learnt ------------------------------------------------------------------------ */

/* The database is complete when the adjacency is full: what is not told any more goes. */
static void renew(uint64_t now)
{
	const struct cw_ospf3_proxy *p;
	struct cw_peer_session *s;
	char id[CW_OSPF3_ID_TEXT];
	size_t i, n;

	p = cw_ospf3_proxies(o.m, &n);
	cw_peer_retell(CW_PROXY_OSPF3, now);
	for (i = 0; i < n; i++) {
		s = cw_peer_session(CW_PROXY_OSPF3, cw_ospf3_id_format(p[i].router, id), now);
		if (s == NULL)
			continue;
		s->n.updates += i == 0 || memcmp(p[i].router, p[i - 1].router, 4) != 0;
		cw_peer_state(s, true, now);
		cw_peer_set(s, &p[i].prefix, &p[i].proxy, now);
	}
	cw_peer_retold(CW_PROXY_OSPF3);
}

static void look(uint64_t now)
{
	char id[CW_OSPF3_ID_TEXT];
	struct cw_ospf3_info info;
	bool full, was_full = o.state == CW_OSPF3_FULL;

	cw_ospf3_info(o.m, &info);
	full = info.state == CW_OSPF3_FULL;
	o.state = info.state;
	if (full && !was_full)
		cw_log(CW_LOG_NOTICE, "ospf3: adjacency with %s is full",
		       cw_ospf3_id_format(info.neighbour, id));
	if (!full && was_full) {
		cw_log(CW_LOG_NOTICE, "ospf3: adjacency is lost");
		cw_peer_lose(CW_PROXY_OSPF3, now);
	}
	if (!full || info.generation == o.learnt)
		return;
	o.learnt = info.generation;
	renew(now);
}

/* ---- Running ------------------------------------------------------------------------------- */

static void check_link(uint64_t now)
{
	if (now < o.look_ms)
		return;
	o.look_ms = now + LOOK_MS;
	if (!cw_ospf3_link_same(&o.link))
		fail(o.conf.interface, "is another interface now, or has another address or MTU",
		     now);
}

static uint64_t run_open(uint64_t now)
{
	uint64_t due;

	if (o.config != cw_peers.generation)
		announce(now);
	read_packets(now);
	due = cw_ospf3_tick(o.m, now);
	send_all(now);
	look(now);
	return due < o.look_ms ? due : o.look_ms;
}

uint64_t cw_ospf3_run(uint64_t now)
{
	const struct cw_pnc_ospf3 *c = &cw_peers.conf->ospf3;

	if (o.m != NULL && o.config != cw_peers.generation &&
	    memcmp(c, &o.conf, sizeof(o.conf)) != 0)
		cw_ospf3_stop_speaking();
	if (!c->enabled)
		return UINT64_MAX;
	if (o.m == NULL && now >= o.due_ms)
		begin(now);
	if (o.m != NULL)
		check_link(now);
	return o.m != NULL ? run_open(now) : o.due_ms;
}

/* ---- show ospf3 ---------------------------------------------------------------------------- */

static json_t *adjacency_json(uint64_t now)
{
	char id[CW_OSPF3_ID_TEXT], address[CW_ADDR_TEXT];
	struct cw_addr a = {.version = 6};
	struct cw_ospf3_info i;
	json_t *j;

	cw_ospf3_info(o.m, &i);
	j = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "interface", o.conf.interface, "router",
		      o.conf.router_id, "area", o.conf.area, "state", cw_ospf3_state_name(i.state),
		      "age_ms", (json_int_t)(now - i.since_ms), "missing_lsas",
		      (json_int_t)i.requests);
	if (i.state == CW_OSPF3_DOWN)
		return j;
	memcpy(a.addr, i.address, sizeof(a.addr));
	json_object_set_new(j, "neighbour", json_string(cw_ospf3_id_format(i.neighbour, id)));
	json_object_set_new(j, "address", json_string(cw_addr_format(&a, address)));
	json_object_set_new(j, "dead_ms",
			    json_integer((json_int_t)(i.dead_ms > now ? i.dead_ms - now : 0)));
	return j;
}

static json_t *lsdb_json(uint64_t now)
{
	json_t *all = json_array();
	struct cw_ospf3_lsa_info l;
	char router[CW_OSPF3_ID_TEXT], id[CW_OSPF3_ID_TEXT];
	size_t i;

	for (i = 0; cw_ospf3_lsa_at(o.m, i, now, &l); i++)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "type",
				       cw_ospf3_type_name((uint16_t)cw_ospf3_lsa_type(l.lsa)), "id",
				       cw_ospf3_id_format(l.lsa + 4, id), "router",
				       cw_ospf3_id_format(cw_ospf3_lsa_router(l.lsa), router),
				       "sequence", (json_int_t)cw_ospf3_lsa_sequence(l.lsa),
				       "checksum", (json_int_t)cw_ospf3_lsa_checksum(l.lsa),
				       "age_s", (json_int_t)l.age, "octets", (json_int_t)l.len,
				       "own", l.own, "reachable", l.reachable));
	return all;
}

json_t *cw_peers_show_ospf3(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();
	const struct cw_ospf3_counters *n;
	json_t *counters = json_object();

	(void)request;
	(void)diag;
	if (o.m == NULL)
		return json_pack("{s:[], s:o, s:[]}", "adjacencies", "counters", counters,
				 "database");
	n = cw_ospf3_counters(o.m);
#define CW_X(name, text) json_object_set_new(counters, #name, json_integer((json_int_t)n->name));
	CW_OSPF3_COUNTERS(CW_X)
#undef CW_X
	return json_pack("{s:[o], s:o, s:o}", "adjacencies", adjacency_json(now), "counters",
			 counters, "database", lsdb_json(now));
}
