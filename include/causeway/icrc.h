/* icrc.h - invariant CRCs: of UB and UBoE packets, and of RoCEv2.
 * Spec: UB 2.0 5.3.7 and draft-li-uboe-00 4.2; IBTA Vol 1 annex A17.
 *
 * An ICRC is a CRC-32 over the packet from its IP header to the octet in front of the ICRC, with
 * the fields that routers may change taken as ones. The masked headers are copied to a small
 * buffer on the stack; the rest is read where it lies.
 */
#ifndef CAUSEWAY_ICRC_H
#define CAUSEWAY_ICRC_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ICRC_LEN 4

/* What differs between the ICRCs of UDP-borne transports. */
struct cw_icrc_rule {
	const char *name;
	bool prefix;         /* eight octets of ones go first: RoCEv2's stand-in for an LRH */
	uint8_t mask_offset; /* octets behind the UDP header that are taken as ones ... */
	uint8_t mask_len;    /* ... and how many of them (0 or 1) */
};

extern const struct cw_icrc_rule cw_icrc_ub;     /* UB CFG 3 and 4, and UBoE */
extern const struct cw_icrc_rule cw_icrc_rocev2; /* BTH's octet 4 masked, prefix */

/* ICRC of the packet of `len` octets that begins with the IPv4 or IPv6 header at `ip`; `len` ends
 * in front of the ICRC, link padding must be gone. Masked: ToS or traffic class and flow label,
 * TTL or hop limit, the checksums of IPv4 and of UDP, and what the rule adds. CW_E_SHORT when the
 * headers do not fit, CW_E_VERSION, CW_E_OPTIONS when UDP does not follow the IP header directly
 * (IPv6 extension headers, another protocol; IPv4 options are walked over and covered). */
int cw_icrc_compute(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, uint32_t *out);

/* The same for UB's CFG 6 and 7 (UB 2.0 5.3.7): from the first octet of the CNA16 (`nth_len` 8)
 * or CNA24 (10) network header on, CCI and LBF masked. CW_E_SHORT, CW_E_ARG. */
int cw_icrc_compute_cna(const uint8_t *nth, size_t len, size_t nth_len, uint32_t *out);

/* Value of the four octets at `p`, and back. */
CW_INLINE uint32_t cw_icrc_get(const uint8_t *p, enum cw_icrc_order order)
{
	return order == CW_ICRC_BE ? cw_be32(p) : cw_le32(p);
}

CW_INLINE void cw_icrc_set(uint8_t *p, enum cw_icrc_order order, uint32_t v)
{
	if (order == CW_ICRC_BE)
		cw_put_be32(p, v);
	else
		cw_put_le32(p, v);
}

/* Verify a packet whose last four octets of `len` are its ICRC: CW_OK, CW_E_ICRC, or what
 * cw_icrc_compute() says. */
CW_MUST_USE int cw_icrc_check(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
			      enum cw_icrc_order order);

/* Compute and store the ICRC in the last four octets of `len`. Errors as above. */
CW_MUST_USE int cw_icrc_put(uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
			    enum cw_icrc_order order);

#ifdef __cplusplus
}
#endif
#endif
