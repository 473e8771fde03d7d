/* epnet.c - packets of a software endpoint: what is between it and the frames of io.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "causeway/ub2e.h"
#include "causeway/uboe.h"
#include "causeway/wire/eth.h"
#include "cli/clock.h"
#include "cli/epnet.h"

#define ROOM CW_UBOE_PACKET_MAX(8192)

struct epnet {
	struct epnet_opts o;
	char ifname[256];
	struct io *io;
	int claim;
	struct io_frame in[IO_BURST];
	unsigned nin, at; /* frames at hand, and the next one of them */
	bool asks;        /* the head's station is found by asking */
	uint8_t head[ETH_HLEN];
};

static int fail(struct epnet *n, const char *what, char err[IO_ERROR_MAX])
{
	(void)snprintf(err, IO_ERROR_MAX, "%.100s: %s: %s", n->ifname, what, strerror(errno));
	return -1;
}

static uint16_t ethertype(const struct epnet *n)
{
	if (n->o.native)
		return CW_ETHERTYPE_UB;
	return n->o.ip_version == 4 ? ETH_P_IP : ETH_P_IPV6;
}

/* ---- Keeping the kernel quiet -------------------------------------------------------------- */

static int bind_claim(struct epnet *n)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(n->o.udp_port)};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons(n->o.udp_port)};

	if (n->o.ip_version == 4) {
		memcpy(&a4.sin_addr, n->o.src, 4);
		return bind(n->claim, (struct sockaddr *)&a4, sizeof(a4));
	}
	memcpy(&a6.sin6_addr, n->o.src, 16);
	if (n->o.src[0] == 0xfe && (n->o.src[1] & 0xc0) == 0x80)
		a6.sin6_scope_id = if_nametoindex(n->ifname);
	return bind(n->claim, (struct sockaddr *)&a6, sizeof(a6));
}

