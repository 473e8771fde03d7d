/* epnet.c - packets of a software endpoint: a packet socket with a ring of single frames in,
 * sendmmsg out. Blocks of frames (TPACKET_V3, link.c) would hold each packet for milliseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/epnet.h"

#define ETHERTYPE_UB 0x88b6
#define UB_HEAD      10 /* LPH, CCI, NPI */
#define SLOTS        2048u
#define SLOT_MAX     16384u
#define BLOCK        65536u
#define ROOM         (8192 + 256)

struct epnet {
	struct epnet_opts o;
	char ifname[32];
	int rx, claim;
	uint8_t *ring;
	size_t ring_len;
	unsigned slot, at;
	bool held; /* ring slot `at` is in the caller's hands */
	uint64_t drops;
	struct link_tx *tx;
	uint8_t *batch;
	uint8_t head[ETH_HLEN];
};

static int fail(struct epnet *n, const char *what, char err[LINK_ERROR_MAX])
{
	int e = errno;

	(void)snprintf(err, LINK_ERROR_MAX, "%s: %s: %s%s", n->ifname, what, strerror(e),
		       e == EPERM ? " (packet sockets need root or CAP_NET_RAW)" : "");
	return -1;
}

static int protocol(const struct epnet *n)
{
	if (n->o.native)
		return ETHERTYPE_UB;
	return n->o.ip_version == 4 ? ETH_P_IP : ETH_P_IPV6;
}

