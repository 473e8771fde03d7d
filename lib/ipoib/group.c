/* group.c - multicast groups of the link: joins, leaves, and how datagrams to them go. */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/ib.h"
#include "lib/ipoib/internal.h"

enum { SEND_ONLY_TRIES = 2, NON_TRIES = 3 };

#define MASK_JOIN (CW_MCM_MGID | CW_MCM_PORT | CW_MCM_PKEY | CW_MCM_JOIN)
#define MASK_CREATE                                                                       \
	(MASK_JOIN | CW_MCM_QKEY | CW_MCM_MTU | CW_MCM_TCLASS | CW_MCM_RATE | CW_MCM_SL | \
	 CW_MCM_FLOW | CW_MCM_HOP)

static void key_of_gid(uint8_t key[KEY_LEN], const uint8_t gid[16])
{
	memcpy(key, gid, 16);
	key[16] = 0;
}

struct group *group_find(const struct cw_ipoib *l, const uint8_t mgid[16])
{
	uint8_t key[KEY_LEN];

	key_of_gid(key, mgid);
	return table_find(&l->groups, key);
}

/* Told once, until a place is free again: every packet to a group may come here. */
static void table_full(struct cw_ipoib *l, const uint8_t mgid[16])
{
	l->n.table_full++;
	if (l->full_told)
		l->n.mcast_failed++;
	else
		log_failure(l, mgid, "table of groups is full", 0);
	l->full_told = true;
}

struct group *group_get(struct cw_ipoib *l, const uint8_t mgid[16])
{
	struct group *g = group_find(l, mgid);
	uint8_t key[KEY_LEN];

	if (g != NULL)
		return g;
	key_of_gid(key, mgid);
	if ((g = table_add(&l->groups, key)) == NULL) {
		table_full(l, mgid);
		return NULL;
	}
	g->is_broadcast = memcmp(mgid, l->broadcast, 16) == 0;
	queue_init(&g->held);
	return g;
}

void group_mgid(const struct cw_ipoib *l, uint8_t mgid[16], bool v6, const uint8_t *addr)
{
	if (v6)
		cw_ipoib_mgid6(mgid, addr, l->c.pkey, l->c.scope);
	else
		cw_ipoib_mgid4(mgid, addr, l->c.pkey, l->c.scope);
}

/* ---- Requests ----------------------------------------------------------------------------- */

static void send_join(struct cw_ipoib *l, struct group *g, uint64_t now)
{
	uint8_t r[CW_SIZE_MCMEMBER] = {0};
	uint64_t mask = MASK_JOIN;

	leave_cancel(l, g->it.key);
	cw_mcmember_set_mgid(r, g->it.key);
	cw_mcmember_set_port_gid(r, l->c.gid);
	cw_mcmember_set_pkey(r, l->c.pkey);
	cw_mcmember_set_join_state(r, g->want);
	/* Only a full member creates; a new group takes after the broadcast group (10). */
	if (!g->is_broadcast && (g->want & CW_SA_FULL)) {
		mask = MASK_CREATE;
		cw_mcmember_set_qkey(r, l->qkey);
		cw_mcmember_set_mtu_sel(r, CW_SA_EXACTLY);
		cw_mcmember_set_mtu(r, l->mtu_code);
		cw_mcmember_set_tclass(r, l->tclass);
		cw_mcmember_set_rate_sel(r, CW_SA_EXACTLY);
		cw_mcmember_set_rate(r, l->rate);
		cw_mcmember_set_sl(r, l->sl);
		cw_mcmember_set_flow_label(r, l->flow_label);
		cw_mcmember_set_hop_limit(r, l->hop_limit);
	}
	request_send(l, &g->req, now, CW_SA_SET, CW_SA_MCMEMBER, mask, r, sizeof(r));
}

static void detach(struct cw_ipoib *l, struct group *g)
{
	if (g->attached)
		emit_event(l, CW_IPOIB_DETACH, g->it.key, g->mlid);
	g->attached = false;
}

static void forget(struct cw_ipoib *l, struct group *g)
{
	detach(l, g);
	l->n.tx_no_group += queue_drop(&g->held);
	l->full_told = false;
	table_remove(&l->groups, &g->it);
}

