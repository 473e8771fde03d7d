/* ipoib.c - what a packet costs the link machine of IPoIB; prints JSON lines.
 *
 * Two links and a subnet administration in one thread. out: header check, neighbour and path
 * look-up, a frame LRH .. VCRC with both CRCs. in: such a frame checked, taken apart and handed up.
 * to_eth, from_eth: a router's work on top, between such a frame and an Ethernet frame: header
 * check, longest prefix of 1024, TTL, Ethernet header. Best of the passes; nothing of a carrier, a
 * graph or the kernel is in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/forward.h"
#include "causeway/ipoib.h"
#include "causeway/lpm.h"
#include "causeway/sa.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"

enum { PASSES = 10, PACKETS = 2000, FRAME = 2200, ENDS = 2, ROUTES = 1024 };
enum what { OUT, IN, TO_ETH, FROM_ETH, WHATS };

struct world {
	struct cw_sa *sa;
	struct cw_ipoib *link[ENDS];
	uint8_t frame[FRAME];
	int len;
	unsigned delivered;
	struct cw_lpm *routes;
	uint8_t ip[2048], eth[FRAME]; /* what goes out, and as a frame of Ethernet */
	size_t ip_len;
	const uint8_t *up; /* what was handed up last */
	size_t up_len;
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
		if (o.what == CW_IPOIB_DELIVER) {
			w->delivered++;
			w->up = o.data; /* until the next call of cw_ipoib_next() for this link */
			w->up_len = o.len;
			if (keep)
				break;
		}
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

static void open_routes(struct world *w)
{
	unsigned i;

	if (cw_lpm_new(&w->routes) < 0)
		exit(2);
	for (i = 0; i < ROUTES; i++) {
		uint8_t prefix[4] = {10, (uint8_t)(i >> 8), (uint8_t)i, 0};
		struct cw_gid g = cw_gid_of(4, prefix);

		if (cw_lpm_add(w->routes, &g, 24, i + 1) < 0)
			exit(2);
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

static void packet(struct world *w, size_t len)
{
	uint8_t *ip = w->ip;

	memset(ip, 0, len);
	cw_ipv4_set_version(ip, 4);
	cw_ipv4_set_ihl(ip, 5);
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_ipv4_set_src(ip, address[0]);
	cw_ipv4_set_dst(ip, address[1]);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	w->ip_len = len;
	memset(w->eth, 0, CW_SIZE_ETH);
	cw_eth_set_type(w->eth, CW_ETHERTYPE_IP4);
	memcpy(w->eth + CW_SIZE_ETH, ip, len);
}

static void out(struct world *w, const uint8_t *ip, size_t len)
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

/* What a router does to a packet. */
static void route(const struct world *w, uint8_t *ip, size_t len)
{
	struct cw_gid to;
	size_t n;

	if (cw_ip_check(ip, len, &n) != CW_PASS || cw_ip_may_forward(ip) != CW_PASS)
		exit(1);
	to = cw_gid_of(4, cw_ipv4_dst(ip));
	if (cw_lpm_find(w->routes, &to) == 0)
		exit(1);
	cw_ip_hop(ip);
}

static void to_eth(struct world *w)
{
	static const uint8_t mac[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	static uint8_t frame[FRAME];

	in(w);
	memcpy(frame + CW_SIZE_ETH, w->up, w->up_len);
	route(w, frame + CW_SIZE_ETH, w->up_len);
	memcpy(frame, mac, sizeof(mac));
	cw_eth_set_type(frame, CW_ETHERTYPE_IP4);
}

/* The packet is one again and again: its TTL and checksum are put back. */
static void from_eth(struct world *w)
{
	uint8_t *ip = w->eth + CW_SIZE_ETH;

	memcpy(ip, w->ip, CW_SIZE_IPV4);
	if (cw_eth_type(w->eth) != CW_ETHERTYPE_IP4)
		exit(1);
	route(w, ip, w->ip_len);
	out(w, ip, w->ip_len);
}

static void once(struct world *w, enum what what)
{
	switch (what) {
	case OUT:
		out(w, w->ip, w->ip_len);
		break;
	case IN:
		in(w);
		break;
	case TO_ETH:
		to_eth(w);
		break;
	default:
		from_eth(w);
	}
}

/* ns a packet */
static double best(struct world *w, enum what what)
{
	double fastest = 1e9;
	unsigned pass, i;

	for (pass = 0; pass < PASSES; pass++) {
		double t = now();

		for (i = 0; i < PACKETS; i++)
			once(w, what);
		t = now() - t;
		fastest = t < fastest ? t : fastest;
	}
	return fastest / PACKETS * 1e9;
}

int main(void)
{
	static const size_t sizes[] = {64, 512, 1500, 2044};
	static struct world w;
	double ns[WHATS];
	unsigned i, k;

	open_world(&w);
	open_routes(&w);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		packet(&w, sizes[i]);
		(void)cw_ipoib_send(w.link[0], 1, address[1], w.ip, sizes[i]);
		settle(&w); /* the first one resolves the neighbour and the path */
		w.delivered = 0;
		for (k = 0; k < WHATS; k++)
			ns[k] = best(&w, (enum what)k);
		if (w.delivered != 2 * PASSES * PACKETS) {
			(void)fprintf(stderr, "ipoib: %u packets came\n", w.delivered);
			return 1;
		}
		printf("{\"size\": %zu, \"out_ns\": %.1f, \"in_ns\": %.1f, \"to_eth_ns\": %.1f, "
		       "\"from_eth_ns\": %.1f}\n",
		       sizes[i], ns[OUT], ns[IN], ns[TO_ETH], ns[FROM_ETH]);
	}
	cw_ipoib_free(w.link[0]);
	cw_ipoib_free(w.link[1]);
	cw_sa_free(w.sa);
	cw_lpm_free(w.routes);
	return 0;
}
