/* roce_int.h - what families inside RoCEv2 packets need for craft. */
#ifndef LIB_WIRE_ROCE_INT_H
#define LIB_WIRE_ROCE_INT_H

#include "causeway/craft.h"

#pragma GCC visibility push(hidden)

/* Is there a BTH behind UDP, and so a RoCEv2 ICRC at the end? */
bool cw_roce_sealed(const struct cw_craft *c);
uint32_t cw_roce_seal(const struct cw_craft *c);

#pragma GCC visibility pop

#endif
