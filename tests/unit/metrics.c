/* metrics: the text format's escapes, and HTTP with polite and hostile clients. */
#include "test.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/control/metrics.h"

static void walk(void *arg, struct cw_metrics_text *t)
{
	const struct cw_label odd[] = {{"port", "a\"b\\c\nd"}, {"kind", "ub"}};

	cw_metrics_family(t, "causeway_packets_total", "counter", "Packets, \"in\" \\ out.\nMore.");
	cw_metrics_sample(t, odd, 2, UINT64_MAX);
	cw_metrics_sample(t, NULL, 0, 0);
	cw_metrics_family(t, "causeway_load", "gauge", "Load.");
	cw_metrics_sample_real(t, odd + 1, 1, 0.25);
}

static const char text[] = "# HELP causeway_packets_total Packets, \"in\" \\\\ out.\\nMore.\n"
			   "# TYPE causeway_packets_total counter\n"
			   "causeway_packets_total{port=\"a\\\"b\\\\c\\nd\",kind=\"ub\"} "
			   "18446744073709551615\n"
			   "causeway_packets_total 0\n"
			   "# HELP causeway_load Load.\n"
			   "# TYPE causeway_load gauge\n"
			   "causeway_load{kind=\"ub\"} 0.25\n";

static void labels_and_help_are_escaped(void **state)
{
	size_t len;
	char *got = cw_metrics_render(walk, NULL, &len);

	assert_string_equal(got, text);
	assert_int_equal(len, sizeof(text) - 1);
	free(got);
}

/* ---- HTTP ----------------------------------------------------------------------------------- */

static int port;

static struct cw_metrics_server *start(void)
{
	struct cw_metrics_server *s = NULL;
	struct cw_diag d = {0};
	char where[32];

	for (port = 20000 + getpid() % 20000; port < 65535; port++) {
		(void)snprintf(where, sizeof(where), "127.0.0.1:%d", port);
		if (cw_metrics_server_new(&s, where, false, walk, NULL, &d) == CW_OK)
			return s;
		assert_int_equal(d.err, CW_E_CONFLICT);
	}
	fail();
	return NULL;
}

static int dial(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	return fd;
}

static void settle(struct cw_metrics_server *s)
{
	struct pollfd p = {.fd = cw_metrics_server_fd(s), .events = POLLIN};

	while (poll(&p, 1, 20) > 0)
		cw_metrics_server_run(s);
}

/* Send, serve, and read to the end of the stream. */
static const char *ask(struct cw_metrics_server *s, const char *request, size_t len)
{
	static char buf[8192];
	size_t got = 0;
	ssize_t n;
	int fd = dial();

	assert_int_equal(send(fd, request, len, MSG_NOSIGNAL), len);
	settle(s);
	while ((n = recv(fd, buf + got, sizeof(buf) - 1 - got, MSG_DONTWAIT)) > 0)
		got += (size_t)n;
	buf[got] = '\0';
	close(fd);
	settle(s);
	return buf;
}

static void get_and_head_are_answered(void **state)
{
	static const char *const gets[] = {
		"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics HTTP/1.0\n\n",
		"GET /metrics?a=b HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
	};
	struct cw_metrics_server *s = start();
	const char *r, *body;
	size_t i;

	for (i = 0; i < 3; i++) {
		r = ask(s, gets[i], strlen(gets[i]));
		assert_true(strncmp(r, "HTTP/1.1 200 OK\r\n", 17) == 0);
		assert_non_null(strstr(r, "Content-Type: text/plain; version=0.0.4"));
		body = strstr(r, "\r\n\r\n");
		assert_non_null(body);
		assert_string_equal(body + 4, text);
	}
	r = ask(s, "HEAD /metrics HTTP/1.1\r\n\r\n", 26);
	assert_true(strncmp(r, "HTTP/1.1 200 OK\r\n", 17) == 0);
	assert_string_equal(strstr(r, "\r\n\r\n"), "\r\n\r\n");
	cw_metrics_server_free(s);
}

