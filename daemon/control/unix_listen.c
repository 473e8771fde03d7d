/* unix_listen.c - a UNIX socket with one owner. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/control/stream.h"

static int refused(struct cw_diag *diag, const char *path, const char *what)
{
	return cw_diag_set(diag, CW_E_IO, NULL, path, "%s: %s", what, strerror(errno));
}

/* Is the locked file still the one that the name leads to? Its owner may have removed it between
 * our open() and flock(). */
static bool same_file(int fd, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

static int owned(int fd, const char *path, struct cw_diag *diag)
{
	char pid[16] = "";
	ssize_t n = read(fd, pid, sizeof(pid) - 1);

	pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
	close(fd);
	return cw_diag_set(diag, CW_E_CONFLICT, NULL, path,
			   "another gateway is running on this socket%s%s%s",
			   pid[0] != '\0' ? " (process " : "", pid, pid[0] != '\0' ? ")" : "");
}

/* /run/causeway is a service manager's to make; a gateway that is started by hand has none. Its
 * last part alone is made here, and stays. */
static int make_directory(const char *path, struct cw_diag *diag)
{
	const char *slash = strrchr(path, '/');
	char dir[108];

	if (slash == NULL || slash == path)
		return CW_OK;
	(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	if (mkdir(dir, 0750) == 0 || errno == EEXIST)
		return CW_OK;
	return refused(diag, path, "can't make its directory");
}

static int take_lock(struct cw_unix_listener *l, struct cw_diag *diag)
{
	char name[120];
	int fd;

	(void)snprintf(name, sizeof(name), "%s.lock", l->path);
	for (;;) {
		fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
		if (fd < 0)
			return refused(diag, l->path, "can't make the lock file beside it");
		if (flock(fd, LOCK_EX | LOCK_NB) != 0)
			return owned(fd, l->path, diag);
		if (same_file(fd, name))
			break;
		close(fd);
	}
	if (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
		close(fd);
		return refused(diag, l->path, "can't write the lock file beside it");
	}
	l->lock = fd;
	return CW_OK;
}

/* With the lock taken: remove a socket that nobody listens at. */
static int clear_stale(const struct cw_unix_listener *l, const struct sockaddr_un *sun,
		       struct cw_diag *diag)
{
	struct stat st;
	int fd, r;

	if (lstat(l->path, &st) != 0)
		return errno == ENOENT ? CW_OK : refused(diag, l->path, "can't look at it");
	if (!S_ISSOCK(st.st_mode))
		return cw_diag_set(diag, CW_E_CONFLICT, NULL, l->path,
				   "exists, and is not a socket");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return refused(diag, l->path, "socket");
	r = connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) == 0 ? 0 : errno;
	close(fd);
	if (r != ECONNREFUSED)
		return cw_diag_set(diag, CW_E_CONFLICT, NULL, l->path,
				   "another process listens on this socket");
	return unlink(l->path) == 0 ? CW_OK
				    : refused(diag, l->path, "can't remove the stale socket");
}

static int listen_at(struct cw_unix_listener *l, const struct sockaddr_un *sun,
		     struct cw_diag *diag)
{
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return refused(diag, l->path, "socket");
	/* Owner only until the mode is right: no moment at which others could connect. */
	if (fchmod(l->fd, 0600) != 0 ||
	    bind(l->fd, (const struct sockaddr *)sun, sizeof(*sun)) != 0 ||
	    chmod(l->path, 0660) != 0 || listen(l->fd, 16) != 0) {
		int err = refused(diag, l->path, "can't listen");

		close(l->fd);
		return err;
	}
	return CW_OK;
}

int cw_unix_listen(struct cw_unix_listener *l, const char *path, struct cw_diag *diag)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int err;

	*l = (struct cw_unix_listener){.fd = -1, .lock = -1};
	if (strlen(path) >= sizeof(sun.sun_path))
		return cw_diag_set(diag, CW_E_RANGE, NULL, path,
				   "a socket's path has at most %zu octets",
				   sizeof(sun.sun_path) - 1);
	memcpy(sun.sun_path, path, strlen(path));
	memcpy(l->path, path, strlen(path) + 1);
	if ((err = make_directory(path, diag)) != CW_OK || (err = take_lock(l, diag)) != CW_OK) {
		l->path[0] = '\0';
		return err;
	}
	if ((err = clear_stale(l, &sun, diag)) != CW_OK ||
	    (err = listen_at(l, &sun, diag)) != CW_OK) {
		l->path[0] = '\0'; /* the socket there is not ours */
		close(l->lock);
		return err;
	}
	return CW_OK;
}

void cw_unix_unlink(struct cw_unix_listener *l)
{
	char name[120];

	if (l->path[0] == '\0')
		return;
	(void)unlink(l->path);
	(void)snprintf(name, sizeof(name), "%s.lock", l->path);
	(void)unlink(name); /* still locked: see same_file() */
	close(l->lock);
	l->path[0] = '\0';
}
