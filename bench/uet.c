/* uet.c - reassembly of UET messages beside memcpy of the same octets; prints JSON lines.
 *
 * reassembly: 256 KiB messages in 4096-octet packets, all packets of 16 messages shuffled; beside
 * it memcpy of the same payloads, in the same order, to the same places. Best of the passes.
 * open: what a packet of 64 octets costs while 1,000 .. 100,000 messages of 1 KiB are open and each
 * next packet is of another message: taken in by bursts of 32 and one by one, its Ack made. Beside
 * it what the machine takes for the memory alone that nobody can do without: an entry of a table by
 * id, one cache line of state that it leads to, the octets' place that the state leads to; all
 * packets' at will (`lines`), and each packet's behind that of the one before (`chase`).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/uet.h"
#include "causeway/wire/uetx.h"
#include "daemon/huge.h"

enum {
	SIZE = 1 << 18,
	MTU = 4096,
	MESSAGES = 16,
	PER = SIZE / MTU,
	N = MESSAGES * PER,
	FRAME = CW_SIZE_UETX + MTU,
	PASSES = 60,
	LONG = 1024, /* with many messages open: octets of a message, and of a packet */
	SEG = 64
};

static uint32_t seed = 1;

/* Of the processor, not of the wall: passes are longer than a busy machine's time slice. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cw_uet *engine(void)
{
	struct cw_uet_settings s = {
		.mtu = MTU, .id_window = 131072, .memory = cw_ask_for_huge_pages};
	struct cw_uet_context c = {.id = 1, .remote_id = 2};
	struct cw_uet *u;

	if (cw_uet_new(&u, &s) < 0 || cw_uet_peer(u, 1) < 0 || cw_uet_open(u, &c) < 0)
		exit(2);
	return u;
}

static void head(uint8_t *p, uint32_t id, uint32_t off, uint32_t len, bool last)
{
	memset(p, 0, CW_SIZE_UETX);
	cw_uetx_set_version(p, 1);
	cw_uetx_set_opcode(p, CW_UETX_SEND);
	cw_uetx_set_dcid(p, 1);
	cw_uetx_set_scid(p, 2);
	cw_uetx_set_msg_id(p, id);
	cw_uetx_set_offset(p, off);
	cw_uetx_set_length(p, len);
	cw_uetx_set_f(p, off == 0);
	cw_uetx_set_l(p, last);
}

static void drain(struct cw_uet *u)
{
	struct cw_uet_packet p;
	struct cw_uet_event e;

	while (cw_uet_output(u, 1, &p))
		;
	while (cw_uet_event(u, &e))
		;
}

enum { BURST = 32 };

static void input(struct cw_uet *u, const struct cw_uet_arrival *a, unsigned n)
{
	if (cw_uet_input_burst(u, 1, a, n) != n)
		exit(1);
	drain(u);
}

static double reassemble(struct cw_uet *u, uint8_t *frames, const uint32_t *order, uint8_t *to,
			 uint32_t pass)
{
	struct cw_uet_arrival a[BURST] = {0};
	double t;
	uint32_t i;

	for (i = 0; i < MESSAGES; i++)
		(void)cw_uet_post(u, 1, to + (size_t)i * SIZE, SIZE, i);
	for (i = 0; i < N; i++)
		head(frames + (size_t)i * FRAME, pass * MESSAGES + i / PER, i % PER * MTU, MTU,
		     i % PER == PER - 1);
	t = now();
	for (i = 0; i < N; i++) {
		a[i % BURST].data = frames + (size_t)order[i] * FRAME;
		a[i % BURST].len = FRAME;
		if (i % BURST == BURST - 1)
			input(u, a, BURST);
	}
	t = now() - t;
	if (cw_uet_open_messages(u, 0) != 0)
		exit(1);
	return t;
}

static double copy(const uint8_t *frames, const uint32_t *order, uint8_t *to)
{
	double t = now();
	uint32_t i;

	for (i = 0; i < N; i++)
		memcpy(to + (size_t)order[i] * MTU,
		       frames + (size_t)order[i] * FRAME + CW_SIZE_UETX, MTU);
	return now() - t;
}

static void bench_reassembly(void)
{
	uint8_t *frames = calloc(N, FRAME), *to = calloc(N, MTU);
	uint32_t *order = calloc(N, sizeof(*order)), i, k, v, pass;
	struct cw_uet *u = engine();
	double best[2] = {1e9, 1e9}, t;

	for (i = 0; i < N; i++) {
		k = (seed = seed * 1664525u + 1013904223u) % (i + 1);
		v = order[k];
		order[k] = i;
		order[i] = k == i ? i : v;
	}
	for (pass = 0; pass < PASSES; pass++) {
		best[0] = (t = reassemble(u, frames, order, to, pass)) < best[0] ? t : best[0];
		best[1] = (t = copy(frames, order, to)) < best[1] ? t : best[1];
	}
	printf("{\"bench\":\"uet\",\"what\":\"reassembly\",\"message\":%d,\"mtu\":%d,\"GB_s\":%.2f,"
	       "\"memcpy_GB_s\":%.2f,\"ratio\":%.2f}\n",
	       SIZE, MTU, 1e-9 * SIZE * MESSAGES / best[0], 1e-9 * SIZE * MESSAGES / best[1],
	       best[1] / best[0]);
	cw_uet_free(u);
	free(frames);
	free(to);
	free(order);
}

/* ---- Many messages open ---------------------------------------------------------------------- */

