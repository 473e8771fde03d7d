/* ipoib.c - IP over InfiniBand. Spec and deviations: wire/ipoib.h. */
#include <string.h>
#include "causeway/craft.h"
#include "causeway/wire/arp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ipoib.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_ipoib_op[] = {
	{CW_ARP_REQUEST, "request"},
	{CW_ARP_REPLY, "reply"},
	{3, "reverse request"},
	{4, "reverse reply"},
	{0, NULL},
};

/* ---- Addresses ---------------------------------------------------------------------------- */

void cw_ipoib_lla(uint8_t out[CW_IPOIB_LLA], uint32_t qpn, const uint8_t gid[16])
{
	cw_put_be32(out, qpn & 0xffffff);
	memcpy(out + 4, gid, 16);
}

bool cw_ipoib_lla_equal(const uint8_t a[CW_IPOIB_LLA], const uint8_t b[CW_IPOIB_LLA])
{
	return memcmp(a + 1, b + 1, CW_IPOIB_LLA - 1) == 0;
}

void cw_ipoib_group_lla(uint8_t out[CW_IPOIB_LLA], const uint8_t mgid[16])
{
	cw_ipoib_lla(out, CW_IB_QPN_MCAST, mgid);
}

static bool is_op(const uint8_t *arp, size_t len, uint32_t first)
{
	return len >= CW_SIZE_IPOIB_ARP && cw_ipoib_arp_htype(arp) == CW_IPOIB_ARP_HTYPE &&
	       cw_ipoib_arp_ptype(arp) == CW_ETHERTYPE_IP4 &&
	       cw_ipoib_arp_hlen(arp) == CW_IPOIB_LLA && cw_ipoib_arp_plen(arp) == 4 &&
	       (cw_ipoib_arp_op(arp) == first || cw_ipoib_arp_op(arp) == first + 1);
}

bool cw_ipoib_arp_valid(const uint8_t *arp, size_t len)
{
	return is_op(arp, len, CW_ARP_REQUEST);
}

bool cw_ipoib_rarp_valid(const uint8_t *rarp, size_t len)
{
	enum { RARP_REQUEST = 3 };

	return is_op(rarp, len, RARP_REQUEST);
}

void cw_ipoib_arp_build(uint8_t *arp, uint32_t op, const uint8_t sha[CW_IPOIB_LLA],
			const uint8_t spa[4], const uint8_t *tha, const uint8_t tpa[4])
{
	memset(arp, 0, CW_SIZE_IPOIB_ARP);
	cw_ipoib_arp_set_htype(arp, CW_IPOIB_ARP_HTYPE);
	cw_ipoib_arp_set_ptype(arp, CW_ETHERTYPE_IP4);
	cw_ipoib_arp_set_hlen(arp, CW_IPOIB_LLA);
	cw_ipoib_arp_set_plen(arp, 4);
	cw_ipoib_arp_set_op(arp, op);
	cw_ipoib_arp_set_sha_qpn(arp, cw_ipoib_lla_qpn(sha));
	cw_ipoib_arp_set_sha_gid(arp, sha + 4);
	cw_ipoib_arp_set_spa(arp, spa);
	if (tha != NULL) {
		cw_ipoib_arp_set_tha_qpn(arp, cw_ipoib_lla_qpn(tha));
		cw_ipoib_arp_set_tha_gid(arp, tha + 4);
	}
	cw_ipoib_arp_set_tpa(arp, tpa);
}

static void mgid_head(uint8_t mgid[16], uint16_t signature, uint16_t pkey, unsigned scope)
{
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | (scope & 15));
	cw_put_be16(mgid + 2, signature);
	cw_put_be16(mgid + 4, (uint16_t)(pkey | CW_IPOIB_PKEY_FULL));
}

void cw_ipoib_broadcast(uint8_t mgid[16], uint16_t pkey, unsigned scope)
{
	mgid_head(mgid, CW_IPOIB_SIG4, pkey, scope);
	memset(mgid + 12, 0xff, 4);
}

void cw_ipoib_mgid4(uint8_t mgid[16], const uint8_t group[4], uint16_t pkey, unsigned scope)
{
	if (cw_be32(group) == 0xffffffff) {
		cw_ipoib_broadcast(mgid, pkey, scope);
		return;
	}
	mgid_head(mgid, CW_IPOIB_SIG4, pkey, scope);
	memcpy(mgid + 12, group, 4);
	mgid[12] &= 0x0f;
}

void cw_ipoib_mgid6(uint8_t mgid[16], const uint8_t group[16], uint16_t pkey, unsigned scope)
{
	mgid_head(mgid, CW_IPOIB_SIG6, pkey, scope);
	memcpy(mgid + 6, group + 6, 10);
}

static int parse_mgid4(const uint8_t mgid[16], struct cw_ipoib_group *out)
{
	static const uint8_t zero[6];

	if (memcmp(mgid + 6, zero, sizeof(zero)) != 0)
		return CW_E_UNKNOWN;
	memcpy(out->v4, mgid + 12, 4);
	out->broadcast = cw_be32(mgid + 12) == 0xffffffff;
	if (out->broadcast)
		return CW_OK;
	if (out->v4[0] >> 4 != 0)
		return CW_E_UNKNOWN;
	out->v4[0] |= 0xe0;
	return CW_OK;
}

int cw_ipoib_mgid_parse(const uint8_t mgid[16], struct cw_ipoib_group *out)
{
	uint16_t signature = cw_be16(mgid + 2);

	memset(out, 0, sizeof(*out));
	out->pkey = cw_be16(mgid + 4);
	out->scope = mgid[1] & 15;
	if (mgid[0] != 0xff || mgid[1] >> 4 != 1 || (out->pkey & CW_IPOIB_PKEY_FULL) == 0)
		return CW_E_UNKNOWN;
	if (signature == CW_IPOIB_SIG4)
		return parse_mgid4(mgid, out);
	if (signature != CW_IPOIB_SIG6)
		return CW_E_UNKNOWN;
	out->v6 = true;
	memcpy(out->id, mgid + 6, sizeof(out->id));
	return CW_OK;
}

