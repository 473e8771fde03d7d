/* leaf: the frame around the machines of IS-IS and OSPFv3, around one that does as it is told. */
#include "daemon/control/current.h"
#include "daemon/peers/leaf.h"
#include "tests/unit/peers_world.h"

struct entry {
	const char *originator, *prefix, *proxy;
};

static struct {
	struct cw_pnc_config conf;
	struct cw_leaf leaf;
	uint64_t now;
	const char *broken, *gone; /* why it does not open, why it must close */
	struct cw_leaf_view view;
	const struct entry *entry;
	size_t entries;
	unsigned opened, closed, announced, stopped;
} f;

uint64_t cw_now_ms(void)
{
	return f.now += 10;
}

uint64_t cw_ospf_run(uint64_t now)
{
	return cw_file_run(now);
}
void cw_ospf_stop(uint64_t now)
{
	(void)now;
}

/* ---- The machine ----------------------------------------------------------------------------- */

static const char *open_it(struct cw_leaf *l, uint64_t now)
{
	(void)now;
	l->fd = -1;
	f.opened++;
	return f.broken;
}
static void close_it(struct cw_leaf *l)
{
	(void)l;
	f.closed++;
}
static const char *check_it(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	(void)now;
	return f.gone;
}
static bool announce_it(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	(void)now;
	f.announced++;
	return true;
}
static void do_nothing(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	(void)now;
}
static uint64_t tick_it(struct cw_leaf *l, uint64_t now)
{
	(void)l;
	return now + 60000;
}
static void stop_it(struct cw_leaf *l, uint64_t now)
{
	do_nothing(l, now);
	f.stopped++;
}
static void view_it(const struct cw_leaf *l, struct cw_leaf_view *v)
{
	(void)l;
	*v = f.view;
}
static void tell_it(struct cw_leaf *l, uint64_t now)
{
	struct cw_prefix prefix;
	struct cw_addr proxy;
	size_t i;

	for (i = 0; i < f.entries; i++) {
		assert_int_equal(cw_prefix_parse(f.entry[i].prefix, &prefix), CW_OK);
		assert_int_equal(cw_addr_parse(f.entry[i].proxy, &proxy), CW_OK);
		cw_teller_tell(&l->teller, f.entry[i].originator, &prefix, &proxy, now);
	}
}

static const struct cw_leaf_ops ops = {.name = "leaf",
				       .up = "up",
				       .source = CW_PROXY_ISIS,
				       .stop_ms = 500,
				       .open = open_it,
				       .close = close_it,
				       .check = check_it,
				       .announce = announce_it,
				       .input = do_nothing,
				       .output = do_nothing,
				       .tick = tick_it,
				       .stop = stop_it,
				       .view = view_it,
				       .tell = tell_it};

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.now = 1000;
	f.conf.entries = 1000;
	f.conf.hold_s = 2;
	f.leaf.ops = &ops;
	return cw_peers_apply(&f.conf, f.now);
}

static int teardown(void **state)
{
	(void)state;
	cw_peers_stop();
	return 0;
}

static uint64_t run(uint64_t ms)
{
	f.now += ms;
	(void)cw_proxies_tick(cw_peers.table, f.now);
	return cw_leaf_run(&f.leaf, true, false, f.now);
}

/* The machine has learnt this. */
static void learn(const struct entry *e, size_t n)
{
	f.entry = e;
	f.entries = n;
	f.view.generation++;
	run(10);
}

static bool is_up(const char *name)
{
	return cw_peer_session(CW_PROXY_ISIS, name, f.now)->up;
}

static const struct entry both[] = {
	{"a", "192.0.2.0/24", "10.0.0.1"},
	{"a", "198.51.100.0/24", "10.0.0.1"},
	{"b", "203.0.113.0/24", "10.0.0.2"},
};

