/* hmac: OpenSSL's hashes through struct cw_hasher, against values of Python's hashlib and hmac. */
#include "causeway/hmac.h"
#include "daemon/control/hasher.h"
#include "tests/unit/test.h"

static uint8_t data[200]; /* octet i is 37 i + 11 */
static const size_t key_len[] = {0, 1, 64, 65, 129};

/* The digest of the data; its HMACs with the first key_len[] octets of it as the key. */
// clang-format off
static const struct {
	enum cw_hash_kind kind;
	const char *hex[1 + sizeof(key_len) / sizeof(key_len[0])];
} vectors[] = {
	{CW_HASH_MD5,
	 {"f9914cd8b67085ceb02d1eba3ff2dc0c",
	  "ddac853f6c2206317e1b75812af7f60c",
	  "3833104a285bfa41c08c780765abed02",
	  "f27a5abcc457401a504453dc6e5cc489",
	  "1bf7ab305882558f6ab502f3b85ce768",
	  "e09f64f33f5992ec7494252c0c9b97b8"}},
	{CW_HASH_SHA1,
	 {"588cf108f067a9951c1d42248e0c3a6e49afe002",
	  "dbb61ad9a0215d622da93c3ce4055646058e2fa8",
	  "3ebcdeef8443fc98a30f6f547f473708a586cd2b",
	  "782f67283c0aded81b29205ca708369277ac32cc",
	  "bce1a919f4c1ca2fdc5d5c77beb1f4e81c55743f",
	  "f7241b9aa0a29c19bc447d1f22352e8696acbbab"}},
	{CW_HASH_SHA224,
	 {"a034129520b4431d4ebcee8ee95c2a7a29403edb772e3c78bcc8a770",
	  "99350888c3ede61c3035d7ee3707ef9b316b1a7a95ee0e1256b8d90a",
	  "42c8f65f425dc28eee05ccff54f1b34bd16cbf09d6fc8286fc4aba74",
	  "d34fdef36dbce0fb2e1ba7b9547578efc930a2720bdf97833e6a321a",
	  "048210e24864ab5d48b9bc8cdd33ca5e1c0f624d04a58c6efd378d84",
	  "9a1ce0b75cf05b893d3b8ab858122edab164d56334c8f744b3d777b0"}},
	{CW_HASH_SHA256,
	 {"5e48d64839a8bff5e2471507af6a49f9990817df437857f4a2007df41266e1b5",
	  "12c63405bb37b73589187767d2ea18ecb8b176dd29f85569d0da401305141426",
	  "1a37237dcd44efd3197fe334b022129c9ba727ad8969e0e243d53a6509d979bc",
	  "1f0306d2cd5dac7d9d227b9a1f413e49da1dccfb1756fb62bce728a5fd253b67",
	  "db67a9979c36dbbb5f9af2c852f41fbe13d43617da177796362b70ce7fd0a20a",
	  "071122379492ea82ae65283d386ea3b00f01bf75497ce4410bbcd6a6bd030c4b"}},
	{CW_HASH_SHA384,
	 {"84bb0a5a3e514c5864330680d458efab2c5658db7fb13e0e795dd1f1e5900362d38aeda42330757fd16387f7840637ad",
	  "e37df6005675cc67d5a630a752fef4b98c08e37fa6aaa0d60cc4230756aea388671b35d6db37654042f262791f29a161",
	  "83b82cd1cee0dcb056e4f0bebe464d010da48ecd05687877540168db658f173272324580e0cc26f2a967f7f870210acb",
	  "28766238dc37da5b622d4ba42c1a42f18b35055de1b3d6d4d8d5aabbad7237c0d8f2968b6ebace712b7a98bffea9458b",
	  "7dfb9e6f16a6f45e2b927a652ece768f66325349e538f56c784ff276474a845943974b98c6ec2db841154c052496dd5c",
	  "d68e5acd5268766ee880ed7b0cc74fd902e67651517aaf412b61ceffecacfc441da66278359e486a52bfb0c3552ff67d"}},
	{CW_HASH_SHA512,
	 {"e7b33b6b94b9b5e03e34a445c198d1a3a5620d999e75ad72064c804477a91745cf6bf8a53c18b37eee5697aca1d539fcd93a594cd004242f3fd26cf468762a38",
	  "980d6ca02cd5326245d898a56cc5529b52f1933e01ebc777cba919a987194bceb7196f809f793ed6b7cc47dfa58cdb67831198f5af0ab5c83acb52c8178e7a01",
	  "4afcbda1218ab7aaf5a70d9da5af74460a55b0b7f051e69977bb88f97c90ee8a24f58b90080d2dad37eb2fb54d3138e57bcfa59fd88073554785fb05f0db85eb",
	  "b859fb161570e021c0d6d474821115f4967ae9a368521f139fb14232827ca66cf539c3816d6b97b6b1645074e91ab90fda580a2fc7cbe7928ec6a7f115eadd1b",
	  "bec03372720c2e8bf75f93886b92d336b50bb1839a37f8c42d0989e98553692ee367d2884a3413beb0bd26043a713f915a16f321d3a5550c1a0fcbbcf43218c0",
	  "48d7221904c96b8ccec93f7ffee9dfd74c84c5bb93d83cb1e54fbd140d2d1efdac8ae81bd1d86603691329be3ef9d447fb2deb05ad4374c89a4e36c44fd0ea56"}},
};
// clang-format on

static void same(const uint8_t *got, const char *hex, enum cw_hash_kind kind)
{
	char text[2 * CW_HASH_MAX + 1];
	size_t i;

	for (i = 0; i < cw_hash_size(kind); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", got[i]);
	assert_string_equal(text, hex);
}

static void vectors_of_hashlib(void **state)
{
	const struct cw_piece piece[] = {{data, 77}, {data + 77, 0}, {data + 77, 123}};
	uint8_t got[CW_HASH_MAX];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		enum cw_hash_kind kind = vectors[i].kind;

		assert_true(cw_openssl_hasher.digest(kind, data, sizeof(data), got));
		same(got, vectors[i].hex[0], kind);
		for (k = 0; k < sizeof(key_len) / sizeof(key_len[0]); k++) {
			assert_true(cw_openssl_hasher.hmac(kind, data, key_len[k], piece, 3, got));
			same(got, vectors[i].hex[1 + k], kind);
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
		cmocka_unit_test(vectors_of_hashlib),
		cmocka_unit_test(names_and_comparison),
	};
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(37 * i + 11);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
