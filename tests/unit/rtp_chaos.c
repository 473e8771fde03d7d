/* rtp_chaos.c - a bad network: everything is delivered once, unharmed, and everything ends. */
#include "rtp_sim.h"

#define DEPTH   64 /* posted at a time */
#define BUF     12288
#define COUNTER 0 /* where atomics count in the remote memory */

struct end {
	uint8_t *tx[DEPTH], *rx[DEPTH];
	uint32_t tx_seq[DEPTH];
	bool busy[DEPTH];
	uint8_t *seen; /* messages received, by number */
	uint32_t sent, done, received, next, failed;
	uint64_t added, old_sum, memory[8];
	uint64_t old[DEPTH];
	struct cw_uboe_seg *seg;
};

struct chaos {
	struct sim s;
	struct end e[2];
	uint32_t messages, max_len;
	bool ordered;
	unsigned flags;
};

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

static uint32_t message_len(const struct chaos *c, uint32_t seq)
{
	uint32_t h = mix(seq + 77);

	return 8 + (h % 4 == 0 ? h / 4 % (c->max_len - 8) : h / 4 % 120);
}

static void message_fill(const struct chaos *c, uint8_t *p, uint32_t seq)
{
	uint32_t n = message_len(c, seq), i;

	memcpy(p, &seq, 4);
	for (i = 4; i < n; i++)
		p[i] = (uint8_t)(seq + i * 7 + (i >> 8));
}

static void message_check(const struct chaos *c, const uint8_t *p, uint32_t len, uint32_t *seq)
{
	uint8_t *want = malloc(BUF);

	memcpy(seq, p, 4);
	assert_true(*seq < c->messages);
	message_fill(c, want, *seq);
	assert_int_equal(len, message_len(c, *seq));
	assert_memory_equal(p, want, len);
	free(want);
}

static void chaos_init(struct chaos *c, uint64_t seed, const struct cw_uboe_tpg_opts *g,
		       const struct cw_uboe_tp_opts *t)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	unsigned i, k;

	memset(c, 0, sizeof(*c));
	sim_init(&c->s, seed, g, t);
	c->messages = 1500;
	c->max_len = BUF;
	o.access = CW_UBOE_ATOMIC;
	for (i = 0; i < 2; i++) {
		c->e[i].seen = calloc(1, 2000000);
		assert_int_equal(
			cw_uboe_seg_register(c->s.dev[i], c->e[i].memory, 64, &o, &c->e[i].seg),
			CW_OK);
		for (k = 0; k < DEPTH; k++) {
			c->e[i].tx[k] = malloc(BUF);
			c->e[i].rx[k] = malloc(BUF);
			assert_int_equal(cw_uboe_post_recv(c->s.jetty[i], c->e[i].rx[k], BUF, k),
					 CW_OK);
		}
	}
}

static void chaos_free(struct chaos *c)
{
	unsigned i, k;

	sim_free(&c->s);
	for (i = 0; i < 2; i++) {
		free(c->e[i].seen);
		for (k = 0; k < DEPTH; k++) {
			free(c->e[i].tx[k]);
			free(c->e[i].rx[k]);
		}
	}
}

/* Every eighth message is a fetch and add of 1 to one word: what comes back must be each number
 * once, which only holds if no atomic ran twice. */
static void post_one(struct chaos *c, int i, unsigned k)
{
	static const uint64_t one = 1;
	struct end *e = &c->e[i];
	struct cw_uboe_wr wr = {.user = k, .flags = c->flags};

	if (e->sent % 8 == 7) {
		wr.op = CW_UBOE_OP_FETCH_ADD;
		wr.local = &e->old[k];
		wr.len = 8;
		wr.operand1 = &one;
		wr.remote_addr = cw_uboe_seg_va(c->e[1 - i].seg);
		wr.token_id = cw_uboe_seg_token_id(c->e[1 - i].seg);
	} else {
		message_fill(c, e->tx[k], e->sent);
		wr.op = CW_UBOE_OP_SEND;
		wr.local = e->tx[k];
		wr.len = message_len(c, e->sent);
	}
	e->tx_seq[k] = e->sent;
	assert_int_equal(cw_uboe_post(c->s.to[i], &wr), CW_OK);
	e->busy[k] = true;
	e->sent++;
}

