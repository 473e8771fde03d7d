/* rtp_refusals.c - options and packets that are refused, and why: the exact error, the counter.
 * Names begin with the clause of UB 2.0 (u) or of the draft (s).
 */
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "rtp_sim.h"

/* ---- Options, refusals -------------------------------------------------------------------- */

static void options_are_checked(void **state)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tp *tp;
	struct cw_diag d;
	struct sim s;

	g.service = CW_UBOE_ROL;
	sim_init(&s, 1, &g, NULL);
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, &d), CW_E_CONFLICT);
	assert_string_equal(d.path, "service");
#define REFUSES(member, value)                                                       \
	do {                                                                         \
		struct cw_uboe_tp_opts o = CW_UBOE_TP_OPTS;                          \
		o.member = value;                                                    \
		assert_int_equal(cw_uboe_tp_new(s.tpg[0], &o, &tp, &d), CW_E_RANGE); \
		assert_string_equal(d.path, #member);                                \
	} while (0)
	REFUSES(mtu, 1000);
	REFUSES(mtu, 16384);
	REFUSES(window, 4096);
	REFUSES(window, 64);
	REFUSES(reorder, 2048);
	REFUSES(ip_version, 5);
	REFUSES(dscp, 64);
	REFUSES(ect, 3);
	REFUSES(sport_bits, 9);
	REFUSES(vl, 16);
	REFUSES(rt, 4);
	REFUSES(rto_base, 10);
	REFUSES(retries, 0);
	REFUSES(ack_every, 0);
	REFUSES(ack_delay, 5000000);
	REFUSES(tpn, 0x1000000);
	REFUSES(psn, 0x1000000);
#undef REFUSES
	t.size++;
	assert_int_equal(cw_uboe_tp_new(s.tpg[0], &t, &tp, &d), CW_E_ARG);
	sim_free(&s);
}

static int feed(struct sim *s, struct sim_packet *p, int at, uint8_t with, bool fix)
{
	uint8_t *copy = exact_copy(p->data, (size_t)p->len);
	int err;

	copy[at] ^= with;
	if (fix) {
		cw_ipv4_set_checksum(copy, cw_ipv4_compute(copy));
		assert_int_equal(cw_icrc_put(copy, (size_t)p->len, &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	}
	err = cw_uboe_input(s->dev[1], p->form, copy, (size_t)p->len, s->now);
	free(copy);
	return err;
}

/* Row 11 of the faults: lengths of UDP and of IP that lie, by right ICRCs. */
static void row_11_lengths_that_lie(void **state)
{
	static const uint16_t lies[] = {0, 7, 8, 19, 23, 24, 65535};
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct sim_packet *p;
	struct sim s;
	unsigned i;

	(void)state;
	sim_init(&s, 1, NULL, NULL);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_pull(&s);
	p = sim_pop(&s);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		uint8_t keep[6];

		memcpy(keep, p->data, 4);
		memcpy(keep + 4, p->data + 24, 2);
		cw_put_be16(p->data + 24, lies[i]);
		assert_int_equal(feed(&s, p, 0, 0, true), CW_E_LENGTH);
		memcpy(p->data + 24, keep + 4, 2);
		cw_put_be16(p->data + 2, lies[i]); /* shorter than UDP says, or longer than all */
		assert_true(feed(&s, p, 0, 0, true) < 0);
		memcpy(p->data, keep, 4);
	}
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_UDP), 7);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_SHORT), 6);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_IP), 1);
	assert_int_equal(feed(&s, p, 0, 0, true), CW_OK);
	sim_release(&s, p);
	sim_free(&s);
}

