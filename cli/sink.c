/* sink.c - causeway sink: receive what `causeway gen` sent, and check every packet. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/sink.h"

#define MS 1000000u /* in nanoseconds */

/* ---- Receiving ---------------------------------------------------------------------------- */

static void show_wrong(struct sink *s, const struct traffic_verdict *v)
{
	unsigned check;

	if (s->shown >= s->verbose || v->desc.fault != 0)
		return;
	s->shown++;
	if (v->kind == TRAFFIC_READABLE)
		fprintf(stderr, "packet %" PRIu64 " of run 0x%08x, flow %u: ", v->desc.seq,
			v->desc.run, v->desc.flow);
	else
		fprintf(stderr, "packet %" PRIu64 " received: ", s->tally.packets);
	fprintf(stderr, "%s: %s", traffic_check_name(v->first), v->reason);
	for (check = 0; check < TRAFFIC_CHECK_COUNT; check++) {
		if (check != v->first && v->wrong >> check & 1)
			fprintf(stderr, "; %s is wrong too", traffic_check_name(check));
	}
	fputc('\n', stderr);
}

static int take(struct sink *s, enum cw_link link, const uint8_t *data, size_t len, uint64_t t)
{
	struct traffic_verdict v;
	int err;

	traffic_check(&s->expect, link, data, len, &v);
	if ((err = traffic_count(&s->tally, &v, len)) == CW_E_NOMEM)
		return err;
	if (v.kind == TRAFFIC_FOREIGN)
		return CW_OK;
	if (s->first_ns == 0)
		s->first_ns = t;
	s->last_ns = t;
	if (v.wrong != 0)
		show_wrong(s, &v);
	return CW_OK;
}

/* Has every good packet of every awaited run come? */
static bool complete(const struct sink *s)
{
	const struct traffic_run *r;
	unsigned i;

	if (s->tally.nruns < s->runs)
		return false;
	for (i = 0; i < s->tally.nruns; i++) {
		r = s->tally.runs[i];
		if (r->total == 0 && s->count == 0)
			return false;
		if (r->distinct < traffic_run_expected(r, s->count))
			return false;
	}
	return true;
}

/* What the clock says about going on: milliseconds to wait, 0 to stop. */
static int patience(const struct sink *s, uint64_t start, uint64_t last)
{
	uint64_t now = clock_now_ns(), until = UINT64_MAX, end;

	if (s->timeout_ms != 0)
		until = start + s->timeout_ms * MS;
	end = last + (complete(s) ? s->linger_ms : s->idle_ms) * MS;
	if (last != 0 && end < until)
		until = end;
	if (until <= now)
		return 0;
	end = (until - now) / MS + 1;
	return end > 100 ? 100 : (int)end;
}

static int receive(struct sink *s)
{
	uint64_t start = clock_now_ns(), last = 0, before;
	struct link_packet p;
	int wait, got;

	while (!interrupted() && (wait = patience(s, start, last)) > 0) {
		while ((got = link_rx_next(s->rx, &p, wait)) == 1) {
			before = s->tally.foreign;
			if (take(s, CW_LINK_ETHERNET, p.data, p.len, p.time_ns) < 0) {
				fputs("causeway sink: out of memory\n", stderr);
				return -1;
			}
			/* Foreign traffic keeps nobody waiting. */
			if (s->tally.foreign == before && s->tally.packets % 64 == 0)
				last = clock_now_ns();
			if (s->tally.packets % 4096 == 0 &&
			    (interrupted() || patience(s, start, last) == 0))
				break;
		}
		if (got < 0 && errno != EINTR) {
			fprintf(stderr, "causeway sink: %s: %s\n", s->ifname, strerror(errno));
			return -1;
		}
		if (s->first_ns != 0 && last == 0)
			last = clock_now_ns();
	}
	s->kernel_drops = link_rx_drops(s->rx);
	return 0;
}

static int read_file(struct sink *s)
{
	struct cap_packet p;
	int got = 0;

	while (!interrupted() && (got = cap_next(s->reader, &p)) == 1) {
		if (take(s, (enum cw_link)p.link, p.data, p.caplen, p.time_ns) < 0) {
			fputs("causeway sink: out of memory\n", stderr);
			return -1;
		}
	}
	if (got < 0 && !interrupted())
		fprintf(stderr, "causeway sink: %s\n", cap_error(s->reader));
	return got < 0 && !interrupted() ? -1 : 0;
}

