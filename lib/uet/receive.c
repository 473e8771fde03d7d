/* receive.c - inbound messages: which one a packet is of, how it begins and ends.
 *
 * Packets come in any order, their octets go straight in the buffer (place.c). A packet that covers
 * octets that are there is compared with them, and one other octet ends the message with an error.
 */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

/* ---- Replies without a message ------------------------------------------------------------- */

static int refuse(struct cw_uet *u, const struct uet_in *in, enum cw_uetx_reason reason,
		  enum cw_uet_counter counter)
{
	const uint8_t *p = in->p;
	struct uet_reply r = {
		.id = cw_uetx_msg_id(p),
		.offset = cw_uetx_offset(p),
		.op = CW_UETX_NACK,
		.reason = (uint8_t)reason,
		.response = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE,
	};

	uet_inc(u, counter);
	uet_reply(u, in->ctx, in->path, &r);
	return CW_OK;
}

static int say_complete(struct cw_uet *u, const struct uet_in *in)
{
	const uint8_t *p = in->p;
	struct uet_reply r = {
		.id = cw_uetx_msg_id(p),
		.offset = cw_uetx_offset(p),
		.op = CW_UETX_ACK,
		.response = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE,
		.complete = true,
	};

	uet_inc(u, CW_UET_RX_DUP);
	uet_reply(u, in->ctx, in->path, &r);
	return CW_OK;
}
/* ---- Life of a message --------------------------------------------------------------------- */

static uint64_t cost_of(const struct uet_rx *m)
{
	return sizeof(*m) + sizeof(*m->rest) + uet_place_cost(m);
}

/* An awaited answer is found by its reader's id, a request in its context's window. */
static int enter(struct cw_uet *u, struct uet_ctx *c, struct uet_rx *m)
{
	if (uet_is_response(m))
		return uet_map_add(&u->reads, uet_key(c->c.id, true, m->rest->id), m);
	c->ids[m->rest->id & (u->s.id_window - 1)] = m->rest->number + UET_ID_FIRST;
	return CW_OK;
}

static void leave(struct cw_uet *u, const struct uet_rx *m)
{
	struct uet_ctx *c = m->rest->ctx;

	if (uet_is_response(m))
		uet_map_del(&u->reads, uet_key(c->c.id, true, m->rest->id));
	else
		c->ids[m->rest->id & (u->s.id_window - 1)] = UET_ID_NEW;
}

/* The number of the running age. A message's own is compared with it, so that a packet seldom
 * touches its message's place and neighbours in the list; in return a message is reaped up to an
 * age late. */
static uint8_t age_now(struct cw_uet *u)
{
	uint64_t length = u->s.reap_after / UET_AGES + 1;

	if (u->now >= u->age_ends) {
		u->age = (uint8_t)(u->now / length);
		u->age_ends = (u->now / length + 1) * length;
	}
	return u->age;
}

static void note_activity(struct cw_uet *u, struct uet_rx *m)
{
	m->age = age_now(u);
	m->rest->active_at = u->now;
	uet_append(&u->rx_age, &m->rest->age);
}

static struct uet_rx *rx_new(struct cw_uet *u, struct uet_ctx *c, uint8_t op, uint32_t id)
{
	struct uet_peer *peer = uet_peer_of(u, c);
	struct uet_rx *m;

	if (peer->open >= u->s.messages_per_peer ||
	    peer->memory + sizeof(*m) + sizeof(*m->rest) > u->s.memory_per_peer ||
	    (m = uet_pool_get(&u->pool)) == NULL)
		return NULL;
	m->op = op;
	m->rest->ctx = c;
	m->rest->context = c->c.id;
	m->rest->id = id;
	if (enter(u, c, m) < 0) {
		uet_rx_release(u, m);
		return NULL;
	}
	note_activity(u, m);
	peer->open++;
	peer->memory += cost_of(m);
	return m;
}

void uet_rx_release(struct cw_uet *u, struct uet_rx *m)
{
	uet_place_free(m);
	uet_pool_put(&u->pool, m);
}

