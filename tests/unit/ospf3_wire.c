/* ospf3_wire: packets of OSPFv3, whole, cut short, and with lengths that lie. */
#include "causeway/wire/ospf3.h"
#include "tests/unit/test.h"

/* A hello, a description with one header, a request, an update with one LSA, an acknowledgement:
 * each octet of each field is another one. */
static const char *const packets[] = {
	"0301002a 01020304 05060708 090a 0b0c 0d0e0f10 11121314 15161718 191a1b1c 1d1e1f20 "
	"21222324",
	"03020030 01020304 05060708 090a 0b0c 0d0e0f10 11121307 15161718"
	"191a 1b1c 1d1e1f20 21222324 25262728 292a 0014",
	"0303001c 01020304 05060708 090a 0b0c 0d0e 0f10 11121314 15161718",
	"0304002c 01020304 05060708 090a 0b0c 00000001"
	"191a 1b1c 1d1e1f20 21222324 25262728 292a 0018 2d2e2f30",
	"03050024 01020304 05060708 090a 0b0c 0d0e 0f10 11121314 15161718 191a1b1c 1d1e 0014",
};
enum { NPACKETS = sizeof(packets) / sizeof(packets[0]) };

/* The block, its length field made right. */
static uint8_t *packet(unsigned i, size_t *len)
{
	uint8_t *p = hex_block(packets[i], len);

	cw_ospf3_head_set_length(p, (uint32_t)*len);
	return p;
}

static void rfc5340_a_3_fields(void **state)
{
	struct cw_ospf3_packet p;
	size_t len;
	uint8_t *b = packet(0, &len);

	(void)state;
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_OK);
	assert_int_equal(p.type, CW_OSPF3_HELLO);
	assert_int_equal(cw_be32(cw_ospf3_head_area(b)), 0x05060708);
	assert_int_equal(cw_ospf3_head_instance(b), 0x0b);
	assert_int_equal(cw_ospf3_hello_interface(b), 0x0d0e0f10);
	assert_int_equal(cw_ospf3_hello_options(b), 0x121314);
	assert_int_equal(cw_ospf3_hello_interval(b), 0x1516);
	assert_int_equal(cw_ospf3_hello_dead(b), 0x1718);
	assert_int_equal(cw_rd_left(&p.body), 4);
	free(b);
	b = packet(1, &len);
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_OK);
	assert_int_equal(cw_ospf3_dd_options(b), 0x0e0f10);
	assert_int_equal(cw_ospf3_dd_mtu(b), 0x1112);
	assert_true(cw_ospf3_dd_init(b) && cw_ospf3_dd_more(b) && cw_ospf3_dd_master(b));
	assert_int_equal(cw_ospf3_dd_sequence(b), 0x15161718);
	free(b);
}

static void faults_every_prefix_is_refused(void **state)
{
	struct cw_ospf3_packet p;
	size_t len, n;
	unsigned i;

	(void)state;
	for (i = 0; i < NPACKETS; i++) {
		uint8_t *b = packet(i, &len);

		assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_OK);
		for (n = 0; n < len; n++) {
			uint8_t *cut = exact_copy(b, n);

			assert_true(cw_ospf3_packet_parse(&p, cut, n) != CW_OK);
			free(cut);
		}
		free(b);
	}
}

static void faults_lengths_that_lie(void **state)
{
	struct cw_ospf3_packet p;
	size_t len;
	uint8_t *b = packet(3, &len);

	(void)state;
	cw_put_be16(b + 38, 0x19); /* LSA: one octet too long, too short for its header */
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_E_LENGTH);
	cw_put_be16(b + 38, 0x13);
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_E_LENGTH);
	cw_put_be16(b + 38, 0x18);
	cw_put_be32(b + 16, 2); /* two LSAs, it says */
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_E_LENGTH);
	b[1] = 6;
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_E_UNKNOWN);
	b[0] = 2;
	assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_E_VERSION);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc5340_a_3_fields),
		cmocka_unit_test(faults_every_prefix_is_refused),
		cmocka_unit_test(faults_lengths_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
