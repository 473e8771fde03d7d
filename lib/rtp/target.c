/* target.c - requests of the peer: checks, execution, answers.
 * Spec: UB 2.0 7.3, 7.4. An answer is prepared when the last packet of a request has come, never
 * before, so that it tells the initiator that all of it has arrived.
 */
#include "lib/rtp/rtp_int.h"

#define BITS         (CONTEXT_SPAN / 2)
#define PAGE         4096
#define PREFETCH_MAX 262144 /* octets of a prefetch that are touched */

static void executed(struct cw_uboe_tpg *g, uint32_t rc, uint16_t tassn);

/* ---- Answers ------------------------------------------------------------------------------ */

static void answer_push(struct op *op)
{
	op->npkts = op->len == 0 ? 1 : (op->len - 1) / op->tp->mtu + 1;
	opq_push(&op->tp->answers, op);
	dev_wake(op->tp->dev, op->tp);
}

static struct op *answer_new(struct cw_uboe_tp *tp, enum op_kind kind, uint32_t rc, uint16_t tassn)
{
	static const uint8_t opcode[] = {[OP_TAACK] = CW_TA_ACK,
					 [OP_READ_RESP] = CW_TA_READ_RESP,
					 [OP_ATOMIC_RESP] = CW_TA_ATOMIC_RESP};
	struct op *op = tp->free;

	if (op == NULL)
		return NULL;
	tp->free = op->next;
	tp->nfree--;
	memset(op, 0, offsetof(struct op, operands));
	op->tp = tp;
	op->kind = kind;
	op->opcode = opcode[kind];
	op->rc = rc;
	op->tassn = tassn;
	return op;
}

/* A Read ends when its data is read for the last time: what is ordered behind it may write there.
 */
void answer_read_done(struct op *op)
{
	if (op->seg == NULL)
		return;
	op->seg->refs--;
	op->seg = NULL;
	executed(op->tp->tpg, op->rc, op->tassn);
}

void answer_free(struct op *op)
{
	struct cw_uboe_tp *tp = op->tp;

	answer_read_done(op);
	op->next = tp->free;
	tp->free = op;
	tp->nfree++;
}

/* The TAACK that answers the successful ones so far. */
void target_flush(struct cw_uboe_tp *tp)
{
	struct op *op;

	if (tp->taack.n == 0)
		return;
	op = answer_new(tp, OP_TAACK, tp->taack.rc, tp->taack.first);
	if (op == NULL) /* room is kept for it: only when the pool is used up by hand */
		return;
	op->code = (uint8_t)CODE(CW_RSPST_OK, tp->taack.n - 1);
	tp_count(tp, CW_UBOE_C_TAACK);
	tp_count_n(tp, CW_UBOE_C_TAACK_MERGED, tp->taack.n - 1);
	tp->taack.n = 0;
	answer_push(op);
}

static void answer_ok(struct cw_uboe_tp *tp, uint32_t rc, uint16_t tassn)
{
	struct taack *a = &tp->taack;

	if (a->n > 0 &&
	    (a->rc != rc || (uint16_t)(a->first + a->n) != tassn || a->n >= tp->tpg->o.taack_max))
		target_flush(tp);
	if (a->n == 0)
		*a = (struct taack){.rc = rc, .first = tassn};
	a->n++;
	dev_wake(tp->dev, tp);
}

static void answer_code(struct cw_uboe_tp *tp, uint32_t rc, uint16_t tassn, unsigned code)
{
	struct op *op;

	target_flush(tp);
	op = answer_new(tp, OP_TAACK, rc, tassn);
	if (op == NULL)
		return;
	op->code = (uint8_t)code;
	tp_count(tp, CW_UBOE_C_TAACK);
	answer_push(op);
}

static void count_refusal(struct cw_uboe_tp *tp, unsigned code)
{
	tp_count(tp, code >> 5 == CW_RSPST_RNR          ? CW_UBOE_C_TA_RNR
		     : code >> 5 == CW_RSPST_PAGE_FAULT ? CW_UBOE_C_TA_FAULT
							: CW_UBOE_C_TA_ERROR);
}