void cw_ipoib_iid(uint8_t iid[8], const uint8_t guid[8], bool modified)
{
	memcpy(iid, guid, 8);
	if (!modified)
		iid[0] ^= 2;
}

/* ---- Craft and dissect -------------------------------------------------------------------- */

static void fix_ipoib(struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *next = layer + 1 < c->nlayers ? c->layers[layer + 1].hdr : NULL;
	uint32_t type = 0;

	if (cw_craft_given(c, layer, "type"))
		return;
	if (next == &cw_hdr_ipv4)
		type = CW_ETHERTYPE_IP4;
	else if (next == &cw_hdr_ipv6)
		type = CW_ETHERTYPE_IP6;
	else if (next == &cw_hdr_ipoib_arp)
		type = cw_ipoib_arp_op(cw_craft_data(c, layer + 1)) > CW_ARP_REPLY
			       ? CW_IPOIB_RARP
			       : CW_ETHERTYPE_ARP;
	cw_ipoib_set_type(cw_craft_data(c, layer), type);
}

CW_HDR_DEFINE(ipoib, "IPoIB encapsulation", CW_SIZE_IPOIB, CW_TABLE_IPOIB, "RFC 4391 6", fix_ipoib)
CW_HDR_DEFINE(ipoib_area, "Octets in front of an IPoIB datagram", CW_SIZE_IPOIB_AREA,
	      CW_TABLE_IPOIB_AREA, "LINKTYPE_IPOIB", NULL)
CW_HDR_DEFINE(ipoib_arp, "ARP over InfiniBand", CW_SIZE_IPOIB_ARP, CW_TABLE_IPOIB_ARP,
	      "RFC 4391 9.2", NULL)
CW_HDR_DEFINE(ipoib_nd, "Link-layer address option of IPoIB", CW_SIZE_IPOIB_ND, CW_TABLE_IPOIB_ND,
	      "RFC 4391 9.3", NULL)

static int dissect_arp(struct cw_dissector *d)
{
	const uint8_t *at;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_ipoib_arp, CW_SIZE_IPOIB_ARP, &at)) < 0)
		return err;
	if (cw_ipoib_arp_hlen(at) != CW_IPOIB_LLA || cw_ipoib_arp_plen(at) != 4)
		return CW_E_LENGTH;
	return cw_dissect_limit(d, 0);
}

/* Memory that nobody cleared is text, too, and each letter from ` to o has a 6 where the version
 * is. */
static bool is_grh(const uint8_t *p)
{
	static const uint8_t none[CW_SIZE_GRH];

	return memcmp(p, none, sizeof(none)) == 0 ||
	       (cw_grh_version(p) == 6 && cw_grh_next(p) == CW_IB_GRH_NEXT);
}

/* LINKTYPE_IPOIB: 40 octets for a GRH. Without one they are zeros, or what adapters leave there. */
static int dissect_front(struct cw_dissector *d)
{
	bool grh = cw_rd_left(&d->rd) < CW_SIZE_GRH || is_grh(d->rd.p);

	return cw_dissect_push(d, grh ? &cw_hdr_grh : &cw_hdr_ipoib_area, CW_SIZE_GRH, NULL);
}

static int dissect_ipoib(struct cw_dissector *d)
{
	const uint8_t *at;
	uint32_t type;
	int err;

	if (d->pkt->nlayers == 0 && (err = dissect_front(d)) < 0)
		return err;
	if ((err = cw_dissect_push(d, &cw_hdr_ipoib, CW_SIZE_IPOIB, &at)) < 0)
		return err;
	switch (type = cw_ipoib_type(at)) {
	case CW_ETHERTYPE_ARP:
	case CW_IPOIB_RARP:
		return dissect_arp(d);
	case CW_ETHERTYPE_IP4:
	case CW_ETHERTYPE_IP6:
		return cw_dissect_next(d, CW_SEL_ETHERTYPE, type);
	default:
		return CW_E_UNKNOWN;
	}
}

/* Nothing in a datagram says what its queue pair is for: a type of IPoIB's, and what must follow
 * it, tell it from the datagrams of others. */
static bool mine(const struct cw_dissector *d)
{
	const uint8_t *p = d->rd.p;

	if (d->pkt->nlayers == 0)
		return true;
	if (cw_rd_left(&d->rd) < CW_SIZE_IPOIB + 2)
		return false;
	switch (cw_ipoib_type(p)) {
	case CW_ETHERTYPE_IP4:
		return p[CW_SIZE_IPOIB] >> 4 == 4;
	case CW_ETHERTYPE_IP6:
		return p[CW_SIZE_IPOIB] >> 4 == 6;
	case CW_ETHERTYPE_ARP:
	case CW_IPOIB_RARP:
		return cw_be16(p + CW_SIZE_IPOIB) == CW_IPOIB_ARP_HTYPE;
	default:
		return false;
	}
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_ipoib, &cw_hdr_ipoib_area, &cw_hdr_ipoib_arp,
					    &cw_hdr_ipoib_nd, NULL};
static const struct cw_claim claims[] = {{CW_SEL_UD, 0}, {CW_SEL_LINK, CW_LINK_IPOIB}};
const struct cw_family cw_family_ipoib = {
	.name = "ipoib",
	.title = "IP over InfiniBand",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.mine = mine,
	.dissect = dissect_ipoib,
};
