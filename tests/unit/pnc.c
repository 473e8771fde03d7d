/* pnc: proxy node capability in IS-IS, OSPFv2, OSPFv3 and BGP. Tests are named after the sections
 * of the Fast CNP proxy draft, or after the fault that somebody met. */
#include "causeway/pnc.h"
#include "tests/unit/test.h"

static const struct cw_pnc_codes codes = CW_PNC_CODES;

struct seen {
	unsigned n;
	struct cw_pnc_prefix p[8];
};

static int note(void *arg, const struct cw_pnc_prefix *p)
{
	struct seen *s = arg;

	assert_true(s->n < 8);
	s->p[s->n++] = *p;
	return 0;
}

/* What walks a block; `type` as the format wants it. */
typedef int walk_fn(unsigned type, const uint8_t *data, size_t len, struct seen *s,
		    struct cw_pnc_error *e);

static int isis(unsigned type, const uint8_t *data, size_t len, struct seen *s,
		struct cw_pnc_error *e)
{
	return cw_isis_reach_walk(&codes, (uint8_t)type, data, len, note, s, e);
}

static int lsp(unsigned type, const uint8_t *data, size_t len, struct seen *s,
	       struct cw_pnc_error *e)
{
	(void)type;
	return cw_isis_walk(&codes, data, len, note, s, e);
}

static int ospf2(unsigned type, const uint8_t *data, size_t len, struct seen *s,
		 struct cw_pnc_error *e)
{
	(void)type;
	return cw_ospf2_walk(&codes, data, len, note, s, e);
}

static int ospf3(unsigned type, const uint8_t *data, size_t len, struct seen *s,
		 struct cw_pnc_error *e)
{
	return cw_ospf3_walk(&codes, (uint16_t)type, data, len, note, s, e);
}

/* Walk a hex block; the caller frees it, because what was seen points into it. */
static int walk(walk_fn *fn, unsigned type, const char *hex, struct seen *s, uint8_t **block)
{
	struct cw_pnc_error e;
	size_t len;
	int err;

	*s = (struct seen){0};
	*block = hex_block(hex, &len);
	err = fn(type, *block, len, s, &e);
	assert_int_equal(e.err, err);
	assert_true(err == CW_OK || (e.what != NULL && e.off <= len));
	return err;
}

static void expect_prefix(const struct cw_pnc_prefix *p, const char *text)
{
	char buf[CW_PREFIX_TEXT];

	assert_string_equal(cw_prefix_format(&p->prefix, buf), text);
}

/* No truncation is taken for the whole, whichever octet is the last. `whole` are the lengths at
 * which a block may end. */
static void expect_prefixes_fail(walk_fn *fn, unsigned type, const char *hex, const size_t *whole)
{
	struct cw_pnc_error e;
	struct seen s;
	size_t len, cut;
	uint8_t *all = hex_block(hex, &len), *part;

	for (cut = 0; cut < len; cut++) {
		s = (struct seen){0};
		part = exact_copy(all, cut);
		if (cut == *whole) {
			assert_int_equal(fn(type, part, cut, &s, &e), CW_OK);
			whole++;
		} else {
			assert_int_not_equal(fn(type, part, cut, &s, &e), CW_OK);
		}
		free(part);
	}
	free(all);
}

/* ---- 5.1 IS-IS ----------------------------------------------------------------------------- */

#define TLV135 "01020304 60 0aff0063 03 040121"
#define TLV236 "01020304 20 80 20010db8 11121314 21222324 31323334 03 040121"

static void s5_1_p_flag_in_each_tlv(void **state)
{
	static const struct {
		unsigned type;
		const char *hex, *prefix;
		unsigned mt;
	} all[] = {
		{135, TLV135, "10.255.0.99/32", 0},
		{235, "f123" TLV135, "10.255.0.99/32", 0x123},
		{236, TLV236, "2001:db8:1112:1314:2122:2324:3132:3334/128", 0},
		{237, "f456" TLV236, "2001:db8:1112:1314:2122:2324:3132:3334/128", 0x456},
	};
	struct seen s;
	uint8_t *block;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(walk(isis, all[i].type, all[i].hex, &s, &block), CW_OK);
		assert_int_equal(s.n, 1);
		expect_prefix(&s.p[0], all[i].prefix);
		assert_int_equal(s.p[0].kind, all[i].type);
		assert_int_equal(s.p[0].mt, all[i].mt);
		assert_int_equal(s.p[0].metric, 0x01020304);
		assert_int_equal(s.p[0].flags, 0x21000000);
		assert_true(s.p[0].pnc && s.p[0].node && s.p[0].has_flags);
		assert_false(s.p[0].readvertised || s.p[0].unreachable || s.p[0].down);
		free(block);
	}
}

