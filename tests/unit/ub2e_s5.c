/* Rules of draft-li-uboe-00 section 5: routing type, congestion marks, partitions. */
#include "tests/unit/ub2e.h"

static struct cw_ub2e_settings defaults(void)
{
	struct cw_ub2e_settings s;

	cw_ub2e_settings_init(&s);
	return s;
}

static unsigned tos_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ip[1] : (be16_get(ip) >> 4 & 0xff);
}

/* Of a bare UB packet. */
static unsigned cci_of(const struct shot *s)
{
	return be16_get(s->out + 4);
}

static uint32_t npi_of(const struct shot *s)
{
	return (uint32_t)be16_get(s->out + 6) << 16 | be16_get(s->out + 8);
}

/* ---- 5: headers taken off and put on ----------------------------------------------------------
 */

static void s5_ub_headers_become_ethernet(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	unsigned version;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		struct pk *k = pk_new(version);
		struct shot s;

		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_memory_equal(s.out, "\x02\x31\x32\x33\x34\x35\x02\x41\x42\x43\x44\x45", 12);
		assert_memory_equal(s.out + 12, "\x81\x00\x01\x23", 4);
		assert_int_equal(be16_get(s.out + 16), version == 4 ? 0x0800 : 0x86dd);
		assert_ptr_equal(s.out + 18, s.out_ip);
		assert_int_equal(s.out_len, 18 + pk_hlen(k) + 8 + k->body_len + 4);
		assert_int_equal(s.v.notes, 0); /* nothing about this packet is worth one */
		assert_int_equal(s.v.outer_vid, 0);
		free(s.block);
		free(k);
	}
	cw_ub2e_free(u);
}

static void s5_ethernet_becomes_ub_headers(void **state)
{
	struct cw_ub2e_hop framed = *hop_ub();
	struct cw_ub2e *u = rules(NULL);
	unsigned version;

	(void)state;
	framed.bare = false;
	memcpy(framed.dst, "\x02\x51\x52\x53\x54\x55", 6);
	memcpy(framed.src, "\x02\x61\x62\x63\x64\x65", 6);
	for (version = 4; version <= 6; version += 2) {
		struct pk *k = pk_new(version);
		unsigned pl = plength_of(10 + pk_hlen(k) + 8 + k->body_len + 4);
		uint8_t pkt[512], want[10] = {0,
					      version == 4 ? 3 : 4,
					      (uint8_t)(0x80 | pl >> 8),
					      (uint8_t)pl,
					      0x80,
					      2,
					      0,
					      0,
					      1,
					      0x23};
		struct shot s;

		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(s.v.notes, 0);
		assert_memory_equal(s.out, want, 10);
		assert_ptr_equal(s.out + 10, s.out_ip);
		free(s.block);
		shoot_eth_raw(&s, u, pkt, pk_eth(k, pkt), 18, &framed);
		assert_drop(s.drop, CW_PASS);
		assert_memory_equal(s.out,
				    "\x02\x51\x52\x53\x54\x55\x02\x61\x62\x63\x64\x65\x88\xb6", 14);
		assert_memory_equal(s.out + 14, want, 10);
		assert_int_equal(s.out_len, 14 + 10 + pk_hlen(k) + 8 + k->body_len + 4);
		free(s.block);
		free(k);
	}
	cw_ub2e_free(u);
}

/* PLENGTH of every length, against this test's own flit filler; and it must agree on ingress. */
static void s5_plength_of_every_length(void **state)
{
	struct pk *k = pk_new(4);
	struct cw_ub2e *u = rules(NULL);
	struct shot s;

	(void)state;
	for (; k->body_len < 9200; k->body_len += k->body_len < 2600 ? 1 : 37) {
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out + 2) & 0x3fff, plength_of(s.out_len));
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

static void s5_plength_must_agree(void **state)
{
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(4);
	unsigned check, bit;

	(void)state;
	for (check = 0; check < 2; check++) {
		struct cw_ub2e *u;

		set.plength_check = check;
		u = rules(&set);
		for (bit = 0; bit < 14; bit++) {
			uint8_t pkt[512];
			uint32_t n = pk_ub(k, pkt);
			struct shot s;

			pkt[3 - bit / 8] ^= (uint8_t)(1u << bit % 8);
			shoot_ub_raw(&s, u, pkt, n, hop_eth());
			assert_drop(s.drop, check ? CW_DROP_UB_LENGTH : CW_PASS);
			free(s.block);
		}
		cw_ub2e_free(u);
	}
	free(k);
}

