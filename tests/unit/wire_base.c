/* Tests of the walk over families, of craft, of show, and of Ethernet, IP and UDP below UB. */
#include "tests/unit/test.h"
#include "causeway/craft.h"
#include "causeway/show.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"

/* ---- Building blocks ------------------------------------------------------------------------ */

static const struct cw_dissect_opts no_opts;

/* Octets of a packet put together from hex pieces, dissected in a block of exactly their size. */
static int dissect_hex(struct cw_packet *p, enum cw_link link, const char *hex)
{
	static uint8_t *kept;
	size_t len;

	free(kept);
	kept = hex_block(hex, &len);
	return cw_dissect(p, link, kept, len, &no_opts);
}

struct build {
	uint8_t buf[4096];
	struct cw_craft c;
};

static void begin(struct build *b)
{
	cw_craft_init(&b->c, b->buf, sizeof(b->buf));
}

static void layer(struct build *b, const struct cw_hdr *h)
{
	assert_int_equal(cw_craft_layer(&b->c, h, NULL, 0), CW_OK);
}

static void set(struct build *b, const char *field, const char *text)
{
	if (cw_craft_field(&b->c, field, text) != CW_OK)
		fail_msg("%s = %s was refused", field, text);
}

/* Finish, and dissect what came out. */
static int finish(struct build *b, struct cw_packet *p, enum cw_link link)
{
	assert_int_equal(cw_craft_finish(&b->c, NULL, 0), CW_OK);
	return cw_dissect(p, link, b->buf, b->c.len, NULL);
}

static void begin_ip(struct build *b, bool v6)
{
	begin(b);
	layer(b, &cw_hdr_eth);
	layer(b, v6 ? &cw_hdr_ipv6 : &cw_hdr_ipv4);
	set(b, "src", v6 ? "2001:db8::1" : "10.0.0.1");
	set(b, "dst", v6 ? "2001:db8::2" : "10.0.0.2");
	layer(b, &cw_hdr_udp);
}

/* ---- Ethernet ------------------------------------------------------------------------------- */

static void vlan_depth_is_bounded(void **state)
{
	struct cw_packet p;
	struct build b;
	unsigned tags, i;

	(void)state;
	for (tags = 0; tags <= CW_VLAN_DEPTH_MAX + 1; tags++) {
		begin(&b);
		layer(&b, &cw_hdr_eth);
		for (i = 0; i < tags; i++)
			layer(&b, &cw_hdr_vlan);
		layer(&b, &cw_hdr_ipv4);
		layer(&b, &cw_hdr_udp);
		set(&b, "dport", "7");
		assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET),
				 tags <= CW_VLAN_DEPTH_MAX ? CW_OK : CW_E_DEPTH);
		assert_int_equal(p.nlayers,
				 tags <= CW_VLAN_DEPTH_MAX ? tags + 3 : CW_VLAN_DEPTH_MAX + 1);
	}
}

static void qinq_types_follow_802_1ad(void **state)
{
	struct cw_packet p;
	struct build b;

	(void)state;
	begin(&b);
	layer(&b, &cw_hdr_eth);
	layer(&b, &cw_hdr_vlan);
	layer(&b, &cw_hdr_vlan);
	layer(&b, &cw_hdr_ipv6);
	layer(&b, &cw_hdr_udp);
	set(&b, "dport", "7");
	assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_OK);
	assert_int_equal(cw_eth_type(b.buf), CW_ETHERTYPE_SVLAN);
	assert_int_equal(cw_vlan_type(b.buf + 14), CW_ETHERTYPE_VLAN);
	assert_int_equal(cw_vlan_type(b.buf + 18), CW_ETHERTYPE_IP6);
}

/* ---- IP ------------------------------------------------------------------------------------- */

#define ETH4 "020000000002 020000000001 0800 "
#define ETH6 "020000000002 020000000001 86dd "
#define A4   "0a000001 0a000002 "
#define A6   "20010db8000000000000000000000001 20010db8000000000000000000000002 "

