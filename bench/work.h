/* work.h - what the yardstick program may do with a burst. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdbool.h>
#include <rte_lpm.h>
#include <rte_mbuf.h>

#define BURST     32
#define WORK_HOPS 256 /* next hops */

enum work_dir { TO_UBOE, TO_UB };

struct work {
	struct rte_lpm *lpm;     /* destination -> next hop */
	uint8_t (*heads[2])[32]; /* header templates by direction, by next hop */
	uint8_t (*push)[64];     /* what work_rewrite() puts in front, by next hop */
	unsigned rewrite_dst[2]; /* where it finds the destination, by direction */
	uint64_t packets;
};

/* One burst in place; returns how many of the packets are to be sent. */
typedef unsigned (*work_fn)(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n);

unsigned work_io(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n);
unsigned work_rewrite(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n);
unsigned work_bare(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n);

/* What work_rewrite() takes off and puts on, and the other way round towards UB. */
#define WORK_STRIP 40
#define WORK_PUSH  58

/* Tables with BENCH_ROUTES routes over 256 next hops; exits on failure. */
void work_init(struct work *w);

#endif