/* ---- Options ------------------------------------------------------------------------------ */

enum {
	OPT_COUNT = 256,
	OPT_RUNS,
	OPT_TIMEOUT,
	OPT_IDLE,
	OPT_LINGER,
	OPT_BUFFER,
	OPT_GATEWAYS,
	OPT_HOPS,
	OPT_CC,
	OPT_MARKED,
	OPT_NPI,
	OPT_UNTAGGED,
	OPT_DSCP,
	OPT_RT,
	OPT_VL,
	OPT_PCP,
	OPT_UB_PORT,
	OPT_ICRC_ORDER,
	OPT_ALLOW_FAULTS,
	OPT_ALLOW_REORDER,
	OPT_ALLOW_DAMAGED,
	OPT_FLOWS,
};

static const struct option options[] = {
	{"count", required_argument, NULL, OPT_COUNT},
	{"runs", required_argument, NULL, OPT_RUNS},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"idle", required_argument, NULL, OPT_IDLE},
	{"linger", required_argument, NULL, OPT_LINGER},
	{"buffer", required_argument, NULL, OPT_BUFFER},
	{"gateways", required_argument, NULL, OPT_GATEWAYS},
	{"hops", required_argument, NULL, OPT_HOPS},
	{"expect-cc", required_argument, NULL, OPT_CC},
	{"marked", required_argument, NULL, OPT_MARKED},
	{"expect-npi", required_argument, NULL, OPT_NPI},
	{"untagged-npi", required_argument, NULL, OPT_UNTAGGED},
	{"expect-dscp", required_argument, NULL, OPT_DSCP},
	{"expect-rt", required_argument, NULL, OPT_RT},
	{"expect-vl", required_argument, NULL, OPT_VL},
	{"expect-pcp", required_argument, NULL, OPT_PCP},
	{"ub-port", required_argument, NULL, OPT_UB_PORT},
	{"icrc-order", required_argument, NULL, OPT_ICRC_ORDER},
	{"allow-faults", required_argument, NULL, OPT_ALLOW_FAULTS},
	{"allow-reorder", no_argument, NULL, OPT_ALLOW_REORDER},
	{"allow-damaged", no_argument, NULL, OPT_ALLOW_DAMAGED},
	{"flows", no_argument, NULL, OPT_FLOWS},
	{"verbose", no_argument, NULL, 'v'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Seconds, with a fraction, to milliseconds. */
static int seconds(const char *option, const char *text, uint64_t *ms)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end != '\0' || !(v >= 0 && v <= 1e6))
		return cmd_usage(&cmd_sink, "%s: '%s' is not a time in seconds", option, text);
	*ms = (uint64_t)(v * 1000 + 0.5);
	return 0;
}

/* A number up to max, or "any". */
static int number_or_any(const char *option, const char *text, uint64_t max, int *out)
{
	uint64_t v;

	if (strcmp(text, "any") == 0) {
		*out = TRAFFIC_ANY;
		return 0;
	}
	if (args_number(&cmd_sink, option, text, 0, max, &v) != 0)
		return EXIT_USAGE;
	*out = (int)v;
	return 0;
}

static int rule(struct sink *s, const char *option, const char *text,
		int (*parse)(struct traffic_expect *e, const char *text))
{
	int err = parse(&s->expect, text);

	return err < 0 ? cmd_usage(&cmd_sink, "%s: '%s': %s", option, text, cw_strerror(err)) : 0;
}

static int allow_faults(struct sink *s, const char *list)
{
	char *text = strdup(list), *item, *save;
	int kind, rc = 0;

	if (text == NULL)
		return cmd_usage(&cmd_sink, "out of memory");
	for (item = strtok_r(text, ",", &save); item != NULL && rc == 0;
	     item = strtok_r(NULL, ",", &save)) {
		if (strcmp(item, "all") == 0)
			memset(s->allow_fault, true, sizeof(s->allow_fault));
		else if ((kind = traffic_fault_find(item)) >= 0)
			s->allow_fault[kind + 1] = true;
		else
			rc = cmd_usage(&cmd_sink, "--allow-faults: no kind '%s'", item);
	}
	free(text);
	return rc;
}