/* UB can't carry more than 16 blocks. */
static void s5_too_long_for_ub(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	uint8_t *pkt = calloc(1, PK_MAX);
	uint32_t ip_len;

	(void)state;
	for (ip_len = 10135; ip_len <= 10138; ip_len++) {
		struct shot s;

		(void)pk_eth(k, pkt);
		be16_put(pkt + 18 + 2, ip_len);
		be16_put(pkt + 18 + 10, ip4_csum(pkt + 18));
		be16_put(pkt + 18 + 24, ip_len - 20);
		shoot_eth_raw(&s, u, pkt, 18 + ip_len, 18, hop_ub());
		assert_drop(s.drop, ip_len <= 10136 ? CW_PASS : CW_DROP_MTU);
		free(s.block);
	}
	free(pkt);
	free(k);
	cw_ub2e_free(u);
}

/* ---- 5.1 --------------------------------------------------------------------------------------
 */

static void s5_1_rt_is_dropped_outward(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	struct shot a, b;

	(void)state;
	for (k->rt = 0; k->rt < 4; k->rt++) {
		shoot_ub(&a, u, k);
		k->rt ^= 3;
		shoot_ub(&b, u, k);
		k->rt ^= 3;
		assert_int_equal(a.out_len, b.out_len);
		assert_memory_equal(a.out, b.out, a.out_len);
		free(a.block);
		free(b.block);
	}
	free(k);
	cw_ub2e_free(u);
}

static void s5_1_rt_inward(void **state)
{
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(4);

	(void)state;
	assert_int_equal(set.rt, 2); /* per flow, shortest paths */
	for (set.rt = 0; set.rt < 4; set.rt++) {
		struct cw_ub2e *u = rules(&set);
		struct shot s;

		shoot_eth(&s, u, k);
		assert_int_equal(s.out[2] >> 6, set.rt);
		free(s.block);
		cw_ub2e_free(u);
	}
	free(k);
}

