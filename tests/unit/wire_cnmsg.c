/* Tests of the congestion messages of draft-xiao-fann-fast-cnp-with-proxy-02 and of Fast CNP. */
#include "tests/unit/test.h"
#include "causeway/craft.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"

#define A6 "20010db8010203040506070809a1a2a3"
#define B6 "20010db8b1b2b3b4b5b6b7b8b9babbbc"

/* Written by hand from figures 5 and 6; every octet of each field differs from its neighbours. */
static const struct {
	unsigned option, version;
	bool packed;
	const char *hex;
} forms[] = {
	{1, 4, false, "0a0b0c0d 0e0f1011 11000000 c12312b7 b9 123456"},
	{1, 4, true, "0a0b0c0d 0e0f1011 11 c12312b7 b9 123456"},
	{1, 6, false, A6 B6 "11000000 c12312b7 b9 123456"},
	{1, 6, true, A6 B6 "11 c12312b7 b9 123456"},
	{2, 4, false, "0a0b0c0d 0e0f1011 11000000 c12312b7 b9000000 9a8b7c6d"},
	{2, 4, true, "0a0b0c0d 0e0f1011 11 c12312b7 b9000000 9a8b7c6d"},
	{2, 6, false, A6 B6 "11000000 c12312b7 b9000000 9a8b7c6d"},
	{2, 6, true, A6 B6 "11 c12312b7 b9000000 9a8b7c6d"},
};
enum { NFORMS = sizeof(forms) / sizeof(forms[0]) };

static void s4_every_form_is_read_and_written(void **state)
{
	uint8_t out[CW_CN_MAX], *p;
	struct cw_cnmsg m;
	size_t len, n;
	unsigned i;

	(void)state;
	for (i = 0; i < NFORMS; i++) {
		uint8_t *src = hex_block(forms[i].version == 4 ? "0a0b0c0d" : A6, &n);
		uint8_t *dst = hex_block(forms[i].version == 4 ? "0e0f1011" : B6, &n);

		p = hex_block(forms[i].hex, &len);
		assert_int_equal(cw_cnmsg_parse(&m, forms[i].option, p, len), CW_OK);
		assert_int_equal(m.version, forms[i].version);
		assert_int_equal(m.packed, forms[i].packed);
		assert_memory_equal(m.src, src, n);
		assert_memory_equal(m.dst, dst, n);
		assert_int_equal(m.proto, 17);
		assert_int_equal(m.sport, 0xc123);
		assert_int_equal(m.dport, 4791);
		assert_int_equal(m.tc, 0xb9);
		assert_int_equal(m.dqpn, forms[i].option == 1 ? 0x123456 : 0);
		assert_int_equal(m.nrp, forms[i].option == 2 ? 0x9a8b7c6d : 0);
		assert_int_equal(cw_cnmsg_write(&m, out, sizeof(out)), len);
		assert_memory_equal(out, p, len);
		assert_int_equal(cw_cnmsg_write(&m, out, len - 1), CW_E_SPACE);
		free(p);
		free(src);
		free(dst);
	}
}

/* design: 20, 44, 24, 48 octets; 17, 41, 21, 45 without padding. Nothing else. */
static void s4_other_lengths_are_refused(void **state)
{
	static const size_t good[2][4] = {{17, 20, 41, 44}, {21, 24, 45, 48}};
	struct cw_cnmsg m;
	unsigned option, i;
	size_t len;

	(void)state;
	for (option = 1; option <= 2; option++) {
		for (len = 0; len <= 64; len++) {
			uint8_t *p = calloc(1, len > 0 ? len : 1);
			bool want = false;

			for (i = 0; i < 4; i++)
				want |= good[option - 1][i] == len;
			assert_int_equal(cw_cnmsg_parse(&m, option, p, len),
					 want ? CW_OK : CW_E_LENGTH);
			free(p);
		}
	}
	assert_null(cw_cnmsg_hdr(3, 20));
	m = (struct cw_cnmsg){.option = 3, .version = 4};
	assert_int_equal(cw_cnmsg_write(&m, (uint8_t[64]){0}, 64), CW_E_ARG);
	m = (struct cw_cnmsg){.option = 1, .version = 5};
	assert_int_equal(cw_cnmsg_write(&m, (uint8_t[64]){0}, 64), CW_E_ARG);
}

