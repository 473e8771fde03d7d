/* ip.c - IPv4, IPv6 with its extension headers, and UDP. Spec and deviations: wire/ip.h. */
#include <string.h>
#include "causeway/craft.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/uec.h"
#include "lib/wire/families.h"

const struct cw_name cw_names_ecn[] = {
	{0, "Not-ECT"}, {1, "ECT(1)"}, {2, "ECT(0)"}, {3, "CE"}, {0, NULL},
};

const struct cw_name cw_names_ipproto[] = {
	{CW_IPPROTO_HOPOPT, "HOPOPT"},
	{CW_IPPROTO_ICMP, "ICMP"},
	{CW_IPPROTO_TCP, "TCP"},
	{CW_IPPROTO_UDP, "UDP"},
	{CW_IPPROTO_ROUTING, "IPv6-Route"},
	{CW_IPPROTO_FRAGMENT, "IPv6-Frag"},
	{CW_IPPROTO_ESP, "ESP"},
	{CW_IPPROTO_AH, "AH"},
	{CW_IPPROTO_ICMP6, "IPv6-ICMP"},
	{CW_IPPROTO_NONE, "IPv6-NoNxt"},
	{CW_IPPROTO_DSTOPTS, "IPv6-Opts"},
	{CW_UEC_IPPROTO, "UET"},
	{0, NULL},
};

const struct cw_name cw_names_udp_port[] = {
	{4791, "RoCEv2"},       {4792, "UB"},           {4793, "UET"},
	{49791, "CN-option-1"}, {49792, "CN-option-2"}, {0, NULL},
};

/* ---- Internet checksum ---------------------------------------------------------------------- */

/* Sums of octets as they lie in memory, eight at once: what a sum carries out of its 64 bits comes
 * in again below, so that it stays what it is modulo 2^16 - 1, in either byte order (RFC 1071 2).
 */
CW_INLINE uint64_t add64(uint64_t sum, uint64_t v)
{
	sum += v;
	return sum + (sum < v);
}

CW_INLINE uint64_t add_octets(uint64_t sum, const uint8_t *p, size_t len)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v64, p, 8);
		sum = add64(sum, v64);
	}
	if ((len & 4) != 0) {
		memcpy(&v32, p, 4);
		sum = add64(sum, v32);
		p += 4;
	}
	if ((len & 2) != 0) {
		memcpy(&v16, p, 2);
		sum = add64(sum, v16);
		p += 2;
	}
	if ((len & 1) != 0) {
		v16 = 0;
		memcpy(&v16, p, 1);
		sum = add64(sum, v16);
	}
	return sum;
}

/* Of a sum of octets, the 16 bits in host order. */
CW_INLINE uint16_t fold64(uint64_t sum)
{
	uint32_t s = (uint32_t)sum + (uint32_t)(sum >> 32);

	s += s < (uint32_t)sum;
	s = (s & 0xffff) + (s >> 16);
	return CW_SWAP(16, (uint16_t)(s + (s >> 16)));
}

uint32_t cw_inet_sum(uint32_t sum, const void *data, size_t len)
{
	uint64_t all = (uint64_t)sum + fold64(add_octets(0, data, len));

	all = (all & 0xffff) + (all >> 16);
	return (uint32_t)((all & 0xffff) + (all >> 16));
}

uint16_t cw_ipv4_compute(const uint8_t *ip)
{
	size_t len = 4 * (size_t)cw_ipv4_ihl(ip);
	uint64_t sum = add_octets(0, ip, 10);

	sum = add_octets(sum, ip + 12, 8);
	if (len > CW_SIZE_IPV4)
		sum = add_octets(sum, ip + CW_SIZE_IPV4, len - CW_SIZE_IPV4);
	return (uint16_t)~fold64(sum);
}

/* Of addresses and UDP without its checksum. */
CW_INLINE uint64_t add_udp(const uint8_t *addresses, size_t n, const uint8_t *udp, size_t len)
{
	uint64_t sum;
	uint16_t checksum;

	/* One piece, but for options and extension headers; less the checksum, by adding its
	 * complement. */
	if (udp == addresses + n && len >= CW_SIZE_UDP) {
		memcpy(&checksum, udp + 6, 2);
		return add64(add_octets(0, addresses, n + len), checksum ^ 0xffff);
	}
	sum = add_octets(0, addresses, n);
	sum = add_octets(sum, udp, len < 6 ? len : 6);
	return len > CW_SIZE_UDP ? add_octets(sum, udp + CW_SIZE_UDP, len - CW_SIZE_UDP) : sum;
}

