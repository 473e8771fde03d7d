/* pnc.c - prefixes and addresses, the tables of IS-IS, OSPF and BGP, Fletcher's checksum.
 * Spec: pnc.h. */
#include <stdio.h>
#include <stdlib.h>
#include "lib/wire/pnc_int.h"

CW_HDR_DEFINE(isis_reach4, "IS-IS IPv4 reachability", CW_SIZE_ISIS_REACH4, CW_TABLE_ISIS_REACH4,
	      "RFC 5305 4", NULL)
CW_HDR_DEFINE(isis_reach6, "IS-IS IPv6 reachability", CW_SIZE_ISIS_REACH6, CW_TABLE_ISIS_REACH6,
	      "RFC 5308 2", NULL)
CW_HDR_DEFINE(ospf2_lsa, "OSPFv2 opaque LSA", CW_SIZE_OSPF2_LSA, CW_TABLE_OSPF2_LSA, "RFC 5250 A.2",
	      NULL)
CW_HDR_DEFINE(ospf3_lsa, "OSPFv3 LSA", CW_SIZE_OSPF3_LSA, CW_TABLE_OSPF3_LSA, "RFC 5340 A.4.2",
	      NULL)
CW_HDR_DEFINE(ospf_tlv, "OSPF TLV", CW_SIZE_OSPF_TLV, CW_TABLE_OSPF_TLV, "RFC 7684 2", NULL)
CW_HDR_DEFINE(ospf2_prefix, "OSPFv2 extended prefix", CW_SIZE_OSPF2_PREFIX, CW_TABLE_OSPF2_PREFIX,
	      "RFC 7684 2.1", NULL)
CW_HDR_DEFINE(ospf3_intra, "OSPFv3 intra-area reference", CW_SIZE_OSPF3_INTRA, CW_TABLE_OSPF3_INTRA,
	      "RFC 8362 4.7", NULL)
CW_HDR_DEFINE(ospf3_prefix, "OSPFv3 extended prefix", CW_SIZE_OSPF3_PREFIX, CW_TABLE_OSPF3_PREFIX,
	      "RFC 8362 3.4", NULL)
CW_HDR_DEFINE(bgp_nhc, "BGP next hop dependent characteristics", CW_SIZE_BGP_NHC, CW_TABLE_BGP_NHC,
	      "draft-ietf-idr-nhc", NULL)
CW_HDR_DEFINE(bgp_char, "BGP characteristic", CW_SIZE_BGP_CHAR, CW_TABLE_BGP_CHAR,
	      "draft-ietf-idr-nhc", NULL)

int cw_pnc_fault(struct cw_pnc_error *e, int err, size_t off, const char *what)
{
	if (e != NULL && e->err == CW_OK)
		*e = (struct cw_pnc_error){err, off, what};
	return err;
}

uint32_t cw_pnc_bits(const uint8_t *flags, size_t len)
{
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < 4; i++)
		v = v << 8 | (i < len ? flags[i] : 0u);
	return v;
}

/* ---- Prefixes ------------------------------------------------------------------------------ */

void cw_prefix_clean(struct cw_prefix *p)
{
	unsigned used = p->plen / 8u, bits = p->plen % 8u;

	if (bits != 0) {
		p->addr[used] &= (uint8_t)(0xff00u >> bits);
		used++;
	}
	memset(p->addr + used, 0, sizeof(p->addr) - used);
}

int cw_addr_parse(const char *text, struct cw_addr *out)
{
	struct cw_addr a = {.version = strchr(text, ':') != NULL ? 6 : 4};
	int err = a.version == 6 ? cw_ip6_parse(text, a.addr) : cw_ip4_parse(text, a.addr);

	if (err == CW_OK)
		*out = a;
	return err;
}

/* The digits behind the slash. */
static int parse_plen(const char *text, unsigned most, uint8_t *plen)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long v;

	if (digits == 0 || digits > 3 || text[digits] != '\0')
		return CW_E_SYNTAX;
	v = strtoul(text, NULL, 10);
	if (v > most)
		return CW_E_RANGE;
	*plen = (uint8_t)v;
	return CW_OK;
}

int cw_prefix_parse(const char *text, struct cw_prefix *out)
{
	const char *slash = strchr(text, '/');
	size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	struct cw_prefix p, clean;
	struct cw_addr a;
	char addr[CW_ADDR_TEXT];
	int err;

	if (n >= sizeof(addr))
		return CW_E_SYNTAX;
	memcpy(addr, text, n);
	addr[n] = '\0';
	if ((err = cw_addr_parse(addr, &a)) != CW_OK)
		return err;
	p = (struct cw_prefix){.version = a.version, .plen = a.version == 6 ? 128 : 32};
	memcpy(p.addr, a.addr, sizeof(p.addr));
	if (slash != NULL && (err = parse_plen(slash + 1, p.plen, &p.plen)) != CW_OK)
		return err;
	clean = p;
	cw_prefix_clean(&clean);
	if (memcmp(clean.addr, p.addr, sizeof(p.addr)) != 0)
		return CW_E_RANGE;
	*out = p;
	return CW_OK;
}

