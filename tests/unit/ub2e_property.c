/* Random valid packets across the gateway: from TPH to ICRC nothing changes, and of the headers in
 * front only the bits listed here (draft-li-uboe-00 4.2, 5).
 */
#include "tests/unit/ub2e.h"

#define PACKETS 6000

static uint64_t rng;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 16);
}

static uint32_t below(uint32_t n)
{
	return rnd() % n;
}

static void random_octets(uint8_t *p, size_t n)
{
	for (; n > 0; n--)
		*p++ = (uint8_t)rnd();
}

/* TPH and what the opcode demands, everything else random. Returns its length. */
static uint32_t random_transport(uint8_t *tp)
{
	static const uint8_t ops[] = {0, 1, 1, 1, 2, 3, 5, 6, 8};
	static const uint8_t nlps[] = {0, 1, 3};
	uint8_t op = ops[below(sizeof(ops))], nlp = nlps[below(3)];
	uint32_t size, pad = below(4), n = 16;

	random_octets(tp, 400);
	tp[0] = (uint8_t)((tp[0] & 0x80) | op);
	tp[1] = (uint8_t)(pad << 4 | (op < 2 ? nlp : below(16)));
	switch (op) {
	case 0:
	case 1:
		return n + (nlp == 1 ? 36 + 8 : nlp == 0 ? 8 : 0) + pad;
	case 3:
		return n + 8;
	case 8:
		return n + 16;
	case 2:
		return n;
	default:
		n += op == 6 ? 8 : 0;
		size = below(5);
		tp[n] = (uint8_t)((tp[n] & 0xf8) | size);
		return n + 4 + (8u << size);
	}
}

static uint32_t random_payload(void)
{
	switch (below(4)) {
	case 0:
		return below(64);
	case 1:
		return 4 * below(256);
	case 2:
		return below(1500);
	default:
		return below(9001);
	}
}

static void random_address(const struct pk *k, uint8_t *a)
{
	random_octets(a, 16);
	if (k->version == 4)
		a[0] = (uint8_t)(1 + below(126));
	else
		a[0] = (uint8_t)(0x20 | (a[0] & 0x1f));
}

static void random_packet(struct pk *k)
{
	memset(k, 0, sizeof(*k));
	k->version = below(2) ? 4 : 6;
	k->tos = (uint8_t)rnd();
	k->ttl = (uint8_t)(3 + below(253));
	k->proto = 17;
	k->id = (uint16_t)rnd();
	k->flags = below(8) ? 0x4000 : 0;
	k->flow = rnd() & 0xfffff;
	random_address(k, k->src);
	random_address(k, k->dst);
	k->sport = (uint16_t)rnd();
	k->dport = 4792;
	k->udp_csum = below(8) == 0;
	k->body_len = random_transport(k->body);
	if ((k->body[0] & 0x7f) < 2) {
		uint32_t more = random_payload();

		random_octets(k->body + k->body_len, more);
		k->body_len += more;
	}
	k->lph_top = rnd() & 0xfc;
	k->vl = (uint8_t)below(16);
	k->rt = (uint8_t)below(4);
	k->cfg = k->version == 4 ? 3 : 4;
	k->cci = (uint16_t)(0x8000 | (rnd() & 0x1fff));
	k->npi = (below(2) << 24) | below(0x1000) << 12 | (1 + below(4094));
	k->ntags = below(3);
	k->tpid[0] = k->ntags == 2 ? 0x88a8 : 0x8100;
	k->tpid[1] = 0x8100;
	k->tci[0] = (uint16_t)(below(16) << 12 | (1 + below(4094)));
	k->tci[1] = (uint16_t)(below(16) << 12 | (1 + below(4094)));
	k->pad = below(2) ? below(50) : 0;
}

/* The bits that may differ between the two IP packets, which are all of them: ToS or traffic class,
 * TTL or hop limit, IPv4 header checksum, UDP checksum. */
static void may_differ(uint8_t *mask, const uint8_t *ip)
{
	if (ip[0] >> 4 == 4) {
		mask[1] = 0xff;
		mask[8] = 0xff;
		mask[10] = mask[11] = 0xff;
		mask[26] = mask[27] = 0xff;
	} else {
		mask[0] = 0x0f;
		mask[1] = 0xf0;
		mask[7] = 0xff;
		mask[46] = mask[47] = 0xff;
	}
}

static void assert_same_packet(const uint8_t *was, const uint8_t *is, uint32_t len, unsigned hops)
{
	uint8_t mask[48] = {0};
	unsigned at = was[0] >> 4 == 4 ? 8 : 7, udp = was[0] >> 4 == 4 ? 26 : 46;
	uint32_t i;

	may_differ(mask, was);
	for (i = 0; i < len; i++) {
		if ((was[i] ^ is[i]) & ~(i < sizeof(mask) ? mask[i] : 0))
			fail_msg("octet %u of %u: 0x%02x became 0x%02x", i, len, was[i], is[i]);
	}
	assert_int_equal(is[at], was[at] - hops);
	assert_int_equal(be16_get(is + udp), 0);
	if (was[0] >> 4 == 4)
		assert_int_equal(be16_get(is + 10), ip4_csum(is));
	assert_true(icrc_ok(is, len));
}

static unsigned tos_of(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ip[1] : (be16_get(ip) >> 4 & 0xff);
}

