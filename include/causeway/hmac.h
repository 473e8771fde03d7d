/* hmac.h - hash functions, and HMAC with them, as routing protocols authenticate their packets.
 * Spec: RFC 1321 (MD5), FIPS 180-4 (SHA), RFC 2104 (HMAC).
 *
 * For messages of some kilobytes on the control path: nothing here is fast. MD5 and SHA-1 are what
 * the protocols ask for, and no good for anything new.
 */
#ifndef CAUSEWAY_HMAC_H
#define CAUSEWAY_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name, octets of the digest, octets of a block) */
#define CW_HASHES(X)                  \
	X(MD5, "md5", 16, 64)         \
	X(SHA1, "sha-1", 20, 64)      \
	X(SHA224, "sha-224", 28, 64)  \
	X(SHA256, "sha-256", 32, 64)  \
	X(SHA384, "sha-384", 48, 128) \
	X(SHA512, "sha-512", 64, 128)

enum cw_hash_kind {
#define CW_X(id, name, size, block) CW_HASH_##id,
	CW_HASHES(CW_X)
#undef CW_X
		CW_NHASHES
};

#define CW_HASH_MAX   64
#define CW_HASH_BLOCK 128

/* A hash that is being computed. */
struct cw_hash {
	enum cw_hash_kind kind;
	uint64_t len; /* octets so far */
	union {
		uint32_t w32[8];
		uint64_t w64[8];
	} state;
	uint8_t block[CW_HASH_BLOCK];
};

/* "sha-256"; "unknown" for a kind that does not exist. */
const char *cw_hash_name(enum cw_hash_kind kind);

/* Octets of a digest: 16 to 64. */
size_t cw_hash_size(enum cw_hash_kind kind);

void cw_hash_begin(struct cw_hash *h, enum cw_hash_kind kind);
void cw_hash_add(struct cw_hash *h, const void *data, size_t len);

/* The digest, cw_hash_size() octets. `h` is used up. */
void cw_hash_end(struct cw_hash *h, uint8_t *digest);

/* HMAC of some pieces in a row, cw_hash_size() octets: nothing has to be copied together where the
 * authentication field lies in the middle. */
struct cw_piece {
	const void *data;
	size_t len;
};
void cw_hmac(enum cw_hash_kind kind, const void *key, size_t key_len, const struct cw_piece *piece,
	     size_t pieces, uint8_t *mac);

/* Compare in a time that does not depend on the octets. */
bool cw_mac_equal(const uint8_t *a, const uint8_t *b, size_t len);

#ifdef __cplusplus
}
#endif
#endif