static void on_recv(struct chaos *c, int i, const struct cw_uboe_cr *cr)
{
	struct end *e = &c->e[i];
	uint32_t seq;

	if (cr->status == CW_UBOE_OK) {
		message_check(c, e->rx[cr->user], cr->len, &seq);
		assert_int_equal(e->seen[seq], 0); /* not twice */
		e->seen[seq] = 1;
		e->received++;
		if (c->ordered)
			assert_true(seq >= e->next);
		e->next = seq + 1;
	}
	memset(e->rx[cr->user], 0xee, 16);
	assert_int_equal(cw_uboe_post_recv(c->s.jetty[i], e->rx[cr->user], BUF, cr->user), CW_OK);
}

static void on_sent(struct chaos *c, int i, const struct cw_uboe_cr *cr)
{
	struct end *e = &c->e[i];

	assert_true(e->busy[cr->user]);
	e->busy[cr->user] = false;
	e->done++;
	if (cr->status != CW_UBOE_OK) {
		e->failed++;
	} else if (cr->op == CW_UBOE_OP_FETCH_ADD) {
		e->added++;
		e->old_sum += e->old[cr->user];
	}
	memset(e->tx[cr->user], 0xdd, 16); /* ours again: a resent packet must not need it */
}

static void turn(struct chaos *c, int i)
{
	struct cw_uboe_cr cr;
	unsigned k;

	while (cw_uboe_poll(c->s.jetty[i], &cr, 1) == 1) {
		if (cr.op == CW_UBOE_OP_RECV)
			on_recv(c, i, &cr);
		else
			on_sent(c, i, &cr);
	}
	for (k = 0; k < DEPTH && c->e[i].sent < c->messages; k++) {
		if (!c->e[i].busy[k])
			post_one(c, i, k);
	}
}

static void chaos_run(struct chaos *c)
{
	uint64_t until = c->s.now + 3600000000000;

	do {
		turn(c, 0);
		turn(c, 1);
		if (c->e[0].done == c->messages && c->e[1].done == c->messages)
			return;
	} while (sim_step(&c->s, until));
	fail_msg("stuck: %u and %u of %u done", c->e[0].done, c->e[1].done, c->messages);
}

/* All went well: each message once, each addition once. */
static void chaos_verify(struct chaos *c)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct end *e = &c->e[i];

		assert_int_equal(e->failed, 0);
		assert_int_equal(e->received, c->messages - c->messages / 8);
		assert_int_equal(c->e[1 - i].memory[0], e->added);
		assert_int_equal(e->old_sum, e->added * (e->added - 1) / 2);
	}
}

static void bad_network(struct chaos *c)
{
	c->s.loss = 500;
	c->s.dup = 300;
	c->s.corrupt = 100;
	c->s.jitter = 60000;
}

static struct cw_uboe_tp_opts hard_opts(unsigned mode)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

	t.retx = (enum cw_uboe_retx)(mode & 1);
	t.fast = mode >> 1 & 1;
	t.mtu = 1024;
	t.rto_base = 500000;
	t.retries = 30;
	t.psn = 0xfffff0; /* wraps soon */
	t.rto_shift = 1;
	t.exponential = true;
	return t;
}

static void modes(enum cw_uboe_service service, unsigned flags, bool ordered)
{
	unsigned mode, cc;

	for (mode = 0; mode < 4; mode++)
		for (cc = 0; cc < 3; cc++) {
			struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
			struct cw_uboe_tp_opts t = hard_opts(mode);
			struct chaos c;

			g.service = service;
			g.ta_retries = 0;
			t.cc = (enum cw_uboe_cc)cc;
			chaos_init(&c, 1000 + mode * 3 + cc, &g, &t);
			c.messages = 400;
			c.flags = flags;
			c.ordered = ordered;
			bad_network(&c);
			chaos_run(&c);
			chaos_verify(&c);
			assert_true(cw_uboe_dev_count(c.s.dev[0], CW_UBOE_C_RTX) > 0);
			assert_true(cw_uboe_dev_count(c.s.dev[0], CW_UBOE_C_RX_DUP) > 0);
			assert_true(cw_uboe_dev_count(c.s.dev[0], CW_UBOE_C_BAD_ICRC) > 0);
			chaos_free(&c);
		}
}

static void roi_unordered(void **state)
{
	modes(CW_UBOE_ROI, 0, false);
}

static void roi_strong(void **state)
{
	modes(CW_UBOE_ROI, CW_UBOE_STRONG, true);
}

static void rot_strong(void **state)
{
	modes(CW_UBOE_ROT, CW_UBOE_STRONG, true);
}

static void rol(void **state)
{
	modes(CW_UBOE_ROL, 0, true);
}

