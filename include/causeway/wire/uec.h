/* uec.h - Ultra Ethernet transport as published by the UEC: PDS, SES and TSS headers.
 * Spec: UE Specification 1.0 (UET: PDS, SES, TSS). The layouts are those on which the UEC's
 * reference provider, Wireshark's and XDP2's decoders agree; docs/decisions.md names what rests
 * on one of them only. Over UDP port 4793, or straight over IP (protocol 253) behind an entropy
 * header. Every packet but those of TSS ends in a CRC-32C over IP source address .. last octet,
 * little-endian; it stands where other families have their ICRC.
 * Deviations: reserved bits are shown, never judged. Offsets of sequence numbers are signed 16-bit
 * values, shown in hex; cw_uec_psn() adds them up. What TSS protects is payload.
 */
#ifndef CAUSEWAY_WIRE_UEC_H
#define CAUSEWAY_WIRE_UEC_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_UEC_PORT    4793
#define CW_UEC_IPPROTO 253
#define CW_UEC_CRC_LEN 4

/* Upper 5 bits of the first octet. */
enum cw_pds_type {
	CW_PDS_TSS = 1,
	CW_PDS_RUD,
	CW_PDS_ROD,
	CW_PDS_RUDI,
	CW_PDS_RUDI_RSP,
	CW_PDS_UUD,
	CW_PDS_ACK,
	CW_PDS_ACK_CC,
	CW_PDS_ACK_CCX,
	CW_PDS_NACK,
	CW_PDS_CTRL,
	CW_PDS_NACK_CCX,
	CW_PDS_RUD_CC,
	CW_PDS_ROD_CC,
};

/* Which SES header follows. */
enum cw_pds_next {
	CW_PDS_NEXT_NONE,
	CW_PDS_NEXT_SMALL,
	CW_PDS_NEXT_MEDIUM,
	CW_PDS_NEXT_STD,
	CW_PDS_NEXT_RSP,
	CW_PDS_NEXT_RSP_DATA,
	CW_PDS_NEXT_RSP_SMALL,
};

/* Congestion control state in ACK_CC. */
enum cw_pds_cc { CW_PDS_CC_NSCC, CW_PDS_CC_CREDIT };

// clang-format off
#define CW_SIZE_UEC_ENTROPY 4
#define CW_TABLE_UEC_ENTROPY(U, W, B)                                                              \
	U(uec_entropy, entropy,  0, 16, HEX, 0, none, "UE 1.0 PDS", "for path selection, as a UDP source port") \
	U(uec_entropy, reserved, 16, 16, HEX, 0, none, "UE 1.0 PDS", "reserved")

#define CW_SIZE_UEC_TSS 12
#define CW_TABLE_UEC_TSS(U, W, B)                                                                  \
	U(uec_tss, type,      0,  5, NAME, 1, pds_type, "UE 1.0 TSS", "packet type, 1")            \
	U(uec_tss, sp,        5,  1, FLAG, 0, none, "UE 1.0 TSS", "a source identifier follows")   \
	U(uec_tss, reserved1, 6,  1, FLAG, 0, none, "UE 1.0 TSS", "reserved")                      \
	U(uec_tss, an,        7,  1, FLAG, 0, none, "UE 1.0 TSS", "association number")            \
	U(uec_tss, sdi,       8, 24, HEX,  0, none, "UE 1.0 TSS", "secure domain")                 \
	U(uec_tss, epoch,    32, 16, DEC,  0, none, "UE 1.0 TSS", "epoch")                         \
	W(uec_tss, tsc,      48, 48, DEC,  0, none, "UE 1.0 TSS", "time stamp counter")

#define CW_SIZE_UEC_TSS_SSI 16
#define CW_TABLE_UEC_TSS_SSI(U, W, B)                                                              \
	U(uec_tss_ssi, type,      0,  5, NAME, 1, pds_type, "UE 1.0 TSS", "packet type, 1")        \
	U(uec_tss_ssi, sp,        5,  1, FLAG, 1, none, "UE 1.0 TSS", "a source identifier follows") \
	U(uec_tss_ssi, reserved1, 6,  1, FLAG, 0, none, "UE 1.0 TSS", "reserved")                  \
	U(uec_tss_ssi, an,        7,  1, FLAG, 0, none, "UE 1.0 TSS", "association number")        \
	U(uec_tss_ssi, sdi,       8, 24, HEX,  0, none, "UE 1.0 TSS", "secure domain")             \
	U(uec_tss_ssi, ssi,      32, 32, HEX,  0, none, "UE 1.0 TSS", "secure source")             \
	U(uec_tss_ssi, epoch,    64, 16, DEC,  0, none, "UE 1.0 TSS", "epoch")                     \
	W(uec_tss_ssi, tsc,      80, 48, DEC,  0, none, "UE 1.0 TSS", "time stamp counter")

