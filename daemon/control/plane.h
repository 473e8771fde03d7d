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

#endif
