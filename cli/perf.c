/* perf.c - causeway perf: bandwidth, message rate and latency between two software endpoints. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/clock.h"
#include "cli/endpoint.h"
#include "cli/histogram.h"
#include "cli/interrupt.h"
#include "cli/out.h"

#define SECOND     1000000000ull
#define SIZE_MAX_O (1u << 30)
#define DEPTH_MAX  4096
#define RECV_DEPTH 4096
#define SIZES_MAX  40
#define ANSWER_NS  (30 * SECOND)

enum perf_op { PERF_WRITE, PERF_READ, PERF_SEND, PERF_ATOMIC, PERF_OPS };
static const char *const op_names[PERF_OPS] = {"write", "read", "send", "atomic"};

struct perf {
	struct ep_opts ep;
	int op; /* enum perf_op, -1: any (server) */
	uint32_t sizes[SIZES_MAX];
	unsigned nsizes, depth;
	uint64_t iterations, duration; /* ns, 0: iterations count */
	bool json, keep;
	/* what the server offers as target */
	uint64_t va;
	uint32_t token_id, token_value;
	uint8_t *memory;
	uint32_t memory_len;
};

struct result {
	uint32_t size;
	uint64_t done, ns;
	struct histogram latency;
};

/* ---- One size -------------------------------------------------------------------------------- */

struct flight {
	uint64_t posted_at[DEPTH_MAX];
	uint16_t idle[DEPTH_MAX]; /* numbers that are not in flight */
	unsigned nidle;
	uint64_t posted;
};

static struct cw_uboe_wr request(const struct perf *p, uint32_t size, uint64_t slot)
{
	static const uint64_t one = 1;
	struct cw_uboe_wr wr = {.op = CW_UBOE_OP_WRITE,
				.user = slot,
				.local = p->memory,
				.len = size,
				.remote_addr = p->va,
				.token_id = p->token_id,
				.token_value = p->token_value};

	if (p->op == PERF_READ)
		wr.op = CW_UBOE_OP_READ;
	if (p->op == PERF_SEND)
		wr.op = CW_UBOE_OP_SEND;
	if (p->op == PERF_ATOMIC) {
		wr.op = CW_UBOE_OP_FETCH_ADD;
		wr.operand1 = &one;
	}
	return wr;
}

static int post(struct perf *p, struct endpoint *e, struct flight *f, uint32_t size, uint64_t limit)
{
	while (f->nidle > 0 && f->posted < limit) {
		uint16_t slot = f->idle[f->nidle - 1];
		struct cw_uboe_wr wr = request(p, size, slot);
		int rc = cw_uboe_post(e->to, &wr);

		if (rc == CW_E_SPACE)
			return 0;
		if (rc != CW_OK) {
			(void)snprintf(e->err, sizeof(e->err), "posting: %s", cw_strerror(rc));
			return -1;
		}
		f->posted_at[slot] = clock_now_ns();
		f->nidle--;
		f->posted++;
	}
	return 0;
}

static int collect(struct endpoint *e, struct flight *f, struct result *r)
{
	struct cw_uboe_cr cr[32];
	unsigned i, n = cw_uboe_poll(e->jetty, cr, 32);
	uint64_t now = n > 0 ? clock_now_ns() : 0;

	for (i = 0; i < n; i++) {
		if (cr[i].status != CW_UBOE_OK) {
			(void)snprintf(e->err, sizeof(e->err), "%s of %u octets: %s",
				       cw_uboe_op_name(cr[i].op), r->size,
				       cw_uboe_status_text(cr[i].status));
			return -1;
		}
		histogram_add(&r->latency, now - f->posted_at[cr[i].user]);
		f->idle[f->nidle++] = (uint16_t)cr[i].user;
		r->done++;
	}
	return (int)n;
}

/* The peer said something in the middle of the test: it failed, or went away. */
static int peer_spoke(struct endpoint *e)
{
	json_t *msg;
	int rc = rdv_recv(e->rdv, &msg, 0, e->err);

	if (rc <= 0)
		return rc;
	json_decref(msg);
	(void)snprintf(e->err, sizeof(e->err), "the peer ended the test");
	return -1;
}

