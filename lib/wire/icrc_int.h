/* icrc_int.h - what the invariant CRCs of UB, UBoE, RoCEv2 and InfiniBand have in common. */
#ifndef LIB_WIRE_ICRC_INT_H
#define LIB_WIRE_ICRC_INT_H

#include "causeway/bits.h"

/* CRC-32 of eight octets of ones, which stand for the LRH where there is none (RoCE). */
#define ICRC_OF_PREFIX 0x2144df1cu

/* Traffic class, flow label and hop limit of an IPv6 header or a GRH, to ones: routers may change
 * them (IBTA 7.8.1). */
CW_INLINE void icrc_mask_ip6(uint8_t *h)
{
	h[0] |= 0x0f;
	memset(h + 1, 0xff, 3);
	h[7] = 0xff;
}

#endif
