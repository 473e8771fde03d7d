/* config.h - a configuration: causeway.yang's instance data as plain, immutable values.
 *
 * Loading parses and validates with libyang, fills this, and runs the checks that YANG can't
 * express. Nothing of a refused file remains. Used by the daemon, `causeway check`, and
 * `causeway convert`.
 */
#ifndef DAEMON_CONTROL_CONFIG_H
#define DAEMON_CONTROL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/cnpoint.h"
#include "causeway/cnrelay.h"
#include "causeway/err.h"
#include "causeway/proxies.h"
#include "causeway/lpm.h"
#include "causeway/ub2e.h"

enum cw_port_kind { CW_PORT_UB, CW_PORT_ETHERNET, CW_PORT_IPOIB };

/* Ports that are devices of DPDK. */
#define CW_CONFIG_DPDK_PORTS 32

struct cw_ip_addr {
	uint8_t version; /* 4 or 6 */
	uint8_t plen;    /* prefix length, where it is one */
	uint8_t a[16];   /* IPv4: the first four octets */
};

enum cw_ipoib_mode { CW_IPOIB_HOST, CW_IPOIB_ROUTER };
enum cw_iid_kind { CW_IID_STABLE, CW_IID_GUID, CW_IID_MODIFIED_GUID };

/* An IPoIB link: a port of kind CW_PORT_IPOIB. */
struct cw_ipoib_conf {
	uint8_t mode;       /* enum cw_ipoib_mode */
	char interface[16]; /* the TUN device; the port's name */
	char hca[32];
	uint16_t pkey;
	uint32_t qpn;                    /* 0: by chance */
	uint8_t scope;                   /* 2 */
	uint8_t iid;                     /* enum cw_iid_kind */
	uint32_t refresh_s, reachable_s; /* 30, 30 */
	uint8_t probes;                  /* for duplicate addresses: 1 */
};

enum cw_hca_sa { CW_HCA_SA_IN_BAND, CW_HCA_SA_BUILT_IN, CW_HCA_SA_IBSIM, CW_HCA_SA_UMAD };

struct cw_hca_partition {
	uint16_t pkey;
	uint32_t qkey;
	uint8_t mtu, rate, sl, scope; /* MTU and rate are codes */
};

struct cw_hca_node {
	uint64_t guid;
	uint16_t lid;
};

enum { CW_HCA_PARTITIONS = 16, CW_HCA_NODES = 63 };

/* A port of a host channel adapter. */
struct cw_hca_config {
	char name[32];
	char carrier[256];
	uint64_t guid, subnet_prefix, sm_key;
	uint16_t lid, sm_lid;
	uint8_t sa; /* enum cw_hca_sa */
	char sa_device[64];
	bool learn; /* true */
	struct cw_hca_partition partition[CW_HCA_PARTITIONS];
	struct cw_hca_node node[CW_HCA_NODES];
	unsigned npartition, nnode;
};

/* The shaped queue of an egress port. Tables and addresses that several ports share are filled in
 * when it is used. */
struct cw_point_config {
	struct cw_point_settings s; /* its nrp table is owned by the configuration */
	uint32_t rate_kbps, detect_us, flow_us;
	uint8_t overhead; /* octets of a frame on the link beside its own: 24 */
	bool ecn;         /* true */
	struct cw_nrp_rule *nrp;
	unsigned nnrp;
};

enum { CW_DHCP_SERVERS = 4 };

struct cw_port_config {
	char name[32];
	enum cw_port_kind kind;
	char device[256];    /* "packet:IFNAME" (AF_PACKET), "dpdk:DEVARGS" (an EAL device or vdev),
				"pcap:rx=FILE,tx=FILE", "ib:HCA.PKEY" */
	uint32_t mtu;        /* largest IP packet, octets: 9000 */
	uint8_t peer_mac[6]; /* UB: station at the other end of the emulated link; broadcast */
	bool promiscuous;    /* Ethernet: take frames for any station: false */
	bool vlan_strip;     /* Ethernet: have the device take out the outermost tag: false */
	uint16_t tpid;       /* Ethernet: 0x8100 */
	uint16_t outer_vid;  /* Ethernet: outer 802.1ad tag, 0 none */
	uint32_t *npi_filter; /* sorted; n 0 = all */
	unsigned nnpi_filter;
	struct cw_ip_addr *addr; /* the gateway's own addresses on this port */
	uint16_t *addr_vid;      /* the VLAN each is in, 0 = every VLAN */
	unsigned naddr;
	bool multicast;                    /* forward IP multicast: false */
	uint8_t relay[CW_DHCP_SERVERS][4]; /* DHCP servers for clients of this port */
	unsigned nrelay;
	struct cw_ipoib_conf ipoib;
	bool congestion_point; /* Ethernet, role: false */
	struct cw_point_config point;
};

