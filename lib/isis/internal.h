/* internal.h - what the files of the IS-IS leaf share. */
#ifndef LIB_ISIS_INTERNAL_H
#define LIB_ISIS_INTERNAL_H

#include "causeway/isis.h"
#include "lib/base/list.h"
#include "lib/base/spf.h"

#pragma GCC visibility push(hidden)

enum {
	MAX_FRAGMENTS = 256,
	MT_OVERLOAD = 0x8000, /* with a topology of TLV 229: RFC 5120 7.2 */
	ZERO_AGE_MS = 60000,  /* ISO 10589 7.3.16.4: a purged LSP's header is kept so long */
	RETRANSMIT_MS = 5000, /* minimumLSPTransmissionInterval */
	SYNC_MS = 10000,      /* a neighbour that has told all by then has told all */
	GENERATE_MS = 1000,   /* between two versions of the same own LSP */
	STOP_MS = 400,
	STOP_AGAIN_MS = 100, /* stopping: purges are repeated so often */
};

struct lsp {
	uint8_t id[CW_ISIS_LSP_ID];
	uint32_t sequence; /* 0: the neighbour has it, and was asked for it */
	uint16_t checksum;
	bool own, purged;
	bool srm, ssn;       /* to be sent, to be acknowledged (ISO 10589 7.3.15) */
	bool renew;          /* own: to be written anew whether it has changed or not */
	uint64_t srm_ms;     /* when it is to be sent */
	uint64_t expires_ms; /* purged: when it is forgotten */
	uint64_t refresh_ms; /* own */
	bool resting;        /* own: ran out of sequence numbers, silent until it expires */
	bool mentioned;      /* by the CSNP at hand */
	uint32_t dist[2];    /* to the system, in topologies 0 and 2; FAR: it can't be reached */
	uint8_t *pdu;
	size_t len;
};

/* Prefix entries for an own LSP, each with the type of its TLV and its length in front. */
struct entries {
	uint8_t *at;
	size_t len, room;
};

/* One level: the LSPs, by ID. */
struct level {
	uint8_t number; /* 1, 2 */
	bool used;
	struct lsp **lsp;
	size_t n, room;
	bool adjacent;
	bool csnp_due, csnp_seen;
	uint8_t csnp_next[CW_ISIS_LSP_ID];
	uint64_t own_ms;       /* when own LSPs are to be written; UINT64_MAX: not */
	uint64_t own_last_ms;  /* when they were */
	struct entries leaked; /* prefixes of the other level */
	uint32_t reachable;
};

struct adjacency {
	enum cw_isis_state state;
	uint8_t levels;
	uint8_t system[CW_ISIS_SYSTEM];
	uint32_t circuit; /* the neighbour's */
	bool has_circuit;
	bool topology6;
	uint64_t since_ms, hold_ms;
};

struct cw_isis {
	struct cw_isis_config c;
	struct cw_isis_counters n;
	struct adjacency adj;
	struct level level[2];
	uint64_t hello_ms;
	struct spf_timer compute;
	uint32_t random;
	bool stopping, said_down;
	uint64_t give_up_ms; /* stopping: when to end whatever is not acknowledged */
	uint64_t generation;
	struct cw_addr router[2];
	struct cw_isis_prefix *prefix;
	size_t nprefix;
	struct list proxies; /* struct cw_isis_proxy */
};

/* auth.c: the authentication TLV. */
size_t isis_auth_size(const struct cw_isis_auth *a); /* of the TLV, 0 without */
void isis_auth_put(struct cw_wr *w, const struct cw_isis_auth *a);
void isis_auth_sign(const struct cw_isis_auth *a, uint8_t *pdu, size_t len);
bool isis_auth_ok(const struct cw_isis_auth *a, const struct cw_isis_pdu *pdu);

/* hello.c */
int isis_hello_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now);
size_t isis_hello_pull(struct cw_isis *s, uint8_t *pdu, size_t size, uint64_t now);
void isis_adjacency_tick(struct cw_isis *s, uint64_t now);
void isis_adjacency_down(struct cw_isis *s, uint64_t now);

/* isis.c */
uint32_t isis_jitter(struct cw_isis *s, uint32_t ms); /* 75 to 100 percent of it */
uint64_t isis_sooner(uint64_t a, uint64_t b);
bool isis_is_own(const struct cw_isis *s, const uint8_t *id);
void isis_changed(struct cw_isis *s, uint64_t now); /* what can be reached may have changed */

/* lsdb.c */
struct lsp *isis_lsp_find(const struct level *l, const uint8_t *id);
struct lsp *isis_lsp_add(struct cw_isis *s, struct level *l, const uint8_t *id); /* NULL: full */
void isis_lsp_remove(struct level *l, struct lsp *p);
void isis_lsp_send(struct lsp *p, uint64_t at);
bool isis_lsp_store(struct lsp *p, const uint8_t *pdu, size_t len, uint64_t now);
uint16_t isis_lsp_lifetime(const struct lsp *p, uint64_t now); /* seconds, 0 when purged */
uint64_t isis_lsdb_tick(struct cw_isis *s, struct level *l, uint64_t now);
void isis_lsdb_free(struct level *l);

/* sync.c */
int isis_lsp_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now);
int isis_snp_input(struct cw_isis *s, const struct cw_isis_pdu *pdu, uint64_t now);
size_t isis_sync_pull(struct cw_isis *s, struct level *l, uint8_t *pdu, size_t size, uint64_t now);
void isis_sync_begin(struct level *l, uint64_t now);
void isis_sync_end(struct level *l);
bool isis_synchronised(const struct level *l);

/* own.c */
void isis_own_changed(struct cw_isis *s, struct level *l, uint64_t now);
void isis_own_heard(struct cw_isis *s, struct level *l, const uint8_t *id, uint32_t sequence,
		    uint64_t now);
uint64_t isis_own_tick(struct cw_isis *s, struct level *l, uint64_t now);

/* Append an entry; false: no memory. */
bool isis_entry_add(struct entries *e, uint8_t type, const uint8_t *entry, size_t len);

/* spf.c: fill in lsp.dist of a level; false: no memory. */
bool isis_spf(struct level *l, const uint8_t *root);

/* learn.c: what can be reached, the proxies among it, what goes to the other level. */
void isis_compute(struct cw_isis *s, uint64_t now);

#pragma GCC visibility pop

#endif
