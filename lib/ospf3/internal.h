/* internal.h - what the files of the OSPFv3 leaf share. */
#ifndef LIB_OSPF3_INTERNAL_H
#define LIB_OSPF3_INTERNAL_H

#include "causeway/ospf3.h"
#include "lib/base/list.h"
#include "lib/base/spf.h"

#pragma GCC visibility push(hidden)

/* RFC 2328 B. */
enum {
	MAX_AGE_DIFF = 900, /* seconds */
	MIN_ARRIVAL_MS = 1000,
	MIN_INTERVAL_MS = 5000,
	TRANSMIT_DELAY = 1, /* seconds */
};
#define SEQUENCE_FIRST 0x80000001u
#define SEQUENCE_LAST  0x7fffffffu

enum {
	IPV6_HEAD = 40,
	OWN_GAP_MS = 1100, /* between two versions of the same own LSA: MinLSArrival and a bit */
	STOP_MS = 1500,    /* longer than MinLSArrival: a flush that came too soon goes out again */
	STOP_AGAIN_MS = 250,
	KEY = 10, /* of an LSA: router, LS type, link state ID */
};

struct lsa {
	uint8_t key[KEY];
	bool own;
	bool listed; /* to be described to the neighbour */
	bool send;   /* once, for it was asked for */
	bool owed;   /* to be sent until it is acknowledged */
	bool renew;  /* own: from an earlier life */
	bool wanted; /* own: what own.c writes now */
	uint64_t owed_ms, sent_ms;
	uint64_t written_ms; /* own: in this life; 0: not */
	uint64_t stored_ms;  /* when it had the age that is in it */
	uint32_t dist;       /* to the router; FAR: it can't be reached */
	uint8_t *at;
	size_t len;
};

/* Headers of LSAs in a row. */
struct headers {
	uint8_t *at;
	size_t n, room;
};

struct neighbour {
	enum cw_ospf3_state state;
	uint8_t router[4], address[16];
	uint32_t interface;
	uint64_t since_ms, dead_ms;
	uint64_t replay[CW_OSPF3_ACK + 1]; /* RFC 7166 4.1: highest number of each packet type */
	/* Database exchange: */
	bool master; /* we are */
	bool more;   /* our last description was not the last one */
	uint32_t sequence;
	uint32_t options;
	uint8_t last[8]; /* the neighbour's: MTU, bits, sequence, to know it again */
	bool has_last;
	uint8_t dd[CW_OSPF3_MTU_MAX]; /* ours */
	size_t dd_len;
	bool dd_due;
	uint64_t dd_ms;
	/* Link state requests: */
	struct headers request; /* what the neighbour has newer */
	size_t asked;           /* of these, in front */
	uint64_t request_ms;
};

/* What is announced, with the link state ID of its E-LSA. */
struct own_prefix {
	struct cw_ospf3_prefix p;
	uint32_t id;
};

/* A prefix of another area, as its E-Inter-Area-Prefix-LSA has it. */
struct summary {
	struct cw_prefix prefix;
	uint32_t id;
	uint8_t *tlv;
	size_t len;
};

struct cw_ospf3 {
	struct cw_ospf3_config c;
	struct cw_ospf3_counters n;
	struct neighbour nbr;
	struct lsa **lsa; /* by key */
	size_t lsas, room;
	struct headers ack;
	uint64_t hello_ms;
	uint64_t own_ms; /* when own LSAs are to be looked at; UINT64_MAX: not */
	struct spf_timer compute;
	uint64_t crypto; /* the next cryptographic sequence number */
	bool stopping, said_down;
	uint64_t give_up_ms;
	uint64_t generation;
	uint32_t reachable, untranslated;
	struct own_prefix *prefix;
	size_t nprefix;
	struct summary *summary; /* by prefix */
	size_t nsummary;
	uint32_t next_id;
	struct list proxies; /* struct cw_ospf3_proxy */
};

/* auth.c: the trailer. */
size_t ospf3_trailer_size(const struct cw_ospf3 *s); /* 0 without authentication */
bool ospf3_trailer_put(struct cw_ospf3 *s, uint8_t *packet, size_t len);
int ospf3_trailer_check(struct cw_ospf3 *s, const uint8_t *src, const struct cw_ospf3_packet *p);

