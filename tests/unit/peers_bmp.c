/* peers_bmp: the BMP station of the daemon, told by routers of the test over TCP on the loopback
 * interface. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include "tests/unit/bmp_message.h"
#include "tests/unit/sources_world.h"

static uint16_t port;

/* ---- Routers ------------------------------------------------------------------------------- */

static socklen_t address(const char *text, uint16_t at_port, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(at_port);
		return sizeof(*four);
	}
	assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(at_port);
	return sizeof(*six);
}

/* A port that nobody listens on. */
static uint16_t free_port(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	close(fd);
	return ntohs(at.sin_port);
}

static void use_bmp(const char *more)
{
	char pnc[512];

	(void)snprintf(pnc, sizeof(pnc),
		       "{\"hold-time\": 10, \"bmp\": {\"enabled\": true, \"port\": %u, %s "
		       "\"router\": [\"127.0.0.1/32\", \"127.0.0.2/32\", \"::1/128\"]}}",
		       port, more);
	use(pnc);
}

static int start(void **state)
{
	port = free_port();
	return begin(state);
}

/* Let the station do what there is to do; something is. */
static void deliver(void)
{
	struct pollfd p = {.fd = cw_peers_fd(), .events = POLLIN};

	assert_int_equal(poll(&p, 1, 5000), 1);
	(void)cw_peers_run(w.now);
}

static int router(const char *from)
{
	struct sockaddr_storage a;
	socklen_t size = address(from, 0, &a);
	int fd = socket(a.ss_family, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
	size = address(strchr(from, ':') != NULL ? "::1" : "127.0.0.1", port, &a);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, size), 0);
	deliver();
	return fd;
}

static void octets(int fd, const uint8_t *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
	deliver();
}

static void tell(int fd, unsigned type, const char *body)
{
	size_t len;
	uint8_t *m = bmp_message(type, body, &len);

	octets(fd, m, len);
	free(m);
}

/* Has the station closed this connection? */
static bool closed(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

/* A member of a router of `show bmp`; -1: it is not there. Of "refused" the listener's. */
static json_int_t of_router(const char *name, const char *what)
{
	struct cw_diag diag = {0};
	json_t *all = cw_peers_show_bmp((void *)cw_now_ms, NULL, &diag);
	json_int_t n = -1;
	const json_t *r;
	size_t i;

	if (strcmp(what, "refused") == 0)
		n = json_integer_value(json_object_get(json_object_get(all, "listener"), what));
	json_array_foreach(json_object_get(all, "routers"), i, r)
	{
		if (strcmp(member(r, "router"), name) == 0)
			n = json_integer_value(json_object_get(r, what));
	}
	json_decref(all);
	return n;
}

/* ---- Messages ------------------------------------------------------------------------------ */

#define NAME "0002 0002 7231" /* sysName r1 */
#define PEER_AT(type, flags, address) \
	type flags "0000000000000000" address "0000fde9 0a0b0001 00000000 00000000"
#define V4         "000000000000000000000000 0a0b0001"
#define V6         "fd110000 00000000 00000000 00000001"
#define NOBODY     "00000000000000000000000000000000"
#define PEER4      PEER_AT("00", "00", V4)
#define MARKER     "ffffffffffffffffffffffffffffffff"
#define OPEN       MARKER "001d 01 04 fde9 00b4 0a0b0001 00"
#define UP(peer)   peer NOBODY "00b3 c001" OPEN OPEN
#define DOWN(peer) peer "04"
/* 192.0.2.0/24 with proxy 10.11.0.1, of 23 + 36 octets; and its withdrawal */
#define ROUTE                                                            \
	MARKER "003c 02 0000 0021 40010100 400200 4003040a0b0001 c02710" \
	       "00010104 0a0b0001 fffe0004 0a0b0001 18c00002"
#define WITHDRAWN MARKER "001b 02 0004 18c00002 0000"

static void views(void **state)
{
	int fd;

	(void)state;
	use_bmp("");
	fd = router("127.0.0.1");
	tell(fd, CW_BMP_INITIATION, NAME);
	assert_int_equal(of_router("127.0.0.1", "initiation"), 1);
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE); /* before its Peer Up */
	assert_int_equal(of_router("127.0.0.1", "no_peer"), 1);
	assert_table("");
	tell(fd, CW_BMP_PEER_UP, UP(PEER4));
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	assert_table("192.0.2.0/24=10.11.0.1");
	assert_int_equal(counter("127.0.0.1/10.11.0.1", "accepted"), 1);
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER_AT("00", "40", V4) ROUTE);
	assert_int_equal(counter("127.0.0.1/10.11.0.1 post-policy", "accepted"), 1);
	assert_table("192.0.2.0/24=10.11.0.1 192.0.2.0/24=10.11.0.1"); /* each view is one */
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER_AT("00", "10", V4) ROUTE);
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER_AT("00", "50", V4) ROUTE);
	assert_int_equal(of_router("127.0.0.1", "other_view"), 2); /* what it tells others */
	tell(fd, CW_BMP_PEER_UP, UP(PEER_AT("03", "00", NOBODY)));
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER_AT("03", "00", NOBODY) ROUTE);
	assert_int_equal(counter("127.0.0.1/loc-rib", "accepted"), 1);
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 WITHDRAWN);
	assert_int_equal(counter("127.0.0.1/10.11.0.1", "withdrawn"), 1);
	assert_table("192.0.2.0/24=10.11.0.1 192.0.2.0/24=10.11.0.1");
	tell(fd, CW_BMP_PEER_DOWN, DOWN(PEER4)); /* the views of this peer, not loc-rib */
	assert_false(is_up("127.0.0.1/10.11.0.1 post-policy"));
	assert_true(is_up("127.0.0.1/loc-rib"));
	at(10000);
	assert_table("192.0.2.0/24=10.11.0.1");
	close(fd);
	deliver();
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	at(20000);
	assert_table("");
}

