/* Tests of gen's packets and of sink's checks. */
#include "tests/unit/test.h"
#include "causeway/icrc.h"
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "cli/traffic_check.h"

static uint8_t frame[TRAFFIC_FRAME_MAX];

static struct traffic_desc distinct_desc(void)
{
	return (struct traffic_desc){
		.run = 0x01020304,
		.seq = 0x05060708090a,
		.total = 0x0b0c0d0e0f10,
		.flow = 0x1112,
		.nflows = 0x1314,
		.side = 1,
		.tagged = 1,
		.v6 = 1,
		.cci_mode = 5,
		.loc = 1,
		.rt = 2,
		.cc = 1,
		.vl = 0xb,
		.pcp = 6,
		.dscp = 0x2d,
		.ttl = 0x15,
		.part = 0x16171819,
		.ip_len = 0x1a1b,
		.sport = 0x1c1d,
		.addr_crc = 0x1e1f2021,
		.head_crc = 0x22232425,
		.seed = 0x26272829,
		.fault = 0x2a,
	};
}

static void description_round_trips(void **state)
{
	struct traffic_desc in = distinct_desc(), out;
	uint8_t p[TRAFFIC_SIZE];

	(void)state;
	memset(&out, 0, sizeof(out));
	traffic_desc_put(p, &in);
	assert_true(traffic_desc_get(&out, p, sizeof(p)));
	assert_int_equal(in.seq, out.seq);
	assert_int_equal(in.total, out.total);
	assert_int_equal(in.run, out.run);
	assert_int_equal(in.part, out.part);
	assert_int_equal(in.addr_crc, out.addr_crc);
	assert_int_equal(in.head_crc, out.head_crc);
	assert_int_equal(in.seed, out.seed);
	/* The 16-bit and 8-bit members stand behind each other, without gaps. */
	assert_memory_equal(&in.flow, &out.flow,
			    offsetof(struct traffic_desc, fault) + 1 -
				    offsetof(struct traffic_desc, flow));
}

static void damaged_description_is_refused(void **state)
{
	struct traffic_desc in = distinct_desc(), out;
	uint8_t p[TRAFFIC_SIZE], *cut;
	unsigned i;

	(void)state;
	traffic_desc_put(p, &in);
	for (i = 0; i < TRAFFIC_SIZE; i++) {
		cut = exact_copy(p, i);
		assert_false(traffic_desc_get(&out, cut, i));
		free(cut);
	}
	for (i = 0; i < 8 * TRAFFIC_SIZE; i++) {
		p[i / 8] = (uint8_t)(p[i / 8] ^ 1u << i % 8);
		assert_false(traffic_desc_get(&out, p, TRAFFIC_SIZE));
		p[i / 8] = (uint8_t)(p[i / 8] ^ 1u << i % 8);
	}
	assert_true(traffic_desc_get(&out, p, TRAFFIC_SIZE));
}

static void impossible_description_is_refused(void **state)
{
	struct traffic_desc in = distinct_desc(), out;
	uint8_t p[TRAFFIC_SIZE];

	(void)state;
	in.flow = in.nflows;
	traffic_desc_put(p, &in);
	assert_false(traffic_desc_get(&out, p, TRAFFIC_SIZE));
	in = distinct_desc();
	in.seq = in.total;
	traffic_desc_put(p, &in);
	assert_false(traffic_desc_get(&out, p, TRAFFIC_SIZE));
}

static void every_wrong_payload_octet_is_found(void **state)
{
	uint8_t *p;
	size_t len, at;

	(void)state;
	for (len = 0; len < 40; len++) {
		p = malloc(len > 0 ? len : 1);
		traffic_fill(p, len, 7);
		assert_int_equal(traffic_differs(p, len, 7), len);
		for (at = 0; at < len; at++) {
			p[at] ^= 0x10;
			assert_int_equal(traffic_differs(p, len, 7), at);
			p[at] ^= 0x10;
		}
		free(p);
	}
}

