/* sa.h - subnet administration: what follows a MAD header of class SubnAdm.
 * Spec: IBTA Architecture Volume 1 release 1.7: SA MAD 15.2.1, RMPP 13.6.2, attributes 15.2.5;
 * ClassPortInfo 13.4.8.1, Notice 13.4.8.2, InformInfo 13.4.8.3.
 * Deviations: records of other attributes are payload. Of a table that comes in several segments,
 * the records of the first segment are taken apart; in later ones they may begin anywhere.
 */
#ifndef CAUSEWAY_WIRE_SA_H
#define CAUSEWAY_WIRE_SA_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cw_sa_method {
	CW_SA_GET = 0x01,
	CW_SA_SET = 0x02,
	CW_SA_REPORT = 0x06,
	CW_SA_GETTABLE = 0x12,
	CW_SA_DELETE = 0x15,
	CW_SA_RESPONSE = 0x80, /* bit of an answer's method; that of Set is GetResp */
};

enum cw_sa_attr {
	CW_SA_CLASSPORTINFO = 0x01,
	CW_SA_NOTICE = 0x02,
	CW_SA_INFORMINFO = 0x03,
	CW_SA_PATHRECORD = 0x35,
	CW_SA_MCMEMBER = 0x38,
};

/* Status of an answer: the SA's own codes stand in the high octet (IBTA table 187). */
enum cw_sa_status {
	CW_SA_OK = 0,
	CW_SA_BUSY = 0x0001,
	CW_SA_NO_RESOURCES = 0x0100,
	CW_SA_REQ_INVALID = 0x0200,
	CW_SA_NO_RECORDS = 0x0300,
	CW_SA_TOO_MANY = 0x0400,
	CW_SA_INVALID_GID = 0x0500,
	CW_SA_INSUFFICIENT = 0x0600,
	CW_SA_DENIED = 0x0700,
};

/* JoinState of an MCMemberRecord. */
#define CW_SA_FULL           1
#define CW_SA_NON            2
#define CW_SA_SEND_ONLY_NON  4
#define CW_SA_SEND_ONLY_FULL 8

#define CW_SA_EXACTLY 2 /* selector of MTU, rate and lifetime */

/* Component mask bits of MCMemberRecord and PathRecord. */
#define CW_MCM_MGID        (1u << 0)
#define CW_MCM_PORT        (1u << 1)
#define CW_MCM_QKEY        (1u << 2)
#define CW_MCM_MLID        (1u << 3)
#define CW_MCM_MTU         (3u << 4)
#define CW_MCM_TCLASS      (1u << 6)
#define CW_MCM_PKEY        (1u << 7)
#define CW_MCM_RATE        (3u << 8)
#define CW_MCM_LIFE        (3u << 10)
#define CW_MCM_SL          (1u << 12)
#define CW_MCM_FLOW        (1u << 13)
#define CW_MCM_HOP         (1u << 14)
#define CW_MCM_SCOPE       (1u << 15)
#define CW_MCM_JOIN        (1u << 16)
#define CW_PATH_DGID       (1u << 2)
#define CW_PATH_SGID       (1u << 3)
#define CW_PATH_REVERSIBLE (1u << 11)
#define CW_PATH_NUMB       (1u << 12)
#define CW_PATH_PKEY       (1u << 13)

#define CW_TRAP_MCG_CREATE 66
#define CW_TRAP_MCG_DELETE 67

// clang-format off
#define CW_SIZE_RMPP 12
#define CW_TABLE_RMPP(U, W, B)                                                                     \
	U(rmpp, version,    0,  8, DEC,  0, none,      "IBTA 13.6.2.1", "1 where RMPP is in use")  \
	U(rmpp, type,       8,  8, NAME, 0, rmpp_type, "IBTA 13.6.2.1", "type of the packet")      \
	U(rmpp, resp_time, 16,  5, DEC,  0, none,      "IBTA 13.6.2.1", "response time, 4.096 us * 2^n") \
	U(rmpp, last,      21,  1, FLAG, 0, none,      "IBTA 13.6.2.1", "last segment")            \
	U(rmpp, first,     22,  1, FLAG, 0, none,      "IBTA 13.6.2.1", "first segment")           \
	U(rmpp, active,    23,  1, FLAG, 0, none,      "IBTA 13.6.2.1", "RMPP is active")          \
	U(rmpp, status,    24,  8, DEC,  0, none,      "IBTA 13.6.2.1", "0 = normal")              \
	U(rmpp, segment,   32, 32, DEC,  0, none,      "IBTA 13.6.2.2", "number of the segment")   \
	U(rmpp, length,    64, 32, DEC,  0, none,      "IBTA 13.6.2.2", "DATA: payload length; ACK: new window")

