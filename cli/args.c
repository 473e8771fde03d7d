/* args.c - values of options. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
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
	if (errno != ERANGE && n < min && max >= UINT32_MAX)
		return cmd_usage(c, "%s: %s is too little; at least %" PRIu64, option, text, min);
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

/* ---- Slips of the pen ------------------------------------------------------------------------ */

enum { WORD_MAX = 32 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein: letters to insert, remove or change. Words longer than WORD_MAX are far off. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[WORD_MAX + 1], i, j, up, corner;
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= nb; j++)
		row[j] = j;
	for (i = 0; i < na; i++) {
		corner = row[0];
		row[0] = i + 1;
		for (j = 0; j < nb; j++) {
			up = row[j + 1];
			row[j + 1] = min3(up + 1, row[j] + 1, corner + (a[i] != b[j]));
			corner = up;
		}
	}
	return row[nb];
}

/* Looks at one word after the other; `best` is empty until one is near. */
struct search {
	const char *text;
	unsigned least; /* as far is too far */
	char best[WORD_MAX + 1];
};

static struct search look_for(const char *text)
{
	return (struct search){.text = text, .least = strlen(text) < 4 ? 2 : 3};
}

static void look_at(struct search *s, const char *word, size_t len)
{
	char w[WORD_MAX + 1];
	size_t typed = strlen(s->text);
	unsigned d;

	if (len > WORD_MAX)
		return;
	(void)snprintf(w, sizeof(w), "%.*s", (int)len, word);
	d = typed >= 3 && strncmp(w, s->text, typed) == 0 ? 0 : distance(s->text, w);
	if (d >= s->least)
		return;
	s->least = d;
	memcpy(s->best, w, len + 1);
}

const char *args_nearest(const char *text, const char *const *words, size_t n)
{
	struct search s = look_for(text);
	size_t i;

	for (i = 0; i < n; i++)
		look_at(&s, words[i], strlen(words[i]));
	for (i = 0; i < n; i++) {
		if (s.best[0] != '\0' && strcmp(words[i], s.best) == 0)
			return words[i];
	}
	return NULL;
}

/* An option that the command does not have. Its help text names those that it has. */
static int unknown_option(const struct cmd *c, const char *option)
{
	char name[WORD_MAX + 1];
	struct search s;
	const char *at = c->help;
	size_t len;

	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(option, "="), option);
	s = look_for(name);
	while ((at = strstr(at, "--")) != NULL) {
		len = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
		if (len > 2)
			look_at(&s, at, len);
		at += len;
	}
	if (s.best[0] != '\0')
		return cmd_usage(c, "unknown option '%s'; did you mean %s?", name, s.best);
	return cmd_usage(c, "unknown option '%s'", name);
}

int args_bad_option(const struct cmd *c, char **argv, int why)
{
	const char *option = argv[optind - 1];
	bool wide = strncmp(option, "--", 2) == 0;

	if (why == ':')
		return cmd_usage(c, "option '%s' needs a value", option);
	/* A short one may stand inside a cluster, so getopt's own letter is exact. */
	if (!wide && optopt > 0 && optopt < 256)
		return cmd_usage(c, "unknown option '-%c'", optopt);
	if (wide && optopt != 0) /* getopt knows it */
		return cmd_usage(c, "option '%.*s' takes no value", (int)strcspn(option, "="),
				 option);
	return unknown_option(c, option);
}
