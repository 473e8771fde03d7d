/* traffic_fault.c - wrong packets, one thing wrong with each, so that it is known which counter
 * of a gateway they belong to. */
#include <stdlib.h>
#include <string.h>
#include "causeway/drop.h"
#include "causeway/icrc.h"
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "cli/traffic.h"

#define APPLY(name)                                                                               \
	static void name(const struct traffic_plan *p, struct traffic_packet *k, uint64_t random, \
			 const char *arg)

static uint8_t *ip_of(struct traffic_packet *k)
{
	return k->frame + k->ip;
}

/* Everything that follows from the rest is right again. */
static void reseal(const struct traffic_plan *p, struct traffic_packet *k)
{
	traffic_fix_plength(k);
	traffic_fix_ip_checksum(k);
	traffic_fix_icrc(k, p->icrc_order);
}

static void set_ip_length(struct traffic_packet *k, uint32_t len)
{
	if (k->version == 4)
		cw_ipv4_set_length(ip_of(k), len);
	else
		cw_ipv6_set_length(ip_of(k), len - CW_SIZE_IPV6);
}

/* Open a gap of n zero octets at `at`, between IP and transport header. */
static uint8_t *insert(struct traffic_packet *k, uint32_t at, uint32_t n)
{
	uint8_t *gap = k->frame + at;

	memmove(gap + n, gap, k->len - at);
	memset(gap, 0, n);
	k->ip += k->ip >= at ? n : 0;
	k->net += k->net >= at ? n : 0;
	k->udp += k->udp >= at ? n : 0;
	k->tph += n;
	k->payload += n;
	k->icrc += n;
	k->len += n;
	return gap;
}

/* A number between lo and hi (both can come out). */
static uint32_t between(uint64_t random, uint32_t lo, uint32_t hi)
{
	return lo + (uint32_t)(random % (hi - lo + 1));
}

/* ---- Damage --------------------------------------------------------------------------------- */

APPLY(flip_bit)
{
	uint32_t at = between(random, k->payload, k->icrc + CW_ICRC_LEN - 1);

	k->frame[at] = (uint8_t)(k->frame[at] ^ 1u << (random >> 40) % 8);
}

APPLY(cut)
{
	k->len = between(random, k->tph + CW_SIZE_RTPH, k->len - 1);
}

APPLY(cut_in_header)
{
	/* Linux itself drops tagged frames with less than two octets behind the tag. */
	k->len = between(random, k->ip + 2, k->udp - 1);
	traffic_fix_plength(k);
}

APPLY(randomize)
{
	uint32_t n = between(random, 2, 1400);

	traffic_fill(k->frame + k->net, n, (uint32_t)(random >> 32));
	k->len = k->net + n;
}

APPLY(wrong_icrc)
{
	uint8_t *at = k->frame + k->icrc;

	cw_put_be32(at, cw_be32(at) ^ (uint32_t)(random | 1));
}

/* ---- Ethernet ------------------------------------------------------------------------------- */

APPLY(wrong_ethertype)
{
	/* 0x88b7: IEEE OUI extended, carried by nothing here. */
	cw_put_be16(k->frame + (p->side == TRAFFIC_UB ? 12 : k->net - 2), 0x88b7);
}

APPLY(wrong_station)
{
	cw_eth_set_dst(k->frame, (const uint8_t[]){0x02, 0xc0, 0, 0, 0xee, 0xee});
}

APPLY(many_tags)
{
	unsigned i;

	for (i = 0; i < 5; i++) {
		cw_put_be16(insert(k, 12, 4), CW_ETHERTYPE_VLAN);
		cw_put_be16(k->frame + 14, 100);
	}
}

APPLY(set_vid)
{
	uint32_t vid = (uint32_t)strtoul(arg, NULL, 0);

	if (!k->desc.tagged)
		cw_put_be16(insert(k, 12, 4), CW_ETHERTYPE_VLAN);
	cw_vlan_set_vid(k->frame + k->net - 4, vid);
}

/* ---- UB link and network header ------------------------------------------------------------- */

static void set_cfg(struct traffic_packet *k, uint32_t cfg)
{
	cw_lph_set_cfg(k->frame + k->net, cfg);
}

APPLY(cfg_link)
{
	set_cfg(k, CW_UB_CFG_LINK);
}

APPLY(cfg_netctl)
{
	set_cfg(k, CW_UB_CFG_NETCTL);
}

/* A CNA network header where the IP format's was, with what its NLP says behind it. */
static void set_cna(struct traffic_packet *k, uint32_t cfg, uint32_t nlp)
{
	uint8_t *nth = k->frame + k->net + CW_SIZE_LPH;

	set_cfg(k, cfg);
	if (cfg == CW_UB_CFG_CNA16)
		cw_cna16_set_nlp(nth, nlp);
	else
		cw_cna24_set_nlp(nth, nlp);
}

