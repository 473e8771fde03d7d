/* client.c - requests to a running gateway, and the small commands made of one request. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/client.h"
#include "daemon/control/config.h"
#include "daemon/control/server.h"

#define DEFAULT_SOCKET "/run/causeway/control.sock"
enum { WAIT_SECONDS = 30, CHUNK = 65536, RESPONSE_MAX = 64 << 20 };

/* ---- Connection ----------------------------------------------------------------------------- */

static int complain(const struct client *c, const char *what)
{
	if (!c->quiet)
		fprintf(stderr, "causeway %s: %s: %s\n", c->cmd->name, c->path, what);
	return EXIT_USAGE;
}

static int no_gateway(const struct client *c, int err)
{
	if (err == ENOENT || err == ECONNREFUSED)
		return complain(c, "no gateway is running on this socket");
	return complain(c, strerror(err));
}

static int open_client(struct client *c, const struct cmd *cmd, const char *path, bool quiet)
{
	struct timeval wait = {.tv_sec = WAIT_SECONDS};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const char *env = getenv("CAUSEWAY_SOCKET");

	*c = (struct client){.cmd = cmd, .fd = -1, .quiet = quiet};
	c->path = path != NULL ? path : env != NULL && *env != '\0' ? env : DEFAULT_SOCKET;
	if (strlen(c->path) >= sizeof(sun.sun_path))
		return complain(c, "a socket's path has at most 107 octets");
	memcpy(sun.sun_path, c->path, strlen(c->path));
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&sun, sizeof(sun)) != 0) {
		int err = errno;

		client_close(c);
		return no_gateway(c, err);
	}
	(void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	return EXIT_DONE;
}

int client_open(struct client *c, const struct cmd *cmd, const char *path)
{
	return open_client(c, cmd, path, false);
}

int client_try(struct client *c, const struct cmd *cmd, const char *path)
{
	return open_client(c, cmd, path, true);
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->in);
	c->in = NULL;
}

static int send_all(struct client *c, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = send(c->fd, text, len, MSG_NOSIGNAL);
		if (n < 0)
			return complain(c, strerror(errno));
		text += n;
		len -= (size_t)n;
	}
	return EXIT_DONE;
}

static int receive(struct client *c)
{
	char *p;
	ssize_t n;

	if (c->in_len == c->in_size) {
		if (c->in_size > RESPONSE_MAX || (p = realloc(c->in, c->in_size + CHUNK)) == NULL)
			return complain(c, "the response is too large");
		c->in = p;
		c->in_size += CHUNK;
	}
	n = recv(c->fd, c->in + c->in_len, c->in_size - c->in_len, 0);
	if (n == 0)
		return complain(c, "the gateway closed the connection");
	if (n < 0)
		return complain(c,
				errno == EAGAIN ? "the gateway does not answer" : strerror(errno));
	c->in_len += (size_t)n;
	return EXIT_DONE;
}

/* The next line as JSON. */
static int read_response(struct client *c, json_t **out)
{
	char *end = NULL;
	size_t line, from = 0;
	int err;

	while (c->in_len == from || (end = memchr(c->in + from, '\n', c->in_len - from)) == NULL) {
		from = c->in_len;
		if ((err = receive(c)) != EXIT_DONE)
			return err;
	}
	line = (size_t)(end - c->in) + 1;
	*out = json_loadb(c->in, line, 0, NULL);
	c->in_len -= line;
	memmove(c->in, c->in + line, c->in_len);
	return *out != NULL ? EXIT_DONE : complain(c, "the gateway's response is not JSON");
}

/* ---- Requests ------------------------------------------------------------------------------- */

