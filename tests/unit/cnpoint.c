/* Tests of the congestion point (draft-xiao-fann-fast-cnp-with-proxy-02). */
#include "tests/unit/roce_sim.h"
#include "causeway/cnpoint.h"
#include "causeway/ub2e.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ub.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"

enum { A = 0x0a000001, B = 0x0a000002, OWN = 0x0a00ff01, PROXY = 0x0a00ff02, QB = 0x222 };

struct world {
	struct cw_point_settings s;
	struct cw_lpm *map;
	struct cw_gid proxies[2];
	struct cw_point *p;
	uint8_t ip[SIM_PACKET_MAX], buf[CW_POINT_MAX];
	struct cw_point_packet pkt;
	struct cw_point_out out;
};

/* 8 Gbit/s: one octet a nanosecond. A congested queue from 10000 octets on, at once. */
static struct world *new_world(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct cw_gid a = sim_addr(A);

	cw_point_settings_init(&w->s);
	assert_int_equal(w->s.option, 0); /* section 6: off by default */
	w->s.rate = 8000000000ull;
	w->s.limit = 100000;
	w->s.ecn_min = 20000;
	w->s.ecn_max = 40000;
	w->s.detect_depth = 10000;
	w->s.option = 1;
	w->s.own4 = sim_addr(OWN);
	assert_int_equal(cw_lpm_new(&w->map), CW_OK);
	assert_int_equal(cw_lpm_add(w->map, &a, 24, 1), CW_OK);
	w->proxies[0] = sim_addr(PROXY);
	w->s.proxy_map = w->map;
	w->s.proxies = w->proxies;
	w->s.nproxies = 1;
	w->pkt.ip = w->ip;
	w->pkt.len = (uint32_t)sim_packet(w->ip, A, B, 50000, CW_OP_SEND_ONLY, QB, 5, true, 16);
	w->ip[1] = 0x6a;
	w->pkt.wire = 1000;
	return w;
}

static void start(struct world *w)
{
	assert_int_equal(cw_point_new(&w->p, &w->s, NULL), CW_OK);
}

static void free_world(struct world *w)
{
	cw_point_free(w->p);
	cw_lpm_free(w->map);
	free(w);
}

static void enqueue(struct world *w, uint64_t now)
{
	cw_point_packet(w->p, &w->pkt, now, w->buf, &w->out);
}

static void fill(struct world *w, unsigned n, uint64_t now)
{
	while (n-- > 0)
		enqueue(w, now);
}

static uint64_t count(const struct world *w, unsigned c)
{
	return cw_point_counter(w->p, c);
}

static void queue_drains_at_its_rate(void **state)
{
	struct world *w = new_world();

	(void)state;
	start(w);
	enqueue(w, 1000);
	assert_int_equal(w->out.depth, 0);
	assert_int_equal(w->out.depart, 2000);
	enqueue(w, 1500);
	assert_int_equal(w->out.depth, 500);
	assert_int_equal(w->out.depart, 3000);
	enqueue(w, 9000);
	assert_int_equal(w->out.depth, 0);
	fill(w, 99, 9000);
	assert_int_equal(count(w, CW_POINT_OVERFLOW), 0);
	enqueue(w, 9000);
	assert_true(w->out.overflow);
	assert_int_equal(count(w, CW_POINT_OVERFLOW), 1);
	free_world(w);
}

/* Not below min, always from max on, in between as often as the settings say. */
static void rfc3168_marking(void **state)
{
	struct world *w = new_world();
	unsigned i, marked = 0;

	(void)state;
	w->s.option = 0;
	w->s.ecn_percent = 50;
	start(w);
	fill(w, 20, 0);
	assert_int_equal(count(w, CW_POINT_MARKED), 0);
	fill(w, 30, 0);
	assert_true(w->out.mark);
	assert_true(count(w, CW_POINT_MARKED) >= 10);
	for (i = 0; i < 4000; i++) { /* about 30000 octets deep: 25 % */
		w->pkt.wire = 1;
		enqueue(w, 20000 + i);
		marked += w->out.mark;
	}
	assert_in_range(marked, 850, 1150);
	w->ip[1] &= 0xfc; /* Not-ECT */
	w->pkt.wire = 1000;
	fill(w, 40, 24000);
	assert_false(w->out.mark);
	assert_true(count(w, CW_POINT_NOT_ECT) > 20);
	free_world(w);
}

/* UB 2.0 5.3.5.2: FECN instead, light first, severe from ecn_max on; the IP header's ECN bits mean
 * nothing there. */