/* Nothing but UDP to our port comes up; options and extension headers are not for us. */
static int filter_udp(struct epnet *n)
{
	bool v4 = n->o.ip_version == 4;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, v4 ? ETH_HLEN + 9 : ETH_HLEN + 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, v4 ? ETH_HLEN + 22 : ETH_HLEN + 42),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n->o.udp_port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(n->rx, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int make_ring(struct epnet *n, char err[LINK_ERROR_MAX])
{
	struct tpacket_req req = {0};
	int version = TPACKET_V2;

	for (n->slot = 2048; n->slot < SLOT_MAX && n->slot < epnet_mtu(n) + 256;)
		n->slot *= 2;
	req.tp_frame_size = n->slot;
	req.tp_frame_nr = SLOTS;
	req.tp_block_size = BLOCK;
	req.tp_block_nr = SLOTS / (BLOCK / n->slot);
	n->ring_len = (size_t)SLOTS * n->slot;
	if (setsockopt(n->rx, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(n->rx, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return fail(n, "receive ring", err);
	n->ring = mmap(NULL, n->ring_len, PROT_READ | PROT_WRITE, MAP_SHARED, n->rx, 0);
	if (n->ring == MAP_FAILED) {
		n->ring = NULL;
		return fail(n, "mapping the receive ring", err);
	}
	return 0;
}

static int open_rx(struct epnet *n, char err[LINK_ERROR_MAX])
{
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = htons((uint16_t)protocol(n)),
				 .sll_ifindex = (int)if_nametoindex(n->ifname)};
	struct packet_mreq promisc = {.mr_ifindex = sa.sll_ifindex, .mr_type = PACKET_MR_PROMISC};

	if ((n->rx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return fail(n, "packet socket", err);
	if (!n->o.native && filter_udp(n) < 0)
		return fail(n, "packet filter", err);
	if (make_ring(n, err) < 0)
		return -1;
	if (n->o.native &&
	    setsockopt(n->rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) < 0)
		return fail(n, "promiscuous mode", err);
	if (bind(n->rx, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return fail(n, "bind", err);
	return 0;
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
static int claim_port(struct epnet *n, char err[LINK_ERROR_MAX])
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
		(void)inet_ntop(family, n->o.src, text, sizeof(text));
		(void)snprintf(what, sizeof(what), "address %s, UDP port %u", text, n->o.udp_port);
		return fail(n, what, err);
	}
	return 0;
}

/* ---- Open and close ------------------------------------------------------------------------ */

static int setup(struct epnet *n, char err[LINK_ERROR_MAX])
{
	if (link_tx_open(&n->tx, n->ifname, err) < 0)
		return -1;
	if ((n->batch = malloc((size_t)LINK_BATCH * (ETH_HLEN + ROOM))) == NULL)
		return fail(n, "memory", err);
	memset(n->head, 0xff, 6);
	link_tx_mac(n->tx, n->head + 6);
	n->head[12] = (uint8_t)(protocol(n) >> 8);
	n->head[13] = (uint8_t)protocol(n);
	if (!n->o.native && claim_port(n, err) < 0)
		return -1;
	return open_rx(n, err);
}

int epnet_open(struct epnet **out, const struct epnet_opts *o, char err[LINK_ERROR_MAX])
{
	struct epnet *n = calloc(1, sizeof(*n));

	if (n == NULL) {
		(void)snprintf(err, LINK_ERROR_MAX, "out of memory");
		return -1;
	}
	n->o = *o;
	n->rx = n->claim = -1;
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
	if (n->ring != NULL)
		(void)munmap(n->ring, n->ring_len);
	if (n->rx >= 0)
		(void)close(n->rx);
	if (n->claim >= 0)
		(void)close(n->claim);
	link_tx_close(n->tx);
	free(n->batch);
	free(n);
}

unsigned epnet_mtu(const struct epnet *n)
{
	return link_tx_mtu(n->tx);
}

int epnet_fd(const struct epnet *n)
{
	return n->rx;
}

void epnet_set_hop(struct epnet *n, const uint8_t mac[6])
{
	memcpy(n->head, mac, 6);
}

/* ---- Packets -------------------------------------------------------------------------------- */

/* Is it for our address and port? What is wrong with it is the endpoint's business. */
static bool is_ours(const struct epnet *n, const uint8_t *p, size_t len)
{
	size_t ip = n->o.native ? UB_HEAD : 0, head = n->o.ip_version == 4 ? 20 : 40;
	size_t dst = n->o.ip_version == 4 ? 16 : 24, alen = n->o.ip_version == 4 ? 4 : 16;

	if (len < ip + head + 8 || p[ip] >> 4 != n->o.ip_version)
		return false;
	return memcmp(p + ip + dst, n->o.src, alen) == 0;
}

static struct tpacket2_hdr *slot(const struct epnet *n)
{
	return (struct tpacket2_hdr *)(void *)(n->ring + (size_t)n->at * n->slot);
}

static void give_back(struct epnet *n)
{
	__atomic_store_n(&slot(n)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	n->at = (n->at + 1) % SLOTS;
	n->held = false;
}

bool epnet_recv(struct epnet *n, const uint8_t **packet, size_t *len)
{
	struct tpacket2_hdr *h;
	struct sockaddr_ll *from;

	if (n->held)
		give_back(n);
	while (h = slot(n), __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) {
		from = (struct sockaddr_ll *)(void *)((uint8_t *)h +
						      TPACKET_ALIGN(sizeof(struct tpacket2_hdr)));
		*packet = (uint8_t *)h + h->tp_mac + ETH_HLEN;
		*len = h->tp_snaplen > ETH_HLEN ? h->tp_snaplen - ETH_HLEN : 0;
		n->held = true;
		if ((from->sll_pkttype == PACKET_HOST || n->o.native) &&
		    from->sll_pkttype != PACKET_OUTGOING && is_ours(n, *packet, *len))
			return true;
		give_back(n);
	}
	return false;
}

uint8_t *epnet_room(struct epnet *n, unsigned i, size_t *size)
{
	*size = ROOM;
	return n->batch + (size_t)i * (ETH_HLEN + ROOM) + ETH_HLEN;
}

int epnet_send(struct epnet *n, const size_t *len, unsigned count, char err[LINK_ERROR_MAX])
{
	struct link_frame f[LINK_BATCH];
	unsigned i;

	for (i = 0; i < count; i++) {
		f[i].data = n->batch + (size_t)i * (ETH_HLEN + ROOM);
		f[i].len = ETH_HLEN + len[i];
		memcpy(f[i].data, n->head, ETH_HLEN);
	}
	return link_tx_send(n->tx, f, count, err);
}

uint64_t epnet_drops(struct epnet *n)
{
	struct tpacket_stats s = {0};
	socklen_t len = sizeof(s);

	/* Reading sets the kernel's counter to zero. */
	if (getsockopt(n->rx, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		n->drops += s.tp_drops;
	return n->drops;
}
