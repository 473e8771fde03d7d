/* peers.c - sessions, the table, the answer to `show proxies`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "daemon/control/plain.h"
#include "daemon/log.h"
#include "daemon/peers/int.h"

struct cw_peers cw_peers = {.epoll = -1};

/* ---- Sessions ------------------------------------------------------------------------------ */

struct cw_peer_session *cw_peer_session(enum cw_proxy_source source, const char *name, uint64_t now)
{
	struct cw_peer_session *s, **more;
	unsigned i;

	for (i = 0; i < cw_peers.nsessions; i++) {
		s = cw_peers.sessions[i];
		if (s->source == source && strcmp(s->name, name) == 0)
			return s;
	}
	more = realloc(cw_peers.sessions,
		       (cw_peers.nsessions + 1) * sizeof(struct cw_peer_session *));
	if (more == NULL)
		return NULL;
	cw_peers.sessions = more;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return NULL;
	s->source = source;
	s->id = cw_peers.nsessions;
	s->since_ms = now;
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	more[cw_peers.nsessions++] = s;
	return s;
}

void cw_peer_state(struct cw_peer_session *s, bool up, uint64_t now)
{
	uint32_t n = 0;

	if (s->up == up)
		return;
	s->up = up;
	s->since_ms = now;
	if (!up)
		n = cw_proxies_lost(cw_peers.table, s->source, s->id, now,
				    (uint64_t)cw_peers.conf->hold_s * 1000);
	if (up)
		cw_log(CW_LOG_NOTICE, "%s session %s is up", cw_proxy_source_name(s->source),
		       s->name);
	else
		cw_log(CW_LOG_NOTICE, "%s session %s is lost, with %u proxies",
		       cw_proxy_source_name(s->source), s->name, n);
}

void cw_teller_begin(struct cw_teller *t, bool all, uint64_t now)
{
	struct cw_peer_session *s;
	unsigned i;

	t->round++;
	for (i = 0; all && i < cw_peers.nsessions; i++) {
		s = cw_peers.sessions[i];
		if (s->teller == t)
			(void)cw_proxies_lost(cw_peers.table, s->source, s->id, now, UINT32_MAX);
	}
}

void cw_teller_tell(struct cw_teller *t, const char *originator, const struct cw_prefix *prefix,
		    const struct cw_addr *proxy, uint64_t now)
{
	struct cw_peer_session *s = cw_peer_session(t->source, originator, now);

	if (s == NULL)
		return;
	s->teller = t;
	s->n.updates += s->round != t->round;
	s->round = t->round;
	cw_peer_state(s, true, now);
	cw_peer_set(s, prefix, proxy, now);
}

void cw_teller_end(struct cw_teller *t, bool all, uint64_t now)
{
	struct cw_peer_session *s;
	unsigned i;

	for (i = 0; all && i < cw_peers.nsessions; i++) {
		s = cw_peers.sessions[i];
		if (s->teller != t)
			continue;
		s->n.withdrawn += cw_proxies_synced(cw_peers.table, s->source, s->id);
		if (s->round != t->round)
			cw_peer_state(s, false, now);
	}
}

void cw_teller_lose(const struct cw_teller *t, uint64_t now)
{
	unsigned i;

	for (i = 0; i < cw_peers.nsessions; i++) {
		if (cw_peers.sessions[i]->teller == t)
			cw_peer_state(cw_peers.sessions[i], false, now);
	}
}

size_t cw_peer_key(const char *who, const char *file, uint8_t *key, size_t max)
{
	const char *why;
	char line[512];
	size_t n;
	FILE *f;

	if ((f = cw_plain_open(file, &why)) == NULL) {
		cw_log(CW_LOG_WARNING, "%s: %s: %s", who, file, why);
		return 0;
	}
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	(void)fclose(f);
	n = strcspn(line, "\r\n");
	if (n > 0 && n <= max) {
		memcpy(key, line, n);
		return n;
	}
	cw_log(CW_LOG_WARNING, "%s: %s: the first line is not a key of 1 to %zu octets", who, file,
	       max);
	return 0;
}

void cw_peer_set(struct cw_peer_session *s, const struct cw_prefix *p, const struct cw_addr *proxy,
		 uint64_t now)
{
	int err = cw_proxies_set(cw_peers.table, s->source, s->id, p, proxy, now);

	if (err == CW_OK) {
		s->n.accepted++;
		return;
	}
	if (err == CW_E_ARG)
		s->n.unusable++;
	else
		s->n.table_full++;
	(void)cw_proxies_withdraw(cw_peers.table, s->source, s->id, p);
}

void cw_peer_withdraw(struct cw_peer_session *s, const struct cw_prefix *p)
{
	s->n.withdrawn += cw_proxies_withdraw(cw_peers.table, s->source, s->id, p);
}

/* ---- The whole ----------------------------------------------------------------------------- */

