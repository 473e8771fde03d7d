/* link.c - frames to and from a network interface: sendmmsg out, a TPACKET_V3 ring in. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/link.h"

static int fail(char err[LINK_ERROR_MAX], const char *what, const char *ifname)
{
	int e = errno;

	(void)snprintf(err, LINK_ERROR_MAX, "%s: %s: %s%s", ifname, what, strerror(e),
		       e == EPERM ? " (packet sockets need root or CAP_NET_RAW)" : "");
	return -1;
}

static int ask(int fd, const char *ifname, unsigned long request, struct ifreq *ifr)
{
	memset(ifr, 0, sizeof(*ifr));
	(void)snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", ifname);
	return ioctl(fd, request, ifr);
}

static int bind_to(int fd, const char *ifname, int protocol)
{
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = htons((uint16_t)protocol)};

	sa.sll_ifindex = (int)if_nametoindex(ifname);
	return sa.sll_ifindex == 0 ? -1 : bind(fd, (struct sockaddr *)&sa, sizeof(sa));
}

/* ---- Sending ------------------------------------------------------------------------------- */

struct link_tx {
	int fd;
	unsigned mtu;
	uint8_t mac[6];
	char ifname[IFNAMSIZ];
};

static int tx_setup(struct link_tx *t, char err[LINK_ERROR_MAX])
{
	int size = 8 << 20;
	struct ifreq ifr;

	if ((t->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return fail(err, "packet socket", t->ifname);
	if (bind_to(t->fd, t->ifname, 0) < 0)
		return fail(err, "interface", t->ifname);
	if (ask(t->fd, t->ifname, SIOCGIFHWADDR, &ifr) < 0)
		return fail(err, "address", t->ifname);
	memcpy(t->mac, ifr.ifr_hwaddr.sa_data, 6);
	if (ask(t->fd, t->ifname, SIOCGIFMTU, &ifr) < 0)
		return fail(err, "MTU", t->ifname);
	t->mtu = (unsigned)ifr.ifr_mtu;
	(void)setsockopt(t->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return 0;
}

int link_tx_open(struct link_tx **out, const char *ifname, char err[LINK_ERROR_MAX])
{
	struct link_tx *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return fail(err, "memory", ifname);
	t->fd = -1;
	(void)snprintf(t->ifname, sizeof(t->ifname), "%s", ifname);
	if (tx_setup(t, err) < 0) {
		link_tx_close(t);
		return -1;
	}
	*out = t;
	return 0;
}

void link_tx_mac(const struct link_tx *t, uint8_t mac[6])
{
	memcpy(mac, t->mac, 6);
}

unsigned link_tx_mtu(const struct link_tx *t)
{
	return t->mtu;
}

int link_tx_fd(const struct link_tx *t)
{
	return t->fd;
}

int link_tx_send(struct link_tx *t, const struct link_frame *f, unsigned n,
		 char err[LINK_ERROR_MAX])
{
	struct mmsghdr msgs[LINK_BATCH];
	struct iovec iov[LINK_BATCH];
	unsigned i, sent = 0;
	int got;

	memset(msgs, 0, sizeof(msgs[0]) * n);
	for (i = 0; i < n; i++) {
		iov[i] = (struct iovec){f[i].data, f[i].len};
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	while (sent < n) {
		got = sendmmsg(t->fd, msgs + sent, n - sent, 0);
		if (got >= 0)
			sent += (unsigned)got;
		else if (errno == ENOBUFS || errno == EAGAIN)
			(void)usleep(50); /* the queue drains at the device's pace */
		else if (errno != EINTR)
			return fail(err, "send", t->ifname);
	}
	return 0;
}

void link_tx_close(struct link_tx *t)
{
	if (t == NULL)
		return;
	if (t->fd >= 0)
		(void)close(t->fd);
	free(t);
}

/* ---- Receiving ----------------------------------------------------------------------------- */

#define BLOCK_OCTETS ((size_t)1 << 18)
#define BLOCK_AGE_MS 5
#define HEADROOM     8 /* for a VLAN tag that goes back in */

struct link_rx {
	int fd;
	uint8_t *ring;
	size_t ring_octets;
	unsigned nblocks, block;
	unsigned left; /* frames left in the block at hand */
	uint8_t *frame;
	uint64_t drops;
	char ifname[IFNAMSIZ];
};

static int rx_ring(struct link_rx *r, size_t octets, char err[LINK_ERROR_MAX])
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK_OCTETS,
		.tp_frame_size = 2048,
		.tp_retire_blk_tov = BLOCK_AGE_MS,
	};
	int version = TPACKET_V3;
	unsigned reserve = HEADROOM;

	r->nblocks = octets < 2 * BLOCK_OCTETS ? 2 : (unsigned)(octets / BLOCK_OCTETS);
	req.tp_block_nr = r->nblocks;
	req.tp_frame_nr = (unsigned)(BLOCK_OCTETS / req.tp_frame_size) * r->nblocks;
	r->ring_octets = r->nblocks * BLOCK_OCTETS;
	if (setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(r->fd, SOL_PACKET, PACKET_RESERVE, &reserve, sizeof(reserve)) < 0 ||
	    setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return fail(err, "receive ring", r->ifname);
	r->ring = mmap(NULL, r->ring_octets, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->ring == MAP_FAILED) {
		r->ring = NULL;
		return fail(err, "mapping the receive ring", r->ifname);
	}
	return 0;
}

static int rx_setup(struct link_rx *r, size_t octets, char err[LINK_ERROR_MAX])
{
	struct packet_mreq promisc = {.mr_type = PACKET_MR_PROMISC};
	int one = 1;

	/* Protocol 0: nothing arrives before everything is set up. */
	if ((r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
		return fail(err, "packet socket", r->ifname);
	promisc.mr_ifindex = (int)if_nametoindex(r->ifname);
	if (promisc.mr_ifindex == 0)
		return fail(err, "interface", r->ifname);
	if (rx_ring(r, octets, err) < 0)
		return -1;
	(void)setsockopt(r->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	if (setsockopt(r->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) < 0)
		return fail(err, "promiscuous mode", r->ifname);
	if (bind_to(r->fd, r->ifname, ETH_P_ALL) < 0)
		return fail(err, "bind", r->ifname);
	return 0;
}

int link_rx_open(struct link_rx **out, const char *ifname, size_t ring_octets,
		 char err[LINK_ERROR_MAX])
{
	struct link_rx *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return fail(err, "memory", ifname);
	r->fd = -1;
	(void)snprintf(r->ifname, sizeof(r->ifname), "%s", ifname);
	if (rx_setup(r, ring_octets, err) < 0) {
		link_rx_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

static struct tpacket_block_desc *block_at(const struct link_rx *r)
{
	return (struct tpacket_block_desc *)(void *)(r->ring + r->block * BLOCK_OCTETS);
}

static uint32_t block_status(struct tpacket_block_desc *b)
{
	return __atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE);
}

/* Give the block that was read to the end back to the kernel. */
static void release(struct link_rx *r)
{
	__atomic_store_n(&block_at(r)->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	r->block = (r->block + 1) % r->nblocks;
	r->frame = NULL;
}

/* 1 with frames at hand, 0 without, -1. */
static int next_block(struct link_rx *r, int timeout_ms)
{
	struct pollfd pfd = {.fd = r->fd, .events = POLLIN | POLLERR};
	struct tpacket_block_desc *b = block_at(r);

	if ((block_status(b) & TP_STATUS_USER) == 0) {
		if (poll(&pfd, 1, timeout_ms) < 0)
			return errno == EINTR ? 0 : -1;
		if ((block_status(b) & TP_STATUS_USER) == 0) {
			errno = ENETDOWN;
			return pfd.revents & POLLERR ? -1 : 0;
		}
	}
	r->left = b->hdr.bh1.num_pkts;
	r->frame = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
	return 1;
}

/* The kernel hands a tag over beside the frame: put it back. */
static void put_tag_back(struct tpacket3_hdr *h, struct link_packet *p)
{
	uint8_t *at = (uint8_t *)h + h->tp_mac - 4;
	uint16_t tpid = ETH_P_8021Q;

	if (p->len < 12)
		return;
	if (h->tp_status & TP_STATUS_VLAN_TPID_VALID)
		tpid = h->hv1.tp_vlan_tpid;
	memmove(at, at + 4, 12);
	at[12] = (uint8_t)(tpid >> 8);
	at[13] = (uint8_t)tpid;
	at[14] = (uint8_t)(h->hv1.tp_vlan_tci >> 8);
	at[15] = (uint8_t)h->hv1.tp_vlan_tci;
	p->data = at;
	p->len += 4;
	p->wire_len += 4;
}

int link_rx_next(struct link_rx *r, struct link_packet *p, int timeout_ms)
{
	struct tpacket3_hdr *h;
	int got;

	while (r->frame == NULL || r->left == 0) {
		if (r->frame != NULL)
			release(r);
		if ((got = next_block(r, timeout_ms)) <= 0)
			return got;
	}
	h = (struct tpacket3_hdr *)(void *)r->frame;
	*p = (struct link_packet){
		.data = r->frame + h->tp_mac,
		.len = h->tp_snaplen,
		.wire_len = h->tp_len,
		.time_ns = (uint64_t)h->tp_sec * 1000000000u + h->tp_nsec,
	};
	if (h->tp_status & TP_STATUS_VLAN_VALID)
		put_tag_back(h, p);
	r->frame += h->tp_next_offset;
	r->left--;
	return 1;
}

uint64_t link_rx_drops(struct link_rx *r)
{
	struct tpacket_stats_v3 s = {0};
	socklen_t len = sizeof(s);

	/* Reading sets the kernel's counter to zero. */
	if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		r->drops += s.tp_drops;
	return r->drops;
}

void link_rx_close(struct link_rx *r)
{
	if (r == NULL)
		return;
	if (r->ring != NULL)
		(void)munmap(r->ring, r->ring_octets);
	if (r->fd >= 0)
		(void)close(r->fd);
	free(r);
}
