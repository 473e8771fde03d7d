/* paths.c - paths of a peer: which one is next, its window, what was lost on it.
 *
 * Packets of one path arrive in order or nearly so; packets of different paths do not. So a packet
 * is lost when later ones of its own path arrived, never because others overtook it elsewhere. The
 * receiver answers on the path on which a packet came, so Acks of a path keep its order too; what
 * an Ack of another path tells is taken as arrival, not as order. The
 * window of a path grows by one a round trip, is cut by DCTCP's rule (RFC 8257) on marks, halved on
 * loss, and falls to one on a timeout. Two timeouts in a row and the path is left; one packet at a
 * time tries it again.
 */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

enum { STRIKES = 2, BACKOFF_MAX = 6, UNANSWERED_MAX = 2 };
#define LEAST_FOR 10000000000u /* ns: what a path's least delay is of, and once more */
static const double first_window = 16, least_window = 1, gain = 1.0 / 16;

int uet_path_init(struct uet_path *p, unsigned number, const struct cw_uet_settings *s)
{
	memset(p, 0, sizeof(*p));
	p->number = number;
	/* Packets acknowledged behind one that is not stay listed, so twice the window. */
	p->fifo = calloc(2 * (size_t)s->max_window, sizeof(struct uet_fifo));
	p->window = first_window < s->max_window ? first_window : s->max_window;
	p->ssthresh = s->max_window;
	p->rtt_min[0] = p->rtt_min[1] = UINT64_MAX;
	p->acked_seq = p->cut_seq = p->round_seq = UINT32_MAX; /* the one before 0 */
	return p->fifo != NULL ? CW_OK : CW_E_NOMEM;
}

static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static bool all_down(const struct uet_peer *peer)
{
	unsigned i = 0;

	while (i < peer->npaths && peer->paths[i].down)
		i++;
	return i == peer->npaths;
}

/* Has the time come to try a path that was left? Not with a packet that was lost before: it could
 * be lost on one dead path after the other. */
static bool may_probe(const struct cw_uet *u, const struct uet_peer *peer, const struct uet_path *p,
		      unsigned tries)
{
	return p->in_flight == 0 && u->now >= p->probe_at && (tries == 0 || all_down(peer));
}

static bool has_room(const struct cw_uet *u, const struct uet_peer *peer, const struct uet_path *p,
		     unsigned tries)
{
	if (p->tail - p->head >= 2 * u->s.max_window)
		return false;
	/* Of a path that never answered nothing is known: a whole window there could be late. */
	if (p->acked == 0 && p->in_flight >= UNANSWERED_MAX)
		return false;
	return p->down ? may_probe(u, peer, p, tries) : p->in_flight < (uint32_t)p->window;
}

static double least(const struct uet_path *p)
{
	return (double)(p->rtt_min[0] < p->rtt_min[1] ? p->rtt_min[0] : p->rtt_min[1]);
}

/* Expected wait for a packet that is sent there now: the path's delay without a queue, and rounds
 * times delay. The former keeps short messages off a slow path whose window happens to be free. */
static double cost(const struct uet_path *p)
{
	if (p->srtt == 0)
		return 1000 * (p->in_flight + 1) / p->window; /* first packets find out */
	return least(p) + (p->in_flight + 1) * (double)p->srtt / p->window;
}

static int pick_weighted(const struct cw_uet *u, const struct uet_peer *peer, unsigned tries,
			 int avoid)
{
	int best = -1;
	unsigned k, i;

	for (k = 0; k < peer->npaths; k++) {
		i = (peer->turn + k) % peer->npaths;
		if ((int)i == avoid || !has_room(u, peer, &peer->paths[i], tries))
			continue;
		if (peer->paths[i].down) /* the time for its probe has come */
			return (int)i;
		if (best < 0 || cost(&peer->paths[i]) < cost(&peer->paths[best]))
			best = (int)i;
	}
	return best;
}

static int pick_turn(const struct cw_uet *u, const struct uet_peer *peer, unsigned tries, int avoid)
{
	unsigned k, i;

	for (k = 0; k < peer->npaths; k++) {
		i = (peer->turn + k) % peer->npaths;
		if ((int)i != avoid && has_room(u, peer, &peer->paths[i], tries))
			return (int)i;
	}
	return -1;
}

