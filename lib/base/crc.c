/* crc.c - CRC-32, polynomial 0x04C11DB7 reflected, init and final XOR all ones. */
#include "causeway/crc.h"
#include "causeway/bits.h"

static const uint32_t table[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static uint32_t crc_table(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (len-- > 0) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

cw_crc32_fn cw_crc32_get(enum cw_crc32_impl impl)
{
	return impl == CW_CRC32_TABLE ? crc_table : NULL;
}

const char *cw_crc32_name(enum cw_crc32_impl impl)
{
	static const char *const names[] = {"table", "pclmul", "isal"};

	return impl < CW_CRC32_IMPLS ? names[impl] : "unknown";
}

enum cw_crc32_impl cw_crc32_best(void)
{
	return CW_CRC32_TABLE;
}

uint32_t cw_crc32(uint32_t crc, const void *data, size_t len)
{
	return crc_table(crc, data, len);
}
