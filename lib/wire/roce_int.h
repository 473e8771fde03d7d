/* roce_int.h - what families inside RoCEv2 packets need for craft. */
#ifndef LIB_WIRE_ROCE_INT_H
#define LIB_WIRE_ROCE_INT_H

#include "causeway/craft.h"

#pragma GCC visibility push(hidden)

/* Is there a BTH behind UDP, and so a RoCEv2 ICRC at the end? */
bool cw_roce_sealed(const struct cw_craft *c);
uint32_t cw_roce_seal(const struct cw_craft *c);

/* Pad octets that the BTH and what follows it need for whole words. */
unsigned cw_roce_pad(const struct cw_craft *c);

/* BTH and extended headers, up to the ICRC that ends d->rd, and what a datagram carries. */
int cw_roce_dissect_headers(struct cw_dissector *d);

/* Is `h` a header of family `f`, or of the IB transport, which every family around it shares? */
bool cw_roce_is_transport(const struct cw_hdr *h, const struct cw_family *f);

#pragma GCC visibility pop

#endif
