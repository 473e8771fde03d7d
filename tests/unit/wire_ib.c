/* Tests of InfiniBand link packets, subnet administration and the IPoIB headers (RFC 4391, whose
 * sections the names begin with; IBTA tests begin with ib_). */
#include "causeway/craft.h"
#include "causeway/packet.h"
#include "causeway/wire/arp.h"
#include "causeway/wire/dhcp.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ipoib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "causeway/wire/sa.h"
#include "causeway/wire/smp.h"
#include "tests/unit/test.h"

/* The packet by which IBTA explains both CRCs. */
#define SAMPLE                                                             \
	"7012375C000E17D20A2024870087B1B3000DEC2A01710A1C015D400238F27A05" \
	"0000000EBB884D85FD5CFBA4728BC0690ED40000"                         \
	"9625B75A"                                                         \
	"45FA"

/* What a Linux 6.1 kernel's ib0 multicast: an ARP request. */
#define ARP_FRAME                                                                         \
	"0003c00000210004 60000000 0054 1b00 fe800000000000000000000000100007"            \
	"ff12401bffff000000000000ffffffff 6440ffff 00ffffff 00000006 00000b1b 00000048"   \
	"08060000 0020 0800 14 04 0001 80000048fe800000000000000000000000100007 0a4d0002" \
	"0000000000000000000000000000000000000000 0a4d0009 1913f6fc 9e2c"
enum { ARP_FRAME_LEN = 134, ENCAP_AT = 68 };

static void ib_7_8_icrc_and_vcrc_of_the_sample(void **state)
{
	uint8_t *p;
	size_t n;
	uint32_t v;

	(void)state;
	p = hex_block(SAMPLE, &n);
	assert_int_equal(cw_ib_icrc(p, n - 6, &v), CW_OK);
	assert_int_equal(v, 0x5ab72596);
	assert_int_equal(cw_ib_vcrc(p, n - 2), 0xfa45);
	assert_int_equal(cw_ib_check(p, n), CW_OK);
	p[0] ^= 0x10; /* the VL: in the VCRC only */
	assert_int_equal(cw_ib_check(p, n), CW_E_CHECKSUM);
	assert_int_equal(cw_ib_seal(p, n), CW_OK);
	assert_int_equal(cw_ib_check(p, n), CW_OK);
	p[n - 8] ^= 1;
	assert_int_equal(cw_ib_check(p, n), CW_E_ICRC);
	free(p);
}

static void ib_8_3_what_the_icrc_leaves_out(void **state)
{
	static const uint8_t out[] = {0, 8, 9, 10, 11, 15, 52};
	uint8_t *p;
	unsigned i, k;
	uint32_t good, v;
	size_t n;

	(void)state;
	p = hex_block(ARP_FRAME, &n);
	assert_int_equal(cw_ib_icrc(p, n - 6, &good), CW_OK);
	for (i = 0; i < n - 6; i++) {
		uint8_t was = p[i];
		bool masked = false;

		if (i == 1) /* LNH: another layout altogether */
			continue;
		for (k = 0; k < sizeof(out); k++)
			masked |= out[k] == i;
		p[i] ^= i == 0 ? 0xf0 : i == 8 ? 0x0f : 0xff;
		assert_int_equal(cw_ib_icrc(p, n - 6, &v), CW_OK);
		assert_int_equal(v == good, masked);
		p[i] = was;
	}
	free(p);
}

static void s6_frame_of_a_kernel(void **state)
{
	struct cw_packet p;
	uint8_t *f;
	size_t n;
	int arp;

	(void)state;
	f = hex_block(ARP_FRAME, &n);
	assert_int_equal(n, ARP_FRAME_LEN);
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, f, n, NULL), CW_OK);
	assert_int_equal(p.icrc.status, CW_ICRC_OK);
	assert_int_equal(p.nlayers, 6);
	assert_ptr_equal(p.layers[4].hdr, &cw_hdr_ipoib);
	assert_int_equal(p.layers[4].off, ENCAP_AT);
	assert_int_equal(cw_lrh_dlid(f), 0xc000);
	assert_int_equal(cw_lrh_slid(f), 4);
	assert_int_equal(cw_lrh_length(f), 33);
	assert_int_equal(cw_grh_length(f + 8), 0x54);
	arp = cw_packet_find(&p, &cw_hdr_ipoib_arp, 0);
	assert_int_equal(arp, 5);
	assert_true(cw_ipoib_arp_valid(f + p.layers[5].off, p.layers[5].len));
	assert_int_equal(cw_ipoib_arp_sha_qpn(f + p.layers[5].off), 0x48);
	assert_int_equal(cw_ipoib_arp_sha_flags(f + p.layers[5].off), 0x80);
	free(f);
}

