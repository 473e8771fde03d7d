/* CRC-32: every implementation of this machine against zlib's; CRC-16 against its definition. */
#include "tests/unit/test.h"
#include <zlib.h>
#include "causeway/crc.h"

static uint32_t rnd(uint32_t *s)
{
	*s = *s * 1664525u + 1013904223u;
	return *s >> 8;
}

static uint8_t *random_block(size_t n)
{
	uint8_t *p = malloc(n);
	uint32_t s = 12345;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)rnd(&s);
	return p;
}

static void compare(cw_crc32_fn fn, const char *name, uint32_t crc, const uint8_t *p, size_t n)
{
	uint32_t got = fn(crc, p, n), want = (uint32_t)crc32(crc, p, (unsigned)n);

	if (got != want)
		fail_msg("%s: %zu octets at %zu mod 64: 0x%08x, zlib says 0x%08x", name, n,
			 (size_t)((uintptr_t)p % 64), got, want);
}

static void each_length_at_each_alignment(cw_crc32_fn fn, const char *name)
{
	uint8_t *p = random_block(1024);
	size_t at, n;

	for (n = 0; n <= 600; n++) {
		for (at = 0; at < 64; at++)
			compare(fn, name, (uint32_t)(n * 0x01010101), p + at, n);
	}
	free(p);
}

/* Each block ends with its allocation, so that a sanitizer sees an octet too far. */
static void exact_blocks(cw_crc32_fn fn, const char *name)
{
	uint8_t *all = random_block(700), *p;
	size_t n;

	for (n = 0; n <= 700; n++) {
		p = exact_copy(all, n);
		compare(fn, name, 0, p, n);
		free(p);
	}
	free(all);
}

static void large_and_chained(cw_crc32_fn fn, const char *name)
{
	size_t size = 70000, at, n;
	uint8_t *p = random_block(size);
	uint32_t s = 99, crc;
	unsigned i;

	for (i = 0; i < 100; i++) {
		at = rnd(&s) % 100;
		compare(fn, name, rnd(&s), p + at, rnd(&s) % (size - at));
	}
	for (at = 0, crc = 0; at < size; at += n) {
		n = rnd(&s) % 700;
		n = n < size - at ? n : size - at;
		crc = fn(crc, p + at, n);
	}
	assert_int_equal(crc, crc32(0, p, (unsigned)size));
	free(p);
}

static void all_agree_with_zlib(void **state)
{
	unsigned i, n = 0;

	(void)state;
	for (i = 0; i < CW_CRC32_IMPLS; i++) {
		cw_crc32_fn fn = cw_crc32_get((enum cw_crc32_impl)i);
		const char *name = cw_crc32_name((enum cw_crc32_impl)i);

		if (fn == NULL)
			continue;
		n++;
		each_length_at_each_alignment(fn, name);
		exact_blocks(fn, name);
		large_and_chained(fn, name);
		printf("# %s agrees with zlib\n", name);
	}
	assert_true(n >= 1);
}

static void the_choice_is_one_of_them(void **state)
{
	uint8_t *p = random_block(5000);

	(void)state;
	assert_non_null(cw_crc32_get(cw_crc32_best()));
	compare(cw_crc32, "the choice", 0, p, 5000);
	assert_int_equal(cw_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(cw_crc32(0, "", 1), 0xd202ef8d);
	assert_int_equal(cw_crc32(0, "\x11\x22\x33", 3), 0xfac73763);
	assert_null(cw_crc32_get(CW_CRC32_IMPLS));
	assert_string_equal(cw_crc32_name(CW_CRC32_IMPLS), "unknown");
	free(p);
}

/* As IBTA 7.8.2 has it: a register of 16 bits, octets with their lowest bit first. */
static uint16_t crc16_by_bits(const uint8_t *p, size_t n)
{
	uint32_t r = 0xffff, out = 0;
	size_t i;
	unsigned b;

	for (i = 0; i < n; i++) {
		for (b = 0; b < 8; b++) {
			uint32_t top = (r >> 15 ^ p[i] >> b) & 1;

			r = (r << 1 & 0xffff) ^ (top ? 0x100b : 0);
		}
	}
	for (b = 0; b < 16; b++)
		out |= (r >> b & 1) << (15 - b);
	return (uint16_t)~out;
}

static void crc16_compare(cw_crc16_fn fn, const char *name)
{
	uint8_t *all = random_block(5000), *p;
	uint32_t s = 7;
	size_t n, cut;

	for (n = 0; n <= 700; n++) {
		p = exact_copy(all + n % 64, n);
		if (fn(0, p, n) != crc16_by_bits(p, n))
			fail_msg("%s: %zu octets: 0x%04x, bit by bit 0x%04x", name, n, fn(0, p, n),
				 crc16_by_bits(p, n));
		cut = n > 0 ? rnd(&s) % n : 0;
		assert_int_equal(fn(fn(0, p, cut), p + cut, n - cut), crc16_by_bits(p, n));
		free(p);
	}
	for (n = 4000; n < 4200; n++)
		assert_int_equal(fn(0, all + n % 64, n), crc16_by_bits(all + n % 64, n));
	free(all);
}

static void crc16_agrees_with_its_definition(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < CW_CRC32_IMPLS; i++) {
		cw_crc16_fn fn = cw_crc16_get((enum cw_crc32_impl)i);

		if (fn == NULL)
			continue;
		crc16_compare(fn, cw_crc32_name((enum cw_crc32_impl)i));
		printf("# CRC-16, %s: agrees\n", cw_crc32_name((enum cw_crc32_impl)i));
	}
	crc16_compare(cw_crc16, "the choice");
	assert_non_null(cw_crc16_get(CW_CRC32_TABLE));
	assert_null(cw_crc16_get(CW_CRC32_ISAL));
}

/* The programs link ISA-L where it is installed, and the weak symbol must then be found. */
static void isal_is_found_when_linked(void **state)
{
	const char *expect = getenv("CW_ISAL");

	(void)state;
	if (expect == NULL || expect[0] != '1')
		skip();
	assert_non_null(cw_crc32_get(CW_CRC32_ISAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_agree_with_zlib),
		cmocka_unit_test(crc16_agrees_with_its_definition),
		cmocka_unit_test(the_choice_is_one_of_them),
		cmocka_unit_test(isal_is_found_when_linked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
