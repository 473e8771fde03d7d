/* mad.c - MADs and CM messages. Spec and deviations: wire/mad.h. */
#include "causeway/craft.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "lib/wire/families.h"
#include "lib/wire/roce_int.h"
#include "lib/wire/sa_int.h"

const struct cw_name cw_names_mad_class[] = {
	{0x01, "SubnLID"},      {CW_MAD_CLASS_SA, "SubnAdm"},
	{0x04, "Perf"},         {CW_MAD_CLASS_CM, "CommMgt"},
	{0x81, "SubnDirected"}, {0, NULL},
};

const struct cw_name cw_names_mad_attr[] = {
	{CW_CM_REQ, "REQ"},
	{CW_CM_MRA, "MRA"},
	{CW_CM_REJ, "REJ"},
	{CW_CM_REP, "REP"},
	{CW_CM_RTU, "RTU"},
	{CW_CM_DREQ, "DREQ"},
	{CW_CM_DREP, "DREP"},
	{CW_CM_SIDR_REQ, "SIDR_REQ"},
	{CW_CM_SIDR_REP, "SIDR_REP"},
	{CW_CM_LAP, "LAP"},
	{CW_CM_APR, "APR"},
	{CW_SA_CLASSPORTINFO, "ClassPortInfo"},
	{CW_SA_NOTICE, "Notice"},
	{CW_SA_INFORMINFO, "InformInfo"},
	{CW_SA_PATHRECORD, "PathRecord"},
	{CW_SA_MCMEMBER, "MCMemberRecord"},
	{0, NULL},
};

const struct cw_name cw_names_cm_transport[] = {
	{0, "RC"}, {1, "UC"}, {2, "RD"}, {3, "extended"}, {0, NULL},
};

const struct cw_name cw_names_cm_message[] = {
	{0, "REQ"},
	{1, "REP"},
	{2, "other"},
	{0, NULL},
};

const struct cw_name cw_names_ib_mtu[] = {
	{1, "256"}, {2, "512"}, {3, "1024"}, {4, "2048"}, {5, "4096"}, {0, NULL},
};

static void fix_mad(struct cw_craft *c, unsigned layer);

CW_HDR_DEFINE(mad, "Management datagram", CW_SIZE_MAD, CW_TABLE_MAD, "IBTA 13.4.3", fix_mad)
CW_HDR_DEFINE(cm_req, "CM request", CW_SIZE_CM_REQ, CW_TABLE_CM_REQ, "IBTA 12.6.5", NULL)
CW_HDR_DEFINE(cm_mra, "CM message receipt acknowledgement", CW_SIZE_CM_MRA, CW_TABLE_CM_MRA,
	      "IBTA 12.6.6", NULL)
CW_HDR_DEFINE(cm_rej, "CM reject", CW_SIZE_CM_REJ, CW_TABLE_CM_REJ, "IBTA 12.6.7", NULL)
CW_HDR_DEFINE(cm_rep, "CM reply", CW_SIZE_CM_REP, CW_TABLE_CM_REP, "IBTA 12.6.8", NULL)
CW_HDR_DEFINE(cm_rtu, "CM ready to use", CW_SIZE_CM_RTU, CW_TABLE_CM_RTU, "IBTA 12.6.9", NULL)
CW_HDR_DEFINE(cm_dreq, "CM disconnect request", CW_SIZE_CM_DREQ, CW_TABLE_CM_DREQ, "IBTA 12.6.10",
	      NULL)
CW_HDR_DEFINE(cm_drep, "CM disconnect reply", CW_SIZE_CM_DREP, CW_TABLE_CM_DREP, "IBTA 12.6.11",
	      NULL)
CW_HDR_DEFINE(cm_sidr_req, "CM service ID resolution request", CW_SIZE_CM_SIDR_REQ,
	      CW_TABLE_CM_SIDR_REQ, "IBTA 12.11.1", NULL)
CW_HDR_DEFINE(cm_sidr_rep, "CM service ID resolution reply", CW_SIZE_CM_SIDR_REP,
	      CW_TABLE_CM_SIDR_REP, "IBTA 12.11.2", NULL)
CW_HDR_DEFINE(cm_lap, "CM load alternate path", CW_SIZE_CM_LAP, CW_TABLE_CM_LAP, "IBTA 12.8.1",
	      NULL)
CW_HDR_DEFINE(cm_apr, "CM alternate path response", CW_SIZE_CM_APR, CW_TABLE_CM_APR, "IBTA 12.8.2",
	      NULL)

