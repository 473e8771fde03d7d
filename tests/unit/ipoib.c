/* Tests of the IPoIB link machine: a test for each element of RFC 4391 that is more than bytes
 * (those are in wire_ib.c), named by its section, against the small SA. */
#include <arpa/inet.h>
#include "tests/unit/ipoib_world.h"

static const uint8_t g_239[4] = {239, 1, 2, 3};
#define M_239 "ff12:401b:8001::f01:203"

static void s5_broadcast_group_first_and_as_full_member(void **state)
{
	struct world *w = world_new(1, false);
	struct cw_ipoib_info info;

	(void)state;
	/* A join of the host's comes earlier, and waits. */
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(w->n[0].joins, 0);
	w->sa_dead = true;
	pass(w, 500);
	assert_int_equal(w->n[0].joins, 1);
	assert_int_equal(w->n[0].join_mask, 0x10083);
	assert_int_equal(cw_mcmember_join_state(w->n[0].join_record), CW_SA_FULL);
	assert_int_equal(w->n[0].ups, 0);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_E_STATE);
	w->sa_dead = false;
	pass(w, 3000);
	assert_int_equal(w->n[0].ups, 1);
	assert_int_equal(w->n[0].joins, 3);
	assert_int_equal(w->n[0].attaches, 2);
	cw_ipoib_info(w->n[0].link, &info);
	assert_true(info.up);
	assert_int_equal(info.mlid, 0xc000);
	world_free(w);
}

static void s5_full_member_pkey_only(void **state)
{
	struct cw_ipoib_config c = {.qpn = 2, .lid = 1, .sm_lid = 1, .pkey = 0x0001};
	struct cw_ipoib *l;

	(void)state;
	assert_int_equal(cw_ipoib_new(&l, &c), CW_E_ARG);
	c.pkey = 0x8001;
	assert_int_equal(cw_ipoib_new(&l, &c), CW_OK);
	cw_ipoib_free(l);
}

static void s5_controlled_qkey_for_all_traffic(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_info info;

	(void)state;
	pass(w, 500);
	cw_ipoib_info(w->n[0].link, &info);
	assert_int_equal(info.qkey, 0x80010b1b);
	assert_true(info.controlled);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
	assert_int_equal(w->n[1].delivered, 1);
	assert_int_equal(w->n[0].tx.qkey, 0x80010b1b); /* unicast */
	assert_int_equal(send4(w, 0, g_239, 100), CW_OK);
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(send4(w, 0, g_239, 100), CW_OK);
	assert_int_equal(w->n[0].tx.qkey, 0x80010b1b); /* multicast */
	world_free(w);
}

static void s7_mtu_2044_is_the_default(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_info info;

	(void)state;
	pass(w, 500);
	cw_ipoib_info(w->n[0].link, &info);
	assert_int_equal(info.mtu, CW_IPOIB_MTU);
	assert_int_equal(send4(w, 0, ip_of[1], 2044), CW_OK);
	assert_int_equal(w->n[1].delivered, 1);
	assert_int_equal(w->n[1].ip_len, 2044);
	assert_int_equal(send4(w, 0, ip_of[1], 2045), CW_E_LENGTH);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->tx_too_big, 1);
	world_free(w);
}

