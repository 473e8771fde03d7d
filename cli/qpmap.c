/* qpmap.c - causeway qpmap: which queue pair sends to which, learned from a capture; and pairs for
 * a running gateway. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/cnproxy.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/client.h"
#include "cli/cmd.h"

struct options {
	bool json, all, counters, add, remove, help;
	struct cw_qpmap_opts map;
	const char *file, *socket;
	char **pair; /* of add and remove */
};

static int parse_pair(int argc, char **argv, struct options *o)
{
	if (o->add && o->remove)
		return cmd_usage(&cmd_qpmap, "--add or --remove, not both");
	if (argc - optind != (o->add ? 4 : 3))
		return cmd_usage(&cmd_qpmap,
				 o->add ? "--add takes SENDER RECEIVER DEST-QP SOURCE-QP"
					: "--remove takes SENDER RECEIVER DEST-QP");
	o->pair = argv + optind;
	return EXIT_DONE;
}

static const struct option options[] = {
	{"add", no_argument, NULL, 'A'},
	{"all", no_argument, NULL, 'a'},
	{"counters", no_argument, NULL, 'c'},
	{"json", no_argument, NULL, 'j'},
	{"pairs", required_argument, NULL, 'p'},
	{"ratio", required_argument, NULL, 'r'},
	{"remove", no_argument, NULL, 'R'},
	{"socket", required_argument, NULL, 's'},
	{"votes", required_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int set_number(struct options *o, int opt, const char *arg)
{
	uint64_t n = 0;
	int err;

	if (opt == 'p') {
		err = args_number(&cmd_qpmap, "--pairs", arg, 1, 1 << 28, &n);
		o->map.pairs = (uint32_t)n;
	} else if (opt == 'r') {
		err = args_number(&cmd_qpmap, "--ratio", arg, 1, 64, &n);
		o->map.ratio = (unsigned)n;
	} else {
		err = args_number(&cmd_qpmap, "--votes", arg, 1, 64, &n);
		o->map.min_votes = (unsigned)n;
	}
	return err;
}

static int set_option(struct options *o, int opt, const char *arg)
{
	if (opt == 'A')
		o->add = true;
	else if (opt == 'R')
		o->remove = true;
	else if (opt == 's')
		o->socket = arg;
	else if (opt == 'a')
		o->all = true;
	else if (opt == 'c')
		o->counters = true;
	else if (opt == 'j')
		o->json = true;
	else if (opt == 'h')
		o->help = true;
	else
		return set_number(o, opt, arg);
	return EXIT_DONE;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	int opt, err;

	cw_qpmap_opts_init(&o->map);
	o->map.pairs = 1000000;
	o->map.requests = 1 << 20;
	o->map.idle_ns = 0; /* a capture is looked at as a whole */
	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":acjs:h", options, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_qpmap, argv, opt);
		if ((err = set_option(o, opt, optarg)) != EXIT_DONE)
			return err;
	}
	if (o->help)
		return EXIT_DONE;
	if (o->add || o->remove)
		return parse_pair(argc, argv, o);
	if (optind != argc - 1)
		return cmd_usage(&cmd_qpmap,
				 optind < argc ? "one capture at a time" : "no capture given");
	o->file = argv[optind];
	return EXIT_DONE;
}

/* ---- Learning ----------------------------------------------------------------------------- */

/* The innermost VLAN in front of layer `ip`. */
static uint16_t vlan_of(const struct cw_packet *p, const struct cap_packet *c, int ip)
{
	unsigned vid = 0;
	int at = -1;

	while ((at = cw_packet_find(p, &cw_hdr_vlan, (unsigned)(at + 1))) >= 0 && at < ip)
		vid = cw_vlan_vid(c->data + p->layers[at].off);
	return (uint16_t)(CW_VLAN_SEEN | vid);
}

static void learn(struct cw_qpmap *m, const struct cap_packet *c)
{
	static const struct cw_dissect_opts opts = {.no_icrc = true};
	struct cw_qp_seen seen;
	struct cw_packet p;
	uint32_t off;
	int at;

	if (!cap_link_known(c->link))
		return;
	(void)cw_dissect(&p, (enum cw_link)c->link, c->data, c->caplen, &opts);
	at = cw_packet_find(&p, &cw_hdr_ipv4, 0);
	if (at < 0)
		at = cw_packet_find(&p, &cw_hdr_ipv6, 0);
	if (at < 0)
		return;
	off = p.layers[at].off;
	seen = (struct cw_qp_seen){.ip = c->data + off,
				   .len = c->caplen - off,
				   .wire = c->len - off,
				   .now = c->time_ns,
				   .vlan = vlan_of(&p, c, at)};
	cw_qpmap_learn(m, &seen, 1);
}

