/* Tests of the congestion notification proxy (draft-xiao-fann-fast-cnp-with-proxy-02) and of the
 * longest prefix match. */
#include "tests/unit/roce_sim.h"
#include "causeway/cnrelay.h"
#include "causeway/crc.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ub.h"

enum { A = 0x0a000001, B = 0x0a000002, SPINE = 0x0a00ff01, PROXY = 0x0a00ff02 };
enum { QA = 0x118, QB = 0x222, MS = 1000000 };

struct world {
	struct cw_relay_settings s;
	struct cw_lpm *allowed, *senders;
	struct cw_qpmap *map;
	struct cw_relay *r;
	uint8_t buf[CW_RELAY_MAX];
	struct cw_relay_out out;
};

static void add(struct cw_lpm *t, uint32_t v4, unsigned len, uint32_t value)
{
	struct cw_gid a = sim_addr(v4);

	assert_int_equal(cw_lpm_add(t, &a, len, value), CW_OK);
}

static struct world *new_world(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct cw_qpmap_opts o;
	struct cw_gid a = sim_addr(A), b = sim_addr(B);

	cw_relay_settings_init(&w->s);
	assert_false(w->s.enabled); /* section 6: off by default */
	w->s.enabled = true;
	assert_int_equal(cw_lpm_new(&w->allowed), CW_OK);
	assert_int_equal(cw_lpm_new(&w->senders), CW_OK);
	add(w->allowed, SPINE, 32, 1);
	add(w->senders, 0x0a000000, 24, CW_SENDER_AUTO);
	w->s.allowed = w->allowed;
	w->s.senders = w->senders;
	cw_qpmap_opts_init(&o);
	assert_int_equal(cw_qpmap_new(&w->map, &o), CW_OK);
	assert_int_equal(cw_qpmap_add(w->map, &a, &b, QB, QA, 0), CW_OK);
	return w;
}

static void start(struct world *w)
{
	assert_int_equal(cw_relay_new(&w->r, &w->s, w->map, NULL), CW_OK);
}

/* A packet that passes; of the longer ones only the headers are looked at. */
static void learn(struct world *w, const uint8_t *ip, size_t len)
{
	size_t n = len < 96 ? len : 96;
	uint8_t *head = exact_copy(ip, n);

	cw_relay_learn(w->r, head, n, len, MS);
	free(head);
}

static void free_world(struct world *w)
{
	cw_relay_free(w->r);
	cw_qpmap_free(w->map);
	cw_lpm_free(w->allowed);
	cw_lpm_free(w->senders);
	free(w);
}

static struct cw_cnmsg flow_message(void)
{
	struct cw_cnmsg m = {.option = 1,
			     .version = 4,
			     .proto = 17,
			     .tc = 0x6a,
			     .sport = 50000,
			     .dport = 4791,
			     .dqpn = QB,
			     .nrp = 7};

	cw_put_be32(m.src, A);
	cw_put_be32(m.dst, B);
	return m;
}

/* An IPv4 packet with UDP and these data. */
static size_t udp_packet(uint8_t *ip, uint32_t src, uint32_t dst, uint16_t sport, uint16_t dport,
			 const void *data, size_t n)
{
	size_t len = 28 + n;

	memset(ip, 0, 28);
	ip[0] = 0x45;
	ip[1] = 0x6a;
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, 17);
	cw_put_be32(ip + 12, src);
	cw_put_be32(ip + 16, dst);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(ip + 20, sport);
	cw_udp_set_dport(ip + 20, dport);
	cw_udp_set_length(ip + 20, (uint32_t)(8 + n));
	memcpy(ip + 28, data, n);
	return len;
}

static size_t message_packet(uint8_t *ip, uint32_t src, const struct cw_cnmsg *m)
{
	uint8_t data[CW_CN_MAX];
	int n = cw_cnmsg_write(m, data, sizeof(data));
	size_t len;

	assert_true(n > 0);
	len = udp_packet(ip, src, PROXY, 60000, m->option == 1 ? CW_CN_PORT1 : CW_CN_PORT2, data,
			 (size_t)n);
	cw_udp_set_checksum(ip + 20, cw_udp_compute(ip, ip + 20, len - 20));
	return len;
}

/* Give bytes in a block of exactly their size. */
static int give(struct world *w, const uint8_t *ip, size_t len, bool internal, uint64_t now)
{
	uint8_t *exact = exact_copy(ip, len);
	int r = (int)cw_relay_input(w->r, exact, len, internal, now, w->buf, &w->out);

	free(exact);
	return r;
}

static int send_message(struct world *w, const struct cw_cnmsg *m, uint64_t now)
{
	uint8_t ip[256];
	size_t len = message_packet(ip, SPINE, m);

	return give(w, ip, len, true, now);
}

/* A ConnectX-4 Lx's CNP, octet by octet, from its fields. */
static void a17_9_cnp_as_captured(void **state)
{
	struct cw_cnp c = {.src = sim_addr(0x0a001101),
			   .dst = sim_addr(0x0a001201),
			   .tos = 0xc2,
			   .ttl = 64,
			   .ip_id = 0x718c,
			   .pkey = 0xffff,
			   .dqpn = 0x118};
	uint8_t buf[CW_CNP_MAX], *want;
	size_t n;

	(void)state;
	want = hex_block(
		"45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff400001180000"
		"00000000000000000000000000000000000082fd002a",
		&n);
	assert_int_equal(cw_cnp_build(&c, buf, sizeof(buf)), n);
	assert_memory_equal(buf, want, n);
	assert_int_equal(cw_cnp_build(&c, buf, n - 1), CW_E_SPACE);
	c.src = (struct cw_gid){{0x20, 1}};
	assert_int_equal(cw_cnp_build(&c, buf, sizeof(buf)), CW_E_ARG);
	free(want);
}

