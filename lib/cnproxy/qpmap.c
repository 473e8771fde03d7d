/* qpmap.c - the table of queue pairs. Spec and deviations: causeway/cnproxy.h.
 *
 * Open addressing with linear probing over 64-octet slots; erasing shifts back, so there are no
 * tombstones. A slot is one direction; a vote touches both directions of a connection.
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
	m->slots = aligned_alloc(64, (size_t)m->nslots * sizeof(*m->slots));
	m->nhosts = round_up(o->pairs / 4);
	m->hosts = calloc(m->nhosts, sizeof(*m->hosts));
	m->requests = aligned_alloc(64, (size_t)m->buckets * QP_WAYS * sizeof(*m->requests));
	m->conns = calloc(m->o.connections, sizeof(*m->conns));
	if (m->slots == NULL || m->requests == NULL || m->conns == NULL || m->hosts == NULL) {
		cw_qpmap_free(m);
		return CW_E_NOMEM;
	}
	memset(m->slots, 0, (size_t)m->nslots * sizeof(*m->slots));
	memset(m->requests, 0, (size_t)m->buckets * QP_WAYS * sizeof(*m->requests));
	*out = m;
	return CW_OK;
}

void cw_qpmap_free(struct cw_qpmap *m)
{
	if (m == NULL)
		return;
	free(m->slots);
	free(m->requests);
	free(m->hosts);
	free(m->conns);
	free(m);
}

size_t cw_qpmap_memory(const struct cw_qpmap *m)
{
	return sizeof(*m) + (size_t)m->nslots * sizeof(*m->slots) +
	       (size_t)m->buckets * QP_WAYS * sizeof(*m->requests) +
	       (size_t)m->nhosts * sizeof(*m->hosts) + (size_t)m->o.connections * sizeof(*m->conns);
}

/* ---- Slots -------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 u128;

static uint64_t mix(uint64_t a, uint64_t b)
{
	u128 p = (u128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t qp_hash(uint64_t seed, const struct cw_gid *a, const struct cw_gid *b, uint64_t more)
{
	uint64_t h = mix(seed ^ load(a->o) ^ 0xa0761d6478bd642full,
			 load(a->o + 8) ^ 0xe7037ed1a0b428dbull);

	h = mix(h ^ load(b->o), load(b->o + 8) ^ 0x8ebc6af09c88c6e3ull ^ seed);
	return mix(h ^ more, seed ^ 0x589965cc75374cc3ull);
}

static uint32_t home_of(const struct cw_qpmap *m, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn)
{
	uint64_t h = qp_hash(m->o.seed, sender, receiver, dqpn);

	return (uint32_t)((h >> 32) * m->nslots >> 32);
}

static bool same_key(const struct qp_slot *s, const struct cw_gid *sender,
		     const struct cw_gid *receiver, uint32_t dqpn)
{
	return s->dqpn == dqpn && memcmp(&s->sender, sender, sizeof(*sender)) == 0 &&
	       memcmp(&s->receiver, receiver, sizeof(*receiver)) == 0;
}

/* Index of the key's slot, or of the free one that ends its run. */
static uint32_t probe(const struct cw_qpmap *m, const struct cw_gid *sender,
		      const struct cw_gid *receiver, uint32_t dqpn)
{
	uint32_t i = home_of(m, sender, receiver, dqpn);

	while ((m->slots[i].flags & QP_USED) != 0 &&
	       !same_key(&m->slots[i], sender, receiver, dqpn))
		i = i + 1 == m->nslots ? 0 : i + 1;
	return i;
}

struct qp_slot *qp_find(struct cw_qpmap *m, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn)
{
	struct qp_slot *s = &m->slots[probe(m, sender, receiver, dqpn)];

	return (s->flags & QP_USED) != 0 ? s : NULL;
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
		s = &m->slots[i];
		if ((s->flags & QP_USED) == 0)
			break;
		home = home_of(m, &s->sender, &s->receiver, s->dqpn);
		if (between(hole, home, i))
			continue;
		m->slots[hole] = *s;
		hole = i;
	}
	memset(&m->slots[hole], 0, sizeof(m->slots[hole]));
	m->used--;
}

/* A full map gives up the oldest undecided pair near the new one's place: a flood of invented
 * flows must not keep real ones out, nor throw out what was learned. */
static bool make_room(struct cw_qpmap *m, uint32_t home)
{
	struct qp_slot *worst = NULL;
	unsigned i;

	for (i = 0; i < 16; i++) {
		struct qp_slot *s = &m->slots[(home + i) % m->nslots];

		if ((s->flags & QP_USED) == 0 || s->how >= CW_QP_CM || qp_slot_decided(m, s))
			continue;
		if (worst == NULL || s->seen < worst->seen)
			worst = s;
	}
	if (worst != NULL)
		qp_erase(m, worst);
	return worst != NULL;
}

