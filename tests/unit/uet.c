/* uet.c - messages of the UET engine on a simulated network: segmentation, spraying, loss, order.
 */
#include "tests/unit/uet_net.h"

/* ---- The article --------------------------------------------------------------------------- */

static bool see_ids(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *seen = n->arg;

	if (to == B) {
		assert_int_equal(cw_uetx_msg_id(p), 77);
		assert_int_equal(cw_uetx_offset(p) % 4096, 0);
		assert_int_equal(cw_uetx_length(p), 4096);
		assert_int_equal(cw_uetx_f(p), cw_uetx_offset(p) == 0);
		assert_int_equal(cw_uetx_l(p), cw_uetx_offset(p) == 63 * 4096);
		assert_int_equal(len, 4096 + 20);
		seen[path]++;
	}
	return true;
}

/* "For a 256 KB block at 4096-byte MTU, this produces 64 packets, all carrying the same ID." */
static void article_256_kib_is_64_packets_with_one_id(void **state)
{
	unsigned seen[NPATHS] = {0}, i;
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, NULL, 77);
	n.see = see_ids;
	n.arg = seen;
	transfer_post(&n, &t, 1, 256 * 1024);
	transfer_run(&n, &t, 77, 100 * MS);
	assert_int_equal(net_count(&n, A, CW_UET_TX_DATA), 64);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 0);
	assert_true(net_count(&n, B, CW_UET_RX_OOO) > 0);
	for (i = 0; i < NPATHS; i++)
		assert_true(seen[i] > 0);
	transfer_free(&t);
	net_close(&n);
}

static void article_sizes_and_marks(void **state)
{
	static const uint32_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 70000};
	static const unsigned packets[] = {1, 1, 1, 1, 2, 2, 18};
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++) {
		struct transfer t;
		struct net n;

		net_open(&n, 3, NULL, 0);
		transfer_post(&n, &t, 3, sizes[i]);
		transfer_run(&n, &t, 0, 100 * MS);
		assert_int_equal(net_count(&n, A, CW_UET_TX_DATA), 3 * packets[i]);
		transfer_free(&t);
		net_close(&n);
	}
}

/* ---- Any order, loss, duplicates, wrap ------------------------------------------------------ */

static void hard_network(uint32_t seed, enum cw_uet_spray spray)
{
	struct cw_uet_settings s = {.mtu = 512, .spray = spray, .id_window = 128};
	struct transfer t;
	struct net n;
	unsigned i;

	net_open(&n, 1 + seed % NPATHS, &s, 0xfffffff0u);
	n.seed = seed * 2654435761u;
	n.dup = 0.05;
	n.mark = 0.05;
	for (i = 0; i < NPATHS; i++) {
		n.delay[i] = (1 + net_random(&n) % 500) * US;
		n.loss[i] = net_random(&n) % 3 == 0 ? 0.1 : 0.01;
	}
	transfer_post(&n, &t, 40, 1 + net_random(&n) % 20000);
	transfer_run(&n, &t, 0xfffffff0u, 60000 * MS);
	assert_int_equal(net_count(&n, B, CW_UET_E_CONFLICT), 0);
	assert_int_equal(net_count(&n, B, CW_UET_E_GEOMETRY), 0);
	assert_int_equal(net_count(&n, A, CW_UET_E_ACK), 0);
	transfer_free(&t);
	net_close(&n);
}

static void property_no_loss_no_double_no_early(void **state)
{
	uint32_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++)
		hard_network(seed, (enum cw_uet_spray)(seed % 3));
}

/* Different delays, nothing lost: nothing may be sent twice. */
static void reordering_is_not_loss(void **state)
{
	struct cw_uet_settings s = {.spray = CW_UET_ROUND_ROBIN};
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, NPATHS, &s, 0);
	n.delay[7] = 1500 * US;
	transfer_post(&n, &t, 20, 1 << 18);
	transfer_run(&n, &t, 0, 1000 * MS);
	assert_true(net_count(&n, B, CW_UET_RX_OOO) > 200);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 0);
	assert_int_equal(net_count(&n, A, CW_UET_LOST), 0);
	transfer_free(&t);
	net_close(&n);
}

