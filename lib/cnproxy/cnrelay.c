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

enum { SOURCES = 1024, COALESCE = 1 << 16, FLOW_HEADER = 24 };

/* The transport of a flow, by its protocol and destination port. */
enum family { FAMILY_NONE, FAMILY_ROCE, FAMILY_UB, FAMILY_UEC, FAMILY_UETX };

/* A UB, UEC or UETX flow: the last header that was seen. */
struct flow {
	uint64_t tag, seen;
	uint8_t header[FLOW_HEADER]; /* UDP header and what follows */
	uint8_t len;
};

struct source {
	uint64_t tag;
	struct cn_limit limit;
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
	struct source *sources;
	struct last *last; /* only with coalescing */
	struct cn_limit total;
	uint16_t ip_id;
	uint64_t count[CW_RELAY_RESULT_COUNT];
};

static const struct {
	const char *name, *text;
} results[] = {
#define CW_X(id, name, text) {name, text},
	CW_RELAY_RESULTS(CW_X)
#undef CW_X
};

const char *cw_relay_name(unsigned r)
{
	return r < CW_RELAY_RESULT_COUNT ? results[r].name : "unknown";
}

const char *cw_relay_text(unsigned r)
{
	return r < CW_RELAY_RESULT_COUNT ? results[r].text : "unknown";
}

static const char *const sender_names[CW_SENDER_COUNT] = {
	"unknown", "auto",     "none",     "cnp",         "fast-cnp",
	"ub-cnp",  "bts-addr", "bts-nack", "bts-reflect", "bts-uetx",
};

const char *cw_sender_name(enum cw_sender s)
{
	return sender_names[(unsigned)s < CW_SENDER_COUNT ? s : 0];
}

enum cw_sender cw_sender_parse(const char *name)
{
	unsigned i;

	for (i = CW_SENDER_AUTO; i < CW_SENDER_COUNT; i++) {
		if (strcmp(name, sender_names[i]) == 0)
			return (enum cw_sender)i;
	}
	return (enum cw_sender)0;
}

/* ---- Made and freed ----------------------------------------------------------------------- */

void cw_relay_settings_init(struct cw_relay_settings *s)
{
	*s = (struct cw_relay_settings){
		.port1 = CW_CN_PORT1,
		.port2 = CW_CN_PORT2,
		.bts_default = CW_SENDER_BTS_ADDR,
		.roce_port = CW_ROCE_PORT,
		.ub_port = 4792,
		.uec_port = CW_UEC_PORT,
		.cnp_dscp = 48,
		.cnp_ecn = 2,
		.ttl = 64,
		.bts_dscp = -1,
		.total_rate = 1000000,
		.total_burst = 1000,
		.source_rate = 100000,
		.source_burst = 1000,
		.flow_ns = 300 * 1000000000ull,
		.flows = 65536,
		.seed = 0x2545f4914f6cdd1dull,
	};
}

