/* ospf3.c - packets of OSPFv3. Spec: wire/ospf3.h. */
#include <stdio.h>
#include "causeway/wire/ip.h"
#include "causeway/wire/ospf3.h"

CW_HDR_DEFINE(ospf3_head, "OSPFv3 header", CW_SIZE_OSPF3_HEAD, CW_TABLE_OSPF3_HEAD,
	      "RFC 5340 A.3.1", NULL)
CW_HDR_DEFINE(ospf3_hello, "OSPFv3 hello", CW_SIZE_OSPF3_HELLO, CW_TABLE_OSPF3_HELLO,
	      "RFC 5340 A.3.2", NULL)
CW_HDR_DEFINE(ospf3_dd, "OSPFv3 database description", CW_SIZE_OSPF3_DD, CW_TABLE_OSPF3_DD,
	      "RFC 5340 A.3.3", NULL)
CW_HDR_DEFINE(ospf3_request, "OSPFv3 request of an LSA", CW_SIZE_OSPF3_REQUEST,
	      CW_TABLE_OSPF3_REQUEST, "RFC 5340 A.3.4", NULL)
CW_HDR_DEFINE(ospf3_update, "OSPFv3 link state update", CW_SIZE_OSPF3_UPDATE, CW_TABLE_OSPF3_UPDATE,
	      "RFC 5340 A.3.5", NULL)
CW_HDR_DEFINE(ospf3_trailer, "OSPFv3 authentication trailer", CW_SIZE_OSPF3_TRAILER,
	      CW_TABLE_OSPF3_TRAILER, "RFC 7166 4.1", NULL)
CW_HDR_DEFINE(ospf3_router, "OSPFv3 Router-LSA", CW_SIZE_OSPF3_ROUTER, CW_TABLE_OSPF3_ROUTER,
	      "RFC 5340 A.4.3", NULL)
CW_HDR_DEFINE(ospf3_edge, "OSPFv3 link of a router", CW_SIZE_OSPF3_EDGE, CW_TABLE_OSPF3_EDGE,
	      "RFC 5340 A.4.3", NULL)
CW_HDR_DEFINE(ospf3_network, "OSPFv3 Network-LSA", CW_SIZE_OSPF3_NETWORK, CW_TABLE_OSPF3_NETWORK,
	      "RFC 5340 A.4.4", NULL)
CW_HDR_DEFINE(ospf3_inter_router, "OSPFv3 Inter-Area-Router-LSA", CW_SIZE_OSPF3_INTER_ROUTER,
	      CW_TABLE_OSPF3_INTER_ROUTER, "RFC 5340 A.4.6", NULL)
CW_HDR_DEFINE(ospf3_link, "OSPFv3 Link-LSA", CW_SIZE_OSPF3_LINK, CW_TABLE_OSPF3_LINK,
	      "RFC 5340 A.4.9", NULL)
CW_HDR_DEFINE(ospf3_reference, "OSPFv3 Intra-Area-Prefix-LSA", CW_SIZE_OSPF3_REFERENCE,
	      CW_TABLE_OSPF3_REFERENCE, "RFC 5340 A.4.10", NULL)
CW_HDR_DEFINE(ospf3_address, "OSPFv3 prefix", CW_SIZE_OSPF3_ADDRESS, CW_TABLE_OSPF3_ADDRESS,
	      "RFC 5340 A.4.1", NULL)

/* The fixed part of each packet type, and the size of what is repeated behind it (0: LSAs). */
static const struct {
	uint8_t fixed, item;
} shapes[] = {
	[CW_OSPF3_HELLO] = {CW_SIZE_OSPF3_HELLO, 4},
	[CW_OSPF3_DD] = {CW_SIZE_OSPF3_DD, CW_SIZE_OSPF3_LSA},
	[CW_OSPF3_REQUEST] = {CW_SIZE_OSPF3_HEAD, CW_SIZE_OSPF3_REQUEST},
	[CW_OSPF3_UPDATE] = {CW_SIZE_OSPF3_UPDATE, 0},
	[CW_OSPF3_ACK] = {CW_SIZE_OSPF3_HEAD, CW_SIZE_OSPF3_LSA},
};