/* VL by DSCP; credit, acknowledgement and reserved bits 0. */
static void s5_1_vl_by_dscp(void **state)
{
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(6);
	struct cw_ub2e *u;
	unsigned dscp;

	(void)state;
	for (dscp = 0; dscp < 64; dscp++)
		set.vl[dscp] = (uint8_t)(dscp * 7 % 16);
	u = rules(&set);
	for (dscp = 0; dscp < 64; dscp++) {
		struct shot s;

		k->tos = (uint8_t)(dscp << 2 | dscp % 4);
		shoot_eth(&s, u, k);
		assert_int_equal(be16_get(s.out), (dscp * 7 % 16) << 5 | 4);
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

/* ---- 5.2 --------------------------------------------------------------------------------------
 */

static void s5_2_modes(void **state)
{
	struct cw_ub2e_settings set = defaults();
	unsigned mode, rest, policy, rtt;

	(void)state;
	for (policy = 0; policy < 2; policy++) {
		for (rtt = 0; rtt < 2; rtt++) {
			struct pk *k = pk_new(rtt ? 4 : 6);
			struct cw_ub2e *u;

			set.cci_policy = policy ? CW_CCI_DROP : CW_CCI_NOT_ECT;
			set.fecn_rtt_as_fecn = rtt;
			u = rules(&set);
			for (mode = 0; mode < 8; mode++) {
				bool crosses = mode == 4 || (mode == 2 && rtt);

				for (rest = 0; rest < 16; rest++) {
					/* LoC, something in the middle, FECN */
					unsigned cci = mode << 13 | (rest & 8) << 9 |
						       (rest & 4) * 0x155 | (rest & 3);
					static const unsigned ecn[4] = {0, 3, 2, 3};
					struct shot s;

					k->cci = (uint16_t)cci;
					shoot_ub(&s, u, k);
					if (policy && !crosses) {
						assert_drop(s.drop, CW_DROP_CCI_MODE);
						free(s.block);
						continue;
					}
					assert_drop(s.drop, CW_PASS);
					assert_int_equal(tos_of(s.out_ip) & 3,
							 crosses ? ecn[rest & 3] : 0);
					assert_int_equal(noted(&s, CW_NOTE_CCI_NOT_ECT), !crosses);
					assert_int_equal(noted(&s, CW_NOTE_RTT_AS_FECN),
							 crosses && mode == 2);
					assert_int_equal(noted(&s, CW_NOTE_LOC_LOST),
							 crosses && rest & 8);
					free(s.block);
				}
			}
			free(k);
			cw_ub2e_free(u);
		}
	}
}

/* ---- 5.2.1 ------------------------------------------------------------------------------------
 */

/* The draft's words as a table: FECN 00 and 11 are fixed, 10 is the chosen ECT, 01 is CE, the
 * chosen ECT, or, one to one, ECT(1). */
static unsigned want_ecn(const struct cw_ub2e_settings *s, unsigned fecn)
{
	static const unsigned ce[2][4] = {{0, 3, 2, 3}, {0, 3, 1, 3}};
	static const unsigned capable[2][4] = {{0, 2, 2, 3}, {0, 1, 1, 3}};

	if (s->strict_ecn)
		return fecn;
	return s->light_to_ce ? ce[s->ect == 1][fecn] : capable[s->ect == 1][fecn];
}

static unsigned want_fecn(const struct cw_ub2e_settings *s, unsigned ecn)
{
	static const unsigned severe[4] = {0, 2, 2, 3}, light[4] = {0, 2, 2, 1};

	if (s->strict_ecn)
		return ecn;
	return s->ce_to_fecn == 3 ? severe[ecn] : light[ecn];
}

static void check_marks(const struct cw_ub2e_settings *set, struct pk *k)
{
	struct cw_ub2e *u = rules(set);
	unsigned fecn, ecn;
	struct shot s;

	for (fecn = 0; fecn < 4; fecn++) {
		for (ecn = 0; ecn < 4; ecn++) {
			/* The ECN bits inside the UB domain have no say. */
			k->tos = (uint8_t)(0x68 | ecn);
			k->cci = (uint16_t)(0x8000 | fecn);
			shoot_ub(&s, u, k);
			assert_drop(s.drop, CW_PASS);
			assert_int_equal(tos_of(s.out_ip), 0x68 | want_ecn(set, fecn));
			assert_int_equal(noted(&s, CW_NOTE_LIGHT_TO_CE),
					 fecn == 1 && want_ecn(set, fecn) == 3);
			free(s.block);
		}
	}
	for (ecn = 0; ecn < 4; ecn++) {
		k->tos = (uint8_t)(0x68 | ecn);
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(cci_of(&s), 0x8000 | want_fecn(set, ecn)); /* LoC 0 */
		assert_int_equal(tos_of(s.out_ip), 0x68);
		assert_int_equal(cw_ub2e_ecn_to_fecn(u, (uint8_t)ecn), want_fecn(set, ecn));
		assert_int_equal(cw_ub2e_fecn_to_ecn(u, (uint8_t)ecn), want_ecn(set, ecn));
		free(s.block);
	}
	cw_ub2e_free(u);
}

/* All FECN x ECN x modes x settings. */
static void s5_2_1_all_marks(void **state)
{
	struct cw_ub2e_settings set = defaults();
	unsigned i, version;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		struct pk *k = pk_new(version);

		for (i = 0; i < 16; i++) {
			set.strict_ecn = i & 1;
			set.light_to_ce = i & 2;
			set.ect = i & 4 ? 1 : 2;
			set.ce_to_fecn = i & 8 ? 1 : 3;
			check_marks(&set, k);
		}
		free(k);
	}
}

static void s5_2_1_defaults(void **state)
{
	struct cw_ub2e *u = rules(NULL);

	(void)state;
	assert_int_equal(cw_ub2e_fecn_to_ecn(u, 0), 0);
	assert_int_equal(cw_ub2e_fecn_to_ecn(u, 1), 3);
	assert_int_equal(cw_ub2e_fecn_to_ecn(u, 2), 2);
	assert_int_equal(cw_ub2e_fecn_to_ecn(u, 3), 3);
	assert_int_equal(cw_ub2e_ecn_to_fecn(u, 0), 0);
	assert_int_equal(cw_ub2e_ecn_to_fecn(u, 1), 2);
	assert_int_equal(cw_ub2e_ecn_to_fecn(u, 2), 2);
	assert_int_equal(cw_ub2e_ecn_to_fecn(u, 3), 3);
	cw_ub2e_free(u);
}

static void s5_2_1_loc_is_dropped_outward(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	struct shot s;

	(void)state;
	k->cci = 0x9003;
	shoot_ub(&s, u, k);
	assert_int_equal(tos_of(s.out_ip) & 3, 3);
	assert_true(noted(&s, CW_NOTE_LOC_LOST));
	free(s.block);
	k->cci = 0x8003;
	shoot_ub(&s, u, k);
	assert_false(noted(&s, CW_NOTE_LOC_LOST));
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

/* ---- 5.3 --------------------------------------------------------------------------------------
 */

static void s5_3_low_12_bits(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	static const uint32_t ids[] = {1, 0x123, 0xffe, 0x1123, 0xabc001, 0xffffe};
	struct shot s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		k->npi = ids[i];
		shoot_ub(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(be16_get(s.out + 14) & 0xfff, ids[i] & 0xfff);
		free(s.block);
		k->tci[0] = (uint16_t)(0xe000 | (ids[i] & 0xfff));
		shoot_eth(&s, u, k);
		assert_drop(s.drop, CW_PASS);
		assert_int_equal(npi_of(&s), ids[i] & 0xfff); /* upper bits and Permission 0 */
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

static void s5_3_permission_is_dropped(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(6);
	struct shot s;

	(void)state;
	k->npi = CW_NPI_PERM | 0x123;
	shoot_ub(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(be16_get(s.out + 14), 0x123);
	assert_true(noted(&s, CW_NOTE_PERMISSION_LOST));
	free(s.block);
	k->npi = 0x123;
	shoot_ub(&s, u, k);
	assert_false(noted(&s, CW_NOTE_PERMISSION_LOST));
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

/* The seven reserved bits in front of the NPI are nobody's. */
static void s5_3_reserved_bits_are_ignored(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	struct shot s;

	(void)state;
	k->npi = 0xfe000123;
	shoot_ub(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(be16_get(s.out + 14), 0x123);
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

static void s5_3_invalid_ids_and_vlans(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);

	(void)state;
	k->npi = 0;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_ZERO);
	k->npi = CW_NPI_PERM;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_ZERO);
	k->npi = 0x1000;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_UNMAPPED);
	k->npi = 0xfff;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_UNMAPPED);
	k->tci[0] = 0xfff;
	assert_drop(drop_eth(u, k), CW_DROP_VLAN_UNMAPPED);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0), -1);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0xabcfff), -1);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 0), 0);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 0xfff), 0);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 0x1001), 0);
	free(k);
	cw_ub2e_free(u);
}

