/* pcapng.h - blocks of a pcapng file, written into a buffer; the caller does the I/O.
 * Spec: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet
 * blocks; options opt_comment, if_name, if_tsresol, shb_userappl).
 *
 * Blocks are little-endian and times are nanoseconds, so the same input gives the same file
 * everywhere. A file is one section, then its interfaces in order of their numbers, then packets.
 */
#ifndef CAUSEWAY_PCAPNG_H
#define CAUSEWAY_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names and comments longer than this many octets are cut. */
#define CW_PCAPNG_TEXT_MAX 1024

/* Octets that a section or an interface block needs at most. */
#define CW_PCAPNG_HEAD_MAX (CW_PCAPNG_TEXT_MAX + 64)

/* Octets that a packet block needs at most, for a packet of `caplen` octets. */
#define CW_PCAPNG_PACKET_MAX(caplen) ((size_t)(caplen) + CW_PCAPNG_TEXT_MAX + 64)

struct cw_pcapng_packet {
	uint32_t interface;   /* number: the first interface block of the section is 0 */
	uint64_t time_ns;     /* since 1970-01-01 UTC */
	const void *data;     /* caplen octets */
	uint32_t caplen, len; /* octets kept, and of the packet on the wire */
	const char *comment;  /* UTF-8, or NULL */
};

/* Each writes one block at `buf` and returns its length, or CW_E_SPACE. `program` and `name` are
 * UTF-8 and may be NULL; `link` is a LINKTYPE number. */
int cw_pcapng_section(void *buf, size_t size, const char *program);
int cw_pcapng_interface(void *buf, size_t size, uint16_t link, const char *name);
int cw_pcapng_packet(void *buf, size_t size, const struct cw_pcapng_packet *p);

#ifdef __cplusplus
}
#endif
#endif
