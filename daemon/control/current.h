/* current.h - the snapshot in use, and the clock. Calls nothing else of control. */
#ifndef DAEMON_CONTROL_CURRENT_H
#define DAEMON_CONTROL_CURRENT_H

#include "daemon/graph/dp.h"

/* The snapshot in use. Valid on the control thread until the next cw_plane_apply(). */
struct cw_plane *cw_plane_now(void);

/* The same for a thread that is neither control nor a worker: NULL when there is none. It stays
 * until cw_plane_unlock(), which must follow in either case. */
const struct cw_plane *cw_plane_lock(void);
void cw_plane_unlock(void);

/* Let workers use `next` (NULL: none) and return what they used before. */
struct cw_plane *cw_plane_exchange(struct cw_plane *next);

/* Wait for those that found the old one before the exchange: workers, and holders of the lock. */
void cw_plane_settle(void);

/* Milliseconds of the monotonic clock. */
uint64_t cw_now_ms(void);

#endif
