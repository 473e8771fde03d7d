/* Faults that people met in similar software, as inputs: RoCEv2. Rows are those of the table in
 * docs/cnproxy.md, which says where the others are tested. */
#include <zlib.h>
#include "tests/unit/roce_sim.h"
#include "causeway/cnpoint.h"
#include "causeway/cnrelay.h"
#include "causeway/wire/eth.h"

enum { A = 0x0a000001, B = 0x0a000002, QA = 0x11, QB = 0x22, PORT = 50000, MS = 1000000 };
enum { SEND = CW_OP_SEND_ONLY, L3 = CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_BTH };

static struct cw_qpmap *new_map(void)
{
	struct cw_qpmap_opts o;
	struct cw_qpmap *m;

	cw_qpmap_opts_init(&o);
	assert_int_equal(cw_qpmap_new(&m, &o), CW_OK);
	return m;
}

static void pass(struct cw_qpmap *m, const uint8_t *ip, size_t len)
{
	uint8_t *exact = exact_copy(ip, len);

	cw_qpmap_packet(m, exact, len, len, MS);
	free(exact);
}

/* A request with `body` octets behind its BTH, and what answers it. */
static void exchange(struct cw_qpmap *m, uint8_t request, uint8_t answer, uint32_t psn, size_t body,
		     uint8_t tos, uint8_t answer_tos)
{
	uint8_t ip[SIM_PACKET_MAX];
	size_t len = sim_packet(ip, A, B, PORT, request, QB, psn, true, body);

	ip[1] = tos;
	pass(m, ip, len);
	len = sim_packet(ip, B, A, PORT, answer, QA, psn, false, CW_SIZE_AETH);
	ip[1] = answer_tos;
	pass(m, ip, len);
}

/* The packet as a frame, behind `tags` (in hex) and with `tail` octets behind it. */
static int dissect(struct cw_packet *p, const char *tags, const uint8_t *ip, size_t len,
		   size_t tail)
{
	static uint8_t frame[2 * SIM_PACKET_MAX];
	size_t n;
	uint8_t *t = hex_block(tags, &n);

	memset(frame, 2, CW_SIZE_ETH);
	memcpy(frame + 12, t, n);
	memcpy(frame + 12 + n, "\x08\x00", 2);
	memcpy(frame + CW_SIZE_ETH + n, ip, len);
	memset(frame + CW_SIZE_ETH + n + len, 0xa5, tail);
	free(t);
	return cw_dissect(p, CW_LINK_ETHERNET, frame, CW_SIZE_ETH + n + len + tail, NULL);
}

/* Only the inverted little-endian CRC behind eight octets of ones is right. */
static void row_3_other_readings_of_the_icrc(void **state)
{
	static const uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	uint8_t ip[SIM_PACKET_MAX], masked[SIM_PACKET_MAX];
	size_t len = sim_packet(ip, A, B, PORT, SEND, QB, 1, true, 16);
	struct cw_packet p;
	uint32_t right, bare;

	(void)state;
	memcpy(masked, ip, len);
	masked[1] = masked[8] = masked[10] = masked[11] = masked[26] = masked[27] = 0xff;
	masked[L3 - CW_SIZE_BTH + 4] = 0xff;
	bare = (uint32_t)crc32(0, masked, (unsigned)len - 4);
	right = (uint32_t)crc32(crc32(0, ones, 8), masked, (unsigned)len - 4);
	cw_put_le32(ip + len - 4, right);
	assert_int_equal(dissect(&p, "", ip, len, 0), CW_OK);
	cw_put_be32(ip + len - 4, right);
	assert_int_equal(dissect(&p, "", ip, len, 0), CW_E_ICRC);
	cw_put_le32(ip + len - 4, ~right);
	assert_int_equal(dissect(&p, "", ip, len, 0), CW_E_ICRC);
	cw_put_le32(ip + len - 4, bare);
	assert_int_equal(dissect(&p, "", ip, len, 0), CW_E_ICRC);
}

/* A frame check sequence behind the packet is not its ICRC; tags change nothing. */
static void row_7_and_27_fcs_and_tags(void **state)
{
	static const char *const tags[] = {"",
					   "81000007",
					   "88a80007 81000007",
					   "91000007 81000008",
					   "81000007 81000008",
					   "81000007 81000008 81000009",
					   "88a80000"};
	uint8_t ip[SIM_PACKET_MAX];
	size_t len = sim_packet(ip, A, B, PORT, SEND, QB, 1, true, 16), i;
	struct cw_packet p;

	(void)state;
	sim_seal(ip, len);
	for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (dissect(&p, tags[i], ip, len, 4) != CW_OK)
			fail_msg("tags '%s': %s", tags[i], cw_strerror(p.verdict));
		assert_string_equal(p.family, "roce");
		assert_int_equal(p.icrc.status, CW_ICRC_OK);
		assert_int_equal(p.payload_len, 16);
	}
}

