/* micro.c - lib/ub2e and the CRCs by themselves: no DPDK, no ports, no routes.
 *
 *   micro [SECONDS-A-CELL]       prints one JSON object a line
 *   micro count DIRECTION        4096 conversions of 256-byte payloads, for callgrind
 *
 * hot: 64 packets again and again. cold: 8192 packets, one every 9.5 KB, in shuffled order.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>
#include <zlib.h>
#include "causeway/bits.h"
#include "causeway/crc.h"
#include "causeway/ub2e.h"
#include "frames.h"

#define COLD   8192
#define HOT    64
#define PASSES 20000
#define ROOM   (BENCH_ROOM + 64) /* an odd number of lines: headers spread over the cache's sets */
#define LEAD   64                /* octets in front of the IP header */

enum dir { TO_UBOE, TO_UB };
static const char *const dir_name[] = {"uboe", "ub"};

struct packet {
	uint8_t *ip;
	uint32_t head, len; /* of the frame: octets in front of ip, all */
};

struct bench {
	struct cw_ub2e *rules[2]; /* icrc-check off, drop */
	struct cw_ub2e_hop hops[2];
	struct cw_ub2e_adj adj[2];
	struct packet *order;
	uint8_t *pool;
	double hz, seconds;
	uint64_t refused;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double tsc_hz(void)
{
	double start = now(), s;
	uint64_t c = __rdtsc();

	do
		s = now() - start;
	while (s < 0.1);
	return (double)(__rdtsc() - c) / s;
}

static void fill(struct bench *b, unsigned n, unsigned version, unsigned payload)
{
	unsigned i, j;

	for (i = 0; i < n; i++) {
		uint8_t *ip = b->pool + (size_t)i * ROOM + LEAD;

		b->order[i].ip = ip;
		b->order[i].head = BENCH_UB_HEAD;
		b->order[i].len =
			(uint32_t)bench_frame(ip - BENCH_UB_HEAD, BENCH_UB, version, payload, i);
	}
	srand(1);
	for (i = n - 1; i > 0; i--) {
		struct packet p = b->order[i];

		j = (unsigned)rand() % (i + 1);
		b->order[i] = b->order[j];
		b->order[j] = p;
	}
}

#define BURST 32

/* One by one, for what a burst leaves over. */
static void convert_one(struct bench *b, const struct cw_ub2e *rules, enum dir dir,
			struct packet *p)
{
	static const struct cw_stripped_tag none;
	uint8_t *start = p->ip - p->head;
	struct cw_ub2e_view v;
	enum cw_drop d;

	d = dir == TO_UBOE ? cw_ub2e_from_ub(rules, NULL, start + 14, p->len - 14, &v)
			   : cw_ub2e_from_eth(rules, NULL, start, p->len, &none, &v);
	if (!d)
		d = cw_ub2e_write(rules, &v, &b->hops[dir], &start, &p->len);
	b->refused += d != CW_PASS;
	p->head = (uint32_t)(p->ip - start);
}

/* As the daemon does it: those in one that are ordinary packets, the others in two steps. */
static void convert(struct bench *b, const struct cw_ub2e *rules, enum dir dir, struct packet *p,
		    unsigned n)
{
	struct cw_ub2e_job jobs[BURST];
	unsigned i, skip = dir == TO_UBOE ? 14 : 0;
	uint64_t done;

	for (i = 0; i < n; i++)
		jobs[i] = (struct cw_ub2e_job){.start = p[i].ip - p[i].head + skip,
					       .len = p[i].len - skip,
					       .adj = &b->adj[dir]};
	done = dir == TO_UBOE ? cw_ub2e_burst_to_eth(rules, NULL, jobs, n)
			      : cw_ub2e_burst_to_ub(rules, NULL, jobs, n);
	for (i = 0; i < n; i++) {
		if ((done >> i & 1) == 0) {
			convert_one(b, rules, dir, &p[i]);
			continue;
		}
		p[i].len = jobs[i].len;
		p[i].head = (uint32_t)(p[i].ip - jobs[i].start);
	}
}

static uint64_t pass(struct bench *b, const struct cw_ub2e *rules, enum dir dir, unsigned n)
{
	uint64_t start = __rdtsc();
	unsigned i, j;

	for (i = 0; i < n; i += BURST) {
		for (j = i + BURST; j < i + 2 * BURST && j < n; j++) {
			__builtin_prefetch(b->order[j].ip - 24, 1);
			__builtin_prefetch(b->order[j].ip + 40, 1);
		}
		convert(b, rules, dir, &b->order[i], BURST);
	}
	return __rdtsc() - start;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What the fastest tenth of `n` passes took at most: nobody disturbed those. */
static double low(uint64_t *spent, unsigned n)
{
	unsigned tenth = n / 10;

	qsort(spent, n, sizeof(*spent), by_value);
	return (double)spent[tenth];
}

/* Passes alternate in direction; these rules leave the TTL alone, so that they can go on. */
static void measure(struct bench *b, unsigned n, unsigned version, unsigned payload, int icrc)
{
	static uint64_t spent[2][PASSES];
	unsigned passes = 0;
	double start = now();
	int d;

	fill(b, n, version, payload);
	for (d = 0; d < 4; d++)
		pass(b, b->rules[icrc], d % 2, n);
	do {
		for (d = 0; d < 2; d++)
			spent[d][passes] = pass(b, b->rules[icrc], d, n);
		passes++;
	} while (passes < PASSES && (passes < 9 || now() - start < b->seconds));
	for (d = 0; d < 2; d++) {
		double c;

		c = low(spent[d], passes) / n;
		printf("{\"bench\":\"ub2e\",\"pool\":\"%s\",\"to\":\"%s\",\"ip\":%u,\"payload\":%u,"
		       "\"icrc\":\"%s\",\"cycles\":%.1f,\"ns\":%.2f}\n",
		       n == HOT ? "hot" : "cold", dir_name[d], version, payload,
		       icrc ? "drop" : "off", c, c / b->hz * 1e9);
	}
	fflush(stdout);
}

/* ---- CRC-32 ------------------------------------------------------------------------------ */

static uint32_t crc_zlib(uint32_t crc, const void *data, size_t len)
{
	return (uint32_t)crc32(crc, data, (uInt)len);
}

static volatile uint32_t crc_sink; /* keeps the work from being thrown away */

static void measure_crc(struct bench *b, const char *name, cw_crc32_fn fn, unsigned n, unsigned len)
{
	static uint64_t spent[PASSES];
	unsigned passes = 0, i;
	double start = now();

	do {
		uint64_t c = __rdtsc();

		for (i = 0; i < n; i++)
			crc_sink += fn(0, b->order[i].ip, len);
		spent[passes++] = __rdtsc() - c;
	} while (passes < PASSES && (passes < 5 || now() - start < b->seconds / 2));
	printf("{\"bench\":\"crc32\",\"pool\":\"%s\",\"impl\":\"%s\",\"octets\":%u,\"ns\":%.2f}\n",
	       n == HOT ? "hot" : "cold", name, len, low(spent, passes) / n / b->hz * 1e9);
	fflush(stdout);
}

static void measure_crcs(struct bench *b, unsigned n, unsigned len)
{
	int i;

	fill(b, n, 4, 8192);
	measure_crc(b, "zlib", crc_zlib, n, len);
	for (i = 0; i < CW_CRC32_IMPLS; i++)
		if (cw_crc32_get((enum cw_crc32_impl)i))
			measure_crc(b, cw_crc32_name((enum cw_crc32_impl)i),
				    cw_crc32_get((enum cw_crc32_impl)i), n, len);
}

/* ------------------------------------------------------------------------------------------ */

static int count(struct bench *b, const char *to)
{
	enum dir dir = strcmp(to, "ub") == 0 ? TO_UB : TO_UBOE;
	unsigned i;

	fill(b, COLD / 2, 4, 256);
	if (dir == TO_UB)
		for (i = 0; i < COLD / 2; i += BURST)
			convert(b, b->rules[0], TO_UBOE, &b->order[i], BURST);
	for (i = 0; i < COLD / 2; i += BURST)
		convert(b, b->rules[0], dir, &b->order[i], BURST);
	return b->refused > 0;
}

static int setup(struct bench *b)
{
	struct cw_ub2e_settings s;
	struct cw_diag diag;
	int i;

	for (i = 0; i < 2; i++) {
		cw_ub2e_settings_init(&s);
		s.ttl_decrement = false;
		s.icrc_check_ub = s.icrc_check_eth = i ? CW_ICRC_CHECK_DROP : CW_ICRC_CHECK_OFF;
		if (cw_ub2e_new(&b->rules[i], &s, NULL, 0, &diag))
			return -1;
		b->hops[i] = (struct cw_ub2e_hop){
			.side = i == TO_UB ? CW_SIDE_UB : CW_SIDE_ETH,
			.dst = {2, 0, 0, 0, 0, 2},
			.src = {2, 0, 0, 0, 0, 1},
			.tpid = 0x8100,
			.mtu = 9216,
		};
		cw_ub2e_adj_init(&b->adj[i], &b->hops[i]);
	}
	b->pool = malloc((size_t)COLD * ROOM);
	b->order = calloc(COLD, sizeof(*b->order));
	return b->pool && b->order ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = {64, 256, 1024, 4096, 8192}, pools[] = {HOT, COLD};
	struct bench b = {.seconds = 0.1};
	unsigned s, p;
	int icrc;

	if (setup(&b)) {
		fputs("micro: cannot set up\n", stderr);
		free(b.pool);
		free(b.order);
		return 2;
	}
	if (argc == 3 && strcmp(argv[1], "count") == 0)
		return count(&b, argv[2]);
	if (argc > 1)
		b.seconds = atof(argv[1]);
	b.hz = tsc_hz();
	for (p = 0; p < 2; p++)
		for (s = 0; s < 5; s++) {
			for (icrc = 0; icrc < 2; icrc++)
				measure(&b, pools[p], 4, sizes[s], icrc);
			measure(&b, pools[p], 6, sizes[s], 0);
			measure_crcs(&b, pools[p], sizes[s]);
		}
	if (b.refused) {
		fprintf(stderr, "micro: %" PRIu64 " conversions were refused\n", b.refused);
		return 1;
	}
	return 0;
}
