/* ipoib.h - one IP over InfiniBand link as a state machine: without sockets, clocks or threads.
 * Spec: RFC 4391 (section numbers below), RFC 4392, RFC 8064 and 7217; IBTA chapter 15 for the
 * subnet administration (SA).
 *
 * Time and packets are arguments; time is in milliseconds and never runs backwards. What the
 * machine wants done is pulled with cw_ipoib_next() until that returns false. All tables and
 * queues have limits. The machine trusts nobody: neither peers nor the SA.
 */
#ifndef CAUSEWAY_IPOIB_H
#define CAUSEWAY_IPOIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"
#include "causeway/gid.h"
#include "causeway/wire/ipoib.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_ipoib;

/* Zero is the default of every member but gid, qpn, pkey, lid and sm_lid. */
struct cw_ipoib_config {
	uint8_t gid[16];      /* of the port: subnet prefix and GUID */
	uint32_t qpn;         /* of the link's own queue pair, 24 bits, above 1 */
	uint16_t lid, sm_lid; /* of the port, and of the subnet manager */
	uint16_t pkey;        /* of the link; its full bit must be set (5) */
	uint8_t scope;        /* of the broadcast-GID: 2 */
	uint32_t mtu;         /* upper bound; 0: what the broadcast group allows (2044 mostly) */
	bool router;          /* receive every group of the link (11) */
	uint64_t sm_key;

	uint32_t groups, neighbours, paths; /* table sizes: 256, 1024, 1024 */
	uint32_t held;                      /* packets waiting at one entry: 64 */
	uint32_t refresh_ms;                /* every membership is renewed so often: 30000 */
	uint32_t reachable_ms;              /* before a neighbour is asked again: 30000 */
	uint32_t path_ms;                   /* before a path is asked for again: 120000 */
	uint32_t absent_ms;                 /* how long a group counts as absent: 10000 */
	uint32_t probes; /* for duplicates of own addresses, a second apart: 0, none */
};

/* How a datagram goes: what LRH, GRH, BTH and DETH say. */
struct cw_ipoib_tx {
	uint16_t dlid, slid, pkey;
	uint8_t sl, tclass, hop_limit;
	bool grh; /* with a GRH: multicast, and other subnets */
	uint32_t flow_label, dqpn, sqpn, qkey;
	uint8_t sgid[16], dgid[16];
};

enum cw_ipoib_what {
	CW_IPOIB_UP,         /* the link exists: parameters in cw_ipoib_info() */
	CW_IPOIB_DOWN,       /* it no longer does */
	CW_IPOIB_MAD,        /* send these 256 octets to the SA */
	CW_IPOIB_SEND,       /* send this datagram; it begins with the encapsulation header */
	CW_IPOIB_DELIVER,    /* an IP packet for the host */
	CW_IPOIB_UNRESOLVED, /* an IP packet given up: its next hop does not answer */
	CW_IPOIB_ATTACH,     /* let the queue pair receive `mgid` at `mlid` */
	CW_IPOIB_DETACH,
	CW_IPOIB_DUPLICATE, /* another node has the own address in `data`; status 1: it is not used
			     */
	CW_IPOIB_LOG,       /* a multicast operation failed (12): reason, mgid, status */
};

struct cw_ipoib_out {
	enum cw_ipoib_what what;
	struct cw_ipoib_tx tx; /* MAD and SEND */
	const uint8_t *data;   /* valid until the next call of cw_ipoib_next() */
	uint32_t len;
	uint8_t mgid[16];
	uint16_t mlid, status;
	const char *reason; /* LOG, static */
};