/* How the run ends. -1: not one of these options. */
static int set_run_option(struct sink *s, int opt, const char *arg)
{
	switch (opt) {
	case OPT_COUNT:
		return args_number(&cmd_sink, "--count", arg, 1, UINT32_MAX, &s->count);
	case OPT_RUNS:
		return args_number(&cmd_sink, "--runs", arg, 1, 1024, &s->runs);
	case OPT_TIMEOUT:
		return seconds("--timeout", arg, &s->timeout_ms);
	case OPT_IDLE:
		return seconds("--idle", arg, &s->idle_ms);
	case OPT_LINGER:
		return seconds("--linger", arg, &s->linger_ms);
	case OPT_BUFFER:
		return args_number(&cmd_sink, "--buffer", arg, 1, 4096, &s->buffer_mb);
	default:
		return -1;
	}
}

/* What to expect. -1: not one of these options. */
static int set_rule(struct sink *s, int opt, const char *arg)
{
	struct traffic_expect *e = &s->expect;
	uint64_t v;
	int rc;

	switch (opt) {
	case OPT_GATEWAYS:
		return number_or_any("--gateways", arg, 2, &e->gateways);
	case OPT_HOPS:
		return number_or_any("--hops", arg, 255, &e->hops);
	case OPT_CC:
		return rule(s, "--expect-cc", arg, traffic_expect_cc);
	case OPT_MARKED:
		return rule(s, "--marked", arg, traffic_expect_marking);
	case OPT_NPI:
		return rule(s, "--expect-npi", arg, traffic_expect_partition);
	case OPT_DSCP:
		return rule(s, "--expect-dscp", arg, traffic_expect_dscp);
	case OPT_RT:
		return number_or_any("--expect-rt", arg, 3, &e->rt);
	case OPT_VL:
		return number_or_any("--expect-vl", arg, 15, &e->vl);
	case OPT_PCP:
		return number_or_any("--expect-pcp", arg, 7, &e->pcp);
	case OPT_UNTAGGED:
		rc = args_number(&cmd_sink, "--untagged-npi", arg, 0, 0xffffff, &v);
		e->untagged_npi = rc == 0 ? (uint32_t)v : 0;
		return rc;
	case OPT_UB_PORT:
		rc = args_number(&cmd_sink, "--ub-port", arg, 1, 65535, &v);
		e->dport = rc == 0 ? (uint16_t)v : 0;
		return rc;
	case OPT_ICRC_ORDER:
		return args_icrc_order(&cmd_sink, arg, &e->icrc_order);
	default:
		return -1;
	}
}

static int set_option(struct sink *s, int opt, const char *arg)
{
	int rc;

	if ((rc = set_run_option(s, opt, arg)) >= 0 || (rc = set_rule(s, opt, arg)) >= 0)
		return rc;
	switch (opt) {
	case OPT_ALLOW_FAULTS:
		return allow_faults(s, arg);
	case OPT_ALLOW_REORDER:
		s->allow_reorder = true;
		return 0;
	case OPT_ALLOW_DAMAGED:
		s->allow_damaged = true;
		return 0;
	case OPT_FLOWS:
		s->per_flow = true;
		return 0;
	case 'i':
		s->ifname = arg;
		return 0;
	case 'r':
		s->file = arg;
		return 0;
	case 'v':
		s->verbose = UINT64_MAX;
		return 0;
	default: /* 'j' */
		s->json = true;
		return 0;
	}
}

