/* gen.c - causeway gen: a source of UB and UBoE packets that say what they are. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/crc.h"
#include "causeway/wire/eth.h"
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/traffic.h"

#define FAULTS_MAX  64
#define RATE_SLICES 2000 /* batches a second, where the rate allows */

/* Shares of faults are in 1/10000 percent of the good packets. */
#define SHARE_ALL 1000000u

struct fault {
	unsigned kind;
	uint64_t share, owed, sent; /* owed: in 1/SHARE_ALL packets */
	char arg[64];
	bool has_arg;
};

struct gen {
	struct traffic_plan plan;
	const char *ifname, *file, *faults_text;
	uint64_t rate;
	bool json, run_given, smac_given, dmac_given, list_faults, side_given, bare;
	struct fault faults[FAULTS_MAX];
	unsigned nfaults;
	/* the run */
	struct link_tx *tx;
	struct cap_writer *file_out;
	uint8_t *frames; /* LINK_BATCH of TRAFFIC_FRAME_MAX octets */
	struct link_frame batch[LINK_BATCH];
	unsigned nbatch, batch_max;
	uint64_t good, octets, emitted;
	uint64_t start_ns, end_ns;
	char err[CAP_ERROR_MAX];
};

/* ---- Output ------------------------------------------------------------------------------- */

