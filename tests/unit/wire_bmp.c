/* wire_bmp: messages of the BGP Monitoring Protocol (RFC 7854). */
#include "tests/unit/bmp_message.h"

/* Each octet of each field is another one. */
#define PEER4_AT(flags)                                                 \
	"00" flags "1112131415161718 000000000000000000000000 0a010203" \
	"21222324 31323334 41424344 51525354"
#define PEER4 PEER4_AT("00")
#define PEER6                                                                         \
	"01c0 1112131415161718 20010db8 01020304 05060708 090a0b0c 21222324 31323334" \
	"41424344 51525354"
#define MARKER "ffffffffffffffffffffffffffffffff"
#define UPDATE MARKER "0017 02 0000 0000"
#define OPEN1  MARKER "001d 01 04 fde9 00b4 0a010203 00"
#define OPEN2  MARKER "001f 01 04 fdea 00b5 0a010204 02 0102"

static int verdict(unsigned type, const char *body)
{
	struct cw_pnc_error e;
	struct cw_bmp m;
	size_t len;
	uint8_t *b = bmp_message(type, body, &len);
	int err = cw_bmp_parse(&m, b, len, &e);

	assert_int_equal(e.err, err);
	assert_true(err == CW_OK || (e.what != NULL && e.off <= len));
	free(b);
	return err;
}

/* Every prefix fails, as it is and with a length of its own. `whole`: a bit for each number of
 * octets at which the message ends between two TLVs. */
static void prefixes_fail(const uint8_t *m, size_t len, uint64_t whole)
{
	struct cw_bmp out;
	uint8_t *cut;
	size_t n;

	for (n = 0; n < len; n++) {
		cut = exact_copy(m, n);
		assert_int_equal(cw_bmp_parse(&out, cut, n, NULL), CW_E_SHORT);
		if (n >= CW_SIZE_BMP_HEAD) {
			bool good = n < 64 && (whole >> n & 1) != 0;

			cw_bmp_head_set_length(cut, (uint32_t)n);
			assert_int_equal(cw_bmp_parse(&out, cut, n, NULL) == CW_OK, good);
		}
		free(cut);
	}
}

static void s4_1_length(void **state)
{
	static const uint8_t v2[] = {2}, start[] = {3, 0, 0, 0, 6}, whole[] = {3, 0, 0, 1, 2, 0},
			     tiny[] = {3, 0, 0, 0, 5, 0}, most[] = {3, 0, 2, 0, 0, 0},
			     more[] = {3, 0, 2, 0, 1, 0}, huge[] = {3, 255, 255, 255, 255, 0};
	struct cw_bmp m;

	(void)state;
	assert_int_equal(cw_bmp_length(v2, 1), CW_E_VERSION);
	assert_int_equal(cw_bmp_length(start, 0), 0);
	assert_int_equal(cw_bmp_length(start, 5), 0);
	assert_int_equal(cw_bmp_length(whole, 6), 0x102);
	assert_int_equal(cw_bmp_length(tiny, 6), CW_E_LENGTH);
	assert_int_equal(cw_bmp_length(most, 6), CW_BMP_MESSAGE_MAX);
	assert_int_equal(cw_bmp_length(more, 6), CW_E_LENGTH);
	assert_int_equal(cw_bmp_length(huge, 6), CW_E_LENGTH);
	assert_int_equal(cw_bmp_parse(&m, v2, 1, NULL), CW_E_VERSION);
	assert_int_equal(cw_bmp_parse(&m, whole, 6, NULL), CW_E_SHORT);
	assert_int_equal(verdict(7, ""), CW_E_UNKNOWN);
	assert_int_equal(verdict(255, "01020304"), CW_E_UNKNOWN);
}

static void s4_2_peer(void **state)
{
	char text[CW_ADDR_TEXT];
	struct cw_bmp m;
	size_t len;
	uint8_t *b = bmp_message(CW_BMP_ROUTE_MONITORING, PEER4 UPDATE, &len);
	const uint8_t *h = b + CW_SIZE_BMP_HEAD;

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_true(m.has_peer);
	assert_string_equal(cw_addr_format(&m.peer, text), "10.1.2.3");
	assert_int_equal(m.peer_type, CW_BMP_PEER_GLOBAL);
	assert_int_equal(m.peer_as, 0x21222324);
	assert_int_equal(cw_be32(m.distinguisher), 0x11121314);
	assert_int_equal(cw_be32(cw_bmp_peer_id(h)), 0x31323334);
	assert_int_equal(cw_bmp_peer_seconds(h), 0x41424344);
	assert_int_equal(cw_bmp_peer_microseconds(h), 0x51525354);
	free(b);

	b = bmp_message(CW_BMP_ROUTE_MONITORING, PEER6 UPDATE, &len);
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_string_equal(cw_addr_format(&m.peer, text), "2001:db8:102:304:506:708:90a:b0c");
	assert_int_equal(m.peer_type, CW_BMP_PEER_RD);
	assert_int_equal(m.view, CW_BMP_POST_POLICY);
	free(b);
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING, "04"
							  "0011121314151617 18" UPDATE),
			 CW_E_SHORT);
}

