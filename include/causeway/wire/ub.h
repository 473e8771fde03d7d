/* ub.h - UB: link, network, transport and transaction headers; UBoE is the same from TPH on.
 * Spec: UB Base Specification 2.0 (4.3, 5.2, 5.3, 6.2, 7.2, 7.4, annex B), draft-li-uboe-00.
 * Not decoded: what is behind a CIPH (UB 2.0 11.5 gives no widths), and the body of network
 * control and link control packets. The logical packet is meant everywhere: no block headers, no
 * block CRC.
 */
#ifndef CAUSEWAY_WIRE_UB_H
#define CAUSEWAY_WIRE_UB_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Code points ------------------------------------------------------------------------- */

/* LPH.CFG: what follows the link header (UB 2.0 B.1). */
#define CW_UB_CFG_LINK      0 /* link control block, never leaves the link */
#define CW_UB_CFG_IP4       3
#define CW_UB_CFG_IP6       4
#define CW_UB_CFG_NETCTL    5
#define CW_UB_CFG_CNA16     6
#define CW_UB_CFG_CNA24     7
#define CW_UB_CFG_CNA16_MEM 9 /* coherent memory: no TPH, no ICRC */

/* CCI.Mode (UB 2.0 5.3.5.1). */
#define CW_CCI_MODE_CAQM     0
#define CW_CCI_MODE_FECN_RTT 2
#define CW_CCI_MODE_FECN     4

/* FECN; severity grows as NONE < LIGHT < SEVERE, which is not the numeric order. */
#define CW_FECN_UNMARKABLE 0
#define CW_FECN_LIGHT      1
#define CW_FECN_NONE       2
#define CW_FECN_SEVERE     3

/* LPH.RT (draft table 3). */
#define CW_RT_FLOW            0
#define CW_RT_PACKET          1
#define CW_RT_FLOW_SHORTEST   2
#define CW_RT_PACKET_SHORTEST 3

/* TPOpcode (UB 2.0 6.2.1 T6-2). */
#define CW_TP_UTP     0x0
#define CW_TP_RTP     0x1
#define CW_TP_ACK     0x2 /* TPACK, or TPNAK by RSPST and RSPINFO */
#define CW_TP_ACK_CC  0x3
#define CW_TP_SACK    0x5
#define CW_TP_SACK_CC 0x6
#define CW_TP_CNP     0x8

/* NLP of RTPH and UTPH (UB 2.0 6.2.1). */
#define CW_NLP_TAH   0
#define CW_NLP_UPI32 1 /* UPIH and EIDH, then TAH */
#define CW_NLP_UPI16 2 /* compact pair, in CTPH only */
#define CW_NLP_CIPH  3

/* RSPST of RTPH (UB 2.0 6.2.1) and of ATAH (7.2.2). */
#define CW_RSPST_OK         0
#define CW_RSPST_RNR        1
#define CW_RSPST_PAGE_FAULT 2
#define CW_RSPST_ERROR      3
#define CW_RSPST_TA         5 /* RTPH: carries a TA response; ATAH: received, not yet placed */

/* TAOpcode (UB 2.0 7.2.1 T7-1). */
#define CW_TA_SEND         0x00
#define CW_TA_SEND_IMM     0x01
#define CW_TA_WRITE        0x03
#define CW_TA_WRITE_IMM    0x04
#define CW_TA_WRITE_NOTIFY 0x05
#define CW_TA_READ         0x06
#define CW_TA_CAS          0x07
#define CW_TA_SWAP         0x08
#define CW_TA_STORE        0x09
#define CW_TA_LOAD         0x0a
#define CW_TA_FETCH_ADD    0x0b
#define CW_TA_FETCH_SUB    0x0c
#define CW_TA_FETCH_AND    0x0d
#define CW_TA_FETCH_OR     0x0e
#define CW_TA_FETCH_XOR    0x0f
#define CW_TA_MANAGEMENT   0x10
#define CW_TA_ACK          0x11
#define CW_TA_READ_RESP    0x12
#define CW_TA_ATOMIC_RESP  0x13
#define CW_TA_WRITE_BE     0x14
#define CW_TA_PREFETCH     0x15
#define CW_TA_WRITEBACK    0x17
#define CW_TA_WRITEBACK_BE 0x18

/* ---- Link and network headers ------------------------------------------------------------ */

