/* bgp_helper.c - causeway bgp-helper: run by ExaBGP, between its process API and a gateway.
 *
 * ExaBGP's events come in on the standard input, its commands go out on the standard output. UPDATE
 * messages go to the gateway as they are; what it wants announced comes back. A gateway that has
 * gone is no proxy: what it announced is withdrawn until it is back, and then the neighbours are
 * asked to tell all again (RFC 2918).
 *
 * ExaBGP answers each command ("done"), and waits for room when it writes to its process. So this
 * one never waits for room towards ExaBGP, or each would wait for the other: commands are kept
 * until ExaBGP has taken them, and its events are read meanwhile.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/client.h"
#include "daemon/control/server.h"

enum {
	POLL_MS = 1000,
	BATCH_OCTETS = CW_CONTROL_REQUEST_MAX / 4, /* of events in a request; one has 9 K at most */
	LINE_MAX_OCTETS = 1 << 20,
	CHUNK_OCTETS = 65536
};

struct helper {
	const char *socket, *name;
	struct client c;
	bool connected;
	json_int_t generation; /* of what is announced; 0: nothing yet */
	json_t *announced;     /* by prefix, as the gateway gave them */
	json_t *events;        /* not told yet */
	size_t octets;         /* of these events */
	char *in;
	size_t len, size;
	char *out; /* commands; ExaBGP has taken the first `taken` octets */
	size_t taken, out_len, out_size;
	bool eof;
};

static void say(const char *what, const char *why)
{
	fprintf(stderr, "causeway bgp-helper: %s%s%s\n", what, *why != '\0' ? ": " : "", why);
}

/* ---- Commands to ExaBGP -------------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *member)
{
	const char *s = json_string_value(json_object_get(o, member));

	return s != NULL ? s : "";
}

static bool make_room(struct helper *h, size_t octets)
{
	size_t size = 2 * (h->out_len + octets);
	char *more;

	if (h->out_size - h->out_len >= octets)
		return true;
	if ((more = realloc(h->out, size)) == NULL) {
		say("out of memory, a command is lost", "");
		return false;
	}
	h->out = more;
	h->out_size = size;
	return true;
}

__attribute__((format(printf, 2, 3))) static void order(struct helper *h, const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(line) || !make_room(h, (size_t)n))
		return;
	memcpy(h->out + h->out_len, line, (size_t)n);
	h->out_len += (size_t)n;
}

static void announce(struct helper *h, const json_t *a)
{
	order(h, "announce route %s next-hop %s attribute [ 0x%02x 0xc0 0x%s ]\n",
	      text_of(a, "prefix"), text_of(a, "next_hop"),
	      (unsigned)json_integer_value(json_object_get(a, "type")), text_of(a, "value"));
}

static void withdraw(struct helper *h, const json_t *a)
{
	order(h, "withdraw route %s next-hop %s\n", text_of(a, "prefix"), text_of(a, "next_hop"));
}

static json_t *by_prefix(const json_t *list)
{
	json_t *all = json_object(), *a;
	size_t i;

	json_array_foreach((json_t *)list, i, a)
	{
		json_object_set(all, text_of(a, "prefix"), a);
	}
	return all;
}

/* Announce what is new, withdraw what is gone. */
static void use_list(struct helper *h, const json_t *list)
{
	json_t *old = h->announced, *now = by_prefix(list), *a;
	const char *prefix;

	json_object_foreach(old, prefix, a)
	{
		if (!json_equal(json_object_get(now, prefix), a))
			withdraw(h, a);
	}
	json_object_foreach(now, prefix, a)
	{
		if (!json_equal(json_object_get(old, prefix), a))
			announce(h, a);
	}
	h->announced = now;
	json_decref(old);
}

static void withdraw_all(struct helper *h)
{
	json_t *none = json_array();

	use_list(h, none);
	json_decref(none);
	h->generation = 0;
}

/* ---- The gateway --------------------------------------------------------------------------- */

