/* ospf3_areas: a leaf at the border of two areas, a leaf in each of them:
 *
 *   p (10.0.0.1) -- area one -- border (10.0.0.2) -- area two -- c (10.0.0.3)
 *
 * Tests are named after sections of the Fast CNP proxy draft and of RFC 2328, 5340, 8362, 9084. */
#include "tests/unit/ospf3_world.h"

static const char *const senders[] = {"2001:db8:1::/48", "2001:db8:2::/48"};

struct areas {
	struct world *one, *two; /* the border is end 1 of one, end 0 of two */
};

static void pass_on(struct areas *a)
{
	struct cw_ospf3 *x = a->one->end[1].m, *y = a->two->end[0].m;

	if (x == NULL)
		return;
	assert_int_equal(cw_ospf3_border(y, x, a->one->now), CW_OK);
	assert_int_equal(cw_ospf3_border(x, y, a->one->now), CW_OK);
}

static void pass_both(struct areas *a, uint64_t ms)
{
	uint64_t until = a->one->now + ms;

	while (a->one->now < until) {
		step(a->one);
		step(a->two);
		pass_on(a);
	}
}

static struct areas areas_of(uint8_t one, uint8_t two, enum cw_ospf3_area type)
{
	struct areas a = {world_new(0), world_new(0)};
	unsigned i;

	for (i = 0; i < 2; i++) {
		a.one->end[i].c.area[3] = one;
		a.one->end[i].c.area_type = type;
		a.two->end[i].c.area[3] = two;
		a.two->end[i].c.router[3] = (uint8_t)(i + 2);
	}
	a.one->end[1].c.border = a.two->end[0].c.border = true;
	a.one->end[0].c.metric = a.two->end[1].c.metric = 7;
	for (i = 0; i < 2; i++) {
		boot(a.one, i);
		boot(a.two, i);
	}
	pass_both(&a, 4000);
	assert_int_equal(info(a.one, 1).state, CW_OSPF3_FULL);
	assert_int_equal(info(a.two, 0).state, CW_OSPF3_FULL);
	return a;
}

static struct areas areas_new(uint8_t one, uint8_t two)
{
	return areas_of(one, two, CW_OSPF3_NORMAL);
}

static void areas_free(struct areas *a)
{
	world_free(a->one);
	world_free(a->two);
}

static bool far_knows(const struct areas *a, const char *prefix, const char *proxy)
{
	return knows(a->two, 1, CW_OSPF3_E_INTER, prefix, proxy);
}

struct want {
	const char *prefix;
	struct cw_pnc_prefix found;
	bool seen;
};

static int see(void *arg, const struct cw_pnc_prefix *p)
{
	char text[CW_PREFIX_TEXT];
	struct want *w = arg;

	if (strcmp(cw_prefix_format(&p->prefix, text), w->prefix) == 0) {
		w->found = *p;
		w->seen = true;
	}
	return 0;
}

/* A prefix as the border's E-Inter-Area-Prefix-LSA has it. */
static bool summary(const struct world *w, unsigned i, const char *prefix,
		    struct cw_pnc_prefix *out)
{
	const struct cw_pnc_codes codes = CW_PNC_CODES;
	struct want want = {.prefix = prefix};
	struct cw_ospf3_lsa_info l;
	size_t k;

	for (k = 0; cw_ospf3_lsa_at(w->end[i].m, k, w->now, &l); k++) {
		if (cw_ospf3_lsa_type(l.lsa) == CW_OSPF3_E_INTER &&
		    cw_ospf3_lsa_router(l.lsa)[3] == 2 && l.age < CW_OSPF3_MAX_AGE)
			assert_int_equal(cw_ospf3_walk(&codes, CW_OSPF3_E_INTER, l.lsa + 20,
						       l.len - 20, see, &want, NULL),
					 CW_OK);
	}
	*out = want.found;
	return want.seen;
}

/* ---- The rules ------------------------------------------------------------------------------ */

