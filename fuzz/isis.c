/* isis.c - the IS-IS leaf beside a hostile router: limits hold, what it sends is well-formed, what
 * it found lies in what it was told. Input: two octets of settings, then actions: an octet that
 * picks one, and what it needs. PDUs come with a right checksum, so that they get behind it. */
#include "causeway/isis.h"
#include "fuzz/fuzz.h"

enum { LSPS = 64, MTU = 600 };

struct state {
	struct cw_isis *m;
	uint64_t now;
	uint8_t last[CW_ISIS_PDU_MAX]; /* of our LSPs that was sent: it may come back, changed */
	size_t last_len;
};

static void pull(struct state *s)
{
	uint8_t pdu[MTU];
	struct cw_isis_pdu p;
	unsigned sent = 0;
	size_t n;

	while ((n = cw_isis_pull(s->m, pdu, sizeof(pdu), s->now)) > 0) {
		FUZZ_CHECK(n <= MTU && cw_isis_pdu_parse(&p, pdu, n) == CW_OK && p.len == n);
		FUZZ_CHECK(++sent < 4000);
		if (p.type != CW_ISIS_LSP_L1 && p.type != CW_ISIS_LSP_L2)
			continue;
		FUZZ_CHECK(cw_isis_lsp_lifetime(pdu) == 0 || cw_fletcher_ok(pdu + 12, n - 12));
		memcpy(s->last, pdu, n);
		s->last_len = n;
	}
}

static void mend(uint8_t *pdu, size_t len)
{
	uint8_t type;

	if (len < CW_SIZE_ISIS_LSP)
		return;
	type = pdu[4] & 0x1f;
	if (type == CW_ISIS_LSP_L1 || type == CW_ISIS_LSP_L2)
		cw_isis_lsp_set_checksum(pdu, cw_fletcher(pdu + 12, len - 12, 12));
}

static void feed(struct state *s, const uint8_t *pdu, size_t len)
{
	uint8_t *exact = malloc(len > 0 ? len : 1);

	FUZZ_CHECK(exact != NULL);
	if (len > 0)
		memcpy(exact, pdu, len);
	FUZZ_CHECK(cw_isis_input(s->m, exact, len, s->now) <= CW_OK);
	free(exact);
}

/* Types and lengths are right, all else is the input's. */
static void made(struct state *s, struct fuzz_in *in)
{
	static const uint8_t types[] = {17, 18, 20, 24, 25, 26, 27};
	static const uint8_t heads[] = {20, 27, 27, 33, 33, 17, 17};
	unsigned which = fuzz_u8(in) % 7;
	size_t len;
	uint8_t *pdu = fuzz_block(in, heads[which] + fuzz_u8(in), &len);

	if (len >= heads[which]) {
		cw_isis_head_put(pdu, types[which]);
		cw_put_be16(pdu + (which == 0 ? 17 : 8), (uint16_t)len);
		mend(pdu, len);
	}
	feed(s, pdu, len);
	free(pdu);
}

/* The hello that a good neighbour would send next. */
static void hello(struct state *s, struct fuzz_in *in)
{
	static const uint8_t says[3] = {0, 1, 2};
	uint8_t pdu[20 + 6 + 17] = {0}, *tlv = pdu + 20;
	uint8_t how = fuzz_u8(in);

	cw_isis_head_put(pdu, CW_ISIS_HELLO_P2P);
	cw_isis_hello_set_levels(pdu, how >> 6 != 0 ? how >> 6 : 3u);
	pdu[14] = 2 + (how >> 4 & 1); /* system 2 or 3 */
	cw_isis_hello_set_hold(pdu, 30);
	cw_isis_hello_set_length(pdu, sizeof(pdu));
	memcpy(tlv, "\x01\x04\x03\x49\x00\x01\xf0\x0f", 8);
	tlv[8] = says[how % 3];
	tlv[12] = 9;
	tlv[18] = 1;
	tlv[22] = 5;
	feed(s, pdu, sizeof(pdu));
}

