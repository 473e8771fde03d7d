/* neigh: the state machine of next hops, and the messages of ARP, neighbour discovery and echo. */
#include "test.h"
#include "causeway/neigh.h"
#include "causeway/packet.h"
#include "causeway/wire/arp.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"

static const struct cw_neigh_limits limits = {
	.entries = 4, .retry_ms = 1000, .retries = 3, .reachable_ms = 30000, .failed_ms = 3000};
static const uint8_t mac1[6] = {2, 0, 0, 0, 0, 1}, mac2[6] = {2, 0, 0, 0, 0, 2};

static struct cw_neigh_key key4(uint16_t vid, uint8_t last)
{
	struct cw_neigh_key k = {.port = 1, .vid = vid, .version = 4, .addr = {10, 0, 0, last}};

	return k;
}

static struct cw_neigh *table(void)
{
	struct cw_neigh *n;

	assert_int_equal(cw_neigh_new(&n, &limits), CW_OK);
	return n;
}

static void expect_change(struct cw_neigh *n)
{
	struct cw_neigh_event ev;

	assert_true(cw_neigh_next(n, &ev));
	assert_int_equal(ev.what, CW_NEIGH_CHANGED);
}

static void expect_request(struct cw_neigh *n, bool unicast)
{
	struct cw_neigh_event ev;

	assert_true(cw_neigh_next(n, &ev));
	assert_int_equal(ev.what, CW_NEIGH_REQUEST);
	assert_int_equal(ev.unicast, unicast);
}

static void expect_nothing(struct cw_neigh *n)
{
	struct cw_neigh_event ev;

	assert_false(cw_neigh_next(n, &ev));
}

static enum cw_neigh_state state_of(const struct cw_neigh *n, const struct cw_neigh_key *k)
{
	struct cw_neigh_info info;
	uint32_t at = 0;

	while (cw_neigh_walk(n, &at, &info)) {
		if (memcmp(&info.key, k, sizeof(*k)) == 0)
			return info.state;
	}
	return (enum cw_neigh_state) - 1;
}

static void wanted_until_known(void **s)
{
	struct cw_neigh_key k = key4(7, 9);
	struct cw_neigh *n = table();

	assert_int_equal(cw_neigh_want(n, &k, 0), CW_OK);
	expect_request(n, false);
	assert_int_equal(cw_neigh_want(n, &k, 1), CW_OK);
	expect_nothing(n); /* it is being asked */
	assert_true(cw_neigh_learn(n, &k, mac1, 2));
	expect_change(n);
	assert_int_equal(cw_neigh_want(n, &k, 3), CW_OK);
	expect_nothing(n); /* it is known */
	cw_neigh_free(n);
}

static void table_is_bounded(void **s)
{
	struct cw_neigh *n = table();
	struct cw_neigh_key k;
	uint8_t i;

	for (i = 1; i <= limits.entries; i++) {
		k = key4(0, i);
		assert_int_equal(cw_neigh_want(n, &k, 0), CW_OK);
	}
	k = key4(0, i);
	assert_int_equal(cw_neigh_want(n, &k, 0), CW_E_SPACE);
	assert_int_equal(cw_neigh_set_static(n, &k, mac1, 0), CW_E_SPACE);
	for (i = 1; i <= limits.entries; i++)
		expect_request(n, false);
	expect_nothing(n);
	cw_neigh_forget_port(n, 1);
	expect_nothing(n); /* nobody had seen any of them */
	assert_int_equal(cw_neigh_want(n, &k, 1), CW_OK);
	cw_neigh_free(n);
}

