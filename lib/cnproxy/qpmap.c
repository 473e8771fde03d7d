/* qpmap.c - the table of queue pairs. Spec and deviations: causeway/cnproxy.h.
 *
 * Open addressing with linear probing over 64-octet slots; erasing shifts back, so there are no
 * tombstones. Each slot has a tag, an octet of its key's hash, in an array of its own: eight of
 * them are compared at once, and of the slots only those are read whose tag fits. A slot is one
 * direction; a vote touches both directions of a connection.
 */
#include <stdlib.h>
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "lib/cnproxy/qpmap_int.h"

static const struct {
	const char *name, *text;
} counters[] = {
#define CW_X(id, name, text) {name, text},
	CW_QPMAP_COUNTERS(CW_X)
#undef CW_X
};

const char *cw_qpmap_counter_name(unsigned c)
{
	return c < CW_QPMAP_COUNTER_COUNT ? counters[c].name : "unknown";
}

const char *cw_qpmap_counter_text(unsigned c)
{
	return c < CW_QPMAP_COUNTER_COUNT ? counters[c].text : "unknown";
}

const char *cw_qp_how_name(enum cw_qp_how how)
{
	static const char *const names[] = {"none", "vote", "cm", "static"};

	return (unsigned)how < 4 ? names[how] : "unknown";
}

/* ---- Made and freed ----------------------------------------------------------------------- */

void cw_qpmap_opts_init(struct cw_qpmap_opts *o)
{
	*o = (struct cw_qpmap_opts){
		.pairs = 65536,
		.requests = 65536,
		.connections = 4096,
		.idle_ns = 300 * 1000000000ull,
		.request_ns = 1000000000ull,
		.handshake_ns = 60 * 1000000000ull,
		.timewait_ns = 10 * 1000000000ull,
		.min_votes = 3,
		.ratio = 4,
		.seed = 0x9e3779b97f4a7c15ull,
	};
}

#define PAGE ((size_t)4096)
#define HUGE ((size_t)2 << 20)

/* Zeroed memory, in whole huge pages where it is large. */
static void *table(const struct cw_qpmap_opts *o, size_t n, size_t size)
{
	size_t page = n * size >= HUGE ? HUGE : PAGE, octets = (n * size + page - 1) / page * page;
	void *p = aligned_alloc(page, octets);

	if (p == NULL)
		return NULL;
	if (page == HUGE && o->memory != NULL)
		o->memory(p, octets);
	return memset(p, 0, octets);
}

static uint32_t round_up(uint32_t n)
{
	uint32_t p = QP_WAYS;

	while (p < n)
		p *= 2;
	return p;
}

int cw_qpmap_new(struct cw_qpmap **out, const struct cw_qpmap_opts *o)
{
	struct cw_qpmap *m;

	if (o->pairs == 0 || o->pairs > 1u << 28 || o->requests == 0 || o->requests > 1u << 28 ||
	    o->connections == 0 || o->connections > 1u << 24 || o->min_votes == 0 ||
	    o->min_votes > QP_VOTES_MAX / 2 || o->ratio == 0 || o->ratio > QP_VOTES_MAX)
		return CW_E_RANGE;
	if ((m = calloc(1, sizeof(*m))) == NULL)
		return CW_E_NOMEM;
	m->o = *o;
	/* Three quarters full at most, and never without a free slot. */
	m->nslots = o->pairs + o->pairs / 3 + 16;
	m->buckets = round_up(o->requests) / QP_WAYS;
	m->o.connections = (o->connections + CM_WAYS - 1) / CM_WAYS * CM_WAYS;
	m->slots = table(o, m->nslots, sizeof(*m->slots));
	m->tags = table(o, m->nslots + TAGS, 1);
	m->nhosts = round_up(o->pairs / 4);
	m->hosts = table(o, m->nhosts, sizeof(*m->hosts));
	m->requests = table(o, (size_t)m->buckets * QP_WAYS, sizeof(*m->requests));
	m->conns = calloc(m->o.connections, sizeof(*m->conns));
	if (m->slots == NULL || m->tags == NULL || m->requests == NULL || m->conns == NULL ||
	    m->hosts == NULL) {
		cw_qpmap_free(m);
		return CW_E_NOMEM;
	}
	*out = m;
	return CW_OK;
}

