/* rtp_model.c - random work over a bad network beside a reference model: plain memory to which the
 * same work is applied at once, in the order of posting. Strong order makes both the same.
 */
#include "rtp_sim.h"

#define MEM   4096
#define DEPTH 32
#define BUF   2048
#define VA    0x5000

struct work {
	bool busy;
	struct cw_uboe_wr wr;
	enum cw_uboe_status want;
	uint8_t data[BUF], got[BUF], expect[BUF];
	uint32_t expect_len;
	uint64_t operand[2];
};

struct message {
	uint8_t data[BUF];
	uint32_t len;
	bool has_imm, written;
	uint64_t imm;
};

struct side {
	uint8_t memory[MEM], model[MEM]; /* what the other side works on */
	struct cw_uboe_seg *seg;
	struct work work[DEPTH];
	uint8_t recv[DEPTH][BUF];
	struct message *inbox; /* what must arrive here, in order */
	unsigned inbox_n, inbox_at, next_user, done, posted;
	unsigned ready; /* receives posted */
};

struct world {
	struct sim s;
	struct side side[2];
	unsigned total;
	bool errors; /* wrong requests, too */
};

static void model_atomic(struct side *t, const struct cw_uboe_wr *w, uint32_t at, uint64_t *old)
{
	uint64_t m, a = *(const uint64_t *)w->operand1, b = *(const uint64_t *)w->operand2;

	memcpy(&m, t->model + at, 8);
	*old = m;
	switch (w->op) {
	case CW_UBOE_OP_CAS:
		m = m == b ? a : m;
		break;
	case CW_UBOE_OP_SWAP:
		m = a;
		break;
	case CW_UBOE_OP_FETCH_ADD:
		m += a;
		break;
	case CW_UBOE_OP_FETCH_SUB:
		m -= a;
		break;
	case CW_UBOE_OP_FETCH_AND:
		m &= a;
		break;
	case CW_UBOE_OP_FETCH_OR:
		m |= a;
		break;
	default:
		m ^= a;
	}
	memcpy(t->model + at, &m, 8);
}

static void model_message(struct side *t, const struct work *k, bool has_imm, bool written)
{
	struct message *m = &t->inbox[t->inbox_n++];

	m->len = k->wr.len;
	m->has_imm = has_imm;
	m->written = written;
	m->imm = k->wr.imm;
	memcpy(m->data, k->data, written ? 0 : k->wr.len);
}

/* Apply it to the model, and say what is to come back. */
static void model_apply(struct side *t, struct work *k)
{
	struct cw_uboe_wr *w = &k->wr;
	uint32_t at = (uint32_t)(w->remote_addr - VA);
	uint64_t old, note = w->notify_data;

	k->expect_len = 0;
	if (k->want != CW_UBOE_OK)
		return;
	if (w->op <= CW_UBOE_OP_SEND_IMM)
		model_message(t, k, w->op == CW_UBOE_OP_SEND_IMM, false);
	if (w->op >= CW_UBOE_OP_WRITE && w->op <= CW_UBOE_OP_WRITE_NOTIFY)
		memcpy(t->model + at, k->data, w->len);
	if (w->op == CW_UBOE_OP_WRITE_IMM)
		model_message(t, k, true, true);
	if (w->op == CW_UBOE_OP_WRITE_NOTIFY)
		memcpy(t->model + (w->notify_addr - VA), &note, 8);
	if (w->op == CW_UBOE_OP_READ) {
		memcpy(k->expect, t->model + at, w->len);
		k->expect_len = w->len;
	}
	if (w->op >= CW_UBOE_OP_CAS) {
		model_atomic(t, w, at, &old);
		memcpy(k->expect, &old, 8);
		k->expect_len = 8;
	}
}

