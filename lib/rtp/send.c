/* send.c - packets out: CNP, acknowledgements, data, in this order.
 * Spec: UB 2.0 6.2, 6.4, 6.6; draft-li-uboe-00 4.1.
 */
#include "lib/rtp/rtp_int.h"

#define CONTROL_MAX (CW_SIZE_RTPH + CW_SIZE_CETPH + CW_SIZE_SAETPH + 128 + CW_ICRC_LEN)

static uint8_t *put_rtph(const struct cw_uboe_tp *tp, uint8_t *buf, uint8_t opcode, uint32_t psn)
{
	uint8_t *h = buf + tp->head_len;

	memset(h, 0, CW_SIZE_RTPH);
	cw_rtph_set_opcode(h, opcode);
	cw_rtph_set_src_tpn(h, tp->tpn);
	cw_rtph_set_dst_tpn(h, tp->peer.tpn);
	cw_rtph_set_psn(h, psn);
	return h;
}

static int seal_control(struct cw_uboe_tp *tp, uint8_t *buf, const uint8_t *end)
{
	uint32_t len = (uint32_t)(end - buf) - tp->head_len;

	return frame_seal(tp, buf, len, false, tp->o.ack_sport);
}

static int send_cnp(struct cw_uboe_tp *tp, uint8_t *buf)
{
	uint8_t *h = put_rtph(tp, buf, CW_TP_CNP, 0), *e = h + CW_SIZE_RTPH;

	memset(e, 0, CW_SIZE_CETPH_CNP);
	cw_cetph_cnp_set_ecn(e, tp->cnp);
	cw_cetph_cnp_set_loc(e, tp->cnp_loc);
	tp->cnp = 0;
	tp->cnp_loc = false;
	tp_count(tp, CW_UBOE_C_TX_CNP);
	return seal_control(tp, buf, e + CW_SIZE_CETPH_CNP);
}

/* ---- Acknowledgements --------------------------------------------------------------------- */

static uint8_t *put_cetph(const struct cw_uboe_tp *tp, uint8_t *p)
{
	if (tp->o.cc != CW_UBOE_CC_LDCP)
		return p;
	cw_cetph_ldcp_set_ack_seq(p, tp->ldcp.rx_ack);
	cw_cetph_ldcp_set_ce_seq(p, tp->ldcp.rx_ce);
	return p + CW_SIZE_CETPH;
}

/* The smallest bitmap that reaches the highest PSN kept (UB 2.0 6.2.3). */
static uint32_t bitmap_code(const struct cw_uboe_tp *tp)
{
	uint32_t need = min_u32(psn_sub(tp->max_rcv, tp->epsn) + 2, tp->o.reorder), code = 0;

	while (8 * cw_saetph_octets(code) < need)
		code++;
	return code;
}

static uint8_t *put_saetph(const struct cw_uboe_tp *tp, uint8_t *p)
{
	uint32_t code = bitmap_code(tp), octets = cw_saetph_octets(code), k;
	uint8_t *map = p + CW_SIZE_SAETPH;
	bool be = tp->dev->o.sack_big_endian;

	memset(p, 0, CW_SIZE_SAETPH + octets);
	cw_saetph_set_bitmap_size(p, code);
	cw_saetph_set_max_rcv_psn(p, tp->max_rcv);
	cw_saetph_set_bit(map, octets, 0, be); /* EPSN - 1, in order */
	for (k = 1; k < min_u32(8 * octets, tp->o.reorder); k++) {
		if (tp->slot_len[psn_add(tp->epsn, k - 1) & (tp->o.reorder - 1)] != 0)
			cw_saetph_set_bit(map, octets, k, be);
	}
	return map + octets;
}

static bool want_sack(const struct cw_uboe_tp *tp)
{
	if (tp->o.retx != CW_UBOE_SELECTIVE || psn_add(tp->max_rcv, 1) == tp->epsn)
		return false;
	return tp->o.fast || tp->ooo_seen >= tp->o.sack_after;
}