static bool lose_one(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	unsigned *count = n->arg;

	(void)path;
	(void)len;
	return !(to == B && cw_uetx_offset(p) == 8 * 4096 && (*count)++ == 0);
}

/* One packet lost among others on its path: found by those, long before a timeout. */
static void loss_is_inferred_from_the_same_path(void **state)
{
	struct transfer t;
	unsigned count = 0;
	struct net n;

	(void)state;
	net_open(&n, 4, NULL, 0);
	n.see = lose_one;
	n.arg = &count;
	transfer_post(&n, &t, 1, 1 << 18);
	transfer_run(&n, &t, 0, 2 * MS);
	assert_int_equal(net_count(&n, A, CW_UET_LOST), 1);
	assert_int_equal(net_count(&n, A, CW_UET_RETRANSMITS), 1);
	assert_int_equal(net_count(&n, A, CW_UET_TIMEOUTS), 0);
	transfer_free(&t);
	net_close(&n);
}

static void last_packet_lost_is_found_by_timeout(void **state)
{
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 1, NULL, 0);
	n.cut[0] = true;
	transfer_post(&n, &t, 1, 100);
	while (net_step(&n, n.now + 5 * MS) && net_count(&n, A, CW_UET_TIMEOUTS) == 0)
		;
	(void)net_step(&n, 60 * MS);
	n.cut[0] = false;
	transfer_run(&n, &t, 0, 3000 * MS);
	assert_true(net_count(&n, A, CW_UET_TIMEOUTS) >= 1);
	transfer_free(&t);
	net_close(&n);
}

/* A path is cut in the middle and comes back: left, probed, used again; nothing is lost. */
static void cut_path_is_left_and_taken_back(void **state)
{
	struct transfer t;
	struct net n;
	struct cw_uet_path_info i;
	uint64_t during, at;

	(void)state;
	net_open(&n, NPATHS, NULL, 0);
	n.gap = 2000;
	transfer_post(&n, &t, 400, 1 << 17);
	while (t.received < 40 && net_step(&n, n.now + 100 * MS))
		transfer_events(&n, &t, 0);
	n.cut[3] = true;
	at = n.now;
	while (t.received < 200 && net_step(&n, n.now + 100 * MS))
		transfer_events(&n, &t, 0);
	assert_int_equal(cw_uet_path(n.u[A], 0, 3, &i), CW_OK);
	assert_true(i.down);
	assert_int_equal(net_count(&n, A, CW_UET_PATH_DOWN), 1);
	assert_true(n.now - at < 200 * MS);
	n.cut[3] = false;
	during = n.carried[3];
	transfer_run(&n, &t, 0, 10000 * MS);
	assert_true(net_count(&n, A, CW_UET_PATH_UP) >= 1);
	assert_true(n.carried[3] > during + 100);
	transfer_free(&t);
	net_close(&n);
}

/* All paths but one are dead from the start: what was lost there is not the packet to try them
 * again with, or one message could be lost over and over until it is given up. */
static void dead_paths_do_not_starve_a_message(void **state)
{
	struct cw_uet_settings s = {.give_up_after = 100 * MS};
	unsigned spray, i;

	(void)state;
	for (spray = 0; spray < 3; spray++) {
		struct transfer t;
		struct net n;

		s.spray = (enum cw_uet_spray)spray;
		net_open(&n, NPATHS, &s, 0);
		n.gap = 200000;
		for (i = 1; i < NPATHS; i++)
			n.cut[i] = true;
		transfer_post(&n, &t, 400, 1 << 16);
		transfer_run(&n, &t, 0, 20000 * MS);
		assert_int_equal(net_count(&n, A, CW_UET_REAPED), 0);
		assert_true(net_count(&n, A, CW_UET_PATH_DOWN) >= NPATHS - 1);
		transfer_free(&t);
		net_close(&n);
	}
}

