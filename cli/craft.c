/* craft.c - causeway craft: JSON lines -> capture, the inverse of decode -j. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/capture.h"
#include "cli/cmd.h"
#include "cli/craftline.h"

enum { CRAFT_LINKS = 16 };

struct craft {
	const char *in, *in_name, *out;
	int link;               /* of the output, -1: as the packets say */
	int links[CRAFT_LINKS]; /* of the output's interfaces: one in pcap */
	unsigned nlinks;
	struct craftline line;
	struct cap_writer *writer;
	uint64_t line_number, packets, last_ns;
};

/* The output is made when its link type is known: with the first packet. */
static int open_output(struct craft *c, char err[CAP_ERROR_MAX])
{
	return c->writer != NULL ? 0 : cap_create(&c->writer, c->out, cap_format_of(c->out), err);
}

/* Interface of the packets of a link type; -1 with a text. */
static int interface_of(struct craft *c, int link, char err[CAP_ERROR_MAX])
{
	unsigned i;

	for (i = 0; i < c->nlinks; i++) {
		if (c->links[i] == link)
			return (int)i;
	}
	if (c->nlinks == CRAFT_LINKS || cap_add_interface(c->writer, link, NULL) < 0) {
		(void)snprintf(err, CAP_ERROR_MAX, "%s",
			       c->nlinks == CRAFT_LINKS ? "too many link types"
							: cap_writer_error(c->writer));
		return -1;
	}
	c->links[c->nlinks] = link;
	return (int)c->nlinks++;
}

static int io_error(const char *text)
{
	fprintf(stderr, "causeway craft: %s\n", text);
	return EXIT_USAGE;
}

static int data_error(const struct craft *c, const char *text)
{
	fprintf(stderr, "causeway craft: %s: line %" PRIu64 ": %s\n", c->in_name, c->line_number,
		text);
	return EXIT_DATA;
}

/* Link type of the line's packet to *link. A pcap file has but one, a pcapng file one an interface
 * unless --link says. */
static int check_link(struct craft *c, int *link)
{
	bool one = cap_format_of(c->out) == CAP_PCAP || c->link >= 0;
	int first = c->link >= 0 || c->nlinks == 0 ? c->link : c->links[0];
	char text[160], ours[CAP_LINK_TEXT], theirs[CAP_LINK_TEXT];

	*link = c->line.link >= 0 ? c->line.link : first;
	if (*link < 0)
		return data_error(c, "link: left out, and the first layer stands on none; --link "
				     "says what packets begin with");
	if (!one || first < 0 || *link == first)
		return 0;
	(void)snprintf(text, sizeof(text), "link: %s: the file's packets begin with %s",
		       cap_link_name(*link, theirs), cap_link_name(first, ours));
	return data_error(c, text);
}

/* Times that are left out go on by a microsecond. */
static int write_packet(struct craft *c, int link)
{
	struct cap_packet p = {.data = c->line.buf, .caplen = c->line.len, .len = c->line.wire_len};
	const char *comment = c->line.comment[0] != '\0' ? c->line.comment : NULL;
	char err[CAP_ERROR_MAX];
	int at;

	p.time_ns = c->line.has_time ? c->line.time_ns : c->last_ns + 1000 * (c->packets > 0);
	c->last_ns = p.time_ns;
	if (open_output(c, err) < 0 || (at = interface_of(c, link, err)) < 0)
		return io_error(err);
	if (cap_write(c->writer, (uint32_t)at, &p, comment) < 0)
		return io_error(cap_writer_error(c->writer));
	c->packets++;
	return 0;
}

/* Empty lines and lines that begin with # are skipped. */
static int handle_line(struct craft *c, const char *text, size_t len)
{
	char err[CRAFTLINE_ERROR_MAX];
	int link, rc;

	c->line_number++;
	if (text[strspn(text, " \t\r\n")] == '\0' || text[0] == '#')
		return 0;
	if (craftline(&c->line, text, len, err) < 0)
		return data_error(c, err);
	if ((rc = check_link(c, &link)) != 0)
		return rc;
	return write_packet(c, link);
}

static int handle_lines(struct craft *c, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	while (rc == 0 && (len = getline(&text, &size, f)) >= 0)
		rc = handle_line(c, text, (size_t)len);
	free(text);
	if (rc == 0 && ferror(f)) {
		char err[CAP_ERROR_MAX];

		(void)snprintf(err, sizeof(err), "%s: %s", c->in_name, strerror(errno));
		return io_error(err);
	}
	return rc;
}

/* No half-written file stays behind. An input without packets makes a file without packets, if
 * its link type is known. */
