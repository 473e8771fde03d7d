/* perf.c - causeway perf: bandwidth, message rate and latency between two software endpoints. The
 * command line, and the client. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/interrupt.h"
#include "cli/perf.h"

#define ANSWER_NS (30 * SECOND)

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

static json_t *offer(const struct perf *p, uint32_t octets)
{
	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:b,s:b,s:I,s:I,s:I}", "kind", p->kind->name,
			 "op", cw_uboe_op_name(p->op), "octets", (json_int_t)octets, "depth",
			 (json_int_t)p->depth, "iterations", (json_int_t)p->iterations, "duration",
			 (json_int_t)p->duration, "both", p->both, "check", p->check, "va",
			 (json_int_t)cw_uboe_seg_va(p->seg), "token_id",
			 (json_int_t)cw_uboe_seg_token_id(p->seg), "token",
			 (json_int_t)p->own_token);
}

static int set_up_client(struct perf *p, struct endpoint *e)
{
	uint32_t octets = 0;
	json_t *answer;
	unsigned i;
	int rc;

	for (i = 0; i < p->nsizes; i++)
		octets = p->sizes[i] > octets ? p->sizes[i] : octets;
	if (ep_begin(e, &p->ep, -1, "perf") < 0)
		return -1;
	if (p->ep.service == CW_UBOE_UNO && p->op != CW_UBOE_OP_PREFETCH && octets > e->o.mtu) {
		(void)snprintf(e->err, sizeof(e->err), "UTP: %u octets do not fit one packet of %u",
			       octets, e->o.mtu);
		return -1;
	}
	if (perf_memory(p, e, octets) < 0 || ep_offer(e, offer(p, octets)) < 0 ||
	    ep_await_answer(e, (struct ep_depth){p->depth, p->both ? PERF_DEPTH_MAX : 1}, &answer) <
		    0)
		return -1;
	if (p->both)
		perf_post_inboxes(p, e);
	rc = read_target(p, e, answer);
	json_decref(answer);
	return rc;
}

/* Ask the server, and get its answer. */
static int ask(struct perf *p, struct endpoint *e, json_t *question, json_t **answer)
{
	/* Back again may take as long as there. */
	uint64_t patience = interrupted() ? 10 * SECOND
			    : p->both     ? UINT64_MAX
					  : ANSWER_NS + 2 * p->duration;
	int rc = rdv_send(e->rdv, question, e->err);

	if (rc == 0)
		rc = perf_wait(p, e, answer, patience);
	if (rc == 0)
		(void)snprintf(e->err, sizeof(e->err),
			       interrupted() ? "interrupted" : "the peer does not answer");
	return rc > 0 ? 0 : -1;
}

/* What was in the messages: on this side and, as `answer` has it, on the other. 1: not as it should
 * be. */
static int judge(struct perf *p, struct endpoint *e, struct perf_line *l, json_t *answer)
{
	json_int_t received = 0, wrong = 0, cell = 0, back = 0, ns = 0;
	uint64_t want;

	(void)json_unpack(answer, "{s?I,s?I,s?I,s?I,s?I}", "received", &received, "wrong", &wrong,
			  "cell", &cell, "messages", &back, "ns", &ns);
	perf_verify(p, back < p->depth ? (uint32_t)back : p->depth);
	l->received = (uint64_t)received;
	l->bad = p->bad + (uint64_t)wrong;
	l->back_done = (uint64_t)back;
	l->back_ns = (uint64_t)ns;
	want = perf_cell_after(p->op, l->there->size, l->there->done);
	if (perf_is_atomic(p->op) && (uint64_t)cell != want) {
		(void)snprintf(e->err, sizeof(e->err),
			       "%" PRIu64 " times %s made %" PRIx64 " of the cell, not %" PRIx64,
			       l->there->done, cw_uboe_op_name(p->op), (uint64_t)cell, want);
		return 1;
	}
	if (l->bad == 0)
		return 0;
	(void)snprintf(e->err, sizeof(e->err),
		       "%" PRIu64 " messages of %u octets with wrong content", l->bad,
		       l->there->size);
	return 1;
}