static enum cw_bmp_view view(const char *peer)
{
	char body[256];
	struct cw_bmp m;
	size_t len;
	uint8_t *b;

	(void)snprintf(body, sizeof(body), "%s" UPDATE, peer);
	b = bmp_message(CW_BMP_ROUTE_MONITORING, body, &len);
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(m.peer.version, m.view == CW_BMP_LOC_RIB ? 0 : 4);
	free(b);
	return m.view;
}

static void views(void **state)
{
	(void)state;
	assert_int_equal(view(PEER4), CW_BMP_PRE_POLICY);
	assert_int_equal(view(PEER4_AT("40")), CW_BMP_POST_POLICY);
	assert_int_equal(view(PEER4_AT("20")), CW_BMP_PRE_POLICY);
	/* RFC 8671 4: O is before or after the policy, by L */
	assert_int_equal(view(PEER4_AT("10")), CW_BMP_ADJ_RIB_OUT);
	assert_int_equal(view(PEER4_AT("50")), CW_BMP_ADJ_RIB_OUT);
	/* RFC 9069 4.2: there the first flag is F, filtered */
	assert_int_equal(view("0380 1112131415161718 00000000 00000000 00000000 00000000"
			      "21222324 31323334 41424344 51525354"),
			 CW_BMP_LOC_RIB);
	assert_string_equal(cw_bmp_view_name(CW_BMP_LOC_RIB), "loc-rib");
	assert_string_equal(cw_bmp_view_name(CW_BMP_NVIEWS), "unknown");
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING,
				 "0400 1112131415161718 00000000 00000000 00000000 00000000"
				 "21222324 31323334 41424344 51525354" UPDATE),
			 CW_E_UNKNOWN);
}

static void s4_6_route_monitoring(void **state)
{
	struct cw_bmp m;
	size_t len;
	uint8_t *b = bmp_message(CW_BMP_ROUTE_MONITORING,
				 PEER4 MARKER "001b 02 0000 0003 c06300 00", &len);

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(cw_rd_left(&m.update), 8);
	prefixes_fail(b, len, 0);
	free(b);
	b = bmp_message(CW_BMP_ROUTE_MONITORING, PEER4 UPDATE, &len);
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(cw_rd_left(&m.update), 4);
	assert_ptr_equal(m.update.end, b + len);
	prefixes_fail(b, len, 0);
	free(b);
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING, PEER4 UPDATE "00"), CW_E_LENGTH);
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING, PEER4 OPEN1), CW_E_FORBIDDEN);
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING, PEER4 MARKER "0012 02 0000 0000"),
			 CW_E_LENGTH);
	assert_int_equal(verdict(CW_BMP_ROUTE_MONITORING,
				 PEER4 "ffffffffffffffffffffffffffffff7f 0017 02 0000 0000"),
			 CW_E_LENGTH);
}

static void s4_10_peer_up(void **state)
{
	static const char body[] =
		PEER4 "000000000000000000000000 0a010209 00b3 c001" OPEN1 OPEN2 "0000 0003 616263";
	struct cw_bmp_tlv t;
	struct cw_bmp m;
	size_t len, opens = CW_SIZE_BMP_HEAD + CW_SIZE_BMP_PEER + CW_SIZE_BMP_PEER_UP + 29 + 31, n;
	uint8_t *b = bmp_message(CW_BMP_PEER_UP, body, &len), *cut;
	const uint8_t *up = b + CW_SIZE_BMP_HEAD + CW_SIZE_BMP_PEER;

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(cw_bmp_peer_up_local_port(up), 179);
	assert_int_equal(cw_bmp_peer_up_remote_port(up), 0xc001);
	assert_int_equal(cw_rd_left(&m.sent_open), 29);
	assert_int_equal(cw_rd_left(&m.received_open), 31);
	assert_int_equal(cw_bmp_tlv_next(&m.tlvs, &t), CW_OK);
	assert_int_equal(t.type, CW_BMP_TLV_STRING);
	assert_memory_equal(t.value, "abc", 3);
	assert_int_equal(cw_bmp_tlv_next(&m.tlvs, &t), CW_E_SHORT);
	for (n = CW_SIZE_BMP_HEAD; n < len; n++) {
		cut = exact_copy(b, n);
		cw_bmp_head_set_length(cut, (uint32_t)n);
		assert_int_equal(cw_bmp_parse(&m, cut, n, NULL) == CW_OK, n == opens);
		free(cut);
	}
	free(b);
	assert_int_equal(verdict(CW_BMP_PEER_UP,
				 PEER4 "000000000000000000000000 0a010209 00b3 c001" OPEN1 UPDATE),
			 CW_E_FORBIDDEN);
}