static void begin(void)
{
	run(0);
	f.view.up = f.view.complete = true;
	learn(both, 3);
	assert_true(knows("192.0.2.1", "10.0.0.1") && knows("203.0.113.1", "10.0.0.2"));
	assert_true(is_up("a") && is_up("b"));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void opens_when_it_can(void **state)
{
	(void)state;
	f.broken = "no such device";
	assert_int_equal(run(0), f.now + 2000);
	assert_int_equal(f.closed, 1);
	run(1999);
	assert_int_equal(f.opened, 1);
	f.broken = NULL;
	run(1);
	assert_int_equal(f.opened, 2);
	assert_int_equal(f.announced, 1);
	assert_true(f.leaf.open);
}

static void a_reload_announces_anew(void **state)
{
	(void)state;
	run(0);
	run(10);
	assert_int_equal(f.announced, 1);
	assert_int_equal(cw_peers_apply(&f.conf, f.now), CW_OK);
	run(10);
	assert_int_equal(f.announced, 2);
}

/* An originator that announces nothing any more has no session that is up. */
static void a_vanished_originator_is_not_up(void **state)
{
	(void)state;
	begin();
	learn(both, 2);
	assert_false(knows("203.0.113.1", "10.0.0.2"));
	assert_false(is_up("b"));
	assert_true(is_up("a") && knows("192.0.2.1", "10.0.0.1"));
	assert_int_equal(cw_peer_session(CW_PROXY_ISIS, "b", f.now)->n.withdrawn, 1);
	learn(both, 3);
	assert_true(is_up("b") && knows("203.0.113.1", "10.0.0.2"));
}

static void a_withdrawn_prefix_goes_at_once(void **state)
{
	(void)state;
	begin();
	learn(both, 1);
	assert_true(knows("192.0.2.1", "10.0.0.1"));
	assert_false(knows("198.51.100.1", "10.0.0.1"));
	assert_true(is_up("a"));
}

static void what_is_known_stays_until_all_is_told(void **state)
{
	(void)state;
	begin();
	f.view.complete = false;
	learn(both, 1);
	assert_true(knows("198.51.100.1", "10.0.0.1") && is_up("b"));
	f.view.complete = true;
	run(10);
	assert_false(knows("198.51.100.1", "10.0.0.1"));
	assert_false(is_up("b"));
}

static void a_lost_adjacency_has_the_hold_time(void **state)
{
	(void)state;
	begin();
	f.view.up = f.view.complete = false;
	run(10);
	assert_false(is_up("a") || is_up("b"));
	assert_true(knows("192.0.2.1", "10.0.0.1"));
	run(1990);
	assert_true(knows("192.0.2.1", "10.0.0.1"));
	run(20);
	assert_false(knows("192.0.2.1", "10.0.0.1"));
}

static void the_interface_goes(void **state)
{
	(void)state;
	begin();
	f.gone = "gone";
	run(10);
	assert_true(f.leaf.open); /* it is looked at every two seconds */
	run(2000);
	assert_false(f.leaf.open);
	assert_false(is_up("a"));
	f.gone = NULL;
	run(2000);
	assert_true(f.leaf.open);
}

static void other_settings_close_it_first(void **state)
{
	(void)state;
	begin();
	f.view.stopped = true;
	(void)cw_leaf_run(&f.leaf, false, true, f.now);
	assert_int_equal(f.stopped, 1);
	assert_false(f.leaf.open);
	assert_int_equal(f.closed, 1);
}

/* Nobody acknowledges: the end comes all the same. */
static void stopping_is_bounded(void **state)
{
	uint64_t begun;

	(void)state;
	begin();
	begun = f.now;
	cw_leaf_stop(&f.leaf);
	assert_in_range(f.now - begun, 500, 530);
	assert_false(f.leaf.open);
	cw_leaf_stop(&f.leaf);
	assert_int_equal(f.stopped, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opens_when_it_can),
		TEST(a_reload_announces_anew),
		TEST(a_vanished_originator_is_not_up),
		TEST(a_withdrawn_prefix_goes_at_once),
		TEST(what_is_known_stays_until_all_is_told),
		TEST(a_lost_adjacency_has_the_hold_time),
		TEST(the_interface_goes),
		TEST(other_settings_close_it_first),
		TEST(stopping_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
