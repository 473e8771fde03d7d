/* Tests of the UB families by the vectors of tests/vectors/ub.txt (made by ub_oracle.py). */
#include "tests/unit/vectors.h"
#include <zlib.h>
#include "causeway/craft.h"
#include "causeway/icrc.h"
#include "causeway/show.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"

/* ---- Headers ------------------------------------------------------------------------------- */

static void check_field(const char *vector, const struct cw_hdr *h, const uint8_t *p, char *item)
{
	char *value = strchr(item, '='), text[CW_FIELD_TEXT_MAX];
	const struct cw_field *f;
	uint64_t want;

	assert_non_null(value);
	*value++ = '\0';
	f = cw_field_find(h, item);
	if (f == NULL)
		fail_msg("%s: no field %s", vector, item);
	if (cw_field_is_int(f)) {
		want = strtoull(value, NULL, 10);
		if (cw_field_get(f, p) != want)
			fail_msg("%s: %s is %llu, want %s", vector, item,
				 (unsigned long long)cw_field_get(f, p), value);
		return;
	}
	assert_true(cw_field_format(f, p, text, sizeof(text)) > 0);
	if (strcmp(text, value) != 0)
		fail_msg("%s: %s is %s, want %s", vector, item, text, value);
}

/* hdr NAME-a CLAUSE HEX FIELDS: every field is read as told, and written so. */
static void check_header(void *ctx, char *const *w, unsigned n)
{
	char name[64], *item, *save, *fields = strdup(w[4]);
	const struct cw_hdr *h;
	struct cw_craft c;
	uint8_t *p, out[64];
	unsigned k = 0;
	size_t len;

	(void)ctx;
	assert_int_equal(n, 5);
	(void)snprintf(name, sizeof(name), "%s", w[1]);
	name[strlen(name) - 2] = '\0';
	h = cw_hdr_find(name);
	if (h == NULL)
		fail_msg("no header %s", name);
	p = hex_block(w[3], &len);
	if (h->size != len)
		fail_msg("%s has %u octets, want %zu", name, h->size, len);
	cw_craft_init(&c, out, sizeof(out));
	assert_int_equal(cw_craft_layer(&c, h, NULL, 0), CW_OK);
	for (item = strtok_r(w[4], ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		check_field(w[1], h, p, item);
		assert_int_equal(cw_craft_field(&c, item, item + strlen(item) + 1), CW_OK);
		k++;
	}
	if (k != h->nfields)
		fail_msg("%s has %u fields, want %u", name, h->nfields, k);
	if (memcmp(out, p, len) != 0)
		fail_msg("%s: writing the fields gives other octets", w[1]);
	free(p);
	free(fields);
}

static void headers_are_laid_out_as_in_ub_2_0(void **state)
{
	(void)state;
	assert_int_equal(each_vector("ub.txt", "hdr", check_header, NULL), 2 * 34);
}

/* names HEADER.FIELD VALUE=NAME,...: those, and no others. */
static void check_names(void *ctx, char *const *w, unsigned n)
{
	char *field = strchr(w[1], '.'), *item, *name, *save;
	const struct cw_name *more;
	const struct cw_field *f;

	(void)ctx;
	assert_int_equal(n, 3);
	*field++ = '\0';
	assert_non_null(f = cw_field_find(cw_hdr_find(w[1]), field));
	assert_non_null(more = f->names);
	for (item = strtok_r(w[2], ",", &save); item; item = strtok_r(NULL, ",", &save), more++) {
		name = strchr(item, '=') + 1;
		assert_non_null(cw_field_value_name(f, strtoul(item, NULL, 10)));
		assert_string_equal(cw_field_value_name(f, strtoul(item, NULL, 10)), name);
	}
	assert_null(more->name);
}

/* Every field whose values have names is among the vectors. */
static void values_are_named_as_in_ub_2_0(void **state)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;
	unsigned named = 0, i;

	(void)state;
	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; strncmp((*f)->name, "ub", 2) == 0 && *h != NULL; h++) {
			for (i = 0; i < (*h)->nfields; i++)
				named += (*h)->fields[i].names != NULL;
		}
	}
	assert_int_equal(each_vector("ub.txt", "names", check_names, NULL), named);
}