static void s5_1_each_bit_is_itself(void **state)
{
	static const char *const flags[] = {"80", "40", "20", "10", "08", "04", "02", "01"};
	struct cw_pnc_prefix *p;
	struct seen s;
	uint8_t *block;
	char hex[64];
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++) {
		(void)snprintf(hex, sizeof(hex), "00000000 60 01020304 03 0401%s", flags[i]);
		assert_int_equal(walk(isis, 135, hex, &s, &block), CW_OK);
		p = &s.p[0];
		assert_int_equal(p->readvertised, i == 1);
		assert_int_equal(p->node, i == 2);
		assert_int_equal(p->unreachable, i == 5 || i == 6);
		assert_int_equal(p->pnc, i == 7);
		free(block);
	}
}

/* The code points are parameters. */
static void s7_isis_code_points(void **state)
{
	struct cw_pnc_codes other = codes;
	struct cw_pnc_error e;
	struct seen s = {0};
	size_t len;
	uint8_t *b = hex_block("00000000 60 01020304 06 c80400000010", &len);

	(void)state;
	other.isis_subtlv = 200;
	other.isis_bit = 27;
	assert_int_equal(cw_isis_reach_walk(&other, 135, b, len, note, &s, &e), CW_OK);
	assert_true(s.p[0].pnc);
	free(b);
}

static void isis_prefix_lengths(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(
		walk(isis, 135, "00000001 00 00000002 08 0a 00000003 91 0a1180", &s, &block),
		CW_OK);
	assert_int_equal(s.n, 3);
	expect_prefix(&s.p[0], "0.0.0.0/0");
	expect_prefix(&s.p[1], "10.0.0.0/8");
	expect_prefix(&s.p[2], "10.17.128.0/17");
	assert_true(s.p[2].down && !s.p[1].down && !s.p[2].has_flags);
	free(block);
	assert_int_equal(walk(isis, 135, "00000001 21 0102030405", &s, &block), CW_E_RANGE);
	free(block);
	assert_int_equal(
		walk(isis, 236, "00000001 00 81 00112233445566778899aabbccddeeff11", &s, &block),
		CW_E_RANGE);
	free(block);
	assert_int_equal(walk(isis, 134, "", &s, &block), CW_E_UNKNOWN);
	free(block);
}

static void isis_truncated(void **state)
{
	(void)state;
	expect_prefixes_fail(isis, 135, TLV135 TLV135, (const size_t[]){0, 13, 99});
	expect_prefixes_fail(isis, 235, "f123" TLV135, (const size_t[]){2, 99});
	expect_prefixes_fail(isis, 236, TLV236 TLV236, (const size_t[]){0, 26, 99});
	expect_prefixes_fail(isis, 237, "f123" TLV236, (const size_t[]){2, 99});
	expect_prefixes_fail(lsp, 0, "01020304 870d" TLV135 "ec1a" TLV236,
			     (const size_t[]){0, 4, 19, 99});
}

/* tcpdump PR 1442: a sub-TLV longer than what is left; the walk ends at that TLV only. */
static void fault_65_subtlv_exceeds(void **state)
{
	struct cw_pnc_error e;
	struct seen s = {0};
	size_t len;
	uint8_t *b = hex_block("870f 00000001 60 0a000001 05 04c8210000"
			       "870d" TLV135,
			       &len);

	(void)state;
	assert_int_equal(cw_isis_walk(&codes, b, len, note, &s, &e), CW_E_LENGTH);
	assert_string_equal(e.what, "sub-TLV exceeds its block");
	assert_int_equal(e.off, 12);
	assert_int_equal(s.n, 1);
	expect_prefix(&s.p[0], "10.255.0.99/32");
	free(b);
}

/* FRR PR 13758, 16718, 20333: application-specific sub-TLVs are none of ours, and pass unread. */
static void fault_67_other_tlvs_pass(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(walk(lsp, 0,
			      "1610 0000000000aa00 00000a 05 10037fffff"
			      "870d" TLV135,
			      &s, &block),
			 CW_OK);
	assert_int_equal(s.n, 1);
	free(block);
}

/* FRR PR 8608, PR 15863. */
static void fault_69_flags(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	/* N counts for a host prefix only */
	assert_int_equal(walk(isis, 135, "00000001 58 0a0001 03 040120", &s, &block), CW_OK);
	assert_true(!s.p[0].node && s.p[0].flags == 0x20000000);
	free(block);
	/* a leaked prefix keeps its R flag; N too */
	assert_int_equal(walk(isis, 135, "00000001 e0 0a000001 03 040160", &s, &block), CW_OK);
	assert_true(s.p[0].node && s.p[0].readvertised && s.p[0].down);
	free(block);
	/* no octet of flags: all clear */
	assert_int_equal(walk(isis, 135, "00000001 60 0a000001 02 0400", &s, &block), CW_OK);
	assert_true(s.p[0].has_flags && s.p[0].flags == 0 && s.p[0].flags_len == 0);
	free(block);
	/* two octets, the second with bits nobody knows */
	assert_int_equal(walk(isis, 135, "00000001 60 0a000001 04 04020180", &s, &block), CW_OK);
	assert_true(s.p[0].pnc && s.p[0].flags == 0x01800000);
	free(block);
	/* twice: the first counts, the second is told */
	assert_int_equal(walk(isis, 135, "00000001 60 0a000001 06 040121 040100", &s, &block),
			 CW_OK);
	assert_true(s.p[0].pnc && s.p[0].duplicate);
	free(block);
}