static void ipv4_faults(void **state)
{
	static const struct {
		const char *hex;
		int err;
		unsigned layers;
	} cases[] = {
		{ETH4, CW_E_SHORT, 1},
		{ETH4 "55000014 00004000 40110000" A4, CW_E_VERSION, 1},
		{ETH4 "44000014 00004000 40110000" A4, CW_E_LENGTH, 1},
		{ETH4 "45000013 00004000 40110000" A4, CW_E_LENGTH, 1},
		{ETH4 "45000015 00004000 40110000" A4, CW_E_LENGTH, 2},
		{ETH4 "46000018 00004000 40060000" A4, CW_E_SHORT, 1},
		{ETH4 "45000014 00004000 40060000" A4, CW_E_CHECKSUM, 2},
		{ETH4 "45000014 00004000 400626e2" A4, CW_OK, 2},
		{ETH4 "45000014 00006000 400606e2" A4, CW_E_FRAGMENT, 2},
		{ETH4 "45000014 00000001 400666e1" A4, CW_E_FRAGMENT, 2},
		{ETH4 "4500001c 00004000 401126cf" A4 "c0000007 00080000", CW_OK, 3},
		{ETH4 "4500001c 00004000 401126cf" A4 "c0000007 00070000", CW_E_LENGTH, 3},
		{ETH4 "4500001c 00004000 401126cf" A4 "c0000007 00090000", CW_E_LENGTH, 3},
		{ETH4 "4500001c 00004000 401126cf" A4 "c0000007 00080001", CW_E_CHECKSUM, 3},
		{ETH4 "45000018 00004000 401126d3" A4 "c0000007", CW_E_SHORT, 2},
	};
	struct cw_packet p;
	unsigned i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = dissect_hex(&p, CW_LINK_ETHERNET, cases[i].hex);
		if (err != cases[i].err || p.nlayers != cases[i].layers)
			fail_msg("%s: %s with %u layers", cases[i].hex, cw_err_name(err),
				 p.nlayers);
	}
}

/* Hop-by-hop options, or what the next header says, `n` times; then UDP. */
static void ext_headers(char *hex, size_t size, unsigned n)
{
	size_t at = (size_t)snprintf(hex, size, "%s 60000000 %04x %s40 %s", ETH6, 8 * n + 8,
				     n > 0 ? "00" : "11", A6);

	for (; n > 0; n--)
		at += (size_t)snprintf(hex + at, size - at, "%s00010400000000 ",
				       n > 1 ? "3c" : "11");
	(void)snprintf(hex + at, size - at, "c0000007 00080000");
}

static void ipv6_extension_headers_are_bounded(void **state)
{
	struct cw_packet p;
	char hex[1024];
	unsigned n;

	(void)state;
	for (n = 0; n <= CW_IP6_EXT_MAX; n++) {
		ext_headers(hex, sizeof(hex), n);
		assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET, hex), CW_OK);
		assert_int_equal(p.nlayers, n + 3);
	}
	ext_headers(hex, sizeof(hex), CW_IP6_EXT_MAX + 1);
	assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET, hex), CW_E_DEPTH);
	assert_int_equal(p.nlayers, CW_IP6_EXT_MAX + 2);
}

static void ipv6_faults(void **state)
{
	struct cw_packet p;

	(void)state;
	assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET, ETH6 "60000000 00083b40" A6),
			 CW_E_LENGTH);
	assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET, ETH6 "60000000 00003b40" A6), CW_OK);
	/* A fragment, and an extension header longer than the packet. */
	assert_int_equal(
		dissect_hex(&p, CW_LINK_ETHERNET, ETH6 "60000000 00082c40" A6 "11000001 12345678"),
		CW_E_FRAGMENT);
	assert_ptr_equal(p.layers[2].hdr, &cw_hdr_ipv6_frag);
	assert_int_equal(
		dissect_hex(&p, CW_LINK_ETHERNET, ETH6 "60000000 00080040" A6 "11010104 00000000"),
		CW_E_SHORT);
	assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET, ETH6 "60000000 00010040" A6 "11"),
			 CW_E_SHORT);
}

