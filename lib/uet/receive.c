/* receive.c - inbound messages: put together by offset, in any order, straight in the buffer.
 *
 * A sender cuts a message in segments of one size, the last one perhaps shorter; so a packet's
 * place in a bitmap is its offset over the segment size. The first packet that is not the last
 * tells the size. A packet that is cut otherwise is taken, too: from then on the message keeps
 * spans in place of the bitmap. A packet that covers octets that are there is compared with them,
 * and one other octet ends the message with an error.
 */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

static struct uet_peer *peer_of(struct cw_uet *u, const struct uet_ctx *c)
{
	return &u->peers[c->c.peer];
}

/* ---- Replies without a message ------------------------------------------------------------- */

static void set_address(struct uet_reply *r, const struct uet_ctx *c, unsigned path)
{
	r->peer = c->c.peer;
	r->path = path;
	r->dcid = c->c.remote_id;
	r->scid = c->c.id;
}

/* The ring is bounded: what does not fit is not said, and the sender's timeout asks again. */
void uet_reply(struct cw_uet *u, struct uet_ctx *c, unsigned path, const struct uet_reply *r)
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

static int refuse(struct cw_uet *u, struct uet_ctx *c, unsigned path, const uint8_t *p,
		  enum cw_uetx_reason reason, enum cw_uet_counter counter)
{
	struct uet_reply r = {
		.id = cw_uetx_msg_id(p),
		.offset = cw_uetx_offset(p),
		.op = CW_UETX_NACK,
		.reason = (uint8_t)reason,
		.response = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE,
	};

	uet_inc(u, counter);
	uet_reply(u, c, path, &r);
	return CW_OK;
}

static int say_complete(struct cw_uet *u, struct uet_ctx *c, unsigned path, const uint8_t *p)
{
	struct uet_reply r = {
		.id = cw_uetx_msg_id(p),
		.offset = cw_uetx_offset(p),
		.op = CW_UETX_ACK,
		.response = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE,
		.complete = true,
	};

	uet_inc(u, CW_UET_RX_DUP);
	uet_reply(u, c, path, &r);
	return CW_OK;
}

/* ---- Life of a message --------------------------------------------------------------------- */

static uint64_t bitmap_octets(const struct uet_rx *m)
{
	return m->noted == UET_NOTED_BITS ? (m->slots + 63ull) / 64 * 8 : 0;
}

static uint64_t cost_of(const struct uet_rx *m)
{
	return sizeof(*m) + sizeof(*m->rest) + bitmap_octets(m) +
	       m->rest->span_room * sizeof(struct uet_span);
}

static bool is_response(const struct uet_rx *m)
{
	return m->op == CW_UETX_READ_RESPONSE;
}

/* An awaited answer is found by its reader's id, a request in its context's window. */
static int enter(struct cw_uet *u, struct uet_ctx *c, struct uet_rx *m)
{
	if (is_response(m))
		return uet_map_add(&u->reads, uet_key(c->c.id, true, m->rest->id), m);
	c->ids[m->rest->id & (u->s.id_window - 1)] = m->rest->number + UET_ID_FIRST;
	return CW_OK;
}

