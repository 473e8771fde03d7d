/* crc16.c - CRC-16, polynomial 0x100b reflected, init and final XOR all ones: InfiniBand's VCRC.
 *
 * x^16 times this polynomial is one of degree 32, whose remainder is the CRC in its upper half, the
 * lower sixteen bits of a reflected register. So the code for CRCs of 32 bits computes it.
 */
#include "causeway/crc.h"
#include "lib/base/crc_int.h"
#include "lib/base/crc_slice.h"
#include "crc16_table.h"

/* The half of the (complemented) register that is always zero. */
#define UNUSED 0xffff0000u

static uint16_t crc16_table(uint16_t crc, const void *data, size_t len)
{
	return (uint16_t)cw_crc_slice(table, crc | UNUSED, data, len);
}

#if defined(__x86_64__)
#define X_2080 0x00000846c
#define X_2016 0x00001210a
#define X_544  0x0000009c2
#define X_480  0x0000064b0
#define X_160  0x00001f9ea
#define X_96   0x00001e9de
#define X_64   0x000015864
#define POLY   0x00001a011
#define MU     0x1b4b0b111
#include "lib/base/crc_fold.h"

SSE static uint16_t crc16_pclmul(uint16_t crc, const void *data, size_t len)
{
	if (len < 16)
		return crc16_table(crc, data, len);
	return (uint16_t)crc_fold(crc | UNUSED, data, len);
}

AVX512 static uint16_t crc16_vpclmul(uint16_t crc, const void *data, size_t len)
{
	if (len < 16)
		return crc16_table(crc, data, len);
	return (uint16_t)crc_fold4(crc | UNUSED, data, len);
}
#else
#define crc16_pclmul  crc16_table
#define crc16_vpclmul crc16_table
#endif

cw_crc16_fn cw_crc16_get(enum cw_crc32_impl impl)
{
	switch (impl) {
	case CW_CRC32_TABLE:
		return crc16_table;
	case CW_CRC32_PCLMUL:
		return cw_crc32_has_pclmul() ? crc16_pclmul : NULL;
	case CW_CRC32_VPCLMUL:
		return cw_crc32_has_vpclmul() ? crc16_vpclmul : NULL;
	default:
		return NULL;
	}
}

uint16_t cw_crc16(uint16_t crc, const void *data, size_t len)
{
	if (cw_crc32_has_vpclmul())
		return crc16_vpclmul(crc, data, len);
	if (cw_crc32_has_pclmul())
		return crc16_pclmul(crc, data, len);
	return crc16_table(crc, data, len);
}
