/* rtp_cc.c - two flows into one bottleneck that marks CE (draft 5.2.2): who gets what, how deep is
 * the queue, how busy the link; with and without congestion control.
 */
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "rtp_sim.h"

#define FLOWS  2
#define RATE   10e9   /* bit/s */
#define BUFFER 400000 /* octets */
#define MARK   60000  /* octets: CE above; for DCQCN with growing probability from a third on */
#define DELAY  15000  /* ns one way */
#define LEN    32768  /* of a write */
#define DEPTH  64
#define START  30000000 /* ns: flow 1 begins later */
#define WARM   100000000
#define END    200000000

struct link {
	uint8_t (*mem)[LEN];
	struct sim s[FLOWS]; /* devices and heaps; the queue is between them */
	uint64_t busy_until, random;
	uint64_t octets[FLOWS], busy, drops, marks, samples;
	double depth;
	enum cw_uboe_cc cc;
};

static bool should_mark(struct link *l, double depth)
{
	if (l->cc != CW_UBOE_CC_DCQCN)
		return depth > MARK;
	l->random = l->random * 6364136223846793005u + 1442695040888963407u;
	return depth > MARK / 3.0 &&
	       (double)(l->random >> 40) / (1 << 24) < (depth - MARK / 3.0) / (10.0 * MARK);
}

/* A data packet at the bottleneck: the queue is known by when the line will be free. */
static bool enqueue(struct link *l, struct sim_packet *p, uint64_t now)
{
	double depth = l->busy_until > now ? (double)(l->busy_until - now) * RATE / 8e9 : 0;
	uint64_t serial = (uint64_t)(8e9 * (p->len + 38) / RATE);

	if (now > WARM) {
		l->depth += depth;
		l->samples++;
	}
	if (depth + p->len > BUFFER) {
		l->drops++;
		return false;
	}
	if (cw_ipv4_ecn(p->data) != 0 && should_mark(l, depth)) {
		cw_ipv4_set_ecn(p->data, 3);
		cw_ipv4_set_checksum(p->data, cw_ipv4_compute(p->data));
		l->marks++;
	}
	l->busy_until = (l->busy_until > now ? l->busy_until : now) + serial;
	if (now > WARM)
		l->busy += serial;
	p->at = l->busy_until + DELAY;
	return true;
}

static void pull(struct link *l, struct sim *s, int from, uint64_t now)
{
	struct cw_uboe_out out;

	for (;;) {
		struct sim_packet *p = sim_alloc(s);

		p->len = cw_uboe_output(s->dev[from], p->data, sizeof(p->data), now, &out);
		assert_true(p->len >= 0);
		if (p->len == 0) {
			sim_release(s, p);
			return;
		}
		p->to = 1 - from;
		p->form = out.form;
		p->at = now + DELAY;
		if (from == 0 && !enqueue(l, p, now))
			sim_release(s, p);
		else
			sim_push(s, p);
	}
}

static void post(struct link *l, int f)
{
	struct sim *s = &l->s[f];
	struct cw_uboe_cr cr[16];
	unsigned n, i;
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_WRITE, .local = l->mem[f], .len = LEN};

	while ((n = cw_uboe_poll(s->jetty[0], cr, 16)) > 0)
		for (i = 0; i < n; i++) {
			assert_int_equal(cr[i].status, CW_UBOE_OK);
			if (s->now > WARM)
				l->octets[f] += LEN;
		}
	w.remote_addr = 0x1000;
	w.token_id = (uint32_t)(uintptr_t)s->arg;
	if (s->now < (uint64_t)f * START)
		return;
	while (cw_uboe_post(s->to[0], &w) == CW_OK)
		;
}

static void step(struct link *l, uint64_t now)
{
	int f;

	for (f = 0; f < FLOWS; f++) {
		struct sim *s = &l->s[f];

		s->now = now;
		while (s->n > 0 && s->heap[0]->at <= now) {
			struct sim_packet *p = sim_pop(s);

			(void)cw_uboe_input(s->dev[p->to], p->form, p->data, (size_t)p->len, now);
			sim_release(s, p);
		}
		post(l, f);
		pull(l, s, 0, now);
		pull(l, s, 1, now);
	}
}

static void set_up(struct link *l, enum cw_uboe_cc cc)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_seg_opts so = CW_UBOE_SEG_OPTS;
	struct cw_uboe_seg *seg;
	int f;

	memset(l, 0, sizeof(*l));
	l->mem = calloc(2 * FLOWS, LEN);
	l->cc = cc;
	t.cc = cc;
	t.mtu = 1024;
	t.window = 512;
	t.reorder = 512;
	t.line_rate = (uint64_t)RATE;
	t.min_rate = 100000000;
	so.access = CW_UBOE_WRITE;
	so.va = 0x1000;
	for (f = 0; f < FLOWS; f++) {
		sim_init(&l->s[f], 40 + (uint64_t)f, NULL, &t);
		assert_int_equal(
			cw_uboe_seg_register(l->s[f].dev[1], l->mem[FLOWS + f], LEN, &so, &seg),
			CW_OK);
		l->s[f].arg = (void *)(uintptr_t)cw_uboe_seg_token_id(seg);
	}
}

struct result {
	double jain, use, depth;
	uint64_t drops, marks;
};

static struct result run(enum cw_uboe_cc cc, const char *name)
{
	struct link *l = malloc(sizeof(*l));
	uint64_t now = 0;
	struct result r;
	double a, b;
	int f;

	set_up(l, cc);
	while (now < END) {
		uint64_t next = now + 1000000;

		step(l, now);
		for (f = 0; f < FLOWS; f++) {
			uint64_t at = sim_next(&l->s[f]);

			next = at < next ? at : next;
		}
		now = next > now ? next : now + 1;
	}
	a = (double)l->octets[0];
	b = (double)l->octets[1];
	r = (struct result){.jain = (a + b) * (a + b) / (2 * (a * a + b * b)),
			    .use = (double)l->busy / (END - WARM),
			    .depth = l->depth / (double)l->samples,
			    .drops = l->drops,
			    .marks = l->marks};
	print_message("# %-6s goodput %.2f and %.2f Gb/s, Jain %.3f, line used %.1f %%, "
		      "queue %.0f octets, %llu dropped, %llu marked\n",
		      name, 8 * a / (END - WARM), 8 * b / (END - WARM), r.jain, 100 * r.use,
		      r.depth, (unsigned long long)r.drops, (unsigned long long)r.marks);
	for (f = 0; f < FLOWS; f++)
		sim_free(&l->s[f]);
	free(l->mem);
	free(l);
	return r;
}

static struct result none;

static void without(void **state)
{
	none = run(CW_UBOE_CC_NONE, "none");
	assert_true(none.drops > 0);
}

/* A late flow gets its share, the queue stays short, nothing is lost, the line stays busy. */
static void dcqcn(void **state)
{
	struct result r = run(CW_UBOE_CC_DCQCN, "dcqcn");

	assert_true(r.jain > 0.9);
	assert_true(r.use > 0.8);
	assert_true(r.depth < none.depth / 3);
	assert_true(r.drops < none.drops / 10);
}

static void ldcp(void **state)
{
	struct result r = run(CW_UBOE_CC_LDCP, "ldcp");

	assert_true(r.jain > 0.95);
	assert_true(r.use > 0.95);
	assert_true(r.depth < none.depth / 3);
	assert_int_equal(r.drops, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without),
		cmocka_unit_test(dcqcn),
		cmocka_unit_test(ldcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
