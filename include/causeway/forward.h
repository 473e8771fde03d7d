/* forward.h - what an IP router does to one packet: check, hop, fragments.
 * Spec: RFC 1812 5.2.2 and 5.3, RFC 791, RFC 8200.
 */
#ifndef CAUSEWAY_FORWARD_H
#define CAUSEWAY_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/drop.h"
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Check the header of an IPv4 or IPv6 packet in `room` octets (padding allowed): CW_PASS and its
 * length in *len, or why a router refuses it. TTL is not looked at: a packet to the router itself
 * may have any. */
enum cw_drop cw_ip_check(const uint8_t *ip, size_t room, size_t *len);

/* May a router forward it: addresses (RFC 1812 5.3.7, RFC 4291 2.5.6) and TTL? */
enum cw_drop cw_ip_may_forward(const uint8_t *ip);

/* One hop less; the checksum follows. The TTL must be above 0. */
void cw_ip_hop(uint8_t *ip);

/* May an IPv4 packet be cut into fragments, and is this one? */
bool cw_ip_may_fragment(const uint8_t *ip);

/* Write the next fragment, of at most `mtu` octets (68 at least), of an IPv4 packet of `len` octets
 * that cw_ip_check() has passed. *done, 0 at first, is how much of its data was cut off already.
 * Returns the fragment's length; 0: that was all; CW_E_SPACE: `size`; CW_E_ARG: the MTU has no room
 * for data behind the header. */
int cw_ip_fragment(uint8_t *out, size_t size, uint32_t mtu, const uint8_t *ip, size_t len,
		   size_t *done);

#ifdef __cplusplus
}
#endif
#endif
