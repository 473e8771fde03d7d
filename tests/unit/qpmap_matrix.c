/* Many queue pairs between the same two hosts, all beginning at PSN 0: the case in which PSNs say
 * nothing. With loss on either side of the observer, reordering and coalesced ACKs no pair may be
 * learned wrong; how many are learned is reported. */
#include "tests/unit/roce_sim.h"

enum { A = 0x0a000001, B = 0x0a000002, MESSAGES = 60, LOSS = 50 /* one in so many */ };

enum habit { BOTH_QPNS, OWN_QPN, ONE_PORT, NO_PORT };
static const char *const habit_names[] = {"both QPNs", "own QPN", "one port for all", "random"};

/* A packet on its way past the observer. */
struct event {
	uint64_t time;
	uint32_t dqpn, psn;
	uint16_t sport;
	uint8_t opcode, syndrome;
	bool ackreq, back;
};

struct sim {
	struct event *events;
	size_t n, room;
	uint64_t seed;
	enum habit habit;
	uint32_t *qa, *qb;
	unsigned pairs;
};

static uint16_t port_of(struct sim *s, unsigned i, bool back)
{
	switch (s->habit) {
	case BOTH_QPNS:
		return cw_roce_sport(s->qa[i], s->qb[i]);
	case OWN_QPN:
		return (uint16_t)(back ? s->qb[i] : s->qa[i]);
	case ONE_PORT:
		return 49152;
	default:
		return (uint16_t)(0xc000 | (s->qa[i] * 31 + (back ? 77 : 0)) % 16384);
	}
}

/* The observer sees it at about `time`: neighbours overtake each other. */
static void see(struct sim *s, unsigned i, bool back, uint8_t opcode, uint32_t psn, bool ackreq,
		uint64_t time)
{
	if (s->n == s->room)
		s->events = realloc(s->events, (s->room = 2 * s->room + 64) * sizeof(*s->events));
	s->events[s->n++] = (struct event){.time = time + sim_rand(&s->seed) % 4000,
					   .dqpn = back ? s->qa[i] : s->qb[i],
					   .psn = psn,
					   .sport = port_of(s, i, back),
					   .opcode = opcode,
					   .ackreq = ackreq,
					   .back = back};
}

static bool lost(struct sim *s)
{
	return sim_rand(&s->seed) % LOSS == 0;
}

static uint8_t op_of(unsigned k, unsigned n)
{
	if (n == 1)
		return CW_OP_SEND_ONLY;
	if (k == 0)
		return CW_OP_SEND_FIRST;
	return k + 1 == n ? CW_OP_SEND_LAST : CW_OP_SEND_MIDDLE;
}

/* Send packets k .. n-1 of a message; first that is lost, or n. */
static unsigned send_from(struct sim *s, unsigned i, uint32_t psn, unsigned k, unsigned n,
			  uint64_t time)
{
	unsigned first = n;

	for (; k < n; k++) {
		bool before = lost(s), after = lost(s);

		if (!before)
			see(s, i, false, op_of(k, n), psn + k, k + 1 == n, time + k * 1000);
		if ((before || after) && first == n)
			first = k;
	}
	return first;
}

/* One message of one pair until it is through; returns the next PSN. */
static uint32_t message(struct sim *s, unsigned i, uint32_t psn, uint64_t time)
{
	unsigned n = 1 + sim_rand(&s->seed) % 4, at = 0, tries;

	for (tries = 0; at < n && tries < 20; tries++, time += 30000) {
		at = send_from(s, i, psn, at, n, time);
		if (at < n && !lost(s)) /* NAK: PSN sequence error */
			see(s, i, true, CW_OP_ACK, psn + at, false, time + 10000);
	}
	/* Every other ACK is left to the next one. */
	if (sim_rand(&s->seed) % 2 == 0 && !lost(s))
		see(s, i, true, CW_OP_ACK, psn + n - 1, false, time + 10000);
	return psn + n;
}

static int by_time(const void *a, const void *b)
{
	const struct event *p = a, *q = b;

	return p->time < q->time ? -1 : p->time > q->time;
}

static void converse(struct sim *s)
{
	uint32_t *psn = calloc(s->pairs, sizeof(*psn));
	unsigned i, k;

	for (k = 0; k < MESSAGES; k++) {
		for (i = 0; i < s->pairs; i++)
			psn[i] = message(s, i, psn[i], k * 200000ull + sim_rand(&s->seed) % 150000);
	}
	qsort(s->events, s->n, sizeof(*s->events), by_time);
	free(psn);
}