/* The same for IPv6; the expected octets are of an independent calculation. */
static void a17_9_cnp_over_ipv6(void **state)
{
	struct cw_cnp c = {.src = {{0x20, 1, 0x0d, 0xb8, [15] = 2}},
			   .dst = {{0x20, 1, 0x0d, 0xb8, [15] = 1}},
			   .tos = 0xc2,
			   .ttl = 64,
			   .pkey = 0xffff,
			   .dqpn = 0x118};
	uint8_t buf[CW_CNP_MAX], *want;
	size_t n;

	(void)state;
	want = hex_block(
		"6c2000000028114020010db800000000000000000000000220010db80000000000000000000000"
		"01000012b7002800008100ffff400001180000000000000000000000000000000000000000865200"
		"36",
		&n);
	assert_int_equal(cw_cnp_build(&c, buf, sizeof(buf)), n);
	assert_memory_equal(buf, want, n);
	free(want);
}

/* 4.1: source = the flow's receiver, destination = the sender, its queue pair from the map. */
static void s4_1_message_becomes_a_cnp(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();

	(void)state;
	start(w);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(w->out.len, 60);
	assert_int_equal(w->out.format, CW_SENDER_CNP);
	assert_null(w->out.domain);
	assert_int_equal(cw_be32(w->buf + 12), B);
	assert_int_equal(cw_be32(w->buf + 16), A);
	assert_int_equal(w->buf[1], 0xc2);
	assert_int_equal(cw_bth_opcode(w->buf + 28), CW_BTH_CNP);
	assert_int_equal(cw_bth_dqpn(w->buf + 28), QA);
	assert_int_equal(cw_bth_pkey(w->buf + 28), 0xffff);
	assert_int_equal(cw_icrc_check(w->buf, 60, &cw_icrc_rocev2, CW_ICRC_LE), CW_OK);
	m.packed = true;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_CNP), 2); /* one out for one in */
	free_world(w);
}

/* The partition key is that of the flow, when its packets passed. */
static void s4_1_pkey_of_the_flow(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t p[SIM_PACKET_MAX];
	size_t len = sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, QB, 5, true, 16);

	(void)state;
	start(w);
	learn(w, p, len);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(cw_bth_pkey(w->buf + 28), 0x8123);
	free_world(w);
}

/* Another port than 4791 is RoCEv2's, for messages and for what is learned. */
static void s4_1_configured_port_is_learned_from(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t p[SIM_PACKET_MAX];
	size_t len = sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, QB, 5, true, 16);

	(void)state;
	w->s.roce_port = m.dport = 5791;
	start(w);
	learn(w, p, len); /* to 4791: somebody else's */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(cw_bth_pkey(w->buf + 28), 0xffff);
	cw_udp_set_dport(p + 20, 5791);
	learn(w, p, len);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(cw_bth_pkey(w->buf + 28), 0x8123);
	free_world(w);
}

/* The VLAN is that of the flow, unless the sender's prefix has one. */
static void s4_1_vlan_of_the_flow(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t p[SIM_PACKET_MAX];
	uint32_t psn;

	(void)state;
	start(w);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(w->out.vlan, 0);
	for (psn = 5; psn < 8; psn++) {
		sim_seen_in(w->map, CW_VLAN_SEEN | 30, p,
			    sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, QB, psn, true, 16), MS);
		sim_seen_in(w->map, CW_VLAN_SEEN | 31, p,
			    sim_packet(p, B, A, 50000, CW_OP_ACK, QA, psn, false, 4), MS);
	}
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(w->out.vlan, CW_VLAN_SEEN | 31);
	add(w->senders, A, 32, CW_SENDER_CNP | (uint32_t)(CW_VLAN_SEEN | 99) << 16);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(w->out.vlan, CW_VLAN_SEEN | 99);
	add(w->senders, A, 32, CW_SENDER_CNP | CW_VLAN_SEEN << 16); /* untagged */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(w->out.vlan, CW_VLAN_SEEN);
	free_world(w);
}

static void never_a_guess(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t p[SIM_PACKET_MAX];

	(void)state;
	start(w);
	m.dqpn = QB + 1;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UNKNOWN_FLOW);
	learn(w, p, sim_packet(p, A, B, 50000, CW_OP_SEND_ONLY, QB + 1, 5, true, 16));
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UNDECIDED);
	assert_int_equal(w->out.len, 0);
	free_world(w);
}

