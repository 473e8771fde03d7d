/* Hostile input to the converter: cut, damaged and random. A drop leaves every octet as it was; a
 * pass writes only in front of TPH and within the promised headroom.
 */
#include "tests/unit/ub2e.h"

static uint64_t rng = 0x2545f4914f6cdd1du;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 16);
}

/* Everything that reads deep is turned on. */
static struct cw_ub2e *suspicious(void)
{
	struct cw_ub2e_settings set;

	cw_ub2e_settings_init(&set);
	set.icrc_check_ub = set.icrc_check_eth = CW_ICRC_CHECK_COUNT;
	set.udp_verify = true;
	return rules(&set);
}

static enum cw_drop check(const struct cw_ub2e *u, bool ub, uint8_t *p, uint32_t n,
			  struct cw_ub2e_view *v)
{
	return ub ? cw_ub2e_from_ub(u, NULL, p, n, v) : cw_ub2e_from_eth(u, NULL, p, n, NULL, v);
}

/* The check in a block of exactly the packet's size: it must not read on, nor write at all. */
static enum cw_drop check_exact(const struct cw_ub2e *u, bool ub, const uint8_t *pkt, uint32_t n)
{
	uint8_t *copy = exact_copy(pkt, n);
	struct cw_ub2e_view v;
	enum cw_drop d = check(u, ub, copy, n, &v);

	assert_true(d >= CW_PASS && d < CW_DROP_COUNT);
	assert_memory_equal(copy, pkt, n > 0 ? n : 0);
	free(copy);
	return d;
}

static void every_prefix_of(const struct cw_ub2e *u, struct pk *k)
{
	static uint8_t pkt[PK_MAX];
	unsigned ub;
	uint32_t n, cut;

	k->udp_csum = true;
	for (ub = 0; ub < 2; ub++) {
		n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);
		assert_drop(check_exact(u, ub, pkt, n), CW_PASS);
		for (cut = 0; cut < n; cut++) {
			enum cw_drop d = check_exact(u, ub, pkt, cut);

			if (d != CW_DROP_SHORT && d != CW_DROP_IP_LENGTH)
				fail_msg("cut to %u of %u: %s", cut, n, cw_drop_name(d));
		}
	}
}

static void truncated(void **state)
{
	struct cw_ub2e *u = suspicious();
	unsigned version, kind;

	(void)state;
	for (version = 4; version <= 6; version += 2) {
		for (kind = 0; kind < 5; kind++) {
			struct pk *k = pk_new(version);

			k->ntags = kind % 3;
			k->tpid[0] = k->tpid[1] = 0x8100;
			k->tci[0] = k->tci[1] = 5;
			k->plain = kind == 1;
			k->proto = kind == 1 ? 6 : 17;
			k->dport = kind == 2 ? 53 : 4792;
			if (kind == 3) { /* TPSACK-CC, 64 bits */
				k->body[0] = 6;
				k->body[24] = 0;
				k->body_len = 16 + 8 + 4 + 8;
			}
			every_prefix_of(u, k);
			free(k);
		}
	}
	cw_ub2e_free(u);
}

/* The same cuts, but IP and UDP lengths go along: the cut is inside the transport. */
static void truncated_transport(void **state)
{
	static const uint8_t ops[] = {0, 1, 2, 3, 5, 6, 8};
	struct cw_ub2e *u = suspicious();
	struct pk *k = pk_new(4);
	static uint8_t pkt[PK_MAX];
	unsigned i, ub;

	(void)state;
	k->plain = true; /* no ICRC of its own: every length is made */
	for (i = 0; i < sizeof(ops); i++) {
		memset(k->body, 0xff, 256);
		k->body[0] = ops[i];
		k->body[1] = 0x31;
		k->body[16] = k->body[24] = 0xfc; /* 1024-bit bitmap */
		for (k->body_len = 0; k->body_len < 200; k->body_len++) {
			for (ub = 0; ub < 2; ub++) {
				uint32_t n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);
				enum cw_drop d = check_exact(u, ub, pkt, n);

				if (d != CW_PASS)
					assert_drop(d, CW_DROP_TP_LENGTH);
				if (k->body_len < 20)
					assert_drop(d, CW_DROP_TP_LENGTH);
			}
		}
	}
	free(k);
	cw_ub2e_free(u);
}

