/* ub2e.c - the converter with any settings on any bytes, both ways. A refused packet keeps its
 * octets. A packet that passes keeps everything but the fields a router may change, its headers are
 * right, and what comes out may go back. A burst does the same with a packet, or nothing. Input:
 * settings, hop, from which side, packet. */
#include "causeway/ub2e.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "fuzz/fuzz.h"

struct knobs {
	struct cw_ub2e_settings s;
	struct cw_npi_entry npi[3];
	uint32_t partitions[2], filter[2];
	struct cw_npi_filter in, out;
	struct cw_ub2e_hop hop;
	struct cw_stripped_tag tag;
	bool from_eth;
};

static void read_flags(struct cw_ub2e_settings *s, uint32_t bits)
{
	s->udp_verify = (bits & 1) == 0;
	s->ttl_decrement = (bits & 2) == 0;
	s->plain_ip = (bits & 4) == 0;
	s->plength_check = (bits & 8) == 0;
	s->icrc_check_ub = (enum cw_icrc_check)((bits >> 4 & 3) % 3);
	s->icrc_check_eth = (enum cw_icrc_check)((bits >> 6 & 3) % 3);
	s->icrc_order = (bits & 0x100) != 0 ? CW_ICRC_BE : CW_ICRC_LE;
	s->cci_policy = (bits & 0x200) != 0 ? CW_CCI_DROP : CW_CCI_NOT_ECT;
	s->fecn_rtt_as_fecn = (bits & 0x400) != 0;
	s->strict_ecn = (bits & 0x800) != 0;
	s->light_to_ce = (bits & 0x1000) == 0;
	s->npi_mode = (enum cw_npi_mode)((bits >> 13 & 3) % 3);
	if ((bits & 0x8000) != 0)
		s->untagged_npi = 0;
}

static void read_settings(struct fuzz_in *in, struct knobs *k)
{
	struct cw_ub2e_settings *s = &k->s;
	unsigned i;

	cw_ub2e_settings_init(s);
	read_flags(s, fuzz_u32(in));
	s->rt ^= fuzz_u8(in);
	s->ect ^= fuzz_u8(in);
	s->ce_to_fecn ^= fuzz_u8(in);
	i = fuzz_u8(in) % 64;
	s->dscp_out[i] ^= fuzz_u8(in);
	s->dscp_in[i] ^= fuzz_u8(in);
	s->vl[i] ^= fuzz_u8(in);
	s->pcp[i] ^= fuzz_u8(in);
	s->nnpi = fuzz_u8(in) % 4;
	s->npi = k->npi;
	for (i = 0; i < s->nnpi; i++) {
		k->npi[i].id = fuzz_u32(in);
		k->npi[i].vid = (uint16_t)fuzz_u32(in);
		k->npi[i].vid_low = fuzz_u8(in);
	}
}

static void read_hop(struct fuzz_in *in, struct knobs *k)
{
	uint8_t bits = fuzz_u8(in);

	k->from_eth = (bits & 1) != 0;
	k->hop.side = (bits & 2) != 0 ? CW_SIDE_UB : CW_SIDE_ETH;
	k->hop.bare = (bits & 4) != 0;
	k->hop.tpid = (bits & 8) != 0 ? CW_ETHERTYPE_SVLAN : CW_ETHERTYPE_VLAN;
	k->hop.outer_vid = (bits & 16) != 0 ? 100 : 0;
	k->hop.mtu = (bits & 32) != 0 ? 9000 : 0;
	k->tag.stripped = (bits & 64) != 0;
	k->tag.tpid = CW_ETHERTYPE_VLAN;
	if (k->tag.stripped)
		k->tag.tci = (uint16_t)fuzz_u32(in);
	memset(k->hop.dst, 2, 6);
	memset(k->hop.src, 4, 6);
	if ((bits & 128) != 0) {
		k->filter[0] = fuzz_u8(in);
		k->filter[1] = k->filter[0] + 1 + fuzz_u8(in);
		k->in = (struct cw_npi_filter){k->filter, 2};
		k->out = (struct cw_npi_filter){k->filter + 1, 1};
		k->hop.filter = &k->out;
	}
}

