/* Rules of draft-li-uboe-00 section 4: what may cross, and every row of its tables 1 and 2. */
#include "causeway/crc.h"
#include "tests/unit/ub2e.h"

/* Run `check` for IPv4 and IPv6. */
static void both(void (*check)(struct pk *k))
{
	unsigned version;

	for (version = 4; version <= 6; version += 2) {
		struct pk *k = pk_new(version);

		check(k);
		free(k);
	}
}

static enum cw_drop drop_ub_default(const struct pk *k)
{
	struct cw_ub2e *u = rules(NULL);
	enum cw_drop d = drop_ub(u, k);

	cw_ub2e_free(u);
	return d;
}

static enum cw_drop drop_eth_default(const struct pk *k)
{
	struct cw_ub2e *u = rules(NULL);
	enum cw_drop d = drop_eth(u, k);

	cw_ub2e_free(u);
	return d;
}

static void assert_drops_both_ways(const struct pk *k, enum cw_drop want)
{
	assert_drop(drop_ub_default(k), want);
	assert_drop(drop_eth_default(k), want);
}

/* A native packet with one octet of its front changed. */
static enum cw_drop drop_ub_patched(const struct pk *k, unsigned at, uint8_t to, uint32_t cut)
{
	struct cw_ub2e *u = rules(NULL);
	uint8_t *pkt = malloc(PK_MAX);
	uint32_t n = pk_ub(k, pkt);
	struct shot s;

	pkt[at] = to;
	shoot_ub_raw(&s, u, pkt, cut != 0 ? cut : n, hop_eth());
	free(s.block);
	free(pkt);
	cw_ub2e_free(u);
	return s.drop;
}

/* The same for octet `at` of the IP header, whose checksum is made right again; both ways. */
static void assert_drops_ip_patched(const struct pk *k, unsigned at, uint8_t to, enum cw_drop want)
{
	struct cw_ub2e *u = rules(NULL);
	uint8_t *pkt = malloc(PK_MAX);
	unsigned ub;
	struct shot s;

	for (ub = 0; ub < 2; ub++) {
		uint32_t off = ub ? 10 : 18, n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);

		pkt[off + at] = to;
		if (k->version == 4 && at != 10 && at != 11)
			be16_put(pkt + off + 10, ip4_csum(pkt + off));
		if (ub)
			shoot_ub_raw(&s, u, pkt, n, hop_eth());
		else
			shoot_eth_raw(&s, u, pkt, n, off, hop_ub());
		free(s.block);
		assert_drop(s.drop, want);
	}
	free(pkt);
	cw_ub2e_free(u);
}

/* ---- 4: RTP and UTP only --------------------------------------------------------------------- */

static void s4_only_ip_format_crosses(void **state)
{
	static const enum cw_drop want[16] = {
		CW_DROP_UB_CONTROL, CW_DROP_UB_CFG,     CW_DROP_UB_CFG,   CW_PASS,
		CW_DROP_IP_VERSION, CW_DROP_UB_NETCTRL, CW_DROP_UB_CNA16, CW_DROP_UB_CNA24,
		CW_DROP_UB_CFG,     CW_DROP_UB_BYPASS,  CW_DROP_UB_CFG,   CW_DROP_UB_CFG,
		CW_DROP_UB_CFG,     CW_DROP_UB_CFG,     CW_DROP_UB_CFG,   CW_DROP_UB_CFG,
	};
	struct pk *k = pk_new(4);
	unsigned cfg;

	(void)state;
	/* Octets 11 and 13, where CNA headers have NLP, are 0x6a (NLP 2) and 0x51 (NLP 1). */
	k->body_len++;
	for (cfg = 0; cfg < 16; cfg++) {
		k->cfg = (uint8_t)cfg;
		assert_drop(drop_ub_default(k), want[cfg]);
	}
	k->cfg = 0; /* LPH alone tells */
	assert_drop(drop_ub_patched(k, 0, 0, 4), CW_DROP_UB_CONTROL);
	assert_drop(drop_ub_patched(k, 0, 0, 3), CW_DROP_SHORT);
	free(k);
	k = pk_new(6);
	k->cfg = 3;
	assert_drop(drop_ub_default(k), CW_DROP_IP_VERSION);
	free(k);
}