void cw_qpmap_free(struct cw_qpmap *m)
{
	if (m == NULL)
		return;
	free(m->slots);
	free(m->tags);
	free(m->requests);
	free(m->hosts);
	free(m->conns);
	free(m);
}

size_t cw_qpmap_memory(const struct cw_qpmap *m)
{
	return sizeof(*m) + (size_t)m->nslots * sizeof(*m->slots) + m->nslots + TAGS +
	       (size_t)m->buckets * QP_WAYS * sizeof(*m->requests) +
	       (size_t)m->nhosts * sizeof(*m->hosts) + (size_t)m->o.connections * sizeof(*m->conns);
}

/* ---- Slots -------------------------------------------------------------------------------- */

static void set_tag(struct cw_qpmap *m, uint32_t i, uint8_t tag)
{
	m->tags[i] = tag;
	if (i < TAGS) /* again behind the end, so that eight can be read from any place */
		m->tags[m->nslots + i] = tag;
}

/* Index of the key's slot, or of the free one that ends its run. */
static uint32_t probe(const struct cw_qpmap *m, uint64_t hash, const struct cw_gid *sender,
		      const struct cw_gid *receiver, uint32_t dqpn)
{
	uint64_t tags, fit, free, tag = QP_EACH_OCTET((uint64_t)qp_tag(hash));
	uint32_t i = qp_home(m, hash), at;

	for (;; i = i + TAGS < m->nslots ? i + TAGS : i + TAGS - m->nslots) {
		tags = qp_tags_at(m, i);
		free = qp_zero_octets(tags);
		fit = qp_zero_octets(tags ^ tag);
		if (free != 0) /* none behind the first free one */
			fit &= free ^ (free - 1);
		for (; fit != 0; fit &= fit - 1) {
			at = qp_place(m, i, fit);
			if (qp_same_key(&m->slots[at], sender, receiver, dqpn))
				return at;
		}
		if (free != 0)
			return qp_place(m, i, free);
	}
}

struct qp_slot *qp_find(const struct cw_qpmap *m, uint64_t hash, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn)
{
	uint32_t i = probe(m, hash, sender, receiver, dqpn);

	return m->tags[i] != 0 ? &m->slots[i] : NULL;
}

/* Is `i` in the cyclic range (from, to]? */
static bool between(uint32_t from, uint32_t i, uint32_t to)
{
	return from <= to ? from < i && i <= to : from < i || i <= to;
}

void qp_erase(struct cw_qpmap *m, struct qp_slot *s)
{
	uint32_t hole = (uint32_t)(s - m->slots), i = hole, home;

	for (;;) {
		i = i + 1 == m->nslots ? 0 : i + 1;
		if (m->tags[i] == 0)
			break;
		s = &m->slots[i];
		home = qp_home(m, qp_hash_key(m, &s->sender, &s->receiver, s->dqpn));
		if (between(hole, home, i))
			continue;
		m->slots[hole] = *s;
		set_tag(m, hole, m->tags[i]);
		hole = i;
	}
	set_tag(m, hole, 0);
	m->used--;
}

/* Is its time over? A closed pair serves to know late packets by, until the end of the time-wait.
 */
static bool is_over(const struct cw_qpmap *m, const struct qp_slot *s, uint64_t now)
{
	bool closed = (s->flags & QP_CLOSED) != 0;

	if (s->how == CW_QP_STATIC || (!closed && m->o.idle_ns == 0))
		return false;
	return QP_TICKS_SINCE(now, s->seen) > QP_TICK(closed ? m->o.timewait_ns : m->o.idle_ns);
}

/* A full map gives up a pair near the new one's place: one whose time is over, or the oldest
 * undecided one. A flood of invented flows must not keep real ones out, nor throw out what was
 * learned. */
