/* cnrelay.c - the proxy. Spec and deviations: causeway/cnrelay.h. */
#include <stdlib.h>
#include "causeway/cnrelay.h"
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "causeway/wire/ub.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
#include "lib/cnproxy/cn_int.h"
#include "lib/cnproxy/cnsource.h"

enum { COALESCE = 1 << 16, FLOW_HEADER = 24 };

/* The transport of a flow, by its protocol and destination port. */
enum family { FAMILY_NONE, FAMILY_ROCE, FAMILY_UB, FAMILY_UEC, FAMILY_UETX };

/* A UB, UEC or UETX flow: the last header that was seen. */
struct flow {
	uint64_t tag, seen;
	uint8_t header[FLOW_HEADER]; /* UDP header and what follows */
	uint16_t vlan;
	uint8_t len;
};

struct last {
	uint32_t tag;
	uint32_t time; /* units of 2^10 ns */
};

struct cw_relay {
	struct cw_relay_settings s;
	struct cw_qpmap *map;
	struct flow *flows;
	uint32_t nflows;
	struct cn_sources sources;
	struct last *last;                                   /* only with coalescing */
	struct cn_rate source_rate, total_rate, others_rate; /* others: of the total, not listed */
	uint64_t total_next;
	bool has_own;  /* messages have to be sent to an address of ours */
	bool has_vpns; /* an NRP selector has one */
	uint16_t ip_id;
	uint64_t count[CW_RELAY_RESULT_COUNT];
};

static const char *const results[] = {
#define CW_X(id, name, text) name,
	CW_RELAY_RESULTS(CW_X)
#undef CW_X
};

const char *cw_relay_name(unsigned r)
{
	return r < CW_RELAY_RESULT_COUNT ? results[r] : "unknown";
}

/* ---- Made and freed ----------------------------------------------------------------------- */

void cw_relay_settings_init(struct cw_relay_settings *s)
{
	*s = (struct cw_relay_settings){
		.port1 = CW_CN_PORT1,
		.port2 = CW_CN_PORT2,
		.bts_default = CW_SENDER_BTS_ADDR,
		.roce_port = CW_ROCE_PORT,
		.ub_port = CW_UB_PORT,
		.uec_port = CW_UEC_PORT,
		.cnp_dscp = CW_DSCP_CS6,
		.cnp_ecn = CW_ECN_ECT0,
		.ttl = 64,
		.bts_dscp = -1,
		.total_rate = 1000000,
		.total_burst = 1000,
		.source_rate = 100000,
		.source_burst = 1000,
		.sources = 1024,
		.flow_ns = 300 * 1000000000ull,
		.flows = 65536,
		.seed = 0x2545f4914f6cdd1dull,
	};
}

static int check_tables(const struct cw_relay_settings *s, struct cw_diag *d)
{
	uint32_t i;

	for (i = 1; i < s->nnrps; i++) {
		if (s->nrps[i - 1].nrp >= s->nrps[i].nrp)
			return cw_diag_set(d, CW_E_CONFLICT, "nrps", NULL,
					   "NRP selector %u is not above the one before",
					   s->nrps[i].nrp);
	}
	for (i = 1; i < s->ndomains; i++) {
		if (s->domains[i - 1].vpn >= s->domains[i].vpn)
			return cw_diag_set(d, CW_E_CONFLICT, "domains", NULL,
					   "VPN %u is not above the one before", s->domains[i].vpn);
	}
	return CW_OK;
}

