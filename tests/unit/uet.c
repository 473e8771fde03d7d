/* The UET engine: segmentation, spraying, reassembly, acknowledgement, on a simulated network. */
#include "tests/unit/uet_net.h"

/* ---- Helpers ------------------------------------------------------------------------------- */

struct transfer {
	uint32_t messages, size;
	uint8_t **data, **bufs;
	unsigned received, sent;
	unsigned *times; /* how often each was delivered */
};

static void transfer_post(struct net *n, struct transfer *t, uint32_t messages, uint32_t size)
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
static void transfer_events(struct net *n, struct transfer *t, uint32_t first_id)
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

static void transfer_run(struct net *n, struct transfer *t, uint32_t first_id, uint64_t time)
{
	uint64_t until = n->now + time;

	while (t->sent < t->messages && net_step(n, until))
		transfer_events(n, t, first_id);
	if (t->sent != t->messages || t->received != t->messages)
		fail_msg("%u of %u received, %u sent", t->received, t->messages, t->sent);
	assert_int_equal(cw_uet_open_messages(n->u[B], 0), 0);
	assert_int_equal(cw_uet_memory(n->u[B], 0), 0);
}

static void transfer_free(struct transfer *t)
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

/* ---- The article --------------------------------------------------------------------------- */

static bool see_ids(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *seen = n->arg;

	if (to == B) {
		assert_int_equal(cw_uetx_msg_id(p), 77);
		assert_int_equal(cw_uetx_offset(p) % 4096, 0);
		assert_int_equal(cw_uetx_length(p), 4096);
		assert_int_equal(cw_uetx_f(p), cw_uetx_offset(p) == 0);
		assert_int_equal(cw_uetx_l(p), cw_uetx_offset(p) == 63 * 4096);
		assert_int_equal(len, 4096 + 20);
		seen[path]++;
	}
	return true;
}

/* "For a 256 KB block at 4096-byte MTU, this produces 64 packets, all carrying the same ID." */
static void article_256_kib_is_64_packets_with_one_id(void **state)
{
	unsigned seen[NPATHS] = {0}, i;
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, NULL, 77);
	n.see = see_ids;
	n.arg = seen;
	transfer_post(&n, &t, 1, 256 * 1024);
	transfer_run(&n, &t, 77, 100 * MS);
	assert_int_equal(net_count(&n, A, CW_UET_TX_DATA), 64);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 0);
	assert_true(net_count(&n, B, CW_UET_RX_OOO) > 0);
	for (i = 0; i < NPATHS; i++)
		assert_true(seen[i] > 0);
	transfer_free(&t);
	net_close(&n);
}

static void article_sizes_and_marks(void **state)
{
	static const uint32_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 70000};
	static const unsigned packets[] = {1, 1, 1, 1, 2, 2, 18};
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++) {
		struct transfer t;
		struct net n;

		net_open(&n, 3, NULL, 0);
		transfer_post(&n, &t, 3, sizes[i]);
		transfer_run(&n, &t, 0, 100 * MS);
		assert_int_equal(net_count(&n, A, CW_UET_TX_DATA), 3 * packets[i]);
		transfer_free(&t);
		net_close(&n);
	}
}

/* ---- Any order, loss, duplicates, wrap ------------------------------------------------------ */

static void hard_network(uint32_t seed, enum cw_uet_spray spray)
{
	struct cw_uet_settings s = {.mtu = 512, .spray = spray, .id_window = 128};
	struct transfer t;
	struct net n;
	unsigned i;

	net_open(&n, 1 + seed % NPATHS, &s, 0xfffffff0u);
	n.seed = seed * 2654435761u;
	n.dup = 0.05;
	n.mark = 0.05;
	for (i = 0; i < NPATHS; i++) {
		n.delay[i] = (1 + net_random(&n) % 500) * US;
		n.loss[i] = net_random(&n) % 3 == 0 ? 0.1 : 0.01;
	}
	transfer_post(&n, &t, 40, 1 + net_random(&n) % 20000);
	transfer_run(&n, &t, 0xfffffff0u, 60000 * MS);
	assert_int_equal(net_count(&n, B, CW_UET_E_CONFLICT), 0);
	assert_int_equal(net_count(&n, B, CW_UET_E_GEOMETRY), 0);
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 0);
	transfer_free(&t);
	net_close(&n);
}

static void property_no_loss_no_double_no_early(void **state)
{
	uint32_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++)
		hard_network(seed, (enum cw_uet_spray)(seed % 3));
}

/* Different delays, nothing lost: nothing may be sent twice. */
static void reordering_is_not_loss(void **state)
{
	struct cw_uet_settings s = {.spray = CW_UET_ROUND_ROBIN};
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, &s, 0);
	n.delay[7] = 1500 * US;
	transfer_post(&n, &t, 20, 1 << 18);
	transfer_run(&n, &t, 0, 1000 * MS);
	assert_true(net_count(&n, B, CW_UET_RX_OOO) > 200);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 0);
	assert_int_equal(net_count(&n, A, CW_UET_LOST), 0);
	transfer_free(&t);
	net_close(&n);
}

static bool lose_one(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *count = n->arg;

	(void)path;
	(void)len;
	return !(to == B && cw_uetx_offset(p) == 8 * 4096 && (*count)++ == 0);
}

/* One packet lost among others on its path: found by those, long before a timeout. */
static void loss_is_inferred_from_the_same_path(void **state)
{
	struct transfer t;
	unsigned count = 0;
	struct net n;

	(void)state;
	net_open(&n, 4, NULL, 0);
	n.see = lose_one;
	n.arg = &count;
	transfer_post(&n, &t, 1, 1 << 18);
	transfer_run(&n, &t, 0, 2 * MS);
	assert_int_equal(net_count(&n, A, CW_UET_LOST), 1);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 1);
	assert_int_equal(net_count(&n, A, CW_UET_TIMEOUTS), 0);
	transfer_free(&t);
	net_close(&n);
}

static void last_packet_lost_is_found_by_timeout(void **state)
{
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	n.cut[0] = true;
	transfer_post(&n, &t, 1, 100);
	while (net_step(&n, n.now + 5 * MS) && net_count(&n, A, CW_UET_TIMEOUTS) == 0)
		;
	(void)net_step(&n, 60 * MS);
	n.cut[0] = false;
	transfer_run(&n, &t, 0, 3000 * MS);
	assert_true(net_count(&n, A, CW_UET_TIMEOUTS) >= 1);
	transfer_free(&t);
	net_close(&n);
}

