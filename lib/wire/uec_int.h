/* uec_int.h - UE 1.0 on the wrong port, for the family that owns the port. */
#ifndef LIB_WIRE_UEC_INT_H
#define LIB_WIRE_UEC_INT_H

#include "causeway/packet.h"

#pragma GCC visibility push(hidden)

/* The last four octets of what is left are a CRC as UE 1.0 has it: to d->pkt->icrc. */
void cw_uec_check_crc(struct cw_dissector *d);
/* Its value for a packet that is made. */
uint32_t cw_uec_seal(const struct cw_craft *c);
/* Is the rest of the packet a RUD or ROD request of UE 1.0 whose CRC-32C is right? */
bool cw_uec_is_misdirected(const struct cw_dissector *d);

/* Take it apart; the verdict is CW_E_FORBIDDEN unless something worse is wrong. */
int cw_uec_dissect_misdirected(struct cw_dissector *d);

#pragma GCC visibility pop

#endif