static void expect_hex(const struct cw_wr *w, const uint8_t *buf, const char *hex)
{
	size_t len;
	uint8_t *want = hex_block(hex, &len);

	assert_int_equal(w->err, CW_OK);
	assert_int_equal(w->p - buf, len);
	assert_memory_equal(buf, want, len);
	free(want);
}

static void expect_isis_edit(unsigned type, const char *from, struct cw_isis_edit edit,
			     const char *to)
{
	uint8_t buf[CW_PNC_ISIS_ENTRY_MAX], *block;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s;

	assert_int_equal(walk(isis, type, from, &s, &block), CW_OK);
	assert_int_equal(cw_isis_reach_edit(&w, &codes, &s.p[0], &edit), CW_OK);
	expect_hex(&w, buf, to);
	free(block);
}

/* "MUST be preserved when a router propagates a prefix between ISIS levels." */
static void s5_1_preserved_between_levels(void **state)
{
	struct cw_isis_edit down = {.pnc = true, .leak = true, .down = true, .metric = 10};
	struct cw_isis_edit up = {.pnc = true, .leak = true, .metric = 10};

	(void)state;
	expect_isis_edit(135, "0000000a 60 0aff0063 03 040121", down,
			 "0000000a e0 0aff0063 03 040161");
	expect_isis_edit(236, "0000000a 20 20 20010db8 03 040121", up,
			 "0000000a 20 20 20010db8 03 040161");
	expect_isis_edit(236, "0000000a 20 20 20010db8 03 040121", down,
			 "0000000a a0 20 20010db8 03 040161");
	/* RFC 7794 2.2: with the source, unless it is there already; with the way's metric */
	up.metric = 0x01020304;
	up.source = (struct cw_addr){4, {10, 255, 0, 1}};
	expect_isis_edit(135, "0000000a 58 c00002 03 040101", up,
			 "01020304 58 c00002 09 040141 0b040aff0001");
	expect_isis_edit(135, "0000000a 58 c00002 09 040101 0b04c0000209", up,
			 "01020304 58 c00002 09 040141 0b04c0000209");
	up.source = (struct cw_addr){6, {0xfd, 0x99, [15] = 1}};
	expect_isis_edit(
		236, "0000000a 20 20 20010db8 03 040101", up,
		"01020304 20 20 20010db8 15 040141 0c10 fd99000000000000 0000000000000001");
}

/* RFC 7794 2.2; of two the one of the prefix's family counts, one of another size is none. */
static void isis_source_router_id(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(walk(isis, 135,
			      "0000000a 48 0a 18 0c10fd990000000000000000000000000001 0b040aff0001"
			      "0000000a 48 0b 05 0b03010203"
			      "0000000a 48 0c 12 0c10fd990000000000000000000000000001",
			      &s, &block),
			 CW_OK);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.p[0].source.version, 4);
	assert_memory_equal(s.p[0].source.addr, "\x0a\xff\x00\x01", 4);
	assert_int_equal(s.p[1].source.version, 0);
	assert_int_equal(s.p[2].source.version, 6);
	assert_int_equal(s.p[2].source.addr[15], 1);
	free(block);
}

/* What nobody knows stays: sub-TLVs 1 (tag) and 222, flags of two octets, reserved bits. */
static void isis_edit_keeps_the_unknown(void **state)
{
	(void)state;
	expect_isis_edit(135, "0000000a 60 0aff0063 10 010401020304 04025e99 de04a1a2a3a4",
			 (struct cw_isis_edit){.pnc = true},
			 "0000000a 60 0aff0063 10 010401020304 04025f99 de04a1a2a3a4");
	expect_isis_edit(135, "0000000a 60 0aff0063 04 04025f99", (struct cw_isis_edit){0},
			 "0000000a 60 0aff0063 04 04025e99");
	expect_isis_edit(236, "0000000a 1f 08 fd", (struct cw_isis_edit){.pnc = true},
			 "0000000a 3f 08 fd 03 040101");
	expect_isis_edit(135, "0000000a 08 0a", (struct cw_isis_edit){0}, "0000000a 08 0a");
	expect_isis_edit(135, "0000000a 48 0a 02 0400", (struct cw_isis_edit){.pnc = true},
			 "0000000a 48 0a 03 040101");
	expect_isis_edit(135, "0000000a 48 0a 06 0401000401ff", (struct cw_isis_edit){.pnc = true},
			 "0000000a 48 0a 06 0401010401ff");
}

