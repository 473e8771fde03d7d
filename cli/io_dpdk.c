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
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "cli/clock.h"
#include "cli/io_neigh.h"
#include "cli/io_ops.h"
#include "daemon/eal_args.h"
#include "daemon/io/pci.h"

#define DESCRIPTORS 1024
#define MBUFS       (4 * DESCRIPTORS - 1)
#define CACHE       256
#define FRAME_MAX                                                                      \
	16384u /* what is received: net_af_packet asks for room as large as its ring's \
		*/
#define MEGABYTES  128
#define FULL_US    20 /* pause while the device takes nothing, and how many of them */
#define FULL_TRIES 500
#define CONNECT_MS 250

struct port {
	uint16_t id;
	bool attached, is_vdev;
	int claim;     /* of a PCI device; -1: none */
	bool connects; /* the client of a memif: it looks for its server when it is started, once */
	char name[64];
	struct rte_mempool *pool;
	struct rte_mbuf *in[IO_BURST], *out[IO_BURST];
	unsigned nin;
	uint64_t unusable;      /* frames in several pieces */
	uint64_t refused;       /* frames that the device did not take */
	struct io_neigh *neigh; /* NULL: the port has no IP address */
	uint64_t connect_at;    /* ms */
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
	(void)snprintf(err, IO_ERROR_MAX, "DPDK device %.60s: %s: %s%s%.100s%s", io->device, what,
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
	(void)cw_eal_add_memory(&a, MEGABYTES, 0);
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
	char pci[CW_PCI_NAME];
	bool is_pci;
	int rc;

	if (n == 0 || n >= sizeof(p->name))
		return fail(io, EINVAL, "its name", err);
	(void)snprintf(p->name, sizeof(p->name), "%.*s", (int)n, io->device);
	p->is_vdev = cw_eal_is_vdev(p->name);
	p->connects = strncmp(p->name, "net_memif", 9) == 0 && strstr(args, "role=server") == NULL;
	words[0] = '\0'; /* those of a start that went well */
	if ((is_pci = cw_pci_name(p->name, pci))) {
		memcpy(p->name, pci, sizeof(pci));
		p->claim = cw_pci_claim(CW_PCI_DEVICES, p->name);
		if (p->claim < 0 && errno == EWOULDBLOCK)
			return fail(io, EBUSY, "another process has it", err);
	}
	rc = p->is_vdev ? rte_eal_hotplug_add("vdev", p->name, args) : rte_dev_probe(io->device);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(p->name, &p->id);
	if (rc != 0 && is_pci &&
	    cw_pci_explain(CW_PCI_DEVICES, p->name, rte_eal_iova_mode() == RTE_IOVA_PA, err,
			   IO_ERROR_MAX))
		return -1;
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
	rc = rte_eth_dev_start(p->id);
	if ((rc != 0 && !p->connects) || (rc = rte_eth_macaddr_get(p->id, &mac)) != 0)
		return fail(io, -rc, "starting it", err);
	memcpy(io->mac, mac.addr_bytes, 6);
	if (io->o.promiscuous && (rc = rte_eth_promiscuous_enable(p->id)) != 0)
		return fail(io, -rc, "promiscuous mode", err);
	/* Neighbour solicitations go to a group. */
	if (io->o.ip_version == 6)
		(void)rte_eth_allmulticast_enable(p->id);
	return 0;
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

static uint64_t now_ms(void)
{
	return clock_now_ns() / 1000000;
}

static void send_one(void *arg, const uint8_t *frame, size_t len)
{
	struct port *p = arg;
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);
	char *at = m != NULL ? rte_pktmbuf_append(m, (uint16_t)len) : NULL;

	if (at == NULL)
		return;
	memcpy(at, frame, len);
	if (rte_eth_tx_burst(p->id, 0, &m, 1) == 0)
		rte_pktmbuf_free(m);
}

static int make_neigh(struct io *io, struct port *p, char err[IO_ERROR_MAX])
{
	struct io_neigh_opts o = {.ip_version = io->o.ip_version, .send = send_one, .arg = p};

	if (o.ip_version == 0)
		return 0;
	memcpy(o.address, io->o.address, 16);
	memcpy(o.mac, io->mac, 6);
	p->neigh = io_neigh_new(&o);
	return p->neigh != NULL ? 0 : fail(io, ENOMEM, "memory", err);
}

static void dpdk_ask(struct io *io, const uint8_t *hop)
{
	struct port *p = io->priv;

	io_neigh_ask(p->neigh, hop, now_ms());
}

static int dpdk_hop(const struct io *io, uint8_t mac[6])
{
	const struct port *p = io->priv;

	return io_neigh_hop(p->neigh, mac);
}

/* ---- Open and close, both -------------------------------------------------------------------- */

static int dpdk_open(struct io *io, char err[IO_ERROR_MAX])
{
	struct port *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return fail(io, ENOMEM, "memory", err);
	p->claim = -1;
	io->priv = p;
	if (io->o.frame_max > FRAME_MAX)
		return fail(io, EMSGSIZE, "frames", err);
	if (start_dpdk(io, err) < 0 || attach(io, p, err) < 0 || start(io, p, err) < 0)
		return -1;
	return make_neigh(io, p, err);
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
	if (p->claim >= 0)
		(void)close(p->claim);
	io_neigh_free(p->neigh);
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

/* Is the frame for the caller? ARP and ND are a kernel's, and there is none. */
static bool is_wanted(struct io *io, const uint8_t *eth, size_t len)
{
	struct port *p = io->priv;
	uint32_t type;

	if (len < CW_SIZE_ETH)
		return false;
	type = cw_eth_type(eth);
	if (p->neigh != NULL && type != CW_ETHERTYPE_IP4)
		io_neigh_input(p->neigh, eth, len, now_ms());
	if (type != io->o.ethertype || (!io->o.promiscuous && memcmp(eth, io->mac, 6) != 0))
		return false;
	return io->o.udp_last == 0 || is_udp_for(&io->o, eth + CW_SIZE_ETH, len - CW_SIZE_ETH);
}

/* Its server was not there yet, or has gone. */
static void connect_again(struct port *p)
{
	struct rte_eth_link link = {0};

	(void)rte_eth_link_get_nowait(p->id, &link);
	if (link.link_status == RTE_ETH_LINK_UP)
		return;
	(void)rte_eth_dev_stop(p->id);
	(void)rte_eth_dev_start(p->id);
}

static void run_timers(struct port *p, uint64_t now)
{
	if (p->neigh != NULL)
		io_neigh_tick(p->neigh, now);
	if (p->connects && now >= p->connect_at) {
		connect_again(p);
		p->connect_at = now + CONNECT_MS;
	}
}

static unsigned dpdk_recv(struct io *io, struct io_frame *f, unsigned n)
{
	struct port *p = io->priv;
	unsigned i, got = 0;

	run_timers(p, now_ms());
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
	.ask = dpdk_ask,
	.hop = dpdk_hop,
};