static void no_answer_fails_and_is_remembered(void **s)
{
	struct cw_neigh_key k = key4(7, 9);
	struct cw_neigh *n = table();

	assert_int_equal(cw_neigh_want(n, &k, 100), CW_OK);
	expect_request(n, false);
	assert_int_equal(cw_neigh_tick(n, 1099), 1100);
	expect_nothing(n);
	assert_int_equal(cw_neigh_tick(n, 1100), 2100);
	expect_request(n, false);
	cw_neigh_tick(n, 2100);
	expect_request(n, false);
	cw_neigh_tick(n, 3100);
	expect_change(n); /* workers refuse it from now on */
	expect_nothing(n);
	assert_int_equal(state_of(n, &k), CW_NEIGH_FAILED);
	assert_int_equal(cw_neigh_want(n, &k, 3200), CW_OK);
	expect_nothing(n);
	/* It is asked again after a while. */
	assert_int_equal(cw_neigh_tick(n, 6100), UINT64_MAX);
	assert_int_equal(cw_neigh_want(n, &k, 6101), CW_OK);
	expect_change(n);
	expect_request(n, false);
	/* A late answer, even to a failed one, counts. */
	assert_true(cw_neigh_learn(n, &k, mac1, 6102));
	expect_change(n);
	expect_nothing(n);
	cw_neigh_free(n);
}

static void used_entries_are_asked_again_by_unicast(void **s)
{
	struct cw_neigh_key used = key4(7, 1), unused = key4(7, 2);
	struct cw_neigh *n = table();
	struct cw_neigh_event ev;

	assert_int_equal(cw_neigh_want(n, &used, 0), CW_OK);
	assert_int_equal(cw_neigh_want(n, &unused, 0), CW_OK);
	assert_true(cw_neigh_learn(n, &used, mac1, 0));
	assert_true(cw_neigh_learn(n, &unused, mac2, 0));
	while (cw_neigh_next(n, &ev))
		;
	cw_neigh_used(n, &used);
	cw_neigh_tick(n, 30000);
	assert_int_equal(state_of(n, &used), CW_NEIGH_PROBE);
	assert_int_equal(state_of(n, &unused), (enum cw_neigh_state) - 1);
	expect_change(n);
	assert_true(cw_neigh_next(n, &ev));
	assert_int_equal(ev.what, CW_NEIGH_REQUEST);
	assert_true(ev.unicast);
	assert_memory_equal(ev.mac, mac1, 6);
	/* The same answer is no change for workers; another address is. */
	assert_true(cw_neigh_learn(n, &used, mac1, 30001));
	expect_nothing(n);
	assert_true(cw_neigh_learn(n, &used, mac2, 30002));
	expect_change(n);
	expect_nothing(n);
	/* Without an answer it fails in the end. */
	cw_neigh_used(n, &used);
	cw_neigh_tick(n, 60002);
	expect_request(n, true);
	cw_neigh_tick(n, 61002);
	cw_neigh_tick(n, 62002);
	cw_neigh_tick(n, 63002);
	assert_int_equal(state_of(n, &used), CW_NEIGH_FAILED);
	expect_change(n);
	cw_neigh_free(n);
}

static void strangers_are_not_learnt(void **s)
{
	struct cw_neigh_key a = key4(7, 1), other_vlan = key4(8, 1);
	struct cw_neigh *n = table();

	assert_false(cw_neigh_learn(n, &a, mac1, 0));
	assert_int_equal(cw_neigh_want(n, &a, 0), CW_OK);
	expect_request(n, false);
	assert_false(cw_neigh_learn(n, &other_vlan, mac1, 1));
	expect_nothing(n);
	cw_neigh_forget_port(n, 2);
	expect_nothing(n);
	cw_neigh_forget_port(n, 1);
	assert_int_equal(state_of(n, &a), (enum cw_neigh_state) - 1);
	cw_neigh_free(n);
}

static void static_entries_stay(void **s)
{
	struct cw_neigh_key k = key4(CW_NEIGH_ANY_VLAN, 1);
	struct cw_neigh *n = table();

	assert_int_equal(cw_neigh_set_static(n, &k, mac1, 0), CW_OK);
	expect_change(n);
	assert_true(cw_neigh_learn(n, &k, mac2, 1));
	assert_int_equal(cw_neigh_tick(n, 1u << 30), UINT64_MAX);
	expect_nothing(n);
	assert_int_equal(state_of(n, &k), CW_NEIGH_STATIC);
	cw_neigh_clear_static(n);
	expect_change(n);
	assert_int_equal(state_of(n, &k), (enum cw_neigh_state) - 1);
	cw_neigh_free(n);
}

