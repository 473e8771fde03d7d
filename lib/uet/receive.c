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

/* The ring is bounded: what does not fit is not said, and the sender's timeout asks again. */
void uet_reply(struct cw_uet *u, struct uet_ctx *c, unsigned path, const struct uet_reply *r)
{
	struct uet_reply *at = &u->replies[u->reply_tail % UET_REPLIES];

	if (u->reply_tail - u->reply_head == UET_REPLIES)
		return;
	*at = *r;
	at->peer = c->c.peer;
	at->path = path;
	at->dcid = c->c.remote_id;
	at->scid = c->c.id;
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
	return m->bits != NULL && m->bits != &m->word ? (m->slots + 63ull) / 64 * 8 : 0;
}

static uint64_t cost_of(const struct uet_rx *m)
{
	return sizeof(*m) + bitmap_octets(m) + m->span_room * sizeof(*m->spans);
}

struct uet_rx *uet_rx_alloc(void)
{
	size_t size = (sizeof(struct uet_rx) + 63) / 64 * 64;
	struct uet_rx *m = aligned_alloc(64, size);

	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof(*m));
	uet_link_init(&m->age);
	uet_link_init(&m->ack);
	return m;
}

static struct uet_rx *rx_new(struct cw_uet *u, struct uet_ctx *c, uint8_t op, uint32_t id)
{
	struct uet_peer *peer = peer_of(u, c);
	uint64_t key = uet_key(c->c.id, op == CW_UETX_READ_RESPONSE, id);
	struct uet_rx *m;

	if (peer->open >= u->s.messages_per_peer ||
	    peer->memory + sizeof(*m) > u->s.memory_per_peer || (m = uet_rx_alloc()) == NULL)
		return NULL;
	if (uet_map_add(&u->rx, key, m) < 0) {
		uet_rx_release(m);
		return NULL;
	}
	m->ctx = c;
	m->op = op;
	m->id = id;
	m->key = key;
	m->response = op == CW_UETX_READ_RESPONSE;
	m->active_at = u->now;
	uet_append(&u->rx_age, &m->age);
	peer->open++;
	peer->memory += cost_of(m);
	return m;
}

void uet_rx_release(struct uet_rx *m)
{
	if (m->bits != &m->word)
		free(m->bits);
	free(m->spans);
	free(m);
}

/* The oldest id that is not over moves on. Which ids ended badly is remembered for another window
 * behind it: a late packet of theirs must not be answered as if they had arrived. */
static void advance(const struct cw_uet *u, struct uet_ctx *c)
{
	uet_clear(c->over, c->rx_base & (u->s.id_window - 1));
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
	uet_set(c->over, id & mask);
	if (dead)
		uet_set(c->dead, id & (2 * u->s.id_window - 1));
	while (uet_bit(c->over, c->rx_base & mask))
		advance(u, c);
}

static void forget(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->ctx);

	uet_map_del(&u->rx, m->key);
	uet_unlink(&m->age);
	uet_unlink(&m->ack);
	peer->open--;
	peer->memory -= cost_of(m);
}

/* A Read that arrived whole is answered and makes no event; nor does a Write or Fence. */
static bool makes_event(const struct uet_rx *m)
{
	if (m->op == CW_UETX_SEND || m->op == CW_UETX_READ_RESPONSE)
		return true;
	return m->op == CW_UETX_WRITE && (m->solicited || m->status != CW_UET_OK);
}

void uet_rx_finish(struct cw_uet *u, struct uet_rx *m, unsigned status)
{
	m->status = status;
	forget(u, m);
	if (m->response) {
		m->ctx->reads -= m->posted;
		uet_pump(u, m->ctx);
	} else {
		close_id(u, m->ctx, m->id, status != CW_UET_OK);
	}
	if (makes_event(m))
		uet_append(&u->rx_events, &m->age);
	else
		uet_rx_release(m);
}

