/* burst.c - ordinary packets, checked and written in one, a burst at a time.
 *
 * They are nearly all of the traffic: IP and UDP without anything unusual around a well-formed
 * transport header. They are recognised by comparing whole words of their headers, and what the
 * check has read stays in registers for the write.
 *
 * Nothing is refused here. What fails a comparison, because it is wrong or only rare, is left as it
 * is for the two steps (from_ub.c, from_eth.c, write.c), which know why. So every comparison may be
 * stricter than the rule, but none may be laxer.
 */
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "lib/ub2e/internal.h"

/* UDP, TPH, ICRC: what the shortest packet has behind its IP header. */
#define MIN_UDP (CW_SIZE_UDP + CW_SIZE_RTPH + CW_ICRC_LEN)

/* A constant as it stands in a header's octets. */
#define WIRE16(v) ((uint16_t)CW_SWAP(16, (uint16_t)(v)))
#define WIRE64(v) CW_SWAP(64, (uint64_t)(v))

CW_INLINE uint64_t wire64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- Transport ------------------------------------------------------------------------------ */

/* By transport opcode: the shortest packet from UDP to ICRC (of data with the longest padding), and
 * which bits of the first two octets of TPH an ordinary one has clear, in the order of the wire. */
struct tp_rule {
	int32_t min;
	uint16_t clear;
};

/* Version and the upper bits of the opcode; of data, NLP too. */
#define TP_CLEAR   WIRE16(0x70c0)
#define DATA_CLEAR WIRE16(0x70cf)
#define TP_NEVER   INT32_MAX

static const struct tp_rule tp_rules[16] = {
	[CW_TP_UTP] = {8 + 16 + 8 + 3 + 4, DATA_CLEAR},
	[CW_TP_RTP] = {8 + 16 + 8 + 3 + 4, DATA_CLEAR},
	[CW_TP_ACK] = {8 + 16 + 4, TP_CLEAR},
	[CW_TP_ACK_CC] = {8 + 16 + 8 + 4, TP_CLEAR},
	[CW_TP_CNP] = {8 + 16 + 16 + 4, TP_CLEAR},
	/* Reserved, or with a length of their own. */
	[4] = {TP_NEVER, 0},
	[CW_TP_SACK] = {TP_NEVER, 0},
	[CW_TP_SACK_CC] = {TP_NEVER, 0},
	[7] = {TP_NEVER, 0},
	[9 ... 15] = {TP_NEVER, 0},
};

/* UDP header .. ICRC, `len` octets; below zero when the IP length was too short. Port, length and
 * checksum (0) in one comparison. */
CW_INLINE bool ordinary_uboe(uint64_t port, const uint8_t *udp, int32_t len)
{
	const struct tp_rule *t = &tp_rules[udp[CW_SIZE_UDP] & 15];
	uint16_t tp;

	memcpy(&tp, udp + CW_SIZE_UDP, sizeof(tp));
	return cw_be64(udp) << 16 == (port | (uint64_t)(uint16_t)len << 32) && len >= t->min &&
	       (tp & t->clear) == 0;
}

/* ---- IP ------------------------------------------------------------------------------------- */

/* By the first octet of an address: 0 where it is unicast whatever follows. Not so: 0, 127, 169
 * (for the link-local 169.254), 224 and above. */
static const uint8_t odd_ipv4[256] = {
	[0] = 1,
	[127] = 1,
	[169] = 1,
	[224 ... 255] = 1,
};

/* Version, IHL, and of flags and fragment offset DF alone. */
#define IPV4_MASK WIRE64(0xff0000000000ffff)
#define IPV4_WORD WIRE64(0x4500000000004000)

/* `avail` octets from ip on, MIN_UDP behind an IPv4 header at least. The one's complement sum of
 * the header may be taken in any order of octets and over words of 64 bits; a good one is a
 * multiple of 0xffff (RFC 1071). Returns the length up to the ICRC, 0: not ordinary. */
