/* csum.c - finish checksums that a local sender left to its device. See csum.h. */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "daemon/io/csum.h"

/* Octet of the checksum inside the transport header, 0 for protocols that have none here. */
static size_t checksum_offset(uint32_t proto)
{
	if (proto == CW_IPPROTO_UDP)
		return 6;
	return proto == CW_IPPROTO_TCP ? 16 : 0;
}

static void complete_ip(uint8_t *ip, size_t len)
{
	size_t hlen, total, off;
	uint32_t proto, sum;
	uint16_t value;
	bool v6;

	if (len < CW_SIZE_IPV4 || ((v6 = ip[0] >> 4 == 6) && len < CW_SIZE_IPV6))
		return;
	hlen = v6 ? CW_SIZE_IPV6 : 4 * (size_t)cw_ipv4_ihl(ip);
	total = v6 ? CW_SIZE_IPV6 + (size_t)cw_ipv6_length(ip) : cw_ipv4_length(ip);
	proto = v6 ? cw_ipv6_next_header(ip) : cw_ipv4_proto(ip);
	off = checksum_offset(proto);
	if (off == 0 || hlen < CW_SIZE_IPV4 || total > len || total < hlen + off + 2)
		return;
	cw_put_be16(ip + hlen + off, 0);
	sum = proto + (uint32_t)(total - hlen);
	sum = cw_inet_sum(sum, v6 ? ip + 8 : ip + 12, v6 ? 32 : 8);
	value = cw_inet_fold(cw_inet_sum(sum, ip + hlen, total - hlen));
	cw_put_be16(ip + hlen + off, value == 0 && proto == CW_IPPROTO_UDP ? 0xffff : value);
}

void cw_csum_complete(uint8_t *frame, size_t len)
{
	size_t off = CW_SIZE_ETH;
	uint32_t type;

	if (len < CW_SIZE_ETH)
		return;
	for (type = cw_eth_type(frame); cw_is_tpid(type) && len - off >= CW_SIZE_VLAN;
	     off += CW_SIZE_VLAN)
		type = cw_vlan_type(frame + off);
	if (type == CW_ETHERTYPE_IP4 || type == CW_ETHERTYPE_IP6)
		complete_ip(frame + off, len - off);
}