/* UB -> Ethernet -> UB. */
static void round_trip_ub(const struct cw_ub2e *u, const struct pk *k, uint8_t *pkt)
{
	static const uint8_t ecn[4] = {0, 3, 2, 3}, fecn[4] = {0, 3, 2, 3};
	uint32_t n = pk_ub(k, pkt), ip_len = n - 10 - k->pad;
	struct shot a, b;

	shoot_ub_raw(&a, u, pkt, n, hop_eth());
	assert_drop(a.drop, CW_PASS);
	assert_int_equal(a.out_len, 18 + ip_len);
	assert_int_equal(be16_get(a.out + 14), k->npi & 0xfff);
	assert_same_packet(pkt + 10, a.out + 18, ip_len, 1);
	assert_int_equal(tos_of(a.out_ip), (k->tos & 0xfc) | ecn[k->cci & 3]);

	shoot_eth_raw(&b, u, a.out, a.out_len, 18, hop_ub());
	assert_drop(b.drop, CW_PASS);
	assert_int_equal(b.out_len, 10 + ip_len);
	assert_same_packet(pkt + 10, b.out + 10, ip_len, 2);
	assert_int_equal(b.out[1], k->cfg);
	assert_int_equal(be16_get(b.out + 2), 0x8000 | plength_of(b.out_len));
	assert_int_equal(be16_get(b.out + 4), 0x8000 | fecn[k->cci & 3]);
	assert_int_equal(be16_get(b.out + 6), 0);
	assert_int_equal(be16_get(b.out + 8), k->npi & 0xfff);
	free(a.block);
	free(b.block);
}

/* Ethernet -> UB -> Ethernet. */
static void round_trip_eth(const struct cw_ub2e *u, const struct pk *k, uint8_t *pkt)
{
	uint32_t l2 = 14 + 4 * k->ntags, n = pk_eth(k, pkt), ip_len = n - l2 - k->pad;
	unsigned vid = k->ntags > 0 ? k->tci[k->ntags - 1] & 0xfff : 1;
	struct shot a, b;

	shoot_eth_raw(&a, u, pkt, n, l2, hop_ub());
	assert_drop(a.drop, CW_PASS);
	assert_int_equal(a.out_len, 10 + ip_len);
	assert_same_packet(pkt + l2, a.out + 10, ip_len, 1);
	assert_int_equal(be16_get(a.out + 8), vid);

	shoot_ub_raw(&b, u, a.out, a.out_len, hop_eth());
	assert_drop(b.drop, CW_PASS);
	assert_same_packet(pkt + l2, b.out + 18, ip_len, 2);
	assert_int_equal(be16_get(b.out + 14), vid);
	/* ECT(1) comes back as ECT(0), all else as it was. */
	assert_int_equal(tos_of(b.out_ip), (k->tos & 3) == 1 ? k->tos + 1 : k->tos);
	free(a.block);
	free(b.block);
}

static void s5_random_packets_cross_unchanged(void **state)
{
	struct pk *k = malloc(sizeof(*k));
	uint8_t *pkt = malloc(PK_MAX);
	struct cw_ub2e *u = rules(NULL);
	unsigned i;

	(void)state;
	rng = 0x0123456789abcdefu;
	for (i = 0; i < PACKETS; i++) {
		random_packet(k);
		round_trip_ub(u, k, pkt);
		round_trip_eth(u, k, pkt);
	}
	free(k);
	free(pkt);
	cw_ub2e_free(u);
}

/* With a one-to-one mark map, no hop count and two VLANs a partition, everything that draft 5 can
 * carry comes back: only LoC, RT, VL and link bits are new. */
static void s5_dual_ended_strict_restores_all(void **state)
{
	struct cw_npi_entry *map = calloc(2000, sizeof(*map));
	struct pk *k = malloc(sizeof(*k));
	uint8_t *pkt = malloc(PK_MAX);
	struct cw_ub2e_settings set;
	struct cw_ub2e *u;
	unsigned i;

	(void)state;
	rng = 0xfedcba9876543210u;
	cw_ub2e_settings_init(&set);
	set.strict_ecn = true;
	set.ttl_decrement = false;
	set.npi_mode = CW_NPI_ENHANCED;
	for (i = 0; i < 2000; i++)
		map[i] = (struct cw_npi_entry){1 + i * 8191u, (uint16_t)(2 * i + 1),
					       (uint16_t)(2 * i + 2)};
	set.npi = map;
	set.nnpi = 2000;
	u = rules(&set);
	for (i = 0; i < PACKETS / 4; i++) {
		struct shot a, b;
		uint32_t n;

		random_packet(k);
		k->npi = map[below(2000)].id | below(2) << 24;
		k->cci &= 0x8003; /* LoC and reserved bits do not come back */
		k->tos &= 0xfc;   /* ECN bits are zero in the UB domain */
		k->rt = 2;
		k->vl = k->lph_top = 0;
		k->udp_csum = false;
		n = pk_ub(k, pkt) - k->pad;
		shoot_ub_raw(&a, u, pkt, n, hop_eth());
		assert_drop(a.drop, CW_PASS);
		shoot_eth_raw(&b, u, a.out, a.out_len, 18, hop_ub());
		assert_drop(b.drop, CW_PASS);
		assert_int_equal(b.out_len, n);
		assert_memory_equal(b.out, pkt, n);
		free(a.block);
		free(b.block);
	}
	free(map);
	free(k);
	free(pkt);
	cw_ub2e_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s5_random_packets_cross_unchanged),
		cmocka_unit_test(s5_dual_ended_strict_restores_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
