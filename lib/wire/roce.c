/* roce.c - RoCEv2 headers. Spec and deviations: wire/roce.h. */
#include <string.h>
#include "causeway/craft.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "lib/wire/families.h"
#include "lib/wire/roce_int.h"

/* The extended headers of the lists below. */
#define HDR_NONE         NULL
#define HDR_IMMDT        &cw_hdr_immdt
#define HDR_RETH         &cw_hdr_reth
#define HDR_AETH         &cw_hdr_aeth
#define HDR_ATOMICACKETH &cw_hdr_atomicacketh
#define HDR_ATOMICETH    &cw_hdr_atomiceth
#define HDR_IETH         &cw_hdr_ieth
#define HDR_FETH         &cw_hdr_feth
#define CW_SIZE_NONE     0

/* One list of operations (IBTA table 38): low five bits, name, extended headers in wire order.
 * RC and UC share the first list; the second is RC's alone. XRC has RC's operations. */
// clang-format off
#define OPS_SHARED(X)                                                                              \
	X(SEND_FIRST,       "SEND_FIRST",           NONE, NONE)                                    \
	X(SEND_MIDDLE,      "SEND_MIDDLE",          NONE, NONE)                                    \
	X(SEND_LAST,        "SEND_LAST",            NONE, NONE)                                    \
	X(SEND_LAST_IMM,    "SEND_LAST_IMM",        IMMDT, NONE)                                   \
	X(SEND_ONLY,        "SEND_ONLY",            NONE, NONE)                                    \
	X(SEND_ONLY_IMM,    "SEND_ONLY_IMM",        IMMDT, NONE)                                   \
	X(WRITE_FIRST,      "WRITE_FIRST",          RETH, NONE)                                    \
	X(WRITE_MIDDLE,     "WRITE_MIDDLE",         NONE, NONE)                                    \
	X(WRITE_LAST,       "WRITE_LAST",           NONE, NONE)                                    \
	X(WRITE_LAST_IMM,   "WRITE_LAST_IMM",       IMMDT, NONE)                                   \
	X(WRITE_ONLY,       "WRITE_ONLY",           RETH, NONE)                                    \
	X(WRITE_ONLY_IMM,   "WRITE_ONLY_IMM",       RETH, IMMDT)
#define OPS_RC(X)                                                                                  \
	X(READ_REQUEST,     "READ_REQUEST",         RETH, NONE)                                    \
	X(READ_RESP_FIRST,  "READ_RESPONSE_FIRST",  AETH, NONE)                                    \
	X(READ_RESP_MIDDLE, "READ_RESPONSE_MIDDLE", NONE, NONE)                                    \
	X(READ_RESP_LAST,   "READ_RESPONSE_LAST",   AETH, NONE)                                    \
	X(READ_RESP_ONLY,   "READ_RESPONSE_ONLY",   AETH, NONE)                                    \
	X(ACK,              "ACKNOWLEDGE",          AETH, NONE)                                    \
	X(ATOMIC_ACK,       "ATOMIC_ACKNOWLEDGE",   AETH, ATOMICACKETH)                            \
	X(CMP_SWAP,         "COMPARE_SWAP",         ATOMICETH, NONE)                               \
	X(FETCH_ADD,        "FETCH_ADD",            ATOMICETH, NONE)                               \
	X(SEND_LAST_INV,    "SEND_LAST_INVALIDATE", IETH, NONE)                                    \
	X(SEND_ONLY_INV,    "SEND_ONLY_INVALIDATE", IETH, NONE)                                    \
	X(FLUSH,            "FLUSH",                FETH, RETH)                                    \
	X(ATOMIC_WRITE,     "ATOMIC_WRITE",         RETH, NONE)
// clang-format on

