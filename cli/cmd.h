/* cmd.h - the command table's view of a subcommand. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

/* Exit codes of every subcommand. */
enum {
	EXIT_DONE = 0,
	EXIT_DATA = 1 /* something was wrong in the data */,
	EXIT_USAGE = 2 /* or I/O */
};

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
	const char *brief;                 /* one line */
	const char *help;                  /* usage, options, examples */
};

extern const struct cmd cmd_check;
extern const struct cmd cmd_cnp;
extern const struct cmd cmd_convert;
extern const struct cmd cmd_copy;
extern const struct cmd cmd_craft;
extern const struct cmd cmd_decode;
extern const struct cmd cmd_explain;
extern const struct cmd cmd_gen;
extern const struct cmd cmd_qpmap;
extern const struct cmd cmd_perf;
extern const struct cmd cmd_sink;
extern const struct cmd cmd_show;
extern const struct cmd cmd_uet;
extern const struct cmd cmd_reload;
extern const struct cmd cmd_capture_drops;
extern const struct cmd cmd_log_level;
extern const struct cmd cmd_ipoib;
extern const struct cmd cmd_mgid;
extern const struct cmd cmd_bgp_helper;
extern const struct cmd cmd_pnc;

/* For getopt's unknown option and other usage errors: says where help is; returns EXIT_USAGE. */
int cmd_usage(const struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
