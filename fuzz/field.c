/* field.c - text <-> value of any field of any header. What parses, prints and parses again to the
 * same bits; a parse changes no bit of a neighbour, and none at all when it fails.
 * Input: header, field, fill octet of the header, text. */
#include "causeway/packet.h"
#include "fuzz/fuzz.h"

static const struct cw_hdr *pick(unsigned n)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;
	unsigned count = 0;

	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++)
			count += (*h)->nfields > 0;
	}
	FUZZ_CHECK(count > 0);
	n %= count;
	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++) {
			if ((*h)->nfields > 0 && n-- == 0)
				return *h;
		}
	}
	abort();
}

static bool bit(const uint8_t *p, unsigned i)
{
	return (p[i / 8] >> (7 - i % 8) & 1) != 0;
}

static void check_neighbours(const struct cw_field *f, const uint8_t *a, const uint8_t *b, size_t n)
{
	unsigned i;

	for (i = 0; i < 8 * n; i++) {
		if (i < f->bit || i >= (unsigned)f->bit + f->width)
			FUZZ_CHECK(bit(a, i) == bit(b, i));
	}
}

static void check_again(const struct cw_field *f, const uint8_t *p, size_t n, uint8_t fill)
{
	uint8_t *q = malloc(n);
	char text[1024];
	int len;

	FUZZ_CHECK(q != NULL);
	memset(q, ~fill, n);
	len = cw_field_format(f, p, text, sizeof(text));
	FUZZ_CHECK(len > 0 && (size_t)len == strlen(text));
	FUZZ_CHECK(cw_field_parse(f, q, text) == CW_OK);
	for (unsigned i = f->bit; i < (unsigned)f->bit + f->width; i++)
		FUZZ_CHECK(bit(p, i) == bit(q, i));
	free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	const struct cw_hdr *h = pick(fuzz_u8(&in));
	const struct cw_field *f = &h->fields[fuzz_u8(&in) % h->nfields];
	uint8_t fill = fuzz_u8(&in), *p = malloc(h->size), *old = malloc(h->size);
	char *text = fuzz_text(&in);

	FUZZ_CHECK(p != NULL && old != NULL);
	memset(p, fill, h->size);
	memcpy(old, p, h->size);
	check_again(f, p, h->size, fill);
	if (cw_field_parse(f, p, text) == CW_OK) {
		check_neighbours(f, old, p, h->size);
		check_again(f, p, h->size, fill);
	} else {
		FUZZ_CHECK(memcmp(old, p, h->size) == 0);
	}
	free(p);
	free(old);
	free(text);
	return 0;
}