/* Draft table 1: no options; UB 2.0: no extension headers. */
static void s4_1_uboe_needs_a_plain_ip_header(void **state)
{
	static const uint8_t nop[4] = {1, 1, 1, 0}, dstopts[8] = {0, 0, 1, 4};
	struct cw_packet p;
	struct build b;

	(void)state;
	begin(&b);
	layer(&b, &cw_hdr_eth);
	assert_int_equal(cw_craft_layer(&b.c, &cw_hdr_ipv4, nop, 4), CW_OK);
	layer(&b, &cw_hdr_udp);
	layer(&b, &cw_hdr_rtph);
	assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_E_OPTIONS);
	begin(&b);
	layer(&b, &cw_hdr_eth);
	layer(&b, &cw_hdr_ipv6);
	assert_int_equal(cw_craft_layer(&b.c, &cw_hdr_ipv6_ext, dstopts + 2, 6), CW_OK);
	layer(&b, &cw_hdr_udp);
	layer(&b, &cw_hdr_rtph);
	assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_E_OPTIONS);
}

/* ---- UB: what craft fills in ------------------------------------------------------------------
 */

static void add_rtp(struct build *b, const struct cw_hdr *const *h)
{
	for (; *h != NULL; h++) {
		if (*h == &cw_hdr_saetph || *h == &cw_hdr_beetah)
			assert_int_equal(cw_craft_layer(&b->c, *h, NULL, 8), CW_OK);
		else
			layer(b, *h);
	}
}

/* A packet of layers alone: every field is left to craft, and the result is valid. */
/* Without room for TPH and ICRC there is neither. */
static void s4_2_too_short_for_an_icrc(void **state)
{
	static const uint8_t tpack[19] = {CW_TP_ACK};
	struct cw_packet p;
	struct build b;
	size_t n;

	(void)state;
	for (n = 1; n <= sizeof(tpack); n++) {
		begin_ip(&b, n & 1);
		set(&b, "dport", "4792");
		assert_int_equal(cw_craft_payload(&b.c, tpack, n), CW_OK);
		assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_E_SHORT);
		assert_int_equal(p.icrc.status, CW_ICRC_ABSENT);
		assert_int_equal(p.payload_len, n);
	}
}

static void defaults_make_valid_packets(void **state)
{
	static const struct {
		uint32_t tp, ta;
		unsigned payload;
		const struct cw_hdr *h[6];
	} cases[] = {
		{CW_TP_ACK, 0, 0, {&cw_hdr_rtph}},
		{CW_TP_ACK_CC, 0, 0, {&cw_hdr_rtph, &cw_hdr_cetph_ldcp}},
		{CW_TP_SACK, 0, 0, {&cw_hdr_rtph, &cw_hdr_saetph}},
		{CW_TP_SACK_CC, 0, 0, {&cw_hdr_rtph, &cw_hdr_cetph_ldcp, &cw_hdr_saetph}},
		{CW_TP_CNP, 0, 0, {&cw_hdr_rtph, &cw_hdr_cetph_cnp}},
		{CW_TP_RTP, CW_TA_SEND, 5, {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_ofstetah}},
		{CW_TP_RTP,
		 CW_TA_SEND_IMM,
		 5,
		 {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_mtetah, &cw_hdr_ofstetah, &cw_hdr_immetah}},
		{CW_TP_RTP,
		 CW_TA_WRITE,
		 6,
		 {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_udetah, &cw_hdr_maetah, &cw_hdr_tvetah}},
		{CW_TP_RTP,
		 CW_TA_WRITE_IMM,
		 7,
		 {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_maetah, &cw_hdr_immetah}},
		{CW_TP_RTP,
		 CW_TA_WRITE_NOTIFY,
		 8,
		 {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_maetah, &cw_hdr_ntfetah}},
		{CW_TP_RTP,
		 CW_TA_WRITE_BE,
		 60,
		 {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_maetah, &cw_hdr_beetah}},
		{CW_TP_RTP, CW_TA_MANAGEMENT, 0, {&cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_mgmtetah}},
		{CW_TP_RTP,
		 CW_TA_SEND,
		 1,
		 {&cw_hdr_rtph, &cw_hdr_upih, &cw_hdr_eidh, &cw_hdr_btah, &cw_hdr_ofstetah}},
		{CW_TP_RTP, CW_TA_ACK, 0, {&cw_hdr_rtph, &cw_hdr_atah}},
		{CW_TP_UTP, CW_TA_SEND, 3, {&cw_hdr_utph, &cw_hdr_btah, &cw_hdr_ofstetah}},
	};
	struct cw_packet p;
	struct build b;
	unsigned i, k, v6;
	int ta;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (v6 = 0; v6 < 2; v6++) {
			begin_ip(&b, v6);
			add_rtp(&b, cases[i].h);
			assert_int_equal(cw_craft_payload(&b.c, NULL, cases[i].payload), CW_OK);
			if (finish(&b, &p, CW_LINK_ETHERNET) != CW_OK)
				fail_msg("case %u: %s", i, cw_err_name(p.verdict));
			assert_int_equal(p.icrc.status, CW_ICRC_OK);
			assert_string_equal(p.family, "uboe");
			for (k = 0; k < 6 && cases[i].h[k] != NULL; k++)
				assert_ptr_equal(p.layers[3 + k].hdr, cases[i].h[k]);
			assert_int_equal(p.nlayers, 3 + k);
			assert_int_equal(p.payload_len, cases[i].payload);
			assert_int_equal(p.pad_len, -cases[i].payload & 3);
			assert_int_equal(cw_rtph_opcode(cw_layer_data(&p, 3)), cases[i].tp);
			assert_int_equal(cw_rtph_last(cw_layer_data(&p, 3)),
					 cases[i].tp == CW_TP_RTP);
			ta = cw_packet_find(&p, &cw_hdr_btah, 0);
			if (ta >= 0)
				assert_int_equal(cw_btah_opcode(cw_layer_data(&p, (unsigned)ta)),
						 cases[i].ta);
		}
	}
}