/* To one map in bursts, to the other one by one: both learn the same. */
static void replay(const struct sim *s, struct cw_qpmap *m, struct cw_qpmap *by_one)
{
	static uint8_t p[50][SIM_PACKET_MAX];
	struct cw_qp_seen seen[50];
	unsigned n = 0, want = 1;
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct event *e = &s->events[i];
		size_t len = sim_packet(p[n], e->back ? B : A, e->back ? A : B, e->sport, e->opcode,
					e->dqpn, e->psn, e->ackreq, e->back ? 4 : 16);

		cw_qpmap_packet(by_one, p[n], len, len, e->time);
		seen[n] = (struct cw_qp_seen){p[n], len, len, e->time};
		n++;
		if (n < want && i + 1 < s->n)
			continue;
		cw_qpmap_learn(m, seen, n);
		want = 1 + (want * 7 + 3) % 50;
		n = 0;
	}
	sim_same_maps(m, by_one);
}

/* Distinct numbers, as NICs give them: dense, or anywhere. */
static void number(struct sim *s)
{
	uint32_t a = sim_rand(&s->seed) & 0xffff, b = sim_rand(&s->seed) & 0xffff;
	unsigned i;

	for (i = 0; i < s->pairs; i++) {
		s->qa[i] = a += 1 + sim_rand(&s->seed) % 8;
		s->qb[i] = b += 1 + sim_rand(&s->seed) % 8;
	}
	for (i = s->pairs; i-- > 1;) { /* nothing may follow from the order */
		unsigned j = sim_rand(&s->seed) % (i + 1);
		uint32_t t = s->qb[i];

		s->qb[i] = s->qb[j];
		s->qb[j] = t;
	}
}

static void run_one(unsigned pairs, enum habit habit, uint64_t seed, unsigned min_percent)
{
	struct sim s = {.seed = seed, .habit = habit, .pairs = pairs};
	struct cw_qpmap_opts o;
	struct cw_qpmap *m, *by_one;
	unsigned i, right = 0, wrong = 0;

	cw_qpmap_opts_init(&o);
	o.pairs = 4096;
	assert_int_equal(cw_qpmap_new(&m, &o), CW_OK);
	assert_int_equal(cw_qpmap_new(&by_one, &o), CW_OK);
	s.qa = calloc(pairs, sizeof(*s.qa));
	s.qb = calloc(pairs, sizeof(*s.qb));
	number(&s);
	converse(&s);
	replay(&s, m, by_one);
	for (i = 0; i < pairs; i++) {
		int64_t q = sim_lookup(m, A, B, s.qb[i], 0);
		int64_t back = sim_lookup(m, B, A, s.qa[i], 0);

		right += (q == s.qa[i]) + (back == s.qb[i]);
		wrong += (q >= 0 && q != s.qa[i]) + (back >= 0 && back != s.qb[i]);
	}
	print_message("# %4u pairs, ports %-16s: %4u of %4u learned, %u wrong, %zu packets\n",
		      pairs, habit_names[habit], right, 2 * pairs, wrong, s.n);
	assert_int_equal(wrong, 0);
	assert_true(right * 100 >= 2 * pairs * min_percent);
	cw_qpmap_free(m);
	cw_qpmap_free(by_one);
	free(s.qa);
	free(s.qb);
	free(s.events);
}

static void run_sizes(enum habit habit, unsigned min_percent)
{
	static const unsigned sizes[] = {8, 64, 1024};
	unsigned i;
	uint64_t seed;

	for (i = 0; i < 3; i++) {
		for (seed = 1; seed <= 3; seed++)
			run_one(sizes[i], habit, seed * 7919, min_percent);
	}
}

static void ports_of_both_qpns(void **state)
{
	(void)state;
	run_sizes(BOTH_QPNS, 95);
}

static void ports_of_own_qpn(void **state)
{
	(void)state;
	run_sizes(OWN_QPN, 95);
}

/* Only PSNs are left, and they are the same: undecided is the right answer, wrong is not. */
static void one_port_for_all(void **state)
{
	(void)state;
	run_sizes(ONE_PORT, 0);
}

static void unrelated_ports(void **state)
{
	(void)state;
	run_sizes(NO_PORT, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_of_both_qpns),
		cmocka_unit_test(ports_of_own_qpn),
		cmocka_unit_test(one_port_for_all),
		cmocka_unit_test(unrelated_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
