/* Tests of the queue pair map: votes. The CM handshake is in qpmap_cm.c. */
#include "tests/unit/roce_sim.h"

enum { A = 0x0a000001, B = 0x0a000002, MS = 1000000 };

static struct cw_qpmap *new_map(uint32_t pairs)
{
	struct cw_qpmap_opts o;
	struct cw_qpmap *m;

	cw_qpmap_opts_init(&o);
	o.pairs = pairs;
	assert_int_equal(cw_qpmap_new(&m, &o), CW_OK);
	return m;
}

static void feed(struct cw_qpmap *m, const uint8_t *p, size_t len, uint64_t now)
{
	sim_seen_in(m, 0, p, len, now);
}

/* One request and its ACK. */
static void exchange(struct cw_qpmap *m, uint32_t qa, uint32_t qb, uint32_t psn, uint16_t port_a,
		     uint16_t port_b, uint64_t now)
{
	uint8_t p[SIM_PACKET_MAX];

	feed(m, p, sim_packet(p, A, B, port_a, CW_OP_SEND_ONLY, qb, psn, true, 16), now);
	feed(m, p, sim_packet(p, B, A, port_b, CW_OP_ACK, qa, psn, false, 4), now + 1000);
}

static void a9_port_of_linux(void **state)
{
	static const struct {
		uint32_t qpn, port;
	} rxe[] = {{0x11, 0xc121}, {0x13, 0xc169}, {0x14, 0xc190},
		   {0x15, 0xc1b9}, {0x16, 0xc1e4}, {0x17, 0xc211}};
	unsigned i;

	(void)state;
	assert_int_equal(cw_roce_sport(0xa0, 0xcf), 49506); /* a Mellanox capture */
	assert_int_equal(cw_roce_sport(0xcf, 0xa0), 49506);
	/* rdma_rxe of Linux 6.1, tests/pcap/rxe-pairs.pcap: all that it has */
	for (i = 0; i < sizeof(rxe) / sizeof(rxe[0]); i++)
		assert_int_equal(cw_roce_sport(rxe[i].qpn, rxe[i].qpn), rxe[i].port);
}

/* Three votes decide, not two; the other direction is known by the same votes. */
static void a9_three_votes_decide(void **state)
{
	struct cw_qpmap *m = new_map(100);
	struct cw_gid a = sim_addr(A), b = sim_addr(B);
	struct cw_qp_pair pair;

	(void)state;
	assert_int_equal(sim_lookup(m, A, B, 0xcf, 0), -2);
	exchange(m, 0xa0, 0xcf, 7, 49506, 49506, MS);
	exchange(m, 0xa0, 0xcf, 8, 49506, 49506, 2 * MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, 3 * MS), -1);
	exchange(m, 0xa0, 0xcf, 9, 49506, 49506, 3 * MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, 3 * MS), 0xa0);
	assert_int_equal(sim_lookup(m, B, A, 0xa0, 3 * MS), 0xcf);
	assert_int_equal(sim_lookup(m, A, B, 0xa0, 3 * MS), -2);
	assert_int_equal(cw_qpmap_lookup(m, &a, &b, 0xcf, 3 * MS, &pair), CW_OK);
	assert_int_equal(pair.how, CW_QP_VOTE);
	assert_int_equal(pair.pkey, 0x8123);
	assert_int_equal(pair.sport, 49506);
	assert_true(pair.linux_port);
	assert_false(pair.qpn_port);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_HITS), 3);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_UNDECIDED), 1);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_UNKNOWN), 2);
	cw_qpmap_free(m);
}

/* A notification leaves in the VLAN of packets to the sender: that of answers to it, and until
 * there are any, that of its own packets. */
