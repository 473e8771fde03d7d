/* proxies.h - which proxy stands in front of which traffic senders: prefix -> proxy.
 *
 * Fast CNP proxy 5: a congested node looks the source address of the packet up, and finds the proxy
 * to tell. Entries come from several sources (static, a file, routing protocols) and from several
 * sessions of each; of those for one prefix the preferred one is used. Time is an argument, in
 * milliseconds.
 */
#ifndef CAUSEWAY_PROXIES_H
#define CAUSEWAY_PROXIES_H

#include "causeway/pnc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name): in the default order of preference. */
#define CW_PROXY_SOURCES(X) \
	X(STATIC, "static") \
	X(FILE, "file")     \
	X(ISIS, "isis")     \
	X(OSPF2, "ospfv2")  \
	X(OSPF3, "ospfv3")  \
	X(BGP, "bgp")       \
	X(BMP, "bmp")

enum cw_proxy_source {
#define CW_X(id, name) CW_PROXY_##id,
	CW_PROXY_SOURCES(CW_X)
#undef CW_X
		CW_PROXY_NSOURCES
};

/* As the configuration has it; "unknown" for a number that is none. */
const char *cw_proxy_source_name(enum cw_proxy_source s);

/* CW_PROXY_NSOURCES for an unknown name. */
enum cw_proxy_source cw_proxy_source_find(const char *name);

struct cw_proxies_opts {
	uint32_t entries;                /* most entries: 1048576 */
	uint8_t rank[CW_PROXY_NSOURCES]; /* of each source; the lowest is used */
};
#define CW_PROXIES_OPTS                     \
	{                                   \
		1048576,                    \
		{                           \
			0, 1, 2, 3, 4, 5, 6 \
		}                           \
	}

struct cw_proxy {
	struct cw_prefix prefix;
	struct cw_addr proxy;
	enum cw_proxy_source source;
	uint32_t session;  /* whom of that source it came from, the caller's number */
	uint64_t since_ms; /* in the table with this proxy */
	bool used;         /* preferred over others for its prefix */
	bool stale;        /* its session is lost; it goes at expires_ms */
	uint64_t expires_ms;
};

struct cw_proxies;

/* An empty table; the options are copied. CW_E_NOMEM. */
int cw_proxies_new(struct cw_proxies **out, const struct cw_proxies_opts *o);
void cw_proxies_free(struct cw_proxies *t); /* NULL is fine */

/* Set the proxy of a prefix as one session has it; it is no longer stale. CW_E_SPACE when the table
 * is full, CW_E_NOMEM; CW_E_ARG for an unusable proxy address (none, unspecified, multicast,
 * loopback). */
CW_MUST_USE int cw_proxies_set(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
			       const struct cw_prefix *prefix, const struct cw_addr *proxy,
			       uint64_t now);

/* Take it back; false if it was not there. */
bool cw_proxies_withdraw(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
			 const struct cw_prefix *prefix);

/* The session is lost: its entries go after `hold_ms`, 0: at once. Entries that are stale already
 * keep their time. Returns how many there were. */
uint32_t cw_proxies_lost(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
			 uint64_t now, uint64_t hold_ms);

/* The session is back and has told all: what is still stale goes. Returns how many went. */
uint32_t cw_proxies_synced(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session);

/* Remove what has expired by `now`. Returns when that is next, UINT64_MAX for never. */
uint64_t cw_proxies_tick(struct cw_proxies *t, uint64_t now);

/* Change the order of preference. */
void cw_proxies_rank(struct cw_proxies *t, const uint8_t rank[CW_PROXY_NSOURCES]);

/* The proxy for a traffic sender: longest prefix, preferred source. */
bool cw_proxies_lookup(const struct cw_proxies *t, const struct cw_addr *sender,
		       struct cw_proxy *out);

/* Entries, stale ones and those that others are preferred to included. */
uint32_t cw_proxies_count(const struct cw_proxies *t);

/* Grows whenever a lookup might find something else than before. */
uint64_t cw_proxies_generation(const struct cw_proxies *t);

/* Every entry: `fn` may not change the table; anything but 0 ends the walk and is returned. */
typedef int cw_proxies_fn(void *arg, const struct cw_proxy *p);
int cw_proxies_walk(const struct cw_proxies *t, cw_proxies_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