/* scapy: Ether()/IP(src="10.9.8.7",dst="10.6.5.4",tos=0xc0)/UDP(sport=50000,dport=49791)/... */
#define FRAME1                                                                      \
	"020000000002 020000000001 0800 45c0003000010000401158e3 0a090807 0a060504" \
	"c350c27f001c5250 0a0b0c0d0e0f101111000000c12312b7b9123456"

static void s4_frame_is_dissected(void **state)
{
	struct cw_packet p;
	uint8_t *f, *cut;
	size_t len, i;
	int at;

	(void)state;
	f = hex_block(FRAME1, &len);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_OK);
	assert_string_equal(p.family, "cn1");
	at = cw_packet_find(&p, &cw_hdr_cn1_ipv4, 0);
	assert_true(at >= 0);
	assert_int_equal(cw_cn1_ipv4_dqpn(cw_layer_data(&p, (unsigned)at)), 0x123456);
	for (i = 0; i < len; i++) {
		cut = exact_copy(f, i);
		assert_int_not_equal(cw_dissect(&p, CW_LINK_ETHERNET, cut, i, NULL), CW_OK);
		free(cut);
	}
	f[len - 1] ^= 1; /* the UDP checksum is verified */
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_E_CHECKSUM);
	free(f);
}

/* Craft fills in port, lengths and, as no ICRC does it, the UDP checksum. */
static void s4_craft_computes_the_rest(void **state)
{
	static const struct cw_hdr *const all[] = {
		&cw_hdr_cn1_ipv4, &cw_hdr_cn1_ipv6,        &cw_hdr_cn1_ipv4_packed,
		&cw_hdr_cn2_ipv4, &cw_hdr_cn2_ipv6_packed,
	};
	struct cw_packet p;
	struct cw_craft c;
	uint8_t buf[256];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cw_craft_init(&c, buf, sizeof(buf));
		assert_int_equal(cw_craft_layer(&c, &cw_hdr_eth, NULL, 0), CW_OK);
		assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipv4, NULL, 0), CW_OK);
		assert_int_equal(cw_craft_layer(&c, &cw_hdr_udp, NULL, 0), CW_OK);
		assert_int_equal(cw_craft_layer(&c, all[i], NULL, 0), CW_OK);
		assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
		assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, buf, c.len, NULL), CW_OK);
		assert_ptr_equal(p.layers[3].hdr, all[i]);
		assert_int_not_equal(cw_udp_checksum(buf + p.layers[2].off), 0);
	}
}

/* Fast CNP: destination options (type 0x1e stands for the unassigned one) between IPv6 and UDP. */
#define FAST                                                                                 \
	"020000000002 020000000001 86dd 6c200000 0040 3c 40" A6 B6 "1102 1e10" B6 "01020000" \
	"000012b700280000 8100ffff40000118 00000000"                                         \
	"00000000000000000000000000000000"                                                   \
	"11223344"

static void fast_cnp_gives_the_original_destination(void **state)
{
	struct cw_packet p;
	uint8_t dst[16], *f, *want;
	size_t len, n;

	(void)state;
	f = hex_block(FAST, &len);
	want = hex_block(B6, &n);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_OK);
	assert_int_equal(p.icrc.status, CW_ICRC_UNCHECKED);
	assert_true(cw_fast_cnp(&p, dst));
	assert_memory_equal(dst, want, 16);
	f[57] = 15; /* another length: no address in it */
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_OK);
	assert_false(cw_fast_cnp(&p, dst));
	f[57] = 200; /* the option runs out of its header */
	(void)cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL);
	assert_false(cw_fast_cnp(&p, dst));
	free(f);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s4_every_form_is_read_and_written),
		cmocka_unit_test(s4_other_lengths_are_refused),
		cmocka_unit_test(s4_frame_is_dissected),
		cmocka_unit_test(s4_craft_computes_the_rest),
		cmocka_unit_test(fast_cnp_gives_the_original_destination),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