static void s6_reserved_is_ignored_when_received(void **state)
{
	struct cw_packet p;
	uint8_t *f;
	size_t n;

	(void)state;
	f = hex_block(ARP_FRAME, &n);
	cw_ipoib_set_reserved(f + ENCAP_AT, 0xbeef);
	assert_int_equal(cw_ib_seal(f, n), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, f, n, NULL), CW_OK);
	assert_int_equal(p.nlayers, 6);
	free(f);
}

static void every_prefix_is_an_error(void **state)
{
	struct cw_packet p;
	uint8_t *f, *cut;
	size_t n, i;

	(void)state;
	f = hex_block(ARP_FRAME, &n);
	for (i = 0; i < n; i++) {
		cut = exact_copy(f, i);
		assert_int_not_equal(cw_dissect(&p, CW_LINK_IB, cut, i, NULL), CW_OK);
		assert_int_not_equal(cw_ib_check(cut, i), CW_OK);
		free(cut);
	}
	/* As a file of LINKTYPE_IPOIB: GRH, header, ARP. */
	for (i = 0; i < 100; i++) {
		uint8_t whole[100] = {0};

		memcpy(whole + 40, f + ENCAP_AT, 60);
		cut = exact_copy(whole, i);
		assert_int_not_equal(cw_dissect(&p, CW_LINK_IPOIB, cut, i, NULL), CW_OK);
		free(cut);
	}
	free(f);
}

