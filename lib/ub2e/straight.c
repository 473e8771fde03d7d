/* straight.c - check and write in one, of the packets of fast.h. Compiled together, so that what
 * the check found out stays in registers.
 */
#include "lib/ub2e/fast.h"

bool cw_ub2e_ub_to_eth(const struct cw_ub2e *u, const struct cw_npi_filter *filter, uint8_t *ub,
		       uint32_t len, const struct cw_ub2e_hop *hop, struct cw_ub2e_frame *out)
{
	struct cw_ub2e_view v;

	if (!ub2e_fast_done(filter, u->s.icrc_check_ub) || !ub2e_fast_from_ub(u, ub, len, &v) ||
	    !ub2e_fast_to_eth(u, &v, hop, &out->start, &out->len))
		return false;
	out->notes = v.notes;
	return true;
}

bool cw_ub2e_eth_to_ub(const struct cw_ub2e *u, const struct cw_npi_filter *filter, uint8_t *frame,
		       uint32_t len, const struct cw_stripped_tag *tag,
		       const struct cw_ub2e_hop *hop, struct cw_ub2e_frame *out)
{
	struct cw_ub2e_view v;

	if (!ub2e_fast_done(filter, u->s.icrc_check_eth) ||
	    !ub2e_fast_from_eth(u, frame, len, tag, &v) ||
	    !ub2e_fast_to_ub(u, &v, hop, &out->start, &out->len))
		return false;
	out->notes = v.notes;
	return true;
}
