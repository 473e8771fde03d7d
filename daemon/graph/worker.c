/* worker.c - workers: making them, their loop, their sleep. See dp.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>
#include "daemon/graph/cn.h"
#include "daemon/graph/hold.h"
#include "daemon/graph/queue.h"
#include "daemon/log.h"

#define PUNT_RING    1024
#define ASK_RING     1024
#define CAPTURE_RING 1024
#define REFUSED_RING 256
#define INJECT_RING  2048
#define HANDED_RING  4096

/* Empty walks before a worker starts to sleep, and how long it may sleep on descriptors. */
#define SPIN_WALKS    256
#define POLL_SLEEP_NS 200000000l
#define DRAIN_EMPTY   64 /* consecutive empty walks that end a drain */

struct cw_dp cw_dp;

void cw_dp_kick_control(void)
{
	uint64_t one = 1;

	if (atomic_exchange(&cw_dp.control_sleeps, false) &&
	    write(cw_dp.control_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: control is awake already */
}

void cw_dp_wake(struct cw_worker *w)
{
	uint64_t one = 1;

	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void cw_dp_synchronize(void)
{
	/* Workers that sleep are offline: they are not waited for. */
	rte_rcu_qsbr_synchronize(cw_dp.qs, RTE_QSBR_THRID_INVALID);
}

struct cw_worker *cw_worker_of_graph(const struct rte_graph *g)
{
	unsigned id;

	return sscanf(g->name, "worker-%u", &id) == 1 ? cw_dp.worker[id] : NULL;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int make_graph(struct cw_worker *w)
{
	struct rte_graph_param prm = {.socket_id = SOCKET_ID_ANY};
	const char *names[16];
	char name[32];

	for (prm.nb_node_patterns = 0; cw_nodes[prm.nb_node_patterns] != NULL;
	     prm.nb_node_patterns++)
		names[prm.nb_node_patterns] = cw_nodes[prm.nb_node_patterns];
	prm.node_patterns = names;
	snprintf(name, sizeof(name), "worker-%u", w->id);
	if (rte_graph_create(name, &prm) == RTE_GRAPH_ID_INVALID)
		return -1;
	w->graph = rte_graph_lookup(name);
	return w->graph != NULL ? 0 : -1;
}

static struct cw_worker *make_worker(unsigned id, unsigned lcore)
{
	struct cw_worker *w = rte_zmalloc("worker", sizeof(*w), RTE_CACHE_LINE_SIZE);
	char name[32];

	if (w == NULL)
		return NULL;
	cw_dp.worker[id] = w;
	w->id = id;
	w->lcore = lcore;
	snprintf(name, sizeof(name), "inject-%u", id);
	w->inject =
		rte_ring_create(name, INJECT_RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	snprintf(name, sizeof(name), "handed-%u", id);
	w->handed = rte_ring_create(name, HANDED_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	w->due_ns = UINT64_MAX;
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return w->handed != NULL && w->inject != NULL && w->wake_fd >= 0 &&
			       cw_hold_new(w) == CW_OK && make_graph(w) == 0
		       ? w
		       : NULL;
}

static int make_rings(void)
{
	cw_dp.punt = rte_ring_create("punt", PUNT_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	cw_dp.ask = rte_ring_create_elem("ask", sizeof(struct cw_neigh_key), ASK_RING,
					 SOCKET_ID_ANY, RING_F_SC_DEQ);
	cw_dp.capture = rte_ring_create("capture", CAPTURE_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	cw_dp.refused = rte_ring_create("refused", REFUSED_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	cw_dp.control_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	cw_dp.qs =
		rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(CW_MAX_WORKERS), RTE_CACHE_LINE_SIZE);
	if (cw_dp.punt == NULL || cw_dp.ask == NULL || cw_dp.capture == NULL ||
	    cw_dp.refused == NULL || cw_dp.control_fd < 0 || cw_dp.qs == NULL)
		return -1;
	return rte_rcu_qsbr_init(cw_dp.qs, CW_MAX_WORKERS);
}

static int register_flag(void)
{
	static const struct rte_mbuf_dynflag desc = {.name = "causeway_origin"};
	int bit = rte_mbuf_dynflag_register(&desc);

	if (bit < 0)
		return -1;
	cw_dp.origin_flag = 1ull << bit;
	return 0;
}

int cw_dp_init(unsigned workers)
{
	unsigned lcore, id = 0;

	if (make_rings() < 0 || register_flag() < 0) {
		cw_log(CW_LOG_ERROR, "no memory for rings: %s", rte_strerror(rte_errno));
		return CW_E_NOMEM;
	}
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (id == workers)
			break;
		if (make_worker(id, lcore) == NULL) {
			cw_log(CW_LOG_ERROR, "worker %u: %s", id, rte_strerror(rte_errno));
			return CW_E_NOMEM;
		}
		id++;
	}
	cw_dp.nworkers = id;
	return CW_OK;
}

void cw_dp_start(void)
{
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++) {
		rte_rcu_qsbr_thread_register(cw_dp.qs, i);
		rte_eal_remote_launch(cw_worker_main, cw_dp.worker[i], cw_dp.worker[i]->lcore);
	}
	cw_dp.running = true;
}

void cw_dp_stop(void)
{
	unsigned i;

	atomic_store(&cw_dp.stop, true);
	for (i = 0; i < cw_dp.nworkers; i++)
		cw_dp_wake(cw_dp.worker[i]);
	for (i = 0; i < cw_dp.nworkers; i++)
		rte_eal_wait_lcore(cw_dp.worker[i]->lcore);
	cw_dp.running = false;
}

void cw_dp_call(struct cw_worker *w, void (*fn)(void *arg), void *arg)
{
	struct cw_call c = {fn, arg};

	if (!cw_dp.running) {
		fn(arg);
		return;
	}
	atomic_store(&w->call, &c);
	cw_dp_wake(w);
	while (atomic_load(&w->call) != NULL)
		usleep(10);
}

static void free_ring(struct rte_ring *r)
{
	void *m;

	while (r != NULL && rte_ring_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

void cw_dp_fini(void)
{
	struct cw_worker *w;
	unsigned i;

	for (i = 0; i < CW_MAX_WORKERS; i++) {
		if ((w = cw_dp.worker[i]) == NULL)
			continue;
		if (w->graph != NULL)
			rte_graph_destroy(w->graph->id);
		free_ring(w->inject);
		free_ring(w->handed);
		cw_queue_free(w);
		cw_hold_free(w);
		free(w->lately);
		close(w->wake_fd);
		rte_free(w);
		cw_dp.worker[i] = NULL;
	}
	free_ring(cw_dp.punt);
	cw_cn_fini();
	rte_ring_free(cw_dp.ask);
	free_ring(cw_dp.capture);
	free_ring(cw_dp.refused);
	rte_free(cw_dp.qs);
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

/* Descriptors of all the worker's queues; 0 if one of them must be polled. */
static unsigned collect_fds(const struct cw_worker *w, struct pollfd *fds, unsigned max)
{
	const struct cw_rx_source *s = w->plane->rx[w->id];
	unsigned i, n = 0;
	int fd;

	fds[n++] = (struct pollfd){.fd = w->wake_fd, .events = POLLIN};
	for (i = 0; i < w->plane->nrx[w->id]; i++) {
		fd = s[i].dev->ops->rx_fd != NULL ? s[i].dev->ops->rx_fd(s[i].dev, s[i].queue) : -1;
		if (fd < 0 || n == max)
			return 0;
		fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return n;
}

/* Sleep until a port has frames or control calls; false if that is not possible. */
static bool sleep_on_fds(struct cw_worker *w)
{
	struct timespec max = {.tv_sec = 0, .tv_nsec = POLL_SLEEP_NS};
	struct pollfd fds[CW_MAX_PORTS + 1];
	unsigned i, n = collect_fds(w, fds, CW_MAX_PORTS + 1);
	uint64_t count;

	if (n == 0)
		return false;
	/* From here on control may free this snapshot: it is not looked at until online again. */
	rte_rcu_qsbr_thread_offline(cw_dp.qs, w->id);
	atomic_store(&w->asleep, true);
	/* What came before has woken nobody. */
	if (rte_ring_empty(w->handed) && !cw_cn_waits(w))
		ppoll(fds, n, &max, NULL);
	atomic_store(&w->asleep, false);
	rte_rcu_qsbr_thread_online(cw_dp.qs, w->id);
	if (fds[0].revents != 0 && read(w->wake_fd, &count, sizeof(count)) < 0)
		return true;
	/* An interface that is down makes poll return at once: don't spin on it. */
	for (i = 1; i < n; i++) {
		if (fds[i].revents & (POLLERR | POLLNVAL | POLLHUP))
			usleep(1000);
	}
	return true;
}

static void sleep_for(struct cw_worker *w, uint32_t us)
{
	rte_rcu_qsbr_thread_offline(cw_dp.qs, w->id);
	usleep(us);
	rte_rcu_qsbr_thread_online(cw_dp.qs, w->id);
}

/* Until a packet of a shaped queue may leave, at most; false: nothing waits. */
static bool sleep_until_due(struct cw_worker *w, uint32_t limit)
{
	uint64_t now = cw_now_ns(), us;

	if (w->due_ns == UINT64_MAX)
		return false;
	us = w->due_ns > now ? (w->due_ns - now) / 1000 : 0;
	if (us > 0)
		sleep_for(w, us < limit ? (uint32_t)us : limit);
	return true;
}

/* After `empty` walks without a packet: spin, then naps that grow up to the limit, then on
 * descriptors where all ports have one. */
static void idle(struct cw_worker *w, uint32_t empty)
{
	uint32_t limit, steps = empty - SPIN_WALKS;

	/* The one of the last walk may be gone: it was reported as done with. */
	w->plane = atomic_load_explicit(&cw_dp.plane, memory_order_acquire);
	limit = w->plane->idle_sleep_us;
	if (limit == 0 || empty < SPIN_WALKS) {
		rte_pause();
		return;
	}
	w->sleeps++;
	if (sleep_until_due(w, limit))
		return;
	if (steps < 16 && 1u << steps < limit)
		sleep_for(w, 1u << steps);
	else if (!sleep_on_fds(w))
		sleep_for(w, limit);
}

/* ---- Loop ------------------------------------------------------------------------------------ */

static void take_call(struct cw_worker *w)
{
	struct cw_call *c = atomic_load(&w->call);

	c->fn(c->arg);
	atomic_store(&w->call, NULL);
}

uint32_t cw_worker_walk(struct cw_worker *w)
{
	if (unlikely(atomic_load_explicit(&w->call, memory_order_acquire) != NULL))
		take_call(w);
	w->plane = atomic_load_explicit(&cw_dp.plane, memory_order_acquire);
	w->nbrs = atomic_load_explicit(&cw_dp.nbrs, memory_order_acquire);
	w->other_work = 0;
	rte_graph_walk(w->graph);
	w->walks++;
	w->busy_walks += w->rx_this_walk + w->other_work > 0;
	rte_rcu_qsbr_quiescent(cw_dp.qs, w->id);
	return w->rx_this_walk + w->other_work;
}

/* Nothing new comes in (control saw to that where the device allows it): finish what waits. */
static void drain(struct cw_worker *w)
{
	uint64_t end = rte_get_tsc_cycles() + rte_get_tsc_hz(); /* some devices never run dry */
	uint32_t empty = 0;

	while (empty < DRAIN_EMPTY && rte_get_tsc_cycles() < end)
		empty = cw_worker_walk(w) > 0 ? 0 : empty + 1;
}

int cw_worker_main(void *arg)
{
	struct cw_worker *w = arg;
	uint32_t empty = 0;

	rte_rcu_qsbr_thread_online(cw_dp.qs, w->id);
	while (!atomic_load_explicit(&cw_dp.stop, memory_order_relaxed)) {
		if (cw_worker_walk(w) > 0) {
			empty = 0;
			continue;
		}
		empty += empty < UINT32_MAX;
		idle(w, empty);
	}
	drain(w);
	cw_hold_flush(w, CW_DROP_SHUTDOWN);
	cw_queue_flush(w, CW_DROP_SHUTDOWN);
	rte_rcu_qsbr_thread_offline(cw_dp.qs, w->id);
	rte_rcu_qsbr_thread_unregister(cw_dp.qs, w->id);
	return 0;
}
