/* pnc_bgp.c - BGP UPDATE messages as far as they decide about routes and attribute 39.
 * Spec: pnc.h; RFC 4271 4.3 and 6.3, RFC 4760, RFC 7606, draft-ietf-idr-nhc, Fast CNP proxy 5.4. */
#include "lib/wire/pnc_int.h"

enum {
	OPTIONAL = 0x80,
	TRANSITIVE = 0x40,
	PARTIAL = 0x20,
	EXTENDED = 0x10,

	ORIGIN = 1,
	AS_PATH = 2,
	NEXT_HOP = 3,
	MED = 4,
	LOCAL_PREF = 5,
	ATOMIC_AGGREGATE = 6,
	AGGREGATOR = 7,
	COMMUNITIES = 8,
	ORIGINATOR_ID = 9,
	CLUSTER_LIST = 10,
	MP_REACH = 14,
	MP_UNREACH = 15,
	EXT_COMMUNITIES = 16,
	TUNNEL_ENCAP = 23,
	BGP_LS = 29,
	LARGE_COMMUNITIES = 32,

	AFI_LS = 16388
};

struct attr {
	uint8_t flags, type;
	struct cw_rd value;
	const uint8_t *at; /* its first octet */
};

struct parse {
	struct cw_bgp_update *u;
	const struct cw_pnc_codes *codes;
	uint32_t seen[8]; /* types, a bit each */
	bool discarded;   /* the one at hand */
};

const char *cw_bgp_action_name(enum cw_bgp_action a)
{
	static const char *const names[] = {"accept", "attribute-discard", "treat-as-withdraw",
					    "session-reset"};

	return (unsigned)a < 4 ? names[a] : "unknown";
}

const char *cw_nhc_verdict_name(enum cw_nhc_verdict v)
{
	static const char *const names[] = {"absent", "ok", "no-pnc", "next-hop-mismatch",
					    "malformed"};

	return (unsigned)v < 5 ? names[v] : "unknown";
}

/* The strongest fault stays. */
static void fault(struct cw_bgp_update *u, enum cw_bgp_action action, uint8_t attr,
		  const uint8_t *bad, size_t len, const char *why)
{
	if (action <= u->action && u->why != NULL)
		return;
	u->action = action;
	u->attr = attr;
	u->bad = bad;
	u->bad_len = len;
	u->why = why;
}

static void attr_fault(struct parse *p, const struct attr *a, enum cw_bgp_action action,
		       const char *why)
{
	fault(p->u, action, a->type, a->at, (size_t)(a->value.end - a->at), why);
	p->discarded = true;
}

/* ---- One attribute ------------------------------------------------------------------------- */

enum { ANY_LENGTH = 0xff };

/* Flags and lengths that RFC 4271, 4360, 1997, 4456, 8092 demand. `unit`: the length is a multiple
 * of it, and not 0. */
struct rule {
	uint8_t type, flags, len, unit;
	enum cw_bgp_action action; /* RFC 7606 7.1 to 7.16 */
};

