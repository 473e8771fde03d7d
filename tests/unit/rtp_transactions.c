/* rtp_transactions.c - each rule of the transactions by itself: what they may touch, in which order
 * they end, atomics. Names begin with the clause of UB 2.0.
 */
#include "rtp_rules.h"

static void refused(struct sim *s, const struct cw_uboe_wr *wr, enum cw_uboe_status status,
		    enum cw_uboe_counter c)
{
	uint64_t before = cw_uboe_dev_count(s->dev[1], c);
	struct cw_uboe_cr cr = run(s, wr);

	assert_string_equal(cw_uboe_status_name(cr.status), cw_uboe_status_name(status));
	assert_true(cw_uboe_dev_count(s->dev[1], c) > before);
}

/* ---- Tokens, bounds, permissions (UB 2.0 7.4) --------------------------------------------- */

static void u7_4_memory_checks(void **state)
{
	uint8_t mem[64] = {0}, zero[64] = {0}, local[64];
	uint64_t one = 1;
	struct cw_uboe_seg *g;
	struct cw_uboe_wr w;
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	g = seg(&s, mem, sizeof(mem), CW_UBOE_WRITE);
	memset(local, 0xff, sizeof(local));
	w = wr_of(CW_UBOE_OP_WRITE, g, local, 16);
	w.token_value = 5;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_TOKEN);
	w = wr_of(CW_UBOE_OP_WRITE, g, local, 16);
	w.token_id ^= 0x10000; /* an older registration of the same place */
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_TOKEN);
	w.token_id = 0xfffff;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_TOKEN);
	w = wr_of(CW_UBOE_OP_WRITE, g, local, 16);
	w.remote_addr = VA - 1;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_BOUNDS);
	w.remote_addr = VA + 49;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_BOUNDS);
	w.remote_addr = UINT64_MAX - 7;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_BOUNDS);
	w = wr_of(CW_UBOE_OP_READ, g, local, 16);
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_ACCESS);
	w = wr_of(CW_UBOE_OP_FETCH_ADD, g, local, 8);
	w.operand1 = &one;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_ACCESS);
	w.remote_addr = VA + 4;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_ALIGN);
	assert_memory_equal(mem, zero, sizeof(mem)); /* nothing was touched */
	w = wr_of(CW_UBOE_OP_WRITE, g, local, 16);
	w.remote_addr = VA + 48; /* up to the last octet */
	assert_int_equal(run(&s, &w).status, CW_UBOE_OK);
	assert_int_equal(mem[63], 0xff);
	assert_int_equal(mem[47], 0);
	sim_free(&s);
}

static void u7_4_notify_is_checked_before_writing(void **state)
{
	uint8_t mem[64] = {0}, zero[64] = {0}, local[16] = {1, 2, 3};
	struct cw_uboe_seg *g;
	struct cw_uboe_wr w;
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	g = seg(&s, mem, sizeof(mem), CW_UBOE_WRITE);
	w = wr_of(CW_UBOE_OP_WRITE_NOTIFY, g, local, 16);
	w.notify_addr = VA + 57;
	w.notify_token_id = w.token_id;
	w.notify_token_value = w.token_value;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_BOUNDS);
	w.notify_addr = VA + 56;
	w.notify_token_value++;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_TOKEN);
	assert_memory_equal(mem, zero, sizeof(mem));
	sim_free(&s);
}

static void u7_4_jetty_checks(void **state)
{
	struct cw_uboe_jetty_opts o = CW_UBOE_JETTY_OPTS;
	struct cw_uboe_jetty *guarded;
	struct cw_uboe_tjetty *to;
	uint8_t buf[64], big[65] = {0};
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = big, .len = 10};
	struct cw_uboe_cr cr;
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	o.token = true;
	o.token_value = 99;
	o.id = 5000;
	assert_int_equal(cw_uboe_jetty_new(s.dev[1], &o, &guarded), CW_OK);
	assert_int_equal(cw_uboe_jetty_new(s.dev[1], &o, &guarded), CW_E_CONFLICT);
	assert_int_equal(cw_uboe_post_recv(guarded, buf, sizeof(buf), 1), CW_OK);
	assert_int_equal(cw_uboe_import(s.jetty[0], s.tpg[0], 5000, 98, &to), CW_OK);
	s.to[0] = to;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_JETTY);
	assert_int_equal(cw_uboe_import(s.jetty[0], s.tpg[0], 5001, 99, &to), CW_OK);
	s.to[0] = to;
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_JETTY);
	assert_int_equal(cw_uboe_import(s.jetty[0], s.tpg[0], 5000, 99, &to), CW_OK);
	s.to[0] = to;
	w.len = 65; /* one more than the receive holds: both ends hear of it */
	refused(&s, &w, CW_UBOE_REMOTE, CW_UBOE_C_BAD_LENGTH);
	assert_int_equal(cw_uboe_poll(guarded, &cr, 1), 1);
	assert_int_equal(cr.status, CW_UBOE_LENGTH);
	assert_int_equal(cw_uboe_post_recv(guarded, buf, sizeof(buf), 1), CW_OK);
	w.len = 64;
	assert_int_equal(run(&s, &w).status, CW_UBOE_OK);
	sim_free(&s);
}

/* ---- Order -------------------------------------------------------------------------------- */