/* X(name, text) */
#define CW_IPOIB_COUNTERS(X)                                                  \
	X(rx, "datagrams received")                                           \
	X(tx, "datagrams sent")                                               \
	X(rx_bad_frame, "frames with wrong lengths or CRCs")                  \
	X(rx_pkey, "of another partition, or both sides limited")             \
	X(rx_qkey, "with another Q_Key")                                      \
	X(rx_not_ours, "to another queue pair or group")                      \
	X(rx_own, "own multicast that came back")                             \
	X(rx_bad, "malformed ARP, ND or encapsulation")                       \
	X(rx_rarp, "RARP messages: nobody serves them, QPNs change (9.1.1)")  \
	X(tx_too_big, "larger than the MTU")                                  \
	X(tx_down, "sent while the link is down")                             \
	X(tx_queue_full, "dropped because too many wait")                     \
	X(tx_unresolved, "dropped because the neighbour did not answer")      \
	X(tx_no_path, "dropped because the SA knows no path")                 \
	X(tx_no_group, "dropped because nobody listens")                      \
	X(tx_via_routers, "sent to the all-routers group instead")            \
	X(table_full, "dropped because a table is full")                      \
	X(out_full, "work not pulled in time")                                \
	X(sa_sent, "requests to the SA")                                      \
	X(sa_timeout, "requests without an answer in time")                   \
	X(sa_refused, "requests answered with an error")                      \
	X(sa_bad, "answers that fit no request or make no sense")             \
	X(mcast_failed, "multicast operations that failed")                   \
	X(reports, "traps reported")                                          \
	X(rejoined, "memberships renewed after the subnet manager lost them") \
	X(qpn_changed, "neighbours whose queue pair changed")                 \
	X(neigh_failed, "neighbours that did not answer")                     \
	X(addr_duplicate, "own addresses not used: another node has them")    \
	X(addr_conflict, "claims of other nodes to an own address in use")

struct cw_ipoib_counters {
#define CW_X(name, text) uint64_t name;
	CW_IPOIB_COUNTERS(CW_X)
#undef CW_X
};

struct cw_ipoib_info {
	bool up, controlled; /* controlled: the Q_Key's high bit is set (5) */
	uint16_t mlid, pkey;
	uint32_t qkey, mtu, flow_label;
	uint8_t sl, tclass, hop_limit, rate;
	uint32_t groups, neighbours, paths;
};

/* CW_E_NOMEM; CW_E_ARG: P_Key without its full bit, QPN 0, 1 or above 24 bits, LIDs. */
int cw_ipoib_new(struct cw_ipoib **out, const struct cw_ipoib_config *config);
void cw_ipoib_free(struct cw_ipoib *l); /* NULL is fine */

/* The host goes away: leave every group (10). Pull what is to be sent, then free. */
void cw_ipoib_shutdown(struct cw_ipoib *l, uint64_t now);

/* What is to be done next, in order; false: nothing. out->data is valid until the next call for
 * this link. Call it after each of the others until it is false. */
bool cw_ipoib_next(struct cw_ipoib *l, struct cw_ipoib_out *out);

/* Let time pass; call it at least every 100 ms. The first call joins the broadcast group. */
void cw_ipoib_tick(struct cw_ipoib *l, uint64_t now);

/* The subnet manager moved or asks clients to register again (SM change, client reregister). */
void cw_ipoib_sm_changed(struct cw_ipoib *l, uint64_t now, uint16_t sm_lid);

/* A MAD of class SubnAdm came in: an answer or a report. CW_E_LENGTH, CW_E_UNKNOWN. */
int cw_ipoib_mad(struct cw_ipoib *l, uint64_t now, const uint8_t *mad, size_t len);

/* A frame LRH .. VCRC came in: checks it and does what cw_ipoib_mad() or cw_ipoib_recv() do. */
int cw_ipoib_frame(struct cw_ipoib *l, uint64_t now, const uint8_t *frame, size_t len);

/* A datagram came in; `rx` holds its headers' values, `data` begins with the encapsulation
 * header. */
int cw_ipoib_recv(struct cw_ipoib *l, uint64_t now, const struct cw_ipoib_tx *rx,
		  const uint8_t *data, size_t len);

/* Send an IP packet to the next hop (4 or 16 octets, by the packet's version; the group itself for
 * multicast). CW_OK also when it waits; CW_E_LENGTH: larger than the MTU, CW_E_STATE: link down,
 * CW_E_SPACE: too many wait, CW_E_VERSION. */
int cw_ipoib_send(struct cw_ipoib *l, uint64_t now, const uint8_t *next_hop, const uint8_t *ip,
		  size_t len);

/* An address of our own: ARP or ND is answered for it, and neighbours are told where it is, now or
 * when the link comes up: its queue pair may be another one than before (9.1.1). With `probes`,
 * that comes after as many seconds in which nobody else was found to have it (RFC 4862 5.4, RFC
 * 5227 2.1, without its random delays); else CW_IPOIB_DUPLICATE tells, and the address is none. One
 * in use is defended, once in ten seconds (RFC 5227 2.4 c). 8 at most: CW_E_SPACE. */
int cw_ipoib_address(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr);

/* No longer. CW_E_ARG: it was none. */
int cw_ipoib_unaddress(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr);

/* The host joins or leaves an IP group (10). Joins are counted. CW_E_SPACE, CW_E_ARG, CW_E_STATE
 * for a leave without a join. */
