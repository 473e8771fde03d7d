/* proxies: prefix -> proxy with sources, sessions, preference, expiry. */
#include "causeway/proxies.h"
#include "tests/unit/test.h"

static struct cw_proxies *table(uint32_t entries)
{
	struct cw_proxies_opts o = CW_PROXIES_OPTS;
	struct cw_proxies *t;

	o.entries = entries;
	assert_int_equal(cw_proxies_new(&t, &o), CW_OK);
	return t;
}

static int set(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
	       const char *prefix, const char *proxy, uint64_t now)
{
	struct cw_prefix p;
	struct cw_addr a = {0};

	assert_int_equal(cw_prefix_parse(prefix, &p), CW_OK);
	if (proxy != NULL)
		assert_int_equal(cw_addr_parse(proxy, &a), CW_OK);
	return cw_proxies_set(t, source, session, &p, &a, now);
}

static bool withdraw(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
		     const char *prefix)
{
	struct cw_prefix p;

	assert_int_equal(cw_prefix_parse(prefix, &p), CW_OK);
	return cw_proxies_withdraw(t, source, session, &p);
}

/* The proxy for a sender as text, "" if there is none. */
static const char *ask(const struct cw_proxies *t, const char *sender)
{
	static char buf[CW_ADDR_TEXT];
	struct cw_proxy found;
	struct cw_addr a;

	assert_int_equal(cw_addr_parse(sender, &a), CW_OK);
	buf[0] = '\0';
	return cw_proxies_lookup(t, &a, &found) ? cw_addr_format(&found.proxy, buf) : buf;
}

static void s5_longest_prefix(void **state)
{
	struct cw_proxies *t = table(100);

	(void)state;
	assert_string_equal(ask(t, "10.1.2.3"), "");
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "0.0.0.0/0", "9.0.0.1", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.2", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.1.2.3/32", "9.0.0.3", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "2001:db8::/33", "fd00::4", 0), CW_OK);
	assert_string_equal(ask(t, "10.1.2.3"), "9.0.0.3");
	assert_string_equal(ask(t, "10.1.2.4"), "9.0.0.2");
	assert_string_equal(ask(t, "11.1.2.4"), "9.0.0.1");
	assert_string_equal(ask(t, "2001:db8:7fff::1"), "fd00::4");
	assert_string_equal(ask(t, "2001:db8:8000::1"), "");
	assert_true(withdraw(t, CW_PROXY_BGP, 1, "10.1.2.3/32"));
	assert_false(withdraw(t, CW_PROXY_BGP, 1, "10.1.2.3/32"));
	assert_false(withdraw(t, CW_PROXY_BGP, 2, "10.0.0.0/8"));
	assert_string_equal(ask(t, "10.1.2.3"), "9.0.0.2");
	assert_int_equal(cw_proxies_count(t), 3);
	cw_proxies_free(t);
}

static void preference(void **state)
{
	const uint8_t bgp_first[CW_PROXY_NSOURCES] = {[CW_PROXY_STATIC] = 5, [CW_PROXY_OSPF2] = 3};
	struct cw_proxies *t = table(100);

	(void)state;
	assert_int_equal(set(t, CW_PROXY_BGP, 7, "10.0.0.0/8", "9.0.0.7", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 5, "10.0.0.0/8", "9.0.0.5", 0), CW_OK);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.5");
	assert_int_equal(set(t, CW_PROXY_OSPF2, 9, "10.0.0.0/8", "9.0.0.9", 0), CW_OK);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.9");
	assert_int_equal(set(t, CW_PROXY_STATIC, 0, "10.0.0.0/8", "9.0.0.1", 0), CW_OK);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.1");
	cw_proxies_rank(t, bgp_first);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.5");
	cw_proxies_free(t);
}

/* What is stale is used only while nothing else is there. */
static void lost_session_with_hold_time(void **state)
{
	struct cw_proxies *t = table(100);

	(void)state;
	assert_int_equal(set(t, CW_PROXY_OSPF2, 1, "10.0.0.0/8", "9.0.0.1", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_OSPF2, 1, "11.0.0.0/8", "9.0.0.1", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.2", 0), CW_OK);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_OSPF2, 1, 1000, 500), 2);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_OSPF2, 1, 1400, 500), 0);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.2");
	assert_string_equal(ask(t, "11.0.0.1"), "9.0.0.1");
	assert_int_equal(cw_proxies_tick(t, 1499), 1500);
	assert_string_equal(ask(t, "11.0.0.1"), "9.0.0.1");
	assert_true(cw_proxies_tick(t, 1500) == UINT64_MAX);
	assert_string_equal(ask(t, "11.0.0.1"), "");
	assert_int_equal(cw_proxies_count(t), 1);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_BGP, 1, 2000, 0), 1);
	assert_string_equal(ask(t, "10.0.0.1"), "");
	cw_proxies_free(t);
}