static const struct rule rules[] = {
	{ORIGIN, TRANSITIVE, 1, 0, CW_BGP_WITHDRAW},
	{AS_PATH, TRANSITIVE, ANY_LENGTH, 0, CW_BGP_WITHDRAW},
	{NEXT_HOP, TRANSITIVE, 4, 0, CW_BGP_WITHDRAW},
	{MED, OPTIONAL, 4, 0, CW_BGP_WITHDRAW},
	{LOCAL_PREF, TRANSITIVE, 4, 0, CW_BGP_WITHDRAW},
	{ATOMIC_AGGREGATE, TRANSITIVE, 0, 0, CW_BGP_DISCARD},
	{AGGREGATOR, OPTIONAL | TRANSITIVE, ANY_LENGTH, 0, CW_BGP_DISCARD},
	{COMMUNITIES, OPTIONAL | TRANSITIVE, ANY_LENGTH, 4, CW_BGP_WITHDRAW},
	{ORIGINATOR_ID, OPTIONAL, 4, 0, CW_BGP_WITHDRAW},
	{CLUSTER_LIST, OPTIONAL, ANY_LENGTH, 4, CW_BGP_WITHDRAW},
	{MP_REACH, OPTIONAL, ANY_LENGTH, 0, CW_BGP_RESET},
	{MP_UNREACH, OPTIONAL, ANY_LENGTH, 0, CW_BGP_RESET},
	{EXT_COMMUNITIES, OPTIONAL | TRANSITIVE, ANY_LENGTH, 8, CW_BGP_WITHDRAW},
	{TUNNEL_ENCAP, OPTIONAL | TRANSITIVE, ANY_LENGTH, 0, CW_BGP_WITHDRAW},
	{BGP_LS, OPTIONAL, ANY_LENGTH, 0, CW_BGP_DISCARD},
	{LARGE_COMMUNITIES, OPTIONAL | TRANSITIVE, ANY_LENGTH, 12, CW_BGP_WITHDRAW},
};

static const struct rule *rule_of(uint8_t type)
{
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].type == type)
			return &rules[i];
	}
	return NULL;
}

static void check_rule(struct parse *p, const struct attr *a, const struct rule *r)
{
	size_t len = cw_rd_left(&a->value);

	if ((a->flags & (OPTIONAL | TRANSITIVE)) != r->flags && r->action == CW_BGP_RESET)
		/* RFC 7606 3 (c): its routes are read, to be taken back. */
		fault(p->u, CW_BGP_WITHDRAW, a->type, a->at, (size_t)(a->value.end - a->at),
		      "flags of the attribute are wrong");
	else if ((a->flags & (OPTIONAL | TRANSITIVE)) != r->flags)
		attr_fault(p, a, r->action, "flags of the attribute are wrong");
	else if (r->len != ANY_LENGTH && len != r->len)
		attr_fault(p, a, r->action, "length of the attribute is wrong");
	else if (r->unit != 0 && (len == 0 || len % r->unit != 0))
		attr_fault(p, a, r->action, "length of the attribute is not a multiple");
	else if (a->type == ORIGIN && a->value.p[0] > 2)
		attr_fault(p, a, r->action, "ORIGIN out of range");
}

/* TLVs of 2 octets of type and 2 of length fill `r` exactly. */
static bool tlvs_fit(struct cw_rd r)
{
	const uint8_t *head;

	while (cw_rd_left(&r) > 0) {
		if (cw_rd_take(&r, 4, &head) != CW_OK || cw_rd_skip(&r, cw_be16(head + 2)) != CW_OK)
			return false;
	}
	return true;
}

/* RFC 9012 2: sub-TLVs have an octet of type; types from 128 on have two octets of length. */
static bool subtlvs_fit(struct cw_rd r)
{
	uint16_t len;
	uint8_t type, len8;

	while (cw_rd_left(&r) > 0) {
		if (cw_rd_u8(&r, &type) != CW_OK)
			return false;
		if (type >= 128) {
			if (cw_rd_be16(&r, &len) != CW_OK)
				return false;
		} else {
			if (cw_rd_u8(&r, &len8) != CW_OK)
				return false;
			len = len8;
		}
		if (cw_rd_skip(&r, len) != CW_OK)
			return false;
	}
	return true;
}

static bool tunnels_fit(struct cw_rd r)
{
	struct cw_rd inner;
	const uint8_t *head;

	while (cw_rd_left(&r) > 0) {
		if (cw_rd_take(&r, 4, &head) != CW_OK ||
		    cw_rd_child(&r, cw_be16(head + 2), &inner) != CW_OK || !subtlvs_fit(inner))
			return false;
	}
	return true;
}