static int check_tables(const struct cw_relay_settings *s, struct cw_diag *d)
{
	uint32_t i;

	for (i = 1; i < s->nnrp_qp; i++) {
		if (s->nrp_qp[i - 1].nrp >= s->nrp_qp[i].nrp)
			return cw_diag_set(d, CW_E_CONFLICT, "nrp-qp", NULL,
					   "NRP selector %u is not above the one before",
					   s->nrp_qp[i].nrp);
	}
	for (i = 1; i < s->nnrp_vpn; i++) {
		if (s->nrp_vpn[i - 1].nrp >= s->nrp_vpn[i].nrp)
			return cw_diag_set(d, CW_E_CONFLICT, "nrp-vpn", NULL,
					   "NRP selector %u is not above the one before",
					   s->nrp_vpn[i].nrp);
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
	if (s->bts_default < CW_SENDER_BTS_ADDR || s->bts_default > CW_SENDER_BTS_UETX)
		return cw_diag_set(d, CW_E_RANGE, "bts-default", NULL, "not a BTS profile");
	return check_tables(s, d);
}

int cw_relay_new(struct cw_relay **out, const struct cw_relay_settings *s, struct cw_qpmap *map,
		 struct cw_diag *diag)
{
	struct cw_relay *r;
	int err = check_settings(s, diag);

	if (err < 0)
		return err;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, "", NULL, "out of memory");
	r->s = *s;
	r->map = map;
	for (r->nflows = 1; r->nflows < s->flows;)
		r->nflows *= 2;
	r->flows = calloc(r->nflows, sizeof(*r->flows));
	r->sources = calloc(SOURCES, sizeof(*r->sources));
	r->last = s->coalesce_ns != 0 ? calloc(COALESCE, sizeof(*r->last)) : NULL;
	if (r->flows == NULL || r->sources == NULL || (s->coalesce_ns != 0 && r->last == NULL)) {
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
	free(r->sources);
	free(r->last);
	free(r);
}

uint64_t cw_relay_counter(const struct cw_relay *r, unsigned result)
{
	return result < CW_RELAY_RESULT_COUNT ? r->count[result] : 0;
}

/* ---- Flows -------------------------------------------------------------------------------- */

static enum family family_of(const struct cw_relay_settings *s, unsigned proto, unsigned dport)
{
	if (proto != CW_IPPROTO_UDP)
		return FAMILY_NONE;
	if (dport == s->roce_port)
		return FAMILY_ROCE;
	if (dport == s->ub_port)
		return s->uetx_on_ub_port ? FAMILY_UETX : FAMILY_UB;
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

static const uint8_t *flow_find(const struct cw_relay *r, enum family f, const struct cw_gid *src,
				const struct cw_gid *dst, uint32_t key, uint64_t now)
{
	uint64_t tag;
	const struct flow *w = flow_at(r, f, src, dst, key, &tag);

	return w->tag == tag && now - w->seen <= r->s.flow_ns ? w->header : NULL;
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

void cw_relay_learn(struct cw_relay *r, const uint8_t *ip, size_t len, size_t wire, uint64_t now)
{
	struct cn_udp u;
	struct flow *w;
	enum family f;
	uint64_t tag;
	uint32_t key;

	if (cn_udp_peek(ip, len, wire, &u) != CW_OK)
		return;
	f = family_of(&r->s, CW_IPPROTO_UDP, cw_udp_dport(u.udp));
	if (f == FAMILY_ROCE) {
		cw_qpmap_packet(r->map, ip, len, wire, now);
		return;
	}
	if (f == FAMILY_UB ? !is_ub_data(&u)
			   : !(f == FAMILY_UEC && is_uec_data(&u)) &&
				     !(f == FAMILY_UETX && is_uetx_data(&u)))
		return;
	key = f == FAMILY_UB ? cw_rtph_dst_tpn(u.data)
			     : path_key(u.tos, (uint16_t)cw_udp_sport(u.udp));
	w = flow_at(r, f, &u.src, &u.dst, key, &tag);
	w->tag = tag;
	w->seen = now;
	w->len = (uint8_t)(u.len < FLOW_HEADER ? u.len : FLOW_HEADER);
	memcpy(w->header, u.data, w->len);
}

/* ---- Checks of a message ------------------------------------------------------------------ */

bool cw_is_cn_message(const uint8_t *ip, size_t len, uint16_t port1, uint16_t port2)
{
	struct cn_udp u;
	int err = cn_udp_read(ip, len, &u);
	uint32_t port;

	/* With a wrong UDP length it is one still. */
	if (err != CW_OK && err != CW_E_LENGTH)
		return false;
	port = cw_udp_dport(u.udp);
	return port == port1 || port == port2;
}

bool cw_relay_is_message(const struct cw_relay *r, const uint8_t *ip, size_t len)
{
	return cw_is_cn_message(ip, len, r->s.port1, r->s.port2);
}

static enum cw_relay_result check_udp(const struct cw_relay *r, const uint8_t *ip, size_t len,
				      bool internal, struct cn_udp *u)
{
	int err = cn_udp_read(ip, len, u);

	if (err == CW_E_UNKNOWN)
		return CW_RELAY_NOT_MESSAGE;
	if (err == CW_E_SHORT)
		return CW_RELAY_IP_LENGTH;
	if (cw_udp_dport(u->udp) != r->s.port1 && cw_udp_dport(u->udp) != r->s.port2)
		return CW_RELAY_NOT_MESSAGE;
	if (!internal)
		return CW_RELAY_BORDER;
	if ((!cw_gid_none(&r->s.own4) || !cw_gid_none(&r->s.own6)) &&
	    !cw_gid_equal(&u->dst, &r->s.own4) && !cw_gid_equal(&u->dst, &r->s.own6))
		return CW_RELAY_NOT_OURS;
	if (cw_lpm_find(r->s.allowed, &u->src) == 0)
		return CW_RELAY_NOT_ALLOWED;
	if (err == CW_E_LENGTH)
		return CW_RELAY_UDP_LENGTH;
	if (cw_udp_checksum(u->udp) != 0 &&
	    cw_udp_checksum(u->udp) != cw_udp_compute(ip, u->udp, CW_SIZE_UDP + u->len))
		return CW_RELAY_UDP_CHECKSUM;
	return CW_RELAY_CNP;
}

static bool limits_pass(struct cw_relay *r, const struct cw_gid *src, uint64_t now,
			enum cw_relay_result *why)
{
	uint64_t h = qp_hash(r->s.seed + 1, src, src, 0) | 1;
	struct source *w = &r->sources[(h >> 32) % SOURCES];

	if (w->tag != h)
		*w = (struct source){.tag = h};
	if (!cn_limit_take(&w->limit, r->s.source_rate, r->s.source_burst, now)) {
		*why = CW_RELAY_SOURCE_LIMIT;
		return false;
	}
	if (!cn_limit_take(&r->total, r->s.total_rate, r->s.total_burst, now)) {
		*why = CW_RELAY_TOTAL_LIMIT;
		return false;
	}
	return true;
}

/* Can a host have it? Not unspecified, loopback, multicast or broadcast. */
static bool is_unicast(const struct cw_gid *a)
{
	static const struct cw_gid loopback = {{[15] = 1}};

	if (cw_gid_is_v4(a))
		return a->o[12] != 0 && a->o[12] != 127 && a->o[12] < 224;
	return !cw_gid_none(a) && !cw_gid_equal(a, &loopback) && a->o[0] != 0xff;
}

/* ---- Notifications ------------------------------------------------------------------------ */

/* What is being worked on. */
struct job {
	struct cw_relay *r;
	struct cw_cnmsg m;
	struct cw_gid sender, receiver, source; /* source: of the notification */
	enum family family;
	uint64_t now;
	uint8_t *buf;
	struct cw_relay_out *out;
};

static struct cn_head head_of(struct job *j, uint8_t tos, uint16_t sport, uint16_t dport)
{
	return (struct cn_head){.src = j->source,
				.dst = j->sender,
				.tos = tos,
				.ttl = j->r->s.ttl,
				.sport = sport,
				.dport = dport,
				.ip_id = j->r->ip_id++};
}

static const struct cw_nrp_qp *nrp_qp_find(const struct cw_relay_settings *s, uint32_t nrp)
{
	uint32_t lo = 0, hi = s->nnrp_qp;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->nrp_qp[mid].nrp == nrp)
			return &s->nrp_qp[mid];
		if (s->nrp_qp[mid].nrp < nrp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Section 4.2: the VPN's routing domain. With no VPNs configured there is one domain. */
static bool domain_find(const struct cw_relay_settings *s, uint32_t nrp,
			const struct cw_vpn_domain **out)
{
	uint32_t i, d;

	*out = NULL;
	if (s->nnrp_vpn == 0)
		return true;
	for (i = 0; i < s->nnrp_vpn && s->nrp_vpn[i].nrp != nrp; i++)
		;
	for (d = 0; i < s->nnrp_vpn && d < s->ndomains; d++) {
		if (s->domains[d].vpn == s->nrp_vpn[i].vpn) {
			*out = &s->domains[d];
			return true;
		}
	}
	return false;
}

/* The sender's queue pair: from the map, or by the NRP selector. */
static enum cw_relay_result find_qp(struct job *j, uint32_t *sqpn, uint16_t *pkey)
{
	struct cw_qp_pair pair;
	const struct cw_nrp_qp *n;
	int err;

	*pkey = 0xffff;
	if (j->m.option == 2) {
		if ((n = nrp_qp_find(&j->r->s, j->m.nrp)) == NULL)
			return CW_RELAY_NRP_QP;
		*sqpn = n->sqpn;
		return CW_RELAY_CNP;
	}
	err = cw_qpmap_lookup(j->r->map, &j->sender, &j->receiver, j->m.dqpn, j->now, &pair);
	if (err != CW_OK)
		return err == CW_E_STATE ? CW_RELAY_UNDECIDED : CW_RELAY_UNKNOWN_FLOW;
	*sqpn = pair.sqpn;
	*pkey = pair.pkey;
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
	h = qp_hash(r->s.seed + 2, &j->sender, &j->receiver, qpn);
	w = &r->last[(h >> 32) % COALESCE];
	if (w->tag == ((uint32_t)h | 1) && now - w->time < (uint32_t)(r->s.coalesce_ns >> 10))
		return true;
	*w = (struct last){.tag = (uint32_t)h | 1, .time = now};
	return false;
}

static enum cw_relay_result send_cnp(struct job *j)
{
	const struct cw_relay_settings *s = &j->r->s;
	struct cw_cnp c = {.src = j->source,
			   .dst = j->sender,
			   .tos = (uint8_t)(s->cnp_dscp << 2 | s->cnp_ecn),
			   .ttl = s->ttl};
	enum cw_relay_result why;

	if (j->family != FAMILY_ROCE)
		return CW_RELAY_NO_FORMAT;
	if ((why = find_qp(j, &c.dqpn, &c.pkey)) != CW_RELAY_CNP)
		return why;
	if (coalesced(j, c.dqpn))
		return CW_RELAY_COALESCED;
	c.ip_id = j->r->ip_id++;
	j->out->len = (uint32_t)cw_cnp_build(&c, j->buf, CW_RELAY_MAX);
	return CW_RELAY_CNP;
}

/* UB 2.0 6.2.2: TPH of opcode 8 and a CETPH that says severe; PSN and TPMSN zero. */
static enum cw_relay_result send_ub_cnp(struct job *j)
{
	const size_t data = CW_SIZE_RTPH + CW_SIZE_CETPH_CNP + CW_ICRC_LEN;
	struct cn_head h;
	const uint8_t *seen;
	uint8_t *p;

	if (j->family != FAMILY_UB)
		return CW_RELAY_NO_FORMAT;
	if (j->m.option == 2) /* there is no selector to TP number table */
		return CW_RELAY_NRP_QP;
	seen = flow_find(j->r, FAMILY_UB, &j->sender, &j->receiver, j->m.dqpn, j->now);
	if (seen == NULL)
		return CW_RELAY_UNKNOWN_FLOW;
	if (coalesced(j, cw_rtph_src_tpn(seen)))
		return CW_RELAY_COALESCED;
	h = head_of(j, (uint8_t)(j->r->s.cnp_dscp << 2), j->m.sport, j->r->s.ub_port);
	p = cn_head_write(&h, j->buf, data);
	memset(p, 0, data);
	cw_rtph_set_opcode(p, CW_TP_CNP);
	cw_rtph_set_src_tpn(p, cw_rtph_dst_tpn(seen));
	cw_rtph_set_dst_tpn(p, cw_rtph_src_tpn(seen));
	cw_cetph_cnp_set_ecn(p + CW_SIZE_RTPH, 3);
	j->out->len = (uint32_t)(cn_head_len(&j->sender) + data);
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
	j->out->len = (uint32_t)(cn_head_len(&j->sender) + data);
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
	seen = flow_find(j->r, j->family, &j->sender, &j->receiver, path_key(j->m.tc, j->m.sport),
			 j->now);
	if (seen == NULL)
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

static enum cw_relay_result notify(struct job *j, enum cw_sender kind)
{
	if (kind == CW_SENDER_NONE)
		return CW_RELAY_SENDER_NONE;
	if (j->family == FAMILY_NONE)
		return CW_RELAY_FAMILY;
	if (kind == CW_SENDER_AUTO)
		kind = by_family(j);
	j->out->format = kind;
	switch (kind) {
	case CW_SENDER_CNP:
		return send_cnp(j);
	case CW_SENDER_UB_CNP:
		return send_ub_cnp(j);
	case CW_SENDER_BTS_ADDR:
	case CW_SENDER_BTS_NACK:
	case CW_SENDER_BTS_REFLECT:
	case CW_SENDER_BTS_UETX:
		return send_bts(j, kind);
	default:
		return CW_RELAY_NO_FORMAT;
	}
}

/* ---- Input -------------------------------------------------------------------------------- */

static enum cw_relay_result translate(struct job *j, const struct cn_udp *u)
{
	const struct cw_relay_settings *s = &j->r->s;
	unsigned option = cw_udp_dport(u->udp) == s->port1 ? 1 : 2;
	enum cw_sender kind;

	if (cw_cnmsg_parse(&j->m, option, u->data, u->len) != CW_OK)
		return CW_RELAY_FORM;
	j->sender = cw_gid_of(j->m.version, j->m.src);
	j->receiver = cw_gid_of(j->m.version, j->m.dst);
	if (!is_unicast(&j->sender) || !is_unicast(&j->receiver) ||
	    cw_gid_is_v4(&j->sender) != cw_gid_is_v4(&j->receiver) ||
	    cw_gid_equal(&j->sender, &j->receiver))
		return CW_RELAY_ADDRESS;
	kind = (enum cw_sender)cw_lpm_find(s->senders, &j->sender);
	if (kind == 0)
		return CW_RELAY_NO_SENDER;
	j->family = family_of(s, j->m.proto, j->m.dport);
	j->source = j->receiver;
	if (option == 2) {
		if (!domain_find(s, j->m.nrp, &j->out->domain))
			return CW_RELAY_NRP_VPN;
		if (j->out->domain != NULL && !cw_gid_none(&j->out->domain->source) &&
		    cw_gid_is_v4(&j->out->domain->source) == cw_gid_is_v4(&j->sender))
			j->source = j->out->domain->source;
	}
	j->out->dst = j->sender;
	return notify(j, kind);
}

enum cw_relay_result cw_relay_input(struct cw_relay *r, const uint8_t *ip, size_t len,
				    bool internal, uint64_t now, uint8_t buf[CW_RELAY_MAX],
				    struct cw_relay_out *out)
{
	struct job j = {.r = r, .now = now, .buf = buf, .out = out};
	enum cw_relay_result why;
	struct cn_udp u;

	memset(out, 0, sizeof(*out));
	if (!r->s.enabled)
		why = CW_RELAY_DISABLED;
	else if ((why = check_udp(r, ip, len, internal, &u)) == CW_RELAY_CNP &&
		 limits_pass(r, &u.src, now, &why))
		why = translate(&j, &u);
	r->count[why]++;
	return why;
}
