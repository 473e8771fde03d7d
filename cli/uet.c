/* uet.c - causeway uet: messages over several paths between two hosts. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/uetx.h"
#include "cli/args.h"
#include "cli/uet.h"

enum {
	OPT_TO = 256,
	OPT_BIND,
	OPT_PORT,
	OPT_PATHS,
	OPT_MTU,
	OPT_SPRAY,
	OPT_SIZE,
	OPT_COUNT,
	OPT_ELEMENTS,
	OPT_LOSS,
	OPT_SEED,
	OPT_TIMEOUT,
	OPT_SOURCE_PORT,
	OPT_OP,
	OPT_EXPOSE,
	OPT_OFFSET,
	OPT_LENGTH,
	OPT_AHEAD,
	OPT_DPDK,
	OPT_ADDRESS,
	OPT_HOP,
	OPT_FOREVER,
	OPT_CRC
};

/* The scheduler alone may keep a process from answering for longer than the library's default. */
#define RTO_MIN 20000000u

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"output", required_argument, NULL, 'o'},
	{"ranks", required_argument, NULL, 'n'},
	{"to", required_argument, NULL, OPT_TO},
	{"bind", required_argument, NULL, OPT_BIND},
	{"port", required_argument, NULL, OPT_PORT},
	{"paths", required_argument, NULL, OPT_PATHS},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"spray", required_argument, NULL, OPT_SPRAY},
	{"size", required_argument, NULL, OPT_SIZE},
	{"count", required_argument, NULL, OPT_COUNT},
	{"elements", required_argument, NULL, OPT_ELEMENTS},
	{"loss", required_argument, NULL, OPT_LOSS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"source-port", required_argument, NULL, OPT_SOURCE_PORT},
	{"op", required_argument, NULL, OPT_OP},
	{"expose", required_argument, NULL, OPT_EXPOSE},
	{"offset", required_argument, NULL, OPT_OFFSET},
	{"length", required_argument, NULL, OPT_LENGTH},
	{"ahead", required_argument, NULL, OPT_AHEAD},
	{"dpdk", required_argument, NULL, OPT_DPDK},
	{"address", required_argument, NULL, OPT_ADDRESS},
	{"hop", required_argument, NULL, OPT_HOP},
	{"crc", no_argument, NULL, OPT_CRC},
	{"forever", no_argument, NULL, OPT_FOREVER},
	{NULL, 0, NULL, 0},
};

static int number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	return args_number(&cmd_uet, name, text, min, max, out);
}

/* Which of three names; 3: none of them. */
static unsigned one_of(const char *text, const char *const names[3])
{
	unsigned i = 0;

	while (i < 3 && strcmp(text, names[i]) != 0)
		i++;
	return i;
}

static int spray_of(const char *text, enum cw_uet_spray *out)
{
	static const char *const names[] = {"weighted", "round-robin", "hash"};
	unsigned i = one_of(text, names);

	*out = (enum cw_uet_spray)i;
	return i < 3 ? 0
		     : cmd_usage(&cmd_uet, "--spray: weighted, round-robin or hash, not '%s'",
				 text);
}

static int op_of(const char *text, enum uet_op *out)
{
	static const char *const names[] = {"send", "write", "read"};
	unsigned i = one_of(text, names);

	*out = (enum uet_op)i;
	return i < 3 ? 0 : cmd_usage(&cmd_uet, "--op: send, write or read, not '%s'", text);
}

static int loss_of(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (*text == '\0' || *end != '\0' || !(*out >= 0 && *out <= 50))
		return cmd_usage(&cmd_uet, "--loss: percent from 0 to 50, not '%s'", text);
	return 0;
}

