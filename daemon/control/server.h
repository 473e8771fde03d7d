/* server.h - the control socket: JSON lines over a UNIX stream socket (docs/control-protocol.md).
 *
 * Independent of the forwarding part: what can be asked is a table of providers. All calls belong
 * to one thread, which also runs the providers.
 */
#ifndef DAEMON_CONTROL_SERVER_H
#define DAEMON_CONTROL_SERVER_H

#include <jansson.h>
#include "daemon/control/config.h"

#define CW_CONTROL_PROTOCOL 1 /* in the answer to `version` */

enum {
	CW_CONTROL_REQUEST_MAX = 1 << 20, /* octets of one request, newline included */
	CW_CONTROL_CLIENTS = 32 /* one more: the client that was silent for longest is cut off */
};

/* Answer a request: a new reference to the `data` of the response, or NULL with `diag` filled by
 * cw_diag_set(). `request` is the whole object. */
typedef json_t *cw_control_fn(void *arg, const json_t *request, struct cw_diag *diag);

struct cw_control_provider {
	const char *cmd;  /* "show", "reload", "log-level" ... */
	const char *what; /* of show: "counters", "ports" ...; NULL for the other commands */
	const char *brief;
	cw_control_fn *run;
	void *arg;
};

struct cw_control_server;

/* Listen on `path` (absolute; mode 0660). `table` stays with the caller and must outlive the
 * server; `version` and `help` are answered without a provider. CW_E_CONFLICT: a gateway serves
 * this socket already; a socket that a dead one left behind is replaced. CW_E_IO: refused by the
 * system. `diag` says which. */
int cw_control_server_new(struct cw_control_server **out, const char *path,
			  const struct cw_control_provider *table, unsigned n,
			  struct cw_diag *diag);

/* Readable (poll, epoll) when cw_control_server_run() has something to do. */
int cw_control_server_fd(const struct cw_control_server *s);

/* Serve what is ready; never blocks. */
void cw_control_server_run(struct cw_control_server *s);

/* Close all, remove the socket. NULL is fine. */
void cw_control_server_free(struct cw_control_server *s);

/* The response to one request line, as text that the caller frees; NULL: out of memory. This is
 * what the server runs for each line. */
char *cw_control_answer(const struct cw_control_provider *table, unsigned n, const char *line,
			size_t len);

/* For `reload` providers: the configuration that the request carries ("config") or names ("file",
 * an absolute path), or else that of `default_file` (may be NULL). As
 * cw_config_load_plain(). */
int cw_control_config(struct cw_config **out, const json_t *request, const char *default_file,
		      struct cw_diag *diag);

#endif
