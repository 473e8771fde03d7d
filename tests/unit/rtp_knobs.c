/* rtp_knobs.c - what each parameter of congestion control does: DCQCN's rate (SIGCOMM 2015, 5) and
 * LDCP's window (docs/decisions.md), by arithmetic done here.
 */
#include "causeway/dcqcn.h"
#include "causeway/wire/ip.h"
#include "rtp_sim.h"

/* ---- DCQCN ---------------------------------------------------------------------------------- */

#define NEAR(a, b) assert_true((a) > (b) * (1 - 1e-9) && (a) < (b) * (1 + 1e-9))

static const struct cw_dcqcn_opts paper = {.line_rate = 40000000000,
					   .min_rate = 10000000,
					   .ai = 40000000,
					   .hai = 400000000,
					   .octets = 10485760,
					   .timer = 55000,
					   .alpha_timer = 33000,
					   .gap = 50000,
					   .alpha = 1,
					   .g = 8,
					   .f = 5};

static void dcqcn_alpha(void **state)
{
	struct cw_dcqcn_opts o = paper;
	struct cw_dcqcn d;

	o.alpha = 0.5;
	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 1000));
	NEAR(d.rate, 30e9);                           /* 1 - 0.5 / 2 */
	NEAR(d.alpha, 255.0 / 256 * 0.5 + 1.0 / 256); /* a mark weighs 2^-8 */
	o.g = 4;
	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 1000));
	NEAR(d.alpha, 15.0 / 16 * 0.5 + 1.0 / 16);
	cw_dcqcn_timers(&d, 1000 + 32999);
	NEAR(d.alpha, 15.0 / 16 * 0.5 + 1.0 / 16);
	cw_dcqcn_timers(&d, 1000 + 33000); /* fades after its own time, not after the rate's */
	NEAR(d.alpha, 15.0 / 16 * (15.0 / 16 * 0.5 + 1.0 / 16));
}

static void dcqcn_cuts(void **state)
{
	struct cw_dcqcn_opts o = paper;
	struct cw_dcqcn d;

	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 1000));
	assert_false(cw_dcqcn_cut(&d, 0.5, 1000 + 49999)); /* one in a gap */
	NEAR(d.rate, 20e9);
	assert_true(cw_dcqcn_cut(&d, 0.5, 1000 + 50000));
	o.min_rate = 35000000000;
	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 1000));
	NEAR(d.rate, 35e9); /* not below the least rate */
}

/* So many steps of the timer after a cut; the rate and the target by hand. */
static void climbs(struct cw_dcqcn_opts o, unsigned steps, bool octets)
{
	double rate = 20e9, target = 40e9;
	struct cw_dcqcn d;
	unsigned i;

	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 0));
	d.target = target = 30e9; /* room above */
	for (i = 1; i <= steps; i++) {
		if (octets) {
			cw_dcqcn_sent(&d, (uint32_t)o.octets - 1);
			NEAR(d.rate, rate); /* not yet */
			cw_dcqcn_sent(&d, 1);
		} else {
			cw_dcqcn_timers(&d, i * o.timer);
		}
		target += i > o.f ? (double)o.ai : 0;
		rate = (rate + target) / 2;
		NEAR(d.rate, rate);
	}
}

static void dcqcn_steps(void **state)
{
	struct cw_dcqcn_opts o = paper;
	struct cw_dcqcn d;
	double target;
	unsigned i;

	climbs(o, 9, false); /* fast recovery, then additive increase */
	climbs(o, 9, true);  /* the same by the byte counter */
	o.f = 2;
	o.ai = 7000000;
	o.timer = 1000;
	o.octets = 4096;
	climbs(o, 9, false);
	climbs(o, 9, true);
	/* both beyond fast recovery: hyper increase */
	cw_dcqcn_init(&d, &o);
	assert_true(cw_dcqcn_cut(&d, 0.5, 0));
	d.target = 1e9;
	for (i = 0; i < 3; i++)
		cw_dcqcn_sent(&d, 4096);
	cw_dcqcn_timers(&d, 2000);
	target = d.target;
	cw_dcqcn_timers(&d, 3000);
	NEAR(d.target, target + 400e6);
}

/* Packets that leave at `now`, without any time going by. */
static unsigned burst(struct sim *s, uint64_t now)
{
	uint8_t buf[SIM_PACKET];
	unsigned n = 0;

	while (cw_uboe_output(s->dev[0], buf, sizeof(buf), now, NULL) > 0)
		n++;
	return n;
}

