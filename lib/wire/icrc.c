/* icrc.c - invariant CRC of UB, UBoE and RoCEv2 packets. */
#include <string.h>
#include "causeway/crc.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"

const struct cw_icrc_rule cw_icrc_ub = {.name = "UB"};
const struct cw_icrc_rule cw_icrc_rocev2 = {
	.name = "RoCEv2",
	.prefix = true,
	.mask_offset = 4,
	.mask_len = 1,
};

/* Octets copied for masking: one CRC step of the widest implementation, enough for IPv6, UDP and
 * a few octets of transport header, and for IPv4 with all options. */
#define HEAD_MAX 80

/* CRC-32 of eight octets of ones. */
#define CRC_OF_PREFIX 0x2144df1cu

static uint32_t crc_in_two(uint32_t crc, const uint8_t *head, size_t n, const uint8_t *all,
			   size_t len)
{
	crc = cw_crc32(crc, head, n);
	return len > n ? cw_crc32(crc, all + n, len - n) : crc;
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
		h[0] = 0x6f;
		h[1] = 0xff;
		h[2] = 0xff;
		h[3] = 0xff;
		h[7] = 0xff;
		return CW_OK;
	default:
		return CW_E_VERSION;
	}
}

int cw_icrc_compute(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, uint32_t *out)
{
	size_t udp, n = len < HEAD_MAX ? len : HEAD_MAX, mask_end;
	uint8_t head[HEAD_MAX];
	int err;

	if (len < CW_SIZE_IPV4 + CW_SIZE_UDP)
		return CW_E_SHORT;
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
	*out = crc_in_two(rule->prefix ? CRC_OF_PREFIX : 0, head, n, ip, len);
	return CW_OK;
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

int cw_icrc_check(const uint8_t *ip, size_t len, const struct cw_icrc_rule *rule,
		  enum cw_icrc_order order)
{
	uint32_t v;
	int err;

	if (len < CW_ICRC_LEN)
		return CW_E_SHORT;
	if ((err = cw_icrc_compute(ip, len - CW_ICRC_LEN, rule, &v)) < 0)
		return err;
	return v == cw_icrc_get(ip + len - CW_ICRC_LEN, order) ? CW_OK : CW_E_ICRC;
}

int cw_icrc_put(uint8_t *ip, size_t len, const struct cw_icrc_rule *rule, enum cw_icrc_order order)
{
	uint32_t v;
	int err;

	if (len < CW_ICRC_LEN)
		return CW_E_SHORT;
	if ((err = cw_icrc_compute(ip, len - CW_ICRC_LEN, rule, &v)) < 0)
		return err;
	cw_icrc_set(ip + len - CW_ICRC_LEN, order, v);
	return CW_OK;
}