static void isis_edit_has_limits(void **state)
{
	uint8_t value[5 + 1 + 1 + 254] = {0, 0, 0, 1, 0x48, 10, 254, 1, 252};
	uint8_t buf[CW_PNC_ISIS_ENTRY_MAX];
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s = {0};

	(void)state;
	assert_int_equal(cw_isis_reach_walk(&codes, 135, value, sizeof(value), note, &s, NULL),
			 CW_OK);
	assert_int_equal(
		cw_isis_reach_edit(&w, &codes, &s.p[0], &(struct cw_isis_edit){.pnc = true}),
		CW_E_SPACE);
	w = cw_wr_init(buf, 20);
	assert_int_equal(cw_isis_reach_edit(&w, &codes, &s.p[0], &(struct cw_isis_edit){0}),
			 CW_E_SPACE);
}

static void isis_put(void **state)
{
	struct cw_pnc_prefix p = {.metric = 0x01020304, .node = true, .pnc = true};
	uint8_t buf[64];
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));

	(void)state;
	assert_int_equal(cw_prefix_parse("10.255.0.99", &p.prefix), CW_OK);
	cw_isis_reach_put(&w, &codes, &p);
	expect_hex(&w, buf, TLV135);
	w = cw_wr_init(buf, sizeof(buf));
	assert_int_equal(cw_prefix_parse("fd00::/8", &p.prefix), CW_OK);
	p.readvertised = p.down = true;
	p.flags = 0x00000080;
	cw_isis_reach_put(&w, &codes, &p);
	expect_hex(&w, buf, "01020304 a0 08 fd 06 040441000080");
}

/* ---- 5.2 OSPFv2 ---------------------------------------------------------------------------- */

#define BODY2 "00010010 01200040 0aff0001 000b0004 20000000"

static void s5_2_p_flag_is_bit_2(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(walk(ospf2, 0, BODY2, &s, &block), CW_OK);
	assert_int_equal(s.n, 1);
	expect_prefix(&s.p[0], "10.255.0.1/32");
	assert_true(s.p[0].pnc && s.p[0].node && !s.p[0].unreachable);
	assert_int_equal(s.p[0].kind, 1);
	assert_int_equal(s.p[0].options, 0x40);
	free(block);
	assert_int_equal(walk(ospf2, 0, "00010010 01200040 0aff0001 000b0004 dfffffff", &s, &block),
			 CW_OK);
	assert_true(!s.p[0].pnc && s.p[0].unreachable);
	free(block);
}

static void s7_ospf_code_points(void **state)
{
	struct cw_pnc_codes other = codes;
	struct seen s = {0};
	size_t len;
	uint8_t *b = hex_block("00010010 01200040 0aff0001 abcd0004 00000001", &len);

	(void)state;
	other.ospf2_subtlv = 0xabcd;
	other.ospf_bit = 31;
	assert_int_equal(cw_ospf2_walk(&other, b, len, note, &s, NULL), CW_OK);
	assert_true(s.p[0].pnc);
	free(b);
}

static void ospf2_truncated(void **state)
{
	(void)state;
	expect_prefixes_fail(ospf2, 0, BODY2 BODY2, (const size_t[]){0, 20, 99});
}

static void ospf2_prefixes(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	/* a default route has no address; another family is passed over; /17 is cleaned */
	assert_int_equal(walk(ospf2, 0,
			      "00010004 05000000 00010008 03200100 0a0b0c0d"
			      "00010008 07110000 0a11ff00",
			      &s, &block),
			 CW_OK);
	assert_int_equal(s.n, 2);
	expect_prefix(&s.p[0], "0.0.0.0/0");
	expect_prefix(&s.p[1], "10.17.128.0/17");
	assert_int_equal(s.p[1].kind, 7);
	free(block);
	assert_int_equal(walk(ospf2, 0, "0001000c 01210000 0a0b0c0d 00000000", &s, &block),
			 CW_E_RANGE);
	free(block);
}

/* FRR #21502: a body that is no multiple of 4 is refused before its TLVs are read. */
static void fault_59_not_a_multiple_of_4(void **state)
{
	static const uint8_t body[3] = {0, 1, 0};
	struct cw_pnc_error e;
	struct seen s = {0};
	size_t n;

	(void)state;
	for (n = 1; n <= 3; n++) {
		uint8_t *part = exact_copy(body, n);

		assert_int_equal(cw_ospf2_walk(&codes, part, n, note, &s, &e), CW_E_LENGTH);
		assert_string_equal(e.what, "LSA is not a multiple of 4 octets");
		assert_int_equal(cw_ospf3_walk(&codes, CW_OSPF3_E_INTER, part, n, note, &s, &e),
				 CW_E_LENGTH);
		free(part);
	}
}

