/* cnmsg.c - congestion messages to a proxy, and Fast CNP. Spec and deviations: wire/cnmsg.h. */
#include <string.h>
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"
#include "lib/wire/families.h"

CW_HDR_DEFINE(cn1_ipv4, "Congestion notification, option 1, IPv4", CW_SIZE_CN1_IPV4,
	      CW_TABLE_CN1_IPV4, "fast-cnp-proxy 4.1", NULL)
CW_HDR_DEFINE(cn1_ipv6, "Congestion notification, option 1, IPv6", CW_SIZE_CN1_IPV6,
	      CW_TABLE_CN1_IPV6, "fast-cnp-proxy 4.1", NULL)
CW_HDR_DEFINE(cn1_ipv4_packed, "Congestion notification, option 1, IPv4, packed",
	      CW_SIZE_CN1_IPV4_PACKED, CW_TABLE_CN1_IPV4_PACKED, "fast-cnp-proxy 4.1", NULL)
CW_HDR_DEFINE(cn1_ipv6_packed, "Congestion notification, option 1, IPv6, packed",
	      CW_SIZE_CN1_IPV6_PACKED, CW_TABLE_CN1_IPV6_PACKED, "fast-cnp-proxy 4.1", NULL)
CW_HDR_DEFINE(cn2_ipv4, "Congestion notification, option 2, IPv4", CW_SIZE_CN2_IPV4,
	      CW_TABLE_CN2_IPV4, "fast-cnp-proxy 4.2", NULL)
CW_HDR_DEFINE(cn2_ipv6, "Congestion notification, option 2, IPv6", CW_SIZE_CN2_IPV6,
	      CW_TABLE_CN2_IPV6, "fast-cnp-proxy 4.2", NULL)
CW_HDR_DEFINE(cn2_ipv4_packed, "Congestion notification, option 2, IPv4, packed",
	      CW_SIZE_CN2_IPV4_PACKED, CW_TABLE_CN2_IPV4_PACKED, "fast-cnp-proxy 4.2", NULL)
CW_HDR_DEFINE(cn2_ipv6_packed, "Congestion notification, option 2, IPv6, packed",
	      CW_SIZE_CN2_IPV6_PACKED, CW_TABLE_CN2_IPV6_PACKED, "fast-cnp-proxy 4.2", NULL)

/* Every form. With the tuple's size and padding the accessors of one form serve all. */
struct form {
	const struct cw_hdr *hdr;
	uint8_t option, version;
	bool packed;
};
static const struct form forms[] = {
	{&cw_hdr_cn1_ipv4, 1, 4, false},       {&cw_hdr_cn1_ipv6, 1, 6, false},
	{&cw_hdr_cn1_ipv4_packed, 1, 4, true}, {&cw_hdr_cn1_ipv6_packed, 1, 6, true},
	{&cw_hdr_cn2_ipv4, 2, 4, false},       {&cw_hdr_cn2_ipv6, 2, 6, false},
	{&cw_hdr_cn2_ipv4_packed, 2, 4, true}, {&cw_hdr_cn2_ipv6_packed, 2, 6, true},
};
enum { NFORMS = sizeof(forms) / sizeof(forms[0]) };

static const struct form *form_of(unsigned option, size_t len)
{
	unsigned i;

	for (i = 0; i < NFORMS; i++) {
		if (forms[i].option == option && forms[i].hdr->size == len)
			return &forms[i];
	}
	return NULL;
}

const struct cw_hdr *cw_cnmsg_hdr(unsigned option, size_t len)
{
	const struct form *f = form_of(option, len);

	return f != NULL ? f->hdr : NULL;
}

