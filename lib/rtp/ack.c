/* ack.c - acknowledgements in: the sender's side of RTP.
 * Spec: UB 2.0 6.2.1, 6.2.3, 6.4.
 */
#include "lib/rtp/rtp_int.h"

/* Sent, and not known to be received? */
static bool outstanding(const struct cw_uboe_tp *tp, uint32_t psn)
{
	return psn_sub(psn, tp->una) < psn_sub(tp->nxt, tp->una);
}

static void op_packet_acked(struct op *op, uint64_t now)
{
	if (++op->acked != op->npkts)
		return;
	if (op->kind == OP_REQUEST)
		initiator_acked(op, now);
	else
		answer_free(op);
}

/* Everything before `upto` was received in order. Ignored unless it is progress. */
void tp_advance(struct cw_uboe_tp *tp, uint32_t upto, uint64_t now)
{
	uint32_t n = psn_sub(upto, tp->una);

	if (n == 0 || n > psn_sub(tp->nxt, tp->una))
		return;
	tp->rto_times = 0;
	tp->rnr_times = 0;
	tp->progress_at = now;
	while (tp->una != upto && tp->state == CW_UBOE_TP_READY) {
		struct pkt *k = pkt_at(tp, tp->una);

		tp->una = psn_add(tp->una, 1);
		if (k->flags & PKT_SACKED) {
			tp->nsacked--;
		} else {
			loss_arrived(tp, k, now);
		}
		op_packet_acked(k->op, now);
	}
	if (psn_sub(tp->rtx_from, tp->una) >= PSN_HALF)
		tp->rtx_from = tp->una;
	tp_restart_rto(tp, now);
	dev_wake(tp->dev, tp);
}

/* True when it tells of packets that were not known to have arrived. */
static bool take_bitmap(struct cw_uboe_tp *tp, uint32_t psn, const uint8_t *map, uint32_t octets,
			uint64_t now)
{
	bool news = false;
	uint32_t k;

	for (k = 1; k < 8 * octets; k++) {
		uint32_t at = psn_add(psn, k);
		struct pkt *pk = pkt_at(tp, at);

		if (!outstanding(tp, at))
			break;
		if ((pk->flags & PKT_SACKED) ||
		    !cw_saetph_bit(map, octets, k, tp->dev->o.sack_big_endian))
			continue;
		loss_arrived(tp, pk, now);
		loss_sacked(tp, pk);
		news = true;
	}
	return news;
}

static void on_sack(struct cw_uboe_tp *tp, uint32_t psn, const uint8_t *p, uint32_t len,
		    uint64_t now)
{
	uint32_t octets = len >= CW_SIZE_SAETPH ? cw_saetph_octets(cw_saetph_bitmap_size(p)) : 0;
	uint32_t max_rcv;

	if (octets == 0 || len < CW_SIZE_SAETPH + octets) {
		tp_count(tp, CW_UBOE_C_BAD_SHORT);
		return;
	}
	tp_count(tp, CW_UBOE_C_RX_SACK);
	max_rcv = cw_saetph_max_rcv_psn(p);
	tp_advance(tp, psn_add(psn, 1), now);
	if (tp->state != CW_UBOE_TP_READY || psn_add(psn, 1) != tp->una ||
	    !outstanding(tp, max_rcv))
		return;
	if (take_bitmap(tp, psn, p + CW_SIZE_SAETPH, octets, now) && tp->o.fast) {
		tp->progress_at = now;
		tp_restart_rto(tp, now);
	}
}

/* RNR or page fault of the transport: wait, then send again from the packet that was refused. */
static void on_rnr(struct cw_uboe_tp *tp, uint32_t psn, unsigned code, uint64_t now)
{
	unsigned times = tp->rnr_times;

	tp_count(tp, CW_UBOE_C_RX_RNR);
	tp_advance(tp, psn, now);
	tp->rto_times = 0; /* it lives */
	if (psn != tp->una || tp->una == tp->nxt || tp->rnr_until != 0)
		return;
	tp->rnr_times = tp->rnr_times == 0 && times != 0 ? 1 : times + 1;
	if (tp->o.rnr_retries != 0 && tp->rnr_times > tp->o.rnr_retries) {
		struct op *op = pkt_at(tp, psn)->op;

		if (op->kind == OP_REQUEST && !op->waiting)
			initiator_finish(op, (enum cw_uboe_status)ta_code_to_status(code), code);
		tp_fail(tp, CW_UBOE_FLUSHED);
		return;
	}
	tp->rnr_until = now + min_u64(rnr_wait(code, tp->rnr_times), 1000000000);
	dev_timer(tp->dev, tp->rnr_until);
	loss_refused(tp, psn);
	if (tp->o.retx == CW_UBOE_GBN) /* a selective receiver keeps what is behind it */
		loss_go_back(tp, psn, false);
	cc_lost_all(tp);
	tp_keepalive(tp, now);
}

