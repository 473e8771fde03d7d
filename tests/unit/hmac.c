/* hmac: digests against OpenSSL's, at all lengths around a block, in pieces and at once; keys
 * shorter and longer than a block. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "causeway/hmac.h"
#include "tests/unit/test.h"

static const EVP_MD *openssl(enum cw_hash_kind k)
{
	const EVP_MD *md[CW_NHASHES] = {EVP_md5(),    EVP_sha1(),   EVP_sha224(),
					EVP_sha256(), EVP_sha384(), EVP_sha512()};

	return md[k];
}

static void fill(uint8_t *p, size_t n)
{
	uint32_t s = 12345;

	for (; n > 0; n--) {
		s = s * 1664525u + 1013904223u;
		*p++ = (uint8_t)(s >> 24);
	}
}

static void each_length(enum cw_hash_kind k)
{
	uint8_t data[300], got[CW_HASH_MAX], want[CW_HASH_MAX];
	struct cw_hash h;
	size_t n, cut;

	fill(data, sizeof(data));
	for (n = 0; n <= sizeof(data); n++) {
		for (cut = 0; cut <= n; cut += n / 3 + 1) {
			uint8_t *a = exact_copy(data, cut), *b = exact_copy(data + cut, n - cut);

			cw_hash_begin(&h, k);
			cw_hash_add(&h, a, cut);
			cw_hash_add(&h, b, n - cut);
			cw_hash_end(&h, got);
			assert_int_equal(EVP_Digest(data, n, want, NULL, openssl(k), NULL), 1);
			assert_memory_equal(got, want, cw_hash_size(k));
			free(a);
			free(b);
		}
	}
}

static void digests_are_openssls(void **state)
{
	unsigned k;

	(void)state;
	for (k = 0; k < CW_NHASHES; k++)
		each_length((enum cw_hash_kind)k);
}

static void hmacs_are_openssls(void **state)
{
	static const size_t keys[] = {0, 1, 63, 64, 65, 127, 128, 129, 200};
	uint8_t data[200], key[200], got[CW_HASH_MAX], want[CW_HASH_MAX];
	const struct cw_piece piece[] = {{data, 77}, {data + 77, 0}, {data + 77, 123}};
	unsigned k, i, len;

	(void)state;
	fill(data, sizeof(data));
	fill(key, sizeof(key));
	for (k = 0; k < CW_NHASHES; k++) {
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			cw_hmac((enum cw_hash_kind)k, key, keys[i], piece, 3, got);
			assert_non_null(HMAC(openssl((enum cw_hash_kind)k), key, (int)keys[i], data,
					     sizeof(data), want, &len));
			assert_int_equal(len, cw_hash_size((enum cw_hash_kind)k));
			assert_memory_equal(got, want, len);
		}
	}
}

static void names_and_comparison(void **state)
{
	static const uint8_t a[3] = {1, 2, 3}, b[3] = {1, 2, 4}, c[3] = {9, 2, 3};

	(void)state;
	assert_string_equal(cw_hash_name(CW_HASH_MD5), "md5");
	assert_string_equal(cw_hash_name(CW_HASH_SHA512), "sha-512");
	assert_string_equal(cw_hash_name(CW_NHASHES), "unknown");
	assert_true(cw_mac_equal(a, a, 3));
	assert_false(cw_mac_equal(a, b, 3));
	assert_false(cw_mac_equal(a, c, 3));
	assert_true(cw_mac_equal(a, b, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_openssls),
		cmocka_unit_test(hmacs_are_openssls),
		cmocka_unit_test(names_and_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