static void mixes_are_read(void **state)
{
	struct traffic_mix m = {0};
	unsigned i, light = 0;

	(void)state;
	assert_int_equal(traffic_mix_parse(&m, "10:80,01:15,11L:5", traffic_value_cc), CW_OK);
	assert_int_equal(m.n, 3);
	assert_int_equal(m.value[0], 2);
	assert_int_equal(m.value[2], 7);
	assert_int_equal(m.upto[2], 100);
	for (i = 0; i < 100; i++)
		light += traffic_mix_pick(&m, i) == 1;
	assert_int_equal(light, 15);
	assert_int_equal(traffic_mix_parse(&m, "64,300-1500:3", traffic_value_size), CW_OK);
	assert_int_equal(m.value[1], 300 | 1500 << 16);
	assert_int_equal(traffic_mix_parse(&m, "9/low,5", traffic_value_npi), CW_OK);
	assert_int_equal(m.value[0], 0x1000009);
}

static void wrong_mixes_are_refused(void **state)
{
	static const struct {
		const char *text;
		int (*value)(const char *text, uint32_t *out);
		int err;
	} bad[] = {
		{"", traffic_value_number, CW_E_SYNTAX},
		{"1,,2", traffic_value_number, CW_E_SYNTAX},
		{"1,", traffic_value_number, CW_E_SYNTAX},
		{"-1", traffic_value_number, CW_E_SYNTAX},
		{"1:x", traffic_value_number, CW_E_SYNTAX},
		{"1:0", traffic_value_number, CW_E_RANGE},
		{"1:9999999", traffic_value_number, CW_E_RANGE},
		{"55", traffic_value_size, CW_E_RANGE},
		{"100-99", traffic_value_size, CW_E_RANGE},
		{"9601", traffic_value_size, CW_E_RANGE},
		{"2", traffic_value_cc, CW_E_SYNTAX},
		{"111", traffic_value_cc, CW_E_SYNTAX},
		{"16777216", traffic_value_npi, CW_E_RANGE},
		{"5/lo", traffic_value_npi, CW_E_SYNTAX},
		{"4096", traffic_value_vid, CW_E_RANGE},
		{"read", traffic_value_op, CW_E_NAME},
		{"ctp", traffic_value_transport, CW_E_NAME},
	};
	struct traffic_mix m = {.n = 77};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(traffic_mix_parse(&m, bad[i].text, bad[i].value), bad[i].err);
	assert_int_equal(m.n, 77);
}

/* A plan for packet kind `i` of 0..3, of many shapes. */
static struct traffic_plan varied_plan(unsigned i)
{
	struct traffic_plan p;

	traffic_plan_init(&p, i & 1 ? TRAFFIC_UBOE : TRAFFIC_UB, i & 2 ? 6 : 4);
	assert_int_equal(traffic_mix_parse(&p.size, "56-75,1500,8192", traffic_value_size), 0);
	assert_int_equal(traffic_mix_parse(&p.op,
					   "send,send-imm,write,write-imm,write-notify,writeback,"
					   "read-response",
					   traffic_value_op),
			 0);
	assert_int_equal(traffic_mix_parse(&p.transport, "rtp,utp", traffic_value_transport), 0);
	assert_int_equal(traffic_mix_parse(&p.cc, i & 1 ? "00,01,10,11" : "00,01,10,11,01L,11L",
					   traffic_value_cc),
			 0);
	assert_int_equal(traffic_mix_parse(&p.part, i & 1 ? "1,5,4094,untagged" : "1,5,77/low",
					   i & 1 ? traffic_value_vid : traffic_value_npi),
			 0);
	assert_int_equal(traffic_mix_parse(&p.dscp, "0,46,63", traffic_value_number), 0);
	p.flows = 5;
	p.nsport = 5;
	p.count = 1000;
	p.pcp = i & 1 ? 3 : 0;
	return p;
}