struct cw_route_config {
	struct cw_ip_addr prefix;
	unsigned port; /* index */
	bool has_next_hop, has_mac;
	struct cw_ip_addr next_hop;
	uint8_t mac[6]; /* static next-hop address: no ARP/ND */
};

struct cw_neighbour_config { /* static ARP/ND entries */
	unsigned port;
	uint16_t vid; /* 0 = untagged and every VLAN */
	struct cw_ip_addr ip;
	uint8_t mac[6];
};

/* ICMP errors to senders of dropped packets. */
struct cw_icmp_config {
	bool to_ethernet, to_ub;  /* true */
	uint32_t rate, burst;     /* a port: errors a second, 100; at once, 20 */
	struct cw_addr source[2]; /* IPv4, IPv6; version 0: an address of the gateway's ports */
};

struct cw_pnc_static {
	struct cw_prefix prefix;
	struct cw_addr proxy;
};

struct cw_pnc_key {
	char file[256];    /* empty: no authentication */
	uint8_t algorithm; /* enum cw_hash_kind */
	uint16_t key_id;
};

struct cw_pnc_isis {
	bool enabled; /* false */
	char interface[16];
	char system_id[15], area[33]; /* as text, checked by the schema */
	uint8_t level, reoriginate;   /* CW_ISIS_L1, CW_ISIS_L2 or both */
	char hostname[64];
	uint32_t hello_s, multiplier, metric, proxy_metric, prefix_metric;
	uint32_t lifetime_s, refresh_s, lsps;
	bool padding, multi_topology, purge_originator;
	struct cw_pnc_key hello_key, level_key[2];
};

/* Routers that bring what BGP told them. */
struct cw_pnc_bmp {
	bool enabled; /* false */
	struct cw_addr listen;
	uint16_t port;            /* 11019 */
	struct cw_prefix *router; /* who may connect */
	unsigned nrouter;
	uint32_t peers; /* most of all routers together: 1024 */
};

struct cw_pnc_ospf3 {
	bool enabled; /* false */
	char interface[16];
	char router_id[16], area[16]; /* as text, checked by the schema */
	uint8_t area_type;            /* enum cw_ospf3_area */
	uint8_t instance;
	bool mtu_ignore;
	uint32_t hello_s, dead_s, retransmit_s, refresh_s, lsas;
	uint32_t metric, proxy_metric, prefix_metric;
	uint8_t prefix_kind; /* enum cw_ospf3_kind */
	struct cw_pnc_key key;
	uint16_t protocol_id; /* of the key: 1 */
	struct {
		char interface[16], area[16]; /* no interface: not at a border */
		uint8_t area_type;
	} border;
};

/* Proxy node capability. Index 0 is IPv4, 1 is IPv6. */
struct cw_pnc_config {
	struct cw_addr proxy[2]; /* this gateway's address as a proxy; version 0: none */
	struct cw_prefix *prefix;
	unsigned nprefix;
	uint32_t hold_s;  /* 30 */
	uint32_t entries; /* 1048576 */
	uint8_t rank[CW_PROXY_NSOURCES];
	struct cw_pnc_static *statics;
	unsigned nstatics;
	char file[256]; /* empty: none */
	struct cw_pnc_codes codes;
	bool bgp;                   /* false */
	struct cw_addr next_hop[2]; /* version 0: the proxy's address */
	uint32_t helper_timeout_s;  /* 5 */
	bool ospf2;                 /* false */
	struct cw_addr ospf2_server;
	uint8_t ospf2_scope; /* LS type: 11 or 10 */
	struct cw_addr ospf2_area;
	bool ospf2_reoriginate; /* false */
	struct cw_pnc_bmp bmp;
	struct cw_pnc_isis isis;
	struct cw_pnc_ospf3 ospf3;
};

struct cw_sender_config {
	struct cw_prefix prefix;
	uint8_t kind;  /* enum cw_sender */
	uint16_t vlan; /* CW_VLAN_SEEN and a VID, or 0: that of the flow */
};

struct cw_vpn_config {
	uint32_t id;
	unsigned port; /* index */
	uint16_t vid;
	struct cw_ip_addr next_hop; /* version 0: the sender is on the link */
	struct cw_gid source;       /* unset: the flow's receiver */
};

