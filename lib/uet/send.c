/* send.c - outgoing messages: segmentation, Acks and Nacks, what goes out next. */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

enum { MESSAGE_WINDOW = 1024, SCAN = 16 };

struct uet_seg *uet_seg(struct uet_tx *m, uint32_t idx)
{
	return &m->win[idx & m->win_mask];
}

static struct uet_peer *peer_of(struct cw_uet *u, const struct uet_tx *m)
{
	return &u->peers[m->ctx->c.peer];
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
	if (peer_of(u, m)->sending++ == 0)
		peer_of(u, m)->heard_at = u->now;
	uet_append(&peer_of(u, m)->queue, &m->queue);
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

static struct uet_tx *tx_post(struct cw_uet *u, uint32_t ctx, uint8_t op, const void *data,
			      uint32_t len, bool solicited, uint64_t cookie, int *err)
{
	struct uet_ctx *c = uet_map_find(&u->ctxs, ctx);
	struct uet_tx *m = NULL;

	*err = CW_E_NAME;
	if (c == NULL)
		return NULL;
	*err = CW_E_NOMEM;
	if ((m = tx_new(u, c, op, data, len)) == NULL)
		return NULL;
	*err = CW_OK;
	m->solicited = solicited;
	m->cookie = cookie;
	m->id = c->next_id++;
	uet_append(&c->waiting, &m->queue);
	return m;
}

static int post(struct cw_uet *u, uint32_t ctx, uint8_t op, const void *data, uint32_t len,
		bool solicited, uint64_t cookie)
{
	int err;
	struct uet_tx *m = tx_post(u, ctx, op, data, len, solicited, cookie, &err);

	if (m != NULL)
		uet_pump(u, m->ctx);
	return err;
}

int cw_uet_send(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		uint64_t cookie)
{
	return post(u, ctx, CW_UETX_SEND, data, len, solicited, cookie);
}

int cw_uet_write(struct cw_uet *u, uint32_t ctx, const void *data, uint32_t len, bool solicited,
		 uint64_t cookie)
{
	return post(u, ctx, CW_UETX_WRITE, data, len, solicited, cookie);
}

int cw_uet_fence(struct cw_uet *u, uint32_t ctx, uint64_t cookie)
{
	return post(u, ctx, CW_UETX_FENCE, NULL, 0, false, cookie);
}

int cw_uet_read(struct cw_uet *u, uint64_t now, uint32_t ctx, uint32_t offset, void *buf,
		uint32_t len, uint64_t cookie)
{
	struct uet_tx *m;
	int err;

	u->now = now;
	if ((m = tx_post(u, ctx, CW_UETX_READ, NULL, 8, false, cookie, &err)) == NULL)
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
	struct uet_peer *peer = &u->peers[c->c.peer];

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
			peer_of(u, m)->paths[seg->path].in_flight--;
	}
	if (m->started) {
		uet_map_del(&u->tx, m->key);
		peer_of(u, m)->sending--;
	}
	if (m->op == CW_UETX_READ_RESPONSE) {
		peer_of(u, m)->memory -= answer_cost(m);
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
		uet_append(&peer_of(u, m)->lost, &m->lostq);
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
	p = &peer_of(u, m)->paths[seg->path];
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
	struct uet_peer *peer = peer_of(u, m);

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
	struct uet_peer *peer = &u->peers[c->c.peer];
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

static void let_go(struct cw_uet *u)
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
		uet_path_returned(&peer_of(u, m)->paths[seg->path]);
	else
		hold(u, m);
	uet_path_lost(&peer_of(u, m)->paths[seg->path], seg, false);
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

/* ---- Output -------------------------------------------------------------------------------- */

static void put_head(struct cw_uet_packet *p, unsigned peer, uint32_t dcid, uint32_t scid,
		     uint8_t op, uint32_t id, uint32_t offset, uint32_t len)
{
	memset(p->head, 0, sizeof(p->head));
	cw_uetx_set_version(p->head, CW_UETX_VERSION);
	cw_uetx_set_opcode(p->head, op);
	cw_uetx_set_dcid(p->head, dcid);
	cw_uetx_set_scid(p->head, scid);
	cw_uetx_set_msg_id(p->head, id);
	cw_uetx_set_offset(p->head, offset);
	cw_uetx_set_length(p->head, len);
	p->peer = peer;
	p->head_len = CW_SIZE_UETX;
}

static void put_data(struct cw_uet *u, struct uet_tx *m, uint32_t idx, unsigned path,
		     struct cw_uet_packet *p)
{
	const struct cw_uet_context *c = &m->ctx->c;
	uint32_t offset = idx * u->s.mtu, len = m->len - offset;
	struct uet_seg *seg = uet_seg(m, idx);

	if (len > u->s.mtu)
		len = u->s.mtu;
	put_head(p, c->peer, c->remote_id, c->id, m->op, m->id, offset, len);
	cw_uetx_set_ec(p->head, 1);
	cw_uetx_set_s(p->head, m->solicited);
	cw_uetx_set_f(p->head, idx == 0);
	cw_uetx_set_l(p->head, idx + 1 == m->nseg);
	p->ect = true;
	p->path = path;
	p->payload = m->len > 0 ? m->data + offset : NULL;
	p->payload_len = len;
	seg->state = UET_SEG_FLIGHT;
	seg->path = (uint16_t)path;
	if (seg->tries < 255)
		seg->tries++;
	uet_path_sent(u, &peer_of(u, m)->paths[path], m, idx);
	uet_inc(u, CW_UET_TX_DATA);
	u->counters[CW_UET_TX_OCTETS] += len;
}

/* By weight or turn, a peer's paths are full for all of its messages or for none. By hash each
 * message has its own path: some more are asked. */
static bool look_further(const struct cw_uet *u, unsigned *looked)
{
	return u->s.spray == CW_UET_HASH && ++*looked < SCAN;
}

static bool output_lost(struct cw_uet *u, struct uet_peer *peer, struct cw_uet_packet *p)
{
	struct uet_link *l;
	unsigned looked = 0;

	for (l = peer->lost.next; l != &peer->lost; l = l->next) {
		struct uet_tx *m = UET_OF(struct uet_tx, lostq, l);
		uint32_t i = m->cum;
		int path;

		while (i < m->next && uet_seg(m, i)->state != UET_SEG_LOST)
			i++;
		path = uet_pick(u, peer, m, uet_seg(m, i)->tries, uet_seg(m, i)->path);
		if (path < 0 && look_further(u, &looked))
			continue;
		if (path < 0)
			return false;
		if (--m->lost == 0)
			uet_unlink(&m->lostq);
		uet_inc(u, CW_UET_RETRANSMITS);
		put_data(u, m, i, (unsigned)path, p);
		return true;
	}
	return false;
}

static void begin_sending(struct cw_uet *u, struct uet_tx *m)
{
	m->progress_at = u->now;
	uet_append(&u->tx_age, &m->age);
}

static bool output_new(struct cw_uet *u, struct uet_peer *peer, struct cw_uet_packet *p)
{
	struct uet_link *l;
	unsigned looked = 0;

	for (l = peer->queue.next; l != &peer->queue; l = l->next) {
		struct uet_tx *m = UET_OF(struct uet_tx, queue, l);
		uint32_t idx = m->next;
		int path = uet_pick(u, peer, m, 0, -1);

		if (path < 0 && look_further(u, &looked))
			continue;
		if (path < 0)
			return false;
		m->next++;
		uet_seg(m, idx)->tries = 0;
		if (idx == 0)
			begin_sending(u, m);
		/* a full window waits for Acks */
		if (m->next == m->nseg || m->next - m->cum > m->win_mask)
			uet_unlink(&m->queue);
		put_data(u, m, idx, (unsigned)path, p);
		return true;
	}
	return false;
}

static void put_reply(struct cw_uet *u, const struct uet_reply *r, struct cw_uet_packet *p)
{
	uint8_t *ack = p->head + CW_SIZE_UETX;
	bool nack = r->op == CW_UETX_NACK;

	put_head(p, r->peer, r->dcid, r->scid, r->op, r->id, r->offset,
		 nack ? CW_SIZE_UETX_NACK : 0);
	cw_uetx_set_s(p->head, r->response);
	cw_uetx_set_l(p->head, r->complete);
	cw_uetx_set_ec(p->head, r->ce);
	cw_uetx_ack_set_cumulative(ack, r->cumulative);
	cw_uetx_ack_set_sack(ack, r->sack);
	cw_uetx_nack_set_reason(ack + CW_SIZE_UETX_ACK, r->reason);
	p->head_len += CW_SIZE_UETX_ACK + (nack ? CW_SIZE_UETX_NACK : 0);
	p->path = r->path;
	uet_inc(u, nack ? CW_UET_TX_NACK : CW_UET_TX_ACK);
}

/* What was refused, what is over, what is there. */
static bool output_reply(struct cw_uet *u, struct cw_uet_packet *p)
{
	struct uet_reply ack;

	if (u->reply_head != u->reply_tail)
		put_reply(u, &u->replies[u->reply_head++ % UET_REPLIES], p);
	else if (uet_ack_due(u, &ack))
		put_reply(u, &ack, p);
	else
		return false;
	return true;
}

static void give_up(struct cw_uet *u, struct uet_tx *m)
{
	uet_inc(u, CW_UET_REAPED);
	uet_tx_finish(u, m, CW_UET_TIMED_OUT);
}

/* A peer that does not answer at all: its other messages need not each wait as long again. */
static void give_up_peer(struct cw_uet *u, unsigned peer)
{
	uint32_t i;

	for (i = 0; i <= u->ctxs.mask; i++) {
		struct uet_ctx *c = u->ctxs.slots[i].value;

		if (c == NULL || c->c.peer != peer)
			continue;
		while (uet_linked(&c->unfinished))
			give_up(u, UET_OF(struct uet_tx, order, c->unfinished.next));
		while (uet_linked(&c->answers))
			give_up(u, UET_OF(struct uet_tx, order, c->answers.next));
	}
}

static void expire_messages(struct cw_uet *u)
{
	uet_rx_expire(u);
	while (uet_linked(&u->tx_age)) {
		struct uet_tx *m = UET_OF(struct uet_tx, age, u->tx_age.next);
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is in no list. */
		unsigned peer = m->ctx->c.peer;

		if (u->now < uet_reap_at(m->progress_at, u->s.give_up_after))
			return;
		give_up(u, m);
		if (u->now - u->peers[peer].heard_at >= u->s.give_up_after)
			give_up_peer(u, peer);
	}
}

static void expire(struct cw_uet *u)
{
	unsigned i, k;

	if (u->now < u->expire_at)
		return;
	u->expire_at = u->now + u->s.rto_min / 8;
	expire_messages(u);
	for (i = 0; i < u->npeers; i++) {
		for (k = 0; k < u->peers[i].npaths; k++)
			uet_path_expire(u, &u->peers[i].paths[k]);
	}
}

bool cw_uet_output(struct cw_uet *u, uint64_t now, struct cw_uet_packet *p)
{
	unsigned k;

	u->now = now;
	p->ect = false;
	p->payload = NULL;
	p->payload_len = 0;
	if (output_reply(u, p))
		return true;
	expire(u);
	let_go(u);
	for (k = 0; k < u->npeers; k++) {
		struct uet_peer *peer = &u->peers[(u->turn + k) % u->npeers];

		if (output_lost(u, peer, p) || output_new(u, peer, p)) {
			u->turn = (u->turn + k + 1) % u->npeers;
			return true;
		}
	}
	/* giving up may have made Nacks or Acks */
	return output_reply(u, p);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t cw_uet_deadline(const struct cw_uet *u)
{
	uint64_t at = UET_NEVER;
	unsigned i, k;

	if (u->reply_head != u->reply_tail)
		return u->now;
	if (u->later.head != u->later.tail)
		at = u->later.e[u->later.head % UET_ACKS].at;
	if (uet_linked(&u->rx_age))
		at = earlier(at,
			     uet_reap_at(UET_OF(struct uet_rx_rest, age, u->rx_age.next)->active_at,
					 u->s.reap_after));
	if (uet_linked(&u->tx_age))
		at = earlier(at,
			     uet_reap_at(UET_OF(struct uet_tx, age, u->tx_age.next)->progress_at,
					 u->s.give_up_after));
	for (i = 0; i < UET_HOLDS; i++) {
		if (uet_linked(&u->held[i]))
			at = earlier(at, UET_OF(struct uet_tx, held, u->held[i].next)->hold_until);
	}
	for (i = 0; i < u->npeers; i++) {
		for (k = 0; k < u->peers[i].npaths; k++)
			at = earlier(at, uet_path_deadline(u, &u->peers[i].paths[k]));
	}
	return at;
}
