/* uet_operations.c - Write, Read, Fence and BTS of the UET engine; its settings, its end. */
#include "tests/unit/uet_net.h"

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

/* A region that may only be read is not written, and the other way round. */
static void access_is_what_was_exposed(void **state)
{
	uint8_t region[5000] = {0}, back[5000] = {0}, *d = net_message(4, sizeof(region));
	struct net n;

	(void)state;
	net_open(&n, NPATHS, NULL, 0);
	cw_uet_expose(n.u[B], CTX_B, region, sizeof(region), CW_UET_READABLE);
	cw_uet_write(n.u[A], CTX_A, d, sizeof(region), true, 1);
	while (net_step(&n, n.now + 200 * MS))
		;
	assert_int_equal(count_events(n.u[A], CW_UET_SENT, CW_UETX_ACCESS), 1);
	assert_int_equal(count_events(n.u[B], CW_UET_WRITTEN, CW_UET_OK), 0);
	assert_memory_equal(region, back, sizeof(region)); /* zeros */
	cw_uet_expose(n.u[B], CTX_B, d, sizeof(region), CW_UET_WRITABLE);
	assert_int_equal(cw_uet_read(n.u[A], n.now, CTX_A, 0, back, sizeof(back), 2), CW_OK);
	while (net_step(&n, n.now + 200 * MS))
		;
	assert_int_equal(count_events(n.u[A], CW_UET_READ_DONE, CW_UETX_ACCESS), 1);
	assert_memory_equal(region, back, sizeof(region));
	free(d);
	net_close(&n);
}

/* The answer's last packet of a Read, kept. */
static bool keep_response(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	(void)path;
	if (to == A && cw_uetx_opcode(p) == CW_UETX_READ_RESPONSE)
		memcpy(n->arg, p, len);
	return true;
}

/* A packet of an answer that is all there is acknowledged again; one that nobody waits for is not.
 */
static void answers_that_come_late(void **state)
{
	uint8_t region[100] = {0}, back[100], p[CW_SIZE_UETX + 100];
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	n.see = keep_response;
	n.arg = p;
	cw_uet_expose(n.u[B], CTX_B, region, sizeof(region), CW_UET_READABLE);
	assert_int_equal(cw_uet_read(n.u[A], n.now, CTX_A, 0, back, sizeof(back), 1), CW_OK);
	while (net_step(&n, n.now + 200 * MS))
		;
	assert_int_equal(count_events(n.u[A], CW_UET_READ_DONE, CW_UET_OK), 1);
	assert_int_equal(net_input(&n, A, p, sizeof(p)), CW_OK);
	assert_int_equal(net_count(&n, A, CW_UET_RX_DUP), 1);
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 0);
	cw_uetx_set_msg_id(p, 7);
	assert_int_equal(net_input(&n, A, p, sizeof(p)), CW_OK);
	assert_int_equal(net_count(&n, A, CW_UET_RX_DUP), 1);
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 1);
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
		assert_int_equal(cw_uet_new(&n.u[A], &bad[i]), CW_E_RANGE);
	cw_uet_free(NULL);
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
		cmocka_unit_test(writes_and_reads_of_the_exposed_region),
		cmocka_unit_test(access_is_what_was_exposed),
		cmocka_unit_test(answers_that_come_late),
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
