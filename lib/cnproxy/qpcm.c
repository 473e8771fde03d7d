/* qpcm.c - queue pairs from the CM handshake. Spec: IBTA Vol 1 12.6 to 12.9.
 *
 * Deviations: only messages whose ICRC is right and whose GIDs are the addresses they are sent
 * between are believed. A pair counts from the REP on. SIDR tells of datagram services, which need
 * no map.
 */
#include "causeway/icrc.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "lib/cnproxy/qpmap_int.h"

struct cm_msg {
	const struct qp_packet *p;
	const uint8_t *body;
	uint32_t attr;
	uint32_t local, remote; /* communication IDs: sender's and receiver's */
	uint64_t tid, now;
	bool active; /* sent by the connection's active side */
};

/* ---- Connections -------------------------------------------------------------------------- */

static bool expired(const struct cm_conn *c, uint64_t now)
{
	return c->state == CM_FREE || (c->state != CM_ESTABLISHED && now > c->deadline);
}

static struct cm_conn *bucket_of(struct cw_qpmap *m, const struct cw_gid *a, const struct cw_gid *b,
				 uint32_t id_a)
{
	uint64_t h = qp_hash(m->o.seed + 1, a, b, id_a);

	return &m->conns[(h >> 32) * (m->o.connections / CM_WAYS) >> 32 << 3];
}
_Static_assert(CM_WAYS == 1 << 3, "the shift above");

static struct cm_conn *conn_find(struct cw_qpmap *m, const struct cw_gid *a, const struct cw_gid *b,
				 uint32_t id_a, uint64_t now)
{
	struct cm_conn *c = bucket_of(m, a, b, id_a);
	unsigned i;

	for (i = 0; i < CM_WAYS; i++, c++) {
		if (!expired(c, now) && c->id_a == id_a && memcmp(&c->a, a, sizeof(*a)) == 0 &&
		    memcmp(&c->b, b, sizeof(*b)) == 0)
			return c;
	}
	return NULL;
}

/* A free place; or that of a connection that is established, for its pairs are in the map; or the
 * one that waits for the least time. */
static struct cm_conn *conn_new(struct cw_qpmap *m, const struct cw_gid *a, const struct cw_gid *b,
				uint32_t id_a, uint64_t now)
{
	struct cm_conn *c = bucket_of(m, a, b, id_a), *out = c;
	unsigned i;

	for (i = 0; i < CM_WAYS; i++, c++) {
		if (expired(c, now)) {
			out = c;
			break;
		}
		if (c->deadline < out->deadline)
			out = c;
	}
	if (i == CM_WAYS)
		m->count[CW_QPMAP_CM_FULL]++;
	*out = (struct cm_conn){.a = *a, .b = *b, .id_a = id_a};
	return out;
}

/* ---- Pairs -------------------------------------------------------------------------------- */

/* One direction of a connection; what is not known of it is NULL or 0. */
struct told {
	const struct cw_gid *sender, *receiver;
	uint32_t dqpn, sqpn;
	const uint32_t *psn;
	uint16_t pkey, vlan;
};

/* A pair that CM told: whatever was known of these queue pairs is of a former connection. */
static void learn(struct cw_qpmap *m, const struct told *t, uint64_t now)
{
	struct qp_slot *s = qp_make(m, qp_hash_key(m, t->sender, t->receiver, t->dqpn), t->sender,
				    t->receiver, t->dqpn, now);

	if (s == NULL || s->how == CW_QP_STATIC)
		return;
	s->sqpn = t->sqpn;
	s->how = CW_QP_CM;
	s->votes = s->others = s->streak = s->jumps = 0;
	s->pkey = t->pkey;
	s->vlan = t->vlan;
	s->flags = QP_PKEY | (t->vlan != 0 ? QP_BACK : 0);
	s->seen = QP_TICK(now);
	if (t->psn != NULL) {
		s->psn = *t->psn;
		s->flags |= QP_PSN;
	}
	m->count[CW_QPMAP_LEARNED]++;
}

/* Close one direction if it is this connection's. */
static void close_one(struct cw_qpmap *m, const struct cw_gid *sender,
		      const struct cw_gid *receiver, uint32_t dqpn, uint32_t sqpn, uint64_t now)
{
	struct qp_slot *s =
		qp_find(m, qp_hash_key(m, sender, receiver, dqpn), sender, receiver, dqpn);

	if (s == NULL || s->how == CW_QP_STATIC || s->how == CW_QP_NONE || s->sqpn != sqpn ||
	    (s->flags & QP_CLOSED) != 0)
		return;
	s->flags |= QP_CLOSED;
	s->seen = QP_TICK(now);
	m->count[CW_QPMAP_CLOSED]++;
}

static void close_pair(struct cw_qpmap *m, const struct cm_conn *c, uint64_t now)
{
	close_one(m, &c->a, &c->b, c->qpn_b, c->qpn_a, now);
	close_one(m, &c->b, &c->a, c->qpn_a, c->qpn_b, now);
	close_one(m, &c->alt_a, &c->alt_b, c->qpn_b, c->qpn_a, now);
	close_one(m, &c->alt_b, &c->alt_a, c->qpn_a, c->qpn_b, now);
}

