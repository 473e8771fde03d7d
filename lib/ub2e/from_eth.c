/* from_eth.c - the check of frames from the Ethernet side.
 * Spec: draft-li-uboe-00 4.1, 5.1, 5.2.1, 5.3; IEEE 802.1Q.
 */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "lib/ub2e/internal.h"
#include "lib/ub2e/ip_check.h"
#include "lib/ub2e/tags.h"

/* The partition of the innermost tag. */
CW_INLINE enum cw_drop map_vlan(const struct cw_ub2e *u, struct cw_ub2e_view *v,
				const struct tags *t, const struct cw_npi_filter *filter)
{
	use_tags(v, t);
	v->npi = u->vid_npi[v->vid];
	if (!v->tagged) {
		v->npi = u->s.untagged_npi;
		v->notes |= UB2E_NOTE(UNTAGGED);
	}
	if (v->npi == 0)
		return CW_DROP_VLAN_UNMAPPED;
	return ub2e_filter_allows(filter, v->npi) ? CW_PASS : CW_DROP_NPI_FILTER;
}

CW_INLINE void map_to_ub(const struct cw_ub2e *u, struct cw_ub2e_view *v)
{
	unsigned tos = v->version == 4 ? v->ip[1] : (cw_be16(v->ip) >> 4 & 0xff);
	const struct ub2e_tos_in *in = &u->in[v->plain][tos];

	v->tos = in->tos;
	v->vl = in->vl;
	v->cci = in->cci;
	v->rt = u->s.rt;
}

enum cw_drop cw_ub2e_from_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter,
			      uint8_t *frame, uint32_t len, const struct cw_stripped_tag *tag,
			      struct cw_ub2e_view *v)
{
	struct tags t;
	enum cw_drop drop;

	if ((drop = read_tags(&t, frame, len, tag)) != CW_PASS)
		return drop;
	if (t.type != CW_ETHERTYPE_IP4 && t.type != CW_ETHERTYPE_IP6)
		return CW_DROP_ETHERTYPE;
	v->from = CW_SIDE_ETH;
	v->ip = frame + t.off;
	v->notes = v->cross_notes = 0;
	drop = ub2e_check_ip(u, v, t.type == CW_ETHERTYPE_IP4 ? 4 : 6, len - t.off,
			     u->s.icrc_check_eth);
	if (drop != CW_PASS)
		return drop;
	if (v->plain && !u->s.plain_ip)
		return CW_DROP_PLAIN_IP;
	if ((drop = map_vlan(u, v, &t, filter)) != CW_PASS)
		return drop;
	map_to_ub(u, v);
	return CW_PASS;
}
