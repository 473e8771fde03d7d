/* ub2e_random.h - packets and settings at random, for tests that compare two ways of crossing: most
 * packets are ordinary, and each kind of fault is among the others.
 */
#ifndef TESTS_UNIT_UB2E_RANDOM_H
#define TESTS_UNIT_UB2E_RANDOM_H

#include "tests/unit/ub2e.h"

static uint64_t rng = 0x9e3779b97f4a7c15;

static inline uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 16);
}

static inline uint32_t one_of(uint32_t a, uint32_t b, unsigned in)
{
	return rnd() % in == 0 ? b : a;
}

/* First octets of an address that may not be forwarded, or not with every second one. */
static inline void draw_address(uint8_t *a)
{
	static const uint8_t odd[] = {0, 1, 126, 127, 128, 169, 223, 224, 253, 254, 255};

	a[0] = (uint8_t)one_of(10, odd[rnd() % sizeof(odd)], 16);
	a[1] = (uint8_t)one_of(4, one_of(254, 128, 2), 4);
}

/* An ordinary packet, or nearly one. */
static inline void draw(struct pk *k)
{
	static const uint8_t ops[] = {0, 1, 0x81, 2, 3, 5, 6, 8, 4};

	k->tos = (uint8_t)rnd();
	k->ttl = (uint8_t)one_of(64, rnd() % 3, 8);
	k->flags = (uint16_t)one_of(0x4000, rnd(), 16);
	k->dport = (uint16_t)one_of(4792, 4791, 16);
	k->udp_csum = rnd() % 16 == 0;
	draw_address(k->src);
	draw_address(k->dst);
	k->body[0] = ops[rnd() % sizeof(ops)];
	k->body[1] = (uint8_t)one_of(rnd() & 0x30, rnd(), 8);
	k->body_len = one_of(48, rnd() % 64, 4);
	k->cci = (uint16_t)one_of(0x8000 | (rnd() & 0xfff), rnd(), 8);
	k->npi = one_of(one_of(1 + rnd() % 4000, rnd() & 0x1ffffff, 4), rnd() & 0x1000000, 64);
	k->cfg = (uint8_t)one_of(k->cfg, rnd() & 15, 32);
	k->lph_top = (uint8_t)(rnd() & 0xfc);
	k->vl = rnd() & 15;
	k->rt = rnd() & 3;
	k->ntags = one_of(1, rnd() % 4, 4);
	k->tpid[0] = (uint16_t)one_of(0x8100, 0x88a8, 8);
	k->tpid[1] = k->tpid[2] = 0x8100;
	k->tci[0] = (uint16_t)rnd();
	k->tci[1] = (uint16_t)rnd();
	k->pad = one_of(0, rnd() % 9, 2);
}

static inline uint32_t packet(bool ub, uint8_t *pkt)
{
	struct pk *k = pk_new(rnd() % 3 != 0 ? 4 : 6);
	uint32_t n, off;
	unsigned i;

	draw(k);
	off = ub ? 10 : 14 + 4 * k->ntags;
	n = ub ? pk_ub(k, pkt) : pk_eth(k, pkt);
	if (rnd() % 16 == 0) { /* a length of IP or UDP that is off by a little */
		i = off + (k->version == 4 ? one_of(3, 25, 4) : one_of(5, 45, 4));
		pkt[i] = (uint8_t)(pkt[i] ^ 1u << rnd() % 4);
		if (k->version == 4)
			be16_put(pkt + off + 10, ip4_csum(pkt + off));
	}
	for (i = rnd() % 8; i < 2; i++) {
		pkt[rnd() % 70] = (uint8_t)rnd();
		if (rnd() % 4 != 0)
			be16_put(pkt + off + 10, ip4_csum(pkt + off));
	}
	free(k);
	return one_of(n, rnd() % n, 16);
}

static inline void draw_settings(struct cw_ub2e_settings *s, unsigned i)
{
	static const struct cw_npi_entry e[] = {
		{0x123456, 7, 8}, {0x42, 42, 43}, {0x900, 900, 901}};
	static const struct cw_pin_4792 pins[] = {{4, 8, {10}, CW_4792_UETX},
						  {6, 0, {0}, CW_4792_UB}};

	cw_ub2e_settings_init(s);
	s->ttl_decrement = i % 2 == 0;
	s->dscp_out[3] = s->dscp_in[5] = 9;
	s->pcp[9] = 5;
	s->vl[9] = 11;
	s->rt = i & 3;
	s->light_to_ce = i % 3 != 0;
	s->udp_port = i % 16 == 7 ? 4791 : 4792;
	s->icrc_check_ub = s->icrc_check_eth = (enum cw_icrc_check)(i % 5 < 3 ? 0 : i % 5 - 2);
	s->cci_policy = i % 4 == 1 ? CW_CCI_DROP : CW_CCI_NOT_ECT;
	s->plain_ip = i % 8 != 3;
	s->npi = e;
	s->nnpi = i % 6 < 3 ? 0 : 3;
	s->npi_mode = s->nnpi == 0 ? CW_NPI_LOW12 : (enum cw_npi_mode)(i % 3);
	s->untagged_npi = i % 2;
	s->pins = pins;
	s->npins = i % 9 == 8 ? 2 : 0;
}

#endif
