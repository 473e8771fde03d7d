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
#define MIN_UDP  (CW_SIZE_UDP + CW_SIZE_RTPH + CW_ICRC_LEN)
#define MIN_IPV4 (CW_SIZE_IPV4 + MIN_UDP)

#define unlikely(x) __builtin_expect(!!(x), 0)

CW_INLINE uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- Transport ------------------------------------------------------------------------------ */

/* By transport opcode: which bits of the eight octets from the UDP destination port on, the last of
 * them the first two of TPH, are compared with those of struct ub2e_by_len; and the shortest packet
 * from an IPv4 header to ICRC (of data with the longest padding). */
struct tp_rule {
	uint64_t mask;
	uint32_t min;
};

/* Version and the upper bits of the opcode; of data, NLP too. */
#define TP_MASK   UB2E_WIRE64(0xffffffffffff70c0)
#define DATA_MASK UB2E_WIRE64(0xffffffffffff70cf)
#define TP_NEVER  UINT32_MAX

static const struct tp_rule tp_rules[16] = {
	[CW_TP_UTP] = {DATA_MASK, 20 + 8 + 16 + 8 + 3 + 4},
	[CW_TP_RTP] = {DATA_MASK, 20 + 8 + 16 + 8 + 3 + 4},
	[CW_TP_ACK] = {TP_MASK, 20 + 8 + 16 + 4},
	[CW_TP_ACK_CC] = {TP_MASK, 20 + 8 + 16 + 8 + 4},
	[CW_TP_CNP] = {TP_MASK, 20 + 8 + 16 + 16 + 4},
	/* Reserved, or with a length of their own. */
	[4] = {0, TP_NEVER},
	[CW_TP_SACK] = {0, TP_NEVER},
	[CW_TP_SACK_CC] = {0, TP_NEVER},
	[7] = {0, TP_NEVER},
	[9 ... 15] = {0, TP_NEVER},
};

/* UDP port, length, checksum (0) and what must be clear of TPH in one comparison. `len` is that of
 * an IPv4 packet with as much in it. */
