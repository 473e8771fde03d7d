/* loss.c - what is lost, and when to send it again: round-trip times, the order of transmissions,
 * timeouts, and how much the network takes.
 * Spec: UB 2.0 6.4.2, 6.4.3. What follows is ours (decisions.md, loss): the text sends again each
 * hole below the highest PSN that has arrived, which takes reordering for loss, and everything at a
 * timeout, which takes a long queue for loss. The rule here is RFC 8985's: a packet is lost when
 * one that was sent after it has arrived and it is older than answers are.
 */
#include "lib/rtp/rtp_int.h"

#define LIMIT_MIN 16  /* packets */
#define VERDICT   256 /* packets that a verdict on the loss is based on */
#define FLOOR_MAX 1000000000

void loss_init(struct cw_uboe_tp *tp)
{
	tp->path = (struct path){.loss_at = CW_UBOE_NEVER, .limit = tp->window};
}

/* ---- Round trips -------------------------------------------------------------------------- */

static void first_sample(struct path *p, uint64_t rtt)
{
	p->srtt = p->rtt_min = rtt;
	p->rttvar = rtt / 2;
	p->rtt_max = 8 * rtt; /* until more is known */
}

/* RFC 6298, and the longest one, which fades slowly: it tells what reordering there was. */
static void sample(struct path *p, uint64_t rtt)
{
	uint64_t off = rtt > p->srtt ? rtt - p->srtt : p->srtt - rtt;

	p->floor = 0;
	p->doubted = false;
	if (p->srtt == 0) {
		first_sample(p, rtt);
		return;
	}
	p->rttvar = p->rttvar - p->rttvar / 4 + off / 4;
	p->srtt = p->srtt - p->srtt / 8 + rtt / 8;
	p->rtt_min = min_u64(p->rtt_min, rtt);
	p->rtt_max -= p->rtt_max > p->srtt ? (p->rtt_max - p->srtt) / 2048 : 0;
	if (rtt > p->rtt_max)
		p->rtt_max = rtt;
}

static uint64_t rto_floor(const struct path *p)
{
	uint64_t t = p->srtt + 4 * p->rttvar;

	return t < p->floor ? p->floor : t;
}

/* An answer that takes longer than this does not come: a packet that was overtaken is lost. */
static uint64_t patience(const struct path *p)
{
	uint64_t t = p->srtt + 4 * p->rttvar, most = min_u64(p->rtt_max, 8 * p->srtt);

	if (t < most)
		t = most;
	return t + t / 4;
}

uint64_t loss_rto(const struct cw_uboe_tp *tp)
{
	unsigned shift = tp->o.exponential ? tp->o.rto_shift * tp->rto_times : 0;
	uint64_t t = min_u64(tp->o.rto_base << (shift > 20 ? 20 : shift), 60000000000);

	return tp->o.rto_adaptive && t < rto_floor(&tp->path) ? rto_floor(&tp->path) : t;
}

/* ---- How much the network takes ----------------------------------------------------------- */

static bool counts(const struct path *p, const struct pkt *k)
{
	return k->order - p->cut_order < UINT32_MAX / 2;
}

/* More than loss_limit percent lost: as many as got through, and a tenth less. Else a few more. */
static void judge(struct cw_uboe_tp *tp)
{
	struct path *p = &tp->path;
	uint32_t n = p->ok + p->lost;

	if (tp->o.loss_limit == 0 || n < VERDICT)
		return;
	if (100ull * p->lost > (uint64_t)tp->o.loss_limit * n) {
		p->limit = min_u32(p->limit, p->peak);
		p->limit = (uint32_t)(9ull * p->limit * p->ok / n / 10);
		if (p->limit < LIMIT_MIN)
			p->limit = LIMIT_MIN;
		p->cut_order = p->order;
		tp_count(tp, CW_UBOE_C_CUT);
	} else {
		p->limit = min_u32(tp->window, p->limit + 1 + p->limit / 32);
	}
	p->ok = p->lost = p->peak = 0;
}

/* ---- What was sent, what has arrived ------------------------------------------------------ */

static void in_disorder(struct cw_uboe_tp *tp)
{
	tp->path.disorder = true;
	tp->path.recover = tp->nxt;
}

/* It leaves now, for the first time or `again`. */
void loss_sent(struct cw_uboe_tp *tp, struct pkt *k, bool again, uint64_t now)
{
	k->order = tp->path.order++;
	k->sent = now;
	if (again) {
		k->flags |= PKT_RESENT;
		in_disorder(tp);
		if (k == pkt_at(tp, tp->una))
			tp_restart_rto(tp, now);
	}
	if (in_network(tp) > tp->path.peak)
		tp->path.peak = in_network(tp);
}

/* Not to be sent again any more: it is on its way, or has arrived. */
void loss_unmark(struct cw_uboe_tp *tp, struct pkt *k)
{
	if (k->flags & PKT_RTX)
		tp->nrtx--;
	k->flags &= (uint8_t)~PKT_RTX;
}

/* It is kept ahead of order. */
void loss_sacked(struct cw_uboe_tp *tp, struct pkt *k)
{
	k->flags |= PKT_SACKED;
	tp->nsacked++;
	in_disorder(tp);
}

/* Of a packet that was sent twice, which one has arrived? The second only after a round trip. */
static bool first_one(const struct path *p, const struct pkt *k, uint64_t now)
{
	return (k->flags & PKT_RESENT) && now - k->sent < p->rtt_min;
}

/* A packet that was given up had arrived: patience grows. Not without bounds, for it may as well be
 * that an answer was lost. */
