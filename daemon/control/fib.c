/* fib.c - longest-prefix match over rte_lpm and rte_lpm6. See fib.h. */
#include <stdlib.h>
#include <string.h>
#include "daemon/control/fib.h"

enum {
	SPARE = 16,           /* rules and groups beyond those counted */
	FIRST_LEVEL_MB = 128, /* both tables of 2^24 entries */
	GROUP_SIZE = 1024 + 32,
	RULE_SIZE = 256 /* of IPv6, in a hash table that is twice too large at worst */
};

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct cw_ip_addr *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x->version != y->version ? x->version - y->version : memcmp(x->a, y->a, 16);
}

/* Groups of 256 entries behind the first level that sorted prefixes of one version take: one for
 * each different beginning of 24, 32, 40 ... bits of prefixes that are longer. */
static unsigned count_groups(const struct cw_ip_addr *const *p, unsigned n)
{
	const struct cw_ip_addr *last[16] = {NULL};
	unsigned i, octets, groups = 0;

	for (i = 0; i < n; i++) {
		for (octets = 3; octets * 8 < p[i]->plen; octets++) {
			groups += last[octets] == NULL ||
				  memcmp(last[octets]->a, p[i]->a, octets) != 0;
			last[octets] = p[i];
		}
	}
	return groups;
}

struct sizes {
	unsigned n4, n6, groups4, groups6;
};

/* Sorts. */
static struct sizes measure(const struct cw_ip_addr **p, unsigned n)
{
	struct sizes s = {0};

	qsort(p, n, sizeof(const struct cw_ip_addr *), by_address);
	while (s.n4 < n && p[s.n4]->version == 4)
		s.n4++;
	s.n6 = n - s.n4;
	s.groups4 = count_groups(p, s.n4);
	s.groups6 = count_groups(p + s.n4, s.n6);
	return s;
}

unsigned cw_fib_megabytes(const struct cw_config *c)
{
	const struct cw_ip_addr **p = calloc(c->nroutes + 1, sizeof(const struct cw_ip_addr *));
	struct sizes s;
	uint64_t octets;
	unsigned i;

	if (p == NULL)
		return FIRST_LEVEL_MB;
	for (i = 0; i < c->nroutes; i++)
		p[i] = &c->routes[i].prefix;
	s = measure(p, c->nroutes);
	free(p);
	octets = ((uint64_t)s.groups4 + s.groups6) * GROUP_SIZE + (uint64_t)s.n6 * RULE_SIZE;
	return FIRST_LEVEL_MB + (unsigned)(octets >> 20) + 1;
}

static int measure_fib(const struct cw_fib *f, struct sizes *out)
{
	const struct cw_ip_addr **p = calloc(f->nprefix + 1, sizeof(const struct cw_ip_addr *));
	unsigned i;

	if (p == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < f->nprefix; i++)
		p[i] = &f->prefix[i];
	*out = measure(p, f->nprefix);
	free(p);
	return CW_OK;
}

static int create_tables(struct cw_fib *f, uint64_t generation)
{
	struct rte_lpm_config c4 = {.max_rules = 1}; /* none: see fill4() */
	struct rte_lpm6_config c6 = {0};
	char name[RTE_LPM_NAMESIZE];
	struct sizes s;
	int err = measure_fib(f, &s);

	if (err < 0)
		return err;
	if (s.n4 > 0) {
		c4.number_tbl8s = s.groups4 + SPARE;
		snprintf(name, sizeof(name), "fib4-%lu", (unsigned long)generation);
		if ((f->v4 = rte_lpm_create(name, SOCKET_ID_ANY, &c4)) == NULL)
			return CW_E_NOMEM;
	}
	if (s.n6 > 0) {
		c6.max_rules = s.n6 + SPARE;
		c6.number_tbl8s = s.groups6 + SPARE;
		snprintf(name, sizeof(name), "fib6-%lu", (unsigned long)generation);
		if ((f->v6 = rte_lpm6_create(name, SOCKET_ID_ANY, &c6)) == NULL)
			return CW_E_NOMEM;
	}
	return CW_OK;
}

/* ---- IPv4 ------------------------------------------------------------------------------------ */

/* rte_lpm_add() first looks for an equal prefix among all of the same length: 100,000 of them take
 * seconds, ten times as many minutes. The prefixes of a table never change, so its entries are
 * written here, those of shorter prefixes first. Lookups read neither `depth` nor the rules. */

static void write4(struct rte_lpm_tbl_entry *e, uint32_t n, struct rte_lpm_tbl_entry value)
{
	while (n-- > 0)
		*e++ = value;
}

