/* Tests of the two UET families: the article's header, UE 1.0, and who owns UDP port 4792. */
#include "tests/unit/test.h"
#include "causeway/craft.h"
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"

enum { L4 = CW_SIZE_ETH + CW_SIZE_IPV4 + CW_SIZE_UDP };

static const uint8_t seq[48] = {
	0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c,
	0x1d, 0x1e, 0x1f, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,
	0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36,
	0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x41, 0x42, 0x43,
};

/* An Ethernet frame around a UDP payload to `port`; returns its length. */
static size_t frame(uint8_t *f, uint16_t port, const void *payload, size_t len)
{
	uint8_t *ip = f + CW_SIZE_ETH, *udp = ip + CW_SIZE_IPV4;

	memset(f, 0, L4);
	cw_eth_set_type(f, CW_ETHERTYPE_IP4);
	ip[0] = 0x45;
	cw_ipv4_set_length(ip, (uint32_t)(28 + len));
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, 17);
	memcpy(ip + 12, "\x0a\x01\x02\x03\x0a\x04\x05\x06", 8);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(udp, 0xc123);
	cw_udp_set_dport(udp, port);
	cw_udp_set_length(udp, (uint32_t)(8 + len));
	memcpy(f + L4, payload, len);
	return L4 + len;
}

static void put_crc(uint8_t *f, size_t len)
{
	uint32_t v;

	assert_int_equal(cw_uec_crc(f + CW_SIZE_ETH, len - CW_SIZE_ETH - 4, &v), CW_OK);
	cw_put_le32(f + len - 4, v);
}

static int dissect(struct cw_packet *p, const uint8_t *f, size_t len, enum cw_4792 mode)
{
	struct cw_dissect_opts o = {.port_4792 = mode};

	return cw_dissect(p, CW_LINK_ETHERNET, f, len, &o);
}

/* ---- CRC-32C ------------------------------------------------------------------------------ */

static uint32_t bitwise(uint32_t crc, const uint8_t *p, size_t n)
{
	unsigned i;

	crc = ~crc;
	while (n-- > 0) {
		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/* RFC 3720 B.4 and the check value. */
static void crc32c_known_values(void **state)
{
	uint8_t p[32];
	unsigned i;

	(void)state;
	assert_int_equal(cw_crc32c(0, "123456789", 9), 0xe3069283);
	memset(p, 0, sizeof(p));
	assert_int_equal(cw_crc32c(0, p, 32), 0x8a9136aa);
	memset(p, 0xff, sizeof(p));
	assert_int_equal(cw_crc32c(0, p, 32), 0x62a8ab43);
	for (i = 0; i < 32; i++)
		p[i] = (uint8_t)i;
	assert_int_equal(cw_crc32c(0, p, 32), 0x46dd794e);
	assert_int_equal(cw_crc32c(cw_crc32c(0, p, 11), p + 11, 21), 0x46dd794e);
}

static void crc32c_both_ways_agree_with_the_definition(void **state)
{
	uint8_t all[300];
	uint32_t s = 7;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)((s = s * 1664525u + 1013904223u) >> 24);
	for (n = 0; n <= 200; n++) {
		for (i = 0; i < 16; i++) {
			uint8_t *p = exact_copy(all + i, n);
			uint32_t want = bitwise((uint32_t)n * 77, p, n);

			assert_int_equal(cw_crc32c((uint32_t)n * 77, p, n), want);
			assert_int_equal(cw_crc32c_table((uint32_t)n * 77, p, n), want);
			free(p);
		}
	}
}

/* ---- The article's header ----------------------------------------------------------------- */

static void uetx_fields_are_where_they_belong(void **state)
{
	(void)state;
	assert_int_equal(cw_uetx_version(seq), 1);
	assert_int_equal(cw_uetx_opcode(seq), 0x11);
	assert_int_equal(cw_uetx_ec(seq) << 3 | cw_uetx_s(seq) << 2 | cw_uetx_f(seq) << 1 |
				 cw_uetx_l(seq),
			 2);
	assert_int_equal(cw_uetx_dcid(seq), 0x131415);
	assert_int_equal(cw_uetx_scid(seq), 0x161718);
	assert_int_equal(cw_uetx_msg_id(seq), 0x191a1b1c);
	assert_int_equal(cw_uetx_offset(seq), 0x1d1e1f21);
	assert_int_equal(cw_uetx_length(seq), 0x2223);
	assert_int_equal(cw_uetx_reserved(seq), 0x2425);
	assert_int_equal(cw_uetx_ack_cumulative(seq + 20), 0x2627);
	assert_int_equal(cw_uetx_ack_sack(seq + 20), 0x2829);
	assert_int_equal(cw_uetx_literal_length(seq), 0x2223);
	assert_int_equal(cw_uetx_literal_cumulative(seq), 0x2425);
	assert_int_equal(cw_uetx_literal_sack(seq), 0x2627);
}

/* The article: "The UET header is 20 bytes"; Ack and Nack carry four more. */
static void article_data_has_20_octets_ack_and_nack_24(void **state)
{
	static const struct {
		unsigned opcode, head;
	} rows[] = {{1, 20}, {2, 20}, {5, 20}, {7, 24}, {10, 24}, {0x40, 20}, {0x41, 20}, {3, 0}};
	uint8_t f[128], u[64] = {0};
	struct cw_packet p;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned len = rows[i].head ? rows[i].head : 20;

		assert_int_equal(cw_uetx_header_len(rows[i].opcode), rows[i].head);
		cw_uetx_set_version(u, 1);
		cw_uetx_set_opcode(u, rows[i].opcode);
		cw_uetx_set_length(u, 9);
		dissect(&p, f, frame(f, 4792, u, len + 9), CW_4792_BY_CONTENT);
		assert_int_equal(p.verdict, rows[i].head ? CW_OK : CW_E_UNKNOWN);
		if (rows[i].head == 0)
			continue;
		assert_string_equal(p.family, "uetx");
		assert_int_equal(p.payload_len, rows[i].opcode == 10 ? 5 : 9);
	}
}

