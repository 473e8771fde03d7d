/* output.c - what goes out next: replies, then lost packets, then new ones; and what time ends. */
#include "lib/uet/uet_int.h"

enum { SCAN = 16 };

/* What every packet's header says, and where it goes. */
struct head {
	unsigned peer, path;
	uint32_t dcid, scid, id, offset;
	uint32_t len; /* of the data, or of a Nack's reason */
	uint8_t op;
};

static void put_head(struct cw_uet_packet *p, const struct head *h)
{
	memset(p->head, 0, sizeof(p->head));
	cw_uetx_set_version(p->head, CW_UETX_VERSION);
	cw_uetx_set_opcode(p->head, h->op);
	cw_uetx_set_dcid(p->head, h->dcid);
	cw_uetx_set_scid(p->head, h->scid);
	cw_uetx_set_msg_id(p->head, h->id);
	cw_uetx_set_offset(p->head, h->offset);
	cw_uetx_set_length(p->head, h->len);
	p->peer = h->peer;
	p->path = h->path;
	p->head_len = CW_SIZE_UETX;
}

static void put_data(struct cw_uet *u, struct uet_tx *m, uint32_t idx, unsigned path,
		     struct cw_uet_packet *p)
{
	const struct cw_uet_context *c = &m->ctx->c;
	struct uet_seg *seg = uet_seg(m, idx);
	struct head h = {
		.peer = c->peer,
		.path = path,
		.dcid = c->remote_id,
		.scid = c->id,
		.id = m->id,
		.offset = idx * u->s.mtu,
		.op = m->op,
	};

	h.len = m->len - h.offset < u->s.mtu ? m->len - h.offset : u->s.mtu;
	put_head(p, &h);
	cw_uetx_set_ec(p->head, 1);
	cw_uetx_set_s(p->head, m->solicited);
	cw_uetx_set_f(p->head, idx == 0);
	cw_uetx_set_l(p->head, idx + 1 == m->nseg);
	p->ect = true;
	p->payload = m->len > 0 ? m->data + h.offset : NULL;
	p->payload_len = h.len;
	seg->state = UET_SEG_FLIGHT;
	seg->path = (uint16_t)path;
	if (seg->tries < 255)
		seg->tries++;
	uet_path_sent(u, &uet_peer_of(u, m->ctx)->paths[path], m, idx);
	uet_inc(u, CW_UET_TX_DATA);
	u->counters[CW_UET_TX_OCTETS] += h.len;
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
	const struct head h = {
		.peer = r->peer,
		.path = r->path,
		.dcid = r->dcid,
		.scid = r->scid,
		.id = r->id,
		.offset = r->offset,
		.len = nack ? CW_SIZE_UETX_NACK : 0,
		.op = r->op,
	};

	put_head(p, &h);
	cw_uetx_set_s(p->head, r->response);
	cw_uetx_set_l(p->head, r->complete);
	cw_uetx_set_ec(p->head, r->ce);
	cw_uetx_ack_set_cumulative(ack, r->cumulative);
	cw_uetx_ack_set_sack(ack, r->sack);
	cw_uetx_nack_set_reason(ack + CW_SIZE_UETX_ACK, r->reason);
	p->head_len += CW_SIZE_UETX_ACK + (nack ? CW_SIZE_UETX_NACK : 0);
	uet_inc(u, nack ? CW_UET_TX_NACK : CW_UET_TX_ACK);
}

/* What was refused, what is over, what is there. */
static bool output_reply(struct cw_uet *u, struct cw_uet_packet *p)
{
	struct uet_reply r;

	if (!uet_reply_next(u, &r))
		return false;
	put_reply(u, &r, p);
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
	uet_let_go(u);
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
	uint64_t at = uet_reply_deadline(u);
	unsigned i, k;

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
