/* ipoib.c - what a packet costs the link machine of IPoIB; prints JSON lines.
 *
 * Two links and a subnet administration in one thread. out: header check, neighbour and path
 * look-up, a frame LRH .. VCRC with both CRCs. in: such a frame checked, taken apart and handed up.
 * Best of the passes; nothing of a carrier, a graph or the kernel is in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/forward.h"
#include "causeway/ipoib.h"
#include "causeway/sa.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"

enum { PASSES = 10, PACKETS = 2000, FRAME = 2200, ENDS = 2 };

struct world {
	struct cw_sa *sa;
	struct cw_ipoib *link[ENDS];
	uint8_t frame[FRAME];
	int len;
	unsigned delivered;
};

static const uint8_t address[ENDS][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* LIDs are 1 and 2. */
static void answer(void *ctx, uint16_t lid, const uint8_t mad[256])
{
	struct world *w = ctx;

	(void)cw_ipoib_mad(w->link[lid - 1], 1, mad, CW_MAD_OCTETS);
}

/* All that one end wants done. Its datagrams go to the other end, or, with `keep`, only the frame
 * of the last one is kept. */
static bool pull(struct world *w, unsigned end, bool keep)
{
	struct cw_ipoib_out o;
	bool any = false;

	while (cw_ipoib_next(w->link[end], &o)) {
		any = true;
		if (o.what == CW_IPOIB_MAD)
			(void)cw_sa_request(w->sa, (uint16_t)(end + 1), o.data, o.len);
		w->delivered += o.what == CW_IPOIB_DELIVER;
		if (o.what != CW_IPOIB_SEND)
			continue;
		w->len = cw_ipoib_frame_build(w->frame, FRAME, &o.tx, 1, o.data, o.len);
		if (!keep)
			(void)cw_ipoib_frame(w->link[!end], 1, w->frame, (size_t)w->len);
	}
	return any;
}

static void settle(struct world *w)
{
	bool any = true;

	while (any) {
		any = pull(w, 0, false);
		any |= pull(w, 1, false);
	}
}

static void open_world(struct world *w)
{
	struct cw_sa_partition part = {
		.pkey = 0x8001, .scope = 2, .mtu = 4, .rate = 3, .qkey = 0x80000b1b};
	unsigned i;

	if (cw_sa_new(&w->sa, 1, 16, answer, w) < 0 || cw_sa_partition(w->sa, &part) < 0)
		exit(2);
	for (i = 0; i < ENDS; i++) {
		struct cw_ipoib_config c = {.gid = {0xfe, 0x80, [15] = (uint8_t)(i + 1)},
					    .qpn = 0x48 + i,
					    .lid = (uint16_t)(i + 1),
					    .sm_lid = 1,
					    .pkey = 0x8001};

		if (cw_sa_port(w->sa, c.gid, c.lid) < 0 || cw_ipoib_new(&w->link[i], &c) < 0)
			exit(2);
		(void)cw_ipoib_address(w->link[i], 1, false, address[i]);
	}
	for (i = 0; i < ENDS; i++) {
		cw_ipoib_tick(w->link[i], 1);
		settle(w);
	}
}

static void packet(uint8_t *ip, size_t len)
{
	memset(ip, 0, len);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_ipv4_set_src(ip, address[0]);
	cw_ipv4_set_dst(ip, address[1]);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
}

static void out(struct world *w, uint8_t *ip, size_t len)
{
	size_t n;

	if (cw_ip_check(ip, len, &n) != CW_PASS ||
	    cw_ipoib_send(w->link[0], 1, address[1], ip, n) < 0)
		exit(1);
	(void)pull(w, 0, true);
}

static void in(struct world *w)
{
	if (cw_ipoib_frame(w->link[1], 1, w->frame, (size_t)w->len) < 0)
		exit(1);
	(void)pull(w, 1, true);
}

static double best(struct world *w, bool outwards, uint8_t *ip, size_t len)
{
	double fastest = 1e9;
	unsigned pass, i;

	for (pass = 0; pass < PASSES; pass++) {
		double t = now();

		for (i = 0; i < PACKETS; i++) {
			if (outwards)
				out(w, ip, len);
			else
				in(w);
		}
		t = now() - t;
		fastest = t < fastest ? t : fastest;
	}
	return fastest / PACKETS * 1e9;
}

int main(void)
{
	static const size_t sizes[] = {64, 512, 1500, 2044};
	static struct world w;
	uint8_t ip[2044];
	unsigned i;

	open_world(&w);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double to, from;

		packet(ip, sizes[i]);
		(void)cw_ipoib_send(w.link[0], 1, address[1], ip, sizes[i]);
		settle(&w); /* the first one resolves the neighbour and the path */
		to = best(&w, true, ip, sizes[i]);
		w.delivered = 0;
		from = best(&w, false, ip, sizes[i]);
		if (w.delivered != PASSES * PACKETS) {
			(void)fprintf(stderr, "ipoib: %u packets came\n", w.delivered);
			return 1;
		}
		printf("{\"size\": %zu, \"out_ns\": %.1f, \"in_ns\": %.1f}\n", sizes[i], to, from);
	}
	cw_ipoib_free(w.link[0]);
	cw_ipoib_free(w.link[1]);
	cw_sa_free(w.sa);
	return 0;
}