/* ---- The state machine: what each message does in each state ------------------------------ */

typedef bool cm_act(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g);

static bool act_stay(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	(void)m;
	(void)c;
	(void)g;
	return true;
}

/* 12.6.6: the peer needs more time. */
static bool act_mra(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	uint64_t more = 4096ull << cw_cm_mra_service_timeout(g->body);

	if (g->now + m->o.handshake_ns + more > c->deadline)
		c->deadline = g->now + m->o.handshake_ns + more;
	return true;
}

static bool act_rep(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	uint32_t psn = cw_cm_rep_psn(g->body);

	if (g->active || g->tid != c->tid) /* of another REQ, which was not seen */
		return false;
	c->id_b = g->local;
	c->qpn_b = cw_cm_rep_qpn(g->body);
	c->state = CM_REP_SEEN;
	c->deadline = g->now + m->o.handshake_ns;
	/* 12.7.31: each side tells the PSN that it expects, which is where the other one begins. */
	learn(m, &(struct told){&c->a, &c->b, c->qpn_b, c->qpn_a, &psn, c->pkey, g->p->vlan},
	      g->now);
	learn(m, &(struct told){&c->b, &c->a, c->qpn_a, c->qpn_b, &c->psn, c->pkey, c->vlan_b},
	      g->now);
	return true;
}

/* A retransmission says the same again. */
static bool act_rep_again(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	(void)m;
	return !g->active && c->id_b == g->local && c->qpn_b == cw_cm_rep_qpn(g->body);
}

static bool act_rtu(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	(void)m;
	if (!g->active || g->remote != c->id_b)
		return false;
	c->state = CM_ESTABLISHED;
	c->deadline = g->now;
	return true;
}

/* 12.6.7: nothing came of it, or it is over; a REP before is undone. */
static bool act_rej(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	if (c->state != CM_REQ_SEEN) {
		if ((g->active ? g->remote : g->local) != c->id_b)
			return false;
		close_pair(m, c, g->now);
	}
	c->state = CM_FREE;
	return true;
}

static bool act_dreq(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	if (cw_cm_dreq_remote_qpn(g->body) != (g->active ? c->qpn_b : c->qpn_a))
		return false;
	close_pair(m, c, g->now);
	c->state = CM_CLOSING;
	c->deadline = g->now + m->o.timewait_ns;
	return true;
}

static bool act_drep(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	c->deadline = g->now + m->o.timewait_ns;
	return true;
}

static bool gid_usable(const uint8_t *gid)
{
	return cw_be64(gid) != 0 || cw_be64(gid + 8) != 0;
}

/* 12.8: another pair of addresses for the same queue pairs, if the peer agrees. */
static bool act_lap(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	struct cw_gid local = cw_gid_of(6, cw_cm_lap_local_gid(g->body));
	struct cw_gid remote = cw_gid_of(6, cw_cm_lap_remote_gid(g->body));

	(void)m;
	if (!gid_usable(local.o) || !gid_usable(remote.o) ||
	    cw_cm_lap_remote_qpn(g->body) != (g->active ? c->qpn_b : c->qpn_a))
		return false;
	c->alt_a = g->active ? local : remote;
	c->alt_b = g->active ? remote : local;
	c->alt = true;
	return true;
}

static bool act_apr(struct cw_qpmap *m, struct cm_conn *c, const struct cm_msg *g)
{
	if (!c->alt)
		return false;
	c->alt = false;
	if (cw_cm_apr_status(g->body) != 0)
		return true;
	learn(m, &(struct told){&c->alt_a, &c->alt_b, c->qpn_b, c->qpn_a, .pkey = c->pkey}, g->now);
	learn(m, &(struct told){&c->alt_b, &c->alt_a, c->qpn_a, c->qpn_b, .pkey = c->pkey}, g->now);
	return true;
}

/* An empty cell is a message that does not belong there: counted, nothing changes. */
static cm_act *const acts[CM_STATES][CW_CM_APR - CW_CM_REQ + 1] = {
#define AT(attr) [CW_CM_##attr - CW_CM_REQ]
	[CM_REQ_SEEN] = {AT(MRA) = act_mra, AT(REJ) = act_rej, AT(REP) = act_rep},
	[CM_REP_SEEN] = {AT(MRA) = act_mra, AT(REJ) = act_rej, AT(REP) = act_rep_again,
			 AT(RTU) = act_rtu, AT(DREQ) = act_dreq},
	[CM_ESTABLISHED] = {AT(MRA) = act_stay, AT(REJ) = act_rej, AT(REP) = act_rep_again,
			    AT(RTU) = act_rtu, AT(DREQ) = act_dreq, AT(LAP) = act_lap,
			    AT(APR) = act_apr},
	[CM_CLOSING] = {AT(MRA) = act_stay, AT(DREQ) = act_drep, AT(DREP) = act_drep,
			AT(REJ) = act_stay},
#undef AT
};

