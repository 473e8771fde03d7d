/* stream.h - a small server of byte streams: listening socket, clients, bounded buffers.
 *
 * What the control socket and the metrics server share. One thread, one epoll descriptor that the
 * owner's loop waits for. A client's input is not read while output for it is pending, so a slow
 * client holds one response and delays nobody. When all places are taken, the client that was
 * silent for longest loses its place.
 */
#ifndef DAEMON_CONTROL_STREAM_H
#define DAEMON_CONTROL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include "causeway/err.h"

/* A response: `data` was malloc()ed and is freed by the server. */
struct cw_reply {
	char *data;
	size_t len;
	bool close; /* nothing more is read; the connection ends when `data` is out */
};

struct cw_stream_ops {
	/* Look at in[0..len), 1 octet or more. Returns the octets used up, 0 = more are needed.
	 * `eof`: no more will come. */
	size_t (*input)(void *arg, const char *in, size_t len, bool eof, struct cw_reply *reply);
	/* The input buffer is full, and input() still needs more: the last word to this client. */
	void (*overflow)(void *arg, struct cw_reply *reply);
	size_t max_input;
	unsigned max_clients;
};

struct cw_stream_server;

/* Serve the clients of `listen_fd`, a listening socket, which is the server's from now on (also
 * when this fails). */
int cw_stream_server_new(struct cw_stream_server **out, int listen_fd,
			 const struct cw_stream_ops *ops, void *arg);
int cw_stream_server_fd(const struct cw_stream_server *s);
void cw_stream_server_run(struct cw_stream_server *s);
void cw_stream_server_free(struct cw_stream_server *s);

/* A UNIX socket that listens at a path, with a lock file beside it, so that one process owns it.
 * What a dead owner left is replaced; CW_E_CONFLICT if the owner lives, CW_E_IO. */
struct cw_unix_listener {
	char path[108];
	int fd, lock;
};
int cw_unix_listen(struct cw_unix_listener *l, const char *path, struct cw_diag *diag);
void cw_unix_unlink(struct cw_unix_listener *l); /* remove both names; l->fd stays open */

#endif