/* Every length but the right one is refused, and pinned packets say why. */
static void article_length_equation(void **state)
{
	uint8_t f[256], u[64] = {0x10, 0x50};
	struct cw_packet p;
	size_t n;

	(void)state;
	cw_uetx_set_length(u, 16);
	for (n = 0; n < sizeof(u); n++) {
		size_t len = frame(f, 4792, u, n);
		uint8_t *copy = exact_copy(f, len);

		assert_int_equal(dissect(&p, copy, len, CW_4792_BY_CONTENT),
				 n == 36  ? CW_OK
				 : n == 0 ? CW_OK /* an empty datagram is nobody's */
					  : CW_E_UNKNOWN);
		assert_int_equal(dissect(&p, copy, len, CW_4792_UETX), n == 36  ? CW_OK
								       : n < 20 ? CW_E_SHORT
										: CW_E_LENGTH);
		free(copy);
	}
}

static void article_errors_have_names(void **state)
{
	uint8_t u[20] = {0x10, 0x50};

	(void)state;
	assert_int_equal(cw_uetx_check(u, 20), CW_OK);
	assert_int_equal(cw_uetx_check(u, 19), CW_E_SHORT);
	u[0] = 0x20;
	assert_int_equal(cw_uetx_check(u, 20), CW_E_VERSION);
	u[0] = 0x1f;
	assert_int_equal(cw_uetx_check(u, 20), CW_E_RESERVED);
	u[0] = 0x10;
	u[19] = 1;
	assert_int_equal(cw_uetx_check(u, 20), CW_E_RESERVED);
	u[19] = 0;
	u[17] = 1;
	assert_int_equal(cw_uetx_check(u, 20), CW_E_LENGTH);
}

static void article_literal_reading_has_22_octets(void **state)
{
	uint8_t f[128], u[64];
	struct cw_packet p;
	size_t len;

	(void)state;
	memcpy(u, seq, 48);
	u[1] = 0x53; /* opcode 5 */
	u[0] = 0x10;
	cw_uetx_literal_set_length(u, 10);
	len = frame(f, 4792, u, 32);
	assert_int_equal(dissect(&p, f, len, CW_4792_UETX_LITERAL), CW_OK);
	assert_ptr_equal(p.layers[p.nlayers - 1].hdr, &cw_hdr_uetx_literal);
	assert_int_equal(p.payload_len, 10);
	assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_E_UNKNOWN);
	f[L4] = 0x20;
	assert_int_equal(dissect(&p, f, len, CW_4792_UETX_LITERAL), CW_E_VERSION);
}

/* ---- Port 4792 ---------------------------------------------------------------------------- */

/* The first octets of UB and of the article are disjoint: all 256, and who takes them. */
static void port_4792_by_first_octet(void **state)
{
	uint8_t f[128], u[40] = {0};
	struct cw_packet p;
	unsigned o;

	(void)state;
	cw_uetx_set_length(u, 20);
	for (o = 0; o < 256; o++) {
		const char *want = "ip";

		u[0] = (uint8_t)o;
		u[1] = 0x50;
		u[2] = 1;
		dissect(&p, f, frame(f, 4792, u, sizeof(u)), CW_4792_BY_CONTENT);
		if (o == 0x10)
			want = "uetx";
		else if (o >> 4 == 1)
			want = "unknown"; /* opcodes 0x15, 0x25 .. are not assigned */
		else if (o <= 3 || o == 5 || o == 6 || o == 8 || o == 0x81)
			want = "uboe";
		if (o == 0x14) /* opcode 0x45 */
			want = "unknown";
		assert_string_equal(p.family, want);
	}
}

