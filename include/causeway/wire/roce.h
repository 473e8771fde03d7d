/* roce.h - RoCEv2: InfiniBand transport headers over UDP.
 * Spec: IBTA Architecture Volume 1 release 1.7, chapter 9; annex A17 (RoCEv2); CNP: A17.9.
 * Deviations: reserved bits are shown, never judged (NICs in the field set them). RD is named but
 * its RDETH is not followed.
 */
#ifndef CAUSEWAY_WIRE_ROCE_H
#define CAUSEWAY_WIRE_ROCE_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_ROCE_PORT 4791

/* The three transport bits on top of a BTH opcode, and single opcodes that code needs by name. */
#define CW_BTH_RC  0x00
#define CW_BTH_UC  0x20
#define CW_BTH_RD  0x40
#define CW_BTH_UD  0x60
#define CW_BTH_XRC 0xa0

#define CW_BTH_CNP       0x81
#define CW_BTH_UD_SEND   0x64
#define CW_BTH_RC_ACK    0x11
#define CW_BTH_OP(op)    ((op)&0x1fu)
#define CW_BTH_CLASS(op) ((op)&0xe0u)

/* Low five bits of an opcode. */
enum cw_bth_op {
	CW_OP_SEND_FIRST = 0x00,
	CW_OP_SEND_MIDDLE,
	CW_OP_SEND_LAST,
	CW_OP_SEND_LAST_IMM,
	CW_OP_SEND_ONLY,
	CW_OP_SEND_ONLY_IMM,
	CW_OP_WRITE_FIRST,
	CW_OP_WRITE_MIDDLE,
	CW_OP_WRITE_LAST,
	CW_OP_WRITE_LAST_IMM,
	CW_OP_WRITE_ONLY,
	CW_OP_WRITE_ONLY_IMM,
	CW_OP_READ_REQUEST,
	CW_OP_READ_RESP_FIRST,
	CW_OP_READ_RESP_MIDDLE,
	CW_OP_READ_RESP_LAST,
	CW_OP_READ_RESP_ONLY,
	CW_OP_ACK,
	CW_OP_ATOMIC_ACK,
	CW_OP_CMP_SWAP,
	CW_OP_FETCH_ADD,
	CW_OP_SEND_LAST_INV = 0x16,
	CW_OP_SEND_ONLY_INV,
	CW_OP_FLUSH = 0x1c,
	CW_OP_ATOMIC_WRITE,
};

/* AETH syndrome, bits 6:5: what kind of acknowledgement. */
enum cw_aeth_kind { CW_AETH_ACK = 0, CW_AETH_RNR = 1, CW_AETH_RESERVED = 2, CW_AETH_NAK = 3 };

// clang-format off
#define CW_SIZE_BTH 12
#define CW_TABLE_BTH(U, W, B)                                                                      \
	U(bth, opcode,     0,  8, NAME, CW_AUTO, bth_opcode, "IBTA 9.2.1",  "transport and operation") \
	U(bth, se,         8,  1, FLAG, 0,       none,       "IBTA 9.2.3",  "solicited event")     \
	U(bth, migreq,     9,  1, FLAG, 0,       none,       "IBTA 9.2.4",  "migration state")     \
	U(bth, padcnt,    10,  2, DEC,  CW_AUTO, none,       "IBTA 9.2.5",  "pad octets behind the payload") \
	U(bth, tver,      12,  4, DEC,  0,       none,       "IBTA 9.2.6",  "transport header version, 0") \
	U(bth, pkey,      16, 16, HEX,  0xffff,  none,       "IBTA 9.2.7",  "partition key; bit 15 = full member") \
	U(bth, fecn,      32,  1, FLAG, 0,       none,       "IBTA 9.2.8",  "forward congestion")  \
	U(bth, becn,      33,  1, FLAG, 0,       none,       "IBTA 9.2.8",  "backward congestion") \
	U(bth, reserved1, 34,  6, HEX,  0,       none,       "IBTA 9.2.8",  "outside the ICRC")    \
	U(bth, dqpn,      40, 24, HEX,  0,       none,       "IBTA 9.2.9",  "destination queue pair") \
	U(bth, ackreq,    64,  1, FLAG, 0,       none,       "IBTA 9.2.10", "acknowledge request") \
	U(bth, reserved2, 65,  7, HEX,  0,       none,       "IBTA 9.2.10", "inside the ICRC")     \
	U(bth, psn,       72, 24, DEC,  0,       none,       "IBTA 9.2.11", "packet sequence number")

#define CW_SIZE_RDETH 4
#define CW_TABLE_RDETH(U, W, B)                                                                    \
	U(rdeth, reserved1, 0,  8, HEX, 0, none, "IBTA 9.3.1", "reserved")                         \
	U(rdeth, ee,        8, 24, HEX, 0, none, "IBTA 9.3.1", "end-to-end context")

#define CW_SIZE_DETH 8
#define CW_TABLE_DETH(U, W, B)                                                                     \
	U(deth, qkey,       0, 32, HEX, 0, none, "IBTA 9.3.2", "queue key")                        \
	U(deth, reserved1, 32,  8, HEX, 0, none, "IBTA 9.3.2", "reserved")                         \
	U(deth, sqpn,      40, 24, HEX, 0, none, "IBTA 9.3.2", "source queue pair")