static void packets_are_what_the_decoder_expects(void **state)
{
	struct traffic_packet k;
	struct traffic_plan p;
	struct cw_packet d;
	uint64_t seq;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		p = varied_plan(i);
		for (seq = 0; seq < p.count; seq++) {
			traffic_build(&p, seq, frame, &k);
			assert_int_equal(cw_dissect(&d, CW_LINK_ETHERNET, frame, k.len, NULL),
					 CW_OK);
			assert_int_equal(d.icrc.status, CW_ICRC_OK);
			assert_int_equal(d.icrc.off, k.icrc);
			assert_int_equal(d.payload_off, k.payload);
			assert_int_equal(d.trailer_len, 0);
		}
	}
}

static void same_plan_same_octets(void **state)
{
	static uint8_t again[TRAFFIC_FRAME_MAX];
	struct traffic_plan p = varied_plan(0);
	struct traffic_packet a, b;

	(void)state;
	traffic_build(&p, 17, frame, &a);
	traffic_build(&p, 17, again, &b);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(frame, again, a.len);
	p.seed = 2;
	traffic_build(&p, 17, again, &b);
	assert_true(a.len != b.len || memcmp(frame, again, a.len) != 0);
}

static void unchanged_packets_pass(void **state)
{
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;
	uint64_t seq;
	unsigned i;

	(void)state;
	traffic_expect_init(&e);
	for (i = 0; i < 4; i++) {
		p = varied_plan(i);
		for (seq = 0; seq < p.count; seq++) {
			traffic_build(&p, seq, frame, &k);
			traffic_check(&e, CW_LINK_ETHERNET, frame, k.len, &v);
			if (v.wrong != 0)
				print_error("%s\n", v.reason);
			assert_int_equal(v.kind, TRAFFIC_READABLE);
			assert_int_equal(v.wrong, 0);
			assert_int_equal(v.desc.seq, seq);
		}
	}
}

/* IP's ECN bits mean nothing inside a UB domain (UB 2.0 5.3.5); the Ethernet addresses are the
 * links'. Every other bit of a packet counts. */
static bool may_change(const struct traffic_packet *k, uint32_t octet, unsigned bit)
{
	if (octet < 12)
		return true;
	if (k->side != TRAFFIC_UB || octet < k->ip)
		return false;
	return k->version == 4 ? octet == k->ip + 1 && bit < 2
			       : octet == k->ip + 1 && (bit == 4 || bit == 5);
}

static void every_flipped_bit_is_noticed(void **state)
{
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;
	unsigned i, bit;
	uint32_t at;

	(void)state;
	traffic_expect_init(&e);
	for (i = 0; i < 4; i++) {
		p = varied_plan(i);
		traffic_mix_one(&p.size, 75 | 75 << 16);
		traffic_build(&p, 3, frame, &k);
		for (at = 0; at < k.len; at++) {
			for (bit = 0; bit < 8; bit++) {
				frame[at] = (uint8_t)(frame[at] ^ 1u << bit);
				traffic_check(&e, CW_LINK_ETHERNET, frame, k.len, &v);
				frame[at] = (uint8_t)(frame[at] ^ 1u << bit);
				if (v.kind != TRAFFIC_READABLE || v.wrong != 0 ||
				    may_change(&k, at, bit))
					continue;
				print_error("kind %u octet %u bit %u\n", i, at, bit);
				fail();
			}
		}
	}
}

static void every_truncation_is_noticed(void **state)
{
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;
	uint8_t *cut;
	unsigned i;
	uint32_t n;

	(void)state;
	traffic_expect_init(&e);
	for (i = 0; i < 4; i++) {
		p = varied_plan(i);
		traffic_mix_one(&p.size, 75 | 75 << 16);
		traffic_build(&p, 3, frame, &k);
		for (n = 0; n < k.len; n++) {
			cut = exact_copy(frame, n);
			traffic_check(&e, CW_LINK_ETHERNET, cut, n, &v);
			assert_true(v.kind != TRAFFIC_READABLE || v.wrong != 0);
			free(cut);
		}
	}
}

