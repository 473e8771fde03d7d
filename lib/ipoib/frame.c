/* frame.c - datagrams in frames LRH .. VCRC. */
#include <string.h>
#include "causeway/icrc.h"
#include "causeway/ipoib.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/roce.h"
#include "lib/ipoib/internal.h"

enum { CRCS = CW_ICRC_LEN + CW_IB_VCRC_LEN, WORDS_MAX = 0x7ff };

static size_t head_len(const struct cw_ipoib_tx *tx)
{
	return CW_SIZE_LRH + (tx->grh ? CW_SIZE_GRH : 0) + CW_SIZE_BTH + CW_SIZE_DETH;
}

/* Octets LRH .. VCRC of a datagram of `len` octets. */
static size_t frame_len(const struct cw_ipoib_tx *tx, size_t len)
{
	return head_len(tx) + ((len + 3) & ~(size_t)3) + CRCS;
}

static void put_grh(uint8_t *grh, const struct cw_ipoib_tx *tx, size_t behind)
{
	cw_grh_set_version(grh, 6);
	cw_grh_set_tclass(grh, tx->tclass);
	cw_grh_set_flow_label(grh, tx->flow_label);
	cw_grh_set_length(grh, (uint32_t)behind);
	cw_grh_set_next(grh, CW_IB_GRH_NEXT);
	cw_grh_set_hop_limit(grh, tx->hop_limit);
	cw_grh_set_sgid(grh, tx->sgid);
	cw_grh_set_dgid(grh, tx->dgid);
}

void put_transport(uint8_t *bth, const struct cw_ipoib_tx *tx, uint32_t psn, size_t len)
{
	uint8_t *deth = bth + CW_SIZE_BTH;

	cw_bth_set_opcode(bth, CW_BTH_UD_SEND);
	cw_bth_set_migreq(bth, 1);
	cw_bth_set_padcnt(bth, -len & 3);
	cw_bth_set_pkey(bth, tx->pkey);
	cw_bth_set_dqpn(bth, tx->dqpn);
	cw_bth_set_psn(bth, psn);
	cw_deth_set_qkey(deth, tx->qkey);
	cw_deth_set_sqpn(deth, tx->sqpn);
}

int get_transport(const uint8_t *bth, size_t n, struct cw_ipoib_tx *rx, const uint8_t **data,
		  size_t *data_len)
{
	const uint8_t *deth = bth + CW_SIZE_BTH;
	size_t head = CW_SIZE_BTH + CW_SIZE_DETH;

	if (n < head)
		return CW_E_SHORT;
	if (cw_bth_opcode(bth) != CW_BTH_UD_SEND || cw_bth_tver(bth) != 0)
		return CW_E_UNKNOWN;
	if (n - head < cw_bth_padcnt(bth))
		return CW_E_LENGTH;
	rx->pkey = (uint16_t)cw_bth_pkey(bth);
	rx->dqpn = cw_bth_dqpn(bth);
	rx->qkey = cw_deth_qkey(deth);
	rx->sqpn = cw_deth_sqpn(deth);
	*data = bth + head;
	*data_len = n - head - cw_bth_padcnt(bth);
	return CW_OK;
}

int cw_ipoib_frame_build(uint8_t *out, size_t size, const struct cw_ipoib_tx *tx, uint32_t psn,
			 const uint8_t *data, size_t len)
{
	size_t head = head_len(tx), total;
	int err;

	if (len > 4 * (size_t)WORDS_MAX || (total = frame_len(tx, len)) > 4 * WORDS_MAX)
		return CW_E_LENGTH;
	if (size < total)
		return CW_E_SPACE;
	memset(out, 0, head);
	cw_lrh_set_sl(out, tx->sl);
	cw_lrh_set_lnh(out, tx->grh ? CW_IB_LNH_GLOBAL : CW_IB_LNH_LOCAL);
	cw_lrh_set_dlid(out, tx->dlid);
	cw_lrh_set_length(out, (uint32_t)((total - CW_IB_VCRC_LEN) / 4));
	cw_lrh_set_slid(out, tx->slid);
	if (tx->grh)
		put_grh(out + CW_SIZE_LRH, tx, total - CW_IB_VCRC_LEN - CW_SIZE_LRH - CW_SIZE_GRH);
	put_transport(out + head - CW_SIZE_BTH - CW_SIZE_DETH, tx, psn, len);
	memcpy(out + head, data, len);
	memset(out + head + len, 0, total - head - len);
	err = cw_ib_seal(out, total);
	return err < 0 ? err : (int)total;
}

static int parse_route(const uint8_t *f, size_t end, struct cw_ipoib_tx *rx)
{
	const uint8_t *grh = f + CW_SIZE_LRH;

	if (cw_lrh_lver(f) != 0)
		return CW_E_VERSION;
	rx->dlid = (uint16_t)cw_lrh_dlid(f);
	rx->slid = (uint16_t)cw_lrh_slid(f);
	rx->sl = (uint8_t)cw_lrh_sl(f);
	rx->grh = cw_lrh_lnh(f) == CW_IB_LNH_GLOBAL;
	if (end < head_len(rx) + CW_ICRC_LEN)
		return CW_E_SHORT;
	if (!rx->grh)
		return CW_OK;
	if (cw_grh_version(grh) != 6 || cw_grh_next(grh) != CW_IB_GRH_NEXT)
		return CW_E_VERSION;
	if (cw_grh_length(grh) != end - CW_SIZE_LRH - CW_SIZE_GRH)
		return CW_E_LENGTH;
	memcpy(rx->sgid, cw_grh_sgid(grh), 16);
	memcpy(rx->dgid, cw_grh_dgid(grh), 16);
	rx->tclass = (uint8_t)cw_grh_tclass(grh);
	rx->flow_label = cw_grh_flow_label(grh);
	rx->hop_limit = (uint8_t)cw_grh_hop_limit(grh);
	return CW_OK;
}

int cw_ipoib_frame_parse(const uint8_t *frame, size_t len, struct cw_ipoib_tx *rx,
			 const uint8_t **data, size_t *data_len)
{
	size_t end, head;
	int err;

	memset(rx, 0, sizeof(*rx));
	if (len < CW_SIZE_LRH)
		return CW_E_SHORT;
	end = 4 * (size_t)cw_lrh_length(frame);
	if (end < CW_SIZE_LRH || len < end + CW_IB_VCRC_LEN)
		return CW_E_LENGTH;
	if ((err = parse_route(frame, end, rx)) < 0 ||
	    (err = cw_ib_check(frame, end + CW_IB_VCRC_LEN)) < 0)
		return err;
	head = head_len(rx) - CW_SIZE_BTH - CW_SIZE_DETH;
	return get_transport(frame + head, end - CW_ICRC_LEN - head, rx, data, data_len);
}
