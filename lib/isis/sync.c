/* sync.c - the update process on one circuit: LSPs, acknowledgements, sequence numbers PDUs.
 * Spec: ISO 10589 7.3.14 to 7.3.17. */
#include "lib/isis/internal.h"

/* How what was heard of an LSP compares with what is held. */
enum order { OLDER, SAME, NEWER, OTHER };

struct heard {
	const uint8_t *id;
	uint32_t sequence;
	uint16_t lifetime, checksum;
};

static struct level *adjacent_level(struct cw_isis *s, const struct cw_isis_pdu *pdu)
{
	struct level *l = &s->level[pdu->level - 1];

	return l->adjacent ? l : NULL;
}

/* ISO 10589 7.3.16; OTHER: the same number with another checksum. */
static enum order compare(const struct heard *h, const struct lsp *p)
{
	bool purged = h->lifetime == 0;

	if (h->sequence != p->sequence)
		return h->sequence > p->sequence ? NEWER : OLDER;
	if (purged != p->purged)
		return purged ? NEWER : OLDER;
	return purged || h->checksum == p->checksum ? SAME : OTHER;
}

/* ---- LSPs in ------------------------------------------------------------------------------- */

static int check_lsp(struct cw_isis *s, const struct cw_isis_pdu *pdu)
{
	const uint8_t *at = pdu->at;

	if (!isis_auth_ok(&s->c.auth[pdu->level - 1], pdu)) {
		s->n.bad_authentication++;
		return CW_E_FORBIDDEN;
	}
	if (cw_isis_lsp_lifetime(at) != 0 &&
	    (cw_isis_lsp_checksum(at) == 0 || !cw_fletcher_ok(at + 12, pdu->len - 12))) {
		s->n.bad_checksum++;
		return CW_E_CHECKSUM;
	}
	return cw_isis_lsp_sequence(at) != 0 ? CW_OK : CW_E_RANGE;
}

static int ignore_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	(void)arg;
	(void)p;
	return 0;
}

static int take_newer(struct cw_isis *s, struct level *l, const struct cw_isis_pdu *pdu,
		      struct lsp *p, uint64_t now)
{
	if (p == NULL && (p = isis_lsp_add(s, l, cw_isis_lsp_id(pdu->at))) == NULL)
		return CW_E_SPACE; /* not acknowledged: it comes again */
	if (!isis_lsp_store(p, pdu->at, pdu->len, now)) {
		if (p->pdu == NULL)
			isis_lsp_remove(l, p);
		return CW_E_NOMEM;
	}
	s->n.purges_received += p->purged;
	s->n.bad_prefixes += cw_isis_walk(&s->c.codes, pdu->tlvs.p, cw_rd_left(&pdu->tlvs),
					  ignore_prefix, NULL, NULL) != CW_OK;
	p->srm = false;
	p->ssn = true;
	isis_changed(s, now);
	return CW_OK;
}

int isis_lsp_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now)
{
	struct level *l = adjacent_level(s, pdu);
	struct heard h = {cw_isis_lsp_id(pdu->at), cw_isis_lsp_sequence(pdu->at),
			  (uint16_t)cw_isis_lsp_lifetime(pdu->at),
			  (uint16_t)cw_isis_lsp_checksum(pdu->at)};
	enum order order = NEWER;
	struct lsp *p;
	int err;

	s->n.lsps_received++;
	if (l == NULL) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	if ((err = check_lsp(s, pdu)) != CW_OK)
		return err;
	if ((p = isis_lsp_find(l, h.id)) != NULL)
		order = compare(&h, p);
	if (order == SAME) {
		p->srm = false;
		p->ssn = true;
	} else if (order == OLDER) {
		isis_lsp_send(p, now);
	} else if (isis_is_own(s, h.id)) {
		isis_own_heard(s, l, h.id, h.sequence, now);
	} else {
		s->n.replaced += order == OTHER;
		return take_newer(s, l, pdu, p, now);
	}
	return CW_OK;
}

/* ---- Sequence numbers in ------------------------------------------------------------------- */

/* The neighbour has an LSP that isn't here: ask for it. */
static void ask(struct cw_isis *s, struct level *l, const struct heard *h, uint64_t now)
{
	struct lsp *p;

	if (h->lifetime == 0 || h->sequence == 0 || h->checksum == 0)
		return;
	if (isis_is_own(s, h->id)) {
		isis_own_heard(s, l, h->id, h->sequence, now);
		return;
	}
	if ((p = isis_lsp_add(s, l, h->id)) == NULL)
		return;
	p->expires_ms = now + ZERO_AGE_MS;
	p->srm_ms = now + RETRANSMIT_MS;
	p->ssn = p->mentioned = true;
}

static void take_entry(struct cw_isis *s, struct level *l, const struct heard *h, uint64_t now)
{
	struct lsp *p = isis_lsp_find(l, h->id);
	enum order order;

	if (p == NULL) {
		ask(s, l, h, now);
		return;
	}
	p->mentioned = true;
	order = compare(h, p);
	if (order == SAME) {
		p->srm = false;
	} else if (order == OLDER) {
		isis_lsp_send(p, now);
	} else if (p->own) {
		isis_own_heard(s, l, h->id, h->sequence, now);
	} else {
		p->srm = false;
		p->ssn = true;
	}
}

