/* own.h - packets in the hands of control: sent out of a port, or dropped. */
#ifndef DAEMON_CONTROL_OWN_H
#define DAEMON_CONTROL_OWN_H

#include "daemon/graph/dp.h"

/* Put a finished frame out of a port; drops it when that can't be. */
void cw_own_send(struct rte_mbuf *m, unsigned slot);

/* Count at m->port, capture, free. */
void cw_own_drop(struct rte_mbuf *m, enum cw_drop why);

/* Shutdown: whatever would be sent from now on is dropped. */
void cw_own_stop(void);

#endif
