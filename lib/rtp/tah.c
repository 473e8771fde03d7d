/* tah.c - transaction headers: requests and answers, to octets and back.
 * Spec: UB 2.0 7.2, 7.4, T7-4 (order of the extension headers).
 */
#include "lib/rtp/rtp_int.h"

/* ---- Reading ------------------------------------------------------------------------------ */

struct in {
	const uint8_t *p;
	uint32_t len;
};

static const uint8_t *take(struct in *in, uint32_t n)
{
	const uint8_t *at = in->p;

	if (in->len < n)
		return NULL;
	in->p += n;
	in->len -= n;
	return at;
}

static bool take_memory(struct in *in, struct ta *t)
{
	const uint8_t *h = take(in, CW_SIZE_MAETAH);

	if (h == NULL)
		return false;
	t->addr = cw_maetah_address(h);
	t->token_id = cw_maetah_token_id(h);
	t->length = cw_maetah_length(h);
	return true;
}

static bool take_target(struct in *in, struct ta *t)
{
	const uint8_t *h;

	if (!t->targeted)
		return true;
	h = take(in, CW_SIZE_MTETAH);
	if (h == NULL || cw_mtetah_tc_type(h) > 1)
		return false;
	t->target = cw_mtetah_tc_id(h);
	return true;
}

static bool take_offset(struct in *in, struct ta *t)
{
	const uint8_t *h = take(in, CW_SIZE_OFSTETAH);

	if (h != NULL)
		t->offset = cw_ofstetah_offset(h);
	return h != NULL;
}

static bool take_imm(struct in *in, struct ta *t)
{
	t->imm = take(in, CW_SIZE_IMMETAH);
	return t->imm != NULL;
}

static bool take_token(struct in *in, struct ta *t)
{
	const uint8_t *h;

	if (!t->token)
		return true;
	h = take(in, CW_SIZE_TVETAH);
	if (h == NULL)
		return false;
	t->token_value = cw_tvetah_token_value(h);
	return true;
}

/* A TAIDETAH (and OFSTETAH) may stand in front of MAETAH and no bit tells: what the other headers
 * and operands do not fill does (decisions.md, TAIDETAH). */
static bool skip_optional(struct in *in, const struct ta *t, bool read)
{
	uint32_t need = CW_SIZE_MAETAH + (t->token ? CW_SIZE_TVETAH : 0), over;

	if (in->len < need)
		return false;
	over = in->len - need;
	if (!read)
		over = over == 2 * cw_maetah_length(in->p) ? 0 : CW_SIZE_TAIDETAH;
	return over <= CW_SIZE_TAIDETAH + CW_SIZE_OFSTETAH && over % 4 == 0 &&
	       take(in, over) != NULL;
}

static bool parse_extensions(struct in *in, struct ta *t)
{
	switch (t->opcode) {
	case CW_TA_SEND:
		return take_target(in, t) && take_offset(in, t) && take_token(in, t);
	case CW_TA_SEND_IMM:
		return take_target(in, t) && take_offset(in, t) && take_imm(in, t) &&
		       take_token(in, t);
	case CW_TA_WRITE:
		return take_memory(in, t) && take_token(in, t);
	case CW_TA_PREFETCH:
		return take_memory(in, t);
	case CW_TA_WRITE_IMM:
		return take_target(in, t) && take_memory(in, t) && take_imm(in, t) &&
		       take_token(in, t);
	case CW_TA_WRITE_NOTIFY:
		if (!take_memory(in, t))
			return false;
		t->ntf = take(in, CW_SIZE_NTFETAH);
		return t->ntf != NULL && take_token(in, t);
	case CW_TA_READ:
		return skip_optional(in, t, true) && take_memory(in, t) && take_token(in, t);
	default:
		return skip_optional(in, t, false) && take_memory(in, t) && take_token(in, t);
	}
}

