/* pool.c - memory of inbound messages.
 *
 * With many messages open, packets wait for their states to come from memory, and for the address
 * translation of the pages that these lie on. So the states lie close together, in blocks of 2 MiB
 * at such addresses: one huge page each where the system gives them, by itself or because
 * the caller asks for them (memory in struct cw_uet_settings).
 */
#include <stdlib.h>
#include "lib/uet/uet_int.h"

enum { HUGE_PAGE = 1 << 21 };

/* Pages that nothing was written to are not there yet, so an engine with few messages is small. */
static void *new_block(const struct uet_pool *p, size_t octets)
{
	size_t whole = (octets + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *block = aligned_alloc(HUGE_PAGE, whole);

	if (block != NULL && p->memory != NULL)
		p->memory(block, whole);
	return block;
}

static int more(struct uet_pool *p)
{
	uint32_t n = p->nblocks;
	struct uet_rx **rx = realloc(p->rx, (n + 1) * sizeof(void *));
	struct uet_rx_rest **rest;

	if (rx == NULL)
		return CW_E_NOMEM;
	p->rx = rx;
	if ((rest = realloc(p->rest, (n + 1) * sizeof(void *))) == NULL)
		return CW_E_NOMEM;
	p->rest = rest;
	rx[n] = new_block(p, UET_BLOCK * sizeof(**rx));
	rest[n] = new_block(p, UET_BLOCK * sizeof(**rest));
	if (rx[n] != NULL && rest[n] != NULL) {
		p->nblocks++;
		return CW_OK;
	}
	free(rx[n]);
	free(rest[n]);
	return CW_E_NOMEM;
}

static struct uet_rx_rest *take(struct uet_pool *p)
{
	struct uet_rx_rest *r = p->free;
	uint32_t n = p->used;

	if (r != NULL) {
		p->free = r->next_free;
		return r;
	}
	if (n == p->nblocks * UET_BLOCK && (n > UINT32_MAX / 2 || more(p) < 0))
		return NULL;
	p->used++;
	r = &p->rest[n / UET_BLOCK][n % UET_BLOCK];
	r->number = n;
	return r;
}

struct uet_rx *uet_pool_get(struct uet_pool *p)
{
	struct uet_rx_rest *r = take(p);
	struct uet_rx *m;

	if (r == NULL)
		return NULL;
	m = uet_pool_at(p, r->number);
	memset(m, 0, sizeof(*m));
	*r = (struct uet_rx_rest){.rx = m, .number = r->number};
	m->rest = r;
	uet_link_init(&r->age);
	return m;
}

void uet_pool_put(struct uet_pool *p, struct uet_rx *m)
{
	m->rest->next_free = p->free;
	p->free = m->rest;
}

void uet_pool_free(struct uet_pool *p)
{
	while (p->nblocks-- > 0) {
		free(p->rx[p->nblocks]);
		free(p->rest[p->nblocks]);
	}
	free(p->rx);
	free(p->rest);
}
