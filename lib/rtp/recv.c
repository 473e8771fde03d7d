/* recv.c - packets in: which channel, which PSN class, in which order.
 * Spec: UB 2.0 6.3, 6.4.
 */
#include "lib/rtp/rtp_int.h"

static int refuse(struct cw_uboe_dev *d, enum cw_uboe_counter c, int err)
{
	dev_count(d, c);
	return err;
}

/* ---- The transaction layer's part --------------------------------------------------------- */

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

/* NLP 1: is the packet for our entity (UB 2.0 B.3)? */
static bool our_entity(const struct cw_uboe_dev *d, const uint8_t *p)
{
	if (cw_upih_upi(p) != d->o.upi)
		return false;
	return all_zero(d->o.eid, 16) ||
	       memcmp(cw_eidh_deid(p + CW_SIZE_UPIH), d->o.eid, sizeof(d->o.eid)) == 0;
}

/* Transaction headers of the packet TPH .. payload; CW_OK, or why they are refused. */
static int take_ta(struct cw_uboe_dev *d, const uint8_t *tph, uint32_t len, struct ta *t)
{
	uint32_t at = CW_SIZE_RTPH;
	int err;

	memset(t, 0, sizeof(*t));
	if (cw_rtph_nlp(tph) == CW_NLP_UPI32) {
		at += EIDS_LEN;
		if (len < at)
			return refuse(d, CW_UBOE_C_BAD_TA, CW_E_SHORT);
		if (!our_entity(d, tph + CW_SIZE_RTPH))
			return refuse(d, CW_UBOE_C_BAD_UPI, CW_E_FORBIDDEN);
	} else if (cw_rtph_nlp(tph) != CW_NLP_TAH) {
		return refuse(d, CW_UBOE_C_BAD_OPCODE, CW_E_RESERVED);
	}
	err = ta_parse(tph + at, len - at, t);
	if (err == CW_OK)
		return CW_OK;
	return refuse(d,
		      t->opcode == CW_TA_MANAGEMENT ? CW_UBOE_C_BAD_MANAGEMENT : CW_UBOE_C_BAD_TA,
		      err);
}

static bool not_over_rtp(struct cw_uboe_dev *d, const struct ta *t)
{
	return t->opcode == CW_TA_PREFETCH && refuse(d, CW_UBOE_C_BAD_TA, CW_E_FORBIDDEN) != CW_OK;
}

/* Hand an in-order packet up. 0, or the code with which the transport refuses it; then nothing
 * has changed and the same PSN is expected again. */
static unsigned deliver(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint64_t now)
{
	bool last = cw_rtph_last(tph) != 0;
	struct ta t;

	if (cw_rtph_f(tph)) {
		tp_count(tp, CW_UBOE_C_RX_FAKE);
		return 0;
	}
	if (take_ta(tp->dev, tph, len, &t) != CW_OK || not_over_rtp(tp->dev, &t)) {
		if (tp->tpg->o.service == CW_UBOE_ROL)
			return CODE(CW_RSPST_ERROR, 1);
		if (last && !cw_ta_is_response(t.opcode))
			target_refuse(tp, &t, CODE(CW_RSPST_ERROR, 1));
		return 0;
	}
	if (cw_ta_is_response(t.opcode)) {
		initiator_response(tp, &t, last, now);
		return 0;
	}
	return target_request(tp, &t, last, cw_rtph_tpmsn(tph), now);
}

/* ---- PSN classes (UB 2.0 6.3) ------------------------------------------------------------- */

static void owe_ack(struct cw_uboe_tp *tp)
{
	tp->ack_now = true;
	dev_wake(tp->dev, tp);
}

static uint32_t slot_of(const struct cw_uboe_tp *tp, uint32_t psn)
{
	return psn & (tp->o.reorder - 1);
}

static void set_refusal(struct cw_uboe_tp *tp, unsigned code)
{
	if (code >> 5 == CW_RSPST_ERROR)
		tp->dead = code;
	tp->refusal = code;
	tp->nak_sent = true; /* what follows is no news for the sender */
	owe_ack(tp);
}

/* The expected PSN was taken. */
static void step(struct cw_uboe_tp *tp, uint32_t tpmsn)
{
	tp->rx_tpmsn = tpmsn;
	if (tp->slot_len[slot_of(tp, tp->epsn)] != 0) {
		tp->slot_len[slot_of(tp, tp->epsn)] = 0;
		tp->held--;
	}
	if (tp->max_rcv == psn_add(tp->epsn, PSN_MASK))
		tp->max_rcv = tp->epsn;
	tp->epsn = psn_add(tp->epsn, 1);
	tp->unacked++;
	tp_count(tp, CW_UBOE_C_RX_DATA);
}

