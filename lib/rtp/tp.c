/* tp.c - TP groups and channels: set-up, failure, timers.
 * Spec: UB 2.0 6.3 to 6.7.
 */
#include <stdlib.h>
#include "lib/rtp/rtp_int.h"

/* How often a peer that owes an answer is asked whether it is alive: not before this many RTOs. */
#define KEEPALIVE_RTOS 4

int cw_uboe_tpg_new(struct cw_uboe_dev *d, const struct cw_uboe_tpg_opts *opts,
		    struct cw_uboe_tpg **out)
{
	struct cw_uboe_tpg_opts o = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tpg *g;

	if (!opts_take(&o, sizeof(o), opts, opts != NULL ? opts->size : 0) ||
	    (unsigned)o.service > CW_UBOE_UNO || (unsigned)o.spread > CW_UBOE_BY_PACKET ||
	    o.rnr_timer > 19 || o.taack_max - 1 > 31 || o.max_contexts > 65536)
		return CW_E_ARG;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return CW_E_NOMEM;
	g->dev = d;
	g->o = o;
	g->tps = calloc(d->o.max_tps, sizeof(struct cw_uboe_tp *));
	if (o.service == CW_UBOE_ROT && o.max_contexts > 0)
		g->contexts = calloc(o.max_contexts, sizeof(*g->contexts));
	if (g->tps == NULL || (o.service == CW_UBOE_ROT && g->contexts == NULL)) {
		free(g->tps);
		free(g->contexts);
		free(g);
		return CW_E_NOMEM;
	}
	g->next = d->tpgs;
	d->tpgs = g;
	*out = g;
	return CW_OK;
}

/* ---- Options ------------------------------------------------------------------------------ */

static bool power_between(uint32_t v, uint32_t lo, uint32_t hi)
{
	return v >= lo && v <= hi && (v & (v - 1)) == 0;
}

static int bad(struct cw_diag *diag, const char *name, const char *why)
{
	return cw_diag_set(diag, CW_E_RANGE, name, NULL, "%s", why);
}

static int check_packets(const struct cw_uboe_tp_opts *o, struct cw_diag *d)
{
	if (o->ip_version != 4 && o->ip_version != 6)
		return bad(d, "ip_version", "is neither 4 nor 6");
	if ((unsigned)o->form > CW_UBOE_FORM_NATIVE)
		return bad(d, "form", "is not UBOE or NATIVE");
	if (o->dscp > 63)
		return bad(d, "dscp", "is larger than 63");
	if (o->ttl == 0)
		return bad(d, "ttl", "is 0");
	if (o->ect > 2)
		return bad(d, "ect", "is not 0, 1 (ECT(1)) or 2 (ECT(0))");
	if (o->sport_bits > 8 || (uint32_t)o->sport + (1u << o->sport_bits) > 0x10000)
		return bad(d, "sport_bits", "is larger than 8, or the ports end beyond 65535");
	if (o->npi > 0x1ffffff || (o->form == CW_UBOE_FORM_NATIVE && (o->npi & 0xffffff) == 0))
		return bad(d, "npi", "has more than 25 bits, or partition 0");
	if (o->vl > 15)
		return bad(d, "vl", "is larger than 15");
	if (o->rt > 3)
		return bad(d, "rt", "is larger than 3");
	return o->upi > 0xffffff ? bad(d, "upi", "has more than 24 bits") : CW_OK;
}

