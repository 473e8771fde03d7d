/* qpvote.c - queue pairs from data and its answers. Spec and deviations: causeway/cnproxy.h.
 *
 * Of a request (AckReq, the end of a message, READ, atomic) addresses, PSN and UDP source port are
 * remembered. An answer the other way with the same PSN votes for every queue pair that asked
 * under the same port; or, for NICs that use their own QPN as port, under the port that is the
 * answer's destination, if its own port is the QPN asked.
 */
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "lib/cnproxy/qpmap_int.h"

uint16_t cw_roce_sport(uint32_t qpn_a, uint32_t qpn_b)
{
	uint64_t v = (uint64_t)qpn_a * qpn_b;
	uint32_t label;

	v ^= v >> 20;
	v ^= v >> 40;
	label = (uint32_t)v & 0xfffff;
	return (uint16_t)(0xc000u | ((label & 0x3fff) ^ label >> 14));
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* `asker`: from it, to the host that is asked. */
static struct qp_request *bucket_of(const struct cw_qpmap *m, struct qp_ends asker, uint32_t psn,
				    uint16_t sport, uint32_t *tag)
{
	uint64_t h = qp_hash_ends(asker, (uint64_t)psn << 16 | sport);

	*tag = (uint32_t)(h >> 32);
	return &m->requests[(size_t)((uint32_t)h & (m->buckets - 1)) * QP_WAYS];
}

static void remember(struct cw_qpmap *m, const struct qp_step *step)
{
	uint32_t tag = step->tag, dqpn = cw_bth_dqpn(step->p.bth) | QP_VALID;
	uint32_t time = (uint32_t)(step->p.now >> QP_REQUEST_SHIFT);
	struct qp_request *b = step->bucket;
	unsigned i, oldest = 0;

	m->count[CW_QPMAP_REQUESTS]++;
	for (i = 0; i < QP_WAYS; i++) {
		if (b[i].tag == tag && b[i].dqpn == dqpn) {
			b[i].time = time; /* a retransmission votes no second time */
			return;
		}
		if (time - b[i].time > time - b[oldest].time || b[i].dqpn == 0)
			oldest = i;
	}
	b[oldest] = (struct qp_request){.tag = tag, .dqpn = dqpn, .time = time};
}

/* Does a packet of this kind belong to the flow's own direction? */
static bool is_request(unsigned op)
{
	return op < CW_OP_READ_RESP_FIRST || op > CW_OP_ATOMIC_ACK;
}

/* Can an answer carry exactly its PSN? */
static bool is_answered(const struct qp_packet *p, unsigned op)
{
	switch (op) {
	case CW_OP_SEND_FIRST:
	case CW_OP_SEND_MIDDLE:
	case CW_OP_WRITE_FIRST:
	case CW_OP_WRITE_MIDDLE:
		return cw_bth_ackreq(p->bth);
	default:
		return true;
	}
}

/* ---- The flow's own packets --------------------------------------------------------------- */

static void forget_votes(struct qp_slot *s)
{
	s->sqpn = s->rival = 0;
	s->how = CW_QP_NONE;
	s->votes = s->others = s->streak = s->jumps = 0;
	s->flags &= (uint8_t) ~(QP_BACK | QP_CLOSED | QP_PSN);
}

/* Does the PSN go on from the last one? One far away is of a former life, until many insist. */
static bool psn_fits(struct cw_qpmap *m, struct qp_slot *s, uint32_t psn)
{
	uint32_t ahead = (psn - s->psn) & QPN_MASK;

	if ((s->flags & QP_PSN) == 0 || ahead < QP_PSN_JUMP || ahead > QPN_MASK - QP_PSN_JUMP) {
		if ((s->flags & QP_PSN) == 0 || ahead < QP_PSN_JUMP)
			s->psn = psn;
		s->flags |= QP_PSN;
		s->jumps = 0;
		return true;
	}
	if (++s->jumps < QP_JUMPS || s->how == CW_QP_STATIC) {
		m->count[CW_QPMAP_STALE]++;
		if (s->how != CW_QP_STATIC)
			return false;
	} else {
		forget_votes(s);
	}
	s->jumps = 0;
	s->psn = psn;
	s->flags |= QP_PSN;
	return true;
}

/* Is the slot closed still? Its packets are late ones; after the time-wait it begins anew. */
static bool still_closed(struct cw_qpmap *m, struct qp_slot *s, uint64_t now)
{
	if ((s->flags & QP_CLOSED) == 0)
		return false;
	if (QP_TICKS_SINCE(now, s->seen) <= QP_TICK(m->o.timewait_ns)) {
		m->count[CW_QPMAP_STALE]++;
		return true;
	}
	forget_votes(s);
	return false;
}

/* A packet of a pair, to the sender (QP_BACK) or its own (0). */
static void see_vlan(struct qp_slot *s, uint16_t vlan, uint8_t back)
{
	if (vlan == 0 || (s->flags & QP_BACK) > back)
		return;
	s->vlan = vlan;
	s->flags |= back;
}

/* The slot of the packet's own direction, made if there is none; NULL: there is no room. */
static struct qp_slot *own_slot(struct cw_qpmap *m, const struct qp_step *step)
{
	const struct qp_packet *p = &step->p;
	uint32_t dqpn = cw_bth_dqpn(p->bth);

	if (qp_is_at(m, step->slot, &p->u.src, &p->u.dst, dqpn))
		return step->slot;
	return qp_make(m, step->hash, &p->u.src, &p->u.dst, dqpn, p->now);
}

static void learn_request(struct cw_qpmap *m, const struct qp_step *step)
{
	const struct qp_packet *p = &step->p;
	struct qp_slot *s = own_slot(m, step);

	if (s == NULL || still_closed(m, s, p->now) || !psn_fits(m, s, cw_bth_psn(p->bth)))
		return;
	s->seen = QP_TICK(p->now);
	s->pkey = (uint16_t)cw_bth_pkey(p->bth);
	s->sport = (uint16_t)cw_udp_sport(p->u.udp);
	s->flags |= QP_PACKET | QP_PKEY;
	see_vlan(s, p->vlan, 0);
	if (CW_BTH_CLASS(p->opcode) != CW_BTH_UC && is_answered(p, CW_BTH_OP(p->opcode)))
		remember(m, step);
}

/* ---- Hosts -------------------------------------------------------------------------------- */

/* Count one of two; both are halved where they would overflow. */
static void tally(uint8_t *which, uint8_t *other)
{
	if (++*which == UINT8_MAX) {
		*which /= 2;
		*other /= 2;
	}
}

/* Is it sure by now that these hosts' ports are what Linux makes of both QPNs? */
static bool host_is_linux(const struct qp_host *h)
{
	return h->hashed >= 16 && h->hashed >= 16 * h->others;
}

/* ---- Votes -------------------------------------------------------------------------------- */

static void cast(struct cw_qpmap *m, struct qp_slot *s, uint32_t qpn)
{
	if (s->how == CW_QP_NONE) {
		s->how = CW_QP_VOTE;
		s->sqpn = qpn;
	}
	if (s->sqpn == qpn) {
		s->votes++;
		s->streak = 0;
	} else {
		s->others++;
		s->streak = s->rival == qpn ? (uint8_t)(s->streak + 1) : 1;
		s->rival = qpn;
	}
	if (s->votes >= QP_VOTES_MAX || s->others >= QP_VOTES_MAX) {
		s->votes /= 2;
		s->others /= 2;
	}
	if (s->how == CW_QP_STATIC || s->streak < m->o.min_votes)
		return;
	/* The rival wins a pair that is not decided by being better, a decided one by a streak. */
	if (qp_slot_decided(m, s) || s->how == CW_QP_CM) {
		if (s->streak < QP_STREAK)
			return;
		m->count[CW_QPMAP_CONTRADICTED]++;
	} else if (s->streak <= s->votes && s->streak < QP_STREAK) {
		return;
	}
	s->how = CW_QP_VOTE;
	s->sqpn = qpn;
	s->votes = s->others = 1;
	s->streak = 0;
}

/* The slot of the other direction, to `dqpn`; NULL: there is none. */
static struct qp_slot *other_slot(const struct cw_qpmap *m, const struct qp_step *step,
				  uint32_t dqpn)
{
	const struct qp_packet *p = &step->p;

	if (qp_is_at(m, step->back, &p->u.dst, &p->u.src, dqpn))
		return step->back;
	return qp_find(m, qp_hash_ends(qp_turned(step->ends), dqpn), &p->u.dst, &p->u.src, dqpn);
}

/* `qpn` at the answering packet's destination asked `dqpn` at its source. */
static void vote(struct cw_qpmap *m, const struct qp_step *step, uint32_t dqpn)
{
	const struct qp_packet *p = &step->p;
	uint32_t qpn = cw_bth_dqpn(p->bth);
	struct qp_slot *s = other_slot(m, step, dqpn);

	if (s == NULL || (s->flags & QP_CLOSED) != 0)
		return;
	cast(m, s, qpn);
	if (s->sqpn == qpn)
		see_vlan(s, p->vlan, QP_BACK);
	s = own_slot(m, step);
	if (s == NULL || still_closed(m, s, p->now))
		return;
	cast(m, s, dqpn);
	see_vlan(s, p->vlan, 0);
	s->seen = QP_TICK(p->now);
	m->count[CW_QPMAP_VOTES]++;
}

/* The requests that an answer fits. */
struct fits {
	struct qp_request *r[QP_WAYS];
	unsigned n;
};

static bool is_asked(const struct cw_qpmap *m, const struct qp_request *r, uint32_t tag,
		     uint64_t now)
{
	uint32_t time = (uint32_t)(now >> QP_REQUEST_SHIFT);

	return r->dqpn != 0 && r->tag == tag &&
	       time - r->time <= (uint32_t)(m->o.request_ns >> QP_REQUEST_SHIFT);
}

/* `own_port`: the answer's source port has to be the QPN that was asked. */
static void find_fits(struct cw_qpmap *m, const struct qp_packet *p, struct qp_request *b,
		      uint32_t tag, bool own_port, struct fits *f)
{
	unsigned i;

	f->n = 0;
	for (i = 0; i < QP_WAYS; i++) {
		if (is_asked(m, &b[i], tag, p->now) &&
		    (!own_port || (uint16_t)b[i].dqpn == cw_udp_sport(p->u.udp)))
			f->r[f->n++] = &b[i];
	}
}

/* Under the answer's own port; or, where NICs use their QPN, under that of the asker. */
static void find_requests(struct cw_qpmap *m, const struct qp_step *step, struct fits *f)
{
	const struct qp_packet *p = &step->p;
	struct qp_request *b;
	uint32_t tag;

	find_fits(m, p, step->bucket, step->tag, false, f);
	if (f->n > 0)
		return;
	b = bucket_of(m, qp_turned(step->ends), cw_bth_psn(p->bth), (uint16_t)cw_bth_dqpn(p->bth),
		      &tag);
	find_fits(m, p, b, tag, true, f);
}

static bool is_linux_port(const struct qp_packet *p, const struct qp_request *r)
{
	return cw_roce_sport(cw_bth_dqpn(p->bth), r->dqpn & QPN_MASK) == cw_udp_sport(p->u.udp);
}

/* Two queue pairs that share a port are told apart by how the port is made, where that is known. */
static void narrow(const struct qp_packet *p, struct fits *f)
{
	unsigned i, n = 0;

	for (i = 0; i < f->n; i++) {
		if (is_linux_port(p, f->r[i]))
			f->r[n++] = f->r[i];
	}
	if (n > 0)
		f->n = n;
}

static void vote_all(struct cw_qpmap *m, const struct qp_step *step, const struct fits *f)
{
	uint32_t voter = cw_bth_dqpn(step->p.bth) | QP_VALID;
	unsigned i;

	for (i = 0; i < f->n; i++) {
		if (f->r[i]->voter == voter) /* answered again: one vote a request */
			continue;
		f->r[i]->voter = voter;
		vote(m, step, f->r[i]->dqpn & QPN_MASK);
	}
}

static void learn_answer(struct cw_qpmap *m, const struct qp_step *step)
{
	const struct qp_packet *p = &step->p;
	struct qp_host *h = qp_host(m, step->ends);
	struct fits f;

	m->count[CW_QPMAP_ANSWERS]++;
	find_requests(m, step, &f);
	if (f.n == 0) {
		/* What a NAK misses may never have come by. */
		if (CW_BTH_OP(p->opcode) != CW_OP_ACK || cw_aeth_kind(p->ext) != CW_AETH_NAK)
			tally(&h->strays, &h->fits);
		m->count[CW_QPMAP_UNMATCHED]++;
		return;
	}
	tally(&h->fits, &h->strays);
	if (f.n > 1 && host_is_linux(h))
		narrow(p, &f);
	if (f.n > 1)
		m->count[CW_QPMAP_AMBIGUOUS]++;
	else if (is_linux_port(p, f.r[0]))
		tally(&h->hashed, &h->others);
	else
		tally(&h->others, &h->hashed);
	vote_all(m, step, &f);
}

/* ---- Bursts -------------------------------------------------------------------------------- */

static enum qp_kind kind_of(const struct qp_packet *p)
{
	unsigned class = CW_BTH_CLASS(p->opcode), op = CW_BTH_OP(p->opcode);

	if (p->opcode == CW_BTH_UD_SEND && cw_bth_dqpn(p->bth) == CW_MAD_QPN_GSI)
		return QP_CM;
	if (class != CW_BTH_RC && class != CW_BTH_UC && class != CW_BTH_XRC)
		return QP_OTHER;
	if (is_request(op))
		return QP_REQUEST;
	return op == CW_OP_READ_RESP_FIRST || op == CW_OP_READ_RESP_ONLY ||
			       op == CW_OP_ATOMIC_ACK ||
			       (op == CW_OP_ACK && cw_aeth_kind(p->ext) != CW_AETH_RESERVED)
		       ? QP_ANSWER
		       : QP_OTHER;
}

static void fetch_first(struct cw_qpmap *m, struct qp_step *s)
{
	const struct qp_packet *p = &s->p;

	s->kind = kind_of(p);
	s->slot = s->back = NULL;
	if (s->kind != QP_REQUEST && s->kind != QP_ANSWER)
		return;
	s->ends = qp_ends(m, &p->u.src, &p->u.dst);
	s->hash = qp_hash_ends(s->ends, cw_bth_dqpn(p->bth));
	qp_fetch_tags(m, s->hash);
	s->bucket = bucket_of(m, s->kind == QP_ANSWER ? qp_turned(s->ends) : s->ends,
			      cw_bth_psn(p->bth), (uint16_t)cw_udp_sport(p->u.udp), &s->tag);
	__builtin_prefetch(s->bucket, 1);
	if (s->kind == QP_ANSWER)
		__builtin_prefetch(qp_host(m, s->ends), 1);
}

/* The slot, and of an answer where the one that was asked has its tags. */
static void fetch_second(struct cw_qpmap *m, struct qp_step *s)
{
	unsigned i;

	if (s->kind != QP_REQUEST && s->kind != QP_ANSWER)
		return;
	s->slot = qp_fetch_slot(m, s->hash);
	if (s->kind == QP_REQUEST)
		return;
	for (i = 0; i < QP_WAYS && !is_asked(m, &s->bucket[i], s->tag, s->p.now);)
		i++;
	s->asked = i < QP_WAYS;
	if (!s->asked)
		return;
	s->back_hash = qp_hash_ends(qp_turned(s->ends), s->bucket[i].dqpn & QPN_MASK);
	qp_fetch_tags(m, s->back_hash);
}

static void fetch_third(struct cw_qpmap *m, struct qp_step *s)
{
	if (s->kind == QP_ANSWER && s->asked)
		s->back = qp_fetch_slot(m, s->back_hash);
}

void qp_learn(struct cw_qpmap *m, struct qp_step *step, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		fetch_first(m, &step[i]);
	for (i = 0; i < n; i++)
		fetch_second(m, &step[i]);
	for (i = 0; i < n; i++)
		fetch_third(m, &step[i]);
	for (i = 0; i < n; i++) {
		if (step[i].kind == QP_REQUEST)
			learn_request(m, &step[i]);
		else if (step[i].kind == QP_ANSWER)
			learn_answer(m, &step[i]);
		else if (step[i].kind == QP_CM)
			qp_cm(m, &step[i].p);
	}
}