APPLY(cfg_cna16)
{
	set_cna(k, CW_UB_CFG_CNA16, 1);
}

APPLY(cfg_cna24)
{
	set_cna(k, CW_UB_CFG_CNA24, 2);
}

APPLY(compact_transport)
{
	set_cna(k, random & 1 ? CW_UB_CFG_CNA16 : CW_UB_CFG_CNA24, 0);
}

APPLY(cfg_bypass)
{
	set_cfg(k, CW_UB_CFG_CNA16_MEM);
}

APPLY(cfg_reserved)
{
	static const uint8_t reserved[] = {1, 2, 8, 10, 11, 12, 13, 14, 15};

	set_cfg(k, reserved[random % sizeof(reserved)]);
}

APPLY(wrong_plength)
{
	uint8_t *lph = k->frame + k->net;

	/* Never the right one again, and never a reserved combination. */
	cw_lph_set_plen_flits(lph, cw_lph_plen_flits(lph) ^ 1);
}

APPLY(cci_caqm)
{
	cw_cci_caqm_set_mode(k->frame + k->net + CW_SIZE_LPH, CW_CCI_MODE_CAQM);
}

static void set_partition(struct traffic_packet *k, uint32_t id)
{
	cw_npi_set_id(k->frame + k->net + CW_SIZE_LPH + CW_SIZE_CCI, id);
}

APPLY(npi_zero)
{
	set_partition(k, 0);
}

APPLY(set_npi)
{
	set_partition(k, (uint32_t)strtoul(arg, NULL, 0));
}

/* The partition filter sees an NPI on either side. */
APPLY(filtered)
{
	if (k->side == TRAFFIC_UB)
		set_npi(p, k, random, arg);
	else
		set_vid(p, k, random, arg);
}

/* ---- IP ------------------------------------------------------------------------------------- */

APPLY(ip_version)
{
	ip_of(k)[0] = (uint8_t)((ip_of(k)[0] & 0x0f) | 0x50);
	traffic_fix_ip_checksum(k);
}

APPLY(ip_options)
{
	memset(insert(k, k->udp, 4), 1, 4); /* no-operation options */
	cw_ipv4_set_ihl(ip_of(k), 6);
	set_ip_length(k, k->len - k->ip);
	reseal(p, k);
}

APPLY(ip_too_long)
{
	set_ip_length(k, k->len - k->ip + between(random, 1, 1000));
	traffic_fix_ip_checksum(k);
}

APPLY(ip_fragment)
{
	uint8_t *ext;

	if (k->version == 4) {
		cw_ipv4_set_df(ip_of(k), 0);
		cw_ipv4_set_mf(ip_of(k), random & 1);
		cw_ipv4_set_frag_off(ip_of(k), random & 1 ? 0 : between(random >> 1, 1, 100));
	} else {
		ext = insert(k, k->udp, CW_SIZE_IPV6_FRAG);
		cw_ipv6_frag_set_next_header(ext, CW_IPPROTO_UDP);
		cw_ipv6_frag_set_mf(ext, 1);
		cw_ipv6_set_next_header(ip_of(k), CW_IPPROTO_FRAGMENT);
		set_ip_length(k, k->len - k->ip);
	}
	reseal(p, k);
}

APPLY(ip_extension)
{
	uint8_t *ext = insert(k, k->udp, 8);

	cw_ipv6_ext_set_next_header(ext, CW_IPPROTO_UDP);
	ext[2] = 1; /* PadN over the other four octets */
	ext[3] = 4;
	cw_ipv6_set_next_header(ip_of(k), CW_IPPROTO_DSTOPTS);
	set_ip_length(k, k->len - k->ip);
	reseal(p, k);
}

APPLY(ip_checksum)
{
	uint8_t *ip = ip_of(k);

	cw_ipv4_set_checksum(ip, cw_ipv4_checksum(ip) ^ between(random, 1, 0xfffe));
}

APPLY(ip_loopback)
{
	static const uint8_t v6[16] = {[15] = 1};

	if (k->version == 4)
		cw_ipv4_set_src(ip_of(k), (const uint8_t[]){127, 0, 0, 1});
	else
		cw_ipv6_set_src(ip_of(k), v6);
	reseal(p, k);
}

APPLY(ttl_one)
{
	if (k->version == 4)
		cw_ipv4_set_ttl(ip_of(k), 1);
	else
		cw_ipv6_set_hop_limit(ip_of(k), 1);
	traffic_fix_ip_checksum(k);
}

