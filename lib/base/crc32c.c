/* crc32c.c - CRC-32C (Castagnoli), polynomial 0x1EDC6F41 reflected, init and final XOR all ones. */
#include "causeway/crc.h"
#include "lib/base/crc_slice.h"
#include "crc32c_table.h"

uint32_t cw_crc32c_table(uint32_t crc, const void *data, size_t len)
{
	return cw_crc_slice(table, crc, data, len);
}

#if defined(__x86_64__)
#include <nmmintrin.h>

/* The instruction computes this very polynomial. */
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data,
							       size_t len)
{
	const uint8_t *p = data;
	uint64_t c = (uint32_t)~crc, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, sizeof(v));
		c = _mm_crc32_u64(c, v);
	}
	while (len-- > 0)
		c = _mm_crc32_u8((uint32_t)c, *p++);
	return ~(uint32_t)c;
}

uint32_t cw_crc32c(uint32_t crc, const void *data, size_t len)
{
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_sse42(crc, data, len);
	return cw_crc32c_table(crc, data, len);
}
#else
uint32_t cw_crc32c(uint32_t crc, const void *data, size_t len)
{
	return cw_crc32c_table(crc, data, len);
}
#endif
