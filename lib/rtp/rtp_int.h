/* rtp_int.h - inside of the UB transport endpoint.
 *
 * Way of a request: post -> tjetty (fence) -> channel's queue -> packets with PSNs in the send ring
 * -> acknowledged by the transport, answered by the target -> completion of the jetty.
 * Way of a packet: frame (IP, UDP, ICRC) -> channel (PSN classes, reorder buffer) -> target or
 * initiator side of the transaction layer.
 */
#ifndef LIB_RTP_RTP_INT_H
#define LIB_RTP_RTP_INT_H

#include <string.h>
#include "causeway/dcqcn.h"
#include "causeway/icrc.h"
#include "causeway/uboe.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"

#define PSN_MASK  0xffffffu
#define PSN_HALF  0x800000u
#define ID20_MASK 0xfffffu
#define EIDS_LEN  (CW_SIZE_UPIH + CW_SIZE_EIDH)
#define TAH_MAX                                                                              \
	(CW_SIZE_BTAH + CW_SIZE_UDETAH + CW_SIZE_MTETAH + CW_SIZE_MAETAH + CW_SIZE_NTFETAH + \
	 CW_SIZE_IMMETAH + CW_SIZE_TVETAH + CW_SIZE_OFSTETAH)
#define OPERAND_MAX       64
#define CODE(rspst, info) ((unsigned)((rspst) << 5 | (info)))

CW_INLINE uint32_t psn_add(uint32_t a, uint32_t b)
{
	return (a + b) & PSN_MASK;
}

/* Distance from b to a, modulo 2^24. */
CW_INLINE uint32_t psn_sub(uint32_t a, uint32_t b)
{
	return (a - b) & PSN_MASK;
}

CW_INLINE uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

CW_INLINE uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- Operations --------------------------------------------------------------------------- */

enum op_kind { OP_REQUEST, OP_TAACK, OP_READ_RESP, OP_ATOMIC_RESP };

/* What is sent as one TPMSN: a request of ours, or an answer to one of the peer's. */
struct op {
	struct op *next;          /* of a queue or a free list */
	struct op *older, *newer; /* requests: of the jetty's, in posting order */
	struct cw_uboe_tp *tp;
	struct cw_uboe_tjetty *to; /* requests */
	struct cw_uboe_seg *seg;   /* Read responses: held until they are acknowledged */
	enum op_kind kind;
	uint8_t opcode, last_opcode; /* TAOpcode of the packets, and of the last of them */
	uint8_t code;                /* answers: RSPST and RSPINFO */
	bool sent_all, again, waiting, done, taken;
	uint16_t tassn;
	uint32_t rc;        /* INI_RC_Type and INI_RC_ID */
	const uint8_t *src; /* payload */
	uint32_t len, npkts, next_seg, acked;
	uint32_t last_psn, tpmsn, lane_turn;
	uint32_t got; /* Read: octets of the answer so far */
	unsigned tries;
	uint64_t not_before;
	struct cw_uboe_wr wr;
	struct cw_uboe_cr cr;
	unsigned nsge;                     /* 0: src, or wr.local, is one piece */
	uint8_t operands[2 * OPERAND_MAX]; /* from here on not cleared */
	struct cw_uboe_sge sge[CW_UBOE_SGE_MAX];
};

struct opq {
	struct op *head, *tail;
};

void opq_push(struct opq *q, struct op *op);
struct op *opq_pop(struct opq *q);
bool opq_remove(struct opq *q, struct op *op);

/* ---- Objects ------------------------------------------------------------------------------- */

struct cw_uboe_seg {
	struct cw_uboe_dev *dev;
	uint8_t *addr;
	uint64_t len, va;
	struct cw_uboe_seg_opts o;
	uint32_t token_id;
	uint32_t refs; /* Read responses under way */
	bool present;
};

struct recv {
	uint32_t len;
	uint64_t user;
	struct cw_uboe_sge sge[CW_UBOE_SGE_MAX];
};

