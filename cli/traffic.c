/* traffic.c - descriptions, payload and values of self-describing packets (see traffic.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/crc.h"
#include "cli/traffic.h"

void traffic_desc_put(uint8_t out[TRAFFIC_SIZE], const struct traffic_desc *d)
{
	memset(out, 0, TRAFFIC_SIZE);
	cw_traffic_set_magic(out, TRAFFIC_MAGIC);
	cw_traffic_set_run(out, d->run);
	cw_traffic_set_seq(out, d->seq);
	cw_traffic_set_total(out, d->total);
	cw_traffic_set_flow(out, d->flow);
	cw_traffic_set_nflows(out, d->nflows);
	cw_traffic_set_side(out, d->side);
	cw_traffic_set_tagged(out, d->tagged);
	cw_traffic_set_v6(out, d->v6);
	cw_traffic_set_cci_mode(out, d->cci_mode);
	cw_traffic_set_loc(out, d->loc);
	cw_traffic_set_rt(out, d->rt);
	cw_traffic_set_cc(out, d->cc);
	cw_traffic_set_vl(out, d->vl);
	cw_traffic_set_pcp(out, d->pcp);
	cw_traffic_set_dscp(out, d->dscp);
	cw_traffic_set_ttl(out, d->ttl);
	cw_traffic_set_part(out, d->part);
	cw_traffic_set_ip_len(out, d->ip_len);
	cw_traffic_set_sport(out, d->sport);
	cw_traffic_set_addr_crc(out, d->addr_crc);
	cw_traffic_set_head_crc(out, d->head_crc);
	cw_traffic_set_seed(out, d->seed);
	cw_traffic_set_fault(out, d->fault);
	cw_traffic_set_crc(out, cw_crc32(0, out, TRAFFIC_SIZE - 4));
}

bool traffic_desc_get(struct traffic_desc *d, const uint8_t *p, size_t len)
{
	if (len < TRAFFIC_SIZE || cw_traffic_magic(p) != TRAFFIC_MAGIC ||
	    cw_traffic_crc(p) != cw_crc32(0, p, TRAFFIC_SIZE - 4))
		return false;
	*d = (struct traffic_desc){
		.run = cw_traffic_run(p),
		.seq = cw_traffic_seq(p),
		.total = cw_traffic_total(p),
		.flow = (uint16_t)cw_traffic_flow(p),
		.nflows = (uint16_t)cw_traffic_nflows(p),
		.side = (uint8_t)cw_traffic_side(p),
		.tagged = (uint8_t)cw_traffic_tagged(p),
		.v6 = (uint8_t)cw_traffic_v6(p),
		.cci_mode = (uint8_t)cw_traffic_cci_mode(p),
		.loc = (uint8_t)cw_traffic_loc(p),
		.rt = (uint8_t)cw_traffic_rt(p),
		.cc = (uint8_t)cw_traffic_cc(p),
		.vl = (uint8_t)cw_traffic_vl(p),
		.pcp = (uint8_t)cw_traffic_pcp(p),
		.dscp = (uint8_t)cw_traffic_dscp(p),
		.ttl = (uint8_t)cw_traffic_ttl(p),
		.part = cw_traffic_part(p),
		.ip_len = (uint16_t)cw_traffic_ip_len(p),
		.sport = (uint16_t)cw_traffic_sport(p),
		.addr_crc = cw_traffic_addr_crc(p),
		.head_crc = cw_traffic_head_crc(p),
		.seed = cw_traffic_seed(p),
		.fault = (uint8_t)cw_traffic_fault(p),
	};
	return d->nflows > 0 && d->flow < d->nflows && (d->total == 0 || d->seq < d->total);
}

static uint64_t scramble(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t traffic_random(uint64_t seed, uint64_t n, unsigned stream)
{
	return scramble(scramble(seed + 0x9e3779b97f4a7c15u * (n + 1)) + stream);
}

/* The generator of payloads: splitmix64, eight octets a step, low octet first. */
struct stream {
	uint64_t state;
};

static uint64_t next_word(struct stream *s)
{
	s->state += 0x9e3779b97f4a7c15u;
	return htole64(scramble(s->state));
}

void traffic_fill(uint8_t *out, size_t len, uint32_t seed)
{
	struct stream s = {seed};
	uint64_t w;

	for (; len >= 8; out += 8, len -= 8) {
		w = next_word(&s);
		memcpy(out, &w, 8);
	}
	w = next_word(&s);
	memcpy(out, &w, len);
}

