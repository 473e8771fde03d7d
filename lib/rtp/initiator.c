/* initiator.c - requests of ours: posting, order, answers, retries, their end.
 * Spec: UB 2.0 7.3 (order), 7.4 (transactions); readings in docs/decisions.md.
 */
#include "lib/rtp/rtp_int.h"

/* Opcodes of the packets of an operation: all but the last, and the last. */
static const struct {
	uint8_t first, last;
} opcodes[CW_UBOE_OPS] = {
	[CW_UBOE_OP_SEND] = {CW_TA_SEND, CW_TA_SEND},
	[CW_UBOE_OP_SEND_IMM] = {CW_TA_SEND, CW_TA_SEND_IMM},
	[CW_UBOE_OP_WRITE] = {CW_TA_WRITE, CW_TA_WRITE},
	[CW_UBOE_OP_WRITE_IMM] = {CW_TA_WRITE, CW_TA_WRITE_IMM},
	[CW_UBOE_OP_WRITE_NOTIFY] = {CW_TA_WRITE, CW_TA_WRITE_NOTIFY},
	[CW_UBOE_OP_READ] = {CW_TA_READ, CW_TA_READ},
	[CW_UBOE_OP_CAS] = {CW_TA_CAS, CW_TA_CAS},
	[CW_UBOE_OP_SWAP] = {CW_TA_SWAP, CW_TA_SWAP},
	[CW_UBOE_OP_STORE] = {CW_TA_STORE, CW_TA_STORE},
	[CW_UBOE_OP_LOAD] = {CW_TA_LOAD, CW_TA_LOAD},
	[CW_UBOE_OP_FETCH_ADD] = {CW_TA_FETCH_ADD, CW_TA_FETCH_ADD},
	[CW_UBOE_OP_FETCH_SUB] = {CW_TA_FETCH_SUB, CW_TA_FETCH_SUB},
	[CW_UBOE_OP_FETCH_AND] = {CW_TA_FETCH_AND, CW_TA_FETCH_AND},
	[CW_UBOE_OP_FETCH_OR] = {CW_TA_FETCH_OR, CW_TA_FETCH_OR},
	[CW_UBOE_OP_FETCH_XOR] = {CW_TA_FETCH_XOR, CW_TA_FETCH_XOR},
	[CW_UBOE_OP_PREFETCH] = {CW_TA_PREFETCH, CW_TA_PREFETCH},
};

static bool is_atomic(enum cw_uboe_op op)
{
	return op >= CW_UBOE_OP_CAS && op <= CW_UBOE_OP_FETCH_XOR;
}

/* ---- Channels ----------------------------------------------------------------------------- */

/* ROT: strongly ordered work, and what follows it, keeps to the channel of what is before it, whose
 * PSNs keep the order. On another one it would come too early, be refused, and be sent again. */
static bool keeps_lane(const struct cw_uboe_tjetty *to, const struct op *op)
{
	return to->tpg->o.service == CW_UBOE_ROT && to->in_lane > 0 &&
	       (to->strong > 0 || (op->wr.flags & CW_UBOE_STRONG) != 0);
}

/* The channel that takes the next request; NULL when none lives. */
static struct cw_uboe_tp *choose_tp(struct cw_uboe_tjetty *to, const struct op *op)
{
	struct cw_uboe_tpg *g = to->tpg;
	unsigned i, at;

	if (keeps_lane(to, op) && to->lane->state == CW_UBOE_TP_READY)
		return to->lane;
	at = g->o.spread == CW_UBOE_BY_PACKET ? g->turn++ : to->rc;
	for (i = 0; i < g->ntps; i++) {
		struct cw_uboe_tp *tp = g->tps[(at + i) % g->ntps];

		if (tp->state == CW_UBOE_TP_READY)
			return tp;
	}
	return NULL;
}

static struct cw_uboe_tp *live_tp(const struct cw_uboe_tpg *g)
{
	unsigned i;

	for (i = 0; i < g->ntps; i++) {
		if (g->tps[i]->state == CW_UBOE_TP_READY)
			return g->tps[i];
	}
	return NULL;
}

