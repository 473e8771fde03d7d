/* leaf.h - what the leaves of IS-IS and OSPFv3 have in common: a machine of the library on one
 * interface, opened when it can be, closed when the interface goes, told what is announced, asked
 * what it has learnt. All calls belong to the control thread. */
#ifndef DAEMON_PEERS_LEAF_H
#define DAEMON_PEERS_LEAF_H

#include "daemon/peers/int.h"

/* How a machine is. */
struct cw_leaf_view {
	bool up;       /* the adjacency */
	bool complete; /* the neighbour has told all: what is not there is gone */
	bool stopped;
	uint64_t generation; /* grows with what it has learnt */
	char neighbour[32];
};

struct cw_leaf;

struct cw_leaf_ops {
	const char *name, *up; /* in the log: "isis", "up" */
	enum cw_proxy_source source;
	uint32_t stop_ms; /* longer than the machine itself takes to stop */

	/* Open link and machine as the configuration has them now: l->interface, l->fd. NULL, or
	 * what was wrong; `close` comes in any case. */
	const char *(*open)(struct cw_leaf *l, uint64_t now);
	void (*close)(struct cw_leaf *l);
	/* Look at the interface. NULL, or why it can't be used any longer. */
	const char *(*check)(struct cw_leaf *l, uint64_t now);
	bool (*announce)(struct cw_leaf *l, uint64_t now); /* false: again later */
	void (*input)(struct cw_leaf *l, uint64_t now);
	void (*output)(struct cw_leaf *l, uint64_t now);
	uint64_t (*tick)(struct cw_leaf *l, uint64_t now);
	void (*stop)(struct cw_leaf *l, uint64_t now);
	void (*view)(const struct cw_leaf *l, struct cw_leaf_view *v);
	void (*tell)(struct cw_leaf *l, uint64_t now); /* cw_teller_tell() for all it has learnt */
};

struct cw_leaf {
	const struct cw_leaf_ops *ops;
	struct cw_teller teller;
	char interface[16];
	int fd;
	bool open, up, complete;
	bool complained;          /* about what keeps it from opening */
	uint64_t config;          /* generation of the configuration that was announced */
	uint64_t learnt;          /* generation of what the table has */
	uint64_t due_ms, look_ms; /* when to try to open, when to look at the interface */
};

/* Do what is due; `changed`: close first, the settings are others. Returns when to run next. */
uint64_t cw_leaf_run(struct cw_leaf *l, bool enabled, bool changed, uint64_t now);

/* Take back what was announced, wait a moment until the neighbour has it, and close. */
void cw_leaf_stop(struct cw_leaf *l);

#endif
