/* own.c - own LSPs: content, fragments, sequence numbers, purges.
 * Spec: ISO 10589 7.3.7 to 7.3.12 and 7.3.16.1; RFC 5305, 5308, 5120, 5301, 6119, 6232. */
#include <stdlib.h>
#include "lib/isis/internal.h"

enum { TOPOLOGY6 = 2 };

/* An LSP being written, TLV by TLV. A fragment that is full is published, and the next one begun.
 */
struct draft {
	struct cw_isis *s;
	struct level *l;
	uint64_t now;
	unsigned fragment;
	uint8_t buf[CW_ISIS_LSP_MAX];
	struct cw_wr w;
	uint8_t *open; /* the length of the TLV that takes further entries */
	uint8_t open_type;
	bool failed; /* no room or no memory for what else there is */
};

static const struct cw_isis_auth *auth_of(const struct draft *d)
{
	return &d->s->c.auth[d->l->number - 1];
}

static size_t head_size(const struct draft *d)
{
	return CW_SIZE_ISIS_LSP + isis_auth_size(auth_of(d));
}

/* ---- When ---------------------------------------------------------------------------------- */

void isis_own_changed(struct cw_isis *s, struct level *l, uint64_t now)
{
	uint64_t at = l->own_last_ms == 0 ? now : l->own_last_ms + GENERATE_MS;

	if (l->used)
		l->own_ms = isis_sooner(l->own_ms, s->stopping || at < now ? now : at);
}

/* ISO 10589 7.3.16.1: the network holds an LSP of ours that isn't, or no longer is. */
void isis_own_heard(struct cw_isis *s, struct level *l, const uint8_t *id, uint32_t sequence,
		    uint64_t now)
{
	struct lsp *p = isis_lsp_find(l, id);

	if (p == NULL && (p = isis_lsp_add(s, l, id)) == NULL)
		return;
	s->n.outdone++;
	if (sequence >= p->sequence) {
		p->sequence = sequence;
		p->renew = true;
		p->srm = false;
		p->ssn = false;
		if (p->len == 0)
			p->expires_ms = UINT64_MAX;
	}
	isis_own_changed(s, l, now);
}

/* ---- Publishing ---------------------------------------------------------------------------- */

/* Header, authentication, checksum around the content that lies in `pdu`. */
static bool publish(struct draft *d, struct lsp *p, uint8_t *pdu, size_t len, uint32_t lifetime)
{
	const struct cw_isis *s = d->s;
	struct cw_wr w = cw_wr_init(pdu + CW_SIZE_ISIS_LSP, len - CW_SIZE_ISIS_LSP);

	memset(pdu, 0, CW_SIZE_ISIS_LSP);
	cw_isis_head_put(pdu, d->l->number == 1 ? CW_ISIS_LSP_L1 : CW_ISIS_LSP_L2);
	cw_isis_lsp_set_length(pdu, (uint32_t)len);
	cw_isis_lsp_set_id(pdu, p->id);
	cw_isis_lsp_set_sequence(pdu, p->sequence);
	cw_isis_lsp_set_overload(pdu, 1);
	cw_isis_lsp_set_kind(pdu, s->c.levels == CW_ISIS_L1 ? 1 : 3);
	isis_auth_put(&w, auth_of(d));
	cw_isis_lsp_set_lifetime(pdu, lifetime);
	isis_auth_sign(auth_of(d), pdu, len);
	if (lifetime != 0)
		cw_isis_lsp_set_checksum(pdu, cw_fletcher(pdu + 12, len - 12, 12));
	if (!isis_lsp_store(p, pdu, len, d->now))
		return false;
	p->renew = false;
	isis_lsp_send(p, d->now);
	isis_changed(d->s, d->now);
	return true;
}

/* Take an LSP back: a header without content, and who did it (RFC 6232), if that is wanted. */
static void purge(struct draft *d, struct lsp *p)
{
	uint8_t pdu[CW_SIZE_ISIS_LSP + 128];
	struct cw_wr w = cw_wr_init(pdu, sizeof(pdu));

	cw_wr_zero(&w, head_size(d));
	if (d->s->c.originator) {
		cw_wr_u8(&w, CW_ISIS_TLV_POI);
		cw_wr_u8(&w, 1 + CW_ISIS_SYSTEM);
		cw_wr_u8(&w, 1);
		cw_wr_bytes(&w, d->s->c.system, CW_ISIS_SYSTEM);
	}
	if (p->sequence != UINT32_MAX)
		p->sequence++;
	if (w.err == CW_OK && publish(d, p, pdu, (size_t)(w.p - pdu), 0))
		d->s->n.purges_sent++;
}

/* ISO 10589 7.3.16.1: no number is left. The LSP is taken back and stays away until the last copy
 * of it is forgotten; then it begins at 1 again. */