/* Wait until packet number g->emitted is due. */
static void pace(const struct gen *g)
{
	uint64_t due, now;
	struct timespec t;

	if (g->rate == 0 || g->tx == NULL)
		return;
	due = g->start_ns + (uint64_t)((double)g->emitted * 1e9 / (double)g->rate);
	now = clock_now_ns();
	if (due <= now)
		return;
	t = (struct timespec){(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* In a file packets are spaced as the rate says, from a fixed date on: the same run gives the
 * same file. */
static int write_batch(struct gen *g)
{
	uint64_t gap = g->rate != 0 ? 1000000000u / g->rate : 1000;
	uint32_t skip = g->bare ? CW_SIZE_ETH : 0;
	struct cap_packet p;
	unsigned i;

	for (i = 0; i < g->nbatch; i++) {
		p = (struct cap_packet){
			.time_ns = (uint64_t)1767225600 * 1000000000u + (g->emitted + i) * gap,
			.data = (const uint8_t *)g->batch[i].data + skip,
			.caplen = (uint32_t)g->batch[i].len - skip,
			.len = (uint32_t)g->batch[i].len - skip,
		};
		if (cap_write(g->file_out, 0, &p, NULL) < 0) {
			snprintf(g->err, sizeof(g->err), "%s", cap_writer_error(g->file_out));
			return -1;
		}
	}
	return 0;
}

static int flush(struct gen *g)
{
	int rc = 0;

	if (g->nbatch == 0)
		return 0;
	pace(g);
	if (g->file_out != NULL)
		rc = write_batch(g);
	else
		rc = link_tx_send(g->tx, g->batch, g->nbatch, g->err);
	g->emitted += g->nbatch;
	g->nbatch = 0;
	return rc;
}

static uint8_t *next_frame(const struct gen *g)
{
	return g->frames + (size_t)g->nbatch * TRAFFIC_FRAME_MAX;
}

static int emit(struct gen *g, const struct traffic_packet *k)
{
	g->batch[g->nbatch++] = (struct link_frame){k->frame, k->len};
	g->octets += k->len;
	return g->nbatch >= g->batch_max ? flush(g) : 0;
}

static int emit_faults(struct gen *g)
{
	struct traffic_packet k;
	struct fault *f;
	unsigned i;

	for (i = 0; i < g->nfaults; i++) {
		f = &g->faults[i];
		for (f->owed += f->share; f->owed >= SHARE_ALL; f->owed -= SHARE_ALL) {
			traffic_build_fault(&g->plan, f->kind, f->has_arg ? f->arg : NULL,
					    f->sent++, next_frame(g), &k);
			if (emit(g, &k) < 0)
				return -1;
		}
	}
	return 0;
}

static int generate(struct gen *g)
{
	struct traffic_packet k;

	g->start_ns = clock_now_ns();
	while (!interrupted() && (g->plan.count == 0 || g->good < g->plan.count)) {
		traffic_build(&g->plan, g->good++, next_frame(g), &k);
		if (emit(g, &k) < 0 || emit_faults(g) < 0)
			return -1;
	}
	if (flush(g) < 0)
		return -1;
	g->end_ns = clock_now_ns();
	return 0;
}

/* ---- Manifest ----------------------------------------------------------------------------- */

static uint64_t faulty(const struct gen *g)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < g->nfaults; i++)
		n += g->faults[i].sent;
	return n;
}

/* Packets sent that belong to the counter of fault i; 0 if an earlier fault shares it. */
static uint64_t of_drop(const struct gen *g, unsigned i)
{
	const char *drop = traffic_faults[g->faults[i].kind].drop;
	uint64_t n = 0;
	unsigned j;

	for (j = 0; j < g->nfaults; j++) {
		const char *other = traffic_faults[g->faults[j].kind].drop;

		if (drop == NULL || other == NULL || strcmp(drop, other) != 0)
			continue;
		if (j < i)
			return 0;
		n += g->faults[j].sent;
	}
	return n;
}

static void manifest_json(const struct gen *g)
{
	const char *sep = "";
	uint64_t unnamed = 0, n;
	unsigned i;

	printf("{\"run\":\"0x%08x\",\"seed\":%" PRIu64 ",\"to\":\"%s\",\"ip\":%u,\"good\":%" PRIu64
	       ",\"faulty\":%" PRIu64 ",\"octets\":%" PRIu64 ",\"seconds\":%.6f,\"faults\":[",
	       g->plan.run, g->plan.seed, g->plan.side == TRAFFIC_UB ? "ub" : "uboe",
	       g->plan.version, g->good, faulty(g), g->octets,
	       (double)(g->end_ns - g->start_ns) / 1e9);
	for (i = 0; i < g->nfaults; i++) {
		const struct traffic_fault *f = &traffic_faults[g->faults[i].kind];

		printf("%s{\"kind\":\"%s\",\"sent\":%" PRIu64 ",\"drop\":", sep, f->name,
		       g->faults[i].sent);
		printf(f->drop != NULL ? "\"%s\"}" : "null}", f->drop);
		unnamed += f->drop == NULL ? g->faults[i].sent : 0;
		sep = ",";
	}
	printf("],\"drops\":{");
	sep = "";
	for (i = 0; i < g->nfaults; i++) {
		if ((n = of_drop(g, i)) == 0)
			continue;
		printf("%s\"%s\":%" PRIu64, sep, traffic_faults[g->faults[i].kind].drop, n);
		sep = ",";
	}
	printf("},\"drops_unnamed\":%" PRIu64 "}\n", unnamed);
}

static void manifest_text(const struct gen *g)
{
	double s = (double)(g->end_ns - g->start_ns) / 1e9;
	unsigned i;

	printf("run 0x%08x, seed %" PRIu64 ": %" PRIu64 " good packets", g->plan.run, g->plan.seed,
	       g->good);
	if (g->nfaults > 0)
		printf(" and %" PRIu64 " faulty ones", faulty(g));
	printf(", %" PRIu64 " octets", g->octets);
	if (g->tx != NULL)
		printf(", %.3f s, %.0f packets/s", s, s > 0 ? (double)g->emitted / s : 0);
	putchar('\n');
	for (i = 0; i < g->nfaults; i++) {
		const struct traffic_fault *f = &traffic_faults[g->faults[i].kind];

		printf("  %-15s %10" PRIu64 "  %s (counter: %s)\n", f->name, g->faults[i].sent,
		       f->text, f->drop != NULL ? f->drop : "one of several");
	}
}

/* ---- Options ------------------------------------------------------------------------------ */

enum {
	OPT_TO = 256,
	OPT_RATE,
	OPT_COUNT,
	OPT_SIZE,
	OPT_FLOWS,
	OPT_SRC,
	OPT_DST,
	OPT_SPORT,
	OPT_DPORT,
	OPT_TRANSPORT,
	OPT_OP,
	OPT_FECN,
	OPT_ECN,
	OPT_CCI,
	OPT_NPI,
	OPT_VLAN,
	OPT_OUTER_VLAN,
	OPT_PCP,
	OPT_DSCP,
	OPT_TTL,
	OPT_RT,
	OPT_VL,
	OPT_SEED,
	OPT_RUN,
	OPT_FAULTS,
	OPT_LIST_FAULTS,
	OPT_SMAC,
	OPT_DMAC,
	OPT_UDP_CHECKSUM,
	OPT_ICRC_ORDER,
	OPT_BARE,
};

static const struct option options[] = {
	{"to", required_argument, NULL, OPT_TO},
	{"rate", required_argument, NULL, OPT_RATE},
	{"count", required_argument, NULL, OPT_COUNT},
	{"size", required_argument, NULL, OPT_SIZE},
	{"flows", required_argument, NULL, OPT_FLOWS},
	{"src", required_argument, NULL, OPT_SRC},
	{"dst", required_argument, NULL, OPT_DST},
	{"sport", required_argument, NULL, OPT_SPORT},
	{"dport", required_argument, NULL, OPT_DPORT},
	{"transport", required_argument, NULL, OPT_TRANSPORT},
	{"op", required_argument, NULL, OPT_OP},
	{"fecn", required_argument, NULL, OPT_FECN},
	{"ecn", required_argument, NULL, OPT_ECN},
	{"cci", required_argument, NULL, OPT_CCI},
	{"npi", required_argument, NULL, OPT_NPI},
	{"vlan", required_argument, NULL, OPT_VLAN},
	{"outer-vlan", required_argument, NULL, OPT_OUTER_VLAN},
	{"pcp", required_argument, NULL, OPT_PCP},
	{"dscp", required_argument, NULL, OPT_DSCP},
	{"ttl", required_argument, NULL, OPT_TTL},
	{"rt", required_argument, NULL, OPT_RT},
	{"vl", required_argument, NULL, OPT_VL},
	{"seed", required_argument, NULL, OPT_SEED},
	{"run", required_argument, NULL, OPT_RUN},
	{"faults", required_argument, NULL, OPT_FAULTS},
	{"list-faults", no_argument, NULL, OPT_LIST_FAULTS},
	{"smac", required_argument, NULL, OPT_SMAC},
	{"dmac", required_argument, NULL, OPT_DMAC},
	{"udp-checksum", no_argument, NULL, OPT_UDP_CHECKSUM},
	{"icrc-order", required_argument, NULL, OPT_ICRC_ORDER},
	{"bare", no_argument, NULL, OPT_BARE},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

#define SHORT_OPTIONS ":i:w:46jh"

static int usage_of(const char *option, const char *text, int err)
{
	return cmd_usage(&cmd_gen, "%s: '%s': %s", option, text, cw_strerror(err));
}

/* Numbers of a list must not exceed `max`. */
static int mix(const char *option, struct traffic_mix *m, const char *text,
	       int (*value)(const char *text, uint32_t *out), uint32_t max)
{
	unsigned i;
	int err = traffic_mix_parse(m, text, value);

	for (i = 0; err == CW_OK && i < m->n; i++) {
		if (m->value[i] > max)
			err = CW_E_RANGE;
	}
	return err < 0 ? usage_of(option, text, err) : 0;
}

static int number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	return args_number(&cmd_gen, option, text, 0, max, out);
}

static int set_size(struct gen *g, const char *text)
{
	/* The usual mix of frame sizes, as payloads that hold a description. */
	if (strcmp(text, "imix") == 0)
		text = "64:7,512:4,1400:1";
	return mix("--size", &g->plan.size, text, traffic_value_size, UINT32_MAX);
}

static int set_sport(struct gen *g, const char *text)
{
	const char *plus = strchr(text, '+');
	char base[16];
	uint64_t n = 1, first;

	snprintf(base, sizeof(base), "%.*s", plus != NULL ? (int)(plus - text) : 15, text);
	if (number("--sport", base, 65535, &first) != 0 ||
	    (plus != NULL && number("--sport", plus + 1, 65536, &n) != 0))
		return EXIT_USAGE;
	if (n == 0 || first + n > 65536)
		return usage_of("--sport", text, CW_E_RANGE);
	g->plan.sport = (uint16_t)first;
	g->plan.nsport = (uint16_t)(n > 65535 ? 65535 : n);
	return 0;
}

/* Options that fill lists. -1: not one of them. */
static int set_mix(struct gen *g, int opt, const char *arg)
{
	struct traffic_plan *p = &g->plan;

	switch (opt) {
	case OPT_SIZE:
		return set_size(g, arg);
	case OPT_TRANSPORT:
		return mix("--transport", &p->transport, arg, traffic_value_transport, UINT32_MAX);
	case OPT_OP:
		return mix("--op", &p->op, arg, traffic_value_op, UINT32_MAX);
	case OPT_FECN:
		return mix("--fecn", &p->cc, arg, traffic_value_cc, 7);
	case OPT_ECN:
		return mix("--ecn", &p->cc, arg, traffic_value_cc, 3);
	case OPT_CCI:
		return mix("--cci", &p->cci, arg, traffic_value_cci, 7);
	case OPT_NPI:
		return mix("--npi", &p->part, arg, traffic_value_npi, UINT32_MAX);
	case OPT_VLAN:
		return mix("--vlan", &p->part, arg, traffic_value_vid, UINT32_MAX);
	case OPT_DSCP:
		return mix("--dscp", &p->dscp, arg, traffic_value_number, 63);
	case OPT_RT:
		return mix("--rt", &p->rt, arg, traffic_value_number, 3);
	default:
		return -1;
	}
}

/* Options with one number. -1: not one of them. */
static int set_number(struct gen *g, int opt, const char *arg)
{
	static const struct {
		int opt;
		const char *name;
		uint64_t max;
	} numbers[] = {
		{OPT_RATE, "--rate", 1000000000},
		{OPT_COUNT, "--count", 0xffffffffffff},
		{OPT_FLOWS, "--flows", 65535},
		{OPT_DPORT, "--dport", 65535},
		{OPT_OUTER_VLAN, "--outer-vlan", 4094},
		{OPT_PCP, "--pcp", 7},
		{OPT_TTL, "--ttl", 255},
		{OPT_VL, "--vl", 15},
		{OPT_SEED, "--seed", UINT64_MAX},
		{OPT_RUN, "--run", UINT32_MAX},
	};
	struct traffic_plan *p = &g->plan;
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && numbers[i].opt != opt; i++)
		;
	if (i == sizeof(numbers) / sizeof(numbers[0]))
		return -1;
	if (number(numbers[i].name, arg, numbers[i].max, &v) != 0)
		return EXIT_USAGE;
	g->rate = opt == OPT_RATE ? v : g->rate;
	p->count = opt == OPT_COUNT ? v : p->count;
	p->flows = opt == OPT_FLOWS ? (unsigned)v : p->flows;
	p->dport = opt == OPT_DPORT ? (uint16_t)v : p->dport;
	p->outer_vid = opt == OPT_OUTER_VLAN ? (uint16_t)v : p->outer_vid;
	p->pcp = opt == OPT_PCP ? (uint8_t)v : p->pcp;
	p->ttl = opt == OPT_TTL ? (uint8_t)v : p->ttl;
	p->vl = opt == OPT_VL ? (uint8_t)v : p->vl;
	p->seed = opt == OPT_SEED ? v : p->seed;
	p->run = opt == OPT_RUN ? (uint32_t)v : p->run;
	g->run_given |= opt == OPT_RUN;
	return p->flows == 0 ? usage_of("--flows", arg, CW_E_RANGE) : 0;
}

