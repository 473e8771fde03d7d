/* The fast paths of lib/ub2e (fast.h) decide nothing by themselves: whatever they take, the long
 * way takes with the same result. The long way alone is had from rules whose TTL limit no packet
 * reaches, and from a hop with a filter.
 */
#include "lib/ub2e/internal.h"
#include "tests/unit/ub2e.h"

#define PACKETS 40000

static uint64_t rng = 0x9e3779b97f4a7c15;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 16);
}

static uint32_t one_of(uint32_t a, uint32_t b, unsigned in)
{
	return rnd() % in == 0 ? b : a;
}

/* An ordinary packet, or nearly one. */
static void draw(struct pk *k)
{
	static const uint8_t ops[] = {0, 1, 0x81, 2, 3, 5, 6, 8, 4};

	k->tos = (uint8_t)rnd();
	k->ttl = (uint8_t)one_of(64, rnd() % 3, 8);
	k->flags = (uint16_t)one_of(0x4000, rnd(), 16);
	k->dport = (uint16_t)one_of(4792, 4791, 16);
	k->udp_csum = rnd() % 16 == 0;
	k->src[0] = (uint8_t)one_of(10, rnd(), 16);
	k->dst[0] = (uint8_t)one_of(10, rnd(), 16);
	k->dst[1] = (uint8_t)one_of(4, 254, 16);
	k->body[0] = ops[rnd() % sizeof(ops)];
	k->body[1] = (uint8_t)one_of(rnd() & 0x30, rnd(), 8);
	k->body_len = one_of(48, rnd() % 64, 4);
	k->cci = (uint16_t)one_of(0x8000 | (rnd() & 0xfff), rnd(), 8);
	k->npi = one_of(1 + rnd() % 4000, rnd() & 0x1ffffff, 4);
	k->lph_top = (uint8_t)(rnd() & 0xfc);
	k->vl = rnd() & 15;
	k->rt = rnd() & 3;
	k->ntags = one_of(1, rnd() % 3, 4);
	k->tpid[0] = (uint16_t)one_of(0x8100, 0x88a8, 8);
	k->tpid[1] = 0x8100;
	k->tci[0] = (uint16_t)rnd();
	k->tci[1] = (uint16_t)rnd();
	k->pad = one_of(0, rnd() % 9, 2);
}

static uint32_t packet(bool ub, uint8_t *pkt)
{
	struct pk *k = pk_new(rnd() % 8 != 0 ? 4 : 6);
	uint32_t n, off;
	unsigned i;

	draw(k);
	off = ub ? 10 : 14 + 4 * k->ntags;
	n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);
	for (i = rnd() % 8; i < 2; i++) {
		pkt[rnd() % 70] = (uint8_t)rnd();
		if (rnd() % 4 != 0)
			be16_put(pkt + off + 10, ip4_csum(pkt + off));
	}
	free(k);
	return one_of(n, rnd() % n, 16);
}

struct way {
	struct shot s;
	uint32_t ids[1];
	struct cw_npi_filter filter;
	struct cw_ub2e_hop hop;
};

static void check(struct way *w, const struct cw_ub2e *u, bool ub, const uint8_t *pkt, uint32_t n,
		  const struct cw_stripped_tag *tag)
{
	shot_load(&w->s, pkt, n, 10);
	w->s.drop = ub ? cw_ub2e_from_ub(u, NULL, w->s.in, n, &w->s.v)
		       : cw_ub2e_from_eth(u, NULL, w->s.in, n, tag, &w->s.v);
}

static void same_view(const struct way *a, const struct way *b)
{
	const struct cw_ub2e_view *x = &a->s.v, *y = &b->s.v;

	assert_int_equal(x->from, y->from);
	assert_int_equal(x->ip - a->s.in, y->ip - b->s.in);
	assert_int_equal(x->ip_len, y->ip_len);
	assert_int_equal(x->dst - x->ip, y->dst - y->ip);
	assert_int_equal(x->version, y->version);
	assert_int_equal(x->plain, y->plain);
	assert_int_equal(x->tagged, y->tagged);
	assert_int_equal(x->tos, y->tos);
	assert_int_equal(x->vid, y->vid);
	assert_int_equal(x->pcp, y->pcp);
	assert_int_equal(x->outer_vid, y->outer_vid);
	assert_int_equal(x->cci, y->cci);
	assert_int_equal(x->npi, y->npi);
	assert_int_equal(x->vl, y->vl);
	assert_int_equal(x->rt, y->rt);
	assert_int_equal(x->cross, y->cross);
	assert_int_equal(x->cross_notes, y->cross_notes);
	assert_int_equal(x->notes, y->notes);
}