static void completions_in_order_when_asked(void **state)
{
	uint8_t mem[8] = {0}, buf[8];
	struct cw_uboe_wr send = {.op = CW_UBOE_OP_SEND, .user = 1, .local = "x", .len = 1};
	struct cw_uboe_wr w;
	struct cw_uboe_cr cr;
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	w = wr_of(CW_UBOE_OP_WRITE, seg(&s, mem, 8, CW_UBOE_WRITE), "12345678", 8);
	w.user = 2;
	assert_int_equal(cw_uboe_post(s.to[0], &send), CW_OK); /* has to wait for a receive */
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	w.user = 3;
	w.flags = CW_UBOE_IN_ORDER;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 200000);
	assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), 1);
	assert_int_equal(cr.user, 2);
	assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), 0);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 8, 0), CW_OK);
	assert_int_equal(sim_wait(&s, 0).user, 1);
	assert_int_equal(sim_wait(&s, 0).user, 3);
	sim_free(&s);
}

static void silent_work_has_no_completion(void **state)
{
	uint8_t mem[8] = {0};
	struct cw_uboe_cr cr;
	struct cw_uboe_wr w;
	struct sim s;
	unsigned i;

	sim_init(&s, 1, NULL, NULL);
	w = wr_of(CW_UBOE_OP_WRITE, seg(&s, mem, 8, CW_UBOE_WRITE), "12345678", 8);
	w.flags = CW_UBOE_SILENT;
	for (i = 0; i < 1000; i++) { /* more than send_depth: places come back */
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		if (i % 100 == 99)
			sim_run(&s, 200000);
	}
	assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), 0);
	w.token_value++;
	assert_int_equal(run(&s, &w).status, CW_UBOE_REMOTE); /* bad news is not silent */
	sim_free(&s);
}

static void closing_flushes(void **state)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	uint8_t buf[8];
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	cw_uboe_tp_close(s.tp[0]);
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_FLUSHED);
	sim_free(&s);
	sim_init(&s, 1, NULL, NULL); /* the other end hears of it */
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 8, 0), CW_OK);
	cw_uboe_tp_close(s.tp[1]);
	assert_int_equal(run(&s, &w).status, CW_UBOE_PEER_FAILED);
	sim_free(&s);
}

/* ---- Atomics (UB 2.0 7.4.2.3) ------------------------------------------------------------- */

static uint64_t atomic(struct sim *s, struct cw_uboe_seg *g, enum cw_uboe_op op,
		       enum cw_uboe_sub sub, uint64_t a, uint64_t b, uint32_t size)
{
	uint64_t old = 0;
	struct cw_uboe_wr w = wr_of(op, g, &old, size);

	w.operand1 = &a;
	w.operand2 = &b;
	w.sub = sub;
	assert_int_equal(run(s, &w).status, CW_UBOE_OK);
	return old;
}

static void u7_4_2_3_atomics(void **state)
{
	uint64_t m = 0x0123456789abcdef;
	struct cw_uboe_seg *g;
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	g = seg(&s, &m, 8, CW_UBOE_ATOMIC);
#define OP(op, sub, a, b, want)                                                            \
	do {                                                                               \
		uint64_t was = m;                                                          \
		uint64_t old = atomic(&s, g, CW_UBOE_OP_##op, CW_UBOE_SUB_##sub, a, b, 8); \
		assert_int_equal(old, CW_UBOE_OP_##op == CW_UBOE_OP_STORE ? 0 : was);      \
		assert_true(m == (uint64_t)(want));                                        \
	} while (0)
	OP(SWAP, ADD, 0x1122334455667788, 0, 0x1122334455667788);
	OP(CAS, ADD, 9, 8, 0x1122334455667788);
	OP(CAS, ADD, 9, 0x1122334455667788, 9);
	OP(FETCH_ADD, ADD, 0xfffffffffffffffe, 0, 7);
	OP(FETCH_SUB, ADD, 9, 0, -2);
	OP(FETCH_AND, ADD, 0xff00ff, 0, 0xff00fe);
	OP(FETCH_OR, ADD, 0x1000000, 0, 0x1ff00fe);
	OP(FETCH_XOR, ADD, 0xf, 0, 0x1ff00f1);
	OP(STORE, ADD, 0xf, 0, 0x1ff0100);
	OP(LOAD, CLR, 0x100, 0, 0x1ff0000);
	OP(STORE, XOR, 0x1, 0, 0x1ff0001);
	OP(LOAD, SET, 0xe, 0, 0x1ff000f);
	OP(STORE, SMAX, -1, 0, 0x1ff000f);
	OP(LOAD, UMAX, -1, 0, -1);
	OP(STORE, SMAX, 5, 0, 5);
	OP(LOAD, SMIN, -3, 0, -3);
	OP(STORE, UMIN, 12, 0, 12);
#undef OP
	atomic(&s, g, CW_UBOE_OP_FETCH_ADD, CW_UBOE_SUB_ADD, 0xff, 0, 1); /* no carry beyond */
	assert_true(m == 11);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u7_4_memory_checks),
		cmocka_unit_test(u7_4_notify_is_checked_before_writing),
		cmocka_unit_test(u7_4_jetty_checks),
		cmocka_unit_test(completions_in_order_when_asked),
		cmocka_unit_test(silent_work_has_no_completion),
		cmocka_unit_test(closing_flushes),
		cmocka_unit_test(u7_4_2_3_atomics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