bool cw_ospf3_lsa_next(struct cw_rd *r, const uint8_t **lsa, size_t *len)
{
	if (cw_rd_left(r) < CW_SIZE_OSPF3_LSA)
		return false;
	*len = cw_ospf3_lsa_length(r->p);
	return *len >= CW_SIZE_OSPF3_LSA && cw_rd_take(r, *len, lsa) == CW_OK;
}

static bool body_ok(const struct cw_ospf3_packet *p)
{
	struct cw_rd r = p->body;
	const uint8_t *lsa;
	uint32_t n = 0;
	size_t len;

	if (shapes[p->type].item != 0)
		return cw_rd_left(&r) % shapes[p->type].item == 0;
	while (cw_ospf3_lsa_next(&r, &lsa, &len))
		n++;
	return cw_rd_left(&r) == 0 && n == cw_ospf3_update_count(p->at);
}

int cw_ospf3_packet_parse(struct cw_ospf3_packet *out, const uint8_t *packet, size_t len)
{
	size_t n, fixed;
	uint32_t type;

	if (len < CW_SIZE_OSPF3_HEAD)
		return CW_E_SHORT;
	if (cw_ospf3_head_version(packet) != 3)
		return CW_E_VERSION;
	type = cw_ospf3_head_type(packet);
	if (type < CW_OSPF3_HELLO || type > CW_OSPF3_ACK)
		return CW_E_UNKNOWN;
	fixed = shapes[type].fixed;
	n = cw_ospf3_head_length(packet);
	if (len < fixed)
		return CW_E_SHORT;
	if (n < fixed || n > len)
		return CW_E_LENGTH;
	*out = (struct cw_ospf3_packet){(uint8_t)type, packet, n,
					cw_rd_init(packet + fixed, n - fixed),
					cw_rd_init(packet + n, len - n)};
	return body_ok(out) ? CW_OK : CW_E_LENGTH;
}

uint16_t cw_ospf3_checksum(const uint8_t src[16], const uint8_t dst[16], const uint8_t *packet,
			   size_t len)
{
	uint8_t tail[8] = {0};
	uint32_t sum;

	cw_put_be32(tail, (uint32_t)len);
	tail[7] = CW_IPPROTO_OSPF;
	sum = cw_inet_sum(0, src, 16);
	sum = cw_inet_sum(sum, dst, 16);
	sum = cw_inet_sum(sum, tail, sizeof(tail));
	sum = cw_inet_sum(sum, packet, 12);
	return cw_inet_fold(cw_inet_sum(sum, packet + 14, len - 14));
}

const char *cw_ospf3_type_name(uint16_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} names[] = {
		{CW_OSPF3_ROUTER, "router"},
		{CW_OSPF3_NETWORK, "network"},
		{0x2003, "inter-area-prefix"},
		{CW_OSPF3_INTER_ROUTER, "inter-area-router"},
		{0x4005, "as-external"},
		{0x2007, "nssa"},
		{CW_OSPF3_LINK, "link"},
		{CW_OSPF3_INTRA, "intra-area-prefix"},
		{0xa021, "e-router"},
		{0xa022, "e-network"},
		{CW_OSPF3_E_INTER, "e-inter-area-prefix"},
		{0xa024, "e-inter-area-router"},
		{CW_OSPF3_E_EXTERNAL, "e-as-external"},
		{CW_OSPF3_E_NSSA, "e-nssa"},
		{0x8028, "e-link"},
		{CW_OSPF3_E_INTRA, "e-intra-area-prefix"},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].type == type)
			return names[i].name;
	}
	return "unknown";
}

const char *cw_ospf3_id_format(const uint8_t id[4], char buf[CW_OSPF3_ID_TEXT])
{
	(void)snprintf(buf, CW_OSPF3_ID_TEXT, "%u.%u.%u.%u", id[0], id[1], id[2], id[3]);
	return buf;
}

int cw_ospf3_id_parse(const char *text, uint8_t id[4])
{
	struct cw_addr a;

	if (cw_addr_parse(text, &a) != CW_OK || a.version != 4)
		return CW_E_SYNTAX;
	memcpy(id, a.addr, 4);
	return CW_OK;
}
