/* pnc_int.h - what the three parts of the PNC code share. */
#ifndef LIB_WIRE_PNC_INT_H
#define LIB_WIRE_PNC_INT_H

#include "causeway/pnc.h"

#pragma GCC visibility push(hidden)

/* Remember the first fault; returns `err`. */
int cw_pnc_fault(struct cw_pnc_error *e, int err, size_t off, const char *what);

/* The first 32 flag bits, what is missing as 0. */
uint32_t cw_pnc_bits(const uint8_t *flags, size_t len);

/* Bit `n`, counted from the most significant one of the first octet. */
CW_INLINE uint32_t cw_pnc_bit(unsigned n)
{
	return n < 32 ? 0x80000000u >> n : 0;
}

/* A prefix that takes `octets` octets on the wire. CW_E_RANGE, CW_E_SHORT. */
CW_MUST_USE int cw_pnc_take_prefix(struct cw_rd *r, uint8_t version, unsigned plen, size_t octets,
				   struct cw_prefix *out);

CW_INLINE bool cw_pnc_is_host(const struct cw_prefix *p)
{
	return p->plen == (p->version == 6 ? 128 : 32);
}

#pragma GCC visibility pop

#endif
