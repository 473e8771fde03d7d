/* perf_run.c - causeway perf: messages in flight, and what is in them. */
#include <stdlib.h>
#include <string.h>
#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/perf.h"

#define INBOXES      4096u
#define INBOX_OCTETS (64u << 20) /* of all inboxes with --check */

static const struct perf_kind kinds[] = {
	{"write", CW_UBOE_OP_WRITE, false},
	{"write-imm", CW_UBOE_OP_WRITE_IMM, true},
	{"write-notify", CW_UBOE_OP_WRITE_NOTIFY, false},
	{"read", CW_UBOE_OP_READ, false},
	{"send", CW_UBOE_OP_SEND, true},
	{"send-imm", CW_UBOE_OP_SEND_IMM, true},
	{"atomic", CW_UBOE_OP_FETCH_ADD, false},
	{"prefetch", CW_UBOE_OP_PREFETCH, false},
};

const struct perf_kind *perf_kind(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(name, kinds[i].name) == 0)
			return &kinds[i];
	}
	return NULL;
}

bool perf_is_atomic(enum cw_uboe_op op)
{
	return op >= CW_UBOE_OP_CAS && op <= CW_UBOE_OP_FETCH_XOR;
}

enum cw_uboe_op perf_atomic(const char *name)
{
	unsigned op;

	for (op = CW_UBOE_OP_CAS; op <= CW_UBOE_OP_FETCH_XOR; op++) {
		if (strcmp(name, cw_uboe_op_name((enum cw_uboe_op)op)) == 0)
			return (enum cw_uboe_op)op;
	}
	return CW_UBOE_OPS;
}

static int fail(struct endpoint *e, const char *what, const char *why)
{
	(void)snprintf(e->err, sizeof(e->err), "%s: %s", what, why);
	return -1;
}

/* ---- Memory --------------------------------------------------------------------------------- */

void perf_memory_free(struct perf *p)
{
	free(p->memory);
	free(p->local);
	free(p->inbox);
	p->memory = p->local = p->inbox = NULL;
}

static int post_inbox(struct perf *p, struct endpoint *e, uint64_t i)
{
	uint64_t at = p->check ? i * p->slot : 0;

	return cw_uboe_post_recv(e->jetty, p->inbox + at, p->slot, i);
}

/* Zeroed, and aligned for atomics of any size. */
static uint8_t *new_slots(const struct perf *p, uint64_t n, uint64_t more)
{
	uint64_t size = n * p->slot + more;
	void *m = NULL;

	return posix_memalign(&m, 4096, size) == 0 ? memset(m, 0, size) : NULL;
}

int perf_memory(struct perf *p, struct endpoint *e, uint32_t octets)
{
	struct cw_uboe_seg_opts o = CW_UBOE_SEG_OPTS;

	perf_memory_free(p);
	p->slot = octets < 64 ? 64 : (octets + 63) & ~63u;
	p->slots = p->check ? p->depth : 1;
	p->inboxes = !p->check ? INBOXES : INBOX_OCTETS / p->slot;
	p->inboxes = p->inboxes < 16 ? 16 : p->inboxes > INBOXES ? INBOXES : p->inboxes;
	/* Behind the slots is the place that write-notify writes to. */
	p->memory = new_slots(p, p->slots, 64);
	p->local = new_slots(p, p->slots, 0);
	p->inbox = new_slots(p, p->check ? p->inboxes : 1, 0);
	if (p->memory == NULL || p->local == NULL || p->inbox == NULL)
		return fail(e, "messages", "not enough memory: smaller --size, or --depth");
	o.access = CW_UBOE_READ | CW_UBOE_WRITE | CW_UBOE_ATOMIC;
	o.token = p->op != CW_UBOE_OP_PREFETCH; /* whose packet has no place for one */
	o.token_value = p->own_token = (uint32_t)(clock_now_ns() * 2654435761u);
	if (cw_uboe_seg_register(e->dev, p->memory, (uint64_t)p->slots * p->slot + 64, &o,
				 &p->seg) != CW_OK)
		return fail(e, "messages", "registering memory failed");
	return 0;
}

void perf_post_inboxes(struct perf *p, struct endpoint *e)
{
	uint64_t i;

	for (i = 0; p->kind->receives && i < p->inboxes; i++)
		(void)post_inbox(p, e, i);
}

/* ---- Content -------------------------------------------------------------------------------- */

/* Octets of a message of that size: no two neighbours are alike, and no two sizes begin alike. */
static uint64_t word(uint32_t size, uint32_t i)
{
	uint64_t x = ((uint64_t)size << 32 | i) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 29;
}

