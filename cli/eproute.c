/* eproute.c - the kernel's routes and neighbours, asked over rtnetlink. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/epnet.h"

#define ANSWER_MAX 32768
#define PAUSE_MS   20

struct request {
	struct nlmsghdr nh;
	union {
		struct rtmsg rt;
		struct ndmsg nd;
	} u;
	uint8_t attrs[64];
};

static int family_of(unsigned ip_version)
{
	return ip_version == 4 ? AF_INET : AF_INET6;
}

static size_t address_len(unsigned ip_version)
{
	return ip_version == 4 ? 4 : 16;
}

static void add_attr(struct request *r, unsigned short type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)(void *)((uint8_t *)r + NLMSG_ALIGN(r->nh.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	r->nh.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->nh.nlmsg_len) + RTA_ALIGN(a->rta_len));
}

static int fail(char err[IO_ERROR_MAX], const char *what, unsigned ip_version, const uint8_t *addr,
		const char *why)
{
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(family_of(ip_version), addr, text, sizeof(text));
	(void)snprintf(err, IO_ERROR_MAX, "%s %s: %s", what, text, why);
	return -1;
}

/* ---- Routes --------------------------------------------------------------------------------- */

static bool loopback(const char *ifname)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes;

	(void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", ifname);
	yes = ioctl(fd, SIOCGIFFLAGS, &ifr) == 0 && ifr.ifr_flags & (IFF_LOOPBACK | IFF_NOARP);
	(void)close(fd);
	return yes;
}

static void read_route(struct epnet_route *out, struct nlmsghdr *nh, size_t alen)
{
	struct rtmsg *rt = NLMSG_DATA(nh);
	struct rtattr *a = RTM_RTA(rt);
	int left = (int)RTM_PAYLOAD(nh);

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) == 4)
			memcpy(&out->ifindex, RTA_DATA(a), 4);
		else if (a->rta_type == RTA_GATEWAY && RTA_PAYLOAD(a) == alen)
			memcpy(out->hop, RTA_DATA(a), alen);
		else if (a->rta_type == RTA_VIA)
			out->ifindex = 0; /* IPv4 by way of an IPv6 station */
		else if (a->rta_type == RTA_PREFSRC && RTA_PAYLOAD(a) == alen)
			memcpy(out->src, RTA_DATA(a), alen);
	}
}

static int ask(struct request *r, uint8_t *answer)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t got = -1;

	if (fd >= 0 && send(fd, r, r->nh.nlmsg_len, 0) >= 0)
		got = recv(fd, answer, ANSWER_MAX, 0);
	if (fd >= 0)
		(void)close(fd);
	return (int)got;
}

int epnet_route(struct epnet_route *out, unsigned ip_version, const uint8_t *dst,
		const char *ifname, char err[IO_ERROR_MAX])
{
	_Alignas(struct nlmsghdr) uint8_t answer[ANSWER_MAX];
	struct nlmsghdr *nh = (struct nlmsghdr *)(void *)answer;
	struct request r = {.nh = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
				   .nlmsg_type = RTM_GETROUTE,
				   .nlmsg_flags = NLM_F_REQUEST},
			    .u.rt = {.rtm_family = (unsigned char)family_of(ip_version),
				     .rtm_dst_len = (unsigned char)(8 * address_len(ip_version))}};
	unsigned want = ifname != NULL ? if_nametoindex(ifname) : 0;
	int got, code;

	if (ifname != NULL && want == 0)
		return fail(err, "route to", ip_version, dst, "no such interface as given");
	memset(out, 0, sizeof(*out));
	memcpy(out->hop, dst, address_len(ip_version));
	add_attr(&r, RTA_DST, dst, address_len(ip_version));
	if (want != 0)
		add_attr(&r, RTA_OIF, &want, 4);
	got = ask(&r, answer);
	if (got < 0 || !NLMSG_OK(nh, (unsigned)got))
		return fail(err, "route to", ip_version, dst, got < 0 ? strerror(errno) : "?");
	if (nh->nlmsg_type == NLMSG_ERROR) {
		code = -((struct nlmsgerr *)NLMSG_DATA(nh))->error;
		return fail(err, "route to", ip_version, dst, strerror(code));
	}
	read_route(out, nh, address_len(ip_version));
	if (out->ifindex == 0 || if_indextoname(out->ifindex, out->ifname) == NULL)
		return fail(err, "route to", ip_version, dst,
			    "it has no interface, or a next hop of the other IP version");
	out->no_hop = loopback(out->ifname);
	return 0;
}

