/* rtp_life.c - objects come and go while a device lives, and messages in pieces of memory. */
#include "rtp_sim.h"

static void one_send(struct sim *s, uint8_t value)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = &value, .len = 1};
	struct cw_uboe_cr cr;
	uint8_t got = 0;

	assert_int_equal(cw_uboe_post_recv(s->jetty[1], &got, 1, 0), CW_OK);
	assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
	assert_int_equal(sim_wait(s, 0).status, CW_UBOE_OK);
	assert_int_equal(cw_uboe_poll(s->jetty[1], &cr, 1), 1);
	assert_int_equal(cr.status, CW_UBOE_OK);
	assert_int_equal(got, value);
	sim_run(s, 1000000);
}

/* Everything of both ends goes and comes again, many times more often than there is room. */
static void all_of_it_again_and_again(void **state)
{
	static const enum cw_uboe_service services[] = {CW_UBOE_ROI, CW_UBOE_ROT, CW_UBOE_ROL,
							CW_UBOE_UNO};
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	unsigned n, k;
	struct sim s;
	int i;

	sim_init(&s, 3, NULL, NULL);
	for (n = 0; n < 600; n++) {
		struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;

		for (i = 0; i < 2; i++) {
			assert_int_equal(cw_uboe_unimport(s.to[i]), CW_OK);
			cw_uboe_tp_close(s.tp[i]);
			assert_int_equal(cw_uboe_tp_free(s.tp[i]), CW_OK);
			assert_int_equal(cw_uboe_jetty_free(s.jetty[i]), CW_OK);
			assert_int_equal(cw_uboe_tpg_free(s.tpg[i]), CW_OK);
		}
		g.service = services[n % 4];
		for (i = 0; i < 2; i++)
			sim_end(&s, i, &g, t);
		if (g.service != CW_UBOE_UNO)
			sim_connect(s.tp[0], s.tp[1]);
		for (i = 0; i < 2; i++)
			assert_int_equal(cw_uboe_import(s.jetty[i], s.tpg[i],
							cw_uboe_jetty_id(s.jetty[1 - i]), 0,
							&s.to[i]),
					 CW_OK);
		for (k = 0; k < 3; k++)
			one_send(&s, (uint8_t)(n + k));
	}
	sim_free(&s);
}

/* ROT: the peer goes on counting the transactions of an imported jetty that was let go. */
static void order_survives_a_new_import(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_wr w = {
		.op = CW_UBOE_OP_SEND, .local = "x", .len = 1, .flags = CW_UBOE_STRONG};
	uint8_t buf[2];
	struct sim s;
	unsigned n;

	g.service = CW_UBOE_ROT;
	sim_init(&s, 4, &g, NULL);
	for (n = 0; n < 200; n++) {
		assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 1, 0), CW_OK);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
		sim_run(&s, 100000);
		assert_int_equal(cw_uboe_unimport(s.to[0]), CW_OK);
		assert_int_equal(cw_uboe_import(s.jetty[0], s.tpg[0], cw_uboe_jetty_id(s.jetty[1]),
						0, &s.to[0]),
				 CW_OK);
	}
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TA_RNR), 0);
	sim_free(&s);
}

/* Nothing goes that is in use. */
static void in_use(void **state)
{
	static uint8_t big[8192];
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = big, .len = sizeof(big)};
	struct cw_uboe_cr cr;
	struct sim s;

	sim_init(&s, 5, NULL, NULL);
	assert_int_equal(cw_uboe_tp_free(s.tp[0]), CW_E_STATE);
	assert_int_equal(cw_uboe_tpg_free(s.tpg[0]), CW_E_STATE);
	assert_int_equal(cw_uboe_jetty_free(s.jetty[0]), CW_E_STATE);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], big, sizeof(big), 7), CW_OK);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	assert_int_equal(cw_uboe_unimport(s.to[0]), CW_E_STATE);
	cw_uboe_tp_close(s.tp[0]);
	assert_int_equal(cw_uboe_unimport(s.to[0]), CW_OK); /* it has ended */
	assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), 1);
	assert_int_equal(cr.status, CW_UBOE_FLUSHED);
	assert_int_equal(cw_uboe_tp_free(s.tp[0]), CW_OK);
	assert_int_equal(cw_uboe_tpg_free(s.tpg[0]), CW_OK);
	assert_int_equal(cw_uboe_jetty_free(s.jetty[0]), CW_OK);
	/* a packet for the channel that is gone */
	assert_int_equal(cw_uboe_unimport(s.to[1]), CW_OK);
	assert_int_equal(cw_uboe_jetty_free(s.jetty[1]), CW_OK); /* with a receive in it */
	sim_free(&s);
}

