/* gunzip.c - see gunzip.h. Format: RFC 1952. */
#include "cli/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_FIRST = 0x1f, GZIP_ONLY = 16 };

struct gunzip {
	FILE *f;
	z_stream z;
	bool ended; /* the last member is complete */
	unsigned char in[16384];
};

bool gunzip_wanted(FILE *f)
{
	int c = getc(f); /* no format of captures begins so */

	if (c != EOF)
		(void)ungetc(c, f);
	return c == GZIP_FIRST;
}

/* Is there more to read? At its end only a complete member is a good one. */
static bool refill(struct gunzip *g)
{
	if (g->z.avail_in > 0)
		return true;
	g->z.next_in = g->in;
	g->z.avail_in = (uInt)fread(g->in, 1, sizeof(g->in), g->f);
	return g->z.avail_in > 0;
}

static ssize_t broken(void)
{
	errno = EIO;
	return -1;
}

static ssize_t read_some(void *cookie, char *buf, size_t size)
{
	struct gunzip *g = cookie;
	int rc;

	g->z.next_out = (unsigned char *)buf;
	g->z.avail_out = (uInt)size;
	while (g->z.avail_out == size) {
		if (!refill(g))
			return g->ended && ferror(g->f) == 0 ? 0 : broken();
		if (g->ended && inflateReset(&g->z) != Z_OK)
			return broken();
		rc = inflate(&g->z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return broken();
		g->ended = rc == Z_STREAM_END;
	}
	return (ssize_t)(size - g->z.avail_out);
}

static int close_all(void *cookie)
{
	struct gunzip *g = cookie;
	int rc = fclose(g->f);

	(void)inflateEnd(&g->z);
	free(g);
	return rc;
}

FILE *gunzip_open(FILE *f)
{
	cookie_io_functions_t io = {.read = read_some, .close = close_all};
	struct gunzip *g = calloc(1, sizeof(*g));
	FILE *out = NULL;

	if (g == NULL || inflateInit2(&g->z, MAX_WBITS + GZIP_ONLY) != Z_OK) {
		free(g);
		(void)fclose(f);
		errno = ENOMEM;
		return NULL;
	}
	g->f = f;
	if ((out = fopencookie(g, "rb", io)) == NULL)
		(void)close_all(g);
	return out;
}