/* X(field, member): what all forms have in common and where the struct keeps it. */
#define FIELDS_ALL(X, h, tail) X(h, proto) X(h, sport) X(h, dport) X(h, tc) X(h, tail)
#define READ(h, f)             m->f = (__typeof__(m->f))cw_##h##_##f(p);
#define WRITE(h, f)            cw_##h##_set_##f(p, m->f);
#define MOVES(h, tail, octets)                                      \
	static void read_##h(struct cw_cnmsg *m, const uint8_t *p)  \
	{                                                           \
		memcpy(m->src, cw_##h##_src(p), octets);            \
		memcpy(m->dst, cw_##h##_dst(p), octets);            \
		FIELDS_ALL(READ, h, tail)                           \
	}                                                           \
	static void write_##h(const struct cw_cnmsg *m, uint8_t *p) \
	{                                                           \
		cw_##h##_set_src(p, m->src);                        \
		cw_##h##_set_dst(p, m->dst);                        \
		FIELDS_ALL(WRITE, h, tail)                          \
	}
MOVES(cn1_ipv4, dqpn, 4)
MOVES(cn1_ipv6, dqpn, 16)
MOVES(cn1_ipv4_packed, dqpn, 4)
MOVES(cn1_ipv6_packed, dqpn, 16)
MOVES(cn2_ipv4, nrp, 4)
MOVES(cn2_ipv6, nrp, 16)
MOVES(cn2_ipv4_packed, nrp, 4)
MOVES(cn2_ipv6_packed, nrp, 16)

static const struct {
	void (*read)(struct cw_cnmsg *m, const uint8_t *p);
	void (*write)(const struct cw_cnmsg *m, uint8_t *p);
} moves[NFORMS] = {
	{read_cn1_ipv4, write_cn1_ipv4},
	{read_cn1_ipv6, write_cn1_ipv6},
	{read_cn1_ipv4_packed, write_cn1_ipv4_packed},
	{read_cn1_ipv6_packed, write_cn1_ipv6_packed},
	{read_cn2_ipv4, write_cn2_ipv4},
	{read_cn2_ipv6, write_cn2_ipv6},
	{read_cn2_ipv4_packed, write_cn2_ipv4_packed},
	{read_cn2_ipv6_packed, write_cn2_ipv6_packed},
};

int cw_cnmsg_parse(struct cw_cnmsg *out, unsigned option, const uint8_t *data, size_t len)
{
	const struct form *f = form_of(option, len);

	if (f == NULL)
		return CW_E_LENGTH;
	memset(out, 0, sizeof(*out));
	out->option = f->option;
	out->version = f->version;
	out->packed = f->packed;
	moves[f - forms].read(out, data);
	return CW_OK;
}

int cw_cnmsg_write(const struct cw_cnmsg *m, uint8_t *buf, size_t size)
{
	unsigned i;

	for (i = 0; i < NFORMS; i++) {
		if (forms[i].option == m->option && forms[i].version == m->version &&
		    forms[i].packed == m->packed)
			break;
	}
	if (i == NFORMS)
		return CW_E_ARG;
	if (size < forms[i].hdr->size)
		return CW_E_SPACE;
	memset(buf, 0, forms[i].hdr->size);
	moves[i].write(m, buf);
	return forms[i].hdr->size;
}

/* ---- Fast CNP ----------------------------------------------------------------------------- */

/* The data of the first option of 16 octets in the destination options at `p`, or NULL. */
static const uint8_t *option16(const uint8_t *p, size_t len)
{
	size_t at = CW_SIZE_IPV6_EXT, n;

	while (at < len) {
		if (p[at] == 0) { /* Pad1 */
			at++;
			continue;
		}
		if (len - at < 2 || (n = p[at + 1]) > len - at - 2)
			return NULL;
		if (n == 16 && p[at] != 1)
			return p + at + 2;
		at += 2 + n;
	}
	return NULL;
}

bool cw_fast_cnp(const struct cw_packet *p, uint8_t dst[16])
{
	int bth = cw_packet_find(p, &cw_hdr_bth, 0), ext = cw_packet_find(p, &cw_hdr_ipv6_ext, 0);
	const uint8_t *data;

	if (bth < 0 || ext < 0 || ext > bth ||
	    cw_bth_opcode(cw_layer_data(p, (unsigned)bth)) != CW_BTH_CNP)
		return false;
	data = option16(cw_layer_data(p, (unsigned)ext), p->layers[ext].len);
	if (data == NULL)
		return false;
	memcpy(dst, data, 16);
	return true;
}

/* ---- Families ----------------------------------------------------------------------------- */

static int dissect_option(struct cw_dissector *d, unsigned option)
{
	size_t len = cw_rd_left(&d->rd);
	const struct cw_hdr *h = cw_cnmsg_hdr(option, len);

	if (h == NULL)
		return len < (option == 1 ? CW_SIZE_CN1_IPV4_PACKED : CW_SIZE_CN2_IPV4_PACKED)
			       ? CW_E_SHORT
			       : CW_E_LENGTH;
	return cw_dissect_push(d, h, len, NULL);
}

static int dissect_option1(struct cw_dissector *d)
{
	return dissect_option(d, 1);
}

static int dissect_option2(struct cw_dissector *d)
{
	return dissect_option(d, 2);
}

static const struct cw_hdr *const hdrs1[] = {
	&cw_hdr_cn1_ipv4, &cw_hdr_cn1_ipv6, &cw_hdr_cn1_ipv4_packed, &cw_hdr_cn1_ipv6_packed, NULL,
};
static const struct cw_hdr *const hdrs2[] = {
	&cw_hdr_cn2_ipv4, &cw_hdr_cn2_ipv6, &cw_hdr_cn2_ipv4_packed, &cw_hdr_cn2_ipv6_packed, NULL,
};
static const struct cw_claim claims1[] = {{CW_SEL_UDP_PORT, CW_CN_PORT1}};
static const struct cw_claim claims2[] = {{CW_SEL_UDP_PORT, CW_CN_PORT2}};
const struct cw_family cw_family_cn1 = {
	.name = "cn1",
	.title = "Congestion notification to a proxy, option 1",
	.hdrs = hdrs1,
	.claims = claims1,
	.nclaims = 1,
	.dissect = dissect_option1,
};
const struct cw_family cw_family_cn2 = {
	.name = "cn2",
	.title = "Congestion notification to a proxy, option 2",
	.hdrs = hdrs2,
	.claims = claims2,
	.nclaims = 1,
	.dissect = dissect_option2,
};
