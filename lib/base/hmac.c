/* hmac.c - MD5, SHA-1, SHA-2 and HMAC.
 * Spec: RFC 1321, FIPS 180-4, RFC 2104. */
#include <string.h>
#include "causeway/bits.h"
#include "causeway/hmac.h"

// clang-format off
/* RFC 1321 3.4: the sines of 1 to 64. */
static const uint32_t sine[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
	0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
	0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
	0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
	0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
	0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
	0xeb86d391,
};
/* FIPS 180-4 4.2.3: cube roots of the first 80 primes. SHA-256 uses their upper halves. */
static const uint64_t root[80] = {
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};
// clang-format on

struct kind {
	const char *name;
	uint8_t size, block;
	bool little, wide; /* least significant octet first; words of 64 bits */
	uint64_t start[8];
	void (*compress)(struct cw_hash *h, const uint8_t *block);
};

static uint32_t left(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static uint32_t right(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

static uint64_t right64(uint64_t v, unsigned n)
{
	return v >> n | v << (64 - n);
}

/* ---- MD5 ----------------------------------------------------------------------------------- */

/* The round's function of b, c and d, and which word it takes. */
static uint32_t md5_mix(unsigned i, const uint32_t *s, unsigned *word)
{
	uint32_t b = s[1], c = s[2], d = s[3];

	switch (i / 16) {
	case 0:
		*word = i;
		return (b & c) | (~b & d);
	case 1:
		*word = (5 * i + 1) % 16;
		return (d & b) | (~d & c);
	case 2:
		*word = (3 * i + 5) % 16;
		return b ^ c ^ d;
	default:
		*word = 7 * i % 16;
		return c ^ (b | ~d);
	}
}

static void md5(struct cw_hash *h, const uint8_t *block)
{
	static const uint8_t shift[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
	uint32_t s[4], f;
	unsigned i, word;

	memcpy(s, h->state.w32, sizeof(s));
	for (i = 0; i < 64; i++) {
		f = md5_mix(i, s, &word) + s[0] + sine[i] + cw_le32(block + (size_t)4 * word);
		s[0] = s[3];
		s[3] = s[2];
		s[2] = s[1];
		s[1] += left(f, shift[i / 16][i % 4]);
	}
	for (i = 0; i < 4; i++)
		h->state.w32[i] += s[i];
}

/* ---- SHA ----------------------------------------------------------------------------------- */

static uint32_t sha1_mix(unsigned i, const uint32_t *s, uint32_t *constant)
{
	static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

	*constant = k[i / 20];
	if (i < 20)
		return (s[1] & s[2]) | (~s[1] & s[3]);
	if (i / 20 == 2)
		return (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3]);
	return s[1] ^ s[2] ^ s[3];
}

static void sha1(struct cw_hash *h, const uint8_t *block)
{
	uint32_t s[5], w[80], f, k;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = cw_be32(block + (size_t)4 * i);
	for (; i < 80; i++)
		w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(s, h->state.w32, sizeof(s));
	for (i = 0; i < 80; i++) {
		f = sha1_mix(i, s, &k) + left(s[0], 5) + s[4] + k + w[i];
		s[4] = s[3];
		s[3] = s[2];
		s[2] = left(s[1], 30);
		s[1] = s[0];
		s[0] = f;
	}
	for (i = 0; i < 5; i++)
		h->state.w32[i] += s[i];
}

static void sha256(struct cw_hash *h, const uint8_t *block)
{
	uint32_t s[8], w[64], a, e;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = cw_be32(block + (size_t)4 * i);
	for (; i < 64; i++) {
		a = right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3;
		e = right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + a + w[i - 7] + e;
	}
	memcpy(s, h->state.w32, sizeof(s));
	for (i = 0; i < 64; i++) {
		e = right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25);
		e += s[7] + ((s[4] & s[5]) ^ (~s[4] & s[6])) + (uint32_t)(root[i] >> 32) + w[i];
		a = right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22);
		a += (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += e;
		s[0] = e + a;
	}
	for (i = 0; i < 8; i++)
		h->state.w32[i] += s[i];
}

static void sha512(struct cw_hash *h, const uint8_t *block)
{
	uint64_t s[8], w[80], a, e;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = cw_be64(block + (size_t)8 * i);
	for (; i < 80; i++) {
		a = right64(w[i - 15], 1) ^ right64(w[i - 15], 8) ^ w[i - 15] >> 7;
		e = right64(w[i - 2], 19) ^ right64(w[i - 2], 61) ^ w[i - 2] >> 6;
		w[i] = w[i - 16] + a + w[i - 7] + e;
	}
	memcpy(s, h->state.w64, sizeof(s));
	for (i = 0; i < 80; i++) {
		e = right64(s[4], 14) ^ right64(s[4], 18) ^ right64(s[4], 41);
		e += s[7] + ((s[4] & s[5]) ^ (~s[4] & s[6])) + root[i] + w[i];
		a = right64(s[0], 28) ^ right64(s[0], 34) ^ right64(s[0], 39);
		a += (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += e;
		s[0] = e + a;
	}
	for (i = 0; i < 8; i++)
		h->state.w64[i] += s[i];
}

/* ---- Any of them --------------------------------------------------------------------------- */

// clang-format off
#define START_MD5    0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476
#define START_SHA1   START_MD5, 0xc3d2e1f0
#define START_SHA224 \
	0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, \
	0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4
#define START_SHA256 \
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, \
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
#define START_SHA384 \
	0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939, \
	0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4
#define START_SHA512 \
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, \
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179
// clang-format on
#define compress_MD5    md5
#define compress_SHA1   sha1
#define compress_SHA224 sha256
#define compress_SHA256 sha256
#define compress_SHA384 sha512
#define compress_SHA512 sha512

static const struct kind kinds[] = {
#define CW_X(id, name, size, block) \
	{name, size, block, CW_HASH_##id == CW_HASH_MD5, block == 128, {START_##id}, compress_##id},
	CW_HASHES(CW_X)
#undef CW_X
};

const char *cw_hash_name(enum cw_hash_kind kind)
{
	return (unsigned)kind < CW_NHASHES ? kinds[kind].name : "unknown";
}

size_t cw_hash_size(enum cw_hash_kind kind)
{
	return kinds[kind].size;
}

void cw_hash_begin(struct cw_hash *h, enum cw_hash_kind kind)
{
	unsigned i;

	*h = (struct cw_hash){.kind = kind};
	for (i = 0; i < 8; i++) {
		if (kinds[kind].wide)
			h->state.w64[i] = kinds[kind].start[i];
		else
			h->state.w32[i] = (uint32_t)kinds[kind].start[i];
	}
}

void cw_hash_add(struct cw_hash *h, const void *data, size_t len)
{
	const struct kind *k = &kinds[h->kind];
	const uint8_t *p = data;

	while (len > 0) {
		size_t at = h->len % k->block, n = k->block - at < len ? k->block - at : len;

		memcpy(h->block + at, p, n);
		h->len += n;
		p += n;
		len -= n;
		if (h->len % k->block == 0)
			k->compress(h, h->block);
	}
}

/* A one bit, zeros, and the number of bits at the end of a block. */
static void pad(struct cw_hash *h)
{
	const struct kind *k = &kinds[h->kind];
	uint64_t bits = h->len * 8;
	size_t room = k->block - k->block / 8u, at = h->len % k->block;
	uint8_t tail[2 * CW_HASH_BLOCK] = {0x80};
	size_t n = (at < room ? room - at : room + k->block - at) + k->block / 8u;

	if (k->little) {
		cw_put_le32(tail + n - 8, (uint32_t)bits);
		cw_put_le32(tail + n - 4, (uint32_t)(bits >> 32));
	} else {
		cw_put_be64(tail + n - 8, bits);
	}
	cw_hash_add(h, tail, n);
}

void cw_hash_end(struct cw_hash *h, uint8_t *digest)
{
	const struct kind *k = &kinds[h->kind];
	uint8_t all[CW_HASH_MAX];
	unsigned i;

	pad(h);
	for (i = 0; i < 8; i++) {
		if (k->wide)
			cw_put_be64(all + (size_t)8 * i, h->state.w64[i]);
		else if (k->little)
			cw_put_le32(all + (size_t)4 * i, h->state.w32[i]);
		else
			cw_put_be32(all + (size_t)4 * i, h->state.w32[i]);
	}
	memcpy(digest, all, k->size);
}

/* ---- HMAC ---------------------------------------------------------------------------------- */

static void begin_keyed(struct cw_hash *h, enum cw_hash_kind kind, const uint8_t *key, uint8_t mask)
{
	uint8_t block[CW_HASH_BLOCK];
	unsigned i;

	for (i = 0; i < kinds[kind].block; i++)
		block[i] = key[i] ^ mask;
	cw_hash_begin(h, kind);
	cw_hash_add(h, block, kinds[kind].block);
}

void cw_hmac(enum cw_hash_kind kind, const void *key, size_t key_len, const struct cw_piece *piece,
	     size_t pieces, uint8_t *mac)
{
	uint8_t block[CW_HASH_BLOCK] = {0};
	struct cw_hash h;
	size_t i;

	if (key_len > kinds[kind].block) {
		cw_hash_begin(&h, kind);
		cw_hash_add(&h, key, key_len);
		cw_hash_end(&h, block);
	} else if (key_len > 0) {
		memcpy(block, key, key_len);
	}
	begin_keyed(&h, kind, block, 0x36);
	for (i = 0; i < pieces; i++)
		cw_hash_add(&h, piece[i].data, piece[i].len);
	cw_hash_end(&h, mac);
	begin_keyed(&h, kind, block, 0x5c);
	cw_hash_add(&h, mac, kinds[kind].size);
	cw_hash_end(&h, mac);
}

bool cw_mac_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differ = 0;

	while (len-- > 0)
		differ |= (uint8_t)(*a++ ^ *b++);
	return differ == 0;
}
