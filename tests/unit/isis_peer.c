/* isis_peer: the IS-IS leaf beside a router whose PDUs are octets here: captured from isisd (FRR
 * 8.4.4), or written by hand, as a network behind that router might send them. */
#include "causeway/isis.h"
#include "daemon/control/hasher.h"
#include "tests/unit/test.h"

/* Captured: isisd in three-way state Initializing, who knows 0000.0000.0001 on circuit 2. Behind it
 * is padding: five TLVs of 255 octets and one of 102. The second one has the password "secret". */
#define HELLO                                                             \
	"831401001101000002000000000101000305d900 8102cc8e 010403490001 " \
	"f00f010000000000000000000100"                                    \
	"000002 84040a0a0002 e810fe8000000000000000cb2ffffed82277 "       \
	"e910fd100000000000000000000000000002"
#define HELLO_MD5                                                                          \
	"831401001101000002000000000101000305d900 0a11361269de549ffc287411187eb52c9df760 " \
	"8102cc8e "                                                                        \
	"010403490001 f00f010000000000000000000100000002 84040a0a0002 "                    \
	"e810fe8000000000000000cb2ffffed82277 e910fd100000000000000000000000000002"
#define CSNP                                                                                       \
	"83210100190100000083000000000101000000000000000000ffffffffffffffff096004a800000000000100" \
	"0000"                                                                                     \
	"000002a61204a90000000000020000000000025e88046d000000000101000000000003fe5004890000000001" \
	"0200"                                                                                     \
	"0000000003073d047a000000000103000000000002122804830000000001040000000000035dd4"
#define CSNP_MD5                                                                                   \
	"83210100190100000096000000000101000000000000000000ffffffffffffffff0a113664ed1360227b8b50" \
	"e5b0"                                                                                     \
	"e25b82c6dbd8096004a8000000000001000000000002fb6804a90000000000020000000000025a3304960000" \
	"0000"                                                                                     \
	"0101000000000003d1810491000000000102000000000002f3fd046a00000000010300000000000375db04a8" \
	"0000"                                                                                     \
	"000001040000000000044e09"
#define LSP                                                                                        \
	"831b0100140100000079047a0000000001010000000000026204038102cc8e01040349000189026931f2050a" \
	"0b00"                                                                                     \
	"010086040a0b0001160b0000000001020000000a0084040a0b000187100000000a180a0a000000000a180a0b" \
	"00ec"                                                                                     \
	"1c0000000a0040fd100000000000000000000a0040fd11000000000000"
#define LSP_MD5                                                                                    \
	"831b010014010000008c04a4000000000101000000000002ea63030a1136e06cdf065c19ea4fa3dc5d0628e7" \
	"b43b"                                                                                     \
	"8102cc8e01040349000189026931f2050a0b00010086040a0b0001160b0000000001020000000a0084040a0b" \
	"0001"                                                                                     \
	"87100000000a180a0a000000000a180a0b00ec1c0000000a0040fd100000000000000000000a0040fd110000" \
	"0000"                                                                                     \
	"0000"
#define PSNP "831101001b010000002300000000010100091004af0000000000010000000000016383"
#define PSNP_MD5                                                                                   \
	"831101001b0100000036000000000101000a11369e984aa2f01260d55a84b15afff2327b091004af00000000" \
	"0001"                                                                                     \
	"000000000001153d"

struct peer {
	struct cw_isis *m;
	uint64_t now;
};

/* ---- The router's side --------------------------------------------------------------------- */

static uint8_t *padded(const char *hex, size_t *len)
{
	uint8_t *pdu = hex_block(hex, len);
	size_t n;

	pdu = realloc(pdu, 1497);
	while (*len < 1497) {
		n = 1497 - *len - 2 < 255 ? 1497 - *len - 2 : 255;
		pdu[(*len)++] = CW_ISIS_TLV_PADDING;
		pdu[(*len)++] = (uint8_t)n;
		memset(pdu + *len, 0, n);
		*len += n;
	}
	return pdu;
}

static int feed(struct peer *p, const uint8_t *pdu, size_t len)
{
	uint8_t *exact = exact_copy(pdu, len);
	int err = cw_isis_input(p->m, exact, len, p->now);

	free(exact);
	return err;
}