#define CW_SIZE_UEC_REQ 12
#define CW_TABLE_UEC_REQ(U, W, B)                                                                  \
	U(uec_req, type,         0,  5, NAME, CW_AUTO, pds_type, "UE 1.0 PDS", "packet type")      \
	U(uec_req, next,         5,  4, NAME, CW_AUTO, pds_next, "UE 1.0 PDS", "SES header that follows") \
	U(uec_req, reserved1,    9,  2, HEX,  0, none, "UE 1.0 PDS", "reserved")                   \
	U(uec_req, retx,        11,  1, FLAG, 0, none, "UE 1.0 PDS", "retransmission")             \
	U(uec_req, ar,          12,  1, FLAG, 0, none, "UE 1.0 PDS", "ACK requested")              \
	U(uec_req, syn,         13,  1, FLAG, 0, none, "UE 1.0 PDS", "0 here: the context exists") \
	U(uec_req, reserved2,   14,  2, HEX,  0, none, "UE 1.0 PDS", "reserved")                   \
	U(uec_req, clear_psn_offset, 16, 16, HEX, 0, none, "UE 1.0 PDS", "signed, from psn")       \
	U(uec_req, psn,         32, 32, DEC,  0, none, "UE 1.0 PDS", "packet sequence number")     \
	U(uec_req, spdcid,      64, 16, HEX,  0, none, "UE 1.0 PDS", "source delivery context")    \
	U(uec_req, dpdcid,      80, 16, HEX,  0, none, "UE 1.0 PDS", "destination delivery context")

#define CW_SIZE_UEC_REQ_SYN 12
#define CW_TABLE_UEC_REQ_SYN(U, W, B)                                                              \
	U(uec_req_syn, type,         0,  5, NAME, CW_AUTO, pds_type, "UE 1.0 PDS", "packet type")  \
	U(uec_req_syn, next,         5,  4, NAME, CW_AUTO, pds_next, "UE 1.0 PDS", "SES header that follows") \
	U(uec_req_syn, reserved1,    9,  2, HEX,  0, none, "UE 1.0 PDS", "reserved")               \
	U(uec_req_syn, retx,        11,  1, FLAG, 0, none, "UE 1.0 PDS", "retransmission")         \
	U(uec_req_syn, ar,          12,  1, FLAG, 0, none, "UE 1.0 PDS", "ACK requested")          \
	U(uec_req_syn, syn,         13,  1, FLAG, 1, none, "UE 1.0 PDS", "1 here: sets the context up") \
	U(uec_req_syn, reserved2,   14,  2, HEX,  0, none, "UE 1.0 PDS", "reserved")               \
	U(uec_req_syn, clear_psn_offset, 16, 16, HEX, 0, none, "UE 1.0 PDS", "signed, from psn")   \
	U(uec_req_syn, psn,         32, 32, DEC,  0, none, "UE 1.0 PDS", "packet sequence number") \
	U(uec_req_syn, spdcid,      64, 16, HEX,  0, none, "UE 1.0 PDS", "source delivery context") \
	U(uec_req_syn, reserved3,   80,  3, HEX,  0, none, "UE 1.0 PDS", "reserved")               \
	U(uec_req_syn, use_rsv_pdc, 83,  1, FLAG, 0, none, "UE 1.0 PDS", "use a reserved delivery context") \
	U(uec_req_syn, psn_offset,  84, 12, HEX,  0, none, "UE 1.0 PDS", "of psn from the context's first")

#define CW_SIZE_UEC_REQ_CC 4
#define CW_TABLE_UEC_REQ_CC(U, W, B)                                                               \
	U(uec_req_cc, ccc_id,        0,  8, DEC, 0, none, "UE 1.0 PDS", "congestion control context") \
	U(uec_req_cc, credit_target, 8, 24, DEC, 0, none, "UE 1.0 PDS", "credit that is asked for")

#define CW_SIZE_UEC_RUDI 8
#define CW_TABLE_UEC_RUDI(U, W, B)                                                                 \
	U(uec_rudi, type,      0,  5, NAME, 4, pds_type, "UE 1.0 PDS", "4 request, 5 response")    \
	U(uec_rudi, next,      5,  4, NAME, CW_AUTO, pds_next, "UE 1.0 PDS", "SES header that follows") \
	U(uec_rudi, reserved1, 9,  1, FLAG, 0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_rudi, m,        10,  1, FLAG, 0, none, "UE 1.0 PDS", "response: the request was ECN-marked") \
	U(uec_rudi, retx,     11,  1, FLAG, 0, none, "UE 1.0 PDS", "retransmission")               \
	U(uec_rudi, reserved2, 12, 4, HEX,  0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_rudi, reserved3, 16, 16, HEX, 0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_rudi, pkt_id,   32, 32, HEX,  0, none, "UE 1.0 PDS", "packet identifier")