static int check_transport(const struct cw_uboe_tp_opts *o, struct cw_diag *d)
{
	if (!power_between(o->mtu, 256, 8192))
		return bad(d, "mtu", "is not 256, 512, 1024, 2048, 4096 or 8192");
	if (!power_between(o->window, 128, 2048))
		return bad(d, "window", "is not 128, 256, 512, 1024 or 2048");
	if (!power_between(o->reorder, 64, 1024))
		return bad(d, "reorder", "is not 64, 128, 256, 512 or 1024");
	if (o->rto_base < 1000 || o->rto_base > 60000000000)
		return bad(d, "rto_base", "is not between 1 us and 60 s");
	if (o->rto_shift > 7)
		return bad(d, "rto_shift", "is larger than 7");
	if (o->retries == 0 || o->retries > 1000)
		return bad(d, "retries", "is not between 1 and 1000");
	if (o->ack_every == 0 || o->ack_every > o->window / 2)
		return bad(d, "ack_every", "is not between 1 and half of the window");
	if (o->ack_delay >= o->rto_base)
		return bad(d, "ack_delay", "is not less than rto_base");
	if (o->loss_limit > 90)
		return bad(d, "loss_limit", "is larger than 90 percent");
	if (o->reorder_delay != CW_UBOE_AUTO && o->reorder_delay > 60000000000)
		return bad(d, "reorder_delay", "is larger than 60 s, and not CW_UBOE_AUTO");
	if (o->sack_after == 0)
		return bad(d, "sack_after", "is 0");
	if (o->responses < 4 || o->responses > 65536)
		return bad(d, "responses", "is not between 4 and 65536");
	if (o->tpn > PSN_MASK)
		return bad(d, "tpn", "has more than 24 bits");
	return o->psn > PSN_MASK && o->psn != UINT32_MAX ? bad(d, "psn", "has more than 24 bits")
							 : CW_OK;
}

static int check_cc(const struct cw_uboe_tp_opts *o, struct cw_diag *d)
{
	if ((unsigned)o->cc > CW_UBOE_CC_LDCP)
		return bad(d, "cc", "is unknown");
	if (o->min_rate == 0 || o->line_rate < o->min_rate)
		return bad(d, "line_rate", "is less than min_rate, or min_rate is 0");
	if (o->dcqcn_timer == 0 || o->dcqcn_octets == 0)
		return bad(d, "dcqcn_timer", "or dcqcn_octets is 0");
	if (o->dcqcn_g - 1u > 15 || o->dcqcn_f == 0)
		return bad(d, "dcqcn_g", "is not between 1 and 16, or dcqcn_f is 0");
	if (o->dcqcn_alpha_timer == 0 || o->dcqcn_alpha - 1u > 1023)
		return bad(d, "dcqcn_alpha", "is not between 1 and 1024, or its timer is 0");
	if (o->ldcp_start == 0 || o->ldcp_min == 0)
		return bad(d, o->ldcp_start == 0 ? "ldcp_start" : "ldcp_min", "is 0");
	if (o->ldcp_max < o->ldcp_min)
		return bad(d, "ldcp_max", "is less than ldcp_min");
	if (o->ldcp_ai == 0 || o->ldcp_cut - 1 > 99)
		return bad(d, "ldcp_cut", "is not between 1 and 100, or ldcp_ai is 0");
	return CW_OK;
}

static int conflict(struct cw_diag *d, const char *name, const char *why)
{
	return cw_diag_set(d, CW_E_CONFLICT, name, NULL, "%s", why);
}

static int check_conflicts(const struct cw_uboe_tpg *g, const struct cw_uboe_tp_opts *o,
			   struct cw_diag *d)
{
	if (o->tpn != 0 && dev_tp(g->dev, o->tpn) != NULL)
		return conflict(d, "tpn", "is taken");
	if (g->o.service == CW_UBOE_ROL && g->ntps > 0)
		return conflict(d, "service", "ROL keeps order by a single channel (UB 2.0 7.3)");
	if (o->spray == CW_UBOE_BY_PACKET && o->sport_bits > 0 && o->fast) {
		if (o->retx == CW_UBOE_GBN)
			return conflict(d, "spray",
					"packets spread over paths and GBN with fast "
					"retransmission shall not meet (UB 2.0 6.4)");
		if (!o->fast_with_spray)
			return conflict(d, "spray",
					"packets spread over paths and fast "
					"retransmission should not meet (UB 2.0 6.4); "
					"fast_with_spray allows it");
	}
	return CW_OK;
}

static int check_opts(const struct cw_uboe_tpg *g, const struct cw_uboe_tp_opts *o,
		      struct cw_diag *d)
{
	int err = check_packets(o, d);

	if (err == CW_OK)
		err = check_transport(o, d);
	if (err == CW_OK)
		err = check_cc(o, d);
	return err == CW_OK ? check_conflicts(g, o, d) : err;
}

/* ---- Set-up ------------------------------------------------------------------------------- */