/* RUD and ROD requests of UE 1.0 begin with 0x10 .. 0x1f: on 4792 their CRC gives them away. */
static void port_4792_misdirected_ue(void **state)
{
	uint8_t f[128], u[64] = {0};
	struct cw_packet p;
	unsigned first;
	size_t len;

	(void)state;
	for (first = 0x10; first <= 0x1f; first++) {
		u[0] = (uint8_t)first;
		u[1] = 0x08;
		len = frame(f, 4792, u, 28);
		put_crc(f, len);
		dissect(&p, f, len, CW_4792_BY_CONTENT);
		if ((first & 7) == 0) { /* next header none */
			assert_int_equal(p.verdict, CW_E_FORBIDDEN);
			assert_int_equal(p.icrc.status, CW_ICRC_OK);
		}
		assert_string_equal(p.family, "uec");
		f[len - 1] ^= 1;
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_E_UNKNOWN);
		assert_int_equal(p.payload_len, 28);
	}
}

/* A packet that satisfies the article's equation is the article's, with a right CRC-32C or not. */
static void port_4792_equation_beats_crc(void **state)
{
	uint8_t f[128], u[40] = {0x10, 0x10};
	struct cw_packet p;
	size_t len;

	(void)state;
	cw_uetx_set_length(u, 20);
	len = frame(f, 4792, u, 40);
	put_crc(f, len);
	assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
	assert_string_equal(p.family, "uetx");
}

static void port_4792_can_be_pinned(void **state)
{
	uint8_t f[128], u[40] = {0x10, 0x50};
	struct cw_packet p;
	size_t len;

	(void)state;
	cw_uetx_set_length(u, 20);
	len = frame(f, 4792, u, 40);
	dissect(&p, f, len, CW_4792_UB);
	assert_string_equal(p.family, "uboe");
	f[L4] = 0x01;
	dissect(&p, f, len, CW_4792_BY_CONTENT);
	assert_string_equal(p.family, "uboe");
	dissect(&p, f, len, CW_4792_UETX);
	assert_string_equal(p.family, "uetx");
	assert_int_equal(p.verdict, CW_E_VERSION);
}

/* The reading with a trailer: four octets behind Payload Length, and they must be right. */
static void article_may_end_in_a_crc(void **state)
{
	struct cw_dissect_opts o = {.uetx_crc = true};
	uint8_t f[128], u[44] = {0x10, 0x50};
	struct cw_packet p;
	size_t len;

	(void)state;
	cw_uetx_set_length(u, 20);
	len = frame(f, 4792, u, 44);
	put_crc(f, len);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_OK);
	assert_string_equal(p.family, "uetx");
	assert_int_equal(p.icrc.status, CW_ICRC_OK);
	assert_int_equal(p.payload_len, 20);
	f[len - 10] ^= 1;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_E_ICRC);
	o.no_icrc = true;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_OK);
	assert_int_equal(p.payload_len, 20);
	/* each reading refuses the other's packets */
	o.port_4792 = CW_4792_UETX;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, frame(f, 4792, u, 40), &o),
			 CW_E_LENGTH);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, frame(f, 4792, u, 3), &o), CW_E_SHORT);
	o.uetx_crc = false;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, frame(f, 4792, u, 44), &o),
			 CW_E_LENGTH);
}

/* By prefix: the longest one, of the destination before the source, beats the setting for all. */
static void port_4792_can_be_pinned_by_prefix(void **state)
{
	struct cw_pin_4792 pins[] = {
		{4, 0, {0}, CW_4792_UB},
		{4, 8, {10}, CW_4792_UETX},
		{4, 31, {10, 0, 0, 2}, CW_4792_BY_CONTENT},
		{6, 0, {0}, CW_4792_UETX_LITERAL},
		{4, 16, {192, 168}, CW_4792_UB},
	};
	static const struct {
		uint8_t src[4], dst[4];
		const char *family;
		int verdict;
	} rows[] = {
		{{10, 0, 0, 1}, {10, 0, 1, 1}, "uetx", CW_E_VERSION}, /* /8 of the destination */
		{{10, 0, 0, 1}, {10, 0, 0, 3}, "uboe", CW_E_ICRC},    /* by content: UTP */
		{{10, 0, 0, 1}, {11, 0, 0, 1}, "uboe", CW_E_ICRC},    /* /0 of the destination */
		{{10, 0, 0, 2},
		 {192, 168, 9, 1},
		 "uboe",
		 CW_E_ICRC}, /* destination before source */
	};
	struct cw_dissect_opts o = {.pins = pins, .npins = 5};
	uint8_t f[128], u[24] = {0x00, 0x50};
	struct cw_packet p;
	unsigned i;
	size_t len;

	(void)state;
	for (i = 0; i < 4; i++) {
		len = frame(f, 4792, u, sizeof(u));
		memcpy(f + CW_SIZE_ETH + 12, rows[i].src, 4);
		memcpy(f + CW_SIZE_ETH + 16, rows[i].dst, 4);
		cw_ipv4_set_checksum(f + CW_SIZE_ETH, cw_ipv4_compute(f + CW_SIZE_ETH));
		assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), rows[i].verdict);
		assert_string_equal(p.family, rows[i].family);
	}
	o.npins = 0;
	o.port_4792 = CW_4792_UETX;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_E_VERSION);
	/* only the source is in a prefix; and a pin that no address can be in */
	o.pins = &pins[1];
	o.npins = 1;
	o.port_4792 = CW_4792_UB;
	pins[1].plen = 33;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_E_ICRC);
	pins[1].plen = 7;
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, &o), CW_E_VERSION);
}