/* ---- Messages: vectors made with scapy 2.5 ----------------------------------------------------
 */

/* ARP(op=2, hwsrc="02:11:12:13:14:15", psrc="10.1.2.3", hwdst="06:21:22:23:24:25", pdst="10.4.5.6")
 */
#define ARP_REPLY "0001080006040002021112131415 0a010203 062122232425 0a040506"
/* Ether()/IPv6(src="fe80::11:12ff:fe13:1415", dst="ff02::1:ff05:607")/
 * ICMPv6ND_NS(tgt="2001:db8::5:607")/ICMPv6NDOptSrcLLAddr(lladdr="02:11:12:13:14:15"), hlim=255 */
#define NS_CHECKSUM 0xf3da
#define ECHO4_REQUEST \
	"450000271234000021016c950a0102030a0405060800e2ac56789abc0102030405060708090a0b"
#define ECHO4_REPLY "450000271234000040014d950a0405060a0102030000eaac56789abc0102030405060708090a0b"
#define ECHO6_REQUEST                                                                      \
	"6000000000133a2120010db800000000000000000000000120010db8000000000000000000000002" \
	"80000eea56789abc0102030405060708090a0b"
#define ECHO6_REPLY                                                                        \
	"6000000000133a4020010db800000000000000000000000220010db8000000000000000000000001" \
	"81000dea56789abc0102030405060708090a0b"
static const char *const ns_src = "fe80000000000000001112fffe131415";
static const char *const target = "20010db8000000000000000000050607";

static void bytes16(uint8_t out[16], const char *hex)
{
	assert_int_equal(cw_hex_parse(hex, out, 16), 16);
}

static void rfc826_arp_reply(void **s)
{
	const uint8_t sha[6] = {2, 0x11, 0x12, 0x13, 0x14, 0x15},
		      tha[6] = {6, 0x21, 0x22, 0x23, 0x24, 0x25};
	const uint8_t spa[4] = {10, 1, 2, 3}, tpa[4] = {10, 4, 5, 6};
	uint8_t out[CW_SIZE_ARP], *want, *cut;
	size_t len, i;

	want = hex_block(ARP_REPLY, &len);
	cw_arp_build(out, CW_ARP_REPLY, sha, spa, tha, tpa);
	assert_int_equal(len, CW_SIZE_ARP);
	assert_memory_equal(out, want, len);
	assert_true(cw_arp_valid(want, len));
	for (i = 0; i < len; i++) {
		cut = exact_copy(want, i);
		assert_false(cw_arp_valid(cut, i));
		free(cut);
	}
	for (i = 0; i < 8; i++) { /* types, lengths and operation: each wrong octet is refused */
		want[i] ^= 0x40;
		assert_false(cw_arp_valid(want, len));
		want[i] ^= 0x40;
	}
	free(want);
}

static void rfc4861_solicitation_round_trip(void **s)
{
	const uint8_t mac[6] = {2, 0x11, 0x12, 0x13, 0x14, 0x15};
	uint8_t src[16], tgt[16], group[16], gmac[6], ll[16], msg[CW_ND_MESSAGE], *cut;
	struct cw_nd nd;
	size_t i;

	bytes16(src, ns_src);
	bytes16(tgt, target);
	cw_nd_link_local(ll, mac);
	assert_memory_equal(ll, src, 16);
	cw_nd_solicited_node(group, tgt);
	cw_nd_group_mac(gmac, group);
	assert_memory_equal(gmac, "\x33\x33\xff\x05\x06\x07", 6);
	cw_nd_build(msg, CW_ICMP6_NS, src, group, tgt, mac);
	assert_int_equal(cw_icmp6_checksum(msg + CW_SIZE_IPV6), NS_CHECKSUM);
	assert_int_equal(cw_nd_parse(msg, sizeof(msg), &nd), CW_OK);
	assert_int_equal(nd.type, CW_ICMP6_NS);
	assert_memory_equal(nd.target, tgt, 16);
	assert_memory_equal(nd.mac, mac, 6);
	for (i = 0; i < sizeof(msg); i++) {
		cut = exact_copy(msg, i);
		assert_true(cw_nd_parse(cut, i, &nd) < 0);
		free(cut);
	}
	/* A changed octet anywhere that the checksum covers is noticed. */
	for (i = 8; i < sizeof(msg); i++) {
		msg[i] ^= 0x5a;
		assert_true(cw_nd_parse(msg, sizeof(msg), &nd) < 0);
		msg[i] ^= 0x5a;
	}
	cw_ipv6_set_hop_limit(msg,
			      254); /* not covered, but came through a router: RFC 4861 7.1.1 */
	assert_int_equal(cw_nd_parse(msg, sizeof(msg), &nd), CW_E_FORBIDDEN);
}

