/* mad.h - management datagrams, and the messages of the communication manager (CM).
 * Spec: IBTA Architecture Volume 1 release 1.7: MAD header 13.4.3, CM messages 12.6 to 12.11.
 * Deviations: private data is not looked into; it is the tail of each message.
 */
#ifndef CAUSEWAY_WIRE_MAD_H
#define CAUSEWAY_WIRE_MAD_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_MAD_OCTETS   256 /* every MAD has this size */
#define CW_MAD_QPN_GSI  1   /* queue pair of the general services */
#define CW_MAD_QKEY_GSI 0x80010000u
#define CW_MAD_CLASS_SA 0x03
#define CW_MAD_CLASS_CM 0x07
#define CW_MAD_SEND     0x03 /* method of all CM messages */

/* CM attributes (IBTA table 92). */
enum cw_cm_attr {
	CW_CM_REQ = 0x10,
	CW_CM_MRA,
	CW_CM_REJ,
	CW_CM_REP,
	CW_CM_RTU,
	CW_CM_DREQ,
	CW_CM_DREP,
	CW_CM_SIDR_REQ,
	CW_CM_SIDR_REP,
	CW_CM_LAP,
	CW_CM_APR,
};

// clang-format off
#define CW_SIZE_MAD 24
#define CW_TABLE_MAD(U, W, B)                                                                      \
	U(mad, base_version,    0,  8, DEC,  1,       none,       "IBTA 13.4.3", "1")              \
	U(mad, mgmt_class,      8,  8, NAME, CW_AUTO, mad_class,  "IBTA 13.4.4", "management class") \
	U(mad, class_version,  16,  8, DEC,  CW_AUTO, none,       "IBTA 13.4.3", "version of the class") \
	U(mad, response,       24,  1, FLAG, 0,       none,       "IBTA 13.4.5", "this is a response") \
	U(mad, method,         25,  7, HEX,  CW_AUTO, none,       "IBTA 13.4.5", "method")         \
	U(mad, status,         32, 16, HEX,  0,       none,       "IBTA 13.4.7", "status")         \
	U(mad, class_specific, 48, 16, HEX,  0,       none,       "IBTA 13.4.3", "class specific") \
	W(mad, tid,            64, 64, HEX,  0,       none,       "IBTA 13.4.6.4", "transaction identifier") \
	U(mad, attribute,     128, 16, NAME, CW_AUTO, mad_attr,   "IBTA 13.4.8", "attribute")      \
	U(mad, reserved1,     144, 16, HEX,  0,       none,       "IBTA 13.4.3", "reserved")       \
	U(mad, modifier,      160, 32, HEX,  0,       none,       "IBTA 13.4.8", "attribute modifier")