void uet_rx_expire(struct cw_uet *u)
{
	while (uet_linked(&u->rx_age)) {
		struct uet_rx *m = UET_OF(struct uet_rx, age, u->rx_age.next);

		if (u->now < uet_reap_at(m->active_at, u->s.reap_after))
			return;
		uet_inc(u, CW_UET_REAPED);
		uet_rx_finish(u, m, CW_UET_TIMED_OUT);
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
	m->cookie = cookie;
	uet_unlink(&m->age); /* its time runs from when the Read goes out */
	return CW_OK;
}

void uet_rx_started(struct cw_uet *u, struct uet_ctx *c, uint32_t id)
{
	struct uet_rx *m = uet_map_find(&u->rx, uet_key(c->c.id, true, id));

	if (m == NULL)
		return;
	m->posted = true;
	m->active_at = u->now;
	uet_append(&u->rx_age, &m->age);
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
		if (uet_map_find(&u->rx, uet_key(c->c.id, false, c->rx_base)) != NULL)
			return false;
		if (!uet_bit(c->over, c->rx_base & mask))
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
	m->cookie = r->cookie;
	m->posted = true;
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
		m->buf = m->body, m->size = sizeof(m->body);
	return m;
}

static struct uet_rx *find_response(struct cw_uet *u, struct uet_ctx *c, unsigned path,
				    const uint8_t *p)
{
	struct uet_rx *m = uet_map_find(&u->rx, uet_key(c->c.id, true, cw_uetx_msg_id(p)));

	if (m != NULL)
		return m;
	if ((int32_t)(cw_uetx_msg_id(p) - c->next_id) < 0)
		say_complete(u, c, path, p);
	else
		refuse(u, c, path, p, CW_UETX_UNSUPPORTED, CW_UET_E_ACK);
	return NULL;
}

static struct uet_rx *find_request(struct cw_uet *u, struct uet_ctx *c, unsigned path,
				   const uint8_t *p)
{
	uint32_t id = cw_uetx_msg_id(p), mask = u->s.id_window - 1;
	struct uet_rx *m;

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
	if (uet_bit(c->over, id & mask)) {
		say_complete(u, c, path, p);
		return NULL;
	}
	m = uet_map_find(&u->rx, uet_key(c->c.id, false, id));
	return m != NULL ? m : begin(u, c, path, p);
}

/* ---- Placing bytes ------------------------------------------------------------------------- */

/* A first packet that is not the last tells the segment size, when it can be one. */
static void learn_segment(struct uet_rx *m, const uint8_t *p)
{
	uint32_t len = cw_uetx_length(p);

	if (m->seg == 0 && !cw_uetx_l(p) && len >= UET_MTU_MIN && cw_uetx_offset(p) % len == 0)
		m->seg = len;
}

/* A bitmap for the segments, once their size is known, and the last packet's place in it. */
static int make_bitmap(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->ctx);
	uint32_t octets = m->has_last ? m->total : m->size;

	if (m->bits != NULL)
		return CW_OK;
	m->slots = octets / m->seg + (octets % m->seg != 0);
	m->bits = &m->word;
	if (m->slots > 64) {
		uint64_t room = (m->slots + 63ull) / 64 * 8;

		m->bits = NULL;
		if (peer->memory + room > u->s.memory_per_peer ||
		    (m->bits = calloc(1, room)) == NULL)
			return CW_E_NOMEM;
		peer->memory += room;
	}
	if (m->has_last)
		uet_set(m->bits, m->last_off / m->seg);
	return CW_OK;
}

/* Is the segment `i` there? */
static bool has(const struct uet_rx *m, uint32_t i)
{
	uint64_t end = (uint64_t)(i + 1) * m->seg;

	if (m->bits != NULL)
		return i < m->slots && uet_bit(m->bits, i);
	if (m->spans == NULL || end - m->seg >= m->size)
		return false;
	if (m->has_last && end > m->total)
		end = m->total;
	return end > (uint64_t)i * m->seg &&
	       uet_spans_cover(m, i * m->seg, end < m->size ? (uint32_t)end : m->size);
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
	uint32_t from = off > m->last_off ? off : m->last_off;
	uint32_t to = off + len < m->total ? off + len : m->total;

	return m->has_last && from < to &&
	       memcmp(m->buf + from, data + (from - off), to - from) != 0;
}

/* Does the packet say other bytes than those that are there? */
static bool conflicts(const struct uet_rx *m, uint32_t off, const uint8_t *data, uint32_t len)
{
	uint32_t at = off, end = off + len, i;

	if (m->spans != NULL)
		return uet_spans_differ(m, off, data, len);
	if (m->bits == NULL)
		return differs_from_last(m, off, data, len);
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

	if (m->spans != NULL || (m->seg == 0 && !cw_uetx_l(p)))
		return false;
	if (m->seg == 0)
		return !m->has_last || off == m->last_off;
	if (m->bits == NULL && m->has_last &&
	    (m->last_off % m->seg != 0 || m->total - m->last_off > m->seg))
		return false;
	return off % m->seg == 0 && (cw_uetx_l(p) ? len <= m->seg : len == m->seg);
}

