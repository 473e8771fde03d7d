/* rtp_basic.c - every kind of transaction over every form of packet, service and algorithm. */
#include "causeway/icrc.h"
#include "rtp_sim.h"

#define LEN 20000

struct mem {
	uint8_t own[LEN], remote[LEN];
	struct cw_uboe_seg *seg;
};

static void fill(uint8_t *p, size_t n, unsigned seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)((i * 131 + seed) >> (i & 3));
}

static void mem_init(struct mem *m, struct sim *s, unsigned access)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;

	o.access = access;
	o.token = true;
	o.token_value = 0x1234567;
	o.va = 0x1122334455667000;
	fill(m->own, LEN, 7);
	memset(m->remote, 0, LEN);
	assert_int_equal(cw_uboe_seg_register(s->dev[1], m->remote, LEN, &o, &m->seg), CW_OK);
}

static struct cw_uboe_wr memory_wr(const struct mem *m, enum cw_uboe_op op, void *local,
				   uint32_t len)
{
	return (struct cw_uboe_wr){.op = op,
				   .user = 42,
				   .local = local,
				   .len = len,
				   .remote_addr = 0x1122334455667000,
				   .token_id = cw_uboe_seg_token_id(m->seg),
				   .token_value = 0x1234567};
}

static void expect(struct sim *s, const struct cw_uboe_wr *wr, enum cw_uboe_status status)
{
	struct cw_uboe_cr cr;

	assert_int_equal(cw_uboe_post(s->to[0], wr), CW_OK);
	cr = sim_wait(s, 0);
	assert_string_equal(cw_uboe_status_name(cr.status), cw_uboe_status_name(status));
	assert_int_equal(cr.op, wr->op);
	assert_int_equal(cr.user, wr->user);
}

static void do_send(struct sim *s, struct mem *m, bool imm)
{
	struct cw_uboe_wr wr = {.op = imm ? CW_UBOE_OP_SEND_IMM : CW_UBOE_OP_SEND,
				.user = 1,
				.local = m->own,
				.len = LEN - 3,
				.imm = 0x0102030405060708};
	struct cw_uboe_cr cr;

	memset(m->remote, 0, LEN);
	assert_int_equal(cw_uboe_post_recv(s->jetty[1], m->remote, LEN, 77), CW_OK);
	expect(s, &wr, CW_UBOE_OK);
	cr = sim_wait(s, 1);
	assert_int_equal(cr.op, CW_UBOE_OP_RECV);
	assert_int_equal(cr.status, CW_UBOE_OK);
	assert_int_equal(cr.user, 77);
	assert_int_equal(cr.len, LEN - 3);
	assert_int_equal(cr.has_imm, imm);
	if (imm)
		assert_int_equal(cr.imm, 0x0102030405060708);
	assert_memory_equal(m->remote, m->own, LEN - 3);
	assert_int_equal(m->remote[LEN - 3], 0);
}

static void do_write(struct sim *s, struct mem *m)
{
	struct cw_uboe_wr wr = memory_wr(m, CW_UBOE_OP_WRITE, m->own, LEN - 11);

	memset(m->remote, 0, LEN);
	wr.remote_addr += 7;
	expect(s, &wr, CW_UBOE_OK);
	assert_memory_equal(m->remote + 7, m->own, LEN - 11);
	assert_int_equal(m->remote[LEN - 4], 0);
}

static void do_write_imm(struct sim *s, struct mem *m)
{
	struct cw_uboe_wr wr = memory_wr(m, CW_UBOE_OP_WRITE_IMM, m->own, LEN);
	struct cw_uboe_cr cr;

	memset(m->remote, 0, LEN);
	wr.imm = 0x99;
	assert_int_equal(cw_uboe_post_recv(s->jetty[1], NULL, 0, 78), CW_OK);
	expect(s, &wr, CW_UBOE_OK);
	cr = sim_wait(s, 1);
	assert_true(cr.written && cr.has_imm);
	assert_int_equal(cr.imm, 0x99);
	assert_int_equal(cr.len, LEN);
	assert_memory_equal(m->remote, m->own, LEN);
}

static void do_write_notify(struct sim *s, struct mem *m)
{
	static const uint8_t note[8] = {8, 7, 6, 5, 4, 3, 2, 1};
	struct cw_uboe_wr wr = memory_wr(m, CW_UBOE_OP_WRITE_NOTIFY, m->own, LEN - 8);

	memset(m->remote, 0, LEN);
	wr.notify_addr = wr.remote_addr + LEN - 8;
	wr.notify_data = 0x0102030405060708;
	wr.notify_token_id = wr.token_id;
	wr.notify_token_value = wr.token_value;
	expect(s, &wr, CW_UBOE_OK);
	assert_memory_equal(m->remote, m->own, LEN - 8);
	assert_memory_equal(m->remote + LEN - 8, note, 8);
}

static void do_read(struct sim *s, struct mem *m)
{
	uint8_t *got = malloc(LEN - 1);
	struct cw_uboe_wr wr = memory_wr(m, CW_UBOE_OP_READ, got, LEN - 1);

	fill(m->remote, LEN, 99);
	wr.remote_addr += 1;
	expect(s, &wr, CW_UBOE_OK);
	assert_memory_equal(got, m->remote + 1, LEN - 1);
	free(got);
}

