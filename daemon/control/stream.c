/* stream.c - clients with bounded buffers on one epoll descriptor. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/control/stream.h"

enum { EVENTS = 16, READ_CHUNK = 16384, DRAIN_MAX = 4 << 20 };

struct client {
	struct client *next;
	int fd;
	uint64_t heard; /* the server's count of events when this client last did something */
	char *in;
	size_t in_len, in_size;
	char *out;
	size_t out_off, out_len;
	bool eof;     /* the client will send no more */
	bool closing; /* no more input is looked at */
	bool drained; /* our side is shut; what still comes is thrown away until it ends */
	bool dead;
};

struct cw_stream_server {
	const struct cw_stream_ops *ops;
	void *arg;
	int listen_fd, epoll_fd;
	struct client *clients;
	unsigned nclients;
	uint64_t events;
};

static int watch(struct cw_stream_server *s, int op, int fd, uint32_t events, void *ptr)
{
	struct epoll_event e = {.events = events, .data.ptr = ptr};

	return epoll_ctl(s->epoll_fd, op, fd, &e);
}

/* ---- Clients -------------------------------------------------------------------------------- */

/* The descriptor closes at once; the memory goes when no event can refer to it any more. */
static void kill_client(struct cw_stream_server *s, struct client *c)
{
	if (c->dead)
		return;
	close(c->fd);
	c->dead = true;
	s->nclients--;
}

static void bury_dead(struct cw_stream_server *s)
{
	struct client **at = &s->clients, *c;

	while ((c = *at) != NULL) {
		if (!c->dead) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		free(c->in);
		free(c->out);
		free(c);
	}
}

static void kill_quietest(struct cw_stream_server *s)
{
	struct client *c, *quiet = NULL;

	for (c = s->clients; c != NULL; c = c->next) {
		if (!c->dead && (quiet == NULL || c->heard < quiet->heard))
			quiet = c;
	}
	if (quiet != NULL)
		kill_client(s, quiet);
}

static void add_client(struct cw_stream_server *s, int fd)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL || watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, c) != 0) {
		free(c);
		close(fd);
		return;
	}
	if (s->nclients == s->ops->max_clients)
		kill_quietest(s);
	c->fd = fd;
	c->heard = s->events;
	c->next = s->clients;
	s->clients = c;
	s->nclients++;
}

static void accept_clients(struct cw_stream_server *s)
{
	int i, fd;

	for (i = 0; i < EVENTS; i++) {
		fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			add_client(s, fd);
		else if (errno == EMFILE || errno == ENFILE)
			kill_quietest(s); /* else the listener would stay readable for ever */
		else
			return;
	}
}

/* ---- Output --------------------------------------------------------------------------------- */

/* False: the connection is broken. */
static bool flush(struct client *c)
{
	ssize_t n;

	while (c->out_off < c->out_len) {
		n = send(c->fd, c->out + c->out_off, c->out_len - c->out_off, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
		c->out_off += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	c->out_off = c->out_len = 0;
	return true;
}

/* ---- Input ---------------------------------------------------------------------------------- */

static bool make_room(struct cw_stream_server *s, struct client *c)
{
	size_t size = c->in_size == 0 ? READ_CHUNK : c->in_size * 2;
	char *p;

	if (c->in_len < c->in_size)
		return true;
	if (size > s->ops->max_input)
		size = s->ops->max_input;
	if (size <= c->in_size || (p = realloc(c->in, size)) == NULL)
		return false;
	c->in = p;
	c->in_size = size;
	return true;
}

/* False: the connection is broken. */
static bool read_some(struct cw_stream_server *s, struct client *c)
{
	ssize_t n;

	if (c->in_len == s->ops->max_input)
		return true; /* serve_input() decides */
	if (!make_room(s, c))
		return false;
	n = recv(c->fd, c->in + c->in_len, c->in_size - c->in_len, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	c->eof = n == 0;
	c->in_len += (size_t)n;
	return true;
}

static void take_reply(struct client *c, struct cw_reply *r)
{
	c->out = r->data;
	c->out_off = 0;
	c->out_len = r->data != NULL ? r->len : 0;
	c->closing = c->closing || r->close;
}

/* Feed one request to the owner; false when more input is needed. */
static bool serve_input(struct cw_stream_server *s, struct client *c)
{
	struct cw_reply r = {0};
	size_t used;

	if (c->closing || c->in_len == 0)
		return false;
	used = s->ops->input(s->arg, c->in, c->in_len, c->eof, &r);
	if (used == 0 && r.data == NULL && !r.close) {
		if (c->in_len < s->ops->max_input)
			return false;
		s->ops->overflow(s->arg, &r);
		r.close = true;
	}
	c->in_len -= used;
	memmove(c->in, c->in + used, c->in_len);
	take_reply(c, &r);
	return true;
}

/* The last octet of the response is out. Closing at once would reset the connection if the client
 * is still sending, and could take the response with it. */
static void finish(struct client *c)
{
	shutdown(c->fd, SHUT_WR);
	c->drained = true;
	free(c->in);
	c->in = NULL;
	c->in_len = c->in_size = 0;
}

static bool drain(struct client *c)
{
	char waste[READ_CHUNK];
	ssize_t n = recv(c->fd, waste, sizeof(waste), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->in_len += (size_t)n;
	return n > 0 && c->in_len < DRAIN_MAX;
}

/* Everything that can be done for this client now; false when it is to be closed. */
static bool serve(struct cw_stream_server *s, struct client *c)
{
	if (c->drained)
		return drain(c);
	if (!flush(c))
		return false;
	if (c->out == NULL && !c->eof && !c->closing && !read_some(s, c))
		return false;
	while (c->out == NULL && serve_input(s, c)) {
		if (!flush(c))
			return false;
	}
	if (c->out != NULL)
		return watch(s, EPOLL_CTL_MOD, c->fd, EPOLLOUT, c) == 0;
	if (c->eof)
		return false;
	if (c->closing)
		finish(c);
	return watch(s, EPOLL_CTL_MOD, c->fd, EPOLLIN, c) == 0;
}

/* ---- The server ----------------------------------------------------------------------------- */

int cw_stream_server_new(struct cw_stream_server **out, int listen_fd,
			 const struct cw_stream_ops *ops, void *arg)
{
	struct cw_stream_server *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		close(listen_fd);
		return CW_E_NOMEM;
	}
	*s = (struct cw_stream_server){.ops = ops, .arg = arg, .listen_fd = listen_fd};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || watch(s, EPOLL_CTL_ADD, listen_fd, EPOLLIN, NULL) != 0) {
		cw_stream_server_free(s);
		return CW_E_IO;
	}
	*out = s;
	return CW_OK;
}

int cw_stream_server_fd(const struct cw_stream_server *s)
{
	return s->epoll_fd;
}

void cw_stream_server_run(struct cw_stream_server *s)
{
	struct epoll_event events[EVENTS];
	int i, n = epoll_wait(s->epoll_fd, events, EVENTS, 0);
	bool listener = false;

	for (i = 0; i < n; i++) {
		struct client *c = events[i].data.ptr;

		s->events++;
		if (c == NULL) {
			listener = true;
			continue;
		}
		c->heard = s->events;
		if (!serve(s, c))
			kill_client(s, c);
	}
	if (listener)
		accept_clients(s);
	bury_dead(s);
}

void cw_stream_server_free(struct cw_stream_server *s)
{
	struct client *c;

	if (s == NULL)
		return;
	for (c = s->clients; c != NULL; c = c->next)
		kill_client(s, c);
	bury_dead(s);
	close(s->listen_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}
