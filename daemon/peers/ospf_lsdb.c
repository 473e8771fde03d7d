/* ospf_lsdb.c - LSAs by router; who can be reached; what goes from one area to another.
 *
 * A router of one's own area can be reached when ospfd says so. For one of another area ospfd does
 * not, but border routers announce where the proxy's address is in Summary-LSAs.
 * Spec: Fast CNP proxy 5.2; RFC 7684 2, RFC 2328 12.4.3 and 16.2, RFC 9084 3. */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/ospf3.h"
#include "daemon/peers/ospf_lsdb.h"

enum { KEY = 13, SUMMARY_BODY = 8, SUMMARY_INFINITY = 0xffffff, MAX_AGE = 3600, TLV_MAX = 512 };

/* Router, type, area, link state ID: the order of the list. */
struct lsa {
	uint8_t key[KEY];
	size_t len;
	uint8_t *body;
};

static struct {
	struct lsa *lsa;
	size_t n, room;
	uint32_t *router; /* that can be reached */
	size_t nrouter, router_room;
	bool changed;
} db;

/* ---- LSAs ---------------------------------------------------------------------------------- */

static uint32_t router_of(const struct lsa *l)
{
	return cw_be32(l->key);
}

static uint8_t type_of(const struct lsa *l)
{
	return l->key[4];
}

static uint32_t area_of(const struct lsa *l)
{
	return cw_be32(l->key + 5);
}

static size_t place(const uint8_t key[KEY])
{
	size_t low = 0, high = db.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(db.lsa[middle].key, key, KEY) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(void)
{
	size_t room = db.room * 2 + 64;
	struct lsa *more;

	if (db.n < db.room)
		return true;
	if ((more = realloc(db.lsa, room * sizeof(*more))) == NULL)
		return false;
	db.lsa = more;
	db.room = room;
	return true;
}

static void store(const uint8_t key[KEY], const uint8_t *body, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	size_t at = place(key);
	bool there = at < db.n && memcmp(db.lsa[at].key, key, KEY) == 0;

	if (copy == NULL || (!there && !make_room())) {
		free(copy);
		return;
	}
	memcpy(copy, body, len);
	if (there) {
		free(db.lsa[at].body);
	} else {
		memmove(&db.lsa[at + 1], &db.lsa[at], (db.n - at) * sizeof(*db.lsa));
		memcpy(db.lsa[at].key, key, KEY);
		db.n++;
	}
	db.lsa[at].body = copy;
	db.lsa[at].len = len;
}

static void drop(const uint8_t key[KEY])
{
	size_t at = place(key);

	if (at == db.n || memcmp(db.lsa[at].key, key, KEY) != 0)
		return;
	free(db.lsa[at].body);
	db.n--;
	memmove(&db.lsa[at], &db.lsa[at + 1], (db.n - at) * sizeof(*db.lsa));
}

static int ignore_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	(void)arg;
	(void)p;
	return 0;
}

static void count_malformed(const uint8_t *router, const uint8_t *body, size_t len, uint64_t now)
{
	struct cw_peer_session *s;
	char id[CW_OSPF3_ID_TEXT];

	if (cw_ospf2_walk(&cw_peers.conf->codes, body, len, ignore_prefix, NULL, NULL) == CW_OK)
		return;
	s = cw_peer_session(CW_PROXY_OSPF2, cw_ospf3_id_format(router, id), now);
	if (s != NULL)
		s->n.malformed++;
}

void cw_ospf_lsdb_take(uint32_t area, const uint8_t *lsa, size_t len, bool gone, uint64_t now)
{
	uint32_t type = cw_ospf2_lsa_type(lsa);
	const uint8_t *body = lsa + CW_SIZE_OSPF2_LSA;
	uint8_t key[KEY];

	if (type != CW_OSPF2_SUMMARY && (type < CW_OSPF2_OPAQUE_LINK || type > CW_OSPF2_OPAQUE_AS ||
					 cw_ospf2_lsa_opaque_type(lsa) != CW_OSPF2_OPAQUE_PREFIX))
		return;
	len -= CW_SIZE_OSPF2_LSA;
	memcpy(key, cw_ospf2_lsa_router(lsa), 4);
	key[4] = (uint8_t)type;
	cw_put_be32(key + 5, type == CW_OSPF2_OPAQUE_AS ? CW_OSPF2_AS : area);
	memcpy(key + 9, lsa + 4, 4);
	if (gone || cw_ospf2_lsa_age(lsa) >= MAX_AGE) {
		drop(key);
	} else {
		store(key, body, len);
		if (type != CW_OSPF2_SUMMARY)
			count_malformed(key, body, len, now);
	}
	db.changed = true;
}

