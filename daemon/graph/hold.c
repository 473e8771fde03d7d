/* hold.c - packets that wait at their worker for a next hop. See hold.h. */
#include <stdlib.h>
#include <rte_cycles.h>
#include "daemon/graph/hold.h"

#define CHECKS_A_SECOND 10u /* how often lost questions and old packets are looked for */
#define LONGEST_WAIT    5u  /* seconds; control gives a next hop up before */

struct held {
	uint64_t since; /* TSC */
	unsigned n;
	bool asked;
	struct rte_mbuf *m[CW_HOLD_PACKETS];
};

struct cw_hold {
	atomic_uint seq; /* odd while keys and numbers change: control reads without a lock */
	unsigned nhops, npackets;
	uint64_t next_check;
	uint64_t plane, nbrs; /* generations that were looked at */
	struct cw_neigh_key key[CW_HOLD_HOPS];
	struct held *hop[CW_HOLD_HOPS]; /* those from nhops on are free */
	struct held pool[CW_HOLD_HOPS];
};

int cw_hold_new(struct cw_worker *w)
{
	struct cw_hold *h = calloc(1, sizeof(*h));
	unsigned i;

	if (h == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < CW_HOLD_HOPS; i++)
		h->hop[i] = &h->pool[i];
	w->hold = h;
	return CW_OK;
}

void cw_hold_free(struct cw_worker *w)
{
	free(w->hold);
	w->hold = NULL;
}

static void begin_change(struct cw_hold *h)
{
	atomic_store_explicit(&h->seq, atomic_load_explicit(&h->seq, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct cw_hold *h)
{
	atomic_store_explicit(&h->seq, atomic_load_explicit(&h->seq, memory_order_relaxed) + 1,
			      memory_order_release);
}

static unsigned find(const struct cw_hold *h, const struct cw_neigh_key *key)
{
	unsigned i, n = RTE_MIN(h->nhops, CW_HOLD_HOPS);

	for (i = 0; i < n && memcmp(&h->key[i], key, sizeof(*key)) != 0; i++)
		;
	return i;
}

/* The question may find no room: it is repeated. */
static void ask(struct held *e, const struct cw_neigh_key *key)
{
	e->asked = rte_ring_mp_enqueue_elem(cw_dp.ask, (void *)key, sizeof(*key)) == 0;
	cw_dp_kick_control();
}

static struct held *add_hop(struct cw_hold *h, const struct cw_neigh_key *key)
{
	struct held *e = h->hop[h->nhops];

	e->since = rte_get_tsc_cycles();
	e->n = 0;
	e->asked = false;
	h->key[h->nhops++] = *key;
	return e;
}

enum cw_drop cw_hold_packet(struct cw_worker *w, struct rte_mbuf *m, const struct cw_neigh_key *key)
{
	struct cw_hold *h = w->hold;
	unsigned i = find(h, key);
	struct held *e;

	/* A quarter of all buffers may wait: a scan of unused addresses must not stop traffic. */
	if (h->npackets >= cw_io.pool->size / (4 * cw_dp.nworkers) || i == CW_HOLD_HOPS ||
	    (i < h->nhops && h->hop[i]->n == CW_HOLD_PACKETS))
		return CW_DROP_NEIGHBOUR_WAIT;
	begin_change(h);
	e = i == h->nhops ? add_hop(h, key) : h->hop[i];
	e->m[e->n++] = m;
	h->npackets++;
	end_change(h);
	w->port[m->port].held++;
	if (!e->asked)
		ask(e, key);
	return CW_PASS;
}

bool cw_hold_is_due(const struct cw_worker *w)
{
	const struct cw_hold *h = w->hold;

	return unlikely(h->nhops > 0) &&
	       (h->nbrs != w->nbrs->generation || h->plane != w->plane->generation ||
		rte_get_tsc_cycles() >= h->next_check);
}

/* The next hop is no longer waited for; its packets are the caller's. */
static void remove_hop(struct cw_worker *w, unsigned i)
{
	struct cw_hold *h = w->hold;
	struct held *e = h->hop[i];
	unsigned k;

	for (k = 0; k < e->n; k++)
		w->port[e->m[k]->port].held--;
	begin_change(h);
	h->npackets -= e->n;
	h->nhops--;
	h->key[i] = h->key[h->nhops];
	h->hop[i] = h->hop[h->nhops];
	h->hop[h->nhops] = e;
	end_change(h);
}

enum verdict { STAY, GO, NO_ANSWER, TOO_LONG };

static enum verdict judge(const struct cw_worker *w, unsigned i, uint64_t now)
{
	const struct cw_hold *h = w->hold;
	const struct cw_nbr *n = cw_nbr_lookup(w->nbrs, &h->key[i]);

	/* Under another configuration they may have another way. */
	if (h->plane != w->plane->generation)
		return GO;
	if (n != NULL)
		return n->refused ? NO_ANSWER : GO;
	return now - h->hop[i]->since > LONGEST_WAIT * rte_get_tsc_hz() ? TOO_LONG : STAY;
}

uint16_t cw_hold_release(struct cw_worker *w, cw_hold_emit_fn *emit, void *arg)
{
	uint64_t now = rte_get_tsc_cycles();
	struct cw_hold *h = w->hold;
	enum verdict v;
	struct held *e;
	unsigned i, k, given = 0;

	/* From the end: whatever takes a removed one's place has been looked at. */
	for (i = h->nhops; i-- > 0;) {
		e = h->hop[i];
		if ((v = judge(w, i, now)) == STAY) {
			if (!e->asked)
				ask(e, &h->key[i]);
			continue;
		}
		remove_hop(w, i);
		for (k = 0; v == GO && k < e->n; k++, given++)
			emit(arg, e->m[k]);
		if (v != GO)
			cw_drop_bulk(w, e->m, (uint16_t)e->n,
				     v == NO_ANSWER ? CW_DROP_NEIGHBOUR_FAIL
						    : CW_DROP_NEIGHBOUR_WAIT);
	}
	h->nbrs = w->nbrs->generation;
	h->plane = w->plane->generation;
	h->next_check = now + rte_get_tsc_hz() / CHECKS_A_SECOND;
	return (uint16_t)given;
}

void cw_hold_flush(struct cw_worker *w, enum cw_drop why)
{
	struct cw_hold *h = w->hold;
	struct held *e;

	while (h->nhops > 0) {
		e = h->hop[h->nhops - 1];
		remove_hop(w, h->nhops - 1);
		cw_drop_bulk(w, e->m, (uint16_t)e->n, why);
	}
}

unsigned cw_hold_count(const struct cw_worker *w, const struct cw_neigh_key *key)
{
	const struct cw_hold *h = w->hold;
	unsigned tries, seq, i, n = 0;

	for (tries = 0; tries < 100; tries++) {
		seq = atomic_load_explicit(&h->seq, memory_order_acquire);
		i = find(h, key);
		n = i < RTE_MIN(h->nhops, CW_HOLD_HOPS) ? h->hop[i]->n : 0;
		atomic_thread_fence(memory_order_acquire);
		if ((seq & 1) == 0 && seq == atomic_load_explicit(&h->seq, memory_order_relaxed))
			break;
	}
	return n;
}
