/* Bursts decide nothing by themselves: whatever they take, the two steps take with the same octets,
 * length and events; whatever the two steps refuse, for any reason, they leave alone.
 */
#include "lib/ub2e/ordinary.h"
#include "tests/unit/ub2e_random.h"

#define BURSTS 24000

/* ---- One packet, both ways --------------------------------------------------------------------
 */

struct knobs {
	struct cw_ub2e *u;
	struct cw_npi_filter in, out; /* none of a length of 0 */
	bool ub;                      /* from the UB side */
};

/* The burst's, and the two steps'. */
struct twin {
	struct shot burst, steps;
	struct cw_stripped_tag tag;
	struct cw_ub2e_hop hop;
	struct cw_ub2e_adj adj;
	bool offered;
};

static void draw_hop(struct twin *t, const struct knobs *k)
{
	t->hop = *(one_of(k->ub, !k->ub, 16) ? hop_eth() : hop_ub());
	t->hop.bare = rnd() % 8 == 0;
	t->hop.mtu = one_of(one_of(0, 9000, 2), rnd() % 200, 4);
	t->hop.outer_vid = (uint16_t)one_of(0, 7, 8);
	t->hop.filter = &k->out;
	cw_ub2e_adj_init(&t->adj, &t->hop);
}

static void load(struct twin *t, const struct knobs *k, struct cw_ub2e_job *job)
{
	static uint8_t pkt[PK_MAX];
	uint32_t n = packet(k->ub, pkt);

	t->tag = (struct cw_stripped_tag){rnd() % 4 == 0, (uint16_t)rnd(), 0x8100};
	draw_hop(t, k);
	shot_load(&t->burst, pkt, n, 10);
	shot_load(&t->steps, pkt, n, 10);
	t->offered = rnd() % 16 != 0;
	job->start = t->burst.in;
	job->len = n;
	job->tag = t->tag.stripped ? CW_UB2E_TAG_STRIPPED | t->tag.tci : 0;
	job->adj = t->offered ? &t->adj : &cw_ub2e_adj_none;
	job->notes = 0xbad;
}

static void two_steps(struct twin *t, const struct knobs *k)
{
	struct shot *s = &t->steps;

	s->drop = k->ub ? cw_ub2e_from_ub(k->u, &k->in, s->in, s->in_len, &s->v)
			: cw_ub2e_from_eth(k->u, &k->in, s->in, s->in_len, &t->tag, &s->v);
	shot_write(s, k->u, &t->hop);
}

static void compare(const struct twin *t, const struct cw_ub2e_job *job, bool done)
{
	uint32_t front = CW_UB2E_HEADROOM - 10;

	if (!done) {
		assert_ptr_equal(job->start, t->burst.in);
		assert_int_equal(job->len, t->burst.in_len);
		return;
	}
	assert_true(t->offered);
	assert_drop(t->steps.drop, CW_PASS);
	assert_int_equal(job->start - t->burst.block, t->steps.out - t->steps.block);
	assert_int_equal(job->len, t->steps.out_len);
	assert_int_equal(job->notes, t->steps.v.notes);
	assert_int_equal(t->steps.v.outer_vid,
			 0); /* it is the caller's to check, for which it has no view */
	assert_memory_equal(t->burst.block, t->steps.block, front + t->burst.in_len);
}

/* ---- Bursts ------------------------------------------------------------------------------------
 */

static unsigned taken[2][2]; /* by side, by IP version */
static bool refused[2][CW_DROP_COUNT];

static void count(const struct twin *t, const struct knobs *k, bool done)
{
	if (done)
		taken[k->ub][t->steps.v.version == 6]++;
	if (t->offered)
		refused[k->ub][t->steps.drop] = true;
}

static void run_burst(const struct knobs *k)
{
	static struct twin twins[CW_UB2E_BURST];
	struct cw_ub2e_job jobs[CW_UB2E_BURST];
	unsigned i, n = 1 + rnd() % (rnd() % 8 != 0 ? 8 : CW_UB2E_BURST);
	uint8_t *before;
	uint64_t done;

	for (i = 0; i < n; i++)
		load(&twins[i], k, &jobs[i]);
	done = k->ub ? cw_ub2e_burst_to_eth(k->u, &k->in, jobs, n)
		     : cw_ub2e_burst_to_ub(k->u, &k->in, jobs, n);
	assert_int_equal(n < 64 ? done >> n : 0, 0);
	for (i = 0; i < n; i++) {
		before = twins[i].steps.in;
		if ((done >> i & 1) == 0 && twins[i].burst.in_len > 0)
			assert_memory_equal(twins[i].burst.in, before, twins[i].burst.in_len);
		two_steps(&twins[i], k);
		compare(&twins[i], &jobs[i], done >> i & 1);
		count(&twins[i], k, done >> i & 1);
		free(twins[i].burst.block);
		free(twins[i].steps.block);
	}
}