static int check_settings(const struct cw_relay_settings *s, struct cw_diag *d)
{
	if (s->port1 == 0 || s->port2 == 0 || s->port1 == s->port2)
		return cw_diag_set(d, CW_E_CONFLICT, "port2", NULL,
				   "the two options need two ports, not 0");
	if (s->cnp_dscp > 63)
		return cw_diag_set(d, CW_E_RANGE, "cnp-dscp", NULL, "%u is above 63", s->cnp_dscp);
	if (s->cnp_ecn > 3)
		return cw_diag_set(d, CW_E_RANGE, "cnp-ecn", NULL, "%u is above 3", s->cnp_ecn);
	if (s->bts_dscp < -1 || s->bts_dscp > 63)
		return cw_diag_set(d, CW_E_RANGE, "bts-dscp", NULL, "%d is not in -1 to 63",
				   s->bts_dscp);
	if (s->ttl == 0)
		return cw_diag_set(d, CW_E_RANGE, "ttl", NULL, "0 goes nowhere");
	if (s->flows == 0 || s->flows > 1u << 26)
		return cw_diag_set(d, CW_E_RANGE, "flows", NULL, "%u is not in 1 to 67108864",
				   s->flows);
	if (s->sources == 0 || s->sources > 1u << 24)
		return cw_diag_set(d, CW_E_RANGE, "sources", NULL, "%u is not in 1 to 16777216",
				   s->sources);
	if (s->listed > 1u << 24)
		return cw_diag_set(d, CW_E_RANGE, "listed", NULL, "%u is above 16777216",
				   s->listed);
	if (s->bts_default < CW_SENDER_BTS_ADDR || s->bts_default > CW_SENDER_BTS_UETX)
		return cw_diag_set(d, CW_E_RANGE, "bts-default", NULL, "not a BTS profile");
	return check_tables(s, d);
}

int cw_relay_new(struct cw_relay **out, const struct cw_relay_settings *s, struct cw_qpmap *map,
		 struct cw_diag *diag)
{
	struct cw_relay *r;
	uint32_t i;
	int err = check_settings(s, diag);

	if (err < 0)
		return err;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, "", NULL, "out of memory");
	r->s = *s;
	r->map = map;
	r->source_rate = cn_rate_of(s->source_rate, s->source_burst);
	r->total_rate = r->others_rate = cn_rate_of(s->total_rate, s->total_burst);
	if (s->listed > 0)
		r->others_rate.ahead /= 2;
	for (i = 0; i < s->nnrps; i++)
		r->has_vpns |= s->nrps[i].has_vpn;
	r->has_own = !cw_gid_none(&s->own4) || !cw_gid_none(&s->own6);
	for (r->nflows = 1; r->nflows < s->flows;)
		r->nflows *= 2;
	r->flows = calloc(r->nflows, sizeof(*r->flows));
	r->last = s->coalesce_ns != 0 ? calloc(COALESCE, sizeof(*r->last)) : NULL;
	if (r->flows == NULL || (s->coalesce_ns != 0 && r->last == NULL) ||
	    cn_sources_init(&r->sources, s->listed, s->sources, s->seed + 1) != CW_OK) {
		cw_relay_free(r);
		return cw_diag_set(diag, CW_E_NOMEM, "", NULL, "out of memory");
	}
	*out = r;
	return CW_OK;
}

void cw_relay_free(struct cw_relay *r)
{
	if (r == NULL)
		return;
	free(r->flows);
	cn_sources_free(&r->sources);
	free(r->last);
	free(r);
}

uint64_t cw_relay_counter(const struct cw_relay *r, unsigned result)
{
	return result < CW_RELAY_RESULT_COUNT ? r->count[result] : 0;
}

/* ---- Flows -------------------------------------------------------------------------------- */

static enum family on_ub_port(const struct cw_relay_settings *s, const struct cw_gid *src,
			      const struct cw_gid *dst)
{
	unsigned version = cw_gid_is_v4(src) ? 4 : 6, off = version == 4 ? 12 : 0;
	const struct cw_pin_4792 *pin = NULL;

	if (s->npins > 0)
		pin = cw_pin_4792_find(s->pins, s->npins, version, src->o + off, dst->o + off);
	if (pin == NULL)
		return s->uetx_on_ub_port ? FAMILY_UETX : FAMILY_UB;
	return pin->family == CW_4792_UB ? FAMILY_UB : FAMILY_UETX;
}

static enum family family_of(const struct cw_relay_settings *s, const struct cw_gid *src,
			     const struct cw_gid *dst, unsigned proto, unsigned dport)
{
	if (proto != CW_IPPROTO_UDP)
		return FAMILY_NONE;
	if (dport == s->roce_port)
		return FAMILY_ROCE;
	if (dport == s->ub_port)
		return on_ub_port(s, src, dst);
	return dport == s->uec_port ? FAMILY_UEC : FAMILY_NONE;
}

/* UB flows are told apart by the destination's transport endpoint, the others by traffic class
 * (without ECN) and source port. */
