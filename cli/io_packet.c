/* io_packet.c - packet sockets with a ring of single frames each way (TPACKET_V2).
 *
 * Blocks of frames (TPACKET_V3, link.c) would hold each frame that comes for milliseconds. Frames
 * that go are written where the device takes them from; sendmmsg copies them once more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
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
#define TX_SLOTS (4u * IO_BURST)
#define FULL_MS  10 /* patience with a full transmit ring */

struct ring {
	uint8_t *at;
	unsigned slots, size; /* octets of a slot */
	unsigned next;        /* slot number, counted on and on */
};

struct packet {
	struct link_tx *tx;
	int rx;
	struct ring in, out;
	unsigned held; /* slots in front of in.next that the caller still reads */
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

/* A ring of slots that hold `octets` and the kernel's header. */
static int make_ring(struct io *io, struct ring *r, int fd, int which, unsigned slots,
		     unsigned octets, char err[IO_ERROR_MAX])
{
	struct tpacket_req req = {0};
	int version = TPACKET_V2;
	void *m;

	for (r->size = 2048; r->size < SLOT_MAX && r->size < octets + 256;)
		r->size *= 2;
	r->slots = slots;
	req.tp_frame_size = r->size;
	req.tp_frame_nr = slots;
	req.tp_block_size = BLOCK;
	req.tp_block_nr = slots / (BLOCK / r->size);
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(fd, SOL_PACKET, which, &req, sizeof(req)) < 0)
		return fail(io, which == PACKET_RX_RING ? "receive ring" : "transmit ring", err);
	m = mmap(NULL, (size_t)slots * r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return fail(io, "mapping a ring", err);
	r->at = m;
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
	if (make_ring(io, &p->in, p->rx, PACKET_RX_RING, SLOTS, io->mtu, err) < 0)
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
	if (io->o.frame_max > SLOT_MAX - 256) {
		errno = EMSGSIZE;
		return fail(io, "frames", err);
	}
	if (make_ring(io, &p->out, link_tx_fd(p->tx), PACKET_TX_RING, TX_SLOTS, io->o.frame_max,
		      err) < 0)
		return -1;
	return open_rx(io, p, err);
}

static void drop_ring(struct ring *r)
{
	if (r->at != NULL)
		(void)munmap(r->at, (size_t)r->slots * r->size);
}

static void packet_close(struct io *io)
{
	struct packet *p = io->priv;

	if (p == NULL)
		return;
	drop_ring(&p->in);
	drop_ring(&p->out);
	if (p->rx >= 0)
		(void)close(p->rx);
	link_tx_close(p->tx);
	free(p);
}

/* ---- Frames -------------------------------------------------------------------------------- */

static struct tpacket2_hdr *slot(const struct ring *r, unsigned i)
{
	return (struct tpacket2_hdr *)(void *)(r->at + (size_t)(i % r->slots) * r->size);
}

static uint32_t status(struct tpacket2_hdr *h)
{
	return __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
}

static void set_status(struct tpacket2_hdr *h, uint32_t s)
{
	__atomic_store_n(&h->tp_status, s, __ATOMIC_RELEASE);
}

static void give_back(struct packet *p)
{
	for (; p->held > 0; p->held--)
		set_status(slot(&p->in, p->in.next - p->held), TP_STATUS_KERNEL);
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
	       (h = slot(&p->in, p->in.next), status(h) & TP_STATUS_USER)) {
		p->in.next++;
		p->held++;
		from = (void *)((uint8_t *)h + TPACKET_ALIGN(sizeof(struct tpacket2_hdr)));
		if (from->sll_pkttype == PACKET_OUTGOING || h->tp_status & TP_STATUS_VLAN_VALID ||
		    (from->sll_pkttype != PACKET_HOST && !io->o.promiscuous))
			continue;
		f[got++] = (struct io_frame){(uint8_t *)h + h->tp_mac, h->tp_snaplen};
	}
	return got;
}

/* The ring is full while the device, or who it handed frames to, has not let go of them. */
static uint8_t *packet_room(struct io *io, unsigned i)
{
	struct packet *p = io->priv;
	struct pollfd room = {.fd = link_tx_fd(p->tx), .events = POLLOUT};
	struct tpacket2_hdr *h = slot(&p->out, p->out.next + i);

	if (status(h) != TP_STATUS_AVAILABLE)
		(void)poll(&room, 1, i == 0 ? FULL_MS : 0);
	if (status(h) != TP_STATUS_AVAILABLE)
		return NULL;
	return (uint8_t *)h + TPACKET_ALIGN(sizeof(*h));
}

static int packet_send(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX])
{
	struct packet *p = io->priv;
	unsigned i;

	for (i = 0; i < n; i++) {
		struct tpacket2_hdr *h = slot(&p->out, p->out.next + i);

		h->tp_len = (uint32_t)len[i];
		set_status(h, TP_STATUS_SEND_REQUEST);
	}
	p->out.next += n;
	/* What it did not take yet it takes the next time. */
	while (send(link_tx_fd(p->tx), NULL, 0, MSG_DONTWAIT) < 0) {
		if (errno == ENOBUFS || errno == EAGAIN)
			(void)usleep(50); /* the queue drains at the device's pace */
		else if (errno != EINTR)
			return fail(io, "send", err);
	}
	return 0;
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