/* A packet with the room in front that a write needs, and not an octet behind it. */
struct shot {
	uint8_t *block, *pkt, *was; /* `was`: the packet as it came */
	uint32_t len;
};

static void load(struct shot *x, const uint8_t *data, uint32_t len)
{
	x->block = calloc(1, CW_UB2E_HEADROOM + len + 1u);
	x->was = calloc(1, len + 1u);
	FUZZ_CHECK(x->block != NULL && x->was != NULL);
	memset(x->block, 0xee, CW_UB2E_HEADROOM);
	x->block = realloc(x->block, CW_UB2E_HEADROOM + len);
	x->pkt = x->block + CW_UB2E_HEADROOM;
	x->len = len;
	if (len > 0) {
		memcpy(x->pkt, data, len);
		memcpy(x->was, data, len);
	}
}

static void unload(struct shot *x)
{
	free(x->block);
	free(x->was);
}

static bool untouched(const struct shot *x)
{
	return x->len == 0 || memcmp(x->pkt, x->was, x->len) == 0;
}

/* Octets in front of which a write may change things: IP header and, but in plain packets, UDP. */
static uint32_t head_of(const struct cw_ub2e_view *v)
{
	return (v->version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6) + (v->plain ? 0u : CW_SIZE_UDP);
}

/* A hop takes one, and never the last; without ttl-decrement it takes none. */
static void check_ttl(uint32_t was, uint32_t is)
{
	FUZZ_CHECK(is == was || (is == was - 1 && is > 0));
}

/* The IP header after a write: lengths, protocol, addresses as they were, the checksum right. */
static void check_ip(const struct cw_ub2e_view *v, bool crossed, const uint8_t *was,
		     const uint8_t *is)
{
	bool v4 = v->version == 4;
	unsigned from = v4 ? 12 : 8, n = v4 ? 8 : 32;

	FUZZ_CHECK(is[0] >> 4 == v->version);
	FUZZ_CHECK(memcmp(was + from, is + from, n) == 0);
	if (v4) {
		FUZZ_CHECK(cw_ipv4_length(is) == v->ip_len && cw_ipv4_ihl(is) == 5);
		FUZZ_CHECK(cw_ipv4_id(is) == cw_ipv4_id(was));
		FUZZ_CHECK(cw_ipv4_proto(is) == cw_ipv4_proto(was));
		FUZZ_CHECK(cw_ipv4_checksum(is) == cw_ipv4_compute(is));
		check_ttl(cw_ipv4_ttl(was), cw_ipv4_ttl(is));
	} else {
		FUZZ_CHECK(cw_ipv6_length(is) + CW_SIZE_IPV6 == v->ip_len);
		FUZZ_CHECK(cw_ipv6_flow_label(is) == cw_ipv6_flow_label(was));
		FUZZ_CHECK(cw_ipv6_next_header(is) == cw_ipv6_next_header(was));
		check_ttl(cw_ipv6_hop_limit(was), cw_ipv6_hop_limit(is));
	}
	if (!v->plain) {
		const uint8_t *udp = is + (v4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6);

		/* Inside the UB domain the checksum goes on as it came. */
		FUZZ_CHECK(!crossed || cw_udp_checksum(udp) == 0);
		FUZZ_CHECK(memcmp(udp, was + (udp - is), crossed ? 6 : 8) == 0);
	}
}

static void check_notes(uint32_t notes)
{
	FUZZ_CHECK(notes >> CW_NOTE_COUNT == 0);
}

/* How a packet left; `start` is inside its block. */
struct gone {
	uint8_t *start;
	uint32_t len, notes;
};

