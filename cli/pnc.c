/* pnc.c - causeway pnc decode: proxy node capability in IS-IS, OSPF and BGP, in words. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/pnc.h"
#include "causeway/wire/ospf3.h"
#include "cli/args.h"
#include "cli/client.h"

enum { BLOCK_MAX = 70000, ISIS_LSP_HEAD = 27 };

/* What a block may be. AUTO finds out which of those marked `told` it is. */
enum kind {
	AUTO,
	ISIS_LSP,
	ISIS_TLVS,
	OSPF2_LSA,
	OSPF2_BODY,
	OSPF3_LSA,
	BGP_MESSAGE,
	BGP_UPDATE,
	NHC
};
static const char *const kinds[] = {"auto",        "isis-lsp",    "isis-tlvs",
				    "ospfv2-lsa",  "ospfv2-body", "ospfv3-lsa",
				    "bgp-message", "bgp-update",  "bgp-nhc"};
enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct options {
	bool json, help;
	enum kind kind;
	struct cw_pnc_codes codes;
	const char *what;
};

/* ---- Input --------------------------------------------------------------------------------- */

/* Hex digits of `text`; blanks, colons and a leading 0x are passed over. -1: something else. */
static int hex_octets(const char *text, uint8_t *out)
{
	static const char digits[] = "0123456789abcdef";
	const char *d;
	int n = 0, half = -1;

	if (strncmp(text, "0x", 2) == 0)
		text += 2;
	for (; *text != '\0'; text++) {
		if (strchr(" \t\r\n:", *text) != NULL)
			continue;
		d = strchr(digits, *text | 0x20);
		if (d == NULL || n >= BLOCK_MAX)
			return -1;
		if (half < 0) {
			half = (int)(d - digits);
		} else {
			out[n++] = (uint8_t)(half << 4 | (int)(d - digits));
			half = -1;
		}
	}
	return half >= 0 ? -1 : n;
}

/* A file of octets or of hex digits. Returns the number of octets, or -1 after saying why. */
static int file_octets(const char *name, uint8_t *out)
{
	static char text[4 * BLOCK_MAX];
	FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
	int octets, err;
	size_t n;

	if (f == NULL) {
		fprintf(stderr, "causeway pnc: %s: neither hex digits nor a file: %s\n", name,
			strerror(errno));
		return -1;
	}
	n = fread(text, 1, sizeof(text) - 1, f);
	err = ferror(f) ? errno : 0;
	if (f != stdin)
		(void)fclose(f);
	if (err != 0) {
		fprintf(stderr, "causeway pnc: %s: %s\n", name, strerror(err));
		return -1;
	}
	text[n] = '\0';
	if (memchr(text, '\0', n) == NULL && (octets = hex_octets(text, out)) > 0)
		return octets;
	if (n > BLOCK_MAX) {
		fprintf(stderr, "causeway pnc: %s: more than %d octets\n", name, BLOCK_MAX);
		return -1;
	}
	memcpy(out, text, n);
	return (int)n;
}

static enum kind guess(const uint8_t *b, size_t len)
{
	static const uint8_t marker[16] = {255, 255, 255, 255, 255, 255, 255, 255,
					   255, 255, 255, 255, 255, 255, 255, 255};

	if (len >= CW_BGP_HEAD && memcmp(b, marker, sizeof(marker)) == 0)
		return BGP_MESSAGE;
	if (len >= ISIS_LSP_HEAD && b[0] == 0x83)
		return ISIS_LSP;
	if (len >= CW_SIZE_OSPF2_LSA && cw_ospf2_lsa_length(b) == len)
		return b[2] >= 0x80 || b[3] < 9 || b[3] > 11 ? OSPF3_LSA : OSPF2_LSA;
	if (len >= 2 && (b[0] == CW_ISIS_TLV_REACH4 || b[0] == CW_ISIS_TLV_MT_REACH4 ||
			 b[0] == CW_ISIS_TLV_REACH6 || b[0] == CW_ISIS_TLV_MT_REACH6))
		return ISIS_TLVS;
	if (len >= 8 && b[0] == 0 && (b[1] == 1 || b[1] == 2) && b[2] == 1 &&
	    (b[3] == 4 || b[3] == 16 || b[3] == 32))
		return NHC;
	return AUTO;
}