/* ---- Rules of the way: packets changed by hand ------------------------------------------------
 */

/* What a gateway makes of a UB packet, done by hand: ECN and VLAN as told, TTL one less. */
static uint32_t to_uboe(const struct traffic_packet *k, uint8_t *out, unsigned ecn, unsigned vid)
{
	uint8_t *ip = out + CW_SIZE_ETH + CW_SIZE_VLAN;
	uint32_t len = k->len - k->ip;

	memset(out, 0x11, 12);
	cw_put_be16(out + 12, CW_ETHERTYPE_VLAN);
	cw_put_be16(out + 14, (uint16_t)vid);
	cw_put_be16(out + 16, CW_ETHERTYPE_IP4);
	memcpy(ip, k->frame + k->ip, len);
	cw_ipv4_set_ecn(ip, ecn);
	cw_ipv4_set_ttl(ip, cw_ipv4_ttl(ip) - 1);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	return CW_SIZE_ETH + CW_SIZE_VLAN + len;
}

static uint32_t check_converted(const char *rule, const char *marked, unsigned fecn, unsigned ecn,
				unsigned vid, uint16_t sport)
{
	static uint8_t out[TRAFFIC_FRAME_MAX];
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;
	uint32_t len;

	traffic_plan_init(&p, TRAFFIC_UB, 4);
	traffic_mix_one(&p.cc, fecn);
	traffic_mix_one(&p.part, 0x1003005);
	p.sport = sport;
	traffic_build(&p, 0, frame, &k);
	traffic_expect_init(&e);
	e.hops = 1;
	assert_int_equal(traffic_expect_cc(&e, rule), CW_OK);
	assert_int_equal(traffic_expect_marking(&e, marked), CW_OK);
	len = to_uboe(&k, out, ecn, vid);
	traffic_check(&e, CW_LINK_ETHERNET, out, len, &v);
	assert_int_equal(v.kind, TRAFFIC_READABLE);
	return v.wrong;
}

/* Which ECN may come of a FECN: a digit a FECN 0..3, a set of code points as bits. */
static void expect_table(const char *rule, const char *marked, uint16_t sport, const char *sets)
{
	unsigned fecn, ecn, allowed;
	uint32_t wrong;

	for (fecn = 0; fecn < 4; fecn++) {
		allowed = sets[fecn] <= '9' ? (unsigned)(sets[fecn] - '0')
					    : (unsigned)(sets[fecn] - 'a') + 10;
		for (ecn = 0; ecn < 4; ecn++) {
			wrong = check_converted(rule, marked, fecn, ecn, 5, sport);
			assert_int_equal(wrong, allowed >> ecn & 1 ? 0 : 1u << TRAFFIC_CHECK_CC);
		}
	}
}

static void s5_2_1_fecn_to_ecn(void **state)
{
	(void)state;
	expect_table("draft", "no", 0xc000, "1848");
	expect_table("light=ect", "no", 0xc000, "1448");
	expect_table("light=ect,ect=1", "no", 0xc000, "1228");
	expect_table("strict", "no", 0xc000, "1248");
}

static void routers_may_mark(void **state)
{
	(void)state;
	expect_table("draft", "maybe", 0xc000, "18c8");
	expect_table("draft", "sport:1/1", 0xc000, "1848");
	expect_table("draft", "sport:1/1", 0xc001, "1888");
	expect_table("strict", "sport:1/1", 0xc001, "1888");
}

