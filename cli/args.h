/* args.h - values of options. Each returns 0, or EXIT_USAGE after saying what is wrong. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stddef.h>
#include <stdint.h>
#include "causeway/packet.h"
#include "cli/cmd.h"

/* A number from `min` to `max`; decimal, or hexadecimal behind 0x. */
int args_number(const struct cmd *c, const char *option, const char *text, uint64_t min,
		uint64_t max, uint64_t *out);

/* "le" or "be". */
int args_icrc_order(const struct cmd *c, const char *text, enum cw_icrc_order *out);

int args_mac(const struct cmd *c, const char *option, const char *text, uint8_t out[6]);

/* Do two paths name one file? Writing to it would destroy the input. "-" is no file. */
bool args_same_file(const char *a, const char *b);

/* The word of `words` (n of them) that `text` is most likely a slip of: one of which it is the
 * beginning, or from which a few letters differ. NULL when none is near. */
const char *args_nearest(const char *text, const char *const *words, size_t n);

/* What getopt_long() refused: '?' or ':' as `why`, with an option string that begins with ':'. */
int args_bad_option(const struct cmd *c, char **argv, int why);

#endif
