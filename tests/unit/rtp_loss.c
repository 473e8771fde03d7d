/* rtp_loss.c - how much is sent again that need not be: loss, reordering, long queues, small
 * buffers, receivers that are not ready. What the receiver has twice was sent again for nothing.
 */
#include "rtp_sim.h"

#define LEN   16384
#define DEPTH 128

static uint64_t count(const struct sim *s, int i, enum cw_uboe_counter c)
{
	return cw_uboe_dev_count(s->dev[i], c);
}

static double per_cent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* So many Writes of 16 KB from end 0 to end 1, all with success. */
static void transfer(struct sim *s, unsigned writes)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_WRITE, .len = LEN, .remote_addr = 0x1000};
	uint8_t *from = calloc(1, LEN), *to = malloc(LEN);
	unsigned posted = 0, done = 0;
	struct cw_uboe_seg *seg;
	struct cw_uboe_cr cr;

	o.access = CW_UBOE_WRITE;
	o.va = 0x1000;
	assert_int_equal(cw_uboe_seg_register(s->dev[1], to, LEN, &o, &seg), CW_OK);
	w.local = from;
	w.token_id = cw_uboe_seg_token_id(seg);
	while (done < writes) {
		while (posted < writes && posted - done < DEPTH) {
			assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
			posted++;
		}
		cr = sim_wait(s, 0);
		assert_int_equal(cr.status, CW_UBOE_OK);
		done++;
	}
	sim_run(s, 10000000);
	free(from);
	free(to);
}

static void report(const struct sim *s, const char *what)
{
	print_message("# %s: %llu packets, %llu lost, %llu sent again (%.2f %%), %llu of them for "
		      "nothing, %.1f ms\n",
		      what, (unsigned long long)count(s, 0, CW_UBOE_C_TX_DATA),
		      (unsigned long long)s->lost, (unsigned long long)count(s, 0, CW_UBOE_C_RTX),
		      per_cent(count(s, 0, CW_UBOE_C_RTX), count(s, 0, CW_UBOE_C_TX_DATA)),
		      (unsigned long long)count(s, 1, CW_UBOE_C_RX_DUP), (double)s->now / 1e6);
}

static struct cw_uboe_tp_opts opts(bool fast)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

	t.mtu = 1024;
	t.fast = fast;
	return t;
}

/* A network that delays each packet by 10 to 110 us: no packet is lost, none is sent again. */
static void reordering_is_no_loss(void **state)
{
	unsigned n;

	for (n = 0; n < 6; n++) {
		bool fast = n & 1;
		struct cw_uboe_tp_opts t = opts(fast);
		struct sim s;

		sim_init(&s, 11 + n, NULL, &t);
		s.jitter = 100000;
		transfer(&s, 2000);
		report(&s, fast ? "reordering, fast" : "reordering");
		assert_true(count(&s, 1, CW_UBOE_C_RX_OOO) > 10000);
		assert_int_equal(count(&s, 0, CW_UBOE_C_RTX), 0);
		assert_int_equal(count(&s, 1, CW_UBOE_C_RX_DUP), 0);
		sim_free(&s);
	}
}

/* What UB 2.0 6.4.2.3 has, a hole is a loss, is there for who wants it. */
static void without_patience_it_is(void **state)
{
	static const struct {
		unsigned loss;
		uint64_t jitter;
		const char *what;
	} networks[] = {
		{0, 100000, "reordering, reorder_delay 0"},
		{500, 40000, "5 % loss and reordering, reorder_delay 0"},
	};
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct cw_uboe_tp_opts t = opts(true);
		struct sim s;

		t.reorder_delay = 0;
		t.retries = 50;
		sim_init(&s, 11, NULL, &t);
		s.loss = networks[i].loss;
		s.jitter = networks[i].jitter;
		transfer(&s, 2000);
		report(&s, networks[i].what);
		assert_true(count(&s, 0, CW_UBOE_C_RTX) > count(&s, 0, CW_UBOE_C_TX_DATA) / 2);
		sim_free(&s);
	}
}

/* 5 % of all packets lost, answers too: what is sent again is hardly more than what was lost. */
static void five_percent_loss(void **state)
{
	unsigned fast, jitter;

	for (fast = 0; fast < 2; fast++) {
		for (jitter = 0; jitter <= 40000; jitter += 40000) {
			struct cw_uboe_tp_opts t = opts(fast);
			struct sim s;

			t.retries = 50;
			t.rto_base = 300000;
			sim_init(&s, 12 + fast, NULL, &t);
			s.loss = 500;
			s.jitter = jitter;
			transfer(&s, 2000);
			report(&s, fast ? "5 % loss, fast" : "5 % loss");
			/* 5 lost of 100 and of what replaces them: 5.3; the rest are lost answers
			 */
			assert_true(per_cent(count(&s, 0, CW_UBOE_C_RTX),
					     count(&s, 0, CW_UBOE_C_TX_DATA)) < 7);
			assert_true(per_cent(count(&s, 1, CW_UBOE_C_RX_DUP),
					     count(&s, 0, CW_UBOE_C_TX_DATA)) < 1);
			sim_free(&s);
		}
	}
}

