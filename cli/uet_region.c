/* uet_region.c - causeway uet write, read and perf with them: the memory that recv --expose offers.
 *
 * Behind the last Write or Read comes a Fence and then a message that says what the receiver's
 * memory must hold, so both sides check the octets.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "causeway/bits.h"
#include "causeway/crc.h"
#include "causeway/wire/uetx.h"
#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/uet.h"

#define TURN 200000000ull

struct region {
	const struct uet_opts *o;
	struct uet_io io;
	enum uet_op op;
	const uint8_t *data; /* to write */
	uint8_t *buf;        /* to read into: all of it, or a place for each Read under way */
	bool again;          /* perf: the same place every time */
	uint64_t total;      /* octets */
	uint32_t size;       /* of a Write or Read */
	uint64_t count, posted, done;
	uint8_t last[UET_HEADER];
	bool ended;
	unsigned status;
	uint64_t began_at, deadline;
	struct uet_progress p;
};

static uint32_t offset_of(const struct region *r, uint64_t k)
{
	return (uint32_t)(r->o->offset + (r->again ? 0 : k * r->size));
}

static uint32_t length_of(const struct region *r, uint64_t k)
{
	uint64_t left = r->again ? r->size : r->total - k * r->size;

	return (uint32_t)(left < r->size ? left : r->size);
}

static uint8_t *place_of(const struct region *r, uint64_t k)
{
	return r->buf + (r->again ? k % UET_AHEAD : k) * r->size;
}

static int post_next(struct region *r)
{
	uint64_t k = r->posted++, now = clock_now_ns();

	if (r->op == UET_OP_WRITE)
		return cw_uet_write(r->io.u, r->io.far[0].id, r->data, length_of(r, k), true, now);
	return cw_uet_read(r->io.u, now, r->io.far[0].id, offset_of(r, k), place_of(r, k),
			   length_of(r, k), now);
}

/* The message behind them all: where the last one was, and its octets' CRC. */
static int post_last(struct region *r)
{
	uint64_t k = r->count > 0 ? r->count - 1 : 0;
	uint32_t len = r->count > 0 ? length_of(r, k) : 0;
	const uint8_t *octets = r->op == UET_OP_WRITE ? r->data : place_of(r, k);

	r->posted++;
	cw_put_be32(r->last, UET_MAGIC_DONE);
	cw_put_be32(r->last + 4, r->op);
	cw_put_be32(r->last + 8, r->op == UET_OP_WRITE ? 0 : offset_of(r, k));
	cw_put_be32(r->last + 12, len);
	cw_put_be32(r->last + 16, cw_crc32c(0, octets, len));
	cw_put_be32(r->last + 20, (uint32_t)r->count);
	if (cw_uet_fence(r->io.u, r->io.far[0].id, 0) < 0)
		return -1;
	return cw_uet_send(r->io.u, r->io.far[0].id, r->last, UET_HEADER, true, 0);
}

static void take_event(struct region *r, const struct cw_uet_event *e)
{
	r->deadline = clock_now_ns() + r->o->timeout_ms * 1000000;
	if (e->status != CW_UET_OK)
		r->status = e->status;
	if (e->kind == CW_UET_FENCED)
		return;
	if (e->buffer == r->last) {
		r->ended = true;
		return;
	}
	histogram_add(&r->io.took, clock_now_ns() - e->cookie);
	r->done++;
	r->p.done += e->len;
}

static int fail(struct region *r, const char *why)
{
	(void)snprintf(r->io.err, sizeof(r->io.err), "%s", why);
	return -1;
}

