/* rtp.c - two live UB endpoints, and the input decides what is posted, what the network does, and
 * what a hostile peer says: packets are lost, repeated, changed behind the UDP header (with a right
 * ICRC) or made up. Nothing may crash or write outside of what is registered, every packet sent
 * must be a valid one, and once the network is gone every transaction must end.
 */
#include "causeway/icrc.h"
#include "causeway/uboe.h"
#include "fuzz/fuzz.h"

#define MEM    512
#define DEPTH  16
#define FLIGHT 32
#define ROOM   768

struct flying {
	int len, to;
	uint8_t data[ROOM];
};

struct play {
	struct fuzz_in in;
	struct cw_uboe_dev *dev[2];
	struct cw_uboe_tp *tp[2];
	struct cw_uboe_jetty *jetty[2];
	struct cw_uboe_tjetty *to[2];
	struct cw_uboe_seg *seg[2];
	uint8_t *mem[2], *own[2]; /* registered; posted and received into */
	struct flying net[FLIGHT];
	unsigned flying;
	uint64_t now;
	unsigned posted[2], ended[2];
	enum cw_uboe_form form;
	bool utp;
};

static unsigned next(struct play *w)
{
	return fuzz_u8(&w->in);
}

static void set_up(struct play *w)
{
	struct cw_uboe_dev_opts d = CW_UBOE_DEV_OPTS;
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_jetty_opts j = CW_UBOE_JETTY_OPTS;
	struct cw_uboe_seg_opts s = CW_UBOE_SEG_OPTS;
	struct cw_uboe_tp_peer peer[2];
	unsigned a = next(w), b = next(w);
	int i;

	d.max_tps = d.max_jetties = d.max_segs = d.max_tjetties = 2;
	g.service = (enum cw_uboe_service)(a & 3);
	g.ta_retries = 4;
	g.max_contexts = 2;
	t.form = w->form = (enum cw_uboe_form)(a >> 2 & 1);
	t.ip_version = a >> 3 & 1 ? 4 : 6;
	t.retx = (enum cw_uboe_retx)(a >> 4 & 1);
	t.fast = a >> 5 & 1;
	t.cc = (enum cw_uboe_cc)((a >> 6) % 3);
	t.eids = b & 1;
	t.resp_offset = b >> 1 & 1;
	t.two_levels = b >> 2 & 1;
	t.mtu = 256;
	t.window = 128;
	t.reorder = 64;
	t.retries = 3;
	t.rnr_retries = 3;
	j.send_depth = j.recv_depth = DEPTH;
	s.access = CW_UBOE_READ | CW_UBOE_WRITE | CW_UBOE_ATOMIC;
	s.va = 0x1000;
	w->utp = g.service == CW_UBOE_UNO;
	for (i = 0; i < 2; i++) {
		struct cw_uboe_tpg *group;

		t.tpn = (uint32_t)(1 + i);
		t.psn = b >> 3 & 1 ? 0xfffffe : 5;
		t.src[0] = t.dst[0] = 10;
		t.src[3] = (uint8_t)(1 + i);
		t.dst[3] = (uint8_t)(2 - i);
		FUZZ_CHECK(cw_uboe_dev_new(&w->dev[i], &d) == CW_OK);
		FUZZ_CHECK(cw_uboe_tpg_new(w->dev[i], &g, &group) == CW_OK);
		FUZZ_CHECK(cw_uboe_tp_new(group, &t, &w->tp[i], NULL) == CW_OK);
		FUZZ_CHECK(cw_uboe_jetty_new(w->dev[i], &j, &w->jetty[i]) == CW_OK);
		FUZZ_CHECK(cw_uboe_import(w->jetty[i], group, 1024, 0, &w->to[i]) == CW_OK);
		w->mem[i] = calloc(1, MEM); /* blocks of their own: the sanitizer guards them */
		w->own[i] = calloc(1, 2 * MEM);
		FUZZ_CHECK(cw_uboe_seg_register(w->dev[i], w->mem[i], MEM, &s, &w->seg[i]) ==
			   CW_OK);
		cw_uboe_tp_local(w->tp[i], &peer[i]);
	}
	for (i = 0; i < 2 && !w->utp; i++)
		FUZZ_CHECK(cw_uboe_tp_connect(w->tp[i], &peer[1 - i]) == CW_OK);
}

static void tear_down(struct play *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		cw_uboe_dev_free(w->dev[i]);
		free(w->mem[i]);
		free(w->own[i]);
	}
}

static void post(struct play *w, int i)
{
	static const uint64_t operands[16];
	unsigned op = next(w), len = next(w) * 4 + 1, at = next(w);
	struct cw_uboe_wr r = {.op = (enum cw_uboe_op)(op % CW_UBOE_OP_RECV),
			       .flags = op >> 4 & 7,
			       .local = w->own[i],
			       .len = len % (MEM + 64),
			       .remote_addr = 0x1000 + at,
			       .token_id = cw_uboe_seg_token_id(w->seg[1 - i]),
			       .notify_addr = 0x1000 + at,
			       .notify_token_id = cw_uboe_seg_token_id(w->seg[1 - i]),
			       .operand1 = operands,
			       .operand2 = operands};

	if (r.op >= CW_UBOE_OP_CAS)
		r.len = 1u << len % 7;
	if (cw_uboe_post(w->to[i], &r) == CW_OK)
		w->posted[i]++;
}

