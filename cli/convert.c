/* convert.c - causeway convert: the gateway's own code on a capture file. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "daemon/control/config.h"

struct counters {
	uint64_t in, in_octets, out, out_octets, dropped;
	uint64_t drops[CW_DROP_COUNT], notes[CW_NOTE_COUNT];
};

struct convert {
	const char *in, *out, *drops, *config_file, *in_port;
	bool has_target, json, broken;
	enum cw_side target;
	int out_link;
	uint8_t src[6], dst[6];
	struct cw_config *config; /* NULL: the draft's defaults, and every packet has a route */
	struct cw_lpm *routes;    /* its routes */
	const struct cw_port_config *ingress; /* may be NULL */
	struct cw_npi_filter in_filter;
	struct cw_ub2e *rules;
	struct cap_reader *reader;
	struct cap_writer *writer, *drop_writer;
	int drop_links[2]; /* link types of its interfaces */
	unsigned ndrop_links;
	uint8_t *buf; /* a packet with room in front */
	struct counters n;
};

static int complain(const char *text)
{
	fprintf(stderr, "causeway convert: %s\n", text);
	return EXIT_USAGE;
}

/* ---- One packet --------------------------------------------------------------------------- */

/* Static neighbours; the address is the route's next hop, or the destination itself. */
static const uint8_t *neighbour_mac(const struct cw_config *c, const struct cw_route_config *r,
				    const struct cw_ub2e_view *v)
{
	const uint8_t *ip = r->has_next_hop ? r->next_hop.a : v->dst;
	uint8_t version = r->has_next_hop ? r->next_hop.version : v->version;
	const uint8_t *any = NULL;
	unsigned i;

	for (i = 0; i < c->nneighbours; i++) {
		const struct cw_neighbour_config *n = &c->neighbours[i];

		if (n->port != r->port || n->ip.version != version ||
		    memcmp(n->ip.a, ip, version == 4 ? 4 : 16) != 0)
			continue;
		if (n->vid == v->vid)
			return n->mac;
		if (n->vid == 0)
			any = n->mac;
	}
	return any;
}

static void hop_of_port(struct cw_ub2e_hop *hop, const struct cw_port_config *p,
			struct cw_npi_filter *filter)
{
	*filter = (struct cw_npi_filter){p->npi_filter, p->nnpi_filter};
	hop->filter = filter;
	hop->mtu = p->mtu;
	if (p->kind == CW_PORT_UB) {
		memcpy(hop->dst, p->peer_mac, 6);
		return;
	}
	hop->tpid = p->tpid;
	hop->outer_vid = p->outer_vid;
}

/* The hop that the configuration's routes lead to. */
static enum cw_drop route(const struct convert *c, const struct cw_ub2e_view *v,
			  struct cw_ub2e_hop *hop, struct cw_npi_filter *filter)
{
	const struct cw_route_config *r;
	const uint8_t *mac;

	if (c->config == NULL)
		return CW_PASS;
	if ((r = cw_config_route(c->config, c->routes, v->version, v->dst)) == NULL)
		return CW_DROP_NO_ROUTE;
	if ((c->config->ports[r->port].kind == CW_PORT_UB) != (hop->side == CW_SIDE_UB))
		return CW_DROP_SAME_DOMAIN;
	hop_of_port(hop, &c->config->ports[r->port], filter);
	mac = r->has_mac ? r->mac : neighbour_mac(c->config, r, v);
	if (mac != NULL)
		memcpy(hop->dst, mac, 6);
	return CW_PASS;
}

/* Find the UB packet of an emulated link's frame. */
static enum cw_drop strip_frame(uint8_t **p, uint32_t *len)
{
	if (*len < CW_SIZE_ETH)
		return CW_DROP_SHORT;
	if (cw_eth_type(*p) != CW_ETHERTYPE_UB)
		return CW_DROP_ETHERTYPE;
	*p += CW_SIZE_ETH;
	*len -= CW_SIZE_ETH;
	return CW_PASS;
}

static enum cw_drop check(const struct convert *c, int link, uint8_t *p, uint32_t len,
			  struct cw_ub2e_view *v)
{
	const struct cw_npi_filter *filter = c->ingress != NULL ? &c->in_filter : NULL;
	enum cw_drop drop;

