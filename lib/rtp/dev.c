/* dev.c - the device: its tables, counters, and the turn of its channels. */
#include <stdlib.h>
#include "lib/rtp/rtp_int.h"

#define MAX_OBJECTS 65536u

static const char *const counter_names[][2] = {
#define CW_X(id, name, text) {name, text},
	CW_UBOE_COUNTERS(CW_X)
#undef CW_X
};

static const char *const status_names[][2] = {
#define CW_X(id, name, text) {name, text},
	CW_UBOE_STATUSES(CW_X)
#undef CW_X
};

const char *cw_uboe_counter_name(enum cw_uboe_counter c)
{
	return (unsigned)c < CW_UBOE_COUNTER_COUNT ? counter_names[c][0] : "unknown";
}

const char *cw_uboe_counter_text(enum cw_uboe_counter c)
{
	return (unsigned)c < CW_UBOE_COUNTER_COUNT ? counter_names[c][1] : "unknown";
}

const char *cw_uboe_status_name(enum cw_uboe_status s)
{
	return (unsigned)s < CW_UBOE_STATUS_COUNT ? status_names[s][0] : "unknown";
}

const char *cw_uboe_status_text(enum cw_uboe_status s)
{
	return (unsigned)s < CW_UBOE_STATUS_COUNT ? status_names[s][1] : "unknown";
}

const char *cw_uboe_op_name(enum cw_uboe_op op)
{
	static const char *const names[] = {
		"send",      "send-imm", "write",     "write-imm", "write-notify", "read",
		"cas",       "swap",     "store",     "load",      "fetch-add",    "fetch-sub",
		"fetch-and", "fetch-or", "fetch-xor", "prefetch",  "recv",
	};

	return (unsigned)op < CW_UBOE_OPS ? names[op] : "unknown";
}

bool opts_take(void *into, size_t have, const void *from, size_t given)
{
	if (from == NULL)
		return true;
	if (given > have || given < sizeof(size_t))
		return false;
	memcpy(into, from, given);
	return true;
}