/* ---- UE 1.0 ------------------------------------------------------------------------------- */

/* Each bit of each header belongs to exactly one field. */
static void ue_tables_cover_every_bit_once(void **state)
{
	static const struct cw_hdr *const all[] = {
#define CW_X(h, title, table, fix) &cw_hdr_##h,
		CW_UEC_HEADERS(CW_X)
#undef CW_X
			& cw_hdr_uetx,
		&cw_hdr_uetx_ack,
		&cw_hdr_uetx_nack,
		&cw_hdr_uetx_literal,
	};
	unsigned i, k, at;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (at = k = 0; k < all[i]->nfields; k++) {
			if (all[i]->fields[k].bit != at)
				fail_msg("%s.%s", all[i]->name, all[i]->fields[k].name);
			at += all[i]->fields[k].width;
		}
		assert_int_equal(at, 8 * all[i]->size);
	}
}

static void ue_fields_are_where_they_belong(void **state)
{
	(void)state;
	assert_int_equal(cw_uec_req_type(seq), 2);
	assert_int_equal(cw_uec_req_next(seq), 2);
	assert_int_equal(cw_uec_req_retx(seq), 1);
	assert_int_equal(cw_uec_req_ar(seq), 0);
	assert_int_equal(cw_uec_req_clear_psn_offset(seq), 0x1314);
	assert_int_equal(cw_uec_req_psn(seq), 0x15161718);
	assert_int_equal(cw_uec_req_spdcid(seq), 0x191a);
	assert_int_equal(cw_uec_req_dpdcid(seq), 0x1b1c);
	assert_int_equal(cw_uec_req_syn_psn_offset(seq), 0xb1c);
	assert_int_equal(cw_uec_req_syn_use_rsv_pdc(seq), 1);
	assert_int_equal(cw_uec_req_cc_credit_target(seq), 0x121314);
	assert_int_equal(cw_uec_ack_cack_psn(seq), 0x15161718);
	assert_int_equal(cw_uec_ack_cc_mpr(seq), 0x12);
	assert_true(cw_uec_ack_cc_sack(seq) == 0x15161718191a1b1c);
	assert_int_equal(cw_uec_cc_nscc_service_time(seq), 0x1112);
	assert_int_equal(cw_uec_cc_nscc_rcv_cwnd_pend(seq), 0x13);
	assert_int_equal(cw_uec_cc_nscc_rcvd_bytes(seq), 0x141516);
	assert_int_equal(cw_uec_cc_nscc_ooo_count(seq), 0x1718);
	assert_int_equal(cw_uec_cc_credit_credit(seq), 0x111213);
	assert_int_equal(cw_uec_rudi_pkt_id(seq), 0x15161718);
	assert_int_equal(cw_uec_nack_code(seq), 0x13);
	assert_int_equal(cw_uec_nack_vendor(seq), 0x14);
	assert_int_equal(cw_uec_nack_spdcid(seq), 0x191a);
	assert_int_equal(cw_uec_nack_dpdcid(seq), 0x1b1c);
	assert_int_equal(cw_uec_ctrl_payload(seq), 0x1d1e1f21);
	assert_int_equal(cw_uec_nack_psn(seq), 0x15161718);
	assert_int_equal(cw_uec_nack_payload(seq), 0x1d1e1f21);
	assert_true(cw_uec_nack_ccx_state1(seq) == 0x112131415161718);
	assert_int_equal(cw_uec_tss_sdi(seq), 0x121314);
	assert_true(cw_uec_tss_tsc(seq) == 0x1718191a1b1c);
	assert_int_equal(cw_uec_tss_ssi_ssi(seq), 0x15161718);
	assert_int_equal(cw_ses_std_som_opcode(seq), 0x11);
	assert_int_equal(cw_ses_std_som_msg_id(seq), 0x1314);
	assert_int_equal(cw_ses_std_som_job_id(seq), 0x161718);
	assert_int_equal(cw_ses_std_som_pid_on_fep(seq), 0x91a);
	assert_int_equal(cw_ses_std_som_ri(seq), 0xb1c);
	assert_true(cw_ses_std_som_buf_off(seq) == 0x1d1e1f2122232425);
	assert_int_equal(cw_ses_std_som_initiator(seq), 0x26272829);
	assert_true(cw_ses_std_som_match(seq) == 0x2a2b2c2d2e2f3132);
	assert_true(cw_ses_std_som_hdr_data(seq) == 0x333435363738393a);
	assert_int_equal(cw_ses_std_som_req_len(seq), 0x3b3c3d3e);
	assert_int_equal(cw_ses_std_payload_len(seq), 0x3536);
	assert_int_equal(cw_ses_std_msg_off(seq), 0x3738393a);
	assert_int_equal(cw_ses_rsp_mod_len(seq), 0x191a1b1c);
	assert_int_equal(cw_ses_rsp_data_rd_msg_id(seq), 0x191a);
	assert_int_equal(cw_ses_rsp_data_payload_len(seq), 0x1b1c);
	assert_int_equal(cw_ses_rsp_data_msg_off(seq), 0x22232425);
	assert_int_equal(cw_ses_rsp_small_req_psn(seq), 0x191a1b1c);
	assert_int_equal(cw_ses_rndv_ri(seq), 0x718);
}

