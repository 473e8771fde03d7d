/* ospf3: an OSPFv3 leaf is told anything, in any order and at any time. What it sends is
 * well-formed, what it found lies in what it was told. Input: two octets of settings, then actions:
 * an octet that picks one, and what it needs. Packets come with right checksums, so that they get
 * behind them. */
#include "causeway/ospf3.h"
#include "fuzz/fuzz.h"

enum { LSAS = 64, MTU = 1280 };

struct state {
	struct cw_ospf3 *m;
	struct cw_ospf3 *other; /* of area 1, with nobody in it */
	uint64_t now;
	uint8_t own[MTU]; /* the last LSA of ours that was sent: it may come back, changed */
	size_t own_len;
	uint32_t sequence; /* of our last description */
};

static const uint8_t here[16] = {0xfe, 0x80, [15] = 1}, there[16] = {0xfe, 0x80, [15] = 2};

static void keep(struct state *s, const struct cw_ospf3_packet *p)
{
	struct cw_rd r = p->body;
	const uint8_t *lsa;
	size_t len;

	if (p->type == CW_OSPF3_DD)
		s->sequence = cw_ospf3_dd_sequence(p->at);
	while (p->type == CW_OSPF3_UPDATE && cw_ospf3_lsa_next(&r, &lsa, &len)) {
		FUZZ_CHECK(cw_fletcher_ok(lsa + 2, len - 2));
		memcpy(s->own, lsa, len);
		s->own_len = len;
	}
}

static void pull(struct state *s)
{
	uint8_t packet[MTU];
	struct cw_ospf3_packet p;
	unsigned sent = 0;
	size_t n;

	while ((n = cw_ospf3_pull(s->m, packet, sizeof(packet), s->now)) > 0) {
		FUZZ_CHECK(n <= MTU - 40 && cw_ospf3_packet_parse(&p, packet, n) == CW_OK);
		FUZZ_CHECK(p.len == n && ++sent < 4000);
		FUZZ_CHECK(cw_ospf3_head_checksum(packet) ==
			   cw_ospf3_checksum(here, cw_ospf3_all_routers, packet, n));
		keep(s, &p);
	}
}

/* A body with the header that a good neighbour would put around it. */
static void say(struct state *s, uint8_t type, const uint8_t *body, size_t len)
{
	size_t n = CW_SIZE_OSPF3_HEAD + len;
	uint8_t *p = calloc(1, n);

	FUZZ_CHECK(p != NULL);
	cw_ospf3_head_set_version(p, 3);
	cw_ospf3_head_set_type(p, type);
	cw_ospf3_head_set_length(p, (uint32_t)n);
	cw_put_be32(p + 4, 0x0a000002);
	if (len > 0)
		memcpy(p + CW_SIZE_OSPF3_HEAD, body, len);
	cw_ospf3_head_set_checksum(p, cw_ospf3_checksum(there, cw_ospf3_all_routers, p, n));
	FUZZ_CHECK(cw_ospf3_input(s->m, there, cw_ospf3_all_routers, p, n, s->now) <= CW_OK);
	free(p);
}

static void say_lsa(struct state *s, const uint8_t *lsa, size_t len)
{
	uint8_t *body = calloc(1, 4 + len);

	FUZZ_CHECK(body != NULL);
	cw_put_be32(body, 1);
	memcpy(body + 4, lsa, len);
	cw_ospf3_lsa_set_length(body + 4, (uint32_t)len);
	cw_ospf3_lsa_set_checksum(body + 4, cw_fletcher(body + 6, len - 2, 14));
	say(s, CW_OSPF3_UPDATE, body, 4 + len);
	free(body);
}

/* The hello that a good neighbour would send next. */
static void hello(struct state *s, struct fuzz_in *in)
{
	uint8_t body[24] = {0}, how = fuzz_u8(in);

	cw_put_be32(body, 7);
	cw_put_be32(body + 4, 0x01000013);
	cw_put_be16(body + 8, 1);
	cw_put_be16(body + 10, 4);
	cw_put_be32(body + 20, 0x0a000001);
	say(s, CW_OSPF3_HELLO, body, how % 4 != 0 ? 24 : 20);
}

/* A description in sequence, of LSAs that the input makes up. */
static void describe(struct state *s, struct fuzz_in *in)
{
	uint8_t bits = fuzz_u8(in) & 7, body[12 + 3 * CW_SIZE_OSPF3_LSA] = {0};
	size_t n = fuzz_u8(in) % 4, i;

	cw_put_be32(body, 0x00000013);
	cw_put_be16(body + 4, MTU);
	body[7] = bits;
	cw_put_be32(body + 8, s->sequence + (fuzz_u8(in) & 1));
	for (i = 0; i < n * CW_SIZE_OSPF3_LSA; i++)
		body[12 + i] = fuzz_u8(in);
	say(s, CW_OSPF3_DD, body, 12 + n * CW_SIZE_OSPF3_LSA);
}