/* Every prefix of unicast NLRI can be read. */
static bool nlri_fit(struct cw_rd r, uint16_t afi)
{
	struct cw_prefix ignored;

	while (cw_rd_left(&r) > 0) {
		if (cw_bgp_nlri_next(&r, afi, &ignored) != CW_OK)
			return false;
	}
	return true;
}

static bool is_unicast(uint16_t afi, uint8_t safi)
{
	return safi == 1 && (afi == 1 || afi == 2);
}

/* RFC 9552 8.2.2: NLRI whose TLVs do not fit are discarded, if the list as such can be read. */
static void check_nlri(struct parse *p, const struct attr *a, struct cw_bgp_routes *r)
{
	struct cw_rd nlri = r->nlri, one;
	const uint8_t *head;

	if (is_unicast(r->afi, r->safi)) {
		if (!nlri_fit(r->nlri, r->afi))
			attr_fault(p, a, CW_BGP_RESET, "NLRI can't be read");
		return;
	}
	while (r->afi == AFI_LS && cw_rd_left(&nlri) > 0) {
		if (cw_rd_take(&nlri, 4, &head) != CW_OK ||
		    cw_rd_child(&nlri, cw_be16(head + 2), &one) != CW_OK) {
			attr_fault(p, a, CW_BGP_RESET, "NLRI can't be read");
			return;
		}
		/* protocol and identifier, then descriptors */
		if (cw_rd_skip(&one, 9) != CW_OK || !tlvs_fit(one))
			attr_fault(p, a, CW_BGP_DISCARD, "link-state NLRI with a TLV past its end");
	}
	r->nlri.p = r->nlri.end; /* not a family that we read */
}

static void read_reach(struct parse *p, const struct attr *a)
{
	struct cw_bgp_routes r = {0};
	struct cw_rd v = a->value;
	const uint8_t *h;

	if (cw_rd_take(&v, 4, &h) != CW_OK) {
		attr_fault(p, a, CW_BGP_RESET, "MP_REACH_NLRI is too short");
		return;
	}
	r.afi = cw_be16(h);
	r.safi = h[2];
	r.next_hop_len = h[3];
	if (cw_rd_take(&v, h[3], &r.next_hop) != CW_OK || cw_rd_skip(&v, 1) != CW_OK) {
		attr_fault(p, a, CW_BGP_RESET, "next hop exceeds MP_REACH_NLRI");
		return;
	}
	if (is_unicast(r.afi, r.safi) && h[3] != 4 && h[3] != 16 && h[3] != 32) {
		attr_fault(p, a, CW_BGP_RESET, "length of the next hop is wrong");
		return;
	}
	r.nlri = v;
	check_nlri(p, a, &r);
	if (!p->discarded)
		p->u->announce[1] = r;
}

static void read_unreach(struct parse *p, const struct attr *a)
{
	struct cw_bgp_routes r = {0};
	struct cw_rd v = a->value;
	const uint8_t *h;

	if (cw_rd_take(&v, 3, &h) != CW_OK) {
		attr_fault(p, a, CW_BGP_RESET, "MP_UNREACH_NLRI is too short");
		return;
	}
	r.afi = cw_be16(h);
	r.safi = h[2];
	r.nlri = v;
	check_nlri(p, a, &r);
	if (!p->discarded)
		p->u->withdraw[1] = r;
}

static void read_nhc(struct parse *p, const struct attr *a)
{
	if ((a->flags & (OPTIONAL | TRANSITIVE)) != (OPTIONAL | TRANSITIVE)) {
		attr_fault(p, a, CW_BGP_DISCARD, "flags of the attribute are wrong");
		return;
	}
	p->u->has_nhc = true;
	p->u->nhc_flags = a->flags;
	p->u->nhc = a->value;
}