int cw_peers_apply(const struct cw_pnc_config *c, uint64_t now)
{
	struct cw_proxies_opts o = CW_PROXIES_OPTS;
	int err;

	cw_peers.conf = c;
	cw_peers.generation++;
	if (cw_peers.table == NULL) {
		o.entries = c->entries;
		if ((err = cw_proxies_new(&cw_peers.table, &o)) != CW_OK)
			return err;
	}
	if (cw_peers.epoll < 0 && (cw_peers.epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return CW_E_IO;
	cw_proxies_rank(cw_peers.table, c->rank);
	cw_static_apply(now);
	return CW_OK;
}

int cw_peers_fd(void)
{
	return cw_peers.epoll;
}

struct cw_proxies *cw_peers_table(void)
{
	return cw_peers.table;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t cw_peers_run(uint64_t now)
{
	uint64_t due;

	if (cw_peers.table == NULL)
		return UINT64_MAX;
	due = cw_proxies_tick(cw_peers.table, now);
	due = sooner(due, cw_file_run(now));
	due = sooner(due, cw_bgp_run(now));
	due = sooner(due, cw_bmp_run(now));
	due = sooner(due, cw_ospf_run(now));
	due = sooner(due, cw_isis_run(now));
	return sooner(due, cw_ospf3_run(now));
}

void cw_peers_stop(void)
{
	unsigned i;

	if (cw_peers.table == NULL)
		return;
	cw_file_forget();
	cw_bgp_forget();
	cw_bmp_forget();
	cw_ospf_stop(0);
	cw_isis_end();
	cw_ospf3_end();
	for (i = 0; i < cw_peers.nsessions; i++)
		free(cw_peers.sessions[i]);
	free(cw_peers.sessions);
	cw_proxies_free(cw_peers.table);
	close(cw_peers.epoll);
	cw_peers = (struct cw_peers){.epoll = -1};
}

/* ---- show proxies -------------------------------------------------------------------------- */

struct list {
	struct cw_proxy *p;
	size_t n;
};

static int collect(void *arg, const struct cw_proxy *p)
{
	struct list *l = arg;

	l->p[l->n++] = *p;
	return 0;
}

/* By prefix; the used one of a prefix first. */
static int by_prefix(const void *a, const void *b)
{
	const struct cw_proxy *x = a, *y = b;
	int d = x->prefix.version - y->prefix.version;

	if (d == 0)
		d = memcmp(x->prefix.addr, y->prefix.addr, sizeof(x->prefix.addr));
	if (d == 0)
		d = x->prefix.plen - y->prefix.plen;
	return d != 0 ? d : y->used - x->used;
}

static json_t *entry_json(const struct cw_proxy *p, uint64_t now)
{
	char prefix[CW_PREFIX_TEXT], proxy[CW_ADDR_TEXT];
	const char *from = "";
	json_t *o;

	if (p->session < cw_peers.nsessions)
		from = cw_peers.sessions[p->session]->name;
	o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:b, s:b}", "prefix",
		      cw_prefix_format(&p->prefix, prefix), "proxy",
		      cw_addr_format(&p->proxy, proxy), "source", cw_proxy_source_name(p->source),
		      "from", from, "age_ms", (json_int_t)(now - p->since_ms), "used", p->used,
		      "stale", p->stale);
	if (p->stale && p->expires_ms > now)
		json_object_set_new(o, "expires_ms",
				    json_integer((json_int_t)(p->expires_ms - now)));
	return o;
}

static json_t *entries_json(uint64_t now)
{
	struct list l = {.p = calloc(cw_proxies_count(cw_peers.table) + 1u, sizeof(*l.p))};
	json_t *all = json_array();
	size_t i;

	if (l.p == NULL)
		return all;
	(void)cw_proxies_walk(cw_peers.table, collect, &l);
	qsort(l.p, l.n, sizeof(*l.p), by_prefix);
	for (i = 0; i < l.n; i++)
		json_array_append_new(all, entry_json(&l.p[i], now));
	free(l.p);
	return all;
}

static json_t *session_json(const struct cw_peer_session *s, uint64_t now)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:I}", "source", cw_proxy_source_name(s->source),
			      "peer", s->name, "state", s->up ? "up" : "down", "age_ms",
			      (json_int_t)(now - s->since_ms));

#define CW_X(name) json_object_set_new(o, #name, json_integer((json_int_t)s->n.name));
	CW_PEER_COUNTERS(CW_X)
#undef CW_X
	return o;
}

static json_t *sessions_json(uint64_t now)
{
	json_t *sessions = json_array();
	unsigned i;

	for (i = 0; i < cw_peers.nsessions; i++)
		json_array_append_new(sessions, session_json(cw_peers.sessions[i], now));
	return sessions;
}

json_t *cw_peers_show(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();

	(void)request;
	(void)diag;
	return json_pack("{s:o, s:o}", "proxies", entries_json(now), "sessions",
			 sessions_json(now));
}

json_t *cw_peers_show_sources(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();

	(void)request;
	(void)diag;
	return json_pack("{s:I, s:o}", "entries", (json_int_t)cw_proxies_count(cw_peers.table),
			 "sessions", sessions_json(now));
}

/* ---- Metrics ------------------------------------------------------------------------------- */

static void session_metrics(struct cw_metrics_text *t, const struct cw_peer_session *s)
{
	struct cw_label l[] = {
		{"source", cw_proxy_source_name(s->source)}, {"peer", s->name}, {"event", NULL}};

#define CW_X(name)          \
	l[2].value = #name; \
	cw_metrics_sample(t, l, 3, s->n.name);
	CW_PEER_COUNTERS(CW_X)
#undef CW_X
}

void cw_peers_metrics(struct cw_metrics_text *t)
{
	unsigned i;

	if (cw_peers.table == NULL)
		return;
	cw_metrics_family(t, "causeway_proxies", "gauge", "Entries of the table of proxies.");
	cw_metrics_sample(t, NULL, 0, cw_proxies_count(cw_peers.table));
	cw_metrics_family(t, "causeway_proxy_session_up", "gauge",
			  "1 when a source of proxies is there.");
	for (i = 0; i < cw_peers.nsessions; i++) {
		const struct cw_peer_session *s = cw_peers.sessions[i];
		const struct cw_label l[] = {{"source", cw_proxy_source_name(s->source)},
					     {"peer", s->name}};

		cw_metrics_sample(t, l, 2, s->up);
	}
	cw_metrics_family(t, "causeway_proxy_session_events_total", "counter",
			  "What a source of proxies sent, and what became of it.");
	for (i = 0; i < cw_peers.nsessions; i++)
		session_metrics(t, cw_peers.sessions[i]);
}
