/* uet_transfer.c - causeway uet send, recv, perf; uet_region.c is the other half of read and write.
 *
 * A transfer is a first message of 24 octets (what comes), then the data messages, each with a
 * CRC-32C behind its data. Data message k has message id k + 1; the receiver writes it to its
 * place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "causeway/bits.h"
#include "causeway/crc.h"
#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/out.h"
#include "cli/uet.h"

#define LINGER 300000000ull
#define TURN   200000000ull
enum { AHEAD = UET_AHEAD, UET_MESSAGE_MAX = 1 << 30 };

/* ---- Sending ------------------------------------------------------------------------------- */

struct sender {
	const struct uet_opts *o;
	struct uet_io io;
	const uint8_t *data; /* of the file; NULL: perf */
	uint64_t total, count, next, done, size;
	uint8_t *bufs[AHEAD];
	unsigned free_bufs[AHEAD], nfree;
	uint64_t posted_at[AHEAD];
	uint8_t header[UET_HEADER];
	bool announced;
	unsigned status;
	uint64_t first_at, deadline;
	struct uet_progress p;
};

static uint32_t length_of(const struct sender *s, uint64_t k)
{
	uint64_t at = k * s->size;

	return (uint32_t)(s->total - at < s->size ? s->total - at : s->size);
}

static int post_next(struct sender *s)
{
	unsigned b = s->free_bufs[--s->nfree];
	uint32_t len = length_of(s, s->next);
	uint8_t *p = s->bufs[b];

	if (s->data != NULL)
		memcpy(p, s->data + s->next * s->size, len);
	cw_put_be32(p + len, cw_crc32c(0, p, len));
	s->next++;
	s->posted_at[b] = clock_now_ns();
	return cw_uet_send(s->io.u, 1, p, len + 4, false, b);
}

static void sent(struct sender *s, const struct cw_uet_event *e)
{
	s->status = e->status != CW_UET_OK ? e->status : s->status;
	s->deadline = clock_now_ns() + s->o->timeout_ms * 1000000;
	if (!s->announced) {
		s->announced = true;
		s->first_at = clock_now_ns();
		return;
	}
	histogram_add(&s->io.took, clock_now_ns() - s->posted_at[e->cookie]);
	s->free_bufs[s->nfree++] = (unsigned)e->cookie;
	s->done++;
	s->p.done += e->len - 4;
}

static int send_all(struct sender *s)
{
	struct cw_uet_event e;

	cw_put_be32(s->header, UET_MAGIC_TRANSFER);
	cw_put_be32(s->header + 4, (uint32_t)s->size);
	cw_put_be64(s->header + 8, s->total);
	cw_put_be64(s->header + 16, s->count);
	if (cw_uet_send(s->io.u, 1, s->header, UET_HEADER, true, 0) < 0)
		return -1;
	s->deadline = clock_now_ns() + s->o->timeout_ms * 1000000;
	while (s->done < s->count || !s->announced) {
		while (s->announced && s->nfree > 0 && s->next < s->count) {
			if (post_next(s) < 0)
				return -1;
		}
		if (interrupted() || clock_now_ns() > s->deadline) {
			(void)snprintf(s->io.err, sizeof(s->io.err), "%s",
				       interrupted() ? "interrupted"
						     : "no answer from the receiver");
			return -1;
		}
		if (uet_io_turn(&s->io, TURN) < 0)
			return -1;
		while (cw_uet_event(s->io.u, &e))
			sent(s, &e);
		if (s->status != CW_UET_OK) {
			(void)snprintf(s->io.err, sizeof(s->io.err), "the receiver says: %s",
				       cw_uet_status_name(s->status));
			return -1;
		}
		uet_progress(&s->p, false);
	}
	return 0;
}

static int run_sender(struct sender *s, const char *what)
{
	unsigned i;
	int rc = -1;

	interrupt_catch();
	s->size = s->o->size;
	s->count = s->total / s->size + (s->total % s->size != 0);
	s->p = (struct uet_progress){.total = s->total, .on = isatty(STDERR_FILENO) && !s->o->json};
	for (i = 0; i < s->o->ahead; i++) {
		if ((s->bufs[i] = calloc(1, s->size + 4)) != NULL)
			s->free_bufs[s->nfree++] = i;
	}
	if (s->nfree == 0)
		(void)snprintf(s->io.err, sizeof(s->io.err), "out of memory");
	else if (uet_io_client(&s->io, s->o) == 0)
		rc = send_all(s);
	uet_progress(&s->p, true);
	if (rc == 0)
		uet_report(&s->io, s->o, what, s->total, s->count, clock_now_ns() - s->first_at);
	else
		fprintf(stderr, "causeway uet: %s\n", s->io.err);
	uet_io_close(&s->io);
	for (i = 0; i < AHEAD; i++)
		free(s->bufs[i]);
	if (rc < 0)
		return s->status != CW_UET_OK ? EXIT_DATA : EXIT_USAGE;
	return out_finish(stdout, "uet", EXIT_DONE);
}

