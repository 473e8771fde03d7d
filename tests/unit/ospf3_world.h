/* ospf3_world.h - two OSPFv3 leaves at both ends of a link that loses packets as it likes. */
#ifndef TESTS_UNIT_OSPF3_WORLD_H
#define TESTS_UNIT_OSPF3_WORLD_H

#include "causeway/ospf3.h"
#define LEAF(x)    cw_ospf3##x
#define PACKET_MAX CW_OSPF3_MTU_MAX
#include "tests/unit/world.h"

/* Routers 10.0.0.1 and 10.0.0.2 in area 0. */
static inline struct world *world_new(uint32_t loss)
{
	struct world *w = world_made(loss);
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct cw_ospf3_config c = CW_OSPF3_CONFIG;

		c.router[0] = 10;
		c.router[3] = (uint8_t)(i + 1);
		c.interface = 100 + i;
		c.hello_s = 1;
		c.dead_s = 4;
		c.address[0] = 0xfe;
		c.address[1] = 0x80;
		c.address[15] = (uint8_t)(i + 1);
		w->end[i].c = c;
	}
	return w;
}

/* Every packet has the right lengths and checksum, and fits the MTU. */
static inline void check_sent(const struct world *w, unsigned i, const uint8_t *buf, size_t n)
{
	struct cw_ospf3_packet p;

	assert_int_equal(cw_ospf3_packet_parse(&p, buf, n), CW_OK);
	assert_true(n + 40 <= w->end[i].c.mtu);
	if (w->end[i].c.auth.hasher == NULL)
		assert_int_equal(
			cw_ospf3_head_checksum(buf),
			cw_ospf3_checksum(w->end[i].c.address, cw_ospf3_all_routers, buf, p.len));
}

static inline int say(struct world *w, unsigned i, const uint8_t *packet, size_t len)
{
	return cw_ospf3_input(w->end[i].m, w->end[1 - i].c.address, cw_ospf3_all_routers, packet,
			      len, w->now);
}

/* Announce a host prefix (N) and others. */
static inline void announce(struct world *w, unsigned i, const char *host, enum cw_ospf3_kind kind,
			    const char *const *prefix, size_t n)
{
	struct cw_ospf3_prefix p[600] = {0};
	size_t k, used = 0;

	assert_true(n < 590);
	if (host != NULL) {
		assert_int_equal(cw_prefix_parse(host, &p[used].prefix), CW_OK);
		p[used++].node = true;
	}
	for (k = 0; k < n; k++) {
		assert_int_equal(cw_prefix_parse(prefix[k], &p[used].prefix), CW_OK);
		p[used++].kind = kind;
	}
	assert_int_equal(cw_ospf3_announce(w->end[i].m, p, used, w->now), CW_OK);
}

/* Does it know this proxy for this prefix, from an LSA of that type? */
static inline bool knows(const struct world *w, unsigned i, uint16_t type, const char *prefix,
			 const char *proxy)
{
	const struct cw_ospf3_proxy *p = NULL;

	while ((p = find_proxy(w, i, prefix, proxy, p)) != NULL) {
		if (p->type == type)
			return true;
	}
	return false;
}

/* The LSA in the database of an end; false: it isn't there, or flushed. */
static inline bool find_lsa(const struct world *w, unsigned i, uint8_t router, uint16_t type,
			    uint32_t id, struct cw_ospf3_lsa_info *out)
{
	size_t k;

	for (k = 0; cw_ospf3_lsa_at(w->end[i].m, k, w->now, out); k++) {
		if (cw_ospf3_lsa_router(out->lsa)[3] == router &&
		    cw_ospf3_lsa_type(out->lsa) == type && cw_ospf3_lsa_id(out->lsa) == id)
			return out->age < CW_OSPF3_MAX_AGE;
	}
	return false;
}

/* Its number, 0 without. */
static inline uint32_t sequence(const struct world *w, unsigned i, uint8_t router, uint16_t type,
				uint32_t id)
{
	struct cw_ospf3_lsa_info l;

	return find_lsa(w, i, router, type, id, &l) ? cw_ospf3_lsa_sequence(l.lsa) : 0;
}

static inline void both_up(struct world *w)
{
	boot(w, 0);
	boot(w, 1);
	pass(w, 4000);
	assert_int_equal(info(w, 0).state, CW_OSPF3_FULL);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
}

/* A packet as end 1-i would send it: `body` behind the header. Say it to end `i`. */
static inline int say_made(struct world *w, unsigned i, uint8_t type, const uint8_t *body,
			   size_t len)
{
	const struct cw_ospf3_config *c = &w->end[1 - i].c;
	uint8_t *p = calloc(1, CW_SIZE_OSPF3_HEAD + len);
	size_t n = CW_SIZE_OSPF3_HEAD + len;
	int err;

	cw_ospf3_head_set_version(p, 3);
	cw_ospf3_head_set_type(p, type);
	cw_ospf3_head_set_length(p, (uint32_t)n);
	cw_ospf3_head_set_router(p, c->router);
	cw_ospf3_head_set_area(p, c->area);
	cw_ospf3_head_set_instance(p, c->instance);
	memcpy(p + CW_SIZE_OSPF3_HEAD, body, len);
	cw_ospf3_head_set_checksum(p, cw_ospf3_checksum(c->address, cw_ospf3_all_routers, p, n));
	err = say(w, i, p, n);
	free(p);
	return err;
}

/* Say one LSA to end `i`, its checksum made right. */
static inline int say_lsa(struct world *w, unsigned i, uint8_t *lsa, size_t len)
{
	uint8_t *body = calloc(1, 4 + len);
	int err;

	cw_ospf3_lsa_set_length(lsa, (uint32_t)len);
	cw_ospf3_lsa_set_checksum(lsa, cw_fletcher(lsa + 2, len - 2, 14));
	cw_put_be32(body, 1);
	memcpy(body + 4, lsa, len);
	err = say_made(w, i, CW_OSPF3_UPDATE, body, 4 + len);
	free(body);
	return err;
}

#endif
