/* ibsim.c - a client of ibsim. Layout of its messages: umad2sim's sim.h, host byte order unless it
 * says otherwise here. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/io/ibsim.h"

enum { CTL_CONNECT = 1, CTL_DISCONNECT = 2, CTL_SET_ISSM = 9, WAIT_MS = 2000 };
#define MAGIC 0xdeadbeefu

struct ctl {
	uint32_t magic, client, type, len;
	uint8_t data[64];
};

struct request {
	uint32_t dlid, slid, dqp, sqp, status, pad;
	uint8_t length[8]; /* big-endian */
	uint8_t mad[256];
};

/* Abstract names: a zero octet, the text, and its closing zero. */
static socklen_t address(struct sockaddr_un *a, const char *name, const char *what, uint32_t n,
			 int numbered)
{
	int len;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (numbered)
		len = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s%u", name, what, n);
	else
		len = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s", name, what);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 2 + (size_t)len);
}

static int bound(const char *name, const char *what, uint32_t n)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name, what, n, 1);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int wait_for(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms);
}

static int call(struct ibsim *s, uint32_t type, void *data, uint32_t len)
{
	struct ctl c = {MAGIC, s->client, type, len, {0}};

	memcpy(c.data, data, len);
	if (send(s->ctl, &c, sizeof(c), 0) != sizeof(c) || wait_for(s->ctl, WAIT_MS) != 1 ||
	    recv(s->ctl, &c, sizeof(c), 0) != sizeof(c))
		return -1;
	if (c.type == 0) { /* refused */
		errno = ECONNREFUSED;
		return -1;
	}
	memcpy(data, c.data, len);
	return 0;
}

int ibsim_reports(struct ibsim *s, int on)
{
	uint32_t v = on != 0;

	return call(s, CTL_SET_ISSM, &v, sizeof(v));
}

static int attach(struct ibsim *s, const char *name, const char *node)
{
	struct {
		uint32_t id, qp, issm;
		char node[32];
	} who = {s->id, 0, 1, ""};
	struct sockaddr_un a;
	socklen_t len;

	(void)snprintf(who.node, sizeof(who.node), "%s", node);
	len = address(&a, name, "ctl", 0, 0);
	if (connect(s->ctl, (struct sockaddr *)&a, len) < 0 ||
	    call(s, CTL_CONNECT, &who, sizeof(who)) < 0)
		return -1;
	memcpy(&s->client, &who, sizeof(s->client));
	len = address(&a, name, "out", s->client, 1);
	if (connect(s->fd, (struct sockaddr *)&a, len) < 0)
		return -1;
	/* Reports go to nodes with this bit only. */
	return ibsim_reports(s, 1);
}

int ibsim_open(struct ibsim *s, const char *name, const char *node, uint32_t id)
{
	*s = (struct ibsim){.id = id};
	s->ctl = bound(name, "ctl", id);
	s->fd = bound(name, "in", id);
	if (s->ctl < 0 || s->fd < 0 || attach(s, name, node) < 0) {
		ibsim_close(s);
		return -1;
	}
	return 0;
}

int ibsim_send(struct ibsim *s, uint16_t dlid, const uint8_t mad[256])
{
	struct request r = {
		.dlid = htons(dlid), .dqp = htonl(1), .sqp = htonl(1), .length = {[6] = 1}};

	memcpy(r.mad, mad, sizeof(r.mad));
	return send(s->fd, &r, sizeof(r), 0) == sizeof(r) ? 0 : -1;
}

int ibsim_recv(struct ibsim *s, uint8_t mad[256], int timeout_ms)
{
	struct request r;
	int rc = wait_for(s->fd, timeout_ms);

	if (rc <= 0)
		return rc;
	if (recv(s->fd, &r, sizeof(r), 0) != sizeof(r))
		return -1;
	if (r.status != 0) /* nobody answered in time */
		return 0;
	memcpy(mad, r.mad, sizeof(r.mad));
	return 1;
}

void ibsim_close(struct ibsim *s)
{
	uint32_t none = 0;

	if (s->ctl >= 0)
		(void)call(s, CTL_DISCONNECT, &none, 0);
	if (s->ctl >= 0)
		(void)close(s->ctl);
	if (s->fd >= 0)
		(void)close(s->fd);
	s->ctl = s->fd = -1;
}