/* An LSA of a type that is read, all else is the input's. */
static void lsa(struct state *s, struct fuzz_in *in)
{
	static const uint16_t types[] = {0x2001, 0x2002, 0x2004, 0x0008,
					 0x2009, 0xa023, 0xc025, 0xa029};
	uint8_t which = fuzz_u8(in);
	size_t len;
	uint8_t *b = fuzz_block(in, CW_SIZE_OSPF3_LSA + fuzz_u8(in), &len);

	if (len >= CW_SIZE_OSPF3_LSA) {
		cw_ospf3_lsa_set_type(b, types[which % 8]);
		cw_put_be32(b + 8, 0x0a000000u | (which >> 3 & 3));
		say_lsa(s, b, len);
	}
	free(b);
}

/* Our own LSA, some octets changed. */
static void echo(struct state *s, struct fuzz_in *in)
{
	unsigned n = fuzz_u8(in) % 8;

	while (n-- > 0 && s->own_len > 0) {
		uint8_t at = fuzz_u8(in);

		s->own[at % s->own_len] = fuzz_u8(in);
	}
	if (s->own_len > 0)
		say_lsa(s, s->own, s->own_len);
}

static void made(struct state *s, struct fuzz_in *in)
{
	uint8_t type = fuzz_u8(in) % 6;
	size_t len;
	uint8_t *body = fuzz_block(in, fuzz_u8(in), &len);

	say(s, type, body, len);
	free(body);
}

static void raw(struct state *s, struct fuzz_in *in)
{
	size_t len;
	uint8_t *p = fuzz_block(in, fuzz_u8(in), &len);

	FUZZ_CHECK(cw_ospf3_input(s->m, there, here, p, len, s->now) <= CW_OK);
	free(p);
}

static void announce(struct state *s, struct fuzz_in *in)
{
	struct cw_ospf3_prefix p[32] = {0};
	size_t n = fuzz_u8(in) % 32, i;

	for (i = 0; i < n; i++) {
		p[i].prefix = (struct cw_prefix){6, 128, {0x20, 1, fuzz_u8(in), (uint8_t)i}};
		p[i].node = i == 0;
		p[i].kind = (enum cw_ospf3_kind)(fuzz_u8(in) % 2);
	}
	FUZZ_CHECK(cw_ospf3_announce(s->m, p, n, s->now) == CW_OK);
}

/* What it passes on to another area, and back. */
static void border(struct state *s)
{
	FUZZ_CHECK(cw_ospf3_border(s->other, s->m, s->now) == CW_OK);
	FUZZ_CHECK(cw_ospf3_border(s->m, s->other, s->now) == CW_OK);
}

static void check(const struct state *s)
{
	struct cw_ospf3_lsa_info l;
	const struct cw_ospf3_proxy *p;
	struct cw_ospf3_info info;
	size_t i, n;

	cw_ospf3_info(s->m, &info);
	FUZZ_CHECK(info.lsas <= LSAS && info.requests <= LSAS);
	for (i = 0; cw_ospf3_lsa_at(s->m, i, s->now, &l); i++)
		FUZZ_CHECK(l.len >= CW_SIZE_OSPF3_LSA && l.age <= CW_OSPF3_MAX_AGE);
	p = cw_ospf3_proxies(s->m, &n);
	for (i = 0; i < n; i++)
		FUZZ_CHECK(p[i].proxy.version == 6 && p[i].prefix.plen <= 128);
}

static void act(struct state *s, struct fuzz_in *in)
{
	static void (*const acts[])(struct state *, struct fuzz_in *) = {
		hello, hello, describe, describe, lsa, lsa, echo, made, raw, announce};
	uint8_t which = fuzz_u8(in) % 12;

	if (which < 10)
		acts[which](s, in);
	else
		s->now += (which == 10 ? 50u : 10000u) * fuzz_u8(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cw_ospf3_config c = CW_OSPF3_CONFIG;
	struct fuzz_in in = {data, size};
	struct state s = {.now = 1};
	uint8_t how = fuzz_u8(&in);

	cw_put_be32(c.router, how & 1 ? 0x0a000003 : 0x0a000001); /* master, slave */
	memcpy(c.address, here, 16);
	c.mtu = MTU;
	c.lsas = LSAS;
	c.hello_s = 1;
	c.dead_s = 4;
	c.border = (how & 2) != 0;
	FUZZ_CHECK(cw_ospf3_new(&s.m, &c, s.now) == CW_OK);
	c.area[3] = 1;
	FUZZ_CHECK(cw_ospf3_new(&s.other, &c, s.now) == CW_OK);
	while (in.left > 0) {
		act(&s, &in);
		(void)cw_ospf3_tick(s.m, s.now);
		pull(&s);
		border(&s);
		check(&s);
	}
	cw_ospf3_stop(s.m, s.now);
	pull(&s);
	s.now += 2000;
	(void)cw_ospf3_tick(s.m, s.now);
	pull(&s);
	cw_ospf3_free(s.m);
	cw_ospf3_free(s.other);
	return 0;
}