static int measure(struct perf *p, struct endpoint *e, struct result *r)
{
	static struct flight f;
	uint64_t start = clock_now_ns(), end = p->duration ? start + p->duration : UINT64_MAX;
	uint64_t limit = p->duration ? UINT64_MAX : p->iterations;
	int rc;

	memset(&f, 0, sizeof(f));
	while (f.nidle < p->depth) {
		f.idle[f.nidle] = (uint16_t)f.nidle;
		f.nidle++;
	}
	while (r->done < limit && !(interrupted() && r->done == f.posted)) {
		if (clock_now_ns() >= end || interrupted())
			limit = f.posted;
		if (post(p, e, &f, r->size, limit) < 0)
			return -1;
		rc = ep_step(e, SECOND / 10);
		if (rc > 0)
			rc = peer_spoke(e);
		if (rc < 0)
			return -1;
		do
			rc = collect(e, &f, r);
		while (rc == 32);
		if (rc < 0)
			return -1;
	}
	r->ns = clock_now_ns() - start;
	return 0;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static double gbps(const struct result *r)
{
	return r->ns ? (double)r->size * 8 * (double)r->done / (double)r->ns : 0;
}

static double rate(const struct result *r)
{
	return r->ns ? (double)r->done * 1e9 / (double)r->ns : 0;
}

static double usec(const struct result *r, unsigned permille)
{
	return (double)histogram_permille(&r->latency, permille) / 1000;
}

static void text_head(void)
{
	printf("%10s %10s %9s %12s %9s %9s %9s %9s %9s\n", "octets", "messages", "Gbit/s",
	       "messages/s", "p50 us", "p90 us", "p99 us", "p99.9 us", "max us");
}

static void text_line(const struct result *r)
{
	printf("%10u %10" PRIu64 " %9.3f %12.0f %9.1f %9.1f %9.1f %9.1f %9.1f\n", r->size, r->done,
	       gbps(r), rate(r), usec(r, 500), usec(r, 900), usec(r, 990), usec(r, 999),
	       (double)r->latency.max / 1000);
	(void)fflush(stdout);
}

static json_t *json_line(const struct result *r)
{
	return json_pack("{s:I,s:I,s:f,s:f,s:f,s:{s:f,s:f,s:f,s:f,s:f,s:f}}", "octets",
			 (json_int_t)r->size, "messages", (json_int_t)r->done, "seconds",
			 (double)r->ns / 1e9, "gbit_per_second", gbps(r), "messages_per_second",
			 rate(r), "latency_us", "min", (double)r->latency.min / 1000, "p50",
			 usec(r, 500), "p90", usec(r, 900), "p99", usec(r, 990), "p99.9",
			 usec(r, 999), "max", (double)r->latency.max / 1000);
}

static json_int_t counter(json_t *report, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(report, "counters"), name));
}

static void text_end(const char *who, json_t *report)
{
	printf("%-8s sent %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT
	       " again; received %" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT
	       " with a bad ICRC, %" JSON_INTEGER_FORMAT " with a congestion mark\n",
	       who, counter(report, "tx"), counter(report, "rtx"), counter(report, "rx"),
	       counter(report, "bad-icrc"), counter(report, "ce"));
}

static int print_json(json_t *all)
{
	char *text = json_dumps(all, JSON_COMPACT);

	if (text != NULL)
		puts(text);
	free(text);
	json_decref(all);
	return text != NULL ? 0 : -1;
}

/* ---- Client ---------------------------------------------------------------------------------- */

static int read_target(struct perf *p, struct endpoint *e, json_t *answer)
{
	json_int_t va = 0, id = 0, value = 0;

	if (json_unpack(answer, "{s:{s:I,s:I,s:I}}", "test", "va", &va, "token_id", &id, "token",
			&value) < 0) {
		(void)snprintf(e->err, sizeof(e->err), "the peer's answer names no segment");
		return -1;
	}
	p->va = (uint64_t)va;
	p->token_id = (uint32_t)id;
	p->token_value = (uint32_t)value;
	return 0;
}