static void reap(struct play *w)
{
	struct cw_uboe_cr cr;
	int i;

	for (i = 0; i < 2; i++)
		while (cw_uboe_poll(w->jetty[i], &cr, 1) == 1) {
			FUZZ_CHECK((unsigned)cr.status < CW_UBOE_STATUS_COUNT);
			w->ended[i] += cr.op != CW_UBOE_OP_RECV;
			FUZZ_CHECK(w->ended[i] <= w->posted[i]);
		}
}

/* What end i sends must be a packet that our own dissector has nothing to say against. */
static void check_packet(const struct play *w, const uint8_t *p, int len)
{
	uint32_t at = w->form == CW_UBOE_FORM_NATIVE ? 10 : 0;

	FUZZ_CHECK(len > 0 && (uint32_t)len >= at + 48);
	FUZZ_CHECK(cw_icrc_check(p + at, (size_t)len - at, &cw_icrc_ub, CW_ICRC_LE) == CW_OK);
	if (at != 0) {
		struct cw_packet k;
		int v = cw_dissect(&k, CW_LINK_UB, p, (size_t)len, NULL);

		FUZZ_CHECK(v == CW_OK || v == CW_E_RESERVED || v == CW_E_LENGTH);
	}
}

static void pull(struct play *w, bool keep)
{
	uint8_t buf[ROOM];
	unsigned budget = 200;
	int i, len;

	for (i = 0; i < 2; i++)
		while (budget-- > 0 &&
		       (len = cw_uboe_output(w->dev[i], buf, sizeof(buf), w->now, NULL)) != 0) {
			check_packet(w, buf, len);
			if (!keep || w->flying == FLIGHT)
				continue;
			memcpy(w->net[w->flying].data, buf, (size_t)len);
			w->net[w->flying].len = len;
			w->net[w->flying++].to = 1 - i;
		}
}

static void deliver(struct play *w, const struct flying *f)
{
	uint8_t *exact = malloc((size_t)f->len);

	memcpy(exact, f->data, (size_t)f->len);
	(void)cw_uboe_input(w->dev[f->to], w->form, exact, (size_t)f->len, w->now);
	free(exact);
}

/* Change octets behind the UDP header and make the packet right again. */
static void change(struct play *w, struct flying *f)
{
	unsigned n = next(w) & 7, at = w->form == CW_UBOE_FORM_NATIVE ? 10 : 0, i;
	unsigned tph = at + (f->data[at] >> 4 == 4 ? 28u : 48u);

	for (i = 0; i < n; i++) {
		unsigned k = next(w), v = next(w);

		if (tph + k < (unsigned)f->len)
			f->data[tph + k] = (uint8_t)v;
	}
	(void)!cw_icrc_put(f->data + at, (size_t)f->len - at, &cw_icrc_ub, CW_ICRC_LE);
}

static void network(struct play *w)
{
	unsigned what = next(w), k;
	struct flying f;

	if (w->flying == 0)
		return;
	k = (what >> 3) % w->flying;
	f = w->net[k];
	switch (what & 7) {
	case 0: /* lost */
		break;
	case 1: /* came, and will come again */
		deliver(w, &f);
		return;
	case 2:
	case 3:
		change(w, &f);
		/* fall through */
	default:
		deliver(w, &f);
	}
	memmove(&w->net[k], &w->net[k + 1], (w->flying - k - 1) * sizeof(f));
	w->flying--;
}

static void act(struct play *w)
{
	unsigned a = next(w);
	struct flying raw;
	int i = a & 1;

	switch (a >> 1 & 7) {
	case 0:
	case 1:
		post(w, i);
		break;
	case 2:
		(void)cw_uboe_post_recv(w->jetty[i], w->own[i] + MEM, MEM, 0);
		break;
	case 3:
		w->now += (uint64_t)1 << (next(w) % 28);
		break;
	case 4:
		cw_uboe_seg_set_present(w->seg[i], next(w) & 1);
		break;
	case 5: /* the rest of the input as it is, from nobody */
		raw.len = (int)(w->in.left < ROOM ? w->in.left : ROOM);
		raw.to = i;
		memcpy(raw.data, w->in.p, (size_t)raw.len);
		if (raw.len > 0)
			deliver(w, &raw);
		break;
	default:
		network(w);
	}
	pull(w, true);
	reap(w);
}

/* Nothing gets through any more: within the retries everything has ended. */
static void finish(struct play *w)
{
	unsigned i;

	for (i = 0; i < 200; i++) {
		w->now += 500000000;
		pull(w, false);
		reap(w);
	}
	for (i = 0; i < 2; i++) {
		FUZZ_CHECK(w->ended[i] == w->posted[i]);
		cw_uboe_tp_close(w->tp[i]);
		FUZZ_CHECK(cw_uboe_seg_unregister(w->seg[i]) == CW_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play *w = calloc(1, sizeof(*w));

	FUZZ_CHECK(w != NULL);
	w->in = (struct fuzz_in){data, size};
	set_up(w);
	while (w->in.left > 0)
		act(w);
	finish(w);
	tear_down(w);
	free(w);
	return 0;
}