static int set_range(struct gen *g, const char *option, struct traffic_range *r, const char *arg)
{
	int err = traffic_range_parse(r, g->plan.version, arg);

	return err < 0 ? usage_of(option, arg, err) : 0;
}

static int set_option(struct gen *g, int opt, const char *arg)
{
	int rc;

	if ((rc = set_mix(g, opt, arg)) >= 0 || (rc = set_number(g, opt, arg)) >= 0)
		return rc;
	switch (opt) {
	case OPT_SRC:
		return set_range(g, "--src", &g->plan.src, arg);
	case OPT_DST:
		return set_range(g, "--dst", &g->plan.dst, arg);
	case OPT_SPORT:
		return set_sport(g, arg);
	case OPT_FAULTS:
		g->faults_text = arg;
		return 0;
	case OPT_SMAC:
		g->smac_given = true;
		return args_mac(&cmd_gen, "--smac", arg, g->plan.smac);
	case OPT_DMAC:
		g->dmac_given = true;
		return args_mac(&cmd_gen, "--dmac", arg, g->plan.dmac);
	case OPT_ICRC_ORDER:
		return args_icrc_order(&cmd_gen, arg, &g->plan.icrc_order);
	case 'i':
		g->ifname = arg;
		return 0;
	case 'w':
		g->file = arg;
		return 0;
	case 'j':
		g->json = true;
		return 0;
	case OPT_UDP_CHECKSUM:
		g->plan.udp_checksum = true;
		return 0;
	case OPT_BARE:
		g->bare = true;
		return 0;
	case OPT_LIST_FAULTS:
		g->list_faults = true;
		return 0;
	default: /* --to, -4, -6: read before */
		return 0;
	}
}

