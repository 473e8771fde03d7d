/* uet.c - the UET engine under any packets: it neither breaks its bounds nor delivers a message
 * that is not whole. Input: records of one octet (what to do) and its operands. */
#include "causeway/uet.h"
#include "causeway/wire/uetx.h"
#include "fuzz/fuzz.h"

enum { BUFS = 4, SIZE = 1024, REGION = 2048, LIMIT = 8192, STEPS = 400 };

struct run {
	struct cw_uet *u;
	uint64_t now;
	uint8_t bufs[BUFS][SIZE], region[REGION], back[SIZE];
	bool posted[BUFS];
	bool honest; /* octets are what message and offset say, so that messages come whole */
};

static uint8_t octet_of(uint32_t id, uint32_t off)
{
	return (uint8_t)(id * 37 + off * 11 + (off >> 8));
}

static void be_honest(uint8_t *p, size_t len)
{
	size_t i;

	for (i = CW_SIZE_UETX; i < len; i++)
		p[i] = octet_of(cw_uetx_msg_id(p),
				cw_uetx_offset(p) + (uint32_t)(i - CW_SIZE_UETX));
}

/* Random bytes as a packet, with the parts that would stop it at once put right, if so asked. */
static void feed(struct run *r, struct fuzz_in *in, uint8_t how)
{
	static const uint8_t ops[8] = {5, 5, 1, 2, 7, 10, 0x40, 0x41};
	size_t len;
	uint8_t *p = fuzz_block(in, 20u + fuzz_u8(in), &len);

	if (len >= CW_SIZE_UETX && (how & 0x80) == 0) {
		unsigned head;

		cw_uetx_set_version(p, 1);
		cw_uetx_set_opcode(p, ops[how & 7]);
		cw_uetx_set_dcid(p, 1);
		cw_uetx_set_scid(p, 2);
		cw_uetx_set_reserved(p, 0);
		if ((how & 8) == 0)
			cw_uetx_set_msg_id(p, cw_uetx_msg_id(p) % 8);
		cw_uetx_set_offset(p, cw_uetx_offset(p) % ((how & 16) == 0 ? 16 * 64 : SIZE));
		if ((how & 16) == 0)
			cw_uetx_set_offset(p, cw_uetx_offset(p) / 64 * 64);
		head = cw_uetx_header_len(cw_uetx_opcode(p));
		if (len >= head)
			cw_uetx_set_length(p, (uint32_t)len - head);
	}
	if (r->honest && len >= CW_SIZE_UETX)
		be_honest(p, len);
	if ((how & 0xc0) == 0xc0) /* what BTS brings back */
		(void)cw_uet_returned(r->u, r->now, 0, how >> 5 & 1, p, len);
	else
		(void)cw_uet_input(r->u, r->now,
				   &(struct cw_uet_arrival){.path = how >> 5 & 1,
							    .ce = (how & 64) != 0,
							    .data = p,
							    .len = len});
	free(p);
}

/* Whole means: each octet is what its packets said. */
static void check_octets(const struct run *r, const struct cw_uet_event *e)
{
	const uint8_t *p = e->buffer;
	uint32_t i;

	FUZZ_CHECK(!r->honest || e->status != CW_UETX_CONFLICT);
	for (i = 0; r->honest && e->status == CW_UET_OK && i < e->len; i++)
		FUZZ_CHECK(p[i] == octet_of(e->msg_id, i));
}

static void take_events(struct run *r)
{
	struct cw_uet_event e;

	while (cw_uet_event(r->u, &e)) {
		if (e.kind == CW_UET_RECEIVED) {
			FUZZ_CHECK(e.cookie < BUFS && r->posted[e.cookie]);
			FUZZ_CHECK(e.buffer == r->bufs[e.cookie] && e.len <= SIZE);
			r->posted[e.cookie] = false;
			check_octets(r, &e);
		}
		FUZZ_CHECK(e.context == 1);
		FUZZ_CHECK(strcmp(cw_uet_status_name(e.status), "unknown") != 0 ||
			   e.status < CW_UET_TIMED_OUT);
	}
}

static void put_out(struct run *r)
{
	struct cw_uet_packet p;
	unsigned n = 0;

	while (cw_uet_output(r->u, r->now, &p)) {
		FUZZ_CHECK(p.peer == 0 && p.path < 2 && p.payload_len <= 64);
		FUZZ_CHECK(p.head_len >= 20 && p.head_len <= CW_UET_HEAD_MAX);
		FUZZ_CHECK(++n < 10000);
	}
	FUZZ_CHECK(cw_uet_memory(r->u, 0) <= LIMIT);
}

static void post(struct run *r, uint8_t how)
{
	unsigned i = how % BUFS;

	if (!r->posted[i] && cw_uet_post(r->u, 1, r->bufs[i], SIZE, i) == CW_OK)
		r->posted[i] = true;
}

static void step(struct run *r, struct fuzz_in *in)
{
	uint8_t what = fuzz_u8(in), how = fuzz_u8(in);

	switch (what % 8) {
	case 0:
		post(r, how);
		break;
	case 1:
		(void)cw_uet_send(r->u, 1, r->region, how * 8u, how & 1, 0);
		break;
	case 2:
		(void)cw_uet_read(r->u, r->now, 1, how, r->back, how, 0);
		break;
	case 3:
		r->now += (uint64_t)how * how * 100000;
		break;
	case 4:
		(void)cw_uet_fence(r->u, 1, 0);
		break;
	default:
		feed(r, in, how);
	}
	put_out(r);
	take_events(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cw_uet_settings s = {.mtu = 64,
				    .id_window = 64,
				    .max_window = 16,
				    .memory_per_peer = LIMIT,
				    .reap_after = 50000000,
				    .give_up_after = 50000000};
	struct cw_uet_context c = {.id = 1, .remote_id = 2};
	struct fuzz_in in = {data, size};
	struct run *r = calloc(1, sizeof(*r));
	unsigned n;

	FUZZ_CHECK(r != NULL);
	n = fuzz_u8(&in);
	s.spray = (enum cw_uet_spray)(n % 3);
	r->honest = (n & 0x80) != 0;
	r->now = 1000000;
	FUZZ_CHECK(cw_uet_new(&r->u, &s) == CW_OK && cw_uet_peer(r->u, 2) == 0);
	FUZZ_CHECK(cw_uet_open(r->u, &c) == CW_OK);
	FUZZ_CHECK(cw_uet_expose(r->u, 1, r->region, REGION, CW_UET_READABLE | CW_UET_WRITABLE) ==
		   0);
	for (n = 0; n < STEPS && in.left > 0; n++)
		step(r, &in);
	(void)cw_uet_close(r->u, 1);
	take_events(r);
	for (n = 0; n < BUFS; n++)
		FUZZ_CHECK(!r->posted[n]);
	FUZZ_CHECK(cw_uet_memory(r->u, 0) == 0 && cw_uet_open_messages(r->u, 0) == 0);
	cw_uet_free(r->u);
	free(r);
	return 0;
}
