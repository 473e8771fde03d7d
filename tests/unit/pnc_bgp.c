/* pnc_bgp: BGP UPDATE messages and attribute 39 (Fast CNP proxy 5.4, RFC 7606). */
#include "causeway/pnc.h"
#include "tests/unit/test.h"

static const struct cw_pnc_codes codes = CW_PNC_CODES;

#define ORIGIN_  "400101 00"
#define AS_PATH_ "400200"
#define NEXTHOP  "400304 0a010001"
#define BASE     ORIGIN_ AS_PATH_ NEXTHOP
#define NHC4     "c02710 00010104 0a010001 fffe0004 0a0a0b0c"
#define NLRI     "18c00002"

/* An UPDATE with these attributes and NLRI, in a block of its size. */
static uint8_t *update(const char *withdrawn, const char *attrs, const char *nlri, size_t *len)
{
	size_t w, a, n;
	uint8_t *bw = hex_block(withdrawn, &w), *ba = hex_block(attrs, &a),
		*bn = hex_block(nlri, &n), *u = malloc(4 + w + a + n);

	cw_put_be16(u, (uint16_t)w);
	memcpy(u + 2, bw, w);
	cw_put_be16(u + 2 + w, (uint16_t)a);
	memcpy(u + 4 + w, ba, a);
	memcpy(u + 4 + w + a, bn, n);
	free(bw);
	free(ba);
	free(bn);
	*len = 4 + w + a + n;
	return u;
}

static enum cw_bgp_action action_of(const char *attrs, const char *nlri)
{
	struct cw_bgp_update u;
	size_t len;
	uint8_t *b = update("", attrs, nlri, &len);
	enum cw_bgp_action a = cw_bgp_update_parse(&u, &codes, b, len);

	assert_true(a == CW_BGP_ACCEPT || u.why != NULL);
	assert_true(u.bad_len == 0 || (u.bad >= b && u.bad + u.bad_len <= b + len));
	free(b);
	return a;
}

static enum cw_nhc_verdict judge(const char *attrs, const char *nlri, unsigned which, char *proxy)
{
	enum cw_nhc_verdict v;
	struct cw_bgp_update u;
	struct cw_addr a;
	size_t len;
	uint8_t *b = update("", attrs, nlri, &len);

	(void)cw_bgp_update_parse(&u, &codes, b, len);
	v = cw_nhc_judge(&u, &u.announce[which], &codes, &a, NULL);
	(void)cw_addr_format(&a, proxy);
	free(b);
	return v;
}

static void s5_4_ipv4(void **state)
{
	struct cw_bgp_update u;
	struct cw_prefix p;
	char proxy[CW_ADDR_TEXT], text[CW_PREFIX_TEXT];
	size_t len;
	uint8_t *b = update("08 0a", BASE NHC4, NLRI "20c0000301", &len);

	(void)state;
	assert_int_equal(cw_bgp_update_parse(&u, &codes, b, len), CW_BGP_ACCEPT);
	assert_null(u.why);
	assert_int_equal(u.nhc_flags, 0xc0);
	assert_int_equal(cw_bgp_nlri_next(&u.withdraw[0].nlri, 1, &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, text), "10.0.0.0/8");
	assert_int_equal(cw_bgp_nlri_next(&u.announce[0].nlri, 1, &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, text), "192.0.2.0/24");
	assert_int_equal(cw_bgp_nlri_next(&u.announce[0].nlri, 1, &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, text), "192.0.3.1/32");
	assert_int_equal(cw_bgp_nlri_next(&u.announce[0].nlri, 1, &p), CW_E_SHORT);
	free(b);
	assert_int_equal(judge(BASE NHC4, NLRI, 0, proxy), CW_NHC_OK);
	assert_string_equal(proxy, "10.10.11.12");
}

#define HOP6   "20010db8 01020304 05060708 090a0b0c"
#define REACH6 "800e1c 000201 10" HOP6 "00 30 20010db80001"
#define NHC6   "e02728 00020110" HOP6 "fffe0010 fd000000 11121314 21222324 31323334"