static struct flow *flow_at(const struct cw_relay *r, enum family f, const struct cw_gid *src,
			    const struct cw_gid *dst, uint32_t key, uint64_t *tag)
{
	uint64_t h = qp_hash(r->s.seed, src, dst, (uint64_t)f << 32 | key);

	*tag = h | 1;
	return &r->flows[(h >> 32) & (r->nflows - 1)];
}

static uint32_t path_key(uint8_t tc, uint16_t sport)
{
	return (uint32_t)(tc & 0xfc) << 16 | sport;
}

static bool is_ub_data(const struct cn_udp *u)
{
	return u->len >= CW_SIZE_RTPH && cw_rtph_opcode(u->data) != CW_TP_CNP &&
	       cw_rtph_opcode(u->data) != 0 && cw_rtph_version(u->data) == 0;
}

static bool is_uec_data(const struct cn_udp *u)
{
	unsigned type;

	if (u->len < CW_SIZE_UEC_NACK)
		return false;
	type = cw_uec_req_type(u->data);
	return type == CW_PDS_RUD || type == CW_PDS_ROD || type == CW_PDS_RUD_CC ||
	       type == CW_PDS_ROD_CC;
}

static bool is_uetx_data(const struct cn_udp *u)
{
	return u->len >= CW_SIZE_UETX && cw_uetx_version(u->data) == CW_UETX_VERSION &&
	       cw_uetx_opcode(u->data) != CW_UETX_ACK && cw_uetx_opcode(u->data) != CW_UETX_NACK;
}

/* Where a packet of another transport than RoCEv2 is remembered, or NULL. */
static struct flow *flow_of(const struct cw_relay *r, const struct cn_udp *u, enum family f,
			    uint64_t *tag)
{
	uint32_t key;

	if (f == FAMILY_UB ? !is_ub_data(u)
			   : !(f == FAMILY_UEC && is_uec_data(u)) &&
				     !(f == FAMILY_UETX && is_uetx_data(u)))
		return NULL;
	key = f == FAMILY_UB ? cw_rtph_dst_tpn(u->data)
			     : path_key(u->tos, (uint16_t)cw_udp_sport(u->udp));
	return flow_at(r, f, &u->src, &u->dst, key, tag);
}

/* A flow to remember, fetched before it is written to. */
struct memo {
	struct flow *to;
	uint64_t tag, now;
	const uint8_t *header;
	size_t len;
	uint16_t vlan;
};

/* False: it teaches nothing. */
static bool begin_memo(const struct cw_relay *r, const struct cw_qp_seen *seen,
		       const struct cn_udp *u, enum family f, struct memo *m)
{
	if ((m->to = flow_of(r, u, f, &m->tag)) == NULL)
		return false;
	__builtin_prefetch(m->to, 1);
	m->now = seen->now;
	m->header = u->data;
	m->len = u->len < FLOW_HEADER ? u->len : FLOW_HEADER;
	m->vlan = seen->vlan;
	return true;
}

static void end_memo(const struct memo *m)
{
	m->to->tag = m->tag;
	m->to->seen = m->now;
	m->to->vlan = m->vlan;
	m->to->len = (uint8_t)m->len;
	memcpy(m->to->header, m->header, m->len);
}

/* Each packet is read where the map learns from it, if it is one for the map. */
static void learn_some(struct cw_relay *r, const struct cw_qp_seen *seen, unsigned n)
{
	struct qp_step step[CW_QP_BURST];
	struct memo memo[CW_QP_BURST];
	unsigned i, nsteps = 0, nmemos = 0;
	enum family f;

	for (i = 0; i < n; i++) {
		struct cn_udp *u = &step[nsteps].p.u;

		if (cn_udp_peek(seen[i].ip, seen[i].len, seen[i].wire, u) != CW_OK)
			continue;
		f = family_of(&r->s, &u->src, &u->dst, CW_IPPROTO_UDP, cw_udp_dport(u->udp));
		if (f == FAMILY_ROCE)
			nsteps += qp_take(r->map, &step[nsteps].p, &seen[i]);
		else
			nmemos += begin_memo(r, &seen[i], u, f, &memo[nmemos]);
	}
	qp_learn(r->map, step, nsteps);
	for (i = 0; i < nmemos; i++)
		end_memo(&memo[i]);
}

