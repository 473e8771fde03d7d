/* cnsource.c - congested nodes and their budgets. See cnsource.h. */
#include <stdlib.h>
#include "causeway/err.h"
#include "lib/cnproxy/cnsource.h"

/* Places that are looked at for one to give away: what a message costs stays the same. */
enum { LOOKS = 8 };

int cn_sources_init(struct cn_sources *s, uint32_t listed, uint32_t others, uint64_t seed)
{
	size_t n = (size_t)listed + others + 1, heads = 1;

	while (heads < 2 * n)
		heads *= 2;
	*s = (struct cn_sources){.seed = seed,
				 .mask = (uint32_t)(heads - 1),
				 .listed = listed,
				 .others = others,
				 .hand = 1};
	s->place = calloc(n, sizeof(*s->place));
	s->first = calloc(heads, sizeof(*s->first));
	if (s->place != NULL && s->first != NULL)
		return CW_OK;
	cn_sources_free(s);
	return CW_E_NOMEM;
}

void cn_sources_free(struct cn_sources *s)
{
	free(s->place);
	free(s->first);
	s->place = NULL;
	s->first = NULL;
}

/* One whose budget is whole, out of its chain; or 0. */
static uint32_t give_away(struct cn_sources *s, uint64_t now)
{
	unsigned looks;
	uint32_t i, *at;

	for (looks = 0; looks < LOOKS && s->used > 0; looks++) {
		i = s->hand;
		s->hand = s->hand < s->used ? s->hand + 1 : 1;
		if (s->place[i].listed || s->place[i].next > now)
			continue;
		for (at = cn_source_first(s, &s->place[i].addr); *at != i;)
			at = &s->place[*at].chain;
		*at = s->place[i].chain;
		return i;
	}
	return 0;
}

struct cn_source *cn_source_enter(struct cn_sources *s, const struct cw_gid *a, bool listed,
				  uint64_t now)
{
	uint32_t *left = listed ? &s->listed : &s->others, *first = cn_source_first(s, a), i;

	if (*left > 0) {
		(*left)--;
		i = ++s->used;
	} else if (listed || (i = give_away(s, now)) == 0) {
		return &s->place[0];
	}
	s->place[i] = (struct cn_source){.addr = *a, .chain = *first, .listed = listed};
	*first = i;
	return &s->place[i];
}