/* ---- Output -------------------------------------------------------------------------------- */

static int add_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	char text[CW_PREFIX_TEXT], source[CW_ADDR_TEXT], flags[16];
	json_t *o;

	(void)snprintf(flags, sizeof(flags), "0x%08x", p->flags);
	o = json_pack("{s:s, s:b, s:b, s:I}", "prefix", cw_prefix_format(&p->prefix, text), "pnc",
		      p->pnc, "node", p->node, "kind", (json_int_t)p->kind);
	if (p->has_flags)
		json_object_set_new(o, "flags", json_string(flags));
	if (p->proto != CW_PNC_OSPF2)
		json_object_set_new(o, "metric", json_integer(p->metric));
	if (p->mt != 0)
		json_object_set_new(o, "topology", json_integer(p->mt));
	if (p->down)
		json_object_set_new(o, "down", json_true());
	if (p->readvertised)
		json_object_set_new(o, "readvertised", json_true());
	if (p->unreachable)
		json_object_set_new(o, "unreachable", json_true());
	if (p->source.version != 0)
		json_object_set_new(o, "source", json_string(cw_addr_format(&p->source, source)));
	if (cw_be32(p->source_router) != 0)
		json_object_set_new(o, "source_router",
				    json_string(cw_ospf3_id_format(p->source_router, source)));
	if (p->duplicate)
		json_object_set_new(o, "flags_twice", json_true());
	return json_array_append_new(arg, o);
}

static void set_error(json_t *o, int err, size_t off, const char *what)
{
	json_object_set_new(o, "error",
			    json_pack("{s:s, s:I, s:s}", "code", cw_err_name(err), "offset",
				      (json_int_t)off, "reason", what));
}

static json_t *nlri_json(const struct cw_bgp_routes *r)
{
	json_t *all = json_array();
	struct cw_rd nlri = r->nlri;
	char text[CW_PREFIX_TEXT];
	struct cw_prefix p;

	while (cw_bgp_nlri_next(&nlri, r->afi, &p) == CW_OK)
		json_array_append_new(all, json_string(cw_prefix_format(&p, text)));
	return all;
}

static void add_routes(json_t *list, const struct options *o, const struct cw_bgp_update *u,
		       const struct cw_bgp_routes *r)
{
	struct cw_addr hop = {.version = r->next_hop_len == 4 ? 4 : 6}, proxy;
	enum cw_nhc_verdict v;
	char text[CW_ADDR_TEXT];
	const char *why;
	json_t *e;

	if (cw_rd_left(&r->nlri) == 0)
		return;
	if (r->next_hop != NULL)
		memcpy(hop.addr, r->next_hop, hop.version == 4 ? 4 : 16);
	v = cw_nhc_judge(u, r, &o->codes, &proxy, &why);
	e = json_pack("{s:o, s:s, s:s}", "prefixes", nlri_json(r), "next_hop",
		      cw_addr_format(&hop, text), "nhc", cw_nhc_verdict_name(v));
	if (v == CW_NHC_OK)
		json_object_set_new(e, "proxy", json_string(cw_addr_format(&proxy, text)));
	if (why != NULL)
		json_object_set_new(e, "reason", json_string(why));
	json_array_append_new(list, e);
}

static int bgp_update(json_t *out, const struct options *o, const uint8_t *b, size_t len)
{
	json_t *announced = json_array(), *withdrawn = json_array();
	struct cw_bgp_update u;
	enum cw_bgp_action action = cw_bgp_update_parse(&u, &o->codes, b, len);
	unsigned i;

	for (i = 0; i < 2 && action != CW_BGP_RESET; i++) {
		add_routes(announced, o, &u, &u.announce[i]);
		if (cw_rd_left(&u.withdraw[i].nlri) > 0)
			json_array_append_new(withdrawn, json_pack("{s:o}", "prefixes",
								   nlri_json(&u.withdraw[i])));
	}
	json_object_set_new(out, "action", json_string(cw_bgp_action_name(action)));
	json_object_set_new(out, "announced", announced);
	json_object_set_new(out, "withdrawn", withdrawn);
	if (u.why != NULL) {
		set_error(out, CW_E_LENGTH, u.bad != NULL ? (size_t)(u.bad - b) : 0, u.why);
		json_object_set_new(json_object_get(out, "error"), "attribute",
				    json_integer(u.attr));
	}
	return action == CW_BGP_ACCEPT ? EXIT_DONE : EXIT_DATA;
}

