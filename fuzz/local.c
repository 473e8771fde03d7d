/* local.c - packets for the gateway itself: ARP (of InfiniBand too), neighbour discovery, echo.
 * What is taken points into the packet; what is built parses; a reply has right checksums. Input:
 * kind, packet. */
#include "causeway/wire/arp.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ipoib.h"
#include "fuzz/fuzz.h"

static bool inside(const uint8_t *at, size_t n, const uint8_t *p, size_t len)
{
	return at >= p && (size_t)(at - p) <= len && n <= len - (size_t)(at - p);
}

static void check_nd(const uint8_t *p, size_t len)
{
	struct cw_nd nd;

	if (cw_nd_parse(p, len, &nd) != CW_OK)
		return;
	FUZZ_CHECK(nd.type == CW_ICMP6_NS || nd.type == CW_ICMP6_NA);
	FUZZ_CHECK(inside(nd.src, 16, p, len) && inside(nd.target, 16, p, len));
	FUZZ_CHECK(nd.mac == NULL || inside(nd.mac, 6, p, len));
}

static void check_build(const uint8_t *p, size_t len)
{
	uint8_t out[CW_ND_MESSAGE], group[16], mac[6];
	struct cw_nd nd;

	if (len < 54 || (p[0] & 0xe0) != 0x20 || (p[16] & 0xe0) != 0x20 || (p[32] & 0xe0) != 0x20)
		return;
	cw_nd_build(out, CW_ICMP6_NA, p, p + 16, p + 32, p + 48);
	FUZZ_CHECK(cw_nd_parse(out, sizeof(out), &nd) == CW_OK);
	FUZZ_CHECK(nd.type == CW_ICMP6_NA && memcmp(nd.target, p + 32, 16) == 0);
	FUZZ_CHECK(nd.mac != NULL && memcmp(nd.mac, p + 48, 6) == 0);
	cw_nd_solicited_node(group, p + 32);
	cw_nd_group_mac(mac, group);
	FUZZ_CHECK(mac[0] == 0x33 && memcmp(mac + 3, p + 45, 3) == 0);
}

static void check_echo(uint8_t *p, size_t len)
{
	uint8_t *was = calloc(1, len > 0 ? len : 1);

	FUZZ_CHECK(was != NULL);
	if (len > 0)
		memcpy(was, p, len);
	if (cw_icmp_echo_reply(p, len) == CW_OK) {
		FUZZ_CHECK(p[0] >> 4 == was[0] >> 4);
		if (p[0] >> 4 == 4) {
			FUZZ_CHECK(cw_ipv4_checksum(p) == cw_ipv4_compute(p));
			FUZZ_CHECK(memcmp(p + 12, was + 16, 4) == 0);
		} else {
			FUZZ_CHECK(memcmp(p + 8, was + 24, 16) == 0);
		}
	} else if (len > 0) {
		FUZZ_CHECK(memcmp(p, was, len) == 0);
	}
	free(was);
}

/* An error has a right header, fits, and quotes the packet that it is about. */
static void check_error(const uint8_t *p, size_t len)
{
	static const uint8_t src[16] = {0x20, 1};
	uint8_t out[1280];
	unsigned why;
	int n;

	for (why = CW_ICMP_TIME_EXCEEDED; why <= CW_ICMP_PROHIBITED; why++) {
		n = cw_icmp_error(out, sizeof(out), (enum cw_icmp_error)why, 1400, src, p, len);
		if (n < 0)
			continue;
		FUZZ_CHECK((size_t)n <= sizeof(out) && out[0] >> 4 == p[0] >> 4);
		if (out[0] >> 4 == 4) {
			FUZZ_CHECK(n <= 576 && cw_ipv4_checksum(out) == cw_ipv4_compute(out));
			FUZZ_CHECK(memcmp(out + 28, p, (size_t)n - 28) == 0);
		} else {
			FUZZ_CHECK(cw_icmp6_checksum(out + 40) ==
				   cw_icmp6_compute(out, out + 40, (size_t)n - 40));
			FUZZ_CHECK(memcmp(out + 48, p, (size_t)n - 48) == 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	uint8_t kind = fuzz_u8(&in), *p;
	size_t len;

	p = fuzz_block(&in, in.left, &len);
	switch (kind % 5) {
	case 0:
		FUZZ_CHECK(!cw_arp_valid(p, len) || len >= CW_SIZE_ARP);
		FUZZ_CHECK(!cw_ipoib_arp_valid(p, len) || len >= CW_SIZE_IPOIB_ARP);
		FUZZ_CHECK(!cw_ipoib_rarp_valid(p, len) || !cw_ipoib_arp_valid(p, len));
		break;
	case 1:
		check_nd(p, len);
		break;
	case 2:
		check_build(p, len);
		break;
	case 3:
		check_echo(p, len);
		break;
	default:
		check_error(p, len);
	}
	free(p);
	return 0;
}