static void s5_4_ipv6(void **state)
{
	char proxy[CW_ADDR_TEXT];

	(void)state;
	assert_int_equal(action_of(ORIGIN_ AS_PATH_ REACH6 NHC6, ""), CW_BGP_ACCEPT);
	assert_int_equal(judge(ORIGIN_ AS_PATH_ REACH6 NHC6, "", 1, proxy), CW_NHC_OK);
	assert_string_equal(proxy, "fd00:0:1112:1314:2122:2324:3132:3334");
	/* a global and a link-local next hop: the global one counts */
	assert_int_equal(judge(ORIGIN_ AS_PATH_ "800e2c 000201 20" HOP6
						"fe800000000000000000000000000001"
						"00 30 20010db80001" NHC6,
			       "", 1, proxy),
			 CW_NHC_OK);
	assert_int_equal(action_of(ORIGIN_ AS_PATH_ "800e0b 000201 03 010203 00 20010db8", ""),
			 CW_BGP_RESET);
}

/* The header names another next hop: the attribute is disregarded. */
static void s5_4_mismatched_next_hop(void **state)
{
	char proxy[CW_ADDR_TEXT];

	(void)state;
	assert_int_equal(judge(ORIGIN_ AS_PATH_ "400304 0a010002" NHC4, NLRI, 0, proxy),
			 CW_NHC_MISMATCH);
	assert_string_equal(proxy, "");
	assert_int_equal(judge(BASE NHC6, NLRI, 0, proxy), CW_NHC_MISMATCH);
}

static void s5_4_characteristics(void **state)
{
	char proxy[CW_ADDR_TEXT];

	(void)state;
	assert_int_equal(judge(BASE, NLRI, 0, proxy), CW_NHC_ABSENT);
	assert_int_equal(judge(BASE "c02708 00010104 0a010001", NLRI, 0, proxy), CW_NHC_NO_PNC);
	/* unknown ones before and behind; a second PNC does not count */
	assert_int_equal(judge(BASE "c02724 00010104 0a010001 00030004 01020304"
				    "fffe0004 0a0a0b0c fffe0004 01010101 ffff0000",
			       NLRI, 0, proxy),
			 CW_NHC_OK);
	assert_string_equal(proxy, "10.10.11.12");
	/* an IPv6 proxy for IPv4 routes */
	assert_int_equal(judge(BASE "c0271c 00010104 0a010001"
				    "fffe0010 fd000000000000000000000000000009",
			       NLRI, 0, proxy),
			 CW_NHC_OK);
	assert_string_equal(proxy, "fd00::9");
}

/* Malformed: the attribute is discarded, the route stays. */
static void s5_4_malformed(void **state)
{
	static const char *const bad[] = {
		"c02700",
		"c02703 000101",
		"c02707 00010104 0a0100",
		"c02709 00010105 0a01000102",
		"c0270b 00010104 0a010001 fffe00",
		"c0270f 00010104 0a010001 fffe0004 0a0a0b",
		"c0270f 00010104 0a010001 fffe0003 0a0a0b",
		"c0270d 00010104 0a010001 fffe0005 01",
	};
	char proxy[CW_ADDR_TEXT], attrs[200];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(attrs, sizeof(attrs), "%s %s", BASE, bad[i]);
		assert_int_equal(action_of(attrs, NLRI), CW_BGP_ACCEPT);
		assert_int_equal(judge(attrs, NLRI, 0, proxy), CW_NHC_MALFORMED);
		assert_string_equal(proxy, "");
	}
	/* not transitive: discarded too */
	assert_int_equal(action_of(BASE "802710 00010104 0a010001 fffe0004 0a0a0b0c", NLRI),
			 CW_BGP_DISCARD);
	assert_int_equal(judge(BASE "802710 00010104 0a010001 fffe0004 0a0a0b0c", NLRI, 0, proxy),
			 CW_NHC_ABSENT);
	/* there twice: the first counts */
	assert_int_equal(judge(BASE NHC4 "c02708 00010104 0a010001", NLRI, 0, proxy), CW_NHC_OK);
}

