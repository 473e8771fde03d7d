/* sa.c - the small subnet administration asked by anybody: an answer is a whole MAD of class SA
 * that answers, it goes to who asked, and there are never more groups than there is room for.
 * Input: records of a LID, which fields of a good request to keep, and octets to change in it. */
#include "causeway/sa.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/ipoib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "fuzz/fuzz.h"

enum { SM_LID = 1, PORTS = 3, GROUPS = 8, REQUESTS = 64 };

struct asked {
	uint16_t lid;
	uint8_t mad[CW_MAD_OCTETS];
	unsigned answers, reports;
};

static void sent(void *ctx, uint16_t lid, const uint8_t mad[CW_MAD_OCTETS])
{
	struct asked *a = ctx;

	FUZZ_CHECK(cw_mad_mgmt_class(mad) == CW_MAD_CLASS_SA);
	if (cw_mad_method(mad) == CW_SA_REPORT && !cw_mad_response(mad)) {
		FUZZ_CHECK(cw_mad_attribute(mad) == CW_SA_NOTICE);
		FUZZ_CHECK(lid >= 2 && lid < 2 + PORTS);
		a->reports++;
		return;
	}
	FUZZ_CHECK(cw_mad_response(mad) && lid == a->lid);
	FUZZ_CHECK(cw_mad_tid(mad) == cw_mad_tid(a->mad));
	a->answers++;
}

static void port_gid(uint8_t gid[16], unsigned port)
{
	static const uint8_t prefix[8] = {0xfe, 0x80};

	memcpy(gid, prefix, sizeof(prefix));
	memset(gid + 8, (int)(port + 1), 8);
}

/* A request that would be granted, of the kind that the input picks. */
static void good_request(uint8_t *mad, struct fuzz_in *in)
{
	static const struct {
		uint8_t method;
		uint16_t attribute;
	} kinds[] = {
		{CW_SA_SET, CW_SA_MCMEMBER},      {CW_SA_DELETE, CW_SA_MCMEMBER},
		{CW_SA_GETTABLE, CW_SA_MCMEMBER}, {CW_SA_GET, CW_SA_PATHRECORD},
		{CW_SA_SET, CW_SA_INFORMINFO},
	};
	uint8_t bits = fuzz_u8(in), gid[16], mgid[16], *data = mad + CW_SA_DATA;
	unsigned kind = bits % 5;

	cw_mad_set_base_version(mad, 1);
	cw_mad_set_mgmt_class(mad, CW_MAD_CLASS_SA);
	cw_mad_set_class_version(mad, 2);
	cw_mad_set_method(mad, kinds[kind].method);
	cw_mad_set_attribute(mad, kinds[kind].attribute);
	cw_mad_set_tid(mad, fuzz_u8(in));
	cw_sa_set_mask(mad + 36, UINT64_MAX);
	port_gid(gid, bits >> 3 & 3);
	cw_ipoib_broadcast(mgid, 0x8001, 2);
	mgid[15] = (uint8_t)(mgid[15] + (bits >> 5));
	if (kind < 3) {
		cw_mcmember_set_mgid(data, mgid);
		cw_mcmember_set_port_gid(data, gid);
		cw_mcmember_set_pkey(data, 0x8001);
		cw_mcmember_set_qkey(data, 0x80010b1b);
		cw_mcmember_set_mtu_sel(data, CW_SA_EXACTLY);
		cw_mcmember_set_mtu(data, 4);
		cw_mcmember_set_join_state(data, CW_SA_FULL);
	} else if (kind == 3) {
		cw_pathrecord_set_sgid(data, gid);
		port_gid(gid, 0);
		cw_pathrecord_set_dgid(data, gid);
		cw_pathrecord_set_pkey(data, 0x8001);
	} else {
		cw_informinfo_set_subscribe(data, 1);
		cw_informinfo_set_trap(data, CW_TRAP_MCG_CREATE + (bits >> 5 & 1));
	}
}

static void request(struct cw_sa *sa, struct asked *a, struct fuzz_in *in)
{
	uint8_t bits = fuzz_u8(in), n = fuzz_u8(in) % 8, *mad;
	size_t len = CW_MAD_OCTETS;

	if (bits & 0x80) {
		mad = fuzz_block(in, fuzz_u8(in), &len);
	} else {
		mad = calloc(1, len);
		FUZZ_CHECK(mad != NULL);
		good_request(mad, in);
		while (n-- > 0) {
			uint8_t at = fuzz_u8(in);

			mad[at] = fuzz_u8(in);
		}
		memcpy(a->mad, mad, len);
	}
	a->lid = (uint16_t)(2 + bits % 4);
	a->answers = a->reports = 0;
	if (cw_sa_request(sa, a->lid, mad, len) < 0)
		FUZZ_CHECK(a->answers == 0 && a->reports == 0);
	else
		FUZZ_CHECK(a->answers > 0 && a->reports <= PORTS);
	free(mad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cw_sa_partition p = {0x8001, 2, 4, 3, 0, 0x80010b1b};
	struct fuzz_in in = {data, size};
	struct asked a = {0};
	uint8_t gid[16];
	struct cw_sa *sa;
	unsigned i;

	FUZZ_CHECK(cw_sa_new(&sa, SM_LID, GROUPS, sent, &a) == CW_OK);
	FUZZ_CHECK(cw_sa_partition(sa, &p) == CW_OK);
	for (i = 0; i < PORTS; i++) {
		port_gid(gid, i);
		FUZZ_CHECK(cw_sa_port(sa, gid, (uint16_t)(2 + i)) == CW_OK);
	}
	for (i = 0; i < REQUESTS && in.left > 0; i++) {
		if (in.p[0] == 0xff)
			cw_sa_restart(sa);
		request(sa, &a, &in);
	}
	cw_sa_free(sa);
	return 0;
}