/* RFC 7606 3 (g): of repeated attributes the first counts, but for these two. */
static bool repeated(struct parse *p, const struct attr *a)
{
	uint32_t *word = &p->seen[a->type / 32], bit = 1u << a->type % 32;
	bool again = (*word & bit) != 0;

	*word |= bit;
	if (!again)
		return false;
	if (a->type == MP_REACH || a->type == MP_UNREACH)
		attr_fault(p, a, CW_BGP_RESET, "attribute is there twice");
	else
		attr_fault(p, a, CW_BGP_DISCARD, "attribute is there twice");
	return true;
}

static void read_attr(struct parse *p, const struct attr *a)
{
	const struct rule *r = rule_of(a->type);

	p->discarded = false;
	if (repeated(p, a))
		return;
	if (a->type == p->codes->bgp_attr) {
		read_nhc(p, a);
		return;
	}
	if (r == NULL) {
		if ((a->flags & OPTIONAL) == 0)
			attr_fault(p, a, CW_BGP_RESET, "unrecognised well-known attribute");
		return;
	}
	check_rule(p, a, r);
	if (p->discarded)
		return;
	if (a->type == TUNNEL_ENCAP && !tunnels_fit(a->value))
		attr_fault(p, a, CW_BGP_WITHDRAW, "tunnel encapsulation TLV past its end");
	else if (a->type == BGP_LS && !tlvs_fit(a->value))
		attr_fault(p, a, CW_BGP_DISCARD, "link-state TLV past its end");
	else if (a->type == NEXT_HOP)
		p->u->announce[0].next_hop = a->value.p;
	else if (a->type == MP_REACH)
		read_reach(p, a);
	else if (a->type == MP_UNREACH)
		read_unreach(p, a);
}

/* ---- The message --------------------------------------------------------------------------- */

/* RFC 7606 4: an attribute that reaches beyond the attributes' total length. */
static int take_attr(struct parse *p, struct cw_rd *r, struct attr *a)
{
	const uint8_t *h, *at = r->p;
	size_t left = cw_rd_left(r), len;

	if (cw_rd_take(r, 3, &h) != CW_OK)
		goto over;
	a->at = h;
	a->flags = h[0];
	a->type = h[1];
	len = h[2];
	if ((h[0] & EXTENDED) != 0) {
		if (cw_rd_skip(r, 1) != CW_OK)
			goto over;
		len = cw_be16(h + 2);
	}
	if (cw_rd_child(r, len, &a->value) == CW_OK)
		return CW_OK;
over:
	fault(p->u, CW_BGP_WITHDRAW, left >= 2 ? at[1] : 0, at, left,
	      "attribute exceeds the attributes' total length");
	return CW_E_LENGTH;
}

static bool has(const struct parse *p, unsigned type)
{
	return (p->seen[type / 32] >> type % 32 & 1) != 0;
}

/* RFC 7606 3 (d): missing well-known mandatory attributes. */
static void check_missing(struct parse *p)
{
	struct cw_bgp_update *u = p->u;
	bool v4 = cw_rd_left(&u->announce[0].nlri) > 0;

	if (!v4 && cw_rd_left(&u->announce[1].nlri) == 0)
		return;
	if (!has(p, ORIGIN))
		fault(u, CW_BGP_WITHDRAW, ORIGIN, NULL, 0, "ORIGIN is missing");
	if (!has(p, AS_PATH))
		fault(u, CW_BGP_WITHDRAW, AS_PATH, NULL, 0, "AS_PATH is missing");
	if (v4 && !has(p, NEXT_HOP))
		fault(u, CW_BGP_WITHDRAW, NEXT_HOP, NULL, 0, "NEXT_HOP is missing");
}

static int take_part(struct cw_bgp_update *u, struct cw_rd *r, struct cw_rd *part, const char *why)
{
	const uint8_t *at = r->p;
	size_t left = cw_rd_left(r);
	uint16_t len;

	if (cw_rd_be16(r, &len) == CW_OK && cw_rd_child(r, len, part) == CW_OK)
		return CW_OK;
	fault(u, CW_BGP_RESET, 0, at, left, why);
	return CW_E_LENGTH;
}

