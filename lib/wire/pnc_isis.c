/* pnc_isis.c - Prefix Attribute Flags in the reachability TLVs of IS-IS.
 * Spec: pnc.h; Fast CNP proxy 5.1, RFC 7794, RFC 5305 4, RFC 5308 2, RFC 5120 7.3. */
#include "lib/wire/pnc_int.h"

enum { FLAG_R = 1, FLAG_N = 2, FLAG_U = 5, FLAG_UP = 6 }; /* bits, draft figure 7 */
enum { SOURCE4 = 11, SOURCE6 = 12 };                      /* sub-TLVs, RFC 7794 2.2 */

struct walk {
	const struct cw_pnc_codes *codes;
	const uint8_t *base;
	cw_pnc_fn *fn;
	void *arg;
	struct cw_pnc_error *e;
	bool v6;
	uint8_t type;
	uint16_t mt;
	bool stop;
};

static int fault(const struct walk *w, int err, const uint8_t *at, const char *what)
{
	return cw_pnc_fault(w->e, err, (size_t)(at - w->base), what);
}

static void set_flags(const struct cw_pnc_codes *codes, struct cw_pnc_prefix *p)
{
	p->pnc = (p->flags & cw_pnc_bit(codes->isis_bit)) != 0;
	/* RFC 7794 2.1: N is ignored unless the prefix is a host's. */
	p->node = (p->flags & cw_pnc_bit(FLAG_N)) != 0 && cw_pnc_is_host(&p->prefix);
	p->readvertised = (p->flags & cw_pnc_bit(FLAG_R)) != 0;
	p->unreachable = (p->flags & (cw_pnc_bit(FLAG_U) | cw_pnc_bit(FLAG_UP))) != 0;
}

/* Of one for each address family the prefix's own counts. */
static void take_source(struct cw_pnc_prefix *p, const uint8_t *head, const uint8_t *value)
{
	uint8_t version = head[0] == SOURCE4 ? 4 : 6;

	if (head[1] != (version == 4 ? 4 : 16) || p->source.version == p->prefix.version)
		return;
	p->source = (struct cw_addr){.version = version};
	memcpy(p->source.addr, value, head[1]);
}

static int read_subtlvs(const struct walk *w, struct cw_pnc_prefix *p)
{
	struct cw_rd r = cw_rd_init(p->sub, p->sub_len);
	const uint8_t *head, *value;

	while (cw_rd_left(&r) > 0) {
		if (cw_rd_take(&r, 2, &head) != CW_OK)
			return fault(w, CW_E_SHORT, r.p, "half a sub-TLV header");
		if (cw_rd_take(&r, head[1], &value) != CW_OK)
			return fault(w, CW_E_LENGTH, head, "sub-TLV exceeds its block");
		if (head[0] == SOURCE4 || head[0] == SOURCE6)
			take_source(p, head, value);
		if (head[0] != w->codes->isis_subtlv)
			continue;
		if (p->has_flags) {
			p->duplicate = true;
			continue;
		}
		p->has_flags = true;
		p->flags_len = head[1];
		p->flags = cw_pnc_bits(value, head[1]);
	}
	set_flags(w->codes, p);
	return CW_OK;
}

static int read_head(const struct walk *w, struct cw_rd *r, struct cw_pnc_prefix *p, bool *sub)
{
	const uint8_t *h;
	unsigned plen;
	int err;

	if (cw_rd_take(r, w->v6 ? CW_SIZE_ISIS_REACH6 : CW_SIZE_ISIS_REACH4, &h) != CW_OK)
		return fault(w, CW_E_SHORT, r->p, "half a prefix");
	p->at = h;
	p->metric = w->v6 ? cw_isis_reach6_metric(h) : cw_isis_reach4_metric(h);
	p->down = (w->v6 ? cw_isis_reach6_down(h) : cw_isis_reach4_down(h)) != 0;
	*sub = (w->v6 ? cw_isis_reach6_sub(h) : cw_isis_reach4_sub(h)) != 0;
	plen = w->v6 ? cw_isis_reach6_plen(h) : cw_isis_reach4_plen(h);
	err = cw_pnc_take_prefix(r, w->v6 ? 6 : 4, plen, (plen + 7) / 8, &p->prefix);
	if (err == CW_E_RANGE)
		return fault(w, err, h, "prefix length out of range");
	return err != CW_OK ? fault(w, err, h, "prefix exceeds its TLV") : CW_OK;
}

