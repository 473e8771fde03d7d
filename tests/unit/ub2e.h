/* ub2e.h - packets for the tests of the UB2E converter, made without the library: lengths,
 * checksums, PLENGTH and ICRC are this file's own arithmetic, on zlib.
 */
#ifndef TESTS_UNIT_UB2E_H
#define TESTS_UNIT_UB2E_H

#include <zlib.h>
#include "causeway/ub2e.h"
#include "tests/unit/test.h"

#define PK_MAX      16384
#define PK_BODY_MAX 9400

/* A packet in values. `body` is TPH up to the octet in front of the ICRC, or what follows UDP or
 * IP in a plain packet. */
struct pk {
	unsigned version; /* 4, 6 */
	uint8_t tos, ttl, proto;
	uint16_t id, flags; /* flags: the word with the fragment offset */
	uint32_t flow;
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
	bool udp_csum; /* a right one instead of zero */
	bool plain;    /* no ICRC */
	uint8_t body[PK_BODY_MAX];
	uint32_t body_len;
	/* UB */
	uint8_t lph_top, vl, rt, cfg;
	uint16_t cci;
	uint32_t npi;
	/* Ethernet */
	unsigned ntags;
	uint16_t tpid[4], tci[4];
	/* behind the packet */
	unsigned pad;
};

