/* control: the control socket with polite, hostile and slow clients; who owns a socket. */
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/control/server.h"

static char dir[] = "/tmp/cw-control-XXXXXX", path[64];
static char *big; /* what `show big` answers */

/* ---- Providers ------------------------------------------------------------------------------ */

static json_t *show_text(void *arg, const json_t *request, struct cw_diag *d)
{
	return json_pack("{s:s}", "text", (const char *)arg);
}

static json_t *show_big(void *arg, const json_t *request, struct cw_diag *d)
{
	return json_string(big);
}

static json_t *reload(void *arg, const json_t *request, struct cw_diag *d)
{
	struct cw_config *c;
	json_t *data;

	if (cw_control_config(&c, request, arg, d) != CW_OK)
		return NULL;
	data = json_pack("{s:i}", "ports", (int)c->nports);
	cw_config_free(c);
	return data;
}

static json_t *silent_failure(void *arg, const json_t *request, struct cw_diag *d)
{
	return NULL;
}

static const struct cw_control_provider table[] = {
	{"show", "counters", "counters", show_text, "c"},
	{"show", "ports", "ports", show_text, "p"},
	{"show", "big", "much", show_big, NULL},
	{"reload", NULL, "reload", reload, NULL},
	{"bad", NULL, "fails", silent_failure, NULL},
};
enum { NTABLE = sizeof(table) / sizeof(table[0]) };

/* ---- One thread is both sides --------------------------------------------------------------- */

static struct cw_control_server *start(void)
{
	struct cw_control_server *s = NULL;
	struct cw_diag d = {0};

	if (cw_control_server_new(&s, path, table, NTABLE, &d) != CW_OK)
		fail_msg("%s: %s", d.value, d.reason);
	return s;
}

static void settle(struct cw_control_server *s)
{
	struct pollfd p = {.fd = cw_control_server_fd(s), .events = POLLIN};

	while (poll(&p, 1, 0) > 0)
		cw_control_server_run(s);
}

