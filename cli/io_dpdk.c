/* io_dpdk.c - a port of DPDK: one queue each way, polled. DPDK is started with the first port. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "cli/io_ops.h"
#include "daemon/eal_args.h"

#define DESCRIPTORS 1024
#define MBUFS       (4 * DESCRIPTORS - 1)
#define CACHE       256
#define FRAME_MAX                                                                      \
	16384u /* what is received: net_af_packet asks for room as large as its ring's \
		*/
#define MEGABYTES  128
#define FULL_US    20 /* pause while the device takes nothing, and how many of them */
#define FULL_TRIES 500

struct port {
	uint16_t id;
	bool attached, is_vdev;
	char name[64];
	struct rte_mempool *pool;
	struct rte_mbuf *in[IO_BURST], *out[IO_BURST];
	unsigned nin;
	uint64_t unusable; /* frames in several pieces */
	uint64_t refused;  /* frames that the device did not take */
};

/* ---- DPDK's environment ---------------------------------------------------------------------- */

static char words[128]; /* of DPDK's log: why it refused something, the first line of it */

static void keep_line(const char *text, size_t len)
{
	if (words[0] == '\0')
		(void)snprintf(words, sizeof(words), "%.*s", (int)len, text);
}

static int fail(const struct io *io, int code, const char *what, char err[IO_ERROR_MAX])
{
	(void)snprintf(err, IO_ERROR_MAX, "DPDK device %.60s: %s: %s%s%s%s", io->device, what,
		       strerror(code), words[0] != '\0' ? " (in DPDK's words: " : "", words,
		       words[0] != '\0' ? ")" : "");
	return -1;
}

static void stop_dpdk(void)
{
	(void)rte_eal_cleanup();
}

static int start_dpdk(const struct io *io, char err[IO_ERROR_MAX])
{
	static struct cw_eal_args a;
	static bool started;
	char list[512];
	unsigned cpu[256];

	if (started)
		return 0;
	cw_eal_redirect_log(keep_line);
	cw_eal_add(&a, "causeway");
	(void)cw_eal_add_memory(&a, MEGABYTES);
	/* One thread, this one, on any CPU that the process may use. */
	if (cw_eal_list_cpus(list, sizeof(list), cpu, 256) > 0)
		cw_eal_add(&a, "--lcores=0@(%s)", list);
	cw_eal_add_buses(&a, !cw_eal_is_vdev(io->device));
	cw_eal_add(&a, "--file-prefix=causeway-%d", (int)getpid());
	if (cw_eal_start(&a) < 0)
		return fail(io, rte_errno, "DPDK does not start", err);
	started = true;
	(void)atexit(stop_dpdk);
	return 0;
}

/* ---- Open and close -------------------------------------------------------------------------- */

static int attach(struct io *io, struct port *p, char err[IO_ERROR_MAX])
{
	size_t n = strcspn(io->device, ",");
	const char *args = io->device[n] == ',' ? io->device + n + 1 : "";
	int rc;

	if (n == 0 || n >= sizeof(p->name))
		return fail(io, EINVAL, "its name", err);
	(void)snprintf(p->name, sizeof(p->name), "%.*s", (int)n, io->device);
	p->is_vdev = cw_eal_is_vdev(p->name);
	words[0] = '\0'; /* those of a start that went well */
	rc = p->is_vdev ? rte_eal_hotplug_add("vdev", p->name, args) : rte_dev_probe(io->device);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(p->name, &p->id);
	if (rc != 0)
		return fail(io, -rc, "it can't be attached", err);
	p->attached = true;
	return 0;
}

/* The largest packet that the device takes, at most a jumbo one. */
static unsigned usable_mtu(const struct port *p, const struct rte_eth_dev_info *info)
{
	uint32_t mtu = RTE_MIN(FRAME_MAX - RTE_ETHER_HDR_LEN, (uint32_t)info->max_mtu);
	uint16_t now = 0;

	if (info->max_mtu == UINT16_MAX && info->max_rx_pktlen > RTE_ETHER_HDR_LEN)
		mtu = RTE_MIN(mtu, info->max_rx_pktlen - RTE_ETHER_HDR_LEN);
	/* Not every device can be changed: it keeps what it has. */
	if (rte_eth_dev_set_mtu(p->id, (uint16_t)mtu) != 0 && rte_eth_dev_get_mtu(p->id, &now) == 0)
		mtu = RTE_MIN(mtu, (uint32_t)now);
	return mtu;
}