APPLY(set_dst)
{
	uint8_t addr[16];

	if (k->version == 4 && cw_ip4_parse(arg, addr) == CW_OK)
		cw_ipv4_set_dst(ip_of(k), addr);
	else if (k->version == 6 && cw_ip6_parse(arg, addr) == CW_OK)
		cw_ipv6_set_dst(ip_of(k), addr);
	reseal(p, k);
}

/* ---- UDP and above -------------------------------------------------------------------------- */

APPLY(udp_length)
{
	uint8_t *udp = k->frame + k->udp;

	cw_udp_set_length(udp, cw_udp_length(udp) ^ between(random, 1, 0x1fff));
	reseal(p, k);
}

APPLY(udp_checksum)
{
	uint8_t *udp = k->frame + k->udp;
	uint32_t right = cw_udp_compute(ip_of(k), udp, k->len - k->udp);

	cw_udp_set_checksum(udp, right == 0x5555 ? 0x5556 : right ^ 0x5555);
}

APPLY(tp_opcode)
{
	static const uint8_t reserved[] = {0x04, 0x07, 0x09, 0x10, 0x22, 0x40, 0x7f};

	cw_rtph_set_last(k->frame + k->tph, 0);
	cw_rtph_set_opcode(k->frame + k->tph, reserved[random % sizeof(reserved)]);
	reseal(p, k);
}

APPLY(tp_version)
{
	cw_rtph_set_version(k->frame + k->tph, between(random, 1, 3));
	reseal(p, k);
}

APPLY(tp_nlp)
{
	cw_rtph_set_nlp(k->frame + k->tph, CW_NLP_UPI16);
	reseal(p, k);
}

APPLY(tp_short)
{
	k->icrc = k->tph + between(random, 1, 3) * 4;
	k->len = k->icrc + CW_ICRC_LEN;
	set_ip_length(k, k->len - k->ip);
	cw_udp_set_length(k->frame + k->udp, k->len - k->udp);
	reseal(p, k);
}

APPLY(other_port)
{
	cw_udp_set_dport(k->frame + k->udp, CW_UB_PORT + 1);
	reseal(p, k);
}

/* More payload than the way can carry. */
APPLY(oversize)
{
	uint32_t want = (uint32_t)strtoul(arg, NULL, 0) & ~3u, tail = k->payload + want;

	if (tail <= k->icrc)
		return;
	traffic_fill(k->frame + k->icrc, tail - k->icrc, (uint32_t)random);
	k->icrc = tail;
	k->len = tail + CW_ICRC_LEN;
	set_ip_length(k, k->len - k->ip);
	cw_udp_set_length(k->frame + k->udp, k->len - k->udp);
	reseal(p, k);
}

/* ---- The table ------------------------------------------------------------------------------ */

#define UB         TRAFFIC_ON_UB
#define UBOE       TRAFFIC_ON_UBOE
#define BOTH       (UB | UBOE)
#define V4         TRAFFIC_ON_IP4
#define V6         TRAFFIC_ON_IP6
#define V46        (V4 | V6)
#define SAME(name) name, name

