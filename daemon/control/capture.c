/* capture.c - dropped packets into a pcapng file. See capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "causeway/packet.h"
#include "causeway/pcapng.h"
#include "causeway/wire/eth.h"
#include "daemon/control/capture.h"
#include "daemon/control/current.h"
#include "daemon/log.h"

static FILE *out;
static char name[256];
static uint64_t written;
/* Number in the file plus 1; 0: none yet. Bare ports have two: frames that would have gone out are
 * not bare. */
static int interface_of[CW_MAX_PORTS][2];
static unsigned interfaces;

static void put(const void *block, int len)
{
	if (len <= 0 || fwrite(block, 1, (size_t)len, out) == (size_t)len)
		return;
	cw_log(CW_LOG_ERROR, "drop capture %s: %s; it ends here", name, strerror(errno));
	cw_capture_stop();
}

/* A pipe that nobody reads must not hold control until somebody does. */
static FILE *open_append(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
	FILE *f = NULL;

	if (fd >= 0 && (fcntl(fd, F_SETFL, O_APPEND) < 0 || (f = fdopen(fd, "a")) == NULL))
		close(fd);
	return f;
}

/* What was there before is only lost when the file is taken into use. */
int cw_capture_open(struct cw_capture_file *c, const char *file, struct cw_diag *diag)
{
	*c = (struct cw_capture_file){.same = strcmp(file, name) == 0};
	if (c->same || file[0] == '\0')
		return CW_OK;
	c->made = access(file, F_OK) != 0;
	if ((c->f = open_append(file)) == NULL)
		return cw_diag_set(
			diag, CW_E_IO, "/causeway:causeway/daemon/drop-capture", file, "%s",
			errno == ENXIO ? "nobody reads from this pipe" : strerror(errno));
	snprintf(c->name, sizeof(c->name), "%s", file);
	return CW_OK;
}

void cw_capture_abandon(struct cw_capture_file *c)
{
	if (c->f == NULL)
		return;
	fclose(c->f);
	if (c->made)
		unlink(c->name);
	c->f = NULL;
}

void cw_capture_use(struct cw_capture_file *c)
{
	uint8_t head[CW_PCAPNG_HEAD_MAX];

	if (c->same)
		return;
	cw_capture_stop();
	if ((out = c->f) == NULL)
		return;
	if (ftruncate(fileno(out), 0) < 0 && errno != EINVAL)
		cw_log(CW_LOG_WARNING, "drop capture %s: %s", c->name, strerror(errno));
	snprintf(name, sizeof(name), "%s", c->name);
	memset(interface_of, 0, sizeof(interface_of));
	interfaces = 0;
	written = 0;
	put(head, cw_pcapng_section(head, sizeof(head), "causewayd " CW_VERSION));
	atomic_store(&cw_dp.capture_on, out != NULL);
	if (out != NULL)
		cw_log(CW_LOG_NOTICE, "dropped packets are written to %s", name);
}

void cw_capture_stop(void)
{
	atomic_store(&cw_dp.capture_on, false);
	if (out != NULL)
		fclose(out);
	out = NULL;
	name[0] = '\0';
}

/* The port's interface in the file; described when its first packet comes. */
static int interface_number(unsigned slot, bool egress)
{
	const struct cw_plane_port *pp = &cw_plane_now()->port[slot];
	bool bare = !egress && pp->dev != NULL && pp->dev->bare_rx;
	int *number = &interface_of[slot][bare];
	uint8_t head[CW_PCAPNG_HEAD_MAX];

	if (*number == 0) {
		put(head,
		    cw_pcapng_interface(head, sizeof(head), bare ? CW_LINK_UB : CW_LINK_ETHERNET,
					pp->dev != NULL ? pp->conf->name : "closed"));
		*number = (int)++interfaces;
	}
	return *number - 1;
}

/* The frame's octets, of all its segments. */
static uint32_t copy_frame(const struct rte_mbuf *m, uint8_t *buf, uint32_t size)
{
	uint32_t len = RTE_MIN(m->pkt_len, size);
	const void *data = rte_pktmbuf_read(m, 0, len, buf);

	if (data == NULL)
		return 0;
	if (data != buf)
		memcpy(buf, data, len);
	return len;
}

/* The frame as it came: a tag that the device took out is put back. */
static uint32_t flatten(const struct rte_mbuf *m, uint8_t *buf, uint32_t size)
{
	const struct cw_plane_port *in = &cw_plane_now()->port[m->port];
	uint32_t len = copy_frame(m, buf, size - CW_SIZE_VLAN);

	if ((cw_meta_get(m) & CW_DROP_EGRESS) != 0 ||
	    (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0 || len < 12 || in->dev == NULL)
		return len;
	memmove(buf + 12 + CW_SIZE_VLAN, buf + 12, len - 12);
	cw_put_be16(buf + 12, cw_tag_tpid(in, m));
	cw_put_be16(buf + 14, m->vlan_tci);
	return len + CW_SIZE_VLAN;
}

void cw_capture_packet(const struct rte_mbuf *m)
{
	bool egress = (cw_meta_get(m) & CW_DROP_EGRESS) != 0;
	enum cw_drop why = (enum cw_drop)(cw_meta_get(m) & ~CW_DROP_EGRESS);
	static uint8_t frame[CW_MAX_FRAME + 128], block[CW_PCAPNG_PACKET_MAX(sizeof(frame))];
	struct cw_pcapng_packet p = {0};
	struct timespec now;
	char comment[160];

	if (out == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(comment, sizeof(comment), "%s: %s", cw_drop_name(why), cw_drop_text(why));
	p.interface = (uint32_t)interface_number(m->port, egress);
	p.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	p.data = frame;
	p.caplen = flatten(m, frame, sizeof(frame));
	p.len = RTE_MAX(p.caplen, m->pkt_len);
	p.comment = comment;
	if (out != NULL)
		put(block, cw_pcapng_packet(block, sizeof(block), &p));
	written++;
}

void cw_capture_run(void)
{
	struct rte_mbuf *m[CW_MAX_BURST];
	unsigned i, n;

	do {
		n = rte_ring_sc_dequeue_burst(cw_dp.capture, (void **)m, CW_MAX_BURST, NULL);
		for (i = 0; i < n; i++)
			cw_capture_packet(m[i]);
		rte_pktmbuf_free_bulk(m, n);
	} while (n == CW_MAX_BURST);
	/* A capture is for watching: what was dropped is in the file at once. */
	if (out != NULL)
		fflush(out);
}

struct cw_capture_info cw_capture_info(void)
{
	return (struct cw_capture_info){name, written, atomic_load(&cw_dp.capture_lost)};
}