// clang-format off
#define CW_SIZE_LPH 4
#define CW_TABLE_LPH(U, W, B)                                                                      \
	U(lph, crd,         0, 1, FLAG, 0,       none,   "UB 2.0 4.3.2", "credit return is valid") \
	U(lph, ack,         1, 1, FLAG, 0,       none,   "UB 2.0 4.3.2", "acknowledgement")        \
	U(lph, crd_vl,      2, 4, DEC,  0,       none,   "UB 2.0 4.3.2", "virtual lane of the credits") \
	U(lph, reserved1,   6, 1, DEC,  0,       none,   "UB 2.0 4.3.2", "reserved")               \
	U(lph, vl,          7, 4, DEC,  0,       none,   "UB 2.0 4.3.2", "virtual lane")           \
	U(lph, reserved2,  11, 1, DEC,  0,       none,   "UB 2.0 4.3.2", "reserved")               \
	U(lph, cfg,        12, 4, NAME, CW_AUTO, ub_cfg, "UB 2.0 B.1",   "format of what follows") \
	U(lph, rt,         16, 2, NAME, 2,       ub_rt,  "UB 2.0 5.2.3", "routing type")           \
	U(lph, plen_blocks,18, 4, DEC,  CW_AUTO, none,   "UB 2.0 4.3.2", "PLENGTH[13:10]: blocks - 1") \
	U(lph, plen_flits, 22, 5, DEC,  CW_AUTO, none,   "UB 2.0 4.3.2", "PLENGTH[9:5]: flits of the last block - 1") \
	U(lph, plen_tail,  27, 5, DEC,  CW_AUTO, none,   "UB 2.0 4.3.2", "PLENGTH[4:0]: where the payload ends")

/* Congestion control indicator, by mode; `cci` is what reserved modes get. */
#define CW_SIZE_CCI 2
#define CW_TABLE_CCI(U, W, B)                                                                      \
	U(cci, mode, 0,  3, NAME, 7, cci_mode, "UB 2.0 5.3.5.1", "mode (reserved)")                \
	U(cci, info, 3, 13, HEX,  0, none,     "UB 2.0 5.3.5.1", "undefined in this mode")

#define CW_TABLE_CCI_CAQM(U, W, B)                                                                 \
	U(cci_caqm, mode,     0, 3, NAME, 0, cci_mode, "UB 2.0 5.3.5.1", "mode")                   \
	U(cci_caqm, loc,      3, 1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "marked at the receiver's switch") \
	U(cci_caqm, reserved, 4, 1, DEC,  0, none,     "UB 2.0 5.3.5.1", "reserved")               \
	U(cci_caqm, enable,   5, 1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "switches may mark")      \
	U(cci_caqm, c,        6, 1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "congestion")             \
	U(cci_caqm, i,        7, 1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "increase")               \
	U(cci_caqm, hint,     8, 8, HEX,  0, none,     "UB 2.0 5.3.5.1", "bandwidth hint")

#define CW_TABLE_CCI_FECN_RTT(U, W, B)                                                             \
	U(cci_fecn_rtt, mode,      0,  3, NAME, 2, cci_mode, "UB 2.0 5.3.5.1", "mode")             \
	U(cci_fecn_rtt, loc,       3,  1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "marked at the receiver's switch") \
	U(cci_fecn_rtt, timestamp, 4, 10, HEX,  0, none,     "UB 2.0 5.3.5.1", "timestamp")        \
	U(cci_fecn_rtt, fecn,     14,  2, NAME, 2, ub_fecn,  "UB 2.0 5.3.5.1", "forward congestion notification")

#define CW_TABLE_CCI_FECN(U, W, B)                                                                 \
	U(cci_fecn, mode,     0,  3, NAME, 4, cci_mode, "UB 2.0 5.3.5.1", "mode")                  \
	U(cci_fecn, loc,      3,  1, FLAG, 0, none,     "UB 2.0 5.3.5.1", "marked at the receiver's switch") \
	U(cci_fecn, reserved, 4, 10, HEX,  0, none,     "UB 2.0 5.3.5.1", "reserved")              \
	U(cci_fecn, fecn,    14,  2, NAME, 2, ub_fecn,  "UB 2.0 5.3.5.1", "forward congestion notification")

#define CW_SIZE_NPI 4
#define CW_TABLE_NPI(U, W, B)                                                                      \
	U(npi, reserved,   0,  7, HEX,  0, none,   "UB 2.0 5.2.3", "reserved")                     \
	U(npi, permission, 7,  1, NAME, 0, ub_perm,"draft 5.3",    "privilege in the partition")   \
	U(npi, id,         8, 24, DEC,  1, none,   "draft 5.3",    "partition; 0 is invalid, 1 the default")

#define CW_SIZE_CNA16 8
#define CW_TABLE_CNA16(U, W, B)                                                                    \
	U(cna16, scna,     0, 16, HEX,  0, none,      "UB 2.0 5.2.1", "source compact network address") \
	U(cna16, dcna,    16, 16, HEX,  0, none,      "UB 2.0 5.2.1", "destination compact network address") \
	U(cna16, cci_mode,32,  3, NAME, 4, cci_mode,  "UB 2.0 5.3.5.1", "CCI mode")                \
	U(cna16, cci_info,35, 13, HEX,  2, none,      "UB 2.0 5.3.5.1", "CCI by its mode")         \
	U(cna16, lbf,     48,  8, HEX,  0, none,      "UB 2.0 5.2.1", "load balancing factor")     \
	U(cna16, sl,      56,  4, DEC,  0, none,      "UB 2.0 5.2.1", "service level")             \
	U(cna16, mgmt,    60,  1, FLAG, 0, none,      "UB 2.0 5.2.1", "management packet")         \
	U(cna16, nlp,     61,  3, NAME, CW_AUTO, cna16_nlp, "UB 2.0 5.2.1", "what follows")

