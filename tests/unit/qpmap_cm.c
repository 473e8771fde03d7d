/* Tests of the queue pair map: the CM handshake and its teardown. */
#include "tests/unit/roce_sim.h"

enum { A = 0x0a000001, B = 0x0a000002, QA = 0x123456, QB = 0xabcdef, MS = 1000000 };
enum { ID_A = 0x11223344, ID_B = 0x55667788, PSN_A = 0x300000, PSN_B = 0x700000 };

static struct cw_qpmap *new_map_of(uint32_t pairs)
{
	struct cw_qpmap_opts o;
	struct cw_qpmap *m;

	cw_qpmap_opts_init(&o);
	o.pairs = pairs;
	assert_int_equal(cw_qpmap_new(&m, &o), CW_OK);
	return m;
}

static struct cw_qpmap *new_map(void)
{
	return new_map_of(65536);
}

enum { VLAN_A = CW_VLAN_SEEN | 30, VLAN_B = CW_VLAN_SEEN | 40, PKEY = 0x8765 };

/* Packets to A leave in VLAN 30, those to B in 40. */
static void give(struct cw_qpmap *m, uint8_t *p, size_t len, uint64_t now)
{
	sim_seal(p, len);
	sim_seen_in(m, cw_be32(p + 16) == A ? VLAN_A : VLAN_B, p, len, now);
}

static void req(struct cw_qpmap *m, uint32_t id, uint32_t qpn, uint64_t tid, uint64_t now)
{
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len = sim_cm(p, A, B, CW_CM_REQ, tid, &b);
	struct cw_gid a = sim_addr(A), r = sim_addr(B);

	cw_cm_req_set_local_comm_id(b, id);
	cw_cm_req_set_qpn(b, qpn);
	cw_cm_req_set_psn(b, PSN_A);
	cw_cm_req_set_pkey(b, PKEY);
	cw_cm_req_set_local_gid(b, a.o);
	cw_cm_req_set_remote_gid(b, r.o);
	give(m, p, len, now);
}

static void rep(struct cw_qpmap *m, uint32_t id_a, uint32_t id_b, uint32_t qpn, uint64_t tid,
		uint64_t now)
{
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len = sim_cm(p, B, A, CW_CM_REP, tid, &b);

	cw_cm_rep_set_local_comm_id(b, id_b);
	cw_cm_rep_set_remote_comm_id(b, id_a);
	cw_cm_rep_set_qpn(b, qpn);
	cw_cm_rep_set_psn(b, PSN_B);
	give(m, p, len, now);
}

/* The messages that are IDs and little else; `remote_qpn` for DREQ. */
static void ids(struct cw_qpmap *m, uint32_t attr, bool from_a, uint32_t remote_qpn, uint64_t now)
{
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len = sim_cm(p, from_a ? A : B, from_a ? B : A, attr, 2, &b);

	cw_put_be32(b, from_a ? ID_A : ID_B);
	cw_put_be32(b + 4, from_a ? ID_B : ID_A);
	if (attr == CW_CM_DREQ)
		cw_cm_dreq_set_remote_qpn(b, remote_qpn);
	give(m, p, len, now);
}

static void data(struct cw_qpmap *m, uint32_t psn, uint64_t now)
{
	uint8_t p[SIM_PACKET_MAX];
	size_t len = sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, QB, psn, true, 16);

	cw_qpmap_packet(m, p, len, len, now);
}

static void connect_pair(struct cw_qpmap *m, uint64_t now)
{
	req(m, ID_A, QA, 1, now);
	rep(m, ID_A, ID_B, QB, 1, now);
	ids(m, CW_CM_RTU, true, 0, now);
}

static void s12_9_pair_is_known_from_rep_on(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	req(m, ID_A, QA, 1, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -2);
	rep(m, ID_A, ID_B, QB, 1, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	assert_int_equal(sim_lookup(m, B, A, QA, MS), QB);
	ids(m, CW_CM_RTU, true, 0, MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_MESSAGES), 3);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_STATE), 0);
	data(m, PSN_B, MS); /* A begins where B expects it */
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 0);
	cw_qpmap_free(m);
}

