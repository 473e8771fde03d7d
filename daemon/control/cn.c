/* cn.c - the congestion notification proxy, as control has it. See cn.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "causeway/bits.h"
#include "causeway/pnc.h"
#include "daemon/control/cn.h"
#include "daemon/control/current.h"
#include "daemon/log.h"

enum {
	CHUNK = 256,             /* pairs that the worker gives at a time */
	SHOWN_MAX = 65536,       /* pairs in an answer */
	SEEN_MAX = 4 * SHOWN_MAX /* that are looked at for one, as control does nothing else then */
};

/* ---- Made of a configuration --------------------------------------------------------------- */

/* All that the proxy is made of, as text. */
static char *text_of(const struct cw_config *conf)
{
	json_t *all = json_loads(cw_config_json(conf), 0, NULL);
	json_t *top = json_object_get(all, "causeway:causeway");
	json_t *part =
		json_pack("{s:O?, s:O?, s:O?, s:i}", "fast-cnp", json_object_get(top, "fast-cnp"),
			  "address", json_object_get(json_object_get(top, "pnc"), "proxy-address"),
			  "udp", json_object_get(json_object_get(top, "ub2e"), "udp"), "ub",
			  (int)conf->ub2e.udp_port);
	char *text = json_dumps(part, JSON_COMPACT);

	json_decref(part);
	json_decref(all);
	return text;
}

/* Not as octets: there is padding between. */
static bool same_map(const struct cw_qpmap_opts *a, const struct cw_qpmap_opts *b)
{
	return a->pairs == b->pairs && a->requests == b->requests &&
	       a->connections == b->connections && a->idle_ns == b->idle_ns &&
	       a->request_ns == b->request_ns && a->handshake_ns == b->handshake_ns &&
	       a->timewait_ns == b->timewait_ns && a->min_votes == b->min_votes &&
	       a->ratio == b->ratio && a->memory == b->memory;
}

