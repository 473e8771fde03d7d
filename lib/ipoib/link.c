/* link.c - the link: its life, what goes in and out. */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "lib/ipoib/internal.h"

/* ---- Output and queues -------------------------------------------------------------------- */

uint8_t *emit(struct cw_ipoib *l, const struct cw_ipoib_out *o, const uint8_t *data, size_t len)
{
	struct out *n;

	if (l->nout >= OUT_MAX || (n = malloc(sizeof(*n) + len)) == NULL) {
		l->n.out_full++;
		return NULL;
	}
	n->next = NULL;
	n->o = *o;
	n->o.data = n->data;
	n->o.len = (uint32_t)len;
	if (len > 0)
		memcpy(n->data, data, len);
	*l->tail = n;
	l->tail = &n->next;
	l->nout++;
	return n->data;
}

/* The caller has filled in what is the destination's. */
void emit_datagram(struct cw_ipoib *l, struct cw_ipoib_out *o, const uint8_t *data, size_t len)
{
	o->what = CW_IPOIB_SEND;
	o->tx.slid = l->c.lid;
	o->tx.pkey = l->c.pkey;
	o->tx.sqpn = l->c.qpn;
	o->tx.qkey = l->qkey;
	memcpy(o->tx.sgid, l->c.gid, 16);
	if (emit(l, o, data, len) != NULL)
		l->n.tx++;
}

void emit_event(struct cw_ipoib *l, enum cw_ipoib_what what, const uint8_t mgid[16], uint16_t mlid)
{
	struct cw_ipoib_out o = {.what = what, .mlid = mlid};

	memcpy(o.mgid, mgid, 16);
	(void)emit(l, &o, NULL, 0);
}

void log_failure(struct cw_ipoib *l, const uint8_t mgid[16], const char *reason, uint16_t status)
{
	struct cw_ipoib_out o = {.what = CW_IPOIB_LOG, .reason = reason, .status = status};

	l->n.mcast_failed++;
	memcpy(o.mgid, mgid, 16);
	(void)emit(l, &o, NULL, 0);
}

void queue_init(struct queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
	q->n = 0;
}

bool queue_put(struct cw_ipoib *l, struct queue *q, const uint8_t *data, size_t len)
{
	struct held *h;

	if (q->n >= l->c.held || (h = malloc(sizeof(*h) + len)) == NULL) {
		l->n.tx_queue_full++;
		return false;
	}
	h->next = NULL;
	h->len = (uint32_t)len;
	memcpy(h->data, data, len);
	*q->tail = h;
	q->tail = &h->next;
	q->n++;
	return true;
}

struct held *queue_take(struct queue *q)
{
	struct held *h = q->head;

	if (h == NULL)
		return NULL;
	if ((q->head = h->next) == NULL)
		q->tail = &q->head;
	q->n--;
	return h;
}

uint32_t queue_drop(struct queue *q)
{
	struct held *h;
	uint32_t n = 0;

	while ((h = queue_take(q)) != NULL) {
		free(h);
		n++;
	}
	return n;
}

bool cw_ipoib_next(struct cw_ipoib *l, struct cw_ipoib_out *out)
{
	free(l->last);
	l->last = l->head;
	if (l->head == NULL)
		return false;
	if ((l->head = l->head->next) == NULL)
		l->tail = &l->head;
	l->nout--;
	*out = l->last->o;
	return true;
}

/* ---- Life --------------------------------------------------------------------------------- */

static void set_default(uint32_t *v, uint32_t def)
{
	if (*v == 0)
		*v = def;
}

static void set_defaults(struct cw_ipoib_config *c)
{
	if (c->scope == 0)
		c->scope = CW_IPOIB_SCOPE;
	set_default(&c->groups, 256);
	set_default(&c->neighbours, 1024);
	set_default(&c->paths, 1024);
	set_default(&c->held, 64);
	set_default(&c->refresh_ms, 30000);
	set_default(&c->reachable_ms, 30000);
	set_default(&c->path_ms, 120000);
	set_default(&c->absent_ms, 10000);
}

static bool is_lid(uint16_t lid)
{
	return lid != 0 && lid < CW_IB_LID_MCAST;
}

int cw_ipoib_new(struct cw_ipoib **out, const struct cw_ipoib_config *config)
{
	struct cw_ipoib *l;

	if (!(config->pkey & CW_IPOIB_PKEY_FULL) || config->qpn < 2 || config->qpn >= 0xffffff ||
	    !is_lid(config->lid) || !is_lid(config->sm_lid) || config->scope > 15)
		return CW_E_ARG;
	if ((l = calloc(1, sizeof(*l))) == NULL)
		return CW_E_NOMEM;
	l->c = *config;
	set_defaults(&l->c);
	l->tail = &l->head;
	cw_ipoib_broadcast(l->broadcast, l->c.pkey, l->c.scope);
	if (!table_init(&l->groups, l->c.groups, sizeof(struct group)) ||
	    !table_init(&l->neighbours, l->c.neighbours, sizeof(struct neigh)) ||
	    !table_init(&l->paths, l->c.paths, sizeof(struct path))) {
		cw_ipoib_free(l);
		return CW_E_NOMEM;
	}
	*out = l;
	return CW_OK;
}

