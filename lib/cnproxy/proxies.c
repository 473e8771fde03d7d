/* proxies.c - prefix -> proxy, by a hash of prefixes and a count of each length.
 * Spec: Fast CNP proxy 5. */
#include <stdlib.h>
#include <string.h>
#include "causeway/proxies.h"

/* What one session says of a prefix. Those of one prefix hang together, the used one first. */
struct route {
	struct route *next;
	struct cw_addr proxy;
	uint8_t source;
	bool stale;
	uint32_t session;
	uint64_t since_ms, expires_ms;
};

struct node {
	struct node *next;
	struct route *routes;
	struct cw_prefix prefix;
};

struct cw_proxies {
	struct cw_proxies_opts opts;
	struct node **slot;
	uint32_t slots, nodes, routes; /* slots: a power of two */
	uint32_t length[2][129];       /* prefixes of each length, IPv4 and IPv6 */
	uint64_t generation, next_expiry;
};

enum { FIRST_SLOTS = 256 };

const char *cw_proxy_source_name(enum cw_proxy_source s)
{
	static const char *const names[] = {
#define CW_X(id, name) name,
		CW_PROXY_SOURCES(CW_X)
#undef CW_X
	};

	return (unsigned)s < CW_PROXY_NSOURCES ? names[s] : "unknown";
}

enum cw_proxy_source cw_proxy_source_find(const char *name)
{
	unsigned i;

	for (i = 0; i < CW_PROXY_NSOURCES; i++) {
		if (strcmp(cw_proxy_source_name((enum cw_proxy_source)i), name) == 0)
			break;
	}
	return (enum cw_proxy_source)i;
}

int cw_proxies_new(struct cw_proxies **out, const struct cw_proxies_opts *o)
{
	struct cw_proxies *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return CW_E_NOMEM;
	t->opts = *o;
	t->next_expiry = UINT64_MAX;
	t->slots = FIRST_SLOTS;
	if ((t->slot = calloc(t->slots, sizeof(struct node *))) == NULL) {
		free(t);
		return CW_E_NOMEM;
	}
	*out = t;
	return CW_OK;
}

static void free_node(struct node *n)
{
	struct route *r;

	while ((r = n->routes) != NULL) {
		n->routes = r->next;
		free(r);
	}
	free(n);
}

void cw_proxies_free(struct cw_proxies *t)
{
	struct node *n;
	uint32_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->slots; i++) {
		while ((n = t->slot[i]) != NULL) {
			t->slot[i] = n->next;
			free_node(n);
		}
	}
	free(t->slot);
	free(t);
}

/* ---- The hash ------------------------------------------------------------------------------ */

