/* ordinary.h - an ordinary packet, checked and written in one.
 *
 * They are nearly all of the traffic: IP and UDP without anything unusual around a well-formed
 * transport header. They are recognised by comparing whole words of their headers, and what the
 * check has read stays in registers for the write.
 *
 * Nothing is refused here. What fails a comparison, because it is wrong or only rare, is left as it
 * is for the two steps (from_ub.c, from_eth.c, write.c), which know why. So every comparison may be
 * stricter than the rule, but none may be laxer.
 *
 * A header, so that a loop over packets has all of it inlined: burst.c's over jobs, and those of
 * the daemon's nodes, which save the way of a job through memory.
 */
#ifndef LIB_UB2E_ORDINARY_H
#define LIB_UB2E_ORDINARY_H

#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "lib/ub2e/internal.h"

/* UDP, TPH, ICRC: what the shortest packet has behind its IP header. */
#define UB2E_MIN_UDP  (CW_SIZE_UDP + CW_SIZE_RTPH + CW_ICRC_LEN)
#define UB2E_MIN_IPV4 CW_UB2E_ADJ_SHORTEST
_Static_assert(UB2E_MIN_IPV4 == CW_SIZE_IPV4 + UB2E_MIN_UDP, "shortest ordinary packet");

CW_INLINE uint64_t ub2e_word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- Transport ------------------------------------------------------------------------------ */

/* UDP port, length, checksum (0) and what must be clear of TPH in one comparison. `len` is that of
 * an IPv4 packet with as much in it. */
CW_INLINE bool ub2e_ordinary_uboe(const struct cw_ub2e *u, const uint8_t *udp, size_t len)
{
	size_t opcode = udp[CW_SIZE_UDP] & 15;

	return len >= u->tp_min[opcode] &&
	       ((ub2e_word(udp + 2) ^ u->udp[len]) & u->tp_mask[opcode]) == 0;
}

/* ---- IP ------------------------------------------------------------------------------------- */

/* The one's complement sum of the header may be taken in any order of octets and over words of 64
 * bits; a good one is a multiple of 0xffff (RFC 1071). With version, IHL, flags and offset as in an
 * ordinary one, the first addition does not overflow. */
CW_INLINE bool ub2e_ipv4_sum_good(const uint8_t *ip)
{
	uint64_t b = ub2e_word(ip + 8), sum;
	uint32_t c;

	memcpy(&c, ip + 16, sizeof(c));
	sum = ub2e_word(ip) + c + b;
	sum += sum < b;
	return sum % 0xffff == 0;
}

/* Version, IHL, length, flags and fragment offset. */
#define UB2E_IPV4_MASK UB2E_WIRE64(0xff00ffff0000ffff)

CW_INLINE bool ub2e_ordinary_ipv4(const struct cw_ub2e *u, const uint8_t *ip, size_t len)
{
	return (ub2e_word(ip) & UB2E_IPV4_MASK) == u->ipv4[len] && ip[9] == CW_IPPROTO_UDP &&
	       ub2e_ipv4_sum_good(ip) && (u->odd_ipv4[ip[12]] | u->odd_ipv4[ip[16]]) == 0 &&
	       ip[8] >= u->ttl_min;
}

/* Version and next header. */
#define UB2E_IPV6_MASK UB2E_WIRE64(0xf00000000000ff00)
#define UB2E_IPV6_WORD UB2E_WIRE64(0x6000000000000000 | CW_IPPROTO_UDP << 8)

/* As odd_ipv4: ::, ::1 and mapped addresses begin with 0, link-local ones with fe, multicast with
 * ff. */
CW_INLINE bool ub2e_odd_ipv6(uint8_t first)
{
	return (uint8_t)(first - 1) >= 0xfd;
}

CW_INLINE bool ub2e_ordinary_ipv6(const struct cw_ub2e *u, const uint8_t *ip)
{
	return (ub2e_word(ip) & UB2E_IPV6_MASK) == UB2E_IPV6_WORD && !ub2e_odd_ipv6(ip[8]) &&
	       !ub2e_odd_ipv6(ip[24]) && ip[7] >= u->ttl_min;
}

/* Of the IP packet up to its ICRC, by its header. */
CW_INLINE size_t ub2e_length_of(const uint8_t *ip, unsigned version)
{
	return version == 4 ? cw_ipv4_length(ip) : CW_SIZE_IPV6 + (size_t)cw_ipv6_length(ip);
}

