/* uet_net.h - two engines and a simulated network of paths between them, with fixed seeds. */
#ifndef TESTS_UNIT_UET_NET_H
#define TESTS_UNIT_UET_NET_H

#include "tests/unit/test.h"
#include "causeway/uet.h"
#include "causeway/wire/uetx.h"

#define US 1000ull
#define MS 1000000ull
enum { NPATHS = 8, A = 0, B = 1, CTX_A = 0xa1b2c3, CTX_B = 0xd4e5f6 };

struct wire_packet {
	uint64_t at, order;
	unsigned to, path, len;
	bool ce;
	uint8_t *data;
};

struct net {
	struct cw_uet *u[2];
	uint64_t now, order;
	struct wire_packet *heap;
	unsigned n, room;
	unsigned paths;
	uint64_t delay[NPATHS];
	uint64_t gap;           /* ns a packet takes on its path: what makes queues */
	uint64_t octet[NPATHS]; /* ns more for each of its octets */
	uint64_t marks_at;      /* octets in front of a packet that mark it; 0: none does */
	uint64_t busy[2][NPATHS];
	double loss[NPATHS], dup, mark;
	bool cut[NPATHS];
	uint32_t seed;
	uint64_t carried[NPATHS], dropped;
	/* looks at each packet on its way; false drops it */
	bool (*see)(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len);
	void *arg;
};

static inline uint32_t net_random(struct net *n)
{
	n->seed = n->seed * 1664525u + 1013904223u;
	return n->seed >> 8;
}

static inline bool net_chance(struct net *n, double p)
{
	return p > 0 && net_random(n) % 1000000 < p * 1000000;
}

