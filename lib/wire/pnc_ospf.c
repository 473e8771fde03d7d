/* pnc_ospf.c - Prefix Attribute Flags in OSPFv2 Extended Prefix Opaque LSAs and OSPFv3 E-LSAs.
 * Spec: pnc.h; Fast CNP proxy 5.2 and 5.3, RFC 7684 2, RFC 8362 3 and 4, RFC 9792. */
#include "lib/wire/pnc_int.h"

enum {
	FLAG_U = 0,
	FLAG_UP = 1, /* bits, draft figures 8 and 9 */
	TLV2_PREFIX = 1,
	TLV3_INTER = 3,
	TLV3_EXTERNAL = 5,
	TLV3_INTRA = 6,
	OSPF2_FLAG_A = 0x80,
	OSPF2_FLAG_N = 0x40,
	OSPF3_OPTION_LA = 0x02,
	OSPF3_OPTION_N = 0x20,
	OSPF2_SOURCE = 4, /* RFC 9084: router ID; the next number is the router address */
	OSPF3_SOURCE = 27
};

struct walk {
	const struct cw_pnc_codes *codes;
	const uint8_t *base;
	cw_pnc_fn *fn; /* NULL: only look for faults */
	void *arg;
	struct cw_pnc_error *e;
	bool v3;
	uint16_t type;   /* OSPFv3 LS type */
	uint16_t tlv;    /* the TLV of prefixes */
	uint16_t subtlv; /* of the flags */
	bool stop;
};

static int fault(const struct walk *w, int err, const uint8_t *at, const char *what)
{
	(void)cw_pnc_fault(w->e, err, (size_t)(at - w->base), what);
	return err;
}

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* A TLV or sub-TLV and its padding. */
static int take_tlv(const struct walk *w, struct cw_rd *r, const uint8_t **head,
		    struct cw_rd *value, const char *exceeds)
{
	size_t len;

	if (cw_rd_take(r, CW_SIZE_OSPF_TLV, head) != CW_OK)
		return fault(w, CW_E_SHORT, r->p, "half a TLV header");
	len = cw_ospf_tlv_length(*head);
	if (cw_rd_left(r) < padded(len))
		return fault(w, CW_E_LENGTH, *head, exceeds);
	*value = cw_rd_init(r->p, len);
	r->p += padded(len);
	return CW_OK;
}

/* RFC 9084 2: those of another length are as if they were not there. The first counts. */
static void read_source(const struct walk *w, uint32_t type, const struct cw_rd *value,
			struct cw_pnc_prefix *p)
{
	uint32_t router = w->v3 ? OSPF3_SOURCE : OSPF2_SOURCE;
	size_t len = cw_rd_left(value);

	if (type == router && len == 4 && cw_be32(p->source_router) == 0)
		memcpy(p->source_router, value->p, 4);
	if (type != router + 1 || len != (w->v3 ? 16u : 4u) || p->source.version != 0)
		return;
	p->source.version = w->v3 ? 6 : 4;
	memcpy(p->source.addr, value->p, len);
}

static int read_subtlvs(const struct walk *w, struct cw_pnc_prefix *p)
{
	struct cw_rd r = cw_rd_init(p->sub, p->sub_len), value = r;
	const uint8_t *head = NULL;
	size_t len;
	int err;

	while (cw_rd_left(&r) > 0) {
		if ((err = take_tlv(w, &r, &head, &value, "sub-TLV exceeds its TLV")) != CW_OK)
			return err;
		if (cw_ospf_tlv_type(head) != w->subtlv) {
			read_source(w, cw_ospf_tlv_type(head), &value, p);
			continue;
		}
		len = cw_rd_left(&value);
		if (len % 4 != 0) /* RFC 9792: the LSA is malformed */
			return fault(w, CW_E_LENGTH, head, "flags are not a multiple of 4 octets");
		if (p->has_flags) {
			p->duplicate = true;
			continue;
		}
		p->has_flags = true;
		p->flags_len = (uint8_t)(len < 252 ? len : 252);
		p->flags = cw_pnc_bits(value.p, len);
	}
	p->pnc = (p->flags & cw_pnc_bit(w->codes->ospf_bit)) != 0;
	p->unreachable = (p->flags & (cw_pnc_bit(FLAG_U) | cw_pnc_bit(FLAG_UP))) != 0;
	return CW_OK;
}

