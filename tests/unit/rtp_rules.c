/* rtp_rules.c - each rule of the transport by itself: retries, answers, windows, marks. Names begin
 * with the clause of UB 2.0 (u) or of the draft (s).
 */
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "rtp_rules.h"

/* ---- RNR and page faults ------------------------------------------------------------------ */

/* ROI and ROT: the transaction layer sends anew; ROL: the transport waits. Either ends well when a
 * receive is posted in time, and as RNR when none ever is. */
static void u6_2_1_rnr(void **state)
{
	unsigned service, ever;

	for (service = 0; service < 3; service++)
		for (ever = 0; ever < 2; ever++) {
			struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
			struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
			uint8_t buf[8], out[6000] = "hello";
			struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = out, .len = 5};
			struct sim s;

			g.service = (enum cw_uboe_service)service;
			g.ta_retries = 20;
			t.rnr_retries = 20;
			sim_init(&s, 1, &g, &t);
			assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
			sim_run(&s, 500000);
			if (ever)
				assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 8, 0), CW_OK);
			assert_int_equal(sim_wait(&s, 0).status, ever ? CW_UBOE_OK : CW_UBOE_RNR);
			assert_true(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TA_RNR) > 0);
			assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RX_RNR) > 0,
					 service == CW_UBOE_ROL);
			assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_TA_RETRY) > 0,
					 service != CW_UBOE_ROL);
			assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RTO), 0);
			sim_free(&s);
		}
}

static void u6_2_1_page_fault(void **state)
{
	unsigned service;

	for (service = 0; service < 3; service++) {
		struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
		uint64_t word = 7, one = 1, old = 0;
		struct cw_uboe_seg *m;
		struct cw_uboe_wr w;
		struct sim s;

		g.service = (enum cw_uboe_service)service;
		sim_init(&s, 1, &g, NULL);
		m = seg(&s, &word, 8, CW_UBOE_ATOMIC);
		cw_uboe_seg_set_present(m, false);
		w = wr_of(CW_UBOE_OP_FETCH_ADD, m, &old, 8);
		w.operand1 = &one;
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		sim_run(&s, 1000000);
		assert_true(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TA_FAULT) > 1);
		assert_int_equal(word, 7);
		cw_uboe_seg_set_present(m, true);
		assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
		assert_int_equal(old, 7);
		assert_int_equal(word, 8); /* once */
		sim_free(&s);
	}
}

/* A wait longer than a timeout is bridged by fake packets, and none of them is executed. */
static void u6_5_fake_packets_keep_alive(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct cw_uboe_tp_info info;
	uint8_t buf[8];
	struct sim s;

	g.service = CW_UBOE_ROL;
	g.rnr_timer = 19; /* a second */
	t.rto_base = 1000000;
	sim_init(&s, 1, &g, &t);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 900000000);
	assert_true(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_TX_FAKE) > 2);
	assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_TX_FAKE),
			 cw_uboe_dev_count(s.dev[1], CW_UBOE_C_RX_FAKE));
	assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RTO), 0);
	cw_uboe_tp_get_info(s.tp[0], &info);
	assert_int_equal(info.state, CW_UBOE_TP_READY);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 8, 0), CW_OK);
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
	sim_free(&s);
}

/* ---- Answers ------------------------------------------------------------------------------ */

struct tally {
	unsigned data, acks, naks, sacks, cnps, taacks, with_cetph, a_bits, fakes;
	unsigned ports, last_port;
	int drop_nth; /* data packet of end 0 to be lost, from 1; 0: none */
	uint32_t ecn, mark;
};

static const uint8_t *tph_of(const uint8_t *p)
{
	return p + 28; /* IPv4 */
}

/* Counts what passes; loses one data packet; marks data of end 0 with CE. */
static bool tap(struct sim *s, int from, uint8_t *p, int *len)
{
	struct tally *y = s->arg;
	const uint8_t *h = tph_of(p);
	uint32_t op = cw_rtph_opcode(h);

	if (from == 0 && op == CW_TP_RTP) {
		y->data++;
		y->ecn = cw_ipv4_ecn(p);
		y->a_bits += cw_rtph_a(h);
		y->fakes += cw_rtph_f(h);
		y->ports += cw_udp_sport(p + 20) != y->last_port;
		y->last_port = cw_udp_sport(p + 20);
		if ((int)y->data == y->drop_nth)
			return false;
		if (y->mark) {
			cw_ipv4_set_ecn(p, 3);
			cw_ipv4_set_checksum(p, cw_ipv4_compute(p));
		}
	}
	if (from == 1) {
		y->acks += op == CW_TP_ACK || op == CW_TP_ACK_CC;
		y->with_cetph += op == CW_TP_ACK_CC || op == CW_TP_SACK_CC;
		y->naks += (op == CW_TP_ACK || op == CW_TP_ACK_CC) && cw_rtph_rspst(h) == 3 &&
			   cw_rtph_rspinfo(h) == 0;
		y->sacks += op == CW_TP_SACK || op == CW_TP_SACK_CC;
		y->cnps += op == CW_TP_CNP;
		y->taacks += op == CW_TP_RTP && h[16] == CW_TA_ACK;
	}
	return true;
}

