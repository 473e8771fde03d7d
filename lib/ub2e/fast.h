/* fast.h - the packets that nearly all of the traffic is, recognised at little cost: IPv4 and UDP
 * without anything unusual around a well-formed transport header.
 *
 * Nothing is refused here. What is wrong, or only rare, goes the long way (ip_check.h), which
 * names it. Each check is one load and one branch that is always taken the same way.
 */
#ifndef LIB_UB2E_FAST_H
#define LIB_UB2E_FAST_H

#include <stddef.h>
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "lib/ub2e/internal.h"

/* IPv4, UDP, TPH, ICRC: the shortest packet there is. */
#define UB2E_FAST_MIN (CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_RTPH + CW_ICRC_LEN)

#define UB2E_FAST_DF 0x4000u /* alone of flags and offset */

/* The LPH as one word. */
#define UB2E_LPH_CFG_MASK 0x000f0000u
#define UB2E_LPH_CFG_IP4  ((uint32_t)CW_UB_CFG_IP4 << 16)
#define UB2E_LPH_PLENGTH  0x3fffu
/* TPH: version and the upper bits of the opcode are 0. */
#define UB2E_FAST_TP_MASK 0x70c0u

/* By transport opcode: octets of the shortest packet from the IP header to the ICRC (of data with
 * the longest padding), and the bits that an ordinary one has clear. */
struct ub2e_fast_tp {
	uint16_t min;
	uint16_t clear;
};
static const struct ub2e_fast_tp ub2e_fast_tp[16] = {
	[CW_TP_UTP] = {28 + 16 + 8 + 3 + 4, 0x0f}, /* NLP 0 */
	[CW_TP_RTP] = {28 + 16 + 8 + 3 + 4, 0x0f},
	[CW_TP_ACK] = {28 + 16 + 4, 0},
	[CW_TP_ACK_CC] = {28 + 16 + 8 + 4, 0},
	[CW_TP_CNP] = {28 + 16 + 16 + 4, 0},
	/* Never: reserved, or with a length of their own. */
	[4] = {UINT16_MAX, 0},
	[CW_TP_SACK] = {UINT16_MAX, 0},
	[CW_TP_SACK_CC] = {UINT16_MAX, 0},
	[7] = {UINT16_MAX, 0},
	[9 ... 15] = {UINT16_MAX, 0},
};

/* By the first octet of an address: 0 where it is unicast whatever follows. Not so: 0, 127, 169
 * (for the link-local 169.254), 224 and above. */
static const uint8_t ub2e_fast_odd[256] = {
	[0] = 1,
	[127] = 1,
	[169] = 1,
	[224 ... 255] = 1,
};

/* One's complement sum of the 20 octets at ip; 0xffff if the checksum is right. In the order of the
 * machine: the sum only has its octets swapped. */
CW_INLINE uint32_t ub2e_fast_sum(const uint8_t *ip)
{
	uint64_t a, b;
	uint32_t c, s;

	memcpy(&a, ip, 8);
	memcpy(&b, ip + 8, 8);
	memcpy(&c, ip + 16, 4);
	a += b;
	a += (a < b) + (uint64_t)c;
	a += a < c;
	s = (uint32_t)a + (uint32_t)(a >> 32);
	s += s < (uint32_t)a;
	return (s & 0xffff) + (s >> 16);
}

/* Is it such a packet, in `avail` octets at v->ip, UB2E_FAST_MIN at least? Then ip_len, dst,
 * version, plain are filled, and tos with the octet as it came. */
CW_INLINE bool ub2e_fast_ipv4(const struct cw_ub2e *u, struct cw_ub2e_view *v, uint32_t avail)
{
	const uint8_t *ip = v->ip;
	uint32_t tp = cw_be16(ip + 28), len = cw_be16(ip + 2), sum = ub2e_fast_sum(ip);
	const struct ub2e_fast_tp *t = &ub2e_fast_tp[tp >> 8 & 15];

	if (ip[0] != 0x45 || cw_be16(ip + 6) != UB2E_FAST_DF || ip[9] != CW_IPPROTO_UDP)
		return false;
	if (ip[8] < u->fast.ttl_min || len > avail || len < t->min)
		return false;
	if (((sum & 0xffff) + (sum >> 16)) != 0xffff)
		return false;
	if (ub2e_fast_odd[ip[12]] | ub2e_fast_odd[ip[16]])
		return false;
	if (cw_be16(ip + 22) != u->fast.port || cw_be32(ip + 24) != (len - CW_SIZE_IPV4) << 16)
		return false;
	if (tp & (UB2E_FAST_TP_MASK | t->clear))
		return false;
	v->ip_len = len;
	v->dst = ip + 16;
	v->version = 4;
	v->plain = false;
	v->tos = ip[1];
	return true;
}