/* One packet through check and write. True when it got out. */
static bool pass(const struct cw_ub2e *u, const struct knobs *k, bool from_eth,
		 const struct cw_ub2e_hop *hop, struct shot *x, struct gone *out)
{
	struct cw_ub2e_view v;
	enum cw_drop d;
	uint32_t ip_off;

	memset(&v, 0xaa, sizeof(v));
	d = from_eth ? cw_ub2e_from_eth(u, &k->in, x->pkt, x->len, &k->tag, &v)
		     : cw_ub2e_from_ub(u, &k->in, x->pkt, x->len, &v);
	FUZZ_CHECK((unsigned)d < CW_DROP_COUNT && untouched(x));
	if (d != CW_PASS)
		return false;
	ip_off = (uint32_t)(v.ip - x->pkt);
	FUZZ_CHECK(v.ip >= x->pkt && ip_off <= x->len && v.ip_len <= x->len - ip_off);
	FUZZ_CHECK(v.from == (from_eth ? CW_SIDE_ETH : CW_SIDE_UB));
	d = cw_ub2e_write(u, &v, hop, &out->start, &out->len);
	FUZZ_CHECK((unsigned)d < CW_DROP_COUNT);
	check_notes(v.notes);
	if (d != CW_PASS) {
		FUZZ_CHECK(untouched(x));
		return false;
	}
	out->notes = v.notes;
	FUZZ_CHECK(out->start >= x->block && out->start < v.ip &&
		   out->start + out->len == v.ip + v.ip_len);
	check_ip(&v, v.from != hop->side, x->was + ip_off, v.ip);
	FUZZ_CHECK(memcmp(v.ip + head_of(&v), x->was + ip_off + head_of(&v),
			  v.ip_len - head_of(&v)) == 0);
	return true;
}

/* The same packet in a burst, beside what became of it step by step. */
static void burst(const struct cw_ub2e *u, const struct knobs *k, const struct shot *steps,
		  const struct gone *out)
{
	struct cw_ub2e_adj adj;
	struct cw_ub2e_job job;
	struct shot x;
	uint64_t done;

	load(&x, steps->was, steps->len);
	cw_ub2e_adj_init(&adj, &k->hop);
	job = (struct cw_ub2e_job){.start = x.pkt, .len = x.len, .adj = &adj};
	if (k->from_eth && k->tag.stripped)
		job.tag = CW_UB2E_TAG_STRIPPED | k->tag.tci;
	done = k->from_eth ? cw_ub2e_burst_to_ub(u, &k->in, &job, 1)
			   : cw_ub2e_burst_to_eth(u, &k->in, &job, 1);
	FUZZ_CHECK(done <= 1);
	if (done == 0) {
		FUZZ_CHECK(untouched(&x) && job.start == x.pkt && job.len == x.len);
	} else {
		FUZZ_CHECK(out != NULL && job.start - x.block == out->start - steps->block);
		FUZZ_CHECK(job.len == out->len && job.notes == out->notes);
		FUZZ_CHECK(memcmp(x.block, steps->block, CW_UB2E_HEADROOM + x.len) == 0);
	}
	unload(&x);
}

/* What came out goes in again from the other side, and leaves towards where it came from. */
static void and_back(const struct cw_ub2e *u, struct knobs *k, const struct gone *out)
{
	struct cw_ub2e_hop back = k->hop;
	bool from_eth = k->hop.side == CW_SIDE_ETH;
	struct gone again;
	struct shot x;
	uint32_t skip = !from_eth && !k->hop.bare ? CW_SIZE_ETH : 0;

	k->tag.stripped = false;
	back.side = from_eth ? CW_SIDE_UB : CW_SIDE_ETH;
	load(&x, out->start + skip, out->len - skip);
	(void)pass(u, k, from_eth, &back, &x, &again);
	unload(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_ub2e *u = NULL;
	struct cw_diag diag = {0};
	struct knobs k = {0};
	struct gone out;
	struct shot x;
	bool passed;

	read_settings(&in, &k);
	read_hop(&in, &k);
	if (cw_ub2e_new(&u, &k.s, k.partitions, 0, &diag) != CW_OK) {
		FUZZ_CHECK(u == NULL && diag.path[0] != '\0' && diag.reason[0] != '\0');
		return 0;
	}
	load(&x, in.p, (uint32_t)in.left);
	passed = pass(u, &k, k.from_eth, &k.hop, &x, &out);
	burst(u, &k, &x, passed ? &out : NULL);
	if (passed)
		and_back(u, &k, &out);
	unload(&x);
	cw_ub2e_free(u);
	return 0;
}
