/* ospf3: two leaves face each other over a link that may lose packets. Tests are named after
 * sections of RFC 2328, 5340, 7166 and 8362 and of the Fast CNP proxy draft. */
#include "daemon/control/hasher.h"
#include "tests/unit/ospf3_world.h"

static const char *const senders[] = {"2001:db8:1::/48", "2001:db8:2::/48"};
static const char proxy[] = "fd99::1";

/* Both up, and end 1 has learnt what end 0 announces. */
static struct world *told(uint32_t loss)
{
	struct world *w = world_new(loss);

	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 1);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 2);
	return w;
}

/* ---- Adjacency ----------------------------------------------------------------------------- */

static void rfc2328_10_full(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	assert_int_equal(info(w, 0).neighbour[3], 2);
	assert_int_equal(info(w, 0).address[15], 2);
	assert_int_equal(counters(w, 0)->adjacencies, 1);
	assert_int_equal(counters(w, 0)->mismatches, 0);
	assert_int_equal(info(w, 0).reachable, 1);
	world_free(w);
}

static void rfc2328_10_5_one_way_is_no_adjacency(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	boot_one_way(w);
	assert_int_equal(info(w, 0).state, CW_OSPF3_DOWN);
	assert_int_equal(info(w, 1).state, CW_OSPF3_INIT);
	world_free(w);
}

/* What both ends must agree on; `n` counts hellos that did not. */
#define NO_ADJACENCY(w, n)                                         \
	do {                                                       \
		boot(w, 0);                                        \
		boot(w, 1);                                        \
		pass(w, 5000);                                     \
		assert_int_equal(info(w, 0).state, CW_OSPF3_DOWN); \
		assert_true(counters(w, 0)->n > 2);                \
		world_free(w);                                     \
	} while (0)

static void rfc2328_10_5_intervals(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.dead_s = 5;
	NO_ADJACENCY(w, timer_mismatch);
}

static void rfc2328_10_5_options(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.area_type = CW_OSPF3_STUB;
	NO_ADJACENCY(w, option_mismatch);
	w = world_new(0);
	w->end[0].c.area_type = CW_OSPF3_STUB;
	w->end[1].c.area_type = CW_OSPF3_NSSA;
	NO_ADJACENCY(w, option_mismatch);
}

static void rfc5340_4_2_2_area_and_instance(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.area[3] = 1;
	NO_ADJACENCY(w, area_mismatch);
	w = world_new(0);
	w->end[1].c.instance = 1;
	NO_ADJACENCY(w, instance_mismatch);
	w = world_new(0);
	w->end[1].c.router[3] = 1;
	NO_ADJACENCY(w, own_router);
	w = world_new(0);
	w->end[1].c.address[0] = 0x20;
	NO_ADJACENCY(w, not_link_local);
}

/* A neighbour that has the link as a LAN elects itself. */
static void rfc2328_9_4_no_lan(void **state)
{
	uint8_t body[24] = {0};
	struct world *w = world_new(0);

	(void)state;
	boot(w, 0);
	cw_put_be32(body, 7);
	cw_put_be32(body + 4, 0x01000013);
	cw_put_be16(body + 8, 1);
	cw_put_be16(body + 10, 4);
	memcpy(body + 12, w->end[1].c.router, 4);
	memcpy(body + 20, w->end[0].c.router, 4);
	assert_int_equal(say_made(w, 0, CW_OSPF3_HELLO, body, sizeof(body)), CW_E_CONFLICT);
	assert_int_equal(counters(w, 0)->lan, 1);
	assert_int_equal(info(w, 0).state, CW_OSPF3_DOWN);
	memset(body + 12, 0, 4);
	assert_int_equal(say_made(w, 0, CW_OSPF3_HELLO, body, sizeof(body)), CW_OK);
	world_free(w);
}

/* RFC 2328 16.1 (2) (b): the neighbour says that it has a link to a router, who has none to it. */
static void rfc2328_16_1_links_of_one_end(void **state)
{
	uint8_t far[20 + 4 + 16] = {0}, near[20 + 4 + 2 * 16] = {0};
	struct world *w = world_new(0);
	struct cw_ospf3_lsa_info l;
	uint8_t *edge = far + 24;

	(void)state;
	both_up(w);
	w->cut = true; /* or the neighbour objects to what is said for it */
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	assert_int_equal(l.len, 20 + 4 + 16);
	memcpy(near, l.lsa, l.len);
	cw_ospf3_lsa_set_age(near, 0);
	cw_ospf3_lsa_set_sequence(near, cw_ospf3_lsa_sequence(near) + 1);
	cw_ospf3_router_set_options(near + 20, CW_OSPF3_OPT_V6 | CW_OSPF3_OPT_R);
	memcpy(near + l.len, near + 24, 16);
	cw_put_be32(near + l.len + 12, 0x0a000009);
	assert_int_equal(say_lsa(w, 1, near, sizeof(near)), CW_OK);
	cw_ospf3_lsa_set_type(far, CW_OSPF3_ROUTER);
	cw_put_be32(far + 8, 0x0a000009);
	cw_ospf3_lsa_set_sequence(far, 0x80000001u);
	cw_ospf3_router_set_options(far + 20, CW_OSPF3_OPT_V6 | CW_OSPF3_OPT_R);
	assert_int_equal(say_lsa(w, 1, far, 24), CW_OK);
	pass(w, 1200);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_ROUTER, 0, &l));
	assert_false(l.reachable);
	cw_ospf3_edge_set_type(edge, CW_OSPF3_LINK_P2P);
	cw_ospf3_edge_set_metric(edge, 1);
	cw_ospf3_edge_set_router(edge, w->end[0].c.router);
	cw_ospf3_lsa_set_sequence(far, 0x80000002u);
	assert_int_equal(say_lsa(w, 1, far, sizeof(far)), CW_OK);
	pass(w, 500);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_ROUTER, 0, &l));
	assert_true(l.reachable);
	world_free(w);
}