#define CW_SIZE_CNA24 10
#define CW_TABLE_CNA24(U, W, B)                                                                    \
	U(cna24, scna,     0, 24, HEX,  0, none,      "UB 2.0 5.2.2", "source compact network address") \
	U(cna24, dcna,    24, 24, HEX,  0, none,      "UB 2.0 5.2.2", "destination compact network address") \
	U(cna24, cci_mode,48,  3, NAME, 4, cci_mode,  "UB 2.0 5.3.5.1", "CCI mode")                \
	U(cna24, cci_info,51, 13, HEX,  2, none,      "UB 2.0 5.3.5.1", "CCI by its mode")         \
	U(cna24, lbf,     64,  8, HEX,  0, none,      "UB 2.0 5.2.2", "load balancing factor")     \
	U(cna24, sl,      72,  4, DEC,  0, none,      "UB 2.0 5.2.2", "service level")             \
	U(cna24, reserved,76,  1, DEC,  0, none,      "UB 2.0 5.2.2", "reserved")                  \
	U(cna24, nlp,     77,  3, NAME, CW_AUTO, cna24_nlp, "UB 2.0 5.2.2", "what follows")

/* Network control, CFG 5: the body is payload. */
#define CW_SIZE_NETCTL 34
#define CW_TABLE_NETCTL(U, W, B)                                                                   \
	U(netctl, protocol,  0,  16, HEX,    0x106, netctl_proto, "UB 2.0 B.2.6", "protocol of the body") \
	B(netctl, dguid,    16, 128, OCTETS, 0,     none,         "UB 2.0 B.2.6", "destination GUID") \
	B(netctl, sguid,   144, 128, OCTETS, 0,     none,         "UB 2.0 B.2.6", "source GUID")

/* Link control block, CFG 0; it stands where an LPH would, and the rest is payload. */
#define CW_SIZE_LCH 4
#define CW_TABLE_LCH(U, W, B)                                                                      \
	U(lch, zero,      0, 1, DEC, 0,       none, "UB 2.0 4.3.2", "0")                           \
	U(lch, clength,   1, 5, DEC, CW_AUTO, none, "UB 2.0 4.3.2", "flits - 1")                   \
	U(lch, fixed,     6, 6, HEX, 0x20,    none, "UB 2.0 4.3.2", "100000b")                     \
	U(lch, cfg,      12, 4, NAME, 0,      ub_cfg, "UB 2.0 B.1", "0")                           \
	U(lch, ctrl,     16, 4, DEC, 2,       none, "UB 2.0 4.3.2", "control type")                \
	U(lch, sub_ctrl, 20, 4, DEC, 4,       none, "UB 2.0 4.3.2", "sub-type")                    \
	U(lch, specific, 24, 8, HEX, 0,       none, "UB 2.0 4.3.2", "by type")

/* ---- Transport headers ------------------------------------------------------------------- */

#define CW_SIZE_RTPH 16
#define CW_TABLE_RTPH(U, W, B)                                                                     \
	U(rtph, last,       0,  1, FLAG, 0,       none,     "UB 2.0 6.2.1", "last packet of the operation (opcode 1)") \
	U(rtph, opcode,     1,  7, NAME, CW_AUTO, tp_op,    "UB 2.0 6.2.1", "TPOpcode")            \
	U(rtph, version,    8,  2, DEC,  0,       none,     "UB 2.0 6.2.1", "TPVer, 0")            \
	U(rtph, padding,   10,  2, DEC,  CW_AUTO, none,     "UB 2.0 6.2.1", "pad octets behind the payload") \
	U(rtph, nlp,       12,  4, NAME, CW_AUTO, tp_nlp,   "UB 2.0 6.2.1", "what follows (opcode 1)") \
	U(rtph, src_tpn,   16, 24, HEX,  0,       none,     "UB 2.0 6.2.1", "source TP number")    \
	U(rtph, dst_tpn,   40, 24, HEX,  0,       none,     "UB 2.0 6.2.1", "destination TP number") \
	U(rtph, a,         64,  1, FLAG, 0,       none,     "UB 2.0 6.2.1", "a response of its own is wanted") \
	U(rtph, f,         65,  1, FLAG, 0,       none,     "UB 2.0 6.2.1", "fake packet, keeps the channel alive") \
	U(rtph, reserved,  66,  6, HEX,  0,       none,     "UB 2.0 6.2.1", "reserved")            \
	U(rtph, psn,       72, 24, DEC,  0,       none,     "UB 2.0 6.2.1", "packet sequence number") \
	U(rtph, rspst,     96,  3, NAME, 0,       tp_rspst, "UB 2.0 6.2.1", "response status")     \
	U(rtph, rspinfo,   99,  5, DEC,  0,       none,     "UB 2.0 6.2.1", "response information") \
	U(rtph, tpmsn,    104, 24, DEC,  0,       none,     "UB 2.0 6.2.1", "operation number")