static int set_up_client(struct perf *p, struct endpoint *e)
{
	json_t *answer;
	int rc;

	if (ep_begin(e, &p->ep, -1, "perf") < 0 ||
	    ep_offer(e, json_pack("{s:s,s:I,s:i}", "op", op_names[p->op], "octets",
				  (json_int_t)p->memory_len, "depth", (int)p->depth)) < 0 ||
	    ep_await_answer(e, (struct ep_depth){p->depth, 1}, &answer) < 0)
		return -1;
	rc = read_target(p, e, answer);
	json_decref(answer);
	return rc;
}

/* Say that it is over, and hear the other end's counters; an atomic cell must have the right sum.
 */
static int finish_client(struct perf *p, struct endpoint *e, uint64_t total, json_t **remote)
{
	json_int_t cell = -1;

	if (rdv_send(e->rdv, json_pack("{s:b}", "done", 1), e->err) < 0 ||
	    ep_await(e, remote, ANSWER_NS) < 0)
		return -1;
	(void)json_unpack(*remote, "{s?I}", "cell", &cell);
	if (p->op != PERF_ATOMIC || (uint64_t)cell == total)
		return 0;
	(void)snprintf(e->err, sizeof(e->err), "%" PRIu64 " additions made %" JSON_INTEGER_FORMAT,
		       total, cell);
	return 1;
}

static int measure_all(struct perf *p, struct endpoint *e, json_t *list, uint64_t *total)
{
	static struct result r;
	unsigned i;

	if (!p->json)
		text_head();
	for (i = 0; i < p->nsizes && !interrupted(); i++) {
		memset(&r, 0, sizeof(r));
		r.size = p->sizes[i];
		if (measure(p, e, &r) < 0)
			return -1;
		*total += r.done;
		if (p->json)
			(void)json_array_append_new(list, json_line(&r));
		else
			text_line(&r);
	}
	return 0;
}

static void print_end(const struct perf *p, struct endpoint *e, json_t *list, json_t *remote)
{
	json_t *local = ep_report(e);

	if (p->json) {
		(void)print_json(json_pack("{s:s,s:i,s:O,s:O,s:O}", "op", op_names[p->op], "depth",
					   (int)p->depth, "results", list, "local", local, "remote",
					   remote));
	} else {
		text_end("here", local);
		text_end("peer", remote);
	}
	json_decref(local);
}

static int run_client(struct perf *p)
{
	static struct endpoint e;
	json_t *list = json_array(), *remote = NULL;
	uint64_t total = 0;
	int rc = -1;

	if (set_up_client(p, &e) == 0 && measure_all(p, &e, list, &total) == 0)
		rc = finish_client(p, &e, total, &remote);
	if (rc >= 0)
		print_end(p, &e, list, remote);
	if (rc != 0)
		fprintf(stderr, "causeway perf: %s\n", e.err);
	json_decref(list);
	json_decref(remote);
	ep_end(&e);
	return rc < 0 ? EXIT_USAGE : out_finish(stdout, "perf", rc == 0 ? EXIT_DONE : EXIT_DATA);
}

/* ---- Server ---------------------------------------------------------------------------------- */

static int read_test(struct perf *p, struct endpoint *e, json_t *offer, uint32_t *octets, int *op)
{
	json_int_t n = 0;
	const char *name = "";

	(void)json_unpack(offer, "{s?{s?s,s?I}}", "test", "op", &name, "octets", &n);
	for (*op = 0; *op < PERF_OPS && strcmp(op_names[*op], name) != 0;)
		(*op)++;
	if (*op == PERF_OPS || (p->op >= 0 && p->op != *op)) {
		(void)snprintf(e->err, sizeof(e->err), "the client measures '%.20s', this is '%s'",
			       name, p->op >= 0 ? op_names[p->op] : "of no known kind");
		return -1;
	}
	if (n < 1 || n > SIZE_MAX_O) {
		(void)snprintf(e->err, sizeof(e->err), "a size of %" JSON_INTEGER_FORMAT, n);
		return -1;
	}
	*octets = (uint32_t)n;
	return 0;
}