/* The same over a network of several routers: its LSA, by its designated router 10.0.0.9, has to
 * list the router, and the router to name the network. */
static void rfc2328_16_1_transit_network(void **state)
{
	enum { NETWORK_ID = 5, LISTED = 2 };
	uint8_t near[20 + 4 + 2 * 16] = {0}, far[20 + 4 + 16] = {0};
	uint8_t network[20 + 4 + 4 * LISTED] = {0};
	struct world *w = world_new(0);
	struct cw_ospf3_lsa_info l;
	uint8_t *edge;

	(void)state;
	both_up(w);
	w->cut = true;
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	memcpy(near, l.lsa, l.len);
	edge = near + l.len;
	cw_ospf3_lsa_set_age(near, 0);
	cw_ospf3_lsa_set_sequence(near, cw_ospf3_lsa_sequence(near) + 1);
	cw_ospf3_router_set_options(near + 20, CW_OSPF3_OPT_V6 | CW_OSPF3_OPT_R);
	cw_ospf3_edge_set_type(edge, CW_OSPF3_LINK_TRANSIT);
	cw_ospf3_edge_set_metric(edge, 3);
	cw_ospf3_edge_set_remote(edge, NETWORK_ID);
	cw_put_be32(edge + 12, 0x0a000009);
	assert_int_equal(say_lsa(w, 1, near, sizeof(near)), CW_OK);
	cw_ospf3_lsa_set_type(far, CW_OSPF3_ROUTER);
	cw_put_be32(far + 8, 0x0a000009);
	cw_ospf3_lsa_set_sequence(far, 0x80000001u);
	cw_ospf3_router_set_options(far + 20, CW_OSPF3_OPT_V6 | CW_OSPF3_OPT_R);
	memcpy(far + 24, edge, 16);
	assert_int_equal(say_lsa(w, 1, far, sizeof(far)), CW_OK);
	cw_ospf3_lsa_set_type(network, CW_OSPF3_NETWORK);
	cw_ospf3_lsa_set_id(network, NETWORK_ID);
	cw_put_be32(network + 8, 0x0a000009);
	cw_ospf3_lsa_set_sequence(network, 0x80000001u);
	memcpy(network + 24, w->end[0].c.router, 4);
	assert_int_equal(say_lsa(w, 1, network, sizeof(network) - 4), CW_OK);
	pass(w, 1200);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_ROUTER, 0, &l));
	assert_false(l.reachable);
	cw_ospf3_lsa_set_sequence(network, 0x80000002u);
	cw_put_be32(network + 28, 0x0a000009);
	assert_int_equal(say_lsa(w, 1, network, sizeof(network)), CW_OK);
	pass(w, 1200);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_ROUTER, 0, &l));
	assert_true(l.reachable);
	world_free(w);
}

/* A description out of sequence: both begin the exchange anew, and come to its end again. */
static void rfc2328_10_6_sequence_mismatch(void **state)
{
	uint8_t description[12] = {0};
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	cw_put_be32(description + 8, 7);
	assert_int_equal(say_made(w, 0, CW_OSPF3_DD, description, sizeof(description)),
			 CW_E_CONFLICT);
	assert_int_equal(counters(w, 0)->mismatches, 1);
	assert_int_equal(info(w, 0).state, CW_OSPF3_EXSTART);
	pass(w, 8000);
	assert_int_equal(counters(w, 1)->mismatches, 1);
	assert_int_equal(info(w, 0).state, CW_OSPF3_FULL);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
	world_free(w);
}

static void rfc2328_10_6_mtu(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.mtu = 2000;
	boot(w, 0);
	boot(w, 1);
	pass(w, 20000);
	assert_true(info(w, 0).state < CW_OSPF3_EXCHANGE);
	assert_true(counters(w, 0)->mtu_mismatch > 1);
	world_free(w);
	w = world_new(0);
	w->end[1].c.mtu = 2000;
	w->end[0].c.mtu_ignore = true;
	both_up(w);
	world_free(w);
}

