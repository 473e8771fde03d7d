/* traffic_build.c - a plan and a number become a packet. */
#include <string.h>
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "cli/traffic.h"

/* Streams of traffic_random(), one for each thing that is drawn. */
enum { DRAW_SIZE, DRAW_LENGTH, DRAW_CC, DRAW_CCI, DRAW_PART, DRAW_DSCP, DRAW_RT, DRAW_OP, DRAW_TP };

struct build {
	const struct traffic_plan *plan;
	struct traffic_packet *k;
	uint64_t draw; /* number of the packet among everything that is drawn */
	uint32_t at;   /* octets written so far */
};

static uint32_t draw(const struct build *b, const struct traffic_mix *m, unsigned stream)
{
	return traffic_mix_pick(m, traffic_random(b->plan->seed, b->draw, stream));
}

/* `n` zero octets at the end of the frame. */
static uint8_t *room(struct build *b, uint32_t n)
{
	uint8_t *p = b->k->frame + b->at;

	memset(p, 0, n);
	b->at += n;
	return p;
}

static void put_ethernet(struct build *b)
{
	const struct traffic_plan *p = b->plan;
	const struct traffic_desc *d = &b->k->desc;
	uint16_t type = p->version == 6 ? CW_ETHERTYPE_IP6 : CW_ETHERTYPE_IP4;
	uint8_t *eth = room(b, CW_SIZE_ETH), *tag;

	cw_eth_set_dst(eth, p->dmac);
	cw_eth_set_src(eth, p->smac);
	cw_eth_set_type(eth, p->side == TRAFFIC_UB ? CW_ETHERTYPE_UB : type);
	if (p->side == TRAFFIC_UB)
		return;
	if (p->outer_vid != 0) {
		cw_eth_set_type(eth, CW_ETHERTYPE_SVLAN);
		tag = room(b, CW_SIZE_VLAN);
		cw_vlan_set_vid(tag, p->outer_vid);
		cw_vlan_set_type(tag, d->tagged ? CW_ETHERTYPE_VLAN : type);
	}
	if (!d->tagged)
		return;
	if (p->outer_vid == 0)
		cw_eth_set_type(eth, CW_ETHERTYPE_VLAN);
	tag = room(b, CW_SIZE_VLAN);
	cw_vlan_set_pcp(tag, d->pcp);
	cw_vlan_set_vid(tag, d->part);
	cw_vlan_set_type(tag, type);
}

static void put_ub_link(struct build *b)
{
	const struct traffic_desc *d = &b->k->desc;
	uint8_t *lph = room(b, CW_SIZE_LPH), *cci = room(b, CW_SIZE_CCI),
		*npi = room(b, CW_SIZE_NPI);

	cw_lph_set_cfg(lph, d->v6 ? CW_UB_CFG_IP6 : CW_UB_CFG_IP4);
	cw_lph_set_vl(lph, d->vl);
	cw_lph_set_rt(lph, d->rt);
	cw_cci_fecn_set_mode(cci, d->cci_mode);
	cw_cci_fecn_set_loc(cci, d->loc);
	cw_cci_fecn_set_fecn(cci, d->cc);
	cw_npi_set_permission(npi, d->part >> 24);
	cw_npi_set_id(npi, d->part & CW_NPI_ID_MASK);
}

/* Address number i of a range: the last 32 bits count. */
static void address(uint8_t *out, const struct traffic_range *r, uint8_t version, uint32_t i)
{
	unsigned len = version == 6 ? 16 : 4;

	memcpy(out, r->addr, len);
	cw_put_be32(out + len - 4, cw_be32(out + len - 4) + i % r->n);
}

