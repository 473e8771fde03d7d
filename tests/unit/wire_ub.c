/* Tests of the UB families: golden packets, ICRC, PLENGTH, block CRC. */
#include "tests/unit/test.h"
#include "causeway/craft.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"

static const char v1[] =
	"4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000000a"
	"000000010310000100000007000000001234500000005500000000080001020304050607abd33066";
static const char n1[] =
	"000380898002000000014502005000004000401126990a0000010a000002c00012b8003c00008100"
	"0001020002038000000a000000010310000100000007000000001234500000005500000000080001"
	"020304050607abd33066";

static void s4_7_2_block_crc_of_n1(void **state)
{
	uint8_t block[100] = {0};
	size_t len;
	uint8_t *p = hex_block(n1, &len);

	(void)state;
	assert_int_equal(len, 90);
	memcpy(block, p, len);
	assert_int_equal(cw_bcrc_word(block, 96, false, CW_BCRC_LITERAL), 0x29110ea6);
	assert_int_equal(cw_bcrc_word(block, 96, false, CW_BCRC_OCTETS), 0x2090e6c3);
	assert_int_equal(cw_bcrc_word(block, 96, true, CW_BCRC_OCTETS), 0x6090e6c3);
	assert_int_not_equal(cw_bcrc_word(block, 96, true, CW_BCRC_LITERAL) & 0x3fffffff,
			     0x29110ea6);
	free(p);
}

static void s5_3_7_icrc_of_v1(void **state)
{
	size_t len;
	uint8_t *p = hex_block(v1, &len);
	uint32_t icrc;

	(void)state;
	assert_int_equal(cw_icrc_compute(p, len - 4, &cw_icrc_ub, &icrc), CW_OK);
	assert_int_equal(icrc, 0x6630d3ab);
	assert_int_equal(cw_icrc_check(p, len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	assert_int_equal(cw_icrc_check(p, len, &cw_icrc_ub, CW_ICRC_BE), CW_E_ICRC);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s4_7_2_block_crc_of_n1),
		cmocka_unit_test(s5_3_7_icrc_of_v1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
