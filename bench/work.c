/* work.c - the bursts of the yardstick: nothing; look up and rewrite; the library's conversion. */
#include "work.h"
#include <stdlib.h>
#include <string.h>
#include <rte_byteorder.h>
#include <rte_debug.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include "causeway/bits.h"
#include "causeway/ub2e.h"
#include "frames.h"

#define HOPS 256

static const unsigned head_len[2] = {BENCH_UB_HEAD, BENCH_UBOE_HEAD};

unsigned work_io(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
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
	m->data_off = (uint16_t)(m->data_off + in - out);
	m->data_len = (uint16_t)(m->data_len + out - in);
	m->pkt_len = m->data_len;
}

unsigned work_bare(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	uint32_t ip[BURST], hop[BURST];
	unsigned i;

	for (i = 0; i < n; i++)
		ip[i] = cw_be32(rte_pktmbuf_mtod(m[i], uint8_t *) + head_len[dir] + 16);
	rte_lpm_lookup_bulk(w->lpm, ip, hop, n);
	for (i = 0; i < n; i++)
		rewrite(m[i], w->heads[dir][hop[i] & (HOPS - 1)], dir);
	w->packets += n;
	return n;
}

static void count_notes(struct work *w, uint32_t notes)
{
	while (notes) {
		w->notes[__builtin_ctz(notes)]++;
		notes &= notes - 1;
	}
}

static const struct cw_stripped_tag no_tag;

static void finish(struct work *w, struct rte_mbuf *m, const struct cw_ub2e_frame *out)
{
	m->data_off = (uint16_t)(out->start - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)out->len;
	m->pkt_len = out->len;
	w->octets += out->len;
	if (out->notes)
		count_notes(w, out->notes);
}

static bool straight(struct work *w, enum work_dir dir, struct rte_mbuf *m, uint32_t hop,
		     struct cw_ub2e_frame *out)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	const struct cw_ub2e_hop *h = &w->hops[dir][hop & (HOPS - 1)];

	if (!(hop & RTE_LPM_LOOKUP_SUCCESS))
		return false;
	if (dir == TO_UBOE)
		return cw_ub2e_ub_to_eth(w->rules, NULL, p + 14, m->data_len - 14u, h, out);
	return cw_ub2e_eth_to_ub(w->rules, NULL, p, m->data_len, &no_tag, h, out);
}

/* A packet that is not an ordinary one: check, route, write. */
static enum cw_drop by_steps(struct work *w, enum work_dir dir, struct rte_mbuf *m,
			     struct cw_ub2e_frame *out)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	struct cw_ub2e_view v;
	enum cw_drop d;
	uint32_t hop;

	d = dir == TO_UBOE ? cw_ub2e_from_ub(w->rules, NULL, p + 14, m->data_len - 14u, &v)
			   : cw_ub2e_from_eth(w->rules, NULL, p, m->data_len, &no_tag, &v);
	if (d)
		return d;
	if (rte_lpm_lookup(w->lpm, cw_be32(v.dst), &hop))
		return CW_DROP_NO_ROUTE;
	d = cw_ub2e_write(w->rules, &v, &w->hops[dir][hop & (HOPS - 1)], &out->start, &out->len);
	out->notes = v.notes;
	return d;
}

unsigned work_ub2e(struct work *w, enum work_dir dir, struct rte_mbuf **m, unsigned n)
{
	const unsigned dst = dir == TO_UBOE ? 14 + CW_UB2E_UB_DST : CW_UB2E_ETH_VLAN_DST;
	uint32_t ip[BURST], hop[BURST];
	struct cw_ub2e_frame out;
	enum cw_drop d;
	unsigned i, sent = 0;

	for (i = 0; i < n; i++)
		ip[i] = cw_be32(rte_pktmbuf_mtod(m[i], uint8_t *) + dst);
	rte_lpm_lookup_bulk(w->lpm, ip, hop, n);
	for (i = 0; i < n; i++) {
		if (!straight(w, dir, m[i], hop[i], &out) &&
		    (d = by_steps(w, dir, m[i], &out)) != CW_PASS) {
			w->drops[d]++;
			continue;
		}
		finish(w, m[i], &out);
		m[sent++] = m[i];
	}
	w->packets += n;
	return sent;
}

static void *table(size_t n, size_t size)
{
	void *p = rte_zmalloc("bench", n * size, 64);

	if (!p)
		rte_exit(1, "no memory for tables\n");
	return p;
}

static void fill_hop(struct work *w, unsigned i)
{
	struct cw_ub2e_hop hop = {.src = {2, 0, 0, 0, 0, 1}, .mtu = 9216, .tpid = 0x8100};
	uint8_t *h;

	memcpy(hop.dst, (uint8_t[]){2, 0, 0, 1, 0, (uint8_t)i}, 6);
	hop.side = CW_SIDE_ETH;
	w->hops[TO_UBOE][i] = hop;
	hop.side = CW_SIDE_UB;
	w->hops[TO_UB][i] = hop;

	h = w->heads[TO_UBOE][i];
	memcpy(h, hop.dst, 6);
	memcpy(h + 6, hop.src, 6);
	cw_put_be64(h + 12, 0x8100000008000000 | (uint64_t)BENCH_VID << 32);
	h = w->heads[TO_UB][i];
	memcpy(h, hop.dst, 6);
	memcpy(h + 6, hop.src, 6);
	cw_put_be32(h + 12, 0x88b60003);
	cw_put_be32(h + 16, 0x80008002);
	cw_put_be32(h + 20, BENCH_VID);
}

static void fill_rules(struct work *w, bool icrc_drop)
{
	struct cw_ub2e_settings s;
	struct cw_diag diag;

	cw_ub2e_settings_init(&s);
	if (icrc_drop)
		s.icrc_check_ub = s.icrc_check_eth = CW_ICRC_CHECK_DROP;
	if (cw_ub2e_new(&w->rules, &s, NULL, 0, &diag))
		rte_exit(1, "rules refused\n");
}

void work_init(struct work *w, unsigned flows, bool icrc_drop)
{
	struct rte_lpm_config c = {.max_rules = flows + 1, .number_tbl8s = 16};
	unsigned i;

	memset(w, 0, sizeof(*w));
	w->lpm = rte_lpm_create("bench", SOCKET_ID_ANY, &c);
	if (!w->lpm)
		rte_exit(1, "no LPM table: %s\n", rte_strerror(rte_errno));
	for (i = 0; i < flows; i++)
		if (rte_lpm_add(w->lpm, BENCH_DST4(i), 24, i & (HOPS - 1)))
			rte_exit(1, "route %u refused\n", i);
	w->drops = table(CW_DROP_COUNT, sizeof(*w->drops));
	w->notes = table(32, sizeof(*w->notes));
	for (i = 0; i < 2; i++) {
		w->hops[i] = table(HOPS, sizeof(*w->hops[i]));
		w->heads[i] = table(HOPS, sizeof(*w->heads[i]));
	}
	for (i = 0; i < HOPS; i++)
		fill_hop(w, i);
	fill_rules(w, icrc_drop);
}
