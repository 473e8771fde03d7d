/* queue.h - shaped queues of egress ports.
 *
 * A port's queue has one owner among the workers, so neither it nor its model is ever locked.
 * cw-egress hands packets over by the owner's ring, also to itself; cw-queue takes them, asks the
 * model (causeway/cnpoint.h) when each may leave, and holds it for so long.
 */
#ifndef DAEMON_GRAPH_QUEUE_H
#define DAEMON_GRAPH_QUEUE_H

#include "daemon/graph/node.h"

/* Memory for a port's queue, once; control, in front of the first snapshot that uses it. */
int cw_queue_prepare(unsigned slot);
void cw_queue_free(struct cw_worker *w);

/* Give packets to the owner of port `slot`'s queue; what finds no room is dropped. */
void cw_queue_hand(struct cw_worker *w, unsigned slot, struct rte_mbuf **m, uint16_t n);

/* Drop whatever waits. */
void cw_queue_flush(struct cw_worker *w, enum cw_drop why);

#endif
