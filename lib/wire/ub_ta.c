/* ub_ta.c - UB transaction headers and their extension headers. Spec and deviations: wire/ub.h. */
#include "lib/wire/ub_int.h"

const struct cw_name cw_names_ta_op[] = {
	{CW_TA_SEND, "Send"},
	{CW_TA_SEND_IMM, "Send_imm"},
	{CW_TA_WRITE, "Write"},
	{CW_TA_WRITE_IMM, "Write_imm"},
	{CW_TA_WRITE_NOTIFY, "Write_notify"},
	{CW_TA_READ, "Read"},
	{CW_TA_CAS, "Atomic_compare_swap"},
	{CW_TA_SWAP, "Atomic_swap"},
	{CW_TA_STORE, "Atomic_store"},
	{CW_TA_LOAD, "Atomic_load"},
	{CW_TA_FETCH_ADD, "Atomic_fetch_add"},
	{CW_TA_FETCH_SUB, "Atomic_fetch_sub"},
	{CW_TA_FETCH_AND, "Atomic_fetch_and"},
	{CW_TA_FETCH_OR, "Atomic_fetch_or"},
	{CW_TA_FETCH_XOR, "Atomic_fetch_xor"},
	{CW_TA_MANAGEMENT, "Management"},
	{CW_TA_ACK, "TAACK"},
	{CW_TA_READ_RESP, "Read_response"},
	{CW_TA_ATOMIC_RESP, "Atomic_response"},
	{CW_TA_WRITE_BE, "Write_be"},
	{CW_TA_PREFETCH, "Prefetch_tgt"},
	{CW_TA_WRITEBACK, "Writeback"},
	{CW_TA_WRITEBACK_BE, "Writeback_be"},
	{0, NULL},
};

const struct cw_name cw_names_ta_ee[] = {{1, "non-TEE"}, {3, "TEE"}, {0, NULL}};
const struct cw_name cw_names_ta_odr[] = {{0, "none"}, {1, "relaxed"}, {2, "strong"}, {0, NULL}};
const struct cw_name cw_names_ta_rc[] = {{0, "SQ"}, {1, "SQ"}, {2, "SC"}, {0, NULL}};

const struct cw_name cw_names_ta_rspst[] = {
	{CW_RSPST_OK, "success"},
	{CW_RSPST_RNR, "RNR"},
	{CW_RSPST_PAGE_FAULT, "page-fault"},
	{CW_RSPST_ERROR, "completer-error"},
	{CW_RSPST_TA, "received-not-placed"},
	{0, NULL},
};

const struct cw_name cw_names_ta_status[] = {{0, "ok"}, {1, "authentication-failed"}, {0, NULL}};
const struct cw_name cw_names_ta_tc[] = {{0, "TC"}, {1, "TC"}, {2, "group"}, {0, NULL}};

const struct cw_name cw_names_ta_atom[] = {
	{0, "ADD"},  {1, "CLR"},  {2, "EOR"},  {3, "SET"}, {4, "SMAX"},
	{5, "SMIN"}, {6, "UMAX"}, {7, "UMIN"}, {0, NULL},
};

/* ---- Which extension headers an opcode has (UB 2.0 T7-2, T7-4) ----------------------------- */

/* In wire order, the same for every opcode. */
enum ext {
	EXT_UD,
	EXT_TAID,
	EXT_MT,
	EXT_OFST,
	EXT_MAE,
	EXT_NTF,
	EXT_IMM,
	EXT_TV,
	EXT_BE,
	EXT_MGMT
};

#define UD    (1u << EXT_UD)
#define TAID  (1u << EXT_TAID)
#define MT    (1u << EXT_MT)
#define OFST  (1u << EXT_OFST)
#define MAE   (1u << EXT_MAE)
#define NTF   (1u << EXT_NTF)
#define IMM   (1u << EXT_IMM)
#define TV    (1u << EXT_TV)
#define BE    (1u << EXT_BE)
#define MGMT  (1u << EXT_MGMT)
#define KNOWN (1u << 31)