/* Every VLAN and a stride of partitions, without a table. */
static void s5_3_every_vlan(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint32_t id;

	(void)state;
	for (id = 1; id < 4095; id++) {
		assert_int_equal(cw_ub2e_vid_to_npi(u, (uint16_t)id), id);
		assert_int_equal(cw_ub2e_npi_to_vid(u, id), id);
	}
	for (id = 1; id <= CW_NPI_ID_MASK; id += 997) {
		int want = (id & 0xfff) % 4095 != 0 ? (int)(id & 0xfff) : -1;

		assert_int_equal(cw_ub2e_npi_to_vid(u, id), want);
	}
	cw_ub2e_free(u);
}

/* The table goes first. What it took out of the low-12-bit order stays out, so that no two
 * partitions meet in a VLAN. */
static void s5_3_table_before_low_12_bits(void **state)
{
	static const struct cw_npi_entry map[] = {{0xabc123, 100, 0}, {7, 200, 0}, {0x9008, 8, 0}};
	struct cw_ub2e_settings set = defaults();
	struct cw_ub2e *u;

	(void)state;
	set.npi = map;
	set.nnpi = 3;
	u = rules(&set);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0xabc123), 100);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 100), 0xabc123);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 7 | CW_NPI_PERM), 200);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 8), 0x9008);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 8), -1);   /* VLAN 8 is 0x9008's */
	assert_int_equal(cw_ub2e_npi_to_vid(u, 100), -1); /* VLAN 100 is 0xabc123's */
	assert_int_equal(cw_ub2e_vid_to_npi(u, 7), 0);    /* partition 7 is in VLAN 200 */
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0x123), 0x123);
	assert_int_equal(cw_ub2e_vid_to_npi(u, 0x123), 0x123);
	cw_ub2e_free(u);
}

static void s5_3_table_only(void **state)
{
	static const struct cw_npi_entry map[] = {{0xabc123, 100, 0}, {1, 1, 0}};
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(4);
	struct cw_ub2e *u;
	struct shot s;

	(void)state;
	set.npi_mode = CW_NPI_TABLE;
	set.npi = map;
	set.nnpi = 2;
	u = rules(&set);
	k->npi = 0xabc123;
	shoot_ub(&s, u, k);
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(be16_get(s.out + 14), 100);
	free(s.block);
	k->tci[0] = 100;
	shoot_eth(&s, u, k);
	assert_int_equal(npi_of(&s), 0xabc123);
	free(s.block);
	k->npi = 100;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_UNMAPPED);
	k->tci[0] = 0x123;
	assert_drop(drop_eth(u, k), CW_DROP_VLAN_UNMAPPED);
	free(k);
	cw_ub2e_free(u);
}

/* Two VLANs a partition; two gateways in a row give the Permission back. */
static void s5_3_enhanced_mode_restores_permission(void **state)
{
	static const struct cw_npi_entry map[] = {{0xabc123, 100, 101}, {5, 6, 7}};
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(6);
	struct cw_ub2e *u;
	unsigned i, perm;

	(void)state;
	set.npi_mode = CW_NPI_ENHANCED;
	set.npi = map;
	set.nnpi = 2;
	u = rules(&set);
	for (i = 0; i < 2; i++) {
		for (perm = 0; perm < 2; perm++) {
			struct shot a, b;

			k->npi = map[i].id | perm << 24;
			shoot_ub(&a, u, k);
			assert_drop(a.drop, CW_PASS);
			assert_false(noted(&a, CW_NOTE_PERMISSION_LOST));
			assert_int_equal(be16_get(a.out + 14), perm ? map[i].vid_low : map[i].vid);
			shoot_eth_raw(&b, u, a.out, a.out_len, 18, hop_ub());
			assert_drop(b.drop, CW_PASS);
			assert_int_equal(npi_of(&b), k->npi);
			free(a.block);
			free(b.block);
		}
	}
	k->npi = 100;
	assert_drop(drop_ub(u, k), CW_DROP_NPI_UNMAPPED);
	free(k);
	cw_ub2e_free(u);
}