/* UB 2.0 B.1: CFG and PLENGTH follow from the layers. */
static void s_b_1_native_defaults(void **state)
{
	static const struct {
		uint32_t cfg;
		enum cw_icrc_status icrc;
		const struct cw_hdr *h[6];
	} cases[] = {
		{CW_UB_CFG_IP4,
		 CW_ICRC_OK,
		 {&cw_hdr_cci_fecn, &cw_hdr_npi, &cw_hdr_ipv4, &cw_hdr_udp, &cw_hdr_rtph}},
		{CW_UB_CFG_IP6,
		 CW_ICRC_OK,
		 {&cw_hdr_cci_fecn, &cw_hdr_npi, &cw_hdr_ipv6, &cw_hdr_udp, &cw_hdr_rtph}},
		{CW_UB_CFG_NETCTL, CW_ICRC_ABSENT, {&cw_hdr_netctl}},
		{CW_UB_CFG_CNA16,
		 CW_ICRC_OK,
		 {&cw_hdr_cna16, &cw_hdr_ctph, &cw_hdr_upih16, &cw_hdr_eidh40, &cw_hdr_atah}},
		{CW_UB_CFG_CNA16, CW_ICRC_OK, {&cw_hdr_cna16, &cw_hdr_upih16}},
		{CW_UB_CFG_CNA24, CW_ICRC_OK, {&cw_hdr_cna24, &cw_hdr_rtph, &cw_hdr_atah}},
		{CW_UB_CFG_CNA24, CW_ICRC_OK, {&cw_hdr_cna24, &cw_hdr_ctph, &cw_hdr_atah}},
		{CW_UB_CFG_CNA16_MEM, CW_ICRC_ABSENT, {&cw_hdr_cna16, &cw_hdr_atah_compact}},
	};
	struct cw_packet p;
	struct build b;
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&b);
		layer(&b, &cw_hdr_lph);
		for (k = 0; k < 6 && cases[i].h[k] != NULL; k++)
			layer(&b, cases[i].h[k]);
		if (finish(&b, &p, CW_LINK_UB) != CW_OK)
			fail_msg("case %u: %s", i, cw_err_name(p.verdict));
		assert_int_equal(p.nlayers, k + 1);
		assert_int_equal(cw_lph_cfg(b.buf), cases[i].cfg);
		assert_int_equal(p.icrc.status, cases[i].icrc);
		assert_string_equal(p.family, "ub");
	}
}