/* Before any data: the P_Key of the REQ, and the VLANs that REQ and REP left in. */
static void s12_7_pkey_and_vlan_of_the_handshake(void **state)
{
	struct cw_qpmap *m = new_map();
	struct cw_gid a = sim_addr(A), b = sim_addr(B);
	struct cw_qp_pair pair;

	(void)state;
	connect_pair(m, MS);
	assert_int_equal(sim_vlan(m, A, B, QB, MS), VLAN_A);
	assert_int_equal(sim_vlan(m, B, A, QA, MS), VLAN_B);
	assert_int_equal(cw_qpmap_lookup(m, &b, &a, QA, MS, &pair), CW_OK);
	assert_true(pair.pkey_known);
	assert_int_equal(pair.pkey, PKEY);
	assert_false(pair.sport_known);
	data(m, PSN_B, MS); /* of another partition: what packets say counts more */
	assert_int_equal(cw_qpmap_lookup(m, &a, &b, QB, MS, &pair), CW_OK);
	assert_int_equal(pair.pkey, 0x8123);
	assert_int_equal(pair.vlan, VLAN_A);
	cw_qpmap_free(m);
}

/* Every message twice and thrice changes nothing. */
static void s12_9_retransmissions(void **state)
{
	struct cw_qpmap *m = new_map();
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		req(m, ID_A, QA, 1, MS);
	for (i = 0; i < 3; i++)
		rep(m, ID_A, ID_B, QB, 1, MS);
	req(m, ID_A, QA, 1, MS); /* one overtook the REP */
	for (i = 0; i < 3; i++)
		ids(m, CW_CM_RTU, true, 0, MS);
	rep(m, ID_A, ID_B, QB, 1, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_LEARNED), 2);
	for (i = 0; i < 3; i++)
		ids(m, CW_CM_DREQ, false, QA, 2 * MS);
	for (i = 0; i < 3; i++)
		ids(m, CW_CM_DREP, true, 0, 2 * MS);
	assert_int_equal(sim_lookup(m, A, B, QB, 2 * MS), -1);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CLOSED), 2);
	cw_qpmap_free(m);
}

static void s12_6_7_rej_undoes_a_rep(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	req(m, ID_A, QA, 1, MS);
	ids(m, CW_CM_REJ, false, 0, MS);
	rep(m, ID_A, ID_B, QB, 1, MS); /* of nothing any more */
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -2);
	req(m, ID_A, QA, 3, MS);
	rep(m, ID_A, ID_B, QB, 3, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	ids(m, CW_CM_REJ, true, 0, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -1);
	cw_qpmap_free(m);
}

/* 12.6.10: the QPN of a DREQ has to be the receiver's. */
static void s12_6_10_dreq_names_the_peers_qp(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	connect_pair(m, MS);
	ids(m, CW_CM_DREQ, true, QA, 2 * MS);
	assert_int_equal(sim_lookup(m, A, B, QB, 2 * MS), QA);
	ids(m, CW_CM_DREQ, true, QB, 2 * MS);
	assert_int_equal(sim_lookup(m, A, B, QB, 2 * MS), -1);
	cw_qpmap_free(m);
}

/* The end of a connection that was only voted for. */
static void dreq_ends_voted_pairs(void **state)
{
	struct cw_qpmap *m = new_map();
	uint8_t p[SIM_PACKET_MAX];
	uint32_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		size_t len = sim_packet(p, B, A, 50000, CW_OP_ACK, QA, i, false, 4);

		data(m, i, MS);
		len = sim_packet(p, B, A, 50000, CW_OP_ACK, QA, i, false, 4);
		cw_qpmap_packet(m, p, len, len, MS);
	}
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	ids(m, CW_CM_DREQ, true, QB, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -1);
	assert_int_equal(sim_lookup(m, B, A, QA, MS), -1);
	cw_qpmap_free(m);
}