/* From the bitmap, or from the last packet alone, to spans. */
static int to_spans(struct cw_uet *u, struct uet_rx *m)
{
	struct uet_peer *peer = peer_of(u, m->ctx);
	uint64_t limit = u->s.memory_per_peer;
	uint32_t i, fresh;
	int err = CW_OK;

	for (i = 0; i < m->slots && m->bits != NULL && err == CW_OK; i++) {
		if (uet_bit(m->bits, i))
			err = uet_spans_add(peer, limit, m, i * m->seg, (uint32_t)end_of(m, i),
					    &fresh);
	}
	if (m->bits == NULL && m->has_last)
		err = uet_spans_add(peer, limit, m, m->last_off, m->total, &fresh);
	if (err < 0) { /* the bitmap stays what tells */
		peer->memory -= m->span_room * sizeof(*m->spans);
		free(m->spans);
		m->spans = NULL;
		m->nspans = m->span_room = 0;
		return err;
	}
	peer->memory -= bitmap_octets(m);
	if (m->bits != &m->word)
		free(m->bits);
	m->bits = NULL;
	return CW_OK;
}

static bool is_there(const struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);

	if (m->spans != NULL)
		return uet_spans_cover(m, off, off + len) && (!cw_uetx_l(p) || m->has_last);
	if (m->bits != NULL && is_segment(m, p))
		return has(m, off / m->seg);
	return m->bits == NULL && m->has_last && cw_uetx_l(p) && off == m->last_off;
}

