/* gid.h - an IP address of either version in 16 octets, as a GID of RoCEv2 holds it. */
#ifndef CAUSEWAY_GID_H
#define CAUSEWAY_GID_H

#include <stdbool.h>
#include "causeway/bits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* IPv4 is kept as a mapped address (::ffff:a.b.c.d), as in a RoCEv2 GID. */
struct cw_gid {
	uint8_t o[16];
};

CW_INLINE bool cw_gid_is_v4(const struct cw_gid *a)
{
	return cw_be64(a->o) == 0 && cw_be32(a->o + 8) == 0xffff;
}

/* From 4 or 16 octets, by IP version. */
CW_INLINE struct cw_gid cw_gid_of(unsigned version, const uint8_t *octets)
{
	struct cw_gid a = {{0}};

	if (version == 4) {
		a.o[10] = a.o[11] = 0xff;
		memcpy(a.o + 12, octets, 4);
	} else {
		memcpy(a.o, octets, 16);
	}
	return a;
}

CW_INLINE bool cw_gid_equal(const struct cw_gid *a, const struct cw_gid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Is it unset (all zero)? */
CW_INLINE bool cw_gid_none(const struct cw_gid *a)
{
	return cw_be64(a->o) == 0 && cw_be64(a->o + 8) == 0;
}

#ifdef __cplusplus
}
#endif
#endif
