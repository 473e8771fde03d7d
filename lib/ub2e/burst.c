/* burst.c - ordinary packets, a burst of jobs at a time. What they are, and what becomes of them:
 * ordinary.h.
 */
#include "causeway/icrc.h"
#include "lib/ub2e/ordinary.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- One job, by `direct` of struct ub2e_kind --------------------------------------------------
 */

CW_INLINE bool job_from_ub(const struct cw_ub2e *u, struct cw_ub2e_job *j, unsigned version,
			   bool direct)
{
	const struct ub2e_kind kind = {.version = version, .direct = direct};
	uint32_t light = 0;
	size_t len;

	if (j->len < CW_UB_PREFIX + UB2E_MIN_IPV4)
		return false;
	len = ub2e_length_of(j->start + CW_UB_PREFIX, version);
	if (len > j->len - CW_UB_PREFIX ||
	    (len = ub2e_to_eth(u, j->start, len, j->adj, &kind, &light)) == 0)
		return false;
	j->start = j->start + CW_UB_PREFIX - UB2E_ETH_LEAD;
	j->len = (uint32_t)len;
	j->notes = light * UB2E_NOTE(LIGHT_TO_CE);
	return true;
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
			    bool direct)
{
	const struct ub2e_kind kind = {.version = version, .direct = direct};
	uint16_t type = version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6;
	uint32_t off, tci;
	size_t len;

	if (j->len < CW_SIZE_ETH + CW_SIZE_VLAN + UB2E_MIN_IPV4 || (off = past_tag(j, &tci)) == 0 ||
	    cw_be16(j->start + off - 2) != type)
		return false;
	len = ub2e_length_of(j->start + off, version);
	if (len > j->len - off ||
	    (len = ub2e_to_ub(u, j->start + off, len, tci & 0xfff, j->adj, &kind)) == 0)
		return false;
	j->start = j->start + off - UB2E_UB_LEAD;
	j->len = (uint32_t)len;
	j->notes = 0;
	return true;
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
		if (j->len < CW_UB_PREFIX + UB2E_MIN_IPV4 ||
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
		if (j->len < CW_SIZE_ETH + CW_SIZE_VLAN + UB2E_MIN_IPV4 ||
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
	uint32_t longest = mtu != 0 && mtu < UB2E_IP_MAX ? mtu : UB2E_IP_MAX;

	return (uint16_t)(longest < UB2E_MIN_IPV4 ? 0 : longest + 1 - UB2E_MIN_IPV4);
}

void cw_ub2e_adj_init(struct cw_ub2e_adj *adj, const struct cw_ub2e_hop *hop)
{
	memset(adj, 0, sizeof(*adj));
	memcpy(adj->head, hop->dst, 6);
	memcpy(adj->head + 6, hop->src, 6);
	adj->filter = filter_in_use(hop->filter);
	if (hop->side == CW_SIDE_UB) {
		adj->room[CW_SIDE_ETH] = hop->bare ? 0 : room(hop->mtu);
	} else {
		cw_put_be16(adj->head + 12, hop->tpid);
		adj->room[CW_SIDE_UB] = hop->outer_vid != 0 ? 0 : room(hop->mtu);
	}
}