#define CW_SIZE_UEC_UUD 4
#define CW_TABLE_UEC_UUD(U, W, B)                                                                  \
	U(uec_uud, type,       0,  5, NAME, 6, pds_type, "UE 1.0 PDS", "packet type, 6")           \
	U(uec_uud, next,       5,  4, NAME, CW_AUTO, pds_next, "UE 1.0 PDS", "SES header that follows") \
	U(uec_uud, reserved1,  9,  7, HEX,  0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_uud, reserved2, 16, 16, HEX,  0, none, "UE 1.0 PDS", "reserved")

#define CW_SIZE_UEC_ACK 12
#define CW_TABLE_UEC_ACK(U, W, B)                                                                  \
	U(uec_ack, type,        0,  5, NAME, CW_AUTO, pds_type, "UE 1.0 PDS", "packet type")       \
	U(uec_ack, next,        5,  4, NAME, CW_AUTO, pds_next, "UE 1.0 PDS", "SES header that follows") \
	U(uec_ack, epsn,        9,  1, FLAG, CW_AUTO, none, "UE 1.0 PDS", "an expected PSN follows (closing ACK)") \
	U(uec_ack, m,          10,  1, FLAG, 0, none, "UE 1.0 PDS", "the packet was ECN-marked")   \
	U(uec_ack, retx,       11,  1, FLAG, 0, none, "UE 1.0 PDS", "answers a retransmission")    \
	U(uec_ack, probe,      12,  1, FLAG, 0, none, "UE 1.0 PDS", "answers a probe")             \
	U(uec_ack, request,    13,  2, NAME, 0, pds_ack_req, "UE 1.0 PDS", "what the target asks for") \
	U(uec_ack, reserved1,  15,  1, FLAG, 0, none, "UE 1.0 PDS", "reserved")                    \
	U(uec_ack, ack_psn_offset, 16, 16, HEX, 0, none, "UE 1.0 PDS", "signed, from cack_psn; of a probe: opaque") \
	U(uec_ack, cack_psn,   32, 32, DEC,  0, none, "UE 1.0 PDS", "all up to this PSN arrived")  \
	U(uec_ack, spdcid,     64, 16, HEX,  0, none, "UE 1.0 PDS", "source delivery context")     \
	U(uec_ack, dpdcid,     80, 16, HEX,  0, none, "UE 1.0 PDS", "destination delivery context")

#define CW_SIZE_UEC_ACK_EPSN 4
#define CW_TABLE_UEC_ACK_EPSN(U, W, B)                                                             \
	U(uec_ack_epsn, payload, 0, 32, DEC, 0, none, "UE 1.0 PDS", "expected PSN")

/* Behind uec_ack in ACK_CC and ACK_CCX; a state form follows. */
#define CW_SIZE_UEC_ACK_CC 12
#define CW_TABLE_UEC_ACK_CC(U, W, B)                                                               \
	U(uec_ack_cc, cc_type,  0,  4, NAME, CW_AUTO, pds_cc_type, "UE 1.0 PDS", "form of the state") \
	U(uec_ack_cc, cc_flags, 4,  4, HEX,  0, none, "UE 1.0 PDS", "reserved")                    \
	U(uec_ack_cc, mpr,      8,  8, DEC,  0, none, "UE 1.0 PDS", "maximum PSN range")           \
	U(uec_ack_cc, sack_psn_offset, 16, 16, HEX, 0, none, "UE 1.0 PDS", "signed, from cack_psn") \
	W(uec_ack_cc, sack,    32, 64, HEX,  0, none, "UE 1.0 PDS", "selective acknowledgement bitmap")

#define CW_SIZE_UEC_CC_NSCC 8
#define CW_TABLE_UEC_CC_NSCC(U, W, B)                                                              \
	U(uec_cc_nscc, service_time,  0, 16, DEC,  0, none, "UE 1.0 CMS", "at the receiver")       \
	U(uec_cc_nscc, restore_cwnd, 16,  1, FLAG, 0, none, "UE 1.0 CMS", "restore the window")    \
	U(uec_cc_nscc, rcv_cwnd_pend, 17, 7, DEC,  0, none, "UE 1.0 CMS", "penalty of the receiver's window") \
	U(uec_cc_nscc, rcvd_bytes,   24, 24, DEC,  0, none, "UE 1.0 CMS", "received, 256-octet units") \
	U(uec_cc_nscc, ooo_count,    48, 16, DEC,  0, none, "UE 1.0 CMS", "out-of-order packets")