static void s9_2_arp_and_the_queue_pair_it_names(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_neigh_info n;

	(void)state;
	pass(w, 500);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
	assert_int_equal(w->n[1].delivered, 1);
	assert_true(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
	assert_memory_equal(n.addr, ip_of[1], 4);
	assert_int_equal(cw_ipoib_lla_qpn(n.lla), w->n[1].c.qpn);
	assert_int_equal(w->n[0].tx.dqpn, w->n[1].c.qpn);
	assert_int_equal(w->n[0].tx.dlid, w->n[1].c.lid);
	assert_false(w->n[0].tx.grh); /* not needed inside a subnet */
	/* Who was asked knows who asked: no second request. */
	assert_int_equal(send4(w, 1, ip_of[0], 100), CW_OK);
	assert_int_equal(w->n[0].delivered, 1);
	assert_int_equal(w->n[1].nsent, 3); /* its address, the ARP reply and the packet */
	world_free(w);
}

static void s6_with_or_without_grh(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[104] = {0x08, 0, 0, 0, 0x45};
	struct cw_ipoib_tx tx;

	(void)state;
	pass(w, 500);
	tx = (struct cw_ipoib_tx){.slid = 3,
				  .dlid = 4,
				  .pkey = 0x8001,
				  .dqpn = 0x49,
				  .sqpn = 0x48,
				  .qkey = 0x80010b1b};
	world_push(w, &tx, m, sizeof(m));
	tx.grh = true;
	memcpy(tx.sgid, w->n[0].c.gid, 16);
	memcpy(tx.dgid, w->n[1].c.gid, 16);
	world_push(w, &tx, m, sizeof(m));
	m[2] = 0xbe; /* reserved: ignored */
	m[3] = 0xef;
	world_push(w, &tx, m, sizeof(m));
	settle(w);
	assert_int_equal(w->n[1].delivered, 3);
	world_free(w);
}

static void s6_reserved_bits_are_sent_as_zero(void **state)
{
	struct world *w = world_new(2, false);

	(void)state;
	pass(w, 500);
	(void)send4(w, 0, ip_of[1], 100);
	assert_int_equal(cw_ipoib_reserved(w->n[0].sent), 0);
	assert_int_equal(w->n[0].sent[0], 0x08);
	/* the ARP reply of the other side: both flags octets */
	assert_int_equal(cw_ipoib_arp_sha_flags(w->n[1].sent + 4), 0);
	assert_int_equal(cw_ipoib_arp_tha_flags(w->n[1].sent + 4), 0);
	world_free(w);
}

static void s5_partition_and_queue_key_are_checked(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[104] = {0x08, 0, 0, 0, 0x45};
	struct cw_ipoib_tx good = {.slid = 3,
				   .dlid = 4,
				   .pkey = 0x0001,
				   .dqpn = 0x49,
				   .sqpn = 0x48,
				   .qkey = 0x80010b1b},
			   tx = good;
	const struct cw_ipoib_counters *n = cw_ipoib_counters(w->n[1].link);

	(void)state;
	pass(w, 500);
	world_push(w, &tx, m, sizeof(m)); /* a limited member to a full one */
	settle(w);
	assert_int_equal(w->n[1].delivered, 1);
	tx.pkey = 0x8002;
	world_push(w, &tx, m, sizeof(m));
	tx = good;
	tx.qkey = 0x0b1b;
	world_push(w, &tx, m, sizeof(m));
	tx = good;
	tx.dqpn = 0x50;
	world_push(w, &tx, m, sizeof(m));
	tx.dqpn = CW_IB_QPN_MCAST; /* without a GRH */
	world_push(w, &tx, m, sizeof(m));
	settle(w);
	assert_int_equal(w->n[1].delivered, 1);
	assert_int_equal(n->rx_pkey, 1);
	assert_int_equal(n->rx_qkey, 1);
	assert_int_equal(n->rx_not_ours, 2);
	world_free(w);
}

static void s10_group_takes_after_the_broadcast_group(void **state)
{
	struct world *w = world_new(1, false);
	struct cw_ipoib_group_info g;
	const uint8_t *r = w->n[0].join_record;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(w->n[0].join_mask, 0x173f7);
	assert_int_equal(cw_mcmember_qkey(r), 0x80010b1b);
	assert_int_equal(cw_mcmember_pkey(r), 0x8001);
	assert_int_equal(cw_mcmember_mtu(r), 4);
	assert_int_equal(cw_mcmember_rate(r), 3);
	assert_true(find_group(w->n[0].link, M_239, &g));
	assert_true(g.joined);
	assert_int_equal(g.join_state, CW_SA_FULL);
	world_free(w);
}

static void s10_leave_is_a_full_member_leave(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_group_info g;
	struct cw_ipoib *l = w->n[0].link;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(l, w->now, false, g_239), CW_OK);
	assert_int_equal(cw_ipoib_join(l, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(cw_ipoib_leave(l, w->now, false, g_239), CW_OK);
	settle(w);
	assert_true(find_group(l, M_239, &g));
	assert_int_equal(cw_ipoib_leave(l, w->now, false, g_239), CW_OK);
	settle(w);
	assert_false(find_group(l, M_239, &g));
	assert_int_equal(w->n[0].detaches, 1);
	assert_int_equal(cw_ipoib_leave(l, w->now, false, g_239), CW_E_STATE);
	/* The SA deleted it: who sends there now finds nobody. */
	(void)send4(w, 1, g_239, 100);
	assert_true(find_group(w->n[1].link, M_239, &g));
	assert_true(g.absent);
	world_free(w);
}

static void s11_sender_joins_send_only_and_hears_nothing(void **state)
{
	struct world *w = world_new(3, false);
	struct cw_ipoib_group_info g;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	(void)send4(w, 0, g_239, 100);
	assert_int_equal(w->n[1].delivered, 1);
	assert_true(find_group(w->n[0].link, M_239, &g));
	assert_int_equal(g.join_state, CW_SA_SEND_ONLY_NON);
	assert_int_equal(w->n[0].attaches, 1); /* the broadcast group only */
	(void)send4(w, 2, g_239, 100);
	assert_int_equal(w->n[1].delivered, 2);
	assert_int_equal(w->n[0].delivered, 0);
	assert_true(w->n[0].tx.grh); /* mandatory for multicast */
	world_free(w);
}

static void s11_sender_falls_back_to_the_routers(void **state)
{
	static const uint8_t routers[4] = {224, 0, 0, 2}, local[4] = {224, 0, 0, 77};
	struct world *w = world_new(2, false);
	const struct cw_ipoib_counters *n = cw_ipoib_counters(w->n[0].link);

	(void)state;
	pass(w, 500);
	(void)send4(w, 0, g_239, 100); /* no routers either */
	assert_int_equal(n->tx_no_group, 1);
	pass(w, 11000);
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, routers), CW_OK);
	settle(w);
	(void)send4(w, 0, g_239, 100);
	(void)send4(w, 0, g_239, 100);
	assert_int_equal(n->tx_via_routers, 3);
	assert_int_equal(w->n[1].delivered, 2);
	(void)send4(w, 0, local, 100); /* not forwarded by routers: dropped */
	assert_int_equal(w->n[1].delivered, 2);
	assert_int_equal(n->tx_no_group, 2);
	world_free(w);
}

