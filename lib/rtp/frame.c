/* frame.c - what is in front of the transport header: LPH, CCI, NPI, IP, UDP; and the ICRC.
 * Spec: draft-li-uboe-00 4.1 and 4.2, UB 2.0 4.3.2, 5.2.3, 5.3.
 */
#include "lib/rtp/rtp_int.h"

#define PREFIX (CW_SIZE_LPH + CW_SIZE_CCI + CW_SIZE_NPI)

static void template_ip4(struct cw_uboe_tp *tp, uint8_t *p)
{
	cw_ipv4_set_version(p, 4);
	cw_ipv4_set_ihl(p, 5);
	cw_ipv4_set_df(p, 1);
	cw_ipv4_set_ttl(p, tp->o.ttl);
	cw_ipv4_set_proto(p, CW_IPPROTO_UDP);
	cw_ipv4_set_src(p, tp->o.src);
	cw_ipv4_set_dst(p, tp->o.dst);
	tp->ip_sum = cw_inet_sum(0, p, CW_SIZE_IPV4);
}

static void template_ip6(struct cw_uboe_tp *tp, uint8_t *p)
{
	cw_ipv6_set_version(p, 6);
	cw_ipv6_set_next_header(p, CW_IPPROTO_UDP);
	cw_ipv6_set_hop_limit(p, tp->o.ttl);
	cw_ipv6_set_src(p, tp->o.src);
	cw_ipv6_set_dst(p, tp->o.dst);
}

static void template_ub(struct cw_uboe_tp *tp, uint8_t *p)
{
	cw_lph_set_cfg(p, tp->o.ip_version == 4 ? CW_UB_CFG_IP4 : CW_UB_CFG_IP6);
	cw_lph_set_rt(p, tp->o.rt);
	cw_lph_set_vl(p, tp->o.vl);
	cw_cci_fecn_set_mode(p + CW_SIZE_LPH, CW_CCI_MODE_FECN);
	cw_put_be32(p + CW_SIZE_LPH + CW_SIZE_CCI, tp->o.npi);
}

void frame_template(struct cw_uboe_tp *tp)
{
	memset(tp->head, 0, sizeof(tp->head));
	tp->ip_off = tp->o.form == CW_UBOE_FORM_NATIVE ? PREFIX : 0;
	tp->udp_off = tp->ip_off + (tp->o.ip_version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6);
	tp->head_len = tp->udp_off + CW_SIZE_UDP;
	if (tp->ip_off != 0)
		template_ub(tp, tp->head);
	if (tp->o.ip_version == 4)
		template_ip4(tp, tp->head + tp->ip_off);
	else
		template_ip6(tp, tp->head + tp->ip_off);
	cw_udp_set_dport(tp->head + tp->udp_off, tp->dev->o.udp_port);
}

static void seal_ip(struct cw_uboe_tp *tp, uint8_t *ip, uint32_t ip_len, bool data)
{
	bool ect = data && tp->o.form == CW_UBOE_FORM_UBOE;
	uint32_t tos = (uint32_t)tp->o.dscp << 2 | (ect ? tp->o.ect : 0);

	if (tp->o.ip_version == 4) {
		ip[1] = (uint8_t)tos;
		cw_ipv4_set_length(ip, ip_len);
		cw_ipv4_set_checksum(ip, cw_inet_fold(tp->ip_sum + tos + ip_len));
	} else {
		cw_ipv6_set_dscp(ip, tp->o.dscp);
		cw_ipv6_set_ecn(ip, tos & 3);
		cw_ipv6_set_length(ip, ip_len - CW_SIZE_IPV6);
	}
}

int frame_seal(struct cw_uboe_tp *tp, uint8_t *buf, uint32_t len, bool data, uint16_t sport)
{
	uint8_t *ip = buf + tp->ip_off, *udp = buf + tp->udp_off;
	uint32_t total = tp->head_len + len + CW_ICRC_LEN, ip_len = total - tp->ip_off;
	uint16_t plength;
	int err;

	memcpy(buf, tp->head, tp->head_len);
	if (tp->o.form == CW_UBOE_FORM_NATIVE) {
		err = cw_plength_encode(CW_PLENGTH_CRC, total - CW_SIZE_LPH, &plength);
		if (err != CW_OK)
			return err;
		cw_lph_set_plength(buf, plength);
		cw_cci_fecn_set_fecn(buf + CW_SIZE_LPH,
				     data && tp->o.ect != 0 ? CW_FECN_NONE : CW_FECN_UNMARKABLE);
	}
	seal_ip(tp, ip, ip_len, data);
	cw_udp_set_sport(udp, sport);
	cw_udp_set_length(udp, CW_SIZE_UDP + len + CW_ICRC_LEN);
	err = cw_icrc_put(ip, ip_len, &cw_icrc_ub, tp->dev->o.icrc_order);
	return err != CW_OK ? err : (int)total;
}

/* ---- The other way ------------------------------------------------------------------------ */

static int refuse(struct cw_uboe_dev *d, enum cw_uboe_counter c, int err)
{
	dev_count(d, c);
	return err;
}

static int parse_ip4(struct cw_uboe_dev *d, const uint8_t *p, size_t len, uint32_t *ip_len)
{
	if (len < CW_SIZE_IPV4)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	if (cw_ipv4_ihl(p) != 5)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_OPTIONS);
	if (cw_ipv4_mf(p) || cw_ipv4_frag_off(p) != 0)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_FRAGMENT);
	if (cw_ipv4_proto(p) != CW_IPPROTO_UDP)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_UNKNOWN);
	if (cw_inet_fold(cw_inet_sum(0, p, CW_SIZE_IPV4)) != 0)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_CHECKSUM);
	*ip_len = cw_ipv4_length(p);
	return CW_OK;
}