static void choose_numbers(struct cw_uboe_tp *tp)
{
	tp->tpn = tp->o.tpn;
	while (tp->tpn == 0 || (tp->o.tpn == 0 && dev_tp(tp->dev, tp->tpn) != NULL))
		tp->tpn = (uint32_t)dev_random(tp->dev) & PSN_MASK;
	tp->una = tp->nxt =
		tp->o.psn == UINT32_MAX ? (uint32_t)dev_random(tp->dev) & PSN_MASK : tp->o.psn;
	tp->flow_port = (uint16_t)(tp->o.sport + ((tp->tpn * 2654435761u >> 16) &
						  ((1u << tp->o.sport_bits) - 1)));
}

/* Room for the answers to a window of requests, and for one more of answers that are not
 * acknowledged yet. */
static int tp_pools(struct cw_uboe_tp *tp)
{
	unsigned i;

	if (tp->o.responses < 2 * tp->o.window + 2)
		tp->o.responses = 2 * tp->o.window + 2;
	tp->slot_size = CW_SIZE_RTPH + EIDS_LEN + TAH_MAX + tp->o.mtu;
	tp->ring = calloc(tp->o.window, sizeof(*tp->ring));
	tp->slots = calloc(tp->o.reorder, tp->slot_size);
	tp->slot_len = calloc(tp->o.reorder, sizeof(*tp->slot_len));
	tp->ops = calloc(tp->o.responses, sizeof(*tp->ops));
	if (!tp->ring || !tp->slots || !tp->slot_len || !tp->ops)
		return CW_E_NOMEM;
	for (i = 0; i < tp->o.responses; i++) {
		tp->ops[i].next = tp->free;
		tp->free = &tp->ops[i];
	}
	tp->nfree = tp->o.responses;
	return CW_OK;
}

void tp_destroy(struct cw_uboe_tp *tp)
{
	if (tp == NULL)
		return;
	free(tp->ring);
	free(tp->slots);
	free(tp->slot_len);
	free(tp->ops);
	free(tp);
}

static void start_timers(struct cw_uboe_tp *tp)
{
	tp->rto_at = tp->ack_at = tp->alive_at = tp->path.loss_at = CW_UBOE_NEVER;
}

int cw_uboe_tp_new(struct cw_uboe_tpg *g, const struct cw_uboe_tp_opts *opts,
		   struct cw_uboe_tp **out, struct cw_diag *diag)
{
	struct cw_uboe_tp_opts o = CW_UBOE_TP_OPTS;
	struct cw_uboe_tp *tp;
	int err;

	if (!opts_take(&o, sizeof(o), opts, opts != NULL ? opts->size : 0))
		return cw_diag_set(diag, CW_E_ARG, "size", NULL, "is not the library's");
	err = check_opts(g, &o, diag);
	if (err != CW_OK)
		return err;
	tp = calloc(1, sizeof(*tp));
	if (tp == NULL)
		return CW_E_NOMEM;
	tp->dev = g->dev;
	tp->tpg = g;
	tp->o = o;
	tp->mtu = o.mtu;
	tp->window = o.window;
	tp->ring_mask = o.window - 1;
	choose_numbers(tp);
	start_timers(tp);
	frame_template(tp);
	err = tp_pools(tp);
	if (err == CW_OK)
		err = dev_add_tp(g->dev, tp);
	if (err != CW_OK) {
		tp_destroy(tp);
		return err;
	}
	cc_init(tp);
	if (g->o.service == CW_UBOE_UNO)
		tp->state = CW_UBOE_TP_READY;
	g->tps[g->ntps++] = tp;
	*out = tp;
	return CW_OK;
}

void cw_uboe_tp_local(const struct cw_uboe_tp *tp, struct cw_uboe_tp_peer *out)
{
	*out = (struct cw_uboe_tp_peer){
		.tpn = tp->tpn, .psn = tp->una, .mtu = tp->o.mtu, .window = tp->o.window};
}

int cw_uboe_tp_connect(struct cw_uboe_tp *tp, const struct cw_uboe_tp_peer *peer)
{
	if (tp->state != CW_UBOE_TP_INIT)
		return CW_E_STATE;
	if (peer->tpn > PSN_MASK || peer->psn > PSN_MASK || !power_between(peer->mtu, 256, 8192) ||
	    !power_between(peer->window, 128, 2048))
		return CW_E_RANGE;
	tp->peer = *peer;
	tp->mtu = min_u32(tp->o.mtu, peer->mtu);
	tp->window = min_u32(tp->o.window, peer->window);
	tp->epsn = peer->psn;
	tp->max_rcv = psn_add(peer->psn, PSN_MASK);
	tp->state = CW_UBOE_TP_READY;
	cc_init(tp);
	loss_init(tp);
	return CW_OK;
}