static void leave(struct cw_uet *u, const struct uet_rx *m)
{
	struct uet_ctx *c = m->rest->ctx;

	if (is_response(m))
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
	struct uet_peer *peer = peer_of(u, c);
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
	if (m->noted == UET_NOTED_BITS)
		free(m->bits);
	free(m->rest->spans);
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

static void owe_no_more(struct cw_uet *u, struct uet_rx *m);

static void forget(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->rest->ctx);

	leave(u, m);
	uet_unlink(&m->rest->age);
	owe_no_more(u, m);
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
	if (is_response(m)) {
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
static struct uet_rx *begin(struct cw_uet *u, struct uet_ctx *c, unsigned path, const uint8_t *p)
{
	uint8_t op = (uint8_t)cw_uetx_opcode(p);
	uint32_t id = cw_uetx_msg_id(p);
	struct uet_rx *m;

	if (op == CW_UETX_SEND && !uet_linked(&c->recvs)) {
		refuse(u, c, path, p, CW_UETX_NO_BUFFER, CW_UET_E_NO_BUFFER);
		return NULL;
	}
	if (op == CW_UETX_WRITE && (c->access & CW_UET_WRITABLE) == 0) {
		refuse(u, c, path, p, CW_UETX_ACCESS, CW_UET_E_ACCESS);
		close_id(u, c, id, true);
		return NULL;
	}
	/* A fence comes when all before it is over, or its sender does not keep the rule. */
	if (op == CW_UETX_FENCE && id != c->rx_base) {
		refuse(u, c, path, p, CW_UETX_ID_WINDOW, CW_UET_E_ID_WINDOW);
		return NULL;
	}
	if ((m = rx_new(u, c, op, id)) == NULL) {
		refuse(u, c, path, p, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
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
static struct uet_rx *late_response(struct cw_uet *u, struct uet_ctx *c, unsigned path,
				    const uint8_t *p)
{
	if ((int32_t)(cw_uetx_msg_id(p) - c->next_id) < 0)
		say_complete(u, c, path, p);
	else
		refuse(u, c, path, p, CW_UETX_UNSUPPORTED, CW_UET_E_ACK);
	return NULL;
}

/* A request that is not under way: it begins, or is over, or is refused. */
static struct uet_rx *new_request(struct cw_uet *u, struct uet_ctx *c, unsigned path,
				  const uint8_t *p)
{
	uint32_t id = cw_uetx_msg_id(p), mask = u->s.id_window - 1;

	if (is_dead(u, c, id)) {
		refuse(u, c, path, p, CW_UETX_ABANDONED, CW_UET_E_DEAD);
		return NULL;
	}
	if ((int32_t)(id - c->rx_base) < 0) {
		say_complete(u, c, path, p);
		return NULL;
	}
	if (id - c->rx_base >= u->s.id_window && !slide(u, c, id)) {
		refuse(u, c, path, p, CW_UETX_ID_WINDOW, CW_UET_E_ID_WINDOW);
		return NULL;
	}
	if (c->ids[id & mask] == UET_ID_OVER) {
		say_complete(u, c, path, p);
		return NULL;
	}
	return begin(u, c, path, p);
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

static struct uet_rx *find_or_begin(struct cw_uet *u, struct uet_ctx *c, unsigned path,
				    const uint8_t *p)
{
	struct uet_rx *m = uet_rx_find(u, c, p);

	if (m != NULL)
		return m;
	return cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE ? late_response(u, c, path, p)
							  : new_request(u, c, path, p);
}

/* ---- Placing bytes ------------------------------------------------------------------------- */

/* A first packet that is not the last tells the segment size, when it can be one. */
static void learn_segment(struct uet_rx *m, const uint8_t *p)
{
	uint32_t len = cw_uetx_length(p);

	if (m->seg == 0 && !cw_uetx_l(p) && len >= UET_MTU_MIN && cw_uetx_offset(p) % len == 0)
		m->seg = len;
}

static bool has_bitmap(const struct uet_rx *m)
{
	return m->noted == UET_NOTED_WORD || m->noted == UET_NOTED_BITS;
}

static uint64_t *bits_of(struct uet_rx *m)
{
	return m->noted == UET_NOTED_WORD ? &m->word : m->bits;
}

static bool bit(const struct uet_rx *m, uint32_t i)
{
	return uet_bit(m->noted == UET_NOTED_WORD ? &m->word : m->bits, i);
}

/* A bitmap for the segments, once their size is known, and the last packet's place in it. */
static int make_bitmap(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->rest->ctx);
	uint32_t octets = m->has_last ? m->total : m->size;
	uint64_t room, *bits;

	m->slots = octets / m->seg + (octets % m->seg != 0);
	room = (m->slots + 63ull) / 64 * 8;
	if (m->slots > 64) {
		if (peer->memory + room > u->s.memory_per_peer || (bits = calloc(1, room)) == NULL)
			return CW_E_NOMEM;
		m->bits = bits;
		peer->memory += room;
	}
	m->noted = m->slots > 64 ? UET_NOTED_BITS : UET_NOTED_WORD;
	if (m->has_last)
		uet_set(bits_of(m), m->rest->last_off / m->seg);
	return CW_OK;
}

/* Is the segment `i` there? */
static bool has(const struct uet_rx *m, uint32_t i)
{
	uint64_t end = (uint64_t)(i + 1) * m->seg;

	if (has_bitmap(m))
		return i < m->slots && bit(m, i);
	if (m->noted != UET_NOTED_SPANS || end - m->seg >= m->size)
		return false;
	if (m->has_last && end > m->total)
		end = m->total;
	return end > (uint64_t)i * m->seg &&
	       uet_spans_cover(m->rest, i * m->seg, end < m->size ? (uint32_t)end : m->size);
}

/* Where segment i of the bitmap ends. */
static uint64_t end_of(const struct uet_rx *m, uint32_t i)
{
	uint64_t end = (uint64_t)(i + 1) * m->seg;

	return m->has_last && end > m->total ? m->total : end;
}

/* As uet_spans_differ(), while only a last packet can be there. */
static bool differs_from_last(const struct uet_rx *m, uint32_t off, const uint8_t *data,
			      uint32_t len)
{
	uint32_t from = off > m->rest->last_off ? off : m->rest->last_off;
	uint32_t to = off + len < m->total ? off + len : m->total;

	return from < to && memcmp(m->buf + from, data + (from - off), to - from) != 0;
}

/* Does the packet say other bytes than those that are there? */
static bool conflicts(const struct uet_rx *m, uint32_t off, const uint8_t *data, uint32_t len)
{
	uint32_t at = off, end = off + len, i;

	if (m->noted == UET_NOTED_SPANS)
		return uet_spans_differ(m->rest, off, data, len);
	if (m->noted == UET_NOTED_LAST)
		return m->has_last && differs_from_last(m, off, data, len);
	while (at < end) {
		uint32_t to;

		i = at / m->seg;
		to = end_of(m, i) < end ? (uint32_t)end_of(m, i) : end;
		if (to <= at)
			break;
		if (has(m, i) && memcmp(m->buf + at, data + (at - off), to - at) != 0)
			return true;
		at = to;
	}
	return false;
}

/* Do offset, length and marks fit the message as far as it is known? Only the last packet ends
 * where the message does. */
static bool fits(const struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), end = off + cw_uetx_length(p);
	bool last = cw_uetx_l(p);

	if (cw_uetx_f(p) != (off == 0) || (end == off && (off != 0 || !last)))
		return false;
	if (m->has_last)
		return last ? end == m->total : end < m->total;
	return !last || end > m->high || m->high == 0;
}

/* Is the packet cut as the segments are, and can a bitmap say so? */
static bool is_segment(const struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);

	if (m->noted == UET_NOTED_SPANS || (m->seg == 0 && !cw_uetx_l(p)))
		return false;
	if (m->seg == 0)
		return !m->has_last || off == m->rest->last_off;
	if (m->noted == UET_NOTED_LAST && m->has_last &&
	    (m->rest->last_off % m->seg != 0 || m->total - m->rest->last_off > m->seg))
		return false;
	return off % m->seg == 0 && (cw_uetx_l(p) ? len <= m->seg : len == m->seg);
}

/* From the bitmap, or from the last packet alone, to spans. */
static int to_spans(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->rest->ctx);
	struct uet_rx_rest *r = m->rest;
	uint64_t limit = u->s.memory_per_peer;
	uint32_t i, fresh;
	int err = CW_OK;

	for (i = 0; i < m->slots && has_bitmap(m) && err == CW_OK; i++) {
		if (bit(m, i))
			err = uet_spans_add(peer, limit, r, i * m->seg, (uint32_t)end_of(m, i),
					    &fresh);
	}
	if (m->noted == UET_NOTED_LAST && m->has_last)
		err = uet_spans_add(peer, limit, r, r->last_off, m->total, &fresh);
	if (err < 0) { /* the bitmap stays what tells */
		peer->memory -= r->span_room * sizeof(*r->spans);
		free(r->spans);
		r->spans = NULL;
		r->nspans = r->span_room = 0;
		return err;
	}
	peer->memory -= bitmap_octets(m);
	if (m->noted == UET_NOTED_BITS)
		free(m->bits);
	m->noted = UET_NOTED_SPANS;
	return CW_OK;
}

static bool is_there(const struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);

	if (m->noted == UET_NOTED_SPANS)
		return uet_spans_cover(m->rest, off, off + len) && (!cw_uetx_l(p) || m->has_last);
	if (has_bitmap(m))
		return is_segment(m, p) && has(m, off / m->seg);
	return m->has_last && cw_uetx_l(p) && off == m->rest->last_off;
}

/* Note that the packet's octets are there. CW_E_NOMEM: it can't be noted, so they are not. */
static int note(struct cw_uet *u, struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p), fresh = len;

	if (is_segment(m, p)) {
		if (m->seg != 0 && !has_bitmap(m) && make_bitmap(u, m) < 0)
			return CW_E_NOMEM;
		if (m->seg != 0)
			uet_set(bits_of(m), off / m->seg);
	} else {
		if (m->noted != UET_NOTED_SPANS && to_spans(u, m) < 0)
			return CW_E_NOMEM;
		if (uet_spans_add(peer_of(u, m->rest->ctx), u->s.memory_per_peer, m->rest, off,
				  off + len, &fresh) < 0)
			return CW_E_NOMEM;
	}
	m->got += fresh;
	return CW_OK;
}

