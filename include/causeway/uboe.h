/* uboe.h - a software UB transport endpoint: RTP, UTP, transactions, congestion control.
 * Spec: draft-li-uboe-00 3, 4, 5.2.2; UB Base Specification 2.0 chapters 6 and 7. Local readings
 * are in docs/decisions.md. Not spoken: CTP, transport bypass, CIPH, CAQM, Management (counted as
 * BAD_MANAGEMENT), Writeback, byte-enable writes.
 *
 * The words are URMA's. A device holds segments (registered memory, named by TokenID and guarded by
 * TokenValue and permissions), jetties (a send queue, a receive queue and their completions) and TP
 * groups: the TP channels that lead to one peer. To send, a jetty imports a jetty of the peer and
 * posts work to it; what became of it is polled.
 *
 * There is no I/O and no clock in here. Packets that came in are given to cw_uboe_input(), packets
 * to be sent are pulled from cw_uboe_output() until it has none, and both are called again when
 * cw_uboe_next_timer() is due. Times are nanoseconds of any clock that never goes back. TP numbers,
 * first PSNs and the rest of cw_uboe_tp_peer are exchanged by the caller's own rendezvous.
 *
 * Threads: a device and all that belongs to it is for one thread at a time; the caller locks if
 * several use it. Different devices share nothing. Memory is allocated by the *_new functions, by
 * import and register only; afterwards everything lives in pools of fixed size.
 *
 * Copies: payload is copied once from the caller's memory into the packet, on every transmission,
 * and once from the packet into the registered memory or receive buffer. Packets that arrive out
 * of order are copied once more, into the channel's reorder buffer. So memory of posted work must
 * stay as it is until the completion, and may be used again from then on.
 */
#ifndef CAUSEWAY_UBOE_H
#define CAUSEWAY_UBOE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"
#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_uboe_dev;
struct cw_uboe_seg;
struct cw_uboe_jetty;
struct cw_uboe_tpg;
struct cw_uboe_tp;
struct cw_uboe_tjetty;

#define CW_UBOE_NEVER UINT64_MAX
#define CW_UBOE_AUTO  UINT64_MAX

/* ---- Counters ----------------------------------------------------------------------------- */

