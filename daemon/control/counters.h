/* counters.h - counters of a port: the workers' and control's together. From any thread. */
#ifndef DAEMON_CONTROL_COUNTERS_H
#define DAEMON_CONTROL_COUNTERS_H

#include "daemon/graph/dp.h"

static inline uint64_t cw_count_peek(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_RELAXED);
}

/* What control itself counts, by slot. */
extern struct cw_port_counters cw_control_counters[CW_MAX_PORTS];

/* A port begins to use this slot. */
void cw_count_zero(unsigned slot);

void cw_count_add(struct cw_port_counters *to, const struct cw_port_counters *from);
void cw_count_port(unsigned slot, struct cw_port_counters *sum);
uint64_t cw_count_total(const uint64_t *v, unsigned n);

/* Slots of a snapshot's ports in the order of the configuration; returns how many. */
unsigned cw_ports_in_order(const struct cw_plane *p, unsigned slot[CW_MAX_PORTS]);

#endif
