/* sa_int.h - between the MAD header and what stands behind it. */
#ifndef LIB_WIRE_SA_INT_H
#define LIB_WIRE_SA_INT_H

#include "causeway/packet.h"

#pragma GCC visibility push(hidden)

/* What follows a MAD header of class SubnAdm; 232 octets are there. */
int cw_sa_dissect(struct cw_dissector *d, const uint8_t *mad);

/* Attribute that a record's header stands for, 0 for none. */
uint32_t cw_sa_attribute_of(const struct cw_hdr *hdr);

#pragma GCC visibility pop

#endif
