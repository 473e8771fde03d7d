/* from_ub.c - the check of packets from the UB side.
 * Spec: draft-li-uboe-00 5; UB 2.0 4.3.2, 5.2, 5.3.
 */
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "lib/ub2e/internal.h"
#include "lib/ub2e/ip_check.h"

/* Why a packet of this CFG stays in the UB domain (draft 4: no CTP, no transport bypass; 5: only
 * the IP-compliant network header). */
static enum cw_drop refuse(const uint8_t *ub, uint32_t len)
{
	const uint8_t *nth = ub + CW_SIZE_LPH;

	switch (cw_lph_cfg(ub)) {
	case CW_UB_CFG_LINK:
		return CW_DROP_UB_CONTROL;
	case CW_UB_CFG_NETCTL:
		return CW_DROP_UB_NETCTRL;
	case CW_UB_CFG_CNA16:
		if (len < CW_SIZE_LPH + CW_SIZE_CNA16)
			return CW_DROP_SHORT;
		return cw_cna16_nlp(nth) == 0 ? CW_DROP_UB_CTP : CW_DROP_UB_CNA16;
	case CW_UB_CFG_CNA24:
		if (len < CW_SIZE_LPH + CW_SIZE_CNA24)
			return CW_DROP_SHORT;
		return cw_cna24_nlp(nth) == 0 ? CW_DROP_UB_CTP : CW_DROP_UB_CNA24;
	case CW_UB_CFG_CNA16_MEM:
		return CW_DROP_UB_BYPASS;
	default:
		return CW_DROP_UB_CFG;
	}
}

/* PLENGTH counts what is behind the LPH. Plain IP may bring a tail of four octets, where UB
 * packets have their ICRC; it is not part of the IP packet. */
CW_INLINE bool plength_ok(const uint8_t *ub, const struct cw_ub2e_view *v)
{
	uint32_t octets = CW_UB_PREFIX - CW_SIZE_LPH + v->ip_len;
	uint16_t want, said = cw_lph_plength(ub);

	if (cw_plength_encode(CW_PLENGTH_CRC, octets, &want) == CW_OK && want == said)
		return true;
	return v->plain &&
	       cw_plength_encode(CW_PLENGTH_CRC, octets + CW_ICRC_LEN, &want) == CW_OK &&
	       want == said;
}

/* What becomes of the packet when its next hop is on the Ethernet side. */
CW_INLINE void map_to_eth(const struct cw_ub2e *u, struct cw_ub2e_view *v)
{
	const struct ub2e_cci_rule *rule = &u->cci[v->cci >> 13];
	unsigned tos = v->version == 4 ? v->ip[1] : (cw_be16(v->ip) >> 4 & 0xff);
	const struct ub2e_tos_out *out;
	int vid = ub2e_vid_of(u, v->npi);

	out = &u->out[v->plain][(tos & 0xfc) | (v->cci & rule->fecn_mask)];
	v->tos = out->tos;
	v->pcp = out->pcp;
	v->vid = (uint16_t)vid;
	v->tagged = true;
	v->cross_notes |= rule->notes | out->notes;
	if (v->cci & rule->loc_mask)
		v->cross_notes |= UB2E_NOTE(LOC_LOST);
	if (v->npi & CW_NPI_PERM && u->s.npi_mode != CW_NPI_ENHANCED)
		v->cross_notes |= UB2E_NOTE(PERMISSION_LOST);
	v->cross = rule->cross;
	if (vid < 0)
		v->cross = CW_DROP_NPI_UNMAPPED;
	if (v->plain && !u->s.plain_ip)
		v->cross = CW_DROP_PLAIN_IP;
}

enum cw_drop cw_ub2e_from_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			     uint8_t *ub, uint32_t len, struct cw_ub2e_view *v)
{
	uint32_t cfg;
	enum cw_drop drop;

	if (len < CW_SIZE_LPH)
		return CW_DROP_SHORT;
	cfg = cw_lph_cfg(ub);
	if (cfg != CW_UB_CFG_IP4 && cfg != CW_UB_CFG_IP6)
		return refuse(ub, len);
	if (len < CW_UB_PREFIX)
		return CW_DROP_SHORT;
	v->from = CW_SIDE_UB;
	v->ip = ub + CW_UB_PREFIX;
	v->notes = v->cross_notes = 0;
	drop = ub2e_check_ip(u, v, cfg == CW_UB_CFG_IP4 ? 4 : 6, len - CW_UB_PREFIX,
			     u->s.icrc_check_ub);
	if (drop != CW_PASS)
		return drop;
	if (u->s.plength_check && !plength_ok(ub, v))
		return CW_DROP_UB_LENGTH;
	v->npi = cw_be32(ub + CW_SIZE_LPH + CW_SIZE_CCI) & (CW_NPI_PERM | CW_NPI_ID_MASK);
	if ((v->npi & CW_NPI_ID_MASK) == 0)
		return CW_DROP_NPI_ZERO;
	if (!ub2e_filter_allows(filter, v->npi))
		return CW_DROP_NPI_FILTER;
	v->cci = cw_be16(ub + CW_SIZE_LPH);
	v->vl = (uint8_t)cw_lph_vl(ub);
	v->rt = (uint8_t)cw_lph_rt(ub);
	v->outer_vid = 0;
	map_to_eth(u, v);
	return CW_PASS;
}
