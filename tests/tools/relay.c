/* relay.c - a link with delay, loss and a rate, for kernels without netem: takes the frames of one
 * interface and puts them out of the other, both ways.
 *
 * relay IF IF DELAY_US LOSS_PERCENT MBIT QUEUE MARK SEED
 *
 * MBIT 0: no limit. QUEUE: frames that may wait for the link; MARK: ECN-capable ones get CE when
 * that many wait (0: never). SIGUSR1 cuts the link, silently as a failing switch does, SIGUSR2
 * mends it. At SIGTERM: what it did, as JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"

enum { SLOTS = 1024, FRAME = 9700, BUFFER = 16 << 20, BATCH = 64 };

struct frame {
	uint64_t leaves_at, arrives_at;
	uint32_t len;
	uint8_t data[FRAME];
};

/* One direction. Frames behind `sent` wait for the link or are on their way. */
struct side {
	int in, out;
	uint64_t busy_until;
	unsigned head, tail;
	struct frame *ring;
};

static struct {
	uint64_t delay_ns, ns_an_octet_x1000;
	double loss;
	unsigned queue, mark;
	uint32_t random;
} conf;

static struct {
	unsigned long long forwarded, lost, cut, overflowed, marked;
} count;

static volatile sig_atomic_t cut, stop;

static void on_signal(int sig)
{
	if (sig == SIGUSR1 || sig == SIGUSR2)
		cut = sig == SIGUSR1;
	else
		stop = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_port(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(name)};
	int s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), size = BUFFER,
	    on = 1;

	if (s < 0 || at.sll_ifindex == 0) {
		fprintf(stderr, "relay: %s: %s\n", name, strerror(errno));
		exit(2);
	}
	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	(void)setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	if (bind(s, (struct sockaddr *)&at, sizeof(at)) < 0) {
		fprintf(stderr, "relay: %s: %s\n", name, strerror(errno));
		exit(2);
	}
	return s;
}

static bool is_lost(void)
{
	conf.random = conf.random * 1664525u + 1013904223u;
	return (conf.random >> 8) % 1000000 < conf.loss * 10000;
}

/* CE in an ECN-capable IP header, as a router does. */
static void mark(uint8_t *p, uint32_t len)
{
	uint8_t *ip = p + CW_SIZE_ETH;

	if (len < CW_SIZE_ETH + CW_SIZE_IPV6)
		return;
	if (cw_eth_type(p) == CW_ETHERTYPE_IP4 && cw_ipv4_ecn(ip) != 0) {
		cw_ipv4_set_ecn(ip, 3);
		cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
		count.marked++;
	} else if (cw_eth_type(p) == CW_ETHERTYPE_IP6 && cw_ipv6_ecn(ip) != 0) {
		cw_ipv6_set_ecn(ip, 3);
		count.marked++;
	}
}

/* Frames that have not left yet. */
static unsigned waiting(const struct side *s, uint64_t now)
{
	unsigned i = s->tail;

	while (i != s->head && s->ring[(i - 1) % SLOTS].leaves_at > now)
		i--;
	return s->tail - i;
}

static void take(struct side *s, struct frame *f, uint64_t now)
{
	unsigned queue = waiting(s, now);

	if (cut) {
		count.cut++;
	} else if (is_lost()) {
		count.lost++;
	} else if (queue >= conf.queue) {
		count.overflowed++;
	} else {
		if (conf.mark > 0 && queue >= conf.mark)
			mark(f->data, f->len);
		f->leaves_at = (s->busy_until > now ? s->busy_until : now) +
			       f->len * conf.ns_an_octet_x1000 / 1000;
		s->busy_until = f->leaves_at;
		f->arrives_at = f->leaves_at + conf.delay_ns;
		s->tail++;
	}
}

static void receive(struct side *s)
{
	unsigned i;

	for (i = 0; i < BATCH && s->tail - s->head < SLOTS; i++) {
		struct frame *f = &s->ring[s->tail % SLOTS];
		ssize_t n = recv(s->in, f->data, FRAME, MSG_DONTWAIT);

		if (n <= 0)
			return;
		f->len = (uint32_t)n;
		take(s, f, now_ns());
	}
}

static void deliver(struct side *s, uint64_t now)
{
	for (; s->head != s->tail && s->ring[s->head % SLOTS].arrives_at <= now; s->head++) {
		struct frame *f = &s->ring[s->head % SLOTS];

		if (send(s->out, f->data, f->len, 0) < 0 && errno == ENOBUFS)
			return;
		count.forwarded++;
	}
}

static void wait_for_more(struct side *s)
{
	struct pollfd fds[2] = {{.fd = s[0].in, .events = POLLIN},
				{.fd = s[1].in, .events = POLLIN}};
	uint64_t at = UINT64_MAX, now = now_ns(), wait = 500000000;
	struct timespec t;
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (s[i].head != s[i].tail && s[i].ring[s[i].head % SLOTS].arrives_at < at)
			at = s[i].ring[s[i].head % SLOTS].arrives_at;
	}
	if (at != UINT64_MAX)
		wait = at > now ? at - now : 0;
	t = (struct timespec){(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
	(void)ppoll(fds, 2, &t, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	static struct side s[2];
	unsigned i;

	if (argc != 9) {
		fprintf(stderr, "usage: relay IF IF DELAY_US LOSS_PERCENT MBIT QUEUE MARK SEED\n");
		return 2;
	}
	conf.delay_ns = strtoull(argv[3], NULL, 10) * 1000;
	conf.loss = strtod(argv[4], NULL);
	if (strtod(argv[5], NULL) > 0)
		conf.ns_an_octet_x1000 = (uint64_t)(8e6 / strtod(argv[5], NULL));
	conf.queue = (unsigned)strtoul(argv[6], NULL, 10);
	conf.mark = (unsigned)strtoul(argv[7], NULL, 10);
	conf.random = (uint32_t)strtoul(argv[8], NULL, 10);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	s[0].in = s[1].out = open_port(argv[1]);
	s[1].in = s[0].out = open_port(argv[2]);
	for (i = 0; i < 2; i++) {
		if ((s[i].ring = calloc(SLOTS, sizeof(struct frame))) == NULL)
			return 2;
	}
	while (!stop) {
		wait_for_more(s);
		for (i = 0; i < 2; i++)
			receive(&s[i]);
		for (i = 0; i < 2; i++)
			deliver(&s[i], now_ns());
	}
	printf("{\"forwarded\":%llu,\"lost\":%llu,\"cut\":%llu,\"overflowed\":%llu,\"marked\":%llu}"
	       "\n",
	       count.forwarded, count.lost, count.cut, count.overflowed, count.marked);
	return 0;
}