/* Octets in front of the payload for each PDS type and next header (reference: uet_pkt_hdr.h). */
static int headers_of(unsigned type, unsigned next)
{
	static const int pds[16] = {-1, 12, 12, 12, 8, 8, 4, 12, 32, 40, 16, 16, 32, 16, 16, -1};
	static const int ses[16] = {0, 20, 32, 44, 12, 20, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1};

	if (pds[type] < 0)
		return -1;
	if (type == 1 || type == 10 || type == 11 || type == 12)
		return pds[type];
	return ses[next] < 0 ? -1 : pds[type] + ses[next];
}

static void ue_every_type_and_next_header(void **state)
{
	uint8_t f[256], u[128];
	struct cw_packet p;
	unsigned type, next;

	(void)state;
	for (type = 0; type < 16; type++) {
		for (next = 0; next < 16; next++) {
			int want = headers_of(type, next);
			size_t len;

			memset(u, 0, sizeof(u));
			cw_uec_req_set_type(u, type);
			if (type != 1)
				cw_uec_req_set_next(u, next);
			len = frame(f, 4793, u, 100);
			put_crc(f, len);
			dissect(&p, f, len, CW_4792_BY_CONTENT);
			assert_string_equal(p.family, "uec");
			assert_int_equal(p.verdict, want < 0 ? CW_E_RESERVED : CW_OK);
			if (want < 0)
				continue;
			assert_int_equal(p.payload_off - L4, want);
			assert_int_equal(p.icrc.status, type == 1 ? CW_ICRC_ABSENT : CW_ICRC_OK);
		}
	}
}

/* All prefixes of a packet fail; so does any single changed octet behind the CRC's start. */
static void ue_prefixes_and_damage(void **state)
{
	uint8_t f[256], u[100] = {0};
	struct cw_packet p;
	size_t len, cut, i;

	(void)state;
	cw_uec_req_set_type(u, CW_PDS_ACK_CC);
	cw_uec_req_set_next(u, CW_PDS_NEXT_RSP_DATA);
	len = frame(f, 4793, u, 80);
	put_crc(f, len);
	for (cut = 0; cut < len; cut++) {
		uint8_t *part = exact_copy(f, cut);

		assert_true(dissect(&p, part, cut, CW_4792_BY_CONTENT) < 0);
		free(part);
	}
	for (i = L4; i < len; i++) {
		f[i] ^= 0x80;
		/* without a packet type there is no telling whether a CRC ends it */
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT),
				 i == L4 ? CW_E_RESERVED : CW_E_ICRC);
		f[i] ^= 0x80;
	}
	f[CW_SIZE_ETH + 8]--; /* TTL is outside */
	cw_ipv4_set_checksum(f + CW_SIZE_ETH, cw_ipv4_compute(f + CW_SIZE_ETH));
	assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
	for (i = 0; i < 48; i++) { /* headers cut short inside a whole UDP packet */
		len = frame(f, 4793, u, i);
		if (i >= 8)
			put_crc(f, len);
		assert_true(dissect(&p, f, len, CW_4792_BY_CONTENT) < 0);
	}
}

/* Headers of `want` octets: a packet that ends anywhere inside of them is none, one that ends with
 * them is whole, and of that one every prefix fails. Behind headers of TSS there is no CRC. */
static void cut_at_each_octet(const uint8_t *u, int want, bool crc)
{
	uint8_t f[256], *part;
	struct cw_packet p;
	size_t len = 0, n;
	int cut;

	for (cut = !crc; cut <= want; cut++) { /* an empty datagram is nobody's */
		len = frame(f, 4793, u, (size_t)cut + 4 * crc);
		if (crc)
			put_crc(f, len);
		part = exact_copy(f, len);
		if ((dissect(&p, part, len, CW_4792_BY_CONTENT) == CW_OK) != (cut == want) ||
		    (cut == want && p.payload_len != 0))
			fail_msg("%02x %02x: %d of %d octets", u[0], u[1], cut, want);
		free(part);
	}
	for (n = 0; n < len; n++) {
		part = exact_copy(f, n);
		assert_true(dissect(&p, part, n, CW_4792_BY_CONTENT) < 0);
		free(part);
	}
}

static void ue_every_form_cut_short(void **state)
{
	uint8_t u[256] = {0};
	unsigned type, next;

	(void)state;
	for (type = 2; type < 15; type++) {
		for (next = 0; next < 7; next++) {
			cw_uec_req_set_type(u, type);
			cw_uec_req_set_next(u, next);
			cut_at_each_octet(u, headers_of(type, next), true);
		}
	}
}

