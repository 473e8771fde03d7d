/* cnpoint.c - the congestion point. Spec: causeway/cnpoint.h. */
#include <stdlib.h>
#include "causeway/cnpoint.h"
#include "causeway/ub2e.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "causeway/wire/ub.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
#include "lib/cnproxy/cn_int.h"

struct told {
	uint32_t tag, time; /* units of 2^10 ns */
};

struct cw_point {
	struct cw_point_settings s;
	uint64_t empty; /* when the queue will have drained */
	bool deep;      /* deep enough, since `above` */
	uint64_t above;
	uint64_t random; /* for marking */
	struct told *told;
	uint32_t ntold;
	struct cn_rate total;
	uint64_t total_next;
	uint16_t ip_id;
	uint64_t count[CW_POINT_COUNTER_COUNT];
};

static const char *const counters[] = {
#define CW_X(id, name, text) name,
	CW_POINT_COUNTERS(CW_X)
#undef CW_X
};

const char *cw_point_counter_name(unsigned c)
{
	return c < CW_POINT_COUNTER_COUNT ? counters[c] : "unknown";
}

uint64_t cw_point_counter(const struct cw_point *p, unsigned c)
{
	return c < CW_POINT_COUNTER_COUNT ? p->count[c] : 0;
}

/* ---- Made and freed ----------------------------------------------------------------------- */

void cw_point_settings_init(struct cw_point_settings *s)
{
	*s = (struct cw_point_settings){
		.rate = 100000000000ull,
		.limit = 4 << 20,
		.ecn_min = 100 << 10,
		.ecn_max = 400 << 10,
		.ecn_percent = 10,
		.detect_depth = 200 << 10,
		.port1 = CW_CN_PORT1,
		.port2 = CW_CN_PORT2,
		.roce_port = CW_ROCE_PORT,
		.ub_port = CW_UB_PORT,
		.uec_port = CW_UEC_PORT,
		.dscp = CW_DSCP_CS6,
		.ttl = 64,
		.flow_ns = 50000,
		.flows = 65536,
		.total_rate = 100000,
		.total_burst = 100,
		.seed = 0x853c49e6748fea9bull,
	};
}

static int check(const struct cw_point_settings *s, struct cw_diag *d)
{
	if (s->rate < 1000)
		return cw_diag_set(d, CW_E_RANGE, "rate", NULL, "below 1000 bit/s");
	if (s->ecn_min > s->ecn_max)
		return cw_diag_set(d, CW_E_CONFLICT, "ecn-min", NULL, "%u is above ecn-max %u",
				   s->ecn_min, s->ecn_max);
	if (s->ecn_percent > 100)
		return cw_diag_set(d, CW_E_RANGE, "ecn-percent", NULL, "%u is above 100",
				   s->ecn_percent);
	if (s->limit == UINT32_MAX)
		return cw_diag_set(d, CW_E_RANGE, "limit", NULL, "%u is too much", s->limit);
	if (s->detect_depth > s->limit)
		return cw_diag_set(d, CW_E_CONFLICT, "detect-depth", NULL,
				   "%u is above the queue's limit %u", s->detect_depth, s->limit);
	if (s->option > 2)
		return cw_diag_set(d, CW_E_RANGE, "option", NULL, "%u is not 0, 1 or 2", s->option);
	if (s->dscp > 63)
		return cw_diag_set(d, CW_E_RANGE, "dscp", NULL, "%u is above 63", s->dscp);
	if (s->ttl == 0)
		return cw_diag_set(d, CW_E_RANGE, "ttl", NULL, "0 goes nowhere");
	if (s->flows == 0 || s->flows > 1u << 26)
		return cw_diag_set(d, CW_E_RANGE, "flows", NULL, "%u is not in 1 to 67108864",
				   s->flows);
	return CW_OK;
}