static void s10_created_and_deleted_groups_are_followed(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_group_info g;

	(void)state;
	pass(w, 500);
	(void)send4(w, 0, g_239, 100);
	assert_true(find_group(w->n[0].link, M_239, &g));
	assert_true(g.absent);
	/* Somebody begins to listen: trap 66, and the flow goes there. */
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_true(cw_ipoib_counters(w->n[0].link)->reports > 0);
	(void)send4(w, 0, g_239, 100);
	assert_int_equal(w->n[1].delivered, 1);
	/* Trap 67: the MLID is forgotten. */
	assert_int_equal(cw_ipoib_leave(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_false(find_group(w->n[0].link, M_239, &g));
	world_free(w);
}

static void s11_router_joins_every_group(void **state)
{
	static const uint8_t before[4] = {239, 7, 7, 7};
	struct world *w = world_new(3, true);
	struct cw_ipoib_group_info g;
	unsigned i;

	(void)state;
	w->nodes = 2; /* the router comes later */
	pass(w, 500);
	for (i = 0; i < 9; i++) { /* more than one RMPP segment */
		uint8_t other[4] = {239, 8, 8, (uint8_t)i};

		assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, other), CW_OK);
	}
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, before), CW_OK);
	settle(w);
	w->nodes = 3;
	pass(w, 500);
	assert_true(find_group(w->n[2].link, "ff12:401b:8001::f07:707", &g)); /* GetTable */
	assert_int_equal(g.join_state, CW_SA_NON);
	assert_true(find_group(w->n[2].link, "ff12:401b:8001::f08:808", &g));
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_true(find_group(w->n[2].link, M_239, &g)); /* trap 66 */
	assert_int_equal(g.join_state, CW_SA_NON);
	(void)send4(w, 1, g_239, 100);
	assert_int_equal(w->n[2].delivered, 1);
	assert_int_equal(cw_ipoib_leave(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_false(find_group(w->n[2].link, M_239, &g)); /* a NonMember keeps nothing alive */
	world_free(w);
}

static void s12_failures_are_logged(void **state)
{
	struct world *w = world_new(1, false);
	struct cw_ipoib *l = w->n[0].link;
	unsigned i;

	(void)state;
	pass(w, 500);
	for (i = 0; i < 70; i++) { /* the SA has 64 multicast LIDs */
		uint8_t group[4] = {239, 1, 1, (uint8_t)i};

		assert_int_equal(cw_ipoib_join(l, w->now, false, group), CW_OK);
		settle(w);
	}
	assert_int_equal(w->n[0].logs, 7);
	assert_int_equal(w->n[0].log_status, CW_SA_NO_RESOURCES);
	assert_int_equal(cw_ipoib_counters(l)->mcast_failed, 7);
	world_free(w);
}

static void s9_1_1_changed_queue_pair_is_followed(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_neigh_info n;
	unsigned i;

	(void)state;
	pass(w, 500);
	(void)send4(w, 0, ip_of[1], 100);
	cw_ipoib_free(w->n[1].link);
	node_new(w, 1, false);
	cw_ipoib_free(w->n[1].link);
	w->n[1].c.qpn = 0x999;
	assert_int_equal(cw_ipoib_new(&w->n[1].link, &w->n[1].c), CW_OK);
	(void)cw_ipoib_address(w->n[1].link, w->now, false, ip_of[1]);
	for (i = 0; i < 45; i++) {
		pass(w, 1000);
		(void)send4(w, 0, ip_of[1], 100);
	}
	assert_true(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
	assert_int_equal(cw_ipoib_lla_qpn(n.lla), 0x999);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->qpn_changed, 1);
	assert_true(w->n[1].delivered > 5);
	world_free(w);
}

/* A queue pair that changes is told to those that know the old one, without their asking. */
static void s9_1_1_addresses_are_announced(void **state)
{
	static const uint8_t six[16] = {0xfe, 0x80, [15] = 9}, all_nodes[16] = {0xff, 2, [15] = 1};
	struct world *w = world_new(2, false);
	struct cw_ipoib_neigh_info n;

	(void)state;
	pass(w, 500);
	assert_int_equal(w->n[0].sent_len, 60);
	assert_int_equal(w->n[0].tx.dqpn, CW_IB_QPN_MCAST);
	assert_memory_equal(cw_ipoib_arp_spa(w->n[0].sent + 4), ip_of[0], 4);
	assert_memory_equal(cw_ipoib_arp_tpa(w->n[0].sent + 4), ip_of[0], 4);
	(void)send4(w, 0, ip_of[1], 100);
	cw_ipoib_free(w->n[1].link);
	w->n[1].c.qpn = 0x999;
	assert_int_equal(cw_ipoib_new(&w->n[1].link, &w->n[1].c), CW_OK);
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, false, ip_of[1]), CW_OK);
	pass(w, 500);
	assert_true(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
	assert_int_equal(cw_ipoib_lla_qpn(n.lla), 0x999);
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, true, all_nodes), CW_OK);
	settle(w);
	/* One more while the link is up: an unsolicited advertisement with override. */
	assert_int_equal(cw_ipoib_address(w->n[1].link, w->now, true, six), CW_OK);
	pass(w, 500);
	assert_int_equal(w->n[1].sent_len, 4 + 40 + 4 + 20 + 24);
	assert_memory_equal(cw_ipv6_src(w->n[1].sent + 4), six, 16);
	assert_true(cw_nd_override(w->n[1].sent + 4 + 40 + 4));
	assert_false(cw_nd_solicited(w->n[1].sent + 4 + 40 + 4));
	world_free(w);
}

