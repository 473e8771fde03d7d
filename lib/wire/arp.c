/* arp.c - ARP for IPv4 over Ethernet. Spec and deviations: wire/arp.h. */
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_arp_op[] = {
	{CW_ARP_REQUEST, "request"}, {CW_ARP_REPLY, "reply"}, {0, NULL}};

CW_HDR_DEFINE(arp, "ARP", CW_SIZE_ARP, CW_TABLE_ARP, "RFC 826", NULL)

bool cw_arp_valid(const uint8_t *arp, size_t len)
{
	return len >= CW_SIZE_ARP && cw_arp_htype(arp) == 1 &&
	       cw_arp_ptype(arp) == CW_ETHERTYPE_IP4 && cw_arp_hlen(arp) == 6 &&
	       cw_arp_plen(arp) == 4 &&
	       (cw_arp_op(arp) == CW_ARP_REQUEST || cw_arp_op(arp) == CW_ARP_REPLY);
}

void cw_arp_build(uint8_t *arp, uint32_t op, const uint8_t sha[6], const uint8_t spa[4],
		  const uint8_t tha[6], const uint8_t tpa[4])
{
	cw_arp_set_htype(arp, 1);
	cw_arp_set_ptype(arp, CW_ETHERTYPE_IP4);
	cw_arp_set_hlen(arp, 6);
	cw_arp_set_plen(arp, 4);
	cw_arp_set_op(arp, op);
	cw_arp_set_sha(arp, sha);
	cw_arp_set_spa(arp, spa);
	cw_arp_set_tha(arp, tha);
	cw_arp_set_tpa(arp, tpa);
}

static int dissect_arp(struct cw_dissector *d)
{
	const uint8_t *at;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_arp, CW_SIZE_ARP, &at)) < 0)
		return err;
	if (cw_arp_hlen(at) != 6 || cw_arp_plen(at) != 4)
		return CW_E_LENGTH;
	/* Behind the message is only the padding of a short Ethernet frame. */
	return cw_dissect_limit(d, 0);
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_arp, NULL};
static const struct cw_claim claims[] = {{CW_SEL_ETHERTYPE, CW_ETHERTYPE_ARP}};
const struct cw_family cw_family_arp = {
	.name = "arp",
	.title = "ARP",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.dissect = dissect_arp,
};