static void s5_3_low_12_bits(void **state)
{
	(void)state;
	assert_int_equal(check_converted("draft", "no", 2, 2, 5, 0xc000), 0);
	assert_int_equal(check_converted("draft", "no", 2, 2, 6, 0xc000),
			 1u << TRAFFIC_CHECK_PARTITION);
	/* PCP 1 */
	assert_int_equal(check_converted("draft", "no", 2, 2, 0x2005, 0xc000),
			 1u << TRAFFIC_CHECK_PCP);
}

static uint32_t check_two_gateways(const char *npi_rule, uint32_t sent, uint32_t got, unsigned rt,
				   unsigned ttl_less, unsigned hops)
{
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;

	traffic_plan_init(&p, TRAFFIC_UB, 6);
	traffic_mix_one(&p.part, sent);
	traffic_mix_one(&p.rt, 1);
	traffic_mix_one(&p.cc, 1 | 4); /* light, LoC */
	traffic_build(&p, 0, frame, &k);
	cw_lph_set_rt(frame + k.net, rt);
	cw_put_be16(frame + k.net + 4, 0x8003);
	cw_put_be32(frame + k.net + 6, got);
	cw_ipv6_set_hop_limit(frame + k.ip, 64 - ttl_less);
	traffic_expect_init(&e);
	e.gateways = 2;
	e.hops = (int)hops;
	assert_int_equal(traffic_expect_partition(&e, npi_rule), CW_OK);
	traffic_check(&e, CW_LINK_ETHERNET, frame, k.len, &v);
	assert_int_equal(v.kind, TRAFFIC_READABLE);
	return v.wrong;
}

static void figure_3_rules(void **state)
{
	(void)state;
	assert_int_equal(check_two_gateways("low12", 0x1003005, 5, 2, 3, 3), 0);
	assert_int_equal(check_two_gateways("low12", 0x1003005, 0x1003005, 2, 3, 3),
			 1u << TRAFFIC_CHECK_PARTITION);
	assert_int_equal(check_two_gateways("same", 0x1003005, 0x1003005, 2, 3, 3), 0);
	assert_int_equal(check_two_gateways("12293/low=9/low", 0x1003005, 0x1000009, 2, 3, 3), 0);
	assert_int_equal(check_two_gateways("low12", 5, 5, 1, 3, 3), 1u << TRAFFIC_CHECK_LPH);
	assert_int_equal(check_two_gateways("low12", 5, 5, 2, 2, 3), 1u << TRAFFIC_CHECK_TTL);
}

static void wrong_rules_are_refused(void **state)
{
	struct traffic_expect e;

	(void)state;
	traffic_expect_init(&e);
	assert_int_equal(traffic_expect_cc(&e, "draft,loose"), CW_E_NAME);
	assert_int_equal(traffic_expect_marking(&e, "sport:1"), CW_E_SYNTAX);
	assert_int_equal(traffic_expect_marking(&e, "sport:1/1x"), CW_E_SYNTAX);
	assert_int_equal(traffic_expect_partition(&e, "5"), CW_E_SYNTAX);
	assert_int_equal(traffic_expect_partition(&e, "5=x"), CW_E_SYNTAX);
	assert_int_equal(traffic_expect_dscp(&e, "1=64"), CW_E_RANGE);
	assert_int_equal(traffic_expect_dscp(&e, "1-2"), CW_E_SYNTAX);
}

/* ---- Counting ---------------------------------------------------------------------------------
 */

static void count_seq(struct traffic_tally *t, uint64_t seq)
{
	struct traffic_verdict v = {.kind = TRAFFIC_READABLE};

	v.desc = (struct traffic_desc){
		.run = 9, .seq = seq, .nflows = 3, .flow = (uint16_t)(seq % 3), .total = 3000000};
	assert_int_equal(traffic_count(t, &v, 100), CW_OK);
}