static void every_truncation(void **state)
{
	struct cw_bgp_update u;
	size_t len, cut;
	uint8_t *all = update("08 0a", BASE NHC4, NLRI, &len), *part;

	(void)state;
	for (cut = 0; cut < len; cut++) {
		part = exact_copy(all, cut);
		/* without its NLRI it is an UPDATE that announces nothing */
		if (cut == len - 4)
			assert_int_equal(cw_bgp_update_parse(&u, &codes, part, cut), CW_BGP_ACCEPT);
		else
			assert_int_equal(cw_bgp_update_parse(&u, &codes, part, cut), CW_BGP_RESET);
		free(part);
	}
	free(all);
}

/* FRR #23411, #23373; rustybgp PR 478, zebra-rs PR 1667. */
static void fault_71_73_relay_flags(void **state)
{
	(void)state;
	assert_int_equal(cw_bgp_relay_flags(0xc5, false), 0xe0);
	assert_int_equal(cw_bgp_relay_flags(0xc0, false), 0xe0);
	assert_int_equal(cw_bgp_relay_flags(0xd0, false), 0xf0);
	assert_int_equal(cw_bgp_relay_flags(0x80, false), 0);
	assert_int_equal(cw_bgp_relay_flags(0x40, false), CW_E_FORBIDDEN);
	assert_int_equal(cw_bgp_relay_flags(0xcf, true), 0xc0);
	assert_int_equal(action_of(BASE "c0630101", NLRI), CW_BGP_ACCEPT);
	assert_int_equal(action_of(BASE "80630101", NLRI), CW_BGP_ACCEPT);
	assert_int_equal(action_of(BASE "40630101", NLRI), CW_BGP_RESET);
}

/* gobgp PR 3524: 40.0.0.0/8 as NLRI looks like a Prefix-SID attribute. */
static void fault_75_nlri_is_no_attribute(void **state)
{
	struct cw_bgp_update u;
	struct cw_prefix p;
	char text[CW_PREFIX_TEXT];
	size_t len;
	uint8_t *b = update("", BASE, "08c0 0828", &len);

	(void)state;
	assert_int_equal(cw_bgp_update_parse(&u, &codes, b, len), CW_BGP_ACCEPT);
	assert_int_equal(cw_bgp_nlri_next(&u.announce[0].nlri, 1, &p), CW_OK);
	assert_int_equal(cw_bgp_nlri_next(&u.announce[0].nlri, 1, &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, text), "40.0.0.0/8");
	free(b);
}

