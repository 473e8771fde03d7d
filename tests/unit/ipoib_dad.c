/* Duplicates of own addresses on an IPoIB link: RFC 4862 5.4 and RFC 5227 2. */
#include "tests/unit/ipoib_world.h"

static const uint8_t other4[4] = {10, 0, 0, 77};
static const uint8_t six[16] = {0xfe, 0x80, [15] = 9};

static struct world *probing_world(unsigned nodes, uint32_t probes)
{
	struct world *w = world_new(nodes, false);
	struct node *n = &w->n[0];

	cw_ipoib_free(n->link);
	n->c.probes = probes;
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	return w;
}

/* From no address, for the address, to everybody; it is answered for, and told, a second later. */
static void rfc5227_2_1_1_probes_come_first(void **state)
{
	struct world *w = probing_world(2, 3);
	struct node *n = &w->n[0];

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, other4), CW_OK);
	pass(w, 200);
	assert_int_equal(n->nsent, 1);
	assert_int_equal(n->tx.dqpn, CW_IB_QPN_MCAST);
	assert_int_equal(cw_ipoib_arp_op(n->sent + 4), 1);
	assert_int_equal(cw_be32(cw_ipoib_arp_spa(n->sent + 4)), 0);
	assert_memory_equal(cw_ipoib_arp_tpa(n->sent + 4), other4, 4);
	(void)send4(w, 1, other4, 100);
	assert_int_equal(n->delivered, 0);
	pass(w, 2500);
	assert_int_equal(n->nsent, 3);
	assert_int_equal(n->delivered, 0);
	pass(w, 500);
	assert_int_equal(n->duplicates, 0);
	assert_int_equal(n->delivered, 1); /* asked again meanwhile, by the one that waits */
	world_free(w);
}

static void rfc5227_2_1_1_address_of_another_is_not_used(void **state)
{
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[0];

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, ip_of[1]), CW_OK);
	pass(w, 3000);
	assert_int_equal(n->duplicates, 1);
	assert_true(n->lost);
	assert_int_equal(cw_ipoib_counters(n->link)->addr_duplicate, 1);
	assert_int_equal(n->nsent, 1); /* the probe: nothing was told to anybody */
	/* It is a neighbour's, and can be talked to as such. */
	(void)send4(w, 0, ip_of[1], 100);
	assert_int_equal(w->n[1].delivered, 1);
	assert_int_equal(cw_ipoib_counters(w->n[1].link)->addr_conflict, 0);
	world_free(w);
}

/* Both look at the same time, and hear each other. */
/* A question from no address would look like a search for duplicates, and take the other's. */
static void rfc5227_1_1_questions_wait_for_an_address(void **state)
{
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[0];

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, other4), CW_OK);
	pass(w, 100);
	assert_int_equal(n->nsent, 1);
	(void)send4(w, 0, ip_of[1], 100);
	pass(w, 300);
	assert_int_equal(n->nsent, 1); /* the probe */
	assert_int_equal(w->n[1].delivered, 0);
	pass(w, 3000);
	assert_int_equal(w->n[1].delivered, 1);
	world_free(w);
}

static void rfc5227_2_1_1_two_that_probe(void **state)
{
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[1];

	(void)state;
	cw_ipoib_free(n->link);
	n->c.probes = 1;
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(w->n[0].link, w->now, false, other4), CW_OK);
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, false, other4), CW_OK);
	pass(w, 3000);
	assert_true(w->n[0].duplicates + w->n[1].duplicates >= 1);
	assert_true(w->n[0].lost || w->n[1].lost);
	world_free(w);
}

static void rfc5227_2_4_address_in_use_is_defended(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_neigh_info i;
	struct node *n = &w->n[0];
	unsigned k, told;

	(void)state;
	pass(w, 500);
	(void)send4(w, 1, ip_of[0], 100);
	assert_true(cw_ipoib_neigh_at(w->n[1].link, 0, &i));
	told = n->nsent;
	/* The other node takes the address, without looking. */
	for (k = 0; k < 3; k++) {
		assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, false, ip_of[0]), CW_OK);
		settle(w);
		(void)cw_ipoib_unaddress(w->n[1].link, w->now, false, ip_of[0]);
		pass(w, 1000);
	}
	assert_true(cw_ipoib_counters(n->link)->addr_conflict >= 3); /* the other defends it, too */
	assert_int_equal(n->duplicates, 1);                          /* once in ten seconds */
	assert_int_equal(n->nsent, told + 1);
	assert_false(n->lost);
	pass(w, 10000);
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, false, ip_of[0]), CW_OK);
	settle(w);
	assert_int_equal(n->duplicates, 2);
	world_free(w);
}