static const uint32_t ext_of_op[] = {
	[CW_TA_SEND] = KNOWN | UD | MT | OFST | TV,
	[CW_TA_SEND_IMM] = KNOWN | UD | MT | OFST | IMM | TV,
	[CW_TA_WRITE] = KNOWN | UD | MAE | TV,
	[CW_TA_WRITE_IMM] = KNOWN | UD | MT | MAE | IMM | TV,
	[CW_TA_WRITE_NOTIFY] = KNOWN | UD | MAE | NTF | TV,
	[CW_TA_READ] = KNOWN | UD | TAID | OFST | MAE | TV,
	[CW_TA_CAS] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_SWAP] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_STORE] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_LOAD] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_FETCH_ADD] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_FETCH_SUB] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_FETCH_AND] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_FETCH_OR] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_FETCH_XOR] = KNOWN | UD | TAID | MAE | TV,
	[CW_TA_MANAGEMENT] = KNOWN | UD | MGMT,
	[CW_TA_WRITE_BE] = KNOWN | UD | MAE | TV | BE,
	[CW_TA_PREFETCH] = KNOWN | UD | MAE,
	[CW_TA_WRITEBACK] = KNOWN | UD | MAE | TV,
	[CW_TA_WRITEBACK_BE] = KNOWN | UD | MAE | TV | BE,
};

static const struct cw_hdr *ext_hdr(unsigned ext, bool compact)
{
	static const struct cw_hdr *const hdrs[] = {
		[EXT_UD] = &cw_hdr_udetah,   [EXT_TAID] = &cw_hdr_taidetah,
		[EXT_MT] = &cw_hdr_mtetah,   [EXT_OFST] = &cw_hdr_ofstetah,
		[EXT_MAE] = &cw_hdr_maetah,  [EXT_NTF] = &cw_hdr_ntfetah,
		[EXT_IMM] = &cw_hdr_immetah, [EXT_TV] = &cw_hdr_tvetah,
		[EXT_BE] = &cw_hdr_beetah,   [EXT_MGMT] = &cw_hdr_mgmtetah,
	};

	return ext == EXT_MAE && compact ? &cw_hdr_maetah_compact : hdrs[ext];
}

/* ---- Craft -------------------------------------------------------------------------------- */

static bool has(const struct cw_craft *c, unsigned layer, const struct cw_hdr *h)
{
	return cw_ub_craft_find(c, h, layer) >= 0;
}

/* The plainest opcode that has the extension headers which follow. */
static uint32_t ta_opcode_of(const struct cw_craft *c, unsigned layer)
{
	bool mae = has(c, layer, &cw_hdr_maetah) || has(c, layer, &cw_hdr_maetah_compact);

	if (has(c, layer, &cw_hdr_mgmtetah))
		return CW_TA_MANAGEMENT;
	if (has(c, layer, &cw_hdr_ntfetah))
		return CW_TA_WRITE_NOTIFY;
	if (has(c, layer, &cw_hdr_beetah))
		return CW_TA_WRITE_BE;
	if (has(c, layer, &cw_hdr_immetah))
		return mae ? CW_TA_WRITE_IMM : CW_TA_SEND_IMM;
	return mae ? CW_TA_WRITE : CW_TA_SEND;
}

/* The first four octets of BTAH and compact BTAH are the same. */
static void fix_btah_compact(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "opcode"))
		cw_btah_set_opcode(p, ta_opcode_of(c, layer));
	if (!cw_craft_given(c, layer, "tv_en"))
		cw_btah_set_tv_en(p, has(c, layer, &cw_hdr_tvetah));
	if (!cw_craft_given(c, layer, "ud_flag"))
		cw_btah_set_ud_flag(p, has(c, layer, &cw_hdr_udetah));
}

static void fix_btah(struct cw_craft *c, unsigned layer)
{
	fix_btah_compact(c, layer);
	if (!cw_craft_given(c, layer, "mt_en"))
		cw_btah_set_mt_en(cw_craft_data(c, layer), has(c, layer, &cw_hdr_mtetah));
}

CW_HDR_DEFINE(btah, "UB basic transaction header", CW_SIZE_BTAH, CW_TABLE_BTAH, "UB 2.0 7.2.1",
	      fix_btah)
CW_HDR_DEFINE(btah_compact, "UB basic transaction header, compact", CW_SIZE_BTAH_COMPACT,
	      CW_TABLE_BTAH_COMPACT, "UB 2.0 7.2.1", fix_btah_compact)
