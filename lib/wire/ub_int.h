/* ub_int.h - what the files of the UB families share. */
#ifndef LIB_WIRE_UB_INT_H
#define LIB_WIRE_UB_INT_H

#include "causeway/craft.h"
#include "causeway/icrc.h"
#include "causeway/wire/ub.h"

#pragma GCC visibility push(hidden)

/* Take TPH .. payload apart. The ICRC is still the last four octets when `icrc` is true; it is
 * taken off together with the pad once the TPH fits. */
int cw_ub_dissect_tp(struct cw_dissector *d, const struct cw_hdr *tph, bool icrc);

/* Take a transaction header and its extension headers apart; the rest is payload. `compact` is the
 * transport bypass form. */
int cw_ub_dissect_ta(struct cw_dissector *d, bool compact);

/* Record the ICRC in the last four octets of what is left, and verify it unless told not to.
 * `nth_len` is 0 for IP-format packets that begin at `start`, else the size of the CNA header. */
void cw_ub_check_icrc(struct cw_dissector *d, const uint8_t *start, size_t nth_len);

/* The error of a packet: a wrong ICRC explains every other oddity, so it comes first. */
int cw_ub_verdict(const struct cw_dissector *d, int err);

/* Hooks of both families, for craft. */
unsigned cw_ub_pad(const struct cw_craft *c);
bool cw_ub_sealed(const struct cw_craft *c);
uint32_t cw_ub_seal(const struct cw_craft *c);

/* First layer with this descriptor at or behind `from`, -1 if there is none. */
int cw_ub_craft_find(const struct cw_craft *c, const struct cw_hdr *hdr, unsigned from);

/* Descriptor of the layer behind `layer`, NULL at the end. */
const struct cw_hdr *cw_ub_craft_next(const struct cw_craft *c, unsigned layer);

#pragma GCC visibility pop

#endif