#define CW_SIZE_UTPH 16
#define CW_TABLE_UTPH(U, W, B)                                                                     \
	U(utph, reserved1,  0,  1, DEC,  0,       none,   "UB 2.0 6.2.1", "reserved")              \
	U(utph, opcode,     1,  7, NAME, 0,       tp_op,  "UB 2.0 6.2.1", "TPOpcode, 0")           \
	U(utph, version,    8,  2, DEC,  0,       none,   "UB 2.0 6.2.1", "TPVer, 0")              \
	U(utph, padding,   10,  2, DEC,  CW_AUTO, none,   "UB 2.0 6.2.1", "pad octets behind the payload") \
	U(utph, nlp,       12,  4, NAME, CW_AUTO, tp_nlp, "UB 2.0 6.2.1", "what follows")          \
	W(utph, reserved2, 16, 48, HEX,  0,       none,   "UB 2.0 6.2.1", "reserved")              \
	W(utph, reserved3, 64, 64, HEX,  0,       none,   "UB 2.0 6.2.1", "reserved")

#define CW_SIZE_CTPH 1
#define CW_TABLE_CTPH(U, W, B)                                                                     \
	U(ctph, opcode,  0, 2, DEC,  0,       none,     "UB 2.0 6.2.1", "opcode")                  \
	U(ctph, padding, 2, 2, DEC,  CW_AUTO, none,     "UB 2.0 6.2.1", "pad octets behind the payload") \
	U(ctph, nlp,     4, 4, NAME, CW_AUTO, ctp_nlp,  "UB 2.0 6.2.1", "what follows")

/* Congestion extended header; which of the first two it is was agreed at TP set-up. */
#define CW_SIZE_CETPH 8
#define CW_TABLE_CETPH_LDCP(U, W, B)                                                               \
	U(cetph_ldcp, ack_seq,  0, 32, DEC, 0, none, "UB 2.0 6.2.2", "received so far, 2-octet units") \
	U(cetph_ldcp, ce_seq,  32, 32, DEC, 0, none, "UB 2.0 6.2.2", "received marked, 2-octet units")

#define CW_TABLE_CETPH_CAQM(U, W, B)                                                               \
	U(cetph_caqm, ack_seq,   0, 32, DEC,  0, none, "UB 2.0 6.2.2", "received so far, 2-octet units") \
	U(cetph_caqm, reserved, 32,  6, HEX,  0, none, "UB 2.0 6.2.2", "reserved")                 \
	U(cetph_caqm, loc,      38,  1, FLAG, 0, none, "UB 2.0 6.2.2", "marked at the receiver's switch") \
	U(cetph_caqm, i,        39,  1, FLAG, 0, none, "UB 2.0 6.2.2", "increase")                 \
	U(cetph_caqm, c,        40,  8, DEC,  0, none, "UB 2.0 6.2.2", "marked packets since the last response") \
	U(cetph_caqm, hint,     48, 16, HEX,  0, none, "UB 2.0 6.2.2", "bandwidth hint")

#define CW_SIZE_CETPH_CNP 16
#define CW_TABLE_CETPH_CNP(U, W, B)                                                                \
	U(cetph_cnp, ecn,        0,  2, NAME, 3, cnp_ecn, "UB 2.0 6.2.2", "severity")              \
	U(cetph_cnp, loc,        2,  1, FLAG, 0, none,    "UB 2.0 6.2.2", "marked at the receiver's switch") \
	W(cetph_cnp, reserved1,  3, 61, HEX,  0, none,    "UB 2.0 6.2.2", "reserved")              \
	W(cetph_cnp, reserved2, 64, 64, HEX,  0, none,    "UB 2.0 6.2.2", "reserved")

/* Selective acknowledgement: the tail is the bitmap, 8 << bitmap_size octets. */
#define CW_SIZE_SAETPH 4
#define CW_TABLE_SAETPH(U, W, B)                                                                   \
	U(saetph, reserved,    0,  5, HEX,  0,       none,      "UB 2.0 6.2.3", "reserved")        \
	U(saetph, bitmap_size, 5,  3, NAME, CW_AUTO, sack_size, "UB 2.0 6.2.3", "size of the bitmap") \
	U(saetph, max_rcv_psn, 8, 24, DEC,  0,       none,      "UB 2.0 6.2.3", "highest PSN received")

#define CW_SIZE_UPIH 4
#define CW_TABLE_UPIH(U, W, B)                                                                     \
	U(upih, reserved, 0,  8, HEX, 0, none, "UB 2.0 B.3", "reserved")                           \
	U(upih, upi,      8, 24, HEX, 0, none, "UB 2.0 B.3", "UB partition identifier")

#define CW_SIZE_UPIH16 2
#define CW_TABLE_UPIH16(U, W, B)                                                                   \
	U(upih16, reserved, 0,  1, DEC, 0, none, "UB 2.0 B.3", "reserved")                         \
	U(upih16, upi,      1, 15, HEX, 0, none, "UB 2.0 B.3", "UB partition identifier")

#define CW_SIZE_EIDH 32
#define CW_TABLE_EIDH(U, W, B)                                                                     \
	B(eidh, seid,   0, 128, IP6, 0, none, "UB 2.0 B.3", "source entity identifier")            \
	B(eidh, deid, 128, 128, IP6, 0, none, "UB 2.0 B.3", "destination entity identifier")

