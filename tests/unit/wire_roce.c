/* Tests of the RoCEv2 family: packets of real NICs, every opcode, every header, every prefix.
 *
 * The first vectors were captured from hardware (ConnectX-4 Lx, a Mellanox pair, another NIC) or
 * are the expectations of two independent programs (scapy, libconntrack-cm).
 */
#include "tests/unit/test.h"
#include "causeway/craft.h"
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"

struct vector {
	const char *name, *l3;
	uint8_t opcode;
	uint32_t dqpn, psn;
};

static const struct vector vectors[] = {
	{"CNP of a ConnectX-4 Lx",
	 "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
	 "0000000000000000000000000000000082fd002a",
	 0x81, 0x118, 0},
	{"UC SEND, scapy's ICRC, IPv4",
	 "45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710"
	 "4630818be28935d90e9a95505401be885e50000078f353f3",
	 0x24, 0xd3, 0xcf1710},
	{"UC SEND, scapy's ICRC, IPv6",
	 "6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024"
	 "c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e500000"
	 "3e5b743b",
	 0x24, 0xd3, 0xcf1710},
	{"RC WRITE Only of a Mellanox NIC",
	 "4502004096e740004011206ec0a80103c0a80102c16212b7002c00000a60ffff000000cf805e7226"
	 "000055cd8441c0000000371600000002000100000e70f89e",
	 0x0a, 0xcf, 0x5e7226},
	{"its ACK",
	 "4502003054f5400040116270c0a80102c0a80103c16212b7001c00001140ffff000000a0005e7226"
	 "00000001ff9bc627",
	 0x11, 0xa0, 0x5e7226},
	{"RC ACK of another NIC, source port = QPN",
	 "450200300000400040112d60c0a84606c0a84604004812b7001c00001140ffff0000004500000000"
	 "06000001259cc216",
	 0x11, 0x45, 0},
	{"CNP over IPv6",
	 "6c2000000028114020010db800000000000000000000000220010db8000000000000000000000001"
	 "000012b7002800008100ffff4000011800000000000000000000000000000000000000008652"
	 "0036",
	 0x81, 0x118, 0},
};
enum { NVECTORS = sizeof(vectors) / sizeof(vectors[0]) };

/* The packet of a vector behind an Ethernet header. */
static uint8_t *frame_of(const char *l3, size_t *len)
{
	uint8_t *p = hex_block(l3, len), *f = calloc(1, *len + CW_SIZE_ETH);

	cw_eth_set_type(f, p[0] >> 4 == 6 ? CW_ETHERTYPE_IP6 : CW_ETHERTYPE_IP4);
	memcpy(f + CW_SIZE_ETH, p, *len);
	*len += CW_SIZE_ETH;
	free(p);
	return f;
}

static const uint8_t *bth_of(const struct cw_packet *p)
{
	int i = cw_packet_find(p, &cw_hdr_bth, 0);

	assert_true(i >= 0);
	return cw_layer_data(p, (unsigned)i);
}

static void real_packets_are_understood(void **state)
{
	struct cw_packet p;
	unsigned i;
	size_t len;

	(void)state;
	for (i = 0; i < NVECTORS; i++) {
		uint8_t *f = frame_of(vectors[i].l3, &len);

		if (cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL) != CW_OK)
			fail_msg("%s: %s", vectors[i].name, cw_strerror(p.verdict));
		assert_string_equal(p.family, "roce");
		assert_int_equal(p.icrc.status, CW_ICRC_OK);
		assert_int_equal(cw_bth_opcode(bth_of(&p)), vectors[i].opcode);
		assert_int_equal(cw_bth_dqpn(bth_of(&p)), vectors[i].dqpn);
		assert_int_equal(cw_bth_psn(bth_of(&p)), vectors[i].psn);
		free(f);
	}
}

/* The vendor article's CNP: its printed ICRC fits no reading of its own bytes. */
static void article_cnp_is_called_bad(void **state)
{
	size_t len;
	uint8_t *f = frame_of(vectors[0].l3, &len);
	struct cw_packet p;

	(void)state;
	memcpy(f + len - 4, "\xe4\x2d\xad\x81", 4);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_E_ICRC);
	assert_int_equal(p.icrc.status, CW_ICRC_BAD);
	assert_int_equal(p.icrc.computed, 0x2a00fd82);
	assert_true(cw_packet_find(&p, &cw_hdr_cnp, 0) >= 0);
	free(f);
}