static void a9_vlan_is_that_of_packets_to_the_sender(void **state)
{
	enum { THERE = CW_VLAN_SEEN | 40, BACK = CW_VLAN_SEEN | 30, OTHER = CW_VLAN_SEEN | 50 };
	struct cw_qpmap *m = new_map(100);
	uint8_t p[SIM_PACKET_MAX];
	struct cw_gid a = sim_addr(A), b = sim_addr(B);
	uint32_t psn;

	(void)state;
	assert_int_equal(cw_qpmap_add(m, &a, &b, 0xcf, 0xa0, MS), CW_OK);
	assert_int_equal(sim_vlan(m, A, B, 0xcf, MS), 0);
	for (psn = 0; psn < 3; psn++) {
		sim_seen_in(m, THERE, p,
			    sim_packet(p, A, B, 49506, CW_OP_SEND_ONLY, 0xcf, psn, true, 16), MS);
		assert_int_equal(sim_vlan(m, A, B, 0xcf, MS), psn == 0 ? THERE : BACK);
		sim_seen_in(m, BACK, p, sim_packet(p, B, A, 49506, CW_OP_ACK, 0xa0, psn, false, 4),
			    MS);
		assert_int_equal(sim_vlan(m, A, B, 0xcf, MS), BACK);
	}
	/* An answer that contradicts the pair moves nothing; nor does one that nobody asked for. */
	sim_seen_in(m, OTHER, p, sim_packet(p, B, A, 49506, CW_OP_ACK, 0xa1, 2, false, 4), MS);
	sim_seen_in(m, OTHER, p, sim_packet(p, B, A, 49506, CW_OP_ACK, 0xa0, 9, false, 4), MS);
	assert_int_equal(sim_vlan(m, A, B, 0xcf, MS), BACK);
	/* Untagged is known to be so. */
	feed(m, p, sim_packet(p, A, B, 49506, CW_OP_SEND_ONLY, 0xcf, 3, true, 16), MS);
	sim_seen_in(m, CW_VLAN_SEEN, p, sim_packet(p, B, A, 49506, CW_OP_ACK, 0xa0, 3, false, 4),
		    MS);
	assert_int_equal(sim_vlan(m, A, B, 0xcf, MS), CW_VLAN_SEEN);
	cw_qpmap_free(m);
}

/* The same ACK again, and the same request again, are no new votes. */
static void a9_one_vote_a_request(void **state)
{
	struct cw_qpmap *m = new_map(100);
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++)
		exchange(m, 0xa0, 0xcf, 7, 49506, 49506, MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_VOTES), 1);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), -1);
	cw_qpmap_free(m);
}

/* Equal PSN without an equal port is no vote, unless each port is its sender's own QPN. */
static void a9_port_has_to_fit(void **state)
{
	struct cw_qpmap *m = new_map(100);
	unsigned i;

	(void)state;
	for (i = 0; i < 9; i++)
		exchange(m, 0xa0, 0xcf, i, 50001, 50002, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), -1);
	cw_qpmap_free(m);
	m = new_map(100);
	for (i = 0; i < 9; i++)
		exchange(m, 0x45, 0x48, i, 0x45, 0x48, MS);
	assert_int_equal(sim_lookup(m, A, B, 0x48, MS), 0x45);
	for (i = 0; i < 9; i++) /* the ACK's port is somebody else's */
		exchange(m, 0x55, 0x58, i, 0x55, 0x59, MS);
	assert_int_equal(sim_lookup(m, A, B, 0x58, MS), -1);
	cw_qpmap_free(m);
}

/* Every answer that carries a PSN counts; what carries none does not. */
static void a9_kinds_of_answers(void **state)
{
	static const struct {
		uint8_t request, answer, syndrome;
		size_t request_body, answer_body;
		bool counts;
	} kind[] = {
		{CW_OP_SEND_ONLY, CW_OP_ACK, 0x1f, 16, 4, true},
		{CW_OP_WRITE_ONLY, CW_OP_ACK, 0x60, 32, 4, true}, /* NAK, sequence error */
		{CW_OP_SEND_ONLY, CW_OP_ACK, 0x2a, 16, 4, true},  /* RNR NAK */
		{CW_OP_SEND_ONLY, CW_OP_ACK, 0x4a, 16, 4, false}, /* reserved */
		{CW_OP_CMP_SWAP, CW_OP_ATOMIC_ACK, 0, 28, 12, true},
		{CW_OP_READ_REQUEST, CW_OP_READ_RESP_FIRST, 0, 16, 20, true},
		{CW_OP_READ_REQUEST, CW_OP_READ_RESP_ONLY, 0, 16, 20, true},
		{CW_OP_READ_REQUEST, CW_OP_READ_RESP_MIDDLE, 0, 16, 20, false},
		{CW_BTH_XRC | CW_OP_SEND_ONLY, CW_BTH_XRC | CW_OP_ACK, 0, 16, 4, true},
		{CW_BTH_UC | CW_OP_SEND_ONLY, CW_OP_ACK, 0, 16, 4, false},
	};
	uint8_t p[SIM_PACKET_MAX];
	unsigned i, n;

	(void)state;
	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		struct cw_qpmap *m = new_map(100);

		for (n = 0; n < 4; n++) {
			size_t len = sim_packet(p, A, B, 50000, kind[i].request, 7, n, false,
						kind[i].request_body);

			feed(m, p, len, MS);
			len = sim_packet(p, B, A, 50000, kind[i].answer, 8, n, false,
					 kind[i].answer_body);
			p[40] = kind[i].syndrome;
			feed(m, p, len, MS);
		}
		if (sim_lookup(m, A, B, 7, MS) != (kind[i].counts ? 8 : -1))
			fail_msg("kind %u", i);
		cw_qpmap_free(m);
	}
}

