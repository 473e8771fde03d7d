/* sink.c - any frames as `causeway sink` gets them: what is asked for has a name, and the counts of
 * all runs add up. Input: side and IP version, then records: bits (a frame of gen's or raw octets,
 * a description that lies, octets changed), and what they need. */
#include "causeway/err.h"
#include "causeway/wire/eth.h"
#include "cli/traffic_check.h"
#include "fuzz/fuzz.h"

enum { RECORDS = 64, OWN = 1, LIE = 2, DAMAGE = 4 };

/* Believable where it must be, so that the counting is reached. */
static void lie(struct traffic_packet *k, struct fuzz_in *in)
{
	struct traffic_desc d = k->desc;

	d.run = fuzz_u8(in);
	d.seq = (uint64_t)fuzz_u32(in) << 16 | fuzz_u8(in);
	d.total = fuzz_u8(in) % 2u * d.seq * 2;
	d.nflows = (uint16_t)(1 + fuzz_u8(in) * 256u);
	d.flow = (uint16_t)(d.seq % d.nflows);
	d.cc = fuzz_u8(in) & 3;
	d.fault = fuzz_u8(in);
	traffic_desc_put(k->frame + k->payload, &d);
	traffic_fix_icrc(k, CW_ICRC_LE);
}

static uint8_t *own_frame(const struct traffic_plan *p, uint8_t bits, struct fuzz_in *in,
			  size_t *len)
{
	uint8_t *frame = malloc(TRAFFIC_FRAME_MAX), *exact;
	struct traffic_packet k;
	unsigned n;

	FUZZ_CHECK(frame != NULL);
	traffic_build(p, fuzz_u8(in), frame, &k);
	if (bits & LIE)
		lie(&k, in);
	for (n = (bits & DAMAGE) != 0 ? fuzz_u8(in) % 8u : 0; n > 0; n--) {
		uint32_t at = (uint32_t)fuzz_u8(in) % k.len;

		frame[at] = fuzz_u8(in);
	}
	*len = (bits & DAMAGE) != 0 ? k.len - fuzz_u8(in) % k.len : k.len;
	exact = malloc(*len);
	FUZZ_CHECK(exact != NULL);
	memcpy(exact, frame, *len);
	free(frame);
	return exact;
}

static void check_verdict(const struct traffic_verdict *v)
{
	FUZZ_CHECK(v->kind <= TRAFFIC_READABLE);
	FUZZ_CHECK(v->wrong < 1u << TRAFFIC_CHECK_COUNT);
	FUZZ_CHECK(v->kind != TRAFFIC_DAMAGED || v->wrong != 0);
	if (v->kind == TRAFFIC_FOREIGN || v->wrong == 0)
		return;
	FUZZ_CHECK((v->wrong >> v->first & 1) != 0);
	FUZZ_CHECK(v->reason[0] != '\0' && memchr(v->reason, '\0', sizeof(v->reason)) != NULL);
}

static void check_tally(const struct traffic_tally *t)
{
	uint64_t sum = t->foreign + t->damaged;
	unsigned i, f;

	for (i = 0; i < t->nruns; i++) {
		const struct traffic_run *r = t->runs[i];
		uint64_t received = 0;

		for (f = 0; f < r->nflows; f++)
			received += r->flows[f].received;
		FUZZ_CHECK(received == r->received);
		FUZZ_CHECK(r->distinct + r->duplicates == r->received);
		FUZZ_CHECK(r->distinct == 0 || traffic_run_has(r, r->highest - 1));
		FUZZ_CHECK(!traffic_run_has(r, r->highest));
		sum += r->received + r->faulty;
	}
	FUZZ_CHECK(sum == t->packets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	uint8_t bits = fuzz_u8(&in), *frame;
	struct traffic_tally t = {0};
	struct traffic_expect e;
	struct traffic_plan p;
	struct traffic_verdict v;
	unsigned i;
	size_t len;

	traffic_expect_init(&e);
	traffic_plan_init(&p, bits & 1 ? TRAFFIC_UB : TRAFFIC_UBOE, bits & 2 ? 4 : 6);
	for (i = 0; i < RECORDS && in.left > 0; i++) {
		bits = fuzz_u8(&in);
		if (bits & OWN)
			frame = own_frame(&p, bits, &in, &len);
		else
			frame = fuzz_block(&in, fuzz_u8(&in), &len);
		traffic_check(&e, CW_LINK_ETHERNET, frame, len, &v);
		check_verdict(&v);
		(void)traffic_count(&t, &v, len);
		free(frame);
	}
	check_tally(&t);
	traffic_tally_free(&t);
	return 0;
}