#define CW_SIZE_CM_REQ 140
#define CW_TABLE_CM_REQ(U, W, B)                                                                   \
	U(cm_req, local_comm_id,      0,  32, HEX, 0, none, "IBTA 12.7.1",  "sender's communication ID") \
	U(cm_req, reserved1,         32,  32, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	W(cm_req, service_id,        64,  64, HEX, 0, none, "IBTA 12.7.3",  "service")             \
	W(cm_req, ca_guid,          128,  64, HEX, 0, none, "IBTA 12.7.9",  "sender's channel adapter") \
	U(cm_req, reserved2,        192,  32, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, qkey,             224,  32, HEX, 0, none, "IBTA 12.7.12", "queue key, datagram services") \
	U(cm_req, qpn,              256,  24, HEX, 0, none, "IBTA 12.7.13", "sender's queue pair") \
	U(cm_req, responder_res,    280,   8, DEC, 0, none, "IBTA 12.7.29", "READs and atomics it takes at once") \
	U(cm_req, eecn,             288,  24, HEX, 0, none, "IBTA 12.7.14", "sender's EE context") \
	U(cm_req, initiator_depth,  312,   8, DEC, 0, none, "IBTA 12.7.30", "READs and atomics it sends at once") \
	U(cm_req, remote_eecn,      320,  24, HEX, 0, none, "IBTA 12.7.15", "receiver's EE context") \
	U(cm_req, remote_timeout,   344,   5, DEC, 0, none, "IBTA 12.7.4",  "receiver's CM response timeout") \
	U(cm_req, transport,        349,   2, NAME, 0, cm_transport, "IBTA 12.7.6", "transport service") \
	U(cm_req, flow_control,     351,   1, FLAG, 0, none, "IBTA 12.7.26", "end-to-end flow control") \
	U(cm_req, psn,              352,  24, DEC, 0, none, "IBTA 12.7.31", "starting PSN")        \
	U(cm_req, local_timeout,    376,   5, DEC, 0, none, "IBTA 12.7.5",  "sender's CM response timeout") \
	U(cm_req, retry_count,      381,   3, DEC, 0, none, "IBTA 12.7.38", "transport retries")   \
	U(cm_req, pkey,             384,  16, HEX, 0xffff, none, "IBTA 12.7.24", "partition key")  \
	U(cm_req, mtu,              400,   4, NAME, 0, ib_mtu, "IBTA 12.7.28", "path MTU")         \
	U(cm_req, rdc,              404,   1, FLAG, 0, none, "IBTA 12.7.36", "RD channel exists")  \
	U(cm_req, rnr_retry,        405,   3, DEC, 0, none, "IBTA 12.7.39", "RNR retries, 7 = endless") \
	U(cm_req, max_cm_retries,   408,   4, DEC, 0, none, "IBTA 12.7.27", "retries of CM messages") \
	U(cm_req, srq,              412,   1, FLAG, 0, none, "IBTA 12.7.40", "shared receive queue") \
	U(cm_req, ext_transport,    413,   3, DEC, 0, none, "IBTA A14",     "extended transport, 1 = XRC") \
	U(cm_req, local_lid,        416,  16, HEX, 0, none, "IBTA 12.7.18", "primary path, sender") \
	U(cm_req, remote_lid,       432,  16, HEX, 0, none, "IBTA 12.7.21", "primary path, receiver") \
	B(cm_req, local_gid,        448, 128, IP6, 0, none, "IBTA 12.7.16", "primary path, sender") \
	B(cm_req, remote_gid,       576, 128, IP6, 0, none, "IBTA 12.7.19", "primary path, receiver") \
	U(cm_req, flow_label,       704,  20, HEX, 0, none, "IBTA 12.7.22", "primary path")        \
	U(cm_req, reserved3,        724,   6, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, rate,             730,   6, DEC, 0, none, "IBTA 12.7.25", "primary path, rate code") \
	U(cm_req, tclass,           736,   8, HEX, 0, none, "IBTA 12.7.23", "primary path")        \
	U(cm_req, hop_limit,        744,   8, DEC, 0, none, "IBTA 12.7.17", "primary path")        \
	U(cm_req, sl,               752,   4, DEC, 0, none, "IBTA 12.7.20", "primary path")        \
	U(cm_req, subnet_local,     756,   1, FLAG, 0, none, "IBTA 12.7.7", "primary path")        \
	U(cm_req, reserved4,        757,   3, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, ack_timeout,      760,   5, DEC, 0, none, "IBTA 12.7.34", "primary path, 4.096 us * 2^n") \
	U(cm_req, reserved5,        765,   3, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, alt_local_lid,    768,  16, HEX, 0, none, "IBTA 12.7.18", "alternate path, sender") \
	U(cm_req, alt_remote_lid,   784,  16, HEX, 0, none, "IBTA 12.7.21", "alternate path, receiver") \
	B(cm_req, alt_local_gid,    800, 128, IP6, 0, none, "IBTA 12.7.16", "alternate path, sender") \
	B(cm_req, alt_remote_gid,   928, 128, IP6, 0, none, "IBTA 12.7.19", "alternate path, receiver") \
	U(cm_req, alt_flow_label,  1056,  20, HEX, 0, none, "IBTA 12.7.22", "alternate path")      \
	U(cm_req, reserved6,       1076,   6, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, alt_rate,        1082,   6, DEC, 0, none, "IBTA 12.7.25", "alternate path, rate code") \
	U(cm_req, alt_tclass,      1088,   8, HEX, 0, none, "IBTA 12.7.23", "alternate path")      \
	U(cm_req, alt_hop_limit,   1096,   8, DEC, 0, none, "IBTA 12.7.17", "alternate path")      \
	U(cm_req, alt_sl,          1104,   4, DEC, 0, none, "IBTA 12.7.20", "alternate path")      \
	U(cm_req, alt_subnet_local, 1108,  1, FLAG, 0, none, "IBTA 12.7.7", "alternate path")      \
	U(cm_req, reserved7,       1109,   3, HEX, 0, none, "IBTA 12.6.5",  "reserved")            \
	U(cm_req, alt_ack_timeout, 1112,   5, DEC, 0, none, "IBTA 12.7.34", "alternate path, 4.096 us * 2^n") \
	U(cm_req, reserved8,       1117,   3, HEX, 0, none, "IBTA 12.6.5",  "reserved")

#define CW_SIZE_CM_MRA 10
#define CW_TABLE_CM_MRA(U, W, B)                                                                   \
	U(cm_mra, local_comm_id,    0, 32, HEX, 0, none, "IBTA 12.7.1",  "sender's communication ID") \
	U(cm_mra, remote_comm_id,  32, 32, HEX, 0, none, "IBTA 12.7.2",  "receiver's communication ID") \
	U(cm_mra, message,         64,  2, NAME, 0, cm_message, "IBTA 12.6.6", "message it answers") \
	U(cm_mra, reserved1,       66,  6, HEX, 0, none, "IBTA 12.6.6",  "reserved")               \
	U(cm_mra, service_timeout, 72,  5, DEC, 0, none, "IBTA 12.7.32", "4.096 us * 2^n")         \
	U(cm_mra, reserved2,       77,  3, HEX, 0, none, "IBTA 12.6.6",  "reserved")

#define CW_SIZE_CM_REJ 84
#define CW_TABLE_CM_REJ(U, W, B)                                                                   \
	U(cm_rej, local_comm_id,   0,  32, HEX, 0, none, "IBTA 12.7.1", "sender's communication ID") \
	U(cm_rej, remote_comm_id, 32,  32, HEX, 0, none, "IBTA 12.7.2", "receiver's communication ID") \
	U(cm_rej, message,        64,   2, NAME, 0, cm_message, "IBTA 12.6.7", "message it rejects") \
	U(cm_rej, reserved1,      66,   6, HEX, 0, none, "IBTA 12.6.7", "reserved")                \
	U(cm_rej, info_length,    72,   7, DEC, 0, none, "IBTA 12.6.7", "octets of additional information") \
	U(cm_rej, reserved2,      79,   1, HEX, 0, none, "IBTA 12.6.7", "reserved")                \
	U(cm_rej, reason,         80,  16, DEC, 0, none, "IBTA 12.6.7.2", "why")                   \
	B(cm_rej, info,           96, 576, OCTETS, 0, none, "IBTA 12.6.7.3", "additional information")

#define CW_SIZE_CM_REP 36
#define CW_TABLE_CM_REP(U, W, B)                                                                   \
	U(cm_rep, local_comm_id,     0, 32, HEX,  0, none, "IBTA 12.7.1",  "sender's communication ID") \
	U(cm_rep, remote_comm_id,   32, 32, HEX,  0, none, "IBTA 12.7.2",  "receiver's communication ID") \
	U(cm_rep, qkey,             64, 32, HEX,  0, none, "IBTA 12.7.12", "queue key, datagram services") \
	U(cm_rep, qpn,              96, 24, HEX,  0, none, "IBTA 12.7.13", "sender's queue pair")  \
	U(cm_rep, reserved1,       120,  8, HEX,  0, none, "IBTA 12.6.8",  "reserved")             \
	U(cm_rep, eecn,            128, 24, HEX,  0, none, "IBTA 12.7.14", "sender's EE context")  \
	U(cm_rep, reserved2,       152,  8, HEX,  0, none, "IBTA 12.6.8",  "reserved")             \
	U(cm_rep, psn,             160, 24, DEC,  0, none, "IBTA 12.7.31", "starting PSN")         \
	U(cm_rep, reserved3,       184,  8, HEX,  0, none, "IBTA 12.6.8",  "reserved")             \
	U(cm_rep, responder_res,   192,  8, DEC,  0, none, "IBTA 12.7.29", "READs and atomics it takes at once") \
	U(cm_rep, initiator_depth, 200,  8, DEC,  0, none, "IBTA 12.7.30", "READs and atomics it sends at once") \
	U(cm_rep, ack_delay,       208,  5, DEC,  0, none, "IBTA 12.7.33", "target ACK delay")     \
	U(cm_rep, failover,        213,  2, DEC,  0, none, "IBTA 12.7.35", "failover accepted, 0 = yes") \
	U(cm_rep, flow_control,    215,  1, FLAG, 0, none, "IBTA 12.7.26", "end-to-end flow control") \
	U(cm_rep, rnr_retry,       216,  3, DEC,  0, none, "IBTA 12.7.39", "RNR retries, 7 = endless") \
	U(cm_rep, srq,             219,  1, FLAG, 0, none, "IBTA 12.7.40", "shared receive queue") \
	U(cm_rep, reserved4,       220,  4, HEX,  0, none, "IBTA 12.6.8",  "reserved")             \
	W(cm_rep, ca_guid,         224, 64, HEX,  0, none, "IBTA 12.7.9",  "sender's channel adapter")

#define CW_SIZE_CM_RTU 8
#define CW_TABLE_CM_RTU(U, W, B)                                                                   \
	U(cm_rtu, local_comm_id,   0, 32, HEX, 0, none, "IBTA 12.7.1", "sender's communication ID") \
	U(cm_rtu, remote_comm_id, 32, 32, HEX, 0, none, "IBTA 12.7.2", "receiver's communication ID")

#define CW_SIZE_CM_DREQ 12
#define CW_TABLE_CM_DREQ(U, W, B)                                                                  \
	U(cm_dreq, local_comm_id,   0, 32, HEX, 0, none, "IBTA 12.7.1", "sender's communication ID") \
	U(cm_dreq, remote_comm_id, 32, 32, HEX, 0, none, "IBTA 12.7.2", "receiver's communication ID") \
	U(cm_dreq, remote_qpn,     64, 24, HEX, 0, none, "IBTA 12.6.10", "receiver's queue pair")  \
	U(cm_dreq, reserved1,      88,  8, HEX, 0, none, "IBTA 12.6.10", "reserved")

#define CW_SIZE_CM_DREP 8
#define CW_TABLE_CM_DREP(U, W, B)                                                                  \
	U(cm_drep, local_comm_id,   0, 32, HEX, 0, none, "IBTA 12.7.1", "sender's communication ID") \
	U(cm_drep, remote_comm_id, 32, 32, HEX, 0, none, "IBTA 12.7.2", "receiver's communication ID")

#define CW_SIZE_CM_SIDR_REQ 16
#define CW_TABLE_CM_SIDR_REQ(U, W, B)                                                              \
	U(cm_sidr_req, request_id,  0, 32, HEX, 0,      none, "IBTA 12.11.1", "request")           \
	U(cm_sidr_req, pkey,       32, 16, HEX, 0xffff, none, "IBTA 12.11.1", "partition key")     \
	U(cm_sidr_req, reserved1,  48, 16, HEX, 0,      none, "IBTA 12.11.1", "reserved")          \
	W(cm_sidr_req, service_id, 64, 64, HEX, 0,      none, "IBTA 12.11.1", "service")

#define CW_SIZE_CM_SIDR_REP 96
#define CW_TABLE_CM_SIDR_REP(U, W, B)                                                              \
	U(cm_sidr_rep, request_id,    0,  32, HEX, 0, none, "IBTA 12.11.2", "request")             \
	U(cm_sidr_rep, status,       32,   8, DEC, 0, none, "IBTA 12.11.2", "0 = QPN and Q_Key are valid") \
	U(cm_sidr_rep, info_length,  40,   8, DEC, 0, none, "IBTA 12.11.2", "octets of additional information") \
	U(cm_sidr_rep, reserved1,    48,  16, HEX, 0, none, "IBTA 12.11.2", "reserved")            \
	U(cm_sidr_rep, qpn,          64,  24, HEX, 0, none, "IBTA 12.11.2", "queue pair of the service") \
	U(cm_sidr_rep, reserved2,    88,   8, HEX, 0, none, "IBTA 12.11.2", "reserved")            \
	W(cm_sidr_rep, service_id,   96,  64, HEX, 0, none, "IBTA 12.11.2", "service")             \
	U(cm_sidr_rep, qkey,        160,  32, HEX, 0, none, "IBTA 12.11.2", "queue key")           \
	B(cm_sidr_rep, info,        192, 576, OCTETS, 0, none, "IBTA 12.11.2", "additional information")

#define CW_SIZE_CM_LAP 64
#define CW_TABLE_CM_LAP(U, W, B)                                                                   \
	U(cm_lap, local_comm_id,    0,  32, HEX, 0, none, "IBTA 12.7.1",  "sender's communication ID") \
	U(cm_lap, remote_comm_id,  32,  32, HEX, 0, none, "IBTA 12.7.2",  "receiver's communication ID") \
	U(cm_lap, reserved1,       64,  32, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, remote_qpn,      96,  24, HEX, 0, none, "IBTA 12.8.1",  "receiver's queue pair") \
	U(cm_lap, remote_timeout, 120,   5, DEC, 0, none, "IBTA 12.7.4",  "receiver's CM response timeout") \
	U(cm_lap, reserved2,      125,   3, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, reserved3,      128,  32, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, local_lid,      160,  16, HEX, 0, none, "IBTA 12.7.18", "new path, sender")      \
	U(cm_lap, remote_lid,     176,  16, HEX, 0, none, "IBTA 12.7.21", "new path, receiver")    \
	B(cm_lap, local_gid,      192, 128, IP6, 0, none, "IBTA 12.7.16", "new path, sender")      \
	B(cm_lap, remote_gid,     320, 128, IP6, 0, none, "IBTA 12.7.19", "new path, receiver")    \
	U(cm_lap, flow_label,     448,  20, HEX, 0, none, "IBTA 12.7.22", "new path")              \
	U(cm_lap, reserved4,      468,   4, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, tclass,         472,   8, HEX, 0, none, "IBTA 12.7.23", "new path")              \
	U(cm_lap, hop_limit,      480,   8, DEC, 0, none, "IBTA 12.7.17", "new path")              \
	U(cm_lap, reserved5,      488,   2, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, rate,           490,   6, DEC, 0, none, "IBTA 12.7.25", "new path, rate code")   \
	U(cm_lap, sl,             496,   4, DEC, 0, none, "IBTA 12.7.20", "new path")              \
	U(cm_lap, subnet_local,   500,   1, FLAG, 0, none, "IBTA 12.7.7", "new path")              \
	U(cm_lap, reserved6,      501,   3, HEX, 0, none, "IBTA 12.8.1",  "reserved")              \
	U(cm_lap, ack_timeout,    504,   5, DEC, 0, none, "IBTA 12.7.34", "new path, 4.096 us * 2^n") \
	U(cm_lap, reserved7,      509,   3, HEX, 0, none, "IBTA 12.8.1",  "reserved")

#define CW_SIZE_CM_APR 84
#define CW_TABLE_CM_APR(U, W, B)                                                                   \
	U(cm_apr, local_comm_id,   0,  32, HEX, 0, none, "IBTA 12.7.1", "sender's communication ID") \
	U(cm_apr, remote_comm_id, 32,  32, HEX, 0, none, "IBTA 12.7.2", "receiver's communication ID") \
	U(cm_apr, info_length,    64,   8, DEC, 0, none, "IBTA 12.8.2", "octets of additional information") \
	U(cm_apr, status,         72,   8, DEC, 0, none, "IBTA 12.8.2.1", "0 = path loaded")       \
	U(cm_apr, reserved1,      80,  16, HEX, 0, none, "IBTA 12.8.2", "reserved")                \
	B(cm_apr, info,           96, 576, OCTETS, 0, none, "IBTA 12.8.2", "additional information")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_MAD)