/* The oldest id that is not over moves on. Which ids ended badly is remembered for another window
 * behind it: a late packet of theirs must not be answered as if they had arrived. */
static void advance(const struct cw_uet *u, struct uet_ctx *c)
{
	c->ids[c->rx_base & (u->s.id_window - 1)] = UET_ID_NEW;
	uet_clear(c->dead, (c->rx_base + u->s.id_window) & (2 * u->s.id_window - 1));
	c->rx_base++;
}

static bool is_dead(const struct cw_uet *u, const struct uet_ctx *c, uint32_t id)
{
	return id - c->rx_base + u->s.id_window < 2 * u->s.id_window &&
	       uet_bit(c->dead, id & (2 * u->s.id_window - 1));
}

static void close_id(const struct cw_uet *u, struct uet_ctx *c, uint32_t id, bool dead)
{
	uint32_t mask = u->s.id_window - 1;

	if (id - c->rx_base >= u->s.id_window)
		return;
	c->ids[id & mask] = UET_ID_OVER;
	if (dead)
		uet_set(c->dead, id & (2 * u->s.id_window - 1));
	while (c->ids[c->rx_base & mask] == UET_ID_OVER)
		advance(u, c);
}

static void forget(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = uet_peer_of(u, m->rest->ctx);

	leave(u, m);
	uet_unlink(&m->rest->age);
	uet_owe_no_more(u, m);
	peer->open--;
	peer->memory -= cost_of(m);
}

/* A Read that arrived whole is answered and makes no event; nor does a Write or Fence. */
static bool makes_event(const struct uet_rx *m)
{
	if (m->op == CW_UETX_SEND || m->op == CW_UETX_READ_RESPONSE)
		return true;
	return m->op == CW_UETX_WRITE && (m->solicited || m->rest->status != CW_UET_OK);
}

void uet_rx_finish(struct cw_uet *u, struct uet_rx *m, unsigned status)
{
	struct uet_ctx *c = m->rest->ctx;

	m->rest->status = status;
	forget(u, m);
	if (uet_is_response(m)) {
		c->reads -= m->rest->posted;
		uet_pump(u, c);
	} else {
		close_id(u, c, m->rest->id, status != CW_UET_OK);
	}
	if (makes_event(m))
		uet_append(&u->rx_events, &m->rest->age);
	else
		uet_rx_release(u, m);
}

void uet_rx_expire(struct cw_uet *u)
{
	while (uet_linked(&u->rx_age)) {
		struct uet_rx_rest *r = UET_OF(struct uet_rx_rest, age, u->rx_age.next);

		if (u->now < uet_reap_at(r->active_at, u->s.reap_after))
			return;
		uet_inc(u, CW_UET_REAPED);
		uet_rx_finish(u, r->rx, CW_UET_TIMED_OUT);
	}
}

int uet_rx_expect(struct cw_uet *u, struct uet_ctx *c, uint32_t id, void *buf, uint32_t len,
		  uint64_t cookie)
{
	struct uet_rx *m = rx_new(u, c, CW_UETX_READ_RESPONSE, id);

	if (m == NULL)
		return CW_E_NOMEM;
	m->buf = buf;
	m->size = len;
	m->rest->cookie = cookie;
	uet_unlink(&m->rest->age); /* its time runs from when the Read goes out */
	return CW_OK;
}

void uet_rx_started(struct cw_uet *u, struct uet_ctx *c, uint32_t id)
{
	struct uet_rx *m = uet_map_find(&u->reads, uet_key(c->c.id, true, id));

	if (m == NULL)
		return;
	m->rest->posted = true;
	note_activity(u, m);
	c->reads++;
}

/* ---- Which message ------------------------------------------------------------------------- */

/* Make room for an id ahead of the window by giving up ids that never came. False: ids inside are
 * in use, or the distance makes no sense. */
