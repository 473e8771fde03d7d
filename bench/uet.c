/* uet.c - reassembly of UET messages beside memcpy of the same octets; prints JSON lines.
 *
 * reassembly: 256 KiB messages in 4096-octet packets, all packets of 16 messages shuffled; beside
 * it memcpy of the same payloads, in the same order, to the same places. Best of the passes.
 * open: what the second packet of a message costs while 1 .. 100,000 messages are open.
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
	PASSES = 60
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

static double reassemble(struct cw_uet *u, uint8_t *frames, const uint32_t *order, uint8_t *to,
			 uint32_t pass)
{
	double t;
	uint32_t i;

	for (i = 0; i < MESSAGES; i++)
		(void)cw_uet_post(u, 1, to + (size_t)i * SIZE, SIZE, i);
	for (i = 0; i < N; i++)
		head(frames + (size_t)i * FRAME, pass * MESSAGES + i / PER, i % PER * MTU, MTU,
		     i % PER == PER - 1);
	t = now();
	for (i = 0; i < N; i++) {
		if (cw_uet_input(u, 1, 0, 0, false, frames + (size_t)order[i] * FRAME, FRAME) < 0)
			exit(1);
		if (i % 32 == 31)
			drain(u);
	}
	t = now() - t;
	drain(u);
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

static void bench_open(uint32_t open)
{
	uint8_t *bufs = calloc(open, 256), p[CW_SIZE_UETX + 64] = {0};
	struct cw_uet *u = engine();
	uint32_t i, n = open < 20000 ? open : 20000;
	double t;

	for (i = 0; i < open; i++) {
		(void)cw_uet_post(u, 1, bufs + (size_t)i * 256, 256, i);
		head(p, i, 0, 64, false);
		(void)cw_uet_input(u, 1, 0, 0, false, p, sizeof(p));
		drain(u);
	}
	t = now();
	for (i = 0; i < n; i++) {
		head(p, (uint32_t)(i * 7919ull % open), 64, 64, false);
		(void)cw_uet_input(u, 1, 0, 0, false, p, sizeof(p));
		drain(u);
	}
	printf("{\"bench\":\"uet\",\"what\":\"open\",\"messages\":%u,\"ns_a_packet\":%.0f}\n", open,
	       (now() - t) / n * 1e9);
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