#define CW_SIZE_UEC_CC_CREDIT 8
#define CW_TABLE_UEC_CC_CREDIT(U, W, B)                                                            \
	U(uec_cc_credit, credit,     0, 24, DEC, 0, none, "UE 1.0 CMS", "credit granted")          \
	U(uec_cc_credit, reserved1, 24,  8, HEX, 0, none, "UE 1.0 CMS", "reserved")                \
	U(uec_cc_credit, reserved2, 32, 16, HEX, 0, none, "UE 1.0 CMS", "reserved")                \
	U(uec_cc_credit, ooo_count, 48, 16, DEC, 0, none, "UE 1.0 CMS", "out-of-order packets")

#define CW_SIZE_UEC_CC_OTHER 8
#define CW_TABLE_UEC_CC_OTHER(U, W, B)                                                             \
	W(uec_cc_other, state, 0, 64, HEX, 0, none, "UE 1.0 PDS", "state of another algorithm")

#define CW_SIZE_UEC_CCX 16
#define CW_TABLE_UEC_CCX(U, W, B)                                                                  \
	W(uec_ccx, state1,  0, 64, HEX, 0, none, "UE 1.0 PDS", "extended congestion control state") \
	W(uec_ccx, state2, 64, 64, HEX, 0, none, "UE 1.0 PDS", "the rest of it")

#define CW_SIZE_UEC_NACK 16
#define CW_TABLE_UEC_NACK(U, W, B)                                                                 \
	U(uec_nack, type,      0,  5, NAME, CW_AUTO, pds_type, "UE 1.0 PDS", "packet type")        \
	U(uec_nack, next,      5,  4, NAME, 0, pds_next, "UE 1.0 PDS", "none")                     \
	U(uec_nack, reserved1, 9,  1, FLAG, 0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_nack, m,        10,  1, FLAG, 0, none, "UE 1.0 PDS", "the packet was ECN-marked")    \
	U(uec_nack, retx,     11,  1, FLAG, 0, none, "UE 1.0 PDS", "answers a retransmission")     \
	U(uec_nack, nt,       12,  1, FLAG, 0, none, "UE 1.0 PDS", "of a RUDI packet")             \
	U(uec_nack, reserved2, 13, 3, HEX,  0, none, "UE 1.0 PDS", "reserved")                     \
	U(uec_nack, code,     16,  8, NAME, 1, pds_nack, "UE 1.0 PDS", "why")                      \
	U(uec_nack, vendor,   24,  8, HEX,  0, none, "UE 1.0 PDS", "vendor code")                  \
	U(uec_nack, psn,      32, 32, DEC,  0, none, "UE 1.0 PDS", "PSN, or packet identifier with nt") \
	U(uec_nack, spdcid,   64, 16, HEX,  0, none, "UE 1.0 PDS", "source delivery context")      \
	U(uec_nack, dpdcid,   80, 16, HEX,  0, none, "UE 1.0 PDS", "destination delivery context") \
	U(uec_nack, payload,  96, 32, HEX,  0, none, "UE 1.0 PDS", "depends on the code")

#define CW_SIZE_UEC_NACK_CCX 16
#define CW_TABLE_UEC_NACK_CCX(U, W, B)                                                             \
	U(uec_nack_ccx, nccx_type, 0,  4, HEX, 0, none, "UE 1.0 PDS", "form of the state")         \
	W(uec_nack_ccx, state1,    4, 60, HEX, 0, none, "UE 1.0 PDS", "extended congestion control state") \
	W(uec_nack_ccx, state2,   64, 64, HEX, 0, none, "UE 1.0 PDS", "the rest of it")

#define CW_SIZE_UEC_CTRL 16
#define CW_TABLE_UEC_CTRL(U, W, B)                                                                 \
	U(uec_ctrl, type,       0,  5, NAME, 11, pds_type, "UE 1.0 PDS", "packet type, 11")        \
	U(uec_ctrl, ctrl,       5,  4, NAME, 0, pds_ctrl, "UE 1.0 PDS", "control type")            \
	U(uec_ctrl, reserved1,  9,  1, FLAG, 0, none, "UE 1.0 PDS", "reserved")                    \
	U(uec_ctrl, isrod,     10,  1, FLAG, 0, none, "UE 1.0 PDS", "of an ordered context")       \
	U(uec_ctrl, retx,      11,  1, FLAG, 0, none, "UE 1.0 PDS", "retransmission")              \
	U(uec_ctrl, ar,        12,  1, FLAG, 0, none, "UE 1.0 PDS", "ACK requested")               \
	U(uec_ctrl, syn,       13,  1, FLAG, 0, none, "UE 1.0 PDS", "sets the context up: dpdcid is then 4 bits of flags and a PSN offset") \
	U(uec_ctrl, reserved2, 14,  2, HEX,  0, none, "UE 1.0 PDS", "reserved")                    \
	U(uec_ctrl, opaque,    16, 16, HEX,  0, none, "UE 1.0 PDS", "of a probe")                  \
	U(uec_ctrl, psn,       32, 32, DEC,  0, none, "UE 1.0 PDS", "packet sequence number")      \
	U(uec_ctrl, spdcid,    64, 16, HEX,  0, none, "UE 1.0 PDS", "source delivery context")     \
	U(uec_ctrl, dpdcid,    80, 16, HEX,  0, none, "UE 1.0 PDS", "destination delivery context") \
	U(uec_ctrl, payload,   96, 32, HEX,  0, none, "UE 1.0 PDS", "depends on the control type")