#define CW_SIZE_EIDH40 5
#define CW_TABLE_EIDH40(U, W, B)                                                                   \
	U(eidh40, seid,  0, 20, HEX, 0, none, "UB 2.0 B.3", "source entity identifier")            \
	U(eidh40, deid, 20, 20, HEX, 0, none, "UB 2.0 B.3", "destination entity identifier")

/* ---- Transaction headers ----------------------------------------------------------------- */

#define CW_SIZE_BTAH 8
#define CW_TABLE_BTAH(U, W, B)                                                                     \
	U(btah, opcode,      0,  8, NAME, CW_AUTO, ta_op,   "UB 2.0 7.2.1", "TAOpcode")            \
	U(btah, version,     8,  2, DEC,  0,       none,    "UB 2.0 7.2.1", "TAver, 0")            \
	U(btah, ee_bits,    10,  2, NAME, 1,       ta_ee,   "UB 2.0 7.2.1", "execution environment") \
	U(btah, tv_en,      12,  1, FLAG, CW_AUTO, none,    "UB 2.0 7.2.1", "TVETAH present")      \
	U(btah, poison,     13,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "the data is poisoned") \
	U(btah, reserved1,  14,  1, DEC,  0,       none,    "UB 2.0 7.2.1", "reserved")            \
	U(btah, ud_flag,    15,  1, FLAG, CW_AUTO, none,    "UB 2.0 7.2.1", "UDETAH present")      \
	U(btah, tassn,      16, 16, DEC,  0,       none,    "UB 2.0 7.2.1", "INI_TASSN, sequence number") \
	U(btah, no_taack,   32,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "no TAACK wanted (CTP)") \
	U(btah, odr_compl,  33,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "ODR[2]: completion order") \
	U(btah, odr_exec,   34,  2, NAME, 0,       ta_odr,  "UB 2.0 7.2.1", "ODR[1:0]: execution order") \
	U(btah, mt_en,      36,  1, FLAG, CW_AUTO, none,    "UB 2.0 7.2.1", "MTETAH present")      \
	U(btah, fce,        37,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "completion event wanted") \
	U(btah, retry,      38,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "sent again")          \
	U(btah, alloc,      39,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "allocate (ROT)")      \
	U(btah, reserved2,  40,  1, DEC,  0,       none,    "UB 2.0 7.2.1", "reserved")            \
	U(btah, e_bit,      41,  1, FLAG, 0,       none,    "UB 2.0 7.2.1", "E_bit")               \
	U(btah, rc_type,    42,  2, NAME, 0,       ta_rc,   "UB 2.0 7.2.1", "INI_RC_Type")         \
	U(btah, rc_id,      44, 20, HEX,  0,       none,    "UB 2.0 7.2.1", "INI_RC_ID")

/* First half of a BTAH: transport bypass (CFG 9) only, never UBoE. */
#define CW_SIZE_BTAH_COMPACT 4
#define CW_TABLE_BTAH_COMPACT(U, W, B)                                                             \
	U(btah_compact, opcode,     0,  8, NAME, CW_AUTO, ta_op, "UB 2.0 7.2.1", "TAOpcode")       \
	U(btah_compact, version,    8,  2, DEC,  0,       none,  "UB 2.0 7.2.1", "TAver, 0")       \
	U(btah_compact, ee_bits,   10,  2, NAME, 1,       ta_ee, "UB 2.0 7.2.1", "execution environment") \
	U(btah_compact, tv_en,     12,  1, FLAG, CW_AUTO, none,  "UB 2.0 7.2.1", "TVETAH present") \
	U(btah_compact, poison,    13,  1, FLAG, 0,       none,  "UB 2.0 7.2.1", "the data is poisoned") \
	U(btah_compact, reserved,  14,  1, DEC,  0,       none,  "UB 2.0 7.2.1", "reserved")       \
	U(btah_compact, ud_flag,   15,  1, FLAG, CW_AUTO, none,  "UB 2.0 7.2.1", "UDETAH present") \
	U(btah_compact, tassn,     16, 16, DEC,  0,       none,  "UB 2.0 7.2.1", "INI_TASSN, sequence number")

#define CW_SIZE_ATAH 8
#define CW_TABLE_ATAH(U, W, B)                                                                     \
	U(atah, opcode,     0,  8, NAME, 0x11, ta_op,    "UB 2.0 7.2.2", "TAOpcode")               \
	U(atah, version,    8,  2, DEC,  0,    none,     "UB 2.0 7.2.2", "TAver, 0")               \
	U(atah, reserved1, 10,  2, DEC,  0,    none,     "UB 2.0 7.2.2", "reserved")               \
	U(atah, sv,        12,  1, FLAG, 0,    none,     "UB 2.0 7.2.2", "the next field is an SCID") \
	U(atah, poison,    13,  1, FLAG, 0,    none,     "UB 2.0 7.2.2", "the data is poisoned")   \
	U(atah, reserved2, 14,  2, DEC,  0,    none,     "UB 2.0 7.2.2", "reserved")               \
	U(atah, tassn,     16, 16, DEC,  0,    none,     "UB 2.0 7.2.2", "INI_TASSN, or SCID")     \
	U(atah, rspst,     32,  3, NAME, 0,    ta_rspst, "UB 2.0 7.2.2", "response status")        \
	U(atah, rspinfo,   35,  5, DEC,  0,    none,     "UB 2.0 7.2.2", "response information")   \
	U(atah, reserved3, 40,  2, DEC,  0,    none,     "UB 2.0 7.2.2", "reserved")               \
	U(atah, rc_type,   42,  2, NAME, 0,    ta_rc,    "UB 2.0 7.2.2", "INI_RC_Type")            \
	U(atah, rc_id,     44, 20, HEX,  0,    none,     "UB 2.0 7.2.2", "INI_RC_ID")