/* sg.c: memory in pieces. `off + len` is within them. */
bool sg_take(struct cw_uboe_sge *into, const struct cw_uboe_sge *sge, unsigned n, uint64_t *total);
void sg_gather(const struct cw_uboe_sge *sge, uint32_t off, uint8_t *to, uint32_t len);
void sg_scatter(const struct cw_uboe_sge *sge, uint32_t off, const uint8_t *from, uint32_t len);

struct cw_uboe_jetty {
	struct cw_uboe_dev *dev;
	struct cw_uboe_jetty_opts o;
	struct op *ops, *free;
	struct op *oldest, *newest; /* outstanding requests */
	struct recv *recvs;         /* ring of recv_depth */
	unsigned rhead, rposted;    /* receives that are not used yet */
	unsigned squsage, rqusage;  /* posted and not polled */
	unsigned imports;
	struct cw_uboe_cr *cq; /* ring of send_depth + recv_depth */
	unsigned cqhead, cqlen;
};

/* An imported jetty: the initiator's request context (INI_RC_ID), one space of TASSNs. */
struct cw_uboe_tjetty {
	struct cw_uboe_jetty *jetty;
	struct cw_uboe_tpg *tpg;
	struct cw_uboe_tjetty *next; /* of the group */
	uint32_t remote_id, token_value, rc;
	uint16_t tassn, oldest; /* next one; lowest that may be outstanding */
	uint32_t mask;
	uint32_t running, reads; /* dispatched and not finished; Reads among them */
	/* ROT: the channel that took the last request, those that it took since another one did,
	 * and how often it changed. Strongly ordered ones that run. */
	struct cw_uboe_tp *lane;
	uint32_t in_lane, lane_turn, strong;
	uint32_t unreleased; /* posted, and the completion is not in its queue */
	struct op **ring;    /* outstanding requests by TASSN */
	struct opq fenced;   /* ROI: wait for what is before them */
	bool dispatching;
};

/* Target side of a request context of the peer (ROT): which TASSNs were executed. */
#define CONTEXT_SPAN 65536
struct context {
	bool used;
	uint32_t rc;
	uint16_t base; /* all before it were executed */
	uint64_t done[CONTEXT_SPAN / 2 / 64];
};

struct cw_uboe_tpg {
	struct cw_uboe_dev *dev;
	struct cw_uboe_tpg *next;
	struct cw_uboe_tpg_opts o;
	struct cw_uboe_tp **tps;
	unsigned ntps, turn;
	struct cw_uboe_tjetty *tjettys;
	struct context *contexts;
};

#define PKT_SACKED 1u /* received out of order */
#define PKT_RTX    2u /* to be sent again */
#define PKT_RESENT 4u /* was sent again: no round-trip time */

/* A packet in flight, found by PSN. */
struct pkt {
	struct op *op;
	uint32_t seg;
	uint32_t order; /* number of its last transmission among all of the channel */
	uint32_t units; /* its size in LDCP's accounting */
	uint8_t flags;
	uint64_t first, sent; /* when it was sent: first, last */
};

/* What loss.c knows of the path: how long answers take, what arrived last, how much gets lost. */
struct path {
	uint64_t srtt, rttvar, rtt_min, rtt_max; /* ns; all zero before the first sample */
	uint64_t floor;   /* ns, of the RTO: grows while every sample is ambiguous */
	bool doubted;     /* a timeout, and no clean sample since */
	bool disorder;    /* something was kept ahead of order or sent again, until `recover` */
	uint32_t recover; /* PSN */
	uint32_t order;   /* of the next transmission */
	bool any;         /* `newest` is known */
	uint32_t newest;  /* order of the latest transmission that has arrived */
	uint64_t loss_at; /* when the next packet is old enough to be taken for lost */
	bool mixed;       /* something that the answer is the first to tell of was sent again */
	const struct pkt *news; /* sent last of what an answer is the first to tell of */
	uint32_t limit;         /* packets in the network at most */
	uint32_t peak;          /* packets in the network, since the last verdict */
	uint32_t ok, lost;      /* packets since the last verdict */
	uint32_t timeout_order; /* transmissions before it are from before a timeout */
	uint32_t cut_order;     /* transmissions before it do not count */
};

