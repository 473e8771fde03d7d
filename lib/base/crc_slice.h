/* crc_slice.h - a reflected CRC of 32 bits by tables, eight octets a step. */
#ifndef LIB_BASE_CRC_SLICE_H
#define LIB_BASE_CRC_SLICE_H

#include <stddef.h>
#include "causeway/bits.h"

/* `table` is what crc_table.py makes of the polynomial; init and final XOR are all ones. */
CW_INLINE uint32_t cw_crc_slice(const uint32_t table[8][256], uint32_t crc, const void *data,
				size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; len >= 8; p += 8, len -= 8) {
		uint32_t a = crc ^ cw_le32(p), b = cw_le32(p + 4);

		crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^
		      table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
		      table[1][b >> 16 & 255] ^ table[0][b >> 24];
	}
	while (len-- > 0)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
	return ~crc;
}

#endif