	if (c->target == CW_SIDE_ETH) {
		if (link == CW_LINK_ETHERNET && (drop = strip_frame(&p, &len)) != CW_PASS)
			return drop;
		return cw_ub2e_from_ub(c->rules, filter, p, len, v);
	}
	drop = cw_ub2e_from_eth(c->rules, filter, p, len, NULL, v);
	if (drop == CW_PASS && c->ingress != NULL && v->outer_vid != c->ingress->outer_vid)
		return CW_DROP_VLAN_UNMAPPED;
	return drop;
}

static enum cw_drop convert(struct convert *c, const struct cap_packet *in, uint8_t **start,
			    uint32_t *len)
{
	struct cw_ub2e_hop hop = {.side = c->target, .tpid = CW_ETHERTYPE_VLAN};
	uint8_t *p = c->buf + CW_UB2E_HEADROOM;
	struct cw_npi_filter filter;
	struct cw_ub2e_view v;
	enum cw_drop drop;
	unsigned i;

	memcpy(p, in->data, in->caplen);
	if ((drop = check(c, in->link, p, in->caplen, &v)) != CW_PASS)
		return drop;
	memcpy(hop.dst, c->dst, 6);
	memcpy(hop.src, c->src, 6);
	hop.bare = c->out_link == CW_LINK_UB;
	if ((drop = route(c, &v, &hop, &filter)) != CW_PASS ||
	    (drop = cw_ub2e_write(c->rules, &v, &hop, start, len)) != CW_PASS)
		return drop;
	for (i = 0; i < CW_NOTE_COUNT; i++)
		c->n.notes[i] += v.notes >> i & 1;
	return CW_PASS;
}

/* ---- A file ------------------------------------------------------------------------------- */

/* Interface of the drop file for packets of a link type. */
static int drop_interface(struct convert *c, int link, uint32_t *at)
{
	const char *name = c->ingress != NULL         ? c->ingress->name
			   : c->target == CW_SIDE_ETH ? "ub"
						      : "ethernet";

	for (*at = 0; *at < c->ndrop_links; ++*at) {
		if (c->drop_links[*at] == link)
			return 0;
	}
	c->drop_links[c->ndrop_links++] = link;
	return cap_add_interface(c->drop_writer, link, name);
}

static int keep_drop(struct convert *c, const struct cap_packet *p, enum cw_drop drop)
{
	char comment[160];
	uint32_t at;

	c->n.dropped++;
	c->n.drops[drop]++;
	if (c->drop_writer == NULL)
		return 0;
	(void)snprintf(comment, sizeof(comment), "%s: %s", cw_drop_name(drop), cw_drop_text(drop));
	return drop_interface(c, p->link, &at) < 0 || cap_write(c->drop_writer, at, p, comment) < 0
		       ? complain(cap_writer_error(c->drop_writer))
		       : 0;
}

static int handle(struct convert *c, const struct cap_packet *p)
{
	struct cap_packet o = *p;
	uint8_t *start;
	enum cw_drop drop = convert(c, p, &start, &o.caplen);

	c->n.in++;
	c->n.in_octets += p->len;
	if (drop != CW_PASS)
		return keep_drop(c, p, drop);
	o.data = start;
	o.len = o.caplen;
	c->n.out++;
	c->n.out_octets += o.len;
	return cap_write(c->writer, 0, &o, NULL) < 0 ? complain(cap_writer_error(c->writer)) : 0;
}

/* What packets of a direction can begin with. */
static bool takes_link(const struct convert *c, int link)
{
	return link == CW_LINK_ETHERNET || (link == CW_LINK_UB && c->target == CW_SIDE_ETH);
}

static int wrong_link(const struct convert *c, int link)
{
	char name[CAP_LINK_TEXT];

	fprintf(stderr, "causeway convert: %s: its packets begin with %s; --to %s takes %s\n",
		c->in, cap_link_name(link, name), c->target == CW_SIDE_ETH ? "uboe" : "ub",
		c->target == CW_SIDE_ETH ? "ub, or ethernet with UB in it" : "ethernet");
	return EXIT_USAGE;
}

static int handle_all(struct convert *c)
{
	struct cap_packet p;
	int more, rc = 0;

	while (rc == 0 && (more = cap_next(c->reader, &p)) != 0) {
		if (more < 0) {
			complain(cap_error(c->reader));
			c->broken = true;
			return 0;
		}
		rc = takes_link(c, p.link) ? handle(c, &p) : wrong_link(c, p.link);
	}
	return rc;
}

/* ---- Counters ----------------------------------------------------------------------------- */