#define CW_SIZE_ATAH_COMPACT 4
#define CW_TABLE_ATAH_COMPACT(U, W, B)                                                             \
	U(atah_compact, opcode,    0,  8, NAME, 0x11, ta_op,     "UB 2.0 7.2.2", "TAOpcode")       \
	U(atah_compact, version,   8,  2, DEC,  0,    none,      "UB 2.0 7.2.2", "TAver, 0")       \
	U(atah_compact, status,   10,  2, NAME, 0,    ta_status, "UB 2.0 7.2.2", "status")         \
	U(atah_compact, sv,       12,  1, FLAG, 0,    none,      "UB 2.0 7.2.2", "the next field is an SCID") \
	U(atah_compact, poison,   13,  1, FLAG, 0,    none,      "UB 2.0 7.2.2", "the data is poisoned") \
	U(atah_compact, reserved, 14,  2, DEC,  0,    none,      "UB 2.0 7.2.2", "reserved")       \
	U(atah_compact, tassn,    16, 16, DEC,  0,    none,      "UB 2.0 7.2.2", "INI_TASSN, or SCID")

#define CW_SIZE_UDETAH 4
#define CW_TABLE_UDETAH(U, W, B)                                                                   \
	U(udetah, vendor1, 0,  8, HEX,  0, none,    "UB 2.0 7.4", "vendor's, bits 31:24")          \
	U(udetah, subtype, 8,  4, NAME, 0, ta_atom, "UB 2.0 7.4.2.3", "operation of atomic store and load") \
	U(udetah, vendor2,12, 20, HEX,  0, none,    "UB 2.0 7.4", "vendor's, bits 19:0")

#define CW_SIZE_MAETAH 16
#define CW_TABLE_MAETAH(U, W, B)                                                                   \
	W(maetah, address,    0, 64, HEX, 0, none, "UB 2.0 7.4", "memory address")                 \
	U(maetah, reserved1, 64,  4, HEX, 0, none, "UB 2.0 7.4", "reserved")                       \
	U(maetah, token_id,  68, 20, HEX, 0, none, "UB 2.0 7.4", "token of the memory segment")    \
	U(maetah, reserved2, 88,  8, HEX, 0, none, "UB 2.0 7.4", "reserved")                       \
	U(maetah, length,    96, 32, DEC, 0, none, "UB 2.0 T7-5", "length of the whole transaction segment")

/* Transport bypass only: length is 64 << len octets. */
#define CW_SIZE_MAETAH_COMPACT 12
#define CW_TABLE_MAETAH_COMPACT(U, W, B)                                                           \
	W(maetah_compact, address,   0, 58, HEX,  0, none, "UB 2.0 7.4", "memory address, bits 63:6") \
	U(maetah_compact, affinity, 58,  2, DEC,  0, none, "UB 2.0 7.4", "affinity")               \
	U(maetah_compact, so,       60,  1, FLAG, 0, none, "UB 2.0 7.4", "strong order")           \
	U(maetah_compact, len,      61,  3, DEC,  0, none, "UB 2.0 7.4", "length, 64 << len octets") \
	U(maetah_compact, reserved, 64, 12, HEX,  0, none, "UB 2.0 7.4", "reserved")               \
	U(maetah_compact, token_id, 76, 20, HEX,  0, none, "UB 2.0 7.4", "token of the memory segment")

#define CW_SIZE_MTETAH 4
#define CW_TABLE_MTETAH(U, W, B)                                                                   \
	U(mtetah, hint,      0,  8, HEX,  0, none,  "UB 2.0 7.4", "hint")                          \
	U(mtetah, reserved,  8,  2, DEC,  0, none,  "UB 2.0 7.4", "reserved")                      \
	U(mtetah, tc_type,  10,  2, NAME, 0, ta_tc, "UB 2.0 7.4", "TGT_TC_Type")                   \
	U(mtetah, tc_id,    12, 20, HEX,  0, none,  "UB 2.0 7.4", "TGT_TC_ID")

#define CW_SIZE_TVETAH 4
#define CW_TABLE_TVETAH(U, W, B)                                                                   \
	U(tvetah, token_value, 0, 32, HEX, 0, none, "UB 2.0 7.4", "TokenValue")

#define CW_SIZE_TAIDETAH 4
#define CW_TABLE_TAIDETAH(U, W, B)                                                                 \
	U(taidetah, reserved, 0, 16, HEX, 0, none, "UB 2.0 7.4", "reserved")                       \
	U(taidetah, taid,    16, 16, DEC, 0, none, "UB 2.0 7.4", "transaction identifier")