/* Section 6: each reason has its counter, and nothing is sent. */
static void s6_refusals(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message(), bad;
	uint8_t ip[256];
	size_t len;

	(void)state;
	w->s.own4 = sim_addr(PROXY);
	start(w);
	len = message_packet(ip, SPINE, &m);
	assert_int_equal(give(w, ip, len, false, MS), CW_RELAY_BORDER);
	assert_true(cw_is_cn_message(ip, len, CW_CN_PORT1, CW_CN_PORT2));
	ip[len - 1] ^= 1;
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_UDP_CHECKSUM);
	cw_udp_set_checksum(ip + 20, 0);
	cw_udp_set_length(ip + 20, 27);
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_UDP_LENGTH);
	assert_true(cw_is_cn_message(ip, len, CW_CN_PORT1, CW_CN_PORT2));
	ip[19] ^= 1;
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_NOT_OURS);
	cw_ipv4_set_mf(ip, 1);
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_IP_LENGTH);
	len = message_packet(ip, SPINE + 1, &m);
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_NOT_ALLOWED);
	len = udp_packet(ip, SPINE, PROXY, 1, CW_CN_PORT1, "0123456789abcdefgh", 18);
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_FORM);
	len = udp_packet(ip, SPINE, PROXY, 1, 4791, "0123456789abcdefgh", 18);
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_NOT_MESSAGE);
	assert_false(cw_is_cn_message(ip, len, CW_CN_PORT1, CW_CN_PORT2));
	bad = m;
	bad.src[0] = 224;
	assert_int_equal(send_message(w, &bad, MS), CW_RELAY_ADDRESS);
	bad = m;
	memcpy(bad.dst, bad.src, 4);
	assert_int_equal(send_message(w, &bad, MS), CW_RELAY_ADDRESS);
	bad = m;
	bad.src[1] = 9; /* of no configured prefix */
	assert_int_equal(send_message(w, &bad, MS), CW_RELAY_NO_SENDER);
	bad = m;
	bad.proto = 6;
	assert_int_equal(send_message(w, &bad, MS), CW_RELAY_FAMILY);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_ADDRESS), 2);
	free_world(w);
}

static bool is_message(const uint8_t *ip, size_t len)
{
	uint8_t *exact = exact_copy(ip, len);
	bool is = cw_is_cn_message(exact, len, CW_CN_PORT1, CW_CN_PORT2);

	free(exact);
	return is;
}

/* Section 6: the border stops messages that this proxy would not take, but another one might. */
static void s6_border_sees_behind_options_and_in_fragments(void **state)
{
	static const char *const other[] = {
		"3b 00 010400000000", /* nothing is behind the options */
		"11 ff 010400000000", /* longer than the packet */
	};
	/* Behind the IPv6 header: first what names UDP, then UDP's ports. */
	static const struct {
		unsigned next;
		const char *chain;
	} message[] = {
		{17, ""},
		{0, "11 00 010400000000"},
		{60, "2b 00 010400000000 11 01 0000000000000000000000000000"},
		{44, "11 00 0001 12345678"}, /* first fragment */
		{51, "11 04 0000 00000001 00000002 000000000000000000000000"},
		{60, "3c 00 010400000000 3c 00 010400000000 3c 00 010400000000 3c 00 010400000000"
		     "3c 00 010400000000 3c 00 010400000000 3c 00 010400000000 11 00 010400000000"},
	};
	uint8_t ip[200] = {0x60}, *chain;
	size_t n, i, k;

	(void)state;
	for (i = 0; i < sizeof(message) / sizeof(message[0]); i++) {
		chain = hex_block(message[i].chain, &n);
		ip[6] = (uint8_t)message[i].next;
		memcpy(ip + 40, chain, n);
		memset(ip + 40 + n, 0, 8);
		cw_udp_set_dport(ip + 40 + n, CW_CN_PORT2);
		assert_true(is_message(ip, 40 + n + 8));
		for (k = 0; k < 40 + n + 4; k++)
			assert_false(is_message(ip, k));
		cw_udp_set_dport(ip + 40 + n, 4791);
		assert_false(is_message(ip, 40 + n + 8));
		free(chain);
	}
	ip[6] = 44; /* a later fragment has no ports */
	ip[40] = 17;
	cw_put_be16(ip + 42, 8 << 3);
	cw_udp_set_dport(ip + 48, CW_CN_PORT1);
	assert_false(is_message(ip, 56));
	ip[6] = 0;
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		chain = hex_block(other[i], &n);
		memcpy(ip + 40, chain, n);
		assert_false(is_message(ip, 56));
		free(chain);
	}
	memset(ip, 0, sizeof(ip)); /* IPv4 with options, first of two fragments */
	ip[0] = 0x46;
	cw_ipv4_set_proto(ip, 17);
	cw_ipv4_set_mf(ip, 1);
	cw_udp_set_dport(ip + 24, CW_CN_PORT1);
	assert_true(is_message(ip, 32));
	cw_ipv4_set_frag_off(ip, 1);
	assert_false(is_message(ip, 32));
}

/* RFC 8200 8.1: over IPv6 a UDP checksum of 0 is none. */
static void s6_ipv6_needs_a_udp_checksum(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	struct cw_gid spine = {{0x20, 1, 0x0d, 0xb8, [15] = 9}};
	uint8_t ip[128] = {0x60};
	int n = cw_cnmsg_write(&m, ip + 48, sizeof(ip) - 48);
	size_t len = 48 + (size_t)n;

	(void)state;
	assert_true(n > 0);
	assert_int_equal(cw_lpm_add(w->allowed, &spine, 128, 1), CW_OK);
	start(w);
	cw_ipv6_set_length(ip, (uint32_t)(8 + n));
	cw_ipv6_set_next_header(ip, 17);
	cw_ipv6_set_src(ip, spine.o);
	ip[24] = 0x20;
	cw_udp_set_dport(ip + 40, CW_CN_PORT1);
	cw_udp_set_length(ip + 40, (uint32_t)(8 + n));
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_UDP_CHECKSUM);
	cw_udp_set_checksum(ip + 40, cw_udp_compute(ip, ip + 40, 8 + (size_t)n));
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_CNP);
	free_world(w);
}

static void s6_off_by_default(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();

	(void)state;
	w->s.enabled = false;
	start(w);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_DISABLED);
	free_world(w);
}

static unsigned count_sent(struct world *w, unsigned n, uint64_t now)
{
	struct cw_cnmsg m = flow_message();
	unsigned i, sent = 0;

	for (i = 0; i < n; i++)
		sent += send_message(w, &m, now) == CW_RELAY_CNP;
	return sent;
}