/* A line of 20 Mb/s with a buffer that never ends: a window takes 110 ms, the RTO begins at 1. */
static void a_long_queue_is_no_loss(void **state)
{
	unsigned mode;

	for (mode = 0; mode < 4; mode++) {
		struct cw_uboe_tp_opts t = opts(mode & 1);
		struct sim s;

		t.retx = mode & 2 ? CW_UBOE_SELECTIVE : CW_UBOE_GBN;
		t.rto_base = 1000000;
		sim_init(&s, 13, NULL, &t);
		s.rate = 20000000;
		s.buffer = UINT64_MAX;
		transfer(&s, 100);
		report(&s, "queue of 110 ms");
		assert_true(per_cent(count(&s, 0, CW_UBOE_C_RTX), count(&s, 0, CW_UBOE_C_TX_DATA)) <
			    3);
		sim_free(&s);
	}
}

/* A window of 1024 packets against a buffer of 64 at the bottleneck: the sender learns to put in
 * what fits, and the line stays busy. */
static void a_small_buffer(void **state)
{
	unsigned mode, limited;
	double share[2], busy; /* Gb/s */

	for (mode = 0; mode < 2; mode++) {
		for (limited = 0; limited < 2; limited++) {
			struct cw_uboe_tp_opts t = opts(mode);
			struct sim s;

			t.window = t.reorder = 1024;
			t.loss_limit = limited ? 10 : 0;
			sim_init(&s, 14, NULL, &t);
			s.rate = 1000000000;
			s.buffer = 64 * 1100;
			transfer(&s, 1000);
			report(&s,
			       limited ? "buffer of 64 packets" : "the same without loss_limit");
			share[limited] = per_cent(count(&s, 0, CW_UBOE_C_RTX),
						  count(&s, 0, CW_UBOE_C_TX_DATA));
			busy = 1000.0 * LEN * 8 / ((double)s.now - 10e6);
			sim_free(&s);
		}
		assert_true(share[1] < (mode ? 12 : 20));
		assert_true(share[0] > 4 * share[1]);
		assert_true(mode == 0 || busy > 0.8);
	}
}

/* Everything is lost for a while: one packet asks again, not the window. */
static void a_blackout(void **state)
{
	struct cw_uboe_tp_opts t = opts(true);
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .len = 200000};
	uint8_t *buf = calloc(2, 200000);
	struct sim s;

	w.local = buf;
	sim_init(&s, 15, NULL, &t);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf + 200000, 200000, 0), CW_OK);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	s.cut = true;
	sim_run(&s, 20000000);
	assert_in_range(count(&s, 0, CW_UBOE_C_RTX), 1, 3);
	s.cut = false;
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
	assert_int_equal(count(&s, 1, CW_UBOE_C_RX_DUP), 0);
	assert_true(count(&s, 0, CW_UBOE_C_RTX) < 196 + 4);
	sim_free(&s);
	free(buf);
}

/* ROL, and a receive for every second message only: what came behind the refused packet is kept
 * there and not sent again. */
static void rnr_repeats_one_packet(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = opts(true);
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	uint8_t buf[64];
	struct cw_uboe_cr cr;
	struct sim s;
	unsigned i;

	g.service = CW_UBOE_ROL;
	sim_init(&s, 16, &g, &t);
	for (i = 0; i < 64; i++)
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	for (i = 0; i < 64; i++) {
		sim_run(&s, 500000);
		assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf + i, 1, i), CW_OK);
	}
	for (i = 0; i < 64; i++)
		assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
	for (i = 0; i < 64; i++) {
		assert_int_equal(cw_uboe_poll(s.jetty[1], &cr, 1), 1);
		assert_int_equal(cr.user, i);
	}
	report(&s, "a receive now and then");
	assert_true(count(&s, 1, CW_UBOE_C_TX_RNR) >= 32);
	assert_true(count(&s, 0, CW_UBOE_C_RTX) <= count(&s, 1, CW_UBOE_C_TX_RNR));
	assert_int_equal(count(&s, 1, CW_UBOE_C_RX_DUP), 0);
	sim_free(&s);
}

static uint64_t last_rto(const struct sim *s)
{
	struct cw_uboe_tp_info info;

	cw_uboe_tp_get_info(s->tp[0], &info);
	return info.rto;
}

/* The RTO is what was asked for until round trips are longer, and stays so when told to. */
static void rto_follows_the_round_trip(void **state)
{
	unsigned adaptive;

	for (adaptive = 0; adaptive < 2; adaptive++) {
		struct cw_uboe_tp_opts t = opts(true);
		struct sim s;

		t.rto_base = 1000000;
		t.rto_adaptive = adaptive;
		t.retries = 1000;
		sim_init(&s, 17, NULL, &t);
		assert_int_equal(last_rto(&s), 1000000);
		transfer(&s, 10);
		assert_int_equal(last_rto(&s), 1000000);
		s.delay = 30000000;
		transfer(&s, 100);
		if (adaptive)
			assert_true(last_rto(&s) > 60000000);
		else
			assert_int_equal(last_rto(&s), 1000000);
		sim_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reordering_is_no_loss),
		cmocka_unit_test(without_patience_it_is),
		cmocka_unit_test(five_percent_loss),
		cmocka_unit_test(a_long_queue_is_no_loss),
		cmocka_unit_test(a_small_buffer),
		cmocka_unit_test(a_blackout),
		cmocka_unit_test(rnr_repeats_one_packet),
		cmocka_unit_test(rto_follows_the_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
