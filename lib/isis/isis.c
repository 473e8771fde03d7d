/* isis.c - the machine as a whole: set-up, dispatch, time. Spec and deviations: causeway/isis.h. */
#include <stdlib.h>
#include "lib/isis/internal.h"

/* ---- Small things -------------------------------------------------------------------------- */

uint64_t isis_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ISO 10589 10.1 wants timers jittered, so that routers do not fall into step. */
uint32_t isis_jitter(struct cw_isis *s, uint32_t ms)
{
	s->random = s->random * 1664525u + 1013904223u;
	return ms - (uint32_t)((uint64_t)(ms / 4) * (s->random >> 16) / 65536);
}

bool isis_is_own(const struct cw_isis *s, const uint8_t *id)
{
	return memcmp(id, s->c.system, CW_ISIS_SYSTEM) == 0;
}

void isis_changed(struct cw_isis *s, uint64_t now)
{
	spf_timer_changed(&s->compute, now);
}

/* ---- Set-up -------------------------------------------------------------------------------- */

static bool config_ok(const struct cw_isis_config *c)
{
	return (c->levels & (CW_ISIS_L1 | CW_ISIS_L2)) != 0 && c->area_len > 0 &&
	       c->area_len <= CW_ISIS_AREA_MAX && c->circuit != 0 && c->mtu >= 512 &&
	       c->mtu <= CW_ISIS_PDU_MAX && c->hello_ms > 0 && c->multiplier > 1 &&
	       c->lifetime_s > c->refresh_s && c->lifetime_s <= UINT16_MAX;
}

int cw_isis_new(struct cw_isis **out, const struct cw_isis_config *config, uint64_t now)
{
	struct cw_isis *s;
	unsigned i;

	if (!config_ok(config))
		return CW_E_ARG;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return CW_E_NOMEM;
	s->c = *config;
	s->random = cw_be32(s->c.system + 2) ^ s->c.circuit;
	s->hello_ms = now;
	s->compute.due_ms = UINT64_MAX;
	s->adj.since_ms = now;
	for (i = 0; i < 2; i++) {
		s->level[i].number = (uint8_t)(i + 1);
		s->level[i].used = (s->c.levels & 1u << i) != 0;
		s->level[i].own_ms = UINT64_MAX;
		isis_own_changed(s, &s->level[i], now);
	}
	*out = s;
	return CW_OK;
}

void cw_isis_free(struct cw_isis *s)
{
	if (s == NULL)
		return;
	isis_lsdb_free(&s->level[0]);
	isis_lsdb_free(&s->level[1]);
	free(s->prefix);
	free(s->proxies.at);
	free(s);
}

int cw_isis_announce(struct cw_isis *s, const struct cw_addr *router,
		     const struct cw_isis_prefix *prefix, size_t n, uint64_t now)
{
	struct cw_isis_prefix *copy = malloc((n + 1) * sizeof(*copy));

	if (copy == NULL)
		return CW_E_NOMEM;
	if (n > 0)
		memcpy(copy, prefix, n * sizeof(*copy));
	free(s->prefix);
	s->prefix = copy;
	s->nprefix = n;
	memcpy(s->router, router, sizeof(s->router));
	isis_own_changed(s, &s->level[0], now);
	isis_own_changed(s, &s->level[1], now);
	return CW_OK;
}

void cw_isis_addresses(struct cw_isis *s, const struct cw_addr *addr4, const struct cw_addr *addr6,
		       const struct cw_addr *link_local, uint64_t now)
{
	s->c.addr4 = *addr4;
	s->c.addr6 = *addr6;
	s->c.link_local = *link_local;
	isis_own_changed(s, &s->level[0], now);
	isis_own_changed(s, &s->level[1], now);
}

void cw_isis_stop(struct cw_isis *s, uint64_t now)
{
	s->stopping = true;
	s->give_up_ms = now + STOP_MS;
	isis_own_changed(s, &s->level[0], now);
	isis_own_changed(s, &s->level[1], now);
	(void)cw_isis_tick(s, now);
}

/* ---- Running ------------------------------------------------------------------------------- */

/* The PDU type is in the low five bits of the fifth octet (ISO 10589 9.5). */
static bool is_lan_hello(const uint8_t *pdu, size_t len)
{
	uint8_t type = len > 4 ? pdu[4] & 0x1f : 0;

	return type == CW_ISIS_HELLO_LAN_L1 || type == CW_ISIS_HELLO_LAN_L2;
}

int cw_isis_input(struct cw_isis *s, const uint8_t *pdu, size_t len, uint64_t now)
{
	struct cw_isis_pdu p;
	int err = cw_isis_pdu_parse(&p, pdu, len);

	if (err != CW_OK) {
		if (err == CW_E_UNKNOWN && is_lan_hello(pdu, len))
			s->n.lan++;
		else
			s->n.malformed++;
		return err;
	}
	switch (p.type) {
	case CW_ISIS_HELLO_P2P:
		return isis_hello_input(s, &p, now);
	case CW_ISIS_LSP_L1:
	case CW_ISIS_LSP_L2:
		return isis_lsp_input(s, &p, now);
	default:
		return isis_snp_input(s, &p, now);
	}
}