static int dial(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(sun.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	return fd;
}

static void tell(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What has arrived by now; -1 in *n at the end of the stream. */
static char *hear(int fd, ssize_t *n)
{
	static char buf[1 << 16];

	*n = recv(fd, buf, sizeof(buf) - 1, 0);
	buf[*n > 0 ? *n : 0] = '\0';
	return buf;
}

static void expect(struct cw_control_server *s, int fd, const char *want)
{
	ssize_t n;

	settle(s);
	assert_string_equal(hear(fd, &n), want);
}

static bool cut_off(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0 || (errno != EAGAIN && errno != EINTR);
}

/* ---- Requests ------------------------------------------------------------------------------- */

static const struct {
	const char *request, *response;
} dialogues[] = {
	{"{\"id\":7,\"cmd\":\"version\"}",
	 "{\"id\":7,\"ok\":true,\"data\":{\"version\":\"" CW_VERSION "\",\"protocol\":1}}"},
	{"{\"id\":\"a\",\"cmd\":\"show\",\"what\":\"ports\"}",
	 "{\"id\":\"a\",\"ok\":true,\"data\":{\"text\":\"p\"}}"},
	{"{\"cmd\":\"show\",\"what\":\"counters\"}",
	 "{\"id\":null,\"ok\":true,\"data\":{\"text\":\"c\"}}"},
	{"{\"id\":1,\"cmd\":\"show\",\"what\":\"nothing\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"name\",\"path\":\"what\",\"value\":"
	 "\"nothing\",\"reason\":\"not one of counters, ports, big\"}}"},
	{"{\"id\":1,\"cmd\":\"show\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"name\",\"path\":\"what\",\"value\":\"\","
	 "\"reason\":\"not one of counters, ports, big\"}}"},
	{"{\"id\":1,\"cmd\":\"halt\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"name\",\"path\":\"cmd\",\"value\":\"halt\","
	 "\"reason\":\"no such command\"}}"},
	{"{\"id\":1}", "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"syntax\",\"path\":\"cmd\","
		       "\"value\":\"\",\"reason\":\"is required: a string\"}}"},
	{"{\"id\":[1],\"cmd\":\"version\"}",
	 "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"syntax\",\"path\":\"id\",\"value\":\"\","
	 "\"reason\":\"must be an integer or a string\"}}"},
	{"[1]", "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"syntax\",\"path\":\"\","
		"\"value\":\"\",\"reason\":\"a request is one JSON object\"}}"},
	{"{\"id\":1,\"cmd\":\"bad\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"nomem\",\"path\":\"\",\"value\":\"\","
	 "\"reason\":\"out of memory\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"config\":{\"causeway:causeway\":{\"port\":[{\"name\":"
	 "\"u\",\"kind\":\"ub\",\"device\":\"packet:u\"}]}}}",
	 "{\"id\":1,\"ok\":true,\"data\":{\"ports\":1}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"config\":{\"causeway:causeway\":{\"daemon\":{\"workers\":"
	 "99}}}}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"range\",\"path\":\"/causeway:causeway/daemon"
	 "/workers\",\"value\":\"99\",\"reason\":\"value out of range 1..64\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"file\":\"here.json\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"arg\",\"path\":\"file\",\"value\":"
	 "\"here.json\",\"reason\":\"not an absolute path\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"arg\",\"path\":\"file\",\"value\":\"\","
	 "\"reason\":\"no configuration file is known\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"file\":5}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"syntax\",\"path\":\"file\",\"value\":\"\","
	 "\"reason\":\"must be a string\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"file\":\"/nonexistent/c.json\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"io\",\"path\":\"\",\"value\":"
	 "\"/nonexistent/c.json\",\"reason\":\"No such file or directory\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"file\":\"/\"}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"io\",\"path\":\"\",\"value\":\"/\","
	 "\"reason\":\"Is a directory\"}}"},
	{"{\"id\":1,\"cmd\":\"reload\",\"file\":\"/a\",\"config\":{}}",
	 "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"conflict\",\"path\":\"file\",\"value\":\"\","
	 "\"reason\":\"config and file exclude each other\"}}"},
};

/* Nobody would write into it, and control would wait. */
static void a_pipe_is_not_read(void **state)
{
	char fifo[sizeof(path) + 8], line[sizeof(fifo) + 64], *text;

	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(line, sizeof(line), "{\"cmd\":\"reload\",\"file\":\"%s\"}", fifo);
	text = cw_control_answer(table, NTABLE, line, strlen(line));
	assert_non_null(strstr(text, "\"reason\":\"not a plain file\""));
	free(text);
	unlink(fifo);
}

static void each_request_has_its_response(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(dialogues) / sizeof(dialogues[0]); i++) {
		size_t n = strlen(dialogues[i].request);
		char *line = (char *)exact_copy(dialogues[i].request, n);
		char *text = cw_control_answer(table, NTABLE, line, n);

		assert_string_equal(text, dialogues[i].response);
		free(line);
		free(text);
	}
}

static void hostile_lines_get_an_error_each(void **state)
{
	static const char *const lines[] = {
		"",
		"{",
		"\x80\xff",
		"{\"cmd\":\"\\u0000\"}",
		"{\"cmd\":\"version\"} {}",
		"{\"cmd\":\"a\",\"cmd\":\"b\"}",
		"{\"cmd\":\"show\",\"what\":{}}",
		"{\"cmd\":"
		"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"}",
	};
	char *deep = malloc(100000);
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *line = (char *)exact_copy(lines[i], strlen(lines[i]));
		char *text = cw_control_answer(table, NTABLE, line, strlen(lines[i]));

		assert_non_null(strstr(text, "\"ok\":false"));
		free(line);
		free(text);
	}
	memset(deep, '[', 100000);
	char *text = cw_control_answer(table, NTABLE, deep, 100000);
	assert_non_null(strstr(text, "\"code\":\"syntax\""));
	free(text);
	free(deep);
}

