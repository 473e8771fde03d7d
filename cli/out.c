/* out.c - writing to the standard output. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "cli/out.h"

#define BOLD  "\033[1m"
#define GREEN "\033[32m"

static void put_file(void *ctx, const char *text, size_t len)
{
	(void)fwrite(text, 1, len, ctx);
}

struct cw_sink out_sink(FILE *f)
{
	return (struct cw_sink){put_file, f};
}

bool out_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no != NULL && *no != '\0')
		return false;
	return isatty(fileno(f)) && term != NULL && strcmp(term, "dumb") != 0;
}

/* Titles of layers are indented by two blanks, their fields by more. */
static const char *colour_of(const char *line, size_t len)
{
	char head[64];

	(void)snprintf(head, sizeof(head), "%.*s", (int)(len < 63 ? len : 63), line);
	if (strncmp(head, "  ERROR", 7) == 0)
		return OUT_RED;
	if (strncmp(head, "  ICRC", 6) == 0)
		return strstr(head, " bad") != NULL ? OUT_RED : GREEN;
	return strncmp(head, "  ", 2) == 0 && head[2] != ' ' ? BOLD : NULL;
}

static void put_painted(void *ctx, const char *text, size_t len)
{
	struct out_painter *p = ctx;

	while (len > 0) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl != NULL ? (size_t)(nl - text) : len;
		const char *colour = p->at_start ? colour_of(text, n) : NULL;

		if (colour != NULL) {
			(void)fputs(colour, p->f);
			p->undo = OUT_PLAIN;
		}
		(void)fwrite(text, 1, n, p->f);
		p->at_start = nl != NULL;
		if (nl == NULL)
			return;
		(void)fprintf(p->f, "%s\n", p->undo != NULL ? p->undo : "");
		p->undo = NULL;
		text = nl + 1;
		len -= n + 1;
	}
}

struct cw_sink out_painter_sink(struct out_painter *p, FILE *f)
{
	*p = (struct out_painter){f, true, NULL};
	return (struct cw_sink){put_painted, p};
}

void out_json_string(FILE *f, const char *s)
{
	(void)putc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			(void)fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			(void)fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			(void)putc(*s, f);
	}
	(void)putc('"', f);
}

void out_time(uint64_t time_ns, char buf[OUT_TIME_TEXT])
{
	(void)snprintf(buf, OUT_TIME_TEXT, "%" PRIu64 ".%09u", time_ns / 1000000000u,
		       (unsigned)(time_ns % 1000000000u));
}

void out_date(uint64_t time_ns, char buf[OUT_TIME_TEXT])
{
	time_t seconds = (time_t)(time_ns / 1000000000u);
	struct tm tm;
	size_t n;

	if (gmtime_r(&seconds, &tm) == NULL) {
		out_time(time_ns, buf);
		return;
	}
	n = strftime(buf, OUT_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	(void)snprintf(buf + n, OUT_TIME_TEXT - n, ".%09u", (unsigned)(time_ns % 1000000000u));
}

bool out_failed(FILE *f)
{
	return ferror(f) != 0;
}

/* stdio forgets why a write failed, so ask the pipe. */
static bool reader_gone(FILE *f)
{
	struct pollfd p = {.fd = fileno(f), .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

int out_finish(FILE *f, const char *command, int code)
{
	errno = 0;
	if (fflush(f) == 0 && !ferror(f))
		return code;
	if (errno == EPIPE || reader_gone(f))
		return code;
	(void)fprintf(stderr, "causeway %s: writing the output: %s\n", command,
		      errno != 0 ? strerror(errno) : "cannot write");
	return EXIT_USAGE;
}
