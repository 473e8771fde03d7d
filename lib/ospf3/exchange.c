/* exchange.c - database description and link state requests. Spec: RFC 2328 10.6 to 10.9, RFC 5340
 * 4.2.1. */
#include "lib/ospf3/internal.h"

enum { INIT = 4, MORE = 2, MASTER = 1 };

/* ---- Our descriptions ---------------------------------------------------------------------- */

static void dd_begin(struct cw_ospf3 *s, unsigned bits)
{
	struct neighbour *n = &s->nbr;

	memset(n->dd, 0, CW_SIZE_OSPF3_DD);
	cw_ospf3_head_set_type(n->dd, CW_OSPF3_DD);
	cw_ospf3_dd_set_options(n->dd, ospf3_options(s, true));
	cw_ospf3_dd_set_mtu(n->dd, s->c.mtu);
	cw_ospf3_dd_set_init(n->dd, bits / INIT & 1);
	cw_ospf3_dd_set_more(n->dd, bits / MORE & 1);
	cw_ospf3_dd_set_master(n->dd, bits / MASTER & 1);
	cw_ospf3_dd_set_sequence(n->dd, n->sequence);
	n->dd_len = CW_SIZE_OSPF3_DD;
	n->dd_due = true;
}

/* The next headers that have not been described. */
static void dd_describe(struct cw_ospf3 *s, uint64_t now)
{
	size_t i, room = ospf3_packet_room(s);
	struct neighbour *n = &s->nbr;

	dd_begin(s, n->master ? MASTER : 0);
	n->more = false;
	for (i = 0; i < s->lsas; i++) {
		struct lsa *p = s->lsa[i];

		if (!p->listed)
			continue;
		n->more = room - n->dd_len < CW_SIZE_OSPF3_LSA;
		if (n->more)
			break;
		memcpy(n->dd + n->dd_len, p->at, CW_SIZE_OSPF3_LSA);
		cw_ospf3_lsa_set_age(n->dd + n->dd_len, ospf3_lsa_age(p, now));
		n->dd_len += CW_SIZE_OSPF3_LSA;
		p->listed = false;
	}
	cw_ospf3_dd_set_more(n->dd, n->more);
}

/* RFC 2328 10.3, AdjOK?: begin with nothing but a claim to be the master. */
void ospf3_exchange_begin(struct cw_ospf3 *s, uint64_t now)
{
	struct neighbour *n = &s->nbr;
	size_t i;

	for (i = 0; i < s->lsas; i++)
		s->lsa[i]->owed = s->lsa[i]->send = s->lsa[i]->listed = false;
	n->request.n = n->asked = 0;
	n->has_last = false;
	n->master = n->more = true;
	n->sequence++;
	ospf3_state(s, CW_OSPF3_EXSTART, now);
	dd_begin(s, INIT | MORE | MASTER);
}

/* RFC 2328 10.3, NegotiationDone: an LSA of MaxAge is flooded, not described. */
static void list_database(struct cw_ospf3 *s, uint64_t now)
{
	size_t i;

	ospf3_state(s, CW_OSPF3_EXCHANGE, now);
	for (i = 0; i < s->lsas; i++) {
		struct lsa *p = s->lsa[i];

		p->listed = ospf3_lsa_age(p, now) < CW_OSPF3_MAX_AGE;
		if (!p->listed)
			ospf3_lsa_owe(p, now);
	}
}

size_t ospf3_dd_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now)
{
	struct neighbour *n = &s->nbr;
	bool repeat = n->state == CW_OSPF3_EXSTART || (n->state == CW_OSPF3_EXCHANGE && n->master);

	if (!n->dd_due && !(repeat && now >= n->dd_ms))
		return 0;
	memcpy(packet, n->dd, n->dd_len);
	n->dd_due = false;
	n->dd_ms = now + s->c.retransmit_ms;
	s->n.dds_sent++;
	return n->dd_len;
}

/* ---- The neighbour's ----------------------------------------------------------------------- */

static int mismatch(struct cw_ospf3 *s, uint64_t now)
{
	s->n.mismatches++;
	ospf3_exchange_begin(s, now);
	return CW_E_CONFLICT;
}