/* ---- Messages ----------------------------------------------------------------------------- */

/* A request for a path between other addresses than those of the message could claim anything. */
static bool own_addresses(const struct cm_msg *g)
{
	return memcmp(cw_cm_req_local_gid(g->body), g->p->u.src.o, 16) == 0 &&
	       memcmp(cw_cm_req_remote_gid(g->body), g->p->u.dst.o, 16) == 0;
}

static bool on_req(struct cw_qpmap *m, const struct cm_msg *g)
{
	struct cm_conn *c = conn_find(m, &g->p->u.src, &g->p->u.dst, g->local, g->now);
	uint32_t qpn = cw_cm_req_qpn(g->body);

	if (cw_cm_req_transport(g->body) == 2) /* RD, which nobody builds */
		return false;
	if (!own_addresses(g)) {
		m->count[CW_QPMAP_CM_ADDRESS]++;
		return true;
	}
	if (c != NULL && c->tid == g->tid && c->qpn_a == qpn)
		return c->state != CM_CLOSING;   /* a retransmission */
	if (c != NULL && c->state > CM_REQ_SEEN) /* the ID is used anew */
		close_pair(m, c, g->now);
	if (c == NULL)
		c = conn_new(m, &g->p->u.src, &g->p->u.dst, g->local, g->now);
	*c = (struct cm_conn){.a = g->p->u.src,
			      .b = g->p->u.dst,
			      .id_a = g->local,
			      .qpn_a = qpn,
			      .psn = cw_cm_req_psn(g->body),
			      .pkey = (uint16_t)cw_cm_req_pkey(g->body),
			      .vlan_b = g->p->vlan,
			      .tid = g->tid,
			      .state = CM_REQ_SEEN,
			      .deadline = g->now + m->o.handshake_ns};
	return true;
}

/* The end of a connection whose beginning was not seen: the receiver's queue pair is named. */
static bool on_unknown_dreq(struct cw_qpmap *m, const struct cm_msg *g)
{
	uint32_t qpn = cw_cm_dreq_remote_qpn(g->body), peer;
	struct qp_slot *s = qp_find(m, qp_hash_key(m, &g->p->u.src, &g->p->u.dst, qpn),
				    &g->p->u.src, &g->p->u.dst, qpn);

	if (s == NULL || s->how == CW_QP_NONE)
		return false;
	peer = s->sqpn;
	close_one(m, &g->p->u.src, &g->p->u.dst, qpn, peer, g->now);
	close_one(m, &g->p->u.dst, &g->p->u.src, peer, qpn, g->now);
	return true;
}

static bool on_message(struct cw_qpmap *m, struct cm_msg *g)
{
	struct cm_conn *c;
	cm_act *act;

	if (g->attr == CW_CM_REQ)
		return on_req(m, g);
	if (g->attr == CW_CM_SIDR_REQ || g->attr == CW_CM_SIDR_REP)
		return true;
	c = conn_find(m, &g->p->u.src, &g->p->u.dst, g->local, g->now);
	g->active = c != NULL;
	if (c == NULL)
		c = conn_find(m, &g->p->u.dst, &g->p->u.src, g->remote, g->now);
	if (c == NULL)
		return g->attr == CW_CM_DREQ && on_unknown_dreq(m, g);
	act = acts[c->state][g->attr - CW_CM_REQ];
	return act != NULL && act(m, c, g);
}

void qp_cm(struct cw_qpmap *m, const struct qp_packet *p)
{
	const uint8_t *mad = p->ext + CW_SIZE_DETH, *end = p->u.ip + p->u.total;
	struct cm_msg g = {.p = p, .now = p->now};

	if (p->u.data + p->u.len < end || end - CW_ICRC_LEN - mad < CW_MAD_OCTETS ||
	    cw_deth_qkey(p->ext) != CW_MAD_QKEY_GSI) {
		m->count[CW_QPMAP_MALFORMED]++;
		return;
	}
	g.attr = cw_mad_attribute(mad);
	if (cw_mad_base_version(mad) != 1 || cw_mad_mgmt_class(mad) != CW_MAD_CLASS_CM ||
	    cw_mad_method(mad) != CW_MAD_SEND || cw_cm_hdr(g.attr) == NULL)
		return;
	if (cw_icrc_check(p->u.ip, p->u.total, &cw_icrc_rocev2, CW_ICRC_LE) != CW_OK) {
		m->count[CW_QPMAP_CM_ICRC]++;
		return;
	}
	g.body = mad + CW_SIZE_MAD;
	g.local = cw_be32(g.body); /* where all but SIDR have their IDs */
	g.remote = cw_be32(g.body + 4);
	g.tid = cw_mad_tid(mad);
	m->count[on_message(m, &g) ? CW_QPMAP_CM_MESSAGES : CW_QPMAP_CM_STATE]++;
}