/* With SYN the last field is a PSN offset, and SES is not shifted (uet-ref-prov PR 42). */
static void ue_syn_has_a_psn_offset_in_place_of_dpdcid(void **state)
{
	uint8_t f[128], u[64] = {0};
	struct cw_packet p;
	size_t len;
	int i;

	(void)state;
	cw_uec_req_syn_set_type(u, CW_PDS_RUD);
	cw_uec_req_syn_set_next(u, CW_PDS_NEXT_SMALL);
	cw_uec_req_syn_set_syn(u, 1);
	cw_uec_req_syn_set_psn(u, 0x12345678);
	cw_uec_req_syn_set_psn_offset(u, 0x876);
	cw_ses_small_set_req_len(u + 12, 0x1234);
	len = frame(f, 4793, u, 36);
	put_crc(f, len);
	assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
	assert_int_equal(cw_packet_find(&p, &cw_hdr_uec_req, 0), -1);
	i = cw_packet_find(&p, &cw_hdr_uec_req_syn, 0);
	assert_int_equal(cw_uec_req_syn_psn_offset(cw_layer_data(&p, (unsigned)i)), 0x876);
	assert_int_equal(cw_uec_req_syn_psn(cw_layer_data(&p, (unsigned)i)), 0x12345678);
	i = cw_packet_find(&p, &cw_hdr_ses_small, 0);
	assert_int_equal(cw_ses_small_req_len(cw_layer_data(&p, (unsigned)i)), 0x1234);
}

/* Signed PSN offsets; no SES header (uet-ref-prov PR 35, PR 67). */
static void ue_offsets_are_signed(void **state)
{
	(void)state;
	assert_int_equal(cw_uec_psn(100, 0xfff0), 84);
	assert_int_equal(cw_uec_psn(5, 0xfff0), 0xfffffff5);
	assert_int_equal(cw_uec_psn(0xfffffff0, 0x7fff), 0x7fef);
}

static void ue_middle_of_message_and_extensions(void **state)
{
	static const struct {
		uint8_t som, opcode, amo;
		int octets;
	} rows[] = {{0, 1, 0, 44},    {1, 1, 0, 44},       {1, 3, 2, 48},      {1, 3, 0x0d, 80},
		    {0, 3, 0, 44},    {1, 6, 0, 68},       {1, 0x0a, 0, 68},   {1, 0x10, 0, 48},
		    {1, 0x11, 0, 52}, {1, 0x11, 0x12, 84}, {1, 0x0e, 0x13, 80}};
	uint8_t f[256], u[128];
	struct cw_packet p;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len;

		memset(u, 0, sizeof(u));
		cw_uec_req_set_type(u, CW_PDS_ROD);
		cw_uec_req_set_next(u, CW_PDS_NEXT_STD);
		cw_ses_std_set_som(u + 12, rows[i].som);
		cw_ses_std_set_opcode(u + 12, rows[i].opcode);
		u[rows[i].opcode == 0x11 ? 60 : 56] = rows[i].amo;
		len = frame(f, 4793, u, 120);
		put_crc(f, len);
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
		assert_int_equal(p.payload_off - L4, 12 + rows[i].octets);
		assert_true((cw_packet_find(&p, &cw_hdr_ses_std_som, 0) >= 0) == rows[i].som);
		cut_at_each_octet(u, 12 + rows[i].octets, true);
	}
}

static void ue_tss_is_opaque(void **state)
{
	uint8_t f[256], u[64];
	struct cw_packet p;

	(void)state;
	memcpy(u, seq, 48);
	u[0] = 0x08;
	assert_int_equal(dissect(&p, f, frame(f, 4793, u, 48), CW_4792_BY_CONTENT), CW_OK);
	assert_ptr_equal(p.layers[p.nlayers - 1].hdr, &cw_hdr_uec_tss);
	assert_int_equal(p.payload_len, 36);
	cut_at_each_octet(u, 12, false);
	u[0] = 0x0c;
	assert_int_equal(dissect(&p, f, frame(f, 4793, u, 48), CW_4792_BY_CONTENT), CW_OK);
	assert_ptr_equal(p.layers[p.nlayers - 1].hdr, &cw_hdr_uec_tss_ssi);
	assert_int_equal(p.payload_len, 32);
	cut_at_each_octet(u, 16, false);
}

/* roce-uec B2, B3: names of what a reader would look for, each by its number; NULL ends. */
static void check_names(const struct cw_name *n, const char *const *want, unsigned first)
{
	unsigned i;

	for (i = 0; want[i] != NULL; i++) {
		assert_int_equal(n[i].value, first + i);
		assert_string_equal(n[i].name, want[i]);
	}
	assert_null(n[i].name);
}