/* Side and IP version come first: other options are read by them. */
static int read_kind(struct gen *g, int argc, char **argv)
{
	enum traffic_side side = TRAFFIC_UB;
	uint8_t version = 4;
	int opt;

	optind = 1;
	while ((opt = getopt_long(argc, argv, SHORT_OPTIONS, options, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_gen, argv, opt);
		if (opt == '4' || opt == '6')
			version = (uint8_t)(opt - '0');
		if (opt != OPT_TO)
			continue;
		g->side_given = true;
		if (strcmp(optarg, "uboe") == 0)
			side = TRAFFIC_UBOE;
		else if (strcmp(optarg, "ub") != 0)
			return cmd_usage(&cmd_gen, "--to: '%s' is neither ub nor uboe", optarg);
	}
	traffic_plan_init(&g->plan, side, version);
	return 0;
}

/* "KIND[=ARG]:PERCENT" */
static int read_fault(struct gen *g, char *item)
{
	struct fault *f = &g->faults[g->nfaults];
	char *colon = strrchr(item, ':'), *equals = strchr(item, '='), *end;
	const char *refusal;
	double percent;
	int kind;

	if (colon == NULL || g->nfaults == FAULTS_MAX)
		return cmd_usage(&cmd_gen, "--faults: '%s' is not KIND[=ARG]:PERCENT", item);
	percent = strtod(colon + 1, &end);
	if (end == colon + 1 || *end != '\0' || !(percent > 0 && percent <= 100000))
		return cmd_usage(&cmd_gen, "--faults: '%s' is not a share in percent", colon + 1);
	*colon = '\0';
	if (equals != NULL && equals < colon) {
		*equals = '\0';
		f->has_arg = true;
		snprintf(f->arg, sizeof(f->arg), "%s", equals + 1);
	}
	if ((kind = traffic_fault_find(item)) < 0)
		return cmd_usage(&cmd_gen, "--faults: no kind '%s' (see --list-faults)", item);
	refusal = traffic_fault_refuse(&g->plan, (unsigned)kind, f->has_arg ? f->arg : NULL);
	if (refusal != NULL)
		return cmd_usage(&cmd_gen, "--faults: %s: %s", item, refusal);
	f->kind = (unsigned)kind;
	f->share = (uint64_t)(percent * 10000 + 0.5);
	g->nfaults++;
	return 0;
}

static int read_faults(struct gen *g)
{
	char *text, *item, *save;
	int rc = 0;

	if (g->faults_text == NULL)
		return 0;
	if ((text = strdup(g->faults_text)) == NULL)
		return cmd_usage(&cmd_gen, "out of memory");
	for (item = strtok_r(text, ",", &save); item != NULL && rc == 0;
	     item = strtok_r(NULL, ",", &save))
		rc = read_fault(g, item);
	free(text);
	return rc;
}

/* Different command lines are different runs, the same one is the same run. */
static uint32_t run_of(int argc, char **argv)
{
	uint32_t crc = 0;
	int i;

	for (i = 1; i < argc; i++)
		crc = cw_crc32(crc, argv[i], strlen(argv[i]) + 1);
	return crc;
}

static int check_options(struct gen *g)
{
	if (!g->side_given)
		return cmd_usage(&cmd_gen, "--to ub or --to uboe is missing");
	if ((g->ifname == NULL) == (g->file == NULL))
		return cmd_usage(&cmd_gen, "give either -i INTERFACE or -w FILE");
	if (g->file != NULL && g->plan.count == 0)
		return cmd_usage(&cmd_gen, "a file needs --count");
	if (g->bare && (g->file == NULL || g->plan.side != TRAFFIC_UB))
		return cmd_usage(&cmd_gen, "--bare is for UB packets in files");
	if (g->ifname != NULL && g->plan.side == TRAFFIC_UBOE && !g->dmac_given)
		return cmd_usage(&cmd_gen, "--dmac is missing: the station that takes the frames");
	return 0;
}

/* 0 to go on, else an exit code + 1 that ends the command. */
static int read_options(struct gen *g, int argc, char **argv)
{
	int opt, rc;

	if ((rc = read_kind(g, argc, argv)) != 0)
		return rc + 1;
	optind = 1;
	while ((opt = getopt_long(argc, argv, SHORT_OPTIONS, options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(cmd_gen.help, stdout);
			return EXIT_DONE + 1;
		}
		if ((rc = set_option(g, opt, optarg)) != 0)
			return rc + 1;
	}
	if (optind != argc)
		return cmd_usage(&cmd_gen, "'%s' is too much", argv[optind]) + 1;
	if (g->list_faults)
		return 0;
	if ((rc = check_options(g)) != 0 || (rc = read_faults(g)) != 0)
		return rc + 1;
	if (!g->run_given)
		g->plan.run = run_of(argc, argv);
	return 0;
}

static int list_faults(void)
{
	unsigned i;

	for (i = 0; i < traffic_nfaults; i++) {
		const struct traffic_fault *f = &traffic_faults[i];

		printf("%-15s %-5s %-5s %s", f->name,
		       f->sides == TRAFFIC_ON_UB     ? "ub"
		       : f->sides == TRAFFIC_ON_UBOE ? "uboe"
						     : "both",
		       f->versions == TRAFFIC_ON_IP4   ? "IPv4"
		       : f->versions == TRAFFIC_ON_IP6 ? "IPv6"
						       : "",
		       f->text);
		if (f->arg != NULL)
			printf(f->def != NULL ? "; =%s (%s)" : "; =%s", f->arg, f->def);
		putchar('\n');
	}
	return EXIT_DONE;
}

/* ---- The run ------------------------------------------------------------------------------ */

static int open_output(struct gen *g)
{
	if (g->file != NULL) {
		if (cap_create(&g->file_out, g->file, cap_format_of(g->file), g->err) < 0)
			return -1;
		g->batch_max = LINK_BATCH;
		return cap_add_interface(g->file_out, g->bare ? CW_LINK_UB : CW_LINK_ETHERNET,
					 "gen");
	}
	if (link_tx_open(&g->tx, g->ifname, g->err) < 0)
		return -1;
	if (!g->smac_given)
		link_tx_mac(g->tx, g->plan.smac);
	if (!g->dmac_given) /* the other end of the emulated link, whoever it is */
		memset(g->plan.dmac, 0xff, 6);
	g->batch_max = LINK_BATCH;
	if (g->rate != 0 && g->rate / RATE_SLICES < LINK_BATCH)
		g->batch_max = (unsigned)(g->rate / RATE_SLICES) + 1;
	return 0;
}

static int close_output(struct gen *g)
{
	if (g->file_out != NULL)
		return cap_finish(g->file_out, g->err);
	link_tx_close(g->tx);
	return 0;
}

static int run_gen(struct gen *g)
{
	int rc;

	interrupt_catch();
	if ((g->frames = malloc((size_t)LINK_BATCH * TRAFFIC_FRAME_MAX)) == NULL) {
		fputs("causeway gen: out of memory\n", stderr);
		return EXIT_USAGE;
	}
	rc = open_output(g);
	if (rc == 0)
		rc = generate(g);
	if (rc == 0 && g->json)
		manifest_json(g);
	else if (rc == 0 && (g->file == NULL || strcmp(g->file, "-") != 0))
		manifest_text(g);
	if (close_output(g) < 0)
		rc = -1;
	free(g->frames);
	if (rc < 0)
		fprintf(stderr, "causeway gen: %s\n", g->err);
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	static struct gen g; /* large, and one a process */
	int rc = read_options(&g, argc, argv);

	if (rc != 0)
		return rc - 1;
	return g.list_faults ? list_faults() : run_gen(&g);
}

const struct cmd cmd_gen = {
	.name = "gen",
	.run = run,
	.brief = "send UB or UBoE packets that `causeway sink` can check",
	.help = "usage: causeway gen --to ub|uboe (-i INTERFACE | -w FILE) [OPTIONS]\n"
		"\n"
		"Send packets that say in their payload what they are, so that `causeway sink`\n"
		"can tell what became of each. The same command line sends the same octets.\n"
		"\n"
		"  -i INTERFACE         send there (packet socket; needs CAP_NET_RAW)\n"
		"  -w FILE              write a pcap (or .pcapng) file; - is the standard output\n"
		"      --bare           UB in a file: from the LPH on, without Ethernet header\n"
		"      --to SIDE        ub: native UB (EtherType 0x88B6); uboe: UBoE\n"
		"  -4, -6               IP version (4)\n"
		"      --count N        good packets; 0 until interrupted (0)\n"
		"      --rate PPS       packets a second, 0 flat out (0)\n"
		"      --size LIST      payload octets, 56 to 9600: 64:7,512:4,1000-1400:1 or "
		"imix\n"
		"                       (256); LIST is VALUE[:WEIGHT],... here and below\n"
		"      --flows N        flows (8); flow f uses source and destination address\n"
		"                       and source port number f of the ranges below\n"
		"      --src ADDR[+N]   N source addresses from ADDR on\n"
		"      --dst ADDR[+N]   N destination addresses from ADDR on\n"
		"      --sport PORT[+N] N UDP source ports from PORT on (49152+8)\n"
		"      --dport PORT     UDP destination port (4792)\n"
		"      --transport LIST rtp, utp\n"
		"      --op LIST        send, send-imm, write, write-imm, write-notify,\n"
		"                       writeback, read-response (over UTP: always a send)\n"
		"      --fecn LIST      UB: 00, 01, 10, 11, with L behind for LoC (10)\n"
		"      --cci LIST       UB: fecn, fecn-rtt, caqm, 1, 3, 5, 6, 7 (fecn)\n"
		"      --npi LIST       UB: partition ID, or ID/low (1)\n"
		"      --rt LIST        UB: routing type 0 to 3 (2)\n"
		"      --vl N           UB: virtual lane (0)\n"
		"      --ecn LIST       UBoE: 00, 01, 10, 11 (10)\n"
		"      --vlan LIST      UBoE: VLAN, or untagged (1)\n"
		"      --outer-vlan VID UBoE: a second tag in front, 802.1ad\n"
		"      --pcp N          UBoE: priority code point (0)\n"
		"      --dscp LIST      DSCP 0 to 63 (0)\n"
		"      --ttl N          TTL or hop limit (64)\n"
		"      --udp-checksum   a right UDP checksum instead of zero\n"
		"      --smac MAC       own link address (that of the interface)\n"
		"      --dmac MAC       link address of the next hop\n"
		"      --icrc-order O   le (default) or be\n"
		"      --seed N         another seed, other packets (1)\n"
		"      --run N          number of the run in the descriptions (by command line)\n"
		"      --faults LIST    wrong packets on top, KIND[=ARG]:PERCENT of the good ones\n"
		"      --list-faults    the kinds of wrong packets\n"
		"  -j, --json           manifest as JSON\n"
		"  -h, --help           this text\n"
		"\n"
		"exit code: 0 all sent, 2 usage or I/O\n"
		"\n"
		"examples:\n"
		"  causeway gen --to ub -w ub.pcap --count 1000 --fecn 10:80,01:15,11:5\n"
		"  causeway gen --to uboe -6 -i eth0 --dmac 02:00:00:00:00:01 --vlan 5 --rate "
		"100000\n"
		"  causeway gen --to ub -i ub0 --count 100000 --faults icrc:1,truncate:0.5,ttl:1\n",
};
