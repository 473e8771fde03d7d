/* plain.h - files that the running gateway reads. */
#ifndef DAEMON_CONTROL_PLAIN_H
#define DAEMON_CONTROL_PLAIN_H

#include <stdio.h>

/* Open a plain file for reading, or NULL and why not. A pipe or a terminal is refused: it would
 * hold the control thread until somebody writes. */
FILE *cw_plain_open(const char *name, const char **why);

#endif