static void rfc2328_10_5_second_router(void **state)
{
	struct world *w = told(0);
	uint8_t hello[20] = {0};

	(void)state;
	cw_put_be32(hello + 4, 0x01000013);
	cw_put_be16(hello + 8, 1);
	cw_put_be16(hello + 10, 4);
	w->end[0].c.router[3] = 9; /* whom end 1 has not met */
	assert_int_equal(say_made(w, 1, CW_OSPF3_HELLO, hello, sizeof(hello)), CW_E_CONFLICT);
	assert_int_equal(counters(w, 1)->other_neighbour, 1);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
	world_free(w);
}

static void rfc2328_10_3_inactivity(void **state)
{
	struct world *w = told(0);

	(void)state;
	w->cut = true;
	pass(w, 2500);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
	pass(w, 2500);
	assert_int_equal(info(w, 1).state, CW_OSPF3_DOWN);
	assert_int_equal(counters(w, 1)->expired, 1);
	assert_int_equal(known(w, 1), 0); /* nobody can be reached */
	w->cut = false;
	pass(w, 6000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

/* ---- Announcing and learning --------------------------------------------------------------- */

static void s5_3_learnt_with_its_proxy(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 2);
	pass(w, 500);
	assert_int_equal(known(w, 1), 3);
	assert_true(knows(w, 1, CW_OSPF3_E_INTRA, "fd99::1/128", proxy));
	assert_true(knows(w, 1, CW_OSPF3_E_INTRA, "2001:db8:1::/48", proxy));
	assert_true(knows(w, 1, CW_OSPF3_E_INTRA, "2001:db8:2::/48", proxy));
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders + 1, 1);
	pass(w, 1500); /* MinLSArrival */
	assert_int_equal(known(w, 1), 2);
	assert_true(knows(w, 1, CW_OSPF3_E_INTRA, "2001:db8:2::/48", proxy));
	world_free(w);
}

static void rfc8362_4_inter_area_and_external(void **state)
{
	struct cw_ospf3_lsa_info l;
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_INTER, senders, 1);
	pass(w, 6000);
	assert_true(knows(w, 1, CW_OSPF3_E_INTER, "2001:db8:1::/48", proxy));
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	assert_int_equal(cw_ospf3_router_b(l.lsa + 20), 1);
	announce(w, 0, proxy, CW_OSPF3_AS_EXTERNAL, senders, 1);
	pass(w, 6000);
	assert_true(knows(w, 1, CW_OSPF3_E_EXTERNAL, "2001:db8:1::/48", proxy));
	assert_int_equal(known(w, 1), 2);
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	assert_int_equal(cw_ospf3_router_e(l.lsa + 20), 1);
	assert_int_equal(cw_ospf3_router_b(l.lsa + 20), 0);
	world_free(w);
}

/* A border router says how far a router of another area is: what that one announces counts. */
static void rfc2328_16_2_router_of_another_area(void **state)
{
	uint8_t way[CW_SIZE_OSPF3_LSA + CW_SIZE_OSPF3_INTER_ROUTER] = {0}, lsa[512];
	uint8_t *body = way + CW_SIZE_OSPF3_LSA;
	struct world *w = world_new(0);
	struct cw_ospf3_lsa_info l;
	size_t i;

	(void)state;
	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_EXTERNAL, senders, 1);
	pass(w, 6000);
	w->cut = true; /* and for dead_s the neighbour is there all the same */
	for (i = 0; cw_ospf3_lsa_at(w->end[1].m, i, w->now, &l); i++) {
		if (cw_ospf3_lsa_type(l.lsa) == CW_OSPF3_E_EXTERNAL)
			break;
	}
	assert_in_range(l.len, CW_SIZE_OSPF3_LSA, sizeof(lsa));
	memcpy(lsa, l.lsa, l.len);
	cw_ospf3_lsa_set_age(lsa, 0);
	cw_put_be32(lsa + 8, 0x0a000009);
	assert_int_equal(say_lsa(w, 1, lsa, l.len), CW_OK);
	pass(w, 500);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_E_EXTERNAL, cw_ospf3_lsa_id(lsa), &l));
	assert_false(l.reachable);
	cw_ospf3_lsa_set_type(way, CW_OSPF3_INTER_ROUTER);
	memcpy(way + 8, w->end[0].c.router, 4);
	cw_ospf3_lsa_set_sequence(way, 0x80000001u);
	cw_ospf3_inter_router_set_metric(body, CW_OSPF3_INFINITY);
	cw_put_be32(body + 8, 0x0a000009);
	assert_int_equal(say_lsa(w, 1, way, sizeof(way)), CW_OK);
	pass(w, 1100);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_E_EXTERNAL, cw_ospf3_lsa_id(lsa), &l));
	assert_false(l.reachable);
	cw_ospf3_lsa_set_sequence(way, 0x80000002u);
	cw_ospf3_inter_router_set_metric(body, 5);
	assert_int_equal(say_lsa(w, 1, way, sizeof(way)), CW_OK);
	pass(w, 900);
	assert_true(find_lsa(w, 1, 9, CW_OSPF3_E_EXTERNAL, cw_ospf3_lsa_id(lsa), &l));
	assert_true(l.reachable);
	world_free(w);
}

