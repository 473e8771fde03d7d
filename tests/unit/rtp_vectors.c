/* rtp_vectors.c - what the endpoint sends, octet by octet: packets made from UB 2.0 and the draft
 * by independent code (the same as v1 .. v5 in tests/vectors/ub.txt).
 */
#include "causeway/wire/ip.h"
#include "rtp_sim.h"

/* Write of 8 octets over IPv4 and IPv6, its TPACK, a severe CNP, UTP Send "hello". */
static const char v1[] =
	"4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000"
	"000a000000010310000100000007000000001234500000005500000000080001020304050607"
	"abd33066";
static const char v2[] =
	"60212345003c114020010db800000000000000000000000120010db800000000000000000000"
	"0002c00012b8003c000081000001020002038000000a00000001031000010000000700000000"
	"1234500000005500000000080001020304050607c4a65643";
static const char v3[] =
	"4502003000004000401126b90a0000020a000001c00112b8001c0000020000020300010200"
	"00000a000000017cd366d2";
static const char v4[] =
	"4502004000004000401126a90a0000020a000001c00112b8002c0000080000020300010200"
	"00000000000000c00000000000000000000000000000005afd96a9";
static const char v5[] =
	"4502004800004000401126a10a0000010a000002c00012b8003400000030000000000000000"
	"00000000000000010000208000007000000050000000068656c6c6f0000006a22b7fc";

static void address(uint8_t *a, int version, int i)
{
	static const uint8_t v6[4] = {0x20, 0x01, 0x0d, 0xb8};

	sim_addr(a, 4, i);
	if (version == 6) {
		memset(a, 0, 16);
		memcpy(a, v6, 4);
		a[15] = (uint8_t)(1 + i);
	}
}

static void end(struct sim *s, int i, int version, enum cw_uboe_service service, enum cw_uboe_cc cc)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	unsigned k;

	g.service = service;
	t.cc = cc;
	t.ip_version = (uint8_t)version;
	address(t.src, version, i);
	address(t.dst, version, 1 - i);
	t.tpn = i == 0 ? 0x102 : 0x203;
	t.psn = 9;
	t.sport = t.ack_sport = (uint16_t)(0xc000 + i);
	sim_dev(s, i, 1);
	assert_int_equal(cw_uboe_tpg_new(s->dev[i], &g, &s->tpg[i]), CW_OK);
	assert_int_equal(cw_uboe_tp_new(s->tpg[i], &t, &s->tp[i], NULL), CW_OK);
	assert_int_equal(cw_uboe_jetty_new(s->dev[i], NULL, &s->jetty[i]), CW_OK);
	for (k = 0; k < 8; k++) /* the eighth has INI_RC_ID 7 */
		assert_int_equal(cw_uboe_import(s->jetty[i], s->tpg[i], 5, 0, &s->to[i]), CW_OK);
}

static void ends(struct sim *s, int version, enum cw_uboe_service service, enum cw_uboe_cc cc)
{
	memset(s, 0, sizeof(*s));
	s->random = 1;
	s->delay = 1000;
	end(s, 0, version, service, cc);
	end(s, 1, version, service, cc);
	if (service != CW_UBOE_UNO)
		sim_connect(s->tp[0], s->tp[1]);
}

static struct sim_packet *pull_one(struct sim *s)
{
	sim_pull(s);
	assert_true(s->n > 0);
	return sim_pop(s);
}

/* Our responses are Not-ECT and the vectors ECT(0): ToS and header checksum differ, no more. */
static void same(const struct sim_packet *p, const char *hex, bool response)
{
	size_t n;
	uint8_t *want = hex_block(hex, &n);

	assert_int_equal(p->len, n);
	if (response) {
		want[1] = 0;
		cw_ipv4_set_checksum(want, cw_ipv4_compute(want));
	}
	assert_memory_equal(p->data, want, n);
	free(want);
}

/* The second Write of a channel, so that TASSN and TPMSN are 1 and PSN is 10. */
static struct sim_packet *second_write(struct sim *s)
{
	static uint8_t data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_WRITE,
			       .local = data,
			       .len = 8,
			       .remote_addr = 0x12345000,
			       .token_id = 0x55};

	assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
	assert_int_equal(sim_wait(s, 0).status, CW_UBOE_REMOTE); /* there is no such segment */
	sim_run(s, 100000000);
	assert_int_equal(cw_uboe_post(s->to[0], &w), CW_OK);
	return pull_one(s);
}

static void write_v1_and_tpack_v3(void **state)
{
	struct sim_packet *p;
	struct sim s;

	ends(&s, 4, CW_UBOE_ROI, CW_UBOE_CC_NONE);
	p = second_write(&s);
	same(p, v1, false);
	assert_int_equal(cw_uboe_input(s.dev[1], p->form, p->data, (size_t)p->len, s.now), CW_OK);
	sim_release(&s, p);
	p = pull_one(&s);
	same(p, v3, true);
	sim_release(&s, p);
	sim_free(&s);
}

static void write_v2_over_ipv6(void **state)
{
	struct sim_packet *p;
	struct sim s;

	ends(&s, 6, CW_UBOE_ROI, CW_UBOE_CC_NONE);
	p = second_write(&s);
	cw_ipv6_set_flow_label(p->data, 0x12345); /* not covered by the ICRC */
	same(p, v2, false);
	sim_release(&s, p);
	sim_free(&s);
}

static void cnp_v4(void **state)
{
	struct sim_packet *p;
	struct sim s;

	ends(&s, 4, CW_UBOE_ROI, CW_UBOE_CC_DCQCN);
	p = second_write(&s);
	cw_ipv4_set_ecn(p->data, 3);
	cw_ipv4_set_checksum(p->data, cw_ipv4_compute(p->data));
	assert_int_equal(cw_uboe_input(s.dev[1], p->form, p->data, (size_t)p->len, s.now), CW_OK);
	sim_release(&s, p);
	p = pull_one(&s);
	same(p, v4, true);
	sim_release(&s, p);
	sim_free(&s);
}

static void utp_send_v5(void **state)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "hello", .len = 5};
	struct sim_packet *p;
	struct sim s;
	unsigned k;

	ends(&s, 4, CW_UBOE_UNO, CW_UBOE_CC_NONE);
	for (k = 0; k < 2; k++) {
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		(void)sim_wait(&s, 0);
		sim_run(&s, 1000000);
	}
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	p = pull_one(&s);
	same(p, v5, false);
	sim_release(&s, p);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_v1_and_tpack_v3),
		cmocka_unit_test(write_v2_over_ipv6),
		cmocka_unit_test(cnp_v4),
		cmocka_unit_test(utp_send_v5),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