/* Note that the packet's octets are there. CW_E_NOMEM: it can't be noted, so they are not. */
static int note(struct cw_uet *u, struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p), fresh = len;

	if (is_segment(m, p)) {
		if (m->seg != 0 && make_bitmap(u, m) < 0)
			return CW_E_NOMEM;
		if (m->seg != 0)
			uet_set(m->bits, off / m->seg);
	} else {
		if (m->spans == NULL && to_spans(u, m) < 0)
			return CW_E_NOMEM;
		if (uet_spans_add(peer_of(u, m->ctx), u->s.memory_per_peer, m, off, off + len,
				  &fresh) < 0)
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
		m->last_off = off;
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

static uint32_t block_bits(const struct uet_rx *m, uint32_t base)
{
	uint32_t bits = 0, i;

	for (i = 0; i < 16; i++)
		bits |= (uint32_t)has(m, base + i) << i;
	return bits;
}

void uet_ack_head(const struct cw_uet *u, struct uet_rx *m, uint8_t *head)
{
	uint8_t *ack = head + CW_SIZE_UETX;

	(void)u;
	cw_uetx_set_ec(head, m->ack_ce);
	cw_uetx_set_s(head, m->response);
	cw_uetx_ack_set_cumulative(ack, m->cum & 0xffff);
	if (m->seg != 0)
		cw_uetx_ack_set_sack(ack, block_bits(m, (m->ack_off / m->seg) & ~15u));
	m->ack_count = 0;
	m->ack_ce = false;
	uet_unlink(&m->ack);
}

/* An Ack speaks of one group of 16 packets and goes back on the path they came by: another group or
 * path, and what was owed goes first. */
static void owe_ack(struct cw_uet *u, struct uet_rx *m, unsigned path, bool ce, uint32_t off,
		    bool now)
{
	uint32_t block = m->seg != 0 ? 16 * m->seg : 1;

	now |= ce || m->ack_count + 1 >= u->s.ack_every;
	if (m->ack_count > 0 && (m->ack_off / block != off / block || m->ack_path != path)) {
		struct uet_reply r = {.id = m->id,
				      .offset = m->ack_off,
				      .op = CW_UETX_ACK,
				      .response = m->response,
				      .cumulative = (uint16_t)m->cum,
				      .ce = m->ack_ce};

		if (m->seg != 0)
			r.sack = (uint16_t)block_bits(m, (m->ack_off / m->seg) & ~15u);
		m->ack_ce = false;
		uet_reply(u, m->ctx, m->ack_path, &r);
	}
	m->ack_off = off;
	m->ack_path = (uint16_t)path;
	m->ack_ce |= ce;
	m->ack_count++;
	/* the list is in order of time: what is due now goes to its front */
	if (now) {
		m->ack_at = u->now;
		uet_unlink(&m->ack);
		uet_append(u->acks.next, &m->ack);
	} else if (!uet_linked(&m->ack)) {
		m->ack_at = u->now + u->s.ack_delay;
		uet_append(&u->acks, &m->ack);
	}
}

/* ---- A packet ------------------------------------------------------------------------------ */

static int answer_read(struct cw_uet *u, struct uet_rx *m, unsigned path, const uint8_t *p)
{
	struct uet_ctx *c = m->ctx;
	uint64_t off = cw_be32(m->body), len = cw_be32(m->body + 4);
	int err;

	if (m->total != sizeof(m->body) || (c->access & CW_UET_READABLE) == 0 ||
	    off + len > c->region_size) {
		uet_rx_finish(u, m, CW_UETX_ACCESS);
		return refuse(u, c, path, p, CW_UETX_ACCESS, CW_UET_E_ACCESS);
	}
	err = uet_tx_answer(u, c, m->id, c->region + off, (uint32_t)len);
	if (err < 0) { /* not over: the request comes again */
		forget(u, m);
		uet_rx_release(m);
		return refuse(u, c, path, p, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	}
	uet_rx_finish(u, m, CW_UET_OK);
	say_complete(u, c, path, p);
	u->counters[CW_UET_RX_DUP]--; /* no duplicate this time */
	return CW_OK;
}

static int complete(struct cw_uet *u, struct uet_rx *m, unsigned path, bool ce, const uint8_t *p)
{
	struct uet_reply r = {.id = m->id,
			      .offset = cw_uetx_offset(p),
			      .op = CW_UETX_ACK,
			      .response = m->response,
			      .complete = true,
			      .ce = ce || m->ack_ce};

	if (m->op == CW_UETX_READ)
		return answer_read(u, m, path, p);
	uet_reply(u, m->ctx, path, &r);
	uet_rx_finish(u, m, CW_UET_OK);
	return CW_OK;
}

static int fail(struct cw_uet *u, struct uet_rx *m, unsigned path, const uint8_t *p,
		enum cw_uetx_reason reason, enum cw_uet_counter counter)
{
	struct uet_ctx *c = m->ctx;

	uet_rx_finish(u, m, (unsigned)reason);
	return refuse(u, c, path, p, reason, counter);
}

static int accept(struct cw_uet *u, struct uet_rx *m, unsigned path, bool ce, const uint8_t *p)
{
	learn_segment(m, p);
	if (note(u, m, p) < 0)
		return refuse(u, m->ctx, path, p, CW_UETX_NO_MEMORY, CW_UET_E_NO_MEMORY);
	place(u, m, p);
	if (ce)
		uet_inc(u, CW_UET_RX_CE);
	if (m->has_last && m->got == m->total)
		return complete(u, m, path, ce, p);
	owe_ack(u, m, path, ce, cw_uetx_offset(p), false);
	return CW_OK;
}

static void is_active(struct cw_uet *u, struct uet_rx *m)
{
	if (!uet_is_stale(m->active_at, u->now, u->s.reap_after))
		return;
	m->active_at = u->now;
	uet_append(&u->rx_age, &m->age);
}

int uet_data_input(struct cw_uet *u, struct uet_ctx *c, unsigned path, bool ce, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);
	struct uet_rx *m = cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE ? find_response(u, c, path, p)
								      : find_request(u, c, path, p);

	if (m == NULL)
		return CW_OK;
	if (m->op != cw_uetx_opcode(p))
		return refuse(u, c, path, p, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	if ((uint64_t)off + len > m->size)
		return fail(u, m, path, p, CW_UETX_TOO_LONG, CW_UET_E_TOO_LONG);
	if (conflicts(m, off, p + CW_SIZE_UETX, len))
		return fail(u, m, path, p, CW_UETX_CONFLICT, CW_UET_E_CONFLICT);
	if (!fits(m, p))
		return refuse(u, c, path, p, CW_UETX_GEOMETRY, CW_UET_E_GEOMETRY);
	is_active(u, m);
	if (is_there(m, p)) {
		uet_inc(u, CW_UET_RX_DUP);
		owe_ack(u, m, path, ce, off, true);
		return CW_OK;
	}
	return accept(u, m, path, ce, p);
}

void uet_rx_prefetch(const struct uet_rx *m, const uint8_t *p)
{
	uint64_t off = cw_uetx_offset(p);

	if (off >= m->size)
		return;
	__builtin_prefetch(m->buf + off, 1);
	if (m->bits != NULL && m->bits != &m->word)
		__builtin_prefetch(&m->bits[off / m->seg / 64], 1);
}
