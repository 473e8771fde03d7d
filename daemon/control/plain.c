/* plain.c - see plain.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/control/plain.h"

FILE *cw_plain_open(const char *name, const char **why)
{
	/* Of a pipe open() itself would wait. */
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	FILE *f = NULL;

	*why = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		if (S_ISREG(st.st_mode))
			f = fdopen(fd, "r");
		else
			*why = S_ISDIR(st.st_mode) ? strerror(EISDIR) : "not a plain file";
	}
	if (f == NULL && *why == NULL)
		*why = strerror(errno);
	if (f == NULL && fd >= 0)
		close(fd);
	return f;
}
