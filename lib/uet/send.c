/* send.c - outgoing messages: their begin and end, what Acks and Nacks say of them. */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

enum { MESSAGE_WINDOW = 1024 };

struct uet_seg *uet_seg(struct uet_tx *m, uint32_t idx)
{
	return &m->win[idx & m->win_mask];
}

/* ---- Life of a message --------------------------------------------------------------------- */

static struct uet_tx *tx_new(const struct cw_uet *u, struct uet_ctx *c, uint8_t op,
			     const void *data, uint32_t len)
{
	struct uet_tx *m = calloc(1, sizeof(*m));
	uint32_t room = 1;

	if (m == NULL)
		return NULL;
	m->ctx = c;
	m->op = op;
	m->data = data;
	m->len = len;
	m->nseg = len / u->s.mtu + (len % u->s.mtu != 0 || len == 0);
	while (room < m->nseg && room < MESSAGE_WINDOW)
		room *= 2;
	m->win_mask = room - 1;
	m->key = uet_key(c->c.id, op == CW_UETX_READ_RESPONSE, 0);
	uet_link_init(&m->order);
	uet_link_init(&m->queue);
	uet_link_init(&m->lostq);
	uet_link_init(&m->held);
	uet_link_init(&m->age);
	return m;
}

/* Free what is over, given back, and known to no path any more. */
void uet_tx_release(struct uet_tx *m)
{
	if (!m->done || m->refs > 0 || uet_linked(&m->age))
		return;
	free(m->win);
	free(m);
}

/* Give a message that is next in its context an id's place among the unfinished and queue it. */
static int tx_start(struct cw_uet *u, struct uet_tx *m)
{
	m->win = calloc(m->win_mask + 1u, sizeof(struct uet_seg));
	m->key = uet_key(m->ctx->c.id, m->op == CW_UETX_READ_RESPONSE, m->id);
	if (m->win == NULL || uet_map_add(&u->tx, m->key, m) < 0) {
		free(m->win);
		m->win = NULL;
		return CW_E_NOMEM;
	}
	m->started = true;
	if (uet_peer_of(u, m->ctx)->sending++ == 0)
		uet_peer_of(u, m->ctx)->heard_at = u->now;
	uet_append(&uet_peer_of(u, m->ctx)->queue, &m->queue);
	return CW_OK;
}

/* Start what may start: nothing behind a fence, no id too far from the oldest unfinished one. */
void uet_pump(struct cw_uet *u, struct uet_ctx *c)
{
	while (uet_linked(&c->waiting) && !c->fencing && !c->closing) {
		struct uet_tx *m = UET_OF(struct uet_tx, queue, c->waiting.next), *oldest;

		if (m->op == CW_UETX_FENCE && (c->outstanding > 0 || c->reads > 0))
			return;
		oldest = uet_linked(&c->unfinished)
				 ? UET_OF(struct uet_tx, order, c->unfinished.next)
				 : m;
		if (m->id - oldest->id >= u->s.id_window / 2 || tx_start(u, m) < 0)
			return;
		uet_append(&c->unfinished, &m->order);
		c->outstanding++;
		c->fencing = m->op == CW_UETX_FENCE;
		if (m->op == CW_UETX_READ)
			uet_rx_started(u, c, m->id);
	}
}

/* What a caller asks for. */
struct work {
	uint32_t ctx;
	uint8_t op;
	const void *data;
	uint32_t len;
	bool solicited;
	uint64_t cookie;
};

static int tx_post(struct uet_tx **out, struct cw_uet *u, const struct work *w)
{
	struct uet_ctx *c = uet_map_find(&u->ctxs, w->ctx);
	struct uet_tx *m;

	if (c == NULL)
		return CW_E_NAME;
	if ((m = tx_new(u, c, w->op, w->data, w->len)) == NULL)
		return CW_E_NOMEM;
	m->solicited = w->solicited;
	m->cookie = w->cookie;
	m->id = c->next_id++;
	uet_append(&c->waiting, &m->queue);
	*out = m;
	return CW_OK;
}

static int post(struct cw_uet *u, const struct work *w)
{
	struct uet_tx *m;
	int err = tx_post(&m, u, w);

	if (err == CW_OK)
		uet_pump(u, m->ctx);
	return err;
}