/* The queue pair is used again with other PSNs; a late packet is stale (DingoCache PR 19). */
static void late_packet_of_a_former_connection(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	connect_pair(m, MS);
	data(m, PSN_B + 1, MS);
	ids(m, CW_CM_DREQ, true, QB, 2 * MS);
	data(m, PSN_B + 2, 2 * MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 1);
	assert_int_equal(sim_lookup(m, A, B, QB, 2 * MS), -1);
	req(m, ID_A + 1, 0x777777, 9, 3 * MS);
	rep(m, ID_A + 1, ID_B + 1, QB, 9, 3 * MS);
	assert_int_equal(sim_lookup(m, A, B, QB, 3 * MS), 0x777777);
	data(m, PSN_B + 0x400000, 3 * MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 2);
	assert_int_equal(sim_lookup(m, A, B, QB, 3 * MS), -1);
	data(m, PSN_B, 3 * MS);
	assert_int_equal(sim_lookup(m, A, B, QB, 3 * MS), 0x777777);
	cw_qpmap_free(m);
}

/* After the time-wait the numbers may be anybody's; traffic begins anew as unknown. */
static void timewait_ends(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	connect_pair(m, MS);
	ids(m, CW_CM_DREQ, true, QB, 2 * MS);
	data(m, 5, 20000 * (uint64_t)MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 0);
	assert_int_equal(sim_lookup(m, A, B, QB, 20000 * (uint64_t)MS), -1);
	cw_qpmap_free(m);
}

/* 12.8: an alternate path counts once the peer agreed, and ends with the connection. */
static void s12_8_alternate_path(void **state)
{
	enum { A2 = 0x0a010001, B2 = 0x0a010002 };
	struct cw_gid a2 = sim_addr(A2), b2 = sim_addr(B2);
	struct cw_qpmap *m = new_map();
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len;
	unsigned round;

	(void)state;
	connect_pair(m, MS);
	for (round = 0; round < 2; round++) { /* refused, then agreed to */
		len = sim_cm(p, A, B, CW_CM_LAP, 4, &b);
		cw_cm_lap_set_local_comm_id(b, ID_A);
		cw_cm_lap_set_remote_comm_id(b, ID_B);
		cw_cm_lap_set_remote_qpn(b, QB);
		cw_cm_lap_set_local_gid(b, a2.o);
		cw_cm_lap_set_remote_gid(b, b2.o);
		give(m, p, len, MS);
		assert_int_equal(sim_lookup(m, A2, B2, QB, MS), -2);
		len = sim_cm(p, B, A, CW_CM_APR, 4, &b);
		cw_cm_apr_set_local_comm_id(b, ID_B);
		cw_cm_apr_set_remote_comm_id(b, ID_A);
		cw_cm_apr_set_status(b, round == 0 ? 5 : 0);
		give(m, p, len, MS);
	}
	assert_int_equal(sim_lookup(m, A2, B2, QB, MS), QA);
	assert_int_equal(sim_lookup(m, B2, A2, QA, MS), QB);
	ids(m, CW_CM_DREQ, false, QA, MS);
	assert_int_equal(sim_lookup(m, A2, B2, QB, MS), -1);
	cw_qpmap_free(m);
}

/* 12.6.6: an MRA gives a slow peer more time; without it the REQ is forgotten. */
static void s12_6_6_mra_extends_the_wait(void **state)
{
	uint64_t late = 100000 * (uint64_t)MS;
	unsigned with;

	(void)state;
	for (with = 0; with < 2; with++) {
		struct cw_qpmap *m = new_map();

		req(m, ID_A, QA, 1, MS);
		if (with) {
			uint8_t p[SIM_PACKET_MAX], *b;
			size_t len = sim_cm(p, B, A, CW_CM_MRA, 1, &b);

			cw_cm_mra_set_local_comm_id(b, ID_B);
			cw_cm_mra_set_remote_comm_id(b, ID_A);
			cw_cm_mra_set_service_timeout(b, 24); /* 68.7 s */
			give(m, p, len, MS);
		}
		rep(m, ID_A, ID_B, QB, 1, late);
		assert_int_equal(sim_lookup(m, A, B, QB, late), with ? QA : -2);
		cw_qpmap_free(m);
	}
}