int cw_point_new(struct cw_point **out, const struct cw_point_settings *s, struct cw_diag *diag)
{
	struct cw_point *p;
	int err = check(s, diag);

	if (err < 0)
		return err;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, "", NULL, "out of memory");
	p->s = *s;
	p->random = s->seed | 1;
	p->total = cn_rate_of(s->total_rate, s->total_burst);
	for (p->ntold = 1; p->ntold < s->flows;)
		p->ntold *= 2;
	p->told = calloc(p->ntold, sizeof(*p->told));
	if (p->told == NULL) {
		free(p);
		return cw_diag_set(diag, CW_E_NOMEM, "", NULL, "out of memory");
	}
	*out = p;
	return CW_OK;
}

void cw_point_free(struct cw_point *p)
{
	if (p == NULL)
		return;
	free(p->told);
	free(p);
}

void cw_point_use_proxies(struct cw_point *p, const struct cw_lpm *map,
			  const struct cw_gid *proxies, uint32_t n)
{
	p->s.proxy_map = map;
	p->s.proxies = proxies;
	p->s.nproxies = n;
}

/* ---- The queue ---------------------------------------------------------------------------- */

/* The limit keeps every product below 2^32 * 10^9. */
static uint64_t ns_of(const struct cw_point *p, uint64_t octets)
{
	uint64_t rate = p->s.rate / 8;

	return (octets * 1000000000ull + rate - 1) / rate;
}

/* Never above one more than the limit: a clock that went back makes no difference. */
static uint64_t octets_in(const struct cw_point *p, uint64_t ns)
{
	if (ns > ns_of(p, p->s.limit))
		return (uint64_t)p->s.limit + 1;
	return ns * (p->s.rate / 8) / 1000000000ull;
}

static uint32_t random32(struct cw_point *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)(p->random >> 32);
}

static bool is_marked(struct cw_point *p, uint32_t depth)
{
	const struct cw_point_settings *s = &p->s;

	if (depth < s->ecn_min)
		return false;
	if (depth >= s->ecn_max)
		return true;
	return (uint64_t)random32(p) * 100 * (s->ecn_max - s->ecn_min) <
	       ((uint64_t)s->ecn_percent * (depth - s->ecn_min)) << 32;
}

static bool is_congested(struct cw_point *p, uint32_t depth, uint64_t now)
{
	if (depth < p->s.detect_depth) {
		p->deep = false;
		return false;
	}
	if (!p->deep)
		p->above = now;
	p->deep = true;
	return now - p->above >= p->s.detect_ns;
}

/* Depth at `now`, and the packet's place in the queue. False when there is no room. */
static bool enqueue(struct cw_point *p, uint32_t wire, uint64_t now, struct cw_point_out *out)
{
	uint64_t depth;

	if (p->empty < now)
		p->empty = now;
	depth = octets_in(p, p->empty - now);
	out->depth = (uint32_t)depth;
	out->depart = p->empty;
	if (depth + wire > p->s.limit)
		return false;
	p->empty += ns_of(p, wire);
	out->depart = p->empty;
	return true;
}

/* ---- The message -------------------------------------------------------------------------- */

/* A Back To Sender packet, as proxies make them: a NACK, or a header alone. A message about it
 * would bring the receiver a notification, and one that is reflected would go round for ever. */
static bool is_bts(const struct cn_udp *u)
{
	return u->len >= 2 &&
	       (u->len <= CW_SIZE_UEC_NACK || cw_uec_req_type(u->data) == CW_PDS_NACK);
}

/* The Nack of the article's UET. */
static bool is_uetx_nack(const struct cn_udp *u)
{
	return u->len >= CW_SIZE_UETX && cw_uetx_version(u->data) == CW_UETX_VERSION &&
	       cw_uetx_opcode(u->data) == CW_UETX_NACK;
}

static bool is_control(const struct cw_point_settings *s, const struct cn_udp *u, uint32_t dport)
{
	if (dport == s->port1 || dport == s->port2)
		return true;
	if (dport == s->roce_port)
		return u->len >= 1 && u->data[0] == CW_BTH_CNP;
	if (dport == s->ub_port)
		return (u->len >= 1 && u->data[0] == CW_TP_CNP) || is_uetx_nack(u);
	return dport == s->uec_port && is_bts(u);
}

