/* ngread.h - reading pcapng: sections of either byte order, and interfaces each with a link type, a
 * snap length and a resolution of times of their own (libpcap takes a file only when these agree).
 * Spec: draft-ietf-opsawg-pcapng.
 */
#ifndef CLI_NGREAD_H
#define CLI_NGREAD_H

#include "cli/capture.h"

struct ngread;

/* Read up to the first interface; its link type is then known. `f` stays the caller's. NULL: `why`
 * says what is wrong. */
struct ngread *ngread_open(FILE *f, char *why, size_t size);
int ngread_link(const struct ngread *r);

/* As cap_next(), without the number. */
int ngread_next(struct ngread *r, struct cap_packet *p, char *why, size_t size);
void ngread_close(struct ngread *r);

#endif
