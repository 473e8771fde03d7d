/* int.h - what the sources share. */
#ifndef DAEMON_PEERS_INT_H
#define DAEMON_PEERS_INT_H

#include "daemon/peers/peers.h"

enum { CW_PEER_NAME = 128 };

/* What was seen of a session, and became of it. X(member, text) */
#define CW_PEER_COUNTERS(X)  \
	X(updates)           \
	X(accepted)          \
	X(withdrawn)         \
	X(no_pnc)            \
	X(next_hop_mismatch) \
	X(malformed)         \
	X(attribute_discard) \
	X(treat_as_withdraw) \
	X(unreadable)        \
	X(unusable)          \
	X(table_full)

struct cw_teller;

struct cw_peer_session {
	enum cw_proxy_source source;
	uint32_t id; /* in the table */
	char name[CW_PEER_NAME];
	bool up;
	uint64_t since_ms;
	const struct cw_teller *teller; /* NULL: none */
	uint64_t round;                 /* in which the teller told of it last */
	struct {
#define CW_X(name) uint64_t name;
		CW_PEER_COUNTERS(CW_X)
#undef CW_X
	} n;
};

struct cw_peers {
	const struct cw_pnc_config *conf;
	struct cw_proxies *table;
	int epoll;
	struct cw_peer_session **sessions;
	unsigned nsessions;
	uint64_t generation; /* of the configuration: what is announced may have changed */
};

extern struct cw_peers cw_peers;

/* The session of that name, made if it isn't there; NULL: out of memory. */
struct cw_peer_session *cw_peer_session(enum cw_proxy_source source, const char *name,
					uint64_t now);

/* It is up, or lost: its entries then have the hold time left. */
void cw_peer_state(struct cw_peer_session *s, bool up, uint64_t now);

/* Who tells of originators in a protocol's database: each is a session, and all of them are told
 * again whenever something has changed. With `all`, what is not told again goes at once, and an
 * originator that is not told of is no longer up; without, what was known before stays. */
struct cw_teller {
	enum cw_proxy_source source;
	uint64_t round;
};
void cw_teller_begin(struct cw_teller *t, bool all, uint64_t now);
void cw_teller_tell(struct cw_teller *t, const char *originator, const struct cw_prefix *prefix,
		    const struct cw_addr *proxy, uint64_t now);
void cw_teller_end(struct cw_teller *t, bool all, uint64_t now);

/* Its sessions are lost: their entries have the hold time left. */
void cw_teller_lose(const struct cw_teller *t, uint64_t now);

/* The key in the first line of a file: its length, 0 (and a warning from `who`) when there is none
 * of 1 to `max` octets. */
size_t cw_peer_key(const char *who, const char *file, uint8_t *key, size_t max);

/* Set an entry, or count why not. */
void cw_peer_set(struct cw_peer_session *s, const struct cw_prefix *p, const struct cw_addr *proxy,
		 uint64_t now);
void cw_peer_withdraw(struct cw_peer_session *s, const struct cw_prefix *p);

/* The body of an UPDATE that a session brought: its routes come and go, its faults are counted. */
void cw_bgp_update(struct cw_peer_session *s, const uint8_t *body, size_t len, uint64_t now);

/* Sources. `run` returns when it is due next. */
void cw_static_apply(uint64_t now);
uint64_t cw_file_run(uint64_t now);
void cw_file_forget(void);
uint64_t cw_bgp_run(uint64_t now);
void cw_bgp_forget(void);
uint64_t cw_bmp_run(uint64_t now);
void cw_bmp_forget(void); /* stop, and forget the peers */
uint64_t cw_ospf_run(uint64_t now);
void cw_ospf_stop(uint64_t now);
uint64_t cw_isis_run(uint64_t now);
void cw_isis_end(void);
uint64_t cw_ospf3_run(uint64_t now);
void cw_ospf3_end(void);

#endif