/* The path of the message's hash, the next one after each loss or while it is down. */
static int pick_hash(const struct cw_uet *u, const struct uet_peer *peer, const struct uet_tx *m,
		     unsigned tries)
{
	uint32_t h = (m->id + 0x9e37u * m->ctx->c.id) * 0x9e3779b1u >> 8;
	unsigned k, i;

	for (k = 0; k < peer->npaths; k++) {
		i = (h + tries + k) % peer->npaths;
		if (!peer->paths[i].down || may_probe(u, peer, &peer->paths[i], tries))
			return has_room(u, peer, &peer->paths[i], tries) ? (int)i : -1;
	}
	return -1;
}

int uet_pick(struct cw_uet *u, struct uet_peer *peer, const struct uet_tx *m, unsigned tries,
	     int avoid)
{
	int i;

	if (u->s.spray == CW_UET_HASH)
		return pick_hash(u, peer, m, tries);
	i = u->s.spray == CW_UET_ROUND_ROBIN ? pick_turn(u, peer, tries, avoid)
					     : pick_weighted(u, peer, tries, avoid);
	if (i < 0 && avoid >= 0)
		return has_room(u, peer, &peer->paths[avoid], tries) ? avoid : -1;
	if (i >= 0)
		peer->turn = ((unsigned)i + 1) % peer->npaths;
	return i;
}

void uet_path_sent(struct cw_uet *u, struct uet_path *p, struct uet_tx *m, uint32_t idx)
{
	struct uet_seg *seg = uet_seg(m, idx);

	seg->sent_at = u->now;
	seg->seq = p->next_seq++;
	p->fifo[p->tail++ & (2 * u->s.max_window - 1)] = (struct uet_fifo){m, idx, seg->seq};
	m->refs++;
	p->in_flight++;
	p->sent++;
	if (p->down) {
		p->probe_wait = p->probe_wait < u->s.rto_max / 2 ? 2 * p->probe_wait : u->s.rto_max;
		p->probe_at = u->now + p->probe_wait;
	}
}

/* The least round trip of this period and the one before it. */
static void measure_least(struct uet_path *p, uint64_t now, uint64_t rtt)
{
	if (now - p->period_at >= LEAST_FOR) {
		p->rtt_min[1] = p->rtt_min[0];
		p->rtt_min[0] = UINT64_MAX;
		p->period_at = now;
	}
	if (rtt < p->rtt_min[0])
		p->rtt_min[0] = rtt;
}

static void measure(struct uet_path *p, uint64_t now, uint64_t rtt)
{
	uint64_t dev;

	measure_least(p, now, rtt);
	if (p->srtt == 0) {
		p->srtt = rtt;
		p->rttvar = rtt / 2;
		return;
	}
	dev = rtt > p->srtt ? rtt - p->srtt : p->srtt - rtt;
	p->rttvar = (3 * p->rttvar + dev) / 4;
	p->srtt = (7 * p->srtt + rtt) / 8;
}

/* A round is over when a packet that was sent after its start arrived. */
static void end_round(struct uet_path *p)
{
	double share = (double)p->round_marked / (p->round_acked > 0 ? p->round_acked : 1);

	p->alpha = (1 - gain) * p->alpha + gain * (share < 1 ? share : 1);
	if (p->round_marked > 0) {
		p->window *= 1 - p->alpha / 2;
		p->ssthresh = p->window;
	}
	if (p->window < least_window)
		p->window = least_window;
	p->round_acked = p->round_marked = 0;
	p->round_seq = p->next_seq - 1;
}

void uet_path_acked(struct cw_uet *u, struct uet_path *p, const struct uet_seg *seg, bool direct)
{
	if (seg->state == UET_SEG_FLIGHT)
		p->in_flight--;
	if (seg->tries == 1)
		measure(p, u->now, u->now - seg->sent_at);
	if (direct && before(p->acked_seq, seg->seq))
		p->acked_seq = seg->seq;
	p->acked++;
	p->round_acked++;
	p->backoff = p->strikes = 0;
	if (p->down) {
		p->down = false;
		p->window = first_window < u->s.max_window ? first_window : u->s.max_window;
		uet_inc(u, CW_UET_PATH_UP);
	}
	p->window += p->window < p->ssthresh ? 1 : 1 / p->window;
	if (p->window > u->s.max_window)
		p->window = u->s.max_window;
	if (before(p->round_seq, seg->seq))
		end_round(p);
}

