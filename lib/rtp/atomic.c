/* atomic.c - the nine atomics, on operands of 1 to 64 octets, least significant octet first.
 * Spec: UB 2.0 7.4.2.3. They are atomic towards other requests of the device, not towards threads
 * of the program that owns the memory.
 */
#include "lib/rtp/rtp_int.h"

bool atomic_size_ok(uint32_t size, uint64_t addr)
{
	return size != 0 && size <= OPERAND_MAX && (size & (size - 1)) == 0 &&
	       (addr & (size - 1)) == 0;
}

void octets_reverse(uint8_t *p, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n / 2; i++) {
		uint8_t t = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = t;
	}
}

static void add(uint8_t *m, const uint8_t *v, uint32_t n)
{
	unsigned carry = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		carry += (unsigned)m[i] + v[i];
		m[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static void subtract(uint8_t *m, const uint8_t *v, uint32_t n)
{
	unsigned borrow = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		unsigned d = 0x100u + m[i] - v[i] - borrow;

		m[i] = (uint8_t)d;
		borrow = d < 0x100;
	}
}

static bool less(const uint8_t *a, const uint8_t *b, uint32_t n, bool with_sign)
{
	uint8_t flip = with_sign ? 0x80 : 0;
	uint32_t i;

	if (a[n - 1] != b[n - 1])
		return (a[n - 1] ^ flip) < (b[n - 1] ^ flip);
	for (i = n - 1; i-- > 0;) {
		if (a[i] != b[i])
			return a[i] < b[i];
	}
	return false;
}

static void bitwise(uint8_t *m, const uint8_t *v, uint32_t n, enum cw_uboe_op op)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (op == CW_UBOE_OP_FETCH_AND)
			m[i] &= v[i];
		else if (op == CW_UBOE_OP_FETCH_OR)
			m[i] |= v[i];
		else
			m[i] ^= v[i];
	}
}

/* UDETAH's subtype: names as the table has them, the prose beside two of them looks swapped. */
static void run_sub(uint8_t sub, uint8_t *m, uint32_t n, const uint8_t *v)
{
	uint32_t i;

	switch (sub) {
	case CW_UBOE_SUB_ADD:
		add(m, v, n);
		break;
	case CW_UBOE_SUB_CLR:
		for (i = 0; i < n; i++)
			m[i] = (uint8_t)(m[i] & ~v[i]);
		break;
	case CW_UBOE_SUB_XOR:
		bitwise(m, v, n, CW_UBOE_OP_FETCH_XOR);
		break;
	case CW_UBOE_SUB_SET:
		bitwise(m, v, n, CW_UBOE_OP_FETCH_OR);
		break;
	case CW_UBOE_SUB_SMAX:
	case CW_UBOE_SUB_UMAX:
		if (less(m, v, n, sub == CW_UBOE_SUB_SMAX))
			memcpy(m, v, n);
		break;
	default:
		if (less(v, m, n, sub == CW_UBOE_SUB_SMIN))
			memcpy(m, v, n);
	}
}

static void run(uint8_t opcode, uint8_t sub, uint8_t *m, uint32_t n, const uint8_t *v)
{
	switch (opcode) {
	case CW_TA_CAS:
		if (memcmp(m, v + n, n) == 0)
			memcpy(m, v, n);
		break;
	case CW_TA_SWAP:
		memcpy(m, v, n);
		break;
	case CW_TA_FETCH_ADD:
		add(m, v, n);
		break;
	case CW_TA_FETCH_SUB:
		subtract(m, v, n);
		break;
	case CW_TA_FETCH_AND:
		bitwise(m, v, n, CW_UBOE_OP_FETCH_AND);
		break;
	case CW_TA_FETCH_OR:
		bitwise(m, v, n, CW_UBOE_OP_FETCH_OR);
		break;
	case CW_TA_FETCH_XOR:
		bitwise(m, v, n, CW_UBOE_OP_FETCH_XOR);
		break;
	default: /* store and load */
		run_sub(sub, m, n, v);
	}
}

/* Run it on the memory at `at`; `old` gets the value before. CW_E_RESERVED: no such subtype. */
int atomic_run(uint8_t opcode, uint8_t sub, uint8_t *at, uint32_t size, const uint8_t *operands,
	       uint8_t *old)
{
	uint8_t m[OPERAND_MAX];

	if ((opcode == CW_TA_STORE || opcode == CW_TA_LOAD) && sub > CW_UBOE_SUB_UMIN)
		return CW_E_RESERVED;
	memcpy(m, at, size);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	octets_reverse(m, size);
#endif
	memcpy(old, m, size);
	run(opcode, sub, m, size, operands);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	octets_reverse(m, size);
#endif
	memcpy(at, m, size);
	return CW_OK;
}