static void s5_3_flag_preserved(void **state)
{
	struct areas a = areas_new(1, 0);

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 2);
	pass_both(&a, 3000);
	assert_int_equal(known(a.two, 1), 3);
	assert_true(far_knows(&a, "fd99::1/128", "fd99::1"));
	assert_true(far_knows(&a, "2001:db8:1::/48", "fd99::1"));
	assert_true(far_knows(&a, "2001:db8:2::/48", "fd99::1"));
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	pass_both(&a, 3000);
	assert_int_equal(known(a.two, 1), 2);
	assert_false(far_knows(&a, "2001:db8:2::/48", "fd99::1"));
	areas_free(&a);
}

/* What is not flagged is not passed on: that is the routers' work. */
static void s5_3_only_flagged(void **state)
{
	struct areas a = areas_new(1, 0);
	uint8_t lsa[20 + 12 + 4 + 8 + 16] = {0}, *tlv = lsa + 32;
	struct cw_pnc_prefix p;

	(void)state;
	cw_ospf3_lsa_set_type(lsa, CW_OSPF3_E_INTRA);
	cw_ospf3_lsa_set_id(lsa, 99);
	cw_ospf3_lsa_set_router(lsa, a.one->end[0].c.router);
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	tlv[1] = 6;
	tlv[3] = 24;
	tlv[8] = 128;
	tlv[12] = 0xfd;
	tlv[27] = 7;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	pass_both(&a, 3000);
	assert_int_equal(say_lsa(a.one, 1, lsa, sizeof(lsa)), CW_OK);
	pass_both(&a, 3000);
	assert_false(summary(a.two, 1, "fd00::7/128", &p));
	assert_int_equal(known(a.two, 1), 2);
	areas_free(&a);
}

/* The metric is that of the way from the border on; LA, of an address of the router itself, goes, N
 * and NU stay; whose prefix it was is said. */
static void rfc5340_4_4_3_4_what_is_said(void **state)
{
	struct cw_ospf3_prefix own[2] = {{.metric = 3, .node = true}, {.metric = 5}};
	struct areas a = areas_new(1, 0);
	struct cw_pnc_prefix p;
	char text[CW_ADDR_TEXT];

	(void)state;
	assert_int_equal(cw_prefix_parse("fd99::1", &own[0].prefix), CW_OK);
	assert_int_equal(cw_prefix_parse(senders[0], &own[1].prefix), CW_OK);
	assert_int_equal(cw_ospf3_announce(a.one->end[0].m, own, 2, a.one->now), CW_OK);
	pass_both(&a, 3000);
	assert_true(summary(a.two, 1, "fd99::1/128", &p));
	assert_true(p.pnc && p.node);
	assert_int_equal(p.options, 0x20);
	assert_int_equal(p.metric, 3);
	assert_string_equal(cw_addr_format(&p.source, text), "fd99::1");
	assert_int_equal(p.source_router[3], 1);
	assert_true(summary(a.two, 1, senders[0], &p));
	assert_int_equal(p.options, 0x01);
	assert_int_equal(p.metric, 5);
	assert_string_equal(cw_addr_format(&p.source, text), "fd99::1");
	areas_free(&a);
}

static void rfc2328_12_4_3_not_back(void **state)
{
	struct areas a = areas_new(1, 0);
	struct cw_pnc_prefix p;

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	pass_both(&a, 3000);
	assert_true(summary(a.two, 1, senders[0], &p));
	assert_false(summary(a.one, 0, senders[0], &p));
	areas_free(&a);
}

/* Both areas announce it: each keeps to its own. */
static void rfc2328_12_4_3_intra_area_wins(void **state)
{
	struct areas a = areas_new(1, 0);
	struct cw_pnc_prefix p;

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	announce(a.two, 1, "fd99::3", CW_OSPF3_AS_INTRA, senders, 1);
	pass_both(&a, 3000);
	assert_false(summary(a.one, 0, senders[0], &p));
	assert_false(summary(a.two, 1, senders[0], &p));
	assert_true(summary(a.one, 0, "fd99::3/128", &p));
	assert_true(summary(a.two, 1, "fd99::1/128", &p));
	areas_free(&a);
}