struct qp_slot *qp_make(struct cw_qpmap *m, const struct cw_gid *sender,
			const struct cw_gid *receiver, uint32_t dqpn, uint64_t now)
{
	struct qp_slot *s = qp_find(m, sender, receiver, dqpn);

	if (s != NULL)
		return s;
	if (m->used >= m->o.pairs && !make_room(m, home_of(m, sender, receiver, dqpn))) {
		m->count[CW_QPMAP_FULL]++;
		return NULL;
	}
	s = &m->slots[probe(m, sender, receiver, dqpn)];
	*s = (struct qp_slot){.sender = *sender,
			      .receiver = *receiver,
			      .dqpn = dqpn,
			      .flags = QP_USED,
			      .seen = QP_TICK(now)};
	m->used++;
	return s;
}

/* ---- Packets ------------------------------------------------------------------------------ */

/* IPv4 or IPv6 with UDP right behind: offset of UDP, 0 for anything else. */
static size_t udp_of(const uint8_t *ip, size_t len, size_t wire, struct qp_packet *p)
{
	size_t hlen, total;

	if (len >= CW_SIZE_IPV4 && cw_ipv4_version(ip) == 4) {
		hlen = 4 * (size_t)cw_ipv4_ihl(ip);
		total = cw_ipv4_length(ip);
		if (cw_ipv4_proto(ip) != CW_IPPROTO_UDP || cw_ipv4_mf(ip) ||
		    cw_ipv4_frag_off(ip) != 0 || hlen < CW_SIZE_IPV4)
			return 0;
		p->src = cw_gid_of(4, cw_ipv4_src(ip));
		p->dst = cw_gid_of(4, cw_ipv4_dst(ip));
	} else if (len >= CW_SIZE_IPV6 && cw_ipv6_version(ip) == 6) {
		hlen = CW_SIZE_IPV6;
		total = CW_SIZE_IPV6 + (size_t)cw_ipv6_length(ip);
		if (cw_ipv6_next_header(ip) != CW_IPPROTO_UDP)
			return 0;
		p->src = cw_gid_of(6, cw_ipv6_src(ip));
		p->dst = cw_gid_of(6, cw_ipv6_dst(ip));
	} else {
		return 0;
	}
	if (total > wire || len < hlen + CW_SIZE_UDP || total < hlen + CW_SIZE_UDP)
		return 0;
	p->ip = ip;
	p->ip_len = total;
	p->len = len < total ? len : total;
	return hlen;
}

/* CW_OK for RoCEv2, CW_E_UNKNOWN for other packets, CW_E_LENGTH. */
static int parse(const uint8_t *ip, size_t len, size_t wire, struct qp_packet *p)
{
	const struct cw_hdr *ext[CW_BTH_EXT_MAX + 1];
	size_t at = udp_of(ip, len, wire, p), need = CW_SIZE_BTH;
	int i, n;

	if (at == 0 || cw_udp_dport(ip + at) != CW_ROCE_PORT)
		return CW_E_UNKNOWN;
	if (cw_udp_length(ip + at) != p->ip_len - at ||
	    p->ip_len - at < CW_SIZE_UDP + CW_SIZE_BTH + CW_ICRC_LEN ||
	    p->len - at < CW_SIZE_UDP + CW_SIZE_BTH)
		return CW_E_LENGTH;
	p->udp = ip + at;
	p->bth = p->udp + CW_SIZE_UDP;
	p->opcode = (uint8_t)cw_bth_opcode(p->bth);
	if ((n = cw_bth_extensions(p->opcode, ext)) < 0)
		return CW_E_UNKNOWN;
	p->ext = p->bth + CW_SIZE_BTH;
	for (i = 0; i < n; i++)
		need += ext[i]->size;
	at += CW_SIZE_UDP;
	return p->len - at < need || p->ip_len - at - CW_ICRC_LEN < need + cw_bth_padcnt(p->bth)
		       ? CW_E_LENGTH
		       : CW_OK;
}

void cw_qpmap_packet(struct cw_qpmap *m, const uint8_t *ip, size_t len, size_t wire, uint64_t now)
{
	struct qp_packet p;
	int err = parse(ip, len, wire, &p);

	if (err == CW_E_UNKNOWN)
		return;
	m->count[CW_QPMAP_PACKETS]++;
	if (err < 0 || cw_bth_tver(p.bth) != 0)
		m->count[CW_QPMAP_MALFORMED]++;
	else if (p.opcode == CW_BTH_UD_SEND && cw_bth_dqpn(p.bth) == CW_MAD_QPN_GSI)
		qp_cm(m, &p, now);
	else
		qp_learn(m, &p, now);
}

/* ---- Lookups ------------------------------------------------------------------------------ */

