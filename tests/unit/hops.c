/* hops: next hops of a snapshot; equal ones are one, and whatever tells two apart keeps them so. */
#include "test.h"
#include "daemon/control/hops.h"

static struct cw_hop base_hop(void)
{
	return (struct cw_hop){.hop = {.side = CW_SIDE_ETH,
				       .dst = {2, 0, 0, 0, 0, 9},
				       .src = {2, 0, 0, 0, 0, 1},
				       .tpid = 0x8100,
				       .mtu = 9000},
			       .kind = CW_HOP_VIA,
			       .slot = 3,
			       .via = {.version = 4, .a = {10, 0, 0, 1}}};
}

static const struct cw_npi_filter filter;

/* One field changed, of all that matter. */
static bool change(struct cw_hop *h, unsigned field)
{
	switch (field) {
	case 0:
		h->hop.side = CW_SIDE_UB;
		return true;
	case 1:
		h->hop.dst[5] ^= 1;
		return true;
	case 2:
		h->hop.src[0] ^= 4;
		return true;
	case 3:
		h->hop.bare = true;
		return true;
	case 4:
		h->hop.tpid = 0x88a8;
		return true;
	case 5:
		h->hop.outer_vid = 7;
		return true;
	case 6:
		h->hop.mtu = 1500;
		return true;
	case 7:
		h->hop.filter = &filter;
		return true;
	case 8:
		h->slot = 4;
		return true;
	case 9:
		h->kind = CW_HOP_ONLINK;
		return true;
	case 10:
		h->via.a[3] ^= 1;
		return true;
	case 11:
		h->via.version = 6;
		return true;
	default:
		return false;
	}
}

static void any_difference_keeps_them_apart(void **state)
{
	struct cw_hop h = base_hop();
	struct cw_hops t;
	unsigned i;

	(void)state;
	assert_int_equal(cw_hops_init(&t, 16), CW_OK);
	assert_int_equal(cw_hops_add(&t, &h), 0);
	for (i = 0; change(&h, i); i++) {
		assert_int_equal(cw_hops_add(&t, &h), i + 1);
		assert_int_equal(cw_hops_add(&t, &h), i + 1);
		h = base_hop();
		assert_int_equal(cw_hops_add(&t, &h), 0);
	}
	assert_int_equal(t.n, 13);
	cw_hops_free(&t);
}

/* An address that nobody asks for, and octets behind one, tell nothing apart. */
static void unused_addresses_do_not_count(void **state)
{
	struct cw_hop h = base_hop();
	struct cw_hops t;

	(void)state;
	assert_int_equal(cw_hops_init(&t, 4), CW_OK);
	assert_int_equal(cw_hops_add(&t, &h), 0);
	h.via.a[9] = h.via.plen = 7;
	assert_int_equal(cw_hops_add(&t, &h), 0);
	h.kind = CW_HOP_STATIC;
	assert_int_equal(cw_hops_add(&t, &h), 1);
	h.via.a[0] = 11;
	assert_int_equal(cw_hops_add(&t, &h), 1);
	cw_hops_free(&t);
}

#define MANY 5000u

/* As many as there is room for, each found again; the snapshot gets them made ready. */
static void a_full_table(void **state)
{
	struct cw_hop h = base_hop();
	struct cw_plane p = {0};
	struct cw_hops t;
	unsigned i, round;

	(void)state;
	h.kind = CW_HOP_STATIC;
	assert_int_equal(cw_hops_init(&t, MANY), CW_OK);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MANY; i++) {
			h.hop.dst[4] = (uint8_t)(i >> 8);
			h.hop.dst[5] = (uint8_t)i;
			assert_int_equal(cw_hops_add(&t, &h), i);
		}
	}
	assert_int_equal(cw_hops_finish(&t, &p), CW_OK);
	assert_int_equal(p.nhops, MANY);
	assert_int_equal((uintptr_t)p.adj % 64, 0);
	for (i = 0; i < MANY; i++) {
		assert_memory_equal(p.adj[i].head, p.hops[i].hop.dst, 6);
		assert_int_equal(p.adj[i].head[4] << 8 | p.adj[i].head[5], i);
		assert_int_equal(cw_adj_slot(&p.adj[i]), 3);
		assert_int_equal(cw_adj_kind(&p.adj[i]), CW_HOP_STATIC);
	}
	cw_hops_free(&t);
	free(p.hops);
	free(p.adj);
}

/* What must be resolved is told to workers; what leads to the gateway itself has room for nothing.
 */
static void kinds(void **state)
{
	static const struct {
		enum cw_hop_kind kind;
		bool resolves, room;
	} cases[] = {{CW_HOP_STATIC, false, true},
		     {CW_HOP_LOCAL, false, false},
		     {CW_HOP_VIA, true, true},
		     {CW_HOP_ONLINK, true, true}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cw_hop h = base_hop();
		struct cw_plane p = {0};
		struct cw_hops t;

		h.kind = cases[i].kind;
		assert_int_equal(cw_hops_init(&t, 1), CW_OK);
		assert_int_equal(cw_hops_add(&t, &h), 0);
		assert_int_equal(cw_hops_finish(&t, &p), CW_OK);
		assert_int_equal(p.resolves, cases[i].resolves);
		assert_int_equal((p.adj[0].room[0] | p.adj[0].room[1]) != 0, cases[i].room);
		assert_int_equal(cw_adj_kind(&p.adj[0]), cases[i].kind);
		assert_int_equal(p.adj[1].room[0] | p.adj[1].room[1], 0);
		cw_hops_free(&t);
		free(p.hops);
		free(p.adj);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_difference_keeps_them_apart),
		cmocka_unit_test(unused_addresses_do_not_count),
		cmocka_unit_test(a_full_table),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
