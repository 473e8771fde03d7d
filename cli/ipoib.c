/* ipoib.c - causeway ipoib show: links, groups, neighbours and paths of a gateway's IPoIB ports. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/args.h"
#include "cli/client.h"
#include "cli/table.h"

static const struct {
	const char *name, *what; /* of `show` in the control protocol */
	bool alone;              /* shown only when it is asked for */
} topics[] = {
	{"links", "ipoib-links", false},           {"groups", "ipoib-groups", false},
	{"neighbours", "ipoib-neighbours", false}, {"paths", "ipoib-paths", false},
	{"counters", "ipoib-counters", true},      {"hcas", "hcas", true},
	{"addresses", "ipoib-addresses", true},
};
enum { NTOPICS = sizeof(topics) / sizeof(topics[0]) };

struct options {
	const char *socket, *port, *topic;
	bool json, all;
};

/* Exit code, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'},
		{"all", no_argument, NULL, 'a'},  {"port", required_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
	};
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":js:ap:h", longs, NULL)) != -1) {
		switch (opt) {
		case 'j':
			o->json = true;
			break;
		case 's':
			o->socket = optarg;
			break;
		case 'a':
			o->all = true;
			break;
		case 'p':
			o->port = optarg;
			break;
		case 'h':
			fputs(cmd_ipoib.help, stdout);
			return EXIT_DONE;
		default:
			return args_bad_option(&cmd_ipoib, argv, opt);
		}
	}
	if (optind == argc || strcmp(argv[optind], "show") != 0)
		return cmd_usage(&cmd_ipoib, "what shall be done? There is only 'show'");
	if (argc - optind > 2)
		return cmd_usage(&cmd_ipoib, "one thing at a time: '%s' too?", argv[optind + 2]);
	o->topic = optind + 1 < argc ? argv[optind + 1] : NULL;
	return -1;
}

/* Rows of other ports go. */
static void keep_port(json_t *rows, const char *port)
{
	size_t i = json_array_size(rows);

	while (i-- > 0) {
		const json_t *row = json_array_get(rows, i);
		const char *name = json_string_value(json_object_get(row, "port"));

		if (name == NULL)
			name = json_string_value(json_object_get(row, "of"));
		if (name != NULL && strcmp(name, port) != 0)
			(void)json_array_remove(rows, i);
	}
}

/* Ask for one topic and add its rows to `all`. */
static int ask(struct client *c, const struct options *o, unsigned topic, json_t *all)
{
	json_t *data;
	int rc = client_ask(c, json_pack("{s:s, s:s}", "cmd", "show", "what", topics[topic].what),
			    &data);

	if (rc != 0)
		return rc;
	if (o->port != NULL)
		keep_port(json_object_get(data, topics[topic].name), o->port);
	(void)json_object_update(all, data);
	json_decref(data);
	return 0;
}

static bool wanted(const struct options *o, unsigned topic)
{
	return o->topic == NULL ? !topics[topic].alone : strcmp(o->topic, topics[topic].name) == 0;
}

static int show(const struct options *o)
{
	struct client c = {.json = o->json};
	json_t *all = json_object();
	int rc = client_open(&c, &cmd_ipoib, o->socket);
	unsigned i;

	for (i = 0; i < NTOPICS && rc == 0; i++) {
		if (wanted(o, i))
			rc = ask(&c, o, i, all);
	}
	if (rc == 0 && o->json)
		client_print_json(all);
	else if (rc == 0)
		table_print(stdout, all, o->all);
	client_close(&c);
	json_decref(all);
	return rc;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	int rc = parse_options(argc, argv, &o);
	unsigned i;

	if (rc >= 0)
		return rc;
	for (i = 0; i < NTOPICS && o.topic != NULL; i++) {
		if (strcmp(o.topic, topics[i].name) == 0)
			break;
	}
	if (i == NTOPICS && o.topic != NULL)
		return cmd_usage(&cmd_ipoib,
				 "no such thing: '%s' (links, groups, neighbours, paths, "
				 "addresses, counters, hcas)",
				 o.topic);
	return show(&o);
}

const struct cmd cmd_ipoib = {
	.name = "ipoib",
	.run = run,
	.brief = "show IPoIB links of a running gateway",
	.help = "usage: causeway ipoib show [WHAT] [OPTIONS]\n"
		"\n"
		"Shows the IPoIB links of a running gateway (RFC 4391). WHAT is links (parameters\n"
		"that the broadcast group gave), groups (multicast memberships), neighbours, "
		"paths,\n"
		"addresses (the port's own), counters or hcas; without it the first four.\n"
		"\n"
		"  -p, --port NAME    of this port only\n"
		"  -j, --json         one JSON object\n"
		"  -a, --all          counters that are 0 too\n"
		"  -s, --socket PATH  the gateway's control socket (default: $CAUSEWAY_SOCKET, "
		"then\n"
		"                     /run/causeway/control.sock)\n"
		"  -h, --help\n"
		"\n"
		"examples:\n"
		"  causeway ipoib show\n"
		"  causeway ipoib show groups --port ib0\n"
		"  causeway ipoib show -j links | jq '.links[] | select(.state == \"down\")'\n"
		"\n"
		"exit code: 0 done, 1 the gateway refused, 2 no gateway, or usage\n",
};