bool qp_slot_decided(const struct cw_qpmap *m, const struct qp_slot *s)
{
	if (s->how == CW_QP_STATIC)
		return true;
	/* While its PSNs contradict, nobody knows whose the queue pair is. */
	if ((s->flags & QP_CLOSED) != 0 || s->jumps > 0)
		return false;
	if (s->how == CW_QP_CM)
		return true;
	return s->votes >= m->o.min_votes && s->votes >= m->o.ratio * s->others;
}

/* The other direction has to agree with a pair that was voted for. */
static bool decided(const struct cw_qpmap *m, const struct qp_slot *s)
{
	const struct qp_slot *r;

	if (!qp_slot_decided(m, s))
		return false;
	if (s->how >= CW_QP_CM)
		return true;
	if (!qp_host_fits(qp_host(m, &s->sender, &s->receiver)))
		return false;
	r = &m->slots[probe(m, &s->receiver, &s->sender, s->sqpn)];
	return (r->flags & QP_USED) != 0 && r->sqpn == s->dqpn && qp_slot_decided(m, r);
}

static void export_slot(const struct cw_qpmap *m, const struct qp_slot *s, struct cw_qp_pair *out)
{
	bool seen = (s->flags & QP_PACKET) != 0;

	*out = (struct cw_qp_pair){
		.sender = s->sender,
		.receiver = s->receiver,
		.dqpn = s->dqpn,
		.sqpn = s->sqpn,
		.how = (enum cw_qp_how)s->how,
		.decided = decided(m, s),
		.closed = (s->flags & QP_CLOSED) != 0,
		.votes = s->votes,
		.rivals = s->others,
		.pkey_known = seen,
		.pkey = seen ? s->pkey : 0xffff,
		.sport = seen ? s->sport : 0,
		.linux_port =
			seen && s->how != CW_QP_NONE && s->sport == cw_roce_sport(s->sqpn, s->dqpn),
		.qpn_port = seen && s->how != CW_QP_NONE && s->sport == (uint16_t)s->sqpn,
		.seen_ns = (uint64_t)s->seen << QP_TICK_SHIFT,
	};
}

int cw_qpmap_lookup(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		    uint32_t dqpn, uint64_t now, struct cw_qp_pair *out)
{
	struct qp_slot *s;
	struct cw_qp_pair pair;

	__builtin_prefetch(qp_host(m, sender, receiver));
	s = qp_find(m, sender, receiver, dqpn);
	m->count[CW_QPMAP_LOOKUPS]++;
	if (s != NULL && s->how != CW_QP_STATIC && m->o.idle_ns != 0 &&
	    QP_TICK(now) - s->seen > QP_TICK(m->o.idle_ns)) {
		qp_erase(m, s);
		m->count[CW_QPMAP_AGED]++;
		s = NULL;
	}
	if (s == NULL) {
		m->count[CW_QPMAP_UNKNOWN]++;
		return CW_E_UNKNOWN;
	}
	export_slot(m, s, &pair);
	if (out != NULL)
		*out = pair;
	m->count[pair.decided ? CW_QPMAP_HITS : CW_QPMAP_UNDECIDED]++;
	return pair.decided ? CW_OK : CW_E_STATE;
}

int cw_qpmap_add(struct cw_qpmap *m, const struct cw_gid *sender, const struct cw_gid *receiver,
		 uint32_t dqpn, uint32_t sqpn, uint64_t now)
{
	struct qp_slot *s;

	if (dqpn > QPN_MASK || sqpn > QPN_MASK)
		return CW_E_RANGE;
	if ((s = qp_make(m, sender, receiver, dqpn, now)) == NULL)
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
	struct qp_slot *s = qp_find(m, sender, receiver, dqpn);

	if (s == NULL)
		return CW_E_UNKNOWN;
	qp_erase(m, s);
	return CW_OK;
}

void cw_qpmap_age(struct cw_qpmap *m, uint64_t now, uint32_t slots)
{
	while (slots-- > 0 && m->o.idle_ns != 0) {
		struct qp_slot *s = &m->slots[m->age_at];

		if ((s->flags & QP_USED) != 0 && s->how != CW_QP_STATIC &&
		    QP_TICK(now) - s->seen > QP_TICK(m->o.idle_ns)) {
			/* What moved into the hole is looked at before going on. */
			qp_erase(m, s);
			m->count[CW_QPMAP_AGED]++;
		} else {
			m->age_at = m->age_at + 1 == m->nslots ? 0 : m->age_at + 1;
		}
	}
}

bool cw_qpmap_next(const struct cw_qpmap *m, uint32_t *at, struct cw_qp_pair *out)
{
	for (; *at < m->nslots; (*at)++) {
		if ((m->slots[*at].flags & QP_USED) != 0) {
			export_slot(m, &m->slots[(*at)++], out);
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
