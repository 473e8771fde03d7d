/* tags.c - VLAN tags that a DPDK device took out of a frame. See tags.h. */
#include "causeway/wire/eth.h"
#include "daemon/io/tags.h"

#define ADDRESSES 12 /* octets in front of the first tag */

bool cw_tags_insert(struct rte_mbuf *m, uint16_t tpid, uint16_t tci)
{
	uint8_t *p;

	if (m->data_len < CW_SIZE_ETH ||
	    (p = (uint8_t *)rte_pktmbuf_prepend(m, CW_SIZE_VLAN)) == NULL)
		return false;
	memmove(p, p + CW_SIZE_VLAN, ADDRESSES);
	cw_put_be16(p + ADDRESSES, tpid);
	cw_put_be16(p + ADDRESSES + 2, tci);
	return true;
}

bool cw_tags_settle(struct rte_mbuf *m)
{
	bool both = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;

	if (likely((m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) == 0)) {
		/* Tags that a device only reports are still in the frame. */
		m->ol_flags &= ~RTE_MBUF_F_RX_QINQ;
		return true;
	}
	if (both && !cw_tags_insert(m, CW_ETHERTYPE_VLAN, m->vlan_tci))
		return false;
	m->vlan_tci = m->vlan_tci_outer;
	m->vlan_tci_outer = CW_ETHERTYPE_SVLAN;
	m->ol_flags &= ~RTE_MBUF_F_RX_QINQ_STRIPPED;
	m->ol_flags |= RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	return true;
}

/* Any of these in a burst, and its frames are looked at one by one. */
#define QINQ_FLAGS (RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_QINQ_STRIPPED)

static uint16_t settle_each(struct rte_mbuf **m, uint16_t n)
{
	uint16_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (likely(cw_tags_settle(m[i])))
			m[kept++] = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
	return kept;
}

uint16_t cw_tags_settle_burst(struct rte_mbuf **m, uint16_t n)
{
	uint64_t flags = 0;
	uint16_t i;

	for (i = 0; i < n; i++)
		flags |= m[i]->ol_flags;
	return likely((flags & QINQ_FLAGS) == 0) ? n : settle_each(m, n);
}