static void disconnect(struct helper *h, const char *why)
{
	if (h->connected)
		say("the gateway has gone, its announcements are withdrawn", why);
	client_close(&h->c);
	h->connected = false;
	withdraw_all(h);
}

static void forget_events(struct helper *h)
{
	json_array_clear(h->events);
	h->octets = 0;
}

/* One request with the events so far. */
static int tell(struct helper *h, const char *op)
{
	json_t *request =
		json_pack("{s:s, s:s, s:s, s:I, s:O}", "cmd", "bgp-helper", "op", op, "helper",
			  h->name, "generation", h->generation, "events", h->events);
	json_t *data = NULL, *list;
	int err = client_ask(&h->c, request, &data);

	forget_events(h);
	if (err != EXIT_DONE)
		return err;
	h->generation = json_integer_value(json_object_get(data, "generation"));
	if ((list = json_object_get(data, "announce")) != NULL)
		use_list(h, list);
	json_decref(data);
	return EXIT_DONE;
}

static void connect_gateway(struct helper *h)
{
	if (client_try(&h->c, &cmd_bgp_helper, h->socket) != EXIT_DONE)
		return;
	h->generation = 0;
	forget_events(h); /* all is told again, below */
	if (tell(h, "hello") != EXIT_DONE) {
		client_close(&h->c);
		return;
	}
	h->connected = true;
	say("connected to the gateway", h->c.path);
	order(h, "announce route-refresh ipv4 unicast\n");
	order(h, "announce route-refresh ipv6 unicast\n");
}

static void report(struct helper *h)
{
	if (!h->connected)
		connect_gateway(h);
	else if (tell(h, "poll") != EXIT_DONE)
		disconnect(h, "");
}

/* ---- Events of ExaBGP ---------------------------------------------------------------------- */

static void take_event(struct helper *h, const char *line, size_t len)
{
	json_t *e = json_loadb(line, len, 0, NULL), *neighbor = json_object_get(e, "neighbor");
	const json_t *message = json_object_get(neighbor, "message");
	const char *peer = text_of(json_object_get(neighbor, "address"), "peer");
	const char *type = text_of(e, "type");
	json_t *event = NULL;

	if (strcmp(type, "state") == 0)
		event = json_pack("{s:s, s:s}", "peer", peer, "state", text_of(neighbor, "state"));
	else if (message != NULL && json_integer_value(json_object_get(message, "category")) == 2)
		event = json_pack("{s:s, s:s}", "peer", peer, "update", text_of(message, "body"));
	else if (strcmp(type, "notification") == 0 &&
		 strcmp(text_of(e, "notification"), "shutdown") == 0)
		h->eof = true;
	/* While there is no gateway nothing is kept: it asks for all when it is there. */
	if (event != NULL && h->connected) {
		json_array_append_new(h->events, event);
		h->octets += len;
	} else {
		json_decref(event);
	}
	json_decref(e);
}

static void take_lines(struct helper *h)
{
	char *start = h->in, *end;

	while ((end = memchr(start, '\n', (size_t)(h->in + h->len - start))) != NULL) {
		take_event(h, start, (size_t)(end - start));
		start = end + 1;
		if (h->octets >= BATCH_OCTETS)
			report(h);
	}
	h->len -= (size_t)(start - h->in);
	memmove(h->in, start, h->len);
	if (h->len >= LINE_MAX_OCTETS) {
		say("a line of ExaBGP is too long, ignored", "");
		h->len = 0;
	}
}