static void addresses_come_and_go(void **state)
{
	static const uint8_t six[16] = {0xfe, 0x80, [15] = 9};
	struct world *w = world_new(2, false);
	struct cw_ipoib *l = w->n[1].link;
	struct cw_ipoib_group_info g;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_address(l, w->now, true, six), CW_OK);
	assert_int_equal(cw_ipoib_address(l, w->now, true, six), CW_OK);
	settle(w);
	assert_true(find_group(l, "ff12:601b:8001::1:ff00:9", &g));
	assert_int_equal(g.hosts, 1);
	assert_int_equal(cw_ipoib_unaddress(l, w->now, true, six), CW_OK);
	assert_int_equal(cw_ipoib_unaddress(l, w->now, true, six), CW_E_ARG);
	settle(w);
	assert_false(find_group(l, "ff12:601b:8001::1:ff00:9", &g));
	assert_int_equal(cw_ipoib_unaddress(l, w->now, false, ip_of[1]), CW_OK);
	(void)send4(w, 0, ip_of[1], 100);
	pass(w, 5000);
	assert_int_equal(w->n[1].delivered, 0);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->neigh_failed, 1);
	world_free(w);
}

/* Who goes leaves every group, the broadcast group too. */
static void s10_shutdown_leaves_every_group(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_group_info g;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	cw_ipoib_shutdown(w->n[0].link, w->now);
	settle(w);
	assert_false(cw_ipoib_group_at(w->n[0].link, 0, &g));
	assert_int_equal(w->n[0].detaches, 2);
	(void)send4(w, 1, g_239, 100); /* the subnet administration has deleted it */
	assert_true(find_group(w->n[1].link, M_239, &g));
	assert_true(g.absent);
	world_free(w);
}

static void s9_1_1_flags_octet_is_no_part_of_the_address(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[60] = {0x08, 0x06};
	struct cw_ipoib_tx tx = from_1;
	struct cw_ipoib_neigh_info n;

	(void)state;
	pass(w, 500);
	(void)send4(w, 0, ip_of[1], 100);
	memcpy(m, w->n[1].sent, sizeof(m)); /* the ARP reply again, from a connected mode kernel */
	cw_ipoib_arp_set_sha_flags(m + 4, CW_IPOIB_LLA_RC);
	world_push(w, &tx, m, sizeof(m));
	settle(w);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->qpn_changed, 0);
	assert_true(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
	assert_int_equal(n.lla[0], 0);
	world_free(w);
}