#define CW_SIZE_SA 20
#define CW_TABLE_SA(U, W, B)                                                                       \
	W(sa, sm_key,      0, 64, HEX, 0, none, "IBTA 15.2.1.1", "key of the subnet manager")      \
	U(sa, attr_offset, 64, 16, DEC, 0, none, "IBTA 15.2.1.1", "units of 8 octets from record to record") \
	U(sa, reserved1,  80, 16, HEX, 0, none, "IBTA 15.2.1.1", "reserved")                       \
	W(sa, mask,       96, 64, HEX, 0, none, "IBTA 15.2.1.1", "component mask")

#define CW_SIZE_MCMEMBER 52
#define CW_TABLE_MCMEMBER(U, W, B)                                                                 \
	B(mcmember, mgid,       0, 128, IP6,  0, none,      "IBTA 15.2.5.17", "multicast GID")     \
	B(mcmember, port_gid, 128, 128, IP6,  0, none,      "IBTA 15.2.5.17", "GID of the member") \
	U(mcmember, qkey,     256,  32, HEX,  0, none,      "IBTA 15.2.5.17", "queue key")         \
	U(mcmember, mlid,     288,  16, HEX,  0, none,      "IBTA 15.2.5.17", "multicast LID")     \
	U(mcmember, mtu_sel,  304,   2, DEC,  0, none,      "IBTA 15.2.5.17", "2: exactly")        \
	U(mcmember, mtu,      306,   6, NAME, 0, ib_mtu,    "IBTA 15.2.5.17", "MTU code")          \
	U(mcmember, tclass,   312,   8, HEX,  0, none,      "IBTA 15.2.5.17", "traffic class")     \
	U(mcmember, pkey,     320,  16, HEX,  0, none,      "IBTA 15.2.5.17", "partition key")     \
	U(mcmember, rate_sel, 336,   2, DEC,  0, none,      "IBTA 15.2.5.17", "2: exactly")        \
	U(mcmember, rate,     338,   6, NAME, 0, ib_rate,   "IBTA 15.2.5.17", "rate code")         \
	U(mcmember, life_sel, 344,   2, DEC,  0, none,      "IBTA 15.2.5.17", "2: exactly")        \
	U(mcmember, life,     346,   6, DEC,  0, none,      "IBTA 15.2.5.17", "packet lifetime, 4.096 us * 2^n") \
	U(mcmember, sl,       352,   4, DEC,  0, none,      "IBTA 15.2.5.17", "service level")     \
	U(mcmember, flow_label, 356, 20, HEX, 0, none,      "IBTA 15.2.5.17", "flow label")        \
	U(mcmember, hop_limit, 376,  8, DEC,  0, none,      "IBTA 15.2.5.17", "hop limit")         \
	U(mcmember, scope,    384,   4, DEC,  0, none,      "IBTA 15.2.5.17", "scope")             \
	U(mcmember, join_state, 388, 4, HEX,  0, none,      "IBTA 15.2.5.17", "1 full, 2 non, 4 send-only non, 8 send-only full") \
	U(mcmember, proxy,    392,   1, FLAG, 0, none,      "IBTA 15.2.5.17", "joined for another port") \
	U(mcmember, reserved1, 393, 23, HEX,  0, none,      "IBTA 15.2.5.17", "reserved")