void target_refuse(struct cw_uboe_tp *tp, const struct ta *t, unsigned code)
{
	count_refusal(tp, code);
	answer_code(tp, t->rc, t->tassn, code);
}

/* ---- Order (ROT) -------------------------------------------------------------------------- */

static struct context *context_of(struct cw_uboe_tpg *g, uint32_t rc)
{
	struct context *c = g->contexts;
	unsigned i;

	for (i = 0; i < g->o.max_contexts; i++, c++) {
		if (c->used && c->rc == rc)
			return c;
		if (!c->used) {
			c->used = true;
			c->rc = rc;
			return c;
		}
	}
	return NULL;
}

static void executed(struct cw_uboe_tpg *g, uint32_t rc, uint16_t tassn)
{
	struct context *c = g->o.service == CW_UBOE_ROT ? context_of(g, rc) : NULL;

	if (c == NULL)
		return;
	c->done[tassn % BITS / 64] |= 1ull << tassn % 64;
	while (c->done[c->base % BITS / 64] >> c->base % 64 & 1) {
		c->done[c->base % BITS / 64] &= ~(1ull << c->base % 64);
		c->base++;
	}
}

static unsigned rnr(const struct cw_uboe_tp *tp)
{
	return CODE(CW_RSPST_RNR, tp->tpg->o.rnr_timer);
}