static void craft_makes_the_kernels_frame(void **state)
{
	uint8_t *f, made[256];
	struct cw_craft c;
	size_t n;

	(void)state;
	f = hex_block(ARP_FRAME, &n);
	cw_craft_init(&c, made, sizeof(made));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_lrh, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dlid", "0xc000"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "slid", "4"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_grh, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "sgid", "fe80::10:7"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dgid", "ff12:401b:ffff::ffff:ffff"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_bth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "migreq", "1"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dqpn", "0xffffff"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "psn", "6"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_deth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "qkey", "0xb1b"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "sqpn", "0x48"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipoib, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipoib_arp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "sha_flags", "0x80"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "sha_qpn", "0x48"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "sha_gid", "fe80::10:7"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "spa", "10.77.0.2"), CW_OK);
	assert_int_equal(cw_craft_field(&c, "tpa", "10.77.0.9"), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(c.len, n);
	assert_memory_equal(made, f, n);
	free(f);
}

/* An IP packet ends in front of pad and ICRC: its length does not count them. */
static void craft_pads_behind_the_datagram(void **state)
{
	uint8_t made[256];
	struct cw_craft c;
	struct cw_packet p;

	(void)state;
	cw_craft_init(&c, made, sizeof(made));
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_lrh, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_bth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dqpn", "0x48"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_deth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipoib, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_ipv4, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_udp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_payload(&c, "xyz", 3), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, c.len, NULL), CW_OK);
	assert_int_equal(p.pad_len, 1);
	assert_int_equal(p.payload_len, 3);
	assert_int_equal(p.trailer_len, CW_IB_VCRC_LEN);
	assert_int_equal(cw_ipv4_length(made + 32), 20 + 8 + 3);
}

/* ---- MGIDs -------------------------------------------------------------------------------- */

struct mapping {
	const char *group;
	uint16_t pkey;
	unsigned scope;
	const char *mgid;
};
static const struct mapping mappings[] = {
	{"224.0.0.1", 0x8001, 2, "ff12:401b:8001::1"},
	{"224.0.0.2", 0x8000, 2, "ff12:401b:8000::2"},
	{"224.0.0.22", 0x8001, 2, "ff12:401b:8001::16"},
	{"224.0.0.251", 0x8001, 2, "ff12:401b:8001::fb"},
	{"255.255.255.255", 0x8001, 2, "ff12:401b:8001::ffff:ffff"},
	{"255.255.255.255", 0xffff, 2, "ff12:401b:ffff::ffff:ffff"},
	{"239.1.2.3", 0x8001, 2, "ff12:401b:8001::f01:203"},
	{"239.1.2.3", 0x8001, 5, "ff15:401b:8001::f01:203"},
	{"239.255.255.250", 0x8001, 2, "ff12:401b:8001::fff:fffa"},
	{"232.129.2.3", 0x8001, 14, "ff1e:401b:8001::881:203"},
	{"ff02::1", 0x8001, 2, "ff12:601b:8001::1"},
	{"ff02::16", 0x8001, 2, "ff12:601b:8001::16"},
	{"ff02::1:ff10:4", 0x8001, 2, "ff12:601b:8001::1:ff10:4"},
	{"ff05::1:3", 0x8001, 2, "ff12:601b:8001::1:3"},
	{"ff3e:40:2001:db8::4000:1", 0x8001, 2, "ff12:601b:8001:db8::4000:1"},
};

static void s4_mgid_both_ways(void **state)
{
	struct cw_ipoib_group back;
	uint8_t group[16], mgid[16], want[16];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
		const struct mapping *m = &mappings[i];
		bool v6 = strchr(m->group, ':') != NULL;

		assert_int_equal(cw_ip6_parse(m->mgid, want), CW_OK);
		assert_int_equal(v6 ? cw_ip6_parse(m->group, group) : cw_ip4_parse(m->group, group),
				 CW_OK);
		/* The full bit is set whether it was given or not. */
		if (v6)
			cw_ipoib_mgid6(mgid, group, m->pkey & 0x7fff, m->scope);
		else
			cw_ipoib_mgid4(mgid, group, m->pkey & 0x7fff, m->scope);
		assert_memory_equal(mgid, want, 16);
		assert_int_equal(cw_ipoib_mgid_parse(mgid, &back), CW_OK);
		assert_int_equal(back.v6, v6);
		assert_int_equal(back.pkey, m->pkey);
		assert_int_equal(back.scope, m->scope);
		if (v6)
			assert_memory_equal(back.id, group + 6, 10);
		else
			assert_memory_equal(back.v4, group, 4);
	}
}

static void s4_t_flag_signature_and_full_pkey(void **state)
{
	static const char *const bad[] = {
		"fe12:401b:8001::1",      "ff02:401b:8001::1", "ff32:401b:8001::1",
		"ff12:401c:8001::1",      "ff12:401b:1::1",    "ff12:401b:8001:1::1",
		"ff12:401b:8001::1000:1", "ff12:601b:7fff::1", "ff12:101b:8001::1",
	};
	struct cw_ipoib_group g;
	uint8_t mgid[16];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(cw_ip6_parse(bad[i], mgid), CW_OK);
		assert_int_equal(cw_ipoib_mgid_parse(mgid, &g), CW_E_UNKNOWN);
	}
	cw_ipoib_broadcast(mgid, 1, 2);
	assert_int_equal(mgid[1] >> 4, 1);
	assert_int_equal(cw_ipoib_mgid_parse(mgid, &g), CW_OK);
	assert_true(g.broadcast);
	assert_int_equal(g.pkey, 0x8001);
}

/* ---- Addresses ---------------------------------------------------------------------------- */

static void s9_1_1_link_layer_address(void **state)
{
	uint8_t gid[16], a[CW_IPOIB_LLA], b[CW_IPOIB_LLA];
	unsigned i;

	(void)state;
	for (i = 0; i < 16; i++)
		gid[i] = (uint8_t)(0x11 * i + 1);
	cw_ipoib_lla(a, 0xff123456, gid);
	assert_int_equal(a[0], 0); /* reserved: zero when sent */
	assert_int_equal(cw_ipoib_lla_qpn(a), 0x123456);
	assert_memory_equal(a + 4, gid, 16);
	memcpy(b, a, sizeof(b));
	b[0] = CW_IPOIB_LLA_RC; /* ignored when received */
	assert_true(cw_ipoib_lla_equal(a, b));
	for (i = 1; i < CW_IPOIB_LLA; i++) {
		b[i] ^= 1;
		assert_false(cw_ipoib_lla_equal(a, b));
		b[i] ^= 1;
	}
}

