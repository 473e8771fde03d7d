/* args.c - values of options. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli/args.h"

int args_number(const struct cmd *c, const char *option, const char *text, uint64_t min,
		uint64_t max, uint64_t *out)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	char *end = NULL;
	uint64_t n = 0;

	errno = 0;
	if (isdigit((unsigned char)text[0]))
		n = strtoull(text, &end, base);
	if (end == NULL || *end != '\0')
		return cmd_usage(c, "%s: '%s' is not a number", option, text);
	if (errno == ERANGE || n < min || n > max)
		return cmd_usage(c, "%s: %s is not in %" PRIu64 " to %" PRIu64, option, text, min,
				 max);
	*out = n;
	return 0;
}

int args_icrc_order(const struct cmd *c, const char *text, enum cw_icrc_order *out)
{
	if (strcmp(text, "le") == 0)
		*out = CW_ICRC_LE;
	else if (strcmp(text, "be") == 0)
		*out = CW_ICRC_BE;
	else
		return cmd_usage(c, "--icrc-order: '%s' is not le or be", text);
	return 0;
}

int args_mac(const struct cmd *c, const char *option, const char *text, uint8_t out[6])
{
	if (cw_mac_parse(text, out) == CW_OK)
		return 0;
	return cmd_usage(c, "%s: '%s' is not a MAC address", option, text);
}

bool args_same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
		return false;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int args_bad_option(const struct cmd *c, char **argv, int why)
{
	const char *option = argv[optind - 1];

	if (why == ':')
		return cmd_usage(c, "option '%s' needs a value", option);
	/* A short one may stand inside a cluster, so getopt's own letter is exact. */
	if (optopt > 0 && optopt < 256 && strncmp(option, "--", 2) != 0)
		return cmd_usage(c, "unknown option '-%c'", optopt);
	return cmd_usage(c, "unknown option '%s'", option);
}