/* Our own LSP, some octets changed. */
static void echo(struct state *s, struct fuzz_in *in)
{
	unsigned n = fuzz_u8(in) % 8;

	while (n-- > 0 && s->last_len > 0) {
		uint8_t at = fuzz_u8(in);

		s->last[at % s->last_len] = fuzz_u8(in);
	}
	mend(s->last, s->last_len);
	feed(s, s->last, s->last_len);
}

static void raw(struct state *s, struct fuzz_in *in)
{
	size_t len;
	uint8_t *pdu = fuzz_block(in, fuzz_u8(in), &len);

	feed(s, pdu, len);
	free(pdu);
}

static void announce(struct state *s, struct fuzz_in *in)
{
	struct cw_addr router[2] = {{4, {10, 0, 0, 1}}};
	struct cw_isis_prefix p[64] = {0};
	size_t n = fuzz_u8(in) % 64, i;

	for (i = 0; i < n; i++) {
		p[i].prefix = (struct cw_prefix){4, 32, {10, 1, fuzz_u8(in), (uint8_t)i}};
		p[i].metric = fuzz_u32(in);
	}
	FUZZ_CHECK(cw_isis_announce(s->m, router, p, n, s->now) == CW_OK);
}

static void check(const struct state *s)
{
	struct cw_isis_lsp_info l;
	const struct cw_isis_proxy *p;
	struct cw_isis_info info;
	unsigned level;
	size_t i, n;

	cw_isis_info(s->m, &info);
	FUZZ_CHECK(info.lsps[0] <= LSPS && info.lsps[1] <= LSPS);
	for (level = 1; level <= 2; level++) {
		for (i = 0; cw_isis_lsp_at(s->m, level, i, s->now, &l); i++)
			FUZZ_CHECK(l.len == 0 || l.len >= CW_SIZE_ISIS_LSP);
	}
	p = cw_isis_proxies(s->m, &n);
	for (i = 0; i < n; i++) {
		FUZZ_CHECK(p[i].proxy.version == 4 || p[i].proxy.version == 6);
		FUZZ_CHECK(p[i].prefix.plen <= (p[i].prefix.version == 6 ? 128 : 32));
	}
}

static void act(struct state *s, struct fuzz_in *in)
{
	switch (fuzz_u8(in) % 8) {
	case 0:
		s->now += 50u * fuzz_u8(in);
		break;
	case 1:
		hello(s, in);
		break;
	case 2:
	case 3:
		made(s, in);
		break;
	case 4:
		echo(s, in);
		break;
	case 5:
		raw(s, in);
		break;
	case 6:
		announce(s, in);
		break;
	default:
		s->now += 10000u * (fuzz_u8(in) & 0x1fu);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cw_isis_config c = CW_ISIS_CONFIG;
	struct fuzz_in in = {data, size};
	struct state s = {.now = 1};
	uint8_t how = fuzz_u8(&in);

	c.system[5] = 1;
	memcpy(c.area, "\x49\x00\x01", 3);
	c.area_len = 3;
	c.circuit = 5;
	c.mtu = MTU;
	c.lsps = LSPS;
	c.levels = how & 3 ? how & 3 : 3;
	c.reoriginate = how >> 2 & 3;
	c.topology6 = (how & 16) != 0;
	c.originator = (how & 32) != 0;
	c.auth[1].on = (how & 64) != 0;
	FUZZ_CHECK(cw_isis_new(&s.m, &c, s.now) == CW_OK);
	while (in.left > 0) {
		act(&s, &in);
		(void)cw_isis_tick(s.m, s.now);
		pull(&s);
		check(&s);
	}
	cw_isis_stop(s.m, s.now);
	pull(&s);
	s.now += 1000;
	(void)cw_isis_tick(s.m, s.now);
	pull(&s);
	cw_isis_free(s.m);
	return 0;
}