static void s9_3_neighbour_discovery(void **state)
{
	static const uint8_t a[16] = {0xfe, 0x80, [15] = 1}, b[16] = {0xfe, 0x80, [15] = 2};
	struct world *w = world_new(2, false);
	uint8_t ip[40] = {0x60};
	const uint8_t *opt;

	(void)state;
	(void)cw_ipoib_address(w->n[0].link, w->now, true, a);
	(void)cw_ipoib_address(w->n[1].link, w->now, true, b);
	pass(w, 500);
	ip[6] = 59;
	memcpy(ip + 8, a, 16);
	memcpy(ip + 24, b, 16);
	assert_int_equal(cw_ipoib_send(w->n[0].link, w->now, b, ip, sizeof(ip)), CW_OK);
	settle(w);
	assert_int_equal(w->n[1].delivered, 1);
	/* What the other side sent is the advertisement: type 2, length 3, two zero octets. */
	opt = w->n[1].sent + 4 + 40 + 4 + 20;
	assert_int_equal(w->n[1].sent_len, 4 + 40 + 4 + 20 + 24);
	assert_int_equal(opt[0], 2);
	assert_int_equal(opt[1], 3);
	assert_int_equal(cw_be16(opt + 2), 0);
	assert_int_equal(cw_ipoib_nd_qpn(opt), 0x49);
	assert_memory_equal(cw_ipoib_nd_gid(opt), w->n[1].c.gid, 16);
	world_free(w);
}

/* A message of ICMPv6 from node 1, with a link-layer address option of `qpn` at its end. */
static void push_router_message(struct world *w, unsigned type, size_t off, unsigned opt_type,
				const uint8_t *target, uint32_t qpn)
{
	static const uint8_t src[16] = {0xfe, 0x80, [15] = 2}, all[16] = {0xff, 2, [15] = 1};
	uint8_t m[4 + 40 + 64] = {0x86, 0xdd}, *ip = m + 4, *icmp6 = ip + 40, *opt = icmp6 + off;
	struct cw_ipoib_tx tx = from_1;

	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, (uint32_t)off + 24);
	cw_ipv6_set_next_header(ip, 58);
	cw_ipv6_set_hop_limit(ip, 255);
	cw_ipv6_set_src(ip, src);
	cw_ipv6_set_dst(ip, all);
	cw_icmp6_set_type(icmp6, type);
	if (target != NULL)
		memcpy(icmp6 + 8, target, 16);
	cw_ipoib_nd_set_type(opt, opt_type);
	cw_ipoib_nd_set_length(opt, 3);
	cw_ipoib_nd_set_qpn(opt, qpn);
	cw_ipoib_nd_set_gid(opt, w->n[1].c.gid);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(ip, icmp6, off + 24));
	world_push(w, &tx, m, 4 + 40 + off + 24);
	settle(w);
}

static uint32_t qpn_of(struct world *w, const uint8_t *addr)
{
	struct cw_ipoib_neigh_info n;
	uint32_t i;

	for (i = 0; cw_ipoib_neigh_at(w->n[0].link, i, &n); i++) {
		if (n.v6 && memcmp(n.addr, addr, 16) == 0)
			return cw_ipoib_lla_qpn(n.lla);
	}
	return 0;
}

/* The option is in router solicitations, advertisements and redirects too. */
static void s9_3_router_messages_and_redirects(void **state)
{
	static const uint8_t src[16] = {0xfe, 0x80, [15] = 2}, target[16] = {0xfe, 0x80, [15] = 7};
	struct world *w = world_new(2, false);

	(void)state;
	pass(w, 500);
	push_router_message(w, 133, 8, 1, NULL, 0x101);
	assert_int_equal(qpn_of(w, src), 0x101);
	push_router_message(w, 134, 16, 1, NULL, 0x102);
	assert_int_equal(qpn_of(w, src), 0x102);
	push_router_message(w, 137, 40, 2, target, 0x103);
	assert_int_equal(qpn_of(w, target), 0x103);
	assert_int_equal(qpn_of(w, src), 0x102);
	assert_int_equal(w->n[0].delivered, 3);          /* the host decides what else they mean */
	push_router_message(w, 134, 16, 2, NULL, 0x104); /* not the sender's option */
	push_router_message(w, 134, 16, 1, NULL, 1);     /* no queue pair of a link */
	push_router_message(w, 136 + 2, 16, 1, NULL, 0x105); /* another message */
	assert_int_equal(qpn_of(w, src), 0x102);
	world_free(w);
}