static void s5_3_port_filter(void **state)
{
	static const uint32_t ids[] = {3, 0x123, 0x124, 0x500, 0xabcdef};
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	unsigned n, id;

	(void)state;
	for (n = 0; n <= 5; n++) {
		struct cw_npi_filter f = {ids, n};

		for (id = 1; id < 0x600; id++) {
			uint8_t pkt[512];
			struct cw_ub2e_hop hop = *hop_eth();
			bool ok = n == 0;
			struct cw_ub2e_view v;
			struct shot s;
			unsigned i;

			for (i = 0; i < n; i++)
				ok |= ids[i] == id;
			k->npi = id | (id & 1) << 24;
			shot_load(&s, pkt, pk_ub(k, pkt), 10);
			assert_drop(cw_ub2e_from_ub(u, &f, s.in, s.in_len, &v),
				    ok ? CW_PASS : CW_DROP_NPI_FILTER);
			assert_drop(cw_ub2e_from_ub(u, NULL, s.in, s.in_len, &v), CW_PASS);
			hop.filter = &f;
			assert_drop(cw_ub2e_write(u, &v, &hop, &s.out, &s.out_len),
				    ok ? CW_PASS : CW_DROP_NPI_FILTER);
			free(s.block);
			k->tci[0] = (uint16_t)id;
			shot_load(&s, pkt, pk_eth(k, pkt), 18);
			assert_drop(cw_ub2e_from_eth(u, &f, s.in, s.in_len, NULL, &v),
				    ok ? CW_PASS : CW_DROP_NPI_FILTER);
			free(s.block);
		}
	}
	free(k);
	cw_ub2e_free(u);
}

/* ---- 5.3: tags --------------------------------------------------------------------------------
 */

struct tag_case {
	bool stripped; /* the first tag, by the device */
	unsigned n;
	uint16_t tci[3];
	enum cw_drop drop;
	uint32_t npi;
	uint16_t outer;
	bool untagged;
};

static void check_tags(const struct tag_case *c, struct pk *k, const uint16_t *tpid)
{
	struct cw_ub2e *u = rules(NULL);
	struct cw_stripped_tag tag = {c->stripped, c->tci[0], tpid[0]};
	unsigned first = c->stripped ? 1 : 0;
	uint8_t pkt[512];
	struct shot s;

	k->ntags = c->n - first;
	memcpy(k->tci, c->tci + first, k->ntags * 2);
	memcpy(k->tpid, tpid + first, k->ntags * 2);
	shot_load(&s, pkt, pk_eth(k, pkt), 14 + 4 * k->ntags);
	s.drop = cw_ub2e_from_eth(u, NULL, s.in, s.in_len, &tag, &s.v);
	shot_write(&s, u, hop_ub());
	assert_drop(s.drop, c->drop);
	if (s.drop == CW_PASS) {
		assert_int_equal(npi_of(&s), c->npi);
		assert_int_equal(s.v.outer_vid, c->outer);
		assert_int_equal(noted(&s, CW_NOTE_UNTAGGED), c->untagged);
		assert_true(icrc_ok(s.out_ip, s.v.ip_len));
	}
	free(s.block);
	cw_ub2e_free(u);
}

static void s5_3_tags_in_the_frame_or_stripped(void **state)
{
	static const struct tag_case cases[] = {
		{false, 0, {0}, CW_PASS, 1, 0, true},
		{false, 1, {0x0123}, CW_PASS, 0x123, 0, false},
		{false, 1, {0xf123}, CW_PASS, 0x123, 0, false},
		{false, 1, {0xe000}, CW_PASS, 1, 0, true},
		{false, 2, {0x0064, 0x0123}, CW_PASS, 0x123, 0x64, false},
		{false, 2, {0x0123, 0x0123}, CW_PASS, 0x123, 0x123, false},
		{false, 2, {0xe000, 0x0123}, CW_PASS, 0x123, 0, false},
		{false, 2, {0x0064, 0xe000}, CW_PASS, 1, 0x64, true},
		{false, 2, {0x0064, 0x0fff}, CW_DROP_VLAN_UNMAPPED, 0, 0, false},
		{false, 3, {0x0064, 0x0065, 0x0123}, CW_DROP_VLAN_DEPTH, 0, 0, false},
		{true, 1, {0x0123}, CW_PASS, 0x123, 0, false},
		{true, 1, {0xe000}, CW_PASS, 1, 0, true},
		{true, 1, {0x0fff}, CW_DROP_VLAN_UNMAPPED, 0, 0, false},
		{true, 2, {0x0064, 0x0123}, CW_PASS, 0x123, 0x64, false},
		{true, 2, {0x0123, 0x0123}, CW_PASS, 0x123, 0x123, false},
		{true, 3, {0x0064, 0x0065, 0x0123}, CW_DROP_VLAN_DEPTH, 0, 0, false},
	};
	static const uint16_t tpids[][3] = {
		{0x8100, 0x8100, 0x8100},
		{0x88a8, 0x8100, 0x8100},
		{0x9100, 0x8100, 0x8100},
	};
	unsigned i, t, version;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			for (t = 0; t < 3; t++) {
				struct pk *k = pk_new(version);

				check_tags(&cases[i], k, tpids[t]);
				free(k);
			}
		}
	}
}