/* A path is cut in the middle and comes back: left, probed, used again; nothing is lost. */
static void cut_path_is_left_and_taken_back(void **state)
{
	struct transfer t;
	struct net n;
	struct cw_uet_path_info i;
	uint64_t during, at;

	(void)state;
	net_open(&n, NPATHS, NULL, 0);
	n.gap = 2000;
	transfer_post(&n, &t, 400, 1 << 17);
	while (t.received < 40 && net_step(&n, n.now + 100 * MS))
		transfer_events(&n, &t, 0);
	n.cut[3] = true;
	at = n.now;
	while (t.received < 200 && net_step(&n, n.now + 100 * MS))
		transfer_events(&n, &t, 0);
	assert_int_equal(cw_uet_path(n.u[A], 0, 3, &i), CW_OK);
	assert_true(i.down);
	assert_int_equal(net_count(&n, A, CW_UET_PATH_DOWN), 1);
	assert_true(n.now - at < 200 * MS);
	n.cut[3] = false;
	during = n.carried[3];
	transfer_run(&n, &t, 0, 10000 * MS);
	assert_true(net_count(&n, A, CW_UET_PATH_UP) >= 1);
	assert_true(n.carried[3] > during + 100);
	transfer_free(&t);
	net_close(&n);
}

/* All paths but one are dead from the start: what was lost there is not the packet to try them
 * again with, or one message could be lost over and over until it is given up. */
static void dead_paths_do_not_starve_a_message(void **state)
{
	struct cw_uet_settings s = {.give_up_after = 100 * MS};
	unsigned spray, i;

	(void)state;
	for (spray = 0; spray < 3; spray++) {
		struct transfer t;
		struct net n;

		s.spray = (enum cw_uet_spray)spray;
		net_open(&n, NPATHS, &s, 0);
		n.gap = 200000;
		for (i = 1; i < NPATHS; i++)
			n.cut[i] = true;
		transfer_post(&n, &t, 400, 1 << 16);
		transfer_run(&n, &t, 0, 20000 * MS);
		assert_int_equal(net_count(&n, A, CW_UET_REAPED), 0);
		assert_true(net_count(&n, A, CW_UET_PATH_DOWN) >= NPATHS - 1);
		transfer_free(&t);
		net_close(&n);
	}
}

/* Weights: a lossy path gets less than its share, a clean one more. */
static void weights_leave_a_bad_path(void **state)
{
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 4, NULL, 0);
	n.gap = 2000;
	n.loss[2] = 0.2;
	transfer_post(&n, &t, 200, 1 << 16);
	transfer_run(&n, &t, 0, 20000 * MS);
	assert_true(4 * n.carried[2] < n.carried[0]);
	transfer_free(&t);
	net_close(&n);
}

/* 200 messages of 256 KiB, four at a time; the longest took so many ns. */
static uint64_t longest_of_200(struct net *n)
{
	uint8_t *data = net_message(0, 1 << 18), *to = malloc(4 << 18);
	uint64_t at[200], longest = 0;
	unsigned posted = 0, done = 0, i;
	struct cw_uet_event e;

	for (i = 0; i < 200; i++)
		assert_int_equal(cw_uet_post(n->u[B], CTX_B, to + (i % 4 << 18), 1 << 18, i),
				 CW_OK);
	while (done < 200 && n->now < 100000 * MS) {
		for (; posted < 200 && posted - done < 4; posted++) {
			at[posted] = n->now;
			assert_int_equal(cw_uet_send(n->u[A], CTX_A, data, 1 << 18, false, posted),
					 CW_OK);
		}
		(void)net_step(n, 100000 * MS);
		for (; cw_uet_event(n->u[A], &e); done++)
			longest = n->now - at[e.cookie] > longest ? n->now - at[e.cookie] : longest;
	}
	assert_int_equal(done, 200);
	free(data);
	free(to);
	return longest;
}

/* Seven paths of 50 Mbit/s and 1 ms, one of 5 Mbit/s and 20 ms: no message waits for more than the
 * two packets there that find out, which take 2 x 6.6 ms and 40 ms. */
static void slow_path_does_not_hold_messages_up(void **state)
{
	struct cw_uet_settings s = {.rto_min = 20 * MS};
	struct net n;
	unsigned i;

	(void)state;
	net_open(&n, NPATHS, &s, 0);
	n.marks_at = 64 * 4096;
	for (i = 0; i < NPATHS; i++) {
		n.delay[i] = i < 7 ? MS : 20 * MS;
		n.octet[i] = i < 7 ? 160 : 1600;
	}
	assert_true(longest_of_200(&n) < 60 * MS);
	assert_true(n.carried[7] > 0);
	net_close(&n);
}

/* Marks: a path whose packets are marked gets a smaller window than one without. */
static bool mark_path_1(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	(void)p;
	(void)len;
	n->mark = to == B && path == 1 ? 1 : 0;
	return true;
}

static void ecn_echo_makes_the_window_smaller(void **state)
{
	struct cw_uet_path_info i0, i1;
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 2, NULL, 0);
	n.see = mark_path_1;
	transfer_post(&n, &t, 200, 1 << 16);
	transfer_run(&n, &t, 0, 20000 * MS);
	assert_int_equal(cw_uet_path(n.u[A], 0, 0, &i0), CW_OK);
	assert_int_equal(cw_uet_path(n.u[A], 0, 1, &i1), CW_OK);
	assert_true(i1.marked > 10 && i0.marked == 0);
	assert_true(4 * i1.window < i0.window);
	assert_true(net_count(&n, B, CW_UET_RX_CE) > 10);
	transfer_free(&t);
	net_close(&n);
}

/* ---- Single packets by hand ------------------------------------------------------------------ */

