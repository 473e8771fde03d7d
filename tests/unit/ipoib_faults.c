/* Faults that people met in IP over InfiniBand, as inputs; docs/ipoib.md says which and where. */
#include "tests/unit/ipoib_world.h"
#include "causeway/dhcp_relay.h"
#include "causeway/packet.h"
#include "causeway/wire/dhcp.h"
#include "causeway/wire/eth.h"

/* ---- ARP ---------------------------------------------------------------------------------- */

static const struct cw_ipoib_counters *counters(const struct world *w)
{
	return cw_ipoib_counters(w->n[0].link);
}

static void push(struct world *w, const uint8_t *m, size_t len)
{
	world_push(w, &from_1, m, len);
	settle(w);
}

static void f45_arp_request_reply_and_gratuitous(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[60] = {0x08, 0x06}, lla[CW_IPOIB_LLA];
	unsigned sent;

	(void)state;
	pass(w, 500);
	cw_ipoib_lla(lla, 0x49, w->n[1].c.gid);
	sent = w->n[0].nsent;
	cw_ipoib_arp_build(m + 4, 1, lla, ip_of[1], NULL, ip_of[0]);
	push(w, m, sizeof(m));
	assert_int_equal(w->n[0].nsent, sent + 1); /* answered */
	cw_ipoib_arp_build(m + 4, 2, lla, ip_of[1], lla, ip_of[0]);
	push(w, m, sizeof(m));
	cw_ipoib_arp_build(m + 4, 1, lla, ip_of[1], NULL, ip_of[1]);
	push(w, m, sizeof(m));
	assert_int_equal(counters(w)->rx_bad, 0);
	assert_int_equal(w->n[0].nsent, sent + 1);
	world_free(w);
}

static void f45_arp_of_other_address_lengths(void **state)
{
	struct world *w = world_new(2, false);
	uint8_t m[60] = {0x08, 0x06}, lla[CW_IPOIB_LLA];
	size_t cut;

	(void)state;
	pass(w, 500);
	cw_ipoib_lla(lla, 0x49, w->n[1].c.gid);
	cw_ipoib_arp_build(m + 4, 1, lla, ip_of[1], NULL, ip_of[0]);
	cw_ipoib_arp_set_hlen(m + 4, 6);
	push(w, m, sizeof(m));
	assert_int_equal(counters(w)->rx_bad, 1);
	cw_ipoib_arp_set_hlen(m + 4, 20);
	cw_ipoib_arp_set_htype(m + 4, 1);
	push(w, m, sizeof(m));
	assert_int_equal(counters(w)->rx_bad, 2);
	cw_ipoib_arp_set_htype(m + 4, 32);
	for (cut = 4; cut < sizeof(m); cut++) {
		push(w, m, cut);
		assert_int_equal(counters(w)->rx_bad, 2 + cut - 3);
	}
	world_free(w);
}

static void f45_broadcast_address(void **state)
{
	uint8_t mgid[16], lla[CW_IPOIB_LLA];

	(void)state;
	cw_ipoib_broadcast(mgid, 0x8001, 2);
	cw_ipoib_group_lla(lla, mgid);
	assert_memory_equal(lla, "\x00\xff\xff\xff", 4);
	assert_memory_equal(lla + 4, mgid, 16);
	assert_memory_equal(mgid, "\xff\x12\x40\x1b\x80\x01\0\0\0\0\0\0\xff\xff\xff\xff", 16);
}

/* ---- DHCP --------------------------------------------------------------------------------- */

enum { DHCP = 20 + 8 + 236 + 4 };

/* DHCPDISCOVER of a client; `id`: its client identifier, or NULL. */
static size_t discover(uint8_t ip[DHCP + 40], unsigned hlen, const char *id)
{
	size_t n = id != NULL ? strlen(id) : 0, len = DHCP + 3 + (id != NULL ? 2 + n : 0) + 1;
	uint8_t *udp = ip + 20, *m = udp + 8, *o = m + 240;

	memset(ip, 0, DHCP + 40);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, 17);
	memset(ip + 16, 0xff, 4);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(udp, 68);
	cw_udp_set_dport(udp, 67);
	cw_udp_set_length(udp, (uint32_t)len - 20);
	cw_dhcp_set_op(m, 1);
	cw_dhcp_set_htype(m, 32);
	cw_dhcp_set_hlen(m, hlen);
	cw_dhcp_set_broadcast(m, 1);
	cw_dhcp_set_cookie(m, CW_DHCP_COOKIE);
	memcpy(o, "\x35\1\1", 3);
	if (id != NULL) {
		o[3] = 61;
		o[4] = (uint8_t)n;
		memcpy(o + 5, id, n);
	}
	ip[len - 1] = 0xff;
	return len;
}