static void s9_2_arp_hardware_type_32(void **state)
{
	static const uint8_t spa[4] = {10, 1, 2, 3}, tpa[4] = {10, 4, 5, 6};
	uint8_t gid[16], sha[CW_IPOIB_LLA], tha[CW_IPOIB_LLA], *want, *arp;
	size_t n;

	(void)state;
	memset(gid, 0xa5, sizeof(gid));
	cw_ipoib_lla(sha, 0x48, gid);
	memset(gid, 0x5a, sizeof(gid));
	cw_ipoib_lla(tha, 0x777, gid);
	tha[0] = sha[0] = 0x80; /* must not get onto the wire */
	want = hex_block("0020 0800 14 04 0002 00000048 a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 0a010203"
			 "00000777 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a 0a040506",
			 &n);
	assert_int_equal(n, CW_SIZE_IPOIB_ARP);
	arp = exact_copy(want, n);
	memset(arp, 0xee, n);
	cw_ipoib_arp_build(arp, CW_ARP_REPLY, sha, spa, tha, tpa);
	assert_memory_equal(arp, want, n);
	assert_true(cw_ipoib_arp_valid(arp, n));
	assert_false(cw_ipoib_arp_valid(arp, n - 1));
	cw_ipoib_arp_set_htype(arp, 1);
	assert_false(cw_ipoib_arp_valid(arp, n));
	free(arp);
	free(want);
}

static void s8_interface_identifier_and_the_u_bit(void **state)
{
	static const uint8_t guid[8] = {0x00, 0x02, 0xc9, 3, 4, 5, 6, 7};
	static const uint8_t modified[8] = {0x02, 0x02, 0xc9, 3, 4, 5, 6, 7};
	uint8_t iid[8];

	(void)state;
	cw_ipoib_iid(iid, guid, false);
	assert_memory_equal(iid, modified, 8);
	cw_ipoib_iid(iid, modified, true);
	assert_memory_equal(iid, modified, 8);
	cw_ipoib_iid(iid, modified, false);
	assert_memory_equal(iid, guid, 8);
}

/* ---- Subnet administration ---------------------------------------------------------------- */

/* Each octet of each field is another one. */
static void ib_15_2_5_17_mcmember_fields(void **state)
{
	uint8_t r[CW_SIZE_MCMEMBER];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(r); i++)
		r[i] = (uint8_t)(i + 0x81);
	assert_int_equal(cw_mcmember_qkey(r), 0xa1a2a3a4);
	assert_int_equal(cw_mcmember_mlid(r), 0xa5a6);
	assert_int_equal(cw_mcmember_mtu_sel(r), 2);
	assert_int_equal(cw_mcmember_mtu(r), 0x27);
	assert_int_equal(cw_mcmember_tclass(r), 0xa8);
	assert_int_equal(cw_mcmember_pkey(r), 0xa9aa);
	assert_int_equal(cw_mcmember_rate(r), 0x2b);
	assert_int_equal(cw_mcmember_life(r), 0x2c);
	assert_int_equal(cw_mcmember_sl(r), 0xa);
	assert_int_equal(cw_mcmember_flow_label(r), 0xdaeaf);
	assert_int_equal(cw_mcmember_hop_limit(r), 0xb0);
	assert_int_equal(cw_mcmember_scope(r), 0xb);
	assert_int_equal(cw_mcmember_join_state(r), 0x1);
	assert_int_equal(cw_mcmember_proxy(r), 1);
}

