/* plane.h - from a configuration to the snapshot that workers read. */
#ifndef DAEMON_CONTROL_PLANE_H
#define DAEMON_CONTROL_PLANE_H

#include "daemon/graph/dp.h"

/* Build a snapshot aside and let workers use it; the old one is freed when none can still see it.
 * Takes `conf` over on success. On failure nothing has changed and `diag` says path, value, reason.
 * Control thread only. */
int cw_plane_apply(struct cw_config *conf, struct cw_diag *diag);

/* Free the snapshot in use; workers must have ended. */
void cw_plane_clear(void);

/* The snapshot in use, for a thread that is neither control nor a worker: NULL when there is none.
 * It stays until cw_plane_unlock(), which must follow in either case. */
const struct cw_plane *cw_plane_lock(void);
void cw_plane_unlock(void);

/* The snapshot in use. Valid on the control thread until the next apply. */
struct cw_plane *cw_plane_now(void);

#endif