/* No two fields overlap and none is missing: the widths of every table add up to its size. */
static void tables_cover_their_header(void **state)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;
	unsigned i, bits;

	(void)state;
	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++) {
			for (i = 0, bits = 0; i < (*h)->nfields; i++) {
				if ((*h)->fields[i].bit != bits)
					fail_msg("%s.%s begins at bit %u, want %u", (*h)->name,
						 (*h)->fields[i].name, (*h)->fields[i].bit, bits);
				bits += (*h)->fields[i].width;
			}
			if (bits != 8u * (*h)->size)
				fail_msg("%s: fields have %u bits of %u", (*h)->name, bits,
					 8u * (*h)->size);
		}
	}
}

/* ---- PLENGTH and block CRC ------------------------------------------------------------------ */

static enum cw_plength_mode mode_of(const char *w)
{
	return strcmp(w, "crc") == 0 ? CW_PLENGTH_CRC : CW_PLENGTH_PLAIN;
}

static void check_plen(void *ctx, char *const *w, unsigned n)
{
	uint32_t octets = (uint32_t)strtoul(w[2], NULL, 10);
	uint16_t code;

	(void)ctx;
	assert_int_equal(n, 4);
	assert_int_equal(cw_plength_encode(mode_of(w[1]), octets, &code), CW_OK);
	if (code != strtoul(w[3], NULL, 16))
		fail_msg("%s %u: 0x%04x, want %s", w[1], octets, code, w[3]);
}

/* All codes of a mode, in one CRC; and each decodes to what it was made of. */
static void check_plencrc(void *ctx, char *const *w, unsigned n)
{
	enum cw_plength_mode mode = mode_of(w[1]);
	uint32_t max = (uint32_t)strtoul(w[2], NULL, 10), i, back;
	uLong crc = 0;
	uint16_t code;
	uint8_t be[2];

	(void)ctx;
	assert_int_equal(n, 4);
	for (i = 1; i <= max; i++) {
		assert_int_equal(cw_plength_encode(mode, i, &code), CW_OK);
		assert_int_equal(cw_plength_decode(mode, code, &back), CW_OK);
		assert_int_equal(back, i);
		cw_put_be16(be, code);
		crc = crc32(crc, be, 2);
	}
	assert_int_equal(crc, strtoul(w[3], NULL, 16));
	assert_int_equal(cw_plength_encode(mode, 0, &code), CW_E_RANGE);
	assert_int_equal(cw_plength_encode(mode, max + 1, &code), CW_E_RANGE);
	assert_int_equal(max, mode == CW_PLENGTH_CRC ? CW_PLENGTH_MAX_CRC : CW_PLENGTH_MAX_PLAIN);
}

static void s4_3_2_plength(void **state)
{
	(void)state;
	assert_true(each_vector("ub.txt", "plen", check_plen, NULL) > 400);
	assert_int_equal(each_vector("ub.txt", "plencrc", check_plencrc, NULL), 2);
}

/* Of the 2^14 codes exactly those decode that stand for a length. */
static void s4_3_2_plength_other_codes_are_reserved(void **state)
{
	unsigned code, good[2] = {0, 0};
	uint32_t octets;

	(void)state;
	for (code = 0; code < 1u << 14; code++) {
		good[0] += cw_plength_decode(CW_PLENGTH_CRC, (uint16_t)code, &octets) == CW_OK;
		good[1] += cw_plength_decode(CW_PLENGTH_PLAIN, (uint16_t)code, &octets) == CW_OK;
	}
	assert_int_equal(good[0], CW_PLENGTH_MAX_CRC);
	assert_int_equal(good[1], CW_PLENGTH_MAX_PLAIN);
}

static void s4_7_2_block_crc_of_n1(void **state)
{
	static const char n1[] =
		"000380898002000000014502005000004000401126990a0000010a000002c00012b8003c0000"
		"81000001020002038000000a0000000103100001000000070000000012345000000055000000"
		"00080001020304050607abd33066";
	uint8_t block[96] = {0};
	size_t len;
	uint8_t *p = hex_block(n1, &len);

	(void)state;
	assert_int_equal(len, 90);
	memcpy(block, p, len);
	assert_int_equal(cw_bcrc_word(block, 96, false, CW_BCRC_LITERAL), 0x29110ea6);
	assert_int_equal(cw_bcrc_word(block, 96, false, CW_BCRC_OCTETS), 0x2090e6c3);
	assert_int_equal(cw_bcrc_word(block, 96, true, CW_BCRC_OCTETS), 0x6090e6c3);
	assert_int_not_equal(cw_bcrc_word(block, 96, true, CW_BCRC_LITERAL), 0x69110ea6);
	free(p);
}

