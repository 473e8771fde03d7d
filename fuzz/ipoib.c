/* ipoib.c - the link machine among hostile peers and a hostile SA: limits hold, nothing leaks.
 * Input: octets that pick an action each, and what the action needs. */
#include "causeway/ipoib.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "fuzz/fuzz.h"

enum { HELD = 8, TABLE = 16 };

struct state {
	struct cw_ipoib *l;
	uint64_t now;
	uint8_t last_mad[256]; /* the last request: answers need its transaction */
	uint16_t sm_lid;
};

static void check_tx(const struct cw_ipoib_out *o)
{
	uint8_t frame[4400];
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	size_t len;
	int n = cw_ipoib_frame_build(frame, sizeof(frame), &o->tx, 0, o->data, o->len);

	FUZZ_CHECK(n > 0);
	FUZZ_CHECK(cw_ipoib_frame_parse(frame, (size_t)n, &rx, &data, &len) == CW_OK);
	FUZZ_CHECK(len == o->len && memcmp(data, o->data, len) == 0);
	FUZZ_CHECK(rx.dlid == o->tx.dlid && rx.dqpn == o->tx.dqpn && rx.qkey == o->tx.qkey);
	FUZZ_CHECK(o->tx.dlid != 0);
	if (o->tx.dqpn == CW_IB_QPN_MCAST)
		FUZZ_CHECK(o->tx.grh && o->tx.dlid >= CW_IB_LID_MCAST);
}

static void pull(struct state *s)
{
	struct cw_ipoib_out o;

	while (cw_ipoib_next(s->l, &o)) {
		if (o.what == CW_IPOIB_MAD) {
			FUZZ_CHECK(o.len == 256);
			memcpy(s->last_mad, o.data, 256);
		}
		if (o.what == CW_IPOIB_SEND)
			FUZZ_CHECK(cw_be16(o.data + 2) == 0); /* reserved */
		if (o.what == CW_IPOIB_MAD || o.what == CW_IPOIB_SEND)
			check_tx(&o);
	}
}

/* A segment of a table, mostly in sequence. */
static void segment(uint8_t *mad, struct fuzz_in *in)
{
	uint8_t flags = fuzz_u8(in);

	cw_rmpp_set_version(mad + 24, 1);
	cw_rmpp_set_type(mad + 24, 1);
	cw_rmpp_set_active(mad + 24, flags & 1);
	cw_rmpp_set_last(mad + 24, flags >> 1 & 1);
	cw_rmpp_set_segment(mad + 24, 1u + (flags >> 2 & 7));
	cw_rmpp_set_length(mad + 24, (uint32_t)fuzz_u8(in));
	cw_sa_set_attr_offset(mad + 36, 7);
}

/* An answer to the last request, good but for some octets. */
static void answer(struct state *s, struct fuzz_in *in)
{
	uint8_t mad[256];
	unsigned n = fuzz_u8(in) % 8;

	memcpy(mad, s->last_mad, sizeof(mad));
	mad[3] = mad[3] == CW_SA_SET ? 0x81 : mad[3] | 0x80;
	if (cw_mad_attribute(mad) == CW_SA_MCMEMBER) {
		cw_mcmember_set_mlid(mad + CW_SA_DATA, 0xc000u + fuzz_u8(in) % 4u);
		cw_mcmember_set_mtu(mad + CW_SA_DATA, 4);
		cw_mcmember_set_qkey(mad + CW_SA_DATA, 0x80010b1b);
		if (cw_mad_method(mad) == (CW_SA_GETTABLE | 0x80))
			segment(mad, in);
	} else if (cw_mad_attribute(mad) == CW_SA_PATHRECORD) {
		cw_pathrecord_set_dlid(mad + CW_SA_DATA, 7);
	}
	while (n-- > 1) {
		uint8_t at = fuzz_u8(in);

		mad[at] = fuzz_u8(in);
	}
	(void)cw_ipoib_mad(s->l, s->now, mad, sizeof(mad));
}

