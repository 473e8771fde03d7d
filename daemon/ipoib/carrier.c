/* carrier.c - carriers of whole frames: Ethernet of EtherType 0x88B5, and such frames in UDP.
 *
 * The octets are those of the lab's vib driver: an Ethernet header, LRH [GRH] BTH DETH, payload,
 * ICRC, VCRC. Over UDP they are what QEMU's -netdev dgram sends: one frame a datagram. Between the
 * stations of a UDP carrier this gateway is the switch, as there is nobody else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_packet.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "daemon/ipoib/int.h"
#include "daemon/log.h"

enum { SOCKET_BUFFER = 4 << 20 };

/* An Ethernet header and the frame LRH .. VCRC of a datagram; its length, or an error. `out` has
 * room for ETH_HEAD + FRAME_MAX. */
static int build(struct hca *h, uint8_t *out, const struct cw_ipoib_tx *tx, uint32_t psn,
		 const uint8_t *data, size_t len)
{
	int n;

	memset(out, 0xff, 6);
	memcpy(out + 6, h->mac, 6);
	cw_put_be16(out + 12, CW_ETHERTYPE_IB);
	n = cw_ipoib_frame_build(out + ETH_HEAD, FRAME_MAX, tx, psn, data, len);
	return n < 0 ? n : n + ETH_HEAD;
}

void carrier_sent(struct hca *h, ssize_t rc)
{
	if (rc >= 0)
		h->n.tx_packets++;
	else
		h->n.tx_errors++;
}

void carrier_buffers(int fd)
{
	int size = SOCKET_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

const char *carrier_item(const char **at)
{
	const char *item = *at + 1;

	if (**at != ',')
		return NULL;
	*at = item + strcspn(item, ",");
	return item;
}

/* ---- Ethernet ------------------------------------------------------------------------------ */

static int ethernet_bind(int fd, int ifindex)
{
	struct sockaddr_ll sll = {.sll_family = AF_PACKET,
				  .sll_protocol = htons(CW_ETHERTYPE_IB),
				  .sll_ifindex = ifindex};
	int one = 1;

	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0)
		return -1;
	return bind(fd, (struct sockaddr *)&sll, sizeof(sll));
}

/* An IB packet of 2048 octets with all headers has 2122: below that only small datagrams pass. */
static void check_mtu(struct hca *h, struct ifreq *ifr)
{
	enum { NEEDED = CW_SIZE_LRH + CW_SIZE_GRH + 12 + 8 + 2048 + 4 + 2 };

	if (ioctl(h->fd, SIOCGIFMTU, ifr) == 0 && ifr->ifr_mtu < NEEDED)
		cw_log(CW_LOG_WARNING,
		       "hca %s: interface %s has an MTU of %d; IPoIB's of 2044 needs %d",
		       h->conf.name, ifr->ifr_name, ifr->ifr_mtu, NEEDED);
}

static int ethernet_open(struct hca *h, const char *arg, char *why, size_t size)
{
	struct ifreq ifr = {0};
	int ifindex = (int)if_nametoindex(arg);

	if (strlen(arg) >= sizeof(ifr.ifr_name) || ifindex == 0) {
		(void)snprintf(why, size, "no interface %s", arg);
		return CW_E_NAME;
	}
	memcpy(ifr.ifr_name, arg, strlen(arg));
	h->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0 || ioctl(h->fd, SIOCGIFHWADDR, &ifr) < 0) {
		(void)snprintf(why, size, "interface %s: %s", arg, strerror(errno));
		return CW_E_IO;
	}
	memcpy(h->mac, ifr.ifr_hwaddr.sa_data, 6);
	carrier_buffers(h->fd);
	check_mtu(h, &ifr);
	if (ethernet_bind(h->fd, ifindex) == 0)
		return CW_OK;
	(void)snprintf(why, size, "interface %s: %s", arg, strerror(errno));
	return CW_E_IO;
}

static void ethernet_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn,
			  const uint8_t *data, size_t len)
{
	uint8_t buf[ETH_HEAD + FRAME_MAX];
	int n = build(h, buf, tx, psn, data, len);

	carrier_sent(h, n < 0 ? n : send(h->fd, buf, (size_t)n, 0));
}

static void ethernet_receive(struct hca *h)
{
	uint8_t buf[ETH_HEAD + FRAME_MAX];
	unsigned i;
	ssize_t n;

	for (i = 0; i < BURST; i++) {
		if ((n = recv(h->fd, buf, sizeof(buf), 0)) < 0)
			return;
		if (n > ETH_HEAD)
			hca_frame(h, buf + ETH_HEAD, (size_t)n - ETH_HEAD);
	}
}

void carrier_close(struct hca *h)
{
	if (h->fd >= 0)
		(void)close(h->fd);
	free(h->priv);
}

const struct carrier_ops carrier_ethernet = {
	.prefix = "ethernet:",
	.open = ethernet_open,
	.close = carrier_close,
	.send = ethernet_send,
	.receive = ethernet_receive,
};

/* ---- UDP ----------------------------------------------------------------------------------- */

struct udp {
	unsigned n;
	struct {
		struct sockaddr_storage addr;
		socklen_t len;
		uint16_t lid; /* that it was last heard with; 0: none yet */
	} station[CARRIER_STATIONS];
};

/* "ADDRESS:PORT", or "[IPV6]:PORT". */
static bool parse_station(const char *text, size_t n, struct sockaddr_storage *a, socklen_t *len)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
	struct sockaddr_in *four = (struct sockaddr_in *)a;
	char buf[64], *colon, *end;
	unsigned long port;

	if (n >= sizeof(buf))
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	memset(a, 0, sizeof(*a));
	if ((colon = strrchr(buf, ':')) == NULL)
		return false;
	*colon = '\0';
	port = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || port < 1 || port > 65535)
		return false;
	if (buf[0] == '[' && colon > buf + 1 && colon[-1] == ']') {
		colon[-1] = '\0';
		*len = sizeof(*six);
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, buf + 1, &six->sin6_addr) == 1;
	}
	*len = sizeof(*four);
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, buf, &four->sin_addr) == 1;
}