static void do_atomics(struct sim *s, struct mem *m)
{
	uint64_t one = 5, two = 100, old = 0, at;
	struct cw_uboe_wr wr = memory_wr(m, CW_UBOE_OP_FETCH_ADD, &old, 8);

	at = 100;
	memcpy(m->remote + 16, &at, 8);
	wr.remote_addr += 16;
	wr.operand1 = &one;
	wr.operand2 = &two;
	expect(s, &wr, CW_UBOE_OK);
	assert_int_equal(old, 100);
	memcpy(&at, m->remote + 16, 8);
	assert_int_equal(at, 105);
	wr.op = CW_UBOE_OP_CAS; /* 105 is not 100 */
	expect(s, &wr, CW_UBOE_OK);
	assert_int_equal(old, 105);
	two = 105;
	expect(s, &wr, CW_UBOE_OK);
	memcpy(&at, m->remote + 16, 8);
	assert_int_equal(at, 5);
	assert_int_equal(cw_uboe_dev_count(s->dev[1], CW_UBOE_C_ATOMIC), 3);
}

static void do_all(struct sim *s)
{
	struct mem *m = malloc(sizeof(*m));

	mem_init(m, s, CW_UBOE_READ | CW_UBOE_WRITE | CW_UBOE_ATOMIC);
	do_send(s, m, false);
	do_send(s, m, true);
	do_write(s, m);
	do_write_imm(s, m);
	do_write_notify(s, m);
	do_read(s, m);
	do_atomics(s, m);
	assert_int_equal(cw_uboe_dev_count(s->dev[0], CW_UBOE_C_RTO), 0);
	assert_int_equal(cw_uboe_dev_count(s->dev[0], CW_UBOE_C_TA_STRAY), 0);
	sim_run(s, 1000000);
	assert_int_equal(cw_uboe_seg_unregister(m->seg), CW_OK);
	free(m);
}

static void all_forms(void **state)
{
	unsigned v, form, service, mtu;

	for (v = 4; v <= 6; v += 2)
		for (form = 0; form < 2; form++)
			for (service = 0; service < 3; service++)
				for (mtu = 256; mtu <= 8192; mtu *= 2) {
					struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
					struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
					struct sim s;

					g.service = (enum cw_uboe_service)service;
					t.ip_version = (uint8_t)v;
					t.form = (enum cw_uboe_form)form;
					t.mtu = mtu;
					sim_init(&s, mtu + v, &g, &t);
					do_all(&s);
					sim_free(&s);
				}
}

static void all_modes(void **state)
{
	unsigned mode, cc;

	for (mode = 0; mode < 4; mode++)
		for (cc = 0; cc < 3; cc++) {
			struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
			struct sim s;

			t.retx = (enum cw_uboe_retx)(mode & 1);
			t.fast = mode >> 1;
			t.cc = (enum cw_uboe_cc)cc;
			t.eids = mode == 3;
			t.resp_offset = mode == 2;
			sim_init(&s, mode + 10, NULL, &t);
			do_all(&s);
			sim_free(&s);
		}
}

static void utp(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_wr wr = {.op = CW_UBOE_OP_SEND_IMM, .len = 5, .local = "hello", .imm = 9};
	uint8_t buf[8] = {0};
	struct cw_uboe_cr cr;
	struct sim s;

	g.service = CW_UBOE_UNO;
	sim_init(&s, 3, &g, NULL);
	assert_int_equal(cw_uboe_post_recv(s.jetty[1], buf, sizeof(buf), 5), CW_OK);
	assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_OK);
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
	cr = sim_wait(&s, 1);
	assert_int_equal(cr.len, 5);
	assert_int_equal(cr.imm, 9);
	assert_memory_equal(buf, "hello", 5);
	assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_OK); /* no receive: lost, and counted */
	assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
	sim_run(&s, 1000000);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_UTP_DROP), 1);
	wr.op = CW_UBOE_OP_WRITE;
	assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_E_FORBIDDEN);
	wr.op = CW_UBOE_OP_SEND;
	wr.len = 5000;
	assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_E_RANGE);
	sim_free(&s);
}

/* ---- Prefetch and Management ---------------------------------------------------------------- */

static uint8_t other_opcode; /* TAOpcode that a packet of end 0 gets on its way; 0xff: its own */

