/* counters.c - counters of a port. See counters.h. */
#include <stddef.h>
#include <string.h>
#include "daemon/control/counters.h"

struct cw_port_counters cw_control_counters[CW_MAX_PORTS];

/* All but the packets that wait: those of an earlier port in this slot may do so for a moment yet,
 * and count themselves out. */
static void zero(struct cw_port_counters *c)
{
	const size_t held = offsetof(struct cw_port_counters, held), next = held + sizeof(c->held);

	memset(c, 0, held);
	memset((uint8_t *)c + next, 0, sizeof(*c) - next);
}

void cw_count_zero(unsigned slot)
{
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++)
		zero(&cw_dp.worker[i]->port[slot]);
	zero(&cw_control_counters[slot]);
}

void cw_count_add(struct cw_port_counters *to, const struct cw_port_counters *from)
{
	const uint64_t *src = (const uint64_t *)from;
	uint64_t *dst = (uint64_t *)to;
	size_t i;

	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "all counters");
	for (i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		dst[i] += cw_count_peek(&src[i]);
}

void cw_count_port(unsigned slot, struct cw_port_counters *sum)
{
	unsigned i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < cw_dp.nworkers; i++)
		cw_count_add(sum, &cw_dp.worker[i]->port[slot]);
	cw_count_add(sum, &cw_control_counters[slot]);
}

uint64_t cw_count_total(const uint64_t *v, unsigned n)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

unsigned cw_ports_in_order(const struct cw_plane *p, unsigned slot[CW_MAX_PORTS])
{
	unsigned i, n = 0;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev != NULL) {
			slot[p->port[i].conf_index] = i;
			n++;
		}
	}
	return n;
}