static void fill(uint8_t *p, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size; i += 8) {
		uint64_t w = word(size, i);

		memcpy(p + i, &w, size - i < 8 ? size - i : 8);
	}
}

/* Compare, and wipe: what is there next time has come since. */
static bool holds(uint8_t *p, uint32_t size)
{
	bool same = true;
	uint32_t i;

	for (i = 0; i < size; i += 8) {
		uint64_t w = word(size, i);

		same &= memcmp(p + i, &w, size - i < 8 ? size - i : 8) == 0;
	}
	memset(p, 0, size);
	return same;
}

void perf_prepare(struct perf *p, const struct endpoint *e, uint32_t size)
{
	uint32_t i;

	p->size = size;
	p->received = p->bad = 0;
	p->prefetched = cw_uboe_dev_count(e->dev, CW_UBOE_C_PREFETCH);
	if (perf_is_atomic(p->op))
		memset(p->memory, p->op == CW_UBOE_OP_FETCH_AND ? 0xff : 0, size);
	for (i = 0; p->check && p->op == CW_UBOE_OP_READ && i < p->slots; i++)
		fill(p->memory + (uint64_t)i * p->slot, size);
}

static bool is_write(enum cw_uboe_op op)
{
	return op == CW_UBOE_OP_WRITE || op == CW_UBOE_OP_WRITE_IMM ||
	       op == CW_UBOE_OP_WRITE_NOTIFY;
}

void perf_verify(struct perf *p, uint32_t used)
{
	uint32_t i;

	for (i = 0; p->check && is_write(p->op) && i < used && i < p->slots; i++)
		p->bad += !holds(p->memory + (uint64_t)i * p->slot, p->size);
}

