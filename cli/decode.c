/* decode.c - causeway decode: what is in a capture. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "causeway/cut.h"
#include "causeway/pnc.h"
#include "causeway/show.h"
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/filter.h"
#include "cli/interrupt.h"
#include "cli/out.h"

enum { FAMILIES_MAX = 32, ERRORS_MAX = 64, ICRC_STATES = 4 };

struct counted {
	const char *name; /* static */
	uint64_t packets, octets;
};

struct summary {
	uint64_t packets, octets, truncated;
	uint64_t first_ns, last_ns;
	struct counted family[FAMILIES_MAX], verdict[ERRORS_MAX], icrc[ICRC_STATES];
};

enum { PINS = 64 };

struct decode {
	const char *path, *interface; /* one of them */
	bool json, summary, hex, lines, colour, promiscuous;
	int link; /* -1: as the file says */
	uint64_t limit;
	bool started; /* lines: the first packet has been met, at */
	uint64_t start_ns;
	struct cw_dissect_opts opts;
	struct cw_pin_4792 pins[PINS];
	struct filter *filter;
	struct summary sum;
	bool wrong; /* something in the data was */
	bool show_progress;
	time_t progress_at;
};

/* ---- One packet --------------------------------------------------------------------------- */

static void print_json(const struct cap_packet *c, const struct cw_packet *p)
{
	char time[OUT_TIME_TEXT], link[CAP_LINK_TEXT];
	struct cw_sink sink = out_sink(stdout);

	out_time(c->time_ns, time);
	printf("{\"number\":%" PRIu64 ",\"time\":\"%s\",\"link\":\"%s\",\"length\":%u,", c->number,
	       time, cap_link_name(c->link, link), c->len);
	if (c->caplen < c->len)
		printf("\"captured\":%u,", c->caplen);
	if (c->comment != NULL) {
		fputs("\"comment\":", stdout);
		out_json_string(stdout, c->comment);
		putchar(',');
	}
	cw_show_json(p, &sink);
	fputs("}\n", stdout);
}

static void print_hex(const uint8_t *p, uint32_t len)
{
	uint32_t at, i;

	for (at = 0; at < len; at += 16) {
		printf("  %06x ", at);
		for (i = at; i < at + 16; i++) {
			if (i < len)
				printf(" %02x", p[i]);
			else
				fputs("   ", stdout);
		}
		fputs("  ", stdout);
		for (i = at; i < at + 16 && i < len; i++)
			putchar(p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '.');
		putchar('\n');
	}
}

static void print_text(const struct decode *d, const struct cap_packet *c,
		       const struct cw_packet *p)
{
	char date[OUT_TIME_TEXT], link[CAP_LINK_TEXT];
	struct out_painter painter;
	struct cw_sink sink = d->colour ? out_painter_sink(&painter, stdout) : out_sink(stdout);

	out_date(c->time_ns, date);
	printf("packet %" PRIu64 ", %s, %s, %u octets, %s", c->number, date,
	       cap_link_name(c->link, link), c->len, p->family);
	if (c->caplen < c->len)
		printf(", only %u captured", c->caplen);
	putchar('\n');
	if (c->comment != NULL)
		printf("  # %s\n", c->comment);
	cw_show_text(p, &sink);
	if (d->hex)
		print_hex(c->data, c->caplen);
	putchar('\n');
}

/* As tshark lists packets: number, seconds since the first one, ends, family, octets, contents. */
static void print_line(struct decode *d, const struct cap_packet *c, const struct cw_packet *p)
{
	bool bad = p->verdict != CW_OK || p->icrc.status == CW_ICRC_BAD;
	struct cw_sink sink = out_sink(stdout);
	uint64_t since;

	if (!d->started) {
		d->started = true;
		d->start_ns = c->time_ns;
	}
	since = c->time_ns - d->start_ns;
	printf("%s%6" PRIu64 " %5" PRIu64 ".%06u  ", d->colour && bad ? OUT_RED : "", c->number,
	       since / 1000000000u, (unsigned)(since % 1000000000u / 1000));
	cw_show_ends(p, &sink);
	printf("  %s %u  ", p->family, c->len);
	cw_show_line(p, 0, &sink);
	printf("%s%s%s%s\n", c->caplen < c->len ? ", cut" : "", c->comment != NULL ? "  # " : "",
	       c->comment != NULL ? c->comment : "", d->colour && bad ? OUT_PLAIN : "");
}