// clang-format off
/* X(NAME, "name", "text"); of a device, and of each TP channel. */
#define CW_UBOE_COUNTERS(X)                                                                        \
	X(RX,            "rx",            "packets received")                                      \
	X(RX_OCTETS,     "rx-octets",     "payload octets received in order")                      \
	X(TX,            "tx",            "packets sent")                                          \
	X(TX_OCTETS,     "tx-octets",     "payload octets sent, retransmissions included")         \
	X(TX_DATA,       "tx-data",       "data packets sent for the first time")                  \
	X(RTX,           "rtx",           "data packets sent again")                               \
	X(RX_DATA,       "rx-data",       "data packets accepted in order")                        \
	X(RX_OOO,        "rx-ooo",        "data packets ahead of order, kept")                     \
	X(RX_OOO_DROP,   "rx-ooo-drop",   "data packets ahead of order, not kept")                 \
	X(RX_DUP,        "rx-dup",        "duplicate data packets")                                \
	X(RX_INVALID,    "rx-invalid",    "data packets with a PSN outside of every window")       \
	X(RX_FAKE,       "rx-fake",       "fake packets received")                                 \
	X(TX_FAKE,       "tx-fake",       "fake packets sent")                                     \
	X(TX_ACK,        "tx-ack",        "TPACK sent")                                            \
	X(TX_NAK,        "tx-nak",        "TPNAK sent")                                            \
	X(TX_SACK,       "tx-sack",       "TPSACK sent")                                           \
	X(TX_RNR,        "tx-rnr",        "TPACK with RNR or page fault sent")                     \
	X(RX_ACK,        "rx-ack",        "TPACK received")                                        \
	X(RX_NAK,        "rx-nak",        "TPNAK received")                                        \
	X(RX_SACK,       "rx-sack",       "TPSACK received")                                       \
	X(RX_RNR,        "rx-rnr",        "TPACK with RNR or page fault received")                 \
	X(RX_ACK_STALE,  "rx-ack-stale",  "acknowledgement of what was never sent or long acknowledged") \
	X(RTO,           "rto",           "retransmission timeouts")                               \
	X(TP_FAILED,     "tp-failed",     "channels that went into the error state")               \
	X(CE,            "ce",            "packets that came with a congestion mark")              \
	X(TX_CNP,        "tx-cnp",        "CNP sent")                                              \
	X(RX_CNP,        "rx-cnp",        "CNP received")                                          \
	X(CUT,           "cut",           "reductions of rate or window")                          \
	X(TAACK,         "taack",         "TAACK packets sent")                                    \
	X(TAACK_MERGED,  "taack-merged",  "transactions acknowledged by another one's TAACK")      \
	X(TA_RNR,        "ta-rnr",        "requests refused for now: no receive posted, or order") \
	X(TA_FAULT,      "ta-fault",      "requests refused for now: page fault")                  \
	X(TA_RETRY,      "ta-retry",      "requests sent anew after RNR or page fault")            \
	X(TA_ERROR,      "ta-error",      "requests answered with a completer error")              \
	X(TA_STRAY,      "ta-stray",      "responses to a transaction that is not outstanding")    \
	X(ATOMIC,        "atomic",        "atomics executed")                                      \
	X(UTP_DROP,      "utp-drop",      "UTP packets without a receive or a jetty")              \
	X(PREFETCH,      "prefetch",      "prefetches done")                                       \
	X(BAD_SHORT,     "bad-short",     "packet ends inside a header")                           \
	X(BAD_IP,        "bad-ip",        "IP header refused: version, length, fragment, protocol, checksum") \
	X(BAD_UB,        "bad-ub",        "LPH or NPI refused")                                    \
	X(BAD_PARTITION, "bad-partition", "another partition, or two low-privilege ends")          \
	X(BAD_UDP,       "bad-udp",       "UDP port, length or checksum is wrong")                 \
	X(BAD_ICRC,      "bad-icrc",      "ICRC is wrong")                                         \
	X(BAD_OPCODE,    "bad-opcode",    "reserved or unsupported transport opcode, version or NLP") \
	X(BAD_TPN,       "bad-tpn",       "no such TP channel")                                    \
	X(BAD_PEER,      "bad-peer",      "source is not the channel's peer")                      \
	X(BAD_UPI,       "bad-upi",       "UPI or destination EID is not ours")                    \
	X(BAD_TA,        "bad-ta",        "transaction headers cannot be understood")              \
	X(BAD_MANAGEMENT, "bad-management", "Management: no layout of its header is published")    \
	X(BAD_TOKEN,     "bad-token",     "TokenID or TokenValue is wrong")                        \
	X(BAD_BOUNDS,    "bad-bounds",    "access outside of the segment")                         \
	X(BAD_ACCESS,    "bad-access",    "segment or jetty does not permit this")                 \
	X(BAD_ALIGN,     "bad-align",     "atomic operand size or alignment is wrong")             \
	X(BAD_JETTY,     "bad-jetty",     "no such jetty, or its token is wrong")                  \
	X(BAD_LENGTH,    "bad-length",    "message longer than the receive buffer, or lengths disagree")

/* X(NAME, "name", "text"): how a transaction ended. */
#define CW_UBOE_STATUSES(X)                                                                        \
	X(OK,          "ok",          "done")                                                      \
	X(UNSUPPORTED, "unsupported", "the target does not support the request, or refuses it")    \
	X(REMOTE,      "remote",      "the target aborted: token, bounds, permission or length")   \
	X(RNR,         "rnr",         "the target stayed not ready")                               \
	X(FAULT,       "fault",       "the target's page fault was not resolved")                  \
	X(RETRIES,     "retries",     "the peer does not answer")                                  \
	X(PEER_FAILED, "peer-failed", "the peer's channel is in the error state")                  \
	X(FLUSHED,     "flushed",     "the channel was closed or failed before")                   \
	X(LENGTH,      "length",      "the message is longer than the receive buffer")             \
	X(ABORTED,     "aborted",     "the sender gave up in the middle of the message")
