/* frame.h - where the IP packet of a finished frame is. */
#ifndef DAEMON_GRAPH_FRAME_H
#define DAEMON_GRAPH_FRAME_H

#include "causeway/cnproxy.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ub.h"
#include "daemon/graph/dp.h"

struct cw_ip_in_frame {
	uint8_t *ip;
	uint32_t len; /* of the rest of the frame */
	uint16_t vid; /* innermost VLAN that is not the port's outer one, 0: untagged */
	uint8_t *cci; /* UB: the congestion control indicator; else NULL */
	uint32_t npi; /* UB: the partition, 24 bits */
};

/* A frame that is ready for port `out`; false: it is neither IP nor UB of IP format. */
static inline bool cw_frame_ip(const struct cw_plane_port *out, struct rte_mbuf *m,
			       struct cw_ip_in_frame *f)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t off = CW_SIZE_ETH, type;

	f->vid = 0;
	f->npi = 0;
	f->cci = NULL;
	if (m->data_len < CW_SIZE_ETH + CW_UB_PREFIX)
		return false;
	type = cw_eth_type(frame);
	if (out->conf->kind == CW_PORT_UB) {
		f->ip = frame + CW_SIZE_ETH + CW_UB_PREFIX;
		f->len = m->data_len - CW_SIZE_ETH - CW_UB_PREFIX;
		f->cci = frame + CW_SIZE_ETH + CW_SIZE_LPH;
		f->npi = cw_be32(f->cci + CW_SIZE_CCI) & CW_NPI_ID_MASK;
		return type == CW_ETHERTYPE_UB;
	}
	for (; cw_is_tpid(type) && off + CW_SIZE_VLAN <= m->data_len; off += CW_SIZE_VLAN) {
		if (off > CW_SIZE_ETH || out->conf->outer_vid == 0)
			f->vid = (uint16_t)cw_vlan_vid(frame + off);
		type = cw_vlan_type(frame + off);
	}
	f->ip = frame + off;
	f->len = m->data_len - off;
	return type == CW_ETHERTYPE_IP4 || type == CW_ETHERTYPE_IP6;
}

/* Its partition, 0 for none. */
static inline uint32_t cw_frame_npi(const struct cw_plane *p, const struct cw_ip_in_frame *f)
{
	return f->cci != NULL ? f->npi : cw_ub2e_vid_to_npi(p->rules, f->vid) & CW_NPI_ID_MASK;
}

/* Its VLAN, of a partition the one that belongs to it: CW_VLAN_SEEN and the VID; 0 for none. */
static inline uint16_t cw_frame_vlan(const struct cw_plane *p, const struct cw_ip_in_frame *f)
{
	int vid = f->vid;

	if (f->cci != NULL)
		vid = cw_ub2e_npi_to_vid(p->rules, cw_be32(f->cci + CW_SIZE_CCI) &
							   (CW_NPI_PERM | CW_NPI_ID_MASK));
	return vid < 0 ? 0 : (uint16_t)(CW_VLAN_SEEN | (unsigned)vid);
}

#endif