/* Of hashes of what strangers may choose: the same as long as the gateway runs. */
static uint64_t secret(void)
{
	static uint64_t seed;

	while (seed == 0 && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		;
	return seed;
}

static int make_map(struct cw_cn *cn, struct cw_cn *old, const struct cw_qpmap_opts *o)
{
	int err;

	if (old != NULL && same_map(&old->map->opts, o)) {
		atomic_fetch_add(&old->map->refs, 1);
		cn->map = old->map;
		return CW_OK;
	}
	if ((cn->map = calloc(1, sizeof(*cn->map))) == NULL)
		return CW_E_NOMEM;
	atomic_init(&cn->map->refs, 1);
	cn->map->opts = *o;
	cn->map->opts.seed = secret();
	if ((err = cw_cn_make_map(cn->map)) < 0) {
		free(cn->map);
		cn->map = NULL;
	}
	return err;
}

static void put_map(struct cw_cn_map *m)
{
	if (m == NULL || atomic_fetch_sub(&m->refs, 1) > 1)
		return;
	cw_qpmap_free(m->map);
	free(m);
}

static int add_prefix(struct cw_lpm *t, const struct cw_prefix *p, uint32_t value)
{
	struct cw_gid a = cw_gid_of(p->version, p->addr);

	return cw_lpm_add(t, &a, p->plen, value);
}

static int make_prefixes(struct cw_cn *cn, const struct cw_fast_cnp_config *f)
{
	unsigned i;
	int err;

	if ((err = cw_lpm_new(&cn->allowed)) < 0 || (err = cw_lpm_new(&cn->senders)) < 0)
		return err;
	for (i = 0; err == CW_OK && i < f->nallowed; i++) {
		bool listed = f->allowed[i].plen == (f->allowed[i].version == 4 ? 32 : 128);

		cn->settings.listed += listed;
		err = add_prefix(cn->allowed, &f->allowed[i],
				 listed ? CW_ALLOWED_LISTED : CW_ALLOWED_PREFIX);
	}
	for (i = 0; err == CW_OK && i < f->nsenders; i++)
		err = add_prefix(cn->senders, &f->senders[i].prefix,
				 f->senders[i].kind | (uint32_t)f->senders[i].vlan << 16);
	return err;
}

/* The configuration's lists are sorted as the library wants them. */
static int make_tables(struct cw_cn *cn, const struct cw_fast_cnp_config *f)
{
	struct cw_relay_settings *s = &cn->settings;
	unsigned i;

	cn->nrps = calloc(f->nnrps + 1, sizeof(*cn->nrps));
	cn->domains = calloc(f->nvpns + 1, sizeof(*cn->domains));
	cn->pins = calloc(s->npins + 1, sizeof(*cn->pins));
	if (cn->nrps == NULL || cn->domains == NULL || cn->pins == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < s->npins; i++)
		cn->pins[i] = f->relay.pins[i];
	s->pins = cn->pins;
	for (i = 0; i < f->nnrps; i++)
		cn->nrps[i] = f->nrps[i];
	for (i = 0; i < f->nvpns; i++)
		cn->domains[i] = (struct cw_vpn_domain){.vpn = f->vpns[i].id,
							.port = (uint16_t)f->vpns[i].port,
							.vid = f->vpns[i].vid,
							.source = f->vpns[i].source};
	s->ndomains = f->nvpns;
	s->nrps = cn->nrps;
	s->nnrps = f->nnrps;
	s->domains = cn->domains;
	s->allowed = cn->allowed;
	s->senders = cn->senders;
	return CW_OK;
}

static void use_address(struct cw_gid *own, const struct cw_addr *a)
{
	if (a->version != 0)
		*own = cw_gid_of(a->version, a->addr);
}

static int fill(struct cw_cn *cn, struct cw_cn *old, const struct cw_config *conf)
{
	const struct cw_fast_cnp_config *f = &conf->fast_cnp;
	int err;

	cn->settings = f->relay;
	cn->settings.seed = secret();
	cn->learn = f->learn;
	use_address(&cn->settings.own4, &conf->pnc.proxy[0]);
	use_address(&cn->settings.own6, &conf->pnc.proxy[1]);
	if ((err = make_map(cn, old, &f->map)) < 0 || (err = make_prefixes(cn, f)) < 0 ||
	    (err = make_tables(cn, f)) < 0)
		return err;
	return cw_relay_new(&cn->relay, &cn->settings, cn->map->map, NULL);
}

int cw_cn_get(struct cw_cn **out, struct cw_cn *old, const struct cw_config *conf)
{
	struct cw_cn *cn;
	char *text;
	int err;

	*out = NULL;
	if (!conf->fast_cnp.relay.enabled)
		return CW_OK;
	if ((text = text_of(conf)) == NULL)
		return CW_E_NOMEM;
	if (old != NULL && strcmp(old->text, text) == 0) {
		free(text);
		atomic_fetch_add(&old->refs, 1);
		*out = old;
		return CW_OK;
	}
	if ((cn = calloc(1, sizeof(*cn))) == NULL) {
		free(text);
		return CW_E_NOMEM;
	}
	atomic_init(&cn->refs, 1);
	cn->text = text;
	if ((err = fill(cn, old, conf)) < 0 || (err = cw_cn_prepare()) < 0) {
		cw_cn_put(cn);
		return err;
	}
	*out = cn;
	return CW_OK;
}

void cw_cn_put(struct cw_cn *cn)
{
	if (cn == NULL || atomic_fetch_sub(&cn->refs, 1) > 1)
		return;
	cw_relay_free(cn->relay);
	put_map(cn->map);
	cw_lpm_free(cn->allowed);
	cw_lpm_free(cn->senders);
	free(cn->nrps);
	free(cn->domains);
	free(cn->pins);
	free(cn->text);
	free(cn);
}

/* ---- Changes of the map, at the worker that owns it ---------------------------------------- */

struct change {
	struct cw_qpmap *map;
	struct cw_qp_static pair;
	bool add;
	int err;
};

static void change_at_worker(void *arg)
{
	struct change *c = arg;
	const struct cw_qp_static *p = &c->pair;

	c->err = c->add ? cw_qpmap_add(c->map, &p->sender, &p->receiver, p->dqpn, p->sqpn,
				       cw_now_ns())
			: cw_qpmap_remove(c->map, &p->sender, &p->receiver, p->dqpn);
}

static int change(const struct cw_cn *cn, const struct cw_qp_static *pair, bool add)
{
	struct change c = {.map = cn->map->map, .pair = *pair, .add = add};

	cw_dp_call(cw_cn_home(), change_at_worker, &c);
	return c.err;
}

static bool is_listed(const struct cw_fast_cnp_config *f, const struct cw_qp_static *p)
{
	unsigned i;

	for (i = 0; i < f->nstatics; i++) {
		const struct cw_qp_static *q = &f->statics[i];

		if (q->dqpn == p->dqpn && cw_gid_equal(&q->sender, &p->sender) &&
		    cw_gid_equal(&q->receiver, &p->receiver))
			return true;
	}
	return false;
}

void cw_cn_set_statics(const struct cw_cn *cn, const struct cw_config *old,
		       const struct cw_config *conf)
{
	const struct cw_fast_cnp_config *was = old != NULL ? &old->fast_cnp : NULL;
	const struct cw_fast_cnp_config *is = &conf->fast_cnp;
	unsigned i, failed = 0;

	if (cn == NULL)
		return;
	for (i = 0; was != NULL && i < was->nstatics; i++) {
		if (!is_listed(is, &was->statics[i]))
			(void)change(cn, &was->statics[i], false);
	}
	for (i = 0; i < is->nstatics; i++)
		failed += change(cn, &is->statics[i], true) != CW_OK;
	if (failed > 0)
		cw_log(CW_LOG_WARNING, "queue pair map is full: %u static pairs do not fit",
		       failed);
}

/* ---- The control socket -------------------------------------------------------------------- */

static const struct cw_cn *running(struct cw_diag *diag)
{
	const struct cw_cn *cn = cw_plane_now()->cn;

	if (cn == NULL)
		cw_diag_set(diag, CW_E_STATE, "", NULL, "the proxy is not enabled");
	return cn;
}

static int get_gid(const json_t *request, const char *name, struct cw_gid *out,
		   struct cw_diag *diag)
{
	const char *text = json_string_value(json_object_get(request, name));
	struct cw_addr a;

	if (text == NULL || cw_addr_parse(text, &a) != CW_OK)
		return cw_diag_set(diag, CW_E_RANGE, name, text, "not an IPv4 or IPv6 address");
	*out = cw_gid_of(a.version, a.addr);
	return CW_OK;
}

static int get_qpn(const json_t *request, const char *name, uint32_t *out, struct cw_diag *diag)
{
	json_int_t v = json_integer_value(json_object_get(request, name));

	if (v < 1 || v > 0xffffff)
		return cw_diag_set(diag, CW_E_RANGE, name, NULL,
				   "not a queue pair number, 1..16777215");
	*out = (uint32_t)v;
	return CW_OK;
}

static int get_pair(const json_t *request, struct cw_qp_static *p, struct cw_diag *diag)
{
	int err;

	if ((err = get_gid(request, "sender", &p->sender, diag)) != CW_OK ||
	    (err = get_gid(request, "receiver", &p->receiver, diag)) != CW_OK)
		return err;
	if (cw_gid_is_v4(&p->sender) != cw_gid_is_v4(&p->receiver))
		return cw_diag_set(diag, CW_E_CONFLICT, "receiver", NULL,
				   "is not of the sender's address family");
	return get_qpn(request, "destination_qp", &p->dqpn, diag);
}

json_t *cw_cn_add(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_cn *cn = running(diag);
	struct cw_qp_static p = {0};

	(void)arg;
	if (cn == NULL || get_pair(request, &p, diag) != CW_OK ||
	    get_qpn(request, "source_qp", &p.sqpn, diag) != CW_OK)
		return NULL;
	if (change(cn, &p, true) == CW_OK)
		return json_object();
	cw_diag_set(diag, CW_E_SPACE, "", NULL, "the map is full");
	return NULL;
}

json_t *cw_cn_remove(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_cn *cn = running(diag);
	struct cw_qp_static p = {0};

	(void)arg;
	if (cn == NULL || get_pair(request, &p, diag) != CW_OK)
		return NULL;
	if (change(cn, &p, false) == CW_OK)
		return json_object();
	cw_diag_set(diag, CW_E_UNKNOWN, "", NULL, "there is no such pair");
	return NULL;
}

/* Pairs from `at` on, as they are between two walks. */
struct part {
	const struct cw_qpmap *map;
	uint32_t at, n, max;
	bool end;
	struct cw_qp_pair pair[CHUNK];
};

static void part_at_worker(void *arg)
{
	struct part *p = arg;

	for (p->n = 0; p->n < p->max; p->n++) {
		if (!cw_qpmap_next(p->map, &p->at, &p->pair[p->n])) {
			p->end = true;
			break;
		}
	}
}

static const char *gid_text(const struct cw_gid *g, char buf[CW_ADDR_TEXT])
{
	struct cw_addr a = {.version = cw_gid_is_v4(g) ? 4 : 6};

	memcpy(a.addr, g->o + (a.version == 4 ? 12 : 0), a.version == 4 ? 4 : 16);
	return cw_addr_format(&a, buf);
}

static const char *state_of(const struct cw_qp_pair *p)
{
	if (p->decided)
		return "sure";
	return p->closed ? "closed" : "undecided";
}

static json_t *pair_json(const struct cw_qp_pair *p, uint64_t now)
{
	char sender[CW_ADDR_TEXT], receiver[CW_ADDR_TEXT];
	json_t *o;

	o = json_pack("{s:s, s:s, s:i, s:s, s:s, s:i, s:i, s:I}", "sender",
		      gid_text(&p->sender, sender), "receiver", gid_text(&p->receiver, receiver),
		      "destination_qp", (int)p->dqpn, "how", cw_qp_how_name(p->how), "state",
		      state_of(p), "votes", (int)p->votes, "rivals", (int)p->rivals, "age_ms",
		      (json_int_t)(now > p->seen_ns ? (now - p->seen_ns) / 1000000 : 0));
	if (p->how != CW_QP_NONE)
		json_object_set_new(o, "source_qp", json_integer((json_int_t)p->sqpn));
	if (p->pkey_known)
		json_object_set_new(o, "pkey", json_integer(p->pkey));
	if (p->vlan != 0)
		json_object_set_new(o, "vlan", json_integer(p->vlan & CW_VLAN_VID));
	return o;
}

/* Which pairs are asked for; what is not given fits all. */
struct wanted {
	struct cw_prefix sender, receiver; /* version 0: any */
	uint32_t qp;                       /* at either end; 0: any */
	const char *how, *state;           /* names; NULL: any */
	uint32_t at, limit;
};

static int get_prefix(const json_t *request, const char *name, struct cw_prefix *out,
		      struct cw_diag *diag)
{
	const json_t *v = json_object_get(request, name);
	const char *text = json_string_value(v);

	if (v == NULL || (text != NULL && cw_prefix_parse(text, out) == CW_OK))
		return CW_OK;
	return cw_diag_set(diag, CW_E_RANGE, name, text, "not an address or a prefix");
}

static int get_number(const json_t *request, const char *name, uint32_t min, uint32_t max,
		      uint32_t *out, struct cw_diag *diag)
{
	const json_t *v = json_object_get(request, name);
	json_int_t n = json_integer_value(v);

	if (v == NULL)
		return CW_OK;
	if (!json_is_integer(v) || n < min || n > max)
		return cw_diag_set(diag, CW_E_RANGE, name, NULL, "not a number, %u..%u", min, max);
	*out = (uint32_t)n;
	return CW_OK;
}

static int get_word(const json_t *request, const char *name, const char *const *words,
		    const char **out, struct cw_diag *diag)
{
	const json_t *v = json_object_get(request, name);
	const char *text = json_string_value(v);

	if (v == NULL)
		return CW_OK;
	for (; text != NULL && *words != NULL; words++) {
		if (strcmp(text, *words) == 0) {
			*out = *words;
			return CW_OK;
		}
	}
	return cw_diag_set(diag, CW_E_RANGE, name, text, "no such value");
}

static int get_wanted(const json_t *request, struct wanted *w, struct cw_diag *diag)
{
	static const char *const hows[] = {"none", "vote", "cm", "static", NULL};
	static const char *const states[] = {"sure", "undecided", "closed", NULL};
	int err;

	*w = (struct wanted){.limit = SHOWN_MAX};
	if ((err = get_prefix(request, "sender", &w->sender, diag)) != CW_OK ||
	    (err = get_prefix(request, "receiver", &w->receiver, diag)) != CW_OK ||
	    (err = get_number(request, "qp", 1, 0xffffff, &w->qp, diag)) != CW_OK ||
	    (err = get_number(request, "cursor", 0, UINT32_MAX, &w->at, diag)) != CW_OK ||
	    (err = get_number(request, "limit", 1, SHOWN_MAX, &w->limit, diag)) != CW_OK ||
	    (err = get_word(request, "how", hows, &w->how, diag)) != CW_OK)
		return err;
	return get_word(request, "state", states, &w->state, diag);
}

static bool is_in(const struct cw_prefix *p, const struct cw_gid *g)
{
	struct cw_gid a;

	if (p->version == 0)
		return true;
	a = cw_gid_of(p->version, p->addr);
	return cw_gid_is_v4(g) == (p->version == 4) &&
	       cw_bits_equal(a.o, g->o, p->plen + (p->version == 4 ? 96u : 0));
}

static bool is_wanted(const struct wanted *w, const struct cw_qp_pair *p)
{
	return is_in(&w->sender, &p->sender) && is_in(&w->receiver, &p->receiver) &&
	       (w->qp == 0 || w->qp == p->dqpn || (p->how != CW_QP_NONE && w->qp == p->sqpn)) &&
	       (w->how == NULL || strcmp(w->how, cw_qp_how_name(p->how)) == 0) &&
	       (w->state == NULL || strcmp(w->state, state_of(p)) == 0);
}

/* From w->at on, which moves; false at the map's end. The worker is asked for parts of no more
 * pairs than may still be shown. */
static bool collect(const struct cw_cn *cn, struct wanted *w, json_t *all)
{
	struct part p = {.map = cn->map->map, .at = w->at};
	uint64_t now = cw_now_ns();
	uint32_t i, seen = 0, left;

	while (!p.end && (left = w->limit - (uint32_t)json_array_size(all)) > 0 &&
	       seen < SEEN_MAX) {
		p.max = left < CHUNK ? left : CHUNK;
		cw_dp_call(cw_cn_home(), part_at_worker, &p);
		for (i = 0; i < p.n; i++) {
			if (is_wanted(w, &p.pair[i]))
				json_array_append_new(all, pair_json(&p.pair[i], now));
		}
		seen += p.n;
	}
	w->at = p.at;
	return !p.end;
}

json_t *cw_cn_show_map(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_cn *cn = running(diag);
	struct wanted w;
	json_t *all, *answer;
	bool more;

	(void)arg;
	if (cn == NULL || get_wanted(request, &w, diag) != CW_OK)
		return NULL;
	all = json_array();
	more = collect(cn, &w, all);
	answer = json_pack("{s:o, s:I}", "qpmap", all, "pairs",
			   (json_int_t)cw_qpmap_count(cn->map->map));
	if (more)
		json_object_set_new(answer, "cursor", json_integer(w.at));
	return answer;
}

json_t *cw_cn_show(void *arg, const json_t *request, struct cw_diag *diag)
{
	const struct cw_cn *cn = running(diag);
	json_t *messages = json_object(), *map = json_object();
	unsigned i;

	(void)arg;
	(void)request;
	for (i = 0; cn != NULL && i < CW_RELAY_RESULT_COUNT; i++)
		json_object_set_new(messages, cw_relay_name(i),
				    json_integer((json_int_t)cw_relay_counter(cn->relay, i)));
	for (i = 0; cn != NULL && i < CW_QPMAP_COUNTER_COUNT; i++)
		json_object_set_new(map, cw_qpmap_counter_name(i),
				    json_integer((json_int_t)cw_qpmap_counter(cn->map->map, i)));
	if (cn == NULL) {
		json_decref(messages);
		json_decref(map);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:I, s:I, s:I}", "messages", messages, "qpmap", map, "pairs",
			 (json_int_t)cw_qpmap_count(cn->map->map), "map_octets",
			 (json_int_t)cw_qpmap_memory(cn->map->map), "copies_lost",
			 (json_int_t)cw_cn_lost());
}

