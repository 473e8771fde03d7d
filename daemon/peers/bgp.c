/* bgp.c - BGP by ExaBGP: the conversation with `causeway bgp-helper` (docs/control-protocol.md).
 *
 * The helper brings UPDATE messages as they were on the wire, and states of sessions; what it is to
 * announce is in the answers. A helper that falls silent is lost with its sessions.
 * Spec: Fast CNP proxy 5.4, draft-ietf-idr-nhc, RFC 7606. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/log.h"
#include "daemon/peers/int.h"

enum { HELPERS = 8 };

/* One for each ExaBGP; `name` tells them apart, an empty one is a free place. */
static struct helper {
	char name[32];
	bool alive;
	uint64_t heard_ms;
} helpers[HELPERS];

static bool of_helper(const struct cw_peer_session *s, const struct helper *h)
{
	size_t n = strlen(h->name);

	return s->source == CW_PROXY_BGP && strncmp(s->name, h->name, n) == 0 && s->name[n] == '/';
}

static void lose_sessions(const struct helper *h, uint64_t now)
{
	unsigned i;

	for (i = 0; i < cw_peers.nsessions; i++) {
		if (of_helper(cw_peers.sessions[i], h))
			cw_peer_state(cw_peers.sessions[i], false, now);
	}
}

static struct helper *find_helper(const char *name)
{
	struct helper *empty = NULL;
	unsigned i;

	for (i = 0; i < HELPERS; i++) {
		if (strcmp(helpers[i].name, name) == 0)
			return &helpers[i];
		if (empty == NULL && !helpers[i].alive)
			empty = &helpers[i];
	}
	if (empty != NULL) {
		*empty = (struct helper){0};
		(void)snprintf(empty->name, sizeof(empty->name), "%s", name);
	}
	return empty;
}

uint64_t cw_bgp_run(uint64_t now)
{
	uint64_t due = UINT64_MAX, limit = (uint64_t)cw_peers.conf->helper_timeout_s * 1000;
	unsigned i;

	for (i = 0; i < HELPERS; i++) {
		struct helper *h = &helpers[i];

		if (!h->alive)
			continue;
		if (cw_peers.conf->bgp && now < h->heard_ms + limit) {
			due = h->heard_ms + limit < due ? h->heard_ms + limit : due;
			continue;
		}
		h->alive = false;
		cw_log(CW_LOG_WARNING, "bgp-helper %s is silent", h->name);
		lose_sessions(h, now);
	}
	return due;
}

void cw_bgp_forget(void)
{
	memset(helpers, 0, sizeof(helpers));
}

/* ---- What it brings ------------------------------------------------------------------------ */

static void count_verdict(struct cw_peer_session *s, enum cw_nhc_verdict v)
{
	s->n.no_pnc += v == CW_NHC_ABSENT || v == CW_NHC_NO_PNC;
	s->n.next_hop_mismatch += v == CW_NHC_MISMATCH;
	s->n.malformed += v == CW_NHC_MALFORMED;
}

static void take_routes(struct cw_peer_session *s, const struct cw_bgp_update *u, unsigned which,
			uint64_t now)
{
	struct cw_rd announced = u->announce[which].nlri, withdrawn = u->withdraw[which].nlri;
	enum cw_nhc_verdict v = CW_NHC_ABSENT;
	struct cw_addr proxy;
	struct cw_prefix p;

	while (cw_bgp_nlri_next(&withdrawn, u->withdraw[which].afi, &p) == CW_OK)
		cw_peer_withdraw(s, &p);
	if (cw_rd_left(&announced) > 0) {
		v = cw_nhc_judge(u, &u->announce[which], &cw_peers.conf->codes, &proxy, NULL);
		count_verdict(s, v);
	}
	/* A route that comes without a proxy replaces one that had it. */
	while (cw_bgp_nlri_next(&announced, u->announce[which].afi, &p) == CW_OK) {
		if (v == CW_NHC_OK)
			cw_peer_set(s, &p, &proxy, now);
		else
			cw_peer_withdraw(s, &p);
	}
}

void cw_bgp_update(struct cw_peer_session *s, const uint8_t *body, size_t len, uint64_t now)
{
	struct cw_bgp_update u;
	enum cw_bgp_action action = cw_bgp_update_parse(&u, &cw_peers.conf->codes, body, len);

	s->n.updates++;
	s->n.attribute_discard += action == CW_BGP_DISCARD;
	s->n.treat_as_withdraw += action == CW_BGP_WITHDRAW;
	s->n.unreadable += action == CW_BGP_RESET;
	if (u.why != NULL)
		cw_log(CW_LOG_INFO, "UPDATE from %s, attribute %u: %s: %s", s->name, u.attr, u.why,
		       cw_bgp_action_name(action));
	if (action == CW_BGP_RESET)
		return; /* who owns the session judges it by itself: ExaBGP, or a router */
	take_routes(s, &u, 0, now);
	take_routes(s, &u, 1, now);
}

