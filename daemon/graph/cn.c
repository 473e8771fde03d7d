/* cn.c - the congestion notification proxy in the data plane. See cn.h. */
#include <stdlib.h>
#include <rte_ring_elem.h>
#include "daemon/graph/cn.h"
#include "daemon/graph/origin.h"
#include "daemon/huge.h"

enum { NEXT_OUT, NEXT_COUNT };

#define LEARN_RING   65536 /* chunks */
#define MESSAGE_RING 4096
#define MOST_OCTETS  352u /* of a packet that is learned from: one that carries a MAD */
#define LEARN_BUDGET 128u /* packets that are learned from in a walk */
#define AGE_NS       10000000u
#define AGE_ROUND    3000u /* calls that look at the whole map: half a minute */

/* A flow that goes on is copied from once in a while only: a word has the upper 48 bits of its
 * number, and the time in units of 2^22 ns; eight words, a cache line, are where it can be. */
#define LINES 4096u
#define WAYS  8u
#define WHILE 16u /* 67 ms: what the map's own times are exact to */

/* A copy travels as a head and as many chunks behind it as its octets need. */
struct chunk {
	union {
		struct {
			uint16_t len, wire, vlan;
			uint64_t ns;
		} head;
		uint8_t octets[16];
	};
};
_Static_assert(sizeof(struct chunk) == 16, "a ring element");
#define CHUNKS(octets) (((octets) + 15u) / 16u)
#define MOST_CHUNKS    (1 + CHUNKS(MOST_OCTETS))

/* Control makes them while workers look whether they are there. */
static struct rte_ring *_Atomic learn_ring, *_Atomic message_ring;
static atomic_uint_fast64_t lost;

static int make_lately(void)
{
	const size_t octets = LINES * WAYS * sizeof(uint64_t);
	unsigned i;

	for (i = 0; i < cw_dp.nworkers; i++) {
		struct cw_worker *w = cw_dp.worker[i];

		if (w->lately != NULL)
			continue;
		if ((w->lately = aligned_alloc(RTE_CACHE_LINE_SIZE, octets)) == NULL)
			return CW_E_NOMEM;
		memset(w->lately, 0, octets);
	}
	return CW_OK;
}

int cw_cn_prepare(void)
{
	int err = make_lately();

	if (err < 0)
		return err;
	if (learn_ring == NULL)
		learn_ring = rte_ring_create_elem("cn-learn", sizeof(struct chunk), LEARN_RING,
						  SOCKET_ID_ANY, RING_F_SC_DEQ);
	if (message_ring == NULL)
		message_ring =
			rte_ring_create("cn-messages", MESSAGE_RING, SOCKET_ID_ANY, RING_F_SC_DEQ);
	return learn_ring != NULL && message_ring != NULL ? CW_OK : CW_E_NOMEM;
}

int cw_cn_make_map(struct cw_cn_map *m)
{
	struct cw_qpmap_opts o = m->opts;

	o.memory = cw_ask_for_huge_pages;
	return cw_qpmap_new(&m->map, &o);
}

