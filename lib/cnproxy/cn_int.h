/* cn_int.h - what the congestion point and the proxy share. */
#ifndef LIB_CNPROXY_CN_INT_H
#define LIB_CNPROXY_CN_INT_H

#include "causeway/cnproxy.h"
#include "lib/cnproxy/cn_udp.h"
#include "lib/cnproxy/qpmap_int.h"

#pragma GCC visibility push(hidden)

/* Write an IP and UDP header for `data` octets of UDP data to `buf`; checksums are zero but for
 * IPv4's. Returns where the data goes. */
struct cn_head {
	const struct cw_gid *src, *dst;
	uint8_t tos, ttl;
	uint16_t sport, dport, ip_id;
};
uint8_t *cn_head_write(const struct cn_head *h, uint8_t *buf, size_t data);

/* Octets of those headers for an address. */
CW_INLINE size_t cn_head_len(const struct cw_gid *dst)
{
	return cw_gid_is_v4(dst) ? 28 : 48;
}

/* A CNP with its ICRC; both addresses of `h` are of one version, its dport RoCEv2's. Returns the
 * packet's octets. */
#define CN_CNP_OCTETS (CW_SIZE_BTH + CW_SIZE_CNP + CW_ICRC_LEN)
size_t cn_cnp_write(const struct cn_head *h, uint16_t pkey, uint32_t dqpn, uint8_t *buf);

/* A rate limit: so many nanoseconds between two, and so many in advance. */
struct cn_rate {
	uint64_t each, ahead;
};

/* `rate` a second, `burst` at once; 0 is no limit. */
CW_INLINE struct cn_rate cn_rate_of(uint32_t rate, uint32_t burst)
{
	struct cn_rate r = {0, UINT64_MAX};

	if (rate != 0) {
		r.each = 1000000000ull / rate;
		r.ahead = r.each * (burst > 0 ? burst - 1 : 0);
	}
	return r;
}

/* One more? *next is when the bucket is full again. */
CW_INLINE bool cn_rate_take(const struct cn_rate *r, uint64_t *next, uint64_t now)
{
	if (*next < now)
		*next = now;
	if (*next - now > r->ahead)
		return false;
	*next += r->each;
	return true;
}

#pragma GCC visibility pop

#endif
