/* pcapng: every octet of the blocks, and every buffer that is too small. */
#include "tests/unit/test.h"
#include "causeway/pcapng.h"

#define TIME 0x0102030405060708u

static const uint8_t data[5] = {0xa1, 0xa2, 0xa3, 0xa4, 0xa5};

static int section(void *buf, size_t size)
{
	return cw_pcapng_section(buf, size, "prog");
}

static int interface(void *buf, size_t size)
{
	return cw_pcapng_interface(buf, size, 0x0293, "ub0");
}

static int packet(void *buf, size_t size)
{
	const struct cw_pcapng_packet p = {0x11121314, TIME, data, 5, 0x2122, "why"};

	return cw_pcapng_packet(buf, size, &p);
}

static int bare_packet(void *buf, size_t size)
{
	const struct cw_pcapng_packet p = {1, 2, NULL, 0, 0, NULL};

	return cw_pcapng_packet(buf, size, &p);
}

/* The block is `hex`, and does not fit into a block of fewer octets. */
static void expect(int (*make)(void *buf, size_t size), const char *hex)
{
	size_t len, cut;
	uint8_t *want = hex_block(hex, &len), *got;

	for (cut = 0; cut <= len; cut++) {
		got = exact_copy(want, cut);
		memset(got, 0xee, cut);
		assert_int_equal(make(got, cut), cut == len ? (int)len : CW_E_SPACE);
		if (cut == len)
			assert_memory_equal(got, want, len);
		free(got);
	}
	free(want);
}

static void blocks_are_right(void **state)
{
	(void)state;
	expect(section, "0a0d0d0a 28000000 4d3c2b1a 0100 0000 ffffffffffffffff"
			"0400 0400 70726f67 00000000 28000000");
	expect(interface, "01000000 28000000 9302 0000 00000000 0200 0300 75623000"
			  "0900 0100 09000000 00000000 28000000");
	expect(packet, "06000000 34000000 14131211 04030201 08070605 05000000 22210000"
		       "a1a2a3a4 a5000000 0100 0300 77687900 00000000 34000000");
	expect(bare_packet, "06000000 24000000 01000000 00000000 02000000 00000000 00000000"
			    "00000000 24000000");
}

/* Texts end in front of the limit, and not inside a character. */
static void long_texts_are_cut(void **state)
{
	static char text[CW_PCAPNG_TEXT_MAX + 8], buf[CW_PCAPNG_HEAD_MAX];
	struct cw_pcapng_packet p = {.comment = text};
	unsigned shift;

	(void)state;
	for (shift = 0; shift < 4; shift++) {
		memset(text, 'a', sizeof(text) - 1);
		memcpy(text + CW_PCAPNG_TEXT_MAX - shift, "\xe2\x82\xac", 3);
		assert_in_range(cw_pcapng_packet(buf, sizeof(buf), &p), 1, sizeof(buf));
		assert_int_equal((uint8_t)buf[30] | (uint8_t)buf[31] << 8,
				 CW_PCAPNG_TEXT_MAX - (shift == 3 ? 0 : shift));
	}
	p.caplen = UINT32_MAX;
	assert_int_equal(cw_pcapng_packet(buf, sizeof(buf), &p), CW_E_SPACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_right),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