static int make_target(struct perf *p, struct endpoint *e, uint32_t octets,
		       struct cw_uboe_seg **seg)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;

	free(p->memory);
	p->memory_len = octets < 64 ? 64 : octets;
	if (posix_memalign((void **)&p->memory, 4096, p->memory_len) != 0) {
		p->memory = NULL;
		(void)snprintf(e->err, sizeof(e->err), "no memory for %u octets", octets);
		return -1;
	}
	memset(p->memory, 0, p->memory_len);
	o.access = CW_UBOE_READ | CW_UBOE_WRITE | CW_UBOE_ATOMIC;
	o.token = true;
	o.token_value = (uint32_t)(clock_now_ns() * 2654435761u);
	p->token_value = o.token_value;
	if (cw_uboe_seg_register(e->dev, p->memory, p->memory_len, &o, seg) == CW_OK)
		return 0;
	(void)snprintf(e->err, sizeof(e->err), "registering memory failed");
	return -1;
}

static void refill(struct perf *p, struct endpoint *e)
{
	struct cw_uboe_cr cr[32];
	unsigned i, n;

	while ((n = cw_uboe_poll(e->jetty, cr, 32)) > 0) {
		for (i = 0; i < n; i++)
			(void)cw_uboe_post_recv(e->jetty, p->memory, p->memory_len, 0);
	}
}

static int serve(struct perf *p, struct endpoint *e)
{
	json_t *msg;
	int rc;

	for (;;) {
		rc = ep_step(e, SECOND / 10);
		refill(p, e);
		if (rc > 0)
			rc = rdv_recv(e->rdv, &msg, 0, e->err);
		if (rc < 0)
			return -1;
		if (rc > 0) {
			json_decref(msg);
			return 0;
		}
		if (interrupted()) {
			(void)snprintf(e->err, sizeof(e->err), "interrupted");
			return -1;
		}
	}
}

/* What the other end did not hear yet (acknowledgements) gets a moment. */
static int report_and_part(struct perf *p, struct endpoint *e, int op)
{
	json_t *report = ep_report(e), *bye;
	uint64_t cell = 0;

	memcpy(&cell, p->memory, sizeof(cell));
	if (op == PERF_ATOMIC)
		(void)json_object_set_new(report, "cell", json_integer((json_int_t)cell));
	if (p->json) {
		json_incref(report);
		(void)print_json(report);
	} else {
		text_end(op_names[op], report);
	}
	(void)fflush(stdout);
	if (rdv_send(e->rdv, report, e->err) < 0)
		return -1;
	if (ep_await(e, &bye, SECOND) == 0)
		json_decref(bye);
	return 0;
}

static int serve_one(struct perf *p, struct endpoint *e, int listener)
{
	struct cw_uboe_seg *seg;
	json_t *offer;
	uint32_t octets = 0;
	int op = 0, rc, i;

	if (ep_begin(e, &p->ep, listener, "perf") < 0 ||
	    ep_await_offer(e, (struct ep_depth){1, RECV_DEPTH}, &offer) < 0)
		return -1;
	rc = read_test(p, e, offer, &octets, &op);
	json_decref(offer);
	if (rc < 0 || make_target(p, e, octets, &seg) < 0) {
		rdv_refuse(e->rdv, e->err);
		return -1;
	}
	for (i = 0; op == PERF_SEND && i < RECV_DEPTH; i++)
		(void)cw_uboe_post_recv(e->jetty, p->memory, p->memory_len, 0);
	if (ep_answer(e, json_pack("{s:I,s:I,s:I}", "va", (json_int_t)cw_uboe_seg_va(seg),
				   "token_id", (json_int_t)cw_uboe_seg_token_id(seg), "token",
				   (json_int_t)p->token_value)) < 0 ||
	    ep_await_connect(e) < 0 || serve(p, e) < 0)
		return -1;
	return report_and_part(p, e, op);
}