static void exchange_done(struct cw_ospf3 *s, uint64_t now)
{
	if (s->nbr.request.n > 0)
		ospf3_state(s, CW_OSPF3_LOADING, now);
	else
		ospf3_state(s, CW_OSPF3_FULL, now);
}

static bool is_newer(const struct cw_ospf3 *s, const uint8_t *header, uint64_t now)
{
	uint8_t key[KEY];
	const struct lsa *p;

	ospf3_key(key, header);
	p = ospf3_lsa_find(s, key);
	return p == NULL || ospf3_compare(header, p, now) == NEWER;
}

static int list_requests(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct cw_rd r = p->body;
	const uint8_t *header;

	while (cw_rd_take(&r, CW_SIZE_OSPF3_LSA, &header) == CW_OK) {
		if (!ospf3_type_ok(s, header))
			return mismatch(s, now);
		if (!is_newer(s, header, now) || s->nbr.request.n >= s->c.lsas)
			continue;
		if (!ospf3_headers_add(&s->nbr.request, header))
			s->n.full++;
	}
	return CW_OK;
}

/* The packet is the next one in sequence. */
static int take(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	bool theirs = cw_ospf3_dd_more(p->at) != 0, ours = s->nbr.more;
	struct neighbour *n = &s->nbr;
	int err = list_requests(s, p, now);

	if (err != CW_OK)
		return err;
	if (n->master) {
		n->sequence++;
		if (ours || theirs)
			dd_describe(s, now);
		else
			exchange_done(s, now);
		return CW_OK;
	}
	n->sequence = cw_ospf3_dd_sequence(p->at);
	dd_describe(s, now);
	if (!n->more && !theirs)
		exchange_done(s, now);
	return CW_OK;
}

/* RFC 2328 10.6, ExStart: the higher router ID is the master. */
static int negotiate(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	int order = memcmp(s->nbr.router, s->c.router, 4);
	struct neighbour *n = &s->nbr;

	if (cw_ospf3_dd_init(p->at) && cw_ospf3_dd_more(p->at) && cw_ospf3_dd_master(p->at) &&
	    cw_rd_left(&p->body) == 0 && order > 0)
		n->master = false;
	else if (cw_ospf3_dd_init(p->at) || cw_ospf3_dd_master(p->at) || order > 0 ||
		 cw_ospf3_dd_sequence(p->at) != n->sequence)
		return CW_E_STATE; /* its own claim, or an old one */
	n->options = cw_ospf3_dd_options(p->at);
	list_database(s, now);
	return take(s, p, now);
}

/* RFC 2328 10.6, Exchange: anything but the next one begins the exchange anew. */
static int next(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct neighbour *n = &s->nbr;

	if ((cw_ospf3_dd_master(p->at) != 0) == n->master || cw_ospf3_dd_init(p->at) ||
	    cw_ospf3_dd_options(p->at) != n->options ||
	    cw_ospf3_dd_sequence(p->at) != n->sequence + (n->master ? 0 : 1))
		return mismatch(s, now);
	return take(s, p, now);
}

/* The same as the last one: the slave answers it again. */
static bool is_repeated(struct cw_ospf3 *s, const struct cw_ospf3_packet *p)
{
	struct neighbour *n = &s->nbr;
	const uint8_t *from = p->at + CW_SIZE_OSPF3_HEAD + 4;

	if (n->has_last && n->state >= CW_OSPF3_EXCHANGE &&
	    memcmp(n->last, from, sizeof(n->last)) == 0) {
		n->dd_due = !n->master;
		return true;
	}
	return false;
}

int ospf3_dd_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct neighbour *n = &s->nbr;
	int err;

	s->n.dds_received++;
	if (cw_ospf3_dd_mtu(p->at) > s->c.mtu && !s->c.mtu_ignore) {
		s->n.mtu_mismatch++;
		return CW_E_CONFLICT;
	}
	if (n->state == CW_OSPF3_INIT) /* who describes its database knows us: 2-WayReceived */
		ospf3_exchange_begin(s, now);
	if (is_repeated(s, p))
		return CW_OK;
	if (n->state == CW_OSPF3_EXSTART)
		err = negotiate(s, p, now);
	else if (n->state == CW_OSPF3_EXCHANGE)
		err = next(s, p, now);
	else
		return mismatch(s, now);
	if (err == CW_OK) {
		memcpy(n->last, p->at + CW_SIZE_OSPF3_HEAD + 4, sizeof(n->last));
		n->has_last = true;
	}
	return err;
}

