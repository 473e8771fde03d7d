/* eal.h - DPDK's environment: memory, cores and log, chosen without the user's help. */
#ifndef DAEMON_EAL_H
#define DAEMON_EAL_H

#include "daemon/control/config.h"

/* Start DPDK for this configuration. Huge pages are used when enough are free. Errors are logged.
 */
int cw_eal_init(const struct cw_config *conf, bool pin);

/* The pool that cw_io needs. */
int cw_eal_make_pool(unsigned mbufs);

#endif
