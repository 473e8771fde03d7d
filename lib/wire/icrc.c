/* icrc.c - invariant CRC of UB, UBoE and RoCEv2 packets. */
#include <string.h>
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "lib/base/crc_int.h"
#include "lib/wire/icrc_int.h"

/* The octet of BTH with FECN, BECN and reserved bits. */
#define BTH_FECN 4

const struct cw_icrc_rule cw_icrc_ub = {.name = "UB"};
const struct cw_icrc_rule cw_icrc_rocev2 = {
	.name = "RoCEv2",
	.prefix = true,
	.mask_offset = BTH_FECN,
	.mask_len = 1,
};

/* Octets copied for masking, a multiple of 16: enough for IPv6 or IPv4 with all options, UDP and a
 * few octets of transport header. */
#define HEAD_MAX 80

/* Ones where the headers up to UDP have what routers may change, IHL being 5; and, in the second of
 * each, where BTH has it. */
#define MASK4 [1] = 0xff, [8] = 0xff, [10] = 0xff, [11] = 0xff, [26] = 0xff, [27] = 0xff
#define MASK6 [0] = 0x0f, [1] = 0xff, [2] = 0xff, [3] = 0xff, [7] = 0xff, [46] = 0xff, [47] = 0xff
static const uint8_t mask4[2][48] = {
	{MASK4},
	{MASK4, [CW_SIZE_IPV4 + CW_SIZE_UDP + BTH_FECN] = 0xff},
};
static const uint8_t mask6[2][64] = {
	{MASK6},
	{MASK6, [CW_SIZE_IPV6 + CW_SIZE_UDP + BTH_FECN] = 0xff},
};

static uint32_t crc_in_two(uint32_t crc, const uint8_t *head, size_t n, const uint8_t *all,
			   size_t len)
{
	return len > n ? cw_crc32_head(crc, head, n, all + n, len - n) : cw_crc32(crc, head, n);
}

/* Set the octets that routers may change to ones; *udp is where the UDP header begins. */
static int mask_ip(uint8_t *h, size_t len, size_t *udp)
{
	switch (h[0] >> 4) {
	case 4:
		*udp = 4 * (size_t)(h[0] & 15);
		if (*udp < CW_SIZE_IPV4)
			return CW_E_VERSION;
		if (len < *udp + CW_SIZE_UDP)
			return CW_E_SHORT;
		if (h[9] != CW_IPPROTO_UDP)
			return CW_E_OPTIONS;
		h[1] = 0xff;
		h[8] = 0xff;
		h[10] = 0xff;
		h[11] = 0xff;
		return CW_OK;
	case 6:
		*udp = CW_SIZE_IPV6;
		if (len < *udp + CW_SIZE_UDP)
			return CW_E_SHORT;
		if (h[6] != CW_IPPROTO_UDP)
			return CW_E_OPTIONS;
		icrc_mask_ip6(h);
		return CW_OK;
	default:
		return CW_E_VERSION;
	}
}

typedef uint8_t v16 __attribute__((vector_size(16)));

/* Whole vectors are masked on their way to the stack, which the CRC's loads can be forwarded from;
 * single octets written would stall them. `n` octets, a multiple of 16, hold all that is masked.
 * False: not in this packet. */
CW_INLINE bool compute_common(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
			      const uint8_t *mask, size_t n, uint32_t *out)
{
	v16 head[4], v, m;
	size_t i;

	if (len < n)
		return false;
	for (i = 0; i < n / 16; i++) {
		memcpy(&v, ip + 16 * i, 16);
		memcpy(&m, mask + 16 * i, 16);
		head[i] = v | m;
	}
	*out = crc_in_two(rule->prefix ? ICRC_OF_PREFIX : 0, (const uint8_t *)head, n, ip, len);
	return true;
}

/* Most packets: IPv4 without options or IPv6, then UDP and what BTH's mask or none is for. */
CW_INLINE bool is_common(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
			 uint32_t *out)
{
	bool bth = rule->mask_offset == BTH_FECN && rule->mask_len == 1;

	if (!bth && rule->mask_len > 0)
		return false;
	if (ip[0] == 0x45 && ip[9] == CW_IPPROTO_UDP)
		return compute_common(ip, len, rule, mask4[bth], sizeof(mask4[0]), out);
	if (ip[0] >> 4 == 6 && ip[6] == CW_IPPROTO_UDP)
		return compute_common(ip, len, rule, mask6[bth], sizeof(mask6[0]), out);
	return false;
}

/* IPv4 options, another rule, or something that has no ICRC. */
static int compute_other(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
			 uint32_t *out)
{
	size_t udp, n = len < HEAD_MAX ? len : HEAD_MAX, mask_end;
	uint8_t head[HEAD_MAX];
	int err;

	memcpy(head, ip, n);
	if ((err = mask_ip(head, n, &udp)) < 0)
		return err;
	head[udp + 6] = 0xff;
	head[udp + 7] = 0xff;
	mask_end = udp + CW_SIZE_UDP + rule->mask_offset + rule->mask_len;
	if (rule->mask_len > 0 && mask_end > n)
		return CW_E_SHORT;
	if (rule->mask_len > 0)
		memset(head + mask_end - rule->mask_len, 0xff, rule->mask_len);
	*out = crc_in_two(rule->prefix ? ICRC_OF_PREFIX : 0, head, n, ip, len);
	return CW_OK;
}

CW_INLINE int compute(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, uint32_t *out)
{
	if (len < CW_SIZE_IPV4 + CW_SIZE_UDP)
		return CW_E_SHORT;
	return is_common(ip, len, rule, out) ? CW_OK : compute_other(ip, len, rule, out);
}

int cw_icrc_compute(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, uint32_t *out)
{
	return compute(ip, len, rule, out);
}

int cw_icrc_compute_cna(const uint8_t *nth, size_t len, size_t nth_len, uint32_t *out)
{
	uint8_t head[HEAD_MAX];
	size_t n = len < HEAD_MAX ? len : HEAD_MAX, addresses;

	if (nth_len != 8 && nth_len != 10)
		return CW_E_ARG;
	if (len < nth_len)
		return CW_E_SHORT;
	addresses = nth_len - 4;
	memcpy(head, nth, n);
	/* CCI and LBF stand behind the two addresses in both forms. */
	memset(head + addresses, 0xff, 3);
	*out = crc_in_two(0, head, n, nth, len);
	return CW_OK;
}

/* Of a packet with room for it at its end. */
CW_INLINE int icrc_of(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, uint32_t *out)
{
	if (len < CW_ICRC_LEN)
		return CW_E_SHORT;
	return compute(ip, len - CW_ICRC_LEN, rule, out);
}

int cw_icrc_check(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
		  enum cw_icrc_order order)
{
	uint32_t v;
	int err = icrc_of(ip, len, rule, &v);

	if (err < 0)
		return err;
	return v == cw_icrc_get(ip + len - CW_ICRC_LEN, order) ? CW_OK : CW_E_ICRC;
}

int cw_icrc_put(uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, enum cw_icrc_order order)
{
	uint32_t v;
	int err = icrc_of(ip, len, rule, &v);

	if (err < 0)
		return err;
	cw_icrc_set(ip + len - CW_ICRC_LEN, order, v);
	return CW_OK;
}