static void enqueue(struct op *op, struct cw_uboe_tp *tp)
{
	op->tp = tp;
	op->next_seg = op->acked = op->got = 0;
	op->sent_all = false;
	op->npkts = op->src == NULL || op->len == 0 ? 1 : (op->len - 1) / tp->mtu + 1;
	if (is_atomic(op->wr.op))
		op->npkts = 1;
	opq_push(&tp->requests, op);
	dev_wake(tp->dev, tp);
}

/* UB 2.0 7.3, ROI: the initiator keeps a strongly ordered request back until all before it have
 * ended. ROL sends at once, except behind a Read, whose answer is read when it is sent. ROT's
 * target keeps the order; what is under way on several channels at once would make it refuse too
 * often. */
static bool must_wait(const struct cw_uboe_tjetty *to, const struct op *op)
{
	if ((op->wr.flags & CW_UBOE_STRONG) == 0)
		return false;
	switch (to->tpg->o.service) {
	case CW_UBOE_ROI:
		return to->running > 0;
	case CW_UBOE_ROL:
		return to->reads > 0;
	case CW_UBOE_ROT:
		return to->running != to->in_lane || to->reads > 0;
	default:
		return false;
	}
}

static void started(struct cw_uboe_tjetty *to, struct op *op, struct cw_uboe_tp *tp)
{
	if (to->lane != tp) {
		to->lane = tp;
		to->lane_turn++;
		to->in_lane = 0;
	}
	op->lane_turn = to->lane_turn;
	to->in_lane++;
	to->running++;
	to->reads += op->wr.op == CW_UBOE_OP_READ;
	to->strong += (op->wr.flags & CW_UBOE_STRONG) != 0;
}

static void ended(struct cw_uboe_tjetty *to, const struct op *op)
{
	to->in_lane -= op->lane_turn == to->lane_turn;
	to->running--;
	to->reads -= op->wr.op == CW_UBOE_OP_READ;
	to->strong -= (op->wr.flags & CW_UBOE_STRONG) != 0;
}

static void dispatch(struct cw_uboe_tjetty *to)
{
	struct op *op;

	if (to->dispatching) /* from below */
		return;
	to->dispatching = true;
	while ((op = to->fenced.head) != NULL && !must_wait(to, op)) {
		struct cw_uboe_tp *tp = choose_tp(to, op);

		opq_pop(&to->fenced);
		started(to, op, tp);
		if (tp == NULL)
			initiator_finish(op, CW_UBOE_FLUSHED, 0);
		else
			enqueue(op, tp);
	}
	to->dispatching = false;
}

/* ---- Posting ------------------------------------------------------------------------------ */

/* Operations that carry or bring back no octets of the caller's. */
static bool has_memory(enum cw_uboe_op op)
{
	return !is_atomic(op) && op != CW_UBOE_OP_PREFETCH;
}

/* UB 2.0 T7-14, T7-15: what UTP carries; Prefetch nothing else does. */
static bool carries(bool utp, enum cw_uboe_op op)
{
	bool send = op == CW_UBOE_OP_SEND || op == CW_UBOE_OP_SEND_IMM;

	return utp ? send || op == CW_UBOE_OP_PREFETCH : op != CW_UBOE_OP_PREFETCH;
}

static bool pieces_fit(const struct cw_uboe_wr *wr)
{
	struct cw_uboe_sge list[CW_UBOE_SGE_MAX];
	uint64_t total;

	return sg_take(list, wr->sge, wr->nsge, &total) && total == wr->len;
}

