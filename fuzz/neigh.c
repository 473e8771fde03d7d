/* neigh.c - a random life of the neighbour table. Bounds hold, no key is in the table twice, what
 * users see of it changes only with CHANGED, and a wanted next hop is asked for. Input: limits,
 * then operations of three octets. */
#include "causeway/neigh.h"
#include "fuzz/fuzz.h"

struct life {
	struct cw_neigh *n;
	struct cw_neigh_limits limits;
	uint64_t now, seen; /* seen: a sum over what users of the table were told */
};

static struct cw_neigh_key key_of(uint8_t bits)
{
	struct cw_neigh_key k = {.port = bits & 1, .vid = bits >> 1 & 3, .version = 4};

	if ((bits & 8) != 0)
		k.version = 6;
	k.addr[0] = bits >> 4;
	k.addr[3] = 1;
	return k;
}

/* Of the entries that workers see: usable, or failed. */
static uint64_t visible(const struct life *l)
{
	struct cw_neigh_info e;
	uint64_t sum = 0, h;
	uint32_t at = 0;
	unsigned i;

	while (cw_neigh_walk(l->n, &at, &e)) {
		if (!cw_neigh_usable(e.state) && e.state != CW_NEIGH_FAILED)
			continue;
		h = 1 + (e.state == CW_NEIGH_FAILED);
		for (i = 0; i < sizeof(e.key); i++)
			h = h * 257 + ((const uint8_t *)&e.key)[i];
		for (i = 0; i < 6 && e.state != CW_NEIGH_FAILED; i++)
			h = h * 257 + e.mac[i];
		sum += h * h;
	}
	return sum;
}

static void drain(struct life *l)
{
	bool changed = false;
	struct cw_neigh_event ev;
	unsigned n = 0;

	while (cw_neigh_next(l->n, &ev)) {
		FUZZ_CHECK(n++ <= l->limits.entries);
		changed |= ev.what == CW_NEIGH_CHANGED;
		FUZZ_CHECK(ev.what == CW_NEIGH_CHANGED || ev.key.version != 0);
	}
	FUZZ_CHECK(changed || visible(l) == l->seen);
	l->seen = visible(l);
}

static void check_table(const struct life *l)
{
	struct cw_neigh_info a, b;
	uint32_t at = 0, n = 0, k;

	while (cw_neigh_walk(l->n, &at, &a)) {
		n++;
		k = at;
		while (cw_neigh_walk(l->n, &k, &b))
			FUZZ_CHECK(memcmp(&a.key, &b.key, sizeof(a.key)) != 0);
	}
	FUZZ_CHECK(n <= l->limits.entries);
}

static bool in_table(const struct life *l, const struct cw_neigh_key *key)
{
	struct cw_neigh_info e;
	uint32_t at = 0;

	while (cw_neigh_walk(l->n, &at, &e)) {
		if (memcmp(&e.key, key, sizeof(*key)) == 0)
			return true;
	}
	return false;
}

/* Everything owed has been taken: the only question now is the one that this asks. */
static void want(struct life *l, const struct cw_neigh_key *key)
{
	bool was = in_table(l, key);
	struct cw_neigh_event ev;

	if (cw_neigh_want(l->n, key, l->now) != CW_OK || was)
		return;
	FUZZ_CHECK(cw_neigh_next(l->n, &ev) && ev.what == CW_NEIGH_REQUEST);
	FUZZ_CHECK(memcmp(&ev.key, key, sizeof(*key)) == 0 && !ev.unicast);
}

static void step(struct life *l, uint8_t op, uint8_t which, uint8_t arg)
{
	struct cw_neigh_key key = key_of(which);
	uint8_t mac[6] = {2, 0, 0, 0, 0, arg};

	l->now += (uint64_t)arg * 37;
	switch (op % 8) {
	case 0:
	case 1:
		want(l, &key);
		break;
	case 2:
		(void)cw_neigh_learn(l->n, &key, mac, l->now);
		break;
	case 3:
		(void)!cw_neigh_set_static(l->n, &key, mac, l->now);
		break;
	case 4:
		cw_neigh_used(l->n, &key);
		break;
	case 5:
		if (arg > 250)
			cw_neigh_clear_static(l->n);
		else if (arg > 240)
			cw_neigh_forget_port(l->n, key.port);
		break;
	default:
		FUZZ_CHECK(cw_neigh_tick(l->n, l->now) > l->now);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct life l = {.limits = CW_NEIGH_LIMITS};
	uint8_t a, b, c;

	l.limits.entries = 1 + fuzz_u8(&in) % 32;
	l.limits.retries = 1 + fuzz_u8(&in) % 4;
	FUZZ_CHECK(cw_neigh_new(&l.n, &l.limits) == CW_OK);
	while (in.left > 2) {
		a = fuzz_u8(&in);
		b = fuzz_u8(&in);
		c = fuzz_u8(&in);
		step(&l, a, b, c);
		drain(&l);
		check_table(&l);
	}
	cw_neigh_free(l.n);
	return 0;
}