static void s6_rate_limits(void **state)
{
	struct world *w = new_world();

	(void)state;
	w->s.source_rate = 1000;
	w->s.source_burst = 10;
	start(w);
	assert_int_equal(count_sent(w, 50, MS), 10);
	assert_int_equal(count_sent(w, 50, 6 * MS), 5); /* five more milliseconds */
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_SOURCE_LIMIT), 85);
	free_world(w);
	w = new_world();
	w->s.total_rate = 1000;
	w->s.total_burst = 3;
	start(w);
	assert_int_equal(count_sent(w, 50, MS), 3);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_TOTAL_LIMIT), 47);
	free_world(w);
}

/* A message of another congested node. */
static int message_from(struct world *w, uint32_t node, uint64_t now)
{
	struct cw_cnmsg m = flow_message();
	uint8_t ip[256];

	return give(w, ip, message_packet(ip, node, &m), true, now);
}

enum { NODES = 0x0a200000 }; /* congested nodes, 10.32.0.0/11 */

/* One that is limited for each source, which are allowed by the prefix of NODES. */
static struct world *limited_world(uint32_t rate, uint32_t burst, uint32_t sources)
{
	struct world *w = new_world();

	add(w->allowed, NODES, 11, CW_ALLOWED_PREFIX);
	add(w->allowed, SPINE, 32, CW_ALLOWED_LISTED);
	w->s.listed = 1;
	w->s.source_rate = rate;
	w->s.source_burst = burst;
	w->s.sources = sources;
	w->s.total_rate = 0;
	return w;
}

/* However many share a place of whatever is hashed: each has its own budget, no more, no less. */
static void s6_each_source_has_its_own_budget(void **state)
{
	enum { N = 1000, BURST = 3 };
	struct world *w = limited_world(1, BURST, N);
	unsigned round, i, sent[N] = {0};

	(void)state;
	start(w);
	for (round = 0; round < 2 * BURST; round++) {
		for (i = 0; i < N; i++)
			sent[i] += message_from(w, NODES + i, MS) == CW_RELAY_CNP;
	}
	for (i = 0; i < N; i++)
		assert_int_equal(sent[i], BURST);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_SOURCE_LIMIT), N * BURST);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_SOURCE_FULL), 0);
	free_world(w);
}

/* More sources than places: no budget is forgotten before it is whole, and the rest shares one. */
static void s6_sources_without_a_place_share_a_budget(void **state)
{
	enum { PLACES = 4 };
	struct world *w = limited_world(1000, 2, PLACES);
	unsigned i;

	(void)state;
	start(w);
	for (i = 0; i < PLACES; i++)
		assert_int_equal(message_from(w, NODES + i, MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, NODES + 5, MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, NODES + 6, MS), CW_RELAY_CNP);
	for (i = 5; i < 50; i++) /* all of them have two */
		assert_int_equal(message_from(w, NODES + i, MS), CW_RELAY_SOURCE_FULL);
	for (i = 0; i < PLACES; i++) {
		assert_int_equal(message_from(w, NODES + i, MS), CW_RELAY_CNP);
		assert_int_equal(message_from(w, NODES + i, MS), CW_RELAY_SOURCE_LIMIT);
	}
	/* The one that is listed has its place in any case. */
	assert_int_equal(message_from(w, SPINE, MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, SPINE, MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, SPINE, MS), CW_RELAY_SOURCE_LIMIT);
	/* Two budgets are used still, two are whole: whose they were they would be again. */
	assert_int_equal(message_from(w, NODES + 0, 3 * MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, NODES + 1, 3 * MS), CW_RELAY_CNP);
	for (i = 7; i < 9; i++) {
		assert_int_equal(message_from(w, NODES + i, 3 * MS), CW_RELAY_CNP);
		assert_int_equal(message_from(w, NODES + i, 3 * MS), CW_RELAY_CNP);
		assert_int_equal(message_from(w, NODES + i, 3 * MS), CW_RELAY_SOURCE_LIMIT);
	}
	assert_int_equal(message_from(w, NODES + 0, 3 * MS), CW_RELAY_CNP);
	assert_int_equal(message_from(w, NODES + 0, 3 * MS), CW_RELAY_SOURCE_LIMIT);
	free_world(w);
}

/* As many forged sources as there are messages: a node that is listed is heard all the same. */
static void s6_a_flood_does_not_starve_a_listed_source(void **state)
{
	struct world *w = limited_world(1000, 10, 16);
	uint64_t now = MS;
	unsigned i, heard = 0;

	(void)state;
	w->s.total_rate = 10000;
	w->s.total_burst = 100;
	start(w);
	for (i = 0; i < 20000; i++, now += 10000) { /* 100,000 a second, ten times the limit */
		(void)message_from(w, NODES + i, now);
		if (i % 2 == 0)
			(void)message_from(w, NODES + 0x200000 + i, now); /* allowed by nothing */
		if (i % 200 == 0)
			heard += message_from(w, SPINE, now) == CW_RELAY_CNP;
	}
	assert_int_equal(heard, 100);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_NOT_ALLOWED), 10000);
	assert_true(cw_relay_counter(w->r, CW_RELAY_TOTAL_LIMIT) +
			    cw_relay_counter(w->r, CW_RELAY_SOURCE_FULL) >
		    10000);
	free_world(w);
}