/* The peer's channel can't go on. In ROL the packet it names is to blame. */
static void on_error(struct cw_uboe_tp *tp, uint32_t psn, unsigned code, uint64_t now)
{
	struct op *op;

	tp_advance(tp, psn, now);
	if (tp->tpg->o.service != CW_UBOE_ROL) {
		tp_fail(tp, CW_UBOE_PEER_FAILED);
		return;
	}
	op = outstanding(tp, psn) ? pkt_at(tp, psn)->op : NULL;
	if (op != NULL && op->kind == OP_REQUEST)
		initiator_finish(op, (enum cw_uboe_status)ta_code_to_status(code), code);
	tp_fail(tp, op != NULL ? CW_UBOE_FLUSHED : CW_UBOE_PEER_FAILED);
}

static void on_nak(struct cw_uboe_tp *tp, uint32_t psn, uint64_t now)
{
	tp_count(tp, CW_UBOE_C_RX_NAK);
	tp_advance(tp, psn, now);
	if (psn != tp->una || tp->una == tp->nxt)
		return;
	loss_go_back(tp, psn, true);
	cc_lost_all(tp);
}

/* RSPST 5: the result of the transaction whose last packet this is (ROL). */
static void take_result(struct cw_uboe_tp *tp, uint32_t psn, unsigned info)
{
	if (!outstanding(tp, psn) || pkt_at(tp, psn)->op->kind != OP_REQUEST)
		return;
	if (info == 0)
		pkt_at(tp, psn)->op->code = 0xff;
	else if (info == 1)
		pkt_at(tp, psn)->op->code = CODE(CW_RSPST_TA, 1);
}

static void on_ack(struct cw_uboe_tp *tp, uint32_t psn, const uint8_t *tph, uint64_t now)
{
	unsigned code = CODE(cw_rtph_rspst(tph), cw_rtph_rspinfo(tph));

	switch (cw_rtph_rspst(tph)) {
	case CW_RSPST_OK:
	case CW_RSPST_TA:
		if (cw_rtph_rspst(tph) == CW_RSPST_TA)
			take_result(tp, psn, cw_rtph_rspinfo(tph));
		tp_count(tp, CW_UBOE_C_RX_ACK);
		tp_advance(tp, psn_add(psn, 1), now);
		break;
	case CW_RSPST_RNR:
	case CW_RSPST_PAGE_FAULT:
		on_rnr(tp, psn, code, now);
		break;
	case CW_RSPST_ERROR:
		if (cw_rtph_rspinfo(tph) == 0)
			on_nak(tp, psn, now);
		else
			on_error(tp, psn, code, now);
		break;
	default:
		tp_count(tp, CW_UBOE_C_BAD_OPCODE);
	}
}

/* Does it speak of what is in flight, or repeat the last thing that was acknowledged? */
static bool plausible(const struct cw_uboe_tp *tp, uint32_t psn, bool cumulative)
{
	uint32_t upto = psn_add(psn, cumulative);

	return psn_sub(upto, tp->una) <= psn_sub(tp->nxt, tp->una);
}

/* A TPACK, TPNAK or TPSACK; octets behind it are ignored (another implementation adds an ATAH). */
void tp_response(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint64_t now)
{
	uint32_t op = cw_rtph_opcode(tph), at = CW_SIZE_RTPH, psn = cw_rtph_psn(tph);
	bool cc = op == CW_TP_ACK_CC || op == CW_TP_SACK_CC;
	bool sack = op == CW_TP_SACK || op == CW_TP_SACK_CC;
	uint32_t st = cw_rtph_rspst(tph);

	if (cc && len < at + CW_SIZE_CETPH) {
		tp_count(tp, CW_UBOE_C_BAD_SHORT);
		return;
	}
	if (!plausible(tp, psn, sack || st == CW_RSPST_OK || st == CW_RSPST_TA)) {
		tp_count(tp, CW_UBOE_C_RX_ACK_STALE);
		return;
	}
	if (cc) {
		cc_feedback(tp, tph + at);
		at += CW_SIZE_CETPH;
	}
	tp->path.news = NULL;
	tp->path.mixed = false;
	if (sack)
		on_sack(tp, psn, tph + at, len - at, now);
	else
		on_ack(tp, psn, tph, now);
	if (tp->state != CW_UBOE_TP_READY)
		return;
	loss_sample(tp, now);
	loss_detect(tp, now);
	dev_wake(tp->dev, tp);
}