// clang-format on

enum cw_uboe_counter {
#define CW_X(id, name, text) CW_UBOE_C_##id,
	CW_UBOE_COUNTERS(CW_X)
#undef CW_X
		CW_UBOE_COUNTER_COUNT
};

enum cw_uboe_status {
#define CW_X(id, name, text) CW_UBOE_##id,
	CW_UBOE_STATUSES(CW_X)
#undef CW_X
		CW_UBOE_STATUS_COUNT
};

/* Static texts; "unknown" for numbers not in the list. */
const char *cw_uboe_counter_name(enum cw_uboe_counter c);
const char *cw_uboe_counter_text(enum cw_uboe_counter c);
const char *cw_uboe_status_name(enum cw_uboe_status s);
const char *cw_uboe_status_text(enum cw_uboe_status s);

/* ---- Device ------------------------------------------------------------------------------- */

/* Option structs begin with their size, so that they can grow; initialise them with the macro. */
struct cw_uboe_dev_opts {
	size_t size;
	uint64_t seed; /* of TPNs, first PSNs and TokenIDs: give it real randomness */
	unsigned max_tps, max_jetties, max_segs, max_tjetties;
	enum cw_icrc_order icrc_order;
	bool sack_big_endian;       /* order of bits in a TPSACK, decisions.md */
	bool atomic_resp_lsb_first; /* UB 2.0 7.4.2.3 draws the response most significant first */
	uint16_t udp_port;          /* 4792 */
	uint32_t upi;               /* expected in packets that carry a UPIH */
	uint8_t eid[16];            /* own entity; all zero: any is taken */
};
#define CW_UBOE_DEV_OPTS                                                                     \
	{                                                                                    \
		.size = sizeof(struct cw_uboe_dev_opts), .max_tps = 256, .max_jetties = 256, \
		.max_segs = 1024, .max_tjetties = 1024, .udp_port = CW_UB_PORT               \
	}

/* CW_E_ARG (options newer than the library, a maximum of 0 or above 65536), CW_E_NOMEM. */
int cw_uboe_dev_new(struct cw_uboe_dev **out, const struct cw_uboe_dev_opts *opts);
/* Frees everything that belongs to the device; nothing is completed. NULL is fine. */
void cw_uboe_dev_free(struct cw_uboe_dev *dev);
uint64_t cw_uboe_dev_count(const struct cw_uboe_dev *dev, enum cw_uboe_counter c);

/* ---- Packets and time --------------------------------------------------------------------- */

/* UBOE: IPv4 or IPv6 header .. ICRC. NATIVE: LPH .. ICRC. */
enum cw_uboe_form { CW_UBOE_FORM_UBOE, CW_UBOE_FORM_NATIVE };

/* A packet came in (octets behind the ICRC, such as link padding, are allowed). It is only read
 * during the call. Returns CW_OK, or why it was dropped, in which case a counter tells too:
 * CW_E_SHORT, CW_E_VERSION, CW_E_LENGTH, CW_E_FRAGMENT, CW_E_OPTIONS, CW_E_CHECKSUM, CW_E_ICRC,
 * CW_E_RESERVED, CW_E_FORBIDDEN (partition, UPI), CW_E_UNKNOWN (no such channel or peer),
 * CW_E_STATE (PSN outside of every window). A transaction that is answered with an error was not
 * dropped: CW_OK. */
int cw_uboe_input(struct cw_uboe_dev *dev, enum cw_uboe_form form, const void *packet, size_t len,
		  uint64_t now);

/* What the caller may want to know of a packet to be sent. */
struct cw_uboe_out {
	enum cw_uboe_form form;
	struct cw_uboe_tp *tp;
	uint8_t ip_version; /* 4 or 6 */
	uint8_t dst[16];    /* destination address, 4 or 16 octets */
};