/* Lengths that lie teach nothing, on none of the three ports. */
static void row_11_lengths_that_lie(void **state)
{
	static const uint16_t lengths[] = {0, 7, 8, 19, 23, 65535}, ports[] = {4791, 4792, 4793};
	struct cw_qpmap *m = new_map();
	struct cw_relay_settings s;
	struct cw_relay *r;
	uint8_t ip[SIM_PACKET_MAX], *exact;
	size_t len, i, k;

	(void)state;
	cw_relay_settings_init(&s);
	s.enabled = true;
	assert_int_equal(cw_relay_new(&r, &s, m, NULL), CW_OK);
	for (i = 0; i < 6; i++) {
		for (k = 0; k < 3; k++) {
			len = sim_packet(ip, A, B, PORT, SEND, QB, 1, true, 16);
			cw_udp_set_dport(ip + CW_SIZE_IPV4, ports[k]);
			cw_udp_set_length(ip + CW_SIZE_IPV4, lengths[i]);
			exact = exact_copy(ip, len);
			cw_relay_learn(r, exact, len, len, MS);
			free(exact);
		}
	}
	assert_int_equal(cw_qpmap_count(m), 0);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_REQUESTS), 0);
	cw_relay_free(r);
	cw_qpmap_free(m);
}

/* Messages without a payload, and READs of nothing, are one PSN each. */
static void row_13_zero_length_messages(void **state)
{
	struct cw_qpmap *m = new_map();

	(void)state;
	exchange(m, SEND, CW_BTH_RC_ACK, 1, 0, 2, 2);
	exchange(m, CW_OP_WRITE_ONLY, CW_BTH_RC_ACK, 2, CW_SIZE_RETH, 2, 2);
	exchange(m, CW_OP_READ_REQUEST, CW_OP_READ_RESP_ONLY, 3, CW_SIZE_RETH, 2, 2);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_VOTES), 3);
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_UNMATCHED), 0);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	cw_qpmap_free(m);
}

static void row_19_traffic_class_crosses_a_nibble(void **state)
{
	uint8_t ip[CW_SIZE_IPV6] = {0x67, 0xb0};

	(void)state;
	assert_int_equal(cw_ipv6_dscp(ip), 30);
	assert_int_equal(cw_ipv6_ecn(ip), 3);
	ip[1] = 0x90;
	assert_int_equal(cw_ipv6_dscp(ip), 30);
	assert_int_equal(cw_ipv6_ecn(ip), 1);
}

/* CNPs pass: they teach nothing, and cause no message where they meet a queue themselves. */
static void row_21_cnps_without_ce(void **state)
{
	struct cw_qpmap *m = new_map();
	struct cw_point_settings s;
	struct cw_point *point;
	struct cw_point_out out;
	uint8_t ip[SIM_PACKET_MAX], buf[CW_POINT_MAX];
	size_t len = sim_packet(ip, B, A, PORT, CW_BTH_CNP, QA, 0, false, CW_SIZE_CNP), i;
	struct cw_point_packet pkt = {.ip = ip, .len = (uint32_t)len, .wire = (uint32_t)len};

	(void)state;
	cw_point_settings_init(&s);
	s.option = 1;
	s.rate = 1000;
	s.detect_depth = 100;
	assert_int_equal(cw_point_new(&point, &s, NULL), CW_OK);
	for (i = 0; i < 144; i++) {
		pass(m, ip, len);
		cw_point_packet(point, &pkt, MS, buf, &out);
		assert_int_equal(out.len, 0);
		assert_false(out.mark);
	}
	assert_int_equal(cw_qpmap_counter(m, CW_QPMAP_VOTES), 0);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), -2);
	assert_int_equal(cw_point_counter(point, CW_POINT_CONTROL),
			 cw_point_counter(point, CW_POINT_CONGESTED));
	assert_true(cw_point_counter(point, CW_POINT_CONGESTED) > 100);
	cw_point_free(point);
	cw_qpmap_free(m);
}

/* One direction with DSCP 26 and ECT(0), the other with none: still one connection. */
static void row_23_traffic_classes_differ(void **state)
{
	struct cw_qpmap *m = new_map();
	uint32_t psn;

	(void)state;
	for (psn = 0; psn < 3; psn++)
		exchange(m, SEND, CW_BTH_RC_ACK, psn, 16, 0x6a, 0x00);
	assert_int_equal(sim_lookup(m, A, B, QB, MS), QA);
	cw_qpmap_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_3_other_readings_of_the_icrc),
		cmocka_unit_test(row_7_and_27_fcs_and_tags),
		cmocka_unit_test(row_11_lengths_that_lie),
		cmocka_unit_test(row_13_zero_length_messages),
		cmocka_unit_test(row_19_traffic_class_crosses_a_nibble),
		cmocka_unit_test(row_21_cnps_without_ce),
		cmocka_unit_test(row_23_traffic_classes_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