int cw_uet_send(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		uint64_t cookie)
{
	return post(u, &(struct work){ctx, CW_UETX_SEND, data, len, solicited, cookie});
}

int cw_uet_write(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		 uint64_t cookie)
{
	return post(u, &(struct work){ctx, CW_UETX_WRITE, data, len, solicited, cookie});
}

int cw_uet_fence(struct cw_uet *u, uint32_t ctx, uint64_t cookie)
{
	return post(u, &(struct work){.ctx = ctx, .op = CW_UETX_FENCE, .cookie = cookie});
}

int cw_uet_read(struct cw_uet *u, uint64_t now, uint32_t ctx, uint32_t offset, void *buf,
		uint32_t len, uint64_t cookie)
{
	const struct work w = {.ctx = ctx, .op = CW_UETX_READ, .len = 8, .cookie = cookie};
	struct uet_tx *m;
	int err;

	u->now = now;
	if ((err = tx_post(&m, u, &w)) < 0)
		return err;
	cw_put_be32(m->body, offset);
	cw_put_be32(m->body + 4, len);
	m->data = m->body;
	m->quiet = true; /* the answer makes the event */
	if ((err = uet_rx_expect(u, m->ctx, m->id, buf, len, cookie)) < 0) {
		uet_unlink(&m->queue);
		m->ctx->next_id--;
		m->done = true;
		uet_tx_release(m);
		return err;
	}
	uet_pump(u, m->ctx);
	return CW_OK;
}

/* Answers are made by the other side's doing, so they count as its memory. */
static uint64_t answer_cost(const struct uet_tx *m)
{
	return sizeof(*m) + (m->win_mask + 1ull) * sizeof(struct uet_seg);
}

/* Answer Read `id` with `len` octets. */
int uet_tx_answer(struct cw_uet *u, struct uet_ctx *c, uint32_t id, const uint8_t *data,
		  uint32_t len)
{
	struct uet_tx *m = tx_new(u, c, CW_UETX_READ_RESPONSE, data, len);
	struct uet_peer *peer = uet_peer_of(u, c);

	if (m == NULL)
		return CW_E_NOMEM;
	m->id = id;
	m->quiet = true;
	if (peer->memory + answer_cost(m) <= u->s.memory_per_peer && tx_start(u, m) == CW_OK) {
		peer->memory += answer_cost(m);
		uet_append(&c->answers, &m->order);
		return CW_OK;
	}
	free(m);
	return CW_E_NOMEM;
}

/* A Read that the other side refused or never got has no answer to wait for. */
static void fail_read(struct cw_uet *u, const struct uet_tx *m)
{
	struct uet_rx *answer = uet_map_find(&u->reads, uet_key(m->ctx->c.id, true, m->id));

	if (answer != NULL)
		uet_rx_finish(u, answer, m->status);
}

void uet_tx_finish(struct cw_uet *u, struct uet_tx *m, unsigned status)
{
	struct uet_ctx *c = m->ctx;
	uint32_t i;

	for (i = m->cum; m->started && i < m->next; i++) {
		struct uet_seg *seg = uet_seg(m, i);

		if (seg->state == UET_SEG_FLIGHT)
			uet_peer_of(u, m->ctx)->paths[seg->path].in_flight--;
	}
	if (m->started) {
		uet_map_del(&u->tx, m->key);
		uet_peer_of(u, m->ctx)->sending--;
	}
	if (m->op == CW_UETX_READ_RESPONSE) {
		uet_peer_of(u, m->ctx)->memory -= answer_cost(m);
	} else if (m->started) {
		c->outstanding--;
		c->fencing &= m->op != CW_UETX_FENCE;
	}
	uet_unlink(&m->order);
	uet_unlink(&m->queue);
	uet_unlink(&m->lostq);
	uet_unlink(&m->held);
	uet_unlink(&m->age);
	m->status = status;
	if (m->op == CW_UETX_READ && status != CW_UET_OK)
		fail_read(u, m);
	if (!m->quiet)
		uet_append(&u->tx_events, &m->age);
	m->done = true;
	uet_tx_release(m);
	uet_pump(u, c);
}

/* ---- Acks and Nacks ------------------------------------------------------------------------ */