static int set_number(struct uet_opts *o, int opt, const char *arg)
{
	uint64_t v = 0;
	int rc;

	switch (opt) {
	case OPT_PORT:
		rc = number("--port", arg, 1, 65535, &v);
		o->port = (uint16_t)v;
		return rc;
	case OPT_PATHS:
		rc = number("--paths", arg, 1, UET_PATHS, &v);
		o->paths = (unsigned)v;
		return rc;
	case OPT_MTU:
		rc = number("--mtu", arg, 64, 65000, &v);
		o->s.mtu = (uint32_t)v;
		return rc;
	case 'n':
		rc = number("-n", arg, 2, 256, &v);
		o->ranks = (unsigned)v;
		return rc;
	case OPT_SOURCE_PORT:
		rc = number("--source-port", arg, 1, 65535 - UET_PATHS, &v);
		o->source_port = (uint16_t)v;
		return rc;
	case OPT_EXPOSE:
		return number("--expose", arg, 1, UINT32_MAX, &o->expose);
	case OPT_OFFSET:
		return number("--offset", arg, 0, UINT32_MAX, &o->offset);
	case OPT_LENGTH:
		return number("--length", arg, 0, UINT32_MAX, &o->length);
	case OPT_AHEAD:
		rc = number("--ahead", arg, 1, UET_AHEAD, &v);
		o->ahead = (unsigned)v;
		return rc;
	case OPT_SIZE:
		return number("--size", arg, 1, 1 << 30, &o->size);
	case OPT_COUNT:
		return number("--count", arg, 1, UINT32_MAX, &o->count);
	case OPT_ELEMENTS:
		return number("--elements", arg, 1, 1 << 24, &o->elements);
	case OPT_SEED:
		return number("--seed", arg, 0, UINT32_MAX, &o->seed);
	default:
		return number("--timeout", arg, 1, 86400000, &o->timeout_ms);
	}
}

static int set_option(struct uet_opts *o, int opt, const char *arg)
{
	switch (opt) {
	case 'j':
		o->json = true;
		return 0;
	case 'o':
		o->file = arg;
		return 0;
	case OPT_CRC:
		o->crc = true;
		return 0;
	case OPT_FOREVER:
		o->forever = true;
		return 0;
	case OPT_TO:
		o->to = arg;
		return 0;
	case OPT_BIND:
		o->bind = arg;
		return 0;
	case OPT_SPRAY:
		return spray_of(arg, &o->s.spray);
	case OPT_DPDK:
		o->dpdk = arg;
		return 0;
	case OPT_ADDRESS:
		o->address = arg;
		return 0;
	case OPT_HOP:
		o->has_hop = true;
		return args_mac(&cmd_uet, "--hop", arg, o->hop);
	case OPT_OP:
		return op_of(arg, &o->op);
	case OPT_LOSS:
		return loss_of(arg, &o->loss);
	default:
		return set_number(o, opt, arg);
	}
}

static const struct sub {
	const char *name;
	int (*run)(const struct uet_opts *o);
	bool to, file, may; /* needs --to, a file; may have one */
} subs[] = {
	{"send", uet_send_file, true, true, false},
	{"write", uet_write_file, true, true, false},
	{"read", uet_read_memory, true, false, false},
	{"perf", uet_perf, true, false, false},
	{"recv", uet_recv, false, false, true},
	{"allreduce", uet_allreduce, false, false, false},
};

static int dispatch(struct uet_opts *o, const char *what, int argc, char **argv)
{
	int left = argc - optind;
	const struct sub *s = subs;

	while (s < subs + sizeof(subs) / sizeof(subs[0]) && strcmp(s->name, what) != 0)
		s++;
	if (s == subs + sizeof(subs) / sizeof(subs[0]))
		return cmd_usage(&cmd_uet, "no subcommand '%s'", what);
	if (s->to && o->to == NULL)
		return cmd_usage(&cmd_uet, "%s: --to is missing", what);
	if (s->file && left != 1)
		return cmd_usage(&cmd_uet, "%s: one file", what);
	if (!s->file && left > s->may)
		return cmd_usage(&cmd_uet, "%s: what is '%s'?", what, argv[optind + s->may]);
	if ((o->dpdk != NULL) != (o->address != NULL))
		return cmd_usage(&cmd_uet, "--dpdk and --address go together");
	if (o->has_hop && o->dpdk == NULL)
		return cmd_usage(&cmd_uet, "--hop is for --dpdk: the kernel knows its routes");
	if (s->may && left == 1 && o->expose == 0)
		return cmd_usage(&cmd_uet, "%s: a file is for --expose", what);
	if (s->file)
		o->file = argv[optind];
	else if (left == 1)
		o->memory = argv[optind];
	return s->run(o);
}

static int run(int argc, char **argv)
{
	struct uet_opts o = {.port = CW_UETX_PORT,
			     .paths = 4,
			     .ranks = 4,
			     .ahead = UET_AHEAD,
			     .size = 1 << 20,
			     .elements = 100000,
			     .seed = 1,
			     .timeout_ms = 30000};
	const char *what = argc > 1 ? argv[1] : NULL;
	int opt, rc;

	if (what == NULL || what[0] == '-') {
		if (what != NULL && strcmp(what, "-h") == 0) {
			fputs(cmd_uet.help, stdout);
			return EXIT_DONE;
		}
		return cmd_usage(&cmd_uet, "send, recv, write, read, perf or allreduce?");
	}
	o.s.rto_min = RTO_MIN;
	optind = 2;
	while ((opt = getopt_long(argc, argv, ":jho:n:", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(cmd_uet.help, stdout);
			return EXIT_DONE;
		}
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_uet, argv, opt);
		if ((rc = set_option(&o, opt, optarg)) != 0)
			return rc;
	}
	return dispatch(&o, what, argc, argv);
}