static void rfc8362_4_nssa(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.area_type = w->end[1].c.area_type = CW_OSPF3_NSSA;
	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_EXTERNAL, senders, 1);
	pass(w, 6000);
	assert_true(knows(w, 1, CW_OSPF3_E_NSSA, "2001:db8:1::/48", proxy));
	world_free(w);
}

static void rfc2328_3_6_nothing_external_in_a_stub_area(void **state)
{
	struct cw_ospf3_prefix p = {.prefix = {6, 48, {0x20, 1}}, .kind = CW_OSPF3_AS_EXTERNAL};
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.area_type = w->end[1].c.area_type = CW_OSPF3_STUB;
	both_up(w);
	assert_int_equal(cw_ospf3_announce(w->end[0].m, &p, 1, w->now), CW_E_ARG);
	p.kind = CW_OSPF3_AS_INTRA;
	assert_int_equal(cw_ospf3_announce(w->end[0].m, &p, 1, w->now), CW_OK);
	p.prefix.version = 4;
	assert_int_equal(cw_ospf3_announce(w->end[0].m, &p, 1, w->now), CW_E_ARG);
	world_free(w);
}

/* RFC 5340 A.2: R clear, V6 set; the proxy's address is routed to, senders are not. */
static void rfc5340_a_2_never_transit(void **state)
{
	struct cw_ospf3_lsa_info l;
	struct world *w = told(0);

	(void)state;
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	assert_int_equal(cw_ospf3_router_options(l.lsa + 20), CW_OSPF3_OPT_V6 | CW_OSPF3_OPT_E);
	assert_int_equal(l.len, 20 + 4 + 16);
	assert_int_equal(cw_ospf3_edge_remote(l.lsa + 24), 101);
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_INTRA, 1, &l));
	assert_int_equal(l.len, 20 + 12 + 4 + 16);
	assert_int_equal(cw_ospf3_reference_prefixes(l.lsa + 20), 1);
	assert_int_equal(l.lsa[33], CW_OSPF3_PREFIX_LA);
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_LINK, 100, &l));
	assert_memory_equal(cw_ospf3_link_address(l.lsa + 20), w->end[0].c.address, 16);
	assert_true(find_lsa(w, 1, 1, CW_OSPF3_E_INTRA, 1, &l));
	assert_int_equal(l.lsa[20 + 12 + 4 + 5], CW_OSPF3_PREFIX_NU); /* 2001:db8:1::/48 */
	world_free(w);
}

/* ---- The database -------------------------------------------------------------------------- */

static void many_prefixes(struct world *w, size_t n)
{
	static char text[500][32];
	const char *p[500];
	size_t i;

	for (i = 0; i < n; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "2001:db8:%zx::/48", 16 + i);
		p[i] = text[i];
	}
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, p, n);
}

/* A third of all packets is lost: everything arrives, and everything goes again. */
static void rfc2328_13_lossy_link(void **state)
{
	struct world *w = world_new(33);

	(void)state;
	w->end[0].c.dead_s = w->end[1].c.dead_s = 30;
	boot(w, 0);
	boot(w, 1);
	many_prefixes(w, 500);
	pass(w, 300000);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
	assert_int_equal(known(w, 1), 501);
	many_prefixes(w, 10);
	pass(w, 120000);
	assert_int_equal(known(w, 1), 11);
	assert_int_equal(info(w, 0).lsas, info(w, 1).lsas);
	assert_int_equal(info(w, 0).lsas, 2 * 2 + 1 + 11);
	world_free(w);
}

/* A prefix that stays keeps its LSA as it is. */
static void rfc2328_12_4_only_what_changed(void **state)
{
	struct world *w = told(0);
	uint64_t before = counters(w, 0)->originated;

	(void)state;
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 2);
	pass(w, 3000);
	assert_int_equal(counters(w, 0)->originated, before + 1);
	assert_int_equal(known(w, 1), 3);
	assert_int_equal(counters(w, 0)->taken_back, 0);
	world_free(w);
}

static void rfc2328_14_1_refresh(void **state)
{
	struct world *w = world_new(0);
	uint32_t before;

	(void)state;
	w->end[0].c.refresh_s = 60;
	both_up(w);
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 1);
	pass(w, 3000);
	before = sequence(w, 1, 1, CW_OSPF3_E_INTRA, 1);
	assert_int_equal(before, 0x80000001u);
	pass(w, 600000);
	assert_in_range(sequence(w, 1, 1, CW_OSPF3_E_INTRA, 1), before + 9, before + 10);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

