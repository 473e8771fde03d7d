/* Tests of the field-table engine and of address texts. */
#include "tests/unit/test.h"

static void bits_keep_neighbours(void **state)
{
	uint8_t p[8];
	unsigned bit, width;

	(void)state;
	for (bit = 0; bit < 8; bit++) {
		for (width = 1; bit + width <= 64; width++) {
			memset(p, 0xff, sizeof(p));
			cw_bits_set(p, bit, width, 0);
			assert_int_equal(cw_bits_get(p, bit, width), 0);
			if (bit > 0)
				assert_int_equal(cw_bits_get(p, 0, bit), CW_BITS_MASK(bit));
			if (bit + width < 64)
				assert_int_equal(p[7] & 1, 1);
		}
	}
}

/* Bits 0 to n - 1 count, the others do not, and no octet behind them is read. */
static void bits_equal_of_every_number(void **state)
{
	uint8_t a[4], b[4];
	unsigned n, bit;

	(void)state;
	memset(a, 0x5a, sizeof(a));
	for (n = 0; n <= 32; n++) {
		uint8_t *cut = exact_copy(a, (n + 7) / 8);

		for (bit = 0; bit < 32; bit++) {
			memcpy(b, a, sizeof(b));
			b[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			assert_int_equal(cw_bits_equal(cut, b, n), bit >= n);
		}
		free(cut);
	}
}

static void ip6_text_round_trips(void **state)
{
	static const char *const good[] = {
		"::",
		"::1",
		"1::",
		"2001:db8::1",
		"1:2:3:4:5:6:7:8",
		"2001:db8:0:1:1:1:1:1",
		"::ffff:10.1.2.3",
		"fe80::1:0:0:1",
		"1:0:0:2::3",
	};
	static const char *const bad[] = {
		"",
		":",
		":::",
		"1:",
		":1",
		"1::2::3",
		"1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9",
		"12345::",
		"::1.2.3",
		"::1.2.3.256",
		"1:2:3:4:5:6:7:1.2.3.4",
		"g::",
		"::1 ",
		"1:2:3:4:5:6:7:8::",
	};
	char buf[CW_ADDR_TEXT];
	uint8_t a[16];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(cw_ip6_parse(good[i], a), CW_OK);
		cw_ip6_format(a, buf);
		assert_string_equal(buf, good[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (cw_ip6_parse(bad[i], a) != CW_E_SYNTAX)
			fail_msg("'%s' was accepted", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_keep_neighbours),
		cmocka_unit_test(bits_equal_of_every_number),
		cmocka_unit_test(ip6_text_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
