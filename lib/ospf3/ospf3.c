/* ospf3.c - the machine as a whole: set-up, dispatch, time. Spec and deviations: causeway/ospf3.h.
 */
#include <stdlib.h>
#include "lib/ospf3/internal.h"

const uint8_t cw_ospf3_all_routers[16] = {0xff, 0x02, [15] = 0x05};

/* ---- Small things -------------------------------------------------------------------------- */

uint64_t ospf3_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

const char *cw_ospf3_state_name(enum cw_ospf3_state s)
{
	static const char *const names[] = {
#define CW_X(id, name) name,
		CW_OSPF3_STATES(CW_X)
#undef CW_X
	};

	return names[s];
}

/* RFC 5340 A.2: R clear, no transit; those of packets may announce a trailer (RFC 7166 2.1). */
uint32_t ospf3_options(const struct cw_ospf3 *s, bool packet)
{
	uint32_t options = CW_OSPF3_OPT_V6;

	if (s->c.area_type == CW_OSPF3_NORMAL)
		options |= CW_OSPF3_OPT_E;
	if (s->c.area_type == CW_OSPF3_NSSA)
		options |= CW_OSPF3_OPT_N;
	if (packet && s->c.auth.hasher != NULL)
		options |= CW_OSPF3_OPT_AT;
	return options;
}

size_t ospf3_packet_room(const struct cw_ospf3 *s)
{
	return s->c.mtu - IPV6_HEAD - ospf3_trailer_size(s);
}

bool ospf3_headers_add(struct headers *h, const uint8_t *lsa)
{
	size_t room = h->room * 2 + 64;
	uint8_t *more;

	if (h->n == h->room) {
		if ((more = realloc(h->at, room * CW_SIZE_OSPF3_LSA)) == NULL)
			return false;
		h->at = more;
		h->room = room;
	}
	memcpy(h->at + h->n++ * CW_SIZE_OSPF3_LSA, lsa, CW_SIZE_OSPF3_LSA);
	return true;
}

void ospf3_changed(struct cw_ospf3 *s, uint64_t now)
{
	spf_timer_changed(&s->compute, now);
}

/* ---- Set-up -------------------------------------------------------------------------------- */

static bool config_ok(const struct cw_ospf3_config *c)
{
	return cw_be32(c->router) != 0 && c->interface != 0 && c->mtu >= CW_OSPF3_MTU_MIN &&
	       c->mtu <= CW_OSPF3_MTU_MAX && c->hello_s > 0 && c->hello_s <= UINT16_MAX &&
	       c->dead_s > c->hello_s && c->dead_s <= UINT16_MAX && c->retransmit_ms > 0 &&
	       c->refresh_s > 0 && c->refresh_s < CW_OSPF3_MAX_AGE && c->metric <= UINT16_MAX &&
	       c->first < 0x80000000u &&
	       (c->auth.hasher == NULL ||
		(c->auth.kind != CW_HASH_MD5 && c->auth.key_len <= CW_OSPF3_KEY_MAX));
}

int cw_ospf3_new(struct cw_ospf3 **out, const struct cw_ospf3_config *config, uint64_t now)
{
	struct cw_ospf3 *s;

	if (!config_ok(config))
		return CW_E_ARG;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return CW_E_NOMEM;
	s->c = *config;
	s->crypto = config->auth.sequence;
	s->hello_ms = now;
	s->own_ms = s->compute.due_ms = UINT64_MAX;
	s->nbr.since_ms = now;
	s->nbr.sequence = cw_be32(config->router) ^ (uint32_t)now; /* any, RFC 2328 10.8 */
	s->next_id = 1;
	*out = s;
	return CW_OK;
}

void cw_ospf3_free(struct cw_ospf3 *s)
{
	if (s == NULL)
		return;
	ospf3_lsdb_free(s);
	free(s->nbr.request.at);
	free(s->ack.at);
	free(s->prefix);
	ospf3_summaries_free(s->summary, s->nsummary);
	free(s->proxies.at);
	free(s);
}

