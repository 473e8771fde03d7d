/* rtp_gateway.c - the draft's three figures in process: UBoE ends and native UB ends, gateways
 * (lib/ub2e) and a router that marks CE and lowers TTL between them.
 */
#include "causeway/ub2e.h"
#include "causeway/wire/ip.h"
#include "rtp_sim.h"

#define LEN 30000

struct net {
	struct cw_ub2e *rules;
	enum cw_uboe_form form[2];
	unsigned mark_every, seen; /* the router marks data */
	uint64_t crossed;
};

static uint8_t *to_ethernet(struct net *n, uint8_t *packet, int *len)
{
	struct cw_ub2e_hop hop = {.side = CW_SIDE_ETH, .tpid = 0x8100};
	struct cw_ub2e_view v;
	uint8_t *start;
	uint32_t out;

	assert_int_equal(cw_ub2e_from_ub(n->rules, NULL, packet, (uint32_t)*len, &v), CW_PASS);
	assert_int_equal(cw_ub2e_write(n->rules, &v, &hop, &start, &out), CW_PASS);
	assert_int_equal(cw_be16(start + 12), 0x8100); /* partition 1 became a VLAN */
	assert_int_equal(cw_be16(start + 14) & 0xfff, 1);
	*len = (int)out;
	n->crossed++;
	return start;
}

static uint8_t *to_ub(struct net *n, uint8_t *frame, int *len)
{
	struct cw_ub2e_hop hop = {.side = CW_SIDE_UB, .bare = true};
	struct cw_ub2e_view v;
	uint8_t *start;
	uint32_t out;

	assert_int_equal(cw_ub2e_from_eth(n->rules, NULL, frame, (uint32_t)*len, NULL, &v),
			 CW_PASS);
	assert_int_equal(cw_ub2e_write(n->rules, &v, &hop, &start, &out), CW_PASS);
	*len = (int)out;
	n->crossed++;
	return start;
}

/* A router: TTL down, every n-th ECN-capable packet marked. */
static void route(struct net *n, uint8_t *ip)
{
	bool v4 = ip[0] >> 4 == 4;
	uint32_t ecn = v4 ? cw_ipv4_ecn(ip) : cw_ipv6_ecn(ip);
	bool mark = ecn != 0 && n->mark_every != 0 && ++n->seen % n->mark_every == 0;

	if (v4) {
		cw_ipv4_set_ttl(ip, cw_ipv4_ttl(ip) - 1);
		if (mark)
			cw_ipv4_set_ecn(ip, 3);
		cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	} else {
		cw_ipv6_set_hop_limit(ip, cw_ipv6_hop_limit(ip) - 1);
		if (mark)
			cw_ipv6_set_ecn(ip, 3);
	}
}

static bool cross(struct sim *s, int from, struct sim_packet *p)
{
	static uint8_t room[SIM_PACKET + 64];
	struct net *n = s->arg;
	uint8_t *at = room + 64;
	unsigned head = 14;
	int len = p->len;

	memcpy(at, p->data, (size_t)len);
	if (n->form[from] == CW_UBOE_FORM_NATIVE) {
		at = to_ethernet(n, at, &len);
		head = 18;
	} else { /* the end's own Ethernet header, untagged: the default partition */
		at -= 14;
		memset(at, 0, 12);
		cw_put_be16(at + 12, at[14] >> 4 == 4 ? 0x0800 : 0x86dd);
		len += 14;
	}
	route(n, at + head);
	if (n->form[1 - from] == CW_UBOE_FORM_NATIVE) {
		at = to_ub(n, at, &len);
	} else {
		at += head;
		len -= (int)head;
	}
	p->form = n->form[1 - from];
	p->len = len;
	memcpy(p->data, at, (size_t)len);
	return true;
}