/* Octets that hold any packet of a channel with this MTU. */
#define CW_UBOE_PACKET_MAX(mtu) ((mtu) + 256u)

/* Build the next packet that is to be sent at time `now` into buf. Returns its length, 0 when there
 * is none now, CW_E_SPACE when buf can't hold it (nothing is lost). `out` may be NULL. */
int cw_uboe_output(struct cw_uboe_dev *dev, void *buf, size_t size, uint64_t now,
		   struct cw_uboe_out *out);

/* When cw_uboe_output() should be asked again though nothing came in and nothing was posted;
 * CW_UBOE_NEVER, or a time that has passed when it has something already. */
uint64_t cw_uboe_next_timer(const struct cw_uboe_dev *dev);

/* ---- Segments ----------------------------------------------------------------------------- */

#define CW_UBOE_READ   1u
#define CW_UBOE_WRITE  2u
#define CW_UBOE_ATOMIC 4u

struct cw_uboe_seg_opts {
	size_t size;
	unsigned access; /* CW_UBOE_READ ... */
	bool token;      /* peers must present token_value */
	uint32_t token_value;
	uint64_t va; /* its address on the wire; 0: that of the memory */
};
#define CW_UBOE_SEG_OPTS                                \
	{                                               \
		.size = sizeof(struct cw_uboe_seg_opts) \
	}

/* Register `len` octets at `addr` for access by peers; the memory stays the caller's, and must live
 * until the segment is unregistered. CW_E_ARG, CW_E_RANGE (address wraps), CW_E_SPACE (max_segs),
 * CW_E_NOMEM. */
int cw_uboe_seg_register(struct cw_uboe_dev *dev, void *addr, uint64_t len,
			 const struct cw_uboe_seg_opts *opts, struct cw_uboe_seg **out);
/* CW_E_STATE while responses are being read from it. */
int cw_uboe_seg_unregister(struct cw_uboe_seg *seg);
uint32_t cw_uboe_seg_token_id(const struct cw_uboe_seg *seg);
uint64_t cw_uboe_seg_va(const struct cw_uboe_seg *seg);
/* Pages gone (peers get a page fault and try again) and back. */
void cw_uboe_seg_set_present(struct cw_uboe_seg *seg, bool present);

/* ---- TP groups and channels --------------------------------------------------------------- */

/* Who keeps the order of transactions: the initiator, the target, or the lower layer. */
enum cw_uboe_service { CW_UBOE_ROI, CW_UBOE_ROT, CW_UBOE_ROL, CW_UBOE_UNO };

enum cw_uboe_spread { CW_UBOE_BY_FLOW, CW_UBOE_BY_PACKET };

struct cw_uboe_tpg_opts {
	size_t size;
	enum cw_uboe_service service; /* UNO is over UTP, the others over RTP */
	/* Which channel of the group takes a transaction: one for all of an imported jetty, or
	 * each its turn. */
	enum cw_uboe_spread spread;
	unsigned max_contexts; /* ROT: initiators (imported jetties of the peer) served */
	unsigned ta_retries;   /* RNR and page faults in a row until a transaction fails; 0: ever */
	uint8_t rnr_timer;     /* 0..19: what refused peers are told to wait, 2 us << n */
	unsigned taack_max;    /* transactions that one TAACK may answer, 1..32 */
};
#define CW_UBOE_TPG_OPTS                                                                       \
	{                                                                                      \
		.size = sizeof(struct cw_uboe_tpg_opts), .max_contexts = 64, .ta_retries = 64, \
		.rnr_timer = 5, .taack_max = 32                                                \
	}

/* CW_E_ARG, CW_E_NOMEM. */
int cw_uboe_tpg_new(struct cw_uboe_dev *dev, const struct cw_uboe_tpg_opts *opts,
		    struct cw_uboe_tpg **out);

enum cw_uboe_retx { CW_UBOE_GBN, CW_UBOE_SELECTIVE };
enum cw_uboe_cc { CW_UBOE_CC_NONE, CW_UBOE_CC_DCQCN, CW_UBOE_CC_LDCP };

