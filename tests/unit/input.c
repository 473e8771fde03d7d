/* input: whatever way packets take through the daemon's input nodes, they leave as the two steps of
 * the library would have it: the same octets, in the order in which they came, and every other one
 * counted under the reason that the steps give. Bursts mix ordinary packets with wrong ones, both
 * IP versions, tags in the frame and taken out, several places in the mbuf, one and two segments.
 *
 * The graph is the daemon's own, cw-rx to cw-tx; a port hands in what the test has made, and keeps
 * what is sent.
 */
#include "tests/unit/ub2e_random.h"
#include <rte_eal.h>
#include "daemon/control/fib.h"
#include "daemon/control/hops.h"
#include "daemon/graph/dp.h"

#define ROUNDS  6000
#define FRAME   2048
#define OWN_MAC "\x02\x11\x12\x13\x14\x15"
#define VIDS    2 /* 0x123, that of most packets, and any */

enum { UB, ETH, ENDS };

struct cw_io cw_io; /* the daemon has it in io/port.c, with all its devices */

static struct cw_plane planes[ENDS]; /* by where packets come in */
static struct cw_port ports[ENDS];
static struct cw_port_config conf[ENDS] = {
	[UB] = {.kind = CW_PORT_UB}, [ETH] = {.kind = CW_PORT_ETHERNET, .tpid = 0x8100}};

/* ---- What goes in, and what is to come out --------------------------------------------------- */

struct frame {
	uint8_t octets[FRAME];
	uint32_t len;
};

static struct {
	struct rte_mbuf *in[CW_MAX_BURST];
	unsigned n;
	struct frame want[CW_MAX_BURST], got[CW_MAX_BURST];
	unsigned nwant, ngot;
	uint64_t drops[CW_DROP_COUNT], notes[CW_NOTE_COUNT];
	unsigned sent[ENDS];
} t;

static uint16_t end_rx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n)
{
	unsigned all = t.n;

	(void)queue;
	if (cw_dp.worker[0]->plane != &planes[p->slot])
		return 0;
	assert_true(all <= n);
	memcpy(m, t.in, all * sizeof(*m));
	t.n = 0;
	return (uint16_t)all;
}

static uint16_t end_tx(struct cw_port *p, unsigned queue, struct rte_mbuf **m, uint16_t n,
		       struct cw_tx_refused *refused)
{
	unsigned i;

	(void)queue;
	(void)refused;
	assert_int_equal(p->slot, cw_dp.worker[0]->plane == &planes[UB] ? ETH : UB);
	for (i = 0; i < n; i++) {
		struct frame *f = &t.got[t.ngot++];

		assert_true(m[i]->pkt_len <= FRAME && m[i]->pkt_len == m[i]->data_len);
		f->len = m[i]->pkt_len;
		memcpy(f->octets, rte_pktmbuf_mtod(m[i], void *), f->len);
		rte_pktmbuf_free(m[i]);
	}
	return n;
}

static bool end_up(const struct cw_port *p)
{
	(void)p;
	return true;
}

/* ---- The gateway ----------------------------------------------------------------------------- */

/* Second octets of destinations that draw_address() makes, by what they lead to. */
enum { GIVEN, LEARNED, NARROW, FILTERED, HOPS };
static uint32_t allowed[] = {0x123, 0x456};
static struct cw_ub2e_hop hop_of_kind[ENDS][HOPS];

static struct cw_ub2e_hop make_hop(unsigned in, unsigned kind)
{
	static const struct cw_npi_filter filter = {allowed, 2};
	struct cw_ub2e_hop h = in == UB ? *hop_eth() : *hop_ub();

	h.bare = false;
	h.dst[5] = (uint8_t)kind;
	h.mtu = kind == NARROW ? 90 : 0;
	h.filter = kind == FILTERED ? &filter : NULL;
	return h;
}

/* Of 10/8 and of all other addresses; of IPv6 the same, by its first bit. One route is longer than
 * what the first table of an LPM tells apart; 1.4.5.6 and others have none. */
