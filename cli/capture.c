/* capture.c - capture files: pcap by libpcap, pcapng by ngread.h and causeway/pcapng.h. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <pcap/pcap.h>
#include "causeway/packet.h"
#include "causeway/pcapng.h"
#include "cli/capture.h"
#include "cli/gunzip.h"
#include "cli/ngread.h"

/* pcap_datalink() gives DLT numbers. Of the link types met here only this one differs. */
enum { LOCAL_DLT_RAW = 12, LINKTYPE_RAW = 101 };

struct cap_reader {
	pcap_t *pcap; /* of a pcap file and a live capture, else NULL */
	FILE *f;      /* of a pcapng file, else NULL */
	struct ngread *ng;
	bool (*idle)(void); /* of a live capture, else NULL */
	char *name;
	int link;
	uint64_t count;
	off_t size; /* of a regular file, else 0 */
	char err[CAP_ERROR_MAX];
};

struct cap_writer {
	FILE *f;
	char *name;
	enum cap_format format;
	uint32_t ninterfaces;
	uint8_t *block;
	size_t block_size;
	bool failed, std;
	char err[CAP_ERROR_MAX];
};

static int fail(char err[CAP_ERROR_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(char err[CAP_ERROR_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err, CAP_ERROR_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

static int out_of_memory(char err[CAP_ERROR_MAX])
{
	return fail(err, "out of memory");
}

/* ---- Reading ------------------------------------------------------------------------------ */

static off_t size_of(FILE *f)
{
	struct stat st;

	if (f == NULL || fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	return st.st_size;
}

static struct cap_reader *new_reader(const char *name)
{
	struct cap_reader *r = calloc(1, sizeof(*r));

	if (r == NULL || (r->name = strdup(name)) == NULL) {
		free(r);
		return NULL;
	}
	return r;
}

static void note_link(struct cap_reader *r)
{
	r->link = pcap_datalink(r->pcap);
	if (r->link == LOCAL_DLT_RAW)
		r->link = LINKTYPE_RAW;
}

/* What is often tried, and has to be unpacked first. */
static const char *packed_by(int first)
{
	return first == 0x28   ? ": packed by zstd? Try 'zstd -dc FILE |' and -"
	       : first == 0xfd ? ": packed by xz? Try 'xz -dc FILE |' and -"
	       : first == 'B'  ? ": packed by bzip2? Try 'bzip2 -dc FILE |' and -"
			       : "";
}

static int open_pcap(struct cap_reader *r, FILE *f, int first, char err[CAP_ERROR_MAX])
{
	char text[PCAP_ERRBUF_SIZE] = "";

	r->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (r->pcap == NULL) {
		(void)fclose(f);
		return fail(err, "%s: not a readable capture file: %s%s", r->name, text,
			    packed_by(first));
	}
	note_link(r);
	return 0;
}

static int open_pcapng(struct cap_reader *r, FILE *f, char err[CAP_ERROR_MAX])
{
	char why[CAP_ERROR_MAX / 2];

	r->f = f;
	if ((r->ng = ngread_open(f, why, sizeof(why))) == NULL)
		return fail(err, "%s: not a readable capture file: %s", r->name, why);
	r->link = ngread_link(r->ng);
	return 0;
}

/* By the first octet, which no other format has. The size is known of a plain file only. */
static int open_format(struct cap_reader *r, FILE *f, char err[CAP_ERROR_MAX])
{
	enum { PCAPNG = 0x0a };
	bool packed = gunzip_wanted(f);
	int first;

	if (ferror(f)) { /* a signal ended the wait for a pipe's first octet */
		(void)fail(err, "%s: %s", r->name, strerror(errno));
		(void)fclose(f);
		return -1;
	}
	if (packed && (f = gunzip_open(f)) == NULL)
		return fail(err, "%s: %s", r->name, strerror(errno));
	if (!packed)
		r->size = size_of(f);
	first = getc(f);
	(void)ungetc(first, f);
	return first == PCAPNG ? open_pcapng(r, f, err) : open_pcap(r, f, first, err);
}

int cap_open_stream(struct cap_reader **out, FILE *f, const char *name, char err[CAP_ERROR_MAX])
{
	struct cap_reader *r = new_reader(name);

	if (r == NULL) {
		(void)fclose(f);
		return out_of_memory(err);
	}
	if (open_format(r, f, err) < 0) {
		cap_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int cap_open(struct cap_reader **out, const char *path, char err[CAP_ERROR_MAX])
{
	bool std = strcmp(path, "-") == 0;
	int fd = std ? dup(STDIN_FILENO) : -1;
	FILE *f = std ? (fd < 0 ? NULL : fdopen(fd, "rb")) : fopen(path, "rb");
	struct stat st;

	path = std ? "standard input" : path;
	if (f == NULL)
		return fail(err, "%s: %s", path, strerror(errno));
	if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
		(void)fclose(f);
		return fail(err, "%s: %s", path, strerror(EISDIR));
	}
	return cap_open_stream(out, f, path, err);
}

enum { LIVE_BUFFER = 32 << 20, LIVE_WAIT_MS = 200 };

static int live_failed(struct cap_reader *r, int rc, char err[CAP_ERROR_MAX])
{
	if (rc == PCAP_ERROR_NO_SUCH_DEVICE)
		(void)fail(err, "%s: no such interface", r->name);
	else if (rc == PCAP_ERROR_PERM_DENIED)
		(void)fail(err, "%s: listening needs root or CAP_NET_RAW", r->name);
	else
		(void)fail(err, "%s: %s", r->name,
			   rc == PCAP_ERROR ? pcap_geterr(r->pcap) : pcap_statustostr(rc));
	cap_close(r);
	return -1;
}

int cap_open_live(struct cap_reader **out, const char *interface, bool promiscuous,
		  bool (*idle)(void), char err[CAP_ERROR_MAX])
{
	struct cap_reader *r = new_reader(interface);
	char text[PCAP_ERRBUF_SIZE] = "";
	int rc;

	if (r == NULL)
		return out_of_memory(err);
	r->idle = idle;
	if ((r->pcap = pcap_create(interface, text)) == NULL) {
		cap_close(r);
		return fail(err, "%s: %s", interface, text);
	}
	(void)pcap_set_snaplen(r->pcap, CAP_PACKET_MAX);
	(void)pcap_set_promisc(r->pcap, promiscuous);
	(void)pcap_set_immediate_mode(r->pcap, 1);
	(void)pcap_set_buffer_size(r->pcap, LIVE_BUFFER);
	(void)pcap_set_tstamp_precision(r->pcap, PCAP_TSTAMP_PRECISION_NANO);
	if ((rc = pcap_activate(r->pcap)) < 0 || (rc = pcap_setnonblock(r->pcap, 1, text)) < 0)
		return live_failed(r, rc, err);
	note_link(r);
	*out = r;
	return 0;
}

uint64_t cap_lost(const struct cap_reader *r)
{
	struct pcap_stat s = {0};

	return r->idle != NULL && pcap_stats(r->pcap, &s) == 0 ? s.ps_drop : 0;
}

/* As pcap_next_ex(); at the end of what is there a live capture waits for more. */
static int next_record(struct cap_reader *r, struct pcap_pkthdr **h, const u_char **data)
{
	struct pollfd more = {.fd = pcap_get_selectable_fd(r->pcap), .events = POLLIN};
	int rc = pcap_next_ex(r->pcap, h, data);

	while (rc == 0 && r->idle != NULL && r->idle()) {
		(void)poll(&more, 1, LIVE_WAIT_MS);
		rc = pcap_next_ex(r->pcap, h, data);
	}
	return rc == 0 && r->idle != NULL ? PCAP_ERROR_BREAK : rc;
}

static int broken(struct cap_reader *r, const char *why)
{
	return fail(r->err, "%s: record %llu: %s", r->name, (unsigned long long)r->count + 1, why);
}

static int next_pcap(struct cap_reader *r, struct cap_packet *p)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	int rc = next_record(r, &h, &data);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	if (rc != 1)
		return broken(r, pcap_geterr(r->pcap));
	if (h->caplen > CAP_PACKET_MAX)
		return fail(r->err, "%s: record %llu: packet of %u octets; at most %d can be read",
			    r->name, (unsigned long long)r->count + 1, h->caplen, CAP_PACKET_MAX);
	/* Times of a file are what somebody wrote: the sum may wrap, and harms nobody. */
	p->time_ns = (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec;
	p->link = r->link;
	p->data = data;
	p->caplen = h->caplen;
	p->len = h->len;
	p->comment = NULL;
	return 1;
}

int cap_next(struct cap_reader *r, struct cap_packet *p)
{
	char why[CAP_ERROR_MAX / 2];
	int rc;

	if (r->ng == NULL)
		rc = next_pcap(r, p);
	else if ((rc = ngread_next(r->ng, p, why, sizeof(why))) < 0)
		rc = broken(r, why);
	if (rc == 1)
		p->number = ++r->count;
	return rc;
}

const char *cap_error(const struct cap_reader *r)
{
	return r->err;
}

int cap_reader_link(const struct cap_reader *r)
{
	return r->link;
}

int cap_percent(const struct cap_reader *r)
{
	int64_t at;

	if (r->size == 0)
		return -1;
	at = ftello(r->f != NULL ? r->f : pcap_file(r->pcap));
	return at < 0 ? -1 : (int)(100 * at / r->size);
}

void cap_close(struct cap_reader *r)
{
	if (r == NULL)
		return;
	if (r->pcap != NULL)
		pcap_close(r->pcap);
	if (r->f != NULL)
		(void)fclose(r->f);
	ngread_close(r->ng);
	free(r->name);
	free(r);
}

/* ---- Writing ------------------------------------------------------------------------------ */

enum cap_format cap_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot != NULL && (strcasecmp(dot, ".pcapng") == 0 || strcasecmp(dot, ".ntar") == 0))
		return CAP_PCAPNG;
	return CAP_PCAP;
}

static int write_failed(struct cap_writer *w)
{
	w->failed = true;
	return fail(w->err, "%s: %s", w->name, strerror(errno));
}

static int put(struct cap_writer *w, const void *data, size_t len)
{
	if (w->failed)
		return -1;
	if (fwrite(data, 1, len, w->f) != len)
		return write_failed(w);
	return 0;
}

/* Put what cw_pcapng_*() made in w->block; `len` is its result. */
static int put_block(struct cap_writer *w, int len)
{
	if (len < 0)
		return fail(w->err, "%s: %s", w->name, cw_strerror(len));
	return put(w, w->block, (size_t)len);
}

static int grow_block(struct cap_writer *w, size_t need)
{
	uint8_t *bigger;

	if (need <= w->block_size)
		return 0;
	if ((bigger = realloc(w->block, need)) == NULL)
		return out_of_memory(w->err);
	w->block = bigger;
	w->block_size = need;
	return 0;
}

int cap_create(struct cap_writer **out, const char *path, enum cap_format format,
	       char err[CAP_ERROR_MAX])
{
	bool std = strcmp(path, "-") == 0;
	struct cap_writer *w = calloc(1, sizeof(*w));
	int fd;

	if (w == NULL || (w->name = strdup(std ? "standard output" : path)) == NULL ||
	    grow_block(w, CW_PCAPNG_HEAD_MAX) < 0) {
		(void)cap_finish(w, err);
		return out_of_memory(err);
	}
	fd = std ? dup(STDOUT_FILENO) : -1;
	w->f = std ? (fd < 0 ? NULL : fdopen(fd, "wb")) : fopen(path, "wb");
	w->format = format;
	w->std = std;
	if (w->f == NULL) {
		(void)write_failed(w);
		return cap_finish(w, err);
	}
	if (format == CAP_PCAPNG &&
	    put_block(w, cw_pcapng_section(w->block, w->block_size, "causeway " CW_VERSION)) < 0)
		return cap_finish(w, err);
	*out = w;
	return 0;
}

/* The file header of pcap: nanosecond magic, version 2.4, snap length, link type. */
static int put_pcap_header(struct cap_writer *w, int link)
{
	uint8_t h[24] = {0};

	cw_put_le32(h, 0xa1b23c4d);
	h[4] = 2;
	h[6] = 4;
	cw_put_le32(h + 16, CAP_PACKET_MAX);
	cw_put_le32(h + 20, (uint32_t)link);
	return put(w, h, sizeof(h));
}

int cap_add_interface(struct cap_writer *w, int link, const char *name)
{
	int rc;

	if (link < 0 || link > UINT16_MAX)
		return fail(w->err, "%s: link type %d; a capture file holds 0 to 65535", w->name,
			    link);
	if (w->format == CAP_PCAP && w->ninterfaces > 0)
		return fail(w->err, "%s: a pcap file has one link type; use pcapng", w->name);
	if (w->format == CAP_PCAP)
		rc = put_pcap_header(w, link);
	else
		rc = put_block(w,
			       cw_pcapng_interface(w->block, w->block_size, (uint16_t)link, name));
	w->ninterfaces++;
	return rc;
}

static int put_pcap_record(struct cap_writer *w, const struct cap_packet *p)
{
	uint8_t h[16];

	cw_put_le32(h, (uint32_t)(p->time_ns / 1000000000u));
	cw_put_le32(h + 4, (uint32_t)(p->time_ns % 1000000000u));
	cw_put_le32(h + 8, p->caplen);
	cw_put_le32(h + 12, p->len);
	return put(w, h, sizeof(h)) < 0 ? -1 : put(w, p->data, p->caplen);
}

int cap_write(struct cap_writer *w, uint32_t interface, const struct cap_packet *p,
	      const char *comment)
{
	struct cw_pcapng_packet ng = {interface, p->time_ns, p->data, p->caplen, p->len, comment};

	if (p->caplen > CAP_PACKET_MAX)
		return fail(w->err, "%s: packet of %u octets; at most %d can be written", w->name,
			    p->caplen, CAP_PACKET_MAX);
	if (w->format == CAP_PCAP)
		return put_pcap_record(w, p);
	if (grow_block(w, CW_PCAPNG_PACKET_MAX(p->caplen)) < 0)
		return -1;
	return put_block(w, cw_pcapng_packet(w->block, w->block_size, &ng));
}

const char *cap_writer_error(const struct cap_writer *w)
{
	return w->err;
}

int cap_finish(struct cap_writer *w, char err[CAP_ERROR_MAX])
{
	struct stat st;
	bool failed, plain;

	if (w == NULL)
		return 0;
	plain = w->f != NULL && !w->std && fstat(fileno(w->f), &st) == 0 && S_ISREG(st.st_mode);
	if (w->f != NULL && fclose(w->f) != 0 && !w->failed)
		(void)write_failed(w);
	failed = w->failed;
	if (failed)
		memcpy(err, w->err, CAP_ERROR_MAX);
	if (failed && plain)
		(void)unlink(w->name);
	free(w->name);
	free(w->block);
	free(w);
	return failed ? -1 : 0;
}

void cap_discard(struct cap_writer *w)
{
	char err[CAP_ERROR_MAX];

	if (w != NULL)
		w->failed = true;
	(void)cap_finish(w, err);
}

/* ---- Link types --------------------------------------------------------------------------- */

const char *cap_link_name(int link, char buf[CAP_LINK_TEXT])
{
	const char *name;

	if (link == CW_LINK_ETHERNET)
		return "ethernet";
	if (link == CW_LINK_UB)
		return "ub";
	if (link == CW_LINK_ERF)
		return "erf";
	if (link == CW_LINK_IPOIB)
		return "ipoib";
	if (link == CW_LINK_IB)
		return "ib";
	name = pcap_datalink_val_to_name(link == LINKTYPE_RAW ? LOCAL_DLT_RAW : link);
	if (name != NULL)
		(void)snprintf(buf, CAP_LINK_TEXT, "%s", name);
	else
		(void)snprintf(buf, CAP_LINK_TEXT, "%d", link);
	return buf;
}

int cap_link_parse(const char *text)
{
	char *end;
	long n;

	if (strcasecmp(text, "ethernet") == 0)
		return CW_LINK_ETHERNET;
	if (strcasecmp(text, "ub") == 0)
		return CW_LINK_UB;
	if (strcasecmp(text, "erf") == 0)
		return CW_LINK_ERF;
	if (strcasecmp(text, "ipoib") == 0)
		return CW_LINK_IPOIB;
	if (strcasecmp(text, "ib") == 0)
		return CW_LINK_IB;
	n = strtol(text, &end, 10);
	if (end != text && *end == '\0')
		return n >= 0 && n <= UINT16_MAX ? (int)n : -1;
	n = pcap_datalink_name_to_val(text);
	return n == LOCAL_DLT_RAW ? LINKTYPE_RAW : (int)n;
}

bool cap_link_known(int link)
{
	const struct cw_family *const *f;
	unsigned i;

	for (f = cw_families; *f != NULL; f++) {
		for (i = 0; i < (*f)->nclaims; i++) {
			if ((*f)->claims[i].sel == CW_SEL_LINK &&
			    (*f)->claims[i].value == (uint32_t)link)
				return true;
		}
	}
	return false;
}