/* Packets in the middle of a message are answered only if they ask. */
static void a9_middle_needs_ackreq(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint8_t p[SIM_PACKET_MAX];

	(void)state;
	feed(m, p, sim_packet(p, A, B, 50000, CW_OP_SEND_MIDDLE, 7, 1, false, 16), MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_REQUESTS), 0);
	feed(m, p, sim_packet(p, A, B, 50000, CW_OP_SEND_MIDDLE, 7, 2, true, 16), MS);
	feed(m, p, sim_packet(p, A, B, 50000, CW_OP_SEND_LAST, 7, 3, false, 16), MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_REQUESTS), 2);
	cw_qpmap_free(m);
}

/* An answer long after its request votes for nothing. */
static void late_answers_do_not_vote(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint8_t p[SIM_PACKET_MAX];

	(void)state;
	feed(m, p, sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, 7, 1, true, 16), MS);
	feed(m, p, sim_packet(p, B, A, 50000, CW_OP_ACK, 8, 1, false, 4), 2000 * (uint64_t)MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_VOTES), 0);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_UNMATCHED), 1);
	cw_qpmap_free(m);
}

/* Answers for another queue pair end what was decided; the new pair needs its own votes. */
static void contradiction_evicts(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		exchange(m, 0xa0, 0xcf, i, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa0);
	for (i = 100; i < 108; i++)
		exchange(m, 0xa1, 0xcf, i, 50000, 50000, MS);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_CONTRADICTED), 1);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), -1);
	for (i = 108; i < 120; i++)
		exchange(m, 0xa1, 0xcf, i, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa1);
	assert_int_equal(sim_lookup(m, B, A, 0xa0, MS), -1); /* it is not the peer's any more */
	cw_qpmap_free(m);
}

/* A PSN out of line: nobody knows whose the queue pair is, until it is learned again. */
static void reuse_begins_anew(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint32_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		exchange(m, 0xa0, 0xcf, i, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa0);
	exchange(m, 0xa2, 0xcf, 0x800000, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), -1);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 1);
	exchange(m, 0xa0, 0xcf, 10, 50000, 50000, MS); /* it was one stray packet */
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa0);
	for (i = 0; i < 100; i++)
		exchange(m, 0xa2, 0xcf, 0x800000 + i, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa2);
	cw_qpmap_free(m);
}

/* Ports that are unrelated fit by accident here and there, each time again: where most answers
 * between two hosts fit nothing, none is believed. */
static void strays_between_hosts_decide_nothing(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint32_t i;

	(void)state;
	for (i = 0; i < 30; i++) {
		exchange(m, 0xa0, 0xcf, i, 50000, 50000, MS);
		exchange(m, 0xa1, 0xd0, i, 50001, 50002, MS);
	}
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), -1);
	cw_qpmap_free(m);
}

static void psn_wraps(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint32_t i;

	(void)state;
	for (i = 0; i < 20; i++)
		exchange(m, 0xa0, 0xcf, (0xfffff8 + i) & 0xffffff, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, MS), 0xa0);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_STALE), 0);
	cw_qpmap_free(m);
}

static void static_pairs_stay(void **state)
{
	struct cw_qpmap *m = new_map(100);
	struct cw_gid a = sim_addr(A), b = sim_addr(B);
	uint32_t i;

	(void)state;
	assert_int_equal(cw_qpmap_add(m, &a, &b, 0xcf, 0xbb, MS), CW_OK);
	assert_int_equal(cw_qpmap_add(m, &a, &b, 0x1000000, 1, MS), CW_E_RANGE);
	for (i = 0; i < 50; i++)
		exchange(m, 0xa0, 0xcf, i * 0x400000, 50000, 50000, MS);
	assert_int_equal(sim_lookup(m, A, B, 0xcf, 1000000 * (uint64_t)MS), 0xbb);
	cw_qpmap_age(m, 2000000 * (uint64_t)MS, 1000);
	assert_int_equal(cw_qpmap_count(m), 1);
	assert_int_equal(cw_qpmap_remove(m, &a, &b, 0xcf), CW_OK);
	assert_int_equal(cw_qpmap_remove(m, &a, &b, 0xcf), CW_E_UNKNOWN);
	cw_qpmap_free(m);
}