bool tp_same_peer(const struct cw_uboe_tp *tp, const struct frame *f)
{
	size_t n = f->version == 4 ? 4 : 16;

	return f->version == tp->o.ip_version && memcmp(f->src, tp->o.dst, n) == 0 &&
	       memcmp(f->dst, tp->o.src, n) == 0;
}

void cw_uboe_tp_get_info(const struct cw_uboe_tp *tp, struct cw_uboe_tp_info *out)
{
	*out = (struct cw_uboe_tp_info){.state = tp->state,
					.reason = tp->reason,
					.tpn = tp->tpn,
					.peer_tpn = tp->peer.tpn,
					.next_psn = tp->nxt,
					.una_psn = tp->una,
					.expected_psn = tp->epsn,
					.flight = psn_sub(tp->nxt, tp->una),
					.rate = (uint64_t)tp->dcqcn.rate,
					.cwnd = (uint64_t)tp->ldcp.cwnd,
					.srtt = tp->path.srtt,
					.rto = loss_rto(tp),
					.limit = tp->path.limit};
	memcpy(out->counters, tp->counters, sizeof(out->counters));
}

/* ---- Failure ------------------------------------------------------------------------------ */

/* Answers still to be sent are given up, and what they read from is let go. */
static void drop_answers(struct cw_uboe_tp *tp)
{
	unsigned i;

	for (i = 0; i < tp->o.responses; i++)
		answer_read_done(&tp->ops[i]);
}

void tp_fail(struct cw_uboe_tp *tp, enum cw_uboe_status why)
{
	if (tp->state == CW_UBOE_TP_ERROR)
		return;
	tp->state = CW_UBOE_TP_ERROR;
	tp->reason = why;
	tp->answers = tp->requests = tp->retry = (struct opq){NULL, NULL};
	tp->cur = NULL;
	tp->una = tp->nxt;
	tp->nrtx = tp->nsacked = 0;
	tp->taack.n = 0;
	tp->fake_now = tp->nak_now = tp->sack_now = tp->ack_now = false;
	start_timers(tp);
	tp_count(tp, CW_UBOE_C_TP_FAILED);
	drop_answers(tp);
	target_abort(tp);
	initiator_fail_all(tp, why);
}

void cw_uboe_tp_close(struct cw_uboe_tp *tp)
{
	tp_fail(tp, CW_UBOE_FLUSHED);
}

int cw_uboe_tp_free(struct cw_uboe_tp *tp)
{
	struct cw_uboe_tpg *g = tp->tpg;
	unsigned i = 0;

	if (tp->state == CW_UBOE_TP_READY && g->o.service != CW_UBOE_UNO)
		return CW_E_STATE;
	tp_fail(tp, CW_UBOE_FLUSHED); /* a UTP path may have work that was not sent */
	while (g->tps[i] != tp)
		i++;
	g->ntps--;
	memmove(&g->tps[i], &g->tps[i + 1], (g->ntps - i) * sizeof(struct cw_uboe_tp *));
	dev_remove_tp(tp->dev, tp);
	tp_destroy(tp);
	return CW_OK;
}

int cw_uboe_tpg_free(struct cw_uboe_tpg *g)
{
	struct cw_uboe_tpg **at = &g->dev->tpgs;
	unsigned i;

	if (g->ntps > 0 || g->tjettys != NULL)
		return CW_E_STATE;
	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	for (i = 0; i < g->dev->ntjettys; i++) { /* another one may get its address */
		if (g->dev->former[i].tpg == g)
			g->dev->former[i].tpg = NULL;
	}
	free(g->tps);
	free(g->contexts);
	free(g);
	return CW_OK;
}

/* ---- Timers ------------------------------------------------------------------------------- */

static bool flying(const struct cw_uboe_tp *tp)
{
	return tp->una != tp->nxt;
}

/* UB 2.0 6.4.3: from the first packet that is not acknowledged, again on progress. Selective
 * without fast retransmission has nothing but this to repair a hole with: there the packet's age
 * counts. */