static uint64_t tick_level(struct cw_isis *s, struct level *l, uint64_t now)
{
	uint64_t due;

	if (!l->used)
		return UINT64_MAX;
	due = isis_lsdb_tick(s, l, now);
	return isis_sooner(due, isis_own_tick(s, l, now));
}

uint64_t cw_isis_tick(struct cw_isis *s, uint64_t now)
{
	uint64_t due;

	isis_adjacency_tick(s, now);
	if (now >= s->compute.due_ms)
		isis_compute(s, now);
	due = isis_sooner(tick_level(s, &s->level[0], now), tick_level(s, &s->level[1], now));
	due = isis_sooner(due, s->compute.due_ms);
	due = isis_sooner(due, s->stopping ? s->give_up_ms : s->hello_ms);
	if (s->adj.state != CW_ISIS_DOWN)
		due = isis_sooner(due, s->adj.hold_ms);
	return due;
}

/* Do own LSPs wait for an acknowledgement? */
static bool owes(const struct level *l)
{
	size_t i;

	for (i = 0; l->adjacent && i < l->n; i++) {
		if (l->lsp[i]->own && l->lsp[i]->srm)
			return true;
	}
	return false;
}

size_t cw_isis_pull(struct cw_isis *s, uint8_t *pdu, size_t size, uint64_t now)
{
	size_t n = 0;
	unsigned i;

	if (size > s->c.mtu)
		size = s->c.mtu;
	if (!s->stopping && now >= s->hello_ms)
		return isis_hello_pull(s, pdu, size, now);
	for (i = 0; i < 2 && n == 0; i++) {
		if (s->level[i].adjacent)
			n = isis_sync_pull(s, &s->level[i], pdu, size, now);
	}
	if (n > 0 || !s->stopping || s->said_down)
		return n;
	if (now < s->give_up_ms && (owes(&s->level[0]) || owes(&s->level[1])))
		return 0;
	s->said_down = true;
	isis_adjacency_down(s, now);
	return isis_hello_pull(s, pdu, size, now);
}

/* ---- To be seen ---------------------------------------------------------------------------- */

void cw_isis_info(const struct cw_isis *s, struct cw_isis_info *out)
{
	unsigned i;

	*out = (struct cw_isis_info){.state = s->adj.state,
				     .levels = s->adj.levels,
				     .since_ms = s->adj.since_ms,
				     .hold_ms = s->adj.hold_ms,
				     .generation = s->generation,
				     .synchronised = s->adj.state == CW_ISIS_UP,
				     .stopped = s->said_down};
	memcpy(out->neighbour, s->adj.system, CW_ISIS_SYSTEM);
	for (i = 0; i < 2; i++) {
		const struct level *l = &s->level[i];

		out->lsps[i] = (uint32_t)l->n;
		out->reachable[i] = l->reachable;
		if (l->adjacent && !isis_synchronised(l))
			out->synchronised = false;
	}
}

const struct cw_isis_counters *cw_isis_counters(const struct cw_isis *s)
{
	return &s->n;
}

const struct cw_isis_proxy *cw_isis_proxies(const struct cw_isis *s, size_t *n)
{
	*n = s->proxies.n;
	return s->proxies.at;
}

static void copy_hostname(struct cw_isis_lsp_info *out)
{
	struct cw_isis_pdu pdu;
	struct cw_isis_tlv tlv;
	size_t n;

	if (cw_isis_pdu_parse(&pdu, out->pdu, out->len) != CW_OK ||
	    !cw_isis_tlv_find(&pdu, CW_ISIS_TLV_HOSTNAME, &tlv))
		return;
	n = tlv.len < sizeof(out->hostname) ? tlv.len : sizeof(out->hostname) - 1;
	memcpy(out->hostname, tlv.value, n);
}

bool cw_isis_lsp_at(const struct cw_isis *s, unsigned level, size_t i, uint64_t now,
		    struct cw_isis_lsp_info *out)
{
	const struct level *l = &s->level[level == 1 ? 0 : 1];
	const struct lsp *p;

	if (i >= l->n)
		return false;
	p = l->lsp[i];
	*out = (struct cw_isis_lsp_info){.pdu = p->pdu,
					 .len = p->len,
					 .sequence = p->sequence,
					 .checksum = p->checksum,
					 .lifetime_s = isis_lsp_lifetime(p, now),
					 .own = p->own,
					 .reachable = p->dist[0] != FAR || p->dist[1] != FAR};
	memcpy(out->id, p->id, sizeof(out->id));
	if (p->len > 0)
		copy_hostname(out);
	return true;
}