static void free_entries(struct cw_ipoib *l)
{
	uint32_t i;

	for (i = 0; i < l->groups.size && l->groups.mem != NULL; i++) {
		struct group *g = table_at(&l->groups, i);

		if (g != NULL)
			(void)queue_drop(&g->held);
	}
	for (i = 0; i < l->neighbours.size && l->neighbours.mem != NULL; i++) {
		struct neigh *n = table_at(&l->neighbours, i);

		if (n != NULL)
			(void)queue_drop(&n->held);
	}
	for (i = 0; i < l->paths.size && l->paths.mem != NULL; i++) {
		struct path *p = table_at(&l->paths, i);

		if (p != NULL)
			path_free(p);
	}
}

void cw_ipoib_free(struct cw_ipoib *l)
{
	struct cw_ipoib_out o;

	if (l == NULL)
		return;
	while (cw_ipoib_next(l, &o))
		;
	free_entries(l);
	table_free(&l->groups);
	table_free(&l->neighbours);
	table_free(&l->paths);
	free(l->rmpp);
	free(l);
}

/* ---- Time --------------------------------------------------------------------------------- */

static void subscribe(struct cw_ipoib *l, unsigned i, uint64_t now)
{
	uint8_t r[CW_SIZE_INFORMINFO] = {0};

	cw_informinfo_set_lid_begin(r, 0xffff);
	cw_informinfo_set_generic(r, 1);
	cw_informinfo_set_subscribe(r, 1);
	cw_informinfo_set_type(r, 0xffff);
	cw_informinfo_set_trap(r, CW_TRAP_MCG_CREATE + i);
	cw_informinfo_set_qpn(r, CW_MAD_QPN_GSI);
	cw_informinfo_set_resp_time(r, 18);
	cw_informinfo_set_producer(r, 4);
	request_send(l, &l->trap_req[i], now, CW_SA_SET, CW_SA_INFORMINFO, 0, r, sizeof(r));
}

static void ask_table(struct cw_ipoib *l, uint64_t now)
{
	uint8_t r[CW_SIZE_MCMEMBER] = {0};

	cw_mcmember_set_pkey(r, l->c.pkey);
	free(l->rmpp);
	l->rmpp = NULL;
	request_send(l, &l->table_req, now, CW_SA_GETTABLE, CW_SA_MCMEMBER, CW_MCM_PKEY, r,
		     sizeof(r));
}

static void start(struct cw_ipoib *l, uint64_t now)
{
	struct group *g = group_get(l, l->broadcast);

	l->started = true;
	if (g != NULL)
		group_want(l, g, now, CW_SA_FULL);
}

void cw_ipoib_tick(struct cw_ipoib *l, uint64_t now)
{
	uint32_t i;

	if (!l->started)
		start(l, now);
	for (i = 0; i < l->groups.size; i++) {
		if (table_at(&l->groups, i) != NULL)
			group_tick(l, table_at(&l->groups, i), now);
	}
	leave_tick(l, now);
	if (!l->up)
		return;
	for (i = 0; i < TRAPS; i++) {
		if (l->subscribed[i] || !request_due(&l->trap_req[i], now))
			continue;
		if (request_unheard(&l->trap_req[i]))
			log_failure(l, l->broadcast, "no answer to a subscription to traps", 0);
		subscribe(l, i, now);
	}
	if (!l->table_done && request_due(&l->table_req, now)) {
		if (request_unheard(&l->table_req))
			log_failure(l, l->broadcast,
				    "no answer to a request for the list of groups", 0);
		ask_table(l, now);
	}
	own_tick(l, now);
	for (i = 0; i < l->neighbours.size; i++) {
		if (table_at(&l->neighbours, i) != NULL)
			neigh_tick(l, table_at(&l->neighbours, i), now);
	}
	for (i = 0; i < l->paths.size; i++) {
		if (table_at(&l->paths, i) != NULL)
			path_tick(l, table_at(&l->paths, i), now);
	}
}

void cw_ipoib_shutdown(struct cw_ipoib *l, uint64_t now)
{
	group_leave_all(l, now);
	l->up = false;
}

