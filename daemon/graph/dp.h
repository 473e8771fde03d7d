/* dp.h - the data plane: workers, the snapshot they read, and what connects them to control.
 *
 * A worker polls its ports through one rte_graph: cw-rx -> cw-ub-in or cw-eth-in -> cw-tx, with
 * cw-punt and cw-drop on the side. A packet runs to completion inside one graph walk, so between
 * walks a worker holds no packet and no pointer into a snapshot: it reports a quiescent state
 * there, and control frees what it replaced. Packets for the control thread travel on a ring, and
 * so do those that control puts in.
 */
#ifndef DAEMON_GRAPH_DP_H
#define DAEMON_GRAPH_DP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>
#include <rte_cycles.h>
#include "causeway/cnpoint.h"
#include "causeway/drop.h"
#include "causeway/neigh.h"
#include "causeway/ub2e.h"
#include "daemon/control/config.h"
#include "daemon/io/port.h"

/* ---- Snapshot ------------------------------------------------------------------------------ */

enum cw_hop_kind {
	CW_HOP_STATIC, /* `hop` is complete */
	CW_HOP_VIA,    /* resolve `via` */
	CW_HOP_ONLINK, /* resolve the packet's own destination */
	CW_HOP_LOCAL   /* an address of the gateway */
};

struct cw_hop {
	struct cw_ub2e_hop hop;
	enum cw_hop_kind kind;
	unsigned slot; /* egress port */
	struct cw_ip_addr via;
};

/* What a hop's adjacency has in its user field. */
static inline uint32_t cw_adj_user(unsigned slot, enum cw_hop_kind kind)
{
	return (uint32_t)kind << 16 | slot;
}

static inline unsigned cw_adj_slot(const struct cw_ub2e_adj *adj)
{
	return adj->user & 0xffff;
}

static inline enum cw_hop_kind cw_user_kind(uint32_t user)
{
	return (enum cw_hop_kind)(user >> 16);
}

static inline enum cw_hop_kind cw_adj_kind(const struct cw_ub2e_adj *adj)
{
	return cw_user_kind(adj->user);
}

/* Prefixes to indices of hops. Shared by snapshots in which both are the same. */
struct cw_fib {
	atomic_uint refs;
	struct rte_lpm *v4; /* NULL: no route of that family */
	struct rte_lpm6 *v6;
	struct cw_ip_addr *prefix; /* in the order of the configuration */
	uint32_t *hop;             /* of each of them */
	unsigned nprefix;
};

struct cw_plane_port {
	struct cw_port *dev; /* NULL: slot not in use */
	const struct cw_port_config *conf;
	unsigned conf_index;
	uint32_t
		mtu; /* octets, the largest IP packet that goes out: the configured, or what fits */
	struct cw_npi_filter filter;
	bool any_station;
	uint64_t told;          /* drop reasons that the sender is told by ICMP; see icmp.h */
	uint8_t link_local[16]; /* Ethernet: own IPv6 address of its MAC */
	struct cw_congestion *congestion; /* egress: its shaped queue; NULL: none */
};

/* The model of a port's shaped queue. Shared by snapshots that say the same about it; used by the
 * worker that owns the queue alone. */
struct cw_congestion {
	atomic_uint refs;
	struct cw_point *point;
	struct cw_point_settings settings;
	uint8_t overhead;
};

/* Who is a proxy for whom, as congestion points look it up; replaced whole at every change. */
struct cw_proxy_map {
	uint64_t generation; /* of the table that it was made from */
	struct cw_lpm *lpm;  /* index + 1 into proxies */
	struct cw_gid *proxies;
	uint32_t n;
};

/* By what a notification for a VPN leaves. */
struct cw_domain {
	struct cw_hop hop;
	uint16_t vid;
};

struct cw_rx_source {
	struct cw_port *dev;
	uint8_t slot, queue, kind; /* enum cw_port_kind */
};

struct cw_plane {
	uint64_t generation;
	struct cw_config *conf; /* owned */
	struct cw_ub2e *rules;
	struct cw_fib *fib;
	struct cw_hop *hops; /* shared by routes */
	/* The same made ready, by hop; user: see cw_adj_slot(). Where the next hop must be
	 * resolved, all but its address; cw_ub2e_adj_none for local ones, and behind the last. */
	struct cw_ub2e_adj *adj;
	bool resolves; /* some must */
	unsigned nhops;
	struct cw_plane_port port[CW_MAX_PORTS]; /* by slot */
	struct cw_rx_source *rx[CW_MAX_WORKERS];
	unsigned nrx[CW_MAX_WORKERS];
	uint32_t idle_sleep_us;
	bool ipoib; /* a port of that kind is in the graph */
	uint64_t icmp_gap,
		icmp_depth;    /* TSC cycles an ICMP error takes of a port's rate, and the burst */
	bool ip_in;            /* frames from Ethernet go through cw-ip-in */
	bool between_ethernet; /* which routes them */
	bool egress;           /* packets that leave go through cw-egress */
	uint64_t border;       /* slots that lead out of the domain, a bit each */
	uint64_t interfaces;   /* those that messages are taken from */
	uint16_t cn_port1, cn_port2;
	struct cw_cn *cn;          /* proxy; NULL: none. See cn.h */
	struct cw_domain *domains; /* of VPNs, in the order of their IDs */
	unsigned ndomains;
};

