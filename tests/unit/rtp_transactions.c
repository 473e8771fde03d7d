/* rtp_transactions.c - each rule of the transactions by itself: what they may touch, in which order
 * they end, atomics. Names begin with the clause of UB 2.0.
 */
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "rtp_rules.h"

static void refused(struct sim *s, const struct cw_uboe_wr *wr, enum cw_uboe_status status,
		    enum cw_uboe_counter c)
{
	uint64_t before = cw_uboe_dev_count(s->dev[1], c);
	struct cw_uboe_cr cr = run(s, wr);

	assert_string_equal(cw_uboe_status_name(cr.status), cw_uboe_status_name(status));
	assert_true(cw_uboe_dev_count(s->dev[1], c) > before);
}

/* ---- Packets that a peer bends (with right ICRCs) ------------------------------------------ */

enum { UDP = CW_SIZE_IPV4, RTP = UDP + CW_SIZE_UDP };

struct bend {
	int packet; /* which of the initiator's; counts down */
	void (*how)(uint8_t *p, int *len);
};

static bool bend(struct sim *s, int from, uint8_t *p, int *len)
{
	struct bend *b = s->arg;

	if (from != 0 || b->packet-- != 0)
		return true;
	b->how(p, len);
	cw_ipv4_set_length(p, (uint32_t)*len);
	cw_ipv4_set_checksum(p, cw_ipv4_compute(p));
	cw_udp_set_length(p + UDP, (uint32_t)(*len - UDP));
	assert_int_equal(cw_icrc_put(p, (size_t)*len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	return true;
}

/* MAETAH is where the packet's memory address is: `off` octets into the Write. */
static uint8_t *maetah_of(uint8_t *p, int len, uint64_t off)
{
	uint8_t va[8], *at;

	cw_put_be64(va, VA + off);
	at = memmem(p, (size_t)len, va, sizeof(va));
	assert_non_null(at);
	return at;
}

static void longer_in_all(uint8_t *p, int *len)
{
	uint8_t *m = maetah_of(p, *len, 256);

	cw_maetah_set_length(m, cw_maetah_length(m) + 64);
}

static void another_place(uint8_t *p, int *len)
{
	uint8_t *m = maetah_of(p, *len, 256);

	cw_maetah_set_address(m, VA + 512);
}

static void last_too_early(uint8_t *p, int *len)
{
	(void)len;
	cw_rtph_set_last(p + RTP, 1);
}

static void more_than_is_left(uint8_t *p, int *len)
{
	memset(p + *len, 0xee, 100);
	*len += 100;
}

static void half_the_operands(uint8_t *p, int *len)
{
	(void)p;
	*len -= 8; /* what is left looks like an extended header, and MAETAH is elsewhere */
}

/* Each packet of a Write must fit what the first one said; of an atomic, its operands. */
static void u7_4_packets_fit_their_transaction(void **state)
{
	static const struct {
		enum cw_uboe_op op;
		uint32_t len;
		struct bend bend;
		enum cw_uboe_counter counter;
	} rows[] = {{CW_UBOE_OP_WRITE, 600, {1, longer_in_all}, CW_UBOE_C_BAD_LENGTH},
		    {CW_UBOE_OP_WRITE, 600, {1, another_place}, CW_UBOE_C_BAD_LENGTH},
		    {CW_UBOE_OP_WRITE, 600, {1, last_too_early}, CW_UBOE_C_BAD_LENGTH},
		    {CW_UBOE_OP_WRITE, 600, {2, more_than_is_left}, CW_UBOE_C_BAD_LENGTH},
		    {CW_UBOE_OP_FETCH_ADD, 8, {0, half_the_operands}, CW_UBOE_C_BAD_ALIGN}};
	uint8_t mem[1024], local[600], zero[424] = {0};
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	uint64_t one = 1;
	struct cw_uboe_wr w;
	unsigned i;

	(void)state;
	t.mtu = 256;
	memset(local, 0x55, sizeof(local));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bend b = rows[i].bend;
		struct sim s;

		memset(mem, 0, sizeof(mem));
		sim_init(&s, 1, NULL, &t);
		s.filter = bend;
		s.arg = &b;
		w = wr_of(rows[i].op,
			  seg(&s, mem, sizeof(mem), CW_UBOE_WRITE | CW_UBOE_READ | CW_UBOE_ATOMIC),
			  local, rows[i].len);
		w.operand1 = &one;
		refused(&s, &w, CW_UBOE_REMOTE, rows[i].counter);
		assert_memory_equal(mem + 600, zero, sizeof(zero));
		if (rows[i].op != CW_UBOE_OP_WRITE)
			assert_memory_equal(mem, zero, 8);
		sim_free(&s);
	}
}

/* A datagram longer than its receive buffer is told as such, and not written. */
static void u7_3_utp_fits_its_buffer(void **state)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "12345678", .len = 8};
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	uint8_t buf[8] = {0}, zero[8] = {0};
	struct sim s;

	(void)state;
	g.service = CW_UBOE_UNO;
	sim_init(&s, 1, &g, NULL);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, 7, 1), CW_OK);
	assert_int_equal(run(&s, &w).status, CW_UBOE_OK);
	assert_int_equal(sim_wait(&s, 1).status, CW_UBOE_LENGTH);
	assert_memory_equal(buf, zero, sizeof(buf));
	sim_free(&s);
}

static void another_upi(uint8_t *p, int *len)
{
	memmove(p + RTP + CW_SIZE_RTPH + CW_SIZE_UPIH + CW_SIZE_EIDH, p + RTP + CW_SIZE_RTPH,
		(size_t)(*len - RTP - CW_SIZE_RTPH));
	memset(p + RTP + CW_SIZE_RTPH, 0, CW_SIZE_UPIH + CW_SIZE_EIDH);
	cw_upih_set_upi(p + RTP + CW_SIZE_RTPH, 7);
	cw_rtph_set_nlp(p + RTP, CW_NLP_UPI32);
	*len += CW_SIZE_UPIH + CW_SIZE_EIDH;
}

static void half_a_upi(uint8_t *p, int *len)
{
	cw_rtph_set_nlp(p + RTP, CW_NLP_UPI32);
	*len = RTP + CW_SIZE_RTPH + CW_SIZE_UPIH + CW_ICRC_LEN;
}

/* UPI and entity of another one; headers that the packet has no room for. */
static void b_3_other_partitions(void **state)
{
	struct bend b[] = {{0, another_upi}, {0, half_a_upi}};
	static const enum cw_uboe_counter c[] = {CW_UBOE_C_BAD_UPI, CW_UBOE_C_BAD_TA};
	struct cw_uboe_wr w;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint8_t mem[64] = {0}, local[64] = {1};
		struct sim s;

		sim_init(&s, 1, NULL, NULL);
		s.filter = bend;
		s.arg = &b[i];
		w = wr_of(CW_UBOE_OP_WRITE, seg(&s, mem, sizeof(mem), CW_UBOE_WRITE), local, 16);
		(void)run(&s, &w);
		assert_int_equal(cw_uboe_dev_count(s.dev[1], c[i]), 1);
		sim_free(&s);
	}
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
		cmocka_unit_test(u7_4_packets_fit_their_transaction),
		cmocka_unit_test(u7_3_utp_fits_its_buffer),
		cmocka_unit_test(b_3_other_partitions),
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