/* ---- The socket ----------------------------------------------------------------------------- */

#define VERSION_RESPONSE \
	"{\"id\":1,\"ok\":true,\"data\":{\"version\":\"" CW_VERSION "\",\"protocol\":1}}\n"

static void requests_may_come_in_pieces_or_many_at_once(void **state)
{
	struct cw_control_server *s = start();
	int fd = dial();

	tell(fd, "{\"id\":1,\"cmd\":");
	expect(s, fd, "");
	tell(fd, "\"version\"}\n\n \r\n{\"id\":1,\"cmd\":\"version\"}\r\n");
	expect(s, fd, VERSION_RESPONSE VERSION_RESPONSE);
	tell(fd, "{\"id\":1,\"cmd\":\"version\"}"); /* no newline, but the end */
	shutdown(fd, SHUT_WR);
	expect(s, fd, VERSION_RESPONSE);
	settle(s);
	assert_true(cut_off(fd));
	close(fd);
	cw_control_server_free(s);
}

static void a_request_has_a_largest_size(void **state)
{
	struct cw_control_server *s = start();
	char *much = malloc(CW_CONTROL_REQUEST_MAX);
	size_t sent = 0;
	int fd = dial(), other = dial();
	ssize_t n;

	memset(much, ' ', CW_CONTROL_REQUEST_MAX);
	while (sent < CW_CONTROL_REQUEST_MAX) {
		n = send(fd, much, CW_CONTROL_REQUEST_MAX - sent, MSG_NOSIGNAL);
		assert_true(n > 0 || errno == EAGAIN);
		sent += n > 0 ? (size_t)n : 0;
		settle(s);
	}
	tell(other, "{\"id\":1,\"cmd\":\"version\"}\n");
	expect(s, other, VERSION_RESPONSE);
	assert_non_null(strstr(hear(fd, &n), "a request has at most 1048576 octets"));
	settle(s);
	assert_true(cut_off(fd));
	close(fd);
	close(other);
	free(much);
	cw_control_server_free(s);
}

static void a_slow_reader_delays_nobody(void **state)
{
	struct cw_control_server *s = start();
	int slow = dial(), fd = dial(), i;
	size_t got = 0;
	ssize_t n;

	big = malloc(4 << 20);
	memset(big, 'x', 4 << 20);
	big[(4 << 20) - 1] = '\0';
	for (i = 0; i < 100; i++)
		tell(slow, "{\"cmd\":\"show\",\"what\":\"big\"}\n");
	settle(s); /* would not return if it waited for the reader */
	tell(fd, "{\"id\":1,\"cmd\":\"version\"}\n");
	expect(s, fd, VERSION_RESPONSE);
	for (i = 0; i < 1000 && got < 9 << 20; i++) { /* two responses and more, whole */
		while (hear(slow, &n), n > 0)
			got += (size_t)n;
		settle(s);
	}
	assert_true(got >= 9 << 20);
	close(slow);
	settle(s);
	close(fd);
	free(big);
	cw_control_server_free(s);
}

static void the_quietest_client_makes_room(void **state)
{
	struct cw_control_server *s = start();
	int fds[CW_CONTROL_CLIENTS], i, late;

	for (i = 0; i < CW_CONTROL_CLIENTS; i++) {
		fds[i] = dial();
		settle(s);
	}
	tell(fds[0], "{\"id\":1,\"cmd\":\"version\"}\n");
	expect(s, fds[0], VERSION_RESPONSE);
	late = dial();
	tell(late, "{\"id\":1,\"cmd\":\"version\"}\n");
	expect(s, late, VERSION_RESPONSE);
	assert_true(cut_off(fds[1])); /* the oldest that said nothing */
	assert_false(cut_off(fds[0]));
	assert_false(cut_off(fds[2]));
	for (i = 0; i < CW_CONTROL_CLIENTS; i++)
		close(fds[i]);
	close(late);
	cw_control_server_free(s);
}