/* Nobody sends from these. */
static void s6_sources_are_unicast(void **state)
{
	static const uint32_t none[] = {0, 0x7f000001, 0xe0000001, 0xffffffff};
	struct world *w = new_world();
	unsigned i;

	(void)state;
	add(w->allowed, 0, 0, CW_ALLOWED_PREFIX);
	start(w);
	for (i = 0; i < 4; i++)
		assert_int_equal(message_from(w, none[i], MS), CW_RELAY_NOT_ALLOWED);
	assert_int_equal(message_from(w, 0x01020304, MS), CW_RELAY_CNP);
	free_world(w);
}

static void coalescing_is_a_choice(void **state)
{
	struct world *w = new_world();

	(void)state;
	start(w);
	assert_int_equal(count_sent(w, 9, MS), 9);
	free_world(w);
	w = new_world();
	w->s.coalesce_ns = 50000;
	start(w);
	assert_int_equal(count_sent(w, 9, MS), 1);
	assert_int_equal(count_sent(w, 9, MS + 60000), 1);
	assert_int_equal(cw_relay_counter(w->r, CW_RELAY_COALESCED), 16);
	free_world(w);
}

/* 4.2: the queue pair and the VPN by the NRP selector; the VPN names the routing domain. */
static void s4_2_nrp_selects_qp_and_vpn(void **state)
{
	struct cw_nrp nrps[] = {{5, .has_qp = true, .sqpn = 0x555, .has_vpn = true, .vpn = 100},
				{7, .has_qp = true, .sqpn = 0x777, .has_vpn = true, .vpn = 200},
				{9, .has_qp = true, .sqpn = 0x999}};
	struct cw_vpn_domain domains[] = {{.vpn = 200, .port = 3, .vid = 42}};
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();

	(void)state;
	domains[0].source = sim_addr(0xc0a80001);
	w->s.nrps = nrps;
	w->s.nnrps = 3;
	w->s.domains = domains;
	w->s.ndomains = 1;
	start(w);
	m.option = 2;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	assert_int_equal(cw_bth_dqpn(w->buf + 28), 0x777);
	assert_int_equal(w->out.domain->vid, 42);
	assert_int_equal(cw_be32(w->buf + 12), 0xc0a80001);
	m.nrp = 5; /* a VPN without a domain */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_VPN);
	m.nrp = 9; /* no VPN */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_VPN);
	free_world(w);
	w = new_world();
	nrps[0].has_vpn = nrps[1].has_vpn = false;
	w->s.nrps = nrps;
	w->s.nnrps = 3;
	start(w);
	m.nrp = 9;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	m.nrp = 10;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_QP);
	free_world(w);
}

/* UB's CNP from TPN 0x445566 to 0x112233, with a right ICRC. */
static void expect_ub_cnp(const struct world *w)
{
	size_t n;
	uint8_t *expect = hex_block("0800 445566 112233 00 000000 00 000000 c0", &n);

	assert_int_equal(w->out.len, 28 + 16 + 16 + 4);
	assert_memory_equal(w->buf + 28, expect, n);
	assert_int_equal(cw_icrc_check(w->buf, w->out.len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	free(expect);
}

/* A data packet of that flow, 0x112233 to 0x445566; its length. */
static size_t ub_data(uint8_t *ip)
{
	size_t n;
	uint8_t *h = hex_block("8100 112233 445566 00 000001 00 000001 00000000", &n);

	n = udp_packet(ip, A, B, 50000, 4792, h, n);
	free(h);
	return n;
}

static void learn_in_vlan_7(struct world *w, const uint8_t *ip, size_t n)
{
	struct cw_qp_seen seen = {
		.ip = ip, .len = n, .wire = n, .now = MS, .vlan = CW_VLAN_SEEN | 7};

	cw_relay_learn_burst(w->r, &seen, 1);
}

/* The same for UB: a selector stands for both transport endpoints. */
static void s4_2_nrp_selects_ub_endpoints(void **state)
{
	static const struct cw_nrp nrps[] = {
		{5, .has_qp = true, .sqpn = 0x555},
		{7, .has_tp = true, .src_tpn = 0x112233, .dst_tpn = 0x445566}};
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t ip[256];

	(void)state;
	w->s.nrps = nrps;
	w->s.nnrps = 2;
	w->s.coalesce_ns = MS;
	start(w);
	m.option = 2;
	m.dport = 4792;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UB_CNP);
	assert_int_equal(w->out.format, CW_SENDER_UB_CNP);
	assert_int_equal(w->out.vlan, 0);
	assert_int_equal(cw_be32(w->buf + 12), B);
	assert_int_equal(cw_be32(w->buf + 16), A);
	assert_int_equal(cw_udp_sport(w->buf + 20), m.sport);
	assert_int_equal(cw_udp_dport(w->buf + 20), 4792);
	expect_ub_cnp(w);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_COALESCED);
	m.nrp = 5; /* it has no endpoints */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_TP);
	m.nrp = 6; /* nor is this one known */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_TP);
	m.nrp = 7;
	m.dport = 4791; /* and that one has no queue pair */
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NRP_QP);
	learn_in_vlan_7(w, ip, ub_data(ip));
	m.dport = 4792; /* in the partition of the flow, once that was seen */
	assert_int_equal(send_message(w, &m, 9 * MS), CW_RELAY_UB_CNP);
	assert_int_equal(w->out.vlan, CW_VLAN_SEEN | 7);
	free_world(w);
}