static void losses_duplicates_and_order(void **state)
{
	struct traffic_tally t = {0};
	const struct traffic_run *r;
	uint64_t seq;

	(void)state;
	for (seq = 0; seq < 3000000; seq++) {
		if (seq == 0 || seq == TRAFFIC_CHUNK || seq == 2999999)
			continue; /* lost */
		count_seq(&t, seq);
		if (seq == TRAFFIC_CHUNK - 1)
			count_seq(&t, seq); /* duplicate */
	}
	count_seq(&t, TRAFFIC_CHUNK); /* late: reordered in its flow, not lost */
	assert_int_equal(t.nruns, 1);
	r = t.runs[0];
	assert_int_equal(traffic_run_expected(r, 0), 3000000);
	assert_int_equal(r->distinct, 3000000 - 2);
	assert_int_equal(r->duplicates, 1);
	assert_int_equal(r->reordered, 1);
	assert_int_equal(r->flows[TRAFFIC_CHUNK % 3].reordered, 1);
	assert_false(traffic_run_has(r, 0));
	assert_true(traffic_run_has(r, 1));
	assert_true(traffic_run_has(r, TRAFFIC_CHUNK));
	assert_false(traffic_run_has(r, 2999999));
	assert_false(traffic_run_has(r, UINT64_MAX));
	traffic_tally_free(&t);
}

static void other_order_between_flows_is_no_reordering(void **state)
{
	struct traffic_tally t = {0};

	(void)state;
	count_seq(&t, 4);
	count_seq(&t, 0);
	count_seq(&t, 2);
	assert_int_equal(t.runs[0]->reordered, 0);
	count_seq(&t, 1);
	assert_int_equal(t.runs[0]->reordered, 1);
	traffic_tally_free(&t);
}

static void contradicting_descriptions_are_damage(void **state)
{
	struct traffic_tally t = {0};
	struct traffic_verdict v = {.kind = TRAFFIC_READABLE};

	(void)state;
	count_seq(&t, 0);
	v.desc =
		(struct traffic_desc){.run = 9, .seq = 1, .nflows = 4, .flow = 1, .total = 3000000};
	assert_int_equal(traffic_count(&t, &v, 100), CW_E_RANGE);
	v.desc =
		(struct traffic_desc){.run = 9, .seq = 1, .nflows = 3, .flow = 2, .total = 3000000};
	assert_int_equal(traffic_count(&t, &v, 100), CW_E_RANGE);
	v.desc = (struct traffic_desc){.run = 9, .seq = 1, .nflows = 3, .flow = 1, .total = 5};
	assert_int_equal(traffic_count(&t, &v, 100), CW_E_RANGE);
	assert_int_equal(t.damaged, 3);
	assert_int_equal(t.runs[0]->received, 1);
	traffic_tally_free(&t);
}

static void endless_runs_end_at_the_highest_seen(void **state)
{
	struct traffic_tally t = {0};
	struct traffic_verdict v = {.kind = TRAFFIC_READABLE};

	(void)state;
	v.desc = (struct traffic_desc){.run = 1, .seq = 7, .nflows = 1};
	assert_int_equal(traffic_count(&t, &v, 1), CW_OK);
	assert_int_equal(traffic_run_expected(t.runs[0], 0), 8);
	assert_int_equal(traffic_run_expected(t.runs[0], 100), 100);
	v.desc.seq = (uint64_t)1 << 40; /* would need a bitmap of 128 GB */
	assert_int_equal(traffic_count(&t, &v, 1), CW_E_RANGE);
	traffic_tally_free(&t);
}

/* ---- Faults -----------------------------------------------------------------------------------
 */

static unsigned fault_plan(struct traffic_plan *p, unsigned i)
{
	*p = varied_plan(i);
	traffic_mix_one(&p->transport, TRAFFIC_RTP);
	traffic_mix_one(&p->size, 200 | 400 << 16);
	return i & 1 ? TRAFFIC_ON_UBOE : TRAFFIC_ON_UB;
}