/* TCP/IP over UB has no ICRC; four octets behind the IP packet are tolerated, others are not. */
static void plain_ip_over_ub(void **state)
{
	static const unsigned tails[] = {0, 4, 8};
	struct cw_packet p;
	struct build b;
	uint16_t plen;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		begin(&b);
		layer(&b, &cw_hdr_lph);
		layer(&b, &cw_hdr_cci_fecn);
		layer(&b, &cw_hdr_npi);
		layer(&b, &cw_hdr_ipv4);
		set(&b, "proto", "TCP");
		assert_int_equal(cw_craft_payload(&b.c, NULL, 40), CW_OK);
		assert_int_equal(cw_craft_finish(&b.c, "\1\2\3\4\5\6\7\10", tails[i]), CW_OK);
		assert_int_equal(cw_plength_encode(CW_PLENGTH_CRC, b.c.len - 4, &plen), CW_OK);
		cw_lph_set_plength(b.buf, plen);
		assert_int_equal(cw_dissect(&p, CW_LINK_UB, b.buf, b.c.len, NULL),
				 tails[i] < 8 ? CW_OK : CW_E_LENGTH);
		assert_string_equal(p.family, "ip");
		assert_int_equal(p.icrc.status, CW_ICRC_ABSENT);
		assert_int_equal(p.trailer_len, tails[i]);
	}
}

static void refused_native_packets(void **state)
{
	struct cw_packet p;

	(void)state;
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00010000 0000"), CW_E_RESERVED);
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "000a0000 0000"), CW_E_RESERVED);
	/* CFG 3 in front of IPv6, CFG 4 in front of IPv4. */
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00030000 8002 00000001 60"), CW_E_VERSION);
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00040000 8002 00000001 45"), CW_E_VERSION);
	/* CNA16 with a reserved NLP, PLENGTH with a reserved code, and one beyond the packet. */
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "0006000b 1111222280020007 00000000"),
			 CW_E_ICRC);
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00060014 1111222280020007 00000000"),
			 CW_E_LENGTH);
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "0006002b 1111222280020007 00000000"),
			 CW_E_LENGTH);
	/* CNA16 and CNA24 with less than an ICRC behind them. */
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "0006000a 1111222280020000 000000"),
			 CW_E_SHORT);
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00070038 11111122222280020000 000000"),
			 CW_E_SHORT);
	/* Link control with wrong fixed bits. */
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "03f02400 00000000"), CW_E_RESERVED);
}

static void ub_port_moves(void **state)
{
	struct cw_dissect_opts opts = {.ub_port = 5000};
	struct cw_packet p;
	struct build b;

	(void)state;
	begin_ip(&b, false);
	set(&b, "dport", "5000");
	layer(&b, &cw_hdr_rtph);
	assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_OK);
	assert_string_equal(p.family, "ip");
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, b.buf, b.c.len, &opts), CW_OK);
	assert_string_equal(p.family, "uboe");
	begin_ip(&b, false);
	layer(&b, &cw_hdr_rtph);
	assert_int_equal(finish(&b, &p, CW_LINK_ETHERNET), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, b.buf, b.c.len, &opts), CW_OK);
	assert_string_equal(p.family, "ip");
}

/* ---- Craft ---------------------------------------------------------------------------------- */

static void what_is_given_is_kept(void **state)
{
	struct cw_packet p;
	struct build b;

	(void)state;
	begin_ip(&b, false);
	set(&b, "length", "9");
	set(&b, "checksum", "0xabcd");
	layer(&b, &cw_hdr_rtph);
	set(&b, "padding", "3");
	set(&b, "opcode", "127");
	cw_craft_icrc(&b.c, 0x11223344);
	(void)finish(&b, &p, CW_LINK_ETHERNET);
	assert_int_equal(cw_udp_length(b.buf + 34), 9);
	assert_int_equal(cw_udp_checksum(b.buf + 34), 0xabcd);
	assert_int_equal(cw_rtph_padding(b.buf + 42), 3);
	assert_int_equal(cw_rtph_opcode(b.buf + 42), 127);
	assert_int_equal(cw_le32(b.buf + b.c.len - 4), 0x11223344);
	assert_int_equal(b.c.len, 42 + 16 + 3 + 4);
	begin_ip(&b, false);
	layer(&b, &cw_hdr_rtph);
	cw_craft_no_icrc(&b.c);
	(void)finish(&b, &p, CW_LINK_ETHERNET);
	assert_int_equal(b.c.len, 42 + 16);
}