static void same_frame(const struct way *a, const struct way *b)
{
	uint32_t front = CW_UB2E_HEADROOM - 10;

	assert_int_equal(a->s.drop, b->s.drop);
	assert_int_equal(a->s.v.notes, b->s.v.notes);
	assert_memory_equal(a->s.block, b->s.block, front + a->s.in_len);
	if (a->s.drop != CW_PASS)
		return;
	assert_int_equal(a->s.out - a->s.block, b->s.out - b->s.block);
	assert_int_equal(a->s.out_len, b->s.out_len);
}

/* In one step, when that is offered; else it must have left the packet alone. */
static bool straight(struct way *w, const struct cw_ub2e *u, bool ub, const uint8_t *pkt,
		     uint32_t n, const struct cw_stripped_tag *tag)
{
	struct cw_ub2e_frame out;
	bool done;

	shot_load(&w->s, pkt, n, 10);
	done = ub ? cw_ub2e_ub_to_eth(u, NULL, w->s.in, n, &w->hop, &out)
		  : cw_ub2e_eth_to_ub(u, NULL, w->s.in, n, tag, &w->hop, &out);
	if (!done) {
		if (n > 0)
			assert_memory_equal(w->s.in, pkt, n);
		return false;
	}
	w->s.drop = CW_PASS;
	w->s.out = out.start;
	w->s.out_len = out.len;
	w->s.v.notes = out.notes;
	return true;
}

static unsigned compare(const struct cw_ub2e *u, const struct cw_ub2e *slow, bool ub)
{
	static uint8_t pkt[PK_MAX];
	const struct cw_stripped_tag tag = {rnd() % 4 == 0, (uint16_t)rnd(), 0x8100};
	uint32_t n = packet(ub, pkt);
	struct way a = {.hop = *(one_of(ub, !ub, 8) ? hop_eth() : hop_ub())}, b = a, c;
	unsigned taken = 0;

	a.hop.bare = rnd() % 8 == 0;
	a.hop.mtu = one_of(9000, rnd() % 200, 4);
	a.hop.outer_vid = (uint16_t)one_of(0, 7, 8);
	c = b = a;
	check(&a, u, ub, pkt, n, &tag);
	check(&b, slow, ub, pkt, n, &tag);
	assert_drop(a.s.drop, b.s.drop);
	if (b.s.drop == CW_PASS) {
		same_view(&a, &b);
		b.ids[0] = b.s.v.npi & CW_NPI_ID_MASK;
		b.filter = (struct cw_npi_filter){b.ids, 1};
		b.hop.filter = &b.filter;
		shot_write(&a.s, u, &a.hop);
		shot_write(&b.s, slow, &b.hop);
		same_frame(&a, &b);
	}
	if (straight(&c, u, ub, pkt, n, &tag)) {
		same_frame(&c, &b);
		taken = 1;
	}
	free(a.s.block);
	free(b.s.block);
	free(c.s.block);
	return taken;
}

static void fast_is_the_long_way(void **state)
{
	struct cw_ub2e_settings s;
	struct cw_npi_entry e[] = {{0x123456, 7, 0}, {0x42, 42, 0}};
	struct cw_ub2e *u, *slow;
	unsigned i, j, taken[2] = {0, 0};

	(void)state;
	for (j = 0; j < 4; j++) {
		cw_ub2e_settings_init(&s);
		s.ttl_decrement = j % 2 == 0;
		s.dscp_out[3] = s.dscp_in[5] = 9;
		s.pcp[9] = 5;
		s.vl[9] = 11;
		s.npi = e;
		s.nnpi = j < 2 ? 0 : 2;
		u = rules(&s);
		slow = rules(&s);
		slow->fast.ttl_min = 256;
		for (i = 0; i < PACKETS / 4; i++)
			taken[i & 1] += compare(u, slow, i & 1);
		cw_ub2e_free(u);
		cw_ub2e_free(slow);
	}
	/* It is the fast path that was compared, and not only that. */
	assert_in_range(taken[0], PACKETS / 50, PACKETS / 2 - PACKETS / 10);
	assert_in_range(taken[1], PACKETS / 50, PACKETS / 2 - PACKETS / 10);
}

/* PLENGTH of every length, as the encoder has it. */
static void plength_table(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint16_t want;
	uint32_t i;

	(void)state;
	for (i = 20; i <= UB2E_IP_MAX; i++) {
		assert_int_equal(cw_plength_encode(CW_PLENGTH_CRC, 6 + i, &want), CW_OK);
		assert_int_equal(u->plength[i], want);
	}
	assert_true(cw_plength_encode(CW_PLENGTH_CRC, 6 + UB2E_IP_MAX + 1, &want) < 0);
	assert_int_equal(u->plength[0], UB2E_NO_PLENGTH);
	cw_ub2e_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_is_the_long_way),
		cmocka_unit_test(plength_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