static bool change_opcode(struct sim *s, int from, uint8_t *p, int *len)
{
	(void)s;
	if (from == 0 && other_opcode != 0xff && cw_rtph_opcode(p + 28) <= CW_TP_RTP) {
		p[28 + CW_SIZE_RTPH] = other_opcode;
		assert_int_equal(cw_icrc_put(p, (size_t)*len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	}
	return true;
}

/* A prefetch, and the one counter of the target that it moves. */
static void prefetch(struct sim *s, uint64_t addr, uint32_t len, uint32_t token_id,
		     enum cw_uboe_counter want)
{
	static const enum cw_uboe_counter all[] = {CW_UBOE_C_PREFETCH,   CW_UBOE_C_BAD_TOKEN,
						   CW_UBOE_C_BAD_BOUNDS, CW_UBOE_C_TA_FAULT,
						   CW_UBOE_C_BAD_TA,     CW_UBOE_C_BAD_MANAGEMENT};
	struct cw_uboe_wr wr = {
		.op = CW_UBOE_OP_PREFETCH, .len = len, .remote_addr = addr, .token_id = token_id};
	uint64_t before[6];
	unsigned i;

	for (i = 0; i < 6; i++)
		before[i] = cw_uboe_dev_count(s->dev[1], all[i]);
	assert_int_equal(cw_uboe_post(s->to[0], &wr), CW_OK);
	assert_int_equal(sim_wait(s, 0).status, CW_UBOE_OK);
	sim_run(s, 1000000);
	for (i = 0; i < 6; i++)
		assert_int_equal(cw_uboe_dev_count(s->dev[1], all[i]) - before[i], all[i] == want);
	assert_int_equal(cw_uboe_dev_count(s->dev[1], CW_UBOE_C_TX), 0); /* no answer to anything */
}

static void u7_4_prefetch_over_utp(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_seg *open, *guarded;
	uint8_t *memory = calloc(1, 100000);
	uint32_t id;
	struct sim s;

	g.service = CW_UBOE_UNO;
	sim_init(&s, 3, &g, NULL);
	s.filter = change_opcode;
	other_opcode = 0xff;
	o.va = 0x10000;
	assert_int_equal(cw_uboe_seg_register(s.dev[1], memory, 100000, &o, &open), CW_OK);
	o.token = true;
	o.token_value = 77;
	assert_int_equal(cw_uboe_seg_register(s.dev[1], memory, 100000, &o, &guarded), CW_OK);
	id = cw_uboe_seg_token_id(open);
	prefetch(&s, 0x10000, 100000, id, CW_UBOE_C_PREFETCH);
	prefetch(&s, 0x10000, 0, id, CW_UBOE_C_PREFETCH);
	prefetch(&s, 0x10001, 100000, id, CW_UBOE_C_BAD_BOUNDS);
	prefetch(&s, 0xffff, 1, id, CW_UBOE_C_BAD_BOUNDS);
	prefetch(&s, 0x10000, 1, id ^ 1, CW_UBOE_C_BAD_TOKEN);
	/* its header has no place for a TokenValue */
	prefetch(&s, 0x10000, 1, cw_uboe_seg_token_id(guarded), CW_UBOE_C_BAD_TOKEN);
	cw_uboe_seg_set_present(open, false);
	prefetch(&s, 0x10000, 1, id, CW_UBOE_C_TA_FAULT);
	/* Management: which octets mean what is not published */
	other_opcode = CW_TA_MANAGEMENT;
	prefetch(&s, 0x10000, 1, id, CW_UBOE_C_BAD_MANAGEMENT);
	other_opcode = CW_TA_WRITEBACK;
	prefetch(&s, 0x10000, 1, id, CW_UBOE_C_BAD_TA);
	sim_free(&s);
	free(memory);
}

/* RTP carries neither: not from this end, and from another one it is refused as unsupported. */
static void u7_4_prefetch_not_over_rtp(void **state)
{
	struct cw_uboe_wr wr = {.op = CW_UBOE_OP_PREFETCH, .len = 1};
	static const uint8_t opcodes[] = {CW_TA_PREFETCH, CW_TA_MANAGEMENT};
	static uint8_t into[64];
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
		struct cw_uboe_seg *seg;
		struct cw_uboe_cr cr;
		struct sim s;

		sim_init(&s, 3, NULL, NULL);
		s.filter = change_opcode;
		other_opcode = 0xff;
		wr.op = CW_UBOE_OP_PREFETCH;
		assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_E_FORBIDDEN);
		o.access = CW_UBOE_READ;
		o.va = 0x1000;
		assert_int_equal(cw_uboe_seg_register(s.dev[1], into, 64, &o, &seg), CW_OK);
		wr = (struct cw_uboe_wr){.op = CW_UBOE_OP_READ,
					 .len = 8,
					 .local = into,
					 .remote_addr = 0x1000,
					 .token_id = cw_uboe_seg_token_id(seg)};
		other_opcode = opcodes[i];
		assert_int_equal(cw_uboe_post(s.to[0], &wr), CW_OK);
		cr = sim_wait(&s, 0);
		assert_int_equal(cr.status, CW_UBOE_UNSUPPORTED);
		assert_int_equal(cr.rspst, 3);
		assert_int_equal(cr.rspinfo, 1);
		assert_int_equal(cw_uboe_dev_count(s.dev[1], i == 0 ? CW_UBOE_C_BAD_TA
								    : CW_UBOE_C_BAD_MANAGEMENT),
				 1);
		sim_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms),
		cmocka_unit_test(all_modes),
		cmocka_unit_test(utp),
		cmocka_unit_test(u7_4_prefetch_over_utp),
		cmocka_unit_test(u7_4_prefetch_not_over_rtp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
