/* smp.h - subnet management packets (SMPs): what the subnet manager and ports exchange on QP0.
 * Spec: IBTA Architecture Volume 1 release 1.7: LID-routed SMPs 14.2.1.1, directed-route SMPs
 * 14.2.1.2, PortInfo 14.2.5.6.
 * Deviations: attributes other than PortInfo are octets. The headers have the fields of the MAD
 * header, too: names of attributes are others here, and directed routes give two fields another
 * use.
 */
#ifndef CAUSEWAY_WIRE_SMP_H
#define CAUSEWAY_WIRE_SMP_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_SMP_QPN            0
#define CW_MAD_CLASS_SMP      0x01 /* LID-routed */
#define CW_MAD_CLASS_DIRECTED 0x81

enum cw_smp_attr {
	CW_SMP_NOTICE = 0x02,
	CW_SMP_NODE_DESCRIPTION = 0x10,
	CW_SMP_NODE_INFO = 0x11,
	CW_SMP_SWITCH_INFO = 0x12,
	CW_SMP_GUID_INFO = 0x14,
	CW_SMP_PORT_INFO = 0x15,
	CW_SMP_PKEY_TABLE = 0x16,
	CW_SMP_SL_TO_VL = 0x17,
	CW_SMP_VL_ARBITRATION = 0x18,
	CW_SMP_LINEAR_FORWARDING = 0x19,
	CW_SMP_RANDOM_FORWARDING = 0x1a,
	CW_SMP_MULTICAST_FORWARDING = 0x1b,
	CW_SMP_SM_INFO = 0x20,
};

// clang-format off
#define CW_SIZE_SMP 64
#define CW_TABLE_SMP(U, W, B)                                                                      \
	U(smp, base_version,    0,   8, DEC,  1,       none,      "IBTA 13.4.3",   "1")            \
	U(smp, mgmt_class,      8,   8, NAME, 1,       mad_class, "IBTA 13.4.4",   "management class") \
	U(smp, class_version,  16,   8, DEC,  1,       none,      "IBTA 13.4.3",   "version of the class") \
	U(smp, response,       24,   1, FLAG, 0,       none,      "IBTA 13.4.5",   "this is a response") \
	U(smp, method,         25,   7, HEX,  1,       none,      "IBTA 14.2.3",   "1 Get, 2 Set, 5 Trap, 7 TrapRepress") \
	U(smp, status,         32,  16, HEX,  0,       none,      "IBTA 13.4.7",   "status")       \
	U(smp, reserved1,      48,  16, HEX,  0,       none,      "IBTA 14.2.1.1", "reserved")     \
	W(smp, tid,            64,  64, HEX,  0,       none,      "IBTA 13.4.6.4", "transaction identifier") \
	U(smp, attribute,     128,  16, NAME, CW_AUTO, smp_attr,  "IBTA 14.2.5",   "attribute")    \
	U(smp, reserved2,     144,  16, HEX,  0,       none,      "IBTA 13.4.3",   "reserved")     \
	U(smp, modifier,      160,  32, HEX,  0,       none,      "IBTA 14.2.5",   "attribute modifier") \
	W(smp, mkey,          192,  64, HEX,  0,       none,      "IBTA 14.2.4",   "management key") \
	B(smp, reserved3,     256, 256, OCTETS, 0,     none,      "IBTA 14.2.1.1", "reserved")

