/* IP packets between Ethernet ports: cw_ub2e_route_eth(), and the mark of a congested queue. */
#include "tests/unit/ub2e.h"

static const struct cw_ub2e_hop hop = {.side = CW_SIDE_ETH,
				       .dst = {2, 0, 0, 0, 0, 0x66},
				       .src = {2, 0, 0, 0, 0, 0x55},
				       .tpid = 0x8100,
				       .mtu = 1500};

/* Routed: the view, then the frame for `hop` in *start. */
static enum cw_drop route(struct cw_ub2e *u, uint8_t *frame, uint32_t len,
			  const struct cw_npi_filter *filter, uint8_t **start, uint32_t *out)
{
	struct cw_stripped_tag none = {0};
	struct cw_ub2e_view v;
	enum cw_drop why = cw_ub2e_route_eth(u, filter, frame, len, &none, &v);

	return why != CW_PASS ? why : cw_ub2e_write(u, &v, &hop, start, out);
}

/* A frame of its own block, with room in front for another tag. */
static uint8_t *frame_of(const char *hex, uint32_t *len, void **block)
{
	size_t n;
	uint8_t *octets = hex_block(hex, &n), *room = malloc(n + CW_UB2E_HEADROOM);

	memcpy(room + CW_UB2E_HEADROOM, octets, n);
	free(octets);
	*block = room;
	*len = (uint32_t)n;
	return room + CW_UB2E_HEADROOM;
}

#define MACS "020000000011 020000000022"
/* 10.1.2.3 -> 10.4.5.6, TTL 9, ToS 0x6a, 4 octets; set_sum() completes it. */
#define IP4(flags) "456a0018 1234" flags "09fd 0000 0a010203 0a040506 a1a2a3a4"

static void set_sum(uint8_t *ip, unsigned hlen)
{
	unsigned i, sum = 0;

	ip[10] = ip[11] = 0;
	for (i = 0; i < hlen; i += 2)
		sum += (unsigned)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16)) & 0xffff;
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void ipv4_leaves_with_its_vlan_and_one_hop_less(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint8_t *start, want[64];
	uint32_t len, out;
	void *block;
	uint8_t *f = frame_of(MACS "8100 6007 0800" IP4("2000"), &len, &block); /* a fragment */

	(void)state;
	set_sum(f + 18, 20);
	memcpy(want, f, len);
	memcpy(want, "\2\0\0\0\0\x66\2\0\0\0\0\x55", 12);
	want[18 + 8] = 8;
	set_sum(want + 18, 20);
	assert_int_equal(route(u, f, len, NULL, &start, &out), CW_PASS);
	assert_int_equal(out, len);
	assert_memory_equal(start, want, len);
	free(block);
	cw_ub2e_free(u);
}

static void options_and_padding_pass(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint8_t *start;
	uint32_t len, out;
	void *block;
	uint8_t *f = frame_of(MACS "0800 466a0018 12340000 09fd0000 0a010203 0a040506 94040000"
				   "eeeeeeeeeeee",
			      &len, &block);

	(void)state;
	set_sum(f + 14, 24);
	assert_int_equal(route(u, f, len, NULL, &start, &out), CW_PASS);
	assert_int_equal(out, 14 + 24); /* without the padding */
	assert_int_equal(start[14 + 8], 8);
	free(block);
	cw_ub2e_free(u);
}

static void ipv6_extension_headers_pass(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint8_t *start;
	uint32_t len, out;
	void *block;
	uint8_t *f = frame_of(MACS "86dd 66a12345 0008 3c 21"
				   "20010db8000000000000000000000001"
				   "20010db8000000000000000000000002 1100000000000000",
			      &len, &block);

	(void)state;
	assert_int_equal(route(u, f, len, NULL, &start, &out), CW_PASS);
	assert_int_equal(out, len);
	assert_memory_equal(start + 14, "\x66\xa1\x23\x45\x00\x08\x3c\x20", 8);
	free(block);
	cw_ub2e_free(u);
}

