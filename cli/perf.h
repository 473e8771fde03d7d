/* perf.h - causeway perf: shared by its files. */
#ifndef CLI_PERF_H
#define CLI_PERF_H

#include "cli/cmd.h"
#include "cli/clock.h"
#include "cli/endpoint.h"
#include "cli/histogram.h"

#define PERF_SIZE_MAX   (1u << 30)
#define PERF_DEPTH_MAX  4096u
#define PERF_SIZES_MAX  40
#define PERF_MEMORY_MAX (1ull << 31) /* octets for the buffers of --check */

/* What is measured, by its name on the command line. */
struct perf_kind {
	const char *name;
	enum cw_uboe_op op;
	bool receives; /* takes a receive buffer of the other end */
};
const struct perf_kind *perf_kind(const char *name); /* NULL: there is no such */
/* One of the nine atomics by name; CW_UBOE_OPS: there is no such. */
enum cw_uboe_op perf_atomic(const char *name);
bool perf_is_atomic(enum cw_uboe_op op);

struct perf {
	struct ep_opts ep;
	const struct perf_kind *kind; /* NULL: any (server) */
	enum cw_uboe_op op;
	uint32_t sizes[PERF_SIZES_MAX];
	unsigned nsizes, depth;
	uint64_t iterations, duration; /* ns, 0: iterations count */
	bool json, keep, both, check, sized;
	/* What the peer works on, what own messages come from or go to, and receive buffers: in
	 * slots of `slot` octets, one for each message in flight with --check, else one for all. */
	uint8_t *memory, *local, *inbox;
	uint32_t slot, slots, inboxes;
	struct cw_uboe_seg *seg;
	uint32_t own_token;
	/* the peer's segment */
	uint64_t va;
	uint32_t token_id, token_value;
	/* since the last size */
	uint32_t size;
	uint64_t received, bad; /* messages taken in; with other content than they should have */
	uint64_t prefetched;    /* what the device's counter had before */
};

struct perf_result {
	uint32_t size;
	uint64_t done, ns;
	struct histogram latency;
};

/* ---- perf_run.c ----------------------------------------------------------------------------- */

/* Everything below returns 0, or -1 with e->err, unless it says otherwise. */

/* Buffers and the segment for messages of up to `octets`. */
int perf_memory(struct perf *p, struct endpoint *e, uint32_t octets);
void perf_memory_free(struct perf *p);
/* Once there is a jetty: receive buffers, where the peer's messages take them. */
void perf_post_inboxes(struct perf *p, struct endpoint *e);

/* Messages of r->size as p says; with --both this runs at both ends. */
int perf_measure(struct perf *p, struct endpoint *e, struct perf_result *r);

/* Go on, taking in what comes, until the peer says something. 1 with *msg; 0: timeout_ns are over,
 * or somebody interrupts who had not before. */
int perf_wait(struct perf *p, struct endpoint *e, json_t **msg, uint64_t timeout_ns);

/* A size begins: fill what will be read or changed. It has ended: count what was written wrong. */
void perf_prepare(struct perf *p, const struct endpoint *e, uint32_t size);
void perf_verify(struct perf *p, uint32_t used);
/* What n atomics make of the cell, its low 8 octets. */
uint64_t perf_cell_after(enum cw_uboe_op op, uint32_t size, uint64_t n);
uint64_t perf_cell(const struct perf *p);

/* ---- perf_server.c, perf_report.c ----------------------------------------------------------- */

int perf_serve(struct perf *p); /* exit code */

/* One size: there, and with --both back again. */
struct perf_line {
	const struct perf_result *there;
	uint64_t back_done, back_ns;
	uint64_t received, bad;
};
void perf_text_head(const struct perf *p);
void perf_text_line(const struct perf *p, const struct perf_line *l);
json_t *perf_json_line(const struct perf *p, const struct perf_line *l);
void perf_text_end(const char *who, json_t *report);
void perf_print_json(json_t *all); /* takes it over */

extern const struct cmd cmd_perf;

#endif