const struct cmd cmd_uet = {
	.name = "uet",
	.run = run,
	.brief = "send messages over several paths (UET, article header)",
	.help = "usage: causeway uet send --to ADDRESS [OPTIONS] FILE\n"
		"       causeway uet write --to ADDRESS [OPTIONS] FILE\n"
		"       causeway uet read --to ADDRESS --length N [OPTIONS] [-o FILE]\n"
		"       causeway uet perf --to ADDRESS [--op OP] [OPTIONS]\n"
		"       causeway uet recv [-o FILE] [--expose N [FILE]] [OPTIONS]\n"
		"       causeway uet allreduce [-n RANKS] [OPTIONS]\n"
		"\n"
		"Messages over UDP with the 20-octet UET header, cut in packets that are sprayed\n"
		"over paths: one UDP source port each. recv takes a transfer, or a round of\n"
		"Writes or Reads of the memory that it exposes, or several, from up to 16 senders\n"
		"at once. allreduce adds vectors over a ring of ranks inside this process and\n"
		"checks the sums.\n"
		"\n"
		"      --to ADDRESS     receiver, IPv4 or IPv6\n"
		"      --bind ADDRESS   recv: listen there only (all addresses)\n"
		"      --port N         UDP port of the receiver (4792)\n"
		"      --source-port N  of the first path; the others have the next ones (any)\n"
		"      --dpdk DEVICE    a port of DPDK in place of sockets: 0000:3b:00.0, or a "
		"virtual\n"
		"                       one with its arguments: net_af_packet0,iface=eth0\n"
		"      --address ADDR   with --dpdk: own address\n"
		"      --hop MAC        with --dpdk: the router that takes the frames (the "
		"receiver,\n"
		"                       found by ARP or ND; recv: where the first packet came "
		"from)\n"
		"      --crc            packets end in the CRC-32C of UE 1.0, in place of the UDP\n"
		"                       checksum; at both ends\n"
		"      --paths N        paths, 1 to 64 (4)\n"
		"      --mtu N          data octets in a packet, 64 to 65000 (4096)\n"
		"      --spray HOW      weighted (by window and delay), round-robin, or hash:\n"
		"                       a message stays on one path (weighted)\n"
		"      --size N         octets in a message, in a Read (1048576)\n"
		"      --count N        perf: messages (1000); recv: transfers (1)\n"
		"      --forever        recv: transfers until it is interrupted\n"
		"      --ahead N        messages under way at once, 1 to 32 (32)\n"
		"      --op OP          perf: send, write or read (send)\n"
		"      --expose N       recv: let the sender write and read N octets of memory;\n"
		"                       FILE is what it holds at first, else zeros (none)\n"
		"      --offset N       read: where in that memory (0)\n"
		"      --length N       read: how many octets\n"
		"  -o, --output FILE    recv, read: write the data there; without it data is only\n"
		"                       checked. recv of several: a directory, or - for standard\n"
		"                       output, a whole transfer at a time\n"
		"      --timeout MS     give up when nothing moves for that long (30000)\n"
		"  -n, --ranks N        allreduce: ranks, 2 to 256 (4)\n"
		"      --elements N     allreduce: 64-bit numbers a rank (100000)\n"
		"      --loss PERCENT   allreduce: packets to lose (0)\n"
		"      --seed N         allreduce: other numbers, other losses (1)\n"
		"  -j, --json           the result as JSON\n"
		"  -h, --help           this text\n"
		"\n"
		"exit code: 0 done, 1 something wrong in the data, 2 usage or I/O\n"
		"\n"
		"examples:\n"
		"  causeway uet recv -o copy & causeway uet send --to ::1 --paths 8 file\n"
		"  causeway uet recv --forever -o inbox &\n"
		"  causeway uet recv --expose 1000000 file &\n"
		"  causeway uet read --to 127.0.0.1 --offset 4096 --length 65536 -o part\n"
		"  causeway uet recv -j & causeway uet perf --to 127.0.0.1 --count 100\n"
		"  causeway uet allreduce -n 8 --loss 1\n",
};