static unsigned raw(uint8_t *p, unsigned op, unsigned flags, uint32_t id, uint32_t off,
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

static int feed(struct net *n, unsigned op, unsigned flags, uint32_t id, uint32_t off,
		const void *data, unsigned len)
{
	uint8_t p[16384], *copy;
	unsigned size = raw(p, op, flags, id, off, data, len);
	int err;

	copy = exact_copy(p, size);
	err = cw_uet_input(n->u[B], n->now, 0, 0, false, copy, size);
	free(copy);
	return err;
}

/* What B says next: opcode, and reason of a Nack. */
static unsigned said(struct net *n, unsigned *reason)
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

static void expect_nack(struct net *n, unsigned reason)
{
	unsigned got;

	assert_int_equal(said(n, &got), CW_UETX_NACK);
	assert_int_equal(got, reason);
}

/* The next Ack: of which message and place; bits of its 16 packets. */
static void expect_ack(struct net *n, uint32_t id, uint32_t offset, unsigned bits)
{
	struct cw_uet_packet p;

	assert_true(cw_uet_output(n->u[B], n->now, &p));
	assert_int_equal(cw_uetx_opcode(p.head), CW_UETX_ACK);
	assert_int_equal(cw_uetx_msg_id(p.head), id);
	assert_int_equal(cw_uetx_offset(p.head), offset);
	assert_int_equal(cw_uetx_ack_sack(p.head + CW_SIZE_UETX), bits);
}

/* Packets of several messages that were taken in together: one message ends between, another's
 * packets stand before and behind. Their Acks keep the order, or the sender would take packets for
 * lost that others of their path did not overtake. */
static void acks_keep_the_order_of_their_packets(void **state)
{
	uint8_t d[1024] = {0}, buf[3][4096];
	struct net n;
	unsigned i;

	(void)state;
	net_open(&n, 1, NULL, 0);
	for (i = 0; i < 3; i++)
		cw_uet_post(n.u[B], CTX_B, buf[i], sizeof(buf[i]), i);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 1024), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 1, 0, d, 1024), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 3, 2, 0, d, 64), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 1024, d, 1024), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 2048, d, 1024), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 1, 2048, d, 1024), CW_OK);
	expect_ack(&n, 0, 0, 1);
	expect_ack(&n, 1, 0, 1);
	expect_ack(&n, 2, 0, 0);
	expect_ack(&n, 0, 2048, 7); /* neighbours: one says it for both */
	expect_ack(&n, 1, 2048, 5);
	assert_int_equal(cw_uet_deadline(n.u[B]) > n.now, true);
	net_close(&n);
}

/* A duplicate is fine; the same place with other octets is an error, and the message ends. */
static void overlap_with_other_bytes_is_an_error(void **state)
{
	uint8_t *d = net_message(1, 4096), buf[4096];
	struct cw_uet_event e;
	unsigned got;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	assert_int_equal(cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 5), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 1024), CW_OK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 1024), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_RX_DUP), 1);
	assert_int_equal(said(&n, &got), CW_UETX_ACK);
	/* off the segments' grid: half of it is there and the same, half is new */
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 512, d + 512, 1024), CW_OK);
	assert_int_equal(said(&n, &got), CW_UETX_ACK);
	assert_int_equal(net_count(&n, B, CW_UET_RX_DUP), 1);
	assert_false(cw_uet_event(n.u[B], &e));
	/* off the grid and wrong in the part that is there */
	d[600] ^= 1;
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 512, d + 512, 1024), CW_OK);
	expect_nack(&n, CW_UETX_CONFLICT);
	assert_true(cw_uet_event(n.u[B], &e));
	assert_int_equal(e.status, CW_UETX_CONFLICT);
	assert_ptr_equal(e.buffer, buf);
	assert_int_equal(e.len, 0);
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, 1024, d, 8), CW_OK);
	expect_nack(&n, CW_UETX_ABANDONED);
	free(d);
	net_close(&n);
}

/* ---- Any cuts ------------------------------------------------------------------------------- */

struct cut {
	uint32_t off, len;
};

/* Pieces of any length at any offset that together are all of the message, some twice. */
static unsigned cut_up(struct net *n, struct cut *c, unsigned room, uint32_t size)
{
	uint32_t at = 0, mtu = 1 + net_random(n) % 300;
	unsigned k = 0, i;

	for (; at < size && k < room / 2; k++) {
		uint32_t back = net_random(n) % 3 == 0 ? net_random(n) % mtu : 0;

		c[k].off = back < at ? at - back : at;
		c[k].len = k % 5 == 0 ? mtu : 1 + net_random(n) % mtu;
		if (c[k].off + c[k].len <= at)
			c[k].len = at - c[k].off + 1;
		if (c[k].off + c[k].len > size || k + 1 == room / 2)
			c[k].len = size - c[k].off;
		at = c[k].off + c[k].len;
	}
	for (i = 0; i < k / 3; i++)
		c[k + i] = c[net_random(n) % k];
	k += k / 3;
	for (i = k; i-- > 1;) {
		uint32_t j = net_random(n) % (i + 1);
		struct cut t = c[i];

		c[i] = c[j];
		c[j] = t;
	}
	return k;
}

/* Whole exactly when each octet was there, whatever the cuts; beside it a plain array of marks. */
static void cuts_in_any_order(uint32_t seed)
{
	enum { ROOM = 600 };
	uint32_t size, here = 0, i;
	struct cut c[ROOM];
	uint8_t *d, *buf, *mark;
	struct cw_uet_event e;
	unsigned k, count;
	struct net n;

	net_open(&n, 1, NULL, 0);
	n.seed = seed * 2654435761u;
	size = 1 + net_random(&n) % 9000;
	d = net_message(seed, size);
	buf = calloc(1, size);
	mark = calloc(1, size);
	count = cut_up(&n, c, ROOM, size);
	cw_uet_post(n.u[B], CTX_B, buf, size, 0);
	for (k = 0; k < count; k++) {
		unsigned flags = (c[k].off == 0) * 2 + (c[k].off + c[k].len == size);

		assert_false(cw_uet_event(n.u[B], &e));
		assert_int_equal(feed(&n, CW_UETX_SEND, flags, 0, c[k].off, d + c[k].off, c[k].len),
				 CW_OK);
		for (i = c[k].off; i < c[k].off + c[k].len; i++) {
			here += !mark[i];
			mark[i] = 1;
		}
		if (here == size)
			break;
	}
	assert_true(cw_uet_event(n.u[B], &e));
	assert_int_equal(e.status, CW_UET_OK);
	assert_int_equal(e.len, size);
	assert_memory_equal(buf, d, size);
	assert_int_equal(net_count(&n, B, CW_UET_RX_NACK) + net_count(&n, B, CW_UET_TX_NACK), 0);
	assert_int_equal(cw_uet_memory(n.u[B], 0), 0);
	free(d);
	free(buf);
	free(mark);
	net_close(&n);
}

