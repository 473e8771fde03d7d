/* file.c - the carrier of capture files: "file:rx=FILE,tx=FILE", for tests and to look into what a
 * link would do with a capture.
 *
 * Read: LINKTYPE_INFINIBAND (247), LINKTYPE_ERF (197, type InfiniBand) and Ethernet (1) with frames
 * of EtherType 0x88B5. Written: LINKTYPE_INFINIBAND. All are LRH .. VCRC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <pcap.h>
#include "causeway/wire/eth.h"
#include "daemon/ipoib/int.h"
#include "daemon/log.h"

enum { ERF_HEAD = 16, ERF_INFINIBAND = 21 };

struct file {
	pcap_t *in, *dead;
	pcap_dumper_t *out;
	int link;
};

static int open_in(struct file *f, const char *path, char *why, size_t size)
{
	char err[PCAP_ERRBUF_SIZE] = "";

	if ((f->in = pcap_open_offline(path, err)) == NULL) {
		(void)snprintf(why, size, "rx=%s: %s", path, err);
		return CW_E_IO;
	}
	f->link = pcap_datalink(f->in);
	if (f->link == DLT_ERF || f->link == DLT_EN10MB || f->link == DLT_INFINIBAND)
		return CW_OK;
	(void)snprintf(why, size, "rx=%s: link type %d is none of %d, %d and %d", path, f->link,
		       DLT_EN10MB, DLT_ERF, DLT_INFINIBAND);
	return CW_E_UNKNOWN;
}

static int open_out(struct file *f, const char *path, char *why, size_t size)
{
	f->dead = pcap_open_dead(DLT_INFINIBAND, 65535);
	f->out = f->dead != NULL ? pcap_dump_open(f->dead, path) : NULL;
	if (f->out != NULL)
		return CW_OK;
	(void)snprintf(why, size, "tx=%s: %s", path,
		       f->dead != NULL ? pcap_geterr(f->dead) : "out of memory");
	return CW_E_IO;
}

static int open_both(struct file *f, const char *arg, char *why, size_t size)
{
	const char *at = arg, *end;
	char path[256];
	int err = CW_OK;

	do {
		end = at + strcspn(at, ",");
		(void)snprintf(path, sizeof(path), "%.*s", (int)(end - at), at);
		if (strncmp(path, "rx=", 3) == 0 && f->in == NULL) {
			err = open_in(f, path + 3, why, size);
		} else if (strncmp(path, "tx=", 3) == 0 && f->out == NULL) {
			err = open_out(f, path + 3, why, size);
		} else {
			(void)snprintf(why, size, "'%s': must be rx=FILE, tx=FILE or both", path);
			return CW_E_SYNTAX;
		}
		at = end + 1;
	} while (err == CW_OK && *end == ',');
	return err;
}

/* poll() finds this descriptor readable until the file's end. */
static int file_open(struct hca *h, const char *arg, char *why, size_t size)
{
	struct file *f = calloc(1, sizeof(*f));
	int err;

	if ((h->priv = f) == NULL) {
		(void)snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	if ((err = open_both(f, arg, why, size)) < 0)
		return err;
	if (f->in != NULL && (h->fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		(void)snprintf(why, size, "no eventfd");
		return CW_E_IO;
	}
	return CW_OK;
}

static void file_close(struct hca *h)
{
	struct file *f = h->priv;

	if (f != NULL && f->in != NULL)
		pcap_close(f->in);
	if (f != NULL && f->out != NULL)
		pcap_dump_close(f->out);
	if (f != NULL && f->dead != NULL)
		pcap_close(f->dead);
	carrier_close(h);
}

static void file_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn,
		      const uint8_t *data, size_t len)
{
	struct file *f = h->priv;
	struct pcap_pkthdr head = {0};
	uint8_t buf[FRAME_MAX];
	struct timespec t;
	int n;

	if (f->out == NULL)
		return;
	if ((n = cw_ipoib_frame_build(buf, sizeof(buf), tx, psn, data, len)) < 0) {
		carrier_sent(h, n);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &t);
	head.ts.tv_sec = t.tv_sec;
	head.ts.tv_usec = t.tv_nsec / 1000;
	head.caplen = head.len = (bpf_u_int32)n;
	pcap_dump((u_char *)f->out, &head, buf);
	carrier_sent(h, pcap_dump_flush(f->out));
}

/* Extension headers of ERF: each of 8 octets, its top bit says that another follows. */
static size_t erf_head(const uint8_t *p, size_t len)
{
	size_t n = ERF_HEAD;
	uint8_t more;

	if (len < ERF_HEAD || (p[8] & 0x7f) != ERF_INFINIBAND)
		return len;
	for (more = p[8] & 0x80; more != 0 && n + 8 <= len; n += 8)
		more = p[n] & 0x80;
	return n;
}

static size_t head_of(const struct file *f, const uint8_t *p, size_t len)
{
	if (f->link == DLT_ERF)
		return erf_head(p, len);
	if (f->link == DLT_EN10MB)
		return len < ETH_HEAD || cw_be16(p + 12) != CW_ETHERTYPE_IB ? len : ETH_HEAD;
	return 0;
}

static void file_end(struct hca *h, int rc)
{
	struct file *f = h->priv;

	if (rc == PCAP_ERROR)
		cw_log(CW_LOG_ERROR, "hca %s: %s", h->conf.name, pcap_geterr(f->in));
	else
		cw_log(CW_LOG_NOTICE, "hca %s: the capture file is at its end", h->conf.name);
	(void)close(h->fd);
	h->fd = -1;
}

static void file_receive(struct hca *h)
{
	struct file *f = h->priv;
	struct pcap_pkthdr *head;
	const u_char *p;
	unsigned i;
	size_t skip;
	int rc;

	for (i = 0; i < BURST && h->fd >= 0; i++) {
		if ((rc = pcap_next_ex(f->in, &head, &p)) != 1) {
			file_end(h, rc);
			return;
		}
		skip = head_of(f, p, head->caplen);
		if (skip < head->caplen)
			hca_frame(h, p + skip, head->caplen - skip);
	}
}

const struct carrier_ops carrier_file = {
	.prefix = "file:",
	.open = file_open,
	.close = file_close,
	.send = file_send,
	.receive = file_receive,
};
