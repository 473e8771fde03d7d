/* map.c - the hash table of contexts and messages. */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

static uint32_t slot_of(const struct uet_map *m, uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	key ^= key >> 32;
	return (uint32_t)(key * 0xd6e8feb86659fd93u >> 32) & m->mask;
}

int uet_map_init(struct uet_map *m, uint32_t size)
{
	m->slots = calloc(size, sizeof(struct uet_node *));
	m->mask = size - 1;
	m->count = 0;
	return m->slots != NULL ? CW_OK : CW_E_NOMEM;
}

struct uet_node *uet_map_find(const struct uet_map *m, uint64_t key)
{
	struct uet_node *n = m->slots[slot_of(m, key)];

	while (n != NULL && n->key != key)
		n = n->next;
	return n;
}

/* Without memory for a larger table the old one goes on, with longer chains. */
static void grow(struct uet_map *m)
{
	struct uet_map big;
	struct uet_node *n, *next;
	uint32_t i, k;

	if (m->mask >= 1u << 30 || uet_map_init(&big, 2 * (m->mask + 1)) < 0)
		return;
	for (i = 0; i <= m->mask; i++) {
		for (n = m->slots[i]; n != NULL; n = next) {
			next = n->next;
			k = slot_of(&big, n->key);
			n->next = big.slots[k];
			big.slots[k] = n;
		}
	}
	big.count = m->count;
	free(m->slots);
	*m = big;
}

void uet_map_add(struct uet_map *m, struct uet_node *n)
{
	uint32_t i;

	if (m->count > m->mask)
		grow(m);
	i = slot_of(m, n->key);
	n->next = m->slots[i];
	m->slots[i] = n;
	m->count++;
}

void uet_map_del(struct uet_map *m, struct uet_node *n)
{
	struct uet_node **at = &m->slots[slot_of(m, n->key)];

	while (*at != NULL && *at != n)
		at = &(*at)->next;
	if (*at == n) {
		*at = n->next;
		m->count--;
	}
}
