/* capture.c - dropped packets into a pcapng file. See capture.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "causeway/packet.h"
#include "causeway/pcapng.h"
#include "causeway/wire/eth.h"
#include "daemon/control/capture.h"
#include "daemon/control/plane.h"
#include "daemon/log.h"

static FILE *out;
static char name[256];
static uint64_t written;
static int interface_of[CW_MAX_PORTS]; /* its number in the file plus 1; 0: none yet */
static unsigned interfaces;

static void put(const void *block, int len)
{
	if (len <= 0 || fwrite(block, 1, (size_t)len, out) == (size_t)len)
		return;
	cw_log(CW_LOG_ERROR, "drop capture %s: %s; it ends here", name, strerror(errno));
	cw_capture_stop();
}

int cw_capture_start(const char *file, struct cw_diag *diag)
{
	uint8_t head[CW_PCAPNG_HEAD_MAX];
	FILE *f;

	if (strcmp(file, name) == 0)
		return CW_OK;
	if (file[0] == '\0') {
		cw_capture_stop();
		return CW_OK;
	}
	if ((f = fopen(file, "we")) == NULL)
		return cw_diag_set(diag, CW_E_IO, "/causeway:causeway/daemon/drop-capture", file,
				   "%s", strerror(errno));
	cw_capture_stop();
	out = f;
	snprintf(name, sizeof(name), "%s", file);
	memset(interface_of, 0, sizeof(interface_of));
	interfaces = 0;
	written = 0;
	put(head, cw_pcapng_section(head, sizeof(head), "causewayd " CW_VERSION));
	atomic_store(&cw_dp.capture_on, out != NULL);
	cw_log(CW_LOG_NOTICE, "dropped packets are written to %s", file);
	return CW_OK;
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
static int interface_number(unsigned slot)
{
	const struct cw_plane_port *pp = &cw_plane_now()->port[slot];
	uint8_t head[CW_PCAPNG_HEAD_MAX];
	bool bare;

	if (interface_of[slot] == 0) {
		bare = pp->dev != NULL && pp->dev->bare_rx;
		put(head,
		    cw_pcapng_interface(head, sizeof(head), bare ? CW_LINK_UB : CW_LINK_ETHERNET,
					pp->dev != NULL ? pp->conf->name : "closed"));
		interface_of[slot] = (int)++interfaces;
	}
	return interface_of[slot] - 1;
}

/* The frame as it came: a tag that the device took out is put back. */
static uint32_t flatten(const struct rte_mbuf *m, uint8_t *buf, uint32_t size)
{
	const struct cw_plane_port *in = &cw_plane_now()->port[m->port];
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t len = RTE_MIN((uint32_t)m->data_len, size - CW_SIZE_VLAN);

	if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0 || len < 12 || in->dev == NULL) {
		memcpy(buf, data, len);
		return len;
	}
	memcpy(buf, data, 12);
	cw_put_be16(buf + 12, cw_tag_tpid(in, m));
	cw_put_be16(buf + 14, m->vlan_tci);
	memcpy(buf + 16, data + 12, len - 12);
	return len + CW_SIZE_VLAN;
}

void cw_capture_packet(struct rte_mbuf *m, enum cw_drop why)
{
	static uint8_t frame[CW_MAX_FRAME + 128], block[CW_PCAPNG_PACKET_MAX(sizeof(frame))];
	struct cw_pcapng_packet p = {0};
	struct timespec now;
	char comment[160];

	if (out == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(comment, sizeof(comment), "%s: %s", cw_drop_name(why), cw_drop_text(why));
	p.interface = (uint32_t)interface_number(m->port);
	p.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	p.data = frame;
	p.caplen = p.len = flatten(m, frame, sizeof(frame));
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
			cw_capture_packet(m[i], (enum cw_drop)cw_meta_get(m[i]));
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