CW_INLINE uint32_t ordinary_ipv4(const struct ub2e_fast *f, const uint8_t *ip, uint32_t avail)
{
	uint64_t a = wire64(ip), b = wire64(ip + 8), sum = a + b;
	uint32_t c, len = cw_ipv4_length(ip);

	memcpy(&c, ip + 16, sizeof(c));
	if ((a & IPV4_MASK) != IPV4_WORD || ip[9] != CW_IPPROTO_UDP)
		return 0;
	sum += sum < b;
	sum += c;
	sum += sum < c;
	if (sum % 0xffff != 0 || odd_ipv4[ip[12]] | odd_ipv4[ip[16]] || ip[8] < f->ttl_min ||
	    len > avail)
		return 0;
	return ordinary_uboe(f->port, ip + CW_SIZE_IPV4, (int32_t)len - CW_SIZE_IPV4) ? len : 0;
}

/* Version and next header. */
#define IPV6_MASK WIRE64(0xf00000000000ff00)
#define IPV6_WORD WIRE64(0x6000000000000000 | CW_IPPROTO_UDP << 8)

/* As odd_ipv4: ::, ::1 and mapped addresses begin with 0, link-local ones with fe, multicast with
 * ff. */
CW_INLINE bool odd_ipv6(uint8_t first)
{
	return (uint8_t)(first - 1) >= 0xfd;
}

CW_INLINE uint32_t ordinary_ipv6(const struct ub2e_fast *f, const uint8_t *ip, uint32_t avail)
{
	uint32_t len = CW_SIZE_IPV6 + cw_ipv6_length(ip);

	if ((wire64(ip) & IPV6_MASK) != IPV6_WORD || odd_ipv6(ip[8]) || odd_ipv6(ip[24]) ||
	    ip[7] < f->ttl_min || len > avail || avail < CW_SIZE_IPV6 + MIN_UDP)
		return 0;
	return ordinary_uboe(f->port, ip + CW_SIZE_IPV6, (int32_t)len - CW_SIZE_IPV6) ? len : 0;
}

CW_INLINE uint32_t ordinary_ip(const struct ub2e_fast *f, const uint8_t *ip, uint32_t avail,
			       unsigned version)
{
	return version == 4 ? ordinary_ipv4(f, ip, avail) : ordinary_ipv6(f, ip, avail);
}

CW_INLINE uint32_t tos_of(const uint8_t *ip, unsigned version)
{
	return version == 4 ? ip[1] : cw_be16(ip) >> 4 & 0xff;
}

/* As rewrite_ipv4() of write.c, with the sums of the changes taken together. */
CW_INLINE void rewrite_ipv4(const struct ub2e_fast *f, uint8_t *ip, uint32_t tos)
{
	uint32_t sum = f->ttl_sum - cw_be16(ip + 10) + tos - ip[1];

	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	ip[1] = (uint8_t)tos;
	ip[8] = (uint8_t)(ip[8] - f->hop);
	cw_put_be16(ip + 10, (uint16_t)~sum);
}

CW_INLINE void rewrite_ip(const struct ub2e_fast *f, uint8_t *ip, uint32_t tos, unsigned version)
{
	if (version == 4) {
		rewrite_ipv4(f, ip, tos);
		return;
	}
	cw_put_be16(ip, (uint16_t)(0x6000 | tos << 4 | (ip[1] & 15)));
	ip[7] = (uint8_t)(ip[7] - f->hop);
}

/* ---- One packet ------------------------------------------------------------------------------ */

/* PLENGTH, and FECN mode without the LoC bit: what stands in front of NPI. */
#define FRONT_MASK 0x3ffff000u

CW_INLINE bool ub_to_eth(const struct cw_ub2e *u, const struct ub2e_fast *f, struct cw_ub2e_job *j,
			 unsigned version)
{
	uint8_t *ub = j->start, *ip = ub + CW_UB_PREFIX, *frame = ip - CW_SIZE_ETH - CW_SIZE_VLAN;
	uint32_t npi = cw_be32(ub + 6) & (CW_NPI_PERM | CW_NPI_ID_MASK), front = cw_be32(ub + 2);
	uint32_t len = ordinary_ip(f, ip, j->len - CW_UB_PREFIX, version);
	const struct cw_ub2e_adj *adj = j->adj;
	const struct ub2e_tos_out *out;
	int vid;

	if (len - 1 >= adj->room[CW_SIDE_UB] || (front & FRONT_MASK) != u->front[len] ||
	    (vid = ub2e_vid_of_ordinary(u, npi)) < 0 || !ub2e_filter_allows(adj->filter, npi))
		return false;
	out = &u->out[0][(tos_of(ip, version) & 0xfc) | (front & 3)];
	j->start = frame;
	j->len = CW_SIZE_ETH + CW_SIZE_VLAN + len;
	j->notes = out->notes;
	memcpy(frame, adj->head, sizeof(adj->head));
	cw_put_be32(frame + CW_SIZE_ETH,
		    ((uint32_t)out->pcp << 13 | (uint32_t)vid) << 16 |
			    (version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6));
	rewrite_ip(f, ip, out->tos, version);
	return true;
}