static void rest(struct draft *d, struct lsp *p)
{
	d->s->n.wrapped++;
	purge(d, p);
	p->resting = true;
	p->expires_ms = d->now + d->s->c.lifetime_s * 1000ull + ZERO_AGE_MS;
}

static void originate(struct draft *d, struct lsp *p, size_t len)
{
	const struct cw_isis_config *c = &d->s->c;

	if (p->sequence == UINT32_MAX) {
		rest(d, p);
		return;
	}
	p->sequence++;
	if (!publish(d, p, d->buf, len, c->lifetime_s)) {
		d->failed = true;
		return;
	}
	p->refresh_ms = d->now + isis_jitter(d->s, c->refresh_s * 1000);
	d->s->n.originated++;
}

/* ---- Fragments ----------------------------------------------------------------------------- */

static void begin_fragment(struct draft *d)
{
	size_t most = d->s->c.mtu < CW_ISIS_LSP_MAX ? d->s->c.mtu : CW_ISIS_LSP_MAX;

	d->w = cw_wr_init(d->buf, most);
	cw_wr_zero(&d->w, head_size(d));
	d->open = NULL;
}

/* Publish the fragment unless it says what it said before. */
static void finish_fragment(struct draft *d)
{
	size_t head = head_size(d), len = (size_t)(d->w.p - d->buf);
	uint8_t id[CW_ISIS_LSP_ID] = {0};
	struct lsp *p;

	memcpy(id, d->s->c.system, CW_ISIS_SYSTEM);
	id[7] = (uint8_t)d->fragment++;
	p = isis_lsp_find(d->l, id);
	if (p == NULL && (p = isis_lsp_add(d->s, d->l, id)) == NULL) {
		d->failed = true;
		return;
	}
	if (p->resting || (!p->renew && !p->purged && p->len == len &&
			   memcmp(p->pdu + head, d->buf + head, len - head) == 0))
		return;
	originate(d, p, len);
}

static void put_tlv(struct draft *d, uint8_t type, const void *value, size_t len)
{
	cw_wr_u8(&d->w, type);
	cw_wr_u8(&d->w, (uint8_t)len);
	cw_wr_bytes(&d->w, value, len);
}

static bool is_mt(uint8_t type)
{
	return type == CW_ISIS_TLV_MT_REACH4 || type == CW_ISIS_TLV_MT_REACH6;
}

static bool fits(const struct draft *d, uint8_t type, size_t len)
{
	size_t head = is_mt(type) ? 4 : 2;

	if (d->open != NULL && d->open_type == type && *d->open + len <= 255)
		return cw_wr_left(&d->w) >= len;
	return cw_wr_left(&d->w) >= head + len;
}

/* An entry of a prefix TLV, into the open TLV if it is of that type, else into a new one. */
static void put_entry(struct draft *d, uint8_t type, const uint8_t *entry, size_t len)
{
	if (len > (is_mt(type) ? 253 : 255) || d->failed) {
		d->s->n.no_room++;
		return;
	}
	if (!fits(d, type, len)) {
		if (d->fragment == MAX_FRAGMENTS - 1) {
			d->s->n.no_room++;
			return;
		}
		finish_fragment(d);
		begin_fragment(d);
	}
	if (d->open == NULL || d->open_type != type || *d->open + len > 255) {
		cw_wr_u8(&d->w, type);
		d->open = d->w.p;
		d->open_type = type;
		cw_wr_u8(&d->w, 0);
		if (is_mt(type)) {
			cw_wr_be16(&d->w, TOPOLOGY6);
			*d->open = 2;
		}
	}
	cw_wr_bytes(&d->w, entry, len);
	*d->open = (uint8_t)(*d->open + len);
}

/* ---- Content ------------------------------------------------------------------------------- */

static void put_addresses(struct draft *d)
{
	const struct cw_isis_config *c = &d->s->c;

	if (c->addr4.version != 0)
		put_tlv(d, CW_ISIS_TLV_ADDR4, c->addr4.addr, 4);
	if (c->addr6.version != 0)
		put_tlv(d, CW_ISIS_TLV_ADDR6, c->addr6.addr, 16);
	if (d->s->router[0].version != 0)
		put_tlv(d, CW_ISIS_TLV_ROUTER_ID4, d->s->router[0].addr, 4);
	if (d->s->router[1].version != 0)
		put_tlv(d, CW_ISIS_TLV_ROUTER_ID6, d->s->router[1].addr, 16);
}