static int check_wr(const struct cw_uboe_tjetty *to, const struct cw_uboe_wr *wr,
		    const struct cw_uboe_tp *tp)
{
	bool utp = to->tpg->o.service == CW_UBOE_UNO;

	if ((unsigned)wr->op >= CW_UBOE_OP_RECV || wr->token_id > ID20_MASK ||
	    wr->notify_token_id > ID20_MASK || (unsigned)wr->sub > CW_UBOE_SUB_UMIN)
		return CW_E_ARG;
	if (is_atomic(wr->op) && (!atomic_size_ok(wr->len, 0) || wr->operand1 == NULL ||
				  (wr->op == CW_UBOE_OP_CAS && wr->operand2 == NULL)))
		return CW_E_ARG;
	if (wr->nsge > 0 && (!has_memory(wr->op) || !pieces_fit(wr)))
		return CW_E_ARG;
	if (has_memory(wr->op) && wr->len != 0 && wr->local == NULL && wr->nsge == 0)
		return CW_E_ARG;
	if (!carries(utp, wr->op))
		return CW_E_FORBIDDEN;
	/* PSNs of one operation must stay tellable from those half a turn away */
	if (!utp && wr->len / tp->mtu >= PSN_HALF / 2)
		return CW_E_RANGE;
	return utp && has_memory(wr->op) && wr->len > tp->mtu ? CW_E_RANGE : CW_OK;
}

/* Operands go out least significant octet first (UB 2.0 7.4.2.3). */
static void take_operands(struct op *op)
{
	const struct cw_uboe_wr *wr = &op->wr;

	memset(op->operands, 0, sizeof(op->operands));
	memcpy(op->operands, wr->operand1, wr->len);
	if (wr->operand2 != NULL)
		memcpy(op->operands + wr->len, wr->operand2, wr->len);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	octets_reverse(op->operands, wr->len);
	octets_reverse(op->operands + wr->len, wr->len);
#endif
	op->src = op->operands;
	op->len = 2 * wr->len;
}

static struct op *op_new(struct cw_uboe_jetty *j, struct cw_uboe_tjetty *to,
			 const struct cw_uboe_wr *wr)
{
	struct op *op = j->free;

	j->free = op->next;
	memset(op, 0, offsetof(struct op, operands));
	op->kind = OP_REQUEST;
	op->wr = *wr;
	op->to = to;
	op->rc = to->rc;
	op->tassn = to->tassn;
	op->opcode = opcodes[wr->op].first;
	op->last_opcode = opcodes[wr->op].last;
	op->cr =
		(struct cw_uboe_cr){.op = wr->op, .user = wr->user, .len = wr->len, .tpg = to->tpg};
	op->nsge = wr->nsge;
	if (wr->nsge > 0)
		memcpy(op->sge, wr->sge, wr->nsge * sizeof(*wr->sge));
	if (is_atomic(wr->op)) {
		take_operands(op);
	} else if (wr->nsge > 0 && wr->op != CW_UBOE_OP_READ) {
		op->src = (const uint8_t *)op->sge; /* there is payload; gathered from the list */
		op->len = wr->len;
	} else if (wr->op != CW_UBOE_OP_READ && wr->op != CW_UBOE_OP_PREFETCH) {
		op->src = wr->local;
		op->len = wr->len;
	}
	return op;
}

static void link_op(struct cw_uboe_jetty *j, struct op *op)
{
	op->older = j->newest;
	if (j->newest != NULL)
		j->newest->newer = op;
	else
		j->oldest = op;
	j->newest = op;
	j->squsage++;
}

int cw_uboe_post(struct cw_uboe_tjetty *to, const struct cw_uboe_wr *wr)
{
	struct cw_uboe_jetty *j = to->jetty;
	struct cw_uboe_tp *tp = live_tp(to->tpg);
	struct op *op;
	int err;

	if (tp == NULL)
		return CW_E_STATE;
	err = check_wr(to, wr, tp);
	if (err != CW_OK)
		return err;
	if (j->squsage == j->o.send_depth || to->ring[to->tassn & to->mask] != NULL)
		return CW_E_SPACE;
	op = op_new(j, to, wr);
	link_op(j, op);
	to->ring[to->tassn & to->mask] = op;
	to->unreleased++;
	to->tassn++;
	opq_push(&to->fenced, op);
	dispatch(to);
	return CW_OK;
}

/* ---- The end of a request ----------------------------------------------------------------- */