static int start(struct io *io, struct port *p, char err[IO_ERROR_MAX])
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	int socket = rte_eth_dev_socket_id(p->id), rc;

	p->pool = rte_pktmbuf_pool_create(p->name, MBUFS, CACHE, 0,
					  RTE_PKTMBUF_HEADROOM + FRAME_MAX, SOCKET_ID_ANY);
	if (p->pool == NULL)
		return fail(io, rte_errno, "packet buffers", err);
	if ((rc = rte_eth_dev_info_get(p->id, &info)) != 0 ||
	    (rc = rte_eth_dev_configure(p->id, 1, 1, &conf)) != 0 ||
	    (rc = rte_eth_rx_queue_setup(p->id, 0, DESCRIPTORS, (unsigned)socket, NULL, p->pool)) !=
		    0 ||
	    (rc = rte_eth_tx_queue_setup(p->id, 0, DESCRIPTORS, (unsigned)socket, NULL)) != 0)
		return fail(io, -rc, "setting it up", err);
	io->mtu = usable_mtu(p, &info);
	if ((rc = rte_eth_dev_start(p->id)) != 0 || (rc = rte_eth_macaddr_get(p->id, &mac)) != 0)
		return fail(io, -rc, "starting it", err);
	memcpy(io->mac, mac.addr_bytes, 6);
	if (io->o.promiscuous && (rc = rte_eth_promiscuous_enable(p->id)) != 0)
		return fail(io, -rc, "promiscuous mode", err);
	/* Neighbour solicitations go to a group. */
	if (io->o.ip_version == 6)
		(void)rte_eth_allmulticast_enable(p->id);
	return 0;
}

static int dpdk_open(struct io *io, char err[IO_ERROR_MAX])
{
	struct port *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return fail(io, ENOMEM, "memory", err);
	io->priv = p;
	if (io->o.frame_max > FRAME_MAX)
		return fail(io, EMSGSIZE, "frames", err);
	return start_dpdk(io, err) < 0 || attach(io, p, err) < 0 ? -1 : start(io, p, err);
}

static void free_frames(struct rte_mbuf **m, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		rte_pktmbuf_free(m[i]);
		m[i] = NULL;
	}
}

static void dpdk_close(struct io *io)
{
	struct rte_eth_dev_info info;
	struct port *p = io->priv;

	if (p == NULL)
		return;
	free_frames(p->in, p->nin);
	free_frames(p->out, IO_BURST);
	if (p->attached) {
		bool known = rte_eth_dev_info_get(p->id, &info) == 0;

		(void)rte_eth_dev_stop(p->id);
		(void)rte_eth_dev_close(p->id);
		if (p->is_vdev)
			(void)rte_eal_hotplug_remove("vdev", p->name);
		else if (known && info.device != NULL)
			(void)rte_dev_remove(info.device);
	}
	rte_mempool_free(p->pool);
	free(p);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static uint8_t *dpdk_room(struct io *io, unsigned i)
{
	struct port *p = io->priv;

	if (p->out[i] == NULL)
		p->out[i] = rte_pktmbuf_alloc(p->pool);
	return p->out[i] != NULL ? rte_pktmbuf_mtod(p->out[i], uint8_t *) : NULL;
}

static int dpdk_send(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX])
{
	struct port *p = io->priv;
	uint16_t sent = 0;
	unsigned i, tries;

	for (i = 0; i < n; i++) {
		if (len[i] > io->mtu + RTE_ETHER_HDR_LEN)
			return fail(io, EMSGSIZE, "send", err);
		p->out[i]->data_len = (uint16_t)len[i];
		p->out[i]->pkt_len = (uint32_t)len[i];
	}
	for (tries = 0; sent < n && tries < FULL_TRIES; tries++) {
		if (tries > 0)
			(void)usleep(FULL_US);
		sent = (uint16_t)(sent +
				  rte_eth_tx_burst(p->id, 0, p->out + sent, (uint16_t)(n - sent)));
	}
	/* A link that is down takes nothing: lost, as on any link. */
	p->refused += n - sent;
	free_frames(p->out + sent, n - sent);
	memset(p->out, 0, n * sizeof(struct rte_mbuf *)); /* the device's now */
	return 0;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Send an answer of `len` octets behind the Ethernet header; an answer that finds no room is lost
 * like any frame. */
static void answer(struct io *io, const uint8_t *dst, uint16_t type, const uint8_t *body,
		   size_t len)
{
	struct port *p = io->priv;
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);
	uint8_t *f =
		m != NULL ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(CW_SIZE_ETH + len)) : NULL;

	if (f == NULL)
		return;
	memcpy(f, dst, 6);
	memcpy(f + 6, io->mac, 6);
	cw_put_be16(f + 12, type);
	memcpy(f + CW_SIZE_ETH, body, len);
	if (rte_eth_tx_burst(p->id, 0, &m, 1) == 0)
		rte_pktmbuf_free(m);
}