/* GetTable: records stand attr_offset * 8 octets apart, as many as RMPP says. */
static void ib_13_6_2_table_of_records(void **state)
{
	uint8_t made[512], records[CW_SA_DATA_LEN] = {0};
	struct cw_packet p;
	struct cw_craft c;

	(void)state;
	cw_craft_init(&c, made, sizeof(made));
	(void)cw_craft_layer(&c, &cw_hdr_lrh, NULL, 0);
	(void)cw_craft_layer(&c, &cw_hdr_bth, NULL, 0);
	(void)cw_craft_field(&c, "dqpn", "1");
	(void)cw_craft_layer(&c, &cw_hdr_deth, NULL, 0);
	(void)cw_craft_layer(&c, &cw_hdr_mad, NULL, 0);
	(void)cw_craft_field(&c, "response", "1");
	(void)cw_craft_field(&c, "method", "0x12");
	(void)cw_craft_field(&c, "attribute", "MCMemberRecord");
	(void)cw_craft_layer(&c, &cw_hdr_rmpp, NULL, 0);
	(void)cw_craft_field(&c, "type", "1");
	(void)cw_craft_field(&c, "active", "1");
	(void)cw_craft_field(&c, "last", "1");
	(void)cw_craft_field(&c, "segment", "1");
	(void)cw_craft_field(&c, "length", "132"); /* 20 + 2 * 56 */
	(void)cw_craft_layer(&c, &cw_hdr_sa, NULL, 0);
	(void)cw_craft_field(&c, "attr_offset", "7");
	(void)cw_craft_payload(&c, records, sizeof(records));
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, c.len, NULL), CW_OK);
	assert_int_equal(p.nlayers, 8);
	assert_ptr_equal(p.layers[7].hdr, &cw_hdr_mcmember);
	assert_int_equal(p.layers[7].len, 56);
	assert_int_equal(p.payload_len, CW_SA_DATA_LEN - 2 * 56);
}

static void ib_15_sa_status_names(void **state)
{
	(void)state;
	assert_string_equal(cw_sa_status_name(0), "ok");
	assert_string_equal(cw_sa_status_name(CW_SA_INSUFFICIENT), "insufficient components");
	assert_string_equal(cw_sa_status_name(0x001c), "bad version, method or attribute");
	assert_string_equal(cw_sa_status_name(0xff00), "unknown status");
}

/* ---- Subnet management --------------------------------------------------------------------- */

static void ib_14_2_5_6_portinfo_fields(void **state)
{
	uint8_t r[CW_SIZE_PORTINFO];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(r); i++)
		r[i] = (uint8_t)(i + 0x81);
	assert_true(cw_portinfo_mkey(r) == 0x8182838485868788);
	assert_true(cw_portinfo_gid_prefix(r) == 0x898a8b8c8d8e8f90);
	assert_int_equal(cw_portinfo_lid(r), 0x9192);
	assert_int_equal(cw_portinfo_sm_lid(r), 0x9394);
	assert_int_equal(cw_portinfo_cap_mask(r), 0x95969798);
	assert_int_equal(cw_portinfo_width_active(r), 0xa0);
	assert_int_equal(cw_portinfo_speed_supported(r), 0xa);
	assert_int_equal(cw_portinfo_state(r), 1);
	assert_int_equal(cw_portinfo_phys_state(r), 0xa);
	assert_int_equal(cw_portinfo_lmc(r), 3);
	assert_int_equal(cw_portinfo_neighbour_mtu(r), 0xa);
	assert_int_equal(cw_portinfo_sm_sl(r), 5);
	assert_int_equal(cw_portinfo_mtu_cap(r), 0xa);
	assert_int_equal(cw_portinfo_pkey_violations(r), 0xafb0);
	assert_int_equal(cw_portinfo_reregister(r), 1);
	assert_int_equal(cw_portinfo_pkey_traps(r), 1);
	assert_int_equal(cw_portinfo_subnet_timeout(r), 0x14);
	assert_int_equal(cw_portinfo_credit_hint(r), 0xb7b8);
	assert_int_equal(cw_portinfo_round_trip(r), 0xbabbbc);
	/* tshark 4.0 ends in front of these. */
	assert_int_equal(cw_portinfo_cap_mask2(r), 0xbdbe);
	assert_int_equal(cw_portinfo_ext_speed_active(r), 0xb);
	assert_int_equal(cw_portinfo_ext_speed_supported(r), 0xf);
	assert_int_equal(cw_portinfo_ext_speed_enabled(r), 0);
}