/* How many segments behind the furthest one of its message, by powers of two. */
static void count_lateness(struct cw_uet *u, const struct uet_rx *m, uint32_t off, uint32_t len)
{
	uint32_t seg = m->seg != 0 ? m->seg : len, n, k = 0;

	if (off < m->high && seg > 0) {
		n = (m->high - off - 1) / seg + 1;
		k = 32 - (uint32_t)__builtin_clz(n);
	}
	u->late[k < CW_UET_LATE ? k : CW_UET_LATE - 1]++;
}

static void place(struct cw_uet *u, struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);

	if (len > 0)
		memcpy(m->buf + off, p + CW_SIZE_UETX, len);
	if (cw_uetx_l(p) && !m->has_last) {
		m->has_last = true;
		m->rest->last_off = off;
		m->total = off + len;
	}
	if (m->seg != 0 ? off / m->seg != m->cum : off != 0)
		uet_inc(u, CW_UET_RX_OOO);
	count_lateness(u, m, off, len);
	while (m->seg != 0 && has(m, m->cum))
		m->cum++;
	if (off + len > m->high)
		m->high = off + len;
	m->solicited |= cw_uetx_s(p);
	uet_inc(u, CW_UET_RX_DATA);
	u->counters[CW_UET_RX_OCTETS] += len;
}

