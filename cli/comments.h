/* comments.h - comments of the packets of a pcapng file, which libpcap does not hand over. */
#ifndef CLI_COMMENTS_H
#define CLI_COMMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct comments;

/* Does the stream begin as a pcapng file? Nothing of it is used up. */
bool comments_wanted(FILE *f);

/* A stream of the same octets, in which comments are noted in passing; what is no pcapng passes as
 * well. `direct`: `f` is a pipe without a buffer; what it has is passed on, however little. `f` is
 * closed with the stream (and by a failure, NULL with errno). Free *out after closing the stream.
 */
FILE *comments_open(FILE *f, bool direct, struct comments **out);
/* Octets that have passed. */
int64_t comments_passed(const struct comments *c);
void comments_free(struct comments *c); /* NULL is fine */

/* The comment of packet `number` (1 for the first), without control characters, in UTF-8; NULL when
 * it has none. Numbers only grow from call to call; valid until the next. */
const char *comments_take(struct comments *c, uint64_t number);

#endif