/* UTP tells nobody that a packet has arrived: give the last ones the time. */
static int linger(struct perf *p, struct endpoint *e)
{
	json_t *msg = NULL;

	if (p->ep.service != CW_UBOE_UNO || perf_wait(p, e, &msg, SECOND / 5) == 0)
		return 0;
	json_decref(msg);
	return -1;
}

static int measure_one(struct perf *p, struct endpoint *e, uint32_t size, json_t *list)
{
	static struct perf_result r;
	struct perf_line l = {.there = &r};
	json_t *answer;
	int rc;

	memset(&r, 0, sizeof(r));
	r.size = size;
	perf_prepare(p, e, size);
	if (ask(p, e, json_pack("{s:I}", "size", (json_int_t)size), &answer) < 0)
		return -1;
	json_decref(answer);
	if (perf_measure(p, e, &r) < 0 || linger(p, e) < 0 ||
	    ask(p, e,
		json_pack("{s:I}", "used", (json_int_t)(r.done < p->depth ? r.done : p->depth)),
		&answer) < 0)
		return -1;
	rc = judge(p, e, &l, answer);
	json_decref(answer);
	if (p->json)
		(void)json_array_append_new(list, perf_json_line(p, &l));
	else
		perf_text_line(p, &l);
	return rc;
}

/* 0, 1: wrong content, -1. */
static int measure_all(struct perf *p, struct endpoint *e, json_t *list)
{
	unsigned i;
	int rc = 0;

	if (!p->json)
		perf_text_head(p);
	for (i = 0; i < p->nsizes && !interrupted() && rc == 0; i++)
		rc = measure_one(p, e, p->sizes[i], list);
	return rc;
}

static void print_end(const struct perf *p, struct endpoint *e, json_t *list, json_t *remote)
{
	json_t *local = ep_report(e);

	if (p->json) {
		perf_print_json(json_pack("{s:s,s:i,s:O,s:O,s:O}", "op", cw_uboe_op_name(p->op),
					  "depth", (int)p->depth, "results", list, "local", local,
					  "remote", remote));
	} else {
		perf_text_end("here", local);
		perf_text_end("peer", remote);
	}
	json_decref(local);
}

static int run_client(struct perf *p)
{
	static struct endpoint e;
	json_t *list = json_array(), *remote = NULL;
	int rc = -1;

	if (set_up_client(p, &e) == 0)
		rc = measure_all(p, &e, list);
	if (rc >= 0 && (rdv_send(e.rdv, json_pack("{s:b}", "done", 1), e.err) < 0 ||
			ep_await(&e, &remote, ANSWER_NS) < 0))
		rc = -1;
	if (rc >= 0)
		print_end(p, &e, list, remote);
	if (rc != 0)
		fprintf(stderr, "causeway perf: %s\n", e.err);
	json_decref(list);
	json_decref(remote);
	ep_end(&e);
	perf_memory_free(p);
	return rc < 0 ? EXIT_USAGE : rc == 0 ? EXIT_DONE : EXIT_DATA;
}

/* ---- Options --------------------------------------------------------------------------------- */

enum { OPT_SIZE = 2000, OPT_DEPTH, OPT_LATENCY, OPT_KEEP, OPT_ALL, OPT_CHECK, OPT_ATOMIC, OPT_UTP };