static int craft_into(void *buf, size_t size, uint32_t *len)
{
	static const struct cw_hdr *const hdrs[] = {&cw_hdr_eth,  &cw_hdr_ipv4, &cw_hdr_udp,
						    &cw_hdr_rtph, &cw_hdr_btah, &cw_hdr_ofstetah};
	struct cw_craft c;
	unsigned i;
	int err;

	cw_craft_init(&c, buf, size);
	for (i = 0; i < 6; i++) {
		if ((err = cw_craft_layer(&c, hdrs[i], NULL, 0)) < 0)
			return err;
	}
	if ((err = cw_craft_payload(&c, "hello", 5)) < 0)
		return err;
	err = cw_craft_finish(&c, "tail", 4);
	*len = c.len;
	return err;
}

static void every_smaller_buffer_is_refused(void **state)
{
	uint32_t len = 0, size;
	uint8_t *buf = malloc(200);

	(void)state;
	assert_int_equal(craft_into(buf, 200, &len), CW_OK);
	free(buf);
	for (size = 0; size < len; size++) {
		uint32_t ignored;

		buf = malloc(size > 0 ? size : 1);
		if (craft_into(buf, size, &ignored) != CW_E_SPACE)
			fail_msg("%u octets were enough for %u", size, len);
		free(buf);
	}
}

static void craft_errors(void **state)
{
	struct build b;
	unsigned i;

	(void)state;
	begin(&b);
	assert_int_equal(cw_craft_field(&b.c, "dst", "02:00:00:00:00:01"), CW_E_STATE);
	layer(&b, &cw_hdr_rtph);
	assert_int_equal(cw_craft_field(&b.c, "nosuch", "1"), CW_E_NAME);
	assert_int_equal(cw_craft_field(&b.c, "psn", "x"), CW_E_SYNTAX);
	assert_int_equal(cw_craft_field(&b.c, "psn", ""), CW_E_SYNTAX);
	assert_int_equal(cw_craft_field(&b.c, "psn", "16777216"), CW_E_RANGE);
	assert_int_equal(cw_craft_field(&b.c, "psn", "0xffffff"), CW_OK);
	assert_int_equal(cw_craft_field(&b.c, "opcode", "CNP"), CW_OK);
	assert_int_equal(cw_rtph_opcode(b.buf), CW_TP_CNP);
	for (i = 1; i < CW_MAX_LAYERS; i++)
		layer(&b, &cw_hdr_vlan);
	assert_int_equal(cw_craft_layer(&b.c, &cw_hdr_vlan, NULL, 0), CW_E_DEPTH);
}

/* ---- Dissect, show -------------------------------------------------------------------------- */

static void a_link_of_nobody_is_payload(void **state)
{
	struct cw_packet p;

	(void)state;
	assert_int_equal(cw_dissect(&p, (enum cw_link)4711, "abc", 3, NULL), CW_OK);
	assert_string_equal(p.family, "unknown");
	assert_int_equal(p.payload_len, 3);
	assert_int_equal(p.nlayers, 0);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, "", 0, NULL), CW_E_SHORT);
	if (SIZE_MAX > UINT32_MAX)
		assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, "", (size_t)UINT32_MAX + 1, NULL),
				 CW_E_ARG);
}

struct text {
	char s[16384];
	size_t n;
};

static void collect(void *ctx, const char *s, size_t len)
{
	struct text *t = ctx;

	assert_true(t->n + len < sizeof(t->s));
	memcpy(t->s + t->n, s, len);
	t->n += len;
	t->s[t->n] = '\0';
}

