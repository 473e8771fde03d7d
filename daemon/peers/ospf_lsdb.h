/* ospf_lsdb.h - what ospfd has told of its database: Extended Prefix Opaque LSAs, and what it takes
 * to know whether their originators can be reached. */
#ifndef DAEMON_PEERS_OSPF_LSDB_H
#define DAEMON_PEERS_OSPF_LSDB_H

#include "daemon/peers/int.h"

#define CW_OSPF2_ROUTER  1 /* LS types */
#define CW_OSPF2_SUMMARY 3
#define CW_OSPF2_OPT_E   0x02       /* of an area that has AS-external LSAs */
#define CW_OSPF2_AS      UINT32_MAX /* instead of an area: all of them */

/* An LSA of an area (of none with AS scope) came or went; `lsa` is whole. */
void cw_ospf_lsdb_take(uint32_t area, const uint8_t *lsa, size_t len, bool gone, uint64_t now);

/* Routers that can be reached now, and no longer: their IDs. */
void cw_ospf_lsdb_reach(const uint8_t *added, size_t nadded, const uint8_t *removed,
			size_t nremoved);

void cw_ospf_lsdb_forget(void);

/* Has anything changed since the last call? */
bool cw_ospf_lsdb_changed(void);

/* Tell all of it; `all`: ospfd has told all. */
void cw_ospf_lsdb_tell(struct cw_teller *t, bool all, uint64_t now);

/* The flagged prefixes that a border router announces in an area, or with AS scope: a TLV each,
 * sorted, for an LSA's body; and how many external ones of other areas it does not. The caller
 * frees *tlvs. False: no memory. */
bool cw_ospf_lsdb_summaries(uint32_t to, uint8_t **tlvs, size_t *len, size_t *external);

#endif
