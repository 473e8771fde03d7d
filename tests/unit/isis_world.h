/* isis_world.h - two IS-IS leaves at both ends of a link that loses packets as it likes. */
#ifndef TESTS_UNIT_ISIS_WORLD_H
#define TESTS_UNIT_ISIS_WORLD_H

#include "causeway/isis.h"
#include "tests/unit/test.h"

enum { STEP_MS = 50, FLIGHT = 4096 };

struct packet {
	size_t len;
	uint8_t *pdu;
};

struct end {
	struct cw_isis_config c;
	struct cw_isis *m;
	struct packet in[FLIGHT]; /* on the way to it */
	size_t n;
};

struct world {
	uint64_t now;
	uint32_t random, loss; /* percent */
	bool cut;
	struct end end[2];
};

static inline struct cw_addr addr_of(const char *text)
{
	struct cw_addr a = {0};

	assert_int_equal(cw_addr_parse(text, &a), CW_OK);
	return a;
}

static inline void boot(struct world *w, unsigned i)
{
	assert_int_equal(cw_isis_new(&w->end[i].m, &w->end[i].c, w->now), CW_OK);
}

/* Systems 0000.0000.0001 and 0002, area 49.0001. */
static inline struct world *world_new(uint32_t loss)
{
	static const uint8_t area[3] = {0x49, 0, 1};
	struct world *w = calloc(1, sizeof(*w));
	unsigned i;

	w->now = 1000;
	w->random = 4711;
	w->loss = loss;
	for (i = 0; i < 2; i++) {
		struct cw_isis_config c = CW_ISIS_CONFIG;

		c.system[5] = (uint8_t)(i + 1);
		memcpy(c.area, area, sizeof(area));
		c.area_len = sizeof(area);
		c.circuit = 100 + i;
		c.hello_ms = 1000;
		(void)snprintf(c.hostname, sizeof(c.hostname), "end%u", i);
		c.addr4 = addr_of(i == 0 ? "10.0.0.1" : "10.0.0.2");
		w->end[i].c = c;
	}
	return w;
}

static inline void die(struct world *w, unsigned i)
{
	struct end *e = &w->end[i];

	cw_isis_free(e->m);
	e->m = NULL;
	while (e->n > 0)
		free(e->in[--e->n].pdu);
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
	uint8_t buf[CW_ISIS_PDU_MAX];
	struct cw_isis_pdu p;
	size_t n;

	while ((n = cw_isis_pull(w->end[i].m, buf, sizeof(buf), w->now)) > 0) {
		assert_int_equal(cw_isis_pdu_parse(&p, buf, n), CW_OK);
		assert_true(n <= w->end[i].c.mtu);
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
			(void)cw_isis_input(e->m, e->in[k].pdu, e->in[k].len, w->now);
			free(e->in[k].pdu);
		}
		(void)cw_isis_tick(e->m, w->now);
		pull_all(w, i);
	}
}

static inline void pass(struct world *w, uint64_t ms)
{
	uint64_t until = w->now + ms;

	while (w->now < until)
		step(w);
}

static inline struct cw_isis_info info(const struct world *w, unsigned i)
{
	struct cw_isis_info out;

	cw_isis_info(w->end[i].m, &out);
	return out;
}

static inline const struct cw_isis_counters *counters(const struct world *w, unsigned i)
{
	return cw_isis_counters(w->end[i].m);
}

/* Announce host prefixes (N) and others as they are written, all through one proxy. */
static inline void announce(struct world *w, unsigned i, const char *v4, const char *v6,
			    const char *const *prefix, size_t n)
{
	struct cw_isis_prefix p[600] = {0};
	struct cw_addr router[2] = {{0}};
	size_t k, used = 0;

	assert_true(n < 590);
	if (v4 != NULL) {
		router[0] = addr_of(v4);
		assert_int_equal(cw_prefix_parse(v4, &p[used].prefix), CW_OK);
		p[used++].node = true;
	}
	if (v6 != NULL) {
		router[1] = addr_of(v6);
		assert_int_equal(cw_prefix_parse(v6, &p[used].prefix), CW_OK);
		p[used++].node = true;
	}
	for (k = 0; k < n; k++) {
		assert_int_equal(cw_prefix_parse(prefix[k], &p[used].prefix), CW_OK);
		p[used++].metric = CW_ISIS_METRIC_MAX + 1;
	}
	assert_int_equal(cw_isis_announce(w->end[i].m, router, p, used, w->now), CW_OK);
}

/* Does it know this proxy for this prefix, from that level? */
static inline bool knows(const struct world *w, unsigned i, unsigned level, const char *prefix,
			 const char *proxy)
{
	char a[CW_PREFIX_TEXT], b[CW_ADDR_TEXT];
	const struct cw_isis_proxy *p;
	size_t n, k;

	p = cw_isis_proxies(w->end[i].m, &n);
	for (k = 0; k < n; k++) {
		if (p[k].level == level && strcmp(cw_prefix_format(&p[k].prefix, a), prefix) == 0 &&
		    strcmp(cw_addr_format(&p[k].proxy, b), proxy) == 0)
			return true;
	}
	return false;
}

static inline size_t known(const struct world *w, unsigned i)
{
	size_t n;

	(void)cw_isis_proxies(w->end[i].m, &n);
	return n;
}

/* Number of an LSP in the database of an end; 0: it isn't there, or purged. */
static inline uint32_t sequence(const struct world *w, unsigned i, unsigned level, uint8_t system,
				uint8_t fragment)
{
	struct cw_isis_lsp_info l;
	size_t k;

	for (k = 0; cw_isis_lsp_at(w->end[i].m, level, k, w->now, &l); k++) {
		if (l.id[5] == system && l.id[7] == fragment && l.lifetime_s > 0)
			return l.sequence;
	}
	return 0;
}

#endif