static void answer_arp(struct io *io, const uint8_t *arp, size_t len)
{
	uint8_t body[CW_SIZE_ARP];

	if (io->o.ip_version != 4 || !cw_arp_valid(arp, len) || cw_arp_op(arp) != CW_ARP_REQUEST ||
	    memcmp(cw_arp_tpa(arp), io->o.address, 4) != 0)
		return;
	cw_arp_build(body, CW_ARP_REPLY, io->mac, io->o.address, cw_arp_sha(arp), cw_arp_spa(arp));
	answer(io, cw_arp_sha(arp), CW_ETHERTYPE_ARP, body, sizeof(body));
}

static void answer_nd(struct io *io, const uint8_t *eth, size_t len)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1}, unspecified[16];
	uint8_t body[CW_ND_MESSAGE], group[6];
	struct cw_nd nd;
	bool dad;

	if (cw_nd_parse(eth + CW_SIZE_ETH, len - CW_SIZE_ETH, &nd) < 0 || nd.type != CW_ICMP6_NS ||
	    memcmp(nd.target, io->o.address, 16) != 0)
		return;
	/* Somebody checks whether the address is free: tell everybody (RFC 4861 7.2.4). */
	dad = memcmp(nd.src, unspecified, 16) == 0;
	cw_nd_group_mac(group, all_nodes);
	cw_nd_build(body, CW_ICMP6_NA, io->o.address, dad ? all_nodes : nd.src, nd.target, io->mac);
	answer(io,
	       dad              ? group
	       : nd.mac != NULL ? nd.mac
				: eth + 6,
	       CW_ETHERTYPE_IP6, body, sizeof(body));
}

static bool is_udp_for(const struct io_opts *o, const uint8_t *ip, size_t len)
{
	bool v4 = o->ethertype == CW_ETHERTYPE_IP4;
	size_t head = v4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6;
	uint32_t port;

	if (len < head + CW_SIZE_UDP || ip[v4 ? 9 : 6] != IPPROTO_UDP)
		return false;
	port = cw_udp_dport(ip + head);
	return port >= o->udp_first && port <= o->udp_last;
}

/* Is the frame for the caller? What is for a kernel, and there is none, is answered here. */
static bool is_wanted(struct io *io, const uint8_t *eth, size_t len)
{
	uint32_t type;

	if (len < CW_SIZE_ETH)
		return false;
	type = cw_eth_type(eth);
	if (type == CW_ETHERTYPE_ARP)
		answer_arp(io, eth + CW_SIZE_ETH, len - CW_SIZE_ETH);
	if (type == CW_ETHERTYPE_IP6 && io->o.ip_version == 6 && len > CW_SIZE_ETH + CW_SIZE_IPV6 &&
	    cw_ipv6_next_header(eth + CW_SIZE_ETH) == IPPROTO_ICMPV6)
		answer_nd(io, eth, len);
	if (type != io->o.ethertype || (!io->o.promiscuous && memcmp(eth, io->mac, 6) != 0))
		return false;
	return io->o.udp_last == 0 || is_udp_for(&io->o, eth + CW_SIZE_ETH, len - CW_SIZE_ETH);
}

static unsigned dpdk_recv(struct io *io, struct io_frame *f, unsigned n)
{
	struct port *p = io->priv;
	unsigned i, got = 0;

	free_frames(p->in, p->nin);
	p->nin = rte_eth_rx_burst(p->id, 0, p->in, (uint16_t)n);
	for (i = 0; i < p->nin; i++) {
		uint8_t *data = rte_pktmbuf_mtod(p->in[i], uint8_t *);

		if (p->in[i]->nb_segs > 1)
			p->unusable++;
		else if (is_wanted(io, data, p->in[i]->data_len))
			f[got++] = (struct io_frame){data, p->in[i]->data_len};
	}
	return got;
}

static uint64_t dpdk_drops(struct io *io)
{
	struct port *p = io->priv;
	struct rte_eth_stats s;

	if (rte_eth_stats_get(p->id, &s) != 0)
		return p->unusable + p->refused;
	return p->unusable + p->refused + s.imissed + s.ierrors + s.rx_nombuf;
}

const struct io_ops io_dpdk = {
	.open = dpdk_open,
	.close = dpdk_close,
	.recv = dpdk_recv,
	.room = dpdk_room,
	.send = dpdk_send,
	.drops = dpdk_drops,
};
