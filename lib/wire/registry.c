/* registry.c - every packet family, one line each, in order of precedence. */
#include "lib/wire/families.h"

// clang-format off
const struct cw_family *const cw_families[] = {
	&cw_family_eth,
	&cw_family_ip,
	&cw_family_ub,
	&cw_family_uboe,
	&cw_family_uetx,
	&cw_family_uec,
	&cw_family_roce,
	&cw_family_mad,
	&cw_family_sa,
	&cw_family_smp,
	&cw_family_ib,
	&cw_family_erf,
	&cw_family_ipoib,
	&cw_family_dhcp,
	&cw_family_arp,
	&cw_family_icmp,
	&cw_family_cn1,
	&cw_family_cn2,
	NULL,
};
// clang-format on
