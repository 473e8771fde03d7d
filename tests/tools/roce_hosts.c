/* roce_hosts.c - RoCEv2 hosts for labs. The sender is a model of DCQCN: Linux's rdma_rxe ignores
 * CNPs, so nothing else here would slow down. No memory is moved, and what is lost stays lost.
 *
 * roce_hosts send IF MAC SECONDS MBIT PAYLOAD FLOW...   RC packets, paced, PSNs from 0
 * roce_hosts recv IF MAC GAP_US FLOW...                 ACKs; CNPs for CE (GAP_US 0: none), until
 *                                                       SIGTERM
 *
 * FLOW is SENDER,RECEIVER,SOURCE-QP,DESTINATION-QP. A flow begins with a fifth of a second at a
 * twentieth of MBIT, as an application's first messages would. Both print what happened as JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/in.h>
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
#include "causeway/cnproxy.h"
#include "causeway/cnrelay.h"
#include "causeway/dcqcn.h"
#include "causeway/icrc.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"

enum { FLOWS = 64, FRAME = 9700, CE = 3, ECT0 = 2, CNP_TOS = 48 << 2 | ECT0 };
#define WARM_UP 200000000u /* ns */

struct flow {
	uint32_t src, dst, sqpn, dqpn, psn;
	uint16_t ip_id;
	struct cw_dcqcn rate;
	uint64_t next, cnp_after;
	unsigned long long data, marked, acks, cnps, cuts;
};

static struct {
	int fd;
	uint8_t eth[CW_SIZE_ETH];
	struct flow flow[FLOWS];
	unsigned flows, payload;
	uint64_t gap, start;
	unsigned long long strays; /* CNPs for a queue pair that sends nothing */
} host;

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "roce_hosts: %s: %s\n", what, why);
	exit(2);
}

/* ---- Packets ------------------------------------------------------------------------------- */

static void transmit(uint8_t *frame, uint32_t len)
{
	if (send(host.fd, frame, len, 0) < 0 && errno != ENOBUFS && errno != EAGAIN)
		fail("send", strerror(errno));
}

/* IPv4, UDP and BTH of a packet with `data` octets behind its BTH; its ICRC comes with put(). */
static uint8_t *begin(uint8_t *frame, const struct flow *f, bool back, uint32_t data)
{
	uint8_t *ip = frame + CW_SIZE_ETH, *udp = ip + CW_SIZE_IPV4, *bth = udp + CW_SIZE_UDP;
	uint32_t len = CW_SIZE_UDP + CW_SIZE_BTH + data + CW_ICRC_LEN;

	memcpy(frame, host.eth, CW_SIZE_ETH);
	memset(ip, 0, CW_SIZE_IPV4 + len);
	ip[0] = 0x45;
	cw_ipv4_set_ecn(ip, ECT0);
	cw_ipv4_set_length(ip, CW_SIZE_IPV4 + len);
	cw_ipv4_set_id(ip, f->ip_id);
	cw_ipv4_set_df(ip, 1);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_put_be32(ip + 12, back ? f->dst : f->src);
	cw_put_be32(ip + 16, back ? f->src : f->dst);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(udp, cw_roce_sport(f->sqpn, f->dqpn));
	cw_udp_set_dport(udp, CW_ROCE_PORT);
	cw_udp_set_length(udp, len);
	cw_bth_set_pkey(bth, 0xffff);
	cw_bth_set_dqpn(bth, back ? f->sqpn : f->dqpn);
	return bth;
}

static void finish(uint8_t *frame)
{
	uint8_t *ip = frame + CW_SIZE_ETH;
	uint32_t len = cw_ipv4_length(ip);

	if (cw_icrc_put(ip, len, &cw_icrc_rocev2, CW_ICRC_LE) != CW_OK)
		fail("ICRC", "not a packet");
	transmit(frame, CW_SIZE_ETH + len);
}

static void send_data(struct flow *f)
{
	static uint8_t frame[FRAME];
	uint8_t *bth;

	f->ip_id++;
	bth = begin(frame, f, false, host.payload);
	cw_bth_set_opcode(bth, CW_OP_SEND_ONLY);
	cw_bth_set_ackreq(bth, 1);
	cw_bth_set_psn(bth, f->psn);
	f->psn = (f->psn + 1) & 0xffffff;
	f->data++;
	finish(frame);
}

static void send_ack(struct flow *f, uint32_t psn)
{
	uint8_t frame[256], *bth = begin(frame, f, true, CW_SIZE_AETH);

	cw_bth_set_opcode(bth, CW_BTH_RC_ACK);
	cw_bth_set_psn(bth, psn);
	cw_aeth_set_value(bth + CW_SIZE_BTH, 0x1f);
	cw_aeth_set_msn(bth + CW_SIZE_BTH, psn + 1);
	f->acks++;
	finish(frame);
}

