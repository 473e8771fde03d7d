/* mcast: IGMP and MLD, by RFC 2236, 3376, 2710 and 3810. */
#include "test.h"
#include "causeway/forward.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mcast.h"

struct log {
	char text[512];
};

static void note(void *ctx, enum cw_mc_what what, bool v6, const uint8_t *group)
{
	static const char *const names[] = {"query", "join", "leave"};
	struct log *l = ctx;
	char addr[64];
	size_t n = strlen(l->text);

	if (v6)
		cw_ip6_format(group, addr);
	else
		cw_ip4_format(group, addr);
	(void)snprintf(l->text + n, sizeof(l->text) - n, "%s %s;", names[what], addr);
}

/* An IGMP message in IP; checksums are made. */
static size_t igmp(uint8_t *ip, const void *body, size_t len)
{
	memset(ip, 0, 24);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 6);
	cw_ipv4_set_length(ip, (uint32_t)(24 + len));
	cw_ipv4_set_proto(ip, 2);
	memcpy(ip + 24, body, len);
	cw_put_be16(ip + 26, 0);
	cw_put_be16(ip + 26, cw_inet_fold(cw_inet_sum(0, ip + 24, len)));
	return 24 + len;
}

static size_t mld(uint8_t *ip, const void *body, size_t len)
{
	static const uint8_t hop[8] = {58, 0, 5, 2, 0, 0, 1, 0};

	memset(ip, 0, 40);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, (uint32_t)(8 + len));
	cw_ipv6_set_hop_limit(ip, 1);
	memcpy(ip + 40, hop, 8);
	memcpy(ip + 48, body, len);
	cw_icmp6_set_checksum(ip + 48, cw_icmp6_compute(ip, ip + 48, len));
	return 48 + len;
}

static int parse(const uint8_t *ip, size_t len, const char *want)
{
	uint8_t *copy = exact_copy(ip, len);
	struct log l = {""};
	int err = cw_mc_parse(copy, len, note, &l);

	free(copy);
	if (want != NULL)
		assert_string_equal(l.text, want);
	return err;
}

static void rfc2236_reports_and_leaves(void **state)
{
	uint8_t ip[256];

	(void)state;
	assert_int_equal(parse(ip, igmp(ip, "\x16\0\0\0\xef\1\2\3", 8), "join 239.1.2.3;"), CW_OK);
	assert_int_equal(parse(ip, igmp(ip, "\x12\0\0\0\xef\1\2\3", 8), "join 239.1.2.3;"), CW_OK);
	assert_int_equal(parse(ip, igmp(ip, "\x17\0\0\0\xef\1\2\3", 8), "leave 239.1.2.3;"), CW_OK);
	assert_int_equal(parse(ip, igmp(ip, "\x11\x64\0\0\0\0\0\0", 8), "query 0.0.0.0;"), CW_OK);
	assert_int_equal(parse(ip, igmp(ip, "\x13\0\0\0\xef\1\2\3", 8), ""), CW_E_UNKNOWN);
}

/* Every type of record, with and without sources, auxiliary data skipped. */
static void rfc3376_4_2_12_records(void **state)
{
	static const uint8_t body[] = {
		0x22, 0, 0, 0, 0,   0, 0, 6, 4,  0, 0, 0,
		239,  1, 0, 1,                            /* to exclude nothing */
		3,    0, 0, 0, 239, 1, 0, 2,              /* to include nothing */
		3,    0, 0, 1, 239, 1, 0, 3, 10, 0, 0, 1, /* to include one */
		6,    0, 0, 1, 239, 1, 0, 4, 10, 0, 0, 1, /* block */
		5,    1, 0, 1, 239, 1, 0, 5, 10, 0, 0, 1,
		9,    9, 9, 9,               /* allow, with auxiliary data */
		1,    0, 0, 0, 239, 1, 0, 6, /* is include nothing */
	};
	uint8_t ip[256];
	size_t len = igmp(ip, body, sizeof(body)), i;

	(void)state;
	assert_int_equal(parse(ip, len,
			       "join 239.1.0.1;leave 239.1.0.2;join 239.1.0.3;join 239.1.0.5;"
			       "leave 239.1.0.6;"),
			 CW_OK);
	for (i = 24; i < len; i++)
		assert_int_not_equal(parse(ip, i, NULL), CW_OK);
	ip[len - 1] ^= 1;
	assert_int_equal(parse(ip, len, ""), CW_E_CHECKSUM);
}

static void rfc3810_5_2_records(void **state)
{
	uint8_t body[48] = {143, 0, 0,    0, 0,        0,        0,           2,        4,       0,
			    0,   0, 0xff, 5, [27] = 9, [28] = 3, [32] = 0xff, [33] = 5, [47] = 8};
	uint8_t ip[256];
	size_t len = mld(ip, body, sizeof(body)), i;

	(void)state;
	assert_int_equal(parse(ip, len, "join ff05::9;leave ff05::8;"), CW_OK);
	for (i = 40; i < len; i++)
		assert_int_not_equal(parse(ip, i, NULL), CW_OK);
	ip[len - 1] ^= 1;
	assert_int_equal(parse(ip, len, ""), CW_E_CHECKSUM);
}

static void rfc2710_reports_and_dones(void **state)
{
	uint8_t body[24] = {131, [8] = 0xff, [9] = 5, [23] = 9}, ip[256];

	(void)state;
	assert_int_equal(parse(ip, mld(ip, body, sizeof(body)), "join ff05::9;"), CW_OK);
	body[0] = 132;
	assert_int_equal(parse(ip, mld(ip, body, sizeof(body)), "leave ff05::9;"), CW_OK);
	body[0] = 135; /* neighbour discovery */
	assert_int_equal(parse(ip, mld(ip, body, sizeof(body)), ""), CW_E_UNKNOWN);
}

/* What we ask is what others understand: read back here, shown by tshark in the labs. */
static void rfc3376_4_1_general_queries(void **state)
{
	static const uint8_t src4[4] = {10, 0, 0, 1}, src6[16] = {0xfe, 0x80, [15] = 1};
	uint8_t q[CW_MC_QUERY6];
	size_t len;

	(void)state;
	assert_int_equal(cw_mc_query(q, false, src4, 60), CW_MC_QUERY4);
	assert_int_equal(cw_ip_check(q, CW_MC_QUERY4, &len), CW_PASS);
	assert_int_equal(len, CW_MC_QUERY4);
	assert_int_equal(cw_ipv4_ttl(q), 1);
	assert_memory_equal(q + 20, "\x94\x04\0\0", 4);
	assert_int_equal(parse(q, CW_MC_QUERY4, "query 0.0.0.0;"), CW_OK);
	assert_int_equal(cw_mc_query(q, true, src6, 60), CW_MC_QUERY6);
	assert_int_equal(cw_ip_check(q, CW_MC_QUERY6, &len), CW_PASS);
	assert_int_equal(len, CW_MC_QUERY6);
	assert_int_equal(parse(q, CW_MC_QUERY6, "query ::;"), CW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc2236_reports_and_leaves),
		cmocka_unit_test(rfc3376_4_2_12_records),
		cmocka_unit_test(rfc3810_5_2_records),
		cmocka_unit_test(rfc2710_reports_and_dones),
		cmocka_unit_test(rfc3376_4_1_general_queries),
	};

	return cmocka_run_group_tests_name("mcast", tests, NULL, NULL);
}
