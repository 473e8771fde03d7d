/* bmp.c - BGP Monitoring Protocol as a stream: what the parser hands out lies inside the input, and
 * the UPDATEs in it go to the parser of those. */
#include "causeway/wire/bmp.h"
#include "fuzz/fuzz.h"

static const struct cw_pnc_codes codes = CW_PNC_CODES;

static void inside(const struct cw_rd *r, const uint8_t *data, size_t len)
{
	FUZZ_CHECK(r->p == NULL || (r->p >= data && r->p <= r->end && r->end <= data + len));
}

static void message(const uint8_t *data, size_t len)
{
	struct cw_bgp_update u;
	struct cw_bmp_tlv t;
	struct cw_pnc_error e;
	struct cw_bmp m;

	if (cw_bmp_parse(&m, data, len, &e) != CW_OK) {
		FUZZ_CHECK(e.what != NULL && e.off <= len);
		return;
	}
	inside(&m.update, data, len);
	inside(&m.sent_open, data, len);
	inside(&m.received_open, data, len);
	inside(&m.data, data, len);
	inside(&m.tlvs, data, len);
	while (cw_bmp_tlv_next(&m.tlvs, &t) == CW_OK)
		FUZZ_CHECK(t.value >= data && t.value + t.len <= data + len);
	FUZZ_CHECK(cw_rd_left(&m.tlvs) == 0);
	if (m.type == CW_BMP_ROUTE_MONITORING)
		(void)cw_bgp_update_parse(&u, &codes, m.update.p, cw_rd_left(&m.update));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int n;

	while ((n = cw_bmp_length(data, size)) > 0 && (size_t)n <= size) {
		message(data, (size_t)n);
		data += n;
		size -= (size_t)n;
	}
	return 0;
}