struct cw_uboe_tp_opts {
	size_t size;
	/* Packets */
	enum cw_uboe_form form;
	uint8_t ip_version;       /* 4 or 6 */
	uint8_t src[16], dst[16]; /* IPv4: the first four octets */
	uint8_t dscp, ttl;
	uint8_t ect;               /* ECN of data, UBoE: 2 = ECT(0), 1 = ECT(1), 0 = not capable */
	uint16_t sport, ack_sport; /* UDP source ports of data and of responses, the low end */
	uint8_t sport_bits;        /* 0..8: 2^n data ports from sport on */
	enum cw_uboe_spread
		spray;  /* over these ports: by channel (hash of the TPN), or each packet */
	uint32_t npi;   /* native: 25 bits */
	uint8_t vl, rt; /* native */
	bool eids;      /* put UPIH and EIDH (NLP 1) into every data packet */
	uint32_t upi;
	uint8_t seid[16], deid[16];
	/* Transport */
	uint32_t mtu;     /* payload octets: 256, 512, 1024, 2048, 4096, 8192 */
	uint32_t window;  /* packets in flight and PSNs accepted ahead: 128, 256, 512, 1024, 2048 */
	uint32_t reorder; /* PSNs ahead that are kept: 64, 128, 256, 512, 1024 */
	enum cw_uboe_retx retx;
	bool fast;            /* fast retransmission by TPNAK or TPSACK */
	bool fast_with_spray; /* allow selective + fast with packets spread over ports */
	bool exponential;     /* RTO = rto_base << (rto_shift * times); else rto_base always */
	uint8_t rto_shift;
	uint64_t rto_base; /* ns */
	/* The RTO follows the measured round trip where that is longer than what the lines above
	 * give: a queue that takes a second is no loss. */
	bool rto_adaptive;
	/* Selective with fast retransmission: a packet is lost when one that was sent after it has
	 * arrived and it is older than this, ns. CW_UBOE_AUTO: than round trips were, so that
	 * reordering is not taken for loss; 0: at once, as UB 2.0 6.4.2.3 has it. */
	uint64_t reorder_delay;
	/* Percent: when more than these of the packets get lost, fewer are put into the network,
	 * whatever congestion control says. 0: never. */
	unsigned loss_limit;
	unsigned retries;     /* timeouts in a row until the channel fails */
	unsigned rnr_retries; /* RNR of the transport in a row until the channel fails; 0: ever */
	unsigned ack_every;   /* packets without the A bit that share one TPACK */
	uint64_t ack_delay;   /* ns that they may wait for it */
	unsigned sack_after;  /* selective without fast: packets out of order until a TPSACK */
	unsigned responses;   /* pool of answers in preparation, at least two windows */
	uint32_t tpn;         /* own number, 0: chosen; taken numbers are refused */
	uint32_t psn;         /* own first PSN, UINT32_MAX: random */
	bool resp_offset;     /* OFSTETAH in Read responses; both ends must agree */
	/* Congestion control */
	enum cw_uboe_cc cc;
	bool two_levels; /* a light CNP cuts half as much; a CE of UBoE is severe (draft 5.2.2) */
	uint64_t line_rate;           /* bit/s, upper limit and start of DCQCN */
	uint64_t min_rate;            /* bit/s */
	uint64_t cnp_gap;             /* ns between CNPs of a channel */
	uint64_t dcqcn_timer;         /* ns until a step up */
	uint64_t dcqcn_ai, dcqcn_hai; /* bit/s */
	uint64_t dcqcn_octets;        /* byte counter */
	uint8_t dcqcn_g;              /* a mark weighs 2^-n, 1..16 */
	uint8_t dcqcn_f;              /* steps of fast recovery, not 0 */
	/* LDCP's window (decisions.md) in packets of one MTU: the first one, and its bounds; the
	 * window of PSNs is one, too. None is 0. */
	uint32_t ldcp_start, ldcp_min, ldcp_max;
	uint32_t ldcp_ai;           /* percent of an MTU that a window without marks adds, not 0 */
	uint32_t ldcp_cut;          /* percent of each marked octet that it loses, 1..100 */
	bool ldcp_slow_start;       /* until the first mark it grows by each octet that arrives */
	uint64_t dcqcn_alpha_timer; /* ns without a CNP until alpha fades, not 0 */
	uint64_t dcqcn_cut_gap;     /* ns between two cuts */
	uint16_t dcqcn_alpha;       /* the first alpha, 1024ths: 1..1024 */
	/* ns until a channel fails whose peer acknowledges everything and answers no transaction:
	 * one of both has been told something that was not so. 0: never. */
	uint64_t answer_timeout;
};
#define CW_UBOE_TP_OPTS                                                                        \
	{                                                                                      \
		.size = sizeof(struct cw_uboe_tp_opts), .ip_version = 4, .ttl = 64, .ect = 2,  \
		.sport = 0xc000, .ack_sport = 0xc000, .npi = 1, .rt = 2, .mtu = 4096,          \
		.window = 256, .reorder = 256, .retx = CW_UBOE_SELECTIVE, .fast = true,        \
		.exponential = true, .rto_shift = 1, .rto_base = 4000000, .retries = 7,        \
		.rnr_retries = 64, .ack_every = 16, .ack_delay = 50000, .sack_after = 4,       \
		.rto_adaptive = true, .reorder_delay = CW_UBOE_AUTO, .loss_limit = 10,         \
		.responses = 1024, .psn = UINT32_MAX, .line_rate = 100000000000,               \
		.min_rate = 10000000, .cnp_gap = 50000, .dcqcn_timer = 55000,                  \
		.dcqcn_ai = 40000000, .dcqcn_hai = 100000000, .dcqcn_octets = 10485760,        \
		.dcqcn_alpha_timer = 55000, .dcqcn_cut_gap = 50000, .dcqcn_alpha = 1024,       \
		.dcqcn_g = 8, .dcqcn_f = 5, .ldcp_start = 16, .ldcp_min = 1, .ldcp_max = 2048, \
		.ldcp_ai = 100, .ldcp_cut = 50, .ldcp_slow_start = true,                       \
		.answer_timeout = 10000000000                                                  \
	}