static const struct option options[] = {EP_LONG,
					{"size", required_argument, NULL, OPT_SIZE},
					{"iterations", required_argument, NULL, 'n'},
					{"duration", required_argument, NULL, 'D'},
					{"depth", required_argument, NULL, OPT_DEPTH},
					{"latency", no_argument, NULL, OPT_LATENCY},
					{"keep", no_argument, NULL, OPT_KEEP},
					{"all", no_argument, NULL, OPT_ALL},
					{"bidirectional", no_argument, NULL, 'b'},
					{"check", no_argument, NULL, OPT_CHECK},
					{"utp", no_argument, NULL, OPT_UTP},
					{"atomic", required_argument, NULL, OPT_ATOMIC},
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
	p->sized = true;
	for (;; arg += len + 1) {
		len = strcspn(arg, ",-");
		(void)snprintf(text, sizeof(text), "%.*s", (int)(len < 23 ? len : 23), arg);
		if (args_number(&cmd_perf, "--size", text, 1, PERF_SIZE_MAX, &to) != 0)
			return EXIT_USAGE;
		while (from != 0 && 2 * from < to && p->nsizes < PERF_SIZES_MAX)
			p->sizes[p->nsizes++] = (uint32_t)(from *= 2);
		if (p->nsizes == PERF_SIZES_MAX)
			return cmd_usage(&cmd_perf, "--size: more than %d sizes", PERF_SIZES_MAX);
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
	if (opt == OPT_ALL)
		return read_sizes(p, "2-8388608");
	if (opt == 'n') {
		rc = args_number(&cmd_perf, "-n", arg, 1, UINT64_MAX / 2, &p->iterations);
	} else if (opt == 'D') {
		rc = args_number(&cmd_perf, "-D", arg, 1, 86400, &n);
		p->duration = n * SECOND;
	} else if (opt == OPT_DEPTH) {
		rc = args_number(&cmd_perf, "--depth", arg, 1, PERF_DEPTH_MAX, &n);
		p->depth = (unsigned)n;
	} else if (opt == OPT_LATENCY) {
		p->depth = 1;
	} else if (opt == OPT_KEEP) {
		p->keep = true;
	} else if (opt == 'b') {
		p->both = true;
	} else if (opt == OPT_UTP) {
		p->ep.service = CW_UBOE_UNO;
	} else if (opt == OPT_CHECK) {
		p->check = true;
	} else if (opt == OPT_ATOMIC) {
		p->op = perf_atomic(arg);
		if (p->op == CW_UBOE_OPS)
			rc = cmd_usage(&cmd_perf, "--atomic: '%s' is none of the nine", arg);
	} else {
		p->json = true;
	}
	return rc;
}

static int read_op(struct perf *p, const char *name)
{
	p->kind = perf_kind(name);
	if (p->kind != NULL)
		return 0;
	return cmd_usage(&cmd_perf,
			 "'%s' is not write, write-imm, write-notify, read, send, send-imm, atomic "
			 "or prefetch",
			 name);
}

static int check_atomic(struct perf *p)
{
	unsigned i;

	if (p->kind->op != CW_UBOE_OP_FETCH_ADD)
		return p->op == CW_UBOE_OPS ? 0
					    : cmd_usage(&cmd_perf, "--atomic is for perf atomic");
	if (p->op == CW_UBOE_OPS)
		p->op = CW_UBOE_OP_FETCH_ADD;
	if (p->both)
		return cmd_usage(&cmd_perf, "-b: atomics go one way");
	if (!p->sized)
		p->sizes[0] = 8;
	for (i = 0; i < p->nsizes; i++) {
		if (p->sizes[i] > 64 || (p->sizes[i] & (p->sizes[i] - 1)) != 0)
			return cmd_usage(&cmd_perf, "--size: operands have 1, 2, 4 ... 64 octets");
	}
	p->check = false; /* the cell's value is always checked */
	return 0;
}

/* What is the client's to say. */
static int check_client(struct perf *p)
{
	unsigned i;
	int rc;

	if (p->kind == NULL)
		return cmd_usage(&cmd_perf, "say what to measure: write, write-imm, write-notify, "
					    "read, send, send-imm, atomic or prefetch");
	if ((rc = check_atomic(p)) != 0)
		return rc;
	if (p->op == CW_UBOE_OPS)
		p->op = p->kind->op;
	if (p->op == CW_UBOE_OP_PREFETCH)
		p->ep.service = CW_UBOE_UNO; /* the only one that has it */
	else if (p->ep.service == CW_UBOE_UNO && p->op != CW_UBOE_OP_SEND &&
		 p->op != CW_UBOE_OP_SEND_IMM)
		return cmd_usage(&cmd_perf, "--utp: UTP carries send, send-imm and prefetch");
	if (p->op == CW_UBOE_OP_PREFETCH && p->check)
		return cmd_usage(&cmd_perf, "--check: a prefetch has no content");
	for (i = 0; p->check && i < p->nsizes; i++) {
		if ((uint64_t)p->sizes[i] * p->depth > PERF_MEMORY_MAX)
			return cmd_usage(&cmd_perf,
					 "--check: %u messages of %u octets take too "
					 "much memory",
					 p->depth, p->sizes[i]);
	}
	return 0;
}

static int check_options(struct perf *p)
{
	int rc = p->ep.client ? check_client(p) : 0;

	return rc != 0 ? rc : ep_check(&cmd_perf, &p->ep);
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
	while ((opt = getopt_long(argc, argv, ":" EP_SHORT "n:D:bjh", options, NULL)) != -1) {
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

	p = (struct perf){
		.op = CW_UBOE_OPS, .sizes = {4096}, .nsizes = 1, .depth = 64, .iterations = 10000};
	ep_defaults(&p.ep);
	if ((rc = read_options(&p, argc, argv)) != 0)
		return rc - 1;
	interrupt_catch();
	return p.ep.server ? perf_serve(&p) : run_client(&p);
}

const struct cmd cmd_perf = {
	.name = "perf",
	.run = run,
	.brief = "measure a UB endpoint: bandwidth, message rate, latency",
	.help = "usage: causeway perf [OPERATION] -s [ADDRESS] [OPTIONS]\n"
		"       causeway perf OPERATION -c HOST [OPTIONS]\n"
		"\n"
		"Measure RTP or UTP between two software endpoints, over UBoE or a native UB "
		"link.\n"
		"OPERATION is write, write-imm, write-notify, read, send, send-imm, atomic or\n"
		"prefetch (over UTP). The server is the target; what and how is measured is the\n"
		"client's choice.\n"
		"\n"
		"  -s, --server         wait for a client (on ADDRESS), serve it, leave\n"
		"  -c, --client HOST    measure towards the server on HOST\n" EP_HELP
		"      --keep           server: serve one client after the other\n"
		"  -j, --json           a JSON object instead of a table\n"
		"  -h, --help           this text\n"
		"\n"
		"client:\n"
		"      --size LIST      octets of a message: 4096, or 64,4096, or 2-1048576 for\n"
		"                       every power of two (4096; atomics 8)\n"
		"      --all            the same as --size 2-8388608\n"
		"  -n, --iterations N   messages of each size (10000)\n"
		"  -D, --duration S     seconds for each size, instead of -n\n"
		"      --depth N        messages in flight (64)\n"
		"      --latency        the same as --depth 1\n"
		"  -b, --bidirectional  both ends send at once; rates are those of both together\n"
		"      --check          look at the content of messages: every one that is sent "
		"or\n"
		"                       read, the last one written in each of --depth places\n"
		"      --utp            unreliable: a message is one packet, nothing is "
		"acknowledged\n"
		"      --atomic KIND    cas, swap, store, load, fetch-add, fetch-sub, fetch-and,\n"
		"                       fetch-or, fetch-xor (fetch-add)\n" EP_HELP_CLIENT "\n"
		"exit code: 0 done, 1 wrong content, or an atomic's cell has a wrong value, 2 "
		"usage,\n"
		"I/O or the transport failed\n"
		"\n"
		"examples:\n"
		"  causeway perf -s --keep\n"
		"  causeway perf write -c 192.0.2.2 --size 64-1048576\n"
		"  causeway perf write -c 192.0.2.2 --all -b -D 2\n"
		"  causeway perf send -c 192.0.2.2 --channels 4 --spray 4 --spray-by packet "
		"--check\n"
		"  causeway perf read -6 -c server.example --latency -n 100000 -j\n"
		"  causeway perf send -c 198.51.100.1 --native -i ub0 -a 10.1.0.1 --cc dcqcn\n",
};
