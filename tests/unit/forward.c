/* forward: what an IP router does to one packet, by RFC 791, 1812 and 8200. */
#include "test.h"
#include "causeway/forward.h"
#include "causeway/wire/ip.h"

static void put4(uint8_t *ip, const char *src, const char *dst, unsigned ttl, size_t len)
{
	memset(ip, 0, CW_SIZE_IPV4);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_id(ip, 0x1234);
	cw_ipv4_set_ttl(ip, ttl);
	cw_ipv4_set_proto(ip, 17);
	(void)cw_ip4_parse(src, ip + 12);
	(void)cw_ip4_parse(dst, ip + 16);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
}

static void put6(uint8_t *ip, const char *src, const char *dst, unsigned hops, size_t len)
{
	memset(ip, 0, CW_SIZE_IPV6);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, (uint32_t)(len - CW_SIZE_IPV6));
	cw_ipv6_set_next_header(ip, 17);
	cw_ipv6_set_hop_limit(ip, hops);
	(void)cw_ip6_parse(src, ip + 8);
	(void)cw_ip6_parse(dst, ip + 24);
}

static enum cw_drop check(const uint8_t *ip, size_t room, size_t *len)
{
	uint8_t *copy = exact_copy(ip, room);
	enum cw_drop why = cw_ip_check(copy, room, len);

	free(copy);
	return why;
}

static void rfc1812_5_2_2_header_is_checked(void **state)
{
	uint8_t ip[100];
	size_t len, i;

	(void)state;
	put4(ip, "10.0.0.1", "10.1.0.1", 64, 60);
	assert_int_equal(check(ip, 100, &len), CW_PASS);
	assert_int_equal(len, 60);
	for (i = 0; i < 60; i++)
		assert_int_not_equal(check(ip, i, &len), CW_PASS);
	ip[0] = 0x55;
	assert_int_equal(check(ip, 60, &len), CW_DROP_IP_VERSION);
	ip[0] = 0x44;
	assert_int_equal(check(ip, 60, &len), CW_DROP_IP_IHL);
	ip[0] = 0x45;
	ip[15] ^= 1;
	assert_int_equal(check(ip, 60, &len), CW_DROP_IP_CHECKSUM);
	put4(ip, "10.0.0.1", "10.1.0.1", 64, 19);
	assert_int_equal(check(ip, 60, &len), CW_DROP_IP_LENGTH);
	put6(ip, "2001:db8::1", "2001:db8:1::1", 64, 60);
	assert_int_equal(check(ip, 100, &len), CW_PASS);
	assert_int_equal(len, 60);
	for (i = 0; i < 60; i++)
		assert_int_not_equal(check(ip, i, &len), CW_PASS);
}

static const struct {
	const char *src, *dst;
	enum cw_drop why;
} addresses[] = {
	{"10.0.0.1", "10.1.0.1", CW_PASS},
	{"10.0.0.1", "239.1.2.3", CW_PASS},
	{"10.0.0.1", "224.0.0.5", CW_DROP_IP_ADDRESS},
	{"10.0.0.1", "255.255.255.255", CW_DROP_IP_ADDRESS},
	{"10.0.0.1", "127.0.0.1", CW_DROP_IP_ADDRESS},
	{"127.0.0.1", "10.0.0.1", CW_DROP_IP_ADDRESS},
	{"0.0.0.0", "10.0.0.1", CW_DROP_IP_ADDRESS},
	{"239.1.2.3", "10.0.0.1", CW_DROP_IP_ADDRESS},
	{"169.254.0.1", "10.0.0.1", CW_DROP_IP_ADDRESS},
	{"2001:db8::1", "2001:db8:1::1", CW_PASS},
	{"2001:db8::1", "ff05::1", CW_PASS},
	{"2001:db8::1", "ff02::1", CW_DROP_IP_ADDRESS},
	{"fe80::1", "2001:db8::1", CW_DROP_IP_ADDRESS},
	{"2001:db8::1", "fe80::1", CW_DROP_IP_ADDRESS},
	{"::", "2001:db8::1", CW_DROP_IP_ADDRESS},
	{"2001:db8::1", "::1", CW_DROP_IP_ADDRESS},
	{"ff05::1", "2001:db8::1", CW_DROP_IP_ADDRESS},
};

static void rfc1812_5_3_7_addresses_that_stay_on_their_link(void **state)
{
	uint8_t ip[60];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		if (strchr(addresses[i].src, ':') != NULL)
			put6(ip, addresses[i].src, addresses[i].dst, 64, 60);
		else
			put4(ip, addresses[i].src, addresses[i].dst, 64, 60);
		if (cw_ip_may_forward(ip) != addresses[i].why)
			fail_msg("%s to %s", addresses[i].src, addresses[i].dst);
	}
}

static void rfc1812_5_3_1_ttl(void **state)
{
	uint8_t ip[60];
	size_t len;

	(void)state;
	put4(ip, "10.0.0.1", "10.1.0.1", 1, 60);
	assert_int_equal(cw_ip_may_forward(ip), CW_DROP_TTL);
	put4(ip, "10.0.0.1", "10.1.0.1", 2, 60);
	assert_int_equal(cw_ip_may_forward(ip), CW_PASS);
	cw_ip_hop(ip);
	assert_int_equal(cw_ipv4_ttl(ip), 1);
	assert_int_equal(check(ip, 60, &len), CW_PASS); /* the checksum followed */
	put6(ip, "2001:db8::1", "2001:db8:1::1", 1, 60);
	assert_int_equal(cw_ip_may_forward(ip), CW_DROP_TTL);
	cw_ipv6_set_hop_limit(ip, 9);
	cw_ip_hop(ip);
	assert_int_equal(cw_ipv6_hop_limit(ip), 8);
}