/* What routers may change does not matter; the rest does, reserved bits of octet 8 included. */
static void a17_icrc_masks(void **state)
{
	static const struct {
		unsigned off;
		bool masked;
	} octet[] = {
		{1, true},   {8, true},   {10, true},  {11, true},  {26, true},  {27, true},
		{32, true},  {2, false},  {4, false},  {6, false},  {9, false},  {12, false},
		{19, false}, {20, false}, {23, false}, {25, false}, {28, false}, {29, false},
		{31, false}, {33, false}, {36, false}, {39, false}, {55, false},
	};
	size_t len, i;
	uint8_t *p = hex_block(vectors[0].l3, &len);

	(void)state;
	for (i = 0; i < sizeof(octet) / sizeof(octet[0]); i++) {
		uint32_t got = 0;
		int err;

		p[octet[i].off] ^= 0x01;
		err = cw_icrc_compute(p, len - 4, &cw_icrc_rocev2, &got);
		if (octet[i].off != 9)
			assert_int_equal(err, CW_OK);
		if ((err == CW_OK && got == 0x2a00fd82) != octet[i].masked)
			fail_msg("octet %u", octet[i].off);
		p[octet[i].off] ^= 0x01;
	}
	free(p);
}

/* IBTA table 38: octets of extended headers behind each opcode, -1 where none is assigned. */
static int table_38(unsigned opcode)
{
	static const int rc[32] = {0, 0, 0,  4,  0,  4,  16, 0, 0,  4,  16, 20, 16, 4,  0,  4,
				   4, 4, 12, 28, 28, -1, 4,  4, -1, -1, -1, -1, 20, 16, -1, -1};
	unsigned op = opcode & 31;

	switch (opcode >> 5) {
	case 0:
		return rc[op];
	case 1:
		return op <= 0x0b ? rc[op] : -1;
	case 3:
		return op == 4 ? 8 : op == 5 ? 12 : -1;
	case 4:
		return op == 1 ? 16 : -1;
	case 5:
		return rc[op] < 0 || (op >= 0x0d && op <= 0x12) ? rc[op] : rc[op] + 4;
	default:
		return -1;
	}
}

static void t38_every_opcode(void **state)
{
	const struct cw_hdr *ext[CW_BTH_EXT_MAX + 1];
	unsigned op;
	int i, n, octets;

	(void)state;
	for (op = 0; op < 256; op++) {
		n = cw_bth_extensions((uint8_t)op, ext);
		for (i = octets = 0; i < n; i++)
			octets += ext[i]->size;
		if (n < 0 ? table_38(op) != -1 : table_38(op) != octets)
			fail_msg("opcode 0x%02x: %d headers, %d octets", op, n, octets);
		assert_int_equal(cw_bth_octets((uint8_t)op), n < 0 ? 0 : CW_SIZE_BTH + octets);
		if (n >= 0)
			assert_null(ext[n]);
	}
}

/* Every octet of the extended headers distinct and non-zero: a field that is read from the wrong
 * place gives the wrong value. */
static void fields_are_where_they_belong(void **state)
{
	static const uint8_t seq[28] = {0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a,
					0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x21, 0x22, 0x23, 0x24, 0x25,
					0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d};

	(void)state;
	assert_int_equal(cw_bth_opcode(seq), 0x11);
	assert_int_equal(cw_bth_se(seq), 0);
	assert_int_equal(cw_bth_padcnt(seq), 1);
	assert_int_equal(cw_bth_tver(seq), 2);
	assert_int_equal(cw_bth_pkey(seq), 0x1314);
	assert_int_equal(cw_bth_reserved1(seq), 0x15);
	assert_int_equal(cw_bth_dqpn(seq), 0x161718);
	assert_int_equal(cw_bth_reserved2(seq), 0x19);
	assert_int_equal(cw_bth_psn(seq), 0x1a1b1c);
	assert_int_equal(cw_deth_qkey(seq), 0x11121314);
	assert_int_equal(cw_deth_sqpn(seq), 0x161718);
	assert_true(cw_reth_va(seq) == 0x1112131415161718);
	assert_int_equal(cw_reth_rkey(seq), 0x191a1b1c);
	assert_int_equal(cw_reth_length(seq), 0x1d1e1f21);
	assert_true(cw_atomiceth_swap(seq) == 0x1d1e1f2122232425);
	assert_true(cw_atomiceth_cmp(seq) == 0x262728292a2b2c2d);
	assert_int_equal(cw_aeth_kind(seq), 0);
	assert_int_equal(cw_aeth_value(seq), 0x11);
	assert_int_equal(cw_aeth_msn(seq), 0x121314);
	assert_true(cw_atomicacketh_original(seq) == 0x1112131415161718);
	assert_int_equal(cw_immdt_data(seq), 0x11121314);
	assert_int_equal(cw_ieth_rkey(seq), 0x11121314);
	assert_int_equal(cw_xrceth_srq(seq), 0x121314);
	assert_int_equal(cw_rdeth_ee(seq), 0x121314);
	assert_int_equal(cw_feth_selectivity(seq), 1);
	assert_int_equal(cw_feth_placement(seq), 4);
}

