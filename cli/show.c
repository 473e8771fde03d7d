/* show.c - causeway show: what a running gateway knows. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/client.h"
#include "cli/out.h"
#include "cli/table.h"

struct options {
	const char *what, *socket;
	bool json, all, help;
	uint64_t watch, count; /* seconds, rounds; 0 = once, for ever */
	json_t *filter;        /* members of the request */
	uint32_t filters;      /* which of filters[] they are */
};

/* Filters, by their names as the gateway has them, and what each is for. */
static const struct {
	const char *name, *what[6];
} filters[] = {
	{"port", {"ports", "counters", "drops", "neighbours", "routes"}},
	{"to", {"routes"}},
	{"sender", {"qpmap"}},
	{"receiver", {"qpmap"}},
	{"qp", {"qpmap"}},
	{"how", {"qpmap"}},
	{"state", {"qpmap"}},
};
enum { NFILTERS = sizeof(filters) / sizeof(filters[0]) };

static bool fits(unsigned filter, const char *what)
{
	const char *const *w;

	for (w = filters[filter].what; *w != NULL; w++) {
		if (strcmp(*w, what) == 0)
			return true;
	}
	return false;
}

static int check_filters(const struct options *o)
{
	unsigned i;

	for (i = 0; i < NFILTERS; i++) {
		if ((o->filters & 1u << i) != 0 && !fits(i, o->what))
			return cmd_usage(&cmd_show, "there is no --%s of %s", filters[i].name,
					 o->what);
	}
	return EXIT_DONE;
}

static int add_filter(struct options *o, const char *name, const char *value)
{
	uint64_t n;
	unsigned i;
	int err;

	for (i = 0; i < NFILTERS; i++)
		o->filters |= strcmp(filters[i].name, name) == 0 ? 1u << i : 0;
	if (o->filter == NULL)
		o->filter = json_object();
	if (strcmp(name, "qp") != 0) {
		json_object_set_new(o->filter, name, json_string(value));
		return 0;
	}
	if ((err = args_number(&cmd_show, "--qp", value, 1, 0xffffff, &n)) == 0)
		json_object_set_new(o->filter, name, json_integer((json_int_t)n));
	return err;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"socket", required_argument, NULL, 's'},
		{"all", no_argument, NULL, 'a'},
		{"watch", required_argument, NULL, 'w'},
		{"count", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{"port", required_argument, NULL, 'F'},
		{"to", required_argument, NULL, 'F'},
		{"sender", required_argument, NULL, 'F'},
		{"receiver", required_argument, NULL, 'F'},
		{"qp", required_argument, NULL, 'F'},
		{"how", required_argument, NULL, 'F'},
		{"state", required_argument, NULL, 'F'},
		{NULL, 0, NULL, 0},
	};
	int opt, err = 0, at = 0;

	optind = 1;
	opterr = 0;
	while (err == 0 && (opt = getopt_long(argc, argv, ":js:aw:n:h", longs, &at)) != -1) {
		if (opt == 'F')
			err = add_filter(o, longs[at].name, optarg);
		else if (opt == 'j')
			o->json = true;
		else if (opt == 's')
			o->socket = optarg;
		else if (opt == 'a')
			o->all = true;
		else if (opt == 'w')
			err = args_number(&cmd_show, "--watch", optarg, 1, 86400, &o->watch);
		else if (opt == 'n')
			err = args_number(&cmd_show, "--count", optarg, 1, UINT32_MAX, &o->count);
		else if (opt == 'h')
			o->help = true;
		else
			return args_bad_option(&cmd_show, argv, opt);
	}
	if (optind < argc)
		o->what = argv[optind++];
	if (err == 0 && optind < argc && strcmp(o->what, "routes") == 0)
		err = add_filter(o, "to", argv[optind++]);
	if (err == 0 && optind < argc)
		return cmd_usage(&cmd_show, "one thing at a time: '%s' too?", argv[optind]);
	return err != 0 ? err : check_filters(o);
}

static json_t *request(const struct options *o)
{
	json_t *r = json_pack("{s:s, s:s}", "cmd", "show", "what", o->what);

	if (o->filter != NULL)
		json_object_update(r, o->filter);
	return r;
}

static void print(const struct options *o, const json_t *data)
{
	if (o->json) {
		client_print_json(data);
	} else if (strcmp(o->what, "config") == 0) {
		(void)json_dumpf(data, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		(void)putchar('\n');
	} else {
		table_print(stdout, data, o->all);
	}
}

/* An answer with a cursor is a part: the next one begins there. */
static int ask_all(const struct options *o, struct client *c)
{
	json_t *data, *cursor = NULL, *r;
	int err;

	do {
		r = request(o);
		if (cursor != NULL)
			json_object_set_new(r, "cursor", cursor);
		if ((err = client_ask(c, r, &data)) != EXIT_DONE)
			return err;
		cursor = json_incref(json_object_get(data, "cursor"));
		if (!o->json)
			json_object_del(data, "cursor");
		print(o, data);
		json_decref(data);
		err = out_finish(stdout, "show", EXIT_DONE);
	} while (cursor != NULL && err == EXIT_DONE);
	json_decref(cursor);
	return err;
}

static double seconds_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_head(const struct options *o)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;

	if (o->json)
		return;
	(void)strftime(when, sizeof(when), "%F %T", localtime_r(&now, &tm));
	if (out_colour(stdout))
		(void)fputs("\033[H\033[2J", stdout);
	printf("%s, every %u s\n", when, (unsigned)o->watch);
}