size_t traffic_differs(const uint8_t *p, size_t len, uint32_t seed)
{
	struct stream s = {seed};
	uint8_t want[8];
	uint64_t w = 0, is;
	size_t at, i;

	for (at = 0; len - at >= 8; at += 8) {
		w = next_word(&s);
		memcpy(&is, p + at, 8);
		if (is != w)
			break;
	}
	if (len - at < 8) /* of the last, incomplete word nothing was drawn yet */
		w = next_word(&s);
	memcpy(want, &w, 8);
	for (i = 0; i < 8 && at + i < len && p[at + i] == want[i]; i++)
		;
	return at + i;
}

uint32_t traffic_addr_crc(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? cw_crc32(0, ip + 8, 32) : cw_crc32(0, ip + 12, 8);
}

uint32_t traffic_flow_label(uint32_t run, unsigned flow)
{
	return (uint32_t)traffic_random(run, flow, 99) & 0xfffff;
}

/* ---- Values and mixes --------------------------------------------------------------------- */

static int read_number(const char *text, uint32_t max, uint32_t *out)
{
	unsigned long v;
	char *end;

	errno = 0;
	if (text[0] < '0' || text[0] > '9')
		return CW_E_SYNTAX;
	v = strtoul(text, &end, 0);
	if (*end != '\0')
		return CW_E_SYNTAX;
	if (errno != 0 || v > max)
		return CW_E_RANGE;
	*out = (uint32_t)v;
	return CW_OK;
}

int traffic_value_number(const char *text, uint32_t *out)
{
	return read_number(text, UINT32_MAX, out);
}

int traffic_value_size(const char *text, uint32_t *out)
{
	const char *dash = strchr(text, '-');
	uint32_t lo, hi;
	char low[16];
	int err;

	if (dash != NULL && (size_t)(dash - text) >= sizeof(low))
		return CW_E_SYNTAX;
	snprintf(low, sizeof(low), "%.*s", dash != NULL ? (int)(dash - text) : 15, text);
	if ((err = read_number(low, TRAFFIC_PAYLOAD_MAX, &lo)) < 0)
		return err;
	hi = lo;
	if (dash != NULL && (err = read_number(dash + 1, TRAFFIC_PAYLOAD_MAX, &hi)) < 0)
		return err;
	if (lo < TRAFFIC_SIZE || hi < lo)
		return CW_E_RANGE;
	*out = lo | hi << 16;
	return CW_OK;
}

int traffic_value_cc(const char *text, uint32_t *out)
{
	size_t len = strlen(text);

	if (len < 2 || len > 3 || strspn(text, "01") != 2 || (len == 3 && text[2] != 'L'))
		return CW_E_SYNTAX;
	*out = (uint32_t)(text[0] - '0') << 1 | (uint32_t)(text[1] - '0') | (len == 3 ? 4u : 0u);
	return CW_OK;
}

int traffic_value_npi(const char *text, uint32_t *out)
{
	size_t len = strlen(text), tail = strlen("/low");
	bool low = len > tail && strcmp(text + len - tail, "/low") == 0;
	char id[16];
	int err;

	if (len >= sizeof(id))
		return CW_E_SYNTAX;
	snprintf(id, sizeof(id), "%.*s", (int)(low ? len - tail : len), text);
	if ((err = read_number(id, 0xffffff, out)) == CW_OK && low)
		*out |= 1u << 24;
	return err;
}

int traffic_value_vid(const char *text, uint32_t *out)
{
	if (strcmp(text, "untagged") != 0)
		return read_number(text, 0xfff, out);
	*out = TRAFFIC_UNTAGGED;
	return CW_OK;
}

static int read_name(const char *const *names, const char *text, uint32_t *out)
{
	uint32_t i;

	for (i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = i;
			return CW_OK;
		}
	}
	return CW_E_NAME;
}

const char *const traffic_op_names[TRAFFIC_OPS + 1] = {
	[TRAFFIC_SEND] = "send",
	[TRAFFIC_SEND_IMM] = "send-imm",
	[TRAFFIC_WRITE] = "write",
	[TRAFFIC_WRITE_IMM] = "write-imm",
	[TRAFFIC_WRITE_NOTIFY] = "write-notify",
	[TRAFFIC_WRITEBACK] = "writeback",
	[TRAFFIC_READ_RESPONSE] = "read-response",
};