static void take_hex(struct cw_peer_session *s, const char *hex, uint64_t now)
{
	static uint8_t body[CW_BGP_MESSAGE_MAX]; /* control thread only */
	int n = cw_hex_parse(strncmp(hex, "0x", 2) == 0 ? hex + 2 : hex, body, sizeof(body));

	if (n >= 0) {
		cw_bgp_update(s, body, (size_t)n, now);
	} else {
		s->n.updates++;
		s->n.unreadable++;
	}
}

static void take_event(const struct helper *h, const json_t *event, uint64_t now)
{
	const char *peer = json_string_value(json_object_get(event, "peer"));
	const char *state = json_string_value(json_object_get(event, "state"));
	const char *update = json_string_value(json_object_get(event, "update"));
	struct cw_peer_session *s;
	char name[CW_PEER_NAME];

	if (peer == NULL)
		return;
	(void)snprintf(name, sizeof(name), "%s/%.45s", h->name, peer);
	if ((s = cw_peer_session(CW_PROXY_BGP, name, now)) == NULL)
		return;
	if (state != NULL && (strcmp(state, "up") == 0 || strcmp(state, "down") == 0))
		cw_peer_state(s, strcmp(state, "up") == 0, now);
	if (update != NULL) {
		cw_peer_state(s, true, now);
		take_hex(s, update, now);
	}
}

/* ---- What it is to announce ---------------------------------------------------------------- */

static json_t *announcement(const struct cw_pnc_config *c, const struct cw_prefix *p)
{
	unsigned six = p->version == 6;
	const struct cw_addr *proxy = c->proxy[six].version != 0 ? &c->proxy[six] : &c->proxy[!six];
	const struct cw_addr *hop = c->next_hop[six].version != 0 ? &c->next_hop[six] : proxy;
	char prefix[CW_PREFIX_TEXT], next_hop[CW_ADDR_TEXT], hex[3 + 2 * 64];
	uint8_t value[64];
	struct cw_wr w = cw_wr_init(value, sizeof(value));
	size_t i, n;

	cw_nhc_put(&w, &c->codes, p->version, hop, proxy);
	n = (size_t)(w.p - value);
	for (i = 0; i < n; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", value[i]);
	return json_pack("{s:s, s:s, s:i, s:s}", "prefix", cw_prefix_format(p, prefix), "next_hop",
			 cw_addr_format(hop, next_hop), "type", c->codes.bgp_attr, "value", hex);
}

static json_t *announcements(void)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < c->nprefix; i++)
		json_array_append_new(all, announcement(c, &c->prefix[i]));
	return all;
}

/* ---- The conversation ---------------------------------------------------------------------- */

static json_t *answer(const json_t *request)
{
	json_t *has = json_object_get(request, "generation");
	json_t *o = json_pack("{s:I}", "generation", (json_int_t)cw_peers.generation);

	if (json_integer_value(has) != (json_int_t)cw_peers.generation)
		json_object_set_new(o, "announce", announcements());
	return o;
}

json_t *cw_peers_bgp(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();
	const char *name = json_string_value(json_object_get(request, "helper"));
	const char *op = json_string_value(json_object_get(request, "op"));
	const json_t *events = json_object_get(request, "events"), *event;
	struct helper *h;
	size_t i;

	if (cw_peers.table == NULL || !cw_peers.conf->bgp) {
		cw_diag_set(diag, CW_E_FORBIDDEN, "/causeway:causeway/pnc/bgp/enabled", "false",
			    "BGP is not enabled");
		return NULL;
	}
	if (name == NULL || *name == '\0' || strlen(name) >= sizeof(h->name) ||
	    strchr(name, '/') != NULL || op == NULL || (h = find_helper(name)) == NULL) {
		cw_diag_set(diag, CW_E_ARG, "helper", name,
			    "no name of up to 31 octets, no op, or too many helpers");
		return NULL;
	}
	if (strcmp(op, "hello") == 0) {
		/* All is told again from here on; what is not goes after the hold time. */
		lose_sessions(h, now);
		h->alive = true;
	} else if (!h->alive) {
		cw_diag_set(diag, CW_E_STATE, "op", op, "say hello first");
		return NULL;
	}
	h->heard_ms = now;
	json_array_foreach(events, i, event) take_event(h, event, now);
	if (strcmp(op, "bye") == 0) {
		h->alive = false;
		lose_sessions(h, now);
	}
	return answer(request);
}