static void s4_ctp_is_refused(void **state)
{
	struct pk *k = pk_new(4);

	(void)state;
	k->cfg = 6;
	assert_drop(drop_ub_patched(k, 11, 0xf8, 0), CW_DROP_UB_CTP);
	assert_drop(drop_ub_patched(k, 11, 0xf9, 0), CW_DROP_UB_CNA16);
	assert_drop(drop_ub_patched(k, 11, 0xf8, 12), CW_DROP_UB_CTP);
	assert_drop(drop_ub_patched(k, 11, 0xf8, 11), CW_DROP_SHORT);
	k->cfg = 7;
	assert_drop(drop_ub_patched(k, 13, 0xf8, 0), CW_DROP_UB_CTP);
	assert_drop(drop_ub_patched(k, 13, 0xfa, 0), CW_DROP_UB_CNA24);
	assert_drop(drop_ub_patched(k, 13, 0xf8, 14), CW_DROP_UB_CTP);
	assert_drop(drop_ub_patched(k, 13, 0xf8, 13), CW_DROP_SHORT);
	free(k);
}

/* Octets from TPH to ICRC that an opcode needs at least (UB 2.0 6.2); 0 = reserved. */
static unsigned tp_need(unsigned opcode)
{
	switch (opcode) {
	case 0:
	case 1:
		return 16 + 8 + 4;
	case 2:
		return 16 + 4;
	case 3:
		return 16 + 8 + 4;
	case 5:
		return 16 + 4 + 32 + 4;
	case 6:
		return 16 + 8 + 4 + 32 + 4;
	case 8:
		return 16 + 16 + 4;
	default:
		return 0;
	}
}

static void check_opcodes(struct pk *k)
{
	unsigned op, need;

	for (op = 0; op < 128; op++) {
		memset(k->body, 0, 64);
		k->body[0] = (uint8_t)op;
		/* SAETPH of 256 bits */
		k->body[16] = op == 5 ? 0xfa : 0;
		k->body[24] = op == 6 ? 0xfa : 0;
		need = tp_need(op);
		k->body_len = need != 0 ? need - 4 : 40;
		assert_drops_both_ways(k, need != 0 ? CW_PASS : CW_DROP_TP_OPCODE);
		if (need == 0)
			continue;
		k->body_len--;
		assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	}
}

static void s4_only_defined_rtp_and_utp_cross(void **state)
{
	(void)state;
	both(check_opcodes);
}

/* UET on UB's port: named as what it is, by the length equation of the article's header or by the
 * CRC of UE 1.0; with neither it is just no UB packet. */
static void check_uet(struct pk *k)
{
	uint8_t ip[PK_MAX];
	uint32_t n, crc;

	k->plain = true;
	memset(k->body, 0, 64);
	k->body[0] = 0x10;
	k->body[1] = 0x50; /* Send */
	k->body[17] = 20;  /* Payload Length */
	k->body_len = 40;
	assert_drops_both_ways(k, CW_DROP_UETX);
	k->body_len = 41;
	assert_drops_both_ways(k, CW_DROP_TP_VERSION);
	k->body[1] = 0x08; /* RUD request with SYN, next header none */
	assert_drops_both_ways(k, CW_DROP_TP_OPCODE);
	n = pk_ip(k, ip);
	crc = cw_crc32c(0, ip + (k->version == 4 ? 12 : 8), n - 4 - (k->version == 4 ? 12 : 8));
	for (n = 0; n < 4; n++)
		k->body[k->body_len - 4 + n] = (uint8_t)(crc >> 8 * n);
	assert_drops_both_ways(k, CW_DROP_UEC_PORT);
	k->body[20] ^= 1;
	assert_drops_both_ways(k, CW_DROP_TP_OPCODE);
}

static void port_4792_uet_is_no_uboe(void **state)
{
	(void)state;
	both(check_uet);
}

static void assert_pinned(const struct pk *k, const struct cw_pin_4792 *pins, unsigned n,
			  enum cw_drop want)
{
	struct cw_ub2e_settings s;
	struct cw_ub2e *u;

	cw_ub2e_settings_init(&s);
	s.pins = pins;
	s.npins = n;
	u = rules(&s);
	assert_drop(drop_ub(u, k), want);
	assert_drop(drop_eth(u, k), want);
	cw_ub2e_free(u);
}