/* The attribute's value alone: judged as if the route had its next hop. */
static int nhc(json_t *out, const struct options *o, const uint8_t *b, size_t len)
{
	struct cw_bgp_update u = {.has_nhc = true, .nhc = cw_rd_init(b, len)};
	struct cw_bgp_routes r = {0};
	struct cw_addr proxy;
	char text[CW_ADDR_TEXT];
	const char *why;
	enum cw_nhc_verdict v;

	if (len >= CW_SIZE_BGP_NHC && len >= CW_SIZE_BGP_NHC + (size_t)b[3]) {
		r.next_hop = b + CW_SIZE_BGP_NHC;
		r.next_hop_len = b[3];
	}
	v = cw_nhc_judge(&u, &r, &o->codes, &proxy, &why);
	json_object_set_new(out, "nhc", json_string(cw_nhc_verdict_name(v)));
	if (v == CW_NHC_OK)
		json_object_set_new(out, "proxy", json_string(cw_addr_format(&proxy, text)));
	if (why != NULL)
		set_error(out, CW_E_LENGTH, 0, why);
	return v == CW_NHC_MALFORMED ? EXIT_DATA : EXIT_DONE;
}

static int bgp_message(json_t *out, const struct options *o, const uint8_t *b, size_t len)
{
	if (len < CW_BGP_HEAD || cw_be16(b + 16) != len || b[18] != 2) {
		set_error(out, CW_E_LENGTH, 16, "not one whole UPDATE message");
		return EXIT_DATA;
	}
	return bgp_update(out, o, b + CW_BGP_HEAD, len - CW_BGP_HEAD);
}

static int igp(json_t *out, const struct options *o, enum kind kind, const uint8_t *b, size_t len)
{
	static const size_t heads[NKINDS] = {[ISIS_LSP] = ISIS_LSP_HEAD,
					     [OSPF2_LSA] = CW_SIZE_OSPF2_LSA,
					     [OSPF3_LSA] = CW_SIZE_OSPF3_LSA};
	json_t *prefixes = json_array();
	struct cw_pnc_error e = {0};
	size_t head = heads[kind];
	int err;

	if (len < head)
		err = (e = (struct cw_pnc_error){CW_E_SHORT, len, "ends inside its header"}).err;
	else if (kind == ISIS_LSP || kind == ISIS_TLVS)
		err = cw_isis_walk(&o->codes, b + head, len - head, add_prefix, prefixes, &e);
	else if (kind == OSPF3_LSA)
		err = cw_ospf3_walk(&o->codes, (uint16_t)cw_ospf3_lsa_type(b), b + head, len - head,
				    add_prefix, prefixes, &e);
	else
		err = cw_ospf2_walk(&o->codes, b + head, len - head, add_prefix, prefixes, &e);
	json_object_set_new(out, "prefixes", prefixes);
	if (err != CW_OK)
		set_error(out, err, head + e.off, e.what);
	return err == CW_OK ? EXIT_DONE : EXIT_DATA;
}

/* {"a":1,"b":[..]} as lines `a 1`, for people. */
static void print_text(const json_t *v, int depth)
{
	const char *key;
	const json_t *item;
	json_t *at;
	size_t i;

	json_object_foreach((json_t *)v, key, at)
	{
		if (json_is_array(at) && json_is_object(json_array_get(at, 0))) {
			json_array_foreach(at, i, item)
			{
				printf("%*s%s\n", 2 * depth, "", key);
				print_text(item, depth + 1);
			}
		} else if (json_is_object(at)) {
			printf("%*s%s\n", 2 * depth, "", key);
			print_text(at, depth + 1);
		} else if (json_is_array(at)) {
			printf("%*s%s", 2 * depth, "", key);
			json_array_foreach(at, i, item) printf(" %s", json_string_value(item));
			printf("%s\n", json_array_size(at) == 0 ? " none" : "");
		} else if (json_is_string(at)) {
			printf("%*s%s %s\n", 2 * depth, "", key, json_string_value(at));
		} else if (json_is_boolean(at)) {
			printf("%*s%s %s\n", 2 * depth, "", key, json_is_true(at) ? "yes" : "no");
		} else {
			printf("%*s%s %lld\n", 2 * depth, "", key,
			       (long long)json_integer_value(at));
		}
	}
}