const struct cw_name cw_names_bth_opcode[] = {
#define CW_X(op, name, a, b) {CW_BTH_RC | CW_OP_##op, "RC_" name},
	OPS_SHARED(CW_X) OPS_RC(CW_X)
#undef CW_X
#define CW_X(op, name, a, b) {CW_BTH_UC | CW_OP_##op, "UC_" name},
		OPS_SHARED(CW_X)
#undef CW_X
#define CW_X(op, name, a, b) {CW_BTH_XRC | CW_OP_##op, "XRC_" name},
			OPS_SHARED(CW_X) OPS_RC(CW_X)
#undef CW_X
				{CW_BTH_UD_SEND, "UD_SEND_ONLY"},
	{CW_BTH_UD | CW_OP_SEND_ONLY_IMM, "UD_SEND_ONLY_IMM"},
	{CW_BTH_CNP, "CNP"},
	{0, NULL},
};

const struct cw_name cw_names_aeth_kind[] = {
	{CW_AETH_ACK, "ACK"},
	{CW_AETH_RNR, "RNR_NAK"},
	{CW_AETH_NAK, "NAK"},
	{0, NULL},
};

struct op {
	bool known, shared;
	const struct cw_hdr *ext[2];
};

static const struct op ops[32] = {
#define CW_X(op, name, a, b) [CW_OP_##op] = {true, true, {HDR_##a, HDR_##b}},
	OPS_SHARED(CW_X)
#undef CW_X
#define CW_X(op, name, a, b) [CW_OP_##op] = {true, false, {HDR_##a, HDR_##b}},
		OPS_RC(CW_X)
#undef CW_X
};

/* Requests of XRC name the receive queue; what answers them does not. */
#define XRC_ANSWERS(op) ((op) >= CW_OP_READ_RESP_FIRST && (op) <= CW_OP_ATOMIC_ACK)

/* Octets of BTH and its extended headers, 0: reserved. */
#define OCTETS(a, b)         (CW_SIZE_BTH + CW_SIZE_##a + CW_SIZE_##b)
#define XRC_OCTETS(op, a, b) (OCTETS(a, b) + (XRC_ANSWERS(op) ? 0 : CW_SIZE_XRCETH))
static const uint8_t octets[256] = {
#define CW_X(op, name, a, b) [CW_BTH_RC | CW_OP_##op] = OCTETS(a, b),
	OPS_SHARED(CW_X) OPS_RC(CW_X)
#undef CW_X
#define CW_X(op, name, a, b) [CW_BTH_UC | CW_OP_##op] = OCTETS(a, b),
		OPS_SHARED(CW_X)
#undef CW_X
#define CW_X(op, name, a, b) [CW_BTH_XRC | CW_OP_##op] = XRC_OCTETS(CW_OP_##op, a, b),
			OPS_SHARED(CW_X) OPS_RC(CW_X)
#undef CW_X
				[CW_BTH_UD_SEND] = CW_SIZE_BTH + CW_SIZE_DETH,
	[CW_BTH_UD | CW_OP_SEND_ONLY_IMM] = CW_SIZE_BTH + CW_SIZE_DETH + CW_SIZE_IMMDT,
	[CW_BTH_CNP] = CW_SIZE_BTH + CW_SIZE_CNP,
};

unsigned cw_bth_octets(uint8_t opcode)
{
	return octets[opcode];
}

static bool allowed(unsigned transport, unsigned op)
{
	switch (transport) {
	case CW_BTH_RC:
	case CW_BTH_XRC:
		return ops[op].known;
	case CW_BTH_UC:
		return ops[op].shared;
	case CW_BTH_UD:
		return op == CW_OP_SEND_ONLY || op == CW_OP_SEND_ONLY_IMM;
	default:
		return false;
	}
}

int cw_bth_extensions(uint8_t opcode, const struct cw_hdr *out[CW_BTH_EXT_MAX + 1])
{
	unsigned transport = CW_BTH_CLASS(opcode), op = CW_BTH_OP(opcode), i;
	int n = 0;

	out[0] = NULL;
	if (opcode == CW_BTH_CNP)
		out[n++] = &cw_hdr_cnp;
	else if (!allowed(transport, op))
		return CW_E_RESERVED;
	if (transport == CW_BTH_UD)
		out[n++] = &cw_hdr_deth;
	if (transport == CW_BTH_XRC && !XRC_ANSWERS(op))
		out[n++] = &cw_hdr_xrceth;
	for (i = 0; opcode != CW_BTH_CNP && i < 2 && ops[op].ext[i] != NULL; i++)
		out[n++] = ops[op].ext[i];
	out[n] = NULL;
	return n;
}

