/* iprelay.c - what a router reads out of strangers' IP packets: IGMP and MLD, DHCP to be relayed,
 * datagrams of the RoCEv2 carrier; and what it makes of one that is too large.
 * Input: one octet that picks, then the packet. */
#include "causeway/dhcp_relay.h"
#include "causeway/forward.h"
#include "causeway/icrc.h"
#include "causeway/ipoib.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mcast.h"
#include "fuzz/fuzz.h"

struct seen {
	const uint8_t *ip;
	size_t len;
	unsigned n;
};

static void group_seen(void *ctx, enum cw_mc_what what, bool v6, const uint8_t *group)
{
	struct seen *s = ctx;
	size_t n = v6 ? 16 : 4;

	FUZZ_CHECK(what <= CW_MC_LEAVE);
	FUZZ_CHECK(group >= s->ip && group + n <= s->ip + s->len);
	s->n++;
}

static void multicast(const uint8_t *ip, size_t len)
{
	struct seen s = {.ip = ip, .len = len};
	size_t n;

	/* Its caller has checked the header. */
	if (cw_ip_check(ip, len, &n) == CW_PASS) {
		s.len = n;
		(void)cw_mc_parse(ip, n, group_seen, &s);
		FUZZ_CHECK(s.n <= len);
	}
}

static void dhcp(const uint8_t *ip, size_t len)
{
	static const uint8_t relay[4] = {10, 0, 0, 1}, server[4] = {192, 0, 2, 2};
	uint8_t out[CW_DHCP_RELAY_MAX];
	struct cw_dhcp_reply to;
	size_t n, whole;
	int made;

	if (cw_ip_check(ip, len, &n) != CW_PASS || cw_ipv4_version(ip) != 4)
		return;
	(void)cw_dhcp_to_server(ip, n);
	if ((made = cw_dhcp_relay_request(out, ip, n, relay, server)) > 0) {
		FUZZ_CHECK(cw_ip_check(out, (size_t)made, &whole) == CW_PASS);
		FUZZ_CHECK(whole == (size_t)made && memcmp(cw_ipv4_dst(out), server, 4) == 0);
	}
	if ((made = cw_dhcp_relay_reply(out, ip, n, &to)) > 0) {
		FUZZ_CHECK(cw_ip_check(out, (size_t)made, &whole) == CW_PASS);
		FUZZ_CHECK(whole == (size_t)made);
	}
}

/* With the right ICRC too, or nothing behind that check is ever reached. */
static void roce(uint8_t *ip, size_t len)
{
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	uint8_t mgid[16];
	size_t n;

	(void)cw_ipoib_roce_parse(ip, len, &rx, &data, &n);
	if (cw_icrc_put(ip, len, &cw_icrc_rocev2, CW_ICRC_LE) < 0 ||
	    cw_ipoib_roce_parse(ip, len, &rx, &data, &n) < 0)
		return;
	FUZZ_CHECK(data >= ip && data + n <= ip + len);
	if (cw_ipoib_mgid_of(mgid, data, n, 0x8001, 2) == CW_OK)
		FUZZ_CHECK(mgid[0] == 0xff && mgid[1] == 0x12);
}

/* Fragments are packets, fit, and hold all of the data. */
static void fragments(const uint8_t *ip, size_t len)
{
	uint8_t out[256];
	size_t n, done = 0, data = 0, whole, head;
	uint32_t mtu;
	int made;

	if (cw_ip_check(ip, len, &n) != CW_PASS || cw_ipv4_version(ip) != 4)
		return;
	(void)cw_ip_may_forward(ip);
	(void)cw_ip_may_fragment(ip);
	mtu = 68 + ip[5] % 128u;
	while ((made = cw_ip_fragment(out, sizeof(out), mtu, ip, n, &done)) > 0) {
		FUZZ_CHECK((uint32_t)made <= mtu);
		FUZZ_CHECK(cw_ip_check(out, (size_t)made, &whole) == CW_PASS);
		FUZZ_CHECK(whole == (size_t)made);
		head = 4 * (size_t)cw_ipv4_ihl(out);
		data += (size_t)made - head;
	}
	FUZZ_CHECK(made == CW_E_ARG || (made == 0 && data == n - 4 * (size_t)cw_ipv4_ihl(ip)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	uint8_t kind = fuzz_u8(&in) % 4;
	size_t len;
	uint8_t *ip = fuzz_block(&in, in.left, &len);

	if (kind == 0)
		multicast(ip, len);
	else if (kind == 1)
		dhcp(ip, len);
	else if (kind == 2)
		roce(ip, len);
	else
		fragments(ip, len);
	free(ip);
	return 0;
}
