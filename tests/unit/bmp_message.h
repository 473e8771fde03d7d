/* bmp_message.h - messages of BMP for tests. */
#ifndef TESTS_BMP_MESSAGE_H
#define TESTS_BMP_MESSAGE_H

#include "causeway/wire/bmp.h"
#include "tests/unit/test.h"

/* A message of a type, its body in hex, in a block of its size: the caller frees it. */
static inline uint8_t *bmp_message(unsigned type, const char *body, size_t *len)
{
	size_t n;
	uint8_t *b = hex_block(body, &n), *m = malloc(CW_SIZE_BMP_HEAD + n);

	cw_bmp_head_set_version(m, CW_BMP_VERSION);
	cw_bmp_head_set_length(m, (uint32_t)(CW_SIZE_BMP_HEAD + n));
	cw_bmp_head_set_type(m, type);
	memcpy(m + CW_SIZE_BMP_HEAD, b, n);
	free(b);
	*len = CW_SIZE_BMP_HEAD + n;
	return m;
}

#endif