/* FRR PR 23312: a TLV's length counts what is not there. */
static void fault_61_tlv_exceeds(void **state)
{
	struct cw_pnc_error e;
	struct seen s = {0};
	size_t len;
	uint8_t *b = hex_block("00010014 01200040", &len);

	(void)state;
	assert_int_equal(cw_ospf2_walk(&codes, b, len, note, &s, &e), CW_E_LENGTH);
	assert_string_equal(e.what, "TLV exceeds LSA");
	free(b);
}

/* tcpdump #223: behind a TLV of 5 octets are 3 of padding; so behind a sub-TLV. */
static void fault_63_padding(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(walk(ospf2, 0,
			      "00070005 68656c6c6f000000"
			      "00010018 01200040 0aff0001 0063000261620000 000b0004 20000000",
			      &s, &block),
			 CW_OK);
	assert_int_equal(s.n, 1);
	assert_true(s.p[0].pnc);
	free(block);
}

/* RFC 9792: flags that are no multiple of 4 octets spoil the LSA as a whole. */
static void s5_2_bad_flags_spoil_the_lsa(void **state)
{
	struct seen s;
	uint8_t *block;

	(void)state;
	assert_int_equal(
		walk(ospf2, 0, BODY2 "00010010 01200040 0aff0002 000b0003 20000000", &s, &block),
		CW_E_LENGTH);
	assert_int_equal(s.n, 0);
	free(block);
	/* more words than we know are fine */
	assert_int_equal(
		walk(ospf2, 0, "00010014 01200040 0aff0002 000b0008 20000000ffffffff", &s, &block),
		CW_OK);
	assert_true(s.p[0].pnc && s.p[0].flags_len == 8);
	free(block);
}

/* "An ABR MUST originate an Extended Prefix Opaque LSA including the received PNC setting." */
static void s5_2_preserved_between_areas(void **state)
{
	uint8_t buf[64], *block;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s;

	(void)state;
	assert_int_equal(walk(ospf2, 0,
			      "0001001c 01200051 0aff0001 0063000561626364650000000"
			      "00b0004 25000001",
			      &s, &block),
			 CW_OK);
	assert_int_equal(cw_ospf2_prefix_edit(&w, &codes, &s.p[0],
					      &(struct cw_ospf_edit){.pnc = s.p[0].pnc, .kind = 3}),
			 CW_OK);
	expect_hex(&w, buf,
		   "0001001c 03200051 0aff0001 0063000561626364650000000"
		   "00b0004 25000001");
	w = cw_wr_init(buf, sizeof(buf));
	assert_int_equal(
		cw_ospf2_prefix_edit(&w, &codes, &s.p[0], &(struct cw_ospf_edit){.kind = -1}),
		CW_OK);
	expect_hex(&w, buf,
		   "0001001c 01200051 0aff0001 0063000561626364650000000"
		   "00b0004 05000001");
	free(block);
}

static void ospf2_edit_adds_flags(void **state)
{
	uint8_t buf[64], *block;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s;

	(void)state;
	assert_int_equal(walk(ospf2, 0, "00010008 01200000 0aff0001", &s, &block), CW_OK);
	assert_int_equal(cw_ospf2_prefix_edit(&w, &codes, &s.p[0],
					      &(struct cw_ospf_edit){.pnc = true, .kind = -1}),
			 CW_OK);
	expect_hex(&w, buf, "00010010 01200000 0aff0001 000b0004 20000000");
	free(block);
	w = cw_wr_init(buf, sizeof(buf));
	assert_int_equal(walk(ospf2, 0, "0001000c 01200000 0aff0001 000b0000", &s, &block), CW_OK);
	assert_int_equal(cw_ospf2_prefix_edit(&w, &codes, &s.p[0],
					      &(struct cw_ospf_edit){.pnc = true, .kind = -1}),
			 CW_OK);
	expect_hex(&w, buf, "00010010 01200000 0aff0001 000b0004 20000000");
	w = cw_wr_init(buf, 11);
	assert_int_equal(cw_ospf2_prefix_edit(&w, &codes, &s.p[0],
					      &(struct cw_ospf_edit){.pnc = true, .kind = 3}),
			 CW_E_SPACE);
	free(block);
}

static void ospf2_put(void **state)
{
	struct cw_pnc_prefix p = {.kind = 1, .node = true, .pnc = true};
	uint8_t buf[64];
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));

	(void)state;
	assert_int_equal(cw_prefix_parse("10.255.0.1/32", &p.prefix), CW_OK);
	cw_ospf2_prefix_put(&w, &codes, &p);
	expect_hex(&w, buf, BODY2);
}

/* ---- 5.3 OSPFv3 ---------------------------------------------------------------------------- */

#define TLV3(type) \
	type "0020 00010203 80220000 20010db8 11121314 21222324 31323334 00250004 20000000"
#define REF "00002001 01020304 05060708"