/* UEC 4.1: addresses and TC name the flow. Every profile, from a flow that was seen. */
static void s4_1_bts_profiles(void **state)
{
	static const struct {
		enum cw_sender profile;
		size_t len;
		const char *pds;
	} want[] = {
		{CW_SENDER_BTS_ADDR, 48, "502801000000000000000000 00000000"},
		{CW_SENDER_BTS_NACK, 48, "5020010011223344 7788 5566 00000000"},
		{CW_SENDER_BTS_REFLECT, 44, "1080000011223344 5566 7788 99aabbcc"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct world *w = new_world();
		struct cw_cnmsg m = flow_message();
		uint8_t ip[256], *pds, *expect;
		size_t n;

		add(w->senders, A, 32, want[i].profile);
		start(w);
		m.dport = 4793;
		m.tc = 0x6b; /* CE by now; it is the same flow */
		assert_int_equal(send_message(w, &m, MS), CW_RELAY_UNKNOWN_FLOW);
		pds = hex_block("1080000011223344 5566 7788 99aabbcc ddeeff00", &n);
		learn(w, ip, udp_packet(ip, A, B, 50000, 4793, pds, n));
		assert_int_equal(send_message(w, &m, MS), CW_RELAY_BTS);
		assert_int_equal(w->out.len, want[i].len);
		assert_int_equal(cw_be32(w->buf + 12), B);
		assert_int_equal(cw_be32(w->buf + 16), A);
		assert_int_equal(w->buf[1], 0x68);
		assert_int_equal(cw_udp_sport(w->buf + 20), 50000);
		assert_int_equal(cw_udp_dport(w->buf + 20), 4793);
		expect = hex_block(want[i].pds, &n);
		assert_memory_equal(w->buf + 28, expect, n);
		if (want[i].len == 48)
			assert_int_equal(cw_le32(w->buf + 44), cw_crc32c(0, w->buf + 12, 32));
		m.dport = 4791; /* a RoCEv2 flow of such a sender */
		assert_int_equal(send_message(w, &m, MS), CW_RELAY_NO_FORMAT);
		free(pds);
		free(expect);
		free_world(w);
	}
}

/* `pinned`: by the receiver's prefix, against the port's general rule. */
static void check_bts_uetx(bool pinned)
{
	struct cw_pin_4792 pin = {.version = 4, .plen = 32, .family = CW_4792_UETX};
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t ip[256], *h, *expect;
	size_t n;

	cw_put_be32(pin.addr, B);
	w->s.pins = &pin;
	w->s.npins = pinned;
	w->s.uetx_on_ub_port = !pinned;
	start(w);
	m.dport = 4792;
	h = hex_block("105b 112233 445566 778899aa bbccddee 0004 0000 00000000", &n);
	learn(w, ip, udp_packet(ip, A, B, 50000, 4792, h, n));
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_BTS);
	free(h);
	expect = hex_block("10a8 445566 112233 778899aa bbccddee 0000 0000 00000000", &n);
	assert_int_equal(w->out.len, 28 + n);
	assert_memory_equal(w->buf + 28, expect, n);
	free(expect);
	free_world(w);
}

static void s4_1_bts_uetx(void **state)
{
	(void)state;
	check_bts_uetx(false);
	check_bts_uetx(true);
}

/* A UB flow gets UB's own CNP, with both transport endpoints the other way round. */
static void ub_flows_get_ub_cnps(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t ip[256];
	size_t n;

	(void)state;
	start(w);
	m.dport = 4792;
	m.dqpn = 0x445566;
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UNKNOWN_FLOW);
	n = ub_data(ip);
	learn(w, ip, n);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UB_CNP);
	assert_int_equal(w->out.vlan, 0);
	learn_in_vlan_7(w, ip, n);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_UB_CNP);
	assert_int_equal(w->out.vlan, CW_VLAN_SEEN | 7);
	expect_ub_cnp(w);
	free_world(w);
}

/* What is copied for learning: headers, CM whole, nothing of strangers; and what only says that its
 * flow goes on. */
static void worth_of_packets(void **state)
{
	struct cw_relay_settings s;
	uint8_t p[SIM_PACKET_MAX], *body;
	uint64_t flow, other;
	size_t n;
	uint8_t *h;

	(void)state;
	cw_relay_settings_init(&s);
	n = sim_packet(p, A, B, 50000, CW_OP_SEND_LAST, QB, 5, true, 300);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), 128);
	assert_int_equal(flow, 0);
	n = sim_packet(p, A, B, 50000, CW_OP_WRITE_MIDDLE, QB, 5, false, 300);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), 128);
	n = sim_packet(p, A, B, 50001, CW_OP_SEND_MIDDLE, QB, 6, false, 20);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &other), n);
	assert_true(flow != 0 && flow == other);
	n = sim_packet(p, A, B, 50000, CW_OP_SEND_MIDDLE, QB + 1, 5, false, 300);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &other), 128);
	assert_true(flow != other);
	n = sim_packet(p, A, B, 50000, CW_OP_SEND_MIDDLE, QB, 5, true, 300);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), 128);
	assert_int_equal(flow, 0); /* it asks for an ACK, which will vote */
	n = sim_packet(p, A, B, 50000, CW_OP_READ_RESP_MIDDLE, QB, 5, false, 300);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), 128);
	n = sim_cm(p, A, B, CW_CM_REQ, 1, &body);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), n);
	assert_int_equal(flow, 0);
	h = hex_block("8100 112233 445566 00 000001 00 000001 00000000", &n);
	n = udp_packet(p, A, B, 50000, 4792, h, n);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), n);
	assert_true(flow != 0);
	s.uetx_on_ub_port = true; /* whose Nack names the last packet */
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), n);
	assert_int_equal(flow, 0);
	cw_udp_set_dport(p + 20, 53);
	assert_int_equal(cw_relay_worth(&s, p, (uint32_t)n, &flow), 0);
	free(h);
}