static void s4_9_peer_down(void **state)
{
	static const uint8_t reasons[] = {1, 2, 3, 4, 5, 6, 7, 255};
	struct cw_bmp m;
	size_t len, i;
	uint8_t *b = bmp_message(CW_BMP_PEER_DOWN, PEER4 "02 0018", &len);

	(void)state;
	for (i = 0; i < sizeof(reasons); i++) {
		b[CW_SIZE_BMP_HEAD + CW_SIZE_BMP_PEER] = reasons[i];
		assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
		assert_int_equal(m.reason, reasons[i]);
		assert_int_equal(cw_rd_left(&m.data), 2);
	}
	b[CW_SIZE_BMP_HEAD + CW_SIZE_BMP_PEER] = 2;
	prefixes_fail(b, len, 0);
	free(b);
	assert_int_equal(verdict(CW_BMP_PEER_DOWN, PEER4 "04"), CW_OK);
	assert_int_equal(verdict(CW_BMP_PEER_DOWN, PEER4 "02 00"), CW_E_SHORT);
}

static void s4_3_initiation(void **state)
{
	struct cw_bmp_tlv t;
	struct cw_bmp m;
	size_t len;
	uint8_t *b =
		bmp_message(CW_BMP_INITIATION, "0001 0003 667272 0002 0002 7232 7fff 0000", &len);

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_false(m.has_peer);
	assert_int_equal(cw_bmp_tlv_next(&m.tlvs, &t), CW_OK);
	assert_int_equal(t.type, CW_BMP_TLV_DESCR);
	assert_memory_equal(t.value, "frr", 3);
	assert_int_equal(cw_bmp_tlv_next(&m.tlvs, &t), CW_OK);
	assert_int_equal(t.type, CW_BMP_TLV_NAME);
	assert_memory_equal(t.value, "r2", 2);
	assert_int_equal(cw_bmp_tlv_next(&m.tlvs, &t), CW_OK);
	assert_int_equal(t.type, 0x7fff);
	assert_int_equal(t.len, 0);
	prefixes_fail(b, len, 1u << 6 | 1u << 13 | 1u << 19);
	free(b);
	assert_int_equal(verdict(CW_BMP_INITIATION, "0001 ffff 66"), CW_E_LENGTH);
}

static void s4_5_termination(void **state)
{
	struct cw_bmp m;
	size_t len;
	uint8_t *b = bmp_message(CW_BMP_TERMINATION, "0001 0002 0003", &len);

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(m.type, CW_BMP_TERMINATION);
	prefixes_fail(b, len, 1u << 6);
	free(b);
}

static void s4_8_statistics(void **state)
{
	struct cw_bmp m;
	size_t len;
	uint8_t *b =
		bmp_message(CW_BMP_STATISTICS,
			    PEER4 "00000002 0000 0004 01020304 0007 0008 0102030405060708", &len);

	(void)state;
	assert_int_equal(cw_bmp_parse(&m, b, len, NULL), CW_OK);
	assert_int_equal(m.nstatistics, 2);
	prefixes_fail(b, len, 0);
	free(b);
	assert_int_equal(verdict(CW_BMP_STATISTICS, PEER4 "00000003 0000 0000"), CW_E_LENGTH);
	assert_int_equal(verdict(CW_BMP_STATISTICS, PEER4 "ffffffff"), CW_E_LENGTH);
	assert_int_equal(verdict(CW_BMP_ROUTE_MIRRORING, PEER4 "0001 0002 0000"), CW_OK);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(s4_1_length),     cmocka_unit_test(s4_2_peer),
		cmocka_unit_test(views),           cmocka_unit_test(s4_6_route_monitoring),
		cmocka_unit_test(s4_10_peer_up),   cmocka_unit_test(s4_9_peer_down),
		cmocka_unit_test(s4_3_initiation), cmocka_unit_test(s4_5_termination),
		cmocka_unit_test(s4_8_statistics),
	};

	return cmocka_run_group_tests_name("wire_bmp", tests, NULL, NULL);
}
