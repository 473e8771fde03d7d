/* test.h - cmocka with what it needs in front, and helpers shared by unit tests. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "causeway/field.h"

/* Octets of a hex literal (blanks allowed) in a heap block of exactly their size, so that the
 * sanitizer sees one octet too far. The caller frees it. */
static inline uint8_t *hex_block(const char *hex, size_t *len)
{
	char *clean = malloc(strlen(hex) + 1), *w = clean;
	uint8_t *out;
	int n;

	for (; *hex != '\0'; hex++) {
		if (*hex != ' ' && *hex != '\n' && *hex != '\t')
			*w++ = *hex;
	}
	*w = '\0';
	out = malloc(strlen(clean) / 2 + 1);
	n = cw_hex_parse(clean, out, strlen(clean) / 2 + 1);
	assert_true(n >= 0);
	free(clean);
	*len = (size_t)n;
	return realloc(out, n > 0 ? (size_t)n : 1);
}

/* A copy of the first n octets in a block of exactly that size. */
static inline uint8_t *exact_copy(const void *src, size_t n)
{
	uint8_t *p = malloc(n > 0 ? n : 1);

	if (n > 0)
		memcpy(p, src, n);
	return p;
}

#endif
