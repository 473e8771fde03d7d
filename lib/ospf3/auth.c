/* auth.c - the authentication trailer. Spec: RFC 7166 4. */
#include "lib/ospf3/internal.h"

enum { TYPE_HMAC = 1, LLS_HEAD = 4, ADDRESS = 16 };

size_t ospf3_trailer_size(const struct cw_ospf3 *s)
{
	return s->c.auth.hasher != NULL ? CW_SIZE_OSPF3_TRAILER + cw_hash_size(s->c.auth.kind) : 0;
}

/* RFC 7166 4.5 (1): the key and the protocol ID; hashed if it is longer than the digest. Shorter
 * ones are filled with zeros, as HMAC does itself. */
static bool make_key(const struct cw_ospf3_auth *a, uint8_t *key, size_t *len)
{
	uint8_t whole[CW_OSPF3_KEY_MAX + 2];

	memcpy(whole, a->key, a->key_len);
	cw_put_be16(whole + a->key_len, a->protocol);
	*len = a->key_len + 2;
	if (*len <= cw_hash_size(a->kind)) {
		memcpy(key, whole, *len);
		return true;
	}
	if (!a->hasher->digest(a->kind, whole, *len, key))
		return false;
	*len = cw_hash_size(a->kind);
	return true;
}

/* RFC 7166 4.5 (2): what stands in the digest's place while it is computed. */
static void put_filler(uint8_t *filler, const uint8_t *src, size_t n)
{
	static const uint8_t apad[4] = {0x87, 0x8f, 0xe1, 0xf3};
	size_t i;

	memcpy(filler, src, ADDRESS);
	for (i = ADDRESS; i < n; i++)
		filler[i] = apad[i % 4];
}

/* The digest of a packet and what follows it up to `behind`, the end of the trailer's head. The
 * checksum counts as zero, whatever it is. */
static bool digest(const struct cw_ospf3 *s, const uint8_t *src, const uint8_t *packet,
		   size_t behind, uint8_t *mac)
{
	static const uint8_t zero[2] = {0};
	const struct cw_ospf3_auth *a = &s->c.auth;
	uint8_t filler[CW_HASH_MAX], key[CW_OSPF3_KEY_MAX + 2];
	size_t len = 0, size = cw_hash_size(a->kind);
	const struct cw_piece pieces[] = {
		{packet, 12}, {zero, 2}, {packet + 14, behind - 14}, {filler, size}};

	put_filler(filler, src, size);
	return make_key(a, key, &len) && a->hasher->hmac(a->kind, key, len, pieces, 4, mac);
}

bool ospf3_trailer_put(struct cw_ospf3 *s, uint8_t *packet, size_t len)
{
	uint8_t *t = packet + len;

	memset(t, 0, CW_SIZE_OSPF3_TRAILER);
	cw_ospf3_trailer_set_type(t, TYPE_HMAC);
	cw_ospf3_trailer_set_length(t, (uint32_t)ospf3_trailer_size(s));
	cw_ospf3_trailer_set_sa(t, s->c.auth.sa);
	cw_ospf3_trailer_set_high(t, (uint32_t)(s->crypto >> 32));
	cw_ospf3_trailer_set_low(t, (uint32_t)s->crypto);
	s->crypto++;
	return digest(s, s->c.address, packet, len + CW_SIZE_OSPF3_TRAILER,
		      t + CW_SIZE_OSPF3_TRAILER);
}

/* Options are in hellos and descriptions only. */
static uint32_t options_of(const struct cw_ospf3_packet *p)
{
	if (p->type == CW_OSPF3_HELLO)
		return cw_ospf3_hello_options(p->at);
	return p->type == CW_OSPF3_DD ? cw_ospf3_dd_options(p->at) : CW_OSPF3_OPT_AT;
}

/* The trailer, behind an LLS block if there is one (RFC 5613 2); NULL: there is none of ours. */
static const uint8_t *find_trailer(const struct cw_ospf3 *s, const struct cw_ospf3_packet *p)
{
	uint32_t options = options_of(p);
	struct cw_rd r = p->rest;
	const uint8_t *t;

	if ((options & CW_OSPF3_OPT_AT) == 0)
		return NULL;
	if ((options & CW_OSPF3_OPT_L) != 0 &&
	    (cw_rd_left(&r) < LLS_HEAD || cw_rd_skip(&r, 4u * cw_be16(r.p + 2)) != CW_OK))
		return NULL;
	if (cw_rd_left(&r) != ospf3_trailer_size(s))
		return NULL;
	t = r.p;
	return cw_ospf3_trailer_type(t) == TYPE_HMAC &&
			       cw_ospf3_trailer_length(t) == ospf3_trailer_size(s) &&
			       cw_ospf3_trailer_sa(t) == s->c.auth.sa
		       ? t
		       : NULL;
}

/* RFC 7166 4.1: numbers of a packet type grow. */
static bool is_fresh(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, const uint8_t *t)
{
	uint64_t number = (uint64_t)cw_ospf3_trailer_high(t) << 32 | cw_ospf3_trailer_low(t);
	struct neighbour *n = &s->nbr;

	if (n->state == CW_OSPF3_DOWN || memcmp(cw_ospf3_head_router(p->at), n->router, 4) != 0)
		return true;
	if (number <= n->replay[p->type])
		return false;
	n->replay[p->type] = number;
	return true;
}

int ospf3_trailer_check(struct cw_ospf3 *s, const uint8_t *src, const struct cw_ospf3_packet *p)
{
	const uint8_t *t = find_trailer(s, p);
	size_t size = cw_hash_size(s->c.auth.kind);
	uint8_t mac[CW_HASH_MAX];

	if (t == NULL || !digest(s, src, p->at, (size_t)(t - p->at) + CW_SIZE_OSPF3_TRAILER, mac) ||
	    !cw_mac_equal(mac, t + CW_SIZE_OSPF3_TRAILER, size)) {
		s->n.bad_authentication++;
		return CW_E_FORBIDDEN;
	}
	if (!is_fresh(s, p, t)) {
		s->n.replayed++;
		return CW_E_FORBIDDEN;
	}
	return CW_OK;
}