/* SplitMix64: enough for numbers that shall differ; secrets come from the caller. */
uint64_t dev_random(struct cw_uboe_dev *d)
{
	uint64_t z = d->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool dev_opts_ok(const struct cw_uboe_dev_opts *o)
{
	return o->max_tps - 1u < MAX_OBJECTS && o->max_jetties - 1u < MAX_OBJECTS &&
	       o->max_segs - 1u < MAX_OBJECTS && o->max_tjetties - 1u < MAX_OBJECTS &&
	       o->udp_port != 0;
}

static int dev_tables(struct cw_uboe_dev *d)
{
	uint32_t n = 4;

	while (n < 2 * d->o.max_tps)
		n *= 2;
	d->tp_hash_mask = n - 1;
	d->tp_hash = calloc(n, sizeof(*d->tp_hash));
	d->tps = calloc(d->o.max_tps, sizeof(struct cw_uboe_tp *));
	d->jettys = calloc(d->o.max_jetties, sizeof(struct cw_uboe_jetty *));
	d->segs = calloc(d->o.max_segs, sizeof(struct cw_uboe_seg *));
	d->tjettys = calloc(d->o.max_tjetties, sizeof(struct cw_uboe_tjetty *));
	d->former = calloc(d->o.max_tjetties, sizeof(*d->former));
	return d->tp_hash && d->tps && d->jettys && d->segs && d->tjettys && d->former ? CW_OK
										       : CW_E_NOMEM;
}

int cw_uboe_dev_new(struct cw_uboe_dev **out, const struct cw_uboe_dev_opts *opts)
{
	struct cw_uboe_dev_opts o = CW_UBOE_DEV_OPTS;
	struct cw_uboe_dev *d;

	if (!opts_take(&o, sizeof(o), opts, opts != NULL ? opts->size : 0) || !dev_opts_ok(&o))
		return CW_E_ARG;
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return CW_E_NOMEM;
	d->o = o;
	d->random = o.seed;
	d->earliest = CW_UBOE_NEVER;
	if (dev_tables(d) != CW_OK) {
		cw_uboe_dev_free(d);
		return CW_E_NOMEM;
	}
	*out = d;
	return CW_OK;
}

static void free_groups(struct cw_uboe_dev *d)
{
	struct cw_uboe_tpg *g;

	while ((g = d->tpgs) != NULL) {
		d->tpgs = g->next;
		free(g->tps);
		free(g->contexts);
		free(g);
	}
}

static void free_tjettys(struct cw_uboe_dev *d)
{
	unsigned i;

	for (i = 0; i < d->ntjettys; i++) {
		if (d->tjettys[i] == NULL)
			continue;
		free(d->tjettys[i]->ring);
		free(d->tjettys[i]);
	}
}

void cw_uboe_dev_free(struct cw_uboe_dev *d)
{
	unsigned i;

	if (d == NULL)
		return;
	free_tjettys(d);
	for (i = 0; i < d->ntps; i++)
		tp_destroy(d->tps[i]);
	for (i = 0; i < d->njettys; i++)
		jetty_destroy(d->jettys[i]);
	for (i = 0; d->segs != NULL && i < d->o.max_segs; i++)
		free(d->segs[i]);
	free_groups(d);
	free(d->tp_hash);
	free(d->tps);
	free(d->jettys);
	free(d->segs);
	free(d->tjettys);
	free(d->former);
	free(d);
}

uint64_t cw_uboe_dev_count(const struct cw_uboe_dev *d, enum cw_uboe_counter c)
{
	return (unsigned)c < CW_UBOE_COUNTER_COUNT ? d->counters[c] : 0;
}

/* ---- Tables ------------------------------------------------------------------------------- */

static uint32_t tpn_slot(const struct cw_uboe_dev *d, uint32_t tpn)
{
	return (tpn * 2654435761u >> 8) & d->tp_hash_mask;
}

struct cw_uboe_tp *dev_tp(const struct cw_uboe_dev *d, uint32_t tpn)
{
	uint32_t i;

	for (i = tpn_slot(d, tpn); d->tp_hash[i] != 0; i = (i + 1) & d->tp_hash_mask) {
		struct cw_uboe_tp *tp = d->tps[d->tp_hash[i] - 1];

		if (tp->tpn == tpn)
			return tp;
	}
	return NULL;
}

static void hash_tp(struct cw_uboe_dev *d, unsigned index)
{
	uint32_t i = tpn_slot(d, d->tps[index]->tpn);

	while (d->tp_hash[i] != 0)
		i = (i + 1) & d->tp_hash_mask;
	d->tp_hash[i] = index + 1;
}

/* The table has twice the room of all channels. */
int dev_add_tp(struct cw_uboe_dev *d, struct cw_uboe_tp *tp)
{
	if (d->ntps == d->o.max_tps)
		return CW_E_SPACE;
	d->tps[d->ntps] = tp;
	hash_tp(d, d->ntps++);
	return CW_OK;
}

static void unlink_active(struct cw_uboe_dev *d, struct cw_uboe_tp *tp)
{
	struct cw_uboe_tp **at = &d->active, *before = NULL;

	if (!tp->active)
		return;
	while (*at != tp) {
		before = *at;
		at = &(*at)->active_next;
	}
	*at = tp->active_next;
	if (d->active_tail == tp)
		d->active_tail = before;
}

/* Rare, so the table is simply made anew. */
void dev_remove_tp(struct cw_uboe_dev *d, struct cw_uboe_tp *tp)
{
	unsigned i = 0;

	while (d->tps[i] != tp)
		i++;
	d->tps[i] = d->tps[--d->ntps];
	memset(d->tp_hash, 0, (d->tp_hash_mask + 1) * sizeof(*d->tp_hash));
	for (i = 0; i < d->ntps; i++)
		hash_tp(d, i);
	unlink_active(d, tp);
}

struct cw_uboe_jetty *dev_jetty(const struct cw_uboe_dev *d, uint32_t id)
{
	unsigned i;

	if (id - 1024 < d->njettys && d->jettys[id - 1024]->o.id == id)
		return d->jettys[id - 1024];
	for (i = 0; i < d->njettys; i++) {
		if (d->jettys[i]->o.id == id)
			return d->jettys[i];
	}
	return NULL;
}

/* A TokenID is an index below four bits that change with each registration. */
struct cw_uboe_seg *dev_seg(const struct cw_uboe_dev *d, uint32_t token_id)
{
	uint32_t i = token_id & 0xffff;
	struct cw_uboe_seg *s = i < d->o.max_segs ? d->segs[i] : NULL;

	return s != NULL && s->token_id == token_id ? s : NULL;
}

int cw_uboe_seg_register(struct cw_uboe_dev *d, void *addr, uint64_t len,
			 const struct cw_uboe_seg_opts *opts, struct cw_uboe_seg **out)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;
	struct cw_uboe_seg *s;
	uint32_t i;

	if (!opts_take(&o, sizeof(o), opts, opts != NULL ? opts->size : 0) || addr == NULL ||
	    len == 0)
		return CW_E_ARG;
	if (o.va == 0)
		o.va = (uint64_t)(uintptr_t)addr;
	if (len - 1 > UINT64_MAX - o.va)
		return CW_E_RANGE;
	for (i = 0; i < d->o.max_segs && d->segs[i] != NULL;)
		i++;
	if (i == d->o.max_segs)
		return CW_E_SPACE;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return CW_E_NOMEM;
	d->seg_epoch = d->seg_epoch % 15 + 1;
	*s = (struct cw_uboe_seg){.dev = d, .addr = addr, .len = len, .va = o.va, .o = o};
	s->token_id = d->seg_epoch << 16 | i;
	s->present = true;
	d->segs[i] = s;
	*out = s;
	return CW_OK;
}