#define CW_SIZE_SMP_DR 64
#define CW_TABLE_SMP_DR(U, W, B)                                                                   \
	U(smp_dr, base_version,    0,   8, DEC,  1,       none,      "IBTA 13.4.3",   "1")         \
	U(smp_dr, mgmt_class,      8,   8, NAME, 0x81,    mad_class, "IBTA 13.4.4",   "management class") \
	U(smp_dr, class_version,  16,   8, DEC,  1,       none,      "IBTA 13.4.3",   "version of the class") \
	U(smp_dr, response,       24,   1, FLAG, 0,       none,      "IBTA 13.4.5",   "this is a response") \
	U(smp_dr, method,         25,   7, HEX,  1,       none,      "IBTA 14.2.3",   "1 Get, 2 Set, 5 Trap, 7 TrapRepress") \
	U(smp_dr, direction,      32,   1, FLAG, 0,       none,      "IBTA 14.2.1.2", "the D bit: on its way back") \
	U(smp_dr, status,         33,  15, HEX,  0,       none,      "IBTA 13.4.7",   "status")    \
	U(smp_dr, hop_pointer,    48,   8, DEC,  0,       none,      "IBTA 14.2.1.2", "which hop it is at") \
	U(smp_dr, hop_count,      56,   8, DEC,  0,       none,      "IBTA 14.2.1.2", "hops of the directed part") \
	W(smp_dr, tid,            64,  64, HEX,  0,       none,      "IBTA 13.4.6.4", "transaction identifier") \
	U(smp_dr, attribute,     128,  16, NAME, CW_AUTO, smp_attr,  "IBTA 14.2.5",   "attribute") \
	U(smp_dr, reserved1,     144,  16, HEX,  0,       none,      "IBTA 13.4.3",   "reserved")  \
	U(smp_dr, modifier,      160,  32, HEX,  0,       none,      "IBTA 14.2.5",   "attribute modifier") \
	W(smp_dr, mkey,          192,  64, HEX,  0,       none,      "IBTA 14.2.4",   "management key") \
	U(smp_dr, dr_slid,       256,  16, HEX,  0xffff,  none,      "IBTA 14.2.1.2", "LID where the directed part begins; 0xffff: none") \
	U(smp_dr, dr_dlid,       272,  16, HEX,  0xffff,  none,      "IBTA 14.2.1.2", "LID where it ends; 0xffff: none") \
	B(smp_dr, reserved2,     288, 224, OCTETS, 0,     none,      "IBTA 14.2.1.2", "reserved")

#define CW_SIZE_SMP_DATA 64
#define CW_TABLE_SMP_DATA(U, W, B)                                                                 \
	B(smp_data, octets, 0, 512, OCTETS, 0, none, "IBTA 14.2.5", "an attribute that is not taken apart")

#define CW_SIZE_SMP_PATH 128
#define CW_TABLE_SMP_PATH(U, W, B)                                                                 \
	B(smp_path, initial,   0, 512, OCTETS, 0, none, "IBTA 14.2.1.2", "port that it leaves by at each hop, from hop 1") \
	B(smp_path, back,    512, 512, OCTETS, 0, none, "IBTA 14.2.1.2", "port that it came by at each hop")

