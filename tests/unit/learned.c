/* learned: a next hop that was learned gives the octets that the same one gives when it is
 * configured, in a burst and step by step. Which neighbour that is, is found here by a search
 * through a list; what nobody may be sent to yet is left to the steps, and waits there or is
 * refused.
 */
#include "causeway/wire/ip.h"
#include "daemon/graph/forward.h"
#include "daemon/graph/hold.h"
#include "tests/unit/ub2e.h"

#define PORT    3
#define PACKETS 30000u

static unsigned held;

/* Of hold.c, which needs the whole worker. */
enum cw_drop cw_hold_packet(struct cw_worker *w, struct rte_mbuf *m, const struct cw_neigh_key *key)
{
	(void)w;
	(void)m;
	assert_int_equal(key->port, PORT);
	held++;
	return CW_PASS;
}

/* ---- Neighbours -------------------------------------------------------------------------------
 */

enum { GIVEN, ONLINK, VIA4, VIA6, HOPS };

static const struct entry {
	uint8_t version, last; /* of the address, which is like a packet's but for the last octet */
	uint16_t vid;
	bool refused;
} entries[] = {
	{4, 0, CW_NEIGH_ANY_VLAN, false},
	{4, 1, 0x123, false},
	{4, 1, 7, false},
	{4, 2, 0x123, true},
	{4, 2, 7, true},
	{4, 2, CW_NEIGH_ANY_VLAN, false},
	{4, 3, 0x123, true},
	{6, 0, 0x123, false},
	{6, 0, 7, true},
	{6, 1, CW_NEIGH_ANY_VLAN, false},
	{6, 1, 7, false},
	{6, 2, CW_NEIGH_ANY_VLAN, true},
	{4, 77, 0x123, false},
	{4, 77, 7, true},
	{6, 78, CW_NEIGH_ANY_VLAN, false},
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static void address(uint8_t *a, uint8_t version, uint8_t last)
{
	memset(a, 0, 16);
	if (version == 4)
		memcpy(a, (uint8_t[]){10, 4, 5, last}, 4);
	else
		memcpy(a, (uint8_t[]){0x20, 1, 13, 0xb8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, last},
		       16);
}

static void mac_of_entry(uint8_t *mac, unsigned i)
{
	memcpy(mac, (uint8_t[]){2, 0x51, 0x52, 0x53, 0x54, (uint8_t)i}, 6);
}

/* An entry of this very VLAN, unless it is refused and one of any VLAN stands beside it. */
static int search(uint8_t version, uint8_t last, uint16_t vid)
{
	int own = -1, any = -1;
	unsigned i;

	for (i = 0; i < ENTRIES; i++) {
		if (entries[i].version != version || entries[i].last != last)
			continue;
		if (entries[i].vid == vid)
			own = (int)i;
		else if (entries[i].vid == CW_NEIGH_ANY_VLAN)
			any = (int)i;
	}
	return own < 0 || (entries[own].refused && any >= 0) ? any : own;
}

static struct cw_nbrs *make_neighbours(void)
{
	struct cw_nbrs *t = calloc(1, sizeof(*t) + 32 * sizeof(t->slot[0]));
	struct cw_nbr n;
	unsigned i, at;

	t->mask = 31;
	t->any_vlan = true;
	for (i = 0; i < ENTRIES; i++) {
		memset(&n, 0, sizeof(n));
		n.key.port = PORT;
		n.key.vid = entries[i].vid;
		n.key.version = entries[i].version;
		address(n.key.addr, entries[i].version, entries[i].last);
		mac_of_entry(n.mac, i);
		n.refused = entries[i].refused;
		for (at = cw_nbr_hash(&n.key) & t->mask; t->slot[at].key.version != 0;)
			at = (at + 1) & t->mask;
		t->slot[at] = n;
	}
	return t;
}

/* ---- A worker ---------------------------------------------------------------------------------
 */

static struct cw_worker worker;
static struct cw_plane plane;
static struct cw_hop hops[HOPS];
static struct cw_ub2e_adj adj[HOPS];

static void make_worker(void)
{
	unsigned i;

	for (i = 0; i < HOPS; i++) {
		hops[i].hop = *hop_eth();
		hops[i].slot = PORT;
		hops[i].kind = i == ONLINK ? CW_HOP_ONLINK : CW_HOP_VIA;
		memset(hops[i].hop.dst, 0, 6);
	}
	hops[VIA4].via.version = 4;
	hops[VIA6].via.version = 6;
	address(hops[VIA4].via.a, 4, 77);
	address(hops[VIA6].via.a, 6, 78);
	memset(hops[VIA4].via.a + 4, 0xee, 12); /* nobody reads these */
	for (i = 0; i < HOPS; i++) {
		cw_ub2e_adj_init(&adj[i], &hops[i].hop);
		adj[i].user = cw_adj_user(PORT, hops[i].kind);
	}
	plane.rules = rules(NULL);
	plane.hops = hops;
	plane.adj = adj;
	worker.plane = &plane;
	worker.nbrs = make_neighbours();
}

/* ---- One packet, three ways -------------------------------------------------------------------
 */

static uint64_t rng = 0x2545f4914f6cdd1d;

static uint32_t rnd(uint32_t below)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 20) % below;
}

struct packet {
	uint8_t octets[PK_MAX];
	uint32_t len;
	unsigned hop;
	int vid, entry; /* below 0: has none */
};