static void ue_control_types_and_opcodes_have_names(void **state)
{
	static const char *const ctrl[] = {
		"no-op", "ACK-request", "clear",          "clear-request", "close", "close-request",
		"probe", "credit",      "credit-request", "negotiation",   NULL};
	static const char *const ses[] = {"no-op",
					  "write",
					  "read",
					  "atomic",
					  "fetch-atomic",
					  "send",
					  "rendezvous-send",
					  "datagram-send",
					  "deferrable-send",
					  "tagged-send",
					  "rendezvous-tagged-send",
					  "deferrable-tagged-send",
					  "deferrable-RTR",
					  "tagged-send-atomic",
					  "tagged-send-fetch-atomic",
					  "message-error",
					  "sync-write",
					  "sync-atomic",
					  NULL};
	static const char *const rsp[] = {"default", "response", "with-data", "none", NULL};

	(void)state;
	check_names(cw_names_pds_ctrl, ctrl, 0);
	check_names(cw_names_ses_opcode, ses, 0);
	check_names(cw_names_ses_rsp_op, rsp, 0);
}

/* Each control type is decoded whole, whatever its flags, and its payload is not taken for SES. */
static void ue_control_packets(void **state)
{
	uint8_t f[128], u[24];
	struct cw_packet p;
	unsigned type;

	(void)state;
	for (type = 0; type < 16; type++) {
		size_t len;
		const uint8_t *c;

		memset(u, 0, sizeof(u));
		cw_uec_ctrl_set_type(u, CW_PDS_CTRL);
		cw_uec_ctrl_set_ctrl(u, type);
		cw_uec_ctrl_set_syn(u, type & 1);
		cw_uec_ctrl_set_payload(u, 0xa1b2c3d4);
		len = frame(f, 4793, u, 20);
		put_crc(f, len);
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
		c = cw_layer_data(&p, p.nlayers - 1);
		assert_ptr_equal(p.layers[p.nlayers - 1].hdr, &cw_hdr_uec_ctrl);
		assert_int_equal(cw_uec_ctrl_ctrl(c), type);
		assert_int_equal(cw_uec_ctrl_payload(c), 0xa1b2c3d4);
		assert_int_equal(p.payload_len, 0);
	}
}

/* The form of the state follows cc_type in ACK_CC; ACK_CCX has its own; a closing ACK has a PSN. */
static void ue_state_forms_of_acks(void **state)
{
	static const struct cw_hdr *const forms[16] = {&cw_hdr_uec_cc_nscc, &cw_hdr_uec_cc_credit};
	uint8_t f[128], u[64];
	struct cw_packet p;
	unsigned t;
	size_t len;

	(void)state;
	for (t = 0; t < 18; t++) {
		const struct cw_hdr *want = t < 16 && forms[t] != NULL ? forms[t]
					    : t < 16                   ? &cw_hdr_uec_cc_other
					    : t == 16                  ? &cw_hdr_uec_ccx
								       : &cw_hdr_uec_ack_epsn;
		unsigned size = t < 16 ? 32 : t == 16 ? 40 : 16;

		memset(u, 0, sizeof(u));
		cw_uec_ack_set_type(u, t < 16    ? CW_PDS_ACK_CC
				       : t == 16 ? CW_PDS_ACK_CCX
						 : CW_PDS_ACK);
		cw_uec_ack_set_epsn(u, t == 17);
		if (t < 16)
			cw_uec_ack_cc_set_cc_type(u + 12, t);
		len = frame(f, 4793, u, size + 4);
		put_crc(f, len);
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
		assert_ptr_equal(p.layers[p.nlayers - 1].hdr, want);
		cut_at_each_octet(u, (int)size, true);
	}
}

/* Every code: name and action, and a packet that says it. */
static void ue_nack_codes_and_their_actions(void **state)
{
	static const char *const names[] = {NULL,
					    "trimmed",
					    "trimmed-last-hop",
					    "trimmed-ACK",
					    "no-PDC",
					    "no-CCC",
					    "no-bitmap",
					    "no-packet-buffer",
					    "no-guaranteed-delivery",
					    "no-SES-message",
					    "no-resource",
					    "PSN-out-of-window",
					    NULL,
					    "ROD-out-of-order",
					    "bad-DPDCID",
					    "PDC-header-mismatch",
					    "closing",
					    "closing-in-error",
					    "packet-not-received",
					    "guaranteed-response-gone",
					    "ACK-with-data",
					    "invalid-SYN",
					    "mode-mismatch",
					    "new-start-PSN",
					    "SES-processing",
					    "unexpected",
					    "receiver-inferred-loss",
					    [0xfd] = "experimental-normal",
					    "experimental-error",
					    "experimental-fatal"};
	/* R: send again, C: close, I: ignore */
	static const char actions[256] = "?RRRRRRRRRRR?RCCCCRCRCCRICR";
	uint8_t f[128], u[24] = {0};
	struct cw_packet p;
	unsigned code;

	(void)state;
	for (code = 0; code < 256; code++) {
		char want = code >= 0xfd ? "RRC"[code - 0xfd] : actions[code];
		const struct cw_name *n = cw_names_pds_nack;
		size_t len;

		while (n->name != NULL && n->value != code)
			n++;
		assert_int_equal(n->name != NULL, names[code] != NULL);
		if (n->name != NULL)
			assert_string_equal(n->name, names[code]);
		assert_int_equal(cw_pds_nack_action(code), want == 'R'   ? CW_PDS_NACK_RETRANSMIT
							   : want == 'C' ? CW_PDS_NACK_CLOSE
							   : want == 'I' ? CW_PDS_NACK_IGNORE
									 : CW_PDS_NACK_UNKNOWN);
		cw_uec_nack_set_type(u, CW_PDS_NACK);
		cw_uec_nack_set_code(u, code);
		len = frame(f, 4793, u, 20);
		put_crc(f, len);
		assert_int_equal(dissect(&p, f, len, CW_4792_BY_CONTENT), CW_OK);
		assert_int_equal(cw_uec_nack_code(cw_layer_data(&p, p.nlayers - 1)), code);
	}
}

