/* io_neigh.c - the ARP and neighbour discovery of an endpoint on a port without a kernel: two
 * stations on a cable that can be cut, and messages octet by octet.
 */
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "cli/io_neigh.h"
#include "test.h"

struct cable;

struct station {
	struct io_neigh *n;
	struct cable *cable;
	int who;
	unsigned sent;
};

struct cable {
	struct station end[2];
	uint64_t now;
	bool cut;
	uint8_t last[128]; /* the frame that was sent last */
	size_t len;
};

static void deliver(void *arg, const uint8_t *frame, size_t len)
{
	struct station *from = arg;
	struct cable *c = from->cable;
	uint8_t *copy = exact_copy(frame, len);

	assert_true(len <= sizeof(c->last));
	memcpy(c->last, frame, len);
	c->len = len;
	from->sent++;
	if (!c->cut)
		io_neigh_input(c->end[1 - from->who].n, copy, len, c->now);
	free(copy);
}

static void address(uint8_t a[16], unsigned version, int who)
{
	memset(a, 0, 16);
	memcpy(a, version == 4 ? "\x0a\x01\x02" : "\xfd\x01\x02", 3);
	a[version == 4 ? 3 : 15] = (uint8_t)(who + 1);
}

static struct io_neigh *station(struct cable *c, int who, unsigned version, uint8_t last)
{
	struct io_neigh_opts o = {
		.ip_version = version, .mac = {2, 0x11, 0x22, 0x33, 0x44}, .send = deliver};

	o.mac[5] = last;
	o.arg = &c->end[who];
	address(o.address, version, who);
	c->end[who] = (struct station){io_neigh_new(&o), c, who, 0};
	assert_non_null(c->end[who].n);
	return c->end[who].n;
}

static void up(struct cable *c, unsigned version)
{
	memset(c, 0, sizeof(*c));
	c->now = 1000;
	(void)station(c, 0, version, 0xa0);
	(void)station(c, 1, version, 0xa1);
}

static void down(struct cable *c)
{
	io_neigh_free(c->end[0].n);
	io_neigh_free(c->end[1].n);
}

static void pass(struct cable *c, uint64_t ms)
{
	uint64_t until = c->now + ms;

	for (; c->now < until; c->now += 100) {
		io_neigh_tick(c->end[0].n, c->now);
		io_neigh_tick(c->end[1].n, c->now);
	}
}

static void ask(struct cable *c, unsigned version)
{
	uint8_t hop[16];

	address(hop, version, 1);
	io_neigh_ask(c->end[0].n, hop, c->now);
}

static void they_find_each_other(void **state)
{
	unsigned version;
	struct cable c;
	uint8_t mac[6];

	for (version = 4; version <= 6; version += 2) {
		up(&c, version);
		ask(&c, version);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
		assert_int_equal(mac[5], 0xa1);
		assert_int_equal(c.end[0].sent, 1);
		assert_int_equal(c.end[1].sent, 1);
		pass(&c, 29000);
		assert_int_equal(c.end[0].sent, 1); /* known for half a minute */
		pass(&c, 2000);
		assert_int_equal(c.end[0].sent, 2); /* then it is asked for again */
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
		down(&c);
	}
}

static void silence_is_told_and_asked_again(void **state)
{
	unsigned version;
	struct cable c;
	uint8_t mac[6];

	for (version = 4; version <= 6; version += 2) {
		up(&c, version);
		c.cut = true;
		ask(&c, version);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 0);
		pass(&c, 2900);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 0);
		assert_int_equal(c.end[0].sent, 6);
		pass(&c, 300);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), -1);
		c.cut = false;
		pass(&c, 3000); /* failed for so long, then there is another question */
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
		down(&c);
	}
}

/* A station that is replaced: its new address is learnt when it is asked for again, and the old one
 * stays in use meanwhile. */
