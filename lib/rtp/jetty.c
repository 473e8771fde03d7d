/* jetty.c - jetties: posting, receives, completions. */
#include <stdlib.h>
#include "lib/rtp/rtp_int.h"

#define DEPTH_MAX 32768u

void opq_push(struct opq *q, struct op *op)
{
	op->next = NULL;
	if (q->tail == NULL)
		q->head = op;
	else
		q->tail->next = op;
	q->tail = op;
}

struct op *opq_pop(struct opq *q)
{
	struct op *op = q->head;

	if (op == NULL)
		return NULL;
	q->head = op->next;
	if (q->head == NULL)
		q->tail = NULL;
	op->next = NULL;
	return op;
}

bool opq_remove(struct opq *q, struct op *op)
{
	struct op **at = &q->head, *before = NULL;

	while (*at != NULL && *at != op) {
		before = *at;
		at = &(*at)->next;
	}
	if (*at == NULL)
		return false;
	*at = op->next;
	if (q->tail == op)
		q->tail = before;
	op->next = NULL;
	return true;
}

void jetty_destroy(struct cw_uboe_jetty *j)
{
	if (j == NULL)
		return;
	free(j->ops);
	free(j->recvs);
	free(j->cq);
	free(j);
}

static uint32_t free_id(const struct cw_uboe_dev *d)
{
	uint32_t id = 1024 + d->njettys;

	while (dev_jetty(d, id) != NULL)
		id++;
	return id;
}

static int jetty_pools(struct cw_uboe_jetty *j)
{
	unsigned i;

	j->ops = calloc(j->o.send_depth, sizeof(*j->ops));
	j->recvs = calloc(j->o.recv_depth, sizeof(*j->recvs));
	j->cq = calloc(j->o.send_depth + j->o.recv_depth, sizeof(*j->cq));
	if (j->ops == NULL || j->recvs == NULL || j->cq == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < j->o.send_depth; i++) {
		j->ops[i].next = j->free;
		j->free = &j->ops[i];
	}
	return CW_OK;
}

int cw_uboe_jetty_new(struct cw_uboe_dev *d, const struct cw_uboe_jetty_opts *opts,
		      struct cw_uboe_jetty **out)
{
	struct cw_uboe_jetty_opts o = CW_UBOE_JETTY_OPTS;
	struct cw_uboe_jetty *j;

	if (!opts_take(&o, sizeof(o), opts, opts != NULL ? opts->size : 0) || o.id > ID20_MASK ||
	    o.send_depth - 1 >= DEPTH_MAX || o.recv_depth - 1 >= DEPTH_MAX)
		return CW_E_ARG;
	if (o.id != 0 && dev_jetty(d, o.id) != NULL)
		return CW_E_CONFLICT;
	if (d->njettys == d->o.max_jetties)
		return CW_E_SPACE;
	if (o.id == 0)
		o.id = free_id(d);
	j = calloc(1, sizeof(*j));
	if (j == NULL)
		return CW_E_NOMEM;
	j->dev = d;
	j->o = o;
	if (jetty_pools(j) != CW_OK) {
		jetty_destroy(j);
		return CW_E_NOMEM;
	}
	d->jettys[d->njettys++] = j;
	*out = j;
	return CW_OK;
}

static bool receiving(const struct cw_uboe_jetty *j)
{
	unsigned i;

	for (i = 0; i < j->dev->ntps; i++) {
		const struct rxmsg *m = &j->dev->tps[i]->msg;

		if (m->active && m->claimed && m->jetty == j)
			return true;
	}
	return false;
}

int cw_uboe_jetty_free(struct cw_uboe_jetty *j)
{
	struct cw_uboe_dev *d = j->dev;
	unsigned i = 0;

	if (j->imports > 0 || receiving(j))
		return CW_E_STATE;
	while (d->jettys[i] != j)
		i++;
	d->jettys[i] = d->jettys[--d->njettys];
	jetty_destroy(j);
	return CW_OK;
}

uint32_t cw_uboe_jetty_id(const struct cw_uboe_jetty *j)
{
	return j->o.id;
}

/* A number that nobody has: one of the same group's, which goes on with its TASSNs, a new one, or
 * another group's where no peer keeps TASSNs in order (all but ROT). */
static unsigned free_rc(const struct cw_uboe_dev *d, const struct cw_uboe_tpg *g)
{
	unsigned i, other = d->o.max_tjetties;

	for (i = 0; i < d->ntjettys; i++) {
		if (d->tjettys[i] != NULL)
			continue;
		if (d->former[i].tpg == g)
			return i;
		if (g->o.service != CW_UBOE_ROT)
			other = i;
	}
	return d->ntjettys < d->o.max_tjetties ? d->ntjettys : other;
}

static struct cw_uboe_tjetty *tjetty_new(const struct cw_uboe_jetty *j)
{
	struct cw_uboe_tjetty *to = calloc(1, sizeof(*to));
	uint32_t n = 1;

	while (n < j->o.send_depth)
		n *= 2;
	if (to == NULL)
		return NULL;
	to->mask = n - 1;
	to->ring = calloc(n, sizeof(struct op *));
	if (to->ring != NULL)
		return to;
	free(to);
	return NULL;
}