/* A session that comes back within the hold time loses nothing that it tells again. */
static void session_comes_back(void **state)
{
	struct cw_proxies *t = table(100);
	struct cw_proxy found;
	struct cw_addr a;

	(void)state;
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.1", 10), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "11.0.0.0/8", "9.0.0.1", 10), CW_OK);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_BGP, 1, 1000, 5000), 2);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.1", 2000), CW_OK);
	assert_int_equal(cw_proxies_synced(t, CW_PROXY_BGP, 1), 1);
	assert_string_equal(ask(t, "11.0.0.1"), "");
	assert_int_equal(cw_addr_parse("10.0.0.1", &a), CW_OK);
	assert_true(cw_proxies_lookup(t, &a, &found));
	assert_int_equal(found.since_ms, 10);
	assert_true(found.used && !found.stale && found.source == CW_PROXY_BGP);
	(void)cw_proxies_tick(t, 99999);
	assert_int_equal(cw_proxies_count(t), 1);
	cw_proxies_free(t);
}

static void refused(void **state)
{
	static const char *const bad[] = {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255",
					  "::",      "::1",       "ff02::1"};
	struct cw_proxies *t = table(1);
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", bad[i], 0), CW_E_ARG);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", NULL, 0), CW_E_ARG);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.1", 0), CW_OK);
	assert_int_equal(set(t, CW_PROXY_BGP, 2, "10.0.0.0/8", "9.0.0.1", 0), CW_E_SPACE);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "11.0.0.0/8", "9.0.0.1", 0), CW_E_SPACE);
	assert_int_equal(set(t, CW_PROXY_BGP, 1, "10.0.0.0/8", "9.0.0.2", 0), CW_OK);
	assert_string_equal(ask(t, "10.0.0.1"), "9.0.0.2");
	assert_string_equal(ask(t, "11.0.0.1"), "");
	cw_proxies_free(t);
}

static int count_used(void *arg, const struct cw_proxy *p)
{
	*(unsigned *)arg += p->used;
	return 0;
}

static void hundred_thousand(void **state)
{
	struct cw_proxies *t = table(1 << 20);
	struct cw_prefix p = {.version = 4, .plen = 24};
	struct cw_addr proxy = {4, {9, 0, 0, 1}}, sender = {.version = 4};
	struct cw_proxy found;
	unsigned i, used = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		cw_put_be32(p.addr, 0x0a000000 + (i << 8));
		assert_int_equal(cw_proxies_set(t, CW_PROXY_BGP, 1, &p, &proxy, 1), CW_OK);
		assert_int_equal(cw_proxies_set(t, CW_PROXY_OSPF2, 1, &p, &proxy, 1), CW_OK);
	}
	assert_int_equal(cw_proxies_count(t), 200000);
	for (i = 0; i < 100000; i++) {
		cw_put_be32(sender.addr, 0x0a000000 + (i << 8) + 77);
		assert_true(cw_proxies_lookup(t, &sender, &found));
		assert_int_equal(found.source, CW_PROXY_OSPF2);
	}
	assert_int_equal(cw_proxies_walk(t, count_used, &used), 0);
	assert_int_equal(used, 100000);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_OSPF2, 1, 5, 0), 100000);
	assert_true(cw_proxies_lookup(t, &sender, &found));
	assert_int_equal(found.source, CW_PROXY_BGP);
	assert_int_equal(cw_proxies_lost(t, CW_PROXY_BGP, 1, 5, 10), 100000);
	assert_true(cw_proxies_tick(t, 15) == UINT64_MAX);
	assert_int_equal(cw_proxies_count(t), 0);
	cw_proxies_free(t);
}

static void names(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < CW_PROXY_NSOURCES; i++)
		assert_int_equal(
			cw_proxy_source_find(cw_proxy_source_name((enum cw_proxy_source)i)), i);
	assert_int_equal(cw_proxy_source_find("x"), CW_PROXY_NSOURCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_longest_prefix),
		cmocka_unit_test(preference),
		cmocka_unit_test(lost_session_with_hold_time),
		cmocka_unit_test(session_comes_back),
		cmocka_unit_test(refused),
		cmocka_unit_test(hundred_thousand),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