static void senders_by_prefix(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();

	(void)state;
	add(w->senders, A, 32, CW_SENDER_NONE);
	start(w);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_SENDER_NONE);
	add(w->senders, A, 32, CW_SENDER_FAST_CNP);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_NO_FORMAT);
	add(w->senders, A, 32, CW_SENDER_CNP);
	assert_int_equal(send_message(w, &m, MS), CW_RELAY_CNP);
	free_world(w);
}

static void every_prefix_is_safe(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m = flow_message();
	uint8_t ip[256];
	size_t len, i;

	(void)state;
	start(w);
	len = message_packet(ip, SPINE, &m);
	for (i = 0; i < len; i++)
		assert_false(cw_relay_sent((enum cw_relay_result)give(w, ip, i, true, MS)));
	assert_int_equal(give(w, ip, len, true, MS), CW_RELAY_CNP);
	free_world(w);
}

static void wrong_settings_are_named(void **state)
{
	static const struct cw_nrp unsorted[] = {{7, .has_qp = true}, {5, .has_qp = true}};
	struct cw_relay_settings s;
	struct cw_relay *r;
	struct cw_diag d;

	(void)state;
	cw_relay_settings_init(&s);
	s.port2 = s.port1;
	assert_int_equal(cw_relay_new(&r, &s, NULL, &d), CW_E_CONFLICT);
	assert_string_equal(d.path, "port2");
	cw_relay_settings_init(&s);
	s.cnp_dscp = 64;
	assert_int_equal(cw_relay_new(&r, &s, NULL, &d), CW_E_RANGE);
	assert_string_equal(d.path, "cnp-dscp");
	cw_relay_settings_init(&s);
	s.nrps = unsorted;
	s.nnrps = 2;
	assert_int_equal(cw_relay_new(&r, &s, NULL, &d), CW_E_CONFLICT);
	assert_string_equal(d.path, "nrps");
}

/* One of many kinds of messages, good and bad. */
static size_t any_message(uint8_t *ip, uint64_t *seed)
{
	static const uint16_t ports[] = {4791, 4791, 4791, 4792, 4793, 53};
	struct cw_cnmsg m = flow_message();
	size_t len;

	m.option = sim_rand(seed) % 4 == 0 ? 2 : 1;
	m.dport = ports[sim_rand(seed) % 6];
	m.dqpn = QB + sim_rand(seed) % 2;
	m.src[3] = (uint8_t)(sim_rand(seed) % 3);
	len = message_packet(ip, SPINE + sim_rand(seed) % 5 / 4, &m);
	if (sim_rand(seed) % 8 == 0)
		ip[sim_rand(seed) % len]++;
	return len;
}

/* Bursts of any length give what the messages give one by one, octet for octet. */
static void bursts_are_as_one_by_one(void **state)
{
	enum { N = 80 };
	struct world *w = new_world(), *one = new_world();
	static uint8_t ip[N][256], buf[N][CW_RELAY_MAX];
	struct cw_relay_item item[N];
	uint64_t seed = 77, now = MS;
	unsigned round, i, n, sent = 0;

	(void)state;
	w->s.source_rate = one->s.source_rate = 700;
	w->s.source_burst = one->s.source_burst = 60;
	start(w);
	start(one);
	for (round = 0; round < 200; round++, now += 20 * MS) {
		n = 1 + sim_rand(&seed) % N;
		for (i = 0; i < n; i++)
			item[i] = (struct cw_relay_item){.ip = ip[i],
							 .len = any_message(ip[i], &seed),
							 .internal = sim_rand(&seed) % 9 > 0,
							 .buf = buf[i]};
		cw_relay_burst(w->r, item, n, now);
		for (i = 0; i < n; i++) {
			assert_int_equal(item[i].result,
					 give(one, ip[i], item[i].len, item[i].internal, now));
			if (!cw_relay_sent(item[i].result))
				continue;
			assert_int_equal(item[i].out.len, one->out.len);
			assert_int_equal(item[i].out.format, one->out.format);
			assert_memory_equal(buf[i], one->buf, one->out.len);
			sent++;
		}
	}
	for (i = 0; i < CW_RELAY_RESULT_COUNT; i++)
		assert_int_equal(cw_relay_counter(w->r, i), cw_relay_counter(one->r, i));
	assert_true(sent > 100 && cw_relay_counter(w->r, CW_RELAY_SOURCE_LIMIT) > 100);
	free_world(w);
	free_world(one);
}

/* Prefixes in a list that is searched from end to end. */
struct lpm_list {
	struct cw_gid prefix[300];
	unsigned len[300], n;
	uint32_t value[300]; /* 0: removed */
};

static bool bits_agree(const struct cw_gid *a, const struct cw_gid *b, unsigned from, unsigned to)
{
	for (; from < to; from++) {
		if ((a->o[from / 8] ^ b->o[from / 8]) >> (7 - from % 8) & 1)
			return false;
	}
	return true;
}

static uint32_t list_find(const struct lpm_list *l, const struct cw_gid *a)
{
	unsigned i, base = cw_gid_is_v4(a) ? 96 : 0;
	int best = -1;
	uint32_t value = 0;

	for (i = 0; i < l->n; i++) {
		if (l->value[i] == 0 || cw_gid_is_v4(&l->prefix[i]) != (base != 0) ||
		    (int)l->len[i] <= best || !bits_agree(a, &l->prefix[i], base, base + l->len[i]))
			continue;
		best = (int)l->len[i];
		value = l->value[i];
	}
	return value;
}

