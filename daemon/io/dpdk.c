/* dpdk.c - ports of DPDK devices: dpdk:DEVARGS, and files by net_pcap: pcap:rx=FILE,tx=FILE.
 *
 * DEVARGS is what EAL's --vdev or -a take ("net_memif0,role=client", "0000:3b:00.0,..."). Tags are
 * left in the frame unless the configuration has the device take them out; where it does, they come
 * in the mbuf.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pcap/pcap.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_spinlock.h>
#include "causeway/packet.h"
#include "daemon/control/config.h"
#include "daemon/eal_args.h"
#include "daemon/io/pci.h"
#include "daemon/io/port.h"
#include "daemon/io/tags.h"
#include "daemon/log.h"

#define NB_DESC 1024

struct dpdk {
	uint16_t id;
	bool is_vdev, is_pci, all_promisc;
	bool two_tags; /* it may take two out of a frame */
	int claim;     /* of a PCI device; -1: none */
	char name[64];
	unsigned ntx_real;
	uint64_t rx_unusable;   /* no room to put a tag back */
	rte_spinlock_t tx_lock; /* taken when workers must share transmit queues */
};

static uint16_t dpdk_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	struct dpdk *d = p->priv;
	uint16_t got = rte_eth_rx_burst(d->id, (uint16_t)queue, m, n), kept;

	if (!d->two_tags)
		return got;
	kept = cw_tags_settle_burst(m, got);
	if (unlikely(kept < got))
		__atomic_fetch_add(&d->rx_unusable, got - kept, __ATOMIC_RELAXED);
	return kept;
}

static uint16_t dpdk_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
			struct cw_tx_refused *refused)
{
	struct dpdk *d = p->priv;
	uint16_t sent;

	if (d->ntx_real >= cw_io.nworkers)
		return rte_eth_tx_burst(d->id, (uint16_t)queue, m, n);
	rte_spinlock_lock(&d->tx_lock);
	sent = rte_eth_tx_burst(d->id, 0, m, n);
	rte_spinlock_unlock(&d->tx_lock);
	return sent;
}

static void dpdk_stats(const struct cw_port *p, struct cw_port_stats *s)
{
	const struct dpdk *d = p->priv;
	struct rte_eth_stats st;

	memset(s, 0, sizeof(*s));
	if (rte_eth_stats_get(d->id, &st) != 0)
		return;
	s->rx_missed = st.imissed;
	s->rx_truncated = st.ierrors;
	s->rx_nobuf = st.rx_nombuf + __atomic_load_n(&d->rx_unusable, __ATOMIC_RELAXED);
	s->tx_errors = st.oerrors;
}