static bool slide(struct cw_uet *u, struct uet_ctx *c, uint32_t id)
{
	uint32_t mask = u->s.id_window - 1, want = id - u->s.id_window + 1;

	if (id - c->rx_base >= 2 * u->s.id_window)
		return false;
	while (c->rx_base != want) {
		uint32_t at = c->ids[c->rx_base & mask];

		if (at >= UET_ID_FIRST)
			return false;
		if (at == UET_ID_NEW)
			uet_set(c->dead, c->rx_base & (2 * u->s.id_window - 1));
		advance(u, c);
	}
	return true;
}

static bool take_buffer(struct uet_ctx *c, struct uet_rx *m)
{
	struct uet_recv *r;

	if (!uet_linked(&c->recvs))
		return false;
	r = UET_OF(struct uet_recv, link, c->recvs.next);
	uet_unlink(&r->link);
	m->buf = r->buf;
	m->size = r->size;
	m->rest->cookie = r->cookie;
	m->rest->posted = true;
	free(r);
	return true;
}

/* A first packet: find memory for its message. NULL: the packet was refused, and that was said. */
static struct uet_rx *begin(struct cw_uet *u, const struct uet_in *in)
{
	uint8_t op = (uint8_t)cw_uetx_opcode(in->p);
	uint32_t id = cw_uetx_msg_id(in->p);
	struct uet_ctx *c = in->ctx;
	struct uet_rx *m;

	if (op == CW_UETX_SEND && !uet_linked(&c->recvs)) {
		refuse(u, in, CW_UETX_NO_BUFFER, CW_UET_E_NO_BUFFER);
		return NULL;
	}
	if (op == CW_UETX_WRITE && (c->access & CW_UET_WRITABLE) == 0) {
		refuse(u, in, CW_UETX_ACCESS, CW_UET_E_ACCESS);
		close_id(u, c, id, true);
		return NULL;
	}
	/* A fence comes when all before it is over, or its sender does not keep the rule. */
	if (op == CW_UETX_FENCE && id != c->rx_base) {
		refuse(u, in, CW_UETX_ID_WINDOW, CW_UET_E_ID_WINDOW);
		return NULL;
	}
	if ((m = rx_new(u, c, op, id)) == NULL) {
		refuse(u, in, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
		return NULL;
	}
	if (op == CW_UETX_SEND)
		(void)take_buffer(c, m);
	else if (op == CW_UETX_WRITE)
		m->buf = c->region, m->size = c->region_size;
	else if (op == CW_UETX_READ)
		m->buf = m->rest->body, m->size = sizeof(m->rest->body);
	return m;
}

/* An answer that is not awaited. */
static struct uet_rx *late_response(struct cw_uet *u, const struct uet_in *in)
{
	if ((int32_t)(cw_uetx_msg_id(in->p) - in->ctx->next_id) < 0)
		say_complete(u, in);
	else
		refuse(u, in, CW_UETX_UNSUPPORTED, CW_UET_E_ACK);
	return NULL;
}

/* A request that is not under way: it begins, or is over, or is refused. */
static struct uet_rx *new_request(struct cw_uet *u, const struct uet_in *in)
{
	uint32_t id = cw_uetx_msg_id(in->p), mask = u->s.id_window - 1;
	struct uet_ctx *c = in->ctx;

	if (is_dead(u, c, id)) {
		refuse(u, in, CW_UETX_ABANDONED, CW_UET_E_DEAD);
		return NULL;
	}
	if ((int32_t)(id - c->rx_base) < 0) {
		say_complete(u, in);
		return NULL;
	}
	if (id - c->rx_base >= u->s.id_window && !slide(u, c, id)) {
		refuse(u, in, CW_UETX_ID_WINDOW, CW_UET_E_ID_WINDOW);
		return NULL;
	}
	if (c->ids[id & mask] == UET_ID_OVER) {
		say_complete(u, in);
		return NULL;
	}
	return begin(u, in);
}

struct uet_rx *uet_rx_find(const struct cw_uet *u, const struct uet_ctx *c, const uint8_t *p)
{
	uint32_t id = cw_uetx_msg_id(p), at;

