/* current.c - the snapshot in use, and the clock. See current.h. */
#include <pthread.h>
#include <time.h>
#include "daemon/control/current.h"

static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;

struct cw_plane *cw_plane_now(void)
{
	return atomic_load(&cw_dp.plane);
}

const struct cw_plane *cw_plane_lock(void)
{
	pthread_mutex_lock(&in_use);
	return cw_plane_now();
}

void cw_plane_unlock(void)
{
	pthread_mutex_unlock(&in_use);
}

struct cw_plane *cw_plane_exchange(struct cw_plane *next)
{
	return atomic_exchange(&cw_dp.plane, next);
}

void cw_plane_settle(void)
{
	cw_dp_synchronize();
	cw_plane_lock();
	cw_plane_unlock();
}

uint64_t cw_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
