/* rtp.c - goodput of the UB endpoint in process: two devices, one core, no kernel.
 *
 *   rtp [SECONDS-A-CELL]      prints one JSON object a line
 *   rtp profile [SECONDS]     4 KB writes only, for perf
 *
 * Both ends run in this one thread, so a packet costs what it costs the sender and the receiver
 * together, acknowledgements included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/crc.h"
#include "causeway/uboe.h"

#define BURST  32
#define DEPTH  256
#define REGION (1u << 22) /* octets that the writes go over: beyond the second-level cache */
#define PACKET 8704

struct bench {
	struct cw_uboe_dev *dev[2];
	struct cw_uboe_tp *tp[2];
	struct cw_uboe_jetty *jetty;
	struct cw_uboe_tjetty *to;
	struct cw_uboe_seg *seg;
	uint8_t *local, *remote, *packets;
	int len[BURST];
	uint64_t now, posted, done, bad;
};

/* Seconds of this thread on a core: what other programs do meanwhile is not counted. */
static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int err)
{
	if (err != CW_OK) {
		fprintf(stderr, "rtp: %s\n", cw_strerror(err));
		exit(2);
	}
}

static void connect_ends(struct bench *b)
{
	struct cw_uboe_tp_peer p0, p1;

	cw_uboe_tp_local(b->tp[0], &p0);
	cw_uboe_tp_local(b->tp[1], &p1);
	must(cw_uboe_tp_connect(b->tp[0], &p1));
	must(cw_uboe_tp_connect(b->tp[1], &p0));
}

static void set_up(struct bench *b, uint32_t mtu, enum cw_uboe_cc cc, enum cw_uboe_service service)
{
	struct cw_uboe_jetty_opts j = CW_UBOE_JETTY_OPTS;
	struct cw_uboe_seg_opts so = CW_UBOE_SEG_OPTS;
	struct cw_uboe_tpg_opts go = CW_UBOE_TPG_OPTS;
	int i;

	memset(b, 0, sizeof(*b));
	go.service = service;
	for (i = 0; i < 2; i++) {
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
		struct cw_uboe_tpg *g;

		t.mtu = mtu;
		t.cc = cc;
		t.src[0] = t.dst[0] = 10;
		t.src[3] = (uint8_t)(1 + i);
		t.dst[3] = (uint8_t)(2 - i);
		must(cw_uboe_dev_new(&b->dev[i], NULL));
		must(cw_uboe_tpg_new(b->dev[i], &go, &g));
		must(cw_uboe_tp_new(g, &t, &b->tp[i], NULL));
		if (i == 0) {
			j.send_depth = DEPTH;
			must(cw_uboe_jetty_new(b->dev[0], &j, &b->jetty));
			must(cw_uboe_import(b->jetty, g, 0, 0, &b->to));
		}
	}
	connect_ends(b);
	b->local = malloc(REGION);
	b->remote = malloc(REGION);
	b->packets = malloc((size_t)BURST * PACKET);
	memset(b->local, 0x5a, REGION);
	so.access = CW_UBOE_WRITE | CW_UBOE_READ;
	must(cw_uboe_seg_register(b->dev[1], b->remote, REGION, &so, &b->seg));
}

static void tear_down(struct bench *b)
{
	cw_uboe_dev_free(b->dev[0]);
	cw_uboe_dev_free(b->dev[1]);
	free(b->local);
	free(b->remote);
	free(b->packets);
}

static void post(struct bench *b, enum cw_uboe_op op, uint32_t size)
{
	struct cw_uboe_wr wr = {.op = op, .len = size, .token_id = cw_uboe_seg_token_id(b->seg)};

	for (;;) {
		uint64_t at = b->posted * (uint64_t)size % (REGION - size + 1) & ~63ull;

		wr.local = b->local + at;
		wr.remote_addr = cw_uboe_seg_va(b->seg) + at;
		if (cw_uboe_post(b->to, &wr) != CW_OK)
			return;
		b->posted++;
	}
}