/* Add a channel to a group. It takes its TPN and first PSN here, and carries data from
 * cw_uboe_tp_connect() on (a UTP path, in a UNO group, at once). `diag` (may be NULL) names the
 * option that is wrong. CW_E_ARG, CW_E_RANGE, CW_E_CONFLICT (ROL with a second channel; spraying by
 * packet with fast retransmission), CW_E_SPACE (max_tps), CW_E_NOMEM. */
int cw_uboe_tp_new(struct cw_uboe_tpg *tpg, const struct cw_uboe_tp_opts *opts,
		   struct cw_uboe_tp **out, struct cw_diag *diag);

/* What the other end must know of this one, and the other way round. */
struct cw_uboe_tp_peer {
	uint32_t tpn, psn; /* number and first PSN of that end */
	uint32_t mtu;      /* that end takes; the smaller one of both is used */
	uint32_t window;   /* PSNs ahead that end accepts; the smaller one of both is used */
};
void cw_uboe_tp_local(const struct cw_uboe_tp *tp, struct cw_uboe_tp_peer *out);
/* CW_E_STATE when connected already, CW_E_RANGE. */
int cw_uboe_tp_connect(struct cw_uboe_tp *tp, const struct cw_uboe_tp_peer *peer);
/* Fail it: its outstanding work is completed as FLUSHED. The memory stays the device's; the number
 * stays taken, so that packets still under way are recognised and the peer hears of it. */
void cw_uboe_tp_close(struct cw_uboe_tp *tp);
/* Give a channel's memory and number back. Packets that still come for it are counted as BAD_TPN.
 * CW_E_STATE while it is READY (RTP): close it first. */
int cw_uboe_tp_free(struct cw_uboe_tp *tp);
/* CW_E_STATE while it has channels or imported jetties. Completions that were polled or wait to be
 * polled may still name it: the pointer only tells which one it was. */
