/* ospf_peer: the client of ospfd's API faces a scripted ospfd. Tests are named after sections of
 * the Fast CNP proxy draft and of RFC 2328, 5250, 7684. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/peers/ospf_lsdb.h"
#include "tests/unit/peers_world.h"

/* ---- ospfd ---------------------------------------------------------------------------------- */

enum { HEAD = 8, BODY = 4096, ROUTER1 = 0x0aff0001, ROUTER2 = 0x0aff0002, AREA1 = 1 };

static struct {
	struct cw_pnc_config conf;
	struct cw_prefix prefix[1];
	uint64_t now;
	int listener, sync, async;
	uint8_t type, body[BODY]; /* of the last request */
	size_t len;
} f;

/* An address of its own: the port is always the same. */
static struct sockaddr_in address(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(2607)};

	a.sin_addr.s_addr = htonl(0x7f000000u | ((uint32_t)getpid() & 0xffff) << 8 | 7);
	return a;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void listen_again(void)
{
	struct sockaddr_in a = address();
	int on = 1;

	f.listener = socket(AF_INET, SOCK_STREAM, 0);
	(void)setsockopt(f.listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	assert_int_equal(bind(f.listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(f.listener, 4), 0);
}

/* The client comes, and is connected back to. */
static void meet(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	unsigned i;

	for (i = 0; i < 500 && !readable(f.listener, 5); i++)
		(void)cw_peers_run(f.now);
	f.sync = accept(f.listener, (struct sockaddr *)&a, &len);
	assert_true(f.sync >= 0);
	a.sin_port = htons((uint16_t)(ntohs(a.sin_port) + 1));
	f.async = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(f.async, (struct sockaddr *)&a, sizeof(a)), 0);
}

static bool read_all(int fd, uint8_t *to, size_t n)
{
	size_t got = 0;
	ssize_t r;

	for (; got < n; got += (size_t)r) {
		if ((r = recv(fd, to + got, n - got, 0)) <= 0)
			return false;
	}
	return true;
}

/* The next request; false: there is none. */
static bool heard(void)
{
	uint8_t head[HEAD];
	unsigned i;

	for (i = 0; i < 20 && !readable(f.sync, 2); i++)
		(void)cw_peers_run(f.now);
	if (!readable(f.sync, 0) || !read_all(f.sync, head, HEAD))
		return false;
	assert_int_equal(head[0], 1);
	f.type = head[1];
	f.len = cw_be16(head + 2);
	assert_true(f.len > 0 && f.len <= BODY); /* ospfd 8.4 aborts at a body of 0 */
	assert_true(read_all(f.sync, f.body, f.len));
	return true;
}

static void expect(uint8_t type)
{
	assert_true(heard());
	assert_int_equal(f.type, type);
}

static void tell(int fd, uint8_t type, const uint8_t *body, size_t len)
{
	uint8_t m[HEAD + BODY] = {1, type};
	unsigned i;

	cw_put_be16(m + 2, (uint16_t)len);
	memcpy(m + HEAD, body, len);
	assert_int_equal(send(fd, m, HEAD + len, MSG_NOSIGNAL), (ssize_t)(HEAD + len));
	for (i = 0; i < 5; i++) {
		(void)readable(f.sync, 1);
		(void)cw_peers_run(f.now);
	}
}

static void reply(int8_t code)
{
	const uint8_t body[4] = {(uint8_t)code};

	tell(f.sync, 10, body, sizeof(body));
}

static void tell_reachable(uint32_t added, uint32_t removed)
{
	uint8_t body[12] = {0};
	size_t n = 4;

	if (added != 0) {
		body[1] = 1;
		cw_put_be32(body + n, added);
		n += 4;
	}
	if (removed != 0) {
		body[3] = 1;
		cw_put_be32(body + n, removed);
		n += 4;
	}
	tell(f.async, 18, body, n);
}

/* What ospfd itself says of an area. */
static void tell_own_router(uint32_t area, uint8_t options)
{
	uint8_t m[12 + CW_SIZE_OSPF2_LSA + 4] = {0}, *lsa = m + 12;

	cw_put_be32(m + 4, area);
	m[8] = 1;
	cw_ospf2_lsa_set_options(lsa, options);
	cw_ospf2_lsa_set_type(lsa, CW_OSPF2_ROUTER);
	cw_ospf2_lsa_set_length(lsa, CW_SIZE_OSPF2_LSA + 4);
	tell(f.async, 12, m, sizeof(m));
}

static void tell_lsa(bool gone, uint32_t area, uint8_t type, uint32_t id, uint32_t router,
		     const char *hex)
{
	uint8_t m[512] = {0}, *lsa = m + 12, *body;
	size_t len;

	body = hex_block(hex, &len);
	cw_put_be32(m + 4, area);
	cw_ospf2_lsa_set_type(lsa, type);
	cw_put_be32(lsa + 4, id);
	cw_put_be32(lsa + 8, router);
	cw_ospf2_lsa_set_length(lsa, (uint32_t)(CW_SIZE_OSPF2_LSA + len));
	memcpy(lsa + CW_SIZE_OSPF2_LSA, body, len);
	free(body);
	tell(f.async, gone ? 13 : 12, m, 12 + CW_SIZE_OSPF2_LSA + len);
}

static void tell_area(uint32_t area)
{
	uint8_t body[12] = {10, 0, 0, 1};

	cw_put_be32(body + 4, area);
	tell(f.async, 16, body, sizeof(body));
}

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.now = 1000;
	last_warning[0] = '\0';
	f.conf.codes = (struct cw_pnc_codes)CW_PNC_CODES;
	f.conf.entries = 1000;
	f.conf.hold_s = 2;
	f.conf.ospf2 = true;
	f.conf.ospf2_scope = CW_OSPF2_OPAQUE_AS;
	f.conf.ospf2_server.version = 4;
	cw_put_be32(f.conf.ospf2_server.addr, ntohl(address().sin_addr.s_addr));
	f.conf.prefix = f.prefix;
	listen_again();
	return 0;
}