/* A packet of any opcode that craft makes is read back the same; all of its prefixes, in a block
 * of exactly their size, fail. */
static void crafted_packet(uint8_t opcode)
{
	static const uint8_t payload[5] = {1, 2, 3, 4, 5};
	const struct cw_hdr *ext[CW_BTH_EXT_MAX + 1];
	uint8_t buf[256];
	char text[8];
	struct cw_craft c;
	struct cw_packet p;
	uint32_t cut;
	int i, n = cw_bth_extensions(opcode, ext);

	(void)snprintf(text, sizeof(text), "%u", opcode);
	cw_craft_init(&c, buf, sizeof(buf));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_eth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipv4, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_udp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_bth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "opcode", text), CW_OK);
	for (i = 0; i < n; i++)
		assert_int_equal(cw_craft_layer(&c, ext[i], NULL, 0), CW_OK);
	assert_int_equal(cw_craft_payload(&c, payload, sizeof(payload)), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, buf, c.len, NULL), CW_OK);
	assert_int_equal(p.nlayers, 4 + n);
	assert_int_equal(p.pad_len, 3);
	assert_int_equal(p.payload_len, 5);
	assert_int_equal(p.icrc.status, CW_ICRC_OK);
	for (cut = 0; cut < c.len; cut++) {
		uint8_t *part = exact_copy(buf, cut);

		assert_true(cw_dissect(&p, CW_LINK_ETHERNET, part, cut, NULL) < 0);
		free(part);
	}
}

static void every_opcode_is_crafted_and_read_back(void **state)
{
	const struct cw_hdr *ext[CW_BTH_EXT_MAX + 1];
	unsigned op;

	(void)state;
	for (op = 0; op < 256; op++) {
		if (cw_bth_extensions((uint8_t)op, ext) >= 0)
			crafted_packet((uint8_t)op);
	}
}

/* Lengths that do not fit (yanet2 PR 1117: UDP length minus 8 underflowed). */
static void lengths_that_lie_are_refused(void **state)
{
	static const uint16_t udp_length[] = {0, 7, 8, 19, 23, 24, 65535};
	size_t len, i;
	uint8_t *f = frame_of(vectors[0].l3, &len);
	struct cw_packet p;

	(void)state;
	for (i = 0; i < sizeof(udp_length) / sizeof(udp_length[0]); i++) {
		cw_udp_set_length(f + CW_SIZE_ETH + CW_SIZE_IPV4, udp_length[i]);
		assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_E_LENGTH);
	}
	free(f);
}

static void pad_that_outruns_the_packet_is_refused(void **state)
{
	size_t len;
	uint8_t *f = frame_of(vectors[5].l3, &len), *bth = f + CW_SIZE_ETH + 28,
		*ip = f + CW_SIZE_ETH;
	struct cw_packet p;

	(void)state;
	/* BTH and ICRC alone, with pad 3 */
	cw_bth_set_opcode(bth, CW_OP_SEND_ONLY);
	cw_bth_set_padcnt(bth, 3);
	cw_ipv4_set_length(ip, 44);
	cw_udp_set_length(ip + 20, 24);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	assert_int_equal(cw_icrc_put(ip, 44, &cw_icrc_rocev2, CW_ICRC_LE), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_E_LENGTH);
	cw_bth_set_padcnt(bth, 0);
	assert_int_equal(cw_icrc_put(ip, 44, &cw_icrc_rocev2, CW_ICRC_LE), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, f, len, NULL), CW_OK);
	assert_int_equal(p.payload_len, 0);
	free(f);
}

