/* pipeline.c - the yardstick: a forwarding loop with nothing around it, on one core.
 *
 *   pipeline EAL-ARGS -- SOURCE WORK DIRECTION PAYLOAD FLOWS SECONDS [icrc] [v6] [learned] [proxy]
 *   SOURCE     rx: port 0 in and out;  cold: an array walk over a pool larger than the caches, in
 *              shuffled order;  dram: the same, its headers flushed from the caches before each
 *              pass;  hot: one burst of it, again and again
 *   WORK       io;  rewrite: LPM, strip 40 octets, push 58, patch a length;  bare: LPM and a
 *              conversion's headers, no checks;  graph: the daemon's own nodes
 *   DIRECTION  uboe, ub: what comes out. The walks alternate, and time one of the two.
 *   icrc       graph: check every ICRC;  v6: packets are IPv6 (not bare);  learned: next hops too;
 *              proxy: every packet is copied for the proxy, and learned from
 *
 * Prints one JSON object. Time is the thread's processor time, so that a neighbour on the same
 * core does not count (hot: the clock's); of a walk the fastest tenth of the passes gives the
 * figure, for the same reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include "causeway/ub2e.h"
#include "frames.h"
#include "graph.h"

#define POOL   16383
#define PASSES 10000

struct run {
	struct work work;
	work_fn fn;
	enum work_dir dir;
	unsigned payload, flows, packets_a_pass;
	double seconds;
	bool dram, icrc, v6, learned, proxy;
	volatile bool stop;
	struct rte_mempool *pool;
	struct rte_mbuf **order;
	/* the result */
	uint64_t packets;
	double seconds_spent;
};

/* On the forwarding core, where rte_exit() would wait for this core. */
static void refused(unsigned n)
{
	fprintf(stderr, "pipeline: %u packets of a burst were refused\n", n);
	_exit(1);
}

/* ---- Port 0 in and out ------------------------------------------------------------------- */

static void start_port(struct run *r)
{
	struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(0, 1, 1, &conf) ||
	    rte_eth_rx_queue_setup(0, 0, 512, SOCKET_ID_ANY, NULL, r->pool) ||
	    rte_eth_tx_queue_setup(0, 0, 512, SOCKET_ID_ANY, NULL) || rte_eth_dev_start(0))
		rte_exit(1, "port 0 does not start\n");
}

static double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int loop_rx(void *arg)
{
	struct run *r = arg;
	struct rte_mbuf *m[BURST], *sent[BURST];
	unsigned n, keep, done, i;
	uint64_t base = 0, settle = rte_rdtsc() + rte_get_tsc_hz() / 5;
	double start = 0;

	do {
		n = (unsigned)rte_eth_rx_burst(0, 0, m, BURST);
		if (settle && rte_rdtsc() > settle) {
			settle = 0;
			start = thread_seconds();
			base = r->work.packets;
		}
		memcpy(sent, m, sizeof(m));
		keep = r->fn(&r->work, r->dir, sent, n);
		if (keep < n)
			refused(n - keep);
		done = rte_eth_tx_burst(0, 0, sent, (uint16_t)keep);
		for (i = done; i < keep; i++)
			rte_pktmbuf_free(sent[i]);
	} while (!r->stop);
	r->seconds_spent = thread_seconds() - start;
	r->packets = r->work.packets - base;
	return 0;
}

/* ---- The cold walk ----------------------------------------------------------------------- */

static void fill_pool(struct run *r)
{
	static uint8_t frame[BENCH_ROOM];
	unsigned i, j;
	size_t len;

	r->order = calloc(POOL, sizeof(void *));
	if (!r->order || rte_pktmbuf_alloc_bulk(r->pool, r->order, POOL))
		rte_exit(1, "no packets\n");
	for (i = 0; i < POOL; i++) {
		len = bench_frame(frame, BENCH_UB, r->v6 ? 6 : 4, r->payload, i % r->flows);
		memcpy(rte_pktmbuf_append(r->order[i], (uint16_t)len), frame, len);
	}
	srand(1);
	for (i = POOL - 1; i > 0; i--) {
		struct rte_mbuf *m = r->order[i];

		j = (unsigned)rand() % (i + 1);
		r->order[i] = r->order[j];
		r->order[j] = m;
	}
}