/* The message that is being received on a channel. */
struct rxmsg {
	bool active, sized, claimed;
	uint8_t base_opcode;
	uint32_t tpmsn, off, total;
	uint64_t addr;
	uint16_t tassn;
	uint32_t rc;
	unsigned code; /* refusal, kept until the last packet */
	struct cw_uboe_jetty *jetty;
	struct recv recv;
};

/* Successful transactions that the next TAACK answers. */
struct taack {
	uint32_t rc;
	uint16_t first;
	unsigned n;
};

struct ldcp {
	double cwnd;                    /* octets */
	bool marked;                    /* slow start is over */
	uint32_t sent, ack_seq, ce_seq; /* units of two octets, as sender */
	uint32_t rx_ack, rx_ce;         /* as receiver */
};

struct cw_uboe_tp {
	struct cw_uboe_dev *dev;
	struct cw_uboe_tpg *tpg;
	struct cw_uboe_tp_opts o;
	struct cw_uboe_tp_peer peer;
	enum cw_uboe_tp_state state;
	enum cw_uboe_status reason;
	struct cw_uboe_tp *active_next;
	bool active;
	uint32_t tpn, mtu, window;
	/* headers in front of TPH, and the sum of the constant part of the IPv4 header */
	uint8_t head[CW_SIZE_LPH + CW_SIZE_CCI + CW_SIZE_NPI + CW_SIZE_IPV6 + CW_SIZE_UDP];
	uint32_t ip_off, udp_off, head_len, ip_sum;
	uint16_t flow_port;
	uint32_t spray;
	/* sender */
	uint32_t una, nxt, tpmsn, ring_mask;
	struct pkt *ring;
	struct opq answers, requests, retry;
	struct op *cur;
	uint32_t nrtx, rtx_from, nsacked, since_a;
	uint64_t rto_at, progress_at, rnr_until, pace_at, alive_at;
	unsigned rto_times, rnr_times, alive_times;
	uint32_t waiting;     /* requests that are acknowledged and not answered */
	uint64_t answered_at; /* when the last one was, or they began to wait */
	uint32_t taken;       /* requests begun and not finished: at most a window of them */
	struct path path;
	bool fake_now, paced; /* paced: the next data packet waits for pace_at */
	/* receiver */
	uint32_t epsn, max_rcv, held, ooo_seen;
	uint32_t rx_tpmsn; /* operation of the last packet taken */
	uint8_t *slots;
	uint32_t *slot_len, slot_size;
	unsigned unacked;
	uint64_t ack_at;
	bool ack_now, nak_now, nak_sent, sack_now, ta_done;
	unsigned refusal, dead; /* code to be sent now; code of every answer from now on */
	struct rxmsg msg;
	struct taack taack;
	struct op *ops, *free;
	unsigned nfree;
	/* congestion control */
	struct cw_dcqcn dcqcn;
	struct ldcp ldcp;
	unsigned cnp; /* FECN to be reported */
	bool cnp_loc;
	uint64_t cnp_after;
	uint64_t counters[CW_UBOE_COUNTER_COUNT];
};

/* An INI_RC_ID that was let go. The peers of its group (ROT) go on counting its TASSNs. */
struct former {
	const struct cw_uboe_tpg *tpg;
	uint16_t tassn;
};

struct cw_uboe_dev {
	struct cw_uboe_dev_opts o;
	uint64_t random;
	struct cw_uboe_tp **tps; /* those in use, in no order */
	unsigned ntps;
	uint32_t *tp_hash; /* TPN -> index + 1, open addressing */
	uint32_t tp_hash_mask;
	struct cw_uboe_jetty **jettys;
	struct cw_uboe_seg **segs;
	uint32_t seg_epoch;
	struct cw_uboe_tjetty **tjettys; /* by INI_RC_ID; NULL: let go */
	struct former *former;           /* by INI_RC_ID: who had it */
	unsigned ntjettys, njettys;
	struct cw_uboe_tpg *tpgs;
	struct cw_uboe_tp *active, *active_tail;
	uint64_t earliest;
	uint64_t counters[CW_UBOE_COUNTER_COUNT];
};