static void ub_5_3_5_2_marking(void **state)
{
	static const uint8_t cci[][3] = {
		/* before, after light, after severe; the mode's bits aside */
		{CW_FECN_NONE, CW_FECN_LIGHT, CW_FECN_SEVERE},
		{CW_FECN_LIGHT, CW_FECN_LIGHT, CW_FECN_SEVERE},
		{CW_FECN_SEVERE, CW_FECN_SEVERE, CW_FECN_SEVERE},
		{CW_FECN_UNMARKABLE, CW_FECN_UNMARKABLE, CW_FECN_UNMARKABLE}};
	struct world *w = new_world();
	uint8_t c[2] = {0x80, CW_FECN_NONE};
	unsigned i, severe;

	(void)state;
	w->s.option = 0;
	w->s.ecn_percent = 100;
	start(w);
	w->pkt.cci = c;
	w->ip[1] = 0; /* Not-ECT */
	fill(w, 39, 0);
	assert_true(w->out.mark && !w->out.severe);
	fill(w, 3, 0);
	assert_true(w->out.mark && w->out.severe);
	c[1] = CW_FECN_UNMARKABLE;
	w->ip[1] = 2;
	enqueue(w, 0);
	assert_false(w->out.mark);
	assert_int_equal(count(w, CW_POINT_NOT_ECT), 1);
	for (i = 0; i < 4; i++) {
		for (severe = 0; severe < 2; severe++) {
			memcpy(c, (uint8_t[]){0x93, (uint8_t)(0xfc | cci[i][0])}, 2);
			cw_ub_mark(c, severe);
			assert_int_equal(c[1], 0xfc | cci[i][1 + severe]);
			/* LoC goes with what is written, the rest stays. */
			assert_int_equal(c[0], cci[i][1 + severe] == cci[i][0] ? 0x93 : 0x83);
		}
	}
	memcpy(c, (uint8_t[]){0x04, CW_FECN_NONE}, 2); /* CAQM has no FECN */
	cw_ub_mark(c, true);
	assert_int_equal(c[1], CW_FECN_NONE);
	assert_false(cw_ub_can_mark(c));
	free_world(w);
}

static void detection_needs_depth_and_time(void **state)
{
	struct world *w = new_world();

	(void)state;
	w->s.detect_ns = 5000;
	start(w);
	fill(w, 15, 100);
	assert_false(w->out.congested);
	fill(w, 5, 3000);
	assert_false(w->out.congested);
	enqueue(w, 5100);
	assert_true(w->out.congested);
	w->pkt.wire = 1;
	enqueue(w, 16000); /* it drained for a while */
	assert_false(w->out.congested);
	w->pkt.wire = 1000;
	fill(w, 12, 16000);
	assert_false(w->out.congested); /* and time counts anew */
	free_world(w);
}

/* 4.1: five-tuple, ToS and destination queue pair of the packet, to the proxy of its source. */
static void s4_1_message(void **state)
{
	struct world *w = new_world();
	struct cw_cnmsg m;

	(void)state;
	start(w);
	fill(w, 10, 0);
	assert_int_equal(w->out.len, 0);
	enqueue(w, 0);
	assert_int_equal(w->out.len, 28 + 20);
	assert_int_equal(cw_be32(w->buf + 12), OWN);
	assert_int_equal(cw_be32(w->buf + 16), PROXY);
	assert_int_equal(w->buf[1], 48 << 2);
	assert_int_equal(cw_ipv4_checksum(w->buf), cw_ipv4_compute(w->buf));
	assert_int_equal(cw_udp_dport(w->buf + 20), CW_CN_PORT1);
	assert_int_equal(cw_udp_checksum(w->buf + 20), cw_udp_compute(w->buf, w->buf + 20, 28));
	assert_int_equal(cw_cnmsg_parse(&m, 1, w->buf + 28, 20), CW_OK);
	assert_int_equal(cw_be32(m.src), A);
	assert_int_equal(cw_be32(m.dst), B);
	assert_int_equal(m.proto, 17);
	assert_int_equal(m.sport, 50000);
	assert_int_equal(m.dport, 4791);
	assert_int_equal(m.tc, 0x6a);
	assert_int_equal(m.dqpn, QB);
	assert_int_equal(count(w, CW_POINT_SENT), 1);
	free_world(w);
}

/* 4.2: the NRP selector by the first rule that fits. */
static void s4_2_message(void **state)
{
	static const struct cw_nrp_rule rules[] = {
		{CW_NRP_VLAN, 42, 1000}, {CW_NRP_NPI, 7, 2000}, {CW_NRP_DSCP, 26, 3000}};
	static const struct {
		uint16_t vid;
		uint32_t npi;
		uint8_t tos;
		uint32_t nrp;
	} want[] = {{42, 7, 0x6a, 1000}, {0, 7, 0x6a, 2000}, {41, 0, 0x6a, 3000}, {1, 1, 0, 0}};
	struct cw_cnmsg m;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct world *w = new_world();

		w->s.option = 2;
		w->s.nrp = rules;
		w->s.nnrp = 3;
		start(w);
		w->pkt.vid = want[i].vid;
		w->pkt.npi = want[i].npi;
		w->ip[1] = want[i].tos;
		fill(w, 11, 0);
		if (want[i].nrp == 0) {
			assert_int_equal(count(w, CW_POINT_NO_NRP), 1);
		} else {
			assert_int_equal(w->out.len, 28 + 24);
			assert_int_equal(cw_udp_dport(w->buf + 20), CW_CN_PORT2);
			assert_int_equal(cw_cnmsg_parse(&m, 2, w->buf + 28, 24), CW_OK);
			assert_int_equal(m.nrp, want[i].nrp);
		}
		free_world(w);
	}
}

