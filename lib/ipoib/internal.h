/* internal.h - what the files of the link machine share. */
#ifndef LIB_IPOIB_INTERNAL_H
#define LIB_IPOIB_INTERNAL_H

#include "causeway/ipoib.h"
#include "causeway/wire/sa.h"

#pragma GCC visibility push(hidden)

/* ---- Tables: entries that begin with struct item, found by a key of 17 octets -------------- */

enum { KEY_LEN = 17, NONE = 0 };

struct item {
	uint8_t key[KEY_LEN];
	bool used;
	uint32_t next; /* index + 1 in the bucket's chain */
};

struct table {
	uint8_t *mem;
	uint32_t *buckets;
	uint32_t size, stride, count, mask;
};

bool table_init(struct table *t, uint32_t size, uint32_t stride);
void table_free(struct table *t);
void *table_find(const struct table *t, const uint8_t key[KEY_LEN]);
void *table_add(struct table *t, const uint8_t key[KEY_LEN]); /* zeroed; NULL when full */
void table_remove(struct table *t, struct item *it);
void *table_at(const struct table *t, uint32_t i); /* NULL for an unused place */

/* ---- Packets that wait -------------------------------------------------------------------- */

struct held {
	struct held *next;
	uint32_t len;
	uint8_t data[]; /* from the encapsulation header on */
};

struct queue {
	struct held *head, **tail;
	uint32_t n;
};

/* A request to the SA: no answer in time, and it is sent again, later each time. */
struct request {
	uint32_t tid; /* 0: none is out */
	uint32_t tries;
	uint64_t due; /* 0: nothing is planned */
};

enum group_state { GROUP_NEW, GROUP_JOINED, GROUP_ABSENT };

struct group {
	struct item it; /* key: MGID, 0 */
	enum group_state state;
	uint8_t want, have; /* JoinState bits */
	bool attached, is_broadcast, routable;
	bool v6;
	uint32_t hosts;
	uint16_t mlid;
	uint8_t sl, tclass, hop_limit;
	uint32_t flow_label;
	struct request req;
	uint64_t until; /* ABSENT: when to believe otherwise; JOINED: when to renew */
	struct queue held;
};

enum neigh_state { NEIGH_INCOMPLETE, NEIGH_REACHABLE, NEIGH_PROBE, NEIGH_FAILED };

struct neigh {
	struct item it; /* key: address, 4 or 6 */
	enum neigh_state state;
	bool known;
	uint8_t lla[CW_IPOIB_LLA]; /* flags octet 0 */
	uint32_t tries;
	uint64_t due, used;
	struct queue held;
};

struct path {
	struct item it; /* key: GID, 0 */
	bool valid, failed;
	uint16_t dlid;
	uint8_t sl, tclass, hop_limit;
	uint32_t flow_label;
	struct request req;
	uint64_t until;
	struct waiting *head, **tail; /* datagrams that know their queue pair */
	uint32_t n;
};

struct waiting {
	struct waiting *next;
	uint32_t qpn, len;
	uint8_t data[];
};

struct out {
	struct out *next;
	struct cw_ipoib_out o;
	uint8_t data[];
};

enum { OWN_MAX = 8, TRAPS = 2, LEAVES = 32, OUT_MAX = 4096 };

/* A leave on its way; none when req.due is 0. */
struct leave {
	uint8_t mgid[16], bits;
	struct request req;
};

struct own {
	bool v6;
	enum cw_ipoib_own_state state;
	uint8_t addr[16];
	uint32_t probes; /* sent */
	uint64_t due, patience, defended;
};

struct cw_ipoib {
	struct cw_ipoib_config c;
	struct cw_ipoib_counters n;
	struct table groups, neighbours, paths;
	struct own own[OWN_MAX];
	unsigned nown;
	uint32_t tid;
	bool up, started;
	uint8_t broadcast[16];
	uint32_t qkey, mtu, flow_label;
	uint8_t mtu_code, rate, life, sl, tclass, hop_limit;
	struct request trap_req[TRAPS], table_req;
	bool subscribed[TRAPS], table_done;
	bool full_told; /* that the table of groups is full */
	struct leave leave[LEAVES];
	uint8_t *rmpp; /* a table that is being received */
	uint32_t rmpp_len, rmpp_next;
	struct out *head, **tail, *last;
	uint32_t nout;
};

/* frame.c: BTH and DETH of a datagram; and back, from `bth` and `n` octets: BTH, DETH, data, pad.
 */
