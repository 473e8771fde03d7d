/* cn_int.h - what the congestion point and the proxy share. */
#ifndef LIB_CNPROXY_CN_INT_H
#define LIB_CNPROXY_CN_INT_H

#include "causeway/cnproxy.h"
#include "lib/cnproxy/qpmap_int.h"

#pragma GCC visibility push(hidden)

/* Write an IP and UDP header for `data` octets of UDP data to `buf`; checksums are zero but for
 * IPv4's. Returns where the data goes. */
struct cn_head {
	struct cw_gid src, dst;
	uint8_t tos, ttl;
	uint16_t sport, dport, ip_id;
};
uint8_t *cn_head_write(const struct cn_head *h, uint8_t *buf, size_t data);

/* Octets of those headers for an address. */
CW_INLINE size_t cn_head_len(const struct cw_gid *dst)
{
	return cw_gid_is_v4(dst) ? 28 : 48;
}

/* An IP packet with its UDP header right behind IP. */
struct cn_udp {
	const uint8_t *udp, *data;
	size_t len; /* of the data */
	struct cw_gid src, dst;
	uint8_t tos;
};
/* CW_OK, CW_E_UNKNOWN (not UDP), CW_E_SHORT (IP length, fragment), CW_E_LENGTH (UDP's). */
int cn_udp_read(const uint8_t *ip, size_t len, struct cn_udp *out);

/* The same of a packet of `wire` octets, of which the first `len` are at hand, and of the UDP data
 * out->len. */
int cn_udp_peek(const uint8_t *ip, size_t len, size_t wire, struct cn_udp *out);

/* A rate limit: `rate` a second, `burst` at once; 0 is no limit. */
struct cn_limit {
	uint64_t next; /* time at which the bucket is full again */
};
bool cn_limit_take(struct cn_limit *l, uint32_t rate, uint32_t burst, uint64_t now);

#pragma GCC visibility pop

#endif