/* Is this one, of that length? It is UB2E_MIN_IPV4 at least, and UB2E_IP_MAX at most. */
CW_INLINE bool ub2e_ordinary_ip(const struct cw_ub2e *u, const uint8_t *ip, size_t len,
				unsigned version)
{
	if (version == 4)
		return ub2e_ordinary_ipv4(u, ip, len) &&
		       ub2e_ordinary_uboe(u, ip + CW_SIZE_IPV4, len);
	return len == ub2e_length_of(ip, 6) && len >= CW_SIZE_IPV6 + UB2E_MIN_UDP &&
	       ub2e_ordinary_ipv6(u, ip) &&
	       ub2e_ordinary_uboe(u, ip + CW_SIZE_IPV6, len - (CW_SIZE_IPV6 - CW_SIZE_IPV4));
}

CW_INLINE uint32_t ub2e_tos_of(const uint8_t *ip, unsigned version)
{
	return version == 4 ? ip[1] : cw_be16(ip) >> 4 & 0xff;
}

/* RFC 1624, equation 3, in the order of the wire, which the sum does not depend on. */
CW_INLINE void ub2e_rewrite_ip(const struct cw_ub2e *u, uint8_t *ip, uint32_t tos, uint16_t change,
			       unsigned version)
{
	uint16_t sum;

	if (version == 6) {
		cw_put_be16(ip, (uint16_t)(0x6000 | tos << 4 | (ip[1] & 15)));
		ip[7] = (uint8_t)(ip[7] - u->hop);
		return;
	}
	memcpy(&sum, ip + 10, sizeof(sum));
	sum = (uint16_t)(sum - change - (sum < change)); /* ~(~sum + change), RFC 1624 4 */
	memcpy(ip + 10, &sum, sizeof(sum));
	ip[1] = (uint8_t)tos;
	ip[8] = (uint8_t)(ip[8] - u->hop);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* TCI of priority 0 and EtherType of IPv4 for the NPI at `p`; false: it has no VLAN. `direct`: only
 * those that one comparison finds, with the reserved bits 0. */
CW_INLINE bool ub2e_tag_of(const struct cw_ub2e *u, const uint8_t *p, bool direct, uint32_t *tag)
{
	const struct ub2e_direct *d = &u->direct[cw_be16(p + 2) & 0xfff];
	uint32_t wire, npi;
	int vid;

	memcpy(&wire, p, sizeof(wire));
	*tag = d->tag;
	if (d->npi == wire)
		return true;
	npi = cw_be32(p) & (CW_NPI_PERM | CW_NPI_ID_MASK);
	if (direct || npi - 1 >= CW_NPI_ID_MASK || (vid = ub2e_vid_of(u, npi)) < 0)
		return false;
	*tag = UB2E_WIRE32((uint32_t)vid << 16 | CW_ETHERTYPE_IP4);
	return true;
}

CW_INLINE bool ub2e_hop_allows(const struct cw_npi_filter *f, uint32_t npi, bool direct)
{
	return direct ? f == NULL : ub2e_filter_allows(f, npi);
}

/* ---- One packet ------------------------------------------------------------------------------ */

/* How ordinary a packet has to be, and what is in front of it: constants where these are called. */
struct ub2e_kind {
	unsigned version;
	bool direct; /* its partition is that of its low 12 bits, and the next hop has no filter */
	bool framed; /* an Ethernet header in front of LPH was received, and is to be looked at */
};

/* Of EtherType, LPH, CCI: all, CFG and PLENGTH, and FECN mode without the LoC bit. */
#define UB2E_FRONT_MASK UB2E_WIRE64(0xffff000f3ffff000)
#define UB2E_4_TO_6     UB2E_WIRE64((uint64_t)(CW_UB_CFG_IP4 ^ CW_UB_CFG_IP6) << 32)
#define UB2E_TAG_4_TO_6 UB2E_WIRE32(CW_ETHERTYPE_IP4 ^ CW_ETHERTYPE_IP6)

/* What stands in front of the NPI, as in cw_ub2e.front. */
CW_INLINE uint64_t ub2e_front_of(const uint8_t *ub, const struct ub2e_kind *k)
{
	uint64_t front = k->framed
				 ? ub2e_word(ub - 2)
				 : UB2E_WIRE64((uint64_t)CW_ETHERTYPE_UB << 48 | cw_be64(ub) >> 16);

	return k->version == 4 ? front : front ^ UB2E_4_TO_6;
}

/* Octets that a frame begins in front of the IP header. */
#define UB2E_ETH_LEAD (CW_SIZE_ETH + CW_SIZE_VLAN)
#define UB2E_UB_LEAD  (CW_SIZE_ETH + CW_UB_PREFIX)

/* Does a next hop take packets of `len` octets straight away? */
CW_INLINE bool ub2e_has_room(const struct cw_ub2e_adj *adj, enum cw_side from, size_t len)
{
	return len - UB2E_MIN_IPV4 < adj->room[from];
}

/* A packet from its LPH on, with `len` octets from the IP header to the last one of the frame,
 * towards Ethernet. (Any number: nothing is read before it was found to be one of a packet.)
 * Returns the length of the frame, which begins UB2E_ETH_LEAD in front of the IP header, and counts
 * in *light a mark that became CE; 0: it is not ordinary, and untouched. */
CW_INLINE size_t ub2e_to_eth(const struct cw_ub2e *u, uint8_t *ub, size_t len,
			     const struct cw_ub2e_adj *adj, const struct ub2e_kind *k,
			     uint32_t *light)
{
	uint8_t *ip = ub + CW_UB_PREFIX, *npi = ip - CW_SIZE_NPI, *frame = ip - UB2E_ETH_LEAD;
	const struct ub2e_fast_out *out;
	uint32_t tag;

	if (!ub2e_has_room(adj, CW_SIDE_UB, len) || !ub2e_ordinary_ip(u, ip, len, k->version) ||
	    (ub2e_front_of(ub, k) & UB2E_FRONT_MASK) != u->front[len] ||
	    !ub2e_tag_of(u, npi, k->direct, &tag) ||
	    !ub2e_hop_allows(adj->filter, cw_be32(npi), k->direct))
		return 0;
	out = &u->fast_out[ub2e_tos_of(ip, k->version)][ub[5] & 3];
	*light += out->light;
	ub2e_rewrite_ip(u, ip, out->tos, out->sum, k->version);
	memcpy(frame, adj->head, sizeof(adj->head));
	tag = (k->version == 4 ? tag : tag ^ UB2E_TAG_4_TO_6) | out->tag;
	memcpy(frame + CW_SIZE_ETH, &tag, sizeof(tag));
	return UB2E_ETH_LEAD + len;
}

/* A packet from its IP header on, `len` octets as above, of a VLAN, towards UB. Returns the length
 * of the frame, which begins UB2E_UB_LEAD in front of the IP header; 0: it is not ordinary, and
 * untouched. */
CW_INLINE size_t ub2e_to_ub(const struct cw_ub2e *u, uint8_t *ip, size_t len, uint32_t vid,
			    const struct cw_ub2e_adj *adj, const struct ub2e_kind *k)
{
	uint8_t *ub = ip - CW_UB_PREFIX, *frame = ip - UB2E_UB_LEAD;
	const uint32_t npi = u->vid_npi[vid];
	const struct ub2e_fast_in *in;
	uint64_t front;

	if (!ub2e_has_room(adj, CW_SIDE_ETH, len) || !ub2e_ordinary_ip(u, ip, len, k->version) ||
	    npi == 0 || !ub2e_hop_allows(adj->filter, npi, k->direct))
		return 0;
	in = &u->fast_in[ub2e_tos_of(ip, k->version)];
	front = (u->front[len] | in->front) ^ (k->version == 4 ? 0 : UB2E_4_TO_6);
	ub2e_rewrite_ip(u, ip, in->tos, in->sum, k->version);
	memcpy(frame, adj->head, sizeof(adj->head));
	memcpy(ub - 2, &front, sizeof(front));
	cw_put_be32(ub + 6, npi);
	return UB2E_UB_LEAD + len;
}

/* Can packets that come in at a side be ordinary by `direct`? */
CW_INLINE bool ub2e_is_direct(const struct cw_ub2e *u, const struct cw_npi_filter *ingress,
			      enum cw_side from)
{
	enum cw_icrc_check icrc = from == CW_SIDE_UB ? u->s.icrc_check_ub : u->s.icrc_check_eth;

	return u->slots == NULL && u->s.npins == 0 && icrc == CW_ICRC_CHECK_OFF && ingress->n == 0;
}

#endif
