/* smp.c - subnet management packets. Spec and deviations: wire/smp.h. */
#include "causeway/craft.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/smp.h"
#include "lib/wire/families.h"
#include "lib/wire/roce_int.h"

const struct cw_name cw_names_smp_attr[] = {
	{CW_SMP_NOTICE, "Notice"},
	{CW_SMP_NODE_DESCRIPTION, "NodeDescription"},
	{CW_SMP_NODE_INFO, "NodeInfo"},
	{CW_SMP_SWITCH_INFO, "SwitchInfo"},
	{CW_SMP_GUID_INFO, "GUIDInfo"},
	{CW_SMP_PORT_INFO, "PortInfo"},
	{CW_SMP_PKEY_TABLE, "P_KeyTable"},
	{CW_SMP_SL_TO_VL, "SLtoVLMappingTable"},
	{CW_SMP_VL_ARBITRATION, "VLArbitrationTable"},
	{CW_SMP_LINEAR_FORWARDING, "LinearForwardingTable"},
	{CW_SMP_RANDOM_FORWARDING, "RandomForwardingTable"},
	{CW_SMP_MULTICAST_FORWARDING, "MulticastForwardingTable"},
	{CW_SMP_SM_INFO, "SMInfo"},
	{0, NULL},
};
const struct cw_name cw_names_ib_width[] = {
	{1, "1x"}, {2, "4x"}, {4, "8x"}, {8, "12x"}, {16, "2x"}, {0, NULL},
};
const struct cw_name cw_names_ib_speed[] = {
	{1, "2.5 Gb/s"},
	{2, "5 Gb/s"},
	{4, "10 Gb/s"},
	{0, NULL},
};
const struct cw_name cw_names_ib_ext_speed[] = {
	{1, "FDR"}, {2, "EDR"}, {4, "HDR"}, {8, "NDR"}, {0, NULL},
};
const struct cw_name cw_names_port_state[] = {
	{1, "Down"}, {2, "Init"}, {3, "Armed"}, {4, "Active"}, {0, NULL},
};
const struct cw_name cw_names_port_phys[] = {
	{1, "Sleep"},  {2, "Polling"},           {3, "Disabled"}, {4, "PortConfigurationTraining"},
	{5, "LinkUp"}, {6, "LinkErrorRecovery"}, {7, "PhyTest"},  {0, NULL},
};

/* The header in front of PortInfo names it. */
static void fix_smp(struct cw_craft *c, unsigned layer)
{
	if (layer + 1 < c->nlayers && c->layers[layer + 1].hdr == &cw_hdr_portinfo &&
	    !cw_craft_given(c, layer, "attribute"))
		cw_smp_set_attribute(cw_craft_data(c, layer), CW_SMP_PORT_INFO);
}

CW_HDR_DEFINE(smp, "Subnet management packet, LID-routed", CW_SIZE_SMP, CW_TABLE_SMP,
	      "IBTA 14.2.1.1", fix_smp)
CW_HDR_DEFINE(smp_dr, "Subnet management packet, directed route", CW_SIZE_SMP_DR, CW_TABLE_SMP_DR,
	      "IBTA 14.2.1.2", fix_smp)
CW_HDR_DEFINE(smp_data, "SMP data", CW_SIZE_SMP_DATA, CW_TABLE_SMP_DATA, "IBTA 14.2.5", NULL)
CW_HDR_DEFINE(smp_path, "Directed route", CW_SIZE_SMP_PATH, CW_TABLE_SMP_PATH, "IBTA 14.2.1.2",
	      NULL)
CW_HDR_DEFINE(portinfo, "PortInfo", CW_SIZE_PORTINFO, CW_TABLE_PORTINFO, "IBTA 14.2.5.6", NULL)

/* RoCE has no QP0 (IBTA annexes A16, A17): what goes there has no meaning that we know. */
static bool on_infiniband(const struct cw_packet *p)
{
	unsigned i = 0;

	while (i < p->nlayers && p->layers[i].hdr != &cw_hdr_lrh)
		i++;
	return i < p->nlayers;
}

static int dissect_smp(struct cw_dissector *d)
{
	const uint8_t *smp = d->rd.p;
	const struct cw_hdr *data;
	bool directed;
	int err;

	if (!on_infiniband(d->pkt))
		return CW_OK;
	if (cw_rd_left(&d->rd) < CW_MAD_OCTETS)
		return CW_E_SHORT;
	if (cw_smp_base_version(smp) != 1)
		return CW_E_VERSION;
	directed = cw_smp_mgmt_class(smp) == CW_MAD_CLASS_DIRECTED;
	if (!directed && cw_smp_mgmt_class(smp) != CW_MAD_CLASS_SMP)
		return CW_E_RESERVED; /* nothing else may use QP0 (IBTA 13.5.1) */
	data = cw_smp_attribute(smp) == CW_SMP_PORT_INFO ? &cw_hdr_portinfo : &cw_hdr_smp_data;
	if ((err = cw_dissect_push(d, directed ? &cw_hdr_smp_dr : &cw_hdr_smp, CW_SIZE_SMP, NULL)) <
		    0 ||
	    (err = cw_dissect_push(d, data, data->size, NULL)) < 0)
		return err;
	return directed ? cw_dissect_push(d, &cw_hdr_smp_path, CW_SIZE_SMP_PATH, NULL) : CW_OK;
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_smp, &cw_hdr_smp_dr, &cw_hdr_portinfo, &cw_hdr_smp_data, &cw_hdr_smp_path, NULL,
};
static const struct cw_claim claims[] = {{CW_SEL_QPN, CW_SMP_QPN}};
const struct cw_family cw_family_smp = {
	.name = "smp",
	.title = "Subnet management",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.dissect = dissect_smp,
	.sealed = cw_roce_sealed,
	.seal = cw_roce_seal,
	.icrc_le = true,
};