static void several_routers_and_peers(void **state)
{
	int one, two;

	(void)state;
	use_bmp("");
	one = router("127.0.0.1");
	two = router("127.0.0.2");
	tell(one, CW_BMP_INITIATION, NAME);
	tell(two, CW_BMP_INITIATION, NAME);
	tell(one, CW_BMP_PEER_UP, UP(PEER4));
	tell(two, CW_BMP_PEER_UP, UP(PEER4)); /* the same peer is another one there */
	tell(one, CW_BMP_PEER_UP, UP(PEER_AT("00", "80", V6)));
	tell(one, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	tell(two, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	tell(one, CW_BMP_ROUTE_MONITORING, PEER_AT("00", "80", V6) ROUTE);
	assert_int_equal(of_router("127.0.0.1", "peers"), 2);
	assert_int_equal(of_router("127.0.0.2", "peers"), 1);
	assert_int_equal(counter("127.0.0.1/fd11::1", "accepted"), 1);
	tell(one, CW_BMP_TERMINATION, "0001 0002 0000");
	assert_true(closed(one));
	assert_int_equal(of_router("127.0.0.1", "peers"), -1);
	assert_false(is_up("127.0.0.1/fd11::1"));
	assert_true(is_up("127.0.0.2/10.11.0.1"));
	at(10000);
	assert_table("192.0.2.0/24=10.11.0.1");
	/* back within the hold time: what it does not tell again goes when that is over */
	close(two);
	deliver();
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	two = router("127.0.0.2");
	tell(two, CW_BMP_INITIATION, NAME);
	tell(two, CW_BMP_PEER_UP, UP(PEER4));
	tell(two, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	assert_table("192.0.2.0/24=10.11.0.1");
	tell(two, CW_BMP_PEER_UP, UP(PEER4)); /* up once more: it was down in between */
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	close(one);
	close(two);
}

static void ipv6_router(void **state)
{
	struct sockaddr_storage a;
	socklen_t size = address("::1", 0, &a);
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool has = fd >= 0 && bind(fd, (struct sockaddr *)&a, size) == 0;

	(void)state;
	close(fd);
	if (!has)
		skip(); /* no IPv6 here */
	use_bmp("");
	fd = router("::1");
	tell(fd, CW_BMP_INITIATION, NAME);
	tell(fd, CW_BMP_PEER_UP, UP(PEER4));
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	assert_int_equal(counter("::1/10.11.0.1", "accepted"), 1);
	close(fd);
}

/* A message in pieces, at every place; then one that its router never ends. */
static void truncated(void **state)
{
	size_t len, cut;
	uint8_t *m = bmp_message(CW_BMP_ROUTE_MONITORING, PEER4 ROUTE, &len);
	int fd;

	(void)state;
	use_bmp("");
	fd = router("127.0.0.1");
	tell(fd, CW_BMP_INITIATION, NAME);
	tell(fd, CW_BMP_PEER_UP, UP(PEER4));
	for (cut = 1; cut < len; cut++) {
		octets(fd, m, cut);
		assert_int_equal(counter("127.0.0.1/10.11.0.1", "accepted"), cut - 1);
		octets(fd, m + cut, len - cut);
		assert_int_equal(counter("127.0.0.1/10.11.0.1", "accepted"), cut);
	}
	assert_int_equal(of_router("127.0.0.1", "malformed"), 0);
	octets(fd, m, len - 1);
	close(fd);
	deliver();
	assert_int_equal(counter("127.0.0.1/10.11.0.1", "accepted"), len - 1);
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	free(m);
}

/* What is wrong within a message is counted; the next one is read. */
static void malformed(void **state)
{
	static const struct {
		unsigned type;
		const char *body, *counter;
	} bad[] = {
		{CW_BMP_ROUTE_MONITORING, "0000", "malformed"},
		{CW_BMP_ROUTE_MONITORING, PEER4, "malformed"},
		{CW_BMP_ROUTE_MONITORING, PEER4 MARKER "0017 02 0000", "malformed"},
		{CW_BMP_ROUTE_MONITORING, PEER4 MARKER "0013 04", "malformed"}, /* a KEEPALIVE */
		{CW_BMP_PEER_UP, PEER4 NOBODY "00b3 c001" OPEN, "malformed"},
		{CW_BMP_PEER_DOWN, PEER4, "malformed"},
		{CW_BMP_INITIATION, "0002 0009 7231", "malformed"},
		{CW_BMP_ROUTE_MONITORING, PEER_AT("09", "00", V4) ROUTE, "unknown"}, /* peer type */
		{77, "0102", "unknown"},
	};
	json_int_t before;
	unsigned i;
	int fd;

	(void)state;
	use_bmp("");
	fd = router("127.0.0.1");
	tell(fd, CW_BMP_INITIATION, NAME);
	tell(fd, CW_BMP_PEER_UP, UP(PEER4));
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		before = of_router("127.0.0.1", bad[i].counter);
		tell(fd, bad[i].type, bad[i].body);
		if (of_router("127.0.0.1", bad[i].counter) != before + 1)
			fail_msg("message %u: %s did not count", i, bad[i].counter);
		assert_table("192.0.2.0/24=10.11.0.1");
	}
	/* an UPDATE of which only the attribute is wrong: judged as one by BGP */
	tell(fd, CW_BMP_ROUTE_MONITORING,
	     PEER4 MARKER
	     "002f 02 0000 0014 40010100 400200 4003040a0b0001 c02703 000101 18c00002");
	assert_int_equal(counter("127.0.0.1/10.11.0.1", "malformed"), 1);
	assert_table("");
	tell(fd, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	assert_table("192.0.2.0/24=10.11.0.1");
	assert_true(is_up("127.0.0.1/10.11.0.1"));
	close(fd);
}

/* After these nobody knows where the next message begins, or who speaks. */
static void connection_ends(void **state)
{
	static const uint8_t version[] = {4, 0, 0, 0, 6, 4}, shorter[] = {3, 0, 0, 0, 5, 4},
			     longer[] = {3, 0, 2, 0, 1, 4};
	int fd;

	(void)state;
	use_bmp("");
	octets(fd = router("127.0.0.1"), version, sizeof(version));
	assert_true(closed(fd));
	close(fd);
	octets(fd = router("127.0.0.1"), shorter, sizeof(shorter));
	assert_true(closed(fd));
	close(fd);
	octets(fd = router("127.0.0.1"), longer, sizeof(longer));
	assert_true(closed(fd));
	close(fd);
	tell(fd = router("127.0.0.1"), CW_BMP_PEER_UP, UP(PEER4)); /* no Initiation before it */
	assert_true(closed(fd));
	close(fd);
	fd = router("127.0.0.1"); /* it says nothing */
	at(29999);
	assert_false(closed(fd));
	at(30000);
	assert_true(closed(fd));
	close(fd);
}

static void refused_routers(void **state)
{
	int one, other;

	(void)state;
	use_bmp("\"peers\": 1,");
	one = router("127.0.0.3");
	assert_true(closed(one));
	assert_int_equal(of_router("", "refused"), 1);
	close(one);
	one = router("127.0.0.1");
	other = router("127.0.0.1"); /* one connection each */
	assert_true(closed(other));
	assert_int_equal(of_router("", "refused"), 2);
	close(other);
	tell(one, CW_BMP_INITIATION, NAME);
	tell(one, CW_BMP_PEER_UP, UP(PEER4));
	tell(one, CW_BMP_PEER_UP, UP(PEER_AT("00", "80", V6))); /* one peer more than wanted */
	assert_int_equal(of_router("127.0.0.1", "no_room"), 1);
	tell(one, CW_BMP_ROUTE_MONITORING, PEER4 ROUTE);
	tell(one, CW_BMP_PEER_DOWN, DOWN(PEER4));
	tell(one, CW_BMP_PEER_UP, UP(PEER_AT("00", "80", V6))); /* takes the place of it */
	assert_table("");
	tell(one, CW_BMP_ROUTE_MONITORING, PEER_AT("00", "80", V6) ROUTE);
	assert_table("192.0.2.0/24=10.11.0.1");
	assert_int_equal(counter("127.0.0.1/fd11::1", "accepted"), 1);
	use("{\"hold-time\": 10}"); /* not wanted at all any more */
	assert_true(closed(one));
	assert_table("192.0.2.0/24=10.11.0.1 stale");
	close(one);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(views),           TEST(several_routers_and_peers),
		TEST(ipv6_router),     TEST(truncated),
		TEST(malformed),       TEST(connection_ends),
		TEST(refused_routers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