uint64_t perf_cell_after(enum cw_uboe_op op, uint32_t size, uint64_t n)
{
	uint64_t v = n; /* store and load add */

	if (op == CW_UBOE_OP_FETCH_SUB)
		v = 0 - n;
	else if (op == CW_UBOE_OP_FETCH_AND)
		v = n > 0 ? ~1ull : ~0ull;
	else if (op == CW_UBOE_OP_FETCH_XOR)
		v = n & 1;
	else if (op == CW_UBOE_OP_CAS || op == CW_UBOE_OP_SWAP || op == CW_UBOE_OP_FETCH_OR)
		v = n > 0;
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

uint64_t perf_cell(const struct perf *p)
{
	uint64_t v = 0;

	memcpy(&v, p->memory, p->size < 8 ? p->size : 8);
	return v;
}

/* ---- Messages in flight --------------------------------------------------------------------- */

struct flight {
	uint64_t posted_at[PERF_DEPTH_MAX];
	uint16_t idle[PERF_DEPTH_MAX]; /* numbers that are not in flight, the last ones first */
	unsigned nidle;
	uint64_t posted;
};

static void set_atomic(struct cw_uboe_wr *wr)
{
	static const uint64_t zero[8], one[8] = {1};
	static const uint64_t all_but_one[8] = {~1ull, ~0ull, ~0ull, ~0ull,
						~0ull, ~0ull, ~0ull, ~0ull};

	wr->sub = CW_UBOE_SUB_ADD;
	wr->operand1 = wr->op == CW_UBOE_OP_FETCH_AND ? all_but_one : one;
	wr->operand2 = zero; /* CAS compares with it */
	wr->local = NULL;
}

static struct cw_uboe_wr request(const struct perf *p, uint32_t size, uint64_t slot)
{
	uint64_t at = p->check ? slot * p->slot : 0;
	struct cw_uboe_wr wr = {.op = p->op,
				.user = slot,
				.local = p->local + at,
				.len = size,
				.imm = slot,
				.remote_addr = p->va + at,
				.token_id = p->token_id,
				.token_value = p->token_value};

	if (perf_is_atomic(p->op))
		set_atomic(&wr);
	if (p->op == CW_UBOE_OP_WRITE_NOTIFY) {
		wr.notify_addr = p->va + (uint64_t)p->slots * p->slot;
		wr.notify_data = slot;
		wr.notify_token_id = p->token_id;
		wr.notify_token_value = p->token_value;
	}
	return wr;
}

static int post(struct perf *p, struct endpoint *e, struct flight *f, uint32_t size, uint64_t limit)
{
	while (f->nidle > 0 && f->posted < limit) {
		uint16_t slot = f->idle[f->nidle - 1];
		struct cw_uboe_wr wr = request(p, size, slot);
		int rc = cw_uboe_post(e->to, &wr);

		if (rc == CW_E_SPACE)
			return 0;
		if (rc != CW_OK)
			return fail(e, "posting", cw_strerror(rc));
		f->posted_at[slot] = clock_now_ns();
		f->nidle--;
		f->posted++;
	}
	return 0;
}

static int took_in(struct perf *p, struct endpoint *e, const struct cw_uboe_cr *cr)
{
	if (cr->status != CW_UBOE_OK)
		return fail(e, "receiving", cw_uboe_status_text(cr->status));
	p->received++;
	if (p->check && !cr->written)
		p->bad += cr->len != p->size || !holds(p->inbox + cr->user * p->slot, p->size);
	(void)post_inbox(p, e, cr->user);
	return 0;
}

static int completed(struct perf *p, struct endpoint *e, struct flight *f, struct perf_result *r,
		     const struct cw_uboe_cr *cr, uint64_t now)
{
	if (cr->status != CW_UBOE_OK) {
		(void)snprintf(e->err, sizeof(e->err), "%s of %u octets: %s",
			       cw_uboe_op_name(cr->op), p->size, cw_uboe_status_text(cr->status));
		return -1;
	}
	if (f == NULL) /* of a measurement that is over */
		return 0;
	histogram_add(&r->latency, now - f->posted_at[cr->user]);
	if (p->check && p->op == CW_UBOE_OP_READ)
		p->bad += !holds(p->local + cr->user * p->slot, p->size);
	f->idle[f->nidle++] = (uint16_t)cr->user;
	r->done++;
	return 0;
}

static int collect(struct perf *p, struct endpoint *e, struct flight *f, struct perf_result *r)
{
	struct cw_uboe_cr cr[32];
	unsigned i, n;

	do {
		uint64_t now;

		n = cw_uboe_poll(e->jetty, cr, 32);
		now = n > 0 ? clock_now_ns() : 0;
		for (i = 0; i < n; i++) {
			if ((cr[i].op == CW_UBOE_OP_RECV ? took_in(p, e, &cr[i])
							 : completed(p, e, f, r, &cr[i], now)) < 0)
				return -1;
		}
	} while (n == 32);
	return 0;
}

/* The peer said something in the middle of the test: it failed, or went away. */
static int peer_spoke(struct endpoint *e)
{
	json_t *msg;
	int rc = rdv_recv(e->rdv, &msg, 0, e->err);

	if (rc <= 0)
		return rc;
	json_decref(msg);
	return fail(e, "the peer", "it ended the test");
}

static void begin(struct perf *p, struct flight *f, uint32_t size)
{
	uint32_t i;

	memset(f, 0, sizeof(*f));
	while (f->nidle < p->depth) {
		f->idle[f->nidle] = (uint16_t)(p->depth - 1 - f->nidle);
		f->nidle++;
	}
	p->size = size;
	for (i = 0; p->check && i < p->slots && !perf_is_atomic(p->op); i++) {
		uint8_t *m = p->local + (uint64_t)i * p->slot;

		if (p->op == CW_UBOE_OP_READ)
			memset(m, 0, size);
		else
			fill(m, size);
	}
}

int perf_measure(struct perf *p, struct endpoint *e, struct perf_result *r)
{
	static struct flight f;
	uint64_t start, end, limit = p->duration ? UINT64_MAX : p->iterations;
	unsigned taken;
	int rc;

	begin(p, &f, r->size);
	start = clock_now_ns();
	end = p->duration ? start + p->duration : UINT64_MAX;
	while (!(interrupted() && r->done == f.posted)) {
		if (clock_now_ns() >= end || interrupted())
			limit = f.posted;
		taken = ep_take(e);
		if (collect(p, e, &f, r) < 0)
			return -1;
		if (r->done >= limit)
			break;
		if (post(p, e, &f, r->size, limit) < 0)
			return -1;
		/* What is posted now goes with the acknowledgements of what came: one system call.
		 */
		rc = ep_send(e, taken, SECOND / 10);
		/* A server that measures, too, is asked for its result when the client is done. */
		if (rc > 0 && !(p->both && p->ep.server))
			rc = peer_spoke(e);
		if (rc < 0)
			return -1;
	}
	r->ns = clock_now_ns() - start;
	return 0;
}

int perf_wait(struct perf *p, struct endpoint *e, json_t **msg, uint64_t timeout_ns)
{
	uint64_t start = clock_now_ns();
	bool before = interrupted();
	int rc;

	while (clock_now_ns() - start < timeout_ns && (before || !interrupted())) {
		rc = ep_step(e, SECOND / 10);
		if (rc >= 0 && collect(p, e, NULL, NULL) < 0)
			return -1;
		if (rc > 0)
			rc = rdv_recv(e->rdv, msg, 0, e->err);
		if (rc != 0)
			return rc < 0 ? -1 : 1;
	}
	return 0;
}