/* A strongly ordered request is refused for now while one before it was not executed. */
static unsigned check_order(struct cw_uboe_tp *tp, const struct ta *t)
{
	struct context *c;

	if (t->odr != 2 || tp->tpg->o.service != CW_UBOE_ROT)
		return 0;
	c = context_of(tp->tpg, t->rc);
	if (c == NULL)
		return CODE(CW_RSPST_ERROR, 1);
	return c->base == t->tassn ? 0 : rnr(tp);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static unsigned abort_code(struct cw_uboe_tp *tp, enum cw_uboe_counter c)
{
	tp_count(tp, c);
	return CODE(CW_RSPST_ERROR, 2);
}

struct access {
	uint32_t token_id, token_value;
	uint64_t addr;
	uint32_t len;
	unsigned want;
};

/* 0 and the memory, or the code of the refusal. */
static unsigned reach(struct cw_uboe_tp *tp, const struct access *a, struct cw_uboe_seg **seg,
		      uint8_t **at)
{
	struct cw_uboe_seg *s = dev_seg(tp->dev, a->token_id);

	if (s == NULL || (s->o.token && s->o.token_value != a->token_value))
		return abort_code(tp, CW_UBOE_C_BAD_TOKEN);
	if ((s->o.access & a->want) != a->want)
		return abort_code(tp, CW_UBOE_C_BAD_ACCESS);
	if (a->addr < s->va || a->len > s->len || a->addr - s->va > s->len - a->len)
		return abort_code(tp, CW_UBOE_C_BAD_BOUNDS);
	if (!s->present)
		return CODE(CW_RSPST_PAGE_FAULT, tp->tpg->o.rnr_timer);
	*seg = s;
	*at = s->addr + (a->addr - s->va);
	return 0;
}

static unsigned reach_ta(struct cw_uboe_tp *tp, const struct ta *t, uint32_t len, unsigned want,
			 struct cw_uboe_seg **seg, uint8_t **at)
{
	struct access a = {t->token_id, t->token_value, t->addr, len, want};

	return reach(tp, &a, seg, at);
}

/* ---- Messages ----------------------------------------------------------------------------- */

static unsigned find_jetty(struct cw_uboe_tp *tp, const struct ta *t, uint32_t token,
			   struct cw_uboe_jetty **out)
{
	struct cw_uboe_jetty *j = t->targeted ? dev_jetty(tp->dev, t->target) : NULL;

	if (j == NULL || (j->o.token && j->o.token_value != token))
		return abort_code(tp, CW_UBOE_C_BAD_JETTY);
	*out = j;
	return 0;
}

static void complete_recv(struct cw_uboe_tp *tp, struct cw_uboe_jetty *j, const struct recv *r,
			  struct cw_uboe_cr cr)
{
	cr.op = CW_UBOE_OP_RECV;
	cr.user = r->user;
	cr.tpg = tp->tpg;
	jetty_deliver(j, &cr);
}

/* The receive that the message had taken ends without it. */
static void abandon(struct cw_uboe_tp *tp, enum cw_uboe_status why)
{
	struct rxmsg *m = &tp->msg;

	if (m->active && m->claimed)
		complete_recv(tp, m->jetty, &m->recv,
			      (struct cw_uboe_cr){.status = why, .len = m->off});
	m->active = m->claimed = false;
}

void target_abort(struct cw_uboe_tp *tp)
{
	abandon(tp, CW_UBOE_ABORTED);
}

static unsigned put_send(struct cw_uboe_tp *tp, struct rxmsg *m, const struct ta *t)
{
	unsigned code;

	if (!m->claimed) {
		code = find_jetty(tp, t, t->token_value, &m->jetty);
		if (code != 0)
			return code;
		if (!jetty_take_recv(m->jetty, &m->recv))
			return rnr(tp);
		m->claimed = true;
	}
	if (t->offset != m->off >> 10 || t->len > m->recv.len - m->off)
		return abort_code(tp, CW_UBOE_C_BAD_LENGTH);
	sg_scatter(m->recv.sge, m->off, t->payload, t->len);
	return 0;
}

/* Where the notification goes; checked before anything is written. */
static unsigned reach_notify(struct cw_uboe_tp *tp, const struct ta *t, uint8_t **at)
{
	struct access a = {cw_ntfetah_token_id(t->ntf), cw_ntfetah_token_value(t->ntf),
			   cw_ntfetah_address(t->ntf), 8, CW_UBOE_WRITE};
	struct cw_uboe_seg *s;

	return reach(tp, &a, &s, at);
}

static unsigned put_write(struct cw_uboe_tp *tp, struct rxmsg *m, const struct ta *t)
{
	uint8_t *at, *notify = NULL;
	struct cw_uboe_seg *s;
	uint64_t v;
	unsigned code;
	int i;

	if (t->len > m->total - m->off || t->length != m->total || t->addr != m->addr + m->off)
		return abort_code(tp, CW_UBOE_C_BAD_LENGTH);
	/* the first packet tells of all: then nothing is written of a Write that ends outside */
	code = reach_ta(tp, t, m->total - m->off, CW_UBOE_WRITE, &s, &at);
	if (code == 0 && t->ntf != NULL)
		code = reach_notify(tp, t, &notify);
	if (code == 0 && t->imm != NULL) {
		code = find_jetty(tp, t, cw_immetah_token_value(t->imm), &m->jetty);
		if (code == 0 && !jetty_take_recv(m->jetty, &m->recv))
			code = rnr(tp);
		m->claimed = code == 0;
	}
	if (code != 0)
		return code;
	memcpy(at, t->payload, t->len);
	if (notify != NULL) {
		v = cw_ntfetah_data(t->ntf);
		for (i = 0; i < 8; i++)
			notify[i] = (uint8_t)(v >> 8 * i);
	}
	return 0;
}

static unsigned run_read(struct cw_uboe_tp *tp, const struct ta *t)
{
	struct cw_uboe_seg *s;
	struct op *op;
	uint8_t *at;
	unsigned code = reach_ta(tp, t, t->length, CW_UBOE_READ, &s, &at);

	if (code != 0)
		return code;
	target_flush(tp);
	op = answer_new(tp, OP_READ_RESP, t->rc, t->tassn);
	if (op == NULL)
		return rnr(tp);
	op->seg = s;
	s->refs++;
	op->src = at;
	op->len = t->length;
	answer_push(op);
	return 0;
}

static unsigned run_atomic(struct cw_uboe_tp *tp, const struct ta *t)
{
	struct cw_uboe_seg *s;
	struct op *op;
	uint8_t *at;
	unsigned code;

	if (!atomic_size_ok(t->length, t->addr))
		return abort_code(tp, CW_UBOE_C_BAD_ALIGN);
	if (t->len != 2 * t->length)
		return abort_code(tp, CW_UBOE_C_BAD_LENGTH);
	code = reach_ta(tp, t, t->length, CW_UBOE_ATOMIC, &s, &at);
	if (code != 0)
		return code;
	target_flush(tp);
	op = answer_new(tp, OP_ATOMIC_RESP, t->rc, t->tassn);
	if (op == NULL)
		return rnr(tp);
	if (atomic_run(t->opcode, t->sub, at, t->length, t->payload, op->operands) != CW_OK) {
		answer_free(op);
		return CODE(CW_RSPST_ERROR, 1);
	}
	tp_count(tp, CW_UBOE_C_ATOMIC);
	op->src = op->operands;
	op->len = t->opcode == CW_TA_STORE ? 0 : t->length;
	if (!tp->dev->o.atomic_resp_lsb_first)
		octets_reverse(op->operands, op->len);
	answer_push(op);
	return 0;
}

static unsigned execute(struct cw_uboe_tp *tp, struct rxmsg *m, const struct ta *t)
{
	switch (t->opcode) {
	case CW_TA_SEND:
	case CW_TA_SEND_IMM:
		return put_send(tp, m, t);
	case CW_TA_WRITE:
	case CW_TA_WRITE_IMM:
	case CW_TA_WRITE_NOTIFY:
		return put_write(tp, m, t);
	case CW_TA_READ:
		return run_read(tp, t);
	default:
		return run_atomic(tp, t);
	}
}

static uint8_t family(uint8_t opcode)
{
	if (opcode <= CW_TA_SEND_IMM)
		return CW_TA_SEND;
	return opcode <= CW_TA_WRITE_NOTIFY ? CW_TA_WRITE : opcode;
}

static bool continues(const struct rxmsg *m, const struct ta *t, uint32_t tpmsn)
{
	return m->active && m->tpmsn == tpmsn && m->tassn == t->tassn && m->rc == t->rc &&
	       m->base_opcode == family(t->opcode);
}

static void begin(struct cw_uboe_tp *tp, const struct ta *t, uint32_t tpmsn)
{
	abandon(tp, CW_UBOE_ABORTED);
	tp->msg = (struct rxmsg){.active = true,
				 .base_opcode = family(t->opcode),
				 .tpmsn = tpmsn,
				 .tassn = t->tassn,
				 .rc = t->rc,
				 .addr = t->addr,
				 .total = t->length};
	tp->msg.code = check_order(tp, t);
}

static bool complete(const struct rxmsg *m, const struct ta *t)
{
	return m->base_opcode != CW_TA_WRITE || m->off + t->len == m->total;
}

/* The last packet was executed. */
static void finish_ok(struct cw_uboe_tp *tp, struct rxmsg *m, const struct ta *t)
{
	bool own_answer = t->opcode >= CW_TA_READ;

	if (m->claimed)
		complete_recv(
			tp, m->jetty, &m->recv,
			(struct cw_uboe_cr){.len = m->off,
					    .has_imm = t->imm != NULL,
					    .written = t->opcode == CW_TA_WRITE_IMM,
					    .imm = t->imm != NULL ? cw_immetah_imm(t->imm) : 0});
	m->active = m->claimed = false;
	if (t->opcode != CW_TA_READ)
		executed(tp->tpg, t->rc, t->tassn);
	if (tp->tpg->o.service == CW_UBOE_ROL)
		tp->ta_done = true;
	else if (!own_answer)
		answer_ok(tp, t->rc, t->tassn);
}

static void finish_refused(struct cw_uboe_tp *tp, struct rxmsg *m, const struct ta *t)
{
	unsigned code = m->code;

	abandon(tp, CW_UBOE_LENGTH);
	if (code >> 5 == CW_RSPST_ERROR)
		executed(tp->tpg, t->rc, t->tassn); /* it never will be */
	target_refuse(tp, t, code);
}

/* ROL: the transport carries the result, so a packet that can't be executed is not taken. */
static unsigned request_rol(struct cw_uboe_tp *tp, const struct ta *t, bool last)
{
	struct rxmsg *m = &tp->msg, before = *m;
	unsigned code = execute(tp, m, t);

	if (code == 0 && last && !complete(m, t))
		code = abort_code(tp, CW_UBOE_C_BAD_LENGTH);
	if (code != 0) {
		count_refusal(tp, code);
		if (code >> 5 == CW_RSPST_ERROR)
			abandon(tp, CW_UBOE_LENGTH);
		else
			*m = before;
		return code;
	}
	tp_count_n(tp, CW_UBOE_C_RX_OCTETS, t->len);
	m->off += t->len;
	if (last)
		finish_ok(tp, m, t);
	return 0;
}

/* A request's packet, in order. Needs room for two answers, so that nothing that was executed goes
 * without one; else the transport refuses the packet for now. */
unsigned target_request(struct cw_uboe_tp *tp, const struct ta *t, bool last, uint32_t tpmsn,
			uint64_t now)
{
	struct rxmsg *m = &tp->msg;

	(void)now;
	if (tp->nfree < 2) {
		tp_count(tp, CW_UBOE_C_TA_RNR);
		return rnr(tp);
	}
	if (!continues(m, t, tpmsn))
		begin(tp, t, tpmsn);
	if (tp->tpg->o.service == CW_UBOE_ROL)
		return request_rol(tp, t, last);
	if (m->code == 0)
		m->code = execute(tp, m, t);
	if (m->code == 0) {
		m->off += t->len;
		tp_count_n(tp, CW_UBOE_C_RX_OCTETS, t->len);
		if (last && m->base_opcode == CW_TA_WRITE && m->off != m->total)
			m->code = abort_code(tp, CW_UBOE_C_BAD_LENGTH);
	}
	if (!last)
		return 0;
	if (m->code == 0)
		finish_ok(tp, m, t);
	else
		finish_refused(tp, m, t);
	return 0;
}

/* UTP has no answers, so what is wrong is counted only. */
static void utp_send(struct cw_uboe_tp *tp, const struct ta *t)
{
	struct cw_uboe_jetty *j;
	struct recv r;

	if (find_jetty(tp, t, t->token_value, &j) != 0 || !jetty_take_recv(j, &r)) {
		tp_count(tp, CW_UBOE_C_UTP_DROP);
		return;
	}
	if (t->len > r.len) {
		tp_count(tp, CW_UBOE_C_BAD_LENGTH);
		complete_recv(tp, j, &r, (struct cw_uboe_cr){.status = CW_UBOE_LENGTH});
		return;
	}
	sg_scatter(r.sge, 0, t->payload, t->len);
	tp_count_n(tp, CW_UBOE_C_RX_OCTETS, t->len);
	complete_recv(tp, j, &r,
		      (struct cw_uboe_cr){.len = t->len,
					  .has_imm = t->imm != NULL,
					  .imm = t->imm != NULL ? cw_immetah_imm(t->imm) : 0});
}

/* Memory that will be needed soon: its pages are touched, which brings them in. Bounded, for a
 * packet must not buy much work; the rest is brought in when it is used. Refused like a Read,
 * except that the packet has no place for a TokenValue: a segment that wants one cannot be
 * prefetched. */
static void utp_prefetch(struct cw_uboe_tp *tp, const struct ta *t)
{
	struct cw_uboe_seg *s;
	const volatile uint8_t *page;
	uint8_t *at;
	uint32_t off;
	unsigned code = reach_ta(tp, t, t->length, 0, &s, &at);

	if (code != 0) {
		count_refusal(tp, code);
		return;
	}
	page = at;
	for (off = 0; off < min_u32(t->length, PREFETCH_MAX); off += PAGE)
		(void)page[off];
	tp_count(tp, CW_UBOE_C_PREFETCH);
}

/* UB 2.0 T7-14, T7-15: what UTP carries. Management's layout is not known, so it was refused
 * before. */
void target_utp(struct cw_uboe_tp *tp, const struct ta *t)
{
	if (t->opcode <= CW_TA_SEND_IMM)
		utp_send(tp, t);
	else if (t->opcode == CW_TA_PREFETCH)
		utp_prefetch(tp, t);
	else
		tp_count(tp, CW_UBOE_C_BAD_TA);
}