enum { CHUNK = 256, LINE = 64, WAYS = 4 };
static const char *const ways[WAYS] = {"ns_burst", "ns_single", "lines_ns", "chase_ns"};

struct world {
	struct cw_uet *u;
	uint32_t open;
	uint8_t *bufs;
	uint32_t *ids;   /* as an engine has them: by id, the state's number; */
	uint8_t **state; /* a line each, which leads to the buffer */
	uint8_t frames[CHUNK][CW_SIZE_UETX + SEG];
};

static uint32_t id_of(const struct world *w, uint32_t i)
{
	return w->open > 0 ? (uint32_t)(i * 7919ull % w->open) : 0;
}

static void take_in(struct world *w, uint32_t n, unsigned burst)
{
	struct cw_uet_arrival a[BURST] = {0};
	uint32_t i;

	for (i = 0; i < n; i++) {
		a[i % burst].data = w->frames[i];
		a[i % burst].len = sizeof(w->frames[i]);
		if (i % burst == burst - 1)
			input(w->u, a, burst);
	}
}

/* What a packet must touch, and nothing else. */
static void touch(struct world *w, uint32_t first, uint32_t n, uint32_t off, bool chase)
{
	uint64_t before = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t id = id_of(w, first + i) ^ (uint32_t)before;
		uint8_t **line = w->state + (size_t)w->ids[id] * (LINE / sizeof(*w->state));

		line[1]++;
		memcpy(*line + off, w->frames[i] + CW_SIZE_UETX, SEG);
		if (chase) /* always 0, which only memory knows */
			before = (*line)[off] & 0x80;
	}
}

/* Segment `off` of each message, in shuffled order: ns a packet. The frames of a chunk are there
 * before, as a port leaves them. */
static double pass_over(struct world *w, unsigned way, uint32_t off)
{
	uint32_t n = w->open - w->open % CHUNK, from, i;
	double t = 0;

	for (from = 0; from < n; from += CHUNK) {
		for (i = 0; i < CHUNK; i++)
			head(w->frames[i], id_of(w, from + i), off, SEG, false);
		t -= now();
		if (way < 2)
			take_in(w, CHUNK, way == 0 ? BURST : 1);
		else
			touch(w, from, CHUNK, off, way == 3);
		t += now();
	}
	return t / n * 1e9;
}

static void open_all(struct world *w)
{
	uint32_t i;

	for (i = 0; i < w->open; i++) {
		struct cw_uet_arrival a = {.data = w->frames[0], .len = sizeof(w->frames[0])};

		(void)cw_uet_post(w->u, 1, w->bufs + (size_t)i * LONG, LONG, i);
		head(w->frames[0], i, 0, SEG, false);
		input(w->u, &a, 1);
		w->ids[i] = i;
		w->state[(size_t)i * (LINE / sizeof(*w->state))] = w->bufs + (size_t)i * LONG;
	}
}

static void *lines(size_t octets)
{
	size_t size = (octets + (2u << 20) - 1) & ~((2ul << 20) - 1);
	void *p = aligned_alloc(2u << 20, size);

	if (p == NULL)
		exit(2);
	cw_ask_for_huge_pages(p, size);
	return memset(p, 0, size);
}

static void bench_open(uint32_t open)
{
	static struct world w;
	double best[WAYS] = {1e9, 1e9, 1e9, 1e9};
	unsigned pass, way;

	w = (struct world){.u = engine(), .open = open};
	w.bufs = lines((size_t)open * LONG);
	w.ids = lines((size_t)open * sizeof(*w.ids));
	w.state = lines((size_t)open * LINE);
	open_all(&w);
	for (pass = 1; pass + 1 < LONG / SEG; pass++) {
		double t = pass_over(&w, way = pass % 2, pass * SEG);

		best[way] = t < best[way] ? t : best[way];
		t = pass_over(&w, way += 2, pass * SEG);
		best[way] = t < best[way] ? t : best[way];
	}
	printf("{\"bench\":\"uet\",\"what\":\"open\",\"messages\":%u", open);
	for (way = 0; way < WAYS; way++)
		printf(",\"%s\":%.0f", ways[way], best[way]);
	printf("}\n");
	cw_uet_free(w.u);
	free(w.bufs);
	free(w.ids);
	free(w.state);
}

int main(void)
{
	bench_reassembly();
	bench_open(1000);
	bench_open(10000);
	bench_open(100000);
	return 0;
}