static int feed_hex(struct peer *p, const char *hex)
{
	size_t len;
	uint8_t *pdu = hex_block(hex, &len);
	int err = feed(p, pdu, len);

	free(pdu);
	return err;
}

static int feed_hello(struct peer *p, const char *hex, uint8_t levels)
{
	size_t len;
	uint8_t *pdu = padded(hex, &len);
	int err;

	pdu[8] = levels;
	err = feed(p, pdu, len);
	free(pdu);
	return err;
}

/* Let time pass, with hellos; throw away what is to be sent. */
static void settle(struct peer *p)
{
	uint8_t pdu[CW_ISIS_PDU_MAX];
	unsigned i;

	for (i = 0; i < 40; i++) {
		p->now += 50;
		(void)cw_isis_tick(p->m, p->now);
		while (cw_isis_pull(p->m, pdu, sizeof(pdu), p->now) > 0)
			;
	}
}

static struct cw_isis_config config(uint8_t levels)
{
	struct cw_isis_config c = CW_ISIS_CONFIG;

	c.system[5] = 1;
	memcpy(c.area, "\x49\x00\x01", 3);
	c.area_len = 3;
	c.circuit = 2;
	c.levels = levels;
	return c;
}

static struct peer *peer_of(const struct cw_isis_config *c)
{
	struct peer *p = calloc(1, sizeof(*p));

	p->now = 1000;
	assert_int_equal(cw_isis_new(&p->m, c, p->now), CW_OK);
	return p;
}

/* With an adjacency to system 0101 that lasts. */
static struct peer *peer_new(const struct cw_isis_config *c)
{
	struct peer *p = peer_of(c);
	struct cw_isis_info info;
	size_t len;
	uint8_t *pdu = padded(HELLO, &len);

	pdu[8] = c->levels;
	cw_isis_hello_set_hold(pdu, 60000);
	assert_int_equal(feed(p, pdu, len), CW_OK);
	free(pdu);
	cw_isis_info(p->m, &info);
	assert_int_equal(info.state, CW_ISIS_UP);
	assert_int_equal(info.levels, c->levels);
	return p;
}

static void peer_free(struct peer *p)
{
	cw_isis_free(p->m);
	free(p);
}

/* An LSP of system 0000.0000.01xx; `id`: xx, pseudonode, fragment. */
struct made {
	uint8_t level, id[3];
	uint32_t sequence;
	bool overload;
};

static int feed_lsp(struct peer *p, struct made m, const char *tlvs)
{
	size_t n;
	uint8_t *value = hex_block(tlvs, &n), *pdu = calloc(1, CW_SIZE_ISIS_LSP + n);
	int err;

	cw_isis_head_put(pdu, m.level == 1 ? CW_ISIS_LSP_L1 : CW_ISIS_LSP_L2);
	cw_isis_lsp_set_length(pdu, (uint32_t)(CW_SIZE_ISIS_LSP + n));
	cw_isis_lsp_set_lifetime(pdu, 1000);
	pdu[16] = 1;
	memcpy(pdu + 17, m.id, 3);
	cw_isis_lsp_set_sequence(pdu, m.sequence != 0 ? m.sequence : 1);
	cw_isis_lsp_set_overload(pdu, m.overload);
	cw_isis_lsp_set_kind(pdu, m.level == 1 ? 1 : 3);
	memcpy(pdu + CW_SIZE_ISIS_LSP, value, n);
	cw_isis_lsp_set_checksum(pdu, cw_fletcher(pdu + 12, CW_SIZE_ISIS_LSP + n - 12, 12));
	err = feed(p, pdu, CW_SIZE_ISIS_LSP + n);
	free(value);
	free(pdu);
	return err;
}

/* Links, as TLV 22: of metric 10 to us, to system 0101, to 0102. */
#define TO_US   "160b 00000000000100 00000a 00 "
#define TO_0101 "160b 00000000010100 00000a 00 "
#define TO_0102 "160b 00000000010200 00000a 00 "
#define TO_0103 "160b 00000000010300 00000a 00 "