void group_want(struct cw_ipoib *l, struct group *g, uint64_t now, uint8_t bits)
{
	uint8_t gone = g->have & (uint8_t)~bits;

	g->want = bits;
	if (gone != 0) {
		leave_send(l, now, g->it.key, gone);
		g->have &= bits;
		if (!(g->have & (CW_SA_FULL | CW_SA_NON)))
			detach(l, g);
	}
	if (bits == 0) {
		forget(l, g);
		return;
	}
	if ((bits & ~g->have) == 0)
		return;
	g->state = GROUP_NEW;
	request_done(&g->req);
	if (l->up || g->is_broadcast)
		send_join(l, g, now);
}

/* ---- Datagrams ---------------------------------------------------------------------------- */

static void transmit(struct cw_ipoib *l, const struct group *g, const uint8_t *data, size_t len)
{
	struct cw_ipoib_out o = {0};

	o.tx.dlid = g->mlid;
	o.tx.sl = g->sl;
	o.tx.grh = true;
	o.tx.tclass = g->tclass;
	o.tx.flow_label = g->flow_label;
	o.tx.hop_limit = g->hop_limit;
	o.tx.dqpn = CW_IB_QPN_MCAST;
	memcpy(o.tx.dgid, g->it.key, 16);
	emit_datagram(l, &o, data, len);
}

static bool is_v6(const struct group *g)
{
	return cw_be16(g->it.key + 2) == CW_IPOIB_SIG6;
}

/* Nobody listens: routers may know somebody who does (RFC 4392 4.2). A router knows. */
static void via_routers(struct cw_ipoib *l, struct group *g, uint64_t now, const uint8_t *data,
			size_t len)
{
	static const uint8_t routers4[4] = {224, 0, 0, 2};
	static const uint8_t routers6[16] = {0xff, 2, [15] = 2};
	uint8_t mgid[16];
	struct group *r;

	group_mgid(l, mgid, is_v6(g), is_v6(g) ? routers6 : routers4);
	if (!g->routable || l->c.router || memcmp(mgid, g->it.key, 16) == 0 ||
	    (r = group_get(l, mgid)) == NULL || r->state == GROUP_ABSENT) {
		l->n.tx_no_group++;
		return;
	}
	l->n.tx_via_routers++;
	if (r->state == GROUP_JOINED) {
		transmit(l, r, data, len);
		return;
	}
	(void)queue_put(l, &r->held, data, len);
	if (r->want == 0)
		group_want(l, r, now, CW_SA_SEND_ONLY_NON);
}

static void release(struct cw_ipoib *l, struct group *g)
{
	struct held *h;

	while ((h = queue_take(&g->held)) != NULL) {
		transmit(l, g, h->data, h->len);
		free(h);
	}
}

/* Those that wait for a group that turned out to be absent. */
static void redirect(struct cw_ipoib *l, struct group *g, uint64_t now)
{
	struct held *h;

	while ((h = queue_take(&g->held)) != NULL) {
		via_routers(l, g, now, h->data, h->len);
		free(h);
	}
}

static bool is_routable(bool v6, const uint8_t *addr)
{
	return v6 ? (addr[1] & 15) > 2
		  : !(addr[0] == 224 && addr[1] == 0 && addr[2] == 0) &&
			       cw_be32(addr) != 0xffffffff;
}

int group_send(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, const uint8_t *data,
	       size_t len)
{
	uint8_t mgid[16];
	struct group *g;

	group_mgid(l, mgid, v6, addr);
	if ((g = group_get(l, mgid)) == NULL)
		return CW_E_SPACE;
	/* Groups of several scopes share an MGID: one of them is enough. */
	g->routable |= is_routable(v6, addr);
	if (g->state == GROUP_JOINED) {
		transmit(l, g, data, len);
		return CW_OK;
	}
	if (g->state == GROUP_ABSENT) {
		via_routers(l, g, now, data, len);
		return CW_OK;
	}
	if (!queue_put(l, &g->held, data, len))
		return CW_E_SPACE;
	if (g->want == 0)
		group_want(l, g, now, CW_SA_SEND_ONLY_NON);
	return CW_OK;
}

/* ---- Answers and events ------------------------------------------------------------------- */

