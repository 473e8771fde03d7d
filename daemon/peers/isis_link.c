/* isis_link.c - the packet socket of IS-IS.
 * Spec: ISO/IEC 10589 8.4.8 (group addresses), RFC 5309 (point-to-point over Ethernet), 802.2. PDUs
 * that the length field of 802.3 can't tell have the EtherType 0x8870 of draft-ietf-isis-ext-eth,
 * as FRR sends padded hellos on interfaces with jumbo frames. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/peers/isis_link.h"

enum {
	LLC = 3,
	HEAD = ETH_HLEN + LLC,
	LENGTH_MAX = 1500,
	EXT_LLC = 0x8870,
	SAP = 0xfefe, /* ISO network layer, both ways; then 3: unnumbered information */
	FRAME_MAX = 9216
};

static const uint8_t all_iss[6] = {0x09, 0x00, 0x2b, 0x00, 0x00, 0x05};
static const uint8_t all_l1_iss[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x14};
static const uint8_t all_l2_iss[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x15};

/* ---- Opening ------------------------------------------------------------------------------- */

/* IS-IS only: everything else of the interface is none of ours. */
static bool filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EXT_LLC, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LENGTH_MAX, 5, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETH_HLEN),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SAP, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, FRAME_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) == 0;
}

static bool join(const struct cw_isis_link *k, const uint8_t group[6])
{
	struct packet_mreq m = {
		.mr_ifindex = k->ifindex, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};

	memcpy(m.mr_address, group, 6);
	return setsockopt(k->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)) == 0;
}

static bool read_device(struct cw_isis_link *k)
{
	struct ifreq r = {0};
	uint32_t mtu;

	memcpy(r.ifr_name, k->name, sizeof(k->name));
	if (ioctl(k->fd, SIOCGIFINDEX, &r) < 0)
		return false;
	k->ifindex = r.ifr_ifindex;
	if (ioctl(k->fd, SIOCGIFHWADDR, &r) < 0)
		return false;
	memcpy(k->mac, r.ifr_hwaddr.sa_data, sizeof(k->mac));
	if (ioctl(k->fd, SIOCGIFMTU, &r) < 0)
		return false;
	mtu = (uint32_t)r.ifr_mtu < LENGTH_MAX ? (uint32_t)r.ifr_mtu : LENGTH_MAX;
	k->mtu = mtu > LLC ? mtu - LLC : 0;
	return true;
}

static bool begin(struct cw_isis_link *k)
{
	struct sockaddr_ll a = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int one = 1;

	if (!read_device(k) || !filter(k->fd) || !join(k, all_iss) || !join(k, all_l1_iss) ||
	    !join(k, all_l2_iss) ||
	    setsockopt(k->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0)
		return false;
	a.sll_ifindex = k->ifindex;
	return bind(k->fd, (struct sockaddr *)&a, sizeof(a)) == 0;
}

bool cw_isis_link_open(struct cw_isis_link *k, const char *name)
{
	int err;

	*k = (struct cw_isis_link){.fd = -1};
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	k->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (k->fd < 0)
		return false;
	if (!begin(k)) {
		err = errno;
		cw_isis_link_close(k);
		errno = err;
		return false;
	}
	(void)cw_isis_link_addresses(k);
	return true;
}

void cw_isis_link_close(struct cw_isis_link *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

bool cw_isis_link_same(const struct cw_isis_link *k)
{
	return (int)if_nametoindex(k->name) == k->ifindex;
}

/* ---- Addresses ----------------------------------------------------------------------------- */

static void take_address(struct cw_isis_link *to, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *six = (const void *)sa;
	const struct sockaddr_in *four = (const void *)sa;
	struct cw_addr *a;

	if (sa->sa_family == AF_INET && to->addr4.version == 0) {
		to->addr4.version = 4;
		memcpy(to->addr4.addr, &four->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		a = IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ? &to->link_local : &to->addr6;
		if (a->version == 0)
			memcpy(a->addr, &six->sin6_addr, 16);
		a->version = 6;
	}
}

bool cw_isis_link_addresses(struct cw_isis_link *k)
{
	struct cw_isis_link found = {0};
	struct ifaddrs *all, *i;
	bool changed;

	if (getifaddrs(&all) != 0)
		return false;
	for (i = all; i != NULL; i = i->ifa_next) {
		if (i->ifa_addr != NULL && strcmp(i->ifa_name, k->name) == 0)
			take_address(&found, i->ifa_addr);
	}
	freeifaddrs(all);
	changed = memcmp(&found.addr4, &k->addr4, sizeof(k->addr4)) != 0 ||
		  memcmp(&found.addr6, &k->addr6, sizeof(k->addr6)) != 0 ||
		  memcmp(&found.link_local, &k->link_local, sizeof(k->link_local)) != 0;
	k->addr4 = found.addr4;
	k->addr6 = found.addr6;
	k->link_local = found.link_local;
	return changed;
}

/* ---- Frames -------------------------------------------------------------------------------- */

const uint8_t *cw_isis_link_recv(struct cw_isis_link *k, uint8_t *buf, size_t size, size_t *len)
{
	ssize_t n;
	size_t told;

	for (;;) {
		n = recv(k->fd, buf, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENETDOWN)
			continue; /* told once */
		if (n < 0)
			return NULL;
		if (n < HEAD)
			continue;
		told = (size_t)buf[12] << 8 | buf[13];
		*len = (size_t)n - HEAD;
		if (told <= LENGTH_MAX && told >= LLC && told - LLC < *len)
			*len = told - LLC; /* behind it is the padding of a short frame */
		return buf + HEAD;
	}
}

void cw_isis_link_send(struct cw_isis_link *k, const uint8_t *pdu, size_t len)
{
	uint8_t frame[HEAD + FRAME_MAX] = {0};
	size_t told = len + LLC;

	if (len > FRAME_MAX)
		return;
	memcpy(frame, all_iss, 6);
	memcpy(frame + 6, k->mac, 6);
	frame[12] = (uint8_t)((told > LENGTH_MAX ? (size_t)EXT_LLC : told) >> 8);
	frame[13] = (uint8_t)(told > LENGTH_MAX ? (size_t)EXT_LLC : told);
	frame[14] = frame[15] = SAP & 0xff;
	frame[16] = 3;
	memcpy(frame + HEAD, pdu, len);
	len += HEAD;
	(void)!send(k->fd, frame, len < ETH_ZLEN ? ETH_ZLEN : len, 0);
}