/* Prefixes with the P flag. */
#define HOST4(n, flags)   "870d 00000000 60 0aff00" n " 03 0401" flags " "
#define SENDERS(n, flags) "870c fe000001 58 c000" n " 03 0401" flags " "

static void expect(const struct peer *p, const char *what)
{
	char all[2000] = "", a[CW_PREFIX_TEXT], b[CW_ADDR_TEXT];
	const struct cw_isis_proxy *x;
	size_t n, i, at = 0;

	x = cw_isis_proxies(p->m, &n);
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%u %02x %s %s%s",
				       i > 0 ? ", " : "", x[i].level, x[i].system[5],
				       cw_prefix_format(&x[i].prefix, a),
				       cw_addr_format(&x[i].proxy, b), x[i].down ? " down" : "");
	assert_string_equal(all, what);
}

/* TLVs of type 135 in our own LSP of a level, as hex. */
static void expect_own(const struct peer *p, unsigned level, const char *hex)
{
	struct cw_isis_lsp_info l;
	struct cw_isis_pdu pdu;
	struct cw_isis_tlv tlv;
	uint8_t *want;
	size_t i, n;

	for (i = 0; cw_isis_lsp_at(p->m, level, i, p->now, &l) && !l.own; i++)
		;
	assert_true(l.own);
	assert_int_equal(cw_isis_pdu_parse(&pdu, l.pdu, l.len), CW_OK);
	want = hex_block(hex, &n);
	if (n == 0) {
		assert_false(cw_isis_tlv_find(&pdu, CW_ISIS_TLV_REACH4, &tlv));
	} else {
		assert_true(cw_isis_tlv_find(&pdu, CW_ISIS_TLV_REACH4, &tlv));
		assert_int_equal(tlv.len, n);
		assert_memory_equal(tlv.value, want, n);
	}
	free(want);
}

/* ---- What isisd sends ---------------------------------------------------------------------- */

static void isisd_is_understood(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_of(&c);
	struct cw_isis_info info;

	(void)state;
	assert_int_equal(feed_hello(p, HELLO, 2), CW_OK);
	assert_int_equal(feed_hex(p, CSNP), CW_OK);
	cw_isis_info(p->m, &info);
	assert_int_equal(info.state, CW_ISIS_UP);
	assert_false(info.synchronised); /* five LSPs were asked for */
	assert_int_equal(feed_hex(p, LSP), CW_OK);
	assert_int_equal(feed_hex(p, PSNP), CW_OK);
	assert_int_equal(cw_isis_counters(p->m)->malformed, 0);
	assert_int_equal(cw_isis_counters(p->m)->outdone, 1); /* it knows an earlier life of ours */
	peer_free(p);
}

static enum cw_isis_state state_of(const struct peer *p)
{
	struct cw_isis_info info;

	cw_isis_info(p->m, &info);
	return info.state;
}

/* isisd's hello with another state, and with (15) or without (5) our name in it. */
static void say(struct peer *p, uint8_t says, uint8_t octets)
{
	size_t len;
	uint8_t *pdu = padded(HELLO, &len);

	assert_int_equal(pdu[30], CW_ISIS_TLV_THREE_WAY);
	pdu[32] = says;
	if (octets == 5) { /* our name becomes a TLV that nobody knows */
		pdu[31] = 5;
		pdu[37] = 250;
		pdu[38] = 8;
	}
	assert_int_equal(feed(p, pdu, len), CW_OK);
	free(pdu);
}

/* The table of RFC 5303 3.2. */
static void rfc5303_3_2_states(void **state)
{
	enum { UP, INITIALIZING, DOWN };
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_of(&c);

	(void)state;
	say(p, UP, 15); /* knows an earlier life of ours */
	assert_int_equal(state_of(p), CW_ISIS_DOWN);
	say(p, DOWN, 5);
	assert_int_equal(state_of(p), CW_ISIS_INITIALIZING);
	say(p, INITIALIZING, 5);
	assert_int_equal(state_of(p), CW_ISIS_INITIALIZING);
	say(p, UP, 15);
	assert_int_equal(state_of(p), CW_ISIS_UP);
	say(p, INITIALIZING, 15);
	assert_int_equal(state_of(p), CW_ISIS_UP);
	assert_int_equal(cw_isis_counters(p->m)->adjacencies, 1);
	say(p, DOWN, 15); /* it has begun anew */
	assert_int_equal(state_of(p), CW_ISIS_INITIALIZING);
	assert_int_equal(cw_isis_counters(p->m)->lost, 1);
	peer_free(p);
}

