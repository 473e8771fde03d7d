/* own.c - the LSAs of this router. Spec: Fast CNP proxy 5.3; RFC 2328 12.4, 13.4, 14.1; RFC
 * 5340 4.4, RFC 8362 4. One prefix an E-LSA: a change touches no other. */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

enum { BODY_MAX = 1024, ROUTER_ID = 0, INTRA_ID = 1 };

/* What an LSA is to say. */
struct draft {
	uint16_t type;
	uint32_t id;
	uint8_t body[BODY_MAX];
	struct cw_wr w;
};

static void begin(struct draft *d, uint16_t type, uint32_t id)
{
	d->type = type;
	d->id = id;
	d->w = cw_wr_init(d->body, sizeof(d->body));
}

void ospf3_own_changed(struct cw_ospf3 *s, uint64_t now)
{
	s->own_ms = now;
}

/* ---- What is announced --------------------------------------------------------------------- */

static int by_prefix(const void *a, const void *b)
{
	const struct own_prefix *x = a, *y = b;

	if (x->p.kind != y->p.kind)
		return x->p.kind < y->p.kind ? -1 : 1;
	return memcmp(&x->p.prefix, &y->p.prefix, sizeof(x->p.prefix));
}

/* A prefix that was announced before keeps its link state ID. */
static void give_ids(struct cw_ospf3 *s, struct own_prefix *list, size_t n)
{
	const struct own_prefix *old;
	size_t i;

	for (i = 0; i < n; i++) {
		old = s->nprefix == 0
			      ? NULL
			      : bsearch(&list[i], s->prefix, s->nprefix, sizeof(*list), by_prefix);
		list[i].id = old != NULL ? old->id : s->next_id++;
	}
}

static bool can_announce(const struct cw_ospf3 *s, const struct cw_ospf3_prefix *p)
{
	return p->prefix.version == 6 && p->metric <= CW_OSPF3_INFINITY &&
	       (p->kind != CW_OSPF3_AS_EXTERNAL || s->c.area_type != CW_OSPF3_STUB);
}

int cw_ospf3_announce(struct cw_ospf3 *s, const struct cw_ospf3_prefix *prefix, size_t n,
		      uint64_t now)
{
	struct own_prefix *list;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!can_announce(s, &prefix[i]))
			return CW_E_ARG;
	}
	if ((list = calloc(n + 1, sizeof(*list))) == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < n; i++)
		list[i].p = prefix[i];
	qsort(list, n, sizeof(*list), by_prefix);
	give_ids(s, list, n);
	free(s->prefix);
	s->prefix = list;
	s->nprefix = n;
	ospf3_own_changed(s, now);
	return CW_OK;
}

/* ---- Bodies -------------------------------------------------------------------------------- */

static bool announces(const struct cw_ospf3 *s, enum cw_ospf3_kind kind)
{
	size_t i;

	for (i = 0; i < s->nprefix; i++) {
		if (s->prefix[i].p.kind == kind)
			return true;
	}
	return false;
}

/* RFC 5340 4.4.3.2: the link to the neighbour. */
static void put_router(struct cw_ospf3 *s, struct draft *d)
{
	uint8_t head[CW_SIZE_OSPF3_ROUTER] = {0}, link[CW_SIZE_OSPF3_EDGE] = {0};

	begin(d, CW_OSPF3_ROUTER, ROUTER_ID);
	cw_ospf3_router_set_options(head, ospf3_options(s, false));
	cw_ospf3_router_set_b(head, s->c.border || announces(s, CW_OSPF3_AS_INTER));
	cw_ospf3_router_set_e(head, announces(s, CW_OSPF3_AS_EXTERNAL));
	cw_wr_bytes(&d->w, head, sizeof(head));
	cw_ospf3_edge_set_type(link, CW_OSPF3_LINK_P2P);
	cw_ospf3_edge_set_metric(link, s->c.metric);
	cw_ospf3_edge_set_interface(link, s->c.interface);
	cw_ospf3_edge_set_remote(link, s->nbr.interface);
	cw_ospf3_edge_set_router(link, s->nbr.router);
	cw_wr_bytes(&d->w, link, sizeof(link));
}

