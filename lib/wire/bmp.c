/* bmp.c - messages of the BGP Monitoring Protocol. Spec and deviations: wire/bmp.h. */
#include "causeway/wire/bmp.h"
#include "lib/wire/pnc_int.h"

CW_HDR_DEFINE(bmp_head, "BMP common header", CW_SIZE_BMP_HEAD, CW_TABLE_BMP_HEAD, "RFC 7854 4.1",
	      NULL)
CW_HDR_DEFINE(bmp_peer, "BMP per-peer header", CW_SIZE_BMP_PEER, CW_TABLE_BMP_PEER, "RFC 7854 4.2",
	      NULL)
CW_HDR_DEFINE(bmp_peer_up, "BMP Peer Up", CW_SIZE_BMP_PEER_UP, CW_TABLE_BMP_PEER_UP,
	      "RFC 7854 4.10", NULL)
CW_HDR_DEFINE(bmp_tlv, "BMP information TLV", CW_SIZE_BMP_TLV, CW_TABLE_BMP_TLV, "RFC 7854 4.4",
	      NULL)

enum { BGP_OPEN = 1, BGP_UPDATE = 2, FSM_REASON = 2 };

/* What is being read, and where a fault is told. */
struct parse {
	const uint8_t *data;
	struct cw_rd r;
	struct cw_pnc_error *e;
};

const char *cw_bmp_type_name(enum cw_bmp_type t)
{
	static const char *const names[] = {"route-monitoring", "statistics", "peer-down",
					    "peer-up",          "initiation", "termination",
					    "route-mirroring"};

	return (unsigned)t < CW_BMP_NTYPES ? names[t] : "unknown";
}

const char *cw_bmp_view_name(enum cw_bmp_view v)
{
	static const char *const names[] = {"pre-policy", "post-policy", "adj-rib-out", "loc-rib"};

	return (unsigned)v < CW_BMP_NVIEWS ? names[v] : "unknown";
}

static int fault(const struct parse *p, int err, const char *what)
{
	return cw_pnc_fault(p->e, err, (size_t)(p->r.p - p->data), what);
}

int cw_bmp_length(const uint8_t *data, size_t have)
{
	uint32_t len;

	if (have > 0 && data[0] != CW_BMP_VERSION)
		return CW_E_VERSION;
	if (have < CW_SIZE_BMP_HEAD)
		return 0;
	len = cw_bmp_head_length(data);
	if (len < CW_SIZE_BMP_HEAD || len > CW_BMP_MESSAGE_MAX)
		return CW_E_LENGTH;
	return (int)len;
}

int cw_bmp_tlv_next(struct cw_rd *tlvs, struct cw_bmp_tlv *out)
{
	struct cw_rd r = *tlvs;
	const uint8_t *h;

	if (cw_rd_take(&r, CW_SIZE_BMP_TLV, &h) != CW_OK)
		return CW_E_SHORT;
	out->type = (uint16_t)cw_bmp_tlv_type(h);
	out->len = (uint16_t)cw_bmp_tlv_length(h);
	if (cw_rd_take(&r, out->len, &out->value) != CW_OK)
		return CW_E_SHORT;
	*tlvs = r;
	return CW_OK;
}

/* ---- Parts of a message -------------------------------------------------------------------- */

static enum cw_bmp_view view_of(const uint8_t *h)
{
	if (cw_bmp_peer_type(h) == CW_BMP_PEER_LOC_RIB)
		return CW_BMP_LOC_RIB;
	if (cw_bmp_peer_adj_rib_out(h) != 0)
		return CW_BMP_ADJ_RIB_OUT;
	return cw_bmp_peer_post_policy(h) != 0 ? CW_BMP_POST_POLICY : CW_BMP_PRE_POLICY;
}

/* Of a Loc-RIB the flags mean something else and the address is zero (RFC 9069 4.2). */
static int take_peer(struct parse *p, struct cw_bmp *out)
{
	const uint8_t *h;

	if (cw_rd_take(&p->r, CW_SIZE_BMP_PEER, &h) != CW_OK)
		return fault(p, CW_E_SHORT, "ends inside the per-peer header");
	out->has_peer = true;
	out->peer_type = (uint8_t)cw_bmp_peer_type(h);
	if (out->peer_type > CW_BMP_PEER_LOC_RIB)
		return fault(p, CW_E_UNKNOWN, "peer type is unknown");
	out->view = view_of(h);
	out->distinguisher = cw_bmp_peer_distinguisher(h);
	out->peer_as = (uint32_t)cw_bmp_peer_as(h);
	if (out->view == CW_BMP_LOC_RIB)
		return CW_OK;
	out->peer.version = cw_bmp_peer_v6(h) != 0 ? 6 : 4;
	if (out->peer.version == 6)
		memcpy(out->peer.addr, cw_bmp_peer_address(h), 16);
	else
		memcpy(out->peer.addr, cw_bmp_peer_address(h) + 12, 4);
	return CW_OK;
}

