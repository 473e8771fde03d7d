/* histogram.c - buckets that are as wide as 1/128 of their values. */
#include "cli/histogram.h"

void histogram_add(struct histogram *h, uint64_t value)
{
	unsigned shift = 0;

	if (value >= HISTOGRAM_SUB)
		shift = 64u - (unsigned)__builtin_clzll(value) - 7u;
	h->bucket[shift][(value >> shift) % HISTOGRAM_SUB]++;
	if (h->n == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->n++;
}

uint64_t histogram_permille(const struct histogram *h, unsigned permille)
{
	uint64_t rank = (h->n * permille + 999) / 1000, seen = 0, top;
	unsigned i, k;

	if (h->n == 0)
		return 0;
	for (i = 0; i < 58; i++) {
		for (k = 0; k < HISTOGRAM_SUB; k++) {
			seen += h->bucket[i][k];
			if (seen < rank || seen == 0)
				continue;
			top = ((uint64_t)(k + 1) << i) - 1;
			return top < h->min ? h->min : top > h->max ? h->max : top;
		}
	}
	return h->max;
}
