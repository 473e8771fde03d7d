/* metrics.c - Prometheus text format 0.0.4 over HTTP/1.0 and 1.1 (RFC 9112). */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/control/metrics.h"
#include "daemon/control/stream.h"

enum { REQUEST_MAX = 8192, CLIENTS = 16 };

/* ---- Text ----------------------------------------------------------------------------------- */

struct cw_metrics_text {
	char *data;
	size_t len, size;
	bool failed;
	const char *family;
};

static bool reserve(struct cw_metrics_text *t, size_t n)
{
	size_t size = t->size == 0 ? 4096 : t->size;
	char *p;

	while (size - t->len < n)
		size *= 2;
	if (!t->failed && size != t->size) {
		if ((p = realloc(t->data, size)) == NULL) {
			t->failed = true;
		} else {
			t->data = p;
			t->size = size;
		}
	}
	return !t->failed;
}

static void put(struct cw_metrics_text *t, const char *s)
{
	size_t n = strlen(s);

	if (!reserve(t, n + 1))
		return;
	memcpy(t->data + t->len, s, n + 1);
	t->len += n;
}

/* `quote`: label values escape the double quote too, help texts don't. */
static void put_escaped(struct cw_metrics_text *t, const char *s, bool quote)
{
	char one[2] = "";

	for (; *s != '\0'; s++) {
		one[0] = *s;
		if (*s == '\n')
			put(t, "\\n");
		else if (*s == '\\')
			put(t, "\\\\");
		else if (*s == '"' && quote)
			put(t, "\\\"");
		else
			put(t, one);
	}
}

void cw_metrics_family(struct cw_metrics_text *t, const char *name, const char *type,
		       const char *help)
{
	t->family = name;
	put(t, "# HELP ");
	put(t, name);
	put(t, " ");
	put_escaped(t, help, false);
	put(t, "\n# TYPE ");
	put(t, name);
	put(t, " ");
	put(t, type);
	put(t, "\n");
}

static void sample(struct cw_metrics_text *t, const struct cw_label *labels, unsigned nlabels,
		   const char *value)
{
	unsigned i;

	put(t, t->family);
	for (i = 0; i < nlabels; i++) {
		put(t, i == 0 ? "{" : ",");
		put(t, labels[i].name);
		put(t, "=\"");
		put_escaped(t, labels[i].value, true);
		put(t, "\"");
	}
	put(t, nlabels > 0 ? "} " : " ");
	put(t, value);
	put(t, "\n");
}

void cw_metrics_sample(struct cw_metrics_text *t, const struct cw_label *labels, unsigned nlabels,
		       uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	sample(t, labels, nlabels, text);
}

void cw_metrics_sample_real(struct cw_metrics_text *t, const struct cw_label *labels,
			    unsigned nlabels, double value)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "%.9g", value);
	sample(t, labels, nlabels, text);
}

char *cw_metrics_render(cw_metrics_walk *walk, void *arg, size_t *len)
{
	struct cw_metrics_text t = {0};

	if (!reserve(&t, 1))
		return NULL;
	t.data[0] = '\0';
	walk(arg, &t);
	if (t.failed) {
		free(t.data);
		return NULL;
	}
	*len = t.len;
	return t.data;
}

/* ---- HTTP ----------------------------------------------------------------------------------- */

struct cw_metrics_server {
	struct cw_unix_listener listener; /* of unix:PATH */
	struct cw_stream_server *stream;
	cw_metrics_walk *walk;
	void *arg;
};

static void answer(struct cw_reply *r, const char *status, const char *type, const char *more,
		   const char *body, size_t len, bool head)
{
	char headers[320];
	int n = snprintf(headers, sizeof(headers),
			 "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
			 "Connection: close\r\n\r\n",
			 status, type, len, more);

	r->close = true;
	r->data = malloc((size_t)n + len);
	if (r->data == NULL)
		return;
	memcpy(r->data, headers, (size_t)n);
	if (!head && len > 0)
		memcpy(r->data + n, body, len);
	r->len = (size_t)n + (head ? 0 : len);
}

static void refuse(struct cw_reply *r, const char *status, const char *more, bool head)
{
	char body[64];
	int n = snprintf(body, sizeof(body), "%s\n", status);

	answer(r, status, "text/plain; charset=utf-8", more, body, (size_t)n, head);
}

static void metrics_page(const struct cw_metrics_server *s, struct cw_reply *r, bool head)
{
	size_t len = 0;
	char *text = cw_metrics_render(s->walk, s->arg, &len);

	if (text == NULL)
		refuse(r, "503 Service Unavailable", "", head);
	else
		answer(r, "200 OK", "text/plain; version=0.0.4; charset=utf-8", "", text, len,
		       head);
	free(text);
}

/* Cut the request line into its three words; false if it isn't one. */
static bool split(char *line, char **method, char **target, char **version)
{
	char *save;

	*method = strtok_r(line, " ", &save);
	*target = strtok_r(NULL, " ", &save);
	*version = strtok_r(NULL, " ", &save);
	return *version != NULL && strtok_r(NULL, " ", &save) == NULL;
}

static void request(const struct cw_metrics_server *s, char *line, struct cw_reply *r)
{
	char *method, *target, *version;
	bool head;

	if (!split(line, &method, &target, &version) || strncmp(version, "HTTP/", 5) != 0) {
		refuse(r, "400 Bad Request", "", false);
		return;
	}
	head = strcmp(method, "HEAD") == 0;
	target[strcspn(target, "?")] = '\0';
	if (strncmp(version, "HTTP/1.", 7) != 0)
		refuse(r, "505 HTTP Version Not Supported", "", head);
	else if (strcmp(target, "/metrics") != 0)
		refuse(r, "404 Not Found", "", head);
	else if (!head && strcmp(method, "GET") != 0)
		refuse(r, "405 Method Not Allowed", "Allow: GET, HEAD\r\n", false);
	else
		metrics_page(s, r, head);
}