/* What had come before its turn and is next now. */
static void drain(struct cw_uboe_tp *tp, uint64_t now)
{
	while (tp->held > 0 && tp->state == CW_UBOE_TP_READY) {
		uint32_t slot = slot_of(tp, tp->epsn);
		const uint8_t *tph = tp->slots + (size_t)slot * tp->slot_size;
		unsigned code;

		if (tp->slot_len[slot] == 0)
			return;
		code = deliver(tp, tph, tp->slot_len[slot], now);
		if (code != 0) { /* no TPSACK may say that it was received */
			tp->slot_len[slot] = 0;
			tp->held--;
			set_refusal(tp, code);
			return;
		}
		step(tp, cw_rtph_tpmsn(tph));
	}
}

static int in_order(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint64_t now)
{
	bool holes = tp->held > 0;
	unsigned code = deliver(tp, tph, len, now);

	if (code != 0) {
		set_refusal(tp, code);
		return CW_OK;
	}
	step(tp, cw_rtph_tpmsn(tph));
	drain(tp, now);
	if (cw_rtph_a(tph) || holes || tp->unacked >= tp->o.ack_every) {
		owe_ack(tp);
	} else if (tp->ack_at == CW_UBOE_NEVER) {
		tp->ack_at = now + tp->o.ack_delay;
		dev_timer(tp->dev, tp->ack_at);
	}
	return CW_OK;
}

static bool keep(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint32_t d)
{
	uint32_t slot = slot_of(tp, cw_rtph_psn(tph));

	if (d > tp->o.reorder - 2 || len > tp->slot_size) {
		tp_count(tp, CW_UBOE_C_RX_OOO_DROP);
		return false;
	}
	if (tp->slot_len[slot] != 0) {
		tp_count(tp, CW_UBOE_C_RX_DUP);
		return false;
	}
	memcpy(tp->slots + (size_t)slot * tp->slot_size, tph, len);
	tp->slot_len[slot] = len;
	tp->held++;
	tp_count(tp, CW_UBOE_C_RX_OOO);
	return true;
}

/* UB 2.0 6.4.2: what each mode does with a packet ahead of its turn. True if it was kept. */
static bool ahead(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint32_t d)
{
	uint32_t psn = cw_rtph_psn(tph);
	bool kept;

	if (tp->o.retx == CW_UBOE_GBN && tp->o.fast) {
		tp_count(tp, CW_UBOE_C_RX_OOO_DROP);
		if (!tp->nak_sent && !tp->nak_now) {
			tp->nak_now = true;
			dev_wake(tp->dev, tp);
		}
		return false;
	}
	kept = keep(tp, tph, len, d);
	if (psn_sub(psn, tp->max_rcv) < PSN_HALF)
		tp->max_rcv = psn;
	tp->ooo_seen++;
	if (tp->o.retx == CW_UBOE_GBN)
		return kept;
	if (cw_rtph_a(tph) || tp->o.fast || tp->ooo_seen >= tp->o.sack_after) {
		tp->sack_now = true;
		owe_ack(tp);
	}
	return kept;
}