static void fix_bth(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "padcnt"))
		cw_bth_set_padcnt(p, c->pad_len);
	if (!cw_craft_given(c, layer, "opcode") && layer + 1 < c->nlayers &&
	    c->layers[layer + 1].hdr == &cw_hdr_deth)
		cw_bth_set_opcode(p, CW_BTH_UD_SEND);
	if (!cw_craft_given(c, layer, "opcode") && layer + 1 < c->nlayers &&
	    c->layers[layer + 1].hdr == &cw_hdr_cnp) {
		cw_bth_set_opcode(p, CW_BTH_CNP);
		if (!cw_craft_given(c, layer, "becn"))
			cw_bth_set_becn(p, 1);
	}
}

CW_HDR_DEFINE(bth, "Base transport header", CW_SIZE_BTH, CW_TABLE_BTH, "IBTA 9.2", fix_bth)
CW_HDR_DEFINE(rdeth, "Reliable datagram header", CW_SIZE_RDETH, CW_TABLE_RDETH, "IBTA 9.3.1", NULL)
CW_HDR_DEFINE(deth, "Datagram header", CW_SIZE_DETH, CW_TABLE_DETH, "IBTA 9.3.2", NULL)
CW_HDR_DEFINE(reth, "RDMA header", CW_SIZE_RETH, CW_TABLE_RETH, "IBTA 9.3.3", NULL)
CW_HDR_DEFINE(atomiceth, "Atomic header", CW_SIZE_ATOMICETH, CW_TABLE_ATOMICETH, "IBTA 9.3.4", NULL)
CW_HDR_DEFINE(aeth, "Acknowledge header", CW_SIZE_AETH, CW_TABLE_AETH, "IBTA 9.3.5", NULL)
CW_HDR_DEFINE(atomicacketh, "Atomic acknowledge header", CW_SIZE_ATOMICACKETH,
	      CW_TABLE_ATOMICACKETH, "IBTA 9.3.5.3", NULL)
CW_HDR_DEFINE(immdt, "Immediate data", CW_SIZE_IMMDT, CW_TABLE_IMMDT, "IBTA 9.3.6", NULL)
CW_HDR_DEFINE(ieth, "Invalidate header", CW_SIZE_IETH, CW_TABLE_IETH, "IBTA 9.3.7", NULL)
CW_HDR_DEFINE(xrceth, "XRC header", CW_SIZE_XRCETH, CW_TABLE_XRCETH, "IBTA A14", NULL)
CW_HDR_DEFINE(feth, "Flush header", CW_SIZE_FETH, CW_TABLE_FETH, "IBTA A19.4.1", NULL)
CW_HDR_DEFINE(cnp, "Congestion notification", CW_SIZE_CNP, CW_TABLE_CNP, "IBTA A17.9.3", NULL)

/* ---- ICRC --------------------------------------------------------------------------------- */

/* The IP header that directly precedes UDP, or NULL. */
static const uint8_t *ip_header(const uint8_t *data, const struct cw_layer *layers, unsigned n)
{
	const struct cw_layer *l;

	if (n < 2)
		return NULL;
	l = &layers[n - 2];
	if (l->hdr != &cw_hdr_ipv4 && l->hdr != &cw_hdr_ipv6)
		return NULL;
	return data + l->off;
}

static void check_icrc(struct cw_dissector *d, const uint8_t *ip)
{
	struct cw_icrc *i = &d->pkt->icrc;
	const uint8_t *at = d->rd.end - CW_ICRC_LEN;

	i->off = (uint32_t)(at - d->pkt->data);
	i->wire = cw_le32(at);
	i->status = CW_ICRC_UNCHECKED;
	if (d->opts.no_icrc || ip == NULL)
		return;
	if (cw_icrc_compute(ip, (size_t)(at - ip), &cw_icrc_rocev2, &i->computed) == CW_OK)
		i->status = i->wire == i->computed ? CW_ICRC_OK : CW_ICRC_BAD;
}

bool cw_roce_sealed(const struct cw_craft *c)
{
	unsigned i;

	for (i = 1; i < c->nlayers; i++) {
		if (c->layers[i].hdr == &cw_hdr_bth)
			return c->layers[i - 1].hdr == &cw_hdr_udp;
	}
	return false;
}