CW_HDR_ACCESSORS(CW_TABLE_CM_REQ)
CW_HDR_ACCESSORS(CW_TABLE_CM_MRA)
CW_HDR_ACCESSORS(CW_TABLE_CM_REJ)
CW_HDR_ACCESSORS(CW_TABLE_CM_REP)
CW_HDR_ACCESSORS(CW_TABLE_CM_RTU)
CW_HDR_ACCESSORS(CW_TABLE_CM_DREQ)
CW_HDR_ACCESSORS(CW_TABLE_CM_DREP)
CW_HDR_ACCESSORS(CW_TABLE_CM_SIDR_REQ)
CW_HDR_ACCESSORS(CW_TABLE_CM_SIDR_REP)
CW_HDR_ACCESSORS(CW_TABLE_CM_LAP)
CW_HDR_ACCESSORS(CW_TABLE_CM_APR)

extern const struct cw_hdr cw_hdr_mad, cw_hdr_cm_req, cw_hdr_cm_mra, cw_hdr_cm_rej, cw_hdr_cm_rep,
	cw_hdr_cm_rtu, cw_hdr_cm_dreq, cw_hdr_cm_drep, cw_hdr_cm_sidr_req, cw_hdr_cm_sidr_rep,
	cw_hdr_cm_lap, cw_hdr_cm_apr;
extern const struct cw_name cw_names_mad_class[], cw_names_mad_attr[], cw_names_cm_transport[],
	cw_names_cm_message[], cw_names_ib_mtu[];

/* Descriptor of a CM message by its attribute, or NULL. */
const struct cw_hdr *cw_cm_hdr(uint32_t attribute);

#ifdef __cplusplus
}
#endif
#endif
