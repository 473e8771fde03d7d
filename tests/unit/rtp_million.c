/* rtp_million.c - a million messages under 5 % loss and heavy reordering; each comes once, whole.
 * With CW_FULL=1 ten million, by both ways of selective retransmission.
 */
#include "rtp_sim.h"

#define DEPTH 256

struct flow {
	struct sim s;
	uint8_t tx[DEPTH][128], rx[DEPTH][128];
	unsigned idle[DEPTH], nidle;
	uint8_t *seen;
	uint32_t n, sent, done, received;
};

static uint32_t length_of(uint32_t seq)
{
	return 8 + (seq * 2654435761u >> 20) % 120;
}

static void fill(uint8_t *p, uint32_t seq)
{
	memset(p, (int)(seq * 37 >> 3 & 0xff), length_of(seq));
	memcpy(p, &seq, 4);
}

static void post(struct flow *f)
{
	while (f->nidle > 0 && f->sent < f->n) {
		unsigned k = f->idle[--f->nidle];
		struct cw_uboe_wr wr = {.op = CW_UBOE_OP_SEND,
					.user = k,
					.local = f->tx[k],
					.len = length_of(f->sent)};

		fill(f->tx[k], f->sent);
		if (cw_uboe_post(f->s.to[0], &wr) != CW_OK) {
			f->idle[f->nidle++] = k;
			return;
		}
		f->sent++;
	}
}

static void take(struct flow *f, const struct cw_uboe_cr *cr)
{
	uint8_t want[128];
	uint32_t seq;

	assert_int_equal(cr->status, CW_UBOE_OK);
	memcpy(&seq, f->rx[cr->user], 4);
	assert_true(seq < f->n && !f->seen[seq]);
	f->seen[seq] = 1;
	fill(want, seq);
	assert_int_equal(cr->len, length_of(seq));
	assert_memory_equal(want, f->rx[cr->user], cr->len);
	f->received++;
	assert_int_equal(cw_uboe_post_recv(f->s.jetty[1], f->rx[cr->user], 128, cr->user), CW_OK);
}

static void poll_both(struct flow *f)
{
	struct cw_uboe_cr cr[32];
	unsigned i, n;

	while ((n = cw_uboe_poll(f->s.jetty[0], cr, 32)) > 0)
		for (i = 0; i < n; i++) {
			assert_int_equal(cr[i].status, CW_UBOE_OK);
			f->idle[f->nidle++] = (unsigned)cr[i].user;
			f->done++;
		}
	while ((n = cw_uboe_poll(f->s.jetty[1], cr, 32)) > 0)
		for (i = 0; i < n; i++)
			take(f, &cr[i]);
}

static void run(uint32_t n, bool fast)
{
	struct flow *f = calloc(1, sizeof(*f));
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	unsigned k;

	g.ta_retries = 0;
	t.mtu = 256;
	t.retries = 50;
	t.rto_base = 300000;
	t.fast = fast;
	sim_init(&f->s, 2026, &g, &t);
	f->n = n;
	f->seen = calloc(1, n);
	f->s.loss = 500;
	f->s.jitter = 40000;
	for (k = 0; k < DEPTH; k++) {
		f->idle[f->nidle++] = k;
		assert_int_equal(cw_uboe_post_recv(f->s.jetty[1], f->rx[k], 128, k), CW_OK);
	}
	while (f->done < n) {
		post(f);
		if (!sim_step(&f->s, UINT64_MAX - 1))
			poll_both(f), assert_int_equal(f->done, n);
		poll_both(f);
	}
	assert_int_equal(f->received, n);
	assert_true(cw_uboe_dev_count(f->s.dev[1], CW_UBOE_C_RX_OOO) > n / 4);
	print_message("# %u messages, %llu packets, %llu lost, %llu sent again, %.1f simulated s\n",
		      n, (unsigned long long)f->s.sent, (unsigned long long)f->s.lost,
		      (unsigned long long)cw_uboe_dev_count(f->s.dev[0], CW_UBOE_C_RTX),
		      1e-9 * (double)f->s.now);
	assert_true(cw_uboe_dev_count(f->s.dev[0], CW_UBOE_C_RTX) < n / 100 * 7);
	sim_free(&f->s);
	free(f->seen);
	free(f);
}

static bool full(void)
{
	const char *e = getenv("CW_FULL");

	return e != NULL && strcmp(e, "1") == 0;
}

/* Sanitizers make it ten times slower and find what they find in less. */
#if defined(__SANITIZE_ADDRESS__)
#define SCALE 10
#else
#define SCALE 1
#endif

/* What a network that spreads packets calls for: holes are repaired by timeout. */
static void million(void **state)
{
	run((full() ? 10000000 : 1000000) / SCALE, false);
}

/* A packet that is late is not taken for lost, though others overtake it. */
static void fast_retransmission(void **state)
{
	run((full() ? 10000000 : 100000) / SCALE, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(million),
		cmocka_unit_test(fast_retransmission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
