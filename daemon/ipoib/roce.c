/* roce.c - the carrier of RoCEv2 datagrams: "roce:ADDRESS,LID=ADDRESS,...".
 *
 * IPoIB has no form of its own over RoCEv2, so this one is a convention among gateways (see
 * docs/ipoib.md): there are no LIDs on the wire, a station is its IP address, and what is for a
 * group goes to every station, or to one IP group.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "causeway/wire/ib.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "daemon/ipoib/station.h"
#include "daemon/log.h"

enum { PACKET_MAX = 4400 };

struct roce {
	struct stations s;
	int out;   /* raw: the ICRC covers the IP header, so that is ours too */
	int owner; /* holds the port, or Linux answers with "port unreachable" */
};

/* ---- Sockets ------------------------------------------------------------------------------- */

static socklen_t sockaddr_of(const struct cw_gid *a, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
	struct sockaddr_in *four = (struct sockaddr_in *)out;

	memset(out, 0, sizeof(*out));
	if (cw_gid_is_v4(a)) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, a->o + 12, 4);
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	memcpy(&six->sin6_addr, a->o, 16);
	return sizeof(*six);
}

/* Takes the port and lets every datagram go: they are read from their IP header on elsewhere. */
static int open_owner(struct roce *r)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {1, &none};
	struct sockaddr_storage own;
	socklen_t len = sockaddr_of(&r->s.own, CW_ROCE_PORT, &own);

	r->owner = socket(own.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->owner < 0 ||
	    setsockopt(r->owner, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0)
		return -1;
	return bind(r->owner, (struct sockaddr *)&own, len);
}

/* IP packets with UDP to port 4791, from their IP header on. */
static int open_in(struct hca *h, bool v4)
{
	/* clang-format off */
	struct sock_filter four[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_IPPROTO_UDP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_ROCE_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_filter six[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, CW_SIZE_IPV6 + 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_ROCE_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	/* clang-format on */
	struct sock_fprog prog = {v4 ? 7 : 6, v4 ? four : six};
	struct sockaddr_ll sll = {.sll_family = AF_PACKET,
				  .sll_protocol = htons(v4 ? ETH_P_IP : ETH_P_IPV6)};
	int one = 1;

	h->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0 || setsockopt(h->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0 ||
	    setsockopt(h->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0)
		return -1;
	carrier_buffers(h->fd);
	return bind(h->fd, (struct sockaddr *)&sll, sizeof(sll));
}

/* A packet may not be cut into fragments: RoCEv2 forbids it. */
static void check_mtu(const struct hca *h, const struct roce *r, unsigned i)
{
	int needed = 2048 + 12 + 8 + CW_SIZE_UDP + 4, mtu = 0;
	bool v4 = cw_gid_is_v4(&r->s.own);
	struct sockaddr_storage to;
	socklen_t len = sockaddr_of(&r->s.at[i].addr, CW_ROCE_PORT, &to), n = sizeof(mtu);
	int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	needed += v4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6;
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, len) == 0 &&
	    getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &n) == 0 &&
	    mtu < needed)
		cw_log(CW_LOG_WARNING,
		       "hca %s: the path to LID %u has an MTU of %d; IPoIB's of 2044 needs %d",
		       h->conf.name, r->s.at[i].lid, mtu, needed);
	if (fd >= 0)
		(void)close(fd);
}

static int open_out(struct roce *r)
{
	int family = cw_gid_is_v4(&r->s.own) ? AF_INET : AF_INET6;

	r->out = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW);
	if (r->out < 0)
		return -1;
	carrier_buffers(r->out);
	return stations_grouped(&r->s) ? stations_send_by(&r->s, r->out) : 0;
}

static int roce_open(struct hca *h, const char *arg, char *why, size_t size)
{
	struct roce *r = calloc(1, sizeof(*r));
	unsigned i;
	int err;

	if ((h->priv = r) == NULL) {
		(void)snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	r->out = r->owner = -1;
	if ((err = stations_parse(&r->s, arg, why, size)) < 0)
		return err;
	if (open_owner(r) < 0) {
		(void)snprintf(why, size, "UDP port %d: %s", CW_ROCE_PORT, strerror(errno));
		return CW_E_IO;
	}
	if (open_out(r) < 0 || open_in(h, cw_gid_is_v4(&r->s.own)) < 0) {
		(void)snprintf(why, size, "raw sockets: %s", strerror(errno));
		return CW_E_IO;
	}
	if (stations_grouped(&r->s) && stations_join(&r->s, r->owner) < 0) {
		(void)snprintf(why, size, "the group: %s", strerror(errno));
		return CW_E_IO;
	}
	for (i = 0; i < r->s.n; i++)
		check_mtu(h, r, i);
	return CW_OK;
}

static void roce_close(struct hca *h)
{
	struct roce *r = h->priv;

	if (r != NULL && r->out >= 0)
		(void)close(r->out);
	if (r != NULL && r->owner >= 0)
		(void)close(r->owner);
	carrier_close(h);
}

/* ---- Packets ------------------------------------------------------------------------------- */

static void to_station(struct hca *h, const struct cw_gid *dst, const struct cw_ipoib_tx *tx,
		       uint32_t psn, const uint8_t *data, size_t len)
{
	const struct roce *r = h->priv;
	uint8_t buf[PACKET_MAX];
	struct sockaddr_storage to;
	socklen_t tolen = sockaddr_of(dst, 0, &to);
	int n = cw_ipoib_roce_build(buf, sizeof(buf), &r->s.own, dst, tx, psn, data, len);

	carrier_sent(h,
		     n < 0 ? n : sendto(r->out, buf, (size_t)n, 0, (struct sockaddr *)&to, tolen));
}

static void roce_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn,
		      const uint8_t *data, size_t len)
{
	const struct roce *r = h->priv;
	const struct cw_gid *to[CARRIER_STATIONS];
	unsigned i, n = stations_for(&r->s, tx, to);

	for (i = 0; i < n; i++)
		to_station(h, to[i], tx, psn, data, len);
	if (n == 0)
		h->n.tx_errors++;
}

static bool to_group(const struct roce *r, const struct cw_ipoib_tx *rx)
{
	return rx->dqpn == CW_IB_QPN_MCAST && stations_grouped(&r->s) &&
	       memcmp(r->s.group.o, rx->dgid, 16) == 0;
}

static void roce_packet(struct hca *h, const uint8_t *ip, size_t len)
{
	const struct roce *r = h->priv;
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	size_t n;

	if (cw_ipoib_roce_parse(ip, len, &rx, &data, &n) < 0) {
		h->n.rx_bad++;
		return;
	}
	rx.slid = stations_lid(&r->s, rx.sgid);
	if (rx.slid == 0 || (memcmp(r->s.own.o, rx.dgid, 16) != 0 && !to_group(r, &rx))) {
		h->n.rx_forbidden++;
		return;
	}
	rx.dlid = h->conf.lid;
	if (rx.dqpn == CW_IB_QPN_MCAST && !stations_mgid(h, &rx, data, n))
		h->n.rx_no_partition++;
	else
		hca_datagram(h, &rx, data, n);
}

static void roce_receive(struct hca *h)
{
	uint8_t buf[PACKET_MAX];
	unsigned i;
	ssize_t n;

	for (i = 0; i < BURST; i++) {
		if ((n = recv(h->fd, buf, sizeof(buf), 0)) < 0)
			return;
		roce_packet(h, buf, (size_t)n);
	}
}

const struct carrier_ops carrier_roce = {
	.prefix = "roce:",
	.open = roce_open,
	.close = roce_close,
	.send = roce_send,
	.receive = roce_receive,
};