/* `off` octets in front of the IP header, and the tag wherever it was. */
CW_INLINE bool eth_to_ub(const struct cw_ub2e *u, const struct ub2e_fast *f, struct cw_ub2e_job *j,
			 uint32_t off, uint32_t tci, unsigned version)
{
	uint8_t *ip = j->start + off, *frame = ip - CW_UB_PREFIX - CW_SIZE_ETH;
	uint32_t npi = u->vid_npi[tci & 0xfff], front;
	uint32_t len = ordinary_ip(f, ip, j->len - off, version);
	const struct cw_ub2e_adj *adj = j->adj;
	const struct ub2e_tos_in *in;

	if (len - 1 >= adj->room[CW_SIDE_ETH] || npi == 0 || !ub2e_filter_allows(adj->filter, npi))
		return false;
	in = &u->in[0][tos_of(ip, version)];
	front = f->rt | u->front[len] | in->cci;
	j->start = frame;
	j->len = CW_SIZE_ETH + CW_UB_PREFIX + len;
	j->notes = 0;
	memcpy(frame, adj->head, sizeof(adj->head));
	cw_put_be16(frame + CW_SIZE_ETH,
		    (uint16_t)(in->vl << 5 | (version == 4 ? CW_UB_CFG_IP4 : CW_UB_CFG_IP6)));
	cw_put_be64(frame + CW_SIZE_ETH + 2, (uint64_t)front << 32 | npi);
	rewrite_ip(f, ip, in->tos, version);
	return true;
}

/* ---- Where the IP header is ------------------------------------------------------------------ */

#define MIN_IPV4 (CW_SIZE_IPV4 + MIN_UDP)

CW_INLINE bool job_from_ub(const struct cw_ub2e *u, const struct ub2e_fast *f,
			   struct cw_ub2e_job *j)
{
	uint32_t cfg;

	if (j->len < CW_UB_PREFIX + MIN_IPV4)
		return false;
	cfg = j->start[1] & 15;
	if (cfg == CW_UB_CFG_IP4)
		return ub_to_eth(u, f, j, 4);
	return cfg == CW_UB_CFG_IP6 && ub_to_eth(u, f, j, 6);
}

/* Octets in front of the IP header, with one tag of the ordinary TPID in the frame or with one that
 * the device took out; its TCI. 0: neither. */
CW_INLINE uint32_t past_tag(const struct cw_ub2e_job *j, uint32_t *tci)
{
	*tci = j->tag;
	if (j->tag & CW_UB2E_TAG_STRIPPED)
		return CW_SIZE_ETH;
	*tci = cw_be32(j->start + CW_SIZE_ETH - 2);
	return *tci >> 16 == CW_ETHERTYPE_VLAN ? CW_SIZE_ETH + CW_SIZE_VLAN : 0;
}

CW_INLINE bool job_from_eth(const struct cw_ub2e *u, const struct ub2e_fast *f,
			    struct cw_ub2e_job *j)
{
	uint32_t off, tci, type;

	if (j->len < CW_SIZE_ETH + CW_SIZE_VLAN + MIN_IPV4 || (off = past_tag(j, &tci)) == 0)
		return false;
	type = cw_be16(j->start + off - 2);
	if (type == CW_ETHERTYPE_IP4)
		return eth_to_ub(u, f, j, off, tci, 4);
	return type == CW_ETHERTYPE_IP6 && eth_to_ub(u, f, j, off, tci, 6);
}

/* ---- What is only checked where it is configured --------------------------------------------- */

CW_INLINE const struct cw_npi_filter *filter_in_use(const struct cw_npi_filter *f)
{
	return f != NULL && f->n > 0 ? f : NULL;
}

