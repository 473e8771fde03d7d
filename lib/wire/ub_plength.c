/* ub_plength.c - UB's packet length code and block CRC (UB 2.0 4.3.2, 4.7.2). */
#include "causeway/wire/ub.h"

#define FLIT        20u
#define BLOCK_FLITS 32u
#define BLOCKS      16u
#define LPH         4u
#define LBH         2u

/* Octets that end each block: the CRC word, or the END mark. */
static uint32_t block_end(enum cw_plength_mode mode)
{
	return mode == CW_PLENGTH_CRC ? 4 : 1;
}

static uint32_t first_cap(enum cw_plength_mode mode)
{
	return BLOCK_FLITS * FLIT - LPH - block_end(mode);
}

static uint32_t later_cap(enum cw_plength_mode mode)
{
	return BLOCK_FLITS * FLIT - LBH - block_end(mode);
}

/* Code of a payload that ends with `n` octets in the last flit, or in the one before it. */
static uint32_t tail_code(bool in_last, uint32_t n)
{
	if (in_last)
		return n <= 16 ? n - 1 : n + 11;
	return n >= 17 ? n - 1 : n + 11;
}

/* Inlined with a constant mode: the gateway does this once a packet, and division by a constant is
 * a multiplication. */
CW_INLINE int encode(enum cw_plength_mode mode, uint32_t octets, uint16_t *plength)
{
	uint32_t block = 0, head = LPH, flits, start, end;
	bool in_last;

	if (octets == 0 || octets > first_cap(mode) + (BLOCKS - 1) * later_cap(mode))
		return CW_E_RANGE;
	if (octets > first_cap(mode)) {
		octets -= first_cap(mode);
		block = (octets + later_cap(mode) - 1) / later_cap(mode);
		octets -= (block - 1) * later_cap(mode);
		head = LBH;
	}
	end = head + octets;
	flits = (end + block_end(mode) + FLIT - 1) / FLIT;
	in_last = end > FLIT * (flits - 1);
	start = FLIT * (in_last ? flits - 1 : flits - 2);
	if (start < head)
		start = head;
	*plength = (uint16_t)(block << 10 | (flits - 1) << 5 | tail_code(in_last, end - start));
	return CW_OK;
}

int cw_plength_encode(enum cw_plength_mode mode, uint32_t octets, uint16_t *plength)
{
	return mode == CW_PLENGTH_CRC ? encode(CW_PLENGTH_CRC, octets, plength)
				      : encode(CW_PLENGTH_PLAIN, octets, plength);
}

/* Octets in the flit where the payload ends, and which flit that is. */
static uint32_t tail_octets(uint32_t code, bool *in_last)
{
	*in_last = code <= 15 || code >= 28;
	return code <= 19 ? code + 1 : code - 11;
}

int cw_plength_decode(enum cw_plength_mode mode, uint16_t plength, uint32_t *octets)
{
	uint32_t block = plength >> 10 & 15, flits = (plength >> 5 & 31) + 1;
	uint32_t head = block == 0 ? LPH : LBH, start, n;
	uint16_t again;
	bool in_last;

	n = tail_octets(plength & 31, &in_last);
	if (!in_last && flits < 2)
		return CW_E_RESERVED;
	start = FLIT * (in_last ? flits - 1 : flits - 2);
	if (start < head)
		start = head;
	n += start - head;
	if (block > 0)
		n += first_cap(mode) + (block - 1) * later_cap(mode);
	/* Reserved codes and combinations are those which the encoder does not make. */
	if (cw_plength_encode(mode, n, &again) < 0 || again != (plength & 0x3fff))
		return CW_E_RESERVED;
	*octets = n;
	return CW_OK;
}

#define CRC30_POLY 0x15a94ad5u
#define CRC30_MASK 0x3fffffffu

static uint32_t crc30_bit(uint32_t crc, uint32_t bit)
{
	return (crc << 1 & CRC30_MASK) ^ ((crc >> 29 ^ bit) & 1 ? CRC30_POLY : 0);
}

uint32_t cw_bcrc_word(const void *block, size_t len, bool error_flag, enum cw_bcrc_cover cover)
{
	const uint8_t *p = block;
	uint32_t crc = CRC30_MASK;
	unsigned bit;

	for (; len > 0; p++, len--) {
		for (bit = 8; bit-- > 0;)
			crc = crc30_bit(crc, *p >> bit & 1u);
	}
	if (cover == CW_BCRC_LITERAL)
		crc = crc30_bit(crc30_bit(crc, 0), error_flag);
	return (uint32_t)error_flag << 30 | crc;
}
