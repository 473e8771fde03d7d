/* isis_world.h - two IS-IS leaves at both ends of a link that loses packets as it likes. */
#ifndef TESTS_UNIT_ISIS_WORLD_H
#define TESTS_UNIT_ISIS_WORLD_H

#include "causeway/isis.h"
#define LEAF(x)    cw_isis##x
#define PACKET_MAX CW_ISIS_PDU_MAX
#include "tests/unit/world.h"

static inline struct cw_addr addr_of(const char *text)
{
	struct cw_addr a = {0};

	assert_int_equal(cw_addr_parse(text, &a), CW_OK);
	return a;
}

static inline int say(struct world *w, unsigned i, const uint8_t *pdu, size_t len)
{
	return cw_isis_input(w->end[i].m, pdu, len, w->now);
}

/* Every PDU has the right lengths and fits the MTU. */
static inline void check_sent(const struct world *w, unsigned i, const uint8_t *pdu, size_t len)
{
	struct cw_isis_pdu p;

	assert_int_equal(cw_isis_pdu_parse(&p, pdu, len), CW_OK);
	assert_true(len <= w->end[i].c.mtu);
}

/* Systems 0000.0000.0001 and 0002, area 49.0001. */
static inline struct world *world_new(uint32_t loss)
{
	static const uint8_t area[3] = {0x49, 0, 1};
	struct world *w = world_made(loss);
	unsigned i;

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
	const struct cw_isis_proxy *p = NULL;

	while ((p = find_proxy(w, i, prefix, proxy, p)) != NULL) {
		if (p->level == level)
			return true;
	}
	return false;
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
