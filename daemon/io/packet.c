/* packet.c - ports of Linux interfaces: packet:IFNAME[,frames=N], an AF_PACKET driver of our own.
 *
 * Receive is a TPACKET_V2 ring a worker (PACKET_FANOUT spreads flows over them): unlike V3 it hands
 * over frames at once, and it carries the real TPID of a tag that the kernel took out, and whether
 * a local sender left a checksum to the device. Transmit is sendmmsg past the queueing discipline.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include "daemon/io/csum.h"
#include "daemon/io/port.h"

#define BLOCK_SIZE     (256u * 1024)
#define FRAME_SIZE     (unsigned)TPACKET_ALIGN(TPACKET2_HDRLEN + 32 + CW_MAX_FRAME)
#define FRAMES_A_BLOCK (BLOCK_SIZE / FRAME_SIZE)
#define FRAMES_DEFAULT 4096u
#define FRAMES_MAX     65536u

struct rx_queue {
	int fd;
	uint8_t *ring;
	unsigned nframes, head;
	uint64_t truncated, nobuf; /* written by the worker */
	uint64_t missed; /* read and reset by the kernel's PACKET_STATISTICS: control only */
};

struct tx_queue {
	int fd;
	uint64_t errors;
};

struct packet {
	int ifindex;
	char ifname[IF_NAMESIZE];
	bool promisc;
	unsigned nframes;
	struct rx_queue rx[CW_MAX_WORKERS];
	struct tx_queue tx[CW_MAX_WORKERS];
};

static struct tpacket2_hdr *frame_at(const struct rx_queue *q, unsigned i)
{
	return (struct tpacket2_hdr *)(q->ring + (size_t)(i / FRAMES_A_BLOCK) * BLOCK_SIZE +
				       (size_t)(i % FRAMES_A_BLOCK) * FRAME_SIZE);
}

static inline unsigned next_frame(const struct rx_queue *q, unsigned i)
{
	return i + 1 == q->nframes ? 0 : i + 1;
}

static inline uint32_t frame_status(const struct tpacket2_hdr *h)
{
	return __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
}

/* Frames that wait, at most n. */
static uint16_t count_ready(const struct rx_queue *q, uint16_t n)
{
	unsigned i = q->head;
	uint16_t ready;

	for (ready = 0; ready < n; ready++) {
		if ((frame_status(frame_at(q, i)) & TP_STATUS_USER) == 0)
			break;
		i = next_frame(q, i);
	}
	return ready;
}

/* Copy one frame out of the ring; false if it had not fitted in there. */
static bool take_frame(const struct tpacket2_hdr *h, struct rte_mbuf *m)
{
	const uint8_t *data = (const uint8_t *)h + h->tp_mac;
	uint32_t status = h->tp_status;

	if (h->tp_snaplen < h->tp_len || h->tp_snaplen > rte_pktmbuf_tailroom(m))
		return false;
	rte_memcpy(rte_pktmbuf_mtod(m, void *), data, h->tp_snaplen);
	m->data_len = (uint16_t)h->tp_snaplen;
	m->pkt_len = h->tp_snaplen;
	if (status & TP_STATUS_VLAN_VALID) {
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = h->tp_vlan_tci;
		m->vlan_tci_outer =
			status & TP_STATUS_VLAN_TPID_VALID ? h->tp_vlan_tpid : ETH_P_8021Q;
	}
	if (status & TP_STATUS_CSUMNOTREADY)
		cw_csum_complete(rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
	return true;
}

static uint16_t packet_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	struct rx_queue *q = &((struct packet *)p->priv)->rx[queue];
	uint16_t i, out = 0, ready = count_ready(q, n);
	struct tpacket2_hdr *h;

	if (ready == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(cw_io.pool, m, ready) != 0) {
		q->nobuf++; /* the frames stay; when the ring overflows the kernel counts them */
		return 0;
	}
	for (i = 0; i < ready; i++) {
		h = frame_at(q, q->head);
		rte_prefetch0((const uint8_t *)frame_at(q, next_frame(q, q->head)));
		if (take_frame(h, m[i])) {
			m[out++] = m[i];
		} else {
			q->truncated++;
			rte_pktmbuf_free(m[i]);
		}
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		q->head = next_frame(q, q->head);
	}
	return out;
}

/* Errors that concern one frame, or pass: the frame is lost, the next may go. */
static bool frame_error(int err)
{
	return err == EMSGSIZE || err == EINVAL || err == ENOBUFS || err == EIO;
}

static uint16_t packet_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
			  struct cw_tx_refused *refused)
{
	struct tx_queue *q = &((struct packet *)p->priv)->tx[queue];
	struct mmsghdr msg[CW_MAX_BURST];
	struct iovec iov[CW_MAX_BURST];
	uint16_t i, done = 0;
	int rc;