static bool makes_sense(const struct cw_ipoib *l, const struct group *g, const uint8_t *r)
{
	return memcmp(cw_mcmember_mgid(r), g->it.key, 16) == 0 &&
	       cw_mcmember_mlid(r) >= CW_IB_LID_MCAST && cw_mcmember_mlid(r) < CW_IB_LID_PERMIT &&
	       (cw_mcmember_pkey(r) | CW_IPOIB_PKEY_FULL) == l->c.pkey &&
	       (!g->is_broadcast || (cw_mcmember_mtu(r) >= 1 && cw_mcmember_mtu(r) <= 5));
}

/* The link's parameters are those of the broadcast group (5). */
static void take_link(struct cw_ipoib *l, struct group *g, uint64_t now, const uint8_t *r)
{
	uint32_t mtu = (128u << cw_mcmember_mtu(r)) - CW_SIZE_IPOIB;
	bool same = l->up && l->qkey == cw_mcmember_qkey(r) && l->mtu_code == cw_mcmember_mtu(r);

	l->qkey = cw_mcmember_qkey(r);
	l->mtu_code = (uint8_t)cw_mcmember_mtu(r);
	l->mtu = l->c.mtu != 0 && l->c.mtu < mtu ? l->c.mtu : mtu;
	l->rate = (uint8_t)cw_mcmember_rate(r);
	l->life = (uint8_t)cw_mcmember_life(r);
	l->sl = (uint8_t)cw_mcmember_sl(r);
	l->tclass = (uint8_t)cw_mcmember_tclass(r);
	l->flow_label = cw_mcmember_flow_label(r);
	l->hop_limit = (uint8_t)cw_mcmember_hop_limit(r);
	if (same)
		return;
	l->up = true;
	emit_event(l, CW_IPOIB_UP, g->it.key, (uint16_t)cw_mcmember_mlid(r));
	group_renew_all(l, now);
	own_start(l, now);
}

static void joined(struct cw_ipoib *l, struct group *g, uint64_t now, const uint8_t *r)
{
	bool lost = g->state == GROUP_JOINED && g->mlid != cw_mcmember_mlid(r);

	if (lost || (g->have != 0 && g->mlid != cw_mcmember_mlid(r))) {
		l->n.rejoined++;
		detach(l, g);
	}
	g->state = GROUP_JOINED;
	g->have = g->want;
	g->mlid = (uint16_t)cw_mcmember_mlid(r);
	g->sl = (uint8_t)cw_mcmember_sl(r);
	g->tclass = (uint8_t)cw_mcmember_tclass(r);
	g->flow_label = cw_mcmember_flow_label(r);
	g->hop_limit = (uint8_t)cw_mcmember_hop_limit(r);
	g->until = now + l->c.refresh_ms;
	request_done(&g->req);
	if (!g->attached && (g->have & (CW_SA_FULL | CW_SA_NON))) {
		g->attached = true;
		emit_event(l, CW_IPOIB_ATTACH, g->it.key, g->mlid);
	}
	if (g->is_broadcast)
		take_link(l, g, now, r);
	release(l, g);
	if (lost) /* the subnet manager began anew: nothing that it knew still holds */
		group_renew_all(l, now);
}

static void go_down(struct cw_ipoib *l)
{
	uint32_t i;

	if (!l->up)
		return;
	l->up = false;
	emit_event(l, CW_IPOIB_DOWN, l->broadcast, 0);
	for (i = 0; i < l->groups.size; i++) {
		struct group *g = table_at(&l->groups, i);

		if (g == NULL)
			continue;
		detach(l, g);
		g->have = 0;
		g->state = GROUP_NEW;
	}
}

static void refused(struct cw_ipoib *l, struct group *g, uint64_t now, uint16_t status)
{
	bool was_member = g->state == GROUP_JOINED;

	l->n.sa_refused++;
	g->req.tid = 0;
	if (g->want == CW_SA_SEND_ONLY_NON && status == CW_SA_REQ_INVALID) {
		g->state = GROUP_ABSENT; /* no failure: it does not exist */
		g->have = 0;
		g->until = now + l->c.absent_ms;
		request_done(&g->req);
		redirect(l, g, now);
		return;
	}
	log_failure(l, g->it.key, "join", status);
	if (g->want == CW_SA_NON && g->req.tries >= NON_TRIES) {
		forget(l, g); /* it was gone before we came */
		return;
	}
	g->state = GROUP_NEW;
	g->have = 0;
	detach(l, g);
	if (g->is_broadcast)
		go_down(l);
	else if (was_member)
		group_renew_all(l, now);
}