static void rfc2328_14_ages_out(void **state)
{
	uint8_t lsa[64] = {0};
	struct world *w = told(0);
	uint32_t had;

	(void)state;
	had = info(w, 1).lsas;
	cw_ospf3_lsa_set_age(lsa, 3590);
	cw_ospf3_lsa_set_type(lsa, 0xa0ff); /* a type nobody knows */
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_int_equal(info(w, 1).lsas, had + 1);
	pass(w, 11000);
	assert_int_equal(counters(w, 1)->aged_out, 1);
	assert_int_equal(info(w, 1).lsas, had);
	world_free(w);
}

static void rfc2328_13_1_newer_older_same(void **state)
{
	uint8_t lsa[64] = {0};
	struct world *w = told(0);
	struct cw_ospf3_lsa_info l;

	(void)state;
	cw_ospf3_lsa_set_type(lsa, 0xa0ff);
	cw_ospf3_lsa_set_sequence(lsa, 5); /* above 0x80000001: numbers are signed */
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	pass(w, 2000);
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_true(find_lsa(w, 1, 0, 0xa0ff, 0, &l));
	assert_int_equal(cw_ospf3_lsa_sequence(l.lsa), 5);
	cw_ospf3_lsa_set_sequence(lsa, 6);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_true(find_lsa(w, 1, 0, 0xa0ff, 0, &l));
	assert_int_equal(cw_ospf3_lsa_sequence(l.lsa), 6);
	cw_ospf3_lsa_set_sequence(lsa, 7); /* within a second: MinLSArrival */
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_int_equal(counters(w, 1)->too_soon, 1);
	pass(w, 1500);
	cw_ospf3_lsa_set_age(lsa, CW_OSPF3_MAX_AGE);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_int_equal(counters(w, 1)->flushed, 1);
	pass(w, 100);
	assert_false(find_lsa(w, 1, 0, 0xa0ff, 0, &l));
	world_free(w);
}

static void rfc5340_4_5_1_types_refused(void **state)
{
	uint8_t lsa[64] = {0};
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.area_type = w->end[1].c.area_type = CW_OSPF3_STUB;
	both_up(w);
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	cw_ospf3_lsa_set_type(lsa, 0xe0ff);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_int_equal(counters(w, 1)->bad_type, 1);
	cw_ospf3_lsa_set_type(lsa, CW_OSPF3_E_EXTERNAL);
	assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	assert_int_equal(counters(w, 1)->bad_type, 2);
	world_free(w);
}

static void rfc2328_13_checksum(void **state)
{
	uint8_t body[4 + 24] = {0};
	struct world *w = told(0);
	uint32_t had = info(w, 1).lsas;

	(void)state;
	body[3] = 1;
	cw_ospf3_lsa_set_type(body + 4, 0xa0ff);
	cw_ospf3_lsa_set_sequence(body + 4, 0x80000001u);
	cw_ospf3_lsa_set_length(body + 4, 24);
	assert_int_equal(say_made(w, 1, CW_OSPF3_UPDATE, body, sizeof(body)), CW_OK);
	cw_ospf3_lsa_set_checksum(body + 4, 0x1234);
	assert_int_equal(say_made(w, 1, CW_OSPF3_UPDATE, body, sizeof(body)), CW_OK);
	assert_int_equal(counters(w, 1)->bad_checksum, 2);
	assert_int_equal(info(w, 1).lsas, had);
	world_free(w);
}

static void the_database_has_a_limit(void **state)
{
	uint8_t lsa[64] = {0};
	struct world *w = world_new(0);
	unsigned i;

	(void)state;
	w->end[1].c.lsas = 64;
	both_up(w);
	cw_ospf3_lsa_set_type(lsa, 0xa0ff);
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	for (i = 0; i < 100; i++) {
		cw_ospf3_lsa_set_id(lsa, i);
		assert_int_equal(say_lsa(w, 1, lsa, 24), CW_OK);
	}
	assert_int_equal(info(w, 1).lsas, 64);
	assert_true(counters(w, 1)->full >= 36);
	world_free(w);
}

/* Rows 59 and 61 of the faults: an E-LSA with a fault is ignored as a whole, and harms nobody. */
static void faults_59_61_bad_prefixes(void **state)
{
	uint8_t lsa[128] = {0}, *tlv = lsa + 32;
	struct world *w = told(0);

	(void)state;
	cw_ospf3_lsa_set_type(lsa, CW_OSPF3_E_INTRA);
	cw_ospf3_lsa_set_id(lsa, 7);
	cw_ospf3_lsa_set_router(lsa, w->end[0].c.router);
	cw_ospf3_lsa_set_sequence(lsa, 0x80000001u);
	tlv[1] = 6;
	tlv[3] = 60; /* behind the end */
	assert_int_equal(say_lsa(w, 1, lsa, 32 + 4 + 24), CW_OK);
	assert_int_equal(counters(w, 1)->bad_prefixes, 1);
	cw_ospf3_lsa_set_id(lsa, 8);
	assert_int_equal(say_lsa(w, 1, lsa, 32 + 4 + 22), CW_OK); /* not a multiple of 4 */
	assert_int_equal(counters(w, 1)->bad_prefixes, 2);
	pass(w, 1000);
	assert_int_equal(known(w, 1), 2);
	assert_int_equal(info(w, 1).state, CW_OSPF3_FULL);
	world_free(w);
}

