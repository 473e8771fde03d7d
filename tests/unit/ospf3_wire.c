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

/* What ospf6d of FRR 8.4 sent to a leaf, from fe80::cb:2fff:fed8:2277 to AllSPFRouters. */
static const char *const of_ospf6d[] = {
	"030100280aff0001000000009697000000000002010000130001000400000000000000000a000001",
	"0302001c0aff0001000000002fad00000000001305dc000700006c26",
	"030200d00aff000100000000c30f00000000001305dc000100006c2700040008000000020aff00018000"
	"0001ebf5003800032001000000000aff0001800000029069002800042001000000000aff000280000003"
	"23a8003800052001000000000aff000380000001c65d001800062001000000000aff000480000001bb68"
	"001800032009000000000aff000180000003bd72003800042009000000000aff000280000004f7330038"
	"00052009000000000aff0003800000013aef003800062009000000000aff00048000000274b00038",
	"030300580aff00010000000044b2000000000008000000020a00000100002001000000000a0000010000"
	"2009000000010a0000010000a029000000010a0000010000a029000000020a0000010000a02900000003"
	"0a000001",
	"030400840aff000100000000e1b200000000000200012001000000000aff000180000003f0dd00380000"
	"00130100000a00000002000000020a0000010100000a00000003000000020aff00020001200900000000"
	"0aff000180000004bb73003800022001000000000aff00014000000afd100000000000004000000afd11"
	"000000000000",
	"030500880aff000100000000e6c6000000050008000000020a0000018d01089a48fe002c000520010000"
	"00000a0000018d01089a7ddf002800052009000000010a0000018d01089a53c900340005a02900000001"
	"0a0000018d01089a67a8003c0005a029000000020a0000018d01089ac6df00440005a029000000030a00"
	"00018d01089a914a0044",
};

static unsigned lsas_of(const struct cw_ospf3_packet *p)
{
	struct cw_rd r = p->body;
	const uint8_t *lsa;
	unsigned n = 0;
	size_t len;

	for (; p->type == CW_OSPF3_UPDATE && cw_ospf3_lsa_next(&r, &lsa, &len); n++) {
		assert_true(cw_fletcher_ok(lsa + 2, len - 2));
		assert_int_equal(cw_ospf3_lsa_router(lsa)[0], 10);
	}
	return n;
}

/* It had just started, and asked for all that the leaf has. */
static unsigned requests_of(const struct cw_ospf3_packet *p)
{
	static const uint32_t types[] = {0x0008, 0x2001, 0x2009, 0xa029, 0xa029, 0xa029};
	static const uint32_t ids[] = {2, 0, 1, 1, 2, 3};
	struct cw_rd r = p->body;
	unsigned n = 0;

	for (; p->type == CW_OSPF3_REQUEST && cw_rd_left(&r) > 0; n++) {
		assert_true(n < sizeof(types) / sizeof(types[0]));
		assert_int_equal(cw_ospf3_request_type(r.p), types[n]);
		assert_int_equal(cw_ospf3_request_id(r.p), ids[n]);
		assert_int_equal(cw_be32(cw_ospf3_request_router(r.p)), 0x0a000001);
		assert_int_equal(cw_rd_skip(&r, CW_SIZE_OSPF3_REQUEST), CW_OK);
	}
	return n;
}

static void packets_of_ospf6d(void **state)
{
	static const uint8_t all_routers[16] = {0xff, 0x02, [15] = 5};
	struct cw_ospf3_packet p;
	unsigned i, seen = 0, lsas = 0, requests = 0;
	struct cw_addr from;
	size_t len;
	uint8_t *b;

	(void)state;
	assert_int_equal(cw_addr_parse("fe80::cb:2fff:fed8:2277", &from), CW_OK);
	for (i = 0; i < sizeof(of_ospf6d) / sizeof(of_ospf6d[0]); i++) {
		b = hex_block(of_ospf6d[i], &len);
		assert_int_equal(cw_ospf3_packet_parse(&p, b, len), CW_OK);
		assert_int_equal(p.len, len);
		assert_int_equal(cw_be32(cw_ospf3_head_router(b)), 0x0aff0001);
		assert_int_equal(cw_ospf3_head_checksum(b),
				 cw_ospf3_checksum(from.addr, all_routers, b, len));
		seen |= 1u << p.type;
		lsas += lsas_of(&p);
		requests += requests_of(&p);
		free(b);
	}
	assert_int_equal(seen, 1u << CW_OSPF3_HELLO | 1u << CW_OSPF3_DD | 1u << CW_OSPF3_REQUEST |
				       1u << CW_OSPF3_UPDATE | 1u << CW_OSPF3_ACK);
	assert_int_equal(lsas, 2);
	assert_int_equal(requests, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc5340_a_3_fields),
		cmocka_unit_test(faults_every_prefix_is_refused),
		cmocka_unit_test(faults_lengths_that_lie),
		cmocka_unit_test(packets_of_ospf6d),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
