/* capture.h - dropped packets into a pcapng file, with the reason as each one's comment. */
#ifndef DAEMON_CONTROL_CAPTURE_H
#define DAEMON_CONTROL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include "causeway/err.h"
#include "daemon/graph/dp.h"

/* A file that may become the capture, if what it belongs to succeeds. */
struct cw_capture_file {
	int fd; /* -1: none, the capture ends */
	char name[256];
	bool same; /* it is the one in use */
	bool made; /* it was not there before */
};

/* Open `file` ("" for none) and touch nothing else; then either use it or abandon it. */
int cw_capture_open(struct cw_capture_file *c, const char *file, struct cw_diag *diag);
/* It is the capture from now on; what it held before is replaced. */
void cw_capture_use(struct cw_capture_file *c);
void cw_capture_abandon(struct cw_capture_file *c);

void cw_capture_stop(void);

/* Write what workers left on the ring. */
void cw_capture_run(void);

/* A packet that control drops; the reason is its meta word. */
void cw_capture_packet(const struct rte_mbuf *m);

struct cw_capture_info {
	const char *file; /* "" when off */
	uint64_t packets, lost;
};
struct cw_capture_info cw_capture_info(void);

#endif