/* ---- Own LSAs ------------------------------------------------------------------------------ */

static void rfc2328_13_4_earlier_life(void **state)
{
	struct world *w = told(0);
	uint32_t before = sequence(w, 1, 1, CW_OSPF3_ROUTER, 0);

	(void)state;
	die(w, 0); /* and is back before anybody misses it */
	boot(w, 0);
	pass(w, 8000);
	assert_int_equal(info(w, 0).state, CW_OSPF3_FULL);
	assert_true(sequence(w, 1, 1, CW_OSPF3_ROUTER, 0) > 0);
	assert_int_equal(known(w, 1), 0); /* this life announces nothing yet */
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 2);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 3);
	assert_true(before > 0);
	world_free(w);
}

/* The network still has what an earlier life announced, and gives it back: what is announced again
 * gets a higher number, the rest is flushed. */
static void rfc2328_13_4_outdone(void **state)
{
	struct world *w = told(0);
	struct cw_ospf3_lsa_info l;
	uint8_t *copy;

	(void)state;
	assert_true(find_lsa(w, 0, 1, CW_OSPF3_E_INTRA, 1, &l));
	copy = exact_copy(l.lsa, l.len);
	cw_ospf3_lsa_set_sequence(copy, 0x80000044u);
	assert_int_equal(say_lsa(w, 0, copy, l.len), CW_OK);
	pass(w, 3000);
	assert_int_equal(counters(w, 0)->outdone, 1);
	assert_int_equal(sequence(w, 1, 1, CW_OSPF3_E_INTRA, 1), 0x80000045u);
	cw_ospf3_lsa_set_id(copy, 77);
	assert_int_equal(say_lsa(w, 0, copy, l.len), CW_OK);
	pass(w, 3000);
	assert_int_equal(counters(w, 0)->taken_back, 1);
	assert_false(find_lsa(w, 0, 1, CW_OSPF3_E_INTRA, 77, &l));
	assert_int_equal(known(w, 1), 2);
	free(copy);
	world_free(w);
}

/* Somebody flushes what is ours: it comes back. */
static void rfc2328_13_4_forged_flush(void **state)
{
	struct world *w = told(0);
	struct cw_ospf3_lsa_info l;
	uint8_t *copy;

	(void)state;
	assert_true(find_lsa(w, 0, 1, CW_OSPF3_E_INTRA, 1, &l));
	copy = exact_copy(l.lsa, l.len);
	cw_ospf3_lsa_set_age(copy, CW_OSPF3_MAX_AGE);
	assert_int_equal(say_lsa(w, 0, copy, l.len), CW_OK);
	pass(w, 3000);
	assert_int_equal(sequence(w, 1, 1, CW_OSPF3_E_INTRA, 1), 0x80000002u);
	assert_int_equal(known(w, 1), 2);
	free(copy);
	world_free(w);
}

static void rfc2328_12_1_6_last_number(void **state)
{
	struct world *w = told(0);
	struct cw_ospf3_lsa_info l;
	uint8_t *copy;

	(void)state;
	assert_true(find_lsa(w, 0, 1, CW_OSPF3_E_INTRA, 1, &l));
	copy = exact_copy(l.lsa, l.len);
	cw_ospf3_lsa_set_sequence(copy, 0x7fffffffu);
	assert_int_equal(say_lsa(w, 0, copy, l.len), CW_OK);
	assert_int_equal(say_lsa(w, 1, copy, l.len), CW_OK);
	pass(w, 12000);
	assert_int_equal(counters(w, 0)->wrapped, 1);
	assert_int_equal(sequence(w, 1, 1, CW_OSPF3_E_INTRA, 1), 0x80000001u);
	free(copy);
	world_free(w);
}

static void rfc2328_14_1_flushed_on_exit(void **state)
{
	struct cw_ospf3_lsa_info l;
	struct world *w = told(0);
	unsigned i;

	(void)state;
	cw_ospf3_stop(w->end[0].m, w->now);
	for (i = 0; i < 40 && !info(w, 0).stopped; i++)
		step(w);
	assert_true(info(w, 0).stopped);
	pass(w, 100);
	assert_true(counters(w, 0)->taken_back >= 5);
	assert_int_equal(known(w, 1), 0);
	assert_false(find_lsa(w, 1, 1, CW_OSPF3_ROUTER, 0, &l));
	assert_int_equal(info(w, 1).state, CW_OSPF3_INIT); /* at once, by the last hello */
	world_free(w);
}

