/* dhcp_relay.c - a DHCP relay's part. See causeway/dhcp_relay.h. */
#include <string.h>
#include "causeway/dhcp_relay.h"
#include "causeway/wire/dhcp.h"
#include "causeway/wire/ip.h"

enum { HOPS_MAX = 16, REQUEST = 1, REPLY = 2, HTYPE_ETHERNET = 1 };
enum { HEADS = CW_SIZE_IPV4 + CW_SIZE_UDP };

static const uint8_t none[4], everybody[4] = {255, 255, 255, 255};

/* The message, and its length; NULL if this is none. */
static const uint8_t *message(const uint8_t *ip, size_t len, size_t *n)
{
	size_t head = (size_t)4 * cw_ipv4_ihl(ip);
	const uint8_t *udp = ip + head;

	if (ip[0] >> 4 != 4 || cw_ipv4_proto(ip) != CW_IPPROTO_UDP || cw_ipv4_frag_off(ip) != 0 ||
	    cw_ipv4_mf(ip) || len < head + CW_SIZE_UDP + CW_SIZE_DHCP)
		return NULL;
	if (cw_udp_dport(udp) != CW_DHCP_SERVER || cw_udp_length(udp) > len - head ||
	    cw_udp_length(udp) < CW_SIZE_UDP + CW_SIZE_DHCP)
		return NULL;
	*n = cw_udp_length(udp) - CW_SIZE_UDP;
	return cw_dhcp_cookie(udp + CW_SIZE_UDP) == CW_DHCP_COOKIE ? udp + CW_SIZE_UDP : NULL;
}

bool cw_dhcp_to_server(const uint8_t *ip, size_t len)
{
	size_t n;

	return message(ip, len, &n) != NULL;
}

/* IP and UDP in front of a message that is in its place. */
static int wrap(uint8_t *out, const uint8_t *src, const uint8_t *dst, unsigned dport, size_t n)
{
	uint8_t *udp = out + CW_SIZE_IPV4;

	memset(out, 0, HEADS);
	cw_ipv4_set_version(out, 4);
	cw_ipv4_set_ihl(out, 5);
	cw_ipv4_set_length(out, (uint32_t)(HEADS + n));
	cw_ipv4_set_ttl(out, 64);
	cw_ipv4_set_proto(out, CW_IPPROTO_UDP);
	cw_ipv4_set_src(out, src);
	cw_ipv4_set_dst(out, dst);
	cw_ipv4_set_checksum(out, cw_ipv4_compute(out));
	cw_udp_set_sport(udp, CW_DHCP_SERVER);
	cw_udp_set_dport(udp, dport);
	cw_udp_set_length(udp, (uint32_t)(CW_SIZE_UDP + n));
	cw_udp_set_checksum(udp, cw_udp_compute(out, udp, CW_SIZE_UDP + n));
	return (int)(HEADS + n);
}

int cw_dhcp_relay_request(uint8_t out[CW_DHCP_RELAY_MAX], const uint8_t *ip, size_t len,
			  const uint8_t relay[4], const uint8_t server[4])
{
	uint8_t *to = out + HEADS;
	size_t n;
	const uint8_t *m = message(ip, len, &n);

	if (m == NULL)
		return CW_E_SHORT;
	if (cw_dhcp_op(m) != REQUEST || cw_dhcp_hops(m) >= HOPS_MAX)
		return CW_E_FORBIDDEN;
	if (n > CW_DHCP_RELAY_MAX - HEADS)
		return CW_E_LENGTH;
	memcpy(to, m, n);
	cw_dhcp_set_hops(to, cw_dhcp_hops(m) + 1);
	if (memcmp(cw_dhcp_giaddr(to), none, 4) == 0)
		cw_dhcp_set_giaddr(to, relay);
	return wrap(out, relay, server, CW_DHCP_SERVER, n);
}

int cw_dhcp_relay_reply(uint8_t out[CW_DHCP_RELAY_MAX], const uint8_t *ip, size_t len,
			struct cw_dhcp_reply *to)
{
	size_t n;
	const uint8_t *m = message(ip, len, &n), *client = everybody;

	memset(to, 0, sizeof(*to));
	if (m == NULL)
		return CW_E_SHORT;
	if (cw_dhcp_op(m) != REPLY || memcmp(cw_dhcp_giaddr(m), none, 4) == 0)
		return CW_E_FORBIDDEN;
	if (n > CW_DHCP_RELAY_MAX - HEADS)
		return CW_E_LENGTH;
	memcpy(to->relay, cw_dhcp_giaddr(m), 4);
	if (memcmp(cw_dhcp_ciaddr(m), none, 4) != 0) {
		client = cw_dhcp_ciaddr(m);
	} else if (!cw_dhcp_broadcast(m) && cw_dhcp_htype(m) == HTYPE_ETHERNET &&
		   cw_dhcp_hlen(m) == 6) {
		client = cw_dhcp_yiaddr(m);
		to->has_mac = true;
		memcpy(to->mac, cw_dhcp_chaddr(m), 6);
	}
	memcpy(to->client, client, 4);
	memcpy(out + HEADS, m, n);
	return wrap(out, to->relay, to->client, CW_DHCP_CLIENT, n);
}
