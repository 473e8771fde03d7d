/* graph.c - the gateway's own nodes over the yardstick's bursts.
 *
 * A worker, made as the daemon makes it, with a UB and an Ethernet port: receiving hands out the
 * burst that the yardstick has, sending counts. All between is the daemon: cw-rx, cw-ub-in or
 * cw-eth-in, cw-tx, a snapshot with BENCH_ROUTES routes over WORK_HOPS next hops, and its counters.
 */
#include "graph.h"
#include <stdlib.h>
#include <string.h>
#include <rte_debug.h>
#include "causeway/bits.h"
#include "daemon/control/fib.h"
#include "daemon/control/hops.h"
#include "daemon/graph/cn.h"
#include "frames.h"

enum { UB, ETH, ENDS };

struct cw_io cw_io; /* the daemon has it in io/port.c, with all its devices */

static struct rte_mbuf **waiting[ENDS];
static unsigned nwaiting[ENDS], sent;
static struct cw_port ports[ENDS];
static struct cw_plane *planes[2]; /* by direction */

static uint16_t end_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	n = (uint16_t)RTE_MIN(n, nwaiting[p->slot]);
	memcpy(m, waiting[p->slot], n * sizeof(void *));
	waiting[p->slot] += n;
	nwaiting[p->slot] -= n;
	return n;
}

static uint16_t end_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
		       struct cw_tx_refused *refused)
{
	sent += n;
	return n;
}

unsigned work_graph(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	unsigned in = dir == TO_UBOE ? UB : ETH;

	waiting[in] = m;
	nwaiting[in] = n;
	sent = 0;
	atomic_store_explicit(&cw_dp.plane, planes[dir], memory_order_relaxed);
	cw_worker_walk(cw_dp.worker[0]);
	w->packets += n;
	return sent;
}

/* ---- The snapshot ---------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, n * size) != 0)
		rte_exit(1, "no memory for tables\n");
	return memset(p, 0, n * size);
}

static void make_ports(struct cw_plane *p)
{
	static const struct cw_port_ops ops = {.rx_burst = end_rx, .tx_burst = end_tx};
	static struct cw_port_config conf[ENDS] = {
		[UB] = {.kind = CW_PORT_UB},
		[ETH] = {.kind = CW_PORT_ETHERNET, .tpid = 0x8100, .promiscuous = true}};
	unsigned i;

	p->rx[0] = zeroed(ENDS, sizeof(*p->rx[0]));
	p->nrx[0] = ENDS;
	for (i = 0; i < ENDS; i++) {
		ports[i].ops = &ops;
		ports[i].slot = i;
		memcpy(ports[i].mac, (uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
		p->port[i] = (struct cw_plane_port){.dev = &ports[i], .conf = &conf[i]};
		p->rx[0][i] =
			(struct cw_rx_source){&ports[i], (uint8_t)i, 0, (uint8_t)conf[i].kind};
	}
}

static struct cw_ip_addr prefix_of(unsigned route, bool v6)
{
	struct cw_ip_addr a = {.version = v6 ? 6 : 4, .plen = v6 ? 48 : 24};

	if (v6)
		bench_net6(a.a, route);
	else
		cw_put_be32(a.a, BENCH_NET4(route));
	return a;
}

/* As many next hops as the bare pipeline has; a UB link is point to point. */
static struct cw_hop hop_of(unsigned route, enum work_dir dir, bool learned)
{
	struct cw_hop h = {.kind = CW_HOP_STATIC, .slot = dir == TO_UBOE ? ETH : UB};

	h.hop = (struct cw_ub2e_hop){.side = dir == TO_UBOE ? CW_SIDE_ETH : CW_SIDE_UB,
				     .src = {2, 0, 0, 0, 0, 1},
				     .tpid = 0x8100,
				     .mtu = 9216};
	if (dir == TO_UB)
		memset(h.hop.dst, 0xff, 6);
	else if (learned)
		h.kind = CW_HOP_ONLINK;
	else
		memcpy(h.hop.dst, (uint8_t[]){2, 0, 0, 1, 0, (uint8_t)(route % WORK_HOPS)}, 6);
	return h;
}

/* A proxy for all senders, with room for all flows; the one worker learns beside its forwarding. */
static struct cw_cn *make_proxy(void)
{
	struct cw_cn *cn = zeroed(1, sizeof(*cn));
	struct cw_cn_map *map = zeroed(1, sizeof(*map));

	cw_qpmap_opts_init(&map->opts);
	cw_relay_settings_init(&cn->settings);
	cn->settings.enabled = true;
	cn->map = map;
	cn->learn = true;
	if (cw_cn_prepare() < 0 || cw_cn_make_map(map) < 0 ||
	    cw_relay_new(&cn->relay, &cn->settings, map->map, NULL) < 0)
		rte_exit(1, "no memory for a proxy\n");
	return cn;
}

static void make_plane(const struct graph_setup *s, enum work_dir dir)
{
	struct cw_plane *p = planes[dir] = zeroed(1, sizeof(*p));
	struct cw_ip_addr *prefix = zeroed(BENCH_ROUTES, sizeof(*prefix));
	uint32_t *hop = zeroed(BENCH_ROUTES, sizeof(*hop));
	struct cw_hops hops;
	struct cw_hop h;
	unsigned i;

	p->rules = s->rules;
	make_ports(p);
	if (cw_hops_init(&hops, WORK_HOPS) < 0)
		rte_exit(1, "no memory for %u next hops\n", WORK_HOPS);
	for (i = 0; i < BENCH_ROUTES; i++) {
		h = hop_of(i, dir, s->learned);
		hop[i] = cw_hops_add(&hops, &h);
		prefix[i] = prefix_of(i, s->v6);
	}
	if (cw_hops_finish(&hops, p) < 0 ||
	    cw_fib_get(&p->fib, NULL, prefix, hop, BENCH_ROUTES, dir) < 0)
		rte_exit(1, "no memory for %u routes\n", BENCH_ROUTES);
	cw_hops_free(&hops);
	free(prefix);
	free(hop);
}

/* Every flow's destination as a neighbour. */
static void make_neighbours(const struct graph_setup *s)
{
	uint32_t size = 8, i, at;
	struct cw_nbrs *t;

	while (size < 2 * s->flows)
		size *= 2;
	t = zeroed(1, sizeof(*t) + size * sizeof(t->slot[0]));
	t->mask = size - 1;
	for (i = 0; i < s->flows; i++) {
		struct cw_nbr n = {.mac = {2, 0, 0, 1, (uint8_t)(i >> 8), (uint8_t)i}};

		n.key = (struct cw_neigh_key){
			.port = ETH, .vid = BENCH_VID, .version = s->v6 ? 6 : 4};
		if (s->v6)
			bench_dst6(n.key.addr, i);
		else
			cw_put_be32(n.key.addr, BENCH_DST4(i));
		for (at = cw_nbr_hash(&n.key) & t->mask; t->slot[at].key.version != 0;)
			at = (at + 1) & t->mask;
		t->slot[at] = n;
	}
	atomic_store(&cw_dp.nbrs, t);
}

void graph_init(const struct graph_setup *s)
{
	cw_io.pool = s->pool;
	cw_io.nworkers = 1;
	if (cw_dp_init(1) < 0)
		rte_exit(1, "no worker\n");
	make_plane(s, TO_UBOE);
	make_plane(s, TO_UB);
	make_neighbours(s);
	if (s->proxy) {
		planes[TO_UBOE]->cn = planes[TO_UB]->cn = make_proxy();
		planes[TO_UBOE]->egress = planes[TO_UB]->egress = true;
	}
}