/* Weights: a lossy path gets less than its share, a clean one more. */
static void weights_leave_a_bad_path(void **state)
{
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 4, NULL, 0);
	n.gap = 2000;
	n.loss[2] = 0.2;
	transfer_post(&n, &t, 200, 1 << 16);
	transfer_run(&n, &t, 0, 20000 * MS);
	assert_true(4 * n.carried[2] < n.carried[0]);
	transfer_free(&t);
	net_close(&n);
}

/* 200 messages of 256 KiB, four at a time; the longest took so many ns. */
static uint64_t longest_of_200(struct net *n)
{
	uint8_t *data = net_message(0, 1 << 18), *to = malloc(4 << 18);
	uint64_t at[200], longest = 0;
	unsigned posted = 0, done = 0, i;
	struct cw_uet_event e;

	for (i = 0; i < 200; i++)
		assert_int_equal(cw_uet_post(n->u[B], CTX_B, to + (i % 4 << 18), 1 << 18, i),
				 CW_OK);
	while (done < 200 && n->now < 100000 * MS) {
		for (; posted < 200 && posted - done < 4; posted++) {
			at[posted] = n->now;
			assert_int_equal(cw_uet_send(n->u[A], CTX_A, data, 1 << 18, false, posted),
					 CW_OK);
		}
		(void)net_step(n, 100000 * MS);
		for (; cw_uet_event(n->u[A], &e); done++)
			longest = n->now - at[e.cookie] > longest ? n->now - at[e.cookie] : longest;
	}
	assert_int_equal(done, 200);
	free(data);
	free(to);
	return longest;
}

/* Seven paths of 50 Mbit/s and 1 ms, one of 5 Mbit/s and 20 ms: no message waits for more than the
 * two packets there that find out, which take 2 x 6.6 ms and 40 ms. */
static void slow_path_does_not_hold_messages_up(void **state)
{
	struct cw_uet_settings s = {.rto_min = 20 * MS};
	struct net n;
	unsigned i;

	(void)state;
	net_open(&n, NPATHS, &s, 0);
	n.marks_at = 64 * 4096;
	for (i = 0; i < NPATHS; i++) {
		n.delay[i] = i < 7 ? MS : 20 * MS;
		n.octet[i] = i < 7 ? 160 : 1600;
	}
	assert_true(longest_of_200(&n) < 60 * MS);
	assert_true(n.carried[7] > 0);
	net_close(&n);
}

/* Marks: a path whose packets are marked gets a smaller window than one without. */
static bool mark_path_1(struct net *n, unsigned to, unsigned path, uint8_t *p, unsigned len)
{
	(void)p;
	(void)len;
	n->mark = to == B && path == 1 ? 1 : 0;
	return true;
}

static void ecn_echo_makes_the_window_smaller(void **state)
{
	struct cw_uet_path_info i0, i1;
	struct transfer t;
	struct net n;

	(void)state;
	net_open(&n, 2, NULL, 0);
	n.see = mark_path_1;
	transfer_post(&n, &t, 200, 1 << 16);
	transfer_run(&n, &t, 0, 20000 * MS);
	assert_int_equal(cw_uet_path(n.u[A], 0, 0, &i0), CW_OK);
	assert_int_equal(cw_uet_path(n.u[A], 0, 1, &i1), CW_OK);
	assert_true(i1.marked > 10 && i0.marked == 0);
	assert_true(4 * i1.window < i0.window);
	assert_true(net_count(&n, B, CW_UET_RX_CE) > 10);
	transfer_free(&t);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(article_256_kib_is_64_packets_with_one_id),
		cmocka_unit_test(article_sizes_and_marks),
		cmocka_unit_test(property_no_loss_no_double_no_early),
		cmocka_unit_test(reordering_is_not_loss),
		cmocka_unit_test(loss_is_inferred_from_the_same_path),
		cmocka_unit_test(last_packet_lost_is_found_by_timeout),
		cmocka_unit_test(cut_path_is_left_and_taken_back),
		cmocka_unit_test(dead_paths_do_not_starve_a_message),
		cmocka_unit_test(weights_leave_a_bad_path),
		cmocka_unit_test(slow_path_does_not_hold_messages_up),
		cmocka_unit_test(ecn_echo_makes_the_window_smaller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