CW_INLINE void dev_count(struct cw_uboe_dev *d, enum cw_uboe_counter c)
{
	d->counters[c]++;
}

CW_INLINE void tp_count_n(struct cw_uboe_tp *tp, enum cw_uboe_counter c, uint64_t n)
{
	tp->counters[c] += n;
	tp->dev->counters[c] += n;
}

CW_INLINE void tp_count(struct cw_uboe_tp *tp, enum cw_uboe_counter c)
{
	tp_count_n(tp, c, 1);
}

/* dev.c */
uint64_t dev_random(struct cw_uboe_dev *d);
struct cw_uboe_tp *dev_tp(const struct cw_uboe_dev *d, uint32_t tpn);
int dev_add_tp(struct cw_uboe_dev *d, struct cw_uboe_tp *tp);
void dev_remove_tp(struct cw_uboe_dev *d, struct cw_uboe_tp *tp);
struct cw_uboe_jetty *dev_jetty(const struct cw_uboe_dev *d, uint32_t id);
struct cw_uboe_seg *dev_seg(const struct cw_uboe_dev *d, uint32_t token_id);
void dev_wake(struct cw_uboe_dev *d, struct cw_uboe_tp *tp);
void dev_timer(struct cw_uboe_dev *d, uint64_t at);
/* Options of `size` octets over the defaults; false when they are newer than the library. */
bool opts_take(void *into, size_t have, const void *from, size_t given);

/* frame.c: what is in front of TPH, and the ICRC */
struct frame {
	uint8_t version;
	const uint8_t *src, *dst;
	const uint8_t *tph;
	uint32_t len; /* TPH .. in front of the ICRC */
	uint8_t fecn; /* CW_FECN_NONE when there is no mark */
	bool loc, native;
	uint32_t npi;
};
void frame_template(struct cw_uboe_tp *tp);
/* Put the headers in front of the `len` octets TPH .. pad at buf + head_len, and the ICRC behind.
 */
int frame_seal(struct cw_uboe_tp *tp, uint8_t *buf, uint32_t len, bool data, uint16_t sport);
int frame_parse(struct cw_uboe_dev *d, enum cw_uboe_form form, const uint8_t *p, size_t len,
		struct frame *f);

/* tah.c: transaction headers */
struct ta {
	uint8_t opcode, odr, rspst, rspinfo, sub;
	bool retry, token, targeted;
	uint16_t tassn;
	uint32_t rc, token_id, token_value, length, target, offset;
	uint64_t addr;
	const uint8_t *imm, *ntf; /* headers, NULL when absent */
	const uint8_t *payload;
	uint32_t len;
};
int ta_parse(const uint8_t *p, uint32_t len, struct ta *t);
uint32_t ta_build_request(const struct op *op, uint32_t seg, uint8_t *p);
uint32_t ta_build_answer(const struct op *op, uint32_t seg, uint8_t *p);
uint32_t ta_code_to_status(unsigned code);

/* tp.c */
void tp_destroy(struct cw_uboe_tp *tp);
bool tp_same_peer(const struct cw_uboe_tp *tp, const struct frame *f);
void tp_fail(struct cw_uboe_tp *tp, enum cw_uboe_status why);
uint64_t tp_deadline(const struct cw_uboe_tp *tp);
void tp_timers(struct cw_uboe_tp *tp, uint64_t now);
void tp_restart_rto(struct cw_uboe_tp *tp, uint64_t now);
void tp_keepalive(struct cw_uboe_tp *tp, uint64_t now);

/* send.c: packets out */
int tp_output(struct cw_uboe_tp *tp, uint8_t *buf, size_t size, uint64_t now);