#define CW_SIZE_PORTINFO 64
#define CW_TABLE_PORTINFO(U, W, B)                                                                 \
	W(portinfo, mkey,            0, 64, HEX,  0, none,    "IBTA 14.2.5.6", "management key of the port") \
	W(portinfo, gid_prefix,     64, 64, HEX,  0, none,    "IBTA 14.2.5.6", "prefix of its GIDs")    \
	U(portinfo, lid,           128, 16, HEX,  0, none,    "IBTA 14.2.5.6", "base LID")         \
	U(portinfo, sm_lid,        144, 16, HEX,  0, none,    "IBTA 14.2.5.6", "LID of the subnet manager") \
	U(portinfo, cap_mask,      160, 32, HEX,  0, none,    "IBTA 14.2.5.6", "capabilities; bit 1: is a subnet manager") \
	U(portinfo, diag_code,     192, 16, HEX,  0, none,    "IBTA 14.2.5.6", "diagnostic code")  \
	U(portinfo, mkey_lease,    208, 16, DEC,  0, none,    "IBTA 14.2.5.6", "M_Key lease period, s") \
	U(portinfo, local_port,    224,  8, DEC,  0, none,    "IBTA 14.2.5.6", "port that the SMP came by") \
	U(portinfo, width_enabled, 232,  8, HEX,  0, none,    "IBTA 14.2.5.6", "1 1x, 2 4x, 4 8x, 8 12x, 16 2x") \
	U(portinfo, width_supported, 240, 8, HEX, 0, none,    "IBTA 14.2.5.6", "1 1x, 2 4x, 4 8x, 8 12x, 16 2x") \
	U(portinfo, width_active,  248,  8, NAME, 0, ib_width, "IBTA 14.2.5.6", "link width")      \
	U(portinfo, speed_supported, 256, 4, HEX, 0, none,    "IBTA 14.2.5.6", "1 2.5, 2 5, 4 10 Gb/s") \
	U(portinfo, state,         260,  4, NAME, 0, port_state, "IBTA 14.2.5.6", "logical state") \
	U(portinfo, phys_state,    264,  4, NAME, 0, port_phys, "IBTA 14.2.5.6", "physical state") \
	U(portinfo, down_default,  268,  4, DEC,  0, none,    "IBTA 14.2.5.6", "1 Sleep, 2 Polling") \
	U(portinfo, mkey_protect,  272,  2, DEC,  0, none,    "IBTA 14.2.4.1", "M_Key protection level") \
	U(portinfo, reserved1,     274,  3, HEX,  0, none,    "IBTA 14.2.5.6", "reserved")         \
	U(portinfo, lmc,           277,  3, DEC,  0, none,    "IBTA 14.2.5.6", "the port has 2^n LIDs") \
	U(portinfo, speed_active,  280,  4, NAME, 0, ib_speed, "IBTA 14.2.5.6", "link speed")      \
	U(portinfo, speed_enabled, 284,  4, HEX,  0, none,    "IBTA 14.2.5.6", "1 2.5, 2 5, 4 10 Gb/s") \
	U(portinfo, neighbour_mtu, 288,  4, NAME, 0, ib_mtu,  "IBTA 14.2.5.6", "MTU of the link")  \
	U(portinfo, sm_sl,         292,  4, DEC,  0, none,    "IBTA 14.2.5.6", "service level to the subnet manager") \
	U(portinfo, vl_cap,        296,  4, DEC,  0, none,    "IBTA 14.2.5.6", "1 VL0, 2 two, 3 four, 4 eight, 5 fifteen") \
	U(portinfo, init_type,     300,  4, HEX,  0, none,    "IBTA 14.2.5.6", "initialisation wanted") \
	U(portinfo, vl_high_limit, 304,  8, DEC,  0, none,    "IBTA 14.2.5.6", "limit of high priority") \
	U(portinfo, vl_arb_high,   312,  8, DEC,  0, none,    "IBTA 14.2.5.6", "entries, high priority") \
	U(portinfo, vl_arb_low,    320,  8, DEC,  0, none,    "IBTA 14.2.5.6", "entries, low priority") \
	U(portinfo, init_reply,    328,  4, HEX,  0, none,    "IBTA 14.2.5.6", "initialisation done") \
	U(portinfo, mtu_cap,       332,  4, NAME, 0, ib_mtu,  "IBTA 14.2.5.6", "largest MTU")      \
	U(portinfo, vl_stall,      336,  3, DEC,  0, none,    "IBTA 14.2.5.6", "packets dropped until a VL stalls") \
	U(portinfo, hoq_life,      339,  5, DEC,  0, none,    "IBTA 14.2.5.6", "life at the head of a queue, 4.096 us * 2^n") \
	U(portinfo, operational_vls, 344, 4, DEC, 0, none,    "IBTA 14.2.5.6", "as of vl_cap")     \
	U(portinfo, enforce_in,    348,  1, FLAG, 0, none,    "IBTA 14.2.5.6", "partitions enforced inbound") \
	U(portinfo, enforce_out,   349,  1, FLAG, 0, none,    "IBTA 14.2.5.6", "partitions enforced outbound") \
	U(portinfo, raw_in,        350,  1, FLAG, 0, none,    "IBTA 14.2.5.6", "raw packets filtered inbound") \
	U(portinfo, raw_out,       351,  1, FLAG, 0, none,    "IBTA 14.2.5.6", "raw packets filtered outbound") \
	U(portinfo, mkey_violations, 352, 16, DEC, 0, none,   "IBTA 14.2.5.6", "wrong M_Keys")     \
	U(portinfo, pkey_violations, 368, 16, DEC, 0, none,   "IBTA 14.2.5.6", "wrong P_Keys")     \
	U(portinfo, qkey_violations, 384, 16, DEC, 0, none,   "IBTA 14.2.5.6", "wrong Q_Keys")     \
	U(portinfo, guid_cap,      400,  8, DEC,  0, none,    "IBTA 14.2.5.6", "entries of GUIDInfo") \
	U(portinfo, reregister,    408,  1, FLAG, 0, none,    "IBTA 14.4.11",  "the port's clients shall join and subscribe again") \
	U(portinfo, pkey_traps,    409,  2, DEC,  0, none,    "IBTA 14.2.5.6", "multicast P_Key traps suppressed") \
	U(portinfo, subnet_timeout, 411, 5, DEC,  0, none,    "IBTA 14.2.5.6", "4.096 us * 2^n")   \
	U(portinfo, reserved2,     416,  3, HEX,  0, none,    "IBTA 14.2.5.6", "reserved")         \
	U(portinfo, resp_time,     419,  5, DEC,  0, none,    "IBTA 14.2.5.6", "response time, 4.096 us * 2^n") \
	U(portinfo, local_phy_errors, 424, 4, DEC, 0, none,   "IBTA 14.2.5.6", "threshold")        \
	U(portinfo, overrun_errors, 428, 4, DEC,  0, none,    "IBTA 14.2.5.6", "threshold")        \
	U(portinfo, credit_hint,   432, 16, DEC,  0, none,    "IBTA 14.2.5.6", "most credit, units of 64 octets") \
	U(portinfo, reserved3,     448,  8, HEX,  0, none,    "IBTA 14.2.5.6", "reserved")         \
	U(portinfo, round_trip,    456, 24, DEC,  0, none,    "IBTA 14.2.5.6", "link round trip latency, 4 ns") \
	U(portinfo, cap_mask2,     480, 16, HEX,  0, none,    "IBTA 14.2.5.6", "more capabilities") \
	U(portinfo, ext_speed_active, 496, 4, NAME, 0, ib_ext_speed, "IBTA 14.2.5.6", "extended link speed; 0: see speed_active") \
	U(portinfo, ext_speed_supported, 500, 4, HEX, 0, none, "IBTA 14.2.5.6", "1 FDR, 2 EDR, 4 HDR, 8 NDR") \
	U(portinfo, reserved4,     504,  3, HEX,  0, none,    "IBTA 14.2.5.6", "reserved")         \
	U(portinfo, ext_speed_enabled, 507, 5, HEX, 0, none,  "IBTA 14.2.5.6", "1 FDR, 2 EDR, 4 HDR, 8 NDR; 30: none")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_SMP)
CW_HDR_ACCESSORS(CW_TABLE_SMP_DR)
CW_HDR_ACCESSORS(CW_TABLE_SMP_DATA)
CW_HDR_ACCESSORS(CW_TABLE_SMP_PATH)
CW_HDR_ACCESSORS(CW_TABLE_PORTINFO)

extern const struct cw_hdr cw_hdr_smp, cw_hdr_smp_dr, cw_hdr_smp_data, cw_hdr_smp_path,
	cw_hdr_portinfo;
extern const struct cw_name cw_names_smp_attr[], cw_names_ib_width[], cw_names_ib_speed[],
	cw_names_ib_ext_speed[], cw_names_port_state[], cw_names_port_phys[];

#ifdef __cplusplus
}
#endif
#endif