static void bursts_do_what_the_steps_do(void **state)
{
	static const uint32_t partitions[] = {0x801234, 0x456};
	static uint32_t ids[2000];
	struct cw_ub2e_settings s;
	struct cw_diag diag;
	struct knobs k;
	unsigned i, j;

	(void)state;
	for (i = 0; i < 2000; i++)
		ids[i] = 2 * i + 1;
	for (i = 0; i < 30; i++) {
		draw_settings(&s, i);
		assert_int_equal(cw_ub2e_new(&k.u, &s, partitions, 2, &diag), CW_OK);
		k.in = (struct cw_npi_filter){ids, i % 4 == 2 ? i % 8 == 2 ? 2000 : 1 : 0};
		k.out = (struct cw_npi_filter){ids, i % 8 == 5 ? i % 16 == 5 ? 2000 : 1 : 0};
		for (j = 0; j < BURSTS / 30; j++) {
			k.ub = j & 1;
			run_burst(&k);
		}
		cw_ub2e_free(k.u);
	}
	/* They were taken, of every kind, and beside them stood packets of every fault. */
	for (i = 0; i < 4; i++)
		assert_in_range(taken[i / 2][i % 2], BURSTS / 20, BURSTS * 5);
}

/* Every reason of the converter itself was among the packets that were left alone. */
static void every_reason_was_there(void **state)
{
	static const enum cw_drop both[] = {
		CW_DROP_SHORT,       CW_DROP_IP_VERSION,   CW_DROP_IP_IHL,       CW_DROP_IP_LENGTH,
		CW_DROP_IP_FRAGMENT, CW_DROP_IP_EXTENSION, CW_DROP_IP_CHECKSUM,  CW_DROP_IP_ADDRESS,
		CW_DROP_TTL,         CW_DROP_UDP_LENGTH,   CW_DROP_UDP_CHECKSUM, CW_DROP_TP_OPCODE,
		CW_DROP_TP_VERSION,  CW_DROP_TP_NLP,       CW_DROP_TP_LENGTH,    CW_DROP_ICRC,
		CW_DROP_PLAIN_IP,    CW_DROP_NPI_FILTER,   CW_DROP_MTU,
	};
	static const enum cw_drop ub[] = {
		CW_DROP_UB_LENGTH, CW_DROP_NPI_ZERO,   CW_DROP_CCI_MODE, CW_DROP_NPI_UNMAPPED,
		CW_DROP_UB_CFG,    CW_DROP_UB_CONTROL, CW_DROP_UB_CTP,   CW_DROP_UB_NETCTRL};
	static const enum cw_drop eth[] = {CW_DROP_VLAN_DEPTH, CW_DROP_VLAN_UNMAPPED,
					   CW_DROP_ETHERTYPE, CW_DROP_SAME_DOMAIN};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		if (!refused[0][both[i]] || !refused[1][both[i]])
			fail_msg("no packet with %s", cw_drop_name(both[i]));
	}
	for (i = 0; i < sizeof(ub) / sizeof(ub[0]); i++) {
		if (!refused[1][ub[i]])
			fail_msg("no packet with %s from UB", cw_drop_name(ub[i]));
	}
	for (i = 0; i < sizeof(eth) / sizeof(eth[0]); i++) {
		if (!refused[0][eth[i]])
			fail_msg("no packet with %s from Ethernet", cw_drop_name(eth[i]));
	}
}

/* Whatever its id, addresses, ports and marks are, an ordinary packet is taken: for speed, not for
 * what becomes of it. */
static void ordinary_ones_are_taken(void **state)
{
	static uint8_t pkt[PK_MAX];
	struct cw_ub2e_hop to_ub = *hop_ub();
	struct cw_ub2e *u = rules(NULL);
	unsigned i, version, ub;
	struct cw_ub2e_adj adj;
	struct cw_ub2e_job job;
	struct shot s;
	struct pk *k;

	(void)state;
	to_ub.bare = false;
	for (i = 0; i < 8000; i++) {
		version = i & 1 ? 4 : 6;
		ub = i >> 1 & 1;
		k = pk_new(version);
		k->id = (uint16_t)rnd();
		k->tos = (uint8_t)rnd();
		k->ttl = (uint8_t)(2 + rnd() % 254);
		k->src[0] = k->dst[0] =
			(uint8_t)(rnd() % 2 != 0 ? 32 + rnd() % 95 : 170 + rnd() % 54);
		k->src[version - 1] = (uint8_t)rnd();
		k->src[version - 2] = (uint8_t)(254 + rnd() % 2); /* words add up to a carry */
		k->dst[version - 1] = (uint8_t)rnd();
		k->cci = (uint16_t)(0x8000 | (rnd() & 0xfff));
		k->npi = (rnd() & 0xfff000) | (1 + rnd() % 4094);
		k->ntags = 1;
		k->tci[0] = (uint16_t)((k->npi & 0xfff) | (rnd() & 0xf000));
		cw_ub2e_adj_init(&adj, ub ? hop_eth() : &to_ub);
		shot_load(&s, pkt, ub ? pk_ub(k, pkt) : pk_eth(k, pkt), 10);
		job = (struct cw_ub2e_job){.start = s.in, .len = s.in_len, .adj = &adj};
		assert_int_equal(ub ? cw_ub2e_burst_to_eth(u, NULL, &job, 1)
				    : cw_ub2e_burst_to_ub(u, NULL, &job, 1),
				 1);
		free(s.block);
		free(k);
	}
	cw_ub2e_free(u);
}