static const enum cw_uboe_op ops[] = {
	CW_UBOE_OP_SEND,      CW_UBOE_OP_SEND_IMM,  CW_UBOE_OP_WRITE,     CW_UBOE_OP_WRITE_IMM,
	CW_UBOE_OP_READ,      CW_UBOE_OP_CAS,       CW_UBOE_OP_SWAP,      CW_UBOE_OP_WRITE_NOTIFY,
	CW_UBOE_OP_FETCH_ADD, CW_UBOE_OP_FETCH_SUB, CW_UBOE_OP_FETCH_AND, CW_UBOE_OP_FETCH_OR,
	CW_UBOE_OP_FETCH_XOR,
};

static void choose(struct world *w, struct side *t, struct work *k)
{
	struct sim *s = &w->s;
	struct cw_uboe_wr *r = &k->wr;
	unsigned i;

	memset(r, 0, sizeof(*r));
	r->op = ops[sim_rand(s) % (sizeof(ops) / sizeof(ops[0]))];
	r->flags = CW_UBOE_STRONG | (sim_rand(s) & 1 ? CW_UBOE_IN_ORDER : 0);
	r->len = (uint32_t)(1 + sim_rand(s) % (sim_rand(s) % 3 == 0 ? BUF : 100));
	r->local = k->data;
	for (i = 0; i < r->len; i++)
		k->data[i] = (uint8_t)sim_rand(s);
	r->remote_addr = VA + sim_rand(s) % (MEM - r->len + 1);
	r->token_id = cw_uboe_seg_token_id(t->seg);
	r->token_value = 77;
	r->imm = sim_rand(s);
	r->notify_addr = VA + sim_rand(s) % (MEM - 8);
	r->notify_data = sim_rand(s);
	r->notify_token_id = r->token_id;
	r->notify_token_value = 77;
	if (r->op >= CW_UBOE_OP_READ)
		r->local = k->got;
	if (r->op >= CW_UBOE_OP_CAS) {
		r->len = 8;
		r->remote_addr = VA + sim_rand(s) % (MEM / 8) * 8;
		k->operand[0] = sim_rand(s);
		k->operand[1] = sim_rand(s);
		if (sim_rand(s) & 1) /* a comparison that succeeds */
			memcpy(&k->operand[1], t->model + (r->remote_addr - VA), 8);
		r->operand1 = &k->operand[0];
		r->operand2 = &k->operand[1];
	}
}

/* Make it wrong in one way. */
static void spoil(struct world *w, struct work *k)
{
	if (k->wr.op <= CW_UBOE_OP_SEND_IMM)
		return;
	switch (sim_rand(&w->s) % 3) {
	case 0:
		k->wr.token_value++;
		break;
	case 1:
		k->wr.remote_addr = VA + MEM - (k->wr.len - 1) + 7;
		break;
	default:
		k->wr.token_id ^= 0x80001;
	}
	k->want = CW_UBOE_REMOTE;
}

static void post(struct world *w, int i)
{
	struct side *me = &w->side[i], *t = &w->side[1 - i];
	struct work *k = &me->work[me->next_user % DEPTH];

	if (k->busy || me->posted == w->total || sim_rand(&w->s) % 2 == 0)
		return;
	choose(w, t, k);
	k->want = CW_UBOE_OK;
	if (w->errors && sim_rand(&w->s) % 10 == 0)
		spoil(w, k);
	k->wr.user = me->next_user;
	k->busy = true;
	model_apply(t, k);
	assert_int_equal(cw_uboe_post(w->s.to[i], &k->wr), CW_OK);
	me->next_user++;
	me->posted++;
}

static void check_recv(struct side *me, const struct cw_uboe_cr *cr)
{
	struct message *m = &me->inbox[me->inbox_at++];

	assert_true(me->inbox_at <= me->inbox_n);
	assert_int_equal(cr->status, CW_UBOE_OK);
	assert_int_equal(cr->len, m->len);
	assert_int_equal(cr->has_imm, m->has_imm);
	assert_int_equal(cr->written, m->written);
	if (m->has_imm)
		assert_true(cr->imm == m->imm);
	if (!m->written)
		assert_memory_equal(me->recv[cr->user], m->data, m->len);
	me->ready--;
}