static int on_data(struct cw_uboe_tp *tp, const struct frame *f, uint64_t now)
{
	uint32_t d = psn_sub(cw_rtph_psn(f->tph), tp->epsn), before = tp->epsn;
	uint32_t len = f->len - cw_rtph_padding(f->tph);
	bool taken;
	int err = CW_OK;

	if (f->len < CW_SIZE_RTPH + cw_rtph_padding(f->tph))
		return refuse(tp->dev, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	if (tp->state == CW_UBOE_TP_ERROR)
		tp->dead = tp->dead != 0 ? tp->dead : CODE(CW_RSPST_ERROR, 2);
	if (tp->dead != 0 || d >= PSN_HALF) {
		tp_count(tp, cw_rtph_f(f->tph) ? CW_UBOE_C_RX_FAKE : CW_UBOE_C_RX_DUP);
		owe_ack(tp);
		return CW_OK;
	}
	if (d > tp->o.window) {
		tp_count(tp, CW_UBOE_C_RX_INVALID);
		return CW_E_STATE;
	}
	if (d == 0) {
		taken = tp->slot_len[slot_of(tp, tp->epsn)] == 0;
		err = in_order(tp, f->tph, len, now);
		taken = taken && tp->epsn != before;
	} else {
		taken = ahead(tp, f->tph, len, d);
	}
	if (taken)
		cc_received(tp, f, (f->len + CW_ICRC_LEN + 1) / 2, now);
	if (tp->cnp != 0)
		dev_wake(tp->dev, tp);
	return err;
}

/* ---- UTP ---------------------------------------------------------------------------------- */

/* UTP names no channel: the peer's address tells which path it came by. */
static int on_utp(struct cw_uboe_dev *d, const struct frame *f)
{
	uint32_t pad = cw_utph_padding(f->tph);
	struct ta t;
	unsigned i;
	int err;

	for (i = 0; i < d->ntps; i++) {
		if (d->tps[i]->tpg->o.service == CW_UBOE_UNO && tp_same_peer(d->tps[i], f))
			break;
	}
	if (i == d->ntps)
		return refuse(d, CW_UBOE_C_BAD_PEER, CW_E_UNKNOWN);
	if (f->len < CW_SIZE_UTPH + pad)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	err = take_ta(d, f->tph, f->len - pad, &t);
	if (err != CW_OK)
		return err;
	tp_count(d->tps[i], CW_UBOE_C_RX);
	target_utp(d->tps[i], &t);
	return CW_OK;
}

/* ---- Entry -------------------------------------------------------------------------------- */

/* UB 2.0 5.3.3: the same partition, and not two ends of low privilege. */
static bool partition_ok(const struct cw_uboe_tp *tp, const struct frame *f)
{
	if (!f->native)
		return true;
	return ((f->npi ^ tp->o.npi) & 0xffffff) == 0 && (f->npi & tp->o.npi & 1u << 24) == 0;
}

static int on_rtp(struct cw_uboe_tp *tp, const struct frame *f, uint64_t now)
{
	tp->alive_times = 0;
	tp_count(tp, CW_UBOE_C_RX);
	switch (cw_rtph_opcode(f->tph)) {
	case CW_TP_RTP:
		return on_data(tp, f, now);
	case CW_TP_CNP:
		if (f->len < CW_SIZE_RTPH + CW_SIZE_CETPH_CNP)
			return refuse(tp->dev, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
		tp_count(tp, CW_UBOE_C_RX_CNP);
		cc_cnp(tp, cw_cetph_cnp_ecn(f->tph + CW_SIZE_RTPH), now);
		return CW_OK;
	default:
		if (tp->state == CW_UBOE_TP_READY)
			tp_response(tp, f->tph, f->len, now);
		return CW_OK;
	}
}

static bool known_opcode(uint32_t op)
{
	return op == CW_TP_RTP || op == CW_TP_ACK || op == CW_TP_ACK_CC || op == CW_TP_SACK ||
	       op == CW_TP_SACK_CC || op == CW_TP_CNP;
}

int cw_uboe_input(struct cw_uboe_dev *d, enum cw_uboe_form form, const void *packet, size_t len,
		  uint64_t now)
{
	struct frame f;
	struct cw_uboe_tp *tp;
	int err = frame_parse(d, form, packet, len, &f);

	if (err != CW_OK)
		return err;
	if (cw_rtph_version(f.tph) != 0)
		return refuse(d, CW_UBOE_C_BAD_OPCODE, CW_E_VERSION);
	if (cw_rtph_opcode(f.tph) == CW_TP_UTP)
		return on_utp(d, &f);
	if (!known_opcode(cw_rtph_opcode(f.tph)))
		return refuse(d, CW_UBOE_C_BAD_OPCODE, CW_E_RESERVED);
	tp = dev_tp(d, cw_rtph_dst_tpn(f.tph));
	if (tp == NULL || tp->state == CW_UBOE_TP_INIT || tp->tpg->o.service == CW_UBOE_UNO)
		return refuse(d, CW_UBOE_C_BAD_TPN, CW_E_UNKNOWN);
	if (!tp_same_peer(tp, &f) || cw_rtph_src_tpn(f.tph) != tp->peer.tpn)
		return refuse(d, CW_UBOE_C_BAD_PEER, CW_E_UNKNOWN);
	if (!partition_ok(tp, &f))
		return refuse(d, CW_UBOE_C_BAD_PARTITION, CW_E_FORBIDDEN);
	return on_rtp(tp, &f, now);
}