static void bad_packets_are_named(void **state)
{
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	struct sim_packet *p;
	uint8_t *part;
	struct sim s;
	int n;

	sim_init(&s, 1, NULL, NULL);
	assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
	sim_pull(&s);
	p = sim_pop(&s);
	for (n = 0; n < p->len; n++) { /* every prefix */
		part = exact_copy(p->data, (size_t)n);
		assert_int_not_equal(cw_uboe_input(s.dev[1], p->form, part, (size_t)n, 0), CW_OK);
		free(part);
	}
	assert_int_equal(feed(&s, p, 0, 0x10, false), CW_E_VERSION);
	assert_int_equal(feed(&s, p, 0, 0x02, false), CW_E_OPTIONS);
	assert_int_equal(feed(&s, p, 6, 0x20, true), CW_E_FRAGMENT);
	assert_int_equal(feed(&s, p, 9, 1, false), CW_E_UNKNOWN);
	assert_int_equal(feed(&s, p, 10, 1, false), CW_E_CHECKSUM);
	assert_int_equal(feed(&s, p, 22, 1, true), CW_E_UNKNOWN);   /* port */
	assert_int_equal(feed(&s, p, 25, 1, true), CW_E_LENGTH);    /* UDP length */
	assert_int_equal(feed(&s, p, 27, 1, false), CW_E_CHECKSUM); /* UDP checksum */
	assert_int_equal(feed(&s, p, p->len - 1, 1, false), CW_E_ICRC);
	assert_int_equal(feed(&s, p, 28, 0x05, true), CW_E_RESERVED); /* opcode 4 */
	assert_int_equal(feed(&s, p, 29, 0x40, true), CW_E_VERSION);  /* TPVer */
	assert_int_equal(feed(&s, p, 31, 1, true), CW_E_UNKNOWN);     /* source TPN */
	assert_int_equal(feed(&s, p, 34, 1, true), CW_E_UNKNOWN);     /* destination TPN */
	assert_int_equal(feed(&s, p, 15, 1, true), CW_E_UNKNOWN);     /* source address */
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_ICRC), 1);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_PEER), 2);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_TPN), 1);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_UDP), 3);
	assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_RX_DATA), 0);
	sim_release(&s, p);
	sim_free(&s);
}

/* Draft 4.2: what a router may change is not in the ICRC, all the rest is: the Identification of
 * IPv4 too, which Linux would set on a socket without IP_HDRINCL. */
static void s4_2_icrc_of_ipv4(void **state)
{
	static const struct {
		int at;
		uint8_t with;
		int err;
	} octets[] = {
		{1, 0x03, CW_OK},     {1, 0xfc, CW_OK},   {8, 0x20, CW_OK}, /* TOS, TTL */
		{4, 1, CW_E_ICRC},    {5, 1, CW_E_ICRC},                    /* Identification */
		{6, 0x40, CW_E_ICRC},                                       /* DF */
		{20, 1, CW_E_ICRC},   {21, 1, CW_E_ICRC},                   /* source port */
	};
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
	unsigned i;

	for (i = 0; i < sizeof(octets) / sizeof(octets[0]); i++) {
		struct sim_packet *p;
		uint8_t *copy;
		struct sim s;

		sim_init(&s, 1, NULL, NULL);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		sim_pull(&s);
		p = sim_pop(&s);
		copy = exact_copy(p->data, (size_t)p->len);
		copy[octets[i].at] ^= octets[i].with;
		cw_ipv4_set_checksum(copy, cw_ipv4_compute(copy));
		assert_int_equal(cw_uboe_input(s.dev[1], p->form, copy, (size_t)p->len, 0),
				 octets[i].err);
		free(copy);
		sim_release(&s, p);
		sim_free(&s);
	}
}

static bool other_partition(struct sim *s, int from, uint8_t *p, int *len)
{
	if (from == 0)
		cw_npi_set_id(p + 6, *(uint32_t *)s->arg & 0xffffff);
	if (from == 0)
		cw_npi_set_permission(p + 6, *(uint32_t *)s->arg >> 24);
	return true;
}

static void u5_3_3_partitions(void **state)
{
	static const struct {
		uint32_t own, comes;
		bool ok;
	} cases[] = {
		{5, 5, true},
		{5, 6, false},
		{5, 5 | 1u << 24, true},
		{5 | 1u << 24, 5, true},
		{5 | 1u << 24, 5 | 1u << 24, false},
	};
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
		struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = "x", .len = 1};
		uint32_t comes = cases[i].comes;
		struct sim s;

		t.form = CW_UBOE_FORM_NATIVE;
		t.npi = cases[i].own;
		sim_init(&s, 1, NULL, &t);
		s.filter = other_partition;
		s.arg = &comes;
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		sim_run(&s, 50000);
		assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_RX_DATA), cases[i].ok);
		assert_int_equal(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_BAD_PARTITION),
				 !cases[i].ok);
		sim_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_checked),     cmocka_unit_test(bad_packets_are_named),
		cmocka_unit_test(row_11_lengths_that_lie), cmocka_unit_test(s4_2_icrc_of_ipv4),
		cmocka_unit_test(u5_3_3_partitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
