/* What cw_ub2e_new() refuses, and that it says why. */
#include "tests/unit/ub2e.h"

static struct cw_ub2e_settings defaults(void)
{
	struct cw_ub2e_settings s;

	cw_ub2e_settings_init(&s);
	return s;
}

/* Refused with `err`; path, value and each of the texts (NULL-ended by the macro) are said. */
static void refused(const struct cw_ub2e_settings *s, const uint32_t *parts, unsigned nparts,
		    int err, const char *path, const char *const *texts)
{
	struct cw_ub2e *u = (struct cw_ub2e *)&u;
	struct cw_diag d = {0};

	assert_int_equal(cw_ub2e_new(&u, s, parts, nparts, &d), err);
	assert_ptr_equal(u, &u); /* *out is left alone */
	assert_int_equal(d.err, err);
	assert_string_equal(d.path, path);
	for (; *texts != NULL; texts++) {
		if (strstr(d.reason, *texts) == NULL && strcmp(d.value, *texts) != 0)
			fail_msg("'%s' is neither in '%s' nor '%s'", *texts, d.reason, d.value);
	}
	assert_int_equal(cw_ub2e_new(&u, s, parts, nparts, NULL), err);
}

#define REFUSED(s, parts, nparts, err, path, ...) \
	refused(s, parts, nparts, err, path, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED_RANGE(member, v, path, text)                              \
	do {                                                              \
		struct cw_ub2e_settings s_ = defaults();                  \
		s_.member = (v);                                          \
		REFUSED(&s_, NULL, 0, CW_E_RANGE, path, text, "must be"); \
	} while (0)

static void defaults_are_the_drafts(void **state)
{
	struct cw_ub2e_settings s = defaults();
	unsigned i;

	(void)state;
	assert_int_equal(s.udp_port, 4792);
	assert_true(s.udp_verify && s.ttl_decrement && s.plain_ip && s.plength_check);
	assert_int_equal(s.icrc_check_ub, CW_ICRC_CHECK_OFF);
	assert_int_equal(s.icrc_check_eth, CW_ICRC_CHECK_OFF);
	assert_int_equal(s.icrc_order, CW_ICRC_LE);
	assert_int_equal(s.rt, 2);
	assert_int_equal(s.cci_policy, CW_CCI_NOT_ECT);
	assert_false(s.fecn_rtt_as_fecn || s.strict_ecn);
	assert_true(s.light_to_ce);
	assert_int_equal(s.ect, 2);
	assert_int_equal(s.ce_to_fecn, 3);
	assert_int_equal(s.npi_mode, CW_NPI_LOW12);
	assert_int_equal(s.untagged_npi, 1);
	for (i = 0; i < 64; i++) {
		assert_int_equal(s.dscp_out[i], i);
		assert_int_equal(s.dscp_in[i], i);
		assert_int_equal(s.vl[i] | s.pcp[i], 0);
	}
}

static void ranges(void **state)
{
	(void)state;
	REFUSED_RANGE(udp_port, 0, "udp/port", "0");
	REFUSED_RANGE(rt, 4, "rt/to-ub", "4");
	REFUSED_RANGE(ect, 0, "ecn/markable", "0");
	REFUSED_RANGE(ect, 3, "ecn/markable", "3");
	REFUSED_RANGE(ce_to_fecn, 0, "ecn/ce", "0");
	REFUSED_RANGE(ce_to_fecn, 2, "ecn/ce", "2");
	REFUSED_RANGE(ce_to_fecn, 4, "ecn/ce", "4");
	REFUSED_RANGE(dscp_out[5], 64, "ip/dscp-to-ethernet[from='5']/to", "64");
	REFUSED_RANGE(dscp_in[63], 255, "ip/dscp-to-ub[from='63']/to", "255");
	REFUSED_RANGE(vl[0], 16, "link/virtual-lane[dscp='0']/vl", "16");
	REFUSED_RANGE(pcp[9], 8, "npi/pcp[dscp='9']/pcp", "8");
	REFUSED_RANGE(npi_mode, (enum cw_npi_mode)3, "npi/mode", "3");
	REFUSED_RANGE(cci_policy, (enum cw_cci_policy)2, "cci/unmappable", "2");
	REFUSED_RANGE(icrc_check_ub, (enum cw_icrc_check)3, "icrc/check-from-ub", "3");
	REFUSED_RANGE(icrc_check_eth, (enum cw_icrc_check)3, "icrc/check-from-ethernet", "3");
	REFUSED_RANGE(icrc_order, (enum cw_icrc_order)2, "icrc/order", "2");
	REFUSED_RANGE(untagged_npi, 1u << 25, "npi/untagged", "33554432");
}

static void untagged_partition_0_with_permission(void **state)
{
	struct cw_ub2e_settings s = defaults();

	(void)state;
	s.untagged_npi = CW_NPI_PERM;
	REFUSED(&s, NULL, 0, CW_E_RANGE, "npi/untagged", "partition ID 0");
}

/* Draft 5.3: no collisions after truncation; both are named. */
static void s5_3_truncated_partitions_collide(void **state)
{
	static const uint32_t parts[] = {0x123, 0x456, 0x123, 0xabc456};
	static const uint32_t same[] = {0x123, 0x123};
	struct cw_ub2e_settings s = defaults();
	struct cw_ub2e *u;

	(void)state;
	REFUSED(&s, parts, 4, CW_E_CONFLICT, "npi/partition[.='11256918']", "0xabc456",
		"partition 0x000456", "partition 0xabc456", "VLAN 1110");
	assert_int_equal(cw_ub2e_new(&u, &s, same, 2, NULL), CW_OK);
	cw_ub2e_free(u);
	/* Only where VLANs come from truncation. */
	s.npi_mode = CW_NPI_TABLE;
	assert_int_equal(cw_ub2e_new(&u, &s, parts, 4, NULL), CW_OK);
	cw_ub2e_free(u);
}

static void s5_3_partition_collides_with_the_table(void **state)
{
	static const struct cw_npi_entry map[] = {{0xabc999, 0x123, 0}};
	static const uint32_t parts[] = {0x5123};
	struct cw_ub2e_settings s = defaults();

	(void)state;
	s.npi = map;
	s.nnpi = 1;
	REFUSED(&s, parts, 1, CW_E_CONFLICT, "npi/partition[.='20771']", "partition 0xabc999",
		"partition 0x005123", "VLAN 291");
}

static void s5_3_the_table_resolves_a_collision(void **state)
{
	static const struct cw_npi_entry map[] = {{0xabc456, 7, 0}};
	static const uint32_t parts[] = {0x456, 0xabc456};
	struct cw_ub2e_settings s = defaults();
	struct cw_ub2e *u;

	(void)state;
	s.npi = map;
	s.nnpi = 1;
	assert_int_equal(cw_ub2e_new(&u, &s, parts, 2, NULL), CW_OK);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0x456), 0x456);
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0xabc456), 7);
	/* A third one that nobody declared may not slip into a declared one's VLAN. */
	assert_int_equal(cw_ub2e_npi_to_vid(u, 0x111456), -1);
	cw_ub2e_free(u);
}