/* A packet to QP0 with `smp` in front of PortInfo; its length. */
static size_t smp_packet(uint8_t *made, size_t size, const struct cw_hdr *smp, const char *field,
			 const char *text)
{
	static const uint8_t rest[128];
	struct cw_craft c;

	cw_craft_init(&c, made, size);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_lrh, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_bth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, "dqpn", "0"), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_deth, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_layer(&c, smp, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_field(&c, field, text), CW_OK);
	assert_int_equal(cw_craft_layer(&c, &cw_hdr_portinfo, NULL, 0), CW_OK);
	assert_int_equal(cw_craft_payload(&c, rest, sizeof(rest)), CW_OK);
	assert_int_equal(cw_craft_finish(&c, NULL, 0), CW_OK);
	return c.len;
}

static void ib_14_2_1_routes_of_smps(void **state)
{
	uint8_t made[512];
	struct cw_packet p;
	size_t n;

	(void)state;
	n = smp_packet(made, sizeof(made), &cw_hdr_smp, "tid", "7");
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, n, NULL), CW_OK);
	assert_int_equal(p.nlayers, 5);
	assert_ptr_equal(p.layers[3].hdr, &cw_hdr_smp);
	assert_int_equal(cw_smp_attribute(made + p.layers[3].off), CW_SMP_PORT_INFO);
	assert_ptr_equal(p.layers[4].hdr, &cw_hdr_portinfo);
	assert_int_equal(p.payload_len, 128);
	n = smp_packet(made, sizeof(made), &cw_hdr_smp_dr, "hop_count", "2");
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, n, NULL), CW_OK);
	assert_int_equal(p.nlayers, 6);
	assert_ptr_equal(p.layers[3].hdr, &cw_hdr_smp_dr);
	assert_ptr_equal(p.layers[4].hdr, &cw_hdr_portinfo);
	assert_ptr_equal(p.layers[5].hdr, &cw_hdr_smp_path);
	assert_int_equal(p.payload_len, 0);
}

static void ib_14_2_what_is_no_smp(void **state)
{
	uint8_t made[512], *cut;
	struct cw_packet p;
	size_t n, i;

	(void)state;
	n = smp_packet(made, sizeof(made), &cw_hdr_smp, "attribute", "NodeInfo");
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, n, NULL), CW_OK);
	assert_ptr_equal(p.layers[4].hdr, &cw_hdr_smp_data);
	for (i = 0; i < n; i++) {
		cut = exact_copy(made, i);
		assert_int_not_equal(cw_dissect(&p, CW_LINK_IB, cut, i, NULL), CW_OK);
		free(cut);
	}
	n = smp_packet(made, sizeof(made), &cw_hdr_smp, "mgmt_class", "3");
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, n, NULL), CW_E_RESERVED);
	n = smp_packet(made, sizeof(made), &cw_hdr_smp, "base_version", "2");
	assert_int_equal(cw_dissect(&p, CW_LINK_IB, made, n, NULL), CW_E_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ib_7_8_icrc_and_vcrc_of_the_sample),
		cmocka_unit_test(ib_8_3_what_the_icrc_leaves_out),
		cmocka_unit_test(s6_frame_of_a_kernel),
		cmocka_unit_test(s6_reserved_is_ignored_when_received),
		cmocka_unit_test(every_prefix_is_an_error),
		cmocka_unit_test(craft_makes_the_kernels_frame),
		cmocka_unit_test(craft_pads_behind_the_datagram),
		cmocka_unit_test(s4_mgid_both_ways),
		cmocka_unit_test(s4_t_flag_signature_and_full_pkey),
		cmocka_unit_test(s9_1_1_link_layer_address),
		cmocka_unit_test(s9_2_arp_hardware_type_32),
		cmocka_unit_test(s8_interface_identifier_and_the_u_bit),
		cmocka_unit_test(ib_15_2_5_17_mcmember_fields),
		cmocka_unit_test(ib_13_6_2_table_of_records),
		cmocka_unit_test(ib_14_2_5_6_portinfo_fields),
		cmocka_unit_test(ib_14_2_1_routes_of_smps),
		cmocka_unit_test(ib_14_2_what_is_no_smp),
		cmocka_unit_test(ib_15_sa_status_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
