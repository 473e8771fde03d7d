/* RFC 4391 12: errors of any multicast operation are logged and counted. One test an operation; the
 * small SA refuses, or says nothing. */
#include "tests/unit/ipoib_world.h"

static const uint8_t g_239[4] = {239, 1, 2, 3}, g_240[4] = {239, 1, 2, 4};

static void refuse(struct world *w, unsigned method, unsigned attribute, uint16_t status)
{
	w->refuse.method = method;
	w->refuse.attribute = attribute;
	w->refuse.status = status;
}

/* Node 0 has logged `reason` last, so often in all, and counted as many. */
static void logged(struct world *w, unsigned times, const char *reason, uint16_t status)
{
	struct node *n = &w->n[0];

	assert_int_equal(n->logs, times);
	assert_int_equal(cw_ipoib_counters(n->link)->mcast_failed, times);
	assert_string_equal(n->log_reason, reason);
	assert_int_equal(n->log_status, status);
}

static struct world *one(void)
{
	struct world *w = world_new(1, false);

	pass(w, 500);
	assert_int_equal(w->n[0].logs, 0);
	return w;
}

static void s12_refused_join(void **state)
{
	struct world *w = one();

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_MCMEMBER, CW_SA_NO_RESOURCES);
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	logged(w, 1, "join", CW_SA_NO_RESOURCES);
	world_free(w);
}

static void s12_unanswered_join(void **state)
{
	struct world *w = one();

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_MCMEMBER, SILENCE);
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	pass(w, 3000);
	assert_int_equal(w->n[0].logs, 0);
	pass(w, 5000);
	logged(w, 1, "no answer to a join", 0);
	pass(w, 15000); /* told once */
	assert_int_equal(w->n[0].logs, 1);
	world_free(w);
}

static void s12_unanswered_broadcast_join(void **state)
{
	struct world *w = world_new(1, false);

	(void)state;
	w->sa_dead = true;
	pass(w, 8000);
	logged(w, 1, "no answer to a join", 0);
	world_free(w);
}

static void s12_unanswered_renewal(void **state)
{
	struct world *w = one();

	(void)state;
	w->sa_dead = true;
	pass(w, 30000 + 8000);
	logged(w, 1, "no answer to the renewal of", 0);
	world_free(w);
}

static void s12_refused_send_only_join(void **state)
{
	struct world *w = one();

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_MCMEMBER, CW_SA_DENIED);
	(void)send4(w, 0, g_239, 100);
	logged(w, 1, "join", CW_SA_DENIED);
	world_free(w);
}

static void s12_unanswered_send_only_join(void **state)
{
	struct world *w = one();

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_MCMEMBER, SILENCE);
	(void)send4(w, 0, g_239, 100);
	pass(w, 5000);
	logged(w, 1, "no answer to a send-only join", 0);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->tx_no_group, 1);
	world_free(w);
}