/* Inter-area prefixes go from the backbone on, never into it. */
static void rfc2328_12_4_3_by_way_of_the_backbone(void **state)
{
	struct areas a = areas_new(0, 1);

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTER, senders, 1);
	pass_both(&a, 3000);
	assert_true(far_knows(&a, senders[0], "fd99::1"));
	areas_free(&a);
	a = areas_new(1, 0);
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTER, senders, 1);
	pass_both(&a, 3000);
	assert_false(far_knows(&a, senders[0], "fd99::1"));
	assert_true(far_knows(&a, "fd99::1/128", "fd99::1"));
	areas_free(&a);
}

/* Prefixes of an NSSA stay in it, which the border says: no translation. */
static void rfc3101_3_2_nssa_is_not_translated(void **state)
{
	struct areas a = areas_of(1, 0, CW_OSPF3_NSSA);

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_EXTERNAL, senders, 2);
	pass_both(&a, 3000);
	assert_true(knows(a.one, 1, CW_OSPF3_E_NSSA, senders[0], "fd99::1"));
	assert_true(far_knows(&a, "fd99::1/128", "fd99::1")); /* intra-area */
	assert_int_equal(known(a.two, 1), 1);
	assert_int_equal(info(a.one, 1).untranslated, 2);
	assert_int_equal(info(a.two, 0).untranslated, 0);
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 2);
	pass_both(&a, 3000);
	assert_int_equal(known(a.two, 1), 3);
	assert_int_equal(info(a.one, 1).untranslated, 0);
	areas_free(&a);
}

/* The border is a proxy, too: what it passes on does not become its own. */
static void rfc9084_3_the_border_is_a_proxy(void **state)
{
	struct areas a = areas_new(1, 0);

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	announce(a.two, 0, "fd99::2", CW_OSPF3_AS_INTRA, senders + 1, 1);
	pass_both(&a, 3000);
	assert_true(far_knows(&a, senders[0], "fd99::1"));
	assert_true(knows(a.two, 1, CW_OSPF3_E_INTRA, senders[1], "fd99::2"));
	areas_free(&a);
}

static void rfc5340_4_4_3_2_b_bit(void **state)
{
	struct areas a = areas_new(1, 0);
	struct cw_ospf3_lsa_info l;

	(void)state;
	assert_true(find_lsa(a.two, 1, 2, CW_OSPF3_ROUTER, 0, &l));
	assert_true(cw_ospf3_router_b(l.lsa + CW_SIZE_OSPF3_LSA));
	assert_true(find_lsa(a.two, 1, 3, CW_OSPF3_ROUTER, 0, &l));
	assert_false(cw_ospf3_router_b(l.lsa + CW_SIZE_OSPF3_LSA));
	areas_free(&a);
}

/* A prefix that stays keeps its LSA; one whose originator goes is flushed. */
static void s5_3_withdrawn_with_its_originator(void **state)
{
	struct areas a = areas_new(1, 0);
	uint64_t before;

	(void)state;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 1);
	pass_both(&a, 8000);
	before = counters(a.two, 0)->originated;
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 2);
	pass_both(&a, 8000);
	assert_int_equal(counters(a.two, 0)->originated, before + 1);
	die(a.one, 0);
	pass_both(&a, 6000);
	assert_int_equal(known(a.two, 1), 0);
	assert_int_equal(counters(a.two, 0)->taken_back, 3);
	boot(a.one, 0);
	announce(a.one, 0, "fd99::1", CW_OSPF3_AS_INTRA, senders, 2);
	pass_both(&a, 8000);
	assert_int_equal(known(a.two, 1), 3);
	areas_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_3_flag_preserved),
		cmocka_unit_test(s5_3_only_flagged),
		cmocka_unit_test(rfc5340_4_4_3_4_what_is_said),
		cmocka_unit_test(rfc2328_12_4_3_not_back),
		cmocka_unit_test(rfc2328_12_4_3_intra_area_wins),
		cmocka_unit_test(rfc2328_12_4_3_by_way_of_the_backbone),
		cmocka_unit_test(rfc3101_3_2_nssa_is_not_translated),
		cmocka_unit_test(rfc9084_3_the_border_is_a_proxy),
		cmocka_unit_test(rfc5340_4_4_3_2_b_bit),
		cmocka_unit_test(s5_3_withdrawn_with_its_originator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