static int udp_stations(struct udp *u, const char *arg, struct sockaddr_storage *own,
			socklen_t *own_len, char *why, size_t size)
{
	const char *at = arg + strcspn(arg, ","), *text;

	if (!parse_station(arg, (size_t)(at - arg), own, own_len) || *at == '\0') {
		(void)snprintf(why, size, "must be ADDRESS:PORT,ADDRESS:PORT...");
		return CW_E_SYNTAX;
	}
	while ((text = carrier_item(&at)) != NULL) {
		if (u->n == CARRIER_STATIONS) {
			(void)snprintf(why, size, "more than %d stations", CARRIER_STATIONS);
			return CW_E_SPACE;
		}
		if (!parse_station(text, (size_t)(at - text), &u->station[u->n].addr,
				   &u->station[u->n].len) ||
		    u->station[u->n].addr.ss_family != own->ss_family) {
			(void)snprintf(why, size, "'%.*s' is no ADDRESS:PORT of the same family",
				       (int)(at - text), text);
			return CW_E_SYNTAX;
		}
		u->n++;
	}
	return CW_OK;
}

static int udp_open(struct hca *h, const char *arg, char *why, size_t size)
{
	struct sockaddr_storage own;
	struct udp *u = calloc(1, sizeof(*u));
	socklen_t len;
	int err;

	if ((h->priv = u) == NULL) {
		(void)snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	if ((err = udp_stations(u, arg, &own, &len, why, size)) < 0)
		return err;
	/* A station of its own among QEMU's: locally administered, from the GUID. */
	memcpy(h->mac, h->gid + 10, 6);
	h->mac[0] = 0x02;
	h->fd = socket(own.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd >= 0 && bind(h->fd, (struct sockaddr *)&own, len) == 0) {
		carrier_buffers(h->fd);
		return CW_OK;
	}
	(void)snprintf(why, size, "%s", strerror(errno));
	return CW_E_IO;
}

static void udp_to(struct hca *h, unsigned i, const uint8_t *buf, size_t len)
{
	const struct udp *u = h->priv;

	carrier_sent(h, sendto(h->fd, buf, len, 0, (const struct sockaddr *)&u->station[i].addr,
			       u->station[i].len));
}

/* To the station with that LID; to all but `except` when it is not known, or a multicast one. */
static unsigned udp_forward(struct hca *h, unsigned except, uint16_t dlid, const uint8_t *buf,
			    size_t len)
{
	const struct udp *u = h->priv;
	unsigned i, n = 0;

	for (i = 0; i < u->n && dlid < CW_IB_LID_MCAST; i++) {
		if (u->station[i].lid != dlid)
			continue;
		if (i != except)
			udp_to(h, i, buf, len);
		return i != except;
	}
	for (i = 0; i < u->n; i++) {
		if (i == except)
			continue;
		udp_to(h, i, buf, len);
		n++;
	}
	return n;
}

static void udp_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn, const uint8_t *data,
		     size_t len)
{
	uint8_t buf[ETH_HEAD + FRAME_MAX];
	int n = build(h, buf, tx, psn, data, len);

	if (n < 0)
		h->n.tx_errors++;
	else
		(void)udp_forward(h, CARRIER_STATIONS, tx->dlid, buf, (size_t)n);
}

static unsigned udp_who(const struct udp *u, const struct sockaddr_storage *from, socklen_t len)
{
	unsigned i;

	for (i = 0; i < u->n; i++) {
		if (len == u->station[i].len && memcmp(&u->station[i].addr, from, len) == 0)
			break;
	}
	return i;
}

/* Learn where a LID is, pass the frame on, and take it. */
static void udp_frame(struct hca *h, unsigned who, const uint8_t *buf, size_t len)
{
	struct udp *u = h->priv;
	const uint8_t *lrh = buf + ETH_HEAD;
	uint16_t dlid, slid;

	if (len < ETH_HEAD + CW_SIZE_LRH || cw_be16(buf + 12) != CW_ETHERTYPE_IB)
		return;
	dlid = (uint16_t)cw_lrh_dlid(lrh);
	slid = (uint16_t)cw_lrh_slid(lrh);
	if (slid != 0 && slid < CW_IB_LID_MCAST)
		u->station[who].lid = slid;
	if (dlid != h->conf.lid && u->n > 1)
		h->n.switched += udp_forward(h, who, dlid, buf, len);
	hca_frame(h, lrh, len - ETH_HEAD);
}

static void udp_receive(struct hca *h)
{
	uint8_t buf[ETH_HEAD + FRAME_MAX];
	struct udp *u = h->priv;
	struct sockaddr_storage from;
	socklen_t len;
	unsigned i, who;
	ssize_t n;

	for (i = 0; i < BURST; i++) {
		len = sizeof(from);
		memset(&from, 0, sizeof(from));
		n = recvfrom(h->fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);
		if (n < 0 && errno == ECONNREFUSED) /* an earlier datagram's station is not there */
			continue;
		if (n < 0)
			return;
		if ((who = udp_who(u, &from, len)) < u->n)
			udp_frame(h, who, buf, (size_t)n);
	}
}

const struct carrier_ops carrier_udp = {
	.prefix = "udp:",
	.open = udp_open,
	.close = carrier_close,
	.send = udp_send,
	.receive = udp_receive,
};
