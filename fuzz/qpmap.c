/* qpmap.c - the queue pair map fed with any packets. Input: records of a time step, a length and
 * an IP packet, whose ICRC is made right on wish, so that CM messages are believed. What the map
 * says keeps its own rules: pairs that were voted for agree in both directions, a walk finds as
 * many as are counted, and what is found can be looked up and removed. */
#include "causeway/cnproxy.h"
#include "causeway/icrc.h"
#include "fuzz/fuzz.h"

enum { PAIRS = 16, RECORDS = 200 };

static void feed(struct cw_qpmap *m, struct fuzz_in *in, uint64_t *now)
{
	uint8_t flags = fuzz_u8(in);
	size_t n = fuzz_u8(in) + (flags & 1) * 256u, len;
	uint8_t *p = fuzz_block(in, n, &len);

	*now += (uint64_t)(flags >> 3) << 24;
	if ((flags & 2) != 0 && cw_icrc_put(p, len, &cw_icrc_rocev2, CW_ICRC_LE) != CW_OK)
		*now += 1;
	cw_qpmap_packet(m, p, len, (flags & 4) != 0 ? len + 100 : len, *now);
	free(p);
}

static void check_pair(struct cw_qpmap *m, const struct cw_qp_pair *p, uint64_t now)
{
	struct cw_qp_pair again, back;

	if (cw_qpmap_lookup(m, &p->sender, &p->receiver, p->dqpn, now, &again) == CW_E_UNKNOWN)
		return; /* it was aged just now */
	FUZZ_CHECK(again.sqpn == p->sqpn && again.decided == p->decided);
	FUZZ_CHECK(!p->decided || p->how != CW_QP_NONE);
	FUZZ_CHECK(!(p->decided && p->closed));
	if (!p->decided || p->how != CW_QP_VOTE)
		return;
	FUZZ_CHECK(p->votes >= 3 && p->votes >= 4 * p->rivals);
	if (cw_qpmap_lookup(m, &p->receiver, &p->sender, p->sqpn, now, &back) == CW_OK)
		FUZZ_CHECK(back.sqpn == p->dqpn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_qpmap_opts o;
	struct cw_qpmap *m;
	struct cw_qp_pair pairs[PAIRS + 1];
	uint64_t now = 1;
	uint32_t at = 0, n = 0, i;

	cw_qpmap_opts_init(&o);
	o.pairs = PAIRS;
	o.requests = 64;
	o.connections = 16;
	FUZZ_CHECK(cw_qpmap_new(&m, &o) == CW_OK);
	for (i = 0; i < RECORDS && in.left > 0; i++)
		feed(m, &in, &now);
	while (n <= PAIRS && cw_qpmap_next(m, &at, &pairs[n]))
		n++;
	FUZZ_CHECK(n <= PAIRS && n == cw_qpmap_count(m));
	for (i = 0; i < n; i++)
		check_pair(m, &pairs[i], now);
	for (i = 0; i < n; i++) {
		uint32_t before = cw_qpmap_count(m);

		if (cw_qpmap_remove(m, &pairs[i].sender, &pairs[i].receiver, pairs[i].dqpn) ==
		    CW_OK)
			FUZZ_CHECK(cw_qpmap_count(m) == before - 1);
	}
	FUZZ_CHECK(cw_qpmap_count(m) == 0);
	cw_qpmap_free(m);
	return 0;
}