static void json_counters(FILE *f, const struct counters *n)
{
	const char *comma = "";
	unsigned i;

	fprintf(f,
		"{\"in\":{\"packets\":%" PRIu64 ",\"octets\":%" PRIu64
		"},\"out\":{\"packets\":%" PRIu64 ",\"octets\":%" PRIu64 "},\"dropped\":%" PRIu64
		",\"drops\":{",
		n->in, n->in_octets, n->out, n->out_octets, n->dropped);
	for (i = 1; i < CW_DROP_COUNT; i++) {
		if (n->drops[i] == 0)
			continue;
		fprintf(f, "%s\"%s\":%" PRIu64, comma, cw_drop_name((enum cw_drop)i), n->drops[i]);
		comma = ",";
	}
	fputs("},\"notes\":{", f);
	for (i = 0, comma = ""; i < CW_NOTE_COUNT; i++) {
		if (n->notes[i] == 0)
			continue;
		fprintf(f, "%s\"%s\":%" PRIu64, comma, cw_note_name((enum cw_note)i), n->notes[i]);
		comma = ",";
	}
	fputs("}}\n", f);
}

static void text_row(FILE *f, uint64_t n, const char *name, const char *text)
{
	if (n > 0)
		fprintf(f, "  %-16s %12" PRIu64 "  %s\n", name, n, text);
}

static void text_counters(FILE *f, const struct counters *n)
{
	unsigned i;

	fprintf(f, "%-18s %12" PRIu64 "  packets, %" PRIu64 " octets\n", "in", n->in, n->in_octets);
	fprintf(f, "%-18s %12" PRIu64 "  packets, %" PRIu64 " octets\n", "out", n->out,
		n->out_octets);
	fprintf(f, "%-18s %12" PRIu64 "  packets\n", "dropped", n->dropped);
	for (i = 1; i < CW_DROP_COUNT; i++)
		text_row(f, n->drops[i], cw_drop_name((enum cw_drop)i),
			 cw_drop_text((enum cw_drop)i));
	for (i = 0; i < CW_NOTE_COUNT && n->notes[i] == 0; i++)
		;
	if (i < CW_NOTE_COUNT)
		fputs("noted\n", f);
	for (i = 0; i < CW_NOTE_COUNT; i++)
		text_row(f, n->notes[i], cw_note_name((enum cw_note)i),
			 cw_note_text((enum cw_note)i));
}

static int print_counters(const struct convert *c)
{
	FILE *f = strcmp(c->out, "-") == 0 ? stderr : stdout;

	if (c->json)
		json_counters(f, &c->n);
	else
		text_counters(f, &c->n);
	return c->n.dropped > 0 || c->broken ? EXIT_DATA : EXIT_DONE;
}

/* ---- Setting up --------------------------------------------------------------------------- */

static int bad_config(const struct convert *c, int err, const struct cw_diag *d)
{
	char text[640];

	fprintf(stderr, "causeway convert: %s: %s\n",
		c->config_file != NULL ? c->config_file : "defaults",
		err == CW_E_NOMEM ? cw_strerror(err) : cw_config_diag_text(d, text, sizeof(text)));
	return EXIT_USAGE;
}

/* The port that packets come in by: the one named, or the only one of the right kind. */
static int find_ingress(struct convert *c)
{
	enum cw_port_kind kind = c->target == CW_SIDE_ETH ? CW_PORT_UB : CW_PORT_ETHERNET;
	unsigned i, n = 0;

	for (i = 0; i < c->config->nports; i++) {
		const struct cw_port_config *p = &c->config->ports[i];

		if (p->kind != kind || (c->in_port != NULL && strcmp(p->name, c->in_port) != 0))
			continue;
		c->ingress = p;
		n++;
	}
	if (c->in_port != NULL && n == 0)
		return cmd_usage(&cmd_convert, "--in-port: %s has no %s port '%s'", c->config_file,
				 kind == CW_PORT_UB ? "UB" : "Ethernet", c->in_port);
	if (n != 1)
		c->ingress = NULL;
	else
		c->in_filter =
			(struct cw_npi_filter){c->ingress->npi_filter, c->ingress->nnpi_filter};
	return 0;
}