uint16_t cw_udp_compute(const uint8_t *ip, const uint8_t *udp, size_t len)
{
	bool v6 = ip[0] >> 4 == 6;
	uint64_t sum = add_udp(v6 ? ip + 8 : ip + 12, v6 ? 32 : 8, udp, len);
	uint16_t out;

	/* Length and protocol, in network order, of as many bits as there are. */
	out = (uint16_t)~fold64(add64(sum, CW_SWAP(64, (uint64_t)len + CW_IPPROTO_UDP)));
	return out == 0 ? 0xffff : out;
}

/* Protocol number of the layer behind `layer`. */
static uint32_t proto_of_next(const struct cw_craft *c, unsigned layer)
{
	const struct cw_hdr *next = layer + 1 < c->nlayers ? c->layers[layer + 1].hdr : NULL;

	if (next == &cw_hdr_udp)
		return CW_IPPROTO_UDP;
	if (next == &cw_hdr_ipv6_frag)
		return CW_IPPROTO_FRAGMENT;
	if (next == &cw_hdr_ipv6_ext)
		return CW_IPPROTO_DSTOPTS;
	if (next == &cw_hdr_uec_entropy)
		return CW_UEC_IPPROTO;
	return CW_IPPROTO_NONE;
}

static void fix_ipv4(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "ihl"))
		cw_ipv4_set_ihl(p, c->layers[layer].len / 4);
	if (!cw_craft_given(c, layer, "length"))
		cw_ipv4_set_length(p, cw_craft_span(c, layer));
	if (!cw_craft_given(c, layer, "proto"))
		cw_ipv4_set_proto(p, proto_of_next(c, layer));
	/* A wrong IHL must not lead the sum behind the layer's own octets. */
	if (!cw_craft_given(c, layer, "checksum") && 4 * cw_ipv4_ihl(p) <= c->layers[layer].len)
		cw_ipv4_set_checksum(p, cw_ipv4_compute(p));
}

static void fix_ipv6(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "length"))
		cw_ipv6_set_length(p, cw_craft_span(c, layer) - CW_SIZE_IPV6);
	if (!cw_craft_given(c, layer, "next_header"))
		cw_ipv6_set_next_header(p, proto_of_next(c, layer));
}

static void fix_ipv6_ext(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "next_header"))
		cw_ipv6_ext_set_next_header(p, proto_of_next(c, layer));
	if (!cw_craft_given(c, layer, "length") && c->layers[layer].len >= 8)
		cw_ipv6_ext_set_length(p, c->layers[layer].len / 8 - 1);
}

static void fix_ipv6_frag(struct cw_craft *c, unsigned layer)
{
	if (!cw_craft_given(c, layer, "next_header"))
		cw_ipv6_frag_set_next_header(cw_craft_data(c, layer), proto_of_next(c, layer));
}

/* The UDP port by which the family of the layer behind is known. */
static uint32_t port_of_next(const struct cw_craft *c, unsigned layer)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;
	unsigned i;

	for (f = cw_families; layer + 1 < c->nlayers && *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL && *h != c->layers[layer + 1].hdr; h++)
			;
		for (i = 0; *h != NULL && i < (*f)->nclaims; i++) {
			if ((*f)->claims[i].sel == CW_SEL_UDP_PORT)
				return (*f)->claims[i].value;
		}
	}
	return 0;
}

static bool is_ip(const struct cw_hdr *h)
{
	return h == &cw_hdr_ipv4 || h == &cw_hdr_ipv6;
}

/* Of UDP that nothing else protects; what carries an ICRC leaves it zero (draft-li-uboe-00 4.1). */
static void fix_udp_checksum(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);
	unsigned i = layer;

	while (i > 0 && !is_ip(c->layers[i].hdr))
		i--;
	/* A version that contradicts its header must not lead the sum behind the header. */
	if (is_ip(c->layers[i].hdr) &&
	    (*cw_craft_data(c, i) >> 4 == 6) == (c->layers[i].hdr == &cw_hdr_ipv6))
		cw_udp_set_checksum(
			p, cw_udp_compute(cw_craft_data(c, i), p, cw_craft_span(c, layer)));
}