static int read_file(struct cw_qpmap *m, const char *path)
{
	struct cap_reader *r;
	struct cap_packet c;
	char err[CAP_ERROR_MAX];
	int n;

	if (cap_open(&r, path, err) < 0) {
		fprintf(stderr, "causeway qpmap: %s\n", err);
		return EXIT_USAGE;
	}
	while ((n = cap_next(r, &c)) == 1)
		learn(m, &c);
	if (n < 0)
		fprintf(stderr, "causeway qpmap: %s\n", cap_error(r));
	cap_close(r);
	return n < 0 ? EXIT_DATA : EXIT_DONE;
}

/* ---- Printing ----------------------------------------------------------------------------- */

static void addr_text(const struct cw_gid *a, char buf[CW_ADDR_TEXT])
{
	if (cw_gid_is_v4(a))
		cw_ip4_format(a->o + 12, buf);
	else
		cw_ip6_format(a->o, buf);
}

static const char *state_of(const struct cw_qp_pair *p)
{
	if (p->decided)
		return "sure";
	return p->closed ? "closed" : "undecided";
}

/* What the source port says, as far as it says anything. */
static const char *port_of(const struct cw_qp_pair *p)
{
	if (p->linux_port)
		return "both-qpns";
	return p->qpn_port ? "own-qpn" : "other";
}

static void print_text(const struct cw_qp_pair *p)
{
	char sender[CW_ADDR_TEXT], receiver[CW_ADDR_TEXT], qpn[16] = "?";

	addr_text(&p->sender, sender);
	addr_text(&p->receiver, receiver);
	if (p->how != CW_QP_NONE)
		snprintf(qpn, sizeof(qpn), "0x%06x", p->sqpn);
	printf("%-24s %-9s %-24s 0x%06x  %-6s %-9s %5u %6u  %s\n", sender, qpn, receiver, p->dqpn,
	       cw_qp_how_name(p->how), state_of(p), p->votes, p->rivals,
	       p->sport_known ? port_of(p) : "-");
}

static void print_json(const struct cw_qp_pair *p)
{
	char sender[CW_ADDR_TEXT], receiver[CW_ADDR_TEXT];

	addr_text(&p->sender, sender);
	addr_text(&p->receiver, receiver);
	printf("{\"sender\":\"%s\",\"receiver\":\"%s\",\"dqpn\":%u", sender, receiver, p->dqpn);
	if (p->how != CW_QP_NONE)
		printf(",\"sqpn\":%u", p->sqpn);
	printf(",\"how\":\"%s\",\"state\":\"%s\",\"votes\":%u,\"rivals\":%u",
	       cw_qp_how_name(p->how), state_of(p), p->votes, p->rivals);
	if (p->pkey_known)
		printf(",\"pkey\":%u", p->pkey);
	if (p->sport_known)
		printf(",\"sport\":%u,\"port\":\"%s\"", p->sport, port_of(p));
	if (p->vlan != 0)
		printf(",\"vlan\":%u", p->vlan & CW_VLAN_VID);
	fputs("}\n", stdout);
}

static int compare(const void *a, const void *b)
{
	const struct cw_qp_pair *p = a, *q = b;
	int d = memcmp(&p->sender, &q->sender, sizeof(p->sender));

	if (d == 0)
		d = memcmp(&p->receiver, &q->receiver, sizeof(p->receiver));
	if (d == 0)
		d = p->dqpn < q->dqpn ? -1 : p->dqpn > q->dqpn;
	return d;
}

static void print_counters(const struct cw_qpmap *m, bool json)
{
	unsigned i;

	if (json)
		fputs("{\"counters\":{", stdout);
	else
		putchar('\n');
	for (i = 0; i < CW_QPMAP_COUNTER_COUNT; i++) {
		if (json)
			printf("%s\"%s\":%" PRIu64, i > 0 ? "," : "", cw_qpmap_counter_name(i),
			       cw_qpmap_counter(m, i));
		else if (cw_qpmap_counter(m, i) != 0)
			printf("%12" PRIu64 "  %-14s %s\n", cw_qpmap_counter(m, i),
			       cw_qpmap_counter_name(i), cw_qpmap_counter_text(i));
	}
	if (json)
		fputs("}}\n", stdout);
}

static int print(const struct cw_qpmap *m, const struct options *o)
{
	struct cw_qp_pair *pairs = calloc(cw_qpmap_count(m) + 1, sizeof(*pairs));
	uint32_t at = 0, n = 0, i, sure = 0;

	if (pairs == NULL) {
		fprintf(stderr, "causeway qpmap: %s\n", cw_strerror(CW_E_NOMEM));
		return EXIT_USAGE;
	}
	while (cw_qpmap_next(m, &at, &pairs[n]))
		n++;
	qsort(pairs, n, sizeof(*pairs), compare);
	if (!o->json)
		printf("%-24s %-9s %-24s %-9s %-6s %-9s %5s %6s  %s\n", "sender", "source-qp",
		       "receiver", "dest-qp", "how", "state", "votes", "rivals", "port");
	for (i = 0; i < n; i++) {
		sure += pairs[i].decided;
		if (!o->all && !pairs[i].decided && !pairs[i].closed)
			continue;
		if (o->json)
			print_json(&pairs[i]);
		else
			print_text(&pairs[i]);
	}
	if (!o->json)
		printf("%u of %u flows have a sure source queue pair\n", sure, n);
	if (o->counters)
		print_counters(m, o->json);
	free(pairs);
	if (cw_qpmap_counter(m, CW_QPMAP_PACKETS) == 0)
		fputs("causeway qpmap: 0 RoCEv2 packets; offloaded RDMA traffic does not show in "
		      "an "
		      "ordinary capture\n",
		      stderr);
	return EXIT_DONE;
}