static const char *arg_of(const struct traffic_fault *f, const struct traffic_plan *p)
{
	if (f->arg == NULL || f->def != NULL)
		return NULL;
	if (strcmp(f->arg, "ADDR") == 0)
		return p->version == 6 ? "2001:db8:9::9" : "192.0.2.9";
	return strcmp(f->arg, "SIZE") == 0 ? "2000" : "99";
}

/* No faulty packet passes for a good one, and none says that it is good. */
static void no_fault_looks_good(void **state)
{
	struct traffic_expect e;
	struct traffic_verdict v;
	struct traffic_packet k;
	struct traffic_plan p;
	unsigned i, kind, n;
	const char *arg;

	(void)state;
	traffic_expect_init(&e);
	for (i = 0; i < 4; i++) {
		fault_plan(&p, i);
		for (kind = 0; kind < traffic_nfaults; kind++) {
			arg = arg_of(&traffic_faults[kind], &p);
			if (traffic_fault_refuse(&p, kind, arg) != NULL)
				continue;
			for (n = 0; n < 20; n++) {
				traffic_build_fault(&p, kind, arg, n, frame, &k);
				traffic_check(&e, CW_LINK_ETHERNET, frame, k.len, &v);
				if (v.kind == TRAFFIC_READABLE)
					assert_int_equal(v.desc.fault, kind + 1);
			}
		}
	}
}

/* ---- Against the converter --------------------------------------------------------------------
 */

static const uint32_t filter_ids[] = {1, 5, 77, 0x1000};
static const struct cw_npi_filter filter = {filter_ids, 4};

/* What the converter does with the packet: a drop by its check or, towards the other side, by its
 * write with an MTU of 1500; CW_PASS otherwise. */
static enum cw_drop convert(const struct cw_ub2e *u, struct traffic_packet *k)
{
	const struct cw_ub2e_hop hop = {.side = k->side == TRAFFIC_UB ? CW_SIDE_ETH : CW_SIDE_UB,
					.mtu = 1500};
	struct cw_ub2e_view v;
	uint8_t *start;
	uint32_t len;
	enum cw_drop drop;

	if (k->side == TRAFFIC_UB)
		drop = cw_ub2e_from_ub(u, &filter, k->frame + CW_SIZE_ETH, k->len - CW_SIZE_ETH,
				       &v);
	else
		drop = cw_ub2e_from_eth(u, &filter, k->frame, k->len, NULL, &v);
	return drop != CW_PASS ? drop : cw_ub2e_write(u, &v, &hop, &start, &len);
}

static struct cw_ub2e *strict_gateway(void)
{
	struct cw_ub2e_settings s;
	struct cw_ub2e *u = NULL;

	cw_ub2e_settings_init(&s);
	s.icrc_check_ub = s.icrc_check_eth = CW_ICRC_CHECK_DROP;
	s.cci_policy = CW_CCI_DROP;
	s.plain_ip = false;
	assert_int_equal(cw_ub2e_new(&u, &s, NULL, 0, NULL), CW_OK);
	return u;
}

/* Reasons that need more than the converter: a port's link layer, a routing table, neighbours. */
static bool beyond_converter(const struct traffic_fault *f, enum traffic_side side)
{
	static const char *const names[] = {"not-for-us", "no-route", "same-domain",
					    "neighbour-fail"};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(f->name, names[i]) == 0)
			return true;
	}
	return strcmp(f->name, "ethertype") == 0 && side == TRAFFIC_UB;
}

