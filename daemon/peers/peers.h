/* peers.h - who is a proxy for whom, told by and to other people's software.
 *
 * One table (causeway/proxies.h) is fed by the configuration's static entries, a file, BGP (by
 * ExaBGP and `causeway bgp-helper`, and from routers by BMP), OSPFv2 (by the API of ospfd) and
 * IS-IS (by a leaf of our own). All calls belong to the control thread.
 */
#ifndef DAEMON_PEERS_PEERS_H
#define DAEMON_PEERS_PEERS_H

#include "daemon/control/config.h"
#include "daemon/control/metrics.h"
#include "daemon/control/server.h"

/* Use a configuration: what it says differently takes effect. `c` must stay until the next apply or
 * cw_peers_stop(). CW_E_NOMEM, CW_E_IO. */
int cw_peers_apply(const struct cw_pnc_config *c, uint64_t now);

/* Readable (poll, epoll) when cw_peers_run() has something to do; -1 before the first apply. */
int cw_peers_fd(void);

/* Do what is to be done at `now`. Returns when it must run next, in milliseconds. */
uint64_t cw_peers_run(uint64_t now);

/* Take back what was announced, close all, forget all. */
void cw_peers_stop(void);

/* The table, for lookups; NULL before the first apply. */
struct cw_proxies *cw_peers_table(void);

/* Providers: `show proxies`, `show proxy-sources`, `show bmp`, `show isis`, `show ospf3`, and the
 * conversation with `causeway bgp-helper`. */
cw_control_fn cw_peers_show, cw_peers_show_sources, cw_peers_show_bmp, cw_peers_show_isis;
cw_control_fn cw_peers_show_ospf3, cw_peers_bgp;

/* Counters of the sessions, for the metrics. */
void cw_peers_metrics(struct cw_metrics_text *t);

#endif