#define CW_SIZE_PATHRECORD 64
#define CW_TABLE_PATHRECORD(U, W, B)                                                               \
	W(pathrecord, service_id,  0,  64, HEX,  0, none,    "IBTA 15.2.5.16", "service")          \
	B(pathrecord, dgid,       64, 128, IP6,  0, none,    "IBTA 15.2.5.16", "destination GID")  \
	B(pathrecord, sgid,      192, 128, IP6,  0, none,    "IBTA 15.2.5.16", "source GID")       \
	U(pathrecord, dlid,      320,  16, HEX,  0, none,    "IBTA 15.2.5.16", "destination LID")  \
	U(pathrecord, slid,      336,  16, HEX,  0, none,    "IBTA 15.2.5.16", "source LID")       \
	U(pathrecord, raw,       352,   1, FLAG, 0, none,    "IBTA 15.2.5.16", "raw traffic")      \
	U(pathrecord, reserved1, 353,   3, HEX,  0, none,    "IBTA 15.2.5.16", "reserved")         \
	U(pathrecord, flow_label, 356, 20, HEX,  0, none,    "IBTA 15.2.5.16", "flow label")       \
	U(pathrecord, hop_limit, 376,   8, DEC,  0, none,    "IBTA 15.2.5.16", "hop limit")        \
	U(pathrecord, tclass,    384,   8, HEX,  0, none,    "IBTA 15.2.5.16", "traffic class")    \
	U(pathrecord, reversible, 392,  1, FLAG, 0, none,    "IBTA 15.2.5.16", "the way back is the same") \
	U(pathrecord, numb_path, 393,   7, DEC,  0, none,    "IBTA 15.2.5.16", "most paths wanted") \
	U(pathrecord, pkey,      400,  16, HEX,  0, none,    "IBTA 15.2.5.16", "partition key")    \
	U(pathrecord, qos_class, 416,  12, HEX,  0, none,    "IBTA 15.2.5.16", "QoS class")        \
	U(pathrecord, sl,        428,   4, DEC,  0, none,    "IBTA 15.2.5.16", "service level")    \
	U(pathrecord, mtu_sel,   432,   2, DEC,  0, none,    "IBTA 15.2.5.16", "2: exactly")       \
	U(pathrecord, mtu,       434,   6, NAME, 0, ib_mtu,  "IBTA 15.2.5.16", "MTU code")         \
	U(pathrecord, rate_sel,  440,   2, DEC,  0, none,    "IBTA 15.2.5.16", "2: exactly")       \
	U(pathrecord, rate,      442,   6, NAME, 0, ib_rate, "IBTA 15.2.5.16", "rate code")        \
	U(pathrecord, life_sel,  448,   2, DEC,  0, none,    "IBTA 15.2.5.16", "2: exactly")       \
	U(pathrecord, life,      450,   6, DEC,  0, none,    "IBTA 15.2.5.16", "packet lifetime, 4.096 us * 2^n") \
	U(pathrecord, preference, 456,  8, DEC,  0, none,    "IBTA 15.2.5.16", "0 is the best")    \
	W(pathrecord, reserved2, 464,  48, HEX,  0, none,    "IBTA 15.2.5.16", "reserved")

#define CW_SIZE_INFORMINFO 36
#define CW_TABLE_INFORMINFO(U, W, B)                                                               \
	B(informinfo, gid,         0, 128, IP6,  0,      none, "IBTA 13.4.8.3", "whose events; zeros: all") \
	U(informinfo, lid_begin, 128,  16, HEX,  0xffff, none, "IBTA 13.4.8.3", "first LID; 0xffff: all") \
	U(informinfo, lid_end,   144,  16, HEX,  0,      none, "IBTA 13.4.8.3", "last LID")         \
	U(informinfo, reserved1, 160,  16, HEX,  0,      none, "IBTA 13.4.8.3", "reserved")         \
	U(informinfo, generic,   176,   8, DEC,  1,      none, "IBTA 13.4.8.3", "generic traps")    \
	U(informinfo, subscribe, 184,   8, DEC,  1,      none, "IBTA 13.4.8.3", "1 subscribe, 0 end") \
	U(informinfo, type,      192,  16, HEX,  0xffff, none, "IBTA 13.4.8.3", "type; 0xffff: all") \
	U(informinfo, trap,      208,  16, DEC,  0,      sa_trap, "IBTA 13.4.8.3", "trap number")   \
	U(informinfo, qpn,       224,  24, HEX,  1,      none, "IBTA 13.4.8.3", "queue pair for the reports") \
	U(informinfo, reserved2, 248,   3, HEX,  0,      none, "IBTA 13.4.8.3", "reserved")         \
	U(informinfo, resp_time, 251,   5, DEC,  0,      none, "IBTA 13.4.8.3", "response time, 4.096 us * 2^n") \
	U(informinfo, reserved3, 256,   8, HEX,  0,      none, "IBTA 13.4.8.3", "reserved")         \
	U(informinfo, producer,  264,  24, HEX,  4,      none, "IBTA 13.4.8.3", "4: class manager")

#define CW_SIZE_NOTICE 80
#define CW_TABLE_NOTICE(U, W, B)                                                                   \
	U(notice, generic,    0,   1, FLAG, 1, none,    "IBTA 13.4.8.2", "generic")                \
	U(notice, type,       1,   7, DEC,  3, none,    "IBTA 13.4.8.2", "type of the notice")     \
	U(notice, producer,   8,  24, HEX,  4, none,    "IBTA 13.4.8.2", "4: class manager")       \
	U(notice, trap,      32,  16, DEC,  0, sa_trap, "IBTA 13.4.8.2", "trap number")            \
	U(notice, lid,       48,  16, HEX,  0, none,    "IBTA 13.4.8.2", "LID of the issuer")      \
	U(notice, toggle,    64,   1, FLAG, 0, none,    "IBTA 13.4.8.2", "toggles with each notice") \
	U(notice, count,     65,  15, DEC,  0, none,    "IBTA 13.4.8.2", "notices queued")         \
	W(notice, details1,  80,  48, HEX,  0, none,    "IBTA 14.2.5.1", "reserved in traps 64 to 67") \
	B(notice, gid,      128, 128, IP6,  0, none,    "IBTA 14.2.5.1", "what the trap is about") \
	B(notice, details2, 256, 256, OCTETS, 0, none,  "IBTA 14.2.5.1", "rest of the details")    \
	B(notice, issuer,   512, 128, IP6,  0, none,    "IBTA 13.4.8.2", "GID of the issuer")