static inline bool net_before(const struct wire_packet *a, const struct wire_packet *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static inline void net_push(struct net *n, struct wire_packet w)
{
	unsigned i = n->n++;

	if (n->n > n->room) {
		n->room = 2 * n->n;
		n->heap = realloc(n->heap, n->room * sizeof(*n->heap));
	}
	for (; i > 0 && net_before(&w, &n->heap[(i - 1) / 2]); i = (i - 1) / 2)
		n->heap[i] = n->heap[(i - 1) / 2];
	n->heap[i] = w;
}

static inline struct wire_packet net_pop(struct net *n)
{
	struct wire_packet top = n->heap[0], last = n->heap[--n->n];
	unsigned i = 0, k;

	while ((k = 2 * i + 1) < n->n) {
		if (k + 1 < n->n && net_before(&n->heap[k + 1], &n->heap[k]))
			k++;
		if (!net_before(&n->heap[k], &last))
			break;
		n->heap[i] = n->heap[k];
		i = k;
	}
	if (n->n > 0)
		n->heap[i] = last;
	return top;
}

static inline void net_carry(struct net *n, unsigned to, unsigned path, const uint8_t *data,
			     unsigned len)
{
	struct wire_packet w = {.order = n->order++, .to = to, .path = path, .len = len};

	if (n->cut[path] || net_chance(n, n->loss[path])) {
		n->dropped++;
		return;
	}
	n->carried[path]++;
	w.ce = net_chance(n, n->mark);
	w.at = n->now > n->busy[to][path] ? n->now : n->busy[to][path];
	w.ce = w.ce || (n->marks_at > 0 && w.at - n->now >= n->marks_at * n->octet[path]);
	w.at += n->gap + n->octet[path] * len;
	n->busy[to][path] = w.at;
	w.at += n->delay[path];
	w.data = exact_copy(data, len);
	net_push(n, w);
}

static inline void net_send_all(struct net *n, unsigned from)
{
	struct cw_uet_packet p;
	uint8_t buf[70000];

	while (cw_uet_output(n->u[from], n->now, &p)) {
		unsigned len = p.head_len + p.payload_len;

		memcpy(buf, p.head, p.head_len);
		if (p.payload_len > 0)
			memcpy(buf + p.head_len, p.payload, p.payload_len);
		if (n->see != NULL && !n->see(n, !from, p.path, buf, len))
			continue;
		net_carry(n, !from, p.path, buf, len);
		if (net_chance(n, n->dup))
			net_carry(n, !from, p.path, buf, len);
	}
}

/* One step: deliver the next packet, or let time pass. False: nothing can happen before `until`. */
static inline bool net_step(struct net *n, uint64_t until)
{
	uint64_t at, b;

	net_send_all(n, A);
	net_send_all(n, B);
	at = cw_uet_deadline(n->u[A]);
	b = cw_uet_deadline(n->u[B]);
	at = b < at ? b : at;
	if (n->n > 0 && n->heap[0].at <= at)
		at = n->heap[0].at;
	if (at > until) {
		n->now = until;
		return false;
	}
	n->now = at > n->now ? at : n->now + 1000;
	if (n->n > 0 && n->heap[0].at <= n->now) {
		struct wire_packet w = net_pop(n);

		(void)cw_uet_input(
			n->u[w.to], n->now,
			&(struct cw_uet_arrival){
				.path = w.path, .ce = w.ce, .data = w.data, .len = w.len});
		free(w.data);
	}
	return true;
}

static inline void net_open(struct net *n, unsigned paths, const struct cw_uet_settings *s,
			    uint32_t first_id)
{
	struct cw_uet_context a = {CTX_A, CTX_B, 0, first_id, first_id};
	struct cw_uet_context b = {CTX_B, CTX_A, 0, first_id, first_id};
	unsigned i;

	memset(n, 0, sizeof(*n));
	n->seed = 1;
	n->now = MS;
	n->gap = 400;
	n->paths = paths;
	for (i = 0; i < 2; i++) {
		assert_int_equal(cw_uet_new(&n->u[i], s), CW_OK);
		assert_int_equal(cw_uet_peer(n->u[i], paths), 0);
		assert_int_equal(cw_uet_open(n->u[i], i == A ? &a : &b), CW_OK);
	}
	for (i = 0; i < NPATHS; i++)
		n->delay[i] = (10 + 7 * i) * US;
}

static inline void net_close(struct net *n)
{
	cw_uet_free(n->u[A]);
	cw_uet_free(n->u[B]);
	while (n->n > 0)
		free(net_pop(n).data);
	free(n->heap);
}

static inline uint64_t net_count(const struct net *n, unsigned who, enum cw_uet_counter c)
{
	return cw_uet_count(n->u[who], c);
}

/* Bytes that tell message and place. */
static inline uint8_t net_byte(uint32_t msg, uint32_t at)
{
	uint32_t v = (msg + 1) * 2654435761u ^ at * 2246822519u;

	return (uint8_t)(v >> 24 ^ v >> 11);
}

static inline uint8_t *net_message(uint32_t msg, uint32_t len)
{
	uint8_t *p = malloc(len > 0 ? len : 1);
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = net_byte(msg, i);
	return p;
}

/* ---- Transfers from A to B --------------------------------------------------------------------
 */

struct transfer {
	uint32_t messages, size;
	uint8_t **data, **bufs;
	unsigned received, sent;
	unsigned *times; /* how often each was delivered */
};

static inline void transfer_post(struct net *n, struct transfer *t, uint32_t messages,
				 uint32_t size)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->messages = messages;
	t->size = size;
	t->data = calloc(messages, sizeof(*t->data));
	t->bufs = calloc(messages, sizeof(*t->bufs));
	t->times = calloc(messages, sizeof(*t->times));
	for (i = 0; i < messages; i++) {
		t->data[i] = net_message(i, size);
		t->bufs[i] = calloc(1, size > 0 ? size : 1);
		assert_int_equal(cw_uet_post(n->u[B], CTX_B, t->bufs[i], size, i), CW_OK);
		assert_int_equal(cw_uet_send(n->u[A], CTX_A, t->data[i], size, i % 2, i), CW_OK);
	}
}

