/* rtp_sim.h - two UB endpoints and a network between them that is as bad as a test wants it.
 * Time is simulated and every choice comes from one seed.
 */
#ifndef TESTS_UNIT_RTP_SIM_H
#define TESTS_UNIT_RTP_SIM_H

#include "causeway/uboe.h"
#include "causeway/wire/ub.h"
#include "test.h"

#define SIM_PACKET 8704

struct sim_packet {
	uint64_t at, seq;
	struct sim_packet *next; /* free list */
	int to, len;
	enum cw_uboe_form form;
	uint8_t data[SIM_PACKET];
};

struct sim {
	struct cw_uboe_dev *dev[2];
	struct cw_uboe_tpg *tpg[2];
	struct cw_uboe_tp *tp[2];
	struct cw_uboe_jetty *jetty[2];
	struct cw_uboe_tjetty *to[2]; /* from jetty[i] to the other one */
	struct sim_packet **heap, *free;
	unsigned n, room;
	uint64_t now, seq, random;
	/* the network */
	uint64_t delay, jitter;      /* ns */
	unsigned loss, dup, corrupt; /* of 10000 packets */
	bool cut;                    /* nothing passes */
	uint64_t rate, buffer;       /* of the line towards end 1: bit/s (0: no limit), octets */
	uint64_t busy_until;
	/* asked for each packet, may change it; false drops it */
	bool (*filter)(struct sim *s, int from, uint8_t *packet, int *len);
	/* the same, for one that may change the form, too */
	bool (*convert)(struct sim *s, int from, struct sim_packet *p);
	void *arg;
	uint64_t sent, lost;
};