static void greeted(void)
{
	meet();
	expect(1);
	assert_int_equal(f.body[0], f.conf.ospf2_scope);
	assert_int_equal(f.body[1], CW_OSPF2_OPAQUE_PREFIX);
	expect(3);
	assert_int_equal(cw_be32(f.body), 0x07050200);
	expect(7);
	expect(8);
	expect(4);
}

static void begin(void)
{
	assert_int_equal(cw_peers_apply(&f.conf, f.now), CW_OK);
	greeted();
}

static void hang_up(void)
{
	close(f.sync);
	close(f.async);
}

static int teardown(void **state)
{
	(void)state;
	hang_up();
	close(f.listener);
	cw_peers_stop();
	return 0;
}

/* ---- What the table has ---------------------------------------------------------------------- */

static bool is_up(const char *name)
{
	return cw_peer_session(CW_PROXY_OSPF2, name, f.now)->up;
}

#define ID         0x07000001
#define PROXY(rt)  "00010010 " rt "200040 0aff0001 000b0004 20000000"
#define SENDER(rt) "00010010 " rt "180000 c0000200 000b0004 20000000"

/* ---- Learning -------------------------------------------------------------------------------- */

static void s5_2_reachable_originators_only(void **state)
{
	(void)state;
	begin();
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00") SENDER("00"));
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	assert_int_equal(cw_peers.nsessions, 0);
	tell_reachable(ROUTER1, 0);
	assert_true(knows("192.0.2.1", "10.255.0.1"));
	assert_true(is_up("10.255.0.1"));
	f.now += 2000; /* all has been told */
	tell_reachable(ROUTER2, ROUTER1);
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	assert_false(is_up("10.255.0.1"));
}

