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

static int out = -1;
static char name[256];
static uint64_t written;
/* Number in the file plus 1; 0: none yet. Bare ports have two: frames that would have gone out are
 * not bare. */
static int interface_of[CW_MAX_PORTS][2];
static unsigned interfaces;
/* Whole blocks that wait to be written, but the first, which may have begun. */
static uint8_t waiting[256 << 10];
static size_t nwaiting;

/* A pipe takes what it has room for: control does not wait for its reader. */
static void write_waiting(void)
{
	size_t done = 0;
	ssize_t n = 0;

	while (done < nwaiting && (n = write(out, waiting + done, nwaiting - done)) > 0)
		done += (size_t)n;
	nwaiting -= done;
	memmove(waiting, waiting + done, nwaiting);
	if (n >= 0 || errno == EAGAIN || errno == EINTR)
		return;
	cw_log(CW_LOG_ERROR, "drop capture %s: %s; it ends here", name, strerror(errno));
	nwaiting = 0;
	cw_capture_stop();
}

/* False: there is no room for the block. */
static bool put(const void *block, int len)
{
	if (len <= 0)
		return false;
	if (nwaiting + (size_t)len > sizeof(waiting))
		write_waiting();
	if (out < 0 || nwaiting + (size_t)len > sizeof(waiting))
		return false;
	memcpy(waiting + nwaiting, block, (size_t)len);
	nwaiting += (size_t)len;
	return true;
}

/* What was there before is only lost when the file is taken into use. */
int cw_capture_open(struct cw_capture_file *c, const char *file, struct cw_diag *diag)
{
	*c = (struct cw_capture_file){.fd = -1, .same = strcmp(file, name) == 0};
	if (c->same || file[0] == '\0')
		return CW_OK;
	c->made = access(file, F_OK) != 0;
	c->fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
	if (c->fd < 0)
		return cw_diag_set(
			diag, CW_E_IO, "/causeway:causeway/daemon/drop-capture", file, "%s",
			errno == ENXIO ? "nobody reads from this pipe" : strerror(errno));
	snprintf(c->name, sizeof(c->name), "%s", file);
	return CW_OK;
}

void cw_capture_abandon(struct cw_capture_file *c)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	if (c->made)
		unlink(c->name);
	c->fd = -1;
}

void cw_capture_use(struct cw_capture_file *c)
{
	uint8_t head[CW_PCAPNG_HEAD_MAX];

	if (c->same)
		return;
	cw_capture_stop();
	if ((out = c->fd) < 0)
		return;
	if (ftruncate(out, 0) < 0 && errno != EINVAL)
		cw_log(CW_LOG_WARNING, "drop capture %s: %s", c->name, strerror(errno));
	snprintf(name, sizeof(name), "%s", c->name);
	memset(interface_of, 0, sizeof(interface_of));
	interfaces = 0;
	written = 0;
	(void)put(head, cw_pcapng_section(head, sizeof(head), "causewayd " CW_VERSION));
	atomic_store(&cw_dp.capture_on, true);
	cw_log(CW_LOG_NOTICE, "dropped packets are written to %s", name);
}

void cw_capture_stop(void)
{
	atomic_store(&cw_dp.capture_on, false);
	if (nwaiting > 0)
		write_waiting();
	if (out >= 0)
		close(out);
	out = -1;
	nwaiting = 0;
	name[0] = '\0';
}

/* The port's interface in the file, described when its first packet comes; -1: no room for that. */
static int interface_number(unsigned slot, bool egress)
{
	const struct cw_plane_port *pp = &cw_plane_now()->port[slot];
	bool bare = !egress && pp->dev != NULL && pp->dev->bare_rx;
	int *number = &interface_of[slot][bare];
	uint8_t head[CW_PCAPNG_HEAD_MAX];

	if (*number == 0 &&
	    put(head, cw_pcapng_interface(head, sizeof(head), bare ? CW_LINK_UB : CW_LINK_ETHERNET,
					  pp->dev != NULL ? pp->conf->name : "closed")))
		*number = (int)++interfaces;
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
	int interface;

	if (out < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(comment, sizeof(comment), "%s: %s", cw_drop_name(why), cw_drop_text(why));
	interface = interface_number(m->port, egress);
	p.interface = (uint32_t)interface;
	p.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	p.data = frame;
	p.caplen = flatten(m, frame, sizeof(frame));
	p.len = RTE_MAX(p.caplen, m->pkt_len);
	p.comment = comment;
	if (interface >= 0 && put(block, cw_pcapng_packet(block, sizeof(block), &p)))
		written++;
	else
		atomic_fetch_add(&cw_dp.capture_lost, 1);
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
	if (nwaiting > 0)
		write_waiting();
}

struct cw_capture_info cw_capture_info(void)
{
	return (struct cw_capture_info){name, written, atomic_load(&cw_dp.capture_lost)};
}