static void poll(struct world *w, int i)
{
	struct side *me = &w->side[i];
	struct cw_uboe_cr cr;
	struct work *k;

	while (cw_uboe_poll(w->s.jetty[i], &cr, 1) == 1) {
		if (cr.op == CW_UBOE_OP_RECV) {
			check_recv(me, &cr);
			continue;
		}
		k = &me->work[cr.user % DEPTH];
		assert_true(k->busy && k->wr.user == cr.user);
		assert_int_equal(cr.status, k->want);
		if (k->expect_len > 0)
			assert_memory_equal(k->got, k->expect, k->expect_len);
		k->busy = false;
		me->done++;
	}
}

/* Receives come late now and then, so that RNR takes part. */
static void give(struct world *w, int i)
{
	struct side *me = &w->side[i];
	static unsigned turn;

	while (me->ready < 8 && sim_rand(&w->s) % 20 != 0) {
		unsigned k = turn++ % DEPTH;

		assert_int_equal(cw_uboe_post_recv(w->s.jetty[i], me->recv[k], BUF, k), CW_OK);
		me->ready++;
		if (sim_rand(&w->s) % 4 == 0)
			break;
	}
}

static void world_init(struct world *w, uint64_t seed, enum cw_uboe_service service, unsigned mode)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	int i;

	g.service = service;
	g.ta_retries = 0;
	t.rnr_retries = 0;
	t.mtu = 256;
	t.retx = (enum cw_uboe_retx)(mode & 1);
	t.fast = mode >> 1 & 1;
	t.ip_version = mode & 1 ? 4 : 6;
	t.retries = 40;
	t.rto_base = 400000;
	t.psn = 0xffff00;
	memset(w, 0, sizeof(*w));
	sim_init(&w->s, seed, &g, &t);
	w->s.loss = 300;
	w->s.dup = 200;
	w->s.corrupt = 100;
	w->s.jitter = 30000;
	w->total = 600;
	w->errors = service != CW_UBOE_ROL;
	o.access = CW_UBOE_READ | CW_UBOE_WRITE | CW_UBOE_ATOMIC;
	o.token = true;
	o.token_value = 77;
	o.va = VA;
	for (i = 0; i < 2; i++) {
		w->side[i].inbox = calloc(w->total, sizeof(struct message));
		assert_int_equal(cw_uboe_seg_register(w->s.dev[i], w->side[i].memory, MEM, &o,
						      &w->side[i].seg),
				 CW_OK);
	}
}

static void play(uint64_t seed, enum cw_uboe_service service, unsigned mode)
{
	struct world *w = malloc(sizeof(*w));
	int i;

	world_init(w, seed, service, mode);
	while (w->side[0].done < w->total || w->side[1].done < w->total) {
		for (i = 0; i < 2; i++) {
			poll(w, i);
			give(w, i);
			post(w, i);
		}
		if (!sim_step(&w->s, w->s.now + 20000000000) && w->side[0].posted == w->total &&
		    w->side[1].posted == w->total) {
			poll(w, 0);
			poll(w, 1);
			assert_int_equal(w->side[0].done, w->total);
			assert_int_equal(w->side[1].done, w->total);
		}
	}
	for (i = 0; i < 2; i++) {
		poll(w, i);
		assert_memory_equal(w->side[i].memory, w->side[i].model, MEM);
		assert_int_equal(w->side[i].inbox_at, w->side[i].inbox_n);
		free(w->side[i].inbox);
	}
	sim_free(&w->s);
	free(w);
}

static void roi(void **state)
{
	unsigned mode;

	for (mode = 0; mode < 4; mode++)
		play(100 + mode, CW_UBOE_ROI, mode);
}

static void rot(void **state)
{
	unsigned mode;

	for (mode = 0; mode < 4; mode++)
		play(200 + mode, CW_UBOE_ROT, mode);
}

static void rol(void **state)
{
	unsigned mode;

	for (mode = 0; mode < 4; mode++)
		play(300 + mode, CW_UBOE_ROL, mode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roi),
		cmocka_unit_test(rot),
		cmocka_unit_test(rol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