#define CW_SIZE_RETH 16
#define CW_TABLE_RETH(U, W, B)                                                                     \
	W(reth, va,      0, 64, HEX, 0, none, "IBTA 9.3.3", "virtual address")                     \
	U(reth, rkey,   64, 32, HEX, 0, none, "IBTA 9.3.3", "remote key")                          \
	U(reth, length, 96, 32, DEC, 0, none, "IBTA 9.3.3", "DMA length, octets")

#define CW_SIZE_ATOMICETH 28
#define CW_TABLE_ATOMICETH(U, W, B)                                                                \
	W(atomiceth, va,      0, 64, HEX, 0, none, "IBTA 9.3.4", "virtual address")                \
	U(atomiceth, rkey,   64, 32, HEX, 0, none, "IBTA 9.3.4", "remote key")                     \
	W(atomiceth, swap,   96, 64, HEX, 0, none, "IBTA 9.3.4", "swap or add data")               \
	W(atomiceth, cmp,   160, 64, HEX, 0, none, "IBTA 9.3.4", "compare data")

#define CW_SIZE_AETH 4
#define CW_TABLE_AETH(U, W, B)                                                                     \
	U(aeth, reserved1, 0,  1, FLAG, 0, none,      "IBTA 9.3.5", "reserved")                    \
	U(aeth, kind,      1,  2, NAME, 0, aeth_kind, "IBTA 9.3.5", "ACK, RNR NAK or NAK")         \
	U(aeth, value,     3,  5, DEC,  0, none,      "IBTA 9.3.5", "credits, RNR timer, or NAK code") \
	U(aeth, msn,       8, 24, DEC,  0, none,      "IBTA 9.3.5", "message sequence number")

#define CW_SIZE_ATOMICACKETH 8
#define CW_TABLE_ATOMICACKETH(U, W, B)                                                             \
	W(atomicacketh, original, 0, 64, HEX, 0, none, "IBTA 9.3.5.3", "data before the operation")

#define CW_SIZE_IMMDT 4
#define CW_TABLE_IMMDT(U, W, B)                                                                    \
	U(immdt, data, 0, 32, HEX, 0, none, "IBTA 9.3.6", "immediate data")

#define CW_SIZE_IETH 4
#define CW_TABLE_IETH(U, W, B)                                                                     \
	U(ieth, rkey, 0, 32, HEX, 0, none, "IBTA 9.3.7", "remote key to invalidate")

#define CW_SIZE_XRCETH 4
#define CW_TABLE_XRCETH(U, W, B)                                                                   \
	U(xrceth, reserved1, 0,  8, HEX, 0, none, "IBTA A14", "reserved")                          \
	U(xrceth, srq,       8, 24, HEX, 0, none, "IBTA A14", "XRC shared receive queue")

#define CW_SIZE_FETH 4
#define CW_TABLE_FETH(U, W, B)                                                                     \
	U(feth, reserved1,   0, 26, HEX, 0, none, "IBTA A19.4.1", "reserved")                      \
	U(feth, selectivity, 26, 2, DEC, 0, none, "IBTA A19.4.1", "0 region, 1 whole QP")          \
	U(feth, placement,  28,  4, DEC, 0, none, "IBTA A19.4.1", "1 visibility, 2 persistence")

/* Body of a CNP behind its BTH. */
#define CW_SIZE_CNP 16
#define CW_TABLE_CNP(U, W, B)                                                                      \
	B(cnp, reserved1, 0, 128, OCTETS, 0, none, "IBTA A17.9.3", "zero")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_BTH)
CW_HDR_ACCESSORS(CW_TABLE_RDETH)
CW_HDR_ACCESSORS(CW_TABLE_DETH)
CW_HDR_ACCESSORS(CW_TABLE_RETH)
CW_HDR_ACCESSORS(CW_TABLE_ATOMICETH)
CW_HDR_ACCESSORS(CW_TABLE_AETH)
CW_HDR_ACCESSORS(CW_TABLE_ATOMICACKETH)
CW_HDR_ACCESSORS(CW_TABLE_IMMDT)
CW_HDR_ACCESSORS(CW_TABLE_IETH)
CW_HDR_ACCESSORS(CW_TABLE_XRCETH)
CW_HDR_ACCESSORS(CW_TABLE_FETH)
CW_HDR_ACCESSORS(CW_TABLE_CNP)

extern const struct cw_hdr cw_hdr_bth, cw_hdr_rdeth, cw_hdr_deth, cw_hdr_reth, cw_hdr_atomiceth,
	cw_hdr_aeth, cw_hdr_atomicacketh, cw_hdr_immdt, cw_hdr_ieth, cw_hdr_xrceth, cw_hdr_feth,
	cw_hdr_cnp;
extern const struct cw_name cw_names_bth_opcode[], cw_names_aeth_kind[];

#define CW_BTH_EXT_MAX 4

/* The extended headers that stand behind a BTH of this opcode (IBTA table 38), in wire order,
 * ended by NULL. Returns their number, or CW_E_RESERVED for an opcode that is not assigned. */
int cw_bth_extensions(uint8_t opcode, const struct cw_hdr *out[CW_BTH_EXT_MAX + 1]);

/* Octets of BTH and the extended headers of an opcode; 0: the opcode is reserved. */
unsigned cw_bth_octets(uint8_t opcode);

#ifdef __cplusplus
}
#endif
#endif