void initiator_finish(struct op *op, enum cw_uboe_status status, unsigned code)
{
	struct cw_uboe_tjetty *to = op->to;

	if (op->waiting)
		op->tp->waiting--;
	op->waiting = false;
	op->cr.status = status;
	op->cr.rspst = (uint8_t)(code >> 5);
	op->cr.rspinfo = code & 31;
	to->ring[op->tassn & to->mask] = NULL;
	ended(to, op);
	if (op->taken) {
		op->tp->taken--;
		dev_wake(op->tp->dev, op->tp);
	}
	op->taken = false;
	jetty_complete(op);
	dispatch(to);
}

/* All packets of a request have arrived at the peer. */
void initiator_acked(struct op *op, uint64_t now)
{
	enum cw_uboe_service s = op->to->tpg->o.service;
	bool answer = op->wr.op == CW_UBOE_OP_READ || is_atomic(op->wr.op);

	if (op->code == CODE(CW_RSPST_TA, 1))
		initiator_finish(op, CW_UBOE_REMOTE, op->code);
	else if (op->code == 0xff) /* RSPST 5, RSPINFO 0: the transaction is to be sent anew */
		initiator_retry(op, CODE(CW_RSPST_RNR, 0), now);
	else if (s == CW_UBOE_ROL && !answer)
		initiator_finish(op, CW_UBOE_OK, 0);
	else {
		op->waiting = true;
		if (op->tp->waiting++ == 0)
			op->tp->answered_at = now;
		tp_keepalive(op->tp, now);
	}
}

/* Nanoseconds to wait for an RNR timer (2 us << n), longer when it goes on. */
uint64_t rnr_wait(unsigned code, unsigned tries)
{
	unsigned n = code & 31, more = tries / 4;

	return (uint64_t)2000 << ((n > 19 ? 19 : n) + (more > 10 ? 10 : more));
}

void initiator_retry(struct op *op, unsigned code, uint64_t now)
{
	unsigned limit = op->to->tpg->o.ta_retries;

	if (limit != 0 && op->tries >= limit) {
		initiator_finish(op, (enum cw_uboe_status)ta_code_to_status(code), code);
		return;
	}
	if (op->waiting)
		op->tp->waiting--;
	op->waiting = op->sent_all = false;
	op->code = 0;
	op->again = true;
	op->not_before = now + min_u64(rnr_wait(code, op->tries), 1000000000);
	op->tries++;
	tp_count(op->tp, CW_UBOE_C_TA_RETRY);
	opq_push(&op->tp->retry, op);
	dev_timer(op->tp->dev, op->not_before);
}

/* The channel is gone: everything that it had taken ends. */
void initiator_fail_all(struct cw_uboe_tp *tp, enum cw_uboe_status why)
{
	struct cw_uboe_tjetty *to;
	uint32_t i;

	for (to = tp->tpg->tjettys; to != NULL; to = to->next) {
		for (i = 0; i <= to->mask; i++) {
			struct op *op = to->ring[i];

			if (op != NULL && op->tp == tp)
				initiator_finish(op, why, 0);
		}
	}
}

/* ---- Answers ------------------------------------------------------------------------------ */

/* The request that an answer is for: ours, on this channel, sent as a whole. An answer shows too
 * that all packets of the request have arrived. */
static struct op *find(struct cw_uboe_tp *tp, uint32_t rc, uint16_t tassn, uint64_t now)
{
	struct cw_uboe_tjetty *to = rc < tp->dev->ntjettys ? tp->dev->tjettys[rc] : NULL;
	struct op *op;

	if (to == NULL || to->tpg != tp->tpg)
		return NULL;
	op = to->ring[tassn & to->mask];
	if (op == NULL || op->tassn != tassn || op->tp != tp || !op->sent_all || op->done)
		return NULL;
	if (!op->waiting && op->acked != op->npkts)
		tp_advance(tp, psn_add(op->last_psn, 1), now);
	if (to->ring[tassn & to->mask] != op || !op->waiting) /* that may have finished it */
		return NULL;
	tp->answered_at = now;
	return op;
}