/* ---- Summary ------------------------------------------------------------------------------ */

/* Count under a static name; the tables are larger than the lists that the names come from, and
 * what would not fit joins the last row. */
static void count(struct counted *rows, unsigned n, const char *name, uint32_t octets)
{
	unsigned i = 0;

	while (i < n - 1 && rows[i].name != NULL && strcmp(rows[i].name, name) != 0)
		i++;
	rows[i].name = name;
	rows[i].packets++;
	rows[i].octets += octets;
}

static void add_to_summary(struct summary *s, const struct cap_packet *c, const struct cw_packet *p)
{
	if (s->packets == 0 || c->time_ns < s->first_ns)
		s->first_ns = c->time_ns;
	if (c->time_ns > s->last_ns)
		s->last_ns = c->time_ns;
	s->packets++;
	s->octets += c->len;
	s->truncated += c->caplen < c->len;
	count(s->family, FAMILIES_MAX, p->family, c->len);
	count(s->verdict, ERRORS_MAX, cw_err_name(p->verdict), c->len);
	count(s->icrc, ICRC_STATES, cw_icrc_status_name(p->icrc.status), c->len);
}

static void json_rows(const char *title, const struct counted *rows, unsigned n)
{
	unsigned i;

	printf(",\"%s\":{", title);
	for (i = 0; i < n && rows[i].name != NULL; i++)
		printf("%s\"%s\":{\"packets\":%" PRIu64 ",\"octets\":%" PRIu64 "}",
		       i > 0 ? "," : "", rows[i].name, rows[i].packets, rows[i].octets);
	putchar('}');
}

static void json_summary(const struct summary *s)
{
	char first[OUT_TIME_TEXT], last[OUT_TIME_TEXT];

	printf("{\"packets\":%" PRIu64 ",\"octets\":%" PRIu64 ",\"truncated\":%" PRIu64, s->packets,
	       s->octets, s->truncated);
	if (s->packets > 0) {
		out_time(s->first_ns, first);
		out_time(s->last_ns, last);
		printf(",\"first\":\"%s\",\"last\":\"%s\"", first, last);
	}
	json_rows("family", s->family, FAMILIES_MAX);
	json_rows("verdict", s->verdict, ERRORS_MAX);
	json_rows("icrc", s->icrc, ICRC_STATES);
	fputs("}\n", stdout);
}

static void text_rows(const char *title, const struct counted *rows, unsigned n)
{
	unsigned i;

	printf("\n%-16s %12s %16s\n", title, "packets", "octets");
	for (i = 0; i < n && rows[i].name != NULL; i++)
		printf("  %-14s %12" PRIu64 " %16" PRIu64 "\n", rows[i].name, rows[i].packets,
		       rows[i].octets);
}

static void text_summary(const struct summary *s)
{
	char first[OUT_TIME_TEXT], last[OUT_TIME_TEXT], took[OUT_TIME_TEXT];

	printf("%" PRIu64 " packets, %" PRIu64 " octets", s->packets, s->octets);
	if (s->truncated > 0)
		printf(", %" PRIu64 " not captured whole", s->truncated);
	putchar('\n');
	if (s->packets == 0)
		return;
	out_date(s->first_ns, first);
	out_date(s->last_ns, last);
	out_time(s->last_ns - s->first_ns, took);
	printf("%s to %s UTC, %s s\n", first, last, took);
	text_rows("family", s->family, FAMILIES_MAX);
	text_rows("verdict", s->verdict, ERRORS_MAX);
	text_rows("icrc", s->icrc, ICRC_STATES);
}

/* ---- A file, or an interface
 * ------------------------------------------------------------------------------- */

/* Twice a second at most, and only after the first second. */
static void progress(struct decode *d, const struct cap_reader *r, uint64_t number)
{
	time_t now;
	int percent;

	if (!d->show_progress || number % 4096 != 0 || (now = time(NULL)) <= d->progress_at)
		return;
	percent = cap_percent(r);
	if (percent >= 0)
		fprintf(stderr, "\r%3d %%, %" PRIu64 " packets", percent, number);
	else
		fprintf(stderr, "\r%" PRIu64 " packets", number);
	d->progress_at = now;
}