/* FRR PR 1417, bgpdump #30, libparsebgp PR 50: lengths that are believed. */
static void fault_77_declared_lengths(void **state)
{
	static const uint8_t total[] = {0, 0, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct cw_bgp_update u;
	uint8_t *b = exact_copy(total, sizeof(total));

	(void)state;
	assert_int_equal(action_of(BASE "d027ffff 000102030405060708090a0b", NLRI),
			 CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "c0", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "c027", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "d02700", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(cw_bgp_update_parse(&u, &codes, b, sizeof(total)), CW_BGP_RESET);
	assert_true(u.bad + u.bad_len <= b + sizeof(total));
	free(b);
}

/* gobgp #1147, FRR PR 14290, PR 21827. */
static void fault_79_other_attributes(void **state)
{
	(void)state;
	assert_int_equal(action_of(BASE "c02015 000102030405060708090a0b0c0d0e0f1011121314", NLRI),
			 CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "c0200c 000102030405060708090a0b", NLRI), CW_BGP_ACCEPT);
	assert_int_equal(action_of(BASE "c01708 00080004 01030a0b", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "c01708 00080004 01020a0b", NLRI), CW_BGP_ACCEPT);
	assert_int_equal(action_of(BASE "c01707 00080003 800003", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "801d05 04000002 01", NLRI), CW_BGP_DISCARD);
	assert_int_equal(action_of(ORIGIN_ AS_PATH_
				   "800e1a 4004 47 04 0a010001 00 0001000d 02 0000000000000000"
				   "01000001",
				   ""),
			 CW_BGP_DISCARD);
}

static void rfc7606(void **state)
{
	(void)state;
	assert_int_equal(action_of(AS_PATH_ NEXTHOP, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(ORIGIN_ NEXTHOP, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(ORIGIN_ AS_PATH_, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of("", ""), CW_BGP_ACCEPT);
	assert_int_equal(action_of("400101 03" AS_PATH_ NEXTHOP, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of("400102 0000" AS_PATH_ NEXTHOP, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of("c00101 00" AS_PATH_ NEXTHOP, NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "400501 01", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "c00803 010203", NLRI), CW_BGP_WITHDRAW);
	assert_int_equal(action_of(BASE "40060101", NLRI), CW_BGP_DISCARD);
	assert_int_equal(action_of(BASE, "21 0102030405"), CW_BGP_RESET);
	assert_int_equal(action_of(BASE, "18 0102"), CW_BGP_RESET);
	assert_int_equal(action_of(ORIGIN_ AS_PATH_ REACH6 REACH6, ""), CW_BGP_RESET);
	assert_int_equal(action_of("800f0a 000201 30 20010db80001", ""), CW_BGP_ACCEPT);
	assert_int_equal(action_of("c00f0a 000201 30 20010db80001", ""), CW_BGP_WITHDRAW);
	assert_int_equal(action_of("800f02 0002", ""), CW_BGP_RESET);
	assert_int_equal(action_of("800f04 000201 81", ""), CW_BGP_RESET);
	assert_int_equal(action_of("800e05 000201 10 20", ""), CW_BGP_RESET);
}

static void nhc_put(void **state)
{
	struct cw_addr hop, proxy;
	uint8_t buf[64], *want;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	size_t len;

	(void)state;
	assert_int_equal(cw_addr_parse("10.1.0.1", &hop), CW_OK);
	assert_int_equal(cw_addr_parse("10.10.11.12", &proxy), CW_OK);
	cw_nhc_put(&w, &codes, 4, &hop, &proxy);
	want = hex_block(NHC4, &len);
	assert_int_equal(w.p - buf, len - 3);
	assert_memory_equal(buf, want + 3, len - 3);
	free(want);
}

static void expect_edit(const char *from, const char *proxy, const char *to)
{
	uint8_t buf[64], *old, *want;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct cw_addr a = {0};
	size_t len, wlen;

	if (proxy != NULL)
		assert_int_equal(cw_addr_parse(proxy, &a), CW_OK);
	old = hex_block(from, &len);
	want = hex_block(to, &wlen);
	assert_int_equal(cw_nhc_edit(&w, &codes, old, len, proxy != NULL ? &a : NULL), CW_OK);
	assert_int_equal(w.p - buf, wlen);
	assert_memory_equal(buf, want, wlen);
	free(old);
	free(want);
}

#define HEAD4 "00010104 0a010001"
static void nhc_edit(void **state)
{
	uint8_t buf[64];
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));

	(void)state;
	expect_edit(HEAD4, "1.2.3.4", HEAD4 "fffe0004 01020304");
	expect_edit(HEAD4 "0003000109 ffff0000", "1.2.3.4",
		    HEAD4 "0003000109 fffe0004 01020304 ffff0000");
	expect_edit(HEAD4 "0003000109 fffe0004 05060708 fffe0004 05060708 ffff0000", "1.2.3.4",
		    HEAD4 "0003000109 fffe0004 01020304 ffff0000");
	expect_edit(HEAD4 "0003000109 fffe0004 05060708 ffff0000", NULL,
		    HEAD4 "0003000109 ffff0000");
	assert_int_equal(cw_nhc_edit(&w, &codes, (const uint8_t *)"\0\1\1", 3, NULL), CW_E_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_4_ipv4),
		cmocka_unit_test(s5_4_ipv6),
		cmocka_unit_test(s5_4_mismatched_next_hop),
		cmocka_unit_test(s5_4_characteristics),
		cmocka_unit_test(s5_4_malformed),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(fault_71_73_relay_flags),
		cmocka_unit_test(fault_75_nlri_is_no_attribute),
		cmocka_unit_test(fault_77_declared_lengths),
		cmocka_unit_test(fault_79_other_attributes),
		cmocka_unit_test(rfc7606),
		cmocka_unit_test(nhc_put),
		cmocka_unit_test(nhc_edit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