static bool make_room(struct cw_qpmap *m, uint32_t home, uint64_t now)
{
	struct qp_slot *worst = NULL;
	unsigned i;

	for (i = 0; i < 16; i++) {
		uint32_t at = (home + i) % m->nslots;
		struct qp_slot *s = &m->slots[at];

		if (m->tags[at] == 0)
			continue;
		if (is_over(m, s, now)) {
			worst = s;
			break;
		}
		if (s->how >= CW_QP_CM || qp_slot_decided(m, s))
			continue;
		if (worst == NULL || s->seen < worst->seen)
			worst = s;
	}
	if (worst != NULL)
		qp_erase(m, worst);
	return worst != NULL;
}

struct qp_slot *qp_make(struct cw_qpmap *m, uint64_t hash, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn, uint64_t now)
{
	uint32_t i = probe(m, hash, sender, receiver, dqpn);

	if (m->tags[i] != 0)
		return &m->slots[i];
	if (m->used >= m->o.pairs) {
		if (!make_room(m, qp_home(m, hash), now)) {
			m->count[CW_QPMAP_FULL]++;
			return NULL;
		}
		i = probe(m, hash, sender, receiver, dqpn);
	}
	m->slots[i] = (struct qp_slot){
		.sender = *sender, .receiver = *receiver, .dqpn = dqpn, .seen = QP_TICK(now)};
	set_tag(m, i, qp_tag(hash));
	m->used++;
	return &m->slots[i];
}

/* ---- Packets ------------------------------------------------------------------------------ */

/* The headers behind UDP: CW_OK, CW_E_UNKNOWN for opcodes of nobody, CW_E_LENGTH. */
static int read_bth(struct qp_packet *p)
{
	size_t need, wire = p->u.total - (size_t)(p->u.data - p->u.ip);

	if (wire < CW_SIZE_BTH + CW_ICRC_LEN || p->u.len < CW_SIZE_BTH)
		return CW_E_LENGTH;
	p->bth = p->u.data;
	p->ext = p->bth + CW_SIZE_BTH;
	p->opcode = (uint8_t)cw_bth_opcode(p->bth);
	if ((need = cw_bth_octets(p->opcode)) == 0)
		return CW_E_UNKNOWN;
	return p->u.len < need || wire - CW_ICRC_LEN < need + cw_bth_padcnt(p->bth) ||
			       cw_bth_tver(p->bth) != 0
		       ? CW_E_LENGTH
		       : CW_OK;
}

static bool is_malformed(struct cw_qpmap *m)
{
	m->count[CW_QPMAP_PACKETS]++;
	m->count[CW_QPMAP_MALFORMED]++;
	return false;
}

bool qp_take(struct cw_qpmap *m, struct qp_packet *p, const struct cw_qp_seen *seen)
{
	int err = read_bth(p);

	if (err == CW_E_LENGTH)
		return is_malformed(m);
	p->now = seen->now;
	p->vlan = seen->vlan;
	m->count[CW_QPMAP_PACKETS] += err == CW_OK;
	return err == CW_OK;
}

static bool take(struct cw_qpmap *m, const struct cw_qp_seen *seen, struct qp_packet *p)
{
	int err = cn_udp_peek(seen->ip, seen->len, seen->wire, &p->u);

	if ((err != CW_OK && err != CW_E_LENGTH) || cw_udp_dport(p->u.udp) != CW_ROCE_PORT)
		return false;
	return err == CW_OK ? qp_take(m, p, seen) : is_malformed(m);
}

static void learn_some(struct cw_qpmap *m, const struct cw_qp_seen *seen, unsigned n)
{
	struct qp_step step[CW_QP_BURST];
	unsigned i, k = 0;

	for (i = 0; i < n; i++)
		k += take(m, &seen[i], &step[k].p);
	qp_learn(m, step, k);
}

void cw_qpmap_learn(struct cw_qpmap *m, const struct cw_qp_seen *seen, unsigned n)
{
	for (; n > CW_QP_BURST; seen += CW_QP_BURST, n -= CW_QP_BURST)
		learn_some(m, seen, CW_QP_BURST);
	learn_some(m, seen, n);
}

void cw_qpmap_packet(struct cw_qpmap *m, const uint8_t *ip, size_t len, size_t wire, uint64_t now)
{
	struct cw_qp_seen seen = {ip, len, wire, now};

	learn_some(m, &seen, 1);
}