static void wrong_icrc_is_not_believed(void **state)
{
	struct cw_qpmap *m = new_map();
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len;

	(void)state;
	req(m, ID_A, QA, 1, MS);
	len = sim_cm(p, B, A, CW_CM_REP, 1, &b);
	cw_cm_rep_set_remote_comm_id(b, ID_A);
	cw_cm_rep_set_qpn(b, QB);
	sim_seal(p, len);
	p[len - 1] ^= 1;
	cw_qpmap_packet(m, p, len, len, MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_ICRC), 1);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -2);
	cw_qpmap_free(m);
}

/* A request that claims a path between others than those who speak. */
static void other_addresses_are_not_believed(void **state)
{
	struct cw_qpmap *m = new_map();
	struct cw_gid other = sim_addr(0x0a0a0a0a), r = sim_addr(B);
	uint8_t p[SIM_PACKET_MAX], *b;
	size_t len = sim_cm(p, A, B, CW_CM_REQ, 1, &b);

	(void)state;
	cw_cm_req_set_local_comm_id(b, ID_A);
	cw_cm_req_set_qpn(b, QA);
	cw_cm_req_set_local_gid(b, other.o);
	cw_cm_req_set_remote_gid(b, r.o);
	give(m, p, len, MS);
	rep(m, ID_A, ID_B, QB, 1, MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_ADDRESS), 1);
	assert_int_equal(cw_qpmap_count(m), 0);
	cw_qpmap_free(m);
}

/* A REP of the same IDs with another queue pair contradicts the first. */
static void contradicting_rep_is_ignored(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	req(m, ID_A, QA, 1, MS);
	rep(m, ID_A, ID_B, QB, 1, MS);
	rep(m, ID_A, ID_B, QB + 1, 1, MS);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	assert_int_equal(sim_lookup(m, A, B, QB + 1, MS), -2);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_STATE), 1);
	cw_qpmap_free(m);
}

/* The answer to a REQ that was not seen, with the IDs of one that was. */
static void rep_of_another_req_is_ignored(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	req(m, ID_A, QA, 1, MS);
	rep(m, ID_A, ID_B, QB, 2, MS);
	assert_int_equal(cw_qpmap_count(m), 0);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CM_STATE), 1);
	cw_qpmap_free(m);
}

/* 500 connections one after another, their queue pairs and IDs used again; every message may be
 * lost to the observer, repeated or late. What the map says while data flows is right or nothing.
 */
static void loss_and_retransmission_never_mislead(void **state)
{
	struct cw_qpmap *m = new_map();
	uint64_t seed = 99, now = MS;
	unsigned i, right = 0, r;

	(void)state;
	for (i = 0; i < 500; i++, now += 60000 * (uint64_t)MS) {
		uint32_t qa = QA + i % 7, id = ID_A;
		int64_t got;

		for (r = sim_rand(&seed) % 3; r > 0; r--)
			req(m, id, qa, 100 + i, now);
		for (r = sim_rand(&seed) % 3; r > 0; r--)
			rep(m, id, ID_B, QB, 100 + i, now + MS);
		if (sim_rand(&seed) % 3 == 0)
			req(m, id, qa, 100 + i, now + MS);
		for (r = sim_rand(&seed) % 3; r > 0; r--)
			ids(m, CW_CM_RTU, true, 0, now + 2 * MS);
		got = sim_lookup(m, A, B, QB, now + 2 * MS);
		right += got == qa;
		assert_true(got < 0 || got == qa);
		/* One of the two sides' DREQ at least is seen. */
		ids(m, CW_CM_DREQ, sim_rand(&seed) % 2 == 0, QB, now + 3 * MS);
		ids(m, CW_CM_DREQ, true, QB, now + 3 * MS);
		if (sim_rand(&seed) % 2 == 0)
			ids(m, CW_CM_DREP, false, 0, now + 3 * MS);
	}
	print_message("# %u of 500 connections known\n", right);
	assert_true(right > 150);
	cw_qpmap_free(m);
}