static bool in_range(const struct lsp *p, const uint8_t *start, const uint8_t *end)
{
	return memcmp(p->id, start, CW_ISIS_LSP_ID) >= 0 && memcmp(p->id, end, CW_ISIS_LSP_ID) <= 0;
}

/* What a CSNP's range does not mention, the neighbour does not have. */
static void send_missing(struct level *l, const uint8_t *csnp, uint64_t now)
{
	static const uint8_t last[CW_ISIS_LSP_ID] = {255, 255, 255, 255, 255, 255, 255, 255};
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct lsp *p = l->lsp[i];

		if (!p->mentioned && isis_lsp_lifetime(p, now) != 0 &&
		    in_range(p, cw_isis_csnp_start(csnp), cw_isis_csnp_end(csnp)))
			isis_lsp_send(p, now);
	}
	if (memcmp(cw_isis_csnp_end(csnp), last, sizeof(last)) == 0)
		l->csnp_seen = true;
}

static int take_entries(struct cw_isis *s, struct level *l, const struct cw_isis_pdu *pdu,
			uint64_t now)
{
	struct cw_rd r = pdu->tlvs;
	struct cw_isis_tlv tlv;
	size_t i;

	for (i = 0; i < l->n; i++)
		l->lsp[i]->mentioned = false;
	while (cw_isis_tlv_next(&r, &tlv)) {
		if (tlv.type != CW_ISIS_TLV_ENTRIES)
			continue;
		if (tlv.len % CW_SIZE_ISIS_ENTRY != 0) {
			s->n.malformed++;
			return CW_E_LENGTH;
		}
		for (i = 0; i < tlv.len; i += CW_SIZE_ISIS_ENTRY) {
			const uint8_t *e = tlv.value + i;
			struct heard h = {cw_isis_entry_id(e), cw_isis_entry_sequence(e),
					  (uint16_t)cw_isis_entry_lifetime(e),
					  (uint16_t)cw_isis_entry_checksum(e)};

			take_entry(s, l, &h, now);
		}
	}
	return CW_OK;
}

int isis_snp_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now)
{
	bool complete = pdu->type == CW_ISIS_CSNP_L1 || pdu->type == CW_ISIS_CSNP_L2;
	const uint8_t *source =
		complete ? cw_isis_csnp_source(pdu->at) : cw_isis_psnp_source(pdu->at);
	struct level *l = adjacent_level(s, pdu);
	int err;

	s->n.csnps_received += complete;
	s->n.psnps_received += !complete;
	if (l == NULL || memcmp(source, s->adj.system, CW_ISIS_SYSTEM) != 0) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	if (!isis_auth_ok(&s->c.auth[pdu->level - 1], pdu)) {
		s->n.bad_authentication++;
		return CW_E_FORBIDDEN;
	}
	if ((err = take_entries(s, l, pdu, now)) == CW_OK && complete)
		send_missing(l, pdu->at, now);
	return err;
}

/* ---- Begin and end ------------------------------------------------------------------------- */

/* ISO 10589 7.3.17: all LSPs are to be sent; the neighbour's CSNP says which of them it has. */
void isis_sync_begin(struct level *l, uint64_t now)
{
	size_t i;

	l->adjacent = true;
	l->csnp_due = true;
	l->csnp_seen = false;
	memset(l->csnp_next, 0, sizeof(l->csnp_next));
	for (i = 0; i < l->n; i++) {
		if (l->lsp[i]->pdu != NULL)
			isis_lsp_send(l->lsp[i], l->lsp[i]->own ? now : now + RETRANSMIT_MS);
	}
}

void isis_sync_end(struct level *l)
{
	size_t i = 0;

	l->adjacent = false;
	while (i < l->n) {
		struct lsp *p = l->lsp[i];

		p->srm = p->ssn = false;
		if (p->sequence == 0 && !p->own)
			isis_lsp_remove(l, p);
		else
			i++;
	}
}

bool isis_synchronised(const struct level *l)
{
	size_t i;

	if (!l->csnp_seen)
		return false;
	for (i = 0; i < l->n; i++) {
		if (l->lsp[i]->sequence == 0)
			return false;
	}
	return true;
}

/* ---- Out ----------------------------------------------------------------------------------- */

/* An SNP being written: entries, at most 15 in a TLV. */
struct snp {
	struct cw_wr w;
	uint8_t *len; /* of the open TLV */
};