/* First octets of the SES requests; x is the header. */
#define CW_TABLE_SES_REQ_HEAD(U, x, msg)                                                           \
	U(x, reserved1,  0,  2, HEX,  0, none, "UE 1.0 SES", "reserved")                           \
	U(x, opcode,     2,  6, NAME, 1, ses_opcode, "UE 1.0 SES", "operation")                    \
	U(x, version,    8,  2, DEC,  0, none, "UE 1.0 SES", "0")                                  \
	U(x, dc,        10,  1, FLAG, 0, none, "UE 1.0 SES", "delivery complete")                  \
	U(x, ie,        11,  1, FLAG, 0, none, "UE 1.0 SES", "initiator error")                    \
	U(x, rel,       12,  1, FLAG, 0, none, "UE 1.0 SES", "relative addressing")                \
	U(x, hd,        13,  1, FLAG, 0, none, "UE 1.0 SES", "header data is present")             \
	U(x, eom,       14,  1, FLAG, 0, none, "UE 1.0 SES", "end of message")
#define CW_TABLE_SES_REQ_TAIL(U, x)                                                                \
	U(x, ri_gen,    32,  8, DEC,  0, none, "UE 1.0 SES", "resource index generation")          \
	U(x, job_id,    40, 24, HEX,  0, none, "UE 1.0 SES", "job")                                \
	U(x, reserved2, 64,  4, HEX,  0, none, "UE 1.0 SES", "reserved")                           \
	U(x, pid_on_fep, 68, 12, DEC, 0, none, "UE 1.0 SES", "process on the endpoint")            \
	U(x, reserved3, 80,  4, HEX,  0, none, "UE 1.0 SES", "reserved")                           \
	U(x, ri,        84, 12, DEC,  0, none, "UE 1.0 SES", "resource index")

#define CW_SIZE_SES_STD_SOM 44
#define CW_TABLE_SES_STD_SOM(U, W, B)                                                              \
	CW_TABLE_SES_REQ_HEAD(U, ses_std_som, 0)                                                   \
	U(ses_std_som, som,       15,  1, FLAG, 1, none, "UE 1.0 SES", "1 here: start of message") \
	U(ses_std_som, msg_id,    16, 16, DEC,  0, none, "UE 1.0 SES", "message")                  \
	CW_TABLE_SES_REQ_TAIL(U, ses_std_som)                                                      \
	W(ses_std_som, buf_off,   96, 64, HEX,  0, none, "UE 1.0 SES", "buffer offset, or restart token") \
	U(ses_std_som, initiator, 160, 32, HEX, 0, none, "UE 1.0 SES", "initiator")                \
	W(ses_std_som, match,    192, 64, HEX,  0, none, "UE 1.0 SES", "match bits or memory key") \
	W(ses_std_som, hdr_data, 256, 64, HEX,  0, none, "UE 1.0 SES", "header data, valid with hd") \
	U(ses_std_som, req_len,  320, 32, DEC,  0, none, "UE 1.0 SES", "octets of the whole request")

#define CW_SIZE_SES_STD 44
#define CW_TABLE_SES_STD(U, W, B)                                                                  \
	CW_TABLE_SES_REQ_HEAD(U, ses_std, 0)                                                       \
	U(ses_std, som,        15,  1, FLAG, 0, none, "UE 1.0 SES", "0 here: not the message's first packet") \
	U(ses_std, msg_id,     16, 16, DEC,  0, none, "UE 1.0 SES", "message")                     \
	CW_TABLE_SES_REQ_TAIL(U, ses_std)                                                          \
	W(ses_std, buf_off,    96, 64, HEX,  0, none, "UE 1.0 SES", "buffer offset, or restart token") \
	U(ses_std, initiator, 160, 32, HEX,  0, none, "UE 1.0 SES", "initiator")                   \
	W(ses_std, match,     192, 64, HEX,  0, none, "UE 1.0 SES", "match bits or memory key")    \
	U(ses_std, reserved4, 256, 18, HEX,  0, none, "UE 1.0 SES", "reserved")                    \
	U(ses_std, payload_len, 274, 14, DEC, 0, none, "UE 1.0 SES", "octets in this packet")      \
	U(ses_std, msg_off,   288, 32, DEC,  0, none, "UE 1.0 SES", "of this packet in the message") \
	U(ses_std, req_len,   320, 32, DEC,  0, none, "UE 1.0 SES", "octets of the whole request")