int cw_uboe_tpg_free(struct cw_uboe_tpg *tpg);

enum cw_uboe_tp_state { CW_UBOE_TP_INIT, CW_UBOE_TP_READY, CW_UBOE_TP_ERROR };

struct cw_uboe_tp_info {
	enum cw_uboe_tp_state state;
	enum cw_uboe_status reason; /* of ERROR */
	uint32_t tpn, peer_tpn, next_psn, una_psn, expected_psn;
	uint32_t flight; /* packets sent and not acknowledged */
	uint64_t rate;   /* bit/s that congestion control allows (DCQCN) */
	uint64_t cwnd;   /* octets that it allows (LDCP) */
	uint64_t srtt;   /* ns, smoothed, of packets that were sent once; 0: not known yet */
	uint64_t rto;    /* ns, as it stands */
	uint32_t limit;  /* packets that may be in the network after losses (loss_limit) */
	uint64_t counters[CW_UBOE_COUNTER_COUNT];
};
void cw_uboe_tp_get_info(const struct cw_uboe_tp *tp, struct cw_uboe_tp_info *out);

/* ---- Jetties ------------------------------------------------------------------------------ */

struct cw_uboe_jetty_opts {
	size_t size;
	uint32_t id; /* 20 bits, 0: chosen (from 1024 on; UB 2.0 gives 0..31 a meaning) */
	unsigned send_depth, recv_depth; /* at most 32768 */
	bool token;                      /* senders must present token_value */
	uint32_t token_value;
};
#define CW_UBOE_JETTY_OPTS                                                                      \
	{                                                                                       \
		.size = sizeof(struct cw_uboe_jetty_opts), .send_depth = 256, .recv_depth = 256 \
	}

/* CW_E_ARG, CW_E_CONFLICT (id is taken), CW_E_SPACE (max_jetties), CW_E_NOMEM. */
int cw_uboe_jetty_new(struct cw_uboe_dev *dev, const struct cw_uboe_jetty_opts *opts,
		      struct cw_uboe_jetty **out);
uint32_t cw_uboe_jetty_id(const struct cw_uboe_jetty *jetty);
/* Receives that were posted are dropped without a completion: their buffers are the caller's again.
 * So are completions that were not polled. CW_E_STATE while something is imported for it, or a
 * message is on its way into a receive of it. */
int cw_uboe_jetty_free(struct cw_uboe_jetty *jetty);

/* A jetty of the peer behind `tpg`, to which `jetty` will post. Memory operations go this way too;
 * they need no jetty there (remote_id is then unused). CW_E_SPACE (max_tjetties), CW_E_NOMEM. */
int cw_uboe_import(struct cw_uboe_jetty *jetty, struct cw_uboe_tpg *tpg, uint32_t remote_id,
		   uint32_t token_value, struct cw_uboe_tjetty **out);

/* The other end of import. CW_E_STATE while work that was posted to it has not ended. */
int cw_uboe_unimport(struct cw_uboe_tjetty *to);

/* ---- Work --------------------------------------------------------------------------------- */

enum cw_uboe_op {
	CW_UBOE_OP_SEND,
	CW_UBOE_OP_SEND_IMM,
	CW_UBOE_OP_WRITE,
	CW_UBOE_OP_WRITE_IMM,
	CW_UBOE_OP_WRITE_NOTIFY,
	CW_UBOE_OP_READ,
	CW_UBOE_OP_CAS,
	CW_UBOE_OP_SWAP,
	CW_UBOE_OP_STORE,
	CW_UBOE_OP_LOAD,
	CW_UBOE_OP_FETCH_ADD,
	CW_UBOE_OP_FETCH_SUB,
	CW_UBOE_OP_FETCH_AND,
	CW_UBOE_OP_FETCH_OR,
	CW_UBOE_OP_FETCH_XOR,
	CW_UBOE_OP_PREFETCH, /* UTP: the peer's memory will be needed soon; a hint, `len` octets */
	CW_UBOE_OP_RECV,     /* in completions only */
	CW_UBOE_OPS
};
const char *cw_uboe_op_name(enum cw_uboe_op op);

