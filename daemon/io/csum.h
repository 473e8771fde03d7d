/* csum.h - finish checksums that a local sender left to its device. */
#ifndef DAEMON_IO_CSUM_H
#define DAEMON_IO_CSUM_H

#include <stddef.h>
#include <stdint.h>

/* Compute the UDP or TCP checksum of an Ethernet frame (tags allowed) whose checksum field holds
 * only the pseudo header's sum (Linux CHECKSUM_PARTIAL). Other frames stay as they are. */
void cw_csum_complete(uint8_t *frame, size_t len);

#endif