/* ---- Packets -------------------------------------------------------------------------------- */

struct vector {
	const char *name;
	enum cw_link link;
	struct cw_dissect_opts opts;
	uint8_t *data;
	size_t len;
	const char *verdict, *icrc, *layers;
	uint32_t payload, pad, trailer;
};

/* pkt NAME CLAUSE LINK OPTION HEX VERDICT ICRC PAYLOAD PAD TRAILER LAYERS */
static void vector_read(struct vector *v, char *const *w, unsigned n)
{
	assert_int_equal(n, 12);
	memset(v, 0, sizeof(*v));
	v->name = w[1];
	v->link = strcmp(w[3], "ub") == 0 ? CW_LINK_UB : CW_LINK_ETHERNET;
	v->opts.cetph_caqm = strcmp(w[4], "caqm") == 0;
	v->opts.no_icrc = strcmp(w[4], "no-icrc") == 0;
	v->opts.icrc_order = strcmp(w[4], "be") == 0 ? CW_ICRC_BE : CW_ICRC_LE;
	v->data = hex_block(w[5], &v->len);
	v->verdict = w[6];
	v->icrc = w[7];
	v->payload = (uint32_t)strtoul(w[8], NULL, 10);
	v->pad = (uint32_t)strtoul(w[9], NULL, 10);
	v->trailer = (uint32_t)strtoul(w[10], NULL, 10);
	v->layers = w[11];
}

static void layers_text(const struct cw_packet *p, char *buf, size_t size)
{
	size_t at = 0;
	unsigned i;

	buf[0] = '\0';
	for (i = 0; i < p->nlayers && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s@%u", i > 0 ? "," : "",
				       p->layers[i].hdr->name, p->layers[i].off);
}

static void check_packet(void *ctx, char *const *w, unsigned n)
{
	struct cw_packet p;
	struct vector v;
	char layers[512];

	(void)ctx;
	vector_read(&v, w, n);
	(void)cw_dissect(&p, v.link, v.data, v.len, &v.opts);
	layers_text(&p, layers, sizeof(layers));
	if (strcmp(layers, v.layers) != 0)
		fail_msg("%s: layers are\n%s, want\n%s", v.name, layers, v.layers);
	if (strcmp(cw_err_name(p.verdict), v.verdict) != 0)
		fail_msg("%s: verdict is %s, want %s", v.name, cw_err_name(p.verdict), v.verdict);
	if (p.icrc.status != CW_ICRC_ABSENT)
		assert_int_equal(p.icrc.off + CW_ICRC_LEN + v.trailer, v.len);
	if (p.verdict != CW_OK)
		assert_int_equal(cw_err_scope(p.verdict), CW_SCOPE_PACKET);
	if (strcmp(cw_icrc_status_name(p.icrc.status), v.icrc) != 0)
		fail_msg("%s: ICRC is %s, want %s", v.name, cw_icrc_status_name(p.icrc.status),
			 v.icrc);
	if (p.payload_len != v.payload || p.pad_len != v.pad || p.trailer_len != v.trailer)
		fail_msg("%s: payload %u, pad %u, trailer %u, want %u, %u, %u", v.name,
			 p.payload_len, p.pad_len, p.trailer_len, v.payload, v.pad, v.trailer);
	free(v.data);
}

#define PACKETS 328

static void packets_are_taken_apart(void **state)
{
	(void)state;
	assert_int_equal(each_vector("ub.txt", "pkt", check_packet, NULL), PACKETS);
}

/* A packet cut short fails at every length, except that a lost trailer does no harm. */
static void check_prefixes(void *ctx, char *const *w, unsigned n)
{
	struct cw_packet p;
	struct vector v;
	uint8_t *cut;
	size_t len;

	(void)ctx;
	vector_read(&v, w, n);
	for (len = 0; len < v.len - v.trailer && len < 400; len++) {
		cut = exact_copy(v.data, len);
		if (cw_dissect(&p, v.link, cut, len, &v.opts) == CW_OK)
			fail_msg("%s: the first %zu octets of %zu were accepted", v.name, len,
				 v.len);
		free(cut);
	}
	free(v.data);
}

static void prefixes_fail(void **state)
{
	(void)state;
	assert_int_equal(each_vector("ub.txt", "pkt", check_prefixes, NULL), PACKETS);
}