/* ---- Lookups ------------------------------------------------------------------------------ */

/* The slot of the other direction of what a lookup found, or NULL. */
static const struct qp_slot *find_back(const struct cw_qpmap *m, const struct qp_slot *s,
				       const struct qp_ahead *a)
{
	if (qp_is_at(m, a->back, &s->receiver, &s->sender, s->sqpn))
		return a->back;
	return qp_find(m, qp_hash_ends(qp_turned(a->ends), s->sqpn), &s->receiver, &s->sender,
		       s->sqpn);
}

/* The other direction has to agree with a pair that was voted for. */
static bool decided(const struct cw_qpmap *m, const struct qp_slot *s, const struct qp_ahead *a)
{
	const struct qp_slot *r;

	if (!qp_slot_decided(m, s))
		return false;
	if (s->how >= CW_QP_CM)
		return true;
	if (!qp_host_fits(a->host))
		return false;
	r = find_back(m, s, a);
	return r != NULL && r->sqpn == s->dqpn && qp_slot_decided(m, r);
}

static void export_slot(const struct qp_slot *s, bool decided, struct cw_qp_pair *out)
{
	bool seen = (s->flags & QP_PACKET) != 0;

	*out = (struct cw_qp_pair){
		.sender = s->sender,
		.receiver = s->receiver,
		.dqpn = s->dqpn,
		.sqpn = s->sqpn,
		.how = (enum cw_qp_how)s->how,
		.decided = decided,
		.closed = (s->flags & QP_CLOSED) != 0,
		.votes = s->votes,
		.rivals = s->others,
		.pkey_known = (s->flags & QP_PKEY) != 0,
		.pkey = (s->flags & QP_PKEY) != 0 ? s->pkey : 0xffff,
		.sport_known = seen,
		.sport = seen ? s->sport : 0,
		.vlan = s->vlan,
		.linux_port =
			seen && s->how != CW_QP_NONE && s->sport == cw_roce_sport(s->sqpn, s->dqpn),
		.qpn_port = seen && s->how != CW_QP_NONE && s->sport == (uint16_t)s->sqpn,
		.seen_ns = (uint64_t)s->seen << QP_TICK_SHIFT,
	};
}

int qp_lookup(struct cw_qpmap *m, const struct qp_ahead *a, uint64_t now,
	      const struct qp_slot **out)
{
	const struct cw_qp_key *k = a->key;
	struct qp_slot *s = a->slot;

	if (!qp_is_at(m, s, &k->sender, &k->receiver, k->dqpn))
		s = qp_find(m, a->hash, &k->sender, &k->receiver, k->dqpn);
	m->count[CW_QPMAP_LOOKUPS]++;
	if (s != NULL && is_over(m, s, now)) {
		qp_erase(m, s);
		m->count[CW_QPMAP_AGED]++;
		s = NULL;
	}
	*out = s;
	if (s == NULL) {
		m->count[CW_QPMAP_UNKNOWN]++;
		return CW_E_UNKNOWN;
	}
	if (!decided(m, s, a)) {
		m->count[CW_QPMAP_UNDECIDED]++;
		return CW_E_STATE;
	}
	m->count[CW_QPMAP_HITS]++;
	return CW_OK;
}

/* The place of the key's tags, and what its hosts have in common. */
static void fetch_key(const struct cw_qpmap *m, struct qp_ahead *a)
{
	const struct cw_qp_key *k = a->key;

	a->ends = qp_ends(m, &k->sender, &k->receiver);
	a->hash = qp_hash_ends(a->ends, k->dqpn);
	a->host = qp_host(m, a->ends);
	qp_fetch_tags(m, a->hash);
	__builtin_prefetch(a->host);
}

static void fetch_back(const struct cw_qpmap *m, struct qp_ahead *a)
{
	a->back_hash = qp_hash_ends(qp_turned(a->ends), a->slot->sqpn);
	qp_fetch_tags(m, a->back_hash);
}