struct cw_qp_static {
	struct cw_gid sender, receiver;
	uint32_t dqpn, sqpn;
};

/* Congestion notification with a proxy. Lists are owned. */
struct cw_fast_cnp_config {
	struct cw_relay_settings relay; /* without its tables */
	uint32_t coalesce_us, flow_s;
	struct cw_qpmap_opts map;
	uint32_t idle_s;
	uint8_t message_option; /* of ports that name none: 0 */
	bool learn;             /* true */
	uint64_t border;        /* ports by index, a bit each */
	uint64_t interfaces;
	struct cw_prefix *allowed;
	unsigned nallowed;
	struct cw_sender_config *senders;
	unsigned nsenders;
	struct cw_nrp *nrps; /* sorted by selector */
	unsigned nnrps;
	struct cw_vpn_config *vpns; /* sorted by ID */
	unsigned nvpns;
	struct cw_qp_static *statics;
	unsigned nstatics;
};

struct cw_config {
	/* daemon */
	unsigned workers;          /* 1 */
	uint32_t idle_sleep_us;    /* longest sleep of an idle worker, 0 = busy poll: 50 */
	char control_socket[108];  /* /run/causeway/control.sock */
	char metrics[128];         /* "127.0.0.1:PORT" or "unix:PATH", empty = off */
	bool metrics_allow_remote; /* `metrics` may name an address that is not loopback */
	char log_level[12];
	char drop_capture[256]; /* pcapng of dropped packets, empty = off */
	unsigned mbufs;         /* packet buffers: 16384 */
	/* forwarding */
	struct cw_port_config *ports;
	unsigned nports;
	struct cw_route_config *routes;
	unsigned nroutes;
	struct cw_neighbour_config *neighbours;
	unsigned nneighbours;
	struct cw_ub2e_settings ub2e; /* its npi table is owned by the configuration */
	struct cw_npi_entry *npi;
	struct cw_pin_4792 *pins; /* and this one */
	uint32_t *partitions; /* declared partition IDs: the union of all filters and `partition` */
	unsigned npartitions;
	struct cw_icmp_config icmp;
	struct cw_pnc_config pnc;
	struct cw_hca_config *hcas;
	unsigned nhcas;
	bool between_ethernet; /* route IP packets between Ethernet ports: false */
	struct cw_fast_cnp_config fast_cnp;
	char *json; /* the effective configuration, all defaults filled in: cw_config_json() */
};

/* Load from a file or from text. *out is written only on success; else `diag` says path, value and
 * reason. CW_E_IO: the file can't be read; CW_E_NOMEM; any other error: the configuration is wrong.
 * Free with cw_config_free(). */
int cw_config_load(struct cw_config **out, const char *file, struct cw_diag *diag);
/* The same for a running gateway: of a plain file only (plain.h), whose name CW_E_IO has as value.
 */
int cw_config_load_plain(struct cw_config **out, const char *file, struct cw_diag *diag);
int cw_config_parse(struct cw_config **out, const char *json, size_t len, struct cw_diag *diag);

/* The configuration of an empty file: all defaults, no ports. */
int cw_config_default(struct cw_config **out);
void cw_config_free(struct cw_config *c);

/* The effective configuration as JSON text (instance data of causeway.yang with every default),
 * the same for the same configuration. Owned by `c`. */
const char *cw_config_json(const struct cw_config *c);

/* One line for people: `PATH: "VALUE": REASON`, without the parts that `diag` lacks. Returns buf.
 */
const char *cw_config_diag_text(const struct cw_diag *diag, char *buf, size_t size);

/* What a good configuration says and seldom means, such as a next hop in no subnet of its port:
 * path, value and text for people, as in cw_config_diag_text(). */
typedef void cw_config_note(void *ctx, const char *path, const char *value, const char *text);
void cw_config_notes(const struct cw_config *c, cw_config_note *say, void *ctx);

/* Is the address in the prefix, or in the subnet? IPv4: the first four octets. */
bool cw_config_covers(const struct cw_ip_addr *p, uint8_t version, const uint8_t *addr);

/* Table of the routes for cw_config_route(); CW_E_NOMEM. Free with cw_lpm_free(). */
int cw_config_route_table(struct cw_lpm **out, const struct cw_config *c);

/* Route for an address of `version` (longest prefix), or NULL. */
const struct cw_route_config *cw_config_route(const struct cw_config *c, const struct cw_lpm *table,
					      uint8_t version, const uint8_t *addr);

#endif