static int close_output(struct craft *c, int rc)
{
	char err[CAP_ERROR_MAX];

	if (rc == 0 && c->nlinks == 0 && c->link < 0)
		rc = io_error("there is no packet in the input");
	else if (rc == 0 && c->nlinks == 0 &&
		 (open_output(c, err) < 0 || interface_of(c, c->link, err) < 0))
		rc = io_error(err);
	if (rc != 0)
		cap_discard(c->writer);
	else if (cap_finish(c->writer, err) < 0)
		rc = io_error(err);
	c->writer = NULL;
	return rc;
}

static int craft_file(struct craft *c)
{
	bool std = strcmp(c->in, "-") == 0;
	FILE *f = std ? stdin : fopen(c->in, "r");
	char err[CAP_ERROR_MAX];
	int rc;

	c->in_name = std ? "standard input" : c->in;
	if (f == NULL) {
		(void)snprintf(err, sizeof(err), "%s: %s", c->in_name, strerror(errno));
		return io_error(err);
	}
	if (args_same_file(c->in, c->out)) {
		(void)fclose(f);
		return cmd_usage(&cmd_craft, "%s is both input and output", c->in);
	}
	rc = close_output(c, handle_lines(c, f));
	if (!std)
		(void)fclose(f);
	return rc;
}

enum { OPT_LINK = 256, OPT_ICRC_ORDER, OPT_UET_CRC };

static const struct option options[] = {
	{"link", required_argument, NULL, OPT_LINK},
	{"icrc-order", required_argument, NULL, OPT_ICRC_ORDER},
	{"uet-crc", no_argument, NULL, OPT_UET_CRC},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* False ends the command, with *code. */
static bool read_options(struct craft *c, int argc, char **argv, int *code)
{
	int opt;

	optind = 1;
	*code = EXIT_USAGE;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case OPT_LINK:
			if ((c->link = cap_link_parse(optarg)) >= 0)
				break;
			cmd_usage(&cmd_craft, "--link: no link type '%s'", optarg);
			return false;
		case OPT_ICRC_ORDER:
			if (args_icrc_order(&cmd_craft, optarg, &c->line.opts.icrc_order) != 0)
				return false;
			break;
		case OPT_UET_CRC:
			c->line.opts.uetx_crc = true;
			break;
		case 'h':
			fputs(cmd_craft.help, stdout);
			*code = EXIT_DONE;
			return false;
		default:
			args_bad_option(&cmd_craft, argv, opt);
			return false;
		}
	}
	if (optind + 2 != argc) {
		cmd_usage(&cmd_craft, "an input and an output file are needed");
		return false;
	}
	c->in = argv[optind];
	c->out = argv[optind + 1];
	return true;
}

static int run(int argc, char **argv)
{
	struct craft c = {.link = -1};
	int code;

	if (!read_options(&c, argc, argv, &code))
		return code;
	c.line.size = CAP_PACKET_MAX;
	if ((c.line.buf = malloc(c.line.size)) == NULL)
		return io_error("out of memory");
	code = craft_file(&c);
	free(c.line.buf);
	return code;
}

const struct cmd cmd_craft = {
	.name = "craft",
	.run = run,
	.brief = "make a capture from JSON lines, the inverse of decode -j",
	.help = "usage: causeway craft [OPTIONS] IN.jsonl OUT.pcap\n"
		"\n"
		"Make packets from JSON lines as 'causeway decode -j' prints them (- is the "
		"standard\n"
		"input or output; OUT.pcapng makes pcapng). What is given is kept, right or "
		"wrong;\n"
		"lengths, checksums, types and ICRCs that are left out are computed.\n"
		"\n"
		"      --link TYPE      what packets begin with: ethernet, ub, or a LINKTYPE "
		"number\n"
		"                       (default: as the first packet says)\n"
		"      --icrc-order O   byte order of the ICRC of UB and UBoE: le (default) or be\n"
		"      --uet-crc        end article UET packets in a CRC-32C, as those with an\n"
		"                       \"icrc\" of their own\n"
		"  -h, --help           this text\n"
		"\n"
		"a packet: {\"time\": \"1700000000.5\", \"layers\": [{\"layer\": \"eth\", \"dst\": "
		"...}, ...],\n"
		"  \"payload\": HEX or {\"text\": ...} or {\"repeat\": HEX, \"length\": N},\n"
		"  \"pad\": HEX, \"icrc\": \"ok\", \"bad\", \"absent\" or \"0x...\", \"trailer\": "
		"HEX,\n"
		"  \"length\": octets on the wire, \"comment\": TEXT}\n"
		"Lines that are empty or begin with # are skipped.\n"
		"\n"
		"exit code: 0 done, 1 an error in the input (nothing is written), 2 usage or I/O\n"
		"\n"
		"examples:\n"
		"  causeway decode -j a.pcap | causeway craft - same.pcap\n"
		"  causeway decode -j a.pcap | jq -c '.layers[1].ttl = 1' | causeway craft - "
		"b.pcap\n"
		"  causeway decode -j a.pcap | jq -c 'del(.layers[].checksum)' | causeway craft - "
		"c.pcap\n",
};