/* One near those that were made before, of either version. */
static struct cw_gid near(const struct lpm_list *l, uint64_t *seed)
{
	bool v4 = sim_rand(seed) % 2 == 0;
	struct cw_gid a = v4 ? sim_addr(sim_rand(seed)) : (struct cw_gid){{0x20, 1}};
	unsigned bit = (v4 ? 96 : 0) + sim_rand(seed) % (v4 ? 32 : 128);

	if (l->n > 0 && sim_rand(seed) % 8 != 0)
		a = l->prefix[sim_rand(seed) % l->n];
	if (!cw_gid_is_v4(&a) || bit >= 96)
		a.o[bit / 8] ^= (uint8_t)(1u << (7 - bit % 8));
	return a;
}

/* True if it was there. */
static bool list_remove(struct lpm_list *l, const struct cw_gid *p, unsigned len)
{
	unsigned i, base = cw_gid_is_v4(p) ? 96 : 0;

	for (i = 0; i < l->n; i++) {
		if (l->value[i] != 0 && l->len[i] == len &&
		    cw_gid_is_v4(&l->prefix[i]) == (base != 0) &&
		    bits_agree(&l->prefix[i], p, base, base + len)) {
			l->value[i] = 0;
			return true;
		}
	}
	return false;
}

/* Enter, replace or remove one, in both. */
static void change(struct cw_lpm *t, struct lpm_list *l, uint64_t *seed)
{
	struct cw_gid p = near(l, seed);
	unsigned len = sim_rand(seed) % (cw_gid_is_v4(&p) ? 33 : 129);
	bool was = list_remove(l, &p, len);

	if (sim_rand(seed) % 3 == 0) {
		assert_int_equal(cw_lpm_remove(t, &p, len), was ? CW_OK : CW_E_UNKNOWN);
		return;
	}
	assert_int_equal(cw_lpm_add(t, &p, len, l->n + 1), CW_OK);
	l->prefix[l->n] = p;
	l->len[l->n] = len;
	l->value[l->n] = l->n + 1;
	l->n++;
}

static void lpm_agrees_with_a_list(void **state)
{
	struct lpm_list *l = calloc(1, sizeof(*l));
	struct cw_lpm *t;
	uint64_t seed = 5;
	struct cw_gid a;
	unsigned k;

	(void)state;
	assert_int_equal(cw_lpm_new(&t), CW_OK);
	while (l->n < 300) {
		change(t, l, &seed);
		for (k = 0; k < 20; k++) {
			a = near(l, &seed);
			assert_int_equal(cw_lpm_find(t, &a), list_find(l, &a));
		}
	}
	cw_lpm_free(t);
	free(l);
}

static void lpm_refusals(void **state)
{
	struct cw_gid six = {{0x20, 1}}, four = sim_addr(A);
	struct cw_lpm *t;

	(void)state;
	assert_int_equal(cw_lpm_find(NULL, &four), 0);
	assert_int_equal(cw_lpm_new(&t), CW_OK);
	assert_int_equal(cw_lpm_find(t, &six), 0);
	assert_int_equal(cw_lpm_remove(t, &six, 16), CW_E_UNKNOWN);
	assert_int_equal(cw_lpm_add(t, &six, 129, 1), CW_E_RANGE);
	assert_int_equal(cw_lpm_add(t, &four, 33, 1), CW_E_RANGE);
	assert_int_equal(cw_lpm_remove(t, &four, 33), CW_E_RANGE);
	assert_int_equal(cw_lpm_add(t, &four, 32, 0), CW_E_RANGE);
	assert_int_equal(cw_lpm_add(t, &six, 0, 9), CW_OK);
	assert_int_equal(cw_lpm_find(t, &six), 9);
	assert_int_equal(cw_lpm_find(t, &four), 0); /* IPv4 is no part of ::/0 */
	cw_lpm_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a17_9_cnp_as_captured),
		cmocka_unit_test(a17_9_cnp_over_ipv6),
		cmocka_unit_test(s4_1_message_becomes_a_cnp),
		cmocka_unit_test(s4_1_pkey_of_the_flow),
		cmocka_unit_test(s4_1_configured_port_is_learned_from),
		cmocka_unit_test(s4_1_vlan_of_the_flow),
		cmocka_unit_test(never_a_guess),
		cmocka_unit_test(s6_refusals),
		cmocka_unit_test(s6_border_sees_behind_options_and_in_fragments),
		cmocka_unit_test(s6_ipv6_needs_a_udp_checksum),
		cmocka_unit_test(s6_off_by_default),
		cmocka_unit_test(s6_rate_limits),
		cmocka_unit_test(s6_each_source_has_its_own_budget),
		cmocka_unit_test(s6_sources_without_a_place_share_a_budget),
		cmocka_unit_test(s6_a_flood_does_not_starve_a_listed_source),
		cmocka_unit_test(s6_sources_are_unicast),
		cmocka_unit_test(coalescing_is_a_choice),
		cmocka_unit_test(s4_2_nrp_selects_qp_and_vpn),
		cmocka_unit_test(s4_2_nrp_selects_ub_endpoints),
		cmocka_unit_test(s4_1_bts_profiles),
		cmocka_unit_test(s4_1_bts_uetx),
		cmocka_unit_test(ub_flows_get_ub_cnps),
		cmocka_unit_test(worth_of_packets),
		cmocka_unit_test(senders_by_prefix),
		cmocka_unit_test(every_prefix_is_safe),
		cmocka_unit_test(bursts_are_as_one_by_one),
		cmocka_unit_test(wrong_settings_are_named),
		cmocka_unit_test(lpm_agrees_with_a_list),
		cmocka_unit_test(lpm_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