/* What the decoder says of it, in an IPoIB datagram with a GRH of zeros in front. */
static int verdict(const uint8_t *ip, size_t len)
{
	uint8_t *m = calloc(1, 44 + len);
	struct cw_packet p;
	int v;

	cw_put_be16(m + 40, CW_ETHERTYPE_IP4);
	memcpy(m + 44, ip, len);
	v = cw_dissect(&p, CW_LINK_IPOIB, m, 44 + len, NULL);
	assert_true(cw_packet_find(&p, &cw_hdr_dhcp, 0) > 0);
	free(m);
	return v;
}

static void f47_dhcp_by_the_rules(void **state)
{
	uint8_t ip[DHCP + 40], out[2][CW_DHCP_RELAY_MAX];
	static const uint8_t relay[4] = {10, 0, 0, 1}, server[4] = {192, 0, 2, 2};
	size_t len;

	(void)state;
	/* Two clients with the same (no) hardware address stay two: their identifiers are kept. */
	len = discover(ip, 0,
		       "\xff"
		       "AAAA-client-a");
	assert_int_equal(verdict(ip, len), CW_OK);
	assert_int_equal(cw_dhcp_relay_request(out[0], ip, len, relay, server), len);
	len = discover(ip, 0,
		       "\xff"
		       "AAAA-client-b");
	assert_int_equal(cw_dhcp_relay_request(out[1], ip, len, relay, server), len);
	assert_true(cw_dhcp_broadcast(out[0] + 20 + 8));
	assert_memory_equal(out[0] + DHCP,
			    "\x35\1\1\x3d\x0e\xff"
			    "AAAA-client-a\xff",
			    20);
	assert_memory_equal(out[1] + DHCP,
			    "\x35\1\1\x3d\x0e\xff"
			    "AAAA-client-b\xff",
			    20);
}

static void f47_dhcp_of_clients_in_the_field(void **state)
{
	uint8_t ip[DHCP + 40];
	size_t len;

	(void)state;
	len = discover(ip, 8,
		       "\xff"
		       "AAAA-client-a"); /* a patched dhclient */
	assert_int_equal(verdict(ip, len), CW_E_LENGTH);
	len = discover(ip, 0, NULL);
	assert_int_equal(verdict(ip, len), CW_E_FORBIDDEN);
}

/* ---- P_Keys ------------------------------------------------------------------------------- */

static void f49_membership_bit(void **state)
{
	static const struct {
		uint16_t own, theirs;
		bool heard;
	} cases[] = {{0x8123, 0x0123, true},  {0x8123, 0x8123, true},  {0xffff, 0x7fff, true},
		     {0x8123, 0x8124, false}, {0x8123, 0x0124, false}, {0xffff, 0x0001, false}};
	uint8_t m[24] = {0x08, 0, 0, 0, 0x45};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *w = world_new(1, false);
		struct cw_sa_partition p = {cases[i].own, 2, 4, 3, 0, 0x80010b1b};
		struct node *n = &w->n[0];
		struct cw_ipoib_tx tx = from_1;

		(void)cw_sa_partition(w->sa, &p);
		cw_ipoib_free(n->link);
		n->c.pkey = cases[i].own;
		assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
		pass(w, 500);
		tx.pkey = cases[i].theirs;
		world_push(w, &tx, m, sizeof(m));
		settle(w);
		assert_int_equal(n->delivered, cases[i].heard);
		assert_int_equal(cw_ipoib_counters(n->link)->rx_pkey, !cases[i].heard);
		world_free(w);
	}
}

/* 0x0123 among 0x0123: nobody could hear anybody. There is no such link (RFC 4391 5). */
static void f49_two_limited_members(void **state)
{
	struct cw_ipoib_config c = {.qpn = 2, .lid = 1, .sm_lid = 1, .pkey = 0x0123};
	struct cw_ipoib *l;
	uint8_t mgid[16];

	(void)state;
	assert_int_equal(cw_ipoib_new(&l, &c), CW_E_ARG);
	cw_ipoib_mgid4(mgid, (const uint8_t[4]){239, 1, 2, 3}, 0x0123, 2);
	assert_int_equal(cw_be16(mgid + 4), 0x8123); /* the full member's form */
}

/* ---- Answers and frames that are wrong ------------------------------------------------------ */

/* The SA's answer to the last join, with one field as it can't be. */
static void answer_join(struct world *w, unsigned mlid, unsigned pkey, unsigned mtu, uint8_t group)
{
	uint8_t mad[256], *r = mad + CW_SA_DATA;

	memcpy(mad, w->n[0].join_mad, sizeof(mad));
	cw_mad_set_response(mad, 1);
	cw_mad_set_method(mad, CW_SA_GET);
	r[15] ^= group;
	cw_mcmember_set_mlid(r, mlid);
	cw_mcmember_set_pkey(r, pkey);
	cw_mcmember_set_mtu(r, mtu);
	cw_mcmember_set_qkey(r, 0x80010b1b);
	sa_sends(w, w->n[0].c.lid, mad);
	settle(w);
}