static struct cw_isis_config with_secret(void)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct cw_isis_auth a = {.on = true,
				 .hasher = &cw_openssl_hasher,
				 .kind = CW_HASH_MD5,
				 .key = "secret",
				 .key_len = 6};

	c.hello_auth = c.auth[1] = a;
	return c;
}

static void rfc5304_isisd_is_believed(void **state)
{
	static const char *const pdus[] = {CSNP_MD5, LSP_MD5, PSNP_MD5};
	struct cw_isis_config c = with_secret();
	struct peer *p = peer_of(&c);
	size_t len, i, at;
	uint8_t *pdu;

	(void)state;
	assert_int_equal(feed_hello(p, HELLO_MD5, 2), CW_OK);
	for (i = 0; i < 3; i++) {
		pdu = hex_block(pdus[i], &len);
		/* Any octet behind the header that is changed; the type of another TLV too. */
		for (at = i == 1 ? 26 : 17; at < len; at++) {
			pdu[at] ^= 0x40;
			assert_int_not_equal(feed(p, pdu, len), CW_OK);
			pdu[at] ^= 0x40;
		}
		assert_int_equal(feed(p, pdu, len), CW_OK);
		free(pdu);
	}
	assert_true(cw_isis_counters(p->m)->bad_authentication > 100);
	assert_int_equal(feed_hex(p, LSP), CW_E_FORBIDDEN); /* none at all */
	peer_free(p);
}

/* Computed by Python's hmac from RFC 5310 3.3: key ID 7, keys shorter and longer than a digest. */
#define LONG "a key that is longer than a digest of SHA-1, and than one of SHA-256"
static const struct {
	enum cw_hash_kind kind;
	const char *key, *lsp;
} signed_lsps[] = {
	{CW_HASH_SHA1, "short",
	 "831b010014010000004103e80000000001010000000000056c97030a17030007522cce58bac99ae737d5b62c7"
	 "32e"
	 "ccf4b317daf4160b0000000000010000000a00"},
	{CW_HASH_SHA1, LONG,
	 "831b010014010000004103e8000000000101000000000005e757030a17030007d0538266c93a4f4591a3fc321"
	 "867"
	 "22c263edc6d8160b0000000000010000000a00"},
	{CW_HASH_SHA224, LONG,
	 "831b010014010000004903e80000000001010000000000052ecc030a1f030007075f4a003c5bc3e753f1215b1"
	 "cfb"
	 "e74b1a523dd1439277f0c8396876160b0000000000010000000a00"},
	{CW_HASH_SHA256, LONG,
	 "831b010014010000004d03e80000000001010000000000056011030a23030007dbbc023d42f97c19f6f916c5d"
	 "e8a"
	 "e025bdc18963b5fad73fe58b975e04fbd0ce160b0000000000010000000a00"},
	{CW_HASH_SHA384, LONG,
	 "831b010014010000005d03e8000000000101000000000005d504030a3303000747c3ab3611e0adf9deb24ab84"
	 "c91"
	 "83a6511598fe3729ae8512268c4a78b47ff2aec42847177ad9ec83b5cb23eff37884160b00000000000100000"
	 "00a"
	 "00"},
	{CW_HASH_SHA512, "short",
	 "831b010014010000006d03e8000000000101000000000005771e030a43030007ef480e6e2f8a4265f97d8cab9"
	 "1b8"
	 "f030ec6629f5edc8fe2ed8b3e64eba6d330101125c4c92214b7ad908610b8a4ae666d6152f84aab5638b02642"
	 "80d"
	 "de46cd14160b0000000000010000000a00"},
};