static void s5_3_p_flag_in_each_lsa(void **state)
{
	static const struct {
		unsigned type;
		const char *hex;
	} all[] = {
		{CW_OSPF3_E_INTRA, REF TLV3("0006")},
		{CW_OSPF3_E_INTER, TLV3("0003")},
		{CW_OSPF3_E_EXTERNAL, TLV3("0005")},
		{CW_OSPF3_E_NSSA, TLV3("0005")},
	};
	struct seen s;
	uint8_t *block;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(walk(ospf3, all[i].type, all[i].hex, &s, &block), CW_OK);
		assert_int_equal(s.n, 1);
		expect_prefix(&s.p[0], "2001:db8:1112:1314:2122:2324:3132:3334/128");
		assert_true(s.p[0].pnc && s.p[0].node);
		assert_int_equal(s.p[0].metric, 0x010203);
		assert_int_equal(s.p[0].options, 0x22);
		assert_int_equal(s.p[0].kind, all[i].type);
		free(block);
	}
	assert_int_equal(walk(ospf3, 0xa021, "", &s, &block), CW_E_UNKNOWN);
	free(block);
}

static void ospf3_truncated(void **state)
{
	(void)state;
	expect_prefixes_fail(ospf3, CW_OSPF3_E_INTRA, REF TLV3("0006") TLV3("0006"),
			     (const size_t[]){12, 48, 99});
	expect_prefixes_fail(ospf3, CW_OSPF3_E_INTER, TLV3("0003") TLV3("0003"),
			     (const size_t[]){0, 36, 99});
}

/* "The setting of the PNC Flag in the Inter-Area-Prefix TLV MUST be the same." */
static void s5_3_preserved_between_areas(void **state)
{
	uint8_t buf[64], *block;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s;

	(void)state;
	assert_int_equal(walk(ospf3, CW_OSPF3_E_INTRA, REF TLV3("0006"), &s, &block), CW_OK);
	assert_int_equal(cw_ospf3_prefix_edit(&w, &codes, &s.p[0],
					      &(struct cw_ospf_edit){.pnc = s.p[0].pnc,
								     .kind = CW_OSPF3_E_INTER}),
			 CW_OK);
	expect_hex(&w, buf, TLV3("0003"));
	free(block);
}

/* RFC 9084 3: an ABR says whose prefix it was, and passes on who is named already. LA and A tell of
 * the router's own addresses: clear. */
#define SOURCE2 "00040004 0a000007 00050004 0aff0003"
#define SOURCE3              \
	"001b0004 0a000007 " \
	"001c0010 20010db8 41424344 51525354 61626364"

static void rfc9084_3_source_of_ospf3(void **state)
{
	struct cw_ospf_edit edit = {
		.pnc = true, .leak = true, .kind = CW_OSPF3_E_INTER, .metric = 0x0a0b0c};
	uint8_t buf[128], *block, *again;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	static const char want[] = "0003003c 000a0b0c 80200000 20010db8 11121314 21222324 31323334 "
				   "00250004 20000000" SOURCE3;
	struct seen s, t;

	(void)state;
	assert_int_equal(cw_addr_parse("2001:db8:4142:4344:5152:5354:6162:6364", &edit.source),
			 CW_OK);
	cw_put_be32(edit.router, 0x0a000007);
	assert_int_equal(walk(ospf3, CW_OSPF3_E_INTRA, REF TLV3("0006"), &s, &block), CW_OK);
	assert_int_equal(s.p[0].source.version, 0);
	assert_int_equal(cw_ospf3_prefix_edit(&w, &codes, &s.p[0], &edit), CW_OK);
	expect_hex(&w, buf, want);
	assert_int_equal(walk(ospf3, CW_OSPF3_E_INTER, want, &t, &again), CW_OK);
	assert_memory_equal(&t.p[0].source, &edit.source, sizeof(edit.source));
	assert_memory_equal(t.p[0].source_router, edit.router, 4);
	cw_put_be32(edit.router, 0x0a000008);
	edit.source.addr[0] = 0xfd;
	w = cw_wr_init(buf, sizeof(buf));
	assert_int_equal(cw_ospf3_prefix_edit(&w, &codes, &t.p[0], &edit), CW_OK);
	expect_hex(&w, buf, want);
	free(block);
	free(again);
}

static void rfc9084_3_source_of_ospf2(void **state)
{
	struct cw_ospf_edit edit = {.pnc = true, .leak = true, .kind = 3};
	static const char want[] = "00010020 03200040 0aff0001 000b0004 20000000" SOURCE2;
	uint8_t buf[128], *block, *again;
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));
	struct seen s, t;

	(void)state;
	assert_int_equal(cw_addr_parse("10.255.0.3", &edit.source), CW_OK);
	cw_put_be32(edit.router, 0x0a000007);
	assert_int_equal(walk(ospf2, 0, "00010010 012000c0 0aff0001 000b0004 20000000", &s, &block),
			 CW_OK);
	assert_int_equal(cw_ospf2_prefix_edit(&w, &codes, &s.p[0], &edit), CW_OK);
	expect_hex(&w, buf, want);
	assert_int_equal(walk(ospf2, 0, want, &t, &again), CW_OK);
	assert_memory_equal(&t.p[0].source, &edit.source, sizeof(edit.source));
	assert_memory_equal(t.p[0].source_router, edit.router, 4);
	free(block);
	free(again);
}

