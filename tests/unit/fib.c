/* fib: the tables of daemon/control/fib.c against a search through the list of prefixes. */
#include <rte_eal.h>
#include "daemon/control/fib.h"
#include "tests/unit/test.h"

#define NO_HOP UINT32_MAX
enum { PREFIXES = 3000, LOOKUPS = 60000 };

static uint32_t seed = 1;

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Few values of each octet, so that prefixes lie in each other. */
static void some_address(uint8_t *a)
{
	unsigned i;

	for (i = 0; i < 16; i++)
		a[i] = (uint8_t)(chance(3) == 0 ? chance(256) : 0x80 * chance(2));
}

static bool covers(const struct cw_ip_addr *p, const uint8_t *a)
{
	unsigned i;

	for (i = 0; i < p->plen; i++) {
		if (((p->a[i / 8] ^ a[i / 8]) & 0x80 >> i % 8) != 0)
			return false;
	}
	return true;
}

/* The longest prefix; of equal ones the last. */
static uint32_t search(const struct cw_ip_addr *p, unsigned n, uint8_t version, const uint8_t *a)
{
	uint32_t best = NO_HOP;
	int plen = -1;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (p[i].version == version && p[i].plen >= plen && covers(&p[i], a)) {
			best = i;
			plen = p[i].plen;
		}
	}
	return best;
}

static uint32_t lookup(const struct cw_fib *f, uint8_t version, const uint8_t *a)
{
	uint32_t hop, x4[4];
	xmm_t dst;

	if (version == 6)
		return f->v6 != NULL && rte_lpm6_lookup(f->v6, a, &hop) == 0 ? hop : NO_HOP;
	if (f->v4 == NULL)
		return NO_HOP;
	hop = cw_be32(a);
	memcpy(&dst, (uint32_t[]){hop, hop ^ 1, hop ^ 0x100, hop}, sizeof(dst));
	if (rte_lpm_lookup(f->v4, cw_be32(a), &hop) != 0)
		hop = NO_HOP;
	rte_lpm_lookupx4(f->v4, dst, x4, NO_HOP);
	assert_int_equal(x4[0], hop);
	assert_int_equal(x4[3], hop);
	return hop;
}

static struct cw_fib *table(const struct cw_ip_addr *p, unsigned n, struct cw_fib *old)
{
	static uint64_t generation;
	uint32_t *hop = calloc(n + 1, sizeof(*hop));
	struct cw_fib *f = NULL;
	unsigned i;

	for (i = 0; i < n; i++)
		hop[i] = i;
	assert_int_equal(cw_fib_get(&f, old, p, hop, n, ++generation), CW_OK);
	free(hop);
	return f;
}

/* Addresses at random and at the edges of prefixes. */
static void compare(const struct cw_fib *f, const struct cw_ip_addr *p, unsigned n)
{
	uint8_t a[16];
	unsigned i, found = 0;

	for (i = 0; i < LOOKUPS; i++) {
		const struct cw_ip_addr *near = &p[chance(n)];
		uint8_t version = chance(2) == 0 ? 4 : 6;

		some_address(a);
		if (i % 2 == 0)
			memcpy(a, near->a, 16);
		if (i % 8 == 2)
			a[chance(16)] ^= (uint8_t)(1u << chance(8));
		found += lookup(f, version, a) != NO_HOP;
		assert_int_equal(lookup(f, version, a), search(p, n, version, a));
	}
	assert_true(found > LOOKUPS / 20);
}

static void s3_the_longest_of_overlapping_prefixes(void **state)
{
	static struct cw_ip_addr p[PREFIXES];
	unsigned i, b;
	struct cw_fib *f;

	(void)state;
	for (i = 0; i < PREFIXES; i++) {
		p[i] = (struct cw_ip_addr){.version = i % 2 == 0 ? 4 : 6};
		p[i].plen = (uint8_t)(5 + chance(p[i].version == 4 ? 28 : 124));
		some_address(p[i].a);
		for (b = p[i].plen; b < 128; b++)
			p[i].a[b / 8] &= (uint8_t) ~(0x80 >> b % 8);
	}
	f = table(p, PREFIXES, NULL);
	compare(f, p, PREFIXES);
	cw_fib_put(f);
}

static void s3_default_routes_and_halves(void **state)
{
	static const struct cw_ip_addr p[] = {
		{.version = 4, .plen = 1, .a = {0x80}},
		{.version = 4},
		{.version = 6, .plen = 1},
		{.version = 6},
		{.version = 4, .plen = 32, .a = {9}},
		{.version = 4, .plen = 25, .a = {9}},
	};
	struct cw_fib *f = table(p, 6, NULL);

	(void)state;
	compare(f, p, 6);
	cw_fib_put(f);
}

static void no_route_of_a_family(void **state)
{
	static const struct cw_ip_addr p = {.version = 6};
	struct cw_fib *f = table(&p, 1, NULL), *same = table(&p, 1, f), *none = table(&p, 0, f);

	(void)state;
	assert_ptr_equal(f, same);
	assert_int_equal(lookup(f, 4, p.a), NO_HOP);
	assert_int_equal(lookup(f, 6, p.a), 0);
	assert_int_equal(lookup(none, 6, p.a), NO_HOP);
	cw_fib_put(none);
	cw_fib_put(same);
	assert_int_equal(lookup(f, 6, p.a), 0);
	cw_fib_put(f);
}

/* As many as a large fabric has, within the memory that is set aside for them. */
static void many_prefixes_are_little_work(void **state)
{
	enum { MANY = 200000 };
	struct cw_route_config *r = calloc(MANY, sizeof(*r));
	struct cw_ip_addr *p = calloc(MANY, sizeof(*p));
	struct cw_config conf = {.routes = r, .nroutes = MANY};
	struct cw_fib *f;
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		bool six = i % 2 != 0;

		p[i] = (struct cw_ip_addr){.version = six ? 6 : 4,
					   .plen = six          ? 64
						   : i % 4 == 0 ? 24
								: 32,
					   .a = {10, (uint8_t)(i >> 17), (uint8_t)(i >> 9),
						 (uint8_t)(i % 4 == 0 ? 0 : i >> 1)}};
		if (six)
			memcpy(p[i].a,
			       (uint8_t[]){0x20, 1, 0xd, 0xb8, 0, 0, (uint8_t)(i >> 9),
					   (uint8_t)(i >> 1)},
			       8);
		p[i].a[5] = six ? (uint8_t)(i >> 17) : 0;
		r[i].prefix = p[i];
	}
	assert_in_range(cw_fib_megabytes(&conf), 128, 170);
	f = table(p, MANY, NULL);
	assert_int_equal(lookup(f, 6, p[MANY - 1].a), MANY - 1);
	cw_fib_put(f);
	free(p);
	free(r);
}

int main(void)
{
	char *args[] = {"fib", "--no-huge", "--no-shconf", "--no-pci",    "--no-telemetry", "-m",
			"340", "-l",        "0",           "--log-level", "error"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s3_the_longest_of_overlapping_prefixes),
		cmocka_unit_test(s3_default_routes_and_halves),
		cmocka_unit_test(no_route_of_a_family),
		cmocka_unit_test(many_prefixes_are_little_work),
	};

	if (rte_eal_init(sizeof(args) / sizeof(args[0]), args) < 0)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