/* A socket that takes every datagram to our port and throws it away. */
static int claim_port(struct epnet *n, char err[IO_ERROR_MAX])
{
	struct sock_filter drop[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog prog = {1, drop};
	char text[INET6_ADDRSTRLEN], what[INET6_ADDRSTRLEN + 40];
	int one = 1, family = n->o.ip_version == 4 ? AF_INET : AF_INET6;

	if ((n->claim = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0)
		return fail(n, "UDP socket", err);
	(void)setsockopt(n->claim, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (family == AF_INET6)
		(void)setsockopt(n->claim, IPPROTO_UDP, UDP_NO_CHECK6_RX, &one, sizeof(one));
	if (setsockopt(n->claim, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0)
		return fail(n, "packet filter", err);
	if (bind_claim(n) < 0) {
		if (n->o.dpdk && errno == EADDRNOTAVAIL)
			return 0; /* the kernel has nothing to do with the address */
		(void)inet_ntop(family, n->o.src, text, sizeof(text));
		(void)snprintf(what, sizeof(what), "address %s, UDP port %u", text, n->o.udp_port);
		return fail(n, what, err);
	}
	return 0;
}

/* ---- Open and close ------------------------------------------------------------------------ */

static int setup(struct epnet *n, char err[IO_ERROR_MAX])
{
	struct io_opts io = {.device = n->ifname,
			     .dpdk = n->o.dpdk,
			     .ethertype = ethertype(n),
			     .promiscuous = n->o.native,
			     .frame_max = ETH_HLEN + ROOM};

	if (!n->o.native) {
		io.udp_first = io.udp_last = n->o.udp_port;
		io.ip_version = n->o.ip_version;
		memcpy(io.address, n->o.src, 16);
		if (claim_port(n, err) < 0)
			return -1;
	}
	if (io_open(&n->io, &io, err) < 0)
		return -1;
	memset(n->head, 0xff, 6);
	memcpy(n->head + 6, io_mac(n->io), 6);
	n->head[12] = (uint8_t)(io.ethertype >> 8);
	n->head[13] = (uint8_t)io.ethertype;
	return 0;
}

int epnet_open(struct epnet **out, const struct epnet_opts *o, char err[IO_ERROR_MAX])
{
	struct epnet *n = calloc(1, sizeof(*n));

	if (n == NULL) {
		(void)snprintf(err, IO_ERROR_MAX, "out of memory");
		return -1;
	}
	n->o = *o;
	n->claim = -1;
	(void)snprintf(n->ifname, sizeof(n->ifname), "%s", o->ifname);
	if (setup(n, err) < 0) {
		epnet_close(n);
		return -1;
	}
	*out = n;
	return 0;
}

void epnet_close(struct epnet *n)
{
	if (n == NULL)
		return;
	io_close(n->io);
	if (n->claim >= 0)
		(void)close(n->claim);
	free(n);
}

unsigned epnet_mtu(const struct epnet *n)
{
	return io_mtu(n->io);
}

int epnet_fd(const struct epnet *n)
{
	return io_fd(n->io);
}

void epnet_set_hop(struct epnet *n, const uint8_t mac[6])
{
	memcpy(n->head, mac, 6);
}

int epnet_find_hop(struct epnet *n, const uint8_t *hop, int timeout_ms, char err[IO_ERROR_MAX])
{
	uint64_t until = clock_now_ns() + (uint64_t)timeout_ms * 1000000;
	char text[INET6_ADDRSTRLEN];
	const uint8_t *packet;
	size_t len;

	io_ask(n->io, hop);
	n->asks = true;
	while (io_hop(n->io, n->head) != 1) {
		while (epnet_recv(n, &packet, &len))
			;
		if (clock_now_ns() < until) {
			(void)usleep(100);
			continue;
		}
		(void)inet_ntop(n->o.ip_version == 4 ? AF_INET : AF_INET6, hop, text, sizeof(text));
		(void)snprintf(
			err, IO_ERROR_MAX,
			"%.100s: %s does not answer %s; if a router is between, name it: --hop",
			n->ifname, text, n->o.ip_version == 4 ? "ARP" : "neighbour discovery");
		return -1;
	}
	return 0;
}

/* ---- Packets -------------------------------------------------------------------------------- */

/* Is it for our address and port? What is wrong with it is the endpoint's business. */
static bool is_ours(const struct epnet *n, const uint8_t *p, size_t len)
{
	size_t ip = n->o.native ? CW_UB_PREFIX : 0, head = n->o.ip_version == 4 ? 20 : 40;
	size_t dst = n->o.ip_version == 4 ? 16 : 24, alen = n->o.ip_version == 4 ? 4 : 16;

	if (len < ip + head + 8 || p[ip] >> 4 != n->o.ip_version)
		return false;
	return memcmp(p + ip + dst, n->o.src, alen) == 0;
}

bool epnet_recv(struct epnet *n, const uint8_t **packet, size_t *len)
{
	const struct io_frame *f;

	do {
		if (n->at == n->nin) {
			n->at = 0;
			n->nin = io_recv(n->io, n->in, IO_BURST);
			if (n->nin == 0)
				return false;
		}
		f = &n->in[n->at++];
		*packet = f->data + ETH_HLEN;
		*len = f->len > ETH_HLEN ? f->len - ETH_HLEN : 0;
	} while (!is_ours(n, *packet, *len));
	return true;
}

uint8_t *epnet_room(struct epnet *n, unsigned i, size_t *size)
{
	uint8_t *frame = io_room(n->io, i);

	*size = ROOM;
	return frame != NULL ? frame + ETH_HLEN : NULL;
}

int epnet_send(struct epnet *n, const size_t *len, unsigned count, char err[IO_ERROR_MAX])
{
	size_t frame_len[IO_BURST];
	unsigned i;

	if (n->asks)
		(void)io_hop(n->io, n->head);
	for (i = 0; i < count; i++) {
		memcpy(io_room(n->io, i), n->head, ETH_HLEN);
		frame_len[i] = ETH_HLEN + len[i];
	}
	return io_send(n->io, frame_len, count, err);
}

uint64_t epnet_drops(struct epnet *n)
{
	return io_drops(n->io);
}
