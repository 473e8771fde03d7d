/* lsdb.c - the database of one level: LSPs by ID, their age. Spec: ISO 10589 7.3.15, 7.3.16. */
#include <stdlib.h>
#include "lib/isis/internal.h"

/* Where an ID is, or belongs. */
static size_t place(const struct level *l, const uint8_t *id)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(l->lsp[middle]->id, id, CW_ISIS_LSP_ID) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct lsp *isis_lsp_find(const struct level *l, const uint8_t *id)
{
	size_t at = place(l, id);

	if (at == l->n || memcmp(l->lsp[at]->id, id, CW_ISIS_LSP_ID) != 0)
		return NULL;
	return l->lsp[at];
}

static bool make_room(struct cw_isis *s, struct level *l)
{
	size_t room = l->room * 2 + 64;
	struct lsp **more;

	if (l->n >= s->c.lsps)
		return false;
	if (l->n < l->room)
		return true;
	if ((more = realloc(l->lsp, room * sizeof(struct lsp *))) == NULL)
		return false;
	l->lsp = more;
	l->room = room;
	return true;
}

struct lsp *isis_lsp_add(struct cw_isis *s, struct level *l, const uint8_t *id)
{
	size_t at = place(l, id);
	struct lsp *p;

	if (!make_room(s, l) || (p = calloc(1, sizeof(*p))) == NULL) {
		s->n.full++;
		return NULL;
	}
	memcpy(p->id, id, CW_ISIS_LSP_ID);
	p->own = isis_is_own(s, id);
	p->dist[0] = p->dist[1] = FAR;
	memmove(l->lsp + at + 1, l->lsp + at, (l->n - at) * sizeof(struct lsp *));
	l->lsp[at] = p;
	l->n++;
	return p;
}

void isis_lsp_remove(struct level *l, struct lsp *p)
{
	size_t at = place(l, p->id);

	l->n--;
	memmove(l->lsp + at, l->lsp + at + 1, (l->n - at) * sizeof(struct lsp *));
	free(p->pdu);
	free(p);
}

void isis_lsdb_free(struct level *l)
{
	while (l->n > 0)
		isis_lsp_remove(l, l->lsp[l->n - 1]);
	free(l->lsp);
	free(l->leaked.at);
}

void isis_lsp_send(struct lsp *p, uint64_t at)
{
	p->srm = true;
	p->srm_ms = at;
	p->ssn = false;
}

bool isis_lsp_store(struct lsp *p, const uint8_t *pdu, size_t len, uint64_t now)
{
	uint8_t *copy = malloc(len);

	if (copy == NULL)
		return false;
	memcpy(copy, pdu, len);
	free(p->pdu);
	p->pdu = copy;
	p->len = len;
	p->sequence = cw_isis_lsp_sequence(pdu);
	p->checksum = (uint16_t)cw_isis_lsp_checksum(pdu);
	p->purged = cw_isis_lsp_lifetime(pdu) == 0;
	p->expires_ms = now + (p->purged ? ZERO_AGE_MS : cw_isis_lsp_lifetime(pdu) * 1000ull);
	return true;
}

uint16_t isis_lsp_lifetime(const struct lsp *p, uint64_t now)
{
	if (p->purged || p->len == 0 || now >= p->expires_ms)
		return 0;
	return (uint16_t)((p->expires_ms - now + 999) / 1000);
}

/* Its time is over: a live one of another system was not refreshed; purges and questions end so. */
static void expire(struct cw_isis *s, struct level *l, struct lsp *p, uint64_t now)
{
	bool live = !p->purged && p->sequence != 0;

	if (live && !p->own)
		s->n.aged_out++;
	if (live)
		isis_changed(s, now);
	if (p->own)
		isis_own_changed(s, l, now);
	isis_lsp_remove(l, p);
}

/* A question that was not answered is asked again. */
static void ask_again(struct lsp *p, uint64_t now)
{
	if (p->sequence != 0 || p->ssn || now < p->srm_ms)
		return;
	p->ssn = true;
	p->srm_ms = now + RETRANSMIT_MS;
}

uint64_t isis_lsdb_tick(struct cw_isis *s, struct level *l, uint64_t now)
{
	uint64_t due = UINT64_MAX;
	size_t i = 0;

	while (i < l->n) {
		struct lsp *p = l->lsp[i];

		if (now >= p->expires_ms) {
			expire(s, l, p, now);
			continue;
		}
		due = isis_sooner(due, p->expires_ms);
		ask_again(p, now);
		if (l->adjacent && (p->srm || p->sequence == 0))
			due = isis_sooner(due, p->srm_ms);
		i++;
	}
	return due;
}