static int load_rules(struct convert *c)
{
	struct cw_ub2e_settings defaults;
	struct cw_diag diag = {0};
	int err, rc;

	if (c->config_file == NULL) {
		cw_ub2e_settings_init(&defaults);
		err = cw_ub2e_new(&c->rules, &defaults, NULL, 0, &diag);
		return err < 0 ? bad_config(c, err, &diag) : 0;
	}
	if ((err = cw_config_load(&c->config, c->config_file, &diag)) < 0)
		return bad_config(c, err, &diag);
	if ((rc = find_ingress(c)) != 0)
		return rc;
	if ((err = cw_config_route_table(&c->routes, c->config)) == CW_OK)
		err = cw_ub2e_new(&c->rules, &c->config->ub2e, c->config->partitions,
				  c->config->npartitions, &diag);
	return err < 0 ? bad_config(c, err, &diag) : 0;
}

static int open_input(struct convert *c)
{
	char err[CAP_ERROR_MAX];
	int link;

	if (cap_open(&c->reader, c->in, err) < 0)
		return complain(err);
	link = cap_reader_link(c->reader);
	return takes_link(c, link) ? 0 : wrong_link(c, link);
}

static int create(struct cap_writer **w, const char *path, enum cap_format format)
{
	char err[CAP_ERROR_MAX];

	return cap_create(w, path, format, err) < 0 ? complain(err) : 0;
}

static int open_output(struct convert *c)
{
	uint32_t at;
	int rc;

	if (args_same_file(c->in, c->out) ||
	    (c->drops != NULL &&
	     (args_same_file(c->in, c->drops) || strcmp(c->out, c->drops) == 0)))
		return cmd_usage(&cmd_convert, "input, output and --drops must be different files");
	if ((rc = create(&c->writer, c->out, cap_format_of(c->out))) != 0)
		return rc;
	if (cap_add_interface(c->writer, c->out_link, NULL) < 0)
		return complain(cap_writer_error(c->writer));
	if (c->drops == NULL)
		return 0;
	if ((rc = create(&c->drop_writer, c->drops, CAP_PCAPNG)) != 0)
		return rc;
	/* A file without packets has an interface, too. */
	return drop_interface(c, cap_reader_link(c->reader), &at) < 0
		       ? complain(cap_writer_error(c->drop_writer))
		       : 0;
}

static int close_writer(struct cap_writer **w, int rc)
{
	char err[CAP_ERROR_MAX];

	if (rc != 0)
		cap_discard(*w);
	else if (cap_finish(*w, err) < 0)
		rc = complain(err);
	*w = NULL;
	return rc;
}

static int convert_file(struct convert *c)
{
	int rc;

	if ((c->buf = malloc(CAP_PACKET_MAX + CW_UB2E_HEADROOM)) == NULL)
		return complain("out of memory");
	if ((rc = load_rules(c)) != 0 || (rc = open_input(c)) != 0)
		return rc;
	if ((rc = open_output(c)) == 0)
		rc = handle_all(c);
	rc = close_writer(&c->writer, rc);
	rc = close_writer(&c->drop_writer, rc);
	return rc != 0 ? rc : print_counters(c);
}

static void clean_up(struct convert *c)
{
	cap_close(c->reader);
	cw_ub2e_free(c->rules);
	cw_lpm_free(c->routes);
	cw_config_free(c->config);
	free(c->buf);
}

/* ---- Options ------------------------------------------------------------------------------ */

enum { OPT_TO = 256, OPT_DROPS, OPT_LINK, OPT_SRC_MAC, OPT_DST_MAC, OPT_IN_PORT };