/* A solicitation from ::, without a link-layer address, to the solicited-node group, which was
 * joined before. */
static void rfc4862_5_4_2_solicitation_from_no_address(void **state)
{
	static const uint8_t any[16], all_nodes[16] = {0xff, 2, [15] = 1};
	struct world *w = probing_world(2, 1);
	struct cw_ipoib_group_info g;
	struct node *n = &w->n[0];
	struct cw_nd nd;

	(void)state;
	assert_int_equal(cw_ipoib_join(n->link, w->now, true, all_nodes), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, true, six), CW_OK);
	pass(w, 200);
	assert_true(find_group(n->link, "ff12:601b:8001::1:ff00:9", &g));
	assert_true(g.joined);
	assert_int_equal(n->nsent, 1);
	assert_int_equal(n->sent_len, 4 + 40 + 4 + 20);
	assert_int_equal(cw_nd_parse(n->sent + 4, n->sent_len - 4, &nd), CW_OK);
	assert_int_equal(nd.type, CW_ICMP6_NS);
	assert_memory_equal(nd.src, any, 16);
	assert_memory_equal(nd.target, six, 16);
	pass(w, 1200);
	assert_int_equal(n->nsent, 2); /* the advertisement */
	assert_true(cw_nd_override(n->sent + 4 + 40 + 4));
	world_free(w);
}

static void rfc4862_5_4_4_advertisement_says_duplicate(void **state)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[0];

	(void)state;
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, true, six), CW_OK);
	/* As every node with IPv6 does. */
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, true, all_nodes), CW_OK);
	assert_int_equal(cw_ipoib_join(n->link, w->now, true, all_nodes), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, true, six), CW_OK);
	pass(w, 2500);
	assert_int_equal(n->duplicates, 1);
	assert_true(n->lost);
	assert_int_equal(cw_ipoib_counters(w->n[1].link)->addr_conflict, 0);
	world_free(w);
}

static void rfc4862_5_4_3_solicitation_of_another_says_duplicate(void **state)
{
	struct world *w = probing_world(2, 2);
	struct node *n = &w->n[1];

	(void)state;
	cw_ipoib_free(n->link);
	n->c.probes = 2;
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(w->n[0].link, w->now, true, six), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, true, six), CW_OK);
	pass(w, 500);
	assert_int_equal(w->n[0].duplicates, 1);
	assert_true(w->n[0].lost);
	world_free(w);
}

/* Who can't join the group hears no answer; there is an address nevertheless, a little later. */
static void a_group_that_is_refused_is_waited_for(void **state)
{
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[0];
	unsigned i;

	(void)state;
	pass(w, 500);
	for (i = 0; i < 63; i++) { /* the SA has 64 multicast LIDs */
		uint8_t group[4] = {239, 1, 1, (uint8_t)i};

		assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, group), CW_OK);
		settle(w);
	}
	assert_int_equal(cw_ipoib_address(n->link, w->now, true, six), CW_OK);
	pass(w, 4900);
	assert_int_equal(n->nsent, 0);
	pass(w, 1500);
	assert_int_equal(cw_ipoib_counters(n->link)->addr_duplicate, 0);
	(void)cw_ipoib_address(w->n[1].link, w->now, false, other4);
	assert_true(n->logs > 0);
	world_free(w);
}

/* The link goes and comes: somebody may have taken the address meanwhile. */
static void looked_for_again_when_the_link_comes_back(void **state)
{
	struct world *w = probing_world(2, 1);
	struct node *n = &w->n[0];

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, other4), CW_OK);
	pass(w, 2500);
	assert_int_equal(n->nsent, 2);
	w->lose_all = true; /* nobody defends it */
	cw_ipoib_free(n->link);
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, other4), CW_OK);
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, false, other4), CW_OK);
	settle(w);
	w->lose_all = false;
	pass(w, 2500);
	assert_int_equal(n->duplicates, 1);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc5227_2_1_1_probes_come_first),
		cmocka_unit_test(rfc5227_2_1_1_address_of_another_is_not_used),
		cmocka_unit_test(rfc5227_1_1_questions_wait_for_an_address),
		cmocka_unit_test(rfc5227_2_1_1_two_that_probe),
		cmocka_unit_test(rfc5227_2_4_address_in_use_is_defended),
		cmocka_unit_test(rfc4862_5_4_2_solicitation_from_no_address),
		cmocka_unit_test(rfc4862_5_4_4_advertisement_says_duplicate),
		cmocka_unit_test(rfc4862_5_4_3_solicitation_of_another_says_duplicate),
		cmocka_unit_test(a_group_that_is_refused_is_waited_for),
		cmocka_unit_test(looked_for_again_when_the_link_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