/* Prefix and what is behind it, from the value of a TLV. `skip`: an address family not ours. */
static int read_value(const struct walk *w, struct cw_rd *v, struct cw_pnc_prefix *p, bool *skip)
{
	const uint8_t *h;
	unsigned plen;
	int err;

	*skip = false;
	if (cw_rd_take(v, w->v3 ? CW_SIZE_OSPF3_PREFIX : CW_SIZE_OSPF2_PREFIX, &h) != CW_OK)
		return fault(w, CW_E_SHORT, v->p, "prefix TLV ends inside its head");
	if (w->v3) {
		plen = cw_ospf3_prefix_plen(h);
		p->kind = w->type;
		p->metric = cw_ospf3_prefix_metric(h);
		p->options = (uint8_t)cw_ospf3_prefix_options(h);
	} else {
		plen = cw_ospf2_prefix_plen(h);
		p->kind = (uint16_t)cw_ospf2_prefix_route_type(h);
		p->options = (uint8_t)cw_ospf2_prefix_flags(h);
		*skip = cw_ospf2_prefix_af(h) != 0; /* RFC 7684 2.1: ignored */
	}
	if (*skip)
		return CW_OK;
	err = cw_pnc_take_prefix(v, w->v3 ? 6 : 4, plen, (plen + 31) / 32 * 4, &p->prefix);
	if (err != CW_OK)
		return fault(w, err, h,
			     err == CW_E_RANGE ? "prefix length out of range"
					       : "prefix exceeds its TLV");
	p->node = (p->options & (w->v3 ? OSPF3_OPTION_N : OSPF2_FLAG_N)) != 0 &&
		  cw_pnc_is_host(&p->prefix);
	return CW_OK;
}

static int walk_tlvs(struct walk *w, struct cw_rd r)
{
	struct cw_pnc_prefix p;
	struct cw_rd value = r;
	const uint8_t *head = NULL;
	bool skip = false;
	int err;

	while (cw_rd_left(&r) > 0 && !w->stop) {
		if ((err = take_tlv(w, &r, &head, &value, "TLV exceeds LSA")) != CW_OK)
			return err;
		if (cw_ospf_tlv_type(head) != w->tlv)
			continue;
		p = (struct cw_pnc_prefix){.proto = w->v3 ? CW_PNC_OSPF3 : CW_PNC_OSPF2};
		if ((err = read_value(w, &value, &p, &skip)) != CW_OK)
			return err;
		if (skip)
			continue;
		p.at = head;
		p.len = (size_t)(value.end - head);
		p.sub = value.p;
		p.sub_len = cw_rd_left(&value);
		if ((err = read_subtlvs(w, &p)) != CW_OK)
			return err;
		if (w->fn != NULL)
			w->stop = w->fn(w->arg, &p) != 0;
	}
	return CW_OK;
}

/* Once for faults, once for prefixes. */
static int walk_twice(struct walk *w, struct cw_rd tlvs, cw_pnc_fn *fn)
{
	int err = walk_tlvs(w, tlvs);

	if (err != CW_OK)
		return err;
	w->fn = fn;
	return walk_tlvs(w, tlvs);
}

int cw_ospf2_walk(const struct cw_pnc_codes *codes, const uint8_t *body, size_t len, cw_pnc_fn *fn,
		  void *arg, struct cw_pnc_error *e)
{
	struct walk w = {.codes = codes, .base = body, .arg = arg, .e = e};

	w.tlv = TLV2_PREFIX;
	w.subtlv = codes->ospf2_subtlv;
	if (e != NULL)
		*e = (struct cw_pnc_error){0};
	if (len % 4 != 0)
		return cw_pnc_fault(e, CW_E_LENGTH, len, "LSA is not a multiple of 4 octets");
	return walk_twice(&w, cw_rd_init(body, len), fn);
}