static void ends(struct sim *s, struct net *n, int version, enum cw_uboe_cc cc)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_ub2e_settings rules;
	int i;

	memset(s, 0, sizeof(*s));
	s->random = 99;
	s->delay = 10000;
	s->arg = n;
	s->convert = cross;
	cw_ub2e_settings_init(&rules);
	rules.icrc_check_ub = rules.icrc_check_eth = CW_ICRC_CHECK_DROP;
	assert_int_equal(cw_ub2e_new(&n->rules, &rules, NULL, 0, NULL), CW_OK);
	for (i = 0; i < 2; i++) {
		struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

		t.ip_version = (uint8_t)version;
		t.form = n->form[i];
		t.cc = cc;
		t.mtu = 1024;
		sim_dev(s, i, 5 + (uint64_t)i);
		sim_end(s, i, &g, t);
	}
	sim_connect(s->tp[0], s->tp[1]);
	for (i = 0; i < 2; i++)
		assert_int_equal(cw_uboe_import(s->jetty[i], s->tpg[i],
						cw_uboe_jetty_id(s->jetty[1 - i]), 0, &s->to[i]),
				 CW_OK);
}

static void exchange(struct sim *s, int from)
{
	uint8_t *out = malloc(LEN), *in = calloc(1, LEN);
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = out, .len = LEN};
	unsigned i;

	for (i = 0; i < LEN; i++)
		out[i] = (uint8_t)(sim_rand(s) >> 7);
	assert_int_equal(cw_uboe_post_recv(s->jetty[1 - from], in, LEN, 0), CW_OK);
	assert_int_equal(cw_uboe_post(s->to[from], &w), CW_OK);
	assert_int_equal(sim_wait(s, from).status, CW_UBOE_OK);
	assert_int_equal(sim_wait(s, 1 - from).len, LEN);
	assert_memory_equal(in, out, LEN);
	free(in);
	free(out);
}

/* `lossy`: the network is bad on top of it. */
static void figure(enum cw_uboe_form a, enum cw_uboe_form b, bool lossy)
{
	unsigned version, cc, k;

	for (version = 4; version <= 6; version += 2)
		for (cc = 0; cc < 3; cc++) {
			struct net n = {.form = {a, b}, .mark_every = 5};
			struct sim s;

			ends(&s, &n, (int)version, (enum cw_uboe_cc)cc);
			if (lossy) {
				s.loss = 300;
				s.dup = 200;
				s.jitter = 20000;
			}
			for (k = 0; k < 10; k++)
				exchange(&s, k & 1);
			assert_int_equal(n.crossed > 0, a != b || a == CW_UBOE_FORM_NATIVE);
			/* marks came through whatever was on the way, and were acted on */
			assert_true(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_CE) > 10);
			assert_true(cw_uboe_dev_count(s.dev[1], CW_UBOE_C_CE) > 10);
			assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_CUT) > 0,
					 cc != CW_UBOE_CC_NONE);
			assert_int_equal(cw_uboe_dev_count(s.dev[0], CW_UBOE_C_BAD_ICRC), 0);
			cw_ub2e_free(n.rules);
			sim_free(&s);
		}
}

static void s3_figure_1_direct(void **state)
{
	figure(CW_UBOE_FORM_UBOE, CW_UBOE_FORM_UBOE, false);
}

static void s3_figure_2_single_ended(void **state)
{
	figure(CW_UBOE_FORM_NATIVE, CW_UBOE_FORM_UBOE, false);
	figure(CW_UBOE_FORM_UBOE, CW_UBOE_FORM_NATIVE, true);
}

static void s3_figure_3_dual_ended(void **state)
{
	figure(CW_UBOE_FORM_NATIVE, CW_UBOE_FORM_NATIVE, false);
	figure(CW_UBOE_FORM_NATIVE, CW_UBOE_FORM_NATIVE, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s3_figure_1_direct),
		cmocka_unit_test(s3_figure_2_single_ended),
		cmocka_unit_test(s3_figure_3_dual_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
