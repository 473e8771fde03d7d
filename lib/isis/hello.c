/* hello.c - hellos and the adjacency. Spec: ISO 10589 8.2, RFC 5303 3, RFC 1195 4.4. */
#include "lib/isis/internal.h"

/* What the three-way TLV says of the sender (RFC 5303 3.1). */
enum { SAYS_UP, SAYS_INITIALIZING, SAYS_DOWN };
enum { THREE_WAY_CIRCUIT = 5, THREE_WAY_ALL = 15 }; /* octets: state and circuit; all */

struct hello {
	uint8_t levels; /* common ones */
	uint8_t says;
	bool knows_us, has_circuit, topology6;
	uint32_t circuit;
	const uint8_t *system;
	uint32_t hold_s;
};

/* ---- Up and down --------------------------------------------------------------------------- */

static void set_state(struct cw_isis *s, enum cw_isis_state state, uint64_t now)
{
	if (s->adj.state == state)
		return;
	s->adj.state = state;
	s->adj.since_ms = now;
	s->hello_ms = now; /* the neighbour is to know at once */
}

static void adjacency_up(struct cw_isis *s, uint64_t now)
{
	unsigned i;

	set_state(s, CW_ISIS_UP, now);
	s->n.adjacencies++;
	for (i = 0; i < 2; i++) {
		if ((s->adj.levels & 1u << i) == 0)
			continue;
		isis_sync_begin(&s->level[i], now);
		isis_own_changed(s, &s->level[i], now);
	}
	isis_changed(s, now);
}

void isis_adjacency_down(struct cw_isis *s, uint64_t now)
{
	unsigned i;

	if (s->adj.state == CW_ISIS_UP) {
		s->n.lost++;
		for (i = 0; i < 2; i++) {
			if (s->level[i].adjacent)
				isis_own_changed(s, &s->level[i], now);
			isis_sync_end(&s->level[i]);
		}
		isis_changed(s, now);
	}
	set_state(s, CW_ISIS_DOWN, now);
	s->adj.has_circuit = false;
	memset(s->adj.system, 0, sizeof(s->adj.system));
}

void isis_adjacency_tick(struct cw_isis *s, uint64_t now)
{
	if (s->adj.state == CW_ISIS_DOWN || now < s->adj.hold_ms)
		return;
	if (s->adj.state == CW_ISIS_UP)
		s->n.expired++;
	isis_adjacency_down(s, now);
}

/* ---- In ------------------------------------------------------------------------------------ */

static bool common_area(const struct cw_isis *s, const struct cw_isis_pdu *pdu)
{
	struct cw_isis_tlv tlv;
	struct cw_rd r;
	const uint8_t *area;
	uint8_t n;

	if (!cw_isis_tlv_find(pdu, CW_ISIS_TLV_AREAS, &tlv))
		return false;
	r = cw_rd_init(tlv.value, tlv.len);
	while (cw_rd_u8(&r, &n) == CW_OK && cw_rd_take(&r, n, &area) == CW_OK) {
		if (n == s->c.area_len && memcmp(area, s->c.area, n) == 0)
			return true;
	}
	return false;
}

/* ISO 10589 8.2.5.2: level 1 needs a common area. */
static int read_levels(struct cw_isis *s, const struct cw_isis_pdu *pdu, struct hello *h)
{
	h->levels = (uint8_t)(s->c.levels & cw_isis_hello_levels(pdu->at));
	if (h->levels == 0) {
		s->n.level_mismatch++;
		return CW_E_STATE;
	}
	if ((h->levels & CW_ISIS_L1) != 0 && !common_area(s, pdu))
		h->levels &= (uint8_t)~CW_ISIS_L1;
	if (h->levels == 0) {
		s->n.area_mismatch++;
		return CW_E_STATE;
	}
	return CW_OK;
}

