/* packet.h - the head of packet inputs: one octet picks link type and settings.
 * Bits, from the low end: 0 link (0 Ethernet, 1 UB), 1 big-endian ICRC, 2 no ICRC check,
 * 3 big-endian SACK bitmap, 4 CAQM form of CETPH, 5 UB on UDP port 4793,
 * 6 and 7 what port 4792 is taken for (enum cw_4792); with bit 0, InfiniBand instead of UB (1 ERF,
 * 2 LINKTYPE_IPOIB, 3 LRH). */
#ifndef FUZZ_PACKET_H
#define FUZZ_PACKET_H

#include "causeway/packet.h"
#include "fuzz/fuzz.h"

static inline enum cw_link fuzz_link(struct fuzz_in *in, struct cw_dissect_opts *o)
{
	uint8_t bits = fuzz_u8(in);

	memset(o, 0, sizeof(*o));
	o->icrc_order = (bits & 2) != 0 ? CW_ICRC_BE : CW_ICRC_LE;
	o->no_icrc = (bits & 4) != 0;
	o->cetph_caqm = (bits & 16) != 0;
	o->ub_port = (bits & 32) != 0 ? 4793 : 0;
	o->port_4792 = (enum cw_4792)(bits >> 6);
	switch ((bits & 1) != 0 ? bits >> 6 : 0) {
	case 1:
		return CW_LINK_ERF;
	case 2:
		return CW_LINK_IPOIB;
	case 3:
		return CW_LINK_IB;
	}
	return (bits & 1) != 0 ? CW_LINK_UB : CW_LINK_ETHERNET;
}

#endif