int traffic_value_op(const char *text, uint32_t *out)
{
	return read_name(traffic_op_names, text, out);
}

int traffic_value_transport(const char *text, uint32_t *out)
{
	static const char *const names[] = {"rtp", "utp", NULL};

	return read_name(names, text, out);
}

int traffic_value_cci(const char *text, uint32_t *out)
{
	static const char *const names[] = {"caqm", "1", "fecn-rtt", "3", "fecn",
					    "5",    "6", "7",        NULL};

	return read_name(names, text, out);
}

void traffic_mix_one(struct traffic_mix *m, uint32_t value)
{
	m->n = 1;
	m->value[0] = value;
	m->upto[0] = 1;
}

int traffic_item(const char **text, char item[TRAFFIC_ITEM_MAX])
{
	size_t len;

	if (*text == NULL)
		return 0;
	len = strcspn(*text, ",");
	if (len == 0 || len >= TRAFFIC_ITEM_MAX)
		return CW_E_SYNTAX;
	memcpy(item, *text, len);
	item[len] = '\0';
	*text = (*text)[len] == ',' ? *text + len + 1 : NULL;
	return 1;
}

int traffic_mix_parse(struct traffic_mix *m, const char *text,
		      int (*value)(const char *text, uint32_t *out))
{
	struct traffic_mix made = {0};
	uint32_t weight, total = 0;
	char item[TRAFFIC_ITEM_MAX], *colon;
	int err, more;

	while ((more = traffic_item(&text, item)) > 0) {
		if (made.n == TRAFFIC_MIX_MAX)
			return CW_E_SPACE;
		weight = 1;
		if ((colon = strchr(item, ':')) != NULL) {
			*colon = '\0';
			if ((err = read_number(colon + 1, 1000000, &weight)) < 0)
				return err;
		}
		if ((err = value(item, &made.value[made.n])) < 0)
			return err;
		made.upto[made.n++] = total += weight;
	}
	if (more < 0)
		return more;
	if (total == 0)
		return CW_E_RANGE;
	*m = made;
	return CW_OK;
}

uint32_t traffic_mix_pick(const struct traffic_mix *m, uint64_t random)
{
	uint32_t at;
	unsigned i;

	if (m->n == 1)
		return m->value[0];
	at = (uint32_t)(random % m->upto[m->n - 1]);
	for (i = 0; at >= m->upto[i]; i++)
		;
	return m->value[i];
}

int traffic_range_parse(struct traffic_range *r, uint8_t version, const char *text)
{
	const char *plus = strchr(text, '+');
	struct traffic_range made = {.n = 1};
	char addr[64];
	int err;

	if (plus != NULL && (err = read_number(plus + 1, 65536, &made.n)) < 0)
		return err;
	if (made.n == 0)
		return CW_E_RANGE;
	snprintf(addr, sizeof(addr), "%.*s", plus != NULL ? (int)(plus - text) : 63, text);
	err = version == 6 ? cw_ip6_parse(addr, made.addr) : cw_ip4_parse(addr, made.addr);
	if (err == CW_OK)
		*r = made;
	return err;
}

void traffic_plan_init(struct traffic_plan *p, enum traffic_side side, uint8_t version)
{
	*p = (struct traffic_plan){
		.side = side,
		.version = version,
		.seed = 1,
		.run = 1,
		.flows = 8,
		.sport = 0xc000,
		.nsport = 8,
		.dport = CW_UB_PORT,
		.ttl = 64,
		.smac = {0x02, 0xc0, 0, 0, 0, 1},
		.dmac = {0x02, 0xc0, 0, 0, 0, 2},
	};
	(void)traffic_range_parse(&p->src, version, version == 6 ? "2001:db8:1::1" : "10.1.0.1");
	(void)traffic_range_parse(&p->dst, version, version == 6 ? "2001:db8:2::1" : "10.2.0.1");
	traffic_mix_one(&p->size, 256u | 256u << 16);
	traffic_mix_one(&p->cc, 2);
	traffic_mix_one(&p->cci, 4);
	traffic_mix_one(&p->part, 1);
	traffic_mix_one(&p->dscp, 0);
	traffic_mix_one(&p->rt, 2);
	traffic_mix_one(&p->op, TRAFFIC_SEND);
	traffic_mix_one(&p->transport, TRAFFIC_RTP);
}