/* A flood of invented flows does not push out what was learned; real new ones get in. */
static void flood_keeps_learned_pairs(void **state)
{
	struct cw_qpmap *m = new_map(64);
	uint8_t p[SIM_PACKET_MAX];
	uint64_t seed = 7;
	uint32_t i, kept = 0;

	(void)state;
	for (i = 0; i < 8 * 4; i++)
		exchange(m, 0x100 + i / 4, 0x200 + i / 4, i % 4, (uint16_t)(50000 + i / 4),
			 (uint16_t)(50000 + i / 4), MS);
	for (i = 0; i < 20000; i++)
		feed(m, p,
		     sim_packet(p, sim_rand(&seed), sim_rand(&seed), 1, CW_OP_SEND_ONLY,
				sim_rand(&seed) & 0xffffff, 0, true, 16),
		     MS + i);
	for (i = 0; i < 8; i++)
		kept += sim_lookup(m, A, B, 0x200 + i, 2 * MS) == 0x100 + i;
	assert_int_equal(kept, 8);
	assert_true(cw_qpmap_count(m) <= 64);
	cw_qpmap_free(m);
}

/* Open addressing: entering and erasing at random, against a plain list. */
static void table_agrees_with_a_list(void **state)
{
	enum { N = 300 };
	struct cw_qpmap *m = new_map(256);
	struct cw_gid a = sim_addr(A), b = sim_addr(B);
	int64_t list[N];
	uint64_t seed = 3;
	uint32_t i, n = 0, at = 0;
	struct cw_qp_pair pair;

	(void)state;
	for (i = 0; i < N; i++)
		list[i] = -2;
	for (i = 0; i < 20000; i++) {
		uint32_t q = sim_rand(&seed) % N, v = sim_rand(&seed) & 0xffffff;

		if (sim_rand(&seed) % 2 == 0) {
			if (cw_qpmap_add(m, &a, &b, q, v, MS) == CW_OK)
				list[q] = v;
			else
				assert_int_equal(cw_qpmap_count(m), 256);
		} else {
			assert_int_equal(cw_qpmap_remove(m, &a, &b, q),
					 list[q] >= 0 ? CW_OK : CW_E_UNKNOWN);
			list[q] = -2;
		}
	}
	for (i = 0; i < N; i++) {
		assert_int_equal(sim_lookup(m, A, B, i, MS), list[i]);
		n += list[i] >= 0;
	}
	assert_int_equal(cw_qpmap_count(m), n);
	while (cw_qpmap_next(m, &at, &pair))
		n--;
	assert_int_equal(n, 0);
	cw_qpmap_free(m);
}

/* Packets of more pairs than there is room for, malformed ones, and lookups: slots move, go and
 * come within a burst. */
static void bursts_are_as_one_by_one(void **state)
{
	enum { N = 70 };
	struct cw_qpmap *m = new_map(24), *by_one = new_map(24);
	static uint8_t p[N][SIM_PACKET_MAX];
	struct cw_qp_seen seen[N];
	struct cw_qp_key key[N];
	struct cw_qp_pair pair[N], want;
	int err[N];
	uint64_t seed = 11, now = MS;
	unsigned round, i, n;
	uint32_t q = 0, psn;

	(void)state;
	for (round = 0; round < 600; round++) {
		n = 1 + sim_rand(&seed) % N;
		for (i = 0; i < n; i++, now += 1 + sim_rand(&seed) % MS) {
			bool back = i % 2;
			size_t len, cut;

			if (!back || sim_rand(&seed) % 16 == 0)
				q = sim_rand(&seed) % 14;
			psn = 16 * round + q;
			len = sim_packet(p[i], back ? B : A, back ? A : B, 50000,
					 back ? CW_OP_ACK : CW_OP_SEND_ONLY,
					 back ? 0x100 + q : 0x800 + q, psn, true, back ? 4 : 16);
			cut = sim_rand(&seed) % 32 == 0 ? len - 30 : len;

			seen[i] = (struct cw_qp_seen){p[i], cut, len, now};
			cw_qpmap_packet(by_one, p[i], cut, len, now);
			key[i] = (struct cw_qp_key){sim_addr(A), sim_addr(B), 0x800 + q};
		}
		cw_qpmap_learn(m, seen, n);
		now += sim_rand(&seed) % 32 == 0 ? 301000ull * MS : 0;
		cw_qpmap_lookup_burst(m, key, n, now, pair, err);
		for (i = 0; i < n; i++) {
			assert_int_equal(err[i],
					 cw_qpmap_lookup(by_one, &key[i].sender, &key[i].receiver,
							 key[i].dqpn, now, &want));
			if (err[i] != CW_E_UNKNOWN)
				assert_int_equal(pair[i].sqpn, want.sqpn);
		}
		sim_same_maps(m, by_one);
	}
	assert_true(cw_qpmap_counter(m, CW_QPMAP_HITS) > 100);
	assert_true(cw_qpmap_counter(m, CW_QPMAP_AGED) > 100);
	cw_qpmap_free(m);
	cw_qpmap_free(by_one);
}

