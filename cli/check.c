/* check.c - causeway check: is this a configuration, and if not, where and why not. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "cli/args.h"
#include "cli/client.h"

struct options {
	bool json, print, help;
	const char *file;
};

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"print", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":jph", longs, NULL)) != -1) {
		if (opt == 'j')
			o->json = true;
		else if (opt == 'p')
			o->print = true;
		else if (opt == 'h')
			o->help = true;
		else
			return args_bad_option(&cmd_check, argv, opt);
	}
	if (!o->help && optind != argc - 1)
		return cmd_usage(&cmd_check, optind < argc ? "one configuration at a time"
							   : "no configuration given");
	o->file = argv[optind];
	return EXIT_DONE;
}

static void print_note(void *ctx, const char *path, const char *value, const char *text)
{
	fprintf(stderr, "%s: note: %s: \"%s\": %s\n", (const char *)ctx, path, value, text);
}

static void add_note(void *ctx, const char *path, const char *value, const char *text)
{
	json_array_append_new(
		ctx, json_pack("{s:s, s:s, s:s}", "path", path, "value", value, "text", text));
}

static void good(const struct options *o, const struct cw_config *c)
{
	if (o->print) {
		puts(cw_config_json(c));
	} else if (o->json) {
		json_t *notes = json_array();
		json_t *v = json_pack("{s:s, s:b, s:i, s:i, s:i, s:o}", "file", o->file, "ok", 1,
				      "ports", (int)c->nports, "routes", (int)c->nroutes,
				      "neighbours", (int)c->nneighbours, "notes", notes);

		cw_config_notes(c, add_note, notes);
		client_print_json(v);
		json_decref(v);
	} else {
		printf("%s: ok: %u ports, %u routes, %u static neighbours, %u NPI map entries\n",
		       o->file, c->nports, c->nroutes, c->nneighbours, c->ub2e.nnpi);
		cw_config_notes(c, print_note, (void *)o->file);
	}
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	struct cw_config *c;
	struct cw_diag d = {0};
	int err;

	if ((err = parse_options(argc, argv, &o)) != EXIT_DONE)
		return err;
	if (o.help) {
		(void)fputs(cmd_check.help, stdout);
		return EXIT_DONE;
	}
	if ((err = cw_config_load(&c, client_config_path(o.file), &d)) != CW_OK)
		return client_bad_config(o.file, err, &d, o.json);
	good(&o, c);
	cw_config_free(c);
	return EXIT_DONE;
}

const struct cmd cmd_check = {
	.name = "check",
	.run = run,
	.brief = "check a configuration, show it with all defaults",
	.help = "usage: causeway check [OPTIONS] CONFIG\n\n"
		"Check a configuration (- is the standard input) exactly as the gateway does "
		"before\n"
		"it takes it. Says nothing about the machine: devices need not exist. What is\n"
		"good and seldom meant, such as a next hop in no subnet of its port, is noted\n"
		"on the standard error.\n\n"
		"  -j, --json           the result as JSON, errors too: code, path, value, reason\n"
		"  -p, --print          the effective configuration, all defaults filled in\n"
		"  -h, --help           this text\n\n"
		"exit code: 0 good, 1 wrong (FILE: PATH: \"VALUE\": REASON), 2 can't be read\n\n"
		"examples:\n"
		"  causeway check gateway.json\n"
		"  causeway check --print gateway.json | jq '.\"causeway:causeway\".ub2e'\n",
};
