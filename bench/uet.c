/* uet.c - reassembly of UET messages beside memcpy of the same octets; prints JSON lines.
 *
 * reassembly: 256 KiB messages in 4096-octet packets, all packets of 16 messages shuffled; beside
 * it memcpy of the same payloads, in the same order, to the same places. Best of the passes.
 * open: what a packet of 64 octets costs while 1,000 .. 100,000 messages of 1 KiB are open and each
 * next packet is of another message: taken in by bursts of 32 and one by one, its Ack made; beside
 * it memcpy of the same octets to the same places.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/uet.h"
#include "causeway/wire/uetx.h"

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

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cw_uet *engine(void)
{
	struct cw_uet_settings s = {.mtu = MTU, .id_window = 131072};
	struct cw_uet_context c = {.id = 1, .remote_id = 2};
	struct cw_uet *u = cw_uet_new(&s);

	if (u == NULL || cw_uet_peer(u, 1) < 0 || cw_uet_open(u, &c) < 0)
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

/* The packets of one pass: the next segment of each message, in shuffled order. */
static double pass_over(struct cw_uet *u, uint32_t open, uint32_t n, uint32_t off, unsigned burst,
			uint8_t *bufs)
{
	static uint8_t p[BURST][CW_SIZE_UETX + SEG];
	struct cw_uet_arrival a[BURST] = {0};
	double t = now();
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t id = (uint32_t)(i * 7919ull % open), k = i % burst;

		if (u == NULL) { /* only what nobody can do without: the octets */
			memcpy(bufs + (size_t)id * LONG + off, p[k] + CW_SIZE_UETX, SEG);
			continue;
		}
		head(p[k], id, off, SEG, false);
		a[k].data = p[k];
		a[k].len = sizeof(p[k]);
		if (k == burst - 1)
			input(u, a, burst);
	}
	return (now() - t) / n * 1e9;
}

static void bench_open(uint32_t open)
{
	uint8_t *bufs = calloc(open, LONG);
	struct cw_uet *u = engine();
	double best[3] = {1e9, 1e9, 1e9};
	uint32_t i, pass;

	for (i = 0; i < open; i++)
		(void)cw_uet_post(u, 1, bufs + (size_t)i * LONG, LONG, i);
	for (i = 0; i < open; i++) {
		uint8_t p[CW_SIZE_UETX + SEG] = {0};
		struct cw_uet_arrival a = {.data = p, .len = sizeof(p)};

		head(p, i, 0, SEG, false);
		input(u, &a, 1);
	}
	for (pass = 1; pass + 1 < LONG / SEG; pass++) {
		unsigned how = pass % 3;
		double t = pass_over(how == 2 ? NULL : u, open, open - open % BURST, pass * SEG,
				     how == 0 ? BURST : 1, bufs);

		best[how] = t < best[how] ? t : best[how];
	}
	printf("{\"bench\":\"uet\",\"what\":\"open\",\"messages\":%u,\"ns_burst\":%.0f,"
	       "\"ns_single\":%.0f,\"memcpy_ns\":%.0f}\n",
	       open, best[0], best[1], best[2]);
	cw_uet_free(u);
	free(bufs);
}

int main(void)
{
	bench_reassembly();
	bench_open(1000);
	bench_open(10000);
	bench_open(100000);
	return 0;
}