static void ack_sent(struct cw_uboe_tp *tp)
{
	tp->ack_now = tp->sack_now = tp->nak_now = false;
	tp->unacked = 0;
	tp->ooo_seen = 0;
	tp->refusal = 0;
	tp->ack_at = CW_UBOE_NEVER;
}

static int send_sack(struct cw_uboe_tp *tp, uint8_t *buf)
{
	bool cc = tp->o.cc == CW_UBOE_CC_LDCP;
	uint8_t *h =
		put_rtph(tp, buf, cc ? CW_TP_SACK_CC : CW_TP_SACK, psn_add(tp->epsn, PSN_MASK));
	uint8_t *end = put_saetph(tp, put_cetph(tp, h + CW_SIZE_RTPH));

	cw_rtph_set_tpmsn(h, tp->rx_tpmsn);
	ack_sent(tp);
	tp_count(tp, CW_UBOE_C_TX_SACK);
	return seal_control(tp, buf, end);
}

/* TPACK, TPNAK or a refusal; the PSN of the last two is the one that is expected. */
static int send_ack(struct cw_uboe_tp *tp, uint8_t *buf)
{
	unsigned code = tp->dead != 0 ? tp->dead : tp->refusal;
	bool cc = tp->o.cc == CW_UBOE_CC_LDCP, refuse = code != 0 || tp->nak_now, more = false;
	uint8_t *h = put_rtph(tp, buf, cc ? CW_TP_ACK_CC : CW_TP_ACK,
			      refuse ? tp->epsn : psn_add(tp->epsn, PSN_MASK));

	if (code == 0 && tp->nak_now) {
		code = CODE(CW_RSPST_ERROR, 0);
		tp->nak_sent = true;
		tp_count(tp, CW_UBOE_C_TX_NAK);
	} else if (code != 0) {
		more = tp->dead == 0 &&
		       want_sack(tp); /* of what is kept behind the packet that is refused */
		tp_count(tp, CW_UBOE_C_TX_RNR);
	} else {
		if (tp->ta_done)
			code = CODE(CW_RSPST_TA, 2);
		tp->ta_done = false;
		tp->nak_sent = false;
		tp_count(tp, CW_UBOE_C_TX_ACK);
	}
	cw_rtph_set_tpmsn(h, tp->rx_tpmsn);
	cw_rtph_set_rspst(h, code >> 5);
	cw_rtph_set_rspinfo(h, code & 31);
	ack_sent(tp);
	tp->sack_now = more;
	return seal_control(tp, buf, put_cetph(tp, h + CW_SIZE_RTPH));
}

static int send_control(struct cw_uboe_tp *tp, uint8_t *buf, size_t size)
{
	if (tp->cnp == 0 && !tp->ack_now && !tp->nak_now && !tp->sack_now && tp->refusal == 0)
		return 0;
	if (size < tp->head_len + CONTROL_MAX)
		return CW_E_SPACE;
	if (tp->cnp != 0)
		return send_cnp(tp, buf);
	if (tp->dead == 0 && tp->refusal == 0 && !tp->nak_now && want_sack(tp))
		return send_sack(tp, buf);
	return send_ack(tp, buf);
}

/* ---- Data --------------------------------------------------------------------------------- */

static uint8_t *put_eids(const struct cw_uboe_tp *tp, uint8_t *p)
{
	if (!tp->o.eids)
		return p;
	memset(p, 0, CW_SIZE_UPIH);
	cw_upih_set_upi(p, tp->o.upi);
	cw_eidh_set_seid(p + CW_SIZE_UPIH, tp->o.seid);
	cw_eidh_set_deid(p + CW_SIZE_UPIH, tp->o.deid);
	return p + EIDS_LEN;
}