/* Four channels, each transaction the next one's; packets spread over ports. */
static void group(enum cw_uboe_service service, unsigned flags)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = hard_opts(1);
	struct chaos c;
	unsigned i, k;

	g.spread = CW_UBOE_BY_PACKET;
	g.service = service;
	g.ta_retries = 0;
	t.sport_bits = 4;
	t.spray = CW_UBOE_BY_PACKET;
	chaos_init(&c, 55, &g, &t);
	for (k = 1; k < 4; k++) {
		struct cw_uboe_tp *tp[2];

		for (i = 0; i < 2; i++) {
			struct cw_uboe_tp_opts o = t;

			sim_addr(o.src, 4, (int)i);
			sim_addr(o.dst, 4, 1 - (int)i);
			assert_int_equal(cw_uboe_tp_new(c.s.tpg[i], &o, &tp[i], NULL), CW_OK);
		}
		sim_connect(tp[0], tp[1]);
	}
	bad_network(&c);
	c.flags = flags;
	c.ordered = flags != 0;
	chaos_run(&c);
	chaos_verify(&c);
	chaos_free(&c);
}

static void channels_unordered(void **state)
{
	group(CW_UBOE_ROI, 0);
}

static void channels_roi(void **state)
{
	group(CW_UBOE_ROI, CW_UBOE_STRONG);
}

static void channels_rot(void **state)
{
	group(CW_UBOE_ROT, CW_UBOE_STRONG);
}

/* Completions of what was sent; receives are not posted again. */
static void collect(struct chaos *c, int i)
{
	struct cw_uboe_cr cr;

	while (cw_uboe_poll(c->s.jetty[i], &cr, 1) == 1) {
		if (cr.op != CW_UBOE_OP_RECV)
			on_sent(c, i, &cr);
	}
}

/* The network breaks for good in the middle: every transaction ends all the same. */
static void partition(void **state)
{
	unsigned service;

	for (service = 0; service < 3; service++) {
		struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
		struct cw_uboe_tp_opts t = hard_opts(3);
		struct cw_uboe_tp_info info;
		struct chaos c;
		int i;

		g.service = (enum cw_uboe_service)service;
		t.retries = 7;
		chaos_init(&c, 9 + service, &g, &t);
		c.messages = 1000;
		c.s.jitter = 5000;
		while (c.e[0].done < 300) {
			turn(&c, 0);
			turn(&c, 1);
			assert_true(sim_step(&c.s, UINT64_MAX - 1));
		}
		c.s.cut = true;
		c.messages = c.e[0].sent > c.e[1].sent ? c.e[0].sent : c.e[1].sent;
		for (i = 0; i < 2; i++) {
			sim_run(&c.s, 10000000000);
			collect(&c, i);
			assert_int_equal(c.e[i].done, c.e[i].sent);
			cw_uboe_tp_get_info(c.s.tp[i], &info);
			assert_int_equal(info.state, CW_UBOE_TP_ERROR);
			assert_int_equal(info.reason, CW_UBOE_RETRIES);
		}
		assert_true(c.e[0].failed > 0);
		assert_false(sim_step(&c.s, UINT64_MAX - 1)); /* and then there is peace */
		chaos_free(&c);
	}
}

/* A partition that heals in time costs time only. */
static void partition_heals(void **state)
{
	struct cw_uboe_tp_opts t = hard_opts(1);
	struct chaos c;
	unsigned k;

	chaos_init(&c, 21, NULL, &t);
	for (k = 0; k < 20; k++) {
		c.s.cut = !c.s.cut;
		turn(&c, 0);
		turn(&c, 1);
		sim_run(&c.s, 3000000);
	}
	c.s.cut = false;
	chaos_run(&c);
	chaos_verify(&c);
	chaos_free(&c);
}

/* One end is gone and comes back with new numbers, or with the same ones: the other end's work
 * fails, nothing that it resends is taken for new work. */
