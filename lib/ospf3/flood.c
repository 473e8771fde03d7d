/* flood.c - link state updates and acknowledgements. Spec: RFC 2328 13, RFC 5340 4.5. */
#include "lib/ospf3/internal.h"

/* RFC 2328 13.1: how what was heard of an LSA compares with what is held. */
enum order ospf3_compare(const uint8_t *header, const struct lsa *p, uint64_t now)
{
	uint32_t x = cw_ospf3_lsa_sequence(header), y = cw_ospf3_lsa_sequence(p->at);
	uint32_t age = cw_ospf3_lsa_age(header), held = ospf3_lsa_age(p, now);

	if (x != y) /* signed numbers */
		return (x ^ 0x80000000u) > (y ^ 0x80000000u) ? NEWER : OLDER;
	x = cw_ospf3_lsa_checksum(header);
	y = cw_ospf3_lsa_checksum(p->at);
	if (x != y)
		return x > y ? NEWER : OLDER;
	if ((age >= CW_OSPF3_MAX_AGE) != (held >= CW_OSPF3_MAX_AGE))
		return age >= CW_OSPF3_MAX_AGE ? NEWER : OLDER;
	if (age + MAX_AGE_DIFF < held)
		return NEWER;
	return held + MAX_AGE_DIFF < age ? OLDER : SAME;
}

/* RFC 5340 4.5.1. */
bool ospf3_type_ok(const struct cw_ospf3 *s, const uint8_t *header)
{
	uint32_t scope = cw_ospf3_lsa_type(header) & CW_OSPF3_SCOPE;

	return scope != CW_OSPF3_SCOPE_RESERVED &&
	       (scope != CW_OSPF3_SCOPE_AS || s->c.area_type == CW_OSPF3_NORMAL);
}

/* ---- LSAs in ------------------------------------------------------------------------------- */

static bool check_lsa(struct cw_ospf3 *s, const uint8_t *lsa, size_t len)
{
	s->n.lsas_received++;
	if (cw_ospf3_lsa_checksum(lsa) == 0 || !cw_fletcher_ok(lsa + 2, len - 2)) {
		s->n.bad_checksum++;
		return false;
	}
	if (!ospf3_type_ok(s, lsa)) {
		s->n.bad_type++;
		return false;
	}
	return true;
}

static void acknowledge(struct cw_ospf3 *s, const uint8_t *lsa)
{
	if (!ospf3_headers_add(&s->ack, lsa))
		s->n.full++; /* then it comes again */
}

static int ignore_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	(void)arg;
	(void)p;
	return 0;
}

static bool has_bad_prefixes(const struct cw_ospf3 *s, const uint8_t *lsa, size_t len)
{
	int err = cw_ospf3_walk(&s->c.codes, (uint16_t)cw_ospf3_lsa_type(lsa),
				lsa + CW_SIZE_OSPF3_LSA, len - CW_SIZE_OSPF3_LSA, ignore_prefix,
				NULL, NULL);

	return err != CW_OK && err != CW_E_UNKNOWN;
}

/* RFC 2328 13 (5). One's own (13.4) is kept with its number until own.c has seen it. */
static void take_newer(struct cw_ospf3 *s, const uint8_t *lsa, size_t len, struct lsa *p,
		       uint64_t now)
{
	bool maxage = cw_ospf3_lsa_age(lsa) >= CW_OSPF3_MAX_AGE;

	if (p != NULL && !p->own && s->nbr.state == CW_OSPF3_FULL &&
	    now - p->stored_ms < MIN_ARRIVAL_MS) {
		s->n.too_soon++;
		return;
	}
	if ((p = ospf3_lsa_store(s, lsa, len, now)) == NULL)
		return; /* not acknowledged: it comes again */
	(void)ospf3_unrequest(s, lsa, now);
	acknowledge(s, lsa);
	if (p->own) {
		p->renew = true;
		s->n.outdone++;
		ospf3_own_changed(s, now);
		return;
	}
	s->n.flushed += maxage;
	s->n.bad_prefixes += has_bad_prefixes(s, lsa, len);
	ospf3_changed(s, now);
}

/* RFC 2328 13 (8). */
static void send_back(struct lsa *p, uint64_t now)
{
	if (ospf3_lsa_age(p, now) == CW_OSPF3_MAX_AGE &&
	    cw_ospf3_lsa_sequence(p->at) == SEQUENCE_LAST)
		return; /* let it go */
	if (p->sent_ms == 0 || now >= p->sent_ms + MIN_ARRIVAL_MS)
		p->send = true;
}

