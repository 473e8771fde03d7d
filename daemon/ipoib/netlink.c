/* netlink.c - the kernel's interfaces, addresses, routes and groups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <net/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include "daemon/ipoib/int.h"

union request {
	struct nlmsghdr h;
	uint8_t octets[512];
};

/* An empty request; its body, zeroed. */
static void *begin(union request *r, uint16_t type, uint16_t flags, size_t body)
{
	memset(r, 0, sizeof(*r));
	r->h.nlmsg_type = type;
	r->h.nlmsg_flags = NLM_F_REQUEST | flags;
	r->h.nlmsg_len = (uint32_t)NLMSG_LENGTH(body);
	return r->octets + NLMSG_HDRLEN;
}

static struct rtattr *put(union request *r, uint16_t type, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(r->h.nlmsg_len);
	struct rtattr *a = (struct rtattr *)(void *)(r->octets + at);

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	if (len > 0)
		memcpy(r->octets + at + RTA_LENGTH(0), data, len);
	r->h.nlmsg_len = (uint32_t)(at + RTA_ALIGN(a->rta_len));
	return a;
}

/* Attributes put since `nest` are inside it. */
static void end_nest(const union request *r, struct rtattr *nest)
{
	nest->rta_len = (uint16_t)(r->octets + r->h.nlmsg_len - (uint8_t *)nest);
}

/* Send, and wait for the answer: its octets, or -1 with errno. */
static ssize_t call(const union request *r, void *answer, size_t size)
{
	static int fd = -1;
	struct nlmsghdr *h = answer;
	const struct nlmsgerr *e;
	ssize_t n;

	if (fd < 0 && (fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) < 0)
		return -1;
	if (send(fd, r, r->h.nlmsg_len, 0) < 0 || (n = recv(fd, answer, size, 0)) < 0)
		return -1;
	if ((size_t)n < NLMSG_LENGTH(0) || h->nlmsg_type != NLMSG_ERROR)
		return n;
	e = NLMSG_DATA(h);
	errno = -e->error;
	return e->error == 0 ? n : -1;
}

static int do_call(const union request *r)
{
	union {
		struct nlmsghdr h;
		uint8_t octets[4096];
	} answer;

	return call(r, &answer, sizeof(answer)) < 0 ? -1 : 0;
}

int nl_set_link(int ifindex, uint32_t mtu)
{
	union request r;
	struct ifinfomsg *m = begin(&r, RTM_NEWLINK, NLM_F_ACK, sizeof(*m));

	m->ifi_index = ifindex;
	m->ifi_flags = m->ifi_change = IFF_UP;
	if (mtu != 0)
		(void)put(&r, IFLA_MTU, &mtu, sizeof(mtu));
	return do_call(&r);
}

int nl_no_autoaddress(int ifindex)
{
	uint8_t none = IN6_ADDR_GEN_MODE_NONE;
	struct rtattr *spec, *six;
	union request r;
	struct ifinfomsg *m = begin(&r, RTM_NEWLINK, NLM_F_ACK, sizeof(*m));

	m->ifi_index = ifindex;
	spec = put(&r, IFLA_AF_SPEC, NULL, 0);
	six = put(&r, AF_INET6, NULL, 0);
	(void)put(&r, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));
	end_nest(&r, six);
	end_nest(&r, spec);
	return do_call(&r);
}

int nl_add_address(int ifindex, const struct address *a)
{
	size_t n = a->v6 ? 16 : 4;
	union request r;
	struct ifaddrmsg *m =
		begin(&r, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, sizeof(*m));

	m->ifa_family = a->v6 ? AF_INET6 : AF_INET;
	m->ifa_prefixlen = a->plen;
	m->ifa_flags = a->v6 ? IFA_F_NODAD : 0;
	m->ifa_index = (uint32_t)ifindex;
	(void)put(&r, IFA_LOCAL, a->addr, n);
	(void)put(&r, IFA_ADDRESS, a->addr, n);
	if (!a->v6 && a->plen < 31) {
		uint32_t hosts = a->plen == 0 ? 0xffffffff : (1u << (32 - a->plen)) - 1;
		uint8_t all[4];

		cw_put_be32(all, cw_be32(a->addr) | hosts);
		(void)put(&r, IFA_BROADCAST, all, 4);
	}
	return do_call(&r);
}

int nl_remove_address(int ifindex, const struct address *a)
{
	union request r;
	struct ifaddrmsg *m = begin(&r, RTM_DELADDR, NLM_F_ACK, sizeof(*m));

	m->ifa_family = a->v6 ? AF_INET6 : AF_INET;
	m->ifa_prefixlen = a->plen;
	m->ifa_index = (uint32_t)ifindex;
	(void)put(&r, IFA_LOCAL, a->addr, a->v6 ? 16 : 4);
	return do_call(&r);
}