/* 0 to go on, else an exit code + 1 that ends the command. */
static int read_options(struct sink *s, int argc, char **argv)
{
	int opt, rc;

	optind = 1;
	while ((opt = getopt_long(argc, argv, ":i:r:vjh", options, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_sink, argv, opt) + 1;
		if (opt == 'h') {
			fputs(cmd_sink.help, stdout);
			return EXIT_DONE + 1;
		}
		if ((rc = set_option(s, opt, optarg)) != 0)
			return rc + 1;
	}
	if (optind != argc)
		return cmd_usage(&cmd_sink, "'%s' is too much", argv[optind]) + 1;
	if ((s->ifname == NULL) == (s->file == NULL))
		return cmd_usage(&cmd_sink, "give either -i INTERFACE or -r FILE") + 1;
	return 0;
}

static int collect(struct sink *s)
{
	char err[CAP_ERROR_MAX];
	int rc;

	if (s->file != NULL)
		rc = cap_open(&s->reader, s->file, err);
	else
		rc = link_rx_open(&s->rx, s->ifname, (size_t)s->buffer_mb << 20, err);
	if (rc < 0) {
		fprintf(stderr, "causeway sink: %s\n", err);
		return -1;
	}
	rc = s->file != NULL ? read_file(s) : receive(s);
	if (s->file != NULL)
		cap_close(s->reader);
	else
		link_rx_close(s->rx);
	return rc;
}

static int run(int argc, char **argv)
{
	static struct sink s; /* large, and one a process */
	int rc;

	s = (struct sink){
		.runs = 1, .idle_ms = 3000, .linger_ms = 100, .buffer_mb = 32, .verbose = 10};
	traffic_expect_init(&s.expect);
	if ((rc = read_options(&s, argc, argv)) != 0)
		return rc - 1;
	interrupt_catch();
	if (collect(&s) < 0) {
		traffic_tally_free(&s.tally);
		return EXIT_USAGE;
	}
	sink_report(&s);
	rc = sink_ok(&s) ? EXIT_DONE : EXIT_DATA;
	traffic_tally_free(&s.tally);
	return rc;
}

const struct cmd cmd_sink = {
	.name = "sink",
	.run = run,
	.brief = "receive packets of `causeway gen` and check each of them",
	.help = "usage: causeway sink (-i INTERFACE | -r FILE) [OPTIONS]\n"
		"\n"
		"Receive the packets of `causeway gen`, check each against what was sent and the\n"
		"rules of its way, and report what was lost, duplicated, reordered or changed.\n"
		"It ends when everything that gen announced has come.\n"
		"\n"
		"  -i INTERFACE         receive there (packet socket; needs CAP_NET_RAW)\n"
		"  -r FILE              read a pcap or pcapng file; - is the standard input\n"
		"      --runs N         runs of gen to wait for (1)\n"
		"      --count N        good packets of a run that gen did not announce itself\n"
		"      --timeout S      end after S seconds in any case\n"
		"      --idle S         end when nothing has come for S seconds (3), once\n"
		"                       something has\n"
		"      --linger S       when all has come, wait S seconds for what should not "
		"(0.1)\n"
		"      --buffer MB      receive ring (32)\n"
		"\n"
		"the way (defaults are those of a gateway's configuration):\n"
		"      --gateways N     conversions, 0 to 2 (1 between UB and UBoE, else 0)\n"
		"      --hops N         by how much the TTL is lower, or any (0)\n"
		"      --expect-cc RULE draft, strict, identity, and after that, by commas:\n"
		"                       light=ect, ect=1, ce=light, rtt=fecn\n"
		"      --marked WHICH   routers CE-mark: no, maybe, or sport:MASK/VALUE, exactly\n"
		"                       the ECN-capable packets from these source ports\n"
		"      --expect-npi R   low12, same, or SENT=GOT,... (NPI as ID or ID/low; VLAN)\n"
		"      --untagged-npi N NPI of packets sent untagged (1)\n"
		"      --expect-dscp R  SENT=GOT,... (unchanged)\n"
		"      --expect-rt N    RT behind a gateway, or any (2)\n"
		"      --expect-vl N    virtual lane behind a gateway, or any (0)\n"
		"      --expect-pcp N   PCP behind a gateway, or any (0)\n"
		"      --ub-port N      UDP port of UB (4792)\n"
		"      --icrc-order O   le (default) or be\n"
		"\n"
		"      --allow-faults K kinds of faulty packets that may arrive (gen's kinds, "
		"all)\n"
		"      --allow-reorder  order within a flow may change\n"
		"      --allow-damaged  packets without readable description may arrive\n"
		"      --flows          report each flow\n"
		"  -v, --verbose        show every wrong packet, not just the first ten\n"
		"  -j, --json           report as JSON\n"
		"  -h, --help           this text\n"
		"\n"
		"exit code: 0 everything as it should be, 1 not, 2 usage or I/O\n"
		"\n"
		"examples:\n"
		"  causeway sink -i ub0 --gateways 2 --hops 3\n"
		"  causeway sink -i eth0 --hops 1 --expect-cc strict --timeout 60\n"
		"  causeway sink -r out.pcap -j | jq .runs[].lost\n",
};