// clang-format off
const struct traffic_fault traffic_faults[] = {
	{"bitflip", "icrc", BOTH, V46, NULL, NULL, "one bit of payload or ICRC turned over", flip_bit},
	{"truncate", "ip-length", BOTH, V46, NULL, NULL, "cut off behind the transport header", cut},
	{"random", NULL, BOTH, V46, NULL, NULL, "2 to 1400 random octets", randomize},
	{SAME("short"), BOTH, V46, NULL, NULL, "cut off inside the IP header", cut_in_header},
	{SAME("not-for-us"), UBOE, V46, NULL, NULL, "for another station", wrong_station},
	{SAME("ethertype"), BOTH, V46, NULL, NULL, "EtherType 0x88b7", wrong_ethertype},
	{SAME("vlan-depth"), UBOE, V46, NULL, NULL, "five more VLAN tags", many_tags},
	{SAME("ub-control"), UB, V46, NULL, NULL, "CFG 0", cfg_link},
	{SAME("ub-netctrl"), UB, V46, NULL, NULL, "CFG 5", cfg_netctl},
	{SAME("ub-cna16"), UB, V46, NULL, NULL, "CFG 6 with UPI", cfg_cna16},
	{SAME("ub-cna24"), UB, V46, NULL, NULL, "CFG 7 with RTP", cfg_cna24},
	{SAME("ub-ctp"), UB, V46, NULL, NULL, "CFG 6 or 7 with compact transport", compact_transport},
	{SAME("ub-bypass"), UB, V46, NULL, NULL, "CFG 9", cfg_bypass},
	{SAME("ub-cfg"), UB, V46, NULL, NULL, "a reserved CFG", cfg_reserved},
	{SAME("ub-length"), UB, V46, NULL, NULL, "wrong PLENGTH", wrong_plength},
	{SAME("ip-version"), BOTH, V46, NULL, NULL, "IP version 5", ip_version},
	{SAME("ip-ihl"), BOTH, V4, NULL, NULL, "IPv4 options", ip_options},
	{SAME("ip-length"), BOTH, V46, NULL, NULL, "IP length beyond the frame", ip_too_long},
	{SAME("ip-fragment"), BOTH, V46, NULL, NULL, "a fragment", ip_fragment},
	{SAME("ip-extension"), BOTH, V6, NULL, NULL, "IPv6 destination options", ip_extension},
	{SAME("ip-checksum"), BOTH, V4, NULL, NULL, "wrong IPv4 header checksum", ip_checksum},
	{SAME("ip-address"), BOTH, V46, NULL, NULL, "from the loopback address", ip_loopback},
	{SAME("ttl"), BOTH, V46, NULL, NULL, "TTL or hop limit 1", ttl_one},
	{SAME("udp-length"), BOTH, V46, NULL, NULL, "wrong UDP length", udp_length},
	{SAME("udp-checksum"), BOTH, V46, NULL, NULL, "wrong UDP checksum", udp_checksum},
	{SAME("tp-opcode"), BOTH, V46, NULL, NULL, "a reserved TPOpcode", tp_opcode},
	{SAME("tp-version"), BOTH, V46, NULL, NULL, "TPVer other than 0", tp_version},
	{SAME("tp-nlp"), BOTH, V46, NULL, NULL, "a reserved NLP", tp_nlp},
	{SAME("tp-length"), BOTH, V46, NULL, NULL, "too short for its transport header", tp_short},
	{SAME("plain-ip"), BOTH, V46, NULL, NULL, "UDP port 4793 (needs plain-ip off)", other_port},
	{SAME("icrc"), BOTH, V46, NULL, NULL, "wrong ICRC (needs icrc-check drop)", wrong_icrc},
	{SAME("cci-mode"), UB, V46, NULL, NULL, "CCI in CAQM mode (needs cci-policy drop)", cci_caqm},
	{SAME("npi-zero"), UB, V46, NULL, NULL, "partition 0", npi_zero},
	{SAME("npi-filter"), BOTH, V46, "NPI or VLAN", NULL, "a partition that the port's filter refuses", filtered},
	{SAME("npi-unmapped"), UB, V46, "NPI", "0x1000", "a partition without VLAN", set_npi},
	{SAME("vlan-unmapped"), UBOE, V46, "VLAN", "4095", "a VLAN without partition", set_vid},
	{SAME("no-route"), BOTH, V46, "ADDR", NULL, "to an address without route", set_dst},
	{SAME("same-domain"), UBOE, V46, "ADDR", NULL, "to an address on the Ethernet side", set_dst},
	{"neighbour-fail", NULL, BOTH, V46, "ADDR", NULL, "to a next hop that does not answer", set_dst},
	{SAME("mtu"), BOTH, V46, "SIZE", NULL, "SIZE octets of payload", oversize},
};
// clang-format on
const unsigned traffic_nfaults = sizeof(traffic_faults) / sizeof(traffic_faults[0]);

int traffic_fault_find(const char *name)
{
	unsigned i;

	for (i = 0; i < traffic_nfaults; i++) {
		if (strcmp(traffic_faults[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

static bool arg_ok(const struct traffic_plan *p, const struct traffic_fault *f, const char *arg)
{
	uint8_t addr[16];
	uint32_t v;

	if (strcmp(f->arg, "ADDR") == 0)
		return (p->version == 6 ? cw_ip6_parse(arg, addr) : cw_ip4_parse(arg, addr)) ==
		       CW_OK;
	if (traffic_value_number(arg, &v) < 0)
		return false;
	if (strcmp(f->arg, "SIZE") == 0)
		return v >= TRAFFIC_SIZE && v <= TRAFFIC_PAYLOAD_MAX;
	return v <= (p->side == TRAFFIC_UB ? CW_NPI_ID_MASK : 0xfffu);
}

const char *traffic_fault_refuse(const struct traffic_plan *p, unsigned fault, const char *arg)
{
	const struct traffic_fault *f = &traffic_faults[fault];

	if ((f->sides & (p->side == TRAFFIC_UB ? UB : UBOE)) == 0)
		return "there is no such packet on this side";
	if ((f->versions & (p->version == 6 ? V6 : V4)) == 0)
		return "there is no such packet in this IP version";
	if (f->arg == NULL)
		return arg == NULL ? NULL : "takes no argument";
	if (arg == NULL)
		return f->def != NULL ? NULL : "needs an argument";
	return arg_ok(p, f, arg) ? NULL : "the argument can't be used";
}