static int run_server(struct perf *p)
{
	static struct endpoint e;
	char err[RDV_ERROR_MAX];
	int listener = rdv_listen(p->ep.host, p->ep.port,
				  p->ep.ip_version == 0   ? AF_UNSPEC
				  : p->ep.address != NULL ? AF_UNSPEC
				  : p->ep.ip_version == 4 ? AF_INET
							  : AF_INET6,
				  err);
	int rc = 0;

	if (listener < 0) {
		fprintf(stderr, "causeway perf: %s\n", err);
		return EXIT_USAGE;
	}
	do {
		rc = serve_one(p, &e, listener);
		if (rc < 0 && !(interrupted() && e.rdv == NULL))
			fprintf(stderr, "causeway perf: %s\n", e.err);
		ep_end(&e);
	} while (p->keep && !interrupted());
	(void)close(listener);
	return out_finish(stdout, "perf", rc < 0 && !p->keep ? EXIT_USAGE : EXIT_DONE);
}

/* ---- Options --------------------------------------------------------------------------------- */

enum { OPT_SIZE = 2000, OPT_DEPTH, OPT_LATENCY, OPT_KEEP };

static const struct option options[] = {EP_LONG,
					{"size", required_argument, NULL, OPT_SIZE},
					{"iterations", required_argument, NULL, 'n'},
					{"duration", required_argument, NULL, 'D'},
					{"depth", required_argument, NULL, OPT_DEPTH},
					{"latency", no_argument, NULL, OPT_LATENCY},
					{"keep", no_argument, NULL, OPT_KEEP},
					{"json", no_argument, NULL, 'j'},
					{"help", no_argument, NULL, 'h'},
					{0}};

/* "4096", "64,4096", "2-65536" (every power of two in between). */
static int read_sizes(struct perf *p, const char *arg)
{
	char text[24];
	uint64_t from = 0, to = 0;
	size_t len;

	p->nsizes = 0;
	for (;; arg += len + 1) {
		len = strcspn(arg, ",-");
		(void)snprintf(text, sizeof(text), "%.*s", (int)(len < 23 ? len : 23), arg);
		if (args_number(&cmd_perf, "--size", text, 1, SIZE_MAX_O, &to) != 0)
			return EXIT_USAGE;
		while (from != 0 && 2 * from < to && p->nsizes < SIZES_MAX)
			p->sizes[p->nsizes++] = (uint32_t)(from *= 2);
		if (p->nsizes == SIZES_MAX)
			return cmd_usage(&cmd_perf, "--size: more than %d sizes", SIZES_MAX);
		p->sizes[p->nsizes++] = (uint32_t)to;
		from = arg[len] == '-' ? to : 0;
		if (arg[len] == '\0')
			return 0;
	}
}

static int set_own(struct perf *p, int opt, const char *arg)
{
	uint64_t n = 0;
	int rc = 0;

	if (opt == OPT_SIZE)
		return read_sizes(p, arg);
	if (opt == 'n') {
		rc = args_number(&cmd_perf, "-n", arg, 1, UINT64_MAX / 2, &p->iterations);
	} else if (opt == 'D') {
		rc = args_number(&cmd_perf, "-D", arg, 1, 86400, &n);
		p->duration = n * SECOND;
	} else if (opt == OPT_DEPTH) {
		rc = args_number(&cmd_perf, "--depth", arg, 1, DEPTH_MAX, &n);
		p->depth = (unsigned)n;
	} else if (opt == OPT_LATENCY) {
		p->depth = 1;
	} else if (opt == OPT_KEEP) {
		p->keep = true;
	} else {
		p->json = true;
	}
	return rc;
}

static int read_op(struct perf *p, const char *name)
{
	int i;

	for (i = 0; i < PERF_OPS; i++) {
		if (strcmp(name, op_names[i]) == 0) {
			p->op = i;
			return 0;
		}
	}
	return cmd_usage(&cmd_perf, "'%s' is not write, read, send or atomic", name);
}

