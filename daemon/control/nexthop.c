/* nexthop.c - next hops that packets wait for, and the table that workers read. See nexthop.h. */
#include <stdlib.h>
#include <string.h>
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/control/local.h"
#include "daemon/control/nexthop.h"
#include "daemon/control/own.h"
#include "daemon/log.h"

static struct cw_neigh *table;

const struct cw_neigh *cw_nexthop_table(void)
{
	return table;
}

/* ---- The table that workers read ------------------------------------------------------------- */

static struct cw_nbrs *new_nbrs(uint32_t entries)
{
	static uint64_t generations;
	uint32_t size = 8;
	struct cw_nbrs *t;

	while (size < 2 * entries)
		size *= 2;
	t = calloc(1, sizeof(*t) + size * sizeof(t->slot[0]));
	if (t == NULL)
		return NULL;
	t->generation = ++generations;
	t->mask = size - 1;
	return t;
}

static void insert(struct cw_nbrs *t, const struct cw_neigh_info *e)
{
	uint32_t i = cw_nbr_hash(&e->key) & t->mask;

	while (t->slot[i].key.version != 0)
		i = (i + 1) & t->mask;
	t->slot[i].key = e->key;
	memcpy(t->slot[i].mac, e->mac, 6);
	t->slot[i].refused = e->state == CW_NEIGH_FAILED;
	t->any_vlan |= e->key.vid == CW_NEIGH_ANY_VLAN;
}

/* Tell the machine which addresses were used. */
static void collect_used(struct cw_nbrs *t)
{
	uint32_t i;

	for (i = 0; t != NULL && i <= t->mask; i++) {
		if (t->slot[i].key.version != 0 &&
		    __atomic_exchange_n(&t->slot[i].used, 0, __ATOMIC_RELAXED))
			cw_neigh_used(table, &t->slot[i].key);
	}
}

static bool shown(const struct cw_neigh_info *e)
{
	return cw_neigh_usable(e->state) || e->state == CW_NEIGH_FAILED;
}

static void publish(void)
{
	struct cw_neigh_info e;
	struct cw_nbrs *t, *old = atomic_load(&cw_dp.nbrs);
	uint32_t at, n = 0;

	for (at = 0; cw_neigh_walk(table, &at, &e);)
		n += shown(&e);
	if ((t = new_nbrs(n)) == NULL) {
		cw_log(CW_LOG_ERROR, "no memory for %u neighbours: workers keep the old ones", n);
		return;
	}
	for (at = 0; cw_neigh_walk(table, &at, &e);) {
		if (shown(&e))
			insert(t, &e);
	}
	atomic_store(&cw_dp.nbrs, t);
	cw_dp_synchronize();
	collect_used(old);
	free(old);
}

/* ---- Between the machine and the workers ----------------------------------------------------- */

static void wake_workers(void)
{
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++)
		cw_dp_wake(cw_dp.worker[i]);
}

static void run_event(const struct cw_neigh_event *ev)
{
	if (ev->what == CW_NEIGH_REQUEST) {
		cw_local_request(&ev->key, ev->unicast ? ev->mac : NULL);
		return;
	}
	publish();
	wake_workers();
}

/* When the table is full the packets wait in vain, and the worker drops them. */
static void take_questions(void)
{
	struct cw_neigh_key key[CW_MAX_BURST];
	unsigned i, n, rounds;

	for (rounds = 0; rounds < 16; rounds++) {
		n = rte_ring_sc_dequeue_burst_elem(cw_dp.ask, key, sizeof(key[0]), CW_MAX_BURST,
						   NULL);
		for (i = 0; i < n; i++)
			(void)!cw_neigh_want(table, &key[i], cw_now_ms());
		if (n == 0)
			break;
	}
}

static void take_punted(struct rte_mbuf *m)
{
	unsigned slot = m->port;
	enum cw_drop why = cw_local_input(table, m);

	if (why == CW_PASS)
		cw_control_counters[slot].local++;
	else
		cw_own_drop(m, why);
}

uint64_t cw_nexthop_run(void)
{
	struct rte_mbuf *m[CW_MAX_BURST];
	struct cw_neigh_event ev;
	unsigned i, n, rounds;
	uint64_t next;

	/* A bound, so that a flood of ARP does not keep the control socket waiting. */
	for (rounds = 0; rounds < 16; rounds++) {
		n = rte_ring_sc_dequeue_burst(cw_dp.punt, (void **)m, CW_MAX_BURST, NULL);
		for (i = 0; i < n; i++)
			take_punted(m[i]);
		if (n == 0)
			break;
	}
	take_questions();
	collect_used(atomic_load(&cw_dp.nbrs));
	next = cw_neigh_tick(table, cw_now_ms());
	while (cw_neigh_next(table, &ev))
		run_event(&ev);
	return n > 0 ? 0 : next;
}

/* ---- Static entries, ports, life ------------------------------------------------------------- */

static unsigned slot_of(const struct cw_plane *p, unsigned conf_index)
{
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev != NULL && p->port[i].conf_index == conf_index)
			return i;
	}
	return CW_MAX_PORTS;
}

int cw_nexthop_set_static(const struct cw_plane *p)
{
	const struct cw_neighbour_config *c;
	struct cw_neigh_key key;
	int err = CW_OK;
	unsigned i;

	cw_neigh_clear_static(table);
	for (i = 0; i < p->conf->nneighbours && err == CW_OK; i++) {
		c = &p->conf->neighbours[i];
		memset(&key, 0, sizeof(key));
		key.port = (uint16_t)slot_of(p, c->port);
		key.vid = c->vid == 0 ? CW_NEIGH_ANY_VLAN : c->vid;
		key.version = c->ip.version;
		memcpy(key.addr, c->ip.a, c->ip.version == 4 ? 4 : 16);
		err = cw_neigh_set_static(table, &key, c->mac, cw_now_ms());
	}
	publish();
	return err;
}

void cw_nexthop_forget_port(unsigned slot)
{
	cw_neigh_forget_port(table, (uint16_t)slot);
}

void cw_nexthop_drain(void)
{
	cw_own_stop();
	cw_nexthop_run();
}

int cw_nexthop_init(void)
{
	static const struct cw_neigh_limits limits = CW_NEIGH_LIMITS;
	int err = cw_neigh_new(&table, &limits);

	if (err == CW_OK)
		publish();
	return err == CW_OK && atomic_load(&cw_dp.nbrs) == NULL ? CW_E_NOMEM : err;
}

void cw_nexthop_fini(void)
{
	free(atomic_exchange(&cw_dp.nbrs, NULL));
	cw_neigh_free(table);
	table = NULL;
}