/* Cut, put together again, compare. */
static void rfc791_fragments_hold_all_data(void **state)
{
	static uint8_t ip[3000], out[3000], got[3000];
	size_t done, len, sum;
	unsigned mtu, n;
	int rc;

	(void)state;
	for (mtu = 68; mtu <= 3000; mtu += 61) {
		put4(ip, "10.0.0.1", "10.1.0.1", 64, sizeof(ip));
		for (len = CW_SIZE_IPV4; len < sizeof(ip); len++)
			ip[len] = (uint8_t)(len * 7 + len / 256);
		memset(got, 0, sizeof(got));
		for (done = 0, sum = 0, n = 0;; n++) {
			uint8_t *f = malloc(mtu);

			rc = cw_ip_fragment(f, mtu, mtu, ip, sizeof(ip), &done);
			if (rc == 0) {
				free(f);
				break;
			}
			assert_in_range(rc, 21, mtu);
			assert_int_equal(check(f, (size_t)rc, &len), CW_PASS);
			assert_int_equal(cw_ipv4_frag_off(f) * 8, sum);
			assert_int_equal(cw_ipv4_mf(f), sum + len - 20 < sizeof(ip) - 20);
			assert_int_equal(cw_ipv4_id(f), 0x1234);
			memcpy(got + 20 + sum, f + 20, len - 20);
			sum += len - 20;
			free(f);
		}
		assert_int_equal(sum, sizeof(ip) - 20);
		assert_memory_equal(got + 20, ip + 20, sizeof(ip) - 20);
	}
	done = 0;
	assert_int_equal(cw_ip_fragment(out, 67, 68, ip, sizeof(ip), &done), CW_E_SPACE);
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 27, ip, sizeof(ip), &done), CW_E_ARG);
}

/* A fragment can be cut again: offsets add up, and only the last of the last has no MF. */
static void rfc791_fragments_of_fragments(void **state)
{
	uint8_t ip[120], out[120];
	size_t done = 0;

	(void)state;
	put4(ip, "10.0.0.1", "10.1.0.1", 64, sizeof(ip));
	cw_ipv4_set_frag_off(ip, 10);
	cw_ipv4_set_mf(ip, 1);
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 68, ip, sizeof(ip), &done), 68);
	assert_int_equal(cw_ipv4_frag_off(out), 10);
	assert_true(cw_ipv4_mf(out));
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 72, ip, sizeof(ip), &done), 72);
	assert_int_equal(cw_ipv4_frag_off(out), 16);
	assert_true(cw_ipv4_mf(out));
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 72, ip, sizeof(ip), &done), 0);
}

/* Record route stays in the first one, the copied option is in all. */
static void rfc791_3_1_options_by_their_copied_flag(void **state)
{
	uint8_t ip[100] = {0}, out[100];
	size_t done = 0, len;

	(void)state;
	put4(ip, "10.0.0.1", "10.1.0.1", 64, sizeof(ip));
	cw_ipv4_set_ihl(ip, 8);
	memcpy(ip + 20, "\x07\x07\x04\x00\x00\x00\x00", 7); /* record route */
	memcpy(ip + 27, "\x94\x04\x00\x00", 4);             /* router alert: copied */
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 72, ip, sizeof(ip), &done), 72);
	assert_memory_equal(out + 20, ip + 20, 12);
	assert_int_equal(check(out, 72, &len), CW_PASS);
	assert_int_equal(cw_ip_fragment(out, sizeof(out), 72, ip, sizeof(ip), &done), 24 + 28);
	assert_int_equal(cw_ipv4_ihl(out), 6);
	assert_memory_equal(out + 20, "\x94\x04\x00\x00", 4);
	assert_int_equal(check(out, 52, &len), CW_PASS);
}

static void rfc791_df(void **state)
{
	uint8_t ip[60];

	(void)state;
	put4(ip, "10.0.0.1", "10.1.0.1", 64, sizeof(ip));
	assert_true(cw_ip_may_fragment(ip));
	cw_ipv4_set_df(ip, 1);
	assert_false(cw_ip_may_fragment(ip));
	put6(ip, "2001:db8::1", "2001:db8:1::1", 1, 60);
	assert_false(cw_ip_may_fragment(ip));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1812_5_2_2_header_is_checked),
		cmocka_unit_test(rfc1812_5_3_7_addresses_that_stay_on_their_link),
		cmocka_unit_test(rfc1812_5_3_1_ttl),
		cmocka_unit_test(rfc791_fragments_hold_all_data),
		cmocka_unit_test(rfc791_fragments_of_fragments),
		cmocka_unit_test(rfc791_3_1_options_by_their_copied_flag),
		cmocka_unit_test(rfc791_df),
	};

	return cmocka_run_group_tests_name("forward", tests, NULL, NULL);
}