void cw_relay_learn_burst(struct cw_relay *r, const struct cw_qp_seen *seen, unsigned n)
{
	for (; n > CW_QP_BURST; seen += CW_QP_BURST, n -= CW_QP_BURST)
		learn_some(r, seen, CW_QP_BURST);
	learn_some(r, seen, n);
}

void cw_relay_learn(struct cw_relay *r, const uint8_t *ip, size_t len, size_t wire, uint64_t now)
{
	struct cw_qp_seen seen = {ip, len, wire, now};

	learn_some(r, &seen, 1);
}

/* ---- Checks of a message ------------------------------------------------------------------ */

/* Can a host have it? Not unspecified, loopback, multicast or broadcast. */
static bool is_unicast(const struct cw_gid *a, bool v4)
{
	static const struct cw_gid loopback = {{[15] = 1}};

	if (v4)
		return a->o[12] != 0 && a->o[12] != 127 && a->o[12] < 224;
	return !cw_gid_none(a) && !cw_gid_equal(a, &loopback) && a->o[0] != 0xff;
}

static bool is_ours(const struct cw_relay *r, const struct cw_gid *dst)
{
	return !r->has_own || cw_gid_equal(dst, &r->s.own4) || cw_gid_equal(dst, &r->s.own6);
}

static bool checksum_fits(const struct cn_udp *u)
{
	uint32_t sum = cw_udp_checksum(u->udp);

	if (sum == 0) /* RFC 8200 8.1: over IPv6 there has to be one */
		return cw_gid_is_v4(&u->src);
	return sum == cw_udp_compute(u->ip, u->udp, CW_SIZE_UDP + u->len);
}

static enum cw_relay_result take_rates(struct cw_relay *r, struct cn_source *from, uint64_t now)
{
	if (!cn_rate_take(&r->source_rate, &from->next, now))
		return from == r->sources.place ? CW_RELAY_SOURCE_FULL : CW_RELAY_SOURCE_LIMIT;
	if (!cn_rate_take(from->listed ? &r->total_rate : &r->others_rate, &r->total_next, now))
		return CW_RELAY_TOTAL_LIMIT;
	return CW_RELAY_RESULT_COUNT;
}

/* Section 6. CW_RELAY_RESULT_COUNT: *u is a message to be read. */
static enum cw_relay_result check_message(struct cw_relay *r, const struct cw_relay_item *item,
					  uint64_t now, struct cn_udp *u)
{
	int err = cn_udp_read(item->ip, item->len, u);
	struct cn_source *from;
	uint32_t allowed = 0;

	if (err == CW_E_UNKNOWN)
		return CW_RELAY_NOT_MESSAGE;
	if (err == CW_E_SHORT)
		return CW_RELAY_IP_LENGTH;
	if (cw_udp_dport(u->udp) != r->s.port1 && cw_udp_dport(u->udp) != r->s.port2)
		return CW_RELAY_NOT_MESSAGE;
	if (!item->internal)
		return CW_RELAY_BORDER;
	if (!is_ours(r, &u->dst))
		return CW_RELAY_NOT_OURS;
	/* One that has a place was allowed before. Another one gets its place only when all else is
	 * right about its message. */
	from = cn_source_find(&r->sources, &u->src);
	if (from == NULL && (!is_unicast(&u->src, cw_gid_is_v4(&u->src)) ||
			     (allowed = cw_lpm_find(r->s.allowed, &u->src)) == 0))
		return CW_RELAY_NOT_ALLOWED;
	if (err == CW_E_LENGTH)
		return CW_RELAY_UDP_LENGTH;
	if (!checksum_fits(u))
		return CW_RELAY_UDP_CHECKSUM;
	if (from == NULL)
		from = cn_source_enter(&r->sources, &u->src, allowed == CW_ALLOWED_LISTED, now);
	return take_rates(r, from, now);
}

/* ---- Notifications ------------------------------------------------------------------------ */

/* What is being worked on. */
struct job {
	struct cw_relay *r;
	struct cw_cnmsg m;
	struct cw_qp_key key;        /* the flow's: sender, receiver, destination queue pair */
	const struct cw_gid *source; /* of the notification */
	enum family family;
	enum cw_sender kind;
	const struct cw_nrp *nrp;     /* of option 2: of its selector, or NULL */
	const struct qp_ahead *ahead; /* of the key, when the map is to be asked */
	const struct flow *flow;      /* UB, UEC, UETX */
	uint64_t tag, now;
	uint8_t *buf;
	struct cw_relay_out *out;
	enum cw_relay_result result; /* CW_RELAY_RESULT_COUNT: not known yet */
};