static const struct option options[] = {
	{"to", required_argument, NULL, OPT_TO},
	{"config", required_argument, NULL, 'c'},
	{"json", no_argument, NULL, 'j'},
	{"drops", required_argument, NULL, OPT_DROPS},
	{"in-port", required_argument, NULL, OPT_IN_PORT},
	{"link", required_argument, NULL, OPT_LINK},
	{"src-mac", required_argument, NULL, OPT_SRC_MAC},
	{"dst-mac", required_argument, NULL, OPT_DST_MAC},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int set_target(struct convert *c, const char *arg)
{
	if (strcmp(arg, "uboe") == 0)
		c->target = CW_SIDE_ETH;
	else if (strcmp(arg, "ub") == 0)
		c->target = CW_SIDE_UB;
	else
		return cmd_usage(&cmd_convert, "--to: '%s' is not uboe or ub", arg);
	c->has_target = true;
	return 0;
}

static int set_option(struct convert *c, int opt, const char *arg)
{
	switch (opt) {
	case OPT_TO:
		return set_target(c, arg);
	case OPT_SRC_MAC:
		return args_mac(&cmd_convert, "--src-mac", arg, c->src);
	case OPT_DST_MAC:
		return args_mac(&cmd_convert, "--dst-mac", arg, c->dst);
	case OPT_LINK:
		c->out_link = cap_link_parse(arg);
		if (c->out_link != CW_LINK_ETHERNET && c->out_link != CW_LINK_UB)
			return cmd_usage(&cmd_convert, "--link: '%s' is not ethernet or ub", arg);
		return 0;
	case OPT_DROPS:
		c->drops = arg;
		return 0;
	case OPT_IN_PORT:
		c->in_port = arg;
		return 0;
	default:
		c->config_file = arg;
		return 0;
	}
}

static int check_options(struct convert *c, int argc, char **argv)
{
	if (!c->has_target)
		return cmd_usage(&cmd_convert, "--to uboe or --to ub is needed");
	if (optind + 2 != argc)
		return cmd_usage(&cmd_convert, "an input and an output file are needed");
	if (c->in_port != NULL && c->config_file == NULL)
		return cmd_usage(&cmd_convert, "--in-port names a port of a configuration (-c)");
	if (c->target == CW_SIDE_ETH && c->out_link == CW_LINK_UB)
		return cmd_usage(&cmd_convert, "--link ub: UBoE stands on ethernet");
	if (c->out_link < 0)
		c->out_link = c->target == CW_SIDE_ETH ? CW_LINK_ETHERNET : CW_LINK_UB;
	c->in = argv[optind];
	c->out = argv[optind + 1];
	return 0;
}

/* False ends the command, with *code. */
static bool read_options(struct convert *c, int argc, char **argv, int *code)
{
	int opt;

	optind = 1;
	*code = EXIT_USAGE;
	while ((opt = getopt_long(argc, argv, ":c:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			c->json = true;
			break;
		case 'h':
			fputs(cmd_convert.help, stdout);
			*code = EXIT_DONE;
			return false;
		case ':':
		case '?':
			args_bad_option(&cmd_convert, argv, opt);
			return false;
		default:
			if (set_option(c, opt, optarg) != 0)
				return false;
		}
	}
	return check_options(c, argc, argv) == 0;
}

static int run(int argc, char **argv)
{
	struct convert c = {.out_link = -1, .src = {2, 0, 0, 0, 0, 1}, .dst = {2, 0, 0, 0, 0, 2}};
	int code;

	if (!read_options(&c, argc, argv, &code))
		return code;
	code = convert_file(&c);
	clean_up(&c);
	return code;
}

const struct cmd cmd_convert = {
	.name = "convert",
	.run = run,
	.brief = "convert a capture between UB and UBoE as the gateway does",
	.help = "usage: causeway convert --to uboe|ub [OPTIONS] IN OUT\n"
		"\n"
		"Run the gateway's own code on a capture (- is the standard input or output;\n"
		"OUT.pcapng makes pcapng) and print its counters: packets in and out, every "
		"reason\n"
		"for which packets were dropped, every event that was noted.\n"
		"\n"
		"      --to uboe        from native UB (LINKTYPE_USER0, or Ethernet with "
		"EtherType\n"
		"                       0x88B6) to UBoE\n"
		"      --to ub          from UBoE to native UB\n"
		"  -c, --config FILE    rules, routes and filters of a gateway's configuration;\n"
		"                       without it: the draft's defaults, and a route for "
		"everything\n"
		"      --in-port NAME   the configuration's port that the packets come in by\n"
		"                       (default: the only one of its kind, else none)\n"
		"  -j, --json           the counters as one JSON object\n"
		"      --drops FILE     write dropped packets to FILE as pcapng, with the reason "
		"as\n"
		"                       each one's comment\n"
		"      --link TYPE      --to ub: ub (default: LPH first) or ethernet (EtherType "
		"0x88B6)\n"
		"      --src-mac MAC    source address of frames (02:00:00:00:00:01)\n"
		"      --dst-mac MAC    destination address where the configuration has none\n"
		"                       (02:00:00:00:00:02)\n"
		"  -h, --help           this text\n"
		"\n"
		"exit code: 0 all converted, 1 something was dropped or the input is broken, 2 "
		"usage\n"
		"or I/O\n"
		"\n"
		"examples:\n"
		"  causeway convert --to uboe ub.pcap uboe.pcap\n"
		"  causeway convert --to ub -c gateway.json --drops drops.pcapng uboe.pcap "
		"ub.pcap\n"
		"  causeway convert --to ub uboe.pcap - | causeway decode -\n",
};
