/* work.c - the bursts of the yardstick: nothing; look up and rewrite; look up and convert. */
#include "work.h"
#include <stdlib.h>
#include <string.h>
#include <rte_byteorder.h>
#include <rte_debug.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include "causeway/bits.h"
#include "frames.h"

static const unsigned head_len[2] = {BENCH_UB_HEAD, BENCH_UBOE_HEAD};

unsigned work_io(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	w->packets += n;
	return n;
}

/* Next hops of n packets, whose destinations are `at` octets behind their first one. */
static void look_up(const struct work *w, struct rte_mbuf **m, unsigned n, unsigned at,
		    uint32_t hop[BURST])
{
	uint32_t ip[BURST];
	unsigned i;

	for (i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (i = 0; i < n; i++)
		ip[i] = cw_be32(rte_pktmbuf_mtod(m[i], uint8_t *) + at);
	rte_lpm_lookup_bulk(w->lpm, ip, hop, n);
	for (i = 0; i < n; i++)
		hop[i] &= WORK_HOPS - 1;
}

/* `in` octets of header became `out`. */
static void resize(struct rte_mbuf *m, unsigned in, unsigned out)
{
	m->data_off = (uint16_t)(m->data_off + in - out);
	m->data_len = (uint16_t)(m->data_len + out - in);
	m->pkt_len = m->data_len;
}

static const unsigned strips[2] = {WORK_STRIP, WORK_PUSH};

/* Longer headers than those of a conversion, and nothing of the packet is looked at. */
unsigned work_rewrite(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	unsigned in = strips[dir], out = strips[!dir], i;
	uint32_t hop[BURST];
	uint8_t *head;

	look_up(w, m, n, w->rewrite_dst[dir], hop);
	for (i = 0; i < n; i++) {
		head = rte_pktmbuf_mtod(m[i], uint8_t *) + in - out;
		memcpy(head, w->push[hop[i]], out);
		resize(m[i], in, out);
		cw_put_be16(head + 16, m[i]->data_len);
	}
	w->packets += n;
	return n;
}

/* Strip, push a template, patch one length and the TTL with its checksum. */
static void rewrite(struct rte_mbuf *m, const uint8_t *head, enum work_dir dir)
{
	unsigned in = head_len[dir], out = head_len[!dir];
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *) + in;
	uint32_t sum;

	sum = cw_be16(ip + 10) + 0x100u;
	ip[8]--;
	cw_put_be16(ip + 10, (uint16_t)(sum + (sum >> 16)));
	if (dir == TO_UBOE) {
		memcpy(ip - 18, head, 16);
		memcpy(ip - 2, head + 16, 2);
	} else {
		memcpy(ip - 24, head, 16);
		memcpy(ip - 8, head + 16, 8);
		cw_put_be16(ip - 8, (uint16_t)(cw_be16(ip + 2) >> 4));
	}
	resize(m, in, out);
}

unsigned work_bare(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	uint32_t hop[BURST];
	unsigned i;

	look_up(w, m, n, head_len[dir] + 16, hop);
	for (i = 0; i < n; i++)
		rewrite(m[i], w->heads[dir][hop[i]], dir);
	w->packets += n;
	return n;
}

static void *table(size_t n, size_t size)
{
	void *p = rte_zmalloc("bench", n * size, 64);

	if (!p)
		rte_exit(1, "no memory for tables\n");
	return p;
}

static void fill_heads(struct work *w, unsigned i)
{
	const uint8_t macs[12] = {2, 0, 0, 1, 0, (uint8_t)i, 2, 0, 0, 0, 0, 1};
	uint8_t *h;

	h = w->heads[TO_UBOE][i];
	memcpy(h, macs, sizeof(macs));
	cw_put_be64(h + 12, 0x8100000008000000 | (uint64_t)BENCH_VID << 32);
	h = w->heads[TO_UB][i];
	memcpy(h, macs, sizeof(macs));
	cw_put_be32(h + 12, 0x88b60003);
	cw_put_be32(h + 16, 0x80008002);
	cw_put_be32(h + 20, BENCH_VID);
}

void work_init(struct work *w)
{
	struct rte_lpm_config c = {.max_rules = BENCH_ROUTES, .number_tbl8s = 16};
	unsigned i;

	memset(w, 0, sizeof(*w));
	w->lpm = rte_lpm_create("bench", SOCKET_ID_ANY, &c);
	if (!w->lpm)
		rte_exit(1, "no LPM table: %s\n", rte_strerror(rte_errno));
	for (i = 0; i < BENCH_ROUTES; i++)
		if (rte_lpm_add(w->lpm, BENCH_NET4(i), 24, i & (WORK_HOPS - 1)))
			rte_exit(1, "route %u refused\n", i);
	for (i = 0; i < 2; i++)
		w->heads[i] = table(WORK_HOPS, sizeof(*w->heads[i]));
	w->push = table(WORK_HOPS, sizeof(*w->push));
	w->rewrite_dst[TO_UBOE] = BENCH_UB_HEAD + 16;
	w->rewrite_dst[TO_UB] = WORK_PUSH;
	for (i = 0; i < WORK_HOPS; i++) {
		fill_heads(w, i);
		memset(w->push[i], (int)i, sizeof(w->push[i]));
	}
}