static void only_owner_and_group_may_connect(void **state)
{
	mode_t old = umask(0);
	struct cw_control_server *s = start();
	struct stat st;

	umask(old);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	cw_control_server_free(s);
	assert_int_equal(stat(path, &st), -1); /* removed, and its lock too */
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
}

/* ---- Ownership ------------------------------------------------------------------------------ */

static void a_second_gateway_is_refused(void **state)
{
	struct cw_control_server *s = start(), *second = NULL;
	struct cw_diag d;
	char want[96];

	(void)snprintf(want, sizeof(want), "another gateway is running on this socket (process %d)",
		       (int)getpid());
	assert_int_equal(cw_control_server_new(&second, path, table, NTABLE, &d), CW_E_CONFLICT);
	assert_string_equal(d.value, path);
	assert_string_equal(d.reason, want);
	int fd = dial(); /* the first one still serves */
	tell(fd, "{\"id\":1,\"cmd\":\"version\"}\n");
	expect(s, fd, VERSION_RESPONSE);
	close(fd);
	cw_control_server_free(s);
}

static void a_dead_gateways_socket_is_replaced(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct cw_control_server *s;

		_exit(cw_control_server_new(&s, path, table, NTABLE, NULL) == CW_OK ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(path, F_OK), 0); /* left behind */
	cw_control_server_free(start());
}

static void a_foreign_listener_is_left_alone(void **state)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct cw_control_server *s;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct cw_diag d;

	strcpy(sun.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(cw_control_server_new(&s, path, table, NTABLE, &d), CW_E_CONFLICT);
	assert_string_equal(d.reason, "another process listens on this socket");
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
	cw_control_server_free(start());
}

static void a_file_is_not_overwritten(void **state)
{
	struct cw_control_server *s;
	struct cw_diag d;
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	assert_int_equal(cw_control_server_new(&s, path, table, NTABLE, &d), CW_E_CONFLICT);
	assert_string_equal(d.reason, "exists, and is not a socket");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(cw_control_server_new(&s, "/nonexistent/a/x.sock", table, NTABLE, &d),
			 CW_E_IO);
	assert_string_equal(d.reason, "can't make its directory: No such file or directory");
}

static void its_directory_is_made(void **state)
{
	struct cw_control_server *s;
	struct cw_diag d;
	char sub[64], sock[80];
	struct stat st;
	mode_t old = umask(0);

	(void)snprintf(sub, sizeof(sub), "%s/run", dir);
	(void)snprintf(sock, sizeof(sock), "%s/c.sock", sub);
	assert_int_equal(cw_control_server_new(&s, sock, table, NTABLE, &d), CW_OK);
	umask(old);
	assert_int_equal(stat(sub, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	cw_control_server_free(s);
	assert_int_equal(rmdir(sub), 0); /* nothing is left in it */
}

static int setup(void **state)
{
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/c.sock", dir);
	return 0;
}

static int teardown(void **state)
{
	char lock[80];

	(void)snprintf(lock, sizeof(lock), "%s.lock", path);
	(void)unlink(lock); /* of a refused start */
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_has_its_response),
		cmocka_unit_test(hostile_lines_get_an_error_each),
		cmocka_unit_test(requests_may_come_in_pieces_or_many_at_once),
		cmocka_unit_test(a_request_has_a_largest_size),
		cmocka_unit_test(a_slow_reader_delays_nobody),
		cmocka_unit_test(the_quietest_client_makes_room),
		cmocka_unit_test(only_owner_and_group_may_connect),
		cmocka_unit_test(a_second_gateway_is_refused),
		cmocka_unit_test(a_dead_gateways_socket_is_replaced),
		cmocka_unit_test(a_foreign_listener_is_left_alone),
		cmocka_unit_test(a_pipe_is_not_read),
		cmocka_unit_test(a_file_is_not_overwritten),
		cmocka_unit_test(its_directory_is_made),
	};

	return cmocka_run_group_tests_name("control", tests, setup, teardown);
}