/* "A sub-TLV of another length is ignored"; of two the first one counts. */
static void rfc9084_2_odd_lengths(void **state)
{
	uint8_t *block;
	struct seen s;

	(void)state;
	assert_int_equal(
		walk(ospf2, 0,
		     "00010030 01200040 0aff0001 000b0004 20000000 00040008 0102030405060708"
		     "00050010 01020304050607080910111213141516",
		     &s, &block),
		CW_OK);
	assert_true(s.p[0].pnc && s.p[0].source.version == 0);
	assert_int_equal(cw_be32(s.p[0].source_router), 0);
	free(block);
	assert_int_equal(walk(ospf2, 0,
			      "00010028 01200040 0aff0001 " SOURCE2 "00040004 0a000009 00050004 "
			      "0aff0009",
			      &s, &block),
			 CW_OK);
	assert_int_equal(s.p[0].source.addr[3], 3);
	assert_int_equal(s.p[0].source_router[3], 7);
	free(block);
}

static void ospf3_put(void **state)
{
	struct cw_pnc_prefix p = {.metric = 0x010203, .node = true, .pnc = true, .options = 2};
	uint8_t buf[64];
	struct cw_wr w = cw_wr_init(buf, sizeof(buf));

	(void)state;
	assert_int_equal(cw_prefix_parse("2001:db8:1112:1314:2122:2324:3132:3334", &p.prefix),
			 CW_OK);
	cw_ospf3_prefix_put(&w, &codes, CW_OSPF3_E_INTER, &p);
	expect_hex(&w, buf, TLV3("0003"));
	w = cw_wr_init(buf, sizeof(buf));
	assert_int_equal(cw_prefix_parse("fd00::/33", &p.prefix), CW_OK);
	p.node = false;
	cw_ospf3_prefix_put(&w, &codes, CW_OSPF3_E_EXTERNAL, &p);
	expect_hex(&w, buf, "00050018 00010203 21020000 fd000000 00000000 00250004 20000000");
}

/* ---- Whose proxy ---------------------------------------------------------------------------- */

static void add_own(struct cw_pnc_own *own, const char *prefix, struct cw_pnc_prefix p)
{
	assert_int_equal(cw_prefix_parse(prefix, &p.prefix), CW_OK);
	assert_int_equal(cw_pnc_own_add(own, &p), 0);
}

static void expect_proxy(const struct cw_pnc_own *own, const char *prefix, const char *proxy)
{
	struct cw_pnc_prefix p = {.pnc = true};
	char text[CW_ADDR_TEXT];
	struct cw_addr a;

	assert_int_equal(cw_prefix_parse(prefix, &p.prefix), CW_OK);
	a = cw_pnc_proxy(own, &p);
	assert_string_equal(a.version == 0 ? "none" : cw_addr_format(&a, text), proxy);
}

static void s5_1_own_host_prefix(void **state)
{
	const struct cw_pnc_prefix flagged = {.pnc = true}, node = {.pnc = true, .node = true};
	struct cw_pnc_prefix gone = node;
	struct cw_pnc_own own = {0};

	(void)state;
	gone.unreachable = true;
	expect_proxy(&own, "192.0.2.0/24", "none");
	add_own(&own, "10.0.0.0/24", flagged);
	add_own(&own, "10.0.0.1/32", (struct cw_pnc_prefix){.node = true});
	add_own(&own, "10.0.0.1/32", gone);
	expect_proxy(&own, "192.0.2.0/24", "none");
	add_own(&own, "10.0.0.9/32", flagged);
	expect_proxy(&own, "192.0.2.0/24", "10.0.0.9");
	expect_proxy(&own, "2001:db8::/48", "10.0.0.9");
	add_own(&own, "10.0.0.8/32", flagged);
	expect_proxy(&own, "192.0.2.0/24", "10.0.0.8");
	add_own(&own, "10.0.0.77/32", node);
	add_own(&own, "fd00::1/128", node);
	expect_proxy(&own, "192.0.2.0/24", "10.0.0.77");
	expect_proxy(&own, "2001:db8::/48", "fd00::1");
}