/* Nobody acknowledges: the end comes all the same. */
static void rfc2328_14_1_stop_is_bounded(void **state)
{
	struct world *w = told(0);
	uint64_t begun = w->now;

	(void)state;
	w->cut = true;
	cw_ospf3_stop(w->end[0].m, w->now);
	while (!info(w, 0).stopped && w->now < begun + 10000)
		step(w);
	assert_in_range(w->now - begun, 1450, 1600);
	world_free(w);
}

static void restart_with_the_same_prefixes(void **state)
{
	struct world *w = told(0);

	(void)state;
	die(w, 0);
	pass(w, 6000);
	assert_int_equal(known(w, 1), 0);
	boot(w, 0);
	announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 1);
	pass(w, 6000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

/* ---- Authentication ------------------------------------------------------------------------ */

static struct world *with_keys(const char *a, const char *b, enum cw_hash_kind kind)
{
	struct world *w = world_new(0);
	const char *key[2] = {a, b};
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct cw_ospf3_auth *k = &w->end[i].c.auth;

		k->hasher = &cw_openssl_hasher;
		k->kind = kind;
		k->sa = 3;
		k->key_len = strlen(key[i]);
		memcpy(k->key, key[i], k->key_len);
		k->sequence = 0xfffffff0u; /* soon 33 bits */
	}
	return w;
}

static void rfc7166_same_key(void **state)
{
	static const enum cw_hash_kind kinds[] = {CW_HASH_SHA1, CW_HASH_SHA256, CW_HASH_SHA384,
						  CW_HASH_SHA512};
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct world *w = with_keys("secret", "secret", kinds[i]);

		both_up(w);
		announce(w, 0, proxy, CW_OSPF3_AS_INTRA, senders, 1);
		pass(w, 3000);
		assert_int_equal(known(w, 1), 2);
		assert_int_equal(counters(w, 1)->bad_authentication, 0);
		assert_int_equal(counters(w, 1)->replayed, 0);
		world_free(w);
	}
}

static void rfc7166_other_key(void **state)
{
	struct world *w = with_keys("secret", "Secret", CW_HASH_SHA256);

	(void)state;
	NO_ADJACENCY(w, bad_authentication);
	w = with_keys("secret", "secret", CW_HASH_SHA256);
	w->end[1].c.auth.sa = 4;
	NO_ADJACENCY(w, bad_authentication);
	w = with_keys("secret", "secret", CW_HASH_SHA256);
	w->end[1].c.auth.hasher = NULL;
	NO_ADJACENCY(w, bad_authentication);
	w = with_keys("secret", "secret", CW_HASH_MD5);
	assert_int_equal(cw_ospf3_new(&w->end[0].m, &w->end[0].c, w->now), CW_E_ARG);
	world_free(w);
}

/* The digest of a hello by another implementation: Python's hmac module. Each octet of the packet
 * counts. */
static void rfc7166_4_5_vector(void **state)
{
	struct world *w = with_keys("secret", "secret", CW_HASH_SHA256);
	static const char digest[] =
		"6cef85ca2f3fd8705b9d6e117cbb9751b6f2d1ab9ed0855106224ba4ab5ad9b2";
	uint8_t buf[CW_OSPF3_MTU_MAX], *want;
	size_t n, len, i;

	(void)state;
	boot(w, 0);
	boot(w, 1);
	n = cw_ospf3_pull(w->end[0].m, buf, sizeof(buf), w->now);
	assert_int_equal(n, 36 + 16 + 32);
	want = hex_block(digest, &len);
	assert_memory_equal(buf + 52, want, len);
	free(want);
	for (i = 0; i < n; i++) {
		buf[i] ^= 1;
		assert_true(i == 12 || i == 13 || say(w, 1, buf, n) != CW_OK);
		buf[i] ^= 1;
	}
	assert_int_equal(say(w, 1, buf, n), CW_OK);
	world_free(w);
}

/* A hello of FRR 8.4's ospf6d, with the key "secret": it has the protocol ID in its machine's byte
 * order. */
static void rfc7166_4_5_hello_of_ospf6d(void **state)
{
	static const char hello[] =
		"030100240aff0001000000000000000000000002010004130001000400000000000000000001003000"
		"000007"
		"00000005000000efb0e7e3f539a7778c26989c410c07852aba306cf434f4f5e6de24c6fb8de8ef00";
	struct world *w = with_keys("secret", "secret", CW_HASH_SHA256);
	struct cw_ospf3_config *c = &w->end[0].c;
	struct cw_addr from;
	uint8_t *packet;
	size_t len;

	(void)state;
	c->auth.sa = 7;
	c->auth.protocol = 0x0100;
	boot(w, 0);
	packet = hex_block(hello, &len);
	assert_int_equal(cw_addr_parse("fe80::cb:2fff:fed8:2277", &from), CW_OK);
	assert_int_equal(
		cw_ospf3_input(w->end[0].m, from.addr, cw_ospf3_all_routers, packet, len, w->now),
		CW_OK);
	assert_int_equal(counters(w, 0)->hellos_received, 1);
	assert_int_equal(info(w, 0).neighbour[1], 255);
	die(w, 0);
	c->auth.protocol = 1;
	boot(w, 0);
	assert_int_not_equal(
		cw_ospf3_input(w->end[0].m, from.addr, cw_ospf3_all_routers, packet, len, w->now),
		CW_OK);
	assert_int_equal(counters(w, 0)->bad_authentication, 1);
	free(packet);
	world_free(w);
}