static int parse_ip6(struct cw_uboe_dev *d, const uint8_t *p, size_t len, uint32_t *ip_len)
{
	if (len < CW_SIZE_IPV6)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	if (cw_ipv6_next_header(p) != CW_IPPROTO_UDP)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_OPTIONS);
	*ip_len = CW_SIZE_IPV6 + cw_ipv6_length(p);
	return CW_OK;
}

static int parse_udp(struct cw_uboe_dev *d, const uint8_t *ip, uint32_t ip_len, uint32_t off,
		     struct frame *f)
{
	const uint8_t *udp = ip + off;

	if (ip_len < off + CW_SIZE_UDP + CW_SIZE_RTPH + CW_ICRC_LEN)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	if (cw_udp_dport(udp) != d->o.udp_port)
		return refuse(d, CW_UBOE_C_BAD_UDP, CW_E_UNKNOWN);
	if (cw_udp_length(udp) != ip_len - off)
		return refuse(d, CW_UBOE_C_BAD_UDP, CW_E_LENGTH);
	/* a wrong checksum computes to something else than what is there */
	if (cw_udp_checksum(udp) != 0 &&
	    cw_udp_compute(ip, udp, ip_len - off) != cw_udp_checksum(udp))
		return refuse(d, CW_UBOE_C_BAD_UDP, CW_E_CHECKSUM);
	f->tph = udp + CW_SIZE_UDP;
	f->len = ip_len - off - CW_SIZE_UDP - CW_ICRC_LEN;
	return CW_OK;
}

static int parse_ip(struct cw_uboe_dev *d, const uint8_t *p, size_t len, uint32_t *ip_len,
		    struct frame *f)
{
	uint32_t off;
	int err;

	if (len < 1)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	f->version = p[0] >> 4;
	if (f->version != 4 && f->version != 6)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_VERSION);
	off = f->version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6;
	err = f->version == 4 ? parse_ip4(d, p, len, ip_len) : parse_ip6(d, p, len, ip_len);
	if (err != CW_OK)
		return err;
	if (*ip_len > len)
		return refuse(d, CW_UBOE_C_BAD_IP, CW_E_LENGTH);
	err = parse_udp(d, p, *ip_len, off, f);
	if (err != CW_OK)
		return err;
	err = cw_icrc_check(p, *ip_len, &cw_icrc_ub, d->o.icrc_order);
	if (err != CW_OK)
		return refuse(d, CW_UBOE_C_BAD_ICRC, err);
	f->src = f->version == 4 ? cw_ipv4_src(p) : cw_ipv6_src(p);
	f->dst = f->version == 4 ? cw_ipv4_dst(p) : cw_ipv6_dst(p);
	f->fecn = (f->version == 4 ? cw_ipv4_ecn(p) : cw_ipv6_ecn(p)) == CW_ECN_CE ? CW_FECN_SEVERE
										   : CW_FECN_NONE;
	return CW_OK;
}

/* UB 2.0 5.3.5: only FECN mode carries marks that the endpoint follows. */
static void parse_cci(const uint8_t *cci, struct frame *f)
{
	f->fecn = CW_FECN_NONE;
	if (cw_cci_mode(cci) != CW_CCI_MODE_FECN)
		return;
	if (cw_cci_fecn_fecn(cci) == CW_FECN_LIGHT || cw_cci_fecn_fecn(cci) == CW_FECN_SEVERE) {
		f->fecn = (uint8_t)cw_cci_fecn_fecn(cci);
		f->loc = cw_cci_fecn_loc(cci) != 0;
	}
}

static int parse_native(struct cw_uboe_dev *d, const uint8_t *p, size_t len, struct frame *f)
{
	uint32_t ip_len, octets;
	int err;

	if (len < PREFIX)
		return refuse(d, CW_UBOE_C_BAD_SHORT, CW_E_SHORT);
	if (cw_lph_cfg(p) != CW_UB_CFG_IP4 && cw_lph_cfg(p) != CW_UB_CFG_IP6)
		return refuse(d, CW_UBOE_C_BAD_UB, CW_E_FORBIDDEN);
	err = parse_ip(d, p + PREFIX, len - PREFIX, &ip_len, f);
	if (err != CW_OK)
		return err;
	if ((cw_lph_cfg(p) == CW_UB_CFG_IP4) != (f->version == 4))
		return refuse(d, CW_UBOE_C_BAD_UB, CW_E_VERSION);
	err = cw_plength_decode(CW_PLENGTH_CRC, cw_lph_plength(p), &octets);
	if (err != CW_OK || octets != ip_len + PREFIX - CW_SIZE_LPH)
		return refuse(d, CW_UBOE_C_BAD_UB, CW_E_LENGTH);
	f->native = true;
	f->npi = cw_be32(p + CW_SIZE_LPH + CW_SIZE_CCI) & 0x1ffffff;
	parse_cci(p + CW_SIZE_LPH, f);
	return CW_OK;
}

int frame_parse(struct cw_uboe_dev *d, enum cw_uboe_form form, const uint8_t *p, size_t len,
		struct frame *f)
{
	uint32_t ip_len;

	memset(f, 0, sizeof(*f));
	return form == CW_UBOE_FORM_NATIVE ? parse_native(d, p, len, f)
					   : parse_ip(d, p, len, &ip_len, f);
}