bool cw_ospf_lsdb_changed(void)
{
	bool changed = db.changed;

	db.changed = false;
	return changed;
}

void cw_ospf_lsdb_forget(void)
{
	size_t i;

	for (i = 0; i < db.n; i++)
		free(db.lsa[i].body);
	free(db.lsa);
	free(db.router);
	memset(&db, 0, sizeof(db));
}

/* ---- Who can be reached -------------------------------------------------------------------- */

static bool is_near(uint32_t router)
{
	size_t i;

	for (i = 0; i < db.nrouter; i++) {
		if (db.router[i] == router)
			return true;
	}
	return false;
}

static void add_router(uint32_t router)
{
	size_t room = db.router_room * 2 + 64;
	uint32_t *more;

	if (is_near(router))
		return;
	if (db.nrouter == db.router_room) {
		if ((more = realloc(db.router, room * sizeof(*more))) == NULL)
			return;
		db.router = more;
		db.router_room = room;
	}
	db.router[db.nrouter++] = router;
}

void cw_ospf_lsdb_reach(const uint8_t *added, size_t nadded, const uint8_t *removed,
			size_t nremoved)
{
	size_t i, k;

	for (i = 0; i < nremoved; i++) {
		for (k = 0; k < db.nrouter; k++) {
			if (db.router[k] == cw_be32(removed + 4 * i))
				db.router[k--] = db.router[--db.nrouter];
		}
	}
	for (i = 0; i < nadded; i++)
		add_router(cw_be32(added + 4 * i));
	db.changed = true;
}

/* A border router within reach knows the way. The default route is no such knowledge. */
static bool covers(const struct lsa *l, const struct cw_addr *a)
{
	uint32_t mask, net = cw_be32(l->key + 9);

	if (type_of(l) != CW_OSPF2_SUMMARY || l->len < SUMMARY_BODY)
		return false;
	mask = cw_be32(l->body);
	return mask != 0 && ((cw_be32(a->addr) ^ net) & mask) == 0 &&
	       (cw_be32(l->body + 4) & SUMMARY_INFINITY) != SUMMARY_INFINITY &&
	       is_near(router_of(l));
}

static bool is_elsewhere(const struct cw_addr *proxy)
{
	size_t i;

	for (i = 0; proxy->version == 4 && i < db.n; i++) {
		if (covers(&db.lsa[i], proxy))
			return true;
	}
	return false;
}

static bool is_reached(const struct lsa *l, const struct cw_addr *proxy)
{
	return is_near(router_of(l)) || (type_of(l) == CW_OSPF2_OPAQUE_AS && is_elsewhere(proxy));
}

/* ---- Flagged prefixes ---------------------------------------------------------------------- */

typedef void flagged_fn(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
			const struct cw_addr *proxy);

struct walk {
	const struct lsa *l;
	struct cw_pnc_own own;
	flagged_fn *fn;
	void *arg;
};

static int use_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	const struct walk *w = arg;
	struct cw_addr proxy;

	if (cw_pnc_learn(&w->own, p, &proxy) && is_reached(w->l, &proxy))
		w->fn(w->arg, w->l, p, &proxy);
	return 0;
}

/* An LSA with a fault tells nothing: it was counted when it came. */
static void walk_router(struct walk *w, size_t first, size_t n, cw_pnc_fn *fn, void *arg)
{
	size_t i;
	int err = CW_OK;

	for (i = first; i < first + n; i++) {
		w->l = &db.lsa[i];
		if (type_of(w->l) != CW_OSPF2_SUMMARY)
			err = cw_ospf2_walk(&cw_peers.conf->codes, w->l->body, w->l->len, fn, arg,
					    NULL);
	}
	(void)err;
}

static void each_flagged(flagged_fn *fn, void *arg)
{
	struct walk w = {.fn = fn, .arg = arg};
	size_t i, n;

	for (i = 0; i < db.n; i += n) {
		for (n = 1; i + n < db.n && router_of(&db.lsa[i + n]) == router_of(&db.lsa[i]); n++)
			;
		w.own = (struct cw_pnc_own){0};
		walk_router(&w, i, n, cw_pnc_own_add, &w.own);
		walk_router(&w, i, n, use_prefix, &w);
	}
}

struct tell {
	struct cw_teller *t;
	uint64_t now;
};

