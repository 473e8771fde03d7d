/* isis: two leaves face each other over a lossy link. Tests are named after sections of ISO 10589,
 * the RFCs and the Fast CNP proxy draft. */
#include "tests/unit/isis_world.h"

static const char *const senders[] = {"192.0.2.0/24", "2001:db8:1::/48"};

static void both_up(struct world *w)
{
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_UP);
	assert_int_equal(info(w, 1).state, CW_ISIS_UP);
}

static void rfc5303_three_way(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	assert_int_equal(info(w, 0).neighbour[5], 2);
	assert_true(info(w, 0).synchronised);
	assert_int_equal(counters(w, 0)->adjacencies, 1);
	assert_int_equal(info(w, 0).reachable[1], 1);
	world_free(w);
}

static void s5_1_learnt_with_its_proxy(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	announce(w, 0, "10.255.0.1", "fd99::1", senders, 2);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 4);
	assert_true(knows(w, 1, 2, "10.255.0.1/32", "10.255.0.1"));
	assert_true(knows(w, 1, 2, "192.0.2.0/24", "10.255.0.1"));
	assert_true(knows(w, 1, 2, "fd99::1/128", "fd99::1"));
	assert_true(knows(w, 1, 2, "2001:db8:1::/48", "fd99::1"));
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc5303_three_way),
		cmocka_unit_test(s5_1_learnt_with_its_proxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