static void writes(struct sim *s, unsigned n, uint32_t len, uint8_t *mem)
{
	uint8_t *local = calloc(1, len);
	struct cw_uboe_seg *g = seg(s, mem, len, CW_UBOE_WRITE);
	unsigned i;

	for (i = 0; i < n; i++) {
		struct cw_uboe_wr w = wr_of(CW_UBOE_OP_WRITE, g, local, len);

		assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
	}
	for (i = 0; i < n; i++)
		assert_int_equal(sim_wait(s, 0).status, CW_UBOE_OK);
	free(local);
}

static struct tally tallied(const struct cw_uboe_tpg_opts *g, const struct cw_uboe_tp_opts *t,
			    struct tally y, unsigned n, uint32_t len, struct sim *s)
{
	uint8_t *mem = malloc(len);

	sim_init(s, 77, g, t);
	s->filter = tap;
	s->arg = &y;
	writes(s, n, len, mem);
	sim_run(s, 1000000);
	s->filter = NULL;
	free(mem);
	return y;
}

static void u7_2_2_taack_aggregation(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct sim s;
	struct tally y = tallied(&g, NULL, (struct tally){0}, 64, 100, &s);

	assert_int_equal(y.taacks, 2); /* 32 each */
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TAACK_MERGED), 62);
	sim_free(&s);
	g.taack_max = 1;
	y = tallied(&g, NULL, (struct tally){0}, 64, 100, &s);
	assert_int_equal(y.taacks, 64);
	sim_free(&s);
}

/* Packets far apart in time: without the A bit one TPACK serves many, or the delay brings it. */
static void u6_4_acks_are_coalesced_and_a_asks(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct sim s;
	struct tally y;

	t.mtu = 256;
	y = tallied(NULL, &t, (struct tally){0}, 1, 256 * 200, &s);
	assert_int_equal(y.data, 200);
	assert_true(y.a_bits >= 3 && y.a_bits <= 6); /* one a quarter of the window, and the last */
	assert_true(y.acks <= 6);
	assert_int_equal(y.naks, 0);
	assert_int_equal(y.with_cetph, 0);
	sim_free(&s);
	t.cc = CW_UBOE_CC_LDCP;
	y = tallied(NULL, &t, (struct tally){0}, 1, 256 * 20, &s);
	assert_int_equal(y.with_cetph, y.acks);
	assert_true(y.acks > 0);
	sim_free(&s);
}

/* UB 2.0 6.4.2: the four ways to repair one loss; LDCP has a CETPH in every answer. */
static void u6_4_2_one_loss(void **state)
{
	unsigned mode;

	for (mode = 0; mode < 8; mode++) {
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
		bool gbn = (mode & 1) == 0, fast = mode >> 1 & 1, ldcp = mode >> 2;
		struct tally y;
		struct sim s;

		t.cc = ldcp ? CW_UBOE_CC_LDCP : CW_UBOE_CC_NONE;
		t.ldcp_start = 64;
		t.retx = gbn ? CW_UBOE_GBN : CW_UBOE_SELECTIVE;
		t.fast = fast;
		t.mtu = 256;
		y = tallied(NULL, &t, (struct tally){.drop_nth = 10}, 1, 256 * 40, &s);
		assert_int_equal(y.naks, gbn && fast ? 1 : 0);
		assert_int_equal(y.sacks > 0, !gbn);
		assert_int_equal(y.with_cetph, ldcp ? y.acks + y.sacks : 0);
		assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RTO), fast ? 0 : 1);
		/* go back: all from the loss on; selective: the one */
		assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RTX), gbn ? 31 : 1);
		sim_free(&s);
	}
}

static bool swallow(struct sim *s, int from, uint8_t *p, int *len)
{
	(void)p;
	(void)len;
	*(unsigned *)s->arg += from == 0;
	return false;
}