/* ---- Metrics ------------------------------------------------------------------------------- */

void cw_cn_metrics(struct cw_metrics_text *t)
{
	const struct cw_cn *cn = cw_plane_now()->cn;
	struct cw_label l = {0};
	unsigned i;

	if (cn == NULL)
		return;
	cw_metrics_family(t, "causeway_proxy_messages_total", "counter",
			  "Congestion messages by what became of them.");
	l.name = "result";
	for (i = 0; i < CW_RELAY_RESULT_COUNT; i++) {
		l.value = cw_relay_name(i);
		cw_metrics_sample(t, &l, 1, cw_relay_counter(cn->relay, i));
	}
	cw_metrics_family(t, "causeway_qpmap_events_total", "counter",
			  "Events of the queue pair map.");
	l.name = "event";
	for (i = 0; i < CW_QPMAP_COUNTER_COUNT; i++) {
		l.value = cw_qpmap_counter_name(i);
		cw_metrics_sample(t, &l, 1, cw_qpmap_counter(cn->map->map, i));
	}
	cw_metrics_family(t, "causeway_qpmap_pairs", "gauge", "Pairs in the map.");
	cw_metrics_sample(t, NULL, 0, cw_qpmap_count(cn->map->map));
	cw_metrics_family(t, "causeway_proxy_copies_lost_total", "counter",
			  "Packets that were not learned from, as the ring was full.");
	cw_metrics_sample(t, NULL, 0, cw_cn_lost());
}
