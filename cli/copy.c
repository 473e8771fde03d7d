/* copy.c - causeway copy: a file over RTP, proved by its SHA-256 at both ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/clock.h"
#include "cli/endpoint.h"
#include "cli/interrupt.h"

#define CHUNK      (256u << 10)
#define SLOTS      32 /* chunks in flight */
#define RECV_SLOTS 64
#define HEX        65
#define NAME_LEN   200
#define HASH_NS    (3600 * SECOND) /* the other end reads the whole file */
#define SAMPLE_NS  (SECOND / 10)
#define SAMPLES    4096

struct sample {
	uint64_t at, octets;
};

struct copy {
	struct ep_opts ep;
	struct endpoint e;
	const char *file, *name, *into;
	char host[256], part[NAME_LEN + 8], final[NAME_LEN + 1];
	bool json, resume, overwrite, keep, tty;
	int fd, dir;
	uint64_t size, from, done; /* octets; done: at the front without a hole */
	uint64_t nchunks;
	uint8_t *got; /* one a chunk: arrived, or acknowledged */
	uint8_t *memory;
	struct cw_uboe_wr waiting; /* for room in the send queue, unless its len is 0 */
	EVP_MD_CTX *sha;
	char hex[HEX];
	uint64_t start, end, shown, moved;
	struct sample samples[SAMPLES];
	unsigned nsamples;
	uint64_t sample_ns, sample_at;
};