/* ack.c: acknowledgements in */
void tp_response(struct cw_uboe_tp *tp, const uint8_t *tph, uint32_t len, uint64_t now);
void tp_advance(struct cw_uboe_tp *tp, uint32_t upto, uint64_t now);

/* loss.c: what is lost, and when to send it again */
CW_INLINE struct pkt *pkt_at(struct cw_uboe_tp *tp, uint32_t psn)
{
	return &tp->ring[psn & tp->ring_mask];
}

/* Sent and not known to have arrived or to be lost. */
CW_INLINE uint32_t in_network(const struct cw_uboe_tp *tp)
{
	return psn_sub(tp->nxt, tp->una) - tp->nsacked - tp->nrtx;
}
void loss_init(struct cw_uboe_tp *tp);
void loss_sent(struct cw_uboe_tp *tp, struct pkt *k, bool again, uint64_t now);
void loss_arrived(struct cw_uboe_tp *tp, struct pkt *k, uint64_t now);
void loss_sample(struct cw_uboe_tp *tp, uint64_t now);
void loss_sacked(struct cw_uboe_tp *tp, struct pkt *k);
void loss_unmark(struct cw_uboe_tp *tp, struct pkt *k);
void loss_refused(struct cw_uboe_tp *tp, uint32_t psn);
void loss_go_back(struct cw_uboe_tp *tp, uint32_t psn, bool lost);
void loss_detect(struct cw_uboe_tp *tp, uint64_t now);
void loss_timeout(struct cw_uboe_tp *tp, uint64_t now);
uint64_t loss_rto(const struct cw_uboe_tp *tp);

/* target.c: requests of the peer. 0, or the code by which the transport refuses the packet. */
unsigned target_request(struct cw_uboe_tp *tp, const struct ta *t, bool last, uint32_t tpmsn,
			uint64_t now);
void target_flush(struct cw_uboe_tp *tp);
void target_abort(struct cw_uboe_tp *tp);
void target_refuse(struct cw_uboe_tp *tp, const struct ta *t, unsigned code);
void target_utp(struct cw_uboe_tp *tp, const struct ta *t);
void answer_free(struct op *op);
void answer_read_done(struct op *op);

/* atomic.c */
bool atomic_size_ok(uint32_t size, uint64_t addr);
int atomic_run(uint8_t opcode, uint8_t sub, uint8_t *at, uint32_t size, const uint8_t *operands,
	       uint8_t *old);
void octets_reverse(uint8_t *p, uint32_t n);

/* initiator.c: requests of ours */
void initiator_response(struct cw_uboe_tp *tp, const struct ta *t, bool last, uint64_t now);
void initiator_acked(struct op *op, uint64_t now);
void initiator_finish(struct op *op, enum cw_uboe_status status, unsigned code);
void initiator_fail_all(struct cw_uboe_tp *tp, enum cw_uboe_status why);
void initiator_retry(struct op *op, unsigned code, uint64_t now);
uint64_t rnr_wait(unsigned code, unsigned tries);

/* jetty.c */
void jetty_destroy(struct cw_uboe_jetty *j);
void jetty_complete(struct op *op);
bool jetty_take_recv(struct cw_uboe_jetty *j, struct recv *out);
void jetty_deliver(struct cw_uboe_jetty *j, const struct cw_uboe_cr *cr);

/* cc.c */
void cc_init(struct cw_uboe_tp *tp);
bool cc_allows(const struct cw_uboe_tp *tp, uint32_t octets, uint64_t now);
void cc_sent(struct cw_uboe_tp *tp, uint32_t units, uint32_t octets, uint64_t now);
void cc_lost_all(struct cw_uboe_tp *tp);
void cc_cnp(struct cw_uboe_tp *tp, unsigned ecn, uint64_t now);
void cc_feedback(struct cw_uboe_tp *tp, const uint8_t *cetph);
void cc_received(struct cw_uboe_tp *tp, const struct frame *f, uint32_t units, uint64_t now);
uint64_t cc_deadline(const struct cw_uboe_tp *tp);
void cc_timers(struct cw_uboe_tp *tp, uint64_t now);

#endif