/* CM messages that tshark does not know: octet n of the message is n + 1. */
static void cm_fields_are_where_they_belong(void **state)
{
	uint8_t m[232];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(m); i++)
		m[i] = (uint8_t)(i + 1);
	assert_int_equal(cw_cm_mra_remote_comm_id(m), 0x05060708);
	assert_int_equal(cw_cm_mra_message(m), 0);
	assert_int_equal(cw_cm_mra_service_timeout(m), 1);
	assert_int_equal(cw_cm_dreq_remote_qpn(m), 0x090a0b);
	assert_int_equal(cw_cm_sidr_req_pkey(m), 0x0506);
	assert_true(cw_cm_sidr_req_service_id(m) == 0x090a0b0c0d0e0f10);
	assert_int_equal(cw_cm_sidr_rep_status(m), 5);
	assert_int_equal(cw_cm_sidr_rep_qpn(m), 0x090a0b);
	assert_true(cw_cm_sidr_rep_service_id(m) == 0x0d0e0f1011121314);
	assert_int_equal(cw_cm_sidr_rep_qkey(m), 0x15161718);
	assert_int_equal(cw_cm_lap_remote_qpn(m), 0x0d0e0f);
	assert_int_equal(cw_cm_lap_remote_timeout(m), 2);
	assert_int_equal(cw_cm_lap_local_lid(m), 0x1516);
	assert_int_equal(cw_cm_lap_remote_lid(m), 0x1718);
	assert_int_equal(cw_cm_lap_local_gid(m)[0], 25);
	assert_int_equal(cw_cm_lap_remote_gid(m)[0], 41);
	assert_int_equal(cw_cm_lap_flow_label(m), 0x393a3);
	assert_int_equal(cw_cm_lap_tclass(m), 0x3c);
	assert_int_equal(cw_cm_lap_hop_limit(m), 0x3d);
	assert_int_equal(cw_cm_lap_rate(m), 0x3e);
	assert_int_equal(cw_cm_lap_sl(m), 3);
	assert_int_equal(cw_cm_lap_subnet_local(m), 1);
	assert_int_equal(cw_cm_lap_ack_timeout(m), 8);
	assert_int_equal(cw_cm_apr_info_length(m), 9);
	assert_int_equal(cw_cm_apr_status(m), 10);
	assert_int_equal(cw_cm_apr_info(m)[0], 13);
	assert_int_equal(cw_cm_req_flow_label(m), 0x595a5);
	assert_int_equal(cw_cm_req_rate(m), 0x1c);
	assert_int_equal(cw_cm_req_alt_flow_label(m), 0x85868);
	assert_int_equal(cw_cm_req_alt_rate(m), 0x08);
}

/* RoCEv2 management packets are 308 octets of IPv4; a shorter MAD is refused. */
static void a_mad_has_256_octets(void **state)
{
	static const uint8_t zero[255];
	uint8_t buf[400];
	struct cw_packet p;
	struct cw_craft c;

	(void)state;
	cw_craft_init(&c, buf, sizeof(buf));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_eth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipv4, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_udp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_bth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "opcode", "UD_SEND_ONLY"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dqpn", "1"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_deth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_payload(&c, zero, sizeof(zero)), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(c.len, 14 + 308);
	assert_int_equal(cw_dissect(&p, CW_LINK_ETHERNET, buf, c.len, NULL), CW_E_SHORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_packets_are_understood),
		cmocka_unit_test(article_cnp_is_called_bad),
		cmocka_unit_test(a17_icrc_masks),
		cmocka_unit_test(t38_every_opcode),
		cmocka_unit_test(fields_are_where_they_belong),
		cmocka_unit_test(every_opcode_is_crafted_and_read_back),
		cmocka_unit_test(lengths_that_lie_are_refused),
		cmocka_unit_test(cm_fields_are_where_they_belong),
		cmocka_unit_test(a_mad_has_256_octets),
		cmocka_unit_test(pad_that_outruns_the_packet_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
