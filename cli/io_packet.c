/* io_packet.c - packet sockets: a ring of single frames in (TPACKET_V2), sendmmsg out.
 *
 * Blocks of frames (TPACKET_V3, link.c) would hold each frame for milliseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/io_ops.h"
#include "cli/link.h"

#define SLOTS    2048u
#define SLOT_MAX 16384u
#define BLOCK    65536u

struct packet {
	struct link_tx *tx;
	int rx;
	uint8_t *ring, *batch;
	size_t ring_len;
	unsigned slot, at,
		held; /* octets of a slot; the next one to be read; read ones before it */
	uint64_t drops;
};

static int fail(struct io *io, const char *what, char err[IO_ERROR_MAX])
{
	int e = errno;

	(void)snprintf(err, IO_ERROR_MAX, "%.100s: %s: %s%s", io->device, what, strerror(e),
		       e == EPERM ? " (packet sockets need root or CAP_NET_RAW)" : "");
	return -1;
}

/* ---- Open and close ------------------------------------------------------------------------ */

/* Nothing but UDP to our ports comes up; options and extension headers are not for us. */
static int filter_udp(struct io *io, int fd)
{
	bool v4 = io->o.ethertype == ETH_P_IP;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, v4 ? ETH_HLEN + 9 : ETH_HLEN + 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, v4 ? ETH_HLEN + 22 : ETH_HLEN + 42),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, io->o.udp_first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, io->o.udp_last, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int make_ring(struct io *io, struct packet *p, char err[IO_ERROR_MAX])
{
	struct tpacket_req req = {0};
	int version = TPACKET_V2;

	for (p->slot = 2048; p->slot < SLOT_MAX && p->slot < io->mtu + 256;)
		p->slot *= 2;
	req.tp_frame_size = p->slot;
	req.tp_frame_nr = SLOTS;
	req.tp_block_size = BLOCK;
	req.tp_block_nr = SLOTS / (BLOCK / p->slot);
	p->ring_len = (size_t)SLOTS * p->slot;
	if (setsockopt(p->rx, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(p->rx, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return fail(io, "receive ring", err);
	p->ring = mmap(NULL, p->ring_len, PROT_READ | PROT_WRITE, MAP_SHARED, p->rx, 0);
	if (p->ring == MAP_FAILED) {
		p->ring = NULL;
		return fail(io, "mapping the receive ring", err);
	}
	return 0;
}

static int open_rx(struct io *io, struct packet *p, char err[IO_ERROR_MAX])
{
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(io->o.ethertype),
				 .sll_ifindex = (int)if_nametoindex(io->device)};
	struct packet_mreq promisc = {.mr_ifindex = sa.sll_ifindex, .mr_type = PACKET_MR_PROMISC};

	if ((p->rx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return fail(io, "packet socket", err);
	if (io->o.udp_last != 0 && filter_udp(io, p->rx) < 0)
		return fail(io, "packet filter", err);
	if (make_ring(io, p, err) < 0)
		return -1;
	if (io->o.promiscuous &&
	    setsockopt(p->rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) < 0)
		return fail(io, "promiscuous mode", err);
	if (bind(p->rx, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return fail(io, "bind", err);
	io->fd = p->rx;
	return 0;
}

static int packet_open(struct io *io, char err[IO_ERROR_MAX])
{
	struct packet *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return fail(io, "memory", err);
	io->priv = p;
	p->rx = -1;
	if (link_tx_open(&p->tx, io->device, err) < 0)
		return -1;
	link_tx_mac(p->tx, io->mac);
	io->mtu = link_tx_mtu(p->tx);
	if ((p->batch = malloc((size_t)IO_BURST * io->o.frame_max)) == NULL)
		return fail(io, "memory", err);
	return open_rx(io, p, err);
}

static void packet_close(struct io *io)
{
	struct packet *p = io->priv;

	if (p == NULL)
		return;
	if (p->ring != NULL)
		(void)munmap(p->ring, p->ring_len);
	if (p->rx >= 0)
		(void)close(p->rx);
	link_tx_close(p->tx);
	free(p->batch);
	free(p);
}

/* ---- Frames -------------------------------------------------------------------------------- */

static struct tpacket2_hdr *slot(const struct packet *p, unsigned i)
{
	return (struct tpacket2_hdr *)(void *)(p->ring + (size_t)(i % SLOTS) * p->slot);
}

static void give_back(struct packet *p)
{
	for (; p->held > 0; p->held--)
		__atomic_store_n(&slot(p, p->at - p->held)->tp_status, TP_STATUS_KERNEL,
				 __ATOMIC_RELEASE);
}

static unsigned packet_recv(struct io *io, struct io_frame *f, unsigned n)
{
	struct packet *p = io->priv;
	struct tpacket2_hdr *h;
	struct sockaddr_ll *from;
	unsigned got = 0;

	give_back(p);
	/* At most half a ring of frames that are not for us in one call. */
	while (got < n && p->held < SLOTS / 2 &&
	       (h = slot(p, p->at),
		__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
		p->at++;
		p->held++;
		from = (void *)((uint8_t *)h + TPACKET_ALIGN(sizeof(struct tpacket2_hdr)));
		if (from->sll_pkttype == PACKET_OUTGOING || h->tp_status & TP_STATUS_VLAN_VALID ||
		    (from->sll_pkttype != PACKET_HOST && !io->o.promiscuous))
			continue;
		f[got++] = (struct io_frame){(uint8_t *)h + h->tp_mac, h->tp_snaplen};
	}
	return got;
}

static uint8_t *packet_room(struct io *io, unsigned i)
{
	struct packet *p = io->priv;

	return p->batch + (size_t)i * io->o.frame_max;
}

static int packet_send(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX])
{
	struct packet *p = io->priv;
	struct link_frame f[IO_BURST];
	unsigned i;

	_Static_assert(IO_BURST <= LINK_BATCH, "a burst is one batch");
	for (i = 0; i < n; i++)
		f[i] = (struct link_frame){packet_room(io, i), len[i]};
	return link_tx_send(p->tx, f, n, err);
}

static uint64_t packet_drops(struct io *io)
{
	struct packet *p = io->priv;
	struct tpacket_stats s = {0};
	socklen_t len = sizeof(s);

	/* Reading sets the kernel's counter to zero. */
	if (getsockopt(p->rx, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		p->drops += s.tp_drops;
	return p->drops;
}

const struct io_ops io_packet = {
	.open = packet_open,
	.close = packet_close,
	.recv = packet_recv,
	.room = packet_room,
	.send = packet_send,
	.drops = packet_drops,
};