void uet_mark_lost(struct cw_uet *u, struct uet_tx *m, uint32_t idx)
{
	uet_seg(m, idx)->state = UET_SEG_LOST;
	m->lost++;
	if (!uet_linked(&m->lostq) && !uet_linked(&m->held))
		uet_append(&uet_peer_of(u, m->ctx)->lost, &m->lostq);
}

static void made_progress(struct cw_uet *u, struct uet_tx *m)
{
	m->holds = 0;
	if (!uet_linked(&m->age) || !uet_is_stale(m->progress_at, u->now, u->s.give_up_after))
		return;
	m->progress_at = u->now;
	uet_append(&u->tx_age, &m->age);
}

/* Packet idx is there; the Ack came on path `via`. */
static void ack_one(struct cw_uet *u, struct uet_tx *m, unsigned via, uint32_t idx)
{
	struct uet_seg *seg = uet_seg(m, idx);
	struct uet_path *p;

	if (idx < m->cum || idx >= m->next || seg->state == UET_SEG_ACKED)
		return;
	p = &uet_peer_of(u, m->ctx)->paths[seg->path];
	uet_path_acked(u, p, seg, seg->path == via);
	if (seg->state == UET_SEG_LOST) {
		uet_inc(u, CW_UET_SPURIOUS);
		if (--m->lost == 0)
			uet_unlink(&m->lostq);
	}
	seg->state = UET_SEG_ACKED;
	made_progress(u, m);
}

static struct uet_tx *find_tx(struct cw_uet *u, struct uet_ctx *c, const uint8_t *p)
{
	return uet_map_find(&u->tx, uet_tx_key(c, p));
}

/* An Ack of a message that is over is no error; of one that never was, it is. */
static int unknown_message(struct cw_uet *u, const struct uet_ctx *c, const uint8_t *p)
{
	if (cw_uetx_s(p) || (int32_t)(cw_uetx_msg_id(p) - c->next_id) < 0)
		return CW_OK;
	uet_inc(u, CW_UET_E_ACK);
	return CW_E_FORBIDDEN;
}

/* Packet that an Ack or Nack names: sent before, or CW_E_RANGE. */
static int named_packet(struct cw_uet *u, const struct uet_tx *m, const uint8_t *p, uint32_t *idx)
{
	*idx = cw_uetx_offset(p) / u->s.mtu;
	if (cw_uetx_offset(p) % u->s.mtu == 0 && *idx < m->next)
		return CW_OK;
	uet_inc(u, CW_UET_E_ACK);
	return CW_E_FORBIDDEN;
}

static void ack_bitmap(struct cw_uet *u, struct uet_tx *m, unsigned via, uint32_t base,
		       uint32_t sack)
{
	unsigned i;

	for (i = 0; i < 16; i++) {
		if (sack >> i & 1)
			ack_one(u, m, via, base + i);
	}
}

/* The cumulative count is modulo 2^16; the window of a message is far smaller. */
static void ack_cumulative(struct cw_uet *u, struct uet_tx *m, unsigned via, uint32_t count)
{
	uint32_t n = (count - m->cum) & 0xffff, i, from = m->cum;

	if (n > m->next - m->cum)
		return;
	for (i = 0; i < n; i++)
		ack_one(u, m, via, from + i);
}

/* Line the message up for what it may send now: with its peer, or nowhere while it is held. */
static void line_up(struct cw_uet *u, struct uet_tx *m)
{
	struct uet_peer *peer = uet_peer_of(u, m->ctx);

	if (uet_linked(&m->held))
		return;
	if (m->lost > 0 && !uet_linked(&m->lostq))
		uet_append(&peer->lost, &m->lostq);
	if (m->next < m->nseg && m->next - m->cum <= m->win_mask && !uet_linked(&m->queue))
		uet_append(&peer->queue, &m->queue);
}