unsigned cw_roce_pad(const struct cw_craft *c)
{
	unsigned i;

	for (i = 0; i < c->nlayers; i++) {
		if (c->layers[i].hdr == &cw_hdr_bth)
			return (0u - (c->len - c->layers[i].off)) & 3;
	}
	return 0;
}

uint32_t cw_roce_seal(const struct cw_craft *c)
{
	uint32_t v = 0;
	unsigned i = 0;

	while (i < c->nlayers && c->layers[i].hdr != &cw_hdr_bth)
		i++;
	while (i-- > 0) {
		const uint8_t *ip = c->data + c->layers[i].off;

		if (c->layers[i].hdr != &cw_hdr_ipv4 && c->layers[i].hdr != &cw_hdr_ipv6)
			continue;
		/* A header that has no ICRC by the rules (IPv6 extensions) is left with zero. */
		(void)cw_icrc_compute(ip, c->end - CW_ICRC_LEN - c->layers[i].off, &cw_icrc_rocev2,
				      &v);
		break;
	}
	return v;
}

bool cw_roce_is_transport(const struct cw_hdr *h, const struct cw_family *f)
{
	const struct cw_family *of = cw_hdr_family(h);

	return of == f || of == &cw_family_roce;
}

/* ---- Dissect ------------------------------------------------------------------------------ */

int cw_roce_dissect_headers(struct cw_dissector *d)
{
	const struct cw_hdr *ext[CW_BTH_EXT_MAX + 1];
	const uint8_t *bth;
	int err, i, n;

	if ((err = cw_dissect_push(d, &cw_hdr_bth, CW_SIZE_BTH, &bth)) < 0)
		return err;
	d->rd.end -= CW_ICRC_LEN;
	if (cw_bth_tver(bth) != 0)
		return CW_E_VERSION;
	if (cw_rd_left(&d->rd) < cw_bth_padcnt(bth))
		return CW_E_LENGTH;
	d->pkt->pad_len = cw_bth_padcnt(bth);
	d->rd.end -= d->pkt->pad_len;
	if ((n = cw_bth_extensions((uint8_t)cw_bth_opcode(bth), ext)) < 0)
		return n;
	for (i = 0; i < n; i++) {
		if ((err = cw_dissect_push(d, ext[i], ext[i]->size, NULL)) < 0)
			return err;
	}
	if (CW_BTH_CLASS(cw_bth_opcode(bth)) != CW_BTH_UD)
		return CW_OK;
	/* The queue pair numbers of datagrams below 2 are the management ones. */
	if (cw_bth_dqpn(bth) < 2)
		return cw_dissect_next(d, CW_SEL_QPN, cw_bth_dqpn(bth));
	return cw_dissect_next(d, CW_SEL_UD, 0);
}

static int dissect_roce(struct cw_dissector *d)
{
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_BTH + CW_ICRC_LEN)
		return CW_E_SHORT;
	check_icrc(d, ip_header(d->pkt->data, d->pkt->layers, d->pkt->nlayers));
	err = cw_roce_dissect_headers(d);
	/* A wrong ICRC explains every other oddity, so it comes first. */
	return d->pkt->icrc.status == CW_ICRC_BAD ? CW_E_ICRC : err;
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_bth,  &cw_hdr_rdeth,        &cw_hdr_deth,  &cw_hdr_reth, &cw_hdr_atomiceth,
	&cw_hdr_aeth, &cw_hdr_atomicacketh, &cw_hdr_immdt, &cw_hdr_ieth, &cw_hdr_xrceth,
	&cw_hdr_feth, &cw_hdr_cnp,          NULL,
};
static const struct cw_claim claims[] = {{CW_SEL_UDP_PORT, CW_ROCE_PORT}};
const struct cw_family cw_family_roce = {
	.name = "roce",
	.title = "RoCEv2",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 1,
	.dissect = dissect_roce,
	.pad = cw_roce_pad,
	.sealed = cw_roce_sealed,
	.seal = cw_roce_seal,
	.icrc_le = true,
	.covers = true,
};