static void end_progress(const struct decode *d, time_t start)
{
	if (d->show_progress && d->progress_at > start)
		fputs("\r\033[K", stderr);
}

/* A length that no packet has is no reason to look for the rest. */
static void take_apart(const struct decode *d, const struct cap_packet *c, struct cw_packet *p)
{
	static uint8_t room[CAP_PACKET_MAX];
	uint32_t len = c->len <= sizeof(room) ? c->len : c->caplen;

	(void)cw_dissect_cut(p, (enum cw_link)c->link, c->data, c->caplen, len, room, &d->opts);
}

/* 1 when the packet was wanted. */
static int handle(struct decode *d, struct cap_packet *c)
{
	struct cw_packet p;

	if (d->link >= 0)
		c->link = d->link;
	take_apart(d, c, &p);
	if (d->filter != NULL && !filter_match(d->filter, &p))
		return 0;
	d->wrong |= p.verdict != CW_OK || p.icrc.status == CW_ICRC_BAD;
	if (d->summary)
		add_to_summary(&d->sum, c, &p);
	else if (d->json)
		print_json(c, &p);
	else if (d->lines)
		print_line(d, c, &p);
	else
		print_text(d, c, &p);
	return 1;
}

static void read_all(struct decode *d, struct cap_reader *r)
{
	struct cap_packet c;
	uint64_t shown = 0;
	int rc = 0;

	while (shown < d->limit && !out_failed(stdout) && (rc = cap_next(r, &c)) > 0) {
		shown += (uint64_t)handle(d, &c);
		progress(d, r, c.number);
	}
	if (rc < 0) {
		d->wrong = true;
		(void)fflush(stdout);
		fprintf(stderr, "causeway decode: %s\n", cap_error(r));
	}
}

static int check_link(const struct decode *d, const struct cap_reader *r)
{
	char buf[CAP_LINK_TEXT];
	int link = d->link >= 0 ? d->link : cap_reader_link(r);

	if (cap_link_known(link))
		return 0;
	fprintf(stderr,
		"causeway decode: %s: link type %d (%s) is not decoded; --link says what the "
		"packets begin with\n",
		d->interface != NULL ? d->interface : d->path, link, cap_link_name(link, buf));
	return -1;
}

/* Nothing waits: show what there is, and go on until the user has seen enough. */
static bool live_idle(void)
{
	return fflush(stdout) == 0 && !interrupted();
}

static int open_source(struct decode *d, struct cap_reader **r)
{
	char err[CAP_ERROR_MAX];
	int rc;

	if (d->interface != NULL) {
		interrupt_catch();
		rc = cap_open_live(r, d->interface, d->promiscuous, live_idle, err);
	} else {
		rc = cap_open(r, d->path, err);
	}
	if (rc < 0)
		fprintf(stderr, "causeway decode: %s\n", err);
	return rc;
}

static void say_lost(const struct cap_reader *r)
{
	uint64_t lost = cap_lost(r);

	if (lost > 0)
		fprintf(stderr,
			"causeway decode: %" PRIu64 " packets found no room and are missing\n",
			lost);
}

static int decode_source(struct decode *d)
{
	time_t start = time(NULL);
	struct cap_reader *r;

	if (open_source(d, &r) < 0)
		return EXIT_USAGE;
	if (check_link(d, r) < 0) {
		cap_close(r);
		return EXIT_USAGE;
	}
	d->progress_at = start;
	read_all(d, r);
	end_progress(d, start);
	say_lost(r);
	cap_close(r);
	if (d->summary && d->json)
		json_summary(&d->sum);
	else if (d->summary)
		text_summary(&d->sum);
	return d->wrong ? EXIT_DATA : EXIT_DONE;
}

/* ---- Options ------------------------------------------------------------------------------ */

