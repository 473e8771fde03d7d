/* cnrelay.h - the congestion notification proxy: messages of congested nodes in, notifications
 * that the traffic sender knows out, one for one.
 * Spec: draft-xiao-fann-fast-cnp-with-proxy-02 sections 4 and 6; CNP: IBTA A17.9.
 *
 * Pure: packets and times are arguments, memory is fixed when the proxy is made. It is off until
 * the settings say otherwise. Deviations: no published format of a UEC Back To Sender packet
 * exists, so it is one of four named profiles, and no NIC is known to accept any; a Fast CNP is
 * never sent, as its option has no code point.
 */
#ifndef CAUSEWAY_CNRELAY_H
#define CAUSEWAY_CNRELAY_H

#include "causeway/cnproxy.h"
#include "causeway/lpm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Notifications ------------------------------------------------------------------------ */

/* A standard RoCEv2 CNP; IPv4 or IPv6 by `dst`. */
struct cw_cnp {
	struct cw_gid src, dst; /* the flow's receiver, the flow's sender */
	uint8_t tos, ttl;
	uint16_t sport, ip_id; /* ip_id: IPv4 only, DF is set */
	uint16_t pkey;
	uint32_t dqpn; /* the sender's queue pair */
};

#define CW_CNP_MAX 80

/* Write it with its ICRC. Returns 60 or 80, CW_E_SPACE, or CW_E_ARG when the versions differ. */
CW_MUST_USE int cw_cnp_build(const struct cw_cnp *c, uint8_t *buf, size_t size);

/* ---- Results ------------------------------------------------------------------------------ */

/* What became of a message; each is counted. X(NAME, "name", "text") */
// clang-format off
#define CW_RELAY_RESULTS(X)                                                                        \
	X(CNP,          "cnp",           "RoCEv2 CNP sent")                                        \
	X(UB_CNP,       "ub-cnp",        "UB CNP sent")                                            \
	X(BTS,          "bts",           "UEC Back To Sender packet sent")                         \
	X(DISABLED,     "disabled",      "the proxy is off")                                       \
	X(NOT_MESSAGE,  "not-message",   "not a congestion message: other protocol or port")       \
	X(NOT_OURS,     "not-ours",      "message to another address")                             \
	X(BORDER,       "border",        "message from outside of the domain")                     \
	X(NOT_ALLOWED,  "not-allowed",   "message from a source that is not allowed")              \
	X(IP_LENGTH,    "ip-length",     "IP length disagrees with the packet, or a fragment")     \
	X(UDP_LENGTH,   "udp-length",    "UDP length disagrees with the packet")                   \
	X(UDP_CHECKSUM, "udp-checksum",  "UDP checksum is wrong")                                  \
	X(FORM,         "form",          "no form of the option has this length")                  \
	X(ADDRESS,      "address",       "five-tuple with addresses that no flow can have")        \
	X(SOURCE_LIMIT, "source-limit",  "more messages a second than one source may send")        \
	X(SOURCE_FULL,  "source-full",   "the source has no budget of its own, and what such sources share is used up") \
	X(TOTAL_LIMIT,  "total-limit",   "more messages a second than all may send")               \
	X(NO_SENDER,    "no-sender",     "no configured prefix holds the traffic sender")          \
	X(SENDER_NONE,  "sender-none",   "the sender's prefix wants no notifications")             \
	X(FAMILY,       "family",        "protocol and port belong to no known transport")         \
	X(NO_FORMAT,    "no-format",     "what the sender supports does not fit the flow, or has no published format") \
	X(UNKNOWN_FLOW, "unknown-flow",  "flow was never seen")                                    \
	X(UNDECIDED,    "undecided",     "source queue pair is not sure")                          \
	X(NRP_QP,       "nrp-qp",        "NRP selector has no source queue pair")                  \
	X(NRP_TP,       "nrp-tp",        "NRP selector has no transport endpoints")                \
	X(NRP_VPN,      "nrp-vpn",       "NRP selector has no VPN, or the VPN no routing domain")  \
	X(COALESCED,    "coalesced",     "the sender's queue pair was notified a moment before")