/* What `from` has to send, at most a burst, goes to the other end. */
static bool carry(struct bench *b, int from)
{
	int n = 0, i;

	while (n < BURST) {
		b->len[n] = cw_uboe_output(b->dev[from], b->packets + (size_t)n * PACKET, PACKET,
					   b->now, NULL);
		if (b->len[n] <= 0)
			break;
		n++;
	}
	for (i = 0; i < n; i++) {
		if (cw_uboe_input(b->dev[1 - from], CW_UBOE_FORM_UBOE,
				  b->packets + (size_t)i * PACKET, (size_t)b->len[i],
				  b->now) != CW_OK)
			b->bad++;
	}
	b->now += 1000;
	return n > 0;
}

static void reap(struct bench *b)
{
	struct cw_uboe_cr cr[32];
	unsigned n, i;

	while ((n = cw_uboe_poll(b->jetty, cr, 32)) > 0) {
		for (i = 0; i < n; i++)
			b->bad += cr[i].status != CW_UBOE_OK;
		b->done += n;
	}
}

static double run(struct bench *b, enum cw_uboe_op op, uint32_t size, double seconds)
{
	double start = cpu(), s;
	unsigned k = 0;

	do {
		post(b, op, size);
		if (!carry(b, 0) && !carry(b, 1))
			b->now += 20000; /* let delayed acknowledgements come due */
		(void)carry(b, 1);
		reap(b);
		s = ++k % 64 == 0 ? cpu() - start : 0;
	} while (s < seconds);
	return s;
}

static void cell(uint32_t mtu, uint32_t size, enum cw_uboe_op op, enum cw_uboe_cc cc,
		 double seconds)
{
	static const char *const cc_name[] = {"none", "dcqcn", "ldcp"};
	struct bench b;
	double s;

	set_up(&b, mtu, cc, CW_UBOE_ROI);
	(void)run(&b, op, size, seconds / 10); /* warm */
	b.done = 0;
	s = run(&b, op, size, seconds);
	printf("{\"op\":\"%s\",\"size\":%u,\"mtu\":%u,\"cc\":\"%s\",\"messages_per_s\":%.0f,"
	       "\"gbit_per_s\":%.2f,\"ns_per_message\":%.0f,\"bad\":%llu,\"crc\":\"%s\"}\n",
	       cw_uboe_op_name(op), size, mtu, cc_name[cc], (double)b.done / s,
	       8e-9 * (double)b.done * size / s, 1e9 * s / (double)b.done,
	       (unsigned long long)b.bad, cw_crc32_name(cw_crc32_best()));
	fflush(stdout);
	tear_down(&b);
}

int main(int argc, char **argv)
{
	bool profile = argc > 1 && strcmp(argv[1], "profile") == 0;
	double seconds = argc > 1 + profile ? atof(argv[1 + profile]) : profile ? 5 : 0.5;
	static const uint32_t sizes[] = {8, 64, 256, 1024, 4096, 8192, 65536};
	unsigned i;

	if (seconds <= 0) {
		fprintf(stderr, "usage: rtp [SECONDS-A-CELL] | rtp profile [SECONDS]\n");
		return 2;
	}
	if (profile) {
		cell(4096, 4096, CW_UBOE_OP_WRITE, CW_UBOE_CC_NONE, seconds);
		return 0;
	}
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cell(4096, sizes[i], CW_UBOE_OP_WRITE, CW_UBOE_CC_NONE, seconds);
		cell(4096, sizes[i], CW_UBOE_OP_READ, CW_UBOE_CC_NONE, seconds);
	}
	cell(8192, 65536, CW_UBOE_OP_WRITE, CW_UBOE_CC_NONE, seconds);
	cell(1024, 4096, CW_UBOE_OP_WRITE, CW_UBOE_CC_NONE, seconds);
	cell(4096, 4096, CW_UBOE_OP_WRITE, CW_UBOE_CC_DCQCN, seconds);
	cell(4096, 4096, CW_UBOE_OP_WRITE, CW_UBOE_CC_LDCP, seconds);
	return 0;
}