static void s6_rarp_is_understood_and_not_served(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[60] = {0x80, 0x35};
	struct cw_ipoib_tx tx = from_1;
	uint8_t lla[CW_IPOIB_LLA];
	unsigned sent;

	(void)state;
	pass(w, 500);
	sent = w->n[0].nsent;
	cw_ipoib_lla(lla, 0x49, w->n[1].c.gid);
	cw_ipoib_arp_build(m + 4, 3, lla, ip_of[1], lla, ip_of[1]);
	world_push(w, &tx, m, sizeof(m));
	settle(w);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->rx_rarp, 1);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->rx_bad, 0);
	assert_int_equal(w->n[0].nsent, sent);
	cw_ipoib_arp_set_op(m + 4, 5);
	world_push(w, &tx, m, sizeof(m));
	settle(w);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->rx_rarp, 1);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->rx_bad, 1);
	world_free(w);
}

static void restarted_subnet_manager_is_noticed(void **state)
{
	struct world *w = world_new(2, false);
	struct cw_ipoib_group_info g;

	(void)state;
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	cw_sa_restart(w->sa);
	pass(w, 32000); /* one renewal */
	assert_true(find_group(w->n[1].link, M_239, &g));
	assert_true(g.joined);
	(void)send4(w, 0, g_239, 100);
	assert_int_equal(w->n[1].delivered, 1);
	/* Told of it (client reregister), at once. */
	cw_sa_restart(w->sa);
	cw_ipoib_sm_changed(w->n[0].link, w->now, SM_LID);
	cw_ipoib_sm_changed(w->n[1].link, w->now, SM_LID);
	settle(w);
	pass(w, 200);
	(void)send4(w, 0, g_239, 100);
	assert_int_equal(w->n[1].delivered, 2);
	world_free(w);
}

static void refused_broadcast_group_takes_the_link_down(void **state)
{
	struct world *w = world_new(1, false);
	const struct node *n = &w->n[0];

	(void)state;
	pass(w, 500);
	assert_int_equal(n->ups, 1);
	w->refuse.method = CW_SA_SET;
	w->refuse.attribute = CW_SA_MCMEMBER;
	w->refuse.status = CW_SA_NO_RESOURCES;
	pass(w, 31000); /* one renewal */
	assert_int_equal(n->downs, 1);
	assert_int_equal(n->detaches, n->attaches);
	assert_int_equal(n->log_status, CW_SA_NO_RESOURCES);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_E_STATE);
	assert_int_equal(cw_ipoib_counters(n->link)->tx_down, 1);
	w->refuse.status = 0;
	pass(w, 16000);
	assert_int_equal(n->ups, 2);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
	world_free(w);
}

/* The SA refuses, or says nothing: what waits is dropped, and later the path is asked for anew. */
static void unknown_path_is_asked_for_again(void **state)
{
	static const uint16_t answer[] = {CW_SA_NO_RECORDS, SILENCE};
	const struct cw_ipoib_counters *c;
	struct world *w;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		w = world_new(2, false);
		c = cw_ipoib_counters(w->n[0].link);
		pass(w, 500);
		w->refuse.method = CW_SA_GET;
		w->refuse.attribute = CW_SA_PATHRECORD;
		w->refuse.status = answer[i];
		w->refuse.lid = w->n[0].c.lid;
		assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
		assert_int_equal(c->tx_no_path, answer[i] == SILENCE ? 0 : 1);
		pass(w, 16000); /* of silence 1 + 2 + 4 + 8 seconds are enough */
		assert_int_equal(c->tx_no_path, 1);
		assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
		assert_int_equal(c->tx_no_path, 2);
		w->refuse.status = 0;
		assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
		assert_int_equal(c->tx_no_path, 3);
		assert_int_equal(w->n[1].delivered, 0);
		pass(w, 3200);
		assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
		assert_int_equal(w->n[1].delivered, 1);
		world_free(w);
	}
}

static void requests_back_off_to_16_seconds(void **state)
{
	struct world *w = world_new(1, false);

	(void)state;
	w->sa_dead = true;
	pass(w, 1000 * (1 + 2 + 4 + 8));
	assert_int_equal(w->n[0].joins, 4);
	pass(w, 1000 * (3 * 16));
	assert_int_equal(w->n[0].joins, 4 + 3);
	assert_true(cw_ipoib_counters(w->n[0].link)->sa_timeout > 0);
	world_free(w);
}

static void queues_are_bounded(void **state)
{
	struct world *w = world_new(1, false);
	unsigned i;

	(void)state;
	pass(w, 500);
	for (i = 0; i < 64; i++)
		assert_int_equal(send4(w, 0, ip_of[1], 100), CW_OK);
	assert_int_equal(send4(w, 0, ip_of[1], 100), CW_E_SPACE);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->tx_queue_full, 1);
	pass(w, 5000);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->tx_unresolved, 64);
	assert_int_equal(w->n[0].unresolved, 64);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->neigh_failed, 1);
	world_free(w);
}

