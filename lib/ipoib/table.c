/* table.c - tables of bounded size. */
#include <stdlib.h>
#include <string.h>
#include "lib/ipoib/internal.h"

static struct item *item_at(const struct table *t, uint32_t i)
{
	return (struct item *)(void *)(t->mem + (size_t)i * t->stride);
}

static uint32_t bucket_of(const struct table *t, const uint8_t key[KEY_LEN])
{
	uint32_t h = 0x811c9dc5;
	unsigned i;

	for (i = 0; i < KEY_LEN; i++)
		h = (h ^ key[i]) * 0x01000193u;
	return (h ^ h >> 15) & t->mask;
}

bool table_init(struct table *t, uint32_t size, uint32_t stride)
{
	uint32_t buckets = 16;

	while (buckets < size && buckets < 1u << 20)
		buckets *= 2;
	t->mem = calloc(size, stride);
	t->buckets = calloc(buckets, sizeof(*t->buckets));
	t->size = size;
	t->stride = stride;
	t->mask = buckets - 1;
	return t->mem != NULL && t->buckets != NULL;
}

void table_free(struct table *t)
{
	free(t->mem);
	free(t->buckets);
}

void *table_find(const struct table *t, const uint8_t key[KEY_LEN])
{
	uint32_t i = t->buckets[bucket_of(t, key)];

	while (i != NONE && memcmp(item_at(t, i - 1)->key, key, KEY_LEN) != 0)
		i = item_at(t, i - 1)->next;
	return i == NONE ? NULL : item_at(t, i - 1);
}

void *table_add(struct table *t, const uint8_t key[KEY_LEN])
{
	uint32_t *bucket = &t->buckets[bucket_of(t, key)], i;
	struct item *it;

	if (t->count == t->size)
		return NULL;
	for (i = 0; item_at(t, i)->used; i++)
		;
	it = item_at(t, i);
	memset(it, 0, t->stride);
	memcpy(it->key, key, KEY_LEN);
	it->used = true;
	it->next = *bucket;
	*bucket = i + 1;
	t->count++;
	return it;
}

void table_remove(struct table *t, struct item *it)
{
	uint32_t *at = &t->buckets[bucket_of(t, it->key)];

	while (item_at(t, *at - 1) != it)
		at = &item_at(t, *at - 1)->next;
	*at = it->next;
	it->used = false;
	t->count--;
}

void *table_at(const struct table *t, uint32_t i)
{
	return i < t->size && item_at(t, i)->used ? item_at(t, i) : NULL;
}
