/* clock.h - the time that commands measure and wait by. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND 1000000000ull /* in nanoseconds */

/* Nanoseconds of a clock that never goes back; its zero means nothing. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

#endif
