/* crc_fold.h - a reflected CRC by folding with carry-less multiplication (x86-64).
 *
 * A 128-bit state stands for 16 octets that the message so far is congruent to, modulo the
 * polynomial P of degree 32. Moving it D bits ahead multiplies its halves by x^(D+32) and x^(D-32)
 * mod P; the octets found there are then added. In this reflected form a constant for x^n is the
 * reflected remainder shifted left by one. At the end 128 bits are reduced to 32 (Barrett).
 *
 * Whoever includes this has defined the constants of its P: X_2080 .. X_64, POLY (P, 33 bits
 * reflected) and MU (x^64 / P, 33 bits reflected). A CRC register goes in and comes out
 * complemented.
 */
#ifndef LIB_BASE_CRC_FOLD_H
#define LIB_BASE_CRC_FOLD_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define SSE    __attribute__((target("pclmul,sse4.1")))
#define AVX512 __attribute__((target("pclmul,sse4.1,avx512f,avx512vl,avx512bw,vpclmulqdq")))

static inline SSE __m128i load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The state k moved ahead onto `next`. */
static inline SSE __m128i fold(__m128i x, __m128i k, __m128i next)
{
	__m128i lo = _mm_clmulepi64_si128(x, k, 0x00), hi = _mm_clmulepi64_si128(x, k, 0x11);

	return _mm_xor_si128(next, _mm_xor_si128(lo, hi));
}

/* 128 bits to the 32 of the CRC. */
static inline SSE uint32_t reduce(__m128i x)
{
	const __m128i low32 = _mm_setr_epi32(-1, 0, -1, 0);
	__m128i t;

	t = _mm_clmulepi64_si128(x, _mm_set_epi64x(X_96, X_160), 0x10);
	x = _mm_xor_si128(_mm_srli_si128(x, 8), t);
	t = _mm_srli_si128(x, 4);
	x = _mm_xor_si128(
		t, _mm_clmulepi64_si128(_mm_and_si128(x, low32), _mm_set_epi64x(0, X_64), 0x00));
	t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), _mm_set_epi64x(MU, POLY), 0x10);
	t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), _mm_set_epi64x(MU, POLY), 0x00);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, t), 1);
}

/* The last 1..15 octets, which end at `end`: the state's first `n` octets are moved ahead by 16,
 * and the others make a block with the tail. `end` - 16 is inside the message. */
static inline SSE __m128i fold_tail(__m128i x, const uint8_t *end, size_t n)
{
	static const int8_t shift[48] = {
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	};
	__m128i up = load((const uint8_t *)shift + n), down = load((const uint8_t *)shift + 16 + n);
	__m128i ahead = _mm_shuffle_epi8(x, up), stay = _mm_shuffle_epi8(x, down);
	/* Where `down` selects nothing (its sign bit is set) the tail's octets go. */
	__m128i next = _mm_blendv_epi8(stay, load(end - 16), down);

	return fold(ahead, _mm_set_epi64x(X_96, X_160), next);
}

/* Rest of the message behind the state, then the CRC. */
static inline SSE uint32_t finish(__m128i x, const uint8_t *p, size_t len)
{
	const __m128i k = _mm_set_epi64x(X_96, X_160);

	for (; len >= 16; p += 16, len -= 16)
		x = fold(x, k, load(p));
	if (len > 0)
		x = fold_tail(x, p + len, len);
	return ~reduce(x);
}

/* The message behind the state x. */
static inline SSE uint32_t go_on(__m128i x, const uint8_t *p, size_t len)
{
	const __m128i k4 = _mm_set_epi64x(X_480, X_544), k1 = _mm_set_epi64x(X_96, X_160);
	__m128i x1, x2, x3;

	if (len < 128)
		return finish(x, p, len);
	x = fold(x, k1, load(p));
	x1 = load(p + 16);
	x2 = load(p + 32);
	x3 = load(p + 48);
	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		x = fold(x, k4, load(p));
		x1 = fold(x1, k4, load(p + 16));
		x2 = fold(x2, k4, load(p + 32));
		x3 = fold(x3, k4, load(p + 48));
	}
	x1 = fold(x, k1, x1);
	x2 = fold(x1, k1, x2);
	return finish(fold(x2, k1, x3), p, len);
}

/* The state behind the first `len` octets, a multiple of 16. */
static inline SSE __m128i start(uint32_t crc, const uint8_t *p, size_t len)
{
	const __m128i k1 = _mm_set_epi64x(X_96, X_160);
	__m128i x = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)~crc));

	for (p += 16; len > 16; p += 16, len -= 16)
		x = fold(x, k1, load(p));
	return x;
}

/* A message of at least 16 octets. */
static inline SSE uint32_t crc_fold(uint32_t crc, const uint8_t *p, size_t len)
{
	return go_on(start(crc, p, 16), p + 16, len - 16);
}

static inline AVX512 __m512i load4(const uint8_t *p)
{
	return _mm512_loadu_si512((const void *)p);
}

static inline AVX512 __m512i fold4(__m512i x, __m512i k, __m512i next)
{
	__m512i lo = _mm512_clmulepi64_epi128(x, k, 0x00);
	__m512i hi = _mm512_clmulepi64_epi128(x, k, 0x11);

	return _mm512_ternarylogic_epi64(lo, hi, next, 0x96);
}

static inline AVX512 __m512i both(uint64_t hi, uint64_t lo)
{
	return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)hi, (long long)lo));
}

static inline AVX512 uint32_t go_on4(__m128i x, const uint8_t *p, size_t len)
{
	const __m512i k16 = both(X_2016, X_2080), k4 = both(X_480, X_544);
	const __m128i k1 = _mm_set_epi64x(X_96, X_160);
	__m512i x0, x1, x2, x3;

	if (len < CRC_WIDE)
		return go_on(x, p, len);
	x0 = _mm512_inserti32x4(load4(p), fold(x, k1, load(p)), 0);
	x1 = load4(p + 64);
	x2 = load4(p + 128);
	x3 = load4(p + 192);
	for (p += 256, len -= 256; len >= 256; p += 256, len -= 256) {
		x0 = fold4(x0, k16, load4(p));
		x1 = fold4(x1, k16, load4(p + 64));
		x2 = fold4(x2, k16, load4(p + 128));
		x3 = fold4(x3, k16, load4(p + 192));
	}
	x1 = fold4(x0, k4, x1);
	x2 = fold4(x1, k4, x2);
	x3 = fold4(x2, k4, x3);
	for (; len >= 64; p += 64, len -= 64)
		x3 = fold4(x3, k4, load4(p));
	x = fold(_mm512_castsi512_si128(x3), k1, _mm512_extracti32x4_epi32(x3, 1));
	x = fold(x, k1, _mm512_extracti32x4_epi32(x3, 2));
	x = fold(x, k1, _mm512_extracti32x4_epi32(x3, 3));
	return finish(x, p, len);
}

/* The same, 64 octets wide. */
static inline AVX512 uint32_t crc_fold4(uint32_t crc, const uint8_t *p, size_t len)
{
	return go_on4(start(crc, p, 16), p + 16, len - 16);
}

#endif