static void s5_3_untagged_frames(void **state)
{
	static const uint32_t npi[] = {1, 0xabc, CW_NPI_PERM | 5, 0};
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(4);
	unsigned i;

	(void)state;
	k->ntags = 0;
	for (i = 0; i < 4; i++) {
		struct cw_ub2e *u;
		struct shot s;

		set.untagged_npi = npi[i];
		u = rules(&set);
		shoot_eth(&s, u, k);
		assert_drop(s.drop, npi[i] != 0 ? CW_PASS : CW_DROP_VLAN_UNMAPPED);
		if (npi[i] != 0)
			assert_int_equal(npi_of(&s), npi[i]);
		free(s.block);
		cw_ub2e_free(u);
	}
	free(k);
}

static void s5_3_tags_written(void **state)
{
	struct cw_ub2e_settings set = defaults();
	struct cw_ub2e_hop hop = *hop_eth();
	struct pk *k = pk_new(4);
	struct cw_ub2e *u;
	uint8_t pkt[512];
	struct shot s;

	(void)state;
	set.pcp[26] = 6;
	u = rules(&set);
	hop.outer_vid = 0x64;
	shoot_ub_raw(&s, u, pkt, pk_ub(k, pkt), &hop);
	assert_drop(s.drop, CW_PASS);
	assert_memory_equal(s.out + 12, "\x88\xa8\xc0\x64\x81\x00\xc1\x23\x08\x00\x45", 11);
	assert_int_equal(s.out_len, 22 + s.v.ip_len);
	free(s.block);
	hop.outer_vid = 0;
	hop.tpid = 0x9100;
	shoot_ub_raw(&s, u, pkt, pk_ub(k, pkt), &hop);
	assert_memory_equal(s.out + 12, "\x91\x00\xc1\x23\x08\x00\x45", 7);
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

static void s5_3_ethertype(void **state)
{
	static const unsigned types[] = {0x0806, 0x88b6, 0x88b5, 0x0000, 0x05dc, 0xffff};
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	uint8_t pkt[512];
	struct shot s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint32_t n = pk_eth(k, pkt), tag;

		for (tag = 0; tag < 3; tag++) { /* behind a tag; with nothing behind it; no tag */
			be16_put(pkt + (tag < 2 ? 16 : 12), types[i]);
			shoot_eth_raw(&s, u, pkt, tag == 0 ? n : tag == 1 ? 18 : 14, 18, hop_ub());
			assert_drop(s.drop, CW_DROP_ETHERTYPE);
			free(s.block);
		}
	}
	free(k);
	cw_ub2e_free(u);
}

/* ---- UB -> UB, Ethernet -> Ethernet, MTU --------------------------------------------------------
 */

static void check_ub_to_ub(struct pk *k, bool decrement)
{
	struct cw_ub2e_settings set = defaults();
	uint8_t pkt[512], want[512];
	struct cw_ub2e *u;
	uint32_t n;
	struct shot s;
	unsigned at = 10 + (k->version == 4 ? 8 : 7);

	set.ttl_decrement = decrement;
	/* Rules of a crossing that must not touch a packet that stays. */
	set.cci_policy = CW_CCI_DROP;
	set.npi_mode = CW_NPI_TABLE;
	set.dscp_out[26] = 1;
	u = rules(&set);
	n = pk_ub(k, pkt);
	memcpy(want, pkt, n);
	want[at] = (uint8_t)(want[at] - decrement);
	if (k->version == 4)
		be16_put(want + 20, ip4_csum(want + 10));
	want[0] &= 1; /* credits and acknowledgements are of one link */
	want[6] &= 1;
	shoot_ub_raw(&s, u, pkt, n, hop_ub());
	assert_drop(s.drop, CW_PASS);
	assert_int_equal(s.out_len, n);
	assert_memory_equal(s.out, want, n);
	assert_int_equal(s.v.notes, 0);
	free(s.block);
	cw_ub2e_free(u);
}