static void rfc5310_3_3(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(signed_lsps) / sizeof(signed_lsps[0]); i++) {
		struct cw_isis_config c = config(CW_ISIS_L2);
		struct cw_isis_auth *a = &c.auth[1];
		struct peer *p;

		a->on = true;
		a->hasher = &cw_openssl_hasher;
		a->kind = signed_lsps[i].kind;
		a->key_id = 7;
		a->key_len = strlen(signed_lsps[i].key);
		memcpy(a->key, signed_lsps[i].key, a->key_len);
		p = peer_new(&c);
		assert_int_equal(feed_hex(p, signed_lsps[i].lsp), CW_OK);
		peer_free(p);
		a->key_id = 8;
		p = peer_new(&c);
		assert_int_equal(feed_hex(p, signed_lsps[i].lsp), CW_E_FORBIDDEN);
		peer_free(p);
	}
}

static void no_prefix_of_a_pdu_passes(void **state)
{
	static const char *const pdus[] = {HELLO_MD5, CSNP, LSP, PSNP, CSNP_MD5};
	struct cw_isis_pdu out;
	size_t len, i, cut;

	(void)state;
	for (i = 0; i < 5; i++) {
		uint8_t *pdu = i == 0 ? padded(pdus[i], &len) : hex_block(pdus[i], &len);

		assert_int_equal(cw_isis_pdu_parse(&out, pdu, len), CW_OK);
		for (cut = 0; cut < len; cut++) {
			uint8_t *part = exact_copy(pdu, cut);

			assert_int_not_equal(cw_isis_pdu_parse(&out, part, cut), CW_OK);
			free(part);
		}
		free(pdu);
	}
}

static void iso9_5_common_header(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		int err;
	} wrong[] = {{0, 0x82, CW_E_UNKNOWN}, {1, 28, CW_E_LENGTH},   {2, 2, CW_E_VERSION},
		     {3, 5, CW_E_VERSION},    {4, 15, CW_E_UNKNOWN},  {5, 2, CW_E_VERSION},
		     {7, 4, CW_E_VERSION},    {9, 0x78, CW_E_LENGTH}, {9, 0x7a, CW_E_LENGTH}};
	struct cw_isis_pdu out;
	size_t len, i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t *pdu = hex_block(LSP, &len);

		pdu[wrong[i].at] = wrong[i].value;
		assert_int_equal(cw_isis_pdu_parse(&out, pdu, len), wrong[i].err);
		free(pdu);
	}
}

static void names_of_systems(void **state)
{
	char buf[CW_ISIS_ID_TEXT];
	uint8_t id[8] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf1}, out[13];

	(void)state;
	assert_string_equal(cw_isis_lsp_format(id, buf), "1234.5678.9abc.de-f1");
	assert_int_equal(cw_isis_system_parse("1234.5678.9abc", out), CW_OK);
	assert_memory_equal(out, id, 6);
	assert_int_equal(cw_isis_system_parse("1234.5678", out), CW_E_SYNTAX);
	assert_int_equal(cw_isis_system_parse("1234.5678.9abc.de", out), CW_E_SYNTAX);
	assert_int_equal(cw_isis_area_parse("49.0001", out), 3);
	assert_memory_equal(out, "\x49\x00\x01", 3);
	assert_int_equal(cw_isis_area_parse("", out), CW_E_SYNTAX);
	assert_int_equal(cw_isis_area_parse("4.9", out), CW_E_SYNTAX);
	assert_int_equal(cw_isis_area_parse("49.", out), CW_E_SYNTAX);
	assert_int_equal(cw_isis_area_parse("49.0001.0002.0003.0004.0005.0006.07", out),
			 CW_E_SYNTAX);
}

/* ---- Who can be reached -------------------------------------------------------------------- */

static void isoC_2_only_what_can_be_reached(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}}, TO_US TO_0102);
	feed_lsp(p, (struct made){2, {2}}, TO_0101 HOST4("02", "21") SENDERS("02", "01"));
	feed_lsp(p, (struct made){2, {3}}, TO_0102 HOST4("03", "21")); /* one way only */
	settle(p);
	expect(p, "2 02 10.255.0.2/32 10.255.0.2, 2 02 192.0.2.0/24 10.255.0.2");
	feed_lsp(p, (struct made){2, {2}, 2}, TO_0101 TO_0103 HOST4("02", "21"));
	settle(p);
	expect(p, "2 02 10.255.0.2/32 10.255.0.2, 2 03 10.255.0.3/32 10.255.0.3");
	feed_lsp(p, (struct made){2, {1}, 2}, TO_US); /* that link is gone */
	settle(p);
	expect(p, "");
	peer_free(p);
}