/* A router of another area: its border router has the proxy's address. */
static void rfc5250_3_originator_in_another_area(void **state)
{
	(void)state;
	begin();
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00") SENDER("00"));
	tell_reachable(ROUTER2, 0);
	f.now += 2000;
	tell_lsa(false, 0, CW_OSPF2_SUMMARY, 0, ROUTER2, "00000000 00000001"); /* default route */
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	tell_lsa(false, 0, CW_OSPF2_SUMMARY, 0x0aff0000, ROUTER1, "ffff0000 00000001");
	assert_false(knows("192.0.2.1", "10.255.0.1")); /* nobody within reach */
	tell_lsa(false, 0, CW_OSPF2_SUMMARY, 0x0aff0000, ROUTER2, "ffff0000 00ffffff");
	assert_false(knows("192.0.2.1", "10.255.0.1")); /* infinity */
	tell_lsa(false, 0, CW_OSPF2_SUMMARY, 0x0aff0000, ROUTER2, "ffff0000 00000001");
	assert_true(knows("192.0.2.1", "10.255.0.1"));
	tell_lsa(true, 0, CW_OSPF2_SUMMARY, 0x0aff0000, ROUTER2, "ffff0000 00000001");
	assert_false(knows("192.0.2.1", "10.255.0.1"));
}

/* Area scope: the originator is a router of the area, or nothing. */
static void rfc5250_3_area_scope_needs_the_router(void **state)
{
	(void)state;
	begin();
	tell_reachable(ROUTER2, 0);
	tell_lsa(false, 0, CW_OSPF2_SUMMARY, 0x0aff0000, ROUTER2, "ffff0000 00000001");
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("01") SENDER("01"));
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	tell_reachable(ROUTER1, 0);
	assert_true(knows("192.0.2.1", "10.255.0.1"));
}

/* Rows 59 and 61 of the faults: an LSA with a fault is ignored as a whole, and counted once. */
static void faults_59_61_malformed(void **state)
{
	(void)state;
	begin();
	tell_reachable(ROUTER1, 0);
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1,
		 PROXY("00") "00010014 00180000 c0000200");
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID + 1, ROUTER1, PROXY("00") "0001");
	f.now += 2000;
	tell_reachable(ROUTER2, 0);
	assert_false(knows("10.255.0.1", "10.255.0.1"));
	assert_int_equal(cw_peer_session(CW_PROXY_OSPF2, "10.255.0.1", f.now)->n.malformed, 2);
}

static void rfc2328_14_maxage(void **state)
{
	(void)state;
	begin();
	tell_reachable(ROUTER1, 0);
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00") SENDER("00"));
	assert_true(knows("192.0.2.1", "10.255.0.1"));
	f.now += 2000;
	tell_lsa(true, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00") SENDER("00"));
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	assert_false(is_up("10.255.0.1"));
}

/* The connection ends: what was learnt has the hold time. */
static void lost_and_found(void **state)
{
	(void)state;
	begin();
	tell_reachable(ROUTER1, 0);
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00") SENDER("00"));
	hang_up();
	while (is_up("10.255.0.1"))
		(void)cw_peers_run(f.now);
	assert_true(knows("192.0.2.1", "10.255.0.1"));
	f.now += 1999;
	(void)cw_peers_run(f.now);
	assert_true(knows("192.0.2.1", "10.255.0.1"));
	f.now += 2;
	meet();
	assert_false(knows("192.0.2.1", "10.255.0.1"));
	expect(1);
}

/* ---- Announcing ------------------------------------------------------------------------------ */

static void be_proxy(void)
{
	assert_int_equal(cw_addr_parse("10.255.0.1", &f.conf.proxy[0]), CW_OK);
	assert_int_equal(cw_prefix_parse("192.0.2.0/24", &f.prefix[0]), CW_OK);
	f.conf.nprefix = 1;
}

static void hang_up_by_reload(uint8_t scope, uint32_t area)
{
	f.conf.ospf2_scope = scope;
	f.conf.ospf2_area.version = 4;
	cw_put_be32(f.conf.ospf2_area.addr, area);
	assert_int_equal(cw_peers_apply(&f.conf, f.now), CW_OK);
	(void)cw_peers_run(f.now);
	assert_true(readable(f.sync, 1000));
	assert_int_equal(recv(f.sync, f.body, 1, 0), 0);
	hang_up();
	greeted();
}

static void expect_lsa(uint32_t area, uint8_t type, uint32_t id, const char *hex)
{
	const uint8_t *lsa = f.body + 8;
	uint8_t *want;
	size_t len;

	expect(5);
	want = hex_block(hex, &len);
	assert_int_equal(cw_be32(f.body + 4), area);
	assert_int_equal(cw_ospf2_lsa_type(lsa), type);
	assert_int_equal(cw_be32(lsa + 4), 0x07000000 | id);
	assert_int_equal(cw_ospf2_lsa_length(lsa), CW_SIZE_OSPF2_LSA + len);
	assert_int_equal(f.len, 8 + CW_SIZE_OSPF2_LSA + len);
	assert_memory_equal(lsa + CW_SIZE_OSPF2_LSA, want, len);
	free(want);
}

static void s5_2_announced(void **state)
{
	(void)state;
	be_proxy();
	begin();
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 2, SENDER("00"));
	assert_false(heard());
	f.conf.nprefix = 0; /* a reload */
	assert_int_equal(cw_peers_apply(&f.conf, f.now), CW_OK);
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
	expect(6);
	assert_int_equal(cw_be32(f.body + 8), 2);
}