enum cw_bgp_action cw_bgp_update_parse(struct cw_bgp_update *out, const struct cw_pnc_codes *codes,
				       const uint8_t *body, size_t len)
{
	struct parse p = {.u = out, .codes = codes};
	struct cw_rd r = cw_rd_init(body, len), attrs;
	struct attr a;

	*out = (struct cw_bgp_update){0};
	if (take_part(out, &r, &out->withdraw[0].nlri, "withdrawn routes exceed the message") !=
		    CW_OK ||
	    take_part(out, &r, &attrs, "attributes exceed the message") != CW_OK)
		return out->action;
	out->withdraw[0].afi = out->announce[0].afi = 1;
	out->withdraw[0].safi = out->announce[0].safi = 1;
	out->announce[0].nlri = r;
	out->announce[0].next_hop_len = 4;
	if (!nlri_fit(r, 1) || !nlri_fit(out->withdraw[0].nlri, 1))
		fault(out, CW_BGP_RESET, 0, body, len, "NLRI can't be read");
	while (cw_rd_left(&attrs) > 0 && take_attr(&p, &attrs, &a) == CW_OK)
		read_attr(&p, &a);
	check_missing(&p);
	if (out->action >= CW_BGP_WITHDRAW)
		out->has_nhc = false;
	return out->action;
}

int cw_bgp_nlri_next(struct cw_rd *nlri, uint16_t afi, struct cw_prefix *out)
{
	struct cw_rd r = *nlri;
	uint8_t plen;
	int err;

	if ((err = cw_rd_u8(&r, &plen)) != CW_OK)
		return err;
	err = cw_pnc_take_prefix(&r, afi == 2 ? 6 : 4, plen, (plen + 7u) / 8, out);
	if (err == CW_OK)
		*nlri = r;
	return err == CW_E_SHORT ? CW_E_LENGTH : err;
}

int cw_bgp_relay_flags(uint8_t flags, bool known)
{
	flags &= OPTIONAL | TRANSITIVE | PARTIAL | EXTENDED;
	if (known)
		return flags;
	if ((flags & OPTIONAL) == 0)
		return CW_E_FORBIDDEN;
	return (flags & TRANSITIVE) != 0 ? flags | PARTIAL : 0;
}

/* ---- Attribute 39 -------------------------------------------------------------------------- */

struct nhc {
	const uint8_t *head, *next_hop;
	size_t next_hop_len;
	struct cw_rd chars;
};

static const char *open_nhc(struct cw_rd v, struct nhc *n)
{
	if (cw_rd_take(&v, CW_SIZE_BGP_NHC, &n->head) != CW_OK)
		return "attribute ends inside its head";
	n->next_hop_len = cw_bgp_nhc_nhlen(n->head);
	if (n->next_hop_len != 4 && n->next_hop_len != 16 && n->next_hop_len != 32)
		return "length of the next hop is wrong";
	if (cw_rd_take(&v, n->next_hop_len, &n->next_hop) != CW_OK)
		return "next hop exceeds the attribute";
	n->chars = v;
	return tlvs_fit(v) ? NULL : "characteristic exceeds the attribute";
}

/* Of a global and a link-local address the global one is compared. */
static bool same_hop(const struct nhc *n, const struct cw_bgp_routes *r)
{
	size_t a = n->next_hop_len == 32 ? 16 : n->next_hop_len;
	size_t b = r->next_hop_len == 32 ? 16 : r->next_hop_len;

	return a == b && r->next_hop != NULL && memcmp(n->next_hop, r->next_hop, a) == 0;
}

