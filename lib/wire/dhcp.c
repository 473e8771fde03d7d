/* dhcp.c - DHCP. Spec and deviations: wire/dhcp.h. */
#include "causeway/craft.h"
#include "causeway/wire/dhcp.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_dhcp_op[] = {{1, "request"}, {2, "reply"}, {0, NULL}};
const struct cw_name cw_names_dhcp_htype[] = {{1, "Ethernet"}, {32, "InfiniBand"}, {0, NULL}};
const struct cw_name cw_names_dhcp_opt[] = {
	{1, "subnet mask"},    {3, "router"},     {6, "name server"}, {12, "host name"},
	{26, "interface MTU"}, {28, "broadcast"}, {50, "requested"},  {51, "lease time"},
	{53, "message type"},  {54, "server"},    {55, "parameters"}, {57, "maximum size"},
	{58, "renewal"},       {59, "rebinding"}, {60, "vendor"},     {61, "client identifier"},
	{82, "relay agent"},   {0, NULL},
};
const struct cw_name cw_names_dhcp_duid[] = {
	{1, "LLT"}, {2, "EN"}, {3, "LL"}, {4, "UUID"}, {0, NULL}};

enum { OPT_PAD = 0, OPT_END = 255 };

static void fix_option(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "length"))
		cw_dhcp_opt_set_length(cw_craft_data(c, layer), c->layers[layer].len - 2);
}

CW_HDR_DEFINE(dhcp, "DHCP", CW_SIZE_DHCP, CW_TABLE_DHCP, "RFC 2131 2", NULL)
CW_HDR_DEFINE(dhcp_opt, "DHCP option", CW_SIZE_DHCP_OPT, CW_TABLE_DHCP_OPT, "RFC 2132", fix_option)
CW_HDR_DEFINE(dhcp_iaid, "DHCP client identifier", CW_SIZE_DHCP_IAID, CW_TABLE_DHCP_IAID,
	      "RFC 4361 6.1", fix_option)

static int dissect_options(struct cw_dissector *d)
{
	while (cw_rd_left(&d->rd) > 0 && d->rd.p[0] != OPT_END && d->rd.p[0] != OPT_PAD &&
	       d->pkt->nlayers < CW_MAX_LAYERS) {
		const struct cw_hdr *hdr = &cw_hdr_dhcp_opt;
		size_t len;
		int err;

		if (cw_rd_left(&d->rd) < CW_SIZE_DHCP_OPT)
			return CW_E_SHORT;
		len = CW_SIZE_DHCP_OPT + (size_t)cw_dhcp_opt_length(d->rd.p);
		if (cw_rd_left(&d->rd) < len)
			return CW_E_LENGTH;
		if (d->rd.p[0] == CW_DHCP_CLIENT_ID && len >= CW_SIZE_DHCP_IAID &&
		    cw_dhcp_iaid_type(d->rd.p) == 0xff)
			hdr = &cw_hdr_dhcp_iaid;
		if ((err = cw_dissect_push(d, hdr, len, NULL)) < 0)
			return err;
	}
	/* End and padding have no length: they are payload. */
	return CW_OK;
}

static bool mine(const struct cw_dissector *d)
{
	return cw_rd_left(&d->rd) >= CW_SIZE_DHCP && cw_dhcp_cookie(d->rd.p) == CW_DHCP_COOKIE;
}

/* Over InfiniBand there is no hardware address in a message, and a client has to name itself by an
 * identifier (RFC 4390 2.1). Clients are about that do neither. */
static int check_ib(const struct cw_packet *p, const uint8_t *dhcp)
{
	enum { IB = 32, REQUEST = 1 };
	unsigned i;

	if (cw_dhcp_htype(dhcp) != IB)
		return CW_OK;
	if (cw_dhcp_hlen(dhcp) != 0)
		return CW_E_LENGTH;
	for (i = 0; i < p->nlayers; i++) {
		const struct cw_layer *at = &p->layers[i];

		if (at->hdr == &cw_hdr_dhcp_iaid ||
		    (at->hdr == &cw_hdr_dhcp_opt && p->data[at->off] == CW_DHCP_CLIENT_ID))
			return CW_OK;
	}
	return cw_dhcp_op(dhcp) == REQUEST ? CW_E_FORBIDDEN : CW_OK;
}

static int dissect_dhcp(struct cw_dissector *d)
{
	const uint8_t *dhcp;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_dhcp, CW_SIZE_DHCP, &dhcp)) < 0 ||
	    (err = dissect_options(d)) < 0)
		return err;
	return check_ib(d->pkt, dhcp);
}

static const struct cw_hdr *const hdrs[] = {&cw_hdr_dhcp, &cw_hdr_dhcp_opt, &cw_hdr_dhcp_iaid,
					    NULL};
static const struct cw_claim claims[] = {
	{CW_SEL_UDP_PORT, CW_DHCP_SERVER},
	{CW_SEL_UDP_PORT, CW_DHCP_CLIENT},
};
const struct cw_family cw_family_dhcp = {
	.name = "dhcp",
	.title = "DHCP",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.mine = mine,
	.dissect = dissect_dhcp,
};