static int decode(const struct options *o, const uint8_t *b, size_t len)
{
	enum kind kind = o->kind != AUTO ? o->kind : guess(b, len);
	json_t *out;
	int rc;

	if (kind == AUTO)
		return cmd_usage(&cmd_pnc, "can't tell what these %zu octets are: --type says it",
				 len);
	out = json_pack("{s:s, s:I}", "type", kinds[kind], "octets", (json_int_t)len);
	if (kind == NHC)
		rc = nhc(out, o, b, len);
	else if (kind == BGP_MESSAGE)
		rc = bgp_message(out, o, b, len);
	else if (kind == BGP_UPDATE)
		rc = bgp_update(out, o, b, len);
	else
		rc = igp(out, o, kind, b, len);
	if (o->json)
		client_print_json(out);
	else
		print_text(out, 0);
	json_decref(out);
	return rc;
}

/* ---- Options ------------------------------------------------------------------------------- */

static int find_kind(const char *name, enum kind *kind)
{
	unsigned i;

	for (i = 0; i < NKINDS; i++) {
		if (strcmp(kinds[i], name) == 0) {
			*kind = (enum kind)i;
			return EXIT_DONE;
		}
	}
	return cmd_usage(&cmd_pnc, "--type: '%s' is not one of those in --help", name);
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"type", required_argument, NULL, 't'},
		{"code", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt, err = EXIT_DONE;
	uint64_t code;

	optind = 1;
	opterr = 0;
	while (err == EXIT_DONE && (opt = getopt_long(argc, argv, ":jt:c:h", longs, NULL)) != -1) {
		if (opt == 'j') {
			o->json = true;
		} else if (opt == 't') {
			err = find_kind(optarg, &o->kind);
		} else if (opt == 'c') {
			err = args_number(&cmd_pnc, "--code", optarg, 1, 65535, &code);
			o->codes.bgp_code = (uint16_t)code;
		} else if (opt == 'h') {
			o->help = true;
		} else {
			return args_bad_option(&cmd_pnc, argv, opt);
		}
	}
	if (err != EXIT_DONE || o->help)
		return err;
	if (argc - optind != 2 || strcmp(argv[optind], "decode") != 0)
		return cmd_usage(&cmd_pnc, "decode HEX|FILE is needed");
	o->what = argv[optind + 1];
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	static uint8_t block[4 * BLOCK_MAX];
	struct options o = {.codes = CW_PNC_CODES, .what = ""};
	int err = parse_options(argc, argv, &o), n;

	if (err != EXIT_DONE)
		return err;
	if (o.help) {
		(void)fputs(cmd_pnc.help, stdout);
		return EXIT_DONE;
	}
	n = hex_octets(o.what, block);
	if (n <= 0 && (n = file_octets(o.what, block)) < 0)
		return EXIT_USAGE;
	return decode(&o, block, (size_t)n);
}

const struct cmd cmd_pnc = {
	.name = "pnc",
	.run = run,
	.brief = "decode the proxy node capability of IS-IS, OSPF and BGP",
	.help = "usage: causeway pnc [OPTIONS] decode HEX|FILE\n\n"
		"Say which prefixes a routing message announces with the proxy node capability "
		"(Fast\n"
		"CNP with Proxy, section 5). FILE holds octets or hex digits; - is the standard "
		"input.\n\n"
		"  -t, --type TYPE  isis-lsp, isis-tlvs, ospfv2-lsa, ospfv2-body, ospfv3-lsa,\n"
		"                   bgp-message, bgp-update (the body), bgp-nhc (value of "
		"attribute\n"
		"                   39), or auto, the default: all but the two bodies are "
		"recognised\n"
		"  -c, --code CODE  of the PNC characteristic (65534)\n"
		"  -j, --json       one JSON object\n"
		"  -h, --help       this text\n\n"
		"exit code: 0 good, 1 something is malformed, 2 usage or I/O\n\n"
		"examples:\n"
		"  causeway pnc decode 000101040a010001fffe00040a010001\n"
		"  causeway pnc -j -t ospfv2-body decode "
		"00010010012000400aff0001000b000420000000\n",
};