static void connect_and_close(struct cw_qpmap *m, uint32_t k, uint64_t now)
{
	req(m, ID_A, QA + k, 2, now);
	rep(m, ID_A, ID_B, QB + k, 2, now);
	ids(m, CW_CM_RTU, true, 0, now);
	ids(m, CW_CM_DREQ, true, QB + k, now);
}

/* Pairs of connections that came and went are no use beyond the time-wait: they leave the map then,
 * and a full one takes others for them at once. */
static void closed_pairs_make_room(void **state)
{
	struct cw_qpmap *m = new_map_of(4);
	uint32_t k;

	(void)state;
	for (k = 0; k < 2; k++)
		connect_and_close(m, k, MS);
	assert_int_equal(cw_qpmap_count(m), 4);
	req(m, ID_A, QA + 2, 2, 5000 * (uint64_t)MS);
	rep(m, ID_A, ID_B, QB + 2, 2, 5000 * (uint64_t)MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_FULL), 2); /* late packets may come still */
	req(m, ID_A, QA + 3, 2, 11000 * (uint64_t)MS);
	rep(m, ID_A, ID_B, QB + 3, 2, 11000 * (uint64_t)MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_FULL), 2);
	assert_int_equal(sim_lookup(m, A, B, QB + 3, 11000 * (uint64_t)MS), QA + 3);
	assert_int_equal(sim_lookup(m, B, A, QA + 3, 11000 * (uint64_t)MS), QB + 3);
	cw_qpmap_age(m, 11000 * (uint64_t)MS, 1000);
	assert_int_equal(cw_qpmap_count(m), 2);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_AGED), 2);
	cw_qpmap_free(m);
}

/* A packet of another worker may be later than the time that the map is asked or aged at. */
static void later_packets_are_not_idle(void **state)
{
	struct cw_qpmap *m = new_map();
	uint64_t tick = (uint64_t)1 << 26; /* what times are exact to */

	(void)state;
	req(m, ID_A, QA, 2, 100 * tick);
	rep(m, ID_A, ID_B, QB, 2, 100 * tick);
	cw_qpmap_age(m, 100 * tick - 1, 200000);
	assert_int_equal(cw_qpmap_count(m), 2);
	assert_int_equal(sim_lookup(m, A, B, QB, 100 * tick - 1), QA);
	cw_qpmap_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s12_9_pair_is_known_from_rep_on),
		cmocka_unit_test(s12_7_pkey_and_vlan_of_the_handshake),
		cmocka_unit_test(s12_9_retransmissions),
		cmocka_unit_test(s12_6_7_rej_undoes_a_rep),
		cmocka_unit_test(s12_6_10_dreq_names_the_peers_qp),
		cmocka_unit_test(dreq_ends_voted_pairs),
		cmocka_unit_test(late_packet_of_a_former_connection),
		cmocka_unit_test(timewait_ends),
		cmocka_unit_test(s12_8_alternate_path),
		cmocka_unit_test(s12_6_6_mra_extends_the_wait),
		cmocka_unit_test(wrong_icrc_is_not_believed),
		cmocka_unit_test(other_addresses_are_not_believed),
		cmocka_unit_test(closed_pairs_make_room),
		cmocka_unit_test(later_packets_are_not_idle),
		cmocka_unit_test(contradicting_rep_is_ignored),
		cmocka_unit_test(rep_of_another_req_is_ignored),
		cmocka_unit_test(loss_and_retransmission_never_mislead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
