/* spans.c - which octets of a message are there, when its packets are cut at any offsets: sorted
 * spans that neither touch nor overlap. Their number is bounded; a packet that joins a span is
 * always taken, so a sender that fills the gaps gets through. */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

/* The first span that ends at or behind `at`; nspans: none. */
static uint32_t find(const struct uet_rx_rest *m, uint32_t at)
{
	uint32_t lo = 0, hi = m->nspans;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->spans[mid].to < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool uet_spans_cover(const struct uet_rx_rest *m, uint32_t from, uint32_t to)
{
	uint32_t i = find(m, to);

	return i < m->nspans && m->spans[i].from <= from;
}

bool uet_spans_differ(const struct uet_rx_rest *m, uint32_t off, const uint8_t *data, uint32_t len)
{
	uint32_t end = off + len, i;

	for (i = find(m, off); i < m->nspans && m->spans[i].from < end; i++) {
		uint32_t from = m->spans[i].from > off ? m->spans[i].from : off;
		uint32_t to = m->spans[i].to < end ? m->spans[i].to : end;

		if (from < to && memcmp(m->rx->buf + from, data + (from - off), to - from) != 0)
			return true;
	}
	return false;
}

static int make_room(struct uet_peer *peer, uint64_t limit, struct uet_rx_rest *m)
{
	uint32_t room = m->span_room == 0 ? 4 : 2 * m->span_room;
	uint64_t more = (room - m->span_room) * sizeof(*m->spans);
	struct uet_span *spans;

	if (m->nspans < m->span_room)
		return CW_OK;
	if (room > UET_SPANS_MAX || peer->memory + more > limit)
		return CW_E_NOMEM;
	if ((spans = realloc(m->spans, room * sizeof(*spans))) == NULL)
		return CW_E_NOMEM;
	m->spans = spans;
	m->span_room = room;
	peer->memory += more;
	return CW_OK;
}

int uet_spans_add(struct uet_peer *peer, uint64_t limit, struct uet_rx_rest *m, uint32_t from,
		  uint32_t to, uint32_t *fresh)
{
	uint32_t i = find(m, from), last = i, there = 0;

	for (; last < m->nspans && m->spans[last].from <= to; last++)
		there += m->spans[last].to - m->spans[last].from;
	if (last == i) {
		if (make_room(peer, limit, m) < 0)
			return CW_E_NOMEM;
		memmove(&m->spans[i + 1], &m->spans[i], (m->nspans++ - i) * sizeof(*m->spans));
	} else {
		from = m->spans[i].from < from ? m->spans[i].from : from;
		to = m->spans[last - 1].to > to ? m->spans[last - 1].to : to;
		memmove(&m->spans[i + 1], &m->spans[last], (m->nspans - last) * sizeof(*m->spans));
		m->nspans -= last - i - 1;
	}
	m->spans[i] = (struct uet_span){from, to};
	*fresh = to - from - there;
	return CW_OK;
}
