/* list.h - an array that grows. Inside the library only. */
#ifndef LIB_BASE_LIST_H
#define LIB_BASE_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct list {
	void *at;
	size_t n, room;
};

/* Room for one more of `size` octets at the end; NULL: no memory, all as before. */
static inline void *list_add(struct list *a, size_t size)
{
	size_t room = a->room * 2 + 64;
	void *more;

	if (a->n == a->room) {
		if ((more = realloc(a->at, room * size)) == NULL)
			return NULL;
		a->at = more;
		a->room = room;
	}
	return (uint8_t *)a->at + a->n++ * size;
}

/* `by` takes the place of `a`, unless it is the same octet for octet: then it is freed. True: it is
 * not the same. `by` is empty afterwards. */
static inline bool list_replace(struct list *a, struct list *by, size_t size)
{
	bool same = a->n == by->n && (a->n == 0 || memcmp(a->at, by->at, a->n * size) == 0);
	struct list old = *a;

	if (!same)
		*a = *by;
	free(same ? by->at : old.at);
	*by = (struct list){0};
	return !same;
}

static inline void list_sort(struct list *a, size_t size, int (*order)(const void *, const void *))
{
	if (a->n > 0)
		qsort(a->at, a->n, size, order);
}

#endif