static void put_ip(struct build *b)
{
	const struct traffic_plan *p = b->plan;
	const struct traffic_desc *d = &b->k->desc;
	uint32_t ecn = p->side == TRAFFIC_UBOE ? d->cc : 0;
	uint8_t addr[16], *ip;

	b->k->ip = b->at;
	if (p->version == 4) {
		ip = room(b, CW_SIZE_IPV4);
		cw_ipv4_set_version(ip, 4);
		cw_ipv4_set_ihl(ip, 5);
		cw_ipv4_set_dscp(ip, d->dscp);
		cw_ipv4_set_ecn(ip, ecn);
		/* The ICRC covers it, so a rewritten one is noticed. */
		cw_ipv4_set_id(ip, (uint32_t)traffic_random(p->seed, b->draw, 98));
		cw_ipv4_set_df(ip, 1);
		cw_ipv4_set_ttl(ip, d->ttl);
		cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
		address(addr, &p->src, 4, d->flow);
		cw_ipv4_set_src(ip, addr);
		address(addr, &p->dst, 4, d->flow);
		cw_ipv4_set_dst(ip, addr);
		return;
	}
	ip = room(b, CW_SIZE_IPV6);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_dscp(ip, d->dscp);
	cw_ipv6_set_ecn(ip, ecn);
	cw_ipv6_set_flow_label(ip, traffic_flow_label(d->run, d->flow));
	cw_ipv6_set_next_header(ip, CW_IPPROTO_UDP);
	cw_ipv6_set_hop_limit(ip, d->ttl);
	address(addr, &p->src, 6, d->flow);
	cw_ipv6_set_src(ip, addr);
	address(addr, &p->dst, 6, d->flow);
	cw_ipv6_set_dst(ip, addr);
}

static void put_udp(struct build *b)
{
	uint8_t *udp;

	b->k->udp = b->at;
	udp = room(b, CW_SIZE_UDP);
	cw_udp_set_sport(udp, b->k->desc.sport);
	cw_udp_set_dport(udp, b->plan->dport);
}

static void put_transport(struct build *b, enum traffic_transport t)
{
	const struct traffic_desc *d = &b->k->desc;
	uint8_t *tph;
	uint32_t n;

	b->k->tph = b->at;
	if (t == TRAFFIC_UTP) {
		tph = room(b, CW_SIZE_UTPH);
		cw_utph_set_nlp(tph, CW_NLP_TAH);
		return;
	}
	n = (uint32_t)(d->seq / d->nflows);
	tph = room(b, CW_SIZE_RTPH);
	cw_rtph_set_last(tph, 1);
	cw_rtph_set_opcode(tph, CW_TP_RTP);
	cw_rtph_set_nlp(tph, CW_NLP_TAH);
	cw_rtph_set_src_tpn(tph, 0x10000u + d->flow);
	cw_rtph_set_dst_tpn(tph, 0x20000u + d->flow);
	cw_rtph_set_a(tph, n % 16 == 0);
	cw_rtph_set_psn(tph, n);
	cw_rtph_set_tpmsn(tph, n);
}

static void put_mae(struct build *b, uint32_t size)
{
	uint8_t *mae = room(b, CW_SIZE_MAETAH);

	cw_maetah_set_address(mae, 0x7f0000000000u + b->k->desc.seq * 4096);
	cw_maetah_set_token_id(mae, 0x12345);
	cw_maetah_set_length(mae, size);
}

static void put_btah(struct build *b, uint32_t opcode)
{
	uint8_t *tah = room(b, CW_SIZE_BTAH);

	cw_btah_set_opcode(tah, opcode);
	cw_btah_set_ee_bits(tah, 1);
	cw_btah_set_tassn(tah, (uint32_t)(b->k->desc.seq / b->k->desc.nflows) & 0xffff);
	cw_btah_set_rc_id(tah, b->k->desc.flow);
}

