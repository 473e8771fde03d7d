/* fuzz.h - what every fuzz target needs: the entry point, loud checks, a reader of the input. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An invariant. Unlike assert() it stays in every kind of build. */
#define FUZZ_CHECK(cond)                                                                     \
	do {                                                                                 \
		if (!(cond)) {                                                               \
			fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                             \
		}                                                                            \
	} while (0)

/* The input as a stream: settings first, the bytes under test behind them. Reads past the end give
 * zeros, so that every input means something. */
struct fuzz_in {
	const uint8_t *p;
	size_t left;
};

static inline uint8_t fuzz_u8(struct fuzz_in *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->p++;
}

static inline uint32_t fuzz_u32(struct fuzz_in *in)
{
	uint32_t v = 0;
	unsigned i;

	for (i = 0; i < 4; i++)
		v = v << 8 | fuzz_u8(in);
	return v;
}

/* n octets (fewer when the input ends) in a heap block of exactly their size, so that a sanitizer
 * sees one octet too far. The caller frees it. */
static inline uint8_t *fuzz_block(struct fuzz_in *in, size_t n, size_t *len)
{
	uint8_t *block;

	*len = n < in->left ? n : in->left;
	block = calloc(1, *len > 0 ? *len : 1);
	FUZZ_CHECK(block != NULL);
	if (*len > 0)
		memcpy(block, in->p, *len);
	in->p += *len;
	in->left -= *len;
	return block;
}

/* The rest as a string; octets behind a NUL are lost. The caller frees it. */
static inline char *fuzz_text(struct fuzz_in *in)
{
	char *text = malloc(in->left + 1);

	FUZZ_CHECK(text != NULL);
	if (in->left > 0)
		memcpy(text, in->p, in->left);
	text[in->left] = '\0';
	in->p += in->left;
	in->left = 0;
	return text;
}

#endif