/* What a border router passes on for somebody whom it names is not its own. */
static void rfc9084_3_not_its_own(void **state)
{
	static const struct {
		enum cw_pnc_proto proto;
		uint16_t kind;
		bool readvertised, own;
	} all[] = {
		{CW_PNC_ISIS, CW_ISIS_TLV_REACH4, true, false},
		{CW_PNC_ISIS, CW_ISIS_TLV_REACH4, false, true},
		{CW_PNC_OSPF2, CW_OSPF2_INTER, false, false},
		{CW_PNC_OSPF2, CW_OSPF2_INTRA, false, true},
		{CW_PNC_OSPF3, CW_OSPF3_E_INTER, false, false},
		{CW_PNC_OSPF3, CW_OSPF3_E_INTRA, false, true},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct cw_pnc_prefix p = {.pnc = true, .node = true, .proto = all[i].proto};
		struct cw_pnc_own own = {0};

		p.kind = all[i].kind;
		p.readvertised = all[i].readvertised;
		assert_int_equal(cw_addr_parse("10.0.0.1", &p.source), CW_OK);
		add_own(&own, "10.0.0.1/32", p);
		expect_proxy(&own, "192.0.2.0/24", all[i].own ? "10.0.0.1" : "none");
		p.source.version = 0;
		add_own(&own, "10.0.0.1/32", p);
		expect_proxy(&own, "192.0.2.0/24", "10.0.0.1");
	}
}

/* Both running sums over the octets, checksum included, are 0 (ISO 8473 6.11). */
static void fletcher(void **state)
{
	size_t len;
	uint8_t *b = hex_block("02010aff00010aff000180000001dead00300aff0002", &len);
	uint16_t sum = cw_fletcher(b, len, 14);
	uint32_t c0 = 0, c1 = 0;
	size_t i;

	(void)state;
	cw_put_be16(b + 14, sum);
	for (i = 0; i < len; i++) {
		c0 = (c0 + b[i]) % 255;
		c1 = (c1 + c0) % 255;
	}
	assert_int_equal(c0, 0);
	assert_int_equal(c1, 0);
	free(b);
}

static void prefix_text(void **state)
{
	char buf[CW_PREFIX_TEXT];
	struct cw_prefix p;

	(void)state;
	assert_int_equal(cw_prefix_parse("192.0.2.128/25", &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, buf), "192.0.2.128/25");
	assert_int_equal(cw_prefix_parse("2001:db8::", &p), CW_OK);
	assert_string_equal(cw_prefix_format(&p, buf), "2001:db8::/128");
	assert_int_equal(cw_prefix_parse("192.0.2.1/24", &p), CW_E_RANGE);
	assert_int_equal(cw_prefix_parse("192.0.2.0/33", &p), CW_E_RANGE);
	assert_int_equal(cw_prefix_parse("192.0.2.0/", &p), CW_E_SYNTAX);
	assert_int_equal(cw_prefix_parse("192.0.2.0/2x", &p), CW_E_SYNTAX);
	assert_int_equal(cw_prefix_parse("192.0.2/24", &p), CW_E_SYNTAX);
	assert_int_equal(cw_prefix_parse("", &p), CW_E_SYNTAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_1_p_flag_in_each_tlv),
		cmocka_unit_test(s5_1_each_bit_is_itself),
		cmocka_unit_test(s7_isis_code_points),
		cmocka_unit_test(isis_prefix_lengths),
		cmocka_unit_test(isis_truncated),
		cmocka_unit_test(fault_65_subtlv_exceeds),
		cmocka_unit_test(fault_67_other_tlvs_pass),
		cmocka_unit_test(fault_69_flags),
		cmocka_unit_test(s5_1_preserved_between_levels),
		cmocka_unit_test(isis_source_router_id),
		cmocka_unit_test(isis_edit_keeps_the_unknown),
		cmocka_unit_test(isis_edit_has_limits),
		cmocka_unit_test(isis_put),
		cmocka_unit_test(s5_2_p_flag_is_bit_2),
		cmocka_unit_test(s7_ospf_code_points),
		cmocka_unit_test(ospf2_truncated),
		cmocka_unit_test(ospf2_prefixes),
		cmocka_unit_test(fault_59_not_a_multiple_of_4),
		cmocka_unit_test(fault_61_tlv_exceeds),
		cmocka_unit_test(fault_63_padding),
		cmocka_unit_test(s5_2_bad_flags_spoil_the_lsa),
		cmocka_unit_test(s5_2_preserved_between_areas),
		cmocka_unit_test(ospf2_edit_adds_flags),
		cmocka_unit_test(ospf2_put),
		cmocka_unit_test(s5_3_p_flag_in_each_lsa),
		cmocka_unit_test(ospf3_truncated),
		cmocka_unit_test(s5_3_preserved_between_areas),
		cmocka_unit_test(rfc9084_3_source_of_ospf3),
		cmocka_unit_test(rfc9084_3_source_of_ospf2),
		cmocka_unit_test(rfc9084_2_odd_lengths),
		cmocka_unit_test(s5_1_own_host_prefix),
		cmocka_unit_test(rfc9084_3_not_its_own),
		cmocka_unit_test(ospf3_put),
		cmocka_unit_test(fletcher),
		cmocka_unit_test(prefix_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
