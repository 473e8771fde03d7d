/* host.c - an IPoIB link as an IP interface of this machine: a TUN device.
 *
 * The kernel routes and the machine of the link resolves. The kernel's routes also tell which next
 * hop a packet has; its own lists tell which groups the host is in.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/if_tun.h>
#include "causeway/wire/ip.h"
#include "daemon/ipoib/int.h"
#include "daemon/log.h"

enum { HOPS = 1024, HOP_MS = 5000, GROUPS = 200, GROUPS_MS = 1000 };

/* A next hop that the kernel told. */
struct hop {
	uint64_t until; /* 0: free */
	bool v6, reachable;
	uint8_t dst[16], hop[16];
};

struct host {
	int fd, ifindex;
	struct address addr[ADDRESSES + 1]; /* that the interface has */
	unsigned naddr;
	struct hop hops[HOPS];
	struct address group[GROUPS]; /* that the host is in */
	unsigned ngroup;
	uint64_t groups_due;
	uint8_t made;              /* identifiers of its link-local address that were duplicates */
	struct address link_local; /* as made here */
};

int host_fd(const struct ipport *p)
{
	return p->host != NULL ? p->host->fd : -1;
}

int host_ifindex(const struct ipport *p)
{
	return p->host != NULL ? p->host->ifindex : 0;
}

/* ---- Memberships --------------------------------------------------------------------------- */

static bool in_list(const struct address *list, unsigned n, const struct address *a)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if (list[i].v6 == a->v6 && memcmp(list[i].addr, a->addr, a->v6 ? 16 : 4) == 0)
			return true;
	}
	return false;
}

/* Make the link's memberships those of the kernel. */
static void sync_groups(struct ipport *p, uint64_t now)
{
	struct host *h = p->host;
	struct address is[GROUPS];
	unsigned i, n = nl_groups(p->conf.interface, is, GROUPS);

	for (i = 0; i < h->ngroup; i++) {
		if (!in_list(is, n, &h->group[i]))
			(void)cw_ipoib_leave(p->link, now, h->group[i].v6, h->group[i].addr);
	}
	for (i = 0; i < n; i++) {
		if (in_list(h->group, h->ngroup, &is[i]))
			continue;
		if (cw_ipoib_join(p->link, now, is[i].v6, is[i].addr) < 0)
			cw_log(CW_LOG_WARNING, "port %s: no room for another multicast group",
			       p->name);
	}
	memcpy(h->group, is, n * sizeof(is[0]));
	h->ngroup = n;
	h->groups_due = now + GROUPS_MS;
}

void host_tick(struct ipport *p, uint64_t now)
{
	if (now >= p->host->groups_due)
		sync_groups(p, now);
}

/* ---- Next hops ----------------------------------------------------------------------------- */

static bool is_broadcast(const struct host *h, const uint8_t *dst)
{
	uint32_t a = cw_be32(dst);
	unsigned i;

	if (a == 0xffffffff)
		return true;
	for (i = 0; i < h->naddr; i++) {
		uint32_t hosts = 0xffffffff >> (h->addr[i].plen & 31);

		if (!h->addr[i].v6 && h->addr[i].plen < 31 &&
		    a == (cw_be32(h->addr[i].addr) | hosts))
			return true;
	}
	return false;
}

static struct hop *hop_place(struct host *h, bool v6, const uint8_t *dst)
{
	uint32_t x = cw_be32(dst), i;

	for (i = 1; v6 && i < 4; i++)
		x = (x ^ cw_be32(dst + (size_t)4 * i)) * 0x9e3779b1u;
	return &h->hops[(x * 0x9e3779b1u) >> 22];
}