static const struct {
	const char *request, *status;
} refusals[] = {
	{"GET / HTTP/1.1\r\n\r\n", "404 Not Found"},
	{"GET /metrics/x HTTP/1.1\r\n\r\n", "404 Not Found"},
	{"GET /../metrics HTTP/1.1\r\n\r\n", "404 Not Found"},
	{"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405 Method Not Allowed"},
	{"get /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"},
	{"GET /metrics HTTP/2.0\r\n\r\n", "505 HTTP Version Not Supported"},
	{"GET /metrics\r\n\r\n", "400 Bad Request"},
	{"GET /metrics HTTP/1.1 x\r\n\r\n", "400 Bad Request"},
	{"\x16\x03\x01\x02\r\n\r\n", "400 Bad Request"},
	{"{\"cmd\":\"version\"}\n\n", "400 Bad Request"},
};

static void everything_else_is_refused(void **state)
{
	struct cw_metrics_server *s = start();
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *r = ask(s, refusals[i].request, strlen(refusals[i].request));

		assert_true(strncmp(r, "HTTP/1.1 ", 9) == 0);
		assert_memory_equal(r + 9, refusals[i].status, strlen(refusals[i].status));
	}
	assert_string_equal(ask(s, "GET /metrics HTTP/1.1\r\nHos", 26), ""); /* and waits */
	cw_metrics_server_free(s);
}

static void long_requests_are_cut_off(void **state)
{
	struct cw_metrics_server *s = start();
	char much[20000];
	const char *r;

	memset(much, 'a', sizeof(much));
	r = ask(s, much, sizeof(much));
	assert_non_null(strstr(r, "431 Request Header Fields Too Large"));
	memcpy(much, "GET /", 5);
	memcpy(much + 5000, "\r\n\r\n", 4);
	assert_non_null(strstr(ask(s, much, 5004), "414 URI Too Long"));
	memset(much, 0, sizeof(much));
	assert_non_null(strstr(ask(s, much, sizeof(much)), "431 "));
	cw_metrics_server_free(s);
}

static void many_silent_clients_lock_nobody_out(void **state)
{
	struct cw_metrics_server *s = start();
	int fds[40];
	size_t i;

	for (i = 0; i < 40; i++) {
		fds[i] = dial();
		settle(s);
	}
	assert_non_null(strstr(ask(s, "GET /metrics HTTP/1.0\r\n\r\n", 25), "200 OK"));
	for (i = 0; i < 40; i++)
		close(fds[i]);
	cw_metrics_server_free(s);
}

static void only_loopback_unless_allowed(void **state)
{
	struct cw_metrics_server *s = NULL;
	struct cw_diag d;

	assert_int_equal(cw_metrics_server_new(&s, "0.0.0.0:9", false, walk, NULL, &d),
			 CW_E_FORBIDDEN);
	assert_int_equal(cw_metrics_server_new(&s, "[::]:9", false, walk, NULL, &d),
			 CW_E_FORBIDDEN);
	assert_int_equal(cw_metrics_server_new(&s, "128.0.0.1:9", false, walk, NULL, &d),
			 CW_E_FORBIDDEN);
	assert_int_equal(cw_metrics_server_new(&s, "localhost:9", true, walk, NULL, &d),
			 CW_E_SYNTAX);
	assert_true(cw_metrics_is_loopback("127.255.0.1:9"));
	assert_true(cw_metrics_is_loopback("[::1]:9"));
	assert_false(cw_metrics_is_loopback("[::1]:0"));
	assert_false(cw_metrics_is_loopback("127.evil.example:9"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_and_help_are_escaped),
		cmocka_unit_test(get_and_head_are_answered),
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(long_requests_are_cut_off),
		cmocka_unit_test(many_silent_clients_lock_nobody_out),
		cmocka_unit_test(only_loopback_unless_allowed),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