/* ospf3.c */
uint64_t ospf3_sooner(uint64_t a, uint64_t b);
uint32_t ospf3_options(const struct cw_ospf3 *s, bool packet);
size_t ospf3_packet_room(const struct cw_ospf3 *s);   /* octets of a packet, trailer not included */
void ospf3_changed(struct cw_ospf3 *s, uint64_t now); /* what can be reached may have changed */
bool ospf3_headers_add(struct headers *h, const uint8_t *lsa); /* false: no memory */

/* neighbour.c */
int ospf3_hello_input(struct cw_ospf3 *s, const uint8_t *src, const struct cw_ospf3_packet *p,
		      uint64_t now);
size_t ospf3_hello_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now);
void ospf3_neighbour_tick(struct cw_ospf3 *s, uint64_t now);
void ospf3_neighbour_down(struct cw_ospf3 *s, uint64_t now);
void ospf3_state(struct cw_ospf3 *s, enum cw_ospf3_state state, uint64_t now);

/* exchange.c: all pulls write at most ospf3_packet_room() octets and leave the header to the
 * caller, but for its type. */
void ospf3_exchange_begin(struct cw_ospf3 *s, uint64_t now);
int ospf3_dd_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now);
int ospf3_request_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now);
bool ospf3_unrequest(struct cw_ospf3 *s, const uint8_t *lsa, uint64_t now);
bool ospf3_requested(const struct cw_ospf3 *s, const uint8_t *lsa);
void ospf3_exchange_advance(struct cw_ospf3 *s, uint64_t now);
size_t ospf3_dd_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now);
size_t ospf3_request_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now);
uint64_t ospf3_exchange_due(const struct cw_ospf3 *s);

/* flood.c */
enum order { OLDER, SAME, NEWER };
enum order ospf3_compare(const uint8_t *header, const struct lsa *p, uint64_t now);
bool ospf3_type_ok(const struct cw_ospf3 *s, const uint8_t *header);
int ospf3_update_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now);
int ospf3_ack_input(struct cw_ospf3 *s, const struct cw_ospf3_packet *p, uint64_t now);
size_t ospf3_ack_pull(struct cw_ospf3 *s, uint8_t *packet);
size_t ospf3_update_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now);
uint64_t ospf3_update_due(const struct cw_ospf3 *s);

/* lsdb.c */
void ospf3_key(uint8_t key[KEY], const uint8_t *lsa);
struct lsa *ospf3_lsa_find(const struct cw_ospf3 *s, const uint8_t key[KEY]);
struct lsa *ospf3_lsa_store(struct cw_ospf3 *s, const uint8_t *lsa, size_t len, uint64_t now);
uint16_t ospf3_lsa_age(const struct lsa *p, uint64_t now); /* seconds */
uint16_t ospf3_lsa_type(const struct lsa *p);
void ospf3_lsa_owe(struct lsa *p, uint64_t now);
void ospf3_lsdb_forget(struct cw_ospf3 *s); /* all of others */
uint64_t ospf3_lsdb_tick(struct cw_ospf3 *s, uint64_t now);
void ospf3_lsdb_free(struct cw_ospf3 *s);

/* own.c */
void ospf3_own_changed(struct cw_ospf3 *s, uint64_t now);
void ospf3_own_tick(struct cw_ospf3 *s, uint64_t now);

/* spf.c: fill in the distances of all LSAs; false: no memory. */
bool ospf3_spf(struct cw_ospf3 *s, uint64_t now);

/* learn.c: what can be reached, and the proxies among it. */
void ospf3_compute(struct cw_ospf3 *s, uint64_t now);

/* A flagged prefix of an LSA, and the proxy that goes with it. */
typedef void ospf3_flagged_fn(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
			      const struct cw_addr *proxy);
void ospf3_each_flagged(const struct cw_ospf3 *s, uint64_t now, ospf3_flagged_fn *fn, void *arg);

/* border.c */
void ospf3_summaries_free(struct summary *list, size_t n);

#pragma GCC visibility pop

#endif