static void too_early(struct path *p, uint64_t rtt)
{
	rtt = min_u64(rtt, min_u64(2 * p->rtt_max, 16 * p->srtt));
	if (rtt > p->rtt_max)
		p->rtt_max = rtt;
}

/* The first word that this packet has arrived. */
void loss_arrived(struct cw_uboe_tp *tp, struct pkt *k, uint64_t now)
{
	struct path *p = &tp->path;

	loss_unmark(tp, k);
	if (first_one(p, k, now)) {
		if (tp->o.fast)
			too_early(p, now - k->first);
	} else if (!p->any || k->order - p->newest < UINT32_MAX / 2) {
		p->newest = k->order;
		p->any = true;
	}
	if (p->news == NULL || k->order - p->news->order < UINT32_MAX / 2)
		p->news = k;
	p->mixed |= (k->flags & PKT_RESENT) != 0;
	if (counts(p, k))
		p->ok++;
}

/* The round trip of an answer is that of the last packet that it brings news of. One that tells of
 * anything that was sent again is none, and nothing from before a timeout: those packets may have
 * come long ago, and an answer was lost. When no other comes after
 * a timeout, the timeout may be too short for this path: then it grows until there is one. */
void loss_sample(struct cw_uboe_tp *tp, uint64_t now)
{
	struct path *p = &tp->path;

	if (p->news == NULL)
		return;
	if (!p->mixed && p->news->order - p->timeout_order < UINT32_MAX / 2) {
		sample(p, now - p->news->sent);
	} else if (p->mixed && p->doubted) {
		p->doubted = false;
		p->floor = min_u64(2 * loss_rto(tp), FLOOR_MAX);
	}
}

/* ---- What is lost ------------------------------------------------------------------------- */

static void mark(struct cw_uboe_tp *tp, uint32_t psn)
{
	struct pkt *k = pkt_at(tp, psn);

	if (k->flags & (PKT_RTX | PKT_SACKED))
		return;
	k->flags |= PKT_RTX;
	if (tp->nrtx++ == 0 || psn_sub(psn, tp->una) < psn_sub(tp->rtx_from, tp->una))
		tp->rtx_from = psn;
}

static void lose(struct cw_uboe_tp *tp, uint32_t psn)
{
	struct pkt *k = pkt_at(tp, psn);

	if ((k->flags & (PKT_RTX | PKT_SACKED)) == 0 && counts(&tp->path, k))
		tp->path.lost++;
	mark(tp, psn);
}

/* A packet that was refused is missing whatever a TPSACK said: it was kept, and then refused in its
 * turn. */
void loss_refused(struct cw_uboe_tp *tp, uint32_t psn)
{
	struct pkt *k = pkt_at(tp, psn);

	if (k->flags & PKT_SACKED)
		tp->nsacked--;
	k->flags &= (uint8_t)~PKT_SACKED;
	mark(tp, psn);
}

/* Go-back-N: everything from there on, `lost` or only refused for now. */
void loss_go_back(struct cw_uboe_tp *tp, uint32_t psn, bool lost)
{
	for (; psn != tp->nxt; psn = psn_add(psn, 1)) {
		if (lost)
			lose(tp, psn);
		else
			mark(tp, psn);
	}
}

static uint64_t reorder_delay(const struct cw_uboe_tp *tp)
{
	if (tp->o.reorder_delay != CW_UBOE_AUTO)
		return tp->o.reorder_delay;
	return tp->path.srtt == 0 ? loss_rto(tp) : patience(&tp->path);
}

/* Packets that were sent before the newest one that has arrived, and are old enough. */
static void find_lost(struct cw_uboe_tp *tp, uint64_t now)
{
	uint64_t delay = reorder_delay(tp);
	struct path *p = &tp->path;
	uint32_t psn;

	for (psn = tp->una; psn != tp->nxt; psn = psn_add(psn, 1)) {
		struct pkt *k = pkt_at(tp, psn);

		if ((k->flags & (PKT_SACKED | PKT_RTX)) || k->order - p->newest < UINT32_MAX / 2)
			continue;
		if (k->sent + delay > now) {
			p->loss_at = min_u64(p->loss_at, k->sent + delay);
			continue;
		}
		tp->ldcp.sent -= k->units;
		lose(tp, psn);
	}
	dev_timer(tp->dev, p->loss_at);
}

/* After each answer, and when a packet has come of age. */
void loss_detect(struct cw_uboe_tp *tp, uint64_t now)
{
	struct path *p = &tp->path;

	p->loss_at = CW_UBOE_NEVER;
	if (p->disorder && psn_sub(tp->una, p->recover) < PSN_HALF && tp->nsacked == 0)
		p->disorder = false;
	if (p->disorder && p->any && tp->o.fast && tp->o.retx == CW_UBOE_SELECTIVE)
		find_lost(tp, now);
	judge(tp);
}

/* With fast retransmission one packet is enough: its answer tells what else is missing. */
void loss_timeout(struct cw_uboe_tp *tp, uint64_t now)
{
	uint64_t rto = loss_rto(tp);
	uint32_t psn;

	tp->path.doubted = true;
	tp->path.timeout_order = tp->path.order;
	if (tp->o.retx == CW_UBOE_GBN) {
		loss_go_back(tp, tp->una, true);
		return;
	}
	lose(tp, tp->una);
	loss_refused(tp, tp->una); /* the word of that may have been lost */
	for (psn = tp->una; !tp->o.fast && psn != tp->nxt; psn = psn_add(psn, 1)) {
		if (pkt_at(tp, psn)->sent + rto <= now)
			lose(tp, psn);
	}
}