/* Packets that leave while nothing is answered. */
static unsigned flight_of(struct cw_uboe_tp_opts t, uint32_t peer_window)
{
	static uint8_t octets[256 * 3000];
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = octets, .len = sizeof(octets)};
	struct cw_uboe_tp_peer peer;
	struct cw_uboe_tp *tp;
	unsigned n = 0;
	struct sim s;

	sim_init(&s, 1, NULL, &t);
	s.filter = swallow;
	s.arg = &n;
	cw_uboe_tp_close(s.tp[0]); /* a channel in its place, to a peer with that window */
	sim_addr(t.src, 4, 0);
	sim_addr(t.dst, 4, 1);
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, NULL), CW_OK);
	cw_uboe_tp_local(s.tp[1], &peer);
	peer.window = peer_window;
	assert_int_equal(cw_uboe_tp_connect(tp, &peer), CW_OK);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 500000); /* less than a timeout */
	sim_free(&s);
	return n;
}

/* UB 2.0 6.3: no more in flight than the window of either end; selective: than the peer keeps. */
static void u6_3_flight_is_the_window(void **state)
{
	uint32_t window;

	for (window = 128; window <= 2048; window *= 2) {
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

		t.mtu = 256;
		t.window = window;
		t.reorder = window < 1024 ? window : 1024;
		t.retx = CW_UBOE_GBN;
		assert_int_equal(flight_of(t, 2048), window);
		assert_int_equal(flight_of(t, 128), 128);
		t.retx = CW_UBOE_SELECTIVE;
		assert_int_equal(flight_of(t, 2048), t.reorder - 1);
	}
}

static void u6_5_rto_backs_off(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	unsigned exponential;

	t.rto_base = 20000000;
	t.retries = 3;
	t.rto_shift = 3;
	for (exponential = 0; exponential < 2; exponential++) {
		struct sim s;

		t.exponential = exponential;
		sim_init(&s, 1, NULL, &t);
		s.cut = true;
		assert_int_equal(run(&s, &w).status, CW_UBOE_RETRIES);
		/* 20 + 160 + 1280 + 10240 ms, or four times 20 */
		assert_int_equal(s.now / 1000000, exponential ? 11700 : 80);
		assert_int_equal(s.sent, 4);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_E_STATE);
		sim_free(&s);
	}
}

/* The TAACK comes, is acknowledged, and is for a transaction that nobody began. */
static bool misname(struct sim *s, int from, uint8_t *p, int *len)
{
	uint8_t *ta = p + 28 + CW_SIZE_RTPH;

	(void)s;
	if (from == 1 && cw_rtph_opcode(p + 28) == CW_TP_RTP) {
		cw_atah_set_tassn(ta, cw_atah_tassn(ta) + 100);
		assert_int_equal(cw_icrc_put(p, (size_t)*len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	}
	return true;
}

/* A peer that acknowledges, fake packets too, and does not answer: the transaction ends all the
 * same. */
static void an_answer_that_never_comes(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	uint8_t buf[8];
	struct cw_uboe_cr cr;
	struct sim s;
	unsigned k;

	for (k = 0; k < 2; k++) {
		t.answer_timeout = k == 0 ? 3000000000 : 0;
		sim_init(&s, 1, NULL, &t);
		s.filter = misname;
		assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 8, 0), CW_OK);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		sim_run(&s, 2900000000);
		assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), 0);
		sim_run(&s, 300000000);
		assert_int_equal(cw_uboe_poll(s.jetty[0], &cr, 1), k == 0);
		assert_true(k == 1 || cr.status == CW_UBOE_RETRIES);
		assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_TA_STRAY), 1);
		sim_free(&s);
	}
}

/* ---- PSN classes (UB 2.0 6.3) ------------------------------------------------------------- */

static int32_t shift_psn; /* of data from end 0 */

