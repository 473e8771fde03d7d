/* tags: VLAN tags that a DPDK device took out, in the forms of rte_mbuf_core.h, on made-up mbufs.
 */
#include "test.h"
#include "causeway/packet.h"
#include "daemon/io/tags.h"

#define ADDRS "020000000001 020000000002"
#define INNER 0x6123 /* PCP 3, VID 0x123 */
#define OUTER 0xa456
#define BODY  "0800 4501020304050607"

struct mock {
	struct rte_mbuf m;
	uint8_t room[64];
};

/* A frame with `head` octets free in front of it. */
static void fill(struct mock *k, const char *hex, unsigned head, uint64_t flags)
{
	size_t len;
	uint8_t *frame = hex_block(hex, &len);

	assert_true(head + len <= sizeof(k->room));
	memcpy(k->room + head, frame, len);
	free(frame);
	memset(&k->m, 0, sizeof(k->m));
	k->m.buf_addr = k->room;
	k->m.buf_len = sizeof(k->room);
	k->m.data_off = (uint16_t)head;
	k->m.data_len = (uint16_t)len;
	k->m.pkt_len = (uint32_t)len;
	k->m.nb_segs = 1;
	k->m.ol_flags = flags;
	k->m.vlan_tci = INNER;
	k->m.vlan_tci_outer = OUTER;
}

static void expect_frame(const struct mock *k, const char *hex)
{
	size_t len;
	uint8_t *want = hex_block(hex, &len);

	assert_int_equal(k->m.data_len, len);
	assert_int_equal(k->m.pkt_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(&k->m, uint8_t *), want, len);
	free(want);
}

static void expect_outer(const struct mock *k)
{
	assert_int_equal(k->m.vlan_tci, OUTER);
	assert_int_equal(k->m.vlan_tci_outer, 0x88a8);
	assert_true((k->m.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0);
	assert_true((k->m.ol_flags & RTE_MBUF_F_RX_QINQ) != 0);
	assert_true((k->m.ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) == 0);
}

static void both_taken_out(void **s)
{
	struct mock k;

	fill(&k, ADDRS BODY, 16,
	     RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_VLAN_STRIPPED |
		     RTE_MBUF_F_RX_QINQ_STRIPPED);
	assert_true(cw_tags_settle(&k.m));
	expect_frame(&k, ADDRS "8100 6123" BODY);
	expect_outer(&k);
}

static void only_the_outer_taken_out(void **s)
{
	struct mock k;

	fill(&k, ADDRS "8100 6123" BODY, 16,
	     RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_QINQ_STRIPPED);
	assert_true(cw_tags_settle(&k.m));
	expect_frame(&k, ADDRS "8100 6123" BODY);
	expect_outer(&k);
}

static void two_reported_and_left_in(void **s)
{
	struct mock k;

	fill(&k, ADDRS "88a8 a456 8100 6123" BODY, 16, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_QINQ);
	assert_true(cw_tags_settle(&k.m));
	expect_frame(&k, ADDRS "88a8 a456 8100 6123" BODY);
	assert_true((k.m.ol_flags & (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ)) == 0);
}

static void one_taken_out_stays_out(void **s)
{
	struct mock k;

	fill(&k, ADDRS BODY, 16, RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
	assert_true(cw_tags_settle(&k.m));
	expect_frame(&k, ADDRS BODY);
	assert_int_equal(k.m.vlan_tci, INNER);
	assert_true((k.m.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0);
}

static void no_room_for_the_inner_tag(void **s)
{
	uint64_t flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_VLAN_STRIPPED |
			 RTE_MBUF_F_RX_QINQ_STRIPPED;
	struct mock k;

	fill(&k, ADDRS BODY, 3, flags);
	assert_false(cw_tags_settle(&k.m));
	fill(&k, ADDRS "08", 16, flags); /* not even an Ethernet header */
	assert_false(cw_tags_settle(&k.m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_taken_out),
		cmocka_unit_test(only_the_outer_taken_out),
		cmocka_unit_test(two_reported_and_left_in),
		cmocka_unit_test(one_taken_out_stays_out),
		cmocka_unit_test(no_room_for_the_inner_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