static struct cn_head head_of(struct job *j, uint8_t tos, uint16_t sport, uint16_t dport)
{
	return (struct cn_head){.src = j->source,
				.dst = &j->key.sender,
				.tos = tos,
				.ttl = j->r->s.ttl,
				.sport = sport,
				.dport = dport,
				.ip_id = j->r->ip_id++};
}

/* The flow's VLAN, as far as nothing else is configured. */
static void found_in(const struct job *j, uint16_t vlan)
{
	if (j->out->vlan == 0)
		j->out->vlan = vlan;
}

/* The sender's queue pair: from the map, or by the NRP selector. */
static enum cw_relay_result find_qp(struct job *j, uint32_t *sqpn, uint16_t *pkey)
{
	const struct qp_slot *pair;
	int err;

	*pkey = 0xffff;
	if (j->m.option == 2) {
		if (j->nrp == NULL || !j->nrp->has_qp)
			return CW_RELAY_NRP_QP;
		*sqpn = j->nrp->sqpn;
		return CW_RELAY_CNP;
	}
	err = qp_lookup(j->r->map, j->ahead, j->now, &pair);
	if (err != CW_OK)
		return err == CW_E_STATE ? CW_RELAY_UNDECIDED : CW_RELAY_UNKNOWN_FLOW;
	*sqpn = pair->sqpn;
	found_in(j, pair->vlan);
	if ((pair->flags & QP_PKEY) != 0)
		*pkey = pair->pkey;
	return CW_RELAY_CNP;
}

/* Was this queue pair notified within the configured time? */
static bool coalesced(struct job *j, uint32_t qpn)
{
	struct cw_relay *r = j->r;
	uint64_t h;
	struct last *w;
	uint32_t now = (uint32_t)(j->now >> 10);

	if (r->last == NULL)
		return false;
	h = qp_hash(r->s.seed + 2, &j->key.sender, &j->key.receiver, qpn);
	w = &r->last[(h >> 32) % COALESCE];
	if (w->tag == ((uint32_t)h | 1) && now - w->time < (uint32_t)(r->s.coalesce_ns >> 10))
		return true;
	*w = (struct last){.tag = (uint32_t)h | 1, .time = now};
	return false;
}

static enum cw_relay_result send_cnp(struct job *j)
{
	const struct cw_relay_settings *s = &j->r->s;
	enum cw_relay_result why;
	struct cn_head h;
	uint32_t qpn;
	uint16_t pkey;

	if (j->family != FAMILY_ROCE)
		return CW_RELAY_NO_FORMAT;
	if ((why = find_qp(j, &qpn, &pkey)) != CW_RELAY_CNP)
		return why;
	if (coalesced(j, qpn))
		return CW_RELAY_COALESCED;
	h = head_of(j, (uint8_t)(s->cnp_dscp << 2 | s->cnp_ecn), 0, CW_ROCE_PORT);
	j->out->len = (uint32_t)cn_cnp_write(&h, pkey, qpn, j->buf);
	return CW_RELAY_CNP;
}

/* The last header seen of the flow, or NULL. */
static const uint8_t *header_of(const struct job *j)
{
	const struct flow *w = j->flow;

	if (w->tag != j->tag || j->now > w->seen + j->r->s.flow_ns)
		return NULL;
	found_in(j, w->vlan);
	return w->header;
}

/* The flow's transport endpoints, the sender's and the receiver's: from its last header, or by the
 * NRP selector. */
static enum cw_relay_result find_tps(const struct job *j, uint32_t *sender, uint32_t *receiver)
{
	const uint8_t *seen;

	if (j->m.option == 2 && (j->nrp == NULL || !j->nrp->has_tp))
		return CW_RELAY_NRP_TP;
	seen = header_of(j); /* which tells the VLAN, too */
	if (j->m.option == 2) {
		*sender = j->nrp->src_tpn;
		*receiver = j->nrp->dst_tpn;
		return CW_RELAY_UB_CNP;
	}
	if (seen == NULL)
		return CW_RELAY_UNKNOWN_FLOW;
	*sender = cw_rtph_src_tpn(seen);
	*receiver = cw_rtph_dst_tpn(seen);
	return CW_RELAY_UB_CNP;
}