void uet_path_marked(struct uet_path *p)
{
	p->round_marked++;
	p->marked++;
	/* the first mark ends slow start at once */
	if (p->window < p->ssthresh)
		p->ssthresh = p->window;
}

void uet_path_returned(struct uet_path *p)
{
	p->window = p->window > least_window + 1 ? p->window - 1 : least_window;
	uet_path_marked(p);
}

void uet_path_lost(struct uet_path *p, const struct uet_seg *seg, bool cut)
{
	p->in_flight--;
	p->lost++;
	if (!cut || !before(p->cut_seq, seg->seq))
		return;
	p->window = p->window / 2 > least_window ? p->window / 2 : least_window;
	p->ssthresh = p->window;
	p->cut_seq = p->next_seq - 1;
}

/* Is the entry still on its way? */
static bool is_pending(const struct uet_path *p, const struct uet_fifo *f)
{
	struct uet_seg *seg;

	if (f->tx->done || f->idx < f->tx->cum || f->idx >= f->tx->next)
		return false;
	seg = uet_seg(f->tx, f->idx);
	return seg->state == UET_SEG_FLIGHT && seg->seq == f->seq && seg->path == p->number;
}

static void pop(struct cw_uet *u, struct uet_path *p)
{
	struct uet_tx *m = p->fifo[p->head++ & (2 * u->s.max_window - 1)].tx;

	m->refs--;
	uet_tx_release(m);
}

void uet_path_infer(struct cw_uet *u, struct uet_path *p)
{
	while (p->head != p->tail) {
		struct uet_fifo *f = &p->fifo[p->head & (2 * u->s.max_window - 1)];

		if (is_pending(p, f)) {
			if ((int32_t)(p->acked_seq - f->seq) < (int32_t)u->s.reorder)
				return;
			uet_inc(u, CW_UET_LOST);
			uet_path_lost(p, uet_seg(f->tx, f->idx), true);
			uet_mark_lost(u, f->tx, f->idx);
		}
		pop(u, p);
	}
}

static uint64_t timeout(const struct cw_uet *u, const struct uet_path *p)
{
	uint64_t rto = p->srtt > 0 ? p->srtt + 4 * p->rttvar + u->s.ack_delay : 10 * u->s.rto_min;

	if (rto < u->s.rto_min)
		rto = u->s.rto_min;
	rto <<= p->down ? 0 : p->backoff; /* a path that was left is tried ever less often anyway */
	return rto < u->s.rto_max ? rto : u->s.rto_max;
}

uint64_t uet_path_deadline(const struct cw_uet *u, const struct uet_path *p)
{
	const struct uet_fifo *f = &p->fifo[p->head & (2 * u->s.max_window - 1)];

	if (p->head == p->tail)
		return p->down ? p->probe_at : UET_NEVER;
	return f->tx->done || f->idx < f->tx->cum ? u->now
						  : uet_seg(f->tx, f->idx)->sent_at + timeout(u, p);
}

static void leave(struct cw_uet *u, struct uet_path *p)
{
	if (!p->down) {
		uet_inc(u, CW_UET_PATH_DOWN);
		p->probe_wait = timeout(u, p);
		p->probe_at = u->now + p->probe_wait;
	}
	p->down = true;
}

/* The oldest packet waited too long. It goes elsewhere; on the second time so do all others. */
void uet_path_expire(struct cw_uet *u, struct uet_path *p)
{
	bool all = false;

	uet_path_infer(u, p);
	while (p->head != p->tail) {
		struct uet_fifo *f = &p->fifo[p->head & (2 * u->s.max_window - 1)];

		if (is_pending(p, f)) {
			struct uet_seg *seg = uet_seg(f->tx, f->idx);

			if (!all && u->now - seg->sent_at < timeout(u, p))
				return;
			uet_inc(u, CW_UET_TIMEOUTS);
			uet_path_lost(p, seg, true);
			uet_mark_lost(u, f->tx, f->idx);
			if (!all) {
				p->window = least_window;
				p->backoff += p->backoff < BACKOFF_MAX;
				if (++p->strikes >= STRIKES)
					leave(u, p);
				all = p->down;
			}
		}
		pop(u, p);
	}
}
