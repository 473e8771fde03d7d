/* cnlive.c - notifications of a polling worker: from a message's arrival at a port to its
 * notification's transmission, through the daemon's own graph.
 *
 *   cnlive EAL-ARGS -- PAIRS SECONDS RATE DATA
 *
 * One worker, made as the daemon makes it, with two Ethernet ports: messages come by one, each
 * about another of the PAIRS / 2 connections of a map that has learned all of them from votes;
 * notifications leave by the other. RATE messages a second arrive, evenly (0: as fast as they are
 * taken); a message's time begins when it was due, so that a worker that is late has it in its
 * figures. The worker runs at real-time priority where it may. Beside them DATA packets a walk are
 * forwarded and learned from. Prints one JSON object.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include "daemon/control/fib.h"
#include "daemon/control/hops.h"
#include "daemon/graph/cn.h"
#include "cnflows.h"

enum { CORE, HOSTS, ENDS };
enum { POOL = 8191, SAMPLES = 1 << 22, ROOM = 512 };

struct cw_io cw_io;

static struct live {
	struct cw_plane *plane;
	struct cw_cn *cn;
	struct rte_mempool *pool;
	struct cw_port ports[ENDS];
	uint32_t connections, *order, next, data, next_data;
	uint64_t *due;         /* by connection: when its message was */
	uint64_t gap, at, end; /* TSC */
	uint64_t messages, sent, forwarded;
	uint32_t *took, samples; /* nanoseconds */
} live;

/* ---- Ports ---------------------------------------------------------------------------------- */

/* A frame for one of our ports. The receive of a driver, which writes headers as well. */
static struct rte_mbuf *frame_of(const struct cw_port *p, const uint8_t *ip, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(live.pool);
	uint8_t *f = m != NULL ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(14 + len)) : NULL;

	if (f == NULL)
		return NULL;
	memcpy(f, p->mac, 6);
	memset(f + 6, 2, 6);
	cw_put_be16(f + 12, CW_ETHERTYPE_IP4);
	memcpy(f + 14, ip, len);
	return m;
}

static uint16_t messages_rx(struct cw_port *p, struct rte_mbuf **m, uint16_t n)
{
	uint64_t now = rte_rdtsc();
	uint8_t ip[FLOW_PACKET];
	uint16_t i;

	for (i = 0; i < n && (live.gap == 0 || live.at <= now) && now < live.end; i++) {
		uint32_t k = live.order[live.next];

		flow_message(ip, k);
		if ((m[i] = frame_of(p, ip, FLOW_MESSAGE)) == NULL)
			break;
		live.due[k] = live.gap == 0 ? now : live.at;
		live.at += live.gap;
		live.next = live.next + 1 == live.connections ? 0 : live.next + 1;
		live.messages++;
	}
	return i;
}

static uint16_t data_rx(struct cw_port *p, struct rte_mbuf **m, uint16_t n)
{
	uint8_t ip[FLOW_PACKET];
	uint16_t i;
	uint32_t len;

	for (i = 0; i < n && i < live.data; i++) {
		live.next_data = live.next_data + 1 == live.connections ? 0 : live.next_data + 1;
		len = flow_roce(ip, live.order[live.next_data], 9, false);
		if ((m[i] = frame_of(p, ip, len)) == NULL)
			break;
	}
	return i;
}

static uint16_t end_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	return p->slot == CORE ? messages_rx(p, m, n) : data_rx(p, m, n);
}

static void note(const uint8_t *ip, uint64_t now)
{
	uint32_t k = cw_bth_dqpn(ip + 28) - flow_qpn(0, false);

	if (k >= live.connections || live.samples == SAMPLES)
		return;
	live.took[live.samples++] =
		(uint32_t)((now - live.due[k]) * 1000 / (rte_get_tsc_hz() / 1000000));
}

static uint16_t end_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
		       struct cw_tx_refused *refused)
{
	uint64_t now = rte_rdtsc();
	uint16_t i;