/* UB 2.0 6.2.2: TPH of opcode 8 and a CETPH that says severe; PSN and TPMSN zero. */
static enum cw_relay_result send_ub_cnp(struct job *j)
{
	const size_t data = CW_SIZE_RTPH + CW_SIZE_CETPH_CNP + CW_ICRC_LEN;
	enum cw_relay_result why;
	uint32_t sender, receiver;
	struct cn_head h;
	uint8_t *p;

	if (j->family != FAMILY_UB)
		return CW_RELAY_NO_FORMAT;
	if ((why = find_tps(j, &sender, &receiver)) != CW_RELAY_UB_CNP)
		return why;
	if (coalesced(j, sender))
		return CW_RELAY_COALESCED;
	h = head_of(j, (uint8_t)(j->r->s.cnp_dscp << 2), j->m.sport, j->r->s.ub_port);
	p = cn_head_write(&h, j->buf, data);
	memset(p, 0, data);
	cw_rtph_set_opcode(p, CW_TP_CNP);
	cw_rtph_set_src_tpn(p, receiver);
	cw_rtph_set_dst_tpn(p, sender);
	cw_cetph_cnp_set_ecn(p + CW_SIZE_RTPH, 3);
	j->out->len = (uint32_t)(cn_head_len(&j->key.sender) + data);
	if (cw_icrc_put(j->buf, j->out->len, &cw_icrc_ub, CW_ICRC_LE) != CW_OK)
		return CW_RELAY_NO_FORMAT;
	return CW_RELAY_UB_CNP;
}

/* CRC32C from the IP source address on, without what routers change; little-endian. */
static void put_uec_crc(uint8_t *ip, size_t len)
{
	size_t from = ip[0] >> 4 == 4 ? 12 : 8;

	cw_put_le32(ip + len - CW_UEC_CRC_LEN,
		    cw_crc32c(0, ip + from, len - CW_UEC_CRC_LEN - from));
}

static uint8_t *bts_head(struct job *j, size_t data)
{
	int dscp = j->r->s.bts_dscp;
	struct cn_head h = head_of(j, (uint8_t)(dscp < 0 ? j->m.tc & 0xfc : dscp << 2), j->m.sport,
				   j->m.dport);
	uint8_t *p = cn_head_write(&h, j->buf, data);

	memset(p, 0, data);
	j->out->len = (uint32_t)(cn_head_len(&j->key.sender) + data);
	return p;
}

/* Profiles addr and nack: a NACK that says "trimmed", of no packet or of the last one seen. */
static void write_nack(struct job *j, const uint8_t *seen)
{
	uint8_t *p = bts_head(j, CW_SIZE_UEC_NACK + CW_UEC_CRC_LEN);

	cw_uec_nack_set_type(p, CW_PDS_NACK);
	cw_uec_nack_set_m(p, 1);
	cw_uec_nack_set_code(p, 1);
	if (seen != NULL) {
		cw_uec_nack_set_psn(p, cw_uec_req_psn(seen));
		cw_uec_nack_set_spdcid(p, cw_uec_req_dpdcid(seen));
		cw_uec_nack_set_dpdcid(p, cw_uec_req_spdcid(seen));
	} else {
		cw_uec_nack_set_nt(p, 1);
	}
	put_uec_crc(j->buf, j->out->len);
}

static void write_uetx(struct job *j, const uint8_t *seen)
{
	uint8_t *p = bts_head(j, CW_SIZE_UETX + CW_SIZE_UETX_ACK);

	cw_uetx_set_version(p, CW_UETX_VERSION);
	cw_uetx_set_opcode(p, CW_UETX_NACK);
	cw_uetx_set_ec(p, 1);
	cw_uetx_set_dcid(p, cw_uetx_scid(seen));
	cw_uetx_set_scid(p, cw_uetx_dcid(seen));
	cw_uetx_set_msg_id(p, cw_uetx_msg_id(seen));
	cw_uetx_set_offset(p, cw_uetx_offset(seen));
}

