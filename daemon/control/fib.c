/* fib.c - longest-prefix match over rte_lpm and rte_lpm6. See fib.h. */
#include <stdlib.h>
#include <string.h>
#include "daemon/control/fib.h"

#define SPARE 16 /* rules and groups beyond those counted */

unsigned cw_fib_megabytes(unsigned n)
{
	/* Both first-level tables are 64 MB; IPv6 takes at most 13 groups of 1 kB a prefix. */
	return 128 + n * 14 / 1024 + 1;
}

static void count(const struct cw_fib *f, unsigned *n4, unsigned *n6, unsigned *deep4)
{
	unsigned i;

	*n4 = *n6 = *deep4 = 0;
	for (i = 0; i < f->nprefix; i++) {
		*n4 += f->prefix[i].version == 4;
		*n6 += f->prefix[i].version == 6;
		*deep4 += f->prefix[i].version == 4 && f->prefix[i].plen > 24;
	}
}

static int create_tables(struct cw_fib *f, uint64_t generation)
{
	struct rte_lpm_config c4 = {0};
	struct rte_lpm6_config c6 = {0};
	unsigned n4, n6, deep4;
	char name[RTE_LPM_NAMESIZE];

	count(f, &n4, &n6, &deep4);
	if (n4 > 0) {
		c4.max_rules = n4 + SPARE;
		c4.number_tbl8s = deep4 + SPARE;
		snprintf(name, sizeof(name), "fib4-%lu", (unsigned long)generation);
		if ((f->v4 = rte_lpm_create(name, SOCKET_ID_ANY, &c4)) == NULL)
			return CW_E_NOMEM;
	}
	if (n6 > 0) {
		c6.max_rules = n6 + SPARE;
		c6.number_tbl8s = 13 * n6 + SPARE;
		snprintf(name, sizeof(name), "fib6-%lu", (unsigned long)generation);
		if ((f->v6 = rte_lpm6_create(name, SOCKET_ID_ANY, &c6)) == NULL)
			return CW_E_NOMEM;
	}
	return CW_OK;
}

static int add4(struct rte_lpm *t, const struct cw_ip_addr *p, uint32_t value)
{
	uint32_t ip = cw_be32(p->a);

	if (p->plen > 0)
		return rte_lpm_add(t, ip, p->plen, value);
	/* The library has no depth 0: two halves. */
	return rte_lpm_add(t, 0, 1, value) | rte_lpm_add(t, 1u << 31, 1, value);
}

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
static int fill(struct cw_fib *f)
{
	const struct cw_ip_addr *p;
	unsigned i, pass;
	int rc = 0;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < f->nprefix; i++) {
			p = &f->prefix[i];
			if ((p->plen == 0) != (pass == 0))
				continue;
			rc |= p->version == 4 ? add4(f->v4, p, f->hop[i])
					      : add6(f->v6, p, f->hop[i]);
		}
	}
	return rc == 0 ? CW_OK : CW_E_NOMEM;
}

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
	    (err = create_tables(f, generation)) < 0 || (err = fill(f)) < 0) {
		cw_fib_put(f);
		return err;
	}
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