static void property_equal_overlaps_merge_at_any_offset(void **state)
{
	uint32_t seed;

	(void)state;
	for (seed = 1; seed <= 400; seed++)
		cuts_in_any_order(seed);
}

/* One octet that is there and one packet over it that says another: always found. */
static void property_other_bytes_are_found_at_any_offset(void **state)
{
	uint8_t *d = net_message(9, 4096), buf[4096], wrong[4096];
	uint32_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		uint32_t a, alen, off, len, at;
		struct cw_uet_event e;
		struct net n;

		net_open(&n, 1, NULL, 0);
		n.seed = seed * 40503u;
		a = net_random(&n) % 2000;
		alen = 1 + net_random(&n) % 1000;
		at = a + net_random(&n) % alen;
		off = at - net_random(&n) % (at + 1);
		len = at - off + 1 + net_random(&n) % 900;
		memcpy(wrong, d, sizeof(wrong));
		wrong[at] ^= (uint8_t)(1u << seed % 8);
		cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 0);
		feed(&n, CW_UETX_SEND, (a == 0) * 2, 0, a, d + a, alen);
		assert_int_equal(net_count(&n, B, CW_UET_RX_DATA), 1);
		/* not one octet more than what is there, or much more */
		feed(&n, CW_UETX_SEND, (off == 0) * 2, 0, off, wrong + off, len);
		assert_int_equal(net_count(&n, B, CW_UET_E_CONFLICT), 1);
		assert_true(cw_uet_event(n.u[B], &e));
		assert_int_equal(e.status, CW_UETX_CONFLICT);
		net_close(&n);
	}
	free(d);
}

/* Islands of one octet: bounded, refused as "try again", and the gaps may still be filled. */
static void scattered_octets_are_bounded(void **state)
{
	enum { SIZE_ = 8192 };
	uint8_t *d = net_message(2, SIZE_), buf[SIZE_];
	struct cw_uet_event e;
	unsigned reason, i;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	cw_uet_post(n.u[B], CTX_B, buf, SIZE_, 0);
	for (i = 1; i < SIZE_ - 1; i += 2)
		feed(&n, CW_UETX_SEND, 0, 0, i, d + i, 1);
	assert_int_equal(net_count(&n, B, CW_UET_E_NO_MEMORY), SIZE_ / 2 - 1 - 1024);
	assert_true(cw_uet_memory(n.u[B], 0) < 16384);
	while (said(&n, &reason) != 0)
		assert_true(reason == 0 || reason == CW_UETX_NO_MEMORY);
	for (i = 0; i < SIZE_; i += 1000)
		feed(&n, CW_UETX_SEND, (i == 0) * 2 + (i + 1000 > SIZE_), 0, i, d + i,
		     i + 1000 > SIZE_ ? SIZE_ - i : 1000);
	assert_true(cw_uet_event(n.u[B], &e));
	assert_int_equal(e.status, CW_UET_OK);
	assert_memory_equal(buf, d, SIZE_);
	assert_int_equal(cw_uet_memory(n.u[B], 0), 0);
	free(d);
	net_close(&n);
}

/* From the bitmap to spans in the middle, and an Ack still speaks of whole segments. */
static void other_cuts_do_not_acknowledge_half_segments(void **state)
{
	uint8_t *d = net_message(4, 4096), buf[4096];
	struct cw_uet_packet p;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 0);
	feed(&n, CW_UETX_SEND, 2, 0, 0, d, 512);
	feed(&n, CW_UETX_SEND, 0, 0, 1024, d + 1024, 512);
	feed(&n, CW_UETX_SEND, 0, 0, 1300, d + 1300, 512); /* to 1812: segment 2 whole, 3 in part */
	n.now += MS;
	assert_true(cw_uet_output(n.u[B], n.now, &p));
	assert_int_equal(cw_uetx_opcode(p.head), CW_UETX_ACK);
	assert_int_equal(cw_uetx_ack_cumulative(p.head + 20), 1);
	assert_int_equal(cw_uetx_ack_sack(p.head + 20), 5);
	feed(&n, CW_UETX_SEND, 0, 0, 512, d + 512, 512);
	while (cw_uet_output(n.u[B], n.now, &p))
		;
	assert_int_equal(cw_uetx_ack_cumulative(p.head + 20), 3);
	assert_int_equal(cw_uetx_ack_sack(p.head + 20), 7);
	free(d);
	net_close(&n);
}

/* A burst does what single packets do, whatever else is in it. */
static void bursts_are_packets_in_order(void **state)
{
	enum { N = 100 };
	static uint8_t packets[N][CW_SIZE_UETX + 64];
	uint8_t *d = net_message(1, N * 64), *buf = calloc(N, 64);
	struct cw_uet_arrival a[N + 3] = {0};
	struct cw_uet_event e;
	unsigned i;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	cw_uet_post(n.u[B], CTX_B, buf, N * 64, 0);
	for (i = 0; i < N; i++) {
		raw(packets[i], CW_UETX_SEND, (i == 0) * 2 + (i + 1 == N), 0, i * 64, d + i * 64,
		    64);
		a[i + 3].data = packets[i];
		a[i + 3].len = sizeof(packets[i]);
	}
	a[0].data = packets[0], a[0].len = 3;
	a[1].data = packets[0], a[1].len = 20;
	a[2].data = packets[0], a[2].peer = 7, a[2].len = sizeof(packets[0]);
	assert_int_equal(cw_uet_input_burst(n.u[B], n.now, a, N + 3), N);
	assert_int_equal(net_count(&n, B, CW_UET_E_SHORT), 1);
	assert_int_equal(net_count(&n, B, CW_UET_E_LENGTH), 1);
	assert_true(cw_uet_event(n.u[B], &e));
	assert_memory_equal(buf, d, N * 64);
	free(d);
	free(buf);
	net_close(&n);
}