/* What the fast path leaves open, as it takes a call: the port's filter, and the ICRC. */
CW_INLINE bool ub2e_fast_done(const struct cw_npi_filter *filter, enum cw_icrc_check icrc)
{
	return (filter == NULL || filter->n == 0) && icrc == CW_ICRC_CHECK_OFF;
}

CW_INLINE bool ub2e_fast_rest(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      const struct cw_ub2e_view *v, enum cw_icrc_check icrc)
{
	return ub2e_filter_allows(filter, v->npi) &&
	       (icrc == CW_ICRC_CHECK_OFF ||
		cw_icrc_check(v->ip, v->ip_len, &cw_icrc_ub, u->s.icrc_order) == CW_OK);
}

/* PLENGTH of an IP packet behind a UB prefix; what it gives where the packet is too long never
 * occurs on the wire. */
CW_INLINE uint16_t ub2e_plength(const struct cw_ub2e *u, uint32_t ip_len)
{
	return u->plength[ip_len <= UB2E_IP_MAX ? ip_len : 0];
}

/* ---- Both directions --------------------------------------------------------------------- */

/* FECN mode and no LoC bit, LPH of IPv4. */
#define UB2E_CCI_FAST_MASK  0xf000u
#define UB2E_CCI_FAST_VALUE 0x8000u

/* A Permission bit, a LoC bit or another CCI mode is rare enough for the long way. */
CW_INLINE bool ub2e_fast_from_ub(const struct cw_ub2e *u, uint8_t *ub, uint32_t len,
				 struct cw_ub2e_view *v)
{
	const struct ub2e_tos_out *out;
	uint32_t lph, npi, cci;
	int vid;

	if (len < CW_UB_PREFIX + UB2E_FAST_MIN)
		return false;
	lph = cw_be32(ub);
	cci = cw_be16(ub + CW_SIZE_LPH);
	npi = cw_be32(ub + CW_SIZE_LPH + CW_SIZE_CCI) & (CW_NPI_PERM | CW_NPI_ID_MASK);
	if ((cci & UB2E_CCI_FAST_MASK) != UB2E_CCI_FAST_VALUE || npi - 1 >= CW_NPI_ID_MASK)
		return false;
	v->ip = ub + CW_UB_PREFIX;
	if (!ub2e_fast_ipv4(u, v, len - CW_UB_PREFIX))
		return false;
	if ((lph & (UB2E_LPH_CFG_MASK | UB2E_LPH_PLENGTH)) !=
	    (UB2E_LPH_CFG_IP4 | ub2e_plength(u, v->ip_len)))
		return false;
	vid = ub2e_vid_of(u, npi);
	if (vid < 0)
		return false;
	out = &u->out[0][(v->tos & 0xfc) | (cci & 3)];
	v->from = CW_SIDE_UB;
	v->notes = 0;
	v->cross = CW_PASS;
	v->cross_notes = out->notes;
	v->tos = out->tos;
	v->pcp = out->pcp;
	v->vid = (uint16_t)vid;
	v->outer_vid = 0;
	v->tagged = true;
	v->npi = npi;
	v->cci = (uint16_t)cci;
	v->vl = lph >> 21 & 15;
	v->rt = lph >> 14 & 3;
	return true;
}

/* One tag of the ordinary TPID, or one that the device took out. */
CW_INLINE bool ub2e_fast_from_eth(const struct cw_ub2e *u, uint8_t *frame, uint32_t len,
				  const struct cw_stripped_tag *tag, struct cw_ub2e_view *v)
{
	bool stripped = tag != NULL && tag->stripped;
	const struct ub2e_tos_in *in;
	uint32_t off, tci, l2;

	if (len < CW_SIZE_ETH + CW_SIZE_VLAN + UB2E_FAST_MIN)
		return false;
	l2 = cw_be32(frame + 12);
	off = stripped ? CW_SIZE_ETH : CW_SIZE_ETH + CW_SIZE_VLAN;
	tci = stripped ? tag->tci : l2 & 0xffff;
	if ((l2 >> 16 != (stripped ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_VLAN)) |
	    (cw_be16(frame + off - 2) != CW_ETHERTYPE_IP4))
		return false;
	v->ip = frame + off;
	if (!ub2e_fast_ipv4(u, v, len - off))
		return false;
	v->vid = tci & 0xfff;
	v->npi = u->vid_npi[v->vid];
	if ((v->vid == 0) | (v->npi == 0))
		return false;
	in = &u->in[0][v->tos];
	v->from = CW_SIDE_ETH;
	v->notes = v->cross_notes = 0;
	v->cross = CW_PASS;
	v->tos = in->tos;
	v->vl = in->vl;
	v->cci = in->cci;
	v->rt = u->s.rt;
	v->pcp = (uint8_t)(tci >> 13);
	v->outer_vid = 0;
	v->tagged = true;
	return true;
}