/* ---- A running gateway -------------------------------------------------------------------- */

static int change_pair(const struct options *o)
{
	uint64_t dqpn = 0, sqpn = 0;
	struct client c;
	json_t *request, *data;
	int err;

	if ((err = args_number(&cmd_qpmap, "DEST-QP", o->pair[2], 1, 0xffffff, &dqpn)) != EXIT_DONE)
		return err;
	if (o->add && (err = args_number(&cmd_qpmap, "SOURCE-QP", o->pair[3], 1, 0xffffff,
					 &sqpn)) != EXIT_DONE)
		return err;
	request = json_pack("{s:s, s:s, s:s, s:I}", "cmd", o->add ? "qpmap-add" : "qpmap-remove",
			    "sender", o->pair[0], "receiver", o->pair[1], "destination_qp",
			    (json_int_t)dqpn);
	if (o->add)
		json_object_set_new(request, "source_qp", json_integer((json_int_t)sqpn));
	if ((err = client_open(&c, &cmd_qpmap, o->socket)) != EXIT_DONE) {
		json_decref(request);
		return err;
	}
	c.json = o->json;
	if ((err = client_ask(&c, request, &data)) == EXIT_DONE)
		json_decref(data);
	client_close(&c);
	return err;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	struct cw_qpmap *m;
	int err, code;

	if ((code = parse_options(argc, argv, &o)) != EXIT_DONE)
		return code;
	if (o.help) {
		(void)fputs(cmd_qpmap.help, stdout);
		return EXIT_DONE;
	}
	if (o.pair != NULL)
		return change_pair(&o);
	if ((err = cw_qpmap_new(&m, &o.map)) < 0) {
		fprintf(stderr, "causeway qpmap: %s\n", cw_strerror(err));
		return EXIT_USAGE;
	}
	code = read_file(m, o.file);
	if (code != EXIT_USAGE && print(m, &o) != EXIT_DONE)
		code = EXIT_USAGE;
	cw_qpmap_free(m);
	return code;
}

const struct cmd cmd_qpmap = {
	.name = "qpmap",
	.run = run,
	.brief = "learn RoCEv2 queue pairs from a capture",
	.help = "usage: causeway qpmap [OPTIONS] FILE\n"
		"       causeway qpmap [-s SOCKET] --add SENDER RECEIVER DEST-QP SOURCE-QP\n"
		"       causeway qpmap [-s SOCKET] --remove SENDER RECEIVER DEST-QP\n\n"
		"Reads a capture (pcap or pcapng, - for the standard input) and prints which "
		"queue pair\n"
		"sends to which: a RoCEv2 packet names its destination only. Packets may be cut "
		"behind\n"
		"their headers, but CM messages have to be whole.\n\n"
		"  -a, --all        undecided flows too\n"
		"  -c, --counters   what was counted while learning\n"
		"  -j, --json       one JSON object a line\n"
		"      --pairs N    room for so many pairs, each direction is one (1000000)\n"
		"      --ratio N    votes needed for each vote of a rival (4)\n"
		"      --votes N    votes needed (3)\n"
		"      --add        enter a static pair at a running gateway; what its map holds "
		"is\n"
		"                   told by 'causeway show qpmap'\n"
		"      --remove     remove a pair there\n"
		"  -s, --socket PATH  its control socket; else $CAUSEWAY_SOCKET, else\n"
		"                   /run/causeway/control.sock\n"
		"  -h, --help       this text\n\n"
		"how:   cm (the CM handshake said so), vote (PSN and source port of requests and "
		"answers\n"
		"       agree), none (seen, nothing learned)\n"
		"state: sure, undecided (never used for a notification), closed (by CM)\n"
		"port:  what the UDP source port is made of: both-qpns (Linux), own-qpn, other\n\n"
		"examples:\n"
		"  causeway qpmap roce.pcap\n"
		"  causeway qpmap --all --counters roce.pcap\n"
		"  causeway qpmap -j roce.pcap | jq 'select(.state == \"sure\")'\n\n"
		"exit code: 0 done, 1 the capture is broken or the gateway refused, 2 usage or "
		"I/O\n",
};
