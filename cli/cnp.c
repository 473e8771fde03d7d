/* cnp.c - causeway cnp: make RoCEv2 CNPs and congestion messages, and check those of a capture. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/cnrelay.h"
#include "causeway/icrc.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/out.h"

enum { FRAME_MAX = 192 };

struct options {
	bool json, make, packed, help;
	unsigned option; /* 0: a CNP */
	unsigned given;  /* which of --src and --dst */
	const char *file;
	struct cw_gid src, dst, flow_src, flow_dst;
	uint8_t eth_src[6], eth_dst[6];
	uint64_t qpn, pkey, sport, dscp, ecn, ttl, ip_id, nrp, flow_sport, flow_dport, tc;
};

/* ---- Options ------------------------------------------------------------------------------ */

enum { OPT_SRC = 256, OPT_DST, OPT_FLOW_SRC, OPT_FLOW_DST, OPT_ETH_SRC, OPT_ETH_DST, OPT_NUMBER };

/* Options that are numbers: name, largest value, member. */
#define NUMBERS(X)                          \
	X("qp", 0xffffff, qpn)              \
	X("pkey", 0xffff, pkey)             \
	X("sport", 0xffff, sport)           \
	X("dscp", 63, dscp)                 \
	X("ecn", 3, ecn)                    \
	X("ttl", 255, ttl)                  \
	X("id", 0xffff, ip_id)              \
	X("nrp", 0xffffffff, nrp)           \
	X("flow-sport", 0xffff, flow_sport) \
	X("flow-dport", 0xffff, flow_dport) \
	X("tc", 255, tc)

static const struct {
	const char *name;
	uint64_t max;
	size_t at;
} numbers[] = {
#define CW_X(name, max, member) {"--" name, max, offsetof(struct options, member)},
	NUMBERS(CW_X)
#undef CW_X
};

enum number {
#define CW_X(name, max, member) NUMBER_##member,
	NUMBERS(CW_X)
#undef CW_X
};