/* Where a packet goes next: NULL if nowhere. */
static const uint8_t *next_hop(struct ipport *p, uint64_t now, bool v6, const uint8_t *dst)
{
	static const uint8_t everybody[4] = {255, 255, 255, 255};
	struct host *h = p->host;
	size_t n = v6 ? 16 : 4;
	struct hop *e;

	if (v6 ? dst[0] == 0xff : dst[0] >> 4 == 14)
		return dst;
	if (!v6 && is_broadcast(h, dst))
		return everybody;
	e = hop_place(h, v6, dst);
	if (e->until < now || e->v6 != v6 || memcmp(e->dst, dst, n) != 0) {
		e->until = now + HOP_MS;
		e->v6 = v6;
		memcpy(e->dst, dst, n);
		e->reachable = nl_next_hop(h->ifindex, v6, dst, e->hop) == 0;
	}
	return e->reachable ? e->hop : NULL;
}

void host_routes(struct ipport *p)
{
	memset(p->host->hops, 0, sizeof(p->host->hops));
}

/* ---- Packets ------------------------------------------------------------------------------- */

/* The kernel's report of a change: its lists are looked at right away. */
static bool is_report(bool v6, const uint8_t *ip, size_t len)
{
	/* MLD has a router alert in front (RFC 3810 5). */
	return v6 ? cw_ipv6_next_header(ip) == CW_IPPROTO_HOPOPT && len > CW_SIZE_IPV6 + 8 &&
			       ip[CW_SIZE_IPV6] == CW_IPPROTO_ICMP6
		  : cw_ipv4_proto(ip) == CW_IPPROTO_IGMP;
}

static void from_kernel(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len)
{
	bool v6 = ip[0] >> 4 == 6;
	const uint8_t *hop;

	if (len < (v6 ? CW_SIZE_IPV6 : CW_SIZE_IPV4))
		return;
	p->n.host_tx++;
	if (is_report(v6, ip, len))
		sync_groups(p, now);
	hop = next_hop(p, now, v6, v6 ? cw_ipv6_dst(ip) : cw_ipv4_dst(ip));
	if (hop == NULL)
		p->n.host_unroutable++;
	else
		(void)cw_ipoib_send(p->link, now, hop, ip, len); /* it counts what it drops */
}

void host_read(struct ipport *p, uint64_t now)
{
	uint8_t buf[4096 + 64];
	unsigned i;
	ssize_t n;

	for (i = 0; i < BURST; i++) {
		if ((n = read(p->host->fd, buf, sizeof(buf))) <= 0)
			break;
		from_kernel(p, now, buf, (size_t)n);
		port_pump(p, now);
	}
}

void host_deliver(struct ipport *p, const uint8_t *ip, size_t len)
{
	if (write(p->host->fd, ip, len) == (ssize_t)len)
		p->n.host_rx++;
	else
		p->n.host_refused++;
}

/* ---- The interface ------------------------------------------------------------------------- */

void host_link(struct ipport *p, bool up, uint32_t mtu)
{
	int carrier = up;

	if (up && nl_set_link(p->host->ifindex, mtu) < 0)
		cw_log(CW_LOG_WARNING, "port %s: interface %s: MTU %u: %s", p->name,
		       p->conf.interface, mtu, strerror(errno));
	if (ioctl(p->host->fd, TUNSETCARRIER, &carrier) < 0)
		cw_log(CW_LOG_WARNING, "port %s: interface %s: carrier: %s", p->name,
		       p->conf.interface, strerror(errno));
}

void host_address(struct ipport *p, uint64_t now, bool added, const struct address *a)
{
	struct host *h = p->host;
	unsigned i;

	for (i = 0; i < h->naddr; i++) {
		if (in_list(&h->addr[i], 1, a))
			break;
	}
	if (added && i == h->naddr) {
		if (i == ADDRESSES + 1 || cw_ipoib_address(p->link, now, a->v6, a->addr) < 0)
			cw_log(CW_LOG_WARNING, "port %s: more addresses than the link answers for",
			       p->name);
		else
			h->addr[h->naddr++] = *a;
	} else if (!added && i < h->naddr) {
		(void)cw_ipoib_unaddress(p->link, now, a->v6, a->addr);
		h->addr[i] = h->addr[--h->naddr];
	}
	host_routes(p);
}