/* End of the header section, or 0: an empty line, its CR optional (RFC 9112 2.2). */
static size_t headers_end(const char *in, size_t len)
{
	size_t i, line = 0;

	for (i = 0; i < len; i++) {
		if (in[i] != '\n')
			continue;
		if (i == line || (i == line + 1 && in[line] == '\r')) {
			if (line > 0)
				return i + 1;
		}
		line = i + 1;
	}
	return 0;
}

static size_t input(void *arg, const char *in, size_t len, bool eof, struct cw_reply *reply)
{
	size_t end = headers_end(in, len), n;
	char line[512];

	if (end == 0) {
		reply->close = eof;
		return 0;
	}
	n = strcspn(in, "\r\n"); /* there is one: end > 0 */
	if (n >= sizeof(line)) {
		refuse(reply, "414 URI Too Long", "", false);
		return end;
	}
	memcpy(line, in, n);
	line[n] = '\0';
	request(arg, line, reply);
	return end;
}

static void overflow(void *arg, struct cw_reply *reply)
{
	refuse(reply, "431 Request Header Fields Too Large", "", false);
}

static const struct cw_stream_ops ops = {
	.input = input,
	.overflow = overflow,
	.max_input = REQUEST_MAX,
	.max_clients = CLIENTS,
};

/* ---- Address -------------------------------------------------------------------------------- */

/* "ADDRESS:PORT" or "[IPV6]:PORT"; 0 if it is neither. */
static socklen_t parse_where(const char *where, struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;
	const char *colon = strrchr(where, ':');
	bool six = where[0] == '[';
	char host[64];
	unsigned long port;
	size_t n;

	memset(ss, 0, sizeof(*ss));
	if (colon == NULL || (n = (size_t)(colon - where)) >= sizeof(host) || n < 2)
		return 0;
	port = strtoul(colon + 1, NULL, 10);
	if (port == 0 || port > 65535 || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return 0;
	(void)snprintf(host, sizeof(host), "%.*s", (int)(six ? n - 2 : n), where + six);
	if (!six) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		return inet_pton(AF_INET, host, &v4->sin_addr) == 1 ? sizeof(*v4) : 0;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1 ? sizeof(*v6) : 0;
}

bool cw_metrics_is_address(const char *where)
{
	struct sockaddr_storage ss;

	return strncmp(where, "unix:/", 6) == 0 || parse_where(where, &ss) != 0;
}

bool cw_metrics_is_loopback(const char *where)
{
	struct sockaddr_storage ss;

	if (strncmp(where, "unix:", 5) == 0)
		return true;
	if (parse_where(where, &ss) == 0)
		return false;
	if (ss.ss_family == AF_INET)
		return ntohl(((struct sockaddr_in *)&ss)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&ss)->sin6_addr);
}

static int tcp_listen(int *out, const char *where, struct cw_diag *diag)
{
	struct sockaddr_storage ss;
	socklen_t len = parse_where(where, &ss);
	int fd, err, on = 1;

	if (len == 0)
		return cw_diag_set(diag, CW_E_SYNTAX, NULL, where,
				   "neither ADDRESS:PORT, [IPV6]:PORT nor unix:/PATH");
	fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)&ss, len) == 0 && listen(fd, CLIENTS) == 0) {
		*out = fd;
		return CW_OK;
	}
	err = errno;
	if (fd >= 0)
		close(fd);
	return cw_diag_set(diag, err == EADDRINUSE ? CW_E_CONFLICT : CW_E_IO, NULL, where, "%s",
			   strerror(err));
}

int cw_metrics_server_new(struct cw_metrics_server **out, const char *where, bool allow_remote,
			  cw_metrics_walk *walk, void *arg, struct cw_diag *diag)
{
	struct cw_metrics_server *s;
	int err, fd = -1;

	if (!cw_metrics_is_loopback(where) && !allow_remote && cw_metrics_is_address(where))
		return cw_diag_set(diag, CW_E_FORBIDDEN, NULL, where,
				   "not a loopback address, and metrics-allow-remote is false");
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	s->walk = walk;
	s->arg = arg;
	if (strncmp(where, "unix:", 5) == 0) {
		err = cw_unix_listen(&s->listener, where + 5, diag);
		fd = s->listener.fd;
	} else {
		err = tcp_listen(&fd, where, diag);
	}
	if (err == CW_OK && (err = cw_stream_server_new(&s->stream, fd, &ops, s)) != CW_OK)
		cw_diag_set(diag, err, NULL, where, "%s", strerror(errno));
	if (err != CW_OK) {
		cw_metrics_server_free(s);
		return err;
	}
	*out = s;
	return CW_OK;
}

int cw_metrics_server_fd(const struct cw_metrics_server *s)
{
	return cw_stream_server_fd(s->stream);
}

void cw_metrics_server_run(struct cw_metrics_server *s)
{
	cw_stream_server_run(s->stream);
}

void cw_metrics_server_free(struct cw_metrics_server *s)
{
	if (s == NULL)
		return;
	cw_unix_unlink(&s->listener);
	cw_stream_server_free(s->stream);
	free(s);
}
