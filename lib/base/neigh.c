/* neigh.c - next-hop resolution. See neigh.h. */
#include <stdlib.h>
#include <string.h>
#include "causeway/neigh.h"

#define NONE UINT32_MAX

struct entry {
	struct cw_neigh_key key;
	enum cw_neigh_state state;
	uint8_t mac[6];
	bool live, used, ask; /* ask: a request is owed */
	uint32_t tries;
	uint32_t next; /* of the bucket, or of the free list */
	uint64_t since, due;
};

struct cw_neigh {
	struct cw_neigh_limits l;
	struct entry *e;
	uint32_t *bucket, mask, free, cursor;
	bool changed;
};

const char *cw_neigh_state_name(enum cw_neigh_state s)
{
	static const char *const names[] = {"incomplete", "reachable", "probe", "failed", "static"};

	return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "unknown";
}

static uint32_t hash(const struct cw_neigh_key *k)
{
	const uint8_t *p = (const uint8_t *)k;
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < sizeof(*k); i++)
		h = (h ^ p[i]) * 16777619u;
	return h ^ h >> 15;
}

int cw_neigh_new(struct cw_neigh **out, const struct cw_neigh_limits *l)
{
	struct cw_neigh *n = calloc(1, sizeof(*n));
	uint32_t i, buckets = 1;

	if (n == NULL)
		return CW_E_NOMEM;
	n->l = *l;
	while (buckets < l->entries)
		buckets *= 2;
	n->mask = buckets - 1;
	n->e = calloc(l->entries, sizeof(*n->e));
	n->bucket = malloc(buckets * sizeof(*n->bucket));
	if (n->e == NULL || n->bucket == NULL) {
		cw_neigh_free(n);
		return CW_E_NOMEM;
	}
	memset(n->bucket, 0xff, buckets * sizeof(*n->bucket));
	for (i = 0; i < l->entries; i++)
		n->e[i].next = i + 1 < l->entries ? i + 1 : NONE;
	*out = n;
	return CW_OK;
}

void cw_neigh_free(struct cw_neigh *n)
{
	if (n == NULL)
		return;
	free(n->e);
	free(n->bucket);
	free(n);
}

static struct entry *find(const struct cw_neigh *n, const struct cw_neigh_key *key)
{
	uint32_t i;

	for (i = n->bucket[hash(key) & n->mask]; i != NONE; i = n->e[i].next) {
		if (memcmp(&n->e[i].key, key, sizeof(*key)) == 0)
			return &n->e[i];
	}
	return NULL;
}

static struct entry *add(struct cw_neigh *n, const struct cw_neigh_key *key)
{
	uint32_t b = hash(key) & n->mask, i = n->free;
	struct entry *e;

	if (i == NONE)
		return NULL;
	e = &n->e[i];
	n->free = e->next;
	*e = (struct entry){.key = *key, .live = true, .next = n->bucket[b], .due = UINT64_MAX};
	n->bucket[b] = i;
	return e;
}

/* What users of the table see of a state: nothing, an address, a failure. */
static unsigned face(enum cw_neigh_state s)
{
	return s == CW_NEIGH_FAILED ? 2 : cw_neigh_usable(s);
}

static void drop_entry(struct cw_neigh *n, struct entry *e)
{
	uint32_t i = (uint32_t)(e - n->e), *at = &n->bucket[hash(&e->key) & n->mask];

	n->changed |= face(e->state) != 0;
	while (*at != i)
		at = &n->e[*at].next;
	*at = e->next;
	memset(e, 0, sizeof(*e));
	e->next = n->free;
	n->free = i;
}

static void set_state(struct cw_neigh *n, struct entry *e, enum cw_neigh_state s, uint64_t now)
{
	n->changed |= face(s) != face(e->state);
	e->state = s;
	e->since = now;
	e->tries = 0;
	e->ask = false;
	e->used = false;
	e->due = s == CW_NEIGH_REACHABLE ? now + n->l.reachable_ms
		 : s == CW_NEIGH_FAILED  ? now + n->l.failed_ms
					 : UINT64_MAX;
}

/* A question is owed now, and the next one after the retry time. */
static void ask(struct cw_neigh *n, struct entry *e, uint64_t now)
{
	e->ask = true;
	e->tries++;
	e->due = now + n->l.retry_ms;
}

static struct entry *add_incomplete(struct cw_neigh *n, const struct cw_neigh_key *key,
				    uint64_t now)
{
	struct entry *e = add(n, key);

	if (e == NULL)
		return NULL;
	set_state(n, e, CW_NEIGH_INCOMPLETE, now);
	ask(n, e, now);
	return e;
}