/* The group behind an entry of the first level; a new one begins as what the entry was. */
static struct rte_lpm_tbl_entry *group_of(struct rte_lpm *t, struct rte_lpm_tbl_entry *e,
					  uint32_t *groups)
{
	struct rte_lpm_tbl_entry to = {
		.valid = 1, .valid_group = 1, .next_hop = *groups & 0xffffff};

	if (!e->valid_group) {
		write4(t->tbl8 + (size_t)*groups * RTE_LPM_TBL8_GROUP_NUM_ENTRIES,
		       RTE_LPM_TBL8_GROUP_NUM_ENTRIES, *e);
		*e = to;
		++*groups;
	}
	return t->tbl8 + (size_t)e->next_hop * RTE_LPM_TBL8_GROUP_NUM_ENTRIES;
}

static void add4(struct rte_lpm *t, const struct cw_ip_addr *p, uint32_t hop, uint32_t *groups)
{
	struct rte_lpm_tbl_entry value = {.valid = 1, .next_hop = hop & 0xffffff};
	uint32_t ip = p->plen > 0 ? cw_be32(p->a) & UINT32_MAX << (32 - p->plen) : 0;

	if (p->plen <= 24)
		write4(t->tbl24 + (ip >> 8), 1u << (24 - p->plen), value);
	else
		write4(group_of(t, t->tbl24 + (ip >> 8), groups) + (ip & 0xff),
		       1u << (32 - p->plen), value);
}

static void fill4(struct cw_fib *f)
{
	uint32_t groups = 0;
	unsigned i, plen;

	for (plen = 0; plen <= 32; plen++) {
		for (i = 0; i < f->nprefix; i++) {
			if (f->prefix[i].version == 4 && f->prefix[i].plen == plen)
				add4(f->v4, &f->prefix[i], f->hop[i], &groups);
		}
	}
}

/* ---- IPv6 ------------------------------------------------------------------------------------ */

/* The library has no depth 0: two halves. */
static int add6(struct rte_lpm6 *t, const struct cw_ip_addr *p, uint32_t value)
{
	uint8_t half[16] = {0};
	int rc;

	if (p->plen > 0)
		return rte_lpm6_add(t, p->a, p->plen, value);
	rc = rte_lpm6_add(t, half, 1, value);
	half[0] = 0x80;
	return rc | rte_lpm6_add(t, half, 1, value);
}

/* Default routes first, so that a real /1 replaces half of one. */
static int fill6(struct cw_fib *f)
{
	const struct cw_ip_addr *p;
	unsigned i, pass;
	int rc = 0;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < f->nprefix; i++) {
			p = &f->prefix[i];
			if (p->version == 6 && (p->plen == 0) == (pass == 0))
				rc |= add6(f->v6, p, f->hop[i]);
		}
	}
	return rc == 0 ? CW_OK : CW_E_NOMEM;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool same(const struct cw_fib *f, const struct cw_ip_addr *prefix, const uint32_t *hop,
		 unsigned n)
{
	return f != NULL && f->nprefix == n &&
	       (n == 0 || (memcmp(f->prefix, prefix, n * sizeof(*prefix)) == 0 &&
			   memcmp(f->hop, hop, n * sizeof(*hop)) == 0));
}

static int copy_prefixes(struct cw_fib *f, const struct cw_ip_addr *prefix, const uint32_t *hop,
			 unsigned n)
{
	f->nprefix = n;
	f->prefix = calloc(n + 1, sizeof(*prefix));
	f->hop = calloc(n + 1, sizeof(*hop));
	if (f->prefix == NULL || f->hop == NULL)
		return CW_E_NOMEM;
	if (n > 0) {
		memcpy(f->prefix, prefix, n * sizeof(*prefix));
		memcpy(f->hop, hop, n * sizeof(*hop));
	}
	return CW_OK;
}

int cw_fib_get(struct cw_fib **out, struct cw_fib *old, const struct cw_ip_addr *prefix,
	       const uint32_t *hop, unsigned n, uint64_t generation)
{
	struct cw_fib *f;
	int err;

	if (same(old, prefix, hop, n)) {
		atomic_fetch_add(&old->refs, 1);
		*out = old;
		return CW_OK;
	}
	if ((f = calloc(1, sizeof(*f))) == NULL)
		return CW_E_NOMEM;
	atomic_init(&f->refs, 1);
	if ((err = copy_prefixes(f, prefix, hop, n)) < 0 ||
	    (err = create_tables(f, generation)) < 0 || (err = fill6(f)) < 0) {
		cw_fib_put(f);
		return err;
	}
	fill4(f);
	*out = f;
	return CW_OK;
}

void cw_fib_put(struct cw_fib *f)
{
	if (f == NULL || atomic_fetch_sub(&f->refs, 1) > 1)
		return;
	rte_lpm_free(f->v4);
	rte_lpm6_free(f->v6);
	free(f->prefix);
	free(f->hop);
	free(f);
}