/* Which fields a rebuild leaves to craft. */
enum leave { NOTHING, COMPUTED };

static bool left_out(const struct cw_field *f, enum leave leave)
{
	return leave == COMPUTED && f->def == CW_AUTO && strcmp(f->name, "opcode") != 0 &&
	       strcmp(f->name, "last") != 0 && strcmp(f->name, "nlp") != 0;
}

static void rebuild_layer(struct cw_craft *c, const struct cw_packet *p, unsigned i,
			  enum leave leave)
{
	const struct cw_layer *l = &p->layers[i];
	const uint8_t *at = cw_layer_data(p, i);
	char text[CW_FIELD_TEXT_MAX];
	unsigned k;

	assert_int_equal(
		cw_craft_layer(c, l->hdr, at + l->hdr->size, (size_t)(l->len - l->hdr->size)),
		CW_OK);
	for (k = 0; k < l->hdr->nfields; k++) {
		const struct cw_field *f = &l->hdr->fields[k];

		if (left_out(f, leave))
			continue;
		assert_true(cw_field_format(f, at, text, sizeof(text)) >= 0);
		assert_int_equal(cw_craft_field(c, f->name, text), CW_OK);
	}
}

static void rebuild(const struct vector *v, const struct cw_packet *p, enum leave leave)
{
	uint8_t *out = malloc(v->len);
	struct cw_craft c;
	unsigned i;

	cw_craft_init(&c, out, v->len);
	c.opts = v->opts;
	for (i = 0; i < p->nlayers; i++)
		rebuild_layer(&c, p, i, leave);
	assert_int_equal(cw_craft_payload(&c, p->data + p->payload_off, p->payload_len), CW_OK);
	if (p->pad_len > 0 && leave == NOTHING)
		assert_int_equal(
			cw_craft_pad(&c, p->data + p->payload_off + p->payload_len, p->pad_len),
			CW_OK);
	if (p->icrc.status != CW_ICRC_ABSENT && leave == NOTHING)
		cw_craft_icrc(&c, p->icrc.wire);
	if (cw_craft_finish(&c, p->data + p->trailer_off, p->trailer_len) != CW_OK)
		fail_msg("%s: the rebuilt packet is too long", v->name);
	if (c.len != v->len)
		fail_msg("%s: rebuilt with %u octets, want %zu", v->name, c.len, v->len);
	for (i = 0; i < v->len; i++) {
		if (out[i] != v->data[i])
			fail_msg("%s: octet %u is 0x%02x when rebuilt, want 0x%02x", v->name, i,
				 out[i], v->data[i]);
	}
	free(out);
}

/* What was taken apart can be put together: from all fields; and, for packets without a fault,
 * without those that craft computes. */
static void check_rebuild(void *ctx, char *const *w, unsigned n)
{
	struct cw_packet p;
	struct vector v;

	(void)ctx;
	vector_read(&v, w, n);
	(void)cw_dissect(&p, v.link, v.data, v.len, &v.opts);
	rebuild(&v, &p, NOTHING);
	if (p.verdict == CW_OK && p.icrc.status != CW_ICRC_UNCHECKED &&
	    strncmp(v.name, "udp-checksum", 12) != 0 && strncmp(v.name, "plength-plain", 13) != 0)
		rebuild(&v, &p, COMPUTED);
	free(v.data);
}

static void packets_are_put_together(void **state)
{
	(void)state;
	assert_int_equal(each_vector("ub.txt", "pkt", check_rebuild, NULL), PACKETS);
}

/* ---- Damage --------------------------------------------------------------------------------- */

/* Octets which nothing protects: addresses and tags of the link, LPH's link fields, RT, CCI, NPI,
 * and those of IPv6 that routers may change. */
static bool is_free(const struct cw_packet *p, unsigned bit)
{
	unsigned i, at = bit / 8;

	for (i = 0; i < p->nlayers; i++) {
		const struct cw_layer *l = &p->layers[i];
		unsigned in = bit - 8 * l->off;

		if (at < l->off || at >= l->off + l->len)
			continue;
		if (l->hdr == &cw_hdr_eth)
			return in < 96;
		if (l->hdr == &cw_hdr_vlan)
			return in < 16;
		if (l->hdr == &cw_hdr_lph)
			return in < 12 || in == 16 || in == 17;
		if (l->hdr == &cw_hdr_ipv6)
			return (in >= 4 && in < 32) || (in >= 56 && in < 64);
		return l->hdr == &cw_hdr_npi || l->hdr == &cw_hdr_cci_fecn;
	}
	return false;
}