static void restart(void **state)
{
	unsigned same;

	for (same = 0; same < 2; same++) {
		struct cw_uboe_tp_opts t = hard_opts(3), again = t;
		struct cw_uboe_tp_peer old, peer;
		struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
		struct chaos c;

		t.psn = UINT32_MAX;
		t.retries = 6;
		chaos_init(&c, 31 + same, NULL, &t);
		while (c.e[0].done < 200) {
			turn(&c, 0);
			turn(&c, 1);
			assert_true(sim_step(&c.s, UINT64_MAX - 1));
		}
		cw_uboe_tp_local(c.s.tp[1], &old);
		cw_uboe_tp_local(c.s.tp[0], &peer);
		cw_uboe_dev_free(c.s.dev[1]);
		sim_dev(&c.s, 1, 999);
		again.tpn = same ? old.tpn : 0;
		again.psn = UINT32_MAX;
		again.retries = 6;
		sim_end(&c.s, 1, &g, again);
		assert_int_equal(
			cw_uboe_tp_connect(c.s.tp[1], &(struct cw_uboe_tp_peer){.tpn = peer.tpn,
										.psn = 0x123456,
										.mtu = 1024,
										.window = 256}),
			CW_OK);
		c.messages = c.e[0].sent;
		c.e[1].done = c.messages;
		c.e[1].sent = c.messages;
		sim_run(&c.s, 100000000000);
		collect(&c, 0);
		assert_int_equal(c.e[0].done, c.e[0].sent);
		assert_true(c.e[0].failed > 0);
		assert_int_equal(cw_uboe_dev_count(c.s.dev[1], CW_UBOE_C_RX_DATA), 0);
		assert_int_equal(cw_uboe_dev_count(c.s.dev[1], CW_UBOE_C_ATOMIC), 0);
		chaos_free(&c);
	}
}

/* A new device in the place of end i, with the old channel's number or another one. */
static void reborn(struct chaos *c, int i, struct cw_uboe_tp_opts t, uint32_t tpn, uint64_t seed)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct end *e = &c->e[i];
	unsigned k;

	cw_uboe_dev_free(c->s.dev[i]);
	sim_dev(&c->s, i, seed);
	t.tpn = tpn;
	sim_end(&c->s, i, &g, t);
	o.access = CW_UBOE_ATOMIC;
	memset(e->memory, 0, sizeof(e->memory));
	assert_int_equal(cw_uboe_seg_register(c->s.dev[i], e->memory, 64, &o, &e->seg), CW_OK);
	memset(e->busy, 0, sizeof(e->busy));
	memset(e->seen, 0, c->messages);
	e->sent = e->done = e->received = e->next = e->failed = 0;
	e->added = e->old_sum = 0;
	for (k = 0; k < DEPTH; k++)
		assert_int_equal(cw_uboe_post_recv(c->s.jetty[i], e->rx[k], BUF, k), CW_OK);
}

/* Both ends are gone in the middle and come back, while packets of before are under way and more of
 * them come, twice and out of order: all that is posted from then on is done, once, and nothing
 * else. */
static void both_restart(void **state)
{
	unsigned same;

	for (same = 0; same < 2; same++) {
		struct cw_uboe_tp_opts t = hard_opts(3);
		struct cw_uboe_tp_peer old[2];
		struct chaos c;
		int i;

		chaos_init(&c, 61 + same, NULL, &t);
		bad_network(&c);
		c.s.jitter = 200000;
		while (c.e[0].done < 300) {
			turn(&c, 0);
			turn(&c, 1);
			assert_true(sim_step(&c.s, UINT64_MAX - 1));
		}
		assert_true(c.s.n > 0); /* old packets under way */
		for (i = 0; i < 2; i++)
			cw_uboe_tp_local(c.s.tp[i], &old[i]);
		c.messages = 600;
		t.psn = UINT32_MAX; /* random, as after any start */
		for (i = 0; i < 2; i++)
			reborn(&c, i, t, same ? old[i].tpn : 0, 700 + (uint64_t)i);
		sim_connect(c.s.tp[0], c.s.tp[1]);
		for (i = 0; i < 2; i++)
			assert_int_equal(cw_uboe_import(c.s.jetty[i], c.s.tpg[i],
							cw_uboe_jetty_id(c.s.jetty[1 - i]), 0,
							&c.s.to[i]),
					 CW_OK);
		chaos_run(&c);
		chaos_verify(&c);
		assert_true(cw_uboe_dev_count(c.s.dev[0],
					      same ? CW_UBOE_C_RX_INVALID : CW_UBOE_C_BAD_TPN) +
				    cw_uboe_dev_count(c.s.dev[0], CW_UBOE_C_RX_ACK_STALE) +
				    cw_uboe_dev_count(c.s.dev[0], CW_UBOE_C_RX_DUP) >
			    0); /* the old ones were seen, and refused */
		chaos_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roi_unordered),      cmocka_unit_test(roi_strong),
		cmocka_unit_test(rot_strong),         cmocka_unit_test(rol),
		cmocka_unit_test(channels_unordered), cmocka_unit_test(channels_roi),
		cmocka_unit_test(channels_rot),       cmocka_unit_test(partition),
		cmocka_unit_test(partition_heals),    cmocka_unit_test(restart),
		cmocka_unit_test(both_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