static void every_order_of_five_packets(void **state)
{
	static const uint32_t place[] = {0, 100, 200, 300, 400};
	uint8_t *d = net_message(3, 450);
	unsigned perm, k, order[5];

	(void)state;
	for (perm = 0; perm < 3125; perm++) {
		uint8_t buf[450] = {0};
		struct cw_uet_event e;
		unsigned used = 0;
		struct net n;

		for (k = 0; k < 5; k++) {
			order[k] = perm /
				   (k == 0   ? 1
				    : k == 1 ? 5
				    : k == 2 ? 25
				    : k == 3 ? 125
					     : 625) %
				   5;
			used |= 1u << order[k];
		}
		if (used != 31)
			continue;
		net_open(&n, 1, NULL, 9);
		cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 0);
		for (k = 0; k < 5; k++) {
			unsigned i = order[k];

			assert_false(cw_uet_event(n.u[B], &e));
			assert_int_equal(feed(&n, CW_UETX_SEND, (i == 0) * 2 + (i == 4), 9,
					      place[i], d + place[i], i == 4 ? 50 : 100),
					 CW_OK);
		}
		assert_true(cw_uet_event(n.u[B], &e));
		assert_int_equal(e.len, 450);
		assert_memory_equal(buf, d, 450);
		assert_int_equal(feed(&n, CW_UETX_SEND, 1, 9, 400, d + 400, 50), CW_OK);
		assert_false(cw_uet_event(n.u[B], &e));
		net_close(&n);
	}
	free(d);
}

static void hostile_headers_have_names(void **state)
{
	uint8_t p[64] = {0}, d[2048] = {0}, buf[4096];
	struct cw_uet_event e;
	unsigned reason;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 0);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 0, 0, false, p, 19), CW_E_SHORT);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 0, 0, false, p, 20), CW_E_VERSION);
	raw(p, 0x33, 3, 0, 0, d, 4);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 0, 0, false, p, 24), CW_E_RESERVED);
	raw(p, CW_UETX_SEND, 3, 0, 0, d, 4);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 0, 0, false, p, 23), CW_E_LENGTH);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 1, 0, false, p, 24), CW_E_ARG);
	cw_uetx_set_scid(p, 1);
	assert_int_equal(cw_uet_input(n.u[B], n.now, 0, 0, false, p, 24), CW_E_FORBIDDEN);
	assert_int_equal(net_count(&n, B, CW_UET_E_CONTEXT), 1);
	/* F without offset 0, offset 0 without F, nothing in the middle or at the start */
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 1024, d, 1024), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 0, d, 1024), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 1024, d, 0), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 0), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	/* two ends; an end that is none; one behind the end */
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, 2048, d, 100), CW_OK);
	assert_int_equal(said(&n, &reason), CW_UETX_ACK);
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, 3072, d, 100), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 1124, d, 1024), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 3072, d, 64), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	/* offset + length beyond 2^32 must not wrap */
	assert_int_equal(feed(&n, CW_UETX_SEND, 0, 0, 0xffffff00u, d, 1024), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_E_TOO_LONG), 1);
	assert_true(cw_uet_event(n.u[B], &e));
	assert_int_equal(e.status, CW_UETX_TOO_LONG);
	assert_int_equal(feed(&n, CW_UETX_SEND, 3, 5, 0, d, 1), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_E_NO_BUFFER), 1);
	assert_int_equal(feed(&n, CW_UETX_WRITE, 3, 6, 0, d, 1), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_E_ACCESS), 1);
	assert_int_equal(feed(&n, CW_UETX_SEND, 3, 0x70000000, 0, d, 1), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_E_ID_WINDOW), 1);
	net_close(&n);
}

/* An Ack of what was never sent changes nothing. */
static void forged_acks_change_nothing(void **state)
{
	uint8_t d[100] = {0}, p[28];
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	cw_uet_send(n.u[A], CTX_A, d, sizeof(d), false, 0);
	raw(p, CW_UETX_ACK, 1, 0, 0, NULL, 0);
	cw_uetx_set_dcid(p, CTX_A);
	cw_uetx_set_scid(p, CTX_B);
	memset(p + 20, 0xff, 8);
	assert_int_equal(cw_uet_input(n.u[A], n.now, 0, 0, false, p, 24), CW_E_FORBIDDEN);
	cw_uetx_set_msg_id(p, 9);
	assert_int_equal(cw_uet_input(n.u[A], n.now, 0, 0, false, p, 24), CW_E_FORBIDDEN);
	assert_false(cw_uet_event(n.u[A], &e));
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 2);
	net_close(&n);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void half_messages_are_reaped_and_reported(void **state)
{
	struct cw_uet_settings s = {.reap_after = 50 * MS};
	uint8_t d[1024] = {0}, buf[4096];
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, 1, &s, 0);
	cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), 42);
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 1024), CW_OK);
	while (net_step(&n, n.now + 100 * MS) && net_count(&n, B, CW_UET_REAPED) == 0)
		;
	assert_true(cw_uet_event(n.u[B], &e));
	assert_int_equal(e.status, CW_UET_TIMED_OUT);
	assert_int_equal(e.cookie, 42);
	assert_int_equal(cw_uet_open_messages(n.u[B], 0), 0);
	assert_int_equal(cw_uet_memory(n.u[B], 0), 0);
	net_close(&n);
}

static void memory_of_a_peer_is_bounded(void **state)
{
	struct cw_uet_settings s = {.memory_per_peer = 4096};
	uint8_t d[1024] = {0}, buf[4096];
	uint32_t i;
	struct net n;

	(void)state;
	net_open(&n, 1, &s, 0);
	for (i = 0; i < 100; i++) {
		cw_uet_post(n.u[B], CTX_B, buf, sizeof(buf), i);
		assert_int_equal(feed(&n, CW_UETX_SEND, 2, i, 0, d, 1024), CW_OK);
		assert_true(cw_uet_memory(n.u[B], 0) <= 4096);
	}
	assert_true(net_count(&n, B, CW_UET_E_NO_MEMORY) > 50);
	net_close(&n);
}

static void a_sender_without_answer_gives_up(void **state)
{
	struct cw_uet_settings s = {.give_up_after = 80 * MS};
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, 2, &s, 0);
	n.cut[0] = n.cut[1] = true;
	cw_uet_send(n.u[A], CTX_A, "x", 1, false, 7);
	while (net_step(&n, n.now + 200 * MS) && net_count(&n, A, CW_UET_REAPED) == 0)
		;
	assert_true(cw_uet_event(n.u[A], &e));
	assert_int_equal(e.status, CW_UET_TIMED_OUT);
	assert_int_equal(e.cookie, 7);
	net_close(&n);
}