/* Neighbours that are usable, and those that lately did not answer; replaced whole at every change.
 * Open addressing. */
struct cw_nbr {
	struct cw_neigh_key key; /* version 0: free */
	uint8_t mac[6];
	bool refused; /* it did not answer: no address */
	uint8_t used; /* set by workers, read by control */
};
struct cw_nbrs {
	uint64_t generation;
	uint32_t mask;
	bool any_vlan; /* entries with CW_NEIGH_ANY_VLAN exist */
	struct cw_nbr slot[];
};

/* A key as three words, as its octets are in memory: kept in registers, for a word that is read
 * right behind the octets that it was written by has to wait for them. */
struct cw_nbr_words {
	uint64_t w[3];
};

static inline uint64_t cw_nbr_word(const void *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static inline struct cw_nbr_words cw_nbr_words(const struct cw_neigh_key *k)
{
	const uint8_t *p = (const uint8_t *)k;

	_Static_assert(sizeof(*k) == sizeof(struct cw_nbr_words), "a key is three words");
	return (struct cw_nbr_words){{cw_nbr_word(p), cw_nbr_word(p + 8), cw_nbr_word(p + 16)}};
}

static inline uint32_t cw_nbr_hash_words(const struct cw_nbr_words *k)
{
	uint64_t h = (k->w[0] ^ k->w[1] * 0x9e3779b97f4a7c15u ^ k->w[2]) * 0xff51afd7ed558ccdu;

	return (uint32_t)(h >> 32);
}

static inline uint32_t cw_nbr_hash(const struct cw_neigh_key *k)
{
	struct cw_nbr_words words = cw_nbr_words(k);

	return cw_nbr_hash_words(&words);
}

static inline bool cw_nbr_has_key(const struct cw_nbr *n, const struct cw_nbr_words *k)
{
	struct cw_nbr_words own = cw_nbr_words(&n->key);

	return own.w[0] == k->w[0] && own.w[1] == k->w[1] && own.w[2] == k->w[2];
}

static inline struct cw_nbr *cw_nbr_find(struct cw_nbrs *t, const struct cw_nbr_words *k)
{
	uint32_t i;

	for (i = cw_nbr_hash_words(k) & t->mask; t->slot[i].key.version != 0;
	     i = (i + 1) & t->mask) {
		if (cw_nbr_has_key(&t->slot[i], k))
			return &t->slot[i];
	}
	return NULL;
}

/* The first word of a key. */
static inline uint64_t cw_nbr_word0(uint16_t port, uint16_t vid, uint8_t version)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return port | (uint64_t)vid << 16 | (uint64_t)version << 32;
#else
	return (uint64_t)port << 48 | (uint64_t)vid << 32 | (uint64_t)version << 24;
#endif
}

/* The second word, of an IPv4 address. */
static inline uint64_t cw_nbr_word1(const uint8_t *addr)
{
	uint32_t a;

	memcpy(&a, addr, sizeof(a));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? a : (uint64_t)a << 32;
}

/* The neighbour of a key, an entry for any VLAN included; NULL: it is not known yet. */
static inline struct cw_nbr *cw_nbr_lookup_words(struct cw_nbrs *t, struct cw_nbr_words k)
{
	struct cw_nbr *n = cw_nbr_find(t, &k), *any;

	if ((n != NULL && !n->refused) || !t->any_vlan)
		return n;
	k.w[0] |= cw_nbr_word0(0, CW_NEIGH_ANY_VLAN, 0);
	any = cw_nbr_find(t, &k);
	return any != NULL ? any : n;
}

static inline struct cw_nbr *cw_nbr_lookup(struct cw_nbrs *t, const struct cw_neigh_key *key)
{
	return cw_nbr_lookup_words(t, cw_nbr_words(key));
}

/* TPID of the tag that the device took out of this frame. */
static inline uint16_t cw_tag_tpid(const struct cw_plane_port *in, const struct rte_mbuf *m)
{
	/* Of two tags that a device takes out it is told which is which: see io/tags.h. */
	return in->dev->tells_tpid || (m->ol_flags & RTE_MBUF_F_RX_QINQ) != 0 ? m->vlan_tci_outer
									      : in->conf->tpid;
}

/* ---- Workers ------------------------------------------------------------------------------- */

struct cw_port_counters {
	uint64_t rx_packets, rx_octets, tx_packets, tx_octets;
	uint64_t local;        /* taken by the gateway itself: ARP, ND, echo */
	uint64_t originated;   /* made by it, for this port: ARP, ND, answers */
	uint64_t icmp_errors;  /* about packets that came by this port, sent back */
	uint64_t icmp_limited; /* not sent: too many a second */
	uint64_t held;         /* came by this port and waits for a next hop: goes up and down */
	uint64_t drops[CW_DROP_COUNT];
	uint64_t notes[CW_NOTE_COUNT];
} __rte_cache_aligned;

