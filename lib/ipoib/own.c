/* own.c - the link's own addresses: duplicates are looked for, neighbours are told. */
#include <string.h>
#include "causeway/wire/icmp.h"
#include "lib/ipoib/internal.h"

enum {
	PROBE_MS = 1000,    /* RetransTimer of RFC 4861 10; PROBE_MIN of RFC 5227 1.1 */
	PATIENCE_MS = 5000, /* for the join of the solicited-node group */
	DEFEND_MS = 10000   /* DEFEND_INTERVAL of RFC 5227 1.1 */
};

static struct own *find(struct cw_ipoib *l, bool v6, const uint8_t *addr)
{
	unsigned i;

	for (i = 0; i < l->nown; i++) {
		if (l->own[i].v6 == v6 && memcmp(l->own[i].addr, addr, v6 ? 16 : 4) == 0)
			return &l->own[i];
	}
	return NULL;
}

bool own_answers(struct cw_ipoib *l, bool v6, const uint8_t *addr)
{
	const struct own *o = find(l, v6, addr);

	return o != NULL && o->state == CW_IPOIB_OWN_VALID;
}

const uint8_t *own_source(const struct cw_ipoib *l, bool v6)
{
	static const uint8_t none[16];
	unsigned i;

	for (i = 0; i < l->nown; i++) {
		if (l->own[i].v6 == v6 && l->own[i].state == CW_IPOIB_OWN_VALID)
			return l->own[i].addr;
	}
	return none;
}

bool own_waits(const struct cw_ipoib *l, bool v6)
{
	bool tentative = false;
	unsigned i;

	for (i = 0; i < l->nown; i++) {
		if (l->own[i].v6 != v6)
			continue;
		if (l->own[i].state == CW_IPOIB_OWN_VALID)
			return false;
		tentative |= l->own[i].state == CW_IPOIB_OWN_TENTATIVE;
	}
	return tentative;
}

/* ---- Duplicates --------------------------------------------------------------------------- */

static void use(struct cw_ipoib *l, struct own *o, uint64_t now)
{
	o->state = CW_IPOIB_OWN_VALID;
	neigh_announce(l, now, o->v6, o->addr);
}

static void begin(struct cw_ipoib *l, struct own *o, uint64_t now)
{
	o->probes = 0;
	o->due = now;
	o->patience = now + PATIENCE_MS;
	o->defended = 0;
	if (l->c.probes == 0)
		use(l, o, now);
	else
		o->state = CW_IPOIB_OWN_TENTATIVE;
}

/* Answers to a probe come by the group (RFC 4862 5.4.2). A group that can't be joined is no reason
 * to have no address. */
static bool hears_answers(const struct cw_ipoib *l, const struct own *o, uint64_t now)
{
	uint8_t addr[16], mgid[16];
	const struct group *g;

	if (!o->v6 || now >= o->patience)
		return true;
	cw_nd_solicited_node(addr, o->addr);
	group_mgid(l, mgid, true, addr);
	g = group_find(l, mgid);
	return g != NULL && g->state == GROUP_JOINED;
}

void own_start(struct cw_ipoib *l, uint64_t now)
{
	unsigned i;

	for (i = 0; i < l->nown; i++)
		begin(l, &l->own[i], now);
}

void own_tick(struct cw_ipoib *l, uint64_t now)
{
	unsigned i;

	for (i = 0; i < l->nown; i++) {
		struct own *o = &l->own[i];

		if (o->state != CW_IPOIB_OWN_TENTATIVE || now < o->due || !hears_answers(l, o, now))
			continue;
		if (o->probes++ == l->c.probes) {
			use(l, o, now);
			continue;
		}
		o->due = now + PROBE_MS;
		neigh_probe(l, now, o->v6, o->addr);
	}
}

static void tell(struct cw_ipoib *l, const struct own *o)
{
	struct cw_ipoib_out e = {.what = CW_IPOIB_DUPLICATE,
				 .status = o->state == CW_IPOIB_OWN_DUPLICATE};

	(void)emit(l, &e, o->addr, o->v6 ? 16 : 4);
}

bool own_claimed(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr, bool probe)
{
	struct own *o = find(l, v6, addr);

	if (o == NULL || o->state == CW_IPOIB_OWN_DUPLICATE)
		return false;
	if (o->state ==
	    CW_IPOIB_OWN_TENTATIVE) { /* two that probe: neither has it (RFC 5227 2.1.1) */
		o->state = CW_IPOIB_OWN_DUPLICATE;
		l->n.addr_duplicate++;
		tell(l, o);
		return true;
	}
	if (probe) /* it gets an answer */
		return false;
	l->n.addr_conflict++;
	if (o->defended == 0 || now >= o->defended + DEFEND_MS) {
		o->defended = now;
		tell(l, o);
		neigh_announce(l, now, v6, o->addr);
	}
	return true;
}

/* ---- Coming and going --------------------------------------------------------------------- */

int cw_ipoib_address(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	uint8_t group[16];
	struct own *o;
	int err;

	if (find(l, v6, addr) != NULL)
		return CW_OK;
	if (l->nown == OWN_MAX)
		return CW_E_SPACE;
	if (v6) {
		cw_nd_solicited_node(group, addr);
		if ((err = cw_ipoib_join(l, now, true, group)) < 0)
			return err;
	}
	o = &l->own[l->nown++];
	*o = (struct own){.v6 = v6};
	memcpy(o->addr, addr, v6 ? 16 : 4);
	if (l->up)
		begin(l, o, now);
	return CW_OK;
}

int cw_ipoib_unaddress(struct cw_ipoib *l, uint64_t now, bool v6, const uint8_t *addr)
{
	struct own *o = find(l, v6, addr);
	uint8_t group[16];

	if (o == NULL)
		return CW_E_ARG;
	if (v6) /* in front of the move: `addr` may be the entry's own */
		cw_nd_solicited_node(group, addr);
	*o = l->own[--l->nown];
	return v6 ? cw_ipoib_leave(l, now, true, group) : CW_OK;
}

bool cw_ipoib_own_at(const struct cw_ipoib *l, uint32_t i, struct cw_ipoib_own_info *out)
{
	if (i >= l->nown)
		return false;
	*out = (struct cw_ipoib_own_info){.v6 = l->own[i].v6, .state = l->own[i].state};
	memcpy(out->addr, l->own[i].addr, sizeof(out->addr));
	return true;
}
