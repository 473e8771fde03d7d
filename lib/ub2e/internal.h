/* internal.h - what the files of the UB2E converter share. */
#ifndef LIB_UB2E_INTERNAL_H
#define LIB_UB2E_INTERNAL_H

#include "causeway/ub2e.h"
#include "causeway/wire/ub.h"

#define UB2E_VLANS     4096u
#define UB2E_VID_MAX   4094u
#define UB2E_NO_OWNER  0u
#define UB2E_NOBODY    UINT32_MAX /* owner of the VIDs that can't be used */
#define UB2E_CCI_MODES 8u

#define UB2E_NOTE(n) (1u << CW_NOTE_##n)

/* One CCI mode, towards Ethernet (draft 5.2, table 4). */
struct ub2e_cci_rule {
	uint16_t fecn_mask; /* 3 where the FECN bits count, else 0 = Not-ECT */
	uint16_t loc_mask;  /* LoC bit, where it is one that gets lost */
	uint32_t notes;
	enum cw_drop cross;
};

/* Partition ID -> VLANs by Permission; id 0 = free. */
struct ub2e_slot {
	uint32_t id;
	uint16_t vid[2];
};

/* What a ToS octet becomes. Towards Ethernet the index is DSCP << 2 | FECN, else the ToS octet. */
struct ub2e_tos_out {
	uint8_t tos, pcp;
	uint16_t notes;
};
struct ub2e_tos_in {
	uint8_t tos, vl;
	uint16_t cci;
};
_Static_assert(CW_NOTE_COUNT <= 16, "notes outgrew ub2e_tos_out");

/* IP packet that fills the longest UB packet. */
#define UB2E_IP_MAX    (CW_PLENGTH_MAX_CRC - (CW_UB_PREFIX - CW_SIZE_LPH))
#define UB2E_FECN_MODE 0x8000u /* of CCI */

/* A constant as it stands in a header's octets. */
#define UB2E_WIRE16(v) ((uint16_t)CW_SWAP(16, (uint16_t)(v)))
#define UB2E_WIRE32(v) CW_SWAP(32, (uint32_t)(v))
#define UB2E_WIRE64(v) CW_SWAP(64, (uint64_t)(v))

/* What bursts compare with, and write; words are in the order of the wire. */

/* What a ToS octet becomes and what else follows from it. `sum` is what the one's complement of an
 * IPv4 checksum goes up by, for the TTL as well; never 0. */
struct ub2e_fast_out {
	uint32_t tag; /* PCP where it stands in TCI and EtherType */
	uint16_t sum;
	uint8_t tos;
	bool light; /* it has CW_NOTE_LIGHT_TO_CE, the one event that these can have */
};
struct ub2e_fast_in {
	uint64_t front; /* EtherType, LPH, CCI: VL, RT, FECN */
	uint16_t sum;
	uint8_t tos;
};

/* The NPI that its low 12 bits alone lead to, and its tag. */
struct ub2e_direct {
	uint32_t npi; /* UINT32_MAX: there is none */
	uint32_t tag; /* TCI of priority 0 and EtherType of IPv4 */
};

/* What a loop over packets reads is in here, constants too, so that one register leads to it. */
struct cw_ub2e {
	uint8_t ttl_min; /* below: the long way */
	uint8_t hop;     /* what the TTL goes down by */
	/* By the first octet of an address: 0 where it is unicast whatever follows. */
	uint8_t odd_ipv4[256];
	/* By transport opcode: which bits of the eight octets from the UDP destination port on, the
	 * last of them the first two of TPH, are compared with those of `udp`; and the shortest
	 * packet from an IPv4 header to ICRC (of data with the longest padding). */
	uint64_t tp_mask[16];
	uint64_t tp_min[16];
	struct ub2e_fast_out fast_out[256][4]; /* by ToS, FECN */
	struct ub2e_fast_in fast_in[256];      /* by ToS */
	/* [1] is plain TCP/IP: raw ECN copy. */
	struct ub2e_tos_out out[2][256];
	struct ub2e_tos_in in[2][256];
	struct ub2e_cci_rule cci[UB2E_CCI_MODES];
	struct ub2e_slot *slots; /* 1 << (32 - slot_shift) of them; NULL without a table */
	unsigned slot_shift;
	uint32_t vid_npi[UB2E_VLANS]; /* 25 bits, 0 = VLAN has no partition */
	uint32_t owner[UB2E_VLANS];   /* the one Partition ID that may use the VLAN, if declared */
	struct cw_ub2e_settings s;
	struct cw_pin_4792 *pins; /* what s.pins points to */
	struct ub2e_direct direct[UB2E_VLANS];
	/* Of an IPv4 packet, by its length: EtherType, LPH and CCI with CFG, PLENGTH and FECN mode,
	 * 0 where no UB packet is that long; version, IHL, length, DF; and UDP destination port,
	 * length, checksum, and 0. */
	uint64_t front[UB2E_IP_MAX + 1], ipv4[UB2E_IP_MAX + 1], udp[UB2E_IP_MAX + 1];
	struct cw_npi_entry npi[]; /* what s.npi points to */
};

/* maps.c */
void ub2e_build_tos(struct cw_ub2e *u);
void ub2e_build_cci(struct cw_ub2e *u);
void ub2e_build_fast(struct cw_ub2e *u);
int ub2e_build_npi(struct cw_ub2e *u, const uint32_t *partitions, unsigned n, struct cw_diag *diag);
bool ub2e_filter_lookup(const struct cw_npi_filter *f, uint32_t id);

/* Table entry of a partition, or NULL. */
CW_INLINE const struct ub2e_slot *ub2e_slot_find(const struct cw_ub2e *u, uint32_t id)
{
	uint32_t mask = (1u << (32 - u->slot_shift)) - 1, i = id * 0x9e3779b1u >> u->slot_shift;

	/* At most a quarter of the slots is in use, so this ends at once or nearly so. */
	for (; u->slots[i].id != id; i = (i + 1) & mask) {
		if (u->slots[i].id == 0)
			return NULL;
	}
	return &u->slots[i];
}

/* VLAN of a 25-bit NPI, or -1 (draft 5.3). */
CW_INLINE int ub2e_vid_of(const struct cw_ub2e *u, uint32_t npi)
{
	uint32_t id = npi & CW_NPI_ID_MASK, owner;
	const struct ub2e_slot *slot;

	if (u->slots != NULL && (slot = ub2e_slot_find(u, id)) != NULL)
		return slot->vid[npi >> 24 & 1];
	if (u->s.npi_mode != CW_NPI_LOW12)
		return -1;
	owner = u->owner[id & 0xfff];
	return owner == UB2E_NO_OWNER || owner == id ? (int)(id & 0xfff) : -1;
}

CW_INLINE bool ub2e_filter_allows(const struct cw_npi_filter *f, uint32_t npi)
{
	return f == NULL || f->n == 0 || ub2e_filter_lookup(f, npi & CW_NPI_ID_MASK);
}

#endif