/* ospfd has no full adjacency yet. */
static void not_ready_is_tried_again(void **state)
{
	(void)state;
	be_proxy();
	f.conf.nprefix = 0;
	begin();
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
	reply(-7);
	assert_false(heard());
	f.now += 1000;
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
	reply(0);
	f.now += 1000;
	assert_false(heard());
	tell(f.async, 11, (const uint8_t[8]){11, 7}, 8); /* ready */
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
}

#define SUMMARY(plen, flags, net)                                                    \
	"00010020 03" plen "00" flags " " net " 000b0004 20000000 00040004 0aff0001" \
	" 00050004 0aff0001"

/* Beside an area border router, which reaches another one. */
static void begin_border(void)
{
	f.conf.ospf2_reoriginate = true;
	begin();
	tell_area(0);
	tell_area(AREA1);
	tell_reachable(ROUTER1, 0);
}

static void s5_2_reoriginated(void **state)
{
	(void)state;
	f.conf.ospf2_scope = CW_OSPF2_OPAQUE_AREA;
	begin_border();
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("01") SENDER("01"));
	expect_lsa(0, CW_OSPF2_OPAQUE_AREA, 0x10000,
		   SUMMARY("18", "00", "c0000200") SUMMARY("20", "40", "0aff0001"));
	assert_false(heard()); /* nothing for area 1 */
	tell_reachable(ROUTER2, 0);
	assert_false(heard()); /* nothing is new */
	tell_lsa(true, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("01") SENDER("01"));
	expect(6);
	assert_int_equal(cw_be32(f.body), 0);
	assert_int_equal(cw_be32(f.body + 8), 0x10000);
}

/* RFC 2328 12.4.3: inter-area prefixes come from the backbone only, and not where an area has it.
 */
static void rfc2328_12_4_3_inter_area(void **state)
{
	(void)state;
	f.conf.ospf2_scope = CW_OSPF2_OPAQUE_AREA;
	begin_border();
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("03"));
	assert_false(heard());
	tell_lsa(true, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("03"));
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("03"));
	expect_lsa(AREA1, CW_OSPF2_OPAQUE_AREA, 0x10000, SUMMARY("20", "40", "0aff0001"));
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID + 1, ROUTER1, PROXY("01"));
	expect_lsa(0, CW_OSPF2_OPAQUE_AREA, 0x10000, SUMMARY("20", "40", "0aff0001"));
	expect(6);
	assert_int_equal(cw_be32(f.body), AREA1);
}

/* With AS scope one LSA is for all areas. */
static void rfc7684_2_reoriginated_with_as_scope(void **state)
{
	(void)state;
	begin_border();
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("01"));
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 0x10000, SUMMARY("20", "40", "0aff0001"));
	assert_false(heard());
}

/* LSAs of AS scope do not reach a stub area or an NSSA: said once, and again when it is one again.
 */
static void rfc5250_3_1_stub_areas_are_named(void **state)
{
	(void)state;
	begin();
	tell_own_router(0, 0x02);
	assert_string_equal(last_warning, "");
	tell_own_router(AREA1, 0x40);
	assert_non_null(strstr(last_warning, "area 0.0.0.1 is a stub area or NSSA"));
	last_warning[0] = '\0';
	tell_own_router(AREA1, 0x00);
	tell_own_router(AREA1, 0x42);
	assert_string_equal(last_warning, "");
	tell_own_router(AREA1, 0x00);
	assert_non_null(strstr(last_warning, "area 0.0.0.1 "));
}