#define CW_SIZE_SES_SMALL 20
#define CW_TABLE_SES_SMALL(U, W, B)                                                                \
	CW_TABLE_SES_REQ_HEAD(U, ses_small, 0)                                                     \
	U(ses_small, som,       15,  1, FLAG, 1, none, "UE 1.0 SES", "start of message")           \
	U(ses_small, reserved4, 16,  2, HEX,  0, none, "UE 1.0 SES", "reserved")                   \
	U(ses_small, req_len,   18, 14, DEC,  0, none, "UE 1.0 SES", "octets of the request")      \
	CW_TABLE_SES_REQ_TAIL(U, ses_small)                                                        \
	W(ses_small, buf_off,   96, 64, HEX,  0, none, "UE 1.0 SES", "buffer offset")

#define CW_SIZE_SES_MEDIUM 32
#define CW_TABLE_SES_MEDIUM(U, W, B)                                                               \
	CW_TABLE_SES_REQ_HEAD(U, ses_medium, 0)                                                    \
	U(ses_medium, som,        15,  1, FLAG, 1, none, "UE 1.0 SES", "start of message")         \
	U(ses_medium, reserved4,  16,  2, HEX,  0, none, "UE 1.0 SES", "reserved")                 \
	U(ses_medium, req_len,    18, 14, DEC,  0, none, "UE 1.0 SES", "octets of the request")    \
	CW_TABLE_SES_REQ_TAIL(U, ses_medium)                                                       \
	W(ses_medium, hdr_data,   96, 64, HEX,  0, none, "UE 1.0 SES", "header data with hd, else buffer offset") \
	U(ses_medium, initiator, 160, 32, HEX,  0, none, "UE 1.0 SES", "initiator")                \
	W(ses_medium, match,     192, 64, HEX,  0, none, "UE 1.0 SES", "match bits or memory key")

#define CW_SIZE_SES_RNDV 24
#define CW_TABLE_SES_RNDV(U, W, B)                                                                 \
	U(ses_rndv, eager_len,  0, 32, DEC, 0, none, "UE 1.0 SES", "octets sent without waiting")  \
	U(ses_rndv, ri_gen,    32,  8, DEC, 0, none, "UE 1.0 SES", "of the read: resource index generation") \
	U(ses_rndv, pid_on_fep, 40, 12, DEC, 0, none, "UE 1.0 SES", "of the read: process on the endpoint") \
	U(ses_rndv, ri,        52, 12, DEC, 0, none, "UE 1.0 SES", "of the read: resource index")  \
	W(ses_rndv, offset,    64, 64, HEX, 0, none, "UE 1.0 SES", "of the read: buffer offset")   \
	W(ses_rndv, key,      128, 64, HEX, 0, none, "UE 1.0 SES", "of the read: memory key")

#define CW_SIZE_SES_ATOMIC 4
#define CW_TABLE_SES_ATOMIC(U, W, B)                                                               \
	U(ses_atomic, op,        0, 8, NAME, 0, ses_amo, "UE 1.0 SES", "atomic operation")         \
	U(ses_atomic, datatype,  8, 8, HEX,  0, none, "UE 1.0 SES", "type of the operands")        \
	U(ses_atomic, control,  16, 8, HEX,  0, none, "UE 1.0 SES", "1 cacheable, 2 CPU coherent") \
	U(ses_atomic, reserved1, 24, 8, HEX, 0, none, "UE 1.0 SES", "reserved")

#define CW_SIZE_SES_CSWAP 32
#define CW_TABLE_SES_CSWAP(U, W, B)                                                                \
	W(ses_cswap, cmp_hi,    0, 64, HEX, 0, none, "UE 1.0 SES", "compare with, upper half")     \
	W(ses_cswap, cmp_lo,   64, 64, HEX, 0, none, "UE 1.0 SES", "compare with, lower half")     \
	W(ses_cswap, swap_hi, 128, 64, HEX, 0, none, "UE 1.0 SES", "swap in, upper half")          \
	W(ses_cswap, swap_lo, 192, 64, HEX, 0, none, "UE 1.0 SES", "swap in, lower half")

#define CW_SIZE_SES_SYNC 4
#define CW_TABLE_SES_SYNC(U, W, B)                                                                 \
	U(ses_sync, group,  0, 16, DEC, 0, none, "reference provider", "synchronisation group")    \
	U(ses_sync, count, 16, 16, DEC, 0, none, "reference provider", "members")