int cw_uboe_seg_unregister(struct cw_uboe_seg *s)
{
	if (s->refs != 0)
		return CW_E_STATE;
	s->dev->segs[s->token_id & 0xffff] = NULL;
	free(s);
	return CW_OK;
}

uint32_t cw_uboe_seg_token_id(const struct cw_uboe_seg *s)
{
	return s->token_id;
}

uint64_t cw_uboe_seg_va(const struct cw_uboe_seg *s)
{
	return s->va;
}

void cw_uboe_seg_set_present(struct cw_uboe_seg *s, bool present)
{
	s->present = present;
}

/* ---- Turns and timers --------------------------------------------------------------------- */

void dev_wake(struct cw_uboe_dev *d, struct cw_uboe_tp *tp)
{
	if (tp->active)
		return;
	tp->active = true;
	tp->active_next = NULL;
	if (d->active == NULL)
		d->active = tp;
	else
		d->active_tail->active_next = tp;
	d->active_tail = tp;
}

static void dev_sleep_first(struct cw_uboe_dev *d)
{
	struct cw_uboe_tp *tp = d->active;

	d->active = tp->active_next;
	tp->active = false;
	dev_timer(d, tp_deadline(tp));
}

void dev_timer(struct cw_uboe_dev *d, uint64_t at)
{
	d->earliest = min_u64(d->earliest, at);
}

/* Channels whose time has come get their turn. */
static void dev_timers(struct cw_uboe_dev *d, uint64_t now)
{
	unsigned i;

	if (now < d->earliest)
		return;
	d->earliest = CW_UBOE_NEVER;
	for (i = 0; i < d->ntps; i++) {
		struct cw_uboe_tp *tp = d->tps[i];
		uint64_t at = tp_deadline(tp);

		if (at <= now) {
			tp_timers(tp, now);
			dev_wake(d, tp);
		} else {
			dev_timer(d, at);
		}
	}
}

static void tell(const struct cw_uboe_tp *tp, struct cw_uboe_out *out)
{
	out->form = tp->o.form;
	out->tp = (struct cw_uboe_tp *)tp;
	out->ip_version = tp->o.ip_version;
	memcpy(out->dst, tp->o.dst, sizeof(out->dst));
}

int cw_uboe_output(struct cw_uboe_dev *d, void *buf, size_t size, uint64_t now,
		   struct cw_uboe_out *out)
{
	dev_timers(d, now);
	while (d->active != NULL) {
		struct cw_uboe_tp *tp = d->active;
		int n = tp_output(tp, buf, size, now);

		if (n < 0)
			return n;
		if (n == 0) {
			dev_sleep_first(d);
			continue;
		}
		if (tp->active_next != NULL) { /* the next one's turn */
			d->active = tp->active_next;
			tp->active = false;
			dev_wake(d, tp);
		}
		if (out != NULL)
			tell(tp, out);
		tp_count(tp, CW_UBOE_C_TX);
		return n;
	}
	return 0;
}

uint64_t cw_uboe_next_timer(const struct cw_uboe_dev *d)
{
	return d->active != NULL ? 0 : d->earliest;
}