int cw_ipoib_join(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *group);
int cw_ipoib_leave(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *group);

/* The link as it is now; what it has counted, valid as long as the link is. */
void cw_ipoib_info(const struct cw_ipoib *l, struct cw_ipoib_info *out);
const struct cw_ipoib_counters *cw_ipoib_counters(const struct cw_ipoib *l);

/* Entries one after the other: false when there is none with index i. */
struct cw_ipoib_group_info {
	uint8_t mgid[16], join_state;
	uint16_t mlid;
	bool joined, absent;
	uint32_t hosts, held;
};
struct cw_ipoib_neigh_info {
	bool v6, reachable, failed;
	uint8_t addr[16], lla[CW_IPOIB_LLA];
	uint32_t held;
};
struct cw_ipoib_path_info {
	uint8_t gid[16], sl;
	uint16_t dlid;
	bool valid;
};
bool cw_ipoib_group_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_group_info *out);
bool cw_ipoib_neigh_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_neigh_info *out);
/* WAITING: for the link; TENTATIVE: duplicates are looked for; DUPLICATE: another node's. */
enum cw_ipoib_own_state {
	CW_IPOIB_OWN_WAITING,
	CW_IPOIB_OWN_TENTATIVE,
	CW_IPOIB_OWN_VALID,
	CW_IPOIB_OWN_DUPLICATE
};
struct cw_ipoib_own_info {
	bool v6;
	enum cw_ipoib_own_state state;
	uint8_t addr[16];
};
bool cw_ipoib_own_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_own_info *out);
bool cw_ipoib_path_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_path_info *out);

/* ---- Frames ------------------------------------------------------------------------------- */

/* Write the frame of a datagram: its length, or CW_E_SPACE, CW_E_LENGTH. */
int cw_ipoib_frame_build(uint8_t *out, size_t size, const struct cw_ipoib_tx *tx, uint32_t psn,
			 const uint8_t *data, size_t len);

/* Check a frame (lengths, both CRCs, UD SEND Only) and take it apart. What is behind the VCRC is
 * ignored. */
int cw_ipoib_frame_parse(const uint8_t *frame, size_t len, struct cw_ipoib_tx *rx,
			 const uint8_t **data, size_t *data_len);

/* ---- RoCEv2 ------------------------------------------------------------------------------- */

/* A datagram as RoCEv2 carries it (IBTA annex A17): an IP header where LRH and GRH were, UDP to
 * port 4791, BTH, DETH, `data`, ICRC. `src` and `dst` are GIDs: both of IPv4, mapped, or both of
 * IPv6. LIDs and SL have no place in it, nor has the MGID of what is sent to a group. From `tx`
 * come P_Key, Q_Key, queue pairs, and TClass and FlowLabel for the IP header. Its length, or
 * CW_E_SPACE, CW_E_LENGTH, CW_E_ARG. */
int cw_ipoib_roce_build(uint8_t *out, size_t size, const struct cw_gid *src,
			const struct cw_gid *dst, const struct cw_ipoib_tx *tx, uint32_t psn,
			const uint8_t *data, size_t len);

/* Check a packet from its IP header on (lengths, port, ICRC, UD SEND Only) and take it apart: `rx`
 * gets what BTH, DETH and the IP header say, its GIDs are the packet's addresses. What is behind
 * the IP packet is ignored. */
int cw_ipoib_roce_parse(const uint8_t *ip, size_t len, struct cw_ipoib_tx *rx, const uint8_t **data,
			size_t *data_len);

/* The IP group that a datagram is for, by what it carries: IPv4 and IPv6 destinations, and the
 * broadcast group for ARP; its MGID on a link. CW_E_SHORT, CW_E_UNKNOWN, or CW_E_ARG when the
 * destination is no group. */
int cw_ipoib_mgid_of(uint8_t mgid[16], const uint8_t *data, size_t len, uint16_t pkey,
		     unsigned scope);

/* ---- Stable interface identifiers --------------------------------------------------------- */

/* RFC 7217 5, the default by RFC 8064: prefix of 8 octets, the port's GUID as Net_Iface, P_Key as
 * Network_ID, the count of duplicates found, and a secret of 16 octets. The PRF is SipHash-2-4. */
void cw_ipoib_iid_stable(uint8_t iid[8], const uint8_t prefix[8], const uint8_t guid[8],
			 uint16_t pkey, uint8_t dad, const uint8_t secret[16]);

/* SipHash-2-4 of `len` octets. */
uint64_t cw_siphash(const uint8_t key[16], const void *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif
