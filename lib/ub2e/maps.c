/* maps.c - congestion marks, priorities and partitions, compiled to tables.
 * Spec: draft-li-uboe-00 5.2, 5.2.1, 5.3.
 */
#include <stdio.h>
#include <stdlib.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "lib/ub2e/internal.h"

/* FECN and ECN values (draft table 5). */
enum { NOT_ECT = 0, ECT1 = 1, ECT0 = 2, CE = 3 };
enum { UNMARKABLE = 0, LIGHT = 1, MARKABLE = 2, SEVERE = 3 };

#define CCI_LOC 0x1000u

static uint8_t fecn_to_ecn(const struct cw_ub2e_settings *s, unsigned fecn)
{
	if (s->strict_ecn || fecn == UNMARKABLE || fecn == SEVERE)
		return (uint8_t)fecn;
	if (fecn == LIGHT && s->light_to_ce)
		return CE;
	return s->ect;
}

static uint8_t ecn_to_fecn(const struct cw_ub2e_settings *s, unsigned ecn)
{
	if (s->strict_ecn || ecn == NOT_ECT)
		return (uint8_t)ecn;
	return ecn == CE ? s->ce_to_fecn : MARKABLE;
}

static void build_out(struct cw_ub2e *u, unsigned i)
{
	unsigned fecn = i & 3, dscp = u->s.dscp_out[i >> 2], ecn = fecn_to_ecn(&u->s, fecn);
	bool lost = fecn == LIGHT && ecn == CE;

	u->out[0][i].tos = (uint8_t)(dscp << 2 | ecn);
	u->out[0][i].notes = lost ? UB2E_NOTE(LIGHT_TO_CE) : 0;
	u->out[1][i].tos = (uint8_t)(dscp << 2 | fecn);
	u->out[0][i].pcp = u->out[1][i].pcp = u->s.pcp[dscp];
}

static void build_in(struct cw_ub2e *u, unsigned i)
{
	unsigned ecn = i & 3, dscp = u->s.dscp_in[i >> 2];

	/* The ECN bits have no meaning in a UB domain; zero can't contradict CCI later. An IP
	 * stack above a UB link copies CCI to them anyway. */
	u->in[0][i].tos = (uint8_t)(dscp << 2);
	u->in[0][i].cci = (uint16_t)(UB2E_FECN_MODE | ecn_to_fecn(&u->s, ecn));
	u->in[1][i].tos = (uint8_t)(dscp << 2 | ecn);
	u->in[1][i].cci = (uint16_t)(UB2E_FECN_MODE | ecn);
	u->in[0][i].vl = u->in[1][i].vl = u->s.vl[dscp];
}

void ub2e_build_tos(struct cw_ub2e *u)
{
	unsigned i;

	for (i = 0; i < 256; i++) {
		build_out(u, i);
		build_in(u, i);
	}
}

void ub2e_build_cci(struct cw_ub2e *u)
{
	const struct ub2e_cci_rule fecn = {.fecn_mask = 3, .loc_mask = CCI_LOC};
	const struct ub2e_cci_rule drop = {.cross = CW_DROP_CCI_MODE};
	const struct ub2e_cci_rule not_ect = {.notes = 1u << CW_NOTE_CCI_NOT_ECT};
	unsigned mode;

	for (mode = 0; mode < UB2E_CCI_MODES; mode++)
		u->cci[mode] = u->s.cci_policy == CW_CCI_DROP ? drop : not_ect;
	u->cci[4] = fecn;
	if (u->s.fecn_rtt_as_fecn) {
		u->cci[2] = fecn;
		u->cci[2].notes = 1u << CW_NOTE_RTT_AS_FECN;
	}
}

static void build_len(struct cw_ub2e *u, uint32_t ip_len)
{
	uint16_t plength;

	if (ip_len < CW_SIZE_IPV4)
		return; /* none is so short */
	u->ipv4[ip_len] = UB2E_WIRE64(0x4500000000004000 | (uint64_t)ip_len << 32);
	u->udp[ip_len] = UB2E_WIRE64((uint64_t)u->s.udp_port << 48 |
				     (uint64_t)(ip_len - CW_SIZE_IPV4) << 32);
	if (cw_plength_encode(CW_PLENGTH_CRC, CW_UB_PREFIX - CW_SIZE_LPH + ip_len, &plength) == 0)
		u->front[ip_len] = UB2E_WIRE64((uint64_t)CW_ETHERTYPE_UB << 48 |
					       (uint64_t)CW_UB_CFG_IP4 << 32 |
					       (uint64_t)plength << 16 | UB2E_FECN_MODE);
}

/* RFC 1624: ~m + m' for the ToS and the TTL octet. */
static uint16_t sum_of_change(const struct cw_ub2e *u, uint32_t from, uint32_t to)
{
	return UB2E_WIRE16((uint16_t)~cw_inet_fold(2 * 0xffffu + to - from - (u->hop << 8)));
}

static void build_fast_tos(struct cw_ub2e *u, unsigned tos)
{
	const struct ub2e_tos_in *in = &u->in[0][tos];
	const struct ub2e_tos_out *out;
	unsigned fecn;

	for (fecn = 0; fecn < 4; fecn++) {
		out = &u->out[0][(tos & 0xfc) | fecn];
		u->fast_out[tos][fecn] =
			(struct ub2e_fast_out){.tag = UB2E_WIRE32((uint32_t)out->pcp << 29),
					       .sum = sum_of_change(u, tos, out->tos),
					       .tos = out->tos,
					       .light = out->notes != 0};
	}
	u->fast_in[tos] = (struct ub2e_fast_in){
		.front = UB2E_WIRE64((uint64_t)in->vl << 37 | (uint64_t)u->s.rt << 30 | in->cci),
		.sum = sum_of_change(u, tos, in->tos),
		.tos = in->tos};
}

/* Version and the upper bits of the opcode; of data, NLP too. */
#define TP_MASK   UB2E_WIRE64(0xffffffffffff70c0)
#define DATA_MASK UB2E_WIRE64(0xffffffffffff70cf)

/* The opcodes of ordinary packets. The others are reserved, or have a length of their own. */
static void build_transport(struct cw_ub2e *u)
{
	static const struct {
		uint8_t opcode;
		uint64_t mask;
		uint32_t min;
	} rules[] = {
		{CW_TP_UTP, DATA_MASK, 20 + 8 + 16 + 8 + 3 + 4},
		{CW_TP_RTP, DATA_MASK, 20 + 8 + 16 + 8 + 3 + 4},
		{CW_TP_ACK, TP_MASK, 20 + 8 + 16 + 4},
		{CW_TP_ACK_CC, TP_MASK, 20 + 8 + 16 + 8 + 4},
		{CW_TP_CNP, TP_MASK, 20 + 8 + 16 + 16 + 4},
	};
	unsigned i;

	memset(u->tp_min, 0xff, sizeof(u->tp_min)); /* no packet is so long */
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		u->tp_mask[rules[i].opcode] = rules[i].mask;
		u->tp_min[rules[i].opcode] = rules[i].min;
	}
}

/* Not whatever follows: "this" network, loopback, 169 for the link-local 169.254, multicast and
 * what is above. */
static void build_odd_ipv4(struct cw_ub2e *u)
{
	u->odd_ipv4[0] = u->odd_ipv4[127] = u->odd_ipv4[169] = 1;
	memset(u->odd_ipv4 + 224, 1, 256 - 224);
}

void ub2e_build_fast(struct cw_ub2e *u)
{
	uint32_t i, npi;

	u->ttl_min = u->s.ttl_decrement ? 2 : 0;
	u->hop = u->s.ttl_decrement;
	build_odd_ipv4(u);
	build_transport(u);
	for (i = 0; i < 256; i++)
		build_fast_tos(u, i);
	for (i = 0; i <= UB2E_IP_MAX; i++)
		build_len(u, i);
	for (i = 0; i < UB2E_VLANS; i++)
		u->direct[i].npi = UINT32_MAX; /* none has it */
	for (i = 1; i <= UB2E_VID_MAX; i++) {
		npi = u->owner[i] != UB2E_NO_OWNER ? u->owner[i] : i;
		if ((npi & 0xfff) == i && ub2e_vid_of(u, npi) == (int)i)
			u->direct[i] = (struct ub2e_direct){
				UB2E_WIRE32(npi), UB2E_WIRE32(i << 16 | CW_ETHERTYPE_IP4)};
	}
}

