/* fib.h - longest-prefix match over the prefixes of one configuration. */
#ifndef DAEMON_CONTROL_FIB_H
#define DAEMON_CONTROL_FIB_H

#include "daemon/graph/dp.h"

/* Table of `n` prefixes, which lead to the hops of these indices; of equal prefixes the last one
 * counts. When `old` (may be NULL) holds the same in the same order it is shared. */
int cw_fib_get(struct cw_fib **out, struct cw_fib *old, const struct cw_ip_addr *prefix,
	       const uint32_t *hop, unsigned n, uint64_t generation);
void cw_fib_put(struct cw_fib *f);

/* Memory that the tables of a configuration's routes need, in megabytes. */
unsigned cw_fib_megabytes(const struct cw_config *c);

#endif