/* Messages that wait behind others of a dead peer are not each given the whole time again. */
static void a_dead_peer_ends_all_its_messages(void **state)
{
	struct cw_uet_settings s = {.give_up_after = 80 * MS, .id_window = 64};
	unsigned i, events = 0;
	uint8_t back[10];
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, 2, &s, 0);
	n.cut[0] = n.cut[1] = true;
	for (i = 0; i < 200; i++)
		cw_uet_send(n.u[A], CTX_A, "x", 1, false, i);
	cw_uet_fence(n.u[A], CTX_A, i++);
	assert_int_equal(cw_uet_read(n.u[A], n.now, CTX_A, 0, back, 10, i++), CW_OK);
	while (events < 202 && net_step(&n, 200 * MS)) {
		while (cw_uet_event(n.u[A], &e)) {
			assert_int_equal(e.status, CW_UET_TIMED_OUT);
			events++;
		}
	}
	assert_int_equal(events, 202);
	assert_true(n.now < 160 * MS);
	assert_int_equal(cw_uet_memory(n.u[A], 0), 0);
	net_close(&n);
}

/* Receives that come late: Nack, wait, try again, nothing lost. */
static void no_buffer_is_tried_again(void **state)
{
	uint8_t *d = net_message(0, 20000), *buf = malloc(20000);
	struct cw_uet_event e;
	unsigned k;
	struct net n;

	(void)state;
	net_open(&n, 4, NULL, 0);
	cw_uet_send(n.u[A], CTX_A, d, 20000, false, 0);
	for (k = 0; k < 200; k++)
		(void)net_step(&n, n.now + MS);
	assert_true(net_count(&n, A, CW_UET_RX_NACK) > 0);
	assert_false(cw_uet_event(n.u[A], &e));
	cw_uet_post(n.u[B], CTX_B, buf, 20000, 0);
	while (!cw_uet_event(n.u[A], &e) && net_step(&n, n.now + 1000 * MS))
		;
	assert_int_equal(e.status, CW_UET_OK);
	assert_memory_equal(d, buf, 20000);
	free(d);
	free(buf);
	net_close(&n);
}

/* ---- Write, Read, Fence, BTS ------------------------------------------------------------------
 */

static unsigned count_events(struct cw_uet *u, enum cw_uet_kind kind, unsigned status)
{
	struct cw_uet_event e;
	unsigned n = 0;

	while (cw_uet_event(u, &e)) {
		assert_int_equal(e.kind, kind);
		assert_int_equal(e.status, status);
		n++;
	}
	return n;
}

static void writes_and_reads_of_the_exposed_region(void **state)
{
	uint8_t *region = calloc(1, 50000), *d = net_message(4, 30000), back[5000];
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, NULL, 0);
	n.loss[1] = n.loss[2] = 0.1;
	cw_uet_expose(n.u[B], CTX_B, region, 50000, CW_UET_READABLE | CW_UET_WRITABLE);
	cw_uet_write(n.u[A], CTX_A, d, 30000, true, 1);
	cw_uet_fence(n.u[A], CTX_A, 2);
	assert_int_equal(cw_uet_read(n.u[A], n.now, CTX_A, 20000, back, 5000, 3), CW_OK);
	while (net_step(&n, 2000 * MS))
		;
	assert_int_equal(count_events(n.u[B], CW_UET_WRITTEN, CW_UET_OK), 1);
	assert_memory_equal(region, d, 30000);
	assert_memory_equal(back, d + 20000, 5000);
	assert_true(cw_uet_event(n.u[A], &e));
	assert_int_equal(e.kind, CW_UET_READ_DONE);
	assert_int_equal(e.cookie, 3);
	assert_true(cw_uet_event(n.u[A], &e) && e.kind == CW_UET_SENT && e.cookie == 1);
	assert_true(cw_uet_event(n.u[A], &e) && e.kind == CW_UET_FENCED && e.cookie == 2);
	assert_false(cw_uet_event(n.u[A], &e));
	assert_int_equal(cw_uet_memory(n.u[B], 0), 0);
	/* outside */
	assert_int_equal(cw_uet_read(n.u[A], n.now, CTX_A, 49999, back, 2, 4), CW_OK);
	cw_uet_read(n.u[A], n.now, CTX_A, 0xffffffff, back, 0xffffffff, 5);
	while (net_step(&n, n.now + 200 * MS))
		;
	assert_int_equal(count_events(n.u[A], CW_UET_READ_DONE, CW_UETX_ACCESS), 2);
	free(region);
	free(d);
	net_close(&n);
}

static bool fence_watch(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *state = n->arg; /* [0]: messages delivered before, [1]: highest id seen */

	(void)path;
	(void)len;
	if (to == B && cw_uetx_msg_id(p) > 10)
		assert_int_equal(state[0], 10);
	return true;
}

/* Ten sends, a fence, ten sends: nothing behind the fence leaves before all in front is there. */
static void fence_holds_back(void **state)
{
	unsigned watch[2] = {0}, i, after = 0;
	uint8_t *d = net_message(0, 30000), *bufs = malloc(20 * 30000);
	struct cw_uet_event e;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, NULL, 0);
	n.loss[0] = n.loss[5] = 0.2;
	n.see = fence_watch;
	n.arg = watch;
	for (i = 0; i < 20; i++) {
		cw_uet_post(n.u[B], CTX_B, bufs + 30000 * i, 30000, i);
		if (i == 10)
			cw_uet_fence(n.u[A], CTX_A, 99);
		cw_uet_send(n.u[A], CTX_A, d, 30000, false, i);
	}
	while (after < 20 && net_step(&n, 5000 * MS)) {
		while (cw_uet_event(n.u[B], &e)) {
			watch[0] += e.msg_id < 10;
			after++;
		}
	}
	assert_int_equal(after, 20);
	free(d);
	free(bufs);
	net_close(&n);
}