/* ---- Partitions ---------------------------------------------------------------------------- */

static void slot_insert(struct cw_ub2e *u, const struct cw_npi_entry *e)
{
	uint32_t mask = (1u << (32 - u->slot_shift)) - 1, i = e->id * 0x9e3779b1u >> u->slot_shift;

	while (u->slots[i].id != 0)
		i = (i + 1) & mask;
	u->slots[i].id = e->id;
	u->slots[i].vid[0] = e->vid;
	u->slots[i].vid[1] = u->s.npi_mode == CW_NPI_ENHANCED ? e->vid_low : e->vid;
}

static int alloc_slots(struct cw_ub2e *u, struct cw_diag *diag)
{
	unsigned bits = 2;

	while (1u << bits < 4 * u->s.nnpi)
		bits++;
	u->slot_shift = 32 - bits;
	u->slots = calloc((size_t)1 << bits, sizeof(*u->slots));
	if (u->slots == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	return CW_OK;
}

/* Give a VLAN to a table entry's partition. */
static int claim_vid(struct cw_ub2e *u, const char *leaf, uint16_t vid, uint32_t npi,
		     struct cw_diag *diag)
{
	char path[48], value[16];
	uint32_t other = vid < UB2E_VLANS ? u->owner[vid] : UB2E_NOBODY;

	if (other == UB2E_NO_OWNER) {
		u->owner[vid] = npi & CW_NPI_ID_MASK;
		u->vid_npi[vid] = npi;
		return CW_OK;
	}
	(void)snprintf(path, sizeof(path), "npi/map[id='%u']/%s", npi & CW_NPI_ID_MASK, leaf);
	(void)snprintf(value, sizeof(value), "%u", vid);
	if (other == UB2E_NOBODY)
		return cw_diag_set(diag, CW_E_RANGE, path, value,
				   "partition 0x%06x: VLAN %u can't be used, 1..4094 can",
				   npi & CW_NPI_ID_MASK, vid);
	if (other == (npi & CW_NPI_ID_MASK))
		return cw_diag_set(diag, CW_E_CONFLICT, path, value,
				   "VLAN %u is given to both Permissions of partition 0x%06x", vid,
				   other);
	return cw_diag_set(diag, CW_E_CONFLICT, path, value,
			   "VLAN %u is given to partition 0x%06x and to partition 0x%06x", vid,
			   other, npi & CW_NPI_ID_MASK);
}

static int add_entry(struct cw_ub2e *u, const struct cw_npi_entry *e, struct cw_diag *diag)
{
	const struct ub2e_slot *twin;
	char path[48], value[16];
	int err;

	(void)snprintf(path, sizeof(path), "npi/map[id='%u']", e->id);
	(void)snprintf(value, sizeof(value), "0x%06x", e->id);
	if (e->id == 0 || e->id > CW_NPI_ID_MASK)
		return cw_diag_set(diag, CW_E_RANGE, path, value,
				   "a partition ID is 1..0xffffff (draft-li-uboe-00 5.3)");
	if ((twin = ub2e_slot_find(u, e->id)) != NULL)
		return cw_diag_set(diag, CW_E_CONFLICT, path, value,
				   "partition 0x%06x is given VLAN %u and VLAN %u", e->id,
				   twin->vid[0], e->vid);
	if ((err = claim_vid(u, "vid", e->vid, e->id, diag)) < 0)
		return err;
	if (u->s.npi_mode == CW_NPI_ENHANCED &&
	    (err = claim_vid(u, "vid-low", e->vid_low, e->id | CW_NPI_PERM, diag)) < 0)
		return err;
	slot_insert(u, e);
	return CW_OK;
}

/* A partition that the configuration speaks of and that goes by its low 12 bits. */
static int add_partition(struct cw_ub2e *u, uint32_t id, struct cw_diag *diag)
{
	uint32_t vid = id & 0xfff, other = u->owner[vid];
	char path[48], value[16];

	(void)snprintf(path, sizeof(path), "npi/partition[.='%u']", id);
	(void)snprintf(value, sizeof(value), "0x%06x", id);
	if (id == 0 || id > CW_NPI_ID_MASK)
		return cw_diag_set(diag, CW_E_RANGE, path, value,
				   "a partition ID is 1..0xffffff (draft-li-uboe-00 5.3)");
	if (u->s.npi_mode != CW_NPI_LOW12 || other == id ||
	    (u->slots != NULL && ub2e_slot_find(u, id) != NULL))
		return CW_OK;
	if (other == UB2E_NOBODY)
		return cw_diag_set(diag, CW_E_RANGE, path, value,
				   "the low 12 bits of partition 0x%06x give VLAN %u, which can't "
				   "be used; give it a VLAN in ub2e/npi/map",
				   id, vid);
	if (other != UB2E_NO_OWNER)
		return cw_diag_set(diag, CW_E_CONFLICT, path, value,
				   "partition 0x%06x and partition 0x%06x share VLAN %u when cut "
				   "to 12 bits (draft-li-uboe-00 5.3); give one of them a VLAN in "
				   "ub2e/npi/map",
				   other, id, vid);
	u->owner[vid] = id;
	return CW_OK;
}

/* VLANs without a table entry: upper bits and Permission 0 (draft 5.3), unless the table moved
 * the partition of that number to another VLAN. */
static void fill_low12(struct cw_ub2e *u)
{
	uint32_t vid;

	for (vid = 1; vid <= UB2E_VID_MAX; vid++) {
		if (u->vid_npi[vid] == 0 && (u->slots == NULL || ub2e_slot_find(u, vid) == NULL))
			u->vid_npi[vid] = vid;
	}
}

int ub2e_build_npi(struct cw_ub2e *u, const uint32_t *partitions, unsigned n, struct cw_diag *diag)
{
	unsigned i;
	int err;

	u->owner[0] = u->owner[UB2E_VLANS - 1] = UB2E_NOBODY;
	if (u->s.nnpi > 0 && (err = alloc_slots(u, diag)) < 0)
		return err;
	for (i = 0; i < u->s.nnpi; i++) {
		if ((err = add_entry(u, &u->npi[i], diag)) < 0)
			return err;
	}
	for (i = 0; i < n; i++) {
		if ((err = add_partition(u, partitions[i], diag)) < 0)
			return err;
	}
	if (u->s.npi_mode == CW_NPI_LOW12)
		fill_low12(u);
	return CW_OK;
}

bool ub2e_filter_lookup(const struct cw_npi_filter *f, uint32_t id)
{
	const uint32_t *base = f->ids;
	unsigned n = f->n, half;

	for (; n > 1; n -= half) {
		half = n / 2;
		base += base[half] <= id ? half : 0;
	}
	return *base == id;
}

/* ---- The single mappings -------------------------------------------------------------------- */

uint8_t cw_ub2e_fecn_to_ecn(const struct cw_ub2e *u, uint8_t fecn)
{
	return fecn_to_ecn(&u->s, fecn & 3);
}

uint8_t cw_ub2e_ecn_to_fecn(const struct cw_ub2e *u, uint8_t ecn)
{
	return ecn_to_fecn(&u->s, ecn & 3);
}

int cw_ub2e_npi_to_vid(const struct cw_ub2e *u, uint32_t npi)
{
	return (npi & CW_NPI_ID_MASK) != 0 ? ub2e_vid_of(u, npi) : -1;
}

uint32_t cw_ub2e_vid_to_npi(const struct cw_ub2e *u, uint16_t vid)
{
	return vid < UB2E_VLANS ? u->vid_npi[vid] : 0;
}

uint8_t cw_ub2e_dscp_to_pcp(const struct cw_ub2e *u, unsigned dscp)
{
	return u->s.pcp[dscp & 63];
}