/* Section 4.1: the destination queue pair, or what stands for it in the other transports. */
static bool look_deep(const struct cw_point_settings *s, const struct cn_udp *u, uint32_t dport,
		      uint32_t *dqpn)
{
	*dqpn = 0;
	if (dport == s->roce_port) {
		if (u->len < CW_SIZE_BTH)
			return false;
		*dqpn = cw_bth_dqpn(u->data);
		return true;
	}
	if (dport == s->ub_port) {
		if (u->len < CW_SIZE_RTPH)
			return false;
		if (u->data[0] >> 4 == CW_UETX_VERSION)
			*dqpn = cw_uetx_dcid(u->data);
		else
			*dqpn = cw_rtph_dst_tpn(u->data);
		return true;
	}
	return dport == s->uec_port;
}

static bool find_nrp(const struct cw_point_settings *s, const struct cw_point_packet *pkt,
		     uint8_t tos, uint32_t *nrp)
{
	uint32_t i;

	for (i = 0; i < s->nnrp; i++) {
		const struct cw_nrp_rule *r = &s->nrp[i];

		if (r->match == CW_NRP_ANY ||
		    (r->match == CW_NRP_VLAN && pkt->vid != 0 && pkt->vid == r->value) ||
		    (r->match == CW_NRP_DSCP && tos >> 2 == (int)r->value) ||
		    (r->match == CW_NRP_NPI && pkt->npi != 0 && pkt->npi == r->value)) {
			*nrp = r->nrp;
			return true;
		}
	}
	return false;
}

/* Section 6: one message a flow and time, and so many a second at all. */
static enum cw_point_counter limits(struct cw_point *p, const struct cn_udp *u,
				    const struct cw_cnmsg *m, uint64_t now)
{
	uint64_t ports = (uint64_t)m->sport << 48 | (uint64_t)m->dport << 32 | m->dqpn;
	uint64_t h = qp_hash(p->s.seed, &u->src, &u->dst, ports);
	struct told *t = &p->told[(h >> 32) & (p->ntold - 1)];
	uint32_t time = (uint32_t)(now >> 10), tag = (uint32_t)h | 1;

	if (t->tag == tag && time - t->time < (uint32_t)(p->s.flow_ns >> 10))
		return CW_POINT_FLOW_LIMIT;
	if (!cn_rate_take(&p->total, &p->total_next, now))
		return CW_POINT_TOTAL_LIMIT;
	*t = (struct told){tag, time};
	return CW_POINT_SENT;
}

static enum cw_point_counter fill(const struct cw_point *p, const struct cw_point_packet *pkt,
				  const struct cn_udp *u, struct cw_cnmsg *m)
{
	uint32_t dport = cw_udp_dport(u->udp), dqpn = 0;
	bool v4 = cw_gid_is_v4(&u->src);

	if (is_control(&p->s, u, dport))
		return CW_POINT_CONTROL;
	if (p->s.option == 1 && !look_deep(&p->s, u, dport, &dqpn))
		return CW_POINT_NO_TRANSPORT;
	*m = (struct cw_cnmsg){.option = (uint8_t)p->s.option,
			       .version = v4 ? 4 : 6,
			       .packed = p->s.packed,
			       .proto = CW_IPPROTO_UDP,
			       .tc = u->tos,
			       .sport = (uint16_t)cw_udp_sport(u->udp),
			       .dport = (uint16_t)dport,
			       .dqpn = dqpn};
	memcpy(m->src, u->src.o + (v4 ? 12 : 0), v4 ? 4 : 16);
	memcpy(m->dst, u->dst.o + (v4 ? 12 : 0), v4 ? 4 : 16);
	if (p->s.option == 2 && !find_nrp(&p->s, pkt, u->tos, &m->nrp))
		return CW_POINT_NO_NRP;
	return CW_POINT_SENT;
}