static void json_of_a_small_packet(void **state)
{
	static const char want[] =
		"\"family\":\"uboe\",\"layers\":[{\"layer\":\"eth\",\"dst\":\"02:00:00:00:00:02\","
		"\"src\":\"02:00:00:00:00:01\",\"type\":\"0x0800\"}";
	struct text t = {.n = 0};
	struct cw_sink sink = {collect, &t};
	struct cw_packet p;
	unsigned depth = 0, quotes = 0;
	size_t i;

	(void)state;
	assert_int_equal(dissect_hex(&p, CW_LINK_ETHERNET,
				     ETH4 "4502003000004000401126b90a0000020a000001c00112b8001c0000"
					  "02000002030001020000000a000000017cd366d2 00000000"),
			 CW_OK);
	cw_show_json(&p, &sink);
	if (strncmp(t.s, want, strlen(want)) != 0)
		fail_msg("%s", t.s);
	assert_non_null(strstr(t.s, "\"icrc\":{\"status\":\"ok\",\"wire\":\"0xd266d37c\","
				    "\"computed\":\"0xd266d37c\"},\"verdict\":\"ok\""));
	assert_non_null(strstr(t.s, "\"trailer\":\"00000000\""));
	assert_null(strstr(t.s, "\"error\""));
	/* No text from the packet goes in unescaped: all of it is digits, hex and names. */
	for (i = 0; i < t.n; i++) {
		assert_true(t.s[i] >= ' ' && t.s[i] < 0x7f && t.s[i] != '\\');
		quotes += t.s[i] == '"';
		depth += (t.s[i] == '{') + (t.s[i] == '[');
		depth -= (t.s[i] == '}') + (t.s[i] == ']');
	}
	assert_int_equal(quotes % 2, 0);
	assert_int_equal(depth, 0);
}

static void text_hides_reserved_zeros(void **state)
{
	struct text t = {.n = 0};
	struct cw_sink sink = {collect, &t};
	struct cw_packet p;

	(void)state;
	assert_int_equal(dissect_hex(&p, CW_LINK_UB,
				     "00050041 0100 00 00000000000000000000000000000000"
				     "0000000000000000000000000000000000"),
			 CW_E_LENGTH);
	cw_show_text(&p, &sink);
	assert_null(strstr(t.s, "reserved"));
	assert_non_null(strstr(t.s, "cfg              5 (network-control)"));
	assert_non_null(strstr(t.s, "payload, 36 octets: "));
	assert_non_null(strstr(t.s, "...\n"));
	assert_non_null(strstr(t.s, "ERROR at 4: a length field disagrees with the packet"));
	t.n = 0;
	assert_int_equal(dissect_hex(&p, CW_LINK_UB, "00150000 00"), CW_E_SHORT);
	cw_show_text(&p, &sink);
	assert_non_null(strstr(t.s, "reserved2        1"));
}

/* ---- Internet checksum ---------------------------------------------------------------------- */

/* RFC 1071 1, word by word; the octets in front of `skip` and behind the two there count. */
static uint32_t plain_sum(uint32_t sum, const uint8_t *p, size_t len, size_t skip)
{
	uint64_t s = sum;
	size_t i;

	for (i = 0; i < len; i++) {
		if (i < skip || i >= skip + 2)
			s += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	}
	while (s > 0xffff)
		s = (s & 0xffff) + (s >> 16);
	return (uint32_t)s;
}

static void fill_octets(uint8_t *p, size_t n, unsigned how)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = how == 0 ? 0 : how == 1 ? 0xff : (uint8_t)(rand() >> 8);
}

static void rfc1071_sums_of_each_length_and_start(void **state)
{
	static const uint32_t before[] = {0, 1, 0xffff, 0x10000, 0xffffffff};
	uint8_t all[216], *exact;
	size_t len, at;
	unsigned how, i;

	(void)state;
	for (how = 0; how < 4; how++) {
		fill_octets(all, sizeof(all), how);
		for (len = 0; len <= 200; len++) {
			for (at = 0; at < 16; at++) {
				i = (unsigned)(len + at) % 5;
				assert_int_equal(cw_inet_sum(before[i], all + at, len),
						 plain_sum(before[i], all + at, len, len));
			}
			exact = exact_copy(all, len);
			assert_int_equal(cw_inet_sum(0, exact, len), plain_sum(0, all, len, len));
			free(exact);
		}
	}
}

