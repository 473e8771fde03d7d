/* histogram.h - how long things took: percentiles with an error below 1 %, in fixed memory. */
#ifndef CLI_HISTOGRAM_H
#define CLI_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB 128u

struct histogram {
	uint64_t n, min, max;
	uint64_t bucket[58][HISTOGRAM_SUB];
};

void histogram_add(struct histogram *h, uint64_t value);

/* The value that this many of a thousand stay at or below; 0 of an empty histogram. */
uint64_t histogram_permille(const struct histogram *h, unsigned permille);

#endif