// clang-format on

enum cw_relay_result {
#define CW_X(id, name, text) CW_RELAY_##id,
	CW_RELAY_RESULTS(CW_X)
#undef CW_X
		CW_RELAY_RESULT_COUNT
};

/* Static text; "unknown" for numbers not in the list. */
const char *cw_relay_name(unsigned r);

/* Was something sent? */
CW_INLINE bool cw_relay_sent(enum cw_relay_result r)
{
	return r <= CW_RELAY_BTS;
}

/* ---- Settings ----------------------------------------------------------------------------- */

/* What the senders of a prefix support: values of the table `senders`, which have, from bit 16 on,
 * the VLAN of notifications (CW_VLAN_SEEN and its VID), or 0: that of the flow. AUTO: a RoCEv2 CNP
 * for RoCEv2, a UB CNP for UB, BTS by the default profile for UEC and the article's UET. */
enum cw_sender {
	CW_SENDER_AUTO = 1,
	CW_SENDER_NONE,
	CW_SENDER_CNP,
	CW_SENDER_FAST_CNP,
	CW_SENDER_UB_CNP,
	CW_SENDER_BTS_ADDR,
	CW_SENDER_BTS_NACK,
	CW_SENDER_BTS_REFLECT,
	CW_SENDER_BTS_UETX,
	CW_SENDER_COUNT
};

/* Congested nodes, values of the table `allowed`: by a prefix, or each listed by its own address.
 * The listed ones have a budget for good, and half of the total burst for themselves. */
enum { CW_ALLOWED_PREFIX = 1, CW_ALLOWED_LISTED };

/* Section 4.2: what an NRP selector stands for: the sender's queue pair and the VPN. In the same
 * way, which the draft doesn't have, both transport endpoints of a UB flow. */
struct cw_nrp {
	uint32_t nrp;
	bool has_qp, has_tp, has_vpn;
	uint32_t sqpn;             /* has_qp */
	uint32_t src_tpn, dst_tpn; /* has_tp: the sender's and the receiver's */
	uint32_t vpn;              /* has_vpn */
};
/* A VPN's routing domain. */
struct cw_vpn_domain {
	uint32_t vpn;
	uint16_t port, vid;   /* where the notification leaves; the caller's numbers */
	struct cw_gid source; /* of the notification, unset: the flow's receiver */
};

struct cw_relay_settings {
	bool enabled;             /* section 6: false */
	uint16_t port1, port2;    /* 49791, 49792 */
	struct cw_gid own4, own6; /* messages have to be sent to one of them, if set */
	const struct cw_lpm
		*allowed; /* CW_ALLOWED_* by the congested node's; borrowed as all tables */
	const struct cw_lpm *senders;          /* enum cw_sender by the traffic sender's prefix */
	enum cw_sender bts_default;            /* profile of AUTO: CW_SENDER_BTS_ADDR */
	uint16_t roce_port, ub_port, uec_port; /* 4791, 4792, 4793 */
	bool uetx_on_ub_port;                  /* flows of ub_port are the article's UET: false */
	const struct cw_pin_4792 *pins;        /* and of these prefixes what they say; borrowed */
	unsigned npins;
	uint8_t cnp_dscp, cnp_ecn, ttl;     /* 48, ECT(0), 64 */
	int bts_dscp;                       /* of BTS; -1: that of the message (default) */
	uint32_t total_rate, total_burst;   /* messages a second, 0 = no limit: 1000000, 1000 */
	uint32_t source_rate, source_burst; /* the same for each source: 100000, 1000 */
	uint32_t sources,
		listed; /* budgets: for sources by prefix at a time, and by address: 1024, 0 */
	uint64_t coalesce_ns;      /* one notification a (sender, QP) in that time: 0, off */
	uint64_t flow_ns;          /* a UB or UEC flow is forgotten after: 300 s */
	const struct cw_nrp *nrps; /* sorted by nrp; when none has a VPN there are no VPNs */
	uint32_t nnrps;
	const struct cw_vpn_domain *domains; /* sorted by vpn */
	uint32_t ndomains;
	uint32_t flows; /* UB and UEC flows remembered, rounded up to a power of two: 65536 */
	uint64_t seed;
};