static void iso7_2_8_overload_is_no_way(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}}, TO_US TO_0102);
	feed_lsp(p, (struct made){2, {2}, 1, true}, TO_0101 TO_0103 HOST4("02", "21"));
	feed_lsp(p, (struct made){2, {3}}, TO_0102 HOST4("03", "21"));
	settle(p);
	expect(p, "2 02 10.255.0.2/32 10.255.0.2"); /* its own prefixes can be reached */
	peer_free(p);
}

static void rfc5305_3_links_not_to_be_used(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}}, TO_US "160b 00000000010200 ffffff 00");
	feed_lsp(p, (struct made){2, {2}}, TO_0101 HOST4("02", "21"));
	settle(p);
	expect(p, "");
	peer_free(p);
}

/* Over a LAN, narrow metrics, fragments; a system without fragment 0. */
static void iso7_2_5_pseudonodes_and_fragments(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}}, TO_US);
	feed_lsp(p, (struct made){2, {1, 0, 5}}, "020c 00 0a808080 00000000010107");
	feed_lsp(p, (struct made){2, {1, 7, 0}},
		 "0217 00 00808080 00000000010100 00808080 00000000010200");
	feed_lsp(p, (struct made){2, {2}}, "020c 00 0a808080 00000000010107");
	feed_lsp(p, (struct made){2, {2, 0, 9}}, HOST4("02", "21"));
	feed_lsp(p, (struct made){2, {3, 0, 1}}, TO_0101 HOST4("03", "21"));
	settle(p);
	expect(p, "2 02 10.255.0.2/32 10.255.0.2");
	peer_free(p);
}

/* A link that only its near end announces is none; a system without fragment 0 is no way. */
static void isoC_2_no_way(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}}, TO_US TO_0102 TO_0103);
	feed_lsp(p, (struct made){2, {2}}, HOST4("02", "21"));
	feed_lsp(p, (struct made){2, {3, 0, 1}}, TO_0101 "160b 00000000010400 00000a 00");
	feed_lsp(p, (struct made){2, {4}}, TO_0103 HOST4("04", "21"));
	settle(p);
	expect(p, "");
	feed_lsp(p, (struct made){2, {3}}, "");
	settle(p);
	expect(p, "2 04 10.255.0.4/32 10.255.0.4");
	peer_free(p);
}

/* ---- Purges and acknowledgements ----------------------------------------------------------- */

/* The first PDU of a type that is to be sent; false: none. */
static bool pulled(struct peer *p, uint8_t type)
{
	uint8_t pdu[CW_ISIS_PDU_MAX];
	bool found = false;

	while (cw_isis_pull(p->m, pdu, sizeof(pdu), p->now) > 0)
		found = found || (pdu[4] & 0x1f) == type;
	return found;
}

/* ISO 10589 7.3.16.4: of the same number, the one whose lifetime is over is the newer one. Each is
 * acknowledged, each time it comes. */
static void iso7_3_16_4_purge_of_the_same_number(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);
	unsigned i;

	(void)state;
	(void)pulled(p, 0);
	for (i = 0; i < 2; i++) {
		feed_lsp(p, (struct made){2, {1}}, TO_US HOST4("01", "21"));
		assert_true(pulled(p, CW_ISIS_PSNP_L2));
		assert_false(pulled(p, CW_ISIS_PSNP_L2));
	}
	settle(p);
	expect(p, "2 01 10.255.0.1/32 10.255.0.1");
	for (i = 0; i < 2; i++) {
		assert_int_equal(feed_hex(p, "831b01001401000000 1b 0000 0000000001010000 00000001 "
					     "0000 03"),
				 CW_OK);
		assert_true(pulled(p, CW_ISIS_PSNP_L2));
	}
	settle(p);
	expect(p, "");
	assert_int_equal(cw_isis_counters(p->m)->purges_received, 1);
	/* an older one is answered with what is here */
	feed_lsp(p, (struct made){2, {1}}, TO_US HOST4("01", "21"));
	assert_true(pulled(p, CW_ISIS_LSP_L2));
	peer_free(p);
}

