/* gunzip.h - a stream of the content of a gzip file. */
#ifndef CLI_GUNZIP_H
#define CLI_GUNZIP_H

#include <stdbool.h>
#include <stdio.h>

/* Does the stream begin as a gzip file? Nothing of it is used up. */
bool gunzip_wanted(FILE *f);

/* Read the content of `f`, one member or several, which is closed with the stream (and by a
 * failure, NULL with errno). Broken or cut data ends the stream with an error (ferror()). */
FILE *gunzip_open(FILE *f);

#endif