#define CANARY 32

/* Check and write in a block with headroom and canaries around; see what was touched. */
static void cross(const struct cw_ub2e *u, bool ub, const uint8_t *pkt, uint32_t n,
		  const struct cw_ub2e_hop *hop)
{
	uint32_t size = CANARY + CW_UB2E_HEADROOM + n + CANARY, out_len, i, low, high;
	uint8_t *was = malloc(size), *is = malloc(size), *start;
	struct cw_ub2e_view v;
	enum cw_drop d;

	memset(was, 0xdd, size);
	memcpy(was + CANARY + CW_UB2E_HEADROOM, pkt, n);
	memcpy(is, was, size);
	d = check(u, ub, is + CANARY + CW_UB2E_HEADROOM, n, &v);
	if (d == CW_PASS)
		d = cw_ub2e_write(u, &v, hop, &start, &out_len);
	if (d != CW_PASS) {
		assert_memory_equal(is, was, size);
	} else {
		low = (uint32_t)(v.ip - is) - CW_UB2E_HEADROOM;
		high = (uint32_t)(v.ip - is) + (v.version == 4 ? 20 : 40) + (v.plain ? 0 : 8);
		assert_true(start >= is + low && start < v.ip);
		assert_true(start + out_len == v.ip + v.ip_len);
		assert_true(v.ip + v.ip_len <= is + CANARY + CW_UB2E_HEADROOM + n);
		for (i = 0; i < size; i++) {
			if ((i < low || i >= high) && was[i] != is[i])
				fail_msg("octet %u outside the headers was written", i);
		}
	}
	free(was);
	free(is);
}

static void cross_everywhere(const struct cw_ub2e *u, bool ub, const uint8_t *pkt, uint32_t n)
{
	struct cw_ub2e_hop hop = *hop_ub();

	cross(u, ub, pkt, n, &hop);
	hop.bare = false;
	hop.mtu = 1500;
	cross(u, ub, pkt, n, &hop);
	hop = *hop_eth();
	hop.outer_vid = rnd() % 2 ? 7 : 0;
	cross(u, ub, pkt, n, &hop);
}

static void random_octets_in(void **state)
{
	struct cw_ub2e *u = suspicious();
	uint8_t pkt[256];
	unsigned i, j;

	(void)state;
	for (i = 0; i < 30000; i++) {
		uint32_t n = rnd() % sizeof(pkt);

		for (j = 0; j < n; j++)
			pkt[j] = (uint8_t)rnd();
		if (n > 18 && i % 2) { /* some way in */
			pkt[1] = (uint8_t)(3 + i / 2 % 2);
			pkt[10] = i / 2 % 2 ? 0x60 : 0x45;
			be16_put(pkt + 12, i / 4 % 2 ? 0x0800 : 0x86dd);
			pkt[14] = i / 4 % 2 ? 0x45 : 0x60;
		}
		cross_everywhere(u, i & 1, pkt, n);
	}
	cw_ub2e_free(u);
}

/* Valid packets with a few octets changed, the header checksum mostly put right again. */
static void damaged(void **state)
{
	struct cw_ub2e *u = suspicious();
	static uint8_t pkt[PK_MAX];
	unsigned i, j, passed = 0;

	(void)state;
	for (i = 0; i < 30000; i++) {
		struct pk *k = pk_new(i & 1 ? 4 : 6);
		bool ub = i >> 1 & 1;
		uint32_t off, n;

		k->ntags = ub ? 0 : i >> 2 & 1;
		k->pad = rnd() % 8;
		off = ub ? 10 : 14 + 4 * k->ntags;
		n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);
		for (j = rnd() % 4; j > 0; j--)
			pkt[rnd() % 80] = (uint8_t)rnd();
		if (i & 1 && rnd() % 4)
			be16_put(pkt + off + 10, ip4_csum(pkt + off));
		if (rnd() % 16 == 0)
			n = rnd() % n;
		cross_everywhere(u, ub, pkt, n);
		passed += check_exact(u, ub, pkt, n) == CW_PASS;
		free(k);
	}
	assert_in_range(passed, 3000, 27000); /* the test reaches both ends */
	cw_ub2e_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated),
		cmocka_unit_test(truncated_transport),
		cmocka_unit_test(random_octets_in),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
