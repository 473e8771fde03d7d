/* capture.h - dropped packets into a pcapng file, with the reason as each one's comment. */
#ifndef DAEMON_CONTROL_CAPTURE_H
#define DAEMON_CONTROL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include "causeway/err.h"
#include "daemon/graph/dp.h"

/* Begin a new file (an old one of that name is replaced), or end with "". */
int cw_capture_start(const char *file, struct cw_diag *diag);
void cw_capture_stop(void);

/* Write what workers left on the ring. */
void cw_capture_run(void);

/* A packet that control drops. */
void cw_capture_packet(struct rte_mbuf *m, enum cw_drop why);

struct cw_capture_info {
	const char *file; /* "" when off */
	uint64_t packets, lost;
};
struct cw_capture_info cw_capture_info(void);

#endif
