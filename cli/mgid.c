/* mgid.c - causeway mgid: IP groups and the multicast GIDs of IP over InfiniBand. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "causeway/wire/ipoib.h"
#include "cli/args.h"
#include "cli/cmd.h"

struct mgid {
	bool json, has_pkey;
	uint16_t pkey;
	unsigned scope;
	const char *address;
};

static void put_lla(const uint8_t mgid[16])
{
	uint8_t lla[CW_IPOIB_LLA];
	unsigned i;

	cw_ipoib_group_lla(lla, mgid);
	for (i = 0; i < CW_IPOIB_LLA; i++)
		printf("%s%02x", i > 0 ? ":" : "", lla[i]);
}

static void to_mgid(const struct mgid *m, const uint8_t *group, bool v6)
{
	char text[CW_ADDR_TEXT];
	uint8_t mgid[16];

	if (v6)
		cw_ipoib_mgid6(mgid, group, m->pkey, m->scope);
	else
		cw_ipoib_mgid4(mgid, group, m->pkey, m->scope);
	cw_ip6_format(mgid, text);
	if (!m->json) {
		printf("%s\n", text);
		return;
	}
	printf("{\"group\":\"%s\",\"pkey\":\"0x%04x\",\"scope\":%u,\"mgid\":\"%s\",\"lladdr\":\"",
	       m->address, m->pkey | CW_IPOIB_PKEY_FULL, m->scope, text);
	put_lla(mgid);
	puts("\"}");
}

/* Of an IPv6 group the upper 48 bits are lost: ff02 and zeros stand for them, and `exact` says so.
 */
static void from_mgid(const struct mgid *m, const struct cw_ipoib_group *g)
{
	uint8_t v6[16] = {0xff, 0x02};
	char text[CW_ADDR_TEXT];

	memcpy(v6 + 6, g->id, sizeof(g->id));
	if (g->v6)
		cw_ip6_format(v6, text);
	else
		cw_ip4_format(g->v4, text);
	if (m->json)
		printf("{\"mgid\":\"%s\",\"group\":\"%s\",\"exact\":%s,\"broadcast\":%s,"
		       "\"pkey\":\"0x%04x\",\"scope\":%u}\n",
		       m->address, text, g->v6 ? "false" : "true", g->broadcast ? "true" : "false",
		       g->pkey, g->scope);
	else
		printf("%s, P_Key 0x%04x, scope %u%s\n", text, g->pkey, g->scope,
		       g->v6          ? " (upper 48 bits of the group unknown)"
		       : g->broadcast ? " (broadcast-GID)"
				      : "");
}

static int wrong(const struct mgid *m, const char *why)
{
	fprintf(stderr, "causeway mgid: %s: %s\n", m->address, why);
	return EXIT_DATA;
}

static int convert(const struct mgid *m)
{
	struct cw_ipoib_group g;
	uint8_t a[16];
	bool v6;

	v6 = cw_ip6_parse(m->address, a) == CW_OK;
	if (!v6 && cw_ip4_parse(m->address, a) != CW_OK)
		return cmd_usage(&cmd_mgid, "%s: neither an IPv4 nor an IPv6 address", m->address);
	if (v6 && cw_ipoib_mgid_parse(a, &g) == CW_OK && !m->has_pkey) {
		from_mgid(m, &g);
		return EXIT_DONE;
	}
	if (v6 ? a[0] != 0xff : a[0] >> 4 != 14 && cw_be32(a) != 0xffffffff)
		return wrong(m, "not a multicast address, nor 255.255.255.255");
	if (!m->has_pkey)
		return wrong(m, v6 && a[1] >> 4 == 1
					? "not an MGID of IPoIB; for a group, give --pkey"
					: "a group: --pkey is needed");
	to_mgid(m, a, v6);
	return EXIT_DONE;
}

enum { OPT_PKEY = 256, OPT_SCOPE };
static const struct option options[] = {
	{"pkey", required_argument, NULL, OPT_PKEY},
	{"scope", required_argument, NULL, OPT_SCOPE},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool read_options(struct mgid *m, int argc, char **argv, int *code)
{
	uint64_t n;
	int opt;

	optind = 1;
	*code = EXIT_USAGE;
	while ((opt = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		switch (opt) {
		case 'j':
			m->json = true;
			break;
		case 'h':
			fputs(cmd_mgid.help, stdout);
			*code = EXIT_DONE;
			return false;
		case OPT_PKEY:
			if (args_number(&cmd_mgid, "--pkey", optarg, 1, 0xffff, &n) != 0)
				return false;
			m->pkey = (uint16_t)n;
			m->has_pkey = true;
			break;
		case OPT_SCOPE:
			if (args_number(&cmd_mgid, "--scope", optarg, 0, 15, &n) != 0)
				return false;
			m->scope = (unsigned)n;
			break;
		default:
			args_bad_option(&cmd_mgid, argv, opt);
			return false;
		}
	}
	if (optind + 1 != argc) {
		cmd_usage(&cmd_mgid,
			  optind == argc ? "no address given" : "more than one address given");
		return false;
	}
	m->address = argv[optind];
	return true;
}

static int run(int argc, char **argv)
{
	struct mgid m = {.scope = CW_IPOIB_SCOPE};
	int code;

	if (!read_options(&m, argc, argv, &code))
		return code;
	return convert(&m);
}

const struct cmd cmd_mgid = {
	.name = "mgid",
	.run = run,
	.brief = "map IP groups to the multicast GIDs of IPoIB, and back",
	.help = "usage: causeway mgid ADDRESS --pkey P [--scope S] [-j]\n"
		"       causeway mgid MGID [-j]\n"
		"\n"
		"Show the multicast GID by which an IPoIB link knows an IP group (RFC 4391 4), or\n"
		"what group an MGID stands for. 255.255.255.255 is the broadcast-GID.\n"
		"\n"
		"      --pkey P         P_Key of the link; the full-member bit is set if it is "
		"not\n"
		"      --scope S        scope of the link's broadcast-GID (2)\n"
		"  -j, --json           one JSON object, with the link-layer address\n"
		"  -h, --help           this text\n"
		"\n"
		"An MGID has the low 80 bits of an IPv6 group only: the rest is not known.\n"
		"\n"
		"exit code: 0 done, 1 not a group or not an MGID of IPoIB, 2 usage\n"
		"\n"
		"examples:\n"
		"  causeway mgid 239.1.2.3 --pkey 0x8001\n"
		"  causeway mgid ff02::1:ff10:4 --pkey 1 --scope 5\n"
		"  causeway mgid ff12:401b:8001::f01:203\n",
};