static int read_entry(const struct walk *w, struct cw_rd *r, struct cw_pnc_prefix *p)
{
	struct cw_rd block;
	uint8_t len;
	bool sub = false;
	int err;

	*p = (struct cw_pnc_prefix){.proto = CW_PNC_ISIS, .kind = w->type, .mt = w->mt};
	if ((err = read_head(w, r, p, &sub)) != CW_OK)
		return err;
	p->sub = r->p;
	if (sub) {
		if (cw_rd_u8(r, &len) != CW_OK)
			return fault(w, CW_E_SHORT, r->p, "sub-TLVs announced, none there");
		if (cw_rd_child(r, len, &block) != CW_OK)
			return fault(w, CW_E_LENGTH, r->p - 1, "sub-TLVs exceed their TLV");
		p->sub = block.p;
		p->sub_len = len;
	}
	p->len = (size_t)(r->p - p->at);
	return read_subtlvs(w, p);
}

static int walk_value(struct walk *w, uint8_t type, const uint8_t *value, size_t len)
{
	struct cw_rd r = cw_rd_init(value, len);
	struct cw_pnc_prefix p;
	uint16_t mt;
	int err;

	w->type = type;
	w->mt = 0;
	w->v6 = type == CW_ISIS_TLV_REACH6 || type == CW_ISIS_TLV_MT_REACH6;
	if (type == CW_ISIS_TLV_MT_REACH4 || type == CW_ISIS_TLV_MT_REACH6) {
		if (cw_rd_be16(&r, &mt) != CW_OK)
			return fault(w, CW_E_SHORT, r.p, "no topology in the TLV");
		w->mt = mt & 0x0fff;
	}
	while (cw_rd_left(&r) > 0 && !w->stop) {
		if ((err = read_entry(w, &r, &p)) != CW_OK)
			return err;
		w->stop = w->fn(w->arg, &p) != 0;
	}
	return CW_OK;
}

static bool is_reach(uint8_t type)
{
	return type == CW_ISIS_TLV_REACH4 || type == CW_ISIS_TLV_MT_REACH4 ||
	       type == CW_ISIS_TLV_REACH6 || type == CW_ISIS_TLV_MT_REACH6;
}

int cw_isis_reach_walk(const struct cw_pnc_codes *codes, uint8_t type, const uint8_t *value,
		       size_t len, cw_pnc_fn *fn, void *arg, struct cw_pnc_error *e)
{
	struct walk w = {.codes = codes, .base = value, .fn = fn, .arg = arg, .e = e};

	if (e != NULL)
		*e = (struct cw_pnc_error){0};
	if (!is_reach(type))
		return cw_pnc_fault(e, CW_E_UNKNOWN, 0, "not a TLV of prefixes");
	return walk_value(&w, type, value, len);
}