/* A prefix beats content: the destination's first, the longest one, else the source's. */
static void check_pins(struct pk *k)
{
	struct cw_pin_4792 p[3] = {{.version = (uint8_t)k->version, .plen = 15},
				   {.version = (uint8_t)k->version, .plen = 128},
				   {.version = (uint8_t)(10 - k->version), .family = CW_4792_UETX}};

	if (k->version == 4)
		p[0].plen = p[1].plen = 32;
	memcpy(p[0].addr, k->src, 16);
	memcpy(p[1].addr, k->dst, 16);
	p[0].family = CW_4792_UETX;
	assert_pinned(k, p, 1, CW_DROP_UETX); /* by its source; it looks like UB */
	p[1].family = CW_4792_BY_CONTENT;
	assert_pinned(k, p, 2, CW_PASS); /* the destination's counts */
	p[1].family = CW_4792_UETX;
	assert_pinned(k, p + 1, 1, CW_DROP_UETX);
	assert_pinned(k, p + 2, 1, CW_PASS); /* any address, but of the other version */
	p[0] = p[1];
	p[0].plen -= 8;
	p[1].family = CW_4792_UB;
	assert_pinned(k, p, 2, CW_PASS); /* the longest counts */
	memset(k->body, 0, 64);
	k->body[0] = 0x10;
	k->body[1] = 0x50;
	k->body[17] = 20;
	k->body_len = 40;
	k->plain = true;
	assert_pinned(k, p, 1, CW_DROP_UETX);
	assert_pinned(k, p, 2, CW_DROP_TP_VERSION); /* broken UB, not UET */
	k->dport = 4793;
	assert_pinned(k, p, 1, CW_PASS); /* another port */
}

static void port_4792_can_be_pinned(void **state)
{
	(void)state;
	both(check_pins);
}

static void s4_sack_sizes(void **state)
{
	struct pk *k = pk_new(4);
	unsigned size;

	(void)state;
	for (size = 0; size < 8; size++) {
		memset(k->body, 0, 256);
		k->body[0] = 5;
		k->body[16] = (uint8_t)size;
		k->body_len = 16 + 4 + (8u << size);
		assert_drops_both_ways(k, size <= 4 ? CW_PASS : CW_DROP_TP_LENGTH);
		k->body_len--;
		assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	}
	/* The SAETPH itself is cut. */
	k->body_len = 19 - 4;
	assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	free(k);
}

/* A fake packet (F, UB 2.0 6.2.1) ends behind its RTPH. UTP has no such bit, and no other packet
 * may. */
static void check_fake(struct pk *k)
{
	memset(k->body, 0, 64);
	k->body_len = 16;
	k->body[0] = 1;
	assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	k->body[8] = 0x40;
	assert_drops_both_ways(k, CW_PASS);
	k->body[8] = 0xbf; /* A and the reserved bits, but not F */
	assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	k->body[8] = 0x40;
	k->body_len = 15;
	assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
	k->body_len = 16;
	k->body[0] = 0;
	assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
}

static void s4_fake_packets_cross(void **state)
{
	(void)state;
	both(check_fake);
}

static void check_nlp(struct pk *k)
{
	static const unsigned need[16] = {16 + 8, 16 + 36 + 8, 0, 16};
	unsigned nlp, pad, op;

	memset(k->body, 0, 64);
	for (op = 0; op < 2; op++) {
		for (nlp = 0; nlp < 16; nlp++) {
			for (pad = 0; pad < 4; pad++) {
				k->body[0] = (uint8_t)op;
				k->body[1] = (uint8_t)(pad << 4 | nlp);
				k->body_len = (nlp < 4 && need[nlp] ? need[nlp] : 60) + pad;
				assert_drops_both_ways(k, nlp < 4 && need[nlp] ? CW_PASS
									       : CW_DROP_TP_NLP);
				k->body_len--;
				if (nlp < 4 && need[nlp])
					assert_drops_both_ways(k, CW_DROP_TP_LENGTH);
			}
		}
	}
}

static void s4_nlp(void **state)
{
	(void)state;
	both(check_nlp);
}

static void check_tpver(struct pk *k)
{
	k->body[1] = 0x40;
	assert_drops_both_ways(k, CW_DROP_TP_VERSION);
	k->body[1] = 0x80;
	assert_drops_both_ways(k, CW_DROP_TP_VERSION);
}

static void s4_transport_version(void **state)
{
	(void)state;
	both(check_tpver);
}

/* ---- 4.1: tables 1 and 2 ----------------------------------------------------------------------
 */

static void s4_1_ihl_is_5(void **state)
{
	struct pk *k = pk_new(4);
	unsigned ihl;

	(void)state;
	for (ihl = 0; ihl < 16; ihl++)
		assert_drops_ip_patched(k, 0, (uint8_t)(0x40 | ihl),
					ihl == 5 ? CW_PASS : CW_DROP_IP_IHL);
	free(k);
}

static void check_version(struct pk *k)
{
	assert_drops_ip_patched(k, 0, 0x55, CW_DROP_IP_VERSION);
	assert_drops_ip_patched(k, 0, k->version == 4 ? 0x60 : 0x45, CW_DROP_IP_VERSION);
}

static void s4_1_version_agrees(void **state)
{
	(void)state;
	both(check_version);
}

static unsigned tos_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ip[1] : (be16_get(ip) >> 4 & 0xff);
}