static int read_some(struct helper *h)
{
	ssize_t n;
	char *more;

	if (h->size - h->len < CHUNK_OCTETS) {
		h->size += 2 * CHUNK_OCTETS;
		if ((more = realloc(h->in, h->size)) == NULL)
			return -1;
		h->in = more;
	}
	n = read(STDIN_FILENO, h->in + h->len, h->size - h->len);
	if (n <= 0) {
		h->eof = n == 0 || errno != EINTR;
		return 0;
	}
	h->len += (size_t)n;
	take_lines(h);
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A pipe that is writable takes PIPE_BUF octets at once (pipe(7)). */
static int write_some(struct helper *h)
{
	size_t left = h->out_len - h->taken;
	ssize_t n = write(STDOUT_FILENO, h->out + h->taken, left < PIPE_BUF ? left : PIPE_BUF);

	if (n < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return 0;
		say("ExaBGP does not read any more", strerror(errno));
		return -1;
	}
	h->taken += (size_t)n;
	if (h->taken == h->out_len)
		h->taken = h->out_len = 0;
	return 0;
}

/* Wait for ExaBGP, until `due`; read what it says, write what it takes. */
static int talk(struct helper *h, uint64_t due)
{
	struct pollfd fd[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = STDOUT_FILENO, .events = POLLOUT}};
	nfds_t n = h->taken < h->out_len ? 2 : 1;
	uint64_t now = now_ms();

	if (poll(fd, n, now < due ? (int)(due - now) : 0) <= 0)
		return 0;
	if (fd[0].revents != 0 && read_some(h) < 0) {
		say("out of memory", "");
		return -1;
	}
	return n == 2 && fd[1].revents != 0 ? write_some(h) : 0;
}

static int loop(struct helper *h)
{
	uint64_t due = 0;

	while (!h->eof) {
		if (now_ms() >= due || json_array_size(h->events) > 0) {
			report(h);
			due = now_ms() + POLL_MS;
		}
		if (talk(h, due) < 0)
			return EXIT_USAGE;
	}
	if (h->connected)
		(void)tell(h, "bye");
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{"socket", required_argument, NULL, 's'},
		{"name", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct helper h = {.name = "exabgp"};
	int opt, err;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":s:n:h", longs, NULL)) != -1) {
		if (opt == 's') {
			h.socket = optarg;
		} else if (opt == 'n') {
			h.name = optarg;
		} else if (opt == 'h') {
			(void)fputs(cmd_bgp_helper.help, stdout);
			return EXIT_DONE;
		} else {
			return args_bad_option(&cmd_bgp_helper, argv, opt);
		}
	}
	if (optind < argc)
		return cmd_usage(&cmd_bgp_helper, "'%s' is too much", argv[optind]);
	if (*h.name == '\0' || strlen(h.name) > 31 || strchr(h.name, '/') != NULL)
		return cmd_usage(&cmd_bgp_helper, "--name: '%s': 1 to 31 characters, no '/'",
				 h.name);
	h.announced = json_object();
	h.events = json_array();
	h.c.fd = -1;
	err = loop(&h);
	client_close(&h.c);
	json_decref(h.announced);
	json_decref(h.events);
	free(h.in);
	free(h.out);
	return err;
}

const struct cmd cmd_bgp_helper = {
	.name = "bgp-helper",
	.run = run,
	.brief = "run by ExaBGP: announces and learns proxies for a gateway",
	.help = "usage: causeway bgp-helper [OPTIONS]\n\n"
		"ExaBGP runs this as a process of its API (encoder json, `receive { packets; "
		"update; }`\n"
		"and `neighbor-changes`). It announces the prefixes that the gateway is a proxy "
		"for,\n"
		"with attribute 39, and tells the gateway what neighbours announce. The gateway "
		"needs\n"
		"pnc/bgp/enabled; see docs/routing.md for whole configurations.\n\n"
		"  -s, --socket PATH  control socket; else $CAUSEWAY_SOCKET, else\n"
		"                     /run/causeway/control.sock\n"
		"  -n, --name NAME    tells several ExaBGP apart (exabgp)\n"
		"  -h, --help         this text\n\n"
		"exit code: 0 ExaBGP ended, 2 usage or I/O\n\n"
		"examples:\n"
		"  process causeway { run /usr/bin/causeway bgp-helper; encoder json; }\n"
		"  process causeway { run /usr/bin/causeway bgp-helper -s /run/g1.sock -n g1; "
		"encoder json; }\n",
};