void put_transport(uint8_t *bth, const struct cw_ipoib_tx *tx, uint32_t psn, size_t len);
int get_transport(const uint8_t *bth, size_t n, struct cw_ipoib_tx *rx, const uint8_t **data,
		  size_t *data_len);

/* link.c */
uint8_t *emit(struct cw_ipoib *l, const struct cw_ipoib_out *o, const uint8_t *data, size_t len);
void emit_datagram(struct cw_ipoib *l, struct cw_ipoib_out *o, const uint8_t *data, size_t len);
void emit_event(struct cw_ipoib *l, enum cw_ipoib_what what, const uint8_t mgid[16], uint16_t mlid);
void log_failure(struct cw_ipoib *l, const uint8_t mgid[16], const char *reason, uint16_t status);
void queue_init(struct queue *q);
bool queue_put(struct cw_ipoib *l, struct queue *q, const uint8_t *data, size_t len);
struct held *queue_take(struct queue *q);
uint32_t queue_drop(struct queue *q);

/* sa.c */
void request_send(struct cw_ipoib *l, struct request *r, uint64_t now, unsigned method,
		  unsigned attribute, uint64_t mask, const uint8_t *data, size_t len);
bool request_due(const struct request *r, uint64_t now);
void request_done(struct request *r);

/* An answer did not come in time, for the third time in a row: who sends once more tells it (12).
 */
bool request_unheard(const struct request *r);

/* leave.c */
void leave_send(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16], uint8_t bits);
void leave_cancel(struct cw_ipoib *l, const uint8_t mgid[16]); /* it is joined again */
void leave_tick(struct cw_ipoib *l, uint64_t now);
bool leave_answer(struct cw_ipoib *l, uint32_t tid, uint16_t status); /* was it to a leave? */

/* group.c */
struct group *group_get(struct cw_ipoib *l, const uint8_t mgid[16]);
struct group *group_find(const struct cw_ipoib *l, const uint8_t mgid[16]);
void group_want(struct cw_ipoib *l, struct group *g, uint64_t now, uint8_t bits);
void group_tick(struct cw_ipoib *l, struct group *g, uint64_t now);
void group_answer(struct cw_ipoib *l, struct group *g, uint64_t now, uint16_t status,
		  const uint8_t *record);
void group_created(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16]);
void group_deleted(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16]);
void group_leave_all(struct cw_ipoib *l, uint64_t now);
void group_renew_all(struct cw_ipoib *l, uint64_t now);
int group_send(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, const uint8_t *data,
	       size_t len);
void group_mgid(const struct cw_ipoib *l, uint8_t mgid[16], bool v6, const uint8_t *addr);

/* own.c: own addresses. The one to ask from is zeros when none may be used yet. */
bool own_answers(struct cw_ipoib *l, bool v6, const uint8_t *addr);
const uint8_t *own_source(const struct cw_ipoib *l, bool v6);
bool own_waits(const struct cw_ipoib *l, bool v6); /* none is valid yet, one is looked for */
void own_start(struct cw_ipoib *l, uint64_t now);  /* the link came up */
void own_tick(struct cw_ipoib *l, uint64_t now);

/* Another node says that it has an address, or looks whether somebody has. Is it one of ours? */
bool own_claimed(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, bool probe);

/* neigh.c */
void key_of(uint8_t key[KEY_LEN], bool v6, const uint8_t *addr);
int neigh_send(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, const uint8_t *data,
	       size_t len);
void neigh_announce(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr);
void neigh_probe(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr);
void neigh_tick(struct cw_ipoib *l, struct neigh *n, uint64_t now);
int neigh_arp(struct cw_ipoib *l, uint64_t now, const uint8_t *arp, size_t len);
int neigh_nd(struct cw_ipoib *l, uint64_t now, const uint8_t *ip, size_t len, bool *was_nd);

/* path.c */
int path_send(struct cw_ipoib *l, uint64_t now, const uint8_t lla[CW_IPOIB_LLA],
	      const uint8_t *data, size_t len);
void path_tick(struct cw_ipoib *l, struct path *p, uint64_t now);
void path_answer(struct cw_ipoib *l, struct path *p, uint64_t now, uint16_t status,
		 const uint8_t *record);
void path_forget(struct cw_ipoib *l, const uint8_t gid[16]);
void path_free(struct path *p);

#pragma GCC visibility pop

#endif
