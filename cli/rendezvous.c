/* rendezvous.c - two endpoints agree over TCP (docs/rendezvous.md). */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/rendezvous.h"

#define LINE_MAX_OCTETS 65536
#define NONCE           16
#define MAC_HEX         64
#define MAC_HEAD        ",\"mac\":\""
#define MAC_TAIL        (sizeof(MAC_HEAD) - 1 + MAC_HEX + 2) /* ,"mac":"..."} */
#define HELLO_MS        10000

struct rdv {
	int fd;
	bool client;
	struct rdv_key key;
	uint8_t nonce[2][NONCE]; /* the client's, the server's */
	uint64_t sent, received; /* messages behind the hello */
	size_t have;
	char line[LINE_MAX_OCTETS];
};

static int fail(char err[RDV_ERROR_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(char err[RDV_ERROR_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err, RDV_ERROR_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

int rdv_key_read(struct rdv_key *out, const char *path, char err[RDV_ERROR_MAX])
{
	uint8_t buf[RDV_KEY_MAX + 2];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(err, "%s: %s", path, strerror(errno));
	n = fstat(fd, &st) < 0 ? -1 : read(fd, buf, sizeof(buf));
	(void)close(fd);
	if (n < 0)
		return fail(err, "%s: %s", path, strerror(errno));
	if (S_ISREG(st.st_mode) && st.st_mode & 077)
		return fail(err, "%s: others can read this key (mode %03o): chmod 600", path,
			    st.st_mode & 0777);
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == '\r'))
		n--;
	if (n < 16 || n > RDV_KEY_MAX)
		return fail(err, "%s: a key has 16 to %d octets", path, RDV_KEY_MAX);
	memcpy(out->octets, buf, (size_t)n);
	out->len = (size_t)n;
	OPENSSL_cleanse(buf, sizeof(buf));
	return 0;
}

/* ---- Hex ------------------------------------------------------------------------------------ */

static void to_hex(char *text, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		(void)sprintf(text + 2 * i, "%02x", p[i]);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool from_hex(uint8_t *p, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		int hi = digit(text[2 * i]), lo = hi < 0 ? -1 : digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		p[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

/* ---- Message authentication ----------------------------------------------------------------- */

/* HMAC-SHA256 over a label, who speaks, both nonces, the number of the message and its octets: a
 * message can't be replayed, reflected, moved or taken into another session. */
static bool compute_mac(const struct rdv *r, bool from_client, uint64_t number, const char *text,
			size_t len, uint8_t mac[32])
{
	static const char label[] = "causeway rendezvous 1";
	uint8_t head[sizeof(label) + 1 + 2 * NONCE + 8], *p = head;
	uint8_t *all = malloc(sizeof(head) + len);
	unsigned size = 0;
	int i;

	if (all == NULL)
		return false;
	memcpy(p, label, sizeof(label));
	p += sizeof(label);
	*p++ = from_client ? 'c' : 's';
	memcpy(p, r->nonce, sizeof(r->nonce));
	p += sizeof(r->nonce);
	for (i = 56; i >= 0; i -= 8)
		*p++ = (uint8_t)(number >> i);
	memcpy(all, head, sizeof(head));
	memcpy(all + sizeof(head), text, len);
	if (HMAC(EVP_sha256(), r->key.octets, (int)r->key.len, all, sizeof(head) + len, mac,
		 &size) == NULL)
		size = 0;
	free(all);
	return size == 32;
}

static int check_mac(struct rdv *r, size_t len, char err[RDV_ERROR_MAX])
{
	uint8_t want[32], got[32];
	size_t body = len > MAC_TAIL ? len - MAC_TAIL : 0;

	if (body == 0 || memcmp(r->line + body, MAC_HEAD, sizeof(MAC_HEAD) - 1) != 0 ||
	    !from_hex(got, r->line + body + sizeof(MAC_HEAD) - 1, 32))
		return fail(err, "the peer's message %llu carries no authentication",
			    (unsigned long long)r->received);
	if (!compute_mac(r, !r->client, r->received, r->line, body, want))
		return fail(err, "HMAC-SHA256 failed");
	if (CRYPTO_memcmp(want, got, 32) != 0)
		return fail(err, "the peer's message %llu is not authentic: another key?",
			    (unsigned long long)r->received);
	return 0;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static int write_all(struct rdv *r, const char *p, size_t n, char err[RDV_ERROR_MAX])
{
	ssize_t done;

	while (n > 0) {
		done = send(r->fd, p, n, MSG_NOSIGNAL);
		if (done < 0 && errno != EINTR)
			return fail(err, "sending to the peer: %s", strerror(errno));
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static int send_line(struct rdv *r, json_t *message, bool sealed, char err[RDV_ERROR_MAX])
{
	char *text = json_dumps(message, JSON_COMPACT), *whole;
	size_t len = text != NULL ? strlen(text) : 0;
	uint8_t mac[32];
	int rc = -1;

	json_decref(message);
	whole = len > 2 ? malloc(len + MAC_TAIL + 2) : NULL;
	if (whole != NULL) {
		memcpy(whole, text, len);
		if (sealed) {
			len--; /* the brace goes behind the code */
			if (compute_mac(r, r->client, r->sent, text, len, mac)) {
				memcpy(whole + len, MAC_HEAD, sizeof(MAC_HEAD));
				to_hex(whole + len + sizeof(MAC_HEAD) - 1, mac, 32);
				len += MAC_TAIL;
				whole[len - 2] = '"';
				whole[len - 1] = '}';
			}
		}
		whole[len++] = '\n';
		rc = write_all(r, whole, len, err);
	} else {
		(void)fail(err, "out of memory");
	}
	free(whole);
	free(text);
	return rc;
}

/* More octets of a line: 1, 0 on timeout, -1. */
static int fill(struct rdv *r, int timeout_ms, char err[RDV_ERROR_MAX])
{
	struct pollfd pfd = {.fd = r->fd, .events = POLLIN};
	ssize_t n;

	if (r->have == sizeof(r->line))
		return fail(err, "the peer sends a line of more than %d octets", LINE_MAX_OCTETS);
	if (poll(&pfd, 1, timeout_ms) <= 0)
		return 0;
	n = recv(r->fd, r->line + r->have, sizeof(r->line) - r->have, 0);
	if (n == 0)
		return fail(err, "the peer closed the connection");
	if (n < 0)
		return errno == EINTR ? 0 : fail(err, "from the peer: %s", strerror(errno));
	r->have += (size_t)n;
	return 1;
}

/* One message, its line stays until take(). */
static int read_line(struct rdv *r, size_t *len, int timeout_ms, char err[RDV_ERROR_MAX])
{
	char *end;
	int rc;

	while ((end = memchr(r->line, '\n', r->have)) == NULL) {
		if ((rc = fill(r, timeout_ms, err)) <= 0)
			return rc;
	}
	*len = (size_t)(end - r->line);
	return 1;
}

static void take(struct rdv *r, size_t len)
{
	r->have -= len + 1;
	memmove(r->line, r->line + len + 1, r->have);
}

static int parse(struct rdv *r, size_t len, json_t **out, char err[RDV_ERROR_MAX])
{
	json_error_t why;
	json_t *error;

	*out = json_loadb(r->line, len, JSON_REJECT_DUPLICATES, &why);
	if (*out == NULL || !json_is_object(*out)) {
		json_decref(*out);
		*out = NULL;
		return fail(err, "the peer's message is not a JSON object: %s", why.text);
	}
	error = json_object_get(*out, "error");
	if (json_is_string(error)) {
		(void)fail(err, "the peer says: %s", json_string_value(error));
		json_decref(*out);
		*out = NULL;
		return -1;
	}
	return 1;
}

int rdv_send(struct rdv *r, json_t *message, char err[RDV_ERROR_MAX])
{
	int rc;

	if (message == NULL)
		return fail(err, "out of memory");
	rc = send_line(r, message, r->key.len != 0, err);
	r->sent++;
	return rc;
}

int rdv_recv(struct rdv *r, json_t **out, int timeout_ms, char err[RDV_ERROR_MAX])
{
	size_t len;
	int rc = read_line(r, &len, timeout_ms, err);

	if (rc <= 0)
		return rc;
	rc = r->key.len != 0 ? check_mac(r, len, err) : 0;
	if (rc == 0)
		rc = parse(r, len, out, err);
	r->received++;
	take(r, len);
	return rc;
}

void rdv_refuse(struct rdv *r, const char *why)
{
	char err[RDV_ERROR_MAX];

	(void)rdv_send(r, json_pack("{s:s}", "error", why), err);
}

/* ---- Hello ---------------------------------------------------------------------------------- */

static int send_hello(struct rdv *r, const char *service, char err[RDV_ERROR_MAX])
{
	char text[2 * NONCE + 1];

	to_hex(text, r->nonce[r->client ? 0 : 1], NONCE);
	return send_line(r,
			 json_pack("{s:s,s:i,s:s,s:s,s:b}", "causeway", "rendezvous", "version", 1,
				   "service", service, "nonce", text, "auth", r->key.len != 0),
			 false, err);
}

static int check_hello(struct rdv *r, json_t *hello, const char *service, char err[RDV_ERROR_MAX])
{
	const char *what = "", *theirs = "", *nonce = "";
	int version = 0, auth = 0;

	(void)json_unpack(hello, "{s?s,s?i,s?s,s?s,s?b}", "causeway", &what, "version", &version,
			  "service", &theirs, "nonce", &nonce, "auth", &auth);
	if (strcmp(what, "rendezvous") != 0)
		return fail(err, "the peer is not a causeway rendezvous");
	if (version != 1)
		return fail(err, "the peer speaks version %d of the rendezvous, this is 1",
			    version);
	if (strcmp(theirs, service) != 0)
		return fail(err, "the peer runs 'causeway %.40s', this is 'causeway %s'", theirs,
			    service);
	if (strlen(nonce) != 2 * NONCE || !from_hex(r->nonce[r->client ? 1 : 0], nonce, NONCE))
		return fail(err, "the peer's nonce is not %d hexadecimal digits", 2 * NONCE);
	if (auth && r->key.len == 0)
		return fail(err, "the peer wants a shared key: give --key");
	if (!auth && r->key.len != 0)
		return fail(err, "the peer has no shared key: give --key there");
	return 0;
}

static int read_hello(struct rdv *r, const char *service, char err[RDV_ERROR_MAX])
{
	json_t *hello;
	size_t len;
	int rc = read_line(r, &len, HELLO_MS, err);

	if (rc == 0)
		return fail(err, "the peer says nothing");
	if (rc < 0 || parse(r, len, &hello, err) < 0)
		return -1;
	take(r, len);
	rc = check_hello(r, hello, service, err);
	json_decref(hello);
	return rc;
}

/* Both say hello at once, so each can tell what is wrong with the other. */
int rdv_begin(struct rdv **out, int fd, bool client, const struct rdv_key *key, const char *service,
	      char err[RDV_ERROR_MAX])
{
	struct rdv *r = calloc(1, sizeof(*r));
	int one = 1;

	if (r == NULL) {
		(void)close(fd);
		return fail(err, "out of memory");
	}
	r->fd = fd;
	r->client = client;
	r->key = *key;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (getrandom(r->nonce[client ? 0 : 1], NONCE, 0) != NONCE ||
	    send_hello(r, service, err) < 0 || read_hello(r, service, err) < 0) {
		rdv_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

/* ---- Connections ---------------------------------------------------------------------------- */

static struct addrinfo *look_up(const char *host, const char *port, int family, int flags,
				char err[RDV_ERROR_MAX])
{
	struct addrinfo hints = {
		.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(host, port, &hints, &list);

	if (rc != 0)
		(void)fail(err, "%s, TCP port %s: %s", host != NULL ? host : "*", port,
			   gai_strerror(rc));
	return rc != 0 ? NULL : list;
}

int rdv_listen(const char *host, const char *port, int family, char err[RDV_ERROR_MAX])
{
	struct addrinfo *list = look_up(host, port, family, AI_PASSIVE, err), *a;
	int fd = -1, one = 1, why = 0;

	if (list == NULL)
		return -1;
	for (a = list; a != NULL && fd < 0; a = a->ai_next) {
		/* one socket for both families where no address is given */
		if (host == NULL && family == AF_UNSPEC && a->ai_family == AF_INET &&
		    a->ai_next != NULL)
			continue;
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, 8) < 0) {
			why = errno;
			(void)close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd >= 0 ? fd
		       : fail(err, "%s, TCP port %s: %s", host != NULL ? host : "*", port,
			      strerror(why));
}

int rdv_accept(struct rdv **out, int listener, const struct rdv_key *key, const char *service,
	       char err[RDV_ERROR_MAX])
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return fail(err, "accept: %s", strerror(errno));
	return rdv_begin(out, fd, false, key, service, err);
}

int rdv_connect(struct rdv **out, const char *host, const char *port, int family,
		const struct rdv_key *key, const char *service, char err[RDV_ERROR_MAX])
{
	struct addrinfo *list = look_up(host, port, family, 0, err), *a;
	int fd = -1, why = 0;

	if (list == NULL)
		return -1;
	for (a = list; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
			why = errno;
			(void)close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		return fail(err, "%s, TCP port %s: %s", host, port, strerror(why));
	return rdv_begin(out, fd, true, key, service, err);
}

void rdv_close(struct rdv *r)
{
	if (r == NULL)
		return;
	(void)close(r->fd);
	OPENSSL_cleanse(&r->key, sizeof(r->key));
	free(r);
}

int rdv_fd(const struct rdv *r)
{
	return r->fd;
}

bool rdv_pending(const struct rdv *r)
{
	return memchr(r->line, '\n', r->have) != NULL;
}

void rdv_addresses(const struct rdv *r, struct sockaddr_storage *own, struct sockaddr_storage *peer)
{
	socklen_t len = sizeof(*own);

	memset(own, 0, sizeof(*own));
	memset(peer, 0, sizeof(*peer));
	(void)getsockname(r->fd, (struct sockaddr *)own, &len);
	len = sizeof(*peer);
	(void)getpeername(r->fd, (struct sockaddr *)peer, &len);
}
