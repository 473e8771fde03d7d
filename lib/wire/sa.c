/* sa.c - subnet administration. Spec and deviations: wire/sa.h. */
#include "causeway/craft.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "lib/wire/families.h"
#include "lib/wire/sa_int.h"

const struct cw_name cw_names_rmpp_type[] = {
	{0, "none"}, {1, "DATA"}, {2, "ACK"}, {3, "STOP"}, {4, "ABORT"}, {0, NULL},
};
const struct cw_name cw_names_ib_rate[] = {
	{2, "2.5 Gb/s"},  {3, "10 Gb/s"},   {4, "30 Gb/s"},   {5, "5 Gb/s"},    {6, "20 Gb/s"},
	{7, "40 Gb/s"},   {8, "60 Gb/s"},   {9, "80 Gb/s"},   {10, "120 Gb/s"}, {11, "14 Gb/s"},
	{12, "56 Gb/s"},  {13, "112 Gb/s"}, {14, "168 Gb/s"}, {15, "25 Gb/s"},  {16, "100 Gb/s"},
	{17, "200 Gb/s"}, {18, "300 Gb/s"}, {0, NULL},
};
const struct cw_name cw_names_sa_trap[] = {
	{64, "GID in service"},
	{65, "GID out of service"},
	{CW_TRAP_MCG_CREATE, "group created"},
	{CW_TRAP_MCG_DELETE, "group deleted"},
	{0xffff, "all"},
	{0, NULL},
};

CW_HDR_DEFINE(rmpp, "RMPP header", CW_SIZE_RMPP, CW_TABLE_RMPP, "IBTA 13.6.2", NULL)
CW_HDR_DEFINE(sa, "SA header", CW_SIZE_SA, CW_TABLE_SA, "IBTA 15.2.1", NULL)
CW_HDR_DEFINE(mcmember, "MCMemberRecord", CW_SIZE_MCMEMBER, CW_TABLE_MCMEMBER, "IBTA 15.2.5.17",
	      NULL)
CW_HDR_DEFINE(pathrecord, "PathRecord", CW_SIZE_PATHRECORD, CW_TABLE_PATHRECORD, "IBTA 15.2.5.16",
	      NULL)
CW_HDR_DEFINE(informinfo, "InformInfo", CW_SIZE_INFORMINFO, CW_TABLE_INFORMINFO, "IBTA 13.4.8.3",
	      NULL)
CW_HDR_DEFINE(notice, "Notice", CW_SIZE_NOTICE, CW_TABLE_NOTICE, "IBTA 13.4.8.2", NULL)
CW_HDR_DEFINE(classportinfo, "ClassPortInfo", CW_SIZE_CLASSPORTINFO, CW_TABLE_CLASSPORTINFO,
	      "IBTA 13.4.8.1", NULL)

static const struct {
	uint32_t attribute;
	const struct cw_hdr *hdr;
} attributes[] = {
	{CW_SA_CLASSPORTINFO, &cw_hdr_classportinfo}, {CW_SA_NOTICE, &cw_hdr_notice},
	{CW_SA_INFORMINFO, &cw_hdr_informinfo},       {CW_SA_PATHRECORD, &cw_hdr_pathrecord},
	{CW_SA_MCMEMBER, &cw_hdr_mcmember},
};
enum { NATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

static const struct cw_hdr *hdr_of(uint32_t attribute)
{
	unsigned i;

	for (i = 0; i < NATTRIBUTES; i++) {
		if (attributes[i].attribute == attribute)
			return attributes[i].hdr;
	}
	return NULL;
}

uint32_t cw_sa_attribute_of(const struct cw_hdr *hdr)
{
	unsigned i;

	for (i = 0; i < NATTRIBUTES; i++) {
		if (attributes[i].hdr == hdr)
			return attributes[i].attribute;
	}
	return 0;
}

const char *cw_sa_status_name(uint16_t status)
{
	static const char *const names[] = {
		"ok",
		"no resources",
		"request invalid",
		"no records",
		"too many records",
		"invalid GID",
		"insufficient components",
		"denied",
	};
	unsigned code = status >> 8;

	if (code >= sizeof(names) / sizeof(names[0]))
		return "unknown status";
	if (code > 0)
		return names[code];
	if (status & CW_SA_BUSY)
		return "busy";
	return status == 0 ? names[0] : "bad version, method or attribute";
}

/* The records of a table, as far as there are layers for them. */
static int dissect_table(struct cw_dissector *d, const struct cw_hdr *hdr, size_t stride,
			 size_t len)
{
	int err;

	while (len >= stride && stride >= hdr->size && d->pkt->nlayers < CW_MAX_LAYERS) {
		if ((err = cw_dissect_push(d, hdr, stride, NULL)) < 0)
			return err;
		len -= stride;
	}
	return CW_OK;
}

int cw_sa_dissect(struct cw_dissector *d, const uint8_t *mad)
{
	const struct cw_hdr *hdr = hdr_of(cw_mad_attribute(mad));
	const uint8_t *rmpp, *sa;
	size_t stride, len = CW_SA_DATA_LEN;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_rmpp, CW_SIZE_RMPP, &rmpp)) < 0 ||
	    (err = cw_dissect_push(d, &cw_hdr_sa, CW_SIZE_SA, &sa)) < 0 || hdr == NULL)
		return err;
	if (cw_mad_response(mad) == 0 || cw_mad_method(mad) != CW_SA_GETTABLE)
		return cw_dissect_push(d, hdr, hdr->size, NULL);
	if (cw_rmpp_active(rmpp) && (cw_rmpp_type(rmpp) != 1 || cw_rmpp_segment(rmpp) != 1))
		return CW_OK;
	/* The length of a table counts the SA header of each of its segments. */
	if (cw_rmpp_active(rmpp) && cw_rmpp_last(rmpp) && cw_rmpp_length(rmpp) >= CW_SIZE_SA &&
	    cw_rmpp_length(rmpp) - CW_SIZE_SA < len)
		len = cw_rmpp_length(rmpp) - CW_SIZE_SA;
	stride = 8 * (size_t)cw_sa_attr_offset(sa);
	return dissect_table(d, hdr, stride, stride == 0 ? 0 : len);
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_rmpp,       &cw_hdr_sa,     &cw_hdr_mcmember,      &cw_hdr_pathrecord,
	&cw_hdr_informinfo, &cw_hdr_notice, &cw_hdr_classportinfo, NULL,
};
/* Reached through the MAD header, by its class. */
const struct cw_family cw_family_sa = {
	.name = "sa",
	.title = "Subnet administration",
	.hdrs = hdrs,
};
