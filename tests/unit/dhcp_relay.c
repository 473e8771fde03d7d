/* dhcp_relay: RFC 1542, 2131 and 4390. */
#include "test.h"
#include "causeway/dhcp_relay.h"
#include "causeway/forward.h"
#include "causeway/wire/dhcp.h"
#include "causeway/wire/ip.h"

enum { LEN = 20 + 8 + 244 };

static const uint8_t relay[4] = {10, 0, 0, 1}, server[4] = {192, 0, 2, 2};

static uint8_t *put(uint8_t ip[LEN], unsigned op, unsigned htype)
{
	uint8_t *udp = ip + 20, *m = udp + 8;

	memset(ip, 0, LEN);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	cw_ipv4_set_length(ip, LEN);
	cw_ipv4_set_ttl(ip, 1);
	cw_ipv4_set_proto(ip, 17);
	cw_udp_set_sport(udp, op == 1 ? 68 : 67);
	cw_udp_set_dport(udp, 67);
	cw_udp_set_length(udp, LEN - 20);
	cw_dhcp_set_op(m, op);
	cw_dhcp_set_htype(m, htype);
	cw_dhcp_set_hlen(m, htype == 32 ? 0 : 6);
	cw_dhcp_set_cookie(m, CW_DHCP_COOKIE);
	memcpy(m + 240, "\x35\1\1\xff", 4);
	return m;
}

static int request(const uint8_t *ip, size_t len, uint8_t out[CW_DHCP_RELAY_MAX])
{
	uint8_t *copy = exact_copy(ip, len);
	int n = cw_dhcp_relay_request(out, copy, len, relay, server);

	free(copy);
	return n;
}

static void rfc1542_4_1_requests(void **state)
{
	uint8_t ip[LEN], out[CW_DHCP_RELAY_MAX], *m = put(ip, 1, 32);
	static const uint8_t other[4] = {10, 9, 9, 9};
	size_t len;

	(void)state;
	assert_true(cw_dhcp_to_server(ip, LEN));
	assert_int_equal(request(ip, LEN, out), LEN);
	assert_int_equal(cw_ip_check(out, LEN, &len), CW_PASS);
	assert_memory_equal(cw_ipv4_src(out), relay, 4);
	assert_memory_equal(cw_ipv4_dst(out), server, 4);
	assert_int_equal(cw_udp_sport(out + 20), 67);
	assert_int_equal(cw_udp_dport(out + 20), 67);
	assert_int_equal(cw_udp_checksum(out + 20), cw_udp_compute(out, out + 20, LEN - 20));
	assert_int_equal(cw_dhcp_hops(out + 28), 1);
	assert_memory_equal(cw_dhcp_giaddr(out + 28), relay, 4);
	assert_memory_equal(out + 28 + 240, "\x35\1\1\xff", 4);
	cw_dhcp_set_giaddr(m, other); /* another relay was first */
	assert_int_equal(request(ip, LEN, out), LEN);
	assert_memory_equal(cw_dhcp_giaddr(out + 28), other, 4);
	cw_dhcp_set_hops(m, 16);
	assert_int_equal(request(ip, LEN, out), CW_E_FORBIDDEN);
	put(ip, 2, 32);
	assert_int_equal(request(ip, LEN, out), CW_E_FORBIDDEN);
}

static void what_is_no_dhcp(void **state)
{
	uint8_t ip[LEN], out[CW_DHCP_RELAY_MAX], *m = put(ip, 1, 1);
	size_t i;

	(void)state;
	for (i = 20; i < LEN; i++)
		assert_true(request(ip, i, out) < 0);
	cw_dhcp_set_cookie(m, 1);
	assert_false(cw_dhcp_to_server(ip, LEN));
	put(ip, 1, 1);
	cw_udp_set_dport(ip + 20, 68);
	assert_false(cw_dhcp_to_server(ip, LEN));
	put(ip, 1, 1);
	cw_ipv4_set_mf(ip, 1);
	assert_false(cw_dhcp_to_server(ip, LEN));
	put(ip, 1, 1);
	cw_ipv4_set_proto(ip, 6);
	assert_false(cw_dhcp_to_server(ip, LEN));
}

/* RFC 2131 4.1; over InfiniBand there is no address to send to (RFC 4390 2.2). */
static void rfc4390_2_2_replies(void **state)
{
	static const uint8_t all[4] = {255, 255, 255, 255}, given[4] = {10, 0, 0, 77};
	static const uint8_t mac[16] = {2, 0, 0, 0, 0, 7};
	uint8_t ip[LEN], out[CW_DHCP_RELAY_MAX], *m = put(ip, 2, 32);
	struct cw_dhcp_reply to;

	(void)state;
	assert_int_equal(cw_dhcp_relay_reply(out, ip, LEN, &to), CW_E_FORBIDDEN); /* no relay */
	cw_dhcp_set_giaddr(m, relay);
	cw_dhcp_set_yiaddr(m, given);
	cw_dhcp_set_chaddr(m, mac);
	assert_int_equal(cw_dhcp_relay_reply(out, ip, LEN, &to), LEN);
	assert_memory_equal(to.relay, relay, 4);
	assert_memory_equal(to.client, all, 4);
	assert_false(to.has_mac);
	assert_int_equal(cw_udp_dport(out + 20), 68);
	assert_memory_equal(cw_ipv4_dst(out), all, 4);
	cw_dhcp_set_ciaddr(m, given); /* bound: it answers ARP */
	assert_int_equal(cw_dhcp_relay_reply(out, ip, LEN, &to), LEN);
	assert_memory_equal(to.client, given, 4);
	assert_false(to.has_mac);
	m = put(ip, 2, 1);
	cw_dhcp_set_giaddr(m, relay);
	cw_dhcp_set_yiaddr(m, given);
	cw_dhcp_set_chaddr(m, mac);
	assert_int_equal(cw_dhcp_relay_reply(out, ip, LEN, &to), LEN);
	assert_true(to.has_mac);
	assert_memory_equal(to.mac, mac, 6);
	assert_memory_equal(to.client, given, 4);
	cw_dhcp_set_broadcast(m, 1);
	assert_int_equal(cw_dhcp_relay_reply(out, ip, LEN, &to), LEN);
	assert_false(to.has_mac);
	assert_memory_equal(to.client, all, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1542_4_1_requests),
		cmocka_unit_test(what_is_no_dhcp),
		cmocka_unit_test(rfc4390_2_2_replies),
	};

	return cmocka_run_group_tests_name("dhcp_relay", tests, NULL, NULL);
}