static void answered(struct cw_uboe_tp *tp, const struct ta *t, uint16_t tassn, uint64_t now)
{
	struct op *op = find(tp, t->rc, tassn, now);
	unsigned code = CODE(t->rspst, t->rspst == CW_RSPST_OK ? 0 : t->rspinfo);

	if (op == NULL) {
		tp_count(tp, CW_UBOE_C_TA_STRAY);
		return;
	}
	if (t->rspst == CW_RSPST_RNR || t->rspst == CW_RSPST_PAGE_FAULT)
		initiator_retry(op, code, now);
	else if (t->rspst != CW_RSPST_OK)
		initiator_finish(op, (enum cw_uboe_status)ta_code_to_status(code), code);
	else if (op->wr.op == CW_UBOE_OP_READ || is_atomic(op->wr.op))
		initiator_finish(op, CW_UBOE_REMOTE, 0); /* success without the data */
	else
		initiator_finish(op, CW_UBOE_OK, 0);
}

static void taack(struct cw_uboe_tp *tp, const struct ta *t, uint64_t now)
{
	unsigned i, n = t->rspst == CW_RSPST_OK ? t->rspinfo + 1u : 1;

	if (t->rspst == CW_RSPST_TA) /* received, not placed yet: another one follows */
		return;
	for (i = 0; i < n; i++)
		answered(tp, t, (uint16_t)(t->tassn + i), now);
}

static void read_answer(struct cw_uboe_tp *tp, const struct ta *t, bool last, uint64_t now)
{
	uint32_t skip = tp->o.resp_offset ? CW_SIZE_OFSTETAH : 0, n;
	struct op *op = find(tp, t->rc, t->tassn, now);

	if (op == NULL || op->wr.op != CW_UBOE_OP_READ) {
		tp_count(tp, CW_UBOE_C_TA_STRAY);
		return;
	}
	n = t->len >= skip ? t->len - skip : 0;
	if (t->len < skip || n > op->wr.len - op->got) {
		tp_count(tp, CW_UBOE_C_BAD_LENGTH);
		initiator_finish(op, CW_UBOE_REMOTE, 0);
		return;
	}
	if (op->nsge > 0)
		sg_scatter(op->sge, op->got, t->payload + skip, n);
	else if (n > 0)
		memcpy((uint8_t *)op->wr.local + op->got, t->payload + skip, n);
	op->got += n;
	if (last)
		initiator_finish(op, op->got == op->wr.len ? CW_UBOE_OK : CW_UBOE_REMOTE, 0);
}

static void atomic_answer(struct cw_uboe_tp *tp, const struct ta *t, uint64_t now)
{
	struct op *op = find(tp, t->rc, t->tassn, now);
	uint32_t n, over;

	if (op == NULL || !is_atomic(op->wr.op)) {
		tp_count(tp, CW_UBOE_C_TA_STRAY);
		return;
	}
	n = op->wr.op == CW_UBOE_OP_STORE ? 0 : op->wr.len;
	over = t->len - n; /* a TAIDETAH may be in front */
	if (t->len < n || (over != 0 && over != CW_SIZE_TAIDETAH)) {
		tp_count(tp, CW_UBOE_C_BAD_LENGTH);
		initiator_finish(op, CW_UBOE_REMOTE, 0);
		return;
	}
	if (op->wr.local != NULL && n > 0) {
		memcpy(op->wr.local, t->payload + over, n);
		if (tp->dev->o.atomic_resp_lsb_first != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
			octets_reverse(op->wr.local, n);
	}
	initiator_finish(op, CW_UBOE_OK, 0);
}

void initiator_response(struct cw_uboe_tp *tp, const struct ta *t, bool last, uint64_t now)
{
	if (t->opcode == CW_TA_ACK)
		taack(tp, t, now);
	else if (t->rspst != CW_RSPST_OK)
		answered(tp, t, t->tassn, now);
	else if (t->opcode == CW_TA_READ_RESP)
		read_answer(tp, t, last, now);
	else
		atomic_answer(tp, t, now);
}