static uint32_t hash(const struct cw_prefix *p)
{
	uint64_t a, b, h;

	memcpy(&a, p->addr, 8);
	memcpy(&b, p->addr + 8, 8);
	h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	h = (h ^ (h >> 32) ^ b) * 0xc4ceb9fe1a85ec53u;
	h = (h ^ (h >> 29) ^ ((uint64_t)p->version << 8 | p->plen)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

static struct node **find(const struct cw_proxies *t, const struct cw_prefix *p)
{
	struct node **at = &t->slot[hash(p) & (t->slots - 1)];

	while (*at != NULL && memcmp(&(*at)->prefix, p, sizeof(*p)) != 0)
		at = &(*at)->next;
	return at;
}

/* Twice the slots; without memory the chains just stay longer. */
static void grow(struct cw_proxies *t)
{
	struct node **bigger = calloc((size_t)t->slots * 2, sizeof(struct node *)), *n;
	uint32_t i, mask = t->slots * 2 - 1;

	if (bigger == NULL)
		return;
	for (i = 0; i < t->slots; i++) {
		while ((n = t->slot[i]) != NULL) {
			struct node **at = &bigger[hash(&n->prefix) & mask];

			t->slot[i] = n->next;
			n->next = *at;
			*at = n;
		}
	}
	free(t->slot);
	t->slot = bigger;
	t->slots *= 2;
}

static uint32_t *length_count(struct cw_proxies *t, const struct cw_prefix *p)
{
	return &t->length[p->version == 6][p->plen];
}

static struct node *add_node(struct cw_proxies *t, const struct cw_prefix *p)
{
	struct node *n = calloc(1, sizeof(*n)), **at;

	if (n == NULL)
		return NULL;
	if (t->nodes >= t->slots && t->slots < 1u << 30)
		grow(t);
	n->prefix = *p;
	at = find(t, p);
	*at = n;
	t->nodes++;
	(*length_count(t, p))++;
	return n;
}

static void drop_node(struct cw_proxies *t, struct node **at)
{
	struct node *n = *at;

	(*length_count(t, &n->prefix))--;
	t->nodes--;
	*at = n->next;
	free_node(n);
}

/* ---- Routes of a prefix -------------------------------------------------------------------- */

/* Fresh before stale, then by source, then by session. */
static bool better(const struct cw_proxies *t, const struct route *a, const struct route *b)
{
	uint8_t ra = t->opts.rank[a->source], rb = t->opts.rank[b->source];

	if (a->stale != b->stale)
		return b->stale;
	if (ra != rb)
		return ra < rb;
	return a->session < b->session;
}

static void insert(const struct cw_proxies *t, struct node *n, struct route *r)
{
	struct route **at = &n->routes;

	while (*at != NULL && better(t, *at, r))
		at = &(*at)->next;
	r->next = *at;
	*at = r;
}

static struct route **find_route(struct node *n, enum cw_proxy_source source, uint32_t session)
{
	struct route **at = &n->routes;

	while (*at != NULL && ((*at)->source != source || (*at)->session != session))
		at = &(*at)->next;
	return at;
}

static bool usable(const struct cw_addr *a)
{
	static const uint8_t zero[16], loop6[16] = {[15] = 1};

	if (a->version == 4)
		return a->addr[0] != 0 && a->addr[0] != 127 && a->addr[0] < 224;
	return a->version == 6 && a->addr[0] != 0xff && memcmp(a->addr, zero, 16) != 0 &&
	       memcmp(a->addr, loop6, 16) != 0;
}

/* A route to be filled and inserted: a new one, or the one that is there, taken out. */
static int obtain(struct cw_proxies *t, struct node *n, enum cw_proxy_source source,
		  uint32_t session, struct route **out)
{
	struct route **at = find_route(n, source, session), *r = *at;

	if (r != NULL) {
		*at = r->next;
	} else if (t->routes >= t->opts.entries) {
		return CW_E_SPACE;
	} else if ((r = calloc(1, sizeof(*r))) == NULL) {
		return CW_E_NOMEM;
	} else {
		t->routes++;
		r->source = (uint8_t)source;
		r->session = session;
	}
	*out = r;
	return CW_OK;
}

int cw_proxies_set(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
		   const struct cw_prefix *prefix, const struct cw_addr *proxy, uint64_t now)
{
	struct node **at, *n;
	struct route *r;
	int err;

	if (!usable(proxy))
		return CW_E_ARG;
	if ((n = *find(t, prefix)) == NULL && t->routes >= t->opts.entries)
		return CW_E_SPACE;
	if (n == NULL && (n = add_node(t, prefix)) == NULL)
		return CW_E_NOMEM;
	if ((err = obtain(t, n, source, session, &r)) != CW_OK) {
		at = find(t, prefix);
		if (n->routes == NULL)
			drop_node(t, at);
		return err;
	}
	if (memcmp(&r->proxy, proxy, sizeof(*proxy)) != 0)
		r->since_ms = now;
	r->proxy = *proxy;
	r->stale = false;
	insert(t, n, r);
	t->generation++;
	return CW_OK;
}

bool cw_proxies_withdraw(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
			 const struct cw_prefix *prefix)
{
	struct node **at = find(t, prefix);
	struct route **link, *r;

	if (*at == NULL || (r = *(link = find_route(*at, source, session))) == NULL)
		return false;
	*link = r->next;
	free(r);
	t->routes--;
	t->generation++;
	if ((*at)->routes == NULL)
		drop_node(t, at);
	return true;
}

/* ---- Sweeps -------------------------------------------------------------------------------- */

/* Remove the routes of all prefixes that `gone` says. */
typedef bool gone_fn(const struct route *r, const struct route *which, uint64_t now);

static uint32_t sweep_node(struct cw_proxies *t, struct node *n, gone_fn *gone,
			   const struct route *which, uint64_t now)
{
	struct route **link = &n->routes, *r;
	uint32_t went = 0;

	while ((r = *link) != NULL) {
		if (!gone(r, which, now)) {
			link = &r->next;
			continue;
		}
		*link = r->next;
		free(r);
		t->routes--;
		went++;
	}
	return went;
}

static uint32_t sweep(struct cw_proxies *t, gone_fn *gone, const struct route *which, uint64_t now)
{
	uint32_t i, went = 0;

	for (i = 0; i < t->slots; i++) {
		struct node **at = &t->slot[i];

		while (*at != NULL) {
			went += sweep_node(t, *at, gone, which, now);
			if ((*at)->routes == NULL)
				drop_node(t, at);
			else
				at = &(*at)->next;
		}
	}
	t->generation += went > 0;
	return went;
}

static bool of_session(const struct route *r, const struct route *which)
{
	return r->source == which->source && r->session == which->session;
}

static bool gone_lost(const struct route *r, const struct route *which, uint64_t now)
{
	(void)now;
	return of_session(r, which);
}

static bool gone_stale(const struct route *r, const struct route *which, uint64_t now)
{
	(void)now;
	return of_session(r, which) && r->stale;
}

static bool gone_expired(const struct route *r, const struct route *which, uint64_t now)
{
	(void)which;
	return r->stale && r->expires_ms <= now;
}

uint32_t cw_proxies_synced(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session)
{
	const struct route which = {.source = (uint8_t)source, .session = session};

	return sweep(t, gone_stale, &which, 0);
}

/* Sort the routes of a node anew. */
static void resort(const struct cw_proxies *t, struct node *n)
{
	struct route *all = n->routes, *r;

	n->routes = NULL;
	while ((r = all) != NULL) {
		all = r->next;
		insert(t, n, r);
	}
}

uint32_t cw_proxies_lost(struct cw_proxies *t, enum cw_proxy_source source, uint32_t session,
			 uint64_t now, uint64_t hold_ms)
{
	const struct route which = {.source = (uint8_t)source, .session = session};
	uint32_t i, n = 0;
	struct node *at;
	struct route *r;

	if (hold_ms == 0)
		return sweep(t, gone_lost, &which, now);
	for (i = 0; i < t->slots; i++) {
		for (at = t->slot[i]; at != NULL; at = at->next) {
			r = *find_route(at, source, session);
			if (r == NULL || r->stale)
				continue;
			r->stale = true;
			r->expires_ms = now + hold_ms;
			resort(t, at);
			n++;
		}
	}
	if (n > 0 && now + hold_ms < t->next_expiry)
		t->next_expiry = now + hold_ms;
	t->generation += n > 0;
	return n;
}

static uint64_t earliest(const struct cw_proxies *t)
{
	uint64_t when = UINT64_MAX;
	const struct route *r;
	const struct node *n;
	uint32_t i;

	for (i = 0; i < t->slots; i++) {
		for (n = t->slot[i]; n != NULL; n = n->next) {
			for (r = n->routes; r != NULL; r = r->next) {
				if (r->stale && r->expires_ms < when)
					when = r->expires_ms;
			}
		}
	}
	return when;
}

uint64_t cw_proxies_tick(struct cw_proxies *t, uint64_t now)
{
	if (now >= t->next_expiry) {
		(void)sweep(t, gone_expired, NULL, now);
		t->next_expiry = earliest(t);
	}
	return t->next_expiry;
}

void cw_proxies_rank(struct cw_proxies *t, const uint8_t rank[CW_PROXY_NSOURCES])
{
	struct node *n;
	uint32_t i;

	memcpy(t->opts.rank, rank, sizeof(t->opts.rank));
	for (i = 0; i < t->slots; i++) {
		for (n = t->slot[i]; n != NULL; n = n->next)
			resort(t, n);
	}
	t->generation++;
}

/* ---- Questions ----------------------------------------------------------------------------- */

static void tell(const struct node *n, const struct route *r, struct cw_proxy *out)
{
	*out = (struct cw_proxy){
		.prefix = n->prefix,
		.proxy = r->proxy,
		.source = (enum cw_proxy_source)r->source,
		.session = r->session,
		.since_ms = r->since_ms,
		.used = r == n->routes,
		.stale = r->stale,
		.expires_ms = r->stale ? r->expires_ms : 0,
	};
}

bool cw_proxies_lookup(const struct cw_proxies *t, const struct cw_addr *sender,
		       struct cw_proxy *out)
{
	const uint32_t *count = t->length[sender->version == 6];
	struct cw_prefix p = {.version = sender->version};
	const struct node *n;
	int plen;

	if (sender->version != 4 && sender->version != 6)
		return false;
	memcpy(p.addr, sender->addr, sizeof(p.addr));
	for (plen = sender->version == 6 ? 128 : 32; plen >= 0; plen--) {
		if (count[plen] == 0)
			continue;
		p.plen = (uint8_t)plen;
		cw_prefix_clean(&p);
		if ((n = *find(t, &p)) == NULL)
			continue;
		tell(n, n->routes, out);
		return true;
	}
	return false;
}

uint32_t cw_proxies_count(const struct cw_proxies *t)
{
	return t->routes;
}

uint64_t cw_proxies_generation(const struct cw_proxies *t)
{
	return t->generation;
}

int cw_proxies_walk(const struct cw_proxies *t, cw_proxies_fn *fn, void *arg)
{
	const struct route *r;
	const struct node *n;
	struct cw_proxy p;
	uint32_t i;
	int err;

	for (i = 0; i < t->slots; i++) {
		for (n = t->slot[i]; n != NULL; n = n->next) {
			for (r = n->routes; r != NULL; r = r->next) {
				tell(n, r, &p);
				if ((err = fn(arg, &p)) != 0)
					return err;
			}
		}
	}
	return 0;
}