void cw_ipoib_sm_changed(struct cw_ipoib *l, uint64_t now, uint16_t sm_lid)
{
	struct group *g = group_find(l, l->broadcast);
	uint32_t i;

	if (is_lid(sm_lid))
		l->c.sm_lid = sm_lid;
	for (i = 0; i < l->paths.size; i++) {
		struct path *p = table_at(&l->paths, i);

		if (p != NULL && p->req.due == 0)
			path_forget(l, p->it.key);
	}
	if (g != NULL) {
		request_done(&g->req);
		g->req.due = now;
	}
	group_renew_all(l, now);
	l->n.rejoined++;
	cw_ipoib_tick(l, now);
}

/* ---- In ----------------------------------------------------------------------------------- */

/* Equal in 15 bits, and one side at least a full member: ours always is. */
static bool may_receive(struct cw_ipoib *l, const struct cw_ipoib_tx *rx)
{
	struct group *g;

	if (((rx->pkey ^ l->c.pkey) & 0x7fff) != 0)
		return l->n.rx_pkey++, false;
	if (rx->qkey != l->qkey)
		return l->n.rx_qkey++, false;
	if (rx->slid == l->c.lid && rx->sqpn == l->c.qpn)
		return l->n.rx_own++, false;
	if (rx->dqpn == l->c.qpn)
		return true;
	/* To a group: with a GRH, and only if the queue pair is attached to it. */
	g = rx->dqpn == CW_IB_QPN_MCAST && rx->grh ? group_find(l, rx->dgid) : NULL;
	if (g == NULL || !g->attached)
		return l->n.rx_not_ours++, false;
	return true;
}

static int deliver(struct cw_ipoib *l, uint64_t now, const uint8_t *ip, size_t len, bool v6)
{
	struct cw_ipoib_out o = {.what = CW_IPOIB_DELIVER};
	bool was_nd = false;
	int err;

	if (len < (v6 ? CW_SIZE_IPV6 : CW_SIZE_IPV4) || ip[0] >> 4 != (v6 ? 6 : 4))
		return CW_E_VERSION;
	if (v6 && ((err = neigh_nd(l, now, ip, len, &was_nd)) < 0 || was_nd))
		return err;
	(void)emit(l, &o, ip, len);
	return CW_OK;
}

/* A table of link-layer addresses to serve from would be wrong after every restart of a peer. */
static int on_rarp(struct cw_ipoib *l, const uint8_t *rarp, size_t len)
{
	if (!cw_ipoib_rarp_valid(rarp, len))
		return CW_E_FORBIDDEN;
	l->n.rx_rarp++;
	return CW_OK;
}

int cw_ipoib_recv(struct cw_ipoib *l, uint64_t now, const struct cw_ipoib_tx *rx,
		  const uint8_t *data, size_t len)
{
	int err;

	if (!l->up)
		return CW_E_STATE;
	if (!may_receive(l, rx))
		return CW_E_FORBIDDEN;
	l->n.rx++;
	if (len < CW_SIZE_IPOIB)
		err = CW_E_SHORT;
	else if (cw_ipoib_type(data) == CW_ETHERTYPE_ARP)
		err = neigh_arp(l, now, data + CW_SIZE_IPOIB, len - CW_SIZE_IPOIB);
	else if (cw_ipoib_type(data) == CW_IPOIB_RARP)
		err = on_rarp(l, data + CW_SIZE_IPOIB, len - CW_SIZE_IPOIB);
	else if (cw_ipoib_type(data) == CW_ETHERTYPE_IP4)
		err = deliver(l, now, data + CW_SIZE_IPOIB, len - CW_SIZE_IPOIB, false);
	else if (cw_ipoib_type(data) == CW_ETHERTYPE_IP6)
		err = deliver(l, now, data + CW_SIZE_IPOIB, len - CW_SIZE_IPOIB, true);
	else
		err = CW_E_UNKNOWN;
	if (err < 0)
		l->n.rx_bad++;
	return err;
}

int cw_ipoib_frame(struct cw_ipoib *l, uint64_t now, const uint8_t *frame, size_t len)
{
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	size_t n;
	int err = cw_ipoib_frame_parse(frame, len, &rx, &data, &n);

	if (err < 0) {
		l->n.rx_bad_frame++;
		return err;
	}
	if (rx.dqpn != CW_MAD_QPN_GSI)
		return cw_ipoib_recv(l, now, &rx, data, n);
	/* Only who may use the controlled Q_Key of QP1 speaks for the SA. */
	if (rx.dlid != l->c.lid || rx.slid != l->c.sm_lid || rx.qkey != CW_MAD_QKEY_GSI) {
		l->n.rx_not_ours++;
		return CW_E_FORBIDDEN;
	}
	return cw_ipoib_mad(l, now, data, n);
}

/* ---- Out ---------------------------------------------------------------------------------- */

