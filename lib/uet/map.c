/* map.c - the hash table of contexts and messages: open addressing, linear probing, at most half
 * full. An entry is 16 octets, so a look-up takes one cache line however many there are. */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

static uint32_t home_of(const struct uet_map *m, uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	key ^= key >> 32;
	return (uint32_t)(key * 0xd6e8feb86659fd93u >> 32) & m->mask;
}

int uet_map_init(struct uet_map *m, uint32_t size)
{
	m->slots = calloc(size, sizeof(*m->slots));
	m->mask = size - 1;
	m->count = 0;
	return m->slots != NULL ? CW_OK : CW_E_NOMEM;
}

/* Where the key is, or the empty slot where it would be. */
static struct uet_slot *place_of(const struct uet_map *m, uint64_t key)
{
	uint32_t i = home_of(m, key);

	while (m->slots[i].value != NULL && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

void *uet_map_find(const struct uet_map *m, uint64_t key)
{
	return place_of(m, key)->value;
}

void uet_map_prefetch(const struct uet_map *m, uint64_t key)
{
	__builtin_prefetch(&m->slots[home_of(m, key)]);
}

static int grow(struct uet_map *m)
{
	struct uet_map big;
	uint32_t i;

	if (m->mask >= 1u << 30 || uet_map_init(&big, 2 * (m->mask + 1)) < 0)
		return CW_E_NOMEM;
	for (i = 0; i <= m->mask; i++) {
		if (m->slots[i].value != NULL)
			*place_of(&big, m->slots[i].key) = m->slots[i];
	}
	big.count = m->count;
	free(m->slots);
	*m = big;
	return CW_OK;
}

int uet_map_add(struct uet_map *m, uint64_t key, void *value)
{
	if (2 * (m->count + 1) > m->mask && grow(m) < 0)
		return CW_E_NOMEM;
	*place_of(m, key) = (struct uet_slot){key, value};
	m->count++;
	return CW_OK;
}

/* Entries behind the gap that may stand in it move up, so that probing ends at an empty slot. */
void uet_map_del(struct uet_map *m, uint64_t key)
{
	struct uet_slot *gap = place_of(m, key);
	uint32_t at = (uint32_t)(gap - m->slots), i = at;

	if (gap->value == NULL)
		return;
	for (;;) {
		i = (i + 1) & m->mask;
		if (m->slots[i].value == NULL)
			break;
		if (((i - home_of(m, m->slots[i].key)) & m->mask) < ((i - at) & m->mask))
			continue;
		m->slots[at] = m->slots[i];
		at = i;
	}
	m->slots[at].value = NULL;
	m->count--;
}