int cw_isis_walk(const struct cw_pnc_codes *codes, const uint8_t *tlvs, size_t len, cw_pnc_fn *fn,
		 void *arg, struct cw_pnc_error *e)
{
	struct walk w = {.codes = codes, .base = tlvs, .fn = fn, .arg = arg, .e = e};
	struct cw_rd r = cw_rd_init(tlvs, len);
	const uint8_t *head, *value;
	int err, first = CW_OK;

	if (e != NULL)
		*e = (struct cw_pnc_error){0};
	while (cw_rd_left(&r) > 0 && !w.stop) {
		err = CW_OK;
		if (cw_rd_take(&r, 2, &head) != CW_OK)
			return fault(&w, first != CW_OK ? first : CW_E_SHORT, r.p,
				     "half a TLV header");
		if (cw_rd_take(&r, head[1], &value) != CW_OK)
			return fault(&w, first != CW_OK ? first : CW_E_LENGTH, head,
				     "TLV exceeds the LSP");
		if (is_reach(head[0]))
			err = walk_value(&w, head[0], value, head[1]);
		if (first == CW_OK)
			first = err;
	}
	return first;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void put_bit(uint8_t *flags, unsigned n, bool on)
{
	uint8_t mask = (uint8_t)(0x80u >> n % 8);

	flags[n / 8] = (uint8_t)(on ? flags[n / 8] | mask : flags[n / 8] & ~mask);
}

static void put_prefix(struct cw_wr *w, const struct cw_pnc_prefix *p, bool sub)
{
	uint8_t h[CW_SIZE_ISIS_REACH6] = {0};

	if (p->prefix.version == 6) {
		cw_isis_reach6_set_metric(h, p->metric);
		cw_isis_reach6_set_down(h, p->down);
		cw_isis_reach6_set_sub(h, sub);
		cw_isis_reach6_set_plen(h, p->prefix.plen);
		cw_wr_bytes(w, h, CW_SIZE_ISIS_REACH6);
	} else {
		cw_isis_reach4_set_metric(h, p->metric);
		cw_isis_reach4_set_down(h, p->down);
		cw_isis_reach4_set_sub(h, sub);
		cw_isis_reach4_set_plen(h, p->prefix.plen);
		cw_wr_bytes(w, h, CW_SIZE_ISIS_REACH4);
	}
	cw_wr_bytes(w, p->prefix.addr, (p->prefix.plen + 7u) / 8);
}

/* Octets that hold bit `n`, and what the flags set so far need; no more (RFC 7794 2). */
static size_t flags_size(const struct cw_pnc_codes *codes, const uint8_t *flags)
{
	size_t n = 4;

	while (n > 1 && flags[n - 1] == 0)
		n--;
	return n > codes->isis_bit / 8u ? n : codes->isis_bit / 8u + 1u;
}

static void put_source(struct cw_wr *w, const struct cw_addr *a)
{
	if (a->version == 0)
		return;
	cw_wr_u8(w, a->version == 4 ? SOURCE4 : SOURCE6);
	cw_wr_u8(w, a->version == 4 ? 4 : 16);
	cw_wr_bytes(w, a->addr, a->version == 4 ? 4 : 16);
}

void cw_isis_reach_put(struct cw_wr *w, const struct cw_pnc_codes *codes,
		       const struct cw_pnc_prefix *p)
{
	size_t n, source = p->source.version == 0 ? 0 : p->source.version == 4 ? 6 : 18;
	uint8_t flags[32] = {0};

	cw_put_be32(flags, p->flags);
	put_bit(flags, FLAG_N, p->node && cw_pnc_is_host(&p->prefix));
	put_bit(flags, FLAG_R, p->readvertised);
	put_bit(flags, codes->isis_bit, p->pnc);
	n = flags_size(codes, flags);
	put_prefix(w, p, true);
	cw_wr_u8(w, (uint8_t)(2 + n + source));
	cw_wr_u8(w, codes->isis_subtlv);
	cw_wr_u8(w, (uint8_t)n);
	cw_wr_bytes(w, flags, n);
	put_source(w, &p->source);
}

/* One flags sub-TLV into `out` (at least as long as it was, long enough for the P flag). */
static void edit_flags(struct cw_wr *out, const struct cw_pnc_codes *codes, const uint8_t *value,
		       size_t len, const struct cw_isis_edit *edit)
{
	uint8_t flags[255] = {0};
	size_t need = codes->isis_bit / 8u + 1u, n = len;

	if (len > 0)
		memcpy(flags, value, len);
	if ((edit->pnc || edit->leak) && n < need)
		n = need;
	if (codes->isis_bit / 8u < n)
		put_bit(flags, codes->isis_bit, edit->pnc);
	if (edit->leak)
		put_bit(flags, FLAG_R, true);
	cw_wr_u8(out, codes->isis_subtlv);
	cw_wr_u8(out, (uint8_t)n);
	cw_wr_bytes(out, flags, n);
}

static void edit_subtlvs(struct cw_wr *out, const struct cw_pnc_codes *codes,
			 const struct cw_pnc_prefix *p, const struct cw_isis_edit *edit)
{
	struct cw_rd r = cw_rd_init(p->sub, p->sub_len);
	const uint8_t *head, *value;
	bool done = false;

	while (cw_rd_take(&r, 2, &head) == CW_OK && cw_rd_take(&r, head[1], &value) == CW_OK) {
		if (head[0] == codes->isis_subtlv && !done) {
			edit_flags(out, codes, value, head[1], edit);
			done = true;
		} else {
			cw_wr_bytes(out, head, 2u + head[1]);
		}
	}
	if (!done && (edit->pnc || edit->leak))
		edit_flags(out, codes, NULL, 0, edit);
	if (edit->leak && p->source.version == 0)
		put_source(out, &edit->source);
}

int cw_isis_reach_edit(struct cw_wr *w, const struct cw_pnc_codes *codes,
		       const struct cw_pnc_prefix *p, const struct cw_isis_edit *edit)
{
	uint8_t block[255], *at = w->p;
	struct cw_wr out = cw_wr_init(block, sizeof(block));
	size_t n, head = p->prefix.version == 6 ? CW_SIZE_ISIS_REACH6 : CW_SIZE_ISIS_REACH4;

	edit_subtlvs(&out, codes, p, edit);
	if (out.err != CW_OK)
		return out.err;
	n = (size_t)(out.p - block);
	cw_wr_bytes(w, p->at, head + (p->prefix.plen + 7u) / 8);
	if (n > 0) {
		cw_wr_u8(w, (uint8_t)n);
		cw_wr_bytes(w, block, n);
	}
	if (w->err != CW_OK)
		return w->err;
	if (p->prefix.version == 6) {
		cw_isis_reach6_set_sub(at, n > 0);
		if (edit->leak)
			cw_isis_reach6_set_down(at, edit->down);
	} else {
		cw_isis_reach4_set_sub(at, n > 0);
		if (edit->leak)
			cw_isis_reach4_set_down(at, edit->down);
	}
	if (edit->leak)
		cw_put_be32(at, edit->metric);
	return CW_OK;
}