static bool send_back(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *count = n->arg;
	uint8_t nack[24];

	(void)len;
	if (to != B || *count >= 5 || cw_uetx_offset(p) % (5 * 4096) != 0)
		return true;
	(*count)++;
	memset(nack, 0, sizeof(nack));
	memcpy(nack, p, 20);
	cw_uetx_set_opcode(nack, CW_UETX_NACK);
	cw_uetx_set_dcid(nack, cw_uetx_scid(p));
	cw_uetx_set_scid(nack, cw_uetx_dcid(p));
	cw_uetx_set_length(nack, 0);
	cw_uetx_set_s(nack, 0);
	cw_uetx_set_f(nack, 0);
	cw_uetx_set_l(nack, 0);
	cw_uetx_set_ec(nack, 1);
	net_carry(n, A, path, nack, 24);
	return false;
}

/* Five packets of a transfer do, by the filter `see`. */
static void five_come_back(bool (*see)(struct net *n, unsigned to, unsigned path, uint8_t *p,
				       unsigned len))
{
	unsigned count = 0;
	struct transfer t;
	struct net n;

	net_open(&n, 4, NULL, 0);
	n.see = see;
	n.arg = &count;
	transfer_post(&n, &t, 1, 1 << 18);
	transfer_run(&n, &t, 0, 3 * MS);
	assert_int_equal(net_count(&n, A, CW_UET_BTS), 5);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 5);
	assert_int_equal(net_count(&n, A, CW_UET_TIMEOUTS), 0);
	transfer_free(&t);
	net_close(&n);
}

/* BTS, profile uetx: the packet is sent again at once and the path's window shrinks. */
static void packets_sent_back_are_sent_again(void **state)
{
	(void)state;
	five_come_back(send_back);
}

/* BTS, profile reflect: the header comes back as it was sent, perhaps without its data. */
static bool reflect(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *count = n->arg;

	(void)len;
	if (to != B || *count >= 5 || cw_uetx_offset(p) % (5 * 4096) != 0)
		return true;
	(*count)++;
	assert_int_equal(cw_uet_returned(n->u[A], n->now, 0, path, p, 24), CW_OK);
	return false;
}

static void reflected_packets_are_sent_again(void **state)
{
	(void)state;
	five_come_back(reflect);
}

/* BTS of UE 1.0 names no message: one packet less on that path, and a mark, nothing else. */
static void bts_of_ue_1_0_makes_the_window_smaller(void **state)
{
	static const struct {
		uint8_t head[16];
		unsigned len;
		int err;
	} rows[] = {
		{{0x50, 0x28, 0x01}, 16, CW_OK},         /* addr */
		{{0x50, 0x20, 0x02}, 16, CW_OK},         /* nack, last hop */
		{{0x10, 0x98, 0, 0, 1}, 12, CW_OK},      /* reflect: RUD request, standard SES */
		{{0x68, 0x98}, 16, CW_OK},               /* RUD with CC state */
		{{0x50, 0x20, 0x0b}, 16, CW_E_RESERVED}, /* a NACK for another reason */
		{{0x38, 0x20}, 12, CW_E_RESERVED},       /* an ACK */
		{{0x50, 0x28, 0x01}, 15, CW_E_RESERVED}, /* cut short */
		{{0x50, 0x28, 0x01}, 11, CW_E_SHORT},
	};
	struct cw_uet_path_info before, after, other;
	unsigned i, good = 0;
	struct net n;

	(void)state;
	net_open(&n, 2, NULL, 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *p = exact_copy(rows[i].head, rows[i].len);

		assert_int_equal(cw_uet_path(n.u[A], 0, 1, &before), CW_OK);
		assert_int_equal(cw_uet_returned(n.u[A], n.now, 0, 1, p, rows[i].len), rows[i].err);
		assert_int_equal(cw_uet_path(n.u[A], 0, 1, &after), CW_OK);
		good += rows[i].err == CW_OK;
		assert_true(before.window - after.window == (rows[i].err == CW_OK ? 1 : 0));
		assert_int_equal(after.marked, good);
		free(p);
	}
	assert_int_equal(cw_uet_path(n.u[A], 0, 0, &other), CW_OK);
	assert_int_equal(other.marked, 0);
	assert_int_equal(net_count(&n, A, CW_UET_BTS), good);
	net_close(&n);
}

static void returned_headers_of_others_change_nothing(void **state)
{
	uint8_t p[28];
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	raw(p, CW_UETX_SEND, 3, 0, 0, NULL, 0);
	assert_int_equal(cw_uet_returned(n.u[A], n.now, 0, 0, p, 20),
			 CW_OK); /* over, or never sent */
	assert_int_equal(cw_uet_returned(n.u[A], n.now, 1, 0, p, 20), CW_E_ARG);
	cw_uetx_set_dcid(p, 5);
	assert_int_equal(cw_uet_returned(n.u[A], n.now, 0, 0, p, 20), CW_E_FORBIDDEN);
	assert_int_equal(net_count(&n, A, CW_UET_E_CONTEXT), 1);
	cw_uetx_set_dcid(p, CTX_B);
	assert_int_equal(cw_uet_send(n.u[A], CTX_A, "x", 1, false, 0), CW_OK);
	cw_uetx_set_offset(p, 4096);
	assert_int_equal(cw_uet_returned(n.u[A], n.now, 0, 0, p, 20), CW_E_FORBIDDEN);
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 1);
	net_close(&n);
}

/* 100,000 messages half there at once, finished in another order. */
static void hundred_thousand_messages_at_once(void **state)
{
	enum { N = 100000 };
	struct cw_uet_settings s = {.id_window = 131072, .ack_delay = 10000 * MS};
	uint8_t *bufs = malloc(N * 128), d[64];
	struct cw_uet_event e;
	uint32_t i, done = 0;
	struct net n;

	(void)state;
	net_open(&n, 1, &s, 0xffff0000u);
	for (i = 0; i < N; i++) {
		cw_uet_post(n.u[B], CTX_B, bufs + 128 * i, 128, i);
		memset(d, (int)i, 64);
		assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0xffff0000u + i, 0, d, 64), CW_OK);
	}
	assert_int_equal(cw_uet_open_messages(n.u[B], 0), N);
	for (i = 0; i < N; i++) {
		uint32_t k = (uint32_t)(i * 7919ull % N);

		memset(d, (int)k, 64);
		assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0xffff0000u + k, 64, d, 64), CW_OK);
		while (cw_uet_event(n.u[B], &e)) {
			const uint8_t *b = e.buffer;

			assert_int_equal(b[0], (uint8_t)(e.msg_id - 0xffff0000u));
			assert_int_equal(b[127], b[0]);
			done++;
		}
	}
	assert_int_equal(done, N);
	free(bufs);
	net_close(&n);
}

