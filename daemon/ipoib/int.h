/* int.h - what the files of daemon/ipoib share. All of it is used under the service's lock. */
#ifndef DAEMON_IPOIB_INT_H
#define DAEMON_IPOIB_INT_H

#include <poll.h>
#include <sys/types.h>
#include "causeway/ipoib.h"
#include "causeway/sa.h"
#include "daemon/control/config.h"
#include "daemon/io/ibsim.h"
#include "daemon/ipoib/umad.h"

struct hca;
struct ipport;

enum { IBD_MAX = 64 }; /* hcas, and ports */

/* ---- Carriers ------------------------------------------------------------------------------ */

struct carrier_ops {
	const char *prefix; /* of carrier strings, with the colon */
	/* Fills h->priv and h->fd. An error with the reason in `why` leaves nothing open. */
	int (*open)(struct hca *h, const char *arg, char *why, size_t size);
	void (*close)(struct hca *h);
	/* Send one datagram; `data` is what follows DETH. */
	void (*send)(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn, const uint8_t *data,
		     size_t len);
	/* h->fd is readable: pass what came to hca_frame() or hca_datagram(). */
	void (*receive)(struct hca *h);

	/* Of carriers whose adapter has the queue pairs; else NULL. Make one for a port, and set
	 * p->qpn, or tell why not; take it away; the port's link is up; groups. */
	int (*open_qp)(struct hca *h, struct ipport *p, char *why, size_t size);
	void (*close_qp)(struct hca *h, struct ipport *p);
	void (*up)(struct hca *h, const struct ipport *p, uint32_t qkey, uint32_t mtu);
	void (*attach)(struct hca *h, const struct ipport *p, const uint8_t mgid[16], uint16_t mlid,
		       bool attached);
	/* Where its stations are GIDs: that of a LID, for management packets. */
	bool (*station)(const struct hca *h, uint16_t lid, struct sa_umad_to *to);
};

extern const struct carrier_ops carrier_ethernet, carrier_udp, carrier_roce, carrier_file,
	carrier_verbs;

enum {
	FRAME_MAX = 4 * 0x7ff + 2, /* LRH .. VCRC: PktLen has 11 bits */
	ETH_HEAD = 14,
	BURST = 64, /* packets of one source before the others have their turn */
	CARRIER_STATIONS = 32
};

/* For carriers: count what was sent (a station that is not there, or a full queue, is what a lossy
 * link is); large socket buffers; close h->fd and free h->priv. */
void carrier_sent(struct hca *h, ssize_t rc);
void carrier_buffers(int fd);
void carrier_close(struct hca *h);

/* The next item of "FIRST,ITEM,...": *at is the end of the one before, and of this one afterwards.
 * NULL: there is no more. */
const char *carrier_item(const char **at);

/* ---- Hcas ---------------------------------------------------------------------------------- */

/* X(name, text) */
#define HCA_COUNTERS(X)                                                                   \
	X(rx_packets, "InfiniBand packets received")                                      \
	X(tx_packets, "InfiniBand packets sent")                                          \
	X(rx_bad, "received with wrong lengths or CRCs")                                  \
	X(rx_other_lid, "received for another LID")                                       \
	X(rx_no_partition, "received for a partition without a port")                     \
	X(rx_no_queue_pair, "received for a queue pair that is not there")                \
	X(rx_forbidden, "from stations not configured, or of management and not allowed") \
	X(tx_errors, "refused by the carrier")                                            \
	X(switched, "passed on between stations of a UDP carrier")                        \
	X(sa_served, "requests to the built-in subnet administration")                    \
	X(nodes_learnt, "nodes that it learnt from their requests")

struct hca_counters {
#define CW_X(name, text) uint64_t name;
	HCA_COUNTERS(CW_X)
#undef CW_X
};

struct hca {
	struct cw_hca_config conf;
	uint8_t gid[16];
	const struct carrier_ops *ops;
	void *priv;
	int fd;
	uint8_t mac[6];       /* of the Ethernet headers */
	struct cw_sa *small;  /* CW_HCA_SA_BUILT_IN */
	struct ibsim sim;     /* CW_HCA_SA_IBSIM; fd -1 otherwise */
	struct sa_umad *umad; /* CW_HCA_SA_UMAD */
	uint32_t psn;         /* of QP1 */
	uint64_t now;
	bool answered;                /* the report being looked at */
	uint16_t asked_pkey;          /* P_Key of what came to QP1 last */
	struct ipport *port[IBD_MAX]; /* the partitions in use on it */
	unsigned nport;
	struct hca_counters n;
};

int hca_open(struct hca **out, const struct cw_hca_config *conf, struct cw_diag *diag);
void hca_close(struct hca *h);

/* Is the hca what this configuration says? */
bool hca_equal(const struct hca *h, const struct cw_hca_config *conf);

/* The port is closing: what its leaving makes others do comes to it no more. */
void hca_forget(struct hca *h, const struct ipport *p);

/* Something came in. `frame` is LRH .. VCRC, padding behind it allowed. */
void hca_frame(struct hca *h, const uint8_t *frame, size_t len);
void hca_datagram(struct hca *h, const struct cw_ipoib_tx *rx, const uint8_t *data, size_t len);

/* A link wants to send a MAD to the subnet administration. */
void hca_send_mad(struct hca *h, const struct ipport *from, const struct cw_ipoib_tx *tx,
		  const uint8_t mad[256]);

/* Descriptors to wait for, at most 2; and what to do when they are readable. */
unsigned hca_fds(const struct hca *h, struct pollfd fds[2]);
void hca_run(struct hca *h, uint64_t now);

/* ---- Ports --------------------------------------------------------------------------------- */