static const struct option longs[] = {
	{"json", no_argument, NULL, 'j'},
	{"make", required_argument, NULL, 'm'},
	{"option", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{"packed", no_argument, NULL, 'p'},
	{"src", required_argument, NULL, OPT_SRC},
	{"dst", required_argument, NULL, OPT_DST},
	{"flow-src", required_argument, NULL, OPT_FLOW_SRC},
	{"flow-dst", required_argument, NULL, OPT_FLOW_DST},
	{"eth-src", required_argument, NULL, OPT_ETH_SRC},
	{"eth-dst", required_argument, NULL, OPT_ETH_DST},
#define CW_X(name, max, member) {name, required_argument, NULL, OPT_NUMBER + NUMBER_##member},
	NUMBERS(CW_X)
#undef CW_X
		{NULL, 0, NULL, 0},
};

static int parse_addr(const char *option, const char *text, struct cw_gid *out)
{
	uint8_t o[16];

	if (cw_ip4_parse(text, o) == CW_OK) {
		*out = cw_gid_of(4, o);
		return EXIT_DONE;
	}
	if (cw_ip6_parse(text, o) == CW_OK) {
		*out = cw_gid_of(6, o);
		return EXIT_DONE;
	}
	return cmd_usage(&cmd_cnp, "%s: '%s' is no IP address", option, text);
}

static int parse_one(int opt, struct options *o, char **argv)
{
	uint64_t n = 0;
	unsigned i;
	int err;

	switch (opt) {
	case 'j':
		o->json = true;
		return EXIT_DONE;
	case 'm':
		o->make = true;
		o->file = optarg;
		return EXIT_DONE;
	case 'h':
		o->help = true;
		return EXIT_DONE;
	case 'p':
		o->packed = true;
		return EXIT_DONE;
	case 'o':
		err = args_number(&cmd_cnp, "--option", optarg, 1, 2, &n);
		o->option = (unsigned)n;
		return err;
	case OPT_SRC:
		o->given |= 1;
		return parse_addr("--src", optarg, &o->src);
	case OPT_DST:
		o->given |= 2;
		return parse_addr("--dst", optarg, &o->dst);
	case OPT_FLOW_SRC:
		o->given |= 4;
		return parse_addr("--flow-src", optarg, &o->flow_src);
	case OPT_FLOW_DST:
		o->given |= 8;
		return parse_addr("--flow-dst", optarg, &o->flow_dst);
	case OPT_ETH_SRC:
		return args_mac(&cmd_cnp, "--eth-src", optarg, o->eth_src);
	case OPT_ETH_DST:
		return args_mac(&cmd_cnp, "--eth-dst", optarg, o->eth_dst);
	default:
		break;
	}
	if (opt < OPT_NUMBER)
		return args_bad_option(&cmd_cnp, argv, opt);
	i = (unsigned)(opt - OPT_NUMBER);
	return args_number(&cmd_cnp, numbers[i].name, optarg, 0, numbers[i].max,
			   (uint64_t *)(void *)((char *)o + numbers[i].at));
}

static int check_options(const struct options *o)
{
	unsigned need = o->option != 0 ? 15 : 3;
	static const char *const names[] = {"--src", "--dst", "--flow-src", "--flow-dst"};
	unsigned i;

	for (i = 0; o->make && i < 4; i++) {
		if ((need >> i & 1) != 0 && (o->given >> i & 1) == 0)
			return cmd_usage(&cmd_cnp, "%s is needed", names[i]);
	}
	if (o->make && cw_gid_is_v4(&o->src) != cw_gid_is_v4(&o->dst))
		return cmd_usage(&cmd_cnp, "--src and --dst are of different IP versions");
	if (o->make && o->option != 0 && cw_gid_is_v4(&o->flow_src) != cw_gid_is_v4(&o->flow_dst))
		return cmd_usage(&cmd_cnp,
				 "--flow-src and --flow-dst are of different IP versions");
	return EXIT_DONE;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	int opt, err = EXIT_DONE;

	*o = (struct options){.eth_src = {2, 0, 0, 0, 0, 1},
			      .eth_dst = {2, 0, 0, 0, 0, 2},
			      .pkey = 0xffff,
			      .dscp = CW_DSCP_CS6,
			      .ecn = CW_ECN_ECT0,
			      .ttl = 64,
			      .flow_dport = CW_ROCE_PORT};
	optind = 1;
	opterr = 0;
	while (err == EXIT_DONE && (opt = getopt_long(argc, argv, ":jm:o:h", longs, NULL)) != -1)
		err = parse_one(opt, o, argv);
	if (err != EXIT_DONE || o->help)
		return err;
	if (optind != argc - !o->make)
		return cmd_usage(&cmd_cnp,
				 optind < argc ? "one capture at a time" : "no capture given");
	if (!o->make)
		o->file = argv[optind];
	return check_options(o);
}

/* ---- Making ------------------------------------------------------------------------------- */

static int make_cnp(const struct options *o, uint8_t *ip)
{
	struct cw_cnp c = {.src = o->src,
			   .dst = o->dst,
			   .tos = (uint8_t)(o->dscp << 2 | o->ecn),
			   .ttl = (uint8_t)o->ttl,
			   .sport = (uint16_t)o->sport,
			   .ip_id = (uint16_t)o->ip_id,
			   .pkey = (uint16_t)o->pkey,
			   .dqpn = (uint32_t)o->qpn};

	return cw_cnp_build(&c, ip, FRAME_MAX - CW_SIZE_ETH);
}

/* IPv4 or IPv6 with UDP; returns where UDP begins. */
static uint8_t *make_head(const struct options *o, uint8_t *ip, size_t data)
{
	uint8_t tos = (uint8_t)(o->dscp << 2 | o->ecn), *udp;

	if (cw_gid_is_v4(&o->dst)) {
		udp = ip + CW_SIZE_IPV4;
		memset(ip, 0, CW_SIZE_IPV4);
		ip[0] = 0x45;
		ip[1] = tos;
		cw_ipv4_set_length(ip, (uint32_t)(CW_SIZE_IPV4 + CW_SIZE_UDP + data));
		cw_ipv4_set_id(ip, (uint32_t)o->ip_id);
		cw_ipv4_set_df(ip, 1);
		cw_ipv4_set_ttl(ip, (uint32_t)o->ttl);
		cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
		cw_ipv4_set_src(ip, o->src.o + 12);
		cw_ipv4_set_dst(ip, o->dst.o + 12);
		cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	} else {
		udp = ip + CW_SIZE_IPV6;
		memset(ip, 0, CW_SIZE_IPV6);
		cw_ipv6_set_version(ip, 6);
		cw_ipv6_set_dscp(ip, tos >> 2);
		cw_ipv6_set_ecn(ip, tos & 3);
		cw_ipv6_set_length(ip, (uint32_t)(CW_SIZE_UDP + data));
		cw_ipv6_set_next_header(ip, CW_IPPROTO_UDP);
		cw_ipv6_set_hop_limit(ip, (uint32_t)o->ttl);
		cw_ipv6_set_src(ip, o->src.o);
		cw_ipv6_set_dst(ip, o->dst.o);
	}
	return udp;
}

static int make_message(const struct options *o, uint8_t *ip)
{
	bool v4 = cw_gid_is_v4(&o->flow_src);
	struct cw_cnmsg m = {.option = (uint8_t)o->option,
			     .version = v4 ? 4 : 6,
			     .packed = o->packed,
			     .proto = CW_IPPROTO_UDP,
			     .tc = (uint8_t)o->tc,
			     .sport = (uint16_t)o->flow_sport,
			     .dport = (uint16_t)o->flow_dport,
			     .dqpn = (uint32_t)o->qpn,
			     .nrp = (uint32_t)o->nrp};
	uint8_t data[CW_CN_MAX], *udp;
	int n;

	memcpy(m.src, o->flow_src.o + (v4 ? 12 : 0), v4 ? 4 : 16);
	memcpy(m.dst, o->flow_dst.o + (v4 ? 12 : 0), v4 ? 4 : 16);
	if ((n = cw_cnmsg_write(&m, data, sizeof(data))) < 0)
		return n;
	udp = make_head(o, ip, (size_t)n);
	memset(udp, 0, CW_SIZE_UDP);
	cw_udp_set_sport(udp, (uint32_t)o->sport);
	cw_udp_set_dport(udp, o->option == 1 ? CW_CN_PORT1 : CW_CN_PORT2);
	cw_udp_set_length(udp, (uint32_t)(CW_SIZE_UDP + (size_t)n));
	memcpy(udp + CW_SIZE_UDP, data, (size_t)n);
	cw_udp_set_checksum(udp, cw_udp_compute(ip, udp, CW_SIZE_UDP + (size_t)n));
	return (int)(udp - ip) + CW_SIZE_UDP + n;
}

static int make(const struct options *o)
{
	uint8_t frame[FRAME_MAX];
	char err[CAP_ERROR_MAX];
	struct cap_packet c = {.link = CW_LINK_ETHERNET, .data = frame};
	struct cap_writer *w;
	int len = o->option == 0 ? make_cnp(o, frame + CW_SIZE_ETH)
				 : make_message(o, frame + CW_SIZE_ETH);

	if (len < 0) {
		fprintf(stderr, "causeway cnp: %s\n", cw_strerror(len));
		return EXIT_USAGE;
	}
	cw_eth_set_dst(frame, o->eth_dst);
	cw_eth_set_src(frame, o->eth_src);
	cw_eth_set_type(frame, cw_gid_is_v4(&o->dst) ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	c.len = c.caplen = CW_SIZE_ETH + (uint32_t)len;
	if (cap_create(&w, o->file, cap_format_of(o->file), err) < 0) {
		fprintf(stderr, "causeway cnp: %s\n", err);
		return EXIT_USAGE;
	}
	if (cap_add_interface(w, CW_LINK_ETHERNET, NULL) < 0 || cap_write(w, 0, &c, NULL) < 0) {
		fprintf(stderr, "causeway cnp: %s\n", cap_writer_error(w));
		cap_discard(w);
		return EXIT_USAGE;
	}
	if (cap_finish(w, err) < 0) {
		fprintf(stderr, "causeway cnp: %s\n", err);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

/* ---- Checking ----------------------------------------------------------------------------- */

struct found {
	const char *kind; /* "cnp", "fast-cnp", "option-1", "option-2" */
	const char *wrong;
	char src[CW_ADDR_TEXT], dst[CW_ADDR_TEXT], about[200];
};

static const uint8_t *layer(const struct cw_packet *p, const struct cw_hdr *h)
{
	int at = cw_packet_find(p, h, 0);

	return at < 0 ? NULL : cw_layer_data(p, (unsigned)at);
}

static bool is_zero(const uint8_t *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

/* What a receiver would hold against it; the ICRC first, for it explains the rest. */
static const char *cnp_fault(const struct cw_packet *p, const uint8_t *bth)
{
	const uint8_t *body = layer(p, &cw_hdr_cnp);

	if (p->icrc.status == CW_ICRC_BAD)
		return "ICRC is wrong";
	if (p->verdict != CW_OK)
		return cw_strerror(p->verdict);
	if (!cw_bth_becn(bth))
		return "BECN is not set";
	if (cw_bth_psn(bth) != 0 || cw_bth_ackreq(bth) || cw_bth_padcnt(bth) != 0)
		return "PSN, AckReq or PadCnt is not zero";
	if (body != NULL && !is_zero(body, CW_SIZE_CNP))
		return "the 16 octets behind the BTH are not zero";
	return p->payload_len != 0 ? "it has a payload" : NULL;
}

static bool find_cnp(const struct cw_packet *p, struct found *f)
{
	const uint8_t *bth = layer(p, &cw_hdr_bth);
	char receiver[CW_ADDR_TEXT];
	uint8_t dst[16];

	if (bth == NULL || cw_bth_opcode(bth) != CW_BTH_CNP)
		return false;
	f->kind = "cnp";
	f->wrong = cnp_fault(p, bth);
	snprintf(f->about, sizeof(f->about), "qp 0x%06x, P_Key 0x%04x", cw_bth_dqpn(bth),
		 cw_bth_pkey(bth));
	if (cw_fast_cnp(p, dst)) {
		f->kind = "fast-cnp";
		cw_ip6_format(dst, receiver);
		snprintf(f->about, sizeof(f->about), "qp 0x%06x of %s, ICRC not checked",
			 cw_bth_dqpn(bth), receiver);
	}
	return true;
}

static bool find_message(const struct cw_packet *p, struct found *f)
{
	const uint8_t *udp = layer(p, &cw_hdr_udp);
	char src[CW_ADDR_TEXT], dst[CW_ADDR_TEXT];
	unsigned option;
	struct cw_cnmsg m;
	int at = cw_packet_find(p, &cw_hdr_udp, 0);

	if (udp == NULL || (cw_udp_dport(udp) != CW_CN_PORT1 && cw_udp_dport(udp) != CW_CN_PORT2))
		return false;
	option = cw_udp_dport(udp) == CW_CN_PORT1 ? 1 : 2;
	f->kind = option == 1 ? "option-1" : "option-2";
	f->wrong = p->verdict != CW_OK ? cw_strerror(p->verdict) : NULL;
	f->about[0] = '\0';
	if (f->wrong != NULL || (uint32_t)at + 1 >= p->nlayers ||
	    cw_cnmsg_parse(&m, option, udp + CW_SIZE_UDP, p->layers[at + 1].len) != CW_OK)
		return true;
	(m.version == 4 ? cw_ip4_format : cw_ip6_format)(m.src, src);
	(m.version == 4 ? cw_ip4_format : cw_ip6_format)(m.dst, dst);
	snprintf(f->about, sizeof(f->about), "flow %s:%u > %s:%u, TC 0x%02x, %s 0x%x%s", src,
		 m.sport, dst, m.dport, m.tc, option == 1 ? "qp" : "NRP",
		 option == 1 ? m.dqpn : m.nrp, m.packed ? ", packed" : "");
	return true;
}

static void addresses(const struct cw_packet *p, struct found *f)
{
	const uint8_t *v4 = layer(p, &cw_hdr_ipv4), *v6 = layer(p, &cw_hdr_ipv6);

	strcpy(f->src, "?");
	strcpy(f->dst, "?");
	if (v4 != NULL) {
		cw_ip4_format(cw_ipv4_src(v4), f->src);
		cw_ip4_format(cw_ipv4_dst(v4), f->dst);
	} else if (v6 != NULL) {
		cw_ip6_format(cw_ipv6_src(v6), f->src);
		cw_ip6_format(cw_ipv6_dst(v6), f->dst);
	}
}

static void print(const struct options *o, uint64_t number, const struct found *f)
{
	if (o->json) {
		printf("{\"number\":%" PRIu64 ",\"kind\":\"%s\",\"src\":\"%s\",\"dst\":\"%s\","
		       "\"ok\":%s,\"about\":",
		       number, f->kind, f->src, f->dst, f->wrong == NULL ? "true" : "false");
		out_json_string(stdout, f->about);
		if (f->wrong != NULL) {
			fputs(",\"error\":", stdout);
			out_json_string(stdout, f->wrong);
		}
		fputs("}\n", stdout);
		return;
	}
	printf("%" PRIu64 ": %s %s > %s: %s%s%s\n", number, f->kind, f->src, f->dst, f->about,
	       f->wrong != NULL ? (f->about[0] != '\0' ? "; wrong: " : "wrong: ") : "",
	       f->wrong != NULL ? f->wrong : "");
}

static int check(const struct options *o)
{
	struct cap_reader *r;
	struct cap_packet c;
	struct cw_packet p;
	struct found f;
	char err[CAP_ERROR_MAX];
	uint64_t all = 0, wrong = 0;
	int n;

	if (cap_open(&r, o->file, err) < 0) {
		fprintf(stderr, "causeway cnp: %s\n", err);
		return EXIT_USAGE;
	}
	while ((n = cap_next(r, &c)) == 1) {
		if (!cap_link_known(c.link))
			continue;
		(void)cw_dissect(&p, (enum cw_link)c.link, c.data, c.caplen, NULL);
		if (!find_cnp(&p, &f) && !find_message(&p, &f))
			continue;
		addresses(&p, &f);
		print(o, c.number, &f);
		all++;
		wrong += f.wrong != NULL;
	}
	if (n < 0)
		fprintf(stderr, "causeway cnp: %s\n", cap_error(r));
	cap_close(r);
	if (!o->json)
		printf("%" PRIu64 " notifications, %" PRIu64 " wrong\n", all, wrong);
	return n < 0 || wrong > 0 ? EXIT_DATA : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options o;
	int code = parse_options(argc, argv, &o);

	if (code != EXIT_DONE)
		return code;
	if (o.help) {
		(void)fputs(cmd_cnp.help, stdout);
		return EXIT_DONE;
	}
	return o.make ? make(&o) : check(&o);
}

const struct cmd cmd_cnp = {
	.name = "cnp",
	.run = run,
	.brief = "make and check CNPs and congestion messages",
	.help = "usage: causeway cnp [-j] FILE\n"
		"       causeway cnp --make FILE --src ADDR --dst ADDR [OPTIONS]\n\n"
		"Checks the RoCEv2 CNPs, Fast CNPs and congestion messages (to a proxy) of a "
		"capture, or\n"
		"makes one of them. To make a message, choose --option.\n\n"
		"  -j, --json            one JSON object a line\n"
		"  -m, --make FILE       write one packet to a capture, - for the standard output\n"
		"  -o, --option 1|2      make a message of this option instead of a CNP\n"
		"      --packed          its five-tuple without padding\n"
		"      --src ADDR        IP source: of a CNP the flow's receiver\n"
		"      --dst ADDR        IP destination: of a CNP the flow's sender\n"
		"      --eth-src MAC     Ethernet source\n"
		"      --eth-dst MAC     Ethernet destination\n"
		"      --qp N            queue pair: a CNP's, or the flow's destination (0)\n"
		"      --pkey N          partition key (0xffff)\n"
		"      --sport N         UDP source port (0)\n"
		"      --dscp N          DSCP, 0 to 63 (48)\n"
		"      --ecn N           ECN, 0 to 3 (2)\n"
		"      --ttl N           TTL or hop limit (64)\n"
		"      --id N            IPv4 identification (0)\n"
		"      --flow-src ADDR   the flow's sender\n"
		"      --flow-dst ADDR   the flow's receiver\n"
		"      --flow-sport N    its UDP source port (0)\n"
		"      --flow-dport N    its UDP destination port (4791)\n"
		"      --tc N            its traffic class or ToS, 0 to 255 (0)\n"
		"      --nrp N           its NRP selector (0)\n"
		"  -h, --help            this text\n\n"
		"examples:\n"
		"  causeway cnp --make cnp.pcap --src 10.0.18.1 --dst 10.0.17.1 --qp 0x118\n"
		"  causeway cnp --make msg.pcap --option 1 --src 10.9.0.1 --dst 10.9.0.2 "
		"--flow-src 10.0.17.1 --flow-dst 10.0.18.1 --qp 0x222 --tc 0x6a\n"
		"  causeway cnp roce.pcap\n\n"
		"exit code: 0 done, 1 a notification is wrong or the capture broken, 2 usage or "
		"I/O\n",
};