/* Section 4.1: addresses and TC name a UEC flow; a profile may need more of it. */
static enum cw_relay_result send_bts(struct job *j, enum cw_sender profile)
{
	const uint8_t *seen;

	if (j->family != (profile == CW_SENDER_BTS_UETX ? FAMILY_UETX : FAMILY_UEC))
		return CW_RELAY_NO_FORMAT;
	if ((seen = header_of(j)) == NULL)
		return CW_RELAY_UNKNOWN_FLOW;
	if (coalesced(j, path_key(j->m.tc, j->m.sport)))
		return CW_RELAY_COALESCED;
	if (profile == CW_SENDER_BTS_UETX)
		write_uetx(j, seen);
	else if (profile == CW_SENDER_BTS_REFLECT)
		memcpy(bts_head(j, CW_SIZE_UEC_NACK), seen, CW_SIZE_UEC_NACK);
	else
		write_nack(j, profile == CW_SENDER_BTS_NACK ? seen : NULL);
	return CW_RELAY_BTS;
}

/* Section 4.1: protocol and destination port tell which kind of notification. */
static enum cw_sender by_family(const struct job *j)
{
	switch (j->family) {
	case FAMILY_ROCE:
		return CW_SENDER_CNP;
	case FAMILY_UB:
		return CW_SENDER_UB_CNP;
	case FAMILY_UETX:
		return CW_SENDER_BTS_UETX;
	default:
		return j->r->s.bts_default;
	}
}

static enum cw_relay_result notify(struct job *j)
{
	j->out->format = j->kind;
	switch (j->kind) {
	case CW_SENDER_CNP:
		return send_cnp(j);
	case CW_SENDER_UB_CNP:
		return send_ub_cnp(j);
	case CW_SENDER_BTS_ADDR:
	case CW_SENDER_BTS_NACK:
	case CW_SENDER_BTS_REFLECT:
	case CW_SENDER_BTS_UETX:
		return send_bts(j, j->kind);
	default:
		return CW_RELAY_NO_FORMAT;
	}
}

/* ---- Input -------------------------------------------------------------------------------- */

static int by_nrp(const void *key, const void *row)
{
	uint32_t nrp = *(const uint32_t *)key, other = ((const struct cw_nrp *)row)->nrp;

	return (nrp > other) - (nrp < other);
}

static int by_vpn(const void *key, const void *row)
{
	uint32_t vpn = *(const uint32_t *)key, other = ((const struct cw_vpn_domain *)row)->vpn;

	return (vpn > other) - (vpn < other);
}

/* bsearch(), which must not be given an absent table. */
static const void *find_row(const uint32_t *key, const void *table, uint32_t n, size_t size,
			    int (*compare)(const void *, const void *))
{
	return n > 0 ? bsearch(key, table, n, size, compare) : NULL;
}

/* Section 4.2: what the NRP selector stands for; the VPN's routing domain and the source of
 * notifications there. With no VPNs configured there is one domain. */
static bool find_domain(struct job *j)
{
	const struct cw_relay_settings *s = &j->r->s;
	const struct cw_vpn_domain *d;

	j->source = &j->key.receiver;
	if (j->m.option != 2)
		return true;
	j->nrp = find_row(&j->m.nrp, s->nrps, s->nnrps, sizeof(*s->nrps), by_nrp);
	if (!j->r->has_vpns)
		return true;
	if (j->nrp == NULL || !j->nrp->has_vpn)
		return false;
	d = find_row(&j->nrp->vpn, s->domains, s->ndomains, sizeof(*s->domains), by_vpn);
	j->out->domain = d;
	if (d != NULL && !cw_gid_none(&d->source) &&
	    cw_gid_is_v4(&d->source) == cw_gid_is_v4(&j->key.sender))
		j->source = &d->source;
	return d != NULL;
}

/* What the message says, and what its sender gets. */
static enum cw_relay_result read_message(struct job *j, const struct cn_udp *u)
{
	const struct cw_relay_settings *s = &j->r->s;
	unsigned option = cw_udp_dport(u->udp) == s->port1 ? 1 : 2;
	bool v4;
	uint32_t sender;

