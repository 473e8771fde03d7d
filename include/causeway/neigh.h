/* neigh.h - next-hop resolution: the state machine behind ARP (RFC 826) and neighbour discovery
 * (RFC 4861), without sockets, clocks or packet formats.
 *
 * An entry is a next hop on one port and VLAN. Packets that need it wait at the caller's. Time is
 * an argument, in milliseconds. What the machine wants done is pulled by the caller with
 * cw_neigh_next(), until it returns false.
 */
#ifndef CAUSEWAY_NEIGH_H
#define CAUSEWAY_NEIGH_H

#include <stdbool.h>
#include <stdint.h>
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_NEIGH_ANY_VLAN 0xffff

/* Compared as 24 octets: unused octets must be zero. */
struct cw_neigh_key {
	uint16_t port, vid; /* vid 0: untagged; CW_NEIGH_ANY_VLAN only for static entries */
	uint8_t version;    /* 4 or 6 */
	uint8_t zero[3];
	uint8_t addr[16]; /* IPv4: the first four octets */
};

enum cw_neigh_state {
	CW_NEIGH_INCOMPLETE, /* asked for, not known yet */
	CW_NEIGH_REACHABLE,
	CW_NEIGH_PROBE,  /* being asked again; its address is used meanwhile */
	CW_NEIGH_FAILED, /* did not answer; packets to it are refused for a while */
	CW_NEIGH_STATIC
};

struct cw_neigh_limits {
	uint32_t entries;      /* 4096 */
	uint32_t retry_ms;     /* between requests: 1000 */
	uint32_t retries;      /* requests before it has failed: 3 */
	uint32_t reachable_ms; /* from an answer to asking again, or to forgetting when unused:
				  30000 */
	uint32_t failed_ms;    /* how long it stays failed: 3000 */
};
#define CW_NEIGH_LIMITS                    \
	{                                  \
		4096, 1000, 3, 30000, 3000 \
	}

struct cw_neigh_info {
	struct cw_neigh_key key;
	enum cw_neigh_state state;
	uint8_t mac[6];
	uint64_t since_ms;
};

enum cw_neigh_what {
	CW_NEIGH_REQUEST, /* send a request: to `mac` if `unicast`, else to everybody */
	CW_NEIGH_CHANGED  /* the set of usable (key, mac), or of failed keys, changed */
};

struct cw_neigh_event {
	enum cw_neigh_what what;
	struct cw_neigh_key key;
	bool unicast;
	uint8_t mac[6];
};

struct cw_neigh;

/* An empty table with room for all that the limits allow; they are copied. CW_E_NOMEM. */
int cw_neigh_new(struct cw_neigh **out, const struct cw_neigh_limits *l);
void cw_neigh_free(struct cw_neigh *n); /* NULL is fine */

/* Packets need `key`: it is asked for unless it is known, being asked, or has failed lately.
 * CW_E_SPACE: the table is full. */
CW_MUST_USE int cw_neigh_want(struct cw_neigh *n, const struct cw_neigh_key *key, uint64_t now);

/* An answer, or an announcement, of `mac` for `key`. An unknown key is not learnt. Returns whether
 * it was known. */
bool cw_neigh_learn(struct cw_neigh *n, const struct cw_neigh_key *key, const uint8_t mac[6],
		    uint64_t now);

/* Set or replace a static entry; CW_E_SPACE when the table is full. */
CW_MUST_USE int cw_neigh_set_static(struct cw_neigh *n, const struct cw_neigh_key *key,
				    const uint8_t mac[6], uint64_t now);
/* Drop every static entry, before a new configuration sets its own. */
void cw_neigh_clear_static(struct cw_neigh *n);

/* The entry's address was used since the last question: it is worth being asked again. */
void cw_neigh_used(struct cw_neigh *n, const struct cw_neigh_key *key);

/* Forget entries of a port: it was closed. */
void cw_neigh_forget_port(struct cw_neigh *n, uint16_t port);

/* Run the timers up to `now`. Returns when they must run next, UINT64_MAX for never. */
uint64_t cw_neigh_tick(struct cw_neigh *n, uint64_t now);

/* Next thing to do; false when there is nothing left. */
bool cw_neigh_next(struct cw_neigh *n, struct cw_neigh_event *ev);

/* Entries one by one: *at starts at 0; false behind the last one. */
bool cw_neigh_walk(const struct cw_neigh *n, uint32_t *at, struct cw_neigh_info *info);

/* May packets be sent to an entry of this state? */
static inline bool cw_neigh_usable(enum cw_neigh_state s)
{
	return s == CW_NEIGH_REACHABLE || s == CW_NEIGH_PROBE || s == CW_NEIGH_STATIC;
}

/* In lower case, as `causeway show neighbours` has it. */
const char *cw_neigh_state_name(enum cw_neigh_state s);

#ifdef __cplusplus
}
#endif
#endif