static int fail(struct copy *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct copy *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(c->e.err, sizeof(c->e.err), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

static int hash_begin(struct copy *c)
{
	if (c->sha == NULL)
		c->sha = EVP_MD_CTX_new();
	if (c->sha == NULL || EVP_DigestInit_ex(c->sha, EVP_sha256(), NULL) != 1)
		return fail(c, "SHA-256 is not available");
	return 0;
}

static void hash_hex(const EVP_MD_CTX *sha, char hex[HEX])
{
	EVP_MD_CTX *copy = EVP_MD_CTX_new(); /* the original goes on */
	uint8_t md[32] = {0};
	unsigned i;

	if (copy != NULL && EVP_MD_CTX_copy_ex(copy, sha) == 1)
		(void)EVP_DigestFinal_ex(copy, md, NULL);
	EVP_MD_CTX_free(copy);
	for (i = 0; i < 32; i++)
		(void)sprintf(hex + 2 * (size_t)i, "%02x", md[i]);
}

static int read_at(struct copy *c, const char *name, uint8_t *p, uint32_t len, uint64_t at)
{
	ssize_t n;

	while (len > 0) {
		n = pread(c->fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(c, "%s: reading at %" PRIu64 ": %s", name, at, strerror(errno));
		if (n == 0)
			return fail(c,
				    "%s: it became shorter while it was read, %" PRIu64 " octets",
				    name, at);
		p += n;
		at += (uint64_t)n;
		len -= (uint32_t)n;
	}
	return 0;
}

/* The first `len` octets of the file, from the disk (or its cache), into the hash. */
static int hash_file(struct copy *c, const char *name, uint64_t len)
{
	uint64_t at;
	uint32_t n;

	if (hash_begin(c) < 0)
		return -1;
	for (at = 0; at < len; at += n) {
		n = len - at < CHUNK ? (uint32_t)(len - at) : CHUNK;
		if (read_at(c, name, c->memory, n, at) < 0)
			return -1;
		(void)EVP_DigestUpdate(c->sha, c->memory, n);
	}
	hash_hex(c->sha, c->hex);
	return 0;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static uint32_t chunk_len(const struct copy *c, uint64_t chunk)
{
	uint64_t left = c->size - chunk * CHUNK;

	return left < CHUNK ? (uint32_t)left : CHUNK;
}

static void mark(struct copy *c, uint64_t chunk)
{
	c->got[chunk] = 1;
	c->moved += chunk_len(c, chunk);
	while (c->done < c->size && c->got[c->done / CHUNK])
		c->done += chunk_len(c, c->done / CHUNK);
}

/* Samples for a plot; when there are too many, every second one goes. */
static void sample(struct copy *c, uint64_t now)
{
	unsigned i;

	if (now < c->sample_at)
		return;
	if (c->nsamples == SAMPLES) {
		for (i = 0; i < SAMPLES / 2; i++)
			c->samples[i] = c->samples[2 * i + 1];
		c->nsamples = SAMPLES / 2;
		c->sample_ns *= 2;
	}
	c->samples[c->nsamples++] = (struct sample){now - c->start, c->moved};
	c->sample_at = now + c->sample_ns;
}

static void progress(struct copy *c, uint64_t now, bool last)
{
	double s = (double)(now - c->start) / 1e9, rate = s > 0 ? (double)c->moved / s : 0;
	uint64_t at = c->from + c->moved, left;

	sample(c, now);
	if (!c->tty || (!last && now < c->shown + SECOND / 5))
		return;
	c->shown = now;
	left = rate > 0 ? (uint64_t)((double)(c->size - at) / rate) : 0;
	fprintf(stderr,
		"\r%s  %3" PRIu64 "%%  %" PRIu64 " MiB  %.1f MB/s  %" PRIu64 ":%02" PRIu64
		" %s\033[K%s",
		c->name, c->size ? at * 100 / c->size : 100, at >> 20, rate / 1e6,
		last ? (uint64_t)s / 60 : left / 60, last ? (uint64_t)s % 60 : left % 60,
		last ? "    " : "left", last ? "\n" : "");
	(void)fflush(stderr);
}

static void begin_clock(struct copy *c)
{
	c->start = c->sample_at = clock_now_ns();
	c->sample_ns = SAMPLE_NS;
	c->nsamples = 0;
	c->moved = 0;
	c->shown = 0;
}

/* A step; the peer has nothing to say before the end, unless it fails. */
static int step(struct copy *c)
{
	json_t *msg;
	int rc = ep_step(&c->e, SECOND / 10);

	if (rc > 0) {
		rc = rdv_recv(c->e.rdv, &msg, 0, c->e.err);
		if (rc > 0) {
			json_decref(msg);
			return fail(c, "the peer speaks out of turn");
		}
	}
	if (rc == 0 && interrupted())
		return fail(c, "interrupted");
	return rc;
}

static int make_memory(struct copy *c, unsigned slots)
{
	c->nchunks = (c->size + CHUNK - 1) / CHUNK;
	free(c->got);
	c->got = calloc(1, c->nchunks + 1);
	if (c->memory == NULL)
		c->memory = malloc((size_t)slots * CHUNK);
	return c->got != NULL && c->memory != NULL ? 0 : fail(c, "out of memory");
}

/* ---- Sender ---------------------------------------------------------------------------------- */

static int open_file(struct copy *c)
{
	struct stat st;

	if ((c->fd = open(c->file, O_RDONLY | O_CLOEXEC)) < 0 || fstat(c->fd, &st) < 0)
		return fail(c, "%s: %s", c->file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(c, "%s: not a regular file", c->file);
	c->size = (uint64_t)st.st_size;
	return make_memory(c, SLOTS);
}

/* Go on where the other end stopped, if what it has is the beginning of this file. */
static int agree_on_start(struct copy *c, json_t *answer)
{
	json_int_t have = 0;
	const char *theirs = "";

	(void)json_unpack(answer, "{s?{s?I,s?s}}", "test", "have", &have, "sha256", &theirs);
	c->from = 0;
	if (have > 0 && (uint64_t)have <= c->size && have % CHUNK == 0) {
		if (hash_file(c, c->file, (uint64_t)have) < 0)
			return -1;
		if (strcmp(theirs, c->hex) == 0)
			c->from = (uint64_t)have;
	}
	if (c->from == 0 && hash_begin(c) < 0)
		return -1;
	memset(c->got, 1, c->from / CHUNK);
	c->done = c->from;
	return 0;
}

static int read_chunk(struct copy *c, uint64_t chunk, unsigned slot)
{
	uint8_t *p = c->memory + (size_t)slot * CHUNK;

	c->waiting = (struct cw_uboe_wr){.op = CW_UBOE_OP_SEND_IMM,
					 .user = chunk << 8 | slot,
					 .local = p,
					 .len = chunk_len(c, chunk),
					 .imm = chunk};
	if (read_at(c, c->file, p, c->waiting.len, chunk * CHUNK) < 0)
		return -1;
	(void)EVP_DigestUpdate(c->sha, p, c->waiting.len);
	return 0;
}

/* The queue has room in the order of posting, completions over several channels have none. */
static int post_waiting(struct copy *c)
{
	int rc = cw_uboe_post(c->e.to, &c->waiting);

	if (rc == CW_OK)
		c->waiting.len = 0;
	return rc == CW_OK || rc == CW_E_SPACE ? 0 : fail(c, "posting a send: %s", cw_strerror(rc));
}

static int reap(struct copy *c, uint8_t *idle, unsigned *nidle)
{
	struct cw_uboe_cr cr[SLOTS];
	unsigned i, n = cw_uboe_poll(c->e.jetty, cr, SLOTS);

	for (i = 0; i < n; i++) {
		if (cr[i].status != CW_UBOE_OK)
			return fail(c, "sending octets from %" PRIu64 " on: %s",
				    (cr[i].user >> 8) * CHUNK, cw_uboe_status_text(cr[i].status));
		mark(c, cr[i].user >> 8);
		idle[(*nidle)++] = (uint8_t)cr[i].user;
	}
	return 0;
}

static int send_file(struct copy *c)
{
	uint64_t next = c->from / CHUNK;
	unsigned nidle = 0;
	uint8_t idle[SLOTS];

	for (; nidle < SLOTS; nidle++)
		idle[nidle] = (uint8_t)nidle;
	begin_clock(c);
	while (c->done < c->size) {
		/* one at a time: packets go out while the next chunk is read and hashed */
		if (c->waiting.len == 0 && nidle > 0 && next < c->nchunks &&
		    read_chunk(c, next++, idle[--nidle]) < 0)
			return -1;
		if (c->waiting.len != 0 && post_waiting(c) < 0)
			return -1;
		if (step(c) < 0 || reap(c, idle, &nidle) < 0)
			return -1;
		progress(c, clock_now_ns(), false);
	}
	c->end = clock_now_ns();
	progress(c, c->end, true);
	hash_hex(c->sha, c->hex);
	return 0;
}

/* 0 proved, 1 the other end has something else, -1. */
static int compare(struct copy *c, json_t **remote)
{
	const char *theirs = "";

	if (rdv_send(c->e.rdv, json_pack("{s:b,s:s}", "done", 1, "sha256", c->hex), c->e.err) < 0 ||
	    ep_await(&c->e, remote, HASH_NS) < 0)
		return -1;
	(void)json_unpack(*remote, "{s?s}", "sha256", &theirs);
	if (strcmp(theirs, c->hex) == 0)
		return 0;
	(void)fail(c, "%s has SHA-256 %s here but %.64s there", c->file, c->hex, theirs);
	return 1;
}

static json_t *samples_json(const struct copy *c)
{
	json_t *list = json_array();
	unsigned i;

	for (i = 0; i < c->nsamples; i++)
		(void)json_array_append_new(list, json_pack("[f,I]", (double)c->samples[i].at / 1e9,
							    (json_int_t)c->samples[i].octets));
	return list;
}

static void print_result(struct copy *c, json_t *remote)
{
	double s = (double)(c->end - c->start) / 1e9;
	double gbps = s > 0 ? (double)c->moved * 8 / s / 1e9 : 0;
	char *text;
	json_t *all;

	if (!c->json) {
		printf("%s: %" PRIu64
		       " octets in %.3f s (%.2f Gbit/s)%s\nSHA-256 %s at both ends\n",
		       c->name, c->moved, s, gbps, c->from ? ", resumed" : "", c->hex);
		return;
	}
	all = json_pack("{s:s,s:I,s:I,s:f,s:f,s:s,s:o,s:o,s:O*}", "name", c->name, "octets",
			(json_int_t)c->size, "resumed_at", (json_int_t)c->from, "seconds", s,
			"gbit_per_second", gbps, "sha256", c->hex, "samples", samples_json(c),
			"local", ep_report(&c->e), "remote", json_object_get(remote, "report"));
	text = json_dumps(all, JSON_COMPACT);
	if (text != NULL)
		puts(text);
	free(text);
	json_decref(all);
}

static int transfer(struct copy *c, json_t **remote)
{
	json_t *answer;
	int rc;

	if (ep_begin(&c->e, &c->ep, -1, "copy") < 0 ||
	    ep_offer(&c->e,
		     json_pack("{s:s,s:I,s:I,s:b}", "name", c->name, "octets", (json_int_t)c->size,
			       "chunk", (json_int_t)CHUNK, "resume", c->resume)) < 0 ||
	    ep_await_answer(&c->e, (struct ep_depth){SLOTS, 1}, &answer) < 0)
		return -1;
	rc = agree_on_start(c, answer);
	json_decref(answer);
	if (rc < 0 || send_file(c) < 0)
		return -1;
	return compare(c, remote);
}

static int run_sender(struct copy *c)
{
	json_t *remote = NULL;
	int rc = open_file(c);

	if (rc == 0)
		rc = transfer(c, &remote);
	if (rc == 0)
		print_result(c, remote);
	if (rc != 0) {
		if (c->tty && c->shown != 0)
			fputc('\n', stderr);
		fprintf(stderr, "causeway copy: %s\n", c->e.err);
	}
	if (rc < 0 && c->done > 0 && c->e.tpg != NULL)
		fprintf(stderr,
			"causeway copy: %" PRIu64 " of %" PRIu64
			" octets are there; --resume goes on behind them\n",
			c->done, c->size);
	json_decref(remote);
	ep_end(&c->e);
	return rc < 0 ? EXIT_USAGE : rc == 0 ? EXIT_DONE : EXIT_DATA;
}

/* ---- Receiver -------------------------------------------------------------------------------- */

static bool good_name(const char *name)
{
	const char *p;

	if (name[0] == '\0' || name[0] == '.' || strlen(name) > NAME_LEN)
		return false;
	for (p = name; *p != '\0'; p++) {
		if (*p == '/' || (unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	}
	return true;
}

static int read_offer(struct copy *c, json_t *offer)
{
	json_int_t octets = -1, chunk = 0;
	const char *name = "";
	int resume = 0;

	(void)json_unpack(offer, "{s?{s?s,s?I,s?I,s?b}}", "test", "name", &name, "octets", &octets,
			  "chunk", &chunk, "resume", &resume);
	if (!good_name(name))
		return fail(c, "the name '%.60s' is not taken: no path, no dot in front", name);
	if (octets < 0 || octets > INT64_MAX / 2 || chunk != CHUNK)
		return fail(c, "%s: the offer is not understood", name);
	(void)snprintf(c->final, sizeof(c->final), "%s", name);
	(void)snprintf(c->part, sizeof(c->part), "%s.part", name);
	c->name = c->final;
	c->size = (uint64_t)octets;
	c->resume = resume;
	return make_memory(c, RECV_SLOTS);
}

/* Open what is to be filled, and find out how much of it is there already. */
static int open_part(struct copy *c)
{
	struct stat st;

	if (!c->overwrite && fstatat(c->dir, c->final, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return fail(c, "%s exists there (the receiver has no --overwrite)", c->final);
	c->fd = openat(c->dir, c->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (c->fd < 0 || fstat(c->fd, &st) < 0)
		return fail(c, "%s: %s", c->part, strerror(errno));
	c->from = 0;
	if (c->resume)
		c->from = (uint64_t)st.st_size / CHUNK * CHUNK;
	if (c->from > c->size)
		c->from = 0;
	if (c->from < (uint64_t)st.st_size && ftruncate(c->fd, (off_t)c->from) < 0)
		return fail(c, "%s: %s", c->part, strerror(errno));
	memset(c->got, 1, c->from / CHUNK);
	c->done = c->from;
	return hash_file(c, c->part, c->from);
}

static int write_chunk(struct copy *c, const struct cw_uboe_cr *cr)
{
	const uint8_t *p = c->memory + cr->user * CHUNK;
	uint64_t at = cr->imm * CHUNK;
	uint32_t len = cr->len;
	ssize_t n;

	if (cr->imm <
	    c->from / CHUNK) { /* what is here is another file's: the sender begins anew */
		memset(c->got, 0, c->from / CHUNK);
		c->done = c->from = 0;
	}
	if (!cr->has_imm || cr->imm >= c->nchunks || len != chunk_len(c, cr->imm) ||
	    c->got[cr->imm])
		return fail(c, "chunk %" PRIu64 " of %u octets does not belong here", cr->imm, len);
	while (len > 0) {
		n = pwrite(c->fd, p, len, (off_t)at);
		if (n < 0 && errno != EINTR)
			return fail(c, "%s: writing at %" PRIu64 ": %s", c->part, at,
				    strerror(errno));
		if (n > 0) {
			p += n;
			at += (uint64_t)n;
			len -= (uint32_t)n;
		}
	}
	mark(c, cr->imm);
	return 0;
}

static int take_chunks(struct copy *c)
{
	struct cw_uboe_cr cr[RECV_SLOTS];
	unsigned i, n = cw_uboe_poll(c->e.jetty, cr, RECV_SLOTS);

	for (i = 0; i < n; i++) {
		if (cr[i].status != CW_UBOE_OK)
			return fail(c, "receiving: %s", cw_uboe_status_text(cr[i].status));
		if (write_chunk(c, &cr[i]) < 0)
			return -1;
		(void)cw_uboe_post_recv(c->e.jetty, c->memory + cr[i].user * CHUNK, CHUNK,
					cr[i].user);
	}
	return 0;
}

/* Chunks until the sender says that it is done. */
static int receive(struct copy *c, json_t **done)
{
	int rc = 0;

	begin_clock(c);
	while (rc == 0) {
		rc = ep_step(&c->e, SECOND / 10);
		if (rc >= 0 && take_chunks(c) < 0)
			return -1;
		if (rc > 0)
			rc = rdv_recv(c->e.rdv, done, 0, c->e.err);
		progress(c, clock_now_ns(), rc > 0);
		if (rc == 0 && interrupted())
			return fail(c, "interrupted");
	}
	c->end = clock_now_ns();
	return rc < 0 ? -1 : 0;
}

/* The file as the disk has it must be what the sender read. */
static int prove(struct copy *c, json_t *done)
{
	const char *theirs = "";

	(void)json_unpack(done, "{s?s}", "sha256", &theirs);
	if (c->done != c->size)
		return fail(c, "%s: %" PRIu64 " of %" PRIu64 " octets arrived", c->name, c->done,
			    c->size);
	if (ftruncate(c->fd, (off_t)c->size) < 0 || hash_file(c, c->part, c->size) < 0)
		return fail(c, "%s: %s", c->part, strerror(errno));
	if (strcmp(theirs, c->hex) != 0) {
		(void)unlinkat(c->dir, c->part, 0);
		return 1;
	}
	if (fsync(c->fd) < 0 || renameat(c->dir, c->part, c->dir, c->final) < 0)
		return fail(c, "%s: %s", c->part, strerror(errno));
	return 0;
}

static int conclude(struct copy *c, json_t *done)
{
	json_t *bye;
	int rc = prove(c, done);

	if (rc < 0) {
		rdv_refuse(c->e.rdv, c->e.err);
		return -1;
	}
	if (rdv_send(c->e.rdv, json_pack("{s:s,s:o}", "sha256", c->hex, "report", ep_report(&c->e)),
		     c->e.err) < 0)
		return -1;
	if (ep_await(&c->e, &bye, SECOND) == 0) /* until the sender has hung up */
		json_decref(bye);
	if (rc == 1)
		(void)fail(c, "%s arrived with another SHA-256 and was removed: %s", c->name,
			   c->hex);
	return rc;
}

static int prepare(struct copy *c, int listener)
{
	json_t *offer = NULL;
	uint64_t i;

	if (ep_begin(&c->e, &c->ep, listener, "copy") < 0 ||
	    ep_await_offer(&c->e, (struct ep_depth){1, RECV_SLOTS}, &offer) < 0)
		return -1;
	if (read_offer(c, offer) < 0 || open_part(c) < 0) {
		json_decref(offer);
		rdv_refuse(c->e.rdv, c->e.err);
		return -1;
	}
	json_decref(offer);
	for (i = 0; i < RECV_SLOTS; i++)
		(void)cw_uboe_post_recv(c->e.jetty, c->memory + i * CHUNK, CHUNK, i);
	if (ep_answer(&c->e,
		      json_pack("{s:I,s:s}", "have", (json_int_t)c->from, "sha256", c->hex)) < 0)
		return -1;
	return ep_await_connect(&c->e);
}

/* A failed copy leaves what is complete from the front on, for --resume. */
static void keep_part(struct copy *c)
{
	if (c->fd < 0 || c->part[0] == '\0')
		return;
	if (c->done / CHUNK == 0) {
		(void)unlinkat(c->dir, c->part, 0);
		return;
	}
	if (ftruncate(c->fd, (off_t)(c->done / CHUNK * CHUNK)) == 0)
		fprintf(stderr,
			"causeway copy: %s has the first %" PRIu64 " of %" PRIu64 " octets\n",
			c->part, c->done / CHUNK * CHUNK, c->size);
}

static int receive_one(struct copy *c, int listener)
{
	json_t *done = NULL;
	int rc = -1;

	c->fd = -1;
	c->part[0] = '\0';
	if (prepare(c, listener) == 0 && receive(c, &done) == 0)
		rc = conclude(c, done);
	if (rc == 0)
		print_result(c, NULL);
	else
		ep_server_failed(&c->e, "copy", c->keep);
	if (rc < 0)
		keep_part(c);
	(void)fflush(stdout);
	json_decref(done);
	if (c->fd >= 0)
		(void)close(c->fd);
	ep_end(&c->e);
	return rc;
}

static int run_receiver(struct copy *c)
{
	char err[RDV_ERROR_MAX];
	int family = c->ep.ip_version == 0 || c->ep.address != NULL ? AF_UNSPEC
		     : c->ep.ip_version == 4                        ? AF_INET
								    : AF_INET6;
	int rc, listener;

	if ((c->dir = open(c->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		fprintf(stderr, "causeway copy: %s: %s\n", c->into, strerror(errno));
		return EXIT_USAGE;
	}
	if ((listener = rdv_listen(c->ep.host, c->ep.port, family, err)) < 0) {
		fprintf(stderr, "causeway copy: %s\n", err);
		return EXIT_USAGE;
	}
	do
		rc = receive_one(c, listener);
	while (c->keep && !interrupted());
	(void)close(listener);
	if (c->keep)
		rc = 0;
	return rc < 0 ? EXIT_USAGE : rc == 0 ? EXIT_DONE : EXIT_DATA;
}

/* ---- Options --------------------------------------------------------------------------------- */

enum { OPT_INTO = 2000, OPT_RESUME, OPT_OVERWRITE, OPT_KEEP };

static const struct option options[] = {EP_LONG,
					{"into", required_argument, NULL, OPT_INTO},
					{"resume", no_argument, NULL, OPT_RESUME},
					{"overwrite", no_argument, NULL, OPT_OVERWRITE},
					{"keep", no_argument, NULL, OPT_KEEP},
					{"json", no_argument, NULL, 'j'},
					{"help", no_argument, NULL, 'h'},
					{0}};

static int set_own(struct copy *c, int opt, const char *arg)
{
	if (opt == OPT_INTO)
		c->into = arg;
	else if (opt == OPT_RESUME)
		c->resume = true;
	else if (opt == OPT_OVERWRITE)
		c->overwrite = true;
	else if (opt == OPT_KEEP)
		c->keep = true;
	else
		c->json = true;
	return 0;
}

/* "HOST:", "HOST:NAME", "[ADDRESS]:NAME". */
static int read_target(struct copy *c, const char *text)
{
	const char *colon = strrchr(text, ':'), *slash = strrchr(c->file, '/');
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;

	if (colon == NULL || len == 0)
		return cmd_usage(&cmd_copy, "'%s' is not HOST: or HOST:NAME", text);
	if (text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len) != NULL) {
		return cmd_usage(&cmd_copy, "IPv6 addresses stand in brackets: [%.*s]:", (int)len,
				 text);
	}
	if (len >= sizeof(c->host))
		return cmd_usage(&cmd_copy, "the name of the host is too long");
	(void)snprintf(c->host, sizeof(c->host), "%.*s", (int)len, text);
	c->ep.host = c->host;
	c->ep.client = true;
	c->name = colon[1] != '\0' ? colon + 1 : slash != NULL ? slash + 1 : c->file;
	if (!good_name(c->name))
		return cmd_usage(&cmd_copy, "'%s': names of files have no path and no dot in front",
				 c->name);
	return 0;
}

static int read_operands(struct copy *c, int argc, char **argv)
{
	if (c->ep.client)
		return cmd_usage(&cmd_copy, "the receiver is named behind FILE, as HOST:");
	if (c->ep.server) {
		if (optind < argc)
			c->ep.host = argv[optind++];
	} else {
		if (argc - optind != 2)
			return cmd_usage(&cmd_copy, "give FILE and HOST:, or -s");
		c->file = argv[optind++];
		if (read_target(c, argv[optind++]) != 0)
			return EXIT_USAGE;
	}
	if (optind < argc)
		return cmd_usage(&cmd_copy, "'%s' is too much", argv[optind]);
	return ep_check(&cmd_copy, &c->ep);
}

/* 0 to go on, else an exit code + 1. */
static int read_options(struct copy *c, int argc, char **argv)
{
	int opt, rc;

	optind = 1;
	while ((opt = getopt_long(argc, argv, ":" EP_SHORT "jh", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(cmd_copy.help, stdout);
			return EXIT_DONE + 1;
		}
		if (opt == '?' || opt == ':')
			return args_bad_option(&cmd_copy, argv, opt) + 1;
		rc = ep_option(&cmd_copy, &c->ep, opt, optarg);
		if (rc < 0)
			rc = set_own(c, opt, optarg);
		if (rc != 0)
			return rc + 1;
	}
	rc = read_operands(c, argc, argv);
	return rc != 0 ? rc + 1 : 0;
}

static int run(int argc, char **argv)
{
	static struct copy c; /* large */
	int rc;

	c.into = ".";
	c.fd = c.dir = -1;
	c.tty = isatty(STDERR_FILENO);
	ep_defaults(&c.ep);
	if ((rc = read_options(&c, argc, argv)) != 0)
		return rc - 1;
	interrupt_catch();
	rc = c.ep.server ? run_receiver(&c) : run_sender(&c);
	EVP_MD_CTX_free(c.sha);
	free(c.memory);
	free(c.got);
	return rc;
}

const struct cmd cmd_copy = {
	.name = "copy",
	.run = run,
	.brief = "copy a file over RTP and prove it with SHA-256",
	.help = "usage: causeway copy [OPTIONS] FILE HOST:[NAME]\n"
		"       causeway copy -s [ADDRESS] [OPTIONS]\n"
		"\n"
		"Copy a file to another software endpoint, over UBoE or a native UB link. Both\n"
		"ends compute its SHA-256; the file appears under its name when they agree.\n"
		"\n"
		"  -s, --server         receive (listen on ADDRESS)\n" EP_HELP
		"  -j, --json           result as JSON, with a series of time and octets\n"
		"  -h, --help           this text\n"
		"\n"
		"receiver:\n"
		"      --into DIR       directory of the files (.)\n"
		"      --overwrite      files that exist may be replaced\n"
		"      --keep           take one file after the other\n"
		"\n"
		"sender:\n"
		"      --resume         go on with what an earlier try left there\n" EP_HELP_CLIENT
		"\n"
		"exit code: 0 copied and proved, 1 the hashes differ, 2 usage, I/O or the\n"
		"transport failed\n"
		"\n"
		"examples:\n"
		"  causeway copy -s --into incoming --keep\n"
		"  causeway copy model.bin 192.0.2.2:\n"
		"  causeway copy --resume --cc dcqcn model.bin '[2001:db8::2]:model.new'\n",
};
