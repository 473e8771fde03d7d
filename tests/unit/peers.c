/* peers: sources of proxies as the daemon has them: ExaBGP's helper, the file, the configuration;
 * sessions, hold time, order. Time is what the tests say. */
#include <unistd.h>
#include "tests/unit/sources_world.h"

/* ---- BGP: the conversation with the helper ------------------------------------------------- */

#define BGP  "\"bgp\": {\"enabled\": true, \"helper-timeout\": 5}"
#define FROM "\"proxy-address\": [\"10.11.0.1\", \"fd11::1\"]"
/* ORIGIN, AS_PATH, NEXT_HOP 10.11.0.1; attribute 39 about it with proxy 10.11.0.1; 192.0.2.0/24 */
#define BASE "40010100 400200 4003040a0b0001"
#define PNC4 "c02710 00010104 0a0b0001 fffe0004 0a0b0001"
#define NLRI "18c00002"

static void helper_is_told_what_to_announce(void **state)
{
	json_t *o, *a;

	(void)state;
	use("{" FROM ", \"prefix\": [\"192.0.2.0/24\", \"2001:db8:1::/48\"], " BGP "}");
	o = helper("hello", "exabgp", 0, NULL);
	a = json_object_get(o, "announce");
	assert_int_equal(json_array_size(a), 2);
	assert_member(json_array_get(a, 0), "prefix", "192.0.2.0/24");
	assert_member(json_array_get(a, 0), "next_hop", "10.11.0.1");
	assert_member(json_array_get(a, 0), "value", "000101040a0b0001fffe00040a0b0001");
	assert_member(json_array_get(a, 1), "next_hop", "fd11::1");
	assert_member(json_array_get(a, 1), "value",
		      "00020110fd110000000000000000000000000001"
		      "fffe0010fd110000000000000000000000000001");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(a, 1), "type")), 39);
	/* the list comes again only when it may have changed */
	a = helper("poll", "exabgp", json_integer_value(json_object_get(o, "generation")), NULL);
	assert_null(json_object_get(a, "announce"));
	json_decref(a);
	json_decref(o);
	use("{" FROM ", \"prefix\": [\"192.0.2.0/24\"], " BGP "}");
	o = helper("poll", "exabgp", 1, NULL);
	assert_int_equal(json_array_size(json_object_get(o, "announce")), 1);
	json_decref(o);
}

static const char no_helper[] = "no name of up to 31 octets, no op, or too many helpers";

static void helper_is_refused(void **state)
{
	char name[16];
	unsigned i;

	(void)state;
	use("{}");
	refused("hello", "exabgp", "BGP is not enabled");
	use("{" BGP "}");
	refused("poll", "exabgp", "say hello first");
	refused("hello", "a/b", no_helper);
	refused("hello", "", no_helper);
	refused("hello", "a-name-of-two-and-thirty-octets-", no_helper);
	for (i = 0; i < 8; i++) {
		(void)snprintf(name, sizeof(name), "h%u", i);
		json_decref(helper("hello", name, 0, NULL));
	}
	refused("hello", "h8", no_helper);
	json_decref(helper("bye", "h3", 0, NULL)); /* its place is free now */
	json_decref(helper("hello", "h8", 0, NULL));
}

/* What each UPDATE does to the table, and the counter that says so. */
static void updates(void **state)
{
	static const struct {
		const char *attrs, *nlri, *counter;
		const char *table; /* after it */
	} steps[] = {
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		/* the same route with another attribute: it has no proxy any more */
		{BASE "c02710 00010104 0a0b0009 fffe0004 0a0b0001", NLRI, "next_hop_mismatch", ""},
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		{BASE "c0270f 00010104 0a0b0001 fffe0003 0a0b00", NLRI, "malformed", ""},
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		{BASE "c02708 00010104 0a0b0001", NLRI, "no_pnc", ""},
		{BASE, NLRI, "no_pnc", ""},
		{BASE "c02710 00010104 0a0b0001 fffe0004 e0000001", NLRI, "unusable", ""},
		/* there twice: the first one counts (RFC 7606 3 (g)) */
		{BASE PNC4 "c02710 00010104 0a0b0001 fffe0004 0a0b0002", NLRI, "attribute_discard",
		 "192.0.2.0/24=10.11.0.1"},
		/* not transitive: discarded, the route has no proxy */
		{BASE "802710 00010104 0a0b0001 fffe0004 0a0b0001", NLRI, "attribute_discard", ""},
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		/* no ORIGIN: treat-as-withdraw (3 (d)) */
		{"400200 4003040a0b0001" PNC4, NLRI, "treat_as_withdraw", ""},
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		/* an attribute that exceeds all of them: treat-as-withdraw (4) */
		{BASE "c027ff 0001", NLRI, "treat_as_withdraw", ""},
		{BASE PNC4, NLRI, "accepted", "192.0.2.0/24=10.11.0.1"},
		/* NLRI of 33 bits: the session's owner decides, the table stays as it is */
		{BASE PNC4, "21c0000201", "unreadable", "192.0.2.0/24=10.11.0.1"},
	};
	unsigned i;

	(void)state;
	use("{" BGP "}");
	json_decref(helper("hello", "exabgp", 0, NULL));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		json_int_t before = counter("exabgp/10.0.0.1", steps[i].counter);

		update(steps[i].attrs, steps[i].nlri);
		if (counter("exabgp/10.0.0.1", steps[i].counter) != before + 1)
			fail_msg("step %u: %s did not count", i, steps[i].counter);
		assert_table(steps[i].table);
	}
	assert_int_equal(counter("exabgp/10.0.0.1", "updates"), i);
	json_decref(
		helper("poll", "exabgp", 0, "{\"peer\": \"10.0.0.1\", \"update\": \"0x00zz\"}"));
	assert_int_equal(counter("exabgp/10.0.0.1", "unreadable"), 2);
	json_decref(helper("poll", "exabgp", 0,
			   "{\"peer\": \"10.0.0.1\", \"update\": "
			   "\"0x000518c00002\"}"));
	assert_table("192.0.2.0/24=10.11.0.1"); /* ends within: nothing is believed */
	json_decref(helper("poll", "exabgp", 0,
			   "{\"peer\": \"10.0.0.1\", \"update\": "
			   "\"0x000418c000020000\"}"));
	assert_table("");
	assert_true(is_up("exabgp/10.0.0.1"));
}

