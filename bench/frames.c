/* frames.c - packets for benchmarks; offsets as in the figures of draft-li-uboe-00 and UB 2.0. */
#include "frames.h"
#include <string.h>
#include "causeway/bits.h"
#include "causeway/crc.h"

#define RTPH  16
#define WRITE 24 /* BTAH and the extension headers of a Write */
#define ICRC  4

/* UB 2.0 4.3.2: RTP data, last, answer wanted; Write to 0x12345000, token 0x55. */
static const uint8_t transport[RTPH + WRITE] = {
	0x81, 0x00, 0x00, 0x01, 0x02, 0x00, 0x02, 0x03, 0x80, 0x00, 0x00, 0x0a, 0x00, 0x00,
	0x00, 0x01, 0x03, 0x10, 0x00, 0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00,
	0x12, 0x34, 0x50, 0x00, 0x00, 0x00, 0x55, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static uint16_t checksum(const uint8_t *p, unsigned len)
{
	uint32_t sum = 0;
	unsigned i;

	for (i = 0; i < len; i += 2)
		sum += cw_be16(p + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

/* PLENGTH of a packet with n octets behind its LPH (UB 2.0 table 4-1, CRC mode). */
static unsigned plength(unsigned n)
{
	unsigned blocks = 1, head = 4, flits, tail, room;

	while (n > 640 - head - 4) {
		n -= 640 - head - 4;
		head = 2;
		blocks++;
	}
	flits = (head + n + 19) / 20;
	room = flits == 1 ? 16 - head : 16;
	tail = head + n - (flits - 1) * 20 - (flits == 1 ? head : 0);
	if (tail > room) {
		flits++;
		tail = tail >= 17 ? tail : tail + 12;
	}
	return (blocks - 1) << 10 | (flits - 1) << 5 | (tail - 1);
}

static void put_eth(uint8_t *p, uint16_t type)
{
	static const uint8_t macs[12] = {0x02, 0, 0, 0, 0, 0x02, 0x02, 0, 0, 0, 0, 0x01};

	memcpy(p, macs, 12);
	if (type == 0x88b6)
		memset(p, 0xff, 6); /* the gateway's own default on such a link */
	cw_put_be16(p + 12, type);
}

static unsigned put_ip4(uint8_t *p, unsigned len, uint32_t src, uint32_t dst)
{
	memset(p, 0, 20);
	p[0] = 0x45;
	p[1] = 0x02;
	cw_put_be16(p + 2, (uint16_t)len);
	p[6] = 0x40;
	p[8] = 255;
	p[9] = 17;
	cw_put_be32(p + 12, src);
	cw_put_be32(p + 16, dst);
	cw_put_be16(p + 10, checksum(p, 20));
	return 20;
}

void bench_net6(uint8_t net[16], unsigned route)
{
	memset(net, 0, 16);
	cw_put_be16(net, 0x2001);
	cw_put_be32(net + 2, 0x0db80000 + route);
}

void bench_dst6(uint8_t dst[16], unsigned flow)
{
	bench_net6(dst, BENCH_ROUTE(flow));
	dst[15] = 9;
}

static unsigned put_ip6(uint8_t *p, unsigned len, unsigned flow)
{
	memset(p, 0, 40);
	cw_put_be32(p, 0x60200000);
	cw_put_be16(p + 4, (uint16_t)(len - 40));
	p[6] = 17;
	p[7] = 255;
	cw_put_be32(p + 8, 0x20010db8);
	p[23] = 1;
	bench_dst6(p + 24, flow);
	return 40;
}

static void put_udp(uint8_t *p, unsigned len, unsigned flow, uint16_t port)
{
	cw_put_be16(p, (uint16_t)(0xc000 | (flow & 0x3fff)));
	cw_put_be16(p + 2, port);
	cw_put_be16(p + 4, (uint16_t)len);
	cw_put_be16(p + 6, 0);
}

static void put_payload(uint8_t *p, unsigned len, unsigned seed)
{
	unsigned i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31 + seed);
}

/* ICRC over the IP packet: ToS or class and label, TTL, both checksums as ones. */
static void put_icrc(uint8_t *ip, unsigned version, unsigned len)
{
	unsigned hdr = version == 4 ? 28 : 48;
	uint8_t m[48];
	uint32_t crc;

	memcpy(m, ip, hdr);
	if (version == 4) {
		m[1] = m[8] = m[10] = m[11] = 0xff;
	} else {
		m[0] |= 0x0f;
		m[1] = m[2] = m[3] = m[7] = 0xff;
	}
	m[hdr - 2] = m[hdr - 1] = 0xff;
	crc = cw_crc32(0, m, hdr);
	crc = cw_crc32(crc, ip + hdr, len - hdr - ICRC);
	cw_put_le32(ip + len - ICRC, crc);
}

static unsigned put_ub_ip(uint8_t *p, unsigned version, unsigned payload, unsigned flow)
{
	unsigned udp = 8 + RTPH + WRITE + payload + ICRC, ip = version == 4 ? 20 : 40;

	if (version == 4)
		put_ip4(p, ip + udp, 0xc0a80001, BENCH_DST4(flow));
	else
		put_ip6(p, ip + udp, flow);
	put_udp(p + ip, udp, flow, 4792);
	memcpy(p + ip + 8, transport, sizeof(transport));
	put_payload(p + ip + 8 + RTPH + WRITE, payload, flow);
	put_icrc(p, version, ip + udp);
	return ip + udp;
}

static size_t put_ub(uint8_t *p, unsigned version, unsigned payload, unsigned flow)
{
	unsigned len;

	put_eth(p, 0x88b6);
	len = put_ub_ip(p + BENCH_UB_HEAD, version, payload, flow);
	p[14] = 0;
	p[15] = version == 4 ? 3 : 4;
	cw_put_be16(p + 16, (uint16_t)(0x8000 | plength(6 + len)));
	cw_put_be16(p + 18, 0x8002);
	cw_put_be32(p + 20, BENCH_VID);
	return BENCH_UB_HEAD + len;
}

static size_t put_uboe(uint8_t *p, unsigned version, unsigned payload, unsigned flow)
{
	put_eth(p, 0x8100);
	cw_put_be16(p + 14, BENCH_VID);
	cw_put_be16(p + 16, version == 4 ? 0x0800 : 0x86dd);
	return BENCH_UBOE_HEAD + put_ub_ip(p + BENCH_UBOE_HEAD, version, payload, flow);
}

static void put_plain(uint8_t *p, unsigned len, unsigned flow)
{
	put_eth(p, 0x0800);
	put_ip4(p + 14, len - 14, 0xc0a80001, BENCH_DST4(flow));
	put_udp(p + 34, len - 34, flow, 4791);
	put_payload(p + 42, len - 42, flow);
}

static void put_vxlan(uint8_t *p, unsigned len, unsigned flow)
{
	put_eth(p, 0x0800);
	put_ip4(p + 14, len - 14, 0x0ac80002, 0x0ac80001);
	put_udp(p + 34, len - 34, flow, 4789);
	cw_put_be32(p + 42, 0x08000000);
	cw_put_be32(p + 46, BENCH_VID << 8);
	put_plain(p + 50, len - 50, flow);
}

size_t bench_frame(uint8_t *buf, enum bench_kind kind, unsigned version, unsigned payload,
		   unsigned flow)
{
	unsigned ip = 20 + 8 + RTPH + WRITE + payload + ICRC;

	switch (kind) {
	case BENCH_UB:
		return put_ub(buf, version, payload, flow);
	case BENCH_UBOE:
		return put_uboe(buf, version, payload, flow);
	case BENCH_PLAIN:
		put_plain(buf, BENCH_UB_HEAD + ip, flow);
		return BENCH_UB_HEAD + ip;
	default:
		put_vxlan(buf, BENCH_UBOE_HEAD + ip, flow);
		return BENCH_UBOE_HEAD + ip;
	}
}
