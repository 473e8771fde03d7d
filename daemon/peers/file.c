/* file.c - proxies from the configuration, and from a file that somebody else writes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "daemon/control/plain.h"
#include "daemon/log.h"
#include "daemon/peers/int.h"

enum { LOOK_EVERY_MS = 1000 };

/* Entries of before that are not told again go: stale for a moment, then swept. */
static void begin(const struct cw_peer_session *s, uint64_t now)
{
	(void)cw_proxies_lost(cw_peers.table, s->source, s->id, now, UINT32_MAX);
}

static void finish(const struct cw_peer_session *s)
{
	(void)cw_proxies_synced(cw_peers.table, s->source, s->id);
}

void cw_static_apply(uint64_t now)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	struct cw_peer_session *s = cw_peer_session(CW_PROXY_STATIC, "configuration", now);
	unsigned i;

	if (s == NULL)
		return;
	s->up = true;
	begin(s, now);
	for (i = 0; i < c->nstatics; i++)
		cw_peer_set(s, &c->statics[i].prefix, &c->statics[i].proxy, now);
	finish(s);
}

/* ---- The file ------------------------------------------------------------------------------ */

struct line {
	struct cw_prefix prefix;
	struct cw_addr proxy;
};

struct lines {
	struct line *at;
	size_t n, room;
};

static struct {
	char name[256];
	struct timespec mtime;
	off_t size;
	ino_t inode;
	uint64_t looked_ms;
	bool there, told;
} file;

static int refused(unsigned line, const char *text, const char *why)
{
	cw_log(CW_LOG_WARNING,
	       "%s, line %u: \"%s\": %s; the file is refused, its last good entries stay",
	       file.name, line, text, why);
	return -1;
}

/* One line; 0 also for an empty one. */
static int read_line(char *text, unsigned number, struct lines *all)
{
	char *save, *prefix, *proxy;
	struct line l, *more;

	if (strchr(text, '\n') == NULL)
		return refused(number, text, "no end of line: is it written to the end?");
	text[strcspn(text, "#\n")] = '\0';
	if ((prefix = strtok_r(text, " \t\r", &save)) == NULL)
		return 0;
	if (cw_prefix_parse(prefix, &l.prefix) != CW_OK)
		return refused(number, prefix, "not a prefix");
	if ((proxy = strtok_r(NULL, " \t\r", &save)) == NULL)
		return refused(number, prefix, "no proxy behind it");
	if (cw_addr_parse(proxy, &l.proxy) != CW_OK)
		return refused(number, proxy, "not an address");
	if (strtok_r(NULL, " \t\r", &save) != NULL)
		return refused(number, proxy, "something behind it");
	if (all->n == all->room) {
		all->room = all->room * 2 + 64;
		if ((more = realloc(all->at, all->room * sizeof(*more))) == NULL)
			return refused(number, proxy, "out of memory");
		all->at = more;
	}
	all->at[all->n++] = l;
	return 0;
}

static int read_all(struct lines *all)
{
	const char *why;
	FILE *f = cw_plain_open(file.name, &why);
	unsigned number = 0;
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	if (f == NULL)
		return refused(0, "", why);
	while (err == 0 && getline(&text, &size, f) >= 0)
		err = read_line(text, ++number, all);
	if (err == 0 && ferror(f))
		err = refused(number, "", strerror(errno));
	free(text);
	(void)fclose(f);
	return err;
}

static void load(struct cw_peer_session *s, uint64_t now)
{
	struct lines all = {0};
	size_t i;

	s->n.updates++;
	if (read_all(&all) == 0) {
		begin(s, now);
		for (i = 0; i < all.n; i++)
			cw_peer_set(s, &all.at[i].prefix, &all.at[i].proxy, now);
		finish(s);
		cw_log(CW_LOG_INFO, "%s: %zu proxies", file.name, all.n);
	} else {
		s->n.malformed++;
	}
	free(all.at);
}

/* Another file than before, or none: what it told goes. */
static void use_name(const char *name, uint64_t now)
{
	struct cw_peer_session *s;

	if (strcmp(name, file.name) == 0)
		return;
	if (file.name[0] != '\0' && (s = cw_peer_session(CW_PROXY_FILE, file.name, now)) != NULL) {
		s->up = false;
		(void)cw_proxies_lost(cw_peers.table, s->source, s->id, now, 0);
	}
	memset(&file, 0, sizeof(file));
	(void)snprintf(file.name, sizeof(file.name), "%s", name);
}

void cw_file_forget(void)
{
	memset(&file, 0, sizeof(file));
}

uint64_t cw_file_run(uint64_t now)
{
	struct cw_peer_session *s;
	struct stat st;

	use_name(cw_peers.conf->file, now);
	if (file.name[0] == '\0')
		return UINT64_MAX;
	if (file.told && now < file.looked_ms + LOOK_EVERY_MS)
		return file.looked_ms + LOOK_EVERY_MS;
	file.looked_ms = now;
	file.told = true;
	if ((s = cw_peer_session(CW_PROXY_FILE, file.name, now)) == NULL)
		return now + LOOK_EVERY_MS;
	if (stat(file.name, &st) != 0) {
		cw_peer_state(s, false, now);
		file.there = false;
		return now + LOOK_EVERY_MS;
	}
	cw_peer_state(s, true, now);
	if (!file.there || st.st_ino != file.inode || st.st_size != file.size ||
	    memcmp(&st.st_mtim, &file.mtime, sizeof(file.mtime)) != 0) {
		file.there = true;
		file.inode = st.st_ino;
		file.size = st.st_size;
		file.mtime = st.st_mtim;
		load(s, now);
	}
	return now + LOOK_EVERY_MS;
}