/* The first PNC characteristic; its value is NULL if there is none. */
static const char *find_pnc(struct cw_rd chars, uint16_t code, struct cw_addr *proxy)
{
	const uint8_t *h, *value;

	*proxy = (struct cw_addr){0};
	while (cw_rd_take(&chars, CW_SIZE_BGP_CHAR, &h) == CW_OK &&
	       cw_rd_take(&chars, cw_bgp_char_length(h), &value) == CW_OK) {
		if (cw_bgp_char_code(h) != code)
			continue;
		if (cw_bgp_char_length(h) != 4 && cw_bgp_char_length(h) != 16)
			return "PNC characteristic of neither 4 nor 16 octets";
		if (proxy->version != 0)
			continue;
		proxy->version = cw_bgp_char_length(h) == 4 ? 4 : 6;
		memcpy(proxy->addr, value, cw_bgp_char_length(h));
	}
	return NULL;
}

enum cw_nhc_verdict cw_nhc_judge(const struct cw_bgp_update *u, const struct cw_bgp_routes *r,
				 const struct cw_pnc_codes *codes, struct cw_addr *proxy,
				 const char **why)
{
	const char *bad = NULL;
	struct nhc n;

	*proxy = (struct cw_addr){0};
	if (why != NULL)
		*why = NULL;
	if (!u->has_nhc)
		return CW_NHC_ABSENT;
	if ((bad = open_nhc(u->nhc, &n)) == NULL)
		bad = find_pnc(n.chars, codes->bgp_code, proxy);
	if (bad != NULL) {
		*proxy = (struct cw_addr){0};
		if (why != NULL)
			*why = bad;
		return CW_NHC_MALFORMED;
	}
	if (!same_hop(&n, r)) {
		*proxy = (struct cw_addr){0};
		return CW_NHC_MISMATCH;
	}
	return proxy->version != 0 ? CW_NHC_OK : CW_NHC_NO_PNC;
}

static size_t addr_len(const struct cw_addr *a)
{
	return a->version == 6 ? 16 : 4;
}

static void put_pnc(struct cw_wr *w, const struct cw_pnc_codes *codes, const struct cw_addr *proxy)
{
	cw_wr_be16(w, codes->bgp_code);
	cw_wr_be16(w, (uint16_t)addr_len(proxy));
	cw_wr_bytes(w, proxy->addr, addr_len(proxy));
}

void cw_nhc_put(struct cw_wr *w, const struct cw_pnc_codes *codes, uint8_t family,
		const struct cw_addr *next_hop, const struct cw_addr *proxy)
{
	uint8_t h[CW_SIZE_BGP_NHC] = {0};

	cw_bgp_nhc_set_afi(h, family == 6 ? 2 : 1);
	cw_bgp_nhc_set_safi(h, 1);
	cw_bgp_nhc_set_nhlen(h, (uint32_t)addr_len(next_hop));
	cw_wr_bytes(w, h, sizeof(h));
	cw_wr_bytes(w, next_hop->addr, addr_len(next_hop));
	put_pnc(w, codes, proxy);
}

int cw_nhc_edit(struct cw_wr *w, const struct cw_pnc_codes *codes, const uint8_t *old, size_t len,
		const struct cw_addr *proxy)
{
	const uint8_t *h;
	struct nhc n;

	if (open_nhc(cw_rd_init(old, len), &n) != NULL)
		return CW_E_LENGTH;
	cw_wr_bytes(w, n.head, CW_SIZE_BGP_NHC + n.next_hop_len);
	while (cw_rd_take(&n.chars, CW_SIZE_BGP_CHAR, &h) == CW_OK &&
	       cw_rd_skip(&n.chars, cw_bgp_char_length(h)) == CW_OK) {
		if (proxy != NULL && cw_bgp_char_code(h) >= codes->bgp_code) {
			put_pnc(w, codes, proxy);
			proxy = NULL;
		}
		if (cw_bgp_char_code(h) != codes->bgp_code)
			cw_wr_bytes(w, h, CW_SIZE_BGP_CHAR + cw_bgp_char_length(h));
	}
	if (proxy != NULL)
		put_pnc(w, codes, proxy);
	return w->err;
}