static void s13_nobody_but_the_sa_speaks_for_it(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t mad[256] = {1, 3, 2, 6};
	struct cw_ipoib_tx tx = {.slid = 4,
				 .dlid = 3,
				 .pkey = 0xffff,
				 .dqpn = 1,
				 .sqpn = 1,
				 .qkey = CW_MAD_QKEY_GSI};

	(void)state;
	pass(w, 500);
	world_push(w, &tx, mad, sizeof(mad));
	tx.slid = SM_LID;
	tx.qkey = 0x1234;
	world_push(w, &tx, mad, sizeof(mad));
	settle(w);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->rx_not_ours, 2);
	/* An answer that nobody asked for. */
	mad[3] = 0x81;
	mad[17] = CW_SA_MCMEMBER;
	assert_int_equal(cw_ipoib_mad(w->n[0].link, w->now, mad, 256), CW_E_UNKNOWN);
	assert_int_equal(cw_ipoib_mad(w->n[0].link, w->now, mad, 255), CW_E_LENGTH);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->sa_bad, 1);
	world_free(w);
}

/* Two values of SipHash's authors: key 00 .. 0f, of no octets and of 00 .. 0e. */
static void rfc_8064_stable_identifiers(void **state)
{
	static const uint8_t prefix[8] = {0xfe, 0x80}, other[8] = {0x20, 1}, guid[8] = {0, 2, 0xc9};
	uint8_t key[16], in[15], a[8], b[8];
	unsigned i;

	(void)state;
	for (i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	for (i = 0; i < 15; i++)
		in[i] = (uint8_t)i;
	assert_int_equal(cw_siphash(key, in, 0), 0x726fdb47dd0e0e31u);
	assert_int_equal(cw_siphash(key, in, 15), 0xa129ca6149be45e5u);
	cw_ipoib_iid_stable(a, prefix, guid, 0x8001, 0, key);
	cw_ipoib_iid_stable(b, prefix, guid, 0x8001, 0, key);
	assert_memory_equal(a, b, 8);
	cw_ipoib_iid_stable(b, other, guid, 0x8001, 0, key);
	assert_memory_not_equal(a, b, 8);
	cw_ipoib_iid_stable(b, prefix, guid, 0x8002, 0, key);
	assert_memory_not_equal(a, b, 8);
	cw_ipoib_iid_stable(b, prefix, guid, 0x8001, 1, key);
	assert_memory_not_equal(a, b, 8);
	key[0] ^= 1;
	cw_ipoib_iid_stable(b, prefix, guid, 0x8001, 0, key);
	assert_memory_not_equal(a, b, 8);
}

/* ---- RoCEv2 ------------------------------------------------------------------------------- */

/* ARP in a packet that other code built (Python, with zlib's CRC-32). */
static const char roce_hex[] = "450000700000400040113f770a010001ef010203c00012b7005c0000"
			       "6440ffff00ffffff0000000100000b1b00000048080600000020080014040001"
			       "00000048fe8000000000000000000000001000040a4d0001"
			       "00000000000000000000000000000000000000000a4d0002c096fcb9";

static void roce_packet_of_other_code(void **state)
{
	static const uint8_t src[4] = {10, 1, 0, 1}, dst[4] = {239, 1, 2, 3};
	struct cw_gid from = cw_gid_of(4, src), to = cw_gid_of(4, dst);
	uint8_t *ip, ours[128], mgid[16], want[16];
	const uint8_t *data;
	struct cw_ipoib_tx rx;
	size_t n, i, len;

	(void)state;
	ip = hex_block(roce_hex, &len);
	assert_int_equal(len, 112);
	for (i = 0; i < len; i++) {
		uint8_t *cut = exact_copy(ip, i);

		assert_true(cw_ipoib_roce_parse(cut, i, &rx, &data, &n) < 0);
		free(cut);
	}
	assert_int_equal(cw_ipoib_roce_parse(ip, len, &rx, &data, &n), CW_OK);
	assert_int_equal(rx.pkey, 0xffff);
	assert_int_equal(rx.dqpn, 0xffffff);
	assert_int_equal(rx.sqpn, 0x48);
	assert_int_equal(rx.qkey, 0xb1b);
	assert_memory_equal(rx.sgid, from.o, 16);
	assert_memory_equal(rx.dgid, to.o, 16);
	assert_int_equal(n, 60);
	assert_int_equal(cw_ipoib_mgid_of(mgid, data, n, 0x8001, 2), CW_OK);
	assert_int_equal(inet_pton(AF_INET6, "ff12:401b:8001::ffff:ffff", want), 1);
	assert_memory_equal(mgid, want, 16);
	/* Ours differs in what we choose: source port, ID, and so in both checksums. */
	assert_int_equal(cw_ipoib_roce_build(ours, sizeof(ours), &from, &to, &rx, 1, data, n), 112);
	assert_memory_equal(ours + 28 + 12, ip + 28 + 12, 112 - 28 - 12 - 4);
	assert_int_equal(cw_ipoib_roce_parse(ours, 112, &rx, &data, &n), CW_OK);
	ours[60] ^= 1;
	assert_int_equal(cw_ipoib_roce_parse(ours, 112, &rx, &data, &n), CW_E_ICRC);
	free(ip);
}

static void roce_both_ip_versions(void **state)
{
	static const uint8_t a[16] = {0x20, 1, 0xd, 0xb8, [15] = 1},
			     b[16] = {0x20, 1, 0xd, 0xb8, [15] = 2};
	struct cw_gid from = cw_gid_of(6, a), to = cw_gid_of(6, b), four = cw_gid_of(4, ip_of[0]);
	struct cw_ipoib_tx tx = {.pkey = 0x8001,
				 .dqpn = 0x345678,
				 .sqpn = 0x9abcde,
				 .qkey = 0x80010b1b,
				 .tclass = 0xb8,
				 .flow_label = 0x12345},
			   rx;
	uint8_t data[7] = {8, 0, 0, 0, 1, 2, 3}, out[200];
	const uint8_t *got;
	size_t n;
	int len = cw_ipoib_roce_build(out, sizeof(out), &from, &to, &tx, 5, data, sizeof(data));

	(void)state;
	assert_int_equal(len, 40 + 8 + 12 + 8 + 8 + 4);
	assert_int_equal(cw_ipoib_roce_parse(out, (size_t)len, &rx, &got, &n), CW_OK);
	assert_int_equal(n, sizeof(data)); /* the pad count, not the padded length */
	assert_memory_equal(got, data, n);
	assert_int_equal(rx.flow_label, 0x12345);
	assert_int_equal(rx.tclass, 0xb8);
	assert_int_equal(rx.sqpn, 0x9abcde);
	assert_int_equal(cw_ipoib_roce_build(out, sizeof(out), &four, &to, &tx, 5, data, 7),
			 CW_E_ARG);
	assert_int_equal(cw_ipoib_roce_build(out, 79, &from, &to, &tx, 5, data, 7), CW_E_SPACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce_packet_of_other_code),
		cmocka_unit_test(roce_both_ip_versions),
		cmocka_unit_test(s5_broadcast_group_first_and_as_full_member),
		cmocka_unit_test(s5_full_member_pkey_only),
		cmocka_unit_test(s5_controlled_qkey_for_all_traffic),
		cmocka_unit_test(s7_mtu_2044_is_the_default),
		cmocka_unit_test(s9_2_arp_and_the_queue_pair_it_names),
		cmocka_unit_test(s6_with_or_without_grh),
		cmocka_unit_test(s6_reserved_bits_are_sent_as_zero),
		cmocka_unit_test(s5_partition_and_queue_key_are_checked),
		cmocka_unit_test(s10_group_takes_after_the_broadcast_group),
		cmocka_unit_test(s10_leave_is_a_full_member_leave),
		cmocka_unit_test(s11_sender_joins_send_only_and_hears_nothing),
		cmocka_unit_test(s11_sender_falls_back_to_the_routers),
		cmocka_unit_test(s10_created_and_deleted_groups_are_followed),
		cmocka_unit_test(s11_router_joins_every_group),
		cmocka_unit_test(s12_failures_are_logged),
		cmocka_unit_test(s9_1_1_changed_queue_pair_is_followed),
		cmocka_unit_test(s9_1_1_addresses_are_announced),
		cmocka_unit_test(addresses_come_and_go),
		cmocka_unit_test(s10_shutdown_leaves_every_group),
		cmocka_unit_test(s9_1_1_flags_octet_is_no_part_of_the_address),
		cmocka_unit_test(s9_3_neighbour_discovery),
		cmocka_unit_test(s9_3_router_messages_and_redirects),
		cmocka_unit_test(s6_rarp_is_understood_and_not_served),
		cmocka_unit_test(restarted_subnet_manager_is_noticed),
		cmocka_unit_test(refused_broadcast_group_takes_the_link_down),
		cmocka_unit_test(unknown_path_is_asked_for_again),
		cmocka_unit_test(requests_back_off_to_16_seconds),
		cmocka_unit_test(queues_are_bounded),
		cmocka_unit_test(s13_nobody_but_the_sa_speaks_for_it),
		cmocka_unit_test(rfc_8064_stable_identifiers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