static bool is_group(bool v6, const uint8_t *addr)
{
	return v6 ? addr[0] == 0xff : addr[0] >> 4 == 14 || cw_be32(addr) == 0xffffffff;
}

int cw_ipoib_send(struct cw_ipoib *l, uint64_t now, const uint8_t *next_hop, const uint8_t *ip,
		  size_t len)
{
	uint8_t m[CW_SIZE_IPOIB + 4096];
	bool v6;

	if (!l->up)
		return l->n.tx_down++, CW_E_STATE;
	if (len < CW_SIZE_IPV4 || (ip[0] >> 4 != 4 && ip[0] >> 4 != 6))
		return CW_E_VERSION;
	v6 = ip[0] >> 4 == 6;
	if (len > l->mtu)
		return l->n.tx_too_big++, CW_E_LENGTH;
	cw_ipoib_set_type(m, v6 ? CW_ETHERTYPE_IP6 : CW_ETHERTYPE_IP4);
	cw_ipoib_set_reserved(m, 0);
	memcpy(m + CW_SIZE_IPOIB, ip, len);
	return is_group(v6, next_hop) ? group_send(l, now, v6, next_hop, m, len + CW_SIZE_IPOIB)
				      : neigh_send(l, now, v6, next_hop, m, len + CW_SIZE_IPOIB);
}

int cw_ipoib_join(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	uint8_t mgid[16];
	struct group *g;

	if (!is_group(v6, addr))
		return CW_E_ARG;
	group_mgid(l, mgid, v6, addr);
	if ((g = group_get(l, mgid)) == NULL)
		return CW_E_SPACE;
	if (g->hosts++ == 0 && !(g->want & CW_SA_FULL))
		group_want(l, g, now, g->want | CW_SA_FULL);
	return CW_OK;
}

int cw_ipoib_leave(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	uint8_t mgid[16];
	struct group *g;

	if (!is_group(v6, addr))
		return CW_E_ARG;
	group_mgid(l, mgid, v6, addr);
	if ((g = group_find(l, mgid)) == NULL || g->hosts == 0)
		return CW_E_STATE;
	if (--g->hosts == 0 && !g->is_broadcast)
		group_want(l, g, now, g->want & (uint8_t)~CW_SA_FULL);
	return CW_OK;
}

/* ---- Looking ------------------------------------------------------------------------------ */

void cw_ipoib_info(const struct cw_ipoib *l, struct cw_ipoib_info *out)
{
	const struct group *g = group_find(l, l->broadcast);

	*out = (struct cw_ipoib_info){
		.up = l->up,
		.controlled = l->qkey >> 31 != 0,
		.mlid = g != NULL ? g->mlid : 0,
		.pkey = l->c.pkey,
		.qkey = l->qkey,
		.mtu = l->mtu,
		.flow_label = l->flow_label,
		.sl = l->sl,
		.tclass = l->tclass,
		.hop_limit = l->hop_limit,
		.rate = l->rate,
		.groups = l->groups.count,
		.neighbours = l->neighbours.count,
		.paths = l->paths.count,
	};
}

const struct cw_ipoib_counters *cw_ipoib_counters(const struct cw_ipoib *l)
{
	return &l->n;
}

static void *nth(const struct table *t, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < t->size; k++) {
		if (table_at(t, k) != NULL && i-- == 0)
			return table_at(t, k);
	}
	return NULL;
}

bool cw_ipoib_group_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_group_info *out)
{
	const struct group *g = nth(&l->groups, i);

	if (g == NULL)
		return false;
	*out = (struct cw_ipoib_group_info){.join_state = g->have,
					    .mlid = g->mlid,
					    .joined = g->state == GROUP_JOINED,
					    .absent = g->state == GROUP_ABSENT,
					    .hosts = g->hosts,
					    .held = g->held.n};
	memcpy(out->mgid, g->it.key, 16);
	return true;
}

bool cw_ipoib_neigh_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_neigh_info *out)
{
	const struct neigh *n = nth(&l->neighbours, i);

	if (n == NULL)
		return false;
	*out = (struct cw_ipoib_neigh_info){.v6 = n->it.key[16] == 6,
					    .reachable = n->state == NEIGH_REACHABLE,
					    .failed = n->state == NEIGH_FAILED,
					    .held = n->held.n};
	memcpy(out->addr, n->it.key, 16);
	memcpy(out->lla, n->lla, sizeof(out->lla));
	return true;
}

bool cw_ipoib_path_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_path_info *out)
{
	const struct path *p = nth(&l->paths, i);

	if (p == NULL)
		return false;
	*out = (struct cw_ipoib_path_info){.sl = p->sl, .dlid = p->dlid, .valid = p->valid};
	memcpy(out->gid, p->it.key, 16);
	return true;
}
