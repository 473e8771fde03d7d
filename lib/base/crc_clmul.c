/* crc_clmul.c - CRC-32 by folding with carry-less multiplication. */
#include "lib/base/crc_int.h"

#if defined(__x86_64__)
#define X_2080 0x11542778a
#define X_2016 0x1322d1430
#define X_544  0x154442bd4
#define X_480  0x1c6e41596
#define X_160  0x1751997d0
#define X_96   0x0ccaa009e
#define X_64   0x163cd6124
#define POLY   0x1db710641 /* P, 33 bits reflected */
#define MU     0x1f7011641 /* x^64 / P, 33 bits reflected */
#include "lib/base/crc_fold.h"

SSE uint32_t cw_crc32_pclmul(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (len < 16)
		return cw_crc32_table(crc, data, len);
	return crc_fold(crc, p, len);
}

SSE uint32_t cw_crc32_pclmul_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
				  size_t len)
{
	return go_on(start(crc, head, head_len), rest, len);
}

AVX512 uint32_t cw_crc32_vpclmul(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (len < 16)
		return cw_crc32_table(crc, data, len);
	return crc_fold4(crc, p, len);
}

AVX512 uint32_t cw_crc32_vpclmul_head(uint32_t crc, const void *head, size_t head_len,
				      const void *rest, size_t len)
{
	return go_on4(start(crc, head, head_len), rest, len);
}
#else
uint32_t cw_crc32_pclmul(uint32_t crc, const void *data, size_t len)
{
	return cw_crc32_table(crc, data, len);
}

uint32_t cw_crc32_vpclmul(uint32_t crc, const void *data, size_t len)
{
	return cw_crc32_table(crc, data, len);
}

uint32_t cw_crc32_pclmul_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
			      size_t len)
{
	return cw_crc32_table(cw_crc32_table(crc, head, head_len), rest, len);
}

uint32_t cw_crc32_vpclmul_head(uint32_t crc, const void *head, size_t head_len, const void *rest,
			       size_t len)
{
	return cw_crc32_table(cw_crc32_table(crc, head, head_len), rest, len);
}
#endif