static void s5_ub_to_ub_keeps_the_ub_headers(void **state)
{
	unsigned version, i;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		for (i = 0; i < 8; i++) {
			struct pk *k = pk_new(version);

			k->lph_top = 0xfc;
			k->cci = (uint16_t)(i << 13 | 0x1abe);
			k->npi = 0x1abcdef;
			k->udp_csum = i & 1;
			k->vl = (uint8_t)(2 * i + 1);
			k->rt = i & 3;
			check_ub_to_ub(k, i & 2);
			free(k);
		}
	}
}

static void s5_ethernet_to_ethernet_is_not_ours(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	uint8_t pkt[512];
	struct shot s;
	uint32_t n = pk_eth(k, pkt);

	(void)state;
	shoot_eth_raw(&s, u, pkt, n, 18, hop_eth());
	assert_drop(s.drop, CW_DROP_SAME_DOMAIN);
	assert_memory_equal(s.in, pkt, n);
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

static void s5_mtu(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	unsigned version, side;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		struct pk *k = pk_new(version);
		uint32_t ip_len = pk_hlen(k) + 8 + k->body_len + 4, mtu;

		for (side = 0; side < 2; side++) {
			for (mtu = ip_len - 1; mtu <= ip_len; mtu++) {
				struct cw_ub2e_hop hop = side ? *hop_eth() : *hop_ub();
				uint8_t pkt[512];
				struct shot s;

				hop.mtu = mtu;
				if (side)
					shoot_ub_raw(&s, u, pkt, pk_ub(k, pkt), &hop);
				else
					shoot_eth_raw(&s, u, pkt, pk_eth(k, pkt), 18, &hop);
				assert_drop(s.drop, mtu < ip_len ? CW_DROP_MTU : CW_PASS);
				free(s.block);
			}
		}
		free(k);
	}
	cw_ub2e_free(u);
}

/* ---- Plain TCP/IP over UB -----------------------------------------------------------------------
 */

/* What is left of a plain packet's crossing: ToS as given, TTL - 1, checksum, the rest untouched.
 */
static void assert_plain(const struct shot *s, const struct pk *k, unsigned tos)
{
	uint8_t want[512];
	uint32_t n = pk_ip(k, want);

	if (k->version == 4) {
		want[1] = (uint8_t)tos;
		want[8]--;
		be16_put(want + 10, ip4_csum(want));
	} else {
		want[0] = (uint8_t)(0x60 | tos >> 4);
		want[1] = (uint8_t)(tos << 4 | (want[1] & 15));
		want[7]--;
	}
	assert_int_equal(s->v.ip_len, n);
	assert_memory_equal(s->out_ip, want, n);
}

static void s5_plain_ip_copies_ecn_raw(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	unsigned version, proto, mark, ecn;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		for (proto = 6; proto <= 17; proto += 11) {
			struct pk *k = pk_new(version);
			struct shot s;

			k->plain = true;
			k->proto = (uint8_t)proto;
			k->dport = 4791;
			k->udp_csum = true;
			k->flags = 0;
			for (mark = 0; mark < 4; mark++) {
				for (ecn = 0; ecn < 4; ecn++) {
					k->cci = (uint16_t)(0x8000 | mark);
					k->tos = (uint8_t)(0x68 | ecn);
					shoot_ub(&s, u, k);
					assert_drop(s.drop, CW_PASS);
					assert_true(s.v.plain);
					assert_int_equal(s.v.notes, 0); /* DF is nobody's here */
					assert_plain(&s, k, 0x68 | mark);
					free(s.block);
				}
				k->tos = (uint8_t)(0x68 | mark);
				shoot_eth(&s, u, k);
				assert_drop(s.drop, CW_PASS);
				assert_true(s.v.plain);
				assert_int_equal(cci_of(&s), 0x8000 | mark);
				assert_plain(&s, k, 0x68 | mark);
				free(s.block);
			}
			free(k);
		}
	}
	cw_ub2e_free(u);
}

static void s5_plain_ip_turned_off(void **state)
{
	struct cw_ub2e_settings set = defaults();
	struct pk *k = pk_new(4);
	struct cw_ub2e *u;
	uint8_t pkt[512];
	struct shot s;

	(void)state;
	set.plain_ip = false;
	u = rules(&set);
	k->plain = true;
	k->dport = 4791;
	assert_drop(drop_ub(u, k), CW_DROP_PLAIN_IP);
	assert_drop(drop_eth(u, k), CW_DROP_PLAIN_IP);
	k->proto = 6;
	assert_drop(drop_ub(u, k), CW_DROP_PLAIN_IP);
	assert_drop(drop_eth(u, k), CW_DROP_PLAIN_IP);
	shoot_ub_raw(&s, u, pkt, pk_ub(k, pkt), hop_ub()); /* it may stay in the UB domain */
	assert_drop(s.drop, CW_PASS);
	free(s.block);
	free(k);
	cw_ub2e_free(u);
}