static void idle_pairs_are_aged(void **state)
{
	struct cw_qpmap *m = new_map(1000);
	uint32_t i;

	(void)state;
	for (i = 0; i < 400; i++)
		exchange(m, 0x100 + i, 0x800 + i, 5, 50000, 50000, MS);
	assert_int_equal(cw_qpmap_count(m), 800);
	cw_qpmap_age(m, 200000 * (uint64_t)MS, 5000);
	assert_int_equal(cw_qpmap_count(m), 800);
	exchange(m, 0x100, 0x800, 6, 50000, 50000, 200000 * (uint64_t)MS);
	cw_qpmap_age(m, 400000 * (uint64_t)MS, 5000);
	assert_int_equal(cw_qpmap_count(m), 2);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_AGED), 798);
	assert_int_equal(sim_lookup(m, A, B, 0x800, 900000 * (uint64_t)MS), -2);
	cw_qpmap_free(m);
}

/* Cut anywhere, with any length in its headers: never read behind its end (the sanitizer). */
static void every_prefix_is_safe(void **state)
{
	struct cw_qpmap *m = new_map(100);
	uint8_t p[SIM_PACKET_MAX], *body;
	size_t len = sim_cm(p, A, B, CW_CM_REQ, 1, &body), cut;

	(void)state;
	for (cut = 0; cut <= len; cut++) {
		uint8_t *e = exact_copy(p, cut);

		cw_qpmap_packet(m, e, cut, cut, MS);
		cw_qpmap_packet(m, e, cut, len, MS);
		free(e);
	}
	len = sim_packet(p, A, B, 1, CW_OP_ACK, 1, 1, false, 4);
	for (cut = 0; cut < 65536; cut += 7) {
		cw_udp_set_length(p + 20, (uint32_t)cut);
		feed(m, p, len, MS);
	}
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_LEARNED), 0);
	cw_qpmap_free(m);
}

static void a_million_pairs_below_100_octets(void **state)
{
	struct cw_qpmap *m = new_map(1000000);

	(void)state;
	assert_true(cw_qpmap_memory(m) < 100000000);
	print_message("# 1000000 pairs: %zu octets\n", cw_qpmap_memory(m));
	cw_qpmap_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a9_port_of_linux),
		cmocka_unit_test(a9_three_votes_decide),
		cmocka_unit_test(a9_vlan_is_that_of_packets_to_the_sender),
		cmocka_unit_test(a9_one_vote_a_request),
		cmocka_unit_test(a9_port_has_to_fit),
		cmocka_unit_test(a9_kinds_of_answers),
		cmocka_unit_test(a9_middle_needs_ackreq),
		cmocka_unit_test(late_answers_do_not_vote),
		cmocka_unit_test(contradiction_evicts),
		cmocka_unit_test(reuse_begins_anew),
		cmocka_unit_test(strays_between_hosts_decide_nothing),
		cmocka_unit_test(psn_wraps),
		cmocka_unit_test(static_pairs_stay),
		cmocka_unit_test(flood_keeps_learned_pairs),
		cmocka_unit_test(table_agrees_with_a_list),
		cmocka_unit_test(bursts_are_as_one_by_one),
		cmocka_unit_test(idle_pairs_are_aged),
		cmocka_unit_test(every_prefix_is_safe),
		cmocka_unit_test(a_million_pairs_below_100_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