/* Whole, once, and the octets of the message that its id says. */
static inline void transfer_events(struct net *n, struct transfer *t, uint32_t first_id)
{
	struct cw_uet_event e;

	while (cw_uet_event(n->u[B], &e)) {
		uint32_t i = e.msg_id - first_id;

		assert_int_equal(e.kind, CW_UET_RECEIVED);
		assert_int_equal(e.status, CW_UET_OK);
		assert_in_range(i, 0, t->messages - 1);
		assert_int_equal(e.len, t->size);
		assert_int_equal(e.solicited, i % 2);
		assert_memory_equal(e.buffer, t->data[i], t->size);
		assert_int_equal(++t->times[i], 1);
		t->received++;
	}
	while (cw_uet_event(n->u[A], &e)) {
		assert_int_equal(e.kind, CW_UET_SENT);
		assert_int_equal(e.status, CW_UET_OK);
		assert_int_equal(t->times[e.cookie], 1); /* never before it was delivered */
		t->sent++;
	}
}

static inline void transfer_run(struct net *n, struct transfer *t, uint32_t first_id, uint64_t time)
{
	uint64_t until = n->now + time;

	while (t->sent < t->messages && net_step(n, until))
		transfer_events(n, t, first_id);
	if (t->sent != t->messages || t->received != t->messages)
		fail_msg("%u of %u received, %u sent", t->received, t->messages, t->sent);
	assert_int_equal(cw_uet_open_messages(n->u[B], 0), 0);
	assert_int_equal(cw_uet_memory(n->u[B], 0), 0);
}

static inline void transfer_free(struct transfer *t)
{
	uint32_t i;

	for (i = 0; i < t->messages; i++) {
		free(t->data[i]);
		free(t->bufs[i]);
	}
	free(t->data);
	free(t->bufs);
	free(t->times);
}

/* ---- Single packets to B --------------------------------------------------------------------- */

/* A packet comes on the first path of the other side. */
static inline int net_input(struct net *n, unsigned to, const uint8_t *p, size_t len)
{
	return cw_uet_input(n->u[to], n->now, &(struct cw_uet_arrival){.data = p, .len = len});
}

static inline unsigned raw(uint8_t *p, unsigned op, unsigned flags, uint32_t id, uint32_t off,
			   const void *data, unsigned len)
{
	memset(p, 0, CW_SIZE_UETX);
	cw_uetx_set_version(p, 1);
	cw_uetx_set_opcode(p, op);
	cw_uetx_set_f(p, flags >> 1 & 1);
	cw_uetx_set_l(p, flags & 1);
	cw_uetx_set_s(p, flags >> 2 & 1);
	cw_uetx_set_dcid(p, CTX_B);
	cw_uetx_set_scid(p, CTX_A);
	cw_uetx_set_msg_id(p, id);
	cw_uetx_set_offset(p, off);
	cw_uetx_set_length(p, len);
	if (len > 0)
		memcpy(p + CW_SIZE_UETX, data, len);
	return CW_SIZE_UETX + len;
}

static inline int feed(struct net *n, unsigned op, unsigned flags, uint32_t id, uint32_t off,
		       const void *data, unsigned len)
{
	uint8_t p[16384], *copy;
	unsigned size = raw(p, op, flags, id, off, data, len);
	int err;

	copy = exact_copy(p, size);
	err = net_input(n, B, copy, size);
	free(copy);
	return err;
}

/* What B says next: opcode, and reason of a Nack. */
static inline unsigned said(struct net *n, unsigned *reason)
{
	struct cw_uet_packet p;

	n->now += 100 * US;
	*reason = 0;
	if (!cw_uet_output(n->u[B], n->now, &p))
		return 0;
	if (cw_uetx_opcode(p.head) == CW_UETX_NACK)
		*reason = cw_uetx_nack_reason(p.head + 24);
	return cw_uetx_opcode(p.head);
}

static inline void expect_nack(struct net *n, unsigned reason)
{
	unsigned got;

	assert_int_equal(said(n, &got), CW_UETX_NACK);
	assert_int_equal(got, reason);
}

#endif