/* A BGP message of that type, with its header. */
static int take_bgp(struct parse *p, uint8_t type, struct cw_rd *message)
{
	struct cw_rd r = p->r;
	const uint8_t *h;
	size_t i, len;

	if (cw_rd_take(&r, CW_BGP_HEAD, &h) != CW_OK)
		return fault(p, CW_E_SHORT, "ends inside a BGP header");
	len = cw_be16(h + 16);
	for (i = 0; i < 16; i++) {
		if (h[i] != 0xff)
			return fault(p, CW_E_LENGTH, "no marker in front of the BGP message");
	}
	if (h[18] != type)
		return fault(p, CW_E_FORBIDDEN, "another BGP message than belongs here");
	if (len < CW_BGP_HEAD || cw_rd_child(&p->r, len, message) != CW_OK)
		return fault(p, CW_E_LENGTH, "BGP message exceeds the BMP message");
	return CW_OK;
}

static int take_tlvs(struct parse *p, struct cw_bmp *out, uint32_t *n)
{
	struct cw_bmp_tlv ignored;

	out->tlvs = p->r;
	for (*n = 0; cw_bmp_tlv_next(&p->r, &ignored) == CW_OK; (*n)++)
		;
	return cw_rd_left(&p->r) == 0 ? CW_OK : fault(p, CW_E_LENGTH, "TLV exceeds the message");
}

/* ---- Messages ------------------------------------------------------------------------------ */

static int take_monitoring(struct parse *p, struct cw_bmp *out)
{
	int err = take_bgp(p, BGP_UPDATE, &out->update);

	if (err != CW_OK)
		return err;
	out->update.p += CW_BGP_HEAD;
	return cw_rd_left(&p->r) == 0 ? CW_OK
				      : fault(p, CW_E_LENGTH, "something behind the UPDATE");
}

static int take_peer_up(struct parse *p, struct cw_bmp *out)
{
	uint32_t ignored;
	int err;

	if (cw_rd_skip(&p->r, CW_SIZE_BMP_PEER_UP) != CW_OK)
		return fault(p, CW_E_SHORT, "ends inside the Peer Up");
	if ((err = take_bgp(p, BGP_OPEN, &out->sent_open)) != CW_OK ||
	    (err = take_bgp(p, BGP_OPEN, &out->received_open)) != CW_OK)
		return err;
	return take_tlvs(p, out, &ignored);
}

/* RFC 7854 4.9: 1 and 3 have a NOTIFICATION behind them, 2 the number of an event. A reason that
 * nobody knows takes the peer down like any other. */
static int take_peer_down(struct parse *p, struct cw_bmp *out)
{
	if (cw_rd_u8(&p->r, &out->reason) != CW_OK)
		return fault(p, CW_E_SHORT, "ends before the reason");
	out->data = p->r;
	if (out->reason == FSM_REASON && cw_rd_skip(&p->r, 2) != CW_OK)
		return fault(p, CW_E_SHORT, "ends inside the number of the event");
	return CW_OK;
}

static int take_statistics(struct parse *p, struct cw_bmp *out)
{
	uint32_t found;
	int err;

	if (cw_rd_be32(&p->r, &out->nstatistics) != CW_OK)
		return fault(p, CW_E_SHORT, "ends inside the count");
	if ((err = take_tlvs(p, out, &found)) != CW_OK)
		return err;
	return found == out->nstatistics
		       ? CW_OK
		       : fault(p, CW_E_LENGTH, "another number of statistics than it says");
}

static int take_body(struct parse *p, struct cw_bmp *out)
{
	uint32_t ignored;

	switch (out->type) {
	case CW_BMP_ROUTE_MONITORING:
		return take_monitoring(p, out);
	case CW_BMP_PEER_UP:
		return take_peer_up(p, out);
	case CW_BMP_PEER_DOWN:
		return take_peer_down(p, out);
	case CW_BMP_STATISTICS:
		return take_statistics(p, out);
	default:
		return take_tlvs(p, out, &ignored);
	}
}

int cw_bmp_parse(struct cw_bmp *out, const uint8_t *data, size_t len, struct cw_pnc_error *e)
{
	struct parse p = {.data = data, .r = cw_rd_init(data, len), .e = e};
	int n = cw_bmp_length(data, len), err = CW_OK;

	*out = (struct cw_bmp){0};
	if (e != NULL)
		*e = (struct cw_pnc_error){0};
	if (n < 0)
		return fault(&p, n, n == CW_E_VERSION ? "not BMP version 3" : "no such length");
	if (n == 0)
		return fault(&p, CW_E_SHORT, "ends inside the common header");
	if ((size_t)n != len)
		return fault(&p, (size_t)n > len ? CW_E_SHORT : CW_E_LENGTH,
			     "not the length that it says");
	p.r.p += CW_SIZE_BMP_HEAD;
	if (cw_bmp_head_type(data) >= CW_BMP_NTYPES)
		return fault(&p, CW_E_UNKNOWN, "message type is unknown");
	out->type = (enum cw_bmp_type)cw_bmp_head_type(data);
	if (out->type != CW_BMP_INITIATION && out->type != CW_BMP_TERMINATION)
		err = take_peer(&p, out);
	return err == CW_OK ? take_body(&p, out) : err;
}
