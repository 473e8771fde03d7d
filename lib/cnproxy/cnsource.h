/* cnsource.h - congested nodes that the proxy has heard of, each with a budget of its own.
 *
 * A fixed number of places, found by a hash with chains. A place is given to another source only
 * when its budget is whole again, so that forgetting it changes nothing: budgets are exact for as
 * many sources at a time as there are places. Those that find none share one budget. Sources that
 * are listed by their own address keep their places for good; there is one for each.
 */
#ifndef LIB_CNPROXY_CNSOURCE_H
#define LIB_CNPROXY_CNSOURCE_H

#include "lib/cnproxy/qphash.h"

#pragma GCC visibility push(hidden)

struct cn_source {
	struct cw_gid addr;
	uint64_t next;  /* of its rate: when the budget is whole again */
	uint32_t chain; /* next place of the same hash, 0: none */
	bool listed;
};

struct cn_sources {
	struct cn_source *place; /* place[0] is what those without one share */
	uint32_t *first;         /* of each hash, 0: none */
	struct cn_source *last;  /* found: messages of one source come together */
	uint64_t seed;
	uint32_t mask;           /* of the hashes */
	uint32_t others, listed; /* places of either kind that may be taken still */
	uint32_t used;           /* places 1 to this one are somebody's */
	uint32_t hand;           /* where the next one to give away is looked for */
};

/* Places for so many listed sources and others. CW_E_NOMEM. */
CW_MUST_USE int cn_sources_init(struct cn_sources *s, uint32_t listed, uint32_t others,
				uint64_t seed);
void cn_sources_free(struct cn_sources *s);

/* Give `a`, which has none, a place; or place[0]. */
struct cn_source *cn_source_enter(struct cn_sources *s, const struct cw_gid *a, bool listed,
				  uint64_t now);

CW_INLINE uint32_t *cn_source_first(const struct cn_sources *s, const struct cw_gid *a)
{
	return &s->first[(uint32_t)(qp_hash_gid(s->seed, a) >> 32) & s->mask];
}

/* Its place, or NULL. */
CW_INLINE struct cn_source *cn_source_find(struct cn_sources *s, const struct cw_gid *a)
{
	uint32_t i;

	if (s->last != NULL && cw_gid_equal(&s->last->addr, a))
		return s->last;
	for (i = *cn_source_first(s, a); i != 0; i = s->place[i].chain) {
		if (cw_gid_equal(&s->place[i].addr, a))
			return s->last = &s->place[i];
	}
	return NULL;
}

#pragma GCC visibility pop

#endif