/* A session that is lost has its entries for the hold time; a helper that is silent has lost all.
 */
static void lost_and_back(void **state)
{
	(void)state;
	use("{\"hold-time\": 10, " BGP "}");
	json_decref(helper("hello", "exabgp", 0, NULL));
	update(BASE PNC4, NLRI);
	json_decref(helper("poll", "exabgp", 0, "{\"peer\": \"10.0.0.1\", \"state\": \"down\"}"));
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	at(9999);
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	at(10000);
	assert_table("");
	assert_false(is_up("exabgp/10.0.0.1"));
	json_decref(helper("hello", "exabgp", 0, NULL)); /* it was silent for too long */
	update(BASE PNC4, NLRI);
	assert_table("192.0.2.0/24=10.11.0.1");
	at(14999);
	assert_true(is_up("exabgp/10.0.0.1"));
	at(15000);
	assert_false(is_up("exabgp/10.0.0.1"));
	refused("poll", "exabgp", "say hello first");
	json_decref(helper("hello", "exabgp", 0, NULL));
	update(BASE PNC4, NLRI);
	assert_table("192.0.2.0/24=10.11.0.1");
	json_decref(helper("hello", "exabgp", 0, NULL)); /* it began anew: what is not told goes */
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	json_decref(helper("bye", "exabgp", 0, NULL));
	at(25000);
	assert_table("");
	/* without a hold time they go at once */
	use("{\"hold-time\": 0, " BGP "}");
	json_decref(helper("hello", "exabgp", 0, NULL));
	update(BASE PNC4, NLRI);
	json_decref(helper("bye", "exabgp", 0, NULL));
	assert_table("");
}

static void bgp_is_turned_off(void **state)
{
	(void)state;
	use("{\"hold-time\": 0, " BGP "}");
	json_decref(helper("hello", "exabgp", 0, NULL));
	update(BASE PNC4, NLRI);
	assert_table("192.0.2.0/24=10.11.0.1");
	use("{\"hold-time\": 0}");
	at(1);
	assert_table("");
}

/* ---- Static entries ------------------------------------------------------------------------ */

#define STATIC(prefix, proxy) "{\"prefix\": \"" prefix "\", \"proxy\": \"" proxy "\"}"

static void static_entries(void **state)
{
	(void)state;
	use("{\"static\": [" STATIC("10.9.0.0/16", "10.255.0.9") ", " STATIC("fd09::/32",
									     "fd00::9") "]}");
	assert_table("10.9.0.0/16=10.255.0.9 fd09::/32=fd00::9");
	at(700);
	use("{\"static\": [" STATIC("10.9.0.0/16", "10.255.0.9") ", " STATIC("10.8.0.0/16",
									     "10.255.0.8") "]}");
	assert_table("10.8.0.0/16=10.255.0.8 10.9.0.0/16=10.255.0.9");
	at(1000);
	assert_int_equal(age("10.9.0.0/16"), 1000); /* what stays is as old as it was */
	assert_int_equal(age("10.8.0.0/16"), 300);
	use("{}");
	assert_table("");
}