/* Each with the octet that makes it so. */
static void what_a_router_refuses(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
		enum cw_drop why;
	} bad[] = {
		{12, 0x88, CW_DROP_ETHERTYPE},      {14, 0x55, CW_DROP_IP_VERSION},
		{14, 0x44, CW_DROP_IP_IHL},         {14 + 3, 0x19, CW_DROP_IP_LENGTH},
		{14 + 3, 0x13, CW_DROP_IP_LENGTH},  {14 + 8, 1, CW_DROP_TTL},
		{14 + 12, 127, CW_DROP_IP_ADDRESS}, {14 + 16, 224, CW_DROP_IP_ADDRESS},
	};
	struct cw_ub2e *u = rules(NULL);
	uint8_t *start;
	uint32_t len, out;
	void *block;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *f = frame_of(MACS "0800" IP4("0000"), &len, &block);

		f[bad[i].at] = bad[i].value;
		set_sum(f + 14, 20);
		assert_int_equal(route(u, f, len, NULL, &start, &out), bad[i].why);
		f[14 + 10] ^= 1;
		if (bad[i].why == CW_DROP_TTL || bad[i].why == CW_DROP_IP_ADDRESS)
			assert_int_equal(route(u, f, len, NULL, &start, &out), CW_DROP_IP_CHECKSUM);
		free(block);
	}
	cw_ub2e_free(u);
}

static void every_truncated_frame_is_refused(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint32_t len, n, out;
	uint8_t *start, *cut;
	void *block;
	uint8_t *f = frame_of(MACS "8100 0007 0800" IP4("0000"), &len, &block);

	(void)state;
	set_sum(f + 18, 20);
	for (n = 0; n < len; n++) {
		cut = exact_copy(f, n);
		assert_int_not_equal(route(u, cut, n, NULL, &start, &out), CW_PASS);
		free(cut);
	}
	free(block);
	cw_ub2e_free(u);
}

static void partitions_and_mtu_hold(void **state)
{
	static const uint32_t seven = 7, eight = 8;
	const struct cw_npi_filter in = {&seven, 1}, other = {&eight, 1};
	struct cw_ub2e *u = rules(NULL);
	uint8_t *start;
	uint32_t len, out;
	void *block;
	uint8_t *f = frame_of(MACS "8100 0007 0800" IP4("0000"), &len, &block);
	struct cw_ub2e_hop narrow = hop;
	struct cw_ub2e_view v;

	(void)state;
	set_sum(f + 18, 20);
	assert_int_equal(route(u, f, len, &other, &start, &out), CW_DROP_NPI_FILTER);
	assert_int_equal(cw_ub2e_route_eth(u, &in, f, len, NULL, &v), CW_PASS);
	narrow.mtu = 23;
	assert_int_equal(cw_ub2e_write(u, &v, &narrow, &start, &out), CW_DROP_MTU);
	narrow.mtu = 24;
	narrow.filter = &other;
	assert_int_equal(cw_ub2e_write(u, &v, &narrow, &start, &out), CW_DROP_NPI_FILTER);
	narrow.filter = &in;
	assert_int_equal(cw_ub2e_write(u, &v, &narrow, &start, &out), CW_PASS);
	free(block);
	cw_ub2e_free(u);
}

static void only_ecn_capable_packets_are_marked(void **state)
{
	uint32_t len;
	void *block;
	uint8_t *ip = frame_of(IP4("0000"), &len, &block), want[20];
	uint8_t six[40] = {0x60, 0x10}; /* ECT(1) */

	(void)state;
	set_sum(ip, 20);
	memcpy(want, ip, 20);
	want[1] = 0x6b;
	set_sum(want, 20);
	assert_false(cw_ip_mark_ce(ip, 19));
	assert_true(cw_ip_mark_ce(ip, 20));
	assert_memory_equal(ip, want, 20);
	ip[1] = 0x68;
	set_sum(ip, 20);
	memcpy(want, ip, 20);
	assert_false(cw_ip_mark_ce(ip, 20));
	assert_memory_equal(ip, want, 20);
	assert_false(cw_ip_mark_ce(six, 39));
	assert_true(cw_ip_mark_ce(six, 40));
	assert_int_equal(six[1], 0x30);
	six[1] = 0xc5;
	assert_false(cw_ip_mark_ce(six, 40));
	assert_int_equal(six[1], 0xc5);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_leaves_with_its_vlan_and_one_hop_less),
		cmocka_unit_test(options_and_padding_pass),
		cmocka_unit_test(ipv6_extension_headers_pass),
		cmocka_unit_test(what_a_router_refuses),
		cmocka_unit_test(every_truncated_frame_is_refused),
		cmocka_unit_test(partitions_and_mtu_hold),
		cmocka_unit_test(only_ecn_capable_packets_are_marked),
	};

	return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
