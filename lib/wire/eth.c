/* eth.c - Ethernet II with 802.1Q and 802.1ad tags. Spec and deviations: wire/eth.h. */
#include "causeway/craft.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_ethertype[] = {
	{CW_ETHERTYPE_IP4, "IPv4"},
	{CW_ETHERTYPE_ARP, "ARP"},
	{CW_ETHERTYPE_VLAN, "VLAN"},
	{CW_ETHERTYPE_IP6, "IPv6"},
	{CW_ETHERTYPE_SVLAN, "SVLAN"},
	{CW_ETHERTYPE_QINQ1, "QINQ1"},
	{CW_ETHERTYPE_IB, "IB"},
	{CW_ETHERTYPE_UB, "UB"},
	{0x8035, "RARP"},
	{0x8915, "RoCEv1"},
	{0, NULL},
};

/* The EtherType by which the layer behind `layer` is announced, 0 if nothing has one. */
static uint32_t type_of_next(const struct cw_craft *c, unsigned layer)
{
	const struct cw_family *const *f;
	const struct cw_hdr *next, *const *h;
	unsigned i;

	if (layer + 1 >= c->nlayers)
		return 0;
	next = c->layers[layer + 1].hdr;
	if (next == &cw_hdr_vlan)
		return layer + 2 < c->nlayers && c->layers[layer + 2].hdr == &cw_hdr_vlan
			       ? CW_ETHERTYPE_SVLAN
			       : CW_ETHERTYPE_VLAN;
	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL && *h != next; h++)
			;
		for (i = 0; *h != NULL && i < (*f)->nclaims; i++) {
			if ((*f)->claims[i].sel != CW_SEL_ETHERTYPE)
				continue;
			if (next == &cw_hdr_grh)
				return CW_ETHERTYPE_ROCEV1;
			/* IP claims two EtherTypes: the version in the header decides. */
			if ((*f)->claims[i].value == CW_ETHERTYPE_IP4 &&
			    c->data[c->layers[layer + 1].off] >> 4 == 6)
				return CW_ETHERTYPE_IP6;
			return (*f)->claims[i].value;
		}
	}
	return 0;
}

static void fix_eth(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "type"))
		cw_eth_set_type(cw_craft_data(c, layer), type_of_next(c, layer));
}

static void fix_vlan(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "type"))
		cw_vlan_set_type(cw_craft_data(c, layer), type_of_next(c, layer));
}

CW_HDR_DEFINE(eth, "Ethernet II", CW_SIZE_ETH, CW_TABLE_ETH, "802.3 3", fix_eth)
CW_HDR_DEFINE(vlan, "VLAN tag", CW_SIZE_VLAN, CW_TABLE_VLAN, "802.1Q 9", fix_vlan)

static int dissect_eth(struct cw_dissector *d)
{
	const uint8_t *at;
	unsigned depth = 0;
	uint32_t type;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_eth, CW_SIZE_ETH, &at)) < 0)
		return err;
	for (type = cw_eth_type(at); cw_is_tpid(type); type = cw_vlan_type(at)) {
		if (++depth > CW_VLAN_DEPTH_MAX)
			return CW_E_DEPTH;
		if ((err = cw_dissect_push(d, &cw_hdr_vlan, CW_SIZE_VLAN, &at)) < 0)
			return err;
	}
	return cw_dissect_next(d, CW_SEL_ETHERTYPE, type);
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_eth, &cw_hdr_vlan, NULL};
static const struct cw_claim claims[] = {{CW_SEL_LINK, CW_LINK_ETHERNET}};
const struct cw_family cw_family_eth = {
	.name = "eth",
	.title = "Ethernet",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.dissect = dissect_eth,
};