#define CW_SIZE_OFSTETAH 4
#define CW_TABLE_OFSTETAH(U, W, B)                                                                 \
	U(ofstetah, reserved, 0,  8, HEX, 0, none, "UB 2.0 7.4", "reserved")                       \
	U(ofstetah, offset,   8, 24, DEC, 0, none, "UB 2.0 7.4", "offset in the message, units of 1 KB")

#define CW_SIZE_IMMETAH 16
#define CW_TABLE_IMMETAH(U, W, B)                                                                  \
	W(immetah, imm,          0, 64, HEX, 0, none, "UB 2.0 7.4", "immediate data")              \
	U(immetah, token_value, 64, 32, HEX, 0, none, "UB 2.0 7.4", "TokenValue (Write_imm)")      \
	U(immetah, msg_length,  96, 32, DEC, 0, none, "UB 2.0 7.4", "message length (Write_imm)")

#define CW_SIZE_NTFETAH 24
#define CW_TABLE_NTFETAH(U, W, B)                                                                  \
	W(ntfetah, address,      0, 64, HEX, 0, none, "UB 2.0 7.4", "address of the notification") \
	U(ntfetah, reserved1,   64,  4, HEX, 0, none, "UB 2.0 7.4", "reserved")                    \
	U(ntfetah, token_id,    68, 20, HEX, 0, none, "UB 2.0 7.4", "token of the memory segment") \
	U(ntfetah, reserved2,   88,  8, HEX, 0, none, "UB 2.0 7.4", "reserved")                    \
	U(ntfetah, token_value, 96, 32, HEX, 0, none, "UB 2.0 7.4", "TokenValue")                  \
	W(ntfetah, data,       128, 64, HEX, 0, none, "UB 2.0 7.4", "notification data")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_LPH)
CW_HDR_ACCESSORS(CW_TABLE_CCI)
CW_HDR_ACCESSORS(CW_TABLE_CCI_CAQM)
CW_HDR_ACCESSORS(CW_TABLE_CCI_FECN_RTT)
CW_HDR_ACCESSORS(CW_TABLE_CCI_FECN)
CW_HDR_ACCESSORS(CW_TABLE_NPI)
CW_HDR_ACCESSORS(CW_TABLE_CNA16)
CW_HDR_ACCESSORS(CW_TABLE_CNA24)
CW_HDR_ACCESSORS(CW_TABLE_NETCTL)
CW_HDR_ACCESSORS(CW_TABLE_LCH)
CW_HDR_ACCESSORS(CW_TABLE_RTPH)
CW_HDR_ACCESSORS(CW_TABLE_UTPH)
CW_HDR_ACCESSORS(CW_TABLE_CTPH)
CW_HDR_ACCESSORS(CW_TABLE_CETPH_LDCP)
CW_HDR_ACCESSORS(CW_TABLE_CETPH_CAQM)
CW_HDR_ACCESSORS(CW_TABLE_CETPH_CNP)
CW_HDR_ACCESSORS(CW_TABLE_SAETPH)
CW_HDR_ACCESSORS(CW_TABLE_UPIH)
CW_HDR_ACCESSORS(CW_TABLE_UPIH16)
CW_HDR_ACCESSORS(CW_TABLE_EIDH)
CW_HDR_ACCESSORS(CW_TABLE_EIDH40)
CW_HDR_ACCESSORS(CW_TABLE_BTAH)
CW_HDR_ACCESSORS(CW_TABLE_BTAH_COMPACT)
CW_HDR_ACCESSORS(CW_TABLE_ATAH)
CW_HDR_ACCESSORS(CW_TABLE_ATAH_COMPACT)
CW_HDR_ACCESSORS(CW_TABLE_UDETAH)
CW_HDR_ACCESSORS(CW_TABLE_MAETAH)
CW_HDR_ACCESSORS(CW_TABLE_MAETAH_COMPACT)
CW_HDR_ACCESSORS(CW_TABLE_MTETAH)
CW_HDR_ACCESSORS(CW_TABLE_TVETAH)
CW_HDR_ACCESSORS(CW_TABLE_TAIDETAH)
CW_HDR_ACCESSORS(CW_TABLE_OFSTETAH)
CW_HDR_ACCESSORS(CW_TABLE_IMMETAH)
CW_HDR_ACCESSORS(CW_TABLE_NTFETAH)

extern const struct cw_hdr cw_hdr_lph, cw_hdr_cci, cw_hdr_cci_caqm, cw_hdr_cci_fecn_rtt,
	cw_hdr_cci_fecn, cw_hdr_npi, cw_hdr_cna16, cw_hdr_cna24, cw_hdr_netctl, cw_hdr_lch;
extern const struct cw_hdr cw_hdr_rtph, cw_hdr_utph, cw_hdr_ctph, cw_hdr_cetph_ldcp,
	cw_hdr_cetph_caqm, cw_hdr_cetph_cnp, cw_hdr_saetph, cw_hdr_upih, cw_hdr_upih16, cw_hdr_eidh,
	cw_hdr_eidh40, cw_hdr_ciph;
