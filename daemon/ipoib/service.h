/* service.h - the hcas and ports in use, for what shows them. */
#ifndef DAEMON_IPOIB_SERVICE_H
#define DAEMON_IPOIB_SERVICE_H

#include "daemon/ipoib/int.h"

struct ibd_set {
	uint64_t generation;
	struct hca *hca[IBD_MAX];
	struct ipport *port[IBD_MAX];
	unsigned nhca, nport, nroute;
	struct ibroute *route; /* owned */
};

/* The set in use, for who has the lock. */
const struct ibd_set *ibd_now(void);

/* The same, until ibd_unlock(). */
const struct ibd_set *ibd_lock(void);
void ibd_unlock(void);

#endif
