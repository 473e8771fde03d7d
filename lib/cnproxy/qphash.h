/* qphash.h - hashes of two addresses and of what else tells packets apart.
 *
 * Each address is hashed by itself, once a packet. Everything that is asked about the two, in
 * either direction and with any number beside them, costs one multiplication more.
 */
#ifndef LIB_CNPROXY_QPHASH_H
#define LIB_CNPROXY_QPHASH_H

#include "causeway/gid.h"

__extension__ typedef unsigned __int128 qp_u128;

CW_INLINE uint64_t qp_mix(uint64_t a, uint64_t b)
{
	qp_u128 p = (qp_u128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

CW_INLINE uint64_t qp_hash_gid(uint64_t seed, const struct cw_gid *a)
{
	return qp_mix(seed ^ cw_be64(a->o) ^ 0xa0761d6478bd642full,
		      ~seed ^ cw_be64(a->o + 8) ^ 0xe7037ed1a0b428dbull);
}

/* Two addresses, hashed. */
struct qp_ends {
	uint64_t from, to;
};

CW_INLINE struct qp_ends qp_ends_of(uint64_t seed, const struct cw_gid *from,
				    const struct cw_gid *to)
{
	return (struct qp_ends){qp_hash_gid(seed, from), qp_hash_gid(seed, to)};
}

CW_INLINE struct qp_ends qp_turned(struct qp_ends e)
{
	return (struct qp_ends){e.to, e.from};
}

/* Of one direction. */
CW_INLINE uint64_t qp_hash_ends(struct qp_ends e, uint64_t more)
{
	return qp_mix(e.from ^ more, (e.to << 32 | e.to >> 32) ^ 0x589965cc75374cc3ull);
}

/* The same for both directions. */
CW_INLINE uint64_t qp_hash_both(struct qp_ends e)
{
	return e.from + e.to;
}

CW_INLINE uint64_t qp_hash(uint64_t seed, const struct cw_gid *from, const struct cw_gid *to,
			   uint64_t more)
{
	return qp_hash_ends(qp_ends_of(seed, from, to), more);
}

#endif