/* RFC 5303 3.2: a hello that names another neighbour or circuit than us is ignored. */
static int read_three_way(struct cw_isis *s, const struct cw_isis_pdu *pdu, struct hello *h)
{
	struct cw_isis_tlv tlv;

	if (!cw_isis_tlv_find(pdu, CW_ISIS_TLV_THREE_WAY, &tlv)) {
		s->n.no_three_way++;
		return CW_E_STATE;
	}
	if (tlv.len < 1 || tlv.value[0] > SAYS_DOWN) {
		s->n.malformed++;
		return CW_E_RANGE;
	}
	h->says = tlv.value[0];
	if ((h->has_circuit = tlv.len >= THREE_WAY_CIRCUIT))
		h->circuit = cw_be32(tlv.value + 1);
	h->knows_us = tlv.len >= THREE_WAY_ALL;
	if (h->knows_us && (!isis_is_own(s, tlv.value + THREE_WAY_CIRCUIT) ||
			    cw_be32(tlv.value + 11) != s->c.circuit)) {
		s->n.not_for_us++;
		return CW_E_STATE;
	}
	return CW_OK;
}

static bool in_topology6(const struct cw_isis_pdu *pdu)
{
	struct cw_isis_tlv tlv;
	unsigned i;

	if (!cw_isis_tlv_find(pdu, CW_ISIS_TLV_TOPOLOGIES, &tlv))
		return false;
	for (i = 0; i + 2 <= tlv.len; i += 2) {
		if ((cw_be16(tlv.value + i) & 0x0fff) == 2)
			return true;
	}
	return false;
}

static int read_hello(struct cw_isis *s, const struct cw_isis_pdu *pdu, struct hello *h)
{
	int err;

	h->system = cw_isis_hello_source(pdu->at);
	h->hold_s = cw_isis_hello_hold(pdu->at);
	if (!isis_auth_ok(&s->c.hello_auth, pdu)) {
		s->n.bad_authentication++;
		return CW_E_FORBIDDEN;
	}
	if (isis_is_own(s, h->system)) {
		s->n.own_system++;
		return CW_E_CONFLICT;
	}
	if ((err = read_levels(s, pdu, h)) != CW_OK || (err = read_three_way(s, pdu, h)) != CW_OK)
		return err;
	h->topology6 = in_topology6(pdu);
	return CW_OK;
}

/* The table of RFC 5303 3.2. A neighbour that does not name us yet has only begun. */
static enum cw_isis_state next_state(const struct cw_isis *s, const struct hello *h)
{
	if (h->says == SAYS_DOWN || !h->knows_us)
		return CW_ISIS_INITIALIZING;
	if (h->says == SAYS_INITIALIZING)
		return CW_ISIS_UP;
	return s->adj.state == CW_ISIS_DOWN ? CW_ISIS_DOWN : CW_ISIS_UP;
}

static void note_neighbour(struct cw_isis *s, const struct hello *h, uint64_t now)
{
	struct adjacency *a = &s->adj;
	unsigned i;

	memcpy(a->system, h->system, CW_ISIS_SYSTEM);
	a->levels = h->levels;
	a->has_circuit = h->has_circuit;
	a->circuit = h->circuit;
	a->hold_ms = now + (uint64_t)h->hold_s * 1000;
	if (a->topology6 == h->topology6)
		return;
	a->topology6 = h->topology6;
	for (i = 0; i < 2; i++)
		isis_own_changed(s, &s->level[i], now);
}

int isis_hello_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now)
{
	enum cw_isis_state next;
	struct hello h = {0};
	int err;

	s->n.hellos_received++;
	if (s->stopping)
		return CW_E_STATE;
	if ((err = read_hello(s, pdu, &h)) != CW_OK)
		return err;
	if (s->adj.state != CW_ISIS_DOWN &&
	    (memcmp(s->adj.system, h.system, CW_ISIS_SYSTEM) != 0 || s->adj.levels != h.levels))
		isis_adjacency_down(s, now);
	next = next_state(s, &h);
	if (next == CW_ISIS_DOWN)
		return CW_OK; /* it knows an earlier life of ours: our next hello tells it */
	if (s->adj.state == CW_ISIS_UP && next == CW_ISIS_INITIALIZING)
		isis_adjacency_down(s, now); /* it has begun anew */
	note_neighbour(s, &h, now);
	if (next == CW_ISIS_UP && s->adj.state != CW_ISIS_UP)
		adjacency_up(s, now);
	else
		set_state(s, next, now);
	return CW_OK;
}