static void senseless_answers_of_the_sa_are_not_taken(void **state)
{
	static const struct {
		unsigned mlid, pkey, mtu;
		uint8_t group;
	} bad[] = {{0xbfff, 0x8001, 4, 0}, {0xffff, 0x8001, 4, 0}, {0xc000, 0x8002, 4, 0},
		   {0xc000, 0x8001, 0, 0}, {0xc000, 0x8001, 6, 0}, {0xc000, 0x8001, 4, 1}};
	struct world *w = world_new(1, false);
	unsigned i;

	(void)state;
	w->sa_dead = true;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pass(w, 20000);
		answer_join(w, bad[i].mlid, bad[i].pkey, bad[i].mtu, bad[i].group);
		assert_int_equal(w->n[0].ups, 0);
		assert_int_equal(counters(w)->sa_bad, i + 1);
	}
	pass(w, 20000);
	answer_join(w, 0xc000, 0x8001, 4, 0);
	assert_int_equal(w->n[0].ups, 1);
	world_free(w);
}

/* Nothing before the broadcast group is joined; no frame with an octet changed, or cut. */
static void only_whole_frames_and_only_on_a_link(void **state)
{
	uint8_t m[24] = {0x08, 0, 0, 0, 0x45}, f[FRAME], *part;
	struct world *w = world_new(1, false);
	int len = cw_ipoib_frame_build(f, sizeof(f), &from_1, 1, m, sizeof(m)), i;

	(void)state;
	assert_int_equal(cw_ipoib_frame(w->n[0].link, w->now, f, (size_t)len), CW_E_STATE);
	pass(w, 500);
	for (i = 0; i < len; i++) {
		part = exact_copy(f, (size_t)i);
		assert_true(cw_ipoib_frame(w->n[0].link, w->now, part, (size_t)i) < 0);
		free(part);
		f[i] ^= 0x10;
		assert_true(cw_ipoib_frame(w->n[0].link, w->now, f, (size_t)len) < 0);
		f[i] ^= 0x10;
	}
	settle(w);
	assert_int_equal(counters(w)->rx_bad_frame, 2 * len);
	assert_int_equal(w->n[0].delivered, 0);
	assert_int_equal(cw_ipoib_frame(w->n[0].link, w->now, f, (size_t)len), CW_OK);
	settle(w);
	assert_int_equal(w->n[0].delivered, 1);
	world_free(w);
}

/* ---- Neighbour discovery ------------------------------------------------------------------ */

/* A solicitation of node 1 for node 0, whose option claims `units` of 8 octets. */
static void solicit(struct world *w, unsigned units)
{
	static const uint8_t src[16] = {0xfe, 0x80, [15] = 2}, dst[16] = {0xfe, 0x80, [15] = 1};
	uint8_t m[4 + 40 + 4 + 20 + 24] = {0x86, 0xdd}, *ip = m + 4, *icmp6 = ip + 40;
	uint8_t *opt = icmp6 + 24;

	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, 48);
	cw_ipv6_set_next_header(ip, 58);
	cw_ipv6_set_hop_limit(ip, 255);
	cw_ipv6_set_src(ip, src);
	cw_ipv6_set_dst(ip, dst);
	cw_icmp6_set_type(icmp6, 135);
	cw_nd_set_target(icmp6 + 4, dst);
	cw_ipoib_nd_set_type(opt, 1);
	cw_ipoib_nd_set_length(opt, units);
	cw_ipoib_nd_set_qpn(opt, 0x123);
	cw_ipoib_nd_set_gid(opt, w->n[1].c.gid);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(ip, icmp6, 48));
	push(w, m, sizeof(m));
}

static void f51_option_lengths(void **state)
{
	static const uint8_t own[16] = {0xfe, 0x80, [15] = 1};
	static const unsigned bad[] = {0, 1, 2, 4, 255};
	struct cw_ipoib_neigh_info n;
	struct world *w;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w = world_new(2, false);
		(void)cw_ipoib_address(w->n[0].link, w->now, true, own);
		pass(w, 500);
		solicit(w, bad[i]);
		assert_false(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
		world_free(w);
	}
	w = world_new(2, false);
	(void)cw_ipoib_address(w->n[0].link, w->now, true, own);
	pass(w, 500);
	solicit(w, 3);
	assert_true(cw_ipoib_neigh_at(w->n[0].link, 0, &n));
	assert_int_equal(cw_ipoib_lla_qpn(n.lla), 0x123);
	world_free(w);
}

