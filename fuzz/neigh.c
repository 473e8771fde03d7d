/* neigh.c - a random life of the neighbour table. Every packet that was taken comes back exactly
 * once, bounds hold, and no key is in the table twice. Input: limits, then operations of three
 * octets. */
#include "causeway/neigh.h"
#include "fuzz/fuzz.h"

enum { PACKETS = 512 };

struct life {
	struct cw_neigh *n;
	struct cw_neigh_limits limits;
	uint64_t now;
	uint8_t taken[PACKETS]; /* 1: the table has it */
	unsigned next;
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

static void drain(struct life *l)
{
	struct cw_neigh_event ev;
	unsigned n = 0;

	while (cw_neigh_next(l->n, &ev)) {
		FUZZ_CHECK(n++ < 100000);
		if (ev.what != CW_NEIGH_RELEASE && ev.what != CW_NEIGH_REFUSE)
			continue;
		FUZZ_CHECK((uint8_t *)ev.packet >= l->taken);
		FUZZ_CHECK((uint8_t *)ev.packet < l->taken + PACKETS);
		FUZZ_CHECK(*(uint8_t *)ev.packet == 1);
		*(uint8_t *)ev.packet = 0;
	}
}

static void check_table(const struct life *l)
{
	struct cw_neigh_info a, b;
	uint32_t at = 0, n = 0, held = 0, taken = 0, k;

	while (cw_neigh_walk(l->n, &at, &a)) {
		FUZZ_CHECK(a.held <= l->limits.held);
		held += a.held;
		n++;
		k = at;
		while (cw_neigh_walk(l->n, &k, &b))
			FUZZ_CHECK(memcmp(&a.key, &b.key, sizeof(a.key)) != 0);
	}
	FUZZ_CHECK(n <= l->limits.entries);
	for (k = 0; k < PACKETS; k++)
		taken += l->taken[k];
	FUZZ_CHECK(held == taken);
}

static void hold(struct life *l, const struct cw_neigh_key *key)
{
	uint8_t *packet = &l->taken[l->next];

	if (*packet != 0)
		return;
	if (cw_neigh_hold(l->n, key, packet, l->now) == CW_OK)
		*packet = 1;
	l->next = (l->next + 1) % PACKETS;
}

static void step(struct life *l, uint8_t op, uint8_t which, uint8_t arg)
{
	struct cw_neigh_key key = key_of(which);
	uint8_t mac[6] = {2, 0, 0, 0, 0, arg};

	l->now += (uint64_t)arg * 37;
	switch (op % 8) {
	case 0:
	case 1:
		hold(l, &key);
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
	unsigned i;

	l.limits.entries = 1 + fuzz_u8(&in) % 32;
	l.limits.held = 1 + fuzz_u8(&in) % 8;
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
	cw_neigh_flush(l.n);
	drain(&l);
	for (i = 0; i < PACKETS; i++)
		FUZZ_CHECK(l.taken[i] == 0);
	cw_neigh_free(l.n);
	return 0;
}
