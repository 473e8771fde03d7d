/* icmp_error: ICMP and ICMPv6 errors of a router; vectors made with scapy 2.5. */
#include "test.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"

#define P4 "451200271234400001114c730a0102030a04050656789abc0013cf670102030405060708090a0b"
#define P6                                                                                     \
	"612345670013110120010db800000000000000000000010220010db80004000000000000000005065678" \
	"9abc001388f70102030405060708090a0b"
#define SRC4 "0a090807"
#define SRC6 "20010db8000900000000000000000807"

static void expect_error(enum cw_icmp_error why, uint32_t mtu, const char *src_hex,
			 const char *packet, const char *want_hex)
{
	size_t len, want_len, n, i;
	uint8_t *src = hex_block(src_hex, &n), *p = hex_block(packet, &len), *out, *cut;
	uint8_t *want = hex_block(want_hex, &want_len);
	size_t header = p[0] >> 4 == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6;

	out = malloc(want_len);
	assert_int_equal(cw_icmp_error(out, want_len, why, mtu, src, p, len), want_len);
	assert_memory_equal(out, want, want_len);
	assert_int_equal(cw_icmp_error(out, want_len - 1, why, mtu, src, p, len), CW_E_SPACE);
	for (i = 0; i < header; i++) {
		cut = exact_copy(p, i);
		assert_int_equal(cw_icmp_error(out, want_len, why, mtu, src, cut, i), CW_E_SHORT);
		free(cut);
	}
	free(out);
	free(src);
	free(want);
	free(p);
}

static void rfc792_time_exceeded(void **s)
{
	expect_error(CW_ICMP_TIME_EXCEEDED, 1400, SRC4, P4,
		     "45c000430000400040011be70a0908070a0102030b00103200000000" P4);
}

static void rfc1191_4_fragmentation_needed(void **s)
{
	expect_error(CW_ICMP_TOO_BIG, 1400, SRC4, P4,
		     "45c000430000400040011be70a0908070a010203030412b600000578" P4);
}

static void rfc4443_3_3_time_exceeded(void **s)
{
	expect_error(CW_ICMP_TIME_EXCEEDED, 1400, SRC6, P6,
		     "6000000000433a40" SRC6 "20010db80000000000000000000001020300e08300000000" P6);
}

static void rfc4443_3_2_packet_too_big(void **s)
{
	expect_error(CW_ICMP_TOO_BIG, 1400, SRC6, P6,
		     "6000000000433a40" SRC6 "20010db80000000000000000000001020200dc0b00000578" P6);
}

static void rfc1812_5_2_7_1_unreachable(void **s)
{
	expect_error(CW_ICMP_NO_ROUTE, 1400, SRC4, P4,
		     "45c000430000400040011be70a0908070a0102030300183200000000" P4);
	expect_error(CW_ICMP_NO_HOST, 1400, SRC4, P4,
		     "45c000430000400040011be70a0908070a0102030301183100000000" P4);
	expect_error(CW_ICMP_PROHIBITED, 1400, SRC4, P4,
		     "45c000430000400040011be70a0908070a010203030d182500000000" P4);
}

static void rfc4443_3_1_unreachable(void **s)
{
	expect_error(CW_ICMP_NO_ROUTE, 1400, SRC6, P6,
		     "6000000000433a40" SRC6 "20010db80000000000000000000001020100e28300000000" P6);
	expect_error(CW_ICMP_NO_HOST, 1400, SRC6, P6,
		     "6000000000433a40" SRC6 "20010db80000000000000000000001020103e28000000000" P6);
	expect_error(CW_ICMP_PROHIBITED, 1400, SRC6, P6,
		     "6000000000433a40" SRC6 "20010db80000000000000000000001020101e28200000000" P6);
}

/* No more than 576 octets (RFC 1812 4.3.2.3) and 1280 (RFC 4443 2.4 c). */
static void errors_are_bounded(void **s)
{
	uint8_t big[2000] = {0}, out[2000];
	uint8_t *p4, *p6, src[16] = {0x20, 1};
	size_t n;

	p4 = hex_block(P4, &n);
	memcpy(big, p4, n);
	assert_int_equal(cw_icmp_error(out, 2000, CW_ICMP_TOO_BIG, 1400, src, big, 2000), 576);
	assert_int_equal(cw_inet_fold(cw_inet_sum(0, out + 20, 556)), 0);
	p6 = hex_block(P6, &n);
	memcpy(big, p6, n);
	assert_int_equal(cw_icmp_error(out, 2000, CW_ICMP_TOO_BIG, 1400, src, big, 2000), 1280);
	assert_int_equal(cw_icmp6_checksum(out + 40), cw_icmp6_compute(out, out + 40, 1240));
	free(p4);
	free(p6);
}

/* The answer when octet `at` of the packet is `value`. */
static int with(const char *packet, enum cw_icmp_error why, size_t at, uint8_t value)
{
	uint8_t out[1280], src[16] = {0x20, 1};
	size_t len;
	uint8_t *p = hex_block(packet, &len);
	int rc;

	p[at] = value;
	rc = cw_icmp_error(out, sizeof(out), why, 1400, src, p, len);
	free(p);
	return rc;
}

static void rfc1812_4_3_2_7_no_error_about(void **s)
{
	/* a later fragment, a group as destination, sources that are nobody's */
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 7, 1), CW_E_FORBIDDEN);
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 16, 224), CW_E_FORBIDDEN);
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 12, 0), CW_E_FORBIDDEN);
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 12, 127), CW_E_FORBIDDEN);
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 12, 239), CW_E_FORBIDDEN);
	/* an ICMP error: its type is the first octet of what was the UDP source port, 0x56 */
	assert_int_equal(with(P4, CW_ICMP_TOO_BIG, 9, CW_IPPROTO_ICMP), CW_E_FORBIDDEN);
	assert_true(with(P4, CW_ICMP_TOO_BIG, 16, 223) > 0);
}

static void rfc4443_2_4_e_no_error_about(void **s)
{
	/* a group as source; as destination only "too big" is told; ICMPv6 errors (type 0x56) */
	assert_int_equal(with(P6, CW_ICMP_TOO_BIG, 8, 0xff), CW_E_FORBIDDEN);
	assert_int_equal(with(P6, CW_ICMP_TIME_EXCEEDED, 24, 0xff), CW_E_FORBIDDEN);
	assert_true(with(P6, CW_ICMP_TOO_BIG, 24, 0xff) > 0);
	assert_int_equal(with(P6, CW_ICMP_TOO_BIG, 6, CW_IPPROTO_ICMP6), CW_E_FORBIDDEN);
	assert_int_equal(with(P6, CW_ICMP_TOO_BIG, 0, 0x51), CW_E_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc792_time_exceeded),
		cmocka_unit_test(rfc1191_4_fragmentation_needed),
		cmocka_unit_test(rfc4443_3_3_time_exceeded),
		cmocka_unit_test(rfc4443_3_2_packet_too_big),
		cmocka_unit_test(rfc1812_5_2_7_1_unreachable),
		cmocka_unit_test(rfc4443_3_1_unreachable),
		cmocka_unit_test(errors_are_bounded),
		cmocka_unit_test(rfc1812_4_3_2_7_no_error_about),
		cmocka_unit_test(rfc4443_2_4_e_no_error_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