/* The TTL goes down by one a pass: put it, and its checksum, back in time. */
static void renew(struct run *r)
{
	unsigned i;

	for (i = 0; i < POOL; i++) {
		uint8_t *ip = rte_pktmbuf_mtod(r->order[i], uint8_t *) + BENCH_UB_HEAD;
		uint32_t up = 255u - ip[8], sum = (uint32_t)(ip[10] << 8 | ip[11]);

		if (r->v6) {
			ip[7] = 255;
			continue;
		}
		sum += 0xffff - (up << 8);
		sum = (sum & 0xffff) + (sum >> 16);
		ip[8] = 255;
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
}

static void flush(const void *p, size_t len)
{
	const char *c = p;
	size_t i;

	for (i = 0; i < len; i += 64)
		_mm_clflush(c + i);
}

static void flush_pool(struct run *r)
{
	unsigned i;

	for (i = 0; i < POOL; i++) {
		struct rte_mbuf *m = r->order[i];

		flush((char *)m->buf_addr + (m->data_off & ~63), 256);
		flush(m, 128);
	}
	_mm_mfence();
}

/* A pass over the pool can be longer than a time slice, so this thread's processor time counts; to
 * ask for that takes longer than a burst. */
static double seconds_of(const struct run *r)
{
	return r->packets_a_pass == POOL ? thread_seconds()
					 : (double)rte_rdtsc() / (double)rte_get_tsc_hz();
}

/* Packet structs are fetched a burst ahead: a driver's receive has written them just before.
 * Headers are the programs' own affair. */
static double pass(struct run *r, enum work_dir dir)
{
	struct rte_mbuf *m[BURST];
	double start = seconds_of(r);
	unsigned i, j, n, sent;

	for (i = 0; i < r->packets_a_pass; i += n) {
		n = RTE_MIN(r->packets_a_pass - i, (unsigned)BURST);
		for (j = i + BURST; j < i + 2 * BURST && j < POOL; j++)
			rte_prefetch0(r->order[j]);
		memcpy(m, &r->order[i], n * sizeof(void *));
		sent = r->fn(&r->work, dir, m, n);
		if (sent < n)
			refused(n - sent);
	}
	return seconds_of(r) - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int loop_cold(void *arg)
{
	static double spent[PASSES];
	struct run *r = arg;
	double start = thread_seconds();
	unsigned passes, n = 0;

	for (passes = 0; n < PASSES && (n < 8 || thread_seconds() - start < r->seconds); passes++) {
		enum work_dir dir = passes % 2 ? TO_UB : TO_UBOE;
		double seconds;

		if (passes % 200 == 0)
			renew(r);
		if (r->dram)
			flush_pool(r);
		seconds = pass(r, dir);
		if (passes >= 2 && dir == r->dir)
			spent[n++] = seconds;
	}
	qsort(spent, n, sizeof(*spent), by_value);
	r->packets = r->packets_a_pass;
	r->seconds_spent = spent[n / 10];
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

static void report(const struct run *r, char **argv)
{
	double ns = r->seconds_spent / (double)r->packets * 1e9;

	printf("{\"source\":\"%s\",\"work\":\"%s\",\"to\":\"%s\",\"payload\":%u,\"flows\":%u,"
	       "\"ns\":%.3f,\"mpps\":%.3f,\"cycles\":%.1f}\n",
	       argv[0], argv[1], argv[2], r->payload, r->flows, ns, 1e3 / ns,
	       ns * (double)rte_get_tsc_hz() * 1e-9);
}

static work_fn work_of(const char *name)
{
	if (strcmp(name, "io") == 0)
		return work_io;
	if (strcmp(name, "rewrite") == 0)
		return work_rewrite;
	if (strcmp(name, "bare") == 0)
		return work_bare;
	return strcmp(name, "graph") == 0 ? work_graph : NULL;
}

static void usage(void)
{
	rte_exit(2, "usage: pipeline EAL-ARGS -- rx|cold|dram|hot io|rewrite|bare|graph uboe|ub "
		    "PAYLOAD "
		    "FLOWS SECONDS [icrc] [v6] [learned] [proxy]\n");
}

static void parse(struct run *r, int argc, char **argv)
{
	int i;

	if (argc < 6 || !(r->fn = work_of(argv[1])))
		usage();
	r->dir = strcmp(argv[2], "ub") == 0 ? TO_UB : TO_UBOE;
	r->payload = (unsigned)atoi(argv[3]);
	r->flows = (unsigned)atoi(argv[4]);
	r->seconds = atof(argv[5]);
	r->dram = strcmp(argv[0], "dram") == 0;
	r->packets_a_pass = strcmp(argv[0], "hot") == 0 ? BURST : POOL;
	for (i = 6; i < argc; i++) {
		r->icrc |= strcmp(argv[i], "icrc") == 0;
		r->v6 |= strcmp(argv[i], "v6") == 0;
		r->learned |= strcmp(argv[i], "learned") == 0;
		r->proxy |= strcmp(argv[i], "proxy") == 0;
	}
}

static struct cw_ub2e *make_rules(const struct run *r)
{
	struct cw_ub2e_settings s;
	struct cw_ub2e *rules;
	struct cw_diag diag;

	cw_ub2e_settings_init(&s);
	if (r->icrc)
		s.icrc_check_ub = s.icrc_check_eth = CW_ICRC_CHECK_DROP;
	if (cw_ub2e_new(&rules, &s, NULL, 0, &diag) < 0)
		rte_exit(1, "rules refused\n");
	return rules;
}

static void make_work(struct run *r)
{
	struct graph_setup g = {
		.flows = r->flows, .v6 = r->v6, .learned = r->learned, .proxy = r->proxy};

	if (r->fn != work_graph) {
		work_init(&r->work);
		return;
	}
	g.rules = make_rules(r);
	g.pool = r->pool;
	graph_init(&g);
}

int main(int argc, char **argv)
{
	static struct run r;
	int n = rte_eal_init(argc, argv);
	bool rx;

	if (n < 0)
		rte_exit(2, "EAL does not start\n");
	argv += n + 1;
	parse(&r, argc - n - 1, argv);
	rx = strcmp(argv[0], "rx") == 0;
	r.pool = rte_pktmbuf_pool_create("packets", POOL, rx ? 256 : 0, 0, BENCH_ROOM,
					 SOCKET_ID_ANY);
	if (!r.pool)
		rte_exit(1, "no packet pool: %s\n", rte_strerror(rte_errno));
	make_work(&r);
	if (rx) {
		r.work.rewrite_dst[TO_UB] = BENCH_UBOE_HEAD + 16; /* as it comes from outside */
		start_port(&r);
	} else {
		fill_pool(&r);
	}
	n = (int)rte_get_next_lcore(-1, 1, 0);
	if (n >= RTE_MAX_LCORE)
		rte_exit(2, "needs two lcores, e.g. -l 0,1\n");
	rte_eal_remote_launch(rx ? loop_rx : loop_cold, &r, (unsigned)n);
	if (rx)
		rte_delay_us_sleep((unsigned)(r.seconds * 1e6) + 200000);
	r.stop = true;
	rte_eal_mp_wait_lcore();
	report(&r, argv);
	return 0;
}
