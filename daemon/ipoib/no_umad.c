/* no_umad.c - in umad.c's place where the build has no libibumad. */
#include <errno.h>
#include <stdio.h>
#include "causeway/err.h"
#include "daemon/ipoib/umad.h"

int sa_umad_open(struct sa_umad **out, const char *device, uint16_t lid, char *why, size_t size)
{
	(void)snprintf(why, size, "this build has no libibumad (meson option umad)");
	return CW_E_NAME;
}

void sa_umad_close(struct sa_umad *u)
{
}

int sa_umad_fd(const struct sa_umad *u)
{
	return -1;
}

int sa_umad_recv(struct sa_umad *u, uint8_t mad[256])
{
	return 0;
}

int sa_umad_send(struct sa_umad *u, const struct sa_umad_to *to, const uint8_t mad[256])
{
	errno = ENOSYS;
	return -1;
}