static void order_of_sources(void **state)
{
	const char *name = file_with("192.0.2.0/24 10.3.0.1\n");
	char conf[400];

	(void)state;
	(void)snprintf(conf, sizeof(conf), "{\"file\": \"%s\", \"static\": [%s], %s}", name,
		       STATIC("192.0.2.0/24", "10.4.0.1"), BGP);
	use(conf);
	json_decref(helper("hello", "exabgp", 0, NULL));
	update(BASE PNC4, NLRI);
	assert_used("192.0.2.0/24", "10.4.0.1"); /* static, file, ... */
	(void)snprintf(
		conf, sizeof(conf),
		"{\"file\": \"%s\", \"static\": [%s], %s, \"preference\": [\"bgp\", \"file\"]}",
		name, STATIC("192.0.2.0/24", "10.4.0.1"), BGP);
	use(conf);
	assert_used("192.0.2.0/24", "10.11.0.1");
	json_decref(helper("bye", "exabgp", 0, NULL)); /* stale ones come last */
	assert_used("192.0.2.0/24", "10.3.0.1");
	at(30000);
	assert_used("192.0.2.0/24", "10.3.0.1");
}

/* ---- The file ------------------------------------------------------------------------------ */

static void file_is_read_again(void **state)
{
	char conf[300];

	(void)state;
	(void)snprintf(
		conf, sizeof(conf), "{\"file\": \"%s\"}",
		file_with("# ours\n10.9.0.0/16 10.255.0.9 # a remark\n\n\tfd09::/32  fd00::9\r\n"));
	use(conf);
	assert_table("10.9.0.0/16=10.255.0.9 fd09::/32=fd00::9");
	(void)file_with("10.9.0.0/16 10.255.0.9\n10.8.0.0/16 10.255.0.8\n");
	at(999);
	assert_table("10.9.0.0/16=10.255.0.9 fd09::/32=fd00::9");
	at(1000);
	assert_table("10.8.0.0/16=10.255.0.8 10.9.0.0/16=10.255.0.9");
	assert_int_equal(age("10.9.0.0/16"), 1000);
	at(2000);
	assert_int_equal(counter(file_name(), "updates"), 2); /* not read without a change */
	assert_int_equal(unlink(file_name()), 0);
	at(3000);
	assert_table("10.8.0.0/16=10.255.0.8 stale 10.9.0.0/16=10.255.0.9 stale");
	assert_false(is_up(file_name()));
	(void)file_with("10.8.0.0/16 10.255.0.8\n");
	at(4000);
	assert_table("10.8.0.0/16=10.255.0.8");
	use("{}");
	at(5000);
	assert_table("");
}

/* One bad line: nothing of the file counts, the log says which, the entries of before stay. */
static void file_with_a_bad_line(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"10.7.0.0/16 10.255.0.7\n10.9.0.0/33 10.255.0.9\n",
		 "line 2: \"10.9.0.0/33\": not a prefix"},
		{"\n\nnothing\n", "line 3: \"nothing\": not a prefix"},
		{"10.9.0.0/16\n", "line 1: \"10.9.0.0/16\": no proxy behind it"},
		{"10.9.0.0/16 # 10.255.0.9\n", "line 1: \"10.9.0.0/16\": no proxy behind it"},
		{"10.9.0.0/16 10.255.0\n", "line 1: \"10.255.0\": not an address"},
		{"10.9.0.0/16 10.255.0.9 1\n", "line 1: \"10.255.0.9\": something behind it"},
		/* half written: 10.255.0.91 was to come */
		{"10.7.0.0/16 10.255.0.7\n10.9.0.0/16 10.255.0.9",
		 "line 2: \"10.9.0.0/16 10.255.0.9\": no end of line"},
	};
	char conf[300];
	unsigned i;

	(void)state;
	(void)snprintf(conf, sizeof(conf), "{\"file\": \"%s\"}",
		       file_with("10.9.0.0/16 10.255.0.9\n"));
	use(conf);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)file_with(bad[i].text);
		listen_to_log();
		at(1000 * (i + 1));
		assert_log(file_name(), bad[i].why,
			   "; the file is refused, its last good entries stay");
		assert_table("10.9.0.0/16=10.255.0.9");
		assert_int_equal(counter(file_name(), "malformed"), i + 1);
	}
	(void)file_with("10.8.0.0/16 10.255.0.8\n");
	at(1000 * (i + 1));
	assert_table("10.8.0.0/16=10.255.0.8");
}

static void table_is_full(void **state)
{
	char conf[300];

	(void)state;
	(void)snprintf(conf, sizeof(conf), "{\"entries\": 2, \"file\": \"%s\"}",
		       file_with("10.1.0.0/16 10.255.0.1\n10.2.0.0/16 10.255.0.1\n10.3.0.0/16 "
				 "10.255.0.1\n"));
	use(conf);
	assert_table("10.1.0.0/16=10.255.0.1 10.2.0.0/16=10.255.0.1");
	assert_int_equal(counter(file_name(), "table_full"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(helper_is_told_what_to_announce),
		TEST(helper_is_refused),
		TEST(updates),
		TEST(lost_and_back),
		TEST(bgp_is_turned_off),
		TEST(static_entries),
		TEST(order_of_sources),
		TEST(file_is_read_again),
		TEST(file_with_a_bad_line),
		TEST(table_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
