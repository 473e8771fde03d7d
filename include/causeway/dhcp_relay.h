/* dhcp_relay.h - what a DHCP relay does to one message, also over InfiniBand.
 * Spec: RFC 1542 4, RFC 2131 4.1, RFC 4390.
 */
#ifndef CAUSEWAY_DHCP_RELAY_H
#define CAUSEWAY_DHCP_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Octets that a message may have, IP header included. */
#define CW_DHCP_RELAY_MAX 1500

/* Is this IPv4 packet, whose header was checked, a DHCP message to a server (a relay too)? */
bool cw_dhcp_to_server(const uint8_t *ip, size_t len);

/* Write what goes to `server` for a client's request; `relay` is the relay's address on the
 * client's link: it becomes giaddr, unless another relay was first. Returns the IP packet's length.
 * CW_E_FORBIDDEN: no request, or it has passed 16 relays; CW_E_SHORT; CW_E_LENGTH. */
int cw_dhcp_relay_request(uint8_t out[CW_DHCP_RELAY_MAX], const uint8_t *ip, size_t len,
			  const uint8_t relay[4], const uint8_t server[4]);

struct cw_dhcp_reply {
	uint8_t relay[4];  /* giaddr: on which of the relay's links the client is */
	uint8_t client[4]; /* where the packet goes; 255.255.255.255: by broadcast */
	bool has_mac;      /* to this station: the client can't answer ARP yet */
	uint8_t mac[6];
};

/* Write what goes to the client for a server's reply. A client on InfiniBand (hardware type 32) has
 * no address in the message: nothing is ever resolved from it (RFC 4390 2.2). */
int cw_dhcp_relay_reply(uint8_t out[CW_DHCP_RELAY_MAX], const uint8_t *ip, size_t len,
			struct cw_dhcp_reply *to);

#ifdef __cplusplus
}
#endif
#endif
