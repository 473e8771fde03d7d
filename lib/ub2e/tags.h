/* tags.h - VLAN tags of a frame from the Ethernet side (IEEE 802.1Q). */
#ifndef LIB_UB2E_TAGS_H
#define LIB_UB2E_TAGS_H

#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"

#define TAGS_MAX 2u

/* The tags of a frame, outermost first, and what is behind them. */
struct tags {
	uint32_t n, off; /* off: first octet behind the EtherType */
	uint16_t tci[TAGS_MAX];
	uint16_t type;
};

CW_INLINE enum cw_drop read_tags(struct tags *t, const uint8_t *frame, uint32_t len,
				 const struct cw_stripped_tag *tag)
{
	t->n = 0;
	t->tci[0] = 0;
	t->off = CW_SIZE_ETH;
	if (len < CW_SIZE_ETH)
		return CW_DROP_SHORT;
	if (tag != NULL && tag->stripped)
		t->tci[t->n++] = tag->tci;
	for (t->type = (uint16_t)cw_eth_type(frame); cw_is_tpid(t->type); t->off += CW_SIZE_VLAN) {
		if (t->n == TAGS_MAX)
			return CW_DROP_VLAN_DEPTH;
		if (len - t->off < CW_SIZE_VLAN)
			return CW_DROP_SHORT;
		t->tci[t->n++] = cw_be16(frame + t->off);
		t->type = (uint16_t)cw_vlan_type(frame + t->off);
	}
	return CW_PASS;
}

/* The innermost tag. VID 0 only carries a priority (802.1Q 9.6): the frame counts as untagged. */
CW_INLINE void use_tags(struct cw_ub2e_view *v, const struct tags *t)
{
	uint16_t tci = t->tci[t->n > 1];

	v->vid = tci & 0xfff;
	v->pcp = (uint8_t)(tci >> 13);
	v->outer_vid = t->n > 1 ? t->tci[0] & 0xfff : 0;
	v->tagged = v->vid != 0;
}

#endif