int uet_perf_send(const struct uet_opts *o)
{
	struct sender s = {.o = o, .total = o->size * o->count};

	return run_sender(&s, "sent");
}

int uet_map_file(const char *name, const uint8_t **data, uint64_t *len)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), rc = -1;
	struct stat st;
	void *map = NULL;

	if (fd < 0 || fstat(fd, &st) < 0)
		fprintf(stderr, "causeway uet: %s: %s\n", name, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		fprintf(stderr, "causeway uet: %s: not a regular file\n", name);
	else if (st.st_size > 0 && (map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
					       0)) == MAP_FAILED)
		fprintf(stderr, "causeway uet: %s: %s\n", name, strerror(errno));
	else
		rc = 0;
	if (fd >= 0)
		(void)close(fd);
	if (rc == 0) {
		*data = map;
		*len = (uint64_t)st.st_size;
	}
	return rc;
}

void uet_unmap_file(const uint8_t *data, uint64_t len)
{
	if (data != NULL)
		(void)munmap((void *)data, len);
}

int uet_send_file(const struct uet_opts *o)
{
	struct sender s = {.o = o};
	int rc;

	if (uet_map_file(o->file, &s.data, &s.total) < 0)
		return EXIT_USAGE;
	rc = run_sender(&s, "sent");
	uet_unmap_file(s.data, s.total);
	return rc;
}

/* ---- Receiving ----------------------------------------------------------------------------- */

struct receiver {
	const struct uet_opts *o;
	struct uet_io io;
	int fd; /* -1: only checked */
	uint8_t header[UET_HEADER];
	uint8_t *bufs[2 * AHEAD];
	uint8_t *memory; /* exposed */
	uint8_t *seen;   /* a bit a message */
	bool announced, wrong;
	uint64_t total, count, size, got, started_at, ended_at;
	struct uet_progress p;
};

static int fail(struct receiver *r, const char *why)
{
	(void)snprintf(r->io.err, sizeof(r->io.err), "%s", why);
	r->wrong = true;
	return -1;
}

static int announced(struct receiver *r, const struct cw_uet_event *e)
{
	unsigned i;

	r->size = cw_be32(r->header + 4);
	r->total = cw_be64(r->header + 8);
	r->count = cw_be64(r->header + 16);
	if (e->len != UET_HEADER || cw_be32(r->header) != UET_MAGIC_TRANSFER || r->size == 0 ||
	    r->size > UET_MESSAGE_MAX || r->count != r->total / r->size + (r->total % r->size != 0))
		return fail(r, "the first message is not that of a transfer");
	if ((r->seen = calloc(r->count / 8 + 1, 1)) == NULL)
		return fail(r, "out of memory");
	r->announced = true;
	r->started_at = clock_now_ns();
	r->p.total = r->total;
	for (i = 0; i < 2 * AHEAD && i < r->count; i++) {
		if ((r->bufs[i] = malloc(r->size + 4)) == NULL ||
		    cw_uet_post(r->io.u, 1, r->bufs[i], (uint32_t)r->size + 4, i) < 0)
			return fail(r, "out of memory");
	}
	return 0;
}

