/* rtp_rules.h - work of end 0 on memory of end 1. */
#ifndef TESTS_UNIT_RTP_RULES_H
#define TESTS_UNIT_RTP_RULES_H

#include "rtp_sim.h"

#define VA 0x7000000000001000ull

static inline struct cw_uboe_seg *seg(struct sim *s, void *mem, uint64_t len, unsigned access)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_seg *out;

	o.access = access;
	o.token = true;
	o.token_value = 0xabcdef01;
	o.va = VA;
	assert_int_equal(cw_uboe_seg_register(s->dev[1], mem, len, &o, &out), CW_OK);
	return out;
}

static inline struct cw_uboe_wr wr_of(enum cw_uboe_op op, const struct cw_uboe_seg *g, void *local,
				      uint32_t len)
{
	return (struct cw_uboe_wr){.op = op,
				   .local = local,
				   .len = len,
				   .remote_addr = VA,
				   .token_id = cw_uboe_seg_token_id(g),
				   .token_value = 0xabcdef01};
}

static inline struct cw_uboe_cr run(struct sim *s, const struct cw_uboe_wr *wr)
{
	assert_int_equal(cw_uboe_post(s->to[0], wr), CW_OK);
	return sim_wait(s, 0);
}

#endif