void client_print_json(const json_t *v)
{
	(void)json_dumpf(v, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	(void)putchar('\n');
}

static void copy_text(char *to, size_t size, const json_t *from, const char *member)
{
	const char *s = json_string_value(json_object_get(from, member));

	(void)snprintf(to, size, "%s", s != NULL ? s : "");
}

/* What the gateway refused, as `NAME: PATH: "VALUE": REASON`. */
static void print_error(const char *name, const json_t *error)
{
	struct cw_diag d = {0};
	char text[640];

	copy_text(d.path, sizeof(d.path), error, "path");
	copy_text(d.value, sizeof(d.value), error, "value");
	copy_text(d.reason, sizeof(d.reason), error, "reason");
	fprintf(stderr, "%s: %s\n", name, cw_config_diag_text(&d, text, sizeof(text)));
}

const char *client_config_path(const char *name)
{
	return strcmp(name, "-") == 0 ? "/dev/stdin" : name;
}

int client_bad_config(const char *file, int err, const struct cw_diag *d, bool json)
{
	char text[640];

	if (json) {
		json_t *v = json_pack("{s:s, s:b, s:{s:s, s:s, s:s, s:s}}", "file", file, "ok", 0,
				      "error", "code", cw_err_name(err), "path", d->path, "value",
				      d->value, "reason", d->reason);

		client_print_json(v);
		json_decref(v);
	} else {
		fprintf(stderr, "%s: %s\n", file, cw_config_diag_text(d, text, sizeof(text)));
	}
	return err == CW_E_IO || err == CW_E_NOMEM ? EXIT_USAGE : EXIT_DATA;
}

/* Takes `response` over. */
static int digest(struct client *c, json_t *response, json_t **data)
{
	const json_t *error = json_object_get(response, "error");
	char name[64];

	if (json_is_true(json_object_get(response, "ok"))) {
		*data = json_incref(json_object_get(response, "data"));
		json_decref(response);
		return *data != NULL ? EXIT_DONE
				     : complain(c, "the gateway's response has no data");
	}
	(void)snprintf(name, sizeof(name), "causeway %s", c->cmd->name);
	if (c->json)
		client_print_json(response);
	else
		print_error(c->file != NULL ? c->file : name, error);
	json_decref(response);
	return EXIT_DATA;
}

int client_ask(struct client *c, json_t *request, json_t **data)
{
	json_t *response = NULL;
	char *text = NULL;
	int err;

	if (json_object_set_new(request, "id", json_integer(++c->id)) == 0)
		text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (text == NULL)
		return complain(c, "out of memory");
	text[strlen(text)] = '\n'; /* the NUL is not sent */
	err = send_all(c, text, (size_t)(strchr(text, '\n') - text) + 1);
	free(text);
	if (err == EXIT_DONE)
		err = read_response(c, &response);
	return err == EXIT_DONE ? digest(c, response, data) : err;
}

/* ---- Commands of one request ---------------------------------------------------------------- */

struct options {
	const char *socket;
	bool json, stop, help;
	int nargs;
	char **args;
};

static int parse_options(const struct cmd *cmd, int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"socket", required_argument, NULL, 's'},
		{"stop", no_argument, NULL, 'x'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":js:h", longs, NULL)) != -1) {
		if (opt == 'j')
			o->json = true;
		else if (opt == 's')
			o->socket = optarg;
		else if (opt == 'x' && cmd == &cmd_capture_drops)
			o->stop = true;
		else if (opt == 'h')
			o->help = true;
		else
			return args_bad_option(cmd, argv, opt);
	}
	o->nargs = argc - optind;
	o->args = argv + optind;
	if (o->help)
		(void)fputs(cmd->help, stdout);
	return EXIT_DONE;
}

