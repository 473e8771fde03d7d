/* uet_packets.c - what the UET engine says to single packets: any cuts, overlaps, forgeries,
 * bounds. */
#include "tests/unit/uet_net.h"

/* ---- Single packets by hand ------------------------------------------------------------------ */

/* Two ends with one path, and a buffer for one message at B. */
static void open_posted(struct net *n, uint8_t *buf, uint32_t size)
{
	net_open(n, 1, NULL, 0);
	cw_uet_post(n->u[B], CTX_B, buf, size, 0);
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
	open_posted(&n, buf, sizeof(buf));
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
	open_posted(&n, buf, sizeof(buf));
	assert_int_equal(net_input(&n, B, p, 19), CW_E_SHORT);
	assert_int_equal(net_input(&n, B, p, 20), CW_E_VERSION);
	raw(p, 0x33, 3, 0, 0, d, 4);
	assert_int_equal(net_input(&n, B, p, 24), CW_E_RESERVED);
	raw(p, CW_UETX_SEND, 3, 0, 0, d, 4);
	assert_int_equal(net_input(&n, B, p, 23), CW_E_LENGTH);
	assert_int_equal(cw_uet_input(n.u[B], n.now,
				      &(struct cw_uet_arrival){.peer = 1, .data = p, .len = 24}),
			 CW_E_ARG);
	cw_uetx_set_scid(p, 1);
	assert_int_equal(net_input(&n, B, p, 24), CW_E_FORBIDDEN);
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
	assert_int_equal(net_input(&n, A, p, 24), CW_E_FORBIDDEN);
	cw_uetx_set_msg_id(p, 9);
	assert_int_equal(net_input(&n, A, p, 24), CW_E_FORBIDDEN);
	assert_false(cw_uet_event(n.u[A], &e));
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 2);
	net_close(&n);
}

/* A message is of one kind from its first packet on, and a fence waits for those before it. */
static void kinds_are_kept_and_fences_wait(void **state)
{
	uint8_t d[2048] = {0}, buf[4096];
	struct cw_uet_event e;
	unsigned reason;
	struct net n;

	(void)state;
	open_posted(&n, buf, sizeof(buf));
	assert_int_equal(feed(&n, CW_UETX_SEND, 2, 0, 0, d, 1024), CW_OK);
	assert_int_equal(said(&n, &reason), CW_UETX_ACK);
	assert_int_equal(feed(&n, CW_UETX_READ, 1, 0, 1024, d, 8), CW_OK);
	expect_nack(&n, CW_UETX_GEOMETRY);
	assert_int_equal(feed(&n, CW_UETX_FENCE, 3, 1, 0, d, 0), CW_OK);
	expect_nack(&n, CW_UETX_ID_WINDOW);
	assert_int_equal(feed(&n, CW_UETX_SEND, 1, 0, 1024, d, 8), CW_OK);
	assert_int_equal(said(&n, &reason), CW_UETX_ACK);
	assert_int_equal(feed(&n, CW_UETX_FENCE, 3, 1, 0, d, 0), CW_OK);
	assert_int_equal(said(&n, &reason), CW_UETX_ACK);
	assert_true(cw_uet_event(n.u[B], &e) && e.status == CW_UET_OK);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_keep_the_order_of_their_packets),
		cmocka_unit_test(overlap_with_other_bytes_is_an_error),
		cmocka_unit_test(property_equal_overlaps_merge_at_any_offset),
		cmocka_unit_test(property_other_bytes_are_found_at_any_offset),
		cmocka_unit_test(scattered_octets_are_bounded),
		cmocka_unit_test(other_cuts_do_not_acknowledge_half_segments),
		cmocka_unit_test(bursts_are_packets_in_order),
		cmocka_unit_test(every_order_of_five_packets),
		cmocka_unit_test(hostile_headers_have_names),
		cmocka_unit_test(kinds_are_kept_and_fences_wait),
		cmocka_unit_test(forged_acks_change_nothing),
		cmocka_unit_test(half_messages_are_reaped_and_reported),
		cmocka_unit_test(memory_of_a_peer_is_bounded),
		cmocka_unit_test(a_sender_without_answer_gives_up),
		cmocka_unit_test(a_dead_peer_ends_all_its_messages),
		cmocka_unit_test(no_buffer_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
