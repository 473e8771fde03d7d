/* place.c - the octets of an inbound message: where a packet's go, and which are there.
 *
 * A sender cuts a message in segments of one size, the last one perhaps shorter; so a packet's
 * place in a bitmap is its offset over the segment size. The first packet that is not the last
 * tells the size. A packet that is cut otherwise is taken, too: from then on the message keeps
 * spans in place of the bitmap.
 */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

static uint64_t bitmap_octets(const struct uet_rx *m)
{
	return m->noted == UET_NOTED_BITS ? (m->slots + 63ull) / 64 * 8 : 0;
}

uint64_t uet_place_cost(const struct uet_rx *m)
{
	return bitmap_octets(m) + m->rest->span_room * sizeof(struct uet_span);
}

void uet_place_free(struct uet_rx *m)
{
	if (m->noted == UET_NOTED_BITS)
		free(m->bits);
	free(m->rest->spans);
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
	struct uet_peer *peer = uet_peer_of(u, m->rest->ctx);
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

bool uet_place_conflicts(const struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p), at = off, end = off + len, i;
	const uint8_t *data = p + CW_SIZE_UETX;

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

bool uet_place_fits(const struct uet_rx *m, const uint8_t *p)
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
	struct uet_peer *peer = uet_peer_of(u, m->rest->ctx);
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

bool uet_place_has(const struct uet_rx *m, const uint8_t *p)
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
		if (uet_spans_add(uet_peer_of(u, m->rest->ctx), u->s.memory_per_peer, m->rest, off,
				  off + len, &fresh) < 0)
			return CW_E_NOMEM;
	}
	m->got += fresh;
	return CW_OK;
}

/* A first packet that is not the last tells the segment size, when it can be one. */
static void learn_segment(struct uet_rx *m, const uint8_t *p)
{
	uint32_t len = cw_uetx_length(p);

	if (m->seg == 0 && !cw_uetx_l(p) && len >= UET_MTU_MIN && cw_uetx_offset(p) % len == 0)
		m->seg = len;
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

int uet_place(struct cw_uet *u, struct uet_rx *m, const uint8_t *p)
{
	uint32_t off = cw_uetx_offset(p), len = cw_uetx_length(p);

	learn_segment(m, p);
	if (note(u, m, p) < 0)
		return CW_E_NOMEM;
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
	return CW_OK;
}

uint32_t uet_place_block(const struct uet_rx *m, uint32_t off)
{
	const uint64_t *words = m->noted == UET_NOTED_BITS ? m->bits : &m->word;
	uint32_t bits = 0, base, i;

	if (m->seg == 0)
		return 0;
	base = (off / m->seg) & ~15u; /* so they do not lie across a word's end */
	if (has_bitmap(m))
		return base < m->slots ? (uint32_t)(words[base / 64] >> base % 64 & 0xffff) : 0;
	for (i = 0; i < 16; i++)
		bits |= (uint32_t)has(m, base + i) << i;
	return bits;
}

void uet_place_prefetch(const struct uet_rx *m, const uint8_t *p)
{
	uint64_t off = cw_uetx_offset(p);

	if (off >= m->size)
		return;
	__builtin_prefetch(m->buf + off, 1);
	if (m->noted == UET_NOTED_BITS)
		__builtin_prefetch(&m->bits[off / m->seg / 64], 1);
}