int cw_neigh_want(struct cw_neigh *n, const struct cw_neigh_key *key, uint64_t now)
{
	return find(n, key) != NULL || add_incomplete(n, key, now) != NULL ? CW_OK : CW_E_SPACE;
}

bool cw_neigh_learn(struct cw_neigh *n, const struct cw_neigh_key *key, const uint8_t mac[6],
		    uint64_t now)
{
	struct entry *e = find(n, key);

	if (e == NULL)
		return false;
	if (e->state == CW_NEIGH_STATIC)
		return true;
	n->changed |= memcmp(e->mac, mac, 6) != 0;
	memcpy(e->mac, mac, 6);
	set_state(n, e, CW_NEIGH_REACHABLE, now);
	return true;
}

int cw_neigh_set_static(struct cw_neigh *n, const struct cw_neigh_key *key, const uint8_t mac[6],
			uint64_t now)
{
	struct entry *e = find(n, key);

	if (e == NULL && (e = add(n, key)) == NULL)
		return CW_E_SPACE;
	memcpy(e->mac, mac, 6);
	set_state(n, e, CW_NEIGH_STATIC, now);
	n->changed = true;
	return CW_OK;
}

void cw_neigh_clear_static(struct cw_neigh *n)
{
	uint32_t i;

	for (i = 0; i < n->l.entries; i++) {
		if (n->e[i].live && n->e[i].state == CW_NEIGH_STATIC)
			drop_entry(n, &n->e[i]);
	}
}

void cw_neigh_used(struct cw_neigh *n, const struct cw_neigh_key *key)
{
	struct entry *e = find(n, key);

	if (e != NULL)
		e->used = true;
}

void cw_neigh_forget_port(struct cw_neigh *n, uint16_t port)
{
	uint32_t i;

	for (i = 0; i < n->l.entries; i++) {
		if (n->e[i].live && n->e[i].key.port == port)
			drop_entry(n, &n->e[i]);
	}
}

/* An entry's timer ran out. */
static void expire(struct cw_neigh *n, struct entry *e, uint64_t now)
{
	switch (e->state) {
	case CW_NEIGH_REACHABLE:
		if (!e->used) {
			drop_entry(n, e);
			return;
		}
		set_state(n, e, CW_NEIGH_PROBE, now);
		ask(n, e, now);
		return;
	case CW_NEIGH_INCOMPLETE:
	case CW_NEIGH_PROBE:
		if (e->tries < n->l.retries)
			ask(n, e, now);
		else
			set_state(n, e, CW_NEIGH_FAILED, now);
		return;
	case CW_NEIGH_FAILED:
	case CW_NEIGH_STATIC:
		drop_entry(n, e);
		return;
	}
}

uint64_t cw_neigh_tick(struct cw_neigh *n, uint64_t now)
{
	uint64_t next = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < n->l.entries; i++) {
		if (n->e[i].live && n->e[i].due <= now)
			expire(n, &n->e[i], now);
		if (n->e[i].live && n->e[i].due < next)
			next = n->e[i].due;
	}
	return next;
}

bool cw_neigh_next(struct cw_neigh *n, struct cw_neigh_event *ev)
{
	struct entry *e;
	uint32_t i;

	memset(ev, 0, sizeof(*ev));
	if (n->changed) {
		n->changed = false;
		ev->what = CW_NEIGH_CHANGED;
		return true;
	}
	for (i = 0; i < n->l.entries; i++, n->cursor = (n->cursor + 1) % n->l.entries) {
		e = &n->e[n->cursor];
		if (!e->live || !e->ask)
			continue;
		e->ask = false;
		ev->what = CW_NEIGH_REQUEST;
		ev->key = e->key;
		ev->unicast = e->state == CW_NEIGH_PROBE;
		memcpy(ev->mac, e->mac, sizeof(ev->mac));
		return true;
	}
	return false;
}

bool cw_neigh_walk(const struct cw_neigh *n, uint32_t *at, struct cw_neigh_info *info)
{
	const struct entry *e;

	while (*at < n->l.entries) {
		e = &n->e[(*at)++];
		if (!e->live)
			continue;
		*info = (struct cw_neigh_info){
			.key = e->key, .state = e->state, .since_ms = e->since};
		memcpy(info->mac, e->mac, sizeof(info->mac));
		return true;
	}
	return false;
}