/* Operation of atomic store and load (UDETAH subtype). */
enum cw_uboe_sub {
	CW_UBOE_SUB_ADD,
	CW_UBOE_SUB_CLR,
	CW_UBOE_SUB_XOR,
	CW_UBOE_SUB_SET,
	CW_UBOE_SUB_SMAX,
	CW_UBOE_SUB_SMIN,
	CW_UBOE_SUB_UMAX,
	CW_UBOE_SUB_UMIN
};

#define CW_UBOE_RELAXED  1u /* ordering marks, decisions.md */
#define CW_UBOE_STRONG   2u
#define CW_UBOE_IN_ORDER 4u /* complete in the order of posting */
#define CW_UBOE_SILENT   8u /* no completion when it ends well */

/* A piece of memory; several make up one message, in their order. */
#define CW_UBOE_SGE_MAX 8
struct cw_uboe_sge {
	void *addr;
	uint32_t len;
};

struct cw_uboe_wr {
	enum cw_uboe_op op;
	unsigned flags;
	uint64_t user; /* comes back in the completion */
	void *local;   /* payload; Read and atomics: where the answer goes (may be NULL: atomics) */
	/* Instead of `local`, but not for atomics: nsge pieces, 1 to CW_UBOE_SGE_MAX, `len` octets
	 * together. The list is copied, the memory borrowed. */
	const struct cw_uboe_sge *sge;
	unsigned nsge;
	uint32_t len;         /* octets; atomics: operand size 1, 2, 4, 8, 16, 32, 64 */
	uint64_t remote_addr; /* memory operations */
	uint32_t token_id, token_value;
	uint64_t imm;
	/* Write with notify: 8 octets written when all is written, least significant first */
	uint64_t notify_addr, notify_data;
	uint32_t notify_token_id, notify_token_value;
	/* Atomics: `len` octets each in the byte order of this machine; CAS compares with operand2
	 * and stores operand1. operand2 may be NULL for the others. */
	const void *operand1, *operand2;
	enum cw_uboe_sub sub; /* STORE and LOAD */
};

/* Post work. The wr is copied, and atomics' operands with it; `local` is borrowed until the
 * completion. CW_E_ARG, CW_E_RANGE (larger than a UTP packet), CW_E_FORBIDDEN (not over UTP, or
 * only over UTP: Prefetch), CW_E_SPACE (send_depth is used up: poll), CW_E_STATE (no live channel).
 */
int cw_uboe_post(struct cw_uboe_tjetty *to, const struct cw_uboe_wr *wr);

/* Post a receive buffer; it is borrowed until its completion. CW_E_ARG, CW_E_SPACE (recv_depth is
 * used up). */
int cw_uboe_post_recv(struct cw_uboe_jetty *jetty, void *buf, uint32_t len, uint64_t user);
/* The same in nsge pieces, 1 to CW_UBOE_SGE_MAX; the list is copied. CW_E_RANGE: 4 GiB or more. */
int cw_uboe_post_recv_sg(struct cw_uboe_jetty *jetty, const struct cw_uboe_sge *sge, unsigned nsge,
			 uint64_t user);

/* A completion. */
struct cw_uboe_cr {
	enum cw_uboe_op op; /* RECV for what came in: Send, Send or Write with immediate */
	enum cw_uboe_status status;
	uint64_t user;
	uint32_t len;          /* octets received or transferred */
	bool has_imm, written; /* RECV: immediate; it was a Write, the buffer is unused */
	uint64_t imm;
	uint8_t rspst, rspinfo;  /* of the refusal, if there was one */
	struct cw_uboe_tpg *tpg; /* where it came from; NULL for UTP */
};

/* Take up to n completions. Completions are never lost: each posted work has its place. */
unsigned cw_uboe_poll(struct cw_uboe_jetty *jetty, struct cw_uboe_cr *cr, unsigned n);

#ifdef __cplusplus
}
#endif
#endif
