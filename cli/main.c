/* main.c - the causeway command: one table of subcommands. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"

// clang-format off
static const struct cmd *const cmds[] = {
	&cmd_check,
	&cmd_decode,
	&cmd_craft,
	&cmd_convert,
	&cmd_gen,
	&cmd_sink,
	&cmd_uet,
	&cmd_qpmap,
	&cmd_perf,
	&cmd_copy,
	&cmd_cnp,
	&cmd_show,
	&cmd_explain,
	&cmd_reload,
	&cmd_capture_drops,
	&cmd_log_level,
	&cmd_ipoib,
	&cmd_mgid,
	&cmd_pnc,
	&cmd_bgp_helper,
};
// clang-format on
enum { NCMDS = sizeof(cmds) / sizeof(cmds[0]) };

static const struct cmd *find(const char *name)
{
	unsigned i;

	for (i = 0; i < NCMDS; i++) {
		if (strcmp(cmds[i]->name, name) == 0)
			return cmds[i];
	}
	return NULL;
}

int cmd_usage(const struct cmd *c, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "causeway %s: ", c->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'causeway %s --help'.\n", c->name);
	return EXIT_USAGE;
}

static void print_overview(FILE *to)
{
	unsigned i;

	fputs("causeway - gateway and toolkit for AI/HPC fabrics\n\n"
	      "usage: causeway COMMAND [OPTIONS]\n\ncommands:\n",
	      to);
	for (i = 0; i < NCMDS; i++)
		fprintf(to, "  %-13s %s\n", cmds[i]->name, cmds[i]->brief);
	fputs("\n'causeway COMMAND --help' shows options and examples, 'causeway --version' the "
	      "version.\n"
	      "exit code: 0 done, 1 something wrong in the data, 2 usage or I/O\n",
	      to);
}

static int no_command(const char *name)
{
	const char *names[NCMDS], *near;
	unsigned i;

	for (i = 0; i < NCMDS; i++)
		names[i] = cmds[i]->name;
	fprintf(stderr, "causeway: no command '%s'", name);
	if ((near = args_nearest(name, names, NCMDS)) != NULL)
		fprintf(stderr, "; did you mean '%s'?", near);
	fputs("\nTry 'causeway help'.\n", stderr);
	return EXIT_USAGE;
}

static bool is_one_of(const char *arg, const char *a, const char *b, const char *c)
{
	return strcmp(arg, a) == 0 || strcmp(arg, b) == 0 || strcmp(arg, c) == 0;
}

static bool is_help(const char *arg)
{
	return is_one_of(arg, "help", "--help", "-h");
}

static int cmd_help(int argc, char **argv)
{
	const struct cmd *c;

	if (argc < 2 || is_help(argv[1])) {
		print_overview(stdout);
		return EXIT_DONE;
	}
	if ((c = find(argv[1])) == NULL)
		return no_command(argv[1]);
	fputs(c->help, stdout);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const struct cmd *c;

	if (is_one_of(argv[1], "--version", "-V", "version")) {
		puts("causeway " CW_VERSION);
		return EXIT_DONE;
	}
	if (is_help(argv[1]))
		return cmd_help(argc - 1, argv + 1);
	if ((c = find(argv[1])) == NULL)
		return no_command(argv[1]);
	if (argc > 2 && strcmp(argv[2], "--help") == 0) {
		fputs(c->help, stdout);
		return EXIT_DONE;
	}
	return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	return out_finish(stdout, argv[1], run(argc, argv));
}