int uet_ack_input(struct cw_uet *u, struct uet_ctx *c, unsigned via, const uint8_t *p)
{
	struct uet_tx *m = find_tx(u, c, p);
	struct uet_peer *peer = uet_peer_of(u, c);
	const uint8_t *ack = p + CW_SIZE_UETX;
	uint32_t idx, i;
	unsigned k;
	int err;

	uet_inc(u, CW_UET_RX_ACK);
	peer->heard_at = u->now;
	if (m == NULL)
		return unknown_message(u, c, p);
	if ((err = named_packet(u, m, p, &idx)) < 0)
		return err;
	if (cw_uetx_l(p) && m->next != m->nseg) {
		uet_inc(u, CW_UET_E_ACK);
		return CW_E_FORBIDDEN;
	}
	if (cw_uetx_ec(p) && idx >= m->cum)
		uet_path_marked(&peer->paths[uet_seg(m, idx)->path]);
	ack_one(u, m, via, idx);
	ack_bitmap(u, m, via, idx & ~15u, cw_uetx_ack_sack(ack));
	ack_cumulative(u, m, via, cw_uetx_ack_cumulative(ack));
	for (i = m->cum; cw_uetx_l(p) && i < m->nseg; i++)
		ack_one(u, m, via, i);
	while (m->cum < m->next && uet_seg(m, m->cum)->state == UET_SEG_ACKED)
		m->cum++;
	if (m->cum == m->nseg)
		uet_tx_finish(u, m, CW_UET_OK);
	else
		line_up(u, m);
	for (k = 0; k < peer->npaths; k++)
		uet_path_infer(u, &peer->paths[k]);
	return CW_OK;
}

/* The message waits, longer each time. All packets on the way are refused together: that is one
 * time, not many. */
static void hold(struct cw_uet *u, struct uet_tx *m)
{
	if (uet_linked(&m->held))
		return;
	m->hold_until = u->now + (u->s.retry_delay << m->holds);
	uet_append(&u->held[m->holds], &m->held);
	m->holds += m->holds + 1 < UET_HOLDS;
	uet_unlink(&m->queue);
	uet_unlink(&m->lostq);
}

void uet_let_go(struct cw_uet *u)
{
	unsigned i;

	for (i = 0; i < UET_HOLDS; i++) {
		while (uet_linked(&u->held[i])) {
			struct uet_tx *m = UET_OF(struct uet_tx, held, u->held[i].next);

			if (m->hold_until > u->now)
				break;
			uet_unlink(&m->held);
			line_up(u, m);
		}
	}
}

/* The network sent the packet back (BTS), or the other side asks for it again. */
static void send_again(struct cw_uet *u, struct uet_tx *m, uint32_t idx, unsigned reason)
{
	struct uet_seg *seg = uet_seg(m, idx);

	if (idx < m->cum || seg->state != UET_SEG_FLIGHT)
		return;
	if (reason == 0)
		uet_path_returned(&uet_peer_of(u, m->ctx)->paths[seg->path]);
	else
		hold(u, m);
	uet_path_lost(&uet_peer_of(u, m->ctx)->paths[seg->path], seg, false);
	uet_mark_lost(u, m, idx);
}

int uet_returned_input(struct cw_uet *u, struct uet_ctx *c, const uint8_t *p)
{
	bool response = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE;
	struct uet_tx *m = uet_map_find(&u->tx, uet_key(c->c.id, response, cw_uetx_msg_id(p)));
	uint32_t idx;
	int err;

	if (m == NULL)
		return CW_OK; /* it was there before, or came another way meanwhile */
	if ((err = named_packet(u, m, p, &idx)) < 0)
		return err;
	send_again(u, m, idx, 0);
	return CW_OK;
}

int uet_nack_input(struct cw_uet *u, struct uet_ctx *c, const uint8_t *p, size_t len)
{
	const uint8_t *body = p + CW_SIZE_UETX + CW_SIZE_UETX_ACK;
	struct uet_tx *m = find_tx(u, c, p);
	unsigned reason = 0;
	uint32_t idx;
	int err;

	uet_inc(u, CW_UET_RX_NACK);
	u->peers[c->c.peer].heard_at = u->now;
	if (len >= CW_SIZE_UETX + CW_SIZE_UETX_ACK + CW_SIZE_UETX_NACK)
		reason = cw_uetx_nack_reason(body);
	else
		uet_inc(u, CW_UET_BTS);
	if (m == NULL)
		return unknown_message(u, c, p);
	if ((err = named_packet(u, m, p, &idx)) < 0)
		return err;
	switch (reason) {
	case 0:
	case CW_UETX_NO_BUFFER:
	case CW_UETX_NO_MEMORY:
	case CW_UETX_ID_WINDOW:
		send_again(u, m, idx, reason);
		break;
	default:
		uet_tx_finish(u, m, reason);
	}
	return CW_OK;
}