enum {
	OPT_SUMMARY = 256,
	OPT_FILTER,
	OPT_LINK,
	OPT_ICRC_ORDER,
	OPT_UB_PORT,
	OPT_UET,
	OPT_UET_LITERAL,
	OPT_PIN,
	OPT_UET_CRC
};

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"hex", no_argument, NULL, 'x'},
	{"lines", no_argument, NULL, 'l'},
	{"interface", required_argument, NULL, 'i'},
	{"promiscuous", no_argument, NULL, 'p'},
	{"summary", no_argument, NULL, OPT_SUMMARY},
	{"filter", required_argument, NULL, OPT_FILTER},
	{"count", required_argument, NULL, 'c'},
	{"link", required_argument, NULL, OPT_LINK},
	{"icrc-order", required_argument, NULL, OPT_ICRC_ORDER},
	{"ub-port", required_argument, NULL, OPT_UB_PORT},
	{"uet", no_argument, NULL, OPT_UET},
	{"uet-literal", no_argument, NULL, OPT_UET_LITERAL},
	{"pin", required_argument, NULL, OPT_PIN},
	{"uet-crc", no_argument, NULL, OPT_UET_CRC},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int set_filter(struct decode *d, const char *expr)
{
	char err[FILTER_ERROR_MAX];

	filter_free(d->filter);
	d->filter = NULL;
	if (filter_new(&d->filter, expr, err) < 0)
		return cmd_usage(&cmd_decode, "--filter: %s", err);
	return 0;
}

/* PREFIX=FAMILY */
static int add_pin(struct decode *d, const char *arg)
{
	static const char *const families[] = {"content", "ub", "uet", "uet-literal"};
	const char *eq = strchr(arg, '=');
	struct cw_pin_4792 *pin = &d->pins[d->opts.npins];
	char text[CW_PREFIX_TEXT];
	struct cw_prefix prefix;
	unsigned f = 0;

	if (d->opts.npins == PINS)
		return cmd_usage(&cmd_decode, "--pin: no more than %d", PINS);
	if (eq == NULL || (size_t)(eq - arg) >= sizeof(text))
		return cmd_usage(&cmd_decode, "--pin: PREFIX=FAMILY, not '%s'", arg);
	memcpy(text, arg, (size_t)(eq - arg));
	text[eq - arg] = '\0';
	if (cw_prefix_parse(text, &prefix) < 0)
		return cmd_usage(&cmd_decode, "--pin: '%s' is no prefix", text);
	while (f < 4 && strcmp(eq + 1, families[f]) != 0)
		f++;
	if (f == 4)
		return cmd_usage(&cmd_decode, "--pin: ub, uet, uet-literal or content, not '%s'",
				 eq + 1);
	pin->version = prefix.version;
	pin->plen = prefix.plen;
	memcpy(pin->addr, prefix.addr, sizeof(pin->addr));
	pin->family = (enum cw_4792)f;
	d->opts.pins = d->pins;
	d->opts.npins++;
	return 0;
}

static int set_option(struct decode *d, int opt, const char *arg)
{
	uint64_t n;

	switch (opt) {
	case OPT_FILTER:
		return set_filter(d, arg);
	case 'c':
		return args_number(&cmd_decode, "--count", arg, 1, UINT64_MAX, &d->limit);
	case OPT_LINK:
		d->link = cap_link_parse(arg);
		return d->link >= 0 ? 0 : cmd_usage(&cmd_decode, "--link: no link type '%s'", arg);
	case OPT_ICRC_ORDER:
		return args_icrc_order(&cmd_decode, arg, &d->opts.icrc_order);
	case OPT_UET:
	case OPT_UET_LITERAL:
		d->opts.port_4792 = opt == OPT_UET ? CW_4792_UETX : CW_4792_UETX_LITERAL;
		return 0;
	case OPT_UET_CRC:
		d->opts.uetx_crc = true;
		return 0;
	case OPT_PIN:
		return add_pin(d, arg);
	default:
		if (args_number(&cmd_decode, "--ub-port", arg, 1, 65535, &n) != 0)
			return EXIT_USAGE;
		d->opts.ub_port = (uint16_t)n;
		return 0;
	}
}

/* One source, and options that go with each other. */
static bool check_usage(struct decode *d, int argc, char **argv)
{
	int files = argc - optind;

	if (d->interface != NULL && files > 0)
		cmd_usage(&cmd_decode, "either a file or --interface");
	else if (d->interface == NULL && files != 1)
		cmd_usage(&cmd_decode, files == 0 ? "no file given" : "more than one file given");
	else if (d->promiscuous && d->interface == NULL)
		cmd_usage(&cmd_decode, "--promiscuous goes with --interface");
	else if (d->json + d->lines > 1 || (d->lines && (d->hex || d->summary)))
		cmd_usage(&cmd_decode, "--lines goes with neither --json, --hex nor --summary");
	else
		return d->path = argv[optind], true;
	return false;
}

