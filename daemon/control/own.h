/* own.h - packets in the hands of control: sent out of a port, or dropped. */
#ifndef DAEMON_CONTROL_OWN_H
#define DAEMON_CONTROL_OWN_H

#include "daemon/graph/dp.h"

/* A new frame out of a port, from its own address, with the tags of the port and of the network:
 * VLAN and priority are in `tci`, 0: none. *body has room for `len` octets. NULL: no buffer. */
struct rte_mbuf *cw_own_frame(const struct cw_plane_port *port, const uint8_t dst[6], uint16_t tci,
			      uint16_t type, uint16_t len, uint8_t **body);

/* Put a finished frame out of a port; drops it when that can't be. */
void cw_own_send(struct rte_mbuf *m, unsigned slot);

/* Count at m->port, capture, free. */
void cw_own_drop(struct rte_mbuf *m, enum cw_drop why);

/* Shutdown: whatever would be sent from now on is dropped. */
void cw_own_stop(void);

#endif