static void s5_no_proxy_no_message(void **state)
{
	struct world *w = new_world();

	(void)state;
	start(w);
	w->ip[13] = 9;
	fill(w, 11, 0);
	assert_int_equal(w->out.len, 0);
	assert_int_equal(count(w, CW_POINT_NO_PROXY), 1);
	free_world(w);
	w = new_world();
	w->proxies[0] = (struct cw_gid){{0x20, 1}}; /* we have no IPv6 address */
	start(w);
	fill(w, 11, 0);
	assert_int_equal(count(w, CW_POINT_NO_SOURCE), 1);
	free_world(w);
}

static void s6_limits(void **state)
{
	struct world *w = new_world();
	unsigned i;

	(void)state;
	w->s.flow_ns = 20000;
	w->s.total_burst = 5;
	w->s.total_rate = 1000;
	start(w);
	fill(w, 20, 0);
	assert_int_equal(count(w, CW_POINT_SENT), 1);
	assert_int_equal(count(w, CW_POINT_FLOW_LIMIT), 9);
	for (i = 1; i <= 10; i++) { /* other flows */
		cw_bth_set_dqpn(w->ip + 28, QB + i);
		enqueue(w, 0);
	}
	assert_int_equal(count(w, CW_POINT_SENT), 5);
	assert_int_equal(count(w, CW_POINT_TOTAL_LIMIT), 6);
	free_world(w);
}

/* What a proxy sends to UEC senders, and to those of the article's UET. */
static void bts_is_control(struct world *w)
{
	uint64_t before = count(w, CW_POINT_CONTROL);

	w->ip[28] = CW_PDS_NACK << 3;
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), before + 1);
	w->ip[28] = CW_PDS_RUD << 3;
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), before + 1);
	cw_ipv4_set_length(w->ip, 28 + CW_SIZE_UEC_NACK); /* reflected: a header alone */
	cw_udp_set_length(w->ip + 20, 8 + CW_SIZE_UEC_NACK);
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), before + 2);
	cw_ipv4_set_length(w->ip, w->pkt.len);
	cw_udp_set_length(w->ip + 20, w->pkt.len - 20);
	cw_udp_set_dport(w->ip + 20, 4792);
	cw_uetx_set_version(w->ip + 28, CW_UETX_VERSION);
	cw_uetx_set_opcode(w->ip + 28, CW_UETX_NACK);
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), before + 3);
}

/* No notification about notifications, none about what is not understood. */
static void no_loops_no_strangers(void **state)
{
	struct world *w = new_world();

	(void)state;
	start(w);
	w->ip[28] = CW_BTH_CNP;
	fill(w, 11, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), 1);
	cw_udp_set_dport(w->ip + 20, CW_CN_PORT1);
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_CONTROL), 2);
	cw_udp_set_dport(w->ip + 20, 53);
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_NO_TRANSPORT), 1);
	cw_udp_set_dport(w->ip + 20, 4793);
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_SENT), 1);
	bts_is_control(w);
	w->ip[9] = 6;
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_NO_FLOW), 1);
	w->pkt.len = 3;
	enqueue(w, 0);
	assert_int_equal(count(w, CW_POINT_NO_FLOW), 2);
	free_world(w);
}

static void s6_off_by_default(void **state)
{
	struct world *w = new_world();

	(void)state;
	w->s.option = 0;
	start(w);
	fill(w, 50, 0);
	assert_true(w->out.congested);
	assert_int_equal(w->out.len, 0);
	assert_int_equal(count(w, CW_POINT_SENT), 0);
	free_world(w);
}

static void wrong_settings_are_named(void **state)
{
	struct cw_point_settings s;
	struct cw_point *p;
	struct cw_diag d;

	(void)state;
	cw_point_settings_init(&s);
	s.ecn_min = s.ecn_max + 1;
	assert_int_equal(cw_point_new(&p, &s, &d), CW_E_CONFLICT);
	assert_string_equal(d.path, "ecn-min");
	cw_point_settings_init(&s);
	s.option = 3;
	assert_int_equal(cw_point_new(&p, &s, &d), CW_E_RANGE);
	assert_string_equal(d.path, "option");
	cw_point_settings_init(&s);
	s.detect_depth = s.limit + 1;
	assert_int_equal(cw_point_new(&p, &s, &d), CW_E_CONFLICT);
	assert_string_equal(d.path, "detect-depth");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_drains_at_its_rate),
		cmocka_unit_test(rfc3168_marking),
		cmocka_unit_test(ub_5_3_5_2_marking),
		cmocka_unit_test(detection_needs_depth_and_time),
		cmocka_unit_test(s4_1_message),
		cmocka_unit_test(s4_2_message),
		cmocka_unit_test(s5_no_proxy_no_message),
		cmocka_unit_test(s6_limits),
		cmocka_unit_test(no_loops_no_strangers),
		cmocka_unit_test(s6_off_by_default),
		cmocka_unit_test(wrong_settings_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