/* What is behind the transport header `h`: returns the octets TPH .. pad. */
static uint32_t put_data(const struct cw_uboe_tp *tp, const struct op *op, uint32_t seg, uint8_t *h)
{
	uint32_t off = seg * tp->mtu,
		 n = op->npkts == 1 ? op->len : min_u32(tp->mtu, op->len - off);
	uint32_t pad = -n & 3;
	uint8_t *at = put_eids(tp, h + CW_SIZE_RTPH);

	if (op->src == NULL)
		n = pad = 0;
	at += op->kind == OP_REQUEST ? ta_build_request(op, seg, at) : ta_build_answer(op, seg, at);
	if (op->nsge > 0)
		sg_gather(op->sge, off, at, n);
	else if (n > 0)
		memcpy(at, op->src + off, n);
	memset(at + n, 0, pad);
	cw_rtph_set_nlp(h, tp->o.eids ? CW_NLP_UPI32 : CW_NLP_TAH);
	cw_rtph_set_padding(h, pad);
	return (uint32_t)(at + n + pad - h);
}

static uint16_t data_port(struct cw_uboe_tp *tp)
{
	if (tp->o.spray == CW_UBOE_BY_FLOW)
		return tp->flow_port;
	return (uint16_t)(tp->o.sport + (tp->spray++ & ((1u << tp->o.sport_bits) - 1)));
}

static uint32_t data_max(const struct cw_uboe_tp *tp)
{
	return tp->head_len + CW_SIZE_RTPH + EIDS_LEN + TAH_MAX + tp->mtu + 4 + CW_ICRC_LEN;
}

/* A response of its own is asked for when nothing more would bring one soon. */
static bool want_response(struct cw_uboe_tp *tp, const struct pkt *k, bool again)
{
	bool idle =
		k->seg + 1 == k->op->npkts && tp->answers.head == NULL && tp->requests.head == NULL;
	bool full =
		psn_sub(tp->nxt, tp->una) >= tp->window - 1 || in_network(tp) + 1 >= tp->path.limit;

	return again || idle || full || ++tp->since_a >= min_u32(tp->window, tp->path.limit) / 4;
}

static int send_packet(struct cw_uboe_tp *tp, uint8_t *buf, uint32_t psn, bool again, uint64_t now)
{
	struct pkt *k = &tp->ring[psn & tp->ring_mask];
	uint8_t *h = put_rtph(tp, buf, CW_TP_RTP, psn);
	uint32_t len = put_data(tp, k->op, k->seg, h);

	cw_rtph_set_last(h, k->seg + 1 == k->op->npkts);
	cw_rtph_set_tpmsn(h, k->op->tpmsn);
	if (want_response(tp, k, again)) {
		cw_rtph_set_a(h, 1);
		tp->since_a = 0;
	}
	k->units = (len + CW_ICRC_LEN + 1) / 2;
	loss_sent(tp, k, again, now);
	cc_sent(tp, k->units, tp->head_len + len + CW_ICRC_LEN, now);
	tp_count(tp, again ? CW_UBOE_C_RTX : CW_UBOE_C_TX_DATA);
	tp_count_n(tp, CW_UBOE_C_TX_OCTETS, k->op->src != NULL ? min_u32(tp->mtu, k->op->len) : 0);
	return frame_seal(tp, buf, len, true, data_port(tp));
}

static int send_again(struct cw_uboe_tp *tp, uint8_t *buf, uint64_t now)
{
	uint32_t psn = tp->rtx_from;
	struct pkt *k;

	while (!(tp->ring[psn & tp->ring_mask].flags & PKT_RTX))
		psn = psn_add(psn, 1);
	k = pkt_at(tp, psn);
	loss_unmark(tp, k);
	tp->rtx_from = psn_add(psn, 1);
	return send_packet(tp, buf, psn, true, now);
}

/* No more than a window of requests is open: the peer has room for their answers, and two ends that
 * both had none would wait for each other (see tp_pools). */
static bool may_begin(const struct cw_uboe_tp *tp)
{
	return tp->requests.head != NULL && tp->taken < tp->window;
}

/* The operation whose packets are being sent; answers and what is sent anew go first. */
static struct op *current(struct cw_uboe_tp *tp)
{
	if (tp->cur != NULL)
		return tp->cur;
	tp->cur = opq_pop(&tp->answers);
	if (tp->cur == NULL) {
		tp->cur = opq_pop(&tp->requests);
		tp->cur->taken = true;
		tp->taken++;
	}
	tp->cur->tpmsn = tp->tpmsn;
	tp->tpmsn = psn_add(tp->tpmsn, 1);
	return tp->cur;
}