/* A router's advertisement with these options (in hex): is its sender known then? */
static bool advertised(const char *options)
{
	static const uint8_t src[16] = {0xfe, 0x80, [15] = 2}, dst[16] = {0xff, 2, [15] = 1};
	uint8_t m[4 + 40 + 16 + 64] = {0x86, 0xdd}, *ip = m + 4, *icmp6 = ip + 40, *opt;
	struct cw_ipoib_neigh_info n;
	struct world *w = world_new(2, false);
	size_t len;
	bool known;

	opt = hex_block(options, &len);
	pass(w, 500);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_length(ip, (uint32_t)(16 + len));
	cw_ipv6_set_next_header(ip, 58);
	cw_ipv6_set_hop_limit(ip, 255);
	cw_ipv6_set_src(ip, src);
	cw_ipv6_set_dst(ip, dst);
	cw_icmp6_set_type(icmp6, 134);
	memcpy(icmp6 + 16, opt, len);
	cw_icmp6_set_checksum(icmp6, cw_icmp6_compute(ip, icmp6, 16 + len));
	push(w, m, 4 + 40 + 16 + len);
	known = cw_ipoib_neigh_at(w->n[0].link, 0, &n);
	free(opt);
	world_free(w);
	return known;
}

#define LLA "0103 0000 00000123 fe80000000000000 0000000000100002"
#define LLA1 \
	"0101 0000 00000123 c802000000000000 0000000000100002" /* 8 octets, then another option */

static void f51_option_lengths_of_routers(void **state)
{
	(void)state;
	assert_true(advertised(LLA));
	assert_true(advertised("c801000000000000" LLA LLA));
	assert_false(advertised(LLA1));
	assert_false(advertised("0003 0000 00000123 fe80000000000000 0000000000100002"));
	assert_false(advertised("0500000000000000" LLA));
	assert_false(advertised(LLA "0500000000000000"));
	assert_false(advertised(LLA "0502000000000000"));
	assert_false(advertised(LLA "c801"));
}

/* ---- Captures ----------------------------------------------------------------------------- */

/* The area in front of a datagram of LINKTYPE_IPOIB may hold anything: it is no header then. */
static void f53_stale_octets_in_front(void **state)
{
	uint8_t m[40 + 4 + 20] = "stale text of some memory";
	struct cw_packet p;
	int at;

	(void)state;
	cw_put_be16(m + 40, CW_ETHERTYPE_IP4);
	cw_ipv4_set_version(m + 44, 4);
	cw_ipv4_set_ihl(m + 44, 5);
	cw_ipv4_set_length(m + 44, 20);
	cw_ipv4_set_ttl(m + 44, 64);
	cw_ipv4_set_proto(m + 44, 254);
	cw_ipv4_set_checksum(m + 44, cw_ipv4_compute(m + 44));
	assert_int_equal(cw_dissect(&p, CW_LINK_IPOIB, m, sizeof(m), NULL), CW_OK);
	at = cw_packet_find(&p, &cw_hdr_ipoib, 0);
	assert_true(at >= 0);
	assert_int_equal(p.layers[at].off, 40);
	assert_true(cw_packet_find(&p, &cw_hdr_ipv4, 0) > at);
	assert_true(cw_packet_find(&p, &cw_hdr_grh, 0) < 0);
	memcpy(m, "in its version's place is a 6, and no GRH", 40);
	assert_int_equal(cw_dissect(&p, CW_LINK_IPOIB, m, sizeof(m), NULL), CW_OK);
	assert_true(cw_packet_find(&p, &cw_hdr_grh, 0) < 0);
	memset(m, 0, 40); /* without a GRH there are zeros */
	assert_int_equal(cw_dissect(&p, CW_LINK_IPOIB, m, sizeof(m), NULL), CW_OK);
	assert_int_equal(cw_packet_find(&p, &cw_hdr_grh, 0), 0);
	cw_grh_set_version(m, 6);
	cw_grh_set_next(m, CW_IB_GRH_NEXT);
	assert_int_equal(cw_dissect(&p, CW_LINK_IPOIB, m, sizeof(m), NULL), CW_OK);
	assert_int_equal(cw_packet_find(&p, &cw_hdr_grh, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f45_arp_request_reply_and_gratuitous),
		cmocka_unit_test(f45_arp_of_other_address_lengths),
		cmocka_unit_test(f45_broadcast_address),
		cmocka_unit_test(f47_dhcp_by_the_rules),
		cmocka_unit_test(f47_dhcp_of_clients_in_the_field),
		cmocka_unit_test(f49_membership_bit),
		cmocka_unit_test(f49_two_limited_members),
		cmocka_unit_test(senseless_answers_of_the_sa_are_not_taken),
		cmocka_unit_test(only_whole_frames_and_only_on_a_link),
		cmocka_unit_test(f51_option_lengths),
		cmocka_unit_test(f51_option_lengths_of_routers),
		cmocka_unit_test(f53_stale_octets_in_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
