/* queue.c - shaped queues of egress ports. See queue.h. */
#include <stdlib.h>
#include "daemon/graph/frame.h"
#include "daemon/graph/origin.h"
#include "daemon/graph/queue.h"

enum { NEXT_TX, NEXT_OUT, NEXT_COUNT };

#define BURSTS_A_WALK 8u

/* A ring of packets in the order in which they leave. */
struct cw_queue {
	uint32_t head, tail, mask;
	uint64_t last; /* departure of the last one */
	struct {
		struct rte_mbuf *m;
		uint64_t depart;
	} e[];
};

int cw_queue_prepare(unsigned slot)
{
	struct cw_worker *w = cw_queue_owner(slot);
	uint32_t size = 1024;

	if (w->queue[slot] != NULL)
		return CW_OK;
	while (size < cw_io.pool->size / 4)
		size *= 2;
	w->queue[slot] = calloc(1, sizeof(*w->queue[slot]) + size * sizeof(w->queue[slot]->e[0]));
	if (w->queue[slot] == NULL)
		return CW_E_NOMEM;
	w->queue[slot]->mask = size - 1;
	return CW_OK;
}

void cw_queue_free(struct cw_worker *w)
{
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		free(w->queue[i]);
		w->queue[i] = NULL;
	}
}

void cw_queue_hand(struct cw_worker *w, unsigned slot, struct rte_mbuf **m, uint16_t n)
{
	struct cw_worker *owner = cw_queue_owner(slot);
	uint16_t taken = (uint16_t)rte_ring_mp_enqueue_burst(owner->handed, (void **)m, n, NULL);

	w->other_work += taken;
	if (unlikely(taken < n))
		cw_drop_egress(w, m + taken, (uint16_t)(n - taken), slot, CW_DROP_QUEUE_FULL);
	if (owner != w)
		cw_dp_rouse(owner);
}

/* ---- In ------------------------------------------------------------------------------------ */

static void push(struct cw_worker *w, unsigned slot, struct rte_mbuf *m, uint64_t depart)
{
	struct cw_queue *q = w->queue[slot];
	uint32_t i = q->tail++ & q->mask;

	/* Behind another configuration's packets it waits for them. */
	q->last = RTE_MAX(q->last, depart);
	q->e[i].m = m;
	q->e[i].depart = q->last;
	w->queued |= 1ull << slot;
	w->port[slot].held++;
}

static bool is_full(const struct cw_queue *q)
{
	return q->tail - q->head > q->mask || q->tail - q->head >= cw_io.pool->size / 4;
}

/* Ask the model; a message that it makes leaves at once, in front of what waits here. */
static bool enter(struct cw_worker *w, struct cw_congestion *c, struct rte_mbuf *m, unsigned slot,
		  uint64_t now, struct rte_mbuf **message)
{
	struct cw_point_packet pkt = {.wire = m->pkt_len + c->overhead};
	struct cw_ip_in_frame f = {0};
	uint8_t buf[CW_POINT_MAX];
	struct cw_point_out out;

	if (cw_frame_ip(&w->plane->port[slot], m, &f)) {
		pkt.ip = f.ip;
		pkt.len = f.len;
		pkt.vid = f.vid;
		pkt.cci = f.cci;
		pkt.npi = cw_frame_npi(w->plane, &f);
	}
	cw_point_packet(c->point, &pkt, now, buf, &out);
	if (out.mark && f.cci != NULL)
		cw_ub_mark(f.cci, out.severe);
	else if (out.mark)
		(void)cw_ip_mark_ce(f.ip, f.len);
	*message = out.len > 0 ? cw_origin(w, buf, out.len, slot, 0, 0) : NULL;
	if (out.overflow || is_full(w->queue[slot]))
		return false;
	push(w, slot, m, out.depart);
	return true;
}