/* A tail of four octets behind a plain packet: PLENGTH counts it, the IP length doesn't. */
static void s5_plain_ip_with_a_tail(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	unsigned tail;

	(void)state;
	k->plain = true;
	k->proto = 6;
	k->pad = 8;
	for (tail = 0; tail < 8; tail++) {
		uint8_t pkt[512];
		uint32_t n = pk_ub(k, pkt);
		struct shot s;

		be16_put(pkt + 2, (be16_get(pkt + 2) & 0xc000) | plength_of(n - 8 + tail));
		shoot_ub_raw(&s, u, pkt, n, hop_eth());
		assert_drop(s.drop, tail == 0 || tail == 4 ? CW_PASS : CW_DROP_UB_LENGTH);
		if (s.drop == CW_PASS)
			assert_plain(&s, k, 0x6a);
		free(s.block);
	}
	free(k);
	k = pk_new(4); /* a UB packet has none */
	{
		uint8_t pkt[512];
		uint32_t n = pk_ub(k, pkt);
		struct shot s;

		be16_put(pkt + 2, 0x4000 | plength_of(n + 4));
		memset(pkt + n, 0, 4);
		shoot_ub_raw(&s, u, pkt, n + 4, hop_eth());
		assert_drop(s.drop, CW_DROP_UB_LENGTH);
		free(s.block);
	}
	free(k);
	cw_ub2e_free(u);
}

/* UDP that is too short to have a port can't be told from UB. */
static void s5_plain_udp_without_ports(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	unsigned version, n;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		for (n = 0; n <= 8; n++) {
			struct pk *k = pk_new(version);
			uint8_t pkt[512];
			uint32_t len, h = pk_hlen(k);
			struct shot s;

			k->dport = 53;
			len = pk_eth(k, pkt);
			be16_put(pkt + 18 + (version == 4 ? 2 : 4), version == 4 ? 20 + n : n);
			if (version == 4)
				be16_put(pkt + 28, ip4_csum(pkt + 18));
			assert_true(len >= 18 + h + n);
			shoot_eth_raw(&s, u, pkt, 18 + h + n, 18, hop_ub());
			assert_drop(s.drop, n < 8 ? CW_DROP_UDP_LENGTH : CW_PASS);
			free(s.block);
			free(k);
		}
	}
	cw_ub2e_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_ub_headers_become_ethernet),
		cmocka_unit_test(s5_ethernet_becomes_ub_headers),
		cmocka_unit_test(s5_plength_of_every_length),
		cmocka_unit_test(s5_plength_must_agree),
		cmocka_unit_test(s5_too_long_for_ub),
		cmocka_unit_test(s5_1_rt_is_dropped_outward),
		cmocka_unit_test(s5_1_rt_inward),
		cmocka_unit_test(s5_1_vl_by_dscp),
		cmocka_unit_test(s5_2_modes),
		cmocka_unit_test(s5_2_1_all_marks),
		cmocka_unit_test(s5_2_1_defaults),
		cmocka_unit_test(s5_2_1_loc_is_dropped_outward),
		cmocka_unit_test(s5_3_low_12_bits),
		cmocka_unit_test(s5_3_permission_is_dropped),
		cmocka_unit_test(s5_3_reserved_bits_are_ignored),
		cmocka_unit_test(s5_3_invalid_ids_and_vlans),
		cmocka_unit_test(s5_3_every_vlan),
		cmocka_unit_test(s5_3_table_before_low_12_bits),
		cmocka_unit_test(s5_3_table_only),
		cmocka_unit_test(s5_3_enhanced_mode_restores_permission),
		cmocka_unit_test(s5_3_port_filter),
		cmocka_unit_test(s5_3_tags_in_the_frame_or_stripped),
		cmocka_unit_test(s5_3_untagged_frames),
		cmocka_unit_test(s5_3_tags_written),
		cmocka_unit_test(s5_3_ethertype),
		cmocka_unit_test(s5_ub_to_ub_keeps_the_ub_headers),
		cmocka_unit_test(s5_ethernet_to_ethernet_is_not_ours),
		cmocka_unit_test(s5_mtu),
		cmocka_unit_test(s5_plain_ip_copies_ecn_raw),
		cmocka_unit_test(s5_plain_ip_turned_off),
		cmocka_unit_test(s5_plain_ip_with_a_tail),
		cmocka_unit_test(s5_plain_udp_without_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