static void rfc791_checksums_of_each_header_length(void **state)
{
	uint8_t h[60], *exact;
	unsigned how, ihl;

	(void)state;
	for (how = 0; how < 8; how++) {
		for (ihl = 5; ihl <= 15; ihl++) {
			fill_octets(h, sizeof(h), how);
			h[0] = (uint8_t)(0x40 | ihl);
			exact = exact_copy(h, 4 * ihl);
			assert_int_equal(cw_ipv4_compute(exact),
					 (uint16_t)~plain_sum(0, h, 4 * ihl, 10));
			free(exact);
		}
	}
}

/* Pseudo header and UDP of one packet, laid out as RFC 768 and RFC 8200 8.1 draw them. */
static uint16_t plain_udp(const uint8_t *ip, const uint8_t *udp, size_t len)
{
	size_t alen = ip[0] >> 4 == 4 ? 8 : 32;
	uint8_t pseudo[40] = {0};
	uint16_t sum;

	memcpy(pseudo, ip + (alen == 8 ? 12 : 8), alen);
	cw_put_be32(pseudo + alen, (uint32_t)len);
	pseudo[alen + 7] = CW_IPPROTO_UDP;
	sum = (uint16_t)~plain_sum(plain_sum(0, pseudo, alen + 8, alen + 8), udp, len, 6);
	return sum == 0 ? 0xffff : sum;
}

static void rfc768_checksums_of_each_length(void **state)
{
	uint8_t ip[40], udp[208], *exact, *whole = malloc(40 + 200);
	unsigned how, v6;
	size_t len;

	(void)state;
	for (how = 0; how < 8; how++) {
		for (len = 0; len <= 200; len++) {
			for (v6 = 0; v6 < 2; v6++) {
				fill_octets(ip, sizeof(ip), how);
				fill_octets(udp, len, how);
				ip[0] = v6 ? 0x60 : 0x45;
				exact = exact_copy(udp, len);
				assert_int_equal(cw_udp_compute(ip, exact, len),
						 plain_udp(ip, udp, len));
				free(exact);
				memcpy(whole, ip, v6 ? 40 : 20); /* and right behind IP */
				memcpy(whole + (v6 ? 40 : 20), udp, len);
				assert_int_equal(cw_udp_compute(whole, whole + (v6 ? 40 : 20), len),
						 plain_udp(ip, udp, len));
			}
		}
	}
	free(whole);
}

/* A sum of all ones but one is written as ones, not as zero, which says that there is none. */
static void rfc768_zero_is_sent_as_ones(void **state)
{
	uint8_t ip[20] = {0x45}, udp[10] = {0};

	(void)state;
	cw_put_be16(udp + 8, (uint16_t)(0xffff - CW_IPPROTO_UDP - sizeof(udp)));
	assert_int_equal(cw_udp_compute(ip, udp, sizeof(udp)), 0xffff);
	cw_put_be16(udp + 8, (uint16_t)(0xffff - CW_IPPROTO_UDP - sizeof(udp) - 1));
	assert_int_equal(cw_udp_compute(ip, udp, sizeof(udp)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1071_sums_of_each_length_and_start),
		cmocka_unit_test(rfc791_checksums_of_each_header_length),
		cmocka_unit_test(rfc768_checksums_of_each_length),
		cmocka_unit_test(rfc768_zero_is_sent_as_ones),
		cmocka_unit_test(vlan_depth_is_bounded),
		cmocka_unit_test(qinq_types_follow_802_1ad),
		cmocka_unit_test(ipv4_faults),
		cmocka_unit_test(ipv6_extension_headers_are_bounded),
		cmocka_unit_test(ipv6_faults),
		cmocka_unit_test(s4_1_uboe_needs_a_plain_ip_header),
		cmocka_unit_test(s4_2_too_short_for_an_icrc),
		cmocka_unit_test(defaults_make_valid_packets),
		cmocka_unit_test(s_b_1_native_defaults),
		cmocka_unit_test(plain_ip_over_ub),
		cmocka_unit_test(refused_native_packets),
		cmocka_unit_test(ub_port_moves),
		cmocka_unit_test(what_is_given_is_kept),
		cmocka_unit_test(every_smaller_buffer_is_refused),
		cmocka_unit_test(craft_errors),
		cmocka_unit_test(a_link_of_nobody_is_payload),
		cmocka_unit_test(json_of_a_small_packet),
		cmocka_unit_test(text_hides_reserved_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