/* Does an ICRC protect what is behind this layer? */
static bool sealed_behind(const struct cw_craft *c, unsigned layer)
{
	const struct cw_family *f;

	if (layer + 1 >= c->nlayers)
		return false;
	f = cw_hdr_family(c->layers[layer + 1].hdr);
	return f->seal != NULL && (!f->seal_optional || (!c->icrc_none && f->sealed(c)));
}

static void fix_udp(struct cw_craft *c, unsigned layer)
{
	uint8_t *p = cw_craft_data(c, layer);

	if (!cw_craft_given(c, layer, "dport"))
		cw_udp_set_dport(p, port_of_next(c, layer));
	if (!cw_craft_given(c, layer, "length"))
		cw_udp_set_length(p, cw_craft_span(c, layer));
	if (!cw_craft_given(c, layer, "checksum") && !sealed_behind(c, layer))
		fix_udp_checksum(c, layer);
}

CW_HDR_DEFINE(ipv4, "IPv4", CW_SIZE_IPV4, CW_TABLE_IPV4, "RFC 791 3.1", fix_ipv4)
CW_HDR_DEFINE(ipv6, "IPv6", CW_SIZE_IPV6, CW_TABLE_IPV6, "RFC 8200 3", fix_ipv6)
CW_HDR_DEFINE(ipv6_ext, "IPv6 extension header", CW_SIZE_IPV6_EXT, CW_TABLE_IPV6_EXT, "RFC 8200 4",
	      fix_ipv6_ext)
CW_HDR_DEFINE(ipv6_frag, "IPv6 fragment header", CW_SIZE_IPV6_FRAG, CW_TABLE_IPV6_FRAG,
	      "RFC 8200 4.5", fix_ipv6_frag)
CW_HDR_DEFINE(udp, "UDP", CW_SIZE_UDP, CW_TABLE_UDP, "RFC 768", fix_udp)

static bool is_in(const struct cw_pin_4792 *pin, uint32_t version, const uint8_t *addr)
{
	return pin->version == version && pin->plen <= (version == 4 ? 32 : 128) &&
	       cw_bits_equal(pin->addr, addr, pin->plen);
}

static const struct cw_pin_4792 *longest_pin(const struct cw_pin_4792 *pins, unsigned n,
					     uint32_t version, const uint8_t *addr)
{
	const struct cw_pin_4792 *best = NULL, *p;

	for (p = pins; p < pins + n; p++) {
		if (is_in(p, version, addr) && (best == NULL || p->plen > best->plen))
			best = p;
	}
	return best;
}

const struct cw_pin_4792 *cw_pin_4792_find(const struct cw_pin_4792 *pins, unsigned n,
					   unsigned version, const uint8_t *src, const uint8_t *dst)
{
	const struct cw_pin_4792 *pin = longest_pin(pins, n, version, dst);

	return pin != NULL ? pin : longest_pin(pins, n, version, src);
}

static void apply_pins(struct cw_dissector *d, const uint8_t *ip)
{
	uint32_t version = cw_ipv4_version(ip), alen = version == 4 ? 4 : 16;
	const uint8_t *src = ip + (version == 4 ? 12 : 8);
	const struct cw_pin_4792 *pin =
		cw_pin_4792_find(d->opts.pins, d->opts.npins, version, src, src + alen);

	if (pin != NULL)
		d->opts.port_4792 = pin->family;
}

static int dissect_udp(struct cw_dissector *d, const uint8_t *ip)
{
	const uint8_t *udp;
	size_t len;
	int err;

	if ((err = cw_dissect_push(d, &cw_hdr_udp, CW_SIZE_UDP, &udp)) < 0)
		return err;
	len = cw_udp_length(udp);
	if (len < CW_SIZE_UDP || len != CW_SIZE_UDP + cw_rd_left(&d->rd))
		return CW_E_LENGTH;
	if (cw_udp_checksum(udp) != 0 && cw_udp_checksum(udp) != cw_udp_compute(ip, udp, len))
		return CW_E_CHECKSUM;
	if (cw_udp_dport(udp) == d->opts.ub_port && d->opts.npins > 0)
		apply_pins(d, ip);
	if (cw_udp_dport(udp) == d->opts.ub_port)
		return cw_dissect_next(d, CW_SEL_UDP_PORT, CW_UB_PORT);
	if (cw_udp_dport(udp) == CW_UB_PORT) /* UB was moved away from it */
		return CW_OK;
	return cw_dissect_next(d, CW_SEL_UDP_PORT, cw_udp_dport(udp));
}