/* ---- Which address is the proxy's ---------------------------------------------------------- */

static void s5_1_the_proxys_address(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	/* N before others, then the lowest */
	feed_lsp(p, (struct made){2, {1}},
		 TO_US HOST4("01", "01") HOST4("08", "21") HOST4("07", "21") SENDERS("02", "01"));
	settle(p);
	expect(p, "2 01 10.255.0.1/32 10.255.0.7, 2 01 10.255.0.8/32 10.255.0.7, "
		  "2 01 10.255.0.7/32 10.255.0.7, 2 01 192.0.2.0/24 10.255.0.7");
	/* no flagged host prefix: no proxy */
	feed_lsp(p, (struct made){2, {1}, 2}, TO_US HOST4("01", "20") SENDERS("02", "01"));
	settle(p);
	expect(p, "");
	/* the source, where somebody leaked it */
	feed_lsp(p, (struct made){2, {1}, 3},
		 TO_US "8712 fe000001 58 c00002 09 040141 0b040aff0009");
	settle(p);
	expect(p, "2 01 192.0.2.0/24 10.255.0.9");
	/* U and UP take a prefix back */
	feed_lsp(p, (struct made){2, {1}, 4},
		 TO_US HOST4("01", "21") SENDERS("02", "05") SENDERS("03", "03"));
	settle(p);
	expect(p, "2 01 10.255.0.1/32 10.255.0.1");
	peer_free(p);
}

/* ---- Between levels ------------------------------------------------------------------------ */

static struct peer *border(uint8_t reoriginate)
{
	struct cw_isis_config c = config(CW_ISIS_L1 | CW_ISIS_L2);

	c.reoriginate = reoriginate;
	return peer_new(&c);
}

/* "MUST be preserved when a router propagates a prefix between ISIS levels": with R, the source,
 * and the metric of the way from the border on: 10 to 0102, and the prefix's own. */
static void s5_1_up(void **state)
{
	struct peer *p = border(CW_ISIS_L2);

	(void)state;
	feed_lsp(p, (struct made){1, {1}}, TO_US TO_0102);
	feed_lsp(p, (struct made){1, {2}},
		 TO_0101 HOST4("02", "21") SENDERS("02", "01") HOST4("09", "20"));
	feed_lsp(p, (struct made){2, {1}}, TO_US);
	settle(p);
	expect_own(p, 2,
		   "fe000001 58 c00002 09 040141 0b040aff0002"
		   "0000000a 60 0aff0002 09 040161 0b040aff0002");
	expect_own(p, 1, "");
	feed_lsp(p, (struct made){1, {2}, 2}, TO_0101);
	settle(p);
	expect_own(p, 2, ""); /* taken back with the original */
	peer_free(p);
}

static void rfc5302_down_never_goes_up(void **state)
{
	struct peer *p = border(CW_ISIS_L2);

	(void)state;
	feed_lsp(p, (struct made){1, {1}}, TO_US "870d 00000000 e0 0aff0002 03 040161");
	feed_lsp(p, (struct made){2, {1}}, TO_US);
	settle(p);
	expect_own(p, 2, "");
	expect(p, "1 01 10.255.0.2/32 10.255.0.2 down");
	peer_free(p);
}

static void rfc5302_down(void **state)
{
	struct peer *p = border(CW_ISIS_L1);

	(void)state;
	feed_lsp(p, (struct made){1, {1}}, TO_US "8709 00000000 20 0aff0003");
	feed_lsp(p, (struct made){2, {1}}, TO_US TO_0102);
	feed_lsp(p, (struct made){2, {2}}, TO_0101 HOST4("02", "21") HOST4("03", "21"));
	settle(p);
	/* 10.255.0.3 belongs to level 1, whose route is better: not leaked */
	expect_own(p, 1, "0000000a e0 0aff0002 09 040161 0b040aff0002");
	expect_own(p, 2, "");
	peer_free(p);
}

