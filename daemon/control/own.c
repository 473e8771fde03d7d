/* own.c - packets in the hands of control. See own.h. */
#include "causeway/wire/eth.h"
#include "daemon/control/capture.h"
#include "daemon/control/counters.h"
#include "daemon/control/own.h"

#define PCP_MASK 0xe000u

static bool stopped;

static uint8_t *put_tag(uint8_t *p, uint16_t tpid, uint16_t tci)
{
	cw_put_be16(p, tpid);
	cw_put_be16(p + 2, tci);
	return p + CW_SIZE_VLAN;
}

struct rte_mbuf *cw_own_frame(const struct cw_plane_port *port, const uint8_t dst[6], uint16_t tci,
			      uint16_t type, uint16_t len, uint8_t **body)
{
	uint16_t outer = port->conf->outer_vid;
	unsigned tags = (outer != 0) + (tci != 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(cw_io.pool);
	uint8_t *p;

	if (m == NULL)
		return NULL;
	p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(CW_SIZE_ETH + CW_SIZE_VLAN * tags + len));
	if (p == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(p, dst, 6);
	memcpy(p + 6, port->dev->mac, 6);
	p += 12;
	if (outer != 0)
		p = put_tag(p, CW_ETHERTYPE_SVLAN, outer | (tci & PCP_MASK));
	if (tci != 0)
		p = put_tag(p, port->conf->tpid, tci);
	cw_put_be16(p, type);
	*body = p + 2;
	return m;
}

void cw_own_drop(struct rte_mbuf *m, enum cw_drop why)
{
	cw_control_counters[m->port].drops[why]++;
	cw_meta_set(m, why);
	cw_capture_packet(m);
	rte_pktmbuf_free(m);
}

void cw_own_send(struct rte_mbuf *m, unsigned slot)
{
	struct cw_worker *w = cw_dp.worker[0];

	m->port = (uint16_t)slot;
	cw_meta_set(m, slot);
	cw_control_counters[slot].originated++;
	if (stopped || rte_ring_sp_enqueue(w->inject, m) != 0)
		cw_own_drop(m, stopped ? CW_DROP_SHUTDOWN : CW_DROP_TX_FULL);
	else
		cw_dp_wake(w);
}

void cw_own_stop(void)
{
	stopped = true;
}