static bool shift(struct sim *s, int from, uint8_t *p, int *len)
{
	uint8_t *h = p + 28;

	if (from != 0 || cw_rtph_opcode(h) != CW_TP_RTP || shift_psn == 0)
		return true;
	cw_rtph_set_psn(h, (cw_rtph_psn(h) + (uint32_t)shift_psn) & 0xffffff);
	assert_int_equal(cw_icrc_put(p, (size_t)*len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	return true;
}

static void class_of(int32_t d, enum cw_uboe_counter want)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	static const enum cw_uboe_counter all[] = {CW_UBOE_C_RX_DATA, CW_UBOE_C_RX_OOO,
						   CW_UBOE_C_RX_OOO_DROP, CW_UBOE_C_RX_DUP,
						   CW_UBOE_C_RX_INVALID};
	struct sim s;
	unsigned i;

	sim_init(&s, 5, NULL, NULL);
	s.filter = shift;
	shift_psn = d;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 50000);
	for (i = 0; i < 5; i++)
		assert_int_equal(cw_uboe_dev_count(s.dev[1], all[i]), all[i] == want);
	if (want == CW_UBOE_C_RX_INVALID) /* no answer */
		assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TX), 0);
	if (want == CW_UBOE_C_RX_DUP)
		assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_TX_ACK), 1);
	sim_free(&s);
}

static void u6_3_psn_classes(void **state)
{
	class_of(0, CW_UBOE_C_RX_DATA);
	class_of(1, CW_UBOE_C_RX_OOO);
	class_of(254, CW_UBOE_C_RX_OOO);
	class_of(255, CW_UBOE_C_RX_OOO_DROP);
	class_of(256, CW_UBOE_C_RX_OOO_DROP);
	class_of(257, CW_UBOE_C_RX_INVALID);
	class_of(0x7fffff, CW_UBOE_C_RX_INVALID);
	class_of(0x800000, CW_UBOE_C_RX_DUP);
	class_of(-1, CW_UBOE_C_RX_DUP);
}

/* ---- Congestion (draft 5.2.2, UB 2.0 6.6) ------------------------------------------------- */

static void s5_2_2_ce_is_reported_as_severe_and_paced(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tp_info info;
	struct tally y;
	struct sim s;

	t.cc = CW_UBOE_CC_DCQCN;
	t.mtu = 256;
	t.line_rate = 1000000000;
	y = tallied(NULL, &t, (struct tally){.mark = 1}, 1, 256 * 200, &s);
	assert_int_equal(y.ecn, 2); /* ECT(0) */
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_CE), 200);
	assert_true(y.cnps >= 2 && y.cnps < 200 && y.cnps <= s.now / 50000 + 1); /* paced */
	assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RX_CNP), y.cnps);
	assert_true(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_CUT) > 0);
	cw_uboe_tp_get_info(s.tp[0], &info);
	assert_true(info.rate < 900000000);
	sim_run(&s, 1000000000); /* and comes back */
	cw_uboe_tp_get_info(s.tp[0], &info);
	assert_int_equal(info.rate, 1000000000);
	sim_free(&s);
}

/* ECN of IPv4 and IPv6, FECN of native UB: of the last data packet and of the last TPACK. */
struct ecn_seen {
	enum cw_uboe_form form;
	unsigned version;
	uint32_t data, answer;
};

static bool see_ecn(struct sim *s, int from, uint8_t *p, int *len)
{
	struct ecn_seen *e = s->arg;
	uint32_t ecn = e->form == CW_UBOE_FORM_NATIVE ? cw_cci_fecn_fecn(p + CW_SIZE_LPH)
		       : e->version == 4              ? cw_ipv4_ecn(p)
						      : cw_ipv6_ecn(p);
	const uint8_t *tph = p + (e->form == CW_UBOE_FORM_NATIVE ? 10 : 0) + CW_SIZE_UDP +
			     (e->version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6);

	(void)from;
	(void)len;
	if (cw_rtph_opcode(tph) == CW_TP_RTP)
		e->data = ecn;
	else
		e->answer = ecn;
	return true;
}

static struct ecn_seen ecn_of(enum cw_uboe_form form, unsigned version, unsigned ect)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct ecn_seen e = {form, version, 99, 99};
	struct sim s;

	t.form = form;
	t.ip_version = (uint8_t)version;
	t.ect = (uint8_t)ect;
	sim_init(&s, 1, NULL, &t);
	s.filter = see_ecn;
	s.arg = &e;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 25000); /* the data there and the TPACK back */
	sim_free(&s);
	return e;
}

/* Data can be marked, as 01 or 10; what answers it cannot: nobody slows down for it. */
static void s4_1_ect_is_set_on_data(void **state)
{
	unsigned version, ect;

	for (version = 4; version <= 6; version += 2)
		for (ect = 0; ect <= 2; ect++) {
			struct ecn_seen e = ecn_of(CW_UBOE_FORM_UBOE, version, ect);

			assert_int_equal(e.data, ect);
			assert_int_equal(e.answer, 0);
			e = ecn_of(CW_UBOE_FORM_NATIVE, version, ect);
			assert_int_equal(e.data, ect == 0 ? CW_FECN_UNMARKABLE : CW_FECN_NONE);
			assert_int_equal(e.answer, CW_FECN_UNMARKABLE);
		}
}