static inline uint64_t sim_rand(struct sim *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static inline bool sim_chance(struct sim *s, unsigned of_10000)
{
	return of_10000 != 0 && sim_rand(s) % 10000 < of_10000;
}

static inline bool sim_before(const struct sim_packet *a, const struct sim_packet *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static inline void sim_swap(struct sim *s, unsigned i, unsigned j)
{
	struct sim_packet *p = s->heap[i];

	s->heap[i] = s->heap[j];
	s->heap[j] = p;
}

static inline void sim_push(struct sim *s, struct sim_packet *p)
{
	unsigned i = s->n++;

	if (s->n > s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->heap = realloc(s->heap, s->room * sizeof(*s->heap));
	}
	p->seq = s->seq++;
	s->heap[i] = p;
	for (; i > 0 && sim_before(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim_swap(s, i, (i - 1) / 2);
}

static inline struct sim_packet *sim_pop(struct sim *s)
{
	struct sim_packet *p = s->heap[0];
	unsigned i = 0, k;

	s->heap[0] = s->heap[--s->n];
	while ((k = 2 * i + 1) < s->n) {
		if (k + 1 < s->n && sim_before(s->heap[k + 1], s->heap[k]))
			k++;
		if (!sim_before(s->heap[k], s->heap[i]))
			break;
		sim_swap(s, i, k);
		i = k;
	}
	return p;
}

static inline struct sim_packet *sim_alloc(struct sim *s)
{
	struct sim_packet *p = s->free;

	if (p == NULL)
		return malloc(sizeof(*p));
	s->free = p->next;
	return p;
}

static inline void sim_release(struct sim *s, struct sim_packet *p)
{
	p->next = s->free;
	s->free = p;
}

/* The line towards end 1 sends one packet after the other, and its buffer has an end. False when
 * that is reached. */
static inline bool sim_queue(struct sim *s, struct sim_packet *p)
{
	uint64_t from = s->busy_until > s->now ? s->busy_until : s->now;

	if (s->rate == 0 || p->to == 0)
		return true;
	if ((from - s->now) * s->rate / 8000000000 + (unsigned)p->len > s->buffer)
		return false;
	s->busy_until = from + 8000000000ull * (unsigned)p->len / s->rate;
	p->at += s->busy_until - s->now;
	return true;
}

static inline void sim_launch(struct sim *s, struct sim_packet *p)
{
	struct sim_packet *twin;

	if (s->cut || sim_chance(s, s->loss)) {
		s->lost++;
		sim_release(s, p);
		return;
	}
	if (sim_chance(s, s->corrupt))
		p->data[sim_rand(s) % (unsigned)p->len] ^= (uint8_t)(1u << sim_rand(s) % 8);
	p->at = s->now + s->delay + (s->jitter ? sim_rand(s) % s->jitter : 0);
	if (!sim_queue(s, p)) {
		s->lost++;
		sim_release(s, p);
		return;
	}
	if (sim_chance(s, s->dup)) {
		twin = sim_alloc(s);
		memcpy(twin, p, sizeof(*p));
		twin->at += s->jitter ? sim_rand(s) % s->jitter : 1;
		sim_push(s, twin);
	}
	sim_push(s, p);
}

/* Everything that either end has to send now goes into the network. */
static inline void sim_pull(struct sim *s)
{
	struct cw_uboe_out out;
	int i;

	for (i = 0; i < 2; i++) {
		while (s->dev[i] != NULL) {
			struct sim_packet *p = sim_alloc(s);

			p->len = cw_uboe_output(s->dev[i], p->data, sizeof(p->data), s->now, &out);
			assert_true(p->len >= 0);
			if (p->len == 0) {
				sim_release(s, p);
				break;
			}
			p->to = 1 - i;
			p->form = out.form;
			s->sent++;
			if (s->filter != NULL && !s->filter(s, i, p->data, &p->len))
				sim_release(s, p);
			else if (s->convert != NULL && !s->convert(s, i, p))
				sim_release(s, p);
			else
				sim_launch(s, p);
		}
	}
}

static inline uint64_t sim_next(const struct sim *s)
{
	uint64_t at = s->n > 0 ? s->heap[0]->at : CW_UBOE_NEVER;
	int i;

	for (i = 0; i < 2; i++) {
		uint64_t t = s->dev[i] != NULL ? cw_uboe_next_timer(s->dev[i]) : CW_UBOE_NEVER;

		if (t < at)
			at = t;
	}
	return at;
}

/* One instant: send, go on in time, deliver. False when nothing will ever happen again, or not
 * before `until`. */
static inline bool sim_step(struct sim *s, uint64_t until)
{
	uint64_t at;

	sim_pull(s);
	at = sim_next(s);
	if (at == CW_UBOE_NEVER || at > until)
		return false;
	if (at > s->now)
		s->now = at;
	while (s->n > 0 && s->heap[0]->at <= s->now) {
		struct sim_packet *p = sim_pop(s);

		if (s->dev[p->to] != NULL)
			(void)cw_uboe_input(s->dev[p->to], p->form, p->data, (size_t)p->len,
					    s->now);
		sim_release(s, p);
	}
	return true;
}

static inline void sim_run(struct sim *s, uint64_t for_ns)
{
	uint64_t until = s->now + for_ns;

	while (sim_step(s, until))
		;
	if (s->now < until)
		s->now = until;
}

/* Until jetty i has a completion; fails the test when none comes within a simulated minute. */
static inline struct cw_uboe_cr sim_wait(struct sim *s, int i)
{
	struct cw_uboe_cr cr;
	uint64_t until = s->now + 60000000000;

	bool more = true;

	while (cw_uboe_poll(s->jetty[i], &cr, 1) == 0) {
		if (!more)
			fail_msg("no completion");
		more = sim_step(s, until);
	}
	return cr;
}

static inline void sim_dev(struct sim *s, int i, uint64_t seed)
{
	struct cw_uboe_dev_opts o = CW_UBOE_DEV_OPTS;

	o.seed = seed;
	assert_int_equal(cw_uboe_dev_new(&s->dev[i], &o), CW_OK);
}

/* Addresses of end i: 10.0.0.1 and .2, fd00::1 and ::2. */
static inline void sim_addr(uint8_t *a, int version, int i)
{
	memset(a, 0, 16);
	a[0] = version == 4 ? 10 : 0xfd;
	a[version == 4 ? 3 : 15] = (uint8_t)(1 + i);
}

static inline void sim_end(struct sim *s, int i, const struct cw_uboe_tpg_opts *g,
			   struct cw_uboe_tp_opts t)
{
	struct cw_uboe_jetty_opts j = CW_UBOE_JETTY_OPTS;
	struct cw_diag diag;

	sim_addr(t.src, t.ip_version, i);
	sim_addr(t.dst, t.ip_version, 1 - i);
	assert_int_equal(cw_uboe_tpg_new(s->dev[i], g, &s->tpg[i]), CW_OK);
	if (cw_uboe_tp_new(s->tpg[i], &t, &s->tp[i], &diag) != CW_OK)
		fail_msg("%s %s", diag.path, diag.reason);
	assert_int_equal(cw_uboe_jetty_new(s->dev[i], &j, &s->jetty[i]), CW_OK);
}

static inline void sim_connect(struct cw_uboe_tp *a, struct cw_uboe_tp *b)
{
	struct cw_uboe_tp_peer pa, pb;

	cw_uboe_tp_local(a, &pa);
	cw_uboe_tp_local(b, &pb);
	assert_int_equal(cw_uboe_tp_connect(a, &pb), CW_OK);
	assert_int_equal(cw_uboe_tp_connect(b, &pa), CW_OK);
}

/* Two connected ends with a jetty each. `g` and `t` may be NULL for the defaults. */
static inline void sim_init(struct sim *s, uint64_t seed, const struct cw_uboe_tpg_opts *g,
			    const struct cw_uboe_tp_opts *t)
{
	struct cw_uboe_tp_opts o = CW_UBOE_TP_OPTS;
	struct cw_uboe_tpg_opts go = CW_UBOE_TPG_OPTS;
	int i;

	if (t != NULL)
		o = *t;
	if (g != NULL)
		go = *g;
	memset(s, 0, sizeof(*s));
	s->random = seed * 0x9e3779b97f4a7c15 + 1;
	s->delay = 10000;
	for (i = 0; i < 2; i++) {
		sim_dev(s, i, seed + (uint64_t)i);
		sim_end(s, i, &go, o);
	}
	if (go.service != CW_UBOE_UNO)
		sim_connect(s->tp[0], s->tp[1]);
	for (i = 0; i < 2; i++)
		assert_int_equal(cw_uboe_import(s->jetty[i], s->tpg[i],
						cw_uboe_jetty_id(s->jetty[1 - i]), 0, &s->to[i]),
				 CW_OK);
}

static inline void sim_free(struct sim *s)
{
	struct sim_packet *p;

	while (s->n > 0)
		sim_release(s, sim_pop(s));
	while ((p = s->free) != NULL) {
		s->free = p->next;
		free(p);
	}
	free(s->heap);
	cw_uboe_dev_free(s->dev[0]);
	cw_uboe_dev_free(s->dev[1]);
}

#endif
