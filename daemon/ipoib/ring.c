/* ring.c - an IPoIB link as a port of the graph. See ring.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include "daemon/ipoib/ring.h"
#include "daemon/log.h"

enum { SIZE = 4096 };

static struct cw_ibring *rings[CW_MAX_PORTS];

static struct rte_ring *make_ring(const char *way, unsigned flags)
{
	static unsigned number;
	char name[32];

	(void)snprintf(name, sizeof(name), "ib-%s-%u", way, number++);
	return rte_ring_create(name, SIZE, SOCKET_ID_ANY, flags);
}

static void free_ring(struct rte_ring *r)
{
	void *m;

	while (r != NULL && rte_ring_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

static void destroy(struct cw_ibring *r)
{
	free_ring(r->to_graph);
	free_ring(r->to_link);
	if (r->graph_fd >= 0)
		(void)close(r->graph_fd);
	if (r->link_fd >= 0)
		(void)close(r->link_fd);
	free(r);
}

static struct cw_ibring *create(const char *device)
{
	struct cw_ibring *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	(void)snprintf(r->device, sizeof(r->device), "%s", device);
	r->graph_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	r->link_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	r->to_graph = make_ring("up", RING_F_SC_DEQ); /* one worker polls it */
	r->to_link = make_ring("down", RING_F_SC_DEQ);
	if (r->graph_fd >= 0 && r->link_fd >= 0 && r->to_graph != NULL && r->to_link != NULL)
		return r;
	destroy(r);
	return NULL;
}

struct cw_ibring *cw_ibring_get(const char *device)
{
	unsigned i, place = CW_MAX_PORTS;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (rings[i] == NULL) {
			place = i;
		} else if (strcmp(rings[i]->device, device) == 0) {
			rings[i]->refs++;
			return rings[i];
		}
	}
	if (place == CW_MAX_PORTS || (rings[place] = create(device)) == NULL)
		return NULL;
	rings[place]->refs = 1;
	return rings[place];
}

void cw_ibring_put(struct cw_ibring *r)
{
	unsigned i;

	if (r == NULL || --r->refs > 0)
		return;
	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (rings[i] == r)
			rings[i] = NULL;
	}
	destroy(r);
}

/* ---- Waking the other side ----------------------------------------------------------------- */

static void tell(int fd, atomic_bool *told)
{
	uint64_t one = 1;

	if (!atomic_exchange(told, true) && write(fd, &one, sizeof(one)) < 0)
		cw_log(CW_LOG_DEBUG, "ipoib: eventfd: %s", strerror(errno));
}

/* Take what is there. Only an empty ring takes the descriptor's state back, and looks again: what
 * came in between told nobody. */
static unsigned take(struct rte_ring *r, int fd, atomic_bool *told, struct rte_mbuf **m, unsigned n)
{
	unsigned got = rte_ring_sc_dequeue_burst(r, (void **)m, n, NULL);
	uint64_t count;

	if (got > 0 || !atomic_load(told))
		return got;
	/* Nothing to read: whoever told is about to write. What is there then is for the next call;
	 * if the state went first, the descriptor would stay readable with nobody to take it back.
	 */
	if (read(fd, &count, sizeof(count)) < 0)
		return 0;
	atomic_store(told, false);
	return rte_ring_sc_dequeue_burst(r, (void **)m, n, NULL);
}

/* ---- The link's side ----------------------------------------------------------------------- */

struct rte_mbuf *cw_ibring_new(uint32_t len, uint8_t **frame)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(cw_io.pool);

	if (m == NULL)
		return NULL;
	if ((*frame = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len)) == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	return m;
}

void cw_ibring_send(struct cw_ibring *r, struct rte_mbuf *m)
{
	if (rte_ring_mp_enqueue(r->to_graph, m) != 0) {
		r->full++;
		rte_pktmbuf_free(m);
		return;
	}
	tell(r->graph_fd, &r->graph_told);
}

unsigned cw_ibring_receive(struct cw_ibring *r, struct rte_mbuf **m, unsigned n)
{
	return take(r->to_link, r->link_fd, &r->link_told, m, n);
}

/* ---- The graph's side ---------------------------------------------------------------------- */

static int ib_open(struct cw_port *p, const char *arg, char *why, size_t size)
{
	struct cw_ibring *r = cw_ibring_get(p->device);

	if (r == NULL) {
		(void)snprintf(why, size, "no memory for the rings");
		return CW_E_NOMEM;
	}
	p->priv = r;
	p->nrxq = 1;
	p->ntxq = cw_io.nworkers;
	memcpy(p->mac, r->mac, sizeof(p->mac));
	return CW_OK;
}

static void ib_close(struct cw_port *p)
{
	cw_ibring_put(p->priv);
}

static uint16_t ib_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	struct cw_ibring *r = p->priv;

	return (uint16_t)take(r->to_graph, r->graph_fd, &r->graph_told, m, n);
}

static uint16_t ib_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
		      struct cw_tx_refused *refused)
{
	struct cw_ibring *r = p->priv;
	uint16_t sent = (uint16_t)rte_ring_mp_enqueue_burst(r->to_link, (void **)m, n, NULL);

	tell(r->link_fd, &r->link_told);
	return sent;
}

static void ib_stats(const struct cw_port *p, struct cw_port_stats *s)
{
	*s = (struct cw_port_stats){.rx_missed = ((const struct cw_ibring *)p->priv)->full};
}

static bool ib_up(const struct cw_port *p)
{
	return true; /* a link that is down drops by itself, and counts */
}

static int ib_promisc(struct cw_port *p, bool on)
{
	return on ? -1 : 0;
}

static int ib_fd(const struct cw_port *p, unsigned queue)
{
	return ((const struct cw_ibring *)p->priv)->graph_fd;
}

const struct cw_port_ops cw_port_ipoib = {
	.prefix = "ib:",
	.open = ib_open,
	.close = ib_close,
	.rx_burst = ib_rx,
	.tx_burst = ib_tx,
	.stats = ib_stats,
	.link_up = ib_up,
	.set_promisc = ib_promisc,
	.rx_fd = ib_fd,
};