/* ---- Out ----------------------------------------------------------------------------------- */

static void put_tlv(struct cw_wr *w, uint8_t type, const void *value, size_t len)
{
	cw_wr_u8(w, type);
	cw_wr_u8(w, (uint8_t)len);
	cw_wr_bytes(w, value, len);
}

static void put_three_way(struct cw_wr *w, const struct cw_isis *s)
{
	static const uint8_t says[] = {SAYS_DOWN, SAYS_INITIALIZING, SAYS_UP};
	bool known = s->adj.state != CW_ISIS_DOWN && s->adj.has_circuit;

	cw_wr_u8(w, CW_ISIS_TLV_THREE_WAY);
	cw_wr_u8(w, known ? THREE_WAY_ALL : THREE_WAY_CIRCUIT);
	cw_wr_u8(w, says[s->adj.state]);
	cw_wr_be32(w, s->c.circuit);
	if (known) {
		cw_wr_bytes(w, s->adj.system, CW_ISIS_SYSTEM);
		cw_wr_be32(w, s->adj.circuit);
	}
}

static void put_addresses(struct cw_wr *w, const struct cw_isis *s)
{
	static const uint8_t protocols[2] = {CW_ISIS_NLPID4, CW_ISIS_NLPID6};
	static const uint8_t topologies[4] = {0, 0, 0, 2};
	uint8_t area[1 + CW_ISIS_AREA_MAX];

	area[0] = s->c.area_len;
	memcpy(area + 1, s->c.area, s->c.area_len);
	put_tlv(w, CW_ISIS_TLV_AREAS, area, 1u + s->c.area_len);
	put_tlv(w, CW_ISIS_TLV_PROTOCOLS, protocols, sizeof(protocols));
	if (s->c.addr4.version != 0)
		put_tlv(w, CW_ISIS_TLV_ADDR4, s->c.addr4.addr, 4);
	if (s->c.link_local.version != 0) /* RFC 5308 3: no other in a hello */
		put_tlv(w, CW_ISIS_TLV_ADDR6, s->c.link_local.addr, 16);
	if (s->c.topology6)
		put_tlv(w, CW_ISIS_TLV_TOPOLOGIES, topologies, sizeof(topologies));
}

/* ISO 10589 8.2.3: a neighbour whose MTU is smaller does not get it. */
static void put_padding(struct cw_wr *w)
{
	while (cw_wr_left(w) >= 2) {
		size_t n = cw_wr_left(w) - 2 < 255 ? cw_wr_left(w) - 2 : 255;

		cw_wr_u8(w, CW_ISIS_TLV_PADDING);
		cw_wr_u8(w, (uint8_t)n);
		cw_wr_zero(w, n);
	}
}

size_t isis_hello_pull(struct cw_isis *s, uint8_t *pdu, size_t size, uint64_t now)
{
	struct cw_wr w = cw_wr_init(pdu, size);
	uint64_t hold = ((uint64_t)s->c.hello_ms * s->c.multiplier + 999) / 1000;

	cw_wr_zero(&w, CW_SIZE_ISIS_HELLO);
	cw_isis_head_put(pdu, CW_ISIS_HELLO_P2P);
	cw_isis_hello_set_levels(pdu, s->c.levels);
	cw_isis_hello_set_source(pdu, s->c.system);
	cw_isis_hello_set_hold(pdu, (uint32_t)(hold < UINT16_MAX ? hold : UINT16_MAX));
	cw_isis_hello_set_circuit(pdu, s->c.circuit & 0xff);
	isis_auth_put(&w, &s->c.hello_auth);
	put_three_way(&w, s);
	put_addresses(&w, s);
	if (s->c.padding && s->adj.state != CW_ISIS_UP)
		put_padding(&w);
	cw_isis_hello_set_length(pdu, (uint32_t)(w.p - pdu));
	isis_auth_sign(&s->c.hello_auth, pdu, (size_t)(w.p - pdu));
	s->hello_ms = now + isis_jitter(s, s->c.hello_ms);
	s->n.hellos_sent++;
	return (size_t)(w.p - pdu);
}