/* Takes `request` over. *data is set when the gateway did it. */
static int one_request(const struct cmd *cmd, const struct options *o, json_t *request,
		       json_t **data)
{
	struct timeval patience = {.tv_sec = WAIT_SECONDS};
	struct client c;
	int err = client_open(&c, cmd, o->socket);

	if (err != EXIT_DONE) {
		json_decref(request);
		return err;
	}
	/* A gateway that reads a large configuration is at work; one that ends says so. */
	if (cmd == &cmd_reload)
		patience.tv_sec = 0;
	(void)setsockopt(c.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	c.json = o->json;
	c.file = cmd == &cmd_reload && o->nargs > 0 ? o->args[0] : NULL;
	err = client_ask(&c, request, data);
	client_close(&c);
	if (err == EXIT_DONE && o->json)
		client_print_json(*data);
	return err;
}

/* A file that does not fit a request goes by its name; checking it twice would take too long. */
static int reload_by_name(const char *file, json_t **request)
{
	char *full = realpath(file, NULL);

	*request = full != NULL ? json_pack("{s:s, s:s}", "cmd", "reload", "file", full) : NULL;
	free(full);
	return *request != NULL ? EXIT_DONE : EXIT_USAGE;
}

/* The file is checked here first: its errors then have the file's name, and a gateway that can't
 * read the caller's files still gets the configuration. */
static int reload_request(const struct options *o, json_t **request)
{
	struct cw_config *config;
	struct cw_diag d = {0};
	const char *file = client_config_path(o->args[0]);
	struct stat st = {0};
	bool plain = stat(file, &st) == 0 && S_ISREG(st.st_mode);
	int err;

	if (plain && st.st_size >= CW_CONTROL_REQUEST_MAX - 256)
		return reload_by_name(file, request);
	if ((err = cw_config_load(&config, file, &d)) != CW_OK)
		return client_bad_config(o->args[0], err, &d, o->json);
	if (!plain) /* can't be read a second time; its effect is the same */
		*request = json_pack("{s:s, s:o}", "cmd", "reload", "config",
				     json_loads(cw_config_json(config), 0, NULL));
	else
		*request = json_pack("{s:s, s:o}", "cmd", "reload", "config",
				     json_load_file(file, 0, NULL));
	cw_config_free(config);
	return *request != NULL ? EXIT_DONE : EXIT_USAGE;
}

static int run_reload(int argc, char **argv)
{
	struct options o = {0};
	json_t *request = NULL, *data = NULL;
	int err = parse_options(&cmd_reload, argc, argv, &o);

	if (err != EXIT_DONE || o.help)
		return err;
	if (o.nargs > 1)
		return cmd_usage(&cmd_reload, "one configuration at a time");
	if (o.nargs == 0)
		request = json_pack("{s:s}", "cmd", "reload");
	else if ((err = reload_request(&o, &request)) != EXIT_DONE)
		return err;
	if ((err = one_request(&cmd_reload, &o, request, &data)) != EXIT_DONE)
		return err;
	if (!o.json && json_is_integer(json_object_get(data, "generation")))
		printf("reloaded: generation %lld\n",
		       (long long)json_integer_value(json_object_get(data, "generation")));
	else if (!o.json)
		puts("reloaded");
	json_decref(data);
	return EXIT_DONE;
}

static int run_capture(int argc, char **argv)
{
	struct options o = {0};
	json_t *request, *data = NULL;
	char *cwd = NULL, file[4352] = "";
	int err = parse_options(&cmd_capture_drops, argc, argv, &o);

	if (err != EXIT_DONE || o.help)
		return err;
	if (o.nargs != (o.stop ? 0 : 1))
		return cmd_usage(&cmd_capture_drops, "either a file or --stop");
	if (!o.stop) { /* the gateway has another working directory */
		if (o.args[0][0] != '/' && (cwd = getcwd(NULL, 0)) == NULL)
			return EXIT_USAGE;
		(void)snprintf(file, sizeof(file), "%s%s%s", cwd != NULL ? cwd : "",
			       cwd != NULL ? "/" : "", o.args[0]);
		free(cwd);
	}
	request = json_pack("{s:s, s:s?}", "cmd", "capture-drops", "file", o.stop ? NULL : file);
	if ((err = one_request(&cmd_capture_drops, &o, request, &data)) != EXIT_DONE)
		return err;
	if (!o.json)
		printf(o.stop ? "stopped\n" : "dropped packets go to %s\n", file);
	json_decref(data);
	return EXIT_DONE;
}

static int run_log_level(int argc, char **argv)
{
	struct options o = {0};
	json_t *data = NULL;
	int err = parse_options(&cmd_log_level, argc, argv, &o);

	if (err != EXIT_DONE || o.help)
		return err;
	if (o.nargs != 1)
		return cmd_usage(&cmd_log_level,
				 "one level: error, warning, notice, info or debug");
	err = one_request(&cmd_log_level, &o,
			  json_pack("{s:s, s:s}", "cmd", "log-level", "level", o.args[0]), &data);
	json_decref(data);
	return err;
}

#define COMMON_OPTIONS                                                         \
	"  -s, --socket PATH    control socket; else $CAUSEWAY_SOCKET, else\n" \
	"                       " DEFAULT_SOCKET "\n"                          \
	"  -j, --json           the gateway's answer as JSON\n"                \
	"  -h, --help           this text\n\n"

const struct cmd cmd_reload = {
	.name = "reload",
	.run = run_reload,
	.brief = "give a running gateway a new configuration",
	.help = "usage: causeway reload [OPTIONS] [CONFIG]\n\n"
		"The gateway checks the configuration whole, builds it aside and swaps it in "
		"between\n"
		"bursts: no packet is lost. A refused one changes nothing. Without CONFIG the "
		"gateway\n"
		"reads the file again that it was started with; - is the standard "
		"input.\n\n" COMMON_OPTIONS
		"exit code: 0 in use, 1 refused (FILE: PATH: \"VALUE\": REASON), 2 usage, no "
		"gateway,\n"
		"or a file that can't be read\n\n"
		"examples:\n"
		"  causeway reload gateway.json\n"
		"  causeway reload -s /run/causeway/east.sock\n"
		"  causeway show config | jq '.\"causeway:causeway\".daemon.\"log-level\" = "
		"\"debug\"' |\n"
		"    causeway reload -\n",
};

const struct cmd cmd_capture_drops = {
	.name = "capture-drops",
	.run = run_capture,
	.brief = "write a running gateway's dropped packets to a file",
	.help = "usage: causeway capture-drops [OPTIONS] FILE\n"
		"       causeway capture-drops [OPTIONS] --stop\n\n"
		"The gateway writes every packet that it drops to FILE (pcapng), with the reason "
		"as\n"
		"the packet's comment.\n\n"
		"      --stop           write no more\n" COMMON_OPTIONS
		"exit code: 0 done, 1 the gateway refused, 2 usage, or no gateway\n\n"
		"examples:\n"
		"  causeway capture-drops drops.pcapng\n"
		"  causeway capture-drops --stop\n",
};

const struct cmd cmd_log_level = {
	.name = "log-level",
	.run = run_log_level,
	.brief = "set what a running gateway logs",
	.help = "usage: causeway log-level [OPTIONS] error|warning|notice|info|debug\n\n"
		"Until the next reload, which sets the configured level.\n\n" COMMON_OPTIONS
		"exit code: 0 done, 1 the gateway refused, 2 usage, or no gateway\n\n"
		"examples:\n"
		"  causeway log-level debug\n",
};