	if (cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE)
		return uet_map_find(&u->reads, uet_key(c->c.id, true, id));
	at = c->ids[id & (u->s.id_window - 1)];
	return at >= UET_ID_FIRST && id - c->rx_base < u->s.id_window
		       ? uet_pool_at(&u->pool, at - UET_ID_FIRST)
		       : NULL;
}

static struct uet_rx *find_or_begin(struct cw_uet *u, const struct uet_in *in)
{
	struct uet_rx *m = uet_rx_find(u, in->ctx, in->p);

	if (m != NULL)
		return m;
	return cw_uetx_opcode(in->p) == CW_UETX_READ_RESPONSE ? late_response(u, in)
							      : new_request(u, in);
}

/* ---- A packet ------------------------------------------------------------------------------ */

static int answer_read(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in)
{
	struct uet_ctx *c = in->ctx;
	const uint8_t *body = m->rest->body;
	uint64_t off = cw_be32(body), len = cw_be32(body + 4);
	int err;

	if (m->total != sizeof(m->rest->body) || (c->access & CW_UET_READABLE) == 0 ||
	    off + len > c->region_size) {
		uet_rx_finish(u, m, CW_UETX_ACCESS);
		return refuse(u, in, CW_UETX_ACCESS, CW_UET_E_ACCESS);
	}
	err = uet_tx_answer(u, c, m->rest->id, c->region + off, (uint32_t)len);
	if (err < 0) { /* not over: the request comes again */
		forget(u, m);
		uet_rx_release(u, m);
		return refuse(u, in, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	}
	uet_rx_finish(u, m, CW_UET_OK);
	say_complete(u, in);
	u->counters[CW_UET_RX_DUP]--; /* no duplicate this time */
	return CW_OK;
}

static int complete(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in)
{
	struct uet_reply r = {
		.id = cw_uetx_msg_id(in->p),
		.offset = cw_uetx_offset(in->p),
		.op = CW_UETX_ACK,
		.response = uet_is_response(m),
		.complete = true,
		.ce = in->ce || uet_owes_ce(u, m),
	};

	if (m->op == CW_UETX_READ)
		return answer_read(u, m, in);
	uet_reply(u, in->ctx, in->path, &r);
	uet_rx_finish(u, m, CW_UET_OK);
	return CW_OK;
}

static int fail(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in,
		enum cw_uetx_reason reason, enum cw_uet_counter counter)
{
	uet_rx_finish(u, m, (unsigned)reason);
	return refuse(u, in, reason, counter);
}

static int accept(struct cw_uet *u, struct uet_rx *m, const struct uet_in *in)
{
	if (uet_place(u, m, in->p) < 0)
		return refuse(u, in, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	if (in->ce)
		uet_inc(u, CW_UET_RX_CE);
	if (m->has_last && m->got == m->total)
		return complete(u, m, in);
	uet_owe_ack(u, m, in, false);
	return CW_OK;
}

int uet_data_input(struct cw_uet *u, const struct uet_in *in)
{
	struct uet_rx *m = find_or_begin(u, in);

	if (m == NULL)
		return CW_OK;
	uet_place_prefetch(m, in->p);
	if (m->op != cw_uetx_opcode(in->p))
		return refuse(u, in, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	if ((uint64_t)cw_uetx_offset(in->p) + cw_uetx_length(in->p) > m->size)
		return fail(u, m, in, CW_UETX_TOO_LONG, CW_UET_E_TOO_LONG);
	if (uet_place_conflicts(m, in->p))
		return fail(u, m, in, CW_UETX_CONFLICT, CW_UET_E_CONFLICT);
	if (!uet_place_fits(m, in->p))
		return refuse(u, in, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	if (m->age != age_now(u))
		note_activity(u, m);
	if (uet_place_has(m, in->p)) {
		uet_inc(u, CW_UET_RX_DUP);
		uet_owe_ack(u, m, in, true);
		return CW_OK;
	}
	return accept(u, m, in);
}