/* ---- Requests ------------------------------------------------------------------------------ */

static size_t find_request(const struct cw_ospf3 *s, const uint8_t *lsa)
{
	const struct headers *h = &s->nbr.request;
	size_t i;

	for (i = 0; i < h->n; i++) {
		if (memcmp(h->at + i * CW_SIZE_OSPF3_LSA + 2, lsa + 2, KEY) == 0)
			return i;
	}
	return h->n;
}

bool ospf3_requested(const struct cw_ospf3 *s, const uint8_t *lsa)
{
	return find_request(s, lsa) < s->nbr.request.n;
}

/* It came: no longer missing. */
bool ospf3_unrequest(struct cw_ospf3 *s, const uint8_t *lsa, uint64_t now)
{
	struct headers *h = &s->nbr.request;
	size_t i = find_request(s, lsa);

	if (i == h->n)
		return false;
	h->n--;
	memmove(h->at + i * CW_SIZE_OSPF3_LSA, h->at + (i + 1) * CW_SIZE_OSPF3_LSA,
		(h->n - i) * CW_SIZE_OSPF3_LSA);
	if (i < s->nbr.asked && --s->nbr.asked == 0)
		s->nbr.request_ms = now;
	return true;
}

void ospf3_exchange_advance(struct cw_ospf3 *s, uint64_t now)
{
	if (s->nbr.state == CW_OSPF3_LOADING && s->nbr.request.n == 0)
		ospf3_state(s, CW_OSPF3_FULL, now);
}

static bool is_loading(const struct neighbour *n)
{
	return (n->state == CW_OSPF3_EXCHANGE || n->state == CW_OSPF3_LOADING) && n->request.n > 0;
}

size_t ospf3_request_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now)
{
	struct neighbour *n = &s->nbr;
	size_t len = CW_SIZE_OSPF3_HEAD, i, room = ospf3_packet_room(s);

	if (!is_loading(n) || (n->asked > 0 && now < n->request_ms))
		return 0;
	cw_ospf3_head_set_type(packet, CW_OSPF3_REQUEST);
	for (i = 0; i < n->request.n && room - len >= CW_SIZE_OSPF3_REQUEST; i++) {
		memset(packet + len, 0, 2);
		memcpy(packet + len + 2, n->request.at + i * CW_SIZE_OSPF3_LSA + 2, KEY);
		len += CW_SIZE_OSPF3_REQUEST;
	}
	n->asked = i;
	n->request_ms = now + s->c.retransmit_ms;
	s->n.requests_sent++;
	return len;
}

int ospf3_request_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now)
{
	struct cw_rd r = p->body;
	const uint8_t *item;
	uint8_t key[KEY];
	struct lsa *l;

	s->n.requests_received++;
	if (s->nbr.state < CW_OSPF3_EXCHANGE) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	while (cw_rd_take(&r, CW_SIZE_OSPF3_REQUEST, &item) == CW_OK) {
		memcpy(key, cw_ospf3_request_router(item), 4);
		memcpy(key + 4, item + 2, 6);
		if ((l = ospf3_lsa_find(s, key)) == NULL) {
			s->n.bad_requests++;
			ospf3_exchange_begin(s, now);
			return CW_E_CONFLICT;
		}
		l->send = true;
	}
	return CW_OK;
}

/* When a description or request is to be repeated. */
uint64_t ospf3_exchange_due(const struct cw_ospf3 *s)
{
	const struct neighbour *n = &s->nbr;
	uint64_t due = UINT64_MAX;

	if (n->state == CW_OSPF3_EXSTART || (n->state == CW_OSPF3_EXCHANGE && n->master))
		due = n->dd_ms;
	return is_loading(n) ? ospf3_sooner(due, n->request_ms) : due;
}