int cw_uboe_import(struct cw_uboe_jetty *j, struct cw_uboe_tpg *g, uint32_t remote_id,
		   uint32_t token_value, struct cw_uboe_tjetty **out)
{
	struct cw_uboe_dev *d = j->dev;
	struct cw_uboe_tjetty *to;
	unsigned rc;

	if (remote_id > ID20_MASK || g->dev != d)
		return CW_E_ARG;
	rc = free_rc(d, g);
	if (rc == d->o.max_tjetties)
		return CW_E_SPACE;
	to = tjetty_new(j);
	if (to == NULL)
		return CW_E_NOMEM;
	to->jetty = j;
	to->tpg = g;
	to->remote_id = remote_id;
	to->token_value = token_value;
	to->rc = rc;
	if (d->former[rc].tpg == g)
		to->tassn = d->former[rc].tassn;
	d->tjettys[rc] = to;
	if (rc == d->ntjettys)
		d->ntjettys++;
	j->imports++;
	to->next = g->tjettys;
	g->tjettys = to;
	*out = to;
	return CW_OK;
}

int cw_uboe_unimport(struct cw_uboe_tjetty *to)
{
	struct cw_uboe_dev *d = to->jetty->dev;
	struct cw_uboe_tjetty **at = &to->tpg->tjettys;

	if (to->running > 0 || to->fenced.head != NULL)
		return CW_E_STATE;
	if (to->unreleased > 0) /* ended, and waits for those that were posted before it */
		return CW_E_STATE;
	while (*at != to)
		at = &(*at)->next;
	*at = to->next;
	d->former[to->rc] = (struct former){to->tpg, to->tassn};
	d->tjettys[to->rc] = NULL;
	to->jetty->imports--;
	free(to->ring);
	free(to);
	return CW_OK;
}

/* ---- Receives ----------------------------------------------------------------------------- */

int cw_uboe_post_recv(struct cw_uboe_jetty *j, void *buf, uint32_t len, uint64_t user)
{
	struct cw_uboe_sge whole = {buf, len};

	return cw_uboe_post_recv_sg(j, &whole, 1, user);
}

int cw_uboe_post_recv_sg(struct cw_uboe_jetty *j, const struct cw_uboe_sge *sge, unsigned nsge,
			 uint64_t user)
{
	struct recv *r;
	uint64_t total;

	if (j->rqusage == j->o.recv_depth)
		return CW_E_SPACE;
	r = &j->recvs[(j->rhead + j->rposted) % j->o.recv_depth];
	if (!sg_take(r->sge, sge, nsge, &total))
		return CW_E_ARG;
	if (total > UINT32_MAX)
		return CW_E_RANGE;
	r->len = (uint32_t)total;
	r->user = user;
	j->rposted++;
	j->rqusage++;
	return CW_OK;
}

bool jetty_take_recv(struct cw_uboe_jetty *j, struct recv *out)
{
	if (j->rposted == 0)
		return false;
	*out = j->recvs[j->rhead];
	j->rhead = (j->rhead + 1) % j->o.recv_depth;
	j->rposted--;
	return true;
}

/* ---- Completions -------------------------------------------------------------------------- */

void jetty_deliver(struct cw_uboe_jetty *j, const struct cw_uboe_cr *cr)
{
	j->cq[(j->cqhead + j->cqlen) % (j->o.send_depth + j->o.recv_depth)] = *cr;
	j->cqlen++;
}

static void unlink_op(struct cw_uboe_jetty *j, struct op *op)
{
	if (op->older != NULL)
		op->older->newer = op->newer;
	else
		j->oldest = op->newer;
	if (op->newer != NULL)
		op->newer->older = op->older;
	else
		j->newest = op->older;
}

static void release(struct cw_uboe_jetty *j, struct op *op)
{
	op->to->unreleased--;
	bool silent = (op->wr.flags & CW_UBOE_SILENT) != 0 && op->cr.status == CW_UBOE_OK;

	if (silent)
		j->squsage--;
	else
		jetty_deliver(j, &op->cr);
	unlink_op(j, op);
	op->next = j->free;
	j->free = op;
}

/* The operation has ended (op->cr says how). One that is to complete in order waits for those that
 * were posted before it. */
void jetty_complete(struct op *op)
{
	struct cw_uboe_jetty *j = op->to->jetty;
	bool first = op->older == NULL;

	op->done = true;
	if (first || (op->wr.flags & CW_UBOE_IN_ORDER) == 0)
		release(j, op);
	while (first && j->oldest != NULL && j->oldest->done)
		release(j, j->oldest);
}

unsigned cw_uboe_poll(struct cw_uboe_jetty *j, struct cw_uboe_cr *cr, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && j->cqlen > 0; i++) {
		cr[i] = j->cq[j->cqhead];
		j->cqhead = (j->cqhead + 1) % (j->o.send_depth + j->o.recv_depth);
		j->cqlen--;
		if (cr[i].op == CW_UBOE_OP_RECV)
			j->rqusage--;
		else
			j->squsage--;
	}
	return i;
}
