/* cc.c - congestion control: DCQCN-like (rate, CNP) and LDCP (window, CETPH).
 * Spec: UB 2.0 6.6, draft-li-uboe-00 5.2.2. The formula of LDCP's window is ours: decisions.md.
 */
#include "lib/rtp/rtp_int.h"

/* What a late caller may catch up: so many ns, or packets where these take longer. A process is not
 * woken in time for each packet of a slow rate. */
#define BURST         20000.0
#define BURST_PACKETS 8

void cc_init(struct cw_uboe_tp *tp)
{
	const struct cw_uboe_tp_opts *o = &tp->o;

	cw_dcqcn_init(&tp->dcqcn, &(struct cw_dcqcn_opts){.line_rate = o->line_rate,
							  .min_rate = o->min_rate,
							  .ai = o->dcqcn_ai,
							  .hai = o->dcqcn_hai,
							  .octets = o->dcqcn_octets,
							  .timer = o->dcqcn_timer,
							  .alpha_timer = o->dcqcn_alpha_timer,
							  .gap = o->dcqcn_cut_gap,
							  .alpha = o->dcqcn_alpha / 1024.0,
							  .g = o->dcqcn_g,
							  .f = o->dcqcn_f});
	tp->ldcp.cwnd = (double)o->ldcp_start * tp->mtu;
	tp->ldcp.marked = !o->ldcp_slow_start;
}

static uint32_t flight_octets(const struct cw_uboe_tp *tp)
{
	int32_t units = (int32_t)(tp->ldcp.sent - tp->ldcp.ack_seq);

	return units > 0 ? 2 * (uint32_t)units : 0;
}

/* May a packet of so many octets leave now? One packet always may when none is in flight. */
bool cc_allows(const struct cw_uboe_tp *tp, uint32_t octets, uint64_t now)
{
	switch (tp->o.cc) {
	case CW_UBOE_CC_DCQCN:
		return now >= tp->pace_at;
	case CW_UBOE_CC_LDCP:
		return flight_octets(tp) == 0 || flight_octets(tp) + octets <= tp->ldcp.cwnd;
	default:
		return true;
	}
}

/* ---- DCQCN -------------------------------------------------------------------------------- */

static void dcqcn_sent(struct cw_uboe_tp *tp, uint32_t octets, uint64_t now)
{
	double from = (double)tp->pace_at, each = 8e9 * octets / tp->dcqcn.rate;
	double late = BURST_PACKETS * each > BURST ? BURST_PACKETS * each : BURST;

	if (from < (double)now - late)
		from = (double)now - late;
	tp->pace_at = from + each > 0 ? (uint64_t)(from + each) : 0;
	cw_dcqcn_sent(&tp->dcqcn, octets);
}

/* A cut by alpha / 2; with two levels a light CNP cuts half as much. At most one a period. */
void cc_cnp(struct cw_uboe_tp *tp, unsigned ecn, uint64_t now)
{
	double part = tp->o.two_levels && ecn == CW_FECN_LIGHT ? 0.25 : 0.5;

	if (tp->o.cc != CW_UBOE_CC_DCQCN || (ecn & 1) == 0 || !cw_dcqcn_cut(&tp->dcqcn, part, now))
		return;
	tp_count(tp, CW_UBOE_C_CUT);
	dev_timer(tp->dev, cw_dcqcn_deadline(&tp->dcqcn));
}

uint64_t cc_deadline(const struct cw_uboe_tp *tp)
{
	return cw_dcqcn_deadline(&tp->dcqcn);
}

void cc_timers(struct cw_uboe_tp *tp, uint64_t now)
{
	if (tp->o.cc == CW_UBOE_CC_DCQCN)
		cw_dcqcn_timers(&tp->dcqcn, now);
}

/* ---- LDCP --------------------------------------------------------------------------------- */

/* Each marked octet takes half of itself (ldcp_cut) from the window; unmarked ones add one packet
 * (ldcp_ai) a window, and all of themselves until the first mark. */
static void ldcp_update(struct cw_uboe_tp *tp, uint32_t acked, uint32_t marked)
{
	struct ldcp *l = &tp->ldcp;
	const struct cw_uboe_tp_opts *o = &tp->o;
	double clear = 2.0 * (acked - marked), least = (double)o->ldcp_min * tp->mtu;
	double most = (double)min_u32(o->ldcp_max, tp->window) * (tp->mtu + 128);

	if (marked > 0) {
		l->marked = true;
		l->cwnd -= 2.0 * marked * o->ldcp_cut / 100; /* units of two octets */
		tp_count(tp, CW_UBOE_C_CUT);
	}
	l->cwnd = l->cwnd < least ? least : l->cwnd;
	l->cwnd += l->marked ? clear * tp->mtu * o->ldcp_ai / 100 / l->cwnd : clear;
	if (l->cwnd > most)
		l->cwnd = most;
}

void cc_feedback(struct cw_uboe_tp *tp, const uint8_t *cetph)
{
	struct ldcp *l = &tp->ldcp;
	uint32_t acked = cw_cetph_ldcp_ack_seq(cetph) - l->ack_seq;
	uint32_t marked = cw_cetph_ldcp_ce_seq(cetph) - l->ce_seq;

	/* not older than what is known, and no more than can be */
	if (tp->o.cc != CW_UBOE_CC_LDCP || acked > UINT32_MAX / 2 || marked > acked)
		return;
	l->ack_seq += acked;
	l->ce_seq += marked;
	if ((int32_t)(l->sent - l->ack_seq) < 0) /* what was given up for lost has arrived */
		l->sent = l->ack_seq;
	ldcp_update(tp, acked, marked);
}

/* ---- Both --------------------------------------------------------------------------------- */

void cc_sent(struct cw_uboe_tp *tp, uint32_t units, uint32_t octets, uint64_t now)
{
	if (tp->o.cc == CW_UBOE_CC_LDCP)
		tp->ldcp.sent += units;
	else if (tp->o.cc == CW_UBOE_CC_DCQCN)
		dcqcn_sent(tp, octets, now);
}

/* TPNAK, RNR or timeout: nothing counts as in flight (UB 2.0 6.6.1.1). */
void cc_lost_all(struct cw_uboe_tp *tp)
{
	tp->ldcp.sent = tp->ldcp.ack_seq;
}

/* A data packet was accepted: count it, and its mark. */
void cc_received(struct cw_uboe_tp *tp, const struct frame *f, uint32_t units, uint64_t now)
{
	bool ce = f->fecn == CW_FECN_LIGHT || f->fecn == CW_FECN_SEVERE;

	tp->ldcp.rx_ack += units;
	if (!ce)
		return;
	tp_count(tp, CW_UBOE_C_CE);
	tp->ldcp.rx_ce += units;
	if (tp->o.cc != CW_UBOE_CC_DCQCN || now < tp->cnp_after)
		return;
	/* draft 5.2.2: one level only is reported as severe */
	tp->cnp = tp->o.two_levels ? f->fecn : CW_FECN_SEVERE;
	tp->cnp_loc = f->loc;
	tp->cnp_after = now + tp->o.cnp_gap;
}
