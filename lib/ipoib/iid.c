/* iid.c - stable interface identifiers (RFC 7217, RFC 8064) by SipHash-2-4. */
#include <string.h>
#include "causeway/bits.h"
#include "causeway/ipoib.h"

static uint64_t le64(const uint8_t *p)
{
	return (uint64_t)cw_le32(p) | (uint64_t)cw_le32(p + 4) << 32;
}

static uint64_t rotl(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] = rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] = rotl(v[2], 32);
	}
}

static void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t cw_siphash(const uint8_t key[16], const void *data, size_t len)
{
	uint64_t v[4] = {le64(key) ^ 0x736f6d6570736575u, le64(key + 8) ^ 0x646f72616e646f6du,
			 le64(key) ^ 0x6c7967656e657261u, le64(key + 8) ^ 0x7465646279746573u};
	const uint8_t *p = data;
	uint8_t last[8] = {0};
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8)
		absorb(v, le64(p));
	if (left > 0)
		memcpy(last, p, left);
	last[7] = (uint8_t)len;
	absorb(v, le64(last));
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void cw_ipoib_iid_stable(uint8_t iid[8], const uint8_t prefix[8], const uint8_t guid[8],
			 uint16_t pkey, uint8_t dad, const uint8_t secret[16])
{
	static const uint8_t zero[8];
	uint8_t in[19];

	memcpy(in, prefix, 8);
	memcpy(in + 8, guid, 8);
	cw_put_be16(in + 16, pkey);
	/* Identifiers that RFC 5453 reserves (all zeros, fd ff .. ff 80 and up) are tried again. */
	do {
		in[18] = dad++;
		cw_put_be64(iid, cw_siphash(secret, in, sizeof(in)));
	} while (memcmp(iid, zero, 8) == 0 || (cw_be64(iid) | 0x7f) == 0xfdffffffffffffffu);
}