void tp_restart_rto(struct cw_uboe_tp *tp, uint64_t now)
{
	uint64_t from = flying(tp) ? pkt_at(tp, tp->una)->sent : 0;
	bool by_age = !tp->o.fast && tp->nsacked > 0;

	if (!by_age && from < tp->progress_at)
		from = tp->progress_at;
	tp->rto_at = flying(tp) ? from + loss_rto(tp) : CW_UBOE_NEVER;
	if (tp->rto_at <= now)
		tp->rto_at = now + 1;
	dev_timer(tp->dev, tp->rto_at);
}

/* Somebody waits for the peer and nothing is under way: ask it with a fake packet, in time. */
void tp_keepalive(struct cw_uboe_tp *tp, uint64_t now)
{
	bool want = tp->waiting > 0 || tp->rnr_until > now;

	tp->alive_at = want ? now + (KEEPALIVE_RTOS * tp->o.rto_base << min_u32(tp->alive_times, 4))
			    : CW_UBOE_NEVER;
	dev_timer(tp->dev, tp->alive_at);
}

static uint64_t retry_deadline(const struct cw_uboe_tp *tp)
{
	uint64_t at = CW_UBOE_NEVER;
	const struct op *op;

	for (op = tp->retry.head; op != NULL; op = op->next)
		at = min_u64(at, op->not_before);
	return at;
}

uint64_t tp_deadline(const struct cw_uboe_tp *tp)
{
	uint64_t at = tp->ack_at;

	if (tp->state != CW_UBOE_TP_READY)
		return at;
	at = min_u64(at, tp->alive_at);
	at = min_u64(at, retry_deadline(tp));
	at = min_u64(at, cc_deadline(tp));
	at = min_u64(at, tp->path.loss_at);
	if (tp->rnr_until != 0)
		return min_u64(at, tp->rnr_until);
	if (tp->paced)
		at = min_u64(at, tp->pace_at);
	return min_u64(at, tp->rto_at);
}

static void on_rto(struct cw_uboe_tp *tp, uint64_t now)
{
	if (pkt_at(tp, tp->una)->flags & PKT_RTX) { /* it waits for its turn already */
		cc_lost_all(tp);
		tp->rto_at = now + loss_rto(tp);
		return;
	}
	tp_count(tp, CW_UBOE_C_RTO);
	if (++tp->rto_times > tp->o.retries) {
		tp_fail(tp, CW_UBOE_RETRIES);
		return;
	}
	loss_timeout(tp, now);
	cc_lost_all(tp);
	tp->rto_at = now + loss_rto(tp);
}

static bool never_answers(const struct cw_uboe_tp *tp, uint64_t now)
{
	return tp->o.answer_timeout != 0 && tp->waiting > 0 && tp->rnr_until <= now &&
	       now - tp->answered_at > tp->o.answer_timeout;
}

static void on_alive(struct cw_uboe_tp *tp, uint64_t now)
{
	if (flying(tp) && tp->rnr_until <= now) { /* data asks the same */
		tp_keepalive(tp, now);
		return;
	}
	if (++tp->alive_times > tp->o.retries || never_answers(tp, now)) {
		tp_fail(tp, CW_UBOE_RETRIES);
		return;
	}
	tp->fake_now = true;
	tp_keepalive(tp, now);
}

static void on_retry(struct cw_uboe_tp *tp, uint64_t now)
{
	struct op *op, *next;

	for (op = tp->retry.head; op != NULL; op = next) {
		next = op->next;
		if (op->not_before > now)
			continue;
		opq_remove(&tp->retry, op);
		op->next_seg = op->acked = op->got = 0;
		opq_push(&tp->answers, op); /* before new ones */
	}
}

void tp_timers(struct cw_uboe_tp *tp, uint64_t now)
{
	if (tp->ack_at <= now) {
		tp->ack_at = CW_UBOE_NEVER;
		tp->ack_now = true;
	}
	if (tp->state != CW_UBOE_TP_READY)
		return;
	if (tp->rnr_until != 0 && tp->rnr_until <= now) {
		tp->rnr_until = 0;
		tp_restart_rto(tp, now);
	}
	on_retry(tp, now);
	cc_timers(tp, now);
	if (tp->path.loss_at <= now)
		loss_detect(tp, now);
	if (tp->rnr_until == 0 && tp->rto_at <= now)
		on_rto(tp, now);
	if (tp->state == CW_UBOE_TP_READY && tp->alive_at <= now)
		on_alive(tp, now);
}