static void datagram(struct state *s, struct fuzz_in *in)
{
	struct cw_ipoib_tx rx = {.slid = 9,
				 .dlid = 3,
				 .pkey = 0x8001,
				 .qkey = 0x80010b1b,
				 .sqpn = 0x99,
				 .dqpn = 0x48};
	size_t len;
	uint8_t *p = fuzz_block(in, fuzz_u8(in), &len);

	(void)cw_ipoib_recv(s->l, s->now, &rx, p, len);
	free(p);
}

static void raw(struct state *s, struct fuzz_in *in)
{
	size_t len;
	uint8_t *p = fuzz_block(in, fuzz_u8(in), &len);

	(void)cw_ipoib_frame(s->l, s->now, p, len);
	(void)cw_ipoib_mad(s->l, s->now, p, len);
	free(p);
}

static void host(struct state *s, struct fuzz_in *in)
{
	uint8_t kind = fuzz_u8(in), to[16] = {0}, ip[64] = {0};
	bool v6 = (kind & 1) != 0, group = (kind & 2) != 0;

	to[0] = v6 ? (group ? 0xff : 0xfe) : (group ? 239 : 10);
	to[1] = v6 && group ? kind >> 4 : 0;
	to[v6 ? 15 : 3] = fuzz_u8(in);
	ip[0] = v6 ? 0x60 : 0x45;
	if ((kind & 12) == 4)
		(void)cw_ipoib_join(s->l, s->now, v6, to);
	else if ((kind & 12) == 8)
		(void)cw_ipoib_leave(s->l, s->now, v6, to);
	else
		(void)cw_ipoib_send(s->l, s->now, to, ip, sizeof(ip));
}

static void check_limits(const struct cw_ipoib *l)
{
	struct cw_ipoib_group_info g;
	struct cw_ipoib_neigh_info n;
	struct cw_ipoib_info info;
	uint32_t i;

	cw_ipoib_info(l, &info);
	FUZZ_CHECK(info.groups <= TABLE && info.neighbours <= TABLE && info.paths <= TABLE);
	FUZZ_CHECK(!info.up || (info.mtu >= 252 && info.mtu <= 4092));
	for (i = 0; cw_ipoib_group_at(l, i, &g); i++) {
		FUZZ_CHECK(g.held <= HELD);
		FUZZ_CHECK(!g.joined || (g.mlid >= 0xc000 && g.mlid < 0xffff));
	}
	for (i = 0; cw_ipoib_neigh_at(l, i, &n); i++)
		FUZZ_CHECK(n.held <= HELD && n.lla[0] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t own4[4] = {10, 0, 0, 1}, own6[16] = {0xfe, 0x80, [15] = 1};
	struct cw_ipoib_config c = {.gid = {0xfe, 0x80, [15] = 4},
				    .qpn = 0x48,
				    .lid = 3,
				    .sm_lid = 1,
				    .pkey = 0x8001,
				    .groups = TABLE,
				    .neighbours = TABLE,
				    .paths = TABLE,
				    .held = HELD};
	struct fuzz_in in = {data, size};
	struct state s = {.now = 1};

	c.router = (in.left > 0 && in.p[0] & 1) != 0;
	c.probes = fuzz_u8(&in) >> 1 & 1;
	FUZZ_CHECK(cw_ipoib_new(&s.l, &c) == CW_OK);
	(void)cw_ipoib_address(s.l, s.now, false, own4);
	(void)cw_ipoib_address(s.l, s.now, true, own6);
	while (in.left > 0) {
		switch (fuzz_u8(&in) % 7) {
		case 0:
			s.now += 100u * fuzz_u8(&in);
			break;
		case 1:
		case 2:
			answer(&s, &in);
			break;
		case 3:
			datagram(&s, &in);
			break;
		case 4:
			raw(&s, &in);
			break;
		case 5:
			host(&s, &in);
			break;
		case 6:
			cw_ipoib_sm_changed(s.l, s.now, fuzz_u8(&in));
			break;
		}
		cw_ipoib_tick(s.l, s.now);
		if (fuzz_u8(&in) % 8 != 0)
			pull(&s);
		check_limits(s.l);
	}
	cw_ipoib_free(s.l);
	return 0;
}
