/* ubcalc.c - sums over any bytes, put and check: UB's PLENGTH both ways, ICRC of UB, RoCEv2 and
 * InfiniBand, block CRC, CRC of UE 1.0, the length rule of article UET.
 * Input: PLENGTH mode, PLENGTH, rule, network header length, packet. */
#include "causeway/icrc.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/ub.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
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

static void check_uet(const uint8_t *p, size_t len, size_t off)
{
	uint32_t v;

	if (cw_uec_crc(p, len, &v) == CW_OK)
		FUZZ_CHECK(len >= 8 && (p[0] >> 4 == 4 || p[0] >> 4 == 6));
	if (off <= len && cw_uec_on_ub_port(p, off, len - off))
		FUZZ_CHECK(len - off > CW_UEC_CRC_LEN);
	if (cw_uetx_check(p, len) == CW_OK)
		FUZZ_CHECK(len >= CW_SIZE_UETX);
}

/* The 30 bits tell every packet from one with another last octet. */
static void check_block(uint8_t *p, size_t len, bool error_flag, enum cw_bcrc_cover cover)
{
	uint32_t v = cw_bcrc_word(p, len, error_flag, cover);

	FUZZ_CHECK(v >> 31 == 0 && (v >> 30 != 0) == error_flag);
	if (len == 0)
		return;
	p[len - 1] ^= 1;
	FUZZ_CHECK(cw_bcrc_word(p, len, error_flag, cover) != v);
	p[len - 1] ^= 1;
}

static void check_ib(uint8_t *p, size_t len)
{
	uint32_t v;
	int err = cw_ib_seal(p, len);

	if (err != CW_OK) {
		FUZZ_CHECK(err == CW_E_SHORT || err == CW_E_RESERVED);
		FUZZ_CHECK(cw_ib_check(p, len) == err);
		return;
	}
	FUZZ_CHECK(cw_ib_check(p, len) == CW_OK);
	FUZZ_CHECK(cw_ib_icrc(p, len - 6, &v) == CW_OK && cw_le32(p + len - 6) == v);
	FUZZ_CHECK((p[len - 2] | p[len - 1] << 8) == cw_ib_vcrc(p, len - 2));
	p[len - 1] ^= 1;
	FUZZ_CHECK(cw_ib_check(p, len) == CW_E_CHECKSUM);
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
	check_uet(p, len, n % 80);
	check_block(p, len, (bits & 8) != 0, (bits & 16) != 0 ? CW_BCRC_OCTETS : CW_BCRC_LITERAL);
	check_ib(p, len);
	free(p);
	return 0;
}