static void check_dscp_kept(struct pk *k)
{
	struct cw_ub2e *u = rules(NULL);
	struct shot s;
	unsigned dscp;

	for (dscp = 0; dscp < 64; dscp++) {
		k->tos = (uint8_t)(dscp << 2 | 2);
		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(tos_of(s.out_ip), dscp << 2 | 2);
		free(s.block);
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(tos_of(s.out_ip) >> 2, dscp);
		free(s.block);
	}
	cw_ub2e_free(u);
}

static void s4_1_dscp_kept(void **state)
{
	(void)state;
	both(check_dscp_kept);
}

static void check_dscp_remap(struct pk *k)
{
	struct cw_ub2e_settings set;
	struct cw_ub2e *u;
	struct shot s;

	cw_ub2e_settings_init(&set);
	set.dscp_out[26] = 46;
	set.dscp_in[26] = 10;
	set.pcp[46] = 5;
	set.pcp[26] = 3;
	set.vl[10] = 11;
	set.vl[26] = 7;
	u = rules(&set);
	shoot_ub(&s, u, k);
	assert_int_equal(tos_of(s.out_ip) >> 2, 46);
	assert_int_equal(be16_get(s.out + 14), 5 << 13 | 0x123);
	free(s.block);
	shoot_eth(&s, u, k);
	assert_int_equal(tos_of(s.out_ip) >> 2, 10);
	assert_int_equal(s.out[0] << 8 | s.out[1], 11 << 5 | k->cfg);
	free(s.block);
	cw_ub2e_free(u);
}

static void s4_1_dscp_remapped(void **state)
{
	(void)state;
	both(check_dscp_remap);
}

static void check_padding(struct pk *k)
{
	struct cw_ub2e *u = rules(NULL);
	struct shot s;

	k->body[0] = 2; /* TPACK */
	k->body_len = 16;
	for (k->pad = 0; k->pad < 60; k->pad += 7) {
		uint32_t ip_len = pk_hlen(k) + 8 + 16 + 4;

		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(s.out_len, 18 + ip_len);
		free(s.block);
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(s.out_len, 10 + ip_len);
		free(s.block);
	}
	cw_ub2e_free(u);
}

static void s4_1_padding_is_never_payload(void **state)
{
	(void)state;
	both(check_padding);
}

static void check_ip_length(struct pk *k)
{
	unsigned lsb = k->version == 4 ? 3 : 5, n = pk_hlen(k) + 8 + k->body_len + 4;
	unsigned field = k->version == 4 ? n : n - 40;

	assert_drops_ip_patched(k, lsb, (uint8_t)(field + 1), CW_DROP_IP_LENGTH);
	assert_drops_ip_patched(k, lsb, (uint8_t)(field - 1), CW_DROP_UDP_LENGTH);
	assert_drops_ip_patched(k, lsb, 7,
				k->version == 4 ? CW_DROP_IP_LENGTH : CW_DROP_UDP_LENGTH);
	assert_drops_ip_patched(k, lsb, 0,
				k->version == 4 ? CW_DROP_IP_LENGTH : CW_DROP_UDP_LENGTH);
	assert_drops_ip_patched(k, lsb - 1, 0xff, CW_DROP_IP_LENGTH);
}

static void s4_1_ip_length(void **state)
{
	(void)state;
	both(check_ip_length);
}

/* Setting DF would break the ICRC (4.2), which covers the flags: kept, and counted. */
static void s4_1_flags_kept_as_the_icrc_covers_them(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	static const unsigned flags[] = {0x0000, 0x8000, 0xc000, 0x4000};
	struct shot s;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		k->flags = (uint16_t)flags[i];
		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out_ip + 6), flags[i]);
		assert_int_equal(noted(&s, CW_NOTE_NO_DF), flags[i] != 0x4000);
		assert_true(icrc_ok(s.out_ip, s.v.ip_len));
		free(s.block);
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out_ip + 6), flags[i]);
		assert_int_equal(noted(&s, CW_NOTE_NO_DF), flags[i] != 0x4000);
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

static void s4_1_fragments_are_refused(void **state)
{
	static const unsigned flags[] = {0x2000, 0x6000, 0x0001, 0x1fff, 0x4100, 0x0010};
	struct pk *k = pk_new(4);
	unsigned i, plain;

	(void)state;
	for (plain = 0; plain < 2; plain++) {
		k->plain = plain;
		k->proto = plain ? 6 : 17;
		for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
			k->flags = (uint16_t)flags[i];
			assert_drops_both_ways(k, CW_DROP_IP_FRAGMENT);
		}
	}
	free(k);
	k = pk_new(6);
	assert_drops_ip_patched(k, 6, 44, CW_DROP_IP_FRAGMENT);
	free(k);
}

