/* own.c - packets in the hands of control. See own.h. */
#include "daemon/control/capture.h"
#include "daemon/control/counters.h"
#include "daemon/control/own.h"

static bool stopped;

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