static void s5_3_partitions_without_a_vlan(void **state)
{
	static const uint32_t zero[] = {0x7000}, top[] = {0x7fff}, null[] = {0}, big[] = {1u << 24};
	struct cw_ub2e_settings s = defaults();

	(void)state;
	REFUSED(&s, zero, 1, CW_E_RANGE, "npi/partition[.='28672']", "0x007000", "VLAN 0");
	REFUSED(&s, top, 1, CW_E_RANGE, "npi/partition[.='32767']", "0x007fff", "VLAN 4095");
	REFUSED(&s, null, 1, CW_E_RANGE, "npi/partition[.='0']", "0x000000", "1..0xffffff");
	REFUSED(&s, big, 1, CW_E_RANGE, "npi/partition[.='16777216']", "0x1000000", "1..0xffffff");
}

static void refused_map(enum cw_npi_mode mode, struct cw_npi_entry a, struct cw_npi_entry b,
			int err, const char *path, const char *t1, const char *t2)
{
	const struct cw_npi_entry map[] = {a, b};
	struct cw_ub2e_settings s = defaults();

	s.npi_mode = mode;
	s.npi = map;
	s.nnpi = 2;
	REFUSED(&s, NULL, 0, err, path, t1, t2);
}

#define E(...) ((struct cw_npi_entry){__VA_ARGS__})

