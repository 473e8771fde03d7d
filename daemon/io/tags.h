/* tags.h - VLAN tags that a DPDK device took out of a frame, brought into the one form that the
 * data plane knows. */
#ifndef DAEMON_IO_TAGS_H
#define DAEMON_IO_TAGS_H

#include <rte_mbuf.h>

/* Afterwards at most one tag, the frame's outermost, is outside the frame:
 * RTE_MBUF_F_RX_VLAN_STRIPPED and vlan_tci. Of two that the device took out
 * (RTE_MBUF_F_RX_QINQ_STRIPPED) the inner one is put back as an 802.1Q tag; RTE_MBUF_F_RX_QINQ then
 * tells that the outer one is an S-tag, with its TPID in vlan_tci_outer. False: there is no room
 * for the tag, the frame can't be used. */
bool cw_tags_settle(struct rte_mbuf *m);

/* The same for a burst as it came from a device. Returns how many are left, in their order; the
 * others were freed. */
uint16_t cw_tags_settle_burst(struct rte_mbuf **m, uint16_t n);

/* Put a tag back into a frame, behind the addresses; false: no room. */
bool cw_tags_insert(struct rte_mbuf *m, uint16_t tpid, uint16_t tci);

#endif
