/* dcqcn.c - DCQCN's reaction point. Spec: causeway/dcqcn.h. */
#include "causeway/dcqcn.h"

void cw_dcqcn_init(struct cw_dcqcn *d, const struct cw_dcqcn_opts *o)
{
	*d = (struct cw_dcqcn){.o = *o,
			       .rate = (double)o->line_rate,
			       .target = (double)o->line_rate,
			       .alpha = o->alpha,
			       .timer_at = CW_DCQCN_NEVER,
			       .alpha_at = CW_DCQCN_NEVER};
}

static double weight(const struct cw_dcqcn *d)
{
	return 1.0 / (double)(1u << d->o.g);
}

/* One step up: fast recovery towards the rate before the cut, then additive, then hyper. */
static void step(struct cw_dcqcn *d)
{
	unsigned more = d->timer_steps > d->octet_steps ? d->timer_steps : d->octet_steps;
	unsigned less = d->timer_steps < d->octet_steps ? d->timer_steps : d->octet_steps;

	if (less > d->o.f)
		d->target += (double)d->o.hai;
	else if (more > d->o.f)
		d->target += (double)d->o.ai;
	if (d->target > (double)d->o.line_rate)
		d->target = (double)d->o.line_rate;
	d->rate = (d->rate + d->target) / 2;
}

bool cw_dcqcn_cut(struct cw_dcqcn *d, double part, uint64_t now)
{
	if (now < d->cut_at)
		return false;
	d->target = d->rate;
	d->rate *= 1 - d->alpha * part;
	if (d->rate < (double)d->o.min_rate)
		d->rate = (double)d->o.min_rate;
	d->alpha = (1 - weight(d)) * d->alpha + weight(d);
	d->timer_steps = d->octet_steps = 0;
	d->sent = 0;
	d->cut_at = now + d->o.gap;
	d->timer_at = now + d->o.timer;
	d->alpha_at = now + d->o.alpha_timer;
	return true;
}

void cw_dcqcn_sent(struct cw_dcqcn *d, uint32_t octets)
{
	d->sent += octets;
	if (d->sent >= d->o.octets && d->timer_at != CW_DCQCN_NEVER) {
		d->sent = 0;
		d->octet_steps++;
		step(d);
	}
}

uint64_t cw_dcqcn_deadline(const struct cw_dcqcn *d)
{
	return d->timer_at < d->alpha_at ? d->timer_at : d->alpha_at;
}

void cw_dcqcn_timers(struct cw_dcqcn *d, uint64_t now)
{
	while (d->alpha_at <= now) {
		d->alpha *= 1 - weight(d);
		d->alpha_at += d->o.alpha_timer;
	}
	while (d->timer_at <= now) {
		d->timer_steps++;
		step(d);
		d->timer_at += d->o.timer;
		if (d->rate >= 0.999 * (double)d->o.line_rate) { /* recovered: timers rest */
			d->rate = d->target = (double)d->o.line_rate;
			d->timer_at = d->alpha_at = CW_DCQCN_NEVER;
		}
	}
}