static void s5_3_table_entries_collide(void **state)
{
	unsigned m;

	(void)state;
	for (m = CW_NPI_LOW12; m <= CW_NPI_ENHANCED; m++) {
		enum cw_npi_mode mode = (enum cw_npi_mode)m;

		refused_map(mode, E(5, 100, 200), E(6, 100, 201), CW_E_CONFLICT,
			    "npi/map[id='6']/vid", "partition 0x000005", "partition 0x000006");
		refused_map(mode, E(5, 100, 200), E(5, 101, 201), CW_E_CONFLICT, "npi/map[id='5']",
			    "VLAN 100", "VLAN 101");
		refused_map(mode, E(5, 100, 200), E(6, 0, 201), CW_E_RANGE, "npi/map[id='6']/vid",
			    "partition 0x000006", "VLAN 0");
		refused_map(mode, E(5, 100, 200), E(6, 4095, 201), CW_E_RANGE,
			    "npi/map[id='6']/vid", "partition 0x000006", "VLAN 4095");
		refused_map(mode, E(5, 100, 200), E(6, 65535, 201), CW_E_RANGE,
			    "npi/map[id='6']/vid", "partition 0x000006", "VLAN 65535");
		refused_map(mode, E(0, 100, 200), E(6, 1, 201), CW_E_RANGE, "npi/map[id='0']",
			    "0x000000", "1..0xffffff");
		refused_map(mode, E(5, 100, 200), E(1u << 24, 1, 201), CW_E_RANGE,
			    "npi/map[id='16777216']", "0x1000000", "1..0xffffff");
	}
}

static void s5_3_enhanced_vlans_collide(void **state)
{
	(void)state;
	refused_map(CW_NPI_ENHANCED, E(5, 100, 200), E(6, 200, 201), CW_E_CONFLICT,
		    "npi/map[id='6']/vid", "partition 0x000005", "partition 0x000006");
	refused_map(CW_NPI_ENHANCED, E(5, 100, 200), E(6, 101, 100), CW_E_CONFLICT,
		    "npi/map[id='6']/vid-low", "partition 0x000005", "partition 0x000006");
	refused_map(CW_NPI_ENHANCED, E(5, 100, 200), E(6, 101, 101), CW_E_CONFLICT,
		    "npi/map[id='6']/vid-low", "both Permissions", "partition 0x000006");
	refused_map(CW_NPI_ENHANCED, E(5, 100, 200), E(6, 101, 0), CW_E_RANGE,
		    "npi/map[id='6']/vid-low", "VLAN 0", "partition 0x000006");
}

/* A full table: as many partitions as there are VLANs, scattered so that some share a hash. */
static void s5_3_full_table(void **state)
{
	struct cw_npi_entry *map = calloc(4094, sizeof(*map));
	uint8_t *taken = calloc(CW_NPI_ID_MASK + 1, 1);
	struct cw_ub2e_settings s = defaults();
	struct cw_ub2e *u;
	uint32_t id = 1;
	unsigned i;

	(void)state;
	/* Full period modulo 1 << 24, so no ID comes twice. */
	for (i = 0; i < 4094; i++) {
		id = (id * 1140671485u + 12820163u) & CW_NPI_ID_MASK;
		map[i] = E(id, (uint16_t)(4094 - i), 0);
		taken[id] = 1;
	}
	s.npi = map;
	s.nnpi = 4094;
	u = rules(&s);
	for (i = 0; i < 4094; i++) {
		assert_int_equal(cw_ub2e_npi_to_vid(u, map[i].id), map[i].vid);
		assert_int_equal(cw_ub2e_vid_to_npi(u, map[i].vid), map[i].id);
		if (!taken[map[i].id ^ 1])
			assert_int_equal(cw_ub2e_npi_to_vid(u, map[i].id ^ 1), -1);
	}
	/* The settings are a copy of the caller's. */
	assert_ptr_not_equal(cw_ub2e_get_settings(u)->npi, map);
	assert_memory_equal(cw_ub2e_get_settings(u)->npi, map, 4094 * sizeof(*map));
	free(taken);
	free(map);
	cw_ub2e_free(u);
	cw_ub2e_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_the_drafts),
		cmocka_unit_test(ranges),
		cmocka_unit_test(untagged_partition_0_with_permission),
		cmocka_unit_test(s5_3_truncated_partitions_collide),
		cmocka_unit_test(s5_3_partition_collides_with_the_table),
		cmocka_unit_test(s5_3_the_table_resolves_a_collision),
		cmocka_unit_test(s5_3_partitions_without_a_vlan),
		cmocka_unit_test(s5_3_table_entries_collide),
		cmocka_unit_test(s5_3_enhanced_vlans_collide),
		cmocka_unit_test(s5_3_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
