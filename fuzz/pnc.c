/* pnc.c - IS-IS, OSPF and BGP parsers of the proxy node capability: what they hand out lies inside
 * the input, and what is edited is read again as it was meant. Input: an octet that chooses, then
 * the block. */
#include "causeway/pnc.h"
#include "fuzz/fuzz.h"

static const struct cw_pnc_codes codes = CW_PNC_CODES;
static const uint16_t lsa[] = {CW_OSPF3_E_INTER, CW_OSPF3_E_EXTERNAL, CW_OSPF3_E_NSSA,
			       CW_OSPF3_E_INTRA};

struct run {
	const uint8_t *data, *end;
	uint8_t which;
	const struct cw_pnc_prefix *was; /* second walk: what was edited */
	bool want;
};

/* The entry, read again: all the same but for the P flag. */
static int same(void *arg, const struct cw_pnc_prefix *p)
{
	const struct run *r = arg;
	const struct cw_pnc_prefix *was = r->was;

	FUZZ_CHECK(memcmp(&p->prefix, &was->prefix, sizeof(p->prefix)) == 0);
	FUZZ_CHECK(p->metric == was->metric && p->options == was->options);
	FUZZ_CHECK(p->kind == was->kind && p->node == was->node && p->down == was->down);
	FUZZ_CHECK(p->pnc == r->want);
	FUZZ_CHECK((p->flags ^ was->flags) == 0 || p->pnc != was->pnc);
	return 0;
}

static void edit_isis(struct run *r, const struct cw_pnc_prefix *p, bool pnc)
{
	const struct cw_isis_edit edit = {.pnc = pnc};
	uint8_t out[2 + CW_PNC_ISIS_ENTRY_MAX] = {0};
	bool mt = p->kind == CW_ISIS_TLV_MT_REACH4 || p->kind == CW_ISIS_TLV_MT_REACH6;
	struct cw_wr w = cw_wr_init(out + 2, sizeof(out) - 2);
	struct run again = {.was = p, .want = pnc};
	size_t skip = mt ? 0 : 2;

	if (cw_isis_reach_edit(&w, &codes, p, &edit) != CW_OK)
		return;
	FUZZ_CHECK(cw_isis_reach_walk(&codes, (uint8_t)p->kind, out + skip,
				      (size_t)(w.p - out) - skip, same, &again, NULL) == CW_OK);
	(void)r;
}

static void edit_ospf(struct run *r, const struct cw_pnc_prefix *p, bool pnc)
{
	static uint8_t out[12 + 70000];
	struct cw_wr w = cw_wr_init(out + 12, sizeof(out) - 12);
	const struct cw_ospf_edit edit = {.pnc = pnc, .kind = -1};
	struct run again = {.was = p, .want = pnc};
	size_t skip = p->kind == CW_OSPF3_E_INTRA ? 0 : 12, len;
	int err;

	memset(out, 0, 12);
	err = p->proto == CW_PNC_OSPF2 ? cw_ospf2_prefix_edit(&w, &codes, p, &edit)
				       : cw_ospf3_prefix_edit(&w, &codes, p, &edit);
	if (err != CW_OK)
		return;
	cw_wr_zero(&w, (4 - (size_t)(w.p - out) % 4) % 4);
	len = (size_t)(w.p - out) - skip;
	err = p->proto == CW_PNC_OSPF2
		      ? cw_ospf2_walk(&codes, out + 12, len, same, &again, NULL)
		      : cw_ospf3_walk(&codes, p->kind, out + skip, len, same, &again, NULL);
	FUZZ_CHECK(err == CW_OK);
	(void)r;
}

static int each(void *arg, const struct cw_pnc_prefix *p)
{
	struct run *r = arg;

	FUZZ_CHECK(p->at >= r->data && p->at + p->len <= r->end);
	FUZZ_CHECK(p->sub >= p->at && p->sub + p->sub_len <= r->end);
	if (p->proto == CW_PNC_ISIS) {
		edit_isis(r, p, true);
		edit_isis(r, p, false);
	} else {
		edit_ospf(r, p, true);
		edit_ospf(r, p, false);
	}
	return 0;
}

static void nlri(struct cw_rd r, uint16_t afi)
{
	struct cw_prefix p;

	while (cw_bgp_nlri_next(&r, afi, &p) == CW_OK)
		;
	FUZZ_CHECK(cw_rd_left(&r) == 0);
}

static void bgp(const uint8_t *data, size_t len)
{
	uint8_t out[CW_BGP_MESSAGE_MAX + 64];
	struct cw_wr w = cw_wr_init(out, sizeof(out));
	struct cw_bgp_update u;
	struct cw_addr proxy;
	unsigned i;

	if (cw_bgp_update_parse(&u, &codes, data, len) == CW_BGP_RESET)
		return;
	FUZZ_CHECK(u.bad_len == 0 || (u.bad >= data && u.bad + u.bad_len <= data + len));
	for (i = 0; i < 2; i++) {
		nlri(u.announce[i].nlri, u.announce[i].afi);
		nlri(u.withdraw[i].nlri, u.withdraw[i].afi);
		if (cw_nhc_judge(&u, &u.announce[i], &codes, &proxy, NULL) != CW_NHC_OK)
			continue;
		FUZZ_CHECK(proxy.version == 4 || proxy.version == 6);
		w = cw_wr_init(out, sizeof(out));
		FUZZ_CHECK(cw_nhc_edit(&w, &codes, u.nhc.p, cw_rd_left(&u.nhc), &proxy) == CW_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {.data = data + 1, .end = data + size};
	int err = CW_OK;

	if (size == 0)
		return 0;
	r.which = data[0] % 12;
	if (r.which < 4)
		err = cw_isis_reach_walk(&codes, (const uint8_t[]){135, 235, 236, 237}[r.which],
					 r.data, size - 1, each, &r, NULL);
	else if (r.which < 8)
		err = cw_ospf3_walk(&codes, lsa[r.which - 4], r.data, size - 1, each, &r, NULL);
	else if (r.which == 8)
		err = cw_ospf2_walk(&codes, r.data, size - 1, each, &r, NULL);
	else if (r.which == 9)
		err = cw_isis_walk(&codes, r.data, size - 1, each, &r, NULL);
	else
		bgp(r.data, size - 1);
	FUZZ_CHECK(err <= CW_OK);
	return 0;
}