/* ---- Acks ---------------------------------------------------------------------------------- */

/* Of 16 segments from `base` on, a multiple of 16: those do not lie across a word's end. */
static uint32_t block_bits(const struct uet_rx *m, uint32_t base)
{
	const uint64_t *words = m->noted == UET_NOTED_BITS ? m->bits : &m->word;
	uint32_t bits = 0, i;

	if (has_bitmap(m))
		return base < m->slots ? (uint32_t)(words[base / 64] >> base % 64 & 0xffff) : 0;
	for (i = 0; i < 16; i++)
		bits |= (uint32_t)has(m, base + i) << i;
	return bits;
}

static void write_ack(const struct uet_owed *e, struct uet_reply *r)
{
	const struct uet_rx *m = e->rx;

	*r = (struct uet_reply){.id = e->id,
				.offset = e->off,
				.op = CW_UETX_ACK,
				.response = is_response(m),
				.cumulative = (uint16_t)m->cum,
				.ce = e->ce};
	if (m->seg != 0)
		r->sack = (uint16_t)block_bits(m, (e->off / m->seg) & ~15u);
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

static void owe_no_more(struct cw_uet *u, struct uet_rx *m)
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

bool uet_ack_due(struct cw_uet *u, struct uet_reply *r)
{
	const struct uet_owed *e = &u->later.e[u->later.head % UET_ACKS];

	if (u->later.head == u->later.tail || e->at > u->now)
		return false;
	write_ack(e, r);
	set_address(r, e->ctx, e->path);
	owe_no_more(u, e->rx);
	return true;
}

/* An Ack speaks of one group of 16 packets and goes back on the path they came by: another group or
 * path, and what was owed goes first. */
static void owe_ack(struct cw_uet *u, struct uet_ctx *c, struct uet_rx *m, unsigned path, bool ce,
		    const uint8_t *p, bool now)
{
	uint32_t block = m->seg != 0 ? 16 * m->seg : 1;
	struct uet_owed *old = owed_of(u, m), e = {.rx = m,
						   .ctx = c,
						   .at = u->now,
						   .id = cw_uetx_msg_id(p),
						   .off = cw_uetx_offset(p),
						   .path = (uint16_t)path,
						   .count = 1,
						   .ce = ce};

	if (old != NULL && (old->off / block != e.off / block || old->path != path)) {
		say_ack(u, old);
	} else if (old != NULL) {
		e.count += old->count;
		e.ce |= old->ce;
	}
	if (now || ce || e.count >= u->s.ack_every) {
		owe_no_more(u, m);
		say_ack(u, &e);
	} else if (old != NULL) {
		e.at = old->at;
		*old = e;
	} else {
		e.at += u->s.ack_delay;
		owe(u, &e);
	}
}

/* ---- A packet ------------------------------------------------------------------------------ */

static int answer_read(struct cw_uet *u, struct uet_rx *m, unsigned path, const uint8_t *p)
{
	struct uet_ctx *c = m->rest->ctx;
	const uint8_t *body = m->rest->body;
	uint64_t off = cw_be32(body), len = cw_be32(body + 4);
	int err;

	if (m->total != sizeof(m->rest->body) || (c->access & CW_UET_READABLE) == 0 ||
	    off + len > c->region_size) {
		uet_rx_finish(u, m, CW_UETX_ACCESS);
		return refuse(u, c, path, p, CW_UETX_ACCESS, CW_UET_E_ACCESS);
	}
	err = uet_tx_answer(u, c, m->rest->id, c->region + off, (uint32_t)len);
	if (err < 0) { /* not over: the request comes again */
		forget(u, m);
		uet_rx_release(u, m);
		return refuse(u, c, path, p, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	}
	uet_rx_finish(u, m, CW_UET_OK);
	say_complete(u, c, path, p);
	u->counters[CW_UET_RX_DUP]--; /* no duplicate this time */
	return CW_OK;
}

static int complete(struct cw_uet *u, struct uet_rx *m, unsigned path, bool ce, const uint8_t *p)
{
	struct uet_reply r = {.id = cw_uetx_msg_id(p),
			      .offset = cw_uetx_offset(p),
			      .op = CW_UETX_ACK,
			      .response = is_response(m),
			      .complete = true,
			      .ce = ce || (m->owed != 0 && owed_of(u, m)->ce)};

	if (m->op == CW_UETX_READ)
		return answer_read(u, m, path, p);
	uet_reply(u, m->rest->ctx, path, &r);
	uet_rx_finish(u, m, CW_UET_OK);
	return CW_OK;
}

static int fail(struct cw_uet *u, struct uet_rx *m, unsigned path, const uint8_t *p,
		enum cw_uetx_reason reason, enum cw_uet_counter counter)
{
	struct uet_ctx *c = m->rest->ctx;

	uet_rx_finish(u, m, (unsigned)reason);
	return refuse(u, c, path, p, reason, counter);
}

static int accept(struct cw_uet *u, struct uet_ctx *c, struct uet_rx *m, unsigned path, bool ce,
		  const uint8_t *p)
{
	learn_segment(m, p);
	if (note(u, m, p) < 0)
		return refuse(u, c, path, p, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	place(u, m, p);
	if (ce)
		uet_inc(u, CW_UET_RX_CE);
	if (m->has_last && m->got == m->total)
		return complete(u, m, path, ce, p);
	owe_ack(u, c, m, path, ce, p, false);
	return CW_OK;
}

int uet_data_input(struct cw_uet *u, struct uet_ctx *c, unsigned path, bool ce, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);
	struct uet_rx *m = find_or_begin(u, c, path, p);

	if (m == NULL)
		return CW_OK;
	uet_rx_prefetch(m, p);
	if (m->op != cw_uetx_opcode(p))
		return refuse(u, c, path, p, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	if ((uint64_t)off + len > m->size)
		return fail(u, m, path, p, CW_UETX_TOO_LONG, CW_UET_E_TOO_LONG);
	if (conflicts(m, off, p + CW_SIZE_UETX, len))
		return fail(u, m, path, p, CW_UETX_CONFLICT, CW_UET_E_CONFLICT);
	if (!fits(m, p))
		return refuse(u, c, path, p, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	if (m->age != age_now(u))
		note_activity(u, m);
	if (is_there(m, p)) {
		uet_inc(u, CW_UET_RX_DUP);
		owe_ack(u, c, m, path, ce, p, true);
		return CW_OK;
	}
	return accept(u, c, m, path, ce, p);
}

void uet_rx_prefetch(const struct uet_rx *m, const uint8_t *p)
{
	uint64_t off = cw_uetx_offset(p);

	if (off >= m->size)
		return;
	__builtin_prefetch(m->buf + off, 1);
	if (m->noted == UET_NOTED_BITS)
		__builtin_prefetch(&m->bits[off / m->seg / 64], 1);
}