CW_INLINE bool ordinary_uboe(const struct cw_ub2e *u, const uint8_t *udp, uint32_t len)
{
	const struct tp_rule *t = &tp_rules[udp[CW_SIZE_UDP] & 15];

	return len >= t->min && ((word(udp + 2) ^ u->by_len[len].udp) & t->mask) == 0;
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
#define IPV4_MASK UB2E_WIRE64(0xff0000000000ffff)
#define IPV4_WORD UB2E_WIRE64(0x4500000000004000)

/* The one's complement sum of the header may be taken in any order of octets and over words of 64
 * bits; a good one is a multiple of 0xffff (RFC 1071). With the first word as above, the first
 * addition does not overflow. */
CW_INLINE bool ipv4_sum_good(const uint8_t *ip)
{
	uint64_t b = word(ip + 8), sum;
	uint32_t c;

	memcpy(&c, ip + 16, sizeof(c));
	sum = word(ip) + c + b;
	sum += sum < b;
	return sum % 0xffff == 0;
}

/* Whether an IPv4 header is ordinary, but for its length. */
CW_INLINE bool ordinary_ipv4(const struct cw_ub2e *u, const uint8_t *ip)
{
	return ip[9] == CW_IPPROTO_UDP && ipv4_sum_good(ip) &&
	       (odd_ipv4[ip[12]] | odd_ipv4[ip[16]]) == 0 && ip[8] >= u->ttl_min;
}

/* Version and next header. */
#define IPV6_MASK UB2E_WIRE64(0xf00000000000ff00)
#define IPV6_WORD UB2E_WIRE64(0x6000000000000000 | CW_IPPROTO_UDP << 8)

/* As odd_ipv4: ::, ::1 and mapped addresses begin with 0, link-local ones with fe, multicast with
 * ff. */
CW_INLINE bool odd_ipv6(uint8_t first)
{
	return (uint8_t)(first - 1) >= 0xfd;
}

CW_INLINE bool ordinary_ipv6(const struct cw_ub2e *u, const uint8_t *ip)
{
	return !odd_ipv6(ip[8]) && !odd_ipv6(ip[24]) && ip[7] >= u->ttl_min;
}

/* The IP packet up to its ICRC, `avail` octets from ip on, of which MIN_IPV4 are known to be there,
 * and the first word looked at: its length, 0: not ordinary, or longer than the next hop has room
 * for. */
CW_INLINE uint32_t ordinary_ip(const struct cw_ub2e *u, const uint8_t *ip, uint32_t avail,
			       uint32_t room, unsigned version)
{
	uint32_t len = version == 4 ? cw_ipv4_length(ip) : CW_SIZE_IPV6 + cw_ipv6_length(ip);

	if (len > avail || len > room)
		return 0;
	if (version == 4)
		return ordinary_ipv4(u, ip) && ordinary_uboe(u, ip + CW_SIZE_IPV4, len) ? len : 0;
	return len >= CW_SIZE_IPV6 + MIN_UDP && ordinary_ipv6(u, ip) &&
			       ordinary_uboe(u, ip + CW_SIZE_IPV6,
					     len - (CW_SIZE_IPV6 - CW_SIZE_IPV4))
		       ? len
		       : 0;
}

/* What the first word of an ordinary IP header has always. */
CW_INLINE bool has_version(const uint8_t *ip, unsigned version)
{
	return version == 4 ? (word(ip) & IPV4_MASK) == IPV4_WORD
			    : (word(ip) & IPV6_MASK) == IPV6_WORD;
}

CW_INLINE uint32_t tos_of(const uint8_t *ip, unsigned version)
{
	return version == 4 ? ip[1] : cw_be16(ip) >> 4 & 0xff;
}

/* RFC 1624, equation 3, in the order of the wire, which the sum does not depend on. */
CW_INLINE void rewrite_ip(const struct cw_ub2e *u, uint8_t *ip, uint32_t tos, uint16_t change,
			  unsigned version)
{
	uint16_t sum;

	if (version == 6) {
		cw_put_be16(ip, (uint16_t)(0x6000 | tos << 4 | (ip[1] & 15)));
		ip[7] = (uint8_t)(ip[7] - u->hop);
		return;
	}
	memcpy(&sum, ip + 10, sizeof(sum));
	sum = (uint16_t)(~sum + change);
	sum = (uint16_t) ~(sum + (sum < change));
	memcpy(ip + 10, &sum, sizeof(sum));
	ip[1] = (uint8_t)tos;
	ip[8] = (uint8_t)(ip[8] - u->hop);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* VLAN of an NPI with one comparison, -1: it has none, or must be looked for. */
CW_INLINE int vid_of(const struct cw_ub2e *u, uint32_t npi, bool usual)
{
	if (u->npi_of[npi & 0xfff] == npi)
		return (int)(npi & 0xfff);
	return usual || npi - 1 >= CW_NPI_ID_MASK ? -1 : ub2e_vid_of(u, npi);
}

CW_INLINE bool filter_allows(const struct cw_npi_filter *f, uint32_t npi, bool usual)
{
	return usual ? f == NULL : ub2e_filter_allows(f, npi);
}

/* ---- One packet ------------------------------------------------------------------------------ */

/* Of LPH .. CCI: CFG, PLENGTH, and FECN mode without the LoC bit. */
#define FRONT_MASK UB2E_WIRE64(0x000f3ffff0000000)
#define CFG_4_TO_6 UB2E_WIRE64((uint64_t)(CW_UB_CFG_IP4 ^ CW_UB_CFG_IP6) << 48)

/* `usual`: see below. */
CW_INLINE bool ub_to_eth(const struct cw_ub2e *u, struct cw_ub2e_job *j, unsigned version,
			 bool usual)
{
	uint8_t *ub = j->start, *ip = ub + CW_UB_PREFIX, *frame = ip - CW_SIZE_ETH - CW_SIZE_VLAN;
	const struct cw_ub2e_adj *adj = j->adj;
	uint64_t front = word(ub) ^ (version == 4 ? 0 : CFG_4_TO_6);
	uint32_t npi = cw_be32(ub + 6) & (CW_NPI_PERM | CW_NPI_ID_MASK), len;
	const struct ub2e_fast_out *out;
	int vid;

	len = ordinary_ip(u, ip, j->len - CW_UB_PREFIX, adj->room[CW_SIDE_UB], version);
	if (len == 0 || (front & FRONT_MASK) != u->by_len[len].front ||
	    (vid = vid_of(u, npi, usual)) < 0 || !filter_allows(adj->filter, npi, usual))
		return false;
	out = &u->fast_out[tos_of(ip, version)][ub[5] & 3];
	j->start = frame;
	j->len = CW_SIZE_ETH + CW_SIZE_VLAN + len;
	j->notes = out->notes;
	memcpy(frame, adj->head, sizeof(adj->head));
	cw_put_be32(frame + CW_SIZE_ETH,
		    (uint32_t)(out->tci | vid) << 16 |
			    (version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6));
	rewrite_ip(u, ip, out->tos, out->sum, version);
	return true;
}

/* `off` octets in front of the IP header, and the tag wherever it was. */
CW_INLINE bool eth_to_ub(const struct cw_ub2e *u, struct cw_ub2e_job *j, uint32_t off, uint32_t tci,
			 unsigned version, bool usual)
{
	uint8_t *ip = j->start + off, *ub = ip - CW_UB_PREFIX, *frame = ub - CW_SIZE_ETH;
	const struct cw_ub2e_adj *adj = j->adj;
	uint32_t npi = u->vid_npi[tci & 0xfff], len;
	const struct ub2e_fast_in *in;
	uint64_t front;

	len = ordinary_ip(u, ip, j->len - off, adj->room[CW_SIDE_ETH], version);
	if (len == 0 || npi == 0 || !filter_allows(adj->filter, npi, usual))
		return false;
	in = &u->fast_in[tos_of(ip, version)];
	front = (u->by_len[len].front | in->front) ^ (version == 4 ? 0 : CFG_4_TO_6);
	j->start = frame;
	j->len = CW_SIZE_ETH + CW_UB_PREFIX + len;
	j->notes = 0;
	memcpy(frame, adj->head, sizeof(adj->head));
	memcpy(ub, &front, sizeof(front));
	cw_put_be32(ub + 6, npi);
	rewrite_ip(u, ip, in->tos, in->sum, version);
	return true;
}

/* ---- Where the IP header is ------------------------------------------------------------------ */

CW_INLINE bool job_from_ub(const struct cw_ub2e *u, struct cw_ub2e_job *j, unsigned version,
			   bool usual)
{
	return j->len >= CW_UB_PREFIX + MIN_IPV4 && has_version(j->start + CW_UB_PREFIX, version) &&
	       ub_to_eth(u, j, version, usual);
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

CW_INLINE bool job_from_eth(const struct cw_ub2e *u, struct cw_ub2e_job *j, unsigned version,
			    bool usual)
{
	uint16_t type = version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6;
	uint32_t off, tci;

	return j->len >= CW_SIZE_ETH + CW_SIZE_VLAN + MIN_IPV4 && (off = past_tag(j, &tci)) != 0 &&
	       cw_be16(j->start + off - 2) == type && has_version(j->start + off, version) &&
	       eth_to_ub(u, j, off, tci, version, usual);
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
		if (j->len < CW_UB_PREFIX + MIN_IPV4 ||
		    !configured_ok(u, filter, u->s.icrc_check_ub, j->start + CW_UB_PREFIX,
				   j->len - CW_UB_PREFIX, cw_be32(j->start + 6)))
			j->adj = &cw_ub2e_adj_none;
	}
}

static void configured_from_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
				struct cw_ub2e_job *jobs, unsigned n)
{
	struct cw_ub2e_job *j;
	uint32_t off, tci;

	for (j = jobs; j < jobs + n; j++) {
		if (j->len < CW_SIZE_ETH + CW_SIZE_VLAN + MIN_IPV4 ||
		    (off = past_tag(j, &tci)) == 0 ||
		    !configured_ok(u, filter, u->s.icrc_check_eth, j->start + off, j->len - off,
				   u->vid_npi[tci & 0xfff]))
			j->adj = &cw_ub2e_adj_none;
	}
}

/* ---- Bursts ----------------------------------------------------------------------------------
 *
 * A first loop takes what is nearly all traffic of most gateways: IPv4, and a partition that its
 * low 12 bits lead to. It calls nothing, so that all it needs stays in registers. A second one sees
 * what is left, and everything where there is a table of partitions.
 */

static __attribute__((noinline)) uint64_t usual_from_ub(const struct cw_ub2e *u,
							struct cw_ub2e_job *jobs, unsigned n)
{
	uint64_t left = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (unlikely(!job_from_ub(u, &jobs[i], 4, true)))
			left |= 1ull << i;
	}
	return left;
}

