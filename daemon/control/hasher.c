/* hasher.c - OpenSSL's hashes for the library's protocols. */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include "daemon/control/hasher.h"

static const char *const names[CW_NHASHES] = {
	[CW_HASH_MD5] = "MD5",       [CW_HASH_SHA1] = "SHA1",     [CW_HASH_SHA224] = "SHA224",
	[CW_HASH_SHA256] = "SHA256", [CW_HASH_SHA384] = "SHA384", [CW_HASH_SHA512] = "SHA512",
};

static bool digest(enum cw_hash_kind kind, const void *data, size_t len, uint8_t *out)
{
	return EVP_Q_digest(NULL, names[kind], NULL, data, len, out, NULL) == 1;
}

static bool feed(EVP_MAC_CTX *ctx, enum cw_hash_kind kind, const void *key, size_t key_len,
		 const struct cw_piece *piece, size_t pieces, uint8_t *mac)
{
	char name[8];
	size_t len = OPENSSL_strlcpy(name, names[kind], sizeof(name)), i, n;
	OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, len),
				OSSL_PARAM_construct_end()};

	/* Without a key OpenSSL would take the one before: there is none. */
	if (EVP_MAC_init(ctx, key_len > 0 ? key : "", key_len, params) != 1)
		return false;
	for (i = 0; i < pieces; i++) {
		if (EVP_MAC_update(ctx, piece[i].data, piece[i].len) != 1)
			return false;
	}
	return EVP_MAC_final(ctx, mac, &n, cw_hash_size(kind)) == 1;
}

static bool hmac(enum cw_hash_kind kind, const void *key, size_t key_len,
		 const struct cw_piece *piece, size_t pieces, uint8_t *mac)
{
	EVP_MAC *m = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = m != NULL ? EVP_MAC_CTX_new(m) : NULL;
	bool done = ctx != NULL && feed(ctx, kind, key, key_len, piece, pieces, mac);

	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(m);
	return done;
}

const struct cw_hasher cw_openssl_hasher = {digest, hmac};
