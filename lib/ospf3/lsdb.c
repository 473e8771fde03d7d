/* lsdb.c - the database: LSAs by router, type and ID, and their age. Spec: RFC 2328 12.2, 14. */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

void ospf3_key(uint8_t key[KEY], const uint8_t *lsa)
{
	memcpy(key, cw_ospf3_lsa_router(lsa), 4);
	memcpy(key + 4, lsa + 2, 6);
}

uint16_t ospf3_lsa_type(const struct lsa *p)
{
	return cw_be16(p->key + 4);
}

/* Where a key is, or belongs. */
static size_t place(const struct cw_ospf3 *s, const uint8_t key[KEY])
{
	size_t low = 0, high = s->lsas;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(s->lsa[middle]->key, key, KEY) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct lsa *ospf3_lsa_find(const struct cw_ospf3 *s, const uint8_t key[KEY])
{
	size_t at = place(s, key);

	if (at == s->lsas || memcmp(s->lsa[at]->key, key, KEY) != 0)
		return NULL;
	return s->lsa[at];
}

static bool make_room(struct cw_ospf3 *s)
{
	size_t room = s->room * 2 + 64;
	struct lsa **more;

	if (s->lsas >= s->c.lsas)
		return false;
	if (s->lsas < s->room)
		return true;
	if ((more = realloc(s->lsa, room * sizeof(struct lsa *))) == NULL)
		return false;
	s->lsa = more;
	s->room = room;
	return true;
}

static struct lsa *add(struct cw_ospf3 *s, const uint8_t key[KEY])
{
	size_t at = place(s, key);
	struct lsa *p;

	if (!make_room(s) || (p = calloc(1, sizeof(*p))) == NULL)
		return NULL;
	memcpy(p->key, key, KEY);
	p->own = memcmp(key, s->c.router, 4) == 0;
	p->dist = FAR;
	memmove(s->lsa + at + 1, s->lsa + at, (s->lsas - at) * sizeof(struct lsa *));
	s->lsa[at] = p;
	s->lsas++;
	return p;
}

static void remove_lsa(struct cw_ospf3 *s, struct lsa *p)
{
	size_t at = place(s, p->key);

	memmove(s->lsa + at, s->lsa + at + 1, (s->lsas - at - 1) * sizeof(struct lsa *));
	s->lsas--;
	free(p->at);
	free(p);
}

/* A copy of an LSA, in place of an older one. NULL: the database is full, or no memory; what was
 * there before stays. */
struct lsa *ospf3_lsa_store(struct cw_ospf3 *s, const uint8_t *lsa, size_t len, uint64_t now)
{
	uint8_t key[KEY], *copy = malloc(len);
	struct lsa *p;

	ospf3_key(key, lsa);
	if (copy == NULL || ((p = ospf3_lsa_find(s, key)) == NULL && (p = add(s, key)) == NULL)) {
		s->n.full++;
		free(copy);
		return NULL;
	}
	memcpy(copy, lsa, len);
	free(p->at);
	p->at = copy;
	p->len = len;
	p->stored_ms = now;
	p->owed = p->send = p->listed = false;
	return p;
}

uint16_t ospf3_lsa_age(const struct lsa *p, uint64_t now)
{
	uint64_t age = cw_ospf3_lsa_age(p->at) + (now - p->stored_ms) / 1000;

	return age < CW_OSPF3_MAX_AGE ? (uint16_t)age : CW_OSPF3_MAX_AGE;
}

void ospf3_lsa_owe(struct lsa *p, uint64_t now)
{
	p->owed = true;
	p->owed_ms = now;
}

void ospf3_lsdb_forget(struct cw_ospf3 *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->lsas; i++) {
		struct lsa *p = s->lsa[i];

		p->owed = p->send = p->listed = false;
		if (p->own) {
			s->lsa[kept++] = p;
			continue;
		}
		free(p->at);
		free(p);
	}
	s->lsas = kept;
}

void ospf3_lsdb_free(struct cw_ospf3 *s)
{
	size_t i;

	for (i = 0; i < s->lsas; i++) {
		free(s->lsa[i]->at);
		free(s->lsa[i]);
	}
	free(s->lsa);
}

/* RFC 2328 14: an LSA of MaxAge goes once it is acknowledged, and no exchange is under way. */
static bool is_over(const struct cw_ospf3 *s, const struct lsa *p, uint64_t now)
{
	return !p->owed && s->nbr.state != CW_OSPF3_EXCHANGE && s->nbr.state != CW_OSPF3_LOADING &&
	       ospf3_lsa_age(p, now) == CW_OSPF3_MAX_AGE;
}

/* Removes what is over. Returns when the next LSA of another router reaches MaxAge. */
uint64_t ospf3_lsdb_tick(struct cw_ospf3 *s, uint64_t now)
{
	uint64_t due = UINT64_MAX;
	size_t i = 0;

	while (i < s->lsas) {
		struct lsa *p = s->lsa[i];
		uint16_t age = ospf3_lsa_age(p, now);

		if (is_over(s, p, now)) {
			if (p->own)
				ospf3_own_changed(s, now);
			else if (cw_ospf3_lsa_age(p->at) != CW_OSPF3_MAX_AGE)
				s->n.aged_out++;
			remove_lsa(s, p);
			ospf3_changed(s, now);
			continue;
		}
		if (!p->own && age < CW_OSPF3_MAX_AGE)
			due = ospf3_sooner(due, now + (CW_OSPF3_MAX_AGE - age) * 1000u);
		i++;
	}
	return due;
}
