/* world.h - two leaves at both ends of a link that loses packets as it likes. The protocol's header
 * (isis_world.h, ospf3_world.h) says first what a leaf is, then what is sent over the link:
 *   LEAF(x)                cw_isis##x, cw_ospf3##x
 *   PACKET_MAX             octets of the largest packet
 *   say(w, i, data, len)   end i hears it
 *   check_sent(w, i, ...)  what end i sends is as it must be */
#ifndef TESTS_UNIT_WORLD_H
#define TESTS_UNIT_WORLD_H

#include "tests/unit/test.h"

enum { STEP_MS = 50, FLIGHT = 4096 };

struct packet {
	size_t len;
	uint8_t *data;
};

struct end {
	struct LEAF(_config) c;
	struct LEAF() * m;
	struct packet in[FLIGHT]; /* on the way to it */
	size_t n;
};

struct world {
	uint64_t now;
	uint32_t random, loss; /* percent */
	bool cut;
	struct end end[2];
};

static inline int say(struct world *w, unsigned i, const uint8_t *packet, size_t len);
static inline void check_sent(const struct world *w, unsigned i, const uint8_t *packet, size_t len);

static inline struct world *world_made(uint32_t loss)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->now = 1000;
	w->random = 4711;
	w->loss = loss;
	return w;
}

static inline void boot(struct world *w, unsigned i)
{
	assert_int_equal(LEAF(_new)(&w->end[i].m, &w->end[i].c, w->now), CW_OK);
}

static inline void die(struct world *w, unsigned i)
{
	struct end *e = &w->end[i];

	LEAF(_free)(e->m);
	e->m = NULL;
	while (e->n > 0)
		free(e->in[--e->n].data);
}

static inline void world_free(struct world *w)
{
	die(w, 0);
	die(w, 1);
	free(w);
}

static inline bool lost(struct world *w)
{
	w->random = w->random * 1664525u + 1013904223u;
	return w->cut || (w->random >> 16) % 100 < w->loss;
}

static inline void pull_all(struct world *w, unsigned i)
{
	struct end *to = &w->end[1 - i];
	uint8_t buf[PACKET_MAX];
	size_t n;

	while ((n = LEAF(_pull)(w->end[i].m, buf, sizeof(buf), w->now)) > 0) {
		check_sent(w, i, buf, n);
		if (lost(w) || to->m == NULL)
			continue;
		assert_true(to->n < FLIGHT);
		to->in[to->n++] = (struct packet){n, exact_copy(buf, n)};
	}
}

static inline void step(struct world *w)
{
	unsigned i;
	size_t k, n;

	w->now += STEP_MS;
	for (i = 0; i < 2; i++) {
		struct end *e = &w->end[i];

		if (e->m == NULL)
			continue;
		n = e->n;
		e->n = 0;
		for (k = 0; k < n; k++) {
			(void)say(w, i, e->in[k].data, e->in[k].len);
			free(e->in[k].data);
		}
		(void)LEAF(_tick)(e->m, w->now);
		pull_all(w, i);
	}
}

static inline void pass(struct world *w, uint64_t ms)
{
	uint64_t until = w->now + ms;

	while (w->now < until)
		step(w);
}

/* Both begin, but for 20 s nothing arrives at end 0. */
static inline void boot_one_way(struct world *w)
{
	boot(w, 0);
	boot(w, 1);
	while (w->now < 20000) {
		step(w);
		while (w->end[0].n > 0)
			free(w->end[0].in[--w->end[0].n].data);
	}
}

static inline struct LEAF(_info) info(const struct world *w, unsigned i)
{
	struct LEAF(_info) out;

	LEAF(_info)(w->end[i].m, &out);
	return out;
}

static inline const struct LEAF(_counters) * counters(const struct world *w, unsigned i)
{
	return LEAF(_counters)(w->end[i].m);
}

static inline size_t known(const struct world *w, unsigned i)
{
	size_t n;

	(void)LEAF(_proxies)(w->end[i].m, &n);
	return n;
}

/* The announcement of a prefix by this proxy; NULL: it isn't known. `next`: the one behind that. */
static inline const struct LEAF(_proxy) * find_proxy(const struct world *w, unsigned i,
						     const char *prefix, const char *proxy,
						     const struct LEAF(_proxy) * next)
{
	char a[CW_PREFIX_TEXT], b[CW_ADDR_TEXT];
	const struct LEAF(_proxy) * p;
	size_t n, k;

	p = LEAF(_proxies)(w->end[i].m, &n);
	for (k = next == NULL ? 0 : (size_t)(next - p) + 1; k < n; k++) {
		if (strcmp(cw_prefix_format(&p[k].prefix, a), prefix) == 0 &&
		    strcmp(cw_addr_format(&p[k].proxy, b), proxy) == 0)
			return &p[k];
	}
	return NULL;
}

#endif