#define CW_SIZE_CLASSPORTINFO 72
#define CW_TABLE_CLASSPORTINFO(U, W, B)                                                            \
	U(classportinfo, base_version,   0,  8, DEC, 1, none, "IBTA 13.4.8.1", "1")                \
	U(classportinfo, class_version,  8,  8, DEC, 2, none, "IBTA 13.4.8.1", "version of the class") \
	U(classportinfo, cap_mask,      16, 16, HEX, 0, none, "IBTA 13.4.8.1", "capabilities")     \
	U(classportinfo, cap_mask2,     32, 27, HEX, 0, none, "IBTA 13.4.8.1", "more capabilities; bit 12: send-only full") \
	U(classportinfo, resp_time,     59,  5, DEC, 0, none, "IBTA 13.4.8.1", "response time, 4.096 us * 2^n") \
	B(classportinfo, redirect_gid,  64, 128, IP6, 0, none, "IBTA 13.4.8.1", "where to go instead") \
	U(classportinfo, redirect_tc,  192,  8, HEX, 0, none, "IBTA 13.4.8.1", "traffic class")    \
	U(classportinfo, redirect_sl,  200,  4, DEC, 0, none, "IBTA 13.4.8.1", "service level")    \
	U(classportinfo, redirect_fl,  204, 20, HEX, 0, none, "IBTA 13.4.8.1", "flow label")       \
	U(classportinfo, redirect_lid, 224, 16, HEX, 0, none, "IBTA 13.4.8.1", "LID")              \
	U(classportinfo, redirect_pkey, 240, 16, HEX, 0, none, "IBTA 13.4.8.1", "partition key")   \
	U(classportinfo, reserved1,    256,  8, HEX, 0, none, "IBTA 13.4.8.1", "reserved")         \
	U(classportinfo, redirect_qpn, 264, 24, HEX, 0, none, "IBTA 13.4.8.1", "queue pair")       \
	U(classportinfo, redirect_qkey, 288, 32, HEX, 0, none, "IBTA 13.4.8.1", "queue key")       \
	B(classportinfo, trap_gid,     320, 128, IP6, 0, none, "IBTA 13.4.8.1", "where traps go")  \
	U(classportinfo, trap_tc,      448,  8, HEX, 0, none, "IBTA 13.4.8.1", "traffic class")    \
	U(classportinfo, trap_sl,      456,  4, DEC, 0, none, "IBTA 13.4.8.1", "service level")    \
	U(classportinfo, trap_fl,      460, 20, HEX, 0, none, "IBTA 13.4.8.1", "flow label")       \
	U(classportinfo, trap_lid,     480, 16, HEX, 0, none, "IBTA 13.4.8.1", "LID")              \
	U(classportinfo, trap_pkey,    496, 16, HEX, 0, none, "IBTA 13.4.8.1", "partition key")    \
	U(classportinfo, trap_hl,      512,  8, DEC, 0, none, "IBTA 13.4.8.1", "hop limit")        \
	U(classportinfo, trap_qpn,     520, 24, HEX, 0, none, "IBTA 13.4.8.1", "queue pair")       \
	U(classportinfo, trap_qkey,    544, 32, HEX, 0, none, "IBTA 13.4.8.1", "queue key")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_RMPP)
CW_HDR_ACCESSORS(CW_TABLE_SA)
CW_HDR_ACCESSORS(CW_TABLE_MCMEMBER)
CW_HDR_ACCESSORS(CW_TABLE_PATHRECORD)
CW_HDR_ACCESSORS(CW_TABLE_INFORMINFO)
CW_HDR_ACCESSORS(CW_TABLE_NOTICE)
CW_HDR_ACCESSORS(CW_TABLE_CLASSPORTINFO)

extern const struct cw_hdr cw_hdr_rmpp, cw_hdr_sa, cw_hdr_mcmember, cw_hdr_pathrecord,
	cw_hdr_informinfo, cw_hdr_notice, cw_hdr_classportinfo;
extern const struct cw_name cw_names_rmpp_type[], cw_names_ib_rate[], cw_names_sa_trap[];

/* Where the attribute begins in a MAD, and how long it is. */
#define CW_SA_DATA     56
#define CW_SA_DATA_LEN 200

/* Name of a status, static; the SA's code decides, then the common bits. */
const char *cw_sa_status_name(uint16_t status);

#ifdef __cplusplus
}
#endif
#endif
