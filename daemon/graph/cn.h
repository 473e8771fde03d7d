/* cn.h - the congestion notification proxy: learning, messages in, notifications out.
 *
 * One worker, the first, owns the queue pair map and the proxy: nothing about them is locked. All
 * workers, itself included, give it copies of headers, and messages, by rings; it works them off in
 * a node of its own, so that no data packet waits for what is learned from it. A full ring loses
 * copies, never packets.
 */
#ifndef DAEMON_GRAPH_CN_H
#define DAEMON_GRAPH_CN_H

#include "causeway/cnrelay.h"
#include "daemon/graph/frame.h"
#include "daemon/graph/node.h"

/* The map; it outlives the settings that it is used with. */
struct cw_cn_map {
	atomic_uint refs;
	struct cw_qpmap_opts opts;
	struct cw_qpmap *map;
};

/* A proxy with its tables, made by control. Shared by snapshots that say the same about it. */
struct cw_cn {
	atomic_uint refs;
	struct cw_cn_map *map;
	struct cw_relay *relay;
	struct cw_relay_settings settings;
	bool learn;
	char *text; /* what the configuration says about it, to compare */
	struct cw_lpm *allowed, *senders;
	struct cw_nrp *nrps;
	struct cw_vpn_domain *domains; /* in the order of the snapshot's */
	struct cw_pin_4792 *pins;
};

/* Rings, once; control, in front of the first snapshot with a proxy. */
int cw_cn_prepare(void);
void cw_cn_fini(void);

/* m->map by m->opts, in huge pages where the kernel has them. Errors: as cw_qpmap_new(). */
CW_MUST_USE int cw_cn_make_map(struct cw_cn_map *m);

static inline struct cw_worker *cw_cn_home(void)
{
	return cw_dp.worker[0];
}

/* Learn from a packet that is forwarded; `ns` is now. It is only read. */
void cw_cn_learn(struct cw_worker *w, const struct cw_cn *cn, const struct cw_ip_in_frame *f,
		 uint64_t ns);

/* Give the proxy a message: an mbuf that begins at the IP header. False: no room. */
bool cw_cn_message(struct cw_worker *w, struct rte_mbuf *m);

/* Has this worker something to do for the proxy? */
bool cw_cn_waits(const struct cw_worker *w);

/* Copies that found no room in the ring. */
uint64_t cw_cn_lost(void);

#endif
