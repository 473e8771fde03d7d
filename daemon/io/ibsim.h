/* ibsim.h - MADs to and from a node of ibsim, over its own socket protocol: labs with the real
 * OpenSM. No LD_PRELOAD, and a file descriptor that poll() knows. */
#ifndef DAEMON_IO_IBSIM_H
#define DAEMON_IO_IBSIM_H

#include <stdint.h>

struct ibsim {
	int ctl, fd;
	uint32_t id, client;
};

/* Become the node `node` of the simulator whose sockets are named `name` (IBSIM_SOCKNAME); `id` is
 * any number that no other client has. The node gets reports. 0, or -1 with errno. */
int ibsim_open(struct ibsim *s, const char *name, const char *node, uint32_t id);

/* Send a MAD of 256 octets to QP1 of a LID. ibsim overwrites the upper 16 bits of its TID. */
int ibsim_send(struct ibsim *s, uint16_t dlid, const uint8_t mad[256]);

/* 1 and a MAD, 0 when none came within timeout_ms, -1 with errno. */
int ibsim_recv(struct ibsim *s, uint8_t mad[256], int timeout_ms);

/* Get reports, or no longer. A node that gets them looks like a standby subnet manager: OpenSM does
 * not become master while such a one does not answer it. */
int ibsim_reports(struct ibsim *s, int on);

/* Tells the simulator, whose ten places are taken for ever otherwise. */
void ibsim_close(struct ibsim *s);

#endif