static int check_options(struct perf *p)
{
	unsigned i;

	if (!p->ep.server && p->op < 0)
		return cmd_usage(&cmd_perf, "say what to measure: write, read, send or atomic");
	if (p->op == PERF_ATOMIC) {
		p->sizes[0] = 8;
		p->nsizes = 1;
	}
	for (i = 0; i < p->nsizes; i++) {
		if (p->sizes[i] > p->memory_len)
			p->memory_len = p->sizes[i];
	}
	return ep_check(&cmd_perf, &p->ep);
}

/* 0 to go on, else an exit code + 1. */
static int read_options(struct perf *p, int argc, char **argv)
{
	int opt, rc, shift = argc > 1 && argv[1][0] != '-';

	if (shift && (rc = read_op(p, argv[1])) != 0)
		return rc + 1;
	argc -= shift;
	argv += shift;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":" EP_SHORT "n:D:jh", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(cmd_perf.help, stdout);
			return EXIT_DONE + 1;
		}
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_perf, argv, opt) + 1;
		rc = ep_option(&cmd_perf, &p->ep, opt, optarg);
		if (rc < 0)
			rc = set_own(p, opt, optarg);
		if (rc != 0)
			return rc + 1;
	}
	if (optind < argc && p->ep.server && p->ep.host == NULL)
		p->ep.host = argv[optind++];
	if (optind < argc)
		return cmd_usage(&cmd_perf, "'%s' is too much", argv[optind]) + 1;
	rc = check_options(p);
	return rc != 0 ? rc + 1 : 0;
}

static int run(int argc, char **argv)
{
	static struct perf p;
	int rc;

	p = (struct perf){.op = -1, .sizes = {4096}, .nsizes = 1, .depth = 64, .iterations = 10000};
	ep_defaults(&p.ep);
	if ((rc = read_options(&p, argc, argv)) != 0)
		return rc - 1;
	interrupt_catch();
	if (!p.ep.server && (p.memory = calloc(1, p.memory_len)) == NULL) {
		fputs("causeway perf: out of memory\n", stderr);
		return EXIT_USAGE;
	}
	rc = p.ep.server ? run_server(&p) : run_client(&p);
	free(p.memory);
	return rc;
}

const struct cmd cmd_perf = {
	.name = "perf",
	.run = run,
	.brief = "measure a UB endpoint: bandwidth, message rate, latency",
	.help = "usage: causeway perf [write|read|send|atomic] -s [ADDRESS] [OPTIONS]\n"
		"       causeway perf write|read|send|atomic -c HOST [OPTIONS]\n"
		"\n"
		"Measure RTP between two software endpoints, over UBoE or a native UB link. The\n"
		"server is the target; what and how is measured is the client's choice.\n"
		"\n"
		"  -s, --server         wait for a client (on ADDRESS), serve it, leave\n"
		"  -c, --client HOST    measure towards the server on HOST\n" EP_HELP
		"      --keep           server: serve one client after the other\n"
		"  -j, --json           a JSON object instead of a table\n"
		"  -h, --help           this text\n"
		"\n"
		"client:\n"
		"      --size LIST      octets of a message: 4096, or 64,4096, or 2-1048576 for\n"
		"                       every power of two (4096); atomics have 8\n"
		"  -n, --iterations N   messages of each size (10000)\n"
		"  -D, --duration S     seconds for each size, instead of -n\n"
		"      --depth N        messages in flight (64)\n"
		"      --latency        the same as --depth 1\n" EP_HELP_CLIENT "\n"
		"exit code: 0 done, 1 the target's memory is not what it should be, 2 usage, I/O\n"
		"or the transport failed\n"
		"\n"
		"examples:\n"
		"  causeway perf -s --keep\n"
		"  causeway perf write -c 192.0.2.2 --size 64-1048576\n"
		"  causeway perf read -6 -c server.example --latency -n 100000 -j\n"
		"  causeway perf send -c 198.51.100.1 --native -i ub0 -a 10.1.0.1 --cc dcqcn\n",
};
