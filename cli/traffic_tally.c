/* traffic_tally.c - which packets of a run have come, and what was wrong with them. */
#include <stdlib.h>
#include <string.h>
#include "causeway/err.h"
#include "cli/traffic_check.h"

/* A sequence number this far beyond everything seen can't be (endless runs). */
#define LEAP_MAX ((uint64_t)64 * TRAFFIC_CHUNK)
#define RUNS_MAX 1024

static struct traffic_run *run_new(struct traffic_tally *t, const struct traffic_desc *d)
{
	struct traffic_run **grown, *r;

	if (t->nruns == RUNS_MAX)
		return NULL;
	grown = realloc(t->runs, (t->nruns + 1) * sizeof(void *));
	if (grown == NULL)
		return NULL;
	t->runs = grown;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return NULL;
	if ((r->flows = calloc(d->nflows, sizeof(r->flows[0]))) == NULL) {
		free(r);
		return NULL;
	}
	r->id = d->run;
	r->v6 = d->v6;
	r->side = d->side;
	r->total = d->total;
	r->nflows = d->nflows;
	return t->runs[t->nruns++] = r;
}

static struct traffic_run *run_find(struct traffic_tally *t, const struct traffic_desc *d)
{
	unsigned i;

	for (i = 0; i < t->nruns; i++) {
		if (t->runs[i]->id == d->run)
			return t->runs[i];
	}
	return run_new(t, d);
}

bool traffic_run_has(const struct traffic_run *r, uint64_t seq)
{
	size_t chunk = (size_t)(seq / TRAFFIC_CHUNK), bit = (size_t)(seq % TRAFFIC_CHUNK);

	return chunk < r->nseen && r->seen[chunk] != NULL &&
	       (r->seen[chunk][bit / 8] >> bit % 8 & 1) != 0;
}

static int mark_seen(struct traffic_run *r, uint64_t seq)
{
	size_t chunk = (size_t)(seq / TRAFFIC_CHUNK), bit = (size_t)(seq % TRAFFIC_CHUNK);
	uint8_t **grown;

	if (chunk >= r->nseen) {
		grown = realloc(r->seen, (chunk + 1) * sizeof(r->seen[0]));
		if (grown == NULL)
			return CW_E_NOMEM;
		memset(grown + r->nseen, 0, (chunk + 1 - r->nseen) * sizeof(r->seen[0]));
		r->seen = grown;
		r->nseen = chunk + 1;
	}
	if (r->seen[chunk] == NULL && (r->seen[chunk] = calloc(1, TRAFFIC_CHUNK / 8)) == NULL)
		return CW_E_NOMEM;
	r->seen[chunk][bit / 8] = (uint8_t)(r->seen[chunk][bit / 8] | 1u << bit % 8);
	return CW_OK;
}

static void count_checks(uint64_t *counts, uint32_t wrong)
{
	unsigned i;

	for (i = 0; i < TRAFFIC_CHECK_COUNT; i++)
		counts[i] += wrong >> i & 1;
}

static int count_good(struct traffic_run *r, const struct traffic_verdict *v, size_t len)
{
	const struct traffic_desc *d = &v->desc;
	struct traffic_flow *f = &r->flows[d->flow];
	int err;

	r->received++;
	r->octets += len;
	f->received++;
	f->octets += len;
	r->cc[d->cc][v->cc & 3]++;
	count_checks(r->checks, v->wrong);
	r->wrong += v->wrong != 0;
	f->wrong += v->wrong != 0;
	if (traffic_run_has(r, d->seq)) {
		r->duplicates++;
		f->duplicates++;
		return CW_OK;
	}
	if ((err = mark_seen(r, d->seq)) < 0)
		return err;
	r->distinct++;
	/* Order is kept within a flow only. */
	if (d->seq + 1 < f->highest) {
		r->reordered++;
		f->reordered++;
	} else {
		f->highest = d->seq + 1;
	}
	if (d->seq + 1 > r->highest)
		r->highest = d->seq + 1;
	return CW_OK;
}

static bool possible(const struct traffic_run *r, const struct traffic_desc *d)
{
	return d->nflows == r->nflows && d->total == r->total && d->v6 == r->v6 &&
	       d->side == r->side && d->flow == d->seq % d->nflows &&
	       d->seq < r->highest + LEAP_MAX;
}

int traffic_count(struct traffic_tally *t, const struct traffic_verdict *v, size_t len)
{
	struct traffic_run *r;

	t->packets++;
	if (v->kind == TRAFFIC_FOREIGN) {
		t->foreign++;
		return CW_OK;
	}
	if (v->kind == TRAFFIC_DAMAGED) {
		t->damaged++;
		count_checks(t->checks, v->wrong);
		return CW_OK;
	}
	if ((r = run_find(t, &v->desc)) == NULL)
		return CW_E_NOMEM;
	if (v->desc.fault != 0) {
		r->faulty++;
		r->faults[v->desc.fault]++;
		return CW_OK;
	}
	if (possible(r, &v->desc))
		return count_good(r, v, len);
	t->damaged++;
	t->checks[TRAFFIC_CHECK_DESCRIPTION]++;
	return CW_E_RANGE;
}

uint64_t traffic_run_expected(const struct traffic_run *r, uint64_t fallback)
{
	if (r->total != 0)
		return r->total;
	return fallback > r->highest ? fallback : r->highest;
}

void traffic_tally_free(struct traffic_tally *t)
{
	size_t i;
	unsigned n;

	for (n = 0; n < t->nruns; n++) {
		for (i = 0; i < t->runs[n]->nseen; i++)
			free(t->runs[n]->seen[i]);
		free(t->runs[n]->seen);
		free(t->runs[n]->flows);
		free(t->runs[n]);
	}
	free(t->runs);
	memset(t, 0, sizeof(*t));
}