static void u6_6_ldcp_window_follows_the_marks(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tp_info clear, marked;
	struct sim s;

	t.cc = CW_UBOE_CC_LDCP;
	t.mtu = 256;
	(void)tallied(NULL, &t, (struct tally){0}, 1, 256 * 300, &s);
	cw_uboe_tp_get_info(s.tp[0], &clear);
	sim_free(&s);
	(void)tallied(NULL, &t, (struct tally){.mark = 1}, 1, 256 * 300, &s);
	cw_uboe_tp_get_info(s.tp[0], &marked);
	sim_free(&s);
	assert_true(clear.cwnd > 16 * 256);
	assert_true(marked.cwnd < 16 * 256);
}

/* Native UB: FECN light and severe reach the CNP when two levels are on. */
static uint32_t seen_ecn, put_fecn;

static bool native_mark(struct sim *s, int from, uint8_t *p, int *len)
{
	const uint8_t *h = p + 38;

	if (from == 0)
		cw_cci_fecn_set_fecn(p + 4, put_fecn);
	else if (cw_rtph_opcode(h) == CW_TP_CNP)
		seen_ecn = cw_cetph_cnp_ecn(h + 16);
	return true;
}

static uint32_t cnp_of(uint32_t fecn, bool two_levels)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct sim s;

	t.form = CW_UBOE_FORM_NATIVE;
	t.cc = CW_UBOE_CC_DCQCN;
	t.two_levels = two_levels;
	sim_init(&s, 1, NULL, &t);
	s.filter = native_mark;
	put_fecn = fecn;
	seen_ecn = 99;
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_run(&s, 60000);
	sim_free(&s);
	return seen_ecn;
}

static void s5_2_2_fecn_levels(void **state)
{
	assert_int_equal(cnp_of(CW_FECN_NONE, true), 99);
	assert_int_equal(cnp_of(CW_FECN_UNMARKABLE, true), 99);
	assert_int_equal(cnp_of(CW_FECN_LIGHT, true), 1);
	assert_int_equal(cnp_of(CW_FECN_SEVERE, true), 3);
	assert_int_equal(cnp_of(CW_FECN_LIGHT, false), 3);
}

/* ---- Spraying ----------------------------------------------------------------------------- */

static void u6_4_spraying_and_fast_retransmission(void **state)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tp *tp;
	struct cw_diag diag;
	struct tally y;
	struct sim s;

	t.sport_bits = 3;
	t.spray = CW_UBOE_BY_PACKET;
	sim_init(&s, 1, NULL, NULL);
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, &diag), CW_E_CONFLICT);
	assert_string_equal(diag.path, "spray");
	t.fast_with_spray = true;
	t.retx = CW_UBOE_GBN; /* shall not */
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, &diag), CW_E_CONFLICT);
	t.retx = CW_UBOE_SELECTIVE; /* should not */
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, &diag), CW_OK);
	sim_free(&s);
	t.mtu = 256;
	t.fast = false;
	y = tallied(NULL, &t, (struct tally){0}, 1, 256 * 64, &s);
	assert_int_equal(y.ports, 64); /* another port each packet */
	sim_free(&s);
	t.spray = CW_UBOE_BY_FLOW;
	y = tallied(NULL, &t, (struct tally){0}, 1, 256 * 64, &s);
	assert_int_equal(y.ports, 1);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u6_2_1_rnr),
		cmocka_unit_test(u6_2_1_page_fault),
		cmocka_unit_test(u6_5_fake_packets_keep_alive),
		cmocka_unit_test(u7_2_2_taack_aggregation),
		cmocka_unit_test(u6_4_acks_are_coalesced_and_a_asks),
		cmocka_unit_test(u6_4_2_one_loss),
		cmocka_unit_test(u6_3_flight_is_the_window),
		cmocka_unit_test(u6_5_rto_backs_off),
		cmocka_unit_test(an_answer_that_never_comes),
		cmocka_unit_test(u6_3_psn_classes),
		cmocka_unit_test(s4_1_ect_is_set_on_data),
		cmocka_unit_test(s5_2_2_ce_is_reported_as_severe_and_paced),
		cmocka_unit_test(u6_6_ldcp_window_follows_the_marks),
		cmocka_unit_test(s5_2_2_fecn_levels),
		cmocka_unit_test(u6_4_spraying_and_fast_retransmission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
