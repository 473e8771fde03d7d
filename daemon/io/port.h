/* port.h - what packets come in and go out by: one vtable, three back ends.
 *
 * A port is a device that is open. It outlives configurations: a reload that still names the
 * device takes another reference, so nothing that waits in its rings is lost. The slot is the
 * port's small number while it is open; counters and mbuf->port are by slot.
 */
#ifndef DAEMON_IO_PORT_H
#define DAEMON_IO_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_mbuf.h>
#include "causeway/err.h"

#define CW_MAX_PORTS   64
#define CW_MAX_WORKERS 64
#define CW_MAX_BURST   32
#define CW_MAX_FRAME   (9216 + 64) /* octets: the largest IP packet, link headers and UB's own */

struct cw_port;

/* Frames of a burst that a device took and then refused: not sent, and the caller's again. */
struct cw_tx_refused {
	uint16_t n;
	struct rte_mbuf *m[CW_MAX_BURST];
};

struct cw_port_stats {
	uint64_t rx_missed;    /* came, and there was no room in the ring */
	uint64_t rx_truncated; /* longer than CW_MAX_FRAME */
	uint64_t rx_nobuf;     /* no mbuf for it */
	uint64_t tx_errors;    /* the device refused it */
};

struct cw_port_about {
	const char *driver;  /* DPDK's */
	uint32_t speed_mbps; /* 0: unknown, or no link */
};

struct cw_port_ops {
	const char *prefix; /* of device strings, with the colon */
	/* Open `arg`, what follows the prefix. Fills priv, mac, nrxq, ntxq and flags of `p`.
	 * Returns CW_OK or an error with the reason in `why`. */
	int (*open)(struct cw_port *p, const char *arg, char *why, size_t size);
	void (*close)(struct cw_port *p);
	/* Up to n frames, mbufs with single segment and data at the frame's first octet. A tag that
	 * the device took out is in vlan_tci (RTE_MBUF_F_RX_VLAN_STRIPPED set), its TPID in
	 * vlan_tci_outer with tells_tpid. */
	uint16_t (*rx_burst)(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n);
	/* Returns how many were taken, from the first on; the others stay the caller's. Adds to
	 * `refused` what of them was not sent all the same; their places in `m` may be NULL then.
	 */
	uint16_t (*tx_burst)(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
			     struct cw_tx_refused *refused);
	void (*stats)(const struct cw_port *p, struct cw_port_stats *s);
	bool (*link_up)(const struct cw_port *p);
	int (*set_promisc)(struct cw_port *p, bool on);
	/* Have the device take the outermost tag out of frames; NULL: that is not for us to say. */
	int (*set_vlan_strip)(struct cw_port *p, bool on);
	void (*about)(const struct cw_port *p, struct cw_port_about *about); /* may be NULL */
	/* Stop frames from coming in, so that what waits can be finished; may be NULL. */
	void (*stop_rx)(struct cw_port *p);
	/* Descriptor that is readable when frames wait; -1 or NULL: must be polled. */
	int (*rx_fd)(const struct cw_port *p, unsigned queue);
};

struct cw_port {
	const struct cw_port_ops *ops;
	void *priv;
	char device[256];
	unsigned slot, refs;
	uint8_t mac[6];
	unsigned nrxq, ntxq;
	bool any_station; /* has no address of its own (files): takes every frame */
	bool bare_rx;     /* frames begin at LPH (LINKTYPE_USER0) */
	bool promisc, vlan_strip;
	uint32_t max_mtu; /* octets behind the link header that it sends; 0: not known */
	bool tells_tpid;  /* of a tag that it took out; else it is taken as the configured one */
};

/* What back ends need of the daemon. */
struct cw_io {
	struct rte_mempool *pool;
	unsigned nworkers;
	bool by_ub_flow; /* set in front of open: spread a UB link's frames over workers by its IP
			  */
};
extern struct cw_io cw_io;

/* Take a reference to the port of this device string; opens it when it is not open yet. */
int cw_port_get(struct cw_port **out, const char *device, char *why, size_t size);
void cw_port_put(struct cw_port *p);

extern const struct cw_port_ops cw_port_packet, cw_port_dpdk, cw_port_pcap, cw_port_ipoib;

#endif
