/* epopts.c - the options of a software UB endpoint: what perf and copy have in common. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/epopts.h"
#include "cli/out.h"

const char *const ep_cc[] = {"none", "dcqcn", "ldcp"};
const char *const ep_retx[] = {"gbn", "selective"};
const char *const ep_spread[] = {"flow", "packet"};
const char *const ep_service[] = {"roi", "rot", "rol", "uno"}; /* uno: over UTP */

void ep_defaults(struct ep_opts *o)
{
	*o = (struct ep_opts){.port = RDV_PORT,
			      .npi = 1,
			      .window = 256,
			      .channels = 1,
			      .retx = CW_UBOE_SELECTIVE,
			      .spread = CW_UBOE_BY_PACKET,
			      .line_rate = 100000000000};
}

int ep_one_of(const char *text, const char *const *names, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if (strcmp(text, names[i]) == 0)
			return (int)i;
	}
	return -1;
}

static int number(const struct cmd *c, const char *option, const char *arg, uint64_t min,
		  uint64_t max, uint32_t *out)
{
	uint64_t n = 0;
	int rc = args_number(c, option, arg, min, max, &n);

	if (rc == 0)
		*out = (uint32_t)n;
	return rc;
}

static int power(const struct cmd *c, const char *option, const char *arg, uint64_t min,
		 uint64_t max, uint32_t *out)
{
	int rc = number(c, option, arg, min, max, out);

	if (rc == 0 && (*out & (*out - 1)) != 0)
		rc = cmd_usage(c, "%s: %s is not a power of two", option, arg);
	return rc;
}

static int choice(const struct cmd *c, const char *option, const char *arg,
		  const char *const *names, unsigned n, int *out)
{
	*out = ep_one_of(arg, names, n);
	return *out >= 0 ? 0 : cmd_usage(c, "%s: '%s' is not known", option, arg);
}

static int read_key(const struct cmd *c, struct ep_opts *o, const char *arg)
{
	char err[RDV_ERROR_MAX];

	return rdv_key_read(&o->key, arg, err) == 0 ? 0 : cmd_usage(c, "--key: %s", err);
}

static int line_rate(const struct cmd *c, struct ep_opts *o, const char *arg)
{
	uint64_t n = 0;
	int rc = args_number(c, "--line-rate", arg, 10, 1000000, &n);

	o->line_rate = n * 1000000;
	return rc;
}

bool ep_address(const char *text, uint8_t out[16], unsigned *version)
{
	memset(out, 0, 16);
	*version = inet_pton(AF_INET, text, out) == 1    ? 4
		   : inet_pton(AF_INET6, text, out) == 1 ? 6
							 : 0;
	return *version != 0;
}

static int set_hop(const struct cmd *c, struct ep_opts *o, const char *arg)
{
	o->hop_kind = EP_HOP_MAC;
	if (cw_mac_parse(arg, o->hop) == CW_OK)
		return 0;
	o->hop_kind = EP_HOP_IP;
	if (ep_address(arg, o->hop, &o->hop_version))
		return 0;
	return cmd_usage(c, "--hop: '%s' is neither an IP nor a link address", arg);
}

static int long_option(const struct cmd *c, struct ep_opts *o, int opt, const char *arg)
{
	int k = 0, rc;

	switch (opt) {
	case EP_NATIVE:
		o->native = true;
		return 0;
	case EP_NPI:
		return number(c, "--npi", arg, 0, 0x1ffffff, &o->npi);
	case EP_MTU:
		return power(c, "--mtu", arg, 256, 8192, &o->mtu);
	case EP_WINDOW:
		return power(c, "--window", arg, 128, 2048, &o->window);
	case EP_CHANNELS:
		return number(c, "--channels", arg, 1, EP_CHANNELS_MAX, &o->channels);
	case EP_SPRAY:
		return number(c, "--spray", arg, 0, 8, &o->sport_bits);
	case EP_CC:
		rc = choice(c, "--cc", arg, ep_cc, 3, &k);
		o->cc = (enum cw_uboe_cc)k;
		return rc;
	case EP_RETX:
		rc = choice(c, "--retx", arg, ep_retx, 2, &k);
		o->retx = (enum cw_uboe_retx)k;
		return rc;
	case EP_SERVICE:
		rc = choice(c, "--service", arg, ep_service, 3, &k);
		o->service = (enum cw_uboe_service)k;
		return rc;
	case EP_SPREAD:
	case EP_SPRAY_BY:
		rc = choice(c, opt == EP_SPREAD ? "--spread" : "--spray-by", arg, ep_spread, 2, &k);
		*(opt == EP_SPREAD ? &o->spread : &o->spray) = (enum cw_uboe_spread)k;
		return rc;
	case EP_LINE_RATE:
		return line_rate(c, o, arg);
	case EP_DSCP:
		return number(c, "--dscp", arg, 0, 63, &o->dscp);
	case EP_KEY:
		return read_key(c, o, arg);
	case EP_SPIN:
		return number(c, "--spin", arg, 0, 1000000, &o->spin_us);
	case EP_DPDK:
		o->dpdk = arg;
		return 0;
	case EP_HOP:
		return set_hop(c, o, arg);
	default:
		return -1;
	}
}

static void put_knob(const char *line)
{
	puts(line);
}

static int set_knobs(const struct cmd *c, struct ep_opts *o, const char *arg)
{
	char err[KNOBS_ERROR_MAX];

	if (strcmp(arg, "help") == 0) {
		knobs_list(put_knob);
		exit(out_finish(stdout, c->name, EXIT_DONE));
	}
	return knobs_parse(&o->knobs, arg, err) == 0 ? 0 : cmd_usage(c, "-o: %s", err);
}

int ep_option(const struct cmd *c, struct ep_opts *o, int opt, const char *arg)
{
	switch (opt) {
	case '4':
	case '6':
		o->ip_version = opt == '4' ? 4 : 6;
		return 0;
	case 's':
		o->server = true;
		return 0;
	case 'c':
		o->client = true;
		o->host = arg;
		return 0;
	case 'i':
		o->ifname = arg;
		return 0;
	case 'a':
		o->address = arg;
		return 0;
	case 'p':
		o->port = arg;
		return 0;
	case 'o':
		return set_knobs(c, o, arg);
	default:
		return long_option(c, o, opt, arg);
	}
}

int ep_check(const struct cmd *c, const struct ep_opts *o)
{
	uint8_t a[16];

	if (o->server == o->client)
		return cmd_usage(c, "give either -s or -c HOST");
	if (o->native && ((o->ifname == NULL && o->dpdk == NULL) || o->address == NULL))
		return cmd_usage(c, "--native needs -i INTERFACE and -a ADDRESS");
	if (o->ifname != NULL && o->dpdk != NULL)
		return cmd_usage(c, "give either -i or --dpdk");
	if (o->hop_kind != EP_HOP_PEER && o->dpdk == NULL)
		return cmd_usage(c, "--hop is for --dpdk: the kernel knows its routes");
	if (o->address != NULL && inet_pton(AF_INET, o->address, a) != 1 &&
	    inet_pton(AF_INET6, o->address, a) != 1)
		return cmd_usage(c, "-a: '%s' is not an IP address", o->address);
	return 0;
}