/* RFC 5340 4.4.3.8. */
static void put_link(struct cw_ospf3 *s, struct draft *d)
{
	uint8_t head[CW_SIZE_OSPF3_LINK] = {0};

	begin(d, CW_OSPF3_LINK, s->c.interface);
	cw_ospf3_link_set_priority(head, 1);
	cw_ospf3_link_set_options(head, ospf3_options(s, false));
	cw_ospf3_link_set_address(head, s->c.address);
	cw_wr_bytes(&d->w, head, sizeof(head));
}

static void put_reference(struct cw_ospf3 *s, struct draft *d)
{
	uint8_t ref[CW_SIZE_OSPF3_REFERENCE] = {0};

	cw_ospf3_reference_set_type(ref, CW_OSPF3_ROUTER);
	cw_ospf3_reference_set_router(ref, s->c.router);
	cw_wr_bytes(&d->w, ref, sizeof(ref));
}

/* RFC 5340 4.4.3.9: the proxy's addresses, for routing; false: there is none. */
static bool put_intra(struct cw_ospf3 *s, struct draft *d)
{
	uint32_t n = 0;
	size_t i;

	begin(d, CW_OSPF3_INTRA, INTRA_ID);
	put_reference(s, d);
	for (i = 0; i < s->nprefix; i++) {
		const struct cw_ospf3_prefix *p = &s->prefix[i].p;
		uint8_t head[CW_SIZE_OSPF3_ADDRESS] = {0};

		if (!p->node)
			continue;
		cw_ospf3_address_set_plen(head, p->prefix.plen);
		cw_ospf3_address_set_options(head, CW_OSPF3_PREFIX_LA);
		cw_ospf3_address_set_metric(head, p->metric < UINT16_MAX ? p->metric : UINT16_MAX);
		cw_wr_bytes(&d->w, head, sizeof(head));
		cw_wr_bytes(&d->w, p->prefix.addr, (p->prefix.plen + 31u) / 32 * 4);
		n++;
	}
	cw_ospf3_reference_set_prefixes(d->body, n);
	return n > 0;
}

/* RFC 8362 4: with the P flag. */
static void put_flagged(struct cw_ospf3 *s, struct draft *d, const struct own_prefix *o)
{
	static const uint16_t types[] = {CW_OSPF3_E_INTRA, CW_OSPF3_E_INTER, CW_OSPF3_E_EXTERNAL};
	struct cw_pnc_prefix p = {.prefix = o->p.prefix, .metric = o->p.metric, .pnc = true};
	uint16_t type = types[o->p.kind];

	if (o->p.kind == CW_OSPF3_AS_EXTERNAL && s->c.area_type == CW_OSPF3_NSSA)
		type = CW_OSPF3_E_NSSA;
	p.node = o->p.node;
	p.options = o->p.node ? CW_OSPF3_PREFIX_LA : CW_OSPF3_PREFIX_NU;
	begin(d, type, o->id);
	if (type == CW_OSPF3_E_INTRA)
		put_reference(s, d);
	cw_ospf3_prefix_put(&d->w, &s->c.codes, type, &p);
}

