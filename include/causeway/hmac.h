/* hmac.h - keyed hashes, as routing protocols authenticate their packets.
 * Spec: RFC 2104 (HMAC), RFC 5304 and 5310 (IS-IS), RFC 7166 (OSPFv3).
 *
 * The library needs no more than libc, and cryptography is not its trade: whoever authenticates
 * hands in a cw_hasher. That of causewayd asks OpenSSL (daemon/control/hasher.h).
 */
#ifndef CAUSEWAY_HMAC_H
#define CAUSEWAY_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name, octets of the digest). MD5 and SHA-1 are what the protocols ask for, and no good
 * for anything new. */
#define CW_HASHES(X)             \
	X(MD5, "md5", 16)        \
	X(SHA1, "sha-1", 20)     \
	X(SHA224, "sha-224", 28) \
	X(SHA256, "sha-256", 32) \
	X(SHA384, "sha-384", 48) \
	X(SHA512, "sha-512", 64)

enum cw_hash_kind {
#define CW_X(id, name, size) CW_HASH_##id,
	CW_HASHES(CW_X)
#undef CW_X
		CW_NHASHES
};

#define CW_HASH_MAX 64 /* octets of the longest digest */

/* "sha-256"; "unknown" for a kind that does not exist. */
const char *cw_hash_name(enum cw_hash_kind kind);

/* Octets of a digest: 16 to 64. */
size_t cw_hash_size(enum cw_hash_kind kind);

/* Octets in a row: nothing has to be copied together where the authentication field lies in the
 * middle. */
struct cw_piece {
	const void *data;
	size_t len;
};

/* Both write cw_hash_size() octets. False, and nothing written: this kind can't be computed here
 * (MD5 under FIPS), or there is no memory. */
struct cw_hasher {
	bool (*digest)(enum cw_hash_kind kind, const void *data, size_t len, uint8_t *out);
	bool (*hmac)(enum cw_hash_kind kind, const void *key, size_t key_len,
		     const struct cw_piece *piece, size_t pieces, uint8_t *mac);
};

/* Compare in a time that does not depend on the octets. */
bool cw_mac_equal(const uint8_t *a, const uint8_t *b, size_t len);

#ifdef __cplusplus
}
#endif
#endif