CW_HDR_DEFINE(atah, "UB acknowledge transaction header", CW_SIZE_ATAH, CW_TABLE_ATAH,
	      "UB 2.0 7.2.2", NULL)
CW_HDR_DEFINE(atah_compact, "UB acknowledge transaction header, compact", CW_SIZE_ATAH_COMPACT,
	      CW_TABLE_ATAH_COMPACT, "UB 2.0 7.2.2", NULL)
CW_HDR_DEFINE(udetah, "UB user-defined extension", CW_SIZE_UDETAH, CW_TABLE_UDETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(maetah, "UB memory access extension", CW_SIZE_MAETAH, CW_TABLE_MAETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(maetah_compact, "UB memory access extension, compact", CW_SIZE_MAETAH_COMPACT,
	      CW_TABLE_MAETAH_COMPACT, "UB 2.0 7.4", NULL)
CW_HDR_DEFINE(mtetah, "UB message target extension", CW_SIZE_MTETAH, CW_TABLE_MTETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(tvetah, "UB token value extension", CW_SIZE_TVETAH, CW_TABLE_TVETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(taidetah, "UB transaction identifier extension", CW_SIZE_TAIDETAH, CW_TABLE_TAIDETAH,
	      "UB 2.0 7.4", NULL)
CW_HDR_DEFINE(ofstetah, "UB offset extension", CW_SIZE_OFSTETAH, CW_TABLE_OFSTETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(immetah, "UB immediate extension", CW_SIZE_IMMETAH, CW_TABLE_IMMETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE(ntfetah, "UB notification extension", CW_SIZE_NTFETAH, CW_TABLE_NTFETAH, "UB 2.0 7.4",
	      NULL)
CW_HDR_DEFINE_OPAQUE(beetah, "UB byte enable extension", "UB 2.0 7.4")
CW_HDR_DEFINE_OPAQUE(mgmtetah, "UB management extension and its body", "UB 2.0 10.4.3.3")

/* ---- Dissect: headers whose presence no bit tells (TAIDETAH and OFSTETAH) ------------------ */

static bool is_operand(size_t n)
{
	return n <= 64 && n > 0 && (n & (n - 1)) == 0;
}

/* A Read has no payload, so what MAETAH and TVETAH do not fill tells. Four octets can be either
 * header; they are a TAIDETAH unless the bits that it reserves are used. */
static int guess_read(const struct cw_rd *rd, size_t fixed, uint32_t *ext)
{
	size_t left = cw_rd_left(rd);

	if (left < fixed)
		return CW_E_SHORT;
	switch (left - fixed) {
	case 0:
		*ext &= ~(TAID | OFST);
		return CW_OK;
	case 4:
		*ext &= cw_be16(rd->p) == 0 ? ~OFST : ~TAID;
		return CW_OK;
	case 8:
		return CW_OK;
	default:
		return CW_E_LENGTH;
	}
}

/* Do MAETAH, [TVETAH] and two operands fill what is left behind `skip` octets? */
static bool fits_atomic(const struct cw_rd *rd, size_t skip, size_t fixed)
{
	uint32_t size;

	if (cw_rd_left(rd) < skip + fixed)
		return false;
	size = cw_maetah_length(rd->p + skip);
	return is_operand(size) && cw_rd_left(rd) - skip - fixed == 2 * (size_t)size;
}

static int guess_atomic(const struct cw_rd *rd, size_t fixed, uint32_t *ext)
{
	if (cw_rd_left(rd) < fixed)
		return CW_E_SHORT;
	if (fits_atomic(rd, 0, fixed)) {
		*ext &= ~TAID;
		return CW_OK;
	}
	return fits_atomic(rd, CW_SIZE_TAIDETAH, fixed) ? CW_OK : CW_E_LENGTH;
}

/* Settle the optional headers in *ext, with d->rd behind the UDETAH. */
static int guess(const struct cw_dissector *d, uint32_t opcode, bool compact, uint32_t *ext)
{
	size_t fixed = ext_hdr(EXT_MAE, compact)->size + ((*ext & TV) != 0 ? CW_SIZE_TVETAH : 0u);

	if ((*ext & TAID) == 0)
		return CW_OK;
	if (opcode == CW_TA_READ)
		return guess_read(&d->rd, fixed, ext);
	if (!compact)
		return guess_atomic(&d->rd, fixed, ext);
	/* The compact MAETAH counts cache lines and can't tell an operand's size. */
	*ext &= ~TAID;
	return CW_OK;
}

/* The smallest bitmap with a bit for each of the octets behind it. */
static size_t beetah_size(size_t left)
{
	size_t n;

	for (n = 8; n <= 128; n *= 2) {
		if (left >= n && left - n <= 8 * n)
			return n;
	}
	return 0;
}

static int dissect_ext(struct cw_dissector *d, unsigned ext, bool compact)
{
	const struct cw_hdr *h = ext_hdr(ext, compact);
	size_t n = h->size;

	if (ext == EXT_MGMT)
		n = cw_rd_left(&d->rd);
	if (ext == EXT_BE && (n = beetah_size(cw_rd_left(&d->rd))) == 0)
		return cw_rd_left(&d->rd) < 8 ? CW_E_SHORT : CW_E_LENGTH;
	return cw_dissect_push(d, h, n, NULL);
}

static int dissect_btah(struct cw_dissector *d, bool compact)
{
	const struct cw_hdr *h = compact ? &cw_hdr_btah_compact : &cw_hdr_btah;
	uint32_t ext, opcode, flags = 0;
	const uint8_t *at;
	unsigned i;
	int err;

	if ((err = cw_dissect_push(d, h, h->size, &at)) < 0)
		return err;
	opcode = cw_btah_opcode(at);
	ext = opcode < sizeof(ext_of_op) / sizeof(ext_of_op[0]) ? ext_of_op[opcode] : 0;
	if (cw_btah_version(at) != 0)
		return CW_E_VERSION;
	if (ext == 0)
		return CW_E_RESERVED;
	flags |= cw_btah_ud_flag(at) ? UD : 0;
	flags |= cw_btah_tv_en(at) ? TV : 0;
	flags |= !compact && cw_btah_mt_en(at) ? MT : 0;
	/* A flag for a header that the opcode does not have: what follows can't be told apart. */
	if ((flags & ~ext) != 0)
		return CW_E_FORBIDDEN;
	ext &= ~(UD | TV | MT | KNOWN) | flags;
	for (i = EXT_UD; i <= EXT_MGMT; i++) {
		if (i == EXT_TAID && (err = guess(d, opcode, compact, &ext)) < 0)
			return err;
		if ((ext >> i & 1) != 0 && (err = dissect_ext(d, i, compact)) < 0)
			return err;
	}
	return CW_OK;
}

/* Behind an Atomic_response stand an operand or nothing; four octets more are a TAIDETAH. */
static int dissect_atomic_resp(struct cw_dissector *d)
{
	size_t left = cw_rd_left(&d->rd);

	if (left == 0 || is_operand(left))
		return CW_OK;
	if (left > CW_SIZE_TAIDETAH && is_operand(left - CW_SIZE_TAIDETAH))
		return cw_dissect_push(d, &cw_hdr_taidetah, CW_SIZE_TAIDETAH, NULL);
	return CW_E_LENGTH;
}

/* A Read_response's payload can have any size, so nothing in the packet tells whether TAIDETAH and
 * OFSTETAH are there: they stay in the payload. */
static int dissect_atah(struct cw_dissector *d, bool compact)
{
	const struct cw_hdr *h = compact ? &cw_hdr_atah_compact : &cw_hdr_atah;
	const uint8_t *at;
	int err;

	if ((err = cw_dissect_push(d, h, h->size, &at)) < 0)
		return err;
	if (cw_atah_version(at) != 0)
		return CW_E_VERSION;
	return cw_atah_opcode(at) == CW_TA_ATOMIC_RESP ? dissect_atomic_resp(d) : CW_OK;
}

int cw_ub_dissect_ta(struct cw_dissector *d, bool compact)
{
	if (cw_rd_left(&d->rd) < 1)
		return CW_E_SHORT;
	if (cw_ta_is_response(d->rd.p[0]))
		return dissect_atah(d, compact);
	return dissect_btah(d, compact);
}