static void late_packets(void **state)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct sim s;

	sim_init(&s, 6, NULL, NULL);
	cw_uboe_tp_close(s.tp[1]);
	assert_int_equal(cw_uboe_tp_free(s.tp[1]), CW_OK);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 2000000);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_TPN), 1);
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_RETRIES);
	sim_free(&s);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

#define WHOLE 20000

/* Cuts `whole` octets at `at` into pieces of odd sizes, some of them empty. */
static unsigned cut(struct cw_uboe_sge *sge, uint8_t *at, uint32_t whole, unsigned seed)
{
	unsigned i;

	for (i = 0; i + 1 < CW_UBOE_SGE_MAX; i++) {
		uint32_t n = (i + seed) % 3 == 0 ? 0 : (seed * 977 + i * 1531) % 5000;

		n = n > whole ? whole : n;
		sge[i] = (struct cw_uboe_sge){n > 0 ? at : NULL, n};
		at += n;
		whole -= n;
	}
	sge[i] = (struct cw_uboe_sge){at, whole};
	return CW_UBOE_SGE_MAX;
}

/* Send, Write and Read, gathered here and scattered there, over packets of several sizes. */
static void in_pieces(void **state)
{
	uint8_t *from = malloc(WHOLE), *to = malloc(WHOLE);
	struct cw_uboe_seg_opts so = CW_UBOE_SEG_OPTS;
	unsigned n, i;

	for (i = 0; i < WHOLE; i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	for (n = 0; n < 60; n++) {
		static const enum cw_uboe_op ops[] = {CW_UBOE_OP_SEND, CW_UBOE_OP_WRITE,
						      CW_UBOE_OP_READ};
		struct cw_uboe_sge list[CW_UBOE_SGE_MAX], there[CW_UBOE_SGE_MAX];
		struct cw_uboe_wr w = {.op = ops[n % 3], .len = WHOLE, .sge = list};
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
		struct cw_uboe_seg *seg;
		struct sim s;

		t.mtu = 256u << n % 6;
		sim_init(&s, n, NULL, &t);
		s.loss = 200;
		memset(to, 0, WHOLE);
		so.access = CW_UBOE_READ | CW_UBOE_WRITE;
		so.va = 0x1000;
		assert_int_equal(cw_uboe_seg_register(s.dev[1], w.op == CW_UBOE_OP_READ ? from : to,
						      WHOLE, &so, &seg),
				 CW_OK);
		w.remote_addr = 0x1000;
		w.token_id = cw_uboe_seg_token_id(seg);
		w.nsge = cut(list, w.op == CW_UBOE_OP_READ ? to : from, WHOLE, n);
		assert_int_equal(
			cw_uboe_post_recv_sg(s.jetty[1], there, cut(there, to, WHOLE, n + 1), 0),
			CW_OK);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		memset(list, 0xee, sizeof(list)); /* it was copied */
		memset(there, 0xee, sizeof(there));
		assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
		assert_memory_equal(from, to, WHOLE);
		sim_free(&s);
	}
	free(from);
	free(to);
}

static void lists_that_are_none(void **state)
{
	uint64_t word, one = 1;
	struct cw_uboe_sge list[CW_UBOE_SGE_MAX + 1] = {{&word, 8}, {&word, 8}};
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .sge = list, .nsge = 2, .len = 15};
	struct sim s;

	sim_init(&s, 1, NULL, NULL);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_E_ARG); /* 16 octets */
	w.nsge = CW_UBOE_SGE_MAX + 1;
	w.len = 16;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_E_ARG);
	w.nsge = 2;
	list[1].addr = NULL;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_E_ARG);
	w = (struct cw_uboe_wr){
		.op = CW_UBOE_OP_FETCH_ADD, .sge = list, .nsge = 1, .len = 8, .operand1 = &one};
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_E_ARG);
	assert_int_equal(cw_uboe_post_recv_sg(s.jetty[0], list, 0, 0), CW_E_ARG);
	assert_int_equal(cw_uboe_post_recv_sg(s.jetty[0], NULL, 1, 0), CW_E_ARG);
	list[0].len = list[1].len = UINT32_MAX;
	list[1].addr = &word;
	assert_int_equal(cw_uboe_post_recv_sg(s.jetty[0], list, 2, 0), CW_E_RANGE);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_again_and_again),
		cmocka_unit_test(order_survives_a_new_import),
		cmocka_unit_test(in_use),
		cmocka_unit_test(late_packets),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(lists_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