int nl_next_hop(int ifindex, bool v6, const uint8_t *dst, uint8_t *hop)
{
	enum { HEAD = NLMSG_LENGTH(sizeof(struct rtmsg)) };
	union {
		struct nlmsghdr h;
		uint8_t octets[4096];
	} answer;
	size_t n = v6 ? 16 : 4, left;
	const struct rtattr *a;
	union request r;
	struct rtmsg *m = begin(&r, RTM_GETROUTE, 0, sizeof(*m));
	ssize_t got;

	m->rtm_family = v6 ? AF_INET6 : AF_INET;
	m->rtm_dst_len = (uint8_t)(8 * n);
	(void)put(&r, RTA_DST, dst, n);
	(void)put(&r, RTA_OIF, &ifindex, sizeof(ifindex));
	got = call(&r, &answer, sizeof(answer));
	if (got < HEAD || answer.h.nlmsg_type != RTM_NEWROUTE)
		return -1;
	memcpy(hop, dst, n);
	left = (size_t)got - HEAD;
	for (a = (const struct rtattr *)(const void *)(answer.octets + HEAD); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == RTA_GATEWAY && RTA_PAYLOAD(a) == n)
			memcpy(hop, RTA_DATA(a), n);
	}
	return 0;
}

/* ---- Changes ------------------------------------------------------------------------------- */

int nl_watch(void)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK,
				.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
					     RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static void on_address(const struct nlmsghdr *h, nl_find_fn *find, uint64_t now)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct address a = {.v6 = m->ifa_family == AF_INET6, .plen = m->ifa_prefixlen};
	size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m)), n = a.v6 ? 16 : 4;
	struct ipport *p = find((int)m->ifa_index);
	const struct rtattr *r;
	bool found = false;

	/* IFA_LOCAL is the own address, where there is one: it comes behind IFA_ADDRESS. */
	for (r = IFA_RTA(m); RTA_OK(r, left); r = RTA_NEXT(r, left)) {
		if ((r->rta_type != IFA_LOCAL && (r->rta_type != IFA_ADDRESS || found)) ||
		    RTA_PAYLOAD(r) != n)
			continue;
		memcpy(a.addr, RTA_DATA(r), n);
		found = true;
	}
	if (p != NULL && found)
		host_address(p, now, h->nlmsg_type == RTM_NEWADDR, &a);
}

void nl_read(int fd, nl_find_fn *find, void (*routes)(void), uint64_t now)
{
	uint8_t buf[16384];
	struct nlmsghdr *h;
	ssize_t got;
	size_t left;

	while ((got = recv(fd, buf, sizeof(buf), 0)) > 0) {
		left = (size_t)got;
		for (h = (struct nlmsghdr *)(void *)buf; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == RTM_NEWADDR || h->nlmsg_type == RTM_DELADDR)
				on_address(h, find, now);
			else
				routes();
		}
	}
}

/* ---- Groups -------------------------------------------------------------------------------- */

static unsigned groups4(const char *ifname, struct address *out, unsigned max)
{
	FILE *f = fopen("/proc/thread-self/net/igmp", "r");
	char line[256], name[32];
	bool ours = false;
	unsigned n = 0, i;
	uint32_t group;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (line[0] != '\t') {
			ours = sscanf(line, "%u %31s", &i, name) == 2 && strcmp(name, ifname) == 0;
			continue;
		}
		/* The address as the machine holds it: its octets are in network order. */
		if (!ours || n == max || sscanf(line, " %x", &group) != 1)
			continue;
		memset(&out[n], 0, sizeof(out[n]));
		memcpy(out[n++].addr, &group, sizeof(group));
	}
	if (f != NULL)
		(void)fclose(f);
	return n;
}

static bool parse_hex(const char *text, uint8_t *out)
{
	unsigned i, v;

	for (i = 0; i < 16; i++) {
		if (sscanf(text + (size_t)2 * i, "%2x", &v) != 1)
			return false;
		out[i] = (uint8_t)v;
	}
	return true;
}

static unsigned groups6(const char *ifname, struct address *out, unsigned max)
{
	FILE *f = fopen("/proc/thread-self/net/igmp6", "r");
	char line[256], name[32], hex[40];
	unsigned n = 0, i;

	while (f != NULL && n < max && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%u %31s %39s", &i, name, hex) != 3 || strcmp(name, ifname) != 0)
			continue;
		out[n] = (struct address){.v6 = true};
		/* Groups of the interface itself stay in it. */
		if (strlen(hex) == 32 && parse_hex(hex, out[n].addr) && (out[n].addr[1] & 15) > 1)
			n++;
	}
	if (f != NULL)
		(void)fclose(f);
	return n;
}

unsigned nl_groups(const char *ifname, struct address *out, unsigned max)
{
	unsigned n = groups4(ifname, out, max);

	return n + groups6(ifname, out + n, max - n);
}