void cw_ospf3_stop(struct cw_ospf3 *s, uint64_t now)
{
	s->stopping = true;
	s->give_up_ms = now + STOP_MS;
	ospf3_own_changed(s, now);
	(void)cw_ospf3_tick(s, now);
}

/* ---- In ------------------------------------------------------------------------------------ */

/* RFC 5340 4.2.2. */
static int check_head(struct cw_ospf3 *s, const uint8_t *src, const struct cw_ospf3_packet *p)
{
	if (src[0] != 0xfe || (src[1] & 0xc0) != 0x80) {
		s->n.not_link_local++;
		return CW_E_FORBIDDEN;
	}
	if (memcmp(cw_ospf3_head_area(p->at), s->c.area, 4) != 0) {
		s->n.area_mismatch++;
		return CW_E_CONFLICT;
	}
	if (cw_ospf3_head_instance(p->at) != s->c.instance) {
		s->n.instance_mismatch++;
		return CW_E_CONFLICT;
	}
	if (memcmp(cw_ospf3_head_router(p->at), s->c.router, 4) == 0) {
		s->n.own_router++;
		return CW_E_CONFLICT;
	}
	return CW_OK;
}

/* RFC 7166 4.2: with a trailer the checksum is not looked at. */
static int check_whole(struct cw_ospf3 *s, const uint8_t *src, const uint8_t *dst,
		       const struct cw_ospf3_packet *p)
{
	if (s->c.auth.hasher != NULL)
		return ospf3_trailer_check(s, src, p);
	if (cw_ospf3_head_checksum(p->at) != cw_ospf3_checksum(src, dst, p->at, p->len)) {
		s->n.bad_packet_checksum++;
		return CW_E_CHECKSUM;
	}
	return CW_OK;
}

/* What is not a hello comes from the neighbour (RFC 2328 8.2). */
static int from_neighbour(struct cw_ospf3 *s, const struct cw_ospf3_packet *p)
{
	if (s->nbr.state < CW_OSPF3_INIT ||
	    memcmp(cw_ospf3_head_router(p->at), s->nbr.router, 4) != 0) {
		s->n.no_adjacency++;
		return CW_E_STATE;
	}
	return CW_OK;
}

int cw_ospf3_input(struct cw_ospf3 *s, const uint8_t src[16], const uint8_t dst[16],
		   const uint8_t *packet, size_t len, uint64_t now)
{
	struct cw_ospf3_packet p;
	int err = cw_ospf3_packet_parse(&p, packet, len);

	if (err != CW_OK) {
		s->n.malformed++;
		return err;
	}
	if ((err = check_head(s, src, &p)) != CW_OK ||
	    (err = check_whole(s, src, dst, &p)) != CW_OK)
		return err;
	if (p.type == CW_OSPF3_HELLO)
		return ospf3_hello_input(s, src, &p, now);
	if ((err = from_neighbour(s, &p)) != CW_OK)
		return err;
	switch (p.type) {
	case CW_OSPF3_DD:
		return ospf3_dd_input(s, &p, now);
	case CW_OSPF3_REQUEST:
		return ospf3_request_input(s, &p, now);
	case CW_OSPF3_UPDATE:
		return ospf3_update_input(s, &p, now);
	default:
		return ospf3_ack_input(s, &p, now);
	}
}

/* ---- Time ---------------------------------------------------------------------------------- */

uint64_t cw_ospf3_tick(struct cw_ospf3 *s, uint64_t now)
{
	uint64_t due;

	ospf3_neighbour_tick(s, now);
	if (now >= s->own_ms)
		ospf3_own_tick(s, now);
	due = ospf3_lsdb_tick(s, now);
	if (now >= s->compute.due_ms)
		ospf3_compute(s, now);
	due = ospf3_sooner(due, ospf3_sooner(s->own_ms, s->compute.due_ms));
	due = ospf3_sooner(due, s->stopping ? s->give_up_ms : s->hello_ms);
	due = ospf3_sooner(due, ospf3_sooner(ospf3_exchange_due(s), ospf3_update_due(s)));
	if (s->nbr.state != CW_OSPF3_DOWN)
		due = ospf3_sooner(due, s->nbr.dead_ms);
	return due;
}

