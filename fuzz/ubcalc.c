/* ubcalc.c - the sums of UB: PLENGTH both ways, ICRC over any bytes, put and check.
 * Input: PLENGTH mode, PLENGTH, rule, network header length, packet. */
#include "causeway/icrc.h"
#include "causeway/wire/ub.h"
#include "fuzz/fuzz.h"

static void check_plength(enum cw_plength_mode mode, uint32_t n)
{
	uint32_t octets, again;
	uint16_t plength;

	if (cw_plength_decode(mode, (uint16_t)(n & 0x3fff), &octets) == CW_OK) {
		FUZZ_CHECK(octets <= CW_PLENGTH_MAX_PLAIN);
		FUZZ_CHECK(cw_plength_encode(mode, octets, &plength) == CW_OK);
		FUZZ_CHECK(cw_plength_decode(mode, plength, &again) == CW_OK && again == octets);
	}
	if (cw_plength_encode(mode, n, &plength) == CW_OK) {
		FUZZ_CHECK(plength <= 0x3fff);
		FUZZ_CHECK(cw_plength_decode(mode, plength, &again) == CW_OK && again == n);
	} else {
		FUZZ_CHECK(cw_plength_encode(mode, n, &plength) == CW_E_RANGE);
	}
}

static void check_icrc(uint8_t *p, size_t len, const struct cw_icrc_rule *rule,
		       enum cw_icrc_order order)
{
	uint32_t v;
	int err = cw_icrc_put(p, len, rule, order);

	if (err != CW_OK) {
		FUZZ_CHECK(cw_icrc_check(p, len, rule, order) == err);
		return;
	}
	FUZZ_CHECK(cw_icrc_check(p, len, rule, order) == CW_OK);
	FUZZ_CHECK(cw_icrc_compute(p, len - CW_ICRC_LEN, rule, &v) == CW_OK);
	FUZZ_CHECK(cw_icrc_get(p + len - CW_ICRC_LEN, order) == v);
	p[len - 1] ^= 1;
	FUZZ_CHECK(cw_icrc_check(p, len, rule, order) == CW_E_ICRC);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	uint8_t bits = fuzz_u8(&in), *p;
	uint32_t n = fuzz_u32(&in), v;
	size_t nth_len = fuzz_u8(&in) % 16, len;

	check_plength((bits & 1) != 0 ? CW_PLENGTH_PLAIN : CW_PLENGTH_CRC, n % 20000);
	p = fuzz_block(&in, in.left, &len);
	check_icrc(p, len, (bits & 2) != 0 ? &cw_icrc_rocev2 : &cw_icrc_ub,
		   (bits & 4) != 0 ? CW_ICRC_BE : CW_ICRC_LE);
	if (cw_icrc_compute_cna(p, len, nth_len, &v) == CW_OK)
		FUZZ_CHECK(nth_len == 8 || nth_len == 10);
	free(p);
	return 0;
}
