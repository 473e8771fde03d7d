/* crc_int.h - the implementations behind cw_crc32(). */
#ifndef LIB_BASE_CRC_INT_H
#define LIB_BASE_CRC_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Octets from where on 64 at once pay. */
#define CRC_WIDE 256

uint32_t cw_crc32_table(uint32_t crc, const void *data, size_t len);

/* Carry-less multiplication, 16 and 64 octets wide. Call them only where the processor has it. */
uint32_t cw_crc32_pclmul(uint32_t crc, const void *data, size_t len);
uint32_t cw_crc32_vpclmul(uint32_t crc, const void *data, size_t len);

/* A message in two pieces, without reducing in between. `head_len` is a multiple of 16, at least
 * 16, and 16 octets in front of `rest` can be read (they do not count). */
uint32_t cw_crc32_pclmul_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
			      size_t len);
uint32_t cw_crc32_vpclmul_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
			       size_t len);

/* The same with the best implementation. */
uint32_t cw_crc32_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
		       size_t len);

#pragma GCC visibility pop

#if defined(__x86_64__)
static inline bool cw_crc32_has_pclmul(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

static inline bool cw_crc32_has_vpclmul(void)
{
	return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bw") && cw_crc32_has_pclmul();
}
#else
static inline bool cw_crc32_has_pclmul(void)
{
	return false;
}

static inline bool cw_crc32_has_vpclmul(void)
{
	return false;
}
#endif

#endif
