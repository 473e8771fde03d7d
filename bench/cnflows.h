/* cnflows.h - connections between 256 senders and 256 receivers: their packets, and messages about
 * them. */
#ifndef BENCH_CNFLOWS_H
#define BENCH_CNFLOWS_H

#include <stdlib.h>
#include <string.h>
#include "causeway/cnproxy.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"

enum { FLOW_HOSTS = 256, FLOW_PACKET = 64, FLOW_MESSAGE = 48 };

/* Who tells the proxy. */
#define FLOW_NODE  0x0a0b0c0du
#define FLOW_PROXY 0x0a0b0c0eu

static inline uint32_t flow_sender(uint32_t i)
{
	return 0x0a000000 | (i % FLOW_HOSTS) << 8 | 1;
}

static inline uint32_t flow_receiver(uint32_t i)
{
	return 0x0b000000 | (i / FLOW_HOSTS % FLOW_HOSTS) << 8 | 2;
}

static inline uint32_t flow_qpn(uint32_t i, bool back)
{
	return ((back ? 0x800000 : 0x100000) + i) & 0xffffff;
}

static inline uint32_t flow_head(uint8_t *ip, uint32_t src, uint32_t dst, uint16_t sport,
				 uint16_t dport, uint32_t data)
{
	memset(ip, 0, FLOW_PACKET);
	ip[0] = 0x45;
	cw_ipv4_set_length(ip, 28 + data);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_put_be32(ip + 12, src);
	cw_put_be32(ip + 16, dst);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(ip + 20, sport);
	cw_udp_set_dport(ip + 20, dport);
	cw_udp_set_length(ip + 20, 8 + data);
	return 28 + data;
}

/* A request of connection i, or what answers it. */
static inline uint32_t flow_roce(uint8_t *ip, uint32_t i, uint32_t psn, bool back)
{
	uint32_t src = back ? flow_receiver(i) : flow_sender(i);
	uint32_t dst = back ? flow_sender(i) : flow_receiver(i);
	uint16_t port = cw_roce_sport(flow_qpn(i, false), flow_qpn(i, true));
	uint32_t len = flow_head(ip, src, dst, port, CW_ROCE_PORT, back ? 20 : 32);

	cw_bth_set_opcode(ip + 28, back ? CW_OP_ACK : CW_OP_SEND_ONLY);
	cw_bth_set_pkey(ip + 28, 0xffff);
	cw_bth_set_dqpn(ip + 28, flow_qpn(i, !back));
	cw_bth_set_psn(ip + 28, psn);
	return len;
}

/* A message of option 1 about it, FLOW_MESSAGE octets. */
static inline void flow_message(uint8_t *ip, uint32_t i)
{
	struct cw_cnmsg m = {.option = 1,
			     .version = 4,
			     .proto = CW_IPPROTO_UDP,
			     .dport = CW_ROCE_PORT,
			     .dqpn = flow_qpn(i, true)};

	(void)flow_head(ip, FLOW_NODE, FLOW_PROXY, 1, CW_CN_PORT1, CW_SIZE_CN1_IPV4);
	cw_put_be32(m.src, flow_sender(i));
	cw_put_be32(m.dst, flow_receiver(i));
	if (cw_cnmsg_write(&m, ip + 28, CW_SIZE_CN1_IPV4) < 0)
		abort();
	cw_udp_set_checksum(ip + 20, cw_udp_compute(ip, ip + 20, FLOW_MESSAGE - 20));
}

#endif