/* The last octet of the largest message: offsets near 2^32. The buffer is address space only. */
static void largest_message_does_not_wrap(void **state)
{
	struct cw_uet_settings s = {.mtu = 65535};
	struct cw_uet_event e;
	uint8_t d[1] = {9};
	uint8_t *buf = malloc(UINT32_MAX);
	struct net n;

	(void)state;
	if (buf == NULL)
		skip();
	net_open(&n, 1, &s, 0);
	cw_uet_post(n.u[B], CTX_B, buf, UINT32_MAX, 0);
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, UINT32_MAX - 1, d, 1), CW_OK);
	assert_int_equal(buf[UINT32_MAX - 1], 9);
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, UINT32_MAX - 1, d, 1), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_RX_DUP), 1);
	d[0] = 8;
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, UINT32_MAX - 1, d, 1), CW_OK);
	assert_int_equal(net_count(&n, B, CW_UET_E_CONFLICT), 1);
	assert_true(cw_uet_event(n.u[B], &e));
	free(buf);
	net_close(&n);
}

static void settings_and_arguments_are_checked(void **state)
{
	struct cw_uet_settings bad[] = {{.mtu = 63},
					{.mtu = 65536},
					{.id_window = 100},
					{.max_window = 3},
					{.rto_min = 2, .rto_max = 1},
					{.ack_every = 17},
					{.spray = (enum cw_uet_spray)3}};
	struct cw_uet_context c = {CTX_A, CTX_B, 0, 0, 0};
	unsigned i;
	struct net n;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(cw_uet_new(&bad[i]));
	net_open(&n, 1, NULL, 0);
	assert_int_equal(cw_uet_peer(n.u[A], 0), CW_E_ARG);
	assert_int_equal(cw_uet_peer(n.u[A], 257), CW_E_ARG);
	assert_int_equal(cw_uet_open(n.u[A], &c), CW_E_CONFLICT);
	c.peer = 1;
	assert_int_equal(cw_uet_open(n.u[A], &c), CW_E_ARG);
	assert_int_equal(cw_uet_send(n.u[A], 1, "", 0, false, 0), CW_E_NAME);
	assert_int_equal(cw_uet_close(n.u[A], 1), CW_E_NAME);
	net_close(&n);
}

/* Close with everything under way: all comes back, each thing once. */
static void close_gives_everything_back(void **state)
{
	uint8_t d[9000] = {0}, buf[9000], back[10];
	struct cw_uet_event e;
	unsigned i, events = 0;
	struct net n;

	(void)state;
	net_open(&n, 2, NULL, 0);
	for (i = 0; i < 5; i++)
		cw_uet_send(n.u[A], CTX_A, d, sizeof(d), false, i);
	cw_uet_read(n.u[A], n.now, CTX_A, 0, back, 10, 5);
	cw_uet_fence(n.u[A], CTX_A, 6);
	cw_uet_send(n.u[A], CTX_A, d, 1, false, 7);
	cw_uet_post(n.u[A], CTX_A, buf, sizeof(buf), 8);
	for (i = 0; i < 4; i++)
		(void)net_step(&n, n.now + MS);
	assert_int_equal(cw_uet_close(n.u[A], CTX_A), CW_OK);
	while (cw_uet_event(n.u[A], &e)) {
		assert_int_equal(e.status, CW_UET_CLOSED);
		assert_int_equal(e.context, CTX_A);
		events++;
	}
	assert_int_equal(events, 9);
	assert_int_equal(cw_uet_memory(n.u[A], 0), 0);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(article_256_kib_is_64_packets_with_one_id),
		cmocka_unit_test(article_sizes_and_marks),
		cmocka_unit_test(property_no_loss_no_double_no_early),
		cmocka_unit_test(reordering_is_not_loss),
		cmocka_unit_test(loss_is_inferred_from_the_same_path),
		cmocka_unit_test(last_packet_lost_is_found_by_timeout),
		cmocka_unit_test(cut_path_is_left_and_taken_back),
		cmocka_unit_test(dead_paths_do_not_starve_a_message),
		cmocka_unit_test(weights_leave_a_bad_path),
		cmocka_unit_test(slow_path_does_not_hold_messages_up),
		cmocka_unit_test(ecn_echo_makes_the_window_smaller),
		cmocka_unit_test(acks_keep_the_order_of_their_packets),
		cmocka_unit_test(overlap_with_other_bytes_is_an_error),
		cmocka_unit_test(property_equal_overlaps_merge_at_any_offset),
		cmocka_unit_test(property_other_bytes_are_found_at_any_offset),
		cmocka_unit_test(scattered_octets_are_bounded),
		cmocka_unit_test(other_cuts_do_not_acknowledge_half_segments),
		cmocka_unit_test(bursts_are_packets_in_order),
		cmocka_unit_test(every_order_of_five_packets),
		cmocka_unit_test(hostile_headers_have_names),
		cmocka_unit_test(forged_acks_change_nothing),
		cmocka_unit_test(half_messages_are_reaped_and_reported),
		cmocka_unit_test(memory_of_a_peer_is_bounded),
		cmocka_unit_test(a_sender_without_answer_gives_up),
		cmocka_unit_test(a_dead_peer_ends_all_its_messages),
		cmocka_unit_test(no_buffer_is_tried_again),
		cmocka_unit_test(writes_and_reads_of_the_exposed_region),
		cmocka_unit_test(fence_holds_back),
		cmocka_unit_test(packets_sent_back_are_sent_again),
		cmocka_unit_test(reflected_packets_are_sent_again),
		cmocka_unit_test(bts_of_ue_1_0_makes_the_window_smaller),
		cmocka_unit_test(returned_headers_of_others_change_nothing),
		cmocka_unit_test(hundred_thousand_messages_at_once),
		cmocka_unit_test(largest_message_does_not_wrap),
		cmocka_unit_test(settings_and_arguments_are_checked),
		cmocka_unit_test(close_gives_everything_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
