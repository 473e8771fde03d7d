/* icmp.c - which dropped packets control gets for an ICMP error. See icmp.h. */
#include <rte_cycles.h>
#include "daemon/graph/icmp.h"

/* A token bucket (GCRA): the time at which it would be full again stands for what was taken. */
static bool within_rate(const struct cw_plane *p, unsigned slot)
{
	uint64_t now = rte_get_tsc_cycles(), due = atomic_load(&cw_dp.icmp_due[slot]), next;

	do {
		next = RTE_MAX(due, now) + p->icmp_gap;
		if (next - now > p->icmp_depth)
			return false;
	} while (!atomic_compare_exchange_weak(&cw_dp.icmp_due[slot], &due, next));
	return true;
}

static void tell(struct cw_worker *w, struct rte_mbuf *m)
{
	if (!within_rate(w->plane, m->port)) {
		w->port[m->port].icmp_limited++;
		return;
	}
	rte_mbuf_refcnt_update(m, 1);
	if (rte_ring_mp_enqueue(cw_dp.refused, m) != 0) {
		rte_mbuf_refcnt_update(m, -1);
		w->port[m->port].icmp_limited++;
		return;
	}
	cw_dp_kick_control();
}

void cw_icmp_tell(struct cw_worker *w, struct rte_mbuf **m, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		/* Our own packets are told to nobody. */
		if ((m[i]->ol_flags & cw_dp.origin_flag) == 0 &&
		    w->plane->port[m[i]->port].told >> cw_meta_get(m[i]) & 1)
			tell(w, m[i]);
	}
}