/* The defaults that stand behind the members above; not enabled, empty tables. */
void cw_relay_settings_init(struct cw_relay_settings *s);

/* ---- The proxy ---------------------------------------------------------------------------- */

struct cw_relay;

/* `map` is borrowed and asked for queue pairs. The diagnosis names a member with hyphens.
 * CW_E_RANGE, CW_E_CONFLICT (an unsorted table), CW_E_NOMEM. */
CW_MUST_USE int cw_relay_new(struct cw_relay **out, const struct cw_relay_settings *s,
			     struct cw_qpmap *map, struct cw_diag *diag);
void cw_relay_free(struct cw_relay *r); /* NULL is fine */

/* Learn from a data packet that passes, an IP packet of `wire` octets, of which the first `len` are
 * at hand. It is only read. */
void cw_relay_learn(struct cw_relay *r, const uint8_t *ip, size_t len, size_t wire, uint64_t now);

/* The same for `n` packets that were seen earlier, each at its own time, in their order. */
void cw_relay_learn_burst(struct cw_relay *r, const struct cw_qp_seen *seen, unsigned n);

/* Of an IP packet of `len` octets, how many of the first ones are worth giving to
 * cw_relay_learn(); 0: none, it teaches nothing. *flow is 0 when each such packet teaches something
 * of its own; else the packet only says that its flow, named by this number, goes on: of those one
 * in a while is enough. */
uint32_t cw_relay_worth(const struct cw_relay_settings *s, const uint8_t *ip, uint32_t len,
			uint64_t *flow);

/* Section 6: is this IP packet a congestion message, that a border has to drop, in and out? */
bool cw_is_cn_message(const uint8_t *ip, size_t len, uint16_t port1, uint16_t port2);

struct cw_relay_out {
	uint32_t len;                       /* octets of the IP packet in the buffer */
	struct cw_gid dst;                  /* the traffic sender */
	enum cw_sender format;              /* what was sent */
	uint16_t vlan;                      /* CW_VLAN_SEEN and a VID, 0: not known */
	const struct cw_vpn_domain *domain; /* NULL: the common routing domain */
};

#define CW_RELAY_MAX 128

/* One message in (an IP packet); `internal`: it came by an interface inside the domain. When the
 * result is CW_RELAY_CNP, _UB_CNP or _BTS, `buf` of CW_RELAY_MAX octets holds the IP packet to
 * send, and `out` says where; otherwise nothing is to be sent. */
enum cw_relay_result cw_relay_input(struct cw_relay *r, const uint8_t *ip, size_t len,
				    bool internal, uint64_t now, uint8_t buf[CW_RELAY_MAX],
				    struct cw_relay_out *out);

/* The same for a burst, in its order: what the messages need of the map is fetched for CW_QP_BURST
 * of them before it is waited for. */
struct cw_relay_item {
	const uint8_t *ip; /* in */
	size_t len;
	bool internal;
	uint8_t *buf; /* of CW_RELAY_MAX octets each */
	enum cw_relay_result result;
	struct cw_relay_out out;
};
void cw_relay_burst(struct cw_relay *r, struct cw_relay_item *item, unsigned n, uint64_t now);

/* How many messages had this result (CW_RELAY_*); 0 for a number that is none. */
uint64_t cw_relay_counter(const struct cw_relay *r, unsigned result);

#ifdef __cplusplus
}
#endif
#endif