/* A router that can't join a new group would be a black hole for it. */
static void s12_refused_non_member_join_of_a_router(void **state)
{
	struct world *w = world_new(2, false);
	struct node *router = &w->n[0];

	(void)state;
	cw_ipoib_free(router->link);
	router->c.router = true;
	assert_int_equal(cw_ipoib_new(&router->link, &router->c), CW_OK);
	pass(w, 500);
	refuse(w, CW_SA_SET, CW_SA_MCMEMBER, CW_SA_NO_RESOURCES);
	w->refuse.lid = router->c.lid;
	assert_int_equal(cw_ipoib_join(w->n[1].link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(cw_mcmember_join_state(router->join_record), CW_SA_NON);
	logged(w, 1, "join", CW_SA_NO_RESOURCES);
	world_free(w);
}

static void s12_refused_leave(void **state)
{
	struct world *w = one();

	(void)state;
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	refuse(w, CW_SA_DELETE, CW_SA_MCMEMBER, CW_SA_REQ_INVALID);
	assert_int_equal(cw_ipoib_leave(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	logged(w, 1, "leave", CW_SA_REQ_INVALID);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->sa_bad, 0);
	world_free(w);
}

/* Sent three times: 0, 1 and 3 seconds. Four seconds later it is given up. */
static void s12_unanswered_leave(void **state)
{
	struct world *w = one();
	uint64_t sent;

	(void)state;
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	sent = cw_ipoib_counters(w->n[0].link)->sa_sent;
	refuse(w, CW_SA_DELETE, CW_SA_MCMEMBER, SILENCE);
	assert_int_equal(cw_ipoib_leave(w->n[0].link, w->now, false, g_239), CW_OK);
	pass(w, 6000);
	assert_int_equal(cw_ipoib_counters(w->n[0].link)->sa_sent, sent + 3);
	assert_int_equal(w->n[0].logs, 0);
	pass(w, 2000);
	logged(w, 1, "no answer to a leave", 0);
	world_free(w);
}

/* A leave that is on its way must not undo a later join. */
static void s12_leave_ends_with_a_new_join(void **state)
{
	struct world *w = one();
	struct cw_ipoib_group_info g;

	(void)state;
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	refuse(w, CW_SA_DELETE, CW_SA_MCMEMBER, SILENCE);
	assert_int_equal(cw_ipoib_leave(w->n[0].link, w->now, false, g_239), CW_OK);
	settle(w);
	w->refuse.status = 0;
	assert_int_equal(cw_ipoib_join(w->n[0].link, w->now, false, g_239), CW_OK);
	pass(w, 10000);
	assert_int_equal(w->n[0].logs, 0);
	assert_true(find_group(w->n[0].link, "ff12:401b:8001::f01:203", &g));
	assert_true(g.joined);
	world_free(w);
}

static void s12_refused_subscription(void **state)
{
	struct world *w = world_new(1, false);

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_INFORMINFO, CW_SA_DENIED);
	pass(w, 300);
	logged(w, 2, "subscription to traps", CW_SA_DENIED); /* one a trap */
	world_free(w);
}

static void s12_unanswered_subscription(void **state)
{
	struct world *w = world_new(1, false);

	(void)state;
	refuse(w, CW_SA_SET, CW_SA_INFORMINFO, SILENCE);
	pass(w, 8000);
	logged(w, 2, "no answer to a subscription to traps", 0);
	world_free(w);
}

static void s12_refused_list_of_groups(void **state)
{
	struct world *w = world_new(1, true);

	(void)state;
	refuse(w, CW_SA_GETTABLE, CW_SA_MCMEMBER, CW_SA_NO_RESOURCES);
	pass(w, 300);
	logged(w, 1, "list of groups", CW_SA_NO_RESOURCES);
	world_free(w);
}

static void s12_unanswered_list_of_groups(void **state)
{
	struct world *w = world_new(1, true);

	(void)state;
	refuse(w, CW_SA_GETTABLE, CW_SA_MCMEMBER, SILENCE);
	pass(w, 8000);
	logged(w, 1, "no answer to a request for the list of groups", 0);
	world_free(w);
}

/* Told once, and again when there has been room. */
static void s12_full_table(void **state)
{
	struct world *w = one();
	struct node *n = &w->n[0];

	(void)state;
	cw_ipoib_free(n->link);
	n->c.groups = 2;
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	pass(w, 500);
	assert_int_equal(cw_ipoib_join(n->link, w->now, false, g_239), CW_OK);
	settle(w);
	assert_int_equal(cw_ipoib_join(n->link, w->now, false, g_240), CW_E_SPACE);
	(void)send4(w, 0, g_240, 100);
	settle(w);
	assert_int_equal(n->logs, 1);
	assert_string_equal(n->log_reason, "table of groups is full");
	assert_int_equal(cw_ipoib_counters(n->link)->mcast_failed, 2);
	assert_int_equal(cw_ipoib_counters(n->link)->table_full, 2);
	assert_int_equal(cw_ipoib_leave(n->link, w->now, false, g_239), CW_OK);
	assert_int_equal(cw_ipoib_join(n->link, w->now, false, g_239), CW_OK);
	(void)send4(w, 0, g_240, 100);
	settle(w);
	assert_int_equal(n->logs, 2);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s12_refused_join),
		cmocka_unit_test(s12_unanswered_join),
		cmocka_unit_test(s12_unanswered_broadcast_join),
		cmocka_unit_test(s12_unanswered_renewal),
		cmocka_unit_test(s12_refused_send_only_join),
		cmocka_unit_test(s12_unanswered_send_only_join),
		cmocka_unit_test(s12_refused_non_member_join_of_a_router),
		cmocka_unit_test(s12_refused_leave),
		cmocka_unit_test(s12_unanswered_leave),
		cmocka_unit_test(s12_leave_ends_with_a_new_join),
		cmocka_unit_test(s12_refused_subscription),
		cmocka_unit_test(s12_unanswered_subscription),
		cmocka_unit_test(s12_refused_list_of_groups),
		cmocka_unit_test(s12_unanswered_list_of_groups),
		cmocka_unit_test(s12_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
