/* uet_transfer.c - causeway uet send, recv, perf; uet_region.c is the other half of read and write.
 *
 * A transfer is a first message of 24 octets (what comes), then the data messages, each with a
 * CRC-32C behind its data. Data message k has message id k + 1; the receiver writes it to its
 * place.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
	return cw_uet_send(s->io.u, s->io.far[0].id, p, len + 4, false, b);
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
	if (cw_uet_send(s->io.u, s->io.far[0].id, s->header, UET_HEADER, true, 0) < 0)
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
	return EXIT_DONE;
}

int uet_perf_send(const struct uet_opts *o)
{
	struct sender s = {.o = o, .total = o->size * uet_messages(o)};

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

struct listener;

/* One sender's transfer. */
struct receiver {
	struct listener *l;
	unsigned far; /* of the sender */
	int fd;       /* -1: only checked */
	char file[PATH_MAX], err[UET_ERROR];
	uint8_t header[UET_HEADER];
	uint8_t *bufs[2 * AHEAD];
	uint8_t *memory; /* exposed */
	uint8_t *seen;   /* a bit a message */
	bool announced, failed;
	uint64_t total, count, size, got, started_at, ended_at;
	uint64_t life, until; /* signs of life so far; when it is given up without another */
};

struct listener {
	const struct uet_opts *o;
	struct uet_io io;
	struct receiver *r[UET_SENDERS]; /* by far */
	int fd;                          /* of -o FILE, else -1 */
	bool many, to_stdout;
	uint64_t wanted, begun, ended, failed;
	uint64_t octets, messages, ns; /* of those that went well */
	uint64_t until;                /* when nobody is waited for any longer */
	struct uet_progress p;
};

static uint32_t id_of(const struct receiver *r)
{
	return r->l->io.far[r->far].id;
}

