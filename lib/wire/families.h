/* families.h - the families that registry.c lists. */
#ifndef LIB_WIRE_FAMILIES_H
#define LIB_WIRE_FAMILIES_H

#include "causeway/packet.h"

#pragma GCC visibility push(hidden)
extern const struct cw_family cw_family_arp;
extern const struct cw_family cw_family_cn1;
extern const struct cw_family cw_family_cn2;
extern const struct cw_family cw_family_dhcp;
extern const struct cw_family cw_family_erf;
extern const struct cw_family cw_family_eth;
extern const struct cw_family cw_family_ib;
extern const struct cw_family cw_family_icmp;
extern const struct cw_family cw_family_ip;
extern const struct cw_family cw_family_ipoib;
extern const struct cw_family cw_family_sa;
extern const struct cw_family cw_family_smp;
extern const struct cw_family cw_family_ub;
extern const struct cw_family cw_family_uboe;
extern const struct cw_family cw_family_roce;
extern const struct cw_family cw_family_uetx;
extern const struct cw_family cw_family_uec;
extern const struct cw_family cw_family_mad;
#pragma GCC visibility pop

#endif
