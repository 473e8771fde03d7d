/* umad.h - management packets by libibumad: the subnet administration of a real adapter's port. */
#ifndef DAEMON_IPOIB_UMAD_H
#define DAEMON_IPOIB_UMAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sa_umad;

/* `device` is DEVICE/PORT, whose LID must be `lid` if it is an InfiniBand port. An error with the
 * reason in `why` leaves nothing open. */
int sa_umad_open(struct sa_umad **out, const char *device, uint16_t lid, char *why, size_t size);
void sa_umad_close(struct sa_umad *u); /* NULL is allowed */

/* Readable when there is a MAD; then sa_umad_recv() succeeds (1, else 0). */
int sa_umad_fd(const struct sa_umad *u);
int sa_umad_recv(struct sa_umad *u, uint8_t mad[256]);

/* Where a MAD goes: to a LID, or where these are not on the wire (RoCE), to a GID; `sgid_index` is
 * the own entry of the GID table. */
struct sa_umad_to {
	uint16_t lid;
	bool global;
	uint8_t gid[16], sgid_index;
};

/* To QP1 there. The upper half of its TID may be anything: the answer has it again. 0, or -1 and
 * errno. */
int sa_umad_send(struct sa_umad *u, const struct sa_umad_to *to, const uint8_t mad[256]);

#endif