static inline void be16_put(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline unsigned be16_get(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* RFC 1071, octet by octet. */
static inline unsigned sum16(const uint8_t *p, size_t n, unsigned long s)
{
	size_t i;

	for (i = 0; i < n; i++)
		s += i % 2 != 0 ? p[i] : (unsigned long)p[i] << 8;
	while (s > 0xffff)
		s = (s & 0xffff) + (s >> 16);
	return (unsigned)s;
}

/* The IPv4 header checksum that the header ought to have. */
static inline unsigned ip4_csum(const uint8_t *ip)
{
	uint8_t h[20];

	memcpy(h, ip, 20);
	h[10] = h[11] = 0;
	return ~sum16(h, 20, 0) & 0xffff;
}

/* Draft 4.2: masked fields as ones, CRC-32 as zlib's, up to the ICRC. */
static inline uint32_t icrc_of(const uint8_t *ip, size_t len)
{
	uint8_t *m = malloc(len);
	uint32_t c;

	memcpy(m, ip, len);
	if (ip[0] >> 4 == 4) {
		m[1] = m[8] = m[10] = m[11] = m[26] = m[27] = 0xff;
	} else {
		m[0] |= 0x0f;
		m[1] = m[2] = m[3] = m[7] = m[46] = m[47] = 0xff;
	}
	c = (uint32_t)crc32(crc32(0, NULL, 0), m, (uInt)(len - 4));
	free(m);
	return c;
}

static inline bool icrc_ok(const uint8_t *ip, size_t len)
{
	const uint8_t *p = ip + len - 4;

	return icrc_of(ip, len) ==
	       ((uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]);
}

/* PLENGTH of a packet of `total` octets from LPH on, by filling flits one at a time (UB 2.0
 * 4.3.2, CRC mode). */
static inline unsigned plength_of(unsigned total)
{
	unsigned blocks = 1, head = 4, left = total - 4, flits, room, in_flit;

	for (; left > 32 * 20 - 4 - head; blocks++) {
		left -= 32 * 20 - 4 - head;
		head = 2;
	}
	for (flits = 1;; flits++) {
		room = 20 - (flits == 1 ? head : 0);
		if (left + 4 <= room)
			return (blocks - 1) << 10 | (flits - 1) << 5 | (left - 1);
		in_flit = left < room ? left : room;
		left -= in_flit;
		if (left == 0) /* the CRC needs one more flit */
			return (blocks - 1) << 10 | flits << 5 |
			       (in_flit >= 17 ? in_flit - 1 : in_flit + 11);
	}
}

static inline unsigned pk_hlen(const struct pk *k)
{
	return k->version == 4 ? 20 : 40;
}

static inline bool pk_has_udp(const struct pk *k)
{
	return k->proto == 17;
}

/* IP header .. ICRC. Returns its length. */
static inline uint32_t pk_ip(const struct pk *k, uint8_t *ip)
{
	unsigned h = pk_hlen(k), udp = pk_has_udp(k) ? 8 : 0, n;
	uint32_t icrc;

	n = h + udp + k->body_len + (k->plain ? 0 : 4);
	memset(ip, 0, h + udp);
	if (k->version == 4) {
		ip[0] = 0x45;
		ip[1] = k->tos;
		be16_put(ip + 2, n);
		be16_put(ip + 4, k->id);
		be16_put(ip + 6, k->flags);
		ip[8] = k->ttl;
		ip[9] = k->proto;
		memcpy(ip + 12, k->src, 4);
		memcpy(ip + 16, k->dst, 4);
		be16_put(ip + 10, ip4_csum(ip));
	} else {
		ip[0] = (uint8_t)(0x60 | k->tos >> 4);
		ip[1] = (uint8_t)(k->tos << 4 | (k->flow >> 16 & 15));
		be16_put(ip + 2, k->flow & 0xffff);
		be16_put(ip + 4, n - 40);
		ip[6] = k->proto;
		ip[7] = k->ttl;
		memcpy(ip + 8, k->src, 16);
		memcpy(ip + 24, k->dst, 16);
	}
	memcpy(ip + h + udp, k->body, k->body_len);
	if (udp != 0) {
		be16_put(ip + h, k->sport);
		be16_put(ip + h + 2, k->dport);
		be16_put(ip + h + 4, n - h);
	}
	if (!k->plain) {
		icrc = icrc_of(ip, n);
		ip[n - 4] = (uint8_t)icrc;
		ip[n - 3] = (uint8_t)(icrc >> 8);
		ip[n - 2] = (uint8_t)(icrc >> 16);
		ip[n - 1] = (uint8_t)(icrc >> 24);
	}
	if (udp != 0 && k->udp_csum) {
		unsigned c = sum16(k->src, h == 20 ? 4 : 16, 17 + n - h);

		c = sum16(k->dst, h == 20 ? 4 : 16, c);
		c = ~sum16(ip + h, n - h, c) & 0xffff;
		be16_put(ip + h + 6, c != 0 ? c : 0xffff);
	}
	return n;
}

/* LPH .. ICRC and padding of 0xee. */
static inline uint32_t pk_ub(const struct pk *k, uint8_t *p)
{
	uint32_t n = 10 + pk_ip(k, p + 10);
	unsigned pl = plength_of(n);

	p[0] = (uint8_t)(k->lph_top | k->vl >> 3);
	p[1] = (uint8_t)(k->vl << 5 | k->cfg);
	p[2] = (uint8_t)(k->rt << 6 | pl >> 8);
	p[3] = (uint8_t)pl;
	be16_put(p + 4, k->cci);
	be16_put(p + 6, k->npi >> 16);
	be16_put(p + 8, k->npi & 0xffff);
	memset(p + n, 0xee, k->pad);
	return n + k->pad;
}

static inline uint32_t pk_eth(const struct pk *k, uint8_t *p)
{
	unsigned at = 12, i;
	uint32_t n;

	memcpy(p, "\x02\x11\x12\x13\x14\x15\x02\x21\x22\x23\x24\x25", 12);
	for (i = 0; i < k->ntags; i++, at += 4) {
		be16_put(p + at, k->tpid[i]);
		be16_put(p + at + 2, k->tci[i]);
	}
	be16_put(p + at, k->version == 4 ? 0x0800 : 0x86dd);
	n = at + 2 + pk_ip(k, p + at + 2);
	memset(p + n, 0xee, k->pad);
	return n + k->pad;
}

/* An RTP Write (UB 2.0), every number of it distinct. */
static inline struct pk *pk_new(unsigned version)
{
	static const uint8_t body[] = {
		0x81, 0x00, 0x12, 0x13, 0x14, 0x25, 0x26, 0x27, 0x80, 0x39, 0x3a, 0x3b,
		0x00, 0x4d, 0x4e, 0x4f, 0x03, 0x10, 0x51, 0x52, 0x00, 0x07, 0x53, 0x54,
		0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x00, 0x71, 0x72, 0x73,
		0x00, 0x00, 0x00, 0x08, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98,
	};
	struct pk *k = calloc(1, sizeof(*k));

	k->version = version;
	k->tos = 0x6a; /* DSCP 26, ECT(0) */
	k->ttl = 64;
	k->proto = 17;
	k->id = 0x1d2e;
	k->flags = 0x4000;
	k->flow = 0x54321;
	memcpy(k->src,
	       version == 4 ? "\x0a\x01\x02\x03" : "\x20\x01\x0d\xb8\0\0\0\1\0\0\0\0\0\0\0\5",
	       version == 4 ? 4 : 16);
	memcpy(k->dst,
	       version == 4 ? "\x0a\x04\x05\x06" : "\x20\x01\x0d\xb8\0\0\0\2\0\0\0\0\0\0\0\6",
	       version == 4 ? 4 : 16);
	k->sport = 0xc123;
	k->dport = 4792;
	memcpy(k->body, body, sizeof(body));
	k->body_len = sizeof(body);
	k->vl = 9;
	k->rt = 1;
	k->cfg = version == 4 ? 3 : 4;
	k->cci = 0x8002;
	k->npi = 0x123;
	k->ntags = 1;
	k->tpid[0] = 0x8100;
	k->tci[0] = 0x123;
	return k;
}

/* ---- One crossing --------------------------------------------------------------------------- */

/* A packet in a heap block of exactly its size and the promised headroom. */
struct shot {
	uint8_t *block, *in;
	uint32_t in_len;
	struct cw_ub2e_view v;
	enum cw_drop drop;
	uint8_t *out, *out_ip;
	uint32_t out_len;
};

static inline void shot_load(struct shot *s, const uint8_t *pkt, uint32_t len, uint32_t ip_off)
{
	uint32_t front = ip_off < CW_UB2E_HEADROOM ? CW_UB2E_HEADROOM - ip_off : 0;

	memset(s, 0, sizeof(*s));
	memset(&s->v, 0xa5, sizeof(s->v)); /* the checks must not count on zeros */
	s->block = malloc(front + len > 0 ? front + len : 1);
	memset(s->block, 0xdd, front);
	if (len > 0)
		memcpy(s->block + front, pkt, len);
	s->in = s->block + front;
	s->in_len = len;
}

static inline const struct cw_ub2e_hop *hop_eth(void)
{
	static const struct cw_ub2e_hop hop = {
		.side = CW_SIDE_ETH,
		.dst = {2, 0x31, 0x32, 0x33, 0x34, 0x35},
		.src = {2, 0x41, 0x42, 0x43, 0x44, 0x45},
		.tpid = 0x8100,
	};

	return &hop;
}

static inline const struct cw_ub2e_hop *hop_ub(void)
{
	static const struct cw_ub2e_hop hop = {.side = CW_SIDE_UB, .bare = true};

	return &hop;
}

static inline void shot_write(struct shot *s, const struct cw_ub2e *u,
			      const struct cw_ub2e_hop *hop)
{
	if (s->drop == CW_PASS)
		s->drop = cw_ub2e_write(u, &s->v, hop, &s->out, &s->out_len);
	s->out_ip = s->v.ip;
}

/* From the UB side to `hop`. */
static inline void shoot_ub_raw(struct shot *s, const struct cw_ub2e *u, const uint8_t *pkt,
				uint32_t len, const struct cw_ub2e_hop *hop)
{
	shot_load(s, pkt, len, 10);
	s->drop = cw_ub2e_from_ub(u, NULL, s->in, s->in_len, &s->v);
	shot_write(s, u, hop);
}

static inline void shoot_eth_raw(struct shot *s, const struct cw_ub2e *u, const uint8_t *pkt,
				 uint32_t len, uint32_t ip_off, const struct cw_ub2e_hop *hop)
{
	shot_load(s, pkt, len, ip_off);
	s->drop = cw_ub2e_from_eth(u, NULL, s->in, s->in_len, NULL, &s->v);
	shot_write(s, u, hop);
}

static inline void shoot_ub(struct shot *s, const struct cw_ub2e *u, const struct pk *k)
{
	uint8_t *pkt = malloc(PK_MAX);

	shoot_ub_raw(s, u, pkt, pk_ub(k, pkt), hop_eth());
	free(pkt);
}

static inline void shoot_eth(struct shot *s, const struct cw_ub2e *u, const struct pk *k)
{
	uint8_t *pkt = malloc(PK_MAX);

	shoot_eth_raw(s, u, pkt, pk_eth(k, pkt), 14 + 4 * k->ntags, hop_ub());
	free(pkt);
}

/* The same, when only the outcome matters. */
static inline enum cw_drop drop_ub(const struct cw_ub2e *u, const struct pk *k)
{
	struct shot s;

	shoot_ub(&s, u, k);
	free(s.block);
	return s.drop;
}

static inline enum cw_drop drop_eth(const struct cw_ub2e *u, const struct pk *k)
{
	struct shot s;

	shoot_eth(&s, u, k);
	free(s.block);
	return s.drop;
}

static inline struct cw_ub2e *rules(const struct cw_ub2e_settings *s)
{
	struct cw_ub2e_settings init;
	struct cw_ub2e *u = NULL;
	struct cw_diag diag = {0};

	cw_ub2e_settings_init(&init);
	if (cw_ub2e_new(&u, s != NULL ? s : &init, NULL, 0, &diag) < 0)
		fail_msg("%s %s: %s", diag.path, diag.value, diag.reason);
	return u;
}

static inline bool noted(const struct shot *s, enum cw_note n)
{
	return (s->v.notes >> n & 1) != 0;
}

#define assert_drop(got, want)                                                                \
	do {                                                                                  \
		enum cw_drop got_ = (got);                                                    \
		if (got_ != (want))                                                           \
			fail_msg("%s instead of %s", cw_drop_name(got_), cw_drop_name(want)); \
	} while (0)

#endif