	n = (uint16_t)RTE_MIN(n, CW_MAX_BURST);
	for (i = 0; i < n; i++) {
		iov[i].iov_base = rte_pktmbuf_mtod(m[i], void *);
		iov[i].iov_len = m[i]->data_len;
		msg[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
	}
	while (done < n) {
		rc = sendmmsg(q->fd, msg + done, n - done, MSG_DONTWAIT);
		if (rc > 0) {
			done = (uint16_t)(done + rc);
		} else if (rc < 0 && frame_error(errno)) {
			q->errors++;
			refused->m[refused->n++] = m[done];
			m[done++] = NULL;
		} else if (rc < 0 && errno != EINTR) {
			break;
		}
	}
	rte_pktmbuf_free_bulk(m, done);
	return done;
}

static void packet_stats(const struct cw_port *p, struct cw_port_stats *s)
{
	struct packet *pk = p->priv;
	struct tpacket_stats st;
	socklen_t len;
	unsigned i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < p->nrxq; i++) {
		len = sizeof(st);
		if (getsockopt(pk->rx[i].fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0)
			pk->rx[i].missed += st.tp_drops;
		s->rx_missed += pk->rx[i].missed;
		s->rx_truncated += pk->rx[i].truncated;
		s->rx_nobuf += pk->rx[i].nobuf;
	}
	for (i = 0; i < p->ntxq; i++)
		s->tx_errors += pk->tx[i].errors;
}

static bool packet_link_up(const struct cw_port *p)
{
	const struct packet *pk = p->priv;
	struct ifreq ifr = {0};

	memcpy(ifr.ifr_name, pk->ifname, sizeof(ifr.ifr_name));
	return ioctl(pk->rx[0].fd, SIOCGIFFLAGS, &ifr) == 0 && (ifr.ifr_flags & IFF_RUNNING) != 0;
}

static int set_membership(const struct packet *pk, int option, unsigned short type)
{
	struct packet_mreq mr = {.mr_ifindex = pk->ifindex, .mr_type = type};

	return setsockopt(pk->rx[0].fd, SOL_PACKET, option, &mr, sizeof(mr));
}

static int packet_set_promisc(struct cw_port *p, bool on)
{
	struct packet *pk = p->priv;

	if (pk->promisc == on)
		return 0;
	pk->promisc = on;
	return set_membership(pk, on ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP,
			      PACKET_MR_PROMISC);
}

static void packet_stop_rx(struct cw_port *p)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {.len = 1, .filter = &none};
	struct packet *pk = p->priv;
	unsigned i;

	for (i = 0; i < p->nrxq; i++)
		setsockopt(pk->rx[i].fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int packet_rx_fd(const struct cw_port *p, unsigned queue)
{
	return ((const struct packet *)p->priv)->rx[queue].fd;
}

static void packet_close(struct cw_port *p)
{
	struct packet *pk = p->priv;
	unsigned i;

	for (i = 0; i < CW_MAX_WORKERS; i++) {
		if (pk->rx[i].ring != NULL)
			munmap(pk->rx[i].ring,
			       (size_t)pk->rx[i].nframes / FRAMES_A_BLOCK * BLOCK_SIZE);
		if (pk->rx[i].fd >= 0)
			close(pk->rx[i].fd);
		if (pk->tx[i].fd >= 0)
			close(pk->tx[i].fd);
	}
	free(pk);
}

/* Spread UB packets by IP addresses and UDP source port: the kernel's own flow hash does not know
 * the emulated link. Offsets count from LPH. */
static int set_ub_fanout(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 10), /* IP version */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x60, 8, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 22), /* IPv4 source */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 26), /* IPv4 destination */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 30), /* source port */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_JUMP(BPF_JMP | BPF_JA, 7, 0, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 30), /* IPv6 source, last word */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 46), /* IPv6 destination, last word */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 50), /* source port */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 0x9e3779b1), /* mix; the high bits are good */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog prog = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &prog, sizeof(prog));
}

/* Join the port's group; the first socket asks the kernel for a number nobody else has. */
static int join_fanout(int fd, int *group)
{
	uint32_t type = cw_io.by_ub_flow ? PACKET_FANOUT_CBPF : PACKET_FANOUT_HASH;
	uint32_t arg = type << 16 | (uint32_t)(*group < 0 ? 0 : *group);
	socklen_t len = sizeof(arg);

	if (*group < 0)
		arg |= (uint32_t)PACKET_FANOUT_FLAG_UNIQUEID << 16;
	if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0)
		return -1;
	if (*group >= 0)
		return 0;
	if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &len) < 0)
		return -1;
	*group = (int)(arg & 0xffff);
	return cw_io.by_ub_flow ? set_ub_fanout(fd) : 0;
}

static int bind_to(int fd, int ifindex, uint16_t ethertype)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = ifindex};

	return bind(fd, (struct sockaddr *)&sll, sizeof(sll));
}