/* MAC addresses: they stand in the hop as they do in a frame. */
CW_INLINE void ub2e_fast_macs(uint8_t *frame, const struct cw_ub2e_hop *hop)
{
	_Static_assert(offsetof(struct cw_ub2e_hop, src) == offsetof(struct cw_ub2e_hop, dst) + 6,
		       "addresses are copied as one");
	memcpy(frame, (const uint8_t *)hop + offsetof(struct cw_ub2e_hop, dst), 12);
}

/* As rewrite_ipv4() of write.c, with the sums of the changes taken together. */
CW_INLINE void ub2e_fast_rewrite(const struct cw_ub2e *u, const struct cw_ub2e_view *v)
{
	uint8_t *ip = v->ip;
	uint32_t sum = u->fast.ttl_sum - cw_be16(ip + 10) + v->tos - ip[1];

	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	ip[1] = v->tos;
	ip[8] = (uint8_t)(ip[8] - u->fast.hop);
	cw_put_be16(ip + 10, (uint16_t)~sum);
	cw_put_be16(ip + 26, 0); /* UDP checksum */
}

/* Nothing about the hop that takes a call or another layout. */
CW_INLINE bool ub2e_fast_hop(const struct cw_ub2e_view *v, const struct cw_ub2e_hop *hop)
{
	return v->ip_len - 1 <= hop->mtu - 1 && (hop->filter == NULL || hop->filter->n == 0);
}

/* Write a packet that ub2e_fast_from_ub() found; false: nothing was changed. */
CW_INLINE bool ub2e_fast_to_eth(const struct cw_ub2e *u, struct cw_ub2e_view *v,
				const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len)
{
	uint8_t *frame = v->ip - CW_SIZE_ETH - CW_SIZE_VLAN;

	if (!ub2e_fast_hop(v, hop) || (hop->side != CW_SIDE_ETH) | (hop->outer_vid != 0))
		return false;
	ub2e_fast_macs(frame, hop);
	cw_put_be32(frame + 12, (uint32_t)hop->tpid << 16 | (uint32_t)v->pcp << 13 | v->vid);
	cw_put_be16(frame + 16, CW_ETHERTYPE_IP4);
	ub2e_fast_rewrite(u, v);
	v->notes |= v->cross_notes;
	*start = frame;
	*len = CW_SIZE_ETH + CW_SIZE_VLAN + v->ip_len;
	return true;
}

/* The same, of ub2e_fast_from_eth(). */
CW_INLINE bool ub2e_fast_to_ub(const struct cw_ub2e *u, struct cw_ub2e_view *v,
			       const struct cw_ub2e_hop *hop, uint8_t **start, uint32_t *len)
{
	uint8_t *frame = v->ip - CW_UB_PREFIX - CW_SIZE_ETH;
	uint32_t plength = ub2e_plength(u, v->ip_len);

	if (!ub2e_fast_hop(v, hop) ||
	    (hop->side != CW_SIDE_UB) | hop->bare | (plength == UB2E_NO_PLENGTH))
		return false;
	ub2e_fast_macs(frame, hop);
	cw_put_be16(frame + 12, CW_ETHERTYPE_UB);
	cw_put_be32(frame + 14,
		    (uint32_t)v->vl << 21 | UB2E_LPH_CFG_IP4 | (uint32_t)v->rt << 14 | plength);
	cw_put_be16(frame + 18, v->cci);
	cw_put_be32(frame + 20, v->npi);
	ub2e_fast_rewrite(u, v);
	v->notes |= v->cross_notes;
	*start = frame;
	*len = CW_SIZE_ETH + CW_UB_PREFIX + v->ip_len;
	return true;
}

#endif