/* False: the neighbour sent what it can't have (BadLSReq). */
static bool take_lsa(struct cw_ospf3 *s, const uint8_t *lsa, size_t len, uint64_t now)
{
	bool exchanging = s->nbr.state == CW_OSPF3_EXCHANGE || s->nbr.state == CW_OSPF3_LOADING;
	enum order order = NEWER;
	uint8_t key[KEY];
	struct lsa *p;

	if (!check_lsa(s, lsa, len))
		return true;
	ospf3_key(key, lsa);
	if ((p = ospf3_lsa_find(s, key)) != NULL)
		order = ospf3_compare(lsa, p, now);
	else if (cw_ospf3_lsa_age(lsa) >= CW_OSPF3_MAX_AGE && !exchanging) {
		acknowledge(s, lsa);
		return true;
	}
	if (order == NEWER) {
		take_newer(s, lsa, len, p, now);
		return true;
	}
	if (ospf3_requested(s, lsa))
		return false;
	if (order == OLDER)
		send_back(p, now);
	else if (p->owed)
		p->owed = false; /* an implied acknowledgement */
	else
		acknowledge(s, lsa);
	return true;
}

int ospf3_update_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct cw_rd r = p->body;
	const uint8_t *lsa;
	size_t len;

	s->n.updates_received++;
	if (s->nbr.state < CW_OSPF3_EXCHANGE) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	while (cw_ospf3_lsa_next(&r, &lsa, &len)) {
		if (take_lsa(s, lsa, len, now))
			continue;
		s->n.bad_requests++;
		ospf3_exchange_begin(s, now);
		return CW_E_CONFLICT;
	}
	ospf3_exchange_advance(s, now);
	return CW_OK;
}

int ospf3_ack_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct cw_rd r = p->body;
	const uint8_t *header;
	uint8_t key[KEY];
	struct lsa *l;

	s->n.acks_received++;
	if (s->nbr.state < CW_OSPF3_EXCHANGE) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	while (cw_rd_take(&r, CW_SIZE_OSPF3_LSA, &header) == CW_OK) {
		ospf3_key(key, header);
		l = ospf3_lsa_find(s, key);
		if (l != NULL && l->owed && ospf3_compare(header, l, now) == SAME)
			l->owed = false;
	}
	return CW_OK;
}

/* ---- Out ----------------------------------------------------------------------------------- */

size_t ospf3_ack_pull(struct cw_ospf3 *s, uint8_t *packet)
{
	size_t fit = (ospf3_packet_room(s) - CW_SIZE_OSPF3_HEAD) / CW_SIZE_OSPF3_LSA;
	struct headers *h = &s->ack;
	size_t n = h->n < fit ? h->n : fit;

	if (n == 0)
		return 0;
	cw_ospf3_head_set_type(packet, CW_OSPF3_ACK);
	memcpy(packet + CW_SIZE_OSPF3_HEAD, h->at, n * CW_SIZE_OSPF3_LSA);
	h->n -= n;
	memmove(h->at, h->at + n * CW_SIZE_OSPF3_LSA, h->n * CW_SIZE_OSPF3_LSA);
	s->n.acks_sent++;
	return CW_SIZE_OSPF3_HEAD + n * CW_SIZE_OSPF3_LSA;
}

/* RFC 2328 13.3: older by the delay of the link. */
static void put_lsa(uint8_t *to, const struct lsa *p, uint64_t now)
{
	unsigned age = ospf3_lsa_age(p, now) + TRANSMIT_DELAY;

	memcpy(to, p->at, p->len);
	cw_ospf3_lsa_set_age(to, age < CW_OSPF3_MAX_AGE ? age : CW_OSPF3_MAX_AGE);
}

static void mark_sent(const struct cw_ospf3 *s, struct lsa *p, uint64_t now)
{
	p->send = false;
	p->sent_ms = now;
	p->owed_ms = now + (s->stopping ? STOP_AGAIN_MS : s->c.retransmit_ms);
}

size_t ospf3_update_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now)
{
	size_t len = CW_SIZE_OSPF3_UPDATE, i, room = ospf3_packet_room(s);
	uint32_t n = 0;

	if (s->nbr.state < CW_OSPF3_EXCHANGE)
		return 0;
	for (i = 0; i < s->lsas; i++) {
		struct lsa *p = s->lsa[i];

		if (!p->send && !(p->owed && now >= p->owed_ms))
			continue;
		if (p->len > room - CW_SIZE_OSPF3_UPDATE) {
			p->send = p->owed = false; /* another router's, that we can't pass back */
			continue;
		}
		if (p->len > room - len)
			break;
		put_lsa(packet + len, p, now);
		len += p->len;
		n++;
		mark_sent(s, p, now);
	}
	if (n == 0)
		return 0;
	cw_ospf3_head_set_type(packet, CW_OSPF3_UPDATE);
	cw_ospf3_update_set_count(packet, n);
	s->n.updates_sent++;
	return len;
}

/* When an update is to be repeated. */
uint64_t ospf3_update_due(const struct cw_ospf3 *s)
{
	uint64_t due = UINT64_MAX;
	size_t i;

	for (i = 0; s->nbr.state >= CW_OSPF3_EXCHANGE && i < s->lsas; i++) {
		if (s->lsa[i]->owed)
			due = ospf3_sooner(due, s->lsa[i]->owed_ms);
	}
	return due;
}