static int fail(struct receiver *r, const char *why)
{
	(void)snprintf(r->err, sizeof(r->err), "%s", why);
	r->failed = true;
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
	r->l->p.total += r->total;
	for (i = 0; i < 2 * AHEAD && i < r->count; i++) {
		if ((r->bufs[i] = malloc(r->size + 4)) == NULL ||
		    cw_uet_post(r->l->io.u, id_of(r), r->bufs[i], (uint32_t)r->size + 4, i) < 0)
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

	if (e->len != UET_HEADER || at + len > r->l->o->expose)
		return fail(r, "the last message is not that of Writes or Reads");
	if (cw_crc32c(0, r->memory + at, (size_t)len) != cw_be32(h + 16))
		return fail(r, "CRC-32C of the exposed memory is wrong");
	if (wrote && write_at(r, r->memory + at, (uint32_t)len, 0) < 0)
		return -1;
	r->announced = true;
	r->got = r->count = cw_be32(h + 20);
	r->total = cw_uet_count(r->l->io.u, wrote ? CW_UET_RX_OCTETS : CW_UET_TX_OCTETS);
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
	r->l->p.done += len;
	if (cw_uet_post(r->l->io.u, id_of(r), e->buffer, (uint32_t)r->size + 4, 0) < 0)
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

/* ---- Senders that come and go */

static int expose(struct receiver *r)
{
	const struct uet_opts *o = r->l->o;
	const uint8_t *data = NULL;
	uint64_t len = 0;

	if (o->expose == 0)
		return 0;
	if (o->memory != NULL && uet_map_file(o->memory, &data, &len) < 0)
		return fail(r, "no memory to expose");
	r->memory = calloc(1, o->expose);
	if (r->memory != NULL && data != NULL)
		memcpy(r->memory, data, len < o->expose ? len : o->expose);
	uet_unmap_file(data, len);
	if (r->memory == NULL || cw_uet_expose(r->l->io.u, id_of(r), r->memory, (uint32_t)o->expose,
					       CW_UET_READABLE | CW_UET_WRITABLE) < 0)
		return fail(r, "out of memory");
	return 0;
}

/* Where the data goes: the file, a new one in the directory, or one without a name that is copied
 * to the standard output when all of it is there. */
static int open_output(struct receiver *r)
{
	struct listener *l = r->l;
	uint64_t k = l->begun;
	FILE *f;

	if (l->to_stdout) {
		f = tmpfile();
		r->fd = f != NULL ? dup(fileno(f)) : -1;
		if (f != NULL)
			(void)fclose(f);
		return r->fd >= 0 ? 0 : fail(r, strerror(errno));
	}
	if (!l->many || l->o->file == NULL) {
		r->fd = l->fd;
		l->fd = -1;
		return 0;
	}
	do {
		(void)snprintf(r->file, sizeof(r->file), "%.4000s/%06llu", l->o->file,
			       (unsigned long long)++k);
		r->fd = open(r->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (r->fd < 0 && errno == EEXIST);
	return r->fd >= 0 ? 0 : fail(r, strerror(errno));
}

static void free_receiver(struct receiver *r)
{
	unsigned i;

	for (i = 0; i < 2 * AHEAD; i++)
		free(r->bufs[i]);
	free(r->memory);
	free(r->seen);
	if (r->fd >= 0)
		(void)close(r->fd);
	free(r);
}

static int begin(void *arg, unsigned far)
{
	struct listener *l = arg;
	struct receiver *r = l->begun < l->wanted ? calloc(1, sizeof(*r)) : NULL;

	if (r == NULL)
		return -1;
	*r = (struct receiver){.l = l, .far = far, .fd = -1, .started_at = clock_now_ns()};
	r->until = r->started_at + l->o->timeout_ms * 1000000;
	if (open_output(r) < 0 || expose(r) < 0 ||
	    cw_uet_post(l->io.u, id_of(r), r->header, UET_HEADER, 0) < 0) {
		fprintf(stderr, "causeway uet: %s\n", r->failed ? r->err : "out of memory");
		free_receiver(r);
		l->failed++;
		l->begun++;
		l->ended++;
		return -1;
	}
	l->begun++;
	l->r[far] = r;
	return 0;
}

static int copy_to_stdout(struct receiver *r)
{
	char buf[65536];
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(r->fd, buf, sizeof(buf), (off_t)at)) > 0) {
		if (fwrite(buf, 1, (size_t)n, stdout) != (size_t)n)
			return fail(r, "standard output fails");
		at += (uint64_t)n;
	}
	return n == 0 && fflush(stdout) == 0 ? 0 : fail(r, "standard output fails");
}

/* It is over, well or not. */
static void end(struct listener *l, struct receiver *r)
{
	uint64_t ns = r->ended_at - r->started_at;

	if (!r->failed && l->to_stdout)
		(void)copy_to_stdout(r);
	if (l->many || l->to_stdout || r->failed)
		uet_report_transfer(&l->io.far[r->far], l->o, r->file, r->total, ns,
				    r->failed ? r->err : NULL);
	if (!r->failed) {
		l->octets += r->total;
		l->messages += r->count;
		l->ns += ns;
	}
	l->failed += r->failed;
	l->ended++;
	l->until = clock_now_ns() + l->o->timeout_ms * 1000000;
	l->r[r->far] = NULL;
	uet_io_leave(&l->io, r->far);
	free_receiver(r);
}

static void take_events(struct listener *l)
{
	struct cw_uet_event e;
	unsigned k;

	while (cw_uet_event(l->io.u, &e)) {
		for (k = 0; k < l->io.nfar; k++) {
			if (l->r[k] != NULL && !l->r[k]->failed && id_of(l->r[k]) == e.context)
				(void)handle(l->r[k], &e);
		}
	}
}

/* Is it over? When all is there it still answers for a while: the last Ack may be lost. */
static void look_after(struct listener *l, struct receiver *r)
{
	uint64_t now = clock_now_ns();

	if (r->life != l->io.far[r->far].packets) {
		r->life = l->io.far[r->far].packets;
		r->until = now + l->o->timeout_ms * 1000000;
	}
	if (r->announced && r->got == r->count && r->ended_at == 0)
		r->ended_at = now;
	if (r->ended_at == 0 && now > r->until)
		(void)fail(r, "the sender went silent");
	if (r->failed || (r->ended_at != 0 && now >= r->ended_at + LINGER))
		end(l, r);
}

/* 0, or -1 with io.err. */
static int listen_all(struct listener *l)
{
	unsigned k;

	l->until = clock_now_ns() + l->o->timeout_ms * 1000000;
	while (l->ended < l->wanted) {
		if (uet_io_turn(&l->io, LINGER / 4) < 0)
			return -1;
		take_events(l);
		for (k = 0; k < l->io.nfar; k++) {
			if (l->r[k] != NULL)
				look_after(l, l->r[k]);
		}
		if (interrupted())
			return l->o->forever ? 0 : uet_io_complain(&l->io, "recv", "interrupted");
		if (l->begun == l->ended && l->ended < l->wanted && !l->o->forever &&
		    clock_now_ns() > l->until) {
			(void)snprintf(l->io.err, sizeof(l->io.err), "the sender went silent");
			l->failed++;
			return -1;
		}
		uet_progress(&l->p, false);
	}
	return 0;
}

static bool is_directory(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_listener(struct listener *l)
{
	const struct uet_opts *o = l->o;

	l->to_stdout = o->file != NULL && strcmp(o->file, "-") == 0;
	if (l->to_stdout && o->json)
		return cmd_usage(&cmd_uet, "recv: -o - and -j both want the standard output");
	if (l->many && o->file != NULL && !l->to_stdout && !is_directory(o->file))
		return cmd_usage(&cmd_uet, "recv: -o: several transfers need a directory, or -");
	if (!l->many && o->file != NULL && !l->to_stdout &&
	    (l->fd = open(o->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
		fprintf(stderr, "causeway uet: %s: %s\n", o->file, strerror(errno));
		return EXIT_USAGE;
	}
	return 0;
}

int uet_recv(const struct uet_opts *o)
{
	struct listener l = {.o = o, .fd = -1, .io = {.opened = begin}};
	unsigned k;
	int rc = -1;

	l.wanted = o->forever ? UINT64_MAX : o->count != 0 ? o->count : 1;
	l.many = l.wanted > 1;
	if ((rc = open_listener(&l)) != 0)
		return rc;
	interrupt_catch();
	l.p.on = isatty(STDERR_FILENO) && !o->json;
	l.io.arg = &l;
	if ((rc = uet_io_server(&l.io, o)) == 0)
		rc = listen_all(&l);
	uet_progress(&l.p, true);
	if (rc < 0)
		fprintf(stderr, "causeway uet: %s\n", l.io.err);
	else if (!l.to_stdout && (l.many || l.failed == 0))
		uet_report(&l.io, o, "received", l.octets, l.messages, l.ns);
	for (k = 0; k < UET_SENDERS; k++) {
		if (l.r[k] != NULL) {
			uet_io_leave(&l.io, k);
			free_receiver(l.r[k]);
		}
	}
	uet_io_close(&l.io);
	if (l.fd >= 0)
		(void)close(l.fd);
	if (rc < 0 || l.failed > 0)
		return l.failed > 0 ? EXIT_DATA : EXIT_USAGE;
	return EXIT_DONE;
}