/* ---- Out ----------------------------------------------------------------------------------- */

/* Does an own LSA wait for an acknowledgement? */
static bool owes(const struct cw_ospf3 *s)
{
	size_t i;

	for (i = 0; s->nbr.state == CW_OSPF3_FULL && i < s->lsas; i++) {
		if (s->lsa[i]->own && s->lsa[i]->owed)
			return true;
	}
	return false;
}

static size_t pull_body(struct cw_ospf3 *s, uint8_t *packet, uint64_t now)
{
	size_t n = 0;

	if (!s->stopping && now >= s->hello_ms)
		return ospf3_hello_pull(s, packet, now);
	if ((n = ospf3_dd_pull(s, packet, now)) == 0 &&
	    (n = ospf3_request_pull(s, packet, now)) == 0 && (n = ospf3_ack_pull(s, packet)) == 0)
		n = ospf3_update_pull(s, packet, now);
	if (n > 0 || !s->stopping || s->said_down || (now < s->give_up_ms && owes(s)))
		return n;
	s->said_down = true;
	ospf3_neighbour_down(s, now);
	return ospf3_hello_pull(s, packet, now); /* that names no neighbour: 1-WayReceived */
}

/* The header around what was pulled; the length with the trailer, 0 when there is no hash. */
static size_t finish(struct cw_ospf3 *s, uint8_t *packet, size_t len)
{
	cw_ospf3_head_set_version(packet, 3);
	cw_ospf3_head_set_length(packet, (uint32_t)len);
	cw_ospf3_head_set_router(packet, s->c.router);
	cw_ospf3_head_set_area(packet, s->c.area);
	cw_ospf3_head_set_checksum(packet, 0);
	cw_ospf3_head_set_instance(packet, s->c.instance);
	cw_ospf3_head_set_reserved(packet, 0);
	if (s->c.auth.hasher != NULL)
		return ospf3_trailer_put(s, packet, len) ? len + ospf3_trailer_size(s) : 0;
	cw_ospf3_head_set_checksum(
		packet, cw_ospf3_checksum(s->c.address, cw_ospf3_all_routers, packet, len));
	return len;
}

size_t cw_ospf3_pull(struct cw_ospf3 *s, uint8_t *packet, size_t size, uint64_t now)
{
	size_t n;

	if (size < s->c.mtu || (n = pull_body(s, packet, now)) == 0)
		return 0;
	return finish(s, packet, n);
}

/* ---- To be seen ---------------------------------------------------------------------------- */

void cw_ospf3_info(const struct cw_ospf3 *s, struct cw_ospf3_info *out)
{
	*out = (struct cw_ospf3_info){.state = s->nbr.state,
				      .since_ms = s->nbr.since_ms,
				      .dead_ms = s->nbr.dead_ms,
				      .stopped = s->said_down,
				      .generation = s->generation,
				      .lsas = (uint32_t)s->lsas,
				      .reachable = s->reachable,
				      .requests = (uint32_t)s->nbr.request.n,
				      .untranslated = s->untranslated};
	memcpy(out->neighbour, s->nbr.router, 4);
	memcpy(out->address, s->nbr.address, 16);
}

const struct cw_ospf3_counters *cw_ospf3_counters(const struct cw_ospf3 *s)
{
	return &s->n;
}

const struct cw_ospf3_proxy *cw_ospf3_proxies(const struct cw_ospf3 *s, size_t *n)
{
	*n = s->proxies.n;
	return s->proxies.at;
}

bool cw_ospf3_lsa_at(const struct cw_ospf3 *s, size_t i, uint64_t now,
		     struct cw_ospf3_lsa_info *out)
{
	const struct lsa *p;

	if (i >= s->lsas)
		return false;
	p = s->lsa[i];
	*out = (struct cw_ospf3_lsa_info){p->at, p->len, ospf3_lsa_age(p, now), p->own,
					  p->dist != FAR};
	return true;
}