static int parse_answer(struct in *in, struct ta *t)
{
	const uint8_t *h = take(in, CW_SIZE_ATAH);

	if (h == NULL)
		return CW_E_SHORT;
	if (cw_atah_version(h) != 0 || cw_atah_sv(h))
		return CW_E_RESERVED;
	t->tassn = (uint16_t)cw_atah_tassn(h);
	t->rspst = (uint8_t)cw_atah_rspst(h);
	t->rspinfo = (uint8_t)cw_atah_rspinfo(h);
	t->rc = cw_atah_rc_type(h) << 20 | cw_atah_rc_id(h);
	t->payload = in->p;
	t->len = in->len;
	return CW_OK;
}

static int parse_request(struct in *in, struct ta *t)
{
	const uint8_t *h = take(in, CW_SIZE_BTAH), *ud;

	if (h == NULL)
		return CW_E_SHORT;
	if (cw_btah_version(h) != 0)
		return CW_E_VERSION;
	t->tassn = (uint16_t)cw_btah_tassn(h);
	t->odr = (uint8_t)cw_btah_odr_exec(h);
	t->retry = cw_btah_retry(h) != 0;
	t->token = cw_btah_tv_en(h) != 0;
	t->targeted = cw_btah_mt_en(h) != 0;
	t->rc = cw_btah_rc_type(h) << 20 | cw_btah_rc_id(h);
	if (cw_btah_ud_flag(h)) {
		ud = take(in, CW_SIZE_UDETAH);
		if (ud == NULL)
			return CW_E_SHORT;
		t->sub = (uint8_t)cw_udetah_subtype(ud);
	}
	if ((t->opcode > CW_TA_FETCH_XOR && t->opcode != CW_TA_PREFETCH) || t->opcode == 0x02)
		return CW_E_RESERVED;
	if (!parse_extensions(in, t))
		return CW_E_SHORT;
	t->payload = in->p;
	t->len = in->len;
	return CW_OK;
}

/* Headers of a request or an answer. On CW_E_RESERVED and CW_E_SHORT behind a whole BTAH, what can
 * be answered (RC, TASSN) is filled all the same. */