static int open_rx(const struct packet *pk, struct rx_queue *q, int *group)
{
	unsigned blocks = (pk->nframes + FRAMES_A_BLOCK - 1) / FRAMES_A_BLOCK;
	struct tpacket_req req = {.tp_block_size = BLOCK_SIZE,
				  .tp_block_nr = blocks,
				  .tp_frame_size = FRAME_SIZE,
				  .tp_frame_nr = blocks * FRAMES_A_BLOCK};
	int version = TPACKET_V2, one = 1;
	void *ring;

	/* Protocol 0: nothing comes in before the ring is there. */
	if ((q->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return -1;
	if (setsockopt(q->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(q->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0 ||
	    setsockopt(q->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return -1;
	q->nframes = req.tp_frame_nr;
	ring = mmap(NULL, (size_t)blocks * BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, q->fd,
		    0);
	if (ring == MAP_FAILED)
		return -1;
	q->ring = ring;
	if (bind_to(q->fd, pk->ifindex, ETH_P_ALL) < 0)
		return -1;
	return cw_io.nworkers > 1 ? join_fanout(q->fd, group) : 0;
}

static int open_tx(const struct packet *pk, struct tx_queue *q)
{
	int one = 1, sndbuf = 8 << 20;

	if ((q->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return -1;
	if (setsockopt(q->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) < 0)
		return -1;
	if (setsockopt(q->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf)) < 0)
		setsockopt(q->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	return bind_to(q->fd, pk->ifindex, 0);
}

static int parse_arg(struct packet *pk, const char *arg, char *why, size_t size)
{
	size_t n = strcspn(arg, ",");
	unsigned long frames = FRAMES_DEFAULT;
	char *end;

	if (n == 0 || n >= sizeof(pk->ifname)) {
		snprintf(why, size, "an interface name of 1 to %zu letters must follow packet:",
			 sizeof(pk->ifname) - 1);
		return CW_E_SYNTAX;
	}
	memcpy(pk->ifname, arg, n);
	if (arg[n] == ',') {
		if (strncmp(arg + n, ",frames=", 8) != 0) {
			snprintf(why, size, "'%s': only frames=N is known", arg + n + 1);
			return CW_E_SYNTAX;
		}
		frames = strtoul(arg + n + 8, &end, 10);
		if (*end != '\0' || frames < 64 || frames > FRAMES_MAX) {
			snprintf(why, size, "frames must be 64 to %u", FRAMES_MAX);
			return CW_E_RANGE;
		}
	}
	pk->nframes = (unsigned)frames;
	pk->ifindex = (int)if_nametoindex(pk->ifname);
	if (pk->ifindex != 0)
		return CW_OK;
	snprintf(why, size, "no interface %s", pk->ifname);
	return CW_E_NAME;
}

static int read_mac(const struct packet *pk, uint8_t mac[6])
{
	struct ifreq ifr = {0};

	memcpy(ifr.ifr_name, pk->ifname, sizeof(ifr.ifr_name));
	if (ioctl(pk->rx[0].fd, SIOCGIFHWADDR, &ifr) < 0)
		return -1;
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return 0;
}

static int open_queues(struct cw_port *p, struct packet *pk)
{
	int group = -1;
	unsigned i;

	p->nrxq = p->ntxq = cw_io.nworkers;
	for (i = 0; i < cw_io.nworkers; i++) {
		if (open_rx(pk, &pk->rx[i], &group) < 0 || open_tx(pk, &pk->tx[i]) < 0)
			return -1;
	}
	/* Neighbour discovery is multicast. */
	if (set_membership(pk, PACKET_ADD_MEMBERSHIP, PACKET_MR_ALLMULTI) < 0)
		return -1;
	return read_mac(pk, p->mac);
}

static int packet_open(struct cw_port *p, const char *arg, char *why, size_t size)
{
	struct packet *pk = calloc(1, sizeof(*pk));
	unsigned i;
	int err;

	if (pk == NULL) {
		snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	for (i = 0; i < CW_MAX_WORKERS; i++)
		pk->rx[i].fd = pk->tx[i].fd = -1;
	p->priv = pk;
	p->tells_tpid = true;
	if ((err = parse_arg(pk, arg, why, size)) == CW_OK && open_queues(p, pk) < 0) {
		err = CW_E_ARG;
		snprintf(why, size, "interface %s: %s%s", pk->ifname, strerror(errno),
			 errno == EPERM ? " (needs root, or CAP_NET_RAW and CAP_NET_ADMIN)" : "");
	}
	if (err < 0)
		packet_close(p);
	return err;
}

const struct cw_port_ops cw_port_packet = {
	.prefix = "packet:",
	.open = packet_open,
	.close = packet_close,
	.rx_burst = packet_rx,
	.tx_burst = packet_tx,
	.stats = packet_stats,
	.link_up = packet_link_up,
	.set_promisc = packet_set_promisc,
	.stop_rx = packet_stop_rx,
	.rx_fd = packet_rx_fd,
};
