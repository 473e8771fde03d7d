/* spf.h - shortest paths over links that both of their ends announce, as link state protocols ask
 * for. Spec: RFC 2328 16.1, ISO 10589 C.2. Inside the library only. */
#ifndef LIB_BASE_SPF_H
#define LIB_BASE_SPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAR UINT32_MAX /* a distance: it can't be reached */

struct spf_node {
	size_t first, n; /* what announces it: places in the caller's database */
	size_t link;     /* the first one in the list of links */
	bool stub;       /* a path may end here, but not go on */
	bool done;
	uint32_t dist;
};

struct spf_link {
	uint32_t from, to, metric; /* numbers of nodes */
};

struct spf {
	struct spf_node *node;
	size_t nodes;
	struct spf_link *link; /* in the order of nodes */
	size_t links, room;
	bool failed; /* no memory: a link is missing */
};

/* False: no memory for that many nodes. */
bool spf_init(struct spf *g, size_t nodes);
void spf_free(struct spf *g);

void spf_add_node(struct spf *g, size_t first, size_t n, bool stub);

/* Every node begins its links, in order, before they are added. `to` may be no node (`nodes`). */
void spf_begin_links(struct spf *g, size_t from);
void spf_add_link(struct spf *g, size_t from, size_t to, uint32_t metric);

/* The distance of every node from `root`, which may be none (`nodes`): all are FAR then. */
void spf_find(struct spf *g, size_t root);

/* When to compute: news waits a little for more, and computations keep their distance. */
struct spf_timer {
	uint64_t due_ms;  /* UINT64_MAX: there is no need */
	uint64_t done_ms; /* 0: never */
};
void spf_timer_changed(struct spf_timer *t, uint64_t now);
void spf_timer_done(struct spf_timer *t, uint64_t now);

#endif