static void put_transaction(struct build *b, enum traffic_op op, uint32_t size)
{
	static const uint8_t opcode[TRAFFIC_OPS] = {
		[TRAFFIC_SEND] = CW_TA_SEND,
		[TRAFFIC_SEND_IMM] = CW_TA_SEND_IMM,
		[TRAFFIC_WRITE] = CW_TA_WRITE,
		[TRAFFIC_WRITE_IMM] = CW_TA_WRITE_IMM,
		[TRAFFIC_WRITE_NOTIFY] = CW_TA_WRITE_NOTIFY,
		[TRAFFIC_WRITEBACK] = CW_TA_WRITEBACK,
		[TRAFFIC_READ_RESPONSE] = CW_TA_READ_RESP,
	};
	uint8_t *p;

	if (op == TRAFFIC_READ_RESPONSE) {
		p = room(b, CW_SIZE_ATAH);
		cw_atah_set_opcode(p, CW_TA_READ_RESP);
		cw_atah_set_rc_id(p, b->k->desc.flow);
		return;
	}
	put_btah(b, opcode[op]);
	if (op == TRAFFIC_SEND || op == TRAFFIC_SEND_IMM)
		(void)room(b, CW_SIZE_OFSTETAH);
	else
		put_mae(b, size);
	if (op == TRAFFIC_SEND_IMM || op == TRAFFIC_WRITE_IMM) {
		p = room(b, CW_SIZE_IMMETAH);
		cw_immetah_set_imm(p, b->k->desc.seq);
		cw_immetah_set_msg_length(p, op == TRAFFIC_WRITE_IMM ? size : 0);
	}
	if (op == TRAFFIC_WRITE_NOTIFY)
		cw_ntfetah_set_data(room(b, CW_SIZE_NTFETAH), b->k->desc.seq);
}

/* Description, payload, pad octets and room for the ICRC; lengths that follow from them. */
static void put_payload(struct build *b, uint32_t size)
{
	struct traffic_packet *k = b->k;
	uint32_t pad = (4 - size % 4) % 4, ip_len;
	uint8_t *ip = k->frame + k->ip;

	k->payload = b->at;
	cw_rtph_set_padding(k->frame + k->tph, pad); /* UTPH has it in the same place */
	k->desc.head_crc = cw_crc32(0, k->frame + k->tph, k->payload - k->tph);
	k->desc.addr_crc = traffic_addr_crc(ip);
	traffic_fill(k->frame + k->payload + TRAFFIC_SIZE, size - TRAFFIC_SIZE, k->desc.seed);
	b->at += size;
	(void)room(b, pad);
	k->icrc = b->at;
	(void)room(b, CW_ICRC_LEN);
	k->len = b->at;
	ip_len = k->len - k->ip;
	k->desc.ip_len = (uint16_t)ip_len;
	traffic_desc_put(k->frame + k->payload, &k->desc);
	if (k->version == 4)
		cw_ipv4_set_length(ip, ip_len);
	else
		cw_ipv6_set_length(ip, ip_len - CW_SIZE_IPV6);
	cw_udp_set_length(k->frame + k->udp, k->len - k->udp);
}

void traffic_fix_plength(struct traffic_packet *k)
{
	uint16_t plength;

	if (k->side == TRAFFIC_UB &&
	    cw_plength_encode(CW_PLENGTH_CRC, k->len - k->net - CW_SIZE_LPH, &plength) == CW_OK)
		cw_lph_set_plength(k->frame + k->net, plength);
}

void traffic_fix_ip_checksum(struct traffic_packet *k)
{
	uint8_t *ip = k->frame + k->ip;

	if (k->version == 4)
		cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
}

void traffic_fix_icrc(struct traffic_packet *k, enum cw_icrc_order order)
{
	uint32_t crc;

	if (cw_icrc_compute(k->frame + k->ip, k->icrc - k->ip, &cw_icrc_ub, &crc) == CW_OK)
		cw_icrc_set(k->frame + k->icrc, order, crc);
}