static uint16_t tlv3_of(uint16_t type)
{
	switch (type) {
	case CW_OSPF3_E_INTER:
		return TLV3_INTER;
	case CW_OSPF3_E_EXTERNAL:
	case CW_OSPF3_E_NSSA:
		return TLV3_EXTERNAL;
	case CW_OSPF3_E_INTRA:
		return TLV3_INTRA;
	default:
		return 0;
	}
}

int cw_ospf3_walk(const struct cw_pnc_codes *codes, uint16_t type, const uint8_t *body, size_t len,
		  cw_pnc_fn *fn, void *arg, struct cw_pnc_error *e)
{
	struct walk w = {
		.codes = codes, .base = body, .arg = arg, .e = e, .v3 = true, .type = type};
	struct cw_rd r = cw_rd_init(body, len);

	w.tlv = tlv3_of(type);
	w.subtlv = codes->ospf3_subtlv;
	if (e != NULL)
		*e = (struct cw_pnc_error){0};
	if (w.tlv == 0)
		return cw_pnc_fault(e, CW_E_UNKNOWN, 0, "not an LS type with prefixes");
	if (len % 4 != 0)
		return cw_pnc_fault(e, CW_E_LENGTH, len, "LSA is not a multiple of 4 octets");
	if (type == CW_OSPF3_E_INTRA && cw_rd_skip(&r, CW_SIZE_OSPF3_INTRA) != CW_OK)
		return fault(&w, CW_E_SHORT, r.p, "LSA ends inside its reference");
	return walk_twice(&w, r, fn);
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void put_tlv_head(struct cw_wr *w, unsigned type, size_t len)
{
	cw_wr_be16(w, (uint16_t)type);
	cw_wr_be16(w, (uint16_t)len);
}

static void put_prefix(struct cw_wr *w, const struct cw_prefix *p)
{
	cw_wr_bytes(w, p->addr, (p->plen + 31u) / 32 * 4);
}

static void put_flags(struct cw_wr *w, const struct cw_pnc_codes *codes, uint16_t subtlv,
		      const struct cw_pnc_prefix *p)
{
	uint32_t bit = cw_pnc_bit(codes->ospf_bit);

	put_tlv_head(w, subtlv, 4);
	cw_wr_be32(w, p->pnc ? p->flags | bit : p->flags & ~bit);
}

static size_t tlv_len(const struct cw_pnc_prefix *p, size_t head)
{
	return head + (p->prefix.plen + 31u) / 32 * 4 + CW_SIZE_OSPF_TLV + 4;
}

void cw_ospf2_prefix_put(struct cw_wr *w, const struct cw_pnc_codes *codes,
			 const struct cw_pnc_prefix *p)
{
	uint8_t h[CW_SIZE_OSPF2_PREFIX] = {0};

	cw_ospf2_prefix_set_route_type(h, p->kind);
	cw_ospf2_prefix_set_plen(h, p->prefix.plen);
	cw_ospf2_prefix_set_flags(h, p->options | (p->node ? OSPF2_FLAG_N : 0u));
	put_tlv_head(w, TLV2_PREFIX, tlv_len(p, sizeof(h)));
	cw_wr_bytes(w, h, sizeof(h));
	put_prefix(w, &p->prefix);
	put_flags(w, codes, codes->ospf2_subtlv, p);
}

void cw_ospf3_prefix_put(struct cw_wr *w, const struct cw_pnc_codes *codes, uint16_t type,
			 const struct cw_pnc_prefix *p)
{
	uint8_t h[CW_SIZE_OSPF3_PREFIX] = {0};

	cw_ospf3_prefix_set_metric(h, p->metric);
	cw_ospf3_prefix_set_plen(h, p->prefix.plen);
	cw_ospf3_prefix_set_options(h, p->options | (p->node ? OSPF3_OPTION_N : 0u));
	put_tlv_head(w, tlv3_of(type), tlv_len(p, sizeof(h)));
	cw_wr_bytes(w, h, sizeof(h));
	put_prefix(w, &p->prefix);
	put_flags(w, codes, codes->ospf3_subtlv, p);
}

/* Sub-TLVs of `p` with the P flag as given, made if it isn't there. */
static void edit_subtlvs(struct cw_wr *w, uint16_t subtlv, uint32_t bit,
			 const struct cw_pnc_prefix *p, bool pnc)
{
	struct cw_rd r = cw_rd_init(p->sub, p->sub_len);
	bool done = false;
	uint8_t *at;

	while (cw_rd_left(&r) >= CW_SIZE_OSPF_TLV) {
		const uint8_t *head = r.p;
		size_t len = cw_ospf_tlv_length(head), n = CW_SIZE_OSPF_TLV + padded(len);

		if (cw_rd_skip(&r, n) != CW_OK)
			return; /* can't be: the walk has been here */
		if (cw_ospf_tlv_type(head) != subtlv || done || (len == 0 && pnc)) {
			if (cw_ospf_tlv_type(head) != subtlv || done)
				cw_wr_bytes(w, head, n);
			continue;
		}
		done = true;
		at = w->p;
		cw_wr_bytes(w, head, n);
		if (w->err == CW_OK && len >= 4)
			cw_put_be32(at + 4, pnc ? cw_be32(at + 4) | bit : cw_be32(at + 4) & ~bit);
	}
	if (!done && pnc) {
		put_tlv_head(w, subtlv, 4);
		cw_wr_be32(w, bit);
	}
}

static void put_source(struct cw_wr *w, unsigned type, const struct cw_pnc_prefix *p,
		       const struct cw_ospf_edit *e)
{
	size_t len = e->source.version == 6 ? 16 : 4;

	if (cw_be32(p->source_router) == 0 && cw_be32(e->router) != 0) {
		put_tlv_head(w, type, sizeof(e->router));
		cw_wr_bytes(w, e->router, sizeof(e->router));
	}
	if (p->source.version == 0 && e->source.version != 0) {
		put_tlv_head(w, type + 1, len);
		cw_wr_bytes(w, e->source.addr, len);
	}
}

static int edit(struct cw_wr *w, const struct cw_pnc_codes *codes, const struct cw_pnc_prefix *p,
		const struct cw_ospf_edit *e)
{
	bool v3 = p->proto == CW_PNC_OSPF3;
	uint8_t *at = w->p;
	size_t len;

	cw_wr_bytes(w, p->at, (size_t)(p->sub - p->at));
	edit_subtlvs(w, v3 ? codes->ospf3_subtlv : codes->ospf2_subtlv, cw_pnc_bit(codes->ospf_bit),
		     p, e->pnc);
	if (e->leak)
		put_source(w, v3 ? OSPF3_SOURCE : OSPF2_SOURCE, p, e);
	len = (size_t)(w->p - at) - (w->err == CW_OK ? CW_SIZE_OSPF_TLV : 0);
	if (w->err == CW_OK && len > 0xffff)
		w->err = CW_E_SPACE;
	if (w->err == CW_OK)
		cw_ospf_tlv_set_length(at, (uint32_t)len);
	return w->err;
}

int cw_ospf2_prefix_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
			 const struct cw_pnc_prefix *p, const struct cw_ospf_edit *e)
{
	uint8_t *head = w->p + CW_SIZE_OSPF_TLV;
	int err = edit(w, codes, p, e);

	if (err != CW_OK)
		return err;
	if (e->kind >= 0)
		cw_ospf2_prefix_set_route_type(head, (uint32_t)e->kind);
	if (e->leak)
		cw_ospf2_prefix_set_flags(head, p->options & ~(uint32_t)OSPF2_FLAG_A);
	return CW_OK;
}

int cw_ospf3_prefix_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
			 const struct cw_pnc_prefix *p, const struct cw_ospf_edit *e)
{
	uint8_t *at = w->p, *head = at + CW_SIZE_OSPF_TLV;
	int err = edit(w, codes, p, e);

	if (err != CW_OK)
		return err;
	if (e->kind >= 0)
		cw_ospf_tlv_set_type(at, tlv3_of((uint16_t)e->kind));
	if (!e->leak)
		return CW_OK;
	cw_ospf3_prefix_set_options(head, p->options & ~(uint32_t)OSPF3_OPTION_LA);
	cw_ospf3_prefix_set_metric(head, e->metric);
	return CW_OK;
}