static bool has_rates(const struct options *o)
{
	return !o->json && (strcmp(o->what, "counters") == 0 || strcmp(o->what, "drops") == 0);
}

/* Counters as rates between one round and the next, everything else as it is. */
static int watch(const struct options *o, struct client *c)
{
	bool rates = has_rates(o);
	json_t *old = NULL, *data;
	double then = 0, now;
	uint64_t round;
	int err = EXIT_DONE;

	for (round = 0; err == EXIT_DONE && (o->count == 0 || round < o->count + rates); round++) {
		if (round > 0)
			(void)sleep((unsigned)o->watch);
		if ((err = client_ask(c, request(o), &data)) != EXIT_DONE)
			break;
		now = seconds_now();
		if (!rates || old != NULL)
			print_head(o);
		if (rates && old != NULL)
			table_print_rates(stdout, old, data, now - then);
		else if (!rates)
			print(o, data);
		err = out_finish(stdout, "show", EXIT_DONE);
		json_decref(old);
		old = data;
		then = now;
	}
	json_decref(old);
	return err;
}

static int show(const struct options *o)
{
	struct client c;
	int err;

	if (o->help) {
		(void)fputs(cmd_show.help, stdout);
		return EXIT_DONE;
	}
	if ((err = client_open(&c, &cmd_show, o->socket)) != EXIT_DONE)
		return err;
	c.json = o->json;
	err = o->watch > 0 ? watch(o, &c) : ask_all(o, &c);
	client_close(&c);
	return err;
}

static int run(int argc, char **argv)
{
	struct options o = {.what = "summary"};
	int err = parse_options(argc, argv, &o);

	if (err == EXIT_DONE)
		err = show(&o);
	json_decref(o.filter);
	return err;
}

const struct cmd cmd_show = {
	.name = "show",
	.run = run,
	.brief = "what a running gateway knows: ports, counters, drops ...",
	.help = "usage: causeway show [OPTIONS] [WHAT]\n\n"
		"Ask a running gateway. WHAT is\n"
		"  summary     totals, version, generation of the configuration (the default)\n"
		"  ports       devices, addresses, link state, losses in the device\n"
		"  counters    packets, octets, drops and events of each port\n"
		"  drops       every reason for which a packet was dropped, with its text\n"
		"  neighbours  next hops: static, ARP, neighbour discovery\n"
		"  routes      prefixes and where they lead\n"
		"  proxies     which proxy stands in front of which traffic senders\n"
		"  proxy-sources  who tells of proxies, with counters, without the proxies\n"
		"  congestion  shaped queues, and messages to proxies\n"
		"  bmp         routers that bring their BGP routes by BMP\n"
		"  isis        adjacency, counters and database of the IS-IS leaf\n"
		"  ospf3       adjacency, counters and database of the OSPFv3 leaf\n"
		"  notifications  what became of congestion messages, and what was learned\n"
		"  qpmap       queue pairs: how each was learned, and how sure it is\n"
		"  config      the effective configuration\n"
		"  workers     forwarding threads\n"
		"  memory      packet buffers\n"
		"  hcas        carriers of IPoIB links; see also causeway ipoib\n\n"
		"  -j, --json           the gateway's answer as JSON, a line each\n"
		"  -a, --all            reasons that never occurred too\n"
		"  -s, --socket PATH    control socket; else $CAUSEWAY_SOCKET, else\n"
		"                       /run/causeway/control.sock\n"
		"  -w, --watch SECONDS  again and again; of counters and drops the rates\n"
		"  -n, --count ROUNDS   end after so many\n"
		"  -h, --help           this text\n"
		"      --port NAME      only what is about this port: of ports, counters,\n"
		"                       drops, neighbours, routes\n"
		"      --to ADDR|PREFIX of routes the one that packets to ADDR take, or those\n"
		"                       within PREFIX; --to can be left out\n\n"
		"of qpmap, only the pairs that\n"
		"  --sender PREFIX               have such a sender\n"
		"  --receiver PREFIX             have such a receiver\n"
		"  --qp QPN                      have that queue pair at either end\n"
		"  --how none|vote|cm|static     were learned so\n"
		"  --state sure|undecided|closed are so\n\n"
		"exit code: 0 done, 1 the gateway refused, 2 usage, or no gateway\n\n"
		"examples:\n"
		"  causeway show counters --watch 1\n"
		"  causeway show drops --watch 2 --count 5\n"
		"  causeway show routes 10.2.3.4\n"
		"  causeway show neighbours --port eth0\n"
		"  causeway show qpmap --sender 10.0.1.0/24 --state undecided\n"
		"  causeway show -j drops | jq '.drops[] | select(.packets > 0)'\n",
};