static void every_fault_is_refused_for_its_reason(void **state)
{
	static uint8_t room[64 + TRAFFIC_FRAME_MAX];
	struct cw_ub2e *u = strict_gateway();
	const struct traffic_fault *f;
	struct traffic_packet k;
	struct traffic_plan p;
	unsigned i, kind, n;
	const char *arg;
	enum cw_drop drop;

	(void)state;
	for (i = 0; i < 4; i++) {
		fault_plan(&p, i);
		traffic_mix_one(&p.part, 5);
		for (kind = 0; kind < traffic_nfaults; kind++) {
			f = &traffic_faults[kind];
			arg = arg_of(f, &p);
			if (traffic_fault_refuse(&p, kind, arg) != NULL ||
			    beyond_converter(f, p.side))
				continue;
			for (n = 0; n < 50; n++) {
				traffic_build_fault(&p, kind, arg, n, room + 64, &k);
				drop = convert(u, &k);
				if (f->drop == NULL) {
					assert_int_not_equal(drop, CW_PASS);
					continue;
				}
				if (strcmp(cw_drop_name(drop), f->drop) != 0)
					print_error("kind %u, %s number %u\n", i, f->name, n);
				assert_string_equal(cw_drop_name(drop), f->drop);
			}
		}
	}
	cw_ub2e_free(u);
}

static void good_packets_cross(void **state)
{
	static uint8_t room[64 + TRAFFIC_FRAME_MAX];
	struct cw_ub2e *u = strict_gateway();
	struct traffic_packet k;
	struct traffic_plan p;
	unsigned i, n;

	(void)state;
	for (i = 0; i < 4; i++) {
		fault_plan(&p, i);
		traffic_mix_one(&p.part, 5);
		for (n = 0; n < 100; n++) {
			traffic_build(&p, n, room + 64, &k);
			assert_int_equal(convert(u, &k), CW_PASS);
		}
	}
	cw_ub2e_free(u);
}

static void faults_that_do_not_fit_are_refused(void **state)
{
	struct traffic_plan p;

	(void)state;
	traffic_plan_init(&p, TRAFFIC_UB, 4);
	assert_non_null(traffic_fault_refuse(&p, (unsigned)traffic_fault_find("vlan-depth"), NULL));
	assert_non_null(
		traffic_fault_refuse(&p, (unsigned)traffic_fault_find("ip-extension"), NULL));
	assert_non_null(traffic_fault_refuse(&p, (unsigned)traffic_fault_find("no-route"), NULL));
	assert_non_null(traffic_fault_refuse(&p, (unsigned)traffic_fault_find("no-route"), "::1"));
	assert_non_null(traffic_fault_refuse(&p, (unsigned)traffic_fault_find("icrc"), "1"));
	assert_null(
		traffic_fault_refuse(&p, (unsigned)traffic_fault_find("no-route"), "192.0.2.1"));
	assert_null(traffic_fault_refuse(&p, (unsigned)traffic_fault_find("npi-unmapped"), NULL));
	assert_int_equal(traffic_fault_find("nothing"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(description_round_trips),
		cmocka_unit_test(damaged_description_is_refused),
		cmocka_unit_test(impossible_description_is_refused),
		cmocka_unit_test(every_wrong_payload_octet_is_found),
		cmocka_unit_test(mixes_are_read),
		cmocka_unit_test(wrong_mixes_are_refused),
		cmocka_unit_test(packets_are_what_the_decoder_expects),
		cmocka_unit_test(same_plan_same_octets),
		cmocka_unit_test(unchanged_packets_pass),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(every_truncation_is_noticed),
		cmocka_unit_test(s5_2_1_fecn_to_ecn),
		cmocka_unit_test(routers_may_mark),
		cmocka_unit_test(s5_3_low_12_bits),
		cmocka_unit_test(figure_3_rules),
		cmocka_unit_test(wrong_rules_are_refused),
		cmocka_unit_test(losses_duplicates_and_order),
		cmocka_unit_test(other_order_between_flows_is_no_reordering),
		cmocka_unit_test(contradicting_descriptions_are_damage),
		cmocka_unit_test(endless_runs_end_at_the_highest_seen),
		cmocka_unit_test(no_fault_looks_good),
		cmocka_unit_test(every_fault_is_refused_for_its_reason),
		cmocka_unit_test(good_packets_cross),
		cmocka_unit_test(faults_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
