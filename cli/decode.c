/* decode.c - causeway decode: what is in a capture. */
#include <stdio.h>
#include "causeway/show.h"
#include "cli/cmd.h"

static int run(int argc, char **argv)
{
	return cmd_usage(&cmd_decode, "no file given");
}

const struct cmd cmd_decode = {
	.name = "decode",
	.run = run,
	.brief = "show the packets of a capture, check their ICRC",
	.help = "usage: causeway decode FILE\n",
};