static void put_who(struct draft *d)
{
	static const uint8_t protocols[2] = {CW_ISIS_NLPID4, CW_ISIS_NLPID6};
	const struct cw_isis_config *c = &d->s->c;
	uint8_t area[1 + CW_ISIS_AREA_MAX], topologies[4] = {0};

	area[0] = c->area_len;
	memcpy(area + 1, c->area, c->area_len);
	put_tlv(d, CW_ISIS_TLV_AREAS, area, 1u + c->area_len);
	put_tlv(d, CW_ISIS_TLV_PROTOCOLS, protocols, sizeof(protocols));
	if (c->hostname[0] != '\0')
		put_tlv(d, CW_ISIS_TLV_HOSTNAME, c->hostname, strlen(c->hostname));
	if (c->topology6) {
		cw_put_be16(topologies + 2, MT_OVERLOAD | TOPOLOGY6);
		put_tlv(d, CW_ISIS_TLV_TOPOLOGIES, topologies, sizeof(topologies));
	}
	put_addresses(d);
}

static void put_neighbour(struct draft *d)
{
	uint8_t e[2 + CW_SIZE_ISIS_NEIGH] = {0, TOPOLOGY6};

	if (!d->l->adjacent)
		return;
	memcpy(e + 2, d->s->adj.system, CW_ISIS_SYSTEM);
	cw_isis_neigh_set_metric(e + 2, d->s->c.metric);
	put_tlv(d, CW_ISIS_TLV_EXT_NEIGH, e + 2, CW_SIZE_ISIS_NEIGH);
	if (d->s->c.topology6 && d->s->adj.topology6)
		put_tlv(d, CW_ISIS_TLV_MT_NEIGH, e, sizeof(e));
}

static void put_prefix(struct draft *d, const struct cw_isis_prefix *p)
{
	uint8_t entry[CW_PNC_ISIS_ENTRY_MAX], type = CW_ISIS_TLV_REACH4;
	struct cw_pnc_prefix e = {
		.prefix = p->prefix, .metric = p->metric, .pnc = true, .node = p->node};
	struct cw_wr w = cw_wr_init(entry, sizeof(entry));

	if (p->prefix.version == 6)
		type = d->s->c.topology6 ? CW_ISIS_TLV_MT_REACH6 : CW_ISIS_TLV_REACH6;
	cw_isis_reach_put(&w, &d->s->c.codes, &e);
	put_entry(d, type, entry, (size_t)(w.p - entry));
}

static void put_prefixes(struct draft *d)
{
	const struct entries *e = &d->l->leaked;
	size_t i;

	for (i = 0; i < d->s->nprefix; i++)
		put_prefix(d, &d->s->prefix[i]);
	for (i = 0; i < e->len; i += 2u + e->at[i + 1])
		put_entry(d, e->at[i], e->at + i + 2, e->at[i + 1]);
}

bool isis_entry_add(struct entries *e, uint8_t type, const uint8_t *entry, size_t len)
{
	size_t room = e->room * 2 + 1024;
	uint8_t *more;

	if (e->room - e->len < len + 2) {
		if ((more = realloc(e->at, room)) == NULL)
			return false;
		e->at = more;
		e->room = room;
	}
	e->at[e->len] = type;
	e->at[e->len + 1] = (uint8_t)len;
	memcpy(e->at + e->len + 2, entry, len);
	e->len += len + 2;
	return true;
}

/* ---- All own LSPs of a level --------------------------------------------------------------- */

static bool is_refreshed(const struct lsp *p)
{
	return p->own && !p->purged && p->len > 0;
}

/* Fragments from `first` on, and pseudonodes, are not, or no longer, wanted. */
static void purge_others(struct draft *d, unsigned first)
{
	size_t i;

	for (i = 0; i < d->l->n; i++) {
		struct lsp *p = d->l->lsp[i];

		if (p->own && !p->resting && (p->id[6] != 0 || p->id[7] >= first) &&
		    (p->renew || !p->purged))
			purge(d, p);
	}
}

static void write_all(struct cw_isis *s, struct level *l, uint64_t now)
{
	struct draft d = {.s = s, .l = l, .now = now};

	l->own_last_ms = now;
	if (!s->stopping) {
		begin_fragment(&d);
		put_who(&d);
		put_neighbour(&d);
		put_prefixes(&d);
		finish_fragment(&d);
	}
	purge_others(&d, d.fragment);
	if (d.failed)
		isis_own_changed(s, l, now);
}

uint64_t isis_own_tick(struct cw_isis *s, struct level *l, uint64_t now)
{
	uint64_t due = UINT64_MAX;
	size_t i;

	for (i = 0; i < l->n && !s->stopping; i++) {
		if (!is_refreshed(l->lsp[i]))
			continue;
		if (now >= l->lsp[i]->refresh_ms && !l->lsp[i]->renew) {
			l->lsp[i]->renew = true;
			isis_own_changed(s, l, now);
		}
		if (!l->lsp[i]->renew)
			due = isis_sooner(due, l->lsp[i]->refresh_ms);
	}
	if (now >= l->own_ms) {
		l->own_ms = UINT64_MAX;
		write_all(s, l, now);
		return now; /* what was written is to be sent, and refreshed later */
	}
	return isis_sooner(due, l->own_ms);
}