static bool put_entry(struct snp *n, const struct lsp *p, uint64_t now)
{
	bool open = n->len != NULL && *n->len + CW_SIZE_ISIS_ENTRY <= 255;
	uint8_t *e;

	if (cw_wr_left(&n->w) < CW_SIZE_ISIS_ENTRY + (open ? 0u : 2u))
		return false;
	if (!open) {
		cw_wr_u8(&n->w, CW_ISIS_TLV_ENTRIES);
		n->len = n->w.p;
		cw_wr_u8(&n->w, 0);
	}
	e = cw_wr_room(&n->w, CW_SIZE_ISIS_ENTRY);
	cw_isis_entry_set_lifetime(e, isis_lsp_lifetime(p, now));
	cw_isis_entry_set_id(e, p->id);
	cw_isis_entry_set_sequence(e, p->sequence);
	cw_isis_entry_set_checksum(e, p->checksum);
	*n->len = (uint8_t)(*n->len + CW_SIZE_ISIS_ENTRY);
	return true;
}

static size_t pull_psnp(struct cw_isis *s, struct level *l, uint8_t *pdu, size_t size, uint64_t now)
{
	const struct cw_isis_auth *auth = &s->c.auth[l->number - 1];
	struct snp n = {cw_wr_init(pdu, size), NULL};
	size_t i;

	cw_wr_zero(&n.w, CW_SIZE_ISIS_PSNP);
	isis_auth_put(&n.w, auth);
	for (i = 0; i < l->n; i++) {
		if (l->lsp[i]->ssn && put_entry(&n, l->lsp[i], now))
			l->lsp[i]->ssn = false;
	}
	if (n.len == NULL)
		return 0;
	cw_isis_head_put(pdu, l->number == 1 ? CW_ISIS_PSNP_L1 : CW_ISIS_PSNP_L2);
	cw_isis_psnp_set_length(pdu, (uint32_t)(n.w.p - pdu));
	memcpy(pdu + 10, s->c.system, CW_ISIS_SYSTEM);
	isis_auth_sign(auth, pdu, (size_t)(n.w.p - pdu));
	s->n.psnps_sent++;
	return (size_t)(n.w.p - pdu);
}

/* The LSP ID behind this one; false: there is none. */
static bool step(uint8_t id[CW_ISIS_LSP_ID])
{
	uint64_t v = cw_be64(id) + 1;

	cw_put_be64(id, v);
	return v != 0;
}

/* Entries from csnp_next on; what does not fit comes in the next one. */
static size_t pull_csnp(struct cw_isis *s, struct level *l, uint8_t *pdu, size_t size, uint64_t now)
{
	const struct cw_isis_auth *auth = &s->c.auth[l->number - 1];
	struct snp n = {cw_wr_init(pdu, size), NULL};
	uint8_t end[CW_ISIS_LSP_ID];
	bool more = false;
	size_t i;

	memset(end, 0xff, sizeof(end));
	cw_wr_zero(&n.w, CW_SIZE_ISIS_CSNP);
	isis_auth_put(&n.w, auth);
	for (i = 0; i < l->n && !more; i++) {
		if (memcmp(l->lsp[i]->id, l->csnp_next, CW_ISIS_LSP_ID) < 0 ||
		    isis_lsp_lifetime(l->lsp[i], now) == 0)
			continue;
		more = !put_entry(&n, l->lsp[i], now);
		if (!more)
			memcpy(end, l->lsp[i]->id, sizeof(end));
	}
	if (!more)
		memset(end, 0xff, sizeof(end));
	cw_isis_head_put(pdu, l->number == 1 ? CW_ISIS_CSNP_L1 : CW_ISIS_CSNP_L2);
	cw_isis_csnp_set_length(pdu, (uint32_t)(n.w.p - pdu));
	memcpy(pdu + 10, s->c.system, CW_ISIS_SYSTEM);
	cw_isis_csnp_set_start(pdu, l->csnp_next);
	cw_isis_csnp_set_end(pdu, end);
	isis_auth_sign(auth, pdu, (size_t)(n.w.p - pdu));
	memcpy(l->csnp_next, end, sizeof(end));
	l->csnp_due = step(l->csnp_next);
	s->n.csnps_sent++;
	return (size_t)(n.w.p - pdu);
}

static size_t pull_lsp(struct cw_isis *s, struct level *l, uint8_t *pdu, size_t size, uint64_t now)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct lsp *p = l->lsp[i];

		if (!p->srm || p->srm_ms > now)
			continue;
		if (p->len == 0 || p->len > size || (!p->purged && now >= p->expires_ms)) {
			p->srm = false;
			continue;
		}
		memcpy(pdu, p->pdu, p->len);
		cw_isis_lsp_set_lifetime(pdu, isis_lsp_lifetime(p, now));
		p->srm_ms = now + (s->stopping ? STOP_AGAIN_MS : RETRANSMIT_MS);
		s->n.lsps_sent++;
		return p->len;
	}
	return 0;
}

size_t isis_sync_pull(struct cw_isis *s, struct level *l, uint8_t *pdu, size_t size, uint64_t now)
{
	size_t n = pull_psnp(s, l, pdu, size, now);

	if (n == 0 && l->csnp_due)
		n = pull_csnp(s, l, pdu, size, now);
	return n != 0 ? n : pull_lsp(s, l, pdu, size, now);
}