static void fill_desc(const struct build *b, uint64_t seq)
{
	const struct traffic_plan *p = b->plan;
	struct traffic_desc *d = &b->k->desc;
	uint32_t cc = draw(b, &p->cc, DRAW_CC), part = draw(b, &p->part, DRAW_PART);

	*d = (struct traffic_desc){
		.run = p->run,
		.seq = seq,
		.total = p->count,
		.flow = (uint16_t)(seq % p->flows),
		.nflows = (uint16_t)p->flows,
		.side = (uint8_t)p->side,
		.v6 = p->version == 6,
		.cci_mode = (uint8_t)draw(b, &p->cci, DRAW_CCI),
		.rt = (uint8_t)draw(b, &p->rt, DRAW_RT),
		.cc = cc & 3,
		.loc = cc >> 2 & 1,
		.vl = p->vl,
		.pcp = p->pcp,
		.dscp = (uint8_t)draw(b, &p->dscp, DRAW_DSCP),
		.ttl = p->ttl,
		.part = part,
		.tagged = p->side == TRAFFIC_UBOE && part != TRAFFIC_UNTAGGED,
		.seed = (uint32_t)traffic_random(p->seed, b->draw, 97),
	};
	d->sport = (uint16_t)(p->sport + d->flow % p->nsport);
	if (p->side == TRAFFIC_UBOE && !d->tagged)
		d->part = 0;
}

static uint32_t draw_size(const struct build *b)
{
	uint32_t v = draw(b, &b->plan->size, DRAW_SIZE), lo = v & 0xffff, hi = v >> 16;

	return lo + (uint32_t)(traffic_random(b->plan->seed, b->draw, DRAW_LENGTH) % (hi - lo + 1));
}

/* Everything but checksums and ICRC. */
static void compose(struct build *b, uint64_t seq, uint8_t fault)
{
	const struct traffic_plan *p = b->plan;
	struct traffic_packet *k = b->k;
	enum traffic_transport t = (enum traffic_transport)draw(b, &p->transport, DRAW_TP);
	enum traffic_op op = (enum traffic_op)draw(b, &p->op, DRAW_OP);
	uint32_t size = draw_size(b);

	/* UB 2.0 T7-14: over UTP there are Sends only (of what gen knows). */
	if (t == TRAFFIC_UTP && op != TRAFFIC_SEND_IMM)
		op = TRAFFIC_SEND;
	fill_desc(b, seq);
	k->desc.fault = fault;
	if (fault != 0) /* numbered apart from the good packets, which the total counts */
		k->desc.total = 0;
	k->side = p->side;
	k->version = p->version;
	put_ethernet(b);
	k->net = b->at;
	if (p->side == TRAFFIC_UB)
		put_ub_link(b);
	put_ip(b);
	put_udp(b);
	put_transport(b, t);
	put_transaction(b, op, size);
	put_payload(b, size);
}

static void finish(const struct traffic_plan *p, struct traffic_packet *k)
{
	uint8_t *udp = k->frame + k->udp;

	traffic_fix_plength(k);
	traffic_fix_ip_checksum(k);
	traffic_fix_icrc(k, p->icrc_order);
	if (p->udp_checksum) /* last: it covers the ICRC, which takes it as ones */
		cw_udp_set_checksum(udp, cw_udp_compute(k->frame + k->ip, udp, k->len - k->udp));
}

void traffic_build(const struct traffic_plan *p, uint64_t seq, uint8_t *frame,
		   struct traffic_packet *out)
{
	struct build b = {.plan = p, .k = out, .draw = seq};

	out->frame = frame;
	compose(&b, seq, 0);
	finish(p, out);
}

void traffic_build_fault(const struct traffic_plan *p, unsigned fault, const char *arg, uint64_t n,
			 uint8_t *frame, struct traffic_packet *out)
{
	/* Its draws are far from those of good packets. */
	struct build b = {.plan = p, .k = out, .draw = n | (uint64_t)(fault + 1) << 48};
	uint64_t random = traffic_random(p->seed, b.draw, 96);

	out->frame = frame;
	compose(&b, n, (uint8_t)(fault + 1));
	finish(p, out);
	traffic_faults[fault].apply(p, out, random, arg != NULL ? arg : traffic_faults[fault].def);
}