static void rfc4861_7_1_2_solicited_multicast_refused(void **s)
{
	const uint8_t mac[6] = {2, 0x11, 0x12, 0x13, 0x14, 0x15}, all[16] = {0xff, 2, [15] = 1};
	uint8_t src[16], msg[CW_ND_MESSAGE], *icmp6 = msg + CW_SIZE_IPV6;
	struct cw_nd nd;

	bytes16(src, ns_src);
	cw_nd_build(msg, CW_ICMP6_NA, src, all, src, mac);
	assert_int_equal(cw_nd_parse(msg, sizeof(msg), &nd), CW_OK);
	assert_false(nd.solicited);
	assert_true(nd.override);
	cw_nd_set_solicited(icmp6 + CW_SIZE_ICMP6, 1);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(msg, icmp6, CW_ND_MESSAGE - CW_SIZE_IPV6));
	assert_int_equal(cw_nd_parse(msg, sizeof(msg), &nd), CW_E_FORBIDDEN);
	/* An option of length 0 must not loop. */
	cw_nd_build(msg, CW_ICMP6_NA, src, src, src, mac);
	cw_nd_lla_set_length(icmp6 + CW_SIZE_ICMP6 + CW_SIZE_ND, 0);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(msg, icmp6, CW_ND_MESSAGE - CW_SIZE_IPV6));
	assert_int_equal(cw_nd_parse(msg, sizeof(msg), &nd), CW_E_FORBIDDEN);
}

/* Request and the reply to it, as scapy makes them. */
static void echo(const char *request, const char *reply)
{
	size_t len, want_len, i;
	uint8_t *want = hex_block(reply, &want_len), *p = hex_block(request, &len), *cut;

	for (i = 0; i < len; i++) {
		cut = exact_copy(p, i);
		assert_true(cw_icmp_echo_reply(cut, i) < 0);
		free(cut);
	}
	for (i = 20; i < len; i++) {
		cut = exact_copy(p, len);
		cut[i] ^= 0x11;
		assert_true(cw_icmp_echo_reply(cut, len) < 0);
		free(cut);
	}
	assert_int_equal(cw_icmp_echo_reply(p, len), CW_OK);
	assert_int_equal(len, want_len);
	assert_memory_equal(p, want, len);
	assert_true(cw_icmp_echo_reply(p, len) < 0); /* a reply is not answered */
	free(p);
	free(want);
}

static void rfc792_echo(void **s)
{
	echo(ECHO4_REQUEST, ECHO4_REPLY);
}

static void rfc4443_echo(void **s)
{
	echo(ECHO6_REQUEST, ECHO6_REPLY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_until_known),
		cmocka_unit_test(table_is_bounded),
		cmocka_unit_test(no_answer_fails_and_is_remembered),
		cmocka_unit_test(used_entries_are_asked_again_by_unicast),
		cmocka_unit_test(strangers_are_not_learnt),
		cmocka_unit_test(static_entries_stay),
		cmocka_unit_test(rfc826_arp_reply),
		cmocka_unit_test(rfc4861_solicitation_round_trip),
		cmocka_unit_test(rfc4861_7_1_2_solicited_multicast_refused),
		cmocka_unit_test(rfc792_echo),
		cmocka_unit_test(rfc4443_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