static const struct {
	struct cw_ip_addr prefix;
	unsigned kind;
} routes[] = {
	{{.version = 4, .plen = 8, .a = {10}}, GIVEN},
	{{.version = 4, .plen = 9, .a = {10, 128}}, LEARNED},
	{{.version = 4, .plen = 16, .a = {10, 254}}, NARROW},
	{{.version = 4, .plen = 1, .a = {128}}, FILTERED},
	{{.version = 4, .plen = 32, .a = {126, 4, 5, 6}}, NARROW},
	{{.version = 6, .plen = 8, .a = {10}}, GIVEN},
	{{.version = 6, .plen = 9, .a = {10, 128}}, LEARNED},
	{{.version = 6, .plen = 16, .a = {10, 254}}, NARROW},
	{{.version = 6, .plen = 1, .a = {128}}, FILTERED},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

static bool covers(const struct cw_ip_addr *p, const struct cw_ub2e_view *v)
{
	unsigned bit;

	if (p->version != v->version)
		return false;
	for (bit = 0; bit < p->plen; bit++) {
		if ((p->a[bit / 8] ^ v->dst[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	}
	return true;
}

/* The longest of those prefixes, by looking at each. */
static int route_of(const struct cw_ub2e_view *v)
{
	int best = -1;
	unsigned i;

	for (i = 0; i < ROUTES; i++) {
		if (covers(&routes[i].prefix, v) &&
		    (best < 0 || routes[i].prefix.plen > routes[best].prefix.plen))
			best = (int)i;
	}
	return best;
}

static void make_plane(unsigned in)
{
	struct cw_plane *p = &planes[in];
	struct cw_ip_addr prefix[ROUTES];
	uint32_t hop[ROUTES];
	struct cw_hops hops;
	unsigned i;

	assert_int_equal(cw_hops_init(&hops, ROUTES), CW_OK);
	for (i = 0; i < ROUTES; i++) {
		struct cw_hop h = {.slot = in == UB ? ETH : UB};

		h.hop = hop_of_kind[in][routes[i].kind] = make_hop(in, routes[i].kind);
		if (in == UB && routes[i].kind == LEARNED)
			h.kind = CW_HOP_ONLINK;
		hop[i] = cw_hops_add(&hops, &h);
		prefix[i] = routes[i].prefix;
	}
	assert_int_equal(cw_hops_finish(&hops, p), CW_OK);
	cw_hops_free(&hops);
	assert_int_equal(cw_fib_get(&p->fib, planes[UB].fib, prefix, hop, ROUTES, 1), CW_OK);
	for (i = 0; i < ENDS; i++)
		p->port[i] = (struct cw_plane_port){.dev = &ports[i], .conf = &conf[i]};
	p->rx[0] = calloc(1, sizeof(*p->rx[0]));
	p->rx[0][0] = (struct cw_rx_source){&ports[in], (uint8_t)in, 0, (uint8_t)conf[in].kind};
	p->nrx[0] = 1;
}

/* All that is behind the learned next hop is one neighbour's, in any VLAN. */
static void make_neighbours(void)
{
	struct cw_nbrs *n = calloc(1, sizeof(*n) + 64 * sizeof(n->slot[0]));
	struct pk *k[2] = {pk_new(4), pk_new(6)};
	unsigned i, at;

	n->mask = 63;
	n->any_vlan = true;
	for (i = 0; i < 2 * 2; i++) {
		struct cw_nbr e = {.key = {.port = ETH, .vid = CW_NEIGH_ANY_VLAN}};

		e.key.version = i & 1 ? 6 : 4;
		memcpy(e.key.addr, k[i & 1]->dst, i & 1 ? 16 : 4);
		e.key.addr[0] = 10;
		e.key.addr[1] = i & 2 ? 128 : 254;
		memcpy(e.mac, hop_of_kind[UB][LEARNED].dst, 6);
		for (at = cw_nbr_hash(&e.key) & n->mask; n->slot[at].key.version != 0;)
			at = (at + 1) & n->mask;
		n->slot[at] = e;
	}
	atomic_store(&cw_dp.nbrs, n);
	free(k[0]);
	free(k[1]);
}

static int set_up(void **state)
{
	static const struct cw_port_ops ops = {
		.rx_burst = end_rx, .tx_burst = end_tx, .link_up = end_up};
	unsigned i;

	(void)state;
	cw_io.pool = rte_pktmbuf_pool_create("packets", 1023, 0, 0,
					     RTE_PKTMBUF_HEADROOM + 512 + FRAME, SOCKET_ID_ANY);
	cw_io.nworkers = 1;
	if (cw_io.pool == NULL || cw_dp_init(1) < 0)
		return -1;
	for (i = 0; i < ENDS; i++) {
		ports[i] = (struct cw_port){.ops = &ops, .slot = i};
		memcpy(ports[i].mac, OWN_MAC, 6);
	}
	make_plane(UB);
	make_plane(ETH);
	make_neighbours();
	return 0;
}

static int tear_down(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < ENDS; i++) {
		cw_fib_put(planes[i].fib);
		free(planes[i].hops);
		free(planes[i].adj);
		free(planes[i].rx[0]);
	}
	free(atomic_load(&cw_dp.nbrs));
	cw_dp_fini();
	return rte_eal_cleanup();
}

/* ---- What the steps say ------------------------------------------------------------------------
 */

/* A packet as it comes in: a frame, and a tag that the device took out of it. */
struct arrival {
	uint8_t octets[FRAME];
	uint32_t len;
	struct cw_stripped_tag tag;
};

static enum cw_drop check(unsigned in, const struct arrival *a, uint8_t *frame,
			  struct cw_ub2e_view *v)
{
	const struct cw_plane *p = &planes[in];
	const struct cw_npi_filter *filter = &p->port[in].filter;
	bool own = a->len >= 6 && memcmp(frame, OWN_MAC, 6) == 0;
	enum cw_drop why;

	if (a->len < 14)
		return CW_DROP_SHORT;
	if (in == UB) {
		if (be16_get(frame + 12) != 0x88b6 || a->tag.stripped)
			return CW_DROP_ETHERTYPE;
		if (!own && (frame[0] & 1) == 0)
			return CW_DROP_NOT_FOR_US;
		return cw_ub2e_from_ub(p->rules, filter, frame + 14, a->len - 14, v);
	}
	if (!own && !conf[ETH].promiscuous)
		return CW_DROP_NOT_FOR_US;
	why = cw_ub2e_from_eth(p->rules, filter, frame, a->len, &a->tag, v);
	return why == CW_PASS && v->outer_vid != conf[ETH].outer_vid ? CW_DROP_VLAN_UNMAPPED : why;
}

/* Would it wait for a next hop? That is another test's (learned.c). */
static bool waits(unsigned in, int route, const struct cw_ub2e_view *v)
{
	struct cw_neigh_key key = {.port = ETH, .vid = CW_NEIGH_ANY_VLAN, .version = v->version};

	if (in == ETH || routes[route].kind != LEARNED)
		return false;
	memcpy(key.addr, v->dst, v->version == 4 ? 4 : 16);
	return cw_nbr_lookup(atomic_load(&cw_dp.nbrs), &key) == NULL;
}

/* What is to become of a packet; false: it would wait. */
static bool expect(unsigned in, const struct arrival *a)
{
	static uint8_t block[128 + FRAME];
	struct cw_ub2e_view v;
	uint8_t *start;
	enum cw_drop why;
	uint32_t len, i;
	int route;

	memcpy(block + 128, a->octets, a->len);
	why = check(in, a, block + 128, &v);
	if (why == CW_PASS && (route = route_of(&v)) < 0)
		why = CW_DROP_NO_ROUTE;
	else if (why == CW_PASS && waits(in, route, &v))
		return false;
	else if (why == CW_PASS)
		why = cw_ub2e_write(planes[in].rules, &v, &hop_of_kind[in][routes[route].kind],
				    &start, &len);
	if (why != CW_PASS) {
		t.drops[why]++;
		return true;
	}
	for (i = 0; i < CW_NOTE_COUNT; i++)
		t.notes[i] += v.notes >> i & 1;
	t.want[t.nwant].len = len;
	memcpy(t.want[t.nwant++].octets, start, len);
	return true;
}

/* ---- Arrivals ----------------------------------------------------------------------------------
 */

/* That would be the gateway's own. */
static bool is_arp(const uint8_t *frame)
{
	unsigned at = 12;

	while (be16_get(frame + at) == 0x8100 || be16_get(frame + at) == 0x88a8)
		at += 4;
	return be16_get(frame + at) == 0x0806;
}

static void draw_arrival(unsigned in, struct arrival *a)
{
	static uint8_t pkt[PK_MAX];
	static const uint8_t other[6] = {2, 9, 9, 9, 9, 9}, group[6] = {1, 0, 94, 0, 0, 1};
	uint32_t off = in == UB ? 14 : 0, n;

	do
		n = packet(in == UB, pkt);
	while (n + off > FRAME || (in == ETH && is_arp(pkt)));
	memset(a, 0, sizeof(*a));
	memcpy(a->octets + off, pkt, n);
	a->len = n + off;
	if (in == UB) {
		memcpy(a->octets, OWN_MAC "\x02\x21\x22\x23\x24\x25\x88\xb6", 14);
		a->octets[13] = (uint8_t)one_of(0xb6, 0xb5, 32);
		a->len = one_of(a->len, rnd() % 14, 64);
	}
	if (rnd() % 32 == 0)
		memcpy(a->octets, rnd() % 2 != 0 ? other : group, 6);
}

/* Take the first tag of a frame out, as a device does. */
static void strip(struct arrival *a)
{
	if (a->len < 18 || be16_get(a->octets + 12) != 0x8100)
		return;
	a->tag = (struct cw_stripped_tag){true, (uint16_t)be16_get(a->octets + 14), 0x8100};
	memmove(a->octets + 12, a->octets + 16, a->len - 16);
	a->len -= 4;
}

static struct arrival earlier;

static struct rte_mbuf *mbuf_of(const struct arrival *a, unsigned room, unsigned second)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(cw_io.pool), *more;

	assert_non_null(m);
	/* What an earlier packet left where others of the burst begin is not to be taken for this
	 * one. */
	memcpy((uint8_t *)m->buf_addr + 128, earlier.octets, earlier.len);
	m->data_off = (uint16_t)room;
	if (a->tag.stripped) {
		m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = a->tag.tci;
	}
	second = second < a->len ? second : 0;
	memcpy(rte_pktmbuf_append(m, (uint16_t)(a->len - second)), a->octets, a->len - second);
	if (second == 0)
		return m;
	more = rte_pktmbuf_alloc(cw_io.pool);
	memcpy(rte_pktmbuf_append(more, (uint16_t)second), a->octets + a->len - second, second);
	assert_int_equal(rte_pktmbuf_chain(m, more), 0);
	return m;
}

/* Bursts are of one kind, and of all kinds. */
static void draw_burst(unsigned in)
{
	unsigned n = 1 + rnd() % CW_MAX_BURST, i;
	bool mixed = rnd() % 4 == 0, stripped = rnd() % 3 == 0;
	struct arrival a;

	t.n = t.nwant = t.ngot = 0;
	for (i = 0; i < n; i++) {
		do {
			draw_arrival(in, &a);
			if (mixed ? rnd() % 2 != 0 : stripped)
				strip(&a);
		} while (!expect(in, &a));
		t.in[t.n++] = mbuf_of(&a, mixed ? 128 + rnd() % 3 * 256 : 128,
				      mixed && rnd() % 8 == 0 ? 1 + rnd() % 60 : 0);
		earlier = a;
	}
}

/* ---- Rounds ------------------------------------------------------------------------------------
 */

static void compare(unsigned in)
{
	const struct cw_port_counters *c = cw_dp.worker[0]->port;
	unsigned i;

	assert_int_equal(t.ngot, t.nwant);
	t.sent[in] += t.ngot;
	for (i = 0; i < t.nwant; i++) {
		assert_int_equal(t.got[i].len, t.want[i].len);
		assert_memory_equal(t.got[i].octets, t.want[i].octets, t.want[i].len);
	}
	for (i = 0; i < CW_DROP_COUNT; i++) {
		if (c[UB].drops[i] + c[ETH].drops[i] != t.drops[i])
			fail_msg("%s: %" PRIu64 " for %" PRIu64, cw_drop_name(i),
				 c[UB].drops[i] + c[ETH].drops[i], t.drops[i]);
	}
	for (i = 0; i < CW_NOTE_COUNT; i++)
		assert_int_equal(c[UB].notes[i] + c[ETH].notes[i], t.notes[i]);
}

static void configure(unsigned round)
{
	static const uint32_t partitions[] = {0x801234, 0x456};
	struct cw_ub2e_settings s;
	struct cw_diag diag;
	unsigned i;

	draw_settings(&s, round);
	for (i = 0; i < ENDS; i++) {
		struct cw_plane *p = &planes[i];

		cw_ub2e_free(p->rules);
		assert_int_equal(cw_ub2e_new(&p->rules, &s, partitions, 2, &diag), CW_OK);
		p->port[i].filter = (struct cw_npi_filter){allowed, round % 7 == 3 ? 2 : 0};
	}
	conf[ETH].outer_vid = round % 11 == 5 ? 7 : 0;
	conf[ETH].promiscuous = round % 2 != 0;
}

static void nodes_do_what_the_steps_do(void **state)
{
	unsigned round, in;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		if (round % (ROUNDS / 30) == 0)
			configure(round / (ROUNDS / 30));
		in = round % ENDS;
		draw_burst(in);
		atomic_store(&cw_dp.plane, &planes[in]);
		(void)cw_worker_walk(cw_dp.worker[0]);
		compare(in);
	}
	for (in = 0; in < ENDS; in++) {
		assert_in_range(t.sent[in], ROUNDS, ROUNDS * CW_MAX_BURST / 2);
		cw_ub2e_free(planes[in].rules);
	}
}

int main(void)
{
	char *args[] = {"input", "--no-huge", "--no-shconf", "--no-pci",    "--no-telemetry", "-m",
			"256",   "--lcores",  "0@0,1@0",     "--log-level", "error"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_do_what_the_steps_do),
	};

	if (rte_eal_init(sizeof(args) / sizeof(args[0]), args) < 0)
		return 2;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