void group_answer(struct cw_ipoib *l, struct group *g, uint64_t now, uint16_t status,
		  const uint8_t *record)
{
	if (status != CW_SA_OK) {
		refused(l, g, now, status);
		return;
	}
	if (!makes_sense(l, g, record)) {
		l->n.sa_bad++; /* the request goes out again when it is due */
		return;
	}
	joined(l, g, now, record);
}

/* A group was created, or is in the list: what this link wants with it. */
void group_created(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16])
{
	struct group *g = group_find(l, mgid);
	struct cw_ipoib_group ip;

	if (g != NULL && g->state == GROUP_ABSENT) {
		g->state = GROUP_NEW;
		group_want(l, g, now, g->want);
	}
	if (!l->c.router || cw_ipoib_mgid_parse(mgid, &ip) < 0 || ip.pkey != l->c.pkey ||
	    ip.scope != l->c.scope || memcmp(mgid, l->broadcast, 16) == 0)
		return;
	if ((g = group_get(l, mgid)) != NULL && !(g->want & CW_SA_NON))
		group_want(l, g, now, g->want | CW_SA_NON);
}

/* Its MLID may be another group's soon. Who still wants to hear it creates it again. */
void group_deleted(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16])
{
	struct group *g = group_find(l, mgid);

	if (g == NULL)
		return;
	detach(l, g);
	g->have = 0;
	g->state = GROUP_NEW;
	if (g->is_broadcast)
		go_down(l);
	if (g->want & CW_SA_FULL)
		group_want(l, g, now, g->want);
	else
		forget(l, g);
}

/* Every membership and subscription anew, at once. */
void group_renew_all(struct cw_ipoib *l, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < l->groups.size; i++) {
		struct group *g = table_at(&l->groups, i);

		if (g == NULL || g->is_broadcast || g->want == 0)
			continue;
		request_done(&g->req);
		g->req.due = now;
		if (g->state == GROUP_ABSENT)
			g->state = GROUP_NEW;
	}
	for (i = 0; i < TRAPS; i++) {
		l->subscribed[i] = false;
		request_done(&l->trap_req[i]);
		l->trap_req[i].due = now;
	}
	l->table_done = !l->c.router;
	l->table_req.due = now;
}

/* The broadcast group last: while others are there it is the link. */
void group_leave_all(struct cw_ipoib *l, uint64_t now)
{
	struct group *g;
	uint32_t i;

	for (i = 0; i < l->groups.size; i++) {
		g = table_at(&l->groups, i);
		if (g != NULL && !g->is_broadcast)
			group_want(l, g, now, 0);
	}
	if ((g = group_find(l, l->broadcast)) != NULL)
		group_want(l, g, now, 0);
}

static void give_up_sending(struct cw_ipoib *l, struct group *g)
{
	uint32_t n = queue_drop(&g->held);

	if (n == 0)
		return;
	l->n.tx_no_group += n;
	log_failure(l, g->it.key, "no answer to a send-only join", 0);
}

void group_tick(struct cw_ipoib *l, struct group *g, uint64_t now)
{
	if (g->state == GROUP_ABSENT && now >= g->until) {
		forget(l, g);
		return;
	}
	if (g->state == GROUP_JOINED && g->req.due == 0 && now >= g->until)
		g->req.due = now;
	if (!request_due(&g->req, now) || (!l->up && !g->is_broadcast))
		return;
	if (g->want == CW_SA_SEND_ONLY_NON && g->req.tries >= SEND_ONLY_TRIES)
		give_up_sending(l, g);
	else if (request_unheard(&g->req))
		log_failure(l, g->it.key,
			    g->state == GROUP_JOINED ? "no answer to the renewal of"
						     : "no answer to a join",
			    0);
	send_join(l, g, now);
}