const char *cw_addr_format(const struct cw_addr *a, char buf[CW_ADDR_TEXT])
{
	if (a->version == 6)
		cw_ip6_format(a->addr, buf);
	else if (a->version == 4)
		cw_ip4_format(a->addr, buf);
	else
		buf[0] = '\0';
	return buf;
}

const char *cw_prefix_format(const struct cw_prefix *p, char buf[CW_PREFIX_TEXT])
{
	struct cw_addr a = {.version = p->version};
	size_t n;

	memcpy(a.addr, p->addr, sizeof(a.addr));
	cw_addr_format(&a, buf);
	n = strlen(buf);
	(void)snprintf(buf + n, CW_PREFIX_TEXT - n, "/%u", p->plen);
	return buf;
}

int cw_pnc_take_prefix(struct cw_rd *r, uint8_t version, unsigned plen, size_t octets,
		       struct cw_prefix *out)
{
	struct cw_prefix p = {.version = version, .plen = (uint8_t)plen};
	const uint8_t *at;
	int err;

	if (plen > (version == 6 ? 128u : 32u))
		return CW_E_RANGE;
	if ((err = cw_rd_take(r, octets, &at)) != CW_OK)
		return err;
	memcpy(p.addr, at, (plen + 7) / 8);
	cw_prefix_clean(&p);
	*out = p;
	return CW_OK;
}

/* ---- Whose proxy --------------------------------------------------------------------------- */

/* RFC 7794 2.1 and 2.2, RFC 9084 3. */
static bool is_passed_on(const struct cw_pnc_prefix *p)
{
	if (p->source.version == 0)
		return false;
	switch (p->proto) {
	case CW_PNC_OSPF2:
		return p->kind == CW_OSPF2_INTER;
	case CW_PNC_OSPF3:
		return p->kind == CW_OSPF3_E_INTER;
	default:
		return p->readvertised;
	}
}

int cw_pnc_own_add(void *arg, const struct cw_pnc_prefix *p)
{
	struct cw_pnc_own *own = arg;
	unsigned six = p->prefix.version == 6;
	struct cw_addr *a = &own->addr[six];

	if (!p->pnc || p->unreachable || !cw_pnc_is_host(&p->prefix) || is_passed_on(p))
		return 0;
	if (a->version == 0 || (p->node && !own->node[six]) ||
	    (p->node == own->node[six] && memcmp(p->prefix.addr, a->addr, sizeof(a->addr)) < 0)) {
		a->version = p->prefix.version;
		memcpy(a->addr, p->prefix.addr, sizeof(a->addr));
		own->node[six] = p->node;
	}
	return 0;
}

struct cw_addr cw_pnc_proxy(const struct cw_pnc_own *own, const struct cw_pnc_prefix *p)
{
	unsigned six = p->prefix.version == 6;

	if (p->source.version != 0)
		return p->source;
	return own->addr[six].version != 0 ? own->addr[six] : own->addr[!six];
}

bool cw_pnc_learn(const struct cw_pnc_own *own, const struct cw_pnc_prefix *p,
		  struct cw_addr *proxy)
{
	*proxy = cw_pnc_proxy(own, p);
	return p->pnc && !p->unreachable && proxy->version != 0;
}

/* ---- Fletcher ------------------------------------------------------------------------------ */

uint16_t cw_fletcher(const uint8_t *data, size_t len, size_t at)
{
	uint32_t c0 = 0, c1 = 0;
	int32_t x, y;
	size_t i;

	for (i = 0; i < len; i++) {
		c0 = (c0 + (i == at || i == at + 1 ? 0u : data[i])) % 255;
		c1 = (c1 + c0) % 255;
	}
	x = (int32_t)((len - at - 1) % 255 * c0 % 255) - (int32_t)c1;
	x = (x % 255 + 255) % 255;
	y = (510 - (int32_t)c0 - x) % 255;
	return (uint16_t)((x == 0 ? 255 : x) << 8 | (y == 0 ? 255 : y));
}

bool cw_fletcher_ok(const uint8_t *data, size_t len)
{
	uint32_t c0 = 0, c1 = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		c0 = (c0 + data[i]) % 255;
		c1 = (c1 + c0) % 255;
	}
	return c0 == 0 && c1 == 0;
}