static uint16_t take_handed(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w,
			    uint64_t now)
{
	const struct cw_proxy_map *map = atomic_load_explicit(&cw_dp.proxies, memory_order_acquire);
	struct rte_mbuf *m[CW_MAX_BURST], *message;
	struct cw_congestion *c;
	unsigned i, n, slot;

	n = rte_ring_sc_dequeue_burst(w->handed, (void **)m, CW_MAX_BURST, NULL);
	for (i = 0; i < n; i++) {
		slot = cw_meta_get(m[i]);
		c = w->plane->port[slot].congestion;
		if (c == NULL) { /* not shaped any more */
			push(w, slot, m[i], now);
			continue;
		}
		if (map != NULL)
			cw_point_use_proxies(c->point, map->lpm, map->proxies, map->n);
		if (!enter(w, c, m[i], slot, now, &message))
			cw_drop_egress(w, &m[i], 1, slot, CW_DROP_QUEUE_FULL);
		if (message != NULL)
			rte_node_enqueue_x1(graph, node, NEXT_OUT, message);
	}
	return (uint16_t)n;
}

/* ---- Out ----------------------------------------------------------------------------------- */

static struct rte_mbuf *pop(struct cw_worker *w, unsigned slot)
{
	struct cw_queue *q = w->queue[slot];
	struct rte_mbuf *m = q->e[q->head++ & q->mask].m;

	w->port[slot].held--;
	if (q->head == q->tail)
		w->queued &= ~(1ull << slot);
	return m;
}

/* Up to a burst of those whose time has come. At the end, and without a model, it has. */
static uint16_t let_out(struct cw_worker *w, unsigned slot, uint64_t now, struct rte_mbuf **m)
{
	const struct cw_queue *q = w->queue[slot];
	bool all = w->plane->port[slot].congestion == NULL ||
		   atomic_load_explicit(&cw_dp.stop, memory_order_relaxed);
	uint16_t n = 0;

	while (n < CW_MAX_BURST && q->head != q->tail &&
	       (all || q->e[q->head & q->mask].depart <= now))
		m[n++] = pop(w, slot);
	return n;
}

static uint16_t release(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w,
			uint64_t now)
{
	struct rte_mbuf *m[CW_MAX_BURST];
	uint64_t left, first = UINT64_MAX;
	const struct cw_queue *q;
	unsigned slot;
	uint16_t n, total = 0;

	for (left = w->queued; left != 0; left &= left - 1) {
		slot = (unsigned)__builtin_ctzll(left);
		q = w->queue[slot];
		n = let_out(w, slot, now, m);
		if (n > 0)
			rte_node_enqueue(graph, node, NEXT_TX, (void **)m, n);
		total = (uint16_t)(total + n);
		if (q->head != q->tail)
			first = RTE_MIN(first, q->e[q->head & q->mask].depart);
	}
	w->due_ns = first;
	return total;
}

static uint16_t queue_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			      uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	unsigned i, total = 0;
	uint16_t n;
	uint64_t now;

	(void)objs;
	(void)nb;
	if (likely(w->queued == 0 && rte_ring_empty(w->handed)))
		return 0;
	now = cw_now_ns();
	for (i = 0; i < BURSTS_A_WALK && (n = take_handed(graph, node, w, now)) > 0; i++)
		total += n;
	total += release(graph, node, w, now);
	w->other_work += total;
	return (uint16_t)total;
}

void cw_queue_flush(struct cw_worker *w, enum cw_drop why)
{
	struct rte_mbuf *m;
	unsigned slot;

	while (rte_ring_sc_dequeue(w->handed, (void **)&m) == 0)
		cw_drop_egress(w, &m, 1, cw_meta_get(m), why);
	while (w->queued != 0) {
		slot = (unsigned)__builtin_ctzll(w->queued);
		m = pop(w, slot);
		cw_drop_egress(w, &m, 1, slot, why);
	}
}

static struct rte_node_register queue_node = {
	.name = CW_NODE_QUE,
	.flags = RTE_NODE_SOURCE_F,
	.process = queue_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_TX] = CW_NODE_TX, [NEXT_OUT] = CW_NODE_OUT},
};
RTE_NODE_REGISTER(queue_node)
