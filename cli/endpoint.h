/* endpoint.h - a software UB endpoint on a real interface: what perf and copy have in common. */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "causeway/uboe.h"
#include "cli/epnet.h"
#include "cli/epopts.h"
#include "cli/rendezvous.h"

struct endpoint {
	struct ep_opts o;
	struct rdv *rdv;
	struct epnet *net;
	struct cw_uboe_dev *dev;
	struct cw_uboe_tpg *tpg;
	struct cw_uboe_tp *tp[EP_CHANNELS_MAX];
	struct cw_uboe_jetty *jetty;
	struct cw_uboe_tjetty *to;
	char ifname[256]; /* or the device of DPDK */
	uint8_t src[16], dst[16];
	struct epnet_route route;
	uint64_t ask_hop_at, busy_at;
	bool no_room;      /* the device took no more */
	double cpu_before; /* seconds of this process */
	char err[RDV_ERROR_MAX];
};

/* Everything below: 0, or -1 with e->err. Client: connect, then make the local half. Server:
 * take a connection from `listener`. `service` names the command. */
int ep_begin(struct endpoint *e, const struct ep_opts *o, int listener, const char *service);
void ep_end(struct endpoint *e);

/* Say why a server failed. A signal while it waits is no failure where it would `keep` serving. */
void ep_server_failed(const struct endpoint *e, const char *command, bool keep);

/* The four messages of the set-up; `extra` (taken over, may be NULL) is the command's own part and
 * comes back as member "test" of what the other side sent. */
struct ep_depth {
	unsigned send, recv;
};
int ep_offer(struct endpoint *e, json_t *extra);                             /* client: 1 */
int ep_await_offer(struct endpoint *e, struct ep_depth depth, json_t **msg); /* server: 1 */
int ep_answer(struct endpoint *e, json_t *extra);                            /* server: 2 */
/* client: takes 2, sends 3, takes 4 */
int ep_await_answer(struct endpoint *e, struct ep_depth depth, json_t **msg);
int ep_await_connect(struct endpoint *e); /* server: takes 3, sends 4 */

/* Take what came; how many packets. */
unsigned ep_take(struct endpoint *e);
/* Send what there is; without it, and with nothing taken before, sleep until something happens or
 * wait_ns have passed. 1: the peer has something to say on the rendezvous. */
int ep_send(struct endpoint *e, unsigned taken, uint64_t wait_ns);
/* Both, one after the other. */
int ep_step(struct endpoint *e, uint64_t wait_ns);

/* Go on until the peer's next message, answering packets meanwhile. */
int ep_await(struct endpoint *e, json_t **msg, uint64_t timeout_ns);

/* Counters that are not zero, the channels' state, and CPU time since ep_begin(). */
json_t *ep_report(struct endpoint *e);

#endif