static void send_cnp(struct flow *f)
{
	uint8_t frame[CW_SIZE_ETH + CW_CNP_MAX], o[2][4];
	struct cw_cnp c = {.tos = CNP_TOS, .ttl = 64, .pkey = 0xffff, .dqpn = f->sqpn};
	int len;

	cw_put_be32(o[0], f->dst);
	cw_put_be32(o[1], f->src);
	c.src = cw_gid_of(4, o[0]);
	c.dst = cw_gid_of(4, o[1]);
	memcpy(frame, host.eth, CW_SIZE_ETH);
	len = cw_cnp_build(&c, frame + CW_SIZE_ETH, CW_CNP_MAX);
	if (len < 0)
		fail("CNP", "cannot be built");
	f->cnps++;
	transmit(frame, CW_SIZE_ETH + (uint32_t)len);
}

/* ---- What arrives --------------------------------------------------------------------------- */

/* A QPN of 0 fits every flow. */
static struct flow *find(uint32_t src, uint32_t dst, uint32_t sqpn, uint32_t dqpn)
{
	unsigned i;

	for (i = 0; i < host.flows; i++) {
		struct flow *f = &host.flow[i];

		if (f->src == src && f->dst == dst && (sqpn == 0 || f->sqpn == sqpn) &&
		    (dqpn == 0 || f->dqpn == dqpn))
			return f;
	}
	return NULL;
}

static void at_sender(const uint8_t *ip, const uint8_t *bth)
{
	struct flow *f = find(cw_be32(ip + 16), cw_be32(ip + 12), cw_bth_dqpn(bth), 0);
	bool cnp = cw_bth_opcode(bth) == CW_BTH_CNP;

	if (f == NULL) {
		host.strays += cnp;
		return;
	}
	if (!cnp) {
		f->acks++;
		return;
	}
	f->cnps++;
	f->cuts += cw_dcqcn_cut(&f->rate, 0.5, now_ns());
}

static void at_receiver(const uint8_t *ip, const uint8_t *bth)
{
	struct flow *f = find(cw_be32(ip + 12), cw_be32(ip + 16), 0, cw_bth_dqpn(bth));
	uint64_t now = now_ns();

	if (f == NULL || cw_bth_opcode(bth) != CW_OP_SEND_ONLY)
		return;
	f->data++;
	if (cw_ipv4_ecn(ip) == CE) {
		f->marked++;
		if (host.gap != 0 && now >= f->cnp_after) {
			f->cnp_after = now + host.gap;
			send_cnp(f);
		}
	}
	if (cw_bth_ackreq(bth))
		send_ack(f, cw_bth_psn(bth));
}

static void receive(void (*take)(const uint8_t *ip, const uint8_t *bth))
{
	static uint8_t frame[FRAME];
	const uint8_t *ip = frame + CW_SIZE_ETH, *udp = ip + CW_SIZE_IPV4;
	ssize_t n;

	while ((n = recv(host.fd, frame, FRAME, MSG_DONTWAIT)) > 0) {
		if (n >= CW_SIZE_ETH + CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_BTH &&
		    cw_eth_type(frame) == CW_ETHERTYPE_IP4 && ip[0] == 0x45 &&
		    cw_ipv4_proto(ip) == CW_IPPROTO_UDP && cw_udp_dport(udp) == CW_ROCE_PORT)
			take(ip, udp + CW_SIZE_UDP);
	}
}

/* ---- The two hosts -------------------------------------------------------------------------- */

static void sleep_until(uint64_t at)
{
	struct pollfd p = {.fd = host.fd, .events = POLLIN};
	uint64_t now = now_ns(), wait = at > now ? at - now : 0;
	struct timespec t = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};

	(void)ppoll(&p, 1, &t, NULL);
}

/* A late sender catches up a few packets, as a NIC's scheduler would not have to. */
static void pace(struct flow *f, uint64_t now)
{
	uint32_t octets = CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_BTH + host.payload + CW_ICRC_LEN;
	double rate = now - host.start < WARM_UP ? f->rate.rate / 20 : f->rate.rate;
	uint64_t each = (uint64_t)(8e9 * octets / rate);

	cw_dcqcn_timers(&f->rate, now);
	if (now < f->next)
		return;
	send_data(f);
	cw_dcqcn_sent(&f->rate, octets);
	f->next += each;
	if (f->next + 4 * each < now)
		f->next = now;
}