/* A caller who is late sends what he missed, but no more than eight packets of it. */
static void dcqcn_paces(void **state)
{
	static uint8_t octets[100000];
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = octets, .len = sizeof(octets)};
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	uint64_t each = 170000; /* ns of a packet of 1 KB with its headers, 1088 octets */
	struct sim s;

	t.cc = CW_UBOE_CC_DCQCN;
	t.mtu = 1024;
	t.line_rate = 51200000;
	t.rto_base = 1000000000;
	sim_init(&s, 1, NULL, &t);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	assert_in_range(burst(&s, 100 * each), 1, 9); /* the rate's clock begins */
	assert_int_equal(burst(&s, 100 * each), 0);
	assert_int_equal(burst(&s, 101 * each + each / 2), 1);
	assert_in_range(burst(&s, 106 * each), 4, 5);
	assert_in_range(burst(&s, 200 * each), 8, 9);
	sim_free(&s);
}

/* ---- LDCP ----------------------------------------------------------------------------------- */

#define MTU 1024

static bool mark_next; /* the next data packet gets CE */

static bool mark_one(struct sim *s, int from, uint8_t *p, int *len)
{
	(void)len;
	(void)s;
	if (from == 0 && mark_next) {
		cw_ipv4_set_ecn(p, 3);
		cw_ipv4_set_checksum(p, cw_ipv4_compute(p));
		mark_next = false;
	}
	return true;
}

static struct cw_uboe_tp_opts ldcp_opts(void)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

	t.cc = CW_UBOE_CC_LDCP;
	t.mtu = MTU;
	t.window = 256;
	return t;
}

/* One packet there and its acknowledgement back. Returns the window then, octets. */
static uint64_t one(struct sim *s, bool marked)
{
	static uint8_t octets[MTU];
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = octets, .len = MTU};
	struct cw_uboe_tp_info info;
	static uint8_t into[MTU];

	mark_next = marked;
	assert_int_equal(cw_uboe_post_recv(s->jetty[1], into, MTU, 0), CW_OK);
	assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
	assert_int_equal(sim_wait(s, 0).status, CW_UBOE_OK);
	assert_int_equal(sim_wait(s, 1).status, CW_UBOE_OK);
	sim_run(s, 1000000);
	cw_uboe_tp_get_info(s->tp[0], &info);
	return info.cwnd;
}

/* TPH, BTAH, MTETAH, OFSTETAH, payload, ICRC, and its half in octets of a mark. */
#define PACKET (16 + 8 + 4 + 4 + MTU + 4)

static void u6_6_ldcp_parameters(void **state)
{
	struct cw_uboe_tp_opts t = ldcp_opts();
	struct sim s;
	uint64_t w;

	t.ldcp_start = 20;
	sim_init(&s, 1, NULL, &t);
	s.filter = mark_one;
	w = one(&s, false);
	assert_int_equal(w, 20 * MTU + PACKET); /* slow start: all of it */
	/* a mark takes half, and ends slow start; nothing is clear then */
	assert_int_equal(one(&s, true), w - PACKET / 2);
	w -= PACKET / 2;
	assert_int_equal(one(&s, false), w + PACKET * MTU / w);
	sim_free(&s);

	t.ldcp_slow_start = false;
	t.ldcp_ai = 300;
	t.ldcp_cut = 10;
	sim_init(&s, 1, NULL, &t);
	s.filter = mark_one;
	w = one(&s, false);
	assert_int_equal(w, 20 * MTU + 3 * PACKET * MTU / (20 * MTU));
	assert_in_range(one(&s, true), w - PACKET / 10 - 1, w - PACKET / 10 + 1);
	sim_free(&s);
}

static void u6_6_ldcp_bounds(void **state)
{
	struct cw_uboe_tp_opts t = ldcp_opts();
	struct sim s;
	unsigned i;

	t.ldcp_start = 4;
	t.ldcp_min = 3;
	t.ldcp_max = 6;
	sim_init(&s, 1, NULL, &t);
	s.filter = mark_one;
	for (i = 0; i < 10; i++)
		(void)one(&s, false);
	assert_int_equal(one(&s, false), 6 * (MTU + 128)); /* not above, with headers */
	for (i = 0; i < 40; i++)
		(void)one(&s, true);
	assert_int_equal(one(&s, true), 3 * MTU);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dcqcn_alpha),          cmocka_unit_test(dcqcn_cuts),
		cmocka_unit_test(dcqcn_steps),          cmocka_unit_test(dcqcn_paces),
		cmocka_unit_test(u6_6_ldcp_parameters), cmocka_unit_test(u6_6_ldcp_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