static void tell(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
		 const struct cw_addr *proxy)
{
	const struct tell *k = arg;
	char id[CW_OSPF3_ID_TEXT];

	cw_teller_tell(k->t, cw_ospf3_id_format(l->key, id), &p->prefix, proxy, k->now);
}

void cw_ospf_lsdb_tell(struct cw_teller *t, bool all, uint64_t now)
{
	struct tell k = {t, now};

	cw_teller_begin(t, all, now);
	each_flagged(tell, &k);
	cw_teller_end(t, all, now);
}

/* ---- To another area ----------------------------------------------------------------------- */

struct summary {
	struct cw_prefix prefix;
	uint32_t router;
	bool own; /* of the area itself */
	size_t len;
	uint8_t tlv[TLV_MAX];
};

struct summaries {
	uint32_t to;
	struct summary *at;
	size_t n, room;
	size_t external; /* flagged prefixes that are not for it */
	bool failed;
};

/* With AS scope it is there already. */
static bool is_external(const struct lsa *l, const struct cw_pnc_prefix *p)
{
	return type_of(l) == CW_OSPF2_OPAQUE_AREA && p->kind > CW_OSPF2_INTER;
}

/* RFC 2328 12.4.3: of the backbone all, of another area its own prefixes. AS scope needs no chain
 * of border routers: own prefixes only. */
static bool may_go(const struct lsa *l, const struct cw_pnc_prefix *p, uint32_t to)
{
	bool inter = p->kind == CW_OSPF2_INTER;

	if (type_of(l) != CW_OSPF2_OPAQUE_AREA || is_external(l, p))
		return false;
	return !inter || (to != CW_OSPF2_AS && area_of(l) == 0 && to != 0);
}

static struct summary *grow(struct summaries *k)
{
	size_t room = k->room * 2 + 64;
	struct summary *more;

	if (k->n == k->room) {
		if ((more = realloc(k->at, room * sizeof(*more))) == NULL) {
			k->failed = true;
			return NULL;
		}
		k->at = more;
		k->room = room;
	}
	return &k->at[k->n++];
}

static void add_summary(void *arg, const struct lsa *l, const struct cw_pnc_prefix *p,
			const struct cw_addr *proxy)
{
	struct summaries *k = arg;
	struct cw_ospf_edit edit = {
		.pnc = true, .leak = true, .kind = CW_OSPF2_INTER, .source = *proxy};
	bool own = area_of(l) == k->to && p->kind != CW_OSPF2_INTER;
	struct summary *to;
	struct cw_wr w;

	k->external += !own && is_external(l, p) && area_of(l) != k->to;
	if (!own && (area_of(l) == k->to || !may_go(l, p, k->to)))
		return;
	if ((to = grow(k)) == NULL)
		return;
	*to = (struct summary){.prefix = p->prefix, .router = router_of(l), .own = own};
	memcpy(edit.router, l->key, 4);
	w = cw_wr_init(to->tlv, sizeof(to->tlv));
	if (cw_ospf2_prefix_edit(&w, &cw_peers.conf->codes, p, &edit) != CW_OK)
		k->n--; /* larger than any that is known */
	else
		to->len = (size_t)(w.p - to->tlv);
}

/* By prefix; the area's own first, for then nobody needs another one. */
static int by_worth(const void *a, const void *b)
{
	const struct summary *x = a, *y = b;
	int d = memcmp(&x->prefix, &y->prefix, sizeof(x->prefix));

	if (d == 0)
		d = y->own - x->own;
	return d != 0 ? d : (x->router > y->router) - (x->router < y->router);
}

static bool is_wanted(const struct summaries *k, size_t i)
{
	return !k->at[i].own && (i == 0 || memcmp(&k->at[i].prefix, &k->at[i - 1].prefix,
						  sizeof(k->at[i].prefix)) != 0);
}

bool cw_ospf_lsdb_summaries(uint32_t to, uint8_t **tlvs, size_t *len, size_t *external)
{
	struct summaries k = {.to = to};
	size_t i;

	*len = 0;
	each_flagged(add_summary, &k);
	if (k.n > 0)
		qsort(k.at, k.n, sizeof(*k.at), by_worth);
	*external = k.external;
	*tlvs = calloc(k.n + 1, TLV_MAX);
	for (i = 0; *tlvs != NULL && i < k.n; i++) {
		if (!is_wanted(&k, i))
			continue;
		memcpy(*tlvs + *len, k.at[i].tlv, k.at[i].len);
		*len += k.at[i].len;
	}
	free(k.at);
	return *tlvs != NULL && !k.failed;
}