static void draw(struct packet *p)
{
	static const uint32_t npis[] = {0x123, 0x123, 7, 7, 4000, 0x1000123, 0, 0x1000};
	struct pk *k = pk_new(rnd(2) != 0 ? 4 : 6);
	uint8_t last = (uint8_t)rnd(4);

	k->tos = (uint8_t)rnd(256);
	k->ttl = (uint8_t)(rnd(16) == 0 ? rnd(2) : 64);
	k->npi = npis[rnd(8)];
	k->cci = (uint16_t)(rnd(8) == 0 ? 0x9002 : 0x8000 | rnd(4));
	address(k->dst, (uint8_t)k->version, last);
	p->len = pk_ub(k, p->octets);
	if (rnd(8) == 0)
		p->len = rnd(p->len);
	p->hop = ONLINK + rnd(HOPS - ONLINK);
	p->vid = cw_ub2e_npi_to_vid(plane.rules, k->npi);
	if (p->hop == ONLINK)
		p->entry = search((uint8_t)k->version, last, (uint16_t)p->vid);
	else
		p->entry = p->hop == VIA4 ? search(4, 77, (uint16_t)p->vid)
					  : search(6, 78, (uint16_t)p->vid);
	free(k);
}

static bool usable(const struct packet *p)
{
	return p->entry >= 0 && !entries[p->entry].refused;
}

struct result {
	struct shot s;
	struct cw_ub2e_job job;
	bool done;
};

static void burst(struct result *r, const struct packet *p, const struct cw_ub2e_adj *a)
{
	r->job.adj = a;
	r->done = cw_ub2e_burst_to_eth(plane.rules, NULL, &r->job, 1) != 0;
	if (!r->done)
		assert_memory_equal(r->s.in, p->octets, p->len);
}

static void prepare(struct result *r, const struct packet *p)
{
	shot_load(&r->s, p->octets, p->len, 10);
	r->job = (struct cw_ub2e_job){.start = r->s.in, .len = p->len};
}

/* By a hop that has the neighbour's address in the configuration. */
static void given(struct result *r, const struct packet *p)
{
	struct cw_ub2e_hop hop = *hop_eth();
	struct cw_ub2e_adj a;

	mac_of_entry(hop.dst, (unsigned)p->entry);
	cw_ub2e_adj_init(&a, &hop);
	prepare(r, p);
	burst(r, p, &a);
}

/* The long packets alone have all that a key is made of. */
static bool learned(struct result *r, const struct packet *p)
{
	const struct cw_ub2e_adj *a;
	struct cw_ub2e_adj copy;

	prepare(r, p);
	a = cw_forward_learned(&worker, p->hop, r->job.start, r->job.len, &copy);
	if (p->len < CW_UB_PREFIX + CW_SIZE_IPV6 || p->vid < 0 || !usable(p)) {
		assert_ptr_equal(a, &cw_ub2e_adj_none);
		return false;
	}
	assert_ptr_not_equal(a, &cw_ub2e_adj_none);
	assert_int_equal(cw_adj_slot(a), PORT);
	burst(r, p, a);
	return true;
}

static void steps(struct result *r, const struct packet *p)
{
	struct cw_ub2e_hop hop = hops[p->hop].hop;
	enum cw_drop why = CW_PASS;
	unsigned before = held;
	const uint8_t *mac;

	shot_load(&r->s, p->octets, p->len, 10);
	r->s.drop = cw_ub2e_from_ub(plane.rules, NULL, r->s.in, r->s.in_len, &r->s.v);
	if (r->s.drop != CW_PASS || p->vid < 0)
		return;
	mac = cw_forward_resolve(&worker, NULL, &hops[p->hop], &r->s.v, &why);
	assert_int_equal(mac != NULL, usable(p));
	assert_int_equal(held - before, p->entry < 0);
	if (mac == NULL) {
		assert_drop(why, p->entry < 0 ? CW_PASS : CW_DROP_NEIGHBOUR_FAIL);
		return;
	}
	memcpy(hop.dst, mac, 6);
	shot_write(&r->s, plane.rules, &hop);
}

static void compare(const struct result *a, const struct result *b, const struct packet *p)
{
	assert_int_equal(a->done, b->done);
	assert_int_equal(a->job.start - a->s.block, b->job.start - b->s.block);
	assert_int_equal(a->job.len, b->job.len);
	assert_int_equal(a->job.notes, b->job.notes);
	assert_memory_equal(a->s.block, b->s.block, CW_UB2E_HEADROOM - 10 + p->len);
}

static void compare_steps(const struct result *a, const struct result *b)
{
	assert_drop(b->s.drop, CW_PASS);
	assert_int_equal(a->job.start - a->s.block, b->s.out - b->s.block);
	assert_int_equal(a->job.len, b->s.out_len);
	assert_int_equal(a->job.notes, b->s.v.notes);
	assert_memory_equal(a->job.start, b->s.out, b->s.out_len);
}

static void learned_is_as_given(void **state)
{
	static struct packet p;
	static struct result l, g, s;
	unsigned i, done[HOPS] = {0};

	(void)state;
	make_worker();
	for (i = 0; i < PACKETS; i++) {
		draw(&p);
		steps(&s, &p);
		if (learned(&l, &p)) {
			given(&g, &p);
			compare(&l, &g, &p);
			if (l.done)
				compare_steps(&l, &s);
			done[p.hop] += l.done;
			free(g.s.block);
		}
		free(l.s.block);
		free(s.s.block);
	}
	for (i = ONLINK; i < HOPS; i++)
		assert_true(done[i] > PACKETS / 20);
	assert_true(held > PACKETS / 20);
	/* Control asks which addresses were used. */
	for (i = 0; i <= worker.nbrs->mask; i++) {
		if (worker.nbrs->slot[i].key.version != 0 && !worker.nbrs->slot[i].refused)
			assert_int_equal(worker.nbrs->slot[i].used, 1);
	}
	free(worker.nbrs);
	cw_ub2e_free(plane.rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learned_is_as_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