/* Of one prefix from two systems the nearer one goes on. */
static void rfc5302_the_best_one(void **state)
{
	struct peer *p = border(CW_ISIS_L2);

	(void)state;
	feed_lsp(p, (struct made){1, {1}}, TO_US TO_0102 TO_0103);
	feed_lsp(p, (struct made){1, {2}}, TO_0101 "870d 00000020 60 0aff0007 03 040121");
	feed_lsp(p, (struct made){1, {3}}, TO_0101 "870d 00000005 60 0aff0007 03 040121");
	feed_lsp(p, (struct made){2, {1}}, TO_US);
	settle(p);
	expect_own(p, 2, "0000000f 60 0aff0007 09 040161 0b040aff0007");
	peer_free(p);
}

/* ---- Faults that people met ---------------------------------------------------------------- */

/* tcpdump PR 1442: a sub-TLV of 200 octets in a block of 5. What stood before it counts. */
static void fault_65_the_rest_still_counts(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}},
		 TO_US HOST4("01", "21") "870f 00000000 60 0aff0005 05 04c8000000" SENDERS("02",
											   "01"));
	settle(p);
	expect(p, "2 01 10.255.0.1/32 10.255.0.1, 2 01 192.0.2.0/24 10.255.0.1");
	assert_int_equal(cw_isis_counters(p->m)->bad_prefixes, 1);
	peer_free(p);
}

/* FRR PR 13758, 16718, 20333: sub-TLVs of TLV 22 with wrong inner lengths; here their octets are
 * skipped by the outer one, and one that reaches too far ends the TLV. */
static void fault_67_subtlvs_of_links(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}},
		 TO_US "160e 00000000010200 00000a 03 107f09" HOST4("01", "21"));
	feed_lsp(p, (struct made){2, {2}}, "160b 00000000010100 00000a ff" HOST4("02", "21"));
	settle(p);
	expect(p, "2 01 10.255.0.1/32 10.255.0.1, 2 02 10.255.0.2/32 10.255.0.2");
	peer_free(p);
}

/* FRR PR 8608, 15863: N on a prefix that is no host's; flags of length 0 and 2; twice. */
static void fault_69_flags(void **state)
{
	struct cw_isis_config c = config(CW_ISIS_L2);
	struct peer *p = peer_new(&c);

	(void)state;
	feed_lsp(p, (struct made){2, {1}},
		 TO_US "870c 00000000 58 c00009 03 040121"     /* N, /24: not the proxy's address */
		       "870d 00000000 60 0aff0004 03 040101"   /* /32 without N */
		       "870c 00000000 60 0aff0005 02 0400"     /* length 0: all clear */
		       "870e 00000000 60 0aff0006 04 04020180" /* two octets */
		       "8710 00000000 60 0aff0003 06 040100 040101" /* twice: the first counts */);
	settle(p);
	expect(p, "2 01 192.0.9.0/24 10.255.0.4, 2 01 10.255.0.4/32 10.255.0.4, "
		  "2 01 10.255.0.6/32 10.255.0.4");
	peer_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isisd_is_understood),
		cmocka_unit_test(rfc5303_3_2_states),
		cmocka_unit_test(rfc5304_isisd_is_believed),
		cmocka_unit_test(rfc5310_3_3),
		cmocka_unit_test(no_prefix_of_a_pdu_passes),
		cmocka_unit_test(iso9_5_common_header),
		cmocka_unit_test(names_of_systems),
		cmocka_unit_test(isoC_2_only_what_can_be_reached),
		cmocka_unit_test(iso7_2_8_overload_is_no_way),
		cmocka_unit_test(rfc5305_3_links_not_to_be_used),
		cmocka_unit_test(iso7_2_5_pseudonodes_and_fragments),
		cmocka_unit_test(isoC_2_no_way),
		cmocka_unit_test(iso7_3_16_4_purge_of_the_same_number),
		cmocka_unit_test(s5_1_the_proxys_address),
		cmocka_unit_test(s5_1_up),
		cmocka_unit_test(rfc5302_down_never_goes_up),
		cmocka_unit_test(rfc5302_down),
		cmocka_unit_test(rfc5302_the_best_one),
		cmocka_unit_test(fault_65_the_rest_still_counts),
		cmocka_unit_test(fault_67_subtlvs_of_links),
		cmocka_unit_test(fault_69_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