	if (cw_cnmsg_parse(&j->m, option, u->data, u->len) != CW_OK)
		return CW_RELAY_FORM;
	j->key.sender = cw_gid_of(j->m.version, j->m.src);
	j->key.receiver = cw_gid_of(j->m.version, j->m.dst);
	j->key.dqpn = j->m.dqpn;
	v4 = cw_gid_is_v4(&j->key.sender);
	if (v4 != cw_gid_is_v4(&j->key.receiver) || !is_unicast(&j->key.sender, v4) ||
	    !is_unicast(&j->key.receiver, v4) || cw_gid_equal(&j->key.sender, &j->key.receiver))
		return CW_RELAY_ADDRESS;
	sender = cw_lpm_find(s->senders, &j->key.sender);
	if (sender == 0)
		return CW_RELAY_NO_SENDER;
	j->kind = (enum cw_sender)(sender & 0xff);
	j->out->vlan = (uint16_t)(sender >> 16);
	j->family = family_of(s, &j->key.sender, &j->key.receiver, j->m.proto, j->m.dport);
	if (!find_domain(j))
		return CW_RELAY_NRP_VPN;
	j->out->dst = j->key.sender;
	if (j->kind == CW_SENDER_NONE)
		return CW_RELAY_SENDER_NONE;
	if (j->family == FAMILY_NONE)
		return CW_RELAY_FAMILY;
	if (j->kind == CW_SENDER_AUTO)
		j->kind = by_family(j);
	return CW_RELAY_RESULT_COUNT;
}

/* Is a queue pair to be looked up for it? */
static bool is_looked_up(const struct job *j)
{
	return j->kind == CW_SENDER_CNP && j->family == FAMILY_ROCE && j->m.option == 1;
}

static void fetch_flow(struct job *j)
{
	uint32_t key = path_key(j->m.tc, j->m.sport);

	if (j->family == FAMILY_UB)
		key = j->m.option != 2 ? j->m.dqpn : j->nrp != NULL ? j->nrp->dst_tpn : 0;
	j->flow = flow_at(j->r, j->family, &j->key.sender, &j->key.receiver, key, &j->tag);
	__builtin_prefetch(j->flow);
}

/* Up to where memory is waited for. True: `ahead` is to be fetched. */
static bool begin(struct job *j, const struct cw_relay_item *item, struct qp_ahead *ahead)
{
	struct cn_udp u;

	memset(j->out, 0, sizeof(*j->out));
	j->result = j->r->s.enabled ? check_message(j->r, item, j->now, &u) : CW_RELAY_DISABLED;
	if (j->result == CW_RELAY_RESULT_COUNT)
		j->result = read_message(j, &u);
	if (j->result != CW_RELAY_RESULT_COUNT)
		return false;
	if (j->family != FAMILY_ROCE)
		fetch_flow(j);
	else if (is_looked_up(j)) {
		ahead->key = &j->key;
		j->ahead = ahead;
		return true;
	}
	return false;
}

static void burst(struct cw_relay *r, struct cw_relay_item *item, unsigned n, uint64_t now)
{
	struct qp_ahead ahead[CW_QP_BURST];
	struct job job[CW_QP_BURST];
	unsigned i, nahead = 0;

	for (i = 0; i < n; i++) {
		job[i].r = r;
		job[i].now = now;
		job[i].buf = item[i].buf;
		job[i].out = &item[i].out;
		nahead += begin(&job[i], &item[i], &ahead[nahead]);
	}
	qp_fetch(r->map, ahead, nahead);
	for (i = 0; i < n; i++) {
		if (job[i].result == CW_RELAY_RESULT_COUNT)
			job[i].result = notify(&job[i]);
		item[i].result = job[i].result;
		r->count[item[i].result]++;
	}
}

void cw_relay_burst(struct cw_relay *r, struct cw_relay_item *item, unsigned n, uint64_t now)
{
	for (; n > CW_QP_BURST; item += CW_QP_BURST, n -= CW_QP_BURST)
		burst(r, item, CW_QP_BURST, now);
	burst(r, item, n, now);
}

enum cw_relay_result cw_relay_input(struct cw_relay *r, const uint8_t *ip, size_t len,
				    bool internal, uint64_t now, uint8_t buf[CW_RELAY_MAX],
				    struct cw_relay_out *out)
{
	struct cw_relay_item item = {.ip = ip, .len = len, .internal = internal, .buf = buf};

	burst(r, &item, 1, now);
	*out = item.out;
	return item.result;
}