/* An IPv4 length below the header's, and the UDP length that follows from it modulo 2^16; IPv6 with
 * less than UDP and a transport header, and no octet more. */
static void length_below_the_header(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	struct pk *k = pk_new(4);
	struct cw_ub2e_job job = {0};
	struct cw_ub2e_adj adj;
	uint8_t pkt[512];
	unsigned len;

	(void)state;
	cw_ub2e_adj_init(&adj, hop_eth());
	for (len = 0; len < 28; len++) {
		job = (struct cw_ub2e_job){.start = pkt, .len = pk_ub(k, pkt), .adj = &adj};
		be16_put(pkt + 12, len);
		be16_put(pkt + 34, len - 20);
		be16_put(pkt + 20, ip4_csum(pkt + 10));
		assert_int_equal(cw_ub2e_burst_to_eth(u, NULL, &job, 1), 0);
	}
	free(k);
	k = pk_new(6);
	for (len = 0; len < 28; len++) {
		uint8_t *cut;

		(void)pk_ub(k, pkt);
		be16_put(pkt + 14, len);
		cut = exact_copy(pkt, 10 + (len < 8 ? 48 : 40 + len));
		job = (struct cw_ub2e_job){
			.start = cut, .len = 10 + (len < 8 ? 48 : 40 + len), .adj = &adj};
		assert_int_equal(cw_ub2e_burst_to_eth(u, NULL, &job, 1), 0);
		free(cut);
	}
	free(k);
	cw_ub2e_free(u);
}

/* PLENGTH of every length, as the encoder has it. */
static void plength_table(void **state)
{
	struct cw_ub2e *u = rules(NULL);
	uint16_t want;
	uint32_t i;

	(void)state;
	for (i = 20; i <= UB2E_IP_MAX; i++) {
		assert_int_equal(cw_plength_encode(CW_PLENGTH_CRC, 6 + i, &want), CW_OK);
		assert_int_equal(cw_be64((const uint8_t *)&u->front[i]),
				 0x88b6ull << 48 | 3ull << 32 | (uint64_t)want << 16 | 0x8000);
	}
	assert_true(cw_plength_encode(CW_PLENGTH_CRC, 6 + UB2E_IP_MAX + 1, &want) < 0);
	assert_int_equal(u->front[0], 0);
	cw_ub2e_free(u);
}

/* The NPI that the low 12 bits alone lead to is one that has their VLAN. */
static void npi_table(void **state)
{
	static const uint32_t partitions[] = {0x801234, 0x456};
	struct cw_ub2e_settings s;
	struct cw_diag diag;
	struct cw_ub2e *u;
	unsigned i, j, direct = 0;
	uint32_t npi, tag;
	uint8_t octets[4];

	(void)state;
	for (i = 0; i < 30; i++) {
		draw_settings(&s, i);
		assert_int_equal(cw_ub2e_new(&u, &s, partitions, 2, &diag), CW_OK);
		for (j = 0; j < 20000; j++) {
			npi = j < 8192 ? j : rnd() & 0x1ffffff;
			if (j % 3 == 0)
				npi = one_of(0x800000, 0x1000, 2) + (npi & 0xfff);
			if (u->direct[npi & 0xfff].npi != UB2E_WIRE32(npi))
				continue;
			assert_int_equal(cw_be32((const uint8_t *)&u->direct[npi & 0xfff].tag),
					 (npi & 0xfff) << 16 | 0x800);
			assert_int_equal(npi & CW_NPI_PERM, 0);
			assert_int_equal(cw_ub2e_npi_to_vid(u, npi), npi & 0xfff);
			cw_put_be32(octets, npi);
			assert_true(ub2e_tag_of(u, octets, true, &tag));
			direct++;
		}
		cw_ub2e_free(u);
	}
	assert_in_range(direct, 30 * 500, 30 * 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_do_what_the_steps_do),
		cmocka_unit_test(every_reason_was_there),
		cmocka_unit_test(ordinary_ones_are_taken),
		cmocka_unit_test(length_below_the_header),
		cmocka_unit_test(plength_table),
		cmocka_unit_test(npi_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
