/* no_verbs.c - in verbs.c's place where the build has no libibverbs. */
#include <stdio.h>
#include "daemon/ipoib/int.h"

static int refuse(struct hca *h, const char *arg, char *why, size_t size)
{
	(void)snprintf(why, size, "this build has no libibverbs (meson option verbs)");
	return CW_E_NAME;
}

const struct carrier_ops carrier_verbs = {
	.prefix = "verbs:",
	.open = refuse,
	.close = carrier_close,
};
