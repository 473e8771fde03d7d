/* input.h - what both input nodes do with what comes in, in three ways, from the fastest on:
 *
 *   straight  packets that need nothing looked up but a route and a next hop: their frames begin
 *             at the same place of their mbufs, and are checked and written where they are
 *             (lib/ub2e/ordinary.h)
 *   as jobs   of the other IP version than the first of a burst, tables of partitions, filters,
 *             an ICRC to check: cw_ub2e_burst_to_eth(), cw_ub2e_burst_to_ub()
 *   steps     any packet: check, route, write; what is refused, is refused there
 *
 * Each takes what it can of what the one before has left.
 */
#ifndef DAEMON_GRAPH_INPUT_H
#define DAEMON_GRAPH_INPUT_H

#include "daemon/graph/forward.h"
#include "lib/ub2e/ordinary.h"

#define CW_INPUT_INLINE static inline __attribute__((always_inline))

/* The stations that a port takes frames for. */
struct cw_station {
	uint64_t mac, mask; /* as the first octets of a frame are in memory; mask 0: any station */
};

static inline struct cw_station cw_station_of(const uint8_t *mac, bool any)
{
	static const uint8_t six[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t octets[8] = {0};

	memcpy(octets, mac, 6);
	return (struct cw_station){ub2e_word(octets), any ? 0 : ub2e_word(six)};
}

static inline bool cw_station_takes(const struct cw_station *s, const uint8_t *frame)
{
	return ((ub2e_word(frame) ^ s->mac) & s->mask) == 0;
}

#define CW_IN_FOURS RTE_ALIGN_CEIL(CW_MAX_BURST, 4)

/* Packets of one port, in as many segments, that begin at the same place of their mbufs. */
struct cw_burst {
	struct rte_mbuf **m;
	unsigned n;
	unsigned lead;    /* octets in front of their IP headers, if they can go straight; else 0 */
	unsigned version; /* of the IP that can */
	uint64_t left;    /* packets that did not, a bit each */
	union {
		uint32_t v4[CW_IN_FOURS];
		uint8_t v6[CW_MAX_BURST][16];
	} dst;
	uint32_t hop[CW_IN_FOURS];
	/* What the loop over them reads, in one place, for there are not registers for all of it.
	 */
	struct cw_station station;
	const struct cw_ub2e *rules;
	const struct cw_ub2e_adj *adj;
	size_t at;      /* where their frames begin */
	uint32_t light; /* events CW_NOTE_LIGHT_TO_CE */
	/* Where next hops are learned: the adjacency of each packet. */
	const struct cw_ub2e_adj *to[CW_MAX_BURST];
	struct cw_ub2e_adj copy[CW_MAX_BURST];
};

/* Version of the IP header `lead` octets behind the frame's first, 0: there is none. */
static inline unsigned cw_version_at(const struct rte_mbuf *m, unsigned lead)
{
	unsigned version;

	if (m->data_len < lead + CW_SIZE_IPV6)
		return 0; /* UDP and TPH behind IPv4 are as long */
	version = rte_pktmbuf_mtod(m, const uint8_t *)[lead] >> 4;
	return version == 4 || version == 6 ? version : 0;
}

/* What a node knows about the packets of its kind of port. */
struct cw_input {
	/* Can packets of this port be ordinary ones? */
	bool (*usual)(const struct cw_plane_port *in);
	struct cw_station (*station)(const struct cw_plane_port *in);
	/* Octets in front of the IP header where packets like this can go straight; 0: they can't.
	 */
	unsigned (*lead)(const struct cw_plane *p, const struct cw_plane_port *in,
			 const struct rte_mbuf *m);
	/* Check and write such packets: cw_burst_write(). */
	void (*straight)(struct cw_worker *w, struct cw_burst *b);
	/* What is left of them: cw_burst_rest(). */
	void (*rest)(struct cw_worker *w, const struct cw_burst *b, struct cw_outcome *o);
	/* Fill start, length and, from Ethernet, tag of a job, for a packet in one segment; where
	 * an ordinary packet has its IP header. NULL: this is none. */
	const uint8_t *(*offer)(const struct cw_station *station, struct rte_mbuf *m,
				struct cw_ub2e_job *job);
	/* Check and write the ordinary ones of a burst. */
	uint64_t (*burst)(const struct cw_ub2e *rules, const struct cw_npi_filter *filter,
			  struct cw_ub2e_job *jobs, unsigned n);
	bool learns; /* next hops may have to be resolved */
	/* Any packet. */
	enum cw_way (*check)(struct cw_worker *w, struct rte_mbuf *m, struct cw_ub2e_view *v,
			     enum cw_drop *why);
};

/* ---- Routes ---------------------------------------------------------------------------------- */

/* Hops of n destinations, both arrays in fours; `none` where there is no route. */
CW_INPUT_INLINE void cw_routes4(struct rte_lpm *lpm, uint32_t *dst, unsigned n, uint32_t none,
				uint32_t *hop)
{
	unsigned i;
	xmm_t four;

	for (i = n; i % 4 != 0; i++)
		dst[i] = 0;
	for (i = 0; i < n; i += 4) {
		memcpy(&four, &dst[i], sizeof(four));
		rte_lpm_lookupx4(lpm, four, &hop[i], none);
	}
}

static inline void cw_routes6(struct rte_lpm6 *lpm, uint8_t (*dst)[16], unsigned n, uint32_t none,
			      uint32_t *hop)
{
	int32_t found[CW_MAX_BURST];
	unsigned i;

	rte_lpm6_lookup_bulk_func(lpm, dst, found, n);
	for (i = 0; i < n; i++)
		hop[i] = found[i] < 0 ? none : (uint32_t)found[i];
}

/* ---- Next hops ------------------------------------------------------------------------------- */

/* The adjacency of hop `index`. Where that must be resolved: for `len` octets from LPH on, with the
 * address filled in, in `copy`; cw_ub2e_adj_none of a node that does not learn. */
CW_INPUT_INLINE const struct cw_ub2e_adj *cw_next_hop(struct cw_worker *w, uint32_t index,
						      bool learns, const uint8_t *ub, size_t len,
						      struct cw_ub2e_adj *copy)
{
	const struct cw_ub2e_adj *adj = &w->plane->adj[index];

	if (likely(cw_adj_kind(adj) == CW_HOP_STATIC))
		return adj;
	return learns ? cw_forward_learned(w, index, ub, len, copy) : &cw_ub2e_adj_none;
}

/* ---- Straight -------------------------------------------------------------------------------- */

typedef uint64_t cw_two_words __attribute__((vector_size(16), may_alias));

/* Place, references, segments, port; flags of the offloads. */
CW_INPUT_INLINE const cw_two_words *cw_place_and_flags(const struct rte_mbuf *m)
{
	_Static_assert(offsetof(struct rte_mbuf, port) + sizeof(uint16_t) ==
			       offsetof(struct rte_mbuf, rearm_data) + sizeof(uint64_t),
		       "one word has all of them");
	_Static_assert(offsetof(struct rte_mbuf, ol_flags) ==
			       offsetof(struct rte_mbuf, rearm_data) + sizeof(uint64_t),
		       "the next one has the flags");
	_Static_assert(offsetof(struct rte_mbuf, rearm_data) % 16 == 0, "aligned");
	return (const cw_two_words *)&m->rearm_data;
}

CW_INPUT_INLINE uint64_t cw_place_of(const struct rte_mbuf *m)
{
	return (*cw_place_and_flags(m))[0];
}

/* Count the packets at the front that are alike, `max` at most. */
static inline void cw_burst_alike(struct cw_burst *b, unsigned max)
{
	cw_two_words any = {0}, all = ~any;
	unsigned i;

	CW_UNROLL
	for (i = 0; i < max; i++) {
		any |= *cw_place_and_flags(b->m[i]);
		all &= *cw_place_and_flags(b->m[i]);
	}
	any ^= all;
	b->n = max;
	if (unlikely(any[0] != 0))
		for (b->n = 1; cw_place_of(b->m[b->n]) == cw_place_of(b->m[0]);)
			b->n++;
	if (unlikely((any[1] & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0))
		b->lead = 0;
}

/* ---- Destinations, from where ordinary packets have them --------------------------------------
 *
 * Nobody relies on them before a packet was found to be one. Of the first packet these octets are
 * known to be there, the others' buffers are as large. */

CW_INPUT_INLINE const uint8_t *cw_burst_ip(const struct cw_burst *b, unsigned i)
{
	return (const uint8_t *)b->m[i]->buf_addr + b->at + b->lead;
}

/* Hops of IPv4 destinations by the first table of the LPM alone; false: for some it does not do. */
CW_INPUT_INLINE bool cw_burst_routes24(struct cw_burst *b, const struct rte_lpm *lpm)
{
	uint32_t e, any = 0, all = UINT32_MAX;
	unsigned i;

	CW_UNROLL
	for (i = 0; i < b->n; i++) {
		memcpy(&e, &lpm->tbl24[cw_be32(cw_burst_ip(b, i) + CW_UB2E_DST4) >> 8], sizeof(e));
		any |= e;
		all &= e;
		b->hop[i] = e & 0xffffff;
	}
	return ((any ^ RTE_LPM_LOOKUP_SUCCESS) & RTE_LPM_VALID_EXT_ENTRY_BITMASK) == 0 &&
	       (all & RTE_LPM_LOOKUP_SUCCESS) != 0;
}

static inline void cw_burst_routes(struct cw_burst *b, const struct cw_plane *p)
{
	unsigned i;

	if (likely(b->version == 4)) {
		if (likely(cw_burst_routes24(b, p->fib->v4)))
			return;
		for (i = 0; i < b->n; i++)
			b->dst.v4[i] = cw_be32(cw_burst_ip(b, i) + CW_UB2E_DST4);
		cw_routes4(p->fib->v4, b->dst.v4, b->n, p->nhops, b->hop);
		return;
	}
	for (i = 0; i < b->n; i++)
		memcpy(b->dst.v6[i], cw_burst_ip(b, i) + CW_UB2E_DST6, 16);
	cw_routes6(p->fib->v6, b->dst.v6, b->n, p->nhops, b->hop);
}

/* Check and write a packet in its frame: the new length; 0: it has to go another way. What stands
 * in front of the IP header may be looked at before the length: of the burst's first packet it is
 * there, the others' buffers are as large. */
typedef size_t cw_straight_fn(struct cw_burst *b, const struct rte_mbuf *m, uint8_t *frame,
			      const struct cw_ub2e_adj *adj, unsigned version);

/* `moved`: octets that a written frame begins further behind; `learned`: b->to is filled in. All
 * are constants. */
CW_INPUT_INLINE void cw_burst_write(struct cw_burst *b, cw_straight_fn *straight, int moved,
				    unsigned version, bool learned)
{
	const struct cw_ub2e_adj *adj;
	struct rte_mbuf *m;
	uint64_t left = 0;
	uint32_t len;
	size_t i;

	for (i = 0; i < b->n; i++) {
		m = b->m[i];
		adj = learned ? b->to[i] : &b->adj[b->hop[i]];
		len = (uint32_t)straight(b, m, (uint8_t *)m->buf_addr + b->at, adj, version);
		if (unlikely(len == 0)) {
			left |= 1ull << i;
			continue;
		}
		m->data_off = (uint16_t)(m->data_off + moved);
		m->data_len = (uint16_t)len;
		m->pkt_len = len;
		cw_meta_set(m, cw_adj_slot(adj));
	}
	b->left = left;
}

CW_INPUT_INLINE void cw_burst_straight(struct cw_worker *w, struct cw_burst *b,
				       const struct cw_input *input)
{
	const struct cw_plane *p = w->plane;
	const unsigned port = b->m[0]->port;

	b->at = b->m[0]->data_off;
	cw_burst_routes(b, p);
	b->station = input->station(&p->port[port]);
	b->rules = p->rules;
	b->adj = p->adj;
	b->light = 0;
	input->straight(w, b);
	w->port[port].notes[CW_NOTE_LIGHT_TO_CE] += b->light;
}

/* ---- As jobs --------------------------------------------------------------------------------- */

/* What a burst has left. */
struct cw_jobs {
	struct rte_mbuf *m[CW_MAX_BURST];
	unsigned n, n6;
	struct cw_ub2e_job job[CW_MAX_BURST];
	uint32_t dst4[CW_IN_FOURS], hop[CW_IN_FOURS]; /* one behind the last: no route */
	uint8_t dst6[CW_MAX_BURST][16], at6[CW_MAX_BURST];
	uint32_t hop6[CW_MAX_BURST];
	struct cw_ub2e_adj learned[CW_MAX_BURST];
};

/* One more, with its destination. */
CW_INPUT_INLINE void cw_jobs_add(struct cw_jobs *b, struct rte_mbuf *m,
				 const struct cw_station *station, const struct cw_input *input)
{
	unsigned i = b->n++;
	const uint8_t *ip = input->offer(station, m, &b->job[i]);

	b->m[i] = m;
	if (likely(ip != NULL && ip[0] >> 4 != 6)) {
		b->dst4[i] = cw_be32(ip + CW_UB2E_DST4);
		return;
	}
	b->dst4[i] = 0;
	if (ip == NULL) {
		b->job[i].len = 0; /* too short for anything */
		return;
	}
	memcpy(b->dst6[b->n6], ip + CW_UB2E_DST6, 16);
	b->at6[b->n6++] = (uint8_t)i;
}

CW_INPUT_INLINE void cw_jobs_offer(struct cw_jobs *j, const struct cw_burst *b,
				   const struct cw_plane_port *in, const struct cw_input *input)
{
	struct cw_station station = input->station(in);
	uint64_t left;

	j->n = j->n6 = 0;
	for (left = b->left; left != 0; left &= left - 1)
		cw_jobs_add(j, b->m[__builtin_ctzll(left)], &station, input);
}

CW_INPUT_INLINE void cw_jobs_routes(struct cw_jobs *b, const struct cw_fib *fib, uint32_t none)
{
	unsigned i;

	if (b->n6 < b->n && fib->v4 != NULL)
		cw_routes4(fib->v4, b->dst4, b->n, none, b->hop);
	else
		for (i = 0; i < b->n; i++)
			b->hop[i] = none;
	if (b->n6 == 0 || fib->v6 == NULL)
		return;
	cw_routes6(fib->v6, b->dst6, b->n6, none, b->hop6);
	for (i = 0; i < b->n6; i++)
		b->hop[b->at6[i]] = b->hop6[i];
}

CW_INPUT_INLINE void cw_jobs_next_hops(struct cw_worker *w, struct cw_jobs *b,
				       const struct cw_input *input)
{
	struct cw_ub2e_job *j;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		j = &b->job[i];
		j->adj = cw_next_hop(w, b->hop[i], input->learns, j->start, j->len, &b->learned[i]);
	}
}

/* Those that were done, a bit each, by their place in `j`. */
CW_INPUT_INLINE uint64_t cw_jobs_run(struct cw_worker *w, struct cw_jobs *j,
				     const struct cw_burst *b, const struct cw_input *input)
{
	const struct cw_plane *p = w->plane;
	const struct cw_plane_port *in = &p->port[b->m[0]->port];

	cw_jobs_offer(j, b, in, input);
	cw_jobs_routes(j, p->fib, p->nhops);
	cw_jobs_next_hops(w, j, input);
	return input->burst(p->rules, &in->filter, j->job, j->n);
}

/* ---- Step by step ---------------------------------------------------------------------------- */

/* A packet that does not go straight: check, route, write. */
CW_INPUT_INLINE void cw_input_steps(struct cw_worker *w, struct rte_mbuf *m, struct cw_outcome *o,
				    const struct cw_input *input)
{
	enum cw_drop why = CW_PASS;
	struct cw_ub2e_view v;
	enum cw_way way;

	if (unlikely(m->nb_segs > 1) && rte_pktmbuf_linearize(m) != 0) {
		cw_outcome_drop(o, m, CW_DROP_NO_MEMORY);
		return;
	}
	way = input->check(w, m, &v, &why);
	if (likely(way == CW_WAY_FORWARD))
		cw_forward_one(w, m, &v, cw_route(w->plane->fib, &v), o);
	else if (way == CW_WAY_PUNT)
		cw_outcome_punt(o, m);
	else
		cw_outcome_drop(o, m, why);
}

/* ---- A burst --------------------------------------------------------------------------------- */

/* All of a burst goes on, as nearly always. */
CW_INPUT_INLINE void cw_burst_all(const struct cw_burst *b, struct cw_outcome *o)
{
	if (o->tx + o->ntx != (void **)b->m)
		memmove(o->tx + o->ntx, b->m, b->n * sizeof(*o->tx));
	o->ntx = (uint16_t)(o->ntx + b->n);
}

/* Packets leave in the order in which they came: a flow's odd one does not overtake the others. */
CW_INPUT_INLINE void cw_burst_rest(struct cw_worker *w, const struct cw_burst *b,
				   struct cw_outcome *o, const struct cw_input *input)
{
	const bool usual = input->usual(&w->plane->port[b->m[0]->port]) && b->m[0]->nb_segs == 1;
	struct cw_jobs jobs;
	const struct cw_ub2e_job *j = jobs.job;
	uint64_t done = usual ? cw_jobs_run(w, &jobs, b, input) : 0;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		if ((b->left >> i & 1) == 0) {
			o->tx[o->ntx++] = b->m[i];
			continue;
		}
		if (done & 1)
			cw_outcome_tx(w, o, b->m[i], j->start, j->len, j->notes,
				      cw_adj_slot(j->adj));
		else
			cw_input_steps(w, b->m[i], o, input);
		done >>= 1;
		j++;
	}
}