#define CW_SIZE_SES_RSP 12
#define CW_TABLE_SES_RSP(U, W, B)                                                                  \
	U(ses_rsp, list,     0,  2, NAME, 0, ses_list, "UE 1.0 SES", "where it was delivered")     \
	U(ses_rsp, opcode,   2,  6, NAME, 1, ses_rsp_op, "UE 1.0 SES", "kind of response")         \
	U(ses_rsp, version,  8,  2, DEC,  0, none, "UE 1.0 SES", "0")                              \
	U(ses_rsp, rc,      10,  6, NAME, 1, ses_rc, "UE 1.0 SES", "return code")                  \
	U(ses_rsp, msg_id,  16, 16, DEC,  0, none, "UE 1.0 SES", "message")                        \
	U(ses_rsp, ri_gen,  32,  8, DEC,  0, none, "UE 1.0 SES", "resource index generation")      \
	U(ses_rsp, job_id,  40, 24, HEX,  0, none, "UE 1.0 SES", "job")                            \
	U(ses_rsp, mod_len, 64, 32, DEC,  0, none, "UE 1.0 SES", "octets that were delivered")

#define CW_SIZE_SES_RSP_DATA 20
#define CW_TABLE_SES_RSP_DATA(U, W, B)                                                             \
	U(ses_rsp_data, list,       0,  2, NAME, 0, ses_list, "UE 1.0 SES", "where it was delivered") \
	U(ses_rsp_data, opcode,     2,  6, NAME, 2, ses_rsp_op, "UE 1.0 SES", "kind of response")  \
	U(ses_rsp_data, version,    8,  2, DEC,  0, none, "UE 1.0 SES", "0")                       \
	U(ses_rsp_data, rc,        10,  6, NAME, 1, ses_rc, "UE 1.0 SES", "return code")           \
	U(ses_rsp_data, msg_id,    16, 16, DEC,  0, none, "UE 1.0 SES", "of the response")         \
	U(ses_rsp_data, reserved1, 32,  8, HEX,  0, none, "UE 1.0 SES", "reserved")                \
	U(ses_rsp_data, job_id,    40, 24, HEX,  0, none, "UE 1.0 SES", "job")                     \
	U(ses_rsp_data, rd_msg_id, 64, 16, DEC,  0, none, "UE 1.0 SES", "message of the read")     \
	U(ses_rsp_data, reserved2, 80,  2, HEX,  0, none, "UE 1.0 SES", "reserved")                \
	U(ses_rsp_data, payload_len, 82, 14, DEC, 0, none, "UE 1.0 SES", "octets in this packet")  \
	U(ses_rsp_data, mod_len,   96, 32, DEC,  0, none, "UE 1.0 SES", "octets of the response")  \
	U(ses_rsp_data, msg_off,  128, 32, DEC,  0, none, "UE 1.0 SES", "of this packet in the response")

#define CW_SIZE_SES_RSP_SMALL 12
#define CW_TABLE_SES_RSP_SMALL(U, W, B)                                                            \
	U(ses_rsp_small, list,       0,  2, NAME, 0, ses_list, "UE 1.0 SES", "where it was delivered") \
	U(ses_rsp_small, opcode,     2,  6, NAME, 2, ses_rsp_op, "UE 1.0 SES", "kind of response") \
	U(ses_rsp_small, version,    8,  2, DEC,  0, none, "UE 1.0 SES", "0")                      \
	U(ses_rsp_small, rc,        10,  6, NAME, 1, ses_rc, "UE 1.0 SES", "return code")          \
	U(ses_rsp_small, reserved1, 16,  2, HEX,  0, none, "UE 1.0 SES", "reserved")               \
	U(ses_rsp_small, payload_len, 18, 14, DEC, 0, none, "UE 1.0 SES", "octets in this packet") \
	U(ses_rsp_small, reserved2, 32,  8, HEX,  0, none, "UE 1.0 SES", "reserved")               \
	U(ses_rsp_small, job_id,    40, 24, HEX,  0, none, "UE 1.0 SES", "job")                    \
	U(ses_rsp_small, req_psn,   64, 32, DEC,  0, none, "UE 1.0 SES", "PSN of the request")