/* False ends the command, with *code. */
static bool read_options(struct decode *d, int argc, char **argv, int *code)
{
	int opt;

	optind = 1;
	*code = EXIT_USAGE;
	while ((opt = getopt_long(argc, argv, ":jxli:pc:h", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			d->json = true;
			break;
		case 'x':
			d->hex = true;
			break;
		case 'l':
			d->lines = true;
			break;
		case 'i':
			d->interface = optarg;
			break;
		case 'p':
			d->promiscuous = true;
			break;
		case 'h':
			fputs(cmd_decode.help, stdout);
			*code = EXIT_DONE;
			return false;
		case OPT_SUMMARY:
			d->summary = true;
			break;
		case ':':
		case '?':
			args_bad_option(&cmd_decode, argv, opt);
			return false;
		default:
			if (set_option(d, opt, optarg) != 0)
				return false;
		}
	}
	return check_usage(d, argc, argv);
}

static int run(int argc, char **argv)
{
	struct decode d = {.link = -1, .limit = UINT64_MAX};
	int code;

	if (read_options(&d, argc, argv, &code)) {
		d.colour = out_colour(stdout);
		d.show_progress = isatty(STDERR_FILENO) && (d.summary || !isatty(STDOUT_FILENO));
		code = decode_source(&d);
	}
	filter_free(d.filter);
	return code;
}

const struct cmd cmd_decode = {
	.name = "decode",
	.run = run,
	.brief = "show the packets of a capture or interface, check their ICRC",
	.help = "usage: causeway decode [OPTIONS] FILE\n"
		"       causeway decode [OPTIONS] -i INTERFACE\n"
		"\n"
		"Show what is in a capture (pcap or pcapng, packed by gzip or not; - is the\n"
		"standard input), or what an interface receives and sends until Ctrl-C: a tree a\n"
		"packet, a line a packet, or JSON. Lengths, checksums and ICRCs are checked.\n"
		"\n"
		"  -i, --interface IF   listen there (needs CAP_NET_RAW)\n"
		"  -p, --promiscuous    take frames for other stations, too\n"
		"  -l, --lines          one line a packet\n"
		"  -j, --json           JSON lines: one object a packet\n"
		"  -x, --hex            the octets of each packet below its tree\n"
		"      --summary        only counts: by packet family, verdict and ICRC state\n"
		"      --filter EXPR    only packets that match (see below)\n"
		"  -c, --count N        stop after N packets that match\n"
		"      --link TYPE      what packets begin with, whatever the file says:\n"
		"                       ethernet, ub, ib, erf, ipoib, or a LINKTYPE number\n"
		"      --icrc-order O   byte order of the ICRC of UB and UBoE: le (default) or be\n"
		"      --ub-port N      UDP port of UB (4792)\n"
		"      --uet            what goes to that port is article UET, whatever it holds\n"
		"      --uet-literal    the same with the article's literal 22-octet header\n"
		"      --uet-crc        article UET packets end in a CRC-32C; it is checked\n"
		"      --pin PREFIX=F   what goes to that port to or from PREFIX is F: ub, uet,\n"
		"                       uet-literal, content (what it looks like); repeatable,\n"
		"                       the longest prefix counts, the destination's first\n"
		"  -h, --help           this text\n"
		"\n"
		"exit code: 0 all good, 1 something wrong in the data (an error, a bad ICRC, a\n"
		"broken file), 2 usage or I/O\n"
		"\n"
		"examples:\n"
		"  causeway decode uboe.pcap\n"
		"  causeway decode --lines uboe.pcap | head\n"
		"  causeway decode -j uboe.pcap | jq .icrc\n"
		"  causeway decode --summary --filter 'icrc=bad or verdict!=ok' uboe.pcap\n"
		"  causeway decode --filter 'addr=10.1.0.0/16 and port=4792' --count 3 uboe.pcap\n"
		"  causeway decode -l -i ub0 -c 20\n"
		"\n" FILTER_HELP,
};