int ta_parse(const uint8_t *p, uint32_t len, struct ta *t)
{
	struct in in = {p, len};

	memset(t, 0, sizeof(*t));
	if (len < 1)
		return CW_E_SHORT;
	t->opcode = p[0];
	return cw_ta_is_response(t->opcode) ? parse_answer(&in, t) : parse_request(&in, t);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static uint8_t *put_btah(uint8_t *p, const struct op *op, uint8_t opcode, uint32_t token)
{
	bool targeted = opcode <= CW_TA_SEND_IMM || opcode == CW_TA_WRITE_IMM;

	memset(p, 0, CW_SIZE_BTAH);
	cw_btah_set_opcode(p, opcode);
	cw_btah_set_ee_bits(p, 1);
	cw_btah_set_tv_en(p, token != 0);
	cw_btah_set_ud_flag(p, opcode == CW_TA_STORE || opcode == CW_TA_LOAD);
	cw_btah_set_tassn(p, op->tassn);
	cw_btah_set_odr_compl(p, (op->wr.flags & CW_UBOE_IN_ORDER) != 0);
	cw_btah_set_odr_exec(p, op->wr.flags & CW_UBOE_STRONG    ? 2
				: op->wr.flags & CW_UBOE_RELAXED ? 1
								 : 0);
	cw_btah_set_mt_en(p, targeted);
	cw_btah_set_retry(p, op->again);
	cw_btah_set_rc_type(p, op->rc >> 20);
	cw_btah_set_rc_id(p, op->rc & ID20_MASK);
	return p + CW_SIZE_BTAH;
}

static uint8_t *put_target(uint8_t *p, const struct op *op)
{
	memset(p, 0, CW_SIZE_MTETAH);
	cw_mtetah_set_tc_id(p, op->to->remote_id);
	return p + CW_SIZE_MTETAH;
}

static uint8_t *put_offset(uint8_t *p, uint32_t octets)
{
	memset(p, 0, CW_SIZE_OFSTETAH);
	cw_ofstetah_set_offset(p, octets >> 10);
	return p + CW_SIZE_OFSTETAH;
}

static uint8_t *put_memory(uint8_t *p, const struct op *op, uint32_t off)
{
	memset(p, 0, CW_SIZE_MAETAH);
	cw_maetah_set_address(p, op->wr.remote_addr + off);
	cw_maetah_set_token_id(p, op->wr.token_id);
	cw_maetah_set_length(p, op->wr.len);
	return p + CW_SIZE_MAETAH;
}

static uint8_t *put_imm(uint8_t *p, const struct op *op, bool write)
{
	memset(p, 0, CW_SIZE_IMMETAH);
	cw_immetah_set_imm(p, op->wr.imm);
	if (write) {
		cw_immetah_set_token_value(p, op->to->token_value);
		cw_immetah_set_msg_length(p, op->wr.len);
	}
	return p + CW_SIZE_IMMETAH;
}

static uint8_t *put_notify(uint8_t *p, const struct op *op)
{
	memset(p, 0, CW_SIZE_NTFETAH);
	cw_ntfetah_set_address(p, op->wr.notify_addr);
	cw_ntfetah_set_token_id(p, op->wr.notify_token_id);
	cw_ntfetah_set_token_value(p, op->wr.notify_token_value);
	cw_ntfetah_set_data(p, op->wr.notify_data);
	return p + CW_SIZE_NTFETAH;
}

static uint8_t *put_sub(uint8_t *p, const struct op *op)
{
	memset(p, 0, CW_SIZE_UDETAH);
	cw_udetah_set_subtype(p, op->wr.sub);
	return p + CW_SIZE_UDETAH;
}

/* Header of packet `seg` of a request: the special opcodes are the last packet's only (7.4). */
uint32_t ta_build_request(const struct op *op, uint32_t seg, uint8_t *p)
{
	bool last = seg + 1 == op->npkts;
	uint8_t opcode = last ? op->last_opcode : op->opcode, *at;
	uint32_t off = op->npkts > 1 ? seg * op->tp->mtu : 0;
	uint32_t token = opcode <= CW_TA_SEND_IMM   ? op->to->token_value
			 : opcode == CW_TA_PREFETCH ? 0 /* T7-4 has no TVETAH for it */
						    : op->wr.token_value;

	at = put_btah(p, op, opcode, token);
	if (opcode == CW_TA_STORE || opcode == CW_TA_LOAD)
		at = put_sub(at, op);
	if (opcode <= CW_TA_SEND_IMM || opcode == CW_TA_WRITE_IMM)
		at = put_target(at, op);
	if (opcode <= CW_TA_SEND_IMM)
		at = put_offset(at, off);
	else
		at = put_memory(at, op, off);
	if (opcode == CW_TA_SEND_IMM || opcode == CW_TA_WRITE_IMM)
		at = put_imm(at, op, opcode == CW_TA_WRITE_IMM);
	if (opcode == CW_TA_WRITE_NOTIFY)
		at = put_notify(at, op);
	if (token != 0) {
		cw_tvetah_set_token_value(at, token);
		at += CW_SIZE_TVETAH;
	}
	return (uint32_t)(at - p);
}

uint32_t ta_build_answer(const struct op *op, uint32_t seg, uint8_t *p)
{
	uint8_t *at = p + CW_SIZE_ATAH;

	memset(p, 0, CW_SIZE_ATAH);
	cw_atah_set_opcode(p, op->opcode);
	cw_atah_set_tassn(p, op->tassn);
	cw_atah_set_rspst(p, op->code >> 5);
	cw_atah_set_rspinfo(p, op->code & 31u);
	cw_atah_set_rc_type(p, op->rc >> 20);
	cw_atah_set_rc_id(p, op->rc & ID20_MASK);
	if (op->kind == OP_READ_RESP && op->tp->o.resp_offset)
		at = put_offset(at, seg * op->tp->mtu);
	return (uint32_t)(at - p);
}

/* Status of a transaction that was answered with this RSPST and RSPINFO. */
uint32_t ta_code_to_status(unsigned code)
{
	switch (code >> 5) {
	case CW_RSPST_OK:
		return CW_UBOE_OK;
	case CW_RSPST_RNR:
		return CW_UBOE_RNR;
	case CW_RSPST_PAGE_FAULT:
		return CW_UBOE_FAULT;
	default:
		return (code & 31) == 1 ? CW_UBOE_UNSUPPORTED : CW_UBOE_REMOTE;
	}
}
