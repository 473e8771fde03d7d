/* ipoib.h - IP over InfiniBand: hcas, and the IPoIB ports on them.
 *
 * One thread of their own runs the carriers, the link machines of causeway/ipoib.h and what is
 * above them; it holds the service's lock but while it sleeps. All calls belong to the control
 * thread and take that lock.
 */
#ifndef DAEMON_IPOIB_IPOIB_H
#define DAEMON_IPOIB_IPOIB_H

#include "daemon/control/config.h"
#include "daemon/control/metrics.h"
#include "daemon/control/server.h"

struct cw_ibd_next;

/* Open aside what a configuration has that runs not yet: whatever can fail does so here, and
 * changes nothing. Hcas and ports that stay as they are keep running. */
int cw_ibd_prepare(struct cw_ibd_next **out, const struct cw_config *conf, struct cw_diag *diag);

/* Use it, or don't. The configuration need not stay. */
void cw_ibd_commit(struct cw_ibd_next *next);
void cw_ibd_abandon(struct cw_ibd_next *next);

/* Leave all groups, close all. */
void cw_ibd_stop(void);

/* A packet to a group came by an Ethernet port with multicast. */
void cw_ibd_multicast(unsigned slot, const uint8_t *ip, size_t len);

/* A packet to the gateway itself: true if it was a DHCP server's reply to its relay. */
bool cw_ibd_dhcp_reply(const uint8_t *ip, size_t len);

/* Send what IPoIB has for Ethernet ports; is there something? */
void cw_ibd_run(void);
bool cw_ibd_pending(void);

/* Providers of `show ipoib-links` and so on, and metrics. */
cw_control_fn cw_ibd_show_links, cw_ibd_show_groups, cw_ibd_show_neighbours, cw_ibd_show_paths,
	cw_ibd_show_addresses, cw_ibd_show_counters, cw_ibd_show_hcas;
void cw_ibd_metrics(struct cw_metrics_text *t);

#endif