static bool is_type(const struct cw_packet *p, unsigned bit)
{
	unsigned i;

	for (i = 0; i < p->nlayers; i++) {
		unsigned in = bit - 8 * p->layers[i].off;

		if ((p->layers[i].hdr == &cw_hdr_eth && in >= 96 && in < 112) ||
		    (p->layers[i].hdr == &cw_hdr_vlan && in >= 16 && in < 32))
			return true;
	}
	return false;
}

/* Flip every bit: a packet is refused, unless the bit is free. */
static void check_flips(void *ctx, char *const *w, unsigned n)
{
	struct cw_packet good, p;
	struct vector v;
	unsigned bit;
	bool ok;

	(void)ctx;
	vector_read(&v, w, n);
	if (strncmp(v.name, "v1-", 3) != 0 && strncmp(v.name, "v2-", 3) != 0 &&
	    strncmp(v.name, "write-v4-nlp1-flags", 19) != 0 &&
	    strncmp(v.name, "tpsack-cc-v6-ub", 15) != 0) {
		free(v.data);
		return;
	}
	assert_int_equal(cw_dissect(&good, v.link, v.data, v.len, &v.opts), CW_OK);
	for (bit = 0; bit < 8 * v.len; bit++) {
		v.data[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		ok = cw_dissect(&p, v.link, v.data, v.len, &v.opts) == CW_OK;
		/* Another EtherType or port is another protocol (or tag), not a bad packet. */
		if (ok != is_free(&good, bit) && p.icrc.status != CW_ICRC_ABSENT &&
		    !is_type(&good, bit))
			fail_msg("%s: bit %u of octet %u flipped: %s", v.name, bit % 8, bit / 8,
				 cw_err_name(p.verdict));
		v.data[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	++*(unsigned *)ctx;
	free(v.data);
}

static void every_flipped_bit_is_noticed(void **state)
{
	unsigned n = 0;

	(void)state;
	(void)each_vector("ub.txt", "pkt", check_flips, &n);
	assert_int_equal(n, 6);
}

/* ---- ICRC ----------------------------------------------------------------------------------- */

static void expect_icrc(const uint8_t *ip, size_t len, uint32_t want, bool same, const char *what)
{
	uint32_t got;

	assert_int_equal(cw_icrc_compute(ip, len, &cw_icrc_ub, &got), CW_OK);
	if ((got == want) != same)
		fail_msg("%s: ICRC 0x%08x, want %s 0x%08x", what, got, same ? "" : "not", want);
}

static void s4_2_masked_fields_do_not_matter(void **state)
{
	static const char v1[] =
		"4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000"
		"000a000000010310000100000007000000001234500000005500000000080001020304050607";
	static const char v2[] =
		"60212345003c114020010db800000000000000000000000120010db800000000000000000000"
		"0002c00012b8003c000081000001020002038000000a00000001031000010000000700000000"
		"1234500000005500000000080001020304050607";
	static const unsigned mask4[] = {1, 8, 10, 11, 26, 27}, mask6[] = {1, 2, 3, 7, 46, 47};
	size_t len4, len6, i, k;
	uint8_t *p4 = hex_block(v1, &len4), *p6 = hex_block(v2, &len6);

	(void)state;
	expect_icrc(p4, len4, 0x6630d3ab, true, "V1");
	expect_icrc(p6, len6, 0x4356a6c4, true, "V2");
	for (i = 0; i < len4; i++) {
		bool masked = false;

		for (k = 0; k < 6; k++)
			masked |= mask4[k] == i;
		p4[i] ^= 2;
		if (i != 0 && i != 9)
			expect_icrc(p4, len4, 0x6630d3ab, masked, "IPv4");
		p4[i] ^= 2;
	}
	for (i = 0; i < len6; i++) {
		bool masked = i == 0;

		for (k = 0; k < 6; k++)
			masked |= mask6[k] == i;
		p6[i] ^= 1;
		if (i != 0 && i != 6)
			expect_icrc(p6, len6, 0x4356a6c4, masked, "IPv6");
		p6[i] ^= 1;
	}
	p6[0] = 0x6f;
	expect_icrc(p6, len6, 0x4356a6c4, true, "traffic class");
	free(p4);
	free(p6);
}

/* The values that a RoCEv2-style prefix would give, and BTH's fifth octet. */
static void a17_rocev2_rule(void **state)
{
	static const char v1[] =
		"4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000"
		"000a000000010310000100000007000000001234500000005500000000080001020304050607";
	struct cw_icrc_rule prefix = {.name = "prefix", .prefix = true};
	size_t len;
	uint8_t *p = hex_block(v1, &len);
	uint32_t icrc, other;

	(void)state;
	assert_int_equal(cw_icrc_compute(p, len, &prefix, &icrc), CW_OK);
	assert_int_equal(icrc, 0x082b6ad4);
	assert_int_equal(cw_icrc_compute(p, len, &cw_icrc_rocev2, &icrc), CW_OK);
	p[32] ^= 0x55;
	assert_int_equal(cw_icrc_compute(p, len, &cw_icrc_rocev2, &other), CW_OK);
	assert_int_equal(icrc, other);
	p[33] ^= 0x55;
	assert_int_equal(cw_icrc_compute(p, len, &cw_icrc_rocev2, &other), CW_OK);
	assert_int_not_equal(icrc, other);
	assert_int_equal(cw_icrc_compute(p, 32, &cw_icrc_rocev2, &other), CW_E_SHORT);
	free(p);
}

static void s5_3_7_wire_order_and_residue(void **state)
{
	uint8_t p[84] = {0x45, [9] = 17, [2] = 0, [3] = 84, [40] = 7}, masked[84];

	(void)state;
	assert_int_equal(cw_icrc_put(p, sizeof(p), &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	assert_int_equal(cw_icrc_check(p, sizeof(p), &cw_icrc_ub, CW_ICRC_LE), CW_OK);
	assert_int_equal(cw_icrc_check(p, sizeof(p), &cw_icrc_ub, CW_ICRC_BE), CW_E_ICRC);
	memcpy(masked, p, sizeof(p));
	masked[1] = masked[8] = masked[10] = masked[11] = masked[26] = masked[27] = 0xff;
	assert_int_equal(crc32(0, masked, sizeof(masked)), 0x2144df1c);
	assert_int_equal(cw_icrc_put(p, sizeof(p), &cw_icrc_ub, CW_ICRC_BE), CW_OK);
	assert_int_equal(cw_icrc_check(p, sizeof(p), &cw_icrc_ub, CW_ICRC_BE), CW_OK);
	assert_int_equal(cw_icrc_check(p, 3, &cw_icrc_ub, CW_ICRC_BE), CW_E_SHORT);
	assert_int_equal(cw_icrc_put(p, 3, &cw_icrc_ub, CW_ICRC_BE), CW_E_SHORT);
}

/* What of a header is masked, UDP at octet `udp`. */
static void mask_plainly(uint8_t *h, size_t udp, const struct cw_icrc_rule *rule)
{
	static const unsigned in4[] = {1, 8, 10, 11}, in6[] = {1, 2, 3, 7};
	size_t i;

	for (i = 0; i < 4; i++)
		h[h[0] >> 4 == 4 ? in4[i] : in6[i]] = 0xff;
	if (h[0] >> 4 == 6)
		h[0] |= 0x0f;
	h[udp + 6] = h[udp + 7] = 0xff;
	memset(h + udp + 8 + rule->mask_offset, 0xff, rule->mask_len);
}

/* A rule over each length of a packet, in a block of exactly that size, against zlib over a masked
 * copy. */
static void check_icrc_lengths(uint8_t first, size_t udp, const struct cw_icrc_rule *rule)
{
	uint8_t all[700], masked[700], *p;
	size_t i, n,
		least = udp + 8 + (rule->mask_len > 0 ? rule->mask_offset + rule->mask_len : 0);
	uint32_t got, want;
	int err;

	for (i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 11 + 5);
	all[0] = first;
	all[first >> 4 == 4 ? 9 : 6] = 17;
	memcpy(masked, all, sizeof(all));
	mask_plainly(masked, udp, rule);
	for (n = 1; n <= sizeof(all); n++) {
		p = exact_copy(all, n);
		err = cw_icrc_compute(p, n, rule, &got);
		want = (uint32_t)crc32(0, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff",
				       rule->prefix ? 8 : 0);
		want = (uint32_t)crc32(want, masked, (unsigned)n);
		if (n < least ? err != CW_E_SHORT : err != CW_OK || got != want)
			fail_msg("%s, 0x%02x, %zu octets: %d, 0x%08x, want 0x%08x", rule->name,
				 first, n, err, got, want);
		free(p);
	}
}

static void s5_3_7_icrc_of_every_length(void **state)
{
	static const struct cw_icrc_rule far = {
		.name = "far", .prefix = true, .mask_offset = 20, .mask_len = 1};
	static const struct cw_icrc_rule *const rules[] = {&cw_icrc_ub, &cw_icrc_rocev2, &far};
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		check_icrc_lengths(0x45, 20, rules[i]);
		check_icrc_lengths(0x46, 24, rules[i]);
		check_icrc_lengths(0x6a, 40, rules[i]);
	}
}

static void s5_3_7_what_has_no_icrc(void **state)
{
	uint8_t p[80] = {0x45};
	uint32_t v;

	(void)state;
	p[9] = CW_IPPROTO_TCP;
	assert_int_equal(cw_icrc_compute(p, sizeof(p), &cw_icrc_ub, &v), CW_E_OPTIONS);
	p[9] = CW_IPPROTO_UDP;
	p[0] = 0x44;
	assert_int_equal(cw_icrc_compute(p, sizeof(p), &cw_icrc_ub, &v), CW_E_VERSION);
	p[0] = 0x75;
	assert_int_equal(cw_icrc_compute(p, sizeof(p), &cw_icrc_ub, &v), CW_E_VERSION);
	p[0] = 0x60;
	p[6] = CW_IPPROTO_DSTOPTS;
	assert_int_equal(cw_icrc_compute(p, sizeof(p), &cw_icrc_ub, &v), CW_E_OPTIONS);
	assert_int_equal(cw_icrc_compute_cna(p, 7, 8, &v), CW_E_SHORT);
	assert_int_equal(cw_icrc_compute_cna(p, 80, 9, &v), CW_E_ARG);
}

/* ---- SACK bitmap, first octets -------------------------------------------------------------- */

static void s6_2_3_bitmap_orders(void **state)
{
	uint8_t map[16] = {0};
	unsigned k;

	(void)state;
	cw_saetph_set_bit(map, 16, 0, false);
	cw_saetph_set_bit(map, 16, 9, false);
	assert_int_equal(map[0], 1);
	assert_int_equal(map[1], 2);
	memset(map, 0, sizeof(map));
	cw_saetph_set_bit(map, 16, 0, true);
	cw_saetph_set_bit(map, 16, 127, true);
	assert_int_equal(map[15], 1);
	assert_int_equal(map[0], 0x80);
	for (k = 0; k < 128; k++)
		assert_int_equal(cw_saetph_bit(map, 16, k, true), k == 0 || k == 127);
	assert_int_equal(cw_saetph_octets(4), 128);
	assert_int_equal(cw_saetph_octets(5), 0);
}

static void first_octets_of_ub_on_its_port(void **state)
{
	static const uint8_t good[] = {0x00, 0x01, 0x81, 0x02, 0x03, 0x05, 0x06, 0x08};
	unsigned o, k;

	(void)state;
	for (o = 0; o < 256; o++) {
		bool want = false;

		for (k = 0; k < sizeof(good); k++)
			want |= good[k] == o;
		assert_int_equal(cw_ub_first_octet((uint8_t)o), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_laid_out_as_in_ub_2_0),
		cmocka_unit_test(values_are_named_as_in_ub_2_0),
		cmocka_unit_test(tables_cover_their_header),
		cmocka_unit_test(s4_3_2_plength),
		cmocka_unit_test(s4_3_2_plength_other_codes_are_reserved),
		cmocka_unit_test(s4_7_2_block_crc_of_n1),
		cmocka_unit_test(packets_are_taken_apart),
		cmocka_unit_test(prefixes_fail),
		cmocka_unit_test(packets_are_put_together),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(s4_2_masked_fields_do_not_matter),
		cmocka_unit_test(a17_rocev2_rule),
		cmocka_unit_test(s5_3_7_wire_order_and_residue),
		cmocka_unit_test(s5_3_7_icrc_of_every_length),
		cmocka_unit_test(s5_3_7_what_has_no_icrc),
		cmocka_unit_test(s6_2_3_bitmap_orders),
		cmocka_unit_test(first_octets_of_ub_on_its_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