static int write_at(struct receiver *r, const uint8_t *p, uint32_t len, uint64_t at)
{
	while (r->fd >= 0 && len > 0) {
		ssize_t n = pwrite(r->fd, p, len, (off_t)at);

		if (n < 0 && errno != EINTR)
			return fail(r, strerror(errno));
		n = n < 0 ? 0 : n;
		p += n;
		len -= (uint32_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

/* The sender is through with Writes or Reads: both sides have the same octets? */
static int memory_done(struct receiver *r, const struct cw_uet_event *e)
{
	const uint8_t *h = r->header;
	uint64_t at = cw_be32(h + 8), len = cw_be32(h + 12);
	bool wrote = cw_be32(h + 4) == UET_OP_WRITE;

	if (e->len != UET_HEADER || at + len > r->o->expose)
		return fail(r, "the last message is not that of Writes or Reads");
	if (cw_crc32c(0, r->memory + at, (size_t)len) != cw_be32(h + 16))
		return fail(r, "CRC-32C of the exposed memory is wrong");
	if (wrote && write_at(r, r->memory + at, (uint32_t)len, 0) < 0)
		return -1;
	r->announced = true;
	r->got = r->count = cw_be32(h + 20);
	r->total = cw_uet_count(r->io.u, wrote ? CW_UET_RX_OCTETS : CW_UET_TX_OCTETS);
	r->total -= wrote ? UET_HEADER : 0;
	return 0;
}

static int data_message(struct receiver *r, const struct cw_uet_event *e)
{
	uint64_t k = (uint64_t)e->msg_id - 1, at = k * r->size;
	const uint8_t *p = e->buffer;
	uint32_t len = e->len - 4;
	uint64_t want;

	if (k >= r->count)
		return fail(r, "a message that was not announced");
	if (r->seen[k / 8] >> k % 8 & 1)
		return fail(r, "a message came twice");
	r->seen[k / 8] |= (uint8_t)(1u << k % 8);
	want = r->total - at < r->size ? r->total - at : r->size;
	if (e->len < 4 || len != want)
		return fail(r, "a message of another length than announced");
	if (cw_crc32c(0, p, len) != cw_be32(p + len))
		return fail(r, "CRC-32C of a message is wrong");
	if (write_at(r, p, len, at) < 0)
		return -1;
	r->got++;
	r->p.done += len;
	if (cw_uet_post(r->io.u, 1, e->buffer, (uint32_t)r->size + 4, 0) < 0)
		return fail(r, "out of memory");
	return 0;
}

static int handle(struct receiver *r, const struct cw_uet_event *e)
{
	if (e->status != CW_UET_OK)
		return fail(r, cw_uet_status_name(e->status));
	if (e->kind != CW_UET_RECEIVED)
		return 0;
	if (r->announced)
		return data_message(r, e);
	return cw_be32(r->header) == UET_MAGIC_DONE ? memory_done(r, e) : announced(r, e);
}

static int expose(struct receiver *r)
{
	const uint8_t *data = NULL;
	uint64_t len = 0;

	if (r->o->expose == 0)
		return 0;
	if (r->o->memory != NULL && uet_map_file(r->o->memory, &data, &len) < 0)
		return fail(r, "no memory to expose");
	r->memory = calloc(1, r->o->expose);
	if (r->memory != NULL && data != NULL)
		memcpy(r->memory, data, len < r->o->expose ? len : r->o->expose);
	uet_unmap_file(data, len);
	if (r->memory == NULL || cw_uet_expose(r->io.u, 1, r->memory, (uint32_t)r->o->expose,
					       CW_UET_READABLE | CW_UET_WRITABLE) < 0)
		return fail(r, "out of memory");
	return 0;
}

/* All that tells that the sender is still there. */
static uint64_t signs_of_life(const struct receiver *r)
{
	return r->got + cw_uet_count(r->io.u, CW_UET_RX_DATA) +
	       cw_uet_count(r->io.u, CW_UET_RX_ACK);
}

static int receive_all(struct receiver *r)
{
	uint64_t until = clock_now_ns() + r->o->timeout_ms * 1000000, last = 0;
	struct cw_uet_event e;

	if (cw_uet_post(r->io.u, 1, r->header, UET_HEADER, 0) < 0)
		return fail(r, "out of memory");
	while (r->ended_at == 0 || clock_now_ns() < r->ended_at + LINGER) {
		if (uet_io_turn(&r->io, r->ended_at != 0 ? LINGER / 4 : TURN) < 0)
			return -1;
		while (cw_uet_event(r->io.u, &e)) {
			if (handle(r, &e) < 0)
				return -1;
		}
		if (signs_of_life(r) != last) {
			until = clock_now_ns() + r->o->timeout_ms * 1000000;
			last = signs_of_life(r);
			r->started_at = r->started_at != 0 ? r->started_at : clock_now_ns();
		}
		if (r->announced && r->got == r->count && r->ended_at == 0)
			r->ended_at = clock_now_ns();
		if (interrupted() || (r->ended_at == 0 && clock_now_ns() > until))
			return fail(r, interrupted() ? "interrupted" : "the sender went silent");
		uet_progress(&r->p, false);
	}
	return 0;
}

int uet_recv(const struct uet_opts *o)
{
	struct receiver r = {.o = o, .fd = -1};
	unsigned i;
	int rc = -1;

	interrupt_catch();
	r.p.on = isatty(STDERR_FILENO) && !o->json;
	if (o->file != NULL &&
	    (r.fd = open(o->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
		fprintf(stderr, "causeway uet: %s: %s\n", o->file, strerror(errno));
		return EXIT_USAGE;
	}
	if (uet_io_server(&r.io, o) == 0 && expose(&r) == 0)
		rc = receive_all(&r);
	uet_progress(&r.p, true);
	if (rc == 0)
		uet_report(&r.io, o, "received", r.total, r.count, r.ended_at - r.started_at);
	else
		fprintf(stderr, "causeway uet: %s\n", r.io.err);
	uet_io_close(&r.io);
	for (i = 0; i < 2 * AHEAD; i++)
		free(r.bufs[i]);
	free(r.memory);
	free(r.seen);
	if (r.fd >= 0 && close(r.fd) < 0)
		rc = -1;
	if (rc < 0)
		return r.wrong && !interrupted() ? EXIT_DATA : EXIT_USAGE;
	return out_finish(stdout, "uet", EXIT_DONE);
}