static int run_all(struct region *r)
{
	struct cw_uet_event e;

	r->began_at = clock_now_ns();
	r->deadline = r->began_at + r->o->timeout_ms * 1000000;
	while (!r->ended) {
		while (r->posted < r->count && r->posted - r->done < r->o->ahead) {
			if (post_next(r) < 0)
				return fail(r, "out of memory");
		}
		if (r->done == r->count && r->posted == r->count && post_last(r) < 0)
			return fail(r, "out of memory");
		if (interrupted() || clock_now_ns() > r->deadline)
			return fail(r,
				    interrupted() ? "interrupted" : "no answer from the receiver");
		if (uet_io_turn(&r->io, TURN) < 0)
			return -1;
		while (cw_uet_event(r->io.u, &e))
			take_event(r, &e);
		if (r->status == CW_UETX_ACCESS)
			return fail(r, "the receiver says: access (recv --expose, and how much?)");
		if (r->status != CW_UET_OK) {
			(void)snprintf(r->io.err, sizeof(r->io.err), "the receiver says: %s",
				       cw_uet_status_name(r->status));
			return -1;
		}
		uet_progress(&r->p, false);
	}
	return 0;
}

static int save(const struct region *r)
{
	uint64_t at = 0;
	int fd;

	if (r->o->file == NULL || r->op != UET_OP_READ || r->again)
		return 0;
	fd = open(r->o->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	while (fd >= 0 && at < r->total) {
		ssize_t n = write(fd, r->buf + at, r->total - at);

		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (fd >= 0 && close(fd) == 0 && at == r->total)
		return 0;
	fprintf(stderr, "causeway uet: %s: %s\n", r->o->file, strerror(errno));
	return -1;
}

static int run(struct region *r, const char *what)
{
	int rc = -1;

	interrupt_catch();
	r->count = r->again ? uet_messages(r->o) : r->total / r->size + (r->total % r->size != 0);
	r->p = (struct uet_progress){.total = r->total, .on = isatty(STDERR_FILENO) && !r->o->json};
	if (uet_io_client(&r->io, r->o) == 0)
		rc = run_all(r);
	uet_progress(&r->p, true);
	if (rc < 0)
		fprintf(stderr, "causeway uet: %s\n", r->io.err);
	else if ((rc = save(r)) == 0)
		uet_report(&r->io, r->o, what, r->total, r->count, clock_now_ns() - r->began_at);
	uet_io_close(&r->io);
	if (rc < 0)
		return r->status != CW_UET_OK ? EXIT_DATA : EXIT_USAGE;
	return EXIT_DONE;
}

int uet_write_file(const struct uet_opts *o)
{
	struct region r = {.o = o, .op = UET_OP_WRITE};
	int rc;

	if (uet_map_file(o->file, &r.data, &r.total) < 0)
		return EXIT_USAGE;
	if (r.total > UINT32_MAX) {
		fprintf(stderr, "causeway uet: %s: longer than a message, 4 GiB - 1\n", o->file);
		uet_unmap_file(r.data, r.total);
		return EXIT_USAGE;
	}
	r.size = r.total > 0 ? (uint32_t)r.total : 1; /* one Write: it has no offset */
	rc = run(&r, "written");
	uet_unmap_file(r.data, r.total);
	return rc;
}

/* Memory for `octets`, then the run. */
static int run_with_buffer(struct region *r, uint64_t octets, const char *what)
{
	int rc;

	if ((r->buf = calloc(1, octets > 0 ? octets : 1)) == NULL) {
		fprintf(stderr, "causeway uet: out of memory\n");
		return EXIT_USAGE;
	}
	r->data = r->buf;
	rc = run(r, what);
	free(r->buf);
	return rc;
}

int uet_read_memory(const struct uet_opts *o)
{
	struct region r = {
		.o = o, .op = UET_OP_READ, .total = o->length, .size = (uint32_t)o->size};

	return run_with_buffer(&r, r.total, "read");
}

int uet_perf(const struct uet_opts *o)
{
	struct region r = {.o = o,
			   .op = o->op,
			   .again = true,
			   .total = o->size * uet_messages(o),
			   .size = (uint32_t)o->size};

	if (o->op == UET_OP_SEND)
		return uet_perf_send(o);
	return run_with_buffer(&r, o->size * UET_AHEAD, o->op == UET_OP_WRITE ? "written" : "read");
}
