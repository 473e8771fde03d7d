/* auth.c - HMAC in TLV 10. Spec: RFC 5304 (MD5), RFC 5310 (SHA). */
#include "lib/isis/internal.h"

enum { TYPE_GENERIC = 3, TYPE_MD5 = 54 };
enum { LIFETIME_AT = 10, CHECKSUM_AT = 24 }; /* of an LSP */

/* Octets of the value in front of the digest. */
static size_t head_size(const struct cw_isis_auth *a)
{
	return a->kind == CW_HASH_MD5 ? 1 : 3;
}

size_t isis_auth_size(const struct cw_isis_auth *a)
{
	return a->on ? 2 + head_size(a) + cw_hash_size(a->kind) : 0;
}

static void put_head(uint8_t head[3], const struct cw_isis_auth *a)
{
	head[0] = a->kind == CW_HASH_MD5 ? TYPE_MD5 : TYPE_GENERIC;
	cw_put_be16(head + 1, a->key_id);
}

void isis_auth_put(struct cw_wr *w, const struct cw_isis_auth *a)
{
	uint8_t head[3];

	if (!a->on)
		return;
	put_head(head, a);
	cw_wr_u8(w, CW_ISIS_TLV_AUTH);
	cw_wr_u8(w, (uint8_t)(isis_auth_size(a) - 2));
	cw_wr_bytes(w, head, head_size(a));
	cw_wr_zero(w, cw_hash_size(a->kind));
}

/* What stands in the digest's place while it is computed: zeros, or RFC 5310 3.3's Apad. */
static void put_filler(uint8_t *filler, const struct cw_isis_auth *a)
{
	static const uint8_t apad[4] = {0x87, 0x8f, 0xe1, 0xf3};
	size_t i, n = cw_hash_size(a->kind);

	for (i = 0; i < n; i++)
		filler[i] = a->kind == CW_HASH_MD5 ? 0 : apad[i % 4];
}

/* RFC 5310 3.3: a key longer than the digest is hashed; HMAC itself hashes later. 0: it can't be.
 */
static size_t make_key(uint8_t *key, const struct cw_isis_auth *a)
{
	if (a->kind == CW_HASH_MD5 || a->key_len <= cw_hash_size(a->kind)) {
		memcpy(key, a->key, a->key_len);
		return a->key_len;
	}
	return a->hasher->digest(a->kind, a->key, a->key_len, key) ? cw_hash_size(a->kind) : 0;
}

/* The digest that belongs at `at`. Lifetime and checksum of an LSP count as zeros (RFC 5304 3). */
static bool digest(const struct cw_isis_auth *a, const uint8_t *pdu, size_t len, size_t at,
		   uint8_t *mac)
{
	static const uint8_t zero[2] = {0};
	uint8_t filler[CW_HASH_MAX], key[CW_ISIS_KEY_MAX];
	size_t behind = at + cw_hash_size(a->kind), n = 0, from = 0, key_len = make_key(key, a);
	uint32_t type = cw_isis_head_type(pdu);
	struct cw_piece piece[7];

	put_filler(filler, a);
	if (type == CW_ISIS_LSP_L1 || type == CW_ISIS_LSP_L2) {
		piece[n++] = (struct cw_piece){pdu, LIFETIME_AT};
		piece[n++] = (struct cw_piece){zero, 2};
		piece[n++] =
			(struct cw_piece){pdu + LIFETIME_AT + 2, CHECKSUM_AT - LIFETIME_AT - 2};
		piece[n++] = (struct cw_piece){zero, 2};
		from = CHECKSUM_AT + 2;
	}
	piece[n++] = (struct cw_piece){pdu + from, at - from};
	piece[n++] = (struct cw_piece){filler, behind - at};
	piece[n++] = (struct cw_piece){pdu + behind, len - behind};
	return key_len > 0 && a->hasher->hmac(a->kind, key, key_len, piece, n, mac);
}

/* Where the digest of the right kind, length and key is; 0: nowhere. */
static size_t find_digest(const struct cw_isis_auth *a, const struct cw_isis_pdu *pdu)
{
	struct cw_rd r = pdu->tlvs;
	struct cw_isis_tlv tlv;
	uint8_t head[3];

	put_head(head, a);
	while (cw_isis_tlv_next(&r, &tlv)) {
		if (tlv.type == CW_ISIS_TLV_AUTH && tlv.len + 2u == isis_auth_size(a) &&
		    memcmp(tlv.value, head, head_size(a)) == 0)
			return (size_t)(tlv.value - pdu->at) + head_size(a);
	}
	return 0;
}

void isis_auth_sign(const struct cw_isis_auth *a, uint8_t *pdu, size_t len)
{
	struct cw_isis_pdu whole;
	size_t at;

	if (!a->on || cw_isis_pdu_parse(&whole, pdu, len) != CW_OK ||
	    (at = find_digest(a, &whole)) == 0)
		return;
	/* Where it fails the zeros stay: the neighbour refuses them and counts. */
	(void)digest(a, pdu, len, at, pdu + at);
}

bool isis_auth_ok(const struct cw_isis_auth *a, const struct cw_isis_pdu *pdu)
{
	uint8_t mac[CW_HASH_MAX];
	size_t at;

	if (!a->on)
		return true;
	if ((at = find_digest(a, pdu)) == 0)
		return false;
	return digest(a, pdu->at, pdu->len, at, mac) &&
	       cw_mac_equal(mac, pdu->at + at, cw_hash_size(a->kind));
}