static void rfc5250_3_1_area_scope_reaches_stub_areas(void **state)
{
	(void)state;
	f.conf.ospf2_scope = CW_OSPF2_OPAQUE_AREA;
	begin();
	tell_own_router(AREA1, 0x00);
	assert_string_equal(last_warning, "");
}

/* Beside the border of an NSSA: its external prefixes stay there, and that is said. */
static void rfc3101_3_2_external_prefixes_are_named(void **state)
{
	(void)state;
	f.conf.ospf2_scope = CW_OSPF2_OPAQUE_AREA;
	begin_border();
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID, ROUTER1, PROXY("01"));
	expect_lsa(0, CW_OSPF2_OPAQUE_AREA, 0x10000, SUMMARY("20", "40", "0aff0001"));
	assert_string_equal(last_warning, "");
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID + 1, ROUTER1, SENDER("07"));
	assert_false(heard());
	assert_non_null(strstr(last_warning, "1 flagged external prefixes"));
	assert_non_null(strstr(last_warning, "not announced in area 0.0.0.0:"));
	last_warning[0] = '\0';
	tell_lsa(false, AREA1, CW_OSPF2_OPAQUE_AREA, ID + 1, ROUTER1, SENDER("07"));
	assert_string_equal(last_warning, ""); /* once */
}

/* A reload with another scope or area: what is registered and announced is of the old one. */
static void another_scope_needs_another_connection(void **state)
{
	(void)state;
	be_proxy();
	f.conf.nprefix = 0;
	begin();
	expect_lsa(0, CW_OSPF2_OPAQUE_AS, 1, PROXY("00"));
	hang_up_by_reload(CW_OSPF2_OPAQUE_AREA, AREA1);
	expect_lsa(AREA1, CW_OSPF2_OPAQUE_AREA, 1, PROXY("01"));
	hang_up_by_reload(CW_OSPF2_OPAQUE_AREA, 0);
	expect_lsa(0, CW_OSPF2_OPAQUE_AREA, 1, PROXY("01"));
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void a_length_too_large_ends_the_connection(void **state)
{
	const uint8_t m[HEAD] = {1, 12, 0xff, 0xff};
	uint8_t c;
	unsigned i;

	(void)state;
	begin();
	assert_int_equal(send(f.async, m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
	for (i = 0; i < 200 && !readable(f.sync, 5); i++)
		(void)cw_peers_run(f.now);
	assert_true(recv(f.sync, &c, 1, 0) <= 0);
}

/* Messages that end inside what they should have. */
static void short_messages(void **state)
{
	static const uint8_t types[] = {10, 11, 12, 13, 14, 16, 18, 99};
	uint8_t body[40] = {0};
	unsigned i;
	size_t n;

	(void)state;
	begin();
	body[1] = body[3] = 200;
	for (i = 0; i < sizeof(types); i++) {
		for (n = 1; n < sizeof(body); n++)
			tell(types[i] == 10 ? f.sync : f.async, types[i], body, n);
	}
	assert_int_equal(cw_peers.nsessions, 0);
	tell_reachable(ROUTER1, 0);
	tell_lsa(false, 0, CW_OSPF2_OPAQUE_AS, ID, ROUTER1, PROXY("00"));
	assert_true(knows("10.255.0.1", "10.255.0.1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(s5_2_reachable_originators_only),
		TEST(rfc5250_3_originator_in_another_area),
		TEST(rfc5250_3_area_scope_needs_the_router),
		TEST(faults_59_61_malformed),
		TEST(rfc2328_14_maxage),
		TEST(lost_and_found),
		TEST(s5_2_announced),
		TEST(not_ready_is_tried_again),
		TEST(s5_2_reoriginated),
		TEST(rfc2328_12_4_3_inter_area),
		TEST(rfc7684_2_reoriginated_with_as_scope),
		TEST(rfc5250_3_1_stub_areas_are_named),
		TEST(rfc5250_3_1_area_scope_reaches_stub_areas),
		TEST(rfc3101_3_2_external_prefixes_are_named),
		TEST(another_scope_needs_another_connection),
		TEST(a_length_too_large_ends_the_connection),
		TEST(short_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
