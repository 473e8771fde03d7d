/* mcast.h - what hosts and routers say about IP multicast groups: IGMP and MLD.
 * Spec: RFC 1112 (IGMPv1), 2236 (v2), 3376 (v3), 2710 (MLDv1), 3810 (MLDv2).
 * Deviations: source lists are not kept: who wants some sources of a group wants the group.
 */
#ifndef CAUSEWAY_WIRE_MCAST_H
#define CAUSEWAY_WIRE_MCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cw_mc_what { CW_MC_QUERY, CW_MC_JOIN, CW_MC_LEAVE };

/* Called for each thing that a message says; `group`, 4 or 16 octets of the packet, is zeros in a
 * general query. */
typedef void cw_mc_fn(void *ctx, enum cw_mc_what what, bool v6, const uint8_t *group);

/* Read an IP packet of `len` octets, whose header was checked, as IGMP or MLD. CW_E_UNKNOWN: it is
 * neither; CW_E_SHORT, CW_E_CHECKSUM: it is malformed. After an error nothing more is called. */
int cw_mc_parse(const uint8_t *ip, size_t len, cw_mc_fn *fn, void *ctx);

/* Octets of a query. */
#define CW_MC_QUERY4 36
#define CW_MC_QUERY6 76

/* Write a general query of IGMPv3 or MLDv2 from `src` to all hosts, with a router alert (RFC 3376
 * 4.1, RFC 3810 5.1): answers within 10 s, and again every `interval_s`. Returns its length. */
size_t cw_mc_query(uint8_t out[CW_MC_QUERY6], bool v6, const uint8_t *src, unsigned interval_s);

#ifdef __cplusplus
}
#endif
#endif
