/* rtp_order.c - what order costs: strongly ordered work by every service, over one channel and over
 * four that take turns, with and without loss. The order itself is rtp_chaos.c's and rtp_model.c's
 * matter.
 */
#include "rtp_sim.h"

#define MESSAGES 2000
#define DEPTH    64
#define LEN      4096

struct work {
	enum cw_uboe_service service;
	unsigned flags, channels;
	unsigned loss;  /* of 10000 packets */
	unsigned reads; /* one of so many is a Read; 0: none */
};

struct cost {
	double us;                 /* simulated, a message */
	uint64_t refused, retried; /* transactions */
};

static uint8_t tx[LEN], into[LEN], memory[LEN], rx[256][LEN];

static void more_channels(struct sim *s, const struct cw_uboe_tp_opts *t, unsigned n)
{
	struct cw_uboe_tp *tp[2];
	int i;

	for (; n > 1; n--) {
		for (i = 0; i < 2; i++) {
			struct cw_uboe_tp_opts o = *t;

			sim_addr(o.src, 4, i);
			sim_addr(o.dst, 4, 1 - i);
			assert_int_equal(cw_uboe_tp_new(s->tpg[i], &o, &tp[i], NULL), CW_OK);
		}
		sim_connect(tp[0], tp[1]);
	}
}

static void set_up(struct sim *s, const struct work *w)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_seg_opts so = CW_UBOE_SEG_OPTS;
	struct cw_uboe_seg *seg;
	unsigned k;

	g.service = w->service;
	g.spread = CW_UBOE_BY_PACKET;
	g.ta_retries = 0;
	t.mtu = 1024;
	t.rto_base = 1000000;
	t.retries = 50;
	sim_init(s, 7, &g, &t);
	more_channels(s, &t, w->channels);
	s->loss = w->loss;
	s->jitter = 10000;
	so.access = CW_UBOE_READ;
	so.va = 0x1000;
	assert_int_equal(cw_uboe_seg_register(s->dev[1], memory, LEN, &so, &seg), CW_OK);
	s->arg = (void *)(uintptr_t)cw_uboe_seg_token_id(seg);
	for (k = 0; k < 256; k++)
		assert_int_equal(cw_uboe_post_recv(s->jetty[1], rx[k], LEN, k), CW_OK);
}

static void post(struct sim *s, const struct work *w, unsigned n)
{
	struct cw_uboe_wr wr = {.op = CW_UBOE_OP_SEND, .flags = w->flags, .local = tx, .len = LEN};

	if (w->reads != 0 && n % w->reads == 1) {
		wr.op = CW_UBOE_OP_READ;
		wr.local = into;
		wr.remote_addr = 0x1000;
		wr.token_id = (uint32_t)(uintptr_t)s->arg;
	}
	assert_int_equal(cw_uboe_post(s->to[0], &wr), CW_OK);
}

static unsigned take(struct sim *s)
{
	struct cw_uboe_cr cr;
	unsigned done = 0;

	for (; cw_uboe_poll(s->jetty[0], &cr, 1) == 1; done++)
		assert_int_equal(cr.status, CW_UBOE_OK);
	while (cw_uboe_poll(s->jetty[1], &cr, 1) == 1)
		assert_int_equal(cw_uboe_post_recv(s->jetty[1], rx[cr.user], LEN, cr.user), CW_OK);
	return done;
}

static struct cost cost_of(struct work w)
{
	unsigned sent = 0, done = 0;
	struct cost c;
	struct sim s;

	set_up(&s, &w);
	while (done < MESSAGES) {
		for (; sent < MESSAGES && sent - done < DEPTH; sent++)
			post(&s, &w, sent);
		assert_true(sim_step(&s, UINT64_MAX - 1));
		done += take(&s);
	}
	c.us = 1e-3 * (double)s.now / MESSAGES;
	c.refused = cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TA_RNR);
	c.retried = cw_uboe_dev_count(s.dev[0], CW_UBOE_C_TA_RETRY);
	sim_free(&s);
	return c;
}

static struct cost print(const char *what, struct work w)
{
	struct cost c = cost_of(w);

	print_message("# %s, %u channels, %.1f %% lost: %.1f us a message, %llu refused for now\n",
		      what, w.channels, w.loss / 100.0, c.us, (unsigned long long)c.refused);
	return c;
}

/* The target refuses what comes too early; what is sent by one channel never does. */
static void u7_3_rot_is_not_refused(void **state)
{
	struct work w = {CW_UBOE_ROT, CW_UBOE_STRONG, 1, 0, 0};
	struct cost one = print("ROT, strong", w), four;

	w.channels = 4;
	four = print("ROT, strong", w);
	assert_int_equal(one.refused, 0);
	assert_int_equal(four.refused, 0);
	assert_true(four.us < 1.5 * one.us);
}

/* Work without order and relaxed work use all channels, and cost the same in ROI and ROT. */
static void u7_3_relaxed_costs_nothing(void **state)
{
	unsigned flags, loss;

	for (flags = 0; flags <= CW_UBOE_RELAXED; flags++)
		for (loss = 0; loss <= 500; loss += 500) {
			struct cost roi = cost_of((struct work){CW_UBOE_ROI, flags, 4, loss, 0});
			struct cost rot = print(flags ? "ROT, relaxed" : "ROT, no order",
						(struct work){CW_UBOE_ROT, flags, 4, loss, 0});

			assert_int_equal(rot.refused, 0);
			assert_true(rot.us < 1.1 * roi.us && roi.us < 1.1 * rot.us);
		}
}

static void u7_3_rot_under_loss(void **state)
{
	struct work w = {CW_UBOE_ROT, CW_UBOE_STRONG, 1, 500, 0};
	struct cost one = print("ROT, strong", w), four;

	w.channels = 4;
	four = print("ROT, strong", w);
	assert_int_equal(four.refused, 0);
	assert_true(four.us < 2 * one.us);
}

/* A Read has been executed when its answer was acknowledged (decisions.md): the initiator waits
 * rather than have all that is behind it refused again and again. */
static void u7_3_rot_behind_reads(void **state)
{
	struct work w = {CW_UBOE_ROT, CW_UBOE_STRONG, 4, 0, 4};
	unsigned loss;

	for (loss = 0; loss <= 500; loss += 500) {
		struct cost c;

		w.loss = loss;
		c = print("ROT, strong, every fourth a Read", w);
		assert_true(c.retried < MESSAGES);
		assert_true(c.us < (loss == 0 ? 60 : 300));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u7_3_rot_is_not_refused),
		cmocka_unit_test(u7_3_relaxed_costs_nothing),
		cmocka_unit_test(u7_3_rot_under_loss),
		cmocka_unit_test(u7_3_rot_behind_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