	for (i = 0; p->slot == HOSTS && i < n; i++)
		note(rte_pktmbuf_mtod_offset(m[i], uint8_t *, 14), now);
	*(p->slot == HOSTS ? &live.sent : &live.forwarded) += n;
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

/* ---- The snapshot --------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, n * size) != 0)
		rte_exit(1, "no memory\n");
	return memset(p, 0, n * size);
}

static void make_ports(struct cw_plane *p)
{
	static const struct cw_port_ops ops = {.rx_burst = end_rx, .tx_burst = end_tx};
	static struct cw_port_config conf = {
		.kind = CW_PORT_ETHERNET, .tpid = 0x8100, .promiscuous = true};
	unsigned i;

	p->rx[0] = zeroed(ENDS, sizeof(*p->rx[0]));
	p->nrx[0] = ENDS;
	for (i = 0; i < ENDS; i++) {
		live.ports[i].ops = &ops;
		live.ports[i].slot = i;
		memcpy(live.ports[i].mac, (uint8_t[]){2, 0, 0, 0, 0, (uint8_t)i}, 6);
		p->port[i] = (struct cw_plane_port){.dev = &live.ports[i], .conf = &conf};
		p->rx[0][i] =
			(struct cw_rx_source){&live.ports[i], (uint8_t)i, 0, CW_PORT_ETHERNET};
	}
}

static struct cw_hop hop_to(unsigned slot)
{
	return (struct cw_hop){.kind = CW_HOP_STATIC,
			       .slot = slot,
			       .hop = {.side = CW_SIDE_ETH,
				       .src = {2, 0, 0, 0, 0, 1},
				       .dst = {2, 0, 0, 0, 0, 9},
				       .tpid = 0x8100,
				       .mtu = 9216}};
}

/* The proxy's own address, the senders, the receivers. */
static void make_routes(struct cw_plane *p)
{
	struct cw_hop hop[] = {{.kind = CW_HOP_LOCAL, .slot = CORE}, hop_to(HOSTS), hop_to(CORE)};
	struct cw_ip_addr prefix[] = {
		{.version = 4, .plen = 32}, {.version = 4, .plen = 16}, {.version = 4, .plen = 16}};
	uint32_t index[3];
	struct cw_hops hops;
	unsigned i;

	cw_put_be32(prefix[0].a, FLOW_PROXY);
	cw_put_be32(prefix[1].a, flow_sender(0) & 0xffff0000);
	cw_put_be32(prefix[2].a, flow_receiver(0) & 0xffff0000);
	if (cw_hops_init(&hops, 3) < 0)
		rte_exit(1, "no memory for next hops\n");
	for (i = 0; i < 3; i++)
		index[i] = cw_hops_add(&hops, &hop[i]);
	if (cw_hops_finish(&hops, p) < 0 || cw_fib_get(&p->fib, NULL, prefix, index, 3, 0) < 0)
		rte_exit(1, "no memory for routes\n");
	cw_hops_free(&hops);
}

/* A node's own address and prefixes of senders, as a configuration would have them. */
static void make_proxy(uint32_t pairs)
{
	struct cw_cn *cn = live.cn = zeroed(1, sizeof(*cn));
	struct cw_relay_settings *s = &cn->settings;
	struct cw_gid node, sender;
	uint8_t o[4];

	cn->map = zeroed(1, sizeof(*cn->map));
	cw_qpmap_opts_init(&cn->map->opts);
	cn->map->opts.pairs = pairs;
	cn->map->opts.request_ns = 100000000000ull;
	cw_relay_settings_init(s);
	s->enabled = true;
	s->total_rate = s->source_rate = 0;
	cw_put_be32(o, FLOW_NODE);
	node = cw_gid_of(4, o);
	cw_put_be32(o, flow_sender(0) & 0xffff0000);
	sender = cw_gid_of(4, o);
	if (cw_lpm_new(&cn->allowed) < 0 || cw_lpm_new(&cn->senders) < 0 ||
	    cw_lpm_add(cn->allowed, &node, 32, 1) < 0 ||
	    cw_lpm_add(cn->senders, &sender, 16, CW_SENDER_CNP) < 0)
		rte_exit(1, "no memory for prefixes\n");
	s->allowed = cn->allowed;
	s->senders = cn->senders;
	cn->learn = true;
	if (cw_cn_prepare() < 0 || cw_cn_make_map(cn->map) < 0 ||
	    cw_relay_new(&cn->relay, s, cn->map->map, NULL) < 0)
		rte_exit(1, "no memory for a proxy\n");
}

static void make_plane(void)
{
	struct cw_plane *p = live.plane = zeroed(1, sizeof(*p));
	struct cw_ub2e_settings s;
	struct cw_diag diag;

	cw_ub2e_settings_init(&s);
	if (cw_ub2e_new(&p->rules, &s, NULL, 0, &diag) < 0)
		rte_exit(1, "rules refused\n");
	make_ports(p);
	make_routes(p);
	p->cn = live.cn;
	p->cn_port1 = live.cn->settings.port1;
	p->cn_port2 = live.cn->settings.port2;
	p->interfaces = 1ull << CORE;
	p->ip_in = p->between_ethernet = p->egress = true;
	atomic_store(&cw_dp.plane, p);
}

/* All connections, with a vote more than it takes. */
static void learn_all(void)
{
	uint8_t ip[2][FLOW_PACKET];
	struct cw_qp_seen seen[2];
	uint64_t now = cw_now_ns();
	uint32_t psn, k;

	for (psn = 0; psn < 4; psn++) {
		for (k = 0; k < live.connections; k++) {
			seen[0] = (struct cw_qp_seen){
				.ip = ip[0], .len = flow_roce(ip[0], live.order[k], psn, false)};
			seen[1] = (struct cw_qp_seen){
				.ip = ip[1], .len = flow_roce(ip[1], live.order[k], psn, true)};
			seen[0].wire = seen[0].len;
			seen[1].wire = seen[1].len;
			seen[0].now = seen[1].now = now;
			cw_qpmap_learn(live.cn->map->map, seen, 2);
		}
	}
}

static void shuffle(void)
{
	uint32_t i, j, t;

	srand(1);
	for (i = 0; i < live.connections; i++)
		live.order[i] = i;
	for (i = live.connections; i-- > 1;) {
		j = (uint32_t)rand() % (i + 1);
		t = live.order[i];
		live.order[i] = live.order[j];
		live.order[j] = t;
	}
}

/* ---- The worker ----------------------------------------------------------------------------- */

static double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Walks until the end and until nothing is left inside; seconds of processor time. */
static double walk(double seconds)
{
	double start = thread_seconds();
	unsigned idle = 0;

	live.at = rte_rdtsc();
	live.end = live.at + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	live.messages = live.sent = live.forwarded = 0;
	live.samples = 0;
	while (idle < 8) {
		if (rte_rdtsc() >= live.end)
			idle++;
		cw_worker_walk(cw_dp.worker[0]);
	}
	return thread_seconds() - start;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static uint32_t percentile(double part)
{
	return live.samples > 0 ? live.took[(uint32_t)(part * (double)(live.samples - 1))] : 0;
}

/* The nearest thing to a processor of its own: other programs wait. */
static bool be_first(void)
{
	const struct sched_param p = {.sched_priority = 10};

	return sched_setscheduler(0, SCHED_FIFO, &p) == 0;
}

static int run(void *arg)
{
	const double *seconds = arg;
	bool alone = be_first();
	double spent;

	(void)walk(0.05);
	spent = walk(*seconds);
	qsort(live.took, live.samples, sizeof(*live.took), by_value);
	printf("{\"what\":\"live\",\"pairs\":%u,\"rate\":%.0f,\"data\":%u,\"messages\":%" PRIu64
	       ",\"notifications\":%" PRIu64 ",\"forwarded\":%" PRIu64
	       ",\"alone\":%s,\"cpu_s\":%.4f,\"p50_ns\":%u,\"p99_ns\":%u,\"p999_ns\":%u,\"max_ns\":"
	       "%u}\n",
	       2 * live.connections,
	       live.gap > 0 ? (double)rte_get_tsc_hz() / (double)live.gap : 0.0, live.data,
	       live.messages, live.sent, live.forwarded, alone ? "true" : "false", spent,
	       percentile(0.5), percentile(0.99), percentile(0.999), percentile(1));
	return 0;
}

int main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	double seconds;
	uint64_t rate;

	if (n < 0)
		rte_exit(2, "EAL does not start\n");
	if (argc - n != 5)
		rte_exit(2, "usage: cnlive EAL-ARGS -- PAIRS SECONDS RATE DATA\n");
	argv += n + 1;
	live.connections = (uint32_t)strtoul(argv[0], NULL, 0) / 2;
	seconds = atof(argv[1]);
	rate = strtoull(argv[2], NULL, 0);
	live.gap = rate > 0 ? rte_get_tsc_hz() / rate : 0;
	live.data = (uint32_t)strtoul(argv[3], NULL, 0);
	live.order = zeroed(live.connections, sizeof(*live.order));
	live.due = zeroed(live.connections, sizeof(*live.due));
	live.took = zeroed(SAMPLES, sizeof(*live.took));
	live.pool = rte_pktmbuf_pool_create("packets", POOL, 256, 0, RTE_PKTMBUF_HEADROOM + ROOM,
					    SOCKET_ID_ANY);
	if (live.pool == NULL)
		rte_exit(1, "no packet pool\n");
	cw_io.pool = live.pool;
	cw_io.nworkers = 1;
	if (cw_dp_init(1) < 0)
		rte_exit(1, "no worker\n");
	make_proxy(2 * live.connections);
	make_plane();
	shuffle();
	learn_all();
	n = (int)rte_get_next_lcore(-1, 1, 0);
	if (n >= RTE_MAX_LCORE)
		rte_exit(2, "needs two lcores, e.g. -l 0,1\n");
	rte_eal_remote_launch(run, &seconds, (unsigned)n);
	rte_eal_mp_wait_lcore();
	return 0;
}