static void s4_1_extension_headers_are_refused(void **state)
{
	static const uint8_t ext[] = {0, 43, 50, 51, 60, 135, 139, 140, 253, 254};
	struct pk *k = pk_new(6);
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(ext); i++)
		assert_drops_ip_patched(k, 6, ext[i], CW_DROP_IP_EXTENSION);
	free(k);
}

static void check_ttl(struct pk *k)
{
	struct cw_ub2e_settings set;
	struct cw_ub2e *u = rules(NULL);
	struct shot s;
	unsigned ttl, at = k->version == 4 ? 8 : 7;

	for (ttl = 0; ttl < 256; ttl++) {
		k->ttl = (uint8_t)ttl;
		assert_drop(drop_eth(u, k), ttl <= 1 ? CW_DROP_TTL : CW_PASS);
		shoot_ub(&s, u, k);
		assert_drop(s.drop, ttl <= 1 ? CW_DROP_TTL : CW_PASS);
		if (s.drop == CW_PASS)
			assert_int_equal(s.out_ip[at], ttl - 1);
		free(s.block);
	}
	cw_ub2e_free(u);
	cw_ub2e_settings_init(&set);
	set.ttl_decrement = false;
	u = rules(&set);
	k->ttl = 1;
	shoot_ub(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(s.out_ip[at], 1);
	free(s.block);
	shoot_eth(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(s.out_ip[at], 1);
	free(s.block);
	cw_ub2e_free(u);
}

static void s4_1_ttl(void **state)
{
	(void)state;
	both(check_ttl);
}

static void s4_1_header_checksum_is_verified(void **state)
{
	struct pk *k = pk_new(4);
	struct cw_ub2e *u = rules(NULL);
	uint8_t pkt[512];
	struct shot s;
	unsigned bit;

	(void)state;
	for (bit = 0; bit < 160; bit++) {
		uint32_t n = pk_ub(k, pkt);

		if (bit < 8) /* version and IHL come first */
			continue;
		pkt[10 + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		shoot_ub_raw(&s, u, pkt, n, hop_eth());
		assert_drop(s.drop, CW_DROP_IP_CHECKSUM);
		free(s.block);
		n = pk_eth(k, pkt);
		pkt[18 + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		shoot_eth_raw(&s, u, pkt, n, 18, hop_ub());
		assert_drop(s.drop, CW_DROP_IP_CHECKSUM);
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

/* RFC 1624: over all of ToS, TTL and enough IDs to meet 0x0000 and its neighbours; and the other
 * form of zero, 0xffff, is taken. */
static void s4_1_header_checksum_is_updated(void **state)
{
	struct pk *k = pk_new(4);
	struct cw_ub2e *u = rules(NULL);
	struct shot s;
	uint8_t pkt[512];
	unsigned id, zero = 0;
	uint32_t n;

	(void)state;
	for (id = 0; id < 65536; id += id % 257 == 0 ? 1 : 7) {
		k->id = (uint16_t)id;
		k->tos = (uint8_t)(id * 13 >> 3);
		k->ttl = (uint8_t)(2 + id % 254);
		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out_ip + 10), ip4_csum(s.out_ip));
		free(s.block);
	}
	k->tos = 0x6a;
	k->ttl = 64;
	for (id = 0; id < 65536; id++) {
		k->id = (uint16_t)id;
		n = pk_ub(k, pkt);
		if (be16_get(pkt + 20) > 0x0101 && be16_get(pkt + 20) < 0xfeff)
			continue;
		if (be16_get(pkt + 20) == 0) {
			zero++;
			be16_put(pkt + 20, 0xffff);
		}
		shoot_ub_raw(&s, u, pkt, n, hop_eth());
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out_ip + 10), ip4_csum(s.out_ip));
		free(s.block);
	}
	assert_int_not_equal(zero, 0);
	free(k);
	cw_ub2e_free(u);
}

struct bad_address {
	const char *text;
	bool as_src, as_dst; /* refused */
};

static void s4_1_addresses_that_may_not_be_forwarded(void **state)
{
	static const struct bad_address v4[] = {
		{"0.0.0.0", true, true},         {"0.1.2.3", true, true},
		{"127.0.0.1", true, true},       {"127.255.255.255", true, true},
		{"169.254.7.9", true, true},     {"224.0.0.5", true, true},
		{"239.255.255.255", true, true}, {"255.255.255.255", true, true},
		{"1.0.0.0", false, false},       {"126.255.255.255", false, false},
		{"128.0.0.1", false, false},     {"169.253.255.255", false, false},
		{"169.255.0.0", false, false},   {"223.255.255.255", false, false},
		{"240.0.0.1", false, false},     {"255.255.255.254", false, false},
	};
	static const struct bad_address v6[] = {
		{"::", true, true},
		{"::1", true, true},
		{"::2", false, false},
		{"::ffff:10.0.0.1", true, true},
		{"::fffe:10.0.0.1", false, false},
		{"1::ffff:10.0.0.1", false, false},
		{"1::1", false, false},
		{"1::", false, false},
		{"fe80::7", true, true},
		{"febf::7", true, true},
		{"fec0::7", false, false},
		{"fe7f::7", false, false},
		{"fd00::7", false, false},
		{"ff02::1", true, true},
		{"ff0e::1", true, true},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(v4) / sizeof(v4[0]); i++) {
		struct pk *k = pk_new(4);

		assert_int_equal(cw_ip4_parse(v4[i].text, k->src), CW_OK);
		assert_drops_both_ways(k, v4[i].as_src ? CW_DROP_IP_ADDRESS : CW_PASS);
		memcpy(k->src, "\x0a\1\1\1", 4);
		assert_int_equal(cw_ip4_parse(v4[i].text, k->dst), CW_OK);
		assert_drops_both_ways(k, v4[i].as_dst ? CW_DROP_IP_ADDRESS : CW_PASS);
		free(k);
	}
	for (i = 0; i < sizeof(v6) / sizeof(v6[0]); i++) {
		struct pk *k = pk_new(6);

		assert_int_equal(cw_ip6_parse(v6[i].text, k->src), CW_OK);
		assert_drops_both_ways(k, v6[i].as_src ? CW_DROP_IP_ADDRESS : CW_PASS);
		assert_int_equal(cw_ip6_parse("2001:db8::1", k->src), CW_OK);
		assert_int_equal(cw_ip6_parse(v6[i].text, k->dst), CW_OK);
		assert_drops_both_ways(k, v6[i].as_dst ? CW_DROP_IP_ADDRESS : CW_PASS);
		free(k);
	}
}

static void check_view_dst(struct pk *k)
{
	struct cw_ub2e *u = rules(NULL);
	struct shot s;

	shoot_ub(&s, u, k);
	assert_int_equal(s.v.version, k->version);
	assert_memory_equal(s.v.dst, k->dst, k->version == 4 ? 4 : 16);
	free(s.block);
	shoot_eth(&s, u, k);
	assert_memory_equal(s.v.dst, k->dst, k->version == 4 ? 4 : 16);
	free(s.block);
	cw_ub2e_free(u);
}

static void s4_1_destination_for_the_route(void **state)
{
	(void)state;
	both(check_view_dst);
}

/* ---- 4.1: UDP -------------------------------------------------------------------------------- */

static void check_udp_port(struct pk *k)
{
	struct cw_ub2e_settings set;
	struct cw_ub2e *u;
	struct shot s;

	cw_ub2e_settings_init(&set);
	set.udp_port = 5000;
	u = rules(&set);
	shoot_ub(&s, u, k); /* 4792 is an ordinary port now */
	assert_true(s.v.plain);
	free(s.block);
	k->dport = 5000;
	shoot_ub(&s, u, k);
	assert_false(s.v.plain);
	assert_int_equal(be16_get(s.out_ip + pk_hlen(k)), 0xc123); /* source port kept */
	assert_int_equal(be16_get(s.out_ip + pk_hlen(k) + 2), 5000);
	free(s.block);
	cw_ub2e_free(u);
}

static void s4_1_udp_ports(void **state)
{
	(void)state;
	both(check_udp_port);
}

static void check_udp_length(struct pk *k)
{
	static const unsigned bad[] = {0, 7, 8, 27, 59, 61, 65535};
	struct cw_ub2e *u = rules(NULL);
	uint8_t pkt[512];
	struct shot s;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint32_t n = pk_ub(k, pkt);

		be16_put(pkt + 10 + pk_hlen(k) + 4, bad[i]);
		shoot_ub_raw(&s, u, pkt, n, hop_eth());
		assert_drop(s.drop, CW_DROP_UDP_LENGTH);
		free(s.block);
		n = pk_eth(k, pkt);
		be16_put(pkt + 18 + pk_hlen(k) + 4, bad[i]);
		shoot_eth_raw(&s, u, pkt, n, 18, hop_ub());
		assert_drop(s.drop, CW_DROP_UDP_LENGTH);
		free(s.block);
	}
	cw_ub2e_free(u);
}

static void s4_1_udp_length(void **state)
{
	(void)state;
	both(check_udp_length);
}

/* A zero checksum is accepted, a right one too and zeroed, a wrong one is refused. */
static void check_udp_checksum(struct pk *k)
{
	struct cw_ub2e_settings set;
	struct cw_ub2e *u = rules(NULL);
	unsigned h = pk_hlen(k);
	struct shot s;

	shoot_eth(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_false(noted(&s, CW_NOTE_UDP_CSUM_ZEROED));
	free(s.block);
	k->udp_csum = true;
	shoot_eth(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_not_equal(be16_get(s.in + 18 + h + 4), 0);
	assert_int_equal(be16_get(s.out_ip + h + 6), 0);
	assert_true(noted(&s, CW_NOTE_UDP_CSUM_ZEROED));
	assert_true(icrc_ok(s.out_ip, s.v.ip_len));
	free(s.block);
	shoot_ub(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(be16_get(s.out_ip + h + 6), 0);
	assert_true(noted(&s, CW_NOTE_UDP_CSUM_ZEROED));
	free(s.block);
	cw_ub2e_free(u);

	cw_ub2e_settings_init(&set);
	for (set.udp_verify = true;; set.udp_verify = false) {
		uint8_t pkt[512];
		uint32_t n = pk_eth(k, pkt);

		u = rules(&set);
		pkt[n - 9] ^= 1;
		shoot_eth_raw(&s, u, pkt, n, 18, hop_ub());
		assert_drop(s.drop, set.udp_verify ? CW_DROP_UDP_CHECKSUM : CW_PASS);
		free(s.block);
		n = pk_ub(k, pkt);
		pkt[n - 9] ^= 1;
		shoot_ub_raw(&s, u, pkt, n, hop_eth());
		assert_drop(s.drop, set.udp_verify ? CW_DROP_UDP_CHECKSUM : CW_PASS);
		if (!set.udp_verify)
			assert_int_equal(be16_get(s.out_ip + h + 6), 0);
		free(s.block);
		cw_ub2e_free(u);
		if (!set.udp_verify)
			break;
	}
}

static void s4_1_udp_checksum(void **state)
{
	(void)state;
	both(check_udp_checksum);
}

static void s4_1_flow_label_kept(void **state)
{
	struct pk *k = pk_new(6);
	struct cw_ub2e *u = rules(NULL);
	struct shot s;

	(void)state;
	shoot_ub(&s, u, k);
	assert_memory_equal(s.out_ip, "\x66\xa5\x43\x21", 4);
	free(s.block);
	shoot_eth(&s, u, k);
	assert_memory_equal(s.out_ip, "\x66\x85\x43\x21", 4); /* ECN bits 0 in the UB domain */
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

/* ---- 4.2 ------------------------------------------------------------------------------------- */

static void check_icrc_policy(struct pk *k)
{
	struct cw_ub2e_settings set;
	unsigned policy, order;

	cw_ub2e_settings_init(&set);
	for (order = 0; order < 2; order++) {
		for (policy = 0; policy < 3; policy++) {
			enum cw_drop want = policy == CW_ICRC_CHECK_DROP ? CW_DROP_ICRC : CW_PASS;
			struct cw_ub2e *u;
			uint8_t pkt[512], was[4];
			uint32_t n, i;
			struct shot s;

			set.icrc_order = order == 0 ? CW_ICRC_LE : CW_ICRC_BE;
			set.icrc_check_ub = set.icrc_check_eth = (enum cw_icrc_check)policy;
			u = rules(&set);
			n = pk_ub(k, pkt);
			for (i = 0; order == 1 && i < 4; i++)
				was[3 - i] = pkt[n - 4 + i];
			if (order == 1)
				memcpy(pkt + n - 4, was, 4);
			shoot_ub_raw(&s, u, pkt, n, hop_eth());
			assert_drop(s.drop, CW_PASS);
			assert_false(noted(&s, CW_NOTE_ICRC_BAD));
			free(s.block);
			pkt[n - 1] ^= 0x80;
			shoot_ub_raw(&s, u, pkt, n, hop_eth());
			assert_drop(s.drop, want);
			if (s.drop == CW_PASS) {
				assert_int_equal(noted(&s, CW_NOTE_ICRC_BAD), policy == 1);
				assert_memory_equal(s.out + s.out_len - 4, pkt + n - 4, 4);
			}
			free(s.block);
			n = pk_eth(k, pkt);
			pkt[n - 5] ^= 0x80;
			shoot_eth_raw(&s, u, pkt, n, 18, hop_ub());
			assert_drop(s.drop, want);
			if (s.drop == CW_PASS)
				assert_int_equal(noted(&s, CW_NOTE_ICRC_BAD), policy == 1);
			free(s.block);
			cw_ub2e_free(u);
		}
	}
}

static void s4_2_icrc_check(void **state)
{
	(void)state;
	both(check_icrc_policy);
}

/* Each side has its own policy. */
static void s4_2_icrc_check_by_side(void **state)
{
	struct pk *k = pk_new(4);
	struct cw_ub2e_settings set;
	struct cw_ub2e *u;
	uint8_t pkt[512];
	struct shot s;
	uint32_t n;

	(void)state;
	cw_ub2e_settings_init(&set);
	set.icrc_check_eth = CW_ICRC_CHECK_DROP;
	u = rules(&set);
	n = pk_ub(k, pkt);
	pkt[n - 1] ^= 1;
	shoot_ub_raw(&s, u, pkt, n, hop_eth());
	assert_drop(s.drop, CW_PASS);
	free(s.block);
	n = pk_eth(k, pkt);
	pkt[n - 1] ^= 1;
	shoot_eth_raw(&s, u, pkt, n, 18, hop_ub());
	assert_drop(s.drop, CW_DROP_ICRC);
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

/* The vectors of the ICRC's byte order and coverage: RTP Write over IPv4 and IPv6, TPACK, CNP,
 * UTP Send; computed apart from this code. */
static void s4_2_known_packets_cross(void **state)
{
	static const char *const hex[] = {
		"4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000000a"
		"000000010310000100000007000000001234500000005500000000080001020304050607abd33066",
		"60212345003c114020010db800000000000000000000000120010db8000000000000000000000002"
		"c00012b8003c000081000001020002038000000a0000000103100001000000070000000012345000"
		"00005500000000080001020304050607c4a65643",
		"4502003000004000401126b90a0000020a000001c00112b8001c000002000002030001020000000a"
		"000000017cd366d2",
		"4502004000004000401126a90a0000020a000001c00112b8002c0000080000020300010200000000"
		"00000000c00000000000000000000000000000005afd96a9",
		"4502004800004000401126a10a0000010a000002c00012b800340000003000000000000000000000"
		"000000000010000208000007000000050000000068656c6c6f0000006a22b7fc",
	};
	struct cw_ub2e_settings set;
	struct cw_ub2e *u;
	unsigned i;

	(void)state;
	cw_ub2e_settings_init(&set);
	set.icrc_check_eth = CW_ICRC_CHECK_DROP;
	u = rules(&set);
	for (i = 0; i < 5; i++) {
		size_t n;
		uint8_t *ip = hex_block(hex[i], &n), frame[256] = {0};
		struct shot s;

		be16_put(frame + 12, ip[0] >> 4 == 4 ? 0x0800 : 0x86dd);
		memcpy(frame + 14, ip, n);
		shoot_eth_raw(&s, u, frame, (uint32_t)n + 14, 14, hop_ub());
		assert_drop(s.drop, CW_PASS);
		assert_true(icrc_ok(s.out_ip, n));
		if (i == 0)
			assert_memory_equal(s.out, "\0\3\x80\x89\x80\2\0\0\0\1", 10);
		free(s.block);
		free(ip);
	}
	cw_ub2e_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s4_only_ip_format_crosses),
		cmocka_unit_test(s4_ctp_is_refused),
		cmocka_unit_test(s4_only_defined_rtp_and_utp_cross),
		cmocka_unit_test(port_4792_uet_is_no_uboe),
		cmocka_unit_test(port_4792_can_be_pinned),
		cmocka_unit_test(s4_sack_sizes),
		cmocka_unit_test(s4_fake_packets_cross),
		cmocka_unit_test(s4_nlp),
		cmocka_unit_test(s4_transport_version),
		cmocka_unit_test(s4_1_ihl_is_5),
		cmocka_unit_test(s4_1_version_agrees),
		cmocka_unit_test(s4_1_dscp_kept),
		cmocka_unit_test(s4_1_dscp_remapped),
		cmocka_unit_test(s4_1_padding_is_never_payload),
		cmocka_unit_test(s4_1_ip_length),
		cmocka_unit_test(s4_1_flags_kept_as_the_icrc_covers_them),
		cmocka_unit_test(s4_1_fragments_are_refused),
		cmocka_unit_test(s4_1_extension_headers_are_refused),
		cmocka_unit_test(s4_1_ttl),
		cmocka_unit_test(s4_1_header_checksum_is_verified),
		cmocka_unit_test(s4_1_header_checksum_is_updated),
		cmocka_unit_test(s4_1_addresses_that_may_not_be_forwarded),
		cmocka_unit_test(s4_1_destination_for_the_route),
		cmocka_unit_test(s4_1_udp_ports),
		cmocka_unit_test(s4_1_udp_length),
		cmocka_unit_test(s4_1_udp_checksum),
		cmocka_unit_test(s4_1_flow_label_kept),
		cmocka_unit_test(s4_2_icrc_check),
		cmocka_unit_test(s4_2_icrc_check_by_side),
		cmocka_unit_test(s4_2_known_packets_cross),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