/* X(name, text) */
#define PORT_COUNTERS(X)                                                  \
	X(host_rx, "packets delivered to the host, or to be routed")      \
	X(host_tx, "packets taken from the host, or routed here")         \
	X(host_refused, "packets that the host's interface did not take") \
	X(host_unroutable, "packets of the host without a next hop")      \
	X(too_big, "packets whose sender was told that they are too big") \
	X(unreachable, "packets whose next hop did not answer")           \
	X(link_up, "times that the link came up")

struct port_counters {
#define CW_X(name, text) uint64_t name;
	PORT_COUNTERS(CW_X)
#undef CW_X
};

struct address {
	bool v6;
	uint8_t plen, addr[16];
};

/* DHCP servers to which requests of a port's clients go. */
struct relay {
	uint8_t server[CW_DHCP_SERVERS][4];
	unsigned n;
};

enum { ADDRESSES = 7 }; /* the machine has 8, one is link-local */

struct ipport {
	char name[32];
	struct cw_ipoib_conf conf;
	uint32_t mtu;
	bool multicast;
	struct relay relay;
	struct address addr[ADDRESSES];
	unsigned naddr;
	struct hca *hca;
	struct cw_ipoib *link;
	uint32_t qpn, psn;
	uint16_t agent; /* in TIDs: which link an answer is for */
	bool pumping;
	char device[256];      /* "ib:HCA.PKEY" */
	struct host *host;     /* host mode */
	struct router *router; /* router mode */
	struct port_counters n;
};

/* The link; what is above it comes by port_start(), which logs what fails. */
int port_open(struct ipport **out, const struct cw_port_config *conf, struct hca *h,
	      struct cw_diag *diag);
void port_start(struct ipport *p, uint64_t now);
void port_close(struct ipport *p, uint64_t now); /* leaves all groups */

/* Does the port do what this configuration says? */
bool port_equal(const struct ipport *p, const struct cw_port_config *conf);

/* Do what the link machine wants done. */
void port_pump(struct ipport *p, uint64_t now);
void port_tick(struct ipport *p, uint64_t now);

/* ---- Router mode --------------------------------------------------------------------------- */

int router_open(struct ipport *p);
void router_start(struct ipport *p, uint64_t now);
void router_close(struct ipport *p);
int router_fd(const struct ipport *p);
void router_read(struct ipport *p, uint64_t now); /* packets from the graph */
void router_deliver(struct ipport *p, const uint8_t *ip, size_t len);

/* An IP packet into the graph, as if the link had brought it. */
void router_up(struct ipport *p, const uint8_t *ip, size_t len);

/* One to a next hop on the link: whole, as fragments, or its sender is told. */
void router_send(struct ipport *p, uint64_t now, const uint8_t *hop, const uint8_t *ip, size_t len);

/* The link gave up an IP packet: its next hop does not answer. */
void router_unresolved(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len);

/* Multicast: a packet to a group came by the link; what time brings; the ports of the snapshot in
 * use. */
void mroute_from_link(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len);
void mroute_tick(uint64_t now);
/* A DHCP reply to a client on the Ethernet port with address `own`: to a station, or to all. */
void mroute_to_client(const uint8_t own[4], const uint8_t *mac, const uint8_t *ip, size_t len);
void mroute_use(void);

/* DHCP: false if the packet is no request, or there is nobody to relay it to. `own`: the relay's
 * address where it came from; `from`: the link, or NULL. */
bool relay_request(struct ipport *from, uint64_t now, const struct relay *r, const uint8_t *own,
		   const uint8_t *ip, size_t len);
bool relay_from_link(struct ipport *p, uint64_t now, const uint8_t *ip, size_t len);

/* A connected prefix of a port, or a route of the configuration. */
struct ibroute {
	char port[32];
	struct address prefix;
	bool via;
	uint8_t hop[16];
};

/* The longest prefix that covers an address; NULL: none. */
const struct ibroute *ibd_route(bool v6, const uint8_t *dst);
struct ipport *ibd_port(const char *name);

/* ---- Host mode ----------------------------------------------------------------------------- */

int host_open(struct ipport *p, char *why, size_t size);
void host_close(struct ipport *p);
int host_fd(const struct ipport *p);
void host_read(struct ipport *p, uint64_t now); /* packets from the kernel */
void host_deliver(struct ipport *p, const uint8_t *ip, size_t len);
void host_link(struct ipport *p, bool up, uint32_t mtu);
void host_tick(struct ipport *p, uint64_t now);
int host_ifindex(const struct ipport *p);

/* The kernel gave the interface an address, or took one away; or its routes changed. */
void host_address(struct ipport *p, uint64_t now, bool added, const struct address *a);
void host_routes(struct ipport *p);

/* Another node has the address: the interface loses it. */
void host_duplicate(struct ipport *p, const struct address *a);

/* ---- The kernel's interfaces (rtnetlink) ---------------------------------------------------- */

int nl_set_link(int ifindex, uint32_t mtu); /* MTU (0: as it is), and up */
int nl_no_autoaddress(int ifindex);         /* the kernel makes up no link-local address */
int nl_add_address(int ifindex, const struct address *a);
int nl_remove_address(int ifindex, const struct address *a);

/* The next hop that the kernel's routes have behind an interface: 4 or 16 octets. */
int nl_next_hop(int ifindex, bool v6, const uint8_t *dst, uint8_t *hop);

/* Changes of addresses and routes: a descriptor, and what to do when it is readable. */
int nl_watch(void);
typedef struct ipport *nl_find_fn(int ifindex);
void nl_read(int fd, nl_find_fn *find, void (*routes)(void), uint64_t now);

/* The kernel's own memberships on an interface; at most `max`, returns how many. */
unsigned nl_groups(const char *ifname, struct address *out, unsigned max);

#endif