/* Write the message to the proxy at `to` from our own address. */
static bool write_message(struct cw_point *p, const struct cw_cnmsg *m, const struct cw_gid *to,
			  uint8_t *buf, struct cw_point_out *out)
{
	const struct cw_gid *own = cw_gid_is_v4(to) ? &p->s.own4 : &p->s.own6;
	uint8_t data[CW_CN_MAX], *udp;
	int n = cw_cnmsg_write(m, data, sizeof(data));
	struct cn_head h = {.src = own,
			    .dst = to,
			    .tos = (uint8_t)(p->s.dscp << 2),
			    .ttl = p->s.ttl,
			    .sport = (uint16_t)(0xc000 | ((m->dqpn ^ m->sport) & 0x3fff)),
			    .dport = p->s.option == 1 ? p->s.port1 : p->s.port2,
			    .ip_id = p->ip_id++};

	if (cw_gid_none(own) || n < 0)
		return false;
	udp = cn_head_write(&h, buf, (size_t)n) - CW_SIZE_UDP;
	memcpy(udp + CW_SIZE_UDP, data, (size_t)n);
	cw_udp_set_checksum(udp, cw_udp_compute(buf, udp, CW_SIZE_UDP + (size_t)n));
	out->proxy = *to;
	out->len = (uint32_t)(cn_head_len(to) + (size_t)n);
	return true;
}

static enum cw_point_counter tell(struct cw_point *p, const struct cw_point_packet *pkt,
				  uint64_t now, uint8_t *buf, struct cw_point_out *out)
{
	enum cw_point_counter why;
	struct cw_cnmsg m;
	struct cn_udp u;
	uint32_t proxy;

	if (cn_udp_read(pkt->ip, pkt->len, &u) != CW_OK)
		return CW_POINT_NO_FLOW;
	if ((why = fill(p, pkt, &u, &m)) != CW_POINT_SENT)
		return why;
	proxy = cw_lpm_find(p->s.proxy_map, &u.src);
	if (proxy == 0 || proxy > p->s.nproxies)
		return CW_POINT_NO_PROXY;
	if ((why = limits(p, &u, &m, now)) != CW_POINT_SENT)
		return why;
	return write_message(p, &m, &p->s.proxies[proxy - 1], buf, out) ? CW_POINT_SENT
									: CW_POINT_NO_SOURCE;
}

/* May it be marked? */
static bool is_capable(const struct cw_point_packet *pkt)
{
	if (pkt->cci != NULL)
		return cw_ub_can_mark(pkt->cci);
	if (pkt->len >= CW_SIZE_IPV4 && cw_ipv4_version(pkt->ip) == 4)
		return cw_ipv4_ecn(pkt->ip) != 0;
	return pkt->len >= CW_SIZE_IPV6 && cw_ipv6_version(pkt->ip) == 6 &&
	       cw_ipv6_ecn(pkt->ip) != 0;
}

void cw_point_packet(struct cw_point *p, const struct cw_point_packet *pkt, uint64_t now,
		     uint8_t buf[CW_POINT_MAX], struct cw_point_out *out)
{
	memset(out, 0, sizeof(*out));
	p->count[CW_POINT_PACKETS]++;
	out->overflow = !enqueue(p, pkt->wire, now, out);
	if (out->overflow)
		p->count[CW_POINT_OVERFLOW]++;
	else if (is_marked(p, out->depth)) {
		out->mark = is_capable(pkt);
		out->severe = out->depth >= p->s.ecn_max;
		p->count[out->mark ? CW_POINT_MARKED : CW_POINT_NOT_ECT]++;
	}
	out->congested = is_congested(p, out->depth, now);
	if (!out->congested)
		return;
	p->count[CW_POINT_CONGESTED]++;
	if (p->s.option != 0)
		p->count[tell(p, pkt, now, buf, out)]++;
}