struct cw_worker {
	unsigned id, lcore;
	struct rte_graph *graph;
	const struct cw_plane *plane; /* of this walk */
	struct cw_nbrs *nbrs;
	struct rte_ring *inject;              /* frames that control puts in */
	struct cw_hold *hold;                 /* packets that wait for a next hop */
	struct rte_ring *handed;              /* packets for the shaped queues of this worker */
	struct cw_queue *queue[CW_MAX_PORTS]; /* those that it owns */
	uint64_t queued;                      /* ports whose queue is not empty, a bit each */
	uint64_t due_ns;                      /* when the first of them may leave */
	uint64_t *lately;                     /* flows that were learned from lately; see cn.c */
	uint32_t other_work;                  /* packets of this walk that were not received */
	atomic_bool asleep;                   /* in need of cw_dp_rouse() */
	_Atomic(struct cw_call *) call;       /* of control, between two walks */
	int wake_fd;
	uint32_t rx_this_walk;
	uint64_t walks, busy_walks, sleeps;
	struct cw_port_counters port[CW_MAX_PORTS];
	struct rte_mbuf *out[CW_MAX_PORTS][CW_MAX_BURST]; /* cw-tx sorts by port here */
	uint16_t nout[CW_MAX_PORTS];
} __rte_cache_aligned;

struct cw_dp {
	unsigned nworkers;
	struct cw_worker *worker[CW_MAX_WORKERS];
	_Atomic(struct cw_plane *) plane;
	_Atomic(struct cw_nbrs *) nbrs;
	_Atomic(struct cw_proxy_map *) proxies;
	uint64_t origin_flag; /* in mbuf->ol_flags: one of our own, see cw_origin() */
	struct rte_rcu_qsbr *qs;
	struct rte_ring *punt;    /* packets to control */
	struct rte_ring *ask;     /* keys of next hops that packets wait for, to control */
	struct rte_ring *capture; /* dropped packets, to control */
	struct rte_ring *refused; /* those whose sender is told, to control */
	atomic_uint_fast64_t icmp_due[CW_MAX_PORTS]; /* TSC: when a port's rate is whole again */
	atomic_bool capture_on, stop;
	bool running; /* between start and stop; control's */
	atomic_bool control_sleeps;
	int control_fd; /* eventfd: something is on a ring */
	atomic_uint_fast64_t capture_lost;
};
extern struct cw_dp cw_dp;

/* Make workers, rings and graphs; `workers` worker lcores must exist. Errors are logged. */
int cw_dp_init(unsigned workers);
void cw_dp_start(void);
/* Let workers finish what is queued and end. */
void cw_dp_stop(void);
void cw_dp_fini(void);

/* Wait until no worker can still see what was replaced before. */
void cw_dp_synchronize(void);

/* Wake a worker that sleeps on descriptors. */
void cw_dp_wake(struct cw_worker *w);

/* The same only if it sleeps, for who has put something on a ring of its own. It says that it
 * sleeps before it looks at its rings for the last time, so one of the two sees what the other did.
 */
static inline void cw_dp_rouse(struct cw_worker *w)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (unlikely(atomic_load_explicit(&w->asleep, memory_order_relaxed)))
		cw_dp_wake(w);
}

/* Run `fn` at a worker between two walks, and wait for it; at once where workers don't run. Control
 * thread only. */
struct cw_call {
	void (*fn)(void *arg);
	void *arg;
};
void cw_dp_call(struct cw_worker *w, void (*fn)(void *arg), void *arg);

/* Nanoseconds since the machine started; the same for all workers. */
static inline uint64_t cw_now_ns(void)
{
	uint64_t t = rte_rdtsc(), hz = rte_get_tsc_hz();

	return t / hz * 1000000000u + t % hz * 1000000000u / hz;
}

/* The worker that owns a port's shaped queue. */
static inline struct cw_worker *cw_queue_owner(unsigned slot)
{
	return cw_dp.worker[slot % cw_dp.nworkers];
}

/* One walk over the graph, in the snapshot that is current; returns how many packets came in. */
uint32_t cw_worker_walk(struct cw_worker *w);

/* Run by every worker lcore until stop. */
int cw_worker_main(void *arg);

/* Worker whose graph this is; for init functions of nodes. */
struct cw_worker *cw_worker_of_graph(const struct rte_graph *g);

/* Wake control when it sleeps. */
void cw_dp_kick_control(void);

/* ---- What travels with a packet ------------------------------------------------------------ */

/* mbuf->port is the ingress slot. hash.usr: egress slot, or drop reason. A dropped packet that was
 * finished for the egress slot in mbuf->port has this beside its reason: */
#define CW_DROP_EGRESS (1u << 31)

static inline void cw_meta_set(struct rte_mbuf *m, uint32_t v)
{
	m->hash.usr = v;
}

static inline uint32_t cw_meta_get(const struct rte_mbuf *m)
{
	return m->hash.usr;
}

#endif