/* ---- Neighbours ----------------------------------------------------------------------------- */

static bool read_neighbour(struct nlmsghdr *nh, const struct epnet_route *r, size_t alen,
			   uint8_t mac[6])
{
	struct ndmsg *nd = NLMSG_DATA(nh);
	struct rtattr *a = (struct rtattr *)(void *)((uint8_t *)nd + NLMSG_ALIGN(sizeof(*nd)));
	int left = (int)NLMSG_PAYLOAD(nh, sizeof(*nd));
	bool same = false, known = false;

	if (nd->ndm_ifindex != (int)r->ifindex || nd->ndm_state & (NUD_INCOMPLETE | NUD_FAILED))
		return false;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == NDA_DST && RTA_PAYLOAD(a) == alen)
			same = memcmp(RTA_DATA(a), r->hop, alen) == 0;
		if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
			memcpy(mac, RTA_DATA(a), 6);
			known = true;
		}
	}
	return same && known;
}

/* 1 found, 0 the table goes on, -1 it has ended without. */
static int read_answer(uint8_t *answer, int got, const struct epnet_route *r, size_t alen,
		       uint8_t mac[6])
{
	struct nlmsghdr *nh = (struct nlmsghdr *)(void *)answer;
	uint8_t found[6];

	for (; NLMSG_OK(nh, (unsigned)got); nh = NLMSG_NEXT(nh, got)) {
		if (nh->nlmsg_type == NLMSG_DONE || nh->nlmsg_type == NLMSG_ERROR)
			return -1;
		if (nh->nlmsg_type == RTM_NEWNEIGH && read_neighbour(nh, r, alen, found)) {
			memcpy(mac, found, 6);
			return 1;
		}
	}
	return 0;
}

static bool look_up(const struct epnet_route *r, unsigned ip_version, uint8_t mac[6])
{
	_Alignas(struct nlmsghdr) uint8_t answer[ANSWER_MAX];
	struct request req = {.nh = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)),
				     .nlmsg_type = RTM_GETNEIGH,
				     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
			      .u.nd = {.ndm_family = (unsigned char)family_of(ip_version)}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), state = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	if (send(fd, &req, req.nh.nlmsg_len, 0) < 0)
		state = -1;
	while (state == 0) {
		got = recv(fd, answer, sizeof(answer), 0);
		state = got <= 0 ? -1
				 : read_answer(answer, (int)got, r, address_len(ip_version), mac);
	}
	(void)close(fd);
	return state == 1;
}

/* An empty datagram to the discard port makes the kernel look for the next hop. */
static void provoke(const struct epnet_route *r, unsigned ip_version, const uint8_t *dst)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 a6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_scope_id = r->ifindex};
	int fd = socket(family_of(ip_version), SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	memcpy(ip_version == 4 ? (void *)&a4.sin_addr : (void *)&a6.sin6_addr, dst,
	       address_len(ip_version));
	if (ip_version == 4)
		(void)sendto(fd, "", 0, 0, (struct sockaddr *)&a4, sizeof(a4));
	else
		(void)sendto(fd, "", 0, 0, (struct sockaddr *)&a6, sizeof(a6));
	(void)close(fd);
}

int epnet_resolve(const struct epnet_route *r, unsigned ip_version, const uint8_t *dst,
		  int timeout_ms, uint8_t mac[6], char err[IO_ERROR_MAX])
{
	int waited;

	memset(mac, 0, 6);
	if (r->no_hop)
		return 0;
	for (waited = 0; !look_up(r, ip_version, mac); waited += PAUSE_MS) {
		if (waited % 1000 == 0)
			provoke(r, ip_version, dst);
		if (waited >= timeout_ms)
			return fail(err, "neighbour", ip_version, r->hop,
				    "no answer to ARP or neighbour discovery");
		(void)usleep(PAUSE_MS * 1000);
	}
	return 0;
}
