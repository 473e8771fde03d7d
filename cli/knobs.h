/* knobs.h - settings of the transport: named on the command line (-o NAME=VALUE), told to the peer
 * by the rendezvous, put into the options of channels and their group. No I/O.
 */
#ifndef CLI_KNOBS_H
#define CLI_KNOBS_H

#include <jansson.h>
#include <stdint.h>
#include "causeway/uboe.h"

// clang-format off
/* X(ID, "name", min, max, "text", assignment): v is the value, t the channel's options, g the group's.
 * The one list of all knobs. */
#define KNOBS(X)                                                                                   \
	X(RTO, "rto-us", 1, 60000000, "retransmission timeout, us", t->rto_base = 1000 * v)         \
	X(RTO_SHIFT, "rto-shift", 0, 7, "0: static; else times 2^N after each timeout",             \
	  (t->exponential = v != 0, t->rto_shift = (uint8_t)v))                                     \
	X(RTO_ADAPTIVE, "rto-adaptive", 0, 1, "1: not below what round trips take",                 \
	  t->rto_adaptive = v != 0)                                                                 \
	X(RETRIES, "retries", 1, 1000, "timeouts in a row until a channel fails",                   \
	  t->retries = (unsigned)v)                                                                 \
	X(ANSWER_MS, "answer-ms", 0, 3600000, "until a peer that only acknowledges fails, ms; 0: no end", \
	  t->answer_timeout = 1000000 * v)                                                          \
	X(RNR_RETRIES, "rnr-retries", 0, 1000, "RNR of the transport in a row; 0: no end",          \
	  t->rnr_retries = (unsigned)v)                                                             \
	X(RNR_TIMER, "rnr-timer", 0, 19, "refused peers wait 2 us times 2^N",                       \
	  g->rnr_timer = (uint8_t)v)                                                                \
	X(TA_RETRIES, "ta-retries", 0, 100000, "RNR and page faults of a transaction; 0: no end",   \
	  g->ta_retries = (unsigned)v)                                                              \
	X(TAACK_MAX, "taack-max", 1, 32, "transactions that one TAACK may answer",                  \
	  g->taack_max = (unsigned)v)                                                               \
	X(FAST, "fast", 0, 1, "1: fast retransmission", t->fast = v != 0)                           \
	X(REORDER_US, "reorder-us", 0, 60000000, "age of an overtaken packet that is lost, us",     \
	  t->reorder_delay = 1000 * v)                                                              \
	X(LOSS_LIMIT, "loss-limit", 0, 90, "percent lost above which less is sent; 0: never",       \
	  t->loss_limit = (unsigned)v)                                                              \
	X(SACK_AFTER, "sack-after", 1, 1024, "not fast: packets out of order until a TPSACK",       \
	  t->sack_after = (unsigned)v)                                                              \
	X(ACK_EVERY, "ack-every", 1, 1024, "packets that share one TPACK", t->ack_every = (unsigned)v) \
	X(ACK_DELAY, "ack-delay-us", 0, 1000000, "how long they may wait for it, us",               \
	  t->ack_delay = 1000 * v)                                                                  \
	X(SPRAY_PACKETS, "spray-packets", 0, 1, "1: --spray's ports change with each packet",       \
	  (t->spray = v != 0 ? CW_UBOE_BY_PACKET : CW_UBOE_BY_FLOW, t->fast_with_spray = v != 0))   \
	X(TWO_LEVELS, "two-levels", 0, 1, "1: light marks are told apart from severe ones",         \
	  t->two_levels = v != 0)                                                                   \
	X(MIN_RATE, "min-rate", 1, 1000000, "dcqcn: never slower than this, Mbit/s",                \
	  t->min_rate = 1000000 * v)                                                                \
	X(CNP_GAP, "cnp-gap-us", 1, 1000000, "dcqcn: between two CNP of a channel, us",             \
	  t->cnp_gap = 1000 * v)                                                                    \
	X(DCQCN_TIMER, "dcqcn-timer-us", 1, 1000000, "dcqcn: a step up each, us",                   \
	  t->dcqcn_timer = 1000 * v)                                                                \
	X(DCQCN_KIB, "dcqcn-kib", 1, 1048576, "dcqcn: and one after so many KiB",                   \
	  t->dcqcn_octets = 1024 * v)                                                               \
	X(DCQCN_AI, "dcqcn-ai", 1, 100000, "dcqcn: additive step, Mbit/s", t->dcqcn_ai = 1000000 * v) \
	X(DCQCN_HAI, "dcqcn-hai", 1, 100000, "dcqcn: hyper step, Mbit/s", t->dcqcn_hai = 1000000 * v) \
	X(DCQCN_G, "dcqcn-g", 1, 16, "dcqcn: weight of a mark is 2^-N", t->dcqcn_g = (uint8_t)v)    \
	X(DCQCN_F, "dcqcn-f", 1, 100, "dcqcn: steps of fast recovery", t->dcqcn_f = (uint8_t)v)     \
	X(DCQCN_ALPHA, "dcqcn-alpha", 1, 1024, "dcqcn: alpha of the first CNP, 1024ths",            \
	  t->dcqcn_alpha = (uint16_t)v)                                                             \
	X(DCQCN_ALPHA_US, "dcqcn-alpha-us", 1, 1000000, "dcqcn: time until alpha fades, us",        \
	  t->dcqcn_alpha_timer = 1000 * v)                                                          \
	X(DCQCN_CUT_US, "dcqcn-cut-us", 1, 1000000, "dcqcn: at most one cut in so long, us",        \
	  t->dcqcn_cut_gap = 1000 * v)                                                              \
	X(LDCP_START, "ldcp-start", 1, 2048, "ldcp: first window, packets", t->ldcp_start = (uint32_t)v) \
	X(LDCP_MIN, "ldcp-min", 1, 2048, "ldcp: smallest window, packets", t->ldcp_min = (uint32_t)v) \
	X(LDCP_MAX, "ldcp-max", 1, 2048, "ldcp: largest window, packets", t->ldcp_max = (uint32_t)v) \
	X(LDCP_AI, "ldcp-ai", 1, 10000, "ldcp: growth a window, percent of a packet",               \
	  t->ldcp_ai = (uint32_t)v)                                                                 \
	X(LDCP_CUT, "ldcp-cut", 1, 100, "ldcp: percent of each marked octet that it shrinks by",    \
	  t->ldcp_cut = (uint32_t)v)                                                                \
	X(LDCP_SLOW, "ldcp-slow-start", 0, 1, "ldcp: 1: doubles each round trip until the first mark", \
	  t->ldcp_slow_start = v != 0)
// clang-format on

enum knob {
#define CW_X(id, name, min, max, text, set) KNOB_##id,
	KNOBS(CW_X)
#undef CW_X
		KNOB_COUNT
};

struct knobs {
	uint64_t set; /* bit n: value[n] was given */
	uint64_t value[KNOB_COUNT];
};

#define KNOBS_ERROR_MAX 160

/* "NAME=VALUE" or several with commas. 0, or -1 with what is wrong; nothing is taken then. */
int knobs_parse(struct knobs *k, const char *text, char err[KNOBS_ERROR_MAX]);

/* What is set, as a JSON object (a new reference), and back; unknown names and values out of range
 * are refused. NULL is an empty one. */
json_t *knobs_json(const struct knobs *k);
int knobs_from_json(struct knobs *k, const json_t *object, char err[KNOBS_ERROR_MAX]);

/* Either may be NULL. Values that only go together are adjusted: acknowledgements are not delayed
 * beyond the RTO, and so on. */
void knobs_apply(const struct knobs *k, struct cw_uboe_tp_opts *t, struct cw_uboe_tpg_opts *g);

/* "  NAME  MIN-MAX  TEXT" lines, for people. */
void knobs_list(void (*line)(const char *text));

#endif