void cw_cn_fini(void)
{
	struct rte_mbuf *m;

	while (message_ring != NULL && rte_ring_dequeue(message_ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(message_ring);
	rte_ring_free(learn_ring);
	message_ring = learn_ring = NULL;
}

uint64_t cw_cn_lost(void)
{
	return atomic_load(&lost);
}

bool cw_cn_waits(const struct cw_worker *w)
{
	return message_ring != NULL && w == cw_cn_home() &&
	       (!rte_ring_empty(message_ring) || !rte_ring_empty(learn_ring));
}

static void wake_home(const struct cw_worker *w)
{
	struct cw_worker *home = cw_cn_home();

	if (home != w)
		cw_dp_rouse(home);
}

/* ---- Learning ------------------------------------------------------------------------------ */

static uint64_t lately_word(uint64_t flow, uint64_t ns)
{
	return (flow & ~0xffffull) | (ns >> 22 & 0xffff);
}

static bool is_recent(uint64_t was, uint64_t is)
{
	return ((is - was) & 0xffff) < WHILE;
}

/* Was the flow copied from lately? If not, *slot is where to enter that it was: its own word, one
 * that says nothing any more, or any. */
static bool was_lately(const struct cw_worker *w, uint64_t flow, uint64_t is, uint64_t **slot)
{
	uint64_t *line = &w->lately[(flow >> 52) * WAYS];
	unsigned i;

	*slot = &line[(flow >> 16) % WAYS];
	for (i = 0; i < WAYS; i++) {
		if (((line[i] ^ is) & ~0xffffull) == 0) {
			*slot = &line[i];
			return is_recent(line[i], is);
		}
		if (!is_recent(line[i], is))
			*slot = &line[i];
	}
	return false;
}

void cw_cn_learn(struct cw_worker *w, const struct cw_cn *cn, const struct cw_ip_in_frame *f,
		 uint64_t ns)
{
	uint64_t flow, *slot = NULL;
	uint32_t octets = cw_relay_worth(&cn->settings, f->ip, f->len, &flow), n;
	struct chunk c[MOST_CHUNKS];

	if (octets == 0 || octets > MOST_OCTETS ||
	    (flow != 0 && was_lately(w, flow, lately_word(flow, ns), &slot)))
		return;
	n = 1 + CHUNKS(octets);
	c[0].head.len = (uint16_t)octets;
	c[0].head.wire = (uint16_t)f->len;
	c[0].head.ns = ns;
	c[0].head.vlan = cw_frame_vlan(w->plane, f);
	memcpy(c + 1, f->ip, octets);
	if (rte_ring_mp_enqueue_bulk_elem(learn_ring, c, sizeof(c[0]), n, NULL) != n) {
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
		return;
	}
	if (flow != 0)
		*slot = lately_word(flow, ns);
	w->other_work++;
	wake_home(w);
}

/* The next copy, if there is one. */
static bool take_copy(struct chunk *c, struct cw_qp_seen *seen)
{
	if (rte_ring_sc_dequeue_bulk_elem(learn_ring, c, sizeof(c[0]), 1, NULL) != 1)
		return false;
	(void)rte_ring_sc_dequeue_bulk_elem(learn_ring, c + 1, sizeof(c[0]), CHUNKS(c[0].head.len),
					    NULL);
	*seen = (struct cw_qp_seen){.ip = c[1].octets,
				    .len = c[0].head.len,
				    .wire = c[0].head.wire,
				    .now = c[0].head.ns,
				    .vlan = c[0].head.vlan};
	return true;
}

static unsigned learn_copies(const struct cw_cn *cn)
{
	static struct chunk copy[CW_QP_BURST][MOST_CHUNKS]; /* the home worker's */
	struct cw_qp_seen seen[CW_QP_BURST];
	unsigned total = 0, n;

	do {
		for (n = 0; n < CW_QP_BURST && take_copy(copy[n], &seen[n]);)
			n++;
		if (n > 0)
			cw_relay_learn_burst(cn->relay, seen, n);
		total += n;
	} while (n == CW_QP_BURST && total < LEARN_BUDGET);
	return total;
}

static void age(const struct cw_cn *cn, uint64_t now)
{
	static uint64_t last; /* the home worker's */

	if (now - last < AGE_NS)
		return;
	last = now;
	cw_qpmap_age(cn->map->map, now, 2 * cn->map->opts.pairs / AGE_ROUND + 64);
}

/* ---- Messages ------------------------------------------------------------------------------ */

bool cw_cn_message(struct cw_worker *w, struct rte_mbuf *m)
{
	if (message_ring == NULL || rte_ring_mp_enqueue(message_ring, m) != 0)
		return false;
	w->other_work++;
	wake_home(w);
	return true;
}

/* What is sent for a message that was translated. */
static void send_one(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w,
		     const struct cw_cn *cn, const struct cw_relay_item *item, unsigned port)
{
	const struct cw_relay_out *out = &item->out;
	uint16_t domain = out->domain != NULL ? (uint16_t)(out->domain - cn->domains + 1) : 0;
	struct rte_mbuf *m = cw_origin(w, item->buf, out->len, port, domain, out->vlan);

	if (m != NULL)
		rte_node_enqueue_x1(graph, node, NEXT_OUT, m);
}

static void translate(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w,
		      const struct cw_cn *cn, struct rte_mbuf **m, unsigned n, uint64_t now)
{
	struct cw_relay_item item[CW_MAX_BURST];
	uint8_t buf[CW_MAX_BURST][CW_RELAY_MAX];
	unsigned i;

	for (i = 0; i < n; i++)
		item[i] = (struct cw_relay_item){.ip = rte_pktmbuf_mtod(m[i], uint8_t *),
						 .len = m[i]->data_len,
						 .internal = true,
						 .buf = buf[i]};
	cw_relay_burst(cn->relay, item, n, now);
	for (i = 0; i < n; i++) {
		if (cw_relay_sent(item[i].result))
			send_one(graph, node, w, cn, &item[i], m[i]->port);
		w->port[m[i]->port].local++;
	}
	rte_pktmbuf_free_bulk(m, n);
}

static unsigned take_messages(struct rte_graph *graph, struct rte_node *node, struct cw_worker *w,
			      uint64_t now)
{
	const struct cw_cn *cn = w->plane->cn;
	struct rte_mbuf *m[CW_MAX_BURST];
	unsigned n;

	n = rte_ring_sc_dequeue_burst(message_ring, (void **)m, CW_MAX_BURST, NULL);
	if (cn != NULL)
		translate(graph, node, w, cn, m, n, now);
	else if (n > 0) /* turned off meanwhile */
		cw_drop_bulk(w, m, (uint16_t)n, CW_DROP_CN_FULL);
	return n;
}

static uint16_t cn_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct cw_worker *w = cw_node_worker(node);
	const struct cw_cn *cn = w->plane->cn;
	unsigned total;
	uint64_t now;

	(void)objs;
	(void)nb;
	if (likely(message_ring == NULL || w != cw_cn_home()))
		return 0;
	now = cw_now_ns();
	total = take_messages(graph, node, w, now);
	if (cn != NULL) {
		total += learn_copies(cn);
		age(cn, now);
	}
	w->other_work += total;
	return (uint16_t)total;
}

static struct rte_node_register cn_node = {
	.name = CW_NODE_CN,
	.flags = RTE_NODE_SOURCE_F,
	.process = cn_process,
	.init = cw_node_init,
	.nb_edges = NEXT_COUNT,
	.next_nodes = {[NEXT_OUT] = CW_NODE_OUT},
};
RTE_NODE_REGISTER(cn_node)