/* fe80::/64 and the identifier that the configuration wants. The secret of the stable one is this
 * machine's identity, so the address is the same at every start (RFC 7217 5). */
static void link_local(const struct ipport *p, struct address *a)
{
	static const uint8_t prefix[8] = {0xfe, 0x80};
	uint8_t secret[16] = {0};
	int fd;

	*a = (struct address){.v6 = true, .plen = 64};
	memcpy(a->addr, prefix, 8);
	if (p->conf.iid != CW_IID_STABLE) {
		cw_ipoib_iid(a->addr + 8, p->hca->gid + 8, p->conf.iid == CW_IID_MODIFIED_GUID);
		return;
	}
	if ((fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC)) >= 0) {
		if (read(fd, secret, sizeof(secret)) < 0)
			secret[0] = 1;
		(void)close(fd);
	}
	cw_ipoib_iid_stable(a->addr + 8, prefix, p->hca->gid + 8, p->conf.pkey, p->host->made,
			    secret);
}

static void add_link_local(struct ipport *p)
{
	link_local(p, &p->host->link_local);
	/* A kernel without IPv6 is no reason to do without IPv4. */
	if (nl_add_address(p->host->ifindex, &p->host->link_local) < 0)
		cw_log(CW_LOG_INFO, "port %s: no IPv6 on %s: %s", p->name, p->conf.interface,
		       strerror(errno));
}

void host_duplicate(struct ipport *p, const struct address *a)
{
	enum { IDGEN_RETRIES = 3 }; /* RFC 7217 7 */
	struct host *h = p->host;
	unsigned i;

	for (i = 0; i < h->naddr; i++) {
		if (in_list(a, 1, &h->addr[i]) && nl_remove_address(h->ifindex, &h->addr[i]) < 0)
			cw_log(CW_LOG_WARNING, "port %s: interface %s keeps it: %s", p->name,
			       p->conf.interface, strerror(errno));
	}
	if (in_list(a, 1, &h->link_local) && p->conf.iid == CW_IID_STABLE &&
	    h->made < IDGEN_RETRIES) {
		h->made++;
		add_link_local(p);
	}
}

static int add_addresses(struct ipport *p, char *why, size_t size)
{
	unsigned i;

	add_link_local(p);
	for (i = 0; i < p->naddr; i++) {
		if (nl_add_address(p->host->ifindex, &p->addr[i]) < 0) {
			(void)snprintf(why, size, "address: %s", strerror(errno));
			return CW_E_IO;
		}
	}
	return CW_OK;
}

static int open_tun(struct ipport *p)
{
	struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int off = 0;

	p->host->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	memcpy(ifr.ifr_name, p->conf.interface, sizeof(ifr.ifr_name));
	if (p->host->fd < 0 || ioctl(p->host->fd, TUNSETIFF, &ifr) < 0)
		return -1;
	/* Without a broadcast group there is no link (RFC 4391 5). */
	if (ioctl(p->host->fd, TUNSETCARRIER, &off) < 0)
		return -1;
	p->host->ifindex = (int)if_nametoindex(p->conf.interface);
	return p->host->ifindex > 0 ? 0 : -1;
}

int host_open(struct ipport *p, char *why, size_t size)
{
	int err = CW_E_IO;

	(void)snprintf(why, size, "out of memory");
	if ((p->host = calloc(1, sizeof(*p->host))) == NULL)
		return CW_E_NOMEM;
	if (open_tun(p) < 0) {
		(void)snprintf(why, size, "%s", strerror(errno));
	} else {
		(void)nl_no_autoaddress(p->host->ifindex);
		if (nl_set_link(p->host->ifindex, 0) < 0)
			(void)snprintf(why, size, "%s", strerror(errno));
		else
			err = add_addresses(p, why, size);
	}
	if (err < 0)
		host_close(p);
	return err;
}

void host_close(struct ipport *p)
{
	if (p->host == NULL)
		return;
	if (p->host->fd >= 0)
		(void)close(p->host->fd);
	free(p->host);
	p->host = NULL;
}