static const struct {
	uint32_t attribute;
	const struct cw_hdr *hdr;
} messages[] = {
	{CW_CM_REQ, &cw_hdr_cm_req},           {CW_CM_MRA, &cw_hdr_cm_mra},
	{CW_CM_REJ, &cw_hdr_cm_rej},           {CW_CM_REP, &cw_hdr_cm_rep},
	{CW_CM_RTU, &cw_hdr_cm_rtu},           {CW_CM_DREQ, &cw_hdr_cm_dreq},
	{CW_CM_DREP, &cw_hdr_cm_drep},         {CW_CM_SIDR_REQ, &cw_hdr_cm_sidr_req},
	{CW_CM_SIDR_REP, &cw_hdr_cm_sidr_rep}, {CW_CM_LAP, &cw_hdr_cm_lap},
	{CW_CM_APR, &cw_hdr_cm_apr},
};
enum { NMESSAGES = sizeof(messages) / sizeof(messages[0]) };

const struct cw_hdr *cw_cm_hdr(uint32_t attribute)
{
	unsigned i;

	for (i = 0; i < NMESSAGES; i++) {
		if (messages[i].attribute == attribute)
			return messages[i].hdr;
	}
	return NULL;
}

/* In front of RMPP and SA header: the attribute is that of the first record. */
static void fix_sa_mad(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "mgmt_class"))
		cw_mad_set_mgmt_class(p, CW_MAD_CLASS_SA);
	if (!cw_craft_given(c, layer, "class_version"))
		cw_mad_set_class_version(p, 2);
	if (!cw_craft_given(c, layer, "method"))
		cw_mad_set_method(p, CW_SA_GET);
	if (!cw_craft_given(c, layer, "attribute") && layer + 3 < c->nlayers)
		cw_mad_set_attribute(p, cw_sa_attribute_of(c->layers[layer + 3].hdr));
}

/* A MAD in front of a CM message knows its class, its method and its attribute. */
static void fix_mad(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	unsigned i;

	if (layer + 1 < c->nlayers && c->layers[layer + 1].hdr == &cw_hdr_rmpp)
		fix_sa_mad(c, layer);
	for (i = 0; layer + 1 < c->nlayers && i < NMESSAGES; i++) {
		if (c->layers[layer + 1].hdr != messages[i].hdr)
			continue;
		if (!cw_craft_given(c, layer, "mgmt_class"))
			cw_mad_set_mgmt_class(p, CW_MAD_CLASS_CM);
		if (!cw_craft_given(c, layer, "class_version"))
			cw_mad_set_class_version(p, 2);
		if (!cw_craft_given(c, layer, "method"))
			cw_mad_set_method(p, CW_MAD_SEND);
		if (!cw_craft_given(c, layer, "attribute"))
			cw_mad_set_attribute(p, messages[i].attribute);
	}
}

static int dissect_mad(struct cw_dissector *d)
{
	const struct cw_hdr *message;
	const uint8_t *mad;
	int err;

	if (cw_rd_left(&d->rd) < CW_MAD_OCTETS)
		return CW_E_SHORT;
	if ((err = cw_dissect_push(d, &cw_hdr_mad, CW_SIZE_MAD, &mad)) < 0)
		return err;
	if (cw_mad_base_version(mad) != 1)
		return CW_E_VERSION;
	if (cw_mad_mgmt_class(mad) == CW_MAD_CLASS_SA)
		return cw_sa_dissect(d, mad);
	if (cw_mad_mgmt_class(mad) != CW_MAD_CLASS_CM)
		return CW_OK;
	if ((message = cw_cm_hdr(cw_mad_attribute(mad))) == NULL)
		return CW_E_RESERVED;
	/* Private data fills the MAD and is the message's tail. */
	return cw_dissect_push(d, message, CW_MAD_OCTETS - CW_SIZE_MAD, NULL);
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_mad,
	&cw_hdr_cm_req,
	&cw_hdr_cm_mra,
	&cw_hdr_cm_rej,
	&cw_hdr_cm_rep,
	&cw_hdr_cm_rtu,
	&cw_hdr_cm_dreq,
	&cw_hdr_cm_drep,
	&cw_hdr_cm_sidr_req,
	&cw_hdr_cm_sidr_rep,
	&cw_hdr_cm_lap,
	&cw_hdr_cm_apr,
	NULL,
};
static const struct cw_claim claims[] = {{CW_SEL_QPN, CW_MAD_QPN_GSI}};
const struct cw_family cw_family_mad = {
	.name = "mad",
	.title = "Management datagrams and CM",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.dissect = dissect_mad,
	.sealed = cw_roce_sealed,
	.seal = cw_roce_seal,
	.icrc_le = true,
};
