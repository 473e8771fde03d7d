/* dcqcn.h - the sending rate of one flow, as DCQCN sets it.
 * Spec: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015 (reaction
 * point); UB 2.0 6.6 leaves the rate to the sender.
 *
 * Rates are bits a second, times nanoseconds of any monotonic clock. Plain values: no memory is
 * held and nothing has to be freed.
 */
#ifndef CAUSEWAY_DCQCN_H
#define CAUSEWAY_DCQCN_H

#include <stdbool.h>
#include "causeway/bits.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_dcqcn_opts {
	uint64_t line_rate;   /* where the rate begins, and its limit; not 0 */
	uint64_t min_rate;    /* no cut goes below; not 0 */
	uint64_t ai, hai;     /* steps of additive and of hyper increase */
	uint64_t octets;      /* one step each time so many were sent; not 0 */
	uint64_t timer;       /* one step each time so long passed; not 0 */
	uint64_t alpha_timer; /* alpha fades each time so long passed without a notification; not 0
			       */
	uint64_t gap;         /* at most one cut in that time */
	double alpha;         /* the first one, 0..1 */
	uint8_t g;            /* a notification weighs 2^-g in alpha, 1..16 */
	uint8_t f;            /* steps of fast recovery, not 0 */
};

#define CW_DCQCN_NEVER UINT64_MAX

struct cw_dcqcn {
	struct cw_dcqcn_opts o;
	double rate, target, alpha;
	unsigned timer_steps, octet_steps;
	uint64_t sent, timer_at, alpha_at, cut_at;
};

/* At line rate (o->line_rate), no notification taken yet. `o` is copied. */
void cw_dcqcn_init(struct cw_dcqcn *d, const struct cw_dcqcn_opts *o);

/* A notification: the rate is cut by `part` (0.5 in the paper) of alpha. False: one was taken
 * within the last gap. */
bool cw_dcqcn_cut(struct cw_dcqcn *d, double part, uint64_t now);

/* So many octets left: a step up, perhaps. */
void cw_dcqcn_sent(struct cw_dcqcn *d, uint32_t octets);

/* Call it when cw_dcqcn_deadline() has come; later calls catch up. */
void cw_dcqcn_timers(struct cw_dcqcn *d, uint64_t now);
uint64_t cw_dcqcn_deadline(const struct cw_dcqcn *d);

#ifdef __cplusplus
}
#endif
#endif