static __attribute__((noinline)) uint64_t usual_from_eth(const struct cw_ub2e *u,
							 struct cw_ub2e_job *jobs, unsigned n)
{
	uint64_t left = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (unlikely(!job_from_eth(u, &jobs[i], 4, true)))
			left |= 1ull << i;
	}
	return left;
}

static uint64_t others_from_ub(const struct cw_ub2e *u, struct cw_ub2e_job *jobs, uint64_t left)
{
	struct cw_ub2e_job *j;
	uint64_t todo;

	for (todo = left; todo != 0; todo &= todo - 1) {
		j = &jobs[__builtin_ctzll(todo)];
		if (job_from_ub(u, j, 6, false) || job_from_ub(u, j, 4, false))
			left &= ~(todo & -todo);
	}
	return left;
}

static uint64_t others_from_eth(const struct cw_ub2e *u, struct cw_ub2e_job *jobs, uint64_t left)
{
	struct cw_ub2e_job *j;
	uint64_t todo;

	for (todo = left; todo != 0; todo &= todo - 1) {
		j = &jobs[__builtin_ctzll(todo)];
		if (job_from_eth(u, j, 6, false) || job_from_eth(u, j, 4, false))
			left &= ~(todo & -todo);
	}
	return left;
}

/* Bits 0 .. n - 1. */
CW_INLINE uint64_t all_of(unsigned n)
{
	return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

uint64_t cw_ub2e_burst_to_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      struct cw_ub2e_job *jobs, unsigned n)
{
	uint64_t left;

	if (u->s.npins > 0) /* which packets are UB is looked up in the two steps */
		return 0;
	if (filter_in_use(filter) != NULL || u->s.icrc_check_ub != CW_ICRC_CHECK_OFF)
		configured_from_ub(u, filter, jobs, n);
	left = u->slots == NULL ? usual_from_ub(u, jobs, n) : all_of(n);
	if (left != 0)
		left = others_from_ub(u, jobs, left);
	return ~left & all_of(n);
}

uint64_t cw_ub2e_burst_to_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			     struct cw_ub2e_job *jobs, unsigned n)
{
	uint64_t left;

	if (u->s.npins > 0) /* which packets are UB is looked up in the two steps */
		return 0;
	if (filter_in_use(filter) != NULL || u->s.icrc_check_eth != CW_ICRC_CHECK_OFF)
		configured_from_eth(u, filter, jobs, n);
	left = u->slots == NULL ? usual_from_eth(u, jobs, n) : all_of(n);
	if (left != 0)
		left = others_from_eth(u, jobs, left);
	return ~left & all_of(n);
}

/* ---- Adjacencies ----------------------------------------------------------------------------- */

const struct cw_ub2e_adj cw_ub2e_adj_none;

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