/* Can packets like the first one go straight? */
CW_INPUT_INLINE void cw_burst_begin(struct cw_burst *b, const struct cw_plane *p,
				    const struct cw_plane_port *in, const struct cw_input *input)
{
	b->lead = b->m[0]->nb_segs == 1 ? input->lead(p, in, b->m[0]) : 0;
	b->version = cw_version_at(b->m[0], b->lead);
	if ((b->version != 4 || p->fib->v4 == NULL) && (b->version != 6 || p->fib->v6 == NULL))
		b->lead = 0;
}

/* The first packets of b->m, `max` at most; b->n: how many they were. */
CW_INPUT_INLINE void cw_input_burst(struct cw_worker *w, struct cw_burst *b, unsigned max,
				    struct cw_outcome *o, const struct cw_input *input)
{
	const struct cw_plane *p = w->plane;
	const struct cw_plane_port *in = &p->port[b->m[0]->port];

	cw_burst_begin(b, p, in, input);
	cw_burst_alike(b, max);
	b->left = UINT64_MAX >> (64 - b->n);
	if (likely(b->lead != 0))
		cw_burst_straight(w, b, input);
	if (likely(b->left == 0))
		cw_burst_all(b, o);
	else
		input->rest(w, b, o);
}

/* A node's process function, but for its kind of port. */
CW_INPUT_INLINE uint16_t cw_input_process(struct rte_graph *graph, struct rte_node *node,
					  void **objs, uint16_t nb, const struct cw_input *input)
{
	struct cw_worker *w = cw_node_worker(node);
	struct cw_outcome o;
	struct cw_burst b;
	unsigned done;

	o.tx = objs;
	o.ntx = o.npunt = o.ndrop = 0;
	for (done = 0; done < nb; done += b.n) {
		b.m = (struct rte_mbuf **)objs + done;
		cw_input_burst(w, &b, RTE_MIN(nb - done, (unsigned)CW_MAX_BURST), &o, input);
		cw_outcome_flush_sides(graph, node, &o);
	}
	cw_outcome_flush_tx(graph, node, &o, nb);
	return nb;
}

#endif
