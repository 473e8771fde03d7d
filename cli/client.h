/* client.h - talking to a running gateway over its control socket (docs/control-protocol.md). */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <stddef.h>
#include "cli/cmd.h"
#include "daemon/control/config.h"

struct client {
	const struct cmd *cmd; /* whose errors they are */
	const char *path;
	bool json;        /* errors as JSON on the standard output */
	const char *file; /* that a refusal is about, or NULL */
	bool quiet;       /* nothing is said about the connection */
	int fd;
	char *in; /* what has arrived beyond the last response */
	size_t in_len, in_size;
	json_int_t id;
};

/* The socket: `path`, or $CAUSEWAY_SOCKET, or the default. Returns 0, or EXIT_USAGE after saying
 * why not. */
int client_open(struct client *c, const struct cmd *cmd, const char *path);
/* The same without a word when there is no gateway. */
int client_try(struct client *c, const struct cmd *cmd, const char *path);
void client_close(struct client *c);

/* Send a request (taken over; `id` is added) and wait for the response. 0: *data is a new
 * reference. EXIT_DATA: the gateway refused, and has been quoted. EXIT_USAGE: the connection. */
int client_ask(struct client *c, json_t *request, json_t **data);

/* Where a configuration is read that is called `name`: "-" is the standard input. */
const char *client_config_path(const char *name);

/* A configuration that is refused here, before any gateway saw it: `FILE: PATH: "VALUE": REASON` on
 * the standard error, or with `json` an object on the standard output. Returns the exit code. */
int client_bad_config(const char *file, int err, const struct cw_diag *d, bool json);

/* One line of JSON on the standard output. */
void client_print_json(const json_t *v);

#endif