void qp_fetch(const struct cw_qpmap *m, struct qp_ahead *a, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		fetch_key(m, &a[i]);
	for (i = 0; i < n; i++)
		a[i].slot = qp_fetch_slot(m, a[i].hash);
	for (i = 0; i < n; i++)
		fetch_back(m, &a[i]);
	for (i = 0; i < n; i++)
		a[i].back = qp_fetch_slot(m, a[i].back_hash);
}

static void lookup_some(struct cw_qpmap *m, const struct cw_qp_key *key, unsigned n, uint64_t now,
			struct cw_qp_pair *out, int *err)
{
	struct qp_ahead a[CW_QP_BURST];
	const struct qp_slot *s;
	unsigned i;

	for (i = 0; i < n; i++)
		a[i].key = &key[i];
	qp_fetch(m, a, n);
	for (i = 0; i < n; i++) {
		if ((err[i] = qp_lookup(m, &a[i], now, &s)) != CW_E_UNKNOWN && out != NULL)
			export_slot(s, err[i] == CW_OK, &out[i]);
	}
}

void cw_qpmap_lookup_burst(struct cw_qpmap *m, const struct cw_qp_key *key, unsigned n,
			   uint64_t now, struct cw_qp_pair *out, int *err)
{
	const unsigned b = CW_QP_BURST;

	for (; n > b; key += b, out += b, err += b, n -= b)
		lookup_some(m, key, b, now, out, err);
	lookup_some(m, key, n, now, out, err);
}

int cw_qpmap_lookup(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		    uint32_t dqpn, uint64_t now, struct cw_qp_pair *out)
{
	struct cw_qp_key k = {*sender, *receiver, dqpn};
	int err;

	lookup_some(m, &k, 1, now, out, &err);
	return err;
}

/* ---- Entries ------------------------------------------------------------------------------- */

int cw_qpmap_add(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		 uint32_t dqpn, uint32_t sqpn, uint64_t now)
{
	struct qp_slot *s;

	if (dqpn > QPN_MASK || sqpn > QPN_MASK)
		return CW_E_RANGE;
	s = qp_make(m, qp_hash_key(m, sender, receiver, dqpn), sender, receiver, dqpn, now);
	if (s == NULL)
		return CW_E_SPACE;
	s->sqpn = sqpn;
	s->how = CW_QP_STATIC;
	s->votes = s->others = s->streak = 0;
	s->flags &= (uint8_t)~QP_CLOSED;
	return CW_OK;
}

int cw_qpmap_remove(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		    uint32_t dqpn)
{
	struct qp_slot *s =
		qp_find(m, qp_hash_key(m, sender, receiver, dqpn), sender, receiver, dqpn);

	if (s == NULL)
		return CW_E_UNKNOWN;
	qp_erase(m, s);
	return CW_OK;
}

void cw_qpmap_age(struct cw_qpmap *m, uint64_t now, uint32_t slots)
{
	while (slots-- > 0) {
		struct qp_slot *s = &m->slots[m->age_at];

		if (m->tags[m->age_at] != 0 && is_over(m, s, now)) {
			/* What moved into the hole is looked at before going on. */
			qp_erase(m, s);
			m->count[CW_QPMAP_AGED]++;
		} else {
			m->age_at = m->age_at + 1 == m->nslots ? 0 : m->age_at + 1;
		}
	}
}

static bool is_decided(const struct cw_qpmap *m, const struct qp_slot *s)
{
	struct qp_ahead a = {.ends = qp_ends(m, &s->sender, &s->receiver)};

	a.host = qp_host(m, a.ends);
	return decided(m, s, &a);
}

bool cw_qpmap_next(const struct cw_qpmap *m, uint32_t *at, struct cw_qp_pair *out)
{
	for (; *at < m->nslots; (*at)++) {
		if (m->tags[*at] != 0) {
			const struct qp_slot *s = &m->slots[(*at)++];

			export_slot(s, is_decided(m, s), out);
			return true;
		}
	}
	return false;
}

uint32_t cw_qpmap_count(const struct cw_qpmap *m)
{
	return m->used;
}

uint64_t cw_qpmap_counter(const struct cw_qpmap *m, unsigned c)
{
	return c < CW_QPMAP_COUNTER_COUNT ? m->count[c] : 0;
}
