/* bits.h - big-endian loads and stores, and bit fields in network bit order.
 *
 * Bit 0 is the most significant bit of octet 0, as the figures of RFCs and of UB 2.0 count. With
 * constant offsets every function folds to one load, a byte swap, a shift and a mask.
 */
#ifndef CAUSEWAY_BITS_H
#define CAUSEWAY_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CW_INLINE static inline __attribute__((always_inline, unused))

/* Written as octet shifts these would be merged to one access in most places only, and the fast
 * path lives in the others. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CW_SWAP(bits, v) __builtin_bswap##bits(v)
#else
#define CW_SWAP(bits, v) (v)
#endif

CW_INLINE uint16_t cw_be16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return CW_SWAP(16, v);
}

CW_INLINE uint32_t cw_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | cw_be16(p + 1);
}

CW_INLINE uint32_t cw_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return CW_SWAP(32, v);
}

CW_INLINE uint64_t cw_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return CW_SWAP(64, v);
}

CW_INLINE uint32_t cw_le32(const uint8_t *p)
{
	return __builtin_bswap32(cw_be32(p));
}

CW_INLINE void cw_put_be16(uint8_t *p, uint16_t v)
{
	v = CW_SWAP(16, v);
	memcpy(p, &v, sizeof(v));
}

CW_INLINE void cw_put_be32(uint8_t *p, uint32_t v)
{
	v = CW_SWAP(32, v);
	memcpy(p, &v, sizeof(v));
}

CW_INLINE void cw_put_be64(uint8_t *p, uint64_t v)
{
	v = CW_SWAP(64, v);
	memcpy(p, &v, sizeof(v));
}

CW_INLINE void cw_put_le32(uint8_t *p, uint32_t v)
{
	cw_put_be32(p, __builtin_bswap32(v));
}

/* A big-endian number of 1 to 8 octets; what is a constant here leaves one load. */
CW_INLINE uint64_t cw_bits_load(const uint8_t *p, unsigned octets)
{
	switch (octets) {
	case 1:
		return p[0];
	case 2:
		return cw_be16(p);
	case 3:
		return cw_be24(p);
	case 4:
		return cw_be32(p);
	case 5:
		return (uint64_t)cw_be32(p) << 8 | p[4];
	case 6:
		return (uint64_t)cw_be32(p) << 16 | cw_be16(p + 4);
	case 7:
		return (uint64_t)cw_be32(p) << 24 | cw_be24(p + 4);
	default:
		return cw_be64(p);
	}
}

CW_INLINE void cw_bits_store(uint8_t *p, unsigned octets, uint64_t v)
{
	unsigned i;

	switch (octets) {
	case 1:
		p[0] = (uint8_t)v;
		break;
	case 2:
		cw_put_be16(p, (uint16_t)v);
		break;
	case 4:
		cw_put_be32(p, (uint32_t)v);
		break;
	case 8:
		cw_put_be64(p, v);
		break;
	default:
		for (i = 0; i < octets; i++)
			p[i] = (uint8_t)(v >> 8 * (octets - 1 - i));
	}
}

/* Octets that a field of `width` bits at bit `bit` touches. A field table may hold no integer
 * field that touches more than 8. */
#define CW_BITS_OCTETS(bit, width) (((bit) % 8u + (width) + 7u) / 8u)
#define CW_BITS_MASK(width)        (~(uint64_t)0 >> (64u - (width)))

/* Value of the field of `width` (1..64) bits that begins at bit `bit` of p. */
CW_INLINE uint64_t cw_bits_get(const uint8_t *p, unsigned bit, unsigned width)
{
	unsigned n = CW_BITS_OCTETS(bit, width);

	return cw_bits_load(p + bit / 8, n) >> (8 * n - bit % 8 - width) & CW_BITS_MASK(width);
}

/* Store the low `width` bits of v; the neighbours keep their bits. */
CW_INLINE void cw_bits_set(uint8_t *p, unsigned bit, unsigned width, uint64_t v)
{
	unsigned n = CW_BITS_OCTETS(bit, width), shift = 8 * n - bit % 8 - width;
	uint64_t old = cw_bits_load(p + bit / 8, n);

	old &= ~(CW_BITS_MASK(width) << shift);
	cw_bits_store(p + bit / 8, n, old | (v & CW_BITS_MASK(width)) << shift);
}

/* Are the first n bits the same, as those of a prefix and of an address in it? Octets behind them
 * are not read. */
CW_INLINE bool cw_bits_equal(const uint8_t *a, const uint8_t *b, unsigned n)
{
	unsigned whole = n / 8, rest = n % 8;

	return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

#ifdef __cplusplus
}
#endif
#endif
