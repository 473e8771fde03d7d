/* acks.c - what goes back to a sender: a ring of Acks and Nacks that are said, and Acks that are
 * owed after a delay.
 */
#include "lib/uet/uet_int.h"

static void set_address(struct uet_reply *r, const struct uet_ctx *c, unsigned path)
{
	r->peer = c->c.peer;
	r->path = path;
	r->dcid = c->c.remote_id;
	r->scid = c->c.id;
}

/* The ring is bounded: what does not fit is not said, and the sender's timeout asks again. */
void uet_reply(struct cw_uet *u, const struct uet_ctx *c, unsigned path, const struct uet_reply *r)
{
	struct uet_reply *at;

	if (u->reply_head == u->reply_tail)
		u->reply_head = u->reply_tail = 0;
	if (u->reply_tail - u->reply_head == UET_REPLIES)
		return;
	at = &u->replies[u->reply_tail % UET_REPLIES];
	*at = *r;
	set_address(at, c, path);
	u->reply_tail++;
}

static void write_ack(const struct uet_owed *e, struct uet_reply *r)
{
	const struct uet_rx *m = e->rx;

	*r = (struct uet_reply){
		.id = e->id,
		.offset = e->off,
		.op = CW_UETX_ACK,
		.response = uet_is_response(m),
		.cumulative = (uint16_t)m->cum,
		.sack = (uint16_t)uet_place_block(m, e->off),
		.ce = e->ce,
	};
}

/* The last reply, if it is an Ack of the same 16 packets and path: the new one says all it does. */
static struct uet_reply *last_ack(struct cw_uet *u, const struct uet_owed *e,
				  const struct uet_reply *r)
{
	struct uet_reply *last = &u->replies[(u->reply_tail - 1) % UET_REPLIES];
	uint32_t block = e->rx->seg != 0 ? 16 * e->rx->seg : 1;

	if (u->reply_head == u->reply_tail || last->op != CW_UETX_ACK || last->complete ||
	    last->id != r->id || last->response != r->response || last->scid != e->ctx->c.id ||
	    last->path != e->path || last->offset / block != r->offset / block)
		return NULL;
	return last;
}

/* Acks go out in the order in which their packets came: the sender takes what an Ack tells of a
 * path's order for true. */
static void say_ack(struct cw_uet *u, const struct uet_owed *e)
{
	struct uet_reply r, *last;

	write_ack(e, &r);
	if ((last = last_ack(u, e, &r)) == NULL) {
		uet_reply(u, e->ctx, e->path, &r);
		return;
	}
	r.ce |= last->ce;
	*last = r;
	set_address(last, e->ctx, e->path);
}

static struct uet_owed *owed_of(struct cw_uet *u, const struct uet_rx *m)
{
	return m->owed != 0 ? &u->later.e[m->owed - 1] : NULL;
}

bool uet_owes_ce(struct cw_uet *u, const struct uet_rx *m)
{
	return m->owed != 0 && owed_of(u, m)->ce;
}

void uet_owe_no_more(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_acks *a = &u->later;

	if (m->owed == 0)
		return;
	owed_of(u, m)->rx = NULL;
	m->owed = 0;
	while (a->head != a->tail && a->e[a->head % UET_ACKS].rx == NULL)
		a->head++;
}

/* What has no room to wait goes out at once. */
static void owe(struct cw_uet *u, const struct uet_owed *e)
{
	struct uet_acks *a = &u->later;
	uint32_t at;

	if (a->head == a->tail) /* the front of it is in the caches */
		a->head = a->tail = 0;
	at = a->tail % UET_ACKS;
	if (a->tail - a->head == UET_ACKS) {
		say_ack(u, e);
		return;
	}
	a->e[at] = *e;
	a->tail++;
	e->rx->owed = (uint16_t)(at + 1);
}

bool uet_reply_next(struct cw_uet *u, struct uet_reply *r)
{
	const struct uet_owed *e = &u->later.e[u->later.head % UET_ACKS];

	if (u->reply_head != u->reply_tail) {
		*r = u->replies[u->reply_head++ % UET_REPLIES];
		return true;
	}
	if (u->later.head == u->later.tail || e->at > u->now)
		return false;
	write_ack(e, r);
	set_address(r, e->ctx, e->path);
	uet_owe_no_more(u, e->rx);
	return true;
}

uint64_t uet_reply_deadline(const struct cw_uet *u)
{
	if (u->reply_head != u->reply_tail)
		return u->now;
	if (u->later.head != u->later.tail)
		return u->later.e[u->later.head % UET_ACKS].at;
	return UET_NEVER;
}

/* An Ack speaks of one group of 16 packets and goes back on the path they came by: another group or
 * path, and what was owed goes first. */
void uet_owe_ack(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in, bool now)
{
	uint32_t block = m->seg != 0 ? 16 * m->seg : 1;
	struct uet_owed *old = owed_of(u, m), e = {
						      .rx = m,
						      .ctx = in->ctx,
						      .at = u->now,
						      .id = cw_uetx_msg_id(in->p),
						      .off = cw_uetx_offset(in->p),
						      .path = (uint16_t)in->path,
						      .count = 1,
						      .ce = in->ce,
					      };

	if (old != NULL && (old->off / block != e.off / block || old->path != e.path)) {
		say_ack(u, old);
	} else if (old != NULL) {
		e.count += old->count;
		e.ce |= old->ce;
	}
	if (now || in->ce || e.count >= u->s.ack_every) {
		uet_owe_no_more(u, m);
		say_ack(u, &e);
	} else if (old != NULL) {
		e.at = old->at;
		*old = e;
	} else {
		e.at += u->s.ack_delay;
		owe(u, &e);
	}
}