extern const struct cw_hdr cw_hdr_btah, cw_hdr_btah_compact, cw_hdr_atah, cw_hdr_atah_compact,
	cw_hdr_udetah, cw_hdr_maetah, cw_hdr_maetah_compact, cw_hdr_mtetah, cw_hdr_tvetah,
	cw_hdr_taidetah, cw_hdr_ofstetah, cw_hdr_immetah, cw_hdr_ntfetah, cw_hdr_beetah,
	cw_hdr_mgmtetah;
extern const struct cw_name cw_names_ub_cfg[], cw_names_ub_rt[], cw_names_cci_mode[],
	cw_names_ub_fecn[], cw_names_ub_perm[], cw_names_cna16_nlp[], cw_names_cna24_nlp[],
	cw_names_netctl_proto[];
extern const struct cw_name cw_names_tp_op[], cw_names_tp_nlp[], cw_names_ctp_nlp[],
	cw_names_tp_rspst[], cw_names_cnp_ecn[], cw_names_sack_size[];
extern const struct cw_name cw_names_ta_op[], cw_names_ta_ee[], cw_names_ta_odr[], cw_names_ta_rc[],
	cw_names_ta_rspst[], cw_names_ta_status[], cw_names_ta_tc[], cw_names_ta_atom[];

/* ---- PLENGTH (UB 2.0 4.3.2) --------------------------------------------------------------- */

/* How the link protects its blocks of up to 32 flits of 20 octets: each block ends in a 4-octet
 * CRC, or on links without it in a 1-octet END mark. (UB 2.0 does not say in so many words that
 * every block has an END; its ERROR_FLAG has a meaning a block.) */
enum cw_plength_mode { CW_PLENGTH_CRC, CW_PLENGTH_PLAIN };

#define CW_PLENGTH_MAX_CRC   10142 /* octets behind the LPH, 16 blocks */
#define CW_PLENGTH_MAX_PLAIN 10190

/* The 14-bit PLENGTH of a packet with `octets` octets behind its LPH. CW_E_RANGE. */
int cw_plength_encode(enum cw_plength_mode mode, uint32_t octets, uint16_t *plength);

/* The octets behind the LPH that a PLENGTH means. CW_E_RESERVED for combinations that no packet
 * has. */
int cw_plength_decode(enum cw_plength_mode mode, uint16_t plength, uint32_t *octets);

/* PLENGTH of the LPH at p as one number, and back. */
CW_INLINE uint16_t cw_lph_plength(const uint8_t *p)
{
	return (uint16_t)cw_bits_get(p, 18, 14);
}

CW_INLINE void cw_lph_set_plength(uint8_t *p, uint16_t v)
{
	cw_bits_set(p, 18, 14, v);
}

/* ---- Block CRC (UB 2.0 4.7.2) -------------------------------------------------------------- */

/* What the CRC covers: the text read literally includes the two bits in front of the CRC field;
 * another implementation stops at the octet boundary. */
enum cw_bcrc_cover { CW_BCRC_LITERAL, CW_BCRC_OCTETS };

/* The 32-bit word (big-endian on the wire) that ends a block: reserved 0, ERROR_FLAG, CRC-30 of the
 * `len` octets of the block in front of it. */
uint32_t cw_bcrc_word(const void *block, size_t len, bool error_flag, enum cw_bcrc_cover cover);

/* ---- SACK bitmap (UB 2.0 6.2.3) ------------------------------------------------------------ */

/* Octets of the bitmap of a SAETPH, 0 for the reserved sizes 5..7. */
CW_INLINE uint32_t cw_saetph_octets(uint32_t bitmap_size)
{
	return bitmap_size <= 4 ? 8u << bitmap_size : 0;
}

/* Bit k of a bitmap of `octets` octets: PSN RTPH.PSN + k was received. The order of the bits is
 * not in the text; the default is bit k in octet k / 8, least significant bit first; `big_endian`
 * reads the bitmap as one big-endian number. k must be less than 8 * octets. */
CW_INLINE bool cw_saetph_bit(const uint8_t *bitmap, uint32_t octets, uint32_t k, bool big_endian)
{
	uint32_t at = big_endian ? octets - 1 - k / 8 : k / 8;

	return (bitmap[at] >> k % 8 & 1) != 0;
}

CW_INLINE void cw_saetph_set_bit(uint8_t *bitmap, uint32_t octets, uint32_t k, bool big_endian)
{
	uint32_t at = big_endian ? octets - 1 - k / 8 : k / 8;

	bitmap[at] = (uint8_t)(bitmap[at] | 1u << k % 8);
}

/* ---- Which packets are UB's ---------------------------------------------------------------- */

/* May a UDP payload on UB's port that begins with this octet be UB? (Last and TPOpcode of the
 * defined packets.) Other transports share the port. */
CW_INLINE bool cw_ub_first_octet(uint8_t o)
{
	return o == 0x81 || (o <= 0x08 && o != 0x04 && o != 0x07);
}

/* Is this TAOpcode answered with an ATAH (else it has a BTAH)? */
CW_INLINE bool cw_ta_is_response(uint32_t opcode)
{
	return opcode >= CW_TA_ACK && opcode <= CW_TA_ATOMIC_RESP;
}

#ifdef __cplusplus
}
#endif
#endif