static void another_address(void **state)
{
	unsigned version;
	struct cable c;
	uint8_t mac[6];

	for (version = 4; version <= 6; version += 2) {
		up(&c, version);
		ask(&c, version);
		io_neigh_free(c.end[1].n);
		(void)station(&c, 1, version, 0xbb);
		c.cut = true;
		pass(&c, 34500);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
		assert_int_equal(mac[5], 0xa1);
		c.cut = false;
		pass(&c, 5000);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
		assert_int_equal(mac[5], 0xbb);
		down(&c);
	}
}

/* What goes out: RFC 826; RFC 4861 4.3, 7.2.2. */
static void questions_octet_by_octet(void **state)
{
	static const uint8_t arp[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0x11, 0x22, 0x33, 0x44, 0xa0, 8,    6,
		0,    1,    8,    0,    6,    4,    0, 1,    2,    0x11, 0x22, 0x33, 0x44, 0xa0,
		10,   1,    2,    1,    0,    0,    0, 0,    0,    0,    10,   1,    2,    2};
	static const uint8_t ns_mac[] = {0x33, 0x33, 0xff, 0,    0,    2,
					 2,    0x11, 0x22, 0x33, 0x44, 0xa0};
	struct cable c;
	struct cw_nd nd;

	up(&c, 4);
	c.cut = true;
	ask(&c, 4);
	assert_int_equal(c.len, sizeof(arp));
	assert_memory_equal(c.last, arp, sizeof(arp));
	down(&c);
	up(&c, 6);
	c.cut = true;
	ask(&c, 6);
	assert_memory_equal(c.last, ns_mac, sizeof(ns_mac));
	assert_int_equal(cw_nd_parse(c.last + CW_SIZE_ETH, c.len - CW_SIZE_ETH, &nd), CW_OK);
	assert_int_equal(nd.type, CW_ICMP6_NS);
	assert_int_equal(nd.target[15], 2);
	assert_int_equal(nd.mac[5], 0xa0);
	down(&c);
}

/* Questions for others, broken ones and answers that nobody asked for change nothing. */
static void not_for_us(void **state)
{
	static const uint8_t them[6] = {2, 9, 9, 9, 9, 9}, group[6] = {0x33, 0x33};
	uint8_t frame[CW_SIZE_ETH + CW_SIZE_ARP] = {0}, addr[16], other[16], mac[6];
	struct cable c;
	size_t n;

	up(&c, 4);
	c.cut = true;
	address(addr, 4, 1);
	address(other, 4, 7);
	cw_eth_set_type(frame, CW_ETHERTYPE_ARP);
	cw_arp_build(frame + CW_SIZE_ETH, CW_ARP_REQUEST, them, addr, mac, other);
	io_neigh_input(c.end[0].n, frame, sizeof(frame), c.now);
	assert_int_equal(c.end[0].sent, 0);
	ask(&c, 4);
	cw_arp_build(frame + CW_SIZE_ETH, CW_ARP_REPLY, group, addr, mac, other);
	io_neigh_input(c.end[0].n, frame, sizeof(frame), c.now); /* no group is a station */
	assert_int_equal(io_neigh_hop(c.end[0].n, mac), 0);
	cw_arp_build(frame + CW_SIZE_ETH, CW_ARP_REPLY, them, addr, mac, other);
	for (n = 0; n < sizeof(frame); n++) {
		uint8_t *part = exact_copy(frame, n);

		io_neigh_input(c.end[0].n, part, n, c.now);
		assert_int_equal(io_neigh_hop(c.end[0].n, mac), 0);
		free(part);
	}
	io_neigh_input(c.end[0].n, frame, sizeof(frame), c.now);
	assert_int_equal(io_neigh_hop(c.end[0].n, mac), 1);
	assert_memory_equal(mac, them, 6);
	down(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_find_each_other),
		cmocka_unit_test(silence_is_told_and_asked_again),
		cmocka_unit_test(another_address),
		cmocka_unit_test(questions_octet_by_octet),
		cmocka_unit_test(not_for_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
