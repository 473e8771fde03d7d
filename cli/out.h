/* out.h - writing to the standard output: sinks, colours, JSON strings, errors. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "causeway/show.h"

/* A sink that writes to a stream. */
struct cw_sink out_sink(FILE *f);

#define OUT_RED   "\033[31m"
#define OUT_PLAIN "\033[0m"

/* Are colours wanted there? On a terminal, unless NO_COLOR is set or TERM is "dumb". */
bool out_colour(FILE *f);

/* A sink for cw_show_text() that colours titles, the ICRC and errors line by line. */
struct out_painter {
	FILE *f;
	bool at_start;    /* of a line */
	const char *undo; /* escape that ends the line's colour, or NULL */
};
struct cw_sink out_painter_sink(struct out_painter *p, FILE *f);

/* A JSON string with its quotes. Octets that are not UTF-8 are the caller's business. */
void out_json_string(FILE *f, const char *s);

/* "1712345678.000000001" from nanoseconds. */
#define OUT_TIME_TEXT 40
void out_time(uint64_t time_ns, char buf[OUT_TIME_TEXT]);

/* The same for people: "2024-04-05 19:34:38.000000001". */
void out_date(uint64_t time_ns, char buf[OUT_TIME_TEXT]);

/* Did writing to the stream fail? */
bool out_failed(FILE *f);

/* Flush. Returns `code`, or EXIT_USAGE with a message when the output could not be written. A
 * reader that went away (`| head`) is no error of ours: silence, and `code`. */
int out_finish(FILE *f, const char *command, int code);

#endif