static void run_sender(uint64_t ns, uint64_t bits)
{
	/* The paper's, at a rate some thousand times slower. */
	struct cw_dcqcn_opts o = {.line_rate = bits,
				  .min_rate = bits / 100,
				  .ai = bits / 50,
				  .hai = bits / 10,
				  .octets = 10000000,
				  .timer = 20000000,
				  .alpha_timer = 20000000,
				  .gap = 20000000,
				  .alpha = 1,
				  .g = 4,
				  .f = 5};
	uint64_t now, at;
	unsigned i;

	host.start = now_ns();
	for (i = 0; i < host.flows; i++) {
		cw_dcqcn_init(&host.flow[i].rate, &o);
		host.flow[i].next = host.start + i * 1000000;
	}
	while (!stop && (now = now_ns()) < host.start + ns) {
		receive(at_sender);
		for (i = 0, at = now + 10000000; i < host.flows; i++) {
			pace(&host.flow[i], now);
			at = host.flow[i].next < at ? host.flow[i].next : at;
		}
		sleep_until(at);
	}
}

static void run_receiver(void)
{
	while (!stop) {
		sleep_until(now_ns() + 100000000);
		receive(at_receiver);
	}
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void open_interface(const char *name, const char *mac)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_IP),
				 .sll_ifindex = (int)if_nametoindex(name)};
	const struct ether_addr *to = ether_aton(mac);
	struct sockaddr_ll own;
	socklen_t n = sizeof(own);
	int on = 1, size = 16 << 20;

	host.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (host.fd < 0 || at.sll_ifindex == 0 || bind(host.fd, (void *)&at, sizeof(at)) < 0 ||
	    getsockname(host.fd, (void *)&own, &n) < 0)
		fail(name, strerror(errno));
	if (to == NULL)
		fail(mac, "not a link address");
	(void)setsockopt(host.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	(void)setsockopt(host.fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	memcpy(host.eth, to, 6);
	memcpy(host.eth + 6, own.sll_addr, 6);
	cw_eth_set_type(host.eth, CW_ETHERTYPE_IP4);
}

/* So that the kernel does not answer with "port unreachable". */
static void hold_port(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(CW_ROCE_PORT)};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 0;

	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (s < 0 || bind(s, (void *)&any, sizeof(any)) < 0)
		fail("UDP port 4791", strerror(errno));
}

static void add_flow(const char *text)
{
	struct flow *f = &host.flow[host.flows];
	char a[2][16];
	struct in_addr in[2];

	if (host.flows == FLOWS)
		fail(text, "too many flows");
	if (sscanf(text, "%15[^,],%15[^,],%u,%u", a[0], a[1], &f->sqpn, &f->dqpn) != 4 ||
	    inet_pton(AF_INET, a[0], &in[0]) != 1 || inet_pton(AF_INET, a[1], &in[1]) != 1)
		fail(text, "not SENDER,RECEIVER,SOURCE-QP,DESTINATION-QP");
	f->src = ntohl(in[0].s_addr);
	f->dst = ntohl(in[1].s_addr);
	host.flows++;
}

static void report(void)
{
	unsigned i;

	printf("{\"strays\":%llu,\"flows\":[", host.strays);
	for (i = 0; i < host.flows; i++) {
		const struct flow *f = &host.flow[i];

		printf("%s{\"sqpn\":%u,\"dqpn\":%u,\"data\":%llu,\"marked\":%llu,\"acks\":%llu,"
		       "\"cnps\":%llu,\"cuts\":%llu}",
		       i == 0 ? "" : ",", f->sqpn, f->dqpn, f->data, f->marked, f->acks, f->cnps,
		       f->cuts);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	bool sends = argc > 1 && strcmp(argv[1], "send") == 0;
	int i, first = sends ? 7 : 5;

	if (argc <= first || (!sends && strcmp(argv[1], "recv") != 0)) {
		fprintf(stderr, "usage: roce_hosts send IF MAC SECONDS MBIT PAYLOAD FLOW...\n"
				"       roce_hosts recv IF MAC GAP_US FLOW...\n");
		return 2;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (i = first; i < argc; i++)
		add_flow(argv[i]);
	open_interface(argv[2], argv[3]);
	hold_port();
	if (sends) {
		host.payload = (unsigned)strtoul(argv[6], NULL, 10) & ~3u;
		if (host.payload == 0 || host.payload > 9000 || strtod(argv[5], NULL) < 0.1)
			fail("payload or rate", "out of range");
		run_sender((uint64_t)(strtod(argv[4], NULL) * 1e9),
			   (uint64_t)(strtod(argv[5], NULL) * 1e6));
	} else {
		host.gap = strtoull(argv[4], NULL, 10) * 1000;
		run_receiver();
	}
	report();
	return 0;
}