/* Native IP, both versions, by craft: protocol 253, entropy, CRC from the source address on. */
static void craft_native(const struct cw_hdr *ip, unsigned from)
{
	uint8_t buf[256];
	struct cw_packet p;
	struct cw_craft c;

	cw_craft_init(&c, buf, sizeof(buf));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_eth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, ip, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uec_entropy, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uec_req, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uec_req_cc, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ses_medium, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_payload(&c, "abc", 3), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, buf, c.len, NULL), CW_OK);
	assert_string_equal(p.family, "uec");
	assert_int_equal(p.payload_len, 3);
	assert_int_equal(p.icrc.status, CW_ICRC_OK);
	assert_int_equal(p.icrc.wire,
			 bitwise(0, buf + CW_SIZE_ETH + from, c.len - 4 - CW_SIZE_ETH - from));
	assert_int_equal(cw_uec_req_type(cw_layer_data(&p, 3)), CW_PDS_RUD_CC);
	assert_int_equal(cw_uec_req_next(cw_layer_data(&p, 3)), CW_PDS_NEXT_MEDIUM);
}

static void ue_native_ip(void **state)
{
	(void)state;
	craft_native(&cw_hdr_ipv4, 12);
	craft_native(&cw_hdr_ipv6, 8);
}

/* An article packet by craft: opcode and length are computed, UDP has a checksum. */
static void article_is_crafted(void **state)
{
	uint8_t buf[256];
	struct cw_packet p;
	struct cw_craft c;

	(void)state;
	cw_craft_init(&c, buf, sizeof(buf));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_eth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipv6, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_udp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uetx, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uetx_ack, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_uetx_nack, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, buf, c.len, NULL), CW_OK);
	assert_string_equal(p.family, "uetx");
	assert_int_equal(cw_udp_dport(cw_layer_data(&p, 2)), 4792);
	assert_true(cw_udp_checksum(cw_layer_data(&p, 2)) != 0);
	assert_int_equal(cw_uetx_opcode(cw_layer_data(&p, 3)), CW_UETX_NACK);
	assert_int_equal(cw_uetx_length(cw_layer_data(&p, 3)), 4);
	assert_int_equal(p.payload_len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c_known_values),
		cmocka_unit_test(crc32c_both_ways_agree_with_the_definition),
		cmocka_unit_test(uetx_fields_are_where_they_belong),
		cmocka_unit_test(article_data_has_20_octets_ack_and_nack_24),
		cmocka_unit_test(article_length_equation),
		cmocka_unit_test(article_errors_have_names),
		cmocka_unit_test(article_literal_reading_has_22_octets),
		cmocka_unit_test(article_is_crafted),
		cmocka_unit_test(port_4792_by_first_octet),
		cmocka_unit_test(port_4792_misdirected_ue),
		cmocka_unit_test(port_4792_equation_beats_crc),
		cmocka_unit_test(port_4792_can_be_pinned),
		cmocka_unit_test(port_4792_can_be_pinned_by_prefix),
		cmocka_unit_test(article_may_end_in_a_crc),
		cmocka_unit_test(ue_tables_cover_every_bit_once),
		cmocka_unit_test(ue_fields_are_where_they_belong),
		cmocka_unit_test(ue_every_type_and_next_header),
		cmocka_unit_test(ue_prefixes_and_damage),
		cmocka_unit_test(ue_every_form_cut_short),
		cmocka_unit_test(ue_syn_has_a_psn_offset_in_place_of_dpdcid),
		cmocka_unit_test(ue_offsets_are_signed),
		cmocka_unit_test(ue_middle_of_message_and_extensions),
		cmocka_unit_test(ue_tss_is_opaque),
		cmocka_unit_test(ue_control_types_and_opcodes_have_names),
		cmocka_unit_test(ue_control_packets),
		cmocka_unit_test(ue_state_forms_of_acks),
		cmocka_unit_test(ue_nack_codes_and_their_actions),
		cmocka_unit_test(ue_native_ip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