/* RFC 5340 4.4.3.4, RFC 8362 4.3: of another area. */
static void put_summary(struct draft *d, const struct summary *from)
{
	begin(d, CW_OSPF3_E_INTER, from->id);
	cw_wr_bytes(&d->w, from->tlv, from->len);
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void flush(struct cw_ospf3 *s, struct lsa *p, uint64_t now)
{
	cw_ospf3_lsa_set_age(p->at, CW_OSPF3_MAX_AGE); /* not in the checksum */
	p->stored_ms = now;
	s->n.taken_back++;
	ospf3_lsa_owe(p, now);
}

static void write_lsa(struct cw_ospf3 *s, const struct draft *d, uint32_t sequence, uint64_t now)
{
	uint8_t lsa[CW_SIZE_OSPF3_LSA + BODY_MAX] = {0};
	size_t body = (size_t)(d->w.p - d->body), len = CW_SIZE_OSPF3_LSA + body;
	struct lsa *p;

	cw_ospf3_lsa_set_type(lsa, d->type);
	cw_ospf3_lsa_set_id(lsa, d->id);
	cw_ospf3_lsa_set_router(lsa, s->c.router);
	cw_ospf3_lsa_set_sequence(lsa, sequence);
	cw_ospf3_lsa_set_length(lsa, (uint32_t)len);
	memcpy(lsa + CW_SIZE_OSPF3_LSA, d->body, body);
	cw_ospf3_lsa_set_checksum(lsa, cw_fletcher(lsa + 2, len - 2, 14));
	if ((p = ospf3_lsa_store(s, lsa, len, now)) == NULL)
		return;
	p->renew = false;
	p->wanted = true;
	p->written_ms = now;
	s->n.originated++;
	ospf3_lsa_owe(p, now);
	ospf3_changed(s, now);
}

/* When it is to be written again; 0: now. */
static uint64_t is_due(const struct cw_ospf3 *s, const struct lsa *p, const struct draft *d,
		       uint64_t now)
{
	size_t len = (size_t)(d->w.p - d->body);
	uint64_t age = ospf3_lsa_age(p, now);

	if (p->written_ms == 0)
		return 0;
	if (p->renew || age == CW_OSPF3_MAX_AGE)
		return now >= p->written_ms + OWN_GAP_MS ? 0 : p->written_ms + OWN_GAP_MS;
	if (p->len == CW_SIZE_OSPF3_LSA + len &&
	    memcmp(p->at + CW_SIZE_OSPF3_LSA, d->body, len) == 0)
		return age >= s->c.refresh_s ? 0 : now + (s->c.refresh_s - age) * 1000;
	return now >= p->written_ms + MIN_INTERVAL_MS ? 0 : p->written_ms + MIN_INTERVAL_MS;
}

/* RFC 2328 12.1.6: after the last number it is flushed, and begins anew once that is done. */
static void renew(struct cw_ospf3 *s, struct lsa *p, const struct draft *d, uint64_t now)
{
	uint32_t sequence = cw_ospf3_lsa_sequence(p->at);

	if (sequence != SEQUENCE_LAST) {
		write_lsa(s, d, sequence + 1, now);
	} else if (ospf3_lsa_age(p, now) < CW_OSPF3_MAX_AGE) {
		s->n.wrapped++;
		p->renew = false;
		flush(s, p, now);
	}
}

static void want(struct cw_ospf3 *s, const struct draft *d, uint64_t now)
{
	uint8_t key[KEY];
	uint64_t due;
	struct lsa *p;

	if (d->w.err != CW_OK)
		return;
	memcpy(key, s->c.router, 4);
	cw_put_be16(key + 4, d->type);
	cw_put_be32(key + 6, d->id);
	if ((p = ospf3_lsa_find(s, key)) == NULL) {
		write_lsa(s, d, SEQUENCE_FIRST + s->c.first, now);
		return;
	}
	p->wanted = true;
	if ((due = is_due(s, p, d, now)) == 0)
		renew(s, p, d, now);
	else
		s->own_ms = ospf3_sooner(s->own_ms, due);
}

static void want_all(struct cw_ospf3 *s, uint64_t now)
{
	struct draft d;
	size_t i;

	put_router(s, &d);
	want(s, &d, now);
	put_link(s, &d);
	want(s, &d, now);
	if (put_intra(s, &d))
		want(s, &d, now);
	for (i = 0; i < s->nprefix; i++) {
		put_flagged(s, &d, &s->prefix[i]);
		want(s, &d, now);
	}
	for (i = 0; i < s->nsummary; i++) {
		put_summary(&d, &s->summary[i]);
		want(s, &d, now);
	}
}

/* Not within MinLSArrival: the neighbour would not take it. */
static void drop(struct cw_ospf3 *s, struct lsa *p, uint64_t now)
{
	if (s->stopping || p->written_ms == 0 || now >= p->written_ms + OWN_GAP_MS)
		flush(s, p, now);
	else
		s->own_ms = ospf3_sooner(s->own_ms, p->written_ms + OWN_GAP_MS);
}

void ospf3_own_tick(struct cw_ospf3 *s, uint64_t now)
{
	size_t i;

	s->own_ms = UINT64_MAX;
	if (s->nbr.state != CW_OSPF3_FULL)
		return; /* there is nobody to tell */
	for (i = 0; i < s->lsas; i++)
		s->lsa[i]->wanted = false;
	if (!s->stopping)
		want_all(s, now);
	for (i = 0; i < s->lsas; i++) {
		struct lsa *p = s->lsa[i];

		if (p->own && !p->wanted && ospf3_lsa_age(p, now) < CW_OSPF3_MAX_AGE)
			drop(s, p, now);
	}
}