/* All headers of the family: X(name, title, SIZE and TABLE suffix, fix()) */
#define CW_UEC_HEADERS(X)                                                                          \
	X(uec_entropy,   "UET entropy, native IP",            UEC_ENTROPY,   NULL)                 \
	X(uec_tss,       "UET security",                      UEC_TSS,       NULL)                 \
	X(uec_tss_ssi,   "UET security with source",          UEC_TSS_SSI,   NULL)                 \
	X(uec_req,       "PDS request, RUD or ROD",           UEC_REQ,       fix_req)              \
	X(uec_req_syn,   "PDS request, RUD or ROD, with SYN", UEC_REQ_SYN,   fix_req)              \
	X(uec_req_cc,    "PDS request's congestion state",    UEC_REQ_CC,    NULL)                 \
	X(uec_rudi,      "PDS RUDI request or response",      UEC_RUDI,      fix_next)             \
	X(uec_uud,       "PDS UUD request",                   UEC_UUD,       fix_next)             \
	X(uec_ack,       "PDS ACK",                           UEC_ACK,       fix_ack)              \
	X(uec_ack_epsn,  "PDS ACK's expected PSN",            UEC_ACK_EPSN,  NULL)                 \
	X(uec_ack_cc,    "PDS ACK's congestion part",         UEC_ACK_CC,    fix_ack_cc)           \
	X(uec_cc_nscc,   "State of sender-based control",     UEC_CC_NSCC,   NULL)                 \
	X(uec_cc_credit, "State of credit-based control",     UEC_CC_CREDIT, NULL)                 \
	X(uec_cc_other,  "State of other congestion control", UEC_CC_OTHER,  NULL)                 \
	X(uec_ccx,       "Extended congestion state",         UEC_CCX,       NULL)                 \
	X(uec_nack,      "PDS NACK",                          UEC_NACK,      fix_nack)             \
	X(uec_nack_ccx,  "PDS NACK's extended congestion state", UEC_NACK_CCX, NULL)               \
	X(uec_ctrl,      "PDS control",                       UEC_CTRL,      NULL)                 \
	X(ses_std_som,   "SES request, start of message",     SES_STD_SOM,   NULL)                 \
	X(ses_std,       "SES request, further packets",      SES_STD,       NULL)                 \
	X(ses_small,     "SES request, small",                SES_SMALL,     NULL)                 \
	X(ses_medium,    "SES request, medium",               SES_MEDIUM,    NULL)                 \
	X(ses_rndv,      "SES rendezvous extension",          SES_RNDV,      NULL)                 \
	X(ses_atomic,    "SES atomic extension",              SES_ATOMIC,    NULL)                 \
	X(ses_cswap,     "SES compare-and-swap extension",    SES_CSWAP,     NULL)                 \
	X(ses_sync,      "SES synchronisation extension",     SES_SYNC,      NULL)                 \
	X(ses_rsp,       "SES response",                      SES_RSP,       NULL)                 \
	X(ses_rsp_data,  "SES response with data",            SES_RSP_DATA,  NULL)                 \
	X(ses_rsp_small, "SES small response with data",      SES_RSP_SMALL, NULL)
// clang-format on

#define CW_X(h, title, table, fix) CW_HDR_ACCESSORS(CW_TABLE_##table)
CW_UEC_HEADERS(CW_X)
#undef CW_X
#define CW_X(h, title, table, fix) extern const struct cw_hdr cw_hdr_##h;
CW_UEC_HEADERS(CW_X)
#undef CW_X
extern const struct cw_name cw_names_pds_type[], cw_names_pds_next[], cw_names_pds_ctrl[],
	cw_names_pds_nack[], cw_names_pds_ack_req[], cw_names_pds_cc_type[], cw_names_ses_opcode[],
	cw_names_ses_amo[], cw_names_ses_list[], cw_names_ses_rsp_op[], cw_names_ses_rc[];

/* A sequence number and a signed offset from it, modulo 2^32: the PSN that an ACK answers is
 * cw_uec_psn(cw_uec_ack_cack_psn(p), cw_uec_ack_ack_psn_offset(p)). */
CW_INLINE uint32_t cw_uec_psn(uint32_t base, uint32_t offset)
{
	return base + offset - ((offset & 0x8000) != 0 ? 0x10000u : 0u);
}

/* What a NACK code asks of its receiver (reference provider). */
enum cw_pds_nack_action {
	CW_PDS_NACK_RETRANSMIT,
	CW_PDS_NACK_CLOSE,
	CW_PDS_NACK_IGNORE,
	CW_PDS_NACK_UNKNOWN
};
enum cw_pds_nack_action cw_pds_nack_action(uint32_t code);

/* CRC-32C of a UE 1.0 packet (UDP or native) from the IP header at `ip`; `len` ends in front of the
 * CRC. It covers the source address and all that follows. CW_E_SHORT, CW_E_VERSION. */
int cw_uec_crc(const uint8_t *ip, size_t len, uint32_t *out);

/* Is what a UDP packet to UB's port holds a RUD or ROD request of UE 1.0? Its CRC decides. The
 * payload of `len` octets begins `off` octets behind the IP header. */
bool cw_uec_on_ub_port(const uint8_t *ip, size_t off, size_t len);

#ifdef __cplusplus
}
#endif
#endif