static void rfc7166_4_1_replay(void **state)
{
	struct world *w = with_keys("secret", "secret", CW_HASH_SHA1);
	uint8_t buf[CW_OSPF3_MTU_MAX];
	size_t n;

	(void)state;
	both_up(w);
	w->now += 2000;
	n = cw_ospf3_pull(w->end[0].m, buf, sizeof(buf), w->now);
	assert_int_equal(say(w, 1, buf, n), CW_OK);
	assert_int_equal(say(w, 1, buf, n), CW_E_FORBIDDEN);
	assert_int_equal(counters(w, 1)->replayed, 1);
	world_free(w);
}

/* ---- Setting up ---------------------------------------------------------------------------- */

static void settings_out_of_range(void **state)
{
	struct world *w = world_new(0);
	struct cw_ospf3_config good = w->end[0].c, c;
	struct cw_ospf3 *m = NULL;

	(void)state;
#define REFUSED(change)                                                   \
	do {                                                              \
		c = good;                                                 \
		change;                                                   \
		assert_int_equal(cw_ospf3_new(&m, &c, w->now), CW_E_ARG); \
	} while (0)
	REFUSED(memset(c.router, 0, 4));
	REFUSED(c.interface = 0);
	REFUSED(c.mtu = 1279);
	REFUSED(c.mtu = 9217);
	REFUSED(c.hello_s = 0);
	REFUSED(c.dead_s = 1);
	REFUSED(c.refresh_s = 3600);
	REFUSED(c.metric = 65536);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc2328_10_full),
		cmocka_unit_test(rfc2328_10_5_one_way_is_no_adjacency),
		cmocka_unit_test(rfc2328_10_5_intervals),
		cmocka_unit_test(rfc2328_10_5_options),
		cmocka_unit_test(rfc5340_4_2_2_area_and_instance),
		cmocka_unit_test(rfc2328_9_4_no_lan),
		cmocka_unit_test(rfc2328_16_1_links_of_one_end),
		cmocka_unit_test(rfc2328_16_1_transit_network),
		cmocka_unit_test(rfc2328_10_6_sequence_mismatch),
		cmocka_unit_test(rfc2328_10_6_mtu),
		cmocka_unit_test(rfc2328_10_5_second_router),
		cmocka_unit_test(rfc2328_10_3_inactivity),
		cmocka_unit_test(s5_3_learnt_with_its_proxy),
		cmocka_unit_test(rfc8362_4_inter_area_and_external),
		cmocka_unit_test(rfc2328_16_2_router_of_another_area),
		cmocka_unit_test(rfc8362_4_nssa),
		cmocka_unit_test(rfc2328_3_6_nothing_external_in_a_stub_area),
		cmocka_unit_test(rfc5340_a_2_never_transit),
		cmocka_unit_test(rfc2328_13_lossy_link),
		cmocka_unit_test(rfc2328_12_4_only_what_changed),
		cmocka_unit_test(rfc2328_14_1_refresh),
		cmocka_unit_test(rfc2328_14_ages_out),
		cmocka_unit_test(rfc2328_13_1_newer_older_same),
		cmocka_unit_test(rfc5340_4_5_1_types_refused),
		cmocka_unit_test(rfc2328_13_checksum),
		cmocka_unit_test(the_database_has_a_limit),
		cmocka_unit_test(faults_59_61_bad_prefixes),
		cmocka_unit_test(rfc2328_13_4_earlier_life),
		cmocka_unit_test(rfc2328_13_4_outdone),
		cmocka_unit_test(rfc2328_13_4_forged_flush),
		cmocka_unit_test(rfc2328_12_1_6_last_number),
		cmocka_unit_test(rfc2328_14_1_flushed_on_exit),
		cmocka_unit_test(rfc2328_14_1_stop_is_bounded),
		cmocka_unit_test(restart_with_the_same_prefixes),
		cmocka_unit_test(rfc7166_same_key),
		cmocka_unit_test(rfc7166_other_key),
		cmocka_unit_test(rfc7166_4_5_vector),
		cmocka_unit_test(rfc7166_4_5_hello_of_ospf6d),
		cmocka_unit_test(rfc7166_4_1_replay),
		cmocka_unit_test(settings_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
