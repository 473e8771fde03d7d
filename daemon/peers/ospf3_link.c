/* ospf3_link.c - the raw socket of OSPFv3. Spec: RFC 5340 4.2.1, A.1. The checksum is the library's
 * work, for with authentication there is none (RFC 7166 4.2). */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "causeway/ospf3.h"
#include "daemon/peers/ospf3_link.h"

enum { CLASS_CS6 = 0xc0 };

static void set_address(struct in6_addr *to, const uint8_t from[16])
{
	memcpy(to, from, sizeof(*to));
}

/* ---- Opening ------------------------------------------------------------------------------- */

static bool read_mtu(struct cw_ospf3_link *k)
{
	struct ifreq r = {0};

	memcpy(r.ifr_name, k->name, sizeof(k->name));
	if (ioctl(k->fd, SIOCGIFMTU, &r) < 0)
		return false;
	k->mtu = (uint32_t)r.ifr_mtu < CW_OSPF3_MTU_MAX ? (uint32_t)r.ifr_mtu : CW_OSPF3_MTU_MAX;
	return true;
}

/* The first link-local address. */
static bool read_address(struct cw_ospf3_link *k)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (i = all; i != NULL && !found; i = i->ifa_next) {
		const struct sockaddr_in6 *a = (const void *)i->ifa_addr;

		if (a == NULL || a->sin6_family != AF_INET6 || strcmp(i->ifa_name, k->name) != 0 ||
		    !IN6_IS_ADDR_LINKLOCAL(&a->sin6_addr))
			continue;
		memcpy(k->address, &a->sin6_addr, 16);
		found = true;
	}
	freeifaddrs(all);
	if (!found)
		errno = EADDRNOTAVAIL;
	return found;
}

static bool set(int fd, int option, int value)
{
	return setsockopt(fd, IPPROTO_IPV6, option, &value, sizeof(value)) == 0;
}

static bool begin(struct cw_ospf3_link *k)
{
	struct ipv6_mreq m = {.ipv6mr_interface = (unsigned)k->ifindex};

	set_address(&m.ipv6mr_multiaddr, cw_ospf3_all_routers);
	return setsockopt(k->fd, SOL_SOCKET, SO_BINDTODEVICE, k->name,
			  (socklen_t)strlen(k->name)) == 0 &&
	       read_mtu(k) && read_address(k) && set(k->fd, IPV6_MULTICAST_HOPS, 1) &&
	       set(k->fd, IPV6_MULTICAST_LOOP, 0) && set(k->fd, IPV6_TCLASS, CLASS_CS6) &&
	       set(k->fd, IPV6_RECVPKTINFO, 1) &&
	       setsockopt(k->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m, sizeof(m)) == 0;
}

bool cw_ospf3_link_open(struct cw_ospf3_link *k, const char *name)
{
	int err;

	*k = (struct cw_ospf3_link){.fd = -1};
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	if ((k->ifindex = (int)if_nametoindex(name)) == 0)
		return false;
	k->fd = socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CW_IPPROTO_OSPF);
	if (k->fd >= 0 && begin(k))
		return true;
	err = errno;
	cw_ospf3_link_close(k);
	errno = err;
	return false;
}

void cw_ospf3_link_close(struct cw_ospf3_link *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

bool cw_ospf3_link_same(const struct cw_ospf3_link *k)
{
	struct cw_ospf3_link now = *k;

	return (int)if_nametoindex(k->name) == k->ifindex && read_mtu(&now) && read_address(&now) &&
	       now.mtu == k->mtu && memcmp(now.address, k->address, 16) == 0;
}

/* ---- Packets ------------------------------------------------------------------------------- */

/* Room for one struct in6_pktinfo. */
union control {
	struct cmsghdr head;
	uint8_t room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static bool read_destination(struct msghdr *m, uint8_t dst[16])
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_PKTINFO)
			continue;
		memcpy(dst, CMSG_DATA(c), 16); /* in6_pktinfo: the address comes first */
		return true;
	}
	return false;
}

size_t cw_ospf3_link_recv(struct cw_ospf3_link *k, uint8_t *buf, size_t size, uint8_t src[16],
			  uint8_t dst[16])
{
	struct sockaddr_in6 from = {0};
	union control control;
	struct iovec v = {buf, size};
	ssize_t n;

	for (;;) {
		struct msghdr m = {.msg_name = &from,
				   .msg_namelen = sizeof(from),
				   .msg_iov = &v,
				   .msg_iovlen = 1,
				   .msg_control = &control,
				   .msg_controllen = sizeof(control)};

		n = recvmsg(k->fd, &m, 0);
		if (n < 0 && (errno == EINTR || errno == ENETDOWN))
			continue;
		if (n < 0)
			return 0;
		if (n == 0 || (m.msg_flags & MSG_TRUNC) != 0 || !read_destination(&m, dst))
			continue;
		memcpy(src, &from.sin6_addr, 16);
		return (size_t)n;
	}
}

void cw_ospf3_link_send(struct cw_ospf3_link *k, const uint8_t *packet, size_t len)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_scope_id = (uint32_t)k->ifindex};
	struct in6_pktinfo info = {.ipi6_ifindex = (unsigned)k->ifindex};
	union control control = {.head = {.cmsg_len = CMSG_LEN(sizeof(info)),
					  .cmsg_level = IPPROTO_IPV6,
					  .cmsg_type = IPV6_PKTINFO}};
	struct iovec v = {(void *)packet, len};
	struct msghdr m = {.msg_name = &to,
			   .msg_namelen = sizeof(to),
			   .msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};

	set_address(&to.sin6_addr, cw_ospf3_all_routers);
	set_address(&info.ipi6_addr, k->address);
	memcpy(CMSG_DATA(&control.head), &info, sizeof(info));
	(void)!sendmsg(k->fd, &m, 0);
}