/* Ingress filter and ICRC of a packet that nothing is known about yet; only of an ordinary one does
 * the answer matter. */
static bool configured_ok(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			  enum cw_icrc_check icrc, const uint8_t *ip, uint32_t avail, uint32_t npi)
{
	uint32_t len;

	if (!ub2e_filter_allows(filter, npi))
		return false;
	len = ip[0] >> 4 == 4 ? cw_ipv4_length(ip) : CW_SIZE_IPV6 + cw_ipv6_length(ip);
	return icrc == CW_ICRC_CHECK_OFF ||
	       (len <= avail && cw_icrc_check(ip, len, &cw_icrc_ub, u->s.icrc_order) == CW_OK);
}

/* Leave packets that fail them, or have no room for what they look at, to the two steps. */
static void configured_from_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			       struct cw_ub2e_job *jobs, unsigned n)
{
	struct cw_ub2e_job *j;

	for (j = jobs; j < jobs + n; j++) {
		if (j->adj != NULL &&
		    (j->len < CW_UB_PREFIX + MIN_IPV4 ||
		     !configured_ok(u, filter, u->s.icrc_check_ub, j->start + CW_UB_PREFIX,
				    j->len - CW_UB_PREFIX, cw_be32(j->start + 6))))
			j->adj = NULL;
	}
}

static void configured_from_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
				struct cw_ub2e_job *jobs, unsigned n)
{
	struct cw_ub2e_job *j;
	uint32_t off, tci;

	for (j = jobs; j < jobs + n; j++) {
		if (j->adj != NULL &&
		    (j->len < CW_SIZE_ETH + CW_SIZE_VLAN + MIN_IPV4 ||
		     (off = past_tag(j, &tci)) == 0 ||
		     !configured_ok(u, filter, u->s.icrc_check_eth, j->start + off, j->len - off,
				    u->vid_npi[tci & 0xfff])))
			j->adj = NULL;
	}
}

/* ---- Bursts ---------------------------------------------------------------------------------- */

uint64_t cw_ub2e_burst_to_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      struct cw_ub2e_job *jobs, unsigned n)
{
	const struct ub2e_fast f = u->fast; /* a copy: nothing that is written changes it */
	uint64_t done = 0;
	unsigned i;

	if (filter_in_use(filter) != NULL || u->s.icrc_check_ub != CW_ICRC_CHECK_OFF)
		configured_from_ub(u, filter, jobs, n);
	for (i = 0; i < n; i++) {
		if (jobs[i].adj != NULL && job_from_ub(u, &f, &jobs[i]))
			done |= 1ull << i;
	}
	return done;
}

uint64_t cw_ub2e_burst_to_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			     struct cw_ub2e_job *jobs, unsigned n)
{
	const struct ub2e_fast f = u->fast;
	uint64_t done = 0;
	unsigned i;

	if (filter_in_use(filter) != NULL || u->s.icrc_check_eth != CW_ICRC_CHECK_OFF)
		configured_from_eth(u, filter, jobs, n);
	for (i = 0; i < n; i++) {
		if (jobs[i].adj != NULL && job_from_eth(u, &f, &jobs[i]))
			done |= 1ull << i;
	}
	return done;
}

/* ---- Adjacencies ----------------------------------------------------------------------------- */

static uint16_t room(uint32_t mtu)
{
	return (uint16_t)(mtu != 0 && mtu < UB2E_IP_MAX ? mtu : UB2E_IP_MAX);
}

void cw_ub2e_adj_init(struct cw_ub2e_adj *adj, const struct cw_ub2e_hop *hop)
{
	memset(adj, 0, sizeof(*adj));
	memcpy(adj->head, hop->dst, 6);
	memcpy(adj->head + 6, hop->src, 6);
	adj->filter = filter_in_use(hop->filter);
	if (hop->side == CW_SIDE_UB) {
		cw_put_be16(adj->head + 12, CW_ETHERTYPE_UB);
		adj->room[CW_SIDE_ETH] = hop->bare ? 0 : room(hop->mtu);
	} else {
		cw_put_be16(adj->head + 12, hop->tpid);
		adj->room[CW_SIDE_UB] = hop->outer_vid != 0 ? 0 : room(hop->mtu);
	}
}