static int send_new(struct cw_uboe_tp *tp, uint8_t *buf, uint64_t now)
{
	struct op *op = current(tp);
	uint32_t psn = tp->nxt;

	*pkt_at(tp, psn) = (struct pkt){.op = op, .seg = op->next_seg++, .first = now, .sent = now};
	if (op->next_seg == op->npkts) {
		op->sent_all = true;
		op->last_psn = psn;
		tp->cur = NULL;
	}
	tp->nxt = psn_add(psn, 1);
	if (tp->rto_at == CW_UBOE_NEVER)
		tp_restart_rto(tp, now);
	return send_packet(tp, buf, psn, false, now);
}

/* A fake packet carries the last PSN that was acknowledged: a duplicate, which is answered and not
 * processed (UB 2.0 6.5; decisions.md). */
static int send_fake(struct cw_uboe_tp *tp, uint8_t *buf)
{
	uint8_t *h = put_rtph(tp, buf, CW_TP_RTP, psn_add(tp->una, PSN_MASK));

	tp->fake_now = false;
	cw_rtph_set_a(h, 1);
	cw_rtph_set_f(h, 1);
	tp_count(tp, CW_UBOE_C_TX_FAKE);
	return seal_control(tp, buf, h + CW_SIZE_RTPH);
}

/* Selective: a TPSACK tells of so many packets, and the peer keeps no more behind a hole. */
static bool window_open(const struct cw_uboe_tp *tp)
{
	uint32_t n = psn_sub(tp->nxt, tp->una);

	return n < tp->window && (tp->o.retx == CW_UBOE_GBN || n < tp->o.reorder - 1);
}

static bool more_data(const struct cw_uboe_tp *tp)
{
	if (in_network(tp) >= tp->path.limit)
		return false;
	return tp->nrtx > 0 ||
	       (window_open(tp) && (tp->cur != NULL || tp->answers.head != NULL || may_begin(tp)));
}

static int send_data(struct cw_uboe_tp *tp, uint8_t *buf, size_t size, uint64_t now)
{
	tp->paced = false;
	if (tp->fake_now && size >= tp->head_len + CONTROL_MAX)
		return send_fake(tp, buf);
	if (tp->rnr_until != 0 || !more_data(tp))
		return 0;
	if (!cc_allows(tp, tp->mtu, now)) {
		tp->paced = tp->pace_at > now;
		return 0;
	}
	if (size < data_max(tp))
		return CW_E_SPACE;
	return tp->nrtx > 0 ? send_again(tp, buf, now) : send_new(tp, buf, now);
}

/* ---- UTP ---------------------------------------------------------------------------------- */

/* UB 2.0 6.1: one packet, no state; what was sent is done. */
static int send_utp(struct cw_uboe_tp *tp, uint8_t *buf, size_t size)
{
	struct op *op = tp->requests.head;
	uint8_t *h = buf + tp->head_len;
	uint32_t len;
	int n;

	if (op == NULL)
		return 0;
	if (size < data_max(tp))
		return CW_E_SPACE;
	opq_pop(&tp->requests);
	memset(h, 0, CW_SIZE_UTPH);
	len = put_data(tp, op, 0, h);
	n = frame_seal(tp, buf, len, true, data_port(tp));
	tp_count(tp, CW_UBOE_C_TX_DATA);
	tp_count_n(tp, CW_UBOE_C_TX_OCTETS, op->len);
	initiator_finish(op, CW_UBOE_OK, 0);
	return n;
}

int tp_output(struct cw_uboe_tp *tp, uint8_t *buf, size_t size, uint64_t now)
{
	int n;

	if (tp->tpg->o.service == CW_UBOE_UNO)
		return tp->state == CW_UBOE_TP_READY ? send_utp(tp, buf, size) : 0;
	n = send_control(tp, buf, size);
	if (n != 0 || tp->state != CW_UBOE_TP_READY)
		return n;
	target_flush(tp);
	return send_data(tp, buf, size, now);
}
