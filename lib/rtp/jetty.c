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
		free(j->ops);
		free(j->recvs);
		free(j->cq);
		free(j);
		return CW_E_NOMEM;
	}
	d->jettys[d->njettys++] = j;
	*out = j;
	return CW_OK;
}

uint32_t cw_uboe_jetty_id(const struct cw_uboe_jetty *j)
{
	return j->o.id;
}

int cw_uboe_import(struct cw_uboe_jetty *j, struct cw_uboe_tpg *g, uint32_t remote_id,
		   uint32_t token_value, struct cw_uboe_tjetty **out)
{
	struct cw_uboe_dev *d = j->dev;
	struct cw_uboe_tjetty *to;
	uint32_t n = 1;

	if (remote_id > ID20_MASK || g->dev != d)
		return CW_E_ARG;
	if (d->ntjettys == d->o.max_tjetties)
		return CW_E_SPACE;
	while (n < j->o.send_depth)
		n *= 2;
	to = calloc(1, sizeof(*to));
	if (to == NULL)
		return CW_E_NOMEM;
	to->ring = calloc(n, sizeof(struct op *));
	if (to->ring == NULL) {
		free(to);
		return CW_E_NOMEM;
	}
	to->jetty = j;
	to->tpg = g;
	to->remote_id = remote_id;
	to->token_value = token_value;
	to->mask = n - 1;
	to->rc = d->ntjettys;
	d->tjettys[d->ntjettys++] = to;
	to->next = g->tjettys;
	g->tjettys = to;
	*out = to;
	return CW_OK;
}

/* ---- Receives ----------------------------------------------------------------------------- */

int cw_uboe_post_recv(struct cw_uboe_jetty *j, void *buf, uint32_t len, uint64_t user)
{
	struct recv *r;

	if (buf == NULL && len != 0)
		return CW_E_ARG;
	if (j->rqusage == j->o.recv_depth)
		return CW_E_SPACE;
	r = &j->recvs[(j->rhead + j->rposted) % j->o.recv_depth];
	*r = (struct recv){buf, len, user};
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