static int dissect_upper(struct cw_dissector *d, const uint8_t *ip, uint32_t proto)
{
	if (proto == CW_IPPROTO_UDP)
		return dissect_udp(d, ip);
	return cw_dissect_next(d, CW_SEL_IPPROTO, proto);
}

static int dissect_ipv4(struct cw_dissector *d)
{
	const uint8_t *ip = d->rd.p;
	size_t hlen;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_IPV4)
		return CW_E_SHORT;
	hlen = 4 * (size_t)cw_ipv4_ihl(ip);
	if (hlen < CW_SIZE_IPV4 || cw_ipv4_length(ip) < hlen)
		return CW_E_LENGTH;
	if ((err = cw_dissect_push(d, &cw_hdr_ipv4, hlen, NULL)) < 0 ||
	    (err = cw_dissect_limit(d, cw_ipv4_length(ip) - hlen)) < 0)
		return err;
	if (cw_ipv4_checksum(ip) != cw_ipv4_compute(ip))
		return CW_E_CHECKSUM;
	if (cw_ipv4_mf(ip) || cw_ipv4_frag_off(ip) != 0)
		return CW_E_FRAGMENT;
	return dissect_upper(d, ip, cw_ipv4_proto(ip));
}

/* Walk extension headers, at most CW_IP6_EXT_MAX of them. */
static int dissect_ipv6_ext(struct cw_dissector *d, uint32_t *proto)
{
	const uint8_t *at;
	unsigned n;
	int err;

	for (n = 0; *proto == CW_IPPROTO_HOPOPT || *proto == CW_IPPROTO_ROUTING ||
		    *proto == CW_IPPROTO_DSTOPTS || *proto == CW_IPPROTO_FRAGMENT;
	     n++) {
		if (n == CW_IP6_EXT_MAX)
			return CW_E_DEPTH;
		if (*proto == CW_IPPROTO_FRAGMENT) {
			err = cw_dissect_push(d, &cw_hdr_ipv6_frag, CW_SIZE_IPV6_FRAG, &at);
			return err < 0 ? err : CW_E_FRAGMENT;
		}
		if (cw_rd_left(&d->rd) < CW_SIZE_IPV6_EXT)
			return CW_E_SHORT;
		err = cw_dissect_push(d, &cw_hdr_ipv6_ext,
				      8 + 8 * (size_t)cw_ipv6_ext_length(d->rd.p), &at);
		if (err < 0)
			return err;
		*proto = cw_ipv6_ext_next_header(at);
	}
	return CW_OK;
}

static int dissect_ipv6(struct cw_dissector *d)
{
	const uint8_t *ip = d->rd.p;
	uint32_t proto;
	int err;

	if (cw_rd_left(&d->rd) < CW_SIZE_IPV6)
		return CW_E_SHORT;
	if ((err = cw_dissect_push(d, &cw_hdr_ipv6, CW_SIZE_IPV6, NULL)) < 0 ||
	    (err = cw_dissect_limit(d, cw_ipv6_length(ip))) < 0)
		return err;
	proto = cw_ipv6_next_header(ip);
	if ((err = dissect_ipv6_ext(d, &proto)) < 0)
		return err;
	return dissect_upper(d, ip, proto);
}

static int dissect_ip(struct cw_dissector *d)
{
	if (cw_rd_left(&d->rd) < 1)
		return CW_E_SHORT;
	switch (d->rd.p[0] >> 4) {
	case 4:
		return dissect_ipv4(d);
	case 6:
		return dissect_ipv6(d);
	default:
		return CW_E_VERSION;
	}
}

static const struct cw_hdr *const hdrs[] = {
	&cw_hdr_ipv4, &cw_hdr_ipv6, &cw_hdr_ipv6_ext, &cw_hdr_ipv6_frag, &cw_hdr_udp, NULL,
};
static const struct cw_claim claims[] = {
	{CW_SEL_ETHERTYPE, CW_ETHERTYPE_IP4},
	{CW_SEL_ETHERTYPE, CW_ETHERTYPE_IP6},
};
const struct cw_family cw_family_ip = {
	.name = "ip",
	.title = "IP and UDP",
	.hdrs = hdrs,
	.claims = claims,
	.nclaims = 2,
	.dissect = dissect_ip,
};
