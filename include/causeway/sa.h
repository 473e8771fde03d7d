/* sa.h - a small subnet administration, for IPoIB links without a subnet manager.
 * Spec: IBTA 15.2 for the attributes MCMemberRecord, PathRecord and InformInfo.
 *
 * It is no subnet manager: LIDs are given by whoever adds ports, there is no routing, no service
 * level mapping, no redundancy, and multicast LIDs are handed out in order. What it answers and
 * refuses is what OpenSM 3.3.23 answers and refuses.
 */
#ifndef CAUSEWAY_SA_H
#define CAUSEWAY_SA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_sa;

/* An IPoIB partition: its broadcast group exists from the beginning. */
struct cw_sa_partition {
	uint16_t pkey;
	uint8_t scope, mtu, rate, sl; /* MTU and rate are codes */
	uint32_t qkey;
};

/* Send a MAD to a port. */
typedef void (*cw_sa_send_fn)(void *ctx, uint16_t lid, const uint8_t mad[256]);

/* An administration at `lid` with room for so many groups; `send` gets `ctx` and the answers.
 * CW_E_NOMEM. */
int cw_sa_new(struct cw_sa **out, uint16_t lid, unsigned groups, cw_sa_send_fn send, void *ctx);
void cw_sa_free(struct cw_sa *sa); /* NULL is fine */

/* CW_E_SPACE: 64 ports and 16 partitions at most. A port is a full member of every partition. */
int cw_sa_port(struct cw_sa *sa, const uint8_t gid[16], uint16_t lid);
int cw_sa_partition(struct cw_sa *sa, const struct cw_sa_partition *p);

/* The LID of a port that was added; 0: there is none with this GID. */
uint16_t cw_sa_lid_of(const struct cw_sa *sa, const uint8_t gid[16]);

/* Forget what was learnt: groups but those of partitions, memberships, subscriptions. */
void cw_sa_restart(struct cw_sa *sa);

/* A request came from a port. CW_E_LENGTH, CW_E_UNKNOWN: not for it, no answer. */
int cw_sa_request(struct cw_sa *sa, uint16_t lid, const uint8_t *mad, size_t len);

#ifdef __cplusplus
}
#endif
#endif