static bool dpdk_link_up(const struct cw_port *p)
{
	const struct dpdk *d = p->priv;
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(d->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static int dpdk_set_promisc(struct cw_port *p, bool on)
{
	const struct dpdk *d = p->priv;

	return on || d->all_promisc ? rte_eth_promiscuous_enable(d->id)
				    : rte_eth_promiscuous_disable(d->id);
}

static int dpdk_set_vlan_strip(struct cw_port *p, bool on)
{
	const struct dpdk *d = p->priv;
	int mask = rte_eth_dev_get_vlan_offload(d->id);

	if (mask < 0)
		return mask;
	mask = on ? mask | RTE_ETH_VLAN_STRIP_OFFLOAD : mask & ~RTE_ETH_VLAN_STRIP_OFFLOAD;
	return rte_eth_dev_set_vlan_offload(d->id, mask);
}

static void dpdk_about(const struct cw_port *p, struct cw_port_about *about)
{
	const struct dpdk *d = p->priv;
	struct rte_eth_dev_info info;
	struct rte_eth_link link;

	if (rte_eth_dev_info_get(d->id, &info) == 0)
		about->driver = info.driver_name;
	if (rte_eth_link_get_nowait(d->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
	    link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		about->speed_mbps = link.link_speed;
}

static void remove_device(struct dpdk *d)
{
	struct rte_eth_dev_info info;
	struct rte_device *dev = NULL;

	if (rte_eth_dev_info_get(d->id, &info) == 0)
		dev = info.device;
	rte_eth_dev_stop(d->id);
	rte_eth_dev_close(d->id);
	if (d->is_vdev)
		rte_eal_hotplug_remove("vdev", d->name);
	else if (dev != NULL)
		rte_dev_remove(dev);
}

static void free_device(struct dpdk *d)
{
	if (d->claim >= 0)
		close(d->claim);
	free(d);
}

static void dpdk_close(struct cw_port *p)
{
	remove_device(p->priv);
	free_device(p->priv);
}

/* Spread flows over receive queues where the device can hash. */
static void choose_rss(struct rte_eth_conf *conf, const struct rte_eth_dev_info *info)
{
	uint64_t hf =
		(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) & info->flow_type_rss_offloads;

	if (hf == 0)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = hf;
}

static int setup_queues(const struct dpdk *d, const struct cw_port *p, int socket)
{
	unsigned q;
	int rc;

	for (q = 0; q < p->nrxq; q++) {
		rc = rte_eth_rx_queue_setup(d->id, (uint16_t)q, NB_DESC, (unsigned)socket, NULL,
					    cw_io.pool);
		if (rc != 0)
			return rc;
	}
	for (q = 0; q < d->ntx_real; q++) {
		rc = rte_eth_tx_queue_setup(d->id, (uint16_t)q, NB_DESC, (unsigned)socket, NULL);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Jumbo as far as the device goes. */
static uint32_t largest_mtu(const struct rte_eth_dev_info *info)
{
	uint32_t mtu = RTE_MIN((uint32_t)CW_MAX_FRAME, (uint32_t)info->max_mtu), overhead;

	overhead = info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu
			   ? info->max_rx_pktlen - info->max_mtu
			   : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	if (info->max_rx_pktlen > overhead)
		mtu = RTE_MIN(mtu, info->max_rx_pktlen - overhead);
	return mtu;
}

/* Neighbour discovery is multicast, and a frame of any VLAN may be for us. DPDK's virtio-net driver
 * takes the VLAN filter that a device offers whether it is asked to or not, and then no VLAN passes
 * (virtio 1.2, 5.1.6.5.3) but in promiscuous mode. Other stations' frames end in the graph. */
static void open_filters(struct dpdk *d, const char *device, const struct rte_eth_dev_info *info)
{
	if (rte_eth_allmulticast_enable(d->id) != 0)
		cw_log(CW_LOG_DEBUG, "port %s: takes all multicast or none, as it is", device);
	d->all_promisc = strcmp(info->driver_name, "net_virtio") == 0 &&
			 (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
	if (d->all_promisc && rte_eth_promiscuous_enable(d->id) != 0)
		cw_log(CW_LOG_WARNING, "port %s: tagged frames don't pass its VLAN filter", device);
}

static int start_device(struct dpdk *d, struct cw_port *p)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	int rc;

	if ((rc = rte_eth_dev_info_get(d->id, &info)) != 0)
		return rc;
	/* Adapters may mark such frames, whether they say so or not; software doesn't. */
	d->two_tags = !d->is_vdev || (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_QINQ_STRIP) != 0;
	p->nrxq = RTE_MIN(cw_io.nworkers, (unsigned)RTE_MAX(info.max_rx_queues, 1));
	d->ntx_real = RTE_MIN(cw_io.nworkers, (unsigned)RTE_MAX(info.max_tx_queues, 1));
	p->ntxq = cw_io.nworkers;
	if (p->nrxq > 1) {
		choose_rss(&conf, &info);
		/* Queues without a hash would all but the first stay empty, or repeat a file. */
		if (conf.rxmode.mq_mode != RTE_ETH_MQ_RX_RSS)
			p->nrxq = 1;
	}
	if (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.rxmode.mtu = largest_mtu(&info);
	/* Software devices that tell no MTU take more than their largest packet. */
	p->max_mtu = d->is_vdev && info.max_mtu == UINT16_MAX ? 0 : conf.rxmode.mtu;
	if ((rc = rte_eth_dev_configure(d->id, (uint16_t)p->nrxq, (uint16_t)d->ntx_real, &conf)) !=
	    0)
		return rc;
	if ((rc = setup_queues(d, p, rte_eth_dev_socket_id(d->id))) != 0)
		return rc;
	if ((rc = rte_eth_dev_start(d->id)) != 0)
		return rc;
	open_filters(d, p->device, &info);
	if (rte_eth_macaddr_get(d->id, &mac) == 0)
		memcpy(p->mac, mac.addr_bytes, sizeof(p->mac));
	return 0;
}

static void explain(const struct dpdk *d, const char *all, int rc, char *why, size_t size)
{
	if (d->is_pci &&
	    cw_pci_explain(CW_PCI_DEVICES, d->name, rte_eal_iova_mode() == RTE_IOVA_PA, why, size))
		return;
	snprintf(why, size, "DPDK device %s: %s (DPDK's own words are in the log at level debug)",
		 all, rc == -ENOTSUP ? "DPDK has no driver for it" : strerror(-rc));
}

/* False: another process has it. */
static bool claim(struct dpdk *d)
{
	d->claim = d->is_pci ? cw_pci_claim(CW_PCI_DEVICES, d->name) : -1;
	return !d->is_pci || d->claim >= 0 || errno != EWOULDBLOCK;
}

static int attach(struct cw_port *p, const char *name, const char *args, bool is_vdev, char *why,
		  size_t size)
{
	struct dpdk *d = calloc(1, sizeof(*d));
	char all[512];
	int rc;

	if (d == NULL) {
		snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	d->is_vdev = is_vdev;
	d->is_pci = !is_vdev && cw_pci_name(name, all);
	snprintf(d->name, sizeof(d->name), "%s", name);
	rte_spinlock_init(&d->tx_lock);
	snprintf(all, sizeof(all), "%s%s%s", name, args[0] != '\0' ? "," : "", args);
	if (!claim(d)) {
		snprintf(why, size, "PCI device %s is in use by another process", name);
		free_device(d);
		return CW_E_CONFLICT;
	}
	rc = is_vdev ? rte_eal_hotplug_add("vdev", name, args) : rte_dev_probe(all);
	if (rc == 0 && (rc = rte_eth_dev_get_port_by_name(name, &d->id)) == 0) {
		if ((rc = start_device(d, p)) == 0) {
			p->priv = d;
			return CW_OK;
		}
		remove_device(d);
	}
	if (rte_eth_dev_count_avail() >= RTE_MAX_ETHPORTS)
		snprintf(why, size,
			 "DPDK device %s: DPDK has %d devices already, which is its limit", all,
			 RTE_MAX_ETHPORTS);
	else
		explain(d, all, rc, why, size);
	free_device(d);
	return CW_E_ARG;
}

_Static_assert(CW_CONFIG_DPDK_PORTS == RTE_MAX_ETHPORTS, "the limit of a configuration");

static int dpdk_open(struct cw_port *p, const char *arg, char *why, size_t size)
{
	size_t n = strcspn(arg, ",");
	char name[64], pci[CW_PCI_NAME];
	uint16_t id;

	if (n == 0 || n >= sizeof(name)) {
		snprintf(why, size, "a DPDK device name of 1 to %zu letters must follow dpdk:",
			 sizeof(name) - 1);
		return CW_E_SYNTAX;
	}
	snprintf(name, sizeof(name), "%.*s", (int)n, arg);
	if (cw_pci_name(name, pci)) {
		snprintf(name, sizeof(name), "%s", pci);
		if (rte_eth_dev_get_port_by_name(name, &id) == 0) {
			snprintf(why, size, "PCI device %s is open as another port", name);
			return CW_E_CONFLICT;
		}
	}
	return attach(p, name, arg[n] == ',' ? arg + n + 1 : "", cw_eal_is_vdev(name), why, size);
}

/* A file of LINKTYPE_USER0 holds UB packets without a frame around them. */
static int probe_file(const char *file, bool *bare, char *why, size_t size)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *pc = pcap_open_offline(file, err);
	int link;

	if (pc == NULL) {
		snprintf(why, size, "%s", err);
		return CW_E_ARG;
	}
	link = pcap_datalink(pc);
	pcap_close(pc);
	*bare = link == CW_LINK_UB;
	if (*bare || link == CW_LINK_ETHERNET)
		return CW_OK;
	snprintf(why, size, "%s: link type %d is neither Ethernet nor USER0", file, link);
	return CW_E_ARG;
}

static int file_open(struct cw_port *p, const char *arg, char *why, size_t size)
{
	char copy[256], args[560] = "", name[32], *save = NULL, *tok;
	size_t n = 0;
	int err;

	snprintf(copy, sizeof(copy), "%s", arg);
	for (tok = strtok_r(copy, ",", &save); tok != NULL; tok = strtok_r(NULL, ",", &save)) {
		if (strncmp(tok, "rx=", 3) == 0) {
			if ((err = probe_file(tok + 3, &p->bare_rx, why, size)) < 0)
				return err;
			n += (size_t)snprintf(args + n, sizeof(args) - n, ",rx_pcap=%s", tok + 3);
		} else if (strncmp(tok, "tx=", 3) == 0) {
			n += (size_t)snprintf(args + n, sizeof(args) - n, ",tx_pcap=%s", tok + 3);
		} else if (strcmp(tok, "infinite") == 0) {
			n += (size_t)snprintf(args + n, sizeof(args) - n, ",infinite_rx=1");
		} else {
			snprintf(why, size, "'%s': only rx=FILE, tx=FILE and infinite are known",
				 tok);
			return CW_E_SYNTAX;
		}
	}
	if (n == 0) {
		snprintf(why, size, "rx=FILE or tx=FILE must follow pcap:");
		return CW_E_SYNTAX;
	}
	p->any_station = true;
	snprintf(name, sizeof(name), "net_pcap_cw%u", p->slot);
	return attach(p, name, args + 1, true, why, size);
}

#define COMMON                                                                              \
	.close = dpdk_close, .rx_burst = dpdk_rx, .tx_burst = dpdk_tx, .stats = dpdk_stats, \
	.link_up = dpdk_link_up, .set_promisc = dpdk_set_promisc,                           \
	.set_vlan_strip = dpdk_set_vlan_strip, .about = dpdk_about

const struct cw_port_ops cw_port_dpdk = {.prefix = "dpdk:", .open = dpdk_open, COMMON};
const struct cw_port_ops cw_port_pcap = {.prefix = "pcap:", .open = file_open, COMMON};
